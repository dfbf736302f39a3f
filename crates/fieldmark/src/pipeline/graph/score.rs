//! How well labels in several layers fit what is known of them.

use super::GraphPipeline;
use super::gold;
use crate::Error;
use crate::config::LayerConfig;
use fieldmark_core::Alphabet;
use fieldmark_core::Gold;
use fieldmark_core::scheme::Tag;
use fieldmark_eval::{Counts, EvalError, Evaluation, GoldLabel};
use fieldmark_graph::{EngineChoice, GraphDataset, Per, Structure, Unroller};
use fieldmark_text::document::Document;
use rayon::prelude::*;

/// What was got right, layer by layer and in all layers together.
#[derive(Clone, Debug)]
pub struct GraphScores {
    /// Every layer.
    pub layers: Vec<LayerScore>,
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
        for ((score, known), found) in self.layers.iter_mut().zip(known).zip(found) {
            score.evaluation.add_partial(known, found)?;
        }
        let positions: Vec<usize> = (0..layers.len())
            .filter(|&layer| layers[layer].per == Per::Position)
            .collect();
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
                    let found = engine.max(unroller.unroll_in_place(instance)?.graph())?.labels;
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

impl GraphPipeline {
    /// Nothing counted yet.
    pub(super) fn no_scores(&self) -> GraphScores {
        let labels = (0..self.layers.len()).map(|layer| self.model.labels(layer));
        GraphScores::none(self.layers.iter().zip(labels))
    }

    /// Labels documents and compares with the labels that they have, on the threads of the current rayon pool.
    pub fn score(&self, documents: &[Document]) -> Result<GraphScores, Error> {
        let parts: Result<Vec<GraphScores>, Error> = documents
            .par_chunks(TASK)
            .map(|documents| {
                let mut annotator = self.annotator()?;
                let mut scores = self.no_scores();
                for document in documents {
                    annotator.score(document, &mut scores)?;
                }
                Ok(scores)
            })
            .collect();
        let mut all = self.no_scores();
        for part in parts? {
            all.merge(&part).map_err(wrong)?;
        }
        Ok(all)
    }
}
