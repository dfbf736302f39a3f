//! [`ModelCard`]: what a model is, what it was trained on and how well it does.

use super::train::{Labelled, LayerLabels};
use crate::Error;
use crate::config::Config;
use crate::training::{Progress, Stop};
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_text::features::FeatureConfig;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

/// What whoever gets a model should know about it. It is kept in the model file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCard {
    /// What the task is called.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The day of training, as `2026-01-31`.
    pub date: String,
    /// The version of fieldmark that trained it.
    pub fieldmark: String,
    /// The training data.
    pub data: Counts,
    /// Number of features that were trained.
    pub features: usize,
    /// Number of iterations.
    pub iterations: usize,
    /// The iteration whose weights the model has, when a development set chose it.
    pub best_iteration: Option<u64>,
    /// Why training ended.
    pub stop: String,
    /// Scores, by what they were measured on; on the development set after training.
    pub scores: BTreeMap<String, f64>,
}

/// How much there is of training data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Documents.
    pub documents: usize,
    /// Sequences: sentences, or texts that are not cut.
    pub sequences: usize,
    /// Tokens.
    pub tokens: usize,
    /// Spans of each type.
    pub spans: BTreeMap<String, usize>,
    /// The columns of the input that features look at, as far as documents had them; `None` if that was not noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// The same for the same data, described by the same features.
    pub fingerprint: String,
}

impl Counts {
    /// Those of labelled documents. Labels in columns are no spans, whatever they look like.
    pub(super) fn of(
        config: &Config,
        train: &[Labelled<'_>],
        sequences: usize,
        tokens: usize,
        fingerprint: u64,
    ) -> Self {
        let mut spans: BTreeMap<String, usize> = BTreeMap::new();
        let layers = train.iter().flat_map(|labelled| &labelled.layers);
        for (_, span) in layers.filter(|layer| layer.of_spans).flat_map(LayerLabels::spans) {
            *spans.entry(span.kind.to_owned()).or_default() += 1;
        }
        let columns = input_columns(config).filter(|column| {
            let mut sentences = train.iter().map(|labelled| &labelled.sentences);
            sentences.any(|sentences| sentences.has_column(column))
        });
        let columns = columns.map(str::to_owned).collect();
        Self {
            documents: train.len(),
            sequences,
            tokens,
            spans,
            columns: Some(columns),
            fingerprint: format!("{fingerprint:016x}"),
        }
    }
}

/// The columns of the input that the features of a config look at, each once.
pub(super) fn input_columns(config: &Config) -> impl Iterator<Item = &str> {
    let layers = config.graph.iter().flat_map(|graph| &graph.layers);
    let candidates = layers.filter_map(|layer| layer.candidates.as_deref());
    let columns: BTreeSet<&str> = config
        .features
        .iter()
        .filter_map(|feature| match feature {
            FeatureConfig::Column(entry) => Some(entry.column.as_str()),
            _ => None,
        })
        .chain(candidates)
        .collect();
    columns.into_iter()
}

/// The section that holds the model card.
const CARD: &str = "card";

impl ModelCard {
    pub(super) fn read(container: &Container) -> Result<Self, Error> {
        let card = serde_json::from_str(container.str(CARD)?);
        Ok(card.map_err(|error| container.wrong_section(CARD, error.to_string(), "a model card"))?)
    }

    pub(super) fn write(&self, writer: &mut ContainerWriter<'_>) {
        // Its fields are numbers and text.
        writer.add_str(CARD, serde_json::to_string(self).unwrap_or_default());
    }

    pub(super) fn new(
        config: &Config,
        data: Counts,
        features: usize,
        iterations: &[Progress],
        best_iteration: Option<u64>,
        stop: Stop,
    ) -> Self {
        let dev = iterations
            .iter()
            .filter_map(|progress| progress.dev)
            .reduce(f64::max);
        Self {
            name: config.name.clone(),
            description: config.description.clone(),
            date: today(),
            fieldmark: env!("CARGO_PKG_VERSION").to_owned(),
            data,
            features,
            iterations: iterations.len(),
            best_iteration,
            stop: stop.to_string(),
            scores: dev
                .map(|score| ("development set".to_owned(), score))
                .into_iter()
                .collect(),
        }
    }
}

/// The day in UTC. `SOURCE_DATE_EPOCH` sets it, for files that are the same to the last bit.
pub(super) fn today() -> String {
    let set = std::env::var("SOURCE_DATE_EPOCH")
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs())
    };
    date(set.unwrap_or_else(now) / 86_400)
}

/// Year, month and day of a day since 1970, after Hinnant (2013).
fn date(days: u64) -> String {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_have_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (10_957, "2000-01-01"),
            (11_016, "2000-02-29"),
            (20_773, "2026-11-16"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
