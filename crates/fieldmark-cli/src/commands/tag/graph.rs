//! Marking documents with a graph: labels in several layers.

mod json;
mod tables;

use super::Arguments;
use super::answer::Wanted;
use super::documents::{Header, INPUT, Inputs, each_share};
use super::tables::{SpanTable, TokenTable};
use super::trouble::{Tally, Trouble, sentence_name};
use super::write::View;
use crate::console::Console;
use crate::documents::{self, MissingColumns};
use crate::failure::Failure;
use crate::inference::tell_inference;
use fieldmark::config::LayerConfig;
use fieldmark::graph::{EngineChoice, Per};
use fieldmark::text::document::Document;
use fieldmark::text::formats::{DocumentWriter, Notices};
use fieldmark::text::offsets::{Offsets, Unit};
use fieldmark::{
    GraphAnnotator, GraphAnnotatorOptions, GraphLabel, GraphPipeline, GraphReport, ImpossibleInstance,
};
use json::JsonView;
use std::io::{self, Write};
use std::path::PathBuf;
use tables::TableView;

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
        if self.arithmetic.log_space {
            return Err(Failure::user(
                "--log-space is for chains; how a graph computes is said by graph.inference in its config",
            ));
        }
        let (wanted, view) = self.wanted.resolve(true)?;
        let choice = self.inference.choice()?.unwrap_or_else(|| pipeline.inference());
        refuse_numbers(wanted, pipeline, &choice)?;
        self.threads.start()?;
        if let Some(warning) = pipeline.warning_of(&choice) {
            console.warn(&warning);
        }
        let options = GraphAnnotatorOptions {
            engine: Some(choice),
            fix_labels: self.limits.fixes_labels(),
            marginals: wanted.marginals,
            max_marginals: wanted.max_marginals,
            pair_marginals: wanted.pair_marginals,
            log_probabilities: wanted.log_probabilities,
            best: wanted.best,
            ..GraphAnnotatorOptions::default()
        };
        // Finds out now what is wrong with options.
        pipeline.annotator_with(options.clone())?;
        let mut report = GraphReport::default();
        let mut notices = Notices::new();
        let is_about_tokens = self.wanted.about_tokens();
        match is_about_tokens {
            Some(option) => {
                let asked = (option, wanted, view);
                self.print_graph_answers(
                    pipeline,
                    files,
                    asked,
                    &options,
                    &mut report,
                    &mut notices,
                    console,
                )?;
            }
            None => {
                self.write_graph_documents(pipeline, files, &options, &mut report, &mut notices, console)?;
            }
        }
        notices.extend(std::mem::take(&mut report.notices));
        documents::tell(&notices, console);
        tell_inference(&report, console);
        let mut tally = Tally::new(console);
        tally.known = report.known;
        for instance in &report.impossible {
            tally.add(Trouble::of_instance(instance));
        }
        tally.finish(options.fix_labels, INPUT)?;
        match &report.unsure[..] {
            [first, others @ ..] if is_about_tokens.is_some() => Err(incomplete(first, others.len())),
            _ => Ok(()),
        }
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
        let mut output = self.graph_output(layers, &header, &files)?;
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
            let labels = each_share(group, &mut annotators, annotator, |annotator, document| {
                annotator.annotate_with_labels(document)
            })?;
            for own in annotators.iter_mut().flatten() {
                report.extend(own.take_report());
            }
            for (document, labels) in group.iter_mut().zip(&labels) {
                if joins {
                    join_columns(document, &columns);
                }
                output
                    .write(document, labels, notices)
                    .map_err(|error| self.unwritten(error))?;
            }
            Ok(())
        })?;
        missing.tell(console);
        output.finish().map_err(|error| self.unwritten(error))
    }

    /// Where documents go.
    fn graph_output<'a>(
        &'a self,
        layers: &'a [LayerConfig],
        header: &Header<'_>,
        files: &Inputs,
    ) -> Result<Output<'a>, Failure> {
        if !self.writes_table(files)? {
            return self.writer(header, files).map(Output::Documents);
        }
        let path = self.documents.output();
        let has_columns = |layer: &LayerConfig| layer.per == Per::Position && layer.column.is_some();
        let table = if layers.iter().any(has_columns) && !self.wanted.spans {
            let numbered = layers.iter().enumerate();
            let others = numbered.filter(|(_, layer)| layer.per == Per::Instance && layer.column.is_none());
            let others = others.map(|(number, layer)| (layer.name.clone(), number));
            TokenTable::create(path, &header.columns, others.collect())
                .map(|table| Output::Tokens(Box::new(table)))
        } else {
            let names = layers.iter().map(|layer| layer.name.as_str()).collect();
            SpanTable::create(path).map(|table| Output::Spans(Box::new(table), names))
        };
        table.map_err(|error| self.unwritten(error))
    }

    #[expect(clippy::too_many_arguments, reason = "one step of `tag_graph`")]
    fn print_graph_answers(
        &self,
        pipeline: &GraphPipeline,
        files: &[PathBuf],
        (option, wanted, view): (&str, Wanted, View),
        options: &GraphAnnotatorOptions,
        report: &mut GraphReport,
        notices: &mut Notices,
        console: &Console,
    ) -> Result<(), Failure> {
        if let Some(other) = self.documents.given().find(|name| *name != "encoding") {
            return Err(Failure::user(format_args!(
                "--{option} prints what the model thinks of every token, and --{other} is for documents: use one of them"
            )));
        }
        let mut output = console.output();
        let mut annotators: Vec<Option<GraphAnnotator<'_>>> = Vec::new();
        annotators.resize_with(rayon::current_num_threads(), || None);
        let names: Vec<Vec<&str>> = (0..pipeline.layers().len())
            .map(|layer| pipeline.model.labels(layer).iter().collect())
            .collect();
        let (layers, names) = (pipeline.layers(), &names[..]);
        let json = JsonView {
            layers,
            names,
            wanted,
        };
        let table = TableView {
            layers,
            names,
            wanted,
            view,
        };
        // A table begins when there is something to read.
        let mut header = (view != View::Json).then(|| table.header());
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
            if let Some(header) = header.take() {
                output.write_all(header.as_bytes())?;
            }
            for (document, answers) in group.iter().zip(&answers) {
                let offsets = Offsets::new(&document.text, Unit::Characters);
                for answer in answers {
                    if view == View::Json {
                        serde_json::to_writer(&mut output, &json.object(document, &offsets, answer))?;
                        writeln!(output)?;
                    } else {
                        table.write(document, &offsets, answer, &mut output)?;
                    }
                }
            }
            Ok(())
        })?;
        if let Some(header) = header {
            output.write_all(header.as_bytes())?;
        }
        missing.tell(console);
        Ok(output.flush()?)
    }
}

/// Refuses to print what there is not.
fn refuse_numbers(wanted: Wanted, pipeline: &GraphPipeline, choice: &EngineChoice) -> Result<(), Failure> {
    let is_bound = matches!(choice, EngineChoice::Dual(_));
    if is_bound && (wanted.label_probabilities || wanted.marginals) {
        return Err(Failure::user(
            "--probs and --marginals need an engine that knows probabilities, and dual finds labels and a bound: choose \
             another one with --inference, such as --inference loopy",
        ));
    }
    if wanted.spans && !pipeline.has_spans() {
        return Err(Failure::user(
            "--spans: no layer of this model marks spans, all of them label tokens or documents. --probs prints their labels",
        ));
    }
    Ok(())
}

/// That numbers are missing beside labels.
fn incomplete(first: &ImpossibleInstance, others: usize) -> Failure {
    let have = match others {
        0 => " has".to_owned(),
        1 => " and one other have".to_owned(),
        others => format!(" and {others} others have"),
    };
    Failure::user(format_args!(
        "{}: {}{have} labels, but not all numbers that were asked for, for the reason above. All others are complete",
        first.document,
        sentence_name(&first.text)
    ))
}

/// Where documents go.
enum Output<'a> {
    /// A table of spans, in which labels of whole instances have a line of their own; with the names of layers.
    Spans(Box<SpanTable>, Vec<&'a str>),
    /// A table of tokens, in which labels of whole instances are columns.
    Tokens(Box<TokenTable>),
    /// A format.
    Documents(Box<dyn DocumentWriter + 'a>),
}

impl Output<'_> {
    fn write(&mut self, document: &Document, labels: &[GraphLabel], notices: &mut Notices) -> io::Result<()> {
        match self {
            Output::Spans(table, layers) => {
                table.write_labels(document, layers, labels)?;
                table.write(document, notices)
            }
            Output::Tokens(table) => table.write_with_labels(document, labels),
            Output::Documents(writer) => writer.write(document, notices),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Output::Spans(table, _) => table.finish(),
            Output::Tokens(table) => table.finish(),
            Output::Documents(writer) => writer.finish(),
        }
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
