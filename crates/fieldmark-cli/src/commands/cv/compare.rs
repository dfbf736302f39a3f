//! Two cross-validations: is their difference more than chance?

use super::results::{Design, ShareResult};
use crate::failure::Failure;
use crate::options::significance::TestOptions;
use fieldmark::assess::{Significance, Test, TestList, test_table};
use fieldmark::eval::Tail;
use fieldmark::text::render::html::Section;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A cross-validation of another config, as `cv --json` recorded it.
pub struct Recorded {
    /// The file.
    name: String,
    design: Design,
    measures: Vec<RecordedRow>,
}

/// What `cv --json` prints for a share of the documents.
#[derive(Deserialize)]
struct RecordedShare {
    share: f64,
    design: Design,
    measures: Vec<RecordedRow>,
}

#[derive(Deserialize)]
struct RecordedRow {
    of: String,
    measure: String,
    values: Vec<f64>,
}

impl Recorded {
    /// Reads a file that `cv --json` wrote.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::user(format_args!("{name}: cannot read: {error}")))?;
        let shares: Vec<RecordedShare> = serde_json::from_str(&text).map_err(|error| {
            Failure::user(format_args!(
                "{name}: this is not what `fieldmark cv CONFIG --json` prints ({error}). Record the other config with it \
                 first"
            ))
        })?;
        match shares.into_iter().find(|other| other.share == 1.0) {
            Some(RecordedShare { design, measures, .. }) => Ok(Self {
                name,
                design,
                measures,
            }),
            None => Err(Failure::user(format_args!(
                "{name}: there are no models in it that were trained on all documents of their parts"
            ))),
        }
    }

    /// What can be tested of parts that are made by a design, of a config with this main measure.
    pub fn pair_with(
        &self,
        design: &Design,
        measure: &str,
        options: &TestOptions,
    ) -> Result<Against<'_>, Failure> {
        let name = &self.name;
        if !self.measures.iter().any(|row| row.is(measure)) {
            return Err(Failure::user(format_args!(
                "{name}: it has no {measure}: do both configs find spans, or both label tokens, or both describe graphs?"
            )));
        }
        let difference = design.difference(&self.design);
        let default = vec![match difference {
            None => Test::PairedT,
            Some(_) => Test::Welch,
        }];
        let tests = options.tests().unwrap_or(default);
        let paired = tests.iter().copied().find(|test| *test != Test::Welch);
        match (paired, difference) {
            (Some(paired), Some(difference)) => Err(Failure::user(format_args!(
                "{name}: the {} needs the same parts of the same documents, but {difference}. Use --test welch",
                paired.name()
            ))),
            _ => Ok(Against { other: self, tests }),
        }
    }
}

impl RecordedRow {
    /// Whether it is this measure of all types together.
    fn is(&self, measure: &str) -> bool {
        self.of == "all" && self.measure == measure
    }
}

/// Another cross-validation, and the tests of the difference to it.
pub struct Against<'a> {
    other: &'a Recorded,
    tests: Vec<Test>,
}

impl Against<'_> {
    /// Tests the scores of all parts against those of the other.
    pub fn difference(&self, result: &ShareResult, tail: Tail, seed: u64) -> Result<Difference, Failure> {
        let name = &self.other.name;
        let mut tests = Vec::new();
        for &test in &self.tests {
            for row in result.measures.iter().filter(|row| row.of == "all") {
                let second = self.other.measures.iter().find(|second| second.is(row.measure));
                let Some(second) = second else {
                    return Err(Failure::user(format_args!("{name}: it has no {}", row.measure)));
                };
                let tested =
                    Significance::of_means(test, row.measure, &row.values, &second.values, tail, seed);
                tests.push(
                    tested
                        .map_err(|error| Failure::user(format_args!("{name}: {}: {error}", test.name())))?,
                );
            }
        }
        Ok(Difference {
            against: name.clone(),
            tests,
        })
    }
}

/// The difference to another cross-validation, first minus second.
#[derive(Serialize)]
pub struct Difference {
    /// The file with the second.
    against: String,
    tests: Vec<Significance>,
}

/// What to bear in mind.
const CAUTION: &str = "Parts share training documents, so that p comes out too small (Dietterich 1998).";

impl Difference {
    /// The tests as text.
    pub fn text(&self) -> String {
        let tests = TestList {
            tests: &self.tests,
            items: "parts",
        };
        format!(
            "\nthis config (first) minus {} (second)\n{tests}{CAUTION}\n",
            self.against
        )
    }

    /// The tests on a page.
    pub fn section(&self) -> Section {
        Section::new("Difference")
            .with_paragraph(format!(
                "This config (first) against {} (second), over the scores of all parts.",
                self.against
            ))
            .with_table(test_table(&self.tests))
            .with_paragraph(format!(
                "p is the probability of a difference at least as large if both were equally good. {CAUTION}"
            ))
    }
}
