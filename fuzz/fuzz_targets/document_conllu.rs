//! Reads any bytes as CoNLL-U; what was read is written and can be read again.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{ConlluReader, ConlluWriter, ConlluWriterOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(documents) = read(ConlluReader::new(&source(data))) else {
        return;
    };
    let mut writer = ConlluWriter::new(Vec::new(), ConlluWriterOptions::default());
    write(&mut writer, &documents);
    assert!(read(ConlluReader::new(&source(&writer.into_inner()))).is_some());
});
