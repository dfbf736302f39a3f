//! Features and types that find nothing in the training data: a name is misspelt, or the data are others than they should
//! be.

use super::learnable::{kinds_of, suggestion};
use super::lists;
use super::train::{Labelled, LayerLabels};
use crate::config::Config;
use fieldmark_text::document::Document;
use fieldmark_text::features::FeatureConfig;
use fieldmark_text::formats::{NoticeKind, Notices};
use std::collections::BTreeSet;

/// Notices types and columns that the training data do not have.
pub(super) fn tell(config: &Config, documents: &[Document], train: &[Labelled<'_>], notices: &mut Notices) {
    let mut kinds = kinds_of(&config.labels, documents);
    if lists::from_training(config).next().is_some() {
        // Columns, too, may hold the labels of spans.
        let layers = train.iter().flat_map(|labelled| &labelled.layers);
        let columns = layers
            .filter(|layer| !layer.of_spans)
            .flat_map(LayerLabels::spans);
        kinds.extend(columns.map(|(_, span)| span.kind.to_owned()));
    }
    let lists = config.features.iter().enumerate();
    for (index, feature) in lists {
        let problem = match feature {
            FeatureConfig::Column(entry) if !has_column(train, &entry.column) => {
                format!("there is no column {:?} in the training data", entry.column)
            }
            FeatureConfig::Dictionary(list) => match &list.training {
                Some(kind) if !kinds.contains(kind) => no_span(kind, &kinds),
                Some(kind) if config.graph.is_none() && !is_wanted(config, kind) => {
                    format!("labels.types leaves out the spans of the type {kind:?}")
                }
                _ => continue,
            },
            _ => continue,
        };
        let message = format!("features[{index}] says nothing: {problem}");
        notices.add(NoticeKind::Skipped, "", None, message);
    }
    let layers = config
        .graph
        .iter()
        .flat_map(|graph| graph.layers.iter().enumerate());
    for (index, layer) in layers {
        if let Some(column) = layer
            .candidates
            .as_ref()
            .filter(|column| !has_column(train, column))
        {
            let message = format!(
                "graph.layers[{index}].candidates rules out nothing: there is no column {column:?} in the training data"
            );
            notices.add(NoticeKind::Skipped, "", None, message);
        }
    }
    // A type of which there is no span is no error as long as there are others.
    let types = config.labels.types.iter().flatten();
    for kind in types.filter(|kind| config.graph.is_none() && !kinds.contains(*kind)) {
        let message = format!("labels.types: {}", no_span(kind, &kinds));
        notices.add(NoticeKind::Skipped, "", None, message);
    }
}

fn is_wanted(config: &Config, kind: &String) -> bool {
    let types = config.labels.types.as_ref();
    config.labels.column.is_some() || types.is_none_or(|types| types.contains(kind))
}

fn no_span(kind: &str, kinds: &BTreeSet<String>) -> String {
    let known: Vec<&str> = kinds.iter().map(String::as_str).collect();
    format!(
        "there is no span of the type {kind:?} in the training data (types: {}){}",
        known.join(", "),
        suggestion(kind, kinds)
    )
}

fn has_column(train: &[Labelled<'_>], column: &str) -> bool {
    train.iter().any(|labelled| labelled.sentences.has_column(column))
}
