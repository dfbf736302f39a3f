//! `fieldmark simulate`: which strategy of active learning needs the fewest labels.

use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::InputOptions;
use crate::options::machine::{PrecisionName, Threads};
use crate::paths::{Files, check_writable, write_whole};
use crate::{documents, interrupt, progress};
use fieldmark::assess::write_page;
use fieldmark::check_config;
use fieldmark::config::TrainingConfig;
use fieldmark::core::Dataset;
use fieldmark::learn::simulate::{Event, Experiment, Observer, Results, SimulationOptions};
use fieldmark::learn::{LearnOptions, Strategy, Unit};
use fieldmark::simulation;
use fieldmark::text::formats::Notices;
use fieldmark::text::{Reader, Source, read_for_scoring};
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Compare strategies of active learning, with an annotator played from gold labels
///
/// Labels some random sequences of the data, trains on them, and then again and again asks a batch of questions, looks
/// the answers up in the data, trains from the weights of the last model, and scores on the test data. A question is
/// about one token: a sequence is learned from as soon as one of its tokens is labelled.
///
/// Strategies of tokens (Marcheggiani & Artières 2014): MTP, MTE and MTM look at the probabilities of a token's labels
/// (the best, their entropy, the margin between the two best), MVP, MVPE and MVM at the best sequences, ME and MED at
/// both; RAND asks at random. LC and NSE ask for whole sequences, of the least probable labels or of the highest
/// entropy.
///
/// Prints a table, the best strategy first: mean token F1 over the whole curve, token F1 at its end with the
/// standard deviation over the runs, the largest fall from one point to the next, and how many labels it takes to
/// reach 95 % and 99 % of what a model with all labels reaches. Token F1 counts tokens of all types but O.
///
/// Data are attribute files or column files, as `fieldmark train` reads them, or a config that names them in data.train
/// and data.test. Every label of the data has to be known.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub struct Arguments {
    /// Labelled data to ask about, or a config (.toml) that names them
    #[arg(value_name = "DATA")]
    data: PathBuf,

    /// Labelled data to score on
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,

    /// Set a key of the config, as section.key=value; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,

    #[command(flatten)]
    study: StudyOptions,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    shape: super::train::shape::ShapeOptions,

    #[command(flatten)]
    training: LearningOptions,

    #[command(flatten)]
    run: RunOptions,
}

/// What is simulated.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Simulation options")]
struct StudyOptions {
    /// Strategies, separated by commas
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "MTP,MTE,MTM,MVP,MVPE,MVM,ME,MED,RAND"
    )]
    strategies: Vec<Strategy>,

    /// How much is labelled at each question: token, three-tokens, span or sequence
    ///
    /// The token that was chosen; with the one before and the one after it; with the whole span that it is in; or the
    /// whole sequence.
    #[arg(long, value_name = "UNIT", default_value_t)]
    unit: Unit,

    /// Random sequences with so many tokens are labelled at the start
    #[arg(long, value_name = "N", default_value_t = 100)]
    initial: usize,

    /// Questions between two trainings; where whole sequences are labelled, tokens
    #[arg(long, value_name = "N", default_value_t = 50)]
    batch: usize,

    /// Number of batches
    #[arg(long, value_name = "N", default_value_t = 40)]
    iterations: usize,

    /// Number of runs, each with other random sequences at the start
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,

    /// Decides what is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Ask no question that shares this part of its observations with another of the batch, from 0 to 1
    #[arg(long, value_name = "X")]
    similarity: Option<f64>,

    /// Number of best sequences whose entropy NSE takes
    #[arg(long, value_name = "N", default_value_t = 10)]
    n_best: usize,

    /// Train every model from nothing instead of from the weights of the last one
    #[arg(long)]
    cold: bool,
}

/// How models are trained. A config has keys for the same.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Training options")]
struct LearningOptions {
    /// Coefficient of the L1 norm [default: 0]
    #[arg(long, value_name = "X")]
    c1: Option<f64>,

    /// Coefficient of the squared L2 norm [default: 0.1]
    #[arg(long, value_name = "X")]
    c2: Option<f64>,

    /// Most iterations of a training
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_iterations: Option<u64>,

    /// Trained when the loss fell by less than this, relative, over --period iterations [default: 1e-3]
    #[arg(long, value_name = "X")]
    delta: Option<f64>,

    /// Number of iterations over which --delta is tested [default: 5]
    #[arg(long, value_name = "N")]
    period: Option<usize>,
}

/// How it is run, and what is written.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Run options")]
struct RunOptions {
    #[command(flatten)]
    threads: Threads,

    /// Precision of sums in training
    #[arg(long, value_enum, default_value_t, value_name = "TYPE")]
    precision: PrecisionName,

    /// Keep learning curves that are complete in this file, and go on from it if it is there
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Write every point of every curve to this file, as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Write a page with learning curves and what strategies choose
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark simulate train.txt --test test.txt --template template.txt \\
      --initial 10 --batch 5 --iterations 3 --runs 2 --html curves.html

  Some strategies, in a run that can be killed and goes on:
      fieldmark simulate train.crfsuite --test test.crfsuite --strategies MTM,LC,RAND \\
          --initial 10 --batch 5 --iterations 3 --state curves.json --csv curves.csv

  With a config:
      fieldmark init chunking --output asked.toml
      fieldmark simulate asked.toml -o 'data.test=[\"test.txt\"]' --batch 5 --iterations 2 --runs 1";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        self.check_files()?;
        self.run.threads.start()?;
        interrupt::listen()?;
        let (pool, test, learning) = if super::train::config::is_config(&self.data) {
            self.read_config(console)?
        } else {
            self.read_files(console)?
        };
        console.note(&format!(
            "{} sequences with {} tokens to ask about, {} with {} to score on",
            pool.len(),
            pool.positions(),
            test.len(),
            test.positions()
        ));
        let experiment =
            Experiment::new(pool, test, self.options(learning)).map_err(fieldmark::Error::from)?;
        let mut watcher = Watcher::new(console, &self.study);
        let results = experiment.run(self.run.state.as_deref(), &mut watcher);
        watcher.bar.finish_and_clear();
        self.finish(&results.map_err(fieldmark::Error::from)?, console)
    }

    fn options(&self, learning: LearnOptions) -> SimulationOptions {
        let study = &self.study;
        SimulationOptions {
            strategies: study.strategies.clone(),
            unit: study.unit,
            initial_tokens: study.initial,
            batch: study.batch,
            iterations: study.iterations,
            runs: study.runs,
            seed: study.seed,
            similarity: study.similarity,
            n_best: study.n_best,
            learning: LearnOptions {
                warm: !study.cold,
                single_precision: self.run.precision == PrecisionName::F32,
                ..learning
            },
        }
    }

    fn check_files(&self) -> Result<(), Failure> {
        let written = [&self.run.state, &self.run.csv, &self.run.html];
        for file in written.into_iter().flatten() {
            check_writable(file)?;
        }
        Files::default()
            .reads("the data", [&self.data])
            .reads("--test", &self.test)
            .reads("--template", self.input.template_file())
            .writes("--state", &self.run.state)
            .writes("--csv", &self.run.csv)
            .writes("--html", &self.run.html)
            .check()
    }

    fn read_files(&self, console: &Console) -> Result<(Dataset, Dataset, LearnOptions), Failure> {
        if let Some(text) = self.overrides.first() {
            return Err(Failure::user(format_args!(
                "-o {text} changes a config, but {} is none: its name does not end with .toml",
                self.data.display()
            )));
        }
        let Some(test) = &self.test else {
            return Err(Failure::user(
                "--test is missing: name a file with labelled data to score on",
            ));
        };
        let (mut input, template) = self.input.resolve(&self.data)?;
        input.step_observations = self.shape.step_observations();
        let structure = self.shape.structure(template.as_ref(), console)?;
        let learning = simulation::learn_options(structure, &self.training())?;
        let reader = Reader::open(&Source::from_argument(&self.data), &input.format()?)?;
        input.observed_columns = reader.parser().observed_columns();
        let mut pool = reader.read_training()?;
        let source = Source::from_argument(test);
        let (mut test, unseen) =
            read_for_scoring(&source, &input.format()?, &pool.labels, &pool.observations)?;
        super::tag::warn_of_unseen(&unseen, console);
        if let Some(end) = input.step_observations {
            pool.observe_steps(end);
            test.observe_steps(end);
        }
        Ok((pool, test, learning))
    }

    fn read_config(&self, console: &Console) -> Result<(Dataset, Dataset, LearnOptions), Failure> {
        self.refuse_what_the_config_says()?;
        let name = self.data.display();
        let config = super::train::config::read(&self.data, &self.overrides)?;
        let folder = super::train::config::folder(&self.data);
        check_config(&config, folder).map_err(super::train::config::failure)?;
        for (key, files) in [
            ("data.train", &config.data.train),
            ("data.test", &config.data.test),
        ] {
            if files.is_empty() {
                return Err(Failure::user(format_args!(
                    "{name}: {key} names no file. Add one, or give it with -o '{key}=[\"documents.tsv\"]'"
                )));
            }
        }
        let learning = config
            .model
            .structure()
            .and_then(|structure| simulation::learn_options(structure, &config.training))
            .map_err(super::train::config::failure)?;
        let mut notices = Notices::new();
        let train = documents::read_all(&config.data.train, folder, &config.data.read, &mut notices)?;
        let test = documents::read_all(&config.data.test, folder, &config.data.read, &mut notices)?;
        documents::tell(&notices, console);
        let data = simulation::simulation_data(&config, folder, &train, &test)
            .map_err(super::train::config::failure)?;
        documents::tell(&data.notices, console);
        Ok((data.pool, data.test, learning))
    }

    /// A config says everything about data, model and training.
    fn refuse_what_the_config_says(&self) -> Result<(), Failure> {
        let training = &self.training;
        let own = [
            ("test", self.test.is_some()),
            ("c1", training.c1.is_some()),
            ("c2", training.c2.is_some()),
            ("max-iterations", training.max_iterations.is_some()),
            ("delta", training.delta.is_some()),
            ("period", training.period.is_some()),
        ];
        let given = self
            .input
            .given()
            .into_iter()
            .chain(self.shape.given(None))
            .chain(own);
        let mut given = given.filter(|(_, given)| *given).map(|(name, _)| name);
        match given.next() {
            Some(name) => Err(Failure::user(format_args!(
                "--{name} is for data without a config: set its key in the config, or on the command line with -o"
            ))),
            None => Ok(()),
        }
    }

    fn training(&self) -> TrainingConfig {
        let given = &self.training;
        TrainingConfig {
            c1: given.c1,
            c2: given.c2,
            max_iterations: given.max_iterations,
            delta: given.delta,
            period: given.period,
            ..TrainingConfig::default()
        }
    }

    fn finish(&self, results: &Results, console: &Console) -> Result<(), Failure> {
        let mut csv = Vec::new();
        results.write_csv(&mut csv)?;
        let pages = [
            (&self.run.csv, String::from_utf8_lossy(&csv).into_owned()),
            (&self.run.html, self.page(results)?),
        ];
        for (file, text) in pages {
            if let Some(file) = file {
                write_whole(file, &text)?;
                console.note(&format!("wrote {}", file.display()));
            }
        }
        if self.run.json {
            return console.print_json(results);
        }
        console.print(&simulation::table(results)?)
    }

    fn page(&self, results: &Results) -> Result<String, Failure> {
        let name = self.data.file_name().unwrap_or_default().to_string_lossy();
        let lead = format!("Active learning on {name}, with an annotator played from gold labels.");
        let sections = simulation::sections(results)?;
        write_page("How many labels are enough?", &lead, &sections).map_err(Failure::ours)
    }
}

/// Shows how it goes.
struct Watcher<'a> {
    console: &'a Console,
    bar: ProgressBar,
    /// Points of a curve.
    points: u64,
}

impl<'a> Watcher<'a> {
    fn new(console: &'a Console, study: &StudyOptions) -> Self {
        let points = study.iterations as u64 + 1;
        let curves = (study.strategies.len() * study.runs) as u64;
        let bar = match console.watched() {
            true => progress::bar(Some(points * curves)),
            false => ProgressBar::hidden(),
        };
        Self { console, bar, points }
    }

    fn say(&self, text: String) {
        if self.bar.is_hidden() {
            self.console.note(&text);
        } else {
            self.bar.println(text);
        }
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::Started { finished: 0, .. } => {}
            Event::Started { finished, all } => {
                self.bar.inc(*finished as u64 * self.points);
                self.say(format!("{finished} of {all} curves were complete already"));
            }
            Event::FullSupervision(scores) => {
                self.say(format!(
                    "with all labels: token F1 {:.2}",
                    100.0 * scores.token_f1
                ));
            }
            Event::Point { strategy, run, point } => {
                self.bar.inc(1);
                self.bar.set_message(format!(
                    "{strategy} run {}: {} labels, token F1 {:.2}",
                    run + 1,
                    point.labelled_tokens,
                    100.0 * point.scores.token_f1
                ));
            }
            Event::Finished {
                strategy,
                run,
                finished,
                all,
            } => self.say(format!("{strategy} run {}: done ({finished} of {all})", run + 1)),
        }
        if interrupt::asked() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
