//! One variable given the labels of all others: the moves of samplers and of local search.

use crate::FactorGraph;
use std::collections::VecDeque;

/// What each label of one variable would add to the score, the labels of all other variables being given.
#[derive(Clone, Debug, Default)]
pub struct Conditional {
    /// For each label, the sum of the finite scores of the factors of the variable.
    pub scores: Vec<f64>,
    /// For each label, the number of factors that forbid it here; `u32::MAX` if the label itself is not allowed.
    pub violations: Vec<u32>,
}

impl Conditional {
    /// Fills in the scores of one variable.
    ///
    /// # Panics
    /// If the variable or one of the labels does not exist.
    pub fn compute(&mut self, graph: &FactorGraph, labels: &[u32], variable: u32) {
        let count = graph.labels(variable) as usize;
        self.scores.clear();
        self.scores.resize(count, 0.0);
        self.violations.clear();
        self.violations.resize(count, 0);
        for &slot in graph.incident(variable) {
            self.add_factor(graph, labels, slot as usize);
        }
        if !graph.label_sets().is_full(variable) {
            for (label, violations) in (0..).zip(&mut self.violations) {
                if !graph.label_sets().contains(variable, label) {
                    *violations = u32::MAX;
                }
            }
        }
    }

    fn add_factor(&mut self, graph: &FactorGraph, labels: &[u32], slot: usize) {
        let factor = graph.slot_factor(slot);
        let (mut first, mut stride) = (0, 1);
        for other in graph.slots(factor).rev() {
            let variable = graph.slot_variable(other);
            if other == slot {
                stride = first_stride(graph, factor, other);
            } else {
                first += labels[variable as usize] as usize * first_stride(graph, factor, other);
            }
        }
        let scores = graph.scores(factor)[first..].iter().step_by(stride);
        for ((sum, violations), &score) in self.scores.iter_mut().zip(&mut self.violations).zip(scores) {
            if score == f64::NEG_INFINITY {
                *violations += 1;
            } else {
                *sum += score;
            }
        }
    }

    /// The label with the fewest violations and then the highest score; `current` wins ties.
    pub fn best(&self, current: u32) -> u32 {
        let mut best = current as usize;
        for label in 0..self.scores.len() {
            let fewer = self.violations[label] < self.violations[best];
            let gain = self.scores[label] - self.scores[best];
            let higher = self.violations[label] == self.violations[best]
                && gain > 1e-12 * (1.0 + self.scores[best].abs());
            if fewer || higher {
                best = label;
            }
        }
        best as u32
    }
}

/// The distance of neighbouring labels of one slot in the table of its factor.
fn first_stride(graph: &FactorGraph, factor: usize, slot: usize) -> usize {
    let later = slot + 1..graph.slots(factor).end;
    later
        .map(|slot| graph.labels(graph.slot_variable(slot)) as usize)
        .product()
}

/// Changes single labels as long as that removes violations or raises the score (iterated conditional modes,
/// Besag 1986).
pub(crate) fn climb(graph: &FactorGraph, labels: &mut [u32]) {
    let mut waiting: VecDeque<u32> = (0..graph.variables() as u32).collect();
    let mut is_waiting = vec![true; graph.variables()];
    let mut conditional = Conditional::default();
    while let Some(variable) = waiting.pop_front() {
        is_waiting[variable as usize] = false;
        conditional.compute(graph, labels, variable);
        let best = conditional.best(labels[variable as usize]);
        if best != labels[variable as usize] {
            labels[variable as usize] = best;
            for factor in graph.factors_of(variable) {
                for &other in graph.scope(factor) {
                    if other != variable && !std::mem::replace(&mut is_waiting[other as usize], true) {
                        waiting.push_back(other);
                    }
                }
            }
        }
    }
}
