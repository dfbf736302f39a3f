//! Small random models and data for the tests of this module.

use super::ChainModel;
use crate::structure::{Strategy, Structure, StructureError, StructureOptions, UnseenTransitions};
use fieldmark_core::container::{Container, ContainerError, ContainerWriter};
use fieldmark_core::random::SplitMix64;
use fieldmark_core::{Dataset, DatasetBuilder, Gold, Names};
use std::ops::Range;
use std::sync::Arc;

/// Random numbers for tests.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below(length - start + 1)
    }

    /// Between −4 and 4.
    pub fn moderate(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 50) as f64 - 4.0
    }

    /// Everything that a weight may be: zeros of both signs, subnormal, extreme and ordinary numbers.
    fn weight(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1 => -0.0,
            2 => f64::from_bits(self.next() >> 13),
            3 => [f64::MAX, f64::MIN, f64::MIN_POSITIVE, -5e-324][self.below(4)],
            4 => Some(f64::from_bits(self.next()))
                .filter(|w| w.is_finite())
                .unwrap_or(1.0),
            _ => self.moderate(),
        }
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// Names that need care: empty, with tabs, line ends, backslashes, and beyond ASCII.
fn name(index: usize) -> String {
    match index {
        0 => String::new(),
        1 => "tab\there\\and\nthere\r".to_owned(),
        2 => "\\start".to_owned(),
        3 => "ß=\u{2028}".to_owned(),
        _ => format!("w[{index}]"),
    }
}

/// A few short instances with every kind of gold, real values, and sometimes pair observations.
pub(crate) fn data(random: &mut Random) -> Dataset {
    let mut builder = DatasetBuilder::new();
    let labels = 1 + random.below(4);
    let observations = 1 + random.below(9);
    for label in 0..labels {
        builder.labels.intern(&name(label));
    }
    for observation in 0..observations {
        builder.observations.intern(&name(observation));
    }
    let with_pairs = random.flag();
    for _ in 0..1 + random.below(4) {
        for _ in 0..1 + random.below(5) {
            for _ in 0..random.below(4) {
                let value = [1.0, 1.0, 0.5, -2.25][random.below(4)];
                builder.observe(random.below(observations) as u32, value);
            }
            if with_pairs && random.flag() {
                builder.observe_pair(random.below(observations) as u32, 1.5);
            }
            let (one, other) = (random.below(labels) as u32, random.below(labels) as u32);
            let gold = match random.below(6) {
                0 => Gold::Unknown,
                1 => Gold::Ambiguous(&[one, other]),
                _ => Gold::Known(one),
            };
            builder.end_position(gold).unwrap();
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

fn options(random: &mut Random) -> StructureOptions {
    let strategies = [Strategy::Supported, Strategy::All, Strategy::DefaultOnly];
    StructureOptions {
        order: random.below(4),
        states: strategies[random.below(3) * random.below(2)],
        transitions: strategies[random.below(3) * random.below(2)],
        label_bias: random.flag(),
        boundaries: random.flag(),
        lower_orders: random.flag(),
        min_freq: [0.0, 0.1, 1.0][random.below(3)],
        min_instances: random.below(2),
        unseen_transitions: [UnseenTransitions::Free, UnseenTransitions::Forbid][random.below(2)],
    }
}

/// A structure for the data; unseen transitions stay free where they cannot be forbidden.
fn structure(data: &Dataset, random: &mut Random) -> Structure {
    let options = options(random);
    let free = StructureOptions {
        unseen_transitions: UnseenTransitions::Free,
        ..options.clone()
    };
    match Structure::build(data, &options) {
        Err(StructureError::Forbidden(_)) => Structure::build(data, &free).unwrap(),
        built => built.unwrap(),
    }
}

fn model_with(data: &Dataset, random: &mut Random, weight: fn(&mut Random) -> f64) -> ChainModel {
    let structure = structure(data, random);
    let weights: Vec<f64> = (0..structure.weights()).map(|_| weight(random)).collect();
    if random.below(4) == 0 {
        return ChainModel::new(data.labels.clone(), &data.observations, &structure, &weights);
    }
    let names = Names::new(data.observations.iter());
    let unknown = random.flag().then(|| random.below(names.len()) as u32);
    let model = ChainModel::assemble(data.labels.clone(), names, unknown, structure, weights.into());
    if random.flag() {
        model.with_algorithm("arow")
    } else {
        model
    }
}

/// A model with weights of any size, most often with all of its features.
pub(crate) fn model(random: &mut Random) -> ChainModel {
    let data = data(random);
    model_with(&data, random, Random::weight)
}

/// A model with weights of moderate size and all of its features, and data that it can tag.
pub(crate) fn model_and_data(random: &mut Random) -> (ChainModel, Dataset) {
    let data = data(random);
    let structure = structure(&data, random);
    let weights: Vec<f64> = (0..structure.weights()).map(|_| random.moderate()).collect();
    let names = Names::new(data.observations.iter());
    let model = ChainModel::assemble(data.labels.clone(), names, None, structure, weights.into());
    (model, data)
}

pub(crate) fn to_bytes(model: &ChainModel) -> Vec<u8> {
    let mut writer = ContainerWriter::new();
    model.write(&mut writer);
    writer.to_bytes().unwrap()
}

pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<ChainModel, ContainerError> {
    ChainModel::read(&Arc::new(Container::from_bytes(bytes)?))
}

/// Whether two models are equal in every bit.
pub(crate) fn same(a: &ChainModel, b: &ChainModel) -> bool {
    let bits = |model: &ChainModel| -> Vec<u64> { model.weights().iter().map(|w| w.to_bits()).collect() };
    let parts = |model: &ChainModel| {
        let structure = model.structure();
        (
            structure.options().clone(),
            structure.unary().clone(),
            structure.pairs().to_vec(),
            structure.pair().clone(),
            structure.tuples().clone(),
            structure.automaton().clone(),
        )
    };
    a.labels() == b.labels()
        && a.observations() == b.observations()
        && a.unknown() == b.unknown()
        && a.algorithm() == b.algorithm()
        && parts(a) == parts(b)
        && bits(a) == bits(b)
}
