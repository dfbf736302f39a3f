//! Inspections tell what is in the model.

use super::GraphModel;
use crate::{Description, GraphDatasetBuilder, Observe, Relations, Skip, Strategy, Structure};
use fieldmark_core::Gold;
use fieldmark_core::random::SplitMix64;

pub(super) fn model(description: &Description, seed: u64) -> GraphModel {
    let mut random = SplitMix64(seed);
    let mut builder = GraphDatasetBuilder::new(description);
    let layers = description.layers.len();
    for _ in 0..4 {
        for _ in 0..6 {
            for kind in ["w", "x"] {
                let name = format!("{kind}={}", random.below(9));
                builder.observe(&name, 1.0).unwrap();
            }
            let gold: Vec<u32> = (0..layers)
                .map(|layer| builder.label(layer, &format!("L{}", random.below(3))))
                .collect();
            let gold: Vec<Gold<'_>> = gold.into_iter().map(Gold::Known).collect();
            builder.end_position(&gold).unwrap();
        }
        builder.end_instance(&[]).unwrap();
    }
    let data = builder.finish();
    let structure = Structure::build(&data, description, Relations::none()).unwrap();
    let weights: Vec<f64> = (0..structure.weights())
        .map(|_| match random.below(5) {
            0 => 0.0,
            _ => random.unit() * 4.0 - 2.0,
        })
        .collect();
    GraphModel::new(&data, &structure, &weights).unwrap()
}

pub(super) fn observed() -> Description {
    let mut description = Description::factorial(&["a", "b"]);
    description.templates[4].strategy = Strategy::Supported;
    description.templates[4].observe = Some(Observe::First);
    description
}

/// Every weight of a template by name, asked for one by one.
fn all_weights(
    model: &GraphModel,
    template: usize,
    layers: &[usize],
) -> Vec<(f64, Option<String>, Vec<String>)> {
    let assignments = layers.iter().fold(vec![Vec::new()], |all, &layer| {
        let labels = 0..model.labels(layer).len() as u32;
        let longer = |one: &Vec<u32>| -> Vec<Vec<u32>> {
            labels
                .clone()
                .map(|label| [&one[..], &[label]].concat())
                .collect()
        };
        all.iter().flat_map(longer).collect()
    });
    let (structure, mut all) = (model.structure(), Vec::new());
    for labels in &assignments {
        let names: Vec<String> = labels
            .iter()
            .zip(layers)
            .map(|(&label, &layer)| model.labels(layer).name(label).to_owned())
            .collect();
        let bias = structure.bias(template, labels).map(|place| (place, None));
        let observed = (0..model.observations().len() as u32).filter_map(|row| {
            let name = model.observations().name(row).to_owned();
            Some((structure.feature(template, row, labels)?, Some(name)))
        });
        all.extend(
            bias.into_iter()
                .chain(observed)
                .map(|(place, name)| (model.weights()[place], name, names.clone())),
        );
    }
    all
}

#[test]
fn the_strongest_weights_are_those_of_largest_magnitude() {
    for seed in 0..20 {
        let model = model(&observed(), seed);
        for most in [0, 1, 5, 1000] {
            let inspection = model.inspect(most);
            assert_eq!(inspection.weights, model.weights().len());
            for template in &inspection.templates {
                let mut names = model.structure().template_names();
                let number = names.position(|name| name == template.template).unwrap();
                let layers = template
                    .layers
                    .iter()
                    .map(|name| model.description().layer(name).unwrap());
                let mut all = all_weights(&model, number, &layers.collect::<Vec<_>>());
                assert_eq!(template.observed + template.biases, all.len());
                all.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
                all.truncate(most);
                let found: Vec<_> = template
                    .strongest
                    .iter()
                    .map(|one| (one.weight, one.observation.clone(), one.labels.clone()))
                    .collect();
                assert_eq!(found, all, "seed {seed}, {most} of {}", template.template);
            }
        }
    }
}

#[test]
fn what_joins_most_comes_first() {
    let names = |model: GraphModel| -> Vec<String> {
        let templates = model.inspect(1).templates.into_iter();
        templates.map(|template| template.template).collect()
    };
    assert_eq!(
        names(model(&observed(), 1)),
        ["between:a-b", "chain:a", "chain:b", "unary:a", "unary:b"]
    );
    let skip = Description::skip_chain("a", [Skip::same("a", "w=")]);
    assert_eq!(names(model(&skip, 1)), ["skip0", "chain:a", "unary:a"]);
}

#[test]
fn a_person_can_read_it() {
    let description = Description::linear_chain("a\nb");
    let mut builder = GraphDatasetBuilder::new(&description);
    for (word, label) in [("x", "O"), ("y", "DRUG")] {
        builder.observe(word, 1.0).unwrap();
        let gold = builder.label(0, label);
        builder.end_position(&[Gold::Known(gold)]).unwrap();
    }
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let mut weights = vec![0.0; structure.weights()];
    weights[structure.feature(0, 0, &[0]).unwrap()] = 1.5;
    weights[structure.feature(0, 1, &[1]).unwrap()] = -2e7;
    weights[structure.bias(1, &[0, 1]).unwrap()] = 0.25;
    let model = GraphModel::new(&data, &structure, &weights)
        .unwrap()
        .with_algorithm("lbfgs");
    let expected = [
        "Graph model of 1 layer and 2 templates",
        "  trained by lbfgs",
        "  layer a\\nb: 2 labels, one variable per position",
        "  observations                               2",
        "  weights                                    3",
        "    not zero                                 3",
        "",
        "chain:a\\nb (a\\nb, a\\nb): 0 weights of observations, 1 of labels",
        "     +0.250  O · DRUG",
        "",
        "unary:a\\nb (a\\nb): 2 weights of observations, 0 of labels",
        "    -2.00e7  DRUG  y",
        "     +1.500  O     x",
    ];
    let text = model.inspect(3).to_string();
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}
