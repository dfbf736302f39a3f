//! [`Pipeline`]: everything between raw text and annotations, in one file.

mod annotate;
mod any;
mod card;
mod describer;
mod dump;
mod front;
mod gold;
mod graph;
mod known;
mod labelled;
mod learnable;
mod lists;
mod mismatch;
mod precheck;
mod score;
mod scorer;
mod sequences;
mod stack;
mod train;
mod unused;

pub use annotate::{Annotator, AnnotatorOptions, AnnotatorReport, Described, Impossible};
pub use any::{AnyPipeline, TrainedAny, train_config};
pub use card::{Counts as DataCounts, ModelCard};
pub use describer::{Cut, Describer};
pub use graph::{
    CutCounts, GraphAnnotator, GraphAnnotatorOptions, GraphAnswer, GraphDecoding, GraphLabel, GraphPair,
    GraphPipeline, GraphReport, GraphScores, GraphSpan, GraphTest, ImpossibleInstance, LayerScore,
    TrainedGraph, train_graph,
};
pub(crate) use labelled::labelled_data;
pub use learnable::check_spans;
pub use mismatch::{TokenMismatch, token_mismatch};
pub use precheck::check_config;
pub use score::Scores;
pub use train::{RunOptions, RunSummary, TrainedPipeline, train_pipeline};

use crate::Error;
use crate::config::Config;
use fieldmark_chain::ChainModel;
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_graph::GraphModel;
use fieldmark_text::document::Document;
use front::Front;
use std::path::Path;
use std::sync::Arc;

/// Raw text in, annotations out: sentences, tokens, features, weights and post-processing.
///
/// Make an [`Annotator`] to use it.
#[derive(Debug)]
pub struct Pipeline {
    front: Front,
    /// The model.
    pub chain: ChainModel,
    /// What it is, and what it was trained on.
    pub card: ModelCard,
}

impl Pipeline {
    /// The columns of the input that the model was trained with and that a document lacks: it has learned to look at them,
    /// and its labels are worse without.
    pub fn missing_columns(&self, document: &Document) -> Vec<&str> {
        self.front.missing_columns(&self.card, document)
    }

    /// The config that it was trained with.
    pub fn config(&self) -> &Config {
        &self.front.config
    }

    /// The algorithm that trained it, if it is one whose numbers rank label sequences, but are no probabilities; see
    /// [`Model::learned_from_mistakes`](crate::Model::learned_from_mistakes).
    pub fn learned_from_mistakes(&self) -> Option<&str> {
        crate::model::learned_from_mistakes(&self.chain)
    }

    /// Whether a container holds a pipeline with a chain, and not a model that wants observations or a graph.
    pub fn is_in(container: &Container) -> bool {
        Front::is_in(container) && !GraphModel::is_in(container)
    }

    /// Opens a model file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_container(Arc::new(Container::open(path)?))
    }

    /// A pipeline from an open container.
    pub fn from_container(container: Arc<Container>) -> Result<Self, Error> {
        Ok(Self {
            front: Front::read(&container)?,
            chain: ChainModel::read(&container)?,
            card: ModelCard::read(&container)?,
        })
    }

    /// The pipeline as a container.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.writer().to_bytes()?)
    }

    /// Writes the model file: whole, or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(self.writer().write_to(path)?)
    }

    fn writer(&self) -> ContainerWriter<'_> {
        let mut writer = ContainerWriter::new();
        self.front.write(&mut writer);
        self.card.write(&mut writer);
        self.chain.write(&mut writer);
        writer
    }
}

#[cfg(test)]
mod tests;
