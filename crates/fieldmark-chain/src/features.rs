//! Which observation has a weight with which label (or label pair), and where observations occur.

pub use fieldmark_core::feature_table::{FeatureTable, TooManyFeatures};
use fieldmark_core::{Dataset, Observations};

/// Occurrences of observations turned around: for each observation, the positions where it occurs.
pub(crate) struct Occurrences {
    offsets: Vec<u32>,
    positions: Vec<u32>,
    /// Parallel to `positions`, or empty when every value is 1.
    values: Vec<f32>,
}

impl Occurrences {
    pub(crate) fn new(observations: &Observations, rows: usize, positions: usize) -> Self {
        let mut offsets = vec![0u32; rows + 1];
        for &id in observations.all_ids() {
            offsets[id as usize + 1] += 1;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut places = vec![0; observations.len()];
        let mut values = if observations.all_ones() {
            Vec::new()
        } else {
            vec![0.0; observations.len()]
        };
        for position in 0..positions {
            for (id, value) in observations.iter(position) {
                let slot = &mut next[id as usize];
                places[*slot as usize] = position as u32;
                if !values.is_empty() {
                    values[*slot as usize] = value;
                }
                *slot += 1;
            }
        }
        Self {
            offsets,
            positions: places,
            values,
        }
    }

    /// Positions and values of one observation, in order.
    pub(crate) fn of(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        range.map(|i| {
            (
                self.positions[i] as usize,
                self.values.get(i).copied().unwrap_or(1.0),
            )
        })
    }
}

/// For each position the index of its instance.
pub(crate) fn instance_of_position(data: &Dataset) -> Vec<u32> {
    let mut owner = vec![0; data.positions()];
    for (index, instance) in data.instances().enumerate() {
        owner[instance.positions()].fill(index as u32);
    }
    owner
}
