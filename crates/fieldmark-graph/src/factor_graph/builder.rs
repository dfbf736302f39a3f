//! [`FactorGraphBuilder`]: everything is checked where it is added.

use super::{FactorGraph, Tables};
use crate::{Error, LabelSets};

/// Scores may not add up to more than this, so that sums and differences of them stay finite.
const LARGEST_SUM: f64 = 1e300;

/// Collects variables, tables and factors, then becomes a [`FactorGraph`].
///
/// A refused call changes nothing. [`FactorGraph::recycle`] gives the builder back, with its memory.
///
/// ```
/// use fieldmark_graph::FactorGraphBuilder;
///
/// let mut builder = FactorGraphBuilder::default();
/// let (word, next) = (builder.variable(2)?, builder.variable(2)?);
/// let stay = builder.table(&[2, 2], &[1.0, 0.0, 0.0, 1.0])?;
/// builder.factor(0, &[word, next], stay)?;
/// builder.factor_with(1, &[word], &[0.0, 0.5])?;
/// let graph = builder.build();
/// assert_eq!(graph.score(&[1, 1])?, 1.5);
/// # Ok::<(), fieldmark_graph::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FactorGraphBuilder {
    sets: LabelSets,
    scope_end: Vec<usize>,
    scope: Vec<u32>,
    table_of: Vec<u32>,
    template_of: Vec<u32>,
    tables: Tables,
    /// An upper bound of the magnitude of any sum of scores.
    magnitude: f64,
    /// The label counts of one scope.
    sides: Vec<u32>,
    spare: FactorGraph,
}

impl FactorGraphBuilder {
    pub(super) fn reuse(mut graph: FactorGraph, tables: usize) -> Self {
        let mut builder = Self {
            sets: std::mem::take(&mut graph.sets),
            scope_end: std::mem::take(&mut graph.scope_start),
            scope: std::mem::take(&mut graph.scope),
            table_of: std::mem::take(&mut graph.table_of),
            template_of: std::mem::take(&mut graph.template_of),
            tables: std::mem::take(&mut graph.tables),
            magnitude: 0.0,
            sides: Vec::new(),
            spare: graph,
        };
        builder.clear_keeping_tables(tables);
        builder
    }

    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.clear_keeping_tables(0);
    }

    /// Forgets everything but the first tables and the memory.
    pub fn clear_keeping_tables(&mut self, tables: usize) {
        self.sets.clear();
        self.scope_end.clear();
        self.scope.clear();
        self.table_of.clear();
        self.template_of.clear();
        self.tables.truncate(tables);
        self.magnitude = 0.0;
    }

    /// Adds a variable and returns its number.
    pub fn variable(&mut self, labels: u32) -> Result<u32, Error> {
        let what = "variables";
        let variable = number(self.sets.variables(), what)?;
        if labels == 0 {
            return Err(Error::EmptyLabelSet { variable, labels });
        }
        self.sets.push(labels);
        Ok(variable)
    }

    /// Number of variables so far.
    pub fn variables(&self) -> usize {
        self.sets.variables()
    }

    /// Number of tables so far.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Adds a table that any number of factors may share, and returns its number. −∞ forbids an entry.
    pub fn table(&mut self, shape: &[u32], scores: &[f64]) -> Result<u32, Error> {
        self.tables.push(shape, scores)
    }

    /// Forbids one combination of labels wherever a table is used.
    pub fn forbid(&mut self, table: u32, labels: &[u32]) -> Result<(), Error> {
        self.check_table(table)?;
        self.tables.forbid(table, labels)
    }

    /// Adds a factor of a template that uses a shared table, and returns its number.
    pub fn factor(&mut self, template: u32, scope: &[u32], table: u32) -> Result<usize, Error> {
        self.check_scope(scope)?;
        self.check_table(table)?;
        if !self.tables.shape(table).iter().copied().eq(self.sides(scope)) {
            let (factor, found) = (self.table_of.len(), self.tables.shape(table).to_vec());
            let expected = self.sides(scope).collect();
            return Err(Error::TableShape {
                factor,
                table,
                found,
                expected,
            });
        }
        self.check_magnitude(self.tables.magnitude(table))?;
        Ok(self.push(template, scope, table))
    }

    /// Adds a factor of a template that has a table of its own, and returns its number.
    pub fn factor_with(&mut self, template: u32, scope: &[u32], scores: &[f64]) -> Result<usize, Error> {
        self.check_scope(scope)?;
        let mut sides = std::mem::take(&mut self.sides);
        sides.clear();
        sides.extend(self.sides(scope));
        let pushed = self.tables.push(&sides, scores);
        self.sides = sides;
        let table = pushed?;
        if let Err(error) = self.check_magnitude(self.tables.magnitude(table)) {
            self.tables.truncate(table as usize);
            return Err(error);
        }
        Ok(self.push(template, scope, table))
    }

    /// Lets a variable take the given labels only.
    pub fn restrict(&mut self, variable: u32, labels: impl IntoIterator<Item = u32>) -> Result<(), Error> {
        self.sets.set(variable, labels)
    }

    /// Lets a variable take one label only.
    pub fn clamp(&mut self, variable: u32, label: u32) -> Result<(), Error> {
        self.sets.clamp(variable, label)
    }

    /// The graph.
    pub fn build(self) -> FactorGraph {
        let mut graph = FactorGraph {
            sets: self.sets,
            scope_start: self.scope_end,
            scope: self.scope,
            table_of: self.table_of,
            template_of: self.template_of,
            tables: self.tables,
            magnitude: self.magnitude,
            ..self.spare
        };
        graph.scope_start.insert(0, 0);
        graph.index_states();
        graph.index_slots();
        graph
    }

    fn push(&mut self, template: u32, scope: &[u32], table: u32) -> usize {
        self.magnitude += self.tables.magnitude(table);
        self.scope.extend_from_slice(scope);
        self.scope_end.push(self.scope.len());
        self.table_of.push(table);
        self.template_of.push(template);
        self.table_of.len() - 1
    }

    fn sides<'s>(&'s self, scope: &'s [u32]) -> impl Iterator<Item = u32> + 's {
        scope.iter().map(|&variable| self.sets.labels(variable))
    }

    fn check_table(&self, table: u32) -> Result<(), Error> {
        if table as usize >= self.tables.len() {
            let tables = self.tables.len();
            return Err(Error::UnknownTable { table, tables });
        }
        Ok(())
    }

    fn check_scope(&self, scope: &[u32]) -> Result<(), Error> {
        let factor = self.table_of.len();
        if scope.is_empty() {
            return Err(Error::EmptyScope { factor });
        }
        for (place, &variable) in scope.iter().enumerate() {
            if variable as usize >= self.variables() {
                let variables = self.variables();
                return Err(Error::UnknownVariable { variable, variables });
            }
            if scope[..place].contains(&variable) {
                return Err(Error::RepeatedVariable { factor, variable });
            }
        }
        number(self.scope.len() + scope.len(), "places in factors").map(|_| ())
    }

    fn check_magnitude(&self, magnitude: f64) -> Result<(), Error> {
        if self.magnitude + magnitude > LARGEST_SUM {
            let factors = self.table_of.len() + 1;
            return Err(Error::TooLarge { magnitude, factors });
        }
        Ok(())
    }
}

impl FactorGraph {
    fn index_states(&mut self) {
        self.first_state.clear();
        self.first_state.push(0);
        let mut end = 0;
        for variable in 0..self.variables() as u32 {
            end += self.labels(variable) as usize;
            self.first_state.push(end);
        }
    }

    /// The factor of each slot, and the slots of each variable by counting.
    fn index_slots(&mut self) {
        self.slot_factor.clear();
        for factor in 0..self.factors() {
            let end = self.scope_start[factor + 1];
            self.slot_factor.resize(end, factor as u32);
        }
        self.incident_start.clear();
        self.incident_start.resize(self.variables() + 1, 0);
        for &variable in &self.scope {
            self.incident_start[variable as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.incident_start {
            end += *start;
            *start = end;
        }
        self.incident.clear();
        self.incident.resize(self.scope.len(), 0);
        for (slot, &variable) in self.scope.iter().enumerate().rev() {
            let place = &mut self.incident_start[variable as usize];
            *place -= 1;
            self.incident[*place] = slot as u32;
        }
    }
}

fn number(count: usize, what: &'static str) -> Result<u32, Error> {
    let limit = u32::MAX as usize;
    u32::try_from(count).map_err(|_| Error::TooMany { what, limit })
}
