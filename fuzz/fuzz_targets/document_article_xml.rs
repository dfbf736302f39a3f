//! Any bytes, read as PubMed XML or as JATS, give an error or articles that are written and read again.

#![no_main]

use fieldmark_fuzz::documents::{Output, read_until_error, source, write};
use fieldmark_text::formats::encoding::Encoding;
use fieldmark_text::formats::jats::{JatsReader, JatsWriter};
use fieldmark_text::formats::pubmed::{PubmedReader, PubmedWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (documents, _) = read_until_error(PubmedReader::new(&source(data), Encoding::DETECT));
    let out = Output::default();
    write(&mut PubmedWriter::new(out.clone()), &documents);
    let (again, _) = read_until_error(PubmedReader::new(&out.source(), Encoding::UTF_8));
    assert_eq!(documents.len(), again.len());

    let (documents, _) = read_until_error(JatsReader::new(&source(data), Encoding::DETECT));
    let out = Output::default();
    write(&mut JatsWriter::new(out.clone()), &documents);
    let (again, _) = read_until_error(JatsReader::new(&out.source(), Encoding::UTF_8));
    assert_eq!(documents.len(), again.len());
});
