use super::*;
use crate::document::Relation;
use crate::tokenize::{Tokenizer, TokenizerProfile};
use proptest::prelude::*;

fn steps() -> Vec<Step> {
    let config = r#"
        [[postprocess]]
        kind = "combine"
        strategy = "long-first"
        models = ["long", "short"]
        [[postprocess]]
        kind = "brackets"
        [[postprocess]]
        kind = "trim"
        punctuation = true
        [[postprocess]]
        kind = "repeat"
        within = { tokens = 9 }
        min_length = 1
        [[postprocess]]
        kind = "merge"
        separators = [" ", "-"]
        [[postprocess]]
        kind = "split"
        at = "/"
        [[postprocess]]
        kind = "confidence"
        threshold = 0.2
        types = { B = 0.4 }
        [[postprocess]]
        kind = "stop-list"
        names = ["a"]
        compare = { ignore_case = true }
        [[postprocess]]
        kind = "filter"
        matching = "^b+$"
        [[postprocess]]
        kind = "overlaps"
        prefer = "longest"
    "#;
    #[derive(Deserialize)]
    struct Config {
        postprocess: Postprocessor,
    }
    let config: Config = toml::from_str(config).unwrap();
    config.postprocess.steps
}

#[test]
fn lives_in_a_config() {
    let all = Postprocessor::new(steps());
    assert_eq!(all.steps().len(), 10);
    let json = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Postprocessor>(&json).unwrap(), all);
}

#[test]
fn unknown_steps_and_keys_are_refused() {
    for (json, expected) in [
        (r#"[{"kind": "bracket"}]"#, "unknown variant `bracket`"),
        (
            r#"[{"kind": "brackets", "quote": true}]"#,
            "unknown field `quote`",
        ),
        (
            r#"[{"kind": "repeat", "within": {"words": 3}}]"#,
            "unknown variant `words`",
        ),
        (r#"[{"kind": "split"}]"#, "missing field `at`"),
        (r#"[{"kind": "stop-list", "names": [""]}]"#, "is empty"),
        (r#"[{"types": []}]"#, "missing field `kind`"),
    ] {
        let error = serde_json::from_str::<Postprocessor>(json)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn relations_of_what_is_dropped_are_dropped() {
    let mut document = Document::new("1", "a b");
    for (id, range, score) in [("T1", 0..1, 0.9), ("T2", 2..3, 0.1)] {
        document.annotations.push(Annotation {
            id: id.to_owned(),
            ..Annotation::new(range, "A").with_score(score)
        });
    }
    let relation = |id: &str, argument: &str| Relation {
        id: id.to_owned(),
        arguments: vec![("of".to_owned(), argument.to_owned())],
        ..Relation::default()
    };
    document.relations = vec![
        relation("R1", "R2"),
        relation("R2", "T2"),
        relation("R3", "T1"),
        relation("R4", "elsewhere"),
    ];
    let step = Step::Confidence(Confidence {
        threshold: 0.5,
        ..Confidence::default()
    });
    Postprocessor::new(vec![step]).apply(&mut document, &[]);
    let left: Vec<&str> = document
        .relations
        .iter()
        .map(|relation| relation.id.as_str())
        .collect();
    assert_eq!(left, ["R3", "R4"]);
}

#[test]
fn annotations_of_another_text_do_no_harm() {
    let mut document = Document::new("1", "ä b");
    document.annotations = vec![
        Annotation::new(1..9, "A"),
        Annotation::new(1..2, "A"),
        Annotation::default(),
        Annotation::new(std::ops::Range { start: 2, end: 1 }, "A"),
    ];
    for step in steps() {
        let mut copy = document.clone();
        Postprocessor::new(vec![step]).apply(&mut copy, &[]);
    }
}

proptest! {
    #[test]
    fn offsets_stay_valid(
        text in "[abA ä()/\"'.-]{1,24}",
        spans in prop::collection::vec((0..24_usize, 1..8_usize, 0..3_usize, 0..5_u8), 0..6),
        chosen in prop::collection::vec(0..10_usize, 1..6),
    ) {
        let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut document = Document::new("1", text.as_str());
        for (start, len, kind, score) in spans {
            let start = start % (borders.len() - 1);
            let end = (start + len).min(borders.len() - 1);
            let mut annotation = Annotation::new(borders[start]..borders[end], ["A", "B", "C"][kind]);
            if score < 4 {
                annotation.score = Some(f64::from(score) / 4.0);
            }
            if score > 2 {
                annotation.attributes.insert("model".to_owned(), "short".to_owned());
            }
            document.annotations.push(annotation);
        }
        prop_assert_eq!(document.check(), Ok(()));
        let tokens = Tokenizer::new(TokenizerProfile::Fine).tokenize(&text);
        let all = steps();
        let steps = chosen.into_iter().map(|at| all[at].clone()).collect();
        Postprocessor::new(steps).apply(&mut document, &tokens);
        prop_assert_eq!(document.check(), Ok(()));
        let starts: Vec<usize> = document.annotations.iter().map(|annotation| annotation.range().start).collect();
        prop_assert!(starts.is_sorted());
    }
}
