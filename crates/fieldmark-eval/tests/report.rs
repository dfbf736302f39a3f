//! Labels, confusions, strict spans, and the report in both of its forms.

use fieldmark_core::Scheme;
use fieldmark_eval::{Counts, EvalError, Evaluation, Report};
use proptest::prelude::*;

fn sample(mut evaluation: Evaluation) -> Evaluation {
    evaluation
        .add(
            &["B-LOC", "I-LOC", "O", "B-PER"],
            &["B-LOC", "I-LOC", "O", "I-PER"],
        )
        .unwrap();
    evaluation
        .add(&["O", "B-LOC", "O"], &["O", "O", "B-PER"])
        .unwrap();
    evaluation.add(&["B-PER", "O"], &["I-PER", "O"]).unwrap();
    evaluation
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-12
}

#[test]
fn labels_and_averages() {
    let report = sample(Evaluation::conlleval()).report();
    let counts: Vec<_> = report
        .labels
        .rows
        .iter()
        .map(|row| (row.name.as_str(), row.counts))
        .collect();
    let expected = [
        (
            "B-LOC",
            Counts {
                gold: 2,
                found: 1,
                correct: 1,
            },
        ),
        (
            "B-PER",
            Counts {
                gold: 2,
                found: 1,
                correct: 0,
            },
        ),
        (
            "I-LOC",
            Counts {
                gold: 1,
                found: 1,
                correct: 1,
            },
        ),
        (
            "I-PER",
            Counts {
                gold: 0,
                found: 2,
                correct: 0,
            },
        ),
        (
            "O",
            Counts {
                gold: 4,
                found: 4,
                correct: 3,
            },
        ),
    ];
    assert_eq!(counts, expected);
    let averages = report.labels.averages;
    assert!(close(
        averages.unweighted.precision,
        (1.0 + 0.0 + 1.0 + 0.0 + 0.75) / 5.0
    ));
    assert!(close(
        averages.unweighted.recall,
        (0.5 + 0.0 + 1.0 + 0.0 + 0.75) / 5.0
    ));
    assert!(close(
        averages.weighted.precision,
        (2.0 + 0.0 + 1.0 + 4.0 * 0.75) / 9.0
    ));
    // Recall weighted by support is the accuracy.
    assert!(close(averages.weighted.recall, report.accuracy));
    assert!(close(
        averages.weighted.f1,
        (2.0 * (2.0 / 3.0) + 1.0 + 4.0 * 0.75) / 9.0
    ));
    assert_eq!((report.correct_sequences, report.sequences), (0, 3));
}

#[test]
fn confusions_come_by_their_number() {
    let confusion = sample(Evaluation::conlleval()).report().confusion;
    assert_eq!(confusion.labels, ["B-LOC", "B-PER", "I-LOC", "I-PER", "O"]);
    assert_eq!(confusion.counts[1], [0, 0, 0, 2, 0]);
    assert_eq!(confusion.counts[4], [0, 1, 0, 0, 3]);
    let largest = confusion.largest(2);
    assert_eq!(
        (largest[0].gold.as_str(), largest[0].predicted.as_str()),
        ("B-PER", "I-PER")
    );
    assert_eq!((largest[0].count, largest[0].share), (2, 1.0));
    assert_eq!(
        (largest[1].gold.as_str(), largest[1].predicted.as_str()),
        ("B-LOC", "O")
    );
    assert_eq!(
        (confusion.distinct(), confusion.largest(usize::MAX).len()),
        (3, 3)
    );
}

#[test]
fn strict_spans_are_well_formed() {
    let strict = sample(Evaluation::strict(Scheme::Iob2)).report();
    assert_eq!(
        strict.spans.total.counts,
        Counts {
            gold: 4,
            found: 2,
            correct: 1
        }
    );
    let generous = sample(Evaluation::conlleval()).report();
    assert_eq!(
        generous.spans.total.counts,
        Counts {
            gold: 4,
            found: 4,
            correct: 3
        }
    );
    assert_eq!(strict.labels, generous.labels);
}

#[test]
fn strict_spans_agree_in_type_and_both_ends() {
    let mut strict = Evaluation::strict(Scheme::Iobes);
    strict
        .add(&["B-X", "E-X", "S-X", "O"], &["B-Y", "E-Y", "S-X", "S-X"])
        .unwrap();
    strict
        .add(&["B-X", "I-X", "E-X", "O"], &["B-X", "E-X", "O", "O"])
        .unwrap();
    strict.add(&["O", "B-X", "E-X"], &["B-X", "I-X", "E-X"]).unwrap();
    strict.add(&["B-X", "I-X", "O"], &["B-X", "I-X", "O"]).unwrap();
    assert_eq!(
        strict.spans(),
        Counts {
            gold: 4,
            found: 5,
            correct: 1
        }
    );
}

#[test]
fn the_text_holds_every_part() {
    let expected = "\
strict IOB2: only well-formed spans count
processed 9 tokens with 4 phrases; found: 2 phrases; correct: 1.
accuracy:  55.56%; precision:  50.00%; recall:  25.00%; FB1:  33.33
              LOC: precision: 100.00%; recall:  50.00%; FB1:  66.67  1
              PER: precision:   0.00%; recall:   0.00%; FB1:   0.00  1

tokens:    5 of 9 right (55.56%)
sequences: 0 of 3 right (0.00%)

label            precision    recall       F1      gold     found   correct
B-LOC              100.00%    50.00%    66.67         2         1         1
B-PER                0.00%     0.00%     0.00         2         1         0
I-LOC              100.00%   100.00%   100.00         1         1         1
I-PER                0.00%     0.00%     0.00         0         2         0
O                   75.00%    75.00%    75.00         4         4         3
macro average       55.00%    45.00%    48.33
weighted average    66.67%    55.56%    59.26

gold \\ predicted  B-LOC  B-PER  I-LOC  I-PER  O
B-LOC                 1      .      .      .  1
B-PER                 .      .      .      2  .
I-LOC                 .      .      1      .  .
I-PER                 .      .      .      .  .
O                     .      1      .      .  3

gold   predicted    tokens   of gold
B-PER  I-PER             2   100.00%
B-LOC  O                 1    50.00%
O      B-PER             1    25.00%
";
    let report = sample(Evaluation::strict(Scheme::Iob2)).report();
    assert_eq!(report.to_string(), expected);
    assert!(report.confusion.list(1).ends_with("and 2 other confusions\n"));
}

#[test]
fn the_report_survives_json() {
    let report = sample(Evaluation::conlleval()).report();
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["spans"]["types"][0]["name"], "LOC");
    assert_eq!(value["spans"]["types"][0]["gold"], 2);
    assert!(value["labels"]["averages"]["macro"]["f1"].is_number());
}

#[test]
fn nothing_divided_by_nothing_is_zero() {
    for evaluation in [Evaluation::conlleval(), Evaluation::strict(Scheme::Io)] {
        let report = evaluation.report();
        assert_eq!(report.accuracy, 0.0);
        assert_eq!(report.spans.averages.unweighted.f1, 0.0);
        assert_eq!(report.labels.averages.weighted.recall, 0.0);
        assert!(!report.to_string().contains("NaN"));
        assert!(!serde_json::to_string(&report).unwrap().contains("null"));
    }
}

#[test]
fn unaligned_sequences_are_refused_and_leave_no_trace() {
    let mut evaluation = Evaluation::conlleval();
    let error = evaluation.add(&["O", "O"], &["O"]).unwrap_err();
    assert_eq!(
        error,
        EvalError::Length {
            gold: 2,
            predicted: 1
        }
    );
    assert_eq!(evaluation.report(), Evaluation::conlleval().report());
}

#[test]
fn ways_to_read_spans_do_not_mix() {
    let error = Evaluation::strict(Scheme::Iob1)
        .merge(&Evaluation::strict(Scheme::Iob2))
        .unwrap_err();
    assert_eq!(
        error,
        EvalError::Rules {
            left: "strict IOB1".into(),
            right: "strict IOB2".into()
        }
    );
    assert!(
        Evaluation::conlleval()
            .merge(&Evaluation::strict(Scheme::Iob2))
            .is_err()
    );
}

const LABELS: [&str; 7] = ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y"];

proptest! {
    #[test]
    fn merged_reports_are_equal(
        sequences in prop::collection::vec(prop::collection::vec((0usize..7, 0usize..7), 0..6), 0..8),
        cut in 0usize..9,
    ) {
        for new in [Evaluation::conlleval(), Evaluation::strict(Scheme::Iob2), Evaluation::strict(Scheme::Iobes)] {
            let (mut whole, mut left, mut right) = (new.clone(), new.clone(), new);
            for (index, sequence) in sequences.iter().enumerate() {
                let gold: Vec<&str> = sequence.iter().map(|pair| LABELS[pair.0]).collect();
                let predicted: Vec<&str> = sequence.iter().map(|pair| LABELS[pair.1]).collect();
                whole.add(&gold, &predicted).unwrap();
                let part = if index < cut { &mut left } else { &mut right };
                part.add(&gold, &predicted).unwrap();
            }
            left.merge(&right).unwrap();
            prop_assert_eq!(left.report(), whole.report());
        }
    }

    /// On labels that the encoder wrote, the script's spans are the well-formed ones.
    #[test]
    fn both_ways_agree_on_legal_labels(pieces in prop::collection::vec((0usize..2, 1usize..4, 0usize..2, any::<bool>()), 1..8)) {
        for scheme in [Scheme::Iob1, Scheme::Iob2, Scheme::Iobes] {
            let mut length = 0;
            let (mut gold, mut predicted) = (Vec::new(), Vec::new());
            for &(gap, width, kind, keep) in &pieces {
                let start = length + gap;
                length = start + width;
                let span = fieldmark_core::scheme::Span::new(start, length, ["X", "Y-Z"][kind]);
                gold.push(span);
                if keep { predicted.push(span) }
            }
            let correct = predicted.len() as u64;
            let (gold, predicted) = (scheme.labels_of(&gold, length).unwrap(), scheme.labels_of(&predicted, length).unwrap());
            for mut evaluation in [Evaluation::conlleval(), Evaluation::strict(scheme)] {
                evaluation.add(&gold, &predicted).unwrap();
                prop_assert_eq!(evaluation.spans(), Counts { gold: pieces.len() as u64, found: correct, correct });
            }
        }
    }
}
