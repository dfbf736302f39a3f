//! [`FeatureTable`]: which observation has a weight with which labels.

use crate::container::Shared;
use std::ops::Range;

/// For each observation, the sorted columns (labels, or combinations of labels) with which it has a weight.
///
/// Features are numbered row by row, so the weights of one observation lie together. The default has no rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureTable {
    offsets: Shared<u32>,
    columns: Shared<u32>,
}

/// More features than a table can number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a model holds at most {} features; prune rare observations or do not ask for all features",
    u32::MAX
)]
pub struct TooManyFeatures;

impl FeatureTable {
    /// A table from its parts, or `None` when they do not fit together.
    pub fn from_parts(offsets: Shared<u32>, columns: Shared<u32>, width: usize) -> Option<Self> {
        let bounded =
            offsets.first() == Some(&0) && offsets.last().copied() == u32::try_from(columns.len()).ok();
        // Loops without an exit in the middle run in vectors: a model is opened in milliseconds.
        let rising = |numbers: &[u32]| {
            let neighbours = numbers.iter().zip(numbers.iter().skip(1));
            neighbours.fold(0, |falls, (one, next)| falls | u32::from(one > next)) == 0
        };
        let width = u32::try_from(width).unwrap_or(u32::MAX);
        let sound = bounded
            && rising(&offsets)
            && columns
                .iter()
                .fold(0, |any, &column| any | u32::from(column >= width))
                == 0
            && rows_are_sorted(&offsets, &columns);
        sound.then_some(Self { offsets, columns })
    }

    /// A table in which no observation has a feature.
    pub fn empty(rows: usize) -> Self {
        Self {
            offsets: vec![0; rows + 1].into(),
            columns: Shared::default(),
        }
    }

    /// The same table, without rows if there is no feature.
    #[must_use]
    pub fn compact(self) -> Self {
        if self.is_empty() { Self::default() } else { self }
    }

    /// Number of observations.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no feature.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The features of an observation; none of one that the table does not have.
    #[inline]
    pub fn features(&self, row: u32) -> Range<usize> {
        features_of(&self.offsets, row)
    }

    /// The columns of an observation's features.
    #[inline]
    pub fn columns(&self, row: u32) -> &[u32] {
        &self.columns[self.features(row)]
    }

    /// Start of each row in the numbering of features, and the end of the last.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The column of every feature.
    pub fn all_columns(&self) -> &[u32] {
        &self.columns
    }

    /// The feature of an observation with a column.
    pub fn find(&self, row: u32, column: u32) -> Option<usize> {
        let place = self.columns(row).binary_search(&column).ok()?;
        Some(self.features(row).start + place)
    }

    /// Builds a table by asking, for each observation in turn, for its columns.
    pub fn build(
        rows: usize,
        mut columns_of: impl FnMut(usize, &mut Vec<u32>),
    ) -> Result<Self, TooManyFeatures> {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let mut columns = Vec::new();
        let mut row_columns = Vec::new();
        for row in 0..rows {
            row_columns.clear();
            columns_of(row, &mut row_columns);
            columns.extend_from_slice(&row_columns);
            offsets.push(u32::try_from(columns.len()).map_err(|_| TooManyFeatures)?);
        }
        columns.shrink_to_fit();
        Ok(Self {
            offsets: offsets.into(),
            columns: columns.into(),
        })
    }
}

/// [`FeatureTable::features`] for loops that hold the [offsets](FeatureTable::offsets) of a table.
#[inline]
pub fn features_of(offsets: &[u32], row: u32) -> Range<usize> {
    let row = row as usize;
    match offsets.get(row + 1) {
        Some(&end) => offsets[row] as usize..end as usize,
        None => 0..0,
    }
}

/// Whether columns rise everywhere but at the starts of rows, whose offsets never fall.
fn rows_are_sorted(offsets: &[u32], columns: &[u32]) -> bool {
    // Every place where columns do not rise has to be the start of a row: both are counted.
    let pairs = columns.iter().zip(columns.iter().skip(1));
    let everywhere = pairs.fold(0, |count, (one, next)| count + u32::from(one >= next));
    let mut at_starts = 0;
    let mut before = 0;
    for &start in offsets {
        if start > before && (start as usize) < columns.len() {
            at_starts += u32::from(columns[start as usize - 1] >= columns[start as usize]);
        }
        before = start;
    }
    everywhere == at_starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_not_there_have_no_features() {
        let table =
            FeatureTable::build(3, |row, columns| columns.extend((0..row as u32).map(|c| 2 * c))).unwrap();
        assert_eq!((table.rows(), table.len()), (3, 3));
        assert_eq!(
            (table.features(0), table.features(2), table.features(7)),
            (0..0, 1..3, 0..0)
        );
        assert_eq!(
            (table.find(2, 2), table.find(2, 1), table.find(9, 0)),
            (Some(2), None, None)
        );
        assert_eq!(table.clone().compact(), table);
        let empty = FeatureTable::empty(3).compact();
        assert_eq!(
            (empty.rows(), empty.features(0), empty.columns(1)),
            (0, 0..0, &[][..])
        );
    }

    #[test]
    fn parts_that_do_not_fit_together_are_refused() {
        let table = |offsets: &[u32], columns: &[u32]| {
            FeatureTable::from_parts(offsets.to_vec().into(), columns.to_vec().into(), 3)
        };
        let sound: [(&[u32], &[u32]); 6] = [
            (&[0], &[]),
            (&[0, 0, 0], &[]),
            (&[0, 3], &[0, 1, 2]),
            (&[0, 2, 2, 3, 5], &[1, 2, 0, 0, 2]),
            (&[0, 0, 1, 1, 2], &[2, 2]),
            (&[0, 1, 3, 3], &[0, 1, 2]),
        ];
        for (offsets, columns) in sound {
            assert!(table(offsets, columns).is_some(), "{offsets:?} {columns:?}");
        }
        let unsound: [(&[u32], &[u32]); 9] = [
            (&[], &[]),
            (&[1, 2], &[0, 1]),
            (&[0, 1], &[0, 1]),
            (&[0, 3], &[0, 1]),
            (&[0, 2, 1, 3], &[0, 1, 2]),
            (&[0, 2], &[1, 1]),
            (&[0, 2], &[0, 3]),
            (&[0, 2, 4], &[1, 0, 1, 2]),
            (&[0, 1, 1, 4], &[2, 0, 2, 1]),
        ];
        for (offsets, columns) in unsound {
            assert!(table(offsets, columns).is_none(), "{offsets:?} {columns:?}");
        }
    }
}
