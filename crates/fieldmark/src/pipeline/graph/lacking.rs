//! What training data lack: labels of a layer, or of all.

use crate::Error;
use crate::config::LayerConfig;
use crate::pipeline::train::Labelled;
use fieldmark_graph::GraphDataset;
use fieldmark_text::document::Document;
use std::collections::BTreeSet;

/// Sees whether there is something to learn about each layer. A layer of which nothing is known cannot be told apart from a
/// misspelt name, unless it is hidden or candidates say what its labels may be.
pub(super) fn check_labels(
    layers: &[LayerConfig],
    documents: &[Labelled<'_>],
    data: &GraphDataset,
) -> Result<(), Error> {
    if data.is_empty() {
        return Err(Error::Option(nothing(layers, documents)));
    }
    for (index, layer) in layers.iter().enumerate() {
        let has_labels = !data.is_hidden(index) || data.has_candidates(index);
        if !layer.is_hidden() && !has_labels {
            return Err(Error::Option(format!(
                "the training documents have no label for the layer {:?}: {}. A layer that is meant to be hidden has its labels \
                 listed in graph.layers[{index}].labels, and neither `column` nor `meta`",
                layer.name,
                why(layer, documents)
            )));
        }
    }
    Ok(())
}

/// Why there is nothing to learn from.
fn nothing(layers: &[LayerConfig], documents: &[Labelled<'_>]) -> String {
    if documents
        .iter()
        .all(|labelled| labelled.sentences.tokens.is_empty())
    {
        return "the training documents have no tokens".to_owned();
    }
    let open = layers.iter().filter(|layer| !layer.is_hidden());
    let mut reasons: Vec<String> = open.map(|layer| why(layer, documents)).collect();
    reasons.dedup();
    let lead = "the training documents have no labelled tokens";
    match reasons.is_empty() {
        true => format!(
            "{lead}: every layer is hidden, having neither `column` nor `meta`, and at least one must be known"
        ),
        false => format!("{lead}: {}", reasons.join("; ")),
    }
}

/// Why nothing is known about a layer, and what to do.
fn why(layer: &LayerConfig, documents: &[Labelled<'_>]) -> String {
    let documents = || documents.iter().map(|labelled| labelled.document);
    if let Some(column) = &layer.column {
        let given = documents().filter_map(|document| document.given.as_ref());
        let names: BTreeSet<&str> = given
            .flat_map(|given| &given.columns)
            .map(String::as_str)
            .collect();
        if names.contains(column.as_str()) {
            return format!(
                "every cell of the column {column:?} is unknown, such as `?`, `_`, or a choice with one of them"
            );
        }
        return no_column(column, &names, documents());
    }
    match &layer.meta {
        Some(key) => format!("no document says something under the key {key:?}"),
        None => "every token is open among the spans".to_owned(),
    }
}

fn no_column<'d>(
    column: &str,
    names: &BTreeSet<&str>,
    mut documents: impl Iterator<Item = &'d Document>,
) -> String {
    let names: Vec<&str> = names.iter().copied().collect();
    let known = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    let mut text = format!(
        "there is no column {column:?}, and the columns beside the word are: {known}. Name them in data.read.columns"
    );
    if documents.any(|document| !document.annotations.is_empty() || document.open.is_some()) {
        text += ", and set data.read.labels = [] if a column is to stay one: it was read as spans";
    }
    text
}
