//! Exact engines against enumeration.

use crate::models::{Model, models};
use fieldmark_graph::exact::{Enumeration, JunctionTree, ProductChain, Tree, k_best};
use fieldmark_graph::{Engine, EngineChoice, Error, FactorGraph, FactorGraphBuilder, LogZ, MaxMarginals};

const SEEDS: u64 = 8;

/// 1e-9, relative to the scores where they are huge.
fn close(a: f64, b: f64, weight: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * weight.max(1.0)
}

fn agrees_with_enumeration<E: MaxMarginals>(engine: &mut E, model: &Model) {
    let (graph, name) = (&model.graph, &model.name);
    let mut enumeration = Enumeration::default();
    let expected = match enumeration.sum(graph) {
        Ok(beliefs) => beliefs,
        Err(error) => {
            assert!(matches!(error, Error::Contradiction { .. }), "{name}: {error}");
            for error in [engine.sum(graph).err(), engine.max(graph).err()] {
                assert!(
                    matches!(error, Some(Error::Contradiction { .. })),
                    "{name}: {error:?}"
                );
            }
            assert!(engine.max_marginals(graph).is_err(), "{name}");
            return;
        }
    };
    let found = engine
        .sum(graph)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(found.report().exact && found.report().converged);
    let (LogZ::Exact(a), LogZ::Exact(b)) = (found.log_z(), expected.log_z()) else {
        panic!("{name}: not exact")
    };
    assert!(close(a, b, model.weight), "{name}: log Z {a}, expected {b}");
    for variable in 0..graph.variables() as u32 {
        for (a, b) in found.variable(variable).iter().zip(expected.variable(variable)) {
            assert!(
                (a - b).abs() < 1e-9,
                "{name}: marginal of {variable} {a}, expected {b}"
            );
        }
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for factor in 0..graph.factors() {
        found.factor(factor, &mut a);
        expected.factor(factor, &mut b);
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9, "{name}: factor {factor} {a}, expected {b}");
        }
    }
    let best = enumeration.max(graph).unwrap();
    let decoding = engine.max(graph).unwrap();
    assert!(
        close(decoding.score, best.score, model.weight),
        "{name}: {decoding:?}, expected {best:?}"
    );
    assert_eq!(graph.score(&decoding.labels), Ok(decoding.score), "{name}");
    assert!(decoding.report.exact && decoding.bound == Some(decoding.score));
    let expected = enumeration.max_marginals(graph).unwrap();
    for (a, b) in engine.max_marginals(graph).unwrap().iter().zip(expected) {
        assert!(
            close(*a, *b, model.weight),
            "{name}: max-marginal {a}, expected {b}"
        );
    }
}

#[test]
fn trees() {
    let mut engine = Tree::new();
    for model in (0..SEEDS).flat_map(models) {
        if model.is_forest {
            agrees_with_enumeration(&mut engine, &model);
        } else {
            assert!(
                matches!(engine.sum(&model.graph), Err(Error::Cycle { .. })) || !model.is_dense,
                "{}",
                model.name
            );
        }
    }
}

#[test]
fn junction_trees() {
    let mut engine = JunctionTree::default();
    for model in (0..SEEDS).flat_map(models) {
        agrees_with_enumeration(&mut engine, &model);
    }
}

#[test]
fn product_chains() {
    let mut engine = ProductChain::default();
    for model in (0..SEEDS).flat_map(models) {
        agrees_with_enumeration(&mut engine, &model);
    }
}

fn k_best_agrees<E: MaxMarginals + ?Sized>(engine: &mut E, model: &Model) {
    let mut graph: FactorGraph = model.graph.clone();
    for k in [0, 1, 7, 40] {
        let Ok(expected) = Enumeration::default().k_best(&graph, k) else {
            return;
        };
        let found = k_best(engine, &mut graph, k).unwrap();
        assert_eq!(found.len(), expected.len(), "{}, k = {k}", model.name);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                close(found.score, expected.1, model.weight),
                "{}, k = {k}",
                model.name
            );
            assert_eq!(graph.score(&found.labels), Ok(found.score));
        }
        let mut labels: Vec<&Vec<u32>> = found.iter().map(|decoding| &decoding.labels).collect();
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), found.len(), "{}: labellings repeat", model.name);
    }
    assert_eq!(graph.label_sets(), model.graph.label_sets());
}

#[test]
fn k_best_on_exact_engines() {
    let mut chain = ProductChain::default();
    for model in (0..4).flat_map(models) {
        k_best_agrees(&mut JunctionTree::default(), &model);
        k_best_agrees(&mut chain, &model);
        k_best_agrees(&mut *EngineChoice::default().max_marginals().unwrap(), &model);
        if model.is_forest {
            k_best_agrees(&mut Tree::new(), &model);
        }
    }
}

/// Two steps with the same table and as many labels, but not the same labels.
#[test]
fn product_chains_share_steps_only_with_the_same_labels() {
    let mut builder = FactorGraphBuilder::default();
    let scores: Vec<f64> = (0..9).map(f64::from).collect();
    let table = builder.table(&[3, 3], &scores).unwrap();
    for (variable, labels) in (0..).zip([[0, 1], [0, 2], [0, 1], [1, 2], [0, 2]]) {
        builder.variable(3).unwrap();
        builder.restrict(variable, labels).unwrap();
        if variable > 0 {
            builder.factor(0, &[variable - 1, variable], table).unwrap();
        }
    }
    let graph = builder.build();
    let log_z = |engine: &mut dyn Engine| engine.sum(&graph).unwrap().log_z().value().unwrap();
    let (found, expected) = (
        log_z(&mut ProductChain::default()),
        log_z(&mut Enumeration::default()),
    );
    assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
}
