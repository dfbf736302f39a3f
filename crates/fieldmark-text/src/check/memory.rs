//! How much memory training will take.

use super::CheckOptions;
use fieldmark_core::{Dataset, Gold};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The memory that batch training with L-BFGS takes.
///
/// With `K` features and `m` remembered pairs, L-BFGS keeps the weights, the gradient, their previous values
/// and the direction in numbers of 8 bytes, and `2m` vectors of history in numbers of 4 (Nocedal 1980).
/// Training lays the data out anew, which takes about as much again as the data, and leaves about a fifth
/// of the cells for weights empty:
///
/// `total = 2 dataset + 6/5 K (40 + 8m)`
///
/// The number of threads does not matter. `K` counts the features that occur in the data: observations with
/// the labels that they are seen with, and the same for steps with pairs of labels. An ambiguous position
/// counts with every label that it allows, an unknown one with none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEstimate {
    /// Bytes of the data themselves.
    pub dataset_bytes: u64,
    /// Features that occur in the data.
    pub supported_features: u64,
    /// Features when every observation has a weight with every label.
    pub all_features: u64,
    /// Bytes for training on the features that occur.
    pub training_bytes: u64,
    /// Bytes for training on all features.
    pub training_bytes_all: u64,
}

impl MemoryEstimate {
    pub(super) fn new(data: &Dataset, label_bigram: bool, options: &CheckOptions) -> Self {
        let labels = data.labels.len() as u64;
        let pairs = if label_bigram { labels * labels } else { 0 };
        let (unary, pair) = (distinct(data.unary.all_ids()), distinct(data.pair.all_ids()));
        let supported = supported_states(data) + supported_steps(data, label_bigram);
        let all = (unary * labels)
            .saturating_add(pair.saturating_mul(labels * labels))
            .saturating_add(pairs);
        let dataset_bytes = data.memory() as u64;
        let per_feature = (40 + 8 * options.memories) * 6 / 5;
        let training =
            |features: u64| (2 * dataset_bytes).saturating_add(features.saturating_mul(per_feature));
        Self {
            dataset_bytes,
            supported_features: supported,
            all_features: all,
            training_bytes: training(supported),
            training_bytes_all: training(all),
        }
    }
}

fn distinct(ids: &[u32]) -> u64 {
    count_distinct(ids.to_vec())
}

fn count_distinct<T: Ord + Send>(mut seen: Vec<T>) -> u64 {
    seen.par_sort_unstable();
    seen.dedup();
    seen.len() as u64
}

/// The labels that a position supports.
fn supported_labels(data: &Dataset, t: usize) -> Vec<u32> {
    match data.gold(t) {
        Gold::Known(label) => vec![label],
        Gold::Unknown => Vec::new(),
        Gold::Ambiguous(set) => set.to_vec(),
    }
}

fn supported_states(data: &Dataset) -> u64 {
    let mut seen: Vec<(u32, u32)> = Vec::with_capacity(data.unary.len());
    let mut compacted = 0;
    for t in 0..data.positions() {
        for label in supported_labels(data, t) {
            seen.extend(data.unary.ids(t).iter().map(|&id| (id, label)));
        }
        compact(&mut seen, &mut compacted, data.unary.len());
    }
    count_distinct(seen)
}

fn supported_steps(data: &Dataset, label_bigram: bool) -> u64 {
    // The plain label bigram is an observation that every step has.
    const BIGRAM: u32 = u32::MAX;
    let mut seen: Vec<(u32, u32, u32)> = Vec::new();
    let mut compacted = 0;
    for instance in data.instances() {
        for t in instance.positions().skip(1) {
            for previous in supported_labels(data, t - 1) {
                for next in supported_labels(data, t) {
                    seen.extend(data.pair.ids(t).iter().map(|&id| (id, previous, next)));
                    seen.extend(label_bigram.then_some((BIGRAM, previous, next)));
                }
            }
            compact(&mut seen, &mut compacted, data.pair.len());
        }
    }
    count_distinct(seen)
}

/// Drops what occurs twice once enough was added since the last time, so that ambiguous positions, which stand
/// for several labels, do not fill the memory.
fn compact<T: Ord + Send>(seen: &mut Vec<T>, compacted: &mut usize, room: usize) {
    if seen.len() >= 2 * *compacted + room.max(1 << 16) {
        seen.par_sort_unstable();
        seen.dedup();
        *compacted = seen.len();
    }
}
