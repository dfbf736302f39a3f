//! [`Results`]: learning curves, what they have in common, and how many labels they save.

use super::SimulationOptions;
use super::curve::{Curve, Point};
use crate::{Error, Scores, Strategy, Unit};
use fieldmark_eval::Summary;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// Everything that an experiment found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// What was simulated.
    pub settings: Settings,
    /// Sequences in the pool.
    pub sequences: usize,
    /// Tokens in the pool.
    pub tokens: usize,
    /// Number of labels.
    pub labels: usize,
    /// Sequences in the test set.
    pub test_sequences: usize,
    /// Tokens in the test set.
    pub test_tokens: usize,
    /// The scores of a model that knows all labels of the pool.
    pub full: Scores,
    /// The curves, run by run.
    pub curves: Vec<Curve>,
}

/// What was simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The strategies.
    pub strategies: Vec<Strategy>,
    /// How much was labelled at each question.
    pub unit: Unit,
    /// Tokens labelled at the start, at least.
    pub initial_tokens: usize,
    /// Questions in a batch; tokens, where whole sequences are labelled.
    pub batch: usize,
    /// Number of batches.
    pub iterations: usize,
    /// Number of runs.
    pub runs: usize,
    /// What decided what is random.
    pub seed: u64,
    /// Questions at least so similar to another of the batch were not asked.
    pub similarity: Option<f64>,
    /// Coefficient of the L1 norm.
    pub c1: f64,
    /// Coefficient of the squared L2 norm.
    pub c2: f64,
    /// Whether models started from the weights of the last one.
    pub warm: bool,
}

impl Settings {
    pub(super) fn new(options: &SimulationOptions) -> Self {
        let prior = options.learning.lbfgs.prior;
        Self {
            strategies: options.strategies.clone(),
            unit: options.unit,
            initial_tokens: options.initial_tokens,
            batch: options.batch,
            iterations: options.iterations,
            runs: options.runs,
            seed: options.seed,
            similarity: options.similarity,
            c1: prior.c1,
            c2: prior.c2,
            warm: options.learning.warm,
        }
    }
}

/// The runs of one strategy together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrategySummary {
    /// The strategy.
    pub strategy: Strategy,
    /// The mean curve, as far as every run reaches.
    pub points: Vec<MeanPoint>,
    /// Mean token F1 over all points: one number for the whole curve.
    pub mean_f1: f64,
    /// The largest fall of token F1 from a point to the next, in any run.
    pub largest_drop: f64,
    /// Labels needed for some shares of full supervision.
    pub needed: Vec<Needed>,
}

/// The mean of all runs at one point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanPoint {
    /// Number of batches so far.
    pub iteration: usize,
    /// Labelled tokens.
    pub labelled_tokens: f64,
    /// Token F1.
    pub token_f1: f64,
    /// Its standard deviation over the runs; 0 for one run.
    pub deviation: f64,
    /// Token F1, mean over types.
    pub token_macro_f1: f64,
    /// Span F1, if labels mark spans.
    pub span_f1: Option<f64>,
    /// Share of right labels.
    pub accuracy: f64,
    /// Length of the sequences that tokens were chosen from.
    pub sequence_length: Option<f64>,
    /// Distance of chosen tokens to the nearest labelled one of the sequence, where there is one.
    pub distance: Option<f64>,
    /// Share of tokens chosen from sequences in which nothing was labelled.
    pub untouched: Option<f64>,
}

/// When a share of what full supervision reaches is reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Needed {
    /// The share of the token F1 of full supervision.
    pub share: f64,
    /// Labelled tokens at the first point of the mean curve that reaches it; `None` if none does.
    pub labelled_tokens: Option<f64>,
    /// The same as a share of all tokens of the pool.
    pub of_all: Option<f64>,
}

/// Shares of full supervision that are looked for.
const SHARES: [f64; 2] = [0.95, 0.99];

impl Results {
    /// The strategies, each over all its runs, in the order of the settings.
    ///
    /// # Errors
    /// When a score is not a number, which a damaged file may hold.
    pub fn summaries(&self) -> Result<Vec<StrategySummary>, Error> {
        let strategies = self.settings.strategies.iter();
        strategies.map(|&strategy| self.summary(strategy)).collect()
    }

    fn summary(&self, strategy: Strategy) -> Result<StrategySummary, Error> {
        let curves: Vec<&Curve> = self
            .curves
            .iter()
            .filter(|curve| curve.strategy == strategy)
            .collect();
        let length = curves.iter().map(|curve| curve.points.len()).min().unwrap_or(0);
        let points = (0..length)
            .map(|at| MeanPoint::of(&curves.iter().map(|curve| curve.points[at]).collect::<Vec<_>>()))
            .collect::<Result<Vec<_>, _>>()?;
        let falls = curves.iter().flat_map(|curve| {
            let steps = curve.points.windows(2);
            steps.map(|pair| pair[0].scores.token_f1 - pair[1].scores.token_f1)
        });
        Ok(StrategySummary {
            strategy,
            mean_f1: points.iter().map(|point| point.token_f1).sum::<f64>() / points.len().max(1) as f64,
            largest_drop: falls.fold(0.0, f64::max),
            needed: SHARES.iter().map(|&share| self.needed(share, &points)).collect(),
            points,
        })
    }

    fn needed(&self, share: f64, points: &[MeanPoint]) -> Needed {
        let reached = points
            .iter()
            .find(|point| point.token_f1 >= share * self.full.token_f1)
            .map(|point| point.labelled_tokens);
        Needed {
            share,
            labelled_tokens: reached,
            of_all: reached.map(|tokens| tokens / self.tokens as f64),
        }
    }

    /// Writes all points of all curves as CSV, with a header. What there is not is left empty.
    pub fn write_csv<W: Write>(&self, mut out: W) -> io::Result<()> {
        writeln!(
            out,
            "strategy,run,iteration,questions,labelled_tokens,labelled_sequences,token_f1,token_macro_f1,accuracy,span_f1,\
             sequence_length,distance,untouched"
        )?;
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        for curve in &self.curves {
            for point in &curve.points {
                let (scores, behaviour) = (&point.scores, &point.behaviour);
                writeln!(
                    out,
                    "{},{},{},{},{},{},{},{},{},{},{},{},{}",
                    curve.strategy,
                    curve.run,
                    point.iteration,
                    behaviour.questions,
                    point.labelled_tokens,
                    point.labelled_sequences,
                    scores.token_f1,
                    scores.token_macro_f1,
                    scores.accuracy,
                    number(scores.span_f1),
                    number(behaviour.mean_length()),
                    number(behaviour.mean_distance()),
                    number(behaviour.untouched()),
                )?;
            }
        }
        Ok(())
    }
}

impl MeanPoint {
    fn of(points: &[Point]) -> Result<Self, Error> {
        let summary = |value: &dyn Fn(&Point) -> f64| {
            let values: Vec<f64> = points.iter().map(value).collect();
            Summary::new(&values).map_err(|error| Error::Option(error.to_string()))
        };
        let mean = |value: &dyn Fn(&Point) -> f64| summary(value).map(|summary| summary.mean());
        // Over the runs in which there is a value.
        let mean_of_some = |value: &dyn Fn(&Point) -> Option<f64>| {
            let values: Vec<f64> = points.iter().filter_map(value).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let f1 = summary(&|point| point.scores.token_f1)?;
        Ok(Self {
            iteration: points.first().map_or(0, |point| point.iteration),
            labelled_tokens: mean(&|point| point.labelled_tokens as f64)?,
            token_f1: f1.mean(),
            deviation: f1.deviation(),
            token_macro_f1: mean(&|point| point.scores.token_macro_f1)?,
            span_f1: mean_of_some(&|point| point.scores.span_f1),
            accuracy: mean(&|point| point.scores.accuracy)?,
            sequence_length: mean_of_some(&|point| point.behaviour.mean_length()),
            distance: mean_of_some(&|point| point.behaviour.mean_distance()),
            untouched: mean_of_some(&|point| point.behaviour.untouched()),
        })
    }
}
