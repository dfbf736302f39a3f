//! [`Error`]: why learning cannot go on.

use fieldmark_chain::StructureError;
use fieldmark_core::container::ContainerError;
use fieldmark_core::dataset::DatasetError;
use fieldmark_core::optimize::OptimizeError;
use std::path::PathBuf;

/// Why learning cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model that cannot be built from what is labelled.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Options or numbers with which training cannot go on.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// A sequence without an answer.
    #[error(transparent)]
    Inference(#[from] fieldmark_chain::inference::Error),
    /// More data than can be numbered.
    #[error(transparent)]
    Data(#[from] DatasetError),
    /// An option that contradicts another or the data.
    #[error("{0}")]
    Option(String),
    /// A label that does not exist.
    #[error("label {label} does not exist: there are {labels}")]
    UnknownLabel {
        /// The label.
        label: u32,
        /// Number of labels.
        labels: usize,
    },
    /// The state of a simulation that cannot be written.
    #[error(transparent)]
    File(#[from] ContainerError),
    /// The state of a simulation that cannot be read.
    #[error("{}: {problem}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// The observer stopped it.
    #[error("stopped after {finished} of {all} learning curves")]
    Stopped {
        /// Learning curves that are complete.
        finished: usize,
        /// How many there would have been.
        all: usize,
    },
}
