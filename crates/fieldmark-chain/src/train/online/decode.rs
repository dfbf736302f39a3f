//! [`Decoder`]: the best sequence of an instance, and the best that its gold labels allow.

use crate::structure::{NO_PAIR, Structure};
use crate::train::objective::Field;
use fieldmark_core::{Gold, Instance};

/// Scores and best paths of one instance at a time.
#[derive(Default)]
pub(super) struct Decoder {
    bias: Vec<f64>,
    /// Scores of labels, and of label pairs, in the rows of the objective.
    rows: Vec<f64>,
    pair_rows: Vec<f64>,
    masked: Vec<f64>,
    steps: Steps,
    tables: Tables,
    /// The best sequence.
    pub(super) predicted: Vec<u32>,
    /// What it should have been.
    pub(super) target: Vec<u32>,
}

/// The scores of an automaton's parts for the current weights.
#[derive(Default)]
struct Steps {
    arcs: Vec<f64>,
    /// By label.
    start: Vec<f64>,
    /// By state.
    end: Vec<f64>,
}

/// Scratch memory of the Viterbi algorithm.
#[derive(Default)]
struct Tables {
    /// Best score of what follows a state, for each position.
    rest: Vec<f64>,
    next: Vec<f64>,
    arcs: Vec<f64>,
}

/// A prediction that is not allowed.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// Positions where prediction and target differ.
    pub(super) errors: usize,
    /// Positions in all.
    pub(super) length: usize,
    /// By how much the prediction scores better than the target; not negative.
    pub(super) excess: f64,
}

impl Decoder {
    /// Takes over the weights of tuples and biases; the others are read when an instance is decoded.
    pub(super) fn set_weights(&mut self, field: &Field<'_, f64>, weights: &[f64]) {
        let tuples = field.tuple_cells();
        let biases = tuples.end..tuples.end + field.structure.bias_weights().len();
        self.bias.clear();
        self.bias.extend_from_slice(&weights[biases]);
        self.bias.resize(field.stride, 0.0);
        let weights = &weights[tuples];
        let sum = |list: &Vec<u32>| list.iter().map(|&tuple| weights[tuple as usize]).sum::<f64>();
        let unrolled = field.structure.unrolled();
        let Steps { arcs, start, end } = &mut self.steps;
        arcs.clear();
        arcs.extend(unrolled.arc_tuples.iter().map(sum));
        start.clear();
        start.extend(unrolled.starts.iter().map(|(_, list)| sum(list)));
        field.structure.forbid_starts(start);
        end.clear();
        end.extend(unrolled.end_tuples.iter().map(sum));
    }

    /// Predicts the labels of an instance; with a mistake, finds the target too.
    pub(super) fn decode(
        &mut self,
        field: &Field<'_, f64>,
        instance: Instance<'_>,
        weights: &[f64],
    ) -> Option<Mistake> {
        let length = instance.len();
        self.rows.resize(length * field.stride, 0.0);
        let positions = instance.positions();
        field
            .unary
            .score(weights, positions.clone(), &self.bias, &mut self.rows);
        if let Some(pair) = &field.pair {
            self.pair_rows.resize(length * field.pair_stride, 0.0);
            let weights = &weights[field.unary.cells()..];
            pair.score(weights, positions, &field.no_bias_for_pairs, &mut self.pair_rows);
        }
        let sequence = Scored {
            field,
            steps: &self.steps,
            rows: &self.rows,
            pair_rows: &self.pair_rows,
        };
        sequence.viterbi(&mut self.tables, &mut self.predicted);
        let allowed = |(t, &label): (usize, &u32)| instance.gold(t).allows(label);
        if self.predicted.iter().enumerate().all(allowed) {
            return None;
        }
        if instance.fully_labelled() {
            self.target.clear();
            self.target
                .extend((0..length).filter_map(|t| match instance.gold(t) {
                    Gold::Known(label) => Some(label),
                    _ => None,
                }));
        } else {
            self.masked.clear();
            self.masked.extend_from_slice(&self.rows);
            for (t, row) in self.masked.chunks_exact_mut(field.stride).enumerate() {
                let gold = instance.gold(t);
                for (label, score) in row.iter_mut().enumerate() {
                    if !gold.allows(label as u32) {
                        *score = f64::NEG_INFINITY;
                    }
                }
            }
            let rows = &self.masked;
            Scored { rows, ..sequence }.viterbi(&mut self.tables, &mut self.target);
        }
        let pairs = self.predicted.iter().zip(&self.target);
        Some(Mistake {
            errors: pairs.filter(|(a, b)| a != b).count(),
            length,
            excess: (sequence.score(&self.predicted) - sequence.score(&self.target)).max(0.0),
        })
    }
}

/// A sequence with its scores.
#[derive(Clone, Copy)]
struct Scored<'a> {
    field: &'a Field<'a, f64>,
    steps: &'a Steps,
    rows: &'a [f64],
    pair_rows: &'a [f64],
}

impl Scored<'_> {
    fn structure(&self) -> &Structure {
        self.field.structure
    }

    fn row(&self, t: usize) -> &[f64] {
        &self.rows[t * self.field.stride..][..self.field.stride]
    }

    /// The scores of label pairs at the step into `t`, if the model has any.
    fn pair_row(&self, t: usize) -> Option<&[f64]> {
        let stride = self.field.pair_stride;
        (stride > 0).then(|| &self.pair_rows[t * stride..][..stride])
    }

    fn step(&self, t: usize, arc: usize) -> f64 {
        let pair = self.pair_row(t).and_then(|row| {
            let pair = self.structure().pair_of_arc()[arc];
            (pair != NO_PAIR).then(|| row[pair as usize])
        });
        self.steps.arcs[arc] + pair.unwrap_or(0.0)
    }

    /// The score of a label sequence.
    fn score(&self, labels: &[u32]) -> f64 {
        let mut sum = 0.0;
        let mut state = 0;
        for (t, &label) in labels.iter().enumerate() {
            sum += self.row(t)[label as usize];
            if t == 0 {
                sum += self.steps.start[label as usize];
                state = self.structure().unrolled().starts[label as usize].0;
            } else {
                let arc = self.field.arc(state, label);
                let Some(step) = self.structure().automaton().arcs().get(arc) else {
                    return f64::NEG_INFINITY;
                };
                sum += self.step(t, arc);
                state = step.to;
            }
        }
        sum + self.steps.end[state as usize]
    }

    /// The best label sequence (Viterbi 1967); among equals the smallest label goes first.
    ///
    /// Scores of what follows are computed from the end, so that the path can be followed from the start without
    /// pointers. Where all scores are −∞ the first label that may follow is taken.
    fn viterbi(&self, tables: &mut Tables, labels: &mut Vec<u32>) {
        let automaton = self.structure().automaton();
        let states = automaton.states();
        let length = self.rows.len() / self.field.stride;
        let Tables { rest, next, arcs } = tables;
        rest.resize(length * states, 0.0);
        rest[(length - 1) * states..].copy_from_slice(&self.steps.end);
        for t in (1..length).rev() {
            let (before, after) = rest.split_at_mut(t * states);
            let row = self.row(t);
            next.clear();
            let label_of = automaton.label_of().iter();
            next.extend(
                label_of
                    .zip(&*after)
                    .map(|(&label, rest)| row[label as usize] + rest),
            );
            let steps = if self.pair_row(t).is_some() {
                arcs.clear();
                arcs.extend((0..self.steps.arcs.len()).map(|arc| self.step(t, arc)));
                &arcs[..]
            } else {
                &self.steps.arcs[..]
            };
            let before = &mut before[(t - 1) * states..];
            before.fill(f64::NEG_INFINITY);
            if automaton.is_complete() {
                for (steps, next) in steps.chunks_exact(states).zip(&*next) {
                    for (best, step) in before.iter_mut().zip(steps) {
                        let score = step + next;
                        *best = if score > *best { score } else { *best };
                    }
                }
            } else {
                for (arc, step) in automaton.arcs().iter().zip(steps) {
                    let score = step + next[arc.to as usize];
                    let best = &mut before[arc.from as usize];
                    *best = if score > *best { score } else { *best };
                }
            }
        }
        labels.clear();
        let mut state = 0;
        for t in 0..length {
            let mut best = None;
            for label in 0..self.structure().labels() as u32 {
                let (to, step) = if t == 0 {
                    let to = self.structure().unrolled().starts[label as usize].0;
                    (to, self.steps.start[label as usize])
                } else {
                    let arc = self.field.arc(state, label);
                    let Some(step) = automaton.arcs().get(arc) else {
                        continue;
                    };
                    (step.to, self.step(t, arc))
                };
                let score = step + (self.row(t)[label as usize] + rest[t * states + to as usize]);
                if best.is_none_or(|(best, _, _)| score > best) {
                    best = Some((score, label, to));
                }
            }
            // Only scores that are no numbers lead into a state that nothing follows.
            let (_, label, to) = best.unwrap_or((f64::NEG_INFINITY, 0, 0));
            labels.push(label);
            state = to;
        }
    }
}
