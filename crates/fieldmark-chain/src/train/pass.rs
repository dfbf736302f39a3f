//! One pass over the data: what is computed in parallel, and in which order it is summed.
//!
//! A pass works in batches. First, groups of sequences in parallel: scores, forward–backward, and in place of
//! each position's scores the difference d_t of the two marginal distributions. Then, parts of the weights in
//! parallel: each part adds up the rows d_t of the positions where its observations occur. Sums over groups are
//! taken in the order of the groups and each cell of the gradient is summed by one thread in the order of
//! positions, so the result is the same to the last bit for any number of threads.
//!
//! Where there is much work for each weight, the data are cut into a few *shards*, each with a gradient of its
//! own; the gradients are added up in the order of the shards. A thread that has a shard to itself waits for
//! nobody and reads no row that another core wrote. The cut depends on the data alone, so the result is still the
//! same for any number of threads.

use super::block::Part;
use super::objective::Field;
use super::real::TrainingReal;
use super::sequence::Worker;
use super::sums::{Sums, Totals};
use fieldmark_core::Dataset;
use fieldmark_core::large::LargeVec;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Positions in a group: the unit of work of a thread, and of summation.
const GROUP_POSITIONS: usize = 512;
/// Positions in a batch of one thread: their rows should stay in its cache.
const BATCH_POSITIONS: usize = 2048;
/// Positions in a batch, for each of several threads: enough groups that none waits long for the others.
const SHARED_BATCH_POSITIONS: usize = 8192;

/// The instances that a pass visits.
#[derive(Clone, Copy)]
pub(super) enum Places<'a> {
    /// So many, in order.
    All(usize),
    List(&'a [u32]),
}

impl Places<'_> {
    fn len(self) -> usize {
        match self {
            Places::All(count) => count,
            Places::List(list) => list.len(),
        }
    }

    #[inline(always)]
    pub(super) fn get(self, place: usize) -> usize {
        match self {
            Places::All(_) => place,
            Places::List(list) => list[place] as usize,
        }
    }
}

/// A run of sequences and the sums over them.
pub(super) struct Group<T> {
    /// Places in the list of instances.
    pub(super) places: Range<usize>,
    pub(super) positions: usize,
    pub(super) sums: Sums<T>,
}

/// A run of groups with a gradient of its own, and scratch memory for a batch of them.
pub(super) struct Shard<T> {
    instances: Range<usize>,
    /// Zero between passes; empty for the first shard, which adds to the gradient of the caller.
    gradient: LargeVec<T>,
    rows: Vec<T>,
    pair_rows: Vec<T>,
    groups: Vec<Group<T>>,
}

impl<T: TrainingReal> Shard<T> {
    /// Cuts data into shards, for a pass that adds to `cells` weights `work` times.
    pub(super) fn cut(data: &Dataset, work: usize, cells: usize) -> Vec<Self> {
        /// To clear and to add up a gradient takes a few steps for each cell. With so much other work for it in
        /// each shard, 8 shards were measured to cost about 3 % of a pass in all. The more shards, the shorter a
        /// thread waits for the last one.
        const WORK_PER_CELL: usize = 12;
        const MOST: usize = 16;
        let affordable = (work / (WORK_PER_CELL * cells.max(1))).clamp(1, MOST);
        // A power of two deals out evenly among the usual numbers of threads.
        let count = 1 << affordable.ilog2();
        let (mut next, mut positions) = (0, 0);
        let shard = |number: usize| {
            let start = next;
            while next < data.len() && positions * count < data.positions() * number {
                positions += data.instance(next).len();
                next += 1;
            }
            Self {
                instances: start..next,
                gradient: LargeVec::default(),
                rows: Vec::new(),
                pair_rows: Vec::new(),
                groups: Vec::new(),
            }
        };
        (1..=count).map(shard).collect()
    }

    /// The gradient of this shard, all zeros.
    fn take_gradient(&mut self, cells: usize) -> LargeVec<T> {
        match std::mem::take(&mut self.gradient) {
            own if own.len() == cells => own,
            _ => LargeVec::zeroed(cells),
        }
    }

    /// Bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        (self.gradient.len() + self.rows.capacity() + self.pair_rows.capacity()) * size_of::<T>()
    }
}

/// Bytes that passes with this many shards take: the gradients of shards, the rows and sums of batches, and the
/// tables of each thread for one sequence.
pub(super) fn memory_of_passes<T: TrainingReal>(field: &Field<'_, T>, shards: usize) -> usize {
    let data = &field.data;
    let automaton = field.structure.automaton();
    let (labels, states, arcs) = (automaton.labels(), automaton.states(), automaton.arcs().len());
    let longest = data.instances().map(|instance| instance.len()).max().unwrap_or(0);
    // One thread takes them in turn, and uses the memory of two.
    let shards_in_hand = if field.threads == 1 { 1 } else { shards };
    let in_hand = match field.threads > shards {
        true => SHARED_BATCH_POSITIONS * field.threads,
        false => (BATCH_POSITIONS + longest) * shards_in_hand,
    };
    let in_hand = in_hand.min(data.positions());
    let rows = in_hand * (field.stride + field.pair_stride);
    let sums = in_hand.div_ceil(GROUP_POSITIONS) * (arcs + labels * field.stride + labels + states);
    let steps = if field.pair.is_some() { arcs } else { 0 };
    let tables = field.threads * longest * (3 * field.stride + 3 * states + field.pair_stride + steps);
    let gradients = (shards - 1).min(shards_in_hand) * field.block_cells();
    (gradients + rows + sums + tables) * size_of::<T>()
}

/// What a pass reads, and its threads' scratch memory.
pub(super) struct Pass<'a, T> {
    pub(super) field: &'a Field<'a, T>,
    pub(super) instances: Places<'a>,
    pub(super) weights: &'a [T],
    pub(super) workers: &'a [Mutex<Worker<T>>],
}

impl<T: TrainingReal> Pass<'_, T> {
    /// Adds to the gradient; returns the other sums.
    pub(super) fn run(&self, shards: &mut [Shard<T>], gradient: &mut [T]) -> Totals {
        match self.instances {
            Places::All(_) if shards.len() > 1 => self.run_shards(shards, gradient),
            _ => {
                let all = 0..self.instances.len();
                self.run_shard(&mut shards[0], all, gradient, self.field.threads > 1)
            }
        }
    }

    fn run_shards(&self, shards: &mut [Shard<T>], gradient: &mut [T]) -> Totals {
        if self.field.threads == 1 {
            return self.run_in_turn(shards, gradient);
        }
        let shared = self.field.threads > shards.len();
        let cells = gradient.len();
        let (first, others) = shards.split_at_mut(1);
        let run_first = || {
            let instances = first[0].instances.clone();
            self.run_shard(&mut first[0], instances, gradient, shared)
        };
        let run_other = |shard: &mut Shard<T>| {
            let mut own = shard.take_gradient(cells);
            let totals = self.run_shard(shard, shard.instances.clone(), &mut own, shared);
            shard.gradient = own;
            totals
        };
        let run_others = || others.par_iter_mut().with_max_len(1).map(run_other).collect();
        let (mut totals, rest): (Totals, Vec<Totals>) = rayon::join(run_first, run_others);
        rest.iter().for_each(|other| totals.merge(other));
        self.add_and_clear(gradient, others);
        totals
    }

    /// One shard after the other: the scratch memory and the gradient of the second do for all.
    fn run_in_turn(&self, shards: &mut [Shard<T>], gradient: &mut [T]) -> Totals {
        let (first, others) = shards.split_at_mut(1);
        let first = &mut first[0];
        let mut totals = self.run_shard(first, first.instances.clone(), gradient, false);
        let mut own = others[0].take_gradient(gradient.len());
        for shard in &*others {
            totals.merge(&self.run_shard(first, shard.instances.clone(), &mut own, false));
            add_and_clear(gradient, &mut own);
        }
        others[0].gradient = own;
        totals
    }

    /// Adds the gradients of shards, one after the other, and sets them to zero.
    fn add_and_clear(&self, gradient: &mut [T], shards: &mut [Shard<T>]) {
        /// Small enough that a piece of the sum stays in the cache while the terms pass by.
        const PIECE: usize = 1 << 14;
        let mut own: Vec<_> = shards
            .iter_mut()
            .map(|shard| shard.gradient.chunks_mut(PIECE))
            .collect();
        let pieces: Vec<(&mut [T], Vec<&mut [T]>)> = gradient
            .chunks_mut(PIECE)
            .map(|piece| (piece, own.iter_mut().filter_map(Iterator::next).collect()))
            .collect();
        pieces.into_par_iter().for_each(|(sums, terms)| {
            for term in terms {
                add_and_clear(sums, term);
            }
        });
    }

    /// Visits places in batches. `shared`: with all threads instead of this one.
    fn run_shard(
        &self,
        shard: &mut Shard<T>,
        places: Range<usize>,
        gradient: &mut [T],
        shared: bool,
    ) -> Totals {
        let field = self.field;
        let Shard {
            rows,
            pair_rows,
            groups,
            ..
        } = shard;
        let mut totals = Totals::new(field);
        let mut next = places.start;
        while next < places.end {
            let batch = next..self.form_groups(groups, next..places.end, shared);
            let positions: usize = groups.iter().map(|group| group.positions).sum();
            rows.resize(positions * field.stride, T::ZERO);
            pair_rows.resize(positions * field.pair_stride, T::ZERO);
            self.run_groups(groups, rows, pair_rows, shared);
            groups.iter().for_each(|group| totals.add(&group.sums));
            next = batch.end;
            self.scatter(batch, rows, pair_rows, gradient, shared);
        }
        totals
    }

    /// Groups of sequences for one batch, from the first of `places` on; the place after the last.
    fn form_groups(&self, groups: &mut Vec<Group<T>>, places: Range<usize>, shared: bool) -> usize {
        let most = match shared {
            true => SHARED_BATCH_POSITIONS * self.field.threads,
            false => BATCH_POSITIONS,
        };
        let mut next = places.start;
        let mut used = 0;
        let mut positions = 0;
        while next < places.end && positions < most {
            let start = next;
            let mut group_positions = 0;
            while next < places.end && group_positions < GROUP_POSITIONS {
                group_positions += self.field.data.instance(self.instances.get(next)).len();
                next += 1;
            }
            positions += group_positions;
            if used == groups.len() {
                groups.push(Group {
                    places: 0..0,
                    positions: 0,
                    sums: Sums::default(),
                });
            }
            groups[used].places = start..next;
            groups[used].positions = group_positions;
            used += 1;
        }
        groups.truncate(used);
        next
    }

    fn run_groups(&self, groups: &mut [Group<T>], mut rows: &mut [T], mut pair_rows: &mut [T], shared: bool) {
        let field = self.field;
        let mut tasks = Vec::with_capacity(groups.len());
        for group in groups {
            let (own, rest) = rows.split_at_mut(group.positions * field.stride);
            let (own_pairs, rest_pairs) = pair_rows.split_at_mut(group.positions * field.pair_stride);
            (rows, pair_rows) = (rest, rest_pairs);
            tasks.push((group, own, own_pairs));
        }
        let run = |(group, rows, pair_rows): (&mut Group<T>, &mut [T], &mut [T])| {
            let index = rayon::current_thread_index().unwrap_or(0) % self.workers.len();
            // A worker holds no state between groups, so one that a panic left behind is as good as new.
            let mut worker = self.workers[index]
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            group.sums.clear(field);
            field.run_group(group, rows, pair_rows, &mut worker, self.weights, self.instances);
        };
        if shared {
            tasks.into_par_iter().with_max_len(1).for_each(run);
        } else {
            tasks.into_iter().for_each(run);
        }
    }

    /// Adds the rows of a batch to the gradient.
    fn scatter(&self, places: Range<usize>, rows: &[T], pair_rows: &[T], gradient: &mut [T], shared: bool) {
        let field = self.field;
        let (unary, pair) = gradient.split_at_mut(field.unary.cells());
        let run = |(part, mut unary, mut pairs): (Option<usize>, Part<'_, T>, Option<Part<'_, T>>)| {
            let mut first = 0;
            for place in places.clone() {
                let positions = field.data.instance(self.instances.get(place)).positions();
                let own = first..first + positions.len();
                first = own.end;
                if let (Some(block), Some(pairs)) = (&field.pair, &mut pairs) {
                    let rows = &pair_rows[own.start * field.pair_stride..own.end * field.pair_stride];
                    block.scatter(part, pairs, positions.clone(), rows, field.pair_stride);
                }
                let rows = &rows[own.start * field.stride..own.end * field.stride];
                field
                    .unary
                    .scatter(part, &mut unary, positions, rows, field.stride);
            }
        };
        let pair_block = field.pair.as_ref();
        if shared {
            let mut pairs = pair_block
                .map(|block| block.split(pair))
                .unwrap_or_default()
                .into_iter();
            let parts: Vec<_> = field.unary.split(unary).into_iter().enumerate().collect();
            let parts: Vec<_> = parts
                .into_iter()
                .map(|(index, part)| (Some(index), part, pairs.next()))
                .collect();
            parts.into_par_iter().with_max_len(1).for_each(run);
        } else {
            let pairs = pair_block.map(|block| block.whole(pair));
            run((None, field.unary.whole(unary), pairs));
        }
    }
}

/// Adds the terms to the sums and sets them to zero.
fn add_and_clear<T: TrainingReal>(sums: &mut [T], terms: &mut [T]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += std::mem::take(term);
    }
}
