//! The pieces of a text between which a sentence may end.

use crate::characters::{is_closing_bracket, is_quote};
use std::ops::Range;

/// Runs without white space, cut after full-width stops, after which Chinese and Japanese put none.
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let mut after_stop = false;
        for (index, c) in self.text[start..].char_indices() {
            let closes = is_wide_stop(c) || after_stop && (is_quote(c) || is_closing_bracket(c));
            if c.is_whitespace() || after_stop && !closes {
                self.at = start + index;
                return Some(start..self.at);
            }
            after_stop = closes;
        }
        self.at = self.text.len();
        (start < self.at).then_some(start..self.at)
    }
}

/// Full-width and half-width stops that end a sentence in Chinese and Japanese.
pub(super) fn is_wide_stop(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．')
}
