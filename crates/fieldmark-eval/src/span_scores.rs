//! [`SpanScores`]: precision, recall and F_β of spans, per type, micro and macro.

use crate::counts::{f_beta, ratio};
use crate::{Counts, EvalError, Matching};
use fieldmark_core::scheme::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// How many spans there are and were found, and how many of each have a partner on the other side.
///
/// Over all types both sides have the same number of partners. For a single type they differ where the type may
/// be any: a `PER` that was found as `LOC` is a hit for the recall of `PER` and for the precision of `LOC`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchCounts {
    /// Gold spans.
    pub gold: u64,
    /// Found spans.
    pub found: u64,
    /// Gold spans with a partner.
    pub gold_matched: u64,
    /// Found spans with a partner.
    pub found_matched: u64,
}

impl MatchCounts {
    /// Share of the found spans that have a partner; 0 if nothing was found.
    pub fn precision(&self) -> f64 {
        ratio(self.found_matched, self.found)
    }

    /// Share of the gold spans that have a partner; 0 if there are none.
    pub fn recall(&self) -> f64 {
        ratio(self.gold_matched, self.gold)
    }

    /// F_β, see [`Counts::f_beta`]; 0 if precision and recall are.
    pub fn f_beta(&self, beta: f64) -> f64 {
        f_beta(self.precision(), self.recall(), beta)
    }
}

impl AddAssign for MatchCounts {
    fn add_assign(&mut self, other: MatchCounts) {
        self.gold += other.gold;
        self.found += other.found;
        self.gold_matched += other.gold_matched;
        self.found_matched += other.found_matched;
    }
}

/// Scores of spans, which may overlap and nest; positions are tokens, bytes or what the caller likes.
///
/// A gold span found with a wrong border costs twice under [`Matching::Strict`], as a miss and as a spurious
/// span, and half as much under [`Matching::Partial`]:
///
/// ```
/// use fieldmark_eval::{Matching, Span, SpanScores};
/// let gold = [Span::new(0, 2, "GENE"), Span::new(3, 4, "GENE")];
/// let found = [Span::new(0, 2, "GENE"), Span::new(2, 6, "GENE")];
///
/// let mut strict = SpanScores::new(Matching::Strict);
/// strict.add(&gold, &found);
/// assert_eq!(strict.table(1.0).micro.f, 0.5);
///
/// let mut partial = SpanScores::new(Matching::Partial);
/// partial.add(&gold, &found);
/// assert_eq!(partial.table(1.0).micro.f, 1.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SpanScores {
    matching: Matching,
    types: BTreeMap<String, MatchCounts>,
}

impl SpanScores {
    /// Nothing counted yet.
    pub fn new(matching: Matching) -> Self {
        SpanScores {
            matching,
            types: BTreeMap::new(),
        }
    }

    /// Counts the spans of one text.
    pub fn add(&mut self, gold: &[Span<'_>], found: &[Span<'_>]) {
        for span in gold {
            self.count(span.kind).gold += 1;
        }
        for span in found {
            self.count(span.kind).found += 1;
        }
        for (one, other) in self.matching.pairs(gold, found) {
            self.count(gold[one].kind).gold_matched += 1;
            self.count(found[other].kind).found_matched += 1;
        }
    }

    /// Adds what `other` has counted. Both must match spans in the same way.
    pub fn merge(&mut self, other: &SpanScores) -> Result<(), EvalError> {
        if self.matching != other.matching {
            return Err(EvalError::Rules {
                left: self.matching.name().to_owned(),
                right: other.matching.name().to_owned(),
            });
        }
        for (kind, &counts) in &other.types {
            *self.count(kind) += counts;
        }
        Ok(())
    }

    /// The numbers of all types together.
    pub fn total(&self) -> Counts {
        let total = self.sum();
        Counts {
            gold: total.gold,
            found: total.found,
            correct: total.gold_matched,
        }
    }

    /// The numbers of each type that occurs, in the order of their names.
    pub fn types(&self) -> impl Iterator<Item = (&str, MatchCounts)> {
        self.types.iter().map(|(kind, &counts)| (kind.as_str(), counts))
    }

    /// All scores; recall weighs `beta` times as much as precision.
    pub fn table(&self, beta: f64) -> SpanTable {
        let types: Vec<SpanRow> = self
            .types()
            .map(|(kind, counts)| SpanRow::new(kind, counts, beta))
            .collect();
        SpanTable {
            matching: self.matching,
            beta,
            micro: SpanRow::new("all", self.sum(), beta),
            unweighted: SpanMeans::of(&types),
            types,
        }
    }

    fn sum(&self) -> MatchCounts {
        let mut total = MatchCounts::default();
        for &counts in self.types.values() {
            total += counts;
        }
        total
    }

    fn count(&mut self, kind: &str) -> &mut MatchCounts {
        if !self.types.contains_key(kind) {
            self.types.insert(kind.to_owned(), MatchCounts::default());
        }
        self.types.get_mut(kind).expect("the type was just added")
    }
}

/// The scores of spans. Shares lie between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanTable {
    /// When a found span counted as a gold one.
    pub matching: Matching,
    /// How much recall weighs against precision in F.
    pub beta: f64,
    /// All spans together.
    pub micro: SpanRow,
    /// Means over the types that occur, each of which counts the same.
    #[serde(rename = "macro")]
    pub unweighted: SpanMeans,
    /// Type by type, in the order of their names.
    pub types: Vec<SpanRow>,
}

/// Counts and scores of the spans of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanRow {
    /// The type.
    pub name: String,
    /// The numbers.
    #[serde(flatten)]
    pub counts: MatchCounts,
    /// Share of the found spans that have a partner.
    pub precision: f64,
    /// Share of the gold spans that have a partner.
    pub recall: f64,
    /// F_β.
    pub f: f64,
}

impl SpanRow {
    fn new(name: &str, counts: MatchCounts, beta: f64) -> Self {
        SpanRow {
            name: name.to_owned(),
            counts,
            precision: counts.precision(),
            recall: counts.recall(),
            f: counts.f_beta(beta),
        }
    }
}

/// Means over types; 0 if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpanMeans {
    /// Mean precision.
    pub precision: f64,
    /// Mean recall.
    pub recall: f64,
    /// Mean F_β, which is not the F_β of the means.
    pub f: f64,
}

impl SpanMeans {
    fn of(rows: &[SpanRow]) -> Self {
        let mean =
            |measure: fn(&SpanRow) -> f64| rows.iter().map(measure).sum::<f64>() / rows.len().max(1) as f64;
        SpanMeans {
            precision: mean(|row| row.precision),
            recall: mean(|row| row.recall),
            f: mean(|row| row.f),
        }
    }
}
