//! Several chains as one: the labels of neighbouring variables together are the state of a chain.
//!
//! A product chain of n chains with k labels has kⁿ states and k²ⁿ steps. Going from one position to the next by one
//! variable at a time, it takes only n·kⁿ⁺¹ (Ghahramani & Jordan 1997): a step adds a variable to the state and drops
//! those that have no factor with a later one. So any graph is a chain whose states are as large as its order of
//! variables makes them.
//!
//! Sums are taken in linear space, and tables of both directions are scaled to a largest entry of 1 at each step. What
//! underflows is smaller than 1e-307; where the product of both directions is not many times as large as that, the sum is
//! left to a junction tree, which works in log space.

mod kernels;
mod path;
mod steps;
#[cfg(test)]
mod tests;

use super::JunctionTree;
use super::clique_tables::Domains;
use crate::engine::{FactorBeliefs, TableSums};
use crate::{Beliefs, Decoding, Engine, Error, FactorGraph, LogZ, MaxMarginals, Report};
use kernels::{LANES, padded};
use path::Path;
use std::ops::Range;
use steps::{Budget, StepTables, to_linear};

/// Sums of scaled numbers that are smaller than this may lack something that underflowed.
const SMALLEST: f64 = 1e-200;

/// Exact inference variable by variable along a chain; for factorial chains with few combinations of labels.
///
/// Steps that have the same factors and label sets share one table. On these graphs it is many times as fast as a
/// [`JunctionTree`], which needs less memory where no order of variables is good.
#[derive(Clone, Debug)]
pub struct ProductChain {
    budget: u64,
    domains: Domains,
    path: Path,
    steps: StepTables,
    /// Where the table of each frontier begins.
    start: Vec<usize>,
    /// Where the numbers of the variable of each step begin.
    local_start: Vec<usize>,
    /// Scores of each variable alone, or their exponentials, with the variables in the order of steps.
    local: Vec<f64>,
    /// For each state of each frontier, all that leads to it.
    forward: Vec<f64>,
    /// For each state of each frontier, all that follows, and what the last variable scores alone.
    backward: Vec<f64>,
    marginals: Vec<f64>,
    in_log_space: JunctionTree,
}

impl Default for ProductChain {
    /// A budget of 512 MiB.
    fn default() -> Self {
        Self::with_budget(1 << 29)
    }
}

impl ProductChain {
    /// An engine whose tables may take this many bytes.
    pub fn with_budget(budget: u64) -> Self {
        Self {
            budget,
            domains: Domains::default(),
            path: Path::default(),
            steps: StepTables::default(),
            start: Vec::new(),
            local_start: Vec::new(),
            local: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            marginals: Vec::new(),
            in_log_space: JunctionTree::with_budget(budget),
        }
    }

    /// Finds an order of the variables; how many entries of tables it would visit.
    pub(crate) fn plan(&mut self, graph: &FactorGraph) -> Result<u64, Error> {
        self.domains.fill(graph);
        self.path = Path::find(graph, &self.domains).ok_or(Error::TooWide {
            width: graph.variables(),
            needed: u64::MAX,
            budget: self.budget,
        })?;
        Ok(self.path.work)
    }

    /// Makes the tables for a graph that was planned.
    pub(crate) fn prepare(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        let mut budget = Budget {
            all: self.budget,
            used: 0,
        };
        // One table for each direction.
        let entries = self.path.entries.saturating_add(1);
        let tables = entries.saturating_mul(2 * size_of::<f64>() as u64);
        budget.charge(tables, self.path.width)?;
        // What the last graphs left behind takes room, too, and gives way if there is too little.
        let mut with_kept = budget.clone();
        let kept = self.kept_numbers().saturating_sub(tables);
        let prepared = with_kept
            .charge(kept, self.path.width)
            .and_then(|()| self.find_steps(graph, &mut with_kept));
        if prepared.is_err() {
            (self.forward, self.backward) = (Vec::new(), Vec::new());
            self.steps = StepTables::default();
            self.find_steps(graph, &mut budget)?;
        }
        self.lay_out(graph);
        Ok(())
    }

    fn find_steps(&mut self, graph: &FactorGraph, budget: &mut Budget) -> Result<(), Error> {
        self.steps.prepare(graph, &self.domains, &self.path, budget)
    }

    /// Bytes of the tables of both directions, which are as large as those of the largest graph so far.
    fn kept_numbers(&self) -> u64 {
        ((self.forward.capacity() + self.backward.capacity()) * size_of::<f64>()) as u64
    }

    /// The junction tree for what needs log space.
    pub(crate) fn junction_tree(&mut self) -> &mut JunctionTree {
        &mut self.in_log_space
    }

    fn lay_out(&mut self, graph: &FactorGraph) {
        self.start.clear();
        self.local_start.clear();
        self.local.clear();
        self.start.push(0);
        // The empty frontier has one state.
        let mut end = 1;
        let mut scores = Vec::new();
        for step in 0..self.path.len() {
            let variable = self.path.variable(step);
            let labels = self.domains.labels(variable);
            scores.resize(graph.labels(variable) as usize, 0.0);
            graph.local_scores(variable, &mut scores);
            self.local_start.push(self.local.len());
            self.local
                .extend(labels.iter().map(|&label| scores[label as usize]));
            self.local
                .resize(self.local_start[step] + padded(labels.len()), f64::NEG_INFINITY);
            self.start.push(end);
            let frontier = self.path.frontier(step + 1);
            end += self.domains.size(&frontier[..frontier.len() - 1]) * padded(labels.len());
        }
        self.start.push(end);
        self.local_start.push(self.local.len());
        for numbers in [&mut self.forward, &mut self.backward] {
            numbers.clear();
            // The budget has no room for more than that.
            numbers.reserve_exact(end);
            numbers.resize(end, 0.0);
        }
    }

    /// Where the table of the frontier before a step lies.
    fn frontier(&self, step: usize) -> Range<usize> {
        self.start[step]..self.start[step + 1]
    }

    fn local(&self, step: usize) -> Range<usize> {
        self.local_start[step]..self.local_start[step + 1]
    }

    /// log Z and all that leads to each state; nothing if that needs log space.
    fn collect(&mut self) -> Result<Option<f64>, Error> {
        let mut log_z = 0.0;
        self.forward[0] = 1.0;
        for step in 0..self.path.len() {
            let table = self.steps.of_step(step);
            let local = self.local_start[step]..self.local_start[step + 1];
            let local = &mut self.local[local];
            let largest = to_linear(local);
            let contradiction = Error::Contradiction {
                variable: self.path.variable(step),
            };
            if largest == f64::NEG_INFINITY || table.largest == f64::NEG_INFINITY {
                return Err(contradiction);
            }
            let (before, after) = self.forward.split_at_mut(self.start[step + 1]);
            let before = &before[self.start[step]..];
            let after = &mut after[..self.start[step + 2] - self.start[step + 1]];
            kernels::forward::<false>(&table.rows, table.width, before, &table.linear, after);
            let top = scale_rows(after, local);
            if top < SMALLEST {
                return Ok(None);
            }
            log_z += largest + table.largest + top.ln();
            scale(after, 1.0 / top);
        }
        let last = self.frontier(self.path.len());
        Ok(Some(log_z + self.forward[last].iter().sum::<f64>().ln()))
    }

    /// All that follows each state, and the marginals of variables; says whether that was possible without underflow.
    fn distribute(&mut self, graph: &FactorGraph) -> bool {
        self.marginals.clear();
        self.marginals.resize(graph.all_states(), 0.0);
        let last = self.frontier(self.path.len());
        self.backward[last].fill(1.0);
        let mut sums = Vec::new();
        for step in (0..self.path.len()).rev() {
            let table = self.steps.of_step(step);
            let (local, here) = (self.local(step), self.frontier(step + 1));
            let local = &self.local[local];
            // Both ways to each state, summed over all but the last variable.
            sums.clear();
            sums.resize(table.width, 0.0);
            let rows = self.forward[here.clone()].chunks_exact(table.width);
            for (to, from) in rows.zip(self.backward[here.clone()].chunks_exact(table.width)) {
                for ((sum, to), from) in sums.iter_mut().zip(to).zip(from) {
                    *sum += to * from;
                }
            }
            let all: f64 = sums.iter().sum();
            let variable = self.path.variable(step);
            let states = graph.states(variable).start;
            for (&label, sum) in self.domains.labels(variable).iter().zip(&sums) {
                self.marginals[states + label as usize] = sum / all;
            }
            let (before, after) = self.backward.split_at_mut(here.start);
            let (before, after) = (&mut before[self.start[step]..], &mut after[..here.len()]);
            let reached = &self.forward[self.start[step]..here.start];
            scale_rows(after, local);
            kernels::backward::<false>(&table.rows, table.width, reached, &table.linear, after, before);
            let all = dot(before, reached);
            if all < SMALLEST {
                return false;
            }
            scale(after, 1.0 / all);
            let top = before
                .iter()
                .fold(0.0, |top, &entry| if entry > top { entry } else { top });
            scale(before, 1.0 / top);
        }
        true
    }

    /// The best score of what leads to each state.
    fn collect_maxima(&mut self) -> Result<(), Error> {
        self.forward[0] = 0.0;
        for step in 0..self.path.len() {
            let table = self.steps.of_step(step);
            let (before, after) = self.forward.split_at_mut(self.start[step + 1]);
            let before = &before[self.start[step]..];
            let after = &mut after[..self.start[step + 2] - self.start[step + 1]];
            kernels::forward::<true>(&table.rows, table.width, before, &table.scores, after);
            let local = &self.local[self.local_start[step]..self.local_start[step + 1]];
            let top = add_to_rows(after, local);
            if top == f64::NEG_INFINITY {
                let variable = self.path.variable(step);
                return Err(Error::Contradiction { variable });
            }
        }
        Ok(())
    }

    /// The best labels, from the last state back to the first.
    fn decode(&self, graph: &FactorGraph) -> Vec<u32> {
        let mut labels = vec![0; graph.variables()];
        let last = &self.forward[self.frontier(self.path.len())];
        let mut state = best(last.iter().copied().enumerate());
        for step in (0..self.path.len()).rev() {
            let table = self.steps.of_step(step);
            let label = state % table.width;
            let variable = self.path.variable(step);
            labels[variable as usize] = self.domains.labels(variable)[label];
            let before = &self.forward[self.frontier(step)];
            let leading = table
                .rows
                .iter()
                .filter(|row| row.after as usize + label == state);
            state = best(leading.map(|row| {
                let score = before[row.before as usize] + table.scores[row.table as usize + label];
                (row.before as usize, score)
            }));
        }
        labels
    }

    /// Adds the products of what leads to each entry of the table of a step and what follows it.
    fn add_step(&self, step: usize, sums: &mut [f64]) {
        let table = self.steps.of_step(step);
        let before = &self.forward[self.frontier(step)];
        let after = &self.backward[self.frontier(step + 1)];
        kernels::add_outer(&table.rows, table.width, before, after, sums);
    }
}

/// Where the largest number is; the first of several.
fn best(numbers: impl Iterator<Item = (usize, f64)>) -> usize {
    let first = (0, f64::NEG_INFINITY);
    numbers
        .fold(first, |best, next| if next.1 > best.1 { next } else { best })
        .0
}

/// Multiplies each row with numbers; the largest product.
fn scale_rows(table: &mut [f64], numbers: &[f64]) -> f64 {
    let mut tops = [0.0; LANES];
    for row in table.chunks_exact_mut(numbers.len()) {
        for (entries, numbers) in row.chunks_exact_mut(LANES).zip(numbers.chunks_exact(LANES)) {
            for lane in 0..LANES {
                entries[lane] *= numbers[lane];
                tops[lane] = if entries[lane] > tops[lane] {
                    entries[lane]
                } else {
                    tops[lane]
                };
            }
        }
    }
    tops.into_iter().fold(0.0, f64::max)
}

/// Σ a · b
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.into_iter().sum::<f64>() + rest
}

/// Adds numbers to each row; the largest sum.
fn add_to_rows(table: &mut [f64], numbers: &[f64]) -> f64 {
    let mut tops = [f64::NEG_INFINITY; LANES];
    for row in table.chunks_exact_mut(numbers.len()) {
        for (entries, numbers) in row.chunks_exact_mut(LANES).zip(numbers.chunks_exact(LANES)) {
            for lane in 0..LANES {
                entries[lane] += numbers[lane];
                tops[lane] = if entries[lane] > tops[lane] {
                    entries[lane]
                } else {
                    tops[lane]
                };
            }
        }
    }
    tops.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// Multiplies all with a number.
fn scale(table: &mut [f64], by: f64) {
    table.iter_mut().for_each(|entry| *entry *= by);
}

impl ProductChain {
    /// [`Engine::sum`] of the graph for which tables were prepared.
    pub(crate) fn sum_prepared<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        match self.collect()? {
            Some(log_z) if self.distribute(graph) => Ok(Beliefs {
                graph,
                log_z: LogZ::Exact(log_z),
                variables: &self.marginals,
                factors: &*self,
                report: Report::exact(2 * self.path.len() as u64),
            }),
            _ => self.in_log_space.sum(graph),
        }
    }

    /// [`Engine::max`] of the graph for which tables were prepared.
    pub(crate) fn max_prepared(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        self.collect_maxima()?;
        let labels = self.decode(graph);
        let score = graph.score(&labels)?;
        Ok(Decoding {
            labels,
            score,
            bound: Some(score),
            report: Report::exact(self.path.len() as u64),
        })
    }
}

impl Engine for ProductChain {
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        self.plan(graph)?;
        self.prepare(graph)?;
        self.sum_prepared(graph)
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        self.plan(graph)?;
        self.prepare(graph)?;
        self.max_prepared(graph)
    }
}

impl MaxMarginals for ProductChain {
    fn max_marginals(&mut self, graph: &FactorGraph) -> Result<&[f64], Error> {
        self.plan(graph)?;
        self.prepare(graph)?;
        self.collect_maxima()?;
        self.marginals.clear();
        self.marginals.resize(graph.all_states(), f64::NEG_INFINITY);
        let last = self.frontier(self.path.len());
        self.backward[last].fill(0.0);
        for step in (0..self.path.len()).rev() {
            let table = self.steps.of_step(step);
            let (local, here) = (self.local(step), self.frontier(step + 1));
            let variable = self.path.variable(step);
            let states = graph.states(variable).start;
            let labels = self.domains.labels(variable);
            let rows = self.forward[here.clone()].chunks_exact(table.width);
            for (to, from) in rows.zip(self.backward[here.clone()].chunks_exact(table.width)) {
                for ((&label, to), from) in labels.iter().zip(to).zip(from) {
                    let marginal = &mut self.marginals[states + label as usize];
                    *marginal = marginal.max(to + from);
                }
            }
            let (before, after) = self.backward.split_at_mut(here.start);
            let (before, after) = (&mut before[self.start[step]..], &mut after[..here.len()]);
            let reached = &self.forward[self.start[step]..here.start];
            add_to_rows(after, &self.local[local]);
            kernels::backward::<true>(&table.rows, table.width, reached, &table.scores, after, before);
        }
        Ok(&self.marginals)
    }
}

impl FactorBeliefs for ProductChain {
    fn factor(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        let steps = graph.scope(factor).iter();
        let Some(step) = steps.map(|&variable| self.path.step_of(variable)).max() else {
            return;
        };
        let table = self.steps.of_step(step);
        let mut sums = vec![0.0; table.linear.len()];
        self.add_step(step, &mut sums);
        for (sum, number) in sums.iter_mut().zip(&table.linear) {
            *sum *= number;
        }
        let (domains, path) = (&self.domains, &self.path);
        StepTables::for_each_factor(graph, domains, path, step, &sums, |of_step, sums, walk| {
            if of_step == factor {
                walk.sums(sums, into);
            }
        });
    }

    fn add_all(&self, graph: &FactorGraph, times: f64, into: &mut dyn TableSums) -> bool {
        for factor in 0..graph.factors() {
            if let &[variable] = graph.scope(factor) {
                let marginals = &self.marginals[graph.states(variable)];
                let table = into.table(graph.table_of(factor));
                for (sum, marginal) in table.iter_mut().zip(marginals) {
                    *sum += times * marginal;
                }
            }
        }
        // One sum for each table, whichever factors share it.
        let mut steps_of = vec![Vec::new(); self.steps.len()];
        for step in 0..self.path.len() {
            if !self.path.factors(step).is_empty() {
                steps_of[self.steps.number(step)].push(step);
            }
        }
        let mut sums = Vec::new();
        for steps in steps_of {
            let Some(&first) = steps.first() else {
                continue;
            };
            let table = self.steps.of_step(first);
            sums.clear();
            sums.resize(table.linear.len(), 0.0);
            for &step in &steps {
                self.add_step(step, &mut sums);
            }
            for (sum, number) in sums.iter_mut().zip(&table.linear) {
                *sum *= times * number;
            }
            let (domains, path) = (&self.domains, &self.path);
            StepTables::for_each_factor(graph, domains, path, first, &sums, |factor, sums, walk| {
                walk.sums(sums, into.table(graph.table_of(factor)));
            });
        }
        true
    }
}
