//! `fieldmark cv`: how well a config does on data that it was not trained on.

use crate::console::Console;
use crate::documents;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::machine::Threads;
use fieldmark::eval::{Groups, Split, Summary};
use fieldmark::text::document::Document;
use fieldmark::text::formats::Notices;
use fieldmark::{Flow, Observer, Progress, Scores, train_pipeline};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Train and test a config on parts of its training data
///
/// Every document is tested by a model that was not trained on it: by k-fold cross-validation, leaving one out, or
/// by bootstrap (train on as many documents, drawn with replacement, test on those that were not drawn). Lists from
/// the training data are made anew for each part.
///
/// With --held-out there is one part: data.test.
///
/// Prints mean, standard deviation and 95 % interval of precision, recall and F1 of spans, or of the accuracy of
/// labels. With --curve, the same for models that were trained on a share of the documents.
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

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark init chunking --output cv.toml
  fieldmark cv cv.toml --folds 3
  fieldmark cv cv.toml --bootstrap 5 -o training.c2=1
  fieldmark cv cv.toml --held-out -o 'data.test=[\"test.txt\"]'";

/// Shares of the documents for a learning curve.
const SHARES: [f64; 5] = [0.1, 0.2, 0.4, 0.6, 0.8];

#[derive(Serialize)]
struct ShareResult {
    share: f64,
    splits: usize,
    measures: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    of: String,
    measure: &'static str,
    mean: f64,
    deviation: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let config = super::train::config::read(&self.config, &self.overrides)?;
        let folder = super::train::config::folder(&self.config);
        self.threads.start()?;
        interrupt::listen()?;
        let mut notices = Notices::new();
        let mut all = documents::read_all(&config.data.train, folder, &config.data.read, &mut notices)?;
        let train = all.len();
        if self.held_out {
            all.extend(documents::read_all(
                &config.data.test,
                folder,
                &config.data.read,
                &mut notices,
            )?);
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
        let shares: Vec<f64> = if self.curve {
            SHARES.iter().copied().chain([1.0]).collect()
        } else {
            vec![1.0]
        };
        let mut results = Vec::new();
        let bar = bar(console, shares.len() * splits.len());
        for &share in &shares {
            let mut scores = Vec::new();
            for split in &splits {
                let kept = ((split.train.len() as f64 * share).ceil() as usize).max(1);
                // In rising order, documents of a share come from everywhere.
                let step = split.train.len() as f64 / kept as f64;
                let chosen = (0..kept).map(|index| split.train[(index as f64 * step) as usize]);
                let train: Vec<Document> = chosen.map(|index| all[index].clone()).collect();
                let test: Vec<Document> = split.test.iter().map(|&index| all[index].clone()).collect();
                let mut watch = Watch { stopped: false };
                let trained = train_pipeline(&config, folder, &train, &[], &mut watch)?;
                if watch.stopped {
                    return Err(Failure::user("stopped before all parts were tested"));
                }
                scores.push(trained.pipeline.score(&test)?);
                bar.inc(1);
            }
            let measures = rows(&scores, config.labels.column.is_some(), self.bootstrap.is_some())?;
            results.push(ShareResult {
                share,
                splits: scores.len(),
                measures,
            });
        }
        bar.finish_and_clear();
        if self.json {
            return console.print_json(&results);
        }
        console.print(&table(&results))
    }

    fn splits(&self, documents: usize) -> Result<Vec<Split>, Failure> {
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
        splits.map_err(|error| Failure::user(format_args!("{error}; there are {documents} documents")))
    }
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

/// The measures over all parts.
fn rows(scores: &[Scores], labels: bool, bootstrap: bool) -> Result<Vec<Row>, Failure> {
    let row = |of: &str, measure, values: Vec<f64>| -> Result<Row, Failure> {
        let summary = Summary::new(&values).map_err(Failure::user)?;
        let interval = if bootstrap {
            summary.percentile_interval(0.95)
        } else {
            summary.t_interval(0.95)
        };
        Ok(Row {
            of: of.to_owned(),
            measure,
            mean: summary.mean(),
            deviation: summary.deviation(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    };
    if labels {
        return Ok(vec![row(
            "all",
            "accuracy",
            scores.iter().map(Scores::accuracy).collect(),
        )?]);
    }
    let mut rows = Vec::new();
    let total = |pick: fn(&fieldmark::eval::Counts) -> f64| {
        scores
            .iter()
            .map(|scores| pick(&scores.spans.total()))
            .collect::<Vec<f64>>()
    };
    rows.push(row("all", "precision", total(|counts| counts.precision()))?);
    rows.push(row("all", "recall", total(|counts| counts.recall()))?);
    rows.push(row("all", "F1", total(|counts| counts.f1()))?);
    let mut kinds: Vec<&str> = scores
        .iter()
        .flat_map(|scores| scores.spans.types())
        .map(|(kind, _)| kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() > 1 {
        for kind in kinds {
            let values = scores.iter().filter_map(|scores| {
                let found = scores.spans.types().find(|(name, _)| *name == kind);
                found.map(|(_, counts)| counts.f_beta(1.0))
            });
            rows.push(row(kind, "F1", values.collect())?);
        }
    }
    Ok(rows)
}

fn table(results: &[ShareResult]) -> String {
    let mut text = String::new();
    let width = results
        .iter()
        .flat_map(|result| &result.measures)
        .map(|row| row.of.len())
        .max()
        .unwrap_or(0)
        .max(4);
    for result in results {
        // Writing to a string cannot fail.
        if results.len() > 1 {
            let _ = writeln!(text, "{:.0} % of the documents", 100.0 * result.share);
        }
        let _ = writeln!(
            text,
            "{:width$}  {:9}  {:>6}  {:>9}  95 % interval, {} parts",
            "type", "measure", "mean", "deviation", result.splits
        );
        for row in &result.measures {
            let interval = match (row.low, row.high) {
                (Some(low), Some(high)) => format!("{:.2} to {:.2}", 100.0 * low, 100.0 * high),
                _ => "–".to_owned(),
            };
            let _ = writeln!(
                text,
                "{:width$}  {:9}  {:6.2}  {:9.2}  {interval}",
                row.of,
                row.measure,
                100.0 * row.mean,
                100.0 * row.deviation
            );
        }
    }
    text
}
