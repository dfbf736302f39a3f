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
pub(super) mod descend;
mod mistakes;
mod rules;

pub use fieldmark_core::optimize::{Epoch, Sgd, SgdOptions};
pub use mistakes::{MistakeDriven, Rule};
pub use rules::{ArowOptions, PaType, PassiveAggressiveOptions, PerceptronOptions};

use super::ChainObjective;
use fieldmark_core::optimize::{OptimizeError, Status};
use fieldmark_core::random::visiting_order;

/// The averaged perceptron (Collins 2002).
pub type AveragedPerceptron = MistakeDriven<PerceptronOptions>;
/// The passive-aggressive algorithm (Crammer et al. 2006).
pub type PassiveAggressive = MistakeDriven<PassiveAggressiveOptions>;
/// Adaptive regularisation of weight vectors (Crammer, Kulesza & Dredze 2009), with a diagonal covariance.
pub type Arow = MistakeDriven<ArowOptions>;

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

impl OnlineTrainer for Sgd {
    fn epoch(&mut self, objective: &mut ChainObjective<'_, f64>) -> Result<Option<Epoch>, OptimizeError> {
        Sgd::epoch(self, objective)
    }

    fn status(&self) -> Status {
        Sgd::status(self)
    }

    fn last(&self) -> &Epoch {
        Sgd::last(self)
    }

    fn weights(&self) -> &[f64] {
        Sgd::weights(self)
    }

    fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        Sgd::set_max_iterations(self, max_iterations);
    }

    fn save(&self) -> Vec<u8> {
        Sgd::save(self)
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
