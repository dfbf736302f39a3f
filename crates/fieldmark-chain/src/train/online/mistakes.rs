//! [`MistakeDriven`]: trainers that change the weights when the best sequence is not allowed.

use super::decode::{Decoder, Mistake};
use super::delta::Delta;
use super::{Epoch, OnlineTrainer, check_length, visiting_order};
use crate::train::ChainObjective;
use crate::train::objective::Field;
use fieldmark_core::Instance;
use fieldmark_core::optimize::bytes::{Reader, Writer};
use fieldmark_core::optimize::{Objective, OptimizeError, Status};
use std::io::{self, Write};

pub(super) mod sealed {
    pub trait Sealed {}
}

/// What all rules have.
pub struct Common {
    pub(super) max_iterations: Option<u64>,
    pub(super) epsilon: f64,
    pub(super) seed: u64,
    pub(super) averaging: bool,
    /// With a covariance: its start and γ.
    pub(super) variance: Option<(f64, f64)>,
}

/// What a mistake does.
pub struct Update {
    /// The weights move by this times the difference of the features (times their variance, if they have one).
    pub(super) rate: f64,
    pub(super) loss: f64,
}

/// How a mistake changes the weights: the settings of a [`MistakeDriven`] trainer.
pub trait Rule: Copy + sealed::Sealed {
    #[doc(hidden)]
    const KIND: &'static [u8; 4];
    #[doc(hidden)]
    fn check(&self) -> Result<(), OptimizeError>;
    #[doc(hidden)]
    fn common(&self) -> Common;
    #[doc(hidden)]
    fn set_max_iterations(&mut self, max_iterations: Option<u64>);
    #[doc(hidden)]
    fn update(&self, mistake: &Mistake, difference: &[(u32, f64)], covariance: &[f64]) -> Update;
    #[doc(hidden)]
    fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()>;
    #[doc(hidden)]
    fn read(reader: &mut Reader<'_>) -> Result<Self, OptimizeError>;
}

/// A trainer that changes the weights after each mistake.
///
/// Averaged weights are the mean of the weights at the start and after each instance. Only changes are
/// recorded, each with its time (Daumé 2006, figure 2.3), so that an instance costs no more than its features.
#[derive(Clone, Debug)]
pub struct MistakeDriven<R> {
    options: R,
    status: Status,
    last: Epoch,
    /// Instances seen.
    seen: u64,
    current: Vec<f64>,
    /// Σ of changes, each times the number of instances up to it; empty without averaging.
    late: Vec<f64>,
    /// Variances of the weights; empty without.
    covariance: Vec<f64>,
    /// What [`OnlineTrainer::weights`] shows.
    result: Vec<f64>,
}

impl<R: Rule> MistakeDriven<R> {
    /// Starts at the weights `x`, in the order of the objective.
    pub fn new(x: Vec<f64>, options: R) -> Result<Self, OptimizeError> {
        options.check()?;
        let common = options.common();
        let len = x.len();
        let (late, covariance) = (
            if common.averaging { len } else { 0 },
            if common.variance.is_some() { len } else { 0 },
        );
        Ok(Self {
            options,
            status: Status::Running.limited(0, common.max_iterations),
            last: Epoch::NONE,
            seen: 0,
            late: vec![0.0; late],
            covariance: vec![common.variance.map_or(0.0, |(start, _)| start); covariance],
            result: x.clone(),
            current: x,
        })
    }

    /// The settings.
    pub fn options(&self) -> &R {
        &self.options
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        let vectors = [&self.current, &self.late, &self.covariance, &self.result];
        vectors.iter().map(|vector| vector.len() * size_of::<f64>()).sum()
    }

    /// Learns from one instance; its loss, if it was a mistake.
    fn visit(
        &mut self,
        field: &Field<'_, f64>,
        instance: Instance<'_>,
        decoder: &mut Decoder,
        delta: &mut Delta,
    ) -> Option<f64> {
        self.seen += 1;
        let mistake = decoder.decode(field, instance, &self.current)?;
        let difference = delta.between(field, instance, &decoder.target, &decoder.predicted);
        let Update { rate, loss } = self.options.update(&mistake, difference, &self.covariance);
        // Without a feature that tells the sequences apart there is nothing to learn.
        if difference.is_empty() {
            return Some(loss);
        }
        let time = self.seen as f64;
        let gamma = self.options.common().variance.map_or(0.0, |(_, gamma)| gamma);
        for &(cell, value) in difference {
            let cell = cell as usize;
            let mut step = rate * value;
            if let Some(variance) = self.covariance.get_mut(cell) {
                step *= *variance;
                *variance = 1.0 / (1.0 / *variance + value * value / gamma);
            }
            self.current[cell] += step;
            if let Some(late) = self.late.get_mut(cell) {
                *late += time * step;
            }
        }
        decoder.set_weights(field, &self.current);
        Some(loss)
    }

    /// Takes the weights over into the result.
    fn conclude(&mut self) {
        self.result.copy_from_slice(&self.current);
        let times = self.seen as f64 + 1.0;
        for (weight, late) in self.result.iter_mut().zip(&self.late) {
            *weight -= late / times;
        }
    }

    /// Goes on where [`OnlineTrainer::save`] was called: the same objective gives the same weights, bit by
    /// bit.
    pub fn restore(bytes: &[u8]) -> Result<Self, OptimizeError> {
        let mut reader = Reader::start(bytes, R::KIND)?;
        let options = R::read(&mut reader)?;
        let status = reader.status()?;
        let last = Epoch::read(&mut reader)?;
        let seen = reader.u64()?;
        let len = reader.count(8)?;
        let current = reader.finite_f64s(len)?;
        let mut trainer = Self::new(current, options)?;
        let (late, covariance) = (trainer.late.len(), trainer.covariance.len());
        trainer.late = reader.finite_f64s(late)?;
        trainer.covariance = reader.finite_f64s(covariance)?;
        trainer.result = reader.finite_f64s(len)?;
        reader.finish()?;
        if trainer.covariance.iter().any(|&variance| variance <= 0.0) {
            return Err(OptimizeError::Damaged("a variance is not above zero"));
        }
        Ok(Self {
            status,
            last,
            seen,
            ..trainer
        })
    }

    fn write<W: Write>(&self, writer: W) -> io::Result<()> {
        let mut writer = Writer::start(writer, R::KIND)?;
        self.options.write(&mut writer)?;
        writer.status(self.status)?;
        self.last.write(&mut writer)?;
        writer.u64(self.seen)?;
        writer.usize(self.current.len())?;
        for vector in [&self.current, &self.late, &self.covariance, &self.result] {
            writer.f64s(vector)?;
        }
        writer.finish()
    }
}

impl<R: Rule> OnlineTrainer for MistakeDriven<R> {
    fn epoch(&mut self, objective: &mut ChainObjective<'_, f64>) -> Result<Option<Epoch>, OptimizeError> {
        check_length(&self.current, objective.len())?;
        if self.status != Status::Running {
            return Ok(None);
        }
        let common = self.options.common();
        let field = &objective.field;
        let instances = field.data.len();
        let mut decoder = Decoder::default();
        decoder.set_weights(field, &self.current);
        let mut delta = Delta::new(field, self.current.len());
        let (mut loss, mut updates) = (0.0, 0);
        for index in visiting_order(instances, common.seed, self.last.epoch + 1) {
            let instance = field.data.instance(index as usize);
            if let Some(mistake) = self.visit(field, instance, &mut decoder, &mut delta) {
                loss += mistake;
                updates += 1;
            }
        }
        self.last.epoch += 1;
        self.last.loss = loss;
        self.last.updates = updates;
        if loss.is_finite() && self.current.iter().all(|weight| weight.is_finite()) {
            self.conclude();
            self.last.measure(&self.result);
            if loss <= common.epsilon * instances as f64 {
                self.status = Status::LossConverged;
            }
            self.status = self.status.limited(self.last.epoch, common.max_iterations);
        } else {
            self.current.copy_from_slice(&self.result);
            self.late.fill(0.0);
            self.covariance
                .fill(common.variance.map_or(0.0, |(start, _)| start));
            self.status = Status::Diverged;
        }
        Ok(Some(self.last))
    }

    fn status(&self) -> Status {
        self.status
    }

    fn last(&self) -> &Epoch {
        &self.last
    }

    fn weights(&self) -> &[f64] {
        &self.result
    }

    fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        self.options.set_max_iterations(max_iterations);
        self.status = self.status.limited(self.last.epoch, max_iterations);
    }

    fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(&mut bytes);
        bytes
    }
}
