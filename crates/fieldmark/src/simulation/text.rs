//! Results for a terminal.

use crate::Error;
use fieldmark_learn::simulate::{Needed, Results, StrategySummary};
use std::fmt::Write;

/// The strategies, the best first, with the labels that they need.
pub fn table(results: &Results) -> Result<String, Error> {
    let mut out = format!(
        "{:<9} {:>8} {:>8} {:>6} {:>7} {:>18} {:>18}\n",
        "strategy", "mean F1", "last F1", "±", "drop", "labels for 95 %", "labels for 99 %"
    );
    for summary in ranked(results)? {
        let last = summary.points.last();
        let share =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{:.2}", 100.0 * value));
        let cells: Vec<String> = summary.needed.iter().map(needed).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:<9} {:>8} {:>8} {:>6} {:>7} {:>18} {:>18}",
            summary.strategy,
            share(Some(summary.mean_f1)),
            share(last.map(|point| point.token_f1)),
            share(last.map(|point| point.deviation)),
            share(Some(summary.largest_drop)),
            cells.first().map_or("-", String::as_str),
            cells.get(1).map_or("-", String::as_str),
        );
    }
    let _ = writeln!(
        out,
        "\nToken F1 with all {} tokens labelled: {:.2}",
        results.tokens,
        100.0 * results.full.token_f1
    );
    Ok(out)
}

/// The strategies, the best first.
pub(super) fn ranked(results: &Results) -> Result<Vec<StrategySummary>, Error> {
    let mut summaries = results.summaries()?;
    summaries.sort_by(|one, other| other.mean_f1.total_cmp(&one.mean_f1));
    Ok(summaries)
}

/// A number of labels, and what part of the pool that is.
pub(super) fn needed(needed: &Needed) -> String {
    match (needed.labelled_tokens, needed.of_all) {
        (Some(tokens), Some(share)) => format!("{tokens:.0} ({:.2} %)", 100.0 * share),
        _ => "not reached".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::page::tests::results;

    #[test]
    fn the_best_comes_first() {
        let text = table(&results()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].starts_with("MTM ") && lines[2].starts_with("RAND "),
            "{text}"
        );
        assert!(lines[1].contains("150 (15.00 %)"), "{text}");
        assert!(lines[2].contains("not reached"), "{text}");
        assert!(text.contains("all 1000 tokens labelled: 90.00"), "{text}");
    }
}
