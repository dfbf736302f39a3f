//! Forward–backward over any automaton, with steps that may differ from position to position.
//!
//! The same recursions as in [`dense`](super::dense), arc by arc: in scaled linear space, and in log space
//! for sequences whose scores spread too far for it.

use super::real::TrainingReal;
use crate::structure::{NO_PAIR, Structure};
use fieldmark_core::kernels::{Real, exp_in_place};

/// The scores of an automaton's parts for the current weights.
#[derive(Default)]
pub(crate) struct Scores<T> {
    arcs: Vec<f64>,
    /// By label.
    start: Vec<f64>,
    /// By state.
    end: Vec<f64>,
    arc_max: f64,
    arc_min: f64,
    border_spread: f64,
    border_max: f64,
    /// exp(score − maximum), padded to whole vectors.
    arc_potentials: Vec<T>,
    start_potentials: Vec<T>,
    end_potentials: Vec<T>,
}

impl<T: Real> Scores<T> {
    /// Sums the weights of the tuples that each part of the automaton completes, times `scale`.
    pub(crate) fn set(&mut self, structure: &Structure, tuple_weights: &[f64], scale: f64) {
        let unrolled = structure.unrolled();
        let sum = |tuples: &Vec<u32>| {
            let weights = tuples.iter().map(|&tuple| tuple_weights[tuple as usize]);
            weights.sum::<f64>() * scale
        };
        self.arcs.clear();
        self.arcs.extend(unrolled.arc_tuples.iter().map(sum));
        self.start.clear();
        self.start
            .extend(unrolled.starts.iter().map(|(_, tuples)| sum(tuples)));
        structure.forbid_starts(&mut self.start);
        self.end.clear();
        self.end.extend(unrolled.end_tuples.iter().map(sum));
        let high = |scores: &[f64]| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // What is forbidden is exactly zero and takes no part in the spread.
        let possible = |score: &f64| *score > f64::NEG_INFINITY;
        let low = |scores: &[f64]| {
            let scores = scores.iter().copied().filter(possible);
            scores.fold(f64::INFINITY, f64::min)
        };
        (self.arc_max, self.arc_min) = (high(&self.arcs), low(&self.arcs));
        let (start_max, end_max) = (high(&self.start), high(&self.end));
        self.border_max = start_max + end_max;
        self.border_spread = (start_max - low(&self.start)).max(end_max - low(&self.end));
        let potentials = |to: &mut Vec<T>, scores: &[f64], max: f64| {
            to.clear();
            to.extend(scores.iter().map(|score| T::from_f64((score - max).exp())));
            to.resize(scores.len().next_multiple_of(T::LANES), T::ZERO);
        };
        potentials(&mut self.arc_potentials, &self.arcs, self.arc_max);
        potentials(&mut self.start_potentials, &self.start, start_max);
        potentials(&mut self.end_potentials, &self.end, end_max);
    }

    /// Scores of arcs that hold at every position, in the numbering of the automaton.
    pub(crate) fn arcs(&self) -> &[f64] {
        &self.arcs
    }

    pub(crate) fn start(&self) -> &[f64] {
        &self.start
    }

    pub(crate) fn end(&self) -> &[f64] {
        &self.end
    }
}

/// One sequence: scores of labels at positions and, if the model has them, of label pairs at steps.
#[derive(Clone, Copy)]
pub(crate) struct Sequence<'a, T> {
    /// Rows of `stride` lanes.
    pub(crate) labels: &'a [T],
    pub(crate) stride: usize,
    /// Rows of `pair_stride` lanes; empty when there are none. The first row has no step and is ignored.
    pub(crate) pairs: &'a [T],
    pub(crate) pair_stride: usize,
}

impl<T> Sequence<'_, T> {
    fn length(&self) -> usize {
        self.labels.len() / self.stride
    }
}

/// Where expectations go.
pub(crate) struct Expectations<'a, T> {
    /// p(y_t = j), rows of `stride` lanes: set.
    pub(crate) labels: &'a mut [T],
    /// `sign` · p(y_{t−1} = i, y_t = j), rows of `pair_stride` lanes: added. Empty when there are none.
    pub(crate) pairs: &'a mut [T],
    /// Expected number of uses of each arc, start label and end state, times `sign`: added.
    pub(crate) arcs: &'a mut [T],
    pub(crate) start: &'a mut [T],
    pub(crate) end: &'a mut [T],
    pub(crate) sign: T,
}

/// Scratch memory for one sequence at a time.
#[derive(Default)]
pub(crate) struct Tables<T> {
    alpha: Vec<T>,
    beta: Vec<T>,
    xi: Vec<T>,
    inverse_scale: Vec<T>,
    /// exp of the steps' scores, for each position; empty when all positions share the same.
    steps: Vec<T>,
    log_alpha: Vec<f64>,
    log_beta: Vec<f64>,
    log_steps: Vec<f64>,
}

/// log Z and expectations. `psi` holds the exponentials of `sequence.labels` (zero where a label is not
/// allowed) whose maxima sum to `maxima` and which spread by at most `spread`.
pub(crate) fn forward_backward<T: TrainingReal>(
    structure: &Structure,
    scores: &Scores<T>,
    sequence: Sequence<'_, T>,
    psi: &[T],
    (maxima, spread): (f64, T),
    tables: &mut Tables<T>,
    out: &mut Expectations<'_, T>,
) -> f64 {
    let (step_max, step_spread) = set_steps(structure, scores, sequence, tables);
    // A state of k labels is reached through k steps, each of which may cost the full spread.
    let order = structure.options().order.max(1) as f64;
    let widest = (spread.to_f64() + step_spread.max(scores.border_spread)) * order;
    if widest < T::SAFE_RANGE.to_f64()
        && let Some(log_scale) = forward(structure, scores, sequence, psi, tables)
    {
        backward(structure, scores, sequence, psi, tables, out);
        maxima + step_max + scores.border_max + log_scale
    } else {
        log_space(structure, scores, sequence, psi, tables, out)
    }
}

/// Exponentiates the steps of each position; the sum of their maxima and the widest spread.
fn set_steps<T: TrainingReal>(
    structure: &Structure,
    scores: &Scores<T>,
    sequence: Sequence<'_, T>,
    tables: &mut Tables<T>,
) -> (f64, f64) {
    let length = sequence.length();
    tables.steps.clear();
    if sequence.pairs.is_empty() {
        return (
            scores.arc_max * (length - 1) as f64,
            scores.arc_max - scores.arc_min,
        );
    }
    let arcs = scores.arcs.len();
    let padded = scores.arc_potentials.len();
    tables.steps.resize(padded * length, T::ZERO);
    let (mut maxima, mut spread) = (0.0, 0.0f64);
    for t in 1..length {
        let row = &mut tables.steps[t * padded..][..padded];
        let pairs = &sequence.pairs[t * sequence.pair_stride..][..sequence.pair_stride];
        let (mut high, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        for ((to, &base), &pair) in row.iter_mut().zip(&scores.arcs).zip(structure.pair_of_arc()) {
            let score = if pair == NO_PAIR {
                base
            } else {
                base + pairs[pair as usize].to_f64()
            };
            *to = T::from_f64(score);
            high = high.max(score);
            low = low.min(score);
        }
        maxima += high;
        spread = spread.max(high - low);
        if (high - low).is_nan() {
            spread = f64::NAN;
        }
        let max = T::from_f64(high);
        row.iter_mut().for_each(|score| *score -= max);
        exp_in_place(row);
        row[arcs..].fill(T::ZERO);
    }
    (maxima, spread)
}

/// The potentials of the arcs into a position.
fn step<'a, T>(scores: &'a Scores<T>, steps: &'a [T], t: usize) -> &'a [T] {
    let padded = scores.arc_potentials.len();
    match steps {
        [] => &scores.arc_potentials,
        steps => &steps[t * padded..][..padded],
    }
}

/// α, scaled, and the logarithm of what it was divided by, the end included.
///
/// `None` when a state that can be reached comes too close to zero. That happens only where transitions are
/// forbidden: elsewhere the spread of the scores bounds every ratio of two states, here a state may fall behind step
/// by step and still be the only one that leads on.
fn forward<T: Real>(
    structure: &Structure,
    scores: &Scores<T>,
    sequence: Sequence<'_, T>,
    psi: &[T],
    tables: &mut Tables<T>,
) -> Option<f64> {
    let automaton = structure.automaton();
    let (states, stride, length) = (automaton.states(), sequence.stride, sequence.length());
    let label_of = automaton.label_of();
    let Tables {
        alpha,
        inverse_scale,
        steps,
        ..
    } = tables;
    let restricted = structure.is_restricted();
    // Less than any product of one step in the safe range, and far above the numbers that lose digits.
    let tiny = T::from_f64((-1.1 * T::SAFE_RANGE.to_f64()).exp());
    alpha.clear();
    alpha.resize(states * length, T::ZERO);
    inverse_scale.clear();
    let mut log_scale = 0.0;
    for t in 0..length {
        let psi = &psi[t * stride..][..stride];
        let (before, row) = alpha.split_at_mut(t * states);
        let row = &mut row[..states];
        if t == 0 {
            for (label, (state, _)) in structure.unrolled().starts.iter().enumerate() {
                row[*state as usize] = psi[label] * scores.start_potentials[label];
            }
        } else {
            let before = &before[(t - 1) * states..];
            let step = step(scores, steps, t);
            for (state, to) in row.iter_mut().enumerate() {
                let range = automaton.incoming(state);
                let arcs = automaton.arcs()[range.clone()].iter().zip(&step[range]);
                let sum: T = arcs
                    .map(|(arc, &potential)| before[arc.from as usize] * potential)
                    .sum();
                let psi = psi[label_of[state] as usize];
                *to = sum * psi;
                if restricted && *to < tiny && psi > T::ZERO {
                    let mut arcs = automaton.arcs()[automaton.incoming(state)].iter();
                    if arcs.any(|arc| before[arc.from as usize] > T::ZERO) {
                        return None;
                    }
                }
            }
        }
        let scale: T = row.iter().copied().sum();
        let inverse = T::ONE / scale;
        row.iter_mut().for_each(|sum| *sum *= inverse);
        inverse_scale.push(inverse);
        log_scale += scale.to_f64().ln();
    }
    let last = &alpha[(length - 1) * states..];
    let end_scale: T = last
        .iter()
        .zip(&scores.end_potentials)
        .map(|(&a, &end)| a * end)
        .sum();
    inverse_scale.push(T::ONE / end_scale);
    Some(log_scale + end_scale.to_f64().ln())
}

/// Expectations, after [`forward`].
fn backward<T: Real>(
    structure: &Structure,
    scores: &Scores<T>,
    sequence: Sequence<'_, T>,
    psi: &[T],
    tables: &mut Tables<T>,
    out: &mut Expectations<'_, T>,
) {
    let automaton = structure.automaton();
    let (states, stride, length) = (automaton.states(), sequence.stride, sequence.length());
    let label_of = automaton.label_of();
    let Tables {
        alpha,
        beta,
        xi,
        inverse_scale,
        steps,
        ..
    } = tables;
    let last = &alpha[(length - 1) * states..];
    let inverse_end = inverse_scale[length];
    beta.clear();
    beta.extend(
        scores.end_potentials[..states]
            .iter()
            .map(|&end| end * inverse_end),
    );
    for ((end, &alpha), &beta) in out.end.iter_mut().zip(last).zip(beta.iter()) {
        *end += out.sign * alpha * beta;
    }
    xi.clear();
    xi.resize(states, T::ZERO);
    for t in (0..length).rev() {
        let alpha_row = &alpha[t * states..][..states];
        let psi = &psi[t * stride..][..stride];
        let marginals = &mut out.labels[t * stride..][..stride];
        marginals.fill(T::ZERO);
        for state in 0..states {
            let label = label_of[state] as usize;
            marginals[label] += alpha_row[state] * beta[state];
            // Beyond states that cannot be reached nothing bounds β.
            xi[state] = if alpha_row[state] > T::ZERO {
                psi[label] * beta[state] * inverse_scale[t]
            } else {
                T::ZERO
            };
        }
        if t == 0 {
            for (label, (state, _)) in structure.unrolled().starts.iter().enumerate() {
                let state = *state as usize;
                out.start[label] += out.sign * alpha_row[state] * beta[state];
            }
            continue;
        }
        beta.fill(T::ZERO);
        let before = &alpha[(t - 1) * states..][..states];
        let step = step(scores, steps, t);
        for (state, &xi) in xi.iter().enumerate() {
            let range = automaton.incoming(state);
            let arcs = automaton.arcs()[range.clone()].iter().zip(&step[range.clone()]);
            for ((arc, &potential), expected) in arcs.zip(&mut out.arcs[range]) {
                let from = arc.from as usize;
                let flow = potential * xi;
                beta[from] += flow;
                *expected += out.sign * before[from] * flow;
            }
        }
        if !out.pairs.is_empty() {
            let pairs = &mut out.pairs[t * sequence.pair_stride..][..sequence.pair_stride];
            for (index, (arc, &pair)) in automaton.arcs().iter().zip(structure.pair_of_arc()).enumerate() {
                if pair != NO_PAIR {
                    let flow = before[arc.from as usize] * step[index] * xi[arc.to as usize];
                    pairs[pair as usize] += out.sign * flow;
                }
            }
        }
    }
}

/// ln(Σ e^x).
fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let max = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + terms.map(|term| (term - max).exp()).sum::<f64>().ln()
}

fn log_space<T: Real>(
    structure: &Structure,
    scores: &Scores<T>,
    sequence: Sequence<'_, T>,
    psi: &[T],
    tables: &mut Tables<T>,
    out: &mut Expectations<'_, T>,
) -> f64 {
    let automaton = structure.automaton();
    let (states, stride, length) = (automaton.states(), sequence.stride, sequence.length());
    let label_of = automaton.label_of();
    let Tables {
        log_alpha: alpha,
        log_beta: beta,
        log_steps,
        ..
    } = tables;
    // What was set to zero is not allowed; where exp merely underflowed it gives the smallest normal number.
    let node = |t: usize, label: usize| {
        let index = t * stride + label;
        if psi[index] == T::ZERO {
            f64::NEG_INFINITY
        } else {
            sequence.labels[index].to_f64()
        }
    };
    let step = |t: usize, index: usize| {
        let pair = structure.pair_of_arc().get(index).copied().unwrap_or(NO_PAIR);
        let more = if pair == NO_PAIR || sequence.pairs.is_empty() {
            0.0
        } else {
            sequence.pairs[t * sequence.pair_stride + pair as usize].to_f64()
        };
        scores.arcs[index] + more
    };
    alpha.clear();
    alpha.resize(states * length, f64::NEG_INFINITY);
    beta.clear();
    beta.resize(states * length, f64::NEG_INFINITY);
    for (label, (state, _)) in structure.unrolled().starts.iter().enumerate() {
        alpha[*state as usize] = scores.start[label] + node(0, label);
    }
    for t in 1..length {
        let (before, row) = alpha.split_at_mut(t * states);
        let before = &before[(t - 1) * states..];
        for (state, to) in row[..states].iter_mut().enumerate() {
            let arcs = automaton.incoming(state);
            let sum = log_sum(arcs.map(|arc| before[automaton.arcs()[arc].from as usize] + step(t, arc)));
            *to = sum + node(t, label_of[state] as usize);
        }
    }
    let last = (length - 1) * states;
    let log_z = log_sum((0..states).map(|state| alpha[last + state] + scores.end[state]));
    beta[last..].copy_from_slice(&scores.end);
    log_steps.clear();
    log_steps.resize(states, 0.0);
    for t in (0..length).rev() {
        let marginals = &mut out.labels[t * stride..][..stride];
        marginals.fill(T::ZERO);
        for state in 0..states {
            let probability = (alpha[t * states + state] + beta[t * states + state] - log_z).exp();
            marginals[label_of[state] as usize] += T::from_f64(probability);
            if t + 1 == length {
                out.end[state] += out.sign * T::from_f64(probability);
            }
        }
        if t == 0 {
            for (label, (state, _)) in structure.unrolled().starts.iter().enumerate() {
                let state = *state as usize;
                out.start[label] += out.sign * T::from_f64((alpha[state] + beta[state] - log_z).exp());
            }
            continue;
        }
        let (before, after) = beta.split_at_mut(t * states);
        for (state, to) in log_steps.iter_mut().enumerate() {
            *to = node(t, label_of[state] as usize) + after[state];
        }
        for (state, to) in before[(t - 1) * states..].iter_mut().enumerate() {
            let arcs = automaton.outgoing(state).iter().map(|&arc| arc as usize);
            *to = log_sum(arcs.map(|arc| step(t, arc) + log_steps[automaton.arcs()[arc].to as usize]));
        }
        for (index, arc) in automaton.arcs().iter().enumerate() {
            let score =
                alpha[(t - 1) * states + arc.from as usize] + step(t, index) + log_steps[arc.to as usize];
            let probability = out.sign * T::from_f64((score - log_z).exp());
            out.arcs[index] += probability;
            match structure.pair_of_arc().get(index) {
                Some(&pair) if pair != NO_PAIR && !out.pairs.is_empty() => {
                    out.pairs[t * sequence.pair_stride + pair as usize] += probability;
                }
                _ => {}
            }
        }
    }
    log_z
}
