//! [`Worker`] and [`Inference`]: reusable memory, and the questions about a loaded sequence.

use super::kbest::KBestTables;
use super::max::MaxTables;
use super::prepare::Prepared;
use super::sum::SumTables;
use super::{Constraints, Error, Lattice};
use fieldmark_core::kernels::Real;

/// The arithmetic of sums over all sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Space {
    /// Exponentials, scaled at every position. A sequence for which they would underflow is computed in log
    /// space.
    #[default]
    Linear,
    /// Logarithms throughout: slower, and never more accurate than [`Space::Linear`] by more than rounding.
    Log,
}

/// A label sequence and its log-score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path<'a> {
    /// One label per position.
    pub labels: &'a [u32],
    /// The sum of its log-potentials, not normalised.
    pub score: f64,
}

/// Memory for inference, used again for every sequence: once it has grown to the longest one, loading and
/// answering do not allocate, except where a method says so.
#[derive(Debug)]
pub struct Worker<T> {
    space: Space,
    pub(super) prepared: Prepared<T>,
    pub(super) sum: SumTables<T>,
    pub(super) max: MaxTables<T>,
    pub(super) kbest: KBestTables,
    pub(super) states: Vec<u32>,
    pub(super) labels: Vec<u32>,
    pub(super) row: Vec<T>,
    pub(super) sources: Vec<T>,
    pub(super) event: Vec<T>,
}

impl<T: Real> Worker<T> {
    /// A worker without memory yet.
    pub fn new(space: Space) -> Self {
        Self {
            space,
            prepared: Prepared::default(),
            sum: SumTables::default(),
            max: MaxTables::default(),
            kbest: KBestTables::default(),
            states: Vec::new(),
            labels: Vec::new(),
            row: Vec::new(),
            sources: Vec::new(),
            event: Vec::new(),
        }
    }

    /// Checks a lattice and applies the constraints.
    ///
    /// # Errors
    /// When the lattice is not well-formed ([`Error::Shape`], [`Error::NotFinite`], [`Error::TooLarge`]), the
    /// constraints name what the lattice does not have, or leave no label at some position. Constraints
    /// that contradict each other only over several positions are an error of the methods of [`Inference`].
    pub fn load<'w, 'l>(
        &'w mut self,
        lattice: &Lattice<'l, T>,
        constraints: &Constraints,
    ) -> Result<Inference<'w, 'l, T>, Error> {
        self.prepared.load(lattice, constraints)?;
        self.sum.reset(self.space);
        self.max.reset();
        Ok(Inference {
            worker: self,
            lattice: *lattice,
        })
    }
}

/// A loaded sequence.
///
/// Every method returns [`Error::NoSequence`] when the constraints leave no label sequence. A sequence of
/// length 0 has one labelling, the empty one, with score 0 and probability 1.
#[derive(Debug)]
pub struct Inference<'w, 'l, T> {
    pub(super) worker: &'w mut Worker<T>,
    pub(super) lattice: Lattice<'l, T>,
}

impl<T: Real> Inference<'_, '_, T> {
    /// Number of positions.
    pub fn length(&self) -> usize {
        self.lattice.length
    }

    /// Number of labels.
    pub fn labels(&self) -> usize {
        self.lattice.automaton.labels()
    }

    pub(super) fn check_label(&self, label: u32) -> Result<(), Error> {
        let labels = self.labels();
        if (label as usize) < labels {
            Ok(())
        } else {
            Err(Error::UnknownLabel { label, labels })
        }
    }

    /// Writes the labels of the states in the worker's path.
    pub(super) fn label_states(&mut self) {
        let label_of = self.lattice.automaton.label_of();
        self.worker.labels.clear();
        self.worker
            .labels
            .extend(self.worker.states.iter().map(|&s| label_of[s as usize]));
    }

    /// Traces `labels` into the worker's path. `false` if they are not allowed.
    pub(super) fn trace(&mut self, labels: &[u32]) -> Result<bool, Error> {
        let expected = self.lattice.length;
        if labels.len() != expected {
            return Err(Error::Length {
                found: labels.len(),
                expected,
            });
        }
        labels.iter().try_for_each(|&label| self.check_label(label))?;
        if !self.lattice.trace(labels, &mut self.worker.states) {
            return Ok(false);
        }
        let (prepared, states) = (&self.worker.prepared, &self.worker.states);
        let node = |(t, &state): (usize, &u32)| prepared.node_row(t)[state as usize] > T::NEG_INFINITY;
        let step = |(step, pair): (usize, &[u32])| {
            let arc = self.lattice.arc_between(pair[0], pair[1]);
            arc.is_some_and(|arc| prepared.arc_row(step)[arc] > T::NEG_INFINITY)
        };
        Ok(states.iter().enumerate().all(node) && states.windows(2).enumerate().all(step))
    }
}
