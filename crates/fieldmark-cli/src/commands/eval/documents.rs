//! Documents: predicted annotations against gold ones.

use super::layers::tell_unscored;
use super::read::{self, ReadingOptions};
use crate::console::Console;
use crate::documents::MissingColumns;
use crate::failure::Failure;
use crate::options::inference::InferenceOptions;
use crate::options::machine::Threads;
use crate::options::significance::TestOptions;
use crate::paths::{Files, check_writable, write_whole};
use fieldmark::assess::{
    AssessOptions, Assessment, CompareOptions, Comparison, Measure, Pair, Pairing, compare, pair_documents,
    write_page,
};
use fieldmark::core::container::Container;
use fieldmark::text::document::Document;
use fieldmark::text::render::html::Section;
use fieldmark::text::tokenize::TokenizerProfile;
use fieldmark::{AnyPipeline, Error, Pipeline};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How documents are scored.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of documents")]
pub struct DocumentOptions {
    /// Mark the gold texts with this model and score what it finds
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// Measures, separated by commas [default: exact, and gene-mention where gold has alternatives]
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    measure: Vec<Measure>,

    /// How much recall weighs against precision in F [default: 1]
    #[arg(long, value_name = "B")]
    beta: Option<f64>,

    /// Find the confidence from which on precision is at least this
    #[arg(long, value_name = "P", value_parser = share)]
    precision: Option<f64>,

    /// Also score these predicted documents, and test whether the difference is more than chance
    ///
    /// By --test; without it, by randomisation of precision, recall and F, and by a paired t-test of F of documents.
    #[arg(long, value_name = "PRED")]
    against: Option<PathBuf>,

    #[command(flatten)]
    tests: TestOptions,

    /// Decides which outputs are exchanged by the randomisation of --against [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Types from the lowest to the highest, for --measure ordinal [default: types are whole numbers]
    #[arg(long, value_name = "TYPES", value_delimiter = ',', allow_hyphen_values = true)]
    order: Vec<String>,

    /// Tokens of documents that come without, for measures that count them [default: punctuation]
    #[arg(long, value_name = "PROFILE")]
    tokenizer: Option<TokenizerProfile>,

    /// Write a page with tables, plots and the worst errors in context
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// How many errors of each kind --html and --json show [default: 10]
    #[arg(long, value_name = "N")]
    cases: Option<usize>,

    #[command(flatten)]
    pub(super) reading: ReadingOptions,

    #[command(flatten)]
    pub(super) inference: InferenceOptions,

    #[command(flatten)]
    threads: Threads,
}

fn share(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.parse();
    let share = number.ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "expected a number above 0 and up to 1, such as 0.95".to_owned())
}

/// All that `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    gold: String,
    predicted: String,
    missing: &'a [String],
    extra: &'a [String],
    #[serde(flatten)]
    assessment: &'a Assessment,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
}

impl DocumentOptions {
    /// Whether a model is to mark the texts.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// The options that were given, by name.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let own = [
            ("measure", !self.measure.is_empty()),
            ("beta", self.beta.is_some()),
            ("precision", self.precision.is_some()),
            ("against", self.against.is_some()),
            ("seed", self.seed.is_some()),
            ("order", !self.order.is_empty()),
            ("tokenizer", self.tokenizer.is_some()),
            ("html", self.html.is_some()),
            ("cases", self.cases.is_some()),
            ("inference", self.inference.is_given()),
        ];
        let all = own
            .into_iter()
            .chain(self.tests.given())
            .chain(self.reading.given());
        all.filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Scores documents: a gold and a predicted file, or a gold file and the model.
    pub fn run(&self, files: &[PathBuf], json: bool, console: &Console) -> Result<(), Failure> {
        self.html.as_deref().map(check_writable).transpose()?;
        Files::default()
            .reads("the gold documents", files.first())
            .reads("the predicted documents", files.get(1))
            .reads("--model", &self.model)
            .reads("--against", &self.against)
            .reads("a file of genes", self.reading.mention_files(files))
            .writes("--html", &self.html)
            .check()?;
        self.threads.start()?;
        let (gold, pairing, predicted) = match (&self.model, files) {
            (None, [gold, predicted]) => {
                if self.inference.is_given() {
                    return Err(Failure::user("--inference is for the graph of --model"));
                }
                let documents = self.reading.gold(gold, None, console)?;
                let found = self.reading.predicted(predicted, gold, console)?;
                if let Some(layers) = self.layers((gold, &documents), (predicted, &found), console)? {
                    return self.run_layers(&layers, gold, predicted, json, console);
                }
                self.reading.check_annotated(gold, None, &documents)?;
                tell_unscored(&documents, &found, console);
                let pairing = pair(documents, found, predicted)?;
                (gold, pairing, predicted.display().to_string())
            }
            (Some(model), [gold]) => {
                let pipeline = pipeline(model)?;
                let read = &pipeline.config().data.read;
                let labels = match &pipeline {
                    AnyPipeline::Chain(pipeline) => pipeline.config().labels.column.is_some(),
                    AnyPipeline::Graph(pipeline) => !pipeline.has_spans(),
                };
                let documents = self.reading.gold(gold, Some(read), console)?;
                if !labels {
                    self.reading.check_annotated(gold, Some(read), &documents)?;
                }
                let mut missing = MissingColumns::default();
                documents
                    .iter()
                    .for_each(|document| missing.add(pipeline.missing_columns(document)));
                missing.tell(console);
                let pipeline = match pipeline {
                    AnyPipeline::Chain(pipeline) => {
                        self.inference.refuse_for_chains()?;
                        *pipeline
                    }
                    AnyPipeline::Graph(pipeline) => {
                        return self.run_graph(&pipeline, &documents, gold, json, console);
                    }
                };
                if labels {
                    return self.run_labels(&pipeline, &documents, gold, json, console);
                }
                let pairing = Pairing {
                    pairs: pipeline.compare(&documents)?,
                    ..Pairing::default()
                };
                (gold, pairing, model.display().to_string())
            }
            (Some(_), []) => return Err(Failure::user("--model needs a file with gold documents")),
            _ => {
                return Err(Failure::user(
                    "--model makes the predictions: give one file, with gold documents",
                ));
            }
        };
        read::tell(&pairing, console);
        self.report(gold, &pairing, &predicted, json, console)
    }

    fn report(
        &self,
        gold: &Path,
        pairing: &Pairing,
        predicted: &str,
        json: bool,
        console: &Console,
    ) -> Result<(), Failure> {
        let options = self.options(&pairing.pairs);
        let assessment = Assessment::new(&pairing.pairs, &options).map_err(Failure::user)?;
        let comparison = match &self.against {
            Some(other) => Some(self.compare(gold, &pairing.pairs, other, &options, console)?),
            None => None,
        };
        if let Some(html) = &self.html {
            let mut sections = assessment.sections();
            if let (Some(comparison), Some(other)) = (&comparison, &self.against) {
                sections.insert(1, comparison.section(predicted, &other.display().to_string()));
            }
            let lead = format!("{predicted} against the gold annotations of {}.", gold.display());
            write(html, &lead, &sections, console)?;
        }
        if json {
            return console.print_json(&Answer {
                gold: gold.display().to_string(),
                predicted: predicted.to_owned(),
                missing: &pairing.missing,
                extra: &pairing.extra,
                assessment: &assessment,
                comparison: comparison.as_ref(),
            });
        }
        let mut text = assessment.to_string();
        if let (Some(comparison), Some(other)) = (&comparison, &self.against) {
            text += &format!(
                "\n{predicted} (first) and {} (second)\n{comparison}",
                other.display()
            );
        }
        console.print(&text)
    }

    pub(super) fn options(&self, pairs: &[Pair]) -> AssessOptions {
        let defaults = AssessOptions::default();
        let mut measures = self.measure.clone();
        if measures.is_empty() {
            measures = defaults.measures.clone();
            let has_alternatives = pairs.iter().any(|pair| !pair.alternatives.is_empty());
            measures.extend(has_alternatives.then_some(Measure::GeneMention));
        }
        AssessOptions {
            measures,
            beta: self.beta.unwrap_or(defaults.beta),
            order: self.order.clone(),
            tokenizer: self.tokenizer.clone().unwrap_or(defaults.tokenizer),
            precision: self.precision,
            cases: self.cases.unwrap_or(defaults.cases),
        }
    }

    fn compare(
        &self,
        gold: &Path,
        pairs: &[Pair],
        other: &Path,
        options: &AssessOptions,
        console: &Console,
    ) -> Result<Comparison, Failure> {
        let documents = pairs.iter().map(|pair| {
            let mut document = Document::new(pair.id.clone(), pair.text.clone());
            document.annotations = pair.gold.iter().chain(&pair.alternatives).cloned().collect();
            document
        });
        let found = self.reading.predicted(other, gold, console)?;
        let others = pair(documents.collect(), found, other)?;
        read::tell(&others, console);
        let measure = match options.measures.contains(&Measure::GeneMention) {
            true => Measure::GeneMention,
            false => Measure::Exact,
        };
        let defaults = CompareOptions::default();
        let options = CompareOptions {
            measure,
            beta: options.beta,
            tests: self.tests.tests().unwrap_or_default(),
            tail: self.tests.tail(),
            seed: self.seed.unwrap_or(defaults.seed),
        };
        compare(pairs, &others.pairs, &options).map_err(Failure::user)
    }

    /// Scores a model that labels every token.
    fn run_labels(
        &self,
        pipeline: &Pipeline,
        documents: &[Document],
        gold: &Path,
        json: bool,
        console: &Console,
    ) -> Result<(), Failure> {
        let spans = ["measure", "beta", "precision", "against", "order"];
        if let Some(option) = self.given().find(|option| spans.contains(option)) {
            return Err(Failure::user(format_args!(
                "--{option} is for models that mark spans, but this one labels every token"
            )));
        }
        let cases = self.cases.unwrap_or(AssessOptions::default().cases);
        let test = pipeline.test_labels(documents)?;
        let assessment = test.assess(cases).map_err(Failure::user)?;
        if assessment.report.tokens == 0 {
            let column = pipeline.config().labels.column.as_deref().unwrap_or_default();
            return Err(Failure::user(format_args!(
                "{}: there is no token with a gold label in the column {column:?}",
                gold.display()
            )));
        }
        if let Some(html) = &self.html {
            let lead = format!(
                "{} against the gold labels of {}.",
                pipeline.card.name,
                gold.display()
            );
            write(html, &lead, &assessment.sections(), console)?;
        }
        if json {
            return console.print_json(&assessment);
        }
        console.print(&assessment.to_string())
    }
}

fn pipeline(model: &Path) -> Result<AnyPipeline, Failure> {
    let container = Arc::new(Container::open(model).map_err(Error::from)?);
    if !AnyPipeline::is_in(&container) {
        return Err(Failure::user(format_args!(
            "{}: this model reads observations. Label the data with `fieldmark tag` and score its output: `fieldmark tag \
             --model MODEL DATA | fieldmark eval`",
            model.display()
        )));
    }
    Ok(AnyPipeline::from_container(container)?)
}

pub(super) fn pair(gold: Vec<Document>, predicted: Vec<Document>, file: &Path) -> Result<Pairing, Failure> {
    pair_documents(gold, predicted)
        .map_err(|error| Failure::user(format_args!("{}: {error}", file.display())))
}

/// Writes a page, and says where it is.
pub fn write(file: &Path, lead: &str, sections: &[Section], console: &Console) -> Result<(), Failure> {
    let page = write_page("How good is it?", lead, sections).map_err(Failure::ours)?;
    write_whole(file, &page)?;
    console.note(&format!("wrote {}", file.display()));
    Ok(())
}
