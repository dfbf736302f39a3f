//! Marginals and log Z from messages.

use super::algebra::Algebra;
use super::kernels::Scalar;
use super::messages::Messages;
use super::potentials::padded;
use crate::engine::FactorBeliefs;
use crate::{Error, FactorGraph};

impl<T: Scalar, A: Algebra<T>> Messages<T, A> {
    /// Updates all cavities.
    pub(crate) fn update_all_cavities(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        (0..graph.variables() as u32).try_for_each(|variable| self.update_cavities(graph, variable))
    }

    /// Writes the marginals of all variables.
    pub(crate) fn variable_marginals(
        &mut self,
        graph: &FactorGraph,
        into: &mut Vec<f64>,
    ) -> Result<(), Error> {
        self.variable_beliefs(graph, into, |terms, _| A::probabilities(terms))
    }

    /// Writes the product of all messages to each variable, as `finish` makes it of the product and the
    /// logarithm of its normaliser.
    pub(crate) fn variable_beliefs(
        &mut self,
        graph: &FactorGraph,
        into: &mut Vec<f64>,
        mut finish: impl FnMut(&mut [f64], f64),
    ) -> Result<(), Error> {
        into.clear();
        let mut belief = Vec::new();
        for variable in 0..graph.variables() as u32 {
            belief.resize(self.potentials.vector(variable).len(), A::ZERO);
            let log = self.product(variable, None, &mut belief)?;
            let start = into.len();
            let labels = graph.labels(variable) as usize;
            into.extend(belief[..labels].iter().map(|value| value.to_f64()));
            finish(&mut into[start..], log);
        }
        Ok(())
    }

    /// The Bethe estimate of log Z: Σ_v log Z_v + Σ_f log Z_f − Σ_{f,v} log Z_{fv}, where Z_v = Σ φ_v Π m,
    /// Z_f = Σ θ_f Π n and Z_{fv} = Σ m n (Yedidia et al. 2005). At a fixed point it does not change to first
    /// order with the messages, and its derivatives are the beliefs. The cavities must be up to date.
    pub(crate) fn bethe_log_z(&mut self, graph: &FactorGraph) -> Result<f64, Error> {
        let mut log_z = self.potentials.offset;
        let mut vector = Vec::new();
        for variable in 0..graph.variables() as u32 {
            vector.clear();
            vector.resize(self.potentials.vector(variable).len(), A::ZERO);
            log_z += self.product(variable, None, &mut vector)?;
            let ones = vec![A::ONE; vector.len()];
            log_z += A::log_total(&vector, &ones);
        }
        for factor in (0..graph.factors()).filter(|&factor| graph.arity(factor) > 1) {
            let slots = graph.slots(factor);
            vector.clear();
            vector.resize(self.cavity(slots.start).len(), A::ZERO);
            self.contract(graph, slots.start, &mut vector);
            log_z += A::log_total(&vector, self.cavity(slots.start));
            for slot in slots {
                log_z -= A::log_total(self.message(slot), self.cavity(slot));
            }
        }
        Ok(log_z)
    }

    /// Writes θ_f ⊗ Π n of a factor of two variables.
    fn pair_terms(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        let slots = graph.slots(factor);
        let (rows, columns) = (self.cavity(slots.start), self.cavity(slots.start + 1));
        let labels = graph.labels(graph.slot_variable(slots.start + 1));
        let matrix = self.potentials.matrix(graph, factor, 0);
        let places = into.chunks_exact_mut(labels as usize);
        for ((into, scores), row) in places.zip(matrix.chunks_exact(padded::<T>(labels))).zip(rows) {
            for ((into, score), column) in into.iter_mut().zip(scores).zip(columns) {
                *into = A::times_f64(A::times_f64(score.to_f64(), row.to_f64()), column.to_f64());
            }
        }
    }
}

impl<T: Scalar, A: Algebra<T>> FactorBeliefs for Messages<T, A> {
    fn factor(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        if graph.arity(factor) == 2 {
            self.pair_terms(graph, factor, into);
        } else {
            self.clique_terms(graph, factor, into);
        }
        A::probabilities(into);
    }

    fn add(&self, graph: &FactorGraph, factor: usize, times: f64, into: &mut [f64]) -> bool {
        if !A::IS_LINEAR || graph.arity(factor) != 2 {
            return false;
        }
        let slots = graph.slots(factor);
        let labels = graph.labels(graph.slot_variable(slots.start + 1)) as usize;
        let matrix = self.potentials.matrix(graph, factor, 0);
        let (rows, columns) = (self.cavity(slots.start), self.cavity(slots.start + 1));
        T::add_pair(matrix, rows, columns, labels, times, into);
        true
    }
}
