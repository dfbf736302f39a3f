//! Terms of pairs, as products of matrices and vectors.

use super::super::gold::UNKNOWN;
use super::super::pair_kernels::{add_outer, padded, sums};
use super::super::tables::TableGradient;
use super::{Context, Worker};
use fieldmark_core::kernels::exp_in_place;

/// Sums of products below this are computed again in log space: above it, what underflowed does not matter.
const SMALLEST_SUM: f64 = 1e-200;

/// exp(θ − largest θ) of the table of a pair, in padded rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Potentials {
    pub matrix: Vec<f64>,
    pub largest: f64,
}

impl Potentials {
    pub fn set(&mut self, scores: &[f64], columns: usize) {
        let width = padded(columns);
        self.matrix.clear();
        self.matrix
            .resize(scores.len() / columns * width, f64::NEG_INFINITY);
        let rows = self.matrix.chunks_exact_mut(width);
        for (row, scores) in rows.zip(scores.chunks_exact(columns)) {
            row[..columns].copy_from_slice(scores);
        }
        self.largest = exp_scaled(&mut self.matrix);
    }
}

/// Makes exp(score − largest) of scores, and returns the largest. What is below e^−700 becomes 0.
fn exp_scaled(scores: &mut [f64]) -> f64 {
    const LOWEST: f64 = -700.0;
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let largest = if largest == f64::NEG_INFINITY {
        0.0
    } else {
        largest
    };
    for score in &mut *scores {
        *score = (*score - largest).max(LOWEST);
    }
    exp_in_place(scores);
    for potential in &mut *scores {
        // e^−700 is 9.9e−305.
        if *potential < 1e-304 {
            *potential = 0.0;
        }
    }
    largest
}

impl Worker {
    /// The term of a pair that shares both variables with no other factor; `None` if its numbers are too small.
    pub(super) fn pair_term(
        &mut self,
        context: &Context<'_>,
        factor: usize,
        tables: &mut TableGradient,
    ) -> Option<f64> {
        let graph = context.graph;
        let scope = graph.scope(factor);
        let columns = graph.labels(scope[1]) as usize;
        let offsets = [0, 1].map(|place| self.side(context, factor, place));
        self.sides[1].resize(padded(columns), 0.0);
        for (marginals, &variable) in self.marginals.iter_mut().zip(scope) {
            marginals.clear();
            marginals.resize(graph.labels(variable) as usize, 0.0);
        }
        let table = graph.table_of(factor);
        let mut own = std::mem::take(&mut self.own);
        let potentials = context.prepared.pairs.get(table as usize).unwrap_or_else(|| {
            own.set(graph.scores(factor), columns);
            &own
        });
        let loss = match [scope[0], scope[1]].map(|variable| context.gold.known[variable as usize]) {
            [UNKNOWN, _] | [_, UNKNOWN] => self.partial_pair(context, factor, potentials, tables),
            labels => {
                let loss = self.known_pair(context, factor, labels, potentials, tables);
                loss.map(|loss| loss + offsets[0] + offsets[1] + potentials.largest)
            }
        };
        self.own = own;
        if loss.is_some() {
            for (place, &variable) in scope.iter().enumerate() {
                let difference = &mut self.difference[graph.states(variable)];
                difference
                    .iter_mut()
                    .zip(&self.marginals[place])
                    .for_each(|(sum, part)| *sum += part);
                if let Some(line) = context.line(factor, place) {
                    line.subtract(tables.table(table), &self.marginals[place]);
                }
            }
        }
        loss
    }

    /// The loss of a pair of known labels, less what was taken out of its sides and potentials.
    fn known_pair(
        &mut self,
        context: &Context<'_>,
        factor: usize,
        labels: [u32; 2],
        potentials: &Potentials,
        tables: &mut TableGradient,
    ) -> Option<f64> {
        let table = context.graph.table_of(factor);
        let [row, column] = labels.map(|label| label as usize);
        let entry = row * self.marginals[1].len() + column;
        let gold = self.side_score(context, factor, 0, row)
            + self.side_score(context, factor, 1, column)
            + context.graph.scores(factor)[entry];
        if gold == f64::NEG_INFINITY {
            return None;
        }
        let total = add_marginals(potentials, &self.sides, &mut self.sums, &mut self.marginals, 1.0)?;
        self.marginals[0][row] -= 1.0;
        self.marginals[1][column] -= 1.0;
        add_pair(
            &mut self.outer,
            tables,
            table,
            potentials,
            &self.sides,
            1.0 / total,
        );
        tables.table(table)[entry] -= 1.0;
        Some(total.ln() - gold)
    }

    /// The loss of a pair of which not both labels are known.
    fn partial_pair(
        &mut self,
        context: &Context<'_>,
        factor: usize,
        potentials: &Potentials,
        tables: &mut TableGradient,
    ) -> Option<f64> {
        for (place, &variable) in context.graph.scope(factor).iter().enumerate() {
            let masked = &mut self.masked[place];
            masked.clone_from(&self.sides[place]);
            if let Some(allowed) = context.gold.allowed(variable) {
                let mut allowed = allowed.iter().peekable();
                for (label, value) in (0..).zip(masked) {
                    if allowed.next_if(|&&next| next == label).is_none() {
                        *value = 0.0;
                    }
                }
            }
        }
        let Self {
            sides,
            masked,
            sums,
            marginals,
            outer,
            ..
        } = self;
        let total = add_marginals(potentials, sides, sums, marginals, 1.0)?;
        let part = add_marginals(potentials, masked, sums, marginals, -1.0)?;
        let table = context.graph.table_of(factor);
        add_pair(outer, tables, table, potentials, sides, 1.0 / total);
        add_pair(outer, tables, table, potentials, masked, -1.0 / part);
        Some(total.ln() - part.ln())
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
        if !context.forbids {
            side.extend_from_slice(&self.local[states]);
            if let Some(line) = context.line(factor, place) {
                line.of(graph.scores(factor))
                    .zip(&mut side)
                    .for_each(|(own, sum)| *sum -= own);
            }
        } else {
            side.extend((0..states.len()).map(|label| self.side_score(context, factor, place, label)));
        }
        let largest = exp_scaled(&mut side);
        self.sides[place] = side;
        largest
    }
}

/// Adds `sign` times the marginals of both sides of a pair; returns Σ l_i M_ij r_j, or `None` if it is too small.
fn add_marginals(
    potentials: &Potentials,
    sides: &[Vec<f64>; 2],
    scratch: &mut [Vec<f64>; 2],
    marginals: &mut [Vec<f64>; 2],
    sign: f64,
) -> Option<f64> {
    let [left, right] = sides;
    let [rows, columns] = &mut *scratch;
    rows.resize(left.len(), 0.0);
    columns.resize(right.len(), 0.0);
    sums(&potentials.matrix, left, right, rows, columns);
    let total: f64 = left.iter().zip(&*rows).map(|(side, sum)| side * sum).sum();
    if total < SMALLEST_SUM {
        return None;
    }
    for (marginals, (side, sums)) in marginals.iter_mut().zip(sides.iter().zip(scratch)) {
        for (marginal, (side, sum)) in marginals.iter_mut().zip(side.iter().zip(sums)) {
            *marginal += sign * side * *sum / total;
        }
    }
    Some(total)
}

/// Adds `factor` · M_ij l_i r_j to the gradient of a table.
fn add_pair(
    outer: &mut [Vec<f64>],
    tables: &mut TableGradient,
    table: u32,
    potentials: &Potentials,
    sides: &[Vec<f64>; 2],
    factor: f64,
) {
    let [left, right] = sides;
    match outer.get_mut(table as usize) {
        Some(outer) => add_outer(outer, left, right, factor),
        None => add_products(tables.table(table), &potentials.matrix, left, right, factor),
    }
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
