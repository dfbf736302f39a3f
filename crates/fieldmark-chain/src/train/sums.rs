//! What is summed over sequences apart from the weights of observations: the loss, and expected uses of the
//! automaton's parts.

use super::objective::Field;
use super::real::TrainingReal;
use fieldmark_core::kernels::Real;

/// Sums over a group of sequences.
#[derive(Default)]
pub(super) struct Sums<T> {
    pub(super) loss: f64,
    /// Σ α_{t−1}(i) ξ_t(j), still to be multiplied by the potentials of the steps.
    pub(super) steps: Vec<T>,
    pub(super) arcs: Vec<T>,
    pub(super) start: Vec<T>,
    pub(super) end: Vec<T>,
    pub(super) labels: Vec<T>,
}

impl<T: TrainingReal> Sums<T> {
    pub(super) fn clear(&mut self, field: &Field<'_, T>) {
        let automaton = field.structure.automaton();
        let zero = |sums: &mut Vec<T>, len: usize| {
            sums.clear();
            sums.resize(len, T::ZERO);
        };
        self.loss = 0.0;
        zero(
            &mut self.steps,
            if field.is_dense() {
                automaton.labels() * field.stride
            } else {
                0
            },
        );
        zero(&mut self.arcs, automaton.arcs().len());
        zero(&mut self.start, automaton.labels());
        zero(&mut self.end, automaton.states());
        zero(
            &mut self.labels,
            if field.structure.bias_weights().is_empty() {
                0
            } else {
                field.stride
            },
        );
    }
}

/// Sums over all groups so far.
pub(super) struct Totals {
    pub(super) loss: f64,
    pub(super) steps: Vec<f64>,
    pub(super) arcs: Vec<f64>,
    pub(super) start: Vec<f64>,
    pub(super) end: Vec<f64>,
    pub(super) labels: Vec<f64>,
}

impl Totals {
    pub(super) fn new<T: TrainingReal>(field: &Field<'_, T>) -> Self {
        let mut sums = Sums::<T>::default();
        sums.clear(field);
        let zero = |sums: &Vec<T>| vec![0.0; sums.len()];
        Self {
            loss: 0.0,
            steps: zero(&sums.steps),
            arcs: zero(&sums.arcs),
            start: zero(&sums.start),
            end: zero(&sums.end),
            labels: zero(&sums.labels),
        }
    }

    pub(super) fn add<T: Real>(&mut self, sums: &Sums<T>) {
        self.loss += sums.loss;
        add(&mut self.steps, &sums.steps);
        add(&mut self.arcs, &sums.arcs);
        add(&mut self.start, &sums.start);
        add(&mut self.end, &sums.end);
        add(&mut self.labels, &sums.labels);
    }

    pub(super) fn merge(&mut self, other: &Totals) {
        self.loss += other.loss;
        add(&mut self.steps, &other.steps);
        add(&mut self.arcs, &other.arcs);
        add(&mut self.start, &other.start);
        add(&mut self.end, &other.end);
        add(&mut self.labels, &other.labels);
    }
}

fn add<T: Real>(to: &mut [f64], from: &[T]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to += from.to_f64());
}
