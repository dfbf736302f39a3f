//! A linear chain described as a graph has exactly the numbers of `fieldmark-chain`.

use fieldmark_chain::inference::{Constraints, Space};
use fieldmark_chain::train::{Arithmetic, ChainObjective};
use fieldmark_chain::{Strategy as ChainStrategy, Structure as ChainStructure, StructureOptions, Tagger};
use fieldmark_core::optimize::Objective;
use fieldmark_core::random::SplitMix64;
use fieldmark_core::{Dataset, DatasetBuilder, Gold, StepEnd};
use fieldmark_graph::exact::Tree;
use fieldmark_graph::{
    Bias, Description, Engine, EngineChoice, GraphDataset, GraphObjective, Loss, Observe, Relation,
    Relations, Strategy, Structure, Template, Unroller,
};

fn data(seed: u64) -> Dataset {
    let mut random = SplitMix64(seed);
    let mut builder = DatasetBuilder::new();
    let labels: Vec<u32> = (0..4)
        .map(|label| builder.labels.intern(&format!("L{label}")))
        .collect();
    for _ in 0..12 {
        for _ in 0..1 + random.below(7) {
            for kind in 0..3 {
                let id = builder
                    .observations
                    .intern(&format!("{kind}={}", random.below(4)));
                builder.observe(id, if kind == 2 { 0.5 } else { 1.0 });
            }
            let label = labels[random.below(4) as usize];
            let set = [label, (label + 1) % 4];
            let gold = match random.below(5) {
                0 => Gold::Unknown,
                1 => Gold::Ambiguous(&set),
                _ => Gold::Known(label),
            };
            builder.end_position(gold).unwrap();
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

/// Options of a chain, and the same chain described.
fn pairs_of_models() -> Vec<(StructureOptions, Description)> {
    let plain = Description::linear_chain("a");
    let mut all = plain.clone();
    all.templates[0] = Template::new(Relation::Unary("a".into())).strategy(Strategy::All);
    all.templates[1].bias = Bias::All;
    let mut pruned = plain.clone();
    pruned.min_freq = 3.0;
    pruned.min_instances = 2;
    let mut steps = plain.clone();
    steps.templates[1] = Template::new(Relation::Chain("a".into()))
        .bias(Bias::Supported)
        .observe(Observe::Last);
    let mut boundaries = plain.clone();
    for relation in [Relation::Start("a".into()), Relation::End("a".into())] {
        boundaries.templates.push(
            Template::new(relation)
                .strategy(Strategy::DefaultOnly)
                .bias(Bias::Supported),
        );
    }
    vec![
        (StructureOptions::default(), plain),
        (
            StructureOptions {
                states: ChainStrategy::All,
                transitions: ChainStrategy::All,
                label_bias: true,
                ..StructureOptions::default()
            },
            all,
        ),
        (
            StructureOptions {
                min_freq: 3.0,
                min_instances: 2,
                ..StructureOptions::default()
            },
            pruned,
        ),
        (StructureOptions::default(), steps),
        (
            StructureOptions {
                boundaries: true,
                ..StructureOptions::default()
            },
            boundaries,
        ),
    ]
}

/// For each weight of the chain, the weight of the graph.
fn translate(chain: &ChainStructure, graph: &Structure, observations: usize) -> Vec<usize> {
    let mut map = Vec::new();
    for row in 0..observations as u32 {
        let columns = chain.unary().columns(row);
        map.extend(
            columns
                .iter()
                .map(|&label| graph.feature(0, row, &[label]).unwrap()),
        );
    }
    for row in 0..observations as u32 {
        for &column in chain.pair().columns(row) {
            let pair = chain.pairs()[column as usize];
            map.push(graph.feature(1, row, &pair).unwrap());
        }
    }
    let boundary = chain.labels() as u32;
    for tuple in chain.tuples().iter() {
        let place = match *tuple {
            [from, to] if from == boundary => graph.bias(2, &[to]),
            [from, to] if to == boundary => graph.bias(3, &[from]),
            _ => graph.bias(1, tuple),
        };
        map.push(place.unwrap());
    }
    map.extend((0..chain.bias_weights().len() as u32).map(|label| graph.bias(0, &[label]).unwrap()));
    map
}

#[test]
fn loss_gradient_marginals_and_labels_are_those_of_a_chain() {
    for (seed, (options, description)) in pairs_of_models().into_iter().enumerate() {
        let data = data(seed as u64);
        let mut chain_data = data.clone();
        if description.templates[1].observe == Some(Observe::Last) {
            chain_data.observe_steps(StepEnd::Right);
        }
        let chain = ChainStructure::build(&chain_data, &options).unwrap();
        let graph_data = GraphDataset::from_chain(data, "a").unwrap();
        let structure = Structure::build(&graph_data, &description, Relations::none()).unwrap();
        assert_eq!(structure.weights(), chain.weights(), "model {seed}");
        let map = translate(&chain, &structure, graph_data.observations.len());

        let mut random = SplitMix64(9);
        let chain_weights: Vec<f64> = (0..map.len()).map(|_| random.unit() * 4.0 - 2.0).collect();
        let mut weights = vec![0.0; map.len()];
        for (&place, &weight) in map.iter().zip(&chain_weights) {
            weights[place] = weight;
        }
        let mut chain_objective = ChainObjective::<f64>::new(&chain, chain_data.clone(), Arithmetic::Log);
        let x = chain_objective.import(&chain_weights);
        let mut chain_gradient = vec![0.0; x.len()];
        let chain_loss = chain_objective.evaluate(&x, &mut chain_gradient);
        let chain_gradient = chain_objective.export(&chain_gradient);

        let loss = Loss::Likelihood(EngineChoice::default());
        let mut objective = GraphObjective::new(&structure, &graph_data, loss).unwrap();
        let mut gradient = vec![0.0; weights.len()];
        let found = objective.evaluate(&weights, &mut gradient);
        assert!(
            (found - chain_loss).abs() < 1e-10 * chain_loss,
            "{found} against {chain_loss}"
        );
        for (&place, expected) in map.iter().zip(&chain_gradient) {
            assert!(
                (gradient[place] - expected).abs() < 1e-10,
                "{} {expected}",
                gradient[place]
            );
        }
        compare_answers(
            &chain_data,
            &chain,
            &chain_weights,
            &graph_data,
            &structure,
            &weights,
        );
    }
}

fn compare_answers(
    chain_data: &Dataset,
    chain: &ChainStructure,
    chain_weights: &[f64],
    graph_data: &GraphDataset,
    structure: &Structure,
    weights: &[f64],
) {
    let mut tagger = Tagger::<f64>::new(chain, chain_weights, Space::Log);
    let mut unroller = Unroller::new(structure, weights).unwrap();
    let mut engine = Tree::new();
    for (index, instance) in chain_data.instances().enumerate() {
        let unrolled = unroller.unroll_in_place(graph_data.instance(index)).unwrap();
        let best = engine.max(unrolled.graph()).unwrap();
        assert_eq!(best.labels, tagger.tag(instance).unwrap());
        let mut inference = tagger.load(instance, &Constraints::none()).unwrap();
        let mut marginals = Vec::new();
        inference.marginals(&mut marginals).unwrap();
        let beliefs = engine.sum(unrolled.graph()).unwrap();
        for position in 0..instance.len() {
            for label in 0..4u32 {
                let expected = marginals[4 * position + label as usize];
                let found = beliefs.variable(position as u32)[label as usize];
                assert!((found - expected).abs() < 1e-12, "{found} against {expected}");
            }
        }
    }
}
