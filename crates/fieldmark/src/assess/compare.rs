//! [`compare`]: is one system better than another by more than chance?

use super::measures::gene_mentions;
use super::{AssessError, Measure, NamedScore, Pair};
use fieldmark_eval::{
    Counts, EvalError, Matching, SpanScores, Tail, approximate_randomisation, paired_t_test,
};
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
    /// Precision, recall and F, tested by approximate randomisation.
    pub randomisation: [Significance; 3],
    /// How often outputs were exchanged.
    pub shuffles: u64,
    /// F of single documents, by a paired t-test; `None` if there are fewer than two documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<Significance>,
    /// Documents on which the first, or the second, has the better F; on the others both are as good.
    pub better: (usize, usize),
}

/// A difference, and how probable one as large would be if the systems were equally good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Significance {
    /// What differs.
    pub measure: &'static str,
    /// First minus second.
    pub difference: f64,
    /// Two-tailed p.
    pub p: f64,
}

/// Exchanges of outputs: p is known to about 0.004 where it is 0.05.
const SHUFFLES: u64 = 9999;

/// Compares two systems, given as pairs of the same gold documents in the same order; exactly, or by
/// [`Measure::GeneMention`].
pub fn compare(
    first: &[Pair],
    second: &[Pair],
    measure: Measure,
    beta: f64,
    seed: u64,
) -> Result<Comparison, AssessError> {
    let gene_mention = measure == Measure::GeneMention;
    let counts = |pairs: &[Pair]| -> Vec<Counts> {
        let of = |pair: &Pair| match gene_mention {
            true => gene_mentions(pair).counts(),
            false => exact(pair),
        };
        pairs.iter().map(of).collect()
    };
    let (ones, others) = (counts(first), counts(second));
    let test = |name, measure: &dyn Fn(&Counts) -> f64| -> Result<Significance, EvalError> {
        let test = approximate_randomisation(&ones, &others, measure, SHUFFLES, seed)?;
        Ok(Significance {
            measure: name,
            difference: test.difference,
            p: test.p(Tail::Both),
        })
    };
    // Who rightly finds nothing in a document has made no mistake.
    let f = |counts: &Counts| match counts.gold + counts.found {
        0 => 1.0,
        _ => counts.f_beta(beta),
    };
    let by_document = |counts: &[Counts]| -> Vec<f64> { counts.iter().map(f).collect() };
    let (one_by_one, other_by_other) = (by_document(&ones), by_document(&others));
    let better =
        |one: &[f64], other: &[f64]| one.iter().zip(other).filter(|(one, other)| one > other).count();
    let documents = paired_t_test(&one_by_one, &other_by_other)
        .ok()
        .map(|test| Significance {
            measure: "F of documents",
            difference: test.difference,
            p: test.p(Tail::Both),
        });
    Ok(Comparison {
        measure: if gene_mention { "gene mentions" } else { "exact" },
        beta,
        first: NamedScore::new("first", ones.iter().copied().sum(), beta),
        second: NamedScore::new("second", others.iter().copied().sum(), beta),
        randomisation: [
            test("precision", &Counts::precision)?,
            test("recall", &Counts::recall)?,
            test("F", &|counts| counts.f_beta(beta))?,
        ],
        shuffles: SHUFFLES,
        documents,
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
        let comparison = compare(&first, &second, Measure::Exact, 2.0, 1).unwrap();
        let [precision, recall, f] = &comparison.randomisation;
        // Both are always right; 20 of 40 against 2 of 40.
        assert_eq!((precision.difference, recall.difference), (0.0, 0.45));
        let f2 = |recall: f64| 5.0 * recall / (4.0 + recall);
        assert!((f.difference - (f2(0.5) - f2(0.05))).abs() < 1e-12);
        let documents = comparison.documents.as_ref().unwrap();
        assert!((documents.difference - (f2(0.5) - 1.0 / 20.0)).abs() < 1e-12);
        assert_eq!(comparison.better, (19, 1));
    }

    #[test]
    fn a_worse_system_is_as_significant_as_a_better_one() {
        let (first, second) = systems();
        let p = |one: &[Pair], other: &[Pair]| {
            let comparison = compare(one, other, Measure::Exact, 1.0, 1).unwrap();
            (comparison.randomisation[1].p, comparison.documents.unwrap().p)
        };
        let (better, worse) = (p(&first, &second), p(&second, &first));
        assert!(better.0 < 0.001 && worse.0 < 0.001, "{better:?} {worse:?}");
        assert!(better.1 < 0.001 && worse.1 < 0.001, "{better:?} {worse:?}");
    }

    #[test]
    fn finding_nothing_of_nothing_is_right() {
        let silent = [pair("Ada", &[], &[]), pair("Bob", &[], &[])];
        let loud = [pair("Ada", &[], &[]), pair("Bob", &[], &[(0, 3, "PER", 0.9)])];
        let comparison = compare(&silent, &loud, Measure::Exact, 1.0, 1).unwrap();
        assert_eq!(comparison.better, (1, 0));
    }

    #[test]
    fn gene_mentions_count_their_alternatives() {
        let mut gold = document("P1", "Serum gamma GT rose", &[(0, 14, GENE, None)]);
        gold.annotations.push(Annotation::new(6..14, ALTGENE));
        let found = [Pair::new(gold.clone(), vec![Annotation::new(6..14, GENE)])];
        let none = [Pair::new(gold, Vec::new())];
        let by = |measure| compare(&found, &none, measure, 1.0, 1).unwrap();
        let genes = by(Measure::GeneMention);
        assert_eq!((genes.measure, genes.first.f), ("gene mentions", 1.0));
        let exact = by(Measure::Exact);
        assert_eq!((exact.measure, exact.first.f), ("exact", 0.0));
    }
}
