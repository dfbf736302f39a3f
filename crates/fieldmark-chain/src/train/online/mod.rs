//! Trainers that learn from one instance at a time: many cheap steps instead of a few exact ones.
//!
//! * [`Sgd`]: stochastic gradient descent on the likelihood, with an L2 term (CRFsuite's `l2sgd`), an L1 term
//!   (Tsuruoka, Tsujii & Ananiadou 2009), or both.
//! * [`AveragedPerceptron`], [`PassiveAggressive`], [`Arow`]: change the weights only after a mistake of the
//!   Viterbi decoder. They need no probabilities and are fast, but the scores of the model that they
//!   learn are not log-probabilities.
//!
//! All have the options and defaults of CRFsuite, work for every order and touch only the weights of the
//! instance that they look at. With partial labels, [`Sgd`] follows the exact gradient. The others take as
//! target the best of the allowed sequences under the current weights (Fernandes & Brefeld 2011), and make
//! no mistake when the best sequence of all is allowed.
//!
//! Each instance changes the weights for the next one, so a pass runs in one thread, and the result does not
//! depend on the number of threads that the objective was made for.

mod decode;
mod delta;
mod descend;
mod mistakes;
mod rules;
mod sgd;

pub use mistakes::{MistakeDriven, Rule};
pub use rules::{ArowOptions, PaType, PassiveAggressiveOptions, PerceptronOptions};
pub use sgd::{Sgd, SgdOptions};

use super::ChainObjective;
use fieldmark_core::optimize::bytes::{Reader, Writer};
use fieldmark_core::optimize::{OptimizeError, Status};
use fieldmark_core::random::visiting_order;
use std::io::{self, Write};

/// The averaged perceptron (Collins 2002).
pub type AveragedPerceptron = MistakeDriven<PerceptronOptions>;
/// The passive-aggressive algorithm (Crammer et al. 2006).
pub type PassiveAggressive = MistakeDriven<PassiveAggressiveOptions>;
/// Adaptive regularisation of weight vectors (Crammer, Kulesza & Dredze 2009), with a diagonal covariance.
pub type Arow = MistakeDriven<ArowOptions>;

/// What one pass over the data did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Number of the pass, from 1.
    pub epoch: u64,
    /// The loss, summed over the instances as they were visited; what it measures depends on the trainer.
    pub loss: f64,
    /// Instances after which the weights were changed.
    pub updates: u64,
    /// Euclidean norm of the weights.
    pub feature_norm: f64,
    /// Number of weights that are not zero.
    pub active: usize,
}

impl Epoch {
    /// Before anything was visited.
    const NONE: Epoch = Epoch {
        epoch: 0,
        loss: f64::NAN,
        updates: 0,
        feature_norm: f64::NAN,
        active: 0,
    };

    fn measure(&mut self, weights: &[f64]) {
        self.feature_norm = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        self.active = weights.iter().filter(|&&w| w != 0.0).count();
    }

    fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.u64(self.epoch)?;
        writer.f64s(&[self.loss, self.feature_norm])?;
        writer.u64(self.updates)?;
        writer.usize(self.active)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, OptimizeError> {
        Ok(Self {
            epoch: reader.u64()?,
            loss: reader.f64()?,
            feature_norm: reader.f64()?,
            updates: reader.u64()?,
            active: reader.usize()?,
        })
    }
}

/// A trainer that visits one instance after the other.
pub trait OnlineTrainer {
    /// Does one pass over the data; `None` when there is nothing left to do, for the reason that
    /// [`OnlineTrainer::status`] gives.
    fn epoch(&mut self, objective: &mut ChainObjective<'_, f64>) -> Result<Option<Epoch>, OptimizeError>;

    /// Where the run stands.
    fn status(&self) -> Status;

    /// The last pass; before the first, one with the number 0.
    fn last(&self) -> &Epoch;

    /// The weights that the run has come to, in the order of the objective.
    fn weights(&self) -> &[f64];

    /// Changes the number of passes after which to stop; a run that stopped for it may go on.
    fn set_max_iterations(&mut self, max_iterations: Option<u64>);

    /// Everything that is needed to go on exactly from here, as bytes.
    fn save(&self) -> Vec<u8>;
}

/// The status after the limit on passes was set or reached.
fn limited(status: Status, epochs: u64, max_iterations: Option<u64>) -> Status {
    let reached = max_iterations.is_some_and(|max| epochs >= max);
    match status {
        Status::MaxIterations if !reached => Status::Running,
        Status::Running if reached => Status::MaxIterations,
        _ => status,
    }
}

fn check(name: &'static str, value: f64, expected: &'static str, ok: bool) -> Result<(), OptimizeError> {
    if ok {
        Ok(())
    } else {
        Err(OptimizeError::Option {
            name,
            value,
            expected,
        })
    }
}

fn check_at_least_zero(name: &'static str, value: f64) -> Result<(), OptimizeError> {
    check(
        name,
        value,
        "a finite number, at least 0",
        value.is_finite() && value >= 0.0,
    )
}

fn check_above_zero(name: &'static str, value: f64) -> Result<(), OptimizeError> {
    check(
        name,
        value,
        "a finite number above 0",
        value.is_finite() && value > 0.0,
    )
}

fn check_length(weights: &[f64], objective: usize) -> Result<(), OptimizeError> {
    let weights = weights.len();
    if weights == objective {
        Ok(())
    } else {
        Err(OptimizeError::Length { weights, objective })
    }
}
