//! [`TTest`]: is the difference of two means more than chance?

use crate::EvalError;
use crate::error::{check_finite, check_lengths, check_number};
use crate::student::two_tailed;
use crate::summary::{mean, variance};
use serde::{Deserialize, Serialize};

/// Which differences speak against chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tail {
    /// Differences either way: two-tailed.
    #[default]
    Both,
    /// The first is greater than the second: one-tailed.
    Greater,
    /// The first is less than the second: one-tailed.
    Less,
}

/// The outcome of a t-test (Student 1908; Welch 1947).
///
/// If the values do not vary at all, t is 0 for equal means and infinite for others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// The mean of the first minus the mean of the second.
    pub difference: f64,
    /// The standard error of that difference.
    pub standard_error: f64,
    /// Difference over standard error.
    pub t: f64,
    /// Degrees of freedom of t.
    pub degrees_of_freedom: f64,
    /// How many values there are of each; for pairs both are their number.
    pub sizes: (usize, usize),
}

impl TTest {
    fn new(difference: f64, error: f64, degrees_of_freedom: f64, sizes: (usize, usize)) -> Self {
        TTest {
            difference,
            standard_error: error,
            t: if difference == 0.0 {
                0.0
            } else {
                difference / error
            },
            degrees_of_freedom,
            sizes,
        }
    }

    /// The probability of a difference at least as large, if there is none in truth.
    pub fn p(&self, tail: Tail) -> f64 {
        let both = two_tailed(self.t, self.degrees_of_freedom);
        let beyond = |side: bool| if side { both / 2.0 } else { 1.0 - both / 2.0 };
        match tail {
            Tail::Both => both,
            Tail::Greater => beyond(self.t >= 0.0),
            Tail::Less => beyond(self.t <= 0.0),
        }
    }
}

/// The paired t-test: two systems on the same items, such as F1 per document and type, or per fold.
///
/// Folds of a cross-validation share training data, so their differences are not independent and p comes out too
/// small (Dietterich 1998).
///
/// ```
/// use fieldmark_eval::{Tail, paired_t_test};
/// let (new, old) = ([0.81, 0.84, 0.79, 0.90, 0.86], [0.80, 0.81, 0.79, 0.86, 0.83]);
/// let test = paired_t_test(&new, &old)?;
/// assert_eq!(test.degrees_of_freedom, 4.0);
/// assert!(test.p(Tail::Greater) < 0.05 && test.p(Tail::Less) > 0.95);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
pub fn paired_t_test(first: &[f64], second: &[f64]) -> Result<TTest, EvalError> {
    check_lengths(first.len(), second.len())?;
    check_number("pairs", first.len(), 2)?;
    check_finite(first)?;
    check_finite(second)?;
    let differences: Vec<f64> = first.iter().zip(second).map(|(one, other)| one - other).collect();
    let pairs = differences.len();
    let error = (variance(&differences) / pairs as f64).sqrt();
    let freedom = (pairs - 1) as f64;
    Ok(TTest::new(mean(&differences), error, freedom, (pairs, pairs)))
}

/// Welch's t-test: two samples that are not paired and may differ in variance and size. Degrees of freedom are
/// those of Welch & Satterthwaite.
///
/// ```
/// use fieldmark_eval::{Tail, welch_t_test};
/// let test = welch_t_test(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0])?;
/// assert!(test.p(Tail::Both) > 0.5);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
pub fn welch_t_test(first: &[f64], second: &[f64]) -> Result<TTest, EvalError> {
    for sample in [first, second] {
        check_number("values in a sample", sample.len(), 2)?;
        check_finite(sample)?;
    }
    let error = |sample: &[f64]| variance(sample) / sample.len() as f64;
    let (one, other) = (error(first), error(second));
    let (n, m) = (first.len() as f64, second.len() as f64);
    let freedom = match one + other {
        0.0 => n + m - 2.0,
        sum => {
            let (share, rest) = (one / sum, other / sum);
            1.0 / (share * share / (n - 1.0) + rest * rest / (m - 1.0))
        }
    };
    let difference = mean(first) - mean(second);
    Ok(TTest::new(
        difference,
        (one + other).sqrt(),
        freedom,
        (first.len(), second.len()),
    ))
}
