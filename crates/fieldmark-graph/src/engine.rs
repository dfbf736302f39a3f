//! What every engine answers: [`Engine`], [`Beliefs`], [`Decoding`] and an honest [`Report`].

use crate::{Error, FactorGraph};

/// Inference on factor graphs, in the sum and in the max form.
///
/// An engine is a worker: it owns scratch memory that grows to the largest graph it has seen, and each thread
/// has its own.
pub trait Engine {
    /// log Z and marginals.
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error>;

    /// The labelling with the highest score, or the best that the method finds.
    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error>;
}

/// An engine that knows, for each label of each variable, the best score of a labelling that has it.
pub trait MaxMarginals: Engine {
    /// The best score with each label, variable by variable; −∞ for labels that no allowed labelling has.
    fn max_marginals(&mut self, graph: &FactorGraph) -> Result<&[f64], Error>;
}

/// The logarithm of the sum of exp(score) over all allowed labellings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogZ {
    /// Exact up to rounding.
    Exact(f64),
    /// The Bethe estimate at the last messages; a stationary point if they converged (Yedidia et al. 2005).
    Bethe(f64),
    /// The method does not estimate it.
    Unknown,
}

impl LogZ {
    /// The number, exact or not.
    pub fn value(self) -> Option<f64> {
        match self {
            LogZ::Exact(value) | LogZ::Bethe(value) => Some(value),
            LogZ::Unknown => None,
        }
    }
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Whether the answer is exact up to rounding (for a labelling: whether it is proved to be the best).
    pub exact: bool,
    /// Whether the method reached its own goal before its limit.
    pub converged: bool,
    /// Rounds of an iterative method; 1 for methods that are not iterative.
    pub iterations: usize,
    /// Messages from factors to variables that a schedule computed, or moves of a sampler. Messages that are computed
    /// to judge convergence, and not sent, do not count.
    pub messages: u64,
    /// How far the method was from its goal when it stopped: the largest change of any message, or the gap
    /// between bound and score.
    pub residual: f64,
}

impl Report {
    pub(crate) fn exact(messages: u64) -> Self {
        Report {
            exact: true,
            converged: true,
            iterations: 1,
            messages,
            residual: 0.0,
        }
    }
}

/// A labelling and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoding {
    /// The label of each variable.
    pub labels: Vec<u32>,
    /// Its score.
    pub score: f64,
    /// No labelling has a higher score than this; `None` when the method gives no bound.
    pub bound: Option<f64>,
    /// How it was found.
    pub report: Report,
}

/// Computes the marginals of one factor from what an engine has kept.
pub(crate) trait FactorBeliefs {
    /// Fills `into`, which has the size of the table of the factor.
    fn factor(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]);

    /// Adds so many times the marginals of all factors to sums for each table, if there is a shorter way than factor by
    /// factor; says whether it did.
    fn add_all(&self, _graph: &FactorGraph, _times: f64, _into: &mut dyn TableSums) -> bool {
        false
    }

    /// Adds so many times the marginals to `into`, if there is a shorter way than by [`FactorBeliefs::factor`]; says
    /// whether it did.
    fn add(&self, _graph: &FactorGraph, _factor: usize, _times: f64, _into: &mut [f64]) -> bool {
        false
    }
}

/// One number for each entry of each table of a graph.
pub(crate) trait TableSums {
    /// The numbers of a table.
    fn table(&mut self, table: u32) -> &mut [f64];
}

/// Marginals, borrowed from the engine that computed them.
#[derive(Clone, Copy)]
pub struct Beliefs<'a> {
    pub(crate) graph: &'a FactorGraph,
    pub(crate) log_z: LogZ,
    pub(crate) variables: &'a [f64],
    pub(crate) factors: &'a dyn FactorBeliefs,
    pub(crate) report: Report,
}

impl Beliefs<'_> {
    /// log Z.
    pub fn log_z(&self) -> LogZ {
        self.log_z
    }

    /// How they were found.
    pub fn report(&self) -> Report {
        self.report
    }

    /// The probability of each label of a variable.
    ///
    /// # Panics
    /// If the variable does not exist.
    pub fn variable(&self, variable: u32) -> &[f64] {
        &self.variables[self.graph.states(variable)]
    }

    /// The probability of each entry of the table of a factor. It is computed here and not before, because all of
    /// them at once may be far larger than the graph.
    ///
    /// # Panics
    /// If the factor does not exist.
    pub fn factor(&self, factor: usize, into: &mut Vec<f64>) {
        into.clear();
        into.resize(self.graph.scores(factor).len(), 0.0);
        match self.graph.scope(factor) {
            &[variable] => into.copy_from_slice(self.variable(variable)),
            _ => self.factors.factor(self.graph, factor, into),
        }
    }

    /// Adds so many times the probabilities of all factors to sums for each table; `marginals` is scratch memory.
    pub(crate) fn add_factors(&self, times: f64, marginals: &mut Vec<f64>, into: &mut dyn TableSums) {
        if self.factors.add_all(self.graph, times, into) {
            return;
        }
        for factor in 0..self.graph.factors() {
            let table = into.table(self.graph.table_of(factor));
            if !self.factors.add(self.graph, factor, times, table) {
                self.factor(factor, marginals);
                for (sum, marginal) in table.iter_mut().zip(&*marginals) {
                    *sum += times * *marginal;
                }
            }
        }
    }
}

impl std::fmt::Debug for Beliefs<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Beliefs")
            .field("log_z", &self.log_z)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
