//! `fieldmark inspect`: what a model knows, why it decides as it does, and its weights as text.

mod graph;

use super::tag::trouble::{WHERE, too_large};
use crate::console::Console;
use crate::failure::Failure;
use crate::options::inference::InferenceOptions;
use crate::paths::{Files, check_writable};
use crate::{documents, memory};
use fieldmark::chain::ChainModel;
use fieldmark::chain::inference::{Constraints, Error as Inference, Space};
use fieldmark::core::container::Container;
use fieldmark::text::formats::{DocumentFormat, Notices, ReadOptions};
use fieldmark::text::{Part, Source};
use fieldmark::{AnyPipeline, Error, InputFormat, InputKind, Model, ModelCard, Pipeline};
use serde::Serialize;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Read a model: labels, transitions, strongest features, decisions
///
/// Shows what a model file holds. --explain says for each position of the sequences in a file which features
/// drove the label, and what the runner-up was. --dump prints every weight as text in a stable order, with the
/// config and its files if there are any, and --load makes the same model of it again, equal in every bit.
///
/// Of a graph, it shows the strongest weights of each template, those between layers and between distant positions
/// first; --draw makes a picture of one instance. --explain compares the label of each variable with the best other one while
/// all other labels stay: a reason is an observation or the labels that a factor joins, with the name of its template;
/// `all` is the label of a whole document or sentence. --inference chooses the engine that finds labels for both.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Features to show of each sign for each label, or reasons for each position
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Explain the labels that the model gives to the sequences in this file
    #[arg(long, value_name = "DATA", conflicts_with_all = ["dump", "load"])]
    explain: Option<PathBuf>,

    /// Format of the documents of --explain or --data, for models of text [default: recognised, text otherwise]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Explain only the sequence with this line of DATA
    #[arg(long, value_name = "N", requires = "explain")]
    line: Option<u64>,

    /// Print every weight as text
    #[arg(long, conflicts_with_all = ["load", "json"])]
    dump: bool,

    /// Make MODEL of a text that --dump printed; `-` is standard input
    #[arg(long, value_name = "TEXT", conflicts_with = "json")]
    load: Option<PathBuf>,

    #[command(flatten)]
    draw: graph::DrawOptions,

    #[command(flatten)]
    inference: InferenceOptions,

    /// Print JSON: one object, or one for each sequence explained
    #[arg(long)]
    json: bool,
}

/// Why a model cannot be drawn.
const NO_GRAPH: &str = "--draw is for models with a section `graph` in their config; this one is a chain";

const EXAMPLES: &str = "\
Examples:
  fieldmark inspect --top 5 chunker.fmk
  fieldmark inspect --explain test.txt --line 12 chunker.fmk
  fieldmark inspect --explain notes.txt names.fmk
  fieldmark inspect --dump chunker.fmk > chunker.weights
  fieldmark inspect --load chunker.weights copy.fmk

  Why do the variables of a graph have their labels?
      fieldmark inspect joint.fmk --explain notes.txt --top 5

  What a graph joins in the second sentence of a file:
      fieldmark inspect joint.fmk --data test.txt --instance 2 --draw graph.svg";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        if let Some(dump) = &self.load {
            return load(dump, &self.model, console);
        }
        let container = Arc::new(Container::open(&self.model).map_err(Error::from)?);
        if AnyPipeline::is_in(&container) {
            let pipeline = AnyPipeline::from_container(container)?;
            if self.dump {
                let mut output = console.output();
                pipeline.dump(&mut output)?;
                return Ok(output.flush()?);
            }
            return match pipeline {
                AnyPipeline::Chain(pipeline) => self.run_pipeline(&pipeline, console),
                AnyPipeline::Graph(pipeline) => self.run_graph(&pipeline, console),
            };
        }
        self.refuse_for_chains()?;
        if self.format.is_some() {
            return Err(Failure::user(
                "--format is for models that read text; this one reads observations, as it was trained",
            ));
        }
        let model = Model::from_container(container)?;
        if self.dump {
            let mut output = console.output();
            model.chain.dump(&mut output)?;
            write!(output, "{}", input_lines(&model.input))?;
            return Ok(output.flush()?);
        }
        match &self.explain {
            Some(data) => self.explain(&model, data, console),
            None => self.overview(&model, console),
        }
    }

    /// The format of documents, if it was given.
    fn format(&self) -> Result<Option<DocumentFormat>, Failure> {
        if self.explain.is_none() && self.draw.draw.is_none() && self.format.is_some() {
            return Err(Failure::user(
                "--format is for --explain and --draw, which read data",
            ));
        }
        let format = self.format.as_deref().map(str::parse).transpose();
        format.map_err(|error: String| Failure::user(format_args!("--format: {error}")))
    }

    /// Options that mean nothing to a chain.
    fn refuse_for_chains(&self) -> Result<(), Failure> {
        if self.draw.draw.is_some() {
            return Err(Failure::user(NO_GRAPH));
        }
        self.inference.refuse_for_chains()
    }

    fn overview(&self, model: &Model, console: &Console) -> Result<(), Failure> {
        let format = match &model.input.kind {
            InputKind::Attributes => "crfsuite",
            InputKind::Columns { template: None } => "columns",
            InputKind::Columns { template: Some(_) } => "columns with a template",
        };
        self.show(&model.chain, format, None, console)
    }

    /// A model that was trained with a config.
    fn run_pipeline(&self, pipeline: &Pipeline, console: &Console) -> Result<(), Failure> {
        self.refuse_for_chains()?;
        let Some(data) = &self.explain else {
            return self.show(&pipeline.chain, "text", Some(&pipeline.card), console);
        };
        if self.line.is_some() {
            return Err(Failure::user(
                "--line is for models of observations; give a file with the text to explain",
            ));
        }
        let read = ReadOptions {
            format: self.format()?,
            ..ReadOptions::default()
        };
        let mut annotator = pipeline.annotator();
        let mut output = console.output();
        let files = [data.clone()];
        for document in documents::read_all(&files, Path::new(""), &read, &mut Notices::new())? {
            for explanation in annotator.explain(&document, self.top)? {
                if self.json {
                    serde_json::to_writer(
                        &mut output,
                        &serde_json::json!({ "document": document.id, "decisions": explanation.decisions }),
                    )?;
                    writeln!(output)?;
                } else {
                    writeln!(output, "{}\n\n{explanation}", document.id)?;
                }
            }
        }
        Ok(output.flush()?)
    }

    fn show(
        &self,
        chain: &ChainModel,
        input: &'static str,
        card: Option<&ModelCard>,
        console: &Console,
    ) -> Result<(), Failure> {
        let inspection = chain.inspect(self.top);
        let file_bytes = std::fs::metadata(&self.model).map_or(0, |file| file.len());
        if self.json {
            #[derive(Serialize)]
            struct Overview<'a, T> {
                file_bytes: u64,
                input: &'static str,
                #[serde(skip_serializing_if = "Option::is_none")]
                card: Option<&'a ModelCard>,
                #[serde(flatten)]
                inspection: T,
            }
            return console.print_json(&Overview {
                file_bytes,
                input,
                card,
                inspection,
            });
        }
        let name = self.model.display();
        let card = card.map(shown_card).unwrap_or_default();
        console.print(&format!(
            "{name}: {}, reads {input}\n\n{card}{inspection}",
            memory::shown(file_bytes)
        ))
    }

    fn explain(&self, model: &Model, data: &Path, console: &Console) -> Result<(), Failure> {
        let mut output = console.output();
        let mut failed = None;
        let mut any = false;
        let done = model.for_each_block::<f64, _>(
            &Source::from_argument(data),
            Space::default(),
            |_, part| self.explain_part(&model.chain, part, data),
            |text: String| {
                any |= !text.is_empty();
                output.write_all(text.as_bytes()).map_err(|error| {
                    failed = Some(error);
                    Error::Option("the output was closed".into())
                })
            },
        );
        if let Some(error) = failed {
            return Err(error.into());
        }
        output.flush()?;
        done?;
        match self.line {
            Some(line) if !any => Err(Failure::user(format_args!(
                "{}:{line}: no sequence has this line",
                data.display()
            ))),
            _ => Ok(()),
        }
    }

    fn explain_part(&self, chain: &ChainModel, part: &Part, data: &Path) -> Result<String, Error> {
        let mut text = String::new();
        for instance in part.data.instances() {
            let positions = instance.positions();
            let first = part.line_number(positions.start);
            let last = part.line_number(positions.end - 1);
            if self.line.is_some_and(|line| !(first..=last).contains(&line)) {
                continue;
            }
            let explanation = chain
                .explain(instance, &Constraints::none(), self.top)
                .map_err(|error| unexplained(error, data, first))?;
            let explanation = explanation.with_tokens(positions.map(|position| token(part.line(position))));
            if self.json {
                let json = serde_json::json!({ "line": first, "decisions": explanation.decisions });
                text += &format!("{json}\n");
            } else {
                text += &format!("sequence in lines {first} to {last}\n\n{explanation}\n");
            }
        }
        Ok(text)
    }
}

/// A model card for people.
fn shown_card(card: &ModelCard) -> String {
    let data = &card.data;
    let mut text = format!("{}: {}\n", card.name, card.description);
    text += &format!(
        "trained on {} by fieldmark {}, {} iterations: {}\n",
        card.date, card.fieldmark, card.iterations, card.stop
    );
    text += &format!(
        "{} documents, {} sequences, {} tokens; fingerprint {}\n",
        data.documents, data.sequences, data.tokens, data.fingerprint
    );
    for (kind, count) in &data.spans {
        text += &format!("  {kind}: {count} spans\n");
    }
    for (set, score) in &card.scores {
        text += &format!("  score on the {set}: {:.2}\n", 100.0 * score);
    }
    text + "\n"
}

/// Why the sequence that starts in a line cannot be explained.
fn unexplained(error: Inference, data: &Path, line: u64) -> Error {
    match too_large(&error) {
        Some(problem) => Error::Option(format!(
            "{}:{line}:1: in the sequence that starts here, {problem}. Check {WHERE}",
            data.display()
        )),
        None => error.into(),
    }
}

/// What stands for a line: its first column, or for attribute files its first attribute.
fn token(line: &str) -> &str {
    let mut fields = line.split(if line.contains('\t') { '\t' } else { ' ' });
    fields.next().unwrap_or_default()
}

/// How the model's input is read, as the last lines of a dump.
fn input_lines(input: &InputFormat) -> String {
    input
        .to_text()
        .lines()
        .map(|line| format!("input\t{line}\n"))
        .collect()
}

fn load(dump: &Path, model: &Path, console: &Console) -> Result<(), Failure> {
    let name = dump.display();
    Files::default()
        .reads("--load", [dump])
        .writes("the model", [model])
        .check()?;
    check_writable(model)?;
    let text = if dump == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map(|_| text)
    } else {
        std::fs::read(dump)
    };
    let text = text.map_err(|error| Failure::user(format_args!("{name}: cannot read: {error}")))?;
    if AnyPipeline::is_dump(&text) {
        let pipeline =
            AnyPipeline::from_dump(&text).map_err(|error| Failure::user(format_args!("{name}: {error}")))?;
        pipeline.save(model)?;
        console.note(&format!("wrote {}", model.display()));
        return Ok(());
    }
    // The weights end with a line of their own, and how the input is read follows.
    const END: &[u8] = b"\nend\n";
    let end = text.windows(END.len()).position(|window| window == END);
    let (weights, input) = text.split_at(end.map_or(text.len(), |at| at + END.len()));
    let chain =
        ChainModel::from_dump(weights).map_err(|error| Failure::user(format_args!("{name}: {error}")))?;
    let before = weights.iter().filter(|&&byte| byte == b'\n').count();
    let input = input_settings(input)
        .and_then(|settings| InputFormat::from_text(&settings).map_err(|error| (error.line, error.found)))
        .map_err(|(line, found)| {
            let number = before + line;
            Failure::user(format_args!(
                "{name}: line {number}: found {found}; expected `input` and how the data are read"
            ))
        })?;
    Model { chain, input }.save(model)?;
    console.note(&format!("wrote {}", model.display()));
    Ok(())
}

/// What follows `input` in each line; otherwise the number of a line and what is wrong with it.
fn input_settings(text: &[u8]) -> Result<String, (usize, String)> {
    let mut settings = String::new();
    for (index, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let setting = std::str::from_utf8(line)
            .map_err(|_| "text that is not UTF-8".to_owned())
            .and_then(|line| {
                line.strip_prefix("input\t")
                    .ok_or_else(|| format!("{:?}", line.trim_end()))
            });
        settings += setting.map_err(|found| (index + 1, found))?;
    }
    Ok(settings)
}
