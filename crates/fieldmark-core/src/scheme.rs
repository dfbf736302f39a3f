//! Label schemes: how spans are written as one label per position, and which labels may follow which.
//!
//! A label is `O`, or a prefix and a type joined by a dash (`B-NP`; the type may hold further dashes, and
//! `B` alone is a span without a type). The schemes are those of Ramshaw & Marcus (1995), Tjong Kim Sang &
//! Veenstra (1999) and Ratinov & Roth (2009); the prefixes `L` and `U` of the last are read as `E` and `S`.
//! Labels of another kind, such as part-of-speech tags, are outside of every span.
//!
//! ```
//! use fieldmark_core::scheme::{Scheme, Span};
//! let labels = ["B-PER", "I-PER", "O", "B-LOC"];
//! assert_eq!(Scheme::detect(labels), Some(Scheme::Iob2));
//! let spans = Scheme::Iob2.spans(&labels);
//! assert_eq!(spans, [Span::new(0, 2, "PER"), Span::new(3, 4, "LOC")]);
//! assert_eq!(Scheme::Iobes.labels_of(&spans, 4)?, ["B-PER", "E-PER", "O", "S-LOC"]);
//! assert!(!Scheme::Iob2.allows(Some("O"), Some("I-PER")));
//! # Ok::<(), fieldmark_core::scheme::SpanError>(())
//! ```

use crate::Alphabet;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A way to write spans as labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// `I` inside, `O` outside. Neighbouring spans of one type melt into one.
    Io,
    /// As [`Scheme::Io`], with `B` only where a span follows another of the same type at once.
    Iob1,
    /// Every span begins with `B` (also known as BIO).
    Iob2,
    /// `B … I … E`, or `S` for a span of one position (also known as BIOES and, with other letters, BILOU).
    Iobes,
}

/// The part of a span that a label stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// `B`: the first position.
    Begin,
    /// `I`: a position inside (in IO and IOB1 also the first).
    Inside,
    /// `E` or `L`: the last position of several.
    End,
    /// `S` or `U`: the only position.
    Single,
}

/// A label, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag<'a> {
    /// `O`.
    Outside,
    /// A prefix and the type of the span, which is empty for a bare prefix.
    Part(Prefix, &'a str),
    /// A label that belongs to no scheme.
    Other(&'a str),
}

impl<'a> Tag<'a> {
    /// Takes a label apart at its first dash.
    pub fn parse(label: &'a str) -> Self {
        if label == "O" {
            return Tag::Outside;
        }
        let (prefix, kind) = label.split_once('-').unwrap_or((label, ""));
        match prefix {
            "B" => Tag::Part(Prefix::Begin, kind),
            "I" => Tag::Part(Prefix::Inside, kind),
            "E" | "L" => Tag::Part(Prefix::End, kind),
            "S" | "U" => Tag::Part(Prefix::Single, kind),
            _ => Tag::Other(label),
        }
    }

    /// The type of the span that the label is part of.
    pub fn kind(&self) -> Option<&'a str> {
        match self {
            Tag::Part(_, kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether a span begins with this label when the label before it is `previous`, legal or not.
    ///
    /// A label that cannot continue what stands before it begins a span of its own: that is the reading of
    /// the `conlleval` script, and it agrees with every scheme but IO on labels that are legal.
    pub fn begins_after(&self, previous: Tag<'_>) -> bool {
        match (previous, self) {
            (_, Tag::Outside | Tag::Other(_)) => false,
            (Tag::Part(before, kind), Tag::Part(prefix, own)) => {
                kind != *own
                    || matches!(before, Prefix::End | Prefix::Single)
                    || matches!(prefix, Prefix::Begin | Prefix::Single)
            }
            _ => true,
        }
    }
}

/// Positions `start..end` of a sequence, with a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span<'a> {
    /// The first position.
    pub start: usize,
    /// One past the last position.
    pub end: usize,
    /// The type.
    pub kind: &'a str,
}

impl<'a> Span<'a> {
    /// The span of type `kind` over `start..end`.
    pub fn new(start: usize, end: usize, kind: &'a str) -> Self {
        Span { start, end, kind }
    }
}

/// Spans that cannot be written as labels.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpanError {
    /// A span without positions.
    #[error("the span {start}..{end} holds no position")]
    Empty {
        /// The first position.
        start: usize,
        /// One past the last position.
        end: usize,
    },
    /// A span that reaches beyond the sequence.
    #[error("the span {start}..{end} reaches beyond the {length} positions of the sequence")]
    Beyond {
        /// The first position.
        start: usize,
        /// One past the last position.
        end: usize,
        /// Number of positions in the sequence.
        length: usize,
    },
    /// Two spans on one position.
    #[error("the span {start}..{end} overlaps another one at position {position}")]
    Overlap {
        /// The first position.
        start: usize,
        /// One past the last position.
        end: usize,
        /// The first position that was taken.
        position: usize,
    },
}

/// The name of a scheme that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no label scheme {0:?}; known are IO, IOB1, IOB2 (or BIO) and IOBES (or BIOES, BILOU)")]
pub struct UnknownScheme(String);

/// What a scheme rules out over the labels of an [`Alphabet`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forbidden {
    /// Pairs of neighbouring labels, first the earlier one, sorted.
    pub pairs: Vec<(u32, u32)>,
    /// Labels that cannot be the first of a sequence, sorted.
    pub starts: Vec<u32>,
    /// Labels that cannot be the last of a sequence, sorted.
    pub ends: Vec<u32>,
}

impl Scheme {
    /// Every scheme, the plainest first.
    pub const ALL: [Scheme; 4] = [Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Iobes];

    /// The scheme that a set of labels is written in, or `None` if some label belongs to no scheme or none
    /// is part of a span.
    ///
    /// The set alone does not always tell IOB1 from IOB2: it is taken as IOB1 if some type has `I` and no
    /// `B`. [`Scheme::detect_in`] looks at the sequences as well.
    pub fn detect<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Option<Scheme> {
        let mut inside = HashSet::new();
        let mut begin = HashSet::new();
        let mut ends = false;
        for label in labels {
            match Tag::parse(label.as_ref()) {
                Tag::Other(_) => return None,
                Tag::Outside => {}
                Tag::Part(Prefix::Begin, kind) => drop(begin.insert(kind.to_owned())),
                Tag::Part(Prefix::Inside, kind) => drop(inside.insert(kind.to_owned())),
                Tag::Part(Prefix::End | Prefix::Single, _) => ends = true,
            }
        }
        match (ends, begin.is_empty()) {
            (true, _) => Some(Scheme::Iobes),
            (false, true) => (!inside.is_empty()).then_some(Scheme::Io),
            (false, false) if inside.is_subset(&begin) => Some(Scheme::Iob2),
            (false, false) => Some(Scheme::Iob1),
        }
    }

    /// The scheme that sequences of labels are written in.
    ///
    /// As [`Scheme::detect`], but between IOB1 and IOB2 the number of illegal steps decides.
    pub fn detect_in<Q, S>(sequences: impl IntoIterator<Item = Q>) -> Option<Scheme>
    where
        Q: AsRef<[S]>,
        S: AsRef<str>,
    {
        let mut labels = Alphabet::new();
        let (mut illegal_iob1, mut illegal_iob2) = (0, 0);
        for sequence in sequences {
            for label in sequence.as_ref() {
                labels.intern(label.as_ref());
            }
            illegal_iob1 += Scheme::Iob1.violations(sequence.as_ref()).len();
            illegal_iob2 += Scheme::Iob2.violations(sequence.as_ref()).len();
        }
        match Scheme::detect(labels.iter())? {
            Scheme::Iob1 | Scheme::Iob2 if illegal_iob1 < illegal_iob2 => Some(Scheme::Iob1),
            Scheme::Iob1 | Scheme::Iob2 if illegal_iob2 < illegal_iob1 => Some(Scheme::Iob2),
            scheme => Some(scheme),
        }
    }

    /// The spans that a sequence of labels describes.
    ///
    /// Illegal labels are read generously: one that cannot continue what stands before it begins a span of
    /// its own, and no span is dropped. Under IO prefixes say nothing, so equal types that touch are one span.
    pub fn spans<'a, S: AsRef<str>>(&self, labels: &'a [S]) -> Vec<Span<'a>> {
        let mut spans: Vec<Span<'a>> = Vec::new();
        let mut previous = Tag::Outside;
        for (position, label) in labels.iter().enumerate() {
            let tag = Tag::parse(label.as_ref());
            if let Some(kind) = tag.kind() {
                let begins = match self {
                    Scheme::Io => previous.kind() != Some(kind),
                    _ => tag.begins_after(previous),
                };
                match spans.last_mut() {
                    Some(span) if !begins => span.end = position + 1,
                    _ => spans.push(Span::new(position, position + 1, kind)),
                }
            }
            previous = tag;
        }
        spans
    }

    /// The spans whose labels are legal, each by itself: `I-X` without its `B-X` is no span in IOB2, nor is
    /// `B-X` that misses its `E-X` in IOBES. The other spans of the sequence stay.
    pub fn strict_spans<'a, S: AsRef<str>>(&self, labels: &'a [S]) -> Vec<Span<'a>> {
        let mut spans = self.spans(labels);
        spans.retain(|span| {
            let before = span
                .start
                .checked_sub(1)
                .map(|before| Tag::parse(labels[before].as_ref()));
            self.is_well_formed(before, &labels[span.start..span.end])
        });
        spans
    }

    fn is_well_formed<S: AsRef<str>>(&self, before: Option<Tag<'_>>, labels: &[S]) -> bool {
        let prefix = |position: usize| match Tag::parse(labels[position].as_ref()) {
            Tag::Part(prefix, _) => Some(prefix),
            _ => None,
        };
        let all_inside = |from: usize, to: usize| (from..to).all(|t| prefix(t) == Some(Prefix::Inside));
        let last = labels.len() - 1;
        match self {
            Scheme::Io => all_inside(0, last + 1),
            Scheme::Iob1 => {
                self.allows_tags(before, Some(Tag::parse(labels[0].as_ref()))) && all_inside(1, last + 1)
            }
            Scheme::Iob2 => prefix(0) == Some(Prefix::Begin) && all_inside(1, last + 1),
            Scheme::Iobes if last == 0 => prefix(0) == Some(Prefix::Single),
            Scheme::Iobes => {
                prefix(0) == Some(Prefix::Begin) && all_inside(1, last) && prefix(last) == Some(Prefix::End)
            }
        }
    }

    /// Writes spans as the labels of a sequence of `length` positions. The spans may come in any order.
    pub fn labels_of(&self, spans: &[Span<'_>], length: usize) -> Result<Vec<String>, SpanError> {
        let mut cover: Vec<Option<&Span<'_>>> = vec![None; length];
        for span in spans {
            let &Span { start, end, .. } = span;
            if start >= end {
                return Err(SpanError::Empty { start, end });
            }
            let Some(positions) = cover.get_mut(start..end) else {
                return Err(SpanError::Beyond { start, end, length });
            };
            if let Some(taken) = positions.iter().position(Option::is_some) {
                return Err(SpanError::Overlap {
                    start,
                    end,
                    position: start + taken,
                });
            }
            positions.fill(Some(span));
        }
        let label = |position: usize| match cover[position] {
            None => "O".to_owned(),
            Some(span) => {
                let before = position.checked_sub(1).and_then(|before| cover[before]);
                let touches = before.is_some_and(|before| before.kind == span.kind);
                join(self.letter(span, position, touches), span.kind)
            }
        };
        Ok((0..length).map(label).collect())
    }

    /// The prefix at `position` of `span`; `touches` if the label before belongs to the same type.
    fn letter(&self, span: &Span<'_>, position: usize, touches: bool) -> char {
        let first = position == span.start;
        let last = position + 1 == span.end;
        match self {
            Scheme::Iob1 if first && touches => 'B',
            Scheme::Io | Scheme::Iob1 => 'I',
            Scheme::Iob2 if first => 'B',
            Scheme::Iob2 => 'I',
            Scheme::Iobes => match (first, last) {
                (true, true) => 'S',
                (true, false) => 'B',
                (false, true) => 'E',
                (false, false) => 'I',
            },
        }
    }

    /// Whether `next` may follow `previous`; `None` is the start or the end of the sequence.
    ///
    /// Labels of no scheme count as `O`. IO allows everything; in the other schemes a prefix that they do
    /// not have is never allowed.
    pub fn allows(&self, previous: Option<&str>, next: Option<&str>) -> bool {
        self.allows_tags(previous.map(Tag::parse), next.map(Tag::parse))
    }

    /// [`Scheme::allows`] on labels that are taken apart already.
    pub fn allows_tags(&self, previous: Option<Tag<'_>>, next: Option<Tag<'_>>) -> bool {
        use Prefix::{Begin, End, Inside, Single};
        let part = |tag| {
            if let Some(Tag::Part(prefix, kind)) = tag {
                Some((prefix, kind))
            } else {
                None
            }
        };
        let (previous, next) = (part(previous), part(next));
        let touches = |kind| matches!(previous, Some((Begin | Inside, before)) if before == kind);
        match self {
            Scheme::Io => true,
            Scheme::Iob1 => match next {
                Some((Begin, kind)) => touches(kind),
                Some((End | Single, _)) => false,
                Some((Inside, _)) | None => true,
            },
            Scheme::Iob2 => match next {
                Some((Inside, kind)) => touches(kind),
                Some((End | Single, _)) => false,
                Some((Begin, _)) | None => true,
            },
            Scheme::Iobes => match next {
                Some((Inside | End, kind)) => touches(kind),
                Some((Begin | Single, _)) | None => !matches!(previous, Some((Begin | Inside, _))),
            },
        }
    }

    /// The positions `t` at which the step from label `t - 1` to label `t` is not allowed; `t` is 0 for an
    /// illegal start and the length of the sequence for an illegal end. An empty sequence is legal.
    pub fn violations<S: AsRef<str>>(&self, labels: &[S]) -> Vec<usize> {
        let tag = |position: usize| labels.get(position).map(|label| Tag::parse(label.as_ref()));
        (0..=labels.len())
            .filter(|&position| !self.allows_tags(position.checked_sub(1).and_then(tag), tag(position)))
            .collect()
    }

    /// Everything that the scheme rules out over a set of labels.
    pub fn forbidden_pairs(&self, labels: &Alphabet) -> Forbidden {
        let tags: Vec<(u32, Tag<'_>)> = (0..).zip(labels.iter().map(Tag::parse)).collect();
        let mut forbidden = Forbidden::default();
        for &(id, tag) in &tags {
            if !self.allows_tags(None, Some(tag)) {
                forbidden.starts.push(id);
            }
            if !self.allows_tags(Some(tag), None) {
                forbidden.ends.push(id);
            }
            let followers = tags
                .iter()
                .filter(|(_, next)| !self.allows_tags(Some(tag), Some(*next)));
            forbidden.pairs.extend(followers.map(|&(next, _)| (id, next)));
        }
        forbidden
    }
}

fn join(letter: char, kind: &str) -> String {
    if kind.is_empty() {
        letter.to_string()
    } else {
        format!("{letter}-{kind}")
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scheme::Io => "IO",
            Scheme::Iob1 => "IOB1",
            Scheme::Iob2 => "IOB2",
            Scheme::Iobes => "IOBES",
        })
    }
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Self, UnknownScheme> {
        match name.to_ascii_uppercase().as_str() {
            "IO" => Ok(Scheme::Io),
            "IOB1" => Ok(Scheme::Iob1),
            "IOB2" | "BIO" => Ok(Scheme::Iob2),
            "IOBES" | "BIOES" | "BILOU" => Ok(Scheme::Iobes),
            _ => Err(UnknownScheme(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
