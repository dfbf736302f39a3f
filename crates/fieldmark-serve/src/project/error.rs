//! [`Error`]: why something cannot be done with a project.

use std::path::PathBuf;

/// Why something cannot be done with a project.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database, or the disk under it.
    #[error("{}: {error}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        error: rusqlite::Error,
    },
    /// A directory, or a file in it, that cannot be made or read.
    #[error("{}: {problem}", path.display())]
    File {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// Something that was asked for and makes no sense: who asked has to change it.
    #[error("{0}")]
    Refused(String),
    /// Something that was asked for and contradicts what is there.
    #[error("{0}")]
    Conflict(String),
    /// Something that does not exist.
    #[error("{0}")]
    Missing(String),
    /// A model that cannot be trained or asked.
    #[error(transparent)]
    Learn(#[from] fieldmark::learn::Error),
    /// A config, a document or a pipeline.
    #[error(transparent)]
    Fieldmark(#[from] fieldmark::Error),
    /// A document that cannot be read.
    #[error(transparent)]
    Read(#[from] fieldmark::text::ReadError),
    /// A result that cannot be written.
    #[error("{0}")]
    Write(#[from] std::io::Error),
}

impl Error {
    /// Something that who asked has to change.
    pub fn refused(message: impl std::fmt::Display) -> Self {
        Error::Refused(message.to_string())
    }

    /// Something that does not exist.
    pub fn missing(message: impl std::fmt::Display) -> Self {
        Error::Missing(message.to_string())
    }
}
