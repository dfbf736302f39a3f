//! [`TokenF1`]: F1 over the tokens of each tag, where a token may bear several tags.

use crate::contingency::Contingency;
use crate::error::check_lengths;
use crate::{Counts, EvalError};
use fieldmark_core::scheme::{Span, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// Each token is a decision for each tag (Esuli & Sebastiani 2010): half of a span found is half of it right.
///
/// F1 of a tag that no token bears on either side is 1, not 0 (Esuli, Marcheggiani & Sebastiani 2013). Name the
/// tags that might occur with [`TokenF1::for_tags`], and those that do not will count so in the macro average.
///
/// ```
/// use fieldmark_eval::TokenF1;
/// let mut scores = TokenF1::for_tags(["DRUG", "DOSE", "NOTE"]);
/// scores.add_labels(&["B-DRUG", "I-DRUG", "O", "B-DOSE"], &["O", "B-DRUG", "O", "B-DRUG"])?;
/// let f1: Vec<f64> = scores.tags().map(|(_, table)| table.counts().f1_or_one()).collect();
/// assert_eq!(f1, [0.0, 0.5, 1.0]);
/// assert_eq!(scores.micro(), 0.4);
/// assert_eq!(scores.macro_average(), 0.5);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TokenF1 {
    tags: BTreeMap<String, Counts>,
    tokens: u64,
}

impl TokenF1 {
    /// Nothing counted yet, for tags that may or may not occur. Others may be added.
    pub fn for_tags<S: Into<String>>(tags: impl IntoIterator<Item = S>) -> Self {
        TokenF1 {
            tags: tags
                .into_iter()
                .map(|tag| (tag.into(), Counts::default()))
                .collect(),
            tokens: 0,
        }
    }

    /// Counts one sequence of labels. A label stands for the type of its span, or for itself if it belongs to no
    /// scheme; `O` stands for no tag.
    pub fn add_labels<G, P>(&mut self, gold: &[G], predicted: &[P]) -> Result<(), EvalError>
    where
        G: AsRef<str>,
        P: AsRef<str>,
    {
        check_lengths(gold.len(), predicted.len())?;
        for (gold, found) in gold.iter().zip(predicted) {
            let (gold, found) = (tag(gold.as_ref()), tag(found.as_ref()));
            if let Some(gold) = gold {
                self.count(gold).gold += 1;
            }
            if let Some(found) = found {
                self.count(found).found += 1;
                self.count(found).correct += u64::from(gold == Some(found));
            }
        }
        self.tokens += gold.len() as u64;
        Ok(())
    }

    /// Counts the spans of one text of `tokens` positions. Spans may overlap; those of one type that do are one.
    pub fn add_spans(
        &mut self,
        gold: &[Span<'_>],
        found: &[Span<'_>],
        tokens: usize,
    ) -> Result<(), EvalError> {
        check_ends(gold, tokens)?;
        check_ends(found, tokens)?;
        let tags: BTreeSet<&str> = gold.iter().chain(found).map(|span| span.kind).collect();
        for tag in tags {
            let of_tag = |span: &&Span<'_>| span.kind == tag;
            *self.count(tag) += covered(gold.iter().filter(of_tag), found.iter().filter(of_tag));
        }
        self.tokens += tokens as u64;
        Ok(())
    }

    /// Adds what `other` has counted.
    pub fn merge(&mut self, other: &TokenF1) {
        for (tag, &counts) in &other.tags {
            *self.count(tag) += counts;
        }
        self.tokens += other.tokens;
    }

    /// The tokens of each tag, in the order of their names.
    pub fn tags(&self) -> impl Iterator<Item = (&str, Contingency)> {
        let tables = self.tags.iter();
        tables.map(|(tag, &counts)| (tag.as_str(), Contingency::new(counts, self.tokens)))
    }

    /// The decisions for all tags together.
    pub fn total(&self) -> Contingency {
        let mut total = Contingency::default();
        self.tags().for_each(|(_, table)| total += table);
        total
    }

    /// F1 of all decisions together.
    pub fn micro(&self) -> f64 {
        self.total().counts().f1_or_one()
    }

    /// The mean F1 of the tags; 1 if there are none.
    pub fn macro_average(&self) -> f64 {
        if self.tags.is_empty() {
            return 1.0;
        }
        self.tags.values().map(Counts::f1_or_one).sum::<f64>() / self.tags.len() as f64
    }

    /// Number of tokens.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    fn count(&mut self, tag: &str) -> &mut Counts {
        if !self.tags.contains_key(tag) {
            self.tags.insert(tag.to_owned(), Counts::default());
        }
        self.tags.get_mut(tag).expect("the tag was just added")
    }
}

fn tag(label: &str) -> Option<&str> {
    match Tag::parse(label) {
        Tag::Outside => None,
        Tag::Part(_, kind) => Some(kind),
        Tag::Other(label) => Some(label),
    }
}

pub(crate) fn check_ends(spans: &[Span<'_>], length: usize) -> Result<(), EvalError> {
    match spans.iter().find(|span| span.end > length) {
        Some(span) => Err(EvalError::Beyond {
            start: span.start,
            end: span.end,
            length,
        }),
        None => Ok(()),
    }
}

/// How many positions the spans of each side cover, and how many those of both.
pub(crate) fn covered<'a>(
    gold: impl Iterator<Item = &'a Span<'a>>,
    found: impl Iterator<Item = &'a Span<'a>>,
) -> Counts {
    let (gold, found) = (union(gold), union(found));
    let size = |parts: &[(usize, usize)]| parts.iter().map(|&(start, end)| (end - start) as u64).sum();
    let mut correct = 0;
    let mut others = found.iter().peekable();
    for &(start, end) in &gold {
        while others.next_if(|other| other.1 <= start).is_some() {}
        while let Some(other) = others.peek() {
            correct += end.min(other.1).saturating_sub(start.max(other.0)) as u64;
            if other.1 >= end {
                break;
            }
            others.next();
        }
    }
    Counts {
        gold: size(&gold),
        found: size(&found),
        correct,
    }
}

/// The positions of the spans, as parts that are in order and do not touch.
fn union<'a>(spans: impl Iterator<Item = &'a Span<'a>>) -> Vec<(usize, usize)> {
    let mut parts: Vec<(usize, usize)> = spans
        .filter(|span| span.start < span.end)
        .map(|span| (span.start, span.end))
        .collect();
    parts.sort_unstable();
    parts.dedup_by(|next, last| {
        let joined = next.0 <= last.1;
        if joined {
            last.1 = last.1.max(next.1);
        }
        joined
    });
    parts
}
