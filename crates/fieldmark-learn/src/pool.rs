//! [`Pool`]: sequences, and what is known of their labels so far.

use crate::Error;
use fieldmark_core::{Alphabet, Dataset, DatasetBuilder, Gold, Instance};
use std::ops::Range;
use std::sync::Arc;

/// No answer yet.
const OPEN: u32 = u32::MAX;
/// Codes from here up are indices into the table of label sets: of answers,
const FIRST_ANSWER: u32 = 1 << 31;
/// and of positions that are not answered, but cannot have every label.
const FIRST_LIMIT: u32 = 3 << 30;

/// Sequences of which some labels are known: the set to learn from and to ask about.
///
/// A sequence becomes training material with its first answer and stays in the pool, so that more of it can be
/// asked (Wanvarie et al. 2011). A position that has a label is never asked again. An answer may leave a choice:
/// a set of labels, of which one is right.
///
/// Positions are numbered through all sequences, as in the [`Dataset`].
#[derive(Clone, Debug)]
pub struct Pool {
    data: Arc<Dataset>,
    labels: Alphabet,
    /// Whether the gold sets of the data are known from the start.
    trusted: bool,
    answers: Vec<u32>,
    /// The label sets that codes stand for.
    sets: Vec<Box<[u32]>>,
    /// Sequences to test on.
    aside: Vec<bool>,
    /// Labelled positions of each sequence.
    labelled: Vec<u32>,
    labelled_positions: usize,
}

impl Pool {
    /// A pool of which nothing is known, whatever gold sets the data have.
    pub fn unlabelled(data: Arc<Dataset>) -> Self {
        let labels = data.labels.clone();
        Self::with_labels(data, labels)
    }

    /// A pool of which nothing is known, with labels of its own.
    pub fn with_labels(data: Arc<Dataset>, labels: Alphabet) -> Self {
        Self {
            answers: vec![OPEN; data.positions()],
            labelled: vec![0; data.len()],
            aside: vec![false; data.len()],
            sets: Vec::new(),
            data,
            labels,
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

    /// The labels: those of the data, and those that were added.
    pub fn labels(&self) -> &Alphabet {
        &self.labels
    }

    /// Adds a label, and gives its number. Models that were trained before do without it.
    pub fn add_label(&mut self, name: &str) -> u32 {
        self.labels.intern(name)
    }

    /// Sets a sequence aside, to test models on: it is neither asked about nor learned from.
    pub fn set_aside(&mut self, sequence: usize) {
        self.aside[sequence] = true;
    }

    /// Whether a sequence is there to test models on.
    pub fn is_aside(&self, sequence: usize) -> bool {
        self.aside[sequence]
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
            code if code >= FIRST_LIMIT => Gold::Ambiguous(&self.sets[(code - FIRST_LIMIT) as usize]),
            code if code >= FIRST_ANSWER => Gold::Ambiguous(&self.sets[(code - FIRST_ANSWER) as usize]),
            label => Gold::Known(label),
        }
    }

    /// Whether a position has been answered, or its label is known from the start.
    pub fn is_labelled(&self, position: usize) -> bool {
        match self.answers[position] {
            OPEN => matches!(self.known(position), Gold::Known(_)),
            code => code < FIRST_LIMIT,
        }
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
        self.answer_one_of(sequence, position, &[label])
    }

    /// Records that a position has one of some labels, in any order. It counts as labelled.
    ///
    /// # Errors
    /// When there is no label, or no such label.
    ///
    /// # Panics
    /// When the position is not one of the sequence.
    pub fn answer_one_of(&mut self, sequence: usize, position: usize, labels: &[u32]) -> Result<bool, Error> {
        let code = self.encode(labels, FIRST_ANSWER)?;
        let is_new = !self.is_labelled(position);
        self.write(sequence, position, code);
        Ok(is_new)
    }

    /// Records that a position can only have some labels, which is no answer yet: it may still be asked. An answer that
    /// it has had is gone.
    ///
    /// # Errors
    /// When there is no label, or no such label.
    ///
    /// # Panics
    /// When the position is not one of the sequence.
    pub fn limit(&mut self, sequence: usize, position: usize, labels: &[u32]) -> Result<(), Error> {
        let code = self.encode(labels, FIRST_LIMIT)?;
        self.write(sequence, position, code);
        Ok(())
    }

    fn encode(&mut self, labels: &[u32], first: u32) -> Result<u32, Error> {
        let all = self.labels.len();
        let mut set = labels.to_vec();
        set.sort_unstable();
        set.dedup();
        match set[..] {
            [] => return Err(fieldmark_core::dataset::DatasetError::EmptyLabelSet.into()),
            [.., label] if label as usize >= all => return Err(Error::UnknownLabel { label, labels: all }),
            [label] if first == FIRST_ANSWER => return Ok(label),
            _ => {}
        }
        let found = self.sets.iter().position(|known| **known == set[..]);
        let index = found.unwrap_or_else(|| {
            self.sets.push(set.into_boxed_slice());
            self.sets.len() - 1
        });
        Ok(first + index as u32)
    }

    fn write(&mut self, sequence: usize, position: usize, code: u32) {
        assert!(self.positions(sequence).contains(&position));
        let before = usize::from(self.is_labelled(position));
        self.answers[position] = code;
        let after = usize::from(self.is_labelled(position));
        self.labelled[sequence] = self.labelled[sequence] + after as u32 - before as u32;
        self.labelled_positions = self.labelled_positions + after - before;
    }

    /// Takes an answer back.
    ///
    /// # Panics
    /// When the position is not one of the sequence.
    pub fn forget(&mut self, sequence: usize, position: usize) {
        self.write(sequence, position, OPEN);
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
        self.training_data_of(|sequence| !self.aside[sequence])
    }

    /// The same of some sequences, whether they are set aside or not.
    pub fn training_data_of(&self, wanted: impl Fn(usize) -> bool) -> Result<Dataset, Error> {
        self.part(|sequence| {
            wanted(sequence) && self.positions(sequence).any(|at| self.known(at) != Gold::Unknown)
        })
    }

    /// The sequences that are set aside and completely labelled, with what is known of them: what there is to test on.
    ///
    /// An answer may have left a choice, such as where a span of a known type begins: that says less about a model, but
    /// what it says is true, and to leave such sequences out would leave out those with spans. Sequences with open
    /// positions are not tested on: people mark spans before they say what is outside, and models that find too many
    /// would not be caught.
    pub fn test_data(&self) -> Result<Dataset, Error> {
        let known = |at: usize| matches!(self.known(at), Gold::Known(_));
        self.part(|sequence| {
            self.aside[sequence] && self.is_complete(sequence) && self.positions(sequence).any(known)
        })
    }

    fn part(&self, wanted: impl Fn(usize) -> bool) -> Result<Dataset, Error> {
        let data = &self.data;
        let mut builder = DatasetBuilder::with_alphabets(self.labels.clone(), data.observations.clone());
        for sequence in (0..self.len()).filter(|&sequence| wanted(sequence)) {
            for position in self.positions(sequence) {
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

    #[test]
    fn answers_may_leave_a_choice() {
        let data = Arc::new(small_data());
        let mut pool = Pool::unlabelled(data);
        let second = pool.positions(1);
        assert!(pool.answer_one_of(1, second.start, &[2, 0, 2]).unwrap());
        assert_eq!(pool.known(second.start), Gold::Ambiguous(&[0, 2]));
        assert!(pool.is_labelled(second.start), "it is not asked again");
        pool.limit(1, second.start + 1, &[1, 2]).unwrap();
        assert_eq!(pool.known(second.start + 1), Gold::Ambiguous(&[1, 2]));
        assert!(!pool.is_labelled(second.start + 1), "it may be asked");
        assert_eq!((pool.labelled_positions(), pool.labelled_of(1)), (1, 1));
        pool.limit(1, second.start, &[0, 2]).unwrap();
        assert_eq!((pool.labelled_positions(), pool.labelled_of(1)), (0, 0));
        pool.answer(1, second.start + 1, 1).unwrap();
        assert_eq!(pool.known(second.start + 1), Gold::Known(1));
        let training = pool.training_data().unwrap();
        assert_eq!(training.gold(0), Gold::Ambiguous(&[0, 2]));
        assert!(pool.answer_one_of(1, second.start, &[]).is_err());
        assert!(pool.limit(1, second.start, &[0, 3]).is_err());
    }

    #[test]
    fn labels_can_be_added() {
        let mut pool = Pool::unlabelled(Arc::new(small_data()));
        assert!(pool.answer(0, 0, 3).is_err());
        assert_eq!(pool.add_label("B-NEW"), 3);
        pool.answer(0, 0, 3).unwrap();
        let training = pool.training_data().unwrap();
        assert_eq!(training.labels.name(3), "B-NEW");
        assert_eq!(training.gold(0), Gold::Known(3));
    }

    #[test]
    fn a_sequence_with_a_choice_is_tested_on_and_one_with_an_open_position_is_not() {
        let mut pool = Pool::unlabelled(Arc::new(small_data()));
        pool.set_aside(1);
        let positions = pool.positions(1);
        pool.limit(1, positions.start, &[1, 2]).unwrap();
        for position in positions.clone().skip(1) {
            pool.answer_one_of(1, position, &[0, 1]).unwrap();
        }
        assert!(pool.test_data().unwrap().is_empty(), "the first position is open");
        pool.answer_one_of(1, positions.start, &[1, 2]).unwrap();
        assert!(
            pool.test_data().unwrap().is_empty(),
            "there is a choice everywhere"
        );
        pool.answer(1, positions.start, 1).unwrap();
        let test = pool.test_data().unwrap();
        assert_eq!(test.positions(), positions.len());
        assert_eq!(test.gold(1), Gold::Ambiguous(&[0, 1]));
    }

    #[test]
    fn what_is_set_aside_is_for_tests() {
        let mut pool = Pool::unlabelled(Arc::new(small_data()));
        pool.set_aside(0);
        for position in pool.positions(0) {
            assert!(pool.test_data().unwrap().is_empty(), "not complete");
            pool.answer(0, position, 1).unwrap();
        }
        assert_eq!(pool.test_data().unwrap().positions(), pool.positions(0).len());
        assert!(pool.training_data().unwrap().is_empty());
        assert_eq!(pool.training_data_of(|_| true).unwrap().len(), 1);
    }
}
