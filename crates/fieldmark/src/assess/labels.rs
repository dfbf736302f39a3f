//! [`LabelAssessment`]: labels of tokens against gold ones, for models that label every token.

use super::page::{calibration_section, confusion_section, excerpt};
use super::{AssessError, AssessOptions, Assessment, Calibration, Case, Pair};
use fieldmark_eval::{EvalError, Evaluation, Report};
use fieldmark_text::render::html::{Cell, Excerpt, Section, Table};
use serde::Serialize;
use std::fmt;

/// What a model that labels every token did on documents whose labels are known.
#[derive(Clone, Debug)]
pub struct LabelTest {
    /// All labels.
    pub evaluation: Evaluation,
    /// Every document, with each token as a span.
    pub pairs: Vec<Pair>,
}

impl LabelTest {
    /// Adds what was done elsewhere.
    pub fn merge(&mut self, other: LabelTest) -> Result<(), EvalError> {
        self.pairs.extend(other.pairs);
        self.evaluation.merge(&other.evaluation)
    }

    /// How good it is, with at most `cases` of the surest wrong labels.
    pub fn assess(&self, cases: usize) -> Result<LabelAssessment, AssessError> {
        let options = AssessOptions {
            cases,
            ..AssessOptions::default()
        };
        let Assessment {
            confidence, cases, ..
        } = Assessment::new(&self.pairs, &options)?;
        Ok(LabelAssessment {
            report: self.evaluation.report(),
            calibration: confidence.map(|confidence| confidence.calibration),
            cases: cases.wrong_type,
        })
    }
}

/// How good labels are. Shares lie between 0 and 1.
#[derive(Clone, Debug, Serialize)]
pub struct LabelAssessment {
    /// Scores of labels, and their confusion.
    #[serde(flatten)]
    pub report: Report,
    /// Whether confidence can be taken for a probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The surest wrong labels.
    pub cases: Vec<Case>,
}

impl LabelAssessment {
    /// Everything that a person would rather look at than read.
    pub fn sections(&self) -> Vec<Section> {
        let report = &self.report;
        let share = |share: f64| format!("{:.2}%", 100.0 * share);
        let mut table = Table::new(["Label", "Precision", "Recall", "F1", "Gold", "Found"]);
        for row in &report.labels.rows {
            table = table.row([
                Cell::text(row.name.as_str()),
                Cell::share(row.score.precision),
                Cell::share(row.score.recall),
                Cell::share(row.score.f1),
                Cell::text(row.counts.gold.to_string()),
                Cell::text(row.counts.found.to_string()),
            ]);
        }
        let scores = Section::new("Scores")
            .with_figures([
                ("Accuracy", share(report.accuracy)),
                ("Macro F1", share(report.labels.averages.unweighted.f1)),
                ("Tokens", report.tokens.to_string()),
                ("Sequences", report.sequences.to_string()),
            ])
            .with_table(table);
        let confusion = confusion_section(
            &report.confusion,
            "Gold labels in rows, predicted labels in columns, each row shaded by its shares.",
        );
        let mut sections = vec![scores, confusion];
        // Every label has a confidence.
        let calibration = self.calibration.as_ref();
        sections.extend(calibration.map(|calibration| calibration_section(calibration, 0, "labels")));
        if !self.cases.is_empty() {
            sections.push(
                Section::new("Wrong labels: the surest first")
                    .with_paragraph(
                        "The word that is underlined should have the gold label, and got the predicted one.",
                    )
                    .with_excerpts(self.cases.iter().map(focused).collect()),
            );
        }
        sections
    }
}

/// A case of which only the wrong token is marked: all others have labels, too.
fn focused(case: &Case) -> Excerpt {
    let mut excerpt = excerpt(case);
    excerpt.gold.retain(|mark| mark.focus);
    excerpt.found.retain(|mark| mark.focus);
    excerpt
}

/// Tokens, labels, confusion and confidence.
impl fmt::Display for LabelAssessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &self.report;
        writeln!(
            f,
            "tokens: {} of {} right ({:.2}%)\n\n{}\n{}",
            report.correct_tokens,
            report.tokens,
            100.0 * report.accuracy,
            report.labels,
            report.confusion
        )?;
        if let Some(calibration) = &self.calibration {
            writeln!(
                f,
                "confidence: expected calibration error {:.4}, Brier score {:.4}",
                calibration.expected_error, calibration.brier
            )?;
        }
        Ok(())
    }
}
