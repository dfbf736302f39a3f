//! Data and models for tests, and every answer about them by listing all label sequences.

use crate::{Fitted, Pool};
use fieldmark_chain::{Strategy, Structure, StructureOptions};
use fieldmark_core::random::SplitMix64;
use fieldmark_core::{Dataset, DatasetBuilder, Gold};
use std::sync::Arc;

/// Three short sequences over three labels, with observations of steps.
pub fn small_data() -> Dataset {
    random_data(&mut SplitMix64(1), 3, &[3, 5, 2])
}

/// Random observations and gold labels.
pub fn random_data(random: &mut SplitMix64, labels: u32, lengths: &[usize]) -> Dataset {
    let mut builder = DatasetBuilder::new();
    for label in 0..labels {
        builder.labels.intern(["B-X", "I-X", "O", "B-Y"][label as usize]);
    }
    let names: Vec<u32> = ["a", "b", "c", "d", "e"]
        .map(|name| builder.observations.intern(name))
        .to_vec();
    for &length in lengths {
        for _ in 0..length {
            for &name in &names {
                if random.below(2) == 0 {
                    builder.observe(name, 1.0);
                }
            }
            builder.observe_pair(names[random.below(5) as usize], 1.0);
            builder.end_position(Gold::Known(random.below(labels))).unwrap();
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

/// A model with random weights over a pool of which some labels are known.
pub struct Case {
    pub pool: Pool,
    pub model: Fitted,
}

impl Case {
    pub fn random(seed: u64) -> Self {
        let random = &mut SplitMix64(seed);
        let labels = 1 + random.below(4);
        let lengths: Vec<usize> = (0..3).map(|_| 1 + random.below(5) as usize).collect();
        let data = Arc::new(random_data(random, labels, &lengths));
        let options = StructureOptions {
            order: random.below(3) as usize,
            states: Strategy::All,
            transitions: Strategy::All,
            label_bias: random.below(2) == 0,
            ..StructureOptions::default()
        };
        let structure = Structure::build(&data, &options).unwrap();
        let width = [0.0, 1.0, 6.0][random.below(3) as usize];
        let weights = (0..structure.weights())
            .map(|_| (2.0 * random.unit() - 1.0) * width)
            .collect();
        let mut pool = Pool::unlabelled(data.clone());
        for sequence in 0..pool.len() {
            for position in pool.positions(sequence) {
                if random.below(4) == 0 {
                    pool.answer(sequence, position, random.below(labels)).unwrap();
                }
            }
        }
        Self {
            pool,
            model: Fitted::from_parts(structure, weights),
        }
    }

    fn score(&self, sequence: usize, labels: &[u32]) -> f64 {
        let (structure, weights) = (self.model.structure(), self.model.weights());
        let data = self.pool.data();
        let mut score = 0.0;
        for ((t, position), &label) in self.pool.positions(sequence).enumerate().zip(labels) {
            for (id, value) in data.unary.iter(position) {
                let feature = structure.unary().find(id, label).unwrap();
                score += weights[structure.unary_weights()][feature] * f64::from(value);
            }
            score += weights[structure.bias_weights()]
                .get(label as usize)
                .unwrap_or(&0.0);
            if t == 0 || structure.options().order == 0 {
                continue;
            }
            for (id, value) in data.pair.iter(position) {
                let pair = structure.pairs().binary_search(&[labels[t - 1], label]).unwrap();
                if let Some(feature) = structure.pair().find(id, pair as u32) {
                    score += weights[structure.pair_weights()][feature] * f64::from(value);
                }
            }
            for length in 2..=(structure.options().order + 1).min(t + 1) {
                let tuple = structure.tuples().find(&labels[t + 1 - length..=t]).unwrap();
                score += weights[structure.tuple_weights()][tuple];
            }
        }
        score
    }

    /// All label sequences that the answers allow, with their probabilities, best first.
    pub fn enumerate(&self, sequence: usize) -> Vec<(Vec<u32>, f64)> {
        let labels = self.pool.data().labels.len();
        let positions = self.pool.positions(sequence);
        let mut all: Vec<(Vec<u32>, f64)> = (0..labels.pow(positions.len() as u32))
            .map(|mut code| {
                let mut list = vec![0; positions.len()];
                for label in list.iter_mut().rev() {
                    *label = (code % labels) as u32;
                    code /= labels;
                }
                list
            })
            .filter(|list| {
                let allowed = |(at, &label): (usize, &u32)| self.pool.known(at).allows(label);
                positions.clone().zip(list).all(allowed)
            })
            .map(|list| {
                let score = self.score(sequence, &list);
                (list, score)
            })
            .collect();
        all.sort_by(|one, other| other.1.total_cmp(&one.1));
        let most = all[0].1;
        let sum: f64 = all.iter().map(|(_, score)| (score - most).exp()).sum();
        for (_, score) in &mut all {
            *score = (*score - most).exp() / sum;
        }
        all
    }
}
