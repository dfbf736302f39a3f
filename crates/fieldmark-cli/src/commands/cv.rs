//! `fieldmark cv`: how well a config does on data that it was not trained on.

mod compare;
mod page;
pub(super) mod results;

use crate::console::Console;
use crate::documents;
use crate::failure::Failure;
use crate::inference::{tell_inference, tell_unanswered};
use crate::interrupt;
use crate::options::machine::Threads;
use crate::options::significance::TestOptions;
use crate::paths::{Files, check_writable};
use compare::Recorded;
use fieldmark::assess::Pair;
use fieldmark::config::Config;
use fieldmark::eval::{Groups, Split};
use fieldmark::text::document::Document;
use fieldmark::text::formats::Notices;
use fieldmark::{
    AnyPipeline, Flow, GraphTest, Observer, Progress, RunOptions, Scores, check_config, check_spans,
    train_config,
};
use indicatif::{ProgressBar, ProgressStyle};
use page::Tested;
use results::{Design, JOINT, Measured, ShareResult, measured, measured_graph, rows, table};
use std::path::{Path, PathBuf};

/// Train and test a config on parts of its training data
///
/// Every document is tested by a model that was not trained on it: by k-fold cross-validation, leaving one out, or
/// by bootstrap (train on as many documents, drawn with replacement, test on those that were not drawn). Lists from
/// the training data are made anew for each part.
///
/// With --held-out there is one part: data.test.
///
/// Prints mean, standard deviation and 95 % interval of precision, recall and F1 of spans, or of the accuracy of
/// labels; of graphs those of every layer, of the spans of all layers after post-processing, and the share of tokens that are
/// right in all layers. With --curve, the same for models that were trained on a share of the documents.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The config
    #[arg(value_name = "CONFIG")]
    config: PathBuf,

    /// Set a key of the config, as section.key=value; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,

    /// Number of folds
    #[arg(short, long, value_name = "K", default_value_t = 10, conflicts_with_all = ["leave_one_out", "bootstrap"])]
    folds: usize,

    /// A fold for every document
    #[arg(long, conflicts_with = "bootstrap")]
    leave_one_out: bool,

    /// Bootstrap with so many replicates, usually 30 or 50
    #[arg(long, value_name = "B")]
    bootstrap: Option<usize>,

    /// Train on all of data.train and test on data.test instead
    #[arg(long, conflicts_with_all = ["folds", "leave_one_out", "bootstrap"])]
    held_out: bool,

    /// Decides which documents are together
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Also train on a tenth, a fifth, two fifths, … of the documents: a learning curve
    #[arg(long)]
    curve: bool,

    #[command(flatten)]
    threads: Threads,

    /// Compare with another config: a file that `fieldmark cv OTHER --json` wrote
    ///
    /// If both have the same parts of the same documents, their scores are compared part by part.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    #[command(flatten)]
    tests: TestOptions,

    /// Write a page with intervals, the learning curve of --curve, confusion, calibration and the worst errors
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark init chunking --output cv.toml
  fieldmark cv cv.toml --folds 3
  fieldmark cv cv.toml --folds 3 --curve --html cv.html
  fieldmark cv cv.toml --bootstrap 5 -o training.c2=1
  fieldmark cv cv.toml --folds 3 --json > first.json
  fieldmark cv cv.toml --folds 3 -o training.c2=1 --against first.json
  fieldmark cv cv.toml --folds 4 --against first.json --test welch --tails 1
  fieldmark cv cv.toml --held-out -o 'data.test=[\"test.txt\"]'";

/// Shares of the documents for a learning curve.
const SHARES: [f64; 5] = [0.1, 0.2, 0.4, 0.6, 0.8];

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let config = super::train::config::read(&self.config, &self.overrides)?;
        let folder = super::train::config::folder(&self.config);
        self.html.as_deref().map(check_writable).transpose()?;
        Files::default()
            .reads("the config", [&self.config])
            .reads(
                "a file that the config names",
                super::train::config::files(&config, folder)?,
            )
            .reads("--against", &self.against)
            .writes("--html", &self.html)
            .check()?;
        check_config(&config, folder).map_err(super::train::config::failure)?;
        let other = self.against.as_deref().map(Recorded::read).transpose()?;
        self.threads.start()?;
        interrupt::listen()?;
        let (all, splits) = self.documents_and_splits(&config, folder, console)?;
        let design = Design::new(self.design(), self.seed, &all);
        let measure = match (&config.graph, &config.labels.column) {
            (Some(_), _) => JOINT,
            (None, Some(_)) => "accuracy",
            (None, None) => "F1",
        };
        let against = other
            .as_ref()
            .map(|other| other.pair_with(&design, measure, &self.tests));
        let against = against.transpose()?;
        check_spans(&config, &all)?;
        let shares: Vec<f64> = if self.curve {
            SHARES.iter().copied().chain([1.0]).collect()
        } else {
            vec![1.0]
        };
        let mut results = Vec::new();
        let mut tested = Tested::default();
        let bar = bar(console, shares.len() * splits.len());
        for &share in &shares {
            let mut scores = Vec::new();
            let mut documents = 0;
            for split in &splits {
                let train = chosen(&all, split, share);
                documents += train.len();
                let test: Vec<Document> = split.test.iter().map(|&index| all[index].clone()).collect();
                let mut watch = Watch { stopped: false };
                let options = RunOptions {
                    // Some parts of few documents have nothing to learn.
                    may_lack_spans: true,
                    ..RunOptions::default()
                };
                let trained = train_config(&config, folder, &train, &[], &options, &mut watch)
                    .map_err(super::train::config::failure)?;
                if watch.stopped {
                    return Err(Failure::user("stopped before all parts were tested"));
                }
                // Errors are shown of models that were trained on all that they may see.
                let keep = self.html.is_some() && share == 1.0;
                scores.push(test_part(&trained.pipeline, &test, keep, &mut tested)?);
                bar.inc(1);
            }
            let measures = rows(&scores, self.bootstrap.is_some())?;
            results.push(ShareResult {
                share,
                documents: documents as f64 / splits.len().max(1) as f64,
                splits: scores.len(),
                design: design.clone(),
                measures,
                difference: None,
            });
        }
        bar.finish_and_clear();
        tell_inference(&tested.inference, console);
        tell_unanswered(&tested.inference, console);
        if let (Some(against), Some(last)) = (&against, results.last_mut()) {
            last.difference = Some(against.difference(last, self.tests.tail(), self.seed)?);
        }
        if let Some(html) = &self.html {
            let lead = format!("{}, {}, {} documents.", config.name, self.design(), all.len());
            super::eval::write_page(html, &lead, &page::sections(&results, &tested)?, console)?;
        }
        if self.json {
            return console.print_json(&results);
        }
        console.print(&table(&results))
    }

    /// How the parts were made.
    fn design(&self) -> String {
        match self.bootstrap {
            _ if self.held_out => "tested on held-out documents".to_owned(),
            Some(replicates) => format!("bootstrap with {replicates} replicates"),
            None if self.leave_one_out => "leaving one out".to_owned(),
            None => format!("{}-fold cross-validation", self.folds),
        }
    }

    fn documents_and_splits(
        &self,
        config: &Config,
        folder: &Path,
        console: &Console,
    ) -> Result<(Vec<Document>, Vec<Split>), Failure> {
        let mut notices = Notices::new();
        documents::tell_mentions(&config.data.train, folder, &config.data.read, console);
        let mut all = documents::read_all(&config.data.train, folder, &config.data.read, &mut notices)?;
        let train = all.len();
        if self.held_out {
            let test = documents::read_all(&config.data.test, folder, &config.data.read, &mut notices)?;
            all.extend(test);
        }
        documents::tell(&notices, console);
        let splits = match train {
            train if self.held_out && train < all.len() => {
                vec![Split {
                    train: (0..train).collect(),
                    test: (train..all.len()).collect(),
                }]
            }
            _ if self.held_out => return Err(Failure::user("data.test names no file with documents")),
            train => self.splits(train)?,
        };
        Ok((all, splits))
    }

    fn splits(&self, documents: usize) -> Result<Vec<Split>, Failure> {
        let cut = self.bootstrap.is_none() && !self.leave_one_out;
        if cut && self.folds > documents && documents > 1 {
            let folds = self.folds;
            return Err(Failure::user(format_args!(
                "--folds {folds}: there are only {documents} documents, and each fold needs one. Use --leave-one-out, or at \
                 most --folds {documents}"
            )));
        }
        let groups = Groups::single(documents);
        let splits = if let Some(replicates) = self.bootstrap {
            groups
                .bootstrap(replicates, self.seed)
                .map(|splits| splits.splits().collect())
        } else if self.leave_one_out {
            groups.leave_one_out().map(|folds| folds.splits().collect())
        } else {
            groups
                .k_fold(self.folds, self.seed)
                .map(|folds| folds.splits().collect())
        };
        splits.map_err(|error| match documents {
            1 => Failure::user("there is one document, and with it nothing to train on while it is tested"),
            _ => Failure::user(format_args!("{error}; there are {documents} documents")),
        })
    }
}

/// A share of the documents to train on; in rising order, so that they come from everywhere.
fn chosen(all: &[Document], split: &Split, share: f64) -> Vec<Document> {
    let kept = ((split.train.len() as f64 * share).ceil() as usize).max(1);
    let step = split.train.len() as f64 / kept as f64;
    let chosen = (0..kept).map(|index| split.train[(index as f64 * step) as usize]);
    chosen.map(|index| all[index].clone()).collect()
}

/// Tests a model, and keeps what it found if that is wanted.
fn test_part(
    pipeline: &AnyPipeline,
    test: &[Document],
    keep: bool,
    tested: &mut Tested,
) -> Result<Vec<Measured>, Failure> {
    let pipeline = match pipeline {
        AnyPipeline::Chain(pipeline) => pipeline,
        AnyPipeline::Graph(pipeline) => {
            if !keep {
                let (scores, report) = pipeline.score_and_report(test)?;
                tested.inference.extend(report);
                return Ok(measured_graph(&scores));
            }
            let GraphTest {
                scores,
                pairs,
                labels,
                report,
                ..
            } = pipeline.test(test)?;
            tested.inference.extend(report);
            tested.pairs.extend(pairs);
            for (layer, labels) in labels {
                tested.add_labels(Some(layer), labels)?;
            }
            return Ok(measured_graph(&scores));
        }
    };
    let labels = pipeline.config().labels.column.is_some();
    if !keep {
        return Ok(measured(&pipeline.score(test)?, labels));
    }
    if labels {
        let labels = pipeline.test_labels(test)?;
        let scores = Scores::of_labels(&labels);
        tested.add_labels(None, labels)?;
        return Ok(measured(&scores, true));
    }
    let pairs: Vec<Pair> = pipeline.compare(test)?;
    let scores = Scores::of(&pairs);
    tested.pairs.extend(pairs);
    Ok(measured(&scores, labels))
}

/// Stops when the user wants it.
struct Watch {
    stopped: bool,
}

impl Observer for Watch {
    fn iteration(&mut self, _: &Progress) -> Flow {
        self.stopped |= interrupt::asked();
        if self.stopped { Flow::Stop } else { Flow::Continue }
    }
}

fn bar(console: &Console, parts: usize) -> ProgressBar {
    if !console.watched() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} parts, {eta} left");
    ProgressBar::new(parts as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
