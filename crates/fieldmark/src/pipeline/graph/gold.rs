//! What the data say about the labels of each layer.

use crate::config::LayerConfig;
use crate::pipeline::gold;
use crate::pipeline::sequences::Sentences;
use fieldmark_core::Gold;
use fieldmark_graph::Per;
use fieldmark_text::document::Document;
use fieldmark_text::formats::{NoticeKind, Notices};
use std::ops::Range;

/// Stands for a label that is not known.
pub(super) const OPEN: &str = "?";

/// The labels of a layer, by instance and then by token; one for each instance in a layer per instance. What is not
/// known is [`OPEN`].
pub(super) fn layer_labels(
    layer: &LayerConfig,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Vec<Vec<String>> {
    let labels = match (layer.per, &layer.meta, layer.depth) {
        (Per::Instance, Some(key), _) => {
            let value = document.meta.get(key).map_or(OPEN, String::as_str);
            vec![vec![value.to_owned()]; sentences.len()]
        }
        (Per::Instance, None, _) => {
            let rows = gold::labels(&layer.labels(), document, sentences, notices);
            let one = |labels: Vec<String>| vec![common(layer, labels, document, notices)];
            return filled(layer, sentences, rows.into_iter().map(one).collect());
        }
        (Per::Position, _, Some(_)) => {
            let spans = layer_spans(layer, document, sentences, notices);
            gold::labels_of(layer.scheme.into(), &spans, sentences)
        }
        (Per::Position, _, None) => gold::labels(&layer.labels(), document, sentences, notices),
    };
    filled(layer, sentences, labels)
}

/// A document that says nothing about a layer leaves it open.
fn filled(layer: &LayerConfig, sentences: &Sentences<'_>, labels: Vec<Vec<String>>) -> Vec<Vec<String>> {
    if labels.len() == sentences.len() {
        return labels;
    }
    sentences
        .ranges()
        .map(|range| vec![OPEN.to_owned(); layer.variables(range.len())])
        .collect()
}

/// The only label in the rows of an instance.
fn common(layer: &LayerConfig, labels: Vec<String>, document: &Document, notices: &mut Notices) -> String {
    let mut known = labels.into_iter().filter(|label| !is_open(label));
    let Some(first) = known.next() else {
        return OPEN.to_owned();
    };
    match known.find(|label| *label != first) {
        None => first,
        Some(other) => {
            let name = &layer.name;
            let message = format!(
                "the layer {name:?} has one label per instance, and its rows say {first:?} and {other:?}: it is taken as \
                 unknown"
            );
            notices.add(NoticeKind::Skipped, &document.id, None, message);
            OPEN.to_owned()
        }
    }
}

pub(super) fn is_open(label: &str) -> bool {
    matches!(label, "" | "_" | OPEN)
}

/// The spans of a layer, in order, inside sentences and without overlaps. With a depth: long spans first, each at the
/// first depth that has room for it.
pub(super) fn layer_spans(
    layer: &LayerConfig,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Vec<(Range<usize>, String)> {
    let config = layer.labels();
    let Some(depth) = layer.depth else {
        return gold::spans(&config, document, sentences, notices);
    };
    // Every layer of the same types sees the same spans: one of them tells what is wrong with them.
    let mut silent = Notices::new();
    let told = if depth == 0 { notices } else { &mut silent };
    let mut by_depth = by_depth(gold::all_spans(&config, document, sentences, told));
    if depth < by_depth.len() {
        by_depth.swap_remove(depth)
    } else {
        Vec::new()
    }
}

/// Spans that lie over each other at different depths, each depth in the order of the text.
fn by_depth(mut spans: Vec<(Range<usize>, String)>) -> Vec<Vec<(Range<usize>, String)>> {
    spans.sort_by_key(|(range, _)| (usize::MAX - range.len(), range.start));
    let mut depths: Vec<Vec<(Range<usize>, String)>> = Vec::new();
    for (range, kind) in spans {
        let has_room = |taken: &Vec<(Range<usize>, String)>| {
            taken
                .iter()
                .all(|(other, _)| other.end <= range.start || range.end <= other.start)
        };
        match depths.iter().position(has_room) {
            Some(depth) => depths[depth].push((range, kind)),
            None => depths.push(vec![(range, kind)]),
        }
    }
    for depth in &mut depths {
        depth.sort_by_key(|(range, _)| range.start);
    }
    depths
}

/// The labels that a cell allows: none if it is open. In columns, `A|B` is one of both.
pub(super) fn alternatives<'c>(cell: &'c str, layer: &LayerConfig) -> Vec<&'c str> {
    match cell {
        cell if is_open(cell) => Vec::new(),
        cell if layer.has_spans() => vec![cell],
        cell => {
            let labels: Vec<&str> = cell.split('|').collect();
            // A choice of which one part is open is open.
            let open = labels.iter().any(|label| is_open(label));
            if open { Vec::new() } else { labels }
        }
    }
}

/// The gold set of some labels.
pub(super) fn gold(labels: &[u32]) -> Gold<'_> {
    match labels {
        [] => Gold::Unknown,
        &[label] => Gold::Known(label),
        labels => Gold::Ambiguous(labels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_over_each_other_have_different_depths() {
        let spans = [(0..2, "A"), (0..5, "B"), (1..2, "C"), (5..6, "D"), (3..5, "E")];
        let spans = spans.map(|(range, kind)| (range, kind.to_owned())).to_vec();
        let kinds: Vec<String> = by_depth(spans)
            .iter()
            .map(|depth| depth.iter().map(|(_, kind)| kind.as_str()).collect())
            .collect();
        assert_eq!(kinds, ["BD", "AE", "C"]);
    }

    #[test]
    fn cells_of_columns_may_be_open_or_a_choice() {
        let column = LayerConfig {
            column: Some("pos".into()),
            ..LayerConfig::default()
        };
        assert_eq!(alternatives("NN|VB", &column), ["NN", "VB"]);
        assert_eq!(alternatives("NN", &column), ["NN"]);
        for open in ["?", "_", "", "NN|?", "_|NN", "NN|", "|"] {
            assert!(alternatives(open, &column).is_empty());
        }
        assert_eq!(alternatives("B-A|B", &LayerConfig::default()), ["B-A|B"]);
    }
}
