//! Any bytes, read as MEDLINE, give an error or records that are written and read again with the same text.
#![no_main]

mod document;

use document::{read, source, write};
use fieldmark_text::formats::encoding::Encoding;
use fieldmark_text::formats::medline::{MedlineReader, MedlineWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let documents = read(MedlineReader::new(&source(data), Encoding::DETECT));
    let written = write(&documents, MedlineWriter::new);
    let again = read(MedlineReader::new(&source(&written), Encoding::UTF_8));
    assert_eq!(documents.len(), again.len());
});
