//! What `check` finds in data that were made odd on purpose.

use fieldmark_core::Scheme;
use fieldmark_text::check::{CheckOptions, CheckReport, OddityKind, Repeat, check};
use fieldmark_text::{Format, Source};

fn columns(text: &str) -> CheckReport {
    checked(&Format::plain_columns(), text, None)
}

fn checked(format: &Format, text: &str, test: Option<&str>) -> CheckReport {
    let test = test.map(|text| Source::text("test", text));
    check(
        &Source::text("train", text),
        test.as_ref(),
        format,
        &CheckOptions::default(),
    )
    .unwrap()
}

#[test]
fn counts_and_labels() {
    let report = columns("a B-X\nb I-X\nc O\n\n\na B-X\nd ?\ne O|B-X\n\nf O\n");
    assert_eq!((report.sequences, report.tokens), (3, 7));
    assert_eq!((report.observations, report.distinct_observations), (7, 6));
    assert_eq!((report.unknown_labels, report.ambiguous_labels), (1, 1));
    assert_eq!((report.longest_sequence, report.longest_sequence_line), (3, 1));
    let labels: Vec<_> = report
        .labels
        .iter()
        .map(|label| (&*label.label, label.count))
        .collect();
    assert_eq!(labels, [("B-X", 2), ("O", 2), ("I-X", 1)]);
    assert_eq!(report.rare_labels, ["B-X", "O", "I-X"]);
    assert!(!report.real_valued);
    assert!(checked(&Format::attributes(), "A\ta:2\n", None).real_valued);
}

#[test]
fn illegal_transitions_have_lines() {
    let good = "a B-X\nb I-X\nc O\n\n".repeat(9);
    let report = columns(&format!(
        "{good}x O\ny I-X\nz I-Y\n\nx I-X\ny ?\nz I-X\n\nv O\nw I-X\n"
    ));
    assert_eq!(report.scheme.as_deref(), Some("IOB2"));
    let found: Vec<_> = report
        .illegal_transitions
        .iter()
        .map(|step| {
            (
                step.previous.as_deref(),
                step.next.as_deref(),
                step.count,
                &step.lines[..],
            )
        })
        .collect();
    let expected: [(_, _, _, &[u64]); 3] = [
        (Some("O"), Some("I-X"), 2, &[38, 46]),
        (None, Some("I-X"), 1, &[41]),
        (Some("I-X"), Some("I-Y"), 1, &[39]),
    ];
    assert_eq!(found, expected);

    let options = CheckOptions {
        scheme: Some(Scheme::Iobes),
        ..CheckOptions::default()
    };
    let source = Source::text("train", "a O\nb B-X\n");
    let report = check(&source, None, &Format::plain_columns(), &options).unwrap();
    assert_eq!(report.illegal_transitions[0].next, None);
    assert_eq!(report.illegal_transitions[0].lines, [2]);
    assert_eq!(columns("a NN\nb VB\n").scheme, None);
}

#[test]
fn repeated_sentences_are_duplicates_or_contradictions() {
    let report = columns("a X\nb Y\n\nc X\n\na X\nb Y\n\na X\nb X\n\nb X\na X\n");
    assert_eq!(
        (report.duplicates.count, &report.duplicates.examples[..]),
        (1, &[Repeat { lines: [1, 6] }][..])
    );
    assert_eq!(
        (report.contradictions.count, &report.contradictions.examples[..]),
        (1, &[Repeat { lines: [1, 9] }][..])
    );
    // A value is a part of what is observed, and so is the position where it is observed.
    let attributes = |text| checked(&Format::attributes(), text, None);
    assert_eq!(
        attributes("A\ta:1\n\nA\ta:2\n\nA\tb\nA\n\nA\nA\tb\n")
            .duplicates
            .count,
        0
    );
    assert_eq!(attributes("A\ta:1\n\nA\ta\n").duplicates.count, 1);
}

#[test]
fn test_data_are_compared_with_training_data() {
    let train = "a X\nb Y\n\nc X\n\nd Y\n";
    let report = checked(&Format::plain_columns(), train, Some("d X\n\ne Z\n\na X\nb Y\n"));
    let overlap = report.overlap.unwrap();
    assert_eq!(
        (overlap.sequences, overlap.tokens, overlap.contradictory),
        (3, 4, 1)
    );
    let lines: Vec<_> = overlap
        .repeated
        .examples
        .iter()
        .map(|repeat| repeat.lines)
        .collect();
    assert_eq!((overlap.repeated.count, lines), (2, vec![[6, 1], [1, 5]]));
    assert_eq!(
        overlap
            .unseen_labels
            .iter()
            .map(|label| (&*label.label, label.count))
            .collect::<Vec<_>>(),
        [("Z", 1)]
    );
    assert_eq!(
        (overlap.distinct_observations, overlap.unseen_observations),
        (4, 1)
    );
}

#[test]
fn odd_characters_and_blanks() {
    let text = "a\tb\tX\n a\tb\tX\na\tb\tX \n\t\na\u{A0}c\tb\tX\na\u{200B}\tb\u{200B}\tX\r\na\t\u{7}\tX\n\n";
    let report = columns(text);
    let found: Vec<_> = report
        .oddities
        .iter()
        .map(|odd| (odd.kind, odd.count, &odd.lines[..]))
        .collect();
    let expected: [(_, _, &[u64]); 7] = [
        (OddityKind::TrailingBlanks, 1, &[3]),
        (OddityKind::LeadingBlanks, 1, &[2]),
        (OddityKind::BlankLineWithSpaces, 1, &[4]),
        (OddityKind::NonBreakingSpace, 1, &[5]),
        (OddityKind::ZeroWidth, 1, &[6]),
        (OddityKind::ControlCharacter, 1, &[7]),
        (OddityKind::MixedLineEnds, 1, &[6]),
    ];
    assert_eq!(found, expected);
    let report = checked(
        &Format::attributes(),
        "A\ta:\tb\nA\ta\\:\t\tb\nA\ta\\\\:\nA a\tb\n",
        None,
    );
    let found: Vec<_> = report
        .oddities
        .iter()
        .map(|odd| (odd.kind, odd.lines.clone()))
        .collect();
    assert_eq!(
        found,
        [
            (OddityKind::DoubleTab, vec![2]),
            (OddityKind::EmptyValue, vec![1, 3]),
            (OddityKind::SpaceInLabel, vec![4])
        ]
    );
}

#[test]
fn the_report_is_json_and_text() {
    let report = checked(
        &Format::plain_columns(),
        "a B-X\nb I-Y\n\na B-X\nb O \n",
        Some("a B-X\nb O\n"),
    );
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<CheckReport>(&json).unwrap(), report);
    for field in [
        "\"distinct_observations\":",
        "\"illegal_transitions\":[{\"previous\":\"B-X\"",
        "\"kind\":\"trailing_blanks\"",
    ] {
        assert!(json.contains(field), "{field} in {json}");
    }
    let text = report.to_string();
    for line in [
        "  B-X           2   50.00%  rare\n",
        "label scheme IOB2: illegal transitions\n  B-X to I-Y: 1 times (line 2)\n",
        "contradictory sequences: 1 (same observations, other labels)\n  line 4 repeats line 1\n",
        "blanks at the end: 1 line (line 5)\n",
        "test: 1 sequence, 1 of them also in the training data\n  line 1 is line 1 of the training data\n",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    assert!(report.has_findings());
}
