//! `fieldmark train CONFIG`: from a config to a pipeline.

use super::Arguments;
use crate::console::Console;
use crate::failure::Failure;
use crate::paths::check_writable;
use crate::progress::{Event, Watcher};
use crate::{documents, interrupt, memory};
use fieldmark::config::{Config, TrainingConfig};
use fieldmark::text::formats::Notices;
use fieldmark::{Stop, token_mismatch, train_pipeline};
use std::path::Path;

/// Whether a file is a config.
pub fn is_config(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Reads a config, with the overrides of the command line.
pub fn read(path: &Path, overrides: &[String]) -> Result<Config, Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::user(format_args!("{name}: cannot read: {error}")))?;
    let separator = |placed: bool| if placed { ":" } else { ": " };
    Config::parse(&text, overrides)
        .map_err(|error| Failure::user(format_args!("{name}{}{error}", separator(error.place.is_some()))))
}

/// The folder that paths in a config are relative to.
pub fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

impl Arguments {
    /// Trains with a config.
    pub(super) fn run_config(&self, console: &Console) -> Result<(), Failure> {
        self.refuse_what_the_config_says()?;
        let config = read(&self.data, &self.overrides)?;
        let folder = folder(&self.data);
        check_writable(&self.model)?;
        if config.data.train.is_empty() {
            let name = self.data.display();
            return Err(Failure::user(format_args!(
                "{name}: data.train names no file. Add one, or give it with -o 'data.train=[\"train.tsv\"]'"
            )));
        }
        self.run.threads.start()?;
        interrupt::listen()?;
        let mut notices = Notices::new();
        let train = documents::read_all(&config.data.train, folder, &config.data.read, &mut notices)?;
        let dev = documents::read_all(&config.data.dev, folder, &config.data.read, &mut notices)?;
        console.note(&format!(
            "read {} documents to learn from, {} to watch",
            train.len(),
            dev.len()
        ));
        documents::tell(&notices, console);
        if let Some(mismatch) = token_mismatch(&config.text, &train) {
            console.warn(&mismatch.to_string());
        }

        let most = config.training.algorithm(&[])?.max_iterations();
        let mut watcher = Watcher::new(console, self.run.json, most);
        let trained = train_pipeline(&config, folder, &train, &dev, &mut watcher);
        watcher.finish();
        let trained = trained?;
        documents::tell(&trained.notices, console);
        trained.pipeline.save(&self.model)?;
        let bytes = std::fs::metadata(&self.model).map_or(0, |file| file.len());
        let name = self.model.display().to_string();
        let active = trained.pipeline.chain.active();
        let (stop, best) = (trained.run.stop, trained.run.best);
        watcher.event(&Event::End {
            stop: stop.to_string(),
            best_iteration: best,
            model: &name,
            model_bytes: bytes,
            active,
        });
        let best = best
            .map(|best| format!("; iteration {best} was the best"))
            .unwrap_or_default();
        console.note(&format!(
            "{stop}{best}\nwrote {name}: {active} weights, {}",
            memory::shown(bytes)
        ));
        if stop == Stop::Asked {
            console.note("training was stopped early: the model has the weights of the last iteration");
        }
        watcher.written()
    }

    /// A config says everything about model and training: options beside it would contradict it.
    fn refuse_what_the_config_says(&self) -> Result<(), Failure> {
        let given = self.given();
        let mut strange = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
        let option = match strange.next() {
            Some(name) => Some(name),
            None if self.algorithm != TrainingConfig::default() => Some("algorithm and its options"),
            None => None,
        };
        match option {
            None => Ok(()),
            Some(name) => Err(Failure::user(format_args!(
                "--{name} is for data without a config; change the config, or override it with -o section.key=value"
            ))),
        }
    }
}
