//! [`Ranking`]: all open tokens of a pool in the order of a strategy, kept up to date answer by answer.
//!
//! Every sequence is estimated once. The best token of each waits in a heap; after an answer only its sequence
//! is estimated again, so that the next question costs one forward–backward pass and not one for each sequence
//! of the pool.

use crate::strategy::random_key;
use crate::{Error, Estimate, Estimator, Fitted, Pool, Strategy};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A token, or the sequence that it is in, whose label would help.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The sequence in the pool.
    pub sequence: usize,
    /// The position in the sequence. Of a strategy that asks for sequences it is the first that is open.
    pub position: usize,
    /// The key of the strategy, which it was chosen for being smallest.
    pub key: f64,
}

/// How tokens are ranked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankingOptions {
    /// The strategy.
    pub strategy: Strategy,
    /// Decides what [`Strategy::Random`] asks.
    pub seed: u64,
    /// The N of [`Strategy::NBestEntropy`].
    pub n_best: usize,
}

impl RankingOptions {
    /// A strategy with the usual numbers.
    pub fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            seed: 0,
            n_best: 10,
        }
    }
}

/// The best token of a sequence.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    question: Question,
    /// It is out of date when the sequence has a newer one.
    stamp: u32,
}

impl Ord for Candidate {
    /// The greatest has the smallest key; among equals the first sequence and position.
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, other) = (&self.question, &other.question);
        let places = (other.sequence, other.position).cmp(&(own.sequence, own.position));
        other.key.total_cmp(&own.key).then(places)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Marks positions that are not to be asked.
const CLOSED: f64 = f64::NAN;

/// The open tokens of a pool in the order of a strategy.
///
/// Asking takes a sequence out; [`Ranking::answered`] or [`Ranking::pass`] puts it back.
#[derive(Clone, Debug)]
pub struct Ranking {
    options: RankingOptions,
    /// The key of each position, [`CLOSED`] where it may not be asked.
    keys: Vec<f64>,
    heap: BinaryHeap<Candidate>,
    stamps: Vec<u32>,
}

impl Ranking {
    /// Estimates every sequence of a pool, on the threads of the current rayon pool.
    pub fn new(pool: &Pool, model: &Fitted, options: RankingOptions) -> Result<Self, Error> {
        /// Sequences in the care of one task.
        const TASK: usize = 64;
        if options.strategy == Strategy::NBestEntropy && options.n_best == 0 {
            return Err(Error::Option(
                "the entropy of 0 best sequences tells nothing".into(),
            ));
        }
        let mut keys = vec![CLOSED; pool.data().positions()];
        let mut rest = &mut keys[..];
        let mut tasks = Vec::with_capacity(pool.len().div_ceil(TASK));
        for first in (0..pool.len()).step_by(TASK) {
            let sequences = first..(first + TASK).min(pool.len());
            let start = pool.positions(sequences.start).start;
            let (own, others) = rest.split_at_mut(pool.positions(sequences.end - 1).end - start);
            rest = others;
            tasks.push((sequences, own));
        }
        tasks.into_par_iter().try_for_each_init(
            || (Estimator::new(model), Estimate::default()),
            |(estimator, estimate), (sequences, mut keys)| {
                for sequence in sequences {
                    let (own, rest) = keys.split_at_mut(pool.instance(sequence).len());
                    keys = rest;
                    options.rank(pool, sequence, estimator, estimate, own)?;
                }
                Ok::<(), Error>(())
            },
        )?;
        let mut ranking = Self {
            options,
            keys,
            heap: BinaryHeap::new(),
            stamps: vec![0; pool.len()],
        };
        let candidates = (0..pool.len()).filter_map(|sequence| ranking.best_of(pool, sequence));
        ranking.heap = candidates.collect::<Vec<_>>().into();
        Ok(ranking)
    }

    /// The options.
    pub fn options(&self) -> &RankingOptions {
        &self.options
    }

    /// The key of each position of the pool, NaN where nothing is to be asked.
    pub fn keys(&self) -> &[f64] {
        &self.keys
    }

    /// The next question; `None` when nothing is left to ask.
    pub fn ask(&mut self) -> Option<Question> {
        while let Some(candidate) = self.heap.pop() {
            if candidate.stamp == self.stamps[candidate.question.sequence] {
                return Some(candidate.question);
            }
        }
        None
    }

    /// The best question of those about positions that are wanted, in sequences that are wanted; both by their numbers in
    /// the pool. All sequences stay where they are: who asks several people wants others of each.
    pub fn ask_where(
        &mut self,
        pool: &Pool,
        sequence: impl Fn(usize) -> bool,
        position: impl Fn(usize) -> bool,
    ) -> Option<Question> {
        let mut seen = Vec::new();
        let mut best: Option<Candidate> = None;
        while let Some(next) = self.heap.peek() {
            // The rest of the heap is no better.
            if best.is_some_and(|best| best >= *next) {
                break;
            }
            let Some(next) = self.heap.pop() else { break };
            let number = next.question.sequence;
            if next.stamp != self.stamps[number] {
                continue;
            }
            seen.push(next);
            if sequence(number) {
                best = best.max(self.best_where(pool, number, &position));
            }
        }
        self.heap.extend(seen);
        best.map(|candidate| candidate.question)
    }

    /// Estimates a sequence anew after answers about it.
    pub fn answered(
        &mut self,
        pool: &Pool,
        sequence: usize,
        estimator: &mut Estimator<'_>,
    ) -> Result<(), Error> {
        let keys = &mut self.keys[pool.positions(sequence)];
        self.options
            .rank(pool, sequence, estimator, &mut Estimate::default(), keys)?;
        self.put_back(pool, sequence);
        Ok(())
    }

    /// Puts keys in place that were found elsewhere, see [`RankingOptions::keys`].
    ///
    /// # Panics
    /// When there are not as many as the sequence has positions.
    pub fn set_keys(&mut self, pool: &Pool, sequence: usize, keys: &[f64]) {
        self.keys[pool.positions(sequence)].copy_from_slice(keys);
        self.put_back(pool, sequence);
    }

    /// Leaves a question out, until its sequence is estimated again.
    pub fn pass(&mut self, pool: &Pool, question: &Question) {
        self.keys[pool.positions(question.sequence).start + question.position] = CLOSED;
        self.put_back(pool, question.sequence);
    }

    fn put_back(&mut self, pool: &Pool, sequence: usize) {
        self.stamps[sequence] = self.stamps[sequence].wrapping_add(1);
        self.heap.extend(self.best_of(pool, sequence));
    }

    fn best_of(&self, pool: &Pool, sequence: usize) -> Option<Candidate> {
        self.best_where(pool, sequence, |_| true)
    }

    fn best_where(&self, pool: &Pool, sequence: usize, wanted: impl Fn(usize) -> bool) -> Option<Candidate> {
        let positions = pool.positions(sequence);
        let open = self.keys[positions.clone()]
            .iter()
            .enumerate()
            .filter(|(at, key)| !key.is_nan() && wanted(positions.start + at));
        let (position, &key) = open.min_by(|one, other| one.1.total_cmp(other.1))?;
        Some(Candidate {
            question: Question {
                sequence,
                position,
                key,
            },
            stamp: self.stamps[sequence],
        })
    }
}

impl RankingOptions {
    /// The keys of the positions of one sequence, as a ranking has them after [`Ranking::answered`]: NaN where nothing is to
    /// be asked.
    pub fn keys(
        &self,
        pool: &Pool,
        sequence: usize,
        estimator: &mut Estimator<'_>,
    ) -> Result<Vec<f64>, Error> {
        let mut keys = vec![CLOSED; pool.positions(sequence).len()];
        self.rank(pool, sequence, estimator, &mut Estimate::default(), &mut keys)?;
        Ok(keys)
    }

    /// The keys of the positions of one sequence.
    fn rank(
        &self,
        pool: &Pool,
        sequence: usize,
        estimator: &mut Estimator<'_>,
        estimate: &mut Estimate,
        keys: &mut [f64],
    ) -> Result<(), Error> {
        keys.fill(CLOSED);
        if pool.is_complete(sequence) || pool.is_aside(sequence) {
            return Ok(());
        }
        let positions = pool.positions(sequence);
        let needs = self.strategy.needs(self.n_best);
        if self.strategy != Strategy::Random {
            estimator.run(pool, sequence, needs, estimate)?;
        }
        let open = positions.enumerate().filter(|&(_, at)| !pool.is_labelled(at));
        for (t, at) in open {
            if self.strategy.asks_sequences() {
                keys[t] = self.strategy.sequence_key(estimate);
                break;
            }
            keys[t] = match self.strategy {
                Strategy::Random => random_key(self.seed, at),
                strategy => strategy.token_key(estimate, t),
            };
        }
        Ok(())
    }
}
