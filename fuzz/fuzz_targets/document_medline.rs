//! Any bytes, read as MEDLINE, give an error or records that are written and read again.

#![no_main]

use fieldmark_fuzz::documents::{Output, read_until_error, source, write};
use fieldmark_text::formats::encoding::Encoding;
use fieldmark_text::formats::medline::{MedlineReader, MedlineWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (documents, _) = read_until_error(MedlineReader::new(&source(data), Encoding::DETECT));
    let out = Output::default();
    write(&mut MedlineWriter::new(out.clone()), &documents);
    let (again, _) = read_until_error(MedlineReader::new(&out.source(), Encoding::UTF_8));
    assert_eq!(documents.len(), again.len());
});
