//! [`Console`]: results to standard output, everything else to standard error.

use crate::failure::Failure;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Even into a file or a pipe
    Always,
    /// Not at all
    Never,
}

/// A warning among the events of a command.
#[derive(Serialize)]
struct Warning<'a> {
    event: &'static str,
    message: &'a str,
}

/// Where a command may print.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    quiet: bool,
    /// Whether warnings are printed as events, too.
    events: bool,
}

impl Console {
    pub fn new(colour: Colour, quiet: bool) -> Self {
        match colour {
            Colour::Auto => {}
            Colour::Always => ColorChoice::Always.write_global(),
            Colour::Never => ColorChoice::Never.write_global(),
        }
        Self { quiet, events: false }
    }

    /// The same for a command that prints JSON events: no notes, and warnings among the events.
    pub fn with_events(&self, events: bool) -> Self {
        Self {
            quiet: self.quiet || events,
            events,
        }
    }

    /// Whether only results, warnings and errors are wanted.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether standard error is a terminal that someone watches.
    pub fn watched(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Whether results are printed in colour.
    pub fn coloured(&self) -> bool {
        !matches!(AutoStream::choice(&io::stdout()), ColorChoice::Never)
    }

    /// Standard output, buffered. The caller flushes it, to see errors.
    pub fn output(&self) -> BufWriter<Stdout> {
        BufWriter::with_capacity(1 << 16, io::stdout())
    }

    /// Prints a result.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut output = self.output();
        output.write_all(text.as_bytes())?;
        Ok(output.flush()?)
    }

    /// Prints a result as one line of JSON.
    pub fn print_json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let mut output = self.output();
        serde_json::to_writer(&mut output, value)?;
        output.write_all(b"\n")?;
        Ok(output.flush()?)
    }

    /// Says how things go.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.message(text);
        }
    }

    /// Says that something is odd, also to those who want no notes.
    pub fn warn(&self, text: &str) {
        if self.events {
            // Whoever no longer reads events still has standard error.
            let _ = self.print_json(&Warning {
                event: "warning",
                message: text,
            });
        }
        self.message(&format!("\x1b[1;33mwarning:\x1b[0m {text}"));
    }

    /// Says what went wrong.
    pub fn error(&self, text: &str) {
        self.message(&format!("\x1b[1;31merror:\x1b[0m {text}"));
    }

    fn message(&self, text: &str) {
        // Without standard error there is nobody to tell.
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}
