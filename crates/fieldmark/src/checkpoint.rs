//! [`Checkpoint`]: the state of training, saved so that a run can be taken up again.

use crate::Error;
use crate::training::Progress;
use fieldmark_core::container::{Container, ContainerError, ContainerErrorKind, ContainerWriter};
use fieldmark_core::optimize::Iteration;
use fieldmark_graph::Convergence;
use std::path::Path;
use std::time::Duration;

/// How often a checkpoint is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// After so many iterations.
    Iterations(u64),
    /// After the first iteration that ends so long after the last checkpoint.
    Time(Duration),
}

impl Interval {
    pub(crate) fn is_due(self, iteration: u64, since: Duration) -> bool {
        match self {
            Interval::Iterations(every) => iteration.is_multiple_of(every.max(1)),
            Interval::Time(every) => since >= every,
        }
    }
}

/// Whether a file is a checkpoint of training.
pub fn is_checkpoint(path: &Path) -> bool {
    Container::open(path).is_ok_and(|container| container.has(FINGERPRINT))
}

const FINGERPRINT: &str = "checkpoint.fingerprint";

/// What training knows besides the optimiser.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Checkpoint {
    pub(crate) iterations: Vec<Progress>,
    pub(crate) best: Option<Best>,
}

/// The weights with the best development score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Best {
    pub(crate) score: f64,
    pub(crate) iteration: u64,
    pub(crate) weights: Vec<f64>,
}

/// Numbers kept of each iteration.
const RECORD: usize = 12;

impl Checkpoint {
    /// Keeps the weights when their score is the best so far; of equal ones, the first.
    pub(crate) fn judge(&mut self, score: f64, iteration: u64, weights: Vec<f64>) {
        if self.best.as_ref().is_none_or(|best| score > best.score) {
            self.best = Some(Best {
                score,
                iteration,
                weights,
            });
        }
    }

    /// The number of the last iteration.
    pub(crate) fn done(&self) -> u64 {
        self.iterations
            .last()
            .map_or(0, |progress| progress.iteration.iteration)
    }

    /// Iterations since the best score.
    pub(crate) fn without_progress(&self) -> u64 {
        let last = self.done();
        self.best
            .as_ref()
            .map_or(0, |best| last - best.iteration.min(last))
    }

    /// Writes the file: whole, or not at all.
    pub(crate) fn save(&self, path: &Path, fingerprint: u64, optimizer: &[u8]) -> Result<(), Error> {
        let mut writer = ContainerWriter::new();
        writer.add_u64s(FINGERPRINT, vec![fingerprint]);
        writer.add_section("checkpoint.optimizer", optimizer);
        let mut records = Vec::with_capacity(self.iterations.len() * RECORD);
        for progress in &self.iterations {
            let Iteration {
                iteration,
                loss,
                gradient_norm,
                x_norm,
                active,
                step,
                evaluations,
            } = progress.iteration;
            let dev = progress.dev.unwrap_or(f64::NAN);
            let seconds = progress.seconds;
            let (iteration, active, evaluations) = (iteration as f64, active as f64, evaluations as f64);
            let Convergence {
                answers,
                converged,
                iterations,
            } = progress.convergence.unwrap_or_default();
            let record = [
                iteration,
                loss,
                gradient_norm,
                x_norm,
                active,
                step,
                evaluations,
                dev,
                seconds,
                answers as f64,
                converged as f64,
                iterations as f64,
            ];
            records.extend_from_slice(&record);
        }
        writer.add_f64s("checkpoint.iterations", records);
        if let Some(best) = &self.best {
            writer.add_f64s("checkpoint.best", vec![best.score, best.iteration as f64]);
            writer.add_f64s("checkpoint.best_weights", &best.weights[..]);
        }
        Ok(writer.write_to(path)?)
    }

    /// The optimiser's bytes and the rest of the state; `None` when there is no file.
    ///
    /// The model in training has `weights` weights.
    pub(crate) fn load(
        path: &Path,
        fingerprint: u64,
        weights: usize,
    ) -> Result<Option<(Vec<u8>, Self)>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        Self::read(path, fingerprint, weights)
            .map(Some)
            .map_err(|error| match error {
                Error::File(error) => Error::DamagedCheckpoint(in_words(path, &error)),
                other => other,
            })
    }

    fn read(path: &Path, fingerprint: u64, weights: usize) -> Result<(Vec<u8>, Self), Error> {
        let container = Container::open(path)?;
        if container.u64s(FINGERPRINT)?[..] != [fingerprint] {
            return Err(Error::Checkpoint(format!(
                "{} has other data or options",
                path.display()
            )));
        }
        let records = container.f64s("checkpoint.iterations")?;
        let iterations = records.chunks_exact(RECORD).map(|record| {
            let &[
                iteration,
                loss,
                gradient_norm,
                x_norm,
                active,
                step,
                evaluations,
                dev,
                seconds,
                answers,
                converged,
                rounds,
            ] = record
            else {
                unreachable!("chunks have the length of a record")
            };
            let iteration = Iteration {
                iteration: iteration as u64,
                loss,
                gradient_norm,
                x_norm,
                active: active as usize,
                step,
                evaluations: evaluations as u64,
            };
            Progress {
                iteration,
                dev: (!dev.is_nan()).then_some(dev),
                seconds,
                convergence: (answers > 0.0).then_some(Convergence {
                    answers: answers as u64,
                    converged: converged as u64,
                    iterations: rounds as u64,
                }),
            }
        });
        let best = if container.has("checkpoint.best") {
            let &[score, iteration] = &container.f64s("checkpoint.best")?[..] else {
                return Err(container
                    .wrong_section("checkpoint.best", "other numbers", "two numbers")
                    .into());
            };
            let best = container.f64s("checkpoint.best_weights")?.into_owned();
            if best.len() != weights {
                let found = format!("{} weights", best.len());
                let expected = format!("one for each of {weights} features");
                return Err(container
                    .wrong_section("checkpoint.best_weights", found, expected)
                    .into());
            }
            Some(Best {
                score,
                iteration: iteration as u64,
                weights: best,
            })
        } else {
            None
        };
        let state = Self {
            iterations: iterations.collect(),
            best,
        };
        Ok((container.section("checkpoint.optimizer")?.to_vec(), state))
    }
}

/// The error of a container, for a file that is meant to be a checkpoint.
fn in_words(file: &Path, error: &ContainerError) -> String {
    let path = file.display();
    let advice = "delete it to start from the beginning";
    let found = error.found();
    match error.kind() {
        ContainerErrorKind::Damaged => {
            let detail = found.split_once(": ").map_or(found, |(_, detail)| detail);
            format!(
                "{path}: the checkpoint is damaged: {detail}; expected {}; {advice}",
                error.expected()
            )
        }
        ContainerErrorKind::Io => format!("{path}: {found}; expected a checkpoint; {advice}"),
        ContainerErrorKind::Section if !is_checkpoint(file) => {
            format!("{path}: this is no checkpoint but another file of fieldmark; {advice}")
        }
        _ => format!("{path}: {found}; expected a checkpoint of fieldmark; {advice}"),
    }
}
