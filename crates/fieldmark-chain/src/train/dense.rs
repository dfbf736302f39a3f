//! Forward–backward over first-order chains in scaled linear space: the inner loops of training.
//!
//! With ψ_t(j) = exp(score of label j at t) and M(i,j) = exp(score of the step i → j), both divided by
//! their maximum, and c_t chosen so that α_t sums to 1 (Rabiner 1989):
//!
//! ```text
//! α_t(j)     = ψ_t(j) Σ_i α_{t−1}(i) M(i,j) / c_t          β_{t−1}(i) = Σ_j M(i,j) ξ_t(j)
//! ξ_t(j)     = ψ_t(j) β_t(j) / c_t                         β_T = 1
//! p(y_t = j) = α_t(j) β_t(j)        p(y_{t−1} = i, y_t = j) = α_{t−1}(i) M(i,j) ξ_t(j)
//! log Z      = Σ_t log c_t + the maxima
//! ```
//!
//! The expected number of steps i → j in all sequences is M(i,j) Σ_t α_{t−1}(i) ξ_t(j): a product of two
//! matrices, computed in register tiles. All entries are positive, so α_t(j) ≥ min ψ_t · min M, and nothing is
//! lost as long as the spread of the scores stays below [`Real::SAFE_RANGE`]; [`Chain::is_safe`] tells.

use super::real::TrainingReal;
use fieldmark_core::kernels::{Kernel, Real, Simd, exp, load_vectors, store_vectors};

/// The steps of a first-order chain, ready for computing.
#[derive(Default)]
pub struct Chain<T> {
    labels: usize,
    /// Labels rounded up to whole vectors.
    stride: usize,
    /// `labels` rows of `stride` lanes: M(i, ·), zero beyond the labels.
    forward: Vec<T>,
    /// M(·, j), likewise.
    backward: Vec<T>,
    start: Vec<T>,
    end: Vec<T>,
    /// Largest step score, and largest start and end score.
    step_max: f64,
    border_max: f64,
    /// Spread of all of them together.
    spread: f64,
    /// Whether all step scores are equal, so that positions are independent.
    independent: bool,
}

impl<T: Real> Chain<T> {
    /// `steps[i * labels + j]` is the score of the step i → j.
    pub(crate) fn set(&mut self, labels: usize, steps: &[f64], start: &[f64], end: &[f64]) {
        let stride = labels.next_multiple_of(T::LANES);
        let range = |scores: &[f64]| {
            scores
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &s| {
                    (low.min(s), high.max(s))
                })
        };
        let ((step_min, step_max), (start_min, start_max), (end_min, end_max)) =
            (range(steps), range(start), range(end));
        self.labels = labels;
        self.stride = stride;
        self.step_max = step_max;
        self.border_max = start_max + end_max;
        self.spread = (step_max - step_min)
            .max(start_max - start_min)
            .max(end_max - end_min);
        self.independent = step_max == step_min;
        self.forward.clear();
        self.forward.resize(labels * stride, T::ZERO);
        self.backward.clear();
        self.backward.resize(labels * stride, T::ZERO);
        for i in 0..labels {
            for j in 0..labels {
                let potential = T::from_f64((steps[i * labels + j] - step_max).exp());
                self.forward[i * stride + j] = potential;
                self.backward[j * stride + i] = potential;
            }
        }
        for (to, from, max) in [(&mut self.start, start, start_max), (&mut self.end, end, end_max)] {
            to.clear();
            to.extend(from.iter().map(|&score| T::from_f64((score - max).exp())));
            to.resize(stride, T::ZERO);
        }
    }

    /// exp(score of i → j), divided by the largest.
    pub(crate) fn potential(&self, i: usize, j: usize) -> T {
        self.forward[i * self.stride + j]
    }

    /// Whether scaled linear arithmetic loses nothing when the scores at a position spread this far.
    pub(crate) fn is_safe(&self, position_spread: T) -> bool {
        // A NaN is not safe either.
        position_spread.to_f64() + self.spread < T::SAFE_RANGE.to_f64()
    }

    /// The part of log Z that potentials leave out because they are divided by their maximum.
    pub(crate) fn log_scale(&self, length: usize) -> f64 {
        self.border_max + self.step_max * (length - 1) as f64
    }
}

/// Scratch memory for one sequence at a time.
#[derive(Default)]
pub struct Tables<T> {
    pub(crate) psi: Vec<T>,
    alpha: Vec<T>,
    xi: Vec<T>,
    inverse_scale: Vec<T>,
}

/// `rows` of scores to `psi`; the sum of the maxima, and the widest spread at a position.
pub(crate) fn exponentiate<T: TrainingReal>(stride: usize, rows: &[T], psi: &mut Vec<T>) -> (f64, T) {
    psi.resize(rows.len(), T::ZERO);
    T::exponentiate(Exponentiate { stride, rows, psi })
}

pub struct Exponentiate<'a, T> {
    stride: usize,
    rows: &'a [T],
    psi: &'a mut [T],
}

impl<T: Real> Kernel<T> for Exponentiate<'_, T> {
    type Output = (f64, T);

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> (f64, T) {
        let Self { stride, rows, psi } = self;
        let mut maxima = 0.0;
        let mut spread = T::ZERO;
        for (row, psi) in rows.chunks_exact(stride).zip(psi.chunks_exact_mut(stride)) {
            let mut high = simd.load(row);
            let mut low = high;
            for scores in row[T::LANES..].chunks_exact(T::LANES) {
                let scores = simd.load(scores);
                high = simd.max(high, scores);
                low = simd.min(low, scores);
            }
            let (high, low) = (simd.reduce_max(high), simd.reduce_min(low));
            maxima += high.to_f64();
            let width = high - low;
            if width > spread || width.is_nan() {
                spread = width;
            }
            let high = simd.splat(high);
            for (scores, psi) in row.chunks_exact(T::LANES).zip(psi.chunks_exact_mut(T::LANES)) {
                simd.store(exp(simd, simd.sub(simd.load(scores), high)), psi);
            }
        }
        (maxima, spread)
    }
}

/// Forward and backward over `tables.psi`; writes p(y_t = j) to `marginals` and returns Σ log c_t.
///
/// Lanes beyond the labels come out as zero.
pub(crate) fn forward_backward<T: TrainingReal>(
    chain: &Chain<T>,
    tables: &mut Tables<T>,
    marginals: &mut [T],
) -> f64 {
    let size = tables.psi.len();
    if tables.alpha.len() < size {
        tables.alpha.resize(size, T::ZERO);
        tables.xi.resize(size, T::ZERO);
        tables.inverse_scale.resize(size / chain.stride, T::ZERO);
    }
    T::forward_backward(ForwardBackward {
        chain,
        tables,
        marginals,
    })
}

pub struct ForwardBackward<'a, T> {
    chain: &'a Chain<T>,
    tables: &'a mut Tables<T>,
    marginals: &'a mut [T],
}

impl<T: Real> Kernel<T> for ForwardBackward<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> f64 {
        let Self {
            chain,
            tables,
            marginals,
        } = self;
        match chain.stride / T::LANES {
            1 => passes::<T, S, 1>(simd, chain, tables, marginals),
            2 => passes::<T, S, 2>(simd, chain, tables, marginals),
            3 => passes::<T, S, 3>(simd, chain, tables, marginals),
            4 => passes::<T, S, 4>(simd, chain, tables, marginals),
            5 => passes::<T, S, 5>(simd, chain, tables, marginals),
            6 => passes::<T, S, 6>(simd, chain, tables, marginals),
            7 => passes::<T, S, 7>(simd, chain, tables, marginals),
            8 => passes::<T, S, 8>(simd, chain, tables, marginals),
            _ => wide_passes(simd, chain, tables, marginals),
        }
    }
}

/// A sum of logarithms as the logarithm of a product, which is taken before it can leave the range.
struct LogProduct {
    product: f64,
    sum: f64,
}

impl LogProduct {
    #[inline(always)]
    fn multiply(&mut self, factor: f64) {
        self.product *= factor;
        if !(1e-100..1e100).contains(&self.product) {
            self.sum += self.product.ln();
            self.product = 1.0;
        }
    }
}

#[inline(always)]
fn passes<T: Real, S: Simd<T>, const N: usize>(
    simd: S,
    chain: &Chain<T>,
    tables: &mut Tables<T>,
    marginals: &mut [T],
) -> f64 {
    let stride = N * T::LANES;
    let labels = chain.labels;
    let length = tables.psi.len() / stride;
    let mut logs = LogProduct {
        product: 1.0,
        sum: 0.0,
    };

    let psi = &tables.psi[..length * stride];
    let alpha = &mut tables.alpha[..length * stride];
    let xi = &mut tables.xi[..length * stride];
    let inverse_scale = &mut tables.inverse_scale[..length];
    // A row is divided by its sum when the next one is computed, and for good on the way back: the sum and the
    // division then run beside the next product instead of before it.
    let mut inverse = T::ONE;
    for t in 0..length {
        let psi = load_vectors(simd, &psi[t * stride..]);
        let sums = if t == 0 {
            times(simd, load_vectors(simd, &chain.start), psi)
        } else if chain.independent {
            times(simd, load_vectors(simd, chain.backward_ones()), psi)
        } else {
            let sums = product::<T, S, N>(simd, &alpha[(t - 1) * stride..][..labels], &chain.forward);
            times(simd, sums, times(simd, psi, [simd.splat(inverse); N]))
        };
        store_vectors(simd, sums, &mut alpha[t * stride..]);
        let scale = sum_all(simd, sums);
        inverse = T::ONE / scale;
        inverse_scale[t] = inverse;
        logs.multiply(scale.to_f64());
    }
    // The end scores are part of β_T; their sum over α_T scales all marginals.
    let end = load_vectors(simd, &chain.end);
    let last = load_vectors(simd, &alpha[(length - 1) * stride..]);
    let end_scale = sum_all(simd, times(simd, end, last)) * inverse;
    logs.multiply(end_scale.to_f64());
    let mut beta = times(simd, end, [simd.splat(T::ONE / end_scale); N]);
    for t in (0..length).rev() {
        let range = t * stride..(t + 1) * stride;
        let inverse = [simd.splat(inverse_scale[t]); N];
        let scaled = times(simd, beta, inverse);
        let xi_row = &mut xi[range.clone()];
        store_vectors(
            simd,
            times(simd, load_vectors(simd, &psi[range.clone()]), scaled),
            xi_row,
        );
        let alpha_row = load_vectors(simd, &alpha[range.clone()]);
        store_vectors(
            simd,
            times(simd, alpha_row, scaled),
            &mut marginals[range.clone()],
        );
        store_vectors(simd, times(simd, alpha_row, inverse), &mut alpha[range]);
        if t > 0 {
            beta = if chain.independent {
                let total = xi_row[..labels].iter().copied().sum();
                times(
                    simd,
                    load_vectors(simd, chain.backward_ones()),
                    [simd.splat(total); N],
                )
            } else {
                product::<T, S, N>(simd, &xi_row[..labels], &chain.backward)
            };
        }
    }
    logs.sum + logs.product.ln()
}

#[inline(always)]
fn times<T: Real, S: Simd<T>, const N: usize>(simd: S, mut a: [S::V; N], b: [S::V; N]) -> [S::V; N] {
    for v in 0..N {
        a[v] = simd.mul(a[v], b[v]);
    }
    a
}

#[inline(always)]
fn sum_all<T: Real, S: Simd<T>, const N: usize>(simd: S, a: [S::V; N]) -> T {
    let mut total = a[0];
    for &vector in &a[1..] {
        total = simd.add(total, vector);
    }
    simd.reduce_sum(total)
}

/// Σ_i a(i) · matrix(i, ·), in two chains of additions so that neither waits for the other.
#[inline(always)]
fn product<T: Real, S: Simd<T>, const N: usize>(simd: S, a: &[T], matrix: &[T]) -> [S::V; N] {
    let stride = N * T::LANES;
    let mut even = [simd.splat(T::ZERO); N];
    let mut odd = even;
    let mut rows = matrix[..a.len() * stride].chunks_exact(2 * stride);
    let mut values = a.chunks_exact(2);
    for (rows, values) in (&mut rows).zip(&mut values) {
        let (first, second) = (simd.splat(values[0]), simd.splat(values[1]));
        for v in 0..N {
            even[v] = simd.mul_add(first, simd.load(&rows[v * T::LANES..][..T::LANES]), even[v]);
            odd[v] = simd.mul_add(
                second,
                simd.load(&rows[stride + v * T::LANES..][..T::LANES]),
                odd[v],
            );
        }
    }
    if let [value] = values.remainder() {
        let (value, row) = (simd.splat(*value), rows.remainder());
        for v in 0..N {
            even[v] = simd.mul_add(value, simd.load(&row[v * T::LANES..][..T::LANES]), even[v]);
        }
    }
    for v in 0..N {
        even[v] = simd.add(even[v], odd[v]);
    }
    even
}

impl<T: Real> Chain<T> {
    /// A row of ones over the labels: every row of M when positions are independent.
    #[inline(always)]
    fn backward_ones(&self) -> &[T] {
        &self.backward[..self.stride]
    }
}

/// [`passes`] for any number of labels, through memory.
#[inline(always)]
fn wide_passes<T: Real, S: Simd<T>>(
    simd: S,
    chain: &Chain<T>,
    tables: &mut Tables<T>,
    marginals: &mut [T],
) -> f64 {
    let (stride, labels) = (chain.stride, chain.labels);
    let length = tables.psi.len() / stride;
    let mut logs = LogProduct {
        product: 1.0,
        sum: 0.0,
    };
    let Tables {
        psi,
        alpha,
        xi,
        inverse_scale,
    } = tables;
    for t in 0..length {
        let (before, row) = alpha.split_at_mut(t * stride);
        let row = &mut row[..stride];
        match t {
            0 => row.copy_from_slice(&chain.start),
            _ if chain.independent => row.copy_from_slice(chain.backward_ones()),
            _ => wide_product(simd, &before[(t - 1) * stride..][..labels], &chain.forward, row),
        }
        let mut total = simd.splat(T::ZERO);
        for (sums, psi) in row
            .chunks_exact_mut(T::LANES)
            .zip(psi[t * stride..].chunks_exact(T::LANES))
        {
            let sum = simd.mul(simd.load(sums), simd.load(psi));
            total = simd.add(total, sum);
            simd.store(sum, sums);
        }
        let scale = simd.reduce_sum(total);
        logs.multiply(scale.to_f64());
        inverse_scale[t] = T::ONE / scale;
        row.iter_mut().for_each(|sum| *sum *= inverse_scale[t]);
    }
    let last = &alpha[(length - 1) * stride..][..stride];
    let end_scale: T = last.iter().zip(&chain.end).map(|(&a, &end)| a * end).sum();
    logs.multiply(end_scale.to_f64());
    let mut beta: Vec<T> = chain.end.iter().map(|&end| end / end_scale).collect();
    for t in (0..length).rev() {
        let range = t * stride..(t + 1) * stride;
        let rows = psi[range.clone()].iter().zip(&alpha[range.clone()]);
        let outs = xi[range.clone()].iter_mut().zip(&mut marginals[range.clone()]);
        for (((&psi, &alpha), (xi, marginal)), &beta) in rows.zip(outs).zip(&beta) {
            *xi = psi * beta * inverse_scale[t];
            *marginal = alpha * beta;
        }
        if t > 0 && chain.independent {
            let total = xi[range][..labels].iter().copied().sum();
            beta.copy_from_slice(chain.backward_ones());
            beta.iter_mut().for_each(|one| *one *= total);
        } else if t > 0 {
            wide_product(simd, &xi[range][..labels], &chain.backward, &mut beta);
        }
    }
    logs.sum + logs.product.ln()
}

#[inline(always)]
fn wide_product<T: Real, S: Simd<T>>(simd: S, a: &[T], matrix: &[T], out: &mut [T]) {
    let stride = out.len();
    /// Vectors summed in registers at a time.
    const TILE: usize = 8;
    for start in (0..stride).step_by(TILE * T::LANES) {
        let tile = TILE.min((stride - start) / T::LANES);
        let mut sums = [simd.splat(T::ZERO); TILE];
        for (i, &value) in a.iter().enumerate() {
            let value = simd.splat(value);
            let row = &matrix[i * stride + start..][..tile * T::LANES];
            for (sum, cells) in sums.iter_mut().zip(row.chunks_exact(T::LANES)) {
                *sum = simd.mul_add(value, simd.load(cells), *sum);
            }
        }
        for (sum, cells) in sums
            .iter()
            .zip(out[start..][..tile * T::LANES].chunks_exact_mut(T::LANES))
        {
            simd.store(*sum, cells);
        }
    }
}

/// Adds `sign` · Σ_t α_{t−1}(i) ξ_t(j) to `expected(i, j)`, rows of `stride` lanes.
pub(crate) fn add_steps<T: TrainingReal>(chain: &Chain<T>, tables: &Tables<T>, sign: T, expected: &mut [T]) {
    T::add_steps(AddSteps {
        chain,
        tables,
        sign,
        expected,
    });
}

pub struct AddSteps<'a, T> {
    chain: &'a Chain<T>,
    tables: &'a Tables<T>,
    sign: T,
    expected: &'a mut [T],
}

impl<T: Real> Kernel<T> for AddSteps<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self {
            chain,
            tables,
            sign,
            expected,
        } = self;
        let stride = chain.stride;
        let length = tables.psi.len() / stride;
        let mut column = 0;
        while column < stride {
            let vectors = (stride - column) / T::LANES;
            let taken = match vectors {
                1 => step_tiles::<T, S, 1>(simd, chain, tables, length, column, sign, expected),
                2 | 4 => step_tiles::<T, S, 2>(simd, chain, tables, length, column, sign, expected),
                _ => step_tiles::<T, S, 3>(simd, chain, tables, length, column, sign, expected),
            };
            column += taken * T::LANES;
        }
    }
}

/// The tiles of four rows and `V` vectors at one column.
#[inline(always)]
fn step_tiles<T: Real, S: Simd<T>, const V: usize>(
    simd: S,
    chain: &Chain<T>,
    tables: &Tables<T>,
    length: usize,
    column: usize,
    sign: T,
    expected: &mut [T],
) -> usize {
    const ROWS: usize = 4;
    let stride = chain.stride;
    let sign = simd.splat(sign);
    for first in (0..chain.labels).step_by(ROWS) {
        let mut sums = [[simd.splat(T::ZERO); V]; ROWS];
        let alphas = tables.alpha[..(length - 1) * stride].chunks_exact(stride);
        let xis = tables.xi[stride.min(length * stride)..length * stride].chunks_exact(stride);
        for (alpha, xi) in alphas.zip(xis) {
            // The stride is a multiple of four, so a tile never leaves the row.
            let alpha = &alpha[first..first + ROWS];
            let xi = &xi[column..column + V * T::LANES];
            let xi: [S::V; V] = load_vectors(simd, xi);
            for (sums, &alpha) in sums.iter_mut().zip(alpha) {
                let alpha = simd.splat(alpha);
                for v in 0..V {
                    sums[v] = simd.mul_add(alpha, xi[v], sums[v]);
                }
            }
        }
        for (row, sums) in (first..chain.labels).zip(sums) {
            let cells = &mut expected[row * stride + column..][..V * T::LANES];
            for v in 0..V {
                let cells = &mut cells[v * T::LANES..][..T::LANES];
                simd.store(simd.mul_add(sign, sums[v], simd.load(cells)), cells);
            }
        }
    }
    V
}
