//! Where tokens are put, with their white-space flags.

use super::Token;

/// Collects the tokens of a part of a text, in order.
pub(super) struct Output<'a> {
    tokens: &'a mut Vec<Token>,
    /// Where the part begins in the text.
    offset: usize,
    /// How many tokens were there before those of this part.
    before: usize,
}

impl<'a> Output<'a> {
    pub fn new(tokens: &'a mut Vec<Token>, offset: usize) -> Self {
        let before = tokens.len();
        Self {
            tokens,
            offset,
            before,
        }
    }

    /// Adds the token from `start` to `end` in the part, unless it is empty.
    #[inline]
    pub fn push(&mut self, start: usize, end: usize) {
        if start == end {
            return;
        }
        self.tokens.push(Token {
            start: self.offset + start,
            end: self.offset + end,
            space_before: false,
            space_after: false,
        });
    }

    /// Sets the flags. Between tokens there is nothing but white space, so a gap is white space.
    pub fn finish(self, text: &str) {
        let tokens = &mut self.tokens[self.before..];
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return;
        };
        let mut spaced = text[..first.start]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        let after = text[last.end..].chars().next().is_none_or(char::is_whitespace);
        let mut next = 0;
        while next < tokens.len() {
            tokens[next].space_before = spaced;
            spaced = match tokens.get(next + 1) {
                Some(following) => tokens[next].end < following.start,
                None => after,
            };
            tokens[next].space_after = spaced;
            next += 1;
        }
    }
}
