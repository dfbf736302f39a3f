//! Gibbs sampling (Geman & Geman 1984): marginals from samples, and the best labelling seen on the way.

mod kept;

use crate::engine::FactorBeliefs;
use crate::{Beliefs, Conditional, Decoding, Engine, Error, FactorGraph, LogZ, Report};
use fieldmark_core::random::SplitMix64;
use kept::Kept;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Temperatures of a search, from the first sweep to the last, in a geometric row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annealing {
    /// Temperature of the first sweep.
    pub from: f64,
    /// Temperature of the last sweep.
    pub to: f64,
}

/// Options of [`Gibbs`]. A sweep draws a new label for each variable once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GibbsOptions {
    /// Sweeps of the search for the best labelling.
    pub sweeps: usize,
    /// Temperatures of that search; 1 all the time if `None`.
    pub annealing: Option<Annealing>,
    /// Sweeps before the first sample.
    pub burn_in: usize,
    /// Samples for marginals, one after each sweep.
    pub samples: usize,
    /// Start of the random numbers.
    pub seed: u64,
}

impl Default for GibbsOptions {
    fn default() -> Self {
        Self {
            sweeps: 100,
            annealing: None,
            burn_in: 100,
            samples: 1000,
            seed: 0,
        }
    }
}

/// A labelling whose labels are drawn anew one by one, with its score kept up to date.
#[derive(Clone, Debug, Default)]
pub struct GibbsState {
    labels: Vec<u32>,
    score: f64,
    violations: u64,
    conditional: Conditional,
    weights: Vec<f64>,
}

impl GibbsState {
    /// Begins with a labelling; labels that are not allowed are replaced by the first that is.
    pub fn start(&mut self, graph: &FactorGraph, labels: &[u32]) -> Result<(), Error> {
        graph.score(labels)?;
        self.labels.clear();
        self.labels.extend_from_slice(labels);
        for (variable, label) in (0..).zip(&mut self.labels) {
            if !graph.label_sets().contains(variable, *label) {
                *label = graph.label_sets().iter(variable).next().unwrap_or(0);
            }
        }
        self.score = 0.0;
        self.violations = 0;
        for factor in 0..graph.factors() {
            let score = graph.scores(factor)[graph.entry(factor, &self.labels)];
            if score > f64::NEG_INFINITY {
                self.score += score;
            } else {
                self.violations += 1;
            }
        }
        Ok(())
    }

    /// Begins with the best label of each variable on its own.
    pub fn start_locally(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        let mut labels = Vec::with_capacity(graph.variables());
        let mut scores = Vec::new();
        for variable in 0..graph.variables() as u32 {
            scores.resize(graph.labels(variable) as usize, 0.0);
            graph.local_scores(variable, &mut scores);
            let better = |best: u32, label: u32| {
                if scores[label as usize] > scores[best as usize] {
                    label
                } else {
                    best
                }
            };
            labels.push((0..graph.labels(variable)).fold(0, better));
        }
        self.start(graph, &labels)
    }

    /// The labels.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The sum of the scores of the factors that do not forbid the labels.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// The number of factors that forbid the labels.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// Draws the label of a variable given all others, at a temperature; returns the change of the score.
    ///
    /// Where something is forbidden, only labels with the fewest violations are drawn: a labelling that is allowed
    /// stays so, and one that is not moves towards it.
    ///
    /// # Panics
    /// If the variable does not exist or the graph is not the one that the state began with.
    pub fn draw(
        &mut self,
        graph: &FactorGraph,
        variable: u32,
        temperature: f64,
        random: &mut SplitMix64,
    ) -> f64 {
        self.conditional.compute(graph, &self.labels, variable);
        let label = self.conditional.draw(temperature, &mut self.weights, random);
        self.set(variable, label)
    }

    /// Changes a label whose conditional was just computed.
    fn set(&mut self, variable: u32, label: u32) -> f64 {
        let old = std::mem::replace(&mut self.labels[variable as usize], label) as usize;
        let (scores, violations) = (&self.conditional.scores, &self.conditional.violations);
        let change = scores[label as usize] - scores[old];
        self.score += change;
        self.violations =
            self.violations - u64::from(violations[old]) + u64::from(violations[label as usize]);
        change
    }
}

/// Gibbs sampling: reproducible, for graphs of any structure.
///
/// Marginals of variables are means of conditional distributions, which vary less than counts; those of factors are
/// counts. Where tables forbid combinations, the sampler may not reach all labellings, and may miss allowed ones.
#[derive(Clone, Debug)]
pub struct Gibbs {
    options: GibbsOptions,
    state: GibbsState,
    /// What the marginals of factors need of the samples.
    kept: Kept,
    marginals: Vec<f64>,
}

impl Gibbs {
    /// A sampler with checked options.
    pub fn new(options: GibbsOptions) -> Result<Self, Error> {
        let wrong = |option, found, expected| {
            Err(Error::Option {
                option,
                found,
                expected,
            })
        };
        if options.sweeps == 0 {
            return wrong("sweeps", 0.0, "at least 1");
        }
        if options.samples == 0 {
            return wrong("samples", 0.0, "at least 1");
        }
        for temperature in options
            .annealing
            .iter()
            .flat_map(|annealing| [annealing.from, annealing.to])
        {
            if !(temperature > 0.0 && temperature.is_finite()) {
                return wrong("temperature", temperature, "a number above 0");
            }
        }
        let state = GibbsState::default();
        Ok(Self {
            options,
            state,
            kept: Kept::default(),
            marginals: Vec::new(),
        })
    }

    fn temperature(&self, sweep: usize) -> f64 {
        let Some(Annealing { from, to }) = self.options.annealing else {
            return 1.0;
        };
        let last = (self.options.sweeps - 1).max(1) as f64;
        from * (to / from).powf(sweep as f64 / last)
    }

    fn sweep(&mut self, graph: &FactorGraph, temperature: f64, random: &mut SplitMix64) {
        for variable in 0..graph.variables() as u32 {
            self.state.draw(graph, variable, temperature, random);
        }
    }

    /// A sweep whose conditional distributions are added to the marginals.
    fn sample(&mut self, graph: &FactorGraph, random: &mut SplitMix64) {
        for variable in 0..graph.variables() as u32 {
            self.state.draw(graph, variable, 1.0, random);
            let total: f64 = self.state.weights.iter().sum();
            let marginals = &mut self.marginals[graph.states(variable)];
            for (marginal, weight) in marginals.iter_mut().zip(&self.state.weights) {
                *marginal += weight / total;
            }
        }
        self.kept.add(graph, self.state.labels());
    }

    /// Sweeps until the labelling is allowed, as many times as there are sweeps before the first sample and again.
    fn burn_in(&mut self, graph: &FactorGraph, random: &mut SplitMix64) -> Result<(), Error> {
        self.state.start_locally(graph)?;
        for _ in 0..self.options.burn_in {
            self.sweep(graph, 1.0, random);
        }
        for _ in 0..self.options.burn_in.max(100) {
            if self.state.violations() == 0 {
                return Ok(());
            }
            self.sweep(graph, 1.0, random);
        }
        if self.state.violations() == 0 {
            Ok(())
        } else {
            Err(nothing_found())
        }
    }
}

fn nothing_found() -> Error {
    Error::NothingFound {
        method: "Gibbs sampling",
    }
}

impl Engine for Gibbs {
    /// Marginals; log Z stays unknown. The residual is the largest difference between the marginals of the first and
    /// of the second half of the samples.
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        let mut random = SplitMix64(self.options.seed);
        self.burn_in(graph, &mut random)?;
        // The memory of the last answer goes first.
        self.kept = Kept::default();
        self.kept = Kept::new(graph, self.options.samples);
        self.marginals.clear();
        self.marginals.resize(graph.all_states(), 0.0);
        let count = self.options.samples;
        let half = count / 2;
        let mut first = Vec::new();
        for sample in 0..count {
            if sample == half {
                first.clone_from(&self.marginals);
            }
            self.sample(graph, &mut random);
        }
        let mut residual = 0.0f64;
        for (sum, first) in self.marginals.iter_mut().zip(first) {
            let second = (*sum - first) / (count - half) as f64;
            if half > 0 {
                residual = residual.max((first / half as f64 - second).abs());
            }
            *sum /= count as f64;
        }
        let iterations = self.options.burn_in + count;
        let messages = iterations as u64 * graph.variables() as u64;
        let report = Report {
            exact: false,
            converged: false,
            iterations,
            messages,
            residual,
        };
        Ok(Beliefs {
            graph,
            log_z: LogZ::Unknown,
            variables: &self.marginals,
            factors: &*self,
            report,
        })
    }

    /// The best labelling at the end of any sweep.
    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        let mut random = SplitMix64(self.options.seed);
        self.state.start_locally(graph)?;
        let (mut labels, mut score) = (Vec::new(), f64::NEG_INFINITY);
        for sweep in 0..self.options.sweeps {
            self.sweep(graph, self.temperature(sweep), &mut random);
            if self.state.violations() == 0 && (self.state.score() > score || sweep == 0) {
                labels.clear();
                labels.extend_from_slice(self.state.labels());
                score = self.state.score();
            }
        }
        if score == f64::NEG_INFINITY {
            return Err(nothing_found());
        }
        let score = graph.score(&labels)?;
        let iterations = self.options.sweeps;
        let messages = iterations as u64 * graph.variables() as u64;
        let report = Report {
            exact: false,
            converged: false,
            iterations,
            messages,
            residual: f64::INFINITY,
        };
        Ok(Decoding {
            labels,
            score,
            bound: None,
            report,
        })
    }
}

impl FactorBeliefs for Gibbs {
    fn factor(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        let share = 1.0 / self.options.samples as f64;
        self.kept.add_shares(graph, factor, share, into);
    }
}
