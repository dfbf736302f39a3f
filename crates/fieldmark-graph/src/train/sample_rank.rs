//! SampleRank (Wick et al. 2011): learns to rank neighbouring labellings that a Gibbs sampler proposes.
//!
//! Each move changes the label of one variable. Where the loss of two labellings differs and the better one does not
//! score higher by more than the margin, the weights move by α towards its features. As printed in Marcheggiani
//! (2014), only a strictly wrong order counts; then nothing is ever learned from weights of zero, at which all
//! scores tie. Here a gap *up to* the margin counts, with a margin of 0 too. [`Compare`] says which two labellings
//! these are.

mod saved;

use super::{TrainError, gold};
use crate::data::{GraphDataset, GraphInstance};
use crate::factor_graph::Line;
use crate::structure::{Edges, Structure};
use crate::unroll::{BaseTables, Unrolled, Weights, unroll};
use crate::{Conditional, Error};
use fieldmark_core::Gold;
use fieldmark_core::optimize::Status;
use fieldmark_core::random::{SplitMix64, visiting_order};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Training stops at weights beyond this. Observations have values up to 3e38, and a model must be able to add up its
/// scores.
const LARGEST_WEIGHT: f64 = 1e250;

/// What a label costs: a loss that is a sum over variables.
pub trait VariableLoss: Send + Sync {
    /// The loss of a label of a variable of a layer, given what is known about it.
    fn loss(&self, layer: usize, gold: Gold<'_>, label: u32) -> f64;
}

impl<F: Fn(usize, Gold<'_>, u32) -> f64 + Send + Sync> VariableLoss for F {
    fn loss(&self, layer: usize, gold: Gold<'_>, label: u32) -> f64 {
        self(layer, gold, label)
    }
}

/// 1 for each label that gold does not allow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hamming;

impl VariableLoss for Hamming {
    fn loss(&self, _: usize, gold: Gold<'_>, label: u32) -> f64 {
        if gold.allows(label) { 0.0 } else { 1.0 }
    }
}

/// Which labels of a variable [`SampleRank`] compares at each move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// The old label with the one that was drawn, as printed in Marcheggiani (2014). A model that is sure of wrong
    /// labels never draws the right ones, and stops learning.
    Drawn,
    /// Of all labels that could have been drawn, the one with the least loss and the one that scores highest of those
    /// with more.
    #[default]
    All,
}

/// Options of [`SampleRank`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SampleRankOptions {
    /// How far weights move at a time.
    pub alpha: f64,
    /// By how much a better labelling must score higher.
    pub margin: f64,
    /// Training stops when a pass changes the weights by less than this, in Euclidean distance.
    pub epsilon: f64,
    /// Most passes.
    pub max_iterations: u64,
    /// Which labels of a variable are compared at each move.
    pub compare: Compare,
    /// How often a pass visits each variable of an instance.
    pub sweeps: usize,
    /// Whether the weights are the mean over all moves.
    pub average: bool,
    /// Start of the random numbers.
    pub seed: u64,
}

impl Default for SampleRankOptions {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            margin: 1.0,
            epsilon: 1e-5,
            max_iterations: 100,
            compare: Compare::default(),
            sweeps: 1,
            average: true,
            seed: 0,
        }
    }
}

/// What one pass did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankIteration {
    /// Number of the pass, from 1.
    pub iteration: u64,
    /// Moves that changed weights.
    pub updates: u64,
    /// All moves.
    pub moves: u64,
    /// Euclidean distance of the weights before and after.
    pub change: f64,
    /// The loss of the labellings of all instances at the end of the pass.
    pub loss: f64,
}

/// SampleRank over Gibbs proposals. Its labellings go on from pass to pass; the same options and data give the same
/// weights.
pub struct SampleRank<'a> {
    structure: &'a Structure,
    data: &'a GraphDataset,
    edges: Vec<Edges>,
    loss: Box<dyn VariableLoss + 'a>,
    options: SampleRankOptions,
    learner: Learner,
    labels: Vec<Vec<u32>>,
    /// Only the scopes of graphs are used; scores would be those of weights that have moved on.
    base: BaseTables,
    unrolled: Unrolled,
    proposal: Proposal,
    iteration: u64,
    /// Why it stopped, if not for the number of passes.
    end: Option<Status>,
}

/// Weights that move.
#[derive(Clone)]
struct Learner {
    weights: Vec<f64>,
    /// Σ of changes, each times the number of moves before it.
    delayed: Vec<f64>,
    moves: u64,
    /// The base tables of the weights as they are now.
    tables: Vec<Vec<f64>>,
}

/// Scores of the labels of one variable.
#[derive(Default)]
struct Proposal {
    conditional: Conditional,
    weights: Vec<f64>,
    scratch: Vec<(u32, f32)>,
}

/// A graph in which labels are drawn.
struct Scene<'a> {
    structure: &'a Structure,
    instance: GraphInstance<'a>,
    unrolled: &'a Unrolled,
}

impl<'a> SampleRank<'a> {
    /// Training from some weights with the Hamming loss.
    ///
    /// Gold that contradicts what a template forbids is an error here.
    pub fn new(
        structure: &'a Structure,
        data: &'a GraphDataset,
        weights: Vec<f64>,
        options: SampleRankOptions,
    ) -> Result<Self, TrainError> {
        check(&options)?;
        structure.check_data(data, true)?;
        let (found, expected) = (weights.len(), structure.weights());
        if found != expected {
            return Err(crate::StructureError::Weights { found, expected }.into());
        }
        let edges = structure.all_edges(data)?;
        gold::check(structure, data, &edges)?;
        let mut random = SplitMix64(options.seed ^ 0x5851_F42D_4C95_7F2D);
        let labels = data
            .instances()
            .map(|instance| start(structure, instance, &mut random));
        let mut base = BaseTables::default();
        base.set(structure, Weights::new(&weights));
        Ok(Self {
            edges,
            labels: labels.collect(),
            learner: Learner {
                delayed: vec![0.0; weights.len()],
                weights,
                moves: 0,
                tables: base.tables().to_vec(),
            },
            base,
            loss: Box::new(Hamming),
            structure,
            data,
            options,
            unrolled: Unrolled::default(),
            proposal: Proposal::default(),
            iteration: 0,
            end: None,
        })
    }

    /// Training with another loss.
    #[must_use]
    pub fn with_loss(mut self, loss: impl VariableLoss + 'a) -> Self {
        self.loss = Box::new(loss);
        self
    }

    /// The options.
    pub fn options(&self) -> &SampleRankOptions {
        &self.options
    }

    /// Where the run stands.
    pub fn status(&self) -> Status {
        let running = Status::Running.limited(self.iteration, Some(self.options.max_iterations));
        self.end.unwrap_or(running)
    }

    /// Changes the number of passes after which to stop; a run that stopped for it may go on.
    pub fn set_max_iterations(&mut self, max_iterations: u64) {
        self.options.max_iterations = max_iterations;
    }

    /// Whether the last pass changed so little that training stopped.
    pub fn converged(&self) -> bool {
        self.end == Some(Status::WeightsConverged)
    }

    /// The weights, or their mean over all moves if that was asked for.
    pub fn weights(&self) -> Vec<f64> {
        let Learner {
            weights,
            delayed,
            moves,
            ..
        } = &self.learner;
        if !self.options.average || *moves == 0 {
            return weights.clone();
        }
        let mean = |(weight, delayed): (&f64, &f64)| weight - delayed / *moves as f64;
        weights.iter().zip(delayed).map(mean).collect()
    }

    /// One pass over all instances; `None` when training is over. A pass after which weights are too large is undone, and
    /// is the last one.
    pub fn step(&mut self) -> Result<Option<RankIteration>, TrainError> {
        if self.status() != Status::Running {
            return Ok(None);
        }
        self.iteration += 1;
        let before = self.learner.clone();
        let mut updates = 0;
        let mut random = SplitMix64(self.options.seed ^ self.iteration.wrapping_mul(0x9FB2_1C65_1E98_DF25));
        for index in visiting_order(self.data.len(), self.options.seed, self.iteration) {
            updates += self
                .visit(index as usize, &mut random)
                .map_err(|error| TrainError::Instance {
                    instance: index as usize,
                    error,
                })?;
        }
        let iteration = RankIteration {
            iteration: self.iteration,
            updates,
            moves: self.learner.moves - before.moves,
            change: self.learner.distance(&before),
            loss: self.loss_of_labels(),
        };
        if self.learner.is_too_large() {
            self.learner = before;
            self.end = Some(Status::Diverged);
        } else if iteration.change < self.options.epsilon {
            self.end = Some(Status::WeightsConverged);
        }
        Ok(Some(iteration))
    }

    /// Draws the labels of an instance anew and learns from each move; returns how often.
    fn visit(&mut self, index: usize, random: &mut SplitMix64) -> Result<u64, Error> {
        let instance = self.data.instance(index);
        unroll(
            self.structure,
            None,
            &self.base,
            instance,
            &self.edges[index],
            &mut self.unrolled,
        )?;
        let scene = Scene {
            structure: self.structure,
            instance,
            unrolled: &self.unrolled,
        };
        let labels = &mut self.labels[index];
        let places = self.structure.places(instance.len());
        let mut updates = 0;
        for _ in 0..self.options.sweeps {
            for (variable, layer, position) in places.variables(instance.len()) {
                self.proposal.score(&scene, &self.learner, labels, variable);
                let old = labels[variable as usize];
                let Proposal {
                    conditional, weights, ..
                } = &mut self.proposal;
                let new = conditional.draw(1.0, weights, random);
                let gold = instance.gold(layer, position);
                let loss = |label: u32| self.loss.loss(layer, gold, label);
                let pair = match self.options.compare {
                    Compare::Drawn if loss(new) < loss(old) => Some((new, old)),
                    Compare::Drawn if loss(new) > loss(old) => Some((old, new)),
                    Compare::Drawn => None,
                    Compare::All => self.proposal.rivals(loss),
                };
                let is_close = |&(better, worse): &(u32, u32)| {
                    self.proposal.is_close(better, worse, self.options.margin)
                };
                if let Some((better, worse)) = pair.filter(is_close) {
                    let alpha = self.options.alpha;
                    let scratch = &mut self.proposal.scratch;
                    self.learner.add(&scene, labels, variable, better, alpha, scratch);
                    self.learner.add(&scene, labels, variable, worse, -alpha, scratch);
                    updates += 1;
                }
                self.learner.moves += 1;
                labels[variable as usize] = new;
            }
        }
        Ok(updates)
    }

    fn loss_of_labels(&self) -> f64 {
        let mut sum = 0.0;
        for (instance, labels) in self.data.instances().zip(&self.labels) {
            let places = self.structure.places(instance.len());
            for (variable, layer, position) in places.variables(instance.len()) {
                let gold = instance.gold(layer, position);
                sum += self.loss.loss(layer, gold, labels[variable as usize]);
            }
        }
        sum
    }
}

/// Random labels, each one of its candidates.
fn start(structure: &Structure, instance: GraphInstance<'_>, random: &mut SplitMix64) -> Vec<u32> {
    let places = structure.places(instance.len());
    let variables = places.variables(instance.len());
    variables
        .map(
            |(_, layer, position)| match instance.candidates(layer, position) {
                Gold::Known(label) => label,
                Gold::Ambiguous(set) => set[random.below(set.len() as u32) as usize],
                Gold::Unknown => random.below(structure.labels[layer]),
            },
        )
        .collect()
}

fn check(options: &SampleRankOptions) -> Result<(), TrainError> {
    let wrong = |option, found, expected| {
        Err(TrainError::Engine(Error::Option {
            option,
            found,
            expected,
        }))
    };
    if !(options.alpha > 0.0 && options.alpha.is_finite()) {
        return wrong("alpha", options.alpha, "a number above 0");
    }
    if !(options.margin >= 0.0 && options.margin.is_finite()) {
        return wrong("margin", options.margin, "a number that is not negative");
    }
    if !(options.epsilon >= 0.0 && options.epsilon.is_finite()) {
        return wrong("epsilon", options.epsilon, "a number that is not negative");
    }
    if options.sweeps == 0 {
        return wrong("sweeps", 0.0, "at least 1");
    }
    Ok(())
}

impl Scene<'_> {
    /// Calls `visit` with template, positions and line of each factor of a variable.
    fn for_each_line(&self, labels: &[u32], variable: u32, mut visit: impl FnMut(usize, &[u32], Line)) {
        let graph = &self.unrolled.graph;
        for &slot in graph.incident(variable) {
            let factor = graph.slot_factor(slot as usize);
            let template = graph.template_of(factor) as usize;
            let line = graph.line(slot as usize, labels);
            visit(template, self.unrolled.positions(factor), line);
        }
    }
}

impl Learner {
    /// Whether weights are too large, or no numbers.
    fn is_too_large(&self) -> bool {
        !self.weights.iter().all(|weight| weight.abs() <= LARGEST_WEIGHT)
    }

    /// Euclidean distance of the weights.
    fn distance(&self, other: &Self) -> f64 {
        let pairs = other.weights.iter().zip(&self.weights);
        pairs.map(|(old, new)| (new - old).powi(2)).sum::<f64>().sqrt()
    }

    fn change(&mut self, weight: usize, by: f64) {
        self.weights[weight] += by;
        self.delayed[weight] += by * self.moves as f64;
    }

    /// Adds `alpha` times the features of all factors of a variable, if it has a label.
    fn add(
        &mut self,
        scene: &Scene<'_>,
        labels: &[u32],
        variable: u32,
        label: u32,
        alpha: f64,
        scratch: &mut Vec<(u32, f32)>,
    ) {
        let structure = scene.structure;
        scene.for_each_line(labels, variable, |template, positions, line| {
            let features = &structure.templates[template];
            let entry = (line.first + label as usize * line.stride) as u32;
            if let Ok(place) = features.bias.binary_search(&entry) {
                self.change(features.bias_weights().start + place, alpha);
                self.tables[template][entry as usize] += alpha;
            }
            if features.rows.is_empty() {
                return;
            }
            structure.for_each_observation(template, scene.instance, positions, scratch, |id, value| {
                if let Some(feature) = features.rows.find(id, entry) {
                    self.change(features.start + feature, alpha * f64::from(value));
                }
            });
        });
    }
}

impl Proposal {
    /// Scores all labels of a variable, those of all others being given, with the weights as they are now.
    fn score(&mut self, scene: &Scene<'_>, learner: &Learner, labels: &[u32], variable: u32) {
        let Self {
            conditional, scratch, ..
        } = self;
        let count = scene.unrolled.graph.labels(variable) as usize;
        conditional.clear(count as u32);
        let structure = scene.structure;
        scene.for_each_line(labels, variable, |template, positions, line| {
            let features = &structure.templates[template];
            conditional.add_line(line, &learner.tables[template]);
            if features.rows.is_empty() {
                return;
            }
            let (entries, weights) = (
                features.rows.all_columns(),
                &learner.weights[features.row_weights()],
            );
            structure.for_each_observation(template, scene.instance, positions, scratch, |id, value| {
                let row = features.rows.features(id);
                for (&entry, weight) in entries[row.clone()].iter().zip(&weights[row]) {
                    let label = entry as usize / line.stride % count;
                    if entry as usize == line.first + label * line.stride {
                        conditional.scores[label] += f64::from(value) * weight;
                    }
                }
            });
        });
    }

    /// The label with the least loss, and the one that scores highest of those with more loss; of labels with the same
    /// loss the one that scores highest. Only labels that the fewest factors forbid count.
    fn rivals(&self, loss: impl Fn(u32) -> f64) -> Option<(u32, u32)> {
        let Conditional { scores, violations } = &self.conditional;
        let fewest = violations.iter().min()?;
        let possible = (0..scores.len()).filter(|&label| violations[label] == *fewest);
        let mut losses: Vec<(u32, f64)> = possible.map(|label| (label as u32, loss(label as u32))).collect();
        let score = |label: u32| scores[label as usize];
        losses.sort_by(|a, b| a.1.total_cmp(&b.1).then(score(b.0).total_cmp(&score(a.0))));
        let &(better, least) = losses.first()?;
        let worse = losses.iter().filter(|(_, loss)| *loss > least);
        let worse = worse.max_by(|a, b| score(a.0).total_cmp(&score(b.0)))?;
        Some((better, worse.0))
    }

    /// Whether one label does not score higher than another by more than a margin.
    fn is_close(&self, better: u32, worse: u32, margin: f64) -> bool {
        let Conditional { scores, violations } = &self.conditional;
        let (better, worse) = (better as usize, worse as usize);
        // What is forbidden cannot be learned, and need not be avoided.
        violations[better] == violations[worse] && scores[better] - scores[worse] <= margin
    }
}
