//! Scores of all parts: their means, and how far to trust them.

use super::compare::Difference;
use crate::failure::Failure;
use fieldmark::core::name_hash;
use fieldmark::eval::{Counts, Summary};
use fieldmark::text::document::Document;
use fieldmark::{GraphScores, Scores};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt::{self, Write};

/// What came out for a share of the documents.
#[derive(Serialize)]
pub struct ShareResult {
    /// Share of the documents that models were trained on.
    pub share: f64,
    /// Their mean number.
    pub documents: f64,
    /// Number of parts.
    pub splits: usize,
    /// How they were made.
    pub design: Design,
    pub measures: Vec<Row>,
    /// To another cross-validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// How the parts were made: equal designs have the same parts of the same texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    name: String,
    seed: u64,
    documents: usize,
    /// A hash of all texts in their order.
    texts: String,
}

impl Design {
    pub fn new(name: String, seed: u64, documents: &[Document]) -> Self {
        let texts = documents.iter().map(|document| name_hash::base(&document.text));
        Self {
            name,
            seed,
            documents: documents.len(),
            texts: format!("{:016x}", name_hash::joined(texts)),
        }
    }

    /// What two designs do not have in common, in words; `None` if they are equal.
    pub fn difference(&self, other: &Design) -> Option<String> {
        if self == other {
            return None;
        }
        let same_parts = Design {
            texts: other.texts.clone(),
            ..self.clone()
        };
        Some(match same_parts == *other {
            true => "the texts are others here than there".to_owned(),
            false => format!("here they were made by {self}, and there by {other}"),
        })
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Design {
            name,
            seed,
            documents,
            ..
        } = self;
        write!(f, "{name} of {documents} documents with seed {seed}")
    }
}

/// A measure over all parts, with its 95 % interval.
#[derive(Serialize)]
pub struct Row {
    pub of: String,
    pub measure: &'static str,
    pub mean: f64,
    /// `None` for one part.
    pub deviation: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The score of each part; of a type, of those that have it.
    pub values: Vec<f64>,
    /// How much there was to find in all parts.
    #[serde(skip)]
    pub gold: u64,
}

/// The share of tokens that are right in all layers.
pub const JOINT: &str = "joint accuracy";

/// What was measured on one part.
#[derive(Clone, Serialize)]
pub struct Measured {
    /// A type, a layer, or `all`.
    pub of: String,
    pub measure: &'static str,
    pub value: f64,
    /// How many tokens it was counted over, if it was counted over tokens: those whose labels are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How much there was to find, if that was counted.
    #[serde(skip)]
    gold: u64,
}

impl Measured {
    fn new(of: &str, measure: &'static str, value: f64) -> Self {
        Self {
            of: of.to_owned(),
            measure,
            value,
            tokens: None,
            gold: 0,
        }
    }

    fn over(self, tokens: u64) -> Self {
        Self {
            tokens: Some(tokens),
            ..self
        }
    }

    fn with_gold(self, gold: u64) -> Self {
        Self { gold, ..self }
    }

    fn spans(of: &str, counts: &Counts) -> [Self; 3] {
        [
            Self::new(of, "precision", counts.precision()),
            Self::new(of, "recall", counts.recall()),
            Self::new(of, "F1", counts.f1()).with_gold(counts.gold),
        ]
    }
}

/// The measures of a chain, which gives labels to tokens or marks spans.
pub fn measured(scores: &Scores, labels: bool) -> Vec<Measured> {
    if labels {
        return vec![Measured::new("all", "accuracy", scores.accuracy())];
    }
    let mut all = Measured::spans("all", &scores.spans.total()).to_vec();
    let kinds = scores.spans.types();
    all.extend(
        kinds.map(|(kind, counts)| Measured::new(kind, "F1", counts.f_beta(1.0)).with_gold(counts.gold)),
    );
    all
}

/// The measures of a graph: of every layer, and of all together.
pub fn measured_graph(scores: &GraphScores) -> Vec<Measured> {
    let joint = || Measured::new("all", JOINT, scores.joint_accuracy()).over(scores.tokens);
    // Layers of whole documents have no tokens.
    let mut all: Vec<Measured> = (scores.tokens > 0).then(joint).into_iter().collect();
    if let Some(spans) = &scores.spans {
        all.extend(Measured::spans("all", &spans.total()));
    }
    for layer in &scores.layers {
        let report = layer.evaluation.report();
        if layer.has_spans {
            let spans = Measured::spans(&layer.name, &layer.spans());
            all.extend(spans.map(|measured| measured.over(report.tokens)));
            let types = report.spans.types.iter();
            all.extend(types.map(|row| {
                let name = format!("{}: {}", layer.name, row.name);
                Measured::new(&name, "F1", row.score.f1).with_gold(row.counts.gold)
            }));
        } else {
            all.push(Measured::new(&layer.name, "accuracy", report.accuracy).over(report.tokens));
        }
    }
    all
}

/// The measures over all parts, in the order in which they first came; of a type, over the parts that have it.
pub fn rows(parts: &[Vec<Measured>], bootstrap: bool) -> Result<Vec<Row>, Failure> {
    let mut columns: Vec<(&str, &'static str, Vec<f64>)> = Vec::new();
    let mut gold: HashMap<(&str, &str), u64> = HashMap::new();
    for measured in parts.iter().flatten() {
        let key = (measured.of.as_str(), measured.measure);
        *gold.entry(key).or_default() += measured.gold;
        match columns.iter_mut().find(|(of, measure, _)| (*of, *measure) == key) {
            Some((_, _, values)) => values.push(measured.value),
            None => columns.push((key.0, key.1, vec![measured.value])),
        }
    }
    let kinds = columns.iter().filter(|(of, ..)| *of != "all").count();
    // The only type is no more than all of them.
    columns.retain(|(of, measure, _)| *of == "all" || kinds > 1 || *measure != "F1");
    columns
        .into_iter()
        .map(|(of, measure, values)| {
            let summary = Summary::new(&values).map_err(Failure::user)?;
            let interval = if bootstrap {
                summary.percentile_interval(0.95)
            } else {
                summary.t_interval(0.95)
            };
            Ok(Row {
                of: of.to_owned(),
                measure,
                mean: summary.mean(),
                deviation: (values.len() > 1).then(|| summary.deviation()),
                // A t interval does not know that shares end at 0 and 1.
                low: interval.map(|interval| interval.low.max(0.0)),
                high: interval.map(|interval| interval.high.min(1.0)),
                values,
                gold: gold[&(of, measure)],
            })
        })
        .collect()
}

/// A share in percent, or a dash where there is none.
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.2}", 100.0 * share))
}

/// The results as text.
pub fn table(results: &[ShareResult]) -> String {
    let mut text = String::new();
    let rows = || results.iter().flat_map(|result| &result.measures);
    let width = rows().map(|row| row.of.len()).max().unwrap_or(0).max(4);
    let wide = rows().map(|row| row.measure.len()).max().unwrap_or(0).max(9);
    for result in results {
        // Writing to a string cannot fail.
        if results.len() > 1 {
            let _ = writeln!(text, "{:.0} % of the documents", 100.0 * result.share);
        }
        let _ = writeln!(
            text,
            "{:width$}  {:wide$}  {:>6}  {:>9}  95 % interval, {} part{}",
            "type",
            "measure",
            "mean",
            "deviation",
            result.splits,
            if result.splits == 1 { "" } else { "s" }
        );
        for row in &result.measures {
            let interval = match (row.low, row.high) {
                (Some(low), Some(high)) => format!("{:.2} to {:.2}", 100.0 * low, 100.0 * high),
                _ => "–".to_owned(),
            };
            let _ = writeln!(
                text,
                "{:width$}  {:wide$}  {:6.2}  {:>9}  {interval}",
                row.of,
                row.measure,
                100.0 * row.mean,
                percent(row.deviation)
            );
        }
    }
    for difference in results.iter().filter_map(|result| result.difference.as_ref()) {
        text += &difference.text();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_of_other_texts_are_others() {
        let design = |seed, texts: &[&str]| {
            let documents: Vec<Document> = texts.iter().map(|text| Document::new("1", *text)).collect();
            Design::new("2-fold cross-validation".to_owned(), seed, &documents)
        };
        let one = design(0, &["Ada", "Bob"]);
        assert_eq!(one.difference(&design(0, &["Ada", "Bob"])), None);
        for others in [["Ada", "Eve"], ["Bob", "Ada"]] {
            let told = one.difference(&design(0, &others)).unwrap();
            assert_eq!(told, "the texts are others here than there");
        }
        let told = one.difference(&design(1, &["Ada", "Bob"])).unwrap();
        assert!(told.contains("seed 0") && told.contains("seed 1"), "{told}");
    }
}
