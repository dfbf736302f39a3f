//! Numbers about an instance beside its labels: max-marginals, marginals of pairs, log-probabilities, several labellings.

use super::answer::{GraphAnswer, GraphPair};
use super::gold::{alternatives, layer_labels};
use super::infer::{KnownInstance, owned};
use super::{GraphAnnotator, GraphAnnotatorOptions, GraphPipeline};
use crate::Error;
use crate::config::LayerConfig;
use crate::pipeline::known::Known;
use crate::pipeline::sequences::Sentences;
use fieldmark_graph::exact::k_best;
use fieldmark_graph::{Beliefs, EngineChoice, Error as GraphError, FactorGraph, GraphInstance};
use fieldmark_text::document::Document;
use fieldmark_text::formats::Notices;
use std::collections::HashSet;

/// Refuses what an engine cannot answer.
pub(super) fn check(choice: &EngineChoice, options: &GraphAnnotatorOptions) -> Result<(), Error> {
    let fail = |problem: &str| Err(Error::Option(problem.into()));
    match choice {
        _ if choice.exact().is_some() => Ok(()),
        _ if options.best.is_some() => {
            fail("several labellings are found by exact engines alone, and the engine here is another one")
        }
        _ if options.max_marginals => {
            fail("max-marginals are found by exact engines alone, and the engine here is another one")
        }
        EngineChoice::Dual(_) if options.pair_marginals => {
            fail("the engine dual finds labels and a bound, and no marginals: use another one")
        }
        _ if options.log_probabilities && !choice.knows_log_z() => fail(
            "log-probabilities need log Z, which the engines gibbs and dual do not estimate: use another one",
        ),
        _ => Ok(()),
    }
}

impl GraphAnnotator<'_> {
    /// What a document says about the labels of all layers, by layer; nothing if it says nothing of any.
    pub(super) fn gold(&self, document: &Document, sentences: &Sentences<'_>) -> Option<Vec<Known>> {
        let GraphPipeline { model, layers, .. } = self.pipeline;
        let of_layer = |(number, layer): (usize, &LayerConfig)| -> Known {
            let cells = layer_labels(layer, document, sentences, &mut Notices::new());
            let is_silent = layer.has_spans() && document.annotations.is_empty() && document.open.is_none();
            let known = |cell: &String| {
                let labels = alternatives(cell, layer).into_iter();
                let labels: Option<Vec<u32>> = labels.map(|label| model.labels(number).get(label)).collect();
                labels.filter(|labels| !labels.is_empty() && !is_silent)
            };
            cells.iter().flatten().map(known).collect()
        };
        let gold: Vec<Known> = layers.iter().enumerate().map(of_layer).collect();
        gold.iter().flatten().any(Option::is_some).then_some(gold)
    }

    /// Max-marginals and the best labellings, from an exact engine, as logarithms of probabilities.
    pub(super) fn add_best(
        &mut self,
        variables: &[Vec<u32>],
        log_z: f64,
        answer: &mut GraphAnswer,
    ) -> Result<(), GraphError> {
        let Some(engine) = &mut self.best else {
            return Ok(());
        };
        let graph = self.unroller.last_mut().graph_mut();
        if self.options.max_marginals {
            let scores = engine.max_marginals(graph)?;
            let mut start = 0;
            let mut rows = Vec::with_capacity(graph.variables());
            for variable in 0..graph.variables() as u32 {
                let row = &scores[start..start + graph.labels(variable) as usize];
                rows.push(
                    row.iter()
                        .map(|score| (score - log_z).min(0.0))
                        .collect::<Vec<f64>>(),
                );
                start += row.len();
            }
            let of_layer = |layer: &Vec<u32>| layer.iter().map(|&at| rows[at as usize].clone()).collect();
            answer.max_marginals = Some(variables.iter().map(of_layer).collect());
        }
        if let Some(most) = self.options.best {
            let found = k_best(&mut **engine, graph, most)?;
            answer.best = found
                .into_iter()
                .map(|decoding| {
                    let labels = owned(self.names(variables, &decoding.labels));
                    (labels, (decoding.score - log_z).min(0.0))
                })
                .collect();
        }
        Ok(())
    }

    /// The logarithm of the probability of all labellings that a document allows.
    pub(super) fn add_gold(
        &mut self,
        instance: GraphInstance<'_>,
        variables: &[Vec<u32>],
        gold: KnownInstance<'_>,
        log_z: f64,
        answer: &mut GraphAnswer,
    ) -> Result<(), GraphError> {
        let graph = self.unroller.last_mut().graph_mut();
        let sets = graph.label_sets().clone();
        let restricted = gold.restrict(graph, &self.pipeline.layers, instance, variables, &mut 0);
        let sum = restricted.and_then(|()| Ok(self.engine.sum(graph)?.log_z().value()));
        *graph.label_sets_mut() = sets;
        answer.gold_log_probability = match sum {
            Ok(sum) => sum.map(|sum| (sum - log_z).min(0.0)),
            Err(GraphError::Contradiction { .. } | GraphError::EmptyLabelSet { .. }) => {
                Some(f64::NEG_INFINITY)
            }
            Err(error) => return Err(error),
        };
        Ok(())
    }
}

/// The marginals of every two variables that a factor joins, in the order of the variables. `variables` are those of each
/// layer.
pub(super) fn pairs(graph: &FactorGraph, beliefs: &Beliefs<'_>, variables: &[Vec<u32>]) -> Vec<GraphPair> {
    let mut places = vec![(0, 0); graph.variables()];
    for (layer, variables) in variables.iter().enumerate() {
        for (position, &variable) in variables.iter().enumerate() {
            places[variable as usize] = (layer, position);
        }
    }
    let mut known = HashSet::new();
    let mut found = Vec::new();
    let mut belief = Vec::new();
    for factor in 0..graph.factors() {
        let scope = graph.scope(factor);
        let mut is_computed = false;
        for (one, other) in (0..scope.len()).flat_map(|other| (0..other).map(move |one| (one, other))) {
            // The one with the smaller number comes first.
            let (first, second) = if scope[one] < scope[other] {
                (one, other)
            } else {
                (other, one)
            };
            if !known.insert((scope[first], scope[second])) {
                continue;
            }
            if !is_computed {
                beliefs.factor(factor, &mut belief);
                is_computed = true;
            }
            let shape: Vec<usize> = scope.iter().map(|&at| graph.labels(at) as usize).collect();
            let probabilities = pair_sums(&belief, &shape, first, second);
            found.push(((scope[first], scope[second]), probabilities));
        }
    }
    found.sort_by_key(|(pair, _)| *pair);
    let pair = |((first, second), probabilities): ((u32, u32), Vec<Vec<f64>>)| GraphPair {
        places: [places[first as usize], places[second as usize]],
        probabilities,
    };
    found.into_iter().map(pair).collect()
}

/// Sums the marginals of a factor over all of its variables but two.
fn pair_sums(belief: &[f64], shape: &[usize], first: usize, second: usize) -> Vec<Vec<f64>> {
    let stride = |place: usize| shape[place + 1..].iter().product::<usize>();
    let (of_first, of_second) = (stride(first), stride(second));
    let mut sums = vec![vec![0.0; shape[second]]; shape[first]];
    for (entry, probability) in belief.iter().enumerate() {
        sums[entry / of_first % shape[first]][entry / of_second % shape[second]] += probability;
    }
    sums
}
