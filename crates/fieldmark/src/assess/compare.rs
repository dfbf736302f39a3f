//! [`compare`]: is one system better than another by more than chance?

use super::measures::gene_mentions;
use super::significance::{SHUFFLES, Significance, Test};
use super::text::f_name;
use super::{AssessError, Measure, NamedScore, Pair};
use fieldmark_eval::{Counts, Matching, SpanScores, Tail};
use serde::Serialize;

/// Two systems on the same documents.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What both were measured by.
    pub measure: &'static str,
    /// How much recall weighs against precision in F.
    pub beta: f64,
    /// The first system.
    pub first: NamedScore,
    /// The second system.
    pub second: NamedScore,
    /// What is more than chance.
    pub tests: Vec<Significance>,
    /// How often randomisation exchanged outputs, if it was among the tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffles: Option<u64>,
    /// Documents on which the first, or the second, has the better F; on the others both are as good.
    pub better: (usize, usize),
}

/// How two systems are compared.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// [`Measure::Exact`] or [`Measure::GeneMention`].
    pub measure: Measure,
    /// How much recall weighs against precision in F.
    pub beta: f64,
    /// The tests, in the order of the report; without any, randomisation and, of two documents or more, the paired
    /// t-test.
    pub tests: Vec<Test>,
    /// Which differences speak against chance.
    pub tail: Tail,
    /// Decides which outputs are exchanged.
    pub seed: u64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            measure: Measure::Exact,
            beta: 1.0,
            tests: Vec::new(),
            tail: Tail::Both,
            seed: 0,
        }
    }
}

/// Compares two systems, given as pairs of the same gold documents in the same order.
///
/// Randomisation tests precision, recall and F of all documents together; t-tests are of F of single documents, of which
/// they need two.
pub fn compare(first: &[Pair], second: &[Pair], options: &CompareOptions) -> Result<Comparison, AssessError> {
    let &CompareOptions { beta, tail, seed, .. } = options;
    let gene_mention = options.measure == Measure::GeneMention;
    let counts = |pairs: &[Pair]| -> Vec<Counts> {
        let of = |pair: &Pair| match gene_mention {
            true => gene_mentions(pair).counts(),
            false => exact(pair),
        };
        pairs.iter().map(of).collect()
    };
    let (ones, others) = (counts(first), counts(second));
    // Who rightly finds nothing in a document has made no mistake.
    let f = |counts: &Counts| match counts.gold + counts.found {
        0 => 1.0,
        _ => counts.f_beta(beta),
    };
    let by_document = |counts: &[Counts]| -> Vec<f64> { counts.iter().map(f).collect() };
    let (one_by_one, other_by_other) = (by_document(&ones), by_document(&others));
    let better =
        |one: &[f64], other: &[f64]| one.iter().zip(other).filter(|(one, other)| one > other).count();
    let mut tests = Vec::new();
    let defaults = [Test::Randomisation, Test::PairedT];
    let wanted = match options.tests.as_slice() {
        [] if first.len() < 2 => &defaults[..1],
        [] => &defaults[..],
        tests => tests,
    };
    for &test in wanted {
        if test == Test::Randomisation {
            let by = |name: &str, measure: &dyn Fn(&Counts) -> f64| {
                Significance::by_randomisation(name, &ones, &others, measure, tail, seed)
            };
            tests.push(by("precision", &Counts::precision)?);
            tests.push(by("recall", &Counts::recall)?);
            tests.push(by(&f_name(beta), &|counts| counts.f_beta(beta))?);
        } else {
            let name = format!("{} of documents", f_name(beta));
            let tested = Significance::of_means(test, name, &one_by_one, &other_by_other, tail, seed);
            tests.push(tested.map_err(|error| AssessError::Test { test, error })?);
        }
    }
    Ok(Comparison {
        measure: if gene_mention { "gene mentions" } else { "exact" },
        beta,
        first: NamedScore::new("first", ones.iter().copied().sum(), beta),
        second: NamedScore::new("second", others.iter().copied().sum(), beta),
        tests,
        shuffles: wanted.contains(&Test::Randomisation).then_some(SHUFFLES),
        better: (
            better(&one_by_one, &other_by_other),
            better(&other_by_other, &one_by_one),
        ),
    })
}

fn exact(pair: &Pair) -> Counts {
    let mut scores = SpanScores::new(Matching::Strict);
    scores.add(&pair.gold_spans(), &pair.found_spans());
    scores.total()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{document, pair};
    use super::*;
    use fieldmark_text::document::Annotation;
    use fieldmark_text::formats::{ALTGENE, GENE};

    /// Documents with two names each, of which the first system finds one and the second none, but for the last.
    fn systems() -> (Vec<Pair>, Vec<Pair>) {
        let gold = [(0, 3, "PER"), (8, 11, "PER")];
        let found = [(0, 3, "PER", 0.9), (8, 11, "PER", 0.9)];
        let with = |count: usize| pair("Ada met Bob", &gold, &found[..count]);
        let first = (0..20).map(|_| with(1)).collect();
        let second = (0..20).map(|at| with(if at == 19 { 2 } else { 0 })).collect();
        (first, second)
    }

    #[test]
    fn differences_are_those_of_their_measures() {
        let (first, second) = systems();
        let options = CompareOptions {
            beta: 2.0,
            tests: vec![Test::Randomisation, Test::PairedT, Test::Welch],
            ..CompareOptions::default()
        };
        let comparison = compare(&first, &second, &options).unwrap();
        let [precision, recall, f, documents, welch] = &comparison.tests[..] else {
            panic!("{comparison:?}");
        };
        // Both are always right; 20 of 40 against 2 of 40.
        assert_eq!((precision.difference, recall.difference), (0.0, 0.45));
        let f2 = |recall: f64| 5.0 * recall / (4.0 + recall);
        assert!((f.difference - (f2(0.5) - f2(0.05))).abs() < 1e-12);
        assert!((documents.difference - (f2(0.5) - 1.0 / 20.0)).abs() < 1e-12);
        assert_eq!(
            (documents.test, documents.measure.as_str()),
            (Test::PairedT, "F2 of documents")
        );
        assert_eq!(documents.degrees_of_freedom, Some(19.0));
        // The scores of the first system do not vary, so that only the second counts.
        assert_eq!(
            (welch.test, welch.difference),
            (Test::Welch, documents.difference)
        );
        assert!((welch.degrees_of_freedom.unwrap() - 19.0).abs() < 1e-9);
        assert_eq!(comparison.better, (19, 1));
    }

    #[test]
    fn a_test_that_was_asked_for_is_done_or_refused() {
        let (first, second) = systems();
        let of = |documents: usize, tests: &[Test]| {
            let options = CompareOptions {
                tests: tests.to_vec(),
                ..CompareOptions::default()
            };
            compare(&first[..documents], &second[..documents], &options)
        };
        for test in [Test::PairedT, Test::Welch] {
            let error = of(1, &[test]).unwrap_err().to_string();
            assert!(
                error.starts_with(test.name()) && error.contains("at least 2"),
                "{error}"
            );
        }
        assert_eq!(of(1, &[]).unwrap().tests.len(), 3);
        let shuffled = |tests: &[Test]| of(2, tests).unwrap().shuffles.is_some();
        assert!(shuffled(&[]) && shuffled(&[Test::Welch, Test::Randomisation]));
        assert!(!shuffled(&[Test::Welch, Test::PairedT]));
    }

    #[test]
    fn a_worse_system_is_as_significant_as_a_better_one() {
        let (first, second) = systems();
        let p = |one: &[Pair], other: &[Pair]| {
            let comparison = compare(one, other, &CompareOptions::default()).unwrap();
            (comparison.tests[1].p, comparison.tests[3].p)
        };
        let (better, worse) = (p(&first, &second), p(&second, &first));
        assert!(better.0 < 0.001 && worse.0 < 0.001, "{better:?} {worse:?}");
        assert!(better.1 < 0.001 && worse.1 < 0.001, "{better:?} {worse:?}");
    }

    #[test]
    fn one_tail_asks_whether_the_first_is_better() {
        let (first, second) = systems();
        let options = CompareOptions {
            tail: Tail::Greater,
            ..CompareOptions::default()
        };
        let better = compare(&first, &second, &options).unwrap();
        let worse = compare(&second, &first, &options).unwrap();
        for test in [1, 3] {
            assert!(better.tests[test].p < 0.001, "{better:?}");
            assert!(worse.tests[test].p > 0.99, "{worse:?}");
        }
    }

    #[test]
    fn finding_nothing_of_nothing_is_right() {
        let silent = [pair("Ada", &[], &[]), pair("Bob", &[], &[])];
        let loud = [pair("Ada", &[], &[]), pair("Bob", &[], &[(0, 3, "PER", 0.9)])];
        let comparison = compare(&silent, &loud, &CompareOptions::default()).unwrap();
        assert_eq!(comparison.better, (1, 0));
    }

    #[test]
    fn gene_mentions_count_their_alternatives() {
        let mut gold = document("P1", "Serum gamma GT rose", &[(0, 14, GENE, None)]);
        gold.annotations.push(Annotation::new(6..14, ALTGENE));
        let found = [Pair::new(gold.clone(), vec![Annotation::new(6..14, GENE)])];
        let none = [Pair::new(gold, Vec::new())];
        let by = |measure| {
            let options = CompareOptions {
                measure,
                ..CompareOptions::default()
            };
            compare(&found, &none, &options).unwrap()
        };
        let genes = by(Measure::GeneMention);
        assert_eq!((genes.measure, genes.first.f), ("gene mentions", 1.0));
        let exact = by(Measure::Exact);
        assert_eq!((exact.measure, exact.first.f), ("exact", 0.0));
    }
}
