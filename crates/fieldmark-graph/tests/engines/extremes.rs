//! Contradictions, huge weights, empty and very long instances.

use fieldmark_core::random::SplitMix64;
use fieldmark_graph::exact::{Enumeration, JunctionTree, ProductChain, Tree, k_best};
use fieldmark_graph::loopy::{LoopyBp, LoopyOptions, Schedule, Space};
use fieldmark_graph::{
    DualDecoder, DualOptions, Engine, EngineChoice, Error, ExactOptions, FactorGraph, FactorGraphBuilder,
    Gibbs, GibbsOptions,
};

const NEVER: f64 = f64::NEG_INFINITY;

fn engines() -> Vec<(&'static str, Box<dyn Engine>)> {
    let loopy = |schedule, space| {
        let options = LoopyOptions {
            schedule,
            space,
            ..LoopyOptions::default()
        };
        Box::new(LoopyBp::<f64>::new(options).unwrap())
    };
    vec![
        ("enumeration", Box::new(Enumeration::default())),
        ("tree", Box::new(Tree::new())),
        ("junction tree", Box::new(JunctionTree::default())),
        ("product chain", Box::new(ProductChain::default())),
        ("flooding", loopy(Schedule::Flooding, Space::Linear)),
        ("random", loopy(Schedule::Random, Space::Log)),
        ("residual", loopy(Schedule::Residual, Space::Linear)),
        ("TRP", loopy(Schedule::Trp, Space::Linear)),
        ("Gibbs", Box::new(Gibbs::new(GibbsOptions::default()).unwrap())),
        (
            "dual",
            Box::new(DualDecoder::new(DualOptions::default()).unwrap()),
        ),
    ]
}

#[test]
fn an_empty_instance_has_one_labelling() {
    let graph = FactorGraphBuilder::default().build();
    for (name, mut engine) in engines() {
        let decoding = engine
            .max(&graph)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(decoding.labels.is_empty() && decoding.score == 0.0, "{name}");
        if name != "dual" {
            let log_z = engine.sum(&graph).unwrap().log_z().value();
            assert_eq!(log_z.unwrap_or(0.0), 0.0, "{name}");
        }
    }
}

/// 0 → 1 → 0 is the only allowed step each way, but both ends are clamped to 0 with one step between them.
#[test]
fn contradictory_constraints_are_errors() {
    let mut builder = FactorGraphBuilder::default();
    let (a, b) = (builder.variable(2).unwrap(), builder.variable(2).unwrap());
    let swap = builder.table(&[2, 2], &[NEVER, 0.0, 0.0, NEVER]).unwrap();
    builder.factor(0, &[a, b], swap).unwrap();
    builder.clamp(a, 0).unwrap();
    builder.clamp(b, 0).unwrap();
    let mut graph = builder.build();
    for (name, mut engine) in engines() {
        let error = engine.max(&graph).unwrap_err();
        match name {
            "Gibbs" => assert!(matches!(error, Error::NothingFound { .. }), "{name}: {error}"),
            _ => assert!(matches!(error, Error::Contradiction { .. }), "{name}: {error}"),
        }
        assert!(engine.sum(&graph).is_err(), "{name}");
    }
    // The same engines go on to answer what can be answered.
    graph.release(b).unwrap();
    for (name, mut engine) in engines() {
        assert_eq!(engine.max(&graph).unwrap().labels, [0, 1], "{name}");
    }
}

/// A cycle of three variables with two labels that must all differ: every pair has an answer, all together have none.
#[test]
fn a_contradiction_that_only_exact_engines_see_is_an_error_everywhere() {
    let mut builder = FactorGraphBuilder::default();
    for _ in 0..3 {
        builder.variable(2).unwrap();
    }
    let differ = builder.table(&[2, 2], &[NEVER, 0.0, 0.0, NEVER]).unwrap();
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        builder.factor(0, &[a, b], differ).unwrap();
    }
    let graph = builder.build();
    for (name, mut engine) in engines() {
        let error = engine.max(&graph).unwrap_err();
        let known = matches!(
            error,
            Error::Contradiction { .. } | Error::NothingFound { .. } | Error::Cycle { .. }
        );
        assert!(known, "{name}: {error}");
    }
    assert!(matches!(
        JunctionTree::default().sum(&graph),
        Err(Error::Contradiction { .. })
    ));
}

/// The likely labels of the first variables become impossible at the end, by ever so little less likely ones.
#[test]
fn weights_of_ten_thousand_are_exact() {
    let mut builder = FactorGraphBuilder::default();
    let length = 30u32;
    for _ in 0..length {
        builder.variable(2).unwrap();
    }
    let stay = builder.table(&[2, 2], &[1e4, NEVER, NEVER, -1e4]).unwrap();
    for v in 1..length {
        builder.factor(0, &[v - 1, v], stay).unwrap();
    }
    builder.factor_with(1, &[length - 1], &[-1e4, 1e4]).unwrap();
    let mut graph = builder.build();
    let best = f64::from(length - 1) * 1e4 - 1e4;
    for (name, mut engine) in engines() {
        if matches!(name, "enumeration" | "Gibbs") {
            continue;
        }
        assert_eq!(engine.max(&graph).unwrap().score, best, "{name}");
        if name != "dual" {
            let beliefs = engine.sum(&graph).unwrap();
            let log_z = beliefs.log_z().value().unwrap();
            assert!((log_z - best).abs() < 1e-9 * best, "{name}: {log_z}");
            assert_eq!(beliefs.variable(0)[0], 1.0, "{name}");
        }
    }
    graph.clamp(length - 1, 1).unwrap();
    for (name, mut engine) in engines() {
        if matches!(name, "enumeration" | "Gibbs") {
            continue;
        }
        let expected = -f64::from(length - 1) * 1e4 + 1e4;
        let decoding = engine.max(&graph).unwrap();
        assert_eq!((decoding.labels[0], decoding.score), (1, expected), "{name}");
        if name != "dual" {
            assert_eq!(engine.sum(&graph).unwrap().variable(0)[1], 1.0, "{name}");
        }
    }
}

fn chain(length: u32, labels: u32) -> FactorGraph {
    let mut random = SplitMix64(9);
    let mut builder = FactorGraphBuilder::default();
    let step: Vec<f64> = (0..labels * labels).map(|_| random.unit() * 2.0).collect();
    let step = builder.table(&[labels, labels], &step).unwrap();
    for v in 0..length {
        builder.variable(labels).unwrap();
        let scores: Vec<f64> = (0..labels).map(|_| random.unit() * 4.0).collect();
        builder.factor_with(0, &[v], &scores).unwrap();
        if v > 0 {
            builder.factor(1, &[v - 1, v], step).unwrap();
        }
    }
    builder.build()
}

/// log Z and the best score by the plain recursion.
fn forward(graph: &FactorGraph) -> (f64, f64) {
    let length = graph.variables();
    let local = |v: usize| graph.scores(if v == 0 { 0 } else { 2 * v - 1 });
    let step = graph.scores(2);
    let (mut alpha, mut best) = (local(0).to_vec(), local(0).to_vec());
    for v in 1..length {
        let (old, old_best) = (alpha.clone(), best.clone());
        for (j, &score) in local(v).iter().enumerate() {
            let terms = old.iter().enumerate().map(|(i, a)| a + step[i * old.len() + j]);
            let largest = terms.clone().fold(NEVER, f64::max);
            alpha[j] = score + largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln();
            let paths = old_best
                .iter()
                .enumerate()
                .map(|(i, a)| a + step[i * old.len() + j]);
            best[j] = score + paths.fold(NEVER, f64::max);
        }
    }
    let largest = alpha.iter().copied().fold(NEVER, f64::max);
    let log_z = largest + alpha.iter().map(|a| (a - largest).exp()).sum::<f64>().ln();
    (log_z, best.into_iter().fold(NEVER, f64::max))
}

#[test]
fn a_hundred_thousand_positions() {
    let graph = chain(100_000, 3);
    let (log_z, best) = forward(&graph);
    for (name, mut engine) in engines() {
        if matches!(name, "enumeration" | "Gibbs" | "flooding" | "random" | "residual") {
            continue;
        }
        let score = engine
            .max(&graph)
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .score;
        assert!((score - best).abs() < 1e-6, "{name}: {score}, expected {best}");
        if name != "dual" {
            let found = engine.sum(&graph).unwrap().log_z().value().unwrap();
            assert!((found - log_z).abs() < 1e-5, "{name}: {found}, expected {log_z}");
        }
    }
    let sampler = GibbsOptions {
        sweeps: 2,
        ..GibbsOptions::default()
    };
    assert!(Gibbs::new(sampler).unwrap().max(&graph).unwrap().score < best);
    let residual = LoopyOptions {
        schedule: Schedule::Residual,
        iterations: 2,
        ..LoopyOptions::default()
    };
    assert!(LoopyBp::<f32>::new(residual).unwrap().max(&graph).is_ok());
}

#[test]
fn a_hub_of_many_variables_is_linear() {
    let mut random = SplitMix64(4);
    let scores: Vec<f64> = (0..6).map(|_| random.unit()).collect();
    // Before all others, or behind them as a layer per instance is.
    let [graph, other_way] = [0, 20_000].map(|hub| {
        let mut builder = FactorGraphBuilder::default();
        for variable in 0..=20_000 {
            builder.variable(if variable == hub { 3 } else { 2 }).unwrap();
        }
        let table = builder.table(&[2, 3], &scores).unwrap();
        for leaf in (0..=20_000).filter(|&leaf| leaf != hub) {
            builder.factor(0, &[leaf, hub], table).unwrap();
        }
        builder.build()
    });
    let row = |label: usize| 20_000.0 * (scores[label].exp() + scores[3 + label].exp()).ln();
    let largest = (0..3).map(row).fold(NEVER, f64::max);
    let expected = largest + (0..3).map(|label| (row(label) - largest).exp()).sum::<f64>().ln();
    for (name, mut engine) in engines() {
        if matches!(
            name,
            "tree" | "junction tree" | "product chain" | "flooding" | "TRP"
        ) {
            for graph in [&graph, &other_way] {
                let log_z = engine.sum(graph).unwrap().log_z().value().unwrap();
                assert!(
                    (log_z - expected).abs() < 1e-7,
                    "{name}: {log_z}, expected {expected}"
                );
                assert!(engine.max(graph).is_ok());
            }
        }
    }
}

/// What tells that a sum was found along the chain: a junction tree sends other numbers of messages.
fn is_along_chain(graph: &FactorGraph, engine: &mut dyn Engine) -> bool {
    engine.sum(graph).unwrap().report().messages == 2 * graph.variables() as u64
}

/// Two layers of 3 labels in chains, joined at each position; `scores` are those of the pairs between them.
fn two_layers(length: u32, scores: &[f64; 9]) -> FactorGraphBuilder {
    let mut builder = FactorGraphBuilder::default();
    let step: Vec<f64> = (0..9).map(|entry| f64::from(entry % 4) / 2.0).collect();
    let (step, between) = (
        builder.table(&[3, 3], &step).unwrap(),
        builder.table(&[3, 3], scores).unwrap(),
    );
    for position in 0..length {
        let (one, other) = (builder.variable(3).unwrap(), builder.variable(3).unwrap());
        builder.factor(0, &[one, other], between).unwrap();
        if position > 0 {
            builder.factor(1, &[one - 2, one], step).unwrap();
            builder.factor(1, &[other - 2, other], step).unwrap();
        }
    }
    builder
}

#[test]
fn forbidden_pairs_and_long_chains_under_a_hub_need_no_log_space() {
    let forbidden = [0.0, 1.0, 0.0, 0.5, NEVER, 0.0, 0.0, 0.0, 2.0];
    let mut builder = two_layers(40, &forbidden);
    builder
        .factor_with(2, &[0], &[0.0, NEVER, 0.0])
        .expect("a factor of one variable");
    let graph = builder.build();
    let mut chain = ProductChain::default();
    assert!(is_along_chain(&graph, &mut chain));
    let expected = JunctionTree::default().sum(&graph).unwrap().log_z().value();
    let found = chain.sum(&graph).unwrap();
    assert!((found.log_z().value().unwrap() - expected.unwrap()).abs() < 1e-9);
    assert_eq!(found.variable(0)[1], 0.0);

    let mut builder = two_layers(2000, &[0.0; 9]);
    let hub = builder.variable(2).unwrap();
    for variable in 0..hub {
        let scores = [0.0, 1.0, 0.5, 0.0, 0.0, 1.0];
        builder.factor_with(2, &[variable, hub], &scores).unwrap();
    }
    let graph = builder.build();
    assert!(is_along_chain(&graph, &mut chain));
    let expected = JunctionTree::default().sum(&graph).unwrap().log_z().value();
    let found = chain.sum(&graph).unwrap().log_z().value();
    assert!((found.unwrap() - expected.unwrap()).abs() < 1e-7);
}

#[test]
fn known_labels_before_an_unknown_hub_take_no_place_in_tables() {
    let mut builder = two_layers(2000, &[0.0; 9]);
    let hub = builder.variable(2).unwrap();
    let scores = [0.0, 1.0, 0.5, 0.0, 0.0, 1.0];
    let table = builder.table(&[3, 2], &scores).unwrap();
    for variable in 0..hub {
        builder.factor(2, &[variable, hub], table).unwrap();
        builder.clamp(variable, variable % 3).unwrap();
    }
    let graph = builder.build();
    let expected = JunctionTree::default()
        .sum(&graph)
        .unwrap()
        .variable(hub)
        .to_vec();
    // Frontiers of all positions would need more memory than this.
    let mut chain = ProductChain::with_budget(2 << 20);
    assert!(is_along_chain(&graph, &mut chain));
    let beliefs = chain.sum(&graph).unwrap();
    assert!((beliefs.variable(hub)[0] - expected[0]).abs() < 1e-9);
    let mut marginals = Vec::new();
    for factor in 0..graph.factors() {
        beliefs.factor(factor, &mut marginals);
        assert!((marginals.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn tables_of_one_graph_are_not_those_of_another_shape() {
    let scores: Vec<f64> = (0..12).map(f64::from).collect();
    let mut chain = ProductChain::default();
    for labels in [[4, 3], [3, 4]] {
        let mut builder = FactorGraphBuilder::default();
        for (variable, labels) in (0..).zip(labels) {
            builder.variable(labels).unwrap();
            builder.restrict(variable, [0, 1]).unwrap();
        }
        builder.factor_with(0, &[0, 1], &scores).unwrap();
        let graph = builder.build();
        let expected = Enumeration::default().sum(&graph).unwrap().log_z().value();
        let found = chain.sum(&graph).unwrap().log_z().value();
        assert!((found.unwrap() - expected.unwrap()).abs() < 1e-9, "{labels:?}");
    }
}

#[test]
fn exact_takes_a_chain_or_a_junction_tree() {
    let exact = |budget| EngineChoice::Exact(ExactOptions { budget }).engine().unwrap();
    let graph = two_layers(40, &[0.0; 9]).build();
    assert!(is_along_chain(&graph, &mut *exact(1 << 20)));
    // Six chains of two labels: too much for the chain that it would prefer, which pads rows to four.
    let mut builder = FactorGraphBuilder::default();
    let table = builder.table(&[2, 2], &[0.0, 1.0, 0.5, 0.0]).unwrap();
    for variable in 0..300 {
        builder.variable(2).unwrap();
        if variable % 6 > 0 {
            builder.factor(0, &[variable - 1, variable], table).unwrap();
        }
        if variable >= 6 {
            builder.factor(0, &[variable - 6, variable], table).unwrap();
        }
    }
    let graph = builder.build();
    let needed = JunctionTree::default().cost(&graph).unwrap().bytes;
    let refused = ProductChain::with_budget(needed).sum(&graph).err();
    assert!(matches!(refused, Some(Error::TooWide { .. })), "{refused:?}");
    let found = exact(needed).sum(&graph).unwrap().log_z().value().unwrap();
    let expected = ProductChain::default().sum(&graph).unwrap().log_z().value();
    assert!((found - expected.unwrap()).abs() < 1e-9);
    assert!(matches!(exact(8).sum(&graph), Err(Error::TooWide { .. })));
}

#[test]
fn wide_graphs_are_refused_with_numbers() {
    let mut builder = FactorGraphBuilder::default();
    for _ in 0..30 {
        builder.variable(10).unwrap();
    }
    let table = builder.table(&[10, 10], &[0.0; 100]).unwrap();
    for a in 0..30 {
        for b in a + 1..30 {
            builder.factor(0, &[a, b], table).unwrap();
        }
    }
    let mut graph = builder.build();
    let engine = JunctionTree::default();
    let Err(Error::TooWide {
        width: 30,
        needed,
        budget,
    }) = engine.cost(&graph)
    else {
        panic!("not refused")
    };
    assert!(needed > budget);
    assert!(matches!(
        ProductChain::default().max(&graph),
        Err(Error::TooWide { .. })
    ));
    assert!(matches!(
        Enumeration::default().max(&graph),
        Err(Error::TooManyLabellings { .. })
    ));
    // With 26 of the labels known it is narrow.
    for variable in 0..26 {
        graph.clamp(variable, 3).unwrap();
    }
    assert_eq!(engine.cost(&graph).unwrap().width, 4);
    let log_z = JunctionTree::default()
        .sum(&graph)
        .unwrap()
        .log_z()
        .value()
        .unwrap();
    assert!((log_z - 4.0 * 10f64.ln()).abs() < 1e-9);
    assert_eq!(
        k_best(&mut JunctionTree::default(), &mut graph, 5).unwrap().len(),
        5
    );
}

#[test]
fn options_are_checked() {
    let with = |options: LoopyOptions| LoopyBp::<f64>::new(options).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        with(LoopyOptions {
            damping: 1.0,
            ..LoopyOptions::default()
        }),
        "damping is 1, expected a number from 0 to below 1"
    );
    assert_eq!(
        with(LoopyOptions {
            tolerance: f64::NAN,
            ..LoopyOptions::default()
        }),
        "tolerance is NaN, expected a number above 0"
    );
    with(LoopyOptions {
        iterations: 0,
        ..LoopyOptions::default()
    });
    assert!(
        Gibbs::new(GibbsOptions {
            samples: 0,
            ..GibbsOptions::default()
        })
        .is_err()
    );
    assert!(
        DualDecoder::new(DualOptions {
            iterations: 0,
            ..DualOptions::default()
        })
        .is_err()
    );
}

/// Label 0 is far ahead until the last position forbids it; of the other two, the one that is behind by more than
/// linear numbers can hold wins there. Each table and each variable has a small spread, only their product has not.
#[test]
fn what_underflows_on_the_way_may_win_at_the_end() {
    let mut builder = FactorGraphBuilder::default();
    let mut stay = [NEVER; 9];
    (stay[0], stay[4], stay[8]) = (0.0, 0.0, 0.0);
    let stay = builder.table(&[3, 3], &stay).unwrap();
    for v in 0..9 {
        builder.variable(3).unwrap();
        let scores = if v < 8 {
            [0.0, -100.0, -88.0]
        } else {
            [0.0, 190.0, 0.0]
        };
        builder.factor_with(0, &[v], &scores).unwrap();
        if v > 0 {
            builder.factor(1, &[v - 1, v], stay).unwrap();
        }
    }
    builder.restrict(8, [1, 2]).unwrap();
    let graph = builder.build();
    for (name, mut engine) in engines() {
        if matches!(name, "Gibbs" | "dual") {
            continue;
        }
        let beliefs = engine.sum(&graph).unwrap();
        let log_z = beliefs.log_z().value().unwrap();
        assert!((log_z + 610.0).abs() < 1e-9, "{name}: {log_z}");
        assert!(
            (beliefs.variable(0)[1] - 1.0).abs() < 1e-9,
            "{name}: {:?}",
            beliefs.variable(0)
        );
    }
}
