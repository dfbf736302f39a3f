//! Two-pass belief propagation on forests (Pearl 1988; Kschischang et al. 2001).

use crate::bp::algebra::{Algebra, LinearSum, LogMax, LogSum};
use crate::bp::decode::decode;
use crate::bp::forest::Forest;
use crate::bp::messages::Messages;
use crate::{Beliefs, Decoding, Engine, Error, FactorGraph, LogZ, MaxMarginals, Report};

/// Exact inference on graphs without cycles; factors may join any number of variables.
///
/// Sums are computed in scaled linear space and, where its range does not suffice, again in log space.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    linear: Messages<f64, LinearSum>,
    log: Messages<f64, LogSum>,
    max: Messages<f64, LogMax>,
    forest: Forest,
    marginals: Vec<f64>,
}

impl Tree {
    /// An engine without memory of its own yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Engine for Tree {
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        self.forest.lay(graph, |_| true)?;
        let (forest, marginals) = (&self.forest, &mut self.marginals);
        self.linear.prepare(graph)?;
        if self.linear.potentials.is_narrow() {
            let answer = sum(graph, &mut self.linear, forest, marginals);
            if let (Ok(log_z), false) = (answer, self.linear.lost) {
                return Ok(beliefs(graph, log_z, marginals, &self.linear));
            }
        }
        self.log.prepare(graph)?;
        let log_z = sum(graph, &mut self.log, forest, marginals)?;
        Ok(beliefs(graph, log_z, marginals, &self.log))
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        self.forest.lay(graph, |_| true)?;
        self.max.prepare(graph)?;
        self.forest.sweep_up(graph, &mut self.max, false)?;
        check_roots(&mut self.max, &self.forest)?;
        let mut labels = Vec::new();
        decode(graph, &mut self.max, &self.forest.order, &mut labels);
        let score = graph.score(&labels)?;
        let report = Report::exact(self.max.sent);
        Ok(Decoding {
            labels,
            score,
            bound: Some(score),
            report,
        })
    }
}

impl MaxMarginals for Tree {
    fn max_marginals(&mut self, graph: &FactorGraph) -> Result<&[f64], Error> {
        let best = self.max(graph)?.score;
        self.forest.sweep_up(graph, &mut self.max, false)?;
        self.forest.sweep_down(graph, &mut self.max)?;
        // Every belief is normalised to a largest entry of 0, which stands for the best score of all.
        self.max
            .variable_beliefs(graph, &mut self.marginals, |scores, _| {
                scores.iter_mut().for_each(|score| *score += best);
            })?;
        Ok(&self.marginals)
    }
}

/// Marginals and log Z; anything if numbers were lost on the way.
fn sum<A: Algebra<f64>>(
    graph: &FactorGraph,
    messages: &mut Messages<f64, A>,
    forest: &Forest,
    marginals: &mut Vec<f64>,
) -> Result<f64, Error> {
    let (_, mut log_z) = forest.sweep_up(graph, messages, true)?;
    if messages.lost && A::CAN_LOSE {
        return Ok(f64::NAN);
    }
    log_z += messages.potentials.offset;
    let mut belief = Vec::new();
    for &root in forest.order.iter().filter(|&&variable| forest.is_root(variable)) {
        belief.resize(messages.potentials.vector(root).len(), A::ZERO);
        log_z += messages.product(root, None, &mut belief)?;
        log_z += A::log_total(&belief, &vec![A::ONE; belief.len()]);
    }
    forest.sweep_down(graph, messages)?;
    messages.variable_marginals(graph, marginals)?;
    Ok(log_z)
}

/// A contradiction may show only where the messages meet.
fn check_roots(messages: &mut Messages<f64, LogMax>, forest: &Forest) -> Result<(), Error> {
    let mut belief = Vec::new();
    for &root in forest.order.iter().filter(|&&variable| forest.is_root(variable)) {
        belief.resize(messages.potentials.vector(root).len(), f64::NEG_INFINITY);
        messages.product(root, None, &mut belief)?;
    }
    Ok(())
}

fn beliefs<'a, A: Algebra<f64>>(
    graph: &'a FactorGraph,
    log_z: f64,
    variables: &'a [f64],
    messages: &'a Messages<f64, A>,
) -> Beliefs<'a> {
    let (log_z, report) = (LogZ::Exact(log_z), Report::exact(messages.sent));
    Beliefs {
        graph,
        log_z,
        variables,
        factors: messages,
        report,
    }
}
