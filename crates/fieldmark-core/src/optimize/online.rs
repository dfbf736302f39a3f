//! [`OnlineLbfgs`]: online L-BFGS (Schraudolph, Yu & Günter 2007).

use super::bytes::{Reader, Writer};
use super::history::{Departure, History, MAX_MEMORIES, Scaling};
use super::stopping::{Rules, Run};
use super::walk::{Norms, Walk};
use super::{Iteration, OptimizeError, Prior, Status, StochasticObjective, check_length, check_option};
use crate::random::visiting_order;
use std::io::{self, Write};

const KIND: &[u8; 4] = b"OLBF";

/// Settings of [`OnlineLbfgs`].
///
/// The step after t batches has the length η_t = `eta0` · τ / (τ + t), where τ is `tau` times the number of
/// batches in a pass, so that step lengths do not depend on the size of the data. It is halved whenever a
/// pass raised the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineLbfgsOptions {
    /// Coefficient of the squared L2 norm; a batch takes its share of it.
    pub c2: f64,
    /// Number of past steps from which the curvature is estimated.
    pub num_memories: usize,
    /// Instances per batch; by default a fiftieth of them, but at least 20.
    pub batch_size: Option<usize>,
    /// First step length η_0.
    pub eta0: f64,
    /// Number of passes after which the step length is half of η_0.
    pub tau: f64,
    /// Model trust λ: added to the curvature of every pair.
    pub lambda: f64,
    /// Length of the very first step, relative to the gradient: it only probes the curvature.
    pub first_step: f64,
    /// Converged when ‖g‖ / max(1, ‖x‖) is below this, for the whole objective or for the last
    /// `small_batches` batches.
    pub epsilon: f64,
    /// Number of batches in a row whose gradient must be small.
    pub small_batches: usize,
    /// Number of passes over which `delta` is tested; 0 turns the test off.
    pub period: usize,
    /// Converged when the best loss fell by less than this, relative, over the last `period` passes.
    pub delta: f64,
    /// Stop after so many passes.
    pub max_iterations: Option<u64>,
    /// Decides the order in which instances are visited.
    pub seed: u64,
}

impl Default for OnlineLbfgsOptions {
    fn default() -> Self {
        OnlineLbfgsOptions {
            c2: Prior::default().c2,
            num_memories: 10,
            batch_size: None,
            eta0: 0.5,
            tau: 10.0,
            lambda: 0.0,
            first_step: 1e-8,
            epsilon: 1e-5,
            small_batches: 10,
            period: 5,
            delta: 1e-4,
            max_iterations: None,
            seed: 0,
        }
    }
}

/// A loss above so many times that at the start, plus one per instance for starts near zero, is an explosion.
const EXPLOSION: f64 = 10.0;

impl OnlineLbfgsOptions {
    fn check(&self) -> Result<(), OptimizeError> {
        Prior { c1: 0.0, c2: self.c2 }.check()?;
        let memories = (1..=MAX_MEMORIES).contains(&self.num_memories);
        check_option("num_memories", self.num_memories as f64, "1 to 1000", memories)?;
        let batch_size = self.batch_size.unwrap_or(1);
        check_option("batch_size", batch_size as f64, "at least 1", batch_size > 0)?;
        for (name, value) in [
            ("eta0", self.eta0),
            ("tau", self.tau),
            ("first_step", self.first_step),
        ] {
            check_option(
                name,
                value,
                "a finite number above 0",
                value.is_finite() && value > 0.0,
            )?;
        }
        check_option(
            "lambda",
            self.lambda,
            "a finite number, at least 0",
            self.lambda.is_finite() && self.lambda >= 0.0,
        )?;
        check_option(
            "small_batches",
            self.small_batches as f64,
            "at least 1",
            self.small_batches > 0,
        )?;
        self.rules().check()
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

/// Online L-BFGS, one pass over the data per [`OnlineLbfgs::step`].
///
/// A batch costs two evaluations, both on the same instances, so that the change of the gradient tells of
/// curvature and not of noise. After each pass the whole objective is evaluated once: losses are those of
/// the weights, and the weights that count are those after the best pass.
#[derive(Clone, Debug)]
pub struct OnlineLbfgs {
    options: OnlineLbfgsOptions,
    /// It tests the best losses for convergence, not the last.
    run: Run,
    walk: Walk,
    history: History,
    /// Halved after every pass that raised the loss.
    pace: f64,
    /// Batches seen.
    batches: u64,
    /// Batches in a row whose gradient was small.
    small: usize,
    start_loss: f64,
    best: Vec<f64>,
    best_loss: f64,
}

impl OnlineLbfgs {
    /// Starts at the weights `x`.
    pub fn new(x: Vec<f64>, options: OnlineLbfgsOptions) -> Result<Self, OptimizeError> {
        options.check()?;
        let len = x.len();
        let best = x.clone();
        Ok(Self::with_history(
            Walk::new(x, vec![0.0; len]),
            best,
            History::new(len, options.num_memories),
            options,
        ))
    }

    fn with_history(walk: Walk, best: Vec<f64>, history: History, options: OnlineLbfgsOptions) -> Self {
        OnlineLbfgs {
            options,
            run: Run::new(options.period),
            walk,
            history,
            pace: 1.0,
            batches: 0,
            small: 0,
            start_loss: f64::NAN,
            best,
            best_loss: f64::NAN,
        }
    }

    /// Where the run stands.
    pub fn status(&self) -> Status {
        self.run.status
    }

    /// The settings.
    pub fn options(&self) -> &OnlineLbfgsOptions {
        &self.options
    }

    /// Changes the number of passes after which to stop; a run that stopped for it may go on.
    pub fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        self.options.max_iterations = max_iterations;
        self.run.limit(&self.options.rules());
    }

    /// The weights after the best pass so far.
    pub fn weights(&self) -> &[f64] {
        &self.best
    }

    /// Ends the run and hands over the weights after the best pass.
    pub fn into_weights(self) -> Vec<f64> {
        self.best
    }

    /// The loss of [`OnlineLbfgs::weights`], not a number before the first step.
    pub fn best_loss(&self) -> f64 {
        self.best_loss
    }

    /// The last pass. Before the first it has the number 0 and describes the starting point, once that was
    /// evaluated.
    pub fn last(&self) -> &Iteration {
        &self.run.last
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        let best = self.best.len() * size_of::<f64>();
        self.walk.memory() + self.run.memory() + self.history.memory() + best
    }

    /// Does one pass over the data; `None` when there is nothing left to do, for the reason that
    /// [`OnlineLbfgs::status`] gives. A pass that diverges is reported too, with the loss that it ended with
    /// (which need not be a finite number).
    pub fn step<O: StochasticObjective + ?Sized>(
        &mut self,
        objective: &mut O,
    ) -> Result<Option<Iteration>, OptimizeError> {
        check_length(self.walk.x.len(), objective)?;
        if !self.run.started {
            self.start(objective)?;
        }
        if self.run.status != Status::Running {
            return Ok(None);
        }
        self.run.last.iteration = self.run.last.iteration.saturating_add(1);
        self.run.last.evaluations = 0;
        let intact = self.pass(objective);
        self.walk.turn();
        self.evaluate_here(objective, None);
        self.judge(intact, objective.instances());
        if self.run.status == Status::Diverged {
            self.walk.x.copy_from_slice(&self.best);
            self.walk.gradient.fill(0.0);
            self.history.clear();
        } else {
            self.history.project(&self.walk.slope(0.0));
        }
        Ok(Some(self.run.last))
    }

    fn start<O: StochasticObjective + ?Sized>(&mut self, objective: &mut O) -> Result<(), OptimizeError> {
        self.walk.turn();
        self.evaluate_here(objective, None);
        let started = self.run.start(&self.options.rules());
        if started.is_err() {
            self.walk.turn();
        } else {
            self.start_loss = self.run.last.loss;
            self.best_loss = self.run.last.loss;
        }
        started
    }

    /// Visits all instances in batches; false when that led to numbers that are not finite.
    fn pass<O: StochasticObjective + ?Sized>(&mut self, objective: &mut O) -> bool {
        let instances = objective.instances();
        let size = self
            .options
            .batch_size
            .unwrap_or((instances / 50).max(20))
            .clamp(1, instances.max(1));
        let per_pass = instances.div_ceil(size) as f64;
        let order = visiting_order(instances, self.options.seed, self.run.last.iteration);
        order.chunks(size).all(|batch| {
            let share = batch.len() as f64 / instances as f64;
            self.visit(objective, batch, share, per_pass)
        })
    }

    /// One step, from one batch.
    fn visit<O: StochasticObjective + ?Sized>(
        &mut self,
        objective: &mut O,
        batch: &[u32],
        share: f64,
        per_pass: f64,
    ) -> bool {
        self.walk.turn();
        let batch = Some((batch, share));
        if !self.evaluate_here(objective, batch) {
            return false;
        }
        self.small = if self.gradient_is_small() {
            self.small.saturating_add(1)
        } else {
            0
        };
        self.history.project(&self.walk.slope(0.0));
        let scaling = Scaling::Mean {
            first: self.options.first_step,
        };
        self.history.solve(scaling);
        let tau = self.options.tau * per_pass;
        let step = self.pace * self.options.eta0 * tau / (tau + self.batches as f64);
        self.walk.turn();
        let prior = Prior {
            c1: 0.0,
            c2: self.share_of_prior(batch),
        };
        let Departure { along, square, norms } = self.history.advance(&mut self.walk, step, prior);
        let finite = along.is_finite() && square.is_finite();
        if !finite || !self.evaluate(objective, norms, batch) {
            return false;
        }
        self.run.last.step = step;
        self.history.store(&self.walk.change(self.options.lambda));
        self.batches = self.batches.saturating_add(1);
        true
    }

    /// Evaluates a batch, or everything, at the previous point; false when the result is not finite.
    fn evaluate_here<O: StochasticObjective + ?Sized>(
        &mut self,
        objective: &mut O,
        batch: Option<(&[u32], f64)>,
    ) -> bool {
        let norms = self.walk.stay(self.share_of_prior(batch));
        self.evaluate(objective, norms, batch)
    }

    fn share_of_prior(&self, batch: Option<(&[u32], f64)>) -> f64 {
        self.options.c2 * batch.map_or(1.0, |(_, share)| share)
    }

    /// Evaluates a batch with its share of the prior, or everything, at the current point; false when the
    /// result is not finite.
    fn evaluate<O: StochasticObjective + ?Sized>(
        &mut self,
        objective: &mut O,
        norms: Norms,
        batch: Option<(&[u32], f64)>,
    ) -> bool {
        let c2 = self.share_of_prior(batch);
        let (x, gradient) = (&self.walk.x, &mut self.walk.gradient);
        let likelihood = match batch {
            Some((batch, _)) => objective.evaluate_batch(batch, x, gradient),
            None => objective.evaluate(x, gradient),
        };
        let square = self.walk.gradient_square(0.0);
        self.run.last.loss = likelihood + c2 * norms.square;
        self.run.last.gradient_norm = square.sqrt();
        self.run.last.x_norm = norms.square.sqrt();
        self.run.last.active = norms.active;
        self.run.last.evaluations = self.run.last.evaluations.saturating_add(1);
        self.run.last.loss.is_finite() && square.is_finite()
    }

    /// Keeps the best weights and tests for convergence, after the whole objective was evaluated.
    fn judge(&mut self, intact: bool, instances: usize) {
        let loss = self.run.last.loss;
        let bound = EXPLOSION * (self.start_loss.abs() + instances as f64);
        let finite = intact && loss.is_finite() && self.run.last.gradient_norm.is_finite();
        let exploded = !finite || loss - self.start_loss > bound;
        if exploded {
            self.run.status = Status::Diverged;
            return;
        }
        if loss <= self.best_loss {
            self.best_loss = loss;
            self.best.copy_from_slice(&self.walk.x);
        } else {
            self.pace = (0.5 * self.pace).max(f64::MIN_POSITIVE);
        }
        let small = self.gradient_is_small() || self.small >= self.options.small_batches;
        self.run.judge(&self.options.rules(), self.best_loss, small);
    }

    fn gradient_is_small(&self) -> bool {
        self.options.rules().gradient_is_small(&self.run.last)
    }

    /// Everything that is needed to go on exactly from here, as bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(&mut bytes);
        bytes
    }

    /// Writes what [`OnlineLbfgs::save`] returns.
    pub fn write<W: Write>(&self, writer: W) -> io::Result<()> {
        let mut writer = Writer::start(writer, KIND)?;
        let o = &self.options;
        writer.f64s(&[o.c2, o.eta0, o.tau, o.lambda, o.first_step, o.epsilon, o.delta])?;
        writer.option(o.batch_size.map(|size| size as u64))?;
        writer.option(o.max_iterations)?;
        writer.usize(o.small_batches)?;
        writer.usize(o.period)?;
        writer.u64(o.seed)?;
        self.run.write(&mut writer)?;
        writer.u64(self.batches)?;
        writer.usize(self.small)?;
        writer.f64s(&[self.pace, self.start_loss, self.best_loss])?;
        writer.usize(self.walk.x.len())?;
        writer.f64s(&self.walk.x)?;
        writer.f64s(&self.walk.gradient)?;
        writer.f64s(&self.best)?;
        self.history.write(&mut writer)?;
        writer.finish()
    }

    /// Goes on where [`OnlineLbfgs::save`] was called: the same objective gives the same weights, bit by bit.
    pub fn restore(bytes: &[u8]) -> Result<Self, OptimizeError> {
        let mut reader = Reader::start(bytes, KIND)?;
        let mut next = || reader.f64();
        let (c2, eta0, tau, lambda) = (next()?, next()?, next()?, next()?);
        let (first_step, epsilon, delta) = (next()?, next()?, next()?);
        let batch_size = reader.option()?.map(usize::try_from).transpose();
        let batch_size = batch_size.map_err(|_| OptimizeError::Damaged("a count is too large"))?;
        let max_iterations = reader.option()?;
        let small_batches = reader.usize()?;
        let period = reader.count(8)?;
        let seed = reader.u64()?;
        let run = Run::read(&mut reader, period)?;
        let batches = reader.u64()?;
        let small = reader.usize()?;
        let (pace, start_loss, best_loss) = (reader.f64()?, reader.f64()?, reader.f64()?);
        let len = reader.count(24)?;
        let walk = Walk::new(reader.finite_f64s(len)?, reader.finite_f64s(len)?);
        let best = reader.finite_f64s(len)?;
        let history = History::read(&mut reader, len)?;
        reader.finish()?;
        let options = OnlineLbfgsOptions {
            c2,
            num_memories: history.memories(),
            batch_size,
            eta0,
            tau,
            lambda,
            first_step,
            epsilon,
            small_batches,
            period,
            delta,
            max_iterations,
            seed,
        };
        options.check()?;
        let finite = !run.started || (start_loss.is_finite() && best_loss.is_finite());
        if !(finite && pace > 0.0 && pace <= 1.0) {
            return Err(OptimizeError::Damaged("a number is out of range"));
        }
        let fresh = Self::with_history(walk, best, history, options);
        Ok(OnlineLbfgs {
            run,
            batches,
            small,
            pace,
            start_loss,
            best_loss,
            ..fresh
        })
    }
}
