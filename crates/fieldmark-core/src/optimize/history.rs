//! The last m steps and gradient changes, and the quasi-Newton direction that follows from them.
//!
//! The textbook two-loop recursion (Nocedal 1980) reads every stored vector twice, in 4m dependent passes.
//! Here it runs on dot products instead (Byrd, Nocedal & Schnabel 1994; Chen, Wang & Zhou 2014): one pass
//! over memory stores the newest pair and takes all new dot products, the recursion then works on 2m + 1
//! coefficients, and a second pass adds up the direction and moves along it at once: the direction itself is never
//! stored. Pairs are stored as `f32`, which halves the traffic; all products are of the rounded vectors, in
//! `f64`, so the recursion stays consistent with them.

use super::OptimizeError;
use super::Prior;
use super::bytes::{Reader, Writer};
use super::vector::{Change, add_pair, cross, dots, write_pair};
use super::walk::{CHUNK, GRAIN, NORMS, Norms, Slope, Walk, arrive, chunk_range, chunks, sum_chunks};
use crate::large::LargeVec;
use rayon::prelude::*;
use std::io;

/// How the initial inverse Hessian is scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scaling {
    /// sᵀy / yᵀy of the newest pair.
    Newest,
    /// The mean of sᵀy / yᵀy over all pairs, or `first` without any (Schraudolph, Yu & Günter 2007).
    Mean {
        /// Scale of the very first direction.
        first: f64,
    },
}

/// Pairs (s, y) and their dot products with each other and with the current gradient.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct History {
    len: usize,
    memories: usize,
    count: usize,
    /// Slot of the oldest pair. There is one slot more than memories: the next pair is stored and multiplied
    /// before it is known whether it stays.
    oldest: usize,
    /// Chunk after chunk; in a chunk slot after slot; in a slot the chunk of s, then the chunk of y.
    vectors: LargeVec<f32>,
    /// Products by slot: `sy[i * slots + j]` = sᵢᵀyⱼ, for sᵢ not newer than yⱼ.
    sy: Vec<f64>,
    yy: Vec<f64>,
    sg: Vec<f64>,
    yg: Vec<f64>,
    /// Sums per chunk.
    partial: Vec<f64>,
    total: Vec<f64>,
    /// Coefficients of s and y of each slot in the direction, and that of the gradient.
    s_coefficients: Vec<f64>,
    y_coefficients: Vec<f64>,
    g_coefficient: f64,
}

/// The steepness at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival {
    /// Product of the direction and the gradient. (Not with an L1 term, whose projection changes the direction.)
    pub(super) slope: f64,
    /// Squared norm of the (pseudo-)gradient.
    pub(super) square: f64,
}

/// What [`History::advance`] found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// Product of the direction and the (pseudo-)gradient where it starts.
    pub(super) along: f64,
    /// Squared norm of the direction.
    pub(super) square: f64,
    /// The new point.
    pub(super) norms: Norms,
}

impl History {
    /// Room for `memories` pairs of vectors of length `len`.
    pub(super) fn new(len: usize, memories: usize) -> Self {
        let slots = memories + 1;
        History {
            len,
            memories,
            count: 0,
            oldest: 0,
            vectors: LargeVec::zeroed(chunks(len) * 2 * slots * CHUNK),
            sy: vec![0.0; slots * slots],
            yy: vec![0.0; slots * slots],
            sg: vec![0.0; slots],
            yg: vec![0.0; slots],
            partial: vec![0.0; chunks(len) * sums_per_chunk(slots)],
            total: vec![0.0; sums_per_chunk(slots)],
            s_coefficients: vec![0.0; slots],
            y_coefficients: vec![0.0; slots],
            g_coefficient: -1.0,
        }
    }

    /// How many pairs there is room for.
    pub(super) fn memories(&self) -> usize {
        self.memories
    }

    fn slots(&self) -> usize {
        self.memories + 1
    }

    /// Whether no pair is stored.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all pairs.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.oldest = 0;
    }

    /// Slot of the pair with this age, 0 for the oldest; `count` for the next one.
    fn slot(&self, index: usize) -> usize {
        (self.oldest + index) % self.slots()
    }

    /// Makes the pair in the free slot the newest.
    fn make_newest(&mut self) {
        if self.count == self.memories {
            self.oldest = self.slot(1);
        } else {
            self.count += 1;
        }
    }

    /// Stores a pair without its dot products, which [`History::project`] takes later.
    pub(super) fn store(&mut self, change: &Change) {
        let (free, slots, len) = (self.slot(self.count), self.slots(), self.len);
        self.vectors
            .par_chunks_mut(2 * slots * CHUNK)
            .with_min_len(GRAIN)
            .enumerate()
            .for_each(|(index, vectors)| {
                let range = chunk_range(index, len);
                let (s, y) = pair_of(vectors, free, range.len());
                write_pair(&change.part(range), s, y);
            });
        self.make_newest();
    }

    /// Stores a pair on trial and takes all dot products with it and with the gradient, in one pass.
    ///
    /// [`History::keep`] makes it one of the pairs, [`History::advance`] goes on as if it were not there.
    pub(super) fn propose(&mut self, change: &Change, slope: &Slope) -> Arrival {
        self.multiply(self.count, Some(change), slope)
    }

    /// Keeps the pair that was proposed last, if its curvature allows.
    pub(super) fn keep(&mut self) {
        if self.is_sound(self.count) {
            self.make_newest();
        }
    }

    /// Takes the dot products of the newest stored pair and of the gradient.
    pub(super) fn project(&mut self, slope: &Slope) {
        if self.count > 0 {
            self.multiply(self.count - 1, None, slope);
            if !self.is_sound(self.count - 1) {
                self.count -= 1;
            }
        }
    }

    /// Products of the pairs up to `newest` with that one and with the gradient; stores it before, if it is given.
    fn multiply(&mut self, newest: usize, change: Option<&Change>, slope: &Slope) -> Arrival {
        let (len, slots, oldest) = (self.len, self.slots(), self.oldest);
        let newest_slot = self.slot(newest);
        let vectors = self.vectors.par_chunks_mut(2 * slots * CHUNK);
        let partial = self.partial.par_chunks_mut(sums_per_chunk(slots));
        vectors
            .zip(partial)
            .with_min_len(GRAIN)
            .enumerate()
            .for_each(|(index, (vectors, partial))| {
                let range = chunk_range(index, len);
                let width = range.len();
                let (s, y) = pair_of(vectors, newest_slot, width);
                let change = change.map(|change| change.part(range.clone()));
                if let Some(change) = &change {
                    write_pair(change, s, y);
                }
                let mut wide = [0.0; CHUNK];
                for (wide, &y) in wide.iter_mut().zip(&*y) {
                    *wide = f64::from(y);
                }
                let mut scratch = [0.0; CHUNK];
                let gradient = slope.part(range, &mut scratch);
                let (ends, products) = partial.split_at_mut(2);
                if let Some(change) = &change {
                    ends.copy_from_slice(&dots(gradient, change.gradient_from, gradient));
                }
                for (index, sums) in products.chunks_exact_mut(4).enumerate().take(newest + 1) {
                    let (s, y) = pair_of(vectors, (oldest + index) % slots, width);
                    sums.copy_from_slice(&cross(s, y, &wide[..width], gradient));
                }
            });
        sum_chunks(&self.partial, &mut self.total);
        let (ends, products) = self.total.split_at(2);
        let mut slope = self.g_coefficient * ends[0];
        for (index, sums) in products.chunks_exact(4).enumerate().take(newest + 1) {
            let slot = (oldest + index) % slots;
            self.sy[slot * slots + newest_slot] = sums[0];
            self.sg[slot] = sums[1];
            self.yy[slot * slots + newest_slot] = sums[2];
            self.yy[newest_slot * slots + slot] = sums[2];
            self.yg[slot] = sums[3];
            if index < self.count {
                slope += self.s_coefficients[slot] * sums[1] + self.y_coefficients[slot] * sums[3];
            }
        }
        Arrival {
            slope,
            square: ends[1],
        }
    }

    /// Only pairs of positive curvature keep the inverse Hessian positive definite.
    fn is_sound(&self, index: usize) -> bool {
        let m = self.slots();
        let newest = self.slot(index);
        let (sy, yy) = (self.sy[newest * m + newest], self.yy[newest * m + newest]);
        let finite = |slot: usize| {
            let products = [
                self.sy[slot * m + newest],
                self.yy[slot * m + newest],
                self.sg[slot],
                self.yg[slot],
            ];
            products.iter().all(|product| product.is_finite())
        };
        sy > 0.0 && (sy / yy).is_normal() && (0..=index).all(|index| finite(self.slot(index)))
    }

    /// Sets the quasi-Newton direction for the gradient whose products were taken last: the two-loop recursion
    /// on coefficients.
    pub(super) fn solve(&mut self, scaling: Scaling) {
        let (count, m) = (self.count, self.slots());
        let slot = |index: usize| (self.oldest + index) % m;
        let (a, b) = (&mut self.s_coefficients, &mut self.y_coefficients);
        a.fill(0.0);
        b.fill(0.0);
        for index in (0..count).rev() {
            let i = slot(index);
            let newer = (index + 1..count).map(slot);
            let s_p: f64 = -self.sg[i] + newer.map(|j| b[j] * self.sy[i * m + j]).sum::<f64>();
            b[i] = -s_p / self.sy[i * m + i];
        }
        let ratio = |index: usize| {
            let i = slot(index);
            self.sy[i * m + i] / self.yy[i * m + i]
        };
        let scale = match scaling {
            Scaling::Newest if count == 0 => 1.0,
            Scaling::Newest => ratio(count - 1),
            Scaling::Mean { first } if count == 0 => first,
            Scaling::Mean { .. } => (0..count).map(ratio).sum::<f64>() / count as f64,
        };
        self.g_coefficient = -scale;
        // `a` first takes α, then α − β.
        for index in 0..count {
            let i = slot(index);
            a[i] = -b[i];
            b[i] *= scale;
        }
        for index in 0..count {
            let i = slot(index);
            let from_y: f64 = (0..count).map(slot).map(|j| b[j] * self.yy[i * m + j]).sum();
            let from_s: f64 = (0..index).map(slot).map(|j| a[j] * self.sy[j * m + i]).sum();
            a[i] -= (-scale * self.yg[i] + from_y + from_s) / self.sy[i * m + i];
        }
    }

    /// Moves from the walk's previous point by `step` times the direction, in one pass.
    ///
    /// With an L1 term, components of the direction that do not descend become zero (Andrew & Gao 2007,
    /// section 3.2).
    pub(super) fn advance(&mut self, walk: &mut Walk, step: f64, prior: Prior) -> Departure {
        let History {
            len,
            memories,
            count,
            oldest,
            ..
        } = *self;
        let slots = memories + 1;
        let (a, b, scale) = (&self.s_coefficients, &self.y_coefficients, self.g_coefficient);
        let slope = Slope {
            x: &walk.previous_x,
            gradient: &walk.previous_gradient,
            c1: prior.c1,
        };
        let to = walk
            .x
            .par_chunks_mut(CHUNK)
            .zip(walk.gradient.par_chunks_mut(CHUNK));
        let vectors = self.vectors.par_chunks(2 * slots * CHUNK);
        let partial = self.partial.par_chunks_mut(sums_per_chunk(slots));
        let work = to.zip(vectors).zip(partial).with_min_len(GRAIN).enumerate();
        work.for_each(|(index, (((x, gradient), vectors), partial))| {
            let range = chunk_range(index, len);
            let mut scratch = [0.0; CHUNK];
            let slope_here = slope.part(range.clone(), &mut scratch);
            let mut direction = [0.0; CHUNK];
            let direction = &mut direction[..range.len()];
            for (out, g) in direction.iter_mut().zip(slope_here) {
                *out = scale * g;
            }
            for slot in (0..count).map(|index| (oldest + index) % slots) {
                let (s, y) = vectors[2 * slot * CHUNK..2 * (slot + 1) * CHUNK].split_at(CHUNK);
                add_pair(direction, s, y, a[slot], b[slot]);
            }
            if prior.c1 > 0.0 {
                for (out, g) in direction.iter_mut().zip(slope_here) {
                    *out = if *out * g < 0.0 { *out } else { 0.0 };
                }
            }
            let norms = arrive(x, gradient, &slope.x[range], direction, slope_here, step, prior);
            let (sums, rest) = partial.split_at_mut(2);
            sums.copy_from_slice(&dots(direction, slope_here, direction));
            rest[..NORMS].copy_from_slice(&norms);
        });
        let mut total = [0.0; 2 + NORMS];
        for partial in self.partial.chunks_exact(sums_per_chunk(slots)) {
            total
                .iter_mut()
                .zip(partial)
                .for_each(|(total, part)| *total += part);
        }
        let [along, square, norms @ ..] = total;
        Departure {
            along,
            square,
            norms: Norms::from_sums(norms),
        }
    }

    /// Bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        let small = self.sy.len() + self.yy.len() + 4 * self.slots() + self.total.len();
        self.vectors.len() * size_of::<f32>() + (self.partial.len() + small) * size_of::<f64>()
    }

    /// Writes the pairs, oldest first, and their products.
    pub(super) fn write<W: io::Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.usize(self.memories)?;
        writer.usize(self.count)?;
        let slots: Vec<usize> = (0..self.count).map(|index| self.slot(index)).collect();
        for (age, &i) in slots.iter().enumerate() {
            writer.f64(self.sg[i])?;
            writer.f64(self.yg[i])?;
            for (other, &j) in slots.iter().enumerate() {
                writer.f64(if age <= other {
                    self.sy[i * self.slots() + j]
                } else {
                    0.0
                })?;
                writer.f64(self.yy[i * self.slots() + j])?;
            }
        }
        for &slot in &slots {
            for (index, vectors) in self.vectors.chunks_exact(2 * self.slots() * CHUNK).enumerate() {
                let width = chunk_range(index, self.len).len();
                let (s, y) = vectors[2 * slot * CHUNK..2 * (slot + 1) * CHUNK].split_at(CHUNK);
                writer.f32s(&s[..width])?;
                writer.f32s(&y[..width])?;
            }
        }
        Ok(())
    }

    /// Reads what [`History::write`] wrote, for vectors of length `len`.
    pub(super) fn read(reader: &mut Reader, len: usize) -> Result<Self, OptimizeError> {
        let memories = reader.usize()?;
        if !(1..=MAX_MEMORIES).contains(&memories) {
            return Err(OptimizeError::Damaged("an impossible number of memories"));
        }
        let count = reader.count(len.saturating_mul(8))?;
        if count > memories {
            return Err(OptimizeError::Damaged("more pairs than memories"));
        }
        let mut history = History::new(len, memories);
        let slots = history.slots();
        history.count = count;
        for i in 0..count {
            let row = reader.finite_f64s(2 + 2 * count)?;
            (history.sg[i], history.yg[i]) = (row[0], row[1]);
            for (j, products) in row[2..].chunks_exact(2).enumerate() {
                history.sy[i * slots + j] = products[0];
                history.yy[i * slots + j] = products[1];
            }
            if history.sy[i * slots + i] <= 0.0 || history.yy[i * slots + i] <= 0.0 {
                return Err(OptimizeError::Damaged("a pair without positive curvature"));
            }
        }
        for slot in 0..count {
            for (index, vectors) in history.vectors.chunks_exact_mut(2 * slots * CHUNK).enumerate() {
                let (s, y) = pair_of(vectors, slot, chunk_range(index, len).len());
                reader.finite_f32s(s)?;
                reader.finite_f32s(y)?;
            }
        }
        Ok(history)
    }
}

/// More pairs than this cost more than they bring.
pub(super) const MAX_MEMORIES: usize = 1000;

/// Sums that are taken over each chunk: two, and four for each slot.
fn sums_per_chunk(slots: usize) -> usize {
    (2 + 4 * slots).max(2 + NORMS)
}

/// The chunks of s and y in a slot.
fn pair_of(vectors: &mut [f32], slot: usize, width: usize) -> (&mut [f32], &mut [f32]) {
    let (s, y) = vectors[2 * slot * CHUNK..2 * (slot + 1) * CHUNK].split_at_mut(CHUNK);
    (&mut s[..width], &mut y[..width])
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;
    use proptest::prelude::*;

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn rounded(v: &[f64]) -> Vec<f64> {
        v.iter().map(|&v| f64::from(v as f32)).collect()
    }

    /// Textbook recursion over full vectors, oldest pair first.
    fn two_loops(pairs: &[(Vec<f64>, Vec<f64>)], gradient: &[f64], scaling: Scaling) -> Vec<f64> {
        let mut p: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut alphas = Vec::new();
        for (s, y) in pairs.iter().rev() {
            let alpha = dot(s, &p) / dot(s, y);
            p.iter_mut().zip(y).for_each(|(p, y)| *p -= alpha * y);
            alphas.push(alpha);
        }
        let ratio = |(s, y): &(Vec<f64>, Vec<f64>)| dot(s, y) / dot(y, y);
        let scale = match scaling {
            Scaling::Newest => pairs.last().map_or(1.0, ratio),
            Scaling::Mean { first } if pairs.is_empty() => first,
            Scaling::Mean { .. } => pairs.iter().map(ratio).sum::<f64>() / pairs.len() as f64,
        };
        p.iter_mut().for_each(|p| *p *= scale);
        for ((s, y), alpha) in pairs.iter().zip(alphas.iter().rev()) {
            let beta = dot(y, &p) / dot(y, s);
            p.iter_mut().zip(s).for_each(|(p, s)| *p += (alpha - beta) * s);
        }
        p
    }

    /// Random steps over a function whose gradient is a random diagonal times x, plus some noise.
    fn random_pairs(len: usize, count: usize, seed: u64) -> Vec<[Vec<f64>; 4]> {
        let mut random = Random::new(seed);
        let curvature: Vec<f64> = (0..len).map(|_| (2.0 * random.signed()).exp()).collect();
        let mut gradient = |x: &[f64]| -> Vec<f64> {
            x.iter()
                .zip(&curvature)
                .map(|(x, c)| c * x + 0.01 * random.signed())
                .collect()
        };
        let mut walk = Random::new(seed ^ 1);
        let mut x = walk.vector(len);
        let mut g = gradient(&x);
        let mut pairs = Vec::new();
        for _ in 0..count {
            let to: Vec<f64> = x.iter().map(|x| x + walk.signed()).collect();
            let gradient_to = gradient(&to);
            pairs.push([to.clone(), x, gradient_to.clone(), g]);
            (x, g) = (to, gradient_to);
        }
        pairs
    }

    fn check_direction(
        len: usize,
        memories: usize,
        count: usize,
        seed: u64,
        scaling: Scaling,
        deferred: bool,
    ) {
        let mut history = History::new(len, memories);
        history.solve(scaling);
        let mut kept: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        let mut gradient = Random::new(seed ^ 2).vector(len);
        for [to, from, gradient_to, gradient_from] in &random_pairs(len, count, seed) {
            let change = Change {
                to,
                from,
                gradient_to,
                gradient_from,
                lambda: 0.25,
            };
            let slope = Slope {
                x: to,
                gradient: gradient_to,
                c1: 0.0,
            };
            let s: Vec<f64> = to.iter().zip(from).map(|(a, b)| a - b).collect();
            let y: Vec<f64> = gradient_to
                .iter()
                .zip(gradient_from)
                .zip(&s)
                .map(|((a, b), s)| a - b + 0.25 * s)
                .collect();
            let (s, y) = (rounded(&s), rounded(&y));
            if deferred {
                history.store(&change);
                history.project(&slope);
            } else {
                let arrival = history.propose(&change, &slope);
                assert!((arrival.square - dot(gradient_to, gradient_to)).abs() <= 1e-12 * arrival.square);
                let direction = two_loops(&kept, gradient_from, scaling);
                let size = (arrival.square * dot(&direction, &direction)).sqrt();
                assert!((arrival.slope - dot(&direction, gradient_to)).abs() <= 1e-10 * size);
                history.keep();
                history.solve(scaling);
            }
            if dot(&s, &y) > 0.0 {
                kept.push((s, y));
            } else if deferred {
                // The pair took the place of the oldest before it was found unsound.
                kept.drain(..(kept.len() + 1).saturating_sub(memories));
            }
            kept.drain(..kept.len().saturating_sub(memories));
            gradient.copy_from_slice(gradient_to);
        }
        let mut walk = Walk::new(vec![0.0; len], gradient.clone());
        walk.turn();
        history.solve(scaling);
        let Departure { along, square, .. } = history.advance(&mut walk, 1.0, Prior::default());
        let expected = two_loops(&kept, &gradient, scaling);
        let size = dot(&expected, &expected).sqrt();
        for (found, expected) in walk.x.iter().zip(&expected) {
            assert!((found - expected).abs() <= 1e-10 * size, "{found} {expected}");
        }
        assert!((along - dot(&expected, &gradient)).abs() <= 1e-10 * size * dot(&gradient, &gradient).sqrt());
        assert!((square - size * size).abs() <= 1e-10 * size * size);
    }

    proptest! {
        #[test]
        fn the_direction_is_that_of_the_two_loop_recursion(
            len in 1usize..40, memories in 1usize..8, count in 0usize..20, seed: u64, deferred: bool,
        ) {
            check_direction(len, memories, count, seed, Scaling::Newest, deferred);
            check_direction(len, memories, count, seed, Scaling::Mean { first: 1e-3 }, deferred);
        }
    }

    #[test]
    fn the_direction_is_right_across_chunks() {
        for len in [CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
            check_direction(len, 4, 7, len as u64, Scaling::Newest, false);
            check_direction(len, 4, 7, len as u64, Scaling::Newest, true);
        }
    }

    #[test]
    fn pairs_without_positive_curvature_are_dropped() {
        let mut history = History::new(2, 3);
        let (zero, one) = ([0.0, 0.0], [1.0, 1.0]);
        let falling = Change {
            to: &one,
            from: &zero,
            gradient_to: &zero,
            gradient_from: &one,
            lambda: 0.0,
        };
        history.propose(
            &falling,
            &Slope {
                x: &one,
                gradient: &zero,
                c1: 0.0,
            },
        );
        history.keep();
        assert!(history.is_empty());
        let huge = [1e200, 1.0];
        let overflow = Change {
            to: &huge,
            from: &zero,
            gradient_to: &one,
            gradient_from: &zero,
            lambda: 0.0,
        };
        history.propose(
            &overflow,
            &Slope {
                x: &huge,
                gradient: &one,
                c1: 0.0,
            },
        );
        history.keep();
        assert!(history.is_empty());
    }
}
