//! What a mistake does to the weights: the perceptron, passive-aggressive and AROW rules.

use super::decode::Mistake;
use super::mistakes::{Common, Rule, Update, sealed};
use super::{check, check_above_zero, check_at_least_zero};
use fieldmark_core::optimize::OptimizeError;
use fieldmark_core::optimize::bytes::{Reader, Writer};
use std::io::{self, Write};

type Difference<'a> = &'a [(u32, f64)];

fn square_norm(difference: Difference<'_>) -> f64 {
    difference.iter().map(|(_, value)| value * value).sum()
}

/// Settings of [`AveragedPerceptron`](super::AveragedPerceptron), with the names and defaults of CRFsuite.
///
/// The loss of a mistake is the part of its positions that are wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerceptronOptions {
    /// Stop after so many passes.
    pub max_iterations: Option<u64>,
    /// Converged when the mean loss of an instance is at most this.
    pub epsilon: f64,
    /// Decides the order in which instances are visited.
    pub seed: u64,
}

impl Default for PerceptronOptions {
    fn default() -> Self {
        Self {
            max_iterations: Some(100),
            epsilon: 0.0,
            seed: 0,
        }
    }
}

impl sealed::Sealed for PerceptronOptions {}

impl Rule for PerceptronOptions {
    const KIND: &'static [u8; 4] = b"ONAP";

    fn check(&self) -> Result<(), OptimizeError> {
        check_at_least_zero("epsilon", self.epsilon)
    }

    fn common(&self) -> Common {
        Common {
            max_iterations: self.max_iterations,
            epsilon: self.epsilon,
            seed: self.seed,
            averaging: true,
            variance: None,
        }
    }

    fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        self.max_iterations = max_iterations;
    }

    fn update(&self, mistake: &Mistake, _: Difference<'_>, _: &[f64]) -> Update {
        Update {
            rate: 1.0,
            loss: mistake.errors as f64 / mistake.length as f64,
        }
    }

    fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.option(self.max_iterations)?;
        writer.f64(self.epsilon)?;
        writer.u64(self.seed)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, OptimizeError> {
        Ok(Self {
            max_iterations: reader.option()?,
            epsilon: reader.f64()?,
            seed: reader.u64()?,
        })
    }
}

/// How far the passive-aggressive algorithm goes to correct a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaType {
    /// All the way (CRFsuite's type 0).
    NoSlack,
    /// With a step of length at most `c` (type 1).
    #[default]
    I,
    /// Less far, the smaller `c` is (type 2).
    II,
}

impl PaType {
    const ALL: [PaType; 3] = [PaType::NoSlack, PaType::I, PaType::II];

    /// The type with CRFsuite's number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// CRFsuite's number.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// Settings of [`PassiveAggressive`](super::PassiveAggressive), with the names and defaults of CRFsuite.
///
/// The loss of a mistake is the excess of its score over that of the target, plus the cost of the mistake: the
/// margin by which the target should have been better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassiveAggressiveOptions {
    /// How far to go after a mistake.
    pub pa_type: PaType,
    /// The aggressiveness.
    pub c: f64,
    /// Whether a mistake costs the square root of its number of wrong labels, rather than 1.
    pub error_sensitive: bool,
    /// Whether the weights are averaged as by the averaged perceptron.
    pub averaging: bool,
    /// Stop after so many passes.
    pub max_iterations: Option<u64>,
    /// Converged when the mean loss of an instance is at most this.
    pub epsilon: f64,
    /// Decides the order in which instances are visited.
    pub seed: u64,
}

impl Default for PassiveAggressiveOptions {
    fn default() -> Self {
        Self {
            pa_type: PaType::I,
            c: 1.0,
            error_sensitive: true,
            averaging: true,
            max_iterations: Some(100),
            epsilon: 0.0,
            seed: 0,
        }
    }
}

impl sealed::Sealed for PassiveAggressiveOptions {}

impl Rule for PassiveAggressiveOptions {
    const KIND: &'static [u8; 4] = b"ONPA";

    fn check(&self) -> Result<(), OptimizeError> {
        check_above_zero("c", self.c)?;
        check_at_least_zero("epsilon", self.epsilon)
    }

    fn common(&self) -> Common {
        Common {
            max_iterations: self.max_iterations,
            epsilon: self.epsilon,
            seed: self.seed,
            averaging: self.averaging,
            variance: None,
        }
    }

    fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        self.max_iterations = max_iterations;
    }

    /// The solutions in closed form of Crammer et al. (2006), section 3.
    fn update(&self, mistake: &Mistake, difference: Difference<'_>, _: &[f64]) -> Update {
        let cost = if self.error_sensitive {
            (mistake.errors as f64).sqrt()
        } else {
            1.0
        };
        let loss = mistake.excess + cost;
        let norm = square_norm(difference);
        let rate = match self.pa_type {
            PaType::NoSlack => loss / norm,
            PaType::I => (loss / norm).min(self.c),
            PaType::II => loss / (norm + 0.5 / self.c),
        };
        Update { rate, loss }
    }

    fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.u32(self.pa_type.number())?;
        writer.f64(self.c)?;
        writer.flag(self.error_sensitive)?;
        writer.flag(self.averaging)?;
        writer.option(self.max_iterations)?;
        writer.f64(self.epsilon)?;
        writer.u64(self.seed)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, OptimizeError> {
        let pa_type = PaType::from_number(reader.u32()?);
        Ok(Self {
            pa_type: pa_type.ok_or(OptimizeError::Damaged("an unknown type"))?,
            c: reader.f64()?,
            error_sensitive: reader.flag()?,
            averaging: reader.flag()?,
            max_iterations: reader.option()?,
            epsilon: reader.f64()?,
            seed: reader.u64()?,
        })
    }
}

/// Settings of [`Arow`](super::Arow), with the names and defaults of CRFsuite.
///
/// The loss of a mistake is the excess of its score over that of the target, plus its number of wrong labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArowOptions {
    /// The variance of every weight at the start.
    pub variance: f64,
    /// Trades keeping the weights (high) against correcting the mistake (low).
    pub gamma: f64,
    /// Stop after so many passes.
    pub max_iterations: Option<u64>,
    /// Converged when the mean loss of an instance is at most this.
    pub epsilon: f64,
    /// Decides the order in which instances are visited.
    pub seed: u64,
}

impl Default for ArowOptions {
    fn default() -> Self {
        Self {
            variance: 1.0,
            gamma: 1.0,
            max_iterations: Some(100),
            epsilon: 0.0,
            seed: 0,
        }
    }
}

impl sealed::Sealed for ArowOptions {}

impl Rule for ArowOptions {
    const KIND: &'static [u8; 4] = b"ONAR";

    fn check(&self) -> Result<(), OptimizeError> {
        check("variance", self.variance, "a normal number above 0", {
            self.variance.is_normal() && self.variance > 0.0
        })?;
        check_above_zero("gamma", self.gamma)?;
        check_at_least_zero("epsilon", self.epsilon)
    }

    fn common(&self) -> Common {
        Common {
            max_iterations: self.max_iterations,
            epsilon: self.epsilon,
            seed: self.seed,
            averaging: false,
            variance: Some((self.variance, self.gamma)),
        }
    }

    fn set_max_iterations(&mut self, max_iterations: Option<u64>) {
        self.max_iterations = max_iterations;
    }

    /// α = loss / (xᵀΣx + γ) for the difference x of the features (Crammer et al. 2009, figure 1).
    fn update(&self, mistake: &Mistake, difference: Difference<'_>, covariance: &[f64]) -> Update {
        let loss = mistake.excess + mistake.errors as f64;
        let spread: f64 = difference
            .iter()
            .map(|&(cell, value)| covariance[cell as usize] * value * value)
            .sum();
        Update {
            rate: loss / (spread + self.gamma),
            loss,
        }
    }

    fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.f64s(&[self.variance, self.gamma])?;
        writer.option(self.max_iterations)?;
        writer.f64(self.epsilon)?;
        writer.u64(self.seed)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, OptimizeError> {
        Ok(Self {
            variance: reader.f64()?,
            gamma: reader.f64()?,
            max_iterations: reader.option()?,
            epsilon: reader.f64()?,
            seed: reader.u64()?,
        })
    }
}
