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
        let mut end = start;
        loop {
            if !after_stop {
                // Most of a text: characters that are neither white space nor stops.
                let rest = self.text.as_bytes()[end..].iter();
                end += rest.take_while(|byte| byte.is_ascii_graphic()).count();
            }
            let Some(c) = self.text[end..].chars().next() else {
                break;
            };
            let closes = is_wide_stop(c) || after_stop && (is_quote(c) || is_closing_bracket(c));
            if c.is_whitespace() || after_stop && !closes {
                self.at = end;
                return Some(start..end);
            }
            after_stop = closes;
            end += c.len_utf8();
        }
        self.at = self.text.len();
        (start < self.at).then_some(start..self.at)
    }
}

/// Full-width and half-width stops that end a sentence in Chinese and Japanese.
pub(super) fn is_wide_stop(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．')
}
