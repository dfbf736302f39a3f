use crate::models::*;
use fieldmark_core::Gold;
use fieldmark_core::optimize::{Objective, StochasticObjective};
use fieldmark_graph::loopy::{LoopyOptions, Schedule};
use fieldmark_graph::{
    Description, EngineChoice, ExactOptions, GibbsOptions, GraphDataset, GraphDatasetBuilder, GraphObjective,
    Loss, Structure, TrainError,
};

/// log Z − log Z(gold), summed over instances, by enumeration.
fn enumerated(structure: &Structure, weights: &[f64], data: &GraphDataset) -> f64 {
    let mut loss = 0.0;
    for index in 0..data.len() {
        let graph = graph(structure, weights, data, index);
        let everything: Vec<Vec<u32>> = (0..graph.variables() as u32)
            .map(|variable| possible(&graph, variable))
            .collect();
        let log_z = |sets: &[Vec<u32>]| {
            let mut scores = Vec::new();
            for_each_labelling(sets, |labels| scores.push(graph.score(labels).unwrap()));
            log_sum(&scores)
        };
        loss += log_z(&everything) - log_z(&allowed(data, index));
    }
    loss
}

#[test]
fn exact_likelihood_is_that_of_enumeration() {
    for (name, description) in descriptions() {
        for (seed, labels) in [
            Labels::Complete,
            Labels::Partial,
            Labels::Hidden,
            Labels::Candidates,
        ]
        .into_iter()
        .enumerate()
        {
            let data = data(&description, labels, seed as u64);
            let structure = Structure::build(&data, &description, relations()).unwrap();
            let weights = random_weights(structure.weights(), 1.5, 7);
            let loss = Loss::Likelihood(EngineChoice::default());
            let mut objective = match GraphObjective::new(&structure, &data, loss) {
                Ok(objective) => objective,
                // Unknown labels may need transitions that were never seen.
                Err(TrainError::Instance { .. }) if name == "forbidding" && labels != Labels::Complete => {
                    continue;
                }
                Err(error) => panic!("{name}: {error}"),
            };
            let found = objective.evaluate(&weights, &mut vec![0.0; weights.len()]);
            let expected = enumerated(&structure, &weights, &data);
            assert!(
                (found - expected).abs() < 1e-9,
                "{name} {labels:?}: {found} against {expected}"
            );
            assert_eq!(objective.convergence().fraction(), 1.0);
            check_gradient(&format!("{name} {labels:?}"), &mut objective, &weights, 1e-7);
        }
    }
}

#[test]
fn product_chains_and_junction_trees_agree() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Partial, 5);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let weights = random_weights(structure.weights(), 1.0, 2);
    let choices = [
        EngineChoice::JunctionTree(ExactOptions::default()),
        EngineChoice::ProductChain(ExactOptions::default()),
    ];
    let losses = choices.map(|choice| {
        let mut gradient = vec![0.0; weights.len()];
        let mut objective = GraphObjective::new(&structure, &data, Loss::Likelihood(choice)).unwrap();
        (objective.evaluate(&weights, &mut gradient), gradient)
    });
    assert!((losses[0].0 - losses[1].0).abs() < 1e-10);
    for (one, other) in losses[0].1.iter().zip(&losses[1].1) {
        assert!((one - other).abs() < 1e-10);
    }
}

#[test]
fn bethe_value_and_gradient_belong_together_where_messages_converge() {
    let options = LoopyOptions {
        tolerance: 1e-12,
        ..LoopyOptions::default()
    };
    for (name, description) in descriptions() {
        for labels in [Labels::Complete, Labels::Partial, Labels::Candidates] {
            // Unknown labels may need transitions that were never seen.
            if name == "forbidding" && labels != Labels::Complete {
                continue;
            }
            let data = data(&description, labels, 3);
            let structure = Structure::build(&data, &description, relations()).unwrap();
            let weights = random_weights(structure.weights(), 0.4, 11);
            let loss = Loss::Likelihood(EngineChoice::Loopy(options.clone()));
            let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
            let value = objective.evaluate(&weights, &mut vec![0.0; weights.len()]);
            let convergence = objective.convergence();
            assert_eq!(convergence.fraction(), 1.0, "{name}");
            assert!(convergence.mean_iterations() >= 1.0);
            let exact = enumerated(&structure, &weights, &data);
            assert!((value - exact).abs() < 0.2, "{name}: {value} against {exact}");
            check_gradient(name, &mut objective, &weights, 1e-6);
        }
    }
}

#[test]
fn answers_that_do_not_converge_are_counted() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 1);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let weights = random_weights(structure.weights(), 2.0, 1);
    let options = LoopyOptions {
        schedule: Schedule::Flooding,
        iterations: 1,
        ..LoopyOptions::default()
    };
    let loss = Loss::Likelihood(EngineChoice::Loopy(options));
    let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
    let value = objective.evaluate(&weights, &mut vec![0.0; weights.len()]);
    assert!(value.is_finite());
    let convergence = objective.convergence();
    // One of the five instances is empty.
    assert_eq!(convergence.answers, 4);
    assert!(convergence.converged < 4 && convergence.fraction() < 1.0);
    assert!(convergence.to_string().contains("of 4 answers converged"));
}

#[test]
fn engines_without_log_z_are_refused() {
    let (_, description) = &descriptions()[0];
    let data = data(description, Labels::Complete, 1);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let gibbs = Loss::Likelihood(EngineChoice::Gibbs(GibbsOptions::default()));
    assert!(matches!(
        GraphObjective::new(&structure, &data, gibbs),
        Err(TrainError::NoLogZ)
    ));
}

#[test]
fn instances_of_which_nothing_is_known_cost_no_inference() {
    let (_, description) = &descriptions()[2];
    let mut builder = GraphDatasetBuilder::new(description);
    for layer in 0..2 {
        builder.label(layer, "x");
        builder.label(layer, "y");
    }
    for gold in [[Gold::Unknown; 2], [Gold::Known(0), Gold::Unknown]] {
        builder.observe("w", 1.0).unwrap();
        builder.end_position(&gold).unwrap();
        builder.end_instance(&[]).unwrap();
    }
    let data = builder.finish();
    let structure = Structure::build(&data, description, relations()).unwrap();
    let weights = random_weights(structure.weights(), 1.0, 1);
    let loss = Loss::Likelihood(EngineChoice::default());
    let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
    let mut gradient = vec![0.0; weights.len()];
    assert_eq!(objective.evaluate_batch(&[0], &weights, &mut gradient), 0.0);
    assert_eq!(objective.convergence().answers, 0);
    assert!(gradient.iter().all(|&slope| slope == 0.0));
    assert!(objective.evaluate_batch(&[1], &weights, &mut gradient) > 0.0);
    assert_eq!(objective.convergence().answers, 2);
}

#[test]
fn a_contradiction_names_a_variable_that_has_part_in_it() {
    let mut description = Description::factorial(&["a", "b"]);
    description.templates[4].forbid = vec![vec!["X".into(), "P".into()]];
    let mut builder = GraphDatasetBuilder::new(&description);
    let [x, y] = ["X", "Y"].map(|name| builder.label(0, name));
    let p = builder.label(1, "P");
    for label in [y, y, x] {
        builder
            .end_position(&[Gold::Known(label), Gold::Known(p)])
            .unwrap();
    }
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, relations()).unwrap();
    let loss = Loss::Likelihood(EngineChoice::default());
    let Err(error) = GraphObjective::new(&structure, &data, loss) else {
        panic!("what is forbidden is accepted");
    };
    assert!(
        error.to_string().ends_with("nothing is left for variable 4"),
        "{error}"
    );
}
