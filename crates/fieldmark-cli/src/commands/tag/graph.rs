//! Marking documents with a graph: labels in several layers.

use super::Arguments;
use super::documents::{Header, INPUT, each_share};
use super::trouble::{Tally, Trouble};
use crate::console::Console;
use crate::documents::{self, MissingColumns};
use crate::failure::Failure;
use crate::inference::tell_inference;
use fieldmark::config::LayerConfig;
use fieldmark::text::document::Document;
use fieldmark::text::formats::Notices;
use fieldmark::text::offsets::{Offsets, Unit};
use fieldmark::{GraphAnnotator, GraphAnnotatorOptions, GraphAnswer, GraphPipeline, GraphReport};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;

impl Arguments {
    /// Marks documents, or says what a graph thinks of their tokens.
    pub(super) fn tag_graph(
        &self,
        pipeline: &GraphPipeline,
        files: &[PathBuf],
        console: &Console,
    ) -> Result<(), Failure> {
        self.refuse_for_documents()?;
        if let Some(option) = self.limits.given_name().filter(|name| *name != "fix-labels") {
            return Err(Failure::user(format_args!(
                "--{option} is for chains; what a graph must not do is said in its config, as `forbid` of a template"
            )));
        }
        if let Some(option) = self.wanted.only_chains() {
            return Err(Failure::user(format_args!(
                "--{option} is for chains; for a graph, use --json with --probs, --marginals or --nbest N"
            )));
        }
        if self.arithmetic.log_space {
            return Err(Failure::user(
                "--log-space is for chains; how a graph computes is said by graph.inference in its config",
            ));
        }
        self.threads.start()?;
        let options = GraphAnnotatorOptions {
            fix_labels: self.limits.fixes_labels(),
            marginals: self.wanted.marginals,
            best: self.wanted.nbest.map(|best| best as usize),
            ..GraphAnnotatorOptions::default()
        };
        // Finds out now what is wrong with options.
        pipeline.annotator_with(options.clone())?;
        let mut report = GraphReport::default();
        let mut notices = Notices::new();
        if self.wanted.about_tokens().is_some() {
            self.print_graph_answers(pipeline, files, &options, &mut report, &mut notices, console)?;
        } else {
            self.write_graph_documents(pipeline, files, &options, &mut report, &mut notices, console)?;
        }
        notices.extend(std::mem::take(&mut report.notices));
        documents::tell(&notices, console);
        tell_inference(&report, console);
        let mut tally = Tally::new(console);
        tally.known = report.known;
        for instance in &report.impossible {
            tally.add(Trouble::of_sentence(
                &instance.document,
                &instance.text,
                instance.problem.clone(),
            ));
        }
        tally.finish(options.fix_labels, INPUT)
    }

    fn write_graph_documents(
        &self,
        pipeline: &GraphPipeline,
        files: &[PathBuf],
        options: &GraphAnnotatorOptions,
        report: &mut GraphReport,
        notices: &mut Notices,
        console: &Console,
    ) -> Result<(), Failure> {
        let layers = pipeline.layers();
        let columns: Vec<String> = layers.iter().filter_map(|layer| layer.column.clone()).collect();
        let spans = layers.iter().filter(|layer| layer.has_spans());
        let labels = columns
            .iter()
            .cloned()
            .chain(spans.clone().map(|layer| layer.name.clone()));
        let header = Header {
            config: pipeline.config(),
            title: &pipeline.card.name,
            scheme: spans
                .clone()
                .map(|layer| layer.scheme)
                .next()
                .unwrap_or_default()
                .into(),
            columns: columns.clone(),
            labels: labels.collect(),
        };
        let files = self.inputs(pipeline.config(), files)?;
        let mut output = self.writer(&header, &files)?;
        // A page has room for one label under each word.
        let joins = columns.len() > 1 && self.writes_html()?;
        let mut annotators: Vec<Option<GraphAnnotator<'_>>> = Vec::new();
        annotators.resize_with(rayon::current_num_threads(), || None);
        let mut missing = MissingColumns::default();
        self.for_each_group(pipeline.config(), &files, notices, console, |group, notices| {
            group
                .iter()
                .for_each(|document| missing.add(pipeline.missing_columns(document)));
            // Options were tried before.
            let annotator = || pipeline.annotator_with(options.clone());
            each_share(group, &mut annotators, annotator, |annotator, document| {
                annotator.annotate(document)
            })?;
            for own in annotators.iter_mut().flatten() {
                report.extend(own.take_report());
            }
            for document in &mut *group {
                if joins {
                    join_columns(document, &columns);
                }
                output
                    .write(document, notices)
                    .map_err(|error| self.unwritten(error))?;
            }
            Ok(())
        })?;
        missing.tell(console);
        output.finish().map_err(|error| self.unwritten(error))
    }

    fn print_graph_answers(
        &self,
        pipeline: &GraphPipeline,
        files: &[PathBuf],
        options: &GraphAnnotatorOptions,
        report: &mut GraphReport,
        notices: &mut Notices,
        console: &Console,
    ) -> Result<(), Failure> {
        if let Some(other) = self.documents.given().find(|name| *name != "encoding") {
            return Err(Failure::user(format_args!(
                "--json prints what the model thinks of every token, and --{other} is for documents: use one of them"
            )));
        }
        if !self.wanted.json {
            return Err(Failure::user(
                "a graph has labels in several layers: add --json to see their probabilities, marginals or several \
                 labellings",
            ));
        }
        let mut output = console.output();
        let mut annotators: Vec<Option<GraphAnnotator<'_>>> = Vec::new();
        annotators.resize_with(rayon::current_num_threads(), || None);
        let names: Vec<Vec<&str>> = (0..pipeline.layers().len())
            .map(|layer| pipeline.model.labels(layer).iter().collect())
            .collect();
        let view = JsonView {
            layers: pipeline.layers(),
            names: &names,
            probabilities: self.wanted.probs,
        };
        let files = self.inputs(pipeline.config(), files)?;
        let mut missing = MissingColumns::default();
        self.for_each_group(pipeline.config(), &files, notices, console, |group, _| {
            group
                .iter()
                .for_each(|document| missing.add(pipeline.missing_columns(document)));
            let annotator = || pipeline.annotator_with(options.clone());
            let answers = each_share(group, &mut annotators, annotator, |annotator, document| {
                annotator.answers(document)
            })?;
            for own in annotators.iter_mut().flatten() {
                report.extend(own.take_report());
            }
            for (document, answers) in group.iter().zip(&answers) {
                let offsets = Offsets::new(&document.text, Unit::Characters);
                for answer in answers {
                    serde_json::to_writer(&mut output, &view.object(document, &offsets, answer))?;
                    writeln!(output)?;
                }
            }
            Ok(())
        })?;
        missing.tell(console);
        Ok(output.flush()?)
    }
}

/// Makes one label of those that the tokens of a document have in some columns.
fn join_columns(document: &mut Document, columns: &[String]) {
    let Some(given) = &mut document.given else {
        return;
    };
    let places: Vec<usize> = columns
        .iter()
        .filter_map(|name| given.columns.iter().position(|column| column == name))
        .collect();
    let place = given.columns.len();
    for token in given.sentences.iter_mut().flatten() {
        let cell = |&place: &usize| token.columns.get(place).map_or("", String::as_str);
        let joined = places.iter().map(cell).collect::<Vec<_>>().join(" ");
        token.columns.resize(place, String::new());
        token.columns.push(joined);
    }
    let name = columns.join(" ");
    given.columns.push(name.clone());
    given.labels = Some(name);
}

/// Answers as JSON.
struct JsonView<'a> {
    layers: &'a [LayerConfig],
    /// The labels of each layer.
    names: &'a [Vec<&'a str>],
    probabilities: bool,
}

impl JsonView<'_> {
    fn object(&self, document: &Document, offsets: &Offsets<'_>, answer: &GraphAnswer) -> Value {
        let place = |range: &std::ops::Range<usize>| {
            let count = |byte| offsets.count(byte).unwrap_or_default();
            let text = document.text.get(range.clone()).unwrap_or_default();
            json!({ "start": count(range.start), "end": count(range.end), "text": text })
        };
        let mut object = Map::new();
        object.insert("document".into(), json!(document.id));
        object.insert("tokens".into(), answer.tokens.iter().map(place).collect());
        if let Some(problem) = &answer.problem {
            object.insert("problem".into(), json!(problem));
            return Value::Object(object);
        }
        object.insert(
            "labels".into(),
            self.by_layer(|layer| json!(answer.labels[layer])),
        );
        if let (true, Some(probabilities)) = (self.probabilities, &answer.probabilities) {
            let probabilities = self.by_layer(|layer| json!(probabilities[layer]));
            object.insert("probabilities".into(), probabilities);
        }
        if let Some(marginals) = &answer.marginals {
            let of = |row: &Vec<f64>, layer: usize| -> Map<String, Value> {
                let row = self.names[layer].iter().zip(row);
                row.map(|(name, probability)| ((*name).to_owned(), json!(probability)))
                    .collect()
            };
            let of_layer = |layer: usize| {
                Value::Array(marginals[layer].iter().map(|row| of(row, layer).into()).collect())
            };
            object.insert("marginals".into(), self.by_layer(of_layer));
        }
        let spans: Vec<Value> = answer
            .spans
            .iter()
            .map(|span| {
                let (first, last) = (span.tokens.start, span.tokens.end - 1);
                let bytes = answer.tokens[first].start..answer.tokens[last].end;
                let text = document.text.get(bytes).unwrap_or_default();
                json!({
                    "layer": self.layers[span.layer].name, "first": first, "last": last, "type": span.kind,
                    "probability": span.probability, "text": text,
                })
            })
            .collect();
        if self.layers.iter().any(LayerConfig::has_spans) {
            object.insert("spans".into(), Value::Array(spans));
        }
        object.insert("log_probability".into(), json!(answer.log_probability));
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
                json!({ "log_probability": log_probability, "labels": labels })
            });
            object.insert("best".into(), best.collect());
        }
        Value::Object(object)
    }

    fn by_layer(&self, value: impl Fn(usize) -> Value) -> Value {
        let layers = self.layers.iter().enumerate();
        let values = layers.map(|(number, layer)| (layer.name.clone(), value(number)));
        Value::Object(values.collect())
    }
}
