//! Any bytes, read as text with inline tags, give an error or documents that are written and read again the same,
//! overlaps aside.
#![no_main]

mod document;

use document::{read, source, write};
use fieldmark_text::formats::inline_xml::{InlineXmlOptions, InlineXmlReader, InlineXmlWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, bytes @ ..] = data else { return };
    let options = match choice % 2 {
        0 => InlineXmlOptions::default(),
        _ => InlineXmlOptions {
            document_tag: "d".to_owned(),
            id_tag: Some("i".to_owned()),
            element_tags: vec!["e".to_owned()],
            ..InlineXmlOptions::default()
        },
    };
    let documents = read(InlineXmlReader::new(&source(bytes), options));
    let written = write(&documents, |out| InlineXmlWriter::new(out, InlineXmlOptions::default()));
    let again = read(InlineXmlReader::new(&source(&written), InlineXmlOptions::default()));
    if !documents.is_empty() {
        assert_eq!(documents.len(), again.len());
    }
});
