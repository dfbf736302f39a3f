//! Tagged columns: the report of `conlleval`, and more.

use super::rows::{Row, Rows};
use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::LabelsName;
use fieldmark::config::SchemeName;
use fieldmark::eval::{Evaluation, JointAccuracy, Report, Rules};
use fieldmark::text::{Block, BlockOptions, Blocks, LabelSyntax, Source};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// How columns are read and scored.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of tagged columns")]
pub struct ColumnOptions {
    /// Print what conlleval prints and nothing else
    #[arg(long, conflicts_with_all = ["strict", "json"])]
    conlleval: bool,

    /// Count only spans that are well-formed in this scheme
    ///
    /// conlleval is generous: it makes a span of an `I-X` that has no `B-X`. Here such a span counts as
    /// not found, and the report says that it is a strict one.
    #[arg(long, value_name = "SCHEME")]
    strict: Option<SchemeName>,

    /// Labels are types without prefixes, and every token is a span (conlleval -r)
    #[arg(long, conflicts_with_all = ["strict", "original"])]
    raw: bool,

    /// The label that means "no span" with --raw (conlleval -o)
    #[arg(
        long,
        value_name = "LABEL",
        default_value = "O",
        requires = "raw",
        allow_hyphen_values = true
    )]
    outside: String,

    /// Read IOBES exactly as the 2006 script does, which takes `S-X` for no start of a span, nor `B-X` after `E-X`
    #[arg(long, conflicts_with = "strict")]
    original: bool,

    /// The last 2·N columns are N gold labels, then N predicted ones: accuracy of each, and of all together
    ///
    /// Labels are compared as they stand.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..),
          conflicts_with_all = ["conlleval", "strict", "raw", "original", "labels"])]
    joint: Option<u16>,

    /// Columns are separated by this text instead of white space (conlleval -d); `\t` is a tab
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    delimiter: Option<String>,

    /// Skip lines that begin with this text, such as comments; may be repeated
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    skip_lines: Vec<String>,

    /// What gold labels may be [default: partial]
    #[arg(long, value_enum, value_name = "SYNTAX")]
    labels: Option<LabelsName>,
}

impl ColumnOptions {
    /// The options that were given, by name.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("conlleval", self.conlleval),
            ("strict", self.strict.is_some()),
            ("raw", self.raw),
            ("original", self.original),
            ("joint", self.joint.is_some()),
            ("delimiter", self.delimiter.is_some()),
            ("skip-lines", !self.skip_lines.is_empty()),
            ("labels", self.labels.is_some()),
        ];
        given
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| name)
    }

    /// Scores a file of columns.
    pub fn run(&self, file: &Path, json: bool, console: &Console) -> Result<(), Failure> {
        let source = Source::from_argument(file);
        if let Some(columns) = self.joint {
            return self.run_joint(&source, usize::from(columns), json, console);
        }
        let mut evaluation = self.evaluation();
        let mut rows = self.rows(source.name())?;
        let mut blocks = Blocks::new(source.open()?, BlockOptions::default())?;
        while let Some(block) = blocks.next_block()? {
            add(&block, &mut rows, &mut evaluation)?;
        }
        let report = evaluation.report();
        if report.tokens == 0 {
            let name = source.name();
            return Err(Failure::user(match report.left_out.tokens {
                0 => format!("{name}: there is no tagged token in this input"),
                tokens => format!("{name}: the gold labels of all {tokens} tokens are unknown"),
            }));
        }
        warn(&report, self.conlleval, console);
        if json {
            console.print_json(&report)
        } else if self.conlleval {
            console.print(&report.spans.to_string())
        } else {
            console.print(&report.to_string())
        }
    }

    /// Scores several label columns.
    fn run_joint(
        &self,
        source: &Source,
        columns: usize,
        json: bool,
        console: &Console,
    ) -> Result<(), Failure> {
        let mut rows = self.rows(source.name())?;
        let mut accuracy = JointAccuracy::new(columns);
        let mut blocks = Blocks::new(source.open()?, BlockOptions::default())?;
        while let Some(block) = blocks.next_block()? {
            for (number, line) in (block.first_line()..).zip(block.text()?.lines()) {
                if let Some(cells) = rows.last_cells(number, line, 2 * columns)? {
                    let token: Vec<[&str; 1]> = cells.into_iter().map(|cell| [cell]).collect();
                    let token: Vec<&[&str]> = token.iter().map(|cell| cell.as_slice()).collect();
                    let (gold, predicted) = token.split_at(columns);
                    accuracy.add(gold, predicted).map_err(Failure::ours)?;
                }
            }
        }
        if accuracy.tokens() == 0 {
            let name = source.name();
            return Err(Failure::user(format_args!(
                "{name}: there is no tagged token in this input"
            )));
        }
        let report = JointReport {
            tokens: accuracy.tokens(),
            columns: accuracy.columns(),
            average: accuracy.average(),
            joint: accuracy.joint(),
        };
        if json {
            console.print_json(&report)
        } else {
            console.print(&report.to_text())
        }
    }

    fn evaluation(&self) -> Evaluation {
        if let Some(scheme) = self.strict {
            Evaluation::strict(scheme.into())
        } else if self.raw {
            Evaluation::raw(&self.outside)
        } else if self.original {
            Evaluation::conlleval_with(Rules::Original)
        } else {
            Evaluation::conlleval()
        }
    }

    fn rows(&self, name: String) -> Result<Rows, Failure> {
        if self.skip_lines.iter().any(String::is_empty) {
            return Err(Failure::user(
                "--skip-lines: every line begins with an empty text. Give the beginning of the lines to skip",
            ));
        }
        let delimiter = self.delimiter.as_ref().map(|text| text.replace("\\t", "\t"));
        if delimiter.as_deref() == Some("") {
            return Err(Failure::user(
                "--delimiter: an empty text separates nothing. Leave the option out to split at white space",
            ));
        }
        let labels = match self.labels {
            Some(LabelsName::Literal) => LabelSyntax::Literal,
            Some(LabelsName::Partial) | None => LabelSyntax::Partial,
        };
        Ok(Rows::new(name, delimiter, self.skip_lines.clone(), labels))
    }
}

/// Accuracy of several label columns.
#[derive(Serialize)]
struct JointReport {
    tokens: u64,
    columns: Vec<f64>,
    average: f64,
    joint: f64,
}

impl JointReport {
    fn to_text(&self) -> String {
        let mut text = format!("processed {} tokens\n", self.tokens);
        // Writing to a string cannot fail.
        for (number, accuracy) in (1..).zip(&self.columns) {
            let _ = writeln!(text, "column {number}: {:6.2}%", 100.0 * accuracy);
        }
        let _ = writeln!(text, "mean:     {:6.2}%", 100.0 * self.average);
        let _ = writeln!(text, "joint:    {:6.2}% (every column right)", 100.0 * self.joint);
        text
    }
}

/// Counts the sequences of a block.
fn add(block: &Block, rows: &mut Rows, evaluation: &mut Evaluation) -> Result<(), Failure> {
    let (mut gold, mut predicted) = (Vec::new(), Vec::new());
    for (number, line) in (block.first_line()..).zip(block.text()?.lines()) {
        match rows.row(number, line)? {
            Row::Border => {
                evaluation.add_partial(&gold, &predicted).map_err(Failure::ours)?;
                gold.clear();
                predicted.clear();
            }
            Row::Skipped => {}
            Row::Token(right, guess) => {
                gold.push(right);
                predicted.push(guess);
            }
        }
    }
    evaluation.add_partial(&gold, &predicted).map_err(Failure::ours)
}

/// Says what the figures themselves do not show.
fn warn(report: &Report, conlleval: bool, console: &Console) {
    if conlleval && report.left_out.tokens > 0 {
        console.warn(&report.left_out.to_string());
    }
    let in_both = |row: &fieldmark::eval::Row| row.counts.gold > 0 && row.counts.found > 0;
    if !report.labels.rows.iter().any(in_both) {
        console.warn(
            "no label occurs in both of the last two columns. Are they the gold and the predicted labels?",
        );
    }
}
