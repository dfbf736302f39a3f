//! Options for saving the state of training, and for taking it up again.

use crate::console::Console;
use crate::failure::Failure;
use fieldmark::{Algorithm, CheckpointOptions, Interval, is_checkpoint};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// When and where the state of training is saved.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Checkpoint options")]
pub struct Checkpoints {
    /// Save the state of training this often: `10` iterations, `30s`, `5m`, `1h` or `never`
    ///
    /// The file is replaced as a whole, so a kill or a power cut loses the work since the last checkpoint
    /// and nothing else. It is deleted when training is done.
    #[arg(long, value_name = "INTERVAL", default_value = "5m")]
    checkpoint_every: Every,

    /// The checkpoint file [default: the name of the model and `.checkpoint`]
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Go on from the checkpoint, if there is one
    ///
    /// The result is the same, to the last bit, as if the run had never stopped.
    #[arg(long)]
    resume: bool,
}

/// What `5m`, the default of `--checkpoint-every`, means.
const DEFAULT: Interval = Interval::Time(Duration::from_secs(300));

/// An interval, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Every(Option<Interval>);

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Every(None));
        }
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let number: u64 = digits.parse().ok().filter(|&number| number > 0).ok_or(EXPECTED)?;
        let seconds = |unit: u64| {
            number
                .checked_mul(unit)
                .map(|n| Interval::Time(Duration::from_secs(n)))
        };
        let interval = match &text[digits.len()..] {
            "" => Some(Interval::Iterations(number)),
            "s" => seconds(1),
            "m" => seconds(60),
            "h" => seconds(3600),
            _ => None,
        };
        Ok(Every(Some(interval.ok_or(EXPECTED)?)))
    }
}

const EXPECTED: &str =
    "expected a number of iterations such as `10`, a time such as `30s`, `5m` or `1h`, or `never`";

impl Checkpoints {
    /// The options that were given and ask for something, by name.
    pub fn given(&self) -> [(&'static str, bool); 3] {
        let Every(every) = self.checkpoint_every;
        [
            ("checkpoint-every", every.is_some() && every != Some(DEFAULT)),
            ("checkpoint", self.checkpoint.is_some()),
            ("resume", self.resume),
        ]
    }

    fn path(&self, model: &Path) -> PathBuf {
        self.checkpoint.clone().unwrap_or_else(|| {
            let mut name = model.as_os_str().to_owned();
            name.push(".checkpoint");
            name.into()
        })
    }

    /// The options for training; counting needs none.
    pub fn options(
        &self,
        model: &Path,
        algorithm: &Algorithm,
        console: &Console,
    ) -> Result<Option<CheckpointOptions>, Failure> {
        if matches!(algorithm, Algorithm::Generative(..)) {
            return Ok(None);
        }
        let Every(Some(every)) = self.checkpoint_every else {
            let needs = |name: &str| {
                let why = "needs checkpoints, but --checkpoint-every is never";
                Err(Failure::user(format_args!("--{name} {why}")))
            };
            return match (&self.checkpoint, self.resume) {
                (_, true) => needs("resume"),
                (Some(_), _) => needs("checkpoint"),
                (None, false) => Ok(None),
            };
        };
        let path = self.path(model);
        if path.exists() && !is_checkpoint(&path) && !self.resume {
            let advice =
                "this file is there already and is no checkpoint. Move it, or choose another --checkpoint";
            return Err(Failure::writing(&path, advice));
        }
        if path.exists() && !self.resume {
            set_aside(&path, console)?;
        }
        if self.resume && !path.exists() {
            console.note(&format!(
                "{}: no checkpoint yet, training starts from the beginning",
                path.display()
            ));
        }
        Ok(Some(CheckpointOptions {
            path,
            every,
            resume: self.resume,
        }))
    }

    /// The checkpoint file, when one may be written.
    pub fn file(&self, model: &Path) -> Option<PathBuf> {
        self.checkpoint_every.0.map(|_| self.path(model))
    }

    /// Removes the checkpoint of a run that is done.
    pub fn discard(&self, model: &Path) {
        // Usually there is none, because the run was short.
        if let Some(path) = self.file(model).filter(|path| is_checkpoint(path)) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A checkpoint that is not resumed belongs to a run that somebody may still want.
fn set_aside(path: &Path, console: &Console) -> Result<(), Failure> {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    std::fs::rename(path, &name).map_err(|error| Failure::writing(path, error))?;
    console.note(&format!(
        "{} is of an unfinished run, which --resume would have taken up; it is now {}",
        path.display(),
        Path::new(&name).display()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        let time = |seconds| Some(Interval::Time(Duration::from_secs(seconds)));
        for (text, interval) in [
            ("10", Some(Interval::Iterations(10))),
            ("30s", time(30)),
            ("5m", time(300)),
            ("1h", time(3600)),
            ("never", None),
        ] {
            assert_eq!(text.parse(), Ok(Every(interval)), "{text}");
        }
        for text in [
            "",
            "0",
            "s",
            "-5",
            "5 m",
            "5d",
            "99999999999999999999",
            "9999999999999999999h",
        ] {
            assert!(text.parse::<Every>().is_err(), "{text}");
        }
    }
}
