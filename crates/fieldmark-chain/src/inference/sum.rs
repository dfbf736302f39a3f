//! Sum-product: forward and backward tables, the partition function, probabilities and marginals.
//!
//! The forward row of a position is the distribution of its state given everything up to it; the backward
//! row is scaled so that their product is the distribution given the whole sequence. Both stay within the
//! range of the float type, and rounding does not pile up over long sequences.

use super::prepare::Prepared;
use super::{Error, Inference, Space};
use crate::Automaton;
use fieldmark_core::kernels::Real;

/// Forward and backward rows, as probabilities or as logarithms.
#[derive(Debug, Default)]
pub(super) struct SumTables<T> {
    /// The space that the tables are in: the one asked for, or log space after an underflow.
    space: Space,
    forward: Vec<T>,
    backward: Vec<T>,
    /// What each forward row was divided by (in log space: the logarithm).
    scales: Vec<T>,
    exp_nodes: Vec<T>,
    exp_arcs: Vec<T>,
    exp_arcs_version: u64,
    row: Vec<T>,
    log_z: f64,
    forward_done: bool,
    backward_done: bool,
}

/// A state that can be reached is too small for linear space.
struct Underflow;

impl<T: Real> SumTables<T> {
    pub fn reset(&mut self, space: Space) {
        self.space = space;
        self.forward_done = false;
        self.backward_done = false;
    }

    pub fn run_forward(&mut self, prepared: &Prepared<T>, automaton: &Automaton) -> Result<(), Error> {
        if self.forward_done {
            return Ok(());
        }
        self.forward.clear();
        self.forward.resize(prepared.nodes.len(), T::ZERO);
        self.scales.clear();
        if self.space == Space::Linear && self.forward_linear(prepared, automaton).is_err() {
            self.space = Space::Log;
            self.scales.clear();
        }
        if self.space == Space::Log {
            self.forward_log(prepared, automaton)?;
        }
        let log_scale = |&scale: &T| match self.space {
            Space::Linear => scale.to_f64().ln(),
            Space::Log => scale.to_f64(),
        };
        self.log_z = prepared.offset + self.scales.iter().map(log_scale).sum::<f64>();
        self.forward_done = true;
        Ok(())
    }

    pub fn run_backward(&mut self, prepared: &Prepared<T>, automaton: &Automaton) -> Result<(), Error> {
        self.run_forward(prepared, automaton)?;
        if self.backward_done {
            return Ok(());
        }
        self.backward.clear();
        self.backward.resize(prepared.nodes.len(), T::ZERO);
        match self.space {
            Space::Linear => self.backward_linear(prepared, automaton),
            Space::Log => self.backward_log(prepared, automaton),
        }
        self.backward_done = true;
        Ok(())
    }

    fn exponentiate(&mut self, prepared: &Prepared<T>) {
        self.exp_nodes.clear();
        self.exp_nodes
            .extend(prepared.nodes.iter().map(|score| score.exp()));
        if prepared.length > 1 && self.exp_arcs_version != prepared.arcs_version {
            self.exp_arcs.clear();
            self.exp_arcs
                .extend(prepared.arcs().iter().map(|score| score.exp()));
            self.exp_arcs_version = prepared.arcs_version;
        }
    }

    fn forward_linear(&mut self, prepared: &Prepared<T>, automaton: &Automaton) -> Result<(), Underflow> {
        self.exponentiate(prepared);
        let states = prepared.states;
        for position in 0..prepared.length {
            let (before, after) = self.forward.split_at_mut(position * states);
            let row = &mut after[..states];
            row.copy_from_slice(&self.exp_nodes[position * states..(position + 1) * states]);
            let before = if position == 0 {
                &[][..]
            } else {
                &before[(position - 1) * states..]
            };
            if position > 0 {
                let arcs = &self.exp_arcs[prepared.arc_range(position - 1)];
                advance(automaton, before, arcs, row);
            }
            if !prepared.tame && underflows(prepared, automaton, position, before, row) {
                return Err(Underflow);
            }
            let scale = row.iter().copied().sum::<T>();
            self.scales.push(scale);
            let factor = T::ONE / scale;
            row.iter_mut().for_each(|value| *value *= factor);
        }
        Ok(())
    }

    fn backward_linear(&mut self, prepared: &Prepared<T>, automaton: &Automaton) {
        let states = prepared.states;
        for position in (0..prepared.length).rev() {
            let (row, after) = self.backward[position * states..].split_at_mut(states);
            if position + 1 == prepared.length {
                row.fill(T::ONE);
            } else {
                let nodes = &self.exp_nodes[(position + 1) * states..(position + 2) * states];
                self.row.clear();
                self.row.extend(
                    nodes
                        .iter()
                        .zip(&after[..states])
                        .map(|(&node, &rest)| node * rest),
                );
                row.fill(T::ZERO);
                retreat(
                    automaton,
                    &self.row,
                    &self.exp_arcs[prepared.arc_range(position)],
                    row,
                );
            }
            let forward = &self.forward[position * states..(position + 1) * states];
            let mut sum = T::ZERO;
            for (value, &forward) in row.iter_mut().zip(forward) {
                // What is never reached has no bound and must not spoil the sum.
                *value = if forward > T::ZERO { *value } else { T::ZERO };
                sum += *value * forward;
            }
            let factor = T::ONE / sum;
            row.iter_mut().for_each(|value| *value *= factor);
        }
    }

    fn forward_log(&mut self, prepared: &Prepared<T>, automaton: &Automaton) -> Result<(), Error> {
        let states = prepared.states;
        for position in 0..prepared.length {
            let (before, after) = self.forward.split_at_mut(position * states);
            let row = &mut after[..states];
            row.copy_from_slice(prepared.node_row(position));
            if position > 0 {
                let before = &before[(position - 1) * states..];
                let arcs = prepared.arc_row(position - 1);
                for (to, score) in row.iter_mut().enumerate() {
                    let terms = automaton.incoming(to);
                    *score += log_sum(terms.map(|a| before[automaton.arcs()[a].from as usize] + arcs[a]));
                }
            }
            let scale = log_sum(row.iter().copied());
            if scale <= T::NEG_INFINITY {
                return Err(prepared.no_sequence(automaton));
            }
            self.scales.push(scale);
            row.iter_mut().for_each(|value| *value -= scale);
        }
        Ok(())
    }

    fn backward_log(&mut self, prepared: &Prepared<T>, automaton: &Automaton) {
        let states = prepared.states;
        for position in (0..prepared.length).rev() {
            let (row, after) = self.backward[position * states..].split_at_mut(states);
            if position + 1 < prepared.length {
                let nodes = prepared.node_row(position + 1);
                let arcs = prepared.arc_row(position);
                for (from, value) in row.iter_mut().enumerate() {
                    *value = log_sum(automaton.outgoing(from).iter().map(|&arc| {
                        let to = automaton.arcs()[arc as usize].to as usize;
                        arcs[arc as usize] + nodes[to] + after[to]
                    }));
                }
            }
            let forward = &self.forward[position * states..(position + 1) * states];
            let scale = log_sum(row.iter().zip(forward).map(|(&rest, &forward)| rest + forward));
            for (value, &forward) in row.iter_mut().zip(forward) {
                *value = if forward > T::NEG_INFINITY {
                    *value - scale
                } else {
                    T::NEG_INFINITY
                };
            }
        }
    }

    /// The probability of each state at a position, into `row`.
    pub fn state_marginals(&self, position: usize, states: usize, row: &mut Vec<T>) {
        let range = position * states..(position + 1) * states;
        let pairs = self.forward[range.clone()].iter().zip(&self.backward[range]);
        row.clear();
        match self.space {
            Space::Linear => row.extend(pairs.map(|(&forward, &backward)| forward * backward)),
            Space::Log => {
                row.extend(pairs.map(|(&forward, &backward)| forward + backward));
                exponentiate_row(row);
            }
        }
        normalise(row);
    }

    /// The probability of each source of the arcs into state `to`, given that the step ends in `to`: 0
    /// throughout if it never does.
    ///
    /// Only neighbouring forward values are compared, so that no rounding over the sequence comes in.
    pub fn sources(
        &self,
        prepared: &Prepared<T>,
        automaton: &Automaton,
        step: usize,
        to: usize,
        out: &mut Vec<T>,
    ) {
        let states = prepared.states;
        let row = &self.forward[step * states..(step + 1) * states];
        let incoming = automaton.incoming(to);
        let sources = automaton.arcs()[incoming.clone()]
            .iter()
            .map(|arc| row[arc.from as usize]);
        out.clear();
        match self.space {
            Space::Linear => {
                let arcs = &self.exp_arcs[prepared.arc_range(step)][incoming];
                out.extend(sources.zip(arcs).map(|(source, &arc)| source * arc));
            }
            Space::Log => {
                let arcs = &prepared.arc_row(step)[incoming];
                out.extend(sources.zip(arcs).map(|(source, &arc)| source + arc));
                exponentiate_row(out);
            }
        }
        normalise(out);
    }
}

/// From logarithms to values of which the largest is 1.
fn exponentiate_row<T: Real>(row: &mut [T]) {
    let max = row.iter().fold(T::NEG_INFINITY, |max, &score| score.max(max));
    let max = if max > T::NEG_INFINITY { max } else { T::ZERO };
    row.iter_mut().for_each(|value| *value = (*value - max).exp());
}

/// Divides a row by its sum, unless that is 0.
fn normalise<T: Real>(row: &mut [T]) {
    let sum = row.iter().copied().sum::<T>();
    if sum > T::ZERO {
        let factor = T::ONE / sum;
        row.iter_mut().for_each(|value| *value *= factor);
    }
}

/// Multiplies `row` by what arrives over the arcs from the states before.
fn advance<T: Real>(automaton: &Automaton, before: &[T], arcs: &[T], row: &mut [T]) {
    if automaton.is_complete() {
        for (value, arcs) in row.iter_mut().zip(arcs.chunks_exact(before.len())) {
            *value *= dot(before, arcs);
        }
    } else {
        for (to, value) in row.iter_mut().enumerate() {
            let incoming = automaton.incoming(to);
            let sources = automaton.arcs()[incoming.clone()].iter();
            *value *= sources
                .zip(&arcs[incoming])
                .map(|(arc, &p)| before[arc.from as usize] * p)
                .sum::<T>();
        }
    }
}

/// Adds to `row` what comes back over the arcs from the states behind.
fn retreat<T: Real>(automaton: &Automaton, after: &[T], arcs: &[T], row: &mut [T]) {
    if automaton.is_complete() {
        for (&after, arcs) in after.iter().zip(arcs.chunks_exact(after.len())) {
            for (value, &arc) in row.iter_mut().zip(arcs) {
                *value += arc * after;
            }
        }
    } else {
        for (arc, &potential) in automaton.arcs().iter().zip(arcs) {
            row[arc.from as usize] += potential * after[arc.to as usize];
        }
    }
}

/// The scalar product, in independent lanes so that it can be vectorised.
fn dot<T: Real>(left: &[T], right: &[T]) -> T {
    let mut lanes = [T::ZERO; 8];
    let (left_chunks, right_chunks) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest = left_chunks.remainder().iter().zip(right_chunks.remainder());
    let rest = rest.map(|(&l, &r)| l * r).sum::<T>();
    for (l, r) in left_chunks.zip(right_chunks) {
        for lane in 0..8 {
            lanes[lane] += l[lane] * r[lane];
        }
    }
    lanes.iter().copied().sum::<T>() + rest
}

/// Whether a state that can be reached has all but vanished from a forward row that is not yet scaled.
///
/// As long as that is not so, a value of 0 in the row before means that the state cannot be reached.
fn underflows<T: Real>(
    prepared: &Prepared<T>,
    automaton: &Automaton,
    position: usize,
    before: &[T],
    row: &[T],
) -> bool {
    let tiny = (-T::SAFE_RANGE).exp();
    let nodes = prepared.node_row(position);
    let reachable = |to: usize| {
        nodes[to] > T::NEG_INFINITY
            && (position == 0 || {
                let arcs = prepared.arc_row(position - 1);
                automaton.incoming(to).any(|arc| {
                    arcs[arc] > T::NEG_INFINITY && before[automaton.arcs()[arc].from as usize] > T::ZERO
                })
            })
    };
    // A row without any reachable state has no sum to divide by: log space tells what is wrong.
    row.iter().all(|&value| value < tiny) || (0..row.len()).any(|to| row[to] < tiny && reachable(to))
}

/// log Σ exp over the terms; −∞ for none.
fn log_sum<T: Real>(terms: impl Iterator<Item = T> + Clone) -> T {
    let max = terms.clone().fold(T::NEG_INFINITY, |max, term| term.max(max));
    if max <= T::NEG_INFINITY {
        return max;
    }
    max + terms.map(|term| (term - max).exp()).sum::<T>().ln()
}

impl<T: Real> Inference<'_, '_, T> {
    /// Makes sure that there are forward and backward tables.
    pub(super) fn run_sum(&mut self) -> Result<(), Error> {
        let worker = &mut *self.worker;
        worker.sum.run_backward(&worker.prepared, self.lattice.automaton)
    }

    /// The logarithm of the sum of exp(score) over all label sequences that are allowed.
    pub fn log_z(&mut self) -> Result<f64, Error> {
        let worker = &mut *self.worker;
        worker.sum.run_forward(&worker.prepared, self.lattice.automaton)?;
        Ok(worker.sum.log_z)
    }

    /// The log-probability of a label sequence among those that are allowed; `None` if it is not.
    ///
    /// It is the sum of the log-probabilities of each label given the ones behind it, which stays accurate
    /// where the difference of two large numbers, score and log Z, would not.
    ///
    /// # Errors
    /// When `labels` has another length than the sequence or a label does not exist.
    pub fn log_probability(&mut self, labels: &[u32]) -> Result<Option<f64>, Error> {
        let allowed = self.trace(labels)?;
        self.log_z()?;
        if allowed {
            self.log_probability_of_states().map(Some)
        } else {
            Ok(None)
        }
    }

    /// [`Inference::log_probability`] of the allowed path in the worker.
    pub(super) fn log_probability_of_states(&mut self) -> Result<f64, Error> {
        self.log_z()?;
        let automaton = self.lattice.automaton;
        let (path, prepared, sum) = (&self.worker.states, &self.worker.prepared, &self.worker.sum);
        let states = prepared.states;
        let log_forward = |position: usize, state: u32| {
            let value = sum.forward[position * states + state as usize];
            if sum.space == Space::Linear {
                value.to_f64().ln()
            } else {
                value.to_f64()
            }
        };
        let Some(&last) = path.last() else { return Ok(0.0) };
        let mut total = log_forward(path.len() - 1, last);
        for (step, pair) in path.windows(2).enumerate() {
            let row = &sum.forward[step * states..(step + 1) * states];
            let incoming = automaton.incoming(pair[1] as usize);
            let sources = automaton.arcs()[incoming.clone()]
                .iter()
                .map(|arc| row[arc.from as usize]);
            let all = match sum.space {
                Space::Linear => {
                    let arcs = &sum.exp_arcs[prepared.arc_range(step)][incoming];
                    sources
                        .zip(arcs)
                        .map(|(p, &arc)| p * arc)
                        .sum::<T>()
                        .to_f64()
                        .ln()
                }
                Space::Log => {
                    let arcs = &prepared.arc_row(step)[incoming];
                    log_sum(sources.zip(arcs).map(|(p, &arc)| p + arc)).to_f64()
                }
            };
            let arc = self
                .lattice
                .arc_between(pair[0], pair[1])
                .expect("a path follows arcs");
            let one = log_forward(step, pair[0]) + prepared.arc_row(step)[arc].to_f64();
            total += (one - all).min(0.0);
        }
        Ok(total.min(0.0))
    }

    /// The probability of each label at each position: `length × labels`, every row sums to 1.
    pub fn marginals(&mut self, out: &mut Vec<T>) -> Result<(), Error> {
        self.run_sum()?;
        let labels = self.labels();
        let label_of = self.lattice.automaton.label_of();
        let worker = &mut *self.worker;
        out.clear();
        out.resize(worker.prepared.length * labels, T::ZERO);
        for (position, row) in out.chunks_exact_mut(labels.max(1)).enumerate() {
            worker
                .sum
                .state_marginals(position, worker.prepared.states, &mut worker.row);
            for (&label, &probability) in label_of.iter().zip(&worker.row) {
                row[label as usize] += probability;
            }
        }
        Ok(())
    }

    /// The probability of each pair of labels at `position` and the one after it: `labels × labels`, the
    /// label at `position` chooses the row. They sum to 1.
    ///
    /// # Errors
    /// When `position + 1` is not a position of the sequence.
    pub fn pair_marginals(&mut self, position: usize, out: &mut Vec<T>) -> Result<(), Error> {
        let length = self.lattice.length;
        if position + 1 >= length {
            return Err(Error::UnknownPosition {
                position: position + 1,
                length,
            });
        }
        self.run_sum()?;
        let labels = self.labels();
        let automaton = self.lattice.automaton;
        let label_of = automaton.label_of();
        let worker = &mut *self.worker;
        let states = worker.prepared.states;
        worker.sum.state_marginals(position + 1, states, &mut worker.row);
        out.clear();
        out.resize(labels * labels, T::ZERO);
        for (to, &probability) in worker.row.iter().enumerate().filter(|(_, p)| **p > T::ZERO) {
            worker
                .sum
                .sources(&worker.prepared, automaton, position, to, &mut worker.sources);
            for (arc, &source) in automaton.arcs()[automaton.incoming(to)]
                .iter()
                .zip(&worker.sources)
            {
                let pair = label_of[arc.from as usize] as usize * labels + label_of[to] as usize;
                out[pair] += source * probability;
            }
        }
        Ok(())
    }
}
