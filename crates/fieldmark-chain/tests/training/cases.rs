//! Random small data sets, structures and weights.

use fieldmark_chain::{Strategy, Structure, StructureError, StructureOptions, UnseenTransitions};
use fieldmark_core::random::SplitMix64;
use fieldmark_core::{Dataset, DatasetBuilder, Gold};

pub struct Rng(SplitMix64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// Other numbers, which leave the next ones of this generator as they are.
    fn fork(&self) -> Self {
        Self(SplitMix64(!self.0.0))
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Between −size and size.
    pub fn weight(&mut self, size: f64) -> f64 {
        size * (2.0 * ((self.next() >> 11) as f64 / (1u64 << 53) as f64) - 1.0)
    }
}

/// A model and the data that it is trained on.
#[derive(Debug)]
pub struct Case {
    pub data: Dataset,
    pub structure: Structure,
    pub weights: Vec<f64>,
}

impl Case {
    /// Few enough label sequences for enumeration.
    pub fn small(rng: &mut Rng, size: f64) -> Self {
        let most = if rng.below(4) == 0 { 12 } else { 4 };
        let labels = 1 + rng.below(most);
        let longest = match labels {
            1..=2 => 7,
            3 => 6,
            4 => 5,
            5 => 4,
            _ => 3,
        };
        let options = Self::options(rng, 3);
        Self::new(rng, labels, longest, options, size)
    }

    pub fn options(rng: &mut Rng, highest_order: usize) -> StructureOptions {
        let strategies = [Strategy::All, Strategy::Supported, Strategy::DefaultOnly];
        StructureOptions {
            order: rng.below(highest_order + 1),
            states: strategies[rng.below(3)],
            transitions: strategies[rng.below(3)],
            label_bias: rng.coin(),
            boundaries: rng.coin(),
            lower_orders: rng.coin(),
            min_freq: if rng.below(4) == 0 { 1.5 } else { 0.0 },
            unseen_transitions: if rng.fork().below(3) == 0 {
                UnseenTransitions::Forbid
            } else {
                UnseenTransitions::Free
            },
            ..StructureOptions::default()
        }
    }

    pub fn new(
        rng: &mut Rng,
        labels: usize,
        longest: usize,
        mut options: StructureOptions,
        size: f64,
    ) -> Self {
        let data = random_data(rng, labels, longest);
        if labels.pow(options.order as u32 + 1) > 3000 {
            options.transitions = Strategy::Supported;
        }
        let structure = match Structure::build(&data, &options) {
            // Not all data show enough transitions to forbid the others.
            Err(StructureError::Forbidden(_)) => {
                options.unseen_transitions = UnseenTransitions::Free;
                Structure::build(&data, &options)
            }
            built => built,
        };
        let structure = structure.expect("a structure");
        let weights = (0..structure.weights()).map(|_| rng.weight(size)).collect();
        Self {
            data,
            structure,
            weights,
        }
    }

    /// A bound for what scores of sequences amount to.
    pub fn magnitude(&self) -> f64 {
        let largest = self.weights.iter().fold(0.0f64, |max, w| max.max(w.abs()));
        largest * (self.data.positions() * 4) as f64
    }
}

fn random_data(rng: &mut Rng, labels: usize, longest: usize) -> Dataset {
    let (ones, pairs, partial) = (rng.coin(), rng.coin(), rng.coin());
    let names = 1 + rng.below(6);
    let mut builder = DatasetBuilder::new();
    for label in 0..labels {
        builder.labels.intern(&format!("L{label}"));
    }
    for id in 0..names {
        builder.observations.intern(&format!("o{id}"));
    }
    for _ in 0..1 + rng.below(4) {
        for _ in 0..1 + rng.below(longest) {
            for _ in 0..rng.below(4) {
                let value = if ones { 1.0 } else { rng.weight(2.0) as f32 };
                builder.observe(rng.below(names) as u32, value);
            }
            if pairs && rng.coin() {
                let value = if ones { 1.0 } else { rng.weight(2.0) as f32 };
                builder.observe_pair(rng.below(names) as u32, value);
            }
            let label = rng.below(labels) as u32;
            let set = [label, rng.below(labels) as u32, rng.below(labels) as u32];
            let gold = match rng.below(4) {
                0 if partial => Gold::Unknown,
                1 if partial => Gold::Ambiguous(&set),
                _ => Gold::Known(label),
            };
            builder.end_position(gold).expect("room for a position");
        }
        builder.end_instance().expect("room for an instance");
    }
    builder.finish()
}
