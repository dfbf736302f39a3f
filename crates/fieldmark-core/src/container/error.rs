//! [`ContainerError`]: where, what was found, what was expected, what to do.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// The kind of a [`ContainerError`], for callers that treat some of them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContainerErrorKind {
    /// The operating system refused to read or write.
    Io,
    /// The file is something else than a fieldmark model.
    Foreign,
    /// The file has a format version that this program does not read.
    Version,
    /// The file was a fieldmark model, but some of its bytes are wrong, missing or too many.
    Damaged,
    /// The file is sound, but a section is missing or does not hold what its reader needs.
    Section,
    /// The sections given to the writer do not make a file.
    Writer,
}

/// Why a container could not be read or written.
///
/// It displays as one sentence with the path, what was found, what was expected and what to do.
pub struct ContainerError(Box<Inner>);

struct Inner {
    kind: ContainerErrorKind,
    path: Option<PathBuf>,
    found: String,
    expected: String,
    advice: String,
    source: Option<io::Error>,
}

impl ContainerError {
    /// The kind of error.
    pub fn kind(&self) -> ContainerErrorKind {
        self.0.kind
    }

    /// The file, unless the container is in memory.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// What was found.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// What was expected in its place.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What the user can do about it.
    pub fn advice(&self) -> &str {
        &self.0.advice
    }

    pub(super) fn new(
        kind: ContainerErrorKind,
        found: impl Into<String>,
        expected: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self(Box::new(Inner {
            kind,
            path: None,
            found: found.into(),
            expected: expected.into(),
            advice: advice.into(),
            source: None,
        }))
    }

    pub(super) fn damaged(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::new(
            ContainerErrorKind::Damaged,
            format!("the model file is damaged: {}", found.into()),
            expected,
            "copy the file again from where it is intact, or train the model again",
        )
    }

    pub(super) fn io(path: &Path, action: &str, expected: &str, advice: &str, source: io::Error) -> Self {
        let mut error = Self::new(
            ContainerErrorKind::Io,
            format!("cannot {action}: {source}"),
            expected,
            advice,
        )
        .at(path);
        error.0.source = Some(source);
        error
    }

    pub(super) fn at(mut self, path: &Path) -> Self {
        self.0.path = Some(path.to_owned());
        self
    }
}

impl fmt::Display for ContainerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            path,
            found,
            expected,
            advice,
            ..
        } = &*self.0;
        match path {
            Some(path) => write!(f, "{}: ", path.display())?,
            None => f.write_str("model in memory: ")?,
        }
        write!(f, "{found}; expected {expected}; {advice}")
    }
}

impl fmt::Debug for ContainerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContainerError({:?}, {:?})", self.0.kind, self.to_string())
    }
}

impl error::Error for ContainerError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}
