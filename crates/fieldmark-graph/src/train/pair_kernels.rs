//! The inner loops of pseudolikelihood on pairs of variables: sums over and updates of a matrix of potentials.

use fieldmark_core::kernels::{Kernel, Real, Simd, dispatch};

/// Rows of matrices are padded to whole vectors.
pub(super) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(<f64 as Real>::LANES)
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
        const LANES: usize = <f64 as Real>::LANES;
        let width = self.right.len();
        self.columns.fill(0.0);
        let pairs = self.left.len() / 2;
        // Two rows at a time share the loads of both vectors.
        for (pair, matrix) in self.matrix.chunks_exact(2 * width).enumerate().take(pairs) {
            let (one, other) = matrix.split_at(width);
            let (left, right) = (
                simd.splat(self.left[2 * pair]),
                simd.splat(self.left[2 * pair + 1]),
            );
            let mut sums = [simd.splat(0.0); 2];
            let vectors = one.chunks_exact(LANES).zip(other.chunks_exact(LANES));
            let sides = self
                .right
                .chunks_exact(LANES)
                .zip(self.columns.chunks_exact_mut(LANES));
            for ((one, other), (factor, column)) in vectors.zip(sides) {
                let (one, other, factor) = (simd.load(one), simd.load(other), simd.load(factor));
                sums[0] = simd.mul_add(one, factor, sums[0]);
                sums[1] = simd.mul_add(other, factor, sums[1]);
                let column_sum = simd.mul_add(left, one, simd.load(column));
                simd.store(simd.mul_add(right, other, column_sum), column);
            }
            self.rows[2 * pair] = simd.reduce_sum(sums[0]);
            self.rows[2 * pair + 1] = simd.reduce_sum(sums[1]);
        }
        if self.left.len() % 2 == 1 {
            let last = self.left.len() - 1;
            let left = simd.splat(self.left[last]);
            let mut sum = simd.splat(0.0);
            let vectors = self.matrix[last * width..].chunks_exact(LANES);
            let sides = self
                .right
                .chunks_exact(LANES)
                .zip(self.columns.chunks_exact_mut(LANES));
            for (one, (factor, column)) in vectors.zip(sides) {
                let one = simd.load(one);
                sum = simd.mul_add(one, simd.load(factor), sum);
                simd.store(simd.mul_add(left, one, simd.load(column)), column);
            }
            self.rows[last] = simd.reduce_sum(sum);
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
        const LANES: usize = <f64 as Real>::LANES;
        for (row, &left) in self.matrix.chunks_exact_mut(self.right.len()).zip(self.left) {
            if left == 0.0 {
                continue;
            }
            let left = simd.splat(left * self.factor);
            for (cell, right) in row.chunks_exact_mut(LANES).zip(self.right.chunks_exact(LANES)) {
                simd.store(simd.mul_add(left, simd.load(right), simd.load(cell)), cell);
            }
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
