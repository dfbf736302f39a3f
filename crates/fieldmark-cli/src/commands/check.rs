//! `fieldmark check`: what is wrong or odd in data, before training.

use super::train::shape::ShapeOptions;
use crate::console::Console;
use crate::failure::Failure;
use crate::memory::shown;
use crate::options::input::InputOptions;
use crate::options::machine::Threads;
use fieldmark::config::SchemeName;
use fieldmark::core::Scheme;
use fieldmark::text::Source;
use fieldmark::text::check::{CheckOptions, CheckReport, check_and_keep};
use fieldmark::{MemoryEstimate, estimate_memory};
use serde::Serialize;
use std::path::PathBuf;

/// Look for mistakes in data before training
///
/// Counts sequences, tokens and labels; lists illegal transitions, duplicate and contradictory sequences,
/// rare labels and suspicious white space. With --test also what training and test data have in common.
///
/// Estimates the memory that training with L-BFGS takes, for the model that the options describe, which are those
/// of `train`; for this, features are chosen and data laid out as for training. Usually right to a quarter.
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

    /// Past steps that L-BFGS remembers, for the memory estimate
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=1000))]
    num_memories: u64,

    /// The model that will be trained, for the memory estimate
    #[command(flatten)]
    shape: ShapeOptions,

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
  fieldmark check --order 2 --all-possible-states --template template.txt train.txt
  fieldmark check --json train.crfsuite";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let (input, template) = self.input.resolve(&self.data)?;
        let structure = self.shape.structure(template.as_ref(), console)?;
        let options = CheckOptions {
            scheme: self.scheme.map(Scheme::from),
            rare: self.rare,
            examples: self.examples,
        };
        self.threads.start()?;
        let test = self.test.as_ref().map(Source::from_argument);
        let source = Source::from_argument(&self.data);
        let (report, mut data) = check_and_keep(&source, test.as_ref(), &input.format()?, &options)?;
        if let Some(end) = self.shape.step_observations() {
            data.observe_steps(end);
        }
        let memory = estimate_memory(data, &structure, self.num_memories);
        if self.json {
            #[derive(Serialize)]
            struct Checked<'a> {
                #[serde(flatten)]
                report: &'a CheckReport,
                memory: Option<MemoryEstimate>,
            }
            console.print_json(&Checked {
                report: &report,
                memory: memory.as_ref().ok().copied(),
            })?;
        } else {
            let memory = memory
                .as_ref()
                .map(|memory| self.describe(memory, structure.order));
            console.print(&format!("{report}{}", memory.unwrap_or_default()))?;
        }
        // What cannot be trained is no finding about the data.
        memory?;
        if self.fail && report.has_findings() {
            return Err(Failure::user(format_args!(
                "{}: the check has findings",
                source.name()
            )));
        }
        Ok(())
    }

    fn describe(&self, estimate: &MemoryEstimate, order: usize) -> String {
        let shown = |bytes| format!("{:>8}", shown(bytes));
        let threads = match estimate.threads {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        format!(
            "memory for training with L-BFGS, order {order}, {} features, {threads}
  the data as they are read     {}
  data and features, laid out   {}
  vectors of L-BFGS             {}
  in all, about                 {}\n",
            estimate.features,
            shown(estimate.dataset_bytes),
            shown(estimate.layout_bytes),
            shown(estimate.optimizer_bytes),
            shown(estimate.training_bytes),
        )
    }
}
