//! Any bytes, read as PubMed XML or as JATS, give an error or articles that are written and read again.
#![no_main]

mod document;

use document::{read, source, write};
use fieldmark_text::formats::encoding::Encoding;
use fieldmark_text::formats::jats::{JatsReader, JatsWriter};
use fieldmark_text::formats::pubmed::{PubmedReader, PubmedWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let documents = read(PubmedReader::new(&source(data), Encoding::DETECT));
    let written = write(&documents, PubmedWriter::new);
    let again = read(PubmedReader::new(&source(&written), Encoding::UTF_8));
    assert_eq!(documents.len(), again.len());

    let documents = read(JatsReader::new(&source(data), Encoding::DETECT));
    let written = write(&documents, JatsWriter::new);
    let again = read(JatsReader::new(&source(&written), Encoding::UTF_8));
    assert_eq!(documents.len(), again.len());
});
