use super::*;
use crate::data::GraphDatasetBuilder;
use crate::{Bias, Observe, Relation, Skip, Strategy, Template, Unroller};
use fieldmark_core::Gold;

/// Words with two label columns; `?` is unknown, `x|y` ambiguous.
fn data(description: &Description, instances: &[&str]) -> GraphDataset {
    let mut builder = GraphDatasetBuilder::new(description);
    for instance in instances {
        for token in instance.split(' ').filter(|token| !token.is_empty()) {
            let mut fields = token.split('/');
            builder
                .observe(&format!("w={}", fields.next().unwrap()), 1.0)
                .unwrap();
            let sets: Vec<Option<Vec<u32>>> = fields
                .enumerate()
                .map(|(layer, field)| {
                    let names = (field != "?").then(|| field.split('|'));
                    names.map(|names| names.map(|name| builder.label(layer, name)).collect())
                })
                .collect();
            let gold: Vec<Gold<'_>> = sets
                .iter()
                .map(|set| set.as_ref().map_or(Gold::Unknown, |set| Gold::Ambiguous(set)))
                .collect();
            builder.end_position(&gold).unwrap();
        }
        builder.end_instance(&[]).unwrap();
    }
    builder.finish()
}

#[test]
fn strategies_choose_what_occurs() {
    let mut description = Description::factorial(&["a", "b"]);
    description.templates[1].strategy = Strategy::All;
    description.templates[2].bias = Bias::Supported;
    let data = data(&description, &["u/X/P v/Y/P u/X/Q", "", "u/?/P v/X|Y/P"]);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let sizes: Vec<usize> = (0..5)
        .map(|template| structure.template_weights(template).len())
        .collect();
    // u×X, v×X, v×Y and 2 biases; 2 words × 2 labels and 2 biases; X-Y, Y-X; all; all.
    assert_eq!(sizes, [5, 6, 2, 4, 4]);
    assert_eq!(structure.weights(), 21);
    assert_eq!(structure.feature(0, 0, &[0]), Some(0));
    assert_eq!(structure.feature(0, 0, &[1]), None);
    assert_eq!(structure.bias(2, &[0, 1]), Some(11));
    assert_eq!(structure.bias(2, &[0, 0]), None);
    description.min_freq = 2.0;
    let pruned = Structure::build(&data, &description, Relations::none()).unwrap();
    // u×X and v×Y occur twice; so do u×P and v×P.
    assert_eq!(
        (pruned.template_weights(0).len(), pruned.template_weights(1).len()),
        (4, 4)
    );
    description.min_freq = 0.0;
    description.min_instances = 3;
    let pruned = Structure::build(&data, &description, Relations::none()).unwrap();
    assert_eq!(pruned.template_weights(0).len(), 2);
}

#[test]
fn layers_are_joined_at_a_distance() {
    let mut description = Description::factorial(&["a", "b"]);
    for offsets in [
        [0, 1],
        [0, -1],
        [0, 2],
        [0, -3],
        [0, i32::MIN],
        [i32::MAX, i32::MIN],
        [5, 4],
    ] {
        let (layers, offsets) = (vec!["a".into(), "b".into()], offsets.to_vec());
        description
            .templates
            .push(Template::new(Relation::Window { layers, offsets }));
    }
    description.templates.push(Template::new(Relation::Window {
        layers: vec!["a".into(), "b".into(), "a".into()],
        offsets: vec![1, 0, 0],
    }));
    let data = data(&description, &["u/X/P v/Y/P w/X/Q"]);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let positions = |template| {
        let mut found = Vec::new();
        let visit = |pair: &[u32]| {
            found.push(pair.to_vec());
            Ok::<(), std::convert::Infallible>(())
        };
        let Ok(()) = structure.for_each_factor(template, 3, &Edges::default(), visit);
        found
    };
    assert_eq!(positions(5), [[0, 1], [1, 2]]);
    assert_eq!(positions(6), [[1, 0], [2, 1]]);
    assert_eq!(positions(7), [[0, 2]]);
    assert!((8..11).all(|template| positions(template).is_empty()));
    assert_eq!(positions(11), [[1, 0], [2, 1]]);
    assert_eq!(positions(12), [[1, 0, 0], [2, 1, 1]]);
}

#[test]
fn factors_share_tables_unless_they_see_something() {
    let description = Description::factorial(&["a", "b"]);
    let data = data(&description, &["u/X/P v/Y/P w/X/Q", ""]);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let weights: Vec<f64> = (0..structure.weights()).map(|index| index as f64).collect();
    let mut unroller = Unroller::new(&structure, &weights).unwrap();
    let graph = unroller.unroll_in_place(data.instance(0)).unwrap().graph();
    // 3 positions × 2 layers have unary tables; chains and pairs share one each.
    assert_eq!(
        (graph.variables(), graph.factors(), graph.tables()),
        (6, 13, 5 + 6)
    );
    let score = graph.score(&[0, 0, 1, 0, 0, 1]).unwrap();
    let sum = |parts: &[Option<usize>]| parts.iter().map(|part| part.unwrap() as f64).sum::<f64>();
    let unary = [(0, 0, 0), (0, 1, 1), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 2, 1)];
    let mut expected = sum(&unary.map(|(template, word, label)| structure.feature(template, word, &[label])));
    expected += sum(&unary.map(|(template, _, label)| structure.bias(template, &[label])));
    for (template, labels) in [
        (2, [0, 1]),
        (2, [1, 0]),
        (3, [0, 0]),
        (3, [0, 1]),
        (4, [0, 0]),
        (4, [1, 0]),
        (4, [0, 1]),
    ] {
        expected += sum(&[structure.bias(template, &labels)]);
    }
    assert_eq!(score, expected);
    assert_eq!(
        unroller
            .unroll_in_place(data.instance(1))
            .unwrap()
            .graph()
            .variables(),
        0
    );
}

#[test]
fn ends_are_observed_as_told() {
    let mut description = Description::linear_chain("a");
    let data = data(&description, &["u/X v/X u/X"]);
    for (observe, words) in [
        (Observe::First, vec![0, 1]),
        (Observe::Last, vec![0, 1]),
        (Observe::Either, vec![0, 1]),
        (Observe::Both, vec![]),
        (Observe::Neither, vec![]),
        (Observe::Step, vec![]),
    ] {
        description.templates[1] = Template::new(Relation::Chain("a".into())).observe(observe);
        let structure = Structure::build(&data, &description, Relations::none()).unwrap();
        let found: Vec<u32> = (0..2)
            .filter(|&word| structure.feature(1, word, &[0, 0]).is_some())
            .collect();
        assert_eq!(found, words, "{observe:?}");
    }
    description.templates[1] = Template::new(Relation::Skip(Skip::same("a", "w="))).observe(Observe::Both);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    assert!(structure.feature(1, 0, &[0, 0]).is_some() && structure.feature(1, 1, &[0, 0]).is_none());
}

#[test]
fn values_of_several_ends_are_the_largest_or_the_smallest() {
    let mut description = Description::linear_chain("a");
    let mut builder = GraphDatasetBuilder::new(&description);
    builder.label(0, "X");
    for value in [0.5, 2.0] {
        builder.observe("v", value).unwrap();
        builder.end_position(&[Gold::Known(0)]).unwrap();
    }
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    for (observe, expected) in [
        (Observe::First, 0.5),
        (Observe::Last, 2.0),
        (Observe::Either, 2.0),
        (Observe::Both, 0.5),
    ] {
        description.templates = vec![
            Template::new(Relation::Chain("a".into()))
                .bias(Bias::None)
                .observe(observe),
        ];
        let structure = Structure::build(&data, &description, Relations::none()).unwrap();
        let unroller = Unroller::new(&structure, &[1.0]).unwrap();
        let graph = unroller.unroll(data.instance(0)).unwrap().into_graph();
        assert_eq!(graph.score(&[0, 0]).unwrap(), expected, "{observe:?}");
    }
}

#[test]
fn a_relation_in_rust_joins_divisible_numbers() {
    // Klinger 2011, eq. 3.72: positions a and b where b is divisible by a.
    let relation = Relation::Custom {
        name: "divides".into(),
        layers: vec!["a".into(), "a".into()],
    };
    let mut description = Description::linear_chain("a");
    description.templates.push(Template::new(relation));
    let divides = |instance: GraphInstance<'_>, join: &mut dyn FnMut(&[u32])| {
        let number = |position: u32| {
            let name = instance.data().observations.name(instance.ids(position)[0]);
            name[2..].parse::<u32>().unwrap()
        };
        for one in 0..instance.len() as u32 {
            for other in one + 1..instance.len() as u32 {
                if number(other).is_multiple_of(number(one)) {
                    join(&[one, other]);
                }
            }
        }
    };
    let data = data(&description, &["2/X 3/X 4/X 5/X 6/X"]);
    let relations = Relations::none().with("divides", divides);
    let structure = Structure::build(&data, &description, relations).unwrap();
    let weights = vec![0.0; structure.weights()];
    let graph = Unroller::new(&structure, &weights)
        .unwrap()
        .unroll(data.instance(0))
        .unwrap()
        .into_graph();
    let scopes: Vec<&[u32]> = (0..graph.factors())
        .filter(|&factor| graph.template_of(factor) == 2)
        .map(|factor| graph.scope(factor))
        .collect();
    assert_eq!(scopes, [[0, 2], [0, 4], [1, 4]]);

    let error = Structure::build(&data, &description, Relations::none()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "template \"custom:a-a\" needs the relation \"divides\", whose code was not given; such a relation is given in Rust, \
         with Relations::with"
    );
    let other = Relations::none().with("multiplies", |_, _| {});
    let error = Structure::build(&data, &description, other).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("in Rust, with Relations::with; given are [\"multiplies\"]")
    );
    let outside = |_: GraphInstance<'_>, join: &mut dyn FnMut(&[u32])| join(&[0, 5]);
    let relations = Relations::none().with("divides", outside);
    let error = Structure::build(&data, &description, relations).unwrap_err();
    assert_eq!(
        error.to_string(),
        "template \"custom:a-a\" joins positions [0, 5] of instance 1, expected 2 different variables at positions below 5"
    );
    let itself = |_: GraphInstance<'_>, join: &mut dyn FnMut(&[u32])| join(&[1, 1]);
    let relations = Relations::none().with("divides", itself);
    assert!(Structure::build(&data, &description, relations).is_err());
}

#[test]
fn what_is_forbidden_has_no_weight() {
    let mut description = Description::linear_chain("a");
    description.templates[1].bias = Bias::All;
    description.templates[1].forbid = vec![vec!["X".into(), "Y".into()]];
    let data = data(&description, &["u/X v/X u/Y", "u/Y v/X"]);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    assert_eq!(structure.bias(1, &[0, 1]), None);
    assert_eq!(structure.template_weights(1).len(), 3);
    description.templates[1].forbid_unseen = true;
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    assert_eq!(structure.template_weights(1).len(), 2);
    description.templates[1].forbid = vec![vec!["X".into(), "Z".into()]];
    let error = Structure::build(&data, &description, Relations::none()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "template \"chain:a\" forbids [\"X\", \"Z\"], expected labels of the data in place of \"Z\""
    );
    description.templates[0].forbid = vec![vec!["X".into(), "Z".into()]];
    let error = Structure::build(&data, &description, Relations::none()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "template \"unary:a\" forbids [\"X\", \"Z\"], expected 1 label"
    );
}

#[test]
fn limits_of_skips_are_reported() {
    let skip = Skip {
        max_edges: 2,
        ..Skip::same("a", "w=")
    };
    let description = Description::skip_chain("a", [skip]);
    let data = data(&description, &["u/X u/X u/X", "u/X v/Y"]);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let found = structure.computed_factors(&data).unwrap();
    assert_eq!(found.counts, [("skip0".to_owned(), 2)]);
    let cuts = found.cuts;
    assert_eq!(cuts.len(), 1);
    assert_eq!((cuts[0].instance, cuts[0].found, cuts[0].kept), (0, 3, 2));
    assert_eq!(
        cuts[0].to_string(),
        "template \"skip0\" would join 3 pairs of positions in instance 1, its limit is 2: the pairs of nearest \
         occurrences were kept; raise max_edges or choose rarer observations"
    );
    let weights = vec![0.0; structure.weights()];
    let mut unroller = Unroller::new(&structure, &weights).unwrap();
    for (instance, expected) in [(0, 1), (1, 0)] {
        unroller.unroll_in_place(data.instance(instance)).unwrap();
        assert_eq!(unroller.cuts().len(), expected);
    }
}

#[test]
fn windows_that_join_nothing_are_known() {
    let mut description = Description::linear_chain("a");
    for offsets in [vec![0, 2], vec![0, 3], vec![-1, 100_000]] {
        let layers = vec!["a".into(), "a".into()];
        description
            .templates
            .push(Template::new(Relation::Window { layers, offsets }));
    }
    let data = data(&description, &["u/X", "u/X v/Y u/X", "u/X v/Y"]);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let names: Vec<&str> = structure.empty_windows(&data).collect();
    assert_eq!(names, ["window:a-a:0,3", "window:a-a:-1,100000"]);
}

#[test]
fn variables_have_places() {
    let description = Description::hierarchical("all", &["a", "b"], false, false);
    let mut builder = GraphDatasetBuilder::new(&description);
    let gold = [builder.label(0, "X"), builder.label(1, "Y")].map(Gold::Known);
    let all = Gold::Known(builder.label(2, "Z"));
    for _ in 0..2 {
        builder.end_position(&gold).unwrap();
    }
    builder.end_instance(&[all]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let places: Vec<_> = (0..6).map(|variable| structure.place_of(2, variable)).collect();
    let expected = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)].map(Some);
    assert_eq!(places[..5], expected);
    assert_eq!(places[5], None);
}

#[test]
fn neighbours_are_forbidden_besides_what_templates_say() {
    let description = Description::linear_chain("a");
    let data = data(&description, &["u/X v/Y u/X"]);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let weights = vec![0.5; structure.weights()];
    let mut unroller = Unroller::new(&structure, &weights).unwrap();
    let score = |unroller: &mut Unroller<'_>| {
        let graph = unroller.unroll_in_place(data.instance(0)).unwrap().graph();
        graph.score(&[0, 1, 0]).unwrap()
    };
    assert!(score(&mut unroller).is_finite());
    assert!(unroller.forbid_neighbours(0, &[(1, 0)]));
    assert_eq!(score(&mut unroller), f64::NEG_INFINITY);
}
