//! Gold labels that are unknown or ambiguous.

use fieldmark_core::Scheme;
use fieldmark_eval::{Counts, Evaluation, GoldLabel, Report, Rules};
use proptest::prelude::*;

type Gold = GoldLabel<String>;

/// `?` is unknown, `A|B` is A or B.
fn gold(labels: &str) -> Vec<Gold> {
    let label = |text: &str| match text.split('|').map(str::to_owned).collect::<Vec<_>>() {
        names if names == ["?"] => GoldLabel::Unknown,
        names if names.len() == 1 => GoldLabel::Known(names[0].clone()),
        names => GoldLabel::OneOf(names),
    };
    labels.split_whitespace().map(label).collect()
}

fn score(mut evaluation: Evaluation, labels: &str, predicted: &str) -> Report {
    let predicted: Vec<&str> = predicted.split_whitespace().collect();
    evaluation.add_partial(&gold(labels), &predicted).unwrap();
    evaluation.report()
}

fn spans(report: &Report) -> (u64, u64, u64) {
    let Counts { gold, found, correct } = report.spans.total.counts;
    (gold, found, correct)
}

#[test]
fn unknown_tokens_count_nowhere() {
    for evaluation in [Evaluation::conlleval(), Evaluation::strict(Scheme::Iob2)] {
        let report = score(evaluation, "O B-X ? O B-Y O", "O B-X I-X O B-Y B-Y");
        assert_eq!((report.tokens, report.correct_tokens), (5, 4));
        assert_eq!((report.spans.tokens, report.spans.correct_tokens), (5, 4));
        assert_eq!((report.left_out.tokens, report.left_out.spans), (1, 1));
        assert_eq!(spans(&report), (1, 2, 1), "{report}");
        assert_eq!(report.confusion.counts.iter().flatten().sum::<u64>(), 5);
        let text = report.to_string();
        assert!(
            text.contains("left out:  1 tokens whose gold label is unknown, and 1 predicted spans"),
            "{text}"
        );
    }
}

#[test]
fn spans_next_to_an_unknown_token_are_left_out_on_both_sides() {
    let report = score(
        Evaluation::conlleval(),
        "B-X I-X ? I-X O B-X",
        "B-X I-X O B-X O B-X",
    );
    assert_eq!(spans(&report), (1, 1, 1), "{report}");
    assert_eq!(report.left_out.spans, 2);
    // What touches a span that is left out keeps its own borders.
    let report = score(Evaluation::conlleval(), "? I-X B-X I-X", "O I-X B-X I-X");
    assert_eq!(spans(&report), (1, 1, 1), "{report}");
}

#[test]
fn tokens_that_are_spans_do_not_touch() {
    let report = score(Evaluation::raw("O"), "NN ? VB", "NN VB NN");
    assert_eq!(spans(&report), (2, 2, 1), "{report}");
    assert_eq!(report.left_out.spans, 1);
}

#[test]
fn ambiguous_labels_are_right_if_one_of_them_was_predicted() {
    let report = score(Evaluation::conlleval(), "B-X|B-Y O|B-Z", "B-Y B-X");
    assert_eq!((report.correct_tokens, report.tokens), (1, 2));
    assert_eq!(spans(&report), (1, 2, 1), "{report}");
    assert_eq!(report.left_out.tokens, 0);
    assert!(!report.to_string().contains("left out"));
    let worst = &report.confusion.largest(1)[0];
    assert_eq!((worst.gold.as_str(), worst.predicted.as_str()), ("O", "B-X"));
}

#[test]
fn a_sequence_without_a_gold_label_is_none() {
    let report = score(Evaluation::conlleval(), "? ?", "O B-X");
    assert_eq!((report.sequences, report.tokens), (0, 0));
    let report = score(Evaluation::conlleval(), "? O", "B-X O");
    assert_eq!((report.sequences, report.correct_sequences), (1, 1));
}

/// Legal labels in IOB2: a span begins (0), goes on if it can (1), or there is none (2).
fn legal(steps: &[(u8, bool)]) -> Vec<String> {
    let mut kind = None;
    let label = |&(step, x): &(u8, bool)| {
        let name = if x { "X" } else { "Y" };
        match (step, kind) {
            (0, _) => {
                kind = Some(name);
                format!("B-{name}")
            }
            (1, Some(kind)) => format!("I-{kind}"),
            _ => {
                kind = None;
                "O".to_owned()
            }
        }
    };
    steps.iter().map(label).collect()
}

proptest! {
    /// Two ways to count: labels made "outside" under the rules of the script, and lists of spans.
    #[test]
    fn the_script_and_strict_spans_agree_on_legal_labels(
        rows in prop::collection::vec(((0u8..3, any::<bool>()), (0u8..3, any::<bool>()), 0u8..4), 0..12)
    ) {
        let column = |steps: Vec<(u8, bool)>| legal(&steps);
        let right = column(rows.iter().map(|row| row.0).collect());
        let predicted = column(rows.iter().map(|row| row.1).collect());
        let gold: Vec<Gold> = right.iter().zip(&rows).map(|(label, row)| {
            if row.2 == 0 { GoldLabel::Unknown } else { GoldLabel::Known(label.clone()) }
        }).collect();
        let mut reports = Vec::new();
        for mut evaluation in [
            Evaluation::conlleval(),
            Evaluation::conlleval_with(Rules::Original),
            Evaluation::strict(Scheme::Iob2),
        ] {
            evaluation.add_partial(&gold, &predicted).unwrap();
            reports.push(evaluation.report());
        }
        for report in &reports {
            prop_assert_eq!(&report.spans.types, &reports[0].spans.types);
            prop_assert_eq!(report.left_out, reports[0].left_out);
            prop_assert_eq!(report.spans.tokens, reports[0].tokens);
        }
    }

    #[test]
    fn known_labels_count_as_ever(rows in prop::collection::vec((0usize..6, 0usize..6), 0..10)) {
        const LABELS: [&str; 6] = ["O", "B-X", "I-X", "I-Y", "E-X", "S-Y"];
        let gold: Vec<&str> = rows.iter().map(|row| LABELS[row.0]).collect();
        let predicted: Vec<&str> = rows.iter().map(|row| LABELS[row.1]).collect();
        let known: Vec<GoldLabel<&str>> = gold.iter().map(|&label| GoldLabel::Known(label)).collect();
        let (mut plain, mut partial) = (Evaluation::conlleval(), Evaluation::conlleval());
        plain.add(&gold, &predicted).unwrap();
        partial.add_partial(&known, &predicted).unwrap();
        prop_assert_eq!(plain.report(), partial.report());
    }
}
