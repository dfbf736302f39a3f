//! [`PrecisionRecall`]: what is left when uncertain finds are dropped, and where to draw the line.

use crate::EvalError;
use crate::calibration::Judged;
use crate::counts::Counts;
use crate::error::check_share;
use serde::{Deserialize, Serialize};

/// The scores of all finds whose confidence is at least `threshold`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatingPoint {
    /// The least confidence that is kept.
    pub threshold: f64,
    /// The numbers.
    #[serde(flatten)]
    pub counts: Counts,
    /// Share of the kept finds that are right.
    pub precision: f64,
    /// Share of the gold things that are kept.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

/// Precision and recall at every threshold that makes a difference.
///
/// ```
/// use fieldmark_eval::{Judged, PrecisionRecall};
/// let finds = [(0.9, true), (0.8, false), (0.7, true), (0.4, false)];
/// let finds = finds.map(|(confidence, correct)| Judged::new(confidence, correct));
/// let curve = PrecisionRecall::new(&finds, 3)?;
/// let point = curve.reaching(0.6).unwrap();
/// assert_eq!((point.threshold, point.precision, point.recall), (0.7, 2.0 / 3.0, 2.0 / 3.0));
/// assert!(curve.reaching(0.9).unwrap().threshold == 0.9);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionRecall {
    /// From the highest threshold to the lowest, so by rising recall.
    pub points: Vec<OperatingPoint>,
    /// AP = Σ_n (R_n − R_{n−1})·P_n over the points (Buckley & Voorhees 2000); things that were never found lower
    /// it. 0 if there is nothing to find.
    pub average_precision: f64,
}

impl PrecisionRecall {
    /// The curve of these finds, where `gold` is the number of things to find, found or not.
    pub fn new(finds: &[Judged], gold: u64) -> Result<Self, EvalError> {
        for (index, find) in finds.iter().enumerate() {
            check_share(index, find.confidence)?;
        }
        let correct = finds.iter().filter(|find| find.correct).count() as u64;
        if correct > gold {
            return Err(EvalError::TooFew {
                things: "gold things for so many right finds",
                number: gold as usize,
                least: correct as usize,
            });
        }
        let mut sorted = finds.to_vec();
        sorted.sort_unstable_by(|one, other| other.confidence.total_cmp(&one.confidence));
        let mut counts = Counts {
            gold,
            ..Counts::default()
        };
        let mut points = Vec::new();
        let mut average_precision = 0.0;
        // Finds of equal confidence are kept or dropped together; −0 equals 0.
        for tied in sorted.chunk_by(|one, other| one.confidence == other.confidence) {
            let before = counts.recall();
            counts.found += tied.len() as u64;
            counts.correct += tied.iter().filter(|find| find.correct).count() as u64;
            average_precision += (counts.recall() - before) * counts.precision();
            points.push(OperatingPoint {
                threshold: tied[0].confidence,
                counts,
                precision: counts.precision(),
                recall: counts.recall(),
                f1: counts.f1(),
            });
        }
        Ok(PrecisionRecall {
            points,
            average_precision,
        })
    }

    /// The lowest threshold that reaches the wanted precision, which is the one with the most recall; `None` if none
    /// does.
    ///
    /// Find it on other data than those on which it is to hold: it is the best of many, so the precision found here
    /// flatters it.
    pub fn reaching(&self, precision: f64) -> Option<&OperatingPoint> {
        self.points
            .iter()
            .rev()
            .find(|point| point.precision >= precision)
    }

    /// The highest threshold that has the best F1; `None` if nothing was found.
    pub fn best_f1(&self) -> Option<&OperatingPoint> {
        let better = |best: &'_ OperatingPoint, point: &OperatingPoint| point.f1 > best.f1;
        self.points
            .iter()
            .reduce(|best, point| if better(best, point) { point } else { best })
    }
}
