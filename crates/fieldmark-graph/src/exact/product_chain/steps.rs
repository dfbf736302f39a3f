//! Tables of steps: the product of the factors that a step closes. Steps with the same factors and label sets share one,
//! also in the graphs that come after, as long as scores stay the same.

use super::super::clique_tables::{Domains, Walk};
use super::kernels::{Row, padded};
use super::path::Path;
use crate::{Error, FactorGraph};
use fieldmark_core::kernels::exp_in_place;
use std::collections::HashMap;

/// What a step multiplies with, and how entries before and after it belong together.
#[derive(Clone, Debug)]
pub(super) struct StepTable {
    pub rows: Vec<Row>,
    /// Padded length of rows.
    pub width: usize,
    /// Scores, rows filled up with −∞.
    pub scores: Vec<f64>,
    /// exp(score − largest).
    pub linear: Vec<f64>,
    /// The largest score.
    pub largest: f64,
    /// The tables that it was made of, to see whether they are still the same; none if it is of this graph alone.
    sources: Option<Vec<f64>>,
    used: bool,
}

/// The tables of all steps of a graph, and those that may come again.
#[derive(Clone, Debug, Default)]
pub(super) struct StepTables {
    tables: Vec<StepTable>,
    by_key: HashMap<Vec<u32>, u32>,
    of_step: Vec<u32>,
    walk: Walk,
}

impl StepTables {
    pub fn of_step(&self, step: usize) -> &StepTable {
        &self.tables[self.of_step[step] as usize]
    }

    /// The number of a step's table; steps with the same number share it.
    pub fn number(&self, step: usize) -> usize {
        self.of_step[step] as usize
    }

    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// The scores of all tables.
    #[cfg(test)]
    pub fn scores(&self) -> impl Iterator<Item = &[f64]> {
        self.tables.iter().map(|table| &table.scores[..])
    }

    /// Bytes of all tables.
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(StepTable::bytes).sum()
    }

    /// Finds or makes the table of each step; an error if not enough is left of the budget, which also pays for those of the
    /// last graph that are kept.
    pub fn prepare(
        &mut self,
        graph: &FactorGraph,
        domains: &Domains,
        path: &Path,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        self.keep_used();
        budget.charge(self.bytes(), path.width)?;
        self.of_step.clear();
        let mut key = Vec::new();
        for step in 0..path.len() {
            write_key(graph, domains, path, step, &mut key);
            let known = self.by_key.get(&key).copied();
            let number = match known {
                Some(number) if self.is_current(graph, path, step, number) => number,
                _ => {
                    let table = self.make(graph, domains, path, step, budget)?;
                    budget.charge(table.bytes(), path.width)?;
                    match known {
                        Some(number) => {
                            let old = std::mem::replace(&mut self.tables[number as usize], table);
                            budget.used -= old.bytes();
                            number
                        }
                        None => {
                            let number = self.tables.len() as u32;
                            self.tables.push(table);
                            self.by_key.insert(key.clone(), number);
                            number
                        }
                    }
                }
            };
            self.tables[number as usize].used = true;
            self.of_step.push(number);
        }
        Ok(())
    }

    /// Forgets the tables that the last graph did not need.
    fn keep_used(&mut self) {
        let mut new = Vec::with_capacity(self.tables.len());
        let mut kept = 0;
        for table in &self.tables {
            new.push(table.used.then_some(kept));
            kept += u32::from(table.used);
        }
        self.tables.retain(|table| table.used);
        self.by_key.retain(|_, number| match new[*number as usize] {
            Some(kept) => {
                *number = kept;
                true
            }
            None => false,
        });
        self.tables.iter_mut().for_each(|table| table.used = false);
    }

    fn is_current(&self, graph: &FactorGraph, path: &Path, step: usize, number: u32) -> bool {
        let table = &self.tables[number as usize];
        // Within a graph, the same key means the same scores.
        if table.used {
            return true;
        }
        let scores = path.factors(step).iter().map(|&factor| graph.scores(factor));
        let Some(mut sources) = table.sources.as_deref() else {
            return false;
        };
        for scores in scores {
            match sources.strip_prefix(scores) {
                Some(rest) => sources = rest,
                None => return false,
            }
        }
        sources.is_empty()
    }

    fn make(
        &mut self,
        graph: &FactorGraph,
        domains: &Domains,
        path: &Path,
        step: usize,
        budget: &Budget,
    ) -> Result<StepTable, Error> {
        let scope = scope(graph, path, step);
        let labels = domains.labels(path.variable(step)).len();
        let width = padded(labels);
        let frontier = path.frontier(step);
        let (rows, size) = (domains.saturating_size(frontier), domains.saturating_size(&scope));
        budget.afford(
            rows.saturating_mul(size_of::<Row>() as u64)
                .saturating_add(size.saturating_mul(3 * 8)),
            path.width,
        )?;
        let mut plain = vec![0.0; size as usize];
        for &factor in path.factors(step) {
            self.walk.lead_to_factor(graph, domains, &scope, factor);
            self.walk.spread(&mut plain, graph.scores(factor));
        }
        let mut scores = vec![f64::NEG_INFINITY; size as usize / labels * width];
        for (row, plain) in scores.chunks_exact_mut(width).zip(plain.chunks_exact(labels)) {
            row[..labels].copy_from_slice(plain);
        }
        let mut linear = scores.clone();
        let largest = to_linear(&mut linear);
        // Label sets that leave few of the labels hardly come again, and tables may be far larger than what they leave.
        let tables = path.factors(step).iter().map(|&factor| graph.scores(factor));
        let lasts = tables.clone().map(<[f64]>::len).sum::<usize>() as u64 <= size.saturating_mul(4);
        Ok(StepTable {
            rows: rows_of(domains, path, step, &scope),
            width,
            scores,
            linear,
            largest,
            sources: lasts.then(|| tables.flatten().copied().collect()),
            used: false,
        })
    }

    /// Calls back with each factor of a step, numbers at the entries of the step's table, and the way from these to the
    /// entries of the factor.
    pub fn for_each_factor(
        graph: &FactorGraph,
        domains: &Domains,
        path: &Path,
        step: usize,
        numbers: &[f64],
        mut visit: impl FnMut(usize, &[f64], &mut Walk),
    ) {
        let scope = scope(graph, path, step);
        let labels = domains.labels(path.variable(step)).len();
        let rows = numbers.chunks_exact(padded(labels));
        let plain: Vec<f64> = rows.flat_map(|row| &row[..labels]).copied().collect();
        let mut walk = Walk::default();
        for &factor in path.factors(step) {
            walk.lead_to_factor(graph, domains, &scope, factor);
            visit(factor, &plain, &mut walk);
        }
    }
}

impl StepTable {
    fn bytes(&self) -> u64 {
        let sources = self.sources.as_ref().map_or(0, Vec::len);
        let numbers = self.scores.len() + self.linear.len() + sources;
        (numbers * size_of::<f64>() + self.rows.len() * size_of::<Row>()) as u64
    }
}

/// Bytes that are left.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    pub all: u64,
    pub used: u64,
}

impl Budget {
    pub fn charge(&mut self, bytes: u64, width: usize) -> Result<(), Error> {
        self.afford(bytes, width)?;
        self.used += bytes;
        Ok(())
    }

    /// An error if so many bytes are not left.
    pub fn afford(&self, bytes: u64, width: usize) -> Result<(), Error> {
        let (needed, budget) = (self.used.saturating_add(bytes), self.all);
        if needed > budget {
            return Err(Error::TooWide {
                width,
                needed,
                budget,
            });
        }
        Ok(())
    }
}

/// Makes exp(score − largest) of scores, with 0 for −∞; the largest.
pub(super) fn to_linear(scores: &mut [f64]) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        scores.fill(0.0);
        return largest;
    }
    let is_forbidden: Vec<bool> = scores.iter().map(|&score| score == f64::NEG_INFINITY).collect();
    scores.iter_mut().for_each(|score| *score -= largest);
    exp_in_place(scores);
    // The kernel gives the smallest number that it can.
    for (score, forbidden) in scores.iter_mut().zip(is_forbidden) {
        *score = if forbidden { 0.0 } else { *score };
    }
    largest
}

/// The variables of the table of a step: those of its factors in the order of the frontier, and the new one.
fn scope(graph: &FactorGraph, path: &Path, step: usize) -> Vec<u32> {
    let in_factor = |variable: &&u32| {
        let mut factors = path.factors(step).iter();
        factors.any(|&factor| graph.scope(factor).contains(variable))
    };
    let mut scope: Vec<u32> = path.frontier(step).iter().filter(in_factor).copied().collect();
    scope.push(path.variable(step));
    scope
}

/// What makes two steps the same: tables and places of factors, label sets, and what goes on to the next frontier.
fn write_key(graph: &FactorGraph, domains: &Domains, path: &Path, step: usize, key: &mut Vec<u32>) {
    const NEXT: u32 = u32::MAX;
    const ALL: u32 = u32::MAX - 1;
    const FIXED: u32 = u32::MAX - 2;
    let (frontier, after) = (path.frontier(step), path.frontier(step + 1));
    let variable = path.variable(step);
    key.clear();
    for &factor in path.factors(step) {
        key.push(graph.table_of(factor));
        for &member in graph.scope(factor) {
            match frontier.iter().position(|&earlier| earlier == member) {
                Some(place) => key.push(place as u32),
                None if member == variable => key.push(frontier.len() as u32),
                None => key.extend([FIXED, domains.labels(member)[0]]),
            }
        }
    }
    for &variable in frontier.iter().chain([&variable]) {
        key.push(NEXT);
        key.push(u32::from(after.contains(&variable)));
        let labels = domains.labels(variable);
        key.push(graph.labels(variable));
        if labels.len() == graph.labels(variable) as usize {
            key.push(ALL);
        } else {
            key.extend_from_slice(labels);
        }
    }
}

/// For each entry of the frontier before a step, the rows that belong to it.
fn rows_of(domains: &Domains, path: &Path, step: usize, scope: &[u32]) -> Vec<Row> {
    let (frontier, after) = (path.frontier(step), path.frontier(step + 1));
    let stride = |variables: &[u32], variable: u32| {
        let place = variables.iter().position(|&member| member == variable);
        place.map_or(0, |place| {
            let behind = variables[place + 1..].iter().enumerate();
            let sizes = behind.map(|(index, &other)| {
                let labels = domains.labels(other).len();
                let is_last = place + 1 + index + 1 == variables.len();
                if is_last { padded(labels) } else { labels }
            });
            sizes.product::<usize>()
        })
    };
    let mut rows = vec![Row {
        before: 0,
        table: 0,
        after: 0,
    }];
    for &variable in frontier {
        let steps = [frontier, scope, after].map(|variables| stride(variables, variable) as u32);
        let labels = domains.labels(variable).len() as u32;
        let longer = rows.iter().flat_map(|row| {
            (0..labels).map(|label| Row {
                before: row.before + label * steps[0],
                table: row.table + label * steps[1],
                after: row.after + label * steps[2],
            })
        });
        rows = longer.collect();
    }
    rows
}
