//! Mean absolute errors of labels that have an order, such as grades.

use crate::EvalError;
use crate::error::check_lengths;
use std::collections::BTreeMap;

/// The macro-averaged mean absolute error, MAE^M = 1/n Σ_j 1/|T_j| Σ_{i ∈ T_j} |y_i − ŷ_i|, where T_j are the
/// items with the j-th of the n gold labels that occur (Baccianella, Esuli & Sebastiani 2009).
///
/// Every gold label counts the same, so always predicting the most frequent one is no way to a small error. It is
/// 0 without items.
///
/// ```
/// use fieldmark_eval::macro_mae;
/// // One error of 2 among three items with label 1, none for label 3.
/// assert_eq!(macro_mae(&[1, 1, 1, 3], &[1, 3, 1, 3])?, (2.0 / 3.0) / 2.0);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
pub fn macro_mae(gold: &[i64], predicted: &[i64]) -> Result<f64, EvalError> {
    check_lengths(gold.len(), predicted.len())?;
    let mut errors: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    for (&gold, &found) in gold.iter().zip(predicted) {
        let (sum, items) = errors.entry(gold).or_default();
        *sum += gold.abs_diff(found) as f64;
        *items += 1.0;
    }
    let means = errors.values().map(|(sum, items)| sum / items);
    Ok(means.sum::<f64>() / errors.len().max(1) as f64)
}

/// The symmetric form for two annotators, sMAE^M = ½·(MAE^M(T, T̂) + MAE^M(T̂, T)), in which neither is the
/// truth (Marcheggiani et al. 2014).
///
/// ```
/// use fieldmark_eval::symmetric_macro_mae;
/// assert_eq!(symmetric_macro_mae(&[1, 1], &[1, 2])?, 0.5);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
pub fn symmetric_macro_mae(first: &[i64], second: &[i64]) -> Result<f64, EvalError> {
    Ok((macro_mae(first, second)? + macro_mae(second, first)?) / 2.0)
}
