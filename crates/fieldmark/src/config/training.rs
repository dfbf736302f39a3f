//! [`TrainingConfig`]: the training algorithms and their options, as in a config and on the command line.

use crate::{Algorithm, Error};
use fieldmark_chain::train::generative::Generative;
use fieldmark_chain::train::online::{
    ArowOptions, PaType, PassiveAggressiveOptions, PerceptronOptions, SgdOptions,
};
use fieldmark_core::optimize::{LbfgsOptions, OnlineLbfgsOptions, Prior};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How weights are found.
///
/// What is not given has the default of the algorithm; an option that means nothing to it is an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Training options"))]
pub struct TrainingConfig {
    /// Training algorithm
    #[cfg_attr(
        feature = "clap",
        arg(short, long, value_enum, default_value_t, value_name = "NAME")
    )]
    pub algorithm: AlgorithmName,

    /// Coefficient of the L1 norm; above 0 many weights become zero [lbfgs: 0, l1sgd: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c1: Option<f64>,

    /// Coefficient of the squared L2 norm [lbfgs, online-lbfgs, l2sgd: 1, l1sgd: 0]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c2: Option<f64>,

    /// Stop after this many iterations (passes over the data) [ap, pa, arow: 100, l2sgd, l1sgd: 1000]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u64>,

    /// Converged when the gradient is this small, relative to the weights [lbfgs, online-lbfgs: 1e-5];
    /// or when the mean loss of a sequence is at most this [ap, pa, arow: 0]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,

    /// Number of iterations over which --delta is tested, 0 for no such test [lbfgs, l2sgd, l1sgd: 10, online-lbfgs: 5]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<usize>,

    /// Converged when the loss fell by less than this, relative [lbfgs: 1e-5, online-lbfgs: 1e-4,
    /// l2sgd, l1sgd: 1e-6]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,

    /// Past steps from which the curvature is estimated [lbfgs: 6, online-lbfgs: 10]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_memories: Option<usize>,

    /// Most evaluations in one line search [lbfgs: 20]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_linesearch: Option<usize>,

    /// Sequences per batch [online-lbfgs: a fiftieth of the data, at least 20]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<usize>,

    /// First step length [online-lbfgs: 0.5]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta0: Option<f64>,

    /// Passes after which the step length has halved [online-lbfgs: 10]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tau: Option<f64>,

    /// Trust in the model: added to the curvature [online-lbfgs: 0]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,

    /// Scale of the very first step, before any curvature is known [online-lbfgs: 1e-8]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_step: Option<f64>,

    /// Learning rate that calibration tries first [l2sgd, l1sgd: 0.1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_eta: Option<f64>,

    /// Factor between the learning rates that calibration tries [l2sgd, l1sgd: 2]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_rate: Option<f64>,

    /// Sequences in the sample that calibration uses [l2sgd, l1sgd: 1000]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_samples: Option<usize>,

    /// Good learning rates that calibration tries in each direction [l2sgd, l1sgd: 10]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_candidates: Option<usize>,

    /// Most learning rates that calibration tries [l2sgd, l1sgd: 20]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_max_trials: Option<usize>,

    /// Factor of the learning rate from pass to pass [l1sgd: 0.85]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay: Option<f64>,

    /// How far to go after a mistake: 0, 1 or 2 for PA, PA-I or PA-II [pa: 1]
    #[cfg_attr(feature = "clap", arg(long = "type", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=2)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "type")]
    pub pa_type: Option<u32>,

    /// Aggressiveness [pa: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<f64>,

    /// Whether a mistake costs the square root of its number of wrong labels [pa: true]
    #[cfg_attr(feature = "clap", arg(long, value_name = "BOOL"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_sensitive: Option<bool>,

    /// Whether weights are averaged [pa: true]
    #[cfg_attr(feature = "clap", arg(long, value_name = "BOOL"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaging: Option<bool>,

    /// Variance of every weight at the start [arow: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance: Option<f64>,

    /// Keep the weights (high) or correct the mistake (low) [arow: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,

    /// Decides the order in which sequences are visited [all but lbfgs: 0]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// Added to every count [naive-bayes, hmm: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<f64>,
}

/// The name of a training algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum AlgorithmName {
    /// L-BFGS, or OWL-QN with --c1: the exact optimum
    #[default]
    Lbfgs,
    /// L-BFGS on batches: a good model after a few passes over large data
    OnlineLbfgs,
    /// Stochastic gradient descent with an L2 term, as in CRFsuite
    L2sgd,
    /// Stochastic gradient descent with a cumulative L1 penalty: sparse
    L1sgd,
    /// Averaged perceptron: fast, without probabilities
    Ap,
    /// Passive-aggressive: fast, without probabilities
    Pa,
    /// Adaptive regularisation of weight vectors: for noisy labels, without probabilities
    Arow,
    /// Naive Bayes, a baseline: labels are independent
    NaiveBayes,
    /// A hidden Markov model of the first order, a baseline
    Hmm,
}

/// The options that an algorithm understands, besides `max-iterations`.
fn understood(algorithm: AlgorithmName) -> String {
    const CALIBRATION: &str = "calibration-eta calibration-rate calibration-samples calibration-candidates \
                               calibration-max-trials";
    match algorithm {
        AlgorithmName::Lbfgs => "c1 c2 epsilon period delta num-memories max-linesearch".into(),
        AlgorithmName::OnlineLbfgs => {
            "c2 epsilon period delta num-memories batch-size eta0 tau lambda first-step seed".into()
        }
        AlgorithmName::L2sgd => format!("c2 period delta seed {CALIBRATION}"),
        AlgorithmName::L1sgd => format!("c1 c2 period delta decay seed {CALIBRATION}"),
        AlgorithmName::Ap => "epsilon seed".into(),
        AlgorithmName::Pa => "type c error-sensitive averaging epsilon seed".into(),
        AlgorithmName::Arow => "variance gamma epsilon seed".into(),
        AlgorithmName::NaiveBayes | AlgorithmName::Hmm => "smoothing".into(),
    }
}

impl TrainingConfig {
    /// The order of models that are counted, which is not for the user to choose.
    pub fn counted_order(&self) -> Option<u8> {
        match self.algorithm {
            AlgorithmName::NaiveBayes => Some(0),
            AlgorithmName::Hmm => Some(1),
            _ => None,
        }
    }

    /// The algorithm with its options. `others` are options of the model and of the run, and whether they were
    /// given.
    pub fn algorithm(&self, others: &[(&'static str, bool)]) -> Result<Algorithm, Error> {
        self.check(others)?;
        Ok(match self.algorithm {
            AlgorithmName::Lbfgs => Algorithm::Lbfgs(self.lbfgs()),
            AlgorithmName::OnlineLbfgs => Algorithm::OnlineLbfgs(self.online_lbfgs()),
            AlgorithmName::L2sgd => Algorithm::Sgd(self.sgd(Prior { c1: 0.0, c2: 1.0 })),
            AlgorithmName::L1sgd => Algorithm::Sgd(self.sgd(Prior { c1: 1.0, c2: 0.0 })),
            AlgorithmName::Ap => Algorithm::AveragedPerceptron(self.perceptron()),
            AlgorithmName::Pa => Algorithm::PassiveAggressive(self.passive_aggressive()),
            AlgorithmName::Arow => Algorithm::Arow(self.arow()),
            AlgorithmName::NaiveBayes => Algorithm::Generative(Generative::NaiveBayes, self.smoothing()),
            AlgorithmName::Hmm => Algorithm::Generative(Generative::HiddenMarkov, self.smoothing()),
        })
    }

    /// An option that would have no effect is a misunderstanding.
    fn check(&self, others: &[(&'static str, bool)]) -> Result<(), Error> {
        let given = [
            ("c1", self.c1.is_some()),
            ("c2", self.c2.is_some()),
            ("max-iterations", self.max_iterations.is_some()),
            ("epsilon", self.epsilon.is_some()),
            ("period", self.period.is_some()),
            ("delta", self.delta.is_some()),
            ("num-memories", self.num_memories.is_some()),
            ("max-linesearch", self.max_linesearch.is_some()),
            ("batch-size", self.batch_size.is_some()),
            ("eta0", self.eta0.is_some()),
            ("tau", self.tau.is_some()),
            ("lambda", self.lambda.is_some()),
            ("first-step", self.first_step.is_some()),
            ("calibration-eta", self.calibration_eta.is_some()),
            ("calibration-rate", self.calibration_rate.is_some()),
            ("calibration-samples", self.calibration_samples.is_some()),
            ("calibration-candidates", self.calibration_candidates.is_some()),
            ("calibration-max-trials", self.calibration_max_trials.is_some()),
            ("decay", self.decay.is_some()),
            ("type", self.pa_type.is_some()),
            ("c", self.c.is_some()),
            ("error-sensitive", self.error_sensitive.is_some()),
            ("averaging", self.averaging.is_some()),
            ("variance", self.variance.is_some()),
            ("gamma", self.gamma.is_some()),
            ("seed", self.seed.is_some()),
            ("smoothing", self.smoothing.is_some()),
        ];
        let understood = understood(self.algorithm);
        let mut understood: Vec<&str> = understood.split(' ').collect();
        if !matches!(self.algorithm, AlgorithmName::NaiveBayes | AlgorithmName::Hmm) {
            understood.push("max-iterations");
        }
        let strange = given
            .iter()
            .filter(|(name, _)| !understood.contains(name))
            .chain(others.iter().filter(|(name, _)| !self.accepts(name)))
            .find(|(_, given)| *given);
        match strange {
            None => Ok(()),
            Some((option, _)) => {
                let name = self.name();
                Err(Error::Option(format!(
                    "--{option} means nothing to --algorithm {name}, whose options are --{}",
                    understood.join(", --")
                )))
            }
        }
    }

    /// Whether an option of the model or of the run means something to the algorithm.
    fn accepts(&self, option: &str) -> bool {
        match self.algorithm {
            AlgorithmName::Lbfgs | AlgorithmName::OnlineLbfgs => true,
            AlgorithmName::L2sgd | AlgorithmName::L1sgd => option != "precision",
            // They compare best sequences, without sums.
            AlgorithmName::Ap | AlgorithmName::Pa | AlgorithmName::Arow => {
                !matches!(option, "precision" | "log-space")
            }
            AlgorithmName::NaiveBayes | AlgorithmName::Hmm => false,
        }
    }

    /// Whether the loss is the negative log-likelihood, with a prior.
    pub fn minimises_likelihood(&self) -> bool {
        matches!(
            self.algorithm,
            AlgorithmName::Lbfgs | AlgorithmName::OnlineLbfgs | AlgorithmName::L2sgd | AlgorithmName::L1sgd
        )
    }

    /// The name of the algorithm, as it is typed.
    pub fn name(&self) -> &'static str {
        match self.algorithm {
            AlgorithmName::Lbfgs => "lbfgs",
            AlgorithmName::OnlineLbfgs => "online-lbfgs",
            AlgorithmName::L2sgd => "l2sgd",
            AlgorithmName::L1sgd => "l1sgd",
            AlgorithmName::Ap => "ap",
            AlgorithmName::Pa => "pa",
            AlgorithmName::Arow => "arow",
            AlgorithmName::NaiveBayes => "naive-bayes",
            AlgorithmName::Hmm => "hmm",
        }
    }

    fn lbfgs(&self) -> LbfgsOptions {
        let default = LbfgsOptions::default();
        LbfgsOptions {
            prior: Prior {
                c1: self.c1.unwrap_or(default.prior.c1),
                c2: self.c2.unwrap_or(default.prior.c2),
            },
            num_memories: self.num_memories.unwrap_or(default.num_memories),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            period: self.period.unwrap_or(default.period),
            delta: self.delta.unwrap_or(default.delta),
            max_iterations: self.max_iterations,
            max_linesearch: self.max_linesearch.unwrap_or(default.max_linesearch),
            ..default
        }
    }

    fn online_lbfgs(&self) -> OnlineLbfgsOptions {
        let default = OnlineLbfgsOptions::default();
        OnlineLbfgsOptions {
            c2: self.c2.unwrap_or(default.c2),
            num_memories: self.num_memories.unwrap_or(default.num_memories),
            batch_size: self.batch_size.or(default.batch_size),
            eta0: self.eta0.unwrap_or(default.eta0),
            tau: self.tau.unwrap_or(default.tau),
            lambda: self.lambda.unwrap_or(default.lambda),
            first_step: self.first_step.unwrap_or(default.first_step),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            period: self.period.unwrap_or(default.period),
            delta: self.delta.unwrap_or(default.delta),
            max_iterations: self.max_iterations,
            seed: self.seed.unwrap_or(default.seed),
            ..default
        }
    }

    fn sgd(&self, prior: Prior) -> SgdOptions {
        let default = SgdOptions::default();
        SgdOptions {
            prior: Prior {
                c1: self.c1.unwrap_or(prior.c1),
                c2: self.c2.unwrap_or(prior.c2),
            },
            calibration_eta: self.calibration_eta.unwrap_or(default.calibration_eta),
            calibration_rate: self.calibration_rate.unwrap_or(default.calibration_rate),
            calibration_samples: self.calibration_samples.unwrap_or(default.calibration_samples),
            calibration_candidates: self
                .calibration_candidates
                .unwrap_or(default.calibration_candidates),
            calibration_max_trials: self
                .calibration_max_trials
                .unwrap_or(default.calibration_max_trials),
            decay: self.decay.unwrap_or(default.decay),
            period: self.period.unwrap_or(default.period),
            delta: self.delta.unwrap_or(default.delta),
            max_iterations: self.max_iterations.or(default.max_iterations),
            seed: self.seed.unwrap_or(default.seed),
        }
    }

    fn perceptron(&self) -> PerceptronOptions {
        let default = PerceptronOptions::default();
        PerceptronOptions {
            max_iterations: self.max_iterations.or(default.max_iterations),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            seed: self.seed.unwrap_or(default.seed),
        }
    }

    fn passive_aggressive(&self) -> PassiveAggressiveOptions {
        let default = PassiveAggressiveOptions::default();
        PassiveAggressiveOptions {
            pa_type: self
                .pa_type
                .and_then(PaType::from_number)
                .unwrap_or(default.pa_type),
            c: self.c.unwrap_or(default.c),
            error_sensitive: self.error_sensitive.unwrap_or(default.error_sensitive),
            averaging: self.averaging.unwrap_or(default.averaging),
            max_iterations: self.max_iterations.or(default.max_iterations),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            seed: self.seed.unwrap_or(default.seed),
        }
    }

    fn arow(&self) -> ArowOptions {
        let default = ArowOptions::default();
        ArowOptions {
            variance: self.variance.unwrap_or(default.variance),
            gamma: self.gamma.unwrap_or(default.gamma),
            max_iterations: self.max_iterations.or(default.max_iterations),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            seed: self.seed.unwrap_or(default.seed),
        }
    }

    fn smoothing(&self) -> f64 {
        self.smoothing.unwrap_or(1.0)
    }
}
