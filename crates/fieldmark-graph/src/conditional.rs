//! One variable given the labels of all others: the moves of samplers and of local search.

use crate::FactorGraph;
use crate::factor_graph::Line;
use fieldmark_core::random::SplitMix64;
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
        self.clear(graph.labels(variable));
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
        self.add_line(graph.line(slot, labels), graph.scores(graph.slot_factor(slot)));
    }

    /// Adds the scores on a line of a table.
    pub(crate) fn add_line(&mut self, line: Line, table: &[f64]) {
        let sums = self.scores.iter_mut().zip(&mut self.violations);
        for ((sum, violations), &score) in sums.zip(line.of(table)) {
            if score == f64::NEG_INFINITY {
                *violations += 1;
            } else {
                *sum += score;
            }
        }
    }

    /// No scores for a variable with this many labels.
    pub(crate) fn clear(&mut self, labels: u32) {
        self.scores.clear();
        self.scores.resize(labels as usize, 0.0);
        self.violations.clear();
        self.violations.resize(labels as usize, 0);
    }

    /// Draws one of the labels with the fewest violations at a temperature; `weights` gets their unnormalised
    /// distribution.
    pub(crate) fn draw(&self, temperature: f64, weights: &mut Vec<f64>, random: &mut SplitMix64) -> u32 {
        self.weigh(temperature, weights);
        let total: f64 = weights.iter().sum();
        let mut rest = random.unit() * total;
        let last = weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0);
        let mut label = 0;
        while label < last && rest >= weights[label] {
            rest -= weights[label];
            label += 1;
        }
        label as u32
    }

    fn weigh(&self, temperature: f64, weights: &mut Vec<f64>) {
        let fewest = self.violations.iter().copied().min().unwrap_or(0);
        let possible = || self.scores.iter().zip(&self.violations);
        let highest = possible()
            .filter(|(_, count)| **count == fewest)
            .fold(f64::NEG_INFINITY, |highest, (score, _)| highest.max(*score));
        weights.clear();
        weights.extend(possible().map(|(score, &count)| {
            if count == fewest {
                ((score - highest) / temperature).exp()
            } else {
                0.0
            }
        }));
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
