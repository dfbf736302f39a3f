//! Formats of (annotated) documents: one file per format, each with its reader and its writer.
//!
//! A reader hands out one [`Document`] after the other, a writer takes them; both tell what they could not
//! keep as [`Notice`]s, one for each span, so that nothing is lost silently. What cannot be read at all is a
//! [`ReadError`] with file, line and column.

mod article_facts;
pub mod bioc;
pub mod brat;
pub mod conll;
pub mod conllu;
mod create;
pub mod encoding;
mod flow;
mod format;
pub mod gene_mention;
pub mod html;
pub mod inline_xml;
pub mod jats;
pub mod jsonl;
mod layers;
mod lines;
mod losses;
pub mod medline;
mod notice;
#[cfg(feature = "pdf")]
pub mod pdf;
pub mod pubmed;
pub mod pubtator;
mod recognise;
pub mod table;
#[cfg(test)]
mod testing;
pub mod text;
mod title_abstract;
mod xml;

pub use bioc::{BiocReader, BiocWriter};
pub use brat::{BratDirectory, BratReader, BratWriter};
pub use conll::{
    CellSeparator, Column, ColumnOptions, ColumnReader, ColumnWriter, ColumnWriterOptions, DocumentBorders,
    DocumentMark,
};
pub use conllu::{COLUMNS as CONLLU_COLUMNS, ConlluReader, ConlluWriter, ConlluWriterOptions};
pub use create::{Target, WriteOptions};
pub use format::{DocumentFormat, MentionFiles, ReadOptions};
pub use gene_mention::{
    ALTGENE, GENE, GeneMentionReader, GeneMentionWriter, Mentions, mention_files, mention_places,
};
pub use jsonl::{Flavour, JsonlOptions, JsonlReader, JsonlWriter, JsonlWriterOptions};
pub use layers::Misfit;
pub use notice::{Notice, NoticeKind, Notices};
pub use pubtator::{PubTatorReader, PubTatorWriter};
pub use table::{TableOptions, TableReader, TableWriter, TableWriterOptions};

use crate::document::Document;
use crate::error::ReadError;
use std::io;

/// Hands out the documents of a source, one by one.
pub trait DocumentReader: Send {
    /// The next document, or `None` at the end. Whoever goes on after an error gets what can
    /// still be read, if anything, and then `None`.
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError>;
}

/// Takes documents, one by one.
pub trait DocumentWriter {
    /// Writes a document.
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()>;

    /// Writes what comes after the last document.
    fn finish(&mut self) -> io::Result<()>;
}

/// Tells what a document holds that a format has no place for, one notice for each annotation.
///
/// `annotations` says whether annotations are among it.
fn tell_unwritten(document: &Document, format: &str, annotations: bool, notices: &mut Notices) {
    let id = &document.id;
    let places = losses::Places::new(&document.text);
    for annotation in document.annotations.iter().filter(|_| annotations) {
        let name = places.name(annotation);
        let message = format!("{name} is left out: {format} has no place for it");
        notices.add(NoticeKind::Detail, id, None, message);
    }
    for relation in &document.relations {
        let message = format!(
            "`{}` is left out: {format} has no place for relations",
            relation.kind
        );
        notices.add(NoticeKind::Relation, id, None, message);
    }
    let holds = losses::Holds::default();
    for lost in document.given.iter().flat_map(|given| holds.lost_tokens(given)) {
        let message = format!("{format} has no place for {lost}");
        notices.add(NoticeKind::Detail, id, None, message);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// All documents, each of them checked, or the error after them.
    pub(crate) fn read_all(reader: &mut dyn DocumentReader) -> (Result<Vec<Document>, ReadError>, Notices) {
        let mut notices = Notices::new();
        let mut documents = Vec::new();
        loop {
            match reader.next(&mut notices) {
                Ok(Some(document)) => {
                    assert_eq!(document.check(), Ok(()));
                    documents.push(document);
                }
                Ok(None) => return (Ok(documents), notices),
                Err(error) => return (Err(error), notices),
            }
        }
    }

    pub(crate) fn read_ok(reader: &mut dyn DocumentReader) -> Vec<Document> {
        read_all(reader).0.unwrap()
    }

    /// What a writer makes of documents.
    pub(crate) fn written<'a, T: DocumentWriter>(
        documents: &[Document],
        writer: impl FnOnce(Box<dyn io::Write + 'a>) -> T,
    ) -> (Vec<u8>, Notices) {
        let out = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let mut notices = Notices::new();
        let mut writer = writer(Box::new(Shared(out.clone())));
        for document in documents {
            writer.write(document, &mut notices).unwrap();
        }
        writer.finish().unwrap();
        let bytes = out.lock().unwrap().clone();
        (bytes, notices)
    }

    struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
