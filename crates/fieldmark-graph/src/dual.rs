//! Decoding with a guarantee: sequential reweighted message passing (Kolmogorov 2015), which on graphs of pairs is
//! TRW-S (Kolmogorov 2006).
//!
//! The score of every labelling is split among variables and factors by messages δ:
//! θ_v + Σ_f δ_{f→v} for variables, θ_f − Σ_v δ_{f→v} for factors. The sum of the maxima of all parts is an upper
//! bound of the best score. Variables are visited forwards and backwards; a visit takes from the factors of a
//! variable what they say about it and gives it back in equal shares to those that lie ahead. Neither can raise the
//! bound. When a labelling reaches the bound, it is proved to be the best.

use crate::bp::algebra::LogMax;
use crate::bp::decode::{decode, search_order};
use crate::bp::messages::Messages;
use crate::conditional::climb;
use crate::{Beliefs, Decoding, Engine, Error, FactorGraph, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rounds without progress of the bound after which it is taken to have settled.
const PATIENCE: usize = 10;

/// Options of [`DualDecoder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DualOptions {
    /// Most rounds; a round visits each variable twice.
    pub iterations: usize,
    /// A labelling is taken for the best when the bound is not higher by more than this, relative to the score;
    /// the bound has settled when ten rounds lower it by less.
    pub tolerance: f64,
}

impl Default for DualOptions {
    fn default() -> Self {
        Self {
            iterations: 1000,
            tolerance: 1e-9,
        }
    }
}

/// Max decoder for graphs of any structure that reports an upper bound of the best score, and whether its labelling
/// is proved to be the best.
///
/// It always stops with a valid bound. It has no sum form.
#[derive(Clone, Debug, Default)]
pub struct DualDecoder {
    options: DualOptions,
    messages: Messages<f64, LogMax>,
    order: Vec<u32>,
    rank: Vec<u32>,
    /// Per slot: whether its variable is visited first, or last, of those in its factor.
    is_first: Vec<bool>,
    is_last: Vec<bool>,
    belief: Vec<f64>,
    collected: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Forwards,
    Backwards,
}

impl DualDecoder {
    /// A decoder with checked options.
    pub fn new(options: DualOptions) -> Result<Self, Error> {
        if options.iterations == 0 {
            let (option, expected) = ("iterations", "at least 1");
            return Err(Error::Option {
                option,
                found: 0.0,
                expected,
            });
        }
        if !(options.tolerance >= 0.0 && options.tolerance < 1.0) {
            let (option, found, expected) = ("tolerance", options.tolerance, "a number from 0 to below 1");
            return Err(Error::Option {
                option,
                found,
                expected,
            });
        }
        Ok(Self {
            options,
            ..Self::default()
        })
    }

    fn prepare(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.messages.prepare(graph)?;
        self.order = search_order(graph);
        self.rank.clear();
        self.rank.resize(graph.variables(), 0);
        for (rank, &variable) in (0..).zip(&self.order) {
            self.rank[variable as usize] = rank;
        }
        self.is_first.clear();
        self.is_last.clear();
        for slot in 0..graph.all_slots() {
            let rank = self.rank[graph.slot_variable(slot) as usize];
            let others = graph
                .scope(graph.slot_factor(slot))
                .iter()
                .map(|&v| self.rank[v as usize]);
            self.is_first.push(others.clone().all(|other| other >= rank));
            self.is_last.push(others.clone().all(|other| other <= rank));
        }
        for variable in 0..graph.variables() as u32 {
            self.set_cavities(graph, variable);
        }
        Ok(())
    }

    /// Whether a factor lies ahead of, or behind, a variable in a direction.
    fn is_ahead(&self, slot: usize, direction: Direction) -> bool {
        if direction == Direction::Forwards {
            !self.is_last[slot]
        } else {
            !self.is_first[slot]
        }
    }

    fn is_behind(&self, slot: usize, direction: Direction) -> bool {
        if direction == Direction::Forwards {
            !self.is_first[slot]
        } else {
            !self.is_last[slot]
        }
    }

    fn visit(&mut self, graph: &FactorGraph, variable: u32, direction: Direction) -> Result<(), Error> {
        let edges = self.messages.edges(variable);
        let (mut ahead, mut behind) = (0, 0);
        for edge in edges.clone() {
            let slot = self.messages.edge(edge);
            ahead += usize::from(self.is_ahead(slot, direction));
            if self.is_behind(slot, direction) {
                behind += 1;
                self.collect(graph, slot);
            }
        }
        self.gather(variable)?;
        let share = 1.0 / ahead.max(behind).max(1) as f64;
        for edge in edges {
            let slot = self.messages.edge(edge);
            if self.is_ahead(slot, direction) {
                for (delta, belief) in self.messages.message_mut(slot).iter_mut().zip(&self.belief) {
                    *delta -= if *belief > f64::NEG_INFINITY {
                        share * belief
                    } else {
                        0.0
                    };
                }
            }
        }
        self.set_cavities(graph, variable);
        Ok(())
    }

    /// Moves the max-marginals of a factor to the variable of a slot.
    fn collect(&mut self, graph: &FactorGraph, slot: usize) {
        let width = self.messages.message(slot).len();
        self.collected.clear();
        self.collected.resize(width, f64::NEG_INFINITY);
        self.messages.contract(graph, slot, &mut self.collected);
        self.messages.sent += 1;
        let variable = graph.slot_variable(slot);
        for label in 0..graph.labels(variable) as usize {
            if self.collected[label] == f64::NEG_INFINITY {
                // No labelling has this label. It goes for good, so that all other numbers stay finite.
                self.messages.potentials.kill(variable, label);
                self.collected[label] = 0.0;
            }
        }
        self.messages.message_mut(slot).copy_from_slice(&self.collected);
    }

    /// What all factors say about a variable; returns the largest.
    fn gather(&mut self, variable: u32) -> Result<f64, Error> {
        self.belief.clear();
        self.belief
            .extend_from_slice(self.messages.potentials.local(variable));
        for edge in self.messages.edges(variable) {
            let message = self.messages.message(self.messages.edge(edge));
            for (belief, delta) in self.belief.iter_mut().zip(message) {
                *belief += if *belief > f64::NEG_INFINITY { *delta } else { 0.0 };
            }
        }
        let largest = self.belief.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return Err(Error::Contradiction { variable });
        }
        Ok(largest)
    }

    /// The cavity of a slot is −δ, and −∞ for labels that are gone.
    fn set_cavities(&mut self, graph: &FactorGraph, variable: u32) {
        for edge in self.messages.edges(variable) {
            let slot = self.messages.edge(edge);
            for label in 0..graph.labels(variable) as usize {
                let is_alive = self.messages.potentials.local(variable)[label] > f64::NEG_INFINITY;
                let cavity = if is_alive {
                    -self.messages.message(slot)[label]
                } else {
                    f64::NEG_INFINITY
                };
                self.messages.cavity_mut(slot)[label] = cavity;
            }
        }
    }

    /// One round; returns the bound. After the way back every factor has handed over all it had to the first of its
    /// variables, so that its own maximum is 0.
    fn round(&mut self, graph: &FactorGraph) -> Result<f64, Error> {
        for place in 0..self.order.len() {
            self.visit(graph, self.order[place], Direction::Forwards)?;
        }
        for place in (0..self.order.len()).rev() {
            self.visit(graph, self.order[place], Direction::Backwards)?;
        }
        let mut bound = self.messages.potentials.offset;
        for variable in 0..graph.variables() as u32 {
            bound += self.gather(variable)?;
        }
        Ok(bound)
    }

    fn decode(&mut self, graph: &FactorGraph) -> Result<(Vec<u32>, f64), Error> {
        let mut labels = Vec::new();
        decode(graph, &mut self.messages, &self.order, &mut labels);
        for variable in 0..graph.variables() as u32 {
            self.set_cavities(graph, variable);
        }
        climb(graph, &mut labels);
        let score = graph.score(&labels)?;
        Ok((labels, score))
    }
}

impl Engine for DualDecoder {
    /// Always an error: the method has no sum form.
    fn sum<'a>(&'a mut self, _: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        Err(Error::NoSumForm {
            method: "dual decomposition",
        })
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        self.prepare(graph)?;
        let (mut labels, mut score) = (Vec::new(), f64::NEG_INFINITY);
        let (mut bound, mut settled) = (f64::INFINITY, 0);
        let mut iterations = 0;
        while iterations < self.options.iterations {
            iterations += 1;
            let next = self.round(graph)?;
            let is_progress = bound - next > self.options.tolerance * (1.0 + next.abs());
            settled = if is_progress { 0 } else { settled + 1 };
            bound = bound.min(next);
            let is_end = settled == PATIENCE || iterations == self.options.iterations;
            // A labelling costs about as much as a round.
            if is_end || iterations < 4 || iterations.is_power_of_two() || iterations % 16 == 0 {
                let found = self.decode(graph)?;
                if found.1 > score || labels.is_empty() {
                    (labels, score) = found;
                }
            }
            if is_end || bound - score <= self.options.tolerance * (1.0 + score.abs()) {
                break;
            }
        }
        if score == f64::NEG_INFINITY {
            return Err(Error::NothingFound {
                method: "dual decomposition",
            });
        }
        let gap = (bound - score).max(0.0);
        let exact = gap <= self.options.tolerance * (1.0 + score.abs());
        let report = Report {
            exact,
            converged: exact || settled == PATIENCE,
            iterations,
            messages: self.messages.sent,
            residual: gap,
        };
        Ok(Decoding {
            labels,
            score,
            bound: Some(bound.max(score)),
            report,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FactorGraphBuilder;
    use fieldmark_core::random::SplitMix64;

    #[test]
    fn the_bound_never_rises() {
        for seed in 0..20 {
            let mut random = SplitMix64(seed);
            let mut scores = |count: usize| -> Vec<f64> {
                (0..count)
                    .map(|_| (random.bits() % 1000) as f64 / 100.0)
                    .collect()
            };
            let mut builder = FactorGraphBuilder::default();
            for variable in 0..8 {
                builder.variable(3).unwrap();
                builder.factor_with(0, &[variable], &scores(3)).unwrap();
            }
            for (a, b) in [
                (0, 1),
                (1, 2),
                (2, 3),
                (3, 0),
                (4, 1),
                (5, 2),
                (6, 7),
                (7, 4),
                (0, 6),
            ] {
                builder.factor_with(1, &[a, b], &scores(9)).unwrap();
            }
            for scope in [[0, 3, 5], [7, 2, 1]] {
                builder.factor_with(2, &scope, &scores(27)).unwrap();
            }
            let graph = builder.build();
            let mut decoder = DualDecoder::default();
            decoder.prepare(&graph).unwrap();
            let mut bound = f64::INFINITY;
            for round in 0..50 {
                let next = decoder.round(&graph).unwrap();
                assert!(
                    next <= bound + 1e-9,
                    "seed {seed}, round {round}: {next} after {bound}"
                );
                bound = next;
            }
        }
    }
}
