//! Longest matches of many words at once.

use aho_corasick::{AhoCorasick, Anchored, BuildError, Input, MatchKind, StartKind};
use std::ops::Range;
use unicode_normalization::char::is_combining_mark;

/// Finds words in a text, from left to right and the longest first.
#[derive(Clone, Debug)]
pub(super) struct Table {
    automaton: AhoCorasick,
}

impl Table {
    /// Letter case matters unless `ignore_case`, which is for ASCII letters only.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>, ignore_case: bool) -> Result<Self, BuildError> {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Both)
            .ascii_case_insensitive(ignore_case)
            .build(words)?;
        Ok(Self { automaton })
    }

    /// Calls `found` with the matches that are `allowed`; a match is the number of a word and a range.
    ///
    /// Where the longest match is not allowed, a shorter one may be.
    pub fn search(
        &self,
        text: &str,
        allowed: impl Fn(usize, &Range<usize>) -> bool,
        mut found: impl FnMut(usize, Range<usize>),
    ) {
        let mut at = 0;
        while let Some(longest) = self.automaton.find(Input::new(text).range(at..)) {
            let start = longest.start();
            let mut candidate = Some(longest);
            while let Some(shorter) = candidate.filter(|it| !allowed(it.pattern().as_usize(), &it.range())) {
                let span = start..shorter.end() - 1;
                candidate = self
                    .automaton
                    .find(Input::new(text).span(span).anchored(Anchored::Yes));
            }
            match candidate {
                Some(word) => {
                    at = word.end();
                    found(word.pattern().as_usize(), word.range());
                }
                None => at = start + text[start..].chars().next().map_or(1, char::len_utf8),
            }
        }
    }
}

/// Whether no word goes on before the range.
pub(super) fn starts_word(text: &str, range: &Range<usize>) -> bool {
    let first = text[range.start..].chars().next();
    let before = text[..range.start].chars().next_back();
    !(first.is_some_and(char::is_alphanumeric) && before.is_some_and(is_inside))
}

/// Whether no word goes on after the range.
pub(super) fn ends_word(text: &str, range: &Range<usize>) -> bool {
    let last = text[..range.end].chars().next_back();
    let after = text[range.end..].chars().next();
    match after {
        Some(c) if is_combining_mark(c) => false,
        Some(c) => !(is_inside(c) && last.is_some_and(is_inside)),
        None => true,
    }
}

fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}
