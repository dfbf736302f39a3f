//! What to tell of how graphs found labels.

use crate::commands::tag::tables::beginning;
use crate::console::Console;
use fieldmark::GraphReport;

/// Tells how sure labels and probabilities are that a graph found.
pub fn tell_inference(report: &GraphReport, console: &Console) {
    if report.unproved > 0 {
        console.warn(&format!(
            "{} of {} labellings are not proved to be the best: others may score higher, by {:.4} at most",
            report.unproved, report.instances, report.largest_gap
        ));
    }
    if report.unsettled_probabilities > 0 {
        console.warn(&format!(
            "messages did not settle in {} of {} instances: their probabilities are rough. Raise graph.inference.iterations, add \
             damping, or use an exact engine",
            report.unsettled_probabilities, report.instances
        ));
    }
    if let Some(first) = report.unsure.first() {
        console.warn(&format!(
            "{} of {} instances have labels, but not all probabilities, such as {:?} of {}: {}",
            report.unsure.len(),
            report.instances,
            beginning(&first.text),
            first.document,
            first.problem
        ));
    }
    if report.unsettled > 0 {
        console.warn(&format!(
            "inference stopped at its limit in {} of {} instances: their labels are the best that were found. Raise \
             graph.inference.iterations, add damping, or use another engine",
            report.unsettled, report.instances
        ));
    }
    for (template, cut) in &report.cuts {
        console.warn(&format!(
            "the template {template:?} reached its limit in {} of {} instances, and {} pairs of positions were not joined, the \
             farthest ones: raise max_edges, or join rarer observations",
            cut.instances, report.instances, cut.pairs
        ));
    }
    if report.estimated > 0 {
        console.note(&format!(
            "the confidence of {} spans is estimated from the labels beside each other: their instances have many spans, and \
             a sum over all labels for each would take long",
            report.estimated
        ));
    }
}

/// Tells of instances without an answer where labels are compared with gold, and not printed.
pub fn tell_unanswered(report: &GraphReport, console: &Console) {
    let count = report.unanswered + report.impossible.len() as u64;
    if count > 0 {
        let example = report.impossible.first();
        let example = example.map_or(String::new(), |one| {
            format!(
                ", such as {:?} of {}: {}",
                beginning(&one.text),
                one.document,
                one.problem
            )
        });
        console.warn(&format!(
            "{count} of {} instances have no labels, and all of them count as wrong{example}",
            report.instances
        ));
    }
}
