//! [`GraphObjective`]: a loss as a sum over instances, in parallel and in a fixed order.
//!
//! Instances are cut into shards that depend on data and weights alone. Each thread sums a shard into a buffer of its
//! own; buffers are added in the order of shards. So every sum has the same order for any number of threads.

use super::gold::InstanceGold;
use super::tables::TableGradient;
use super::{Convergence, Loss, TrainError, likelihood, piecewise, pseudolikelihood};
use crate::data::{GraphDataset, GraphInstance};
use crate::structure::{Edges, Structure};
use crate::unroll::{BaseTables, Unrolled, Weights, unroll};
use crate::{Error, FactorGraph};
use fieldmark_core::Gold;
use fieldmark_core::optimize::{InstanceObjective, Objective, StochasticObjective};
use rayon::prelude::*;
use std::convert::Infallible;
use std::ops::Range;

/// Most shards of a pass. The more there are, the shorter a thread waits for the last one.
const MOST_SHARDS: usize = 64;
/// To clear and to add up a gradient takes a few steps for each weight: a shard must have so much other work for each.
const WORK_PER_WEIGHT: usize = 12;

/// Scores may not add up to more than this. Beyond it, rounding moves sums by more than 1: the loss of right labels, which
/// is the difference of two sums, may be anything, even negative.
const LARGEST_SUM: f64 = 1.0 / f64::EPSILON;

/// The loss of a data set under a graph model.
///
/// Uses as many threads as the rayon pool in which it is made. The same data and weights give the same bits for any
/// number of them.
pub struct GraphObjective<'a> {
    field: Field<'a>,
    loss: Loss,
    workers: Vec<Worker>,
    order: Vec<u32>,
    convergence: Convergence,
    /// Of all evaluations since it was taken.
    total: Convergence,
    failure: Option<TrainError>,
}

/// What threads read.
struct Field<'a> {
    structure: &'a Structure,
    data: &'a GraphDataset,
    edges: Vec<Edges>,
    /// How much work each instance is.
    work: Vec<usize>,
    base: BaseTables,
    prepared: pseudolikelihood::Prepared,
}

/// What a thread writes.
struct Worker {
    unrolled: Unrolled,
    gold: InstanceGold,
    tables: TableGradient,
    local: Local,
    gradient: Vec<f64>,
    loss: f64,
    convergence: Convergence,
    failure: Option<(u32, Error)>,
}

enum Local {
    Likelihood(likelihood::Worker),
    Pseudolikelihood(Box<pseudolikelihood::Worker>),
    Piecewise(piecewise::Worker),
}

impl<'a> GraphObjective<'a> {
    /// The loss of `data` under the model with this structure.
    ///
    /// Gold that contradicts what templates forbid is an error here.
    pub fn new(structure: &'a Structure, data: &'a GraphDataset, loss: Loss) -> Result<Self, TrainError> {
        structure.check_data(data, true)?;
        let edges = structure.all_edges(data)?;
        let work = (0..data.len()).into_par_iter();
        let work = work.map(|index| work_of(structure, data.instance(index), &edges[index]));
        let work = work.collect();
        let threads = rayon::current_num_threads().max(1);
        let workers = (0..threads)
            .map(|_| Worker::new(&loss))
            .collect::<Result<_, _>>()?;
        let mut objective = Self {
            field: Field {
                structure,
                data,
                edges,
                work,
                base: BaseTables::default(),
                prepared: pseudolikelihood::Prepared::default(),
            },
            loss,
            workers,
            order: (0..data.len() as u32).collect(),
            convergence: Convergence::default(),
            total: Convergence::default(),
            failure: None,
        };
        if structure
            .templates
            .iter()
            .any(|template| !template.forbidden.is_empty())
        {
            let weights = vec![0.0; structure.weights()];
            objective.evaluate(&weights, &mut weights.clone());
            if let Some(failure) = objective.failure.take() {
                return Err(failure);
            }
            objective.take_convergence();
        }
        Ok(objective)
    }

    /// The loss that it computes.
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// How often inference converged in the last evaluation.
    pub fn convergence(&self) -> Convergence {
        self.convergence
    }

    /// How often inference converged in all evaluations since this was last asked: those of an iteration, if it is
    /// asked after each.
    pub fn take_convergence(&mut self) -> Convergence {
        std::mem::take(&mut self.total)
    }

    /// Why the last evaluation gave no number, if it was not that weights are too large. An optimiser only sees that
    /// the loss is not finite.
    pub fn failure(&self) -> Option<&TrainError> {
        self.failure.as_ref()
    }

    fn pass(&mut self, order: &[u32], x: &[f64], gradient: &mut [f64]) -> f64 {
        self.convergence = Convergence::default();
        self.failure = None;
        if !x.iter().all(|weight| weight.is_finite()) {
            return f64::INFINITY;
        }
        self.field.set_weights(Weights::new(x), &self.loss);
        let shards = cut(&self.field.work, order, x.len());
        let field = &self.field;
        let mut loss = 0.0;
        for wave in shards.chunks(self.workers.len()) {
            self.workers
                .par_iter_mut()
                .zip(wave)
                .for_each(|(worker, shard)| worker.run(field, &order[shard.clone()], x));
            let workers = &self.workers[..wave.len()];
            for worker in workers {
                loss += worker.loss;
                self.convergence.add(worker.convergence);
                self.total.add(worker.convergence);
                if let Some((instance, error)) = &worker.failure {
                    self.failure = failure(*instance, error);
                    return f64::INFINITY;
                }
            }
            const CHUNK: usize = 1 << 14;
            let buffers: Vec<&[f64]> = workers.iter().map(|worker| &worker.gradient[..]).collect();
            gradient
                .par_chunks_mut(CHUNK)
                .enumerate()
                .for_each(|(chunk, sums)| {
                    for buffer in &buffers {
                        let parts = &buffer[chunk * CHUNK..];
                        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                    }
                });
        }
        loss
    }
}

/// What to tell of an instance that cannot be computed; nothing if weights are too large.
fn failure(instance: u32, error: &Error) -> Option<TrainError> {
    let too_large = matches!(error, Error::TooLarge { .. } | Error::NotANumber { .. });
    (!too_large).then(|| TrainError::Instance {
        instance: instance as usize,
        error: error.clone(),
    })
}

impl Objective for GraphObjective<'_> {
    fn len(&self) -> usize {
        self.field.structure.weights()
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let order = std::mem::take(&mut self.order);
        let loss = self.pass(&order, x, gradient);
        self.order = order;
        loss
    }
}

impl StochasticObjective for GraphObjective<'_> {
    fn instances(&self) -> usize {
        self.field.data.len()
    }

    fn evaluate_batch(&mut self, batch: &[u32], x: &[f64], gradient: &mut [f64]) -> f64 {
        self.pass(batch, x, gradient)
    }
}

impl InstanceObjective for GraphObjective<'_> {
    fn loss_of(&mut self, instance: u32, x: &[f64], scale: f64) -> f64 {
        let weights = Weights { x, scale };
        self.field.set_weights(weights, &self.loss);
        let worker = &mut self.workers[0];
        worker.start(&self.field);
        let loss = worker.evaluate(&self.field, instance as usize, weights);
        self.convergence = worker.convergence;
        self.total.add(worker.convergence);
        self.failure = loss.as_ref().err().and_then(|error| failure(instance, error));
        loss.unwrap_or(f64::INFINITY)
    }

    fn descend(&mut self, instance: u32, x: &mut [f64], scale: f64, gain: f64) -> f64 {
        let loss = self.loss_of(instance, x, scale);
        if loss.is_finite() {
            let worker = &mut self.workers[0];
            worker.add_rows(&self.field, instance as usize, -gain, x);
            worker.add_biases(&self.field, -gain, x);
        }
        loss
    }

    fn for_each_changed(&self, instance: u32, visit: &mut dyn FnMut(Range<usize>)) {
        let (structure, instance) = (self.field.structure, self.field.data.instance(instance as usize));
        let unrolled = &self.workers[0].unrolled;
        let mut scratch = Vec::new();
        for &factor in &unrolled.own {
            let template = unrolled.graph.template_of(factor as usize) as usize;
            let features = &structure.templates[template];
            let positions = unrolled.positions(factor as usize);
            structure.for_each_observation(template, instance, positions, &mut scratch, |id, _| {
                let row = features.rows.features(id);
                visit(features.start + row.start..features.start + row.end);
            });
        }
        for template in &structure.templates {
            visit(template.bias_weights());
        }
    }
}

impl Field<'_> {
    fn set_weights(&mut self, weights: Weights<'_>, loss: &Loss) {
        self.base.set(self.structure, weights);
        if *loss == Loss::Pseudolikelihood {
            self.prepared.set(self.structure, &self.base);
        }
    }
}

/// How many cells of tables and weights evaluating an instance visits, about.
fn work_of(structure: &Structure, instance: GraphInstance<'_>, edges: &Edges) -> usize {
    let mut work = 1;
    let mut scratch = Vec::new();
    for (template, features) in structure.templates.iter().enumerate() {
        let rows = &features.rows;
        let labels = features.elementary.layers.iter().zip(&features.shape);
        let done: Result<(), Infallible> =
            structure.for_each_factor(template, instance.len(), edges, |positions| {
                let variables = labels.clone().zip(positions);
                let candidates = variables.map(|((&layer, &labels), &position)| {
                    match instance.candidates(layer, position) {
                        Gold::Known(_) => 1,
                        Gold::Ambiguous(set) => set.len(),
                        Gold::Unknown => labels as usize,
                    }
                });
                work += candidates.product::<usize>();
                if !rows.is_empty() {
                    structure.for_each_observation(template, instance, positions, &mut scratch, |id, _| {
                        work += rows.features(id).len();
                    });
                }
                Ok(())
            });
        done.unwrap_or_else(|never| match never {});
    }
    work
}

/// Cuts a list of instances into shards of about as much work each, as many as the number of weights lets them be worth
/// their cost.
fn cut(work: &[usize], order: &[u32], weights: usize) -> Vec<Range<usize>> {
    let cost = |&instance: &u32| work[instance as usize];
    let all: usize = order.iter().map(cost).sum();
    let affordable = (all / (WORK_PER_WEIGHT * weights.max(1))).clamp(1, MOST_SHARDS);
    // A power of two deals out evenly among the usual numbers of threads.
    let count = 1 << affordable.ilog2();
    let mut shards = Vec::with_capacity(count);
    let (mut start, mut done) = (0, 0);
    for (index, instance) in order.iter().enumerate() {
        done += cost(instance);
        if done * count >= all * (shards.len() + 1) {
            shards.push(start..index + 1);
            start = index + 1;
        }
    }
    shards
}

impl Worker {
    fn new(loss: &Loss) -> Result<Self, TrainError> {
        Ok(Self {
            unrolled: Unrolled::default(),
            gold: InstanceGold::default(),
            tables: TableGradient::default(),
            local: match loss {
                Loss::Likelihood(choice) => Local::Likelihood(likelihood::Worker::new(choice)?),
                Loss::Pseudolikelihood => Local::Pseudolikelihood(Box::default()),
                Loss::Piecewise => Local::Piecewise(piecewise::Worker::default()),
            },
            gradient: Vec::new(),
            loss: 0.0,
            convergence: Convergence::default(),
            failure: None,
        })
    }

    /// Sums a shard.
    fn run(&mut self, field: &Field<'_>, instances: &[u32], x: &[f64]) {
        let mut gradient = std::mem::take(&mut self.gradient);
        gradient.clear();
        gradient.resize(x.len(), 0.0);
        self.start(field);
        for &instance in instances {
            match self.evaluate(field, instance as usize, Weights::new(x)) {
                Ok(loss) => self.loss += loss,
                Err(error) => {
                    self.failure = Some((instance, error));
                    break;
                }
            }
            self.add_rows(field, instance as usize, 1.0, &mut gradient);
        }
        self.add_biases(field, 1.0, &mut gradient);
        self.gradient = gradient;
    }

    /// Before the first instance of a sum.
    fn start(&mut self, field: &Field<'_>) {
        self.loss = 0.0;
        self.convergence = Convergence::default();
        self.failure = None;
        self.tables.start(field.structure);
        if let Local::Pseudolikelihood(worker) = &mut self.local {
            worker.start(field.structure);
        }
    }

    /// The loss of an instance; adds the gradient of its tables.
    fn evaluate(&mut self, field: &Field<'_>, index: usize, weights: Weights<'_>) -> Result<f64, Error> {
        let (structure, instance) = (field.structure, field.data.instance(index));
        let Self {
            unrolled,
            gold,
            tables,
            local,
            convergence,
            ..
        } = self;
        unroll(
            structure,
            Some(weights),
            &field.base,
            instance,
            &field.edges[index],
            unrolled,
        )?;
        check_magnitude(&unrolled.graph)?;
        gold.set(structure, instance)?;
        tables.start_instance(unrolled);
        match local {
            Local::Likelihood(worker) => worker.evaluate(unrolled, gold, tables, convergence),
            Local::Pseudolikelihood(worker) => {
                worker.evaluate(structure, &field.prepared, unrolled, gold, tables)
            }
            Local::Piecewise(worker) => worker.evaluate(unrolled, gold, tables),
        }
    }

    /// Adds `factor` times the gradient of the weights of observations, after an instance was evaluated.
    fn add_rows(&mut self, field: &Field<'_>, index: usize, factor: f64, gradient: &mut [f64]) {
        let (structure, instance) = (field.structure, field.data.instance(index));
        self.tables
            .finish_instance(structure, instance, &mut self.unrolled, factor, gradient);
    }

    /// Adds `factor` times the gradient of biases, after the last instance of a sum.
    fn add_biases(&mut self, field: &Field<'_>, factor: f64, gradient: &mut [f64]) {
        if let Local::Pseudolikelihood(worker) = &mut self.local {
            worker.finish(field.structure, &field.prepared, &mut self.tables);
        }
        self.tables.finish(field.structure, factor, gradient);
    }
}

fn check_magnitude(graph: &FactorGraph) -> Result<(), Error> {
    let (magnitude, factors) = (graph.magnitude(), graph.factors());
    if magnitude > LARGEST_SUM {
        return Err(Error::TooLarge { magnitude, factors });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_all_and_are_worth_their_cost() {
        let work: Vec<usize> = (0..1000).map(|instance| 50 + instance % 100).collect();
        let all: Vec<u32> = (0..1000).rev().collect();
        for (order, weights, expected) in [
            (&all[..], 100, 64),
            (&all[..], 1000, 8),
            (&all[..], 1_000_000, 1),
            (&all[..20], 100, 2),
            (&all[..3], 1, 32),
            (&all[..0], 100, 0),
            (&all[..1], 0, 1),
        ] {
            let shards = cut(&work, order, weights);
            // A shard never ends within an instance.
            assert!(
                shards.len() == expected.min(order.len()),
                "{} of {expected}",
                shards.len()
            );
            assert!(shards.iter().cloned().flatten().eq(0..order.len()));
            let sum = |shard: &Range<usize>| -> usize {
                order[shard.clone()].iter().map(|&i| work[i as usize]).sum()
            };
            let most = shards.iter().map(sum).max().unwrap_or(0);
            let mean = sum(&(0..order.len())) / shards.len().max(1);
            assert!(most <= mean + 150, "{most} of {mean}");
        }
    }
}
