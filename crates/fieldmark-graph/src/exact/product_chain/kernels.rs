//! The inner loops: what a step does with the tables of the frontiers before and after it.
//!
//! A table over a frontier has a row of padded length for the labels of its last variable, and so has the table of a
//! step. For each entry before the step, a [`Row`] tells which row of the step's table and which row after the step
//! belong to it.

use fieldmark_core::kernels::{Kernel, Real, Simd, dispatch};

// Loops count by hand: only what is inlined is compiled for the instruction set, and chains of iterators are not always.

const LANES: usize = <f64 as Real>::LANES;

/// Rows are padded to whole vectors.
pub(super) fn padded(labels: usize) -> usize {
    labels.next_multiple_of(LANES)
}

/// An entry before a step, and where the rows begin that belong to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub before: u32,
    pub table: u32,
    pub after: u32,
}

/// Sums of products, or maxima of sums (`MAX`).
struct Forward<'a, const MAX: bool> {
    rows: &'a [Row],
    width: usize,
    before: &'a [f64],
    table: &'a [f64],
    after: &'a mut [f64],
}

impl<const MAX: bool> Kernel<f64> for Forward<'_, MAX> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) {
        let nothing = if MAX { f64::NEG_INFINITY } else { 0.0 };
        self.after.fill(nothing);
        let mut index = 0;
        while index < self.rows.len() {
            let row = self.rows[index];
            let number = self.before[row.before as usize];
            if number != nothing {
                let number = simd.splat(number);
                let table = &self.table[row.table as usize..row.table as usize + self.width];
                let after = &mut self.after[row.after as usize..row.after as usize + self.width];
                let mut at = 0;
                while at < self.width {
                    let entry = simd.load(&table[at..at + LANES]);
                    let cell = &mut after[at..at + LANES];
                    let old = simd.load(cell);
                    let new = if MAX {
                        simd.max(simd.add(number, entry), old)
                    } else {
                        simd.mul_add(number, entry, old)
                    };
                    simd.store(new, cell);
                    at += LANES;
                }
            }
            index += 1;
        }
    }
}

struct Backward<'a, const MAX: bool> {
    rows: &'a [Row],
    width: usize,
    reached: &'a [f64],
    table: &'a [f64],
    after: &'a [f64],
    before: &'a mut [f64],
}

impl<const MAX: bool> Kernel<f64> for Backward<'_, MAX> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) {
        let nothing = if MAX { f64::NEG_INFINITY } else { 0.0 };
        self.before.fill(nothing);
        let mut index = 0;
        while index < self.rows.len() {
            let row = self.rows[index];
            if self.reached[row.before as usize] != nothing {
                let table = &self.table[row.table as usize..row.table as usize + self.width];
                let after = &self.after[row.after as usize..row.after as usize + self.width];
                let mut all = simd.splat(nothing);
                let mut at = 0;
                while at < self.width {
                    let entry = simd.load(&table[at..at + LANES]);
                    let behind = simd.load(&after[at..at + LANES]);
                    all = if MAX {
                        simd.max(simd.add(entry, behind), all)
                    } else {
                        simd.mul_add(entry, behind, all)
                    };
                    at += LANES;
                }
                self.before[row.before as usize] = if MAX {
                    simd.reduce_max(all)
                } else {
                    simd.reduce_sum(all)
                };
            }
            index += 1;
        }
    }
}

struct Outer<'a> {
    rows: &'a [Row],
    width: usize,
    before: &'a [f64],
    after: &'a [f64],
    sums: &'a mut [f64],
}

impl Kernel<f64> for Outer<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) {
        let mut index = 0;
        while index < self.rows.len() {
            let row = self.rows[index];
            let number = self.before[row.before as usize];
            if number != 0.0 {
                let number = simd.splat(number);
                let after = &self.after[row.after as usize..row.after as usize + self.width];
                let sums = &mut self.sums[row.table as usize..row.table as usize + self.width];
                let mut at = 0;
                while at < self.width {
                    let behind = simd.load(&after[at..at + LANES]);
                    let cell = &mut sums[at..at + LANES];
                    simd.store(simd.mul_add(number, behind, simd.load(cell)), cell);
                    at += LANES;
                }
            }
            index += 1;
        }
    }
}

/// after = Σ before · table, or max (before + table), over the entries before that lead to the same row.
#[inline(never)]
pub(super) fn forward<const MAX: bool>(
    rows: &[Row],
    width: usize,
    before: &[f64],
    table: &[f64],
    after: &mut [f64],
) {
    dispatch(Forward::<MAX> {
        rows,
        width,
        before,
        table,
        after,
    });
}

/// before = Σ table · after, or max (table + after), over the row of each entry that was reached.
#[inline(never)]
pub(super) fn backward<const MAX: bool>(
    rows: &[Row],
    width: usize,
    reached: &[f64],
    table: &[f64],
    after: &[f64],
    before: &mut [f64],
) {
    dispatch(Backward::<MAX> {
        rows,
        width,
        reached,
        table,
        after,
        before,
    });
}

/// sums += before · after at the entries of the step's table.
#[inline(never)]
pub(super) fn add_outer(rows: &[Row], width: usize, before: &[f64], after: &[f64], sums: &mut [f64]) {
    dispatch(Outer {
        rows,
        width,
        before,
        after,
        sums,
    });
}
