//! [`Part`]: a parsed block, and the lines that it came from.

use crate::block::Block;
use crate::columns::Separator;
use crate::sink::{Lines, Unseen};
use fieldmark_core::Dataset;

/// A parsed block: its sequences as a part of a data set.
#[derive(Clone, Debug)]
pub struct Part {
    pub(crate) block: Block,
    pub(crate) lines: Lines,
    pub(crate) unseen: Unseen,
    pub(crate) separator: Separator,
    pub(crate) labelled: bool,
    /// The sequences. Its alphabets are empty when names were looked up in a model.
    pub data: Dataset,
}

/// A line of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The line without its end.
    pub text: &'a str,
    /// The end: a line feed, perhaps with a carriage return before it, or nothing at the end of the input.
    pub end: &'a str,
    /// The position that the line describes. Blank lines and lines that the reader skipped have none.
    pub position: Option<usize>,
}

impl Part {
    /// The line of a position as it stands in the input, without its end.
    pub fn line(&self, position: usize) -> &str {
        let (start, end) = self.lines[position];
        self.text(start as usize, end as usize)
    }

    /// Every line of the block, also those that are blank or were skipped: put together, they are the input.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let text = self.text(0, self.block.bytes.len());
        let (mut start, mut next) = (0, 0);
        text.split_inclusive('\n').map(move |whole| {
            let position = self
                .lines
                .get(next)
                .filter(|line| line.0 as usize == start)
                .map(|_| next);
            next += usize::from(position.is_some());
            start += whole.len();
            let text = whole.strip_suffix('\n').unwrap_or(whole);
            let text = text.strip_suffix('\r').unwrap_or(text);
            Line {
                text,
                end: &whole[text.len()..],
                position,
            }
        })
    }

    fn text(&self, start: usize, end: usize) -> &str {
        // The parser found these borders in text that it had validated.
        std::str::from_utf8(&self.block.bytes[start..end]).unwrap_or_default()
    }

    /// What separates columns, where the input told it; attributes are separated by tabs.
    pub fn separator(&self) -> Separator {
        self.separator
    }

    /// Whether lines have a label: column files may come without.
    pub fn labelled(&self) -> bool {
        self.labelled
    }

    /// The number of the line of a position, from 1.
    pub fn line_number(&self, position: usize) -> u64 {
        self.block.line_at(self.lines[position].0 as usize)
    }

    /// The number of the line of every position, from 1.
    pub fn line_numbers(&self) -> impl Iterator<Item = u64> {
        let mut counted = (0, self.block.first_line);
        self.lines.iter().map(move |&(start, _)| {
            let between = &self.block.bytes[counted.0..start as usize];
            counted = (
                start as usize,
                counted.1 + memchr::memchr_iter(b'\n', between).count() as u64,
            );
            counted.1
        })
    }

    /// What the model does not know of this part.
    pub fn unseen(&self) -> &Unseen {
        &self.unseen
    }
}
