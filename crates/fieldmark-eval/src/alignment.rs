//! [`align`]: which found span answers which gold span, and what is wrong with it.

use crate::matching::Matching;
use crate::report::Confusion;
use fieldmark_core::scheme::Span;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What became of a gold span, or where a found one comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Type and borders are right.
    Correct,
    /// The borders are right, the type is not.
    WrongType,
    /// The type is right and the spans overlap, but a border is wrong.
    WrongBorders,
    /// The spans overlap, and neither type nor borders are right.
    WrongBoth,
    /// A gold span that no found span overlaps, or whose neighbours answer others.
    Missed,
    /// A found span that overlaps no gold span, or only such as are answered by others.
    Spurious,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 6] = [
        Verdict::Correct,
        Verdict::WrongType,
        Verdict::WrongBorders,
        Verdict::WrongBoth,
        Verdict::Missed,
        Verdict::Spurious,
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Correct => "correct",
            Verdict::WrongType => "wrong type",
            Verdict::WrongBorders => "wrong borders",
            Verdict::WrongBoth => "wrong type and borders",
            Verdict::Missed => "missed",
            Verdict::Spurious => "spurious",
        }
    }
}

/// A gold span and the found span that answers it, or one of them alone, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Aligned {
    /// What is right and wrong.
    pub verdict: Verdict,
    /// The gold span.
    pub gold: Option<usize>,
    /// The found span.
    pub found: Option<usize>,
}

/// Aligns the spans of one text: each span answers at most one other, equal ones first, then those with the same
/// borders, those that overlap and have the same type, and those that only overlap. In the order of the text.
///
/// ```
/// use fieldmark_eval::{Span, Verdict, align};
/// let gold = [Span::new(0, 2, "GENE"), Span::new(5, 6, "DRUG")];
/// let found = [Span::new(1, 2, "GENE"), Span::new(8, 9, "GENE")];
/// let verdicts: Vec<Verdict> = align(&gold, &found).iter().map(|aligned| aligned.verdict).collect();
/// assert_eq!(verdicts, [Verdict::WrongBorders, Verdict::Missed, Verdict::Spurious]);
/// ```
pub fn align(gold: &[Span<'_>], found: &[Span<'_>]) -> Vec<Aligned> {
    const STAGES: [(Matching, Verdict); 4] = [
        (Matching::Strict, Verdict::Correct),
        (Matching::Boundary, Verdict::WrongType),
        (Matching::Type, Verdict::WrongBorders),
        (Matching::Partial, Verdict::WrongBoth),
    ];
    let mut gold_left: Vec<usize> = (0..gold.len()).collect();
    let mut found_left: Vec<usize> = (0..found.len()).collect();
    let mut aligned = Vec::with_capacity(gold.len().max(found.len()));
    for (matching, verdict) in STAGES {
        let pairs = matching.pairs(&pick(gold, &gold_left), &pick(found, &found_left));
        aligned.extend(pairs.iter().map(|&(one, other)| Aligned {
            verdict,
            gold: Some(gold_left[one]),
            found: Some(found_left[other]),
        }));
        let taken: (BTreeSet<usize>, BTreeSet<usize>) = pairs.into_iter().unzip();
        keep_others(&mut gold_left, &taken.0);
        keep_others(&mut found_left, &taken.1);
    }
    aligned.extend(gold_left.into_iter().map(|at| Aligned {
        verdict: Verdict::Missed,
        gold: Some(at),
        found: None,
    }));
    aligned.extend(found_left.into_iter().map(|at| Aligned {
        verdict: Verdict::Spurious,
        gold: None,
        found: Some(at),
    }));
    let place = |aligned: &Aligned| {
        let of = |spans: &[Span<'_>], at: Option<usize>| at.map(|at| (spans[at].start, spans[at].end));
        of(gold, aligned.gold).or(of(found, aligned.found))
    };
    aligned.sort_by_key(|aligned| (place(aligned), aligned.verdict, aligned.gold, aligned.found));
    aligned
}

fn pick<'a>(spans: &[Span<'a>], chosen: &[usize]) -> Vec<Span<'a>> {
    chosen.iter().map(|&at| spans[at]).collect()
}

fn keep_others(left: &mut Vec<usize>, taken: &BTreeSet<usize>) {
    let mut at = 0;
    left.retain(|_| {
        at += 1;
        !taken.contains(&(at - 1))
    });
}

/// How often each verdict was passed, and which types were taken for which.
#[derive(Clone, Debug, Default)]
pub struct ErrorTally {
    verdicts: BTreeMap<Verdict, u64>,
    types: BTreeMap<(Option<String>, Option<String>), u64>,
}

/// The name of "no span" among the labels of [`ErrorTally::confusion`].
pub const NO_SPAN: &str = "(none)";

impl ErrorTally {
    /// Aligns the spans of one text and counts the verdicts.
    pub fn add(&mut self, gold: &[Span<'_>], found: &[Span<'_>]) -> Vec<Aligned> {
        let aligned = align(gold, found);
        for aligned in &aligned {
            *self.verdicts.entry(aligned.verdict).or_default() += 1;
            let kind = |spans: &[Span<'_>], at: Option<usize>| at.map(|at| spans[at].kind.to_owned());
            let cell = (kind(gold, aligned.gold), kind(found, aligned.found));
            *self.types.entry(cell).or_default() += 1;
        }
        aligned
    }

    /// The numbers of all verdicts.
    pub fn counts(&self) -> ErrorCounts {
        let of = |verdict| self.verdicts.get(&verdict).copied().unwrap_or(0);
        ErrorCounts {
            correct: of(Verdict::Correct),
            wrong_type: of(Verdict::WrongType),
            wrong_borders: of(Verdict::WrongBorders),
            wrong_both: of(Verdict::WrongBoth),
            missed: of(Verdict::Missed),
            spurious: of(Verdict::Spurious),
        }
    }

    /// Gold types against found types of the spans that answer each other, whatever their borders. The last label
    /// is [`NO_SPAN`]: its column has the missed spans, its row the spurious ones.
    pub fn confusion(&self) -> Confusion {
        let kinds: BTreeSet<&String> = self
            .types
            .keys()
            .flat_map(|(gold, found)| gold.iter().chain(found))
            .collect();
        let number: BTreeMap<&String, usize> =
            kinds.iter().enumerate().map(|(at, &kind)| (kind, at)).collect();
        let none = kinds.len();
        let at = |kind: &Option<String>| kind.as_ref().map_or(none, |kind| number[kind]);
        let mut counts = vec![vec![0; none + 1]; none + 1];
        for ((gold, found), &count) in &self.types {
            counts[at(gold)][at(found)] += count;
        }
        let labels = kinds.into_iter().cloned().chain([NO_SPAN.to_owned()]);
        Confusion {
            labels: labels.collect(),
            counts,
        }
    }
}

/// How many spans were right, and what was wrong with the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCounts {
    /// Type and borders are right.
    pub correct: u64,
    /// Only the borders are right.
    pub wrong_type: u64,
    /// Only the type is right.
    pub wrong_borders: u64,
    /// The spans overlap, and no more.
    pub wrong_both: u64,
    /// Gold spans without an answer.
    pub missed: u64,
    /// Found spans that answer nothing.
    pub spurious: u64,
}

impl ErrorCounts {
    /// Verdicts with their numbers.
    pub fn each(&self) -> [(Verdict, u64); 6] {
        let numbers = [
            self.correct,
            self.wrong_type,
            self.wrong_borders,
            self.wrong_both,
            self.missed,
            self.spurious,
        ];
        std::array::from_fn(|at| (Verdict::ALL[at], numbers[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Span<'static>>> {
        let span = (0usize..12, 1usize..6, prop::sample::select(vec!["A", "B"]))
            .prop_map(|(start, length, kind)| Span::new(start, start + length, kind));
        prop::collection::vec(span, 0..9)
    }

    proptest! {
        #[test]
        fn every_span_has_one_verdict_and_it_is_true(gold in spans(), found in spans()) {
            let aligned = align(&gold, &found);
            let mut ones: Vec<usize> = aligned.iter().filter_map(|aligned| aligned.gold).collect();
            let mut others: Vec<usize> = aligned.iter().filter_map(|aligned| aligned.found).collect();
            ones.sort_unstable();
            others.sort_unstable();
            prop_assert_eq!(ones, (0..gold.len()).collect::<Vec<_>>());
            prop_assert_eq!(others, (0..found.len()).collect::<Vec<_>>());
            for Aligned { verdict, gold: one, found: other } in aligned {
                let (Some(one), Some(other)) = (one, other) else {
                    prop_assert_eq!(verdict, if one.is_some() { Verdict::Missed } else { Verdict::Spurious });
                    continue;
                };
                let (one, other) = (&gold[one], &found[other]);
                let kind = one.kind == other.kind;
                let borders = (one.start, one.end) == (other.start, other.end);
                prop_assert!(one.start < other.end && other.start < one.end);
                let expected = match (kind, borders) {
                    (true, true) => Verdict::Correct,
                    (false, true) => Verdict::WrongType,
                    (true, false) => Verdict::WrongBorders,
                    (false, false) => Verdict::WrongBoth,
                };
                prop_assert_eq!(verdict, expected);
            }
        }

        #[test]
        fn what_is_missed_overlaps_nothing_that_is_spurious(gold in spans(), found in spans()) {
            let aligned = align(&gold, &found);
            let missed = aligned.iter().filter(|aligned| aligned.verdict == Verdict::Missed);
            for gold in missed.map(|aligned| &gold[aligned.gold.unwrap()]) {
                let spurious = aligned.iter().filter(|aligned| aligned.verdict == Verdict::Spurious);
                for found in spurious.map(|aligned| &found[aligned.found.unwrap()]) {
                    prop_assert!(!Matching::Partial.accepts(gold, found));
                }
            }
        }
    }

    #[test]
    fn the_confusion_table_holds_every_span_once() {
        let mut tally = ErrorTally::default();
        let gold = [Span::new(0, 2, "A"), Span::new(3, 4, "B"), Span::new(8, 9, "B")];
        let found = [Span::new(0, 2, "A"), Span::new(3, 5, "A"), Span::new(20, 21, "C")];
        tally.add(&gold, &found);
        let confusion = tally.confusion();
        assert_eq!(confusion.labels, ["A", "B", "C", NO_SPAN]);
        assert_eq!(
            confusion.counts,
            [[1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]]
        );
        let counts = tally.counts();
        assert_eq!((counts.correct, counts.wrong_both), (1, 1));
        assert_eq!((counts.missed, counts.spurious), (1, 1));
        assert_eq!(counts.each().map(|(_, number)| number).iter().sum::<u64>(), 4);
    }
}
