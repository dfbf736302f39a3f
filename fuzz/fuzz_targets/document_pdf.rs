//! Any bytes, read as PDF, give an error or a document; any bytes that a page may hold do so as well.

#![no_main]

use fieldmark_fuzz::documents::{read, source};
use fieldmark_text::formats::pdf::PdfReader;
use libfuzzer_sys::fuzz_target;

/// A file with one page of this content.
fn page(content: &[u8]) -> Vec<u8> {
    let mut pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n".to_vec();
    pdf.extend(format!("4 0 obj<</Length {}>>stream\n", content.len()).into_bytes());
    pdf.extend_from_slice(content);
    pdf.extend_from_slice(b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
    pdf
}

fuzz_target!(|data: &[u8]| {
    let [choice, bytes @ ..] = data else { return };
    let whole = match choice % 2 {
        0 => bytes.to_vec(),
        _ => page(bytes),
    };
    read(PdfReader::new(&source(&whole)));
});
