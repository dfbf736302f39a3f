//! Numbers and data at which training could break.

use crate::models::*;
use fieldmark_core::Gold;
use fieldmark_core::optimize::{Lbfgs, LbfgsOptions, Objective};
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::loopy::LoopyOptions;
use fieldmark_graph::{
    Description, EngineChoice, GraphDatasetBuilder, GraphObjective, Layer, Loss, Per, Relation, Relations,
    Structure, Template, TrainError,
};

fn losses() -> [Loss; 3] {
    [
        Loss::Likelihood(EngineChoice::default()),
        Loss::Pseudolikelihood,
        Loss::Piecewise,
    ]
}

#[test]
fn weights_of_ten_thousand_give_the_right_answer() {
    for (name, description) in descriptions() {
        for labels in [Labels::Complete, Labels::Partial] {
            // Unknown labels may need transitions that were never seen.
            if name == "forbidding" && labels != Labels::Complete {
                continue;
            }
            let data = data(&description, labels, 2);
            let structure = Structure::build(&data, &description, relations()).unwrap();
            for loss in losses() {
                let mut objective = GraphObjective::new(&structure, &data, loss.clone()).unwrap();
                let weights = random_weights(structure.weights(), 1e4, 8);
                let mut gradient = vec![0.0; weights.len()];
                let value = objective.evaluate(&weights, &mut gradient);
                assert!(value.is_finite() && value > -1e-6, "{name} {loss:?}: {value}");
                assert!(gradient.iter().all(|number| number.is_finite()));
                // Everything is decided at such weights, so the loss is linear in the neighbourhood.
                let step = 0.01;
                for index in 0..weights.len() {
                    let mut moved = weights.clone();
                    moved[index] += step;
                    let up = objective.evaluate(&moved, &mut vec![0.0; weights.len()]);
                    let slope = (up - value) / step;
                    assert!(
                        (slope - gradient[index]).abs() < 1e-4 * (1.0 + slope.abs()),
                        "{name} {loss:?} weight {index}: {slope} against {}",
                        gradient[index]
                    );
                }
            }
        }
    }
}

#[test]
fn weights_that_overflow_are_too_far_and_not_a_failure() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 2);
    let structure = Structure::build(&data, description, relations()).unwrap();
    for loss in losses() {
        let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
        for weight in [1e300, f64::INFINITY, f64::NAN] {
            let weights = vec![weight; structure.weights()];
            let value = objective.evaluate(&weights, &mut vec![0.0; weights.len()]);
            assert_eq!(value, f64::INFINITY);
            assert_eq!(objective.failure(), None);
        }
    }
}

#[test]
fn gold_that_is_forbidden_is_refused_with_its_instance() {
    let mut description = Description::factorial(&["a", "b"]);
    description.templates[4].forbid = vec![vec!["X".into(), "P".into()]];
    let mut builder = GraphDatasetBuilder::new(&description);
    let (x, y, p) = (
        builder.label(0, "X"),
        builder.label(0, "Y"),
        builder.label(1, "P"),
    );
    builder.end_position(&[Gold::Known(y), Gold::Known(p)]).unwrap();
    builder.end_instance(&[]).unwrap();
    builder.end_position(&[Gold::Known(x), Gold::Known(p)]).unwrap();
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let loopy = Loss::Likelihood(EngineChoice::Loopy(LoopyOptions::default()));
    for loss in losses().into_iter().chain([loopy]) {
        let Err(error) = GraphObjective::new(&structure, &data, loss.clone()) else {
            panic!("{loss:?} accepts what is forbidden");
        };
        assert!(
            matches!(error, TrainError::Instance { instance: 1, .. }),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .starts_with("instance 2: no labelling satisfies the constraints")
        );
    }
}

#[test]
fn isolated_variables_and_empty_instances_are_no_problem() {
    // Layer b takes part in no template, and the layer of the whole instance only in its own.
    let mut description = Description::linear_chain("a");
    for (name, per) in [("b", Per::Position), ("all", Per::Instance)] {
        let name = name.into();
        description.layers.push(Layer { name, per });
    }
    description
        .templates
        .push(Template::new(Relation::Unary("all".into())));
    for labels in [Labels::Complete, Labels::Partial, Labels::Hidden] {
        let data = data(&description, labels, 6);
        let structure = Structure::build(&data, &description, Relations::none()).unwrap();
        let weights = random_weights(structure.weights(), 1.0, 1);
        for loss in losses() {
            let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
            check_gradient("isolated", &mut objective, &weights, 1e-7);
        }
    }
}

#[test]
fn no_data_and_no_templates_have_no_loss() {
    let description = Description {
        templates: Vec::new(),
        ..Description::factorial(&["a", "b"])
    };
    let mut builder = GraphDatasetBuilder::new(&description);
    builder.label(0, "x");
    builder.label(1, "x");
    let empty = builder.finish();
    let full = data(&description, Labels::Complete, 1);
    for data in [empty, full] {
        let structure = Structure::build(&data, &description, Relations::none()).unwrap();
        assert_eq!(structure.weights(), 0);
        for loss in [Loss::Pseudolikelihood, Loss::Piecewise] {
            let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
            assert_eq!(objective.evaluate(&[], &mut []), 0.0);
        }
    }
}

#[test]
fn a_hundred_thousand_positions_are_one_instance() {
    let description = Description::factorial(&["a", "b"]);
    let mut builder = GraphDatasetBuilder::new(&description);
    let mut random = SplitMix64(5);
    for layer in 0..2 {
        for label in ["x", "y", "z"] {
            builder.label(layer, label);
        }
    }
    for _ in 0..100_000 {
        let word = random.below(50);
        builder.observe(&format!("w={word}"), 1.0).unwrap();
        builder
            .end_position(&[Gold::Known(word % 3), Gold::Known(random.below(3))])
            .unwrap();
    }
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let weights = random_weights(structure.weights(), 0.1, 1);
    for loss in [Loss::Likelihood(EngineChoice::default()), Loss::Pseudolikelihood] {
        let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
        let value = objective.evaluate(&weights, &mut vec![0.0; weights.len()]);
        assert!(value.is_finite() && value > 1e5);
    }
}

#[test]
fn optimisers_find_the_optimum_of_every_loss() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 2);
    let structure = Structure::build(&data, description, relations()).unwrap();
    for loss in losses() {
        let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
        let mut optimizer = Lbfgs::new(vec![0.0; structure.weights()], LbfgsOptions::default()).unwrap();
        while optimizer.step(&mut objective).unwrap().is_some() {}
        let mut gradient: Vec<f64> = optimizer.weights().iter().map(|weight| 2.0 * weight).collect();
        objective.evaluate(optimizer.weights(), &mut gradient);
        assert!(gradient.iter().all(|slope| slope.abs() < 1e-3), "{gradient:?}");
    }
}
