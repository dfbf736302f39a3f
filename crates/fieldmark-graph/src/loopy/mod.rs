//! Loopy belief propagation: messages on graphs with cycles, sent by a schedule until they stop changing.
//!
//! Nothing guarantees that they do, and then marginals and labellings are approximations: the [`Report`] says
//! what happened. On graphs without cycles the result is exact up to the tolerance.

mod local;
mod options;
mod residual;
mod tree;

pub use options::{LoopyOptions, Schedule, Space};

use crate::bp::algebra::{Algebra, LinearSum, LogMax, LogSum};
use crate::bp::decode::{decode, search_order};
use crate::bp::kernels::Scalar;
use crate::bp::messages::Messages;
use crate::conditional::climb;
use crate::{Beliefs, Decoding, Engine, Error, FactorGraph, LogZ, Report};
use fieldmark_core::random::SplitMix64;

/// Loopy belief propagation with messages of type `T`.
///
/// The max form always computes in log space, where nothing can underflow and the speed is the same. Its labelling
/// is found variable by variable, so that ties are broken consistently, and improved by local search.
#[derive(Clone, Debug)]
pub struct LoopyBp<T: Scalar = f64> {
    options: LoopyOptions,
    linear: Messages<T, LinearSum>,
    log: Messages<T, LogSum>,
    max: Messages<T, LogMax>,
    tree: tree::Reparameterization,
    marginals: Vec<f64>,
}

impl<T: Scalar> LoopyBp<T> {
    /// An engine with checked options.
    pub fn new(options: LoopyOptions) -> Result<Self, Error> {
        options.check()?;
        Ok(Self {
            options,
            linear: Messages::default(),
            log: Messages::default(),
            max: Messages::default(),
            tree: tree::Reparameterization::default(),
            marginals: Vec::new(),
        })
    }

    /// The options.
    pub fn options(&self) -> &LoopyOptions {
        &self.options
    }
}

impl<T: Scalar> Engine for LoopyBp<T> {
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        let (options, tree, marginals) = (&self.options, &mut self.tree, &mut self.marginals);
        if options.space == Space::Linear {
            self.linear.prepare(graph)?;
            if self.linear.potentials.is_narrow() {
                let answer = sum(graph, &mut self.linear, options, tree, marginals);
                if let (Ok((log_z, report)), false) = (answer, self.linear.lost) {
                    let factors = &self.linear;
                    return Ok(Beliefs {
                        graph,
                        log_z,
                        variables: marginals,
                        factors,
                        report,
                    });
                }
            }
        }
        self.log.prepare(graph)?;
        let (log_z, report) = sum(graph, &mut self.log, options, tree, marginals)?;
        Ok(Beliefs {
            graph,
            log_z,
            variables: marginals,
            factors: &self.log,
            report,
        })
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        self.max.prepare(graph)?;
        let mut best = Best {
            order: search_order(graph),
            labels: Vec::new(),
            score: f64::NEG_INFINITY,
        };
        let report = run(
            graph,
            &mut self.max,
            &self.options,
            &mut self.tree,
            |messages, round| {
                // Labellings on the way cost little when they are looked at ever more rarely.
                if round >= 16 && round.is_power_of_two() {
                    best.look(graph, messages)
                } else {
                    Ok(())
                }
            },
        )?;
        best.look(graph, &mut self.max)?;
        if best.score == f64::NEG_INFINITY {
            // Beliefs without support prove that there is no labelling.
            self.max.variable_beliefs(graph, &mut self.marginals, |_, _| ())?;
            return Err(Error::NothingFound {
                method: "loopy belief propagation",
            });
        }
        Ok(Decoding {
            labels: best.labels,
            score: best.score,
            bound: None,
            report,
        })
    }
}

/// The best labelling so far.
struct Best {
    order: Vec<u32>,
    labels: Vec<u32>,
    score: f64,
}

impl Best {
    fn look<T: Scalar>(
        &mut self,
        graph: &FactorGraph,
        messages: &mut Messages<T, LogMax>,
    ) -> Result<(), Error> {
        let mut labels = Vec::new();
        messages.update_all_cavities(graph)?;
        decode(graph, messages, &self.order, &mut labels);
        messages.update_all_cavities(graph)?;
        climb(graph, &mut labels);
        let score = graph.score(&labels)?;
        if score > self.score || self.labels.is_empty() {
            (self.labels, self.score) = (labels, score);
        }
        Ok(())
    }
}

/// Marginals and log Z; anything if numbers were lost on the way.
fn sum<T: Scalar, A: Algebra<T>>(
    graph: &FactorGraph,
    messages: &mut Messages<T, A>,
    options: &LoopyOptions,
    tree: &mut tree::Reparameterization,
    marginals: &mut Vec<f64>,
) -> Result<(LogZ, Report), Error> {
    let report = run(graph, messages, options, tree, |_, _| Ok(()))?;
    // The caller starts again in log space.
    if messages.lost && A::CAN_LOSE {
        return Ok((LogZ::Unknown, report));
    }
    messages.update_all_cavities(graph)?;
    messages.variable_marginals(graph, marginals)?;
    Ok((LogZ::Bethe(messages.bethe_log_z(graph)?), report))
}

/// Sends messages by a schedule until all of them are settled.
fn run<T: Scalar, A: Algebra<T>>(
    graph: &FactorGraph,
    messages: &mut Messages<T, A>,
    options: &LoopyOptions,
    tree: &mut tree::Reparameterization,
    mut watch: impl FnMut(&mut Messages<T, A>, usize) -> Result<(), Error>,
) -> Result<Report, Error> {
    messages.damping = options.damping;
    let tolerance = A::tolerance(options.tolerance, messages.potentials.spread);
    if options.schedule == Schedule::Residual {
        return residual::run(graph, messages, options.iterations, tolerance, watch);
    }
    let mut random = SplitMix64(options.seed);
    tree.start(graph);
    let mut residual = f64::INFINITY;
    for round in 1..=options.iterations {
        residual = match options.schedule {
            Schedule::Trp => tree.round(graph, messages, &mut random)?,
            Schedule::Random => local::random_round(graph, messages, &mut random)?,
            _ => local::flood(graph, messages)?,
        };
        // A round of flooding computes every message from the same cavities; other rounds must be checked.
        if residual <= tolerance && options.schedule != Schedule::Flooding {
            residual = local::residual(graph, messages, tolerance)?;
        }
        // Nothing is gained by going on with numbers that were lost.
        if residual <= tolerance || messages.lost && A::CAN_LOSE {
            return Ok(report(messages, round, residual, tolerance));
        }
        watch(messages, round)?;
    }
    if options.schedule != Schedule::Flooding {
        residual = local::residual(graph, messages, f64::INFINITY)?;
    }
    Ok(report(messages, options.iterations, residual, tolerance))
}

fn report<T: Scalar, A: Algebra<T>>(
    messages: &Messages<T, A>,
    iterations: usize,
    residual: f64,
    tolerance: f64,
) -> Report {
    let converged = residual <= tolerance;
    Report {
        exact: false,
        converged,
        iterations,
        messages: messages.sent,
        residual,
    }
}
