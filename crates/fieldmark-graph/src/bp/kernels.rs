//! The inner loops of message passing on vectors of labels, compiled once for `f32` and once for `f64`.
//!
//! Vectors are padded to whole SIMD vectors; a matrix is stored row by row with padded rows.

use fieldmark_core::kernels::{Dispatch, Kernel, Simd, dispatch, exp};

/// `f32` or `f64`, with the kernels of message passing.
pub trait Scalar: Dispatch {
    /// Spread of the finite scores of a table that linear messages can hold together with [`Scalar::TINY`].
    #[doc(hidden)]
    const TABLE_RANGE: f64;
    /// Linear messages with a positive entry below this fraction of the largest are computed in log space.
    #[doc(hidden)]
    const TINY: Self;
    /// out_j = Σ_i n_i · M_ij
    #[doc(hidden)]
    fn sum_rows(matrix: &[Self], n: &[Self], out: &mut [Self]);
    /// out_j = max_i n_i + M_ij
    #[doc(hidden)]
    fn max_rows(matrix: &[Self], n: &[Self], out: &mut [Self]);
    /// out_j = log Σ_i exp(n_i + M_ij)
    #[doc(hidden)]
    fn log_sum_rows(matrix: &[Self], n: &[Self], out: &mut [Self]);
    /// acc := acc · other; whether a product of positive numbers fell below `TINY`.
    #[doc(hidden)]
    fn multiply(acc: &mut [Self], other: &[Self]) -> bool;
    /// acc := acc + other
    #[doc(hidden)]
    fn accumulate(acc: &mut [Self], other: &[Self]);
    /// acc := acc · factor
    #[doc(hidden)]
    fn scale(acc: &mut [Self], factor: Self);
    /// acc := acc + offset
    #[doc(hidden)]
    fn shift(acc: &mut [Self], offset: Self);
    /// The largest entry.
    #[doc(hidden)]
    fn largest(of: &[Self]) -> Self;
    /// The largest |a − b|.
    #[doc(hidden)]
    fn distance(a: &[Self], b: &[Self]) -> Self;
    /// into_ij += factor · p_ij, where p_ij is n_i · M_ij · m_j divided by its sum. Rows of `into` have so
    /// many labels, without padding.
    #[doc(hidden)]
    fn add_pair(matrix: &[Self], n: &[Self], m: &[Self], labels: usize, factor: f64, into: &mut [f64]);
}

/// Most vectors of a row that are accumulated in registers at once.
const BLOCK: usize = 12;

/// What is accumulated over the rows of a matrix.
trait Step: Copy {
    fn start<T: Scalar>() -> T;
    fn step<T: Scalar, S: Simd<T>>(simd: S, acc: S::V, n: S::V, row: S::V) -> S::V;
    fn join<T: Scalar, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V;
}

#[derive(Clone, Copy)]
struct SumStep;
#[derive(Clone, Copy)]
struct MaxStep;

impl Step for SumStep {
    #[inline(always)]
    fn start<T: Scalar>() -> T {
        T::ZERO
    }
    #[inline(always)]
    fn step<T: Scalar, S: Simd<T>>(simd: S, acc: S::V, n: S::V, row: S::V) -> S::V {
        simd.mul_add(n, row, acc)
    }
    #[inline(always)]
    fn join<T: Scalar, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V {
        simd.add(a, b)
    }
}

impl Step for MaxStep {
    #[inline(always)]
    fn start<T: Scalar>() -> T {
        T::NEG_INFINITY
    }
    #[inline(always)]
    fn step<T: Scalar, S: Simd<T>>(simd: S, acc: S::V, n: S::V, row: S::V) -> S::V {
        simd.max(acc, simd.add(n, row))
    }
    #[inline(always)]
    fn join<T: Scalar, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V {
        simd.max(a, b)
    }
}

struct Rows<'a, T, P> {
    matrix: &'a [T],
    n: &'a [T],
    out: &'a mut [T],
    step: P,
}

impl<T: Scalar, P: Step> Kernel<T> for Rows<'_, T, P> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let width = self.out.len();
        let mut first = 0;
        while first < width {
            let vectors = ((width - first) / T::LANES).min(BLOCK);
            macro_rules! blocks {
                ($($n:literal)*) => {
                    match vectors {
                        1 => narrow::<T, S, P>(simd, self.matrix, self.n, self.out, first),
                        $($n => block::<T, S, P, $n>(simd, self.matrix, self.n, self.out, first),)*
                        _ => unreachable!("rows are whole vectors"),
                    }
                };
            }
            blocks!(2 3 4 5 6 7 8 9 10 11 12);
            first += vectors * T::LANES;
        }
        let _ = self.step;
    }
}

/// `N` vectors of columns from column `first` on.
#[inline(always)]
fn block<T: Scalar, S: Simd<T>, P: Step, const N: usize>(
    simd: S,
    matrix: &[T],
    n: &[T],
    out: &mut [T],
    first: usize,
) {
    let mut acc = [simd.splat(P::start()); N];
    for (row, &n) in matrix.chunks_exact(out.len()).zip(n) {
        let row = &row[first..first + N * T::LANES];
        let n = simd.splat(n);
        for (acc, row) in acc.iter_mut().zip(row.chunks_exact(T::LANES)) {
            *acc = P::step(simd, *acc, n, simd.load(row));
        }
    }
    let out = &mut out[first..first + N * T::LANES];
    for (acc, out) in acc.iter().zip(out.chunks_exact_mut(T::LANES)) {
        simd.store(*acc, out);
    }
}

/// One vector of columns. Four rows at a time, so that a row need not wait for the row before.
#[inline(always)]
fn narrow<T: Scalar, S: Simd<T>, P: Step>(simd: S, matrix: &[T], n: &[T], out: &mut [T], first: usize) {
    let width = out.len();
    let mut acc = [simd.splat(P::start()); 4];
    let fours = n.len() / 4 * 4;
    for (rows, n) in matrix.chunks_exact(4 * width).zip(n.chunks_exact(4)) {
        for (lane, acc) in acc.iter_mut().enumerate() {
            let row = &rows[lane * width + first..];
            *acc = P::step(simd, *acc, simd.splat(n[lane]), simd.load(row));
        }
    }
    for (row, &n) in matrix[fours * width..].chunks_exact(width).zip(&n[fours..]) {
        acc[0] = P::step(simd, acc[0], simd.splat(n), simd.load(&row[first..]));
    }
    let acc = P::join(simd, P::join(simd, acc[0], acc[1]), P::join(simd, acc[2], acc[3]));
    simd.store(acc, &mut out[first..]);
}

/// Adds exp(n_i + M_ij − largest_j) to out_j, where `out` holds zeros.
struct ExpRows<'a, T> {
    matrix: &'a [T],
    n: &'a [T],
    largest: &'a [T],
    out: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for ExpRows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        for (row, &n) in self.matrix.chunks_exact(self.out.len()).zip(self.n) {
            let n = simd.splat(n);
            let columns = row
                .chunks_exact(T::LANES)
                .zip(self.largest.chunks_exact(T::LANES));
            for ((row, largest), out) in columns.zip(self.out.chunks_exact_mut(T::LANES)) {
                let score = simd.sub(simd.add(n, simd.load(row)), simd.load(largest));
                simd.store(simd.add(simd.load(out), exp(simd, score)), out);
            }
        }
    }
}

struct Multiply<'a, T>(&'a mut [T], &'a [T]);

impl<T: Scalar> Kernel<T> for Multiply<'_, T> {
    type Output = bool;
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> bool {
        let (zero, tiny) = (simd.splat(T::ZERO), simd.splat(T::TINY));
        let mut lost = zero;
        for (acc, other) in self
            .0
            .chunks_exact_mut(T::LANES)
            .zip(self.1.chunks_exact(T::LANES))
        {
            let (a, b) = (simd.load(acc), simd.load(other));
            let product = simd.mul(a, b);
            lost = simd.max(lost, simd.select_greater(tiny, product, simd.min(a, b), zero));
            simd.store(product, acc);
        }
        simd.reduce_max(lost) > T::ZERO
    }
}

struct Add<'a, T>(&'a mut [T], &'a [T]);

impl<T: Scalar> Kernel<T> for Add<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        for (acc, other) in self
            .0
            .chunks_exact_mut(T::LANES)
            .zip(self.1.chunks_exact(T::LANES))
        {
            simd.store(simd.add(simd.load(acc), simd.load(other)), acc);
        }
    }
}

/// acc := acc · factor + offset
struct Affine<'a, T>(&'a mut [T], T, T);

impl<T: Scalar> Kernel<T> for Affine<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let (factor, offset) = (simd.splat(self.1), simd.splat(self.2));
        for acc in self.0.chunks_exact_mut(T::LANES) {
            simd.store(simd.mul_add(simd.load(acc), factor, offset), acc);
        }
    }
}

struct Largest<'a, T>(&'a [T]);

impl<T: Scalar> Kernel<T> for Largest<'_, T> {
    type Output = T;
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> T {
        let mut largest = simd.splat(T::NEG_INFINITY);
        for vector in self.0.chunks_exact(T::LANES) {
            largest = simd.max(largest, simd.load(vector));
        }
        simd.reduce_max(largest)
    }
}

struct Distance<'a, T>(&'a [T], &'a [T]);

impl<T: Scalar> Kernel<T> for Distance<'_, T> {
    type Output = T;
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> T {
        let mut largest = simd.splat(T::ZERO);
        for (a, b) in self.0.chunks_exact(T::LANES).zip(self.1.chunks_exact(T::LANES)) {
            let (a, b) = (simd.load(a), simd.load(b));
            // The running maximum stands second: it wins over the NaN of two equal infinities.
            largest = simd.max(simd.sub(a, b), largest);
            largest = simd.max(simd.sub(b, a), largest);
        }
        simd.reduce_max(largest)
    }
}

struct AddPair<'a, T> {
    matrix: &'a [T],
    n: &'a [T],
    m: &'a [T],
    labels: usize,
    factor: f64,
    into: &'a mut [f64],
}

impl<T: Scalar> Kernel<T> for AddPair<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<T>>(self, _: S) {
        // The compiler makes vectors of these loops; rows are padded to a multiple of four.
        let rows = || self.matrix.chunks_exact(self.m.len()).zip(self.n);
        let mut sums = [0.0; 4];
        for (row, n) in rows() {
            let mut products = [0.0; 4];
            for (row, m) in row.chunks_exact(4).zip(self.m.chunks_exact(4)) {
                for lane in 0..4 {
                    products[lane] += row[lane].to_f64() * m[lane].to_f64();
                }
            }
            for lane in 0..4 {
                sums[lane] += n.to_f64() * products[lane];
            }
        }
        let factor = self.factor / (sums[0] + sums[1] + sums[2] + sums[3]);
        for (into, (row, n)) in self.into.chunks_exact_mut(self.labels).zip(rows()) {
            let factor = factor * n.to_f64();
            for ((into, row), m) in into.iter_mut().zip(row).zip(self.m) {
                *into += factor * (row.to_f64() * m.to_f64());
            }
        }
    }
}

macro_rules! implement_scalar {
    ($type:ty, $table_range:literal, $tiny:literal) => {
        impl Scalar for $type {
            const TABLE_RANGE: f64 = $table_range;
            const TINY: Self = $tiny;
            #[inline(never)]
            fn sum_rows(matrix: &[Self], n: &[Self], out: &mut [Self]) {
                dispatch(Rows {
                    matrix,
                    n,
                    out,
                    step: SumStep,
                });
            }
            #[inline(never)]
            fn max_rows(matrix: &[Self], n: &[Self], out: &mut [Self]) {
                dispatch(Rows {
                    matrix,
                    n,
                    out,
                    step: MaxStep,
                });
            }
            #[inline(never)]
            fn log_sum_rows(matrix: &[Self], n: &[Self], out: &mut [Self]) {
                let mut largest = vec![0.0; out.len()];
                Self::max_rows(matrix, n, &mut largest);
                let possible = |largest: Self| largest > Self::NEG_INFINITY;
                let offset: Vec<Self> = largest
                    .iter()
                    .map(|&l| if possible(l) { l } else { 0.0 })
                    .collect();
                out.fill(0.0);
                dispatch(ExpRows {
                    matrix,
                    n,
                    largest: &offset,
                    out,
                });
                for (out, &largest) in out.iter_mut().zip(&largest) {
                    *out = if possible(largest) {
                        largest + out.ln()
                    } else {
                        largest
                    };
                }
            }
            #[inline(never)]
            fn multiply(acc: &mut [Self], other: &[Self]) -> bool {
                dispatch(Multiply(acc, other))
            }
            #[inline(never)]
            fn accumulate(acc: &mut [Self], other: &[Self]) {
                dispatch(Add(acc, other));
            }
            #[inline(never)]
            fn scale(acc: &mut [Self], factor: Self) {
                dispatch(Affine(acc, factor, 0.0));
            }
            #[inline(never)]
            fn add_pair(
                matrix: &[Self],
                n: &[Self],
                m: &[Self],
                labels: usize,
                factor: f64,
                into: &mut [f64],
            ) {
                dispatch(AddPair {
                    matrix,
                    n,
                    m,
                    labels,
                    factor,
                    into,
                });
            }
            #[inline(never)]
            fn shift(acc: &mut [Self], offset: Self) {
                dispatch(Affine(acc, 1.0, offset));
            }
            #[inline(never)]
            fn largest(of: &[Self]) -> Self {
                dispatch(Largest(of))
            }
            #[inline(never)]
            fn distance(a: &[Self], b: &[Self]) -> Self {
                dispatch(Distance(a, b))
            }
        }
    };
}

// Two cavities of TINY and a table entry at the end of its range still make a normal number.
implement_scalar!(f32, 27.0, 1e-25);
implement_scalar!(f64, 200.0, 1e-100);

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_core::kernels::Real;
    use fieldmark_core::random::SplitMix64;

    /// Padded columns for 1 to 13 vectors of 4, and 0 to 9 rows.
    fn shapes() -> impl Iterator<Item = (usize, usize)> {
        (0..10).flat_map(|rows| (1..14).map(move |vectors| (rows, vectors * 8)))
    }

    fn numbers<T: Real>(random: &mut SplitMix64, count: usize) -> Vec<T> {
        (0..count).map(|_| T::from_f64(random.unit() - 0.5)).collect()
    }

    fn agree<T: Scalar>(tolerance: f64) {
        let mut random = SplitMix64(1);
        for (rows, columns) in shapes() {
            let (matrix, n) = (
                numbers::<T>(&mut random, rows * columns),
                numbers::<T>(&mut random, rows),
            );
            let mut out = vec![T::ZERO; columns];
            let entry = |i: usize, j: usize| (n[i].to_f64(), matrix[i * columns + j].to_f64());
            let mut check = |kernel: fn(&[T], &[T], &mut [T]), plain: &dyn Fn(usize) -> f64| {
                kernel(&matrix, &n, &mut out);
                for (j, out) in out.iter().enumerate() {
                    let (found, expected) = (out.to_f64(), plain(j));
                    let equal = found == expected || (found - expected).abs() < tolerance;
                    assert!(equal, "{rows} × {columns}: {found}, expected {expected}");
                }
            };
            let terms = |j: usize| (0..rows).map(move |i| entry(i, j));
            check(T::sum_rows, &|j| terms(j).map(|(n, m)| n * m).sum());
            check(T::max_rows, &|j| {
                terms(j).map(|(n, m)| n + m).fold(f64::NEG_INFINITY, f64::max)
            });
            check(T::log_sum_rows, &|j| {
                terms(j).map(|(n, m)| (n + m).exp()).sum::<f64>().ln()
            });
        }
    }

    #[test]
    fn rows_agree_with_plain_code() {
        agree::<f32>(1e-5);
        agree::<f64>(1e-13);
    }

    #[test]
    fn impossible_entries_stay_impossible() {
        let never = f64::NEG_INFINITY;
        let matrix = [0.0, never, 1.0, never, never, never, 2.0, never];
        let mut out = [0.0; 4];
        f64::log_sum_rows(&matrix, &[never, 0.5], &mut out);
        assert_eq!((out[0], out[1], out[3]), (never, never, never));
        assert!((out[2] - 2.5).abs() < 1e-15);
        f64::max_rows(&matrix, &[never, 0.5], &mut out);
        assert_eq!(out, [never, never, 2.5, never]);
    }

    #[test]
    fn products_tell_what_was_lost() {
        let mut acc = [1e-60, 0.0, 1.0, 0.5];
        assert!(
            !f64::multiply(&mut acc, &[1.0, 1e-90, 0.0, 1.0]),
            "zeros are no loss"
        );
        assert!(f64::multiply(&mut acc, &[1e-60, 1.0, 1.0, 1.0]));
        assert_eq!(acc[1..], [0.0, 0.0, 0.5]);
    }

    #[test]
    fn equal_infinities_have_no_distance() {
        let never = f64::NEG_INFINITY;
        assert_eq!(
            f64::distance(&[never, 1.0, 2.0, never], &[never, 1.5, 2.0, never]),
            0.5
        );
        assert_eq!(
            f64::distance(&[never, 1.0, 2.0, 0.0], &[never, 1.0, 2.0, never]),
            f64::INFINITY
        );
    }
}
