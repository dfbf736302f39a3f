//! What a graph knows, and what it joins.

use super::super::tag::prose::Prose;
use super::super::tag::trouble::{Tally, Trouble};
use super::{Arguments, shown_card};
use crate::console::Console;
use crate::documents::MissingColumns;
use crate::failure::Failure;
use crate::inference::tell_inference;
use crate::paths::{Files, check_writable};
use crate::{documents, memory};
use fieldmark::core::container::AtomicFile;
use fieldmark::graph::{DrawOptions as Options, Drawing};
use fieldmark::text::Source;
use fieldmark::text::formats::encoding::Encoding;
use fieldmark::text::formats::{DocumentFormat, Notices, ReadOptions};
use fieldmark::{GraphAnnotator, GraphAnnotatorOptions, GraphPipeline};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A picture of one instance.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of graphs")]
pub struct DrawOptions {
    /// Draw an instance of --data: .svg, or .dot for Graphviz
    ///
    /// Variables are circles with the labels that the model gives them, factors are squares in the colour of their
    /// template; where the data have other labels, both are shown.
    #[arg(long, value_name = "FILE", requires = "data", conflicts_with_all = ["explain", "dump", "load", "json"])]
    pub draw: Option<PathBuf>,

    /// The data, in the format of the data that the model was trained on
    #[arg(long, value_name = "DATA", requires = "draw")]
    data: Option<PathBuf>,

    /// Which instance of the data, from 1
    #[arg(long, value_name = "N", default_value_t = 1, requires = "draw")]
    instance: usize,

    /// Which positions of it, from 1, as 5-20 [default: the first 40]
    #[arg(long, value_name = "FROM-TO", requires = "draw", value_parser = positions)]
    positions: Option<(u32, u32)>,
}

fn positions(text: &str) -> Result<(u32, u32), String> {
    let parsed = text
        .split_once('-')
        .and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    parsed
        .filter(|&(from, to)| 1 <= from && from <= to)
        .ok_or_else(|| "expected two positions such as 5-20, the first not after the last".to_owned())
}

impl Arguments {
    /// A graph that was trained with a config.
    pub(super) fn run_graph(&self, pipeline: &GraphPipeline, console: &Console) -> Result<(), Failure> {
        if self.line.is_some() {
            return Err(Failure::user(
                "--line is for models of observations; give a file with the text to explain",
            ));
        }
        if self.explain.is_none() && self.draw.draw.is_none() && self.inference.is_given() {
            return Err(Failure::user(
                "--inference is for --explain and --draw, which find labels",
            ));
        }
        if let Some(data) = &self.explain {
            return self.explain_graph(pipeline, data, console);
        }
        if let Some(picture) = &self.draw.draw {
            return self.draw_instance(pipeline, picture, console);
        }
        let inspection = pipeline.model.inspect(self.top);
        let file_bytes = std::fs::metadata(&self.model).map_or(0, |file| file.len());
        if self.json {
            #[derive(Serialize)]
            struct Overview<'a, T> {
                file_bytes: u64,
                input: &'static str,
                card: &'a fieldmark::ModelCard,
                #[serde(flatten)]
                inspection: T,
            }
            return console.print_json(&Overview {
                file_bytes,
                input: "text",
                card: &pipeline.card,
                inspection,
            });
        }
        let name = self.model.display();
        let card = shown_card(&pipeline.card);
        console.print(&format!(
            "{name}: {}, reads text\n\n{card}{inspection}",
            memory::shown(file_bytes)
        ))
    }

    /// Says why variables have their labels.
    fn explain_graph(&self, pipeline: &GraphPipeline, data: &Path, console: &Console) -> Result<(), Failure> {
        let mut annotator = self.graph_annotator(pipeline, console)?;
        let config = pipeline.config();
        // As `tag` reads documents: these need not be like those that the model was trained on.
        let read = ReadOptions {
            format: self.format()?,
            encoding: Encoding::default(),
            genes: None,
            alternatives: None,
            ..config.data.read.clone()
        };
        let mut prose = Prose::new(config, read.format);
        let (mut notices, mut missing) = (Notices::new(), MissingColumns::default());
        let (mut output, mut impossible) = (console.output(), Vec::new());
        let mut reader = read.open_or(&Source::from_argument(data), Some(DocumentFormat::Text))?;
        while let Some(document) = reader.next(&mut notices)? {
            missing.add(pipeline.missing_columns(&document));
            if let Some(prose) = &mut prose {
                prose.look(data, &document);
            }
            for explained in annotator.explain_each(&document, self.top)? {
                let id = &document.id;
                match explained {
                    Ok(explanation) if self.json => {
                        let decisions = explanation.decisions;
                        writeln!(output, "{}", json!({ "document": id, "decisions": decisions }))?;
                    }
                    Ok(explanation) => writeln!(output, "{id}\n\n{explanation}")?,
                    Err(instance) => {
                        if self.json {
                            let error = &instance.problem;
                            let object = json!({ "document": id, "decisions": null, "error": error });
                            writeln!(output, "{object}")?;
                        }
                        impossible.push(instance);
                    }
                }
            }
        }
        output.flush()?;
        let mut report = annotator.take_report();
        notices.extend(std::mem::take(&mut report.notices));
        documents::tell(&notices, console);
        if let Some(prose) = &prose {
            prose.tell(console);
        }
        missing.tell(console);
        tell_inference(&report, console);
        let mut tally = Tally::new(console);
        for instance in &impossible {
            tally.add(Trouble::of_instance(instance));
        }
        tally.finish_explained()
    }

    /// An annotator with the engine that was asked for.
    fn graph_annotator<'p>(
        &self,
        pipeline: &'p GraphPipeline,
        console: &Console,
    ) -> Result<GraphAnnotator<'p>, Failure> {
        let choice = self.inference.choice()?.unwrap_or_else(|| pipeline.inference());
        if let Some(warning) = pipeline.warning_of(&choice) {
            console.warn(&warning);
        }
        let options = GraphAnnotatorOptions {
            engine: Some(choice),
            ..GraphAnnotatorOptions::default()
        };
        Ok(pipeline.annotator_with(options)?)
    }

    fn draw_instance(
        &self,
        pipeline: &GraphPipeline,
        picture: &Path,
        console: &Console,
    ) -> Result<(), Failure> {
        let Some(data) = &self.draw.data else {
            return Err(Failure::user("--draw needs --data"));
        };
        let is_svg = match picture.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => true,
            Some("dot" | "gv") => false,
            _ => {
                return Err(Failure::user(format_args!(
                    "--draw {}: the name of a picture ends with .svg, or with .dot for Graphviz",
                    picture.display()
                )));
            }
        };
        check_writable(picture)?;
        Files::default()
            .reads("the model", [&self.model])
            .reads("--data", [data])
            .writes("--draw", [picture])
            .check()?;
        let (mut read, mut notices) = (pipeline.config().data.read.clone(), Notices::new());
        read.format = self.format()?.or(read.format);
        let all = documents::read_all(std::slice::from_ref(data), Path::new(""), &read, &mut notices)?;
        let mut annotator = self.graph_annotator(pipeline, console)?;
        let mut before = 0;
        for document in &all {
            let (graphs, tokens) = annotator.describe(document)?;
            let count = graphs.len();
            if self.draw.instance == 0 || self.draw.instance > before + count {
                before += count;
                continue;
            }
            let instance = graphs.instance(self.draw.instance - before - 1);
            let words = tokens[instance.positions()].iter();
            let words = words.map(|range| document.text.get(range.clone()).unwrap_or_default().to_owned());
            let words: Vec<String> = words.collect();
            let positions = self.draw.positions.map(|(from, to)| from - 1..to);
            let labels = annotator.label_variables(instance, &words);
            let labels = labels.map_err(|error| Failure::user(format_args!("{}: {error}", document.id)))?;
            let options = Options {
                title: Some(format!("instance {} of {}", self.draw.instance, data.display())),
                positions,
                tokens: words,
                labels,
                gold: true,
            };
            let drawing = Drawing::new(&pipeline.model, instance, &options).map_err(Failure::user)?;
            let text = if is_svg {
                drawing.to_svg()
            } else {
                drawing.to_dot()
            };
            let written = AtomicFile::create(picture).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.commit()
            });
            written.map_err(|error| Failure::writing(picture, error))?;
            console.note(&format!("wrote {}", picture.display()));
            return Ok(());
        }
        Err(Failure::user(format_args!(
            "--instance {}: {} has {before} instances",
            self.draw.instance,
            data.display()
        )))
    }
}
