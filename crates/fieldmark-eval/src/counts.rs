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

    /// The weighted harmonic mean F_β = (1 + β²)·P·R / (β²·P + R), in which recall weighs β times as much as
    /// precision (van Rijsbergen 1979); 0 if both are 0.
    ///
    /// ```
    /// use fieldmark_eval::Counts;
    /// let counts = Counts { gold: 4, found: 2, correct: 1 };
    /// assert_eq!(counts.f_beta(2.0), 5.0 / 18.0);
    /// assert_eq!(counts.f_beta(1.0), counts.f1());
    /// ```
    pub fn f_beta(&self, beta: f64) -> f64 {
        let squared = beta * beta;
        let weighted = squared * self.gold as f64 + self.found as f64;
        if self.correct == 0 {
            0.0
        } else {
            (1.0 + squared) * self.correct as f64 / weighted
        }
    }

    /// F1, and 1 if there was nothing to find and nothing was found.
    ///
    /// This is the rule for scores of single labels and single documents (Esuli, Marcheggiani & Sebastiani
    /// 2013): who rightly finds nothing has made no mistake. Elsewhere such a score is 0, see [`Counts::f1`].
    ///
    /// ```
    /// use fieldmark_eval::Counts;
    /// assert_eq!(Counts::default().f1_or_one(), 1.0);
    /// assert_eq!(Counts { gold: 0, found: 1, correct: 0 }.f1_or_one(), 0.0);
    /// ```
    pub fn f1_or_one(&self) -> f64 {
        if self.gold + self.found == 0 {
            1.0
        } else {
            self.f1()
        }
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

/// (1 + β²)·P·R / (β²·P + R), and 0 if both are 0.
pub(crate) fn f_beta(precision: f64, recall: f64, beta: f64) -> f64 {
    let squared = beta * beta;
    if precision == 0.0 || recall == 0.0 {
        0.0
    } else {
        (1.0 + squared) * precision * recall / (squared * precision + recall)
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
    /// The macro average over the classes for which each measure is defined (Jancsary 2008): precision over
    /// those of which something was found, recall over those that occur, F1 over those with a correct find.
    ///
    /// Rare classes that are never found lower the recall alone, so this F1 is not to be compared with that
    /// of [`Averages`](crate::Averages), in which they count as 0.
    ///
    /// ```
    /// use fieldmark_eval::{Counts, Score};
    /// let classes = [Counts { gold: 2, found: 2, correct: 1 }, Counts { gold: 1, found: 0, correct: 0 }];
    /// let mean = Score::mean_of_defined(&classes);
    /// assert_eq!((mean.precision, mean.recall, mean.f1), (0.5, 0.25, 0.5));
    /// ```
    pub fn mean_of_defined(classes: &[Counts]) -> Score {
        let mean = |defined: fn(&Counts) -> bool, measure: fn(&Counts) -> f64| {
            let values: Vec<f64> = classes
                .iter()
                .filter(|&class| defined(class))
                .map(measure)
                .collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        Score {
            precision: mean(|class| class.found > 0, Counts::precision),
            recall: mean(|class| class.gold > 0, Counts::recall),
            f1: mean(|class| class.correct > 0, Counts::f1),
        }
    }

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
