//! Questions, answers, undo and redo.

use super::*;
use crate::engine::cells::Cell;
use crate::engine::wire::ChangeType;
use fieldmark::core::Gold;
use fieldmark::learn::{Estimate, Estimator, Needs, Pool};

#[test]
fn a_cold_start_says_what_is_missing() {
    let mut place = Place::new(&[], &[], everything());
    let reason = |place: &Place| place.engine().question("ada", None).unwrap().reason;
    assert_eq!(reason(&place), Some("no documents"));
    place
        .engine()
        .add_file("a.txt", None, b"Ada met Grace.".to_vec())
        .unwrap();
    assert_eq!(reason(&place), Some("no types"));
    place.engine().add_type("ada", &new_type("NAME")).unwrap();
    let question = place.ask("ada").unwrap();
    assert_eq!(
        (question.kind, question.sentence.text.as_str()),
        ("token", "Ada met Grace.")
    );
    assert_eq!(question.choices.len(), 2);
    assert_eq!(
        place.ask("ada").unwrap(),
        question,
        "it is asked until it is answered"
    );
    place.reopen();
    while let Some(question) = place.ask("ada") {
        answer(&place, "ada", &question);
    }
    assert_eq!(reason(&place), Some("everything is labelled"));
    assert_eq!(
        place.engine().overview("ada").unwrap().progress.labelled_tokens,
        4
    );
}

#[test]
fn an_answer_is_given_once_and_the_next_question_comes() {
    let place = Place::new(&["Ada met Grace. Alan wrote."], &["NAME"], everything());
    let question = place.ask("ada").unwrap();
    let action = json!({
        "request": "once", "kind": "assert", "document": question.document.id, "question": question.id,
        "assertions": [{ "start": question.target.start, "end": question.target.end, "type": "NAME" }],
    });
    let first = place.act("ada", action.clone()).unwrap();
    let next = first.next.clone().unwrap();
    assert_ne!(next.id, question.id);
    assert_eq!(first.sentences.len(), 1);
    assert_eq!(first.sentences[0].known.len(), 1);
    let again = place.act("ada", action).unwrap();
    assert_eq!(
        (again.action.id, again.sentences),
        (first.action.id, first.sentences)
    );
    assert_eq!(again.next.unwrap().id, next.id);
    assert_eq!(again.project.progress.answers, 1);
    let mut count = 0;
    let count_all = |_| {
        count += 1;
        Ok(())
    };
    place
        .engine()
        .state()
        .project
        .store()
        .for_each_action(count_all)
        .unwrap();
    assert_eq!(count, 2, "the type, and one answer");
}

/// A name of a request stands for one content: with another, nothing is done, and nobody is told that it was.
#[test]
fn a_repeated_request_with_other_content_is_refused() {
    let mut place = Place::new(
        &["Ada met Grace. Alan wrote.", "Tony slept."],
        &["NAME", "X"],
        everything(),
    );
    let assertion = |start: u32, kind: &str| json!([{ "start": start, "end": start + 1, "type": kind }]);
    let action = |document: i64, assertions: Value| {
        json!({
        "request": "once", "kind": "assert", "document": document, "seconds": 1.0, "assertions": assertions })
    };
    let stored = |place: &Place| {
        let mut count = 0;
        let each = |_| {
            count += 1;
            Ok(())
        };
        place
            .engine()
            .state()
            .project
            .store()
            .for_each_action(each)
            .unwrap();
        count
    };
    let first = place.act("ada", action(1, assertion(0, "NAME"))).unwrap();
    let before = stored(&place);
    for _ in 0..2 {
        for other in [
            action(1, assertion(0, "X")),
            action(1, assertion(1, "NAME")),
            action(2, assertion(0, "NAME")),
            json!({ "request": "once", "kind": "flag", "document": 1 }),
            json!({ "request": "once", "kind": "clear", "document": 1, "start": 0, "end": 1 }),
        ] {
            let error = place.act("ada", other).unwrap_err();
            assert!(matches!(error, Error::Conflict(_)), "{error}");
            assert!(error.to_string().contains("something else"), "{error}");
        }
        for back in [true, false] {
            assert!(matches!(
                place.engine().undo("ada", "once", back),
                Err(Error::Conflict(_))
            ));
        }
        let new = NewType {
            request: "once".into(),
            name: "NEW".into(),
        };
        assert!(matches!(
            place.engine().add_type("ada", &new),
            Err(Error::Conflict(_))
        ));
        assert_eq!(stored(&place), before);
        // How long an answer took is measured, and may be measured anew.
        let mut again = action(1, assertion(0, "NAME"));
        again["seconds"] = json!(9.0);
        assert_eq!(place.act("ada", again).unwrap().action, first.action);
        place.reopen();
    }
    // Names of undo, redo and types are held against what they stood for, too.
    place.engine().undo("ada", "back", true).unwrap();
    assert!(matches!(
        place.engine().undo("ada", "back", false),
        Err(Error::Conflict(_))
    ));
    place.engine().undo("ada", "back", true).unwrap();
    let change = |key: &str| ChangeType {
        request: "change".into(),
        name: None,
        key: Some(key.into()),
        colour: None,
        removed: None,
        force: false,
    };
    place.engine().change_type("ada", 1, &change("7")).unwrap();
    place.engine().change_type("ada", 1, &change("7")).unwrap();
    assert!(matches!(
        place.engine().change_type("ada", 1, &change("8")),
        Err(Error::Conflict(_))
    ));
    assert!(matches!(
        place.engine().change_type("ada", 2, &change("7")),
        Err(Error::Conflict(_))
    ));
    // A type that was removed comes back by one request, however often that is sent.
    let gone = ChangeType {
        request: "gone".into(),
        removed: Some(true),
        ..change("7")
    };
    place
        .engine()
        .change_type("ada", 2, &ChangeType { key: None, ..gone })
        .unwrap();
    for _ in 0..2 {
        let types = place.engine().add_type("ada", &new_type("X")).unwrap().types;
        assert_eq!(types.len(), 2);
    }
}

/// Requests of programs before this one have no fingerprint: what their actions show is compared.
#[test]
fn requests_of_older_programs_are_still_answered_again() {
    let mut place = Place::new(&["Ada met Grace."], &["NAME"], everything());
    let assertion = json!([{ "start": 0, "end": 1, "type": "NAME" }]);
    let action = |document: i64| json!({ "request": "old", "kind": "assert", "document": document, "assertions": assertion });
    let first = place.act("ada", action(1)).unwrap();
    place.engine = None;
    let connection = rusqlite::Connection::open(place.path().join("project.sqlite")).unwrap();
    connection
        .execute_batch("DROP TABLE requests; PRAGMA user_version = 1;")
        .unwrap();
    drop(connection);
    place.engine = Some(Engine::open(Project::open(&place.path()).unwrap()).unwrap());
    assert_eq!(place.act("ada", action(1)).unwrap().action, first.action);
    assert!(matches!(place.act("ada", action(2)), Err(Error::Conflict(_))));
    let flag = json!({ "request": "old", "kind": "flag", "document": 1 });
    assert!(matches!(place.act("ada", flag), Err(Error::Conflict(_))));
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let place = Place::new(&["Ada met Grace."], &["NAME"], everything());
    let refused = |action: Value| place.act("ada", action).unwrap_err().to_string();
    for (action, expected) in [
        (json!({ "kind": "assert", "document": 9 }), "no document 9"),
        (json!({ "kind": "assert" }), "does not say which document"),
        (
            json!({ "kind": "assert", "document": 1, "assertions": [] }),
            "says nothing",
        ),
        (
            json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 3, "end": 5 }] }),
            "3..5 are not inside 0..4",
        ),
        (
            json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 2, "end": 2 }] }),
            "2..2",
        ),
        (
            json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 0, "end": 1, "type": "X" }] }),
            "no type \"X\"",
        ),
        (json!({ "kind": "clear", "document": 1 }), "start and end"),
        (
            json!({ "kind": "clear", "document": 1, "start": 3, "end": 9 }),
            "has 4",
        ),
        (
            json!({ "kind": "sentence", "document": 1, "start": 0, "end": 4, "spans": [
                { "start": 0, "end": 2, "type": "NAME" }, { "start": 1, "end": 3, "type": "NAME" }] }),
            "share tokens",
        ),
        (
            json!({ "kind": "comment", "document": 1, "text": "  " }),
            "0 characters",
        ),
        (json!({ "kind": "dance", "document": 1 }), "no action \"dance\""),
        (json!({ "kind": "skip", "document": 1, "request": "" }), "0 bytes"),
        (
            json!({ "kind": "equal", "document": 1, "start": 0, "end": 1, "scope": "world" }),
            "scope",
        ),
    ] {
        let error = refused(action);
        assert!(error.contains(expected), "{error}");
    }
    assert!(
        place
            .act("eve", json!({ "kind": "skip", "document": 1 }))
            .is_err()
    );
    assert!(!place.engine().overview("ada").unwrap().can_undo);
}

#[test]
fn undo_and_redo_across_everything() {
    let mut place = Place::new(
        &["Ada met Grace. Ada wrote.", "Ada slept."],
        &["NAME", "X"],
        everything(),
    );
    let steps = [
        json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 0, "end": 2, "type": "NAME" }] }),
        json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 1, "end": 2 }] }),
        json!({ "kind": "sentence", "document": 1, "start": 4, "end": 7, "spans": [{ "start": 4, "end": 5, "type": "X" }] }),
        json!({ "kind": "clear", "document": 1, "start": 0, "end": 5 }),
        json!({ "kind": "equal", "document": 1, "start": 0, "end": 1, "type": "NAME", "scope": "project" }),
        json!({ "kind": "document", "document": 2, "spans": [{ "start": 0, "end": 2, "type": "X" }] }),
        json!({ "kind": "comment", "document": 1, "start": 0, "end": 1, "text": "who?" }),
        json!({ "kind": "flag", "document": 2, "on": true }),
        json!({ "kind": "skip", "question": "t-1-2" }),
        json!({ "kind": "done", "document": 1, "on": true }),
    ];
    let picture = |place: &Place| {
        let state = place.engine().state();
        let known = (0..state.pool.data().positions())
            .map(|position| format!("{:?}", state.pool.known(position)))
            .collect::<Vec<_>>();
        let marks = (0..2)
            .map(|number| state.words.marks(number).count())
            .collect::<Vec<_>>();
        let mut skipped: Vec<_> = state.skipped.iter().copied().collect();
        skipped.sort_unstable();
        (known, marks, skipped, state.answers())
    };
    let mut pictures = vec![picture(&place)];
    for step in steps {
        place.act("ada", step).unwrap();
        pictures.push(picture(&place));
    }
    for (at, expected) in pictures.iter().enumerate().rev().skip(1) {
        place.engine().undo("ada", &format!("undo-{at}"), true).unwrap();
        assert_eq!(&picture(&place), expected, "undo to {at}");
        place.reopen();
        assert_eq!(&picture(&place), expected, "undo to {at}, opened again");
    }
    let nothing = place.engine().undo("ada", "more", true).unwrap_err();
    assert!(matches!(nothing, Error::Conflict(_)), "{nothing}");
    for (at, expected) in pictures.iter().enumerate().skip(1) {
        let request = format!("redo-{at}");
        place.engine().undo("ada", &request, false).unwrap();
        assert_eq!(&picture(&place), expected, "redo to {at}");
        place.engine().undo("ada", &request, false).unwrap();
        assert_eq!(&picture(&place), expected, "a repeated request changes nothing");
    }
    assert!(place.engine().undo("ada", "and more", false).is_err());
}

#[test]
fn an_undone_question_is_asked_again() {
    let place = Place::new(&["Ada met Grace. Alan wrote."], &["NAME"], everything());
    let question = place.ask("ada").unwrap();
    answer(&place, "ada", &question);
    let undone = place.engine().undo("ada", "u", true).unwrap();
    assert_eq!(undone.next.unwrap().id, question.id);
    assert_eq!(place.ask("ada").unwrap().id, question.id);
    assert!(undone.can_redo && !undone.can_undo);
}

/// What somebody did in any order is the same after the project was opened again.
#[test]
fn the_database_knows_everything() {
    for seed in 0..4 {
        let mut random = SplitMix64(seed);
        let mut place = Place::new(
            &["Ada met Grace. Ada wrote a book.", "Ada and Grace."],
            &["NAME", "X"],
            everything(),
        );
        place.add_user("bob");
        for step in 0..60 {
            let user = ["ada", "bob"][random.below(2) as usize];
            let document = 1 + random.below(2);
            let tokens = [9, 4][document as usize - 1];
            let start = random.below(tokens);
            let end = start + 1 + random.below(tokens - start);
            let kind = [None, Some("NAME"), Some("X")][random.below(3) as usize];
            let borders = ["exact", "open"][random.below(2) as usize];
            let spans = json!([{ "start": start, "end": end, "type": kind, "borders": borders }]);
            let outcome = match random.below(9) {
                0 => place.engine().undo(user, &format!("u{step}"), true).map(drop),
                1 => place.engine().undo(user, &format!("u{step}"), false).map(drop),
                2 => place
                    .act(
                        user,
                        json!({ "kind": "clear", "document": document, "start": start, "end": end }),
                    )
                    .map(drop),
                3 => place
                    .act(
                        user,
                        json!({ "kind": "adjudicate", "document": document, "assertions": spans }),
                    )
                    .map(drop),
                4 => place
                    .act(user, json!({ "kind": "document", "document": document }))
                    .map(drop),
                5 => place
                    .act(
                        user,
                        json!({ "kind": "equal", "document": document, "start": start, "end": end,
                    "type": kind, "scope": "project" }),
                    )
                    .map(drop),
                _ => place
                    .act(
                        user,
                        json!({ "kind": "assert", "document": document, "assertions": spans }),
                    )
                    .map(drop),
            };
            assert!(matches!(outcome, Ok(()) | Err(Error::Conflict(_))), "{outcome:?}");
        }
        type Picture = (Vec<(String, bool)>, Vec<Vec<Cell>>, usize);
        let picture = |place: &Place| -> Picture {
            let state = place.engine().state();
            let known = (0..state.pool.data().positions()).map(|position| {
                (
                    format!("{:?}", state.pool.known(position)),
                    state.pool.is_labelled(position),
                )
            });
            let views = state.users.iter().flat_map(|(user, _)| {
                (0..2)
                    .map(|number| state.view(number, *user, 0..state.corpus.get(number).tokens()))
                    .collect::<Vec<_>>()
            });
            (known.collect(), views.collect(), state.answers())
        };
        let before = picture(&place);
        place.reopen();
        assert_eq!(before, picture(&place), "seed {seed}");
    }
}

/// The sentence in an answer is what a model says that is asked anew, under all that is known.
#[test]
fn estimates_after_an_answer_are_those_of_a_fresh_run() {
    let place = Place::with(
        plain(&sentences(30, 1)),
        &["NAME", "X"],
        everything(),
        ImportOptions::default(),
    );
    for _ in 0..40 {
        let question = place.ask("ada").unwrap();
        answer(&place, "ada", &question);
    }
    place.engine().train_now();
    assert!(place.engine().state().warm);
    let question = place.ask("ada").unwrap();
    let (start, id) = (question.sentence.start, question.document.id);
    for assertions in [
        json!([{ "start": start + 2, "end": start + 4, "type": "X", "borders": "open" }]),
        json!([{ "start": start, "end": start + 1, "type": "NAME" }]),
        json!([{ "start": start + 5, "end": start + 6 }]),
    ] {
        let answer = place
            .act(
                "ada",
                json!({ "kind": "assert", "document": id, "assertions": assertions }),
            )
            .unwrap();
        let state = place.engine().state();
        let number = state.corpus.find(id).unwrap();
        let sequence = state.corpus.get(number).first_sequence;
        // A pool of its own, with nothing but what is known of this sentence.
        let mut fresh = Pool::with_labels(state.pool.data().clone(), state.pool.labels().clone());
        for position in state.pool.positions(sequence) {
            match state.pool.known(position) {
                Gold::Known(label) => drop(fresh.answer(sequence, position, label)),
                Gold::Ambiguous(labels) => drop(fresh.answer_one_of(sequence, position, labels)),
                Gold::Unknown => {}
            }
        }
        let needs = Needs {
            marginals: true,
            path: true,
            ..Needs::default()
        };
        let mut estimate = Estimate::default();
        Estimator::new(&state.model)
            .run(&fresh, sequence, needs, &mut estimate)
            .unwrap();
        let text = state.corpus.get(number);
        let user = state.users.iter().find(|(_, name)| name == "ada").unwrap().0;
        let cells = state.view(number, user, text.sentence(0));
        let own = state.estimating().estimate(number, 0, &cells).unwrap();
        assert_eq!(own.path, estimate.path());
        for token in 0..own.path.len() {
            let labels = state.map.len();
            assert_eq!(
                &own.marginals[token * labels..][..labels],
                estimate.marginals(token)
            );
        }
        let names: Vec<&str> = estimate
            .path()
            .iter()
            .map(|&label| state.pool.labels().name(label))
            .collect();
        let expected: Vec<(usize, usize)> = fieldmark::core::Scheme::Iob2
            .spans(&names)
            .iter()
            .filter(|span| {
                cells[span.start..span.end]
                    .iter()
                    .any(|cell| !cell.said.is_something())
            })
            .map(|span| (span.start, span.end))
            .collect();
        let shown: Vec<(usize, usize)> = answer.sentences[0]
            .suggestions
            .iter()
            .map(|one| (one.start, one.end))
            .collect();
        assert_eq!(shown, expected);
    }
}

#[test]
fn open_borders_leave_a_choice() {
    let place = Place::new(&["we met Ada Grace Bell there"], &["NAME"], everything());
    place
        .act(
            "ada",
            json!({ "kind": "assert", "document": 1,
            "assertions": [{ "start": 2, "end": 4, "type": "NAME", "borders": "open" }] }),
        )
        .unwrap();
    let state = place.engine().state();
    assert_eq!(state.pool.known(2), Gold::Ambiguous(&[1, 2]));
    assert_eq!(state.pool.known(3), Gold::Ambiguous(&[1, 2]));
    assert!(state.pool.is_labelled(3) && !state.pool.is_labelled(4));
}

#[test]
fn types_come_change_and_go() {
    let mut place = Place::new(&["Ada met Grace in Paris."], &["NAME"], everything());
    let assert = |place: &Place, start: usize, kind: &str| {
        let assertions = json!([{ "start": start, "end": start + 1, "type": kind }]);
        place.act(
            "ada",
            json!({ "kind": "assert", "document": 1, "assertions": assertions }),
        )
    };
    assert(&place, 0, "NAME").unwrap();
    assert!(assert(&place, 4, "PLACE").is_err());
    let types = place.engine().add_type("ada", &new_type("PLACE")).unwrap().types;
    assert_eq!((types[1].key.as_str(), types[1].colour), ("2", 1));
    let again = place.engine().add_type("ada", &new_type("PLACE")).unwrap();
    assert_eq!(again.types.len(), 2, "a repeated request");
    let twice = NewType {
        request: "other".into(),
        name: "PLACE".into(),
    };
    assert!(matches!(
        place.engine().add_type("ada", &twice),
        Err(Error::Conflict(_))
    ));
    let bad = NewType {
        request: "bad".into(),
        name: "a b".into(),
    };
    assert!(matches!(
        place.engine().add_type("ada", &bad),
        Err(Error::Refused(_))
    ));
    assert(&place, 4, "PLACE").unwrap();
    let change = |name: &str, removed: Option<bool>| ChangeType {
        request: format!("change-{name}-{removed:?}"),
        name: (!name.is_empty()).then(|| name.to_owned()),
        key: None,
        colour: None,
        removed,
        force: true,
    };
    place
        .engine()
        .change_type("ada", 1, &change("PERSON", None))
        .unwrap();
    let words = |place: &Place| {
        let known = place.known("ada", 1);
        known.into_iter().filter_map(|(_, kind)| kind).collect::<Vec<_>>()
    };
    assert_eq!(words(&place), ["PERSON", "PLACE"]);
    place
        .engine()
        .change_type("ada", 1, &change("", Some(true)))
        .unwrap();
    assert_eq!(words(&place), ["PLACE"]);
    let labels = |place: &Place| {
        place
            .engine()
            .state()
            .pool
            .labels()
            .iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(&place), ["O", "B-PLACE", "I-PLACE"]);
    assert_eq!(
        place.engine().overview("ada").unwrap().progress.labelled_tokens,
        1
    );
    place.reopen();
    assert_eq!(words(&place), ["PLACE"]);
    place
        .engine()
        .change_type("ada", 1, &change("", Some(false)))
        .unwrap();
    assert_eq!(words(&place), ["PERSON", "PLACE"], "what was marked is kept");
    place.engine().train_now();
    assert_eq!(place.engine().overview("ada").unwrap().model.problem, None);
}

#[test]
fn lists_and_patterns_suggest_before_there_is_a_model() {
    let settings = Settings {
        dictionaries: vec![("NAME".into(), "Ada Lovelace\nGrace\n".into())],
        patterns: vec![("YEAR".into(), "[0-9]{4}".into())],
        ..everything()
    };
    let texts = ["nothing at all", "they said Ada Lovelace met Grace in 1843"];
    let place = Place::new(&texts, &["NAME", "YEAR"], settings);
    let question = place.ask("ada").unwrap();
    assert_eq!(question.document.name, "d1");
    let suggestion = question.suggestion.unwrap();
    assert_eq!(
        (suggestion.start, suggestion.end, suggestion.kind.as_deref()),
        (2, 4, Some("NAME"))
    );
    assert_eq!(question.sentence.suggestions.len(), 3);
    assert!(question.why.unwrap().contains("dictionary"));
}

#[test]
fn a_skipped_question_is_not_asked_again() {
    let place = Place::new(&["Ada met Grace."], &["NAME"], everything());
    let mut seen = Vec::new();
    while let Some(question) = place.ask("ada") {
        let next = place
            .act("ada", json!({ "kind": "skip", "question": question.id }))
            .unwrap();
        assert_ne!(next.next.map(|next| next.id), Some(question.id.clone()));
        seen.push(question.id);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4);
    let place = Place::new(&["Ada met Grace.", "We saw Alan."], &["NAME"], everything());
    place
        .act("ada", json!({ "kind": "skip", "document": 1 }))
        .unwrap();
    for _ in 0..4 {
        let question = place.ask("ada").unwrap();
        assert_eq!(question.document.id, 2);
        answer(&place, "ada", &question);
    }
    assert_eq!(place.ask("ada"), None);
}

/// Ids of questions come from clients, and rows from databases: neither may stop questions or the project.
#[test]
fn questions_that_were_never_asked_are_refused() {
    let settings = Settings {
        shared: 1.0,
        ..everything()
    };
    let mut place = Place::new(&["Ada met Grace.", "Alan."], &["NAME"], settings);
    place.add_user("bob");
    let answer = |question: &str| {
        json!({ "kind": "assert", "document": 1, "question": question,
                "assertions": [{ "start": 0, "end": 1, "type": "NAME" }] })
    };
    let long = "t".repeat(1 << 20);
    let wrong = [
        "t-1-99999999",
        "t-1-18446744073709551615",
        "t-1-4",
        "t-9-0",
        "t-2-0",
        "x-1-0",
        "t-1-7-0",
        "t-1-00",
        "garbage",
        &long,
    ];
    for question in wrong {
        let error = place.act("ada", answer(question)).unwrap_err().to_string();
        assert!(error.contains("question") && error.len() < 200, "{error}");
        let skip = json!({ "kind": "skip", "document": 1, "question": question });
        assert!(place.act("ada", skip).is_err(), "{question:.20}");
    }
    assert_eq!(place.known("ada", 1), [], "nothing was stored");
    place.act("ada", answer("t-1-0")).unwrap();
    // Rows of programs that did not look.
    let mut store = Project::database_beside(&place.path()).unwrap();
    let user = store.user("ada").unwrap();
    let said = |deed: &crate::project::Deed, question: &str, store: &mut crate::project::Store| {
        let new = crate::project::NewAction {
            request: question,
            user,
            document: Some(1),
            question: Some(question),
            seconds: None,
            deed,
        };
        store.record(&new).unwrap();
    };
    said(
        &crate::project::Deed::Flag { on: true },
        "t-1-99999999",
        &mut store,
    );
    let skip = crate::project::Deed::SkipQuestion { token: u32::MAX };
    said(&skip, "t-1-18446744073709551615", &mut store);
    drop(store);
    place.reopen();
    for _ in 0..4 {
        let question = place.ask("bob").unwrap();
        super::answer(&place, "bob", &question);
    }
    place.engine().undo("ada", "u", true).unwrap();
    assert!(place.engine().question("ada", None).is_ok());
}
