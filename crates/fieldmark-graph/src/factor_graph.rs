//! The unrolled model of one instance: variables, factors, tables of scores.
//!
//! p(y) ∝ exp Σ_f θ_f(y_f), where y_f are the labels of the variables in the scope of factor f and θ_f is its
//! table, in the order of the scope with the last variable running fastest. All parts lie in a few flat arrays.
//! A *slot* is one place in the scope of one factor: an edge of the bipartite graph of variables and factors.

mod builder;
mod entries;
mod tables;

pub use builder::FactorGraphBuilder;
pub(crate) use entries::{AllowedEntries, Line};

use crate::bp::forest::Forest;
use crate::{Error, LabelSets};
use std::ops::Range;
use tables::Tables;

/// Variables, factors and tables; made by a [`FactorGraphBuilder`].
///
/// Tables are shared: factors whose scores come from tied weights alone refer to the same one. The structure and
/// the scores are fixed, but which labels a variable may take can change between questions, so that
/// log Z(restricted) − log Z is two calls on one graph.
#[derive(Clone, Debug, Default)]
pub struct FactorGraph {
    sets: LabelSets,
    /// Where the labels of a variable begin in an array of all labels of all variables.
    first_state: Vec<usize>,
    scope_start: Vec<usize>,
    scope: Vec<u32>,
    slot_factor: Vec<u32>,
    table_of: Vec<u32>,
    template_of: Vec<u32>,
    tables: Tables,
    incident_start: Vec<usize>,
    incident: Vec<u32>,
    magnitude: f64,
}

impl FactorGraph {
    /// An empty builder that reuses the memory of this graph.
    pub fn recycle(self) -> FactorGraphBuilder {
        self.recycle_keeping_tables(0)
    }

    /// An empty builder that reuses the memory of this graph and has its first tables already.
    pub fn recycle_keeping_tables(self, tables: usize) -> FactorGraphBuilder {
        FactorGraphBuilder::reuse(self, tables)
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.sets.variables()
    }

    /// Number of labels of a variable, allowed or not.
    ///
    /// # Panics
    /// If the variable does not exist; questions about a factor or a table that does not exist panic, too.
    pub fn labels(&self, variable: u32) -> u32 {
        self.sets.labels(variable)
    }

    /// Which labels the variables may take.
    pub fn label_sets(&self) -> &LabelSets {
        &self.sets
    }

    /// Changes which labels the variables may take.
    pub fn label_sets_mut(&mut self) -> &mut LabelSets {
        &mut self.sets
    }

    /// Lets a variable take the given labels only.
    pub fn restrict(&mut self, variable: u32, labels: impl IntoIterator<Item = u32>) -> Result<(), Error> {
        self.sets.set(variable, labels)
    }

    /// Lets a variable take one label only.
    pub fn clamp(&mut self, variable: u32, label: u32) -> Result<(), Error> {
        self.sets.clamp(variable, label)
    }

    /// Lets a variable take every label again.
    pub fn release(&mut self, variable: u32) -> Result<(), Error> {
        self.sets.release(variable)
    }

    /// Number of factors.
    pub fn factors(&self) -> usize {
        self.table_of.len()
    }

    /// The variables that a factor joins.
    pub fn scope(&self, factor: usize) -> &[u32] {
        &self.scope[self.slots(factor)]
    }

    /// The scores of a factor, with the last variable running fastest.
    pub fn scores(&self, factor: usize) -> &[f64] {
        self.tables.scores(self.table_of[factor])
    }

    /// The table of a factor.
    pub fn table_of(&self, factor: usize) -> u32 {
        self.table_of[factor]
    }

    /// The template of a factor.
    pub fn template_of(&self, factor: usize) -> u32 {
        self.template_of[factor]
    }

    /// Number of tables.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// The scores of a table.
    pub fn table(&self, table: u32) -> &[f64] {
        self.tables.scores(table)
    }

    /// The label counts of the sides of a table.
    pub fn table_shape(&self, table: u32) -> &[u32] {
        self.tables.shape(table)
    }

    /// An upper bound of the magnitude of any sum of scores.
    pub(crate) fn magnitude(&self) -> f64 {
        self.magnitude
    }

    /// The factors that a variable takes part in.
    pub fn factors_of(&self, variable: u32) -> impl Iterator<Item = usize> + '_ {
        self.incident(variable)
            .iter()
            .map(|&slot| self.slot_factor[slot as usize] as usize)
    }

    /// The number of the tree that each variable is in; `None` if a factor closes a cycle.
    pub fn trees(&self) -> Option<Vec<u32>> {
        let mut forest = Forest::default();
        forest.lay(self, |_| true).ok()?;
        Some(forest.trees())
    }

    /// The score of a labelling, −∞ if it is not allowed.
    pub fn score(&self, labels: &[u32]) -> Result<f64, Error> {
        if labels.len() != self.variables() {
            let (found, expected) = (labels.len(), self.variables());
            return Err(Error::Length { found, expected });
        }
        for (variable, &label) in (0..).zip(labels) {
            let count = self.labels(variable);
            if label >= count {
                let (of, number) = ("variable", variable);
                return Err(Error::UnknownLabel {
                    of,
                    number,
                    label,
                    labels: count,
                });
            }
            if !self.sets.contains(variable, label) {
                return Ok(f64::NEG_INFINITY);
            }
        }
        Ok((0..self.factors())
            .map(|factor| self.scores(factor)[self.entry(factor, labels)])
            .sum())
    }

    /// The index of a labelling in the table of a factor.
    pub(crate) fn entry(&self, factor: usize, labels: &[u32]) -> usize {
        self.scope(factor).iter().fold(0, |entry, &variable| {
            entry * self.labels(variable) as usize + labels[variable as usize] as usize
        })
    }

    pub(crate) fn slots(&self, factor: usize) -> Range<usize> {
        self.scope_start[factor]..self.scope_start[factor + 1]
    }

    pub(crate) fn all_slots(&self) -> usize {
        self.scope.len()
    }

    pub(crate) fn slot_variable(&self, slot: usize) -> u32 {
        self.scope[slot]
    }

    pub(crate) fn slot_factor(&self, slot: usize) -> usize {
        self.slot_factor[slot] as usize
    }

    pub(crate) fn arity(&self, factor: usize) -> usize {
        self.slots(factor).len()
    }

    /// The slots of a variable, in the order of factors.
    pub(crate) fn incident(&self, variable: u32) -> &[u32] {
        let variable = variable as usize;
        &self.incident[self.incident_start[variable]..self.incident_start[variable + 1]]
    }

    /// Where the labels of a variable lie in an array of all labels of all variables.
    pub(crate) fn states(&self, variable: u32) -> Range<usize> {
        self.first_state[variable as usize]..self.first_state[variable as usize + 1]
    }

    pub(crate) fn all_states(&self) -> usize {
        self.first_state.last().copied().unwrap_or(0)
    }

    /// The sum of the unary scores of a variable, −∞ where a label is not allowed.
    pub(crate) fn local_scores(&self, variable: u32, into: &mut [f64]) {
        into.fill(0.0);
        for &slot in self.incident(variable) {
            let factor = self.slot_factor(slot as usize);
            if self.arity(factor) == 1 {
                for (sum, score) in into.iter_mut().zip(self.scores(factor)) {
                    *sum += score;
                }
            }
        }
        if !self.sets.is_full(variable) {
            for (label, sum) in (0..).zip(into) {
                if !self.sets.contains(variable, label) {
                    *sum = f64::NEG_INFINITY;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
