//! [`Pipeline`]: everything between raw text and annotations, in one file.

mod annotate;
mod card;
mod dump;
mod gold;
mod known;
mod labelled;
mod lists;
mod mismatch;
mod score;
mod scorer;
mod sequences;
mod stack;
mod train;
mod unused;

pub use annotate::{Annotator, AnnotatorOptions, AnnotatorReport, Described, Impossible};
pub use card::{Counts as DataCounts, ModelCard};
pub(crate) use labelled::labelled_data;
pub use mismatch::{TokenMismatch, token_mismatch};
pub use score::Scores;
pub use train::{RunSummary, TrainedPipeline, train_pipeline};

use crate::Error;
use crate::config::Config;
use fieldmark_chain::ChainModel;
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_text::features::{Extractor, Preprocessor, Resources};
use fieldmark_text::tokenize::Tokenizer;
use sequences::Cutter;
use stack::Stack;
use std::path::Path;
use std::sync::Arc;

/// Raw text in, annotations out: sentences, tokens, features, weights and post-processing.
///
/// Make an [`Annotator`] to use it.
#[derive(Debug)]
pub struct Pipeline {
    config: Config,
    /// The model.
    pub chain: ChainModel,
    extractor: Extractor,
    cutter: Cutter,
    resources: Resources,
    stack: Stack,
    /// What it is, and what it was trained on.
    pub card: ModelCard,
}

/// The section that holds the config.
const CONFIG: &str = "config";

/// The section that holds the model card.
const CARD: &str = "card";

/// The section that names the files that the config names, whose contents have sections of their own.
const RESOURCES: &str = "resources";

fn resource(index: usize) -> String {
    format!("resource.{index}")
}

impl Pipeline {
    /// A pipeline from its parts.
    fn new(config: Config, chain: ChainModel, resources: Resources, card: ModelCard) -> Result<Self, Error> {
        Ok(Self {
            extractor: extractor(&config, &resources)?,
            cutter: Cutter::new(&config.text),
            stack: Stack::new(&config, &resources)?,
            config,
            chain,
            resources,
            card,
        })
    }

    /// The config that it was trained with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The algorithm that trained it, if it is one whose numbers rank label sequences, but are no probabilities; see
    /// [`Model::learned_from_mistakes`](crate::Model::learned_from_mistakes).
    pub fn learned_from_mistakes(&self) -> Option<&str> {
        crate::model::learned_from_mistakes(&self.chain)
    }

    /// Whether a container holds a pipeline, and not a model that wants observations.
    pub fn is_in(container: &Container) -> bool {
        container.has(CONFIG)
    }

    /// Opens a model file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_container(Arc::new(Container::open(path)?))
    }

    /// A pipeline from an open container.
    pub fn from_container(container: Arc<Container>) -> Result<Self, Error> {
        let text = container.str(CONFIG)?;
        let config = Config::parse(text, &[])
            .map_err(|error| container.wrong_section(CONFIG, error.to_string(), "a config"))?;
        let mut resources = Resources::default();
        let names = container.str(RESOURCES)?;
        for (index, name) in names.lines().enumerate() {
            resources.insert(name, container.section(&resource(index))?.to_vec());
        }
        let card = serde_json::from_str(container.str(CARD)?)
            .map_err(|error| container.wrong_section(CARD, error.to_string(), "a model card"))?;
        Self::new(config, ChainModel::read(&container)?, resources, card)
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
        writer.add_str(CONFIG, self.config.to_toml());
        // Its fields are numbers and text.
        writer.add_str(CARD, serde_json::to_string(&self.card).unwrap_or_default());
        let names: Vec<&str> = self.resources.iter().map(|(name, _)| name).collect();
        writer.add_str(RESOURCES, names.join("\n"));
        for (index, (_, content)) in self.resources.iter().enumerate() {
            writer.add_section(&resource(index), content);
        }
        self.chain.write(&mut writer);
        writer
    }
}

fn extractor(config: &Config, resources: &Resources) -> Result<Extractor, Error> {
    if config.features.is_empty() {
        return Err(Error::Option(
            "the config has no features: add at least `[[features]]` with `kind = \"word\"`".into(),
        ));
    }
    let preprocessor = Preprocessor {
        tokenizer: Tokenizer::new(config.text.tokenizer.clone()),
        normalizer: config.text.normalize.clone(),
    };
    Ok(Extractor::new(
        &config.features,
        config.window,
        preprocessor,
        resources,
    )?)
}

#[cfg(test)]
mod tests;
