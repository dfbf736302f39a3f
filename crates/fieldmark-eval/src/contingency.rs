//! [`Contingency`]: yes-or-no decisions against the truth, and Cohen's κ.

use crate::Counts;
use crate::counts::ratio;
use crate::report::Confusion;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// How often a yes-or-no decision was right and wrong, each way.
///
/// Accuracy alone says little of rare things: of 99 `A` and one `B`, whoever always says `A` gets 99 % right
/// (Klinger 2011). κ sees through that:
///
/// ```
/// use fieldmark_eval::Contingency;
/// let always_no = Contingency { false_negatives: 1, true_negatives: 99, ..Contingency::default() };
/// assert_eq!(always_no.accuracy(), 0.99);
/// assert_eq!(always_no.kappa(), 0.0);
/// assert_eq!(always_no.counts().recall(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contingency {
    /// Yes, rightly.
    pub true_positives: u64,
    /// Yes, wrongly.
    pub false_positives: u64,
    /// No, wrongly.
    pub false_negatives: u64,
    /// No, rightly.
    pub true_negatives: u64,
}

impl Contingency {
    /// Completes counts of the yes by the number of all decisions.
    pub fn new(counts: Counts, decisions: u64) -> Self {
        Contingency {
            true_positives: counts.correct,
            false_positives: counts.spurious(),
            false_negatives: counts.missed(),
            true_negatives: (decisions + counts.correct).saturating_sub(counts.gold + counts.found),
        }
    }

    /// Number of decisions.
    pub fn decisions(&self) -> u64 {
        self.true_positives + self.false_positives + self.false_negatives + self.true_negatives
    }

    /// Share of the decisions that are right; 0 if there are none.
    pub fn accuracy(&self) -> f64 {
        ratio(self.true_positives + self.true_negatives, self.decisions())
    }

    /// The counts of the yes, from which precision, recall and F follow.
    pub fn counts(&self) -> Counts {
        Counts {
            gold: self.true_positives + self.false_negatives,
            found: self.true_positives + self.false_positives,
            correct: self.true_positives,
        }
    }

    /// Cohen's κ = (P(A) − P(E)) / (1 − P(E)) (Cohen 1960), with
    /// P(E) = ((TP + FP)·(TP + FN) + (TN + FP)·(TN + FN)) / N².
    ///
    /// It is 1 if there is nothing to disagree on: both always say yes, both always say no, or neither says
    /// anything.
    pub fn kappa(&self) -> f64 {
        let Counts { gold, found, .. } = self.counts();
        let all = self.decisions();
        let agreed = self.true_positives + self.true_negatives;
        kappa(agreed, all, [(gold, found), (all - gold, all - found)])
    }
}

impl AddAssign for Contingency {
    fn add_assign(&mut self, other: Contingency) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
        self.true_negatives += other.true_negatives;
    }
}

impl Confusion {
    /// Cohen's κ over all labels (Cohen 1960): P(E) = Σ gold(l)·predicted(l) / N². It is 1 if only one label
    /// occurs, or none.
    ///
    /// ```
    /// use fieldmark_eval::Evaluation;
    /// let mut annotators = Evaluation::raw("O");
    /// annotators.add(&["N", "V", "V", "O"], &["N", "V", "N", "O"])?;
    /// // P(A) = 3/4, P(E) = (1·2 + 2·1 + 1·1) / 16
    /// assert!((annotators.report().confusion.kappa() - 7.0 / 11.0).abs() < 1e-15);
    /// # Ok::<(), fieldmark_eval::EvalError>(())
    /// ```
    pub fn kappa(&self) -> f64 {
        let labels = 0..self.labels.len();
        let gold = |label: usize| self.counts[label].iter().sum::<u64>();
        let found = |label: usize| self.counts.iter().map(|row| row[label]).sum::<u64>();
        let agreed = labels.clone().map(|label| self.counts[label][label]).sum();
        let all = labels.clone().map(gold).sum();
        kappa(agreed, all, labels.map(|label| (gold(label), found(label))))
    }

    /// One label against all others.
    pub fn contingency(&self, label: &str) -> Option<Contingency> {
        let at = self.labels.iter().position(|other| other == label)?;
        let counts = Counts {
            gold: self.counts[at].iter().sum(),
            found: self.counts.iter().map(|row| row[at]).sum(),
            correct: self.counts[at][at],
        };
        Some(Contingency::new(counts, self.counts.iter().flatten().sum()))
    }
}

/// κ as 1 − (N² − N·agreed) / (N² − Σ products of marginals), in whole numbers up to the division.
fn kappa(agreed: u64, all: u64, marginals: impl IntoIterator<Item = (u64, u64)>) -> f64 {
    let square = u128::from(all) * u128::from(all);
    let by_chance: u128 = marginals
        .into_iter()
        .map(|(gold, found)| u128::from(gold) * u128::from(found))
        .sum();
    if square == by_chance {
        return 1.0;
    }
    let disagreed = u128::from(all) * u128::from(all - agreed);
    1.0 - disagreed as f64 / (square - by_chance) as f64
}
