//! What the tests of several formats share.

use super::{DocumentReader, DocumentWriter, NoticeKind, Notices};
use crate::document::{Annotation, Document};
use crate::error::ReadError;
use proptest::prelude::*;

/// All documents of a reader, each of them checked.
pub fn read_all(mut reader: impl DocumentReader) -> Result<(Vec<Document>, Notices), ReadError> {
    let mut notices = Notices::new();
    let mut documents = Vec::new();
    while let Some(document) = reader.next(&mut notices)? {
        assert_eq!(document.check(), Ok(()), "{document:?}");
        documents.push(document);
    }
    Ok((documents, notices))
}

/// Writes documents and finishes.
pub fn write_all(writer: &mut impl DocumentWriter, documents: &[Document]) -> Notices {
    let mut notices = Notices::new();
    for document in documents {
        writer.write(document, &mut notices).unwrap();
    }
    writer.finish().unwrap();
    notices
}

/// The kinds of notices, in order.
pub fn kinds(notices: &Notices) -> Vec<NoticeKind> {
    notices.all().iter().map(|notice| notice.kind).collect()
}

/// A text of a pattern and annotations of it, with everything that annotations can have.
pub fn annotations(pattern: &'static str) -> impl Strategy<Value = (String, Vec<Annotation>)> {
    let place = (0..100_usize, 1..100_usize, any::<bool>());
    let details = (
        prop::option::of(0..=100_u8),
        "[A-Z][a-z]{0,3}",
        "[a-z]{1,3}:[A-Z0-9]{1,3}",
    );
    let spans = prop::collection::vec((place, details), 0..5);
    (pattern, spans).prop_map(|(text, spans)| {
        let borders: Vec<usize> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        let mut found = Vec::new();
        for ((start, length, gap), (score, kind, identifier)) in spans {
            let start = start % borders.len();
            let end = (start + 1 + length % 7).min(borders.len() - 1);
            if start >= end {
                continue;
            }
            let mut annotation = Annotation::new(borders[start]..borders[end], kind);
            if gap && end - start > 2 {
                annotation.fragments =
                    vec![borders[start]..borders[start + 1], borders[end - 1]..borders[end]];
            }
            annotation.id = format!("T{}", found.len() + 1);
            annotation.score = score.map(|score| f64::from(score) / 100.0);
            annotation.identifiers.push(identifier);
            annotation
                .attributes
                .insert("Negation".to_owned(), "true".to_owned());
            found.push(annotation);
        }
        (text, found)
    })
}
