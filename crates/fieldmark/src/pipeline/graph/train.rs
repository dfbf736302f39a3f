//! From documents to a [`GraphPipeline`].

use super::GraphPipeline;
use super::describe::Numbers;
use super::hidden::start_weights;
use super::instances::{Described, cut_and_label};
use super::lacking::check_labels;
use super::place::{Origin, conflict_in_words, in_words};
use super::score::GraphScores;
use super::told::{tell_computed_factors, tell_stuck_sampler};
use crate::Error;
use crate::checkpoint::Checkpoint;
use crate::config::{Config, GraphConfig, LayerConfig};
use crate::pipeline::card::{Counts, ModelCard};
use crate::pipeline::front::{Front, extractor};
use crate::pipeline::lists::{self, Folds};
use crate::pipeline::stack::Stack;
use crate::pipeline::train::{RunOptions, RunSummary};
use crate::pipeline::{learnable, unused};
use crate::training::{Algorithm, Flow, Observer, Prepared, Progress, Stop};
use fieldmark_core::Alphabet;
use fieldmark_core::container::Container;
use fieldmark_graph::{
    Description, Error as GraphError, GraphAlgorithm, GraphDataset, GraphDatasetBuilder, GraphModel,
    GraphTrainer, Relations, Structure, StructureError, TrainError,
};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Growing, Resources};
use fieldmark_text::formats::Notices;
use std::path::Path;
use std::sync::Arc;
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
    if !options.may_lack_spans {
        learnable::check(config, documents)?;
    }
    let mut notices = Notices::new();
    let mut resources = Resources::read(&config.features, folder)?;
    let stack = Stack::new(config, &resources)?;
    let mut labellers = stack.labellers();
    let train = cut_and_label(config, &layers, documents, &mut labellers, &mut notices)?;
    let dev = cut_and_label(config, &layers, dev, &mut labellers, &mut Notices::new())?;
    unused::tell(config, documents, &train, &mut notices);

    let mut growing = Growing::default();
    let alphabets = layers.iter().map(listed_labels).collect();
    let builder = GraphDatasetBuilder::with_alphabets(&description, Alphabet::new(), alphabets);
    let mut described = Described::new(builder, None);
    let folds = Folds::new(config, &train);
    for fold in 0..folds.count {
        lists::fill(config, &train, Some((fold, folds)), &mut resources);
        let extractor = extractor(config, &resources)?;
        let mut extraction = Extraction::new(&extractor, &mut growing);
        let wanted = |index| folds.of(index) == fold;
        described.add(&train, config, &layers, &extractor, &mut extraction, wanted)?;
    }
    lists::fill(config, &train, None, &mut resources);
    let (data, origins) = described.finish(growing.names)?;
    check_labels(&layers, &train, &data)?;
    let dev_data = match &dev[..] {
        [] => None,
        dev => {
            let extractor = extractor(config, &resources)?;
            let numbers = Numbers::new(data.observations.clone(), &description);
            let mut extraction = Extraction::new(&extractor, numbers);
            let labels: Vec<Alphabet> = (0..layers.len())
                .map(|layer| data.labels(layer).clone())
                .collect();
            let counts = labels.iter().map(|labels| labels.len() as u32).collect();
            let builder = GraphDatasetBuilder::with_alphabets(&description, Alphabet::new(), labels);
            let mut described = Described::new(builder, Some(counts));
            described.add(dev, config, &layers, &extractor, &mut extraction, |_| true)?;
            Some(described.finish(extraction.into_numbering().growing.names)?)
        }
    };
    let structure = Structure::build(&data, &description, Relations::none())?;
    tell_computed_factors(&structure, &data, &origins, &mut notices)?;
    let start = start_weights(graph, &layers, &structure, &data, &mut notices)?;
    tell_stuck_sampler(&structure, &graph.inference, &mut notices);
    let counts = Counts::of(config, &train, data.len(), data.positions(), data.fingerprint());
    let run = Run {
        graph,
        layers: &layers,
        structure: &structure,
        data: &data,
        dev: dev_data.as_ref().map(|(data, origins)| (data, &origins[..])),
        algorithm: &algorithm,
        origins: &origins,
        start: &start,
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

/// The labels that a config lists for a layer.
fn listed_labels(layer: &LayerConfig) -> Alphabet {
    let mut labels = Alphabet::new();
    for label in &layer.labels {
        labels.intern(label);
    }
    labels
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

/// What a run of training is about.
struct Run<'r> {
    graph: &'r GraphConfig,
    layers: &'r [LayerConfig],
    structure: &'r Structure,
    data: &'r GraphDataset,
    dev: Option<(&'r GraphDataset, &'r [Origin<'r>])>,
    algorithm: &'r GraphAlgorithm,
    /// Where each instance comes from.
    origins: &'r [Origin<'r>],
    /// The weights to start from, as far as no model gives others.
    start: &'r [f64],
}

impl Run<'_> {
    fn train(
        &self,
        options: &RunOptions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<f64>, RunSummary), Error> {
        let warm = options.warm_start.map(warm_graph).transpose()?;
        let print = self.fingerprint(warm.as_ref());
        let saved = match &options.checkpoint {
            Some(checkpoint) if checkpoint.resume => {
                Checkpoint::load(&checkpoint.path, print, self.structure.weights())?
            }
            _ => None,
        };
        let warm = warm
            .filter(|_| saved.is_none())
            .map(|model| model.project_onto(self.data, self.structure, self.start.to_vec()));
        observer.prepared(&Prepared {
            features: self.structure.weights(),
            states: self.labels(),
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
                let start = warm.map_or_else(|| self.start.to_vec(), |start| start.weights);
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
            labels: self.labels(),
            observations: data.observations.len(),
            iterations: state.iterations,
            best: trainer.best().map(|best| best.iteration),
            stop,
        };
        Ok((trainer.into_weights(), summary))
    }

    /// Number of labels in all layers.
    fn labels(&self) -> usize {
        let layers = 0..self.layers.len();
        layers.map(|layer| self.data.labels(layer).len()).sum()
    }

    /// How good weights are on development data.
    fn score(&self, (dev, origins): (&GraphDataset, &[Origin<'_>]), weights: &[f64]) -> Result<f64, Error> {
        let labels = (0..self.layers.len()).map(|layer| self.data.labels(layer));
        let mut scores = GraphScores::none(self.layers.iter().zip(labels));
        let inference = &self.graph.inference;
        scores
            .add_data(self.layers, dev, self.structure, weights, inference)
            .map_err(|error| match error {
                Error::GraphStructure(StructureError::Graph { instance, error }) => {
                    self.problem(dev, origins, instance, &error)
                }
                error => error,
            })?;
        Ok(scores.score())
    }

    /// An error of training, with the document that it is about.
    fn place(&self, error: TrainError) -> Error {
        match &error {
            TrainError::Instance { instance, error }
            | TrainError::Structure(StructureError::Graph { instance, error }) => {
                self.problem(self.data, self.origins, *instance, error)
            }
            _ => error.into(),
        }
    }

    fn problem(
        &self,
        data: &GraphDataset,
        origins: &[Origin<'_>],
        instance: usize,
        error: &GraphError,
    ) -> Error {
        let (structure, layers) = (self.structure, self.layers);
        let (origin, instance) = (origins.get(instance), data.instance(instance));
        let word = |position| origin.and_then(|origin| origin.word(position));
        // A factor that has nothing left says more than where a sum came to nothing. Labels of development data are only
        // compared.
        let is_gold = std::ptr::eq(data, self.data) && matches!(error, GraphError::Contradiction { .. });
        let conflict = is_gold.then(|| structure.conflict(instance).ok().flatten());
        let problem = match conflict.flatten() {
            Some(conflict) => conflict_in_words(&conflict, structure, layers, instance.len(), word),
            None => in_words(error, structure, layers, instance.len(), word),
        };
        Error::Option(match origin {
            Some(origin) => format!("{origin}: {problem}"),
            None => problem,
        })
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
        // Which iteration is the best depends on the engine that labels development data.
        let inference = &self.graph.inference;
        let dev = self.dev.map(|(data, _)| (data.fingerprint(), inference));
        let warm = warm.map(GraphModel::fingerprint);
        let start = &self.graph.start;
        let choices = format!("{algorithm:?} {description:?} {dev:?} {warm:?} {start:?}");
        Alphabet::hash(&format!("{:016x} {choices}", self.data.fingerprint()))
    }
}

/// The graph of a model file, whose weights are to be taken over.
fn warm_graph(container: &Arc<Container>) -> Result<GraphModel, Error> {
    if !GraphModel::is_in(container) {
        return Err(Error::Option(
            "the model to start from is a chain, and this config describes a graph: weights can be taken over from graphs \
             only, such as one of the kind linear-chain"
                .into(),
        ));
    }
    Ok(GraphModel::read(container)?)
}
