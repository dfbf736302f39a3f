//! The commands, one file each.

mod eval;
mod generate;
mod tag;
mod train;

use crate::console::Console;
use crate::failure::Failure;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Train(train::Arguments),
    Tag(tag::Arguments),
    Eval(eval::Arguments),
    Generate(generate::Arguments),
}

impl Command {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        match self {
            Command::Train(arguments) => arguments.run(console),
            Command::Tag(arguments) => arguments.run(console),
            Command::Eval(arguments) => arguments.run(console),
            Command::Generate(arguments) => arguments.run(console),
        }
    }
}
