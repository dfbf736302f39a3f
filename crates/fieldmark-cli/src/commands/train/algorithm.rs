//! Options of the training algorithms.

use crate::failure::Failure;
use clap::ValueEnum;
use fieldmark::Algorithm;
use fieldmark::chain::train::generative::Generative;
use fieldmark::core::optimize::{LbfgsOptions, OnlineLbfgsOptions, Prior};

/// How weights are found.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Training options")]
pub struct AlgorithmOptions {
    /// Training algorithm
    #[arg(short, long, value_enum, default_value_t, value_name = "NAME")]
    algorithm: AlgorithmName,

    /// Coefficient of the L1 norm; above 0 many weights become zero [lbfgs: 0]
    #[arg(long, value_name = "X")]
    c1: Option<f64>,

    /// Coefficient of the squared L2 norm [lbfgs, online-lbfgs: 1]
    #[arg(long, value_name = "X")]
    c2: Option<f64>,

    /// Stop after this many iterations (passes over the data)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_iterations: Option<u64>,

    /// Converged when the gradient is this small, relative to the weights [lbfgs, online-lbfgs: 1e-5]
    #[arg(long, value_name = "X")]
    epsilon: Option<f64>,

    /// Number of iterations over which --delta is tested [lbfgs: 10, online-lbfgs: 5]
    #[arg(long, value_name = "N")]
    period: Option<usize>,

    /// Converged when the loss fell by less than this, relative [lbfgs: 1e-5, online-lbfgs: 1e-4]
    #[arg(long, value_name = "X")]
    delta: Option<f64>,

    /// Past steps from which the curvature is estimated [lbfgs: 6, online-lbfgs: 10]
    #[arg(long, value_name = "N")]
    num_memories: Option<usize>,

    /// Most evaluations in one line search [lbfgs: 20]
    #[arg(long, value_name = "N")]
    max_linesearch: Option<usize>,

    /// Sequences per batch [online-lbfgs: a fiftieth of the data, at least 20]
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,

    /// First step length [online-lbfgs: 0.5]
    #[arg(long, value_name = "X")]
    eta0: Option<f64>,

    /// Passes after which the step length has halved [online-lbfgs: 10]
    #[arg(long, value_name = "X")]
    tau: Option<f64>,

    /// Trust in the model: added to the curvature [online-lbfgs: 0]
    #[arg(long, value_name = "X")]
    lambda: Option<f64>,

    /// Decides the order in which sequences are visited [online-lbfgs: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Added to every count [naive-bayes, hmm: 1]
    #[arg(long, value_name = "X")]
    smoothing: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum AlgorithmName {
    /// L-BFGS, or OWL-QN with --c1: the exact optimum
    #[default]
    Lbfgs,
    /// L-BFGS on batches: a good model after a few passes over large data
    OnlineLbfgs,
    /// Naive Bayes, a baseline: labels are independent
    NaiveBayes,
    /// A hidden Markov model of the first order, a baseline
    Hmm,
}

/// The options that an algorithm understands.
fn understood(algorithm: AlgorithmName) -> &'static [&'static str] {
    match algorithm {
        AlgorithmName::Lbfgs => &[
            "c1",
            "c2",
            "max-iterations",
            "epsilon",
            "period",
            "delta",
            "num-memories",
            "max-linesearch",
        ],
        AlgorithmName::OnlineLbfgs => &[
            "c2",
            "max-iterations",
            "epsilon",
            "period",
            "delta",
            "num-memories",
            "batch-size",
            "eta0",
            "tau",
            "lambda",
            "seed",
        ],
        AlgorithmName::NaiveBayes | AlgorithmName::Hmm => &["smoothing"],
    }
}

impl AlgorithmOptions {
    /// The largest number of iterations, when there is one.
    pub fn max_iterations(&self) -> Option<u64> {
        self.max_iterations
    }

    /// The algorithm with its options.
    pub fn algorithm(&self) -> Result<Algorithm, Failure> {
        self.check()?;
        Ok(match self.algorithm {
            AlgorithmName::Lbfgs => Algorithm::Lbfgs(self.lbfgs()),
            AlgorithmName::OnlineLbfgs => Algorithm::OnlineLbfgs(self.online_lbfgs()),
            AlgorithmName::NaiveBayes => Algorithm::Generative(Generative::NaiveBayes, self.smoothing()),
            AlgorithmName::Hmm => Algorithm::Generative(Generative::HiddenMarkov, self.smoothing()),
        })
    }

    /// An option that would have no effect is a misunderstanding.
    fn check(&self) -> Result<(), Failure> {
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
            ("seed", self.seed.is_some()),
            ("smoothing", self.smoothing.is_some()),
        ];
        let understood = understood(self.algorithm);
        match given
            .iter()
            .find(|(name, given)| *given && !understood.contains(name))
        {
            None => Ok(()),
            Some((option, _)) => {
                let name = self.algorithm.to_possible_value();
                let name = name.as_ref().map_or("", |value| value.get_name());
                Err(Failure::user(format_args!(
                    "--{option} means nothing to --algorithm {name}, whose options are --{}",
                    understood.join(", --")
                )))
            }
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
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            period: self.period.unwrap_or(default.period),
            delta: self.delta.unwrap_or(default.delta),
            max_iterations: self.max_iterations,
            seed: self.seed.unwrap_or(default.seed),
            ..default
        }
    }

    fn smoothing(&self) -> f64 {
        self.smoothing.unwrap_or(1.0)
    }
}
