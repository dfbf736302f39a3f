//! Piecewise training (Sutton & McCallum 2005): every factor is normalised on its own.
//!
//! The loss is Σ_c log Σ exp θ_c(y_c) − log Σ exp θ_c(y_c), the first sum running over candidates, the second over what
//! gold allows; an upper bound of the negative log-likelihood. It needs no inference and no neighbours, so partial labels
//! need no rule of their own. Templates do not see each other: what two of them know alike counts twice.

use super::gold::InstanceGold;
use super::local::log_sum_exp;
use super::tables::TableGradient;
use crate::factor_graph::AllowedEntries;
use crate::unroll::Unrolled;
use crate::{Error, FactorGraph};

/// Scratch memory of a thread.
#[derive(Debug, Default)]
pub(super) struct Worker {
    allowed: AllowedEntries,
    possible: AllowedEntries,
    scores: Vec<f64>,
    /// log Σ exp of base tables, and how many factors of the instance use them.
    shared: Vec<(f64, f64)>,
}

impl Worker {
    /// The loss of an instance; adds the gradient of its tables.
    pub fn evaluate(
        &mut self,
        unrolled: &Unrolled,
        gold: &InstanceGold,
        tables: &mut TableGradient,
    ) -> Result<f64, Error> {
        let graph = &unrolled.graph;
        let templates = tables.base.len();
        self.shared.clear();
        self.shared.resize(templates, (f64::NAN, 0.0));
        let mut loss = 0.0;
        for factor in 0..graph.factors() {
            if !self.find_allowed(graph, factor, gold) {
                continue;
            }
            let table = graph.table_of(factor);
            let scores = graph.scores(factor);
            let all = match self.shared.get_mut(table as usize) {
                _ if is_limited(graph, factor) => self.add_possible(graph, factor, tables)?,
                Some((all, count)) => {
                    if all.is_nan() {
                        *all = log_sum_exp(scores);
                    }
                    *count += 1.0;
                    *all
                }
                None => {
                    let all = log_sum_exp(scores);
                    add_marginals(tables.table(table), scores, all, 1.0);
                    all
                }
            };
            self.scores.clear();
            self.scores
                .extend(self.allowed.entries().iter().map(|&entry| scores[entry as usize]));
            let part = log_sum_exp(&self.scores);
            if part == f64::NEG_INFINITY {
                return Err(Error::Contradiction {
                    variable: graph.scope(factor)[0],
                });
            }
            let gradient = tables.table(table);
            for (&entry, score) in self.allowed.entries().iter().zip(&self.scores) {
                gradient[entry as usize] -= (score - part).exp();
            }
            loss += all - part;
        }
        for (table, &(all, count)) in (0..).zip(&self.shared) {
            if count > 0.0 {
                add_marginals(tables.table(table), graph.table(table), all, count);
            }
        }
        Ok(loss)
    }

    /// The entries that gold allows; `false` if nothing is known about any variable.
    fn find_allowed(&mut self, graph: &FactorGraph, factor: usize, gold: &InstanceGold) -> bool {
        self.allowed.start();
        let mut is_known = false;
        for &variable in graph.scope(factor) {
            let labels = graph.labels(variable);
            match gold.allowed(variable) {
                Some(set) => {
                    is_known = true;
                    self.allowed.extend(labels, set.iter().copied());
                }
                None => self.allowed.extend(labels, graph.label_sets().iter(variable)),
            }
        }
        is_known
    }

    /// log Σ exp over the candidates of a factor; adds their marginals.
    fn add_possible(
        &mut self,
        graph: &FactorGraph,
        factor: usize,
        tables: &mut TableGradient,
    ) -> Result<f64, Error> {
        self.possible.start();
        for &variable in graph.scope(factor) {
            let candidates = graph.label_sets().iter(variable);
            self.possible.extend(graph.labels(variable), candidates);
        }
        let scores = graph.scores(factor);
        self.scores.clear();
        let possible = self.possible.entries().iter();
        self.scores
            .extend(possible.clone().map(|&entry| scores[entry as usize]));
        let all = log_sum_exp(&self.scores);
        if all == f64::NEG_INFINITY {
            let variable = graph.scope(factor)[0];
            return Err(Error::Contradiction { variable });
        }
        let gradient = tables.table(graph.table_of(factor));
        for (&entry, score) in possible.zip(&self.scores) {
            gradient[entry as usize] += (score - all).exp();
        }
        Ok(all)
    }
}

/// Whether some label of a variable of a factor is no candidate.
fn is_limited(graph: &FactorGraph, factor: usize) -> bool {
    let mut scope = graph.scope(factor).iter();
    scope.any(|&variable| !graph.label_sets().is_full(variable))
}

fn add_marginals(gradient: &mut [f64], scores: &[f64], all: f64, count: f64) {
    for (sum, score) in gradient.iter_mut().zip(scores) {
        *sum += count * (score - all).exp();
    }
}
