//! Reads any bytes as PubTator; what was read is written and can be read again.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{PubTatorReader, PubTatorWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(documents) = read(PubTatorReader::new(&source(data))) else {
        return;
    };
    let mut writer = PubTatorWriter::new(Vec::new());
    write(&mut writer, &documents);
    assert!(read(PubTatorReader::new(&source(&writer.into_inner()))).is_some());
});
