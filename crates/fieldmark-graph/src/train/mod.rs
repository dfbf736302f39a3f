//! Training: the loss of a data set under a graph model, with its gradient.
//!
//! A [`GraphObjective`] is an [`Objective`](fieldmark_core::optimize::Objective) and goes to the optimisers of
//! `fieldmark-core`; [`SampleRank`] is an algorithm of its own. A [`GraphTrainer`] is any of them behind one face.

mod gold;
mod likelihood;
mod local;
mod objective;
mod pair_kernels;
mod piecewise;
mod pseudolikelihood;
mod sample_rank;
mod tables;
mod trainer;

pub use gold::Conflict;
pub use objective::GraphObjective;
pub use sample_rank::{Compare, Hamming, RankIteration, SampleRank, SampleRankOptions, VariableLoss};
pub use trainer::{GraphAlgorithm, GraphProgress, GraphTrainer, Judged};

use crate::{EngineChoice, Error, Report, StructureError};
use fieldmark_core::optimize::OptimizeError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which loss is minimised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "objective", rename_all = "kebab-case")]
pub enum Loss {
    /// log Z − log Z(gold), exact or as the engine estimates it.
    Likelihood(EngineChoice),
    /// Every factor given the gold labels around it.
    Pseudolikelihood,
    /// Every factor on its own.
    Piecewise,
}

/// How often inference converged, in one evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Convergence {
    /// Questions that an engine answered.
    pub answers: u64,
    /// Those in which it reached its goal before its limit.
    pub converged: u64,
    /// Rounds of those.
    pub iterations: u64,
}

impl Convergence {
    fn count(&mut self, report: Report) {
        self.answers += 1;
        if report.converged {
            self.converged += 1;
            self.iterations += report.iterations as u64;
        }
    }

    fn add(&mut self, other: Self) {
        self.answers += other.answers;
        self.converged += other.converged;
        self.iterations += other.iterations;
    }

    /// The fraction of answers that converged; 1 of none.
    pub fn fraction(&self) -> f64 {
        if self.answers == 0 {
            return 1.0;
        }
        self.converged as f64 / self.answers as f64
    }

    /// The mean number of rounds of the answers that converged.
    pub fn mean_iterations(&self) -> f64 {
        self.iterations as f64 / self.converged.max(1) as f64
    }
}

impl std::fmt::Display for Convergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} answers converged ({:.1} %), after {:.1} rounds on average",
            self.converged,
            self.answers,
            100.0 * self.fraction(),
            self.mean_iterations()
        )
    }
}

/// Why training is not possible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The model does not fit the data.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// An engine with options that are wrong.
    #[error(transparent)]
    Engine(Error),
    /// An engine without log Z.
    #[error(
        "this engine does not know log Z, which the likelihood needs; use an exact engine or loopy belief propagation"
    )]
    NoLogZ,
    /// The optimiser cannot start or go on.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// An instance that cannot be computed.
    #[error("instance {}: {error}", instance + 1)]
    Instance {
        /// The instance.
        instance: usize,
        /// Why.
        error: Error,
    },
}
