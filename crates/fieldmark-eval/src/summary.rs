//! [`Summary`]: what repeated measurements say.

use crate::EvalError;
use crate::error::{check_finite, check_number};
use crate::student::two_tailed_quantile;
use serde::{Deserialize, Serialize};

/// Mean, deviation and intervals of a score over folds or replicates.
///
/// A score is averaged as it stands: the mean of F1 is not the F1 of mean precision and mean recall.
///
/// ```
/// use fieldmark_eval::Summary;
/// let folds = Summary::new(&[0.82, 0.85, 0.80])?;
/// assert!((folds.mean() - 0.8233).abs() < 1e-4);
/// // Three folds: mean ± 4.3027·s/√3
/// let interval = folds.t_interval(0.95).unwrap();
/// assert!((interval.low - 0.7608).abs() < 1e-4 && (interval.high - 0.8858).abs() < 1e-4);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    sorted: Vec<f64>,
    mean: f64,
    deviation: f64,
}

/// Where a value lies with some confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Summary {
    /// Summarises at least one value.
    pub fn new(values: &[f64]) -> Result<Self, EvalError> {
        check_number("values", values.len(), 1)?;
        check_finite(values)?;
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Summary {
            mean: mean(values),
            deviation: variance(values).sqrt(),
            sorted,
        })
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the sample, √(Σ(x − x̄)² / (n − 1)); 0 for one value.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// The least value.
    pub fn min(&self) -> f64 {
        self.quantile(0.0)
    }

    /// The greatest value.
    pub fn max(&self) -> f64 {
        self.quantile(1.0)
    }

    /// The value below which the given share of the values lies, interpolated between neighbours (type 7 of
    /// Hyndman & Fan 1996). Shares outside of 0 to 1 give the least or the greatest value.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.sorted.len() - 1;
        let place = (share * last as f64).clamp(0.0, last as f64);
        let below = place as usize;
        let above = (below + 1).min(last);
        let (low, high) = (self.sorted[below], self.sorted[above]);
        low + (high - low) * (place - below as f64)
    }

    /// The interval of Student's t for the mean, x̄ ± t·s/√n: for folds. `confidence` is 0.95 by custom; the
    /// interval is `None` for a single value and for a confidence that is not between 0 and 1.
    pub fn t_interval(&self, confidence: f64) -> Option<Interval> {
        let n = self.count() as f64;
        if n < 2.0 || !is_share(confidence) {
            return None;
        }
        let reach = two_tailed_quantile(1.0 - confidence, n - 1.0) * self.deviation / n.sqrt();
        Some(Interval {
            low: self.mean - reach,
            high: self.mean + reach,
        })
    }

    /// The interval that holds the middle of the values (Efron 1979): for bootstrap replicates. It is `None` for a
    /// confidence that is not between 0 and 1.
    pub fn percentile_interval(&self, confidence: f64) -> Option<Interval> {
        let outside = (1.0 - confidence) / 2.0;
        is_share(confidence).then(|| Interval {
            low: self.quantile(outside),
            high: self.quantile(1.0 - outside),
        })
    }
}

fn is_share(confidence: f64) -> bool {
    confidence > 0.0 && confidence < 1.0
}

/// The arithmetic mean of at least one value.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance of the sample; 0 for one value.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / (values.len() - 1).max(1) as f64
}
