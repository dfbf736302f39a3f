//! The state of [`SampleRank`] as bytes.

use super::{Compare, SampleRank, SampleRankOptions, check};
use crate::data::GraphDataset;
use crate::structure::Structure;
use crate::train::TrainError;
use fieldmark_core::optimize::bytes::{Reader, Writer};
use fieldmark_core::optimize::{OptimizeError, Status};
use std::io::{self, Write};

const KIND: &[u8; 4] = b"SRNK";

impl<'a> SampleRank<'a> {
    /// Everything that is needed to go on exactly from here, as bytes; only a loss of one's own is not in them.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(&mut bytes);
        bytes
    }

    fn write<W: Write>(&self, writer: W) -> io::Result<()> {
        let mut writer = Writer::start(writer, KIND)?;
        let o = &self.options;
        writer.f64s(&[o.alpha, o.margin, o.epsilon])?;
        writer.u64(o.max_iterations)?;
        writer.flag(o.compare == Compare::All)?;
        writer.usize(o.sweeps)?;
        writer.flag(o.average)?;
        writer.u64(o.seed)?;
        writer.u64(self.iteration)?;
        writer.u32(code_of(self.end))?;
        writer.u64(self.learner.moves)?;
        writer.usize(self.learner.weights.len())?;
        writer.f64s(&self.learner.weights)?;
        writer.f64s(&self.learner.delayed)?;
        writer.usize(self.labels.iter().map(Vec::len).sum())?;
        for labels in &self.labels {
            writer.u32s(labels)?;
        }
        writer.finish()
    }

    /// Goes on where [`SampleRank::save`] was called: the same structure, data and loss give the same weights, bit by
    /// bit.
    pub fn restore(
        structure: &'a Structure,
        data: &'a GraphDataset,
        bytes: &[u8],
    ) -> Result<Self, TrainError> {
        let Saved {
            options,
            iteration,
            end,
            moves,
            weights,
            delayed,
            labels,
        } = Saved::read(bytes)?;
        check(&options)?;
        let mut training = Self::new(structure, data, weights, options)?;
        let mut labels = labels.into_iter();
        for (instance, own) in data.instances().zip(&mut training.labels) {
            let places = structure.places(instance.len());
            for ((_, layer, _), label) in places.variables(instance.len()).zip(own) {
                *label = labels
                    .next()
                    .filter(|&label| label < structure.labels[layer])
                    .ok_or(OptimizeError::Damaged("it belongs to other data"))?;
            }
        }
        if labels.next().is_some() {
            return Err(OptimizeError::Damaged("it belongs to other data").into());
        }
        training.learner.delayed = delayed;
        training.learner.moves = moves;
        training.iteration = iteration;
        training.end = end;
        Ok(training)
    }
}

/// Why a run stopped, as a number.
fn code_of(end: Option<Status>) -> u32 {
    match end {
        Some(Status::WeightsConverged) => 1,
        Some(Status::Diverged) => 2,
        _ => 0,
    }
}

fn end_of(code: u32) -> Result<Option<Status>, OptimizeError> {
    match code {
        0 => Ok(None),
        1 => Ok(Some(Status::WeightsConverged)),
        2 => Ok(Some(Status::Diverged)),
        _ => Err(OptimizeError::Damaged("an unknown status")),
    }
}

/// What [`SampleRank::save`] wrote.
struct Saved {
    options: SampleRankOptions,
    iteration: u64,
    end: Option<Status>,
    moves: u64,
    weights: Vec<f64>,
    delayed: Vec<f64>,
    labels: Vec<u32>,
}

impl Saved {
    fn read(bytes: &[u8]) -> Result<Self, OptimizeError> {
        let mut reader = Reader::start(bytes, KIND)?;
        let options = SampleRankOptions {
            alpha: reader.f64()?,
            margin: reader.f64()?,
            epsilon: reader.f64()?,
            max_iterations: reader.u64()?,
            compare: if reader.flag()? {
                Compare::All
            } else {
                Compare::Drawn
            },
            sweeps: reader.usize()?,
            average: reader.flag()?,
            seed: reader.u64()?,
        };
        let (iteration, end, moves) = (reader.u64()?, end_of(reader.u32()?)?, reader.u64()?);
        let count = reader.count(16)?;
        let (weights, delayed) = (reader.finite_f64s(count)?, reader.finite_f64s(count)?);
        let variables = reader.count(4)?;
        let labels = reader.u32s(variables)?;
        reader.finish()?;
        Ok(Self {
            options,
            iteration,
            end,
            moves,
            weights,
            delayed,
            labels,
        })
    }
}
