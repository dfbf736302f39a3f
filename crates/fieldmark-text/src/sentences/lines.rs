//! Line breaks: those of a writer who ran out of room, and those that were meant.
//!
//! Text from mail, PDF or a terminal is wrapped: a line break there says nothing. What tells the other line
//! breaks is that the next word would still have found room, measured by the longest line of the paragraph.
//! Tables, lists and headings have signs of their own. A line that goes on with a small letter continues.

use crate::characters::{is_dash, is_opening_bracket};
use std::ops::Range;

/// Lines up to this many characters are no wrapped prose: each has had room for more.
const NARROW: usize = 40;

/// Words after which no sentence ends, and no heading.
const HANGING: &[&str] = &[
    "a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "als", "am",
    "bei", "das", "dem", "den", "der", "die", "für", "im", "mit", "oder", "und", "von", "zu",
];

/// The lines of a text, read along with its words.
pub(super) struct Layout<'a> {
    text: &'a str,
    /// Where the line begins that is read.
    line: usize,
    paragraph: Paragraph,
}

/// Lines without a blank line between them.
#[derive(Default)]
struct Paragraph {
    end: usize,
    /// Characters of the longest line.
    width: usize,
}

impl<'a> Layout<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            line: 0,
            paragraph: Paragraph::default(),
        }
    }

    /// Whether a gap of white space ends a sentence by itself. To be asked about all gaps in order.
    pub fn breaks(&mut self, gap: Range<usize>) -> bool {
        let space = &self.text[gap.clone()];
        let Some(last) = space.rfind('\n') else {
            return space.contains(['\u{0C}', '\u{2029}']);
        };
        let line = std::mem::replace(&mut self.line, gap.start + last + 1);
        let blank = space[..last].contains('\n') || space.contains(['\u{0C}', '\u{2029}']);
        blank || self.is_meant(&self.text[line..gap.start], gap.end)
    }

    /// Whether the line break was meant between a line and the one whose first word is at `next`.
    fn is_meant(&mut self, line: &str, next: usize) -> bool {
        let line = line.trim();
        let mut lines = self.text[next..].lines();
        let following = lines.next().unwrap_or_default().trim_end();
        if starts_item(following) || is_row(line) || is_row(following) {
            return true;
        }
        if following.starts_with(char::is_lowercase) || continues(line) {
            return false;
        }
        if line.ends_with(':') || is_capital(line) && !is_capital(following) {
            return true;
        }
        if !is_capital(line) && is_heading(following) {
            // A name in capitals goes on with a small letter or ends the text.
            let after = lines.take(3).map(str::trim_start).find(|line| !line.is_empty());
            if after.is_some_and(|after| !after.starts_with(char::is_lowercase)) {
                return true;
            }
        }
        let word = following.split_whitespace().next().unwrap_or_default();
        let wanted = line.chars().count() + 1 + word.chars().count();
        wanted <= self.width_at(next).max(NARROW)
    }

    /// Characters of the longest line in the paragraph at `at`.
    fn width_at(&mut self, at: usize) -> usize {
        if at >= self.paragraph.end {
            let before = self.text[..at]
                .rfind("\n")
                .map_or(0, |end| self.text[..end].rfind('\n').map_or(0, |end| end + 1));
            let mut paragraph = Paragraph {
                end: before,
                width: 0,
            };
            for line in self.text[before..].split_inclusive('\n') {
                if line.trim().is_empty() {
                    break;
                }
                paragraph.end += line.len();
                paragraph.width = paragraph.width.max(line.trim().chars().count());
            }
            self.paragraph = paragraph;
        }
        self.paragraph.width
    }
}

/// `1. `, `12) `, `(3) `, `a) `, `(b) `, or a bullet.
fn starts_item(line: &str) -> bool {
    let Some((marker, _)) = line.split_once([' ', '\t']) else {
        return false;
    };
    if matches!(marker, "*" | "•" | "·" | "◦" | "▪" | "‣" | "●" | "○" | "■" | "o") {
        return true;
    }
    let mut chars = marker.chars();
    if chars.next().is_some_and(is_dash) && chars.next().is_none() {
        return true;
    }
    let (inner, bracket) = match marker.strip_suffix(')') {
        Some(inner) => (inner.strip_prefix('(').unwrap_or(inner), true),
        None => (marker.strip_suffix('.').unwrap_or_default(), false),
    };
    let mut chars = inner.chars();
    let letter = bracket && chars.next().is_some_and(char::is_alphabetic) && chars.next().is_none();
    let number = !inner.is_empty() && inner.len() <= 3 && inner.bytes().all(|byte| byte.is_ascii_digit());
    letter || number
}

/// A row of a table: cells between tabs, bars or wide gaps.
fn is_row(line: &str) -> bool {
    line.contains('\t') || line.contains("   ") || line.matches('|').nth(1).is_some()
}

/// A line that cannot be the end of anything.
fn continues(line: &str) -> bool {
    let hangs = |c: char| matches!(c, ',' | '/' | '&' | '+' | '=') || is_dash(c) || is_opening_bracket(c);
    let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    line.ends_with(hangs) || HANGING.contains(&word)
}

/// A line in capitals that no stop ends; with a colon, it may be short.
fn is_heading(line: &str) -> bool {
    let short =
        || line.chars().filter(|c| c.is_uppercase()).count() >= 2 && !line.contains(char::is_lowercase);
    !line.ends_with(['.', ',', ';', '!', '?']) && (is_capital(line) || line.ends_with(':') && short())
}

/// Several letters, none of them small.
fn is_capital(line: &str) -> bool {
    let capitals = line.chars().filter(|c| c.is_uppercase()).count();
    capitals >= 4 && !line.contains(char::is_lowercase)
}
