//! [`Stack`]: other pipelines whose labels are features.

use super::graph::GraphAnnotator;
use super::sequences::Sentences;
use super::{Annotator, AnyPipeline};
use crate::Error;
use crate::config::Config;
use fieldmark_core::container::Container;
use fieldmark_text::features::{FeatureConfig, Resources};
use std::sync::Arc;

/// The pipelines that a list of features names, by the name of their entry.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pipelines: Vec<(String, AnyPipeline)>,
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

    /// The columns that its pipelines were trained with, and that are neither among these nor labels of one before.
    pub fn missing_of(&self, given: &[String]) -> Vec<&str> {
        let mut given = given.to_vec();
        let mut missing = Vec::new();
        for (name, pipeline) in &self.pipelines {
            missing.extend(pipeline.front().missing_of(pipeline.card(), &given));
            given.push(name.clone());
        }
        missing
    }

    /// Gets ready to label sentences.
    pub fn labellers(&self) -> Labellers<'_> {
        Labellers {
            stack: self,
            ready: Vec::new(),
        }
    }
}

fn open(bytes: Vec<u8>) -> Result<AnyPipeline, Error> {
    let container = Container::from_bytes(bytes)?;
    if !AnyPipeline::is_in(&container) {
        let problem = "it is a model of observations, expected one that was trained with a config";
        return Err(Error::Option(problem.to_owned()));
    }
    AnyPipeline::from_container(Arc::new(container))
}

/// The pipelines of a [`Stack`] at work.
pub(super) struct Labellers<'p> {
    stack: &'p Stack,
    /// Made when they are needed first, which may fail.
    ready: Vec<Labeller<'p>>,
}

enum Labeller<'p> {
    Chain(Box<Annotator<'p>>),
    Graph(Box<GraphAnnotator<'p>>),
}

impl<'p> Labeller<'p> {
    fn new(pipeline: &'p AnyPipeline) -> Result<Self, Error> {
        Ok(match pipeline {
            AnyPipeline::Chain(pipeline) => Labeller::Chain(Box::new(pipeline.annotator())),
            AnyPipeline::Graph(pipeline) => Labeller::Graph(Box::new(pipeline.annotator()?)),
        })
    }

    /// The label of every token, sentence by sentence; with several layers, all of them joined.
    fn label(&mut self, text: &str, sentences: &mut Sentences<'_>) -> Result<Vec<Vec<String>>, Error> {
        match self {
            Labeller::Chain(annotator) => {
                annotator.look_up(text, sentences)?;
                let labels = annotator.label_sentences(text, sentences)?;
                let owned = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect();
                Ok(labels.into_iter().map(owned).collect())
            }
            Labeller::Graph(annotator) => annotator.label_sentences(text, sentences),
        }
    }
}

impl<'p> Labellers<'p> {
    /// Lets every pipeline label the sentences; each is a column, which the next one may look at.
    ///
    /// What a pipeline lets others label for itself is nobody else's column: theirs may have the same names.
    pub fn add_columns(&mut self, text: &str, sentences: &mut Sentences<'_>) -> Result<(), Error> {
        let Stack { pipelines } = self.stack;
        if self.ready.len() < pipelines.len() {
            let ready: Result<_, Error> = pipelines
                .iter()
                .map(|(_, pipeline)| Labeller::new(pipeline))
                .collect();
            self.ready = ready?;
        }
        for ((name, _), labeller) in pipelines.iter().zip(&mut self.ready) {
            let own = sentences.extra.len();
            let labels = labeller.label(text, sentences)?;
            sentences.extra.truncate(own);
            sentences.extra.push((name.clone(), labels));
        }
        Ok(())
    }
}
