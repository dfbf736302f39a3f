//! Several people.

use super::*;

fn shared() -> Settings {
    Settings {
        shared: 1.0,
        held_out: 0.0,
        ..Settings::default()
    }
}

fn mark(place: &Place, user: &str, start: usize, end: usize, kind: Option<&str>) -> ActionAnswer {
    let assertions = json!([{ "start": start, "end": end, "type": kind }]);
    place
        .act(
            user,
            json!({ "kind": "assert", "document": 1, "assertions": assertions }),
        )
        .unwrap()
}

fn agreement(place: &Place) -> Value {
    serde_json::to_value(place.engine().agreement().unwrap()).unwrap()
}

#[test]
fn two_people_answer_one_question_and_both_are_heard() {
    let mut place = Place::new(&["Ada met Grace Bell."], &["NAME", "X"], shared());
    place.add_user("bob");
    let question = place.ask("ada").unwrap();
    let answer = |user: &str, kind: &str| {
        let target = question.target;
        place
            .act(
                user,
                json!({ "kind": "assert", "document": 1, "question": question.id,
                "assertions": [{ "start": target.start, "end": target.end, "type": kind }] }),
            )
            .unwrap()
    };
    answer("ada", "NAME");
    answer("bob", "X");
    let kinds = |place: &Place| ["ada", "bob"].map(|user| place.known(user, 1)[0].1.clone().unwrap());
    assert_eq!(kinds(&place), ["NAME", "X"]);
    place.reopen();
    assert_eq!(kinds(&place), ["NAME", "X"]);
    assert_eq!(place.engine().overview("ada").unwrap().progress.answers, 2);
    // Training learns that it is one of both.
    let state = place.engine().state();
    let known = state.pool.known(question.target.start);
    assert!(
        known.allows(1) && known.allows(3) && !known.allows(0),
        "{known:?}"
    );
}

#[test]
fn two_tabs_of_one_person_lose_nothing() {
    let place = Place::new(&["Ada met Grace Bell."], &["NAME", "X"], everything());
    let question = place.ask("ada").unwrap();
    let other = place.ask("ada").unwrap();
    assert_eq!(question, other, "both tabs see the same question");
    let answer = |kind: &str| {
        place
            .act("ada", json!({ "kind": "assert", "document": 1, "question": question.id,
                "assertions": [{ "start": question.target.start, "end": question.target.end, "type": kind }] }))
            .unwrap()
    };
    let (first, second) = (answer("NAME"), answer("X"));
    assert_eq!(first.next.unwrap().id, second.next.unwrap().id);
    assert_eq!(
        place.known("ada", 1)[0].1.as_deref(),
        Some("X"),
        "the last word counts"
    );
    place.engine().undo("ada", "u", true).unwrap();
    assert_eq!(
        place.known("ada", 1)[0].1.as_deref(),
        Some("NAME"),
        "the first was kept, too"
    );
}

#[test]
fn shared_documents_are_annotated_blindly() {
    let place = Place::new(&["Ada met Grace Bell."], &["NAME"], shared());
    mark(&place, "ada", 0, 1, Some("NAME"));
    place.add_user("bob");
    assert!(place.engine().overview("bob").is_ok());
    assert_eq!(place.known("bob", 1), []);
    let open = Place::new(
        &["Ada met Grace Bell."],
        &["NAME"],
        Settings {
            shared: 0.0,
            ..everything()
        },
    );
    mark(&open, "ada", 0, 1, Some("NAME"));
    open.add_user("bob");
    assert!(open.engine().overview("bob").is_ok());
    assert_eq!(open.known("bob", 1).len(), 1);
}

/// Nor does what the model suggests tell what others said.
#[test]
fn suggestions_do_not_tell_the_answers_of_others() {
    let documents = plain(&sentences(20, 6));
    let place = Place::with(documents, &["NAME"], shared(), ImportOptions::default());
    place.add_user("bob");
    for _ in 0..60 {
        let question = place.ask("ada").unwrap();
        answer(&place, "ada", &question);
    }
    place.engine().train_now();
    let spans = |user: &str| {
        let state = place.engine().state();
        let id = state.users.iter().find(|(_, name)| name == user).unwrap().0;
        let sentence = state.estimating().sentence(state.draw(0, 0, id)).unwrap();
        sentence
            .suggestions
            .iter()
            .map(|one| (one.start, one.end))
            .collect::<Vec<_>>()
    };
    place.engine().overview("bob").unwrap();
    let before = spans("bob");
    // A span over the whole sentence, which no model would find.
    place
        .act(
            "ada",
            json!({ "kind": "document", "document": 1, "spans": [{ "start": 0, "end": 8, "type": "NAME" }] }),
        )
        .unwrap();
    assert_eq!(spans("bob"), before);
    assert_eq!(spans("ada"), [], "ada knows all of it");
}

#[test]
fn people_are_asked_what_others_were_asked() {
    let place = Place::with(
        plain(&sentences(20, 2)),
        &["NAME"],
        shared(),
        ImportOptions::default(),
    );
    place.add_user("bob");
    let mut of_ada = Vec::new();
    for _ in 0..10 {
        let question = place.ask("ada").unwrap();
        answer(&place, "ada", &question);
        of_ada.push((question.document.id, question.target.start));
    }
    let mut compared = 0;
    for _ in 0..10 {
        let question = place.ask("bob").unwrap();
        compared += usize::from(of_ada.contains(&(question.document.id, question.target.start)));
        answer(&place, "bob", &question);
    }
    assert_eq!(compared, 2);
    let report = agreement(&place);
    let pair = &report["pairs"][0];
    assert_eq!(
        (&pair["a"], &pair["b"], &pair["tokens"]),
        (&json!("ada"), &json!("bob"), &json!(2))
    );
    assert_eq!(
        (&pair["kappa"], &pair["f1"]),
        (
            &json!(1.0),
            &json!(if pair["types"] == json!([]) { 0.0 } else { 1.0 })
        )
    );
}

/// Where documents are few, sentences of them are shared, so that people meet in the smallest project.
#[test]
fn people_meet_in_small_projects() {
    for seed in 0..4 {
        let whole: Vec<String> = sentences(60, seed)
            .into_iter()
            .map(|one| one.text + ".")
            .collect();
        let texts: Vec<String> = whole.chunks(20).map(|part| part.join(" ")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let settings = Settings {
            seed,
            ..Settings::default()
        };
        let mut place = Place::new(&texts, &["NAME"], settings);
        place.add_user("bob");
        for _ in 0..50 {
            for user in ["ada", "bob"] {
                let question = place.ask(user).unwrap();
                answer(&place, user, &question);
            }
        }
        let both = |place: &Place| agreement(place)["pairs"][0]["tokens"].as_u64().unwrap_or(0);
        assert!(both(&place) >= 8, "seed {seed}: {} tokens", both(&place));
        // The other questions are divided, not doubled.
        assert!(both(&place) <= 30, "seed {seed}: {} tokens", both(&place));
        let compared = place.engine().state().compared.clone();
        place.reopen();
        assert_eq!(place.engine().state().compared, compared);
    }
}

/// What is not shared is seen by everybody, also beside a sentence that is.
#[test]
fn only_shared_sentences_are_annotated_blindly() {
    let text: Vec<String> = sentences(10, 1).into_iter().map(|one| one.text + ".").collect();
    let place = Place::new(&[&text.join(" ")], &["NAME"], everything());
    place.add_user("bob");
    place.engine().overview("bob").unwrap();
    place
        .act("ada", json!({ "kind": "document", "document": 1, "spans": [] }))
        .unwrap();
    let state = place.engine().state();
    let id = |name: &str| state.users.iter().find(|(_, other)| other == name).unwrap().0;
    let (ada, bob) = (id("ada"), id("bob"));
    let tokens = state.corpus.get(0).tokens();
    let known = |user| {
        let cells = state.view(0, user, 0..tokens);
        cells.iter().filter(|cell| cell.said.is_something()).count()
    };
    assert_eq!(
        (tokens, known(ada), known(bob)),
        (90, 90, 72),
        "two of ten sentences are shared"
    );
}

#[test]
fn agreement_and_adjudication() {
    let place = Place::new(
        &["Ada met Grace Bell in Paris.", "Alan."],
        &["NAME", "PLACE"],
        shared(),
    );
    place.add_user("bob");
    let document = |user: &str, spans: Value| {
        place
            .act(user, json!({ "kind": "document", "document": 1, "spans": spans }))
            .unwrap()
    };
    document(
        "ada",
        json!([
        { "start": 0, "end": 1, "type": "NAME" }, { "start": 2, "end": 4, "type": "NAME" },
        { "start": 5, "end": 6, "type": "PLACE" }]),
    );
    document(
        "bob",
        json!([
        { "start": 0, "end": 1, "type": "NAME" }, { "start": 2, "end": 3, "type": "NAME" },
        { "start": 5, "end": 6, "type": "PLACE" }]),
    );
    let report = agreement(&place);
    let pair = &report["pairs"][0];
    assert_eq!((&pair["documents"], &pair["tokens"]), (&json!(1), &json!(7)));
    // Two of three spans agree.
    assert!((pair["f1"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    let mut by_hand = fieldmark::eval::Agreement::default();
    let span = fieldmark::core::scheme::Span::new;
    by_hand
        .add(
            &[span(0, 1, "NAME"), span(2, 4, "NAME"), span(5, 6, "PLACE")],
            &[span(0, 1, "NAME"), span(2, 3, "NAME"), span(5, 6, "PLACE")],
            7,
        )
        .unwrap();
    let by_hand = by_hand.report();
    assert_eq!(pair["kappa"].as_f64(), Some(by_hand.micro_kappa));
    assert_eq!(pair["types"][0]["kappa"].as_f64(), Some(by_hand.types[0].kappa));
    assert_eq!(pair["types"][1]["f1"], 1.0);
    assert_eq!(report["documents"][0]["conflicts"], 1);
    assert_eq!(report["documents"][0]["adjudicated"], false);

    let view = serde_json::to_value(place.engine().adjudication("ada", 1).unwrap()).unwrap();
    let conflict = &view["conflicts"][0];
    assert_eq!(
        (&conflict["start"], &conflict["end"], &view["name"]),
        (&json!(2), &json!(4), &json!("d0"))
    );
    let values = conflict["values"].as_array().unwrap();
    let of = |user: &str| values.iter().filter(|value| value["user"] == user).count();
    assert_eq!(
        (of("ada"), of("bob")),
        (1, 2),
        "bob says that one token is outside"
    );
    assert_eq!(view["versions"].as_array().unwrap().len(), 2);

    place
        .act(
            "ada",
            json!({ "kind": "adjudicate", "document": 1,
            "assertions": [{ "start": 2, "end": 4, "type": "NAME" }] }),
        )
        .unwrap();
    let report = agreement(&place);
    assert_eq!(
        (
            &report["documents"][0]["conflicts"],
            &report["documents"][0]["adjudicated"]
        ),
        (&json!(0), &json!(true))
    );
    let view = serde_json::to_value(place.engine().adjudication("ada", 1).unwrap()).unwrap();
    assert_eq!(view["conflicts"], json!([]));
    let state = place.engine().state();
    assert_eq!(state.pool.known(3), fieldmark::core::Gold::Known(2));
    drop(state);
    assert_eq!(
        place.known("bob", 1)[2].0,
        "Grace Bell",
        "what is decided is what everybody sees"
    );
    place.engine().undo("ada", "u", true).unwrap();
    assert_eq!(agreement(&place)["documents"][0]["conflicts"], 1);
}

#[test]
fn corrections_of_what_documents_came_with_are_believed() {
    let mut document = Document::new("a", "Ada met Grace.");
    document
        .annotations
        .push(fieldmark::text::document::Annotation::new(4..7, "NAME"));
    let place = Place::with(vec![document], &[], everything(), ImportOptions::default());
    mark(&place, "ada", 1, 2, None);
    let state = place.engine().state();
    assert_eq!(state.pool.known(1), fieldmark::core::Gold::Known(0));
}
