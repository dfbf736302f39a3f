//! What tables take, and which are kept from graph to graph.

use super::*;
use crate::FactorGraphBuilder;
use fieldmark_core::random::SplitMix64;

/// Two chains of some labels, tied at each position, with scores of a seed.
fn chains(seed: u64, length: u32, labels: u32) -> FactorGraph {
    let mut random = SplitMix64(seed);
    let mut builder = FactorGraphBuilder::default();
    for _ in 0..2 * length {
        builder.variable(labels).unwrap();
    }
    let mut tables = (0..3).map(|_| {
        let scores: Vec<f64> = (0..labels * labels).map(|_| random.unit()).collect();
        builder.table(&[labels, labels], &scores).unwrap()
    });
    let tables: Vec<u32> = tables.by_ref().collect();
    for at in 0..length {
        let [one, other] = [2 * at, 2 * at + 1];
        builder.factor(0, &[one, other], tables[0]).unwrap();
        if at + 1 < length {
            builder.factor(1, &[one, one + 2], tables[1]).unwrap();
            builder.factor(2, &[other, other + 2], tables[2]).unwrap();
        }
    }
    builder.build()
}

impl ProductChain {
    /// Bytes of everything that the budget is for.
    fn held(&self) -> u64 {
        self.kept_numbers() + self.steps.bytes()
    }
}

fn log_z(engine: &mut ProductChain, graph: &FactorGraph) -> f64 {
    let LogZ::Exact(log_z) = engine.sum(graph).unwrap().log_z() else {
        panic!("not exact")
    };
    log_z
}

/// What a graph takes alone.
fn alone(graph: &FactorGraph) -> u64 {
    let mut engine = ProductChain::default();
    log_z(&mut engine, graph);
    engine.held()
}

/// The smallest budget with which a new engine answers.
fn smallest_budget(graph: &FactorGraph) -> u64 {
    let (mut low, mut high) = (0, 1 << 24);
    while high - low > 1 {
        let middle = (low + high) / 2;
        match ProductChain::with_budget(middle).sum(graph) {
            Ok(_) => high = middle,
            Err(error) => {
                assert!(matches!(error, Error::TooWide { .. }), "{error}");
                low = middle;
            }
        }
    }
    high
}

#[test]
fn the_budget_holds_over_different_graphs() {
    let graphs: Vec<FactorGraph> = (0..12)
        .map(|seed| chains(seed, 3 + 4 * (seed as u32 % 3), [5, 3, 6, 4][seed as usize % 4]))
        .collect();
    let budget = graphs.iter().map(smallest_budget).max().unwrap();
    let mut engine = ProductChain::with_budget(budget);
    let mut sum = 0;
    for graph in graphs.iter().chain(&graphs) {
        let expected = log_z(&mut ProductChain::default(), graph);
        assert_eq!(log_z(&mut engine, graph), expected);
        assert!(engine.held() <= budget, "{} of {budget}", engine.held());
        sum += alone(graph);
    }
    // Kept together they would not fit.
    assert!(sum > 4 * budget);
}

#[test]
fn the_budget_pays_for_all_that_a_graph_takes() {
    for (length, labels) in [(1, 9), (2, 4), (12, 4), (40, 3)] {
        let graph = chains(1, length, labels);
        let (held, smallest) = (alone(&graph), smallest_budget(&graph));
        assert!(smallest >= held, "{smallest} for {held}");
        // Beside what stays, a step needs little.
        assert!(smallest <= 2 * held, "{smallest} for {held}");
    }
}

#[test]
fn tables_are_kept_for_the_next_graph_and_no_longer() {
    let (one, other) = (chains(1, 10, 4), chains(2, 10, 5));
    let mut engine = ProductChain::default();
    let mut tables = |graph: &FactorGraph| {
        log_z(&mut engine, graph);
        let places = engine.steps.scores().map(<[f64]>::as_ptr);
        places.collect::<Vec<_>>()
    };
    let first = tables(&one);
    assert_eq!(first, tables(&one), "used again");
    assert_eq!(
        first,
        tables(&chains(1, 9, 4)),
        "used in a graph of another length"
    );
    let both = tables(&other);
    assert_eq!(both[..first.len()], first, "kept while another graph comes");
    let second = tables(&other);
    assert_eq!(both[first.len()..], second, "gone after it");
    assert_eq!(second, tables(&other));
}

#[test]
fn tables_with_other_scores_take_the_place_of_old_ones() {
    let graphs = [chains(1, 10, 4), chains(2, 10, 4)];
    let mut engine = ProductChain::default();
    for graph in graphs.iter().chain(&graphs) {
        let expected = log_z(&mut ProductChain::default(), graph);
        assert_eq!(log_z(&mut engine, graph), expected);
        assert_eq!(engine.held(), alone(graph));
    }
}
