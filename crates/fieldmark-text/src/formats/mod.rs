//! Formats of (annotated) documents: one file per format, each with its reader and its writer.
//!
//! A reader hands out one [`Document`] after the other, a writer takes them; both tell what they could not
//! keep as [`Notice`]s, one for each span, so that nothing is lost silently. What cannot be read at all is a
//! [`ReadError`] with file, line and column.

mod notice;

pub use notice::{Notice, NoticeKind, Notices};

use crate::document::Document;
use crate::error::ReadError;
use std::io;

/// Hands out the documents of a source, one by one.
pub trait DocumentReader: Send {
    /// The next document, or `None` at the end.
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError>;
}

/// Takes documents, one by one.
pub trait DocumentWriter {
    /// Writes a document.
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()>;

    /// Writes what comes after the last document.
    fn finish(&mut self) -> io::Result<()>;
}
