//! [`JointAccuracy`]: tokens with several label columns, right in each and right in all.

use crate::EvalError;
use crate::counts::ratio;
use crate::error::check_lengths;

/// Accuracy of each of several label columns, their mean, and the share of the tokens that are right in every
/// column (Jancsary 2008).
///
/// ```
/// use fieldmark_eval::JointAccuracy;
/// let mut accuracy = JointAccuracy::new(2);
/// accuracy.add(&[&["N", "V"], &["B", "O"]], &[&["N", "N"], &["O", "O"]])?;
/// assert_eq!(accuracy.columns(), [0.5, 0.5]);
/// assert_eq!((accuracy.average(), accuracy.joint()), (0.5, 0.0));
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointAccuracy {
    tokens: u64,
    correct: Vec<u64>,
    all_correct: u64,
}

impl JointAccuracy {
    /// Nothing counted yet.
    pub fn new(columns: usize) -> Self {
        JointAccuracy {
            tokens: 0,
            correct: vec![0; columns],
            all_correct: 0,
        }
    }

    /// Counts one sequence, given column by column.
    pub fn add<S: PartialEq>(&mut self, gold: &[&[S]], predicted: &[&[S]]) -> Result<(), EvalError> {
        for columns in [gold.len(), predicted.len()] {
            if columns != self.correct.len() {
                return Err(EvalError::Columns {
                    expected: self.correct.len(),
                    columns,
                });
            }
        }
        let Some(first) = gold.first() else { return Ok(()) };
        for column in gold.iter().chain(predicted) {
            check_lengths(first.len(), column.len())?;
        }
        for token in 0..first.len() {
            let mut all = true;
            for (column, correct) in self.correct.iter_mut().enumerate() {
                let right = gold[column][token] == predicted[column][token];
                *correct += u64::from(right);
                all &= right;
            }
            self.all_correct += u64::from(all);
        }
        self.tokens += first.len() as u64;
        Ok(())
    }

    /// Adds what `other` has counted, of as many columns.
    pub fn merge(&mut self, other: &JointAccuracy) -> Result<(), EvalError> {
        if self.correct.len() != other.correct.len() {
            return Err(EvalError::Columns {
                expected: self.correct.len(),
                columns: other.correct.len(),
            });
        }
        self.tokens += other.tokens;
        self.all_correct += other.all_correct;
        for (own, others) in self.correct.iter_mut().zip(&other.correct) {
            *own += others;
        }
        Ok(())
    }

    /// Number of tokens.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Share of the tokens that are right, column by column; 0 without tokens.
    pub fn columns(&self) -> Vec<f64> {
        self.correct
            .iter()
            .map(|&correct| ratio(correct, self.tokens))
            .collect()
    }

    /// The mean over the columns.
    pub fn average(&self) -> f64 {
        ratio(self.correct.iter().sum(), self.tokens * self.correct.len() as u64)
    }

    /// Share of the tokens that are right in every column; 0 without tokens.
    pub fn joint(&self) -> f64 {
        ratio(self.all_correct, self.tokens)
    }
}
