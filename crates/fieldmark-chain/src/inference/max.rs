//! Max-product passes: the best path, and the best path through every state.

use super::prepare::Prepared;
use super::{Error, Inference, Path};
use crate::Automaton;
use fieldmark_core::kernels::Real;

/// Scores of best partial paths, each row shifted to a maximum of 0.
#[derive(Debug, Default)]
pub(super) struct MaxTables<T> {
    /// Best continuation after a state, without the state's own score.
    backward: Vec<T>,
    backward_done: bool,
    /// Best beginning up to a state, with the state's own score.
    forward: Vec<T>,
    /// Log-probabilities of the best sequences through each label, −∞ if there is none.
    marginals: Vec<f64>,
    incoming: Vec<T>,
}

impl<T: Real> MaxTables<T> {
    pub fn reset(&mut self) {
        self.backward_done = false;
    }

    fn run_backward(&mut self, prepared: &Prepared<T>, automaton: &Automaton) -> Result<(), Error> {
        if self.backward_done {
            return Ok(());
        }
        let states = prepared.states;
        self.backward.clear();
        self.backward.resize(prepared.length * states, T::ZERO);
        for position in (1..prepared.length).rev() {
            let (before, after) = self.backward.split_at_mut(position * states);
            self.incoming.clear();
            let nodes = prepared.node_row(position).iter();
            self.incoming
                .extend(nodes.zip(&after[..states]).map(|(&node, &best)| node + best));
            let row = &mut before[(position - 1) * states..];
            row.fill(T::NEG_INFINITY);
            let arcs = prepared.arc_row(position - 1);
            if automaton.is_complete() {
                for (arcs, &next) in arcs.chunks_exact(states).zip(&self.incoming) {
                    for (best, &arc) in row.iter_mut().zip(arcs) {
                        *best = (arc + next).max(*best);
                    }
                }
            } else {
                for (arc, &score) in automaton.arcs().iter().zip(arcs) {
                    let best = &mut row[arc.from as usize];
                    *best = (score + self.incoming[arc.to as usize]).max(*best);
                }
            }
            if !shift(row) {
                return Err(prepared.no_sequence(automaton));
            }
        }
        self.backward_done = true;
        Ok(())
    }

    fn run_forward(&mut self, prepared: &Prepared<T>, automaton: &Automaton) -> Result<(), Error> {
        let states = prepared.states;
        self.forward.clear();
        self.forward.extend_from_slice(&prepared.nodes);
        for position in 1..prepared.length {
            let (before, after) = self.forward.split_at_mut(position * states);
            let before = &before[(position - 1) * states..];
            let row = &mut after[..states];
            let arcs = prepared.arc_row(position - 1);
            for (to, score) in row.iter_mut().enumerate() {
                let incoming = automaton.incoming(to);
                *score += if automaton.is_complete() {
                    max_sum(before, &arcs[incoming])
                } else {
                    incoming.fold(T::NEG_INFINITY, |max, arc| {
                        (before[automaton.arcs()[arc].from as usize] + arcs[arc]).max(max)
                    })
                };
            }
            if !shift(row) {
                return Err(prepared.no_sequence(automaton));
            }
        }
        Ok(())
    }

    /// Walks along the best continuations. Among equals the smallest label goes first.
    fn follow(
        &self,
        prepared: &Prepared<T>,
        automaton: &Automaton,
        path: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let label_of = automaton.label_of();
        let states = prepared.states;
        path.clear();
        for position in 0..prepared.length {
            let nodes = prepared.node_row(position);
            let rest = &self.backward[position * states..(position + 1) * states];
            let mut best = (T::NEG_INFINITY, u32::MAX, 0);
            let mut offer = |state: u32, score: T| {
                let label = label_of[state as usize];
                if score > best.0 || (score >= best.0 && label < best.1) {
                    best = (score, label, state);
                }
            };
            match path.last() {
                None => (0..states).for_each(|s| offer(s as u32, nodes[s] + rest[s])),
                Some(&from) => {
                    let arcs = prepared.arc_row(position - 1);
                    for &arc in automaton.outgoing(from as usize) {
                        let to = automaton.arcs()[arc as usize].to;
                        offer(to, arcs[arc as usize] + (nodes[to as usize] + rest[to as usize]));
                    }
                }
            }
            if best.0 <= T::NEG_INFINITY {
                return Err(prepared.no_sequence(automaton));
            }
            path.push(best.2);
        }
        Ok(())
    }
}

/// The largest of `left[i] + right[i]`, in independent lanes so that it can be vectorised.
fn max_sum<T: Real>(left: &[T], right: &[T]) -> T {
    let mut lanes = [T::NEG_INFINITY; 8];
    let (left_chunks, right_chunks) = (left.chunks_exact(8), right.chunks_exact(8));
    let mut rest = T::NEG_INFINITY;
    for (&l, &r) in left_chunks.remainder().iter().zip(right_chunks.remainder()) {
        rest = (l + r).max(rest);
    }
    for (l, r) in left_chunks.zip(right_chunks) {
        for lane in 0..8 {
            lanes[lane] = (l[lane] + r[lane]).max(lanes[lane]);
        }
    }
    lanes.iter().fold(rest, |max, &lane| lane.max(max))
}

/// Shifts a row to a maximum of 0. `false` if all of it is −∞.
fn shift<T: Real>(row: &mut [T]) -> bool {
    let max = row.iter().fold(T::NEG_INFINITY, |max, &score| score.max(max));
    if max <= T::NEG_INFINITY {
        return false;
    }
    for score in row {
        *score -= max;
    }
    true
}

/// The log-probability of the best sequence through each label at each position.
#[derive(Clone, Copy, Debug)]
pub struct MaxMarginals<'a> {
    labels: usize,
    values: &'a [f64],
}

impl MaxMarginals<'_> {
    /// The log-probability of the best sequence with `label` at `position`; `None` if there is none.
    ///
    /// # Panics
    /// When the position or the label does not exist.
    pub fn get(&self, position: usize, label: u32) -> Option<f64> {
        assert!((label as usize) < self.labels);
        let value = self.values[position * self.labels + label as usize];
        (value > f64::NEG_INFINITY).then_some(value)
    }
}

impl<T: Real> Inference<'_, '_, T> {
    /// The best label sequence (Viterbi 1967).
    ///
    /// Of several equally good ones it is the first in the lexicographic order of label ids.
    pub fn viterbi(&mut self) -> Result<Path<'_>, Error> {
        self.best_states()?;
        self.label_states();
        let score = self.lattice.score(&self.worker.states);
        Ok(Path {
            labels: &self.worker.labels,
            score,
        })
    }

    fn best_states(&mut self) -> Result<(), Error> {
        let worker = &mut *self.worker;
        worker
            .max
            .run_backward(&worker.prepared, self.lattice.automaton)?;
        worker
            .max
            .follow(&worker.prepared, self.lattice.automaton, &mut worker.states)
    }

    /// For every position and label the log-probability of the best sequence that has the label there, by
    /// one pass forward and one backward.
    pub fn max_marginals(&mut self) -> Result<MaxMarginals<'_>, Error> {
        self.best_states()?;
        let best = self.log_probability_of_states()?;
        let labels = self.labels();
        let automaton = self.lattice.automaton;
        let worker = &mut *self.worker;
        worker.max.run_forward(&worker.prepared, automaton)?;
        let MaxTables {
            forward,
            backward,
            marginals,
            ..
        } = &mut worker.max;
        marginals.clear();
        marginals.resize(worker.prepared.length * labels, f64::NEG_INFINITY);
        let rows = marginals.chunks_exact_mut(labels.max(1));
        let states = worker.prepared.states.max(1);
        let scores = forward.chunks_exact(states).zip(backward.chunks_exact(states));
        for (row, (forward, backward)) in rows.zip(scores) {
            let through = forward.iter().zip(backward).map(|(&f, &b)| (f + b).to_f64());
            for (&label, score) in automaton.label_of().iter().zip(through) {
                let entry = &mut row[label as usize];
                *entry = entry.max(score);
            }
            // The best sequence passes every position, so the largest entry of a row is its score.
            let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for entry in row {
                *entry += best - max;
            }
        }
        Ok(MaxMarginals {
            labels,
            values: marginals,
        })
    }
}
