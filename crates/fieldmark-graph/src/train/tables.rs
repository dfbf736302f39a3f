//! From the gradient of the tables of a graph back to that of weights.

use crate::data::GraphInstance;
use crate::engine::TableSums;
use crate::structure::Structure;
use crate::unroll::Unrolled;
use fieldmark_core::feature_table::features_of;

/// The gradient with respect to tables.
#[derive(Clone, Debug, Default)]
pub(super) struct TableGradient {
    /// By template, summed over instances.
    pub base: Vec<Vec<f64>>,
    /// Of the own tables of one instance, one after the other.
    own: Vec<f64>,
    /// Where each of them begins.
    own_start: Vec<usize>,
}

impl TableSums for TableGradient {
    fn table(&mut self, table: u32) -> &mut [f64] {
        TableGradient::table(self, table)
    }
}

impl TableGradient {
    /// Zero for all base tables.
    pub fn start(&mut self, structure: &Structure) {
        self.base.resize(structure.templates.len(), Vec::new());
        for (template, table) in structure.templates.iter().zip(&mut self.base) {
            table.clear();
            table.resize(template.width(), 0.0);
        }
    }

    /// Zero for the own tables of an instance.
    pub fn start_instance(&mut self, unrolled: &Unrolled) {
        self.own_start.clear();
        let mut end = 0;
        for &factor in &unrolled.own {
            self.own_start.push(end);
            end += unrolled.graph.scores(factor as usize).len();
        }
        self.own_start.push(end);
        self.own.clear();
        self.own.resize(end, 0.0);
    }

    /// The gradient of a table.
    #[inline]
    pub fn table(&mut self, table: u32) -> &mut [f64] {
        match (table as usize).checked_sub(self.base.len()) {
            None => &mut self.base[table as usize],
            Some(own) => &mut self.own[self.own_start[own]..self.own_start[own + 1]],
        }
    }

    /// Adds `by` times the gradient of own tables to that of weights, and all of it to that of base tables.
    pub fn finish_instance(
        &mut self,
        structure: &Structure,
        instance: GraphInstance<'_>,
        unrolled: &mut Unrolled,
        by: f64,
        gradient: &mut [f64],
    ) {
        let mut scratch = std::mem::take(&mut unrolled.scratch);
        for (&factor, borders) in unrolled.own.iter().zip(self.own_start.windows(2)) {
            let template = unrolled.graph.template_of(factor as usize) as usize;
            let features = &structure.templates[template];
            let (offsets, entries) = (features.rows.offsets(), features.rows.all_columns());
            let weights = &mut gradient[features.row_weights()];
            let table = &self.own[borders[0]..borders[1]];
            let positions = unrolled.positions(factor as usize);
            structure.for_each_observation(template, instance, positions, &mut scratch, |id, value| {
                let row = features_of(offsets, id);
                let value = by * f64::from(value);
                for (&entry, weight) in entries[row.clone()].iter().zip(&mut weights[row]) {
                    *weight += value * table[entry as usize];
                }
            });
            for (sum, part) in self.base[template].iter_mut().zip(table) {
                *sum += part;
            }
        }
        unrolled.scratch = scratch;
    }

    /// Adds `by` times the gradient of base tables to that of biases.
    pub fn finish(&self, structure: &Structure, by: f64, gradient: &mut [f64]) {
        for (template, table) in structure.templates.iter().zip(&self.base) {
            for (&entry, weight) in template.bias.iter().zip(&mut gradient[template.bias_weights()]) {
                *weight += by * table[entry as usize];
            }
        }
    }
}
