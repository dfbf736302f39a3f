//! Reads any bytes as a text and its brat annotations, split at the first NUL; what was read is written and, if nothing
//! was told, is the same when it is read again.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{BratReader, BratWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let middle = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let (text, marks) = (
        source(&data[..middle]),
        source(data.get(middle + 1..).unwrap_or_default()),
    );
    let Some(documents) = read(Ok(BratReader::new("d", &text, Some(&marks)))) else {
        return;
    };
    let mut writer = BratWriter::new(Vec::new(), Vec::new());
    let notices = write(&mut writer, &documents);
    let [text, marks] = writer.into_inner().map(|output| source(&output));
    let again = read(Ok(BratReader::new("d", &text, Some(&marks)))).unwrap();
    if notices.is_empty() {
        assert_eq!(again[0].annotations.len(), documents[0].annotations.len());
    }
});
