use super::*;
use fieldmark_text::document::{Annotation, Document};
use fieldmark_text::formats::{ALTGENE, GENE};

/// A document with spans given as start, end, type and score.
pub(super) fn document(id: &str, text: &str, spans: &[(usize, usize, &str, Option<f64>)]) -> Document {
    let mut document = Document::new(id, text);
    document.annotations = spans
        .iter()
        .map(|&(start, end, kind, score)| Annotation {
            score,
            ..Annotation::new(start..end, kind)
        })
        .collect();
    document
}

pub(super) fn pair(text: &str, gold: &[(usize, usize, &str)], found: &[(usize, usize, &str, f64)]) -> Pair {
    let gold: Vec<_> = gold
        .iter()
        .map(|&(start, end, kind)| (start, end, kind, None))
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|&(start, end, kind, score)| (start, end, kind, Some(score)))
        .collect();
    Pair::new(
        document("d", text, &gold),
        document("d", text, &found).annotations,
    )
}

pub(super) fn assess(pairs: &[Pair], measures: &[Measure]) -> Assessment {
    let options = AssessOptions {
        measures: measures.to_vec(),
        ..AssessOptions::default()
    };
    Assessment::new(pairs, &options).unwrap()
}

#[test]
fn documents_are_matched_by_id_and_none_is_forgotten() {
    let gold = ["a", "b", "c"].map(|id| document(id, "one two", &[(0, 3, "X", None)]));
    let predicted = ["c", "z", "a"].map(|id| document(id, "one two", &[(4, 7, id, None)]));
    let pairing = pair_documents(gold.to_vec(), predicted.to_vec()).unwrap();
    assert_eq!(pairing.missing, ["b"]);
    assert_eq!(pairing.extra, ["z"]);
    assert!(!pairing.by_order);
    let kinds: Vec<Vec<&str>> = pairing
        .pairs
        .iter()
        .map(|pair| pair.found.iter().map(|found| found.kind.as_str()).collect())
        .collect();
    assert_eq!(kinds, [vec!["a"], vec![], vec!["c"]]);
}

#[test]
fn documents_of_one_id_belong_together_in_their_order() {
    let gold = [document("1", "one", &[]), document("1", "two", &[])];
    let predicted = [
        document("1", "one", &[]),
        document("1", "two", &[(0, 3, "X", None)]),
    ];
    let pairing = pair_documents(gold.to_vec(), predicted.to_vec()).unwrap();
    assert_eq!(pairing.pairs[1].found.len(), 1);
}

#[test]
fn other_ids_are_fine_when_the_texts_are_the_same() {
    let gold = [document("a", "one", &[]), document("b", "two", &[])];
    let predicted = [
        document("1", "one", &[]),
        document("2", "two", &[(0, 3, "X", None)]),
    ];
    let pairing = pair_documents(gold.to_vec(), predicted.to_vec()).unwrap();
    assert!(pairing.by_order && pairing.missing.is_empty() && pairing.extra.is_empty());
    assert_eq!(pairing.pairs[1].found.len(), 1);
    let swapped: Vec<Document> = predicted.iter().rev().cloned().collect();
    let error = pair_documents(gold.to_vec(), swapped).unwrap_err();
    assert!(
        matches!(error, PairError::NothingInCommon { gold: 2, .. }),
        "{error}"
    );
    assert_eq!(
        pair_documents(Vec::new(), predicted.to_vec()).unwrap_err(),
        PairError::NoGold
    );
    assert!(pair_documents(gold.to_vec(), Vec::new()).is_err());
}

#[test]
fn white_space_may_differ_and_offsets_are_translated() {
    let gold = document("a", "α (β)  actin", &[(3, 5, "X", None), (8, 13, "Y", None)]);
    let predicted = document("a", "α ( β ) actin\n", &[(5, 7, "X", None), (10, 15, "Y", None)]);
    let pairing = pair_documents(vec![gold], vec![predicted]).unwrap();
    assert_eq!(pairing.respaced, 1);
    let pair = &pairing.pairs[0];
    let ranges: Vec<_> = pair.found.iter().map(Annotation::range).collect();
    assert_eq!(ranges, [4..6, 9..14], "{}", pair.text);
    assert_eq!(pair.found[1].text(&pair.text), "actin");
}

#[test]
fn different_texts_are_an_error_that_shows_where() {
    let gold = ["a", "b", "c"].map(|id| document(id, "give iron now", &[]));
    let predicted = ["a", "b", "c"].map(|id| {
        let text = if id == "a" {
            "give iron now"
        } else {
            "give zinc now"
        };
        document(id, text, &[])
    });
    let error = pair_documents(gold.to_vec(), predicted.to_vec())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"b\" differs from character 6: gold has \"iron now\", predicted has \"zinc now\""),
        "{error}"
    );
    assert!(error.contains("1 other"), "{error}");
}

pub(super) const TEXT: &str = "Ada met Bob Lee in Rome. Eve left Paris.";

pub(super) fn example() -> Pair {
    pair(
        TEXT,
        &[
            (0, 3, "PER"),
            (8, 15, "PER"),
            (19, 23, "LOC"),
            (25, 28, "PER"),
            (34, 39, "LOC"),
        ],
        &[
            (0, 3, "PER", 0.9),
            (8, 11, "PER", 0.6),
            (19, 23, "ORG", 0.7),
            (29, 33, "PER", 0.8),
            (34, 39, "LOC", 0.95),
        ],
    )
}

#[test]
fn every_measure_is_the_one_of_the_library() {
    let all = [
        Measure::Exact,
        Measure::Boundary,
        Measure::Type,
        Measure::Partial,
        Measure::Distinct,
        Measure::Tokens,
        Measure::GeneMention,
        Measure::WindowDiff,
        Measure::Agreement,
    ];
    let assessment = assess(&[example()], &all);
    let scores: Vec<(&str, u64)> = assessment
        .overview
        .iter()
        .map(|score| (score.name.as_str(), score.counts.correct))
        .collect();
    assert_eq!(
        scores,
        [("exact", 2), ("boundary", 3), ("type", 3), ("partial", 4)]
    );
    assert_eq!(assessment.spans.len(), 4);
    let errors = assessment.errors;
    assert_eq!(
        (errors.correct, errors.wrong_type, errors.wrong_borders),
        (2, 1, 1)
    );
    assert_eq!((errors.missed, errors.spurious), (1, 1));
    let tokens = assessment.others.tokens.as_ref().unwrap();
    // Tokens of PER: gold Ada, Bob, Lee, Eve; found Ada, Bob, left.
    let person = tokens.types.iter().find(|score| score.name == "PER").unwrap();
    assert_eq!(
        (person.counts.gold, person.counts.found, person.counts.correct),
        (4, 3, 2)
    );
    assert_eq!(
        assessment.others.distinct.as_ref().unwrap().total.counts.correct,
        2
    );
    let genes = assessment.others.gene_mention.as_ref().unwrap();
    assert_eq!(genes.strict.counts.correct, 3, "types play no part");
    assert!(assessment.others.window_diff.unwrap().differing > 0);
    let agreement = assessment.others.agreement.as_ref().unwrap();
    assert_eq!(agreement.spans.micro.f, assessment.overview[0].f);
}

#[test]
fn beta_weighs_recall() {
    let pairs = [pair(
        TEXT,
        &[(0, 3, "PER"), (8, 15, "PER")],
        &[(0, 3, "PER", 0.9)],
    )];
    let options = AssessOptions {
        beta: 2.0,
        ..AssessOptions::default()
    };
    let assessment = Assessment::new(&pairs, &options).unwrap();
    assert!((assessment.overview[0].f - 5.0 / 9.0).abs() < 1e-15);
    assert!(assessment.to_string().contains(" F2 "), "{assessment}");
    for beta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = AssessOptions {
            beta,
            ..AssessOptions::default()
        };
        assert!(matches!(
            Assessment::new(&pairs, &options),
            Err(AssessError::Beta(_))
        ));
    }
}

#[test]
fn alternatives_are_as_good_as_genes_and_no_genes_themselves() {
    let text = "Serum gamma GT rose";
    let mut gold = document("P1", text, &[(0, 14, GENE, None)]);
    gold.annotations.push(Annotation::new(6..14, ALTGENE));
    let pair = Pair::new(gold, vec![Annotation::new(6..14, GENE)]);
    let assessment = assess(&[pair], &[Measure::GeneMention]);
    let genes = assessment.others.gene_mention.unwrap();
    assert_eq!(genes.with_alternatives.f, 1.0);
    assert_eq!(genes.strict.counts.correct, 0);
    assert_eq!(assessment.overview[0].counts.gold, 1);
}

#[test]
fn identifiers_count_once_per_document_if_both_sides_have_them() {
    let named = |kind: &str, range, id: &str| Annotation {
        identifiers: vec![id.to_owned()],
        ..Annotation::new(range, kind)
    };
    let mut gold = document("d", "ERK1 and MAPK3", &[]);
    gold.annotations = vec![named("GENE", 0..4, "5595"), named("GENE", 9..14, "5595")];
    let with = assess(
        &[Pair::new(gold.clone(), vec![named("GENE", 0..4, "5595")])],
        &[Measure::Distinct],
    );
    let table = with.others.distinct.unwrap();
    assert!(table.by_identifier);
    assert_eq!((table.total.counts.gold, table.total.f), (1, 1.0));
    let without = assess(
        &[Pair::new(gold, vec![Annotation::new(0..4, "GENE")])],
        &[Measure::Distinct],
    );
    let table = without.others.distinct.unwrap();
    assert!(!table.by_identifier);
    assert_eq!((table.total.counts.gold, table.total.counts.correct), (2, 1));
}

#[test]
fn types_with_an_order_are_named_or_numbers() {
    let graded = |gold: &str, found: &str| pair("fine", &[(0, 4, gold)], &[(0, 4, found, 0.5)]);
    let options = |order: &[&str]| AssessOptions {
        measures: vec![Measure::Ordinal],
        order: order.iter().map(|&name| name.to_owned()).collect(),
        ..AssessOptions::default()
    };
    let error = |pair: Pair, order: &[&str]| Assessment::new(&[pair], &options(order)).unwrap_err();
    let mae = |pair: Pair, order: &[&str]| {
        let assessment = Assessment::new(&[pair], &options(order)).unwrap();
        assessment.others.ordinal.unwrap().macro_mae
    };
    assert_eq!(mae(graded("-1", "2"), &[]), 3.0);
    assert_eq!(mae(graded("bad", "good"), &["bad", "fair", "good"]), 2.0);
    assert_eq!(
        error(graded("bad", "2"), &[]),
        AssessError::Order("bad".to_owned())
    );
    assert_eq!(
        error(graded("2", "bad"), &["bad"]),
        AssessError::Order("2".to_owned())
    );
}

#[test]
fn thresholds_need_confidences_and_say_what_is_left() {
    let wanted = |pairs: &[Pair], precision| {
        let options = AssessOptions {
            precision: Some(precision),
            ..AssessOptions::default()
        };
        Assessment::new(pairs, &options)
    };
    let confidence = wanted(&[example()], 1.0).unwrap().confidence.unwrap();
    let point = confidence.wanted.unwrap().point.unwrap();
    assert_eq!((point.threshold, point.precision, point.recall), (0.9, 1.0, 0.4));
    assert_eq!(confidence.calibration.decisions, 5);
    let mut unscored = example();
    unscored.found[0].score = None;
    unscored.found[1].score = Some(17.0);
    let confidence = wanted(&[unscored.clone()], 0.5).unwrap().confidence.unwrap();
    assert_eq!((confidence.unscored, confidence.calibration.decisions), (2, 3));
    unscored.found.iter_mut().for_each(|found| found.score = None);
    assert_eq!(
        wanted(&[unscored.clone()], 0.5).unwrap_err(),
        AssessError::NoConfidence
    );
    unscored.found.clear();
    assert_eq!(wanted(&[unscored], 0.5).unwrap_err(), AssessError::NothingFound);
}

#[test]
fn cases_are_in_their_sentences_and_the_surest_come_first() {
    let more = pair("x. Bob sat. y", &[], &[(3, 6, "PER", 0.99), (7, 10, "PER", 0.2)]);
    let again = pair("Bob sat.", &[], &[(0, 3, "PER", 0.5)]);
    let cases = assess(&[example(), more, again], &[Measure::Exact]).cases;
    let spurious: Vec<(&str, usize, f64)> = cases
        .spurious
        .iter()
        .map(|case| {
            let found = case.found.as_ref().unwrap();
            (found.text.as_str(), case.times, found.confidence.unwrap())
        })
        .collect();
    assert_eq!(spurious, [("Bob", 2, 0.99), ("left", 1, 0.8), ("sat", 1, 0.2)]);
    assert_eq!(cases.missed[0].context, "Eve left Paris.");
    assert_eq!(cases.missed[0].gold.as_ref().unwrap().text, "Eve");
    // In bytes of the sentence.
    let left = &cases.missed[0].context_found[0];
    assert_eq!(&cases.missed[0].context[left.start..left.end], "left");
    assert_eq!(cases.wrong_borders[0].found.as_ref().unwrap().text, "Bob");
    assert_eq!(cases.wrong_borders[0].gold.as_ref().unwrap().text, "Bob Lee");
    assert_eq!(cases.wrong_type[0].gold.as_ref().unwrap().text, "Rome");
}

#[test]
fn long_sentences_are_cut_between_words_or_at_characters() {
    let missed = |text: &str| {
        let at = text.find("Ada").unwrap();
        let assessment = assess(&[pair(text, &[(at, at + 3, "PER")], &[])], &[Measure::Exact]);
        let page = write_page("", "", &assessment.sections()).unwrap();
        assert!(page.contains(">Ada</span>"), "the mark is where the name is");
        assessment.cases.missed[0].clone()
    };
    let solid = missed(&format!("{} Ada {}", "ä".repeat(500), "ö".repeat(500)));
    assert!(
        solid.context.contains("Ada") && solid.context.len() < 400,
        "{}",
        solid.context
    );
    assert_eq!(solid.cut, (true, true));
    let words = missed(&format!("{}Ada {}", "gänse ".repeat(100), "vögel ".repeat(100)));
    assert!(
        words.context.starts_with("gänse ") && words.context.ends_with(" vögel"),
        "{}",
        words.context
    );
    assert_eq!(words.cut, (true, true));
    assert_eq!(missed("Here Ada sat.").cut, (false, false));
}

#[test]
fn a_better_system_is_found_to_be_better() {
    let good: Vec<Pair> = (0..20)
        .map(|_| pair("Ada sat", &[(0, 3, "PER")], &[(0, 3, "PER", 0.9)]))
        .collect();
    let mut bad = good.clone();
    bad.iter_mut().skip(4).for_each(|pair| pair.found.clear());
    let better = compare(&good, &bad, &CompareOptions::default()).unwrap();
    assert_eq!((better.first.f, better.second.recall), (1.0, 0.2));
    assert_eq!(better.better, (16, 0));
    assert!(better.tests[2].p < 0.001 && better.tests[3].p < 0.001);
    let same = compare(&good, &good, &CompareOptions::default()).unwrap();
    assert_eq!(same.tests[2].p, 1.0);
    assert_eq!(same.better, (0, 0));
    let alone = compare(&good[..1], &bad[..1], &CompareOptions::default()).unwrap();
    assert_eq!(alone.tests.len(), 3, "a t-test needs two documents");
}

#[test]
fn pages_hold_everything_and_escape_it() {
    let evil = "<script>alert(1)</script>";
    let text = format!("{evil} met Bob.");
    let pairs = [
        pair(
            &text,
            &[(0, 8, "A&B"), (30, 33, "PER")],
            &[(0, 6, "A&B", 0.9), (26, 29, evil, 0.8)],
        ),
        example(),
    ];
    let options = AssessOptions {
        precision: Some(0.9),
        measures: vec![
            Measure::Exact,
            Measure::Tokens,
            Measure::Distinct,
            Measure::Agreement,
        ],
        ..AssessOptions::default()
    };
    let assessment = Assessment::new(&pairs, &options).unwrap();
    let mut sections = assessment.sections();
    let comparison = compare(&pairs, &pairs, &CompareOptions::default()).unwrap();
    sections.push(comparison.section(evil, evil));
    let page = write_page(evil, evil, &sections).unwrap();
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    for heading in [
        "Scores",
        "More measures",
        "Confusion",
        "Calibration",
        "Precision and recall",
        "Missed",
        "Wrong borders",
        "Wrong type",
        "Spurious",
        "Two systems",
    ] {
        assert!(page.contains(&format!("<h2 dir=\"auto\">{heading}")), "{heading}");
    }
    assert!(page.matches("<svg viewBox=\"0 0 420 300\"").count() == 2);
    for outside in ["http:", "https:", "url(", "@import", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
}
