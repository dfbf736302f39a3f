//! [`Models`]: what is served, by name.

use super::answer::{Layer, ModelAnswer};
use crate::http::ApiError;
use fieldmark::core::container::Container;
use fieldmark::graph::Per;
use fieldmark::text::document::Document;
use fieldmark::{AnyPipeline, Error};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The models of a server. The first is the one that answers if a request names none.
#[derive(Debug)]
pub struct Models {
    all: Vec<Served>,
}

/// A model with its name, and what it has done.
#[derive(Debug)]
pub(super) struct Served {
    pub name: String,
    pub pipeline: AnyPipeline,
    pub counts: Counts,
}

/// What a model has done since the server was started.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub texts: AtomicU64,
    pub bytes: AtomicU64,
    pub spans: AtomicU64,
    pub failures: AtomicU64,
}

/// Why models cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is none.
    #[error("there is no model to serve")]
    None,
    /// Two have the same name.
    #[error(
        "two models are called {name}: {} and {}. Give one of them another name, as OTHER=FILE",
        first.display(),
        second.display()
    )]
    SameName {
        /// The name.
        name: String,
        /// The file of one.
        first: PathBuf,
        /// The file of the other.
        second: PathBuf,
    },
    /// A name that does not fit into an address.
    #[error("a model cannot be called {0:?}: use letters, digits, - _ and . for its name")]
    Name(String),
    /// A model that does not read text.
    #[error(
        "{}: this model reads attributes or columns, and a server is asked about texts. Train a model with a config (see \
         `fieldmark init`), or use this one with `fieldmark tag`",
        .0.display()
    )]
    NoText(PathBuf),
    /// A file that is no model, or a damaged one.
    #[error(transparent)]
    File(#[from] Error),
}

impl Models {
    /// Opens model files, each with a name.
    pub fn open<N: Into<String>, P: AsRef<Path>>(
        files: impl IntoIterator<Item = (N, P)>,
    ) -> Result<Self, OpenError> {
        let mut opened: Vec<(String, PathBuf, AnyPipeline)> = Vec::new();
        for (name, path) in files {
            let (name, path) = (name.into(), path.as_ref());
            check_name(&name)?;
            if let Some((_, first, _)) = opened.iter().find(|(other, ..)| *other == name) {
                return Err(OpenError::SameName {
                    name,
                    first: first.clone(),
                    second: path.to_owned(),
                });
            }
            let container = Arc::new(Container::open(path).map_err(Error::from)?);
            if !AnyPipeline::is_in(&container) {
                return Err(OpenError::NoText(path.to_owned()));
            }
            opened.push((name, path.to_owned(), AnyPipeline::from_container(container)?));
        }
        Self::new(opened.into_iter().map(|(name, _, pipeline)| (name, pipeline)))
    }

    /// Of each model that was trained with columns of its input, which texts do not have: its name and these columns.
    pub fn missing_columns(&self) -> Vec<(&str, Vec<&str>)> {
        let text = Document::default();
        let models = self
            .all
            .iter()
            .map(|served| (served.name.as_str(), served.pipeline.missing_columns(&text)));
        models.filter(|(_, columns)| !columns.is_empty()).collect()
    }

    /// Models that are open already. Their names are different.
    pub fn new(models: impl IntoIterator<Item = (String, AnyPipeline)>) -> Result<Self, OpenError> {
        let all: Vec<Served> = models
            .into_iter()
            .map(|(name, pipeline)| Served {
                name,
                pipeline,
                counts: Counts::default(),
            })
            .collect();
        match all.is_empty() {
            true => Err(OpenError::None),
            false => Ok(Self { all }),
        }
    }

    /// The names, the default first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|model| model.name.as_str())
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn all(&self) -> &[Served] {
        &self.all
    }

    /// The number of the model that a request names, or of the default.
    pub(super) fn find(&self, name: Option<&str>) -> Result<usize, ApiError> {
        let Some(name) = name else {
            return Ok(0);
        };
        let found = self.all.iter().position(|model| model.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            ApiError::not_found(format_args!(
                "there is no model {name:?} on this server; it has {}",
                names.join(", ")
            ))
        })
    }

    /// What there is to know about each.
    pub(super) fn answers(&self) -> Vec<ModelAnswer> {
        let mut answers: Vec<ModelAnswer> = self.all.iter().map(Served::answer).collect();
        if let Some(first) = answers.first_mut() {
            first.default = true;
        }
        answers
    }
}

fn check_name(name: &str) -> Result<(), OpenError> {
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    match !name.is_empty() && name.chars().all(plain) {
        true => Ok(()),
        false => Err(OpenError::Name(name.to_owned())),
    }
}

impl Served {
    fn answer(&self) -> ModelAnswer {
        let card = self.pipeline.card();
        let layers = match &self.pipeline {
            AnyPipeline::Chain(pipeline) => vec![Layer {
                name: pipeline.config().labels.column.clone().unwrap_or_default(),
                marks: match pipeline.config().labels.column {
                    Some(_) => "tokens",
                    None => "spans",
                },
                labels: pipeline.chain.labels().iter().map(str::to_owned).collect(),
            }],
            AnyPipeline::Graph(pipeline) => {
                let layers = pipeline.layers().iter().enumerate();
                layers
                    .map(|(number, layer)| Layer {
                        name: layer.name.clone(),
                        marks: match layer.per {
                            Per::Instance => "texts",
                            Per::Position if layer.has_spans() => "spans",
                            Per::Position => "tokens",
                        },
                        labels: pipeline.model.labels(number).iter().map(str::to_owned).collect(),
                    })
                    .collect()
            }
        };
        ModelAnswer {
            name: self.name.clone(),
            default: false,
            kind: match self.pipeline {
                AnyPipeline::Chain(_) => "chain",
                AnyPipeline::Graph(_) => "graph",
            },
            title: card.name.clone(),
            description: card.description.clone(),
            trained: card.date.clone(),
            types: card.data.spans.keys().cloned().collect(),
            layers,
            probabilities: self.fits_probabilities(),
        }
    }

    fn fits_probabilities(&self) -> bool {
        match &self.pipeline {
            AnyPipeline::Chain(pipeline) => pipeline.learned_from_mistakes().is_none(),
            AnyPipeline::Graph(_) => true,
        }
    }
}
