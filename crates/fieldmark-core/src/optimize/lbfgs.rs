//! [`Lbfgs`]: limited-memory BFGS (Nocedal 1980; Liu & Nocedal 1989), and with an L1 term OWL-QN
//! (Andrew & Gao 2007).

use super::bytes::{Reader, Writer};
use super::history::{Arrival, Departure, History, MAX_MEMORIES, Scaling};
use super::line_search::{MoreThuente, Verdict, noise};
use super::stopping::{Rules, Run};
use super::walk::{Norms, Walk};
use super::{Iteration, Objective, OptimizeError, Prior, Status, check_length, check_option};
use std::io::{self, Write};

const KIND: &[u8; 4] = b"LBFG";

/// Settings of [`Lbfgs`], with the names and defaults of CRFsuite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsOptions {
    /// The prior; c1 above zero selects OWL-QN.
    pub prior: Prior,
    /// Number of past steps from which the curvature is estimated.
    pub num_memories: usize,
    /// Converged when ‖g‖ / max(1, ‖x‖) is below this.
    pub epsilon: f64,
    /// Number of iterations over which `delta` is tested; 0 turns the test off.
    pub period: usize,
    /// Converged when the loss fell by less than this, relative, over the last `period` iterations.
    pub delta: f64,
    /// Stop after so many iterations.
    pub max_iterations: Option<u64>,
    /// Most evaluations of the objective in one line search.
    pub max_linesearch: usize,
    /// A step must lower the loss by at least this part of what the slope promises.
    pub ftol: f64,
    /// A step must reduce the slope to at most this part (not used with an L1 term).
    pub gtol: f64,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        LbfgsOptions {
            prior: Prior::default(),
            num_memories: 6,
            epsilon: 1e-5,
            period: 10,
            delta: 1e-5,
            max_iterations: None,
            max_linesearch: 20,
            ftol: 1e-4,
            gtol: 0.9,
        }
    }
}

impl LbfgsOptions {
    fn check(&self) -> Result<(), OptimizeError> {
        self.prior.check()?;
        let memories = (1..=MAX_MEMORIES).contains(&self.num_memories);
        check_option("num_memories", self.num_memories as f64, "1 to 1000", memories)?;
        self.rules().check()?;
        check_option(
            "max_linesearch",
            self.max_linesearch as f64,
            "at least 1",
            self.max_linesearch > 0,
        )?;
        check_option(
            "ftol",
            self.ftol,
            "between 0 and 0.5",
            self.ftol > 0.0 && self.ftol < 0.5,
        )?;
        check_option(
            "gtol",
            self.gtol,
            "between ftol and 1",
            self.gtol > self.ftol && self.gtol < 1.0,
        )
    }

    fn rules(&self) -> Rules {
        Rules {
            epsilon: self.epsilon,
            period: self.period,
            delta: self.delta,
            max_iterations: self.max_iterations,
        }
    }
}

/// L-BFGS, one outer iteration per [`Lbfgs::step`].
///
/// It holds four vectors of `f64` and 2·(`num_memories` + 1) of `f32`, all allocated at the start.
#[derive(Clone, Debug)]
pub struct Lbfgs {
    options: LbfgsOptions,
    run: Run,
    walk: Walk,
    history: History,
}

/// What an evaluation at a trial point gave.
#[derive(Clone, Copy, Debug)]
struct Trial {
    step: f64,
    loss: f64,
    /// Slope along the direction (without an L1 term).
    slope: f64,
    /// Product of the pseudo-gradient at the start with the step that was taken (with an L1 term).
    along: f64,
    x_norm: f64,
    gradient_norm: f64,
    active: usize,
}

impl Lbfgs {
    /// Starts at the weights `x`.
    pub fn new(x: Vec<f64>, options: LbfgsOptions) -> Result<Self, OptimizeError> {
        options.check()?;
        let len = x.len();
        Ok(Lbfgs {
            options,
            run: Run::new(options.period),
            walk: Walk::new(x, vec![0.0; len]),
            history: History::new(len, options.num_memories),
        })
    }

    /// Where the run stands.
    pub fn status(&self) -> Status {
        self.run.status
    }

    /// The settings.
    pub fn options(&self) -> &LbfgsOptions {
        &self.options
    }

    /// Changes the number of iterations after which to stop; a run that stopped for it may go on.
    pub fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        self.options.max_iterations = max_iterations;
        self.run.limit(&self.options.rules());
    }

    /// The current weights, the best so far.
    pub fn weights(&self) -> &[f64] {
        &self.walk.x
    }

    /// Ends the run and hands over the weights.
    pub fn into_weights(self) -> Vec<f64> {
        self.walk.x.to_vec()
    }

    /// The last iteration. Before the first it has the number 0 and describes the starting point, once
    /// that was evaluated.
    pub fn last(&self) -> &Iteration {
        &self.run.last
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.walk.memory() + self.run.memory() + self.history.memory()
    }

    /// Does one iteration; `None` when there is nothing left to do, for the reason that
    /// [`Lbfgs::status`] gives.
    pub fn step<O: Objective + ?Sized>(
        &mut self,
        objective: &mut O,
    ) -> Result<Option<Iteration>, OptimizeError> {
        check_length(self.walk.x.len(), objective)?;
        if !self.run.started {
            self.start(objective)?;
        }
        let mut evaluations = 0;
        while self.run.status == Status::Running {
            let fresh = self.history.is_empty();
            if let Some(trial) = self.search(objective, &mut evaluations) {
                return Ok(Some(self.accept(trial, evaluations)));
            }
            if fresh {
                self.run.status = Status::LineSearchFailed;
            }
            self.history.clear();
        }
        Ok(None)
    }

    fn start<O: Objective + ?Sized>(&mut self, objective: &mut O) -> Result<(), OptimizeError> {
        let prior = self.options.prior;
        self.walk.turn();
        let norms = self.walk.stay(prior.c2);
        let loss = self.loss(objective, norms);
        let start = Trial {
            step: 0.0,
            loss,
            slope: 0.0,
            along: 0.0,
            x_norm: norms.square.sqrt(),
            gradient_norm: self.walk.gradient_square(prior.c1).sqrt(),
            active: norms.active,
        };
        self.record(start, 0, 1);
        let started = self.run.start(&self.options.rules());
        if started.is_err() {
            self.walk.turn();
            self.run.last = Iteration::NONE;
        }
        started
    }

    /// Looks for the next point along a new direction. Without success, stays where it was.
    fn search<O: Objective + ?Sized>(&mut self, objective: &mut O, evaluations: &mut u64) -> Option<Trial> {
        self.history.solve(Scaling::Newest);
        // The first direction is the gradient.
        let step = match self.history.is_empty() {
            true => 1.0 / self.run.last.gradient_norm,
            false => 1.0,
        };
        if !(step.is_finite() && step > 0.0) {
            return None;
        }
        self.walk.turn();
        let start = self.advance(step);
        let found = if !(start.along < 0.0 && start.along.is_finite() && start.square.is_finite()) {
            None
        } else if self.options.prior.c1 > 0.0 {
            self.backtrack(objective, step, start, evaluations)
        } else {
            self.more_thuente(objective, step, start, evaluations)
        };
        match found {
            Some(_) => self.history.keep(),
            None => self.walk.turn(),
        }
        found
    }

    fn more_thuente<O: Objective + ?Sized>(
        &mut self,
        objective: &mut O,
        step: f64,
        start: Departure,
        evaluations: &mut u64,
    ) -> Option<Trial> {
        let LbfgsOptions {
            ftol,
            gtol,
            max_linesearch,
            ..
        } = self.options;
        let mut search = MoreThuente::new(self.run.last.loss, start.along, step, ftol, gtol);
        let (mut step, mut norms) = (step, start.norms);
        for tries in 1.. {
            let trial = self.evaluate(objective, step, norms);
            *evaluations += 1;
            let mut verdict = search.advance(step, trial.loss, trial.slope);
            if matches!(verdict, Verdict::Try(_)) && tries >= max_linesearch {
                verdict = search.settle();
            }
            match verdict {
                Verdict::Accept => return Some(trial),
                Verdict::Try(next) => step = next,
                Verdict::Settle(best) if best == step => return Some(trial),
                Verdict::Settle(best) if best > 0.0 => {
                    *evaluations += 1;
                    let norms = self.advance(best).norms;
                    return Some(self.evaluate(objective, best, norms));
                }
                Verdict::Settle(_) => return None,
            }
            norms = self.advance(step).norms;
        }
        None
    }

    /// Halves the step until the loss falls by enough, for the step as it is after the projection onto the
    /// orthant (Andrew & Gao 2007, section 3.2).
    fn backtrack<O: Objective + ?Sized>(
        &mut self,
        objective: &mut O,
        step: f64,
        start: Departure,
        evaluations: &mut u64,
    ) -> Option<Trial> {
        let LbfgsOptions {
            ftol, max_linesearch, ..
        } = self.options;
        let (loss, noise) = (self.run.last.loss, noise(self.run.last.loss));
        let (mut step, mut norms) = (step, start.norms);
        for _ in 0..max_linesearch {
            let trial = self.evaluate(objective, step, norms);
            *evaluations += 1;
            let finite = trial.loss.is_finite() && trial.gradient_norm.is_finite();
            let decreased = trial.loss <= loss + ftol * trial.along;
            let beyond_rounding = trial.along.abs() <= noise && trial.loss <= loss + noise;
            if finite && trial.along < 0.0 && (decreased || beyond_rounding) {
                return Some(trial);
            }
            step *= if finite { 0.5 } else { 0.1 };
            norms = self.advance(step).norms;
        }
        None
    }

    /// Moves to `step` times the direction from the previous point.
    fn advance(&mut self, step: f64) -> Departure {
        self.history.advance(&mut self.walk, step, self.options.prior)
    }

    /// The loss at the current point; adds the gradient of the objective to that of the prior.
    fn loss<O: Objective + ?Sized>(&mut self, objective: &mut O, norms: Norms) -> f64 {
        let Prior { c1, c2 } = self.options.prior;
        let likelihood = objective.evaluate(&self.walk.x, &mut self.walk.gradient);
        likelihood + c2 * norms.square + c1 * norms.absolute
    }

    /// Evaluates the current point, which lies `step` along the direction, and proposes the way there to the
    /// history.
    fn evaluate<O: Objective + ?Sized>(&mut self, objective: &mut O, step: f64, norms: Norms) -> Trial {
        let loss = self.loss(objective, norms);
        let arrival = if loss.is_finite() {
            let c1 = self.options.prior.c1;
            self.history.propose(&self.walk.change(0.0), &self.walk.slope(c1))
        } else {
            Arrival {
                slope: f64::NAN,
                square: f64::NAN,
            }
        };
        Trial {
            step,
            loss,
            slope: arrival.slope,
            along: norms.along,
            x_norm: norms.square.sqrt(),
            gradient_norm: arrival.square.sqrt(),
            active: norms.active,
        }
    }

    /// Makes a trial point the current one and tests for convergence.
    fn accept(&mut self, trial: Trial, evaluations: u64) -> Iteration {
        self.record(trial, self.run.last.iteration.saturating_add(1), evaluations);
        let rules = self.options.rules();
        let small = rules.gradient_is_small(&self.run.last);
        self.run.judge(&rules, trial.loss, small);
        self.run.last
    }

    fn record(&mut self, trial: Trial, iteration: u64, evaluations: u64) {
        self.run.last = Iteration {
            iteration,
            loss: trial.loss,
            gradient_norm: trial.gradient_norm,
            x_norm: trial.x_norm,
            active: trial.active,
            step: trial.step,
            evaluations,
        };
    }

    /// Everything that is needed to go on exactly from here, as bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(&mut bytes);
        bytes
    }

    /// Writes what [`Lbfgs::save`] returns.
    pub fn write<W: Write>(&self, writer: W) -> io::Result<()> {
        let mut writer = Writer::start(writer, KIND)?;
        let o = &self.options;
        for value in [o.prior.c1, o.prior.c2, o.epsilon, o.delta, o.ftol, o.gtol] {
            writer.f64(value)?;
        }
        writer.usize(o.period)?;
        writer.usize(o.max_linesearch)?;
        writer.option(o.max_iterations)?;
        self.run.write(&mut writer)?;
        writer.usize(self.walk.x.len())?;
        writer.f64s(&self.walk.x)?;
        writer.f64s(&self.walk.gradient)?;
        self.history.write(&mut writer)?;
        writer.finish()
    }

    /// Goes on where [`Lbfgs::save`] was called: the same objective gives the same weights, bit by bit.
    pub fn restore(bytes: &[u8]) -> Result<Self, OptimizeError> {
        let mut reader = Reader::start(bytes, KIND)?;
        let mut next = || reader.f64();
        let prior = Prior {
            c1: next()?,
            c2: next()?,
        };
        let (epsilon, delta, ftol, gtol) = (next()?, next()?, next()?, next()?);
        let period = reader.count(8)?;
        let max_linesearch = reader.usize()?;
        let max_iterations = reader.option()?;
        let run = Run::read(&mut reader, period)?;
        let len = reader.count(16)?;
        let walk = Walk::new(reader.finite_f64s(len)?, reader.finite_f64s(len)?);
        let history = History::read(&mut reader, len)?;
        reader.finish()?;
        let options = LbfgsOptions {
            prior,
            num_memories: history.memories(),
            epsilon,
            period,
            delta,
            max_iterations,
            max_linesearch,
            ftol,
            gtol,
        };
        options.check()?;
        if run.started && !run.is_finite() {
            return Err(OptimizeError::Damaged("a number is not finite"));
        }
        Ok(Lbfgs {
            options,
            run,
            walk,
            history,
        })
    }
}
