//! Why tokens got their labels.

use super::answer::{Places, UnitName};
use super::workers::{Bench, Explainer};
use fieldmark::chain::explain::{Contribution, Decision, Evidence};
use fieldmark::graph::Per;
use fieldmark::text::document::Document;
use fieldmark::{Error, GraphAnnotator, GraphAnswer, GraphPipeline};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Why a token got its label.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenDecision {
    /// Where the token begins.
    pub start: usize,
    /// One past its end.
    pub end: usize,
    /// What it covers.
    pub token: String,
    /// The layer of the label, in models with several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The label.
    pub label: String,
    /// The probability of the label here.
    pub probability: Option<f64>,
    /// The most probable other label.
    pub runner_up: Option<OtherLabel>,
    /// The sum of all differences; null where there are no reasons to sum up.
    pub margin: Option<f64>,
    /// What speaks most for the label or, if negative, for the runner-up; strongest first.
    pub reasons: Vec<Reason>,
    /// How many weaker reasons there are.
    pub others: usize,
    /// The sum of their differences.
    pub others_difference: f64,
}

/// A label that was not chosen.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OtherLabel {
    /// The label.
    pub label: String,
    /// Its probability.
    pub probability: f64,
}

/// What speaks for or against a label.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reason {
    /// `observation`, `step`, `transition` or `bias`.
    pub kind: &'static str,
    /// The feature in words.
    pub feature: String,
    /// What it adds to the score with the label.
    pub chosen: f64,
    /// What it would add with the runner-up.
    pub runner_up: f64,
    /// The difference of both.
    pub difference: f64,
}

/// What the answer to one question is.
pub(super) struct Explanation {
    pub decisions: Vec<TokenDecision>,
    pub note: Option<&'static str>,
}

const GRAPH_NOTE: &str = "This model is a graph, whose labels depend on each other in more ways than one: there are \
                          probabilities of labels, and no single reasons.";

/// Explains the tokens that touch a range of bytes.
pub(super) fn explain(
    bench: &mut Bench<'_>,
    model: usize,
    text: String,
    bytes: Range<usize>,
    unit: UnitName,
    top: usize,
) -> Result<Explanation, Error> {
    let document = Document::new("", text);
    let places = Places::new(&document.text, unit);
    let touches = |token: &Range<usize>| token.start < bytes.end && token.end > bytes.start;
    match bench.explainer(model)? {
        Explainer::Chain(annotator) => {
            let tokens = annotator.describe(&document)?.tokens;
            let decisions = annotator.explain(&document, top)?;
            annotator.take_report();
            let decisions = decisions.into_iter().flat_map(|sentence| sentence.decisions);
            let touched = tokens
                .into_iter()
                .zip(decisions)
                .filter(|(token, _)| touches(token));
            Ok(Explanation {
                decisions: touched
                    .map(|(token, decision)| of_chain(token, decision, &places))
                    .collect(),
                note: None,
            })
        }
        Explainer::Graph(pipeline, annotator) => of_graph(pipeline, annotator, &document, &places, touches),
    }
}

fn of_chain(token: Range<usize>, decision: Decision, places: &Places<'_>) -> TokenDecision {
    let (start, end) = places.of(token.clone());
    TokenDecision {
        start,
        end,
        token: places.text(token),
        layer: None,
        label: decision.label,
        probability: Some(decision.probability),
        runner_up: decision.runner_up.map(|other| OtherLabel {
            label: other.label,
            probability: other.probability,
        }),
        margin: Some(decision.margin),
        reasons: decision.contributions.into_iter().map(reason).collect(),
        others: decision.others.count,
        others_difference: decision.others.difference,
    }
}

fn reason(contribution: Contribution) -> Reason {
    let valued = |name: String, value: f32| match value {
        1.0 => name,
        value => format!("{name} ({value})"),
    };
    let (kind, feature) = match contribution.evidence {
        Evidence::Observation { name, value } => ("observation", valued(name, value)),
        Evidence::Step {
            name, value, labels, ..
        } => (
            "step",
            format!("{} between {}", valued(name, value), labels.join(" and ")),
        ),
        Evidence::Transition { labels, .. } => ("transition", labels.join(" → ")),
        Evidence::Bias => ("bias", "how frequent the label is".to_owned()),
    };
    Reason {
        kind,
        feature,
        chosen: contribution.chosen,
        runner_up: contribution.runner_up,
        difference: contribution.difference,
    }
}

fn of_graph(
    pipeline: &GraphPipeline,
    annotator: &mut GraphAnnotator<'_>,
    document: &Document,
    places: &Places<'_>,
    touches: impl Fn(&Range<usize>) -> bool,
) -> Result<Explanation, Error> {
    let answers = annotator.answers(document)?;
    annotator.take_report();
    let mut decisions = Vec::new();
    for answer in &answers {
        for (position, token) in answer
            .tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| touches(token))
        {
            for (number, layer) in pipeline.layers().iter().enumerate() {
                if layer.per == Per::Position {
                    decisions.push(of_variable(pipeline, answer, number, position, token, places));
                }
            }
        }
    }
    Ok(Explanation {
        decisions,
        note: Some(GRAPH_NOTE),
    })
}

fn of_variable(
    pipeline: &GraphPipeline,
    answer: &GraphAnswer,
    layer: usize,
    position: usize,
    token: &Range<usize>,
    places: &Places<'_>,
) -> TokenDecision {
    let (start, end) = places.of(token.clone());
    let label = answer.labels[layer][position].clone();
    let names = pipeline.model.labels(layer);
    let row = answer
        .marginals
        .as_ref()
        .map(|marginals| &marginals[layer][position]);
    let others = row
        .into_iter()
        .flat_map(|row| names.iter().zip(row.iter().copied()));
    let runner_up = others
        .filter(|(name, _)| *name != label)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(name, probability)| OtherLabel {
            label: name.to_owned(),
            probability,
        });
    TokenDecision {
        start,
        end,
        token: places.text(token.clone()),
        layer: Some(pipeline.layers()[layer].name.clone()),
        label,
        probability: answer
            .probabilities
            .as_ref()
            .map(|probabilities| probabilities[layer][position]),
        runner_up,
        margin: None,
        reasons: Vec::new(),
        others: 0,
        others_difference: 0.0,
    }
}
