//! [`Failure`]: why a command could not do its work, and whose business that is.

use fieldmark::Error;
use fieldmark::text::ReadError;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// A file, an option or the data need the user's attention.
    User(String),
    /// The program failed, or the system under it.
    Ours(String),
    /// Whoever read the output has gone; nothing is wrong.
    ClosedPipe,
}

impl Failure {
    /// A mistake that the user can mend.
    pub fn user(message: impl fmt::Display) -> Self {
        Failure::User(message.to_string())
    }

    /// A mistake of this program.
    pub fn ours(message: impl fmt::Display) -> Self {
        Failure::Ours(message.to_string())
    }

    /// After a panic, whose message has been printed.
    pub fn panic() -> Self {
        Failure::ours("this is a bug in fieldmark; please report it with the message above")
    }

    /// A file that cannot be written.
    pub fn writing(path: &Path, error: impl fmt::Display) -> Self {
        Failure::user(format_args!("{}: cannot write: {error}", path.display()))
    }

    /// 2 for the user's mistakes, 1 for ours.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::User(_) => ExitCode::from(2),
            Failure::Ours(_) => ExitCode::from(1),
            Failure::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::User(message) | Failure::Ours(message) => f.write_str(message),
            Failure::ClosedPipe => f.write_str("the reader of the output has gone"),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Failure::user(error)
    }
}

/// Files, options and data come from the user; only what cannot be wrong with them is ours.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        use fieldmark::chain::inference::Error as Inference;
        use fieldmark::core::optimize::OptimizeError;
        match error {
            // Named as it is typed.
            Error::Optimize(OptimizeError::Option {
                name,
                value,
                expected,
            }) => Failure::user(format_args!(
                "--{} is {value}, expected {expected}",
                name.replace('_', "-")
            )),
            Error::Inference(
                Inference::NoSequence { .. }
                | Inference::Infeasible
                | Inference::UnknownKind { .. }
                | Inference::NotFinite { .. }
                | Inference::TooLarge { .. },
            ) => Failure::user(error),
            Error::Inference(_) => Failure::ours(error),
            _ => Failure::user(error),
        }
    }
}

/// Errors of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::ours(format_args!("cannot write the output: {error}")),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(kind) => io::Error::from(kind).into(),
            None => Failure::ours(error),
        }
    }
}
