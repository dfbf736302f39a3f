//! From documents to a pipeline.

use super::card::{Counts, ModelCard};
use super::front::{Front, extractor};
use super::gold::{CHOICE, OPEN};
use super::lists::{self, Folds};
use super::sequences::{Cutter, Sentences, describe};
use super::stack::{Labellers, Stack};
use super::{Pipeline, gold, learnable, unused};
use crate::Error;
use crate::config::Config;
use crate::training::{self, CheckpointOptions, Observer, TrainOptions, Trained};
use fieldmark_chain::ChainModel;
use fieldmark_core::container::Container;
use fieldmark_core::scheme::{Span, Tag};
use fieldmark_core::{Dataset, DatasetBuilder, Gold, Scheme};
use fieldmark_graph::GraphModel;
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Extractor, Growing, Numbering, Resources};
use fieldmark_text::formats::Notices;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

/// A trained pipeline, and how training went.
#[derive(Debug)]
pub struct TrainedPipeline {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// How training went, without the model itself.
    pub run: RunSummary,
    /// What of the annotations could not be used as it was.
    pub notices: Notices,
}

/// How training went.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// Number of features that were trained.
    pub features: usize,
    /// Number of sequences.
    pub sequences: usize,
    /// Number of tokens.
    pub tokens: usize,
    /// Number of labels, in all layers.
    pub labels: usize,
    /// Number of observations.
    pub observations: usize,
    /// Every iteration.
    pub iterations: Vec<training::Progress>,
    /// The iteration whose weights the model has, when a development set chose it.
    pub best: Option<u64>,
    /// Why it ended.
    pub stop: training::Stop,
}

/// How a run of training goes, besides what the config says.
#[derive(Clone, Debug, Default)]
pub struct RunOptions<'a> {
    /// With development documents: stop after this many iterations without a better score.
    pub patience: Option<u64>,
    /// Where and when to save the state of training.
    pub checkpoint: Option<CheckpointOptions>,
    /// A model file whose weights to start from.
    pub warm_start: Option<&'a Arc<Container>>,
    /// Whether documents without anything to learn make a model that finds nothing, as a part of a corpus may; otherwise
    /// they are an error.
    pub may_lack_spans: bool,
}

/// Trains a pipeline on the threads of the current rayon pool.
///
/// With development documents, the weights of the iteration that scores best on them are kept. Files that the
/// config names are relative to `folder`.
pub fn train_pipeline(
    config: &Config,
    folder: &Path,
    documents: &[Document],
    dev: &[Document],
    run: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<TrainedPipeline, Error> {
    if config.graph.is_some() {
        return Err(Error::Option(
            "the config has a section `graph`, and this trains chains".into(),
        ));
    }
    let options = TrainOptions {
        structure: config.model.structure()?,
        algorithm: config.training.algorithm(&[])?,
        patience: run.patience,
        checkpoint: run.checkpoint.clone(),
        ..TrainOptions::default()
    };
    let warm = run.warm_start.map(warm_chain).transpose()?;
    if !run.may_lack_spans {
        learnable::check(config, documents)?;
    }
    let mut config = config.clone();
    config.postprocess.load(folder)?;
    config.identify.load(folder)?;
    let config = &config;
    let mut notices = Notices::new();
    let mut resources = Resources::read(&config.features, folder)?;
    let stack = Stack::new(config, &resources)?;
    let mut labellers = stack.labellers();
    let train = Labelled::all(config, documents, &mut labellers, &mut notices)?;
    let dev = Labelled::all(config, dev, &mut labellers, &mut Notices::new())?;
    unused::tell(config, documents, &train, &mut notices);

    let mut growing = Growing::default();
    let mut builder = DatasetBuilder::new();
    let folds = Folds::new(config, &train);
    for fold in 0..folds.count {
        // Sequences of a fold are described with the names of the others.
        lists::fill(config, &train, Some((fold, folds)), &mut resources);
        let extractor = extractor(config, &resources)?;
        let mut extraction = Extraction::new(&extractor, &mut growing);
        for labelled in &train {
            labelled.describe(&extractor, &mut extraction, &mut builder, |index| {
                folds.of(index) == fold
            })?;
        }
    }
    lists::fill(config, &train, None, &mut resources);
    let dev = match dev.as_slice() {
        [] => None,
        dev => {
            let extractor = extractor(config, &resources)?;
            let mut extraction = Extraction::new(&extractor, Frozen(&growing));
            let mut data = DatasetBuilder::with_alphabets(builder.labels.clone(), growing.names.clone());
            for labelled in dev {
                labelled.describe(&extractor, &mut extraction, &mut data, |_| true)?;
            }
            Some(data.finish())
        }
    };
    builder.observations = growing.names;
    let data: Dataset = builder.finish();
    let (sequences, tokens) = (data.len(), data.positions());
    let (labels, observations) = (data.labels.len(), data.observations.len());
    if sequences == 0 {
        return Err(Error::Option(nothing_labelled(config, documents)));
    }
    let counts = Counts::of(config, &train, data.len(), data.positions(), data.fingerprint());
    let Trained {
        model,
        features,
        iterations,
        best,
        stop,
        ..
    } = training::train(data, dev.as_ref(), warm.as_ref(), &options, observer)?;
    let card = ModelCard::new(config, counts, features, &iterations, best, stop);
    Ok(TrainedPipeline {
        pipeline: Pipeline {
            front: Front::new(config.clone(), resources)?,
            chain: model,
            card,
        },
        run: RunSummary {
            features,
            sequences,
            tokens,
            labels,
            observations,
            iterations,
            best,
            stop,
        },
        notices,
    })
}

/// The chain of a model file, whose weights are to be taken over.
fn warm_chain(container: &Arc<Container>) -> Result<ChainModel, Error> {
    if GraphModel::is_in(container) {
        return Err(Error::Option(
            "the model to start from is a graph, and this config describes a chain: weights can be taken over from chains \
             only. A config with a section `graph` of the kind linear-chain would take them"
                .into(),
        ));
    }
    Ok(ChainModel::read(container)?)
}

/// A document that is cut and labelled.
pub(super) struct Labelled<'d> {
    pub document: &'d Document,
    pub sentences: Sentences<'d>,
    /// Its labels: one layer for a chain.
    pub layers: Vec<LayerLabels>,
    /// The number of its first sentence among all.
    pub first: usize,
}

/// The labels of one kind that a document has.
pub(super) struct LayerLabels {
    /// How spans are written as labels, if each token has one.
    pub scheme: Option<Scheme>,
    /// Whether they are made from spans.
    pub of_spans: bool,
    /// By sentence and token: a label, or several or none as in [`gold`].
    pub labels: Vec<Vec<String>>,
}

impl LayerLabels {
    /// The spans that the labels make, each with the number of its sentence. Those that lie beside a token whose label is
    /// not known for sure are none: they may be longer.
    pub fn spans(&self) -> impl Iterator<Item = (usize, Span<'_>)> {
        let sentences = self.scheme.map(|scheme| (scheme, self.labels.iter().enumerate()));
        sentences.into_iter().flat_map(|(scheme, sentences)| {
            sentences.flat_map(move |(index, labels)| {
                let open_at = |at: usize| labels.get(at).is_some_and(|cell| is_open(cell));
                let mut spans = match labels.iter().any(|cell| is_open(cell)) {
                    false => scheme.spans(labels),
                    true => known_spans(scheme, labels),
                };
                spans.retain(|span| !open_at(span.end) && !span.start.checked_sub(1).is_some_and(open_at));
                spans.into_iter().map(move |span| (index, span))
            })
        })
    }
}

/// Whether a cell does not tell one label.
fn is_open(cell: &str) -> bool {
    cell == OPEN || cell.contains(CHOICE)
}

/// The spans that the labels make that are known.
fn known_spans(scheme: Scheme, labels: &[String]) -> Vec<Span<'_>> {
    let known = labels
        .iter()
        .map(|cell| if is_open(cell) { "O" } else { cell.as_str() });
    let known: Vec<&str> = known.collect();
    let spans = scheme.spans(&known);
    let kind = |span: &Span<'_>| Tag::parse(&labels[span.start]).kind().unwrap_or_default();
    spans
        .iter()
        .map(|span| Span::new(span.start, span.end, kind(span)))
        .collect()
}

impl<'d> Labelled<'d> {
    pub fn all(
        config: &Config,
        documents: &'d [Document],
        labellers: &mut Labellers<'_>,
        notices: &mut Notices,
    ) -> Result<Vec<Self>, Error> {
        let cutter = Cutter::new(&config.text);
        let mut all = Vec::with_capacity(documents.len());
        let mut first = 0;
        for document in documents {
            let mut sentences = Sentences::default();
            cutter.cut(document, &mut sentences, notices);
            labellers.add_columns(&document.text, &mut sentences)?;
            let labels = gold::labels(&config.labels, document, &sentences, notices);
            if labels.len() == sentences.len() {
                let count = sentences.len();
                let layer = LayerLabels {
                    scheme: Some(config.labels.scheme.into()),
                    of_spans: config.labels.column.is_none(),
                    labels,
                };
                all.push(Self {
                    document,
                    sentences,
                    layers: vec![layer],
                    first,
                });
                first += count;
            }
        }
        if config.labels.column.is_some() {
            read_choices(&mut all);
        }
        Ok(all)
    }

    /// Adds the sentences that are wanted, by their number among all.
    pub fn describe<N: Numbering>(
        &self,
        extractor: &Extractor,
        extraction: &mut Extraction<'_, N>,
        builder: &mut DatasetBuilder,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        let text = &self.document.text;
        self.sentences
            .try_for_each(text, extractor.columns(), |index, sequence| {
                if !wanted(self.first + index) {
                    return Ok(());
                }
                let cells = self.layers[0].labels[index].iter();
                let sets: Vec<Vec<u32>> = cells
                    .map(|cell| {
                        let labels = gold::alternatives(cell);
                        labels.map(|label| builder.labels.intern(label)).collect()
                    })
                    .collect();
                describe(extraction, sequence, builder, |_, position| {
                    match sets[position].as_slice() {
                        [] => Gold::Unknown,
                        &[label] => Gold::Known(label),
                        labels => Gold::Ambiguous(labels),
                    }
                })
            })
    }
}

/// Reads `A|B` in columns of labels as one of both, where both are labels of other tokens. Bars also stand between the
/// morphological features of Universal Dependencies, which are pairs: these stay one label.
fn read_choices(all: &mut [Labelled<'_>]) {
    let cells = |labelled: &Labelled<'_>| labelled.layers[0].labels.clone().into_iter().flatten();
    let has_bars = |cell: &String| cell.contains('|') && !cell.contains('=');
    if !all.iter().flat_map(cells).any(|cell| has_bars(&cell)) {
        return;
    }
    let plain: HashSet<String> = all
        .iter()
        .flat_map(cells)
        .filter(|cell| !cell.contains('|'))
        .collect();
    for labelled in all {
        let cells = labelled.layers[0].labels.iter_mut().flatten();
        for cell in cells.filter(|cell| has_bars(cell)) {
            if cell
                .split('|')
                .all(|label| label != OPEN && plain.contains(label))
            {
                *cell = cell.replace('|', CHOICE.encode_utf8(&mut [0; 4]));
            }
        }
    }
}

/// The numbers of the training data, for the development data.
pub(super) struct Frozen<'a>(pub &'a Growing);

impl Numbering for Frozen<'_> {
    fn number(&mut self, hash: u64, _: &mut dyn FnMut() -> String) -> Option<u32> {
        self.0.get(hash)
    }
}

/// Why there is nothing to learn from, as far as the columns of the documents tell.
fn nothing_labelled(config: &Config, documents: &[Document]) -> String {
    let mut text = "the training documents have no labelled tokens".to_owned();
    let columns = documents.iter().filter_map(|document| document.given.as_ref());
    let names: BTreeSet<&str> = columns
        .flat_map(|given| &given.columns)
        .map(String::as_str)
        .collect();
    if let Some(column) = config.labels.column.as_deref()
        && !names.contains(column)
    {
        let names: Vec<&str> = names.into_iter().collect();
        let known = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        text += &format!(
            ": labels.column is \"{column}\", and the columns beside the word are: {known}. Name the column of the labels \
             in labels.column, and what the columns hold in data.read.columns"
        );
    }
    text
}
