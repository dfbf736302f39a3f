//! [`Calibration`]: is 0.9 right nine times in ten?

use crate::EvalError;
use crate::error::{check_number, check_share};
use serde::{Deserialize, Serialize};

/// A decision, how sure the model was of it, and whether it was right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The probability that the model gave to its decision.
    pub confidence: f64,
    /// Whether the decision was right.
    pub correct: bool,
}

impl Judged {
    /// A decision of that confidence.
    pub fn new(confidence: f64, correct: bool) -> Self {
        Judged { confidence, correct }
    }
}

/// How decisions are put into bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Binning {
    /// Every bin is as wide as the others (Naeini, Cooper & Hauskrecht 2015): `(i/n, (i+1)/n]`, the first with 0.
    #[default]
    Width,
    /// Every bin has as many decisions as the others, or one more. Decisions of the same confidence may come into
    /// neighbouring bins, in the order in which they were given.
    Number,
}

/// One row of a reliability table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// The lower end of the bin.
    pub low: f64,
    /// The upper end of the bin.
    pub high: f64,
    /// Decisions in it.
    pub count: u64,
    /// Those that were right.
    pub correct: u64,
    /// Mean confidence of the decisions; 0 without any.
    pub confidence: f64,
    /// Share of the decisions that were right; 0 without any.
    pub accuracy: f64,
}

/// How far confidence can be taken for a probability.
///
/// ```
/// use fieldmark_eval::{Binning, Calibration, Judged};
/// let decisions = [(0.9, true), (0.8, true), (0.7, false), (0.2, false)];
/// let decisions = decisions.map(|(confidence, correct)| Judged::new(confidence, correct));
/// let calibration = Calibration::new(&decisions, 2, Binning::Width)?;
/// // Up to 0.5: one decision, 0.2 against 0. Above: three, 0.8 against 2/3.
/// let error = 0.25 * 0.2 + 0.75 * (0.8 - 2.0 / 3.0);
/// assert!((calibration.expected_error - error).abs() < 1e-12);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// How the bins were made.
    pub binning: Binning,
    /// The reliability table, by rising confidence.
    pub bins: Vec<ReliabilityBin>,
    /// ECE = Σ_b (n_b / N)·|accuracy_b − confidence_b| (Naeini, Cooper & Hauskrecht 2015); it depends on the bins.
    pub expected_error: f64,
    /// The largest |accuracy_b − confidence_b| of a bin that is not empty.
    pub maximum_error: f64,
    /// The mean of (confidence − correct)² (Brier 1950); it does not depend on the bins. A model that knows nothing
    /// and says 0.5 gets 0.25.
    pub brier: f64,
    /// Number of decisions.
    pub decisions: u64,
}

impl Calibration {
    /// Puts decisions into so many bins. All errors are 0 if there are no decisions.
    pub fn new(decisions: &[Judged], bins: usize, binning: Binning) -> Result<Self, EvalError> {
        check_number("bins", bins, 1)?;
        for (index, decision) in decisions.iter().enumerate() {
            check_share(index, decision.confidence)?;
        }
        let bins = match binning {
            Binning::Width => by_width(decisions, bins),
            Binning::Number => by_number(decisions, bins),
        };
        let all = decisions.len() as f64;
        let gap = |bin: &ReliabilityBin| (bin.accuracy - bin.confidence).abs();
        let square =
            |decision: &Judged| (decision.confidence - f64::from(u8::from(decision.correct))).powi(2);
        let filled = || bins.iter().filter(|bin| bin.count > 0);
        Ok(Calibration {
            binning,
            expected_error: filled().map(|bin| bin.count as f64 / all * gap(bin)).sum(),
            maximum_error: filled().map(gap).fold(0.0, f64::max),
            brier: decisions.iter().map(square).sum::<f64>() / all.max(1.0),
            decisions: decisions.len() as u64,
            bins,
        })
    }
}

fn by_width(decisions: &[Judged], bins: usize) -> Vec<ReliabilityBin> {
    let end = |bin: usize| bin as f64 / bins as f64;
    let mut members: Vec<Vec<Judged>> = vec![Vec::new(); bins];
    for &decision in decisions {
        let guess = (decision.confidence * bins as f64).ceil() as usize;
        // The product may be rounded over a border.
        let mut bin = guess.clamp(1, bins) - 1;
        if bin > 0 && decision.confidence <= end(bin) {
            bin -= 1;
        } else if bin + 1 < bins && decision.confidence > end(bin + 1) {
            bin += 1;
        }
        members[bin].push(decision);
    }
    let rows = members.iter().enumerate();
    rows.map(|(bin, members)| row(end(bin), end(bin + 1), members))
        .collect()
}

fn by_number(decisions: &[Judged], bins: usize) -> Vec<ReliabilityBin> {
    let mut sorted = decisions.to_vec();
    sorted.sort_by(|one, other| one.confidence.total_cmp(&other.confidence));
    let bins = bins.min(sorted.len());
    let cut = |bin: usize| sorted.len() * bin / bins;
    (0..bins)
        .map(|bin| {
            let members = &sorted[cut(bin)..cut(bin + 1)];
            row(
                members[0].confidence,
                members[members.len() - 1].confidence,
                members,
            )
        })
        .collect()
}

fn row(low: f64, high: f64, members: &[Judged]) -> ReliabilityBin {
    let count = members.len() as f64;
    let correct = members.iter().filter(|decision| decision.correct).count();
    let confidence: f64 = members.iter().map(|decision| decision.confidence).sum();
    ReliabilityBin {
        low,
        high,
        count: members.len() as u64,
        correct: correct as u64,
        confidence: confidence / count.max(1.0),
        accuracy: correct as f64 / count.max(1.0),
    }
}
