//! [`Machine`]: every iterative training algorithm behind one face.

use crate::Error;
use crate::training::{Algorithm, Precision};
use fieldmark_chain::train::online::{
    Arow, AveragedPerceptron, Epoch, OnlineTrainer, PassiveAggressive, Sgd,
};
use fieldmark_chain::train::{ChainObjective, TrainingReal};
use fieldmark_core::optimize::{Iteration, Lbfgs, OnlineLbfgs, OptimizeError, Status};

/// A training algorithm that goes on step by step.
pub(crate) trait Machine<T: TrainingReal> {
    /// One iteration, or one pass over the data; `None` when there is nothing left to do.
    fn step(&mut self, objective: &mut ChainObjective<'_, T>) -> Result<Option<Iteration>, OptimizeError>;
    fn status(&self) -> Status;
    /// In the order of the objective.
    fn weights(&self) -> &[f64];
    fn save(&self) -> Vec<u8>;
}

/// Where a machine begins.
pub(crate) enum Start<'a> {
    /// At these weights.
    Weights(Vec<f64>),
    /// Where it was saved.
    Saved(&'a [u8]),
}

/// Float types for which machines can be made.
pub(crate) trait Machines: TrainingReal + Sized {
    fn machine(algorithm: &Algorithm, start: Start<'_>) -> Result<Box<dyn Machine<Self>>, Error>;
}

impl Machines for f64 {
    fn machine(algorithm: &Algorithm, start: Start<'_>) -> Result<Box<dyn Machine<f64>>, Error> {
        macro_rules! online {
            ($trainer:ty, $options:expr) => {{
                let mut trainer = match start {
                    Start::Weights(weights) => <$trainer>::new(weights, *$options)?,
                    Start::Saved(bytes) => <$trainer>::restore(bytes)?,
                };
                trainer.set_max_iterations($options.max_iterations);
                Ok(Box::new(Online(trainer)))
            }};
        }
        match algorithm {
            Algorithm::Sgd(options) => online!(Sgd, options),
            Algorithm::AveragedPerceptron(options) => online!(AveragedPerceptron, options),
            Algorithm::PassiveAggressive(options) => online!(PassiveAggressive, options),
            Algorithm::Arow(options) => online!(Arow, options),
            _ => batch(algorithm, start),
        }
    }
}

impl Machines for f32 {
    fn machine(algorithm: &Algorithm, start: Start<'_>) -> Result<Box<dyn Machine<f32>>, Error> {
        batch(algorithm, start)
    }
}

/// The machines that work in any precision.
fn batch<T: TrainingReal>(algorithm: &Algorithm, start: Start<'_>) -> Result<Box<dyn Machine<T>>, Error> {
    match algorithm {
        Algorithm::Lbfgs(options) => {
            let mut lbfgs = match start {
                Start::Weights(weights) => Lbfgs::new(weights, *options)?,
                Start::Saved(bytes) => Lbfgs::restore(bytes)?,
            };
            lbfgs.set_max_iterations(options.max_iterations);
            Ok(Box::new(lbfgs))
        }
        Algorithm::OnlineLbfgs(options) => {
            let mut online = match start {
                Start::Weights(weights) => OnlineLbfgs::new(weights, *options)?,
                Start::Saved(bytes) => OnlineLbfgs::restore(bytes)?,
            };
            online.set_max_iterations(options.max_iterations);
            Ok(Box::new(online))
        }
        _ => Err(Error::Option(format!(
            "only L-BFGS and online L-BFGS compute in {:?}; leave out the precision",
            Precision::F32
        ))),
    }
}

impl<T: TrainingReal> Machine<T> for Lbfgs {
    fn step(&mut self, objective: &mut ChainObjective<'_, T>) -> Result<Option<Iteration>, OptimizeError> {
        Lbfgs::step(self, objective)
    }
    fn status(&self) -> Status {
        Lbfgs::status(self)
    }
    fn weights(&self) -> &[f64] {
        Lbfgs::weights(self)
    }
    fn save(&self) -> Vec<u8> {
        Lbfgs::save(self)
    }
}

impl<T: TrainingReal> Machine<T> for OnlineLbfgs {
    fn step(&mut self, objective: &mut ChainObjective<'_, T>) -> Result<Option<Iteration>, OptimizeError> {
        OnlineLbfgs::step(self, objective)
    }
    fn status(&self) -> Status {
        OnlineLbfgs::status(self)
    }
    fn weights(&self) -> &[f64] {
        OnlineLbfgs::weights(self)
    }
    fn save(&self) -> Vec<u8> {
        OnlineLbfgs::save(self)
    }
}

/// A trainer that learns from one instance at a time.
struct Online<O>(O);

impl<O: OnlineTrainer> Machine<f64> for Online<O> {
    fn step(&mut self, objective: &mut ChainObjective<'_, f64>) -> Result<Option<Iteration>, OptimizeError> {
        let Some(Epoch {
            epoch,
            loss,
            updates,
            feature_norm,
            active,
        }) = self.0.epoch(objective)?
        else {
            return Ok(None);
        };
        Ok(Some(Iteration {
            iteration: epoch,
            loss,
            // There is no gradient of the whole loss.
            gradient_norm: f64::NAN,
            x_norm: feature_norm,
            active,
            step: f64::NAN,
            evaluations: updates,
        }))
    }
    fn status(&self) -> Status {
        self.0.status()
    }
    fn weights(&self) -> &[f64] {
        self.0.weights()
    }
    fn save(&self) -> Vec<u8> {
        self.0.save()
    }
}
