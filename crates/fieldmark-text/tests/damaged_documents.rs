//! Every format of annotated documents, one table of damages: an error with a place, or documents that hold together.

use fieldmark_text::Source;
use fieldmark_text::document::Document;
use fieldmark_text::formats::{
    BiocReader, BratReader, ColumnOptions, ColumnReader, ConlluReader, DocumentReader, GeneMentionReader,
    JsonlOptions, JsonlReader, Mentions, Notices, PubTatorReader, TableOptions, TableReader,
};
use fieldmark_text::{ErrorKind, ReadError};

type Open = fn(&Source) -> Result<Box<dyn DocumentReader>, ReadError>;

struct Format {
    name: &'static str,
    open: Open,
    sample: &'static str,
    /// What comes before and after a very long line.
    long: (&'static str, &'static str),
}

fn text() -> Source {
    Source::text("d.txt", "Größe of the lung")
}

const FORMATS: [Format; 11] = [
    Format {
        name: "columns",
        open: |source| Ok(Box::new(ColumnReader::new(source, ColumnOptions::default())?)),
        sample: "### 1\nGröße\tNN\tB-X\nist\tVB\tO\n\n",
        long: ("", "\tO\n"),
    },
    Format {
        name: "CoNLL-U",
        open: |source| Ok(Box::new(ConlluReader::new(source)?)),
        sample: "# newdoc\n1\tGröße\t_\t_\t_\t_\t_\t_\t_\tNER=B-X\n\n",
        long: ("1\t", "\t_\t_\t_\t_\t_\t_\t_\t_\n"),
    },
    Format {
        name: "doccano",
        open: |source| Ok(Box::new(JsonlReader::new(source, JsonlOptions::default())?)),
        sample: "{\"text\":\"Größe\",\"label\":[[0,5,\"X\"],[2,9,\"Y\"]]}\n",
        long: ("{\"text\":\"", "\",\"label\":[[0,5,\"X\"]]}\n"),
    },
    Format {
        name: "Hugging Face",
        open: |source| Ok(Box::new(JsonlReader::new(source, JsonlOptions::default())?)),
        sample: "{\"tokens\":[\"Größe\",\"a\"],\"ner_tags\":[\"B-X\",\"O\"]}\n",
        long: ("{\"tokens\":[\"", "\"],\"ner_tags\":[\"O\"]}\n"),
    },
    Format {
        name: "fieldmark",
        open: |source| Ok(Box::new(JsonlReader::new(source, JsonlOptions::default())?)),
        sample: "{\"offsets\":\"characters\",\"text\":\"Größe\",\"annotations\":[{\"kind\":\"X\",\"fragments\":[{\"start\":0,\"end\":5}]}]}\n",
        long: ("{\"offsets\":\"characters\",\"text\":\"", "\"}\n"),
    },
    Format {
        name: "brat",
        open: |source| Ok(Box::new(BratReader::new("d", &text(), Some(source)))),
        sample: "T1\tX 0 5\tGröße\nT2\tY 3 9\tße of\nA1\tN T1\n",
        long: ("T1\tX 0 5\t", "\n"),
    },
    Format {
        name: "brat's text",
        open: |source| {
            Ok(Box::new(BratReader::new(
                "d",
                source,
                Some(&Source::text("d.ann", "T1\tX 0 5\tGröße\n")),
            )))
        },
        sample: "Größe of the lung",
        long: ("", "\n"),
    },
    Format {
        name: "PubTator",
        open: |source| Ok(Box::new(PubTatorReader::new(source)?)),
        sample: "1|t|Größe\n1|a|of lung\n1\t0\t5\tGröße\tX\tD1\n1\t2\t9\töße\tY\n\n",
        long: ("1|t|", "\n"),
    },
    Format {
        name: "BioC",
        open: |source| Ok(Box::new(BiocReader::new(source)?)),
        sample: "<collection><document><id>1</id><passage><offset>0</offset><text>Größe</text><annotation id=\"1\"><location offset=\"0\" length=\"5\"/></annotation></passage></document></collection>",
        long: (
            "<collection><document><id>1</id><passage><offset>0</offset><text>",
            "</text></passage></document></collection>",
        ),
    },
    Format {
        name: "gene mention",
        open: |source| {
            let genes = Source::text("g", "P1|0 4|Größe\nP1|3 99|x\n");
            Ok(Box::new(GeneMentionReader::new(
                source,
                Some(&genes),
                None,
                Mentions::All,
            )?))
        },
        sample: "P1 Größe of\nP2 lung\n",
        long: ("P1 ", "\n"),
    },
    Format {
        name: "table",
        open: |source| Ok(Box::new(TableReader::new(source, TableOptions::default())?)),
        sample: "id,text,annotations\n1,Größe,\"[[0,5,\"\"X\"\"]]\"\n",
        long: ("text\n", "\n"),
    },
];

fn read(format: &Format, bytes: Vec<u8>) -> Result<(Vec<Document>, Notices), ReadError> {
    let source = Source::Memory {
        name: "t".to_owned(),
        bytes,
    };
    let mut reader = (format.open)(&source)?;
    let mut notices = Notices::new();
    let mut documents = Vec::new();
    while let Some(document) = reader.next(&mut notices)? {
        assert_eq!(document.check(), Ok(()), "{}: {document:?}", format.name);
        documents.push(document);
    }
    Ok((documents, notices))
}

#[test]
fn samples_are_read() {
    for format in &FORMATS {
        let (documents, _) = read(format, format.sample.into()).unwrap();
        assert!(documents[0].text.contains("Größe"), "{}", format.name);
        assert_eq!(
            documents[0].annotations[0].text(&documents[0].text),
            "Größe",
            "{}",
            format.name
        );
    }
}

#[test]
fn cut_off_anywhere() {
    for format in &FORMATS {
        for length in 0..format.sample.len() {
            match read(format, format.sample.as_bytes()[..length].to_vec()) {
                Ok(_) => {}
                Err(error) => assert!(
                    error.line().is_some() || length < 12,
                    "{} {length}: {error}",
                    format.name
                ),
            }
        }
    }
}

#[test]
fn bytes_that_are_no_utf_8_have_a_place() {
    for format in &FORMATS {
        let latin: Vec<u8> = format
            .sample
            .chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect();
        let error = read(format, latin).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Utf8 { byte: 0xF6, .. }),
            "{}: {error}",
            format.name
        );
        assert!(
            error.line().is_some() && error.column() > Some(1),
            "{}: {error}",
            format.name
        );
        let wide: Vec<u8> = [0xFF, 0xFE]
            .into_iter()
            .chain(format.sample.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        let error = read(format, wide).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Utf16),
            "{}: {error}",
            format.name
        );
    }
}

#[test]
fn a_line_of_50_megabytes() {
    for format in &FORMATS {
        let (before, after) = format.long;
        let mut bytes = before.as_bytes().to_vec();
        bytes.resize(before.len() + 50_000_000, b'x');
        bytes.extend(after.as_bytes());
        let (documents, _) = read(format, bytes).unwrap();
        assert!(
            documents[0].text.len() >= 50_000_000 || format.name == "brat",
            "{}",
            format.name
        );
    }
}

#[test]
fn every_byte_changed() {
    for format in &FORMATS {
        for at in 0..format.sample.len() {
            for byte in [b'\t', b'\n', b'9', b'"', b'<', b' '] {
                let mut bytes = format.sample.as_bytes().to_vec();
                bytes[at] = byte;
                let _ = read(format, bytes);
            }
        }
    }
}
