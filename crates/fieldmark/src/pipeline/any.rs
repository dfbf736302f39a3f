//! [`AnyPipeline`]: a pipeline with a chain or with a graph, as its config says.

use super::front::Front;
use super::graph::{GraphPipeline, train_graph};
use super::train::{RunOptions, RunSummary, train_pipeline};
use super::{ModelCard, Pipeline};
use crate::Error;
use crate::config::Config;
use crate::training::Observer;
use fieldmark_core::container::Container;
use fieldmark_text::document::Document;
use fieldmark_text::formats::Notices;
use std::path::Path;
use std::sync::Arc;

/// A pipeline with a chain or with a graph.
#[derive(Debug)]
pub enum AnyPipeline {
    /// With a chain.
    Chain(Box<Pipeline>),
    /// With a model of any structure.
    Graph(Box<GraphPipeline>),
}

impl AnyPipeline {
    /// Whether a container holds one, and not a model that wants observations.
    pub fn is_in(container: &Container) -> bool {
        Pipeline::is_in(container) || GraphPipeline::is_in(container)
    }

    /// A pipeline from an open container.
    pub fn from_container(container: Arc<Container>) -> Result<Self, Error> {
        if GraphPipeline::is_in(&container) {
            GraphPipeline::from_container(container).map(|graph| AnyPipeline::Graph(Box::new(graph)))
        } else {
            Pipeline::from_container(container).map(|chain| AnyPipeline::Chain(Box::new(chain)))
        }
    }

    /// Writes the model file: whole, or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        match self {
            AnyPipeline::Chain(pipeline) => pipeline.save(path),
            AnyPipeline::Graph(pipeline) => pipeline.save(path),
        }
    }

    /// The config that it was trained with.
    pub fn config(&self) -> &Config {
        match self {
            AnyPipeline::Chain(pipeline) => pipeline.config(),
            AnyPipeline::Graph(pipeline) => pipeline.config(),
        }
    }

    /// The columns of the input that the model was trained with and that a document lacks; see
    /// [`Pipeline::missing_columns`].
    pub fn missing_columns(&self, document: &Document) -> Vec<&str> {
        match self {
            AnyPipeline::Chain(pipeline) => pipeline.missing_columns(document),
            AnyPipeline::Graph(pipeline) => pipeline.missing_columns(document),
        }
    }

    pub(super) fn front(&self) -> &Front {
        match self {
            AnyPipeline::Chain(pipeline) => &pipeline.front,
            AnyPipeline::Graph(pipeline) => &pipeline.front,
        }
    }

    /// What it is, and what it was trained on.
    pub fn card(&self) -> &ModelCard {
        match self {
            AnyPipeline::Chain(pipeline) => &pipeline.card,
            AnyPipeline::Graph(pipeline) => &pipeline.card,
        }
    }

    /// Number of weights that are not zero.
    pub fn active(&self) -> usize {
        match self {
            AnyPipeline::Chain(pipeline) => pipeline.chain.active(),
            AnyPipeline::Graph(pipeline) => pipeline.model.active(),
        }
    }
}

/// A trained pipeline of either kind, and how training went.
#[derive(Debug)]
pub struct TrainedAny {
    /// The pipeline.
    pub pipeline: AnyPipeline,
    /// How training went, without the model itself.
    pub run: RunSummary,
    /// What of the data could not be used as it was.
    pub notices: Notices,
}

/// Trains what a config describes; see [`train_pipeline`] and [`train_graph`].
pub fn train_config(
    config: &Config,
    folder: &Path,
    documents: &[Document],
    dev: &[Document],
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<TrainedAny, Error> {
    if config.graph.is_some() {
        let trained = train_graph(config, folder, documents, dev, options, observer)?;
        return Ok(TrainedAny {
            pipeline: AnyPipeline::Graph(Box::new(trained.pipeline)),
            run: trained.run,
            notices: trained.notices,
        });
    }
    let trained = train_pipeline(config, folder, documents, dev, options, observer)?;
    Ok(TrainedAny {
        pipeline: AnyPipeline::Chain(Box::new(trained.pipeline)),
        run: trained.run,
        notices: trained.notices,
    })
}
