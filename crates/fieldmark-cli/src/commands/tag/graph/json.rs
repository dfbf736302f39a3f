//! Answers of graphs as JSON: one object per instance.

use super::super::answer::Wanted;
use fieldmark::config::LayerConfig;
use fieldmark::graph::Per;
use fieldmark::text::document::Document;
use fieldmark::text::offsets::Offsets;
use fieldmark::{GraphAnswer, GraphPair};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// Answers as JSON.
pub struct JsonView<'a> {
    pub layers: &'a [LayerConfig],
    /// The labels of each layer.
    pub names: &'a [Vec<&'a str>],
    pub wanted: Wanted,
}

impl JsonView<'_> {
    /// What is said of an instance.
    pub fn object(&self, document: &Document, offsets: &Offsets<'_>, answer: &GraphAnswer) -> Value {
        let place = |range: &Range<usize>| {
            let count = |byte| offsets.count(byte).unwrap_or_default();
            let text = document.text.get(range.clone()).unwrap_or_default();
            json!({ "start": count(range.start), "end": count(range.end), "text": text })
        };
        let mut object = Map::new();
        object.insert("document".into(), json!(document.id));
        object.insert("tokens".into(), answer.tokens.iter().map(place).collect());
        if let Some(problem) = &answer.problem {
            object.insert("labels".into(), Value::Null);
            object.insert("error".into(), json!(problem));
            return Value::Object(object);
        }
        object.insert(
            "labels".into(),
            self.by_layer(|layer| json!(answer.labels[layer])),
        );
        if let (true, Some(probabilities)) = (self.wanted.label_probabilities, &answer.probabilities) {
            let probabilities = self.by_layer(|layer| json!(probabilities[layer]));
            object.insert("probabilities".into(), probabilities);
        }
        if let Some(marginals) = &answer.marginals {
            object.insert(
                "marginals".into(),
                self.rows(marginals, |probability| probability),
            );
        }
        if let Some(marginals) = &answer.max_marginals {
            object.insert("max_marginals".into(), self.rows(marginals, f64::exp));
        }
        if let Some(pairs) = &answer.pair_marginals {
            let pairs = pairs.iter().map(|pair| self.pair(pair));
            object.insert("pair_marginals".into(), pairs.collect());
        }
        let spans: Vec<Value> = answer
            .spans
            .iter()
            .map(|span| {
                let Range { start, end } = span.tokens;
                let bytes = answer.tokens[start].start..answer.tokens[end - 1].end;
                let text = document.text.get(bytes).unwrap_or_default();
                json!({
                    "layer": self.layers[span.layer].name, "start": start, "end": end, "type": span.kind,
                    "probability": span.probability, "text": text,
                })
            })
            .collect();
        if self.layers.iter().any(LayerConfig::has_spans) {
            object.insert("spans".into(), Value::Array(spans));
        }
        object.insert("log_probability".into(), json!(answer.log_probability));
        if self.wanted.log_probabilities {
            object.insert("log_z".into(), json!(answer.log_z));
        }
        // Absent without gold labels, null if they are ruled out.
        if let Some(gold) = answer.gold_log_probability {
            let gold = gold.is_finite().then_some(gold);
            object.insert("gold_log_probability".into(), json!(gold));
        }
        if let Some(found) = &answer.decoding {
            object.insert("converged".into(), json!(found.converged));
            object.insert("proved".into(), json!(found.proved));
            object.insert("score".into(), json!(found.score));
            object.insert("bound".into(), json!(found.bound));
            object.insert("iterations".into(), json!(found.iterations));
            object.insert("residual".into(), json!(found.residual));
        }
        let settled = answer.probabilities_converged;
        object.insert("probabilities_converged".into(), json!(settled));
        if !answer.best.is_empty() {
            let best = answer.best.iter().map(|(labels, log_probability)| {
                let labels = self.by_layer(|layer| json!(labels[layer]));
                json!({ "probability": log_probability.exp(), "labels": labels })
            });
            object.insert("nbest".into(), best.collect());
        }
        if let Some(problem) = &answer.unsure {
            object.insert("missing".into(), json!(problem));
        }
        Value::Object(object)
    }

    /// For each variable of each layer, a number for each label.
    fn rows(&self, numbers: &[Vec<Vec<f64>>], shown: impl Fn(f64) -> f64) -> Value {
        let row = |layer: usize, row: &Vec<f64>| self.row(layer, row.iter().map(|&number| shown(number)));
        self.by_layer(|layer| numbers[layer].iter().map(|one| row(layer, one)).collect())
    }

    fn row(&self, layer: usize, numbers: impl Iterator<Item = f64>) -> Value {
        let cells = self.names[layer].iter().zip(numbers);
        let cells: Map<String, Value> = cells
            .map(|(name, number)| ((*name).to_owned(), json!(number)))
            .collect();
        Value::Object(cells)
    }

    fn pair(&self, pair: &GraphPair) -> Value {
        let [first, second] = pair.places;
        let position =
            |(layer, position): (usize, usize)| (self.layers[layer].per == Per::Position).then_some(position);
        let rows = self.names[first.0].iter().zip(&pair.probabilities);
        let rows: Map<String, Value> = rows
            .map(|(name, row)| ((*name).to_owned(), self.row(second.0, row.iter().copied())))
            .collect();
        json!({
            "layers": [self.layers[first.0].name, self.layers[second.0].name],
            "positions": [position(first), position(second)],
            "probabilities": rows,
        })
    }

    fn by_layer(&self, value: impl Fn(usize) -> Value) -> Value {
        let layers = self.layers.iter().enumerate();
        let values = layers.map(|(number, layer)| (layer.name.clone(), value(number)));
        Value::Object(values.collect())
    }
}
