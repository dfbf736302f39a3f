//! What the targets of the document formats share.

use fieldmark_text::ReadError;
use fieldmark_text::Source;
use fieldmark_text::document::Document;
use fieldmark_text::formats::{DocumentReader, DocumentWriter, Notices};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// A source of these bytes.
pub fn source(bytes: &[u8]) -> Source {
    Source::Memory {
        name: "fuzz".to_owned(),
        bytes: bytes.to_vec(),
    }
}

/// All documents up to the end or the first error; each must be sound, and after an error nothing may follow.
pub fn read<R: DocumentReader>(reader: Result<R, ReadError>) -> Vec<Document> {
    let mut documents = Vec::new();
    let Ok(mut reader) = reader else {
        return documents;
    };
    let mut notices = Notices::new();
    loop {
        match reader.next(&mut notices) {
            Ok(Some(document)) => {
                assert_eq!(document.check(), Ok(()));
                documents.push(document);
            }
            Ok(None) => return documents,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(matches!(reader.next(&mut notices), Ok(None)));
                return documents;
            }
        }
    }
}

/// What a writer makes of documents.
pub fn write<T: DocumentWriter>(documents: &[Document], writer: impl FnOnce(Shared) -> T) -> Vec<u8> {
    let shared = Shared::default();
    let mut writer = writer(shared.clone());
    let mut notices = Notices::new();
    for document in documents {
        writer.write(document, &mut notices).unwrap();
    }
    writer.finish().unwrap();
    shared.0.take()
}

/// Bytes that are written and can be looked at.
#[derive(Clone, Default)]
pub struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
