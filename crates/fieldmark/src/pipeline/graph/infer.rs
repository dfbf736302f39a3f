//! What an engine says about the graph of one instance, in the words of its layers.

use super::answer::{GraphAnswer, GraphDecoding, GraphSpan};
use super::confidence::{SpanRules, Window};
use super::gold::OPEN;
use super::numbers::pairs;
use super::place::in_words;
use super::{GraphAnnotator, GraphPipeline};
use crate::Error;
use crate::config::LayerConfig;
use crate::pipeline::known::Known;
use fieldmark_core::Scheme;
use fieldmark_core::scheme::Forbidden;
use fieldmark_graph::{
    Beliefs, Decoding, Engine, EngineChoice, Error as GraphError, FactorGraph, GraphExplanation,
    GraphInstance, GraphModel, LogZ, Per, Unroller,
};
use std::ops::Range;

/// Most sums over a graph with cycles for the probabilities of its spans: time is linear in the length of instances.
const MOST_SUMS: usize = 100;

/// For each layer that has spans, how its labels make them. What its scheme rules out is forbidden in graphs, if that is
/// wanted and its neighbours are joined.
pub(super) fn span_rules(
    layers: &[LayerConfig],
    model: &GraphModel,
    legal: bool,
    unroller: &mut Unroller<'_>,
) -> Vec<Option<SpanRules>> {
    let mut rules = |number: usize, layer: &LayerConfig| {
        let (scheme, labels) = (Scheme::from(layer.scheme), model.labels(number));
        let of_scheme = scheme.forbidden_pairs(labels);
        let is_forbidden = legal && unroller.forbid_neighbours(number, &of_scheme.pairs);
        let forbidden = if is_forbidden {
            of_scheme
        } else {
            Forbidden::default()
        };
        SpanRules::new(scheme, labels, forbidden)
    };
    let layers = layers.iter().enumerate();
    layers
        .map(|(number, layer)| layer.has_spans().then(|| rules(number, layer)))
        .collect()
}

/// What is known of an instance: for each layer, the labels that its variables may have, in the order of the document.
#[derive(Clone, Copy)]
pub(super) struct KnownInstance<'k> {
    pub layers: &'k [Known],
    /// The number of its first token in the document.
    pub first: usize,
}

/// An explanation, with the reason why it lacks probabilities; or why there is none, and whether all labels are ruled out.
pub(super) type Explained = Result<(GraphExplanation, Option<String>), (String, bool)>;

/// Whether an error says that no labelling is possible.
fn is_ruled_out(error: &GraphError) -> bool {
    matches!(
        error,
        GraphError::Contradiction { .. } | GraphError::EmptyLabelSet { .. }
    )
}

impl KnownInstance<'_> {
    /// Lets the variables of a graph take what is known alone, and counts those of which something is.
    pub(super) fn restrict(
        self,
        graph: &mut FactorGraph,
        layers: &[LayerConfig],
        instance: GraphInstance<'_>,
        variables: &[Vec<u32>],
        count: &mut u64,
    ) -> Result<(), GraphError> {
        for ((layer, variables), labels) in layers.iter().zip(variables).zip(self.layers) {
            let start = match layer.per {
                Per::Position => self.first,
                Per::Instance => instance.index(),
            };
            for (&variable, labels) in variables.iter().zip(&labels[start..]) {
                if let Some(labels) = labels {
                    *count += 1;
                    keep(graph, variable, |label| labels.contains(&label))?;
                }
            }
        }
        Ok(())
    }
}

impl<'p> GraphAnnotator<'p> {
    /// The best label of each variable of an instance. `words` are the texts of its tokens, for messages.
    pub fn label_variables(
        &mut self,
        instance: GraphInstance<'_>,
        words: &[String],
    ) -> Result<Vec<u32>, Error> {
        let variables = self.variables(instance);
        let decoding = self.decode(instance, &variables, None)?;
        let word = |token: usize| words.get(token).map(String::as_str);
        let problem = |error| Error::Option(self.problem(instance, &error, word));
        decoding.map(|decoding| decoding.labels).map_err(problem)
    }

    /// Why the variables of an instance get their labels, with the reason why probabilities are missing if the engine gave
    /// up; otherwise why there are no labels, and whether they are ruled out. Without probabilities if the engine knows none.
    pub(super) fn explain_instance(
        &mut self,
        instance: GraphInstance<'_>,
        words: &[&str],
        top: usize,
    ) -> Result<Explained, Error> {
        let variables = self.variables(instance);
        self.report.instances += 1;
        let word = |token: usize| words.get(token).copied();
        let decoding = match self.decode(instance, &variables, None)? {
            Ok(decoding) => decoding,
            Err(error) => {
                let problem = self.problem(instance, &error, word);
                return Ok(Err((problem, is_ruled_out(&error))));
            }
        };
        self.count(&decoding);
        let samples = self.samples();
        let unrolled = &*self.unroller.last_mut();
        let beliefs = match self.probabilities {
            true => self.engine.sum(unrolled.graph()).map(Some),
            false => Ok(None),
        };
        let (beliefs, unsure) = match beliefs {
            Err(error @ GraphError::TooWide { .. }) => (None, Some(error.to_string())),
            beliefs => (beliefs?, None),
        };
        let is_settled = |beliefs: &Beliefs<'_>| samples || beliefs.report().converged;
        let settled = beliefs.as_ref().is_none_or(is_settled);
        self.report.unsettled_probabilities += u64::from(!settled);
        let model = &self.pipeline.model;
        let explanation = model.explain(instance, unrolled, &decoding.labels, beliefs.as_ref(), top);
        Ok(Ok((explanation, unsure)))
    }

    /// The labels of an instance, by layer and token; `?` if there is no answer.
    pub(super) fn labels(&mut self, instance: GraphInstance<'_>) -> Result<Vec<Vec<&'p str>>, Error> {
        let variables = self.variables(instance);
        self.report.instances += 1;
        Ok(match self.decode(instance, &variables, None)? {
            Ok(decoding) => {
                self.count(&decoding);
                self.names(&variables, &decoding.labels)
            }
            Err(_) => {
                self.report.unanswered += 1;
                variables.iter().map(|layer| vec![OPEN; layer.len()]).collect()
            }
        })
    }

    /// What the model says about an instance.
    pub(super) fn answer(
        &mut self,
        instance: GraphInstance<'_>,
        text: &str,
        tokens: Vec<Range<usize>>,
        known: Option<KnownInstance<'_>>,
        gold: Option<KnownInstance<'_>>,
    ) -> Result<GraphAnswer, Error> {
        let variables = self.variables(instance);
        self.report.instances += 1;
        let decoding = match self.decode(instance, &variables, known)? {
            Ok(decoding) => decoding,
            Err(error) => {
                let word = |token: usize| text.get(tokens.get(token)?.clone());
                let problem = self.problem(instance, &error, word);
                let (labels, is_ruled_out) = (variables.iter().map(Vec::len), is_ruled_out(&error));
                let mut answer = GraphAnswer::none(tokens, labels, problem, is_ruled_out);
                // What is known to be right is impossible, too.
                answer.gold_log_probability = gold.filter(|_| is_ruled_out).map(|_| f64::NEG_INFINITY);
                return Ok(answer);
            }
        };
        let found = self.count(&decoding);
        let names = self.names(&variables, &decoding.labels);
        let mut answer = GraphAnswer {
            tokens,
            spans: self.spans(&names),
            labels: owned(names),
            probabilities: None,
            marginals: None,
            max_marginals: None,
            pair_marginals: None,
            best: Vec::new(),
            log_probability: None,
            log_z: None,
            gold_log_probability: None,
            decoding: Some(found),
            probabilities_converged: None,
            problem: None,
            is_ruled_out: false,
            unsure: None,
        };
        if self.probabilities {
            match self.add_probabilities(instance, &variables, &decoding, gold, &mut answer) {
                // Labels are there, even if there is no memory for the rest.
                Err(error @ GraphError::TooWide { .. }) => answer.unsure = Some(error.to_string()),
                done => done?,
            }
        }
        Ok(answer)
    }

    /// Counts how a labelling was found, and tells it.
    fn count(&mut self, decoding: &Decoding) -> GraphDecoding {
        let report = decoding.report;
        let converged = (!self.samples()).then_some(report.converged);
        let gap = decoding
            .bound
            .filter(|_| !report.exact)
            .map(|bound| bound - decoding.score);
        self.report.unsettled += u64::from(converged == Some(false));
        self.report.proved += u64::from(report.exact);
        self.report.unproved += u64::from(gap.is_some());
        self.report.largest_gap = self.report.largest_gap.max(gap.unwrap_or(0.0));
        GraphDecoding {
            converged,
            proved: report.exact,
            score: decoding.score,
            bound: decoding.bound,
            iterations: report.iterations,
            residual: report.residual,
        }
    }

    /// Whether the engine has no goal but its number of sweeps.
    fn samples(&self) -> bool {
        matches!(self.choice, EngineChoice::Gibbs(_))
    }

    fn problem<'t>(
        &self,
        instance: GraphInstance<'_>,
        error: &GraphError,
        word: impl Fn(usize) -> Option<&'t str>,
    ) -> String {
        let GraphPipeline { model, layers, .. } = self.pipeline;
        in_words(error, model.structure(), layers, instance.len(), word)
    }

    /// The best labelling of an instance, or why there is none. The graph stays.
    fn decode(
        &mut self,
        instance: GraphInstance<'_>,
        variables: &[Vec<u32>],
        known: Option<KnownInstance<'_>>,
    ) -> Result<Result<Decoding, GraphError>, Error> {
        let restricted = self.unroll(instance, variables).and_then(|()| match known {
            Some(known) => self.restrict(instance, variables, known),
            None => Ok(()),
        });
        let decoding = restricted.and_then(|()| Ok(self.engine.max(self.unroller.last_mut().graph())?));
        match decoding {
            Err(Error::GraphInference(
                error @ (GraphError::Contradiction { .. } | GraphError::EmptyLabelSet { .. }),
            )) => Ok(Err(error)),
            Err(Error::GraphInference(
                error @ (GraphError::NothingFound { .. } | GraphError::TooWide { .. }),
            )) if !self.strict => Ok(Err(error)),
            decoding => decoding.map(Ok),
        }
    }

    /// Makes the graph of an instance, without labels that the schemes rule out at its ends.
    fn unroll(&mut self, instance: GraphInstance<'_>, variables: &[Vec<u32>]) -> Result<(), Error> {
        self.unroller.unroll_in_place(instance)?;
        for cut in self.unroller.cuts() {
            self.report.count_cut(cut);
        }
        let graph = self.unroller.last_mut().graph_mut();
        for (rules, variables) in self.rules.iter().zip(variables) {
            let (Some(rules), [first, ..], [.., last]) = (rules, &variables[..], &variables[..]) else {
                continue;
            };
            for (variable, forbidden) in [(*first, &rules.starts), (*last, &rules.ends)] {
                if !forbidden.is_empty() {
                    keep(graph, variable, |label| !forbidden.contains(&label))?;
                }
            }
        }
        Ok(())
    }

    /// Fixes what is known of an instance.
    fn restrict(
        &mut self,
        instance: GraphInstance<'_>,
        variables: &[Vec<u32>],
        known: KnownInstance<'_>,
    ) -> Result<(), Error> {
        let (graph, layers) = (self.unroller.last_mut().graph_mut(), &self.pipeline.layers);
        known.restrict(graph, layers, instance, variables, &mut self.report.known)?;
        Ok(())
    }

    /// The variables of each layer.
    fn variables(&self, instance: GraphInstance<'_>) -> Vec<Vec<u32>> {
        let layers = self.pipeline.layers.iter().enumerate();
        let variables = layers.map(|(number, layer)| {
            (0..layer.variables(instance.len()) as u32)
                .map(|position| self.unroller.variable(instance, number, position))
                .collect()
        });
        variables.collect()
    }

    pub(super) fn names(&self, variables: &[Vec<u32>], labels: &[u32]) -> Vec<Vec<&'p str>> {
        let model = &self.pipeline.model;
        let layers = variables.iter().enumerate().map(|(layer, variables)| {
            let names = model.labels(layer);
            let names = variables
                .iter()
                .map(|&variable| names.name(labels[variable as usize]));
            names.collect()
        });
        layers.collect()
    }

    /// The spans of labels, without probabilities.
    fn spans(&self, labels: &[Vec<&str>]) -> Vec<GraphSpan> {
        let layers = self.pipeline.layers.iter().zip(labels).enumerate();
        let with_spans = layers.filter(|(_, (layer, _))| layer.has_spans());
        with_spans
            .flat_map(|(number, (layer, labels))| {
                let spans = Scheme::from(layer.scheme).spans(labels).into_iter();
                spans.map(move |span| GraphSpan {
                    layer: number,
                    tokens: span.start..span.end,
                    kind: span.kind.to_owned(),
                    probability: None,
                })
            })
            .collect()
    }

    fn add_probabilities(
        &mut self,
        instance: GraphInstance<'_>,
        variables: &[Vec<u32>],
        decoding: &Decoding,
        gold: Option<KnownInstance<'_>>,
        answer: &mut GraphAnswer,
    ) -> Result<(), GraphError> {
        let windows = windows(&self.rules, variables, &answer.spans);
        let samples = self.samples();
        let graph = self.unroller.last_mut().graph_mut();
        let beliefs = self.engine.sum(graph)?;
        answer.probabilities_converged = (!samples).then_some(beliefs.report().converged);
        self.report.unsettled_probabilities += u64::from(answer.probabilities_converged == Some(false));
        let log_z = beliefs.log_z();
        let of = |variables: &Vec<u32>| {
            let probability =
                |&variable: &u32| beliefs.variable(variable)[decoding.labels[variable as usize] as usize];
            variables.iter().map(probability).collect()
        };
        answer.probabilities = Some(variables.iter().map(of).collect());
        if self.options.marginals {
            let all = |variables: &Vec<u32>| {
                let all = variables
                    .iter()
                    .map(|&variable| beliefs.variable(variable).to_vec());
                all.collect()
            };
            answer.marginals = Some(variables.iter().map(all).collect());
        }
        if self.options.pair_marginals {
            answer.pair_marginals = Some(pairs(graph, &beliefs, variables));
        }
        answer.log_z = log_z.value();
        answer.log_probability = log_z.value().map(|log_z| (decoding.score - log_z).min(0.0));
        let inexact = probabilities_by_beliefs(windows, graph, &beliefs, &mut answer.spans);
        if let LogZ::Exact(log_z) = log_z {
            let is_exact =
                probabilities_by_sums(&inexact, graph, &mut *self.engine, log_z, &mut answer.spans)?;
            if !is_exact {
                self.report.estimated += inexact.len() as u64;
            }
            self.add_best(variables, log_z, answer)?;
        }
        if let (Some(gold), Some(log_z)) = (gold, log_z.value()) {
            self.add_gold(instance, variables, gold, log_z, answer)?;
        }
        Ok(())
    }
}

/// The windows of spans, each with the number of its span.
fn windows<'w>(
    rules: &'w [Option<SpanRules>],
    variables: &'w [Vec<u32>],
    spans: &[GraphSpan],
) -> Vec<(usize, Window<'w>)> {
    let window = |(index, span): (usize, &GraphSpan)| {
        let rules = rules[span.layer].as_ref()?;
        let window = Window::new(&variables[span.layer], &span.tokens, &span.kind, rules)?;
        Some((index, window))
    };
    spans.iter().enumerate().filter_map(window).collect()
}

/// The probabilities of spans as beliefs tell them; returns those for which that is not exact.
fn probabilities_by_beliefs<'w>(
    mut windows: Vec<(usize, Window<'w>)>,
    graph: &FactorGraph,
    beliefs: &Beliefs<'_>,
    spans: &mut [GraphSpan],
) -> Vec<(usize, Window<'w>)> {
    if windows.is_empty() {
        return windows;
    }
    for (index, window) in &windows {
        spans[*index].probability = Some(window.probability_by_beliefs(graph, beliefs));
    }
    if let Some(trees) = graph.trees() {
        windows.retain(|(_, window)| !window.is_path(graph, &trees));
    }
    windows
}

/// The exact probabilities of spans, unless they would need too many sums; returns whether they were found.
fn probabilities_by_sums(
    windows: &[(usize, Window<'_>)],
    graph: &mut FactorGraph,
    engine: &mut (dyn Engine + Send),
    log_z: f64,
    spans: &mut [GraphSpan],
) -> Result<bool, GraphError> {
    let parts: Vec<_> = windows
        .iter()
        .map(|(_, window)| window.parts(graph.label_sets()))
        .collect();
    if parts.iter().map(Vec::len).sum::<usize>() > MOST_SUMS {
        return Ok(false);
    }
    for ((index, window), parts) in windows.iter().zip(&parts) {
        let probability = window.probability_by_sums(parts, graph, engine, log_z)?;
        spans[*index].probability = Some(probability);
    }
    Ok(true)
}

/// Lets a variable have those of its labels only that pass a test.
fn keep(graph: &mut FactorGraph, variable: u32, test: impl Fn(u32) -> bool) -> Result<(), GraphError> {
    let labels: Vec<u32> = graph
        .label_sets()
        .iter(variable)
        .filter(|&label| test(label))
        .collect();
    graph.restrict(variable, labels)
}

pub(super) fn owned(labels: Vec<Vec<&str>>) -> Vec<Vec<String>> {
    let own = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect();
    labels.into_iter().map(own).collect()
}
