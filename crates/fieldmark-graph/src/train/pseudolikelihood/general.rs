//! Terms of any factor, in log space.

use super::super::gold::UNKNOWN;
use super::super::local::log_sum_exp;
use super::super::tables::TableGradient;
use super::{Context, Worker};
use crate::factor_graph::Line;
use crate::{Error, FactorGraph};

impl Worker {
    /// The term of any factor, in log space.
    pub(super) fn general_term(
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
        table.clear();
        table.extend_from_slice(graph.scores(factor));
        self.allowed.clear();
        for_each_entry(graph, factor, |entry, labels| {
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
        for_each_entry(graph, factor, |entry, labels| {
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

/// Calls `visit` with each entry of the table of a factor and its labels.
fn for_each_entry(graph: &FactorGraph, factor: usize, mut visit: impl FnMut(usize, &[u32])) {
    let mut odometer = graph.odometer(factor);
    for entry in 0..graph.scores(factor).len() {
        visit(entry, &odometer.labels);
        odometer.step();
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
