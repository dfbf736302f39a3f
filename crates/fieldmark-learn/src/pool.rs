//! [`Pool`]: sequences, and what is known of their labels so far.

use crate::Error;
use fieldmark_core::{Dataset, DatasetBuilder, Gold, Instance};
use std::ops::Range;
use std::sync::Arc;

/// No answer yet.
const OPEN: u32 = u32::MAX;

/// Sequences of which some labels are known: the set to learn from and to ask about.
///
/// A sequence becomes training material with its first answer and stays in the pool, so that more of it can be
/// asked (Wanvarie et al. 2011). A position that has a label is never asked again.
///
/// Positions are numbered through all sequences, as in the [`Dataset`].
#[derive(Clone, Debug)]
pub struct Pool {
    data: Arc<Dataset>,
    /// Whether the gold sets of the data are known from the start.
    trusted: bool,
    answers: Vec<u32>,
    /// Labelled positions of each sequence.
    labelled: Vec<u32>,
    labelled_positions: usize,
}

impl Pool {
    /// A pool of which nothing is known, whatever gold sets the data have.
    pub fn unlabelled(data: Arc<Dataset>) -> Self {
        Self {
            answers: vec![OPEN; data.positions()],
            labelled: vec![0; data.len()],
            data,
            trusted: false,
            labelled_positions: 0,
        }
    }

    /// A pool in which the gold sets of the data are known. Positions whose set has several labels can be asked.
    pub fn of_gold(data: Arc<Dataset>) -> Self {
        let mut pool = Self {
            trusted: true,
            ..Self::unlabelled(data)
        };
        for sequence in 0..pool.len() {
            let known = pool
                .positions(sequence)
                .filter(|&at| pool.is_labelled(at))
                .count();
            pool.labelled[sequence] = known as u32;
            pool.labelled_positions += known;
        }
        pool
    }

    /// The sequences.
    pub fn data(&self) -> &Arc<Dataset> {
        &self.data
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// A sequence.
    pub fn instance(&self, sequence: usize) -> Instance<'_> {
        self.data.instance(sequence)
    }

    /// The positions of a sequence.
    pub fn positions(&self, sequence: usize) -> Range<usize> {
        self.instance(sequence).positions()
    }

    /// What is known of a position: the answer, or else its gold set if that is trusted.
    pub fn known(&self, position: usize) -> Gold<'_> {
        match self.answers[position] {
            OPEN if self.trusted => self.data.gold(position),
            OPEN => Gold::Unknown,
            label => Gold::Known(label),
        }
    }

    /// Whether the label of a position is known.
    pub fn is_labelled(&self, position: usize) -> bool {
        matches!(self.known(position), Gold::Known(_))
    }

    /// Number of labelled positions.
    pub fn labelled_positions(&self) -> usize {
        self.labelled_positions
    }

    /// Number of labelled positions of a sequence.
    pub fn labelled_of(&self, sequence: usize) -> usize {
        self.labelled[sequence] as usize
    }

    /// Number of sequences with a labelled position.
    pub fn labelled_sequences(&self) -> usize {
        self.labelled.iter().filter(|&&count| count > 0).count()
    }

    /// Whether no position of a sequence is left to ask.
    pub fn is_complete(&self, sequence: usize) -> bool {
        self.labelled_of(sequence) == self.instance(sequence).len()
    }

    /// Records the label of a position, in place of one that it may have had. Returns whether it had none.
    ///
    /// # Errors
    /// When there is no such label.
    ///
    /// # Panics
    /// When the position is not one of the sequence.
    pub fn answer(&mut self, sequence: usize, position: usize, label: u32) -> Result<bool, Error> {
        assert!(self.positions(sequence).contains(&position));
        let labels = self.data.labels.len();
        if label as usize >= labels {
            return Err(Error::UnknownLabel { label, labels });
        }
        let is_new = !self.is_labelled(position);
        self.answers[position] = label;
        self.labelled[sequence] += u32::from(is_new);
        self.labelled_positions += usize::from(is_new);
        Ok(is_new)
    }

    /// Takes an answer back.
    ///
    /// # Panics
    /// When the position is not one of the sequence.
    pub fn forget(&mut self, sequence: usize, position: usize) {
        assert!(self.positions(sequence).contains(&position));
        let before = self.is_labelled(position);
        self.answers[position] = OPEN;
        if before && !self.is_labelled(position) {
            self.labelled[sequence] -= 1;
            self.labelled_positions -= 1;
        }
    }

    /// How far the nearest labelled position of the same sequence is; `None` if there is none.
    ///
    /// # Panics
    /// When the position is not one of the sequence.
    pub fn distance_to_labelled(&self, sequence: usize, position: usize) -> Option<usize> {
        let positions = self.positions(sequence);
        assert!(positions.contains(&position));
        let labelled = positions.filter(|&at| self.is_labelled(at));
        labelled.map(|at| at.abs_diff(position)).min()
    }

    /// The sequences of which something is known, with just that: what there is to train on.
    ///
    /// All others have the same likelihood under every model, 1, and would only take time.
    pub fn training_data(&self) -> Result<Dataset, Error> {
        let data = &self.data;
        let mut builder = DatasetBuilder::with_alphabets(data.labels.clone(), data.observations.clone());
        for sequence in 0..self.len() {
            let positions = self.positions(sequence);
            if positions.clone().all(|at| self.known(at) == Gold::Unknown) {
                continue;
            }
            for position in positions {
                for (id, value) in data.unary.iter(position) {
                    builder.observe(id, value);
                }
                for (id, value) in data.pair.iter(position) {
                    builder.observe_pair(id, value);
                }
                builder.end_position(self.known(position))?;
            }
            builder.end_instance()?;
        }
        Ok(builder.finish_part())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_data;

    #[test]
    fn answers_are_kept_and_taken_back() {
        let data = Arc::new(small_data());
        let mut pool = Pool::unlabelled(data.clone());
        assert_eq!((pool.labelled_positions(), pool.labelled_sequences()), (0, 0));
        assert!(pool.training_data().unwrap().is_empty());
        let second = pool.positions(1);
        assert!(pool.answer(1, second.start + 1, 2).unwrap());
        assert!(!pool.answer(1, second.start + 1, 0).unwrap(), "a correction");
        assert_eq!(pool.known(second.start + 1), Gold::Known(0));
        assert_eq!((pool.labelled_positions(), pool.labelled_of(1)), (1, 1));
        assert_eq!(pool.distance_to_labelled(1, second.start + 3), Some(2));
        assert_eq!(pool.distance_to_labelled(1, second.start), Some(1));
        assert_eq!(pool.distance_to_labelled(0, 0), None);
        assert!(pool.answer(1, second.start, 99).is_err());

        let training = pool.training_data().unwrap();
        assert_eq!((training.len(), training.positions()), (1, second.len()));
        for (t, at) in second.clone().enumerate() {
            assert_eq!(training.gold(t), pool.known(at));
            assert_eq!(training.unary.ids(t), data.unary.ids(at));
            assert_eq!(training.pair.ids(t), data.pair.ids(at));
        }
        pool.forget(1, second.start + 1);
        assert_eq!((pool.labelled_positions(), pool.labelled_of(1)), (0, 0));
        assert_eq!(pool.known(second.start + 1), Gold::Unknown);
    }

    #[test]
    fn gold_can_be_known_from_the_start() {
        let mut builder = DatasetBuilder::new();
        builder.labels = ["A", "B", "C"].iter().collect();
        for gold in [Gold::Known(1), Gold::Unknown, Gold::Ambiguous(&[0, 2])] {
            builder.end_position(gold).unwrap();
        }
        let mut pool = Pool::of_gold(Arc::new(builder.finish()));
        assert_eq!(pool.labelled_positions(), 1);
        assert!(pool.is_labelled(0) && !pool.is_labelled(1) && !pool.is_labelled(2));
        assert_eq!(pool.training_data().unwrap().gold(2), Gold::Ambiguous(&[0, 2]));
        pool.answer(0, 2, 2).unwrap();
        pool.answer(0, 0, 0).unwrap();
        assert_eq!(pool.labelled_positions(), 2);
        pool.forget(0, 2);
        pool.forget(0, 0);
        assert_eq!(pool.known(2), Gold::Ambiguous(&[0, 2]));
        assert_eq!((pool.known(0), pool.labelled_positions()), (Gold::Known(1), 1));
        pool.answer(0, 1, 1).unwrap();
        pool.answer(0, 2, 0).unwrap();
        assert!(pool.is_complete(0));
    }
}
