//! `fieldmark train CONFIG`: from a config to a pipeline.

use super::{Arguments, NOTHING_TAKEN_OVER, report};
use crate::console::Console;
use crate::failure::Failure;
use crate::paths::{Files, check_writable};
use crate::progress::{Event, Watcher};
use crate::{documents, interrupt, memory};
use fieldmark::config::{Config, TrainingConfig};
use fieldmark::core::container::Container;
use fieldmark::core::optimize::OptimizeError;
use fieldmark::text::formats::Notices;
use fieldmark::{Error, RunOptions, RunSummary, Stop, check_config, token_mismatch, train_config};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

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

/// The files and directories that are read for a config: those that it names, and those that come with them.
pub fn files(config: &Config, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut names = Vec::new();
    collect_names(&serde_json::to_value(config)?, &mut names);
    let mut files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    let data = &config.data;
    for documents in [&data.train, &data.dev, &data.test] {
        files.extend(documents::mention_files(documents, folder, &data.read));
    }
    files.retain(|file| file.exists());
    Ok(files)
}

/// The keys of a config that name files.
const PATHS: [&str; 8] = [
    "train",
    "dev",
    "test",
    "genes",
    "alternatives",
    "file",
    "files",
    "concepts",
];

/// The keys of which all keys below are names that the user made up.
const NAMES: [&str; 2] = ["names", "rename"];

fn collect_names(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect_names(value, names)),
        Value::Object(values) => {
            for (key, value) in values.iter().filter(|(key, _)| !NAMES.contains(&key.as_str())) {
                match value {
                    Value::String(name) if PATHS.contains(&key.as_str()) => names.push(name.clone()),
                    Value::Array(values) if PATHS.contains(&key.as_str()) => {
                        let given = values.iter().filter_map(Value::as_str);
                        names.extend(given.map(str::to_owned));
                    }
                    value => collect_names(value, names),
                }
            }
        }
        _ => {}
    }
}

impl Arguments {
    /// Trains with a config.
    pub(super) fn run_config(&self, console: &Console) -> Result<(), Failure> {
        let config = read(&self.data, &self.overrides)?;
        self.refuse_what_the_config_says(config.graph.is_some())?;
        let folder = folder(&self.data);
        check_writable(&self.model)?;
        self.run.report.as_deref().map(check_writable).transpose()?;
        let checkpoint = self.checkpoints.file(&self.model);
        checkpoint.as_deref().map(check_writable).transpose()?;
        Files::default()
            .reads("the config", [&self.data])
            .reads("a file that the config names", files(&config, folder)?)
            .reads("--warm-start", &self.run.warm_start)
            .writes("--model", [&self.model])
            .writes("--report", &self.run.report)
            .writes("--checkpoint", &checkpoint)
            .check()?;
        if self.run.patience.is_some() && config.data.dev.is_empty() {
            return Err(Failure::user(
                "--patience is about the score on development data, and data.dev names no file",
            ));
        }
        if config.data.train.is_empty() {
            let name = self.data.display();
            return Err(Failure::user(format_args!(
                "{name}: data.train names no file. Add one, or give it with -o 'data.train=[\"train.tsv\"]'"
            )));
        }
        check_config(&config, folder).map_err(failure)?;
        let threads = self.run.threads.start()?;
        interrupt::listen()?;
        let started = Instant::now();
        let mut notices = Notices::new();
        documents::tell_mentions(&config.data.train, folder, &config.data.read, console);
        let train = documents::read_all(&config.data.train, folder, &config.data.read, &mut notices)?;
        let dev = documents::read_all(&config.data.dev, folder, &config.data.read, &mut notices)?;
        let read_seconds = started.elapsed().as_secs_f64();
        console.note(&format!(
            "read {} documents to learn from, {} to watch",
            train.len(),
            dev.len()
        ));
        documents::tell(&notices, console);
        if let Some(mismatch) = token_mismatch(&config.text, &train) {
            console.warn(&mismatch.to_string());
        }

        let warm = self.run.warm_start.as_ref().map(Container::open).transpose();
        let warm = warm.map_err(Error::from)?.map(Arc::new);
        let algorithm = config.training.algorithm(&[]).map_err(failure)?;
        let options = RunOptions {
            patience: self.run.patience,
            checkpoint: self.checkpoints.options(&self.model, &algorithm, console)?,
            warm_start: warm.as_ref(),
            ..RunOptions::default()
        };
        let most = config.max_iterations().map_err(failure)?;
        let mut watcher = Watcher::new(console, self.run.json, most);
        let trained = train_config(&config, folder, &train, &dev, &options, &mut watcher);
        watcher.finish();
        let trained = trained.map_err(failure)?;
        documents::tell(&trained.notices, console);
        let warm = watcher.prepared.and_then(|(prepared, _)| prepared.warm);
        warn_of_run(&trained.run, warm, &config, console);
        trained.pipeline.save(&self.model)?;
        if let Some(path) = &self.run.report {
            let size = report::Size::of_documents(&trained.run, read_seconds, threads);
            report::Run::of_config(&trained, warm).write(path, &size, &watcher)?;
        }
        let bytes = std::fs::metadata(&self.model).map_or(0, |file| file.len());
        let name = self.model.display().to_string();
        let active = trained.pipeline.active();
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
            console.note("the run can be taken up again with --resume");
        } else {
            self.checkpoints.discard(&self.model);
        }
        watcher.written()
    }

    /// A config says everything about data, model and training: options beside it would contradict it.
    fn refuse_what_the_config_says(&self, graph: bool) -> Result<(), Failure> {
        let given = self.input.given().into_iter().chain(self.given());
        let allowed =
            |name: &str| matches!(name, "warm-start" | "checkpoint" | "checkpoint-every" | "resume");
        let mut given = given
            .filter(|(name, given)| *given && !allowed(name))
            .map(|(name, _)| name);
        let (option, instead) = match given.next() {
            Some(name) if graph => (name.to_owned(), instead_in_graph(name)),
            Some(name) => (name.to_owned(), instead(name)),
            None => match changed_key(&self.algorithm) {
                Some(key) => (key.replace('_', "-"), set(&format!("training.{key}"))),
                None => return Ok(()),
            },
        };
        Err(Failure::user(format_args!(
            "--{option} is for data without a config: {instead}"
        )))
    }
}

/// Says so when training came to little.
fn warn_of_run(run: &RunSummary, warm: Option<usize>, config: &Config, console: &Console) {
    if warm == Some(0) {
        console.warn(NOTHING_TAKEN_OVER);
    }
    let last = run.iterations.last().and_then(|progress| progress.convergence);
    if let Some(last) = last.filter(|last| last.converged < last.answers) {
        let own = config
            .graph
            .as_ref()
            .and_then(|graph| graph.training_inference.as_ref());
        let engine = match own {
            Some(_) => "graph.training_inference",
            None => "graph.inference",
        };
        console.warn(&format!(
            "in the last iteration, inference stopped at its limit {} of {} times before it converged: the weights are not \
             quite those that fit best. Raise {engine}.iterations, add damping, or use another engine",
            last.answers - last.converged,
            last.answers
        ));
    }
}

fn set(key: &str) -> String {
    format!("set {key} in the config, or on the command line with -o {key}=...")
}

/// What does in a config what an option does without one.
fn instead(option: &str) -> String {
    match option {
        "format" => set("data.read.format"),
        "dev" => set("data.dev"),
        "template" => "a config lists its features, as [[features]] entries such as `kind = \"word\"`. `fieldmark init \
                       RECIPE` writes an example"
            .to_owned(),
        "separator" => "columns of documents may be separated by tabs, white space or commas, which is found out by itself. \
                        data.read.columns names them"
            .to_owned(),
        "skip-lines" => "the reader of documents knows lines that begin a document, such as -DOCSTART-. Others have to be \
                         taken out of the data"
            .to_owned(),
        "labels" => "labels of documents are plain names. data.read.labels says which columns hold them, and labels.column \
                     makes a model that labels every token"
            .to_owned(),
        "no-lower-orders" => set("model.lower_orders"),
        "all-possible-states" => set("model.states"),
        "all-possible-transitions" => set("model.transitions"),
        "step-observations" => "models of a config have no observations on steps between labels".to_owned(),
        "precision" | "log-space" => "with a config, training always computes with 64 bits in linear space".to_owned(),
        shape => set(&format!("model.{}", shape.replace('-', "_"))),
    }
}

/// What does in a graph what the shape does in a chain.
const WINDOW: &str = "what a graph joins is said in its section graph, by its kind and by templates. One over three neighbours \
                      in a layer L is [[graph.templates]] with relation = { window = { layers = [\"L\", \"L\", \"L\"], \
                      offsets = [-2, -1, 0] } }";

/// The same in a config with a section `graph`, which has no section `model`.
fn instead_in_graph(option: &str) -> String {
    match option {
        "min-freq" | "min-instances" => set(&format!("graph.{}", option.replace('-', "_"))),
        "order"
        | "states"
        | "transitions"
        | "all-possible-states"
        | "all-possible-transitions"
        | "label-bias"
        | "boundaries"
        | "no-lower-orders"
        | "unseen-transitions" => WINDOW.to_owned(),
        other => instead(other),
    }
}

/// The first option of the algorithm that is not as it is by default, by its key.
fn changed_key(algorithm: &TrainingConfig) -> Option<String> {
    let keys = |config: &TrainingConfig| serde_json::to_value(config).ok();
    let (given, defaults) = (keys(algorithm)?, keys(&TrainingConfig::default())?);
    let changed = given
        .as_object()?
        .iter()
        .find(|(key, value)| defaults.get(key) != Some(*value));
    changed.map(|(key, _)| key.clone())
}

/// An error of training, in the words of the config.
pub fn failure(error: Error) -> Failure {
    match error {
        Error::Optimize(OptimizeError::Option {
            name,
            value,
            expected,
        }) => Failure::user(format_args!("training.{name} is {value}, expected {expected}")),
        Error::Option(problem) => Failure::user(in_keys(&problem)),
        other => other.into(),
    }
}

/// A message about options of training, about keys instead.
fn in_keys(problem: &str) -> String {
    let key = |word: &str| match word.strip_prefix("--") {
        Some(option) => format!("training.{}", option.replace('-', "_")),
        None => word.to_owned(),
    };
    problem.split(' ').map(key).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_that_keys_of_files_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("texts")).unwrap();
        let read = [
            "a.in",
            "a.GENE.eval",
            "b.in",
            "names.txt",
            "words.txt",
            "other.fmk",
            "stop.txt",
            "ids.tsv",
        ];
        for name in read.iter().chain(&["gene", "GENE", "b.GENE.eval"]) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let config = Config::parse(
            r#"
            name = "gene"
            description = "gene"
            features = [
                { kind = "word", name = "gene" },
                { kind = "column", column = "gene" },
                { kind = "dictionary", name = "D", file = "names.txt" },
                { kind = "bag", concepts = "words.txt" },
                { kind = "model", name = "M", file = "other.fmk" },
            ]
            [data]
            train = ["a.in", "texts", "missing.txt"]
            test = ["b.in"]
            [labels]
            types = ["GENE"]
            [[postprocess]]
            kind = "stop-list"
            names = ["gene"]
            files = ["stop.txt"]
            [[identify]]
            kind = "dictionary"
            names = { file = ["GENE"] }
            files = ["ids.tsv"]
            "#,
            &[],
        )
        .unwrap();
        let mut found: Vec<String> = files(&config, folder.path())
            .unwrap()
            .iter()
            .map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string())
            .collect();
        found.sort();
        let mut expected: Vec<&str> = read.to_vec();
        expected.extend(["b.GENE.eval", "texts"]);
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
