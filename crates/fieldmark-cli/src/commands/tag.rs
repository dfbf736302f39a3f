//! `fieldmark tag`: labels for new sequences.

mod answer;
mod limits;
mod write;

use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::FormatName;
use crate::options::machine::{Arithmetic, PrecisionName, Threads};
use answer::{Answers, Wanted};
use fieldmark::chain::inference::Space;
use fieldmark::core::kernels::Dispatch;
use fieldmark::text::{Source, Unseen};
use fieldmark::{Error, InputKind, Model};
use std::io::Write;
use std::path::PathBuf;

/// Label sequences with a model
///
/// Reads what the model was trained to read and keeps its order. For attribute files it prints one label
/// per line and a blank line after each sequence; for column files the line and the label as one more column.
/// Column files may come with or without the column of gold labels.
///
/// Everything is exact: probabilities are those of the model over all label sequences, and what --scheme,
/// --forbid and --fix-labels rule out has probability 0.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Sequences to label, plain, .gz or .zst; `-` is standard input
    #[arg(value_name = "DATA", default_value = "-")]
    data: PathBuf,

    /// Model file
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,

    /// Format of the data; it must be the one that the model was trained on
    #[arg(long, value_enum)]
    format: Option<FormatName>,

    #[command(flatten)]
    wanted: WantedOptions,

    #[command(flatten)]
    limits: limits::LimitOptions,

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

    /// Print the N best label sequences, each after a line with its rank and probability
    #[arg(long, value_name = "N", conflicts_with_all = ["probs", "marginals", "spans", "rule"],
          value_parser = clap::value_parser!(u32).range(1..))]
    nbest: Option<u32>,

    /// Print spans instead of positions: first line, last line, type, probability, text
    ///
    /// The probability is that of the whole span: its type and both of its borders.
    #[arg(long, conflicts_with_all = ["probs", "marginals"])]
    spans: bool,

    /// Print one JSON object per sequence
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark tag --model chunker.fmk test.txt > tagged.txt
  fieldmark tag --model chunker.fmk --scheme iob2 --spans test.txt
  fieldmark tag --model chunker.fmk --nbest 3 --json test.txt

  No more than one person in a sentence, and no place without a person:
      fieldmark tag --model ner.fmk --rule 'at-most 1 PER; LOC implies PER' test.txt

  Some labels are known (`?` is open, `A|B` is A or B):
      fieldmark tag --model ner.fmk --fix-labels partly.txt";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let mut model = Model::open(&self.model)?;
        if let Some(format) = self.format.filter(|format| !format.is(&model.input)) {
            let other = if format == FormatName::Columns {
                "crfsuite"
            } else {
                "columns"
            };
            return Err(Failure::user(format_args!(
                "{}: this model reads --format {other}. Leave the option out to use the model's format",
                self.model.display()
            )));
        }
        model.input.partial_labels |= self.limits.fixes_labels();
        self.threads.start()?;
        let space = if self.arithmetic.log_space {
            Space::Log
        } else {
            Space::Linear
        };
        let unseen = match self.arithmetic.precision {
            PrecisionName::F64 => self.tag::<f64>(&model, space, console),
            PrecisionName::F32 => self.tag::<f32>(&model, space, console),
        }?;
        warn_of_unseen(&unseen, console);
        Ok(())
    }

    fn tag<T: Dispatch>(&self, model: &Model, space: Space, console: &Console) -> Result<Unseen, Failure> {
        let limits = self.limits.resolve(model)?;
        let wanted = Wanted {
            label_probabilities: self.wanted.probs,
            marginals: self.wanted.marginals,
            best: self.wanted.nbest.map(|n| n as usize),
            spans: self.wanted.spans,
        };
        let columns = matches!(model.input.kind, InputKind::Columns { .. });
        let source = Source::from_argument(&self.data);
        let answers = Answers::new(model, &limits, wanted, source.name())?;
        let view = match (&self.wanted, columns) {
            (WantedOptions { json: true, .. }, _) => write::View::Json,
            (WantedOptions { spans: true, .. }, _) => write::View::Spans,
            (_, true) => write::View::Columns,
            (_, false) => write::View::Labels,
        };
        let mut output = console.output();
        if view == write::View::Spans {
            output.write_all(write::SPAN_HEADER.as_bytes())?;
        }
        // What `take` cannot say in the error type of the library.
        let mut failed = None;
        let unseen = model.for_each_block::<T, _>(
            &source,
            space,
            |tagger, part| write::block(view, &answers, tagger, part),
            |text: Vec<u8>| {
                output.write_all(&text).map_err(|error| {
                    failed = Some(error);
                    Error::Option("the output was closed".into())
                })
            },
        );
        match failed {
            Some(error) => Err(error.into()),
            None => {
                // What was tagged before a mistake in the data is not lost.
                output.flush()?;
                Ok(unseen?)
            }
        }
    }
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
        console.warn(&format!("so do {others} other labels"));
    }
}
