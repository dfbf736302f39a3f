//! Reads any bytes as a table, with and without a header; what was read is written and is the same text when it is read
//! again.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{Column, TableOptions, TableReader, TableWriter, TableWriterOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let bare = TableOptions {
        header: false,
        text: Some(Column::At(0)),
        ..TableOptions::default()
    };
    for options in [TableOptions::default(), bare] {
        let Some(documents) = read(TableReader::new(&source(data), options)) else {
            continue;
        };
        let mut writer = TableWriter::new(Vec::new(), TableWriterOptions::default());
        write(&mut writer, &documents);
        let options = TableOptions {
            delimiter: Some(b','),
            ..TableOptions::default()
        };
        let again = read(TableReader::new(&source(&writer.into_inner().unwrap()), options)).unwrap();
        assert!(
            again
                .iter()
                .zip(&documents)
                .all(|(one, other)| one.text == other.text)
        );
        assert_eq!(again.len(), documents.len());
    }
});
