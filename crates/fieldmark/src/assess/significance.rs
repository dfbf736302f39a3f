//! [`Significance`]: a difference, and how probable one as large is by chance.

use fieldmark_eval::{EvalError, TTest, Tail, approximate_randomisation, paired_t_test, welch_t_test};
use serde::Serialize;
use std::fmt;
use std::ops::AddAssign;

/// A test of significance, by the name that it has on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Approximate randomisation: how often is the difference as large when outputs change sides at random?
    #[cfg_attr(feature = "clap", value(alias = "randomization"))]
    Randomisation,
    /// Paired t-test: both systems on the same items
    PairedT,
    /// Welch's t-test: scores of items that are not the same, and may vary and number differently
    Welch,
}

impl Test {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Test::Randomisation => "approximate randomisation",
            Test::PairedT => "paired t-test",
            Test::Welch => "Welch's t-test",
        }
    }
}

/// A difference, and how probable one as large would be if the systems were equally good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Significance {
    /// How it was tested.
    pub test: Test,
    /// What differs.
    pub measure: String,
    /// First minus second.
    pub difference: f64,
    /// The statistic of a t-test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
    /// The degrees of freedom of a t-test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<f64>,
    /// Which differences speak against chance: `both`, or `greater` if the first was expected to be better.
    pub tail: Tail,
    /// The probability.
    pub p: f64,
}

/// Exchanges of outputs: p is known to about 0.004 where it is 0.05.
pub const SHUFFLES: u64 = 9999;

impl Significance {
    /// Tests a measure of sums over items, such as micro F1, by randomisation.
    pub fn by_randomisation<T: Copy + Default + AddAssign>(
        measure: impl Into<String>,
        first: &[T],
        second: &[T],
        of_sum: impl Fn(&T) -> f64,
        tail: Tail,
        seed: u64,
    ) -> Result<Self, EvalError> {
        let test = approximate_randomisation(first, second, of_sum, SHUFFLES, seed)?;
        Ok(Self {
            test: Test::Randomisation,
            measure: measure.into(),
            difference: test.difference,
            t: None,
            degrees_of_freedom: None,
            tail,
            p: test.p(tail),
        })
    }

    /// Tests the mean of scores of single items; for all but Welch's test, the items are the same in the same order.
    pub fn of_means(
        test: Test,
        measure: impl Into<String>,
        first: &[f64],
        second: &[f64],
        tail: Tail,
        seed: u64,
    ) -> Result<Self, EvalError> {
        let items = first.len().max(1) as f64;
        let measure = measure.into();
        match test {
            Test::Randomisation => {
                Self::by_randomisation(measure, first, second, |sum| sum / items, tail, seed)
            }
            Test::PairedT => {
                paired_t_test(first, second).map(|found| Self::of_t(test, measure, &found, tail))
            }
            Test::Welch => welch_t_test(first, second).map(|found| Self::of_t(test, measure, &found, tail)),
        }
    }

    fn of_t(test: Test, measure: String, found: &TTest, tail: Tail) -> Self {
        Self {
            test,
            measure,
            difference: found.difference,
            t: Some(found.t),
            degrees_of_freedom: Some(found.degrees_of_freedom),
            tail,
            p: found.p(tail),
        }
    }

    /// t and its degrees of freedom, of a t-test.
    pub fn statistic(&self) -> Option<String> {
        let (t, freedom) = (self.t?, self.degrees_of_freedom?);
        Some(format!("t = {t:.3}, df = {}", degrees(freedom)))
    }
}

/// Whole degrees of freedom as they are; those of Welch's test with a digit or two.
fn degrees(freedom: f64) -> String {
    if freedom.fract() == 0.0 {
        format!("{freedom}")
    } else {
        format!("{freedom:.2}")
    }
}

/// What a tail asks, in words.
pub(super) fn tail_name(tail: Tail) -> &'static str {
    match tail {
        Tail::Both => "two-tailed",
        Tail::Greater => "one-tailed: is the first better?",
        Tail::Less => "one-tailed: is the first worse?",
    }
}

impl fmt::Display for Significance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = 100.0 * self.difference;
        write!(f, "{}: {points:+.2} points, ", self.measure)?;
        if let Some(statistic) = self.statistic() {
            write!(f, "{statistic}, ")?;
        }
        write!(f, "p = {:.4}", self.p)
    }
}

/// Tests under headings, in order; items are what scores are of, such as `documents`.
pub struct TestList<'a> {
    /// The tests.
    pub tests: &'a [Significance],
    /// What single scores are of.
    pub items: &'a str,
}

impl fmt::Display for TestList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, test) in self.tests.iter().enumerate() {
            if at == 0 || self.tests[at - 1].test != test.test {
                let (name, tail, items) = (test.test.name(), tail_name(test.tail), self.items);
                match test.test {
                    Test::Randomisation => writeln!(f, "{name} ({SHUFFLES} shuffles of {items}, {tail}):")?,
                    _ => writeln!(f, "{name} over {items} ({tail}):")?,
                }
            }
            writeln!(f, "  {test}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: [f64; 5] = [0.81, 0.84, 0.79, 0.90, 0.86];
    const OLD: [f64; 5] = [0.80, 0.81, 0.79, 0.86, 0.83];

    #[test]
    fn tests_have_their_statistics() {
        let test = |test, tail| Significance::of_means(test, "F1", &NEW, &OLD, tail, 0).unwrap();
        let paired = test(Test::PairedT, Tail::Both);
        assert_eq!(paired.degrees_of_freedom, Some(4.0));
        // Differences .01, .03, 0, .04, .03: mean .022, deviation .016432, t = .022 / (.016432 / √5).
        assert!((paired.t.unwrap() - 2.9938).abs() < 1e-3, "{paired:?}");
        let one = test(Test::PairedT, Tail::Greater);
        assert!((2.0 * one.p - paired.p).abs() < 1e-12, "half of the tails");
        let welch = test(Test::Welch, Tail::Both);
        assert!(
            welch.degrees_of_freedom.unwrap() > 6.0 && welch.p > paired.p,
            "{welch:?}"
        );
        let random = test(Test::Randomisation, Tail::Both);
        assert!((random.difference - 0.022).abs() < 1e-12 && random.t.is_none());
        assert!(Significance::of_means(Test::Welch, "F1", &NEW, &OLD[..3], Tail::Both, 0).is_ok());
        assert!(Significance::of_means(Test::PairedT, "F1", &NEW, &OLD[..3], Tail::Both, 0).is_err());
    }

    #[test]
    fn tests_are_listed_under_their_names() {
        let tests: Vec<Significance> = [Test::Randomisation, Test::PairedT, Test::Welch]
            .into_iter()
            .map(|test| Significance::of_means(test, "F1", &NEW, &OLD, Tail::Greater, 0).unwrap())
            .collect();
        let text = TestList {
            tests: &tests,
            items: "documents",
        }
        .to_string();
        for expected in [
            "approximate randomisation (9999 shuffles of documents, one-tailed: is the first better?):\n  F1: +2.20 points, p = ",
            "paired t-test over documents (one-tailed: is the first better?):\n  F1: +2.20 points, t = 2.994, df = 4, p = 0.0",
            "Welch's t-test over documents (one-tailed: is the first better?):\n  F1: +2.20 points, t = 0.",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }
}
