//! Brute force, to test the other engines with.

use crate::engine::FactorBeliefs;
use crate::{Beliefs, Decoding, Engine, Error, FactorGraph, LogZ, MaxMarginals, Report};

/// Visits every allowed labelling. Meant for tests and tiny graphs; refuses to visit more than its budget.
#[derive(Clone, Debug)]
pub struct Enumeration {
    budget: u64,
    /// Unnormalised log-probability of each visited labelling, with its labels.
    scores: Vec<f64>,
    labels: Vec<u32>,
    marginals: Vec<f64>,
    log_z: f64,
}

impl Default for Enumeration {
    /// At most a million labellings.
    fn default() -> Self {
        Self::with_budget(1_000_000)
    }
}

impl Enumeration {
    /// An engine that visits at most `budget` labellings.
    pub fn with_budget(budget: u64) -> Self {
        let (scores, labels, marginals) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            budget,
            scores,
            labels,
            marginals,
            log_z: f64::NEG_INFINITY,
        }
    }

    /// The labellings with the highest scores, best first; all of them if there are fewer than `k`.
    pub fn k_best(&mut self, graph: &FactorGraph, k: usize) -> Result<Vec<(Vec<u32>, f64)>, Error> {
        self.visit(graph)?;
        let mut order: Vec<usize> = (0..self.scores.len()).collect();
        order.retain(|&index| self.scores[index] > f64::NEG_INFINITY);
        order.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        order.truncate(k);
        Ok(order
            .into_iter()
            .map(|index| (self.labelling(graph, index).to_vec(), self.scores[index]))
            .collect())
    }

    fn labelling(&self, graph: &FactorGraph, index: usize) -> &[u32] {
        let length = graph.variables();
        &self.labels[index * length..(index + 1) * length]
    }

    fn visit(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.scores.clear();
        self.labels.clear();
        let sets = graph.label_sets();
        let count = (0..graph.variables() as u32)
            .try_fold(1u64, |count, variable| {
                count.checked_mul(sets.count(variable).into())
            })
            .unwrap_or(u64::MAX);
        if count > self.budget {
            let budget = self.budget;
            return Err(Error::TooManyLabellings { budget });
        }
        let allowed: Vec<Vec<u32>> = (0..graph.variables() as u32)
            .map(|v| sets.iter(v).collect())
            .collect();
        for number in 0..count {
            let (mut rest, first) = (number, self.labels.len());
            for allowed in &allowed {
                self.labels.push(allowed[(rest % allowed.len() as u64) as usize]);
                rest /= allowed.len() as u64;
            }
            self.scores.push(graph.score(&self.labels[first..])?);
        }
        let largest = self.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return Err(Error::Contradiction { variable: 0 });
        }
        let sum: f64 = self.scores.iter().map(|score| (score - largest).exp()).sum();
        self.log_z = largest + sum.ln();
        Ok(())
    }
}

impl Engine for Enumeration {
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        self.visit(graph)?;
        let mut marginals = std::mem::take(&mut self.marginals);
        marginals.clear();
        marginals.resize(graph.all_states(), 0.0);
        for (index, score) in self.scores.iter().enumerate() {
            for (variable, &label) in (0..).zip(self.labelling(graph, index)) {
                marginals[graph.states(variable).start + label as usize] += (score - self.log_z).exp();
            }
        }
        self.marginals = marginals;
        let (log_z, report) = (LogZ::Exact(self.log_z), Report::exact(self.scores.len() as u64));
        Ok(Beliefs {
            graph,
            log_z,
            variables: &self.marginals,
            factors: &*self,
            report,
        })
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        let (labels, score) = self.k_best(graph, 1)?.swap_remove(0);
        let report = Report::exact(self.scores.len() as u64);
        Ok(Decoding {
            labels,
            score,
            bound: Some(score),
            report,
        })
    }
}

impl MaxMarginals for Enumeration {
    fn max_marginals(&mut self, graph: &FactorGraph) -> Result<&[f64], Error> {
        self.visit(graph)?;
        let mut best = std::mem::take(&mut self.marginals);
        best.clear();
        best.resize(graph.all_states(), f64::NEG_INFINITY);
        for (index, &score) in self.scores.iter().enumerate() {
            for (variable, &label) in (0..).zip(self.labelling(graph, index)) {
                let best = &mut best[graph.states(variable).start + label as usize];
                *best = best.max(score);
            }
        }
        self.marginals = best;
        Ok(&self.marginals)
    }
}

impl FactorBeliefs for Enumeration {
    fn factor(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        for (index, score) in self.scores.iter().enumerate() {
            into[graph.entry(factor, self.labelling(graph, index))] += (score - self.log_z).exp();
        }
    }
}
