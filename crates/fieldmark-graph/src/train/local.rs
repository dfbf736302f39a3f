//! What local objectives share: lines of tables along one variable, and sums in log space.

use super::gold::UNKNOWN;
use crate::FactorGraph;
use crate::factor_graph::Line;

/// The line along the variable of a slot, if the labels of all others are known.
#[inline]
pub(super) fn line(graph: &FactorGraph, slot: usize, known: &[u32]) -> Option<Line> {
    let mut others = graph
        .slots(graph.slot_factor(slot))
        .filter(|&other| other != slot);
    let are_known = others.all(|other| known[graph.slot_variable(other) as usize] != UNKNOWN);
    are_known.then(|| graph.line(slot, known))
}

/// log Σ exp, −∞ of nothing.
pub(super) fn log_sum_exp(scores: &[f64]) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let sum: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
    largest + sum.ln()
}
