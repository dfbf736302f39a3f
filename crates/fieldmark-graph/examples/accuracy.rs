//! How far engines are from the truth on random graphs, as lines of fields between tabs.
//!
//!     cargo run --release -p fieldmark-graph --example accuracy [GRAPHS]
//!
//! | line | fields |
//! |---|---|
//! | `exact` | kind of graph, engine, graphs, largest difference from enumeration of log Z, of marginals and of the best score |
//! | `gradient` | kind of model, engine, instances, largest difference from enumeration of the loss and of its gradient |
//! | `loopy` | largest score, messages, schedule, graphs, median error of marginals, share that converged |
//! | `gibbs` | largest score, samples, –, graphs, median error of marginals |

use fieldmark_core::Gold;
use fieldmark_core::optimize::Objective;
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::exact::{Enumeration, JunctionTree, ProductChain, Tree};
use fieldmark_graph::loopy::{LoopyBp, LoopyOptions, Schedule};
use fieldmark_graph::{
    Beliefs, Description, Engine, EngineChoice, ExactOptions, FactorGraph, FactorGraphBuilder, Gibbs,
    GibbsOptions, GraphDataset, GraphDatasetBuilder, GraphObjective, Loss, Relations, Skip, Structure,
    Unroller,
};
use std::collections::BTreeMap;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Scopes = Vec<Vec<u32>>;

/// Every variable has two to four labels, scores lie between −weight and weight.
fn random_graph(
    random: &mut SplitMix64,
    variables: u32,
    scopes: &Scopes,
    weight: f64,
) -> Result<FactorGraph, Failure> {
    let mut builder = FactorGraphBuilder::default();
    let mut counts = Vec::new();
    for _ in 0..variables {
        counts.push(2 + random.below(if variables > 9 { 1 } else { 3 }));
        builder.variable(*counts.last().unwrap_or(&2))?;
    }
    let unary: Scopes = (0..variables).map(|variable| vec![variable]).collect();
    for scope in unary.iter().chain(scopes) {
        let size = scope.iter().map(|&variable| counts[variable as usize]).product();
        let scores: Vec<f64> = (0..size).map(|_| (2.0 * random.unit() - 1.0) * weight).collect();
        builder.factor_with(0, scope, &scores)?;
    }
    Ok(builder.build())
}

fn grid(rows: u32, columns: u32) -> Scopes {
    let mut scopes = Scopes::new();
    for place in 0..rows * columns {
        if place % columns + 1 < columns {
            scopes.push(vec![place, place + 1]);
        }
        if place + columns < rows * columns {
            scopes.push(vec![place, place + columns]);
        }
    }
    scopes
}

/// Name, number of variables and factors of the kinds of graphs.
fn kinds(random: &mut SplitMix64) -> Vec<(&'static str, u32, Scopes)> {
    let tree = (1..8u32).map(|leaf| vec![random.below(leaf), leaf]).collect();
    let chain: Scopes = (0..7).map(|place| vec![place, place + 1]).collect();
    let skips = [vec![0, 4], vec![2, 7], vec![1, 6]];
    let cliques = vec![vec![0, 1, 2], vec![2, 3, 4], vec![4, 5, 0], vec![1, 3, 5, 6]];
    vec![
        ("tree", 8, tree),
        ("grid", 9, grid(3, 3)),
        // Two chains, joined at each position.
        ("factorial", 8, grid(4, 2)),
        ("skip", 8, [chain, skips.to_vec()].concat()),
        ("factors of three and four", 7, cliques),
    ]
}

/// The largest difference of the marginals of variables and factors.
fn distance(graph: &FactorGraph, a: Beliefs<'_>, b: Beliefs<'_>) -> f64 {
    let difference = |a: &[f64], b: &[f64]| {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let variables = (0..graph.variables() as u32).map(|v| difference(a.variable(v), b.variable(v)));
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let factors = (0..graph.factors()).map(|factor| {
        a.factor(factor, &mut x);
        b.factor(factor, &mut y);
        difference(&x, &y)
    });
    variables.chain(factors).fold(0.0, f64::max)
}

fn log_z(beliefs: Beliefs<'_>) -> f64 {
    beliefs.log_z().value().unwrap_or(f64::NAN)
}

/// The larger number, or not a number if one of them is not.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

fn exact(graphs: u64) -> Result<(), Failure> {
    let names = ["tree", "junction tree", "product chain"];
    for kind in 0..kinds(&mut SplitMix64(0)).len() {
        let mut worst = [[0.0f64; 3]; 3];
        let mut name = "";
        for seed in 0..graphs {
            let mut random = SplitMix64(seed);
            let (kind, variables, scopes) = kinds(&mut random).swap_remove(kind);
            name = kind;
            let weight = [0.5, 2.0, 8.0][seed as usize % 3];
            let graph = random_graph(&mut random, variables, &scopes, weight)?;
            let mut enumeration = Enumeration::default();
            let best = enumeration.max(&graph)?.score;
            let truth = enumeration.sum(&graph)?;
            let engines: [&mut dyn Engine; 3] = [
                &mut Tree::new(),
                &mut JunctionTree::default(),
                &mut ProductChain::default(),
            ];
            for ((engine, worst), name) in engines.into_iter().zip(&mut worst).zip(names) {
                if name == "tree" && kind != "tree" {
                    continue;
                }
                let score = engine.max(&graph)?.score;
                let found = engine.sum(&graph)?;
                worst[0] = worse(worst[0], (log_z(found) - log_z(truth)).abs());
                worst[1] = worse(worst[1], distance(&graph, found, truth));
                worst[2] = worse(worst[2], (score - best).abs());
            }
        }
        for (engine, [value, marginals, score]) in names.into_iter().zip(worst) {
            if engine != "tree" || name == "tree" {
                println!("exact\t{name}\t{engine}\t{graphs}\t{value:e}\t{marginals:e}\t{score:e}");
            }
        }
    }
    Ok(())
}

fn instances(description: &Description, count: u64) -> Result<GraphDataset, Failure> {
    let mut random = SplitMix64(5);
    let mut builder = GraphDatasetBuilder::new(description);
    let layers = description.layers.len();
    for layer in 0..layers {
        for label in ["x", "y", "z"] {
            builder.label(layer, label);
        }
    }
    for _ in 0..count {
        for _ in 0..2 + random.below(if layers > 1 { 2 } else { 4 }) {
            builder.observe(&format!("w={}", random.below(4)), 1.0)?;
            builder.observe("x", random.unit() as f32)?;
            let gold: Vec<Gold<'_>> = (0..layers).map(|_| Gold::Known(random.below(3))).collect();
            builder.end_position(&gold)?;
        }
        builder.end_instance(&[])?;
    }
    Ok(builder.finish())
}

/// Calls `visit` with each labelling of a graph and its score.
fn for_each_labelling(graph: &FactorGraph, mut visit: impl FnMut(&[u32], f64)) -> Result<(), Failure> {
    let mut labels = vec![0; graph.variables()];
    loop {
        visit(&labels, graph.score(&labels)?);
        let mut place = 0;
        loop {
            let Some(label) = labels.get_mut(place) else {
                return Ok(());
            };
            *label += 1;
            if *label < graph.labels(place as u32) {
                break;
            }
            *label = 0;
            place += 1;
        }
    }
}

/// Adds `by` times the features of a labelling. Templates see the observations of either of their variables.
fn add_features(
    structure: &Structure,
    graph: &FactorGraph,
    data: &GraphDataset,
    index: usize,
    labels: &[u32],
    by: f64,
    into: &mut [f64],
) {
    let layers = data.layers().count() as u32;
    for factor in 0..graph.factors() {
        let template = graph.template_of(factor) as usize;
        let scope = graph.scope(factor);
        let own: Vec<u32> = scope.iter().map(|&variable| labels[variable as usize]).collect();
        if let Some(bias) = structure.bias(template, &own) {
            into[bias] += by;
        }
        let mut observed: BTreeMap<u32, f32> = BTreeMap::new();
        for variable in scope {
            for (id, value) in data.instance(index).observations(variable / layers) {
                let largest = observed.entry(id).or_insert(value);
                *largest = largest.max(value);
            }
        }
        for (id, value) in observed {
            if let Some(feature) = structure.feature(template, id, &own) {
                into[feature] += by * f64::from(value);
            }
        }
    }
}

/// The loss −log p(gold) and its gradient, by enumeration.
fn enumerated(
    structure: &Structure,
    weights: &[f64],
    data: &GraphDataset,
) -> Result<(f64, Vec<f64>), Failure> {
    let (mut loss, mut gradient) = (0.0, vec![0.0; weights.len()]);
    for index in 0..data.len() {
        let instance = data.instance(index);
        let graph = Unroller::new(structure, weights)?.unroll(instance)?.into_graph();
        let mut total = 0.0;
        for_each_labelling(&graph, |_, score| total += score.exp())?;
        for_each_labelling(&graph, |labels, score| {
            let by = score.exp() / total;
            add_features(structure, &graph, data, index, labels, by, &mut gradient);
        })?;
        let mut gold = Vec::new();
        for position in 0..instance.len() as u32 {
            for layer in 0..data.layers().count() {
                if let Gold::Known(label) = instance.gold(layer, position) {
                    gold.push(label);
                }
            }
        }
        loss += total.ln() - graph.score(&gold)?;
        add_features(structure, &graph, data, index, &gold, -1.0, &mut gradient);
    }
    Ok((loss, gradient))
}

fn gradients(count: u64) -> Result<(), Failure> {
    let models = [
        ("linear chain", Description::linear_chain("a")),
        ("factorial", Description::factorial(&["a", "b"])),
        ("skip", Description::skip_chain("a", [Skip::same("a", "w=")])),
        ("multi-label", Description::multi_label(&["a", "b", "c"], false)),
    ];
    let exact = EngineChoice::default();
    let product = EngineChoice::ProductChain(ExactOptions::default());
    for (name, description) in models {
        let data = instances(&description, count)?;
        let structure = Structure::build(&data, &description, Relations::none())?;
        let mut random = SplitMix64(9);
        let weights: Vec<f64> = (0..structure.weights())
            .map(|_| 2.0 * random.unit() - 1.0)
            .collect();
        let (truth, slopes) = enumerated(&structure, &weights, &data)?;
        for (engine, choice) in [("exact", &exact), ("product chain", &product)] {
            let mut objective = GraphObjective::new(&structure, &data, Loss::Likelihood(choice.clone()))?;
            let mut gradient = vec![0.0; weights.len()];
            let loss = objective.evaluate(&weights, &mut gradient);
            let pairs = gradient.iter().zip(&slopes).map(|(a, b)| (a - b).abs());
            let largest = pairs.fold(0.0, worse);
            println!(
                "gradient\t{name}\t{engine}\t{count}\t{:e}\t{largest:e}",
                (loss - truth).abs()
            );
        }
    }
    Ok(())
}

fn loopy(schedule: Schedule, iterations: usize) -> Result<LoopyBp<f64>, Failure> {
    Ok(LoopyBp::new(LoopyOptions {
        schedule,
        iterations,
        tolerance: 1e-9,
        ..LoopyOptions::default()
    })?)
}

/// An engine that stops after the most rounds that stay within a number of messages.
fn stopped_after(graph: &FactorGraph, schedule: Schedule, messages: u64) -> Result<LoopyBp<f64>, Failure> {
    let mut iterations = 1;
    while iterations < 1000 {
        let report = loopy(schedule, iterations + 1)?.sum(graph)?.report();
        if report.messages > messages {
            break;
        }
        iterations += 1;
        if report.converged {
            break;
        }
    }
    loopy(schedule, iterations)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn approximate(graphs: u64) -> Result<(), Failure> {
    let schedules = [
        ("flooding", Schedule::Flooding),
        ("TRP", Schedule::Trp),
        ("residual", Schedule::Residual),
        ("random", Schedule::Random),
    ];
    for weight in [0.5, 1.0, 2.0, 4.0] {
        let graph = |seed| random_graph(&mut SplitMix64(seed), 16, &grid(4, 4), weight);
        for messages in [100, 200, 400, 100_000] {
            for (name, schedule) in schedules {
                let (mut errors, mut converged) = (Vec::new(), 0);
                for seed in 0..graphs {
                    let graph = graph(seed)?;
                    let mut exact = JunctionTree::default();
                    let mut engine = stopped_after(&graph, schedule, messages)?;
                    let beliefs = engine.sum(&graph)?;
                    converged += u32::from(beliefs.report().converged);
                    errors.push(distance(&graph, beliefs, exact.sum(&graph)?));
                }
                let share = f64::from(converged) / graphs as f64;
                let error = median(errors);
                println!("loopy\t{weight}\t{messages}\t{name}\t{graphs}\t{error:e}\t{share}");
            }
        }
        for samples in [100, 1000, 10_000] {
            let mut errors = Vec::new();
            for seed in 0..graphs {
                let graph = graph(seed)?;
                let options = GibbsOptions {
                    samples,
                    seed,
                    ..GibbsOptions::default()
                };
                let mut exact = JunctionTree::default();
                let mut sampler = Gibbs::new(options)?;
                errors.push(distance(&graph, sampler.sum(&graph)?, exact.sum(&graph)?));
            }
            println!("gibbs\t{weight}\t{samples}\t–\t{graphs}\t{:e}", median(errors));
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let graphs = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(51);
    exact(graphs)?;
    gradients(graphs.min(20))?;
    approximate(graphs)
}
