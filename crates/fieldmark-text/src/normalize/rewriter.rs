//! Writes a new text from left to right, and notes what was changed.

use super::aligned::{Aligned, Edit};
use std::ops::Range;

pub(super) struct Rewriter<'a> {
    source: &'a str,
    text: String,
    /// Up to where the source was taken over.
    done: usize,
    edits: Vec<Edit>,
    changed: bool,
}

impl<'a> Rewriter<'a> {
    pub fn new(source: &'a str) -> Self {
        Self {
            source,
            text: String::new(),
            done: 0,
            edits: Vec::new(),
            changed: false,
        }
    }

    /// The text to rewrite.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// Writes `with` instead of a range that is not before the last one.
    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        let replaced = &self.source[range.clone()];
        if replaced == with {
            return;
        }
        self.changed = true;
        self.text.push_str(&self.source[self.done..range.start]);
        let start = self.text.len();
        self.text.push_str(with);
        self.done = range.end;
        // One character for another of the same length moves nothing.
        let in_place = replaced.len() == with.len() && is_one(replaced) && is_one(with);
        if !in_place {
            self.edits.push(Edit {
                source: range,
                text: start..self.text.len(),
            });
        }
    }

    /// Replaces single characters by what `with` writes for them, if it writes something.
    pub fn replace_chars(
        &mut self,
        is_meant: impl Fn(char) -> bool,
        mut with: impl FnMut(char, &mut String),
    ) {
        let mut buffer = String::new();
        for (at, found) in self.source.match_indices(is_meant) {
            for c in found.chars() {
                buffer.clear();
                with(c, &mut buffer);
                self.replace(at..at + found.len(), &buffer);
            }
        }
    }

    /// The new text, unless nothing was changed.
    pub fn finish(mut self) -> Option<Aligned> {
        if !self.changed {
            return None;
        }
        self.text.push_str(&self.source[self.done..]);
        Some(Aligned::new(self.text, self.source.len(), self.edits))
    }
}

fn is_one(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some() && chars.next().is_none()
}
