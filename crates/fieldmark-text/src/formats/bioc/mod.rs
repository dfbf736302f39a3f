//! BioC XML (Comeau et al. 2013): documents of passages, with annotations and relations.
//!
//! The text of a document has its passages at their offsets: the first character between two passages is a line
//! break, all others are blanks. A passage with the infon `type` is an element of that kind; the other infons of
//! passage *n* are the facts `passage n: key`. Infons of the document are facts, those of the collection (and
//! its source, date and key) the facts `collection: key`. Passages that are given by sentences have elements of
//! kind `sentence` as well.
//!
//! The infon `type` of an annotation is its type, `identifier` its identifiers (separated by `;`), `score` its
//! score, all others are attributes.
//!
//! Offsets count characters. Some tools count bytes or UTF-16: where the text of an annotation is not at its place by
//! characters but is by one of these, that place is taken. Whatever differs is told.
//!
//! Entities that a document type declares are not expanded, and elements may not nest more than 64 deep.

mod read;
mod tree;
mod write;

pub use read::BiocReader;
pub use write::BiocWriter;

#[cfg(test)]
mod tests;
