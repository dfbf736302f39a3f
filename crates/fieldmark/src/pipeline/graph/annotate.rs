//! [`GraphAnnotator`]: marks documents with a [`GraphPipeline`].

use super::GraphPipeline;
use super::answer::{GraphAnswer, GraphLabel, GraphReport, ImpossibleInstance};
use super::confidence::SpanRules;
use super::describe::{Numbers, columns, cut, describe, instance_name};
use super::gold::{OPEN, known_labels, layer_labels, layer_spans, tell_left_out};
use super::infer::{KnownInstance, span_rules};
use super::marks::{annotations, column_of, labels_of_instances};
use super::numbers::check;
use super::score::{GraphTest, known, wrong};
use crate::Error;
use crate::assess::Pair;
use crate::config::{InstanceName, LabelConfig, LayerConfig};
use crate::pipeline::annotate::with_column;
use crate::pipeline::known::{Known, known_cells, known_spans};
use crate::pipeline::score::wanted;
use crate::pipeline::sequences::Sentences;
use crate::pipeline::stack::Labellers;
use fieldmark_core::{Alphabet, Scheme};
use fieldmark_graph::{
    Engine, EngineChoice, GraphDataset, GraphDatasetBuilder, GraphExplanation, MaxMarginals, Unroller,
};
use fieldmark_text::document::Document;
use fieldmark_text::features::Extraction;
use fieldmark_text::formats::Notices;
use fieldmark_text::tokenize::Token;
use std::ops::Range;

/// Marks documents; make one per thread and use it again and again.
pub struct GraphAnnotator<'p> {
    pub(super) pipeline: &'p GraphPipeline,
    pub(super) choice: EngineChoice,
    pub(super) options: GraphAnnotatorOptions,
    extraction: Extraction<'p, Numbers>,
    pub(super) unroller: Unroller<'p>,
    pub(super) engine: Box<dyn Engine + Send>,
    /// For max-marginals and several labellings, if the engine is exact.
    pub(super) best: Option<Box<dyn MaxMarginals + Send>>,
    /// Of the layers that have spans.
    pub(super) rules: Vec<Option<SpanRules>>,
    /// Whether it is an error that an engine gives up: where nobody reads the report.
    pub(super) strict: bool,
    /// Whether labels and spans get probabilities.
    pub(super) probabilities: bool,
    labellers: Labellers<'p>,
    pub(super) report: GraphReport,
}

/// How a [`GraphAnnotator`] decides.
#[derive(Clone, Debug, Default)]
pub struct GraphAnnotatorOptions {
    /// The engine; by default that of the config.
    pub engine: Option<EngineChoice>,
    /// Whether the labels that a document comes with are known to be right; those that are open are found around them.
    pub fix_labels: bool,
    /// Whether labels of spans may follow each other as the scheme of their layer rules out. By default they may not,
    /// where neighbours are joined; a sampler that changes one label at a time could not move then, and is left free.
    pub illegal_labels: bool,
    /// Whether every label of every variable gets its probability in answers.
    pub marginals: bool,
    /// Whether every label of every variable gets the probability of the best labelling that has it, from an exact engine.
    pub max_marginals: bool,
    /// Whether answers have the probabilities of the labels of every two variables that a factor joins.
    pub pair_marginals: bool,
    /// Whether answers have the probability of the labels that documents come with.
    pub log_probabilities: bool,
    /// How many of the best labellings answers have, from an exact engine.
    pub best: Option<usize>,
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
        let choice = options.engine.clone().unwrap_or_else(|| self.inference());
        check(&choice, &options)?;
        let mut unroller = Unroller::new(self.model.structure(), self.model.weights())?;
        let legal = !options.illegal_labels && !matches!(choice, EngineChoice::Gibbs(_));
        Ok(GraphAnnotator {
            pipeline: self,
            extraction: self.extraction(),
            rules: span_rules(&self.layers, &self.model, legal, &mut unroller),
            unroller,
            strict: false,
            probabilities: !matches!(choice, EngineChoice::Dual(_)),
            engine: choice.engine()?,
            best: choice.max_marginals(),
            choice,
            options,
            labellers: self.front.stack.labellers(),
            report: GraphReport::default(),
        })
    }

    fn extraction(&self) -> Extraction<'_, Numbers> {
        let names = self.model.observations().to_alphabet();
        let numbers = Numbers::new(names, self.model.description());
        Extraction::new(&self.front.extractor, numbers)
    }
}

impl<'p> GraphAnnotator<'p> {
    /// Replaces what a document says of the layers by what the pipeline finds: labels as columns of its tokens, spans as
    /// annotations, labels of whole documents as metadata.
    pub fn annotate(&mut self, document: &mut Document) -> Result<(), Error> {
        self.annotate_with_labels(document).map(drop)
    }

    /// The same, and the labels of whole instances: few formats have a place for them, and for how sure they are.
    pub fn annotate_with_labels(&mut self, document: &mut Document) -> Result<Vec<GraphLabel>, Error> {
        let sentences = self.cut(document)?;
        let answers = self.answer_instances(document, &sentences)?;
        let layers = &self.pipeline.layers;
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
        if self.pipeline.has_spans() {
            self.mark_spans(document, &tokens, &answers);
        }
        Ok(labels_of_instances(layers, &answers))
    }

    /// Replaces the annotations of a document by the spans of its answers.
    fn mark_spans(&self, document: &mut Document, tokens: &[Token], answers: &[GraphAnswer]) {
        document.annotations = annotations(answers);
        document.open = None;
        document.relations.clear();
        self.pipeline.front.config.postprocess.apply(document, tokens);
        self.pipeline.front.config.identify.apply(document);
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
        let cells = self.cells(document, &sentences);
        let data = self.observe(&document.text, &sentences, Some(&cells))?;
        self.put_back(data.clone());
        Ok((data, sentences.tokens.iter().map(|token| token.range()).collect()))
    }

    /// Why the variables of each instance get their labels, with at most `top` reasons for each. It is an error if an
    /// instance has no labels.
    pub fn explain(&mut self, document: &Document, top: usize) -> Result<Vec<GraphExplanation>, Error> {
        let all = self.explain_each(document, top)?.into_iter();
        all.map(|one| one.map_err(|other| in_document(document, Error::Option(other.problem))))
            .collect()
    }

    /// The same, and for instances without labels the reason why there are none.
    pub fn explain_each(
        &mut self,
        document: &Document,
        top: usize,
    ) -> Result<Vec<Result<GraphExplanation, ImpossibleInstance>>, Error> {
        let sentences = self.cut(document)?;
        let data = self.observe(&document.text, &sentences, None)?;
        let explained = data.instances().zip(sentences.ranges()).map(|(instance, range)| {
            let tokens = &sentences.tokens[range];
            let words: Vec<&str> = tokens.iter().map(|token| token.text(&document.text)).collect();
            let bytes: Vec<Range<usize>> = tokens.iter().map(|token| token.range()).collect();
            let explained = self
                .explain_instance(instance, &words, top)
                .map_err(|error| in_document(document, error))?;
            Ok(match explained {
                Ok((explanation, unsure)) => {
                    let unsure = unsure.map(|problem| told(document, &bytes, &problem, false));
                    self.report.unsure.extend(unsure);
                    Ok(explanation.with_tokens(words))
                }
                Err((problem, is_ruled_out)) => Err(told(document, &bytes, &problem, is_ruled_out)),
            })
        });
        let explained: Result<Vec<_>, Error> = explained.collect();
        self.put_back(data);
        explained
    }

    /// What there is to tell of the documents since the last report.
    pub fn take_report(&mut self) -> GraphReport {
        std::mem::take(&mut self.report)
    }

    /// Labels a document and puts what was found beside what should be; `keep` if single errors are of interest.
    pub(super) fn test(
        &mut self,
        document: &Document,
        keep: bool,
        test: &mut GraphTest,
    ) -> Result<(), Error> {
        let GraphPipeline { layers, front, .. } = self.pipeline;
        // Steps of post-processing may look at probabilities.
        self.probabilities &= keep || !front.config.postprocess.steps().is_empty();
        let sentences = self.cut(document)?;
        let cells = self.cells(document, &sentences);
        let answers = self.answer_instances(document, &sentences)?;
        for (index, answer) in answers.iter().enumerate() {
            let gold: Vec<Vec<_>> = cells
                .iter()
                .zip(layers)
                .map(|(instances, layer)| instances[index].iter().map(|cell| known(cell, layer)).collect())
                .collect();
            test.scores.add(layers, &gold, &answer.names()).map_err(wrong)?;
            if keep {
                test.add_labels(document, &gold, answer).map_err(wrong)?;
            }
        }
        if let Some(spans) = &mut test.scores.spans {
            let labels: Vec<LabelConfig> = layers
                .iter()
                .filter(|layer| layer.has_spans())
                .map(LayerConfig::labels)
                .collect();
            let mut found = document.clone();
            self.mark_spans(&mut found, &sentences.tokens, &answers);
            let pair = Pair::new(wanted(document, &labels), found.annotations);
            spans.add(&pair.gold_spans(), &pair.found_spans());
            test.pairs.extend(Some(pair).filter(|_| keep));
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
    fn cells(&self, document: &Document, sentences: &Sentences<'_>) -> Vec<Vec<Vec<String>>> {
        let layers = self.pipeline.layers.iter();
        layers
            .map(|layer| layer_labels(layer, document, sentences, &mut Notices::new()))
            .collect()
    }

    fn observe(
        &mut self,
        text: &str,
        sentences: &Sentences<'_>,
        cells: Option<&[Vec<Vec<String>>]>,
    ) -> Result<GraphDataset, Error> {
        let GraphPipeline {
            model, layers, front, ..
        } = self.pipeline;
        let labels: Vec<Alphabet> = (0..layers.len())
            .map(|layer| model.labels(layer).clone())
            .collect();
        let counts: Vec<u32> = labels.iter().map(|labels| labels.len() as u32).collect();
        let mut builder = GraphDatasetBuilder::with_alphabets(model.description(), Alphabet::new(), labels);
        sentences.try_for_each(text, &columns(&front.extractor, layers), |index, sequence| {
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
                Some(&counts),
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
        text: &str,
        sentences: &Sentences<'_>,
    ) -> Result<Vec<Vec<Vec<&'p str>>>, Error> {
        let data = self.observe(text, sentences, None)?;
        let labels: Result<Vec<_>, Error> = data.instances().map(|instance| self.labels(instance)).collect();
        self.put_back(data);
        labels
    }

    /// The labels of every token, sentence by sentence, those of all layers joined by `|`: a feature of another model.
    pub(in crate::pipeline) fn label_sentences(
        &mut self,
        text: &str,
        sentences: &mut Sentences<'_>,
    ) -> Result<Vec<Vec<String>>, Error> {
        self.strict = true;
        self.labellers.add_columns(text, sentences)?;
        if instance_name(&self.pipeline.front.config) == InstanceName::Document {
            sentences.join();
        }
        let instances = self.label_instances(text, sentences);
        let lengths: Vec<usize> = sentences.ranges().map(|range| range.len()).collect();
        sentences.part();
        let mut tokens = Vec::with_capacity(sentences.tokens.len());
        for (layers, length) in instances?.iter().zip(lengths) {
            let label = |layer: &Vec<&'p str>, token: usize| *layer.get(token).unwrap_or(&layer[0]);
            tokens.extend((0..length).map(|token| {
                let labels: Vec<&str> = layers.iter().map(|layer| label(layer, token)).collect();
                labels.join("|")
            }));
        }
        Ok(sentences.ranges().map(|range| tokens[range].to_vec()).collect())
    }

    fn answer_instances(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
    ) -> Result<Vec<GraphAnswer>, Error> {
        let known = self.options.fix_labels.then(|| self.known(document, sentences));
        let wants_gold = self.options.log_probabilities;
        let gold = wants_gold.then(|| self.gold(document, sentences)).flatten();
        let data = self.observe(&document.text, sentences, None)?;
        let answers = self.answer_data(document, sentences, &data, [known.as_deref(), gold.as_deref()]);
        self.put_back(data);
        answers
    }

    /// What a document is known to say, by layer: the labels that each token, or each instance, may have.
    fn known(&mut self, document: &Document, sentences: &Sentences<'_>) -> Vec<Known> {
        let GraphPipeline { model, layers, .. } = self.pipeline;
        let mut notices = Notices::new();
        tell_left_out(layers, document, sentences, &mut notices);
        let mut all = Vec::with_capacity(layers.len());
        for (number, layer) in layers.iter().enumerate() {
            let names = model.labels(number);
            if layer.has_spans() && document.open.is_some() {
                let cells = layer_labels(layer, document, sentences, &mut notices);
                all.push(known_cells(names, &cells, document, &mut notices));
                continue;
            }
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
            all.push(known_labels(layer, names, &cells, document, &mut notices));
        }
        self.report.notices.extend(notices);
        all
    }

    fn answer_data(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
        data: &GraphDataset,
        known_and_gold: [Option<&[Known]>; 2],
    ) -> Result<Vec<GraphAnswer>, Error> {
        let mut answers = Vec::with_capacity(data.len());
        for (instance, range) in data.instances().zip(sentences.ranges()) {
            let tokens: Vec<Range<usize>> = sentences.tokens[range.clone()]
                .iter()
                .map(|token| token.range())
                .collect();
            let [known, gold] = known_and_gold.map(|layers| {
                layers.map(|layers| KnownInstance {
                    layers,
                    first: range.start,
                })
            });
            let answer = self
                .answer(instance, &document.text, tokens, known, gold)
                .map_err(|error| in_document(document, error))?;
            if let Some(problem) = &answer.problem {
                self.report
                    .impossible
                    .push(told(document, &answer.tokens, problem, answer.is_ruled_out));
            }
            if let Some(problem) = &answer.unsure {
                self.report
                    .unsure
                    .push(told(document, &answer.tokens, problem, false));
            }
            answers.push(answer);
        }
        Ok(answers)
    }
}

/// What is told of an instance with a problem.
fn told(
    document: &Document,
    tokens: &[Range<usize>],
    problem: &str,
    is_ruled_out: bool,
) -> ImpossibleInstance {
    let start = tokens.first().map_or(0, |token| token.start);
    let end = tokens.last().map_or(0, |token| token.end);
    ImpossibleInstance {
        document: document.id.clone(),
        text: document.text.get(start..end).unwrap_or_default().to_owned(),
        problem: problem.to_owned(),
        is_ruled_out,
    }
}

/// An error with the document that it is about.
fn in_document(document: &Document, error: Error) -> Error {
    Error::Option(format!("{}: {error}", document.id))
}
