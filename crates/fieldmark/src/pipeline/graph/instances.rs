//! Documents with labels as the instances of a data set.

use super::describe::{columns, cut, describe, instance_name};
use super::gold::{alternatives, layer_labels, tell_left_out};
use super::place::Origin;
use crate::Error;
use crate::config::{Config, InstanceName, LayerConfig};
use crate::pipeline::sequences::Cutter;
use crate::pipeline::stack::Labellers;
use crate::pipeline::train::{Labelled, LayerLabels};
use fieldmark_core::Alphabet;
use fieldmark_graph::{GraphDataset, GraphDatasetBuilder, Per};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Extractor, Numbering};
use fieldmark_text::formats::Notices;

/// Documents that are cut, with their labels in all layers.
pub(super) fn cut_and_label<'d>(
    config: &Config,
    layers: &[LayerConfig],
    documents: &'d [Document],
    labellers: &mut Labellers<'_>,
    notices: &mut Notices,
) -> Result<Vec<Labelled<'d>>, Error> {
    let cutter = Cutter::new(&config.text);
    let instance = instance_name(config);
    let mut all = Vec::with_capacity(documents.len());
    let mut first = 0;
    for document in documents {
        let sentences = cut(&cutter, instance, document, labellers, notices)?;
        tell_left_out(layers, document, &sentences, notices);
        let labels = layers.iter().map(|layer| LayerLabels {
            scheme: (layer.per == Per::Position).then(|| layer.scheme.into()),
            of_spans: layer.has_spans(),
            labels: layer_labels(layer, document, &sentences, notices),
        });
        let layers = labels.collect();
        let count = sentences.len();
        all.push(Labelled {
            document,
            sentences,
            layers,
            first,
        });
        first += count;
    }
    Ok(all)
}

/// Instances on their way to a data set.
pub(super) struct Described<'l> {
    builder: GraphDatasetBuilder,
    /// How many labels of each layer a model knows; nothing if they are there to be learned from.
    model: Option<Vec<u32>>,
    /// Where each comes from.
    origins: Vec<Origin<'l>>,
}

impl<'l> Described<'l> {
    pub(super) fn new(builder: GraphDatasetBuilder, model: Option<Vec<u32>>) -> Self {
        Self {
            builder,
            model,
            origins: Vec::new(),
        }
    }

    /// Adds the instances that are wanted, by their number among all. Those of which nothing is known teach nothing.
    pub(super) fn add<N: Numbering>(
        &mut self,
        documents: &'l [Labelled<'l>],
        config: &Config,
        layers: &[LayerConfig],
        extractor: &Extractor,
        extraction: &mut Extraction<'_, N>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        let is_sentence = instance_name(config) == InstanceName::Sentence;
        for labelled in documents {
            let (document, cells) = (labelled.document, &labelled.layers);
            let (sentences, columns) = (&labelled.sentences, columns(extractor, layers));
            sentences.try_for_each(&document.text, &columns, |index, sequence| {
                let mut cells_of = cells.iter().zip(layers);
                let is_known = cells_of.any(|(cells, layer)| {
                    let mut cells = cells.labels[index].iter();
                    cells.any(|cell| !alternatives(cell, layer).is_empty())
                });
                if !wanted(labelled.first + index) || !is_known {
                    return Ok(());
                }
                self.origins.push(Origin {
                    labelled,
                    index,
                    is_sentence,
                });
                let cell = |layer: usize, position: usize| cells[layer].labels[index][position].as_str();
                let number =
                    |builder: &mut GraphDatasetBuilder, layer, name: &str| Some(builder.label(layer, name));
                let (builder, model) = (&mut self.builder, self.model.as_deref());
                describe(extraction, sequence, layers, builder, cell, number, model)
            })?;
        }
        Ok(())
    }

    pub(super) fn finish(self, names: Alphabet) -> Result<(GraphDataset, Vec<Origin<'l>>), Error> {
        Ok((self.builder.finish_numbered(names)?, self.origins))
    }
}
