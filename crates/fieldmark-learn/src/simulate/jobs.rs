//! [`Experiment`]: all strategies and runs, side by side on several threads.
//!
//! Learning curves do not depend on each other, so each thread draws one of its own: a pass over a few hundred
//! sequences is too short to be shared.

use super::SimulationOptions;
use super::curve::{Curve, Point, Setting, gold_labels};
use super::results::{Results, Settings};
use super::state::State;
use crate::{Error, Fitted, Scores, Strategy, TestSet};
use fieldmark_core::{Alphabet, Dataset};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// Data and options that fit each other.
#[derive(Clone, Debug)]
pub struct Experiment {
    data: Arc<Dataset>,
    gold: Vec<u32>,
    test: TestSet,
    options: SimulationOptions,
}

/// What happens in an experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It begins: so many curves are there already, of so many.
    Started {
        /// Curves that the file had.
        finished: usize,
        /// Curves in all.
        all: usize,
    },
    /// The model that knows all labels was scored.
    FullSupervision(Scores),
    /// A curve has one more point.
    Point {
        /// The strategy.
        strategy: Strategy,
        /// Number of the run, from 0.
        run: usize,
        /// The point.
        point: Point,
    },
    /// A curve is complete, and kept.
    Finished {
        /// The strategy.
        strategy: Strategy,
        /// Number of the run, from 0.
        run: usize,
        /// Curves that are complete.
        finished: usize,
        /// Curves in all.
        all: usize,
    },
}

/// Sees what happens, and may stop it.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event) -> ControlFlow<()>;
}

/// Watches nothing.
impl Observer for () {
    fn event(&mut self, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What a thread has to tell.
enum Message {
    Point(Strategy, usize, Point),
    Finished(Curve),
    Failed(Error),
}

impl Experiment {
    /// An experiment on labelled sequences, scored on others. The test data were read against the alphabets of
    /// the first.
    ///
    /// # Errors
    /// When a label of `data` is not known, the test data have none, or the options are out of their range.
    pub fn new(data: Dataset, test: Dataset, options: SimulationOptions) -> Result<Self, Error> {
        options.check()?;
        Ok(Self {
            gold: gold_labels(&data)?,
            data: Arc::new(data),
            test: TestSet::new(Arc::new(test))?,
            options,
        })
    }

    /// The options.
    pub fn options(&self) -> &SimulationOptions {
        &self.options
    }

    /// Draws all curves, on as many threads as the current rayon pool has.
    ///
    /// With a file, curves that are complete are kept in it: a run that was stopped or killed goes on with the
    /// others, and more strategies or runs can be added to it.
    ///
    /// # Errors
    /// When the file belongs to another experiment, the observer stops it, or training fails.
    pub fn run(&self, file: Option<&Path>, observer: &mut dyn Observer) -> Result<Results, Error> {
        let mut state = State::open(file, self.fingerprint())?;
        let jobs = self.jobs();
        let all = jobs.len();
        let open: Vec<(Strategy, usize)> = jobs
            .iter()
            .copied()
            .filter(|&job| state.find(job).is_none())
            .collect();
        let finished = all - open.len();
        let stopped = |state: &State| Error::Stopped {
            finished: jobs.iter().filter(|&&job| state.find(job).is_some()).count(),
            all,
        };
        if observer.event(&Event::Started { finished, all }).is_break() {
            return Err(stopped(&state));
        }
        let full = match state.full() {
            Some(full) => full,
            None => {
                let full = self.full_supervision()?;
                state.set_full(full)?;
                full
            }
        };
        if observer.event(&Event::FullSupervision(full)).is_break() {
            return Err(stopped(&state));
        }
        let flow = self.draw(&open, &mut state, all, observer)?;
        // Stopped after the last curve, it is complete all the same.
        if flow.is_break() && jobs.iter().any(|&job| state.find(job).is_none()) {
            return Err(stopped(&state));
        }
        Ok(Results {
            settings: Settings::new(&self.options),
            sequences: self.data.len(),
            tokens: self.data.positions(),
            labels: self.data.labels.len(),
            test_sequences: self.test.data().len(),
            test_tokens: self.test.data().positions(),
            full,
            curves: jobs.iter().filter_map(|&job| state.find(job).cloned()).collect(),
        })
    }

    /// Every strategy of the first run, then of the second, and so on.
    fn jobs(&self) -> Vec<(Strategy, usize)> {
        let runs = 0..self.options.runs;
        runs.flat_map(|run| {
            self.options
                .strategies
                .iter()
                .map(move |&strategy| (strategy, run))
        })
        .collect()
    }

    /// The scores of a model that knows all labels.
    fn full_supervision(&self) -> Result<Scores, Error> {
        let data = Dataset::clone(&self.data);
        self.test
            .score(&Fitted::train_on(data, &self.options.learning, None)?)
    }

    fn draw(
        &self,
        jobs: &[(Strategy, usize)],
        state: &mut State,
        all: usize,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>, Error> {
        let threads = rayon::current_num_threads().max(1);
        let workers = threads.min(jobs.len()).max(1);
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                let sender = sender.clone();
                let work = || self.work(jobs, &next, &stop, threads / workers, sender);
                scope.spawn(work);
            }
            drop(sender);
            let mut outcome = Ok(ControlFlow::Continue(()));
            let mut finished = all - jobs.len();
            for message in receiver {
                let event = match message {
                    Message::Failed(error) => Err(error),
                    Message::Point(strategy, run, point) => Ok(Event::Point { strategy, run, point }),
                    Message::Finished(curve) => {
                        finished += 1;
                        let (strategy, run) = (curve.strategy, curve.run);
                        state.add(curve).map(|()| Event::Finished {
                            strategy,
                            run,
                            finished,
                            all,
                        })
                    }
                };
                let flow = event.map(|event| observer.event(&event));
                if !matches!(flow, Ok(ControlFlow::Continue(()))) {
                    stop.store(true, Ordering::Relaxed);
                    // What went wrong first is told, and not what followed from it.
                    if matches!(outcome, Ok(ControlFlow::Continue(()))) {
                        outcome = flow;
                    }
                }
            }
            outcome
        })
    }

    /// What a thread does: one curve after the other.
    fn work(
        &self,
        jobs: &[(Strategy, usize)],
        next: &AtomicUsize,
        stop: &AtomicBool,
        threads: usize,
        sender: mpsc::Sender<Message>,
    ) {
        let setting = Setting {
            data: &self.data,
            gold: &self.gold,
            test: &self.test,
            options: &self.options,
        };
        let flow = || match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool,
            Err(error) => {
                let problem = format!("cannot start threads: {error}");
                let _ = sender.send(Message::Failed(Error::Option(problem)));
                return;
            }
        };
        while let Some(&(strategy, run)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if flow().is_break() {
                return;
            }
            let observe = |point: &Point| {
                // Nobody listens any more only when everything was stopped.
                let _ = sender.send(Message::Point(strategy, run, *point));
                flow()
            };
            let message = match pool.install(|| setting.simulate(strategy, run, observe)) {
                Ok(Some(curve)) => Message::Finished(curve),
                Ok(None) => return,
                Err(error) => Message::Failed(error),
            };
            let _ = sender.send(message);
        }
    }

    /// The same for experiments whose curves can stand side by side.
    fn fingerprint(&self) -> u64 {
        let SimulationOptions {
            strategies: _,
            runs: _,
            unit,
            initial_tokens,
            batch,
            iterations,
            seed,
            similarity,
            n_best,
            learning,
        } = &self.options;
        let choices = format!(
            "{unit} {initial_tokens} {batch} {iterations} {seed} {similarity:?} {n_best} {learning:?}"
        );
        let (data, test) = (self.data.fingerprint(), self.test.data().fingerprint());
        Alphabet::hash(&format!("{data:016x} {test:016x} {choices}"))
    }
}
