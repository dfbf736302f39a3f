//! [`Error`]: what can go wrong between a file and a model.

use fieldmark_chain::StructureError;
use fieldmark_core::container::ContainerError;
use fieldmark_core::optimize::OptimizeError;
use fieldmark_text::{ReadError, TemplateError};
use std::path::PathBuf;

/// What can go wrong between a file and a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A template that cannot be understood.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A model or checkpoint file that cannot be opened or written.
    #[error(transparent)]
    File(#[from] ContainerError),
    /// A model that cannot be built from the data.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Options or numbers with which training cannot go on.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// A sequence without an answer.
    #[error(transparent)]
    Inference(#[from] fieldmark_chain::inference::Error),
    /// A graph that cannot be trained.
    #[error(transparent)]
    TrainGraph(#[from] fieldmark_graph::TrainError),
    /// A graph that does not fit its data.
    #[error(transparent)]
    GraphStructure(#[from] fieldmark_graph::StructureError),
    /// Data that a graph cannot have.
    #[error(transparent)]
    GraphData(#[from] fieldmark_graph::DataError),
    /// A graph without an answer.
    #[error(transparent)]
    GraphInference(#[from] fieldmark_graph::Error),
    /// A list of features that cannot work.
    #[error(transparent)]
    Features(#[from] fieldmark_text::features::FeatureError),
    /// A model whose labels are features of another.
    #[error("the model {}, whose labels are a feature: {problem}", file.display())]
    Stacked {
        /// Its name in the config.
        file: PathBuf,
        /// What is wrong with it.
        #[source]
        problem: Box<Error>,
    },
    /// Active learning that cannot go on.
    #[error(transparent)]
    Learn(fieldmark_learn::Error),
    /// An option that contradicts another, the data or the model.
    #[error("{0}")]
    Option(String),
    /// A checkpoint that cannot be read.
    #[error("{0}")]
    DamagedCheckpoint(String),
    /// A checkpoint of another run.
    #[error(
        "the checkpoint belongs to another run: {0}; use the same data and options, or start without --resume"
    )]
    Checkpoint(String),
}

/// What models and optimisers say is told as they say it.
impl From<fieldmark_learn::Error> for Error {
    fn from(error: fieldmark_learn::Error) -> Self {
        match error {
            fieldmark_learn::Error::Structure(error) => error.into(),
            fieldmark_learn::Error::Optimize(error) => error.into(),
            fieldmark_learn::Error::Inference(error) => error.into(),
            fieldmark_learn::Error::File(error) => error.into(),
            fieldmark_learn::Error::Option(problem) => Error::Option(problem),
            other => Error::Learn(other),
        }
    }
}
