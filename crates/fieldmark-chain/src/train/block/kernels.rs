//! The inner loops over a [`Block`]: from weights to the scores of positions, and from rows of positions to the
//! gradient of weights.

use super::{Block, Column, Part};
use crate::train::real::TrainingReal;
use fieldmark_core::kernels::{Kernel, Real, Simd, load_vectors, prefetch, store_vectors};
use std::ops::Range;

/// Numbers in a cache line, or fewer.
const LINE: usize = 8;

impl<C: Column> Block<C> {
    /// Sets `rows` (one of `stride` lanes for each position) to the scores of the columns.
    ///
    /// `weights` are the block's cells followed by at least one vector of anything: the last vector of a dense
    /// row may reach beyond it. Lanes beyond the width repeat the first column's score. `initial` has `stride`
    /// lanes.
    pub(crate) fn score<T: TrainingReal>(
        &self,
        weights: &[T],
        positions: Range<usize>,
        initial: &[T],
        rows: &mut [T],
    ) {
        C::score(Score {
            block: self,
            weights,
            positions,
            initial,
            rows,
        });
    }

    #[inline(always)]
    fn score_rows<T: Real, S: Simd<T>, const N: usize>(
        &self,
        simd: S,
        weights: &[T],
        positions: Range<usize>,
        initial: &[T],
        rows: &mut [T],
    ) {
        let stride = N * T::LANES;
        let initial: [S::V; N] = load_vectors(simd, initial);
        for (position, row) in positions.zip(rows.chunks_exact_mut(stride)) {
            let range = self.dense.range(position, self.parts, 0..self.parts);
            let mut sum = initial;
            for &cell in self.rare_rows_ahead(position) {
                for line in 0..(N * T::LANES).div_ceil(LINE) {
                    prefetch(weights, cell as usize + line * LINE);
                }
            }
            if self.dense.values.is_empty() {
                for &cell in &self.dense.cells[range] {
                    let row = &weights[cell as usize..][..N * T::LANES];
                    for v in 0..N {
                        sum[v] = simd.add(sum[v], simd.load(&row[v * T::LANES..]));
                    }
                }
            } else {
                for (&cell, &value) in self.dense.cells[range.clone()]
                    .iter()
                    .zip(&self.dense.values[range])
                {
                    let row = &weights[cell as usize..][..N * T::LANES];
                    let value = simd.splat(T::from_f32(value));
                    for v in 0..N {
                        sum[v] = simd.mul_add(value, simd.load(&row[v * T::LANES..]), sum[v]);
                    }
                }
            }
            store_vectors(simd, sum, row);
            self.score_sparse(simd, weights, position, row);
        }
    }

    #[inline(always)]
    fn score_wide_rows<T: Real, S: Simd<T>>(
        &self,
        simd: S,
        weights: &[T],
        positions: Range<usize>,
        initial: &[T],
        rows: &mut [T],
    ) {
        for (position, row) in positions.zip(rows.chunks_exact_mut(initial.len())) {
            row.copy_from_slice(initial);
            let range = self.dense.range(position, self.parts, 0..self.parts);
            for entry in range {
                let value = simd.splat(T::from_f32(self.dense.values.get(entry).copied().unwrap_or(1.0)));
                let source = &weights[self.dense.cells[entry] as usize..][..row.len()];
                for (to, from) in row.chunks_exact_mut(T::LANES).zip(source.chunks_exact(T::LANES)) {
                    let sum = simd.mul_add(value, simd.load(from), simd.load(to));
                    simd.store(sum, to);
                }
            }
            self.score_sparse(simd, weights, position, row);
        }
    }

    #[inline(always)]
    fn score_sparse<T: Real, S: Simd<T>>(&self, simd: S, weights: &[T], position: usize, row: &mut [T]) {
        let range = self.sparse.range(position, self.parts, 0..self.parts);
        let ahead = self.sparse.ahead(&range);
        let cells = &self.sparse.cells[range.clone()];
        let columns = &self.sparse_columns[range.clone()];
        // Neighbouring entries often have the same column. Two sums let them go on without waiting for each other.
        let mut other = [T::ZERO; 32];
        if self.sparse.values.is_empty() && row.len() <= other.len() {
            let other = &mut other[..row.len()];
            let pairs = cells.chunks_exact(2).zip(columns.chunks_exact(2));
            for ((cells, columns), ahead) in pairs.zip(ahead.chunks_exact(2)) {
                prefetch(weights, ahead[0] as usize);
                prefetch(weights, ahead[1] as usize);
                row[columns[0].index()] += weights[cells[0] as usize];
                other[columns[1].index()] += weights[cells[1] as usize];
            }
            if let ([cell], [column]) = (
                cells.chunks_exact(2).remainder(),
                columns.chunks_exact(2).remainder(),
            ) {
                row[column.index()] += weights[*cell as usize];
            }
            for (sum, other) in row.chunks_exact_mut(T::LANES).zip(other.chunks_exact(T::LANES)) {
                simd.store(simd.add(simd.load(sum), simd.load(other)), sum);
            }
        } else {
            for (entry, (&cell, &column)) in range.zip(cells.iter().zip(columns)) {
                let value = self.sparse.values.get(entry).copied().unwrap_or(1.0);
                row[column.index()] += T::from_f32(value) * weights[cell as usize];
            }
        }
        let first = row[0];
        row[self.width..].fill(first);
    }

    /// Adds to the cells of one part, for each position, the position's row times the observation's value.
    ///
    /// `part` is the number of the part, or `None` for the whole block.
    pub(crate) fn scatter<T: TrainingReal>(
        &self,
        part: Option<usize>,
        target: &mut Part<'_, T>,
        positions: Range<usize>,
        rows: &[T],
        stride: usize,
    ) {
        C::scatter(Scatter {
            block: self,
            part,
            target,
            positions,
            rows,
            stride,
        });
    }

    /// The first cells of the rarest dense rows of a later position: those that are least likely in a cache.
    #[inline(always)]
    fn rare_rows_ahead(&self, position: usize) -> &[u32] {
        const POSITIONS: usize = 2;
        const ROWS: usize = 6;
        let end = (position + POSITIONS + 1) * self.parts;
        let end = self.dense.offsets.get(end).map_or(0, |&end| end as usize);
        self.dense.cells.get(end.wrapping_sub(ROWS)..end).unwrap_or(&[])
    }

    fn part_range(&self, part: Option<usize>) -> Range<usize> {
        part.map_or(0..self.parts, |part| part..part + 1)
    }

    #[inline(always)]
    fn scatter_rows<T: Real, S: Simd<T>, const N: usize>(
        &self,
        simd: S,
        part: Option<usize>,
        target: &mut Part<'_, T>,
        positions: Range<usize>,
        rows: &[T],
    ) {
        let part = self.part_range(part);
        // Whether the last vector of a row is its own: what it adds to padding is a hole's.
        let whole = self.pitch >= N * T::LANES;
        let head = (N - 1) * T::LANES;
        for (position, row) in positions.zip(rows.chunks_exact(N * T::LANES)) {
            let range = self.dense.range(position, self.parts, part.clone());
            for &cell in self.rare_rows_ahead(position) {
                for line in 0..(N * T::LANES).div_ceil(LINE) {
                    let cell = (cell as usize + line * LINE).wrapping_sub(target.dense_start);
                    prefetch(target.dense, cell);
                }
            }
            let vectors: [S::V; N] = load_vectors(simd, row);
            let values = self.dense.values.get(range.clone());
            for (index, &cell) in self.dense.cells[range].iter().enumerate() {
                let cell = cell as usize - target.dense_start;
                let value = values.map(|values| T::from_f32(values[index]));
                let factor = simd.splat(value.unwrap_or(T::ONE));
                if whole {
                    let cells = &mut target.dense[cell..cell + N * T::LANES];
                    for v in 0..N {
                        let cells = &mut cells[v * T::LANES..][..T::LANES];
                        simd.store(simd.mul_add(factor, vectors[v], simd.load(cells)), cells);
                    }
                } else {
                    let cells = &mut target.dense[cell..cell + self.width];
                    for v in 0..N - 1 {
                        let cells = &mut cells[v * T::LANES..][..T::LANES];
                        simd.store(simd.mul_add(factor, vectors[v], simd.load(cells)), cells);
                    }
                    let factor = value.unwrap_or(T::ONE);
                    for (cell, &add) in cells[head..].iter_mut().zip(&row[head..]) {
                        *cell += factor * add;
                    }
                }
            }
            self.scatter_sparse(part.clone(), target, position, row);
        }
    }

    #[inline(always)]
    fn scatter_wide_rows<T: Real, S: Simd<T>>(
        &self,
        simd: S,
        part: Option<usize>,
        target: &mut Part<'_, T>,
        positions: Range<usize>,
        rows: &[T],
        stride: usize,
    ) {
        let part = self.part_range(part);
        let full = self.width / T::LANES * T::LANES;
        for (position, row) in positions.zip(rows.chunks_exact(stride)) {
            for entry in self.dense.range(position, self.parts, part.clone()) {
                let cell = self.dense.cells[entry] as usize - target.dense_start;
                let cells = &mut target.dense[cell..cell + self.width];
                let value = T::from_f32(self.dense.values.get(entry).copied().unwrap_or(1.0));
                let pairs = cells[..full]
                    .chunks_exact_mut(T::LANES)
                    .zip(row.chunks_exact(T::LANES));
                for (cells, from) in pairs {
                    simd.store(
                        simd.mul_add(simd.splat(value), simd.load(from), simd.load(cells)),
                        cells,
                    );
                }
                for (cell, &add) in cells[full..].iter_mut().zip(&row[full..self.width]) {
                    *cell += value * add;
                }
            }
            self.scatter_sparse(part.clone(), target, position, row);
        }
    }

    #[inline(always)]
    fn scatter_sparse<T: Real>(
        &self,
        part: Range<usize>,
        target: &mut Part<'_, T>,
        position: usize,
        row: &[T],
    ) {
        let range = self.sparse.range(position, self.parts, part);
        let ahead = self.sparse.ahead(&range);
        let cells = &self.sparse.cells[range.clone()];
        let columns = &self.sparse_columns[range.clone()];
        if self.sparse.values.is_empty() {
            for ((&cell, &column), &ahead) in cells.iter().zip(columns).zip(ahead) {
                prefetch(target.sparse, (ahead as usize).wrapping_sub(target.sparse_start));
                target.sparse[cell as usize - target.sparse_start] += row[column.index()];
            }
        } else {
            for ((&cell, &column), &value) in cells.iter().zip(columns).zip(&self.sparse.values[range]) {
                target.sparse[cell as usize - target.sparse_start] +=
                    T::from_f32(value) * row[column.index()];
            }
        }
    }
}

/// Kernel of [`Block::score`].
pub struct Score<'a, T, C> {
    block: &'a Block<C>,
    weights: &'a [T],
    positions: Range<usize>,
    initial: &'a [T],
    rows: &'a mut [T],
}

impl<T: Real, C: Column> Kernel<T> for Score<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self {
            block,
            weights,
            positions,
            initial,
            rows,
        } = self;
        match initial.len() / T::LANES {
            1 => block.score_rows::<T, S, 1>(simd, weights, positions, initial, rows),
            2 => block.score_rows::<T, S, 2>(simd, weights, positions, initial, rows),
            3 => block.score_rows::<T, S, 3>(simd, weights, positions, initial, rows),
            4 => block.score_rows::<T, S, 4>(simd, weights, positions, initial, rows),
            5 => block.score_rows::<T, S, 5>(simd, weights, positions, initial, rows),
            6 => block.score_rows::<T, S, 6>(simd, weights, positions, initial, rows),
            7 => block.score_rows::<T, S, 7>(simd, weights, positions, initial, rows),
            8 => block.score_rows::<T, S, 8>(simd, weights, positions, initial, rows),
            _ => block.score_wide_rows(simd, weights, positions, initial, rows),
        }
    }
}

/// Kernel of [`Block::scatter`].
pub struct Scatter<'a, 'g, T, C> {
    block: &'a Block<C>,
    part: Option<usize>,
    target: &'a mut Part<'g, T>,
    positions: Range<usize>,
    rows: &'a [T],
    stride: usize,
}

impl<T: Real, C: Column> Kernel<T> for Scatter<'_, '_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self {
            block,
            part,
            target,
            positions,
            rows,
            stride,
        } = self;
        match stride / T::LANES {
            1 => block.scatter_rows::<T, S, 1>(simd, part, target, positions, rows),
            2 => block.scatter_rows::<T, S, 2>(simd, part, target, positions, rows),
            3 => block.scatter_rows::<T, S, 3>(simd, part, target, positions, rows),
            4 => block.scatter_rows::<T, S, 4>(simd, part, target, positions, rows),
            5 => block.scatter_rows::<T, S, 5>(simd, part, target, positions, rows),
            6 => block.scatter_rows::<T, S, 6>(simd, part, target, positions, rows),
            7 => block.scatter_rows::<T, S, 7>(simd, part, target, positions, rows),
            8 => block.scatter_rows::<T, S, 8>(simd, part, target, positions, rows),
            _ => block.scatter_wide_rows(simd, part, target, positions, rows, stride),
        }
    }
}
