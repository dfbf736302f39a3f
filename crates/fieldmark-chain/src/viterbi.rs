//! The Viterbi algorithm on first-order chains without constraints: the inner loop of tagging.
//!
//! δ_t(j) = s_t(j) + max_i (δ_{t−1}(i) + T(i,j)), over all j at once in vectors (Viterbi 1967). Ties go to the
//! label with the smaller id.

use fieldmark_core::kernels::{Dispatch, Kernel, Real, Simd, dispatch};

/// The steps of a chain, and scratch memory.
pub(crate) struct Tables<T> {
    labels: usize,
    stride: usize,
    /// T(i, ·) in rows of `stride` lanes.
    steps: Vec<T>,
    start: Vec<T>,
    end: Vec<T>,
    delta: Vec<T>,
    next: Vec<T>,
    /// The best predecessor of each label, one row for each position, as a number of the float type.
    back: Vec<T>,
    best: Vec<u32>,
}

impl<T: Dispatch> Tables<T> {
    /// `arcs[j * labels + i]` is the score of i → j.
    pub(crate) fn new(labels: usize, arcs: &[T], start: &[T], end: &[T]) -> Self {
        let stride = labels.next_multiple_of(T::LANES);
        let mut steps = vec![T::ZERO; labels * stride];
        for (arc, &score) in arcs.iter().enumerate() {
            steps[arc % labels * stride + arc / labels] = score;
        }
        let (start, end) = (start.to_vec(), end.to_vec());
        let (delta, next, back) = (vec![T::ZERO; stride], vec![T::ZERO; stride], Vec::new());
        Self {
            labels,
            stride,
            steps,
            start,
            end,
            delta,
            next,
            back,
            best: Vec::new(),
        }
    }

    /// The best labels for rows of finite scores, at least one.
    pub(crate) fn best(&mut self, scores: &[T]) -> &[u32] {
        dispatch(Best { tables: self, scores });
        &self.best
    }

    /// Keeps labels that were found otherwise.
    pub(crate) fn keep(&mut self, labels: Vec<u32>) -> &[u32] {
        self.best = labels;
        &self.best
    }
}

struct Best<'a, T> {
    tables: &'a mut Tables<T>,
    scores: &'a [T],
}

impl<T: Real> Kernel<T> for Best<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Tables {
            labels,
            stride,
            steps,
            start,
            end,
            delta,
            next,
            back,
            best,
        } = self.tables;
        let (labels, stride) = (*labels, *stride);
        let length = self.scores.len() / labels;
        back.resize(length * stride, T::ZERO);
        for (t, scores) in self.scores.chunks_exact(labels).enumerate() {
            if t == 0 {
                for ((delta, &score), &start) in delta.iter_mut().zip(scores).zip(start.iter()) {
                    *delta = score + start;
                }
                continue;
            }
            let back = &mut back[t * stride..(t + 1) * stride];
            for column in (0..stride).step_by(T::LANES) {
                let mut most = simd.add(simd.splat(delta[0]), simd.load(&steps[column..]));
                let mut from = simd.splat(T::ZERO);
                let mut number = T::ZERO;
                for (i, &delta) in delta[..labels].iter().enumerate().skip(1) {
                    number += T::ONE;
                    let score = simd.add(simd.splat(delta), simd.load(&steps[i * stride + column..]));
                    from = simd.select_greater(score, most, simd.splat(number), from);
                    most = simd.select_greater(score, most, score, most);
                }
                simd.store(most, &mut next[column..]);
                simd.store(from, &mut back[column..]);
            }
            for ((delta, &next), &score) in delta.iter_mut().zip(&*next).zip(scores) {
                *delta = next + score;
            }
        }
        let mut label = 0;
        for candidate in 1..labels {
            if delta[candidate] + end[candidate] > delta[label] + end[label] {
                label = candidate;
            }
        }
        best.clear();
        best.resize(length, 0);
        for t in (0..length).rev() {
            best[t] = label as u32;
            label = back[t * stride + label].to_f64() as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Automaton;
    use crate::inference::{ArcScores, Constraints, Lattice, Space, Worker};

    /// Numbers that repeat so often that ties happen.
    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) % 16) as f64 / 4.0
            })
            .collect()
    }

    #[test]
    fn finds_a_sequence_as_good_as_the_general_algorithm() {
        for labels in [1, 2, 3, 4, 5, 9, 22, 40] {
            let automaton = Automaton::complete(labels);
            for length in [1, 2, 7] {
                let seed = (labels * 100 + length) as u64;
                let arcs = numbers(labels * labels, seed);
                let (start, end) = (numbers(labels, seed + 1), numbers(labels, seed + 2));
                let nodes = numbers(labels * length, seed + 3);
                let lattice = Lattice {
                    automaton: &automaton,
                    length,
                    nodes: &nodes,
                    arcs: ArcScores::Static(&arcs),
                    start: &start,
                    end: &end,
                };
                let mut worker = Worker::new(Space::Linear);
                let mut inference = worker.load(&lattice, &Constraints::none()).unwrap();
                let expected = inference.viterbi().unwrap();
                let mut tables = Tables::new(labels, &arcs, &start, &end);
                let found = tables.best(&nodes);
                let score: f64 = found
                    .iter()
                    .enumerate()
                    .map(|(t, &label)| {
                        let label = label as usize;
                        let step = if t == 0 {
                            start[label]
                        } else {
                            arcs[label * labels + found[t - 1] as usize]
                        };
                        let last = if t + 1 == length { end[label] } else { 0.0 };
                        nodes[t * labels + label] + step + last
                    })
                    .sum();
                assert_eq!(found.len(), length);
                assert!(
                    (score - expected.score).abs() < 1e-9,
                    "{score} {}",
                    expected.score
                );
            }
        }
    }
}
