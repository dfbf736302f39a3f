//! Explanations add up to the scores that they explain, and read well.

use super::GraphModel;
use super::explain::{GraphContribution, GraphDecision, GraphEvidence, GraphNeighbour, GraphOthers};
use super::inspect_tests::{model, observed};
use crate::{
    Description, EngineChoice, GraphDatasetBuilder, Layer, Per, Relation, Relations, Skip, Structure,
    Template, Unroller,
};
use fieldmark_core::Gold;
use fieldmark_core::random::SplitMix64;

fn descriptions() -> Vec<Description> {
    let mut windows = Description::linear_chain("a");
    let window = Relation::Window {
        layers: vec!["a".into(); 3],
        offsets: vec![-2, -1, 0],
    };
    windows.templates.push(Template::new(window));
    vec![
        observed(),
        Description::skip_chain("a", [Skip::same("a", "w=")]),
        windows,
    ]
}

#[test]
fn contributions_add_up_to_the_difference_of_scores() {
    let mut random = SplitMix64(5);
    let mut shared = 0;
    for (description, seed) in descriptions()
        .iter()
        .flat_map(|one| (0..8).map(move |seed| (one, seed)))
    {
        let model = model(description, seed);
        let mut builder = model.dataset_builder();
        for _ in 0..5 {
            for kind in ["w", "x", "new"] {
                let name = format!("{kind}={}", random.below(6));
                builder.observe(&name, (1 + random.below(2)) as f32).unwrap();
            }
            let gold = vec![Gold::Unknown; description.layers.len()];
            builder.end_position(&gold).unwrap();
        }
        builder.end_instance(&[]).unwrap();
        let data = builder.finish();
        let instance = data.instance(0);
        let unrolled = Unroller::new(model.structure(), model.weights()).unwrap();
        let unrolled = unrolled.unroll(instance).unwrap();
        let graph = unrolled.graph();
        let mut engine = EngineChoice::default().engine().unwrap();
        let labels = engine.max(graph).unwrap().labels;
        let score = graph.score(&labels).unwrap();
        let beliefs = engine.sum(graph).unwrap();
        let explanation = model.explain(instance, &unrolled, &labels, Some(&beliefs), 2);
        assert_eq!(explanation.decisions.len(), graph.variables());
        for (decision, variable) in explanation.decisions.iter().zip(0..) {
            let (layer, position) = model.structure().place_of(5, variable).unwrap();
            assert_eq!(decision.position, Some(position as usize));
            assert_eq!(decision.layer, model.description().layers[layer].name);
            let names = model.labels(layer);
            let chosen = labels[variable as usize];
            assert_eq!(decision.label, names.name(chosen));
            let share = beliefs.variable(variable)[chosen as usize];
            assert_eq!(decision.probability, Some(share));
            let with = |label: u32| {
                let mut other = labels.clone();
                other[variable as usize] = label;
                graph.score(&other).unwrap()
            };
            let others = (0..names.len() as u32).filter(|label| *label != chosen);
            let best = others.map(with).fold(f64::NEG_INFINITY, f64::max);
            let runner_up = names.get(&decision.runner_up.as_ref().unwrap().label).unwrap();
            assert!((with(runner_up) - best).abs() < 1e-9);
            assert!((decision.margin - (score - best)).abs() < 1e-9, "{decision:?}");
            let listed: f64 = decision.contributions.iter().map(|one| one.difference).sum();
            assert!((listed + decision.others.difference - decision.margin).abs() < 1e-9);
            let sizes: Vec<f64> = decision
                .contributions
                .iter()
                .map(|one| one.difference.abs())
                .collect();
            assert!(sizes.len() <= 2 && sizes.is_sorted_by(|one, other| one >= other));
            shared += usize::from(decision.others.count > 0);
        }
    }
    assert!(shared > 50, "only {shared} decisions have many reasons");
}

/// Words with parts of speech and chunks, and a topic of the whole.
fn described() -> GraphModel {
    let mut description = Description::factorial(&["pos", "chunk"]);
    description.layers.push(Layer {
        name: "topic".into(),
        per: Per::Instance,
    });
    for relation in [
        Relation::Unary("topic".into()),
        Relation::Between(["pos".into(), "topic".into()]),
    ] {
        description.templates.push(Template::new(relation));
    }
    let mut builder = GraphDatasetBuilder::new(&description);
    for (word, pos, chunk) in [("the", "DT", "B"), ("cat", "NN", "I")] {
        builder.observe(word, 1.0).unwrap();
        let gold = [builder.label(0, pos), builder.label(1, chunk)];
        builder.end_position(&gold.map(Gold::Known)).unwrap();
    }
    let topic = builder.label(2, "pets");
    builder.observe_instance("cat", 1.0).unwrap();
    builder.end_instance(&[Gold::Known(topic)]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let number = |name: &str| {
        structure
            .template_names()
            .position(|other| other == name)
            .unwrap()
    };
    let mut weights = vec![0.0; structure.weights()];
    let word = |name: &str| data.observations.get(name).unwrap();
    let mut set = |feature: Option<usize>, weight: f64| weights[feature.unwrap()] = weight;
    set(structure.feature(number("unary:pos"), word("cat"), &[1]), 2.0);
    set(structure.feature(number("unary:pos"), word("the"), &[0]), 3.0);
    set(structure.bias(number("chain:pos"), &[0, 1]), 0.75);
    set(structure.bias(number("between:pos-chunk"), &[1, 1]), 1.25);
    set(structure.bias(number("between:pos-topic"), &[1, 0]), 0.5);
    GraphModel::new(&data, &structure, &weights).unwrap()
}

#[test]
fn a_person_can_read_it() {
    let model = described();
    let mut builder = model.dataset_builder();
    for word in ["the", "cat"] {
        builder.observe(word, 1.0).unwrap();
        builder.end_position(&[Gold::Unknown, Gold::Unknown]).unwrap();
    }
    builder.end_instance(&[Gold::Unknown]).unwrap();
    let data = builder.finish();
    let unrolled = Unroller::new(model.structure(), model.weights()).unwrap();
    let unrolled = unrolled.unroll(data.instance(0)).unwrap();
    let explanation = model.explain(data.instance(0), &unrolled, &[0, 0, 1, 1, 0], None, 2);
    let explanation = explanation.with_tokens(["the", "cat"]);
    assert_eq!(
        explanation.to_string(),
        "\
1  the  pos: DT, rather than NN (+3.250)
     +3.000  the        +3.000 against +0.000  unary:pos
     +0.750  [DT] → NN  +0.750 against +0.000  chain:pos
     -0.500  1 more

1  the  chunk: B, rather than I (+0.000)

2  cat  pos: NN, rather than DT (+4.500)
     +2.000  cat             +2.000 against +0.000  unary:pos
     +1.250  [NN] · chunk I  +1.250 against +0.000  between:pos-chunk
     +1.250  2 more

2  cat  chunk: I, rather than B (+1.250)
     +1.250  pos NN · [I]  +1.250 against +0.000  between:pos-chunk

all  topic: pets, no other label is possible
     +0.500  pos NN at 2 · [pets]  between:pos-topic
"
    );
    let json = serde_json::to_value(&explanation).unwrap();
    let strongest = &json["decisions"][2]["contributions"][0];
    assert_eq!(strongest["kind"], "observation");
    assert_eq!(strongest["name"], "cat");
    assert_eq!(strongest["template"], "unary:pos");
    assert_eq!(json["decisions"][4]["position"], serde_json::Value::Null);
}

#[test]
fn neighbours_say_where_they_are() {
    let neighbour = |layer: &str, position: usize, label: &str| GraphNeighbour {
        layer: layer.into(),
        position: Some(position),
        label: label.into(),
    };
    let shown = |labels: Vec<GraphNeighbour>, place: usize| {
        let own = labels[place].clone();
        let decision = GraphDecision {
            layer: own.layer,
            position: own.position,
            token: None,
            label: own.label,
            probability: None,
            runner_up: None,
            margin: 1.0,
            contributions: vec![GraphContribution {
                template: "t".into(),
                evidence: GraphEvidence::Labels { labels, place },
                chosen: 1.0,
                runner_up: 0.0,
                difference: 1.0,
            }],
            others: GraphOthers::default(),
        };
        let text = decision.to_string();
        let line = text.lines().nth(1).unwrap().trim_start();
        line.strip_prefix("+1.000  ")
            .unwrap()
            .strip_suffix("  t")
            .unwrap()
            .to_owned()
    };
    let joined = |there: usize| vec![neighbour("pos", 4, "NN"), neighbour("chunk", there, "I")];
    assert_eq!(shown(joined(4), 0), "[NN] · chunk I");
    assert_eq!(shown(joined(3), 0), "chunk[-1] I · [NN]");
    assert_eq!(shown(joined(5), 0), "[NN] · chunk[+1] I");
    assert_eq!(shown(joined(7), 1), "pos[-3] NN · [I]");
    // Arrows run forward, however a template orders its offsets.
    let backward = vec![neighbour("pos", 5, "VB"), neighbour("pos", 4, "NN")];
    assert_eq!(shown(backward.clone(), 0), "NN → [VB]");
    assert_eq!(shown(backward, 1), "[NN] → VB");
    let window = vec![
        neighbour("pos", 2, "DT"),
        neighbour("pos", 3, "JJ"),
        neighbour("pos", 4, "NN"),
    ];
    assert_eq!(shown(window, 2), "DT at 3 → JJ → [NN]");
}

/// What is forbidden beside the other labels is no alternative.
#[test]
fn a_label_that_is_forbidden_is_no_runner_up() {
    let mut description = Description::linear_chain("a");
    let chain = description
        .templates
        .iter_mut()
        .find(|template| matches!(template.relation, Relation::Chain(_)));
    chain.unwrap().forbid = vec![vec!["B".into(), "B".into()]];
    let mut builder = GraphDatasetBuilder::new(&description);
    for label in ["A", "B", "A"] {
        builder.observe(label, 1.0).unwrap();
        let gold = Gold::Known(builder.label(0, label));
        builder.end_position(&[gold]).unwrap();
    }
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let weights = vec![0.0; structure.weights()];
    let model = GraphModel::new(&data, &structure, &weights).unwrap();
    let unrolled = Unroller::new(model.structure(), model.weights()).unwrap();
    let unrolled = unrolled.unroll(data.instance(0)).unwrap();
    let explanation = model.explain(data.instance(0), &unrolled, &[0, 1, 0], None, 5);
    let runners_up: Vec<bool> = explanation
        .decisions
        .iter()
        .map(|decision| decision.runner_up.is_some())
        .collect();
    assert_eq!(runners_up, [false, true, false]);
    assert!(explanation.to_string().contains("no other label is possible"));
}
