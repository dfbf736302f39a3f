//! The text format of MEDLINE: records of tagged fields, as PubMed saves them.
//!
//! ```text
//! PMID- 12890863
//! TI  - The effect of transforming growth factor beta1 gene polymorphisms in
//!       ankylosing spondylitis.
//! AB  - OBJECTIVES: To determine whether ...
//! AU  - Jaakkola E
//! ```
//!
//! Title and abstract are the text, on lines of their own, with an element each; every other field goes to
//! [`Document::meta`] under its tag, repeated ones on lines of their own. Continuation lines are joined by a
//! blank, as they were cut at one. Facts of articles in PubMed XML and JATS are written in the fields for them.

use super::article_facts::{is_medline, medline_fields};
use super::encoding::{Decoded, Encoding};
use super::title_abstract::TitleAbstract;
use super::{DocumentReader, DocumentWriter, NoticeKind, Notices, tell_unwritten};
use crate::document::{Document, Element, Place};
use crate::error::{ErrorKind, ReadError, shown};
use crate::source::Source;
use std::io::{self, Write};
use std::ops::Range;

/// Reads MEDLINE records.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, Notices};
/// use fieldmark_text::formats::medline::MedlineReader;
/// let source = Source::text("m.txt", "PMID- 1\nTI  - On iron\n      and zinc.\nAU  - Wu A\nAU  - Li B\n");
/// let mut reader = MedlineReader::new(&source, Default::default())?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!((document.id.as_str(), document.text.as_str()), ("1", "On iron and zinc."));
/// assert_eq!(document.meta["AU"], "Wu A\nLi B");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Debug)]
pub struct MedlineReader {
    decoded: Decoded,
    at: usize,
    line: u64,
    told: bool,
}

/// A field with its continuation lines.
struct Field {
    tag: String,
    value: String,
    /// The bytes of the text that the value was read from.
    range: Range<usize>,
}

impl MedlineReader {
    /// Reads a source.
    pub fn new(source: &Source, encoding: Encoding) -> Result<Self, ReadError> {
        Ok(Self {
            decoded: Decoded::read(source, encoding)?,
            at: 0,
            line: 1,
            told: false,
        })
    }

    /// The fields of the next record, and its first line.
    fn record(&mut self) -> Result<Option<(Vec<Field>, u64)>, ReadError> {
        let text = self.decoded.text();
        let mut fields: Vec<Field> = Vec::new();
        let mut first = self.line;
        while self.at < text.len() {
            let start = self.at;
            let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |len| start + len);
            let line = text[start..end].trim_end();
            let field = field(line);
            if line.is_empty() && !fields.is_empty() {
                break;
            }
            // A record begins with its number, even where the blank line before it is missing.
            if field.is_some_and(|(tag, _)| tag == "PMID") && fields.iter().any(|field| field.tag == "PMID") {
                break;
            }
            self.at = end + 1;
            self.line += 1;
            if line.is_empty() {
                first = self.line;
            } else if let Some((tag, value)) = field {
                fields.push(Field {
                    tag: tag.to_owned(),
                    value: value.to_owned(),
                    range: start + line.len() - value.len()..start + line.len(),
                });
            } else if let (true, Some(last)) = (line.starts_with([' ', '\t']), fields.last_mut()) {
                last.value.push(' ');
                last.value.push_str(line.trim_start());
                last.range.end = start + line.len();
            } else {
                let kind = ErrorKind::Medline { found: shown(line) };
                let error = self.decoded.error(start, kind);
                self.at = usize::MAX;
                return Err(error);
            }
        }
        Ok((!fields.is_empty()).then_some((fields, first)))
    }
}

/// Tag and value of a line such as `TI  - On iron`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (tag, value) = (line.get(..4)?, line.get(4..)?.strip_prefix('-')?);
    let tag = tag.trim_end_matches(' ');
    is_tag(tag).then(|| (tag, value.trim()))
}

fn is_tag(tag: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    (2..=4).contains(&tag.len()) && tag.bytes().all(letter)
}

impl DocumentReader for MedlineReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        if !std::mem::replace(&mut self.told, true) {
            self.decoded.tell("", notices);
        }
        let Some((fields, line)) = self.record()? else {
            return Ok(None);
        };
        let mut document = Document::default();
        for (tag, kind) in [("TI", "title"), ("AB", "abstract")] {
            for field in fields
                .iter()
                .filter(|field| field.tag == tag && !field.value.is_empty())
            {
                if !document.text.is_empty() {
                    document.text.push('\n');
                }
                let start = document.text.len();
                document.text.push_str(&field.value);
                document.elements.push(Element {
                    kind: kind.to_owned(),
                    range: start..document.text.len(),
                    place: Some(Place::Bytes(self.decoded.place(field.range.clone()))),
                });
            }
        }
        for field in fields {
            match field.tag.as_str() {
                "TI" | "AB" => {}
                "PMID" if document.id.is_empty() => document.id = field.value,
                _ => add_value(&mut document, &field.tag, &field.value),
            }
        }
        if document.id.is_empty() {
            document.id = format!("{}:{line}", self.decoded.name());
            let message = "this record has no PMID and is named after its line";
            notices.add(NoticeKind::Detail, &document.id, Some(line), message);
        }
        Ok(Some(document))
    }
}

/// Adds to what a document says about itself; several values stand on lines of their own.
fn add_value(document: &mut Document, key: &str, value: &str) {
    let values = document.meta.entry(key.to_owned()).or_default();
    if !values.is_empty() {
        values.push('\n');
    }
    values.push_str(value);
}

/// Writes MEDLINE records: the first title, everything else as the abstract, and those facts whose names are
/// tags, or that PubMed XML and JATS have, too. Annotations have no place, and each is told.
#[derive(Debug)]
pub struct MedlineWriter<W> {
    out: W,
}

impl<W: Write> MedlineWriter<W> {
    /// Writes to `out`, as UTF-8.
    pub fn new(out: W) -> Self {
        Self { out }
    }
}

/// Where PubMed cuts lines.
const WIDTH: usize = 80;

impl<W: Write> DocumentWriter for MedlineWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        tell_unwritten(document, "MEDLINE", true, notices);
        let parts = TitleAbstract::of(document, notices);
        let id = document.meta.get("pmid").unwrap_or(&document.id);
        write_field(&mut self.out, "PMID", &one_line(id))?;
        let mut tell = |value: &str| {
            if value.contains(['\n', '\r']) {
                let message = "line ends are blanks now";
                notices.add(NoticeKind::OtherText, &document.id, None, message);
            }
        };
        if let Some(title) = parts.title {
            tell(title);
            write_field(&mut self.out, "TI", &one_line(title))?;
        }
        if parts.sections.len() > 1 {
            tell("\n");
        }
        let sections = parts.sections.iter().map(|(label, body)| {
            tell(body);
            let label = label.map(|label| format!("{label}: ")).unwrap_or_default();
            one_line(&format!("{label}{body}"))
        });
        let sections: Vec<String> = sections.collect();
        if !sections.is_empty() {
            write_field(&mut self.out, "AB", &sections.join(" "))?;
        }
        for (key, values) in &document.meta {
            if is_tag(key) && !matches!(key.as_str(), "PMID" | "TI" | "AB") {
                for value in values.split('\n') {
                    write_field(&mut self.out, key, &one_line(value))?;
                }
            } else if !is_medline(key) {
                let message = format!("`{key}` is left out: it is not a field of MEDLINE");
                notices.add(NoticeKind::Detail, &document.id, None, message);
            }
        }
        for (tag, value) in medline_fields(document) {
            write_field(&mut self.out, tag, &one_line(&value))?;
        }
        writeln!(self.out)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn one_line(value: &str) -> String {
    value.trim().replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// A field, cut at single blanks, so that joining the lines by a blank gives it back.
fn write_field(out: &mut impl Write, tag: &str, value: &str) -> io::Result<()> {
    write!(out, "{tag:<4}- ")?;
    let mut column = 6;
    let mut word_start = 0;
    let bytes = value.as_bytes();
    let visible = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
    let is_cut = |at: usize| {
        bytes[at] == b' '
            && visible(value[..at].chars().next_back())
            && visible(value[at + 1..].chars().next())
    };
    for end in (0..=bytes.len()).filter(|&at| at == bytes.len() || is_cut(at)) {
        let word = &value[word_start..end];
        let width = word.chars().count();
        if word_start > 0 {
            if column + 1 + width > WIDTH {
                write!(out, "\n      ")?;
                column = 6;
            } else {
                write!(out, " ")?;
                column += 1;
            }
        }
        write!(out, "{word}")?;
        column += width;
        word_start = end + 1;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{read_all, read_ok, written};
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Document> {
        read_ok(&mut MedlineReader::new(&Source::text("m", text), Encoding::DETECT).unwrap())
    }

    const TWO: &str = "\nPMID- 1\nOWN - NLM\nTI  - A title\r\n      of two lines.\nPG  - 1-2\nAB  - AIM: to see.\nAU  - Wu A\nAU  - Li B\n\n\nPMID- 2\nTI  - B.\n";

    #[test]
    fn fields_become_text_and_facts() {
        let documents = read(TWO);
        assert_eq!(documents.len(), 2);
        let first = &documents[0];
        assert_eq!(first.text, "A title of two lines.\nAIM: to see.");
        let kinds: Vec<&str> = first
            .elements
            .iter()
            .map(|element| element.kind.as_str())
            .collect();
        assert_eq!(kinds, ["title", "abstract"]);
        let Some(Place::Bytes(place)) = first.elements[0].place.clone() else {
            panic!("no place")
        };
        assert_eq!(&TWO[place], "A title\r\n      of two lines.");
        assert_eq!(first.meta["AU"], "Wu A\nLi B");
        assert_eq!(documents[1].id, "2");
    }

    #[test]
    fn a_missing_blank_line_or_number_is_no_harm() {
        let documents = read("PMID- 1\nTI  - A\nPMID- 2\nTI  - B\n");
        assert_eq!(documents.len(), 2);
        let mut reader = MedlineReader::new(&Source::text("m", "\nTI  - A\n"), Encoding::DETECT).unwrap();
        let (documents, notices) = read_all(&mut reader);
        assert_eq!(documents.unwrap()[0].id, "m:2");
        assert_eq!(notices.all().len(), 1);
    }

    #[test]
    fn lines_that_are_no_fields_are_errors() {
        for (text, place) in [
            ("PMID- 1\nnonsense\n", "m:2:1: found `nonsense`"),
            ("      before any field\n", "m:1:1: "),
            ("<xml>", "m:1:1: "),
            ("αβγ\u{301}- x", "m:1:1: "),
        ] {
            let mut reader = MedlineReader::new(&Source::text("m", text), Encoding::DETECT).unwrap();
            let error = read_all(&mut reader).0.unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
            assert!(matches!(reader.next(&mut Notices::new()), Ok(None)));
        }
    }

    #[test]
    fn a_record_that_is_cut_off_is_what_is_left_of_it() {
        assert_eq!(read(&TWO[..36])[0].text, "A title\r".trim());
    }

    #[test]
    fn long_fields_are_fields() {
        let long = format!("PMID- 1\nAB  - {}\n", "word ".repeat(2_000_000));
        assert_eq!(read(&long)[0].text.len(), 9_999_999);
        let lines = format!("PMID- 1\nAB  - x\n{}", "      word\n".repeat(500_000));
        assert_eq!(read(&lines)[0].text.len(), 1 + 5 * 500_000);
    }

    proptest! {
        #[test]
        fn round_trips(
            title in "[a-c,α]([a-c ,α-]{0,100}[a-c,.α])?",
            body in "[a-c,α]([a-c ,α-]{0,300}[a-c,.α])?",
            authors in "[A-Z][a-z]{0,4}(\n[A-Z][a-z]{1,4}){0,3}",
        ) {
            let mut document = Document::new("17", format!("{title}\n{body}"));
            for (kind, range) in [("title", 0..title.len()), ("abstract", title.len() + 1..document.text.len())] {
                document.elements.push(Element { kind: kind.to_owned(), range, place: None });
            }
            document.meta.insert("AU".to_owned(), authors);
            let (bytes, notices) = written(&[document.clone(), document.clone()], MedlineWriter::new);
            prop_assert!(notices.is_empty(), "{:?}", notices.all());
            let mut back = read(std::str::from_utf8(&bytes).unwrap());
            prop_assert_eq!(back.len(), 2);
            back[0].elements.iter_mut().for_each(|element| element.place = None);
            prop_assert_eq!(&back[0], &document);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(PMID- |TI  - |AB  - |      |\n|\r|a|é|- ){0,30}") {
            let _ = read_all(&mut MedlineReader::new(&Source::text("m", text), Encoding::DETECT).unwrap());
        }
    }
}
