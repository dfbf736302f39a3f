//! Lines and whole texts of a [`Source`], with the place of the first byte that is not UTF-8.

use super::encoding::{LARGEST, read_bytes};
use crate::error::{ErrorKind, ReadError, shown};
use crate::source::{Input, Source};
use memchr::memchr;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The lines of a source, one by one; memory for the longest line only.
pub(crate) struct Lines {
    input: Input,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were handed out already.
    used: usize,
    /// Bytes of the source before the buffer.
    before: u64,
    number: u64,
    ended: bool,
    /// The most bytes that a line may have.
    longest: u64,
}

impl Lines {
    pub fn new(source: &Source) -> Result<Self, ReadError> {
        let mut lines = Self {
            input: source.open()?,
            buffer: Vec::new(),
            used: 0,
            before: 0,
            number: 0,
            ended: false,
            longest: LARGEST,
        };
        while lines.buffer.len() < BYTE_ORDER_MARK.len() && !lines.ended {
            lines.fill()?;
        }
        if is_wide(&lines.buffer) {
            return Err(ReadError::at(lines.file(), 1, 1, ErrorKind::Utf16));
        }
        if lines.buffer.starts_with(BYTE_ORDER_MARK) {
            lines.used = BYTE_ORDER_MARK.len();
        }
        Ok(lines)
    }

    /// The name of the source.
    pub fn file(&self) -> &str {
        self.input.name()
    }

    /// The number of the line that was handed out last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its line break, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<&str>, ReadError> {
        let mut searched = self.used;
        let (end, next) = loop {
            if let Some(found) = memchr(b'\n', &self.buffer[searched..]) {
                break (searched + found, searched + found + 1);
            }
            searched = self.buffer.len();
            if self.ended {
                if self.used == searched {
                    return Ok(None);
                }
                break (searched, searched);
            }
            let moved = self.used;
            self.fill()?;
            searched -= moved;
        };
        self.number += 1;
        let start = self.used;
        self.used = next;
        let line = &self.buffer[start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match check(line) {
            Ok(line) => Ok(Some(line)),
            Err((good, kind)) => {
                let column = count(&line[..good]) + 1;
                let kind = kind.at(self.before + (start + good) as u64);
                Err(ReadError::at(self.file(), self.number, column, kind))
            }
        }
    }

    /// Reads on, after forgetting what was handed out.
    fn fill(&mut self) -> Result<(), ReadError> {
        self.buffer.drain(..self.used);
        self.before += self.used as u64;
        self.used = 0;
        if self.buffer.len() as u64 > self.longest {
            let kind = ErrorKind::TooLarge { limit: self.longest };
            return Err(ReadError::at(self.file(), self.number + 1, 1, kind));
        }
        self.ended = self.input.append(&mut self.buffer)? == 0;
        Ok(())
    }

    /// What is wrong with the line handed out last, at a column.
    pub fn malformed(&self, column: u64, found: impl Into<String>, expected: &'static str) -> ReadError {
        malformed(self.file(), self.number, column, found, expected)
    }
}

/// What is wrong at a place.
pub(crate) fn malformed(
    file: &str,
    line: u64,
    column: u64,
    found: impl Into<String>,
    expected: &'static str,
) -> ReadError {
    let found = found.into();
    ReadError::at(file, line, column, ErrorKind::Malformed { found, expected })
}

/// A piece of a user's text for a message: in backquotes, and short.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// The column of a byte of a line, in characters from 1.
pub(crate) fn column(line: &str, byte: usize) -> u64 {
    count(&line.as_bytes()[..byte.min(line.len())]) + 1
}

/// Line and column of a byte of a text, from 1.
pub(crate) fn place(text: &str, byte: usize) -> (u64, u64) {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    let start = before
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    (line, count(&before[start..]) + 1)
}

/// The whole text of a source as it stands, without a byte order mark.
pub(crate) fn load(source: &Source) -> Result<String, ReadError> {
    let mut bytes = read_bytes(source)?;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    into_text(&source.name(), bytes)
}

/// The whole text of a source, a byte order mark included.
pub(crate) fn load_verbatim(source: &Source) -> Result<String, ReadError> {
    into_text(&source.name(), read_bytes(source)?)
}

fn into_text(file: &str, bytes: Vec<u8>) -> Result<String, ReadError> {
    if is_wide(&bytes) {
        return Err(ReadError::at(file, 1, 1, ErrorKind::Utf16));
    }
    if let Err((good, kind)) = check(&bytes) {
        let before = &bytes[..good];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        let start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let column = count(&before[start..]) + 1;
        return Err(ReadError::at(file, line, column, kind.at(good as u64)));
    }
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// Characters of valid UTF-8.
fn count(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64
}

fn is_wide(start: &[u8]) -> bool {
    start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF")
}

enum Bad {
    Utf8(u8),
    Nul,
}

impl Bad {
    fn at(self, offset: u64) -> ErrorKind {
        match self {
            Bad::Utf8(byte) => ErrorKind::Utf8 { offset, byte },
            Bad::Nul => ErrorKind::Nul { offset },
        }
    }
}

/// The bytes as text, or how many are good and what comes then.
fn check(bytes: &[u8]) -> Result<&str, (usize, Bad)> {
    let nul = memchr(0, bytes);
    let text = std::str::from_utf8(bytes);
    match (nul, text) {
        (None, Ok(text)) => Ok(text),
        (Some(nul), Err(error)) if error.valid_up_to() < nul => Err(bad_byte(bytes, error.valid_up_to())),
        (Some(nul), _) => Err((nul, Bad::Nul)),
        (None, Err(error)) => Err(bad_byte(bytes, error.valid_up_to())),
    }
}

fn bad_byte(bytes: &[u8], good: usize) -> (usize, Bad) {
    (good, Bad::Utf8(bytes[good]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: &[u8]) -> Source {
        Source::Memory {
            name: "m".to_owned(),
            bytes: bytes.to_vec(),
        }
    }

    fn all(bytes: &[u8]) -> Result<Vec<String>, ReadError> {
        let mut lines = Lines::new(&memory(bytes))?;
        let mut found = Vec::new();
        while let Some(line) = lines.next()? {
            found.push(line.to_owned());
        }
        assert_eq!(lines.number(), found.len() as u64);
        Ok(found)
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        let long = "x".repeat(200_000);
        for text in [
            "",
            "\n",
            "a",
            "a\nb",
            "a\r\nb\n",
            "\n\na\r",
            &long,
            &format!("{long}\n{long}y\r\n\nä"),
        ] {
            let expected: Vec<&str> = text.split('\n').collect();
            let expected = match expected.split_last() {
                Some((&"", rest)) => rest.to_vec(),
                _ => expected,
            };
            let expected: Vec<&str> = expected
                .into_iter()
                .map(|line| line.strip_suffix('\r').unwrap_or(line))
                .collect();
            assert_eq!(all(text.as_bytes()).unwrap(), expected);
            assert_eq!(load(&memory(text.as_bytes())).unwrap(), text);
        }
    }

    #[test]
    fn a_line_without_end_is_an_error_with_its_place() {
        let text = format!("a\n{}\n{}", "x".repeat(200_000), "y".repeat(400_000));
        let mut lines = Lines::new(&memory(text.as_bytes())).unwrap();
        lines.longest = 250_000;
        assert_eq!(lines.next().unwrap(), Some("a"));
        assert_eq!(lines.next().unwrap().map(str::len), Some(200_000));
        let error = lines.next().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { limit: 250_000 }));
        assert_eq!(error.line(), Some(3));
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(all(b"\xEF\xBB\xBFa\n").unwrap(), ["a"]);
        assert_eq!(load(&memory(b"\xEF\xBB\xBFa")).unwrap(), "a");
        assert!(all(b"\xFF\xFEa\0").is_err());
        assert!(load(&memory(b"\xFE\xFF\0a")).is_err());
    }

    #[test]
    fn bad_bytes_have_a_place() {
        let error = all("ok\näöü"
            .as_bytes()
            .iter()
            .copied()
            .chain([0xE4, b'x'])
            .collect::<Vec<_>>()
            .as_slice());
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with("m:2:4: byte 9 (0xE4)"), "{message}");
        let error = load(&memory(b"ok\nab\0\xFF")).unwrap_err();
        assert!(error.to_string().starts_with("m:2:3: byte 5 is NUL"), "{error}");
        let error = load(&memory(b"ok\n\xC3\xA4\xFF\0")).unwrap_err();
        assert_eq!((error.line(), error.column()), (Some(2), Some(2)));
    }
}
