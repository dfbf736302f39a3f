//! Factor pseudolikelihood (Sanner et al. 2007; Jancsary 2008, eq. 4.14) with its exact gradient.
//!
//! Every factor c contributes −log p(y_c | y_rest). The conditional distribution is made of c *and of all factors that
//! touch it*, the variables outside of c having their gold labels; so the gradient has terms for all of those factors,
//! and not only for c.
//!
//! **Partial labels.** The term of c is −log Σ p(y_c | known neighbours) over the labels that gold allows. A factor
//! that touches c counts only if all its variables outside of c are known; one with another unknown end says nothing
//! that could be conditioned on. A term about which nothing is known is 0. With complete labels this is the
//! pseudolikelihood above.
//!
//! With D_i the sum over all terms of the difference of the marginals of variable i (without and with gold), the
//! gradient of the table of a factor is its own difference, and along each line on which only one variable i is free,
//! D_i less what the factor's own term put into it. So each term is computed once, in the size of its factor.

mod general;
mod pair;

use super::gold::InstanceGold;
use super::local::{line, log_sum_exp};
use super::pair_kernels::padded;
use super::tables::TableGradient;
use crate::factor_graph::Line;
use crate::structure::Structure;
use crate::unroll::{BaseTables, Unrolled};
use crate::{Error, FactorGraph};
use pair::Potentials;

/// What all threads share while weights stay the same.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pairs: Vec<Potentials>,
    /// Whether some template forbids something.
    forbids: bool,
}

impl Prepared {
    pub fn set(&mut self, structure: &Structure, base: &BaseTables) {
        self.pairs
            .resize(structure.templates.len(), Potentials::default());
        self.forbids = structure
            .templates
            .iter()
            .any(|template| !template.forbidden.is_empty());
        for (template, features) in structure.templates.iter().enumerate() {
            if let &[_, columns] = &features.shape[..] {
                self.pairs[template].set(base.table(template), columns as usize);
            }
        }
    }
}

/// Scratch memory of a thread.
#[derive(Debug, Default)]
pub(super) struct Worker {
    /// Σ of the finite scores that the neighbours of a variable leave it, by label.
    local: Vec<f64>,
    /// How many neighbours forbid a label, and one more if it is no candidate.
    violations: Vec<u32>,
    /// D, by label.
    difference: Vec<f64>,
    /// Σ l_i r_j / Z of the pairs that use a base table, in padded rows.
    outer: Vec<Vec<f64>>,
    own: Potentials,
    sides: [Vec<f64>; 2],
    masked: [Vec<f64>; 2],
    sums: [Vec<f64>; 2],
    marginals: [Vec<f64>; 2],
    companions: Vec<usize>,
    table: Vec<f64>,
    allowed: Vec<f64>,
}

/// What does not change while one instance is computed.
struct Context<'a> {
    structure: &'a Structure,
    prepared: &'a Prepared,
    graph: &'a FactorGraph,
    gold: &'a InstanceGold,
    /// Whether templates or candidates forbid something.
    forbids: bool,
}

impl Context<'_> {
    fn may_forbid(&self, factor: usize) -> bool {
        !self.structure.templates[self.graph.template_of(factor) as usize]
            .forbidden
            .is_empty()
    }

    /// Whether nothing is known about the variables of a factor.
    fn is_hidden(&self, factor: usize) -> bool {
        let mut scope = self.graph.scope(factor).iter();
        scope.all(|&variable| self.gold.allowed(variable).is_none())
    }

    fn line(&self, factor: usize, place: usize) -> Option<Line> {
        line(
            self.graph,
            self.graph.slots(factor).start + place,
            &self.gold.known,
        )
    }
}

impl Worker {
    /// Before the first instance of a shard.
    pub fn start(&mut self, structure: &Structure) {
        self.outer.resize(structure.templates.len(), Vec::new());
        for (template, outer) in structure.templates.iter().zip(&mut self.outer) {
            outer.clear();
            if let &[rows, columns] = &template.shape[..] {
                outer.resize(rows as usize * padded(columns as usize), 0.0);
            }
        }
    }

    /// After the last instance of a shard.
    pub fn finish(&mut self, structure: &Structure, prepared: &Prepared, tables: &mut TableGradient) {
        for (template, features) in structure.templates.iter().enumerate() {
            if let &[_, columns] = &features.shape[..] {
                let (columns, width) = (columns as usize, padded(columns as usize));
                let potentials = prepared.pairs[template].matrix.chunks_exact(width);
                let outer = self.outer[template].chunks_exact(width).zip(potentials);
                for (row, (outer, potentials)) in tables.base[template].chunks_exact_mut(columns).zip(outer) {
                    for ((sum, outer), potential) in row.iter_mut().zip(outer).zip(potentials) {
                        *sum += outer * potential;
                    }
                }
            }
        }
    }

    /// The loss of an instance; adds the gradient of its tables.
    pub fn evaluate(
        &mut self,
        structure: &Structure,
        prepared: &Prepared,
        unrolled: &Unrolled,
        gold: &InstanceGold,
        tables: &mut TableGradient,
    ) -> Result<f64, Error> {
        let graph = &unrolled.graph;
        let context = Context {
            structure,
            prepared,
            graph,
            gold,
            forbids: prepared.forbids || !graph.label_sets().are_full(),
        };
        self.sum_locally(&context);
        let mut loss = self.unary_terms(&context)?;
        for factor in 0..graph.factors() {
            if graph.arity(factor) < 2 || context.is_hidden(factor) {
                continue;
            }
            self.find_companions(graph, factor);
            let fast = if graph.arity(factor) == 2 && self.companions.is_empty() {
                self.pair_term(&context, factor, tables)
            } else {
                None
            };
            loss += match fast {
                Some(loss) => loss,
                None => self.general_term(&context, factor, tables)?,
            };
        }
        self.add_lines(&context, tables);
        Ok(loss)
    }

    /// What known neighbours say about each label of each variable.
    fn sum_locally(&mut self, context: &Context<'_>) {
        let graph = context.graph;
        for numbers in [&mut self.local, &mut self.difference] {
            numbers.clear();
            numbers.resize(graph.all_states(), 0.0);
        }
        self.violations.clear();
        self.violations.resize(graph.all_states(), 0);
        if !graph.label_sets().are_full() {
            for variable in 0..graph.variables() as u32 {
                let violations = &mut self.violations[graph.states(variable)];
                for (label, count) in (0..).zip(violations) {
                    *count += u32::from(!graph.label_sets().contains(variable, label));
                }
            }
        }
        for factor in 0..graph.factors() {
            let scores = graph.scores(factor);
            for (place, &variable) in graph.scope(factor).iter().enumerate() {
                let Some(line) = context.line(factor, place) else {
                    continue;
                };
                let local = &mut self.local[graph.states(variable)];
                if !context.may_forbid(factor) {
                    line.of(scores).zip(local).for_each(|(score, sum)| *sum += score);
                    continue;
                }
                let violations = &mut self.violations[graph.states(variable)];
                for ((score, sum), count) in line.of(scores).zip(local).zip(violations) {
                    if score.is_finite() {
                        *sum += score;
                    } else {
                        *count += 1;
                    }
                }
            }
        }
    }

    /// The terms of factors of one variable, which are all alike.
    fn unary_terms(&mut self, context: &Context<'_>) -> Result<f64, Error> {
        let graph = context.graph;
        let mut loss = 0.0;
        for variable in 0..graph.variables() as u32 {
            let Some(allowed) = context.gold.allowed(variable) else {
                continue;
            };
            let factors = graph
                .factors_of(variable)
                .filter(|&factor| graph.arity(factor) == 1);
            let count = factors.count() as f64;
            if count == 0.0 {
                continue;
            }
            let states = graph.states(variable);
            let possible = self.local[states.clone()]
                .iter()
                .zip(&self.violations[states.clone()]);
            self.table.clear();
            self.table
                .extend(possible.map(|(&sum, &count)| if count == 0 { sum } else { f64::NEG_INFINITY }));
            let all = log_sum_exp(&self.table);
            self.allowed.clear();
            self.allowed
                .extend(allowed.iter().map(|&label| self.table[label as usize]));
            let part = log_sum_exp(&self.allowed);
            if part == f64::NEG_INFINITY {
                return Err(Error::Contradiction { variable });
            }
            loss += count * (all - part);
            let difference = &mut self.difference[states];
            for (difference, score) in difference.iter_mut().zip(&self.table) {
                *difference += count * (score - all).exp();
            }
            for (&label, score) in allowed.iter().zip(&self.allowed) {
                difference[label as usize] -= count * (score - part).exp();
            }
        }
        Ok(loss)
    }

    /// The other factors that share two or more variables with a factor.
    fn find_companions(&mut self, graph: &FactorGraph, factor: usize) {
        self.companions.clear();
        let scope = graph.scope(factor);
        let degree = |variable: &&u32| graph.incident(**variable).len();
        // Companions of a pair contain both of its variables: look where there are fewer factors.
        let fewest = scope.iter().min_by_key(degree).map(std::slice::from_ref);
        let places = if scope.len() == 2 {
            fewest.unwrap_or(scope)
        } else {
            scope
        };
        for &variable in places {
            for other in graph.factors_of(variable) {
                if other != factor && graph.arity(other) > 1 {
                    let shared = graph
                        .scope(other)
                        .iter()
                        .filter(|variable| scope.contains(variable));
                    if shared.count() > 1 && !self.companions.contains(&other) {
                        self.companions.push(other);
                    }
                }
            }
        }
    }

    /// The part of the gradient that comes from terms in which a factor is a neighbour.
    fn add_lines(&self, context: &Context<'_>, tables: &mut TableGradient) {
        let graph = context.graph;
        for factor in 0..graph.factors() {
            for (place, &variable) in graph.scope(factor).iter().enumerate() {
                if let Some(line) = context.line(factor, place) {
                    let difference = &self.difference[graph.states(variable)];
                    line.add(tables.table(graph.table_of(factor)), difference);
                }
            }
        }
    }
}
