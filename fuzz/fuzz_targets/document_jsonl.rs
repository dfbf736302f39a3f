//! Reads any bytes as JSON lines of any flavour. What was read is written in every flavour and can be read again; the
//! own flavour loses nothing.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{Flavour, JsonlOptions, JsonlReader, JsonlWriter, JsonlWriterOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(documents) = read(JsonlReader::new(&source(data), JsonlOptions::default())) else {
        return;
    };
    let flavours = [
        Flavour::Fieldmark,
        Flavour::Doccano,
        Flavour::Spacy,
        Flavour::Prodigy,
        Flavour::HuggingFace,
    ];
    for flavour in flavours {
        let options = JsonlWriterOptions {
            flavour,
            ..JsonlWriterOptions::default()
        };
        let mut writer = JsonlWriter::new(Vec::new(), options);
        write(&mut writer, &documents);
        let options = JsonlOptions {
            flavour: Some(flavour),
            ..JsonlOptions::default()
        };
        let again = read(JsonlReader::new(&source(&writer.into_inner()), options)).unwrap();
        if flavour == Flavour::Fieldmark {
            assert_eq!(again, documents);
        }
    }
});
