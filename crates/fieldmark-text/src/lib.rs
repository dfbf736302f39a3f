//! From bytes to observations: readers, templates, tokens and renderings.

mod attributes;
mod block;
mod error;
mod label;
mod reader;
mod sink;
mod source;
pub mod markup;
pub mod render;
pub mod surface;
pub mod tokens;

pub use attributes::escape_attribute;
pub use block::{Block, BlockOptions, Blocks};
pub use error::{ErrorKind, ReadError};
pub use label::LabelSyntax;
pub use reader::{Format, Parser, Reader, read_against, read_training};
pub use sink::{Lookup, Part, Unseen};
pub use source::{Input, Source};
