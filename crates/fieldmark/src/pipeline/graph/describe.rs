//! From documents to graph data.

use super::gold;
use crate::Error;
use crate::config::{Config, InstanceName, LayerConfig};
use crate::pipeline::sequences::{Cutter, Sentences};
use crate::pipeline::stack::Labellers;
use fieldmark_core::Alphabet;
use fieldmark_graph::{Description, GraphDatasetBuilder, Per, Relation};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Extractor, Growing, Numbering, Sequence};
use fieldmark_text::formats::Notices;
use std::collections::BTreeSet;

/// Cuts a document into instances.
pub(super) fn cut<'d>(
    cutter: &Cutter,
    instance: InstanceName,
    document: &'d Document,
    labellers: &mut Labellers<'_>,
    notices: &mut Notices,
) -> Result<Sentences<'d>, Error> {
    let mut sentences = Sentences::default();
    cutter.cut(document, &mut sentences, notices);
    labellers.add_columns(&document.text, &mut sentences)?;
    if instance == InstanceName::Document {
        sentences.join();
    }
    Ok(sentences)
}

/// What one graph of a config is made of.
pub(super) fn instance_name(config: &Config) -> InstanceName {
    config
        .graph
        .as_ref()
        .map(|graph| graph.instance)
        .unwrap_or_default()
}

/// The columns that an instance is described from: those of features, then those of candidates.
pub(super) fn columns(extractor: &Extractor, layers: &[LayerConfig]) -> Vec<String> {
    let candidates = layers.iter().filter_map(|layer| layer.candidates.clone());
    extractor.columns().iter().cloned().chain(candidates).collect()
}

/// Adds an instance to a data set; its columns are those of [`columns`]. `labels` gives the cell of a layer at a position, and
/// `number` the number of a label, if it has one. `model` is how many labels of each layer a model knows: others are no
/// candidates. Without it, the instance is there to be learned from, and its own labels are candidates.
pub(super) fn describe<'c, N: Numbering>(
    extraction: &mut Extraction<'_, N>,
    sequence: &Sequence<'_>,
    layers: &[LayerConfig],
    builder: &mut GraphDatasetBuilder,
    labels: impl Fn(usize, usize) -> &'c str,
    mut number: impl FnMut(&mut GraphDatasetBuilder, usize, &str) -> Option<u32>,
    model: Option<&[u32]>,
) -> Result<(), Error> {
    let mut numbers =
        |builder: &mut GraphDatasetBuilder, layer: usize, names: Vec<&str>| -> Vec<Option<u32>> {
            let names = names.into_iter();
            names.map(|name| number(builder, layer, name)).collect()
        };
    let gold_of = |layer: usize, position: usize| gold::alternatives(labels(layer, position), &layers[layer]);
    let of = |per: Per| (0..layers.len()).filter(move |&layer| layers[layer].per == per);
    // A choice between labels of which one has no number is open.
    let known = |numbers: Vec<Option<u32>>| {
        numbers
            .into_iter()
            .collect::<Option<Vec<u32>>>()
            .unwrap_or_default()
    };
    let limited = (0..layers.len()).filter(|&layer| layers[layer].candidates.is_some());
    let features = sequence.columns.len() - limited.clone().count();
    // Labels of whole instances see everything that is observed at any position, once.
    let mut bag = of(Per::Instance).next().map(|_| BTreeSet::new());
    let description = extraction.describe(sequence);
    for position in 0..description.len() {
        let mut observe = |id, value| {
            builder.observe_numbered(id, value);
            bag.iter_mut().for_each(|bag| {
                bag.insert(id);
            });
        };
        for ids in description.pieces_at(position) {
            ids.iter().for_each(|&id| observe(id, 1.0));
        }
        for other in description.others_at(position) {
            observe(other.id, other.value);
        }
        for (layer, column) in limited.clone().zip(&sequence.columns[features..]) {
            let cell = column.get(position).map_or(gold::OPEN, |cell| cell);
            let named = numbers(builder, layer, gold::choice(cell)).into_iter().flatten();
            let mut set: Vec<u32> = match model {
                Some(labels) => named.filter(|&label| label < labels[layer]).collect(),
                None => named.collect(),
            };
            if set.is_empty() {
                continue;
            }
            if model.is_none() {
                set.extend(known(numbers(builder, layer, gold_of(layer, position))));
            }
            builder.candidates(layer, &set)?;
        }
        let sets: Vec<Vec<u32>> = of(Per::Position)
            .map(|layer| known(numbers(builder, layer, gold_of(layer, position))))
            .collect();
        let golds: Vec<_> = sets.iter().map(|set| gold::gold(set)).collect();
        builder.end_position(&golds)?;
    }
    for id in bag.into_iter().flatten() {
        builder.observe_instance_numbered(id, 1.0);
    }
    let sets: Vec<Vec<u32>> = of(Per::Instance)
        .map(|layer| known(numbers(builder, layer, gold_of(layer, 0))))
        .collect();
    let golds: Vec<_> = sets.iter().map(|set| gold::gold(set)).collect();
    Ok(builder.end_instance(&golds)?)
}

/// Numbers of observations, for texts that a model has not seen.
#[derive(Debug)]
pub(super) struct Numbers {
    pub growing: Growing,
    /// Whether observations that are new get a number: for templates that ask whether observations are equal.
    grows: bool,
}

impl Numbers {
    /// Those of a model, or of training data.
    pub fn new(names: Alphabet, description: &Description) -> Self {
        let mut templates = description.templates.iter();
        Self {
            growing: Growing::with_names(names),
            grows: templates
                .any(|template| matches!(template.relation, Relation::Skip(_) | Relation::Custom { .. })),
        }
    }
}

impl Numbering for Numbers {
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32> {
        if self.grows {
            self.growing.number(hash, name)
        } else {
            self.growing.get(hash)
        }
    }
}
