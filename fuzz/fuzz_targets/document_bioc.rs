//! Reads any bytes as BioC XML; what was read is written and can be read again.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{BiocReader, BiocWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(documents) = read(BiocReader::new(&source(data))) else {
        return;
    };
    let mut writer = BiocWriter::new(Vec::new());
    write(&mut writer, &documents);
    assert!(read(BiocReader::new(&source(&writer.into_inner()))).is_some());
});
