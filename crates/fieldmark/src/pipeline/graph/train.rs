//! From documents to a [`GraphPipeline`].

use super::GraphPipeline;
use super::describe::{cut, describe, instance_name};
use super::gold::{is_open, layer_labels};
use super::score::GraphScores;
use crate::Error;
use crate::checkpoint::Checkpoint;
use crate::config::{Config, GraphConfig, LayerConfig};
use crate::pipeline::card::{Counts, ModelCard};
use crate::pipeline::front::{Front, extractor};
use crate::pipeline::lists::{self, Folds};
use crate::pipeline::sequences::Cutter;
use crate::pipeline::stack::{Labellers, Stack};
use crate::pipeline::train::{Frozen, Labelled, RunOptions, RunSummary};
use crate::pipeline::{gold, unused};
use crate::training::{Algorithm, Flow, Observer, Prepared, Progress, Stop};
use fieldmark_core::Alphabet;
use fieldmark_graph::{
    Description, GraphAlgorithm, GraphDataset, GraphDatasetBuilder, GraphModel, GraphTrainer, Relations,
    Structure, TrainError,
};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Extractor, Growing, Numbering, Resources};
use fieldmark_text::formats::{NoticeKind, Notices};
use std::path::Path;
use std::time::Instant;

/// A trained pipeline, and how training went.
#[derive(Debug)]
pub struct TrainedGraph {
    /// The pipeline.
    pub pipeline: GraphPipeline,
    /// How training went, without the model itself.
    pub run: RunSummary,
    /// What of the data could not be used as it was.
    pub notices: Notices,
}

/// Trains a pipeline whose config has a section `graph`, on the threads of the current rayon pool.
///
/// With development documents, the weights of the iteration that scores best on them are kept. Files that the config
/// names are relative to `folder`.
pub fn train_graph(
    config: &Config,
    folder: &Path,
    documents: &[Document],
    dev: &[Document],
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<TrainedGraph, Error> {
    let mut config = config.clone();
    config.check_graph()?;
    config.postprocess.load(folder)?;
    config.identify.load(folder)?;
    let config = &config;
    let Some(graph) = &config.graph else {
        return Err(Error::Option("the config has no section `graph`".into()));
    };
    let layers = graph.layers(&config.labels);
    let description = graph.description(&layers)?;
    let algorithm = algorithm(config, graph)?;
    let mut notices = Notices::new();
    let mut resources = Resources::read(&config.features, folder)?;
    let stack = Stack::new(config, &resources)?;
    let mut labellers = stack.labellers();
    let train = Layered::new(config, &layers, documents, &mut labellers, &mut notices)?;
    let dev = Layered::new(config, &layers, dev, &mut labellers, &mut Notices::new())?;
    unused::tell(config, &train.documents, &mut notices);

    let mut growing = Growing::default();
    let mut builder = GraphDatasetBuilder::new(&description);
    let mut origins = Vec::new();
    let folds = Folds::new(config, &train.documents);
    for fold in 0..folds.count {
        lists::fill(config, &train.documents, Some((fold, folds)), &mut resources);
        let extractor = extractor(config, &resources)?;
        let mut extraction = Extraction::new(&extractor, &mut growing);
        train.describe(
            &layers,
            &extractor,
            &mut extraction,
            &mut builder,
            &mut origins,
            |index| folds.of(index) == fold,
        )?;
    }
    lists::fill(config, &train.documents, None, &mut resources);
    let data = builder.finish_numbered(growing.names.clone())?;
    check_labels(&layers, &data)?;
    let dev_data = match dev.documents.len() {
        0 => None,
        _ => {
            let extractor = extractor(config, &resources)?;
            let mut extraction = Extraction::new(&extractor, Frozen(&growing));
            let labels = (0..layers.len())
                .map(|layer| data.labels(layer).clone())
                .collect();
            let mut builder = GraphDatasetBuilder::with_alphabets(&description, Alphabet::new(), labels);
            dev.describe(
                &layers,
                &extractor,
                &mut extraction,
                &mut builder,
                &mut Vec::new(),
                |_| true,
            )?;
            Some(builder.finish_numbered(growing.names.clone())?)
        }
    };
    drop(growing);
    let structure = Structure::build(&data, &description, Relations::none())?;
    for cut in structure.cuts(&data)? {
        let origin = origins.get(cut.instance).map_or("", String::as_str);
        notices.add(NoticeKind::Skipped, origin, None, cut.to_string());
    }
    let counts = Counts::of_graph(&layers, &train.cells, &data);
    let run = Run {
        graph,
        layers: &layers,
        structure: &structure,
        data: &data,
        dev: dev_data.as_ref(),
        algorithm: &algorithm,
        origins: &origins,
    };
    let (weights, summary) = run.train(options, observer)?;
    let model = GraphModel::new(&data, &structure, &weights)?.with_algorithm(algorithm.name());
    let card = ModelCard::new(
        config,
        counts,
        summary.features,
        &summary.iterations,
        summary.best,
        summary.stop,
    );
    Ok(TrainedGraph {
        pipeline: GraphPipeline::new(Front::new(config.clone(), resources)?, model, card)?,
        run: summary,
        notices,
    })
}

/// The algorithm with its options.
fn algorithm(config: &Config, graph: &GraphConfig) -> Result<GraphAlgorithm, Error> {
    let Some(loss) = graph.loss() else {
        if config.training != Default::default() {
            return Err(Error::Option(
                "the section training is about optimisers, and graph.objective is \"sample-rank\", an algorithm of its own: \
                 its options are in graph.sample_rank"
                    .into(),
            ));
        }
        return Ok(GraphAlgorithm::SampleRank(graph.sample_rank.clone()));
    };
    match config.training.algorithm(&[])? {
        Algorithm::Lbfgs(options) => Ok(GraphAlgorithm::Lbfgs(loss, options)),
        Algorithm::OnlineLbfgs(options) => Ok(GraphAlgorithm::OnlineLbfgs(loss, options)),
        Algorithm::Sgd(options) => Ok(GraphAlgorithm::Sgd(loss, options)),
        _ => Err(Error::Option(format!(
            "training.algorithm is {:?}, which is for chains; graphs are trained by lbfgs, online-lbfgs, l2sgd or l1sgd, or \
             with graph.objective = \"sample-rank\"",
            config.training.name()
        ))),
    }
}

/// A layer of which nothing is known cannot be learned, nor told apart from a misspelt name.
fn check_labels(layers: &[LayerConfig], data: &GraphDataset) -> Result<(), Error> {
    if data.is_empty() {
        return Err(Error::Option("the training documents have no tokens".into()));
    }
    for (index, layer) in layers.iter().enumerate() {
        if data.labels(index).is_empty() {
            let place = match (&layer.column, &layer.meta) {
                (Some(column), _) => format!("in the column {column:?}"),
                (_, Some(key)) => format!("under the key {key:?} of documents"),
                _ => "among the spans".to_owned(),
            };
            return Err(Error::Option(format!(
                "the training documents have no label for the layer {:?} {place}",
                layer.name
            )));
        }
    }
    Ok(())
}

/// Documents that are cut, with their labels in all layers.
struct Layered<'d> {
    documents: Vec<Labelled<'d>>,
    /// By document, then by layer, then by instance, then by token.
    cells: Vec<Vec<Vec<Vec<String>>>>,
}

impl<'d> Layered<'d> {
    fn new(
        config: &Config,
        layers: &[LayerConfig],
        documents: &'d [Document],
        labellers: &mut Labellers<'_>,
        notices: &mut Notices,
    ) -> Result<Self, Error> {
        let cutter = Cutter::new(&config.text);
        let instance = instance_name(config);
        let mut layered = Self {
            documents: Vec::with_capacity(documents.len()),
            cells: Vec::with_capacity(documents.len()),
        };
        let mut first = 0;
        for document in documents {
            let sentences = cut(&cutter, instance, document, labellers, notices)?;
            let cells = layers
                .iter()
                .map(|layer| layer_labels(layer, document, &sentences, notices));
            layered.cells.push(cells.collect());
            // Lists of names are made of the spans that the section `labels` describes.
            let labels = gold::labels(&config.labels, document, &sentences, &mut Notices::new());
            let count = sentences.len();
            layered.documents.push(Labelled {
                document,
                sentences,
                labels,
                first,
            });
            first += count;
        }
        Ok(layered)
    }

    /// Adds the instances that are wanted, by their number among all, and the id of the document of each. Those of
    /// which nothing is known teach nothing.
    fn describe<N: Numbering>(
        &self,
        layers: &[LayerConfig],
        extractor: &Extractor,
        extraction: &mut Extraction<'_, N>,
        builder: &mut GraphDatasetBuilder,
        origins: &mut Vec<String>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        for (labelled, cells) in self.documents.iter().zip(&self.cells) {
            let Labelled {
                document,
                sentences,
                first,
                ..
            } = labelled;
            sentences.try_for_each(&document.text, extractor.columns(), |index, sequence| {
                let mut labels = cells.iter().flat_map(|instances| &instances[index]);
                if !wanted(first + index) || labels.all(|label| is_open(label)) {
                    return Ok(());
                }
                origins.push(document.id.clone());
                let cell = |layer: usize, position: usize| cells[layer][index][position].as_str();
                describe(
                    extraction,
                    sequence,
                    layers,
                    builder,
                    cell,
                    |builder, layer, name| Some(builder.label(layer, name)),
                )
            })?;
        }
        Ok(())
    }
}

/// What a run of training is about.
struct Run<'r> {
    graph: &'r GraphConfig,
    layers: &'r [LayerConfig],
    structure: &'r Structure,
    data: &'r GraphDataset,
    dev: Option<&'r GraphDataset>,
    algorithm: &'r GraphAlgorithm,
    /// The document of each instance.
    origins: &'r [String],
}

impl Run<'_> {
    fn train(
        &self,
        options: &RunOptions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<f64>, RunSummary), Error> {
        let warm = options.warm_start.map(GraphModel::read).transpose()?;
        let print = self.fingerprint(warm.as_ref());
        let saved = match &options.checkpoint {
            Some(checkpoint) if checkpoint.resume => {
                Checkpoint::load(&checkpoint.path, print, self.structure.weights())?
            }
            _ => None,
        };
        let warm = warm
            .filter(|_| saved.is_none())
            .map(|model| model.project(self.data, self.structure));
        observer.prepared(&Prepared {
            features: self.structure.weights(),
            states: (0..self.layers.len())
                .map(|layer| self.data.labels(layer).len())
                .sum(),
            memory: self.data.memory(),
            warm: warm.as_ref().map(|start| start.taken),
            resumed: saved.as_ref().map(|(_, state)| state.done()),
        });
        let (structure, data) = (self.structure, self.data);
        let (trainer, mut state) = match &saved {
            Some((bytes, state)) => (
                GraphTrainer::restore(structure, data, self.algorithm, bytes),
                state.clone(),
            ),
            None => {
                let start = warm.map_or_else(|| vec![0.0; structure.weights()], |start| start.weights);
                (
                    GraphTrainer::new(structure, data, self.algorithm, start),
                    Checkpoint::default(),
                )
            }
        };
        let mut trainer = trainer.map_err(|error| self.place(error))?;
        let impatient = |trainer: &GraphTrainer<'_>| {
            let spent = |patience| trainer.iterations() > 0 && trainer.without_progress() >= patience;
            options.patience.is_some_and(spent)
        };
        let mut written = Instant::now();
        let stop = loop {
            if impatient(&trainer) {
                break Stop::Patience;
            }
            let started = Instant::now();
            let Some(step) = trainer.step().map_err(|error| self.place(error))? else {
                break Stop::Optimizer(trainer.status());
            };
            let seconds = started.elapsed().as_secs_f64();
            let dev = self
                .dev
                .map(|dev| self.score(dev, &trainer.weights()))
                .transpose()?;
            dev.into_iter().for_each(|score| trainer.judge(score));
            let progress = Progress {
                iteration: step.iteration,
                dev,
                seconds,
                convergence: Some(step.convergence).filter(|convergence| convergence.answers > 0),
            };
            let flow = observer.iteration(&progress);
            state.iterations.push(progress);
            if let Some(checkpoint) = &options.checkpoint {
                let due = checkpoint
                    .every
                    .is_due(step.iteration.iteration, written.elapsed());
                if due || impatient(&trainer) || flow == Flow::Stop {
                    state.save(&checkpoint.path, print, &trainer.save())?;
                    written = Instant::now();
                }
            }
            if flow == Flow::Stop {
                break Stop::Asked;
            }
        };
        let summary = RunSummary {
            features: structure.weights(),
            sequences: data.len(),
            tokens: data.positions(),
            iterations: state.iterations,
            best: trainer.best().map(|best| best.iteration),
            stop,
        };
        Ok((trainer.into_weights(), summary))
    }

    /// How good weights are on development data.
    fn score(&self, dev: &GraphDataset, weights: &[f64]) -> Result<f64, Error> {
        let labels = (0..self.layers.len()).map(|layer| self.data.labels(layer));
        let mut scores = GraphScores::none(self.layers.iter().zip(labels));
        scores.add_data(self.layers, dev, self.structure, weights, &self.graph.inference)?;
        Ok(scores.score())
    }

    /// An error of training, with the document that it is about.
    fn place(&self, error: TrainError) -> Error {
        match &error {
            TrainError::Instance { instance, error } => match self.origins.get(*instance) {
                Some(origin) => Error::Option(format!("{origin}: {error}")),
                None => Error::Option(error.to_string()),
            },
            _ => error.into(),
        }
    }

    /// The same for two runs that take the same steps.
    fn fingerprint(&self, warm: Option<&GraphModel>) -> u64 {
        let mut algorithm = self.algorithm.clone();
        // More iterations may be asked for when a run is resumed.
        match &mut algorithm {
            GraphAlgorithm::Lbfgs(_, options) => options.max_iterations = None,
            GraphAlgorithm::OnlineLbfgs(_, options) => options.max_iterations = None,
            GraphAlgorithm::Sgd(_, options) => options.max_iterations = None,
            GraphAlgorithm::SampleRank(options) => options.max_iterations = 0,
        }
        let description: &Description = self.structure.description();
        let dev = self.dev.map(GraphDataset::fingerprint);
        let warm = warm.map(GraphModel::fingerprint);
        let choices = format!("{algorithm:?} {description:?} {dev:?} {warm:?}");
        Alphabet::hash(&format!("{:016x} {choices}", self.data.fingerprint()))
    }
}
