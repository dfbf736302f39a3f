//! The commands, one file each.

mod annotate;
mod check;
mod convert;
mod cv;
mod eval;
mod generate;
mod init;
mod inspect;
mod quickstart;
mod serve;
mod simulate;
pub mod tag;
mod train;

use crate::console::Console;
use crate::failure::Failure;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Quickstart(quickstart::Arguments),
    Init(init::Arguments),
    Train(Box<train::Arguments>),
    Tag(tag::Arguments),
    Eval(Box<eval::Arguments>),
    Check(check::Arguments),
    Cv(cv::Arguments),
    Inspect(inspect::Arguments),
    Convert(convert::Arguments),
    Serve(serve::Arguments),
    Simulate(Box<simulate::Arguments>),
    Annotate(Box<annotate::Arguments>),
    Generate(generate::Arguments),
}

impl Command {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        match self {
            Command::Quickstart(arguments) => arguments.run(console),
            Command::Init(arguments) => arguments.run(console),
            Command::Cv(arguments) => arguments.run(console),
            Command::Convert(arguments) => arguments.run(console),
            Command::Train(arguments) => arguments.run(console),
            Command::Tag(arguments) => arguments.run(console),
            Command::Eval(arguments) => arguments.run(console),
            Command::Check(arguments) => arguments.run(console),
            Command::Inspect(arguments) => arguments.run(console),
            Command::Serve(arguments) => arguments.run(console),
            Command::Simulate(arguments) => arguments.run(console),
            Command::Annotate(arguments) => arguments.run(console),
            Command::Generate(arguments) => arguments.run(console),
        }
    }
}
