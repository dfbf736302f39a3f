//! Maximum likelihood: log Z − log Z(gold), exact or by the Bethe approximation.
//!
//! The gradient of a table is the difference of the marginals of its factors without and with gold. With loopy belief
//! propagation both sums are Bethe estimates, whose gradient are the marginals at a fixed point (Yedidia et al. 2005);
//! where messages do not converge, value and gradient belong to the last messages, and that is counted.

use super::gold::InstanceGold;
use super::tables::TableGradient;
use super::{Convergence, TrainError};
use crate::unroll::Unrolled;
use crate::{Beliefs, Engine, EngineChoice, Error, FactorGraph};

/// Scratch memory of a thread.
pub(super) struct Worker {
    engine: Box<dyn Engine + Send>,
    marginals: Vec<f64>,
}

impl Worker {
    pub fn new(choice: &EngineChoice) -> Result<Self, TrainError> {
        if !choice.knows_log_z() {
            return Err(TrainError::NoLogZ);
        }
        Ok(Self {
            engine: choice.engine().map_err(TrainError::Engine)?,
            marginals: Vec::new(),
        })
    }

    /// The loss of an instance; adds the gradient of its tables.
    pub fn evaluate(
        &mut self,
        unrolled: &mut Unrolled,
        gold: &InstanceGold,
        tables: &mut TableGradient,
        convergence: &mut Convergence,
    ) -> Result<f64, Error> {
        // Both sums are the same.
        if gold.is_empty() {
            return Ok(0.0);
        }
        let Self { engine, marginals } = self;
        let beliefs = engine.sum(&unrolled.graph)?;
        convergence.count(beliefs.report());
        let all = log_z(&beliefs)?;
        beliefs.add_factors(1.0, marginals, tables);
        if gold.complete {
            return Ok(all - gold_score(&unrolled.graph, &gold.known, tables)?);
        }
        gold.restrict(&mut unrolled.graph)?;
        let beliefs = engine.sum(&unrolled.graph)?;
        convergence.count(beliefs.report());
        let part = log_z(&beliefs)?;
        beliefs.add_factors(-1.0, marginals, tables);
        Ok(all - part)
    }
}

/// The score of known labels; subtracts their entries from the gradient.
fn gold_score(graph: &FactorGraph, labels: &[u32], tables: &mut TableGradient) -> Result<f64, Error> {
    let mut sum = 0.0;
    for factor in 0..graph.factors() {
        let entry = graph.entry(factor, labels);
        let score = graph.scores(factor)[entry];
        if score == f64::NEG_INFINITY {
            let variable = graph.scope(factor)[0];
            return Err(Error::Contradiction { variable });
        }
        sum += score;
        tables.table(graph.table_of(factor))[entry] -= 1.0;
    }
    Ok(sum)
}

fn log_z(beliefs: &Beliefs<'_>) -> Result<f64, Error> {
    beliefs.log_z().value().ok_or(Error::NoSumForm {
        method: "this engine",
    })
}
