//! [`Describer`]: documents described one after the other, for models that learn while texts and labels come in.

use super::card::{Counts, ModelCard, today};
use super::front::Front;
use super::lists::from_training;
use super::sequences::{Sentences, describe};
use super::{Pipeline, gold};
use crate::Error;
use crate::config::Config;
use fieldmark_chain::ChainModel;
use fieldmark_core::{DatasetBuilder, Gold};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Growing, Resources};
use fieldmark_text::formats::Notices;
use std::ops::Range;
use std::path::Path;

/// Everything before the model, by a config: it cuts texts, describes tokens, and makes a pipeline of a model that was
/// trained on them elsewhere.
///
/// ```
/// use fieldmark::config::Config;
/// use fieldmark::core::DatasetBuilder;
/// use fieldmark::text::document::Document;
/// use fieldmark::text::formats::Notices;
/// use fieldmark::Describer;
/// let config = Config::parse("[[features]]\nkind = 'word'\n", &[])?;
/// let describer = Describer::read(config, ".".as_ref())?;
/// let document = Document::new("1", "Ada wrote. We met.");
/// let cut = describer.cut(&document, &mut Notices::new());
/// assert_eq!(cut.sentences, [0..3, 3..6]);
/// let mut builder = DatasetBuilder::new();
/// describer.describe(&mut builder, |describe| describe(&document))?;
/// assert_eq!(builder.positions(), 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Describer {
    front: Front,
}

/// The tokens and sentences of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The bytes of each token.
    pub tokens: Vec<Range<usize>>,
    /// The tokens of each sentence. No sentence is empty, and every token is in one.
    pub sentences: Vec<Range<usize>>,
}

impl Describer {
    /// By a config, and the files that it names, which are relative to `folder`.
    ///
    /// # Errors
    /// When the config asks for something else than spans found by a chain, or for a feature that would tell labels
    /// that nobody has given yet.
    pub fn read(mut config: Config, folder: &Path) -> Result<Self, Error> {
        config.postprocess.load(folder)?;
        config.identify.load(folder)?;
        let resources = Resources::read(&config.features, folder)?;
        Self::new(config, resources)
    }

    /// By a config that was [read](Self::read) before, and the files that it names.
    ///
    /// # Errors
    /// As [`Describer::read`].
    pub fn new(config: Config, resources: Resources) -> Result<Self, Error> {
        let problem = if config.graph.is_some() {
            Some("questions are asked of chains, and this config has a section graph")
        } else if config.labels.column.is_some() {
            Some("this config labels every token by a column, but people mark spans: leave out labels.column")
        } else if from_training(&config).next().is_some() {
            Some(
                "a feature is a list of names from the training data, whose labels are not known while they are still \
                 asked for; leave it out",
            )
        } else {
            None
        };
        match problem {
            Some(problem) => Err(Error::Option(problem.to_owned())),
            None => Ok(Self {
                front: Front::new(config, resources)?,
            }),
        }
    }

    /// The config.
    pub fn config(&self) -> &Config {
        &self.front.config
    }

    /// The contents of the files that the config names.
    pub fn resources(&self) -> &Resources {
        &self.front.resources
    }

    /// Cuts a document as the config says. Tokens that its source gives are taken as they are, unless the config says
    /// otherwise.
    pub fn cut(&self, document: &Document, notices: &mut Notices) -> Cut {
        let mut sentences = Sentences::default();
        self.front.cutter.cut(document, &mut sentences, notices);
        Cut {
            tokens: sentences.tokens.iter().map(|token| token.range()).collect(),
            sentences: sentences.ranges().collect(),
        }
    }

    /// The annotations of a document as ranges of tokens, in order, inside sentences and without overlaps; what does
    /// not fit is a notice.
    pub fn spans(&self, document: &Document, notices: &mut Notices) -> Vec<(Range<usize>, String)> {
        let mut sentences = Sentences::default();
        self.front
            .cutter
            .cut(document, &mut sentences, &mut Notices::new());
        gold::spans(&self.front.config.labels, document, &sentences, notices)
    }

    /// Adds the sentences of documents to a data set, one instance for each, without labels. Observations that are new
    /// get new numbers.
    ///
    /// `documents` calls what it is given with one document after the other.
    pub fn describe<E: From<Error>>(
        &self,
        builder: &mut DatasetBuilder,
        documents: impl FnOnce(&mut dyn FnMut(&Document) -> Result<(), Error>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut growing = Growing::with_names(std::mem::take(&mut builder.observations));
        let mut extraction = Extraction::new(&self.front.extractor, &mut growing);
        let mut labellers = self.front.stack.labellers();
        let columns = self.front.extractor.columns();
        let mut notices = Notices::new();
        let mut add = |document: &Document| {
            let mut sentences = Sentences::default();
            self.front.cutter.cut(document, &mut sentences, &mut notices);
            labellers.add_columns(&document.text, &mut sentences)?;
            sentences.try_for_each(&document.text, columns, |_, sequence| {
                describe(&mut extraction, sequence, builder, |_, _| Gold::Unknown)
            })
        };
        let result = documents(&mut add);
        drop(extraction);
        builder.observations = growing.names;
        result
    }

    /// A pipeline with a model over the observations of this describer, whose labels have the scheme of the config.
    ///
    /// `data` says how much it was trained on, `iterations` for how long; `scores` are kept with it.
    pub fn pipeline(
        &self,
        chain: ChainModel,
        data: Counts,
        iterations: usize,
        scores: impl IntoIterator<Item = (String, f64)>,
    ) -> Result<Pipeline, Error> {
        let config = &self.front.config;
        let card = ModelCard {
            name: config.name.clone(),
            description: config.description.clone(),
            date: today(),
            fieldmark: env!("CARGO_PKG_VERSION").to_owned(),
            data,
            features: chain.active(),
            iterations,
            best_iteration: None,
            stop: "trained on the answers of a project".to_owned(),
            scores: scores.into_iter().collect(),
        };
        Ok(Pipeline {
            front: Front::new(config.clone(), self.front.resources.clone())?,
            chain,
            card,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_learn::{Fitted, LearnOptions, Pool};
    use std::sync::Arc;

    fn describer() -> Describer {
        let config =
            "[[features]]\nkind = 'word'\noffsets = [-1, 0]\n[[features]]\nkind = 'capitalisation'\n";
        Describer::read(Config::parse(config, &[]).unwrap(), Path::new("")).unwrap()
    }

    #[test]
    fn documents_in_two_steps_are_as_documents_in_one() {
        let describer = describer();
        let documents = ["Ada wrote. We met.", "", "Grace wrote a book."].map(|text| Document::new("", text));
        let describe = |documents: &[Document], builder: &mut DatasetBuilder| {
            let all = |describe: &mut dyn FnMut(&Document) -> Result<(), Error>| {
                documents.iter().try_for_each(describe)
            };
            describer.describe(builder, all).unwrap();
        };
        let mut all = DatasetBuilder::new();
        describe(&documents, &mut all);
        let mut parts = DatasetBuilder::new();
        describe(&documents[..2], &mut parts);
        describe(&documents[2..], &mut parts);
        let (all, parts) = (all.finish(), parts.finish());
        assert_eq!(all, parts);
        assert_eq!((all.len(), all.positions()), (3, 11));
    }

    #[test]
    fn a_pipeline_of_partial_labels_marks_text() {
        let describer = describer();
        let mut builder = DatasetBuilder::new();
        builder.labels = ["O", "B-X", "I-X"].iter().collect();
        let text = "we met Ada Bell and Ada Cole";
        describer
            .describe::<Error>(&mut builder, |describe| describe(&Document::new("", text)))
            .unwrap();
        let data = Arc::new(builder.finish());
        let mut pool = Pool::unlabelled(data);
        for (position, label) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 0)] {
            pool.answer(0, position, label).unwrap();
        }
        let fitted = Fitted::train(&pool, &LearnOptions::default(), None).unwrap();
        let chain = fitted.to_model(&pool);
        let pipeline = describer.pipeline(chain, Counts::default(), 7, []).unwrap();
        let again =
            Arc::new(fieldmark_core::container::Container::from_bytes(pipeline.to_bytes().unwrap()).unwrap());
        let pipeline = Pipeline::from_container(again).unwrap();
        assert_eq!(pipeline.card.iterations, 7);
        let mut document = Document::new("", "and Ada Bell met");
        pipeline.annotator().annotate(&mut document).unwrap();
        let found = document.annotations.iter().map(|one| one.text(&document.text));
        assert_eq!(found.collect::<Vec<_>>(), ["Ada Bell"]);
    }

    #[test]
    fn configs_that_need_all_labels_are_refused() {
        let refused = |config: &str| {
            let config = Config::parse(config, &[]).unwrap();
            Describer::read(config, Path::new("")).unwrap_err().to_string()
        };
        let word = "[[features]]\nkind = 'word'\n";
        assert!(refused(&format!("[labels]\ncolumn = 'pos'\n{word}")).contains("labels.column"));
        let list = "[[features]]\nkind = 'dictionary'\nname = 'x'\ntraining = 'X'\n";
        assert!(refused(&format!("{word}{list}")).contains("training data"));
    }
}
