//! Any bytes, read as plain text, give an error or documents that are written and read again the same.

#![no_main]

use fieldmark_fuzz::documents::{Output, read_until_error, source, write};
use fieldmark_text::formats::encoding::Encoding;
use fieldmark_text::formats::text::{Layout, TextOptions, TextReader, TextWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, bytes @ ..] = data else { return };
    let layout = [Layout::Whole, Layout::Lines, Layout::Blocks][usize::from(choice % 3)];
    let encodings = [
        Encoding::DETECT,
        Encoding::LATIN_1,
        Encoding::ISO_8859_15,
        Encoding::UTF_16,
    ];
    let encoding = encodings[usize::from(choice / 3 % 4)];
    let (documents, _) = read_until_error(TextReader::new(&source(bytes), TextOptions { encoding, layout }));
    let out = Output::default();
    write(&mut TextWriter::new(out.clone(), layout), &documents);
    let encoding = Encoding::UTF_8;
    let (again, _) = read_until_error(TextReader::new(&out.source(), TextOptions { encoding, layout }));
    if layout == Layout::Lines {
        let plain = |text: &str| text.replace('\r', " ");
        assert_eq!(documents.len(), again.len());
        for (document, again) in documents.iter().zip(&again) {
            assert_eq!(plain(&document.text), plain(&again.text));
        }
    }
});
