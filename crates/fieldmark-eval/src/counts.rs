//! [`Counts`] and [`Score`]: from numbers of things to precision, recall and F1.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// How many things (spans, or tokens of a label) there are, were found, and were found rightly.
///
/// ```
/// use fieldmark_eval::Counts;
/// let counts = Counts { gold: 4, found: 2, correct: 1 };
/// assert_eq!((counts.precision(), counts.recall()), (0.5, 0.25));
/// assert_eq!((counts.missed(), counts.spurious()), (3, 1));
/// assert_eq!(Counts::default().f1(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Things in the gold labels (the support).
    pub gold: u64,
    /// Things in the predicted labels.
    pub found: u64,
    /// Things in both: the true positives.
    pub correct: u64,
}

impl Counts {
    /// Things that were not found: the false negatives.
    pub fn missed(&self) -> u64 {
        self.gold.saturating_sub(self.correct)
    }

    /// Things that were found and are not there: the false positives.
    pub fn spurious(&self) -> u64 {
        self.found.saturating_sub(self.correct)
    }

    /// Share of the found things that are right; 0 if nothing was found.
    pub fn precision(&self) -> f64 {
        ratio(self.correct, self.found)
    }

    /// Share of the gold things that were found; 0 if there are none.
    pub fn recall(&self) -> f64 {
        ratio(self.correct, self.gold)
    }

    /// The harmonic mean of precision and recall (van Rijsbergen 1979, β = 1); 0 if both are 0.
    pub fn f1(&self) -> f64 {
        ratio(2 * self.correct, self.gold + self.found)
    }

    /// All three.
    pub fn score(&self) -> Score {
        Score {
            precision: self.precision(),
            recall: self.recall(),
            f1: self.f1(),
        }
    }
}

/// `part / whole`, and 0 if there is no whole.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.gold += other.gold;
        self.found += other.found;
        self.correct += other.correct;
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(mut self, other: Counts) -> Counts {
        self += other;
        self
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(counts: I) -> Counts {
        counts.fold(Counts::default(), Add::add)
    }
}

/// Precision, recall and F1, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Share of the found things that are right.
    pub precision: f64,
    /// Share of the gold things that were found.
    pub recall: f64,
    /// The harmonic mean of the two, or the mean of such means in an average over classes.
    pub f1: f64,
}

impl Score {
    /// The mean of the scores of classes by their weights, measure by measure; 0 if no class has a weight.
    pub(crate) fn mean(scores: impl Iterator<Item = (f64, Score)>) -> Score {
        let mut total = 0.0;
        let mut sum = Score::default();
        for (weight, score) in scores {
            total += weight;
            sum.precision += weight * score.precision;
            sum.recall += weight * score.recall;
            sum.f1 += weight * score.f1;
        }
        if total > 0.0 {
            sum.precision /= total;
            sum.recall /= total;
            sum.f1 /= total;
        }
        sum
    }
}
