//! What text dumps of models share: lines that know their numbers, and errors that tell the place.

use std::io::{self, BufRead};
use std::{error, fmt};

/// Why a text is not the dump of a model: the line, what was found there and what was expected.
#[derive(Debug)]
pub struct DumpError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    line: u64,
    found: String,
    wrong: Wrong,
}

/// What is wrong with a line.
#[derive(Debug)]
pub enum Wrong {
    /// Something else was expected.
    Expected(String),
    /// The model would be too large.
    Limit(String),
    /// The text cannot be read.
    Io(io::Error),
}

impl Wrong {
    /// Something else was expected.
    pub fn expected(expected: impl Into<String>) -> Self {
        Wrong::Expected(expected.into())
    }
}

impl DumpError {
    /// The number of the line, from 1 on.
    pub fn line(&self) -> u64 {
        self.0.line
    }
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { line, found, wrong } = &*self.0;
        match wrong {
            Wrong::Expected(expected) => write!(f, "line {line}: found {found}; expected {expected}"),
            Wrong::Limit(limit) => write!(f, "line {line}: {limit}"),
            Wrong::Io(error) => write!(f, "line {line}: cannot read the text: {error}"),
        }
    }
}

impl error::Error for DumpError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0.wrong {
            Wrong::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// The lines of a text, with their numbers.
#[derive(Debug)]
pub struct Lines<R> {
    text: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text, before the first one.
    pub fn new(text: R) -> Self {
        Self {
            text,
            buffer: Vec::new(),
            number: 0,
        }
    }

    /// Goes to the first line, which tells what the text is.
    pub fn begin(&mut self, first: &str) -> Result<(), DumpError> {
        self.advance()?;
        if self.current().ok() == Some(first) {
            return Ok(());
        }
        let expected = format!("{first:?}, the beginning of a text dump that this program reads");
        Err(self.wrong(Wrong::Expected(expected)))
    }

    /// Goes to the next line; `false` at the end of the text.
    pub fn advance(&mut self) -> Result<bool, DumpError> {
        self.buffer.clear();
        self.number += 1;
        match self.text.read_until(b'\n', &mut self.buffer) {
            Ok(0) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) => Err(self.wrong(Wrong::Io(error))),
        }
    }

    /// Goes to the next line, which is `None` if it is the last one, `end`.
    pub fn before_end(&mut self) -> Result<Option<&str>, DumpError> {
        if !self.advance()? {
            return Err(self.wrong(Wrong::expected("`end`; the text is cut off")));
        }
        let line = self.current()?;
        Ok((line != "end").then_some(line))
    }

    /// Checks that nothing follows.
    pub fn finish(mut self) -> Result<(), DumpError> {
        if self.advance()? {
            Err(self.wrong(Wrong::expected("nothing after `end`")))
        } else {
            Ok(())
        }
    }

    /// The line, without its end.
    pub fn current(&self) -> Result<&str, DumpError> {
        let Some(line) = self.buffer.strip_suffix(b"\n") else {
            return Err(self.wrong(Wrong::expected("a line end; the text is cut off")));
        };
        std::str::from_utf8(line).map_err(|_| self.wrong(Wrong::expected("text in UTF-8")))
    }

    /// The error for this line.
    pub fn wrong(&self, wrong: Wrong) -> DumpError {
        const MOST: usize = 80;
        let line = String::from_utf8_lossy(self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer));
        let found = match line.char_indices().nth(MOST) {
            _ if self.buffer.is_empty() => "the end of the text".to_owned(),
            Some((end, _)) => format!("{:?}…", &line[..end]),
            None => format!("{line:?}"),
        };
        DumpError(Box::new(Inner {
            line: self.number,
            found,
            wrong,
        }))
    }
}

/// A weight, which is finite.
pub fn parse_weight(field: &str) -> Result<f64, Wrong> {
    match field.parse::<f64>() {
        Ok(weight) if weight.is_finite() => Ok(weight),
        _ => Err(Wrong::Expected(format!("a finite weight in place of {field:?}"))),
    }
}
