//! `fieldmark train`: from data to a model file.

mod checkpoints;
pub mod config;
mod report;
pub mod shape;

use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::InputOptions;
use crate::options::machine::{Arithmetic, PrecisionName, Threads};
use crate::paths::{Files, check_writable};
use crate::progress::{Event, Watcher, decimal};
use crate::{interrupt, memory};
use fieldmark::chain::train::Arithmetic as Space;
use fieldmark::chain::{ForbiddenError, StructureError, StructureOptions};
use fieldmark::config::TrainingConfig;
use fieldmark::core::Dataset;
use fieldmark::core::optimize::Status;
use fieldmark::text::{Reader, Source, Template, read_for_scoring};
use fieldmark::{Error, InputFormat, InputKind, Model, Stop, TrainOptions, Trained, train};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Train a model
///
/// Reads labelled sequences and writes a model file. The defaults need no tuning: L-BFGS on the exact
/// likelihood with c2 = 1, until the loss no longer improves, on all cores. The same data and options give
/// the same weights to the last bit, whatever the number of threads.
///
/// Data are CRFsuite's attribute files or column files, plain, .gz or .zst. In column files the last column
/// is the label; `?` is an unknown label and `A|B` stands for A or B: training sums over what is possible.
///
/// Templates make observations of columns, as in CRF++: `U` and `B` lines with `%x[row,column]`, and Wapiti's `%X`,
/// `*`, `%t[row,column,"pattern"]` (does it match) and `%m[row,column,"pattern"]` (what matches). Patterns are
/// Wapiti's: `.`, `\d` `\a` `\w` `\l` `\u` `\p` `\s` and their opposites in upper case, `^`, `$`, `*` and `?`;
/// everything else, brackets and `+` too, stands for itself.
///
/// A config (see `fieldmark init`) says everything about a task in one file, from raw text to post-processing;
/// what it trains needs nothing else to mark new texts.
///
/// The regularised loss is -log-likelihood + c1·Σ|w| + c2·Σw².
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub struct Arguments {
    /// Training data, or a config (.toml) that names them; `-` is standard input
    #[arg(value_name = "DATA")]
    data: PathBuf,

    /// Model file to write
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,

    /// Set a key of the config, as section.key=value; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    shape: shape::ShapeOptions,

    #[command(flatten)]
    algorithm: TrainingConfig,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    checkpoints: checkpoints::Checkpoints,
}

/// How training is run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Run options")]
struct RunOptions {
    /// Development data, scored after each iteration; the best model is kept
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,

    /// Stop after this many iterations without a better score on the development data
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    patience: Option<u64>,

    /// Start from the weights of this model, which may have other labels and observations; it may be --model itself
    #[arg(long, value_name = "MODEL")]
    warm_start: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    arithmetic: Arithmetic,

    /// Write the figures of the run to this file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Print events as JSON, one per line, instead of progress; warnings are events, too
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  With a config, from a recipe:
      fieldmark init chunking --output chunking.toml
      fieldmark train chunking.toml --model chunks.fmk -o training.c2=1

  From a CRFsuite attribute file, as `crfsuite learn` would:
      fieldmark train --c2 1 --model chunker.fmk train.crfsuite

  From columns with a CRF++ template, sparse, stopping when a development set says so:
      fieldmark train --template template.txt --c1 0.1 --c2 0.1 \\
          --dev dev.txt --patience 5 --model chunker.fmk train.txt

  Interruptible: take up a run where it was stopped or killed:
      fieldmark train --checkpoint-every 10 --resume --model big.fmk train.crfsuite

  A baseline to compare with:
      fieldmark train --algorithm hmm --model hmm.fmk train.txt";

/// What a position takes in training at the very least, so that a file without blank lines, which is one endless
/// sequence, is refused before it fills the memory.
const POSITION_BYTES: u64 = 256;

/// The warning of a start that is none.
const NOTHING_TAKEN_OVER: &str = "the model to start from has no weight for any feature of the new one";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let console = &console.with_events(self.run.json);
        if config::is_config(&self.data) {
            return self.run_config(console);
        }
        if let Some(text) = self.overrides.first() {
            return Err(Failure::user(format_args!(
                "-o {text} changes a config, but {} is none: its name does not end with .toml",
                self.data.display()
            )));
        }
        if self.run.patience.is_some() && self.run.dev.is_none() {
            return Err(Failure::user(
                "--patience is about the score on development data: give them with --dev",
            ));
        }
        let (mut input, template) = self.input.resolve(&self.data)?;
        input.step_observations = self.shape.step_observations();
        let mut options = TrainOptions {
            algorithm: self.algorithm.algorithm(&self.given())?,
            structure: self.structure(template.as_ref(), console)?,
            precision: self.run.arithmetic.precision.into(),
            arithmetic: if self.run.arithmetic.log_space {
                Space::Log
            } else {
                Space::default()
            },
            patience: self.run.patience,
            checkpoint: None,
        };
        options.algorithm.check()?;
        self.check_files()?;
        options.checkpoint = self
            .checkpoints
            .options(&self.model, &options.algorithm, console)?;
        let warm = self
            .run
            .warm_start
            .as_ref()
            .map(|path| Model::open(path).map_err(Failure::from))
            .transpose()?;
        let threads = self.run.threads.start()?;
        interrupt::listen()?;

        let started = Instant::now();
        let data = self.read(&mut input)?;
        let size = report::Size::of(&data, started.elapsed().as_secs_f64(), threads);
        console.note(&size.to_string());
        warn_of_data(&data, &input, console);
        if let [label] = &data.labels.iter().collect::<Vec<_>>()[..] {
            console.warn(&format!(
                "every label is {label}, so there is nothing to learn; is the label where it should be?"
            ));
        }
        let dev = self
            .run
            .dev
            .as_deref()
            .map(|path| read_dev(path, &input, &data, console))
            .transpose()?;

        let mut watcher = Watcher::new(console, self.run.json, options.algorithm.max_iterations());
        watcher.event(&size.event());
        let warm = warm.as_ref().map(|model| &model.chain);
        let trained = train(data, dev.as_ref(), warm, &options, &mut watcher);
        watcher.finish();
        let trained = trained.map_err(|error| self.place(error, &input))?;
        self.finish(trained, input, &mut watcher, &size, console)?;
        watcher.written()
    }

    /// The options of the model and of the run that were given and would change something, by name.
    fn given(&self) -> Vec<(&'static str, bool)> {
        let mut given = self.shape.given(self.algorithm.counted_order());
        given.extend([
            ("dev", self.run.dev.is_some()),
            ("warm-start", self.run.warm_start.is_some()),
            ("precision", self.run.arithmetic.precision == PrecisionName::F32),
            ("log-space", self.run.arithmetic.log_space),
        ]);
        given.extend(self.checkpoints.given());
        given
    }

    /// The shape of the model; models that are counted have their own.
    fn structure(&self, template: Option<&Template>, console: &Console) -> Result<StructureOptions, Failure> {
        let ignored = match self.algorithm.counted_order() {
            None => return self.shape.structure(template, console),
            Some(0) => template.is_some_and(shape::has_steps),
            Some(_) => template.is_some_and(Template::has_step_observations),
        };
        if ignored {
            let name = self.algorithm.name();
            console.warn(&format!(
                "--algorithm {name} cannot use what the B lines of the template describe"
            ));
        }
        Ok(StructureOptions::default())
    }

    /// An error of training, with its place in the data where it has one.
    fn place(&self, error: Error, input: &InputFormat) -> Failure {
        let name = Source::from_argument(&self.data).name();
        match error {
            Error::Structure(StructureError::NoLabels) => Failure::user(format_args!(
                "{name}: every label is `?`, so there is nothing to learn from; label some positions"
            )),
            Error::Structure(
                StructureError::Forbidden(ForbiddenError::NoPath { first, .. })
                | StructureError::NegativeValue { first, .. },
            ) => {
                let line = self.line_of(first, input);
                let line = line.map(|line| format!(":{line}:1")).unwrap_or_default();
                Failure::user(format_args!("{name}{line}: {error}"))
            }
            Error::Structure(StructureError::Forbidden(_)) => Failure::user(format_args!("{name}: {error}")),
            other => other.into(),
        }
    }

    /// The first line of a sequence of the training data, counted from 1; `None` if they cannot be read again.
    fn line_of(&self, sequence: usize, input: &InputFormat) -> Option<u64> {
        let source = Source::from_argument(&self.data);
        if !source.is_complete() {
            return None;
        }
        let mut reader = Reader::open(&source, &input.format().ok()?).ok()?;
        let mut before = 0;
        while let Some(block) = reader.next_block().ok()? {
            let part = reader.parser().parse_part(block).ok()?;
            if sequence <= before + part.data.len() {
                let instance = part.data.instance(sequence - before - 1);
                return Some(part.line_number(instance.positions().start));
            }
            before += part.data.len();
        }
        None
    }

    /// Finds out before the work begins whether its results can be written, and that they replace no input.
    fn check_files(&self) -> Result<(), Failure> {
        check_writable(&self.model)?;
        self.run.report.as_deref().map(check_writable).transpose()?;
        let checkpoint = self.checkpoints.file(&self.model);
        checkpoint.as_deref().map(check_writable).transpose()?;
        Files::default()
            .reads("the training data", [&self.data])
            .reads("--dev", &self.run.dev)
            .reads("--template", self.input.template_file())
            .writes("--model", [&self.model])
            .writes("--report", &self.run.report)
            .writes("--checkpoint", &checkpoint)
            .check()
    }

    fn read(&self, input: &mut InputFormat) -> Result<Dataset, Failure> {
        let mut format = input.format()?;
        if let Some(memory) = memory::available() {
            format = format.memory_limit(memory, POSITION_BYTES);
        }
        let reader = Reader::open(&Source::from_argument(&self.data), &format)?;
        input.observed_columns = reader.parser().observed_columns();
        let mut data = reader.read_training()?;
        if let Some(end) = input.step_observations {
            data.observe_steps(end);
        }
        Ok(data)
    }

    fn finish(
        &self,
        trained: Trained,
        input: InputFormat,
        watcher: &mut Watcher<'_>,
        size: &report::Size,
        console: &Console,
    ) -> Result<(), Failure> {
        let stop = trained.stop;
        let best = trained.best;
        self.warn_of_failure(&trained, size, console);
        let resumed = watcher.prepared.and_then(|(prepared, _)| prepared.resumed);
        let last = trained
            .iterations
            .last()
            .map(|progress| progress.iteration.iteration);
        let idle = resumed.is_some() && resumed == last;
        let report = report::Run::of(&trained);
        let model = Model {
            chain: trained.model,
            input,
        };
        model.save(&self.model)?;
        if let Some(path) = &self.run.report {
            report.write(path, size, watcher)?;
        }
        let bytes = std::fs::metadata(&self.model).map_or(0, |file| file.len());
        let name = self.model.display().to_string();
        let active = model.chain.active();
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
        } else if idle && stop == Stop::Optimizer(Status::MaxIterations) {
            console.note("the checkpoint stays, since this run did nothing");
        } else {
            self.checkpoints.discard(&self.model);
        }
        Ok(())
    }
}

impl Arguments {
    /// Says so when training came to nothing.
    fn warn_of_failure(&self, trained: &Trained, size: &report::Size, console: &Console) {
        if trained.warm == Some(0) {
            console.warn(NOTHING_TAKEN_OVER);
        }
        let losses = trained.iterations.iter().map(|progress| progress.iteration.loss);
        let loss = losses.fold(f64::INFINITY, f64::min);
        if trained.model.labels().len() == 1 {
            // There is nothing to tell apart, as was said when the data were read.
        } else if trained.features == 0 {
            console.warn(
                "there is no feature, so the model cannot tell labels apart; lower --min-freq and --min-instances, or \
                 add observations",
            );
        } else if trained.stop == Stop::Optimizer(Status::Diverged) {
            console.warn("training diverged: choose smaller steps or stronger regularisation");
        } else if trained.model.active() == 0 {
            console.warn(
                "all weights are zero, so the model cannot tell labels apart; lower --c1 and --c2, or train longer",
            );
        } else if self.algorithm.minimises_likelihood() && loss.is_finite() && loss > size.blank_loss {
            let [loss, blank] = [loss, size.blank_loss].map(|loss| decimal(loss, 6));
            console.warn(&format!(
                "the loss is {loss}, more than the {blank} of a model without weights: training diverged; \
                 choose smaller steps or stronger regularisation"
            ));
        }
    }
}

/// Warns of data that were hardly meant so.
fn warn_of_data(data: &Dataset, input: &InputFormat, console: &Console) {
    if data.observations.is_empty() {
        console.warn(
            "there are no observations, so the model can only count labels; are they where they should be?",
        );
    }
    if matches!(input.kind, InputKind::Attributes)
        && let Some(label) = data.labels.iter().find(|label| label.contains(' '))
    {
        console.warn(&format!(
            "the label `{label}` holds a space; is there a tab missing after the label?"
        ));
    }
}

fn read_dev(path: &Path, input: &InputFormat, data: &Dataset, console: &Console) -> Result<Dataset, Failure> {
    let source = Source::from_argument(path);
    let (mut dev, unseen) = read_for_scoring(&source, &input.format()?, &data.labels, &data.observations)?;
    if let Some(end) = input.step_observations {
        dev.observe_steps(end);
    }
    super::tag::warn_of_unseen(&unseen, console);
    Ok(dev)
}
