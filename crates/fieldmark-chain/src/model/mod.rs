//! [`ChainModel`]: a trained chain, immutable and shared; [`Tagger`]: the scratch memory to use it with.

mod dump;
#[cfg(test)]
mod dump_tests;
pub mod explain;
#[cfg(test)]
mod explain_tests;
mod file;
#[cfg(test)]
mod file_tests;
pub mod inspect;
#[cfg(test)]
mod inspect_tests;
mod load;
#[cfg(test)]
mod samples;
mod table;
mod text;

pub use dump::DumpError;

use crate::features::FeatureTable;
use crate::inference::{ArcScores, Constraints, Error, Inference, Lattice, Space, Worker};
use crate::structure::{NO_PAIR, Structure, StructureOptions};
use crate::tuples::Tuples;
use crate::viterbi;
use fieldmark_core::container::Shared;
use fieldmark_core::kernels::{Dispatch, prefetch};
use fieldmark_core::{Alphabet, Instance, Names, Observed};

/// A chain model with its weights and names.
#[derive(Debug)]
pub struct ChainModel {
    labels: Alphabet,
    observations: Names,
    unknown: Option<u32>,
    structure: Structure,
    weights: Shared<f64>,
    algorithm: Option<String>,
}

/// Scores that do not depend on observations.
struct StepScores {
    arcs: Vec<f64>,
    /// By state; −∞ where no sequence begins.
    start: Vec<f64>,
    end: Vec<f64>,
    /// By label.
    bias: Vec<f64>,
}

impl ChainModel {
    /// A model from what training gives. Features and observations without weight are dropped.
    ///
    /// # Panics
    /// When the parts do not belong together.
    pub fn new(labels: Alphabet, observations: &Alphabet, structure: &Structure, weights: &[f64]) -> Self {
        assert_eq!(weights.len(), structure.weights());
        assert_eq!(observations.len(), structure.unary().rows());
        let pruned = Pruned::new(structure, weights);
        let names: Vec<&str> = pruned.rows.iter().map(|&row| observations.name(row)).collect();
        let structure = Structure::assemble(
            structure.options().clone(),
            structure.labels(),
            pruned.unary,
            structure.pairs().to_vec(),
            pruned.pair,
            pruned.tuples,
        );
        Self::assemble(
            labels,
            Names::new(names.into_iter()),
            None,
            structure,
            pruned.weights.into(),
        )
    }

    pub(crate) fn assemble(
        labels: Alphabet,
        observations: Names,
        unknown: Option<u32>,
        structure: Structure,
        weights: Shared<f64>,
    ) -> Self {
        Self {
            labels,
            observations,
            unknown,
            structure,
            weights,
            algorithm: None,
        }
    }

    /// Notes by which algorithm the weights were found.
    pub fn with_algorithm(mut self, name: &str) -> Self {
        self.algorithm = Some(name.to_owned());
        self
    }

    /// The name of the algorithm by which the weights were found, if it was noted.
    pub fn algorithm(&self) -> Option<&str> {
        self.algorithm.as_deref()
    }

    /// Lets an observation stand for every name that the model does not know.
    pub fn with_unknown(mut self, name: &str) -> Self {
        self.unknown = self.observations.get(name);
        self
    }

    /// The observation that stands for unknown names, if there is one.
    pub fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Names of the labels.
    pub fn labels(&self) -> &Alphabet {
        &self.labels
    }

    /// Names of the observations.
    pub fn observations(&self) -> &Names {
        &self.observations
    }

    /// The observation with a name whose [`Alphabet::hash`] is `hash`.
    #[inline]
    pub fn find_observation(&self, hash: u64, name: &str) -> Option<u32> {
        self.observations.find(hash, name).or(self.unknown)
    }

    /// The features.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// The shape that the model was trained with.
    pub fn options(&self) -> &StructureOptions {
        self.structure.options()
    }

    /// Every weight, in the numbering of [`Structure`].
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of weights that are not zero.
    pub fn active(&self) -> usize {
        self.weights.iter().filter(|&&weight| weight != 0.0).count()
    }

    /// A tagger in double precision and scaled linear space.
    pub fn tagger(&self) -> Tagger<'_> {
        self.tagger_with(Space::default())
    }

    /// A tagger in a precision and space of choice.
    pub fn tagger_with<T: Dispatch>(&self, space: Space) -> Tagger<'_, T> {
        Tagger::new(&self.structure, &self.weights, space)
    }
}

impl StepScores {
    fn new(structure: &Structure, weights: &[f64]) -> Self {
        let tuples = &weights[structure.tuple_weights()];
        let sum = |list: &Vec<u32>| list.iter().map(|&tuple| tuples[tuple as usize]).sum::<f64>();
        let unrolled = structure.unrolled();
        let mut start = vec![f64::NEG_INFINITY; unrolled.automaton.states()];
        for ((state, list), label) in unrolled.starts.iter().zip(0..) {
            if structure.may_begin(label) {
                start[*state as usize] = sum(list);
            }
        }
        let bias = match &weights[structure.bias_weights()] {
            [] => vec![0.0; structure.labels()],
            bias => bias.to_vec(),
        };
        Self {
            arcs: unrolled.arc_tuples.iter().map(sum).collect(),
            start,
            end: unrolled.end_tuples.iter().map(sum).collect(),
            bias,
        }
    }
}

/// What is left of a structure when weights of zero are dropped.
struct Pruned {
    rows: Vec<u32>,
    unary: FeatureTable,
    pair: FeatureTable,
    tuples: Tuples,
    weights: Vec<f64>,
}

impl Pruned {
    fn new(structure: &Structure, weights: &[f64]) -> Self {
        let unary = &weights[structure.unary_weights()];
        let pair = &weights[structure.pair_weights()];
        let tuples = &weights[structure.tuple_weights()];
        let nonzero = |weights: &[f64]| weights.iter().any(|&weight| weight != 0.0);
        let rows: Vec<u32> = (0..structure.unary().rows() as u32)
            .filter(|&row| {
                nonzero(&unary[structure.unary().features(row)])
                    || nonzero(&pair[structure.pair().features(row)])
            })
            .collect();
        let mut kept = Vec::with_capacity(weights.len());
        let mut table = |from: &FeatureTable, weights: &[f64]| -> FeatureTable {
            let table = FeatureTable::build(rows.len(), |row, columns| {
                let row = rows[row];
                for (&column, &weight) in from.columns(row).iter().zip(&weights[from.features(row)]) {
                    if weight != 0.0 {
                        columns.push(column);
                        kept.push(weight);
                    }
                }
            });
            table.expect("fewer features than before")
        };
        let (unary, pair) = (table(structure.unary(), unary), table(structure.pair(), pair));
        let list = structure
            .tuples()
            .iter()
            .zip(tuples)
            .filter(|(_, weight)| **weight != 0.0);
        kept.extend(list.clone().map(|(_, weight)| weight));
        let list = list.map(|(tuple, _)| tuple.into());
        let tuples = Tuples::from_list(structure.labels(), structure.options().order, list)
            .only(structure.allowed_transitions().cloned());
        kept.extend_from_slice(&weights[structure.bias_weights()]);
        Self {
            rows,
            unary,
            pair,
            tuples,
            weights: kept,
        }
    }
}

/// So many observations ahead memory is asked for.
const AHEAD: usize = 8;

/// Scratch memory to tag with; make one per thread and use it again and again.
pub struct Tagger<'m, T = f64> {
    structure: &'m Structure,
    weights: &'m [f64],
    /// Scores of labels, one row for each position.
    label_scores: Vec<T>,
    nodes: Vec<T>,
    steps: Vec<T>,
    arcs: Vec<T>,
    start: Vec<T>,
    end: Vec<T>,
    bias: Vec<T>,
    worker: Worker<T>,
    viterbi: viterbi::Tables<T>,
    /// Whether the constraint-free first-order Viterbi serves.
    plain: bool,
}

impl<'m, T: Dispatch> Tagger<'m, T> {
    /// A tagger for weights that are not in a model yet.
    ///
    /// # Panics
    /// When there are not as many weights as the structure has features.
    pub fn new(structure: &'m Structure, weights: &'m [f64], space: Space) -> Self {
        assert_eq!(weights.len(), structure.weights());
        let convert = |scores: &[f64]| scores.iter().map(|&score| T::from_f64(score)).collect::<Vec<T>>();
        let scores = StepScores::new(structure, weights);
        let (arcs, start, end) = (
            convert(&scores.arcs),
            convert(&scores.start),
            convert(&scores.end),
        );
        let plain = structure.automaton().is_complete() && structure.pairs().is_empty();
        let viterbi = viterbi::Tables::new(structure.labels(), if plain { &arcs } else { &[] }, &start, &end);
        Self {
            structure,
            weights,
            label_scores: Vec::new(),
            nodes: Vec::new(),
            steps: Vec::new(),
            arcs,
            start,
            end,
            bias: convert(&scores.bias),
            worker: Worker::new(space),
            viterbi,
            plain,
        }
    }

    /// The best label sequence of an instance.
    ///
    /// The instance must have been read with the observations of the model; its gold labels are ignored.
    pub fn tag(&mut self, instance: Instance<'_>) -> Result<&[u32], Error> {
        self.score_labels(instance);
        self.score_steps(Some(instance));
        self.best()
    }

    /// All other inference on an instance: k best, marginals, spans, and everything under constraints.
    pub fn load<'t>(
        &'t mut self,
        instance: Instance<'_>,
        constraints: &Constraints,
    ) -> Result<Inference<'t, 't, T>, Error> {
        self.score_labels(instance);
        self.score_steps(Some(instance));
        self.infer(constraints)
    }

    /// What the labels of a position score if nothing is observed.
    pub fn bias(&self) -> &[T] {
        &self.bias
    }

    /// Adds what observations say to scores of labels, one row of scores for each position.
    pub fn observe(&self, observations: &[Observed], scores: &mut [T]) {
        let labels = self.structure.labels();
        let table = self.structure.unary();
        let (offsets, columns) = (table.offsets(), table.all_columns());
        let weights = &self.weights[self.structure.unary_weights()];
        let range = |id: u32| offsets[id as usize] as usize..offsets[id as usize + 1] as usize;
        for (index, observed) in observations.iter().enumerate() {
            // As in `score_labels`.
            if let Some(later) = observations.get(index + 2 * AHEAD) {
                prefetch(offsets, later.id as usize);
            }
            if let Some(next) = observations.get(index + AHEAD) {
                let start = range(next.id).start;
                prefetch(columns, start);
                prefetch(weights, start);
            }
            let range = range(observed.id);
            let value = T::from_f32(observed.value);
            let row = &mut scores[observed.position as usize * labels..][..labels];
            for (&column, &weight) in columns[range.clone()].iter().zip(&weights[range]) {
                row[column as usize] += value * T::from_f64(weight);
            }
        }
    }

    /// The best label sequence for scores of labels, [`Tagger::bias`] and observations added up for each position.
    /// Observations of steps are none.
    pub fn tag_scores(&mut self, scores: &[T]) -> Result<&[u32], Error> {
        self.take_scores(scores);
        self.best()
    }

    /// All other inference with scores of labels, as in [`Tagger::tag_scores`].
    pub fn load_scores<'t>(
        &'t mut self,
        scores: &[T],
        constraints: &Constraints,
    ) -> Result<Inference<'t, 't, T>, Error> {
        self.take_scores(scores);
        self.infer(constraints)
    }

    fn take_scores(&mut self, scores: &[T]) {
        self.label_scores.clear();
        self.label_scores.extend_from_slice(scores);
        self.score_steps(None);
    }

    fn best(&mut self) -> Result<&[u32], Error> {
        let plain = self.plain && !self.label_scores.is_empty();
        if plain && self.label_scores.iter().all(|score| score.is_finite()) {
            return Ok(self.viterbi.best(&self.label_scores));
        }
        let labels = self.infer(&Constraints::none())?.viterbi()?.labels.to_vec();
        Ok(self.viterbi.keep(labels))
    }

    /// Inference on the scores at hand.
    fn infer<'t>(&'t mut self, constraints: &Constraints) -> Result<Inference<'t, 't, T>, Error> {
        let automaton = self.structure.automaton();
        let labels = self.structure.labels();
        let nodes = if automaton.is_complete() {
            &self.label_scores
        } else {
            self.nodes.clear();
            for row in self.label_scores.chunks_exact(labels) {
                self.nodes
                    .extend(automaton.label_of().iter().map(|&label| row[label as usize]));
            }
            &self.nodes
        };
        let arcs = if self.structure.pairs().is_empty() {
            ArcScores::Static(&self.arcs)
        } else {
            ArcScores::PerStep(&self.steps)
        };
        let lattice = Lattice {
            automaton,
            length: self.label_scores.len() / labels.max(1),
            nodes,
            arcs,
            start: &self.start,
            end: &self.end,
        };
        self.worker.load(&lattice, constraints)
    }

    fn score_labels(&mut self, instance: Instance<'_>) {
        let labels = self.structure.labels();
        let table = self.structure.unary();
        let (offsets, columns) = (table.offsets(), table.all_columns());
        let weights = &self.weights[self.structure.unary_weights()];
        let observations = &instance.dataset.unary;
        let range = |id: u32| offsets[id as usize] as usize..offsets[id as usize + 1] as usize;
        // Each observation waits for memory twice: for where its weights are, and for the weights. Both are
        // asked for in time, two positions and one position ahead.
        let expect_range = |position| {
            for &id in observations.ids(position) {
                prefetch(offsets, id as usize);
            }
        };
        let expect_weights = |position| {
            for &id in observations.ids(position) {
                let range = range(id);
                prefetch(columns, range.start);
                prefetch(weights, range.start);
            }
        };
        let positions = instance.positions();
        positions.clone().take(2).for_each(expect_range);
        positions.clone().take(1).for_each(expect_weights);
        self.label_scores.clear();
        for position in positions.clone() {
            if position + 2 < positions.end {
                expect_range(position + 2);
            }
            if position + 1 < positions.end {
                expect_weights(position + 1);
            }
            let first = self.label_scores.len();
            self.label_scores.extend_from_slice(&self.bias);
            let row = &mut self.label_scores[first..first + labels];
            for (id, value) in observations.iter(position) {
                let range = range(id);
                let value = T::from_f32(value);
                for (&column, &weight) in columns[range.clone()].iter().zip(&weights[range]) {
                    row[column as usize] += value * T::from_f64(weight);
                }
            }
        }
    }
    /// Scores all arcs for each step, if observations of steps count; without an instance there are none.
    fn score_steps(&mut self, instance: Option<Instance<'_>>) {
        let structure = self.structure;
        if structure.pairs().is_empty() {
            return;
        }
        let table = structure.pair();
        let weights = &self.weights[structure.pair_weights()];
        let length = self.label_scores.len() / structure.labels();
        let mut pairs = vec![T::ZERO; structure.pairs().len()];
        self.steps.clear();
        for step in 1..length {
            pairs.fill(T::ZERO);
            let observed =
                instance.map(|instance| instance.dataset.pair.iter(instance.positions().start + step));
            for (id, value) in observed.into_iter().flatten() {
                let value = T::from_f32(value);
                for (&column, &weight) in table.columns(id).iter().zip(&weights[table.features(id)]) {
                    pairs[column as usize] += value * T::from_f64(weight);
                }
            }
            let scores = self.arcs.iter().zip(structure.pair_of_arc());
            self.steps.extend(scores.map(|(&score, &pair)| {
                if pair == NO_PAIR {
                    score
                } else {
                    score + pairs[pair as usize]
                }
            }));
        }
    }
}
