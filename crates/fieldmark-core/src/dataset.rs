//! [`Dataset`]: sequences of observations with gold label sets, in a few flat arrays.

mod builder;
mod gold;
mod observations;
#[cfg(test)]
mod tests;

pub use builder::DatasetBuilder;
pub use gold::{Gold, GoldSets};
pub use observations::{Observations, Observed, StepEnd};

use crate::Alphabet;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// Sequences for training or tagging: observations and gold label sets.
///
/// Positions of all instances are numbered through; [`Dataset::instance`] gives the range of one.
/// `unary` observations describe a position, `pair` observations the step into a position from the one
/// before it (CRF++'s `B` templates); both draw their ids from [`Dataset::observations`].
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Names of the labels.
    pub labels: Alphabet,
    /// Names of the observations.
    pub observations: Alphabet,
    /// Observations of positions.
    pub unary: Observations,
    /// Observations of steps between neighbouring positions.
    pub pair: Observations,
    gold: GoldSets,
    borders: Vec<u32>,
}

/// One sequence of a [`Dataset`].
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// The data set that it belongs to.
    pub dataset: &'a Dataset,
    start: usize,
    end: usize,
}

impl<'a> Instance<'a> {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The positions in the numbering of the data set.
    pub fn positions(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The gold set of the `t`-th position.
    pub fn gold(&self, t: usize) -> Gold<'a> {
        self.dataset.gold(self.start + t)
    }

    /// Whether every position is known.
    pub fn fully_labelled(&self) -> bool {
        self.positions()
            .all(|t| matches!(self.dataset.gold(t), Gold::Known(_)))
    }
}

impl Dataset {
    /// Number of instances.
    pub fn len(&self) -> usize {
        self.borders.len() - 1
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of positions in all instances.
    pub fn positions(&self) -> usize {
        self.gold.len()
    }

    /// The instance with this index.
    pub fn instance(&self, index: usize) -> Instance<'_> {
        Instance {
            dataset: self,
            start: self.borders[index] as usize,
            end: self.borders[index + 1] as usize,
        }
    }

    /// All instances in order.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = Instance<'_>> {
        (0..self.len()).map(|index| self.instance(index))
    }

    /// The gold set of a position.
    pub fn gold(&self, position: usize) -> Gold<'_> {
        self.gold.get(position)
    }

    /// Ends the data set and hands over the gold sets of all positions.
    pub fn into_gold(self) -> GoldSets {
        self.gold
    }

    /// Describes every step by the observations of one of its ends ("enriched bigrams").
    ///
    /// Replaces the pair observations. The first position of an instance has no step into it.
    pub fn observe_steps(&mut self, end: StepEnd) {
        let instances = self.instances().map(|instance| instance.positions());
        self.pair = self.unary.of_steps(end, instances);
    }

    /// A hash of names, observations, labels and borders: equal for equal data.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        for alphabet in [&self.labels, &self.observations] {
            for name in alphabet.iter() {
                hash.update(name.as_bytes());
                hash.update(&[0xff]);
            }
        }
        self.unary.hash_into(&mut hash);
        self.pair.hash_into(&mut hash);
        let (codes, sets) = self.gold.numbers();
        for numbers in [codes, &self.borders].into_iter().chain(sets) {
            numbers
                .iter()
                .for_each(|number| hash.update(&number.to_le_bytes()));
        }
        hash.digest()
    }

    /// Frees the observations of all positions; their names, the gold sets and the instances stay.
    pub fn forget_observations(&mut self) {
        self.unary = Observations::default();
        self.pair = Observations::default();
    }

    /// Bytes of memory in use, names included.
    pub fn memory(&self) -> usize {
        self.labels.memory()
            + self.observations.memory()
            + self.unary.memory()
            + self.pair.memory()
            + self.gold.memory()
            + self.borders.capacity() * 4
    }
}

/// What a data set cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DatasetError {
    /// More than 2^32 - 1 observations in all.
    #[error(
        "a data set holds at most {} observations in all positions together",
        u32::MAX
    )]
    TooManyObservations,
    /// More than 2^32 - 1 positions in all.
    #[error("a data set holds at most {} positions", u32::MAX)]
    TooManyPositions,
    /// A gold set without a label.
    #[error("a position must allow at least one label")]
    EmptyLabelSet,
}
