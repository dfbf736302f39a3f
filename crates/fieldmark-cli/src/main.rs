//! The `fieldmark` command.
//!
//! Every command is one file under `commands`: its options, its help and a thin `run` over the libraries.
//! What they share is here: [`failure`] (messages and exit codes), [`console`] (who may print what where).

mod commands;
mod console;
mod documents;
mod failure;
mod inference;
mod interrupt;
mod memory;
mod options;
mod paths;
mod progress;
mod refusal;

use clap::Parser;
use commands::Command;
use console::{Colour, Console};
use failure::Failure;
use std::process::ExitCode;

/// Conditional random fields that mark text
#[derive(Debug, Parser)]
#[command(
    name = "fieldmark",
    version,
    arg_required_else_help = true,
    infer_subcommands = false,
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Colours in the output
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    color: Colour,

    /// Print results, warnings and errors only, no progress
    #[arg(short, long, global = true)]
    quiet: bool,
}

const LONG_ABOUT: &str = "\
fieldmark trains and uses conditional random fields (CRFs) on sequences: names in sentences, drugs in \
clinical notes, chunks, parts of speech.

There are two ways. With a config, which recipes help to write (`fieldmark init`), it goes from documents of \
any format (text, PDF, HTML, PubMed, CoNLL, brat and others) to annotated documents, and one model file holds all that is \
needed. Or it reads observations as other CRF programs do: CRFsuite's attribute files, and column files with CRF++ or \
Wapiti templates.";

const AFTER_HELP: &str = "\
Examples:
  See everything work in a few seconds, without any file:
      fieldmark quickstart

  From documents to annotated documents, by a recipe:
      fieldmark init gene --output genes.toml
      fieldmark train genes.toml --model genes.fmk -o 'data.train=[\"train.txt\"]'
      fieldmark tag genes.fmk notes.txt --output notes.html
      fieldmark eval --model genes.fmk test.txt --format columns --html scores.html
      fieldmark serve genes.fmk

  From column files to scores:
      fieldmark check train.txt --test test.txt
      fieldmark train --template template.txt --model chunker.fmk train.txt
      fieldmark tag --model chunker.fmk test.txt > tagged.txt
      fieldmark eval tagged.txt

Results go to standard output, everything else to standard error. NO_COLOR switches colours off.

Exit codes: 0 if all went well (a reader that closes the pipe is no failure), 2 if a file, an option or \
the data need your attention, 1 if the program itself failed or standard output could not be written.";

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => match refusal::in_own_words(&error) {
            None => error.exit(),
            Some(refusal) => {
                let failure = Failure::user(refusal);
                Console::new(Colour::default(), false).error(&failure.to_string());
                return failure.exit_code();
            }
        },
    };
    let console = Console::new(arguments.color, arguments.quiet);
    let command = std::panic::AssertUnwindSafe(|| arguments.command.run(&console));
    let result = std::panic::catch_unwind(command).unwrap_or_else(|_| Err(Failure::panic()));
    match result {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            console.error(&failure.to_string());
            failure.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn options_are_consistent() {
        Arguments::command().debug_assert();
    }
}
