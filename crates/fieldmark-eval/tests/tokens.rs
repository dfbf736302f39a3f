//! Measures of tokens, segments and annotators, against hand-counted cases and against plain definitions.

use fieldmark_eval::{
    Agreement, Contingency, Counts, EvalError, Evaluation, JointAccuracy, Matching, Span, TokenF1,
    WindowWidth, macro_mae, symmetric_macro_mae, window_diff,
};
use proptest::prelude::*;
use std::num::NonZeroUsize;

fn close(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-12, "{ours} {expected}");
}

#[test]
fn tokens_may_bear_several_tags() {
    let gold = [Span::new(0, 4, "A"), Span::new(2, 6, "B"), Span::new(3, 5, "A")];
    let found = [Span::new(1, 3, "A"), Span::new(2, 4, "A"), Span::new(0, 6, "C")];
    let mut scores = TokenF1::for_tags(["A", "B", "C", "D"]);
    scores.add_spans(&gold, &found, 8).unwrap();
    let expected = [
        // gold 0..5, found 1..4
        ("A", (3, 0, 2, 3)),
        ("B", (0, 0, 4, 4)),
        ("C", (0, 6, 0, 2)),
        ("D", (0, 0, 0, 8)),
    ];
    for ((tag, table), (name, (tp, fp, fneg, tn))) in scores.tags().zip(expected) {
        assert_eq!(tag, name);
        let cells = (
            table.true_positives,
            table.false_positives,
            table.false_negatives,
            table.true_negatives,
        );
        assert_eq!(cells, (tp, fp, fneg, tn), "{tag}");
    }
    close(scores.micro(), 6.0 / (6.0 + 6.0 + 6.0));
    close(scores.macro_average(), (0.75 + 0.0 + 0.0 + 1.0) / 4.0);
}

#[test]
fn nothing_to_find_and_nothing_found_is_perfect_for_tokens_alone() {
    let empty = TokenF1::default();
    assert_eq!((empty.micro(), empty.macro_average()), (1.0, 1.0));
    assert_eq!(Counts::default().f1(), 0.0);
    assert_eq!(Contingency::default().kappa(), 1.0);
    let agreement = Agreement::default().report();
    assert_eq!((agreement.entity_kappa, agreement.macro_kappa), (1.0, 1.0));
}

#[test]
fn spans_beyond_the_text_are_refused_and_leave_no_trace() {
    let mut scores = TokenF1::default();
    let span = [Span::new(2, 5, "A")];
    let refused = scores.add_spans(&[], &span, 4);
    assert_eq!(
        refused,
        Err(EvalError::Beyond {
            start: 2,
            end: 5,
            length: 4
        })
    );
    assert_eq!((scores.tokens(), scores.tags().count()), (0, 0));
    assert!(Agreement::default().add(&span, &[], 4).is_err());
    assert!(scores.add_labels(&["O"], &["O", "O"]).is_err());
}

#[test]
fn joint_accuracy_needs_every_column() {
    let mut accuracy = JointAccuracy::new(3);
    let gold: [&[&str]; 3] = [
        &["a", "b", "c", "d"],
        &["x", "x", "x", "x"],
        &["1", "2", "3", "4"],
    ];
    let found: [&[&str]; 3] = [
        &["a", "b", "c", "-"],
        &["x", "-", "x", "x"],
        &["1", "2", "3", "-"],
    ];
    accuracy.add(&gold, &found).unwrap();
    assert_eq!(accuracy.columns(), [0.75, 0.75, 0.75]);
    assert_eq!((accuracy.average(), accuracy.joint()), (0.75, 0.5));
    let mut twice = accuracy.clone();
    twice.merge(&accuracy).unwrap();
    assert_eq!((twice.joint(), twice.tokens()), (0.5, 8));

    assert!(accuracy.add(&gold[..2], &found[..2]).is_err());
    assert!(
        accuracy
            .add(&[&["a"], &["x"], &["1", "2"]], &[&["a"], &["x"], &["1"]])
            .is_err()
    );
    assert!(twice.merge(&JointAccuracy::new(2)).is_err());
    assert_eq!(accuracy.tokens(), 4);
    assert_eq!(JointAccuracy::new(0).average(), 0.0);
}

#[test]
fn errors_of_ordered_labels_count_by_label() {
    // Gold 1: errors 0, 1, 2; gold 2: error 1; gold 5: error 3.
    let (gold, found) = ([1, 1, 1, 2, 5], [1, 2, 3, 1, 2]);
    close(macro_mae(&gold, &found).unwrap(), (1.0 + 1.0 + 3.0) / 3.0);
    // The other way: 1: 0, 1; 2: 1, 3; 3: 2.
    close(macro_mae(&found, &gold).unwrap(), (0.5 + 2.0 + 2.0) / 3.0);
    close(
        symmetric_macro_mae(&gold, &found).unwrap(),
        (5.0 / 3.0 + 1.5) / 2.0,
    );
    assert_eq!(macro_mae(&[], &[]), Ok(0.0));
    assert_eq!(macro_mae(&[i64::MIN], &[i64::MAX]), Ok(u64::MAX as f64));
    assert!(macro_mae(&[1], &[]).is_err());
}

fn begins(text: &str) -> Vec<bool> {
    // A text of borders between tokens, so one token more.
    std::iter::once(false)
        .chain(text.chars().map(|border| border == '1'))
        .collect()
}

/// The examples in the documentation of `nltk.metrics.segmentation.windowdiff`.
#[test]
fn window_diff_agrees_with_known_examples() {
    let three = WindowWidth::Fixed(NonZeroUsize::new(3).unwrap());
    let texts = ["000100000010", "000010000100", "100000010000"].map(begins);
    for (reference, hypothesis, expected) in [(0, 0, 0.0), (0, 1, 0.3), (1, 2, 0.8)] {
        let document = (texts[reference].clone(), texts[hypothesis].clone());
        close(window_diff(&[document], three).unwrap().pooled, expected);
    }
}

#[test]
fn the_window_is_half_a_mean_segment_wide() {
    // 13 tokens, 3 segments: k = round(13/6) = 2. 7 tokens, 1 segment: k = round(3.5) = 4.
    let documents = [
        (begins("000100000010"), begins("000100000000")),
        (begins("000000"), begins("000100")),
        (begins(""), begins("")),
    ];
    let result = window_diff(&documents, WindowWidth::Document).unwrap();
    // The last document: one token, k = round(1/2) = 1, no window.
    assert_eq!(
        (result.windows, result.documents, result.too_short),
        (11 + 3, 2, 1)
    );
    assert_eq!(result.differing, 2 + 3);
    close(result.pooled, 5.0 / 14.0);
    close(result.mean, (2.0 / 11.0 + 1.0) / 2.0);
    // 21 tokens, 5 segments: k = round(2.1) = 2.
    let result = window_diff(&documents, WindowWidth::Corpus).unwrap();
    assert_eq!(
        (result.windows, result.differing, result.too_short),
        (11 + 5, 2 + 2, 1)
    );
    assert!(window_diff(&[(vec![true], vec![])], WindowWidth::Corpus).is_err());
}

/// Computed with scikit-learn 1.9, `cohen_kappa_score`.
#[test]
fn kappa_of_many_labels() {
    let first = ["N", "N", "V", "V", "V", "A", "A", "O", "O", "O"];
    let second = ["N", "V", "V", "V", "A", "A", "O", "O", "O", "N"];
    let mut evaluation = Evaluation::raw("O");
    evaluation.add(&first, &second).unwrap();
    let confusion = evaluation.report().confusion;
    close(confusion.kappa(), 0.45945945945945954);
    // V against all others: 2 both, 1 each alone, 6 neither; P(E) = (3·3 + 7·7)/100.
    close(confusion.contingency("V").unwrap().kappa(), (0.8 - 0.58) / 0.42);
    assert_eq!(confusion.contingency("X"), None);
}

#[test]
fn annotators_agree_by_type() {
    let first = [Span::new(0, 2, "A"), Span::new(3, 4, "B"), Span::new(6, 8, "B")];
    let second = [Span::new(0, 2, "A"), Span::new(3, 4, "A"), Span::new(6, 8, "B")];
    let mut agreement = Agreement::new(Matching::Strict);
    agreement.add(&first, &second, 10).unwrap();
    let report = agreement.report();
    let f: Vec<f64> = report.spans.types.iter().map(|row| row.f).collect();
    assert_eq!(f, [2.0 / 3.0, 2.0 / 3.0]);
    assert_eq!(report.entity_kappa, 1.0);
    // A: 2 both, 0 and 1 alone, 7 neither; P(E) = (2·3 + 8·7)/100. B is its mirror image.
    close(report.types[0].kappa, (0.9 - 0.62) / 0.38);
    close(report.macro_kappa, report.types[1].kappa);
    // Both: 4 both, 1 and 1 alone, 14 neither; P(E) = (25 + 225)/400.
    close(report.micro_kappa, (0.9 - 0.625) / 0.375);
    close(report.token_f1, 0.8);

    // Then 10 tokens of which the second annotator marks two more: 5 both, 2 alone, 13 neither.
    let mut more = Agreement::new(Matching::Strict);
    more.add(&[], &[Span::new(4, 6, "C")], 10).unwrap();
    agreement.merge(&more).unwrap();
    // P(A) = 18/20, P(E) = (5·7 + 15·13)/400.
    close(agreement.report().entity_kappa, (0.9 - 0.575) / 0.425);
    assert!(agreement.merge(&Agreement::new(Matching::Partial)).is_err());
}

fn spans() -> impl Strategy<Value = Vec<Span<'static>>> {
    let span = (0usize..15, 0usize..6, prop::sample::select(vec!["A", "B"]))
        .prop_map(|(start, length, kind)| Span::new(start, start + length, kind));
    prop::collection::vec(span, 0..6)
}

fn segmentation() -> impl Strategy<Value = (Vec<bool>, Vec<bool>)> {
    (0usize..20).prop_flat_map(|length| {
        let side = || prop::collection::vec(any::<bool>(), length);
        (side(), side())
    })
}

proptest! {
    #[test]
    fn covered_tokens_are_counted_one_by_one(gold in spans(), found in spans()) {
        let mut scores = TokenF1::for_tags(["A", "B"]);
        scores.add_spans(&gold, &found, 20).unwrap();
        for (tag, table) in scores.tags() {
            let bears = |spans: &[Span<'_>], token: usize| {
                spans.iter().any(|span| span.kind == tag && (span.start..span.end).contains(&token))
            };
            let mut expected = Contingency::default();
            for token in 0..20 {
                let cell = match (bears(&gold, token), bears(&found, token)) {
                    (true, true) => &mut expected.true_positives,
                    (false, true) => &mut expected.false_positives,
                    (true, false) => &mut expected.false_negatives,
                    (false, false) => &mut expected.true_negatives,
                };
                *cell += 1;
            }
            prop_assert_eq!(table, expected);
        }
    }

    #[test]
    fn agreement_has_no_sides(first in spans(), second in spans()) {
        let report = |one: &[Span<'_>], other: &[Span<'_>]| {
            let mut agreement = Agreement::default();
            agreement.add(one, other, 20).unwrap();
            agreement.report()
        };
        let (one, other) = (report(&first, &second), report(&second, &first));
        prop_assert_eq!(one.entity_kappa, other.entity_kappa);
        prop_assert_eq!(one.micro_kappa, other.micro_kappa);
        prop_assert_eq!(one.macro_kappa, other.macro_kappa);
        prop_assert_eq!(one.token_f1, other.token_f1);
        prop_assert_eq!(one.spans.micro.f, other.spans.micro.f);
        prop_assert!((-1.0..=1.0).contains(&one.entity_kappa));
        prop_assert_eq!(report(&first, &first).micro_kappa, 1.0);
    }

    #[test]
    fn windows_are_compared_one_by_one((reference, hypothesis) in segmentation(), width in 1usize..6) {
        let borders = |side: &[bool], from: usize| (from + 1..=from + width).filter(|&at| side[at]).count();
        let windows = reference.len().saturating_sub(width);
        let differing = (0..windows)
            .filter(|&from| borders(&reference, from) != borders(&hypothesis, from))
            .count();
        let fixed = WindowWidth::Fixed(NonZeroUsize::new(width).unwrap());
        let result = window_diff(&[(reference, hypothesis)], fixed).unwrap();
        prop_assert_eq!((result.windows, result.differing), (windows as u64, differing as u64));
    }
}
