//! `--report`: the figures of a run as JSON.

use crate::failure::Failure;
use crate::memory;
use crate::progress::{Event, Figures, Watcher};
use fieldmark::core::container::atomic_write;
use fieldmark::core::{Dataset, Gold};
use fieldmark::{RunSummary, Trained, TrainedAny};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// How much data there are, and how long it took to read them.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    read_seconds: f64,
    sequences: usize,
    tokens: usize,
    labels: usize,
    observations: usize,
    threads: usize,
    /// The loss of a model that knows nothing; infinite if it was not computed.
    #[serde(skip)]
    pub blank_loss: f64,
}

impl Size {
    pub fn of(data: &Dataset, read_seconds: f64, threads: usize) -> Self {
        Self {
            read_seconds,
            sequences: data.len(),
            tokens: data.positions(),
            labels: data.labels.len(),
            observations: data.observations.len(),
            threads,
            blank_loss: blank_loss(data),
        }
    }

    /// The same of documents.
    pub fn of_documents(run: &RunSummary, read_seconds: f64, threads: usize) -> Self {
        Self {
            read_seconds,
            sequences: run.sequences,
            tokens: run.tokens,
            labels: run.labels,
            observations: run.observations,
            threads,
            blank_loss: f64::INFINITY,
        }
    }

    pub fn event(&self) -> Event<'static> {
        let &Self {
            read_seconds,
            sequences,
            tokens,
            labels,
            ..
        } = self;
        Event::Read {
            seconds: read_seconds,
            sequences,
            tokens,
            labels,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            read_seconds,
            sequences,
            tokens,
            labels,
            observations,
            threads,
            blank_loss: _,
        } = self;
        let of = |count: &usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        write!(
            f,
            "{}, {}, {}, {}, read in {read_seconds:.2} s; {}",
            of(sequences, "sequence"),
            of(tokens, "token"),
            of(labels, "label"),
            of(observations, "observation"),
            of(threads, "thread")
        )
    }
}

/// Σ ln(labels / allowed labels): every label sequence is as likely as every other.
fn blank_loss(data: &Dataset) -> f64 {
    let labels = data.labels.len();
    let allowed = |t: usize| match data.gold(t) {
        Gold::Known(_) => 1,
        Gold::Ambiguous(set) => set.len(),
        Gold::Unknown => labels,
    };
    (0..data.positions())
        .map(|t| (labels as f64 / allowed(t) as f64).ln())
        .sum()
}

/// What the file holds.
#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    #[serde(flatten)]
    size: &'a Size,
    features: usize,
    active_features: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_weights: Option<usize>,
    prepare_seconds: f64,
    peak_rss_bytes: Option<u64>,
    stop: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_iteration: Option<u64>,
    iterations: Vec<Figures>,
}

/// The figures of training, taken before the model is saved.
pub struct Run {
    features: usize,
    active_features: usize,
    warm_weights: Option<usize>,
    stop: String,
    best_iteration: Option<u64>,
    iterations: Vec<Figures>,
}

impl Run {
    pub fn of(trained: &Trained) -> Self {
        Self {
            features: trained.features,
            active_features: trained.model.active(),
            warm_weights: trained.warm,
            stop: trained.stop.to_string(),
            best_iteration: trained.best,
            iterations: trained.iterations.iter().map(Figures::new).collect(),
        }
    }

    /// The same of a run with a config; `warm` is how many weights it took over.
    pub fn of_config(trained: &TrainedAny, warm: Option<usize>) -> Self {
        let run = &trained.run;
        Self {
            features: run.features,
            active_features: trained.pipeline.active(),
            warm_weights: warm,
            stop: run.stop.to_string(),
            best_iteration: run.best,
            iterations: run.iterations.iter().map(Figures::new).collect(),
        }
    }

    /// Writes the report: whole, or not at all.
    pub fn write(self, path: &Path, size: &Size, watcher: &Watcher<'_>) -> Result<(), Failure> {
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            size,
            features: self.features,
            active_features: self.active_features,
            warm_weights: self.warm_weights,
            prepare_seconds: watcher.prepared.map_or(0.0, |(_, seconds)| seconds),
            peak_rss_bytes: memory::peak(),
            stop: self.stop,
            best_iteration: self.best_iteration,
            iterations: self.iterations,
        };
        let mut text = serde_json::to_string_pretty(&report)?;
        text.push('\n');
        atomic_write(path, |file| file.write_all(text.as_bytes())).map_err(Failure::user)
    }
}
