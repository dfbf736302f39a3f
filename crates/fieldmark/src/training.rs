//! Training from start to finish: progress, development scores, early stopping, checkpoints, resuming.

use crate::Error;
use crate::checkpoint::{Checkpoint, Interval};
use crate::dev::Dev;
use crate::machine::{Machines, Start};
use fieldmark_chain::train::generative::{self, Generative};
use fieldmark_chain::train::online::{ArowOptions, PassiveAggressiveOptions, PerceptronOptions, SgdOptions};
use fieldmark_chain::train::{Arithmetic, ChainObjective};
use fieldmark_chain::{ChainModel, Structure, StructureOptions};
use fieldmark_core::Dataset;
use fieldmark_core::optimize::{
    Iteration, LbfgsOptions, Objective, OnlineLbfgsOptions, OptimizeError, Status,
};
use fieldmark_graph::Convergence;
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

/// How weights are found.
#[derive(Clone, Debug)]
pub enum Algorithm {
    /// L-BFGS, and OWL-QN with an L1 prior: exact likelihood, the whole data in every iteration.
    Lbfgs(LbfgsOptions),
    /// Online L-BFGS on batches.
    OnlineLbfgs(OnlineLbfgsOptions),
    /// Stochastic gradient descent, with an L2 prior, a cumulative L1 penalty, or both.
    Sgd(SgdOptions),
    /// The averaged perceptron.
    AveragedPerceptron(PerceptronOptions),
    /// The passive-aggressive algorithm.
    PassiveAggressive(PassiveAggressiveOptions),
    /// Adaptive regularisation of weight vectors.
    Arow(ArowOptions),
    /// Counting: naive Bayes or a hidden Markov model, with this number added to every count.
    Generative(Generative, f64),
}

impl Algorithm {
    /// The name under which model files note the algorithm.
    pub fn name(&self) -> &'static str {
        match self {
            Algorithm::Lbfgs(_) => "lbfgs",
            Algorithm::OnlineLbfgs(_) => "online-lbfgs",
            Algorithm::Sgd(_) => "sgd",
            Algorithm::AveragedPerceptron(_) => "averaged-perceptron",
            Algorithm::PassiveAggressive(_) => "passive-aggressive",
            Algorithm::Arow(_) => "arow",
            Algorithm::Generative(Generative::NaiveBayes, _) => "naive-bayes",
            Algorithm::Generative(Generative::HiddenMarkov, _) => "hmm",
        }
    }
}

impl Algorithm {
    /// The largest number of iterations, when there is one.
    pub fn max_iterations(&self) -> Option<u64> {
        match self {
            Algorithm::Lbfgs(options) => options.max_iterations,
            Algorithm::OnlineLbfgs(options) => options.max_iterations,
            Algorithm::Sgd(options) => options.max_iterations,
            Algorithm::AveragedPerceptron(options) => options.max_iterations,
            Algorithm::PassiveAggressive(options) => options.max_iterations,
            Algorithm::Arow(options) => options.max_iterations,
            Algorithm::Generative(..) => None,
        }
    }
}

impl Algorithm {
    /// Whether the options are in their ranges, which is noticed at the latest when training begins.
    ///
    /// # Errors
    /// The first option that is not.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Algorithm::Generative(_, smoothing) => check_smoothing(*smoothing),
            _ => f64::machine(self, Start::Weights(Vec::new())).map(drop),
        }
    }
}

impl Default for Algorithm {
    fn default() -> Self {
        Algorithm::Lbfgs(LbfgsOptions::default())
    }
}

/// The precision of scores and expectations. Weights and sums over the data are always `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Single.
    F32,
    /// Double.
    #[default]
    F64,
}

/// What to train, and how.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// The shape of the model.
    pub structure: StructureOptions,
    /// How weights are found.
    pub algorithm: Algorithm,
    /// The precision of training.
    pub precision: Precision,
    /// How sums over label sequences are computed.
    pub arithmetic: Arithmetic,
    /// With a development set: stop after this many iterations without a better score.
    pub patience: Option<u64>,
    /// Where and when to save the state of training.
    pub checkpoint: Option<CheckpointOptions>,
}

/// Where and when the state of training is saved.
#[derive(Clone, Debug)]
pub struct CheckpointOptions {
    /// The file.
    pub path: PathBuf,
    /// How often it is written.
    pub every: Interval,
    /// Whether to go on from the file, if it is there.
    pub resume: bool,
}

/// How far training is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What the optimiser did.
    pub iteration: Iteration,
    /// Score on the development set: span F1, or token accuracy when labels have no spans.
    pub dev: Option<f64>,
    /// Seconds that the iteration took, without the development set.
    pub seconds: f64,
    /// How often inference converged, where it is iterative: on graphs.
    pub convergence: Option<Convergence>,
}

/// What the observer of training wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop and keep what was learned.
    Stop,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The optimiser was done.
    Optimizer(Status),
    /// The development score did not improve any more.
    Patience,
    /// The observer asked for it.
    Asked,
    /// Counting needs no iterations.
    Counted,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Optimizer(status) => status.fmt(f),
            Stop::Patience => f.write_str("the development score no longer improves"),
            Stop::Asked => f.write_str("stopped on request"),
            Stop::Counted => f.write_str("estimated from counts"),
        }
    }
}

/// The result of training.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: ChainModel,
    /// Number of features that were trained; those whose weight is zero are not in the model.
    pub features: usize,
    /// How many weights the start took over from another model.
    pub warm: Option<usize>,
    /// Every iteration, those before a checkpoint included.
    pub iterations: Vec<Progress>,
    /// The iteration whose weights the model has, when a development set chose it.
    pub best: Option<u64>,
    /// Why it ended.
    pub stop: Stop,
}

/// What is known before the first iteration.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    /// Number of features.
    pub features: usize,
    /// States of the automaton.
    pub states: usize,
    /// Bytes in use by the data in the layout of training.
    pub memory: usize,
    /// How many weights were taken over from another model.
    pub warm: Option<usize>,
    /// The iteration after which a checkpoint was written that the run goes on from.
    pub resumed: Option<u64>,
}

/// Sees training happen; every method may be left out.
pub trait Observer {
    /// Features were chosen and data laid out.
    fn prepared(&mut self, _prepared: &Prepared) {}
    /// An iteration is done.
    fn iteration(&mut self, _progress: &Progress) -> Flow {
        Flow::Continue
    }
}

/// Watches nothing.
impl Observer for () {}

/// Trains a model on the threads of the current rayon pool.
///
/// `dev` must have been read against the alphabets of `data`. `warm` is a model to start from.
pub fn train(
    data: Dataset,
    dev: Option<&Dataset>,
    warm: Option<&ChainModel>,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    let mut trained = match (&options.algorithm, options.precision) {
        (Algorithm::Generative(kind, smoothing), _) => count(*kind, data, *smoothing),
        (_, Precision::F64) => run::<f64>(data, dev, warm, options, observer),
        (_, Precision::F32) => run::<f32>(data, dev, warm, options, observer),
    }?;
    trained.model = trained.model.with_algorithm(options.algorithm.name());
    Ok(trained)
}

fn check_smoothing(smoothing: f64) -> Result<(), Error> {
    if smoothing.is_finite() && smoothing > 0.0 {
        return Ok(());
    }
    Err(Error::Optimize(OptimizeError::Option {
        name: "smoothing",
        value: smoothing,
        expected: "a finite number above 0",
    }))
}

fn count(kind: Generative, data: Dataset, smoothing: f64) -> Result<Trained, Error> {
    check_smoothing(smoothing)?;
    let model = generative::estimate(kind, data, smoothing)?;
    let features = model.weights().len();
    Ok(Trained {
        model,
        features,
        warm: None,
        iterations: Vec::new(),
        best: None,
        stop: Stop::Counted,
    })
}

fn run<T: Machines>(
    data: Dataset,
    dev: Option<&Dataset>,
    warm: Option<&ChainModel>,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    let print = || fingerprint(&data, dev, warm, options);
    let fingerprint = options.checkpoint.is_some().then(print);
    let dev = dev.map(|dev| Dev::new(dev, &data.labels)).transpose()?;
    let structure = Structure::build(&data, &options.structure)?;
    let mut objective = ChainObjective::<T>::new(&structure, data, options.arithmetic);
    let resumed = match (&options.checkpoint, fingerprint) {
        (Some(checkpoint), Some(print)) if checkpoint.resume => {
            Checkpoint::load(&checkpoint.path, print, structure.weights())?
        }
        _ => None,
    };
    let warm = warm.filter(|_| resumed.is_none()).map(|model| {
        let data = objective.data();
        model.project(&data.labels, &data.observations, &structure)
    });
    let taken = warm.as_ref().map(|start| start.taken);
    observer.prepared(&Prepared {
        features: structure.weights(),
        states: structure.automaton().states(),
        memory: objective.memory(),
        warm: taken,
        resumed: resumed.as_ref().map(|(_, state)| state.done()),
    });
    let (mut machine, mut state) = match resumed {
        Some((optimizer, state)) => (T::machine(&options.algorithm, Start::Saved(&optimizer))?, state),
        None => {
            let start = match warm {
                Some(start) => objective.import(&start.weights),
                None => vec![0.0; objective.len()],
            };
            (
                T::machine(&options.algorithm, Start::Weights(start))?,
                Checkpoint::default(),
            )
        }
    };
    let impatient = |state: &Checkpoint| {
        let spent = |patience| state.done() > 0 && state.without_progress() >= patience;
        options.patience.is_some_and(spent)
    };
    let mut saved = Instant::now();
    let stop = loop {
        // A run may have been killed after its last checkpoint, before the model was written.
        if impatient(&state) {
            break Stop::Patience;
        }
        let started = Instant::now();
        let Some(iteration) = machine.step(&mut objective)? else {
            break Stop::Optimizer(machine.status());
        };
        let seconds = started.elapsed().as_secs_f64();
        let score = dev.as_ref().map(|dev| {
            let weights = objective.export(machine.weights());
            let score = dev.score(&structure, &weights);
            state.judge(score, iteration.iteration, weights);
            score
        });
        let progress = Progress {
            iteration,
            dev: score,
            seconds,
            convergence: None,
        };
        let flow = observer.iteration(&progress);
        state.iterations.push(progress);
        if let (Some(checkpoint), Some(print)) = (&options.checkpoint, fingerprint) {
            let due = checkpoint.every.is_due(iteration.iteration, saved.elapsed());
            if due || impatient(&state) || flow == Flow::Stop {
                state.save(&checkpoint.path, print, &machine.save())?;
                saved = Instant::now();
            }
        }
        if flow == Flow::Stop {
            break Stop::Asked;
        }
    };
    let best = state.best.take();
    let weights = match &best {
        Some(best) => best.weights.clone(),
        None => objective.export(machine.weights()),
    };
    drop(machine);
    let data = objective.data();
    let model = ChainModel::new(data.labels.clone(), &data.observations, &structure, &weights);
    Ok(Trained {
        model,
        features: structure.weights(),
        warm: taken,
        iterations: state.iterations,
        best: best.map(|best| best.iteration),
        stop,
    })
}

/// The same for two runs that take the same steps.
fn fingerprint(
    data: &Dataset,
    dev: Option<&Dataset>,
    warm: Option<&ChainModel>,
    options: &TrainOptions,
) -> u64 {
    let mut algorithm = options.algorithm.clone();
    // More iterations may be asked for when a run is resumed.
    match &mut algorithm {
        Algorithm::Lbfgs(options) => options.max_iterations = None,
        Algorithm::OnlineLbfgs(options) => options.max_iterations = None,
        Algorithm::Sgd(options) => options.max_iterations = None,
        Algorithm::AveragedPerceptron(options) => options.max_iterations = None,
        Algorithm::PassiveAggressive(options) => options.max_iterations = None,
        Algorithm::Arow(options) => options.max_iterations = None,
        Algorithm::Generative(..) => {}
    }
    let dev = dev.map(Dataset::fingerprint);
    let warm = warm.map(ChainModel::fingerprint);
    let choices = format!(
        "{:?} {algorithm:?} {:?} {:?} {dev:?} {warm:?}",
        options.structure, options.precision, options.arithmetic
    );
    fieldmark_core::Alphabet::hash(&format!("{:016x} {choices}", data.fingerprint()))
}
