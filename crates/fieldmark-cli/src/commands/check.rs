//! `fieldmark check`: what is wrong or odd in data, before training.

use super::eval::SchemeName;
use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::InputOptions;
use crate::options::machine::Threads;
use fieldmark::core::Scheme;
use fieldmark::text::Source;
use fieldmark::text::check::{CheckOptions, check};
use std::path::PathBuf;

/// Look for mistakes in data before training
///
/// Counts sequences, tokens and labels; lists illegal transitions, duplicate and contradictory sequences,
/// rare labels and suspicious white space; estimates the memory that training takes. With --test also what
/// training and test data have in common.
///
/// Findings are no failure: the exit code is 2 only when the data cannot be read, or with --fail.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Data to check, plain, .gz or .zst; `-` is standard input
    #[arg(value_name = "DATA")]
    data: PathBuf,

    /// Test data, which should share no sequence with DATA
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,

    #[command(flatten)]
    input: InputOptions,

    /// Scheme of the labels [default: detected]
    #[arg(long, value_enum, value_name = "SCHEME")]
    scheme: Option<SchemeName>,

    /// Labels that occur less often than this are rare
    #[arg(long, value_name = "N", default_value_t = CheckOptions::default().rare)]
    rare: u64,

    /// Examples to show of every finding
    #[arg(long, value_name = "N", default_value_t = CheckOptions::default().examples)]
    examples: usize,

    /// Number of memories of L-BFGS, for the memory estimate
    #[arg(long, value_name = "N", default_value_t = CheckOptions::default().memories)]
    num_memories: u64,

    #[command(flatten)]
    threads: Threads,

    /// Exit with 2 if there is any finding
    #[arg(long)]
    fail: bool,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark check train.txt
  fieldmark check --template template.txt train.txt --test test.txt
  fieldmark check --json train.crfsuite";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let (input, _) = self.input.resolve(&self.data)?;
        let options = CheckOptions {
            scheme: self.scheme.map(Scheme::from),
            rare: self.rare,
            examples: self.examples,
            memories: self.num_memories,
        };
        self.threads.start()?;
        let test = self.test.as_ref().map(Source::from_argument);
        let source = Source::from_argument(&self.data);
        let report = check(&source, test.as_ref(), &input.format()?, &options)?;
        if self.json {
            console.print_json(&report)?;
        } else {
            console.print(&report.to_string())?;
        }
        if self.fail && report.has_findings() {
            return Err(Failure::user(format_args!(
                "{}: the check has findings",
                source.name()
            )));
        }
        Ok(())
    }
}
