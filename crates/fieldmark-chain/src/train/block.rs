//! [`Block`]: the weights of one feature table in the layout that training computes in.
//!
//! An observation that has a weight with many of the columns becomes a *dense row*: one cell for every column,
//! added as vectors. The few cells of a dense row that belong to no feature are *holes*; their gradient is
//! set to zero, so they stay zero. An observation with few weights keeps just these, as *sparse cells*.
//! Positions are spelled out as lists of dense rows and sparse cells, so that the inner loops follow no
//! indices. Both lists are sorted by cell: a contiguous range of cells (a *part*) is then a contiguous range of
//! each list, and threads that own different parts add to the gradient without meeting.

use super::real::TrainingReal;
use crate::features::FeatureTable;
use fieldmark_core::Observations;
use fieldmark_core::kernels::Real;
use std::ops::Range;

mod kernels;

pub use kernels::{Scatter, Score};

/// A column number, as narrow as the table allows.
pub trait Column: Copy + Send + Sync + 'static {
    fn new(column: u32) -> Self;
    fn index(self) -> usize;
    fn score<T: TrainingReal>(kernel: Score<'_, T, Self>);
    fn scatter<T: TrainingReal>(kernel: Scatter<'_, '_, T, Self>);
}

impl Column for u16 {
    fn new(column: u32) -> Self {
        column as u16
    }
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
    fn score<T: TrainingReal>(kernel: Score<'_, T, Self>) {
        T::score_labels(kernel);
    }
    fn scatter<T: TrainingReal>(kernel: Scatter<'_, '_, T, Self>) {
        T::scatter_labels(kernel);
    }
}

impl Column for u32 {
    fn new(column: u32) -> Self {
        column
    }
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
    fn score<T: TrainingReal>(kernel: Score<'_, T, Self>) {
        T::score_pairs(kernel);
    }
    fn scatter<T: TrainingReal>(kernel: Scatter<'_, '_, T, Self>) {
        T::scatter_pairs(kernel);
    }
}

/// One entry of a position's list: where its weights are, and the value of the observation.
struct Entries {
    /// With some more at the end, so that there is always something ahead.
    cells: Vec<u32>,
    /// Parallel to `cells`, or empty when every value is 1.
    values: Vec<f32>,
    /// `parts + 1` borders for each position (the last of one is the first of the next).
    offsets: Vec<u32>,
}

impl Entries {
    #[inline(always)]
    fn range(&self, position: usize, parts: usize, part: Range<usize>) -> Range<usize> {
        let base = position * parts;
        self.offsets[base + part.start] as usize..self.offsets[base + part.end] as usize
    }

    /// As many entries as `range` has, some way behind it: what later positions will need.
    #[inline(always)]
    fn ahead(&self, range: &Range<usize>) -> &[u32] {
        &self.cells[range.start + PREFETCH_DISTANCE..range.end + PREFETCH_DISTANCE]
    }

    fn len(&self) -> usize {
        self.cells.len() - PREFETCH_DISTANCE
    }
}

pub struct Block<C> {
    width: usize,
    /// Cells from one dense row to the next.
    pitch: usize,
    /// First cell of each observation's weights.
    row_cells: Vec<u32>,
    /// Cells below are dense rows, cells from here on sparse. Numbered from 0 within the block.
    dense_cells: usize,
    cells: usize,
    holes: Vec<u32>,
    dense: Entries,
    sparse: Entries,
    sparse_columns: Vec<C>,
    parts: usize,
    /// Borders of the parts among dense cells and among sparse cells.
    dense_borders: Vec<usize>,
    sparse_borders: Vec<usize>,
}

/// An observation becomes a dense row when it has weights with at least one in this many columns.
const DENSE_SHARE: usize = 4;

/// Dense rows are padded to this many cells, a cache line of `f64`, when that adds at most one cell in
/// `PADDING_SHARE`: a row then takes no more lines than it must, and no vector of it lies on two.
const LINE_CELLS: usize = 8;
const PADDING_SHARE: usize = 8;

/// Entries between a weight's prefetch and its use.
const PREFETCH_DISTANCE: usize = 72;

/// The cells of one part of a gradient.
pub struct Part<'a, T> {
    dense: &'a mut [T],
    dense_start: usize,
    sparse: &'a mut [T],
    sparse_start: usize,
}

impl<C: Column> Block<C> {
    /// Lays out `table` for the positions of `observations`, in `parts` parts of about equal work.
    pub(crate) fn new(
        table: &FeatureTable,
        width: usize,
        observations: &Observations,
        positions: usize,
        parts: usize,
    ) -> Self {
        let is_dense =
            |row: u32| table.columns(row).len() * DENSE_SHARE >= width && !table.columns(row).is_empty();
        let padded = width.next_multiple_of(LINE_CELLS);
        let pitch = if (padded - width) * PADDING_SHARE <= width {
            padded
        } else {
            width
        };
        let dense_cells = (0..table.rows() as u32).filter(|&row| is_dense(row)).count() * pitch;
        // Weights that are used often lie together, so that they stay in the cache.
        let mut touches = vec![0u32; table.rows()];
        for &id in observations.all_ids() {
            touches[id as usize] += 1;
        }
        let mut order: Vec<u32> = (0..table.rows() as u32).collect();
        order.sort_by_key(|&row| std::cmp::Reverse(touches[row as usize]));
        let mut row_cells = vec![0; table.rows()];
        let mut holes = Vec::new();
        let (mut next_dense, mut next_sparse) = (0, dense_cells);
        for &row in &order {
            if is_dense(row) {
                row_cells[row as usize] = next_dense as u32;
                let mut columns = table.columns(row).iter().copied().peekable();
                for column in 0..pitch as u32 {
                    if columns.next_if_eq(&column).is_none() {
                        holes.push(next_dense as u32 + column);
                    }
                }
                next_dense += pitch;
            } else {
                row_cells[row as usize] = next_sparse as u32;
                next_sparse += table.columns(row).len();
            }
        }
        let mut block = Self {
            width,
            pitch,
            row_cells,
            dense_cells,
            cells: next_sparse,
            holes,
            dense: Entries {
                cells: Vec::new(),
                values: Vec::new(),
                offsets: Vec::new(),
            },
            sparse: Entries {
                cells: Vec::new(),
                values: Vec::new(),
                offsets: Vec::new(),
            },
            sparse_columns: Vec::new(),
            parts,
            dense_borders: Vec::new(),
            sparse_borders: Vec::new(),
        };
        block.set_borders(table, &order, &touches);
        block.list_positions(table, observations, positions);
        block
    }

    /// Splits the cells so that each part is touched about equally often.
    fn set_borders(&mut self, table: &FeatureTable, order: &[u32], touches: &[u32]) {
        let borders = |dense: bool, end: usize| -> Vec<usize> {
            let cells = |row: u32| if dense { 1 } else { table.columns(row).len() as u64 };
            let work = |row: u32| u64::from(touches[row as usize]) * cells(row);
            let chosen = order.iter().copied().filter(|&row| {
                let cell = self.row_cells[row as usize] as usize;
                !table.columns(row).is_empty() && (cell < self.dense_cells) == dense
            });
            let total: u64 = chosen.clone().map(work).sum();
            let mut borders = vec![if dense { 0 } else { self.dense_cells }];
            let mut done = 0;
            for row in chosen {
                if done * self.parts as u64 >= total * borders.len() as u64 && borders.len() < self.parts {
                    borders.push(self.row_cells[row as usize] as usize);
                }
                done += work(row);
            }
            borders.resize(self.parts, end);
            borders.push(end);
            borders
        };
        let (dense, sparse) = (borders(true, self.dense_cells), borders(false, self.cells));
        (self.dense_borders, self.sparse_borders) = (dense, sparse);
    }

    fn list_positions(&mut self, table: &FeatureTable, observations: &Observations, positions: usize) {
        let ones = observations.all_ones();
        let mut dense: Vec<(u32, f32)> = Vec::new();
        let mut sparse: Vec<(u32, f32, u32)> = Vec::new();
        // Counted first, so that the lists are allocated once.
        let (mut dense_total, mut sparse_total) = (0, 0);
        for &id in observations.all_ids() {
            let features = table.columns(id).len();
            if (self.row_cells[id as usize] as usize) < self.dense_cells && features > 0 {
                dense_total += 1;
            } else {
                sparse_total += features;
            }
        }
        self.dense.cells.reserve_exact(dense_total + PREFETCH_DISTANCE);
        self.sparse.cells.reserve_exact(sparse_total + PREFETCH_DISTANCE);
        self.sparse_columns.reserve_exact(sparse_total);
        if !ones {
            self.dense.values.reserve_exact(dense_total);
            self.sparse.values.reserve_exact(sparse_total);
        }
        self.dense.offsets.reserve_exact(positions * self.parts + 1);
        self.sparse.offsets.reserve_exact(positions * self.parts + 1);
        self.dense.offsets.push(0);
        self.sparse.offsets.push(0);
        for position in 0..positions {
            dense.clear();
            sparse.clear();
            for (id, value) in observations.iter(position) {
                let columns = table.columns(id);
                let cell = self.row_cells[id as usize];
                if columns.is_empty() {
                } else if (cell as usize) < self.dense_cells {
                    dense.push((cell, value));
                } else {
                    let cells = columns.iter().zip(cell..);
                    sparse.extend(cells.map(|(&column, cell)| (cell, value, column)));
                }
            }
            dense.sort_unstable_by_key(|entry| entry.0);
            sparse.sort_unstable_by_key(|entry| entry.0);
            for part in 0..self.parts {
                let place = dense.partition_point(|entry| (entry.0 as usize) < self.dense_borders[part + 1]);
                self.dense.offsets.push((self.dense.cells.len() + place) as u32);
                let place =
                    sparse.partition_point(|entry| (entry.0 as usize) < self.sparse_borders[part + 1]);
                self.sparse.offsets.push((self.sparse.cells.len() + place) as u32);
            }
            self.dense.cells.extend(dense.iter().map(|entry| entry.0));
            self.sparse.cells.extend(sparse.iter().map(|entry| entry.0));
            self.sparse_columns
                .extend(sparse.iter().map(|entry| C::new(entry.2)));
            if !ones {
                self.dense.values.extend(dense.iter().map(|entry| entry.1));
                self.sparse.values.extend(sparse.iter().map(|entry| entry.1));
            }
        }
        for entries in [&mut self.dense, &mut self.sparse] {
            let padded = entries.cells.len() + PREFETCH_DISTANCE;
            entries.cells.resize(padded, 0);
        }
    }

    /// Number of cells, holes included.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    /// How often a pass adds to a cell.
    pub(crate) fn work(&self) -> usize {
        self.dense.len() * self.width + self.sparse.len()
    }

    /// Cells that belong to no feature.
    pub(crate) fn holes(&self) -> &[u32] {
        &self.holes
    }

    /// Calls `visit` with every feature and its cell, in the order of features.
    pub(crate) fn for_each_cell(&self, table: &FeatureTable, mut visit: impl FnMut(usize, usize)) {
        for row in 0..table.rows() as u32 {
            let first = self.row_cells[row as usize] as usize;
            let dense = first < self.dense_cells;
            for (place, feature) in table.features(row).enumerate() {
                let column = table.columns(row)[place] as usize;
                visit(feature, first + if dense { column } else { place });
            }
        }
    }

    /// Splits the block's cells of a gradient among the parts.
    pub(crate) fn split<'a, T>(&self, gradient: &'a mut [T]) -> Vec<Part<'a, T>> {
        let (mut dense, mut sparse) = gradient[..self.cells].split_at_mut(self.dense_cells);
        let mut parts = Vec::with_capacity(self.parts);
        for part in 0..self.parts {
            let (dense_start, sparse_start) = (self.dense_borders[part], self.sparse_borders[part]);
            let (own_dense, rest) = dense.split_at_mut(self.dense_borders[part + 1] - dense_start);
            dense = rest;
            let (own_sparse, rest) = sparse.split_at_mut(self.sparse_borders[part + 1] - sparse_start);
            sparse = rest;
            parts.push(Part {
                dense: own_dense,
                dense_start,
                sparse: own_sparse,
                sparse_start,
            });
        }
        parts
    }

    /// `split` into a single part, whatever the number of parts.
    pub(crate) fn whole<'a, T>(&self, gradient: &'a mut [T]) -> Part<'a, T> {
        let (dense, sparse) = gradient[..self.cells].split_at_mut(self.dense_cells);
        Part {
            dense,
            dense_start: 0,
            sparse,
            sparse_start: self.dense_cells,
        }
    }

    /// Calls `visit` with the cell of every feature that a column has at a position, and the observation's
    /// value. Cells of dense rows may be holes.
    #[inline(always)]
    pub(crate) fn for_each_feature(&self, position: usize, column: usize, mut visit: impl FnMut(usize, f32)) {
        let value = |values: &[f32], entry: usize| values.get(entry).copied().unwrap_or(1.0);
        for entry in self.dense.range(position, self.parts, 0..self.parts) {
            let cell = self.dense.cells[entry] as usize + column;
            visit(cell, value(&self.dense.values, entry));
        }
        for entry in self.sparse.range(position, self.parts, 0..self.parts) {
            if self.sparse_columns[entry].index() == column {
                visit(
                    self.sparse.cells[entry] as usize,
                    value(&self.sparse.values, entry),
                );
            }
        }
    }

    /// Calls `visit` with the cells of the observations at a position, holes included.
    pub(crate) fn for_each_cells(&self, position: usize, mut visit: impl FnMut(Range<usize>)) {
        for &cell in &self.dense.cells[self.dense.range(position, self.parts, 0..self.parts)] {
            visit(cell as usize..cell as usize + self.width);
        }
        for &cell in &self.sparse.cells[self.sparse.range(position, self.parts, 0..self.parts)] {
            visit(cell as usize..cell as usize + 1);
        }
    }

    /// For each dense row the place of its first hole among [`Block::holes`], and the end of the last.
    pub(crate) fn hole_starts(&self) -> Vec<u32> {
        let rows = self.dense_cells / self.pitch.max(1);
        let starts = (0..=rows).map(|row| {
            self.holes
                .partition_point(|&hole| (hole as usize) < row * self.pitch)
        });
        starts.map(|start| start as u32).collect()
    }

    /// Sets the holes in the dense rows of some positions to zero. `starts` are the [`Block::hole_starts`].
    pub(crate) fn clear_holes<T: Real>(&self, starts: &[u32], positions: Range<usize>, cells: &mut [T]) {
        if self.holes.is_empty() {
            return;
        }
        let base = positions.start * self.parts..positions.end * self.parts;
        let entries = self.dense.offsets[base.start] as usize..self.dense.offsets[base.end] as usize;
        for &cell in &self.dense.cells[entries] {
            let row = cell as usize / self.pitch;
            for &hole in &self.holes[starts[row] as usize..starts[row + 1] as usize] {
                cells[hole as usize] = T::ZERO;
            }
        }
    }

    /// Bytes of memory in use.
    pub(crate) fn memory(&self) -> usize {
        let entries = |e: &Entries| (e.cells.capacity() + e.values.capacity() + e.offsets.capacity()) * 4;
        entries(&self.dense)
            + entries(&self.sparse)
            + self.sparse_columns.capacity() * size_of::<C>()
            + (self.row_cells.capacity() + self.holes.capacity()) * 4
    }
}
