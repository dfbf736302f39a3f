//! The inner loops of pseudolikelihood on pairs of variables: sums over and updates of a matrix of potentials.

use fieldmark_core::kernels::{Kernel, Real, Simd, dispatch};

// Loops count by hand: only what is inlined is compiled for the instruction set, and chains of iterators are not always.

const LANES: usize = <f64 as Real>::LANES;

/// Rows of matrices are padded to whole vectors.
pub(super) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

struct Sums<'a> {
    matrix: &'a [f64],
    left: &'a [f64],
    right: &'a [f64],
    rows: &'a mut [f64],
    columns: &'a mut [f64],
}

impl Kernel<f64> for Sums<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) {
        let width = self.right.len();
        let (right, columns) = (self.right, self.columns);
        columns.fill(0.0);
        let mut row = 0;
        // Two rows at a time share the loads of both vectors.
        while row + 1 < self.left.len() {
            let (one, other) = self.matrix[row * width..(row + 2) * width].split_at(width);
            let (first, second) = (simd.splat(self.left[row]), simd.splat(self.left[row + 1]));
            let (mut sum, mut other_sum) = (simd.splat(0.0), simd.splat(0.0));
            let mut at = 0;
            while at < width {
                let factor = simd.load(&right[at..at + LANES]);
                let (a, b) = (simd.load(&one[at..at + LANES]), simd.load(&other[at..at + LANES]));
                sum = simd.mul_add(a, factor, sum);
                other_sum = simd.mul_add(b, factor, other_sum);
                let column = &mut columns[at..at + LANES];
                let column_sum = simd.mul_add(first, a, simd.load(column));
                simd.store(simd.mul_add(second, b, column_sum), column);
                at += LANES;
            }
            self.rows[row] = simd.reduce_sum(sum);
            self.rows[row + 1] = simd.reduce_sum(other_sum);
            row += 2;
        }
        if row < self.left.len() {
            let one = &self.matrix[row * width..(row + 1) * width];
            let first = simd.splat(self.left[row]);
            let mut sum = simd.splat(0.0);
            let mut at = 0;
            while at < width {
                let a = simd.load(&one[at..at + LANES]);
                sum = simd.mul_add(a, simd.load(&right[at..at + LANES]), sum);
                let column = &mut columns[at..at + LANES];
                simd.store(simd.mul_add(first, a, simd.load(column)), column);
                at += LANES;
            }
            self.rows[row] = simd.reduce_sum(sum);
        }
    }
}

struct Outer<'a> {
    matrix: &'a mut [f64],
    left: &'a [f64],
    right: &'a [f64],
    factor: f64,
}

impl Kernel<f64> for Outer<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) {
        let width = self.right.len();
        let mut row = 0;
        while row < self.left.len() {
            let left = self.left[row] * self.factor;
            if left != 0.0 {
                let cells = &mut self.matrix[row * width..(row + 1) * width];
                let left = simd.splat(left);
                let mut at = 0;
                while at < width {
                    let cell = &mut cells[at..at + LANES];
                    let right = simd.load(&self.right[at..at + LANES]);
                    simd.store(simd.mul_add(left, right, simd.load(cell)), cell);
                    at += LANES;
                }
            }
            row += 1;
        }
    }
}

/// rows_i = Σ_j M_ij r_j and columns_j = Σ_i l_i M_ij, for a matrix of padded rows.
#[inline(never)]
pub(super) fn sums(matrix: &[f64], left: &[f64], right: &[f64], rows: &mut [f64], columns: &mut [f64]) {
    dispatch(Sums {
        matrix,
        left,
        right,
        rows,
        columns,
    });
}

/// M_ij += factor · l_i r_j, for a matrix of padded rows.
#[inline(never)]
pub(super) fn add_outer(matrix: &mut [f64], left: &[f64], right: &[f64], factor: f64) {
    dispatch(Outer {
        matrix,
        left,
        right,
        factor,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_core::random::SplitMix64;

    #[test]
    fn kernels_compute_what_plain_loops_compute() {
        let mut random = SplitMix64(3);
        let mut number = || (random.bits() >> 40) as f64 / 1e6;
        for (height, columns) in [(1, 1), (2, 3), (3, 4), (7, 84), (84, 46), (5, 9)] {
            let width = padded(columns);
            let mut matrix = vec![0.0; height * width];
            let mut right = vec![0.0; width];
            for row in matrix.chunks_exact_mut(width) {
                row[..columns].fill_with(&mut number);
            }
            right[..columns].fill_with(&mut number);
            let left: Vec<f64> = (0..height).map(|_| number()).collect();
            let (mut rows, mut column_sums) = (vec![0.0; height], vec![1.0; width]);
            sums(&matrix, &left, &right, &mut rows, &mut column_sums);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
            for i in 0..height {
                let plain: f64 = (0..columns).map(|j| matrix[i * width + j] * right[j]).sum();
                assert!(close(rows[i], plain));
            }
            for j in 0..columns {
                let plain: f64 = (0..height).map(|i| matrix[i * width + j] * left[i]).sum();
                assert!(close(column_sums[j], plain));
            }
            let before = matrix.clone();
            add_outer(&mut matrix, &left, &right, -0.5);
            for i in 0..height {
                for j in 0..columns {
                    let plain = before[i * width + j] - 0.5 * left[i] * right[j];
                    assert!((matrix[i * width + j] - plain).abs() <= 1e-9 * plain.abs().max(1.0));
                }
            }
        }
    }
}
