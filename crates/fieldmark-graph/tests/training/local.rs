//! Pseudolikelihood and piecewise training.

use crate::models::*;
use fieldmark_core::optimize::Objective;
use fieldmark_graph::{FactorGraph, GraphDataset, GraphObjective, Loss, Structure, TrainError};

/// The pseudolikelihood of complete labels by its definition: each factor given all other variables.
fn defined_for_complete_labels(structure: &Structure, weights: &[f64], data: &GraphDataset) -> f64 {
    let mut loss = 0.0;
    for index in 0..data.len() {
        let graph = graph(structure, weights, data, index);
        let gold = allowed(data, index);
        let truth: Vec<u32> = gold.iter().map(|set| set[0]).collect();
        for factor in 0..graph.factors() {
            let mut sets = gold.clone();
            for &variable in graph.scope(factor) {
                sets[variable as usize] = possible(&graph, variable);
            }
            let mut scores = Vec::new();
            for_each_labelling(&sets, |labels| scores.push(graph.score(labels).unwrap()));
            loss += log_sum(&scores) - graph.score(&truth).unwrap();
        }
    }
    loss
}

fn entry(graph: &FactorGraph, factor: usize, labels: &[u32]) -> usize {
    graph.scope(factor).iter().fold(0, |entry, &variable| {
        entry * graph.labels(variable) as usize + labels[variable as usize] as usize
    })
}

/// The pseudolikelihood of partial labels by its definition: neighbours count where their other ends are known.
fn defined_for_partial_labels(structure: &Structure, weights: &[f64], data: &GraphDataset) -> f64 {
    let mut loss = 0.0;
    for index in 0..data.len() {
        let graph = graph(structure, weights, data, index);
        let gold = allowed(data, index);
        for factor in 0..graph.factors() {
            let scope = graph.scope(factor);
            let counts = |other: usize| {
                let others = graph.scope(other).iter();
                let touches = others.clone().any(|variable| scope.contains(variable));
                let outside = others.filter(|variable| !scope.contains(variable));
                other == factor || touches && { outside }.all(|&variable| gold[variable as usize].len() == 1)
            };
            let neighbours: Vec<usize> = (0..graph.factors()).filter(|&other| counts(other)).collect();
            let log_z = |restricted: bool| {
                let mut sets: Vec<Vec<u32>> = gold.iter().map(|set| vec![set[0]]).collect();
                for &variable in scope {
                    sets[variable as usize] = if restricted {
                        gold[variable as usize].clone()
                    } else {
                        possible(&graph, variable)
                    };
                }
                let mut scores = Vec::new();
                for_each_labelling(&sets, |labels| {
                    let of = |&other: &usize| graph.scores(other)[entry(&graph, other, labels)];
                    scores.push(neighbours.iter().map(of).sum());
                });
                log_sum(&scores)
            };
            loss += log_z(false) - log_z(true);
        }
    }
    loss
}

fn piecewise(structure: &Structure, weights: &[f64], data: &GraphDataset) -> f64 {
    let mut loss = 0.0;
    for index in 0..data.len() {
        let graph = graph(structure, weights, data, index);
        let gold = allowed(data, index);
        for factor in 0..graph.factors() {
            let log_z = |labels: &dyn Fn(u32) -> Vec<u32>| {
                let sets: Vec<Vec<u32>> = graph.scope(factor).iter().map(|&v| labels(v)).collect();
                let mut scores = Vec::new();
                for_each_labelling(&sets, |labels| {
                    let mut full = vec![0; graph.variables()];
                    for (&variable, &label) in graph.scope(factor).iter().zip(labels) {
                        full[variable as usize] = label;
                    }
                    scores.push(graph.scores(factor)[entry(&graph, factor, &full)]);
                });
                log_sum(&scores)
            };
            loss += log_z(&|variable| possible(&graph, variable))
                - log_z(&|variable| gold[variable as usize].clone());
        }
    }
    loss
}

type Definition = fn(&Structure, &[f64], &GraphDataset) -> f64;

fn check(loss: &Loss, labels: Labels, definition: Definition) {
    for (name, description) in descriptions() {
        for (seed, size) in [(0, 1.0), (1, 3.0)] {
            let data = data(&description, labels, seed);
            let structure = Structure::build(&data, &description, relations()).unwrap();
            let weights = random_weights(structure.weights(), size, seed);
            let mut objective = match GraphObjective::new(&structure, &data, loss.clone()) {
                Ok(objective) => objective,
                // Unknown labels may need transitions that were never seen.
                Err(TrainError::Instance { .. }) if name == "forbidding" && labels != Labels::Complete => {
                    continue;
                }
                Err(error) => panic!("{name}: {error}"),
            };
            let found = objective.evaluate(&weights, &mut vec![0.0; weights.len()]);
            let expected = definition(&structure, &weights, &data);
            assert!(
                (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
                "{name} {labels:?}: {found} against {expected}"
            );
            check_gradient(&format!("{name} {labels:?}"), &mut objective, &weights, 1e-7);
        }
    }
}

#[test]
fn pseudolikelihood_of_complete_labels() {
    check(
        &Loss::Pseudolikelihood,
        Labels::Complete,
        defined_for_complete_labels,
    );
    check(
        &Loss::Pseudolikelihood,
        Labels::Complete,
        defined_for_partial_labels,
    );
}

#[test]
fn pseudolikelihood_of_partial_labels_hidden_layers_and_candidates() {
    for labels in [Labels::Partial, Labels::Hidden, Labels::Candidates] {
        check(&Loss::Pseudolikelihood, labels, defined_for_partial_labels);
    }
}

#[test]
fn piecewise_loss() {
    for labels in [
        Labels::Complete,
        Labels::Partial,
        Labels::Hidden,
        Labels::Candidates,
    ] {
        check(&Loss::Piecewise, labels, piecewise);
    }
}
