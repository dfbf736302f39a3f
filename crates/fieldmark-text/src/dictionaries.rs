//! Lists of words and names, which features and the mapping to identifiers share.
//!
//! | type | a line of its file | answers |
//! |---|---|---|
//! | [`Dictionary`] | name, tab, identifiers | which names stand where in a text, and what they stand for |
//! | [`Hierarchy`] | child, tab, parent (or OBO, or MRREL of UMLS) | the ancestors of a term |
//! | [`PolarityLexicon`] | word, tab, number or `positive` | whether a word speaks for or against |
//! | [`WordClasses`] | word, tab, classes (or the paths of Brown clustering) | the classes of a word |
//!
//! Files are UTF-8, plain or compressed; what is wrong in them is a [`ReadError`](crate::ReadError) with file, line
//! and column. Each list is a value of serde, so that it can be part of a model file.

mod classes;
mod dictionary;
mod folding;
mod hierarchy;
mod hierarchy_formats;
mod lines;
mod polarity;
mod trie;

pub use classes::{ClassFormat, WordClasses};
pub use dictionary::{Beginning, Dictionary, DictionaryBuilder, DictionaryError, NameId};
pub use folding::{DictionaryOptions, Fold};
pub use hierarchy::{Hierarchy, Term};
pub use hierarchy_formats::HierarchyFormat;
pub use polarity::{Polarity, PolarityLexicon};
