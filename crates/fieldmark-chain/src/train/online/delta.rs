//! [`Delta`]: the difference of the features of two label sequences.

use crate::train::block::{Block, Column};
use crate::train::objective::Field;
use fieldmark_core::Instance;

/// Collects differences of feature values by weight.
pub(super) struct Delta {
    /// Zero between uses.
    values: Vec<f64>,
    touched: Vec<u32>,
    entries: Vec<(u32, f64)>,
    /// Marks the cells of dense rows that belong to no feature; empty when there are none.
    holes: Vec<u64>,
}

impl Delta {
    pub(super) fn new(field: &Field<'_, f64>, weights: usize) -> Self {
        let mut holes = Vec::new();
        let mut mark = |first: usize, list: &[u32]| {
            for &hole in list {
                let cell = first + hole as usize;
                if cell / 64 >= holes.len() {
                    holes.resize(cell / 64 + 1, 0);
                }
                holes[cell / 64] |= 1u64 << (cell % 64);
            }
        };
        mark(0, field.unary.holes());
        if let Some(pair) = &field.pair {
            mark(field.unary.cells(), pair.holes());
        }
        Self {
            values: vec![0.0; weights],
            touched: Vec::new(),
            entries: Vec::new(),
            holes,
        }
    }

    /// The cells in which the features of two sequences differ, with those of `target` minus those of
    /// `predicted`. Zeros are left out, and each cell comes once.
    pub(super) fn between(
        &mut self,
        field: &Field<'_, f64>,
        instance: Instance<'_>,
        target: &[u32],
        predicted: &[u32],
    ) -> &[(u32, f64)] {
        self.add_positions(field, instance, target, predicted);
        self.add_pairs(field, instance, target, predicted);
        self.add_tuples(field, target, predicted);
        self.entries.clear();
        for cell in self.touched.drain(..) {
            let value = std::mem::take(&mut self.values[cell as usize]);
            if value != 0.0 {
                self.entries.push((cell, value));
            }
        }
        &self.entries
    }

    #[inline(always)]
    fn add(&mut self, cell: usize, value: f64) {
        let sum = &mut self.values[cell];
        if *sum == 0.0 {
            self.touched.push(cell as u32);
        }
        *sum += value;
    }

    fn add_column<C: Column>(
        &mut self,
        block: &Block<C>,
        first: usize,
        position: usize,
        column: usize,
        sign: f64,
    ) {
        block.for_each_feature(position, column, |cell, value| {
            let cell = first + cell;
            let hole = self
                .holes
                .get(cell / 64)
                .is_some_and(|&word| word >> (cell % 64) & 1 == 1);
            if !hole {
                self.add(cell, sign * f64::from(value));
            }
        });
    }

    fn add_positions(
        &mut self,
        field: &Field<'_, f64>,
        instance: Instance<'_>,
        target: &[u32],
        predicted: &[u32],
    ) {
        let biases = field.tuple_cells().end;
        let has_bias = !field.structure.bias_weights().is_empty();
        for (t, position) in instance.positions().enumerate() {
            if target[t] == predicted[t] {
                continue;
            }
            for (label, sign) in [(target[t] as usize, 1.0), (predicted[t] as usize, -1.0)] {
                self.add_column(&field.unary, 0, position, label, sign);
                if has_bias {
                    self.add(biases + label, sign);
                }
            }
        }
    }

    fn add_pairs(
        &mut self,
        field: &Field<'_, f64>,
        instance: Instance<'_>,
        target: &[u32],
        predicted: &[u32],
    ) {
        let Some(block) = &field.pair else {
            return;
        };
        let first = field.unary.cells();
        for (t, position) in instance.positions().enumerate().skip(1) {
            let pairs = [
                ([target[t - 1], target[t]], 1.0),
                ([predicted[t - 1], predicted[t]], -1.0),
            ];
            if pairs[0].0 == pairs[1].0 {
                continue;
            }
            for (pair, sign) in pairs {
                if let Ok(column) = field.structure.pairs().binary_search(&pair) {
                    self.add_column(block, first, position, column, sign);
                }
            }
        }
    }

    fn add_tuples(&mut self, field: &Field<'_, f64>, target: &[u32], predicted: &[u32]) {
        let first = field.tuple_cells().start;
        let unrolled = field.structure.unrolled();
        let arcs = unrolled.automaton.arcs();
        for (labels, sign) in [(target, 1.0), (predicted, -1.0)] {
            let &(mut state, ref start) = &unrolled.starts[labels[0] as usize];
            start
                .iter()
                .for_each(|&tuple| self.add(first + tuple as usize, sign));
            for &label in &labels[1..] {
                let arc = field.arc(state, label);
                // A path that is not allowed comes only from scores that are no numbers.
                let (Some(list), Some(step)) = (unrolled.arc_tuples.get(arc), arcs.get(arc)) else {
                    break;
                };
                list.iter()
                    .for_each(|&tuple| self.add(first + tuple as usize, sign));
                state = step.to;
            }
            let end = &unrolled.end_tuples[state as usize];
            end.iter()
                .for_each(|&tuple| self.add(first + tuple as usize, sign));
        }
    }
}
