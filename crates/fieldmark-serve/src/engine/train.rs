//! Training in the background.
//!
//! A thread waits until there are enough new answers, or until people rest. It copies what is known, trains from the last
//! weights, ranks all sentences and scores what is held out, all without holding anything that an answer needs; then it
//! puts model and order in place, and estimates anew what has changed in the meantime.

use super::Engine;
use super::curve::{Point, TypeScore};
use super::state::State;
use crate::project::{Error, Settings, now};
use fieldmark::core::{Alphabet, Gold};
use fieldmark::learn::{Estimator, Fitted, LearnOptions, Pool, Ranking, RankingOptions, Strategy, TestSet};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Fewer new answers than a batch are learned from after so long without an answer.
const REST: Duration = Duration::from_secs(3);

/// The thread that trains. It ends when this is dropped.
pub struct Trainer {
    engine: Arc<Engine>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Trainer {
    fn drop(&mut self) {
        self.engine.stop();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// What is known at some time, to learn from.
pub(super) struct Job {
    pool: Pool,
    last: Option<Arc<Fitted>>,
    learning: LearnOptions,
    ranking: RankingOptions,
    generation: u64,
    answers: usize,
    /// Tokens to learn from that people labelled.
    given: usize,
    /// A fingerprint of how it is learned from.
    setup: u64,
    /// A fingerprint of the part that is held out.
    part: u64,
}

/// What came out of it.
struct Outcome {
    model: Fitted,
    ranking: Ranking,
    warm: bool,
    point: Option<Point>,
}

/// Threads for work in the background: one processor is left for answers.
pub(super) struct Threads(Option<rayon::ThreadPool>);

impl Threads {
    pub fn new() -> Self {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = all.saturating_sub(1).max(1);
        Self(rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok())
    }

    /// Works in these threads; where the system has none to give, in those that there are.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }
}

impl Engine {
    /// Trains in the background from now on.
    pub fn start(self: &Arc<Self>) -> Result<Trainer, Error> {
        let engine = self.clone();
        let thread = std::thread::Builder::new()
            .name("training".to_owned())
            .spawn(move || engine.train_for_ever())?;
        Ok(Trainer {
            engine: self.clone(),
            thread: Some(thread),
        })
    }

    fn train_for_ever(&self) {
        let threads = Threads::new();
        while let Some(job) = self.next_job() {
            self.train(&threads, job);
        }
    }

    /// Trains once, now, whatever there is to learn.
    pub fn train_now(&self) {
        let job = {
            let mut state = self.state();
            self.job(&mut state)
        };
        self.train(&Threads::new(), job);
    }

    /// Waits for something to learn; `None` at the end.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if self.is_stopped() {
                return None;
            }
            let rested = state.last_answer.elapsed() >= REST;
            if state.fresh >= state.settings.batch || (state.fresh > 0 && rested) {
                return Some(self.job(&mut state));
            }
            let waited = self.wake.wait_timeout(state, REST);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn job(&self, state: &mut State) -> Job {
        state.fresh = 0;
        state.touched.clear();
        self.learned().model.training = true;
        self.tell(state);
        Job {
            pool: state.pool.clone(),
            last: state.warm.then(|| state.model.clone()),
            learning: state.learning.clone(),
            ranking: RankingOptions {
                seed: state.settings.seed,
                ..RankingOptions::new(state.settings.strategy)
            },
            generation: state.generation,
            answers: state.answers(),
            given: state.given_by_people(),
            setup: Alphabet::hash(&state.describer.config().to_toml()),
            part: {
                let Settings {
                    held_out,
                    held_out_sentences,
                    seed,
                    ..
                } = state.settings;
                Alphabet::hash(&format!("{held_out} {held_out_sentences} {seed}"))
            },
        }
    }

    pub(super) fn train(&self, threads: &Threads, job: Job) {
        let started = Instant::now();
        let result = threads.install(|| job.run());
        let seconds = started.elapsed().as_secs_f64();
        let mut state = self.state();
        let (mut problem, mut unranked) = (None, Vec::new());
        match result {
            Ok(result) if state.generation == job.generation => {
                match self.install(&mut state, result, &job) {
                    Ok(rest) => unranked = rest,
                    Err(error) => problem = Some(error.to_string()),
                }
            }
            // Labels or documents have other numbers now: what was learned fits nothing.
            Ok(_) => state.fresh = state.fresh.max(1),
            Err(error) => problem = Some(error.to_string()),
        }
        {
            let mut learned = self.learned();
            learned.model.training = false;
            learned.model.seconds = seconds;
            learned.model.problem = problem;
        }
        self.tell(&state);
        drop(state);
        if let Err(error) = self.rank_rest(&unranked) {
            self.learned().model.problem = Some(error.to_string());
        }
    }

    /// Ranks sentences of which many have changed at once, without holding anything that an answer needs.
    pub(super) fn rank_rest(&self, sequences: &[usize]) -> Result<(), Error> {
        if sequences.is_empty() {
            return Ok(());
        }
        let (pool, model, options, generation) = {
            let state = self.state();
            let options = *state.ranking.options();
            (state.pool.clone(), state.model.clone(), options, state.generation)
        };
        let mut estimator = Estimator::new(&model);
        for &sequence in sequences {
            let keys = options.keys(&pool, sequence, &mut estimator)?;
            let mut state = self.state();
            if state.generation != generation || !Arc::ptr_eq(&state.model, &model) {
                // A newer model ranks everything.
                return Ok(());
            }
            let State {
                pool: now, ranking, ..
            } = &mut *state;
            let same =
                |at: usize| pool.known(at) == now.known(at) && pool.is_labelled(at) == now.is_labelled(at);
            // What was answered in the meantime was ranked then.
            if pool.positions(sequence).all(same) {
                ranking.set_keys(now, sequence, &keys);
            }
        }
        Ok(())
    }

    /// Puts a model in place. Returns the sentences that changed in the meantime and are yet to be ranked.
    fn install(&self, state: &mut State, result: Outcome, job: &Job) -> Result<Vec<usize>, Error> {
        state.model = Arc::new(result.model);
        state.ranking = result.ranking;
        state.warm = result.warm;
        let touched: Vec<usize> = state.touched.iter().copied().collect();
        let unranked = state.rank_some(touched)?;
        let mut learned = self.learned();
        learned.model.version += 1;
        let is_new = |point: &Point| learned.curve.last().is_none_or(|last| !point.repeats(last));
        if let Some(point) = result.point.filter(is_new) {
            let json = serde_json::to_string(&point).unwrap_or_default();
            let stored =
                state
                    .project
                    .store_mut()
                    .add_point(job.pool.labelled_positions(), job.answers, &json);
            learned.curve.push(point);
            stored?;
        }
        Ok(unranked)
    }
}

impl Job {
    fn run(&self) -> Result<Outcome, Error> {
        let model = Fitted::train(&self.pool, &self.learning, self.last.as_deref())?;
        // A model that has never seen a span has nothing to ask.
        let warm = (0..self.pool.len())
            .filter(|&sequence| !self.pool.is_aside(sequence) && self.pool.labelled_of(sequence) > 0)
            .flat_map(|sequence| self.pool.positions(sequence))
            .any(|position| match self.pool.known(position) {
                Gold::Known(label) => label != 0,
                Gold::Ambiguous(labels) => !labels.contains(&0),
                Gold::Unknown => false,
            });
        let options = match warm {
            true => self.ranking,
            false => RankingOptions {
                strategy: Strategy::Random,
                ..self.ranking
            },
        };
        let ranking = Ranking::new(&self.pool, &model, options)?;
        let test = self.pool.test_data()?;
        let point = match test.is_empty() {
            true => None,
            false => Some(self.score(&model, TestSet::new(Arc::new(test))?)?),
        };
        Ok(Outcome {
            model,
            ranking,
            warm,
            point,
        })
    }

    /// Tokens with an answer, without those that are held out.
    fn learned(&self) -> usize {
        let sequences = (0..self.pool.len()).filter(|&sequence| !self.pool.is_aside(sequence));
        sequences.map(|sequence| self.pool.labelled_of(sequence)).sum()
    }

    /// A fingerprint of the answers, everything that is known, which part of it is held out, and how it is learned from: the
    /// same for the same answers, however often the program is started. (FNV-1a; Fowler, Noll & Vo 1991.)
    fn knowledge(&self) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325u64;
        let mut add = |code: u64| hash = (hash ^ code).wrapping_mul(0x0100_0000_01B3);
        add(self.setup);
        // Answers that say what was known already belong into the curve as well: they brought nothing.
        add(self.answers as u64);
        self.pool
            .labels()
            .iter()
            .for_each(|name| add(Alphabet::hash(name)));
        for sequence in 0..self.pool.len() {
            add(u64::from(self.pool.is_aside(sequence)));
            for position in self.pool.positions(sequence) {
                match self.pool.known(position) {
                    Gold::Unknown => add(0),
                    Gold::Known(label) => add(u64::from(label) + 1),
                    Gold::Ambiguous(labels) => {
                        add(1 << 32);
                        labels.iter().for_each(|&label| add(u64::from(label)));
                    }
                }
            }
        }
        hash
    }

    fn score(&self, model: &Fitted, test: TestSet) -> Result<Point, Error> {
        let (scores, types) = test.score_types(model)?;
        Ok(Point {
            time: now(),
            labels: self.pool.labelled_positions(),
            answers: self.answers,
            learned: Some(self.learned()),
            given: Some(self.given),
            knowledge: Some(self.knowledge()),
            part: Some(self.part),
            token_f1: scores.token_f1,
            span_f1: scores.span_f1.unwrap_or(0.0),
            sentences: test.data().len(),
            tokens: test.data().positions(),
            types: types
                .into_iter()
                .map(|(name, counts)| TypeScore {
                    name,
                    gold: counts.gold,
                    found: counts.found,
                    correct: counts.correct,
                })
                .collect(),
        })
    }
}
