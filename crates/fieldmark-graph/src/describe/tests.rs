use super::*;
use crate::data::{GraphDataset, GraphDatasetBuilder};
use fieldmark_core::Gold;
use fieldmark_core::random::SplitMix64;

#[test]
fn n_chains_have_3n_minus_1_templates() {
    for n in 1..6 {
        let names: Vec<String> = (0..n).map(|chain| format!("c{chain}")).collect();
        let templates = Description::factorial(&names).template_names().unwrap();
        assert_eq!(templates.len(), 3 * n - 1);
    }
    let names = Description::factorial(&["a", "b"]).template_names().unwrap();
    assert_eq!(names, ["unary:a", "unary:b", "chain:a", "chain:b", "between:a-b"]);
}

#[test]
fn several_templates_are_written_out() {
    let names = Description::hierarchical("all", &["a", "b", "c"], true, true)
        .template_names()
        .unwrap();
    assert_eq!(
        names,
        [
            "unary:a",
            "unary:b",
            "unary:c",
            "chain:a",
            "chain:b",
            "chain:c",
            "pair:a-b",
            "pair:a-c",
            "pair:b-c",
            "unary:all",
            "below:all-a",
            "below:all-b",
            "below:all-c"
        ]
    );
}

#[test]
fn kinds_and_templates_are_values_of_a_config() {
    let text = r#"{"kind": "skip-chain", "layer": "ner", "skips": [{"layer": "ner", "same": "w=", "capitalised": true}]}"#;
    let kind: Kind = serde_json::from_str(text).unwrap();
    let description = kind.describe();
    assert_eq!(
        description.template_names().unwrap(),
        ["unary:ner", "chain:ner", "skip0"]
    );
    let text = serde_json::to_string(&Kind::Templates(description.clone())).unwrap();
    let again: Kind = serde_json::from_str(&text).unwrap();
    assert_eq!(again.describe(), description);
    let unknown = r#"{"kind": "factorial", "layers": ["a"], "layer": "b"}"#;
    assert!(serde_json::from_str::<Kind>(unknown).is_err());
    let unknown =
        r#"{"layers": [{"name": "a"}], "templates": [{"relation": {"unary": "a"}, "observes": "either"}]}"#;
    assert!(serde_json::from_str::<Description>(unknown).is_err());
}

#[test]
fn mistakes_are_sentences() {
    let message = |description: Description| description.check().unwrap_err().to_string();
    let with = |relation| {
        let mut description = Description::hierarchical("all", &["a"], false, false);
        description.templates.push(Template::new(relation));
        description
    };
    assert_eq!(
        message(Description::default()),
        "the model has no layer; name at least one"
    );
    assert_eq!(
        message(Description::factorial(&["a", "a"])),
        "two layers are called \"a\"; names must differ"
    );
    assert_eq!(
        message(with(Relation::Chain("b".into()))),
        "template \"chain:b\" joins the layer \"b\", which is not one of [\"a\", \"all\"]"
    );
    assert_eq!(
        message(with(Relation::Chain("all".into()))),
        "template \"chain:all\" is about a layer with one variable per instance, expected one per position"
    );
    assert_eq!(
        message(with(Relation::Unary("a".into()))),
        "two templates are called \"unary:a\"; names must differ"
    );
    let window = |layer: &str, offsets: &[i32]| Relation::Window {
        layers: vec!["a".into(), layer.into()],
        offsets: offsets.to_vec(),
    };
    assert_eq!(
        message(with(window("a", &[-1, -1]))),
        "template \"window:a-a:-1,-1\" is about one layer twice at the same offset, expected different variables"
    );
    assert_eq!(
        message(with(window("a", &[0, 1, 2]))),
        "template \"window:a-a:0,1,2\" is about 2 layers and 3 offsets, expected two or more layers, and an offset for each"
    );
    assert_eq!(
        message(with(window("all", &[0, 1]))),
        "template \"window:a-all:0,1\" is about a layer with one variable per instance, expected one per position"
    );
    assert_eq!(
        message(with(Relation::Skip(Skip::same("", "w=")))),
        "template \"skip:\" names no layer; it must name one of [\"a\", \"all\"]"
    );
    assert_eq!(
        message(with(Relation::Window {
            layers: vec!["a".into()],
            offsets: vec![0]
        })),
        "template \"window:a:0\" is about 1 layer and 1 offset, expected two or more layers, and an offset for each"
    );
    let nothing = Skip {
        same: None,
        ..Skip::same("a", "")
    };
    assert_eq!(
        message(with(Relation::Skip(nothing))),
        "same or shared of template \"skip:a\" is neither, expected one of the two"
    );
}

fn words(words: &str) -> GraphDataset {
    let mut builder = GraphDatasetBuilder::new(&Description::linear_chain("a"));
    for word in words.split(' ') {
        builder.observe(&format!("w={word}"), 1.0).unwrap();
        if word.len() > 2 {
            builder.observe("long", 1.0).unwrap();
        }
        builder.end_position(&[Gold::Unknown]).unwrap();
    }
    builder.end_instance(&[]).unwrap();
    builder.finish()
}

#[test]
fn skips_join_what_is_equal() {
    let data = words("Ann saw Bob saw Ann saw Bob and Ann");
    let edges = |skip: Skip| skip.edges(data.instance(0)).0;
    let same = Skip::same("a", "w=");
    assert_eq!(
        edges(same.clone()),
        [[0, 4], [0, 8], [1, 3], [1, 5], [2, 6], [3, 5], [4, 8]]
    );
    let capitalised = Skip {
        capitalised: true,
        ..same.clone()
    };
    assert_eq!(edges(capitalised), [[0, 4], [0, 8], [2, 6], [4, 8]]);
    let next = Skip {
        partners: Partners::Next,
        min_distance: 3,
        ..same.clone()
    };
    assert_eq!(edges(next), [[0, 4], [2, 6], [4, 8]]);
    let near = Skip {
        max_distance: Some(2),
        ..same.clone()
    };
    assert_eq!(edges(near), [[1, 3], [3, 5]]);
    let shared = Skip::shared("a", "w=Bob");
    assert_eq!(edges(shared.clone()), [[2, 6]]);
    let missing = Skip {
        require: vec!["never".into()],
        ..shared
    };
    assert_eq!(edges(missing), [[0; 2]; 0]);
}

#[test]
fn the_nearest_occurrences_stay_and_the_cut_is_told() {
    let data = words("Ann saw Bob saw Ann saw Bob and Ann");
    let skip = Skip {
        max_edges: 5,
        ..Skip::same("a", "w=")
    };
    let (edges, cut) = skip.edges(data.instance(0));
    assert_eq!(edges, [[0, 4], [1, 3], [2, 6], [3, 5], [4, 8]]);
    assert_eq!(cut, Some(7));
    let just_enough = Skip { max_edges: 7, ..skip };
    let (edges, cut) = just_enough.edges(data.instance(0));
    assert_eq!((edges.len(), cut), (7, None));
    // A pair that shares two observations is one edge.
    let twice = Skip {
        same: Some(String::new()),
        max_edges: 100,
        ..just_enough
    };
    let (edges, cut) = twice.edges(data.instance(0));
    assert_eq!((edges.len(), cut), (36, None));
}

#[test]
fn a_long_instance_of_one_word_is_cut_in_no_time() {
    let text = vec!["a"; 100_000].join(" ");
    let data = words(&text);
    let (edges, cut) = Skip::same("a", "w=").edges(data.instance(0));
    assert_eq!(edges.len(), 1000);
    assert_eq!(edges[999], [999, 1000]);
    assert_eq!(cut, Some(100_000 * 99_999 / 2));
}

#[test]
fn far_partners_in_a_long_instance_are_found_in_no_time() {
    let text = vec!["a"; 1_000_000].join(" ");
    let data = words(&text);
    let far = Skip {
        min_distance: 900_000,
        ..Skip::same("a", "w=")
    };
    let (edges, cut) = far.edges(data.instance(0));
    assert_eq!(edges.len(), 1000);
    assert_eq!(edges[999], [999, 900_999]);
    assert_eq!(cut, Some(100_000 * 100_001 / 2));
}

#[test]
fn edges_are_the_near_pairs_in_the_order_of_occurrences_between() {
    let mut random = SplitMix64(4);
    for round in 0..200 {
        let text: Vec<&str> = (0..20)
            .map(|_| ["a", "b", "see"][random.below(3) as usize])
            .collect();
        let data = words(&text.join(" "));
        let min_distance = 1 + random.below(8);
        let skip = Skip {
            // Long words share a second observation.
            same: Some(String::new()),
            partners: [Partners::All, Partners::Next][round % 2],
            min_distance,
            max_distance: (random.below(2) == 0).then(|| min_distance + random.below(6)),
            max_edges: random.below(30) as usize,
            ..Skip::same("a", "")
        };
        let occurrences = |word: &str| -> Vec<u32> {
            let places = (0..).zip(&text).filter(|(_, other)| **other == word);
            places.map(|(place, _)| place).collect()
        };
        let mut pairs = Vec::new();
        for word in ["a", "b", "see"] {
            let group = occurrences(word);
            for (first, &from) in group.iter().enumerate() {
                for (rank, &to) in group[first + 1..].iter().enumerate() {
                    let fits =
                        to - from >= min_distance && skip.max_distance.is_none_or(|most| to - from <= most);
                    if fits && (rank == 0 || skip.partners == Partners::All) {
                        pairs.push((rank, group[0], [from, to]));
                    }
                }
            }
        }
        pairs.sort_unstable();
        let is_cut = pairs.len() > skip.max_edges;
        let mut expected: Vec<[u32; 2]> = pairs.iter().map(|(.., pair)| *pair).collect();
        expected.truncate(skip.max_edges);
        expected.sort_unstable();
        let (edges, cut) = skip.edges(data.instance(0));
        assert_eq!(edges, expected, "{skip:?} {text:?}");
        assert_eq!(cut.is_some(), is_cut);
    }
}
