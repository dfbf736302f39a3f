//! Scores of spans: the worked examples of Klinger (2011), hand-counted cases, and what must hold for any spans.

use fieldmark_core::Scheme;
use fieldmark_eval::{
    Counts, DistinctScores, Evaluation, GeneMentionScores, Matching, Score, Span, SpanScores,
};
use proptest::prelude::*;

fn scores(matching: Matching, gold: &[Span<'_>], found: &[Span<'_>]) -> SpanScores {
    let mut scores = SpanScores::new(matching);
    scores.add(gold, found);
    scores
}

fn counts(gold: u64, found: u64, correct: u64) -> Counts {
    Counts { gold, found, correct }
}

/// Klinger (2011), Table 2.5: "chicken beta-actin ( cBA ) gene", where it costs more to give a name wrong
/// borders than to leave it out.
#[test]
fn a_wrong_border_costs_twice() {
    let gold = ["O", "B-G", "I-G", "O", "B-G", "O", "O", "O", "O"];
    let left_out = ["O", "B-G", "I-G", "O", "O", "O", "O", "O", "O"];
    let too_long = ["O", "B-G", "I-G", "B-G", "I-G", "I-G", "I-G", "O", "O"];
    let gold = Scheme::Iob2.spans(&gold);

    let total = scores(Matching::Strict, &gold, &Scheme::Iob2.spans(&left_out)).total();
    assert_eq!((total.correct, total.spurious(), total.missed()), (1, 0, 1));

    let too_long = Scheme::Iob2.spans(&too_long);
    let total = scores(Matching::Strict, &gold, &too_long).total();
    assert_eq!((total.correct, total.spurious(), total.missed()), (1, 1, 1));
    assert_eq!(
        scores(Matching::Partial, &gold, &too_long).total(),
        counts(2, 2, 2)
    );
}

#[test]
fn each_matching_sees_its_own_hits() {
    let gold = [
        Span::new(0, 2, "PER"),
        Span::new(3, 4, "PER"),
        Span::new(5, 8, "LOC"),
        Span::new(9, 10, "LOC"),
    ];
    let found = [
        Span::new(0, 2, "PER"),   // right
        Span::new(3, 4, "LOC"),   // wrong type
        Span::new(6, 8, "LOC"),   // wrong border
        Span::new(9, 12, "PER"),  // wrong type and border
        Span::new(20, 21, "ORG"), // not there
    ];
    for (matching, correct) in [
        (Matching::Strict, 1),
        (Matching::Boundary, 2),
        (Matching::Type, 2),
        (Matching::Partial, 4),
    ] {
        assert_eq!(
            scores(matching, &gold, &found).total(),
            counts(4, 5, correct),
            "{matching:?}"
        );
    }
}

#[test]
fn where_types_do_not_count_each_side_has_its_own_hits() {
    let gold = [Span::new(0, 1, "PER"), Span::new(2, 3, "PER")];
    let found = [Span::new(0, 1, "LOC"), Span::new(2, 3, "PER")];
    let table = scores(Matching::Boundary, &gold, &found).table(1.0);
    let row = |name: &str| table.types.iter().find(|row| row.name == name).unwrap();
    assert_eq!((row("PER").recall, row("PER").precision), (1.0, 1.0));
    assert_eq!((row("LOC").recall, row("LOC").precision), (0.0, 1.0));
    assert_eq!(
        (table.micro.precision, table.micro.recall, table.micro.f),
        (1.0, 1.0, 1.0)
    );
}

#[test]
fn micro_and_macro_averages_and_the_weight_of_recall() {
    let gold = [
        Span::new(0, 1, "A"),
        Span::new(1, 2, "A"),
        Span::new(2, 3, "A"),
        Span::new(3, 4, "B"),
    ];
    let found = [Span::new(0, 1, "A"), Span::new(1, 2, "A"), Span::new(5, 6, "B")];
    let table = scores(Matching::Strict, &gold, &found).table(2.0);
    // A: P = 1, R = 2/3, F2 = 5·(2/3) / (4 + 2/3) = 5/7. B: nothing.
    assert_eq!(table.types.len(), 2);
    assert!((table.types[0].f - 5.0 / 7.0).abs() < 1e-15);
    assert!((table.unweighted.f - 5.0 / 14.0).abs() < 1e-15);
    assert_eq!(table.unweighted.precision, 0.5);
    assert!((table.unweighted.recall - 1.0 / 3.0).abs() < 1e-15);
    // Micro: P = 2/3, R = 1/2, F2 = 5·(1/3) / (8/3 + 1/2) = 10/19.
    assert!((table.micro.f - 10.0 / 19.0).abs() < 1e-15);
    assert!((counts(4, 3, 2).f_beta(2.0) - 10.0 / 19.0).abs() < 1e-15);
    assert!((counts(4, 3, 2).f_beta(0.5) - 5.0 / 8.0).abs() < 1e-15);
}

#[test]
fn nothing_gives_zero_and_repeats_are_counted() {
    let empty = SpanScores::new(Matching::Strict).table(1.0);
    assert_eq!(
        (empty.micro.precision, empty.micro.recall, empty.micro.f),
        (0.0, 0.0, 0.0)
    );
    assert_eq!(empty.unweighted, Default::default());
    let span = Span::new(0, 1, "A");
    assert_eq!(
        scores(Matching::Strict, &[span], &[span, span]).total(),
        counts(1, 2, 1)
    );
}

#[test]
fn tables_survive_json() {
    let table = scores(Matching::Type, &[Span::new(0, 1, "A")], &[Span::new(0, 2, "A")]).table(1.0);
    let json = serde_json::to_value(&table).unwrap();
    assert_eq!(json["matching"], "type");
    assert_eq!(json["macro"]["f"], 1.0);
    assert_eq!(json["types"][0]["gold_matched"], 1);
    assert_eq!(
        serde_json::from_value::<fieldmark_eval::SpanTable>(json).unwrap(),
        table
    );
}

/// The figures of Jancsary (2008), Tables 6.3 and 6.8: label counts, and the macro averages printed below them,
/// in which undefined values are left out.
#[test]
fn macro_averages_over_defined_values_are_those_of_the_tables() {
    for (rows, printed) in [
        (SENTENCES_OF_CORRECTED_REPORTS, [0.99, 0.98, 0.98]),
        (SECTIONS_OF_RECOGNISED_REPORTS, [0.63, 0.52, 0.66]),
    ] {
        let classes: Vec<Counts> = rows
            .iter()
            .map(|&[gold, correct, found]| counts(gold, found, correct))
            .collect();
        let mean = Score::mean_of_defined(&classes);
        for (ours, printed) in [mean.precision, mean.recall, mean.f1].into_iter().zip(printed) {
            assert!((ours - printed).abs() <= 0.005, "{ours} {printed}");
        }
    }
}

/// Gold, correct and returned tokens per label.
const SENTENCES_OF_CORRECTED_REPORTS: &[[u64; 3]] = &[
    [3119, 2926, 2989],
    [16740, 16284, 16507],
    [20857, 20449, 20731],
    [21753, 21471, 21645],
    [26245, 25701, 25985],
    [122082, 120087, 122079],
    [1187422, 1186223, 1188282],
];

/// Gold, correct and returned tokens per label.
const SECTIONS_OF_RECOGNISED_REPORTS: &[[u64; 3]] = &[
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
    [6, 0, 1],
    [8, 0, 0],
    [8, 0, 0],
    [37, 0, 0],
    [77, 42, 55],
    [119, 83, 89],
    [120, 37, 110],
    [145, 85, 98],
    [154, 0, 0],
    [198, 0, 14],
    [303, 129, 267],
    [473, 0, 0],
    [520, 239, 586],
    [947, 668, 948],
    [977, 495, 1286],
    [1169, 712, 1547],
    [1234, 318, 2030],
    [1338, 1135, 1261],
    [1480, 1126, 1585],
    [1516, 1099, 1523],
    [1517, 1128, 1600],
    [1520, 1016, 1680],
    [1612, 1204, 1730],
    [1879, 1426, 2144],
    [1943, 1420, 1999],
    [2810, 1714, 2400],
    [3042, 2156, 3463],
    [6404, 3708, 6012],
    [8310, 5927, 11043],
    [15105, 12034, 17034],
    [17540, 9505, 13850],
    [36083, 10389, 22814],
    [39580, 35419, 43582],
    [63944, 33904, 51909],
    [73828, 65456, 73710],
    [90764, 81265, 101055],
    [97415, 75320, 104530],
    [112300, 97538, 130032],
    [116052, 82103, 109528],
    [209832, 187954, 204178],
    [338955, 302438, 335574],
];

/// The counts are those of the script of the task on the same files.
#[test]
fn gene_mentions_are_counted_as_by_the_script() {
    let spans = |places: &[(usize, usize)]| -> Vec<Span<'static>> {
        places
            .iter()
            .map(|&(start, end)| Span::new(start, end + 1, "GENE"))
            .collect()
    };
    let sentences: [[&[(usize, usize)]; 3]; 7] = [
        // A gold mention, as it stands.
        [&[(14, 33), (37, 50)], &[], &[(14, 33)]],
        // A shorter alternative, then two alternatives of the same mention: the second counts nowhere.
        [&[(0, 28)], &[(5, 28)], &[(5, 28)]],
        [
            &[(11, 31)],
            &[(11, 21), (20, 21), (20, 31)],
            &[(11, 21), (20, 31)],
        ],
        // An alternative that overlaps two mentions finds both.
        [&[(0, 9), (12, 20)], &[(0, 20)], &[(0, 20)]],
        // An alternative that overlaps no mention is neither right nor wrong; the last character counts.
        [&[(0, 4)], &[(5, 8), (4, 8)], &[(5, 8)]],
        [&[(0, 4)], &[(5, 8), (4, 8)], &[(4, 8)]],
        // A wrong border, twice; a sentence without mentions follows.
        [&[(3, 9)], &[(3, 12)], &[(3, 10), (3, 10)]],
    ];
    let mut scores = GeneMentionScores::default();
    for [gold, alternatives, found] in sentences {
        scores.add(&spans(gold), &spans(alternatives), &spans(found));
    }
    let mut rest = GeneMentionScores::default();
    rest.add(&[], &[], &spans(&[(1, 2)]));
    scores.merge(&rest);

    let official = scores.counts();
    assert_eq!(
        (official.correct, official.spurious(), official.missed()),
        (6, 3, 3)
    );
    let strict = scores.strict();
    assert_eq!((strict.correct, strict.spurious(), strict.missed()), (1, 9, 8));
    assert_eq!(scores.guesses(), 10);
}

#[test]
fn an_entity_counts_once_per_document_and_type() {
    let mut scores = DistinctScores::default();
    scores.add(
        "1",
        [("GENE", "a"), ("GENE", "a"), ("GENE", "b"), ("DRUG", "a")],
        [("GENE", "a")],
    );
    let mut more = DistinctScores::default();
    more.add("1", [], [("GENE", "a"), ("GENE", "c")]);
    more.add("2", [("GENE", "a")], [("GENE", "a")]);
    scores.merge(more);
    assert_eq!(
        scores.types(),
        [("DRUG", counts(1, 0, 0)), ("GENE", counts(3, 3, 2))]
    );
    assert_eq!(scores.total(), counts(4, 3, 2));
}

fn spans() -> impl Strategy<Value = Vec<Span<'static>>> {
    let span = (0usize..20, 1usize..5, prop::sample::select(vec!["A", "B", "C"]))
        .prop_map(|(start, length, kind)| Span::new(start, start + length, kind));
    prop::collection::vec(span, 0..10)
}

fn labels() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["O", "B-A", "I-A", "B-B", "I-B"]), 12)
}

proptest! {
    #[test]
    fn gold_and_found_may_change_places(gold in spans(), found in spans()) {
        for matching in Matching::ALL {
            let (one, other) = (scores(matching, &gold, &found), scores(matching, &found, &gold));
            prop_assert_eq!(one.total().f1(), other.total().f1());
            prop_assert_eq!(one.total().precision(), other.total().recall());
        }
    }

    #[test]
    fn looser_matching_never_finds_less(gold in spans(), found in spans()) {
        let correct = |matching| scores(matching, &gold, &found).total().correct;
        prop_assert!(correct(Matching::Strict) <= correct(Matching::Boundary));
        prop_assert!(correct(Matching::Strict) <= correct(Matching::Type));
        prop_assert!(correct(Matching::Boundary) <= correct(Matching::Partial));
        prop_assert!(correct(Matching::Type) <= correct(Matching::Partial));
    }

    #[test]
    fn perfect_spans_have_perfect_scores(gold in spans()) {
        for matching in Matching::ALL {
            let table = scores(matching, &gold, &gold).table(1.0);
            prop_assert_eq!(table.micro.f, if gold.is_empty() { 0.0 } else { 1.0 });
            prop_assert_eq!(table.types.iter().filter(|row| row.f < 1.0).count(), 0);
        }
    }

    #[test]
    fn strict_spans_are_those_of_the_evaluation_of_labels(gold in labels(), found in labels()) {
        let mut evaluation = Evaluation::conlleval();
        evaluation.add(&gold, &found).unwrap();
        let (gold, found) = (Scheme::Iob2.spans(&gold), Scheme::Iob2.spans(&found));
        prop_assert_eq!(scores(Matching::Strict, &gold, &found).total(), evaluation.spans());
    }

    #[test]
    fn merging_is_adding(gold in spans(), found in spans(), more in spans()) {
        for matching in Matching::ALL {
            let mut together = scores(matching, &gold, &found);
            together.add(&more, &gold);
            let mut merged = scores(matching, &gold, &found);
            merged.merge(&scores(matching, &more, &gold)).unwrap();
            prop_assert_eq!(together.table(1.0), merged.table(1.0));
        }
    }

    #[test]
    fn alternatives_never_hurt(gold in spans(), alternatives in spans(), found in spans()) {
        let mut scores = GeneMentionScores::default();
        scores.add(&gold, &alternatives, &found);
        prop_assert!(scores.strict().correct <= scores.counts().correct);
        prop_assert!(scores.strict().spurious() >= scores.counts().spurious());
    }
}

#[test]
fn different_matchings_do_not_merge() {
    let mut strict = SpanScores::new(Matching::Strict);
    assert!(strict.merge(&SpanScores::new(Matching::Partial)).is_err());
}
