//! Scores of labels in several layers, of a graph or of a file: of every layer, of all layers together, and of spans.

use super::documents::{DocumentOptions, write};
use super::layers::{LayerTest, Layers};
use super::read;
use crate::commands::cv::results::{Measured, measured_graph};
use crate::console::Console;
use crate::failure::Failure;
use crate::inference::{tell_inference, tell_unanswered};
use fieldmark::assess::{Assessment, LabelAssessment, LabelTest, Pairing};
use fieldmark::text::document::Document;
use fieldmark::text::render::html::{Cell, Section, Table};
use fieldmark::{GraphAnnotatorOptions, GraphPipeline, GraphScores, GraphTest};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// All that `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    gold: String,
    predicted: &'a str,
    /// Every layer, and all of them together.
    measures: &'a [Measured],
    /// The spans of all layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    spans: Option<&'a Assessment>,
    /// Labels in columns, by layer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<&'a str, &'a LabelAssessment>,
}

impl DocumentOptions {
    /// Scores a model with labels in several layers.
    pub(super) fn run_graph(
        &self,
        pipeline: &GraphPipeline,
        documents: &[Document],
        gold: &Path,
        json: bool,
        console: &Console,
    ) -> Result<(), Failure> {
        let refused = match pipeline.has_spans() {
            true => &["against"][..],
            false => &["measure", "beta", "precision", "against", "order"],
        };
        if let Some(option) = self.given().find(|option| refused.contains(option)) {
            let reason = match option {
                "against" => {
                    "compares what two systems found: mark the texts with `fieldmark tag MODEL --output \
                              FOUND.jsonl`, and score that file with --against"
                }
                _ => "is for models that mark spans, but this one labels every token in its layers",
            };
            return Err(Failure::user(format_args!("--{option} {reason}")));
        }
        let choice = self.inference.choice()?.unwrap_or_else(|| pipeline.inference());
        if let Some(warning) = pipeline.warning_of(&choice) {
            console.warn(&warning);
        }
        let options = GraphAnnotatorOptions {
            engine: Some(choice),
            ..GraphAnnotatorOptions::default()
        };
        let GraphTest {
            scores,
            pairs,
            labels,
            report,
            ..
        } = pipeline.test_with(documents, &options)?;
        tell_inference(&report, console);
        tell_unanswered(&report, console);
        let known = |layer: &fieldmark::LayerScore| layer.evaluation.report().tokens > 0;
        if !scores.layers.iter().any(known) {
            return Err(Failure::user(format_args!(
                "{}: no label of any layer is known ({})",
                gold.display(),
                names(pipeline)
            )));
        }
        let pairing = Pairing {
            pairs,
            ..Pairing::default()
        };
        read::tell(&pairing, console);
        let options = self.options(&pairing.pairs);
        let spans = pipeline
            .has_spans()
            .then(|| Assessment::new(&pairing.pairs, &options));
        let spans = spans.transpose().map_err(Failure::user)?;
        let system = &pipeline.card.name;
        self.report_layers((gold, system), &scores, spans.as_ref(), &labels, json, console)
    }

    /// Scores labels in columns of two files.
    pub(super) fn run_layers(
        &self,
        layers: &Layers<'_>,
        gold: &Path,
        predicted: &Path,
        json: bool,
        console: &Console,
    ) -> Result<(), Failure> {
        self.refuse_for_layers(predicted)?;
        let LayerTest { scores, labels } = layers.test(predicted, console)?;
        let known = |layer: &fieldmark::LayerScore| layer.evaluation.report().tokens > 0;
        if !scores.layers.iter().any(known) {
            return Err(Failure::user(format_args!(
                "{}: no label is known in any column that {} has, too",
                gold.display(),
                predicted.display()
            )));
        }
        let system = predicted.display().to_string();
        self.report_layers((gold, &system), &scores, None, &labels, json, console)
    }

    fn report_layers(
        &self,
        (gold, system): (&Path, &str),
        scores: &GraphScores,
        spans: Option<&Assessment>,
        labels: &[(String, LabelTest)],
        json: bool,
        console: &Console,
    ) -> Result<(), Failure> {
        let measures = measured_graph(scores);
        let cases = self.options(&[]).cases;
        let assess = |(name, test): &(String, LabelTest)| {
            let assessment = test.assess(cases).map_err(Failure::user)?;
            Ok((name.clone(), assessment))
        };
        let labels: Vec<(String, LabelAssessment)> =
            labels.iter().map(assess).collect::<Result<_, Failure>>()?;
        if let Some(html) = &self.html {
            let lead = format!("{system} against the gold labels of {}.", gold.display());
            let mut sections = vec![section(&measures)];
            sections.extend(spans.iter().flat_map(|spans| spans.sections()));
            sections.extend(labels.iter().flat_map(|(_, labels)| labels.sections()));
            write(html, &lead, &sections, console)?;
        }
        if json {
            return console.print_json(&Answer {
                gold: gold.display().to_string(),
                predicted: system,
                measures: &measures,
                spans,
                labels: labels
                    .iter()
                    .map(|(name, labels)| (name.as_str(), labels))
                    .collect(),
            });
        }
        let mut text = table(&measures);
        if let Some(spans) = spans {
            text += &format!("\nSpans of all layers\n{spans}");
        }
        console.print(&text)
    }
}

fn names(pipeline: &GraphPipeline) -> String {
    let names: Vec<&str> = pipeline
        .layers()
        .iter()
        .map(|layer| layer.name.as_str())
        .collect();
    names.join(", ")
}

fn table(measures: &[Measured]) -> String {
    let width = measures.iter().map(|measured| measured.of.chars().count()).max();
    let width = width.unwrap_or(0).max("layer".len());
    let mut text = format!(
        "{:width$}  {:14}  {:>6}  {:>8}\n",
        "layer", "measure", "score", "tokens"
    );
    for Measured {
        of,
        measure,
        value,
        tokens,
        ..
    } in measures
    {
        let tokens = shown(*tokens);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{of:width$}  {measure:14}  {:6.2}  {tokens:>8}",
            100.0 * value
        );
    }
    text
}

/// How many tokens there are, or a dash where they are not counted.
fn shown(tokens: Option<u64>) -> String {
    tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string())
}

fn section(measures: &[Measured]) -> Section {
    let mut table = Table::new(["Layer", "Measure", "Score", "Tokens with a known label"]);
    for Measured {
        of,
        measure,
        value,
        tokens,
        ..
    } in measures
    {
        table = table.row([
            Cell::text(of.as_str()),
            Cell::text(*measure),
            Cell::share(*value),
            Cell::text(shown(*tokens)),
        ]);
    }
    Section::new("Layers").with_table(table)
}
