//! The web page of the quickstart.

use super::corpus::Tagged;
use crate::failure::Failure;
use fieldmark::chain::ChainModel;
use fieldmark::eval::{Report, Row};
use fieldmark::text::render::html::{Document, Page, Section};

const LEAD: &str = "A conditional random field, trained in a moment on a few hundred invented sentences, marks \
                    drugs, doses, frequencies and problems in a clinical note, and says how sure it is.";

/// Observations shown of each label.
const STRONGEST: usize = 6;

/// The page.
pub fn html(model: &ChainModel, report: &Report, tagged: &Tagged<'_>) -> Result<String, Failure> {
    let annotations = tagged.annotations();
    let documents = [Document {
        heading: "A note that the model has not seen",
        text: tagged.text,
        tokens: false,
        annotations: &annotations,
    }];
    let sections = [
        scores(report),
        features(model),
        Section::paragraph(
            "What this is not",
            "The score is a demonstration on a small invented corpus, not a benchmark, and the model is not fit \
             for use on patients.",
        ),
        Section::paragraph(
            "What to try next",
            "fieldmark quickstart --files sample writes the sample as files; fieldmark --help shows how to check \
             them, train on them, tag and evaluate, and how to read a model.",
        ),
    ];
    let page = Page {
        title: "fieldmark quickstart",
        lead: LEAD,
        documents: &documents,
        sections: &sections,
    };
    page.to_html().map_err(Failure::ours)
}

fn scores(report: &Report) -> Section {
    let row = |row: &Row| {
        let share = |share: f64| format!("{:.2}%", 100.0 * share);
        vec![
            row.name.clone(),
            share(row.score.precision),
            share(row.score.recall),
            share(row.score.f1),
            row.counts.gold.to_string(),
        ]
    };
    let rows = report
        .spans
        .types
        .iter()
        .chain([&report.spans.total])
        .map(row)
        .collect();
    let header = ["Type", "Precision", "Recall", "F1", "In the text"]
        .map(str::to_owned)
        .to_vec();
    Section::table("Score on sentences that the model has not seen", header, rows)
}

fn features(model: &ChainModel) -> Section {
    let inspection = model.inspect(STRONGEST);
    let rows = inspection.labels.iter().map(|label| {
        let names = label
            .strongest
            .positive
            .iter()
            .map(|feature| feature.observation.as_str());
        vec![label.label.clone(), names.collect::<Vec<_>>().join(", ")]
    });
    let header = ["Label", "What speaks for it most"].map(str::to_owned).to_vec();
    Section::table("What the model has learned", header, rows.collect())
}
