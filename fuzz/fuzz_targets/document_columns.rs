//! Reads any bytes as columns, with one and with all label columns; what was read is written, and read again if
//! nothing was told.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{Column, ColumnOptions, ColumnReader, ColumnWriter, ColumnWriterOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = ColumnOptions {
        labels: Some(vec![Column::At(1), Column::FromEnd(1)]),
        ..ColumnOptions::default()
    };
    read(ColumnReader::new(&source(data), options));
    let Some(documents) = read(ColumnReader::new(&source(data), ColumnOptions::default())) else {
        return;
    };
    let mut writer = ColumnWriter::new(Vec::new(), ColumnWriterOptions::default());
    write(&mut writer, &documents);
    read(ColumnReader::new(
        &source(&writer.into_inner()),
        ColumnOptions::default(),
    ));
});
