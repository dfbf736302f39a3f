//! Documents in and out, for the targets of document formats.

use fieldmark_text::document::Document;
use fieldmark_text::formats::{DocumentReader, DocumentWriter, Notices};
use fieldmark_text::{ReadError, Source};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// Bytes as a source.
pub fn source(bytes: &[u8]) -> Source {
    Source::Memory {
        name: "fuzz".to_owned(),
        bytes: bytes.to_vec(),
    }
}

/// All documents, or nothing if there was an error.
pub fn read<R: DocumentReader>(reader: Result<R, ReadError>) -> Option<Vec<Document>> {
    let (documents, complete) = read_until_error(reader);
    complete.then_some(documents)
}

/// All documents up to the end or the first error, and whether it was the end; each must hold together, and whoever goes
/// on after an error must come to the end.
pub fn read_until_error<R: DocumentReader>(reader: Result<R, ReadError>) -> (Vec<Document>, bool) {
    let mut documents = Vec::new();
    let Ok(mut reader) = reader else {
        return (documents, false);
    };
    let mut notices = Notices::new();
    loop {
        match reader.next(&mut notices) {
            Ok(Some(document)) => {
                assert_eq!(document.check(), Ok(()), "{document:?}");
                documents.push(document);
            }
            Ok(None) => return (documents, true),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                let ends = (0..100_000).any(|_| matches!(reader.next(&mut notices), Ok(None)));
                assert!(ends, "{error}");
                return (documents, false);
            }
        }
    }
}

/// Writes documents; what was told.
pub fn write(writer: &mut impl DocumentWriter, documents: &[Document]) -> Notices {
    let mut notices = Notices::new();
    for document in documents {
        writer.write(document, &mut notices).unwrap();
    }
    writer.finish().unwrap();
    notices
}

/// Bytes that a writer writes and that can be looked at afterwards.
#[derive(Clone, Default)]
pub struct Output(Rc<RefCell<Vec<u8>>>);

impl Output {
    /// What was written, as a source.
    pub fn source(&self) -> Source {
        source(&self.0.borrow())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
