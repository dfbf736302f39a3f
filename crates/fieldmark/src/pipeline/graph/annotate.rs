//! [`GraphAnnotator`]: marks documents with a [`GraphPipeline`].

use super::GraphPipeline;
use super::confidence::FoundSpan;
use super::describe::{Numbers, cut, describe, instance_name};
use super::gold::{OPEN, alternatives, layer_labels, layer_spans};
use super::score::{GraphScores, known, wrong};
use crate::Error;
use crate::config::LayerConfig;
use crate::pipeline::annotate::with_column;
use crate::pipeline::known::{Known, known_spans};
use crate::pipeline::sequences::Sentences;
use crate::pipeline::stack::Labellers;
use fieldmark_core::{Alphabet, Scheme};
use fieldmark_graph::exact::{JunctionTree, k_best};
use fieldmark_graph::{
    Decoding, Engine, EngineChoice, Error as GraphError, GraphDataset, GraphDatasetBuilder, GraphInstance,
    LogZ, Per, Relation, Unroller,
};
use fieldmark_text::document::{Annotation, Document};
use fieldmark_text::features::{Extraction, Growing};
use fieldmark_text::formats::Notices;
use std::ops::Range;

/// Marks documents; make one per thread and use it again and again.
pub struct GraphAnnotator<'p> {
    pipeline: &'p GraphPipeline,
    choice: EngineChoice,
    options: GraphAnnotatorOptions,
    extraction: Extraction<'p, Numbers>,
    unroller: Unroller<'p>,
    engine: Box<dyn Engine + Send>,
    labellers: Labellers<'p>,
    report: GraphReport,
}

/// How a [`GraphAnnotator`] decides.
#[derive(Clone, Debug, Default)]
pub struct GraphAnnotatorOptions {
    /// The engine; by default that of the config.
    pub engine: Option<EngineChoice>,
    /// Whether the labels that a document comes with are known to be right; those that are open are found around them.
    pub fix_labels: bool,
    /// Whether every label of every variable gets its probability in answers.
    pub marginals: bool,
    /// How many of the best labellings answers have, from an exact engine.
    pub best: Option<usize>,
}

/// What a [`GraphAnnotator`] has to tell.
#[derive(Debug, Default)]
pub struct GraphReport {
    /// Instances that were labelled.
    pub instances: u64,
    /// Those whose labelling an engine could not bring to its goal before its limit.
    pub unsettled: u64,
    /// Those whose labelling is proved to be the best.
    pub proved: u64,
    /// How many labels were known.
    pub known: u64,
    /// Instances without an answer: the document, the text and why. Their labels are `?`.
    pub impossible: Vec<(String, String, GraphError)>,
    /// What of the labels that are known could not be used as it was.
    pub notices: Notices,
}

impl GraphReport {
    /// Adds what happened elsewhere.
    pub fn extend(&mut self, other: GraphReport) {
        self.instances += other.instances;
        self.unsettled += other.unsettled;
        self.proved += other.proved;
        self.known += other.known;
        self.impossible.extend(other.impossible);
        self.notices.extend(other.notices);
    }
}

/// What a model says about one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphAnswer {
    /// The bytes of each token.
    pub tokens: Vec<Range<usize>>,
    /// For each layer, the label of each token, or of the instance; `?` where there is no answer.
    pub labels: Vec<Vec<String>>,
    /// For each layer, the probability of each of these labels, if the engine knows it.
    pub probabilities: Option<Vec<Vec<f64>>>,
    /// For each layer and token, the probabilities of all labels, if they were asked for.
    pub marginals: Option<Vec<Vec<Vec<f64>>>>,
    /// Further labellings, best first, with the logarithm of their probabilities.
    pub best: Vec<(Vec<Vec<String>>, f64)>,
    /// For each layer that has them, its spans: tokens, type and probability.
    pub spans: Vec<(usize, Range<usize>, String, Option<f64>)>,
    /// The logarithm of the probability of the labelling, if the engine knows log Z.
    pub log_probability: Option<f64>,
    /// Whether the engine reached its goal.
    pub converged: bool,
    /// Why there is no answer.
    pub error: Option<GraphError>,
}

/// New observations after which the alphabet of an annotator begins anew.
const MOST_NEW: usize = 1 << 20;

impl GraphPipeline {
    /// Gets ready to mark documents.
    pub fn annotator(&self) -> Result<GraphAnnotator<'_>, Error> {
        self.annotator_with(GraphAnnotatorOptions::default())
    }

    /// Gets ready to mark documents in a way of one's own.
    pub fn annotator_with(&self, options: GraphAnnotatorOptions) -> Result<GraphAnnotator<'_>, Error> {
        let of_config = || self.config().graph.as_ref().map(|graph| graph.inference.clone());
        let choice = options.engine.clone().or_else(of_config).unwrap_or_default();
        if options.best.is_some() && !matches!(choice, EngineChoice::Exact(_)) {
            return Err(Error::Option(
                "several labellings are found by the exact engine alone, and this model uses another one"
                    .into(),
            ));
        }
        Ok(GraphAnnotator {
            pipeline: self,
            extraction: self.extraction(),
            unroller: Unroller::new(self.model.structure(), self.model.weights())?,
            engine: choice.engine()?,
            choice,
            options,
            labellers: self.front.stack.labellers(),
            report: GraphReport::default(),
        })
    }

    fn extraction(&self) -> Extraction<'_, Numbers> {
        let templates = &self.model.description().templates;
        let numbers = Numbers {
            growing: Growing::with_names(self.model.observations().to_alphabet()),
            grows: templates
                .iter()
                .any(|template| matches!(template.relation, Relation::Skip(_) | Relation::Custom { .. })),
        };
        Extraction::new(&self.front.extractor, numbers)
    }
}

impl<'p> GraphAnnotator<'p> {
    /// Replaces what a document says of the layers by what the pipeline finds: labels as columns of its tokens, spans as
    /// annotations, labels of whole documents as metadata.
    pub fn annotate(&mut self, document: &mut Document) -> Result<(), Error> {
        let sentences = self.cut(document)?;
        let answers = self.answer_instances(document, &sentences)?;
        let layers = &self.pipeline.layers;
        let mut annotations = Vec::new();
        for answer in &answers {
            for (_, tokens, kind, score) in &answer.spans {
                let bytes = answer.tokens[tokens.start].start..answer.tokens[tokens.end - 1].end;
                annotations.push(Annotation {
                    score: *score,
                    ..Annotation::new(bytes, kind)
                });
            }
        }
        annotations.sort_by_key(|annotation| (annotation.range().start, usize::MAX - annotation.range().end));
        let mut columns = Vec::new();
        for (number, layer) in layers.iter().enumerate() {
            if let Some(column) = &layer.column {
                columns.push((column, column_of(number, layer, &answers)));
            }
        }
        let given = columns
            .iter()
            .fold(document.given.clone(), |given, (column, labels)| {
                Some(with_column(given.as_ref(), &sentences, column, labels))
            });
        let tokens = sentences.tokens.clone();
        drop(sentences);
        document.given = given;
        if let (Some(given), [_, _, ..]) = (&mut document.given, &columns[..]) {
            // No column is *the* one, and a token is as sure as the least sure of its labels.
            given.labels = None;
            for (index, token) in given.sentences.iter_mut().flatten().enumerate() {
                let scores = columns.iter().filter_map(|(_, labels)| labels[index].1);
                token.score = scores.reduce(f64::min);
            }
        }
        for (number, layer) in layers.iter().enumerate() {
            if let (Some(key), [answer, ..]) = (&layer.meta, &answers[..]) {
                document
                    .meta
                    .insert(key.clone(), answer.labels[number][0].clone());
            }
        }
        if layers.iter().any(LayerConfig::has_spans) {
            document.annotations = annotations;
            document.relations.clear();
            self.pipeline.front.config.postprocess.apply(document, &tokens);
            self.pipeline.front.config.identify.apply(document);
        }
        Ok(())
    }

    /// What the model says about each instance of a document.
    pub fn answers(&mut self, document: &Document) -> Result<Vec<GraphAnswer>, Error> {
        let sentences = self.cut(document)?;
        self.answer_instances(document, &sentences)
    }

    /// The instances of a document as the model sees them, with the bytes of each token. Labels are those that the
    /// document has.
    pub fn describe(&mut self, document: &Document) -> Result<(GraphDataset, Vec<Range<usize>>), Error> {
        let sentences = self.cut(document)?;
        let cells = self.cells(document, &sentences, &mut Notices::new());
        let data = self.observe(document, &sentences, Some(&cells))?;
        self.put_back(data.clone());
        Ok((data, sentences.tokens.iter().map(|token| token.range()).collect()))
    }

    /// The best label of each variable of an instance.
    pub fn label_variables(&mut self, instance: GraphInstance<'_>) -> Result<Vec<u32>, Error> {
        let graph = self.unroller.unroll_in_place(instance)?.graph();
        Ok(self.engine.max(graph)?.labels)
    }

    /// What there is to tell of the documents since the last report.
    pub fn take_report(&mut self) -> GraphReport {
        std::mem::take(&mut self.report)
    }

    /// Labels a document and counts what is right.
    pub(super) fn score(&mut self, document: &Document, scores: &mut GraphScores) -> Result<(), Error> {
        let sentences = self.cut(document)?;
        let layers = &self.pipeline.layers;
        let cells = self.cells(document, &sentences, &mut Notices::new());
        let answers = self.label_instances(document, &sentences)?;
        for (index, answer) in answers.iter().enumerate() {
            let gold: Vec<Vec<_>> = cells
                .iter()
                .zip(layers)
                .map(|(instances, layer)| instances[index].iter().map(|cell| known(cell, layer)).collect())
                .collect();
            scores.add(layers, &gold, answer).map_err(wrong)?;
        }
        Ok(())
    }

    fn cut<'d>(&mut self, document: &'d Document) -> Result<Sentences<'d>, Error> {
        let front = &self.pipeline.front;
        let notices = &mut self.report.notices;
        cut(
            &front.cutter,
            instance_name(&front.config),
            document,
            &mut self.labellers,
            notices,
        )
    }

    /// What a document says of all layers, by layer, instance and token.
    fn cells(
        &self,
        document: &Document,
        sentences: &Sentences<'_>,
        notices: &mut Notices,
    ) -> Vec<Vec<Vec<String>>> {
        let layers = self.pipeline.layers.iter();
        layers
            .map(|layer| layer_labels(layer, document, sentences, notices))
            .collect()
    }

    fn observe(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
        cells: Option<&[Vec<Vec<String>>]>,
    ) -> Result<GraphDataset, Error> {
        let GraphPipeline {
            model, layers, front, ..
        } = self.pipeline;
        let labels = (0..layers.len())
            .map(|layer| model.labels(layer).clone())
            .collect();
        let mut builder = GraphDatasetBuilder::with_alphabets(model.description(), Alphabet::new(), labels);
        sentences.try_for_each(&document.text, front.extractor.columns(), |index, sequence| {
            let cell = |layer: usize, position: usize| match cells {
                Some(cells) => cells[layer][index][position].as_str(),
                None => OPEN,
            };
            describe(
                &mut self.extraction,
                sequence,
                layers,
                &mut builder,
                cell,
                |_, layer, name| model.labels(layer).get(name),
            )
        })?;
        // The alphabet goes from document to document, and back.
        let names = std::mem::take(&mut self.extraction.numbering_mut().growing.names);
        Ok(builder.finish_numbered(names)?)
    }

    /// Takes the alphabet back.
    fn put_back(&mut self, data: GraphDataset) {
        let known = self.pipeline.model.observations().len();
        if data.observations.len() > known + MOST_NEW {
            self.extraction = self.pipeline.extraction();
        } else {
            self.extraction.numbering_mut().growing.names = data.observations;
        }
    }

    /// The labels of each instance, by layer and token.
    fn label_instances(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
    ) -> Result<Vec<Vec<Vec<&'p str>>>, Error> {
        let data = self.observe(document, sentences, None)?;
        let labels: Result<Vec<_>, Error> = data
            .instances()
            .map(|instance| {
                let variables = self.variables(instance);
                let found = self.label_variables(instance)?;
                Ok(self.names(&variables, &found))
            })
            .collect();
        self.put_back(data);
        labels.map_err(|error| in_document(document, error))
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

    fn names(&self, variables: &[Vec<u32>], labels: &[u32]) -> Vec<Vec<&'p str>> {
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

    fn answer_instances(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
    ) -> Result<Vec<GraphAnswer>, Error> {
        let known = self.options.fix_labels.then(|| self.known(document, sentences));
        let data = self.observe(document, sentences, None)?;
        let answers = self.answer_data(document, sentences, &data, known.as_deref());
        self.put_back(data);
        answers
    }

    /// What a document is known to say, by layer: the labels that each token, or each instance, may have.
    fn known(&mut self, document: &Document, sentences: &Sentences<'_>) -> Vec<Known> {
        let GraphPipeline { model, layers, .. } = self.pipeline;
        let mut notices = Notices::new();
        let mut all = Vec::with_capacity(layers.len());
        for (number, layer) in layers.iter().enumerate() {
            let names = model.labels(number);
            if layer.has_spans() {
                let (scheme, spans) = (
                    Scheme::from(layer.scheme),
                    layer_spans(layer, document, sentences, &mut notices),
                );
                all.push(known_spans(
                    scheme,
                    names,
                    spans,
                    document,
                    sentences,
                    &mut notices,
                ));
                continue;
            }
            let cells = layer_labels(layer, document, sentences, &mut notices);
            let set = |cell: &String| {
                let labels = alternatives(cell, layer).into_iter();
                let set: Option<Vec<u32>> = labels.map(|label| names.get(label)).collect();
                set.filter(|set| !set.is_empty())
            };
            all.push(cells.iter().flatten().map(set).collect());
        }
        self.report.notices.extend(notices);
        all
    }

    fn answer_data(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
        data: &GraphDataset,
        known: Option<&[Known]>,
    ) -> Result<Vec<GraphAnswer>, Error> {
        let mut answers = Vec::with_capacity(data.len());
        for (instance, range) in data.instances().zip(sentences.ranges()) {
            let tokens: Vec<Range<usize>> = sentences.tokens[range.clone()]
                .iter()
                .map(|token| token.range())
                .collect();
            let answer = self
                .answer(instance, tokens, known, range.start)
                .map_err(|error| in_document(document, error))?;
            if let Some(error) = &answer.error {
                let start = answer.tokens.first().map_or(0, |token| token.start);
                let end = answer.tokens.last().map_or(0, |token| token.end);
                let text = document.text.get(start..end).unwrap_or_default().to_owned();
                self.report
                    .impossible
                    .push((document.id.clone(), text, error.clone()));
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    fn answer(
        &mut self,
        instance: GraphInstance<'_>,
        tokens: Vec<Range<usize>>,
        known: Option<&[Known]>,
        first: usize,
    ) -> Result<GraphAnswer, Error> {
        let variables = self.variables(instance);
        let known = self.restrict(instance, &variables, known.unwrap_or_default(), first)?;
        self.report.known += known;
        self.report.instances += 1;
        let graph = self.unroller.last_mut().graph_mut();
        let decoding = match self.engine.max(graph) {
            Ok(decoding) => decoding,
            Err(
                error @ (GraphError::Contradiction { .. }
                | GraphError::NothingFound { .. }
                | GraphError::EmptyLabelSet { .. }
                | GraphError::TooWide { .. }),
            ) => {
                let open = |variables: &Vec<u32>| vec![OPEN.to_owned(); variables.len()];
                return Ok(GraphAnswer {
                    tokens,
                    labels: variables.iter().map(open).collect(),
                    probabilities: None,
                    marginals: None,
                    best: Vec::new(),
                    spans: Vec::new(),
                    log_probability: None,
                    converged: true,
                    error: Some(error),
                });
            }
            Err(error) => return Err(error.into()),
        };
        // A sampler has no goal but its number of sweeps.
        let settles = !matches!(self.choice, EngineChoice::Gibbs(_));
        self.report.unsettled += u64::from(settles && !decoding.report.converged);
        self.report.proved += u64::from(decoding.report.exact);
        let mut answer = GraphAnswer {
            tokens,
            labels: owned(self.names(&variables, &decoding.labels)),
            probabilities: None,
            marginals: None,
            best: Vec::new(),
            spans: self.spans(&variables, &decoding.labels),
            log_probability: None,
            converged: decoding.report.converged,
            error: None,
        };
        if !matches!(self.choice, EngineChoice::Dual(_)) {
            self.add_probabilities(&variables, &decoding, &mut answer)?;
        }
        Ok(answer)
    }

    /// Makes the graph of an instance, in which what is known is fixed; returns how much that is. `first` is the number of
    /// its first token in the document.
    fn restrict(
        &mut self,
        instance: GraphInstance<'_>,
        variables: &[Vec<u32>],
        known: &[Known],
        first: usize,
    ) -> Result<u64, Error> {
        let graph = self.unroller.unroll_in_place(instance)?.graph_mut();
        let mut count = 0;
        let layers = self.pipeline.layers.iter().zip(variables).zip(known);
        for ((layer, variables), known) in layers {
            let start = match layer.per {
                Per::Position => first,
                Per::Instance => instance.index(),
            };
            for (&variable, labels) in variables.iter().zip(&known[start..]) {
                if let Some(labels) = labels {
                    graph.restrict(variable, labels.iter().copied())?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// The spans of a labelling, without probabilities: layer, tokens, type.
    fn spans(
        &self,
        variables: &[Vec<u32>],
        labels: &[u32],
    ) -> Vec<(usize, Range<usize>, String, Option<f64>)> {
        let mut spans = Vec::new();
        let names = self.names(variables, labels);
        for (number, layer) in self
            .pipeline
            .layers
            .iter()
            .enumerate()
            .filter(|(_, layer)| layer.has_spans())
        {
            for span in Scheme::from(layer.scheme).spans(&names[number]) {
                spans.push((number, span.start..span.end, span.kind.to_owned(), None));
            }
        }
        spans
    }

    fn add_probabilities(
        &mut self,
        variables: &[Vec<u32>],
        decoding: &Decoding,
        answer: &mut GraphAnswer,
    ) -> Result<(), Error> {
        let (model, layers) = (&self.pipeline.model, &self.pipeline.layers);
        let found = |spans: &'_ (usize, Range<usize>, String, Option<f64>)| {
            let (layer, tokens) = (spans.0, spans.1.clone());
            let labels: Vec<u32> = variables[layer][tokens]
                .iter()
                .map(|&variable| decoding.labels[variable as usize])
                .collect();
            labels
        };
        let graph = self.unroller.last_mut().graph_mut();
        let log_z = {
            let beliefs = self.engine.sum(graph)?;
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
            if !matches!(beliefs.log_z(), LogZ::Exact(_)) {
                for span in &mut answer.spans {
                    let labels = found(span);
                    let place = span_place(&variables[span.0], &span.1, &labels, &span.2);
                    let names = model.labels(span.0);
                    let scheme = layers[span.0].scheme.into();
                    span.3 = Some(place.estimated_probability(graph, &beliefs, scheme, names));
                }
            }
            beliefs.log_z()
        };
        let score = decoding.score;
        answer.log_probability = log_z.value().map(|log_z| (score - log_z).min(0.0));
        if let LogZ::Exact(log_z) = log_z {
            let engine = &mut *self.engine;
            for span in &mut answer.spans {
                let labels = found(span);
                let place = span_place(&variables[span.0], &span.1, &labels, &span.2);
                let names = model.labels(span.0);
                let scheme = layers[span.0].scheme.into();
                span.3 = place.exact_probability(graph, engine, log_z, scheme, names)?;
            }
            if let (Some(best), EngineChoice::Exact(options)) = (self.options.best, &self.choice) {
                let mut engine = JunctionTree::with_budget(options.budget);
                let found = k_best(&mut engine, graph, best)?;
                answer.best = found
                    .into_iter()
                    .map(|decoding| {
                        let labels = owned(self.names(variables, &decoding.labels));
                        (labels, (decoding.score - log_z).min(0.0))
                    })
                    .collect();
            }
        }
        Ok(())
    }
}

/// An error with the document that it is about.
fn in_document(document: &Document, error: Error) -> Error {
    Error::Option(format!("{}: {error}", document.id))
}

fn owned(labels: Vec<Vec<&str>>) -> Vec<Vec<String>> {
    let own = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect();
    labels.into_iter().map(own).collect()
}

fn span_place<'a>(
    variables: &'a [u32],
    tokens: &Range<usize>,
    labels: &'a [u32],
    kind: &'a str,
) -> FoundSpan<'a> {
    FoundSpan {
        variables: &variables[tokens.clone()],
        labels,
        beside: [
            tokens.start.checked_sub(1).map(|at| variables[at]),
            variables.get(tokens.end).copied(),
        ],
        kind,
    }
}

/// The label of every token in a layer, with its probability; the label of an instance is that of all its tokens.
fn column_of<'a>(
    number: usize,
    layer: &LayerConfig,
    answers: &'a [GraphAnswer],
) -> Vec<(&'a str, Option<f64>)> {
    let mut all = Vec::new();
    for answer in answers {
        let labels = &answer.labels[number];
        let probability = |at: usize| answer.probabilities.as_ref().map(|layers| layers[number][at]);
        all.extend((0..answer.tokens.len()).map(|token| {
            let at = if layer.per == Per::Instance { 0 } else { token };
            (labels[at].as_str(), probability(at))
        }));
    }
    all
}
