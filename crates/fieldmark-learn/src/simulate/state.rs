//! [`State`]: the curves that are complete, in a file that is replaced as a whole.

use super::curve::Curve;
use crate::{Error, Scores, Strategy};
use fieldmark_core::container::atomic_write;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What is in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    /// Which experiment the curves are of.
    experiment: String,
    full_supervision: Option<Scores>,
    curves: Vec<Curve>,
}

/// What is finished of an experiment.
#[derive(Debug)]
pub(super) struct State {
    path: Option<PathBuf>,
    content: Content,
}

impl State {
    /// Opens the file of an experiment, or begins anew when there is none.
    pub fn open(path: Option<&Path>, fingerprint: u64) -> Result<Self, Error> {
        let experiment = format!("{fingerprint:016x}");
        let content = match path.map(read).transpose()?.flatten() {
            Some((path, content)) if content.experiment != experiment => {
                let problem =
                    "it holds the state of another experiment, with other data or options. Repeat those, or \
                               name another file"
                        .to_owned();
                return Err(Error::State { path, problem });
            }
            Some((_, content)) => content,
            None => Content {
                experiment,
                full_supervision: None,
                curves: Vec::new(),
            },
        };
        Ok(Self {
            path: path.map(Path::to_owned),
            content,
        })
    }

    pub fn full(&self) -> Option<Scores> {
        self.content.full_supervision
    }

    pub fn set_full(&mut self, scores: Scores) -> Result<(), Error> {
        self.content.full_supervision = Some(scores);
        self.save()
    }

    pub fn find(&self, (strategy, run): (Strategy, usize)) -> Option<&Curve> {
        let curves = &self.content.curves;
        curves
            .iter()
            .find(|curve| curve.strategy == strategy && curve.run == run)
    }

    pub fn add(&mut self, curve: Curve) -> Result<(), Error> {
        self.content.curves.push(curve);
        self.save()
    }

    fn save(&self) -> Result<(), Error> {
        let Some(path) = &self.path else { return Ok(()) };
        atomic_write(path, |file| {
            serde_json::to_writer(&mut *file, &self.content)?;
            file.write_all(b"\n")
        })?;
        Ok(())
    }
}

/// What a file holds; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<(PathBuf, Content)>, Error> {
    let state = |problem: String| Error::State {
        path: path.to_owned(),
        problem,
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(state(format!("cannot read: {error}"))),
    };
    let content = serde_json::from_slice(&bytes).map_err(|error| {
        state(format!(
            "this is not the state of a simulation ({error}). Remove it to begin anew, or name another file"
        ))
    })?;
    Ok(Some((path.to_owned(), content)))
}
