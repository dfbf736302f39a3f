//! [`Observations`]: what is seen at positions or on steps, in compressed rows.

use super::DatasetError;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// An observation of a position, outside of a data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// The position in its sequence.
    pub position: u32,
    /// The id of the observation.
    pub id: u32,
    /// Its value.
    pub value: f32,
}

/// Observations of many positions in compressed rows: position `t` has `ids[offsets[t]..offsets[t + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    offsets: Vec<u32>,
    ids: Vec<u32>,
    /// Parallel to `ids`, or empty when every value is 1.
    values: Vec<f32>,
}

impl Observations {
    /// The ids of the observations at a position (none when the position has no row).
    pub fn ids(&self, position: usize) -> &[u32] {
        &self.ids[self.range(position)]
    }

    /// The values that belong to [`Observations::ids`], or `None` when all of them are 1.
    pub fn values(&self, position: usize) -> Option<&[f32]> {
        (!self.values.is_empty()).then(|| &self.values[self.range(position)])
    }

    /// Ids and values at a position.
    pub fn iter(&self, position: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.range(position);
        let values = if self.values.is_empty() {
            &[][..]
        } else {
            &self.values[range.clone()]
        };
        let ones = std::iter::repeat(1.0);
        self.ids[range]
            .iter()
            .copied()
            .zip(values.iter().copied().chain(ones))
    }

    /// Whether every value is 1.
    pub fn all_ones(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of observations over all positions.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no position has an observation.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Every id, in the order of positions.
    pub fn all_ids(&self) -> &[u32] {
        &self.ids
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        (self.offsets.capacity() + self.ids.capacity() + self.values.capacity()) * 4
    }

    fn range(&self, position: usize) -> Range<usize> {
        // Observations of a kind that the data never uses have no offsets at all.
        if self.offsets.is_empty() {
            0..0
        } else {
            self.offsets[position] as usize..self.offsets[position + 1] as usize
        }
    }

    /// Adds an observation to the open row. `value` must be finite.
    #[inline]
    pub fn push(&mut self, id: u32, value: f32) {
        if value != 1.0 || !self.values.is_empty() {
            self.push_value(value);
        }
        self.ids.push(id);
    }

    /// Adds the ids that `add` appends to the open row, with the value 1.
    #[inline]
    pub(super) fn push_ones(&mut self, add: impl FnOnce(&mut Vec<u32>)) {
        add(&mut self.ids);
        if !self.values.is_empty() {
            self.values.resize(self.ids.len(), 1.0);
        }
    }

    fn push_value(&mut self, value: f32) {
        self.values.resize(self.ids.len(), 1.0);
        self.values.push(value);
    }

    /// Adds the rows of `other`, of which there are `rows`, behind the `position` rows that are here.
    pub(super) fn append(
        &mut self,
        position: usize,
        other: &Observations,
        rows: usize,
        mut id: impl FnMut(u32) -> u32,
    ) -> Result<(), DatasetError> {
        let start = self.ids.len();
        let end = start + other.ids.len();
        if end > u32::MAX as usize {
            return Err(DatasetError::TooManyObservations);
        }
        if end == 0 {
            return Ok(());
        }
        if self.offsets.is_empty() {
            self.offsets.resize(position + 1, 0);
        }
        if !(self.values.is_empty() && other.values.is_empty()) {
            self.values.resize(start, 1.0);
            self.values.extend_from_slice(&other.values);
            self.values.resize(end, 1.0);
        }
        self.ids.extend(other.ids.iter().map(|&local| id(local)));
        match other.offsets.get(1..) {
            Some(ends) => self.offsets.extend(ends.iter().map(|&end| start as u32 + end)),
            None => self.offsets.resize(position + 1 + rows, end as u32),
        }
        Ok(())
    }

    /// Gives spare memory back.
    pub fn shrink_to_fit(&mut self) {
        self.offsets.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Closes the row of the position with this index; rows are closed in order.
    #[inline]
    pub fn close(&mut self, position: usize) -> Result<(), DatasetError> {
        if self.ids.is_empty() && self.offsets.is_empty() {
            return Ok(());
        }
        let end = u32::try_from(self.ids.len()).map_err(|_| DatasetError::TooManyObservations)?;
        if self.offsets.is_empty() {
            self.offsets.resize(position + 1, 0);
        }
        self.offsets.push(end);
        Ok(())
    }

    /// Describes every step into a position by the observations of one of its ends. `instances` are the ranges of
    /// positions of the instances; the first position of each has no step into it.
    pub(super) fn of_steps(&self, end: StepEnd, instances: impl Iterator<Item = Range<usize>>) -> Self {
        let mut steps = Self::default();
        steps.offsets.push(0);
        for positions in instances {
            for position in positions.clone() {
                if position > positions.start {
                    let from = match end {
                        StepEnd::Left => position - 1,
                        StepEnd::Right => position,
                    };
                    steps.ids.extend_from_slice(self.ids(from));
                    if let Some(values) = self.values(from) {
                        steps.values.extend_from_slice(values);
                    }
                }
                // No more than these observations, which were counted.
                steps.offsets.push(steps.ids.len() as u32);
            }
        }
        steps
    }

    /// Adds everything to a hash.
    pub fn hash_into(&self, hash: &mut Xxh3) {
        for numbers in [&self.offsets, &self.ids] {
            numbers
                .iter()
                .for_each(|number| hash.update(&number.to_le_bytes()));
        }
        self.values
            .iter()
            .for_each(|value| hash.update(&value.to_le_bytes()));
    }
}

/// An end of the step between neighbouring positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// The earlier position.
    Left,
    /// The later position.
    Right,
}
