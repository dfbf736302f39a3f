//! Every document format, one table of damages: a clear error with a place, or documents that hold together and a
//! notice for what is lost. A format without samples here fails the tests.

use fieldmark_text::document::Document;
use fieldmark_text::formats::{
    BratReader, DocumentFormat, DocumentReader, GeneMentionReader, Mentions, NoticeKind, Notices, ReadOptions,
};
use fieldmark_text::{ErrorKind, ReadError, Source};
use std::io::Write;

type Open = fn(&Source) -> Result<Box<dyn DocumentReader>, ReadError>;

/// A file of a format, and what can be wrong with it.
struct Sample {
    format: DocumentFormat,
    /// Which file of the format it is.
    part: &'static str,
    /// How to open it, if it has siblings.
    open: Option<Open>,
    /// A sound file with the word `Größe`.
    good: Vec<u8>,
    /// The parts of it that an annotation marks as `X`, or nothing if the format has no annotations.
    marked: Option<&'static str>,
    /// Whether a file that is cut off shows it.
    closed: bool,
    /// The same with two annotations that overlap or contradict each other, if they can.
    overlap: Option<&'static str>,
    /// The same with an annotation that reaches beyond the text, if it can.
    beyond: Option<&'static str>,
    /// What comes before and after a very long line.
    long: (&'static str, &'static str),
    /// What opens and closes a level of nesting, with what comes before and after all levels.
    nested: Option<[&'static str; 4]>,
}

fn sample(format: DocumentFormat, good: &str, long: (&'static str, &'static str)) -> Sample {
    Sample {
        format,
        part: "",
        open: None,
        good: good.into(),
        marked: Some("Größe"),
        closed: false,
        overlap: None,
        beyond: None,
        long,
        nested: None,
    }
}

/// A file with one page of text in a font whose codes are those of latin-1.
fn pdf() -> Vec<u8> {
    let content = b"BT /F 12 Tf 50 700 Td (Gr\xF6\xDFe) Tj ET";
    let mut pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>>>>>endobj\n".to_vec();
    pdf.extend(format!("4 0 obj<</Length {}>>stream\n", content.len()).into_bytes());
    pdf.extend_from_slice(content);
    pdf.extend_from_slice(b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
    pdf
}

fn samples(format: DocumentFormat) -> Vec<Sample> {
    let json = ["{\"text\":\"Größe\",\"x\":", "[", "]", "}\n"];
    let spans = |good: &str, overlap, beyond, long| Sample {
        closed: true,
        overlap: Some(overlap),
        beyond: Some(beyond),
        nested: Some(json),
        ..sample(format, good, long)
    };
    match format {
        DocumentFormat::Text => vec![Sample {
            marked: None,
            ..sample(format, "Die Größe.\n", ("", "\n"))
        }],
        DocumentFormat::Medline => vec![Sample {
            marked: None,
            ..sample(
                format,
                "PMID- 12\nTI  - Die Größe\n      von Eisen.\nAB  - Kurz.\n\n",
                ("PMID- 1\nTI  - ", "\n"),
            )
        }],
        DocumentFormat::Pubmed => vec![Sample {
            marked: None,
            closed: true,
            nested: Some([
                "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>",
                "<i>",
                "</i>",
                "</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
            ]),
            ..sample(
                format,
                "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>Die Größe</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
                (
                    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>",
                    "</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
                ),
            )
        }],
        DocumentFormat::Jats => vec![Sample {
            marked: None,
            closed: true,
            nested: Some(["<article><body>", "<sec>", "</sec>", "</body></article>"]),
            ..sample(
                format,
                "<article><front><article-meta><article-id pub-id-type='pmc'>PMC1</article-id></article-meta></front><body><p>Die Größe</p></body></article>",
                ("<article><body><p>", "</p></body></article>"),
            )
        }],
        DocumentFormat::Html => vec![Sample {
            marked: None,
            nested: Some(["", "<div>", "</div>", ""]),
            ..sample(
                format,
                "<!DOCTYPE html><title>T</title><p>Die Größe",
                ("<p>", "</p>"),
            )
        }],
        DocumentFormat::Pdf => vec![Sample {
            good: pdf(),
            marked: None,
            nested: Some([
                "%PDF-1.4\n1 0 obj",
                "[",
                "]",
                "endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
            ]),
            ..sample(format, "", ("%PDF-1.4\n% ", "\n"))
        }],
        DocumentFormat::InlineXml => vec![Sample {
            overlap: Some("<X>Gr<Y>ö</X>ße</Y>"),
            nested: Some(["", "<X>", "</X>", ""]),
            ..sample(format, "Die <X>Größe</X> von", ("<X>", "</X>"))
        }],
        DocumentFormat::Columns => vec![Sample {
            overlap: Some("Größe\tNN\tB-X\nist\tVB\tI-Y\n\n"),
            ..sample(format, "### 1\nGröße\tNN\tB-X\nist\tVB\tO\n\n", ("", "\tO\n"))
        }],
        DocumentFormat::Conllu => vec![Sample {
            overlap: Some("1\tGröße\t_\t_\t_\t_\t_\t_\t_\tNER=B-X\n2\tist\t_\t_\t_\t_\t_\t_\t_\tNER=I-Y\n\n"),
            ..sample(
                format,
                "# newdoc\n1\tGröße\t_\t_\t_\t_\t_\t_\t_\tNER=B-X\n\n",
                ("1\t", "\t_\t_\t_\t_\t_\t_\t_\t_\n"),
            )
        }],
        DocumentFormat::Jsonl => vec![spans(
            "{\"offsets\":\"characters\",\"text\":\"Größe\",\"annotations\":[{\"kind\":\"X\",\"fragments\":[{\"start\":0,\"end\":5}]}]}\n",
            "{\"offsets\":\"characters\",\"text\":\"Größe\",\"annotations\":[{\"kind\":\"X\",\"fragments\":[{\"start\":0,\"end\":3}]},{\"kind\":\"Y\",\"fragments\":[{\"start\":2,\"end\":5}]}]}\n",
            "{\"offsets\":\"characters\",\"text\":\"Größe\",\"annotations\":[{\"kind\":\"X\",\"fragments\":[{\"start\":0,\"end\":6}]}]}\n",
            ("{\"offsets\":\"characters\",\"text\":\"", "\"}\n"),
        )],
        DocumentFormat::Doccano => vec![spans(
            "{\"text\":\"Größe\",\"label\":[[0,5,\"X\"]]}\n",
            "{\"text\":\"Größe\",\"label\":[[0,3,\"X\"],[2,5,\"Y\"]]}\n",
            "{\"text\":\"Größe\",\"label\":[[0,6,\"X\"]]}\n",
            ("{\"text\":\"", "\",\"label\":[[0,5,\"X\"]]}\n"),
        )],
        DocumentFormat::Spacy => vec![spans(
            "{\"text\":\"Größe\",\"entities\":[[0,5,\"X\"]]}\n",
            "{\"text\":\"Größe\",\"entities\":[[0,3,\"X\"],[2,5,\"Y\"]]}\n",
            "{\"text\":\"Größe\",\"entities\":[[0,6,\"X\"]]}\n",
            ("{\"text\":\"", "\",\"entities\":[[0,5,\"X\"]]}\n"),
        )],
        DocumentFormat::Prodigy => vec![spans(
            "{\"text\":\"Größe\",\"spans\":[{\"start\":0,\"end\":5,\"label\":\"X\"}]}\n",
            "{\"text\":\"Größe\",\"spans\":[{\"start\":0,\"end\":3,\"label\":\"X\"},{\"start\":2,\"end\":5,\"label\":\"Y\"}]}\n",
            "{\"text\":\"Größe\",\"spans\":[{\"start\":0,\"end\":6,\"label\":\"X\"}]}\n",
            ("{\"text\":\"", "\",\"spans\":[]}\n"),
        )],
        DocumentFormat::HuggingFace => vec![Sample {
            overlap: Some("{\"tokens\":[\"Größe\",\"a\"],\"ner_tags\":[\"B-X\",\"I-Y\"]}\n"),
            beyond: Some("{\"tokens\":[\"Größe\"],\"ner_tags\":[\"B-X\",\"O\"]}\n"),
            closed: true,
            nested: Some(["{\"tokens\":[\"Größe\"],\"ner_tags\":", "[", "]", "}\n"]),
            ..sample(
                format,
                "{\"tokens\":[\"Größe\",\"a\"],\"ner_tags\":[\"B-X\",\"O\"]}\n",
                ("{\"tokens\":[\"", "\"],\"ner_tags\":[\"O\"]}\n"),
            )
        }],
        DocumentFormat::Brat => vec![
            Sample {
                part: " annotations",
                open: Some(|source| {
                    let text = Source::text("d.txt", "Größe of the lung");
                    Ok(Box::new(BratReader::new("d", &text, Some(source))))
                }),
                overlap: Some("T1\tX 0 5\tGröße\nT2\tY 3 8\tße of\n"),
                beyond: Some("T1\tX 0 99\tGröße\n"),
                ..sample(format, "T1\tX 0 5\tGröße\nA1\tN T1\n", ("T1\tX 0 5\t", "\n"))
            },
            Sample {
                part: " text",
                open: Some(|source| {
                    let marks = Source::text("d.ann", "T1\tX 0 5\tGröße\n");
                    Ok(Box::new(BratReader::new("d", source, Some(&marks))))
                }),
                ..sample(format, "Größe of the lung", ("", "\n"))
            },
        ],
        DocumentFormat::Bioc => vec![Sample {
            closed: true,
            overlap: Some(
                "<collection><document><id>1</id><passage><offset>0</offset><text>Größe</text><annotation id=\"1\"><infon key=\"type\">X</infon><location offset=\"0\" length=\"3\"/></annotation><annotation id=\"2\"><infon key=\"type\">Y</infon><location offset=\"2\" length=\"3\"/></annotation></passage></document></collection>",
            ),
            beyond: Some(
                "<collection><document><id>1</id><passage><offset>0</offset><text>Größe</text><annotation id=\"1\"><infon key=\"type\">X</infon><location offset=\"0\" length=\"99\"/></annotation></passage></document></collection>",
            ),
            nested: Some([
                "<collection><document>",
                "<x>",
                "</x>",
                "</document></collection>",
            ]),
            ..sample(
                format,
                "<collection><document><id>1</id><passage><offset>0</offset><text>Größe</text><annotation id=\"1\"><infon key=\"type\">X</infon><location offset=\"0\" length=\"5\"/></annotation></passage></document></collection>",
                (
                    "<collection><document><id>1</id><passage><offset>0</offset><text>",
                    "</text></passage></document></collection>",
                ),
            )
        }],
        DocumentFormat::Csv => vec![Sample {
            overlap: Some("id,text,annotations\n1,Größe,\"[[0,3,\"\"X\"\"],[2,5,\"\"Y\"\"]]\"\n"),
            beyond: Some("id,text,annotations\n1,Größe,\"[[0,6,\"\"X\"\"]]\"\n"),
            nested: Some(["text,annotations\nGröße,\"", "[", "]", "\"\n"]),
            ..sample(
                format,
                "id,text,annotations\n1,Größe,\"[[0,5,\"\"X\"\"]]\"\n",
                ("text\n", "\n"),
            )
        }],
        DocumentFormat::Tsv => vec![Sample {
            overlap: Some("id\ttext\tannotations\n1\tGröße\t\"[[0,3,\"\"X\"\"],[2,5,\"\"Y\"\"]]\"\n"),
            beyond: Some("id\ttext\tannotations\n1\tGröße\t\"[[0,6,\"\"X\"\"]]\"\n"),
            nested: Some(["text\tannotations\nGröße\t\"", "[", "]", "\"\n"]),
            ..sample(
                format,
                "id\ttext\tannotations\n1\tGröße\t\"[[0,5,\"\"X\"\"]]\"\n",
                ("text\n", "\n"),
            )
        }],
        DocumentFormat::PubTator => vec![Sample {
            overlap: Some("1|t|Größe\n1|a|of lung\n1\t0\t3\tGrö\tX\n1\t2\t5\töße\tY\n\n"),
            beyond: Some("1|t|Größe\n1|a|of lung\n1\t0\t99\tGröße\tX\n\n"),
            ..sample(
                format,
                "1|t|Größe\n1|a|of lung\n1\t0\t5\tGröße\tX\tD1\n\n",
                ("1|t|", "\n"),
            )
        }],
        DocumentFormat::GeneMention => vec![
            Sample {
                part: " sentences",
                open: Some(|source| {
                    let genes = Source::text("g", "P1|0 4|Größe\n");
                    let reader = GeneMentionReader::new(source, Some(&genes), None, Mentions::All)?;
                    Ok(Box::new(reader))
                }),
                ..sample(format, "P1 Größe of\nP2 lung\n", ("P1 ", "\n"))
            },
            Sample {
                part: " genes",
                open: Some(|source| {
                    let sentences = Source::text("s", "P1 Größe of\n");
                    let reader = GeneMentionReader::new(&sentences, Some(source), None, Mentions::All)?;
                    Ok(Box::new(reader))
                }),
                overlap: Some("P1|0 2|Grö\nP1|2 4|öße\n"),
                beyond: Some("P1|0 99|Größe\n"),
                ..sample(format, "P1|0 4|Größe\n", ("P1|0 4|", "\n"))
            },
        ],
        other => panic!("the format {other} has no samples: add some"),
    }
}

fn all() -> impl Iterator<Item = Sample> {
    DocumentFormat::ALL.iter().flat_map(|&format| samples(format))
}

impl Sample {
    fn name(&self) -> String {
        format!("{}{}", self.format, self.part)
    }

    /// All documents, each of them checked.
    fn read(&self, bytes: impl Into<Vec<u8>>) -> Result<(Vec<Document>, Notices), ReadError> {
        let source = Source::Memory {
            name: "t".to_owned(),
            bytes: bytes.into(),
        };
        let options = ReadOptions {
            format: Some(self.format),
            ..ReadOptions::default()
        };
        let mut reader = match self.open {
            Some(open) => open(&source)?,
            None => options.open(&source)?,
        };
        let mut notices = Notices::new();
        let mut documents = Vec::new();
        loop {
            match reader.next(&mut notices) {
                Ok(Some(document)) => {
                    assert_eq!(document.check(), Ok(()), "{}: {document:?}", self.name());
                    documents.push(document);
                }
                Ok(None) => return Ok((documents, notices)),
                Err(error) => {
                    // Nobody who goes on goes on for ever.
                    let ends = (0..1000).any(|_| matches!(reader.next(&mut notices), Ok(None)));
                    assert!(ends, "{}: {error}", self.name());
                    return Err(error);
                }
            }
        }
    }
}

/// A message with the file, and with a line unless the file has none.
fn is_clear(sample: &Sample, error: &ReadError) -> bool {
    let has_place = error.line().is_some() || sample.format == DocumentFormat::Pdf;
    has_place && error.to_string().starts_with('t')
}

#[test]
fn sound_files_are_read() {
    for sample in all() {
        let (documents, notices) = sample.read(sample.good.clone()).unwrap();
        assert!(notices.is_empty(), "{}: {notices:?}", sample.name());
        let document = &documents[0];
        assert!(
            document.text.contains("Größe"),
            "{}: {:?}",
            sample.name(),
            document.text
        );
        let marked = document.annotations.first();
        assert_eq!(
            marked.map(|annotation| annotation.text(&document.text)),
            sample.marked,
            "{}",
            sample.name()
        );
    }
}

#[test]
fn cut_off_anywhere() {
    for sample in all() {
        let whole = sample.good.trim_ascii_end();
        for length in 0..whole.len() {
            match sample.read(&whole[..length]) {
                // What was cut off is missing, or something tells that it is.
                Ok((_, notices)) => assert!(
                    !sample.closed || length == 0 || !notices.is_empty(),
                    "{} {length}",
                    sample.name()
                ),
                Err(error) => assert!(
                    is_clear(&sample, &error) || length < 12,
                    "{} {length}: {error}",
                    sample.name()
                ),
            }
        }
    }
}

#[test]
fn damaged_archives_are_told_once_and_come_to_an_end() {
    for sample in all() {
        // Nothing after the magic number is sound; what can be decompressed is read before the failure.
        let packed = zstd::encode_all(&sample.good[..], 1).unwrap();
        for bytes in [&packed[..packed.len() - 3], b"(\xB5/\xFD\x80\x80\x80\x80\x80\x80"] {
            let error = sample.read(bytes).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Compressed { format: "zstd", .. }),
                "{}: {error}",
                sample.name()
            );
        }
    }
}

#[test]
fn other_encodings_are_known_or_refused_with_a_place() {
    for sample in all().filter(|sample| sample.format != DocumentFormat::Pdf) {
        let text = String::from_utf8(sample.good.clone()).unwrap();
        let latin: Vec<u8> = text
            .chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect();
        match sample.read(latin) {
            Ok((documents, notices)) => {
                assert!(documents[0].text.contains("Größe"), "{}", sample.name());
                assert!(
                    notices.counts().contains_key(&NoticeKind::Encoding),
                    "{}: {notices:?}",
                    sample.name()
                );
            }
            Err(error) => {
                assert!(
                    matches!(error.kind(), ErrorKind::Utf8 { byte: 0xF6, .. })
                        || error.to_string().contains("not UTF-8"),
                    "{}: {error}",
                    sample.name()
                );
                assert!(
                    error.line().is_some() && error.column() > Some(1),
                    "{}: {error}",
                    sample.name()
                );
            }
        }
        let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
        match sample.read([0xFF, 0xFE].into_iter().chain(wide).collect::<Vec<u8>>()) {
            Ok((documents, _)) => assert!(documents[0].text.contains("Größe"), "{}", sample.name()),
            Err(error) => assert!(
                matches!(error.kind(), ErrorKind::Utf16),
                "{}: {error}",
                sample.name()
            ),
        }
    }
}

#[test]
fn what_overlaps_is_kept_or_told() {
    for sample in all() {
        let Some(text) = sample.overlap else { continue };
        match sample.read(text) {
            Ok((documents, notices)) => assert!(
                documents[0].annotations.len() == 2,
                "{}: {:?} {notices:?}",
                sample.name(),
                documents[0].annotations
            ),
            Err(error) => assert!(is_clear(&sample, &error), "{}: {error}", sample.name()),
        }
    }
}

#[test]
fn what_reaches_beyond_the_text_is_told() {
    for sample in all() {
        let Some(text) = sample.beyond else { continue };
        match sample.read(text) {
            Ok((documents, notices)) => {
                assert!(!notices.is_empty(), "{}: {documents:?}", sample.name());
            }
            Err(error) => assert!(is_clear(&sample, &error), "{}: {error}", sample.name()),
        }
    }
}

/// A line of 50 megabytes in a file a thousand times smaller.
#[test]
fn a_long_line_that_was_packed_small() {
    for sample in all() {
        let (before, after) = sample.long;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(before.as_bytes()).unwrap();
        let megabyte = vec![b'x'; 1 << 20];
        (0..50).for_each(|_| packed.write_all(&megabyte).unwrap());
        packed.write_all(after.as_bytes()).unwrap();
        match sample.read(packed.finish().unwrap()) {
            Ok((documents, notices)) => assert!(
                documents[0].text.len() >= 50 << 20 || !notices.is_empty(),
                "{}",
                sample.name()
            ),
            Err(error) => assert!(is_clear(&sample, &error), "{}: {error}", sample.name()),
        }
    }
}

#[test]
fn no_depth_is_too_deep() {
    for sample in all() {
        let Some([before, open, close, after]) = sample.nested else {
            continue;
        };
        for depth in [100, 100_000] {
            for closing in [depth, 0] {
                let text = [before, &open.repeat(depth), &close.repeat(closing), after].concat();
                if let Err(error) = sample.read(text) {
                    assert!(is_clear(&sample, &error), "{} {depth}: {error}", sample.name());
                }
            }
        }
    }
}

/// Entities that unfold to a billion words.
#[test]
fn entities_do_not_unfold() {
    let mut declared = "<!ENTITY e0 'lol'>".to_owned();
    for level in 1..12 {
        let reference = format!("&e{};", level - 1);
        declared += &format!("<!ENTITY e{level} '{}'>", reference.repeat(10));
    }
    for sample in all().filter(|sample| sample.good.contains(&b'<') && sample.format != DocumentFormat::Pdf) {
        let text = String::from_utf8(sample.good.clone())
            .unwrap()
            .replace("Größe", "Größe &e11;");
        let text = format!("<!DOCTYPE x [{declared}]>{text}");
        match sample.read(text) {
            Ok((documents, _)) => {
                let length: usize = documents.iter().map(|document| document.text.len()).sum();
                assert!(length < 5000, "{}: {length}", sample.name());
            }
            Err(error) => assert!(is_clear(&sample, &error), "{}: {error}", sample.name()),
        }
    }
}

#[test]
fn every_byte_changed() {
    for sample in all() {
        for at in 0..sample.good.len() {
            for byte in [b'\t', b'\n', b'9', b'"', b'<', b' ', 0, 0xFF] {
                let mut bytes = sample.good.clone();
                bytes[at] = byte;
                let _ = sample.read(bytes);
            }
        }
    }
}
