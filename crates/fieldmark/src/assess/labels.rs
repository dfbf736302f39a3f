//! Reports of labels, token by token, as sections of a page.

use super::page::confusion_section;
use fieldmark_eval::Report;
use fieldmark_text::render::html::{Cell, Section, Table};

/// Scores of labels and their confusion, for models that label every token.
pub fn label_sections(report: &Report) -> Vec<Section> {
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
    vec![scores, confusion]
}
