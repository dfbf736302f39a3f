//! Any bytes, read as text with inline tags, give an error or documents that are written and read again.

#![no_main]

use fieldmark_fuzz::documents::{Output, read_until_error, source, write};
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
    let (documents, _) = read_until_error(InlineXmlReader::new(&source(bytes), options));
    let out = Output::default();
    write(
        &mut InlineXmlWriter::new(out.clone(), InlineXmlOptions::default()),
        &documents,
    );
    let (again, _) = read_until_error(InlineXmlReader::new(&out.source(), InlineXmlOptions::default()));
    if !documents.is_empty() {
        assert_eq!(documents.len(), again.len());
    }
});
