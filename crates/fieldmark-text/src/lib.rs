//! From bytes to observations: readers, templates, tokens and renderings.

mod attributes;
mod block;
pub mod check;
mod columns;
mod error;
mod label;
pub mod markup;
mod reader;
pub mod render;
mod sink;
mod source;
pub mod surface;
mod template;
pub mod tokens;

pub use attributes::escape_attribute;
pub use block::{Block, BlockOptions, Blocks};
pub use columns::Separator;
pub use error::{ErrorKind, ReadError};
pub use label::LabelSyntax;
pub use reader::{Format, Parser, Reader, read_against, read_training};
pub use sink::{Lookup, Part, Unseen};
pub use source::{Input, Source};
pub use template::{Place, Rows, Template, TemplateError};
