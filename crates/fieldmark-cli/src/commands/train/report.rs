//! `--report`: the figures of a run as JSON.

use crate::failure::Failure;
use crate::memory;
use crate::progress::{Event, Figures, Watcher};
use fieldmark::Trained;
use fieldmark::core::Dataset;
use fieldmark::core::container::atomic_write;
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
        } = self;
        write!(
            f,
            "{sequences} sequences, {tokens} tokens, {labels} labels, {observations} observations, read in \
             {read_seconds:.2} s; {threads} {}",
            if *threads == 1 { "thread" } else { "threads" }
        )
    }
}

/// What the file holds.
#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    #[serde(flatten)]
    size: &'a Size,
    features: usize,
    active_features: usize,
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
    stop: String,
    best_iteration: Option<u64>,
    iterations: Vec<Figures>,
}

impl Run {
    pub fn of(trained: &Trained) -> Self {
        Self {
            features: trained.features,
            active_features: trained.model.active(),
            stop: trained.stop.to_string(),
            best_iteration: trained.best,
            iterations: trained.iterations.iter().map(Figures::new).collect(),
        }
    }

    /// Writes the report: whole, or not at all.
    pub fn write(self, path: &Path, size: &Size, watcher: &Watcher<'_>) -> Result<(), Failure> {
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            size,
            features: self.features,
            active_features: self.active_features,
            prepare_seconds: watcher.prepared.map_or(0.0, |(_, seconds)| seconds),
            peak_rss_bytes: memory::peak(),
            stop: self.stop,
            best_iteration: self.best_iteration,
            iterations: self.iterations,
        };
        let mut text = serde_json::to_string_pretty(&report)?;
        text.push('\n');
        atomic_write(path, |file| file.write_all(text.as_bytes()))
            .map_err(|error| Failure::writing(path, error))
    }
}
