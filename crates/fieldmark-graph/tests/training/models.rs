//! The table of small random models that runs through every objective.

use fieldmark_core::Gold;
use fieldmark_core::optimize::Objective;
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::{
    Bias, Description, FactorGraph, GraphDataset, GraphDatasetBuilder, GraphInstance, GraphObjective,
    Observe, Per, Relation, Relations, Skip, Strategy, Structure, Template, Unroller,
};

/// How much of the gold is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Labels {
    Complete,
    Partial,
    /// The first layer is hidden.
    Hidden,
    /// As partial, and some variables may take only some labels.
    Candidates,
}

/// Three positions at once, so that factors of three variables are tested.
fn triples(instance: GraphInstance<'_>, join: &mut dyn FnMut(&[u32])) {
    for first in 0..(instance.len() as u32).saturating_sub(2) {
        join(&[first, first + 1, first + 2]);
    }
}

pub fn relations() -> Relations {
    Relations::none().with("triples", triples)
}

/// Every kind of model, by name.
pub fn descriptions() -> Vec<(&'static str, Description)> {
    let mut observed = Description::factorial(&["a", "b"]);
    observed.templates[2] = Template::new(Relation::Chain("a".into())).observe(Observe::Last);
    observed.templates[4] = Template::new(Relation::Between(["a".into(), "b".into()]))
        .strategy(Strategy::All)
        .bias(Bias::Supported)
        .observe(Observe::First);
    let mut triple = Description::linear_chain("a");
    triple.templates.push(Template::new(Relation::Custom {
        name: "triples".into(),
        layers: vec!["a".into(); 3],
    }));
    let mut skip = Description::skip_chain("a", [Skip::same("a", "w="), Skip::shared("a", "w=1")]);
    skip.templates[3].observe = Some(Observe::Both);
    skip.templates[3].strategy = Strategy::DefaultOnly;
    let mut forbidding = Description::factorial(&["a", "b"]);
    forbidding.templates[2].forbid_unseen = true;
    forbidding.templates[4].forbid_unseen = true;
    let mut windows = Description::factorial(&["a", "b"]);
    for (layers, offsets) in [
        (vec!["a", "b"], vec![0, 1]),
        (vec!["a", "b"], vec![0, -1]),
        (vec!["b", "b"], vec![0, 2]),
        (vec!["a", "a", "b"], vec![0, 1, 0]),
    ] {
        let layers = layers.into_iter().map(String::from).collect();
        let template = Template::new(Relation::Window { layers, offsets }).observe(Observe::Last);
        windows.templates.push(template);
    }
    let mut edges = Description::linear_chain("a");
    edges.templates.push(Template::new(Relation::Start("a".into())));
    edges.templates.push(Template::new(Relation::End("a".into())));
    vec![
        ("linear chain", Description::linear_chain("a")),
        ("edges", edges),
        ("factorial", Description::factorial(&["a", "b"])),
        ("observed factorial", observed),
        ("skip chain", skip),
        ("triples", triple),
        ("multi-label", Description::multi_label(&["a", "b", "c"], false)),
        ("multi-label chains", Description::multi_label(&["a", "b"], true)),
        (
            "hierarchical",
            Description::hierarchical("all", &["a", "b"], true, false),
        ),
        (
            "hierarchical pairs",
            Description::hierarchical("all", &["a", "b"], false, true),
        ),
        ("forbidding", forbidding),
        ("windows", windows),
    ]
}

/// Random instances: an empty one, one of one position, and a few others.
pub fn data(description: &Description, labels: Labels, seed: u64) -> GraphDataset {
    let mut random = SplitMix64(seed);
    let mut builder = GraphDatasetBuilder::new(description);
    let counts: Vec<u32> = (0..description.layers.len() as u32)
        .map(|layer| 2 + layer % 2)
        .collect();
    for (layer, &count) in counts.iter().enumerate() {
        for label in 0..count {
            builder.label(layer, &format!("L{label}"));
        }
    }
    for length in [3, 0, 1, 2, 3] {
        for _ in 0..length {
            builder.observe(&format!("w={}", random.below(3)), 1.0).unwrap();
            if random.below(2) == 0 {
                builder.observe("x", random.unit() as f32 * 2.0 - 0.5).unwrap();
            }
            let sets = gold_sets(description, Per::Position, labels, &counts, &mut random);
            if labels == Labels::Candidates {
                add_candidates(description, &counts, &sets, &mut builder, &mut random);
            }
            builder.end_position(&as_gold(&sets)).unwrap();
        }
        builder
            .observe_instance(&format!("d={}", random.below(2)), 1.0)
            .unwrap();
        let sets = gold_sets(description, Per::Instance, labels, &counts, &mut random);
        builder.end_instance(&as_gold(&sets)).unwrap();
    }
    builder.finish()
}

fn gold_sets(
    description: &Description,
    per: Per,
    labels: Labels,
    counts: &[u32],
    random: &mut SplitMix64,
) -> Vec<Option<Vec<u32>>> {
    let layers = description.layers.iter().zip(counts).enumerate();
    let layers = layers.filter(|(_, (layer, _))| layer.per == per);
    layers
        .map(|(index, (_, &count))| {
            let kind = random.below(4);
            let label = random.below(count);
            match labels {
                Labels::Hidden if index == 0 => None,
                Labels::Partial | Labels::Candidates if kind == 0 => None,
                Labels::Partial | Labels::Candidates if kind == 1 => Some(vec![label, (label + 1) % count]),
                _ => Some(vec![label]),
            }
        })
        .collect()
}

/// One or two labels that some variables of the open position may take, and one of their gold set.
fn add_candidates(
    description: &Description,
    counts: &[u32],
    sets: &[Option<Vec<u32>>],
    builder: &mut GraphDatasetBuilder,
    random: &mut SplitMix64,
) {
    let layers = description.layers.iter().enumerate();
    let layers = layers.filter(|(_, layer)| layer.per == Per::Position);
    for ((layer, _), gold) in layers.zip(sets) {
        let first = random.below(counts[layer]);
        let some = random.below(3) as usize;
        let mut labels = [first, (first + 1) % counts[layer]][..some].to_vec();
        if some > 0 {
            labels.extend(gold.iter().map(|gold| gold[0]));
            builder.candidates(layer, &labels).unwrap();
        }
    }
}

fn as_gold(sets: &[Option<Vec<u32>>]) -> Vec<Gold<'_>> {
    let gold = sets.iter().map(|set| match set.as_deref() {
        None => Gold::Unknown,
        Some(&[label]) => Gold::Known(label),
        Some(set) => Gold::Ambiguous(set),
    });
    gold.collect()
}

pub fn random_weights(count: usize, size: f64, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64(seed);
    (0..count).map(|_| (random.unit() * 2.0 - 1.0) * size).collect()
}

/// The allowed labels of each variable of an instance.
pub fn allowed(data: &GraphDataset, index: usize) -> Vec<Vec<u32>> {
    let instance = data.instance(index);
    let set = |layer: usize, position: u32| -> Vec<u32> {
        let all = 0..data.labels(layer).len() as u32;
        let (gold, candidates) = (
            instance.gold(layer, position),
            instance.candidates(layer, position),
        );
        all.filter(|&label| gold.allows(label) && candidates.allows(label))
            .collect()
    };
    let per = |per: Per| {
        let layers = data.layers().enumerate();
        layers
            .filter(move |(_, layer)| layer.per == per)
            .map(|(layer, _)| layer)
            .collect::<Vec<_>>()
    };
    let mut sets = Vec::new();
    for position in 0..instance.len() as u32 {
        sets.extend(per(Per::Position).into_iter().map(|layer| set(layer, position)));
    }
    sets.extend(per(Per::Instance).into_iter().map(|layer| set(layer, 0)));
    sets
}

pub fn graph(structure: &Structure, weights: &[f64], data: &GraphDataset, index: usize) -> FactorGraph {
    let unroller = Unroller::new(structure, weights).unwrap();
    unroller.unroll(data.instance(index)).unwrap().into_graph()
}

/// The labels that a variable may take, whatever gold says.
pub fn possible(graph: &FactorGraph, variable: u32) -> Vec<u32> {
    graph.label_sets().iter(variable).collect()
}

/// Calls `visit` with every way to choose a label from each set.
pub fn for_each_labelling(sets: &[Vec<u32>], mut visit: impl FnMut(&[u32])) {
    let mut places = vec![0; sets.len()];
    loop {
        let labels: Vec<u32> = sets.iter().zip(&places).map(|(set, &place)| set[place]).collect();
        visit(&labels);
        let mut variable = 0;
        loop {
            if variable == sets.len() {
                return;
            }
            places[variable] += 1;
            if places[variable] < sets[variable].len() {
                break;
            }
            places[variable] = 0;
            variable += 1;
        }
    }
}

pub fn log_sum(scores: &[f64]) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest
        + scores
            .iter()
            .map(|score| (score - largest).exp())
            .sum::<f64>()
            .ln()
}

/// Compares a gradient with central differences of the loss.
pub fn check_gradient(name: &str, objective: &mut GraphObjective<'_>, weights: &[f64], tolerance: f64) {
    let mut gradient = vec![0.0; weights.len()];
    let loss = objective.evaluate(weights, &mut gradient);
    assert!(loss.is_finite(), "{name}: {:?}", objective.failure());
    let mut unused = vec![0.0; weights.len()];
    for (index, &found) in gradient.iter().enumerate() {
        let step = 1e-5;
        let mut at = |change: f64| {
            let mut weights = weights.to_vec();
            weights[index] += change;
            objective.evaluate(&weights, &mut unused)
        };
        let expected = (at(step) - at(-step)) / (2.0 * step);
        assert!(
            (found - expected).abs() < tolerance * (1.0 + expected.abs()),
            "{name}: weight {index}: {found} against {expected}"
        );
    }
}
