//! [`GraphTrainer`]: every training algorithm behind one face, with early stopping and a state that can be saved.

use super::{Convergence, GraphObjective, Loss, RankIteration, SampleRank, SampleRankOptions, TrainError};
use crate::data::GraphDataset;
use crate::structure::{Structure, StructureError};
use fieldmark_core::optimize::bytes::{Reader, Writer};
use fieldmark_core::optimize::{
    Epoch, Iteration, Lbfgs, LbfgsOptions, OnlineLbfgs, OnlineLbfgsOptions, OptimizeError, Sgd, SgdOptions,
    Status,
};
use std::borrow::Cow;
use std::io::{self, Write};

const KIND: &[u8; 4] = b"GRTR";

/// How weights are found.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphAlgorithm {
    /// L-BFGS, and OWL-QN with an L1 prior.
    Lbfgs(Loss, LbfgsOptions),
    /// Online L-BFGS on batches.
    OnlineLbfgs(Loss, OnlineLbfgsOptions),
    /// Stochastic gradient descent, instance by instance in one thread.
    Sgd(Loss, SgdOptions),
    /// Ranking of neighbouring labellings.
    SampleRank(SampleRankOptions),
}

impl GraphAlgorithm {
    /// The name under which model files note the algorithm.
    pub fn name(&self) -> &'static str {
        match self {
            GraphAlgorithm::Lbfgs(..) => "lbfgs",
            GraphAlgorithm::OnlineLbfgs(..) => "online-lbfgs",
            GraphAlgorithm::Sgd(..) => "sgd",
            GraphAlgorithm::SampleRank(_) => "sample-rank",
        }
    }
}

/// What one iteration, or one pass over the data, did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphProgress {
    /// What the optimiser did. Numbers that an algorithm does not have are no numbers; for SampleRank the loss is that
    /// of its labellings, the step the distance that the weights moved, and evaluations are updates.
    pub iteration: Iteration,
    /// How often inference converged in all evaluations of the iteration.
    pub convergence: Convergence,
}

/// The iteration with the best score on a development set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Its number.
    pub iteration: u64,
    /// Its score.
    pub score: f64,
}

/// Training step by step: the caller may report, score a development set, save or stop in between.
///
/// ```
/// use fieldmark_core::Gold;
/// use fieldmark_core::optimize::SgdOptions;
/// use fieldmark_graph::{
///     Description, GraphAlgorithm, GraphDatasetBuilder, GraphTrainer, Loss, Relations, Structure,
/// };
///
/// let description = Description::linear_chain("pos");
/// let mut builder = GraphDatasetBuilder::new(&description);
/// for (word, label) in [("the", "DT"), ("cat", "NN"), ("sleeps", "VB")] {
///     let label = builder.label(0, label);
///     builder.observe(word, 1.0)?;
///     builder.end_position(&[Gold::Known(label)])?;
/// }
/// builder.end_instance(&[])?;
/// let data = builder.finish();
/// let structure = Structure::build(&data, &description, Relations::none())?;
/// let algorithm = GraphAlgorithm::Sgd(Loss::Pseudolikelihood, SgdOptions::default());
/// let mut trainer = GraphTrainer::new(&structure, &data, &algorithm, vec![0.0; structure.weights()])?;
/// while let Some(progress) = trainer.step()? {
///     let score = -progress.iteration.loss; // or that of a development set under `trainer.weights()`
///     trainer.judge(score);
///     if trainer.without_progress() >= 3 {
///         break;
///     }
/// }
/// let weights = trainer.into_weights();
/// # assert!(weights.iter().any(|&weight| weight > 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GraphTrainer<'a> {
    machine: Machine<'a>,
    last: u64,
    best: Option<Best>,
}

struct Best {
    judged: Judged,
    weights: Vec<f64>,
}

enum Machine<'a> {
    Lbfgs(GraphObjective<'a>, Box<Lbfgs>),
    OnlineLbfgs(GraphObjective<'a>, Box<OnlineLbfgs>),
    Sgd(GraphObjective<'a>, Box<Sgd>),
    SampleRank(Box<SampleRank<'a>>),
}

impl<'a> GraphTrainer<'a> {
    /// Training that starts at some weights.
    pub fn new(
        structure: &'a Structure,
        data: &'a GraphDataset,
        algorithm: &GraphAlgorithm,
        weights: Vec<f64>,
    ) -> Result<Self, TrainError> {
        let (found, expected) = (weights.len(), structure.weights());
        if found != expected {
            return Err(StructureError::Weights { found, expected }.into());
        }
        let objective = |loss: &Loss| GraphObjective::new(structure, data, loss.clone());
        let machine = match algorithm {
            GraphAlgorithm::Lbfgs(loss, options) => {
                Machine::Lbfgs(objective(loss)?, Box::new(Lbfgs::new(weights, *options)?))
            }
            GraphAlgorithm::OnlineLbfgs(loss, options) => {
                Machine::OnlineLbfgs(objective(loss)?, Box::new(OnlineLbfgs::new(weights, *options)?))
            }
            GraphAlgorithm::Sgd(loss, options) => {
                Machine::Sgd(objective(loss)?, Box::new(Sgd::new(weights, *options)?))
            }
            GraphAlgorithm::SampleRank(options) => {
                let training = SampleRank::new(structure, data, weights, options.clone())?;
                Machine::SampleRank(Box::new(training))
            }
        };
        Ok(Self {
            machine,
            last: 0,
            best: None,
        })
    }

    /// Goes on where [`GraphTrainer::save`] was called: the same structure, data and algorithm give the same weights,
    /// bit by bit. Of the options of the algorithm only the number of iterations counts, which may be another one.
    pub fn restore(
        structure: &'a Structure,
        data: &'a GraphDataset,
        algorithm: &GraphAlgorithm,
        bytes: &[u8],
    ) -> Result<Self, TrainError> {
        let (last, best, state) = read(bytes)?;
        let objective = |loss: &Loss| GraphObjective::new(structure, data, loss.clone());
        let machine = match algorithm {
            GraphAlgorithm::Lbfgs(loss, options) => {
                let mut lbfgs = Lbfgs::restore(state)?;
                lbfgs.set_max_iterations(options.max_iterations);
                Machine::Lbfgs(objective(loss)?, Box::new(lbfgs))
            }
            GraphAlgorithm::OnlineLbfgs(loss, options) => {
                let mut online = OnlineLbfgs::restore(state)?;
                online.set_max_iterations(options.max_iterations);
                Machine::OnlineLbfgs(objective(loss)?, Box::new(online))
            }
            GraphAlgorithm::Sgd(loss, options) => {
                let mut sgd = Sgd::restore(state)?;
                sgd.set_max_iterations(options.max_iterations);
                Machine::Sgd(objective(loss)?, Box::new(sgd))
            }
            GraphAlgorithm::SampleRank(options) => {
                let mut training = SampleRank::restore(structure, data, state)?;
                training.set_max_iterations(options.max_iterations);
                Machine::SampleRank(Box::new(training))
            }
        };
        let trainer = Self { machine, last, best };
        let expected = structure.weights();
        let best = trainer.best.as_ref().map(|best| best.weights.len());
        for found in std::iter::once(trainer.weights().len()).chain(best) {
            if found != expected {
                return Err(StructureError::Weights { found, expected }.into());
            }
        }
        Ok(trainer)
    }

    /// One iteration, or one pass over the data; `None` when there is nothing left to do, for the reason that
    /// [`GraphTrainer::status`] gives.
    pub fn step(&mut self) -> Result<Option<GraphProgress>, TrainError> {
        let progress = match &mut self.machine {
            Machine::Lbfgs(objective, lbfgs) => {
                let step = lbfgs.step(objective);
                told(objective, step, lbfgs.status())?
            }
            Machine::OnlineLbfgs(objective, online) => {
                let step = online.step(objective);
                told(objective, step, online.status())?
            }
            Machine::Sgd(objective, sgd) => {
                let step = sgd.epoch(objective).map(|epoch| epoch.map(of_epoch));
                told(objective, step, sgd.status())?
            }
            Machine::SampleRank(training) => {
                let iteration = training.step()?;
                iteration.map(|iteration| of_ranking(iteration, &training.weights()))
            }
        };
        if let Some(progress) = &progress {
            self.last = progress.iteration.iteration;
        }
        Ok(progress)
    }

    /// Tells what the weights after the last step score on a development set. Those with the best score are kept; of
    /// equal ones, the first.
    pub fn judge(&mut self, score: f64) {
        let better = |best: &Best| score > best.judged.score;
        if self.best.as_ref().is_none_or(better) {
            let iteration = self.last;
            self.best = Some(Best {
                judged: Judged { iteration, score },
                weights: self.weights().into_owned(),
            });
        }
    }

    /// The iteration with the best score, if any was told.
    pub fn best(&self) -> Option<Judged> {
        self.best.as_ref().map(|best| best.judged)
    }

    /// Number of iterations since the best score; 0 if none was told.
    pub fn without_progress(&self) -> u64 {
        let best = self.best().map_or(self.last, |best| best.iteration);
        self.last.saturating_sub(best)
    }

    /// Number of iterations so far.
    pub fn iterations(&self) -> u64 {
        self.last
    }

    /// Where the run stands.
    pub fn status(&self) -> Status {
        match &self.machine {
            Machine::Lbfgs(_, lbfgs) => lbfgs.status(),
            Machine::OnlineLbfgs(_, online) => online.status(),
            Machine::Sgd(_, sgd) => sgd.status(),
            Machine::SampleRank(training) => training.status(),
        }
    }

    /// The weights that the algorithm has come to.
    pub fn weights(&self) -> Cow<'_, [f64]> {
        match &self.machine {
            Machine::Lbfgs(_, lbfgs) => lbfgs.weights().into(),
            Machine::OnlineLbfgs(_, online) => online.weights().into(),
            Machine::Sgd(_, sgd) => sgd.weights().into(),
            Machine::SampleRank(training) => training.weights().into(),
        }
    }

    /// The weights with the best score; without scores, those that the algorithm has come to.
    pub fn into_weights(mut self) -> Vec<f64> {
        match self.best.take() {
            Some(best) => best.weights,
            None => self.weights().into_owned(),
        }
    }

    /// Everything that is needed to go on exactly from here, as bytes.
    pub fn save(&self) -> Vec<u8> {
        let state = match &self.machine {
            Machine::Lbfgs(_, lbfgs) => lbfgs.save(),
            Machine::OnlineLbfgs(_, online) => online.save(),
            Machine::Sgd(_, sgd) => sgd.save(),
            Machine::SampleRank(training) => training.save(),
        };
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(&mut bytes, &state);
        bytes
    }

    fn write<W: Write>(&self, writer: W, state: &[u8]) -> io::Result<()> {
        let mut writer = Writer::start(writer, KIND)?;
        writer.u64(self.last)?;
        writer.flag(self.best.is_some())?;
        if let Some(Best { judged, weights }) = &self.best {
            writer.u64(judged.iteration)?;
            writer.f64(judged.score)?;
            writer.usize(weights.len())?;
            writer.f64s(weights)?;
        }
        writer.state(state)?;
        writer.finish()
    }
}

/// What [`GraphTrainer::save`] wrote: the last iteration, the best one and the state of the algorithm.
fn read(bytes: &[u8]) -> Result<(u64, Option<Best>, &[u8]), OptimizeError> {
    let mut reader = Reader::start(bytes, KIND)?;
    let last = reader.u64()?;
    let best = if reader.flag()? {
        let judged = Judged {
            iteration: reader.u64()?,
            score: reader.f64()?,
        };
        let count = reader.count(8)?;
        let weights = reader.finite_f64s(count)?;
        Some(Best { judged, weights })
    } else {
        None
    };
    let state = reader.state()?;
    reader.finish()?;
    Ok((last, best, state))
}

/// What a step did. Where it failed because an instance cannot be computed, that is the error.
fn told(
    objective: &mut GraphObjective<'_>,
    step: Result<Option<Iteration>, OptimizeError>,
    status: Status,
) -> Result<Option<GraphProgress>, TrainError> {
    let convergence = objective.take_convergence();
    let failed = step.is_err() || matches!(status, Status::LineSearchFailed | Status::Diverged);
    if let (true, Some(failure)) = (failed, objective.failure()) {
        return Err(failure.clone());
    }
    Ok(step?.map(|iteration| GraphProgress {
        iteration,
        convergence,
    }))
}

fn of_epoch(epoch: Epoch) -> Iteration {
    Iteration {
        iteration: epoch.epoch,
        loss: epoch.loss,
        gradient_norm: f64::NAN,
        x_norm: epoch.feature_norm,
        active: epoch.active,
        step: f64::NAN,
        evaluations: epoch.updates,
    }
}

fn of_ranking(iteration: RankIteration, weights: &[f64]) -> GraphProgress {
    GraphProgress {
        iteration: Iteration {
            iteration: iteration.iteration,
            loss: iteration.loss,
            gradient_norm: f64::NAN,
            x_norm: weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt(),
            active: weights.iter().filter(|&&weight| weight != 0.0).count(),
            step: iteration.change,
            evaluations: iteration.updates,
        },
        convergence: Convergence::default(),
    }
}
