//! Two cross-validations: is their difference more than chance?

use super::results::{Design, ShareResult};
use crate::failure::Failure;
use crate::options::significance::TestOptions;
use fieldmark::assess::{Significance, Test, TestList, test_table};
use fieldmark::text::render::html::Section;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What `cv --json` recorded of another config.
#[derive(Deserialize)]
struct Recorded {
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

/// The difference to another cross-validation, first minus second.
#[derive(Serialize)]
pub struct Difference {
    /// The file with the second.
    against: String,
    tests: Vec<Significance>,
}

/// Tests the scores of all parts against those in a file that `cv --json` wrote.
pub fn compare(
    result: &ShareResult,
    file: &Path,
    options: &TestOptions,
    seed: u64,
) -> Result<Difference, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::user(format_args!("{name}: cannot read: {error}")))?;
    let recorded: Vec<Recorded> = serde_json::from_str(&text).map_err(|error| {
        Failure::user(format_args!(
            "{name}: this is not what `fieldmark cv CONFIG --json` prints ({error}). Record the other config with it first"
        ))
    })?;
    let other = recorded
        .iter()
        .find(|other| other.share == result.share)
        .ok_or_else(|| {
            Failure::user(format_args!(
                "{name}: there are no models in it that were trained on all documents of their parts"
            ))
        })?;
    let same = result.design == other.design;
    let default = vec![if same { Test::PairedT } else { Test::Welch }];
    let tests = options.tests().unwrap_or(default);
    if let Some(paired) = tests.iter().find(|test| !same && **test != Test::Welch) {
        return Err(Failure::user(format_args!(
            "{name}: the {} needs the same parts of the same documents, but here they were made by {}, and there by {}. \
             Use --test welch",
            paired.name(),
            result.design,
            other.design
        )));
    }
    let mut found = Vec::new();
    for &test in &tests {
        for row in result.measures.iter().filter(|row| row.of == "all") {
            let second = other
                .measures
                .iter()
                .find(|second| second.of == row.of && second.measure == row.measure);
            let Some(second) = second else {
                return Err(Failure::user(format_args!(
                    "{name}: it has no {}: do both configs find spans, or both label tokens?",
                    row.measure
                )));
            };
            let tested = Significance::of_means(
                test,
                row.measure,
                &row.values,
                &second.values,
                options.tail(),
                seed,
            );
            found.push(
                tested.map_err(|error| Failure::user(format_args!("{name}: {}: {error}", test.name())))?,
            );
        }
    }
    Ok(Difference {
        against: name.to_string(),
        tests: found,
    })
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
