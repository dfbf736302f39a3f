//! What the answers about a document make of it: annotations, columns of labels, labels of the whole.

use super::answer::{GraphAnswer, GraphLabel};
use crate::config::LayerConfig;
use fieldmark_graph::Per;
use fieldmark_text::document::Annotation;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// The spans of all layers, those in which others lie first. What several layers say is said once, as surely as the surest
/// of them does.
pub(super) fn annotations(answers: &[GraphAnswer]) -> Vec<Annotation> {
    let mut annotations: Vec<Annotation> = Vec::new();
    let mut known: HashMap<(Range<usize>, &str), usize> = HashMap::new();
    for answer in answers {
        for span in &answer.spans {
            let bytes = answer.tokens[span.tokens.start].start..answer.tokens[span.tokens.end - 1].end;
            match known.entry((bytes.clone(), &span.kind)) {
                Entry::Occupied(other) => {
                    let score = &mut annotations[*other.get()].score;
                    *score = score.iter().copied().chain(span.probability).reduce(f64::max);
                }
                Entry::Vacant(place) => {
                    place.insert(annotations.len());
                    annotations.push(Annotation {
                        score: span.probability,
                        ..Annotation::new(bytes, &span.kind)
                    });
                }
            }
        }
    }
    annotations.sort_by_key(|annotation| (annotation.range().start, usize::MAX - annotation.range().end));
    annotations
}

/// The label of every token in a layer, with its probability; the label of an instance is that of all its tokens.
pub(super) fn column_of<'a>(
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

/// The labels of whole instances, instance by instance.
pub(super) fn labels_of_instances(layers: &[LayerConfig], answers: &[GraphAnswer]) -> Vec<GraphLabel> {
    let mut labels = Vec::new();
    for answer in answers {
        let (Some(first), Some(last)) = (answer.tokens.first(), answer.tokens.last()) else {
            continue;
        };
        for (number, _) in layers
            .iter()
            .enumerate()
            .filter(|(_, layer)| layer.per == Per::Instance)
        {
            labels.push(GraphLabel {
                layer: number,
                bytes: first.start..last.end,
                label: answer.labels[number][0].clone(),
                probability: answer.probabilities.as_ref().map(|layers| layers[number][0]),
            });
        }
    }
    labels
}
