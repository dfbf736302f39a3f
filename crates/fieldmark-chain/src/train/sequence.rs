//! One sequence at a time: from scores to its loss and the differences d_t of its marginal distributions.

use super::objective::{Arithmetic, Field};
use super::pass::{Group, Places};
use super::real::TrainingReal;
use super::sums::Sums;
use super::{dense, general};
use fieldmark_core::kernels::Real;
use fieldmark_core::{Gold, Instance};

/// Scratch memory of one thread.
#[derive(Default)]
pub(super) struct Worker<T> {
    dense: dense::Tables<T>,
    general: general::Tables<T>,
    scores: Vec<T>,
    allowed: Vec<T>,
    pair_scores: Vec<T>,
}

/// What is known of a sequence before its forward and backward passes.
struct Scored<T> {
    /// Sum of the maxima of its scores, and their widest spread at a position.
    scale: (f64, T),
    /// The score of the gold labels, when all are known.
    gold: Option<f64>,
}

impl<T: TrainingReal> Field<'_, T> {
    /// Scores, forward–backward and differences of marginals for one group.
    pub(super) fn run_group(
        &self,
        group: &mut Group<T>,
        rows: &mut [T],
        pair_rows: &mut [T],
        worker: &mut Worker<T>,
        weights: &[T],
        instances: Places<'_>,
    ) {
        let sums = &mut group.sums;
        let mut first = 0;
        for place in group.places.clone() {
            let instance = self.data.instance(instances.get(place));
            let length = instance.len();
            let rows = &mut rows[first * self.stride..(first + length) * self.stride];
            let pair_rows = &mut pair_rows[first * self.pair_stride..(first + length) * self.pair_stride];
            first += length;
            self.unary.score(weights, instance.positions(), &self.bias, rows);
            self.rescale(rows);
            sums.loss += if self.is_dense() {
                self.dense_sequence(instance, rows, worker, sums)
            } else {
                self.general_sequence(instance, weights, rows, pair_rows, worker, sums)
            };
            if !sums.labels.is_empty() {
                for row in rows.chunks_exact(self.stride) {
                    sums.labels.iter_mut().zip(row).for_each(|(sum, &d)| *sum += d);
                }
            }
        }
    }

    fn rescale(&self, scores: &mut [T]) {
        if self.scale != T::ONE {
            scores.iter_mut().for_each(|score| *score *= self.scale);
        }
    }

    /// Turns the scores of a sequence into differences of marginals; returns its loss.
    fn dense_sequence(
        &self,
        instance: Instance<'_>,
        rows: &mut [T],
        worker: &mut Worker<T>,
        sums: &mut Sums<T>,
    ) -> f64 {
        let stride = self.stride;
        let length = instance.len();
        let gold = self.subtract_gold_path(instance, rows, sums);
        let (maxima, spread) = dense::exponentiate(stride, rows, &mut worker.dense.psi);
        if !self.chain.is_safe(spread) {
            let scored = Scored {
                scale: (maxima, spread),
                gold,
            };
            return self.general_passes(instance, scored, rows, &mut [], worker, sums);
        }
        let log_scale = self.chain.log_scale(length) + maxima;
        let log_z = log_scale + dense::forward_backward(&self.chain, &mut worker.dense, rows);
        dense::add_steps(&self.chain, &worker.dense, T::ONE, &mut sums.steps);
        if self.structure.options().boundaries {
            let last = &rows[(length - 1) * stride..];
            sums.start.iter_mut().zip(&*rows).for_each(|(sum, &p)| *sum += p);
            sums.end.iter_mut().zip(last).for_each(|(sum, &p)| *sum += p);
        }
        let gold = match gold {
            Some(score) => {
                subtract_labels(instance, rows, stride);
                score
            }
            None => {
                mask(instance, &mut worker.dense.psi, stride);
                worker.allowed.resize(rows.len(), T::ZERO);
                let log_z = dense::forward_backward(&self.chain, &mut worker.dense, &mut worker.allowed);
                dense::add_steps(&self.chain, &worker.dense, -T::ONE, &mut sums.steps);
                if self.structure.options().boundaries {
                    let last = &worker.allowed[(length - 1) * stride..];
                    sums.start
                        .iter_mut()
                        .zip(&worker.allowed)
                        .for_each(|(sum, &p)| *sum -= p);
                    sums.end.iter_mut().zip(last).for_each(|(sum, &p)| *sum -= p);
                }
                rows.iter_mut().zip(&worker.allowed).for_each(|(d, &p)| *d -= p);
                log_scale + log_z
            }
        };
        log_z - gold
    }

    /// [`Field::dense_sequence`] for any automaton, and for pair observations.
    fn general_sequence(
        &self,
        instance: Instance<'_>,
        weights: &[T],
        rows: &mut [T],
        pair_rows: &mut [T],
        worker: &mut Worker<T>,
        sums: &mut Sums<T>,
    ) -> f64 {
        if let Some(pair) = &self.pair {
            let scores = &mut worker.pair_scores;
            scores.resize(pair_rows.len(), T::ZERO);
            let weights = &weights[self.unary.cells()..];
            pair.score(weights, instance.positions(), &self.no_bias_for_pairs, scores);
            self.rescale(scores);
        }
        let gold = self.subtract_gold_path(instance, rows, sums);
        let gold = gold.map(|score| score + self.gold_pair_score(instance, &worker.pair_scores));
        let scale = dense::exponentiate(self.stride, rows, &mut worker.dense.psi);
        let scale = if self.arithmetic == Arithmetic::Log {
            (f64::NAN, T::from_f64(f64::NAN))
        } else {
            scale
        };
        self.general_passes(instance, Scored { scale, gold }, rows, pair_rows, worker, sums)
    }

    fn general_passes(
        &self,
        instance: Instance<'_>,
        Scored { scale, gold }: Scored<T>,
        rows: &mut [T],
        pair_rows: &mut [T],
        worker: &mut Worker<T>,
        sums: &mut Sums<T>,
    ) -> f64 {
        let Worker {
            dense,
            general,
            scores,
            allowed,
            pair_scores,
        } = worker;
        scores.clear();
        scores.extend_from_slice(rows);
        pair_rows.fill(T::ZERO);
        let sequence = general::Sequence {
            labels: scores,
            stride: self.stride,
            pairs: pair_scores,
            pair_stride: self.pair_stride,
        };
        let psi = &mut dense.psi;
        let mut passes = |psi: &[T], labels: &mut [T], pairs: &mut [T], sign: T| {
            let mut out = general::Expectations {
                labels,
                pairs,
                arcs: &mut sums.arcs,
                start: &mut sums.start,
                end: &mut sums.end,
                sign,
            };
            general::forward_backward(
                self.structure,
                &self.scores,
                sequence,
                psi,
                scale,
                general,
                &mut out,
            )
        };
        let log_z = passes(psi, rows, pair_rows, T::ONE);
        let gold = match gold {
            Some(score) => {
                subtract_labels(instance, rows, self.stride);
                self.subtract_gold_pairs(instance, pair_rows);
                score
            }
            None => {
                mask(instance, psi, self.stride);
                allowed.resize(rows.len(), T::ZERO);
                let log_z = passes(psi, allowed, pair_rows, -T::ONE);
                rows.iter_mut().zip(&*allowed).for_each(|(d, &p)| *d -= p);
                log_z
            }
        };
        log_z - gold
    }

    /// For a fully known sequence: its score (without pair observations), after its arcs were subtracted.
    #[inline(always)]
    fn subtract_gold_path(&self, instance: Instance<'_>, rows: &[T], sums: &mut Sums<T>) -> Option<f64> {
        if !instance.fully_labelled() {
            return None;
        }
        let labels = self.structure.labels();
        let automaton = self.structure.automaton();
        let mut score = 0.0;
        let mut state = 0;
        for (t, row) in rows.chunks_exact(self.stride).enumerate() {
            let Gold::Known(label) = instance.gold(t) else {
                return None;
            };
            let label = label as usize;
            score += row[label].to_f64();
            if t == 0 {
                state = self.structure.unrolled().starts[label].0 as usize;
                score += self.scores.start()[label];
                sums.start[label] -= T::ONE;
            } else {
                let arc = self.arc_of[state * labels + label] as usize;
                score += self.scores.arcs()[arc];
                sums.arcs[arc] -= T::ONE;
                state = automaton.arcs()[arc].to as usize;
            }
        }
        sums.end[state] -= T::ONE;
        Some(score + self.scores.end()[state])
    }

    fn gold_pairs<'i>(&'i self, instance: Instance<'i>) -> impl Iterator<Item = (usize, usize)> + 'i {
        (1..instance.len()).filter_map(move |t| {
            let (Gold::Known(from), Gold::Known(to)) = (instance.gold(t - 1), instance.gold(t)) else {
                return None;
            };
            let pair = self.structure.pairs().binary_search(&[from, to]).ok()?;
            Some((t, pair))
        })
    }

    fn gold_pair_score(&self, instance: Instance<'_>, pair_scores: &[T]) -> f64 {
        if pair_scores.is_empty() {
            return 0.0;
        }
        self.gold_pairs(instance)
            .map(|(t, pair)| pair_scores[t * self.pair_stride + pair].to_f64())
            .sum()
    }

    fn subtract_gold_pairs(&self, instance: Instance<'_>, pair_rows: &mut [T]) {
        if !pair_rows.is_empty() {
            self.gold_pairs(instance)
                .for_each(|(t, pair)| pair_rows[t * self.pair_stride + pair] -= T::ONE);
        }
    }
}

#[inline(always)]
fn subtract_labels<T: Real>(instance: Instance<'_>, rows: &mut [T], stride: usize) {
    for (t, row) in rows.chunks_exact_mut(stride).enumerate() {
        if let Gold::Known(label) = instance.gold(t) {
            row[label as usize] -= T::ONE;
        }
    }
}

/// Sets the potentials of labels that are not allowed to zero.
fn mask<T: Real>(instance: Instance<'_>, psi: &mut [T], stride: usize) {
    for (t, row) in psi.chunks_exact_mut(stride).enumerate() {
        let gold = instance.gold(t);
        if gold != Gold::Unknown {
            for (label, psi) in row.iter_mut().enumerate() {
                if !gold.allows(label as u32) {
                    *psi = T::ZERO;
                }
            }
        }
    }
}
