//! [`Token`]: a place in a text, without a copy of it.

use std::ops::Range;

/// A token as a range of bytes of the text that it was found in.
///
/// A token knows whether it was written apart from its neighbours, which fine tokenizers would otherwise
/// forget: `2-methyl` and `2 - methyl` have the same tokens. The edge of a text counts as white space, so
/// that a final line break changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Byte offset of the first character.
    pub start: usize,
    /// Byte offset after the last character.
    pub end: usize,
    /// Whether white space or the edge of the text is directly before the token.
    pub space_before: bool,
    /// Whether white space or the edge of the text is directly after the token.
    pub space_after: bool,
}

impl Token {
    /// The token's characters.
    ///
    /// # Panics
    /// When `text` is shorter than the text that the token was found in, or cuts a character at its borders.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.range()]
    }

    /// The bytes from start to end.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}
