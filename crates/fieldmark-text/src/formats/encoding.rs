//! Text in any encoding: what is stated, declared in the file, or detected, with the way back to its bytes.
//!
//! Everything inside is UTF-8. [`Decoded`] holds the text of a source and knows for each byte of it where it
//! stood in the file, so that a [`Place`](crate::document::Place) means the file as it is.
//!
//! Detection takes, in this order: a byte order mark; UTF-16 without one, by its zero bytes; UTF-8, if all
//! bytes are; what the file declares of itself (XML and HTML only); what the bytes look like. Only the last
//! and UTF-16 without a mark are guesses, and each is told as a [`Notice`](super::Notice) of the kind
//! [`Encoding`](super::NoticeKind::Encoding). Short texts are guessed badly, and ISO-8859-15 is never guessed,
//! because it cannot be told from windows-1252: state it.

use super::{NoticeKind, Notices};
use crate::error::{ErrorKind, ReadError};
use crate::source::{Input, Source};
use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::OnceLock;

/// An encoding, or the wish to have it detected.
///
/// ```
/// use fieldmark_text::formats::encoding::Encoding;
/// assert_eq!("latin1".parse(), Ok(Encoding::LATIN_1));
/// assert_eq!("Shift-JIS".parse::<Encoding>()?.to_string(), "Shift_JIS");
/// assert!("latin99".parse::<Encoding>().is_err());
/// # Ok::<(), fieldmark_text::formats::encoding::UnknownEncoding>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Encoding(Choice);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Choice {
    #[default]
    Detect,
    /// Every byte is the character of its number. The web takes the name for windows-1252, so `encoding_rs`
    /// has no such encoding.
    Latin1,
    Standard(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// `detect`: see the [module](self).
    pub const DETECT: Self = Self(Choice::Detect);
    /// `utf-8`. Bytes that are not UTF-8 are an error.
    pub const UTF_8: Self = Self(Choice::Standard(UTF_8));
    /// `latin1` or `iso-8859-1`.
    pub const LATIN_1: Self = Self(Choice::Latin1);
    /// `windows-1252`.
    pub const WINDOWS_1252: Self = Self(Choice::Standard(WINDOWS_1252));
    /// `iso-8859-15`.
    pub const ISO_8859_15: Self = Self(Choice::Standard(encoding_rs::ISO_8859_15));
    /// `utf-16`: little-endian, unless a byte order mark says otherwise.
    pub const UTF_16: Self = Self(Choice::Standard(UTF_16LE));

    /// What a file says of itself, in the sense of the web, where `iso-8859-1` means windows-1252.
    fn declared(label: &str) -> Option<Self> {
        encoding_rs::Encoding::for_label(label.trim().as_bytes()).map(|found| Self(Choice::Standard(found)))
    }

    fn is(self, standard: &'static encoding_rs::Encoding) -> bool {
        self.0 == Choice::Standard(standard)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Choice::Detect => "detect",
            Choice::Latin1 => "latin1",
            Choice::Standard(standard) => standard.name(),
        })
    }
}

/// A name that is not that of an encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an encoding. Use `detect`, `utf-8`, `latin1`, `iso-8859-15`, `windows-1252`, `utf-16` or another name of the Encoding Standard"
)]
pub struct UnknownEncoding(String);

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    fn from_str(name: &str) -> Result<Self, UnknownEncoding> {
        match name.trim().to_ascii_lowercase().as_str() {
            "detect" => Ok(Self::DETECT),
            "latin1" | "latin-1" | "iso-8859-1" | "iso8859-1" | "iso_8859-1" => Ok(Self::LATIN_1),
            "latin9" | "latin-9" => Ok(Self::ISO_8859_15),
            name => Self::declared(&name.replace("shift-jis", "shift_jis"))
                .ok_or_else(|| UnknownEncoding(name.to_owned())),
        }
    }
}

impl TryFrom<String> for Encoding {
    type Error = UnknownEncoding;

    fn try_from(name: String) -> Result<Self, UnknownEncoding> {
        name.parse()
    }
}

impl From<Encoding> for String {
    fn from(encoding: Encoding) -> String {
        encoding.to_string()
    }
}

/// The most that a source read as a whole may hold: 2 GiB, so that a small file that unpacks to terabytes is an
/// error and not the end of all memory.
pub const LARGEST: u64 = 1 << 31;

/// All bytes of a source, decompressed; more than [`LARGEST`] are an error.
pub fn read_bytes(source: &Source) -> Result<Vec<u8>, ReadError> {
    read_rest(Vec::new(), &mut source.open()?)
}

/// All bytes of an input, after those that have been read.
pub(super) fn read_rest(mut bytes: Vec<u8>, input: &mut Input) -> Result<Vec<u8>, ReadError> {
    loop {
        if input.append(&mut bytes)? == 0 {
            return Ok(bytes);
        }
        if bytes.len() as u64 > LARGEST {
            return Err(ReadError::new(
                input.name(),
                ErrorKind::TooLarge { limit: LARGEST },
            ));
        }
    }
}

/// A source for a reader of UTF-8: the same, or what it holds in UTF-8 if another encoding is stated.
pub(super) fn in_utf8<'a>(
    source: &'a Source,
    encoding: Encoding,
    notices: &mut Notices,
) -> Result<Cow<'a, Source>, ReadError> {
    if encoding == Encoding::DETECT || encoding == Encoding::UTF_8 {
        return Ok(Cow::Borrowed(source));
    }
    let decoded = Decoded::read(source, encoding)?;
    let name = source.name();
    decoded.tell(&name, notices);
    Ok(Cow::Owned(Source::text(name, decoded.into_text())))
}

/// The text of a source, and where each byte of it stood in the file.
#[derive(Clone, Debug)]
pub struct Decoded {
    name: String,
    text: String,
    encoding: Encoding,
    places: Places,
    guessed: bool,
    /// How many sequences of bytes the encoding does not know, and the line of the first.
    replaced: Option<(usize, u64)>,
    /// Where lines end, once someone asks.
    lines: OnceLock<Vec<usize>>,
}

impl Decoded {
    /// Reads and decodes a source.
    pub fn read(source: &Source, encoding: Encoding) -> Result<Self, ReadError> {
        Self::new(&source.name(), read_bytes(source)?, encoding)
    }

    /// Decodes bytes, which messages call `name`.
    pub fn new(name: &str, bytes: Vec<u8>, encoding: Encoding) -> Result<Self, ReadError> {
        Self::with_declared(name, bytes, encoding, None)
    }

    /// The same for a file that declares its encoding; what is stated is stronger.
    pub fn with_declared(
        name: &str,
        bytes: Vec<u8>,
        encoding: Encoding,
        declared: Option<&str>,
    ) -> Result<Self, ReadError> {
        let (encoding, guessed) = match encoding.0 {
            Choice::Detect => detect(name, &bytes, declared)?,
            _ => (encoding, false),
        };
        let (encoding, mark) = match encoding_rs::Encoding::for_bom(&bytes) {
            // UTF-16 stands for both orders of bytes.
            Some((found, mark)) if encoding.is(found) || (encoding.is(UTF_16LE) && found == UTF_16BE) => {
                (Encoding(Choice::Standard(found)), mark)
            }
            _ => (encoding, 0),
        };
        let mut decoded = Self {
            name: name.to_owned(),
            text: String::new(),
            encoding,
            places: Places::Shift(mark),
            guessed,
            replaced: None,
            lines: OnceLock::new(),
        };
        match encoding.0 {
            Choice::Standard(standard) if standard == UTF_8 => decoded.take_utf8(bytes, mark)?,
            Choice::Standard(standard) => decoded.take_standard(&bytes, mark, standard),
            Choice::Latin1 | Choice::Detect => decoded.take_latin1(&bytes),
        }
        Ok(decoded)
    }

    fn take_utf8(&mut self, mut bytes: Vec<u8>, mark: usize) -> Result<(), ReadError> {
        bytes.drain(..mark);
        self.text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let byte = bytes[offset];
            let before = String::from_utf8_lossy(&bytes[..offset]);
            let (line, column) = line_column(&before, offset);
            let offset = (mark + offset) as u64;
            ReadError::at(&self.name, line, column, ErrorKind::Utf8 { offset, byte })
        })?;
        Ok(())
    }

    fn take_latin1(&mut self, bytes: &[u8]) {
        let mut runs = Runs::default();
        for (at, &byte) in bytes.iter().enumerate() {
            let c = char::from(byte);
            runs.add(self.text.len(), at, c.len_utf8(), 1);
            self.text.push(c);
        }
        self.places = runs.finish(self.text.len(), bytes.len());
    }

    fn take_standard(&mut self, bytes: &[u8], mark: usize, standard: &'static encoding_rs::Encoding) {
        let mut decoder = standard.new_decoder_without_bom_handling();
        let mut runs = Runs::default();
        let mut replaced = 0;
        let mut first = None;
        let mut start = mark;
        let mut buffer = [0; 32];
        // One byte at a time: what comes out then tells where in the file it stood.
        for at in mark..=bytes.len() {
            let last = at == bytes.len();
            let input = if last { &[] } else { &bytes[at..at + 1] };
            let (_, _, written, errors) = decoder.decode_to_utf8(input, &mut buffer, last);
            let end = (at + 1).min(bytes.len());
            if written > 0 {
                let written = std::str::from_utf8(&buffer[..written]).unwrap_or_default();
                runs.add(self.text.len(), start, written.len(), end - start);
                if errors {
                    replaced += 1;
                    first.get_or_insert(self.text.len());
                }
                self.text.push_str(written);
                start = end;
            }
        }
        self.places = runs.finish(self.text.len(), bytes.len());
        self.replaced = first.map(|at| (replaced, line_column(&self.text, at).0));
    }

    /// The name of the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, without the way back.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The encoding that was used.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The bytes of the file that a range of the text comes from.
    pub fn place(&self, range: Range<usize>) -> Range<usize> {
        self.places.of(range)
    }

    /// The text; the way back stays.
    pub(super) fn take_text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Tells what was guessed or replaced; once is enough.
    pub fn tell(&self, document: &str, notices: &mut Notices) {
        let encoding = self.encoding;
        if self.guessed {
            let message = format!(
                "the bytes look like {encoding}, which is a guess. State the encoding if characters are wrong"
            );
            notices.add(NoticeKind::Encoding, document, None, message);
        }
        if let Some((count, line)) = self.replaced {
            let message = format!(
                "{count} byte sequence{} not {encoding}, this is the first. Each is U+FFFD now",
                if count == 1 { " is" } else { "s are" }
            );
            notices.add(NoticeKind::Encoding, document, Some(line), message);
        }
    }

    /// The line of a byte of the text, from 1.
    pub fn line(&self, at: usize) -> u64 {
        let ends = || memchr::memchr_iter(b'\n', self.text.as_bytes()).collect();
        let ends = self.lines.get_or_init(ends);
        1 + ends.partition_point(|end| *end < at) as u64
    }

    /// An error at a byte of the text.
    pub(super) fn error(&self, at: usize, kind: ErrorKind) -> ReadError {
        let (line, column) = line_column(&self.text, at);
        ReadError::at(&self.name, line, column, kind)
    }
}

/// Line and column (in characters) of a byte, both from 1.
pub(super) fn line_column(text: &str, at: usize) -> (u64, u64) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let column = 1 + before[start..]
        .iter()
        .filter(|byte| **byte & 0xC0 != 0x80)
        .count();
    (line as u64, column as u64)
}

/// The encoding, and whether it is a guess.
fn detect(name: &str, bytes: &[u8], declared: Option<&str>) -> Result<(Encoding, bool), ReadError> {
    if bytes.starts_with(&[0xFF, 0xFE, 0, 0]) || bytes.starts_with(&[0, 0, 0xFE, 0xFF]) {
        return Err(ReadError::new(name, ErrorKind::Utf16));
    }
    if let Some((marked, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return Ok((Encoding(Choice::Standard(marked)), false));
    }
    if let Some(nul) = memchr::memchr(0, bytes) {
        return match utf16_by_zeros(bytes) {
            Some(found) => Ok((Encoding(Choice::Standard(found)), true)),
            None => {
                let (line, column) = line_column(&String::from_utf8_lossy(&bytes[..nul]), nul);
                let kind = ErrorKind::Nul { offset: nul as u64 };
                Err(ReadError::at(name, line, column, kind))
            }
        };
    }
    if std::str::from_utf8(bytes).is_ok() {
        return Ok((Encoding::UTF_8, false));
    }
    if let Some(declared) = declared.and_then(Encoding::declared)
        && !declared.is(UTF_8)
        && !declared.is(UTF_16LE)
        && !declared.is(UTF_16BE)
    {
        return Ok((declared, false));
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let found = detector.guess(None, chardetng::Utf8Detection::Deny);
    Ok((Encoding(Choice::Standard(found)), true))
}

/// Text of Western languages in UTF-16 has a zero in nearly every second byte, and none in the others.
fn utf16_by_zeros(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let sample = &bytes[..bytes.len().min(1 << 16)];
    let zeros = |parity| {
        sample
            .iter()
            .skip(parity)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let many = sample.len() / 4;
    if bytes.len() % 2 == 1 {
        None
    } else if odd > many && even * 16 <= odd {
        Some(UTF_16LE)
    } else if even > many && odd * 16 <= even {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Where the bytes of a text stood in its file.
#[derive(Clone, Debug)]
enum Places {
    /// This many bytes further.
    Shift(usize),
    /// In runs, with the length of text and file at the end.
    Runs(Vec<Run>),
}

/// Characters in a row that are all of the same length in the text, and all of the same in the file.
#[derive(Clone, Copy, Debug)]
struct Run {
    text: usize,
    source: usize,
    text_len: usize,
    source_len: usize,
}

impl Places {
    fn of(&self, range: Range<usize>) -> Range<usize> {
        self.byte(range.start)..self.byte(range.end)
    }

    fn byte(&self, at: usize) -> usize {
        match self {
            Places::Shift(by) => at + by,
            Places::Runs(runs) => {
                let index = runs.partition_point(|run| run.text <= at).saturating_sub(1);
                let run = runs[index];
                run.source + (at - run.text) / run.text_len * run.source_len
            }
        }
    }
}

#[derive(Default)]
struct Runs(Vec<Run>);

impl Runs {
    fn add(&mut self, text: usize, source: usize, text_len: usize, source_len: usize) {
        let goes_on = self.0.last().is_some_and(|run| {
            let count = (text - run.text) / run.text_len;
            (run.text_len, run.source_len) == (text_len, source_len)
                && run.source + count * source_len == source
        });
        if !goes_on {
            self.0.push(Run {
                text,
                source,
                text_len,
                source_len,
            });
        }
    }

    fn finish(mut self, text: usize, source: usize) -> Places {
        self.0.push(Run {
            text,
            source,
            text_len: 1,
            source_len: 0,
        });
        Places::Runs(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8], encoding: Encoding) -> Decoded {
        Decoded::new("t", bytes.to_vec(), encoding).unwrap()
    }

    fn notices(decoded: &Decoded) -> Vec<String> {
        let mut notices = Notices::new();
        decoded.tell("d", &mut notices);
        notices.all().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn stated_encodings_are_obeyed() {
        assert_eq!(decode(b"\xA4 \x80", Encoding::LATIN_1).text(), "¤ \u{80}");
        assert_eq!(decode(b"\xA4 \x80", Encoding::WINDOWS_1252).text(), "¤ €");
        assert_eq!(decode(b"\xA4", Encoding::ISO_8859_15).text(), "€");
        assert_eq!(decode(b"h\0\xE4\0", Encoding::UTF_16).text(), "hä");
        assert_eq!(decode(b"\xFE\xFF\0h\0\xE4", Encoding::UTF_16).text(), "hä");
        assert_eq!(decode("\u{FEFF}hä".as_bytes(), Encoding::UTF_8).text(), "hä");
    }

    #[test]
    fn marks_and_utf8_are_certain_and_the_rest_is_told() {
        for certain in [
            &b"\xEF\xBB\xBFh\xC3\xA4"[..],
            b"\xFF\xFEh\0\xE4\0",
            "hä".as_bytes(),
        ] {
            let decoded = decode(certain, Encoding::DETECT);
            assert_eq!(decoded.text(), "hä");
            assert!(notices(&decoded).is_empty());
        }
        let text = "Die Größe der Läsion beträgt für gewöhnlich über fünf Zentimeter.";
        let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
        let decoded = decode(&latin, Encoding::DETECT);
        assert_eq!(decoded.text(), text);
        assert!(notices(&decoded)[0].contains("windows-1252"));
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let decoded = decode(&wide, Encoding::DETECT);
        assert_eq!(decoded.text(), text);
        assert!(notices(&decoded)[0].contains("UTF-16BE"));
    }

    #[test]
    fn what_is_no_text_has_a_place() {
        let fail = |bytes: &[u8], encoding| {
            Decoded::new("t", bytes.to_vec(), encoding)
                .unwrap_err()
                .to_string()
        };
        assert!(fail(b"a\nb\xFF", Encoding::UTF_8).starts_with("t:2:2: byte 3 (0xFF)"));
        assert!(fail(b"a\nbc\0\x01\x02", Encoding::DETECT).starts_with("t:2:3: byte 4 is NUL"));
        assert!(fail(b"\xFF\xFE\0\0a\0\0\0", Encoding::DETECT).contains("UTF-32"));
    }

    #[test]
    fn broken_sequences_are_counted() {
        let decoded = decode(b"a\nb\x81", "shift_jis".parse().unwrap());
        assert_eq!(decoded.text(), "a\nb\u{FFFD}");
        assert_eq!(
            notices(&decoded),
            ["d, line 2: encoding: 1 byte sequence is not Shift_JIS, this is the first. Each is U+FFFD now"]
        );
    }

    #[test]
    fn a_declaration_is_weaker_than_the_bytes() {
        let declared = |bytes: &[u8]| {
            let decoded =
                Decoded::with_declared("t", bytes.to_vec(), Encoding::DETECT, Some("iso-8859-15")).unwrap();
            decoded.into_text()
        };
        assert_eq!(declared("€".as_bytes()), "€");
        assert_eq!(declared(b"\xA4"), "€");
    }

    proptest! {
        #[test]
        fn every_character_comes_from_its_bytes(text in "[a-c€äé𝄞\n]{0,40}", wide in any::<bool>()) {
            let (encoding, bytes): (Encoding, Vec<u8>) = if wide {
                (Encoding::UTF_16, text.encode_utf16().flat_map(u16::to_le_bytes).collect())
            } else {
                let text = text.replace('𝄞', "x");
                (Encoding::ISO_8859_15, encoding_rs::ISO_8859_15.encode(&text).0.into_owned())
            };
            let decoded = decode(&bytes, encoding);
            for (at, c) in decoded.text().char_indices() {
                let place = decoded.place(at..at + c.len_utf8());
                let alone = decode(&bytes[place], encoding);
                prop_assert_eq!(alone.text(), c.to_string());
            }
            prop_assert_eq!(decoded.place(0..decoded.text().len()), 0..bytes.len());
        }

        #[test]
        fn any_bytes_are_text_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(decoded) = Decoded::new("t", bytes.clone(), Encoding::DETECT) {
                let end = decoded.text().len();
                let place = decoded.place(0..end);
                prop_assert!(place.end <= bytes.len());
            }
        }
    }
}
