//! [`Descent`]: a step down the gradient of one instance, in place.

use crate::train::block::{Block, Column};
use crate::train::objective::{ChainObjective, Field};
use crate::train::pass::{Group, Places};
use crate::train::sums::{Sums, Totals};
use fieldmark_core::Instance;
use fieldmark_core::optimize::{InstanceObjective, Objective};
use std::ops::Range;

/// Takes steps along the gradients of single instances, changing only the weights of their observations and
/// those that all share.
pub(in crate::train) struct Descent {
    rows: Vec<f64>,
    pair_rows: Vec<f64>,
    group: Group<f64>,
    /// Where the holes of each dense row start.
    holes: Vec<u32>,
    pair_holes: Vec<u32>,
}

impl Descent {
    fn new(field: &Field<'_, f64>) -> Self {
        Self {
            rows: Vec::new(),
            pair_rows: Vec::new(),
            group: Group {
                places: 0..1,
                positions: 0,
                sums: Sums::default(),
            },
            holes: field.unary.hole_starts(),
            pair_holes: field.pair.as_ref().map(Block::hole_starts).unwrap_or_default(),
        }
    }

    /// The loss of an instance under the weights `scale` · `x`.
    fn loss(&mut self, objective: &mut ChainObjective<'_, f64>, index: u32, x: &[f64], scale: f64) -> f64 {
        objective.field.set_weights(x, scale);
        let ChainObjective { field, scratch, .. } = objective;
        let length = field.data.instance(index as usize).len();
        self.group.positions = length;
        self.group.sums.clear(field);
        self.rows.resize(length * field.stride, 0.0);
        self.pair_rows.resize(length * field.pair_stride, 0.0);
        let mut worker = scratch.workers[0]
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let (rows, pair_rows) = (&mut self.rows, &mut self.pair_rows);
        let instance = Places::List(std::slice::from_ref(&index));
        field.run_group(&mut self.group, rows, pair_rows, &mut worker, x, instance);
        self.group.sums.loss
    }

    /// [`Descent::loss`], and moves `x` by −`gain` times its gradient with respect to the weights.
    fn step(
        &mut self,
        objective: &mut ChainObjective<'_, f64>,
        index: u32,
        x: &mut [f64],
        scale: f64,
        gain: f64,
    ) -> f64 {
        let loss = self.loss(objective, index, x, scale);
        let field = &objective.field;
        let instance = field.data.instance(index as usize);
        let (unary, pair) = x.split_at_mut(field.unary.cells());
        descend(
            &field.unary,
            &self.holes,
            instance,
            &mut self.rows,
            field.stride,
            unary,
            gain,
        );
        if let Some(block) = &field.pair {
            let rows = &mut self.pair_rows;
            descend(
                block,
                &self.pair_holes,
                instance,
                rows,
                field.pair_stride,
                pair,
                gain,
            );
        }
        let mut totals = Totals::new(field);
        totals.add(&self.group.sums);
        field.add_shared_gradient(&totals, -gain, x);
        loss
    }
}

fn descend<C: Column>(
    block: &Block<C>,
    holes: &[u32],
    instance: Instance<'_>,
    rows: &mut [f64],
    stride: usize,
    cells: &mut [f64],
    gain: f64,
) {
    rows.iter_mut().for_each(|difference| *difference *= -gain);
    block.scatter(None, &mut block.whole(cells), instance.positions(), rows, stride);
    block.clear_holes(holes, instance.positions(), cells);
}

impl ChainObjective<'_, f64> {
    /// Lends the scratch memory of steps.
    fn with_descent<R>(&mut self, run: impl FnOnce(&mut Self, &mut Descent) -> R) -> R {
        let kept = self.descent.take();
        let mut descent = kept.unwrap_or_else(|| Box::new(Descent::new(&self.field)));
        let result = run(self, &mut descent);
        self.descent = Some(descent);
        result
    }
}

impl InstanceObjective for ChainObjective<'_, f64> {
    fn loss_of(&mut self, instance: u32, x: &[f64], scale: f64) -> f64 {
        self.with_descent(|objective, descent| descent.loss(objective, instance, x, scale))
    }

    fn descend(&mut self, instance: u32, x: &mut [f64], scale: f64, gain: f64) -> f64 {
        self.with_descent(|objective, descent| descent.step(objective, instance, x, scale, gain))
    }

    fn for_each_changed(&self, instance: u32, mut visit: &mut dyn FnMut(Range<usize>)) {
        let field = &self.field;
        for position in field.data.instance(instance as usize).positions() {
            field.unary.for_each_cells(position, &mut visit);
            if let Some(pair) = &field.pair {
                let first = field.unary.cells();
                pair.for_each_cells(position, |range| visit(first + range.start..first + range.end));
            }
        }
        visit(field.tuple_cells().start..self.len());
    }
}
