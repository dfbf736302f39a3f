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
