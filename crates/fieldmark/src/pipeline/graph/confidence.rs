//! How sure a model is of a span.

use crate::pipeline::known::labels_beside;
use fieldmark_core::{Alphabet, Scheme};
use fieldmark_graph::{Beliefs, Engine, Error, FactorGraph};

/// A span of a layer that a labelling has.
pub(super) struct FoundSpan<'a> {
    /// The variables of its tokens.
    pub variables: &'a [u32],
    /// Their labels.
    pub labels: &'a [u32],
    /// The variable before it, and the one after it.
    pub beside: [Option<u32>; 2],
    /// The type.
    pub kind: &'a str,
}

impl FoundSpan<'_> {
    /// The labels beside it that do not make it longer: before it and after it.
    fn borders(&self, scheme: Scheme, names: &Alphabet) -> [Vec<u32>; 2] {
        let own: Vec<&str> = self.labels.iter().map(|&label| names.name(label)).collect();
        [true, false].map(|before| labels_beside(scheme, names, &own, self.kind, before))
    }

    /// The probability that these tokens have these labels and that the span ends where they end: the share of all
    /// labellings that have it, weighted by their scores.
    pub fn exact_probability(
        &self,
        graph: &mut FactorGraph,
        engine: &mut (dyn Engine + Send),
        log_z: f64,
        scheme: Scheme,
        names: &Alphabet,
    ) -> Result<Option<f64>, Error> {
        let sets = graph.label_sets().clone();
        let mut beside = Vec::new();
        for (variable, labels) in self.beside.iter().zip(self.borders(scheme, names)) {
            if let &Some(variable) = variable {
                let allowed = labels.into_iter().filter(|&label| sets.contains(variable, label));
                let allowed: Vec<u32> = allowed.collect();
                if allowed.is_empty() {
                    return Ok(Some(0.0));
                }
                beside.push((variable, allowed));
            }
        }
        let restrict = || {
            for (&variable, &label) in self.variables.iter().zip(self.labels) {
                graph.clamp(variable, label)?;
            }
            for (variable, allowed) in beside {
                graph.restrict(variable, allowed)?;
            }
            Ok::<(), Error>(())
        };
        let part = restrict().and_then(|()| Ok(engine.sum(graph)?.log_z().value()));
        *graph.label_sets_mut() = sets;
        Ok(part?.map(|part| (part - log_z).exp().min(1.0)))
    }

    /// The same from beliefs alone, as if what is outside of the span spoke only through its ends: exact on graphs
    /// without cycles.
    pub fn estimated_probability(
        &self,
        graph: &FactorGraph,
        beliefs: &Beliefs<'_>,
        scheme: Scheme,
        names: &Alphabet,
    ) -> f64 {
        let mut probability = 1.0;
        let mut pair = Vec::new();
        for (index, (&variable, &label)) in self.variables.iter().zip(self.labels).enumerate() {
            let own = beliefs.variable(variable)[label as usize];
            let before = index
                .checked_sub(1)
                .map(|at| (self.variables[at], self.labels[at]));
            probability *= match before {
                None => own,
                Some((other, known)) => {
                    conditional(graph, beliefs, (other, known), (variable, &[label]), &mut pair)
                        .unwrap_or(own)
                }
            };
        }
        let ends = [0, self.variables.len() - 1].map(|at| (self.variables[at], self.labels[at]));
        for ((end, beside), labels) in ends.into_iter().zip(self.beside).zip(self.borders(scheme, names)) {
            if let Some(beside) = beside {
                let alone = || {
                    labels
                        .iter()
                        .map(|&label| beliefs.variable(beside)[label as usize])
                        .sum()
                };
                probability *=
                    conditional(graph, beliefs, end, (beside, &labels), &mut pair).unwrap_or_else(alone);
            }
        }
        probability.min(1.0)
    }
}

/// The probability that a variable has one of some labels, given the label of another one, by the factor that joins
/// them; `None` if none does.
fn conditional(
    graph: &FactorGraph,
    beliefs: &Beliefs<'_>,
    (known, label): (u32, u32),
    (variable, labels): (u32, &[u32]),
    pair: &mut Vec<f64>,
) -> Option<f64> {
    let factor = graph.factors_of(variable).find(|&factor| {
        let scope = graph.scope(factor);
        scope.len() == 2 && scope.contains(&known) && scope.contains(&variable)
    })?;
    beliefs.factor(factor, pair);
    let columns = graph.labels(graph.scope(factor)[1]);
    let is_first = graph.scope(factor)[0] == known;
    let entry = |other: u32| {
        let (row, column) = if is_first { (label, other) } else { (other, label) };
        pair[(row * columns + column) as usize]
    };
    let all: f64 = (0..graph.labels(variable)).map(entry).sum();
    let wanted: f64 = labels.iter().map(|&label| entry(label)).sum();
    (all > 0.0).then(|| wanted / all)
}
