//! What local objectives share: lines of tables along one variable, and sums in log space.

use super::gold::UNKNOWN;
use crate::FactorGraph;

/// The entries of a table on which all variables but one have a given label.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub first: usize,
    pub stride: usize,
}

impl Line {
    /// The numbers on the line; the caller takes as many as the variable has labels.
    #[inline]
    pub fn of(self, table: &[f64]) -> impl Iterator<Item = &f64> {
        table[self.first..].iter().step_by(self.stride)
    }

    pub fn add(self, table: &mut [f64], numbers: &[f64]) {
        let line = table[self.first..].iter_mut().step_by(self.stride);
        line.zip(numbers).for_each(|(cell, number)| *cell += number);
    }

    pub fn subtract(self, table: &mut [f64], numbers: &[f64]) {
        let line = table[self.first..].iter_mut().step_by(self.stride);
        line.zip(numbers).for_each(|(cell, number)| *cell -= number);
    }
}

/// The line along one variable of a factor, if the labels of all others are known.
#[inline]
pub(super) fn line(graph: &FactorGraph, factor: usize, place: usize, known: &[u32]) -> Option<Line> {
    let scope = graph.scope(factor);
    let (mut first, mut stride, mut size) = (0, 1, 1);
    for (other, &variable) in scope.iter().enumerate().rev() {
        if other == place {
            stride = size;
        } else {
            let label = known[variable as usize];
            if label == UNKNOWN {
                return None;
            }
            first += label as usize * size;
        }
        size *= graph.labels(variable) as usize;
    }
    Some(Line { first, stride })
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
