//! Settings that change while people annotate.

use super::*;
use crate::engine::ChangeSettings;
use crate::project::{SettingsChange, Unit};
use fieldmark::config::Config;
use fieldmark::learn::Strategy;

fn change(place: &Place, request: &str, change: Value) -> Result<Value, Error> {
    let wish = ChangeSettings {
        request: request.to_owned(),
        change: serde_json::from_value(change).unwrap(),
    };
    let report = place.engine().change_settings("ada", &wish)?;
    Ok(serde_json::to_value(report).unwrap())
}

fn held_out(place: &Place) -> Vec<usize> {
    let mut all = place.engine().state().held_out.clone();
    all.sort_unstable();
    all
}

#[test]
fn a_change_is_done_at_once_and_outlives_the_program() {
    let mut place = Place::with(
        plain(&sentences(60, 2)),
        &["NAME"],
        Settings::default(),
        ImportOptions::default(),
    );
    let before = held_out(&place);
    for _ in 0..12 {
        let question = place.ask("ada").unwrap();
        answer(&place, "ada", &question);
    }
    place.engine().train_now();
    let wanted = json!({
        "strategy": "MVM", "unit": "sentence", "batch": 3, "held_out": 0.4, "shared": 0.9, "seed": 7,
        "order": 2, "c1": 0.5, "c2": 0.25, "patterns": [["NAME", "[A-Z][a-z]+"]], "dictionaries": [["NAME", "Ada\nGrace\n"]],
    });
    let report = change(&place, "r", wanted.clone()).unwrap();
    for key in [
        "strategy", "unit", "batch", "held_out", "shared", "seed", "order", "c1", "c2", "patterns",
    ] {
        assert_eq!(report[key], wanted[key], "{key}");
    }
    assert_eq!(report["dictionaries"], json!([["NAME", 2]]));
    let after = held_out(&place);
    assert!(after.len() > before.len(), "{before:?} {after:?}");
    let parts = |place: &Place| {
        let state = place.engine().state();
        let parts: Vec<(bool, bool)> = state
            .corpus
            .iter()
            .map(|text| (text.shared, text.held_out))
            .collect();
        (parts, state.compared.clone())
    };
    let now = parts(&place);
    assert!(now.0.iter().filter(|(shared, _)| *shared).count() > 40);
    // What is held out is neither asked about nor learned from; questions are whole sentences.
    place.engine().train_now();
    let question = place.ask("ada").unwrap();
    assert_eq!((question.kind, question.test), ("sentence", false));
    answer(&place, "ada", &question);
    {
        let state = place.engine().state();
        assert_eq!(state.learning.structure.order, 2);
        assert!(after.iter().all(|&sequence| state.pool.is_aside(sequence)));
    }
    let settings = place.engine().settings();
    place.reopen();
    assert_eq!(place.engine().settings(), settings);
    assert_eq!(held_out(&place), after);
    assert_eq!(parts(&place).0, now.0);
    {
        let state = place.engine().state();
        assert_eq!(
            (state.settings.unit, state.settings.strategy),
            (Unit::Sentence, Strategy::ViterbiMargin)
        );
        assert_eq!(state.describer.config().model.order, 2);
    }
    // And back: a part that grew gives back what it took.
    change(&place, "back", json!({ "held_out": 0.1, "seed": 0 })).unwrap();
    assert_eq!(held_out(&place), before);
}

/// A sentence that is left out is not asked again, by whichever of its words.
#[test]
fn whole_sentences_are_asked_once() {
    let settings = Settings {
        unit: Unit::Sentence,
        patterns: vec![("NAME".into(), "Ada|Grace".into())],
        ..everything()
    };
    let place = Place::with(
        plain(&sentences(12, 5)),
        &["NAME"],
        settings,
        ImportOptions::default(),
    );
    let mut seen = std::collections::HashSet::new();
    for number in 0..12 {
        let in_one = place.engine().question("ada", Some(number + 1)).unwrap().question;
        assert!(in_one.is_none_or(|question| question.kind == "sentence"));
        let question = place.ask("ada").unwrap();
        assert_eq!(question.kind, "sentence");
        assert!(seen.insert(question.id.clone()), "{}", question.id);
        if number % 3 == 0 {
            let document = question.document.id;
            place
                .act(
                    "ada",
                    json!({ "kind": "skip", "document": document, "question": question.id }),
                )
                .unwrap();
            assert!(
                place
                    .engine()
                    .question("ada", Some(document))
                    .unwrap()
                    .question
                    .is_none()
            );
        } else {
            answer(&place, "ada", &question);
        }
        if number == 5 {
            place.engine().train_now();
        }
    }
    assert!(place.ask("ada").is_none());
}

#[test]
fn sentences_are_held_out_anew_where_documents_are_few() {
    let text: Vec<String> = plain(&sentences(60, 2))
        .into_iter()
        .map(|one| format!("{}.", one.text))
        .collect();
    let mut place = Place::new(&[&text.join(" ")], &["NAME"], Settings::default());
    let before = held_out(&place);
    change(&place, "r", json!({ "held_out": 0.5 })).unwrap();
    let after = held_out(&place);
    assert!(after.len() > before.len() && before.iter().all(|one| after.contains(one)));
    place.reopen();
    assert_eq!(held_out(&place), after);
    change(&place, "none", json!({ "held_out": 0.0 })).unwrap();
    assert_eq!(held_out(&place), Vec::<usize>::new());
}

#[test]
fn changes_that_make_no_sense_change_nothing() {
    let place = Place::new(&["Ada met Grace."], &["NAME"], Settings::default());
    let before = place.engine().settings();
    for (wish, expected) in [
        (
            json!({ "held_out": 0.95 }),
            "is 0.95, expected a number from 0 to 0.9",
        ),
        (
            json!({ "held_out": 2.0 }),
            "is 2, expected a number from 0 to 0.9",
        ),
        (json!({ "shared": -1.0 }), "is -1, expected a number from 0 to 1"),
        (json!({ "batch": 0 }), "at least 1"),
        (json!({ "order": 4 }), "expected 0 to 3"),
        (json!({ "c2": -1.0 }), "from 0 up"),
        (json!({ "patterns": [["NAME", "("]] }), "not a regular expression"),
        (json!({ "patterns": [["NAME", ""]] }), "is empty"),
        (json!({ "patterns": [["PLACE", "x"]] }), "no type \"PLACE\""),
        (
            json!({ "batch": 5, "tokenizer": "whitespace" }),
            "every answer is about the tokens",
        ),
    ] {
        let error = change(&place, "r", wish).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(serde_json::from_value::<SettingsChange>(json!({ "tempo": 3 })).is_err());
    for strategy in ["LC", "NSE", "best"] {
        let wish = serde_json::from_value::<SettingsChange>(json!({ "strategy": strategy }));
        let error = wish.unwrap_err().to_string();
        let expected =
            format!("the strategy is {strategy:?}, expected MTP, MTE, MTM, MVP, MVPE, MVM, ME, MED or RAND");
        assert!(error.contains(&expected), "{error}");
    }
    assert_eq!(place.engine().settings(), before);
    // A name stands for one change.
    change(&place, "r", json!({ "batch": 5 })).unwrap();
    change(&place, "r", json!({ "batch": 5 })).unwrap();
    assert!(matches!(
        change(&place, "r", json!({ "batch": 6 })),
        Err(Error::Conflict(_))
    ));
    assert_eq!(place.engine().state().settings.batch, 5);
}

/// A model that knows what is held out now would be measured on what it has learned.
#[test]
fn another_part_begins_without_the_old_model() {
    let settings = Settings {
        held_out: 0.2,
        ..Settings::default()
    };
    let place = Place::with(sentences(60, 2), &[], settings, ImportOptions::default());
    place.engine().train_now();
    assert!(place.engine().state().warm);
    let job = place.engine().job(&mut place.engine().state());
    change(&place, "r", json!({ "held_out": 0.5 })).unwrap();
    assert!(!place.engine().state().warm);
    place.engine().train(&super::super::train::Threads::new(), job);
    assert!(
        !place.engine().state().warm,
        "a model that was under way is thrown away"
    );
    place.engine().train_now();
    let curve = place.engine().learned().curve.clone();
    assert_eq!(curve.len(), 2);
    assert_ne!(curve[0].part, curve[1].part);
    assert!(curve[1].sentences > curve[0].sentences);
    // The strategy is no knowledge.
    change(&place, "s", json!({ "strategy": "RAND" })).unwrap();
    place.engine().train_now();
    assert_eq!(place.engine().learned().curve.len(), 2);
    change(&place, "c", json!({ "c2": 3.0 })).unwrap();
    place.engine().train_now();
    assert_eq!(
        place.engine().learned().curve.len(),
        3,
        "the same answers, learned from otherwise"
    );
}

#[test]
fn a_config_may_change_all_but_tokens() {
    let mut place = Place::new(&["Ada met Grace."], &["NAME"], Settings::default());
    place.act("ada", json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 0, "end": 1, "type": "NAME" }] })).unwrap();
    let tokens = place.engine().overview("ada").unwrap().tokens;
    place.engine = None;
    let open =
        |place: &Place| NewProject::open(&place.path(), None, Path::new(""), Settings::default()).unwrap();
    let text = crate::engine::DEFAULT_CONFIG;
    let other = text.replace("{ kind = \"bias\" },", "");
    let config = |text: &str| Some(Config::parse(text, &[]).unwrap());
    let nothing = SettingsChange::default();
    let mut project = open(&place);
    assert_eq!(
        project.change(&nothing, None, Path::new("")).unwrap(),
        Vec::<String>::new()
    );
    assert_eq!(
        project.change(&nothing, config(&other), Path::new("")).unwrap(),
        ["features: 9 → 8"]
    );
    let cut = format!(
        "{}\n[text]\ntokenizer = 'whitespace'\n",
        &text[..text.find("[text]").unwrap()]
    );
    let error = project
        .change(&nothing, config(&cut), Path::new(""))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("section text") && error.contains("every answer is about"),
        "{error}"
    );
    let wish = SettingsChange {
        order: Some(2),
        batch: Some(4),
        ..SettingsChange::default()
    };
    assert_eq!(
        project.change(&wish, None, Path::new("")).unwrap(),
        ["batch: 10 → 4", "order: 1 → 2"]
    );
    drop(project);
    place.engine = Some(Engine::open(Project::open(&place.path()).unwrap()).unwrap());
    let state = place.engine().state();
    assert_eq!(
        (
            state.describer.config().features.len(),
            state.learning.structure.order
        ),
        (8, 2)
    );
    assert_eq!((state.corpus.positions(), state.answers()), (tokens, 1));
}
