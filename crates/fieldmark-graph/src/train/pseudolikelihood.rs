//! Factor pseudolikelihood (Sanner, Graepel & Herbrich 2007; Jancsary 2008, eq. 4.14) with its exact gradient.
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

use super::gold::{InstanceGold, UNKNOWN};
use super::local::{Line, line, log_sum_exp};
use super::pair_kernels::{add_outer, padded, sums};
use super::tables::TableGradient;
use crate::structure::Structure;
use crate::unroll::{BaseTables, Unrolled};
use crate::{Error, FactorGraph};
use fieldmark_core::kernels::exp_in_place;

/// Sums of products below this are computed again in log space: above it, what underflowed does not matter.
const SMALLEST_SUM: f64 = 1e-200;

/// exp(θ − largest θ) of the table of a pair, in padded rows.
#[derive(Clone, Debug, Default)]
struct Potentials {
    matrix: Vec<f64>,
    largest: f64,
}

impl Potentials {
    fn set(&mut self, scores: &[f64], columns: usize) {
        self.largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if self.largest == f64::NEG_INFINITY {
            self.largest = 0.0;
        }
        let width = padded(columns);
        self.matrix.clear();
        self.matrix
            .resize(scores.len() / columns * width, f64::NEG_INFINITY);
        for (row, scores) in self
            .matrix
            .chunks_exact_mut(width)
            .zip(scores.chunks_exact(columns))
        {
            for (potential, score) in row.iter_mut().zip(scores) {
                *potential = score - self.largest;
            }
        }
        // Below the range of the kernel, which e^−700 is not, potentials are as good as 0.
        let forbidden = |score: f64| score < -700.0;
        let zeros: Vec<usize> = (0..self.matrix.len())
            .filter(|&cell| forbidden(self.matrix[cell]))
            .collect();
        zeros.iter().for_each(|&cell| self.matrix[cell] = 0.0);
        exp_in_place(&mut self.matrix);
        zeros.iter().for_each(|&cell| self.matrix[cell] = 0.0);
    }
}

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
    /// How many neighbours forbid a label.
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
    labels: Vec<u32>,
}

/// What does not change while one instance is computed.
struct Context<'a> {
    structure: &'a Structure,
    prepared: &'a Prepared,
    graph: &'a FactorGraph,
    gold: &'a InstanceGold,
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
        line(self.graph, factor, place, &self.gold.known)
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

    /// The term of a pair that shares both variables with no other factor; `None` if its numbers are too small.
    fn pair_term(&mut self, context: &Context<'_>, factor: usize, tables: &mut TableGradient) -> Option<f64> {
        let graph = context.graph;
        let (one, other) = (graph.scope(factor)[0], graph.scope(factor)[1]);
        let columns = graph.labels(other) as usize;
        let width = padded(columns);
        let table = graph.table_of(factor);
        let is_base = (table as usize) < context.structure.templates.len();
        if !is_base {
            self.own.set(graph.scores(factor), columns);
        }
        let offsets = [0, 1].map(|place| self.side(context, factor, place));
        self.sides[1].resize(width, 0.0);
        let potentials = if is_base {
            &context.prepared.pairs[table as usize]
        } else {
            &self.own
        };
        let [left, right] = &mut self.sides;
        let [rows, column_sums] = &mut self.sums;
        rows.resize(left.len(), 0.0);
        column_sums.resize(width, 0.0);
        sums(&potentials.matrix, left, right, rows, column_sums);
        let total: f64 = left.iter().zip(&*rows).map(|(side, sum)| side * sum).sum();
        if total < SMALLEST_SUM {
            return None;
        }
        let [p_left, p_right] = &mut self.marginals;
        p_left.clear();
        p_left.extend(left.iter().zip(&*rows).map(|(side, sum)| side * sum / total));
        p_right.clear();
        let both = right.iter().zip(&*column_sums).take(columns);
        p_right.extend(both.map(|(side, sum)| side * sum / total));

        let known = [one, other].map(|variable| context.gold.known[variable as usize]);
        let loss = if known.contains(&UNKNOWN) {
            for (place, variable) in [one, other].into_iter().enumerate() {
                let masked = &mut self.masked[place];
                masked.clone_from(if place == 0 { left } else { right });
                if let Some(allowed) = context.gold.allowed(variable) {
                    let mut allowed = allowed.iter().peekable();
                    for (label, value) in (0..).zip(masked) {
                        if allowed.next_if(|&&next| next == label).is_none() {
                            *value = 0.0;
                        }
                    }
                }
            }
            let [masked_left, masked_right] = &self.masked;
            sums(&potentials.matrix, masked_left, masked_right, rows, column_sums);
            let part: f64 = masked_left.iter().zip(&*rows).map(|(side, sum)| side * sum).sum();
            if part < SMALLEST_SUM {
                return None;
            }
            for ((p, side), sum) in p_left.iter_mut().zip(masked_left).zip(&*rows) {
                *p -= side * sum / part;
            }
            for ((p, side), sum) in p_right.iter_mut().zip(masked_right).zip(&*column_sums) {
                *p -= side * sum / part;
            }
            let mut add = |left: &[f64], right: &[f64], factor: f64| {
                if is_base {
                    add_outer(&mut self.outer[table as usize], left, right, factor);
                } else {
                    add_products(tables.table(table), &potentials.matrix, left, right, factor);
                }
            };
            add(left, right, 1.0 / total);
            add(masked_left, masked_right, -1.0 / part);
            total.ln() - part.ln()
        } else {
            let [row, column] = known.map(|label| label as usize);
            let score = graph.scores(factor)[row * columns + column];
            let gold = self.side_score(context, factor, 0, row)
                + self.side_score(context, factor, 1, column)
                + score;
            if gold == f64::NEG_INFINITY {
                return None;
            }
            let [left, right] = &self.sides;
            let [p_left, p_right] = &mut self.marginals;
            p_left[row] -= 1.0;
            p_right[column] -= 1.0;
            if is_base {
                add_outer(&mut self.outer[table as usize], left, right, 1.0 / total);
            } else {
                add_products(tables.table(table), &self.own.matrix, left, right, 1.0 / total);
            }
            tables.table(table)[row * columns + column] -= 1.0;
            let largest = if is_base {
                context.prepared.pairs[table as usize].largest
            } else {
                self.own.largest
            };
            total.ln() + offsets[0] + offsets[1] + largest - gold
        };
        for (place, variable) in [one, other].into_iter().enumerate() {
            let difference = &mut self.difference[graph.states(variable)];
            for (sum, part) in difference.iter_mut().zip(&self.marginals[place]) {
                *sum += part;
            }
            if let Some(line) = context.line(factor, place) {
                line.subtract(tables.table(table), &self.marginals[place]);
            }
        }
        Some(loss)
    }

    /// What other neighbours than the factor itself say about the label of one of its variables, −∞ if they forbid it.
    fn side_score(&self, context: &Context<'_>, factor: usize, place: usize, label: usize) -> f64 {
        let graph = context.graph;
        let states = graph.states(graph.scope(factor)[place]);
        let (mut sum, mut count) = (
            self.local[states.start + label],
            self.violations[states.start + label],
        );
        if let Some(line) = context.line(factor, place) {
            let own = graph.scores(factor)[line.first + label * line.stride];
            if own.is_finite() {
                sum -= own;
            } else {
                count -= 1;
            }
        }
        if count == 0 { sum } else { f64::NEG_INFINITY }
    }

    /// Fills one side of a pair with exp(score − largest), and returns the largest.
    fn side(&mut self, context: &Context<'_>, factor: usize, place: usize) -> f64 {
        let graph = context.graph;
        let states = graph.states(graph.scope(factor)[place]);
        let mut side = std::mem::take(&mut self.sides[place]);
        side.clear();
        if !context.prepared.forbids {
            side.extend_from_slice(&self.local[states]);
            if let Some(line) = context.line(factor, place) {
                line.of(graph.scores(factor))
                    .zip(&mut side)
                    .for_each(|(own, sum)| *sum -= own);
            }
        } else {
            side.extend((0..states.len()).map(|label| self.side_score(context, factor, place, label)));
        }
        let largest = side.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let largest = if largest == f64::NEG_INFINITY {
            0.0
        } else {
            largest
        };
        for score in &mut side {
            *score = (*score - largest).exp();
        }
        self.sides[place] = side;
        largest
    }

    /// The term of any factor, in log space.
    fn general_term(
        &mut self,
        context: &Context<'_>,
        factor: usize,
        tables: &mut TableGradient,
    ) -> Result<f64, Error> {
        let graph = context.graph;
        let scope = graph.scope(factor);
        // Companions count only where their other variables are known.
        let known = &context.gold.known;
        self.companions.retain(|&companion| {
            let mut others = graph
                .scope(companion)
                .iter()
                .filter(|variable| !scope.contains(variable));
            others.all(|&variable| known[variable as usize] != UNKNOWN)
        });
        let mut sides = Vec::with_capacity(scope.len());
        for (place, &variable) in scope.iter().enumerate() {
            sides.push(self.general_side(context, factor, place, variable));
        }
        let mut table = std::mem::take(&mut self.table);
        let mut labels = std::mem::take(&mut self.labels);
        table.clear();
        table.extend_from_slice(graph.scores(factor));
        self.allowed.clear();
        for_each_entry(graph, factor, &mut labels, |entry, labels| {
            let score = &mut table[entry];
            for (side, &label) in sides.iter().zip(labels) {
                *score += side[label as usize];
            }
            for &companion in &self.companions {
                *score += graph.scores(companion)[project(graph, companion, scope, labels, known)];
            }
            let mut places = scope.iter().zip(labels);
            let is_allowed = places.all(|(&variable, label)| {
                context
                    .gold
                    .allowed(variable)
                    .is_none_or(|allowed| allowed.contains(label))
            });
            self.allowed
                .push(if is_allowed { *score } else { f64::NEG_INFINITY });
        });
        let (all, part) = (log_sum_exp(&table), log_sum_exp(&self.allowed));
        if part == f64::NEG_INFINITY {
            return Err(Error::Contradiction { variable: scope[0] });
        }
        for (score, allowed) in table.iter_mut().zip(&self.allowed) {
            *score = (*score - all).exp() - (allowed - part).exp();
        }
        sides.iter_mut().for_each(|side| side.fill(0.0));
        for_each_entry(graph, factor, &mut labels, |entry, labels| {
            let difference = table[entry];
            tables.table(graph.table_of(factor))[entry] += difference;
            for &companion in &self.companions {
                let entry = project(graph, companion, scope, labels, known);
                tables.table(graph.table_of(companion))[entry] += difference;
            }
            for (side, &label) in sides.iter_mut().zip(labels) {
                side[label as usize] += difference;
            }
        });
        self.table = table;
        self.labels = labels;
        for (&variable, side) in scope.iter().zip(&sides) {
            let difference = &mut self.difference[graph.states(variable)];
            difference
                .iter_mut()
                .zip(side)
                .for_each(|(sum, part)| *sum += part);
            for &inner in std::iter::once(&factor).chain(&self.companions) {
                if let Some(line) = line_of_variable(context, inner, variable) {
                    line.subtract(tables.table(graph.table_of(inner)), side);
                }
            }
        }
        Ok(all - part)
    }

    /// What factors other than this one and its companions say about a variable.
    fn general_side(&self, context: &Context<'_>, factor: usize, place: usize, variable: u32) -> Vec<f64> {
        let graph = context.graph;
        let states = graph.states(variable);
        let mut side = self.local[states.clone()].to_vec();
        let mut violations = self.violations[states].to_vec();
        debug_assert_eq!(graph.scope(factor)[place], variable);
        for &inner in std::iter::once(&factor).chain(&self.companions) {
            let Some(line) = line_of_variable(context, inner, variable) else {
                continue;
            };
            for ((own, sum), count) in line.of(graph.scores(inner)).zip(&mut side).zip(&mut violations) {
                if own.is_finite() {
                    *sum -= own;
                } else {
                    *count -= 1;
                }
            }
        }
        for (sum, count) in side.iter_mut().zip(violations) {
            if count > 0 {
                *sum = f64::NEG_INFINITY;
            }
        }
        side
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

/// The line of a factor along one of its variables, if it has it and all others are known.
fn line_of_variable(context: &Context<'_>, factor: usize, variable: u32) -> Option<Line> {
    let place = context
        .graph
        .scope(factor)
        .iter()
        .position(|&other| other == variable)?;
    context.line(factor, place)
}

/// table_ij += factor · M_ij l_i r_j
fn add_products(table: &mut [f64], matrix: &[f64], left: &[f64], right: &[f64], factor: f64) {
    let columns = table.len() / left.len();
    let rows = table
        .chunks_exact_mut(columns)
        .zip(matrix.chunks_exact(right.len()));
    for ((row, potentials), left) in rows.zip(left) {
        for ((cell, potential), right) in row.iter_mut().zip(potentials).zip(right) {
            *cell += factor * left * potential * right;
        }
    }
}

/// Calls `visit` with each entry of the table of a factor and its labels.
fn for_each_entry(
    graph: &FactorGraph,
    factor: usize,
    labels: &mut Vec<u32>,
    mut visit: impl FnMut(usize, &[u32]),
) {
    let scope = graph.scope(factor);
    labels.clear();
    labels.resize(scope.len(), 0);
    for entry in 0..graph.scores(factor).len() {
        visit(entry, labels);
        for (label, &variable) in labels.iter_mut().zip(scope).rev() {
            *label += 1;
            if *label < graph.labels(variable) {
                break;
            }
            *label = 0;
        }
    }
}

/// The entry of a companion for labels of a scope, its other variables being known.
fn project(graph: &FactorGraph, companion: usize, scope: &[u32], labels: &[u32], known: &[u32]) -> usize {
    graph.scope(companion).iter().fold(0, |entry, variable| {
        let place = scope.iter().position(|other| other == variable);
        let label = place.map_or(known[*variable as usize], |place| labels[place]);
        entry * graph.labels(*variable) as usize + label as usize
    })
}
