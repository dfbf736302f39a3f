//! [`ChainObjective`]: the negative log-likelihood of a data set under a chain model, with its gradient.
//!
//! For an instance x with allowed labels L the loss is log Z(x) − log Z(x, L), where the second sum runs over
//! the label sequences that L allows (Tsuboi et al. 2008); for fully known labels that is the score of the
//! one sequence. The gradient is the difference of the expected feature counts under both.

use super::block::Block;
use super::online::descend::Descent;
use super::pass::{Pass, Places, Shard, memory_of_passes};
use super::real::TrainingReal;
use super::sequence::Worker;
use super::sums::Totals;
use super::{dense, general};
use crate::structure::Structure;
use fieldmark_core::Dataset;
use fieldmark_core::optimize::{Objective, StochasticObjective};
use std::ops::Range;
use std::sync::Mutex;

/// How sums over label sequences are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// In linear space with scaling; sequences for which that would lose precision use log space.
    #[default]
    Scaled,
    /// In log space throughout.
    Log,
}

/// The loss of a data set under a chain model.
///
/// Its weight vector is not that of the model: [`ChainObjective::import`] and [`ChainObjective::export`]
/// translate.
pub struct ChainObjective<'a, T: TrainingReal = f64> {
    pub(super) field: Field<'a, T>,
    pub(super) scratch: Scratch<T>,
    /// Scratch memory of steps down the gradients of single instances.
    pub(super) descent: Option<Box<Descent>>,
}

/// What a pass reads.
pub(super) struct Field<'a, T> {
    pub(super) structure: &'a Structure,
    pub(super) data: Dataset,
    pub(super) unary: Block<u16>,
    pub(super) pair: Option<Block<u32>>,
    pub(super) stride: usize,
    pub(super) pair_stride: usize,
    pub(super) threads: usize,
    pub(super) arithmetic: Arithmetic,
    /// The arc from a state to the state that a label leads to.
    pub(super) arc_of: Vec<u32>,
    // For the current weights:
    pub(super) chain: dense::Chain<T>,
    pub(super) scores: general::Scores<T>,
    /// The scores of observations and biases are multiplied by this.
    pub(super) scale: T,
    pub(super) bias: Vec<T>,
    pub(super) no_bias_for_pairs: Vec<T>,
    pub(super) steps: Vec<f64>,
}

/// What a pass writes.
pub(super) struct Scratch<T> {
    shards: Vec<Shard<T>>,
    pub(super) workers: Vec<Mutex<Worker<T>>>,
    weights: Vec<T>,
    gradient: Vec<T>,
}

impl<'a, T: TrainingReal> ChainObjective<'a, T> {
    /// The loss of `data` under the model with this structure.
    ///
    /// Uses as many threads as the rayon pool in which it is made and evaluated. The observations of `data`
    /// are moved into the layout of the objective.
    ///
    /// # Panics
    /// When `data` was not made with the alphabets that the structure was built for.
    pub fn new(structure: &'a Structure, mut data: Dataset, arithmetic: Arithmetic) -> Self {
        let labels = structure.labels();
        assert_eq!(
            structure.unary().rows(),
            data.observations.len(),
            "another observation alphabet"
        );
        assert_eq!(labels, data.labels.len(), "another label alphabet");
        let threads = rayon::current_num_threads().max(1);
        // More parts than threads, so that the last ones even out the work.
        let parts = if threads == 1 { 1 } else { (2 * threads).min(64) };
        let positions = data.positions();
        let unary = Block::new(structure.unary(), labels, &data.unary, positions, parts);
        let pair = (!structure.pair().is_empty()).then(|| {
            Block::new(
                structure.pair(),
                structure.pairs().len(),
                &data.pair,
                positions,
                parts,
            )
        });
        data.forget_observations();
        let work = unary.work() + pair.as_ref().map_or(0, Block::work);
        let cells = unary.cells() + pair.as_ref().map_or(0, Block::cells);
        let shards = Shard::cut(&data, work, cells);
        let automaton = structure.automaton();
        let mut arc_of = vec![u32::MAX; automaton.states() * labels];
        for (index, arc) in automaton.arcs().iter().enumerate() {
            let label = automaton.label_of()[arc.to as usize] as usize;
            arc_of[arc.from as usize * labels + label] = index as u32;
        }
        let stride = labels.next_multiple_of(T::LANES);
        let pair_stride = if pair.is_some() {
            structure.pairs().len().next_multiple_of(T::LANES)
        } else {
            0
        };
        Self {
            field: Field {
                structure,
                data,
                unary,
                pair,
                stride,
                pair_stride,
                threads,
                arithmetic,
                arc_of,
                chain: dense::Chain::default(),
                scores: general::Scores::default(),
                scale: T::ONE,
                bias: vec![T::ZERO; stride],
                no_bias_for_pairs: vec![T::ZERO; pair_stride],
                steps: Vec::new(),
            },
            scratch: Scratch {
                shards,
                workers: (0..threads).map(|_| Mutex::default()).collect(),
                weights: Vec::new(),
                gradient: Vec::new(),
            },
            descent: None,
        }
    }

    /// The data, without their observations.
    pub fn data(&self) -> &Dataset {
        &self.field.data
    }

    /// The weights of a model in the order of the objective.
    pub fn import(&self, model: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.len()];
        self.field
            .for_each_weight(|feature, cell| x[cell] = model[feature]);
        x
    }

    /// Weights in the order of the objective, in that of the model.
    pub fn export(&self, x: &[f64]) -> Vec<f64> {
        let mut model = vec![0.0; self.field.structure.weights()];
        self.field
            .for_each_weight(|feature, cell| model[feature] = x[cell]);
        model
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        let pair = self.field.pair.as_ref().map_or(0, Block::memory);
        self.field.data.memory()
            + self.field.unary.memory()
            + pair
            + self.scratch.shards.iter().map(Shard::memory).sum::<usize>()
    }

    /// Bytes of memory that evaluating everything will take besides.
    pub fn memory_of_evaluation(&self) -> usize {
        memory_of_passes(&self.field, self.scratch.shards.len())
    }

    /// The loss of some instances; adds its gradient.
    fn pass(&mut self, instances: Places<'_>, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.field.set_weights(x, 1.0);
        let Self { field, scratch, .. } = self;
        let cells = field.block_cells();
        let Scratch {
            shards,
            workers,
            weights,
            gradient: scratch_gradient,
        } = scratch;
        let totals = T::with_weights(x, weights, |weights| {
            let pass = Pass {
                field,
                instances,
                weights,
                workers,
            };
            T::with_gradient(&mut gradient[..cells], scratch_gradient, |gradient| {
                pass.run(shards, gradient)
            })
        });
        field.clear_holes(gradient);
        field.add_shared_gradient(&totals, 1.0, gradient);
        totals.loss
    }
}

impl<T: TrainingReal> Objective for ChainObjective<'_, T> {
    fn len(&self) -> usize {
        let structure = self.field.structure;
        let shared = structure.tuple_weights().len() + structure.bias_weights().len();
        // Dense rows are read in whole vectors, which may reach beyond the last one.
        self.field.block_cells() + shared + T::LANES
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.pass(Places::All(self.field.data.len()), x, gradient)
    }
}

impl<T: TrainingReal> StochasticObjective for ChainObjective<'_, T> {
    fn instances(&self) -> usize {
        self.field.data.len()
    }

    fn evaluate_batch(&mut self, batch: &[u32], x: &[f64], gradient: &mut [f64]) -> f64 {
        self.pass(Places::List(batch), x, gradient)
    }
}

impl<T: TrainingReal> Field<'_, T> {
    pub(super) fn block_cells(&self) -> usize {
        self.unary.cells() + self.pair.as_ref().map_or(0, Block::cells)
    }

    /// Whether the first-order kernels serve.
    pub(super) fn is_dense(&self) -> bool {
        self.structure.automaton().is_complete()
            && self.pair.is_none()
            && self.arithmetic == Arithmetic::Scaled
            && !self.structure.is_restricted()
    }

    fn for_each_weight(&self, mut visit: impl FnMut(usize, usize)) {
        self.unary.for_each_cell(self.structure.unary(), &mut visit);
        let (pair_weights, pair_cells) = (self.structure.pair_weights().start, self.unary.cells());
        if let Some(pair) = &self.pair {
            pair.for_each_cell(self.structure.pair(), |feature, cell| {
                visit(feature + pair_weights, cell + pair_cells);
            });
        }
        let shared = self.structure.tuple_weights().start..self.structure.bias_weights().end;
        for (feature, cell) in shared.zip(self.block_cells()..) {
            visit(feature, cell);
        }
    }

    /// The weights of tuples; those of biases come next.
    pub(super) fn tuple_cells(&self) -> Range<usize> {
        let start = self.block_cells();
        start..start + self.structure.tuple_weights().len()
    }

    /// Prepares for the weights `scale` · `x`.
    pub(super) fn set_weights(&mut self, x: &[f64], scale: f64) {
        let tuples = self.tuple_cells();
        let biases = tuples.end..tuples.end + self.structure.bias_weights().len();
        self.scores.set(self.structure, &x[tuples], scale);
        self.scale = T::from_f64(scale);
        for (to, &from) in self.bias.iter_mut().zip(&x[biases]) {
            *to = T::from_f64(from);
        }
        if self.is_dense() {
            let labels = self.structure.labels();
            self.steps.clear();
            // Arcs are numbered by target first.
            let arcs = self.scores.arcs();
            self.steps
                .extend((0..labels).flat_map(|i| (0..labels).map(move |j| arcs[j * labels + i])));
            self.chain
                .set(labels, &self.steps, self.scores.start(), self.scores.end());
        }
    }

    /// The arc that a label follows from a state.
    #[inline(always)]
    pub(super) fn arc(&self, state: u32, label: u32) -> usize {
        self.arc_of[state as usize * self.structure.labels() + label as usize] as usize
    }

    /// Zero for cells without a feature.
    fn clear_holes(&self, gradient: &mut [f64]) {
        for &hole in self.unary.holes() {
            gradient[hole as usize] = 0.0;
        }
        if let Some(pair) = &self.pair {
            let first = self.unary.cells();
            for &hole in pair.holes() {
                gradient[first + hole as usize] = 0.0;
            }
        }
    }

    /// `factor` times the gradient of tuples and biases.
    pub(super) fn add_shared_gradient(&self, totals: &Totals, factor: f64, gradient: &mut [f64]) {
        let cells = self.tuple_cells();
        let (tuples, biases) = gradient[cells.start..].split_at_mut(cells.len());
        let unrolled = self.structure.unrolled();
        let add = |gradient: &mut [f64], list: &[u32], expected: f64| {
            list.iter()
                .for_each(|&tuple| gradient[tuple as usize] += factor * expected);
        };
        for (index, arc) in unrolled.automaton.arcs().iter().enumerate() {
            let mut expected = totals.arcs[index];
            if !totals.steps.is_empty() {
                let (i, j) = (arc.from as usize, arc.to as usize);
                expected += totals.steps[i * self.stride + j] * self.chain.potential(i, j).to_f64();
            }
            add(tuples, &unrolled.arc_tuples[index], expected);
        }
        for (label, (_, list)) in unrolled.starts.iter().enumerate() {
            add(tuples, list, totals.start[label]);
        }
        for (state, list) in unrolled.end_tuples.iter().enumerate() {
            add(tuples, list, totals.end[state]);
        }
        for (to, from) in biases
            .iter_mut()
            .zip(&totals.labels[..self.structure.bias_weights().len()])
        {
            *to += factor * from;
        }
    }
}
