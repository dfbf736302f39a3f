//! From documents to a pipeline.

use super::sequences::{Cutter, Sentences};
use super::{Pipeline, extractor, gold};
use crate::Error;
use crate::config::Config;
use crate::training::{self, Observer, TrainOptions, Trained};
use fieldmark_core::{Dataset, DatasetBuilder, Gold};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Extractor, Growing, Numbering};
use fieldmark_text::formats::Notices;

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
    /// Every iteration.
    pub iterations: Vec<training::Progress>,
    /// The iteration whose weights the model has, when a development set chose it.
    pub best: Option<u64>,
    /// Why it ended.
    pub stop: training::Stop,
}

/// Trains a pipeline on the threads of the current rayon pool.
///
/// With development documents, the weights of the iteration that scores best on them are kept.
pub fn train_pipeline(
    config: &Config,
    documents: &[Document],
    dev: &[Document],
    observer: &mut dyn Observer,
) -> Result<TrainedPipeline, Error> {
    let options = TrainOptions {
        structure: config.model.structure()?,
        algorithm: config.training.algorithm(&[])?,
        ..TrainOptions::default()
    };
    let extractor = extractor(config)?;
    let cutter = Cutter::new(&config.text);
    let mut notices = Notices::new();
    let describe = Describe {
        config,
        extractor: &extractor,
        cutter: &cutter,
    };
    let mut extraction = Extraction::new(&extractor, Growing::default());
    let mut builder = DatasetBuilder::new();
    describe.add(documents, &mut extraction, &mut builder, &mut notices)?;
    let growing = extraction.into_numbering();
    let dev = match dev {
        [] => None,
        dev => {
            let mut extraction = Extraction::new(&extractor, Frozen(&growing));
            let mut data = DatasetBuilder::with_alphabets(builder.labels.clone(), growing.names.clone());
            describe.add(dev, &mut extraction, &mut data, &mut Notices::new())?;
            Some(data.finish())
        }
    };
    builder.observations = growing.names;
    let data: Dataset = builder.finish();
    let (sequences, tokens) = (data.len(), data.positions());
    if sequences == 0 {
        return Err(Error::Option("the training documents have no tokens".into()));
    }
    let Trained {
        model,
        features,
        iterations,
        best,
        stop,
        ..
    } = training::train(data, dev.as_ref(), None, &options, observer)?;
    Ok(TrainedPipeline {
        pipeline: Pipeline::new(config.clone(), model)?,
        run: RunSummary {
            features,
            sequences,
            tokens,
            iterations,
            best,
            stop,
        },
        notices,
    })
}

/// What is needed to describe documents.
struct Describe<'a> {
    config: &'a Config,
    extractor: &'a Extractor,
    cutter: &'a Cutter,
}

impl Describe<'_> {
    fn add<N: Numbering>(
        &self,
        documents: &[Document],
        extraction: &mut Extraction<'_, N>,
        builder: &mut DatasetBuilder,
        notices: &mut Notices,
    ) -> Result<(), Error> {
        for document in documents {
            let mut sentences = Sentences::default();
            self.cutter.cut(document, &mut sentences);
            let labels = gold::labels(&self.config.labels, document, &sentences, notices);
            if labels.len() != sentences.len() {
                continue;
            }
            let mut result = Ok(());
            sentences.for_each(&document.text, self.extractor.columns(), |index, sequence| {
                extraction.describe(sequence, |position, row| {
                    let label = builder.labels.intern(&labels[index][position]);
                    builder.observe_all(&row.ones);
                    row.valued
                        .iter()
                        .for_each(|&(id, value)| builder.observe(id, value));
                    let ended = builder.end_position(Gold::Known(label));
                    result = std::mem::replace(&mut result, Ok(())).and(ended);
                });
                let ended = builder.end_instance();
                result = std::mem::replace(&mut result, Ok(())).and(ended);
            });
            result.map_err(|error| Error::Option(error.to_string()))?;
        }
        Ok(())
    }
}

/// The numbers of the training data, for the development data.
struct Frozen<'a>(&'a Growing);

impl Numbering for Frozen<'_> {
    fn number(&mut self, hash: u64, _: &mut dyn FnMut() -> String) -> Option<u32> {
        self.0.get(hash)
    }
}
