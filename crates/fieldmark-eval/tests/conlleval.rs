//! What the `conlleval` script prints, line by line. Data are written as `gold/predicted`, or one label where
//! the two agree.

use fieldmark_eval::{ConllEval, Rules};
use proptest::prelude::*;

fn add(evaluation: &mut ConllEval, sequence: &str) {
    let pairs = sequence
        .split_whitespace()
        .map(|pair| pair.split_once('/').unwrap_or((pair, pair)));
    let (gold, predicted): (Vec<&str>, Vec<&str>) = pairs.unzip();
    evaluation.add(&gold, &predicted).unwrap();
}

fn print(mut evaluation: ConllEval, data: &str) -> String {
    data.lines().for_each(|sequence| add(&mut evaluation, sequence));
    evaluation.to_string()
}

/// Data that both versions of the rules read in the same way.
fn assert_prints(data: &str, expected: &str) {
    for rules in [Rules::Original, Rules::Extended] {
        assert_eq!(print(ConllEval::with_rules(rules), data), expected, "{rules:?}");
    }
}

#[test]
fn iob2_with_spans_that_miss_their_beginning() {
    let data = "\
B-NP I-NP B-VP B-NP/I-NP O
B-PP B-NP I-NP/B-NP I-NP O/I-ADVP
B-VP/O I-VP B-NP";
    let expected = "\
processed 13 tokens with 7 phrases; found: 9 phrases; correct: 5.
accuracy:  69.23%; precision:  55.56%; recall:  71.43%; FB1:  62.50
             ADVP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
               NP: precision:  60.00%; recall:  75.00%; FB1:  66.67  5
               PP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
               VP: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
";
    assert_prints(data, expected);
}

#[test]
fn iob1_with_touching_spans_of_one_type() {
    let data = "\
I-PER I-PER O I-LOC B-LOC
I-LOC/I-ORG I-ORG O/B-MISC B-MISC/I-MISC
I-PER B-PER/I-PER O";
    let expected = "\
processed 12 tokens with 8 phrases; found: 6 phrases; correct: 3.
accuracy:  66.67%; precision:  50.00%; recall:  37.50%; FB1:  42.86
              LOC: precision: 100.00%; recall:  66.67%; FB1:  80.00  2
             MISC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              PER: precision:  50.00%; recall:  33.33%; FB1:  40.00  2
";
    assert_prints(data, expected);
}

#[test]
fn iobes_needs_the_extended_rules() {
    let data = "\
B-X E-X S-X S-X/O O
S-X S-X B-X I-X E-X
B-Y/S-Y E-Y/S-Y O/E-Y S-Y/I-Y E-X/S-X";
    let extended = "\
processed 15 tokens with 9 phrases; found: 10 phrases; correct: 7.
accuracy:  60.00%; precision:  70.00%; recall:  77.78%; FB1:  73.68
                X: precision: 100.00%; recall:  85.71%; FB1:  92.31  6
                Y: precision:  25.00%; recall:  50.00%; FB1:  33.33  4
";
    assert_eq!(print(ConllEval::new(), data), extended);
    let original = "\
processed 15 tokens with 5 phrases; found: 5 phrases; correct: 3.
accuracy:  60.00%; precision:  60.00%; recall:  60.00%; FB1:  60.00
                X: precision:  66.67%; recall:  66.67%; FB1:  66.67  3
                Y: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
";
    assert_eq!(print(ConllEval::with_rules(Rules::Original), data), original);
}

#[test]
fn the_empty_type_is_printed_twice() {
    let data = "\
B I O B
O I/B O/B";
    let expected = "\
processed 7 tokens with 3 phrases; found: 4 phrases; correct: 3.
accuracy:  71.43%; precision:  75.00%; recall: 100.00%; FB1:  85.71
                 : precision:  75.00%; recall: 100.00%; FB1:  85.71  4
                 : precision:  75.00%; recall: 100.00%; FB1:  85.71  4
";
    assert_prints(data, expected);
}

#[test]
fn the_type_0_is_the_empty_type() {
    let expected = "\
processed 4 tokens with 2 phrases; found: 2 phrases; correct: 2.
accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00
                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1
                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1
               00: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
";
    assert_prints("B-0 I-0/I O B-00", expected);
}

#[test]
fn brackets_dots_and_dashes() {
    let data = "\
[-NP [-NP/]-NP .-NP B-NP
B-a-b I-a-b/I-a .-NP/O";
    let expected = "\
processed 7 tokens with 3 phrases; found: 4 phrases; correct: 2.
accuracy:  57.14%; precision:  50.00%; recall:  66.67%; FB1:  57.14
               NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  2
                a: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              a-b: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
";
    assert_prints(data, expected);
}

#[test]
fn unknown_prefixes_reach_over_the_border_of_a_sequence() {
    let data = "\
B-X Y
B-X/Y I-X
Y B-X";
    let expected = "\
processed 6 tokens with 4 phrases; found: 4 phrases; correct: 2.
accuracy:  83.33%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1
                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1
                X: precision:  66.67%; recall:  66.67%; FB1:  66.67  3
";
    assert_prints(data, expected);
}

#[test]
fn a_dot_leaves_its_chunk_open_to_the_end_of_the_data() {
    let data = "\
B-X .-X
B-Y
B-X .-X";
    let expected = "\
processed 5 tokens with 3 phrases; found: 3 phrases; correct: 2.
accuracy: 100.00%; precision:  66.67%; recall:  66.67%; FB1:  66.67
                X: precision:   0.00%; recall:   0.00%; FB1:   0.00  2
                Y: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
";
    assert_prints(data, expected);
}

#[test]
fn labels_without_spans_have_accuracy_only() {
    let expected = "\
processed 3 tokens with 0 phrases; found: 0 phrases; correct: 0.
accuracy:  66.67%; precision:   0.00%; recall:   0.00%; FB1:   0.00
";
    assert_prints("NN VB/NN DT", expected);
}

#[test]
fn without_tokens_there_is_no_accuracy() {
    assert_prints(
        "",
        "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n",
    );
    assert_prints(
        "\n\n",
        "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n",
    );
}

#[test]
fn exact_halves_are_rounded_to_even() {
    let data = format!("B-T{}", " B-T/O".repeat(31));
    let expected = "\
processed 32 tokens with 32 phrases; found: 1 phrases; correct: 1.
accuracy:   3.12%; precision: 100.00%; recall:   3.12%; FB1:   6.06
                T: precision: 100.00%; recall:   3.12%; FB1:   6.06  1
";
    assert_prints(&data, expected);
}

#[test]
fn padding_counts_bytes() {
    let printed = print(ConllEval::new(), "B-Größe");
    assert!(printed.contains("\n          Größe: precision"), "{printed}");
}

#[test]
fn raw_labels_are_spans_of_one_token() {
    let expected = "\
processed 5 tokens with 4 phrases; found: 3 phrases; correct: 2.
accuracy:  60.00%; precision:  66.67%; recall:  50.00%; FB1:  57.14
              B-X: precision: 100.00%; recall:  50.00%; FB1:  66.67  1
                X: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
";
    assert_eq!(print(ConllEval::raw("none"), "X X/none O B-X B-X/X"), expected);
}

/// Labels that the script gives some meaning or other, legal or not.
const LABELS: [&str; 16] = [
    "O", "B-X", "I-X", "E-X", "S-X", ".-X", "[-X", "]-X", "Z-X", "Z", "B", "I-0", "B-Y", "I-Y", "", "-X",
];

proptest! {
    #[test]
    fn merging_does_not_depend_on_the_cut(
        sequences in prop::collection::vec(prop::collection::vec((0usize..16, 0usize..16, prop::bool::weighted(0.8)), 0..5), 0..8),
        first in 0usize..9,
        second in 0usize..9,
    ) {
        let mut whole = ConllEval::new();
        let mut parts = [ConllEval::new(), ConllEval::new(), ConllEval::new()];
        let (first, second) = (first.min(second), first.max(second));
        for (index, sequence) in sequences.iter().enumerate() {
            let gold: Vec<&str> = sequence.iter().map(|cell| LABELS[cell.0]).collect();
            let predicted: Vec<&str> =
                sequence.iter().map(|cell| LABELS[if cell.2 { cell.0 } else { cell.1 }]).collect();
            whole.add(&gold, &predicted).unwrap();
            parts[usize::from(index >= first) + usize::from(index >= second)].add(&gold, &predicted).unwrap();
        }
        let [mut left, middle, right] = parts.clone();
        left.merge(&middle).unwrap();
        left.merge(&right).unwrap();
        prop_assert_eq!(left.to_string(), whole.to_string());
        let [mut left, mut middle, right] = parts;
        middle.merge(&right).unwrap();
        left.merge(&middle).unwrap();
        prop_assert_eq!(left.to_string(), whole.to_string());
    }
}

#[test]
fn different_rules_do_not_mix() {
    let mut original = ConllEval::with_rules(Rules::Original);
    let error = original.merge(&ConllEval::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "figures under the rules \"conlleval 2004-01-26\" cannot be merged with figures under the rules \"conlleval\""
    );
    assert!(ConllEval::new().merge(&ConllEval::raw("O")).is_err());
}
