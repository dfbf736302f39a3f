//! Optimisers: minimise a loss that is a sum over instances plus a [`Prior`] on the weights.
//!
//! * [`Lbfgs`]: L-BFGS with a Moré–Thuente line search, and OWL-QN when the prior has an L1 term. The
//!   default: it needs no tuning and finds the optimum.
//! * [`OnlineLbfgs`]: online L-BFGS over batches, for data so large that a good model is wanted after a few
//!   passes.
//! * [`Sgd`]: stochastic gradient descent, one step after each instance, in one thread.
//!
//! All take one outer iteration per call, so that the caller may report, checkpoint or stop in between,
//! and all can be saved and restored so that the run goes on bit by bit as if it had never stopped. Sums
//! over weights are taken in chunks of a fixed size, in a fixed order: results do not depend on the number
//! of threads of the rayon pool in which they run.
//!
//! ```
//! use fieldmark_core::optimize::{Lbfgs, LbfgsOptions, Objective, Prior, Status};
//!
//! /// (w − 3)²
//! struct Parabola;
//!
//! impl Objective for Parabola {
//!     fn len(&self) -> usize {
//!         1
//!     }
//!     fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
//!         gradient[0] += 2.0 * (x[0] - 3.0);
//!         (x[0] - 3.0).powi(2)
//!     }
//! }
//!
//! let options = LbfgsOptions { prior: Prior { c1: 0.0, c2: 0.5 }, ..LbfgsOptions::default() };
//! let mut optimizer = Lbfgs::new(vec![0.0], options)?;
//! while let Some(iteration) = optimizer.step(&mut Parabola)? {
//!     println!("{}: loss {}", iteration.iteration, iteration.loss);
//! }
//! assert_eq!(optimizer.status(), Status::GradientConverged);
//! assert!((optimizer.weights()[0] - 2.0).abs() < 1e-4);
//! # Ok::<(), fieldmark_core::optimize::OptimizeError>(())
//! ```

pub mod bytes;
mod epoch;
mod history;
mod lbfgs;
mod line_search;
mod online;
mod sgd;
mod stopping;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod vector;
mod walk;

pub use epoch::Epoch;
pub use lbfgs::{Lbfgs, LbfgsOptions};
pub use online::{OnlineLbfgs, OnlineLbfgsOptions};
pub use sgd::{Sgd, SgdOptions};

use std::fmt;
use std::ops::Range;

/// Value and gradient of a loss to minimise, a sum over instances.
pub trait Objective {
    /// Number of weights.
    fn len(&self) -> usize;

    /// Whether there are no weights.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the loss at `x` and **adds** its gradient to `gradient`, which the optimiser has filled with
    /// the gradient of the prior.
    ///
    /// A loss that is not finite tells the optimiser that it went too far: it tries a shorter step.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64;
}

/// An objective whose instances can be visited in batches.
pub trait StochasticObjective: Objective {
    /// Number of instances.
    fn instances(&self) -> usize;

    /// Like [`Objective::evaluate`] for the instances with these indices.
    fn evaluate_batch(&mut self, batch: &[u32], x: &[f64], gradient: &mut [f64]) -> f64;
}

/// An objective whose instances can be visited one by one, with a step down the gradient of each.
///
/// Weights are given as numbers `x` and a common factor `scale`, so that all of them can shrink in one operation.
pub trait InstanceObjective: StochasticObjective {
    /// The loss of an instance under the weights `scale` · `x`.
    fn loss_of(&mut self, instance: u32, x: &[f64], scale: f64) -> f64;

    /// [`InstanceObjective::loss_of`], and moves `x` by −`gain` times its gradient with respect to the weights. Only
    /// weights of the instance are touched. Where the loss is not finite, `x` may be anything afterwards.
    fn descend(&mut self, instance: u32, x: &mut [f64], scale: f64, gain: f64) -> f64;

    /// Calls `visit` with the weights that a step for this instance may have changed, each once or more; it is the
    /// instance of the last step.
    fn for_each_changed(&self, instance: u32, visit: &mut dyn FnMut(Range<usize>));
}

/// What is added to the loss to keep weights small: c1·Σ|w| + c2·Σw².
///
/// A Gaussian prior of variance σ² is c2 = 1/(2σ²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Coefficient of the L1 norm; above zero, many weights become exactly zero.
    pub c1: f64,
    /// Coefficient of the squared L2 norm.
    pub c2: f64,
}

impl Prior {
    /// No prior.
    pub const NONE: Prior = Prior { c1: 0.0, c2: 0.0 };

    fn check(&self) -> Result<(), OptimizeError> {
        check_option(
            "c1",
            self.c1,
            "a finite number, at least 0",
            self.c1.is_finite() && self.c1 >= 0.0,
        )?;
        check_option(
            "c2",
            self.c2,
            "a finite number, at least 0",
            self.c2.is_finite() && self.c2 >= 0.0,
        )
    }
}

impl Default for Prior {
    /// CRFsuite's default for L-BFGS: c1 = 0, c2 = 1.
    fn default() -> Self {
        Prior { c1: 0.0, c2: 1.0 }
    }
}

/// What one outer iteration (or one pass over the data) did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Number of the iteration, from 1.
    pub iteration: u64,
    /// The loss, prior included.
    pub loss: f64,
    /// Euclidean norm of the gradient (with an L1 term: of the pseudo-gradient).
    pub gradient_norm: f64,
    /// Euclidean norm of the weights.
    pub x_norm: f64,
    /// Number of weights that are not zero.
    pub active: usize,
    /// Length of the step, as a multiple of the search direction.
    pub step: f64,
    /// How often this iteration evaluated the whole objective, or a batch of it.
    pub evaluations: u64,
}

impl Iteration {
    /// Before anything was evaluated.
    const NONE: Iteration = Iteration {
        iteration: 0,
        loss: f64::NAN,
        gradient_norm: f64::NAN,
        x_norm: f64::NAN,
        active: 0,
        step: 0.0,
        evaluations: 0,
    };
}

/// Where an optimiser stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is more to do.
    Running,
    /// The gradient is small: ‖g‖ / max(1, ‖x‖) < `epsilon`.
    GradientConverged,
    /// The loss hardly improved, by less than `delta` relative, over the last `period` iterations.
    LossConverged,
    /// A pass hardly changed the weights.
    WeightsConverged,
    /// `max_iterations` were done.
    MaxIterations,
    /// No step lowers the loss, not even along the steepest descent: the weights are as good as rounding
    /// allows, or the gradient does not belong to the loss. They are the best that were found.
    LineSearchFailed,
    /// The online optimiser left the region where it makes progress. The weights are those after the best pass.
    Diverged,
}

impl Status {
    /// The status after the limit on iterations was set or reached; a run that stopped for it may go on.
    #[must_use]
    pub fn limited(self, iterations: u64, max_iterations: Option<u64>) -> Status {
        let reached = max_iterations.is_some_and(|max| iterations >= max);
        match self {
            Status::MaxIterations if !reached => Status::Running,
            Status::Running if reached => Status::MaxIterations,
            _ => self,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Running => "running",
            Status::GradientConverged => "converged: the gradient is small",
            Status::LossConverged => "converged: the loss no longer improves",
            Status::WeightsConverged => "converged: the weights hardly change",
            Status::MaxIterations => "the maximum number of iterations was reached",
            Status::LineSearchFailed => "no step along the gradient lowers the loss",
            Status::Diverged => "diverged: the weights of the best pass were kept",
        })
    }
}

/// Why an optimiser could not start or go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// An option is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// The objective does not fit the optimiser.
    #[error("the optimiser holds {weights} weights, the objective has {objective}")]
    Length {
        /// Number of weights of the optimiser.
        weights: usize,
        /// Number of weights of the objective.
        objective: usize,
    },
    /// The objective cannot be evaluated at the starting point.
    #[error(
        "the loss at the starting point is {loss} (norm of its gradient {gradient_norm}), expected finite numbers"
    )]
    Start {
        /// The loss there.
        loss: f64,
        /// Norm of the gradient there.
        gradient_norm: f64,
    },
    /// Saved bytes are not the state of an optimiser.
    #[error("the saved state of the optimiser is damaged: {0}")]
    Damaged(&'static str),
}

fn check_option(
    name: &'static str,
    value: f64,
    expected: &'static str,
    ok: bool,
) -> Result<(), OptimizeError> {
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

fn check_length<O: Objective + ?Sized>(weights: usize, objective: &O) -> Result<(), OptimizeError> {
    let objective = objective.len();
    if weights == objective {
        Ok(())
    } else {
        Err(OptimizeError::Length { weights, objective })
    }
}
