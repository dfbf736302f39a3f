//! XML from a source, event by event, with the place of each; and text as it is written in XML.
//!
//! UTF-8 streams through a small buffer; other encodings are read as a whole. References are resolved if they
//! are numbers or names that HTML knows. Those that a file declares itself are left as they are written and
//! told, so that no file can blow itself up. Nothing here recurses, so that no depth is too deep.

use super::encoding::{Decoded, Encoding, LARGEST, read_rest};
use super::{NoticeKind, Notices};
use crate::document::Document;
use crate::error::{ErrorKind, ReadError};
use crate::source::{Input, Source};
use quick_xml::events::{BytesStart, Event};
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::Range;

/// What comes next.
#[derive(Debug)]
pub(super) enum Part {
    Start(Tag),
    End,
    /// Text as it stands in the file.
    Text(String),
    /// The meaning of a reference, or the reference itself when it has none.
    Resolved(String),
    /// The end of the file.
    Done,
}

/// A start tag.
#[derive(Debug)]
pub(super) struct Tag {
    /// Its name without prefix.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn new(tag: &BytesStart<'_>) -> Self {
        let mut attributes = tag.attributes();
        let attributes = attributes.with_checks(false).flatten().map(|attribute| {
            let value = htmlize::unescape(attribute.value.as_ref());
            (attribute.key.as_ref().to_owned(), value.into_owned())
        });
        Self {
            name: tag.local_name().as_ref().to_owned(),
            attributes: attributes.collect(),
        }
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name)?;
        Some(&found.1)
    }
}

/// Reads XML.
pub(super) struct XmlStream {
    file: String,
    reader: quick_xml::Reader<Counted>,
    buffer: Vec<u8>,
    /// Bytes before the first that is read: a byte order mark.
    shift: usize,
    /// The way back, where the file is not UTF-8.
    decoded: Option<Decoded>,
    told: bool,
    range: Range<usize>,
    place: (u64, u64),
    open: usize,
    ended: bool,
}

impl XmlStream {
    pub(super) fn new(source: &Source, encoding: Encoding) -> Result<Self, ReadError> {
        let mut input = source.open()?;
        let file = input.name().to_owned();
        let mut head = read_head(&mut input)?;
        let marked = encoding_rs::Encoding::for_bom(&head);
        let declared = declared(&head).map(str::to_owned);
        let is_utf8 = if encoding != Encoding::DETECT {
            encoding == Encoding::UTF_8
        } else if let Some((marked, _)) = marked {
            marked == encoding_rs::UTF_8
        } else if let Some(name) = &declared {
            let found = encoding_rs::Encoding::for_label(name.as_bytes());
            found.is_none_or(|found| found == encoding_rs::UTF_8)
        } else {
            !head.contains(&0)
        };
        let mut shift = 0;
        let mut decoded = None;
        let bytes: Box<dyn BufRead + Send> = if is_utf8 {
            if head.starts_with(b"\xEF\xBB\xBF") {
                shift = 3;
                head.drain(..3);
            }
            let rest = InputRead(input);
            Box::new(BufReader::with_capacity(1 << 16, Cursor::new(head).chain(rest)))
        } else {
            let bytes = read_rest(head, &mut input)?;
            let mut whole = Decoded::with_declared(&file, bytes, encoding, declared.as_deref())?;
            let text = whole.take_text();
            decoded = Some(whole);
            Box::new(Cursor::new(text.into_bytes()))
        };
        let mut reader = quick_xml::Reader::from_reader(Counted::new(bytes));
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Ok(Self {
            file,
            reader,
            buffer: Vec::new(),
            shift,
            decoded,
            told: false,
            range: 0..0,
            place: (1, 1),
            open: 0,
            ended: false,
        })
    }

    /// The next part. After an error, everything is done.
    pub(super) fn next(&mut self, notices: &mut Notices) -> Result<Part, ReadError> {
        if !std::mem::replace(&mut self.told, true)
            && let Some(decoded) = &self.decoded
        {
            decoded.tell("", notices);
        }
        while !self.ended {
            self.place = self.reader.get_ref().place();
            let start = self.position();
            self.buffer.clear();
            let part = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => part(event, self.place.0, notices),
                Err(error) => return Err(self.fail(error)),
            };
            let here = start..self.position();
            self.range = match &self.decoded {
                Some(decoded) => decoded.place(here),
                None => here.start + self.shift..here.end + self.shift,
            };
            match part {
                None => continue,
                Some(Part::Start(_)) => self.open += 1,
                Some(Part::End) => self.open -= 1,
                Some(Part::Done) if self.open > 0 => {
                    let count = self.open;
                    return Err(self.error(ErrorKind::Xml {
                        message: format!(
                            "the file ends inside of {count} element{}. Is it complete?",
                            if count == 1 { "" } else { "s" }
                        ),
                    }));
                }
                Some(Part::Done) => self.ended = true,
                Some(Part::Text(_) | Part::Resolved(_)) => {}
            }
            return Ok(part.unwrap_or(Part::Done));
        }
        Ok(Part::Done)
    }

    fn position(&self) -> usize {
        self.reader.buffer_position() as usize
    }

    /// The bytes of the file that the last part was read from.
    pub(super) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The line where the last part begins.
    pub(super) fn line(&self) -> u64 {
        self.place.0
    }

    /// The name of the source.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// What has been read so far is done with: limits count from here.
    pub(super) fn forget(&mut self) {
        self.reader.get_mut().since = 0;
    }

    /// An error at the last part, and the end.
    pub(super) fn error(&mut self, kind: ErrorKind) -> ReadError {
        self.ended = true;
        let (line, column) = self.place;
        ReadError::at(&self.file, line, column, kind)
    }

    fn fail(&mut self, error: quick_xml::Error) -> ReadError {
        self.ended = true;
        if let Some(error) = self.reader.get_mut().failure.take() {
            return error;
        }
        let counted = self.reader.get_ref();
        if counted.since > LARGEST {
            return self.error(ErrorKind::TooLarge { limit: LARGEST });
        }
        if let quick_xml::Error::Encoding(_) = error {
            return self.error(ErrorKind::Xml {
                message: "the next bytes are not UTF-8, and nothing says that they should be something else. State the encoding".to_owned(),
            });
        }
        self.error(ErrorKind::Xml {
            message: error.to_string(),
        })
    }
}

/// What an event means, if it means anything.
fn part(event: Event<'_>, line: u64, notices: &mut Notices) -> Option<Part> {
    Some(match event {
        Event::Start(tag) | Event::Empty(tag) => Part::Start(Tag::new(&tag)),
        Event::End(_) => Part::End,
        Event::Text(text) => Part::Text(text.into_inner().into_owned()),
        Event::CData(text) => Part::Text(text.into_inner().into_owned()),
        Event::GeneralRef(reference) => {
            let reference = format!("&{};", reference.into_inner());
            Part::Resolved(resolve(&reference).unwrap_or_else(|| {
                let message = format!("`{reference}` has no meaning that is known, and is left as it is");
                notices.add(NoticeKind::OtherText, "", Some(line), message);
                reference
            }))
        }
        Event::Eof => Part::Done,
        Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => return None,
    })
}

/// The characters that a reference such as `&eacute;` or `&#233;` stands for.
pub(super) fn resolve(reference: &str) -> Option<String> {
    if reference.starts_with("&#") {
        let resolved = htmlize::unescape(reference);
        return (resolved != reference).then(|| resolved.into_owned());
    }
    let characters = htmlize::ENTITIES.get(reference.as_bytes())?;
    String::from_utf8(characters.to_vec()).ok()
}

fn read_head(input: &mut Input) -> Result<Vec<u8>, ReadError> {
    let mut head = vec![0; 1024];
    let mut len = 0;
    while len < head.len() {
        match input.read(&mut head[len..])? {
            0 => break,
            count => len += count,
        }
    }
    head.truncate(len);
    Ok(head)
}

/// The encoding that the declaration at the beginning of a file names.
fn declared(head: &[u8]) -> Option<&str> {
    let head = head.strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(head, b"?>")?;
    let declaration = std::str::from_utf8(&head[..end]).ok()?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split(quote).next()
}

/// An input as the standard library reads; its errors are kept whole.
struct InputRead(Input);

impl Read for InputRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(io::Error::other)
    }
}

/// Counts lines and columns of what is consumed.
struct Counted {
    bytes: Box<dyn BufRead + Send>,
    line: u64,
    column: u64,
    /// Bytes since the last part that is done with.
    since: u64,
    failure: Option<ReadError>,
}

impl Counted {
    fn new(bytes: Box<dyn BufRead + Send>) -> Self {
        Self {
            bytes,
            line: 1,
            column: 1,
            since: 0,
            failure: None,
        }
    }

    /// Line and column of the next byte, from 1.
    fn place(&self) -> (u64, u64) {
        (self.line, self.column)
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = {
            let available = self.fill_buf()?;
            let count = available.len().min(buffer.len());
            buffer[..count].copy_from_slice(&available[..count]);
            count
        };
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since > LARGEST {
            return Err(io::Error::other("too large"));
        }
        match self.bytes.fill_buf() {
            Ok(bytes) => Ok(bytes),
            Err(error) => {
                let kind = error.kind();
                self.failure = error.downcast::<ReadError>().ok();
                Err(kind.into())
            }
        }
    }

    fn consume(&mut self, count: usize) {
        // What is consumed has been filled before, so this reads nothing.
        if let Ok(bytes) = self.bytes.fill_buf() {
            let bytes = &bytes[..count.min(bytes.len())];
            let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
            let last = memchr::memrchr(b'\n', bytes).map_or(bytes, |at| &bytes[at + 1..]);
            let columns = last.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
            self.column = if lines > 0 { 1 } else { self.column } + columns;
            self.line += lines;
        }
        self.since += count as u64;
        self.bytes.consume(count);
    }
}

/// Text as it stands in XML, in an element or in a quoted attribute. What XML cannot say is U+FFFD.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut at = 0;
        for (here, c) in self.0.char_indices() {
            let written = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\r' => "&#13;",
                c if is_allowed(c) => continue,
                _ => "\u{FFFD}",
            };
            f.write_str(&self.0[at..here])?;
            f.write_str(written)?;
            at = here + c.len_utf8();
        }
        f.write_str(&self.0[at..])
    }
}

fn is_allowed(c: char) -> bool {
    !matches!(c, '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F' | '\u{FFFE}' | '\u{FFFF}')
}

/// Tells of characters that XML cannot say.
pub(super) fn tell_characters(document: &str, text: &str, notices: &mut Notices) {
    let count = text.chars().filter(|c| !is_allowed(*c)).count();
    if count > 0 {
        let message = format!("{count} control character(s) are U+FFFD now: XML cannot say them");
        notices.add(NoticeKind::Encoding, document, None, message);
    }
}

/// Tells of white space that a reader of running text does not keep.
pub(super) fn tell_white_space(document: &Document, notices: &mut Notices) {
    let plain = |line: &str| {
        let cells = line.split('\t');
        let mut cells = cells.map(|cell| cell == cell.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
        !line.trim().is_empty() && cells.all(|plain| plain)
    };
    if !document.text.is_empty() && !document.text.split('\n').all(plain) {
        let message = "white space is not kept: blocks are paragraphs, and blanks collapse";
        notices.add(NoticeKind::OtherText, &document.id, None, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: &[u8], encoding: Encoding) -> Result<(String, Notices), ReadError> {
        let source = Source::Memory {
            name: "x".to_owned(),
            bytes: bytes.to_vec(),
        };
        let mut notices = Notices::new();
        let mut stream = XmlStream::new(&source, encoding)?;
        let mut text = String::new();
        loop {
            match stream.next(&mut notices)? {
                Part::Start(tag) => text += &format!("<{} {:?}>", tag.name, stream.range()),
                Part::End => text += &format!("</{:?}>", stream.range()),
                Part::Text(part) | Part::Resolved(part) => text += &part,
                Part::Done => return Ok((text, notices)),
            }
        }
    }

    #[test]
    fn places_are_those_of_the_file() {
        let expected = "<a 0..3>ä<b 5..9></9..9>é</17..21>";
        assert_eq!(
            parts("<a>ä<b/>&eacute;</a>".as_bytes(), Encoding::DETECT)
                .unwrap()
                .0,
            expected
        );
        let marked = parts("\u{FEFF}<a>ä</a>".as_bytes(), Encoding::DETECT).unwrap().0;
        assert_eq!(marked, "<a 3..6>ä</8..12>");
        let latin = b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xE4</a>";
        assert_eq!(parts(latin, Encoding::DETECT).unwrap().0, "<a 43..46>ä</47..51>");
        let wide: Vec<u8> = "<a>ä</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(parts(&wide, Encoding::UTF_16).unwrap().0, "<a 0..6>ä</8..16>");
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (text, message) in [
            (&b"<a>\n  <b></a>"[..], "x:2:6: this is not well-formed XML"),
            (
                b"<a>\n<b>text",
                "x:2:8: this is not well-formed XML: the file ends inside of 2 elements",
            ),
            (b"<a>\n<b", "x:2:1: "),
            (
                b"<a>\n\xFF</a>",
                "x:1:4: this is not well-formed XML: the next bytes are not UTF-8",
            ),
        ] {
            let error = parts(text, Encoding::DETECT).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn entities_that_a_file_declares_are_not_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY l \"lol\"><!ENTITY m \"&l;&l;&l;\">]><a>&m;</a>";
        let (text, notices) = parts(bomb.as_bytes(), Encoding::DETECT).unwrap();
        assert!(text.contains("&m;"));
        assert_eq!(notices.all().len(), 1);
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
        assert!(parts(deep.as_bytes(), Encoding::DETECT).is_ok());
    }

    #[test]
    fn a_damaged_archive_is_called_so() {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all("<a>text</a>".repeat(10_000).as_bytes()).unwrap();
        let bytes = gzip.finish().unwrap();
        let error = parts(&bytes[..bytes.len() - 20], Encoding::DETECT).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Compressed { .. }), "{error}");
    }
}
