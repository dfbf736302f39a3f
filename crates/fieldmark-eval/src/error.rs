//! [`EvalError`]: what cannot be evaluated.

use thiserror::Error;

/// Sequences or accumulators that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvalError {
    /// Gold and predicted labels of one sequence differ in number.
    #[error("a sequence has {gold} gold labels and {predicted} predicted ones; the two must be aligned")]
    Length {
        /// Number of gold labels.
        gold: usize,
        /// Number of predicted labels.
        predicted: usize,
    },
    /// Two accumulators that read spans in different ways.
    #[error("figures under the rules {left:?} cannot be merged with figures under the rules {right:?}")]
    Rules {
        /// The rules of the accumulator that was to take the other in.
        left: String,
        /// The rules of the other.
        right: String,
    },
    /// A span that ends after its text.
    #[error("a span from {start} to {end} lies beyond its text, which has {length} positions")]
    Beyond {
        /// Its first position.
        start: usize,
        /// One past its last position.
        end: usize,
        /// Number of positions.
        length: usize,
    },
    /// More or fewer label columns than were announced.
    #[error("a sequence has {columns} label columns where there must be {expected}")]
    Columns {
        /// The number that was announced.
        expected: usize,
        /// The number that came.
        columns: usize,
    },
    /// Fewer things than a measure needs.
    #[error("{number} {things}, where at least {least} are needed")]
    TooFew {
        /// What there are too few of.
        things: &'static str,
        /// How many there are.
        number: usize,
        /// How many are needed.
        least: usize,
    },
    /// A value that is infinite or no number.
    #[error("value {index} (counted from 0) is {value}, which is no finite number")]
    NotFinite {
        /// Its place.
        index: usize,
        /// What it is.
        value: String,
    },
    /// A confidence that is no probability.
    #[error("confidence {index} (counted from 0) is {value}, which does not lie between 0 and 1")]
    Confidence {
        /// Its place.
        index: usize,
        /// What it is.
        value: String,
    },
}

pub(crate) fn check_lengths(gold: usize, predicted: usize) -> Result<(), EvalError> {
    if gold == predicted {
        Ok(())
    } else {
        Err(EvalError::Length { gold, predicted })
    }
}

pub(crate) fn check_number(things: &'static str, number: usize, least: usize) -> Result<(), EvalError> {
    if number >= least {
        Ok(())
    } else {
        Err(EvalError::TooFew {
            things,
            number,
            least,
        })
    }
}

pub(crate) fn check_finite(values: &[f64]) -> Result<(), EvalError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(EvalError::NotFinite {
            index,
            value: values[index].to_string(),
        }),
        None => Ok(()),
    }
}

pub(crate) fn check_share(index: usize, confidence: f64) -> Result<(), EvalError> {
    if (0.0..=1.0).contains(&confidence) {
        Ok(())
    } else {
        Err(EvalError::Confidence {
            index,
            value: confidence.to_string(),
        })
    }
}
