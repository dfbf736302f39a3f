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
}

pub(crate) fn check_lengths(gold: usize, predicted: usize) -> Result<(), EvalError> {
    if gold == predicted {
        Ok(())
    } else {
        Err(EvalError::Length { gold, predicted })
    }
}
