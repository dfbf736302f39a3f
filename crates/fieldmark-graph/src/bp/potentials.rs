//! The scores of a graph in the form that messages are computed from.
//!
//! Unary factors and label sets become one vector per variable. Each table of two variables is stored twice, by
//! rows and by columns, in padded rows, once for all factors that share it. The largest score of everything is
//! taken out first and kept in `offset`.

use super::algebra::Algebra;
use super::kernels::Scalar;
use crate::{Error, FactorGraph};
use std::marker::PhantomData;
use std::ops::Range;

#[derive(Clone, Debug, Default)]
pub(crate) struct Potentials<T, A> {
    /// Local potentials of all variables, padded.
    local: Vec<T>,
    local_start: Vec<usize>,
    tables: Vec<T>,
    /// Where a table begins, or `usize::MAX` where it is not used by two or more variables.
    table_start: Vec<usize>,
    table_offset: Vec<f64>,
    /// Sum of everything that was taken out.
    pub(crate) offset: f64,
    /// Whether no combination of labels is forbidden by a table.
    pub(crate) dense: bool,
    /// The largest spread of the finite scores of a table or a variable.
    pub(crate) spread: f64,
    scores: Vec<f64>,
    algebra: PhantomData<A>,
}

/// The length of a vector of labels in whole SIMD vectors.
pub(crate) fn padded<T: Scalar>(labels: u32) -> usize {
    (labels as usize).next_multiple_of(T::LANES)
}

impl<T: Scalar, A: Algebra<T>> Potentials<T, A> {
    /// Fills the arrays for a graph.
    pub(crate) fn prepare(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.offset = 0.0;
        self.dense = true;
        self.spread = 0.0;
        self.prepare_local(graph)?;
        self.prepare_tables(graph)
    }

    fn prepare_local(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.local.clear();
        self.local_start.clear();
        self.local_start.push(0);
        for variable in 0..graph.variables() as u32 {
            self.scores.clear();
            self.scores.resize(graph.labels(variable) as usize, 0.0);
            graph.local_scores(variable, &mut self.scores);
            let (lowest, highest) = range(&self.scores);
            if highest == f64::NEG_INFINITY {
                return Err(Error::Contradiction { variable });
            }
            self.spread = self.spread.max(highest - lowest);
            self.offset += highest;
            self.push_local(highest, padded::<T>(graph.labels(variable)));
        }
        Ok(())
    }

    fn push_local(&mut self, highest: f64, width: usize) {
        let start = self.local.len();
        self.local
            .extend(self.scores.iter().map(|score| T::from_f64(score - highest)));
        A::from_log(&mut self.local[start..]);
        self.local.resize(start + width, A::ZERO);
        self.local_start.push(self.local.len());
    }

    fn prepare_tables(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.tables.clear();
        self.table_start.clear();
        self.table_start.resize(graph.tables(), usize::MAX);
        self.table_offset.clear();
        self.table_offset.resize(graph.tables(), 0.0);
        for factor in 0..graph.factors() {
            if graph.arity(factor) < 2 {
                continue;
            }
            let table = graph.table_of(factor);
            if self.table_start[table as usize] == usize::MAX {
                self.prepare_table(graph, table, graph.scope(factor)[0])?;
            }
            self.offset += self.table_offset[table as usize];
        }
        Ok(())
    }

    fn prepare_table(&mut self, graph: &FactorGraph, table: u32, variable: u32) -> Result<(), Error> {
        let scores = graph.table(table);
        let (lowest, highest) = range(scores);
        if highest == f64::NEG_INFINITY {
            return Err(Error::Contradiction { variable });
        }
        self.spread = self.spread.max(highest - lowest);
        self.dense &= !scores.contains(&f64::NEG_INFINITY);
        self.table_offset[table as usize] = highest;
        let start = self.tables.len();
        self.table_start[table as usize] = start;
        let convert = |score: &f64| T::from_f64(score - highest);
        let &[rows, columns] = graph.table_shape(table) else {
            self.tables.extend(scores.iter().map(convert));
            A::from_log(&mut self.tables[start..]);
            return Ok(());
        };
        let (width, height) = (padded::<T>(columns), padded::<T>(rows));
        let columns = columns as usize;
        for row in scores.chunks_exact(columns) {
            self.tables.extend(row.iter().map(convert));
            // Becomes ZERO together with the scores.
            let end = self.tables.len() + width - columns;
            self.tables.resize(end, T::NEG_INFINITY);
        }
        A::from_log(&mut self.tables[start..]);
        let by_columns = self.tables.len();
        self.tables.resize(by_columns + columns * height, A::ZERO);
        let (by_row, by_column) = self.tables[start..].split_at_mut(by_columns - start);
        for (row, values) in by_row.chunks_exact(width).enumerate() {
            for (column, &value) in values[..columns].iter().enumerate() {
                by_column[column * height + row] = value;
            }
        }
        Ok(())
    }

    /// Whether the spread of every table suits linear space.
    pub(crate) fn is_narrow(&self) -> bool {
        self.spread <= T::TABLE_RANGE
    }

    /// Where the vector of a variable lies among those of all variables.
    pub(crate) fn vector(&self, variable: u32) -> Range<usize> {
        self.local_start[variable as usize]..self.local_start[variable as usize + 1]
    }

    pub(crate) fn local(&self, variable: u32) -> &[T] {
        &self.local[self.vector(variable)]
    }

    /// Removes a label for good.
    pub(crate) fn kill(&mut self, variable: u32, label: usize) {
        let start = self.local_start[variable as usize];
        self.local[start + label] = A::ZERO;
    }

    /// The table of a factor of two variables, in rows of the variable on the given side.
    pub(crate) fn matrix(&self, graph: &FactorGraph, factor: usize, rows_of: usize) -> &[T] {
        let &[first, second] = graph.scope(factor) else {
            unreachable!("only factors of two variables have a matrix");
        };
        let (first, second) = (graph.labels(first), graph.labels(second));
        let start = self.table_start[graph.table_of(factor) as usize];
        let by_first = first as usize * padded::<T>(second);
        if rows_of == 0 {
            &self.tables[start..start + by_first]
        } else {
            &self.tables[start + by_first..start + by_first + second as usize * padded::<T>(first)]
        }
    }

    /// The table of a factor of three or more variables.
    pub(crate) fn table(&self, graph: &FactorGraph, factor: usize) -> &[T] {
        let start = self.table_start[graph.table_of(factor) as usize];
        &self.tables[start..start + graph.scores(factor).len()]
    }
}

/// Lowest and highest of the scores that are not −∞.
fn range(scores: &[f64]) -> (f64, f64) {
    let possible = scores.iter().copied().filter(|score| *score > f64::NEG_INFINITY);
    possible.fold((f64::INFINITY, f64::NEG_INFINITY), |(lowest, highest), score| {
        (lowest.min(score), highest.max(score))
    })
}
