//! Features that find nothing in the training data: a name is misspelt, or the data are others than they should be.

use super::lists;
use super::train::{Labelled, LayerLabels};
use crate::config::Config;
use fieldmark_text::features::FeatureConfig;
use fieldmark_text::formats::{NoticeKind, Notices};
use std::collections::BTreeSet;

/// Notices lists of types and columns that the training data do not have.
pub(super) fn tell(config: &Config, train: &[Labelled<'_>], notices: &mut Notices) {
    let kinds = kinds(config, train);
    for (index, feature) in config.features.iter().enumerate() {
        let problem = match feature {
            FeatureConfig::Column(entry) if !has_column(train, &entry.column) => {
                format!("there is no column {:?} in the training data", entry.column)
            }
            FeatureConfig::Dictionary(list) => match &list.training {
                Some(kind) if !kinds.contains(kind.as_str()) => {
                    let known: Vec<&str> = kinds.iter().copied().collect();
                    format!(
                        "there is no span of the type {kind:?} in the training data (types: {})",
                        known.join(", ")
                    )
                }
                _ => continue,
            },
            _ => continue,
        };
        let message = format!("features[{index}] says nothing: {problem}");
        notices.add(NoticeKind::Skipped, "", None, message);
    }
}

/// The types of spans, if some list asks for them.
fn kinds<'d>(config: &Config, train: &'d [Labelled<'_>]) -> BTreeSet<&'d str> {
    if lists::from_training(config).next().is_none() {
        return BTreeSet::new();
    }
    let layers = train.iter().flat_map(|labelled| &labelled.layers);
    layers
        .flat_map(LayerLabels::spans)
        .map(|(_, span)| span.kind)
        .collect()
}

fn has_column(train: &[Labelled<'_>], column: &str) -> bool {
    train.iter().any(|labelled| labelled.sentences.has_column(column))
}
