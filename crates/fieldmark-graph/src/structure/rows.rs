//! [`Rows`]: with which label assignments each observation has a weight.

use fieldmark_core::container::Shared;
use std::ops::Range;

/// For each observation, the sorted entries of the table of a template with which it has a weight.
///
/// Features are numbered row by row, so the weights of one observation lie together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    /// Empty if no observation has a feature.
    offsets: Shared<u32>,
    entries: Shared<u32>,
}

impl Rows {
    /// No features.
    pub fn none() -> Self {
        Self {
            offsets: Shared::default(),
            entries: Shared::default(),
        }
    }

    /// Rows from their parts, or `None` when they do not fit together.
    pub fn from_parts(offsets: Shared<u32>, entries: Shared<u32>, rows: usize, width: usize) -> Option<Self> {
        if offsets.is_empty() {
            return entries.is_empty().then(Self::none);
        }
        let borders = offsets.len() == rows.checked_add(1)?
            && offsets[0] == 0
            && offsets.last().copied() == u32::try_from(entries.len()).ok()
            && offsets.is_sorted();
        // Borders are sound when this is asked.
        let sound = |row: &[u32]| {
            row.is_sorted_by(|one, next| one < next)
                && row.last().is_none_or(|&entry| (entry as usize) < width)
        };
        let sound = borders
            && offsets
                .windows(2)
                .all(|pair| sound(&entries[pair[0] as usize..pair[1] as usize]));
        sound.then_some(Self { offsets, entries })
    }

    /// Builds rows by asking, for each observation in turn, for its entries; `None` if there are too many.
    pub fn build(rows: usize, mut entries_of: impl FnMut(usize, &mut Vec<u32>)) -> Option<Self> {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let mut entries = Vec::new();
        let mut row_entries = Vec::new();
        for row in 0..rows {
            row_entries.clear();
            entries_of(row, &mut row_entries);
            entries.extend_from_slice(&row_entries);
            offsets.push(u32::try_from(entries.len()).ok()?);
        }
        if entries.is_empty() {
            return Some(Self::none());
        }
        entries.shrink_to_fit();
        Some(Self {
            offsets: offsets.into(),
            entries: entries.into(),
        })
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// The features of an observation; none of one that was not there when features were chosen.
    #[inline]
    pub fn features(&self, row: u32) -> Range<usize> {
        range(&self.offsets, row)
    }

    /// The feature of an observation with an entry.
    pub fn find(&self, row: u32, entry: u32) -> Option<usize> {
        let features = self.features(row);
        let place = self.entries[features.clone()].binary_search(&entry).ok()?;
        Some(features.start + place)
    }
}

#[inline]
pub(crate) fn range(offsets: &[u32], row: u32) -> Range<usize> {
    match offsets.get(row as usize + 1) {
        Some(&end) => offsets[row as usize] as usize..end as usize,
        None => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_together_are_refused() {
        let rows = |offsets: &[u32], entries: &[u32], rows| {
            Rows::from_parts(offsets.to_vec().into(), entries.to_vec().into(), rows, 3)
        };
        assert!(rows(&[], &[], 5).is_some());
        let sound = rows(&[0, 2, 2, 3], &[0, 2, 1], 3).unwrap();
        assert_eq!(
            (sound.features(0), sound.features(1), sound.features(7)),
            (0..2, 2..2, 0..0)
        );
        assert_eq!((sound.find(0, 2), sound.find(2, 2)), (Some(1), None));
        for (offsets, entries, count) in [
            (&[][..], &[0][..], 0),
            (&[0, 2], &[0, 1], 2),
            (&[0, 2], &[0], 1),
            (&[1, 2], &[0, 1], 1),
            (&[0, 2, 1, 2], &[0, 1], 3),
            (&[0, 9, 2], &[0, 1], 2),
            (&[0, 2], &[1, 1], 1),
            (&[0, 2], &[1, 0], 1),
            (&[0, 1], &[3], 1),
        ] {
            assert!(rows(offsets, entries, count).is_none(), "{offsets:?} {entries:?}");
        }
    }
}
