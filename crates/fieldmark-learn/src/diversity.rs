//! [`Diversity`]: no two questions of a batch that are nearly the same.

use crate::{Error, Pool, Question};
use std::ops::Range;

/// Remembers what was asked in a batch, and knows what is nearly the same.
///
/// Two questions are as similar as the sets A and B of what is observed there: |A ∩ B| / |A ∪ B| (Jaccard
/// 1912). Where questions are about whole sequences, all their observations count.
#[derive(Clone, Debug)]
pub struct Diversity {
    most: f64,
    whole_sequences: bool,
    asked: Vec<Vec<u32>>,
}

impl Diversity {
    /// Questions that are at least so similar to another, between 0 and 1, are not asked.
    pub fn new(similarity: f64, whole_sequences: bool) -> Result<Self, Error> {
        if !(similarity > 0.0 && similarity <= 1.0) {
            return Err(Error::Option(format!(
                "the similarity of questions that are too much alike is {similarity}, expected a number above 0, at most 1"
            )));
        }
        Ok(Self {
            most: similarity,
            whole_sequences,
            asked: Vec::new(),
        })
    }

    /// Forgets what was asked: a new batch begins.
    pub fn clear(&mut self) {
        self.asked.clear();
    }

    /// Whether a question is nearly the same as one that was asked; if not, it counts as asked from now on.
    pub fn is_repeated(&mut self, pool: &Pool, question: &Question) -> bool {
        let positions = if self.whole_sequences {
            pool.positions(question.sequence)
        } else {
            let position = pool.positions(question.sequence).start + question.position;
            position..position + 1
        };
        let observed = observations(pool, positions);
        if self
            .asked
            .iter()
            .any(|other| similarity(other, &observed) >= self.most)
        {
            return true;
        }
        self.asked.push(observed);
        false
    }
}

/// What is observed at some positions, sorted, each once.
fn observations(pool: &Pool, positions: Range<usize>) -> Vec<u32> {
    let mut ids: Vec<u32> = positions
        .flat_map(|position| pool.data().unary.ids(position))
        .copied()
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The size of the common part of two sorted sets by that of both together; 1 for two empty ones.
fn similarity(left: &[u32], right: &[u32]) -> f64 {
    let mut common = 0;
    let mut rest = right;
    for id in left {
        let before = rest.partition_point(|other| other < id);
        rest = &rest[before..];
        common += usize::from(rest.first() == Some(id));
    }
    match left.len() + right.len() - common {
        0 => 1.0,
        all => common as f64 / all as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn similarity_of_sets() {
        assert_eq!(similarity(&[1, 2, 3], &[2, 3, 4]), 0.5);
        assert_eq!(similarity(&[1], &[2]), 0.0);
        assert_eq!(similarity(&[], &[]), 1.0);
        assert!(Diversity::new(0.0, false).is_err());
        assert!(Diversity::new(f64::NAN, false).is_err());
        assert!(Diversity::new(1.0, false).is_ok());
    }

    proptest! {
        #[test]
        fn similarity_is_that_of_the_definition(left: BTreeSet<u8>, right: BTreeSet<u8>) {
            let list = |set: &BTreeSet<u8>| set.iter().map(|&id| u32::from(id)).collect::<Vec<_>>();
            let both = left.union(&right).count();
            let expected = if both == 0 { 1.0 } else { left.intersection(&right).count() as f64 / both as f64 };
            prop_assert_eq!(similarity(&list(&left), &list(&right)), expected);
        }
    }
}
