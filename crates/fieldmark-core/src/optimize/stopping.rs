//! [`Run`]: how far a run has come, and whether it goes on. Both optimisers stop by the same [`Rules`].

use super::bytes::{Reader, Writer};
use super::{Iteration, OptimizeError, Status, check_option};
use std::io::{self, Write};

/// `period` is the length of a table that is kept.
const MAX_PERIOD: usize = 1_000_000;

/// When to stop: what the options of both optimisers say about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub epsilon: f64,
    pub period: usize,
    pub delta: f64,
    pub max_iterations: Option<u64>,
}

impl Rules {
    pub fn check(&self) -> Result<(), OptimizeError> {
        for (name, value) in [("epsilon", self.epsilon), ("delta", self.delta)] {
            let ok = value.is_finite() && value >= 0.0;
            check_option(name, value, "a finite number, at least 0", ok)?;
        }
        let period = self.period <= MAX_PERIOD;
        check_option("period", self.period as f64, "at most 1000000", period)
    }

    /// Whether the gradient of an evaluation is small.
    pub fn gradient_is_small(&self, at: &Iteration) -> bool {
        // A gradient of zero is small even for an epsilon of zero.
        let bound = self.epsilon * at.x_norm.max(1.0);
        at.gradient_norm < bound || at.gradient_norm == 0.0
    }

    fn max_iterations_reached(&self, last: &Iteration) -> bool {
        self.max_iterations.is_some_and(|max| last.iteration >= max)
    }
}

/// How far a run has come.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub status: Status,
    /// Whether the starting point was evaluated.
    pub started: bool,
    pub last: Iteration,
    /// The losses after the last `period` iterations; that of iteration k is at k modulo `period`.
    past: Vec<f64>,
}

impl Run {
    pub fn new(period: usize) -> Self {
        Run {
            status: Status::Running,
            started: false,
            last: Iteration::NONE,
            past: vec![0.0; period],
        }
    }

    /// Starts from the point that `last` describes; an error if the loss there is not finite.
    pub fn start(&mut self, rules: &Rules) -> Result<(), OptimizeError> {
        if !self.is_finite() {
            return Err(OptimizeError::Start {
                loss: self.last.loss,
                gradient_norm: self.last.gradient_norm,
            });
        }
        self.started = true;
        if let Some(first) = self.past.first_mut() {
            *first = self.last.loss;
        }
        self.status = self.verdict(rules, rules.gradient_is_small(&self.last), true);
        Ok(())
    }

    /// Tests for convergence after the iteration that `last` describes, with the loss that counts.
    pub fn judge(&mut self, rules: &Rules, loss: f64, gradient_is_small: bool) {
        let mut improved = true;
        if rules.period > 0 {
            let period = rules.period as u64;
            let past = &mut self.past[(self.last.iteration % period) as usize];
            improved = self.last.iteration < period || *past - loss >= rules.delta * loss.abs();
            *past = loss;
        }
        self.status = self.verdict(rules, gradient_is_small, improved);
    }

    fn verdict(&self, rules: &Rules, gradient_is_small: bool, improved: bool) -> Status {
        if gradient_is_small {
            Status::GradientConverged
        } else if !improved {
            Status::LossConverged
        } else if rules.max_iterations_reached(&self.last) {
            Status::MaxIterations
        } else {
            Status::Running
        }
    }

    /// Adapts the status to another number of iterations; a run that stopped for it may go on.
    pub fn limit(&mut self, rules: &Rules) {
        self.status = self.status.limited(self.last.iteration, rules.max_iterations);
    }

    /// Whether the last evaluation gave finite numbers.
    pub fn is_finite(&self) -> bool {
        let Iteration {
            loss,
            gradient_norm,
            x_norm,
            ..
        } = self.last;
        loss.is_finite() && gradient_norm.is_finite() && x_norm.is_finite()
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.past.len() * size_of::<f64>()
    }

    pub fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.status(self.status)?;
        writer.flag(self.started)?;
        writer.iteration(&self.last)?;
        writer.f64s(&self.past)
    }

    pub fn read(reader: &mut Reader<'_>, period: usize) -> Result<Self, OptimizeError> {
        Ok(Run {
            status: reader.status()?,
            started: reader.flag()?,
            last: reader.iteration()?,
            past: reader.finite_f64s(period)?,
        })
    }
}
