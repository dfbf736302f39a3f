//! Any bytes, read as HTML, give an error or a document; marks laid over the file leave its text as it was.

#![no_main]

use fieldmark_fuzz::documents::{Output, read_until_error, source, write};
use fieldmark_text::document::Annotation;
use fieldmark_text::formats::encoding::Encoding;
use fieldmark_text::formats::html::{HtmlReader, HtmlWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [at, len, bytes @ ..] = data else { return };
    let source_of = source(bytes);
    let (mut documents, _) = read_until_error(HtmlReader::new(&source_of, Encoding::DETECT));
    let Some(document) = documents.first_mut() else {
        return;
    };
    let borders: Vec<usize> = document.text.char_indices().map(|(at, _)| at).collect();
    if let (Some(&start), false) = (borders.get(usize::from(*at)), borders.is_empty()) {
        let end = borders.get(usize::from(*at) + 1 + usize::from(*len)).copied();
        let range = start..end.unwrap_or(document.text.len());
        document.annotations.push(Annotation::new(range, "X"));
    }
    let text = document.text.clone();
    let marked = Output::default();
    write(
        &mut HtmlWriter::over(marked.clone(), &source_of, Encoding::DETECT).unwrap(),
        &documents,
    );
    // What a file of another encoding looks like may change when marks are in it, and a page of ours is made anew. With NUL
    // bytes, a file is UTF-16, whatever else it may be.
    let is_plain = |text: &str| !text.contains("fieldmark") && !text.contains('\0');
    if std::str::from_utf8(bytes).is_ok_and(is_plain) {
        let (again, _) = read_until_error(HtmlReader::new(&marked.source(), Encoding::UTF_8));
        assert_eq!(again[0].text, text);
    }
});
