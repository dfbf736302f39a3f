//! [`Epoch`]: what one pass of a trainer did that visits one instance after the other.

use super::OptimizeError;
use super::bytes::{Reader, Writer};
use std::io::{self, Write};

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
    pub const NONE: Epoch = Epoch {
        epoch: 0,
        loss: f64::NAN,
        updates: 0,
        feature_norm: f64::NAN,
        active: 0,
    };

    /// Notes the norm of weights and how many there are.
    pub fn measure(&mut self, weights: &[f64]) {
        self.feature_norm = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        self.active = weights.iter().filter(|&&w| w != 0.0).count();
    }

    /// Writes it into the state of a trainer.
    pub fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.u64(self.epoch)?;
        writer.f64s(&[self.loss, self.feature_norm])?;
        writer.u64(self.updates)?;
        writer.usize(self.active)
    }

    /// Reads it from the state of a trainer.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, OptimizeError> {
        Ok(Self {
            epoch: reader.u64()?,
            loss: reader.f64()?,
            feature_norm: reader.f64()?,
            updates: reader.u64()?,
            active: reader.usize()?,
        })
    }
}
