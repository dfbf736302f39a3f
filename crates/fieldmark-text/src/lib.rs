//! From bytes to observations: readers, templates, tokens and renderings.
//!
//! # Reading
//!
//! A [`Source`] is a file or standard input, plain or compressed; a [`Format`] says how to understand it:
//! CRFsuite's attribute files, or columns with a CRF++ or Wapiti [`Template`]. There are three ways to read:
//!
//! - [`read_training`] makes a data set and numbers every name that it meets,
//! - [`read_against`] makes a data set with the numbers of a model, and counts what the model does not know,
//! - a [`Reader`] hands out blocks of whole sequences in order, which its [`Parser`] turns into [`Part`]s on
//!   any thread: for tagging inputs that do not fit in memory.
//!
//! Results do not depend on threads or on the size of blocks. What cannot be read is a [`ReadError`] with
//! file, line and column; what can be read but is odd, [`check`](mod@check) reports.
//!
//! ```
//! use fieldmark_text::{Format, Source, Template, read_training};
//! let template = Template::parse("U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nB\n")?;
//! let source = Source::text("train.txt", "He PRP B-NP\nreckons VBZ B-VP\n\n. . O\n");
//! let data = read_training(&source, &Format::columns(template))?;
//! assert_eq!((data.len(), data.positions()), (2, 3));
//! assert_eq!(data.observations.name(1), "U01:_B-1/He");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Raw text
//!
//! [`sentences`] finds sentences, [`tokenize`] the tokens in them, both as byte ranges; [`normalize`] makes one
//! spelling of many and keeps the way back. Each is chosen by a small value that lives in a config:
//!
//! ```
//! use fieldmark_text::sentences::SentenceSplitter;
//! use fieldmark_text::tokenize::{Tokenizer, TokenizerProfile};
//! let text = "Dr. Wu gave 40mg p.o. today. No side-effects.";
//! let tokenizer = Tokenizer::new(TokenizerProfile::Clinical);
//! let mut tokens = Vec::new();
//! for sentence in SentenceSplitter::default().split(text) {
//!     tokens.clear();
//!     tokenizer.tokenize_into(text, sentence, &mut tokens);
//! }
//! let last: Vec<&str> = tokens.iter().map(|token| token.text(text)).collect();
//! assert_eq!(last, ["No", "side", "-", "effects", "."]);
//! ```
//!
//! # Names
//!
//! [`dictionaries`] finds names of lists in texts; [`postprocess`] repairs and filters the annotations that a model
//! has found, and [`identify`] says what they stand for. [`synthetic`] makes corpora of names that no one has
//! annotated yet.

mod attributes;
mod block;
mod characters;
pub mod check;
mod columns;
pub mod dictionaries;
pub mod document;
mod error;
pub mod features;
pub mod formats;
pub mod identify;
mod label;
pub mod markup;
pub mod normalize;
pub mod offsets;
mod output;
mod part;
pub mod postprocess;
mod reader;
pub mod render;
pub mod sentences;
mod sink;
mod source;
pub mod surface;
pub mod synthetic;
mod template;
pub mod tokenize;

pub use attributes::escape_attribute;
pub use block::{Block, BlockOptions, Blocks};
pub use columns::Separator;
pub use error::{ErrorKind, ReadError};
pub use label::LabelSyntax;
pub use output::OutputFile;
pub use part::{Line, Part};
pub use reader::{Format, Parser, Reader, read_against, read_for_scoring, read_training};
pub use sink::{Lookup, Unseen};
pub use source::{Input, Source};
pub use template::{Place, Rows, Template, TemplateError};
