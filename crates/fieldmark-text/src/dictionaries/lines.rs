//! Word lists line by line, with the place of everything that is wrong.

use crate::error::{ErrorKind, ReadError, shown};
use crate::source::Source;

/// What is wrong in a line, and at which byte of it.
#[derive(Debug)]
pub(super) struct Problem {
    at: usize,
    message: String,
}

impl Problem {
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { at, message }
    }

    /// A line that is not as expected from its beginning.
    pub fn line(line: &str, expected: &str) -> Self {
        Self::new(0, format!("found `{}`, expected {expected}", shown(line)))
    }
}

impl Problem {
    /// As an error, when the line has been left already.
    pub fn in_line(self, source: &Source, number: u64) -> ReadError {
        let kind = ErrorKind::WordList {
            problem: self.message,
        };
        ReadError::at(&source.name(), number, 1, kind)
    }
}

/// A longer line is no line of a word list.
const LONGEST_LINE: usize = 1 << 20;

/// Calls `each` with every line and its number from 1, without the line break.
pub(super) fn for_each_line(
    source: &Source,
    mut each: impl FnMut(u64, &str) -> Result<(), Problem>,
) -> Result<(), ReadError> {
    let mut input = source.open()?;
    let mut buffer = vec![0; 1 << 16];
    // Bytes of the buffer that are filled, and bytes of the source before the buffer.
    let (mut filled, mut passed, mut number) = (0, 0, 0);
    loop {
        let count = input.read(&mut buffer[filled..])?;
        let (searched, ended) = (filled, count == 0);
        filled += count;
        let mut start = 0;
        let mut from = searched;
        loop {
            let end = memchr::memchr(b'\n', &buffer[from..filled]).map(|at| from + at);
            let Some(end) = end.or_else(|| (ended && start < filled).then_some(filled)) else {
                break;
            };
            number += 1;
            let line = Line {
                file: source,
                number,
                offset: passed + start as u64,
            };
            line.hand_over(&buffer[start..end], &mut each)?;
            start = (end + 1).min(filled);
            from = start;
        }
        if ended {
            return Ok(());
        }
        buffer.copy_within(start..filled, 0);
        (filled, passed) = (filled - start, passed + start as u64);
        if filled > LONGEST_LINE {
            let problem = format!(
                "the line has more than {LONGEST_LINE} bytes: this is no list with one word or name per line"
            );
            let kind = ErrorKind::WordList { problem };
            return Err(ReadError::at(&source.name(), number + 1, 1, kind));
        }
        if filled == buffer.len() {
            buffer.resize(2 * buffer.len(), 0);
        }
    }
}

struct Line<'a> {
    file: &'a Source,
    number: u64,
    /// Bytes of the source before it.
    offset: u64,
}

impl Line<'_> {
    fn hand_over(
        &self,
        bytes: &[u8],
        each: &mut impl FnMut(u64, &str) -> Result<(), Problem>,
    ) -> Result<(), ReadError> {
        let mut text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return Err(self.not_utf8(bytes, error.valid_up_to())),
        };
        if let Some(at) = memchr::memchr(0, bytes) {
            let offset = self.offset + at as u64;
            return Err(self.error(text, at, ErrorKind::Nul { offset }));
        }
        if self.number == 1 {
            text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        }
        let text = text.strip_suffix('\r').unwrap_or(text);
        each(self.number, text)
            .map_err(|Problem { at, message }| self.error(text, at, ErrorKind::WordList { problem: message }))
    }

    fn not_utf8(&self, bytes: &[u8], at: usize) -> ReadError {
        let start = String::from_utf8_lossy(&bytes[..at]);
        if self.number == 1 && (bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF])) {
            return self.error(&start, 0, ErrorKind::Utf16);
        }
        let kind = ErrorKind::Utf8 {
            offset: self.offset + at as u64,
            byte: bytes[at],
        };
        self.error(&start, start.len(), kind)
    }

    fn error(&self, text: &str, at: usize, kind: ErrorKind) -> ReadError {
        let before = text.get(..at).unwrap_or(text);
        let column = before.chars().count() as u64 + 1;
        ReadError::at(&self.file.name(), self.number, column, kind)
    }
}

/// Whether a line says nothing: it is blank, or a comment.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#') || line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(bytes: impl Into<Vec<u8>>) -> Result<Vec<String>, ReadError> {
        let source = Source::Memory {
            name: "words.txt".to_owned(),
            bytes: bytes.into(),
        };
        let mut lines = Vec::new();
        for_each_line(&source, |number, line| {
            assert_eq!(number, lines.len() as u64 + 1);
            if let Some(at) = line.find("bad") {
                return Err(Problem::new(at, "this is bad"));
            }
            lines.push(line.to_owned());
            Ok(())
        })?;
        Ok(lines)
    }

    #[test]
    fn marks_of_windows_are_no_part_of_words() {
        assert_eq!(lines("\u{FEFF}a\r\nb\r\n").unwrap(), ["a", "b"]);
        assert_eq!(lines("").unwrap(), Vec::<String>::new());
        assert_eq!(lines("\n\nä").unwrap(), ["", "", "ä"]);
    }

    #[test]
    fn errors_say_where() {
        for (bytes, expected) in [
            (b"a\n\xC3\xA4 bad".as_slice(), "words.txt:2:3: this is bad"),
            (b"a\nb\xFFc\n", "words.txt:2:2: byte 3 (0xFF) is not valid UTF-8"),
            (b"a\nb\0c\n", "words.txt:2:2: byte 3 is NUL"),
            (b"\xFF\xFEa\0\n\0", "words.txt:1:1: this is UTF-16 or UTF-32"),
            (b"a\nb\xC3", "words.txt:2:2: byte 3 (0xC3) is not valid"),
        ] {
            let error = lines(bytes).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let mut bytes = b"a\n".to_vec();
        bytes.resize(50 << 20, b'x');
        let error = lines(bytes).unwrap_err().to_string();
        assert!(
            error.starts_with("words.txt:2:1: the line has more than"),
            "{error}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn lines_are_those_of_the_text(lines_of in prop::collection::vec("[a-c ä]{0,40000}", 0..6), end in any::<bool>()) {
            let mut text = lines_of.join("\n");
            if end {
                text.push('\n');
            }
            let expected: Vec<&str> = text.lines().collect();
            prop_assert_eq!(lines(text.clone()).unwrap(), expected);
        }
    }
}
