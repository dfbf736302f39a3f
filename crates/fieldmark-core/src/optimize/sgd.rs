//! [`Sgd`]: stochastic gradient descent on a loss with a prior.

use super::bytes::{Reader, Writer};
use super::{Epoch, InstanceObjective, OptimizeError, Prior, Status, check_length, check_option};
use crate::random::visiting_order;
use std::io::{self, Write};

const KIND: &[u8; 4] = b"ONSG";
/// `period` is the length of a table that is kept.
const MAX_PERIOD: usize = 1_000_000;
/// A common factor of the weights below this is multiplied in.
const SMALL_SCALE: f64 = 1e-6;

/// Settings of [`Sgd`], with the names and defaults of CRFsuite's `l2sgd`.
///
/// With N instances and λ = 2·c2 / N the learning rate after t of them is η_t = η_0 / (1 + λ η_0 t), as in
/// CRFsuite. With an L1 term, or without any, it is η_0 · `decay`^(t / N) (Tsuruoka et al. 2009). η_0 is
/// found by calibration: one pass over a sample, for rates that grow from `calibration_eta` by the factor
/// `calibration_rate` as long as they lower the loss, and then for rates that shrink.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdOptions {
    /// The prior; every instance takes its share of it.
    pub prior: Prior,
    /// The first learning rate to try.
    pub calibration_eta: f64,
    /// The factor between rates that are tried.
    pub calibration_rate: f64,
    /// Instances in the sample.
    pub calibration_samples: usize,
    /// How many rates that lower the loss to try in each direction.
    pub calibration_candidates: usize,
    /// How many rates to try at most.
    pub calibration_max_trials: usize,
    /// The factor of the learning rate from pass to pass, where `c2` does not decide it.
    pub decay: f64,
    /// Number of passes over which `delta` is tested; 0 turns the test off.
    pub period: usize,
    /// Converged when the loss fell by less than this, relative, over the last `period` passes.
    pub delta: f64,
    /// Stop after so many passes.
    pub max_iterations: Option<u64>,
    /// Decides the order in which instances are visited.
    pub seed: u64,
}

impl Default for SgdOptions {
    fn default() -> Self {
        Self {
            prior: Prior::default(),
            calibration_eta: 0.1,
            calibration_rate: 2.0,
            calibration_samples: 1000,
            calibration_candidates: 10,
            calibration_max_trials: 20,
            decay: 0.85,
            period: 10,
            delta: 1e-6,
            max_iterations: Some(1000),
            seed: 0,
        }
    }
}

impl SgdOptions {
    fn check(&self) -> Result<(), OptimizeError> {
        self.prior.check()?;
        let eta = self.calibration_eta;
        check_option(
            "calibration_eta",
            eta,
            "a finite number above 0",
            eta.is_finite() && eta > 0.0,
        )?;
        let rate = self.calibration_rate;
        check_option(
            "calibration_rate",
            rate,
            "a finite number above 1",
            rate.is_finite() && rate > 1.0,
        )?;
        for (name, count) in [
            ("calibration_samples", self.calibration_samples),
            ("calibration_candidates", self.calibration_candidates),
            ("calibration_max_trials", self.calibration_max_trials),
        ] {
            check_option(name, count as f64, "at least 1", count > 0)?;
        }
        let decay = self.decay;
        check_option("decay", decay, "above 0, at most 1", decay > 0.0 && decay <= 1.0)?;
        let period = self.period;
        check_option("period", period as f64, "at most 1000000", period <= MAX_PERIOD)?;
        let delta = self.delta;
        check_option(
            "delta",
            delta,
            "a finite number, at least 0",
            delta.is_finite() && delta >= 0.0,
        )
    }
}

/// Weights, and the L1 penalties that they have received.
#[derive(Clone, Debug)]
struct Walk {
    /// The weights divided by `scale`.
    x: Vec<f64>,
    scale: f64,
    /// The penalty that every weight should have received so far, divided by `scale`.
    due: f64,
    /// What each weight did receive, likewise; empty without an L1 term.
    received: Vec<f64>,
}

impl Walk {
    fn new(x: Vec<f64>, prior: Prior) -> Self {
        let received = vec![0.0; if prior.c1 > 0.0 { x.len() } else { 0 }];
        Self {
            x,
            scale: 1.0,
            due: 0.0,
            received,
        }
    }

    /// Lets a weight catch up with the penalty, at most as far as zero (Tsuruoka et al. 2009, figure 2).
    fn penalise(&mut self, cell: usize) {
        let weight = self.x[cell];
        let kept = if weight > 0.0 {
            (weight - (self.due + self.received[cell])).max(0.0)
        } else if weight < 0.0 {
            (weight + (self.due - self.received[cell])).min(0.0)
        } else {
            weight
        };
        self.x[cell] = kept;
        self.received[cell] += kept - weight;
    }

    /// Multiplies the common factor in.
    fn fold(&mut self) {
        let scale = self.scale;
        if scale != 1.0 {
            self.x.iter_mut().for_each(|weight| *weight *= scale);
            self.received.iter_mut().for_each(|penalty| *penalty *= scale);
            self.due *= scale;
            self.scale = 1.0;
        }
    }
}

/// Stochastic gradient descent, one pass over the data per [`Sgd::epoch`].
///
/// Minimises the loss of the objective plus the prior. The loss of a pass is that of each instance when it was
/// visited, plus the prior of the weights at the end; the weights that count are those after the best pass.
#[derive(Clone, Debug)]
pub struct Sgd {
    options: SgdOptions,
    status: Status,
    last: Epoch,
    /// The calibrated learning rate; 0 before.
    eta: f64,
    /// Instances seen.
    seen: u64,
    walk: Walk,
    best: Vec<f64>,
    best_loss: f64,
    /// The losses of the last `period` passes; that of pass k is at k modulo `period`.
    past: Vec<f64>,
}

impl Sgd {
    /// Starts at the weights `x`, in the order of the objective.
    pub fn new(x: Vec<f64>, options: SgdOptions) -> Result<Self, OptimizeError> {
        options.check()?;
        Ok(Self {
            options,
            status: Status::Running.limited(0, options.max_iterations),
            last: Epoch::NONE,
            eta: 0.0,
            seen: 0,
            best: x.clone(),
            walk: Walk::new(x, options.prior),
            best_loss: f64::INFINITY,
            past: vec![0.0; options.period],
        })
    }

    /// The settings.
    pub fn options(&self) -> &SgdOptions {
        &self.options
    }

    /// The learning rate η_0 that calibration has found; `None` before the first pass.
    pub fn learning_rate(&self) -> Option<f64> {
        (self.eta > 0.0).then_some(self.eta)
    }

    /// The loss of [`Sgd::weights`]; infinite before the first pass.
    pub fn best_loss(&self) -> f64 {
        self.best_loss
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        let numbers = self.walk.x.len() + self.walk.received.len() + self.best.len() + self.past.len();
        numbers * size_of::<f64>()
    }

    /// c1·Σ|w| + c2·Σw² for folded weights.
    fn prior(&self, weights: &[f64]) -> f64 {
        let Prior { c1, c2 } = self.options.prior;
        weights.iter().map(|w| c1 * w.abs() + c2 * w * w).sum()
    }

    /// The learning rate after `seen` of `instances` instances.
    fn rate(&self, eta: f64, lambda: f64, seen: u64, instances: f64) -> f64 {
        if self.options.prior.c1 > 0.0 || lambda == 0.0 {
            eta * self.options.decay.powf(seen as f64 / instances)
        } else {
            eta / (1.0 + lambda * eta * seen as f64)
        }
    }

    /// Visits instances in the given order; the loss, with their share of the prior.
    fn pass<O: InstanceObjective>(
        &self,
        objective: &mut O,
        walk: &mut Walk,
        order: &[u32],
        eta: f64,
        seen: u64,
    ) -> f64 {
        let instances = objective.instances() as f64;
        let Prior { c1, c2 } = self.options.prior;
        let lambda = 2.0 * c2 / instances;
        let mut loss = 0.0;
        for (&index, seen) in order.iter().zip(seen..) {
            let rate = self.rate(eta, lambda, seen, instances);
            // The proximal step of the L2 term: 1 − ηλ to first order, and never negative.
            walk.scale /= 1.0 + rate * lambda;
            if walk.scale < SMALL_SCALE {
                walk.fold();
            }
            loss += objective.descend(index, &mut walk.x, walk.scale, rate / walk.scale);
            if c1 > 0.0 {
                walk.due += rate * c1 / instances / walk.scale;
                objective.for_each_changed(index, &mut |range| {
                    range.for_each(|cell| walk.penalise(cell));
                });
            }
            if !loss.is_finite() {
                return loss;
            }
        }
        if c1 > 0.0 {
            (0..walk.x.len()).for_each(|cell| walk.penalise(cell));
        }
        walk.fold();
        loss + self.prior(&walk.x) * order.len() as f64 / instances
    }

    /// The learning rate after which a pass over a sample leaves the lowest loss.
    fn calibrate<O: InstanceObjective>(&self, objective: &mut O) -> f64 {
        let options = &self.options;
        let instances = objective.instances();
        let mut order = visiting_order(instances, options.seed, 0);
        order.truncate(options.calibration_samples);
        let x = &self.walk.x;
        let share = order.len() as f64 / instances as f64;
        let start: f64 = order
            .iter()
            .map(|&index| objective.loss_of(index, x, 1.0))
            .sum::<f64>()
            + self.prior(x) * share;
        let mut eta = options.calibration_eta;
        let (mut best_eta, mut best_loss) = (eta, f64::INFINITY);
        let mut candidates = options.calibration_candidates;
        let mut shrinking = false;
        for _ in 0..options.calibration_max_trials {
            let mut walk = self.walk.clone();
            let loss = self.pass(objective, &mut walk, &order, eta, 0);
            let lowered = loss.is_finite() && loss < start;
            if loss.is_finite() && loss < best_loss {
                (best_eta, best_loss) = (eta, loss);
            }
            candidates -= usize::from(lowered);
            if !shrinking && (!lowered || candidates == 0) {
                shrinking = true;
                candidates = options.calibration_candidates;
                eta = options.calibration_eta / options.calibration_rate;
            } else if shrinking {
                eta /= options.calibration_rate;
            } else {
                eta *= options.calibration_rate;
            }
            if candidates == 0 || !eta.is_normal() {
                break;
            }
        }
        best_eta
    }

    /// Keeps the best weights and tests for convergence, after a pass with this loss.
    fn judge(&mut self, loss: f64) -> Status {
        if !(loss.is_finite() && self.walk.x.iter().all(|weight| weight.is_finite())) {
            return Status::Diverged;
        }
        if loss < self.best_loss {
            self.best_loss = loss;
            self.best.copy_from_slice(&self.walk.x);
        }
        let mut improved = true;
        if self.options.period > 0 {
            let (epoch, period) = (self.last.epoch, self.options.period as u64);
            let past = &mut self.past[(epoch % period) as usize];
            improved = epoch <= period || *past - loss >= self.options.delta * loss.abs();
            *past = loss;
        }
        if improved {
            Status::Running.limited(self.last.epoch, self.options.max_iterations)
        } else {
            Status::LossConverged
        }
    }

    fn write<W: Write>(&self, writer: W) -> io::Result<()> {
        let mut writer = Writer::start(writer, KIND)?;
        let o = &self.options;
        writer.f64s(&[o.prior.c1, o.prior.c2, o.calibration_eta, o.calibration_rate])?;
        writer.f64s(&[o.decay, o.delta])?;
        writer.usize(o.calibration_samples)?;
        writer.usize(o.calibration_candidates)?;
        writer.usize(o.calibration_max_trials)?;
        writer.usize(o.period)?;
        writer.option(o.max_iterations)?;
        writer.u64(o.seed)?;
        writer.status(self.status)?;
        self.last.write(&mut writer)?;
        writer.u64(self.seen)?;
        writer.f64s(&[self.eta, self.best_loss, self.walk.due])?;
        writer.f64s(&self.past)?;
        writer.usize(self.walk.x.len())?;
        writer.f64s(&self.walk.x)?;
        writer.f64s(&self.walk.received)?;
        writer.f64s(&self.best)?;
        writer.finish()
    }

    /// Goes on where [`Sgd::save`] was called: the same objective gives the same weights, bit by
    /// bit.
    pub fn restore(bytes: &[u8]) -> Result<Self, OptimizeError> {
        let mut reader = Reader::start(bytes, KIND)?;
        let (c1, c2) = (reader.f64()?, reader.f64()?);
        let (calibration_eta, calibration_rate) = (reader.f64()?, reader.f64()?);
        let (decay, delta) = (reader.f64()?, reader.f64()?);
        let options = SgdOptions {
            prior: Prior { c1, c2 },
            calibration_eta,
            calibration_rate,
            decay,
            delta,
            calibration_samples: reader.usize()?,
            calibration_candidates: reader.usize()?,
            calibration_max_trials: reader.usize()?,
            period: reader.usize()?,
            max_iterations: reader.option()?,
            seed: reader.u64()?,
        };
        options.check()?;
        let status = reader.status()?;
        let last = Epoch::read(&mut reader)?;
        let seen = reader.u64()?;
        let (eta, best_loss, due) = (reader.f64()?, reader.f64()?, reader.f64()?);
        if !(eta.is_finite() && eta >= 0.0 && due.is_finite() && !best_loss.is_nan()) {
            return Err(OptimizeError::Damaged("a number is out of range"));
        }
        let past = reader.finite_f64s(options.period)?;
        let len = reader.count(16)?;
        let mut walk = Walk::new(reader.finite_f64s(len)?, options.prior);
        walk.received = reader.finite_f64s(walk.received.len())?;
        walk.due = due;
        let best = reader.finite_f64s(len)?;
        reader.finish()?;
        Ok(Self {
            options,
            status,
            last,
            eta,
            seen,
            walk,
            best,
            best_loss,
            past,
        })
    }

    /// Does one pass over the data; `None` when there is nothing left to do, for the reason that [`Sgd::status`]
    /// gives.
    pub fn epoch<O: InstanceObjective>(&mut self, objective: &mut O) -> Result<Option<Epoch>, OptimizeError> {
        check_length(self.walk.x.len(), objective)?;
        if self.status != Status::Running {
            return Ok(None);
        }
        let instances = objective.instances();
        if self.eta == 0.0 {
            self.eta = self.calibrate(objective);
        }
        self.last.epoch += 1;
        let order = visiting_order(instances, self.options.seed, self.last.epoch);
        let mut walk = std::mem::replace(&mut self.walk, Walk::new(Vec::new(), Prior::NONE));
        let loss = if instances == 0 {
            self.prior(&walk.x)
        } else {
            self.pass(objective, &mut walk, &order, self.eta, self.seen)
        };
        self.walk = walk;
        self.seen += instances as u64;
        self.last.loss = loss;
        self.last.updates = instances as u64;
        self.status = self.judge(loss);
        if self.status == Status::Diverged {
            self.walk = Walk::new(self.best.clone(), self.options.prior);
        }
        self.last.measure(&self.walk.x);
        Ok(Some(self.last))
    }

    /// Where the run stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The last pass; before the first, one with the number 0.
    pub fn last(&self) -> &Epoch {
        &self.last
    }

    /// The weights after the best pass so far.
    pub fn weights(&self) -> &[f64] {
        &self.best
    }

    /// Changes the number of passes after which to stop; a run that stopped for it may go on.
    pub fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        self.options.max_iterations = max_iterations;
        self.status = self.status.limited(self.last.epoch, max_iterations);
    }

    /// Everything that is needed to go on exactly from here, as bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(&mut bytes);
        bytes
    }
}
