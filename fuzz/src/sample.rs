//! A model with features of every kind to start from, and the use of any model.

use fieldmark_chain::inference::Constraints;
use fieldmark_chain::{ChainModel, Structure, StructureOptions};
use fieldmark_core::{DatasetBuilder, Gold};

/// A small model of order 2 with boundaries, biases and pair observations.
pub fn sample() -> ChainModel {
    let mut builder = DatasetBuilder::new();
    for position in 0..4 {
        let observation = builder.observations.intern(["x", "y", "z\t"][position % 3]);
        let label = builder.labels.intern(["A", "B"][position % 2]);
        builder.observe(observation, 1.0);
        builder.observe_pair(observation, 1.0);
        builder.end_position(Gold::Known(label)).unwrap();
    }
    let data = builder.finish();
    let options = StructureOptions {
        order: 2,
        label_bias: true,
        boundaries: true,
        ..StructureOptions::default()
    };
    let structure = Structure::build(&data, &options).unwrap();
    let weights: Vec<f64> = (1..=structure.weights()).map(|i| i as f64 / 4.0 - 2.0).collect();
    ChainModel::new(data.labels.clone(), &data.observations, &structure, &weights).with_unknown("y")
}

/// Looks names up, tags, explains and inspects: whatever a model is, nothing of this may panic.
pub fn exercise(model: &ChainModel) {
    let observations = model.observations();
    for name in observations.iter() {
        let _ = observations.get(name);
    }
    let mut builder = DatasetBuilder::new();
    for position in 0..3 {
        for id in 0..observations.len().min(50) as u32 {
            builder.observe(id, 0.5);
            if position > 0 {
                builder.observe_pair(id, 2.0);
            }
        }
        builder.end_position(Gold::Unknown).unwrap();
    }
    let data = builder.finish();
    let instance = data.instance(0);
    if let Ok(labels) = model.tagger().tag(instance) {
        assert!(
            labels
                .iter()
                .all(|&label| (label as usize) < model.labels().len())
        );
    }
    if let Ok(explanation) = model.explain(instance, &Constraints::none(), 3) {
        assert!(
            explanation
                .decisions
                .iter()
                .all(|decision| decision.margin.is_finite())
        );
        let _ = explanation.to_string();
    }
    let _ = model.inspect(2).to_string();
}
