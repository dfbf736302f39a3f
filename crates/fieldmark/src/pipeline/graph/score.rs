//! How well labels in several layers fit what is known of them.

use super::answer::{GraphAnswer, GraphReport};
use super::{GraphAnnotatorOptions, GraphPipeline, gold};
use crate::Error;
use crate::assess::{LabelTest, Pair};
use crate::config::LayerConfig;
use fieldmark_core::scheme::Tag;
use fieldmark_core::{Alphabet, Gold};
use fieldmark_eval::{Counts, EvalError, Evaluation, GoldLabel, Matching, SpanScores};
use fieldmark_graph::{EngineChoice, GraphDataset, Per, Structure, StructureError, Unroller};
use fieldmark_text::document::{Annotation, Document};
use rayon::prelude::*;

/// What was got right, layer by layer and in all layers together.
#[derive(Clone, Debug)]
pub struct GraphScores {
    /// Every layer of which labels may be known.
    pub layers: Vec<LayerScore>,
    /// The spans of all layers as documents have them, after post-processing, by a model that marks spans. Those for which
    /// there is no layer are missed.
    pub spans: Option<SpanScores>,
    /// Tokens whose labels are right in all layers per position.
    pub right: u64,
    /// Tokens whose labels are known in all layers per position.
    pub tokens: u64,
}

/// What was got right in one layer.
#[derive(Clone, Debug)]
pub struct LayerScore {
    /// The layer.
    pub name: String,
    /// Whether its labels are those of spans.
    pub has_spans: bool,
    /// Its labels.
    pub evaluation: Evaluation,
}

impl LayerScore {
    /// Counts of spans.
    pub fn spans(&self) -> Counts {
        self.evaluation.spans()
    }

    /// The share of labels that are right.
    pub fn accuracy(&self) -> f64 {
        self.evaluation.report().accuracy
    }

    /// F1 of spans, or the share of labels that are right if there are no spans.
    pub fn score(&self) -> f64 {
        if self.has_spans {
            self.spans().f1()
        } else {
            self.accuracy()
        }
    }
}

impl GraphScores {
    /// Nothing yet. The labels that a model knows tell whether a layer has spans.
    pub(super) fn none<'a>(layers: impl Iterator<Item = (&'a LayerConfig, &'a Alphabet)>) -> Self {
        let layers = layers.filter(|(layer, _)| !layer.is_hidden());
        let layers = layers.map(|(layer, labels)| {
            let has_spans = has_spans(layer, labels);
            LayerScore {
                name: layer.name.clone(),
                has_spans,
                evaluation: if has_spans {
                    Evaluation::conlleval()
                } else {
                    // No label stands for "no span".
                    Evaluation::raw("")
                },
            }
        });
        Self {
            layers: layers.collect(),
            spans: None,
            right: 0,
            tokens: 0,
        }
    }

    /// Adds an instance: for each layer, what is known and what was found.
    pub(super) fn add(
        &mut self,
        layers: &[LayerConfig],
        known: &[Vec<GoldLabel<&str>>],
        found: &[Vec<&str>],
    ) -> Result<(), EvalError> {
        let open = (0..layers.len()).filter(|&layer| !layers[layer].is_hidden());
        for (score, layer) in self.layers.iter_mut().zip(open.clone()) {
            score.evaluation.add_partial(&known[layer], &found[layer])?;
        }
        let positions: Vec<usize> = open.filter(|&layer| layers[layer].per == Per::Position).collect();
        let length = positions.first().map_or(0, |&layer| found[layer].len());
        for token in 0..length {
            let mut all = positions.iter().map(|&layer| match known[layer][token] {
                GoldLabel::Known(label) => Some(label == found[layer][token]),
                _ => None,
            });
            if let Some(right) = all.try_fold(true, |right, one| one.map(|one| right && one)) {
                self.tokens += 1;
                self.right += u64::from(right);
            }
        }
        Ok(())
    }

    /// Adds all instances of a data set, labelled with some weights, on the threads of the current rayon pool.
    pub(super) fn add_data(
        &mut self,
        layers: &[LayerConfig],
        data: &GraphDataset,
        structure: &Structure,
        weights: &[f64],
        engine: &EngineChoice,
    ) -> Result<(), Error> {
        let empty = self.clone();
        let first: Vec<usize> = (0..data.len()).step_by(INSTANCES).collect();
        let parts: Result<Vec<GraphScores>, Error> = first
            .into_par_iter()
            .map(|first| {
                let mut scores = empty.clone();
                let mut unroller = Unroller::new(structure, weights)?;
                let mut engine = engine.engine()?;
                for index in first..(first + INSTANCES).min(data.len()) {
                    let instance = data.instance(index);
                    let found = engine.max(unroller.unroll_in_place(instance)?.graph());
                    let found = found
                        .map_err(|error| StructureError::Graph {
                            instance: index,
                            error,
                        })?
                        .labels;
                    let variable = |layer, position| unroller.variable(instance, layer, position) as usize;
                    let (mut golds, mut labels) = (Vec::new(), Vec::new());
                    for (number, layer) in layers.iter().enumerate() {
                        let names = data.labels(number);
                        let length = layer.variables(instance.len()) as u32;
                        let gold = |position| match instance.gold(number, position) {
                            Gold::Unknown => GoldLabel::Unknown,
                            Gold::Known(label) => GoldLabel::Known(names.name(label)),
                            Gold::Ambiguous(set) => {
                                GoldLabel::OneOf(set.iter().map(|&label| names.name(label)).collect())
                            }
                        };
                        golds.push((0..length).map(gold).collect());
                        let label = |position| names.name(found[variable(number, position)]);
                        labels.push((0..length).map(label).collect());
                    }
                    scores.add(layers, &golds, &labels).map_err(wrong)?;
                }
                Ok(scores)
            })
            .collect();
        for part in parts? {
            self.merge(&part).map_err(wrong)?;
        }
        Ok(())
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &GraphScores) -> Result<(), EvalError> {
        for (own, other) in self.layers.iter_mut().zip(&other.layers) {
            own.evaluation.merge(&other.evaluation)?;
        }
        if let (Some(own), Some(other)) = (&mut self.spans, &other.spans) {
            own.merge(other)?;
        }
        self.right += other.right;
        self.tokens += other.tokens;
        Ok(())
    }

    /// The share of tokens whose labels are right in all layers.
    pub fn joint_accuracy(&self) -> f64 {
        self.right as f64 / self.tokens.max(1) as f64
    }

    /// The mean over layers of F1, or of the share of right labels in layers without spans.
    pub fn score(&self) -> f64 {
        let scores: f64 = self.layers.iter().map(LayerScore::score).sum();
        scores / self.layers.len().max(1) as f64
    }
}

/// Whether the labels of a layer are those of spans. In a column, letters alone may be anything: parts of speech, too,
/// are called `S` and `E`.
fn has_spans(layer: &LayerConfig, labels: &Alphabet) -> bool {
    let is_part = |label: &str| matches!(Tag::parse(label), Tag::Part(_, kind) if !kind.is_empty());
    match layer.per {
        Per::Instance => false,
        Per::Position if layer.has_spans() => true,
        Per::Position => {
            labels.iter().all(|label| label == "O" || is_part(label)) && labels.iter().any(is_part)
        }
    }
}

/// What a cell says, as an evaluation wants it.
pub(super) fn known<'c>(cell: &'c str, layer: &LayerConfig) -> GoldLabel<&'c str> {
    let mut labels = gold::alternatives(cell, layer);
    match labels.len() {
        0 => GoldLabel::Unknown,
        1 => GoldLabel::Known(labels.remove(0)),
        _ => GoldLabel::OneOf(labels),
    }
}

/// Documents that are scored by one task.
const TASK: usize = 16;

/// Instances that are scored by one task.
const INSTANCES: usize = 64;

pub(super) fn wrong(error: EvalError) -> Error {
    Error::Option(error.to_string())
}

/// What a graph did on documents whose labels are known.
#[derive(Clone, Debug)]
pub struct GraphTest {
    /// What was got right.
    pub scores: GraphScores,
    /// By a model that marks spans: what was found beside what should be.
    pub pairs: Vec<Pair>,
    /// Of each layer with labels of tokens in a column: its name and its labels.
    pub labels: Vec<(String, LabelTest)>,
    /// How labels were found.
    pub report: GraphReport,
    /// The numbers of these layers.
    columns: Vec<usize>,
}

impl GraphTest {
    fn new(pipeline: &GraphPipeline) -> Self {
        let labels = (0..pipeline.layers.len()).map(|layer| pipeline.model.labels(layer));
        let layers = pipeline.layers.iter().enumerate();
        let columns = layers.filter(|(_, layer)| layer.per == Per::Position && layer.column.is_some());
        let (columns, names): (Vec<usize>, Vec<&String>) =
            columns.map(|(number, layer)| (number, &layer.name)).unzip();
        // No label stands for "no span".
        let none = || LabelTest {
            evaluation: Evaluation::raw(""),
            pairs: Vec::new(),
        };
        Self {
            scores: GraphScores {
                spans: pipeline.has_spans().then(|| SpanScores::new(Matching::Strict)),
                ..GraphScores::none(pipeline.layers.iter().zip(labels))
            },
            pairs: Vec::new(),
            labels: names.into_iter().map(|name| (name.clone(), none())).collect(),
            report: GraphReport::default(),
            columns,
        }
    }

    /// Adds the labels of an instance of a document, as spans of one token.
    pub(super) fn add_labels(
        &mut self,
        document: &Document,
        gold: &[Vec<GoldLabel<&str>>],
        answer: &GraphAnswer,
    ) -> Result<(), EvalError> {
        let names = answer.names();
        for (&layer, (_, test)) in self.columns.iter().zip(&mut self.labels) {
            test.evaluation.add_partial(&gold[layer], &names[layer])?;
            let mut right = Document::new(document.id.clone(), document.text.clone());
            let mut marked = Vec::new();
            for (token, range) in answer.tokens.iter().enumerate() {
                if let GoldLabel::Known(label) = gold[layer][token] {
                    let score = answer.probabilities.as_ref().map(|layers| layers[layer][token]);
                    right.annotations.push(Annotation::new(range.clone(), label));
                    marked.push(Annotation {
                        score,
                        ..Annotation::new(range.clone(), names[layer][token])
                    });
                }
            }
            test.pairs.push(Pair::new(right, marked));
        }
        Ok(())
    }

    /// Adds what was done elsewhere by a model with the same layers.
    pub fn merge(&mut self, other: GraphTest) -> Result<(), EvalError> {
        self.scores.merge(&other.scores)?;
        self.pairs.extend(other.pairs);
        for ((_, own), (_, other)) in self.labels.iter_mut().zip(other.labels) {
            own.merge(other)?;
        }
        self.report.extend(other.report);
        Ok(())
    }
}

impl GraphPipeline {
    /// Labels documents and compares with the labels that they have, on the threads of the current rayon pool. It is an error
    /// that an engine gives up.
    pub fn score(&self, documents: &[Document]) -> Result<GraphScores, Error> {
        let test = self.test_each(documents, false, &GraphAnnotatorOptions::default(), true)?;
        Ok(test.scores)
    }

    /// The same, and tells how labels were found, and where an engine gave up.
    pub fn score_and_report(&self, documents: &[Document]) -> Result<(GraphScores, GraphReport), Error> {
        let test = self.test_each(documents, false, &GraphAnnotatorOptions::default(), false)?;
        Ok((test.scores, test.report))
    }

    /// The same, and keeps what was found beside what should be.
    pub fn test(&self, documents: &[Document]) -> Result<GraphTest, Error> {
        self.test_with(documents, &GraphAnnotatorOptions::default())
    }

    /// The same in a way of one's own.
    pub fn test_with(
        &self,
        documents: &[Document],
        options: &GraphAnnotatorOptions,
    ) -> Result<GraphTest, Error> {
        self.test_each(documents, true, options, false)
    }

    fn test_each(
        &self,
        documents: &[Document],
        keep: bool,
        options: &GraphAnnotatorOptions,
        strict: bool,
    ) -> Result<GraphTest, Error> {
        let parts: Result<Vec<GraphTest>, Error> = documents
            .par_chunks(TASK)
            .map(|documents| {
                let mut annotator = self.annotator_with(options.clone())?;
                annotator.strict = strict;
                let mut test = GraphTest::new(self);
                for document in documents {
                    annotator.test(document, keep, &mut test)?;
                }
                test.report = annotator.take_report();
                Ok(test)
            })
            .collect();
        let mut all = GraphTest::new(self);
        for part in parts? {
            all.merge(part).map_err(wrong)?;
        }
        Ok(all)
    }
}
