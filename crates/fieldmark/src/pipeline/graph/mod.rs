//! [`GraphPipeline`]: as [`Pipeline`](super::Pipeline), with a model of any structure in the place of a chain.

mod annotate;
mod answer;
mod confidence;
mod describe;
mod gold;
mod hidden;
mod infer;
mod instances;
mod lacking;
mod marks;
mod numbers;
mod place;
mod score;
mod told;
mod train;

pub use annotate::{GraphAnnotator, GraphAnnotatorOptions};
pub use answer::{
    CutCounts, GraphAnswer, GraphDecoding, GraphLabel, GraphPair, GraphReport, GraphSpan, ImpossibleInstance,
};
pub use score::{GraphScores, GraphTest, LayerScore};
pub use train::{TrainedGraph, train_graph};

use super::ModelCard;
use super::front::Front;
use crate::Error;
use crate::config::{Config, LayerConfig};
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_graph::{EngineChoice, GraphModel};
use fieldmark_text::document::Document;
use std::path::Path;
use std::sync::Arc;

/// Raw text in, labels in several layers out.
///
/// Make a [`GraphAnnotator`] to use it.
#[derive(Debug)]
pub struct GraphPipeline {
    pub(super) front: Front,
    layers: Vec<LayerConfig>,
    /// The model.
    pub model: GraphModel,
    /// What it is, and what it was trained on.
    pub card: ModelCard,
}

impl GraphPipeline {
    pub(super) fn new(front: Front, model: GraphModel, card: ModelCard) -> Result<Self, Error> {
        let Some(graph) = &front.config.graph else {
            return Err(Error::Option(
                "the config of a graph has no section `graph`".into(),
            ));
        };
        let layers = graph.layers(&front.config.labels);
        let same = layers.iter().map(|layer| (&layer.name, layer.per)).eq(model
            .description()
            .layers
            .iter()
            .map(|layer| (&layer.name, layer.per)));
        if !same {
            return Err(Error::Option("the model has other layers than its config".into()));
        }
        Ok(Self {
            layers,
            front,
            model,
            card,
        })
    }

    /// The columns of the input that the model was trained with and that a document lacks; see
    /// [`Pipeline::missing_columns`](crate::Pipeline::missing_columns).
    pub fn missing_columns(&self, document: &Document) -> Vec<&str> {
        self.front.missing_columns(&self.card, document)
    }

    /// The config that it was trained with.
    pub fn config(&self) -> &Config {
        &self.front.config
    }

    /// The kinds of labels.
    pub fn layers(&self) -> &[LayerConfig] {
        &self.layers
    }

    /// Whether it marks spans in some layer.
    pub fn has_spans(&self) -> bool {
        self.layers.iter().any(LayerConfig::has_spans)
    }

    /// The engine of its config.
    pub fn inference(&self) -> EngineChoice {
        let graph = self.front.config.graph.as_ref();
        graph.map(|graph| graph.inference.clone()).unwrap_or_default()
    }

    /// What to warn of when an engine is used with this model.
    pub fn warning_of(&self, choice: &EngineChoice) -> Option<String> {
        told::stuck_sampler(self.model.structure(), choice)
    }

    /// Whether a container holds one.
    pub fn is_in(container: &Container) -> bool {
        Front::is_in(container) && GraphModel::is_in(container)
    }

    /// Opens a model file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_container(Arc::new(Container::open(path)?))
    }

    /// A pipeline from an open container.
    pub fn from_container(container: Arc<Container>) -> Result<Self, Error> {
        Self::new(
            Front::read(&container)?,
            GraphModel::read(&container)?,
            ModelCard::read(&container)?,
        )
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
        self.model.write(&mut writer);
        writer
    }
}

#[cfg(test)]
mod tests;
