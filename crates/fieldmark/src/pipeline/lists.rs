//! Lists of names from the training data, so that no sequence is described with the names of its own fold.

use super::train::{Labelled, LayerLabels};
use crate::config::Config;
use fieldmark_text::features::{Dictionary, FeatureConfig, Resources};
use std::collections::BTreeMap;

/// The lists of names that come from the training data, with their type.
pub(super) fn from_training(config: &Config) -> impl Iterator<Item = (&Dictionary, &str)> {
    config.features.iter().filter_map(|feature| match feature {
        FeatureConfig::Dictionary(list) => Some((list, list.training.as_deref()?)),
        _ => None,
    })
}

/// Into how many folds the training data are cut; one if no list asks for more.
fn folds(config: &Config) -> usize {
    from_training(config)
        .map(|(list, _)| list.folds)
        .max()
        .unwrap_or(1)
        .max(1)
}

/// How the sequences of the training data are cut into folds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folds {
    pub count: usize,
    /// Neighbours are in the same fold: they are often about the same things.
    neighbours: usize,
}

impl Folds {
    pub fn new(config: &Config, train: &[Labelled<'_>]) -> Self {
        const MOST_NEIGHBOURS: usize = 16;
        let count = folds(config);
        let sequences: usize = train.iter().map(|labelled| labelled.sentences.len()).sum();
        Self {
            count,
            // Of few sequences, too, no fold is empty.
            neighbours: (sequences / count).clamp(1, MOST_NEIGHBOURS),
        }
    }

    /// The fold of a sequence.
    pub fn of(self, sequence: usize) -> usize {
        sequence / self.neighbours % self.count
    }
}

/// Fills the lists with the names of all sequences, or of all that are not in a fold.
pub(super) fn fill(
    config: &Config,
    train: &[Labelled<'_>],
    without: Option<(usize, Folds)>,
    resources: &mut Resources,
) {
    for (list, kind) in from_training(config) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for labelled in train {
            let starts: Vec<usize> = labelled.sentences.ranges().map(|range| range.start).collect();
            let is_left_out =
                |index: usize| without.is_some_and(|(fold, folds)| folds.of(labelled.first + index) == fold);
            let spans = labelled.layers.iter().flat_map(LayerLabels::spans);
            for (index, span) in spans.filter(|(index, span)| span.kind == kind && !is_left_out(*index)) {
                let tokens = &labelled.sentences.tokens[starts[index] + span.start..starts[index] + span.end];
                let text = &labelled.document.text[tokens[0].start..tokens[tokens.len() - 1].end];
                let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
                *counts.entry(name).or_default() += 1;
            }
        }
        let names = counts
            .into_iter()
            .filter(|(name, count)| *count >= list.min_count && name.contains(char::is_alphanumeric));
        let mut content = String::new();
        for (name, _) in names {
            // A dictionary file has comments.
            let escape = if name.starts_with('#') { "\\" } else { "" };
            content.extend([escape, &name, "\n"]);
        }
        let list = Resources::training_list(kind, list.min_count);
        resources.insert(list, content.into_bytes());
    }
}
