//! [`Cover`]: which bytes of a text are taken.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of bytes as ranges that do not overlap, from start to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cover {
    ranges: BTreeMap<usize, usize>,
}

impl Cover {
    /// Whether a range has a byte in the set.
    pub fn overlaps(&self, range: &Range<usize>) -> bool {
        let last = self.ranges.range(..range.end).next_back();
        range.start < range.end && last.is_some_and(|(_, &end)| end > range.start)
    }

    /// Adds a range.
    pub fn insert(&mut self, range: Range<usize>) {
        let Range { mut start, mut end } = range;
        if start >= end {
            return;
        }
        while let Some((&from, &to)) = self
            .ranges
            .range(..=end)
            .next_back()
            .filter(|(_, to)| **to >= start)
        {
            self.ranges.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.ranges.insert(start, end);
    }

    /// Adds a range unless it overlaps the set.
    pub fn claim(&mut self, range: Range<usize>) -> bool {
        let is_free = !self.overlaps(&range);
        if is_free {
            self.insert(range);
        }
        is_free
    }
}

impl FromIterator<Range<usize>> for Cover {
    fn from_iter<I: IntoIterator<Item = Range<usize>>>(ranges: I) -> Self {
        let mut cover = Self::default();
        ranges.into_iter().for_each(|range| cover.insert(range));
        cover
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_set_of_bytes(ranges in prop::collection::vec((0..30_usize, 0..8_usize), 0..12), claim in any::<bool>()) {
            let mut cover = Cover::default();
            let mut bytes = [false; 40];
            for (start, len) in ranges {
                let range = start..start + len;
                let overlaps = bytes[range.clone()].contains(&true);
                prop_assert_eq!(cover.overlaps(&range), overlaps);
                if claim {
                    prop_assert_eq!(cover.claim(range.clone()), !overlaps);
                } else {
                    cover.insert(range.clone());
                }
                if !claim || !overlaps {
                    bytes[range].fill(true);
                }
            }
            let whole: Vec<_> = cover.ranges.iter().collect();
            prop_assert!(whole.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
