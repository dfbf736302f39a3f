//! `fieldmark eval`: how good are the predicted labels?

mod rows;

use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::LabelsName;
use clap::ValueEnum;
use fieldmark::core::Scheme;
use fieldmark::eval::{Evaluation, Report, Rules};
use fieldmark::text::{Block, BlockOptions, Blocks, LabelSyntax, Source};
use rows::{Row, Rows};
use std::path::PathBuf;

/// Score predicted labels against gold labels
///
/// The last two columns of the input are the gold and the predicted label, and a blank line ends a
/// sequence: that is what `fieldmark tag` writes, and what the `conlleval` script of the CoNLL shared
/// tasks reads. The report begins with exactly what that script prints, for IOB1, IOB2 and IOBES; token
/// accuracy, scores of each label and a confusion table follow.
///
/// Every token needs the same number of columns; a line that begins with `-X-` ends a sequence, as for the
/// script. Columns are separated by white space, or by tabs where the first line has tabs around its labels.
///
/// Gold labels may be partial. A token whose gold label is `?` is left out, and so is every span, gold or
/// predicted, on such a token or next to one; the report says how many tokens and predicted spans that
/// were. A predicted label is right beside `A|B` if it is A or B; if it is neither, A counts as the gold label.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Tagged columns, plain, .gz or .zst; `-` is standard input
    #[arg(default_value = "-", value_name = "TAGGED")]
    input: PathBuf,

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

    /// Read IOBES exactly as the 2006 script does, which takes `S-X` for no start of a span
    #[arg(long, conflicts_with = "strict")]
    original: bool,

    /// Columns are separated by this text instead of white space (conlleval -d); `\t` is a tab
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    delimiter: Option<String>,

    /// Skip lines that begin with this text, such as comments; may be repeated
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    skip_lines: Vec<String>,

    /// What gold labels may be
    #[arg(long, value_enum, value_name = "SYNTAX", default_value = "partial")]
    labels: LabelsName,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark eval tagged.txt
  fieldmark tag --model chunker.fmk test.txt | fieldmark eval
  fieldmark eval --strict iob2 tagged.txt
  fieldmark eval --skip-lines -DOCSTART- tagged.txt
  fieldmark eval --json tagged.txt";

/// The schemes by the names that they have in options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeName {
    /// I inside, O outside
    Io,
    /// As IO, with B only between spans of one type that touch
    Iob1,
    /// Every span begins with B (also BIO)
    #[value(alias = "bio")]
    Iob2,
    /// B, I, E, and S for a span of one token (also BIOES, BILOU)
    #[value(aliases = ["bioes", "bilou"])]
    Iobes,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Io => Scheme::Io,
            SchemeName::Iob1 => Scheme::Iob1,
            SchemeName::Iob2 => Scheme::Iob2,
            SchemeName::Iobes => Scheme::Iobes,
        }
    }
}

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let mut evaluation = self.evaluation();
        let source = Source::from_argument(&self.input);
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
        if self.json {
            console.print_json(&report)
        } else if self.conlleval {
            console.print(&report.spans.to_string())
        } else {
            console.print(&report.to_string())
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
            LabelsName::Literal => LabelSyntax::Literal,
            LabelsName::Partial => LabelSyntax::Partial,
        };
        Ok(Rows::new(name, delimiter, self.skip_lines.clone(), labels))
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
