//! Plain text: a file, a line or a block of lines is a document.
//!
//! As a whole file, the text is kept to the last byte, and the document is named after the file. As lines or
//! blocks, line ends and blank lines between documents are not part of any; each document is named after the
//! file and the line where it begins, and an [`Element`] says which bytes of the file it is.

use super::encoding::{Decoded, Encoding};
use super::{DocumentReader, DocumentWriter, NoticeKind, Notices, tell_unwritten};
use crate::document::{Document, Element, Place};
use crate::error::ReadError;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// What is one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `whole`: the file.
    #[default]
    Whole,
    /// `lines`: each line that is not blank.
    Lines,
    /// `blocks`: lines up to a blank one.
    Blocks,
}

/// How to read plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextOptions {
    /// The encoding.
    pub encoding: Encoding,
    /// What is one document.
    pub layout: Layout,
}

/// Reads plain text.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, Notices};
/// use fieldmark_text::formats::text::{Layout, TextOptions, TextReader};
/// let source = Source::text("notes.txt", "First note.\n\nSecond note.\n");
/// let options = TextOptions { layout: Layout::Lines, ..TextOptions::default() };
/// let mut reader = TextReader::new(&source, options)?;
/// let mut notices = Notices::new();
/// assert_eq!(reader.next(&mut notices)?.unwrap().text, "First note.");
/// assert_eq!(reader.next(&mut notices)?.unwrap().id, "notes.txt:3");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Debug)]
pub struct TextReader {
    decoded: Decoded,
    layout: Layout,
    id: String,
    at: usize,
    line: u64,
    told: bool,
}

impl TextReader {
    /// Reads a source.
    pub fn new(source: &Source, options: TextOptions) -> Result<Self, ReadError> {
        Ok(Self {
            decoded: Decoded::read(source, options.encoding)?,
            layout: options.layout,
            id: file_name(source),
            at: 0,
            line: 1,
            told: false,
        })
    }

    fn whole(&mut self) -> Option<Document> {
        let text = std::mem::take(&mut self.at) == 0;
        self.at = usize::MAX;
        text.then(|| Document::new(self.id.clone(), self.decoded.text()))
    }

    /// The next line or block, and its first line.
    fn part(&mut self) -> Option<(Range<usize>, u64)> {
        let text = self.decoded.text();
        let mut found: Option<(Range<usize>, u64)> = None;
        while self.at < text.len() {
            let start = self.at;
            let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |len| start + len);
            let line = text[start..end].trim_end_matches('\r');
            let number = self.line;
            self.at = end + 1;
            self.line += 1;
            match (&mut found, line.trim().is_empty()) {
                (None, true) => {}
                (Some(_), true) => break,
                (Some((range, _)), false) => range.end = start + line.len(),
                (None, false) => found = Some((start..start + line.len(), number)),
            }
            if found.is_some() && self.layout == Layout::Lines {
                break;
            }
        }
        found
    }

    fn part_document(&mut self) -> Option<Document> {
        let (range, line) = self.part()?;
        let mut document = Document::new(format!("{}:{line}", self.id), &self.decoded.text()[range.clone()]);
        let kind = match self.layout {
            Layout::Lines => "line",
            _ => "paragraph",
        };
        document.elements.push(Element {
            kind: kind.to_owned(),
            range: 0..document.text.len(),
            place: Some(Place::Bytes(self.decoded.place(range))),
        });
        Some(document)
    }
}

impl DocumentReader for TextReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        if !std::mem::replace(&mut self.told, true) {
            self.decoded.tell(&self.id, notices);
        }
        Ok(match self.layout {
            Layout::Whole => self.whole(),
            Layout::Lines | Layout::Blocks => self.part_document(),
        })
    }
}

/// The name of a file without its directories, or of a source that is not a file.
pub(super) fn file_name(source: &Source) -> String {
    let name = source.name();
    let file = Path::new(&name).file_name().and_then(|name| name.to_str());
    file.map_or_else(|| name.clone(), ToOwned::to_owned)
}

/// Writes plain text. Annotations have no place in it, and each is told.
///
/// What would end a document too early is replaced by a blank and told: line ends in the layout `lines`, blank
/// lines in the layout `blocks`. In the layout `whole` only one document is a file; more are written one
/// after the other.
#[derive(Debug)]
pub struct TextWriter<W> {
    out: W,
    layout: Layout,
    written: usize,
}

impl<W: Write> TextWriter<W> {
    /// Writes to `out`, as UTF-8.
    pub fn new(out: W, layout: Layout) -> Self {
        Self {
            out,
            layout,
            written: 0,
        }
    }
}

impl<W: Write> DocumentWriter for TextWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        tell_unwritten(document, "plain text", true, notices);
        self.written += 1;
        // A mark of the byte order is no part of a text, unless there is another one before it.
        if self.written == 1 && document.text.starts_with('\u{FEFF}') {
            self.out.write_all("\u{FEFF}".as_bytes())?;
        }
        let mut tell = |message: &str| notices.add(NoticeKind::OtherText, &document.id, None, message);
        match self.layout {
            Layout::Whole => {
                if self.written > 1 {
                    tell("this is not the first document of the file: nothing shows where it begins");
                    self.out.write_all(b"\n")?;
                }
                self.out.write_all(document.text.as_bytes())
            }
            Layout::Lines => {
                let text = document.text.replace(['\n', '\r'], " ");
                if text != document.text {
                    tell("line ends are blanks now");
                }
                if text.trim().is_empty() {
                    tell("the text is blank and makes no line");
                }
                writeln!(self.out, "{text}")
            }
            Layout::Blocks => {
                let text = one_block(&document.text);
                if text != document.text {
                    tell("blank lines are left out");
                }
                writeln!(self.out, "{text}\n")
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn one_block(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
    let kept: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{read_all, read_ok, written};
    use proptest::prelude::*;

    fn read(text: &str, layout: Layout) -> Vec<Document> {
        let options = TextOptions {
            layout,
            ..TextOptions::default()
        };
        read_ok(&mut TextReader::new(&Source::text("dir/a.txt", text), options).unwrap())
    }

    fn texts(text: &str, layout: Layout) -> Vec<(String, String)> {
        let documents = read(text, layout).into_iter();
        documents.map(|document| (document.id, document.text)).collect()
    }

    #[test]
    fn layouts() {
        let text = "\n a\r\nb\n \t\nc";
        let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
        assert_eq!(texts(text, Layout::Whole), [pair("a.txt", text)]);
        assert_eq!(
            texts(text, Layout::Lines),
            [pair("a.txt:2", " a"), pair("a.txt:3", "b"), pair("a.txt:5", "c")]
        );
        assert_eq!(
            texts(text, Layout::Blocks),
            [pair("a.txt:2", " a\r\nb"), pair("a.txt:5", "c")]
        );
        assert_eq!(texts("", Layout::Whole), [pair("a.txt", "")]);
        assert!(texts("\n \n", Layout::Blocks).is_empty());
    }

    #[test]
    fn elements_say_which_bytes_of_the_file() {
        let source = Source::Memory {
            name: "l".to_owned(),
            bytes: b"\xE4\xE4\n\xF6b\n".to_vec(),
        };
        let options = TextOptions {
            layout: Layout::Lines,
            encoding: Encoding::LATIN_1,
        };
        let documents = read_ok(&mut TextReader::new(&source, options).unwrap());
        assert_eq!(documents[1].text, "öb");
        assert_eq!(documents[1].elements[0].place, Some(Place::Bytes(3..5)));
    }

    #[test]
    fn a_wrong_encoding_is_told() {
        let source = Source::Memory {
            name: "l".to_owned(),
            bytes: b"R\xE9sum\xE9 du cas: \xE9tat g\xE9n\xE9ral bon".to_vec(),
        };
        let (documents, notices) = read_all(&mut TextReader::new(&source, TextOptions::default()).unwrap());
        assert_eq!(documents.unwrap()[0].text, "Résumé du cas: état général bon");
        assert_eq!(notices.counts()[&NoticeKind::Encoding], 1);
        let options = TextOptions {
            encoding: Encoding::UTF_8,
            ..TextOptions::default()
        };
        let error = TextReader::new(&source, options).unwrap_err().to_string();
        assert!(error.starts_with("l:1:2: byte 1 (0xE9)"), "{error}");
    }

    #[test]
    fn a_line_of_50_megabytes_is_a_line() {
        let long = "word ".repeat(10_000_000);
        assert_eq!(read(&long, Layout::Lines).len(), 1);
        // As many short ones.
        assert_eq!(read(&"a\n\n".repeat(200_000), Layout::Blocks).len(), 200_000);
    }

    #[test]
    fn a_mark_of_the_byte_order_that_is_text_comes_back() {
        for layout in [Layout::Whole, Layout::Lines, Layout::Blocks] {
            let documents = [Document::new("x", "\u{FEFF}a"), Document::new("y", "b")];
            let (bytes, _) = written(&documents, |out| TextWriter::new(out, layout));
            let back = read(std::str::from_utf8(&bytes).unwrap(), layout);
            assert!(back[0].text.starts_with("\u{FEFF}a"), "{layout:?}");
        }
    }

    proptest! {
        #[test]
        fn round_trips(texts in prop::collection::vec("[a-c ä]{0,8}[a-c]", 0..6)) {
            let documents: Vec<Document> = texts.iter().map(|text| Document::new("x", text.as_str())).collect();
            for layout in [Layout::Lines, Layout::Blocks] {
                let (bytes, notices) = written(&documents, |out| TextWriter::new(out, layout));
                prop_assert!(notices.is_empty());
                let back = read(std::str::from_utf8(&bytes).unwrap(), layout);
                prop_assert_eq!(back.iter().map(|document| &document.text).collect::<Vec<_>>(), texts.iter().collect::<Vec<_>>());
            }
        }

        #[test]
        fn a_whole_text_comes_back_whole(text in any::<String>()) {
            prop_assume!(!text.contains('\0'));
            let (bytes, _) = written(&[Document::new("x", text.as_str())], |out| TextWriter::new(out, Layout::Whole));
            let back = read(std::str::from_utf8(&bytes).unwrap(), Layout::Whole);
            prop_assert_eq!(&back[0].text, &text);
        }
    }
}
