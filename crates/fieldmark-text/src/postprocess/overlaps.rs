//! [`Overlaps`]: of annotations that overlap, one stays.

use super::cover::Cover;
use crate::document::Annotation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

/// Drops annotations until none overlap: they are taken in the order of preference, and those that overlap one
/// that has been taken are dropped. Gaps belong to an annotation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Overlaps {
    /// Which one is taken first.
    pub prefer: Prefer,
    /// Whether annotations of different types may overlap.
    pub between_types: bool,
}

/// Which of several annotations is taken first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prefer {
    /// `score`: the one with the best score, which is 1 if it has none; then the longest.
    #[default]
    Score,
    /// `longest`: the longest one; then the one with the best score.
    Longest,
    /// `first`: the one that begins first; then the longest.
    First,
}

impl Prefer {
    fn compare(self, one: &Annotation, other: &Annotation) -> Ordering {
        let score = || score(other).total_cmp(&score(one));
        let length = || Reverse(one.range().len()).cmp(&Reverse(other.range().len()));
        let start = || one.range().start.cmp(&other.range().start);
        match self {
            Self::Score => score().then_with(length).then_with(start),
            Self::Longest => length().then_with(score).then_with(start),
            Self::First => start().then_with(length).then_with(score),
        }
    }
}

/// What is certain has no score.
fn score(annotation: &Annotation) -> f64 {
    annotation.score.unwrap_or(1.0)
}

impl Overlaps {
    pub(super) fn apply(&self, annotations: &mut Vec<Annotation>) {
        let mut order: Vec<usize> = (0..annotations.len()).collect();
        order.sort_by(|&one, &other| self.prefer.compare(&annotations[one], &annotations[other]));
        let mut taken: HashMap<&str, Cover> = HashMap::new();
        let mut stays = vec![false; annotations.len()];
        for at in order {
            let kind = match self.between_types {
                true => annotations[at].kind.as_str(),
                false => "",
            };
            stays[at] = taken.entry(kind).or_default().claim(annotations[at].range());
        }
        let mut stays = stays.into_iter();
        annotations.retain(|_| stays.next() == Some(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;

    fn left(step: &str, all: &[(Range<usize>, &str, f64)]) -> Vec<Range<usize>> {
        let step: Overlaps = toml::from_str(step).unwrap();
        let mut all = all
            .iter()
            .map(|(range, kind, score)| Annotation::new(range.clone(), *kind).with_score(*score))
            .collect();
        step.apply(&mut all);
        all.iter().map(Annotation::range).collect()
    }

    #[test]
    fn by_preference() {
        let all = [
            (0..4, "A", 0.5),
            (3..9, "A", 0.6),
            (8..10, "B", 0.9),
            (10..12, "A", 0.1),
        ];
        assert_eq!(left("", &all), [0..4, 8..10, 10..12]);
        assert_eq!(left("prefer = 'longest'", &all), [3..9, 10..12]);
        assert_eq!(left("prefer = 'first'", &all), [0..4, 8..10, 10..12]);
        assert_eq!(left("between_types = true", &all), [3..9, 8..10, 10..12]);
        assert!(toml::from_str::<Overlaps>("prefer = 'best'").is_err());
    }

    #[test]
    fn what_is_equal_by_preference_goes_on() {
        let all = [(0..2, "A", 0.5), (1..4, "A", 0.5), (1..4, "B", 0.6)];
        let longer = vec![all[1].0.clone()];
        assert_eq!(left("", &all[..2]), longer);
        assert_eq!(left("prefer = 'longest'", &all[1..]), longer);
        let step = Overlaps {
            prefer: Prefer::Longest,
            between_types: false,
        };
        let mut both: Vec<Annotation> = vec![
            Annotation::new(1..4, "A").with_score(0.5),
            Annotation::new(1..4, "B").with_score(0.6),
        ];
        step.apply(&mut both);
        assert_eq!(both[0].kind, "B");
    }

    proptest! {
        #[test]
        fn nothing_overlaps_and_nothing_could_be_added(spans in prop::collection::vec((0..20_usize, 1..6_usize, 0..4_u8), 0..12), prefer in 0..3_usize) {
            let prefer = [Prefer::Score, Prefer::Longest, Prefer::First][prefer];
            let all: Vec<Annotation> = spans.iter()
                .map(|&(start, len, score)| Annotation::new(start..start + len, "A").with_score(f64::from(score) / 4.0))
                .collect();
            let mut left = all.clone();
            Overlaps { prefer, between_types: false }.apply(&mut left);
            let overlap = |one: &Annotation, other: &Annotation| {
                one.range().start < other.range().end && other.range().start < one.range().end
            };
            for (at, one) in left.iter().enumerate() {
                prop_assert!(left[..at].iter().all(|other| !overlap(one, other)));
            }
            for dropped in &all {
                let better = left.iter().any(|other| overlap(dropped, other) && prefer.compare(other, dropped).is_le());
                prop_assert!(better);
            }
        }
    }
}
