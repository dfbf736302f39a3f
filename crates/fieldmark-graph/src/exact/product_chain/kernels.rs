//! The inner loops: what a step does with the tables of the frontiers before and after it.
//!
//! A table over a frontier has a row of padded length for the labels of its last variable, and so has the table of a
//! step. For each entry before the step, a [`Row`] tells which row of the step's table and which row after the step
//! belong to it.

use fieldmark_core::kernels::{Kernel, Real, Simd, dispatch};

// Loops count by hand: only what is inlined is compiled for the instruction set, and chains of iterators are not always.

pub(super) const LANES: usize = <f64 as Real>::LANES;

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

/// What adds nothing to a sum, or to a maximum.
#[inline(always)]
fn nothing(max: bool) -> f64 {
    if max { f64::NEG_INFINITY } else { 0.0 }
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
        let nothing = nothing(MAX);
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
        self.before.fill(nothing(MAX));
        let width = self.width;
        // Four rows at a time, so that none has to wait for its last sum.
        let (mut four, mut waiting) = ([0; 4], 0);
        let mut index = 0;
        while index < self.rows.len() {
            if self.reached[self.rows[index].before as usize] != nothing(MAX) {
                four[waiting] = index;
                waiting += 1;
            }
            index += 1;
            if waiting == 4 || index == self.rows.len() && waiting > 0 {
                // If there are fewer, the first of them comes again.
                let mut next = waiting;
                while next < 4 {
                    four[next] = four[0];
                    next += 1;
                }
                waiting = 0;
                let [a, b, c, d] = [
                    self.rows[four[0]],
                    self.rows[four[1]],
                    self.rows[four[2]],
                    self.rows[four[3]],
                ];
                let (table_a, after_a) = rows_at(self.table, self.after, a, width);
                let (table_b, after_b) = rows_at(self.table, self.after, b, width);
                let (table_c, after_c) = rows_at(self.table, self.after, c, width);
                let (table_d, after_d) = rows_at(self.table, self.after, d, width);
                let empty = simd.splat(nothing(MAX));
                let (mut all_a, mut all_b, mut all_c, mut all_d) = (empty, empty, empty, empty);
                let mut at = 0;
                while at + LANES <= width {
                    all_a = join::<MAX, S>(simd, &table_a[at..at + LANES], &after_a[at..at + LANES], all_a);
                    all_b = join::<MAX, S>(simd, &table_b[at..at + LANES], &after_b[at..at + LANES], all_b);
                    all_c = join::<MAX, S>(simd, &table_c[at..at + LANES], &after_c[at..at + LANES], all_c);
                    all_d = join::<MAX, S>(simd, &table_d[at..at + LANES], &after_d[at..at + LANES], all_d);
                    at += LANES;
                }
                self.before[a.before as usize] = reduce::<MAX, S>(simd, all_a);
                self.before[b.before as usize] = reduce::<MAX, S>(simd, all_b);
                self.before[c.before as usize] = reduce::<MAX, S>(simd, all_c);
                self.before[d.before as usize] = reduce::<MAX, S>(simd, all_d);
            }
        }
    }
}

/// The rows that belong to an entry.
#[inline(always)]
fn rows_at<'a>(table: &'a [f64], after: &'a [f64], row: Row, width: usize) -> (&'a [f64], &'a [f64]) {
    let (table, after) = (&table[row.table as usize..], &after[row.after as usize..]);
    (&table[..width], &after[..width])
}

#[inline(always)]
fn join<const MAX: bool, S: Simd<f64>>(simd: S, table: &[f64], after: &[f64], all: S::V) -> S::V {
    let (entry, behind) = (simd.load(table), simd.load(after));
    if MAX {
        simd.max(simd.add(entry, behind), all)
    } else {
        simd.mul_add(entry, behind, all)
    }
}

#[inline(always)]
fn reduce<const MAX: bool, S: Simd<f64>>(simd: S, all: S::V) -> f64 {
    if MAX {
        simd.reduce_max(all)
    } else {
        simd.reduce_sum(all)
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

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_core::random::SplitMix64;

    #[test]
    fn kernels_compute_what_plain_loops_compute() {
        const NEVER: f64 = f64::NEG_INFINITY;
        let mut random = SplitMix64(5);
        for labels in [1, 3, 4, 22, 44] {
            let width = padded(labels);
            // Six entries before, of which one is impossible, lead to two rows.
            let row = |entry: u32| Row {
                before: entry,
                table: entry * width as u32,
                after: entry % 2 * width as u32,
            };
            let rows: Vec<Row> = (0..6).map(row).collect();
            let mut table = |rows: usize, nothing: f64| {
                let mut table = vec![nothing; rows * width];
                for row in table.chunks_exact_mut(width) {
                    row[..labels].fill_with(|| (random.bits() >> 40) as f64 / 1e6);
                }
                table
            };
            let (linear, scores, behind) = (table(6, 0.0), table(6, NEVER), table(2, 0.0));
            let before = [0.5, 0.0, 2.0, 1.0, 0.25, 3.0];
            let best = [0.5, NEVER, 2.0, 1.0, 0.25, 3.0];
            let (mut sums, mut maxima) = (vec![9.0; 2 * width], vec![9.0; 2 * width]);
            forward::<false>(&rows, width, &before, &linear, &mut sums);
            forward::<true>(&rows, width, &best, &scores, &mut maxima);
            let (mut sums_back, mut maxima_back) = ([9.0; 6], [9.0; 6]);
            backward::<false>(&rows, width, &before, &linear, &behind, &mut sums_back);
            backward::<true>(&rows, width, &best, &scores, &behind, &mut maxima_back);
            let mut outer = vec![1.0; 6 * width];
            add_outer(&rows, width, &before, &behind, &mut outer);
            let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-12 * b.abs();
            for label in 0..labels {
                for after in 0..2 {
                    let leading = (after..6).step_by(2);
                    let sum: f64 = leading
                        .clone()
                        .map(|i| before[i] * linear[i * width + label])
                        .sum();
                    assert!(close(sums[after * width + label], sum));
                    let top = leading.map(|i| best[i] + scores[i * width + label]);
                    assert!(close(maxima[after * width + label], top.fold(NEVER, f64::max)));
                }
                for (entry, number) in before.iter().enumerate() {
                    let product = 1.0 + number * behind[entry % 2 * width + label];
                    assert!(close(outer[entry * width + label], product));
                }
            }
            for entry in 0..6 {
                let (own, other) = (entry * width, entry % 2 * width);
                let sum: f64 = (0..labels).map(|l| linear[own + l] * behind[other + l]).sum();
                let top = (0..labels)
                    .map(|l| scores[own + l] + behind[other + l])
                    .fold(NEVER, f64::max);
                let reached = entry != 1;
                assert!(close(sums_back[entry], if reached { sum } else { 0.0 }));
                assert!(close(maxima_back[entry], if reached { top } else { NEVER }));
            }
        }
    }
}
