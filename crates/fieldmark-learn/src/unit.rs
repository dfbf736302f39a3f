//! [`Unit`]: how much is labelled when a token is asked about.

use fieldmark_core::Alphabet;
use fieldmark_core::scheme::Tag;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// How much is labelled at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The token that was chosen.
    #[default]
    Token,
    /// The token with the one before and the one after it, as far as the sequence reaches.
    ThreeTokens,
    /// The whole span that the token is in; the token alone if it is in none.
    Span,
    /// The whole sequence.
    Sequence,
}

/// A name that no unit has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no unit {found:?}; choose from token, three-tokens, span, sequence")]
pub struct UnknownUnit {
    found: String,
}

impl Unit {
    /// All of them.
    pub const ALL: [Unit; 4] = [Unit::Token, Unit::ThreeTokens, Unit::Span, Unit::Sequence];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Token => "token",
            Unit::ThreeTokens => "three-tokens",
            Unit::Span => "span",
            Unit::Sequence => "sequence",
        }
    }

    /// The positions to label when `position` is asked, in a sequence with these labels.
    ///
    /// The labels are the true ones where an annotator is played, or those that are suggested. They matter for
    /// spans only.
    ///
    /// # Panics
    /// When the position is not one of the sequence.
    pub fn positions(self, position: usize, labels: &[u32], tags: &Tags<'_>) -> Range<usize> {
        let length = labels.len();
        assert!(position < length);
        match self {
            Unit::Token => position..position + 1,
            Unit::ThreeTokens => position.saturating_sub(1)..(position + 2).min(length),
            Unit::Span => tags.span_around(position, labels),
            Unit::Sequence => 0..length,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Unit {
    type Err = UnknownUnit;

    fn from_str(name: &str) -> Result<Self, UnknownUnit> {
        let found = Self::ALL.into_iter().find(|unit| unit.name() == name);
        found.ok_or_else(|| UnknownUnit {
            found: name.to_owned(),
        })
    }
}

/// The labels of an alphabet, taken apart.
#[derive(Clone, Debug)]
pub struct Tags<'a>(Vec<Tag<'a>>);

impl<'a> Tags<'a> {
    /// The labels of an alphabet.
    pub fn new(labels: &'a Alphabet) -> Self {
        Self(labels.iter().map(Tag::parse).collect())
    }

    fn get(&self, label: u32) -> Tag<'a> {
        self.0.get(label as usize).copied().unwrap_or(Tag::Outside)
    }

    fn span_around(&self, position: usize, labels: &[u32]) -> Range<usize> {
        let tag = |at: usize| self.get(labels[at]);
        if tag(position).kind().is_none() {
            return position..position + 1;
        }
        // Whether a position continues the span of the one before it.
        let continues = |at: usize| tag(at).kind().is_some() && !tag(at).begins_after(tag(at - 1));
        let mut start = position;
        while start > 0 && continues(start) {
            start -= 1;
        }
        let mut end = position + 1;
        while end < labels.len() && continues(end) {
            end += 1;
        }
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(unit: Unit, position: usize, labels: &[&str]) -> Range<usize> {
        let mut alphabet = Alphabet::new();
        let ids: Vec<u32> = labels.iter().map(|label| alphabet.intern(label)).collect();
        unit.positions(position, &ids, &Tags::new(&alphabet))
    }

    #[test]
    fn neighbours_end_with_the_sequence() {
        let labels = ["O"; 4];
        let three = |position| positions(Unit::ThreeTokens, position, &labels);
        assert_eq!([three(0), three(1), three(3)], [0..2, 0..3, 2..4]);
        assert_eq!(positions(Unit::ThreeTokens, 0, &["O"]), 0..1);
        assert_eq!(positions(Unit::Token, 2, &labels), 2..3);
        assert_eq!(positions(Unit::Sequence, 2, &labels), 0..4);
    }

    #[test]
    fn spans_of_every_scheme() {
        let span = |position, labels: &[&str]| positions(Unit::Span, position, labels);
        let iob2 = ["B-X", "I-X", "B-X", "I-X", "I-Y", "O", "B-X"];
        let found: Vec<_> = (0..iob2.len()).map(|at| span(at, &iob2)).collect();
        assert_eq!(found, [0..2, 0..2, 2..4, 2..4, 4..5, 5..6, 6..7]);
        let iobes = ["S-X", "S-X", "B-X", "E-X", "B-X", "E-X"];
        let found: Vec<_> = (0..iobes.len()).map(|at| span(at, &iobes)).collect();
        assert_eq!(found, [0..1, 1..2, 2..4, 2..4, 4..6, 4..6]);
        let io = ["I-X", "I-X", "O", "I-Y"];
        assert_eq!([span(1, &io), span(3, &io)], [0..2, 3..4]);
        let tags = ["NN", "NN", "VB"];
        assert_eq!(span(1, &tags), 1..2, "labels of no scheme have no spans");
    }

    #[test]
    fn names_lead_back() {
        for unit in Unit::ALL {
            assert_eq!(unit.name().parse(), Ok(unit));
            assert_eq!(
                serde_json::to_string(&unit).unwrap(),
                format!("{:?}", unit.name())
            );
        }
        assert!("word".parse::<Unit>().is_err());
    }
}
