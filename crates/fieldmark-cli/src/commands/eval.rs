//! `fieldmark eval`: how good are the predicted labels?

use crate::console::Console;
use crate::failure::Failure;
use clap::ValueEnum;
use fieldmark::core::Scheme;
use fieldmark::eval::{BOUNDARY, Evaluation, Rules};
use fieldmark::text::{Block, BlockOptions, Blocks, Source};
use std::path::PathBuf;

/// Score predicted labels against gold labels
///
/// The last two columns of the input are the gold and the predicted label, and a blank line ends a
/// sequence: that is what `fieldmark tag` writes, and what the `conlleval` script of the CoNLL shared
/// tasks reads. The report begins with exactly what that script prints, for IOB1, IOB2 and IOBES; token
/// accuracy, scores of each label and a confusion table follow.
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
    #[arg(long, value_name = "LABEL", default_value = "O", requires = "raw")]
    outside: String,

    /// Read IOBES exactly as the 2006 script does, which takes `S-X` for no start of a span
    #[arg(long, conflicts_with = "strict")]
    original: bool,

    /// Columns are separated by this text instead of white space (conlleval -d)
    #[arg(long, value_name = "TEXT")]
    delimiter: Option<String>,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark eval tagged.txt
  fieldmark tag --model chunker.fmk test.txt | fieldmark eval
  fieldmark eval --strict iob2 tagged.txt
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
        let mut blocks = Blocks::new(source.open()?, BlockOptions::default())?;
        while let Some(block) = blocks.next_block()? {
            self.add(&block, blocks.name(), &mut evaluation)?;
        }
        let report = evaluation.report();
        if report.tokens == 0 {
            return Err(Failure::user(format_args!(
                "{}: there is no tagged token in this input",
                source.name()
            )));
        }
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

    /// Counts the sequences of a block.
    fn add(&self, block: &Block, name: &str, evaluation: &mut Evaluation) -> Result<(), Failure> {
        let (mut gold, mut predicted): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut columns: Vec<&str> = Vec::new();
        for (number, line) in (block.first_line()..).zip(block.text()?.lines()) {
            columns.clear();
            match &self.delimiter {
                _ if line.trim().is_empty() => {}
                Some(delimiter) => columns.extend(line.split(delimiter.as_str())),
                None => columns.extend(line.split_whitespace()),
            }
            match columns[..] {
                [] | [BOUNDARY, ..] => {
                    evaluation.add(&gold, &predicted).map_err(Failure::ours)?;
                    gold.clear();
                    predicted.clear();
                }
                [.., right, guess] => {
                    gold.push(right);
                    predicted.push(guess);
                }
                [_] => {
                    return Err(Failure::user(format_args!(
                        "{name}:{number}:1: found one column, expected a gold and a predicted label at the end of \
                         the line. Is this the output of `fieldmark tag`?"
                    )));
                }
            }
        }
        evaluation.add(&gold, &predicted).map_err(Failure::ours)
    }
}
