//! `fieldmark quickstart`: everything once, from data inside the program.

mod corpus;
mod files;
mod page;

use crate::console::Console;
use crate::failure::Failure;
use crate::options::machine::Threads;
use crate::progress::bar;
use corpus::Tagged;
use fieldmark::chain::ChainModel;
use fieldmark::core::optimize::{LbfgsOptions, Prior};
use fieldmark::eval::{Evaluation, Report};
use fieldmark::text::render::terminal;
use fieldmark::{Algorithm, Flow, Observer, Progress, TrainOptions, sample, train};
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::time::Instant;

/// See everything work: train, score, tag and show a sample
///
/// Trains on a few hundred sentences of clinical notes that are part of the program, scores the model on
/// sentences that it has not seen, tags a paragraph and writes the result as a web page. It needs no file and
/// no network, and takes a few seconds.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Web page to write
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PAGE)]
    html: PathBuf,

    /// Write the sample to this directory instead, to try the other commands on
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "html")]
    files: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,
}

const DEFAULT_PAGE: &str = "quickstart.html";

const EXAMPLES: &str = "\
Examples:
  fieldmark quickstart
  fieldmark quickstart --html note.html
  fieldmark quickstart --files sample";

/// Enough for this sample; a model on more data wants less.
const PRIOR: Prior = Prior { c1: 0.0, c2: 0.1 };
const MOST_ITERATIONS: u64 = 100;

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        if let Some(directory) = &self.files {
            return files::write(directory, console);
        }
        self.threads.start()?;
        let started = Instant::now();
        let data = corpus::training_data().map_err(Failure::ours)?;
        let (sentences, tokens) = (data.len(), data.positions());
        let mut bar = Bar(console.watched().then(|| bar(Some(MOST_ITERATIONS))));
        let options = TrainOptions {
            algorithm: Algorithm::Lbfgs(LbfgsOptions {
                prior: PRIOR,
                max_iterations: Some(MOST_ITERATIONS),
                ..LbfgsOptions::default()
            }),
            ..TrainOptions::default()
        };
        let trained = train(data, None, None, &options, &mut bar);
        bar.finish();
        let trained = trained?;
        console.note(&format!(
            "trained on {sentences} sentences ({tokens} tokens): {} features, {} iterations, {:.1} s",
            trained.features,
            trained.iterations.len(),
            started.elapsed().as_secs_f64()
        ));

        let report = score(&trained.model)?;
        let tagged = corpus::tag(&trained.model, sample::PARAGRAPH).map_err(Failure::ours)?;
        console.print(&show(&report, &tagged, console)?)?;
        self.write_page(&trained.model, &report, &tagged, console)?;
        console.note(NEXT);
        // Cargo tells the programs that it runs where their source is.
        if std::env::var_os("CARGO_MANIFEST_DIR").is_some() {
            console.note(FROM_SOURCE);
        }
        Ok(())
    }

    fn write_page(
        &self,
        model: &ChainModel,
        report: &Report,
        tagged: &Tagged<'_>,
        console: &Console,
    ) -> Result<(), Failure> {
        let html = page::html(model, report, tagged)?;
        match std::fs::write(&self.html, html) {
            Ok(()) => {
                let path = std::path::absolute(&self.html).unwrap_or_else(|_| self.html.clone());
                console.note(&format!(
                    "\nThe same as a web page, with confidences: {}",
                    path.display()
                ));
                Ok(())
            }
            // Nobody asked for a page in this directory.
            Err(error) if self.html.as_os_str() == DEFAULT_PAGE => {
                console.warn(&format!(
                    "the web page could not be written here ({DEFAULT_PAGE}: {error}). Choose a place with --html FILE"
                ));
                Ok(())
            }
            Err(error) => Err(Failure::writing(&self.html, error)),
        }
    }
}

/// The score on the sentences that were held out.
fn score(model: &ChainModel) -> Result<Report, Failure> {
    let mut evaluation = Evaluation::conlleval();
    for (gold, predicted) in corpus::test_labels(model).map_err(Failure::ours)? {
        evaluation.add(&gold, &predicted).map_err(Failure::ours)?;
    }
    Ok(evaluation.report())
}

fn show(report: &Report, tagged: &Tagged<'_>, console: &Console) -> Result<String, Failure> {
    let mut text = format!(
        "\nScore on {} sentences that the model has not seen (a demonstration, not a benchmark):\n\n{}\n",
        report.sequences, report.spans
    );
    text += "A note, tagged:\n\n";
    text +=
        &terminal::render(tagged.text, &tagged.annotations(), console.coloured()).map_err(Failure::ours)?;
    Ok(text)
}

const NEXT: &str = "
What to try next:
  fieldmark quickstart --files sample     the same sample as files
  fieldmark check --template sample/template.txt sample/train.txt --test sample/test.txt
  fieldmark train --template sample/template.txt --model notes.fmk sample/train.txt
  fieldmark tag --model notes.fmk sample/test.txt | fieldmark eval
  fieldmark inspect --explain sample/test.txt --line 3 notes.fmk
  fieldmark --help";

const FROM_SOURCE: &str = "
Here `fieldmark` is `cargo run --release --`; `cargo install --path crates/fieldmark-cli` puts it on your path.";

/// Draws a bar while training.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Bar {
    fn iteration(&mut self, progress: &Progress) -> Flow {
        if let Some(bar) = &self.0 {
            bar.set_position(progress.iteration.iteration);
            bar.set_message(format!("training, loss {:.1}", progress.iteration.loss));
        }
        Flow::Continue
    }
}
