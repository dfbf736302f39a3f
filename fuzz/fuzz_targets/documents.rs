//! What the targets of document formats share.

use fieldmark_text::document::Document;
use fieldmark_text::formats::{DocumentReader, DocumentWriter, Notices};
use fieldmark_text::{ReadError, Source};

/// Bytes as a source.
pub fn source(bytes: &[u8]) -> Source {
    Source::Memory {
        name: "fuzz".to_owned(),
        bytes: bytes.to_vec(),
    }
}

/// All documents, each of which must hold together, or the error.
pub fn read<R: DocumentReader>(reader: Result<R, ReadError>) -> Option<Vec<Document>> {
    let mut reader = reader.ok()?;
    let mut notices = Notices::new();
    let mut documents = Vec::new();
    loop {
        match reader.next(&mut notices) {
            Ok(Some(document)) => {
                assert_eq!(document.check(), Ok(()), "{document:?}");
                documents.push(document);
            }
            Ok(None) => return Some(documents),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return None;
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
