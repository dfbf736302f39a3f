//! [`Stack`]: other pipelines whose labels are features.

use super::sequences::Sentences;
use super::{Annotator, Pipeline};
use crate::Error;
use crate::config::Config;
use fieldmark_core::container::Container;
use fieldmark_text::features::{FeatureConfig, Resources};
use std::sync::Arc;

/// The pipelines that a list of features names, by the name of their entry.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pipelines: Vec<(String, Pipeline)>,
}

impl Stack {
    pub fn new(config: &Config, resources: &Resources) -> Result<Self, Error> {
        let mut pipelines = Vec::new();
        for feature in &config.features {
            if let FeatureConfig::Model(model) = feature {
                let bytes = resources.bytes(&model.file)?.to_vec();
                let pipeline = open(bytes).map_err(|problem| Error::Stacked {
                    file: model.file.clone(),
                    problem: Box::new(problem),
                })?;
                pipelines.push((feature.name(), pipeline));
            }
        }
        Ok(Self { pipelines })
    }

    /// Gets ready to label sentences.
    pub fn labellers(&self) -> Labellers<'_> {
        let labellers = self.pipelines.iter();
        Labellers(
            labellers
                .map(|(name, pipeline)| (name.as_str(), pipeline.annotator()))
                .collect(),
        )
    }
}

fn open(bytes: Vec<u8>) -> Result<Pipeline, Error> {
    let container = Container::from_bytes(bytes)?;
    if !Pipeline::is_in(&container) {
        let problem = "it is a model of observations, expected one that was trained with a config";
        return Err(Error::Option(problem.to_owned()));
    }
    Pipeline::from_container(Arc::new(container))
}

/// The pipelines of a [`Stack`] at work.
pub(super) struct Labellers<'p>(Vec<(&'p str, Annotator<'p>)>);

impl Labellers<'_> {
    /// Lets every pipeline label the sentences; each is a column, which the next one may look at.
    ///
    /// What a pipeline lets others label for itself is nobody else's column: theirs may have the same names.
    pub fn add_columns(&mut self, text: &str, sentences: &mut Sentences<'_>) -> Result<(), Error> {
        for (name, annotator) in &mut self.0 {
            let own = sentences.extra.len();
            annotator.look_up(text, sentences)?;
            let labels = annotator.label_sentences(text, sentences)?;
            sentences.extra.truncate(own);
            let labels = labels
                .into_iter()
                .map(|labels| labels.into_iter().map(str::to_owned).collect());
            sentences.extra.push(((*name).to_owned(), labels.collect()));
        }
        Ok(())
    }
}
