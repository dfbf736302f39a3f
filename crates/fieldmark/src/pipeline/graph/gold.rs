//! What the data say about the labels of each layer.

use crate::config::LayerConfig;
use crate::pipeline::gold;
use crate::pipeline::known::Known;
use crate::pipeline::sequences::Sentences;
use fieldmark_core::{Alphabet, Gold};
use fieldmark_graph::Per;
use fieldmark_text::document::Document;
use fieldmark_text::formats::{NoticeKind, Notices};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(super) use crate::pipeline::gold::OPEN;

/// The labels of a layer, by instance and then by token; one for each instance in a layer per instance. What is not
/// known is [`OPEN`]; of spans, labels of which one is right are joined by [`gold::CHOICE`].
pub(super) fn layer_labels(
    layer: &LayerConfig,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Vec<Vec<String>> {
    if layer.is_hidden() {
        return filled(layer, sentences, Vec::new());
    }
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
            let mut labels = gold::labels_of(layer.scheme.into(), &spans, sentences);
            gold::open(&layer.labels(), document, sentences, &mut labels);
            labels
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
) -> Spans {
    let config = layer.labels();
    let Some(depth) = layer.depth else {
        return gold::spans(&config, document, sentences, notices);
    };
    // Every layer of the same types sees the same spans: one of them tells what is wrong with them.
    let mut silent = Notices::new();
    let told = if depth == 0 { notices } else { &mut silent };
    let spans = gold::all_spans(&config, document, sentences, told);
    by_depth(spans, depth + 1).0.pop().unwrap_or_default()
}

/// Notices the spans that lie at a depth for which there is no layer.
pub(super) fn tell_left_out(
    layers: &[LayerConfig],
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) {
    for (index, layer) in layers.iter().enumerate() {
        let same = |other: &&LayerConfig| {
            other.depth.is_some() && other.types == layer.types && other.rename == layer.rename
        };
        // The first layer of some types speaks for all of them.
        if layer.depth.is_none() || layers[..index].iter().any(|other| same(&other)) {
            continue;
        }
        let depths: Vec<usize> = layers
            .iter()
            .filter(same)
            .filter_map(|layer| layer.depth)
            .collect();
        let deepest = depths.iter().copied().max().unwrap_or(0);
        let spans = gold::all_spans(&layer.labels(), document, sentences, &mut Notices::new());
        let (by_depth, deeper) = by_depth(spans, deepest + 1);
        let between = by_depth
            .into_iter()
            .enumerate()
            .filter(|(depth, _)| !depths.contains(depth));
        for (range, kind) in between.flat_map(|(_, spans)| spans).chain(deeper) {
            let tokens = &sentences.tokens[range];
            let bytes = tokens[0].start..tokens[tokens.len() - 1].end;
            let text = document.text.get(bytes).unwrap_or_default();
            let message =
                format!("{kind} {text:?} lies at a depth for which there is no layer, and is left out");
            notices.add(NoticeKind::Nested, &document.id, None, message);
        }
    }
}

/// Spans in tokens, with their types.
type Spans = Vec<(Range<usize>, String)>;

/// Spans that lie over each other at so many different depths, each depth in the order of the text, and those for which
/// these have no room. Long ones come first, each at the first depth that has room for it.
fn by_depth(mut spans: Spans, depths: usize) -> (Vec<Spans>, Spans) {
    spans.sort_by_key(|(range, _)| (usize::MAX - range.len(), range.start));
    // By their starts; of spans that do not overlap, the last one that begins before an end also ends last.
    let mut taken: Vec<BTreeMap<usize, (usize, String)>> = vec![BTreeMap::new(); depths];
    let mut left = Vec::new();
    for (range, kind) in spans {
        let has_room = |taken: &&mut BTreeMap<usize, (usize, String)>| {
            let before = taken.range(..range.end).next_back();
            before.is_none_or(|(_, (end, _))| *end <= range.start)
        };
        match taken.iter_mut().find(has_room) {
            Some(depth) => drop(depth.insert(range.start, (range.end, kind))),
            None => left.push((range, kind)),
        }
    }
    let in_order = |taken: BTreeMap<usize, (usize, String)>| {
        let spans = taken.into_iter();
        spans.map(|(start, (end, kind))| (start..end, kind)).collect()
    };
    (taken.into_iter().map(in_order).collect(), left)
}

/// The labels that a cell allows: none if it is open. In columns, `A|B` is one of both; a type of spans may hold a bar.
pub(super) fn alternatives<'c>(cell: &'c str, layer: &LayerConfig) -> Vec<&'c str> {
    match cell {
        cell if is_open(cell) => Vec::new(),
        cell if layer.has_spans() => gold::alternatives(cell).collect(),
        cell => choice(cell),
    }
}

/// The labels between the bars of a cell; none if one of them is open.
pub(super) fn choice(cell: &str) -> Vec<&str> {
    let labels: Vec<&str> = cell.split('|').collect();
    let open = labels.iter().any(|label| is_open(label));
    if open { Vec::new() } else { labels }
}

/// What the cells of a layer that is not made from spans allow. What leaves a cell open although it says something is told.
pub(super) fn known_labels(
    layer: &LayerConfig,
    names: &Alphabet,
    cells: &[Vec<String>],
    document: &Document,
    notices: &mut Notices,
) -> Known {
    let (mut lacking, mut half_open) = (BTreeSet::new(), BTreeSet::new());
    let set = |cell| {
        let labels = alternatives(cell, layer);
        if labels.is_empty() && !is_open(cell) {
            half_open.insert(cell);
        }
        lacking.extend(labels.iter().copied().filter(|label| names.get(label).is_none()));
        let set: Option<Vec<u32>> = labels.into_iter().map(|label| names.get(label)).collect();
        set.filter(|set| !set.is_empty())
    };
    let known = cells.iter().flatten().map(String::as_str).map(set).collect();
    let name = &layer.name;
    let lacking = lacking.into_iter().map(|label| {
        format!("the label {label:?} of the layer {name:?} is not taken as known: the model does not have it")
    });
    let half_open = half_open.into_iter().map(|cell| {
        format!(
            "{cell:?} in the layer {name:?} is not taken as known: a choice of which one part is open is open"
        )
    });
    for message in lacking.chain(half_open) {
        notices.add(NoticeKind::Skipped, &document.id, None, message);
    }
    known
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
        let kinds = |spans: &Spans| -> String { spans.iter().map(|(_, kind)| kind.as_str()).collect() };
        let (depths, left) = by_depth(spans.clone(), 3);
        assert_eq!(depths.iter().map(kinds).collect::<Vec<_>>(), ["BD", "AE", "C"]);
        assert!(left.is_empty());
        let (depths, left) = by_depth(spans, 1);
        assert_eq!(depths.iter().map(kinds).collect::<Vec<_>>(), ["BD"]);
        assert_eq!(kinds(&left), "AEC");
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
