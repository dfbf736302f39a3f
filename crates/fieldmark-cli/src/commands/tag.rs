//! `fieldmark tag`: labels for new sequences.

mod answer;
mod documents;
mod examples;
mod graph;
mod json;
mod limits;
pub mod prose;
pub mod tables;
mod tokens;
pub mod trouble;
mod write;

use crate::console::Console;
use crate::failure::Failure;
use crate::options::inference::InferenceOptions;
use crate::options::input::FormatName;
use crate::options::machine::{Arithmetic, PrecisionName, Threads};
use crate::paths::Files;
use answer::{Answers, Wanted};
use clap::ValueEnum;
use examples::EXAMPLES;
use fieldmark::chain::inference::Space;
use fieldmark::core::container::Container;
use fieldmark::core::kernels::Dispatch;
use fieldmark::text::formats::ReadOptions;
use fieldmark::text::{BlockOptions, LabelSyntax, Source, Unseen};
use fieldmark::{AnyPipeline, Error, InputKind, Model, Pipeline};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trouble::Tally;
use write::{View, Written};

/// Label sequences, or mark texts, with a model
///
/// A model that was trained with a config reads documents of any format (see `fieldmark convert`) and prints a
/// table of what it found, with the confidence of each span; --to writes another format. Constraints hold within each
/// sentence. With --probs, --marginals, --max-marginals or --nbest it prints a table of all tokens instead (document, start
/// and end in characters, text, label and numbers, a blank line after each sentence), with --pair-marginals and
/// --log-probs a table of places in documents, with --json an object for each sentence.
///
/// A model that was trained on attributes or columns reads those and keeps their order. For attribute files it prints one label
/// per line and a blank line after each sequence; for column files every line of the input as it is, with the
/// label as one more column. Blank lines, and lines that the model was trained to skip, stay where they are.
/// Column files may come with or without the column of gold labels; in attribute files without labels, the first field is
/// empty or `?`. A byte order mark is not written. What comes through a pipe is labelled as
/// soon as a sequence is complete.
///
/// With chains everything is exact: probabilities are those of the model over all label sequences, and what --scheme,
/// --forbid and --fix-labels rule out has probability 0. (Models that were trained by ap, pa or arow only rank
/// label sequences: what is printed as their probabilities comes with a warning.) With graphs it is so if their
/// inference (`graph.inference` in the config) is exact, product-chain or junction-tree: loopy and gibbs estimate probabilities, and with
/// loopy, gibbs and dual the labels may not be the best ones. It is told where inference stopped at its limit. Another engine
/// is chosen by --inference; --nbest and --max-marginals need an exact one. gibbs estimates the marginals of single labels and
/// of pairs in different ways: sums of pairs may differ a little from --marginals.
///
/// Of graphs, tables of tokens have a column for each layer, with its name, and --probs, --marginals and --max-marginals add
/// LAYER.probability, LAYER.marginals and LAYER.max_marginals, with all labels of a token in one cell. The label of a whole
/// document or sentence is a line of its own before its tokens, `# LAYER`, label and numbers. --pair-marginals has all pairs of
/// variables that the model joins: neighbours, layers at one token, distant tokens, each variable with its document, layer,
/// start and end in characters, and label. --log-probs has a line for each document or sentence, with document, start and end.
/// --spans is the table of what was found, with a line for each label of a whole document or sentence (LAYER=LABEL). --rule, --forbid and --scheme are for
/// chains: a graph has `forbid` in its templates.
///
/// A sequence for which no label sequence is possible gets `?` in place of every label (a text, no span), and a warning
/// with its line; the others are labelled all the same, and the exit code is 2.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The model file, unless --model names it, and what to label: plain, .gz or .zst; `-` is standard input
    #[arg(value_name = "MODEL DATA")]
    files: Vec<PathBuf>,

    /// Model file
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// Format of the data; of observations it must be the one that the model was trained on
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Skip lines of column files that begin with this text, besides those that the model skips; may be repeated
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    skip_lines: Vec<String>,

    #[command(flatten)]
    documents: documents::DocumentOptions,

    #[command(flatten)]
    wanted: WantedOptions,

    #[command(flatten)]
    limits: limits::LimitOptions,

    #[command(flatten)]
    inference: InferenceOptions,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    arithmetic: Arithmetic,
}

/// What to print.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output options")]
struct WantedOptions {
    /// Print the probability of each label
    #[arg(long)]
    probs: bool,

    /// Print the probability of every label at each position, as label:probability
    #[arg(long)]
    marginals: bool,

    /// Print for every label at each position the probability of the best label sequence that has it there
    ///
    /// As label:probability, with numbers such as 1.5e-3, since those of long sequences are small. Of graphs, it needs an
    /// exact engine.
    #[arg(long)]
    max_marginals: bool,

    /// Print the N best label sequences, each after a line with its rank and probability
    ///
    /// A blank line follows each; lines that are skipped are left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
          conflicts_with_all = ["probs", "marginals", "max_marginals", "spans", "pair_marginals", "log_probs", "rule"])]
    nbest: Option<u32>,

    /// Print spans instead of positions: first line, last line, type, probability, text
    ///
    /// The probability is that of the whole span: its type and both of its borders.
    #[arg(long)]
    spans: bool,

    /// Print a table of neighbouring labels instead of positions: line, label, label in the next line, probability
    ///
    /// Pairs whose probability is 0 in six digits are left out.
    #[arg(long)]
    pair_marginals: bool,

    /// Print a table of sequences instead of positions: first line, last line, log Z, best, gold
    ///
    /// Z is the sum of the exponentiated scores of all label sequences, `best` and `gold` are the logarithms of
    /// the probabilities of the best labels and of the labels in the data; -inf if those are ruled out, and `-`
    /// if there are none or an engine of a graph gave up. Of labels that are partly unknown (`?`) or ambiguous (`A|B`), and of labels that the
    /// model does not know, which count as unknown, it is the probability of all sequences that they allow.
    #[arg(long)]
    log_probs: bool,

    /// Print one JSON object per sequence
    ///
    /// With everything that other options ask for, or with the sequences of --nbest. Without an answer, `labels` is null and
    /// `error` says why. Positions count from 0, and
    /// the end of a span is one past its last.
    #[arg(long)]
    json: bool,
}

/// The options that print a table, with its first line.
pub const TABLES: [(&str, &str); 3] = [
    ("--spans", View::SPAN_HEADER),
    ("--pair-marginals", View::PAIR_HEADER),
    ("--log-probs", View::SEQUENCE_HEADER),
];

impl WantedOptions {
    /// An option that asks what a model thinks of each token, if one was given.
    fn about_tokens(&self) -> Option<&'static str> {
        let given = [
            ("probs", self.probs),
            ("marginals", self.marginals),
            ("max-marginals", self.max_marginals),
            ("nbest", self.nbest.is_some()),
            ("pair-marginals", self.pair_marginals),
            ("log-probs", self.log_probs),
            ("json", self.json),
        ];
        given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }

    /// What to compute, and how to write it.
    fn resolve(&self, columns: bool) -> Result<(Wanted, View), Failure> {
        let forms = [
            ("--marginals", self.marginals, None),
            ("--max-marginals", self.max_marginals, None),
            ("--spans", self.spans, Some(View::Spans)),
            ("--pair-marginals", self.pair_marginals, Some(View::Pairs)),
            ("--log-probs", self.log_probs, Some(View::Sequences)),
        ];
        let mut asked = forms.into_iter().filter(|form| form.1);
        let first = asked.next();
        let table = first.and_then(|form| form.2);
        let second = match asked.next() {
            None if table.is_some() && self.probs => Some("--probs"),
            second => second.map(|form| form.0),
        };
        if let (false, Some((first, ..)), Some(second)) = (self.json, first, second) {
            return Err(Failure::user(format_args!(
                "{first} and {second} cannot be printed together. Choose one, or add --json"
            )));
        }
        let wanted = Wanted {
            label_probabilities: self.probs,
            marginals: self.marginals,
            max_marginals: self.max_marginals,
            pair_marginals: self.pair_marginals,
            log_probabilities: self.log_probs,
            best: self.nbest.map(|n| n as usize),
            spans: self.spans,
        };
        let view = match table {
            _ if self.json => View::Json,
            Some(view) => view,
            None if columns => View::Columns,
            None => View::Labels,
        };
        Ok((wanted, view))
    }
}

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let (path, files) = self.model_and_files()?;
        let container = Arc::new(Container::open(&path).map_err(Error::from)?);
        if AnyPipeline::is_in(&container) {
            let pipeline = AnyPipeline::from_container(container)?;
            let read = ReadOptions {
                format: self.format.as_deref().and_then(|name| name.parse().ok()),
                ..ReadOptions::default()
            };
            Files::default()
                .reads("the model", [&path])
                .reads("the input", &files)
                .reads(
                    "a file of genes",
                    crate::documents::mention_files(&files, Path::new(""), &read),
                )
                .writes("--output", self.documents.written_files())
                .check()?;
            return match pipeline {
                AnyPipeline::Chain(pipeline) => self.tag_text(&pipeline, &files, console),
                AnyPipeline::Graph(pipeline) => self.tag_graph(&pipeline, &files, console),
            };
        }
        self.inference.refuse_for_chains()?;
        if let Some(option) = self.documents.given().next() {
            return Err(Failure::user(format_args!(
                "--{option} is for models that read text, but {} reads observations",
                path.display()
            )));
        }
        let [data] = files.as_slice() else {
            return Err(Failure::user("a model of observations labels one file at a time"));
        };
        let mut model = Model::from_container(container)?;
        let format = self
            .format
            .as_deref()
            .map(|name| FormatName::from_str(name, true))
            .transpose();
        let format = format.map_err(|_| Failure::user("--format: this model reads crfsuite or columns"))?;
        if let Some(format) = format.filter(|format| !format.is(&model.input)) {
            let other = if format == FormatName::Columns {
                "crfsuite"
            } else {
                "columns"
            };
            return Err(Failure::user(format_args!(
                "{}: this model reads --format {other}. Leave the option out to use the model's format",
                path.display()
            )));
        }
        if self.skip_lines.iter().any(String::is_empty) {
            return Err(Failure::user(
                "--skip-lines: every line begins with an empty text. Give the beginning of the lines to skip",
            ));
        }
        model.input.skip.extend(self.skip_lines.iter().cloned());
        self.threads.start()?;
        match self.arithmetic.precision {
            PrecisionName::F64 => self.tag::<f64>(model, data, console),
            PrecisionName::F32 => self.tag::<f32>(model, data, console),
        }
    }

    fn space(&self) -> Space {
        if self.arithmetic.log_space {
            Space::Log
        } else {
            Space::Linear
        }
    }

    /// Marks documents, or says what a model that reads text thinks of their tokens.
    fn tag_text(&self, pipeline: &Pipeline, files: &[PathBuf], console: &Console) -> Result<(), Failure> {
        self.refuse_for_documents()?;
        self.inference.refuse_for_chains()?;
        self.threads.start()?;
        warn_of_ranks(pipeline.learned_from_mistakes(), console);
        let labels = pipeline.chain.labels();
        let config = &pipeline.config().labels;
        let limits = match config.column {
            Some(_) => self.limits.resolve(labels, console)?,
            None => self.limits.resolve_spans(labels, config.scheme.into())?,
        };
        let (wanted, view) = self.wanted.resolve(true)?;
        if let Some(option) = self.wanted.about_tokens() {
            if let Some(other) = self.documents.given().find(|name| *name != "encoding") {
                return Err(Failure::user(format_args!(
                    "--{option} prints what the model thinks of every token, and --{other} is for documents: use one of \
                     them"
                )));
            }
            return self.tag_tokens(pipeline, files, &limits, (wanted, view), console);
        }
        if wanted.spans && config.column.is_some() {
            return Err(Failure::user(
                "--spans: this model labels every token and marks no spans. --probs prints its labels",
            ));
        }
        self.tag_documents(pipeline, files, &limits, console)
    }

    /// The model, and the files to label: standard input if there are none.
    fn model_and_files(&self) -> Result<(PathBuf, Vec<PathBuf>), Failure> {
        let (model, files) = match (&self.model, self.files.as_slice()) {
            (Some(model), files) => (model, files),
            (None, [model, files @ ..]) => (model, files),
            (None, []) => {
                return Err(Failure::user(
                    "there is no model. Give its file first, then what to label: fieldmark tag MODEL DATA",
                ));
            }
        };
        let files = if files.is_empty() {
            vec![PathBuf::from("-")]
        } else {
            files.to_vec()
        };
        Ok((model.clone(), files))
    }

    /// Options that a model that reads text has no use for.
    fn refuse_for_documents(&self) -> Result<(), Failure> {
        if !self.skip_lines.is_empty() {
            return Err(Failure::user(
                "--skip-lines is for models of observations, which read lines; this one reads documents, and the reader \
                 of columns knows lines such as -DOCSTART- by itself",
            ));
        }
        if self.arithmetic.precision == PrecisionName::F32 {
            return Err(Failure::user(
                "--precision f32 is for models of observations; this one reads text and always computes with 64 bits, \
                 since its time goes into tokens and features",
            ));
        }
        Ok(())
    }

    fn tag<T: Dispatch>(&self, mut model: Model, data: &Path, console: &Console) -> Result<(), Failure> {
        let columns = matches!(model.input.kind, InputKind::Columns { .. });
        let syntax = if columns && model.input.partial_labels {
            LabelSyntax::Partial
        } else {
            LabelSyntax::Literal
        };
        model.input.partial_labels |= self.limits.fixes_labels();
        let model = &model;
        let (wanted, view) = self.wanted.resolve(columns)?;
        let algorithm = model.learned_from_mistakes();
        warn_of_ranks(algorithm.filter(|_| wanted.probabilities()), console);
        let limits = self.limits.resolve(model.chain.labels(), console)?;
        let answers = Answers::new(model.chain.labels(), &limits, wanted, syntax)?;
        let source = Source::from_argument(data);
        let name = source.name();
        let arrives = !source.is_complete();
        let mut tally = Tally::new(console);
        let mut output = console.output();
        if let Some(header) = view.header() {
            output.write_all(header.as_bytes())?;
        }
        // What `take` cannot say in the error type of the library.
        let mut failed = None;
        let unseen = model.for_each_block_in::<T, _>(
            &source,
            blocks(wanted, model.chain.labels().len(), arrives),
            self.space(),
            |tagger, part| write::block(view, &answers, &name, tagger, part),
            |written: Written| {
                tally.known += written.known;
                written
                    .troubles
                    .into_iter()
                    .for_each(|trouble| tally.add(trouble));
                let done = output.write_all(&written.text);
                let done = if arrives {
                    done.and_then(|()| output.flush())
                } else {
                    done
                };
                done.map_err(|error| {
                    failed = Some(error);
                    Error::Option("the output was closed".into())
                })
            },
        );
        if let Some(error) = failed {
            return Err(error.into());
        }
        // What was tagged before a mistake in the data is not lost.
        output.flush()?;
        warn_of_unseen(&unseen?, console);
        tally.finish(limits.fix_labels, &name)
    }
}

/// Warns of an algorithm whose numbers are no probabilities.
fn warn_of_ranks(algorithm: Option<&str>, console: &Console) {
    if let Some(algorithm) = algorithm {
        console.warn(&format!(
            "this model was trained by {algorithm}, which does not fit probabilities: the numbers rank label \
             sequences, but do not say how often they are right"
        ));
    }
}

/// Blocks whose results stay small: some results are many times larger than what they are made from.
fn blocks(wanted: Wanted, labels: usize, arrives: bool) -> BlockOptions {
    let mut blocks = if arrives {
        BlockOptions::eager()
    } else {
        BlockOptions::default()
    };
    let mut growth = wanted.best.unwrap_or(1);
    if wanted.marginals || wanted.max_marginals {
        growth = growth.max(labels);
    }
    if wanted.pair_marginals {
        growth = growth.max(labels.saturating_mul(labels));
    }
    blocks.size = (blocks.size / growth.max(1)).max(1 << 12);
    blocks
}

/// At most this many labels are named in warnings.
const NAMED: usize = 10;

/// Warns of labels that the model does not have.
pub fn warn_of_unseen(unseen: &Unseen, console: &Console) {
    for (label, count) in unseen.labels.iter().take(NAMED) {
        let times = if *count == 1 {
            "once".to_owned()
        } else {
            format!("{count} times")
        };
        console.warn(&format!(
            "the label {label} occurs {times} and was not seen in training"
        ));
    }
    let others = unseen.labels.len().saturating_sub(NAMED);
    if others > 0 {
        console.warn(&format!(
            "so do {others} other labels; is the label where it should be?"
        ));
    }
}
