//! Training in the background, scores and doubts.

use super::*;
use crate::engine::question::Kind;

#[test]
fn answers_make_a_model_and_a_curve() {
    let settings = Settings {
        held_out: 0.3,
        batch: 10,
        ..Settings::default()
    };
    let place = Place::with(
        plain(&sentences(60, 7)),
        &["NAME"],
        settings,
        ImportOptions::default(),
    );
    assert!(!place.engine().state().held_out.is_empty());
    let mut tests = 0;
    for number in 0..120 {
        let question = place.ask("ada").unwrap();
        tests += usize::from(question.kind == "sentence");
        answer(&place, "ada", &question);
        if number % 10 == 9 {
            place.engine().train_now();
        }
    }
    assert_eq!(tests, 12, "every tenth question measures");
    let report = serde_json::to_value(place.engine().progress().unwrap()).unwrap();
    let curve = report["curve"].as_array().unwrap();
    assert_eq!(curve.len(), 12);
    let f1 = |point: &Value| point["token_f1"].as_f64().unwrap();
    assert!(f1(curve.last().unwrap()) > 0.95, "{curve:?}");
    assert!(
        curve
            .iter()
            .all(|point| f1(point) <= f1(curve.last().unwrap()) + 0.1)
    );
    assert_eq!(report["held_out"]["sentences"], 12);
    assert_eq!(report["next"]["answers"], 100);
    assert_eq!(report["types"][0]["name"], "NAME");
    assert!(report["types"][0]["f1"].as_f64().unwrap() > 0.95);
    assert_eq!(report["weak"], json!([]));
    let overview = place.engine().overview("ada").unwrap();
    assert_eq!((overview.model.version, overview.model.training), (12, false));
    assert!(overview.progress.seconds_per_answer.unwrap() >= 1.0);
}

#[test]
fn the_curve_outlives_the_program() {
    let settings = Settings {
        held_out: 0.3,
        ..Settings::default()
    };
    let mut place = Place::with(sentences(40, 8), &[], settings, ImportOptions::default());
    place.engine().train_now();
    let before = serde_json::to_value(place.engine().progress().unwrap()).unwrap()["curve"].clone();
    assert_eq!(before.as_array().unwrap().len(), 1);
    place.reopen();
    let after = serde_json::to_value(place.engine().progress().unwrap()).unwrap()["curve"].clone();
    assert_eq!(before, after);
}

/// A start of the program trains a model of the answers that are there: that is no progress.
#[test]
fn a_start_without_new_answers_adds_no_point() {
    let settings = Settings {
        held_out: 0.3,
        ..Settings::default()
    };
    let mut place = Place::with(sentences(40, 8), &[], settings, ImportOptions::default());
    let points = |place: &Place| {
        let report = serde_json::to_value(place.engine().progress().unwrap()).unwrap();
        report["curve"].as_array().unwrap().len()
    };
    place.engine().train_now();
    for _ in 0..3 {
        place.reopen();
        place.engine().train_now();
        assert_eq!(points(&place), 1);
        assert_eq!(
            place.engine().overview("ada").unwrap().model.version,
            1,
            "there is a model"
        );
    }
    let assertion = json!([{ "start": 0, "end": 1, "type": "NAME" }]);
    place
        .act(
            "ada",
            json!({ "kind": "assert", "document": 1, "assertions": assertion }),
        )
        .unwrap();
    // The program ends before it has learned: the point comes after the next start.
    place.reopen();
    place.engine().train_now();
    assert_eq!(points(&place), 2);
    // Points of older programs have no fingerprint.
    {
        let store = Project::database_beside(&place.path()).unwrap();
        let json: Value = serde_json::from_str(store.points().unwrap().last().unwrap()).unwrap();
        let mut old = json.clone();
        for key in ["learned", "given", "knowledge", "part"] {
            old.as_object_mut().unwrap().remove(key).unwrap();
        }
        let mut store = store;
        let count = |key: &str| json[key].as_u64().unwrap() as usize;
        store
            .add_point(count("labels"), count("answers"), &old.to_string())
            .unwrap();
    }
    place.reopen();
    place.engine().train_now();
    assert_eq!(points(&place), 3);
}

/// What the next answers may bring is about answers of people, also where documents came with labels.
#[test]
fn imported_labels_are_not_counted_as_answers() {
    let settings = Settings {
        held_out: 0.3,
        ..Settings::default()
    };
    let place = Place::with(sentences(60, 3), &[], settings, ImportOptions::default());
    let text: Vec<String> = plain(&sentences(30, 4)).into_iter().map(|one| one.text).collect();
    for (number, text) in text.iter().enumerate() {
        let name = format!("n{number}.txt");
        place
            .engine()
            .add_file(&name, None, text.clone().into_bytes())
            .unwrap();
    }
    place.engine().train_now();
    let mut tests = 0;
    for number in 0..60 {
        let question = place.ask("ada").unwrap();
        tests += usize::from(question.kind == "sentence");
        answer(&place, "ada", &question);
        if number % 10 == 9 {
            place.engine().train_now();
        }
    }
    let engine = place.engine();
    let curve = engine.learned().curve.clone();
    let (first, last) = (&curve[0], curve.last().unwrap());
    assert_eq!((first.answers, first.given), (0, Some(0)));
    assert_eq!(last.answers, 60);
    // Each answer about a token is one label to learn from; sentences that are held out are none.
    assert!(tests > 0);
    assert_eq!(last.given, Some(60 - tests));
    assert_eq!(last.learned, first.learned.map(|learned| learned + 60 - tests));
    assert!(
        last.labels > last.learned.unwrap(),
        "what is held out is no part of it"
    );
    let report = serde_json::to_value(engine.progress().unwrap()).unwrap();
    assert_eq!(report["next"]["answers"], 100);
    // Whoever corrects a label that a document came with gives an answer, but no label more.
    let document = {
        let state = engine.state();
        state.corpus.iter().find(|text| !text.held_out).unwrap().id
    };
    let correction = json!([{ "start": 0, "end": 1, "type": "NAME" }]);
    place
        .act(
            "ada",
            json!({ "kind": "assert", "document": document, "assertions": correction }),
        )
        .unwrap();
    engine.train_now();
    let corrected = engine.learned().curve.last().unwrap().clone();
    assert_eq!((corrected.answers, corrected.given), (61, last.given));
}

/// A sentence that is held out counts for the score also where somebody has only said which type a word has.
#[test]
fn open_borders_do_not_take_a_sentence_out_of_the_score() {
    let settings = Settings {
        held_out: 0.3,
        ..Settings::default()
    };
    let place = Place::with(sentences(40, 8), &[], settings, ImportOptions::default());
    let scored = |place: &Place| {
        place.engine().train_now();
        let curve = &place.engine().learned().curve;
        let last = curve.last().unwrap();
        let names = last.types.iter().find(|one| one.name == "NAME").unwrap();
        (last.sentences, names.gold)
    };
    let before = scored(&place);
    let (document, token) = {
        let state = place.engine().state();
        // A name that is not the first word, where its label would follow.
        let found = state.held_out.iter().find_map(|&sequence| {
            let (number, index) = state.corpus.place(sequence);
            let text = state.corpus.get(number);
            let mut tokens = text.sentence(index).skip(1);
            let name = tokens.find(|&token| {
                truth(text.words(token..token + 1)).is_some() && truth(text.words(token - 1..token)).is_some()
            });
            name.map(|token| (text.id, token))
        });
        found.unwrap()
    };
    let open = json!([{ "start": token, "end": token + 1, "type": "NAME", "borders": "open" }]);
    place
        .act(
            "ada",
            json!({ "kind": "assert", "document": document, "assertions": open }),
        )
        .unwrap();
    assert_eq!(scored(&place), before, "the type is still known");
    // A token that nobody has said anything about is another matter.
    place
        .act("ada", json!({ "kind": "assert", "document": document, "assertions": [{ "start": token, "end": token + 1 }] }))
        .unwrap();
    assert_eq!(scored(&place), (before.0, before.1 - 1));
}

/// What is answered while a model is trained is not asked by it.
#[test]
fn a_new_model_respects_what_came_in_the_meantime() {
    let place = Place::with(
        plain(&sentences(20, 9)),
        &["NAME"],
        everything(),
        ImportOptions::default(),
    );
    for _ in 0..20 {
        let question = place.ask("ada").unwrap();
        answer(&place, "ada", &question);
    }
    let engine = place.engine();
    let job = engine.job(&mut engine.state());
    assert!(engine.overview("ada").unwrap().model.training);
    // Whole documents become known while the model learns.
    for document in 1..=10 {
        place
            .act("ada", json!({ "kind": "document", "document": document }))
            .unwrap();
    }
    engine.train(&super::super::train::Threads::new(), job);
    let mut state = engine.state();
    assert!(state.warm);
    state.asked.clear();
    let user = state.users.iter().find(|(_, name)| name == "ada").unwrap().0;
    while let Some(asked) = state.ask(user, None) {
        assert!(!state.pool.is_labelled(asked.position), "{asked:?}");
        assert_eq!(asked.kind, Kind::Token);
        let (number, _) = state.corpus.place(asked.sequence);
        assert!(state.corpus.get(number).id > 10);
        state.skipped.insert((user, asked.position));
    }
}

#[test]
fn a_model_for_labels_that_are_gone_is_thrown_away() {
    let place = Place::with(
        plain(&sentences(20, 10)),
        &["NAME", "X"],
        everything(),
        ImportOptions::default(),
    );
    for _ in 0..10 {
        let question = place.ask("ada").unwrap();
        answer(&place, "ada", &question);
    }
    let engine = place.engine();
    let job = engine.job(&mut engine.state());
    let change = crate::engine::wire::ChangeType {
        request: "gone".into(),
        name: None,
        key: None,
        colour: None,
        removed: Some(true),
        force: true,
    };
    engine.change_type("ada", 2, &change).unwrap();
    engine.train(&super::super::train::Threads::new(), job);
    assert_eq!(engine.overview("ada").unwrap().model.version, 0);
    engine.train_now();
    assert_eq!(engine.overview("ada").unwrap().model.version, 1);
    assert_eq!(engine.state().model.structure().labels(), 3);
}

#[test]
fn training_goes_on_in_the_background() {
    let settings = Settings {
        batch: 5,
        ..everything()
    };
    let place = Place::with(
        plain(&sentences(20, 11)),
        &["NAME"],
        settings,
        ImportOptions::default(),
    );
    let trainer = place.engine().start().unwrap();
    let mut news = place.engine().news();
    for _ in 0..5 {
        let question = place.ask("ada").unwrap();
        answer(&place, "ada", &question);
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while place.engine().overview("ada").unwrap().model.version == 0 {
        assert!(std::time::Instant::now() < deadline, "no model came");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(news.has_changed().unwrap());
    assert!(news.borrow_and_update().progress.answers >= 5);
    drop(trainer);
}

#[test]
fn wrong_labels_are_doubted() {
    let mut documents = sentences(60, 12);
    // One name is overlooked, and a word is taken for a name.
    let missing = documents
        .iter()
        .position(|document| document.annotations.len() > 1)
        .unwrap();
    let missed = documents[missing].annotations.remove(1).range();
    let wrong = missing + 1;
    let word = documents[wrong]
        .text
        .find(" the ")
        .or(documents[wrong].text.find(' '))
        .unwrap()
        + 1;
    let end = word + documents[wrong].text[word..].find(' ').unwrap();
    let is_name = documents[wrong].text[word..].starts_with(char::is_uppercase);
    if !is_name {
        documents[wrong]
            .annotations
            .push(fieldmark::text::document::Annotation::new(word..end, "NAME"));
    }
    let place = Place::with(documents.clone(), &[], everything(), ImportOptions::default());
    let doubts = |place: &Place| serde_json::to_value(place.engine().doubts("ada").unwrap()).unwrap();
    assert_eq!(doubts(&place)["state"], "none");
    place.engine().find_doubts().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while doubts(&place)["state"] != "ready" {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let report = doubts(&place);
    let all = report["doubts"].as_array().unwrap();
    let of = |number: usize| {
        all.iter()
            .find(|one| one["document"]["id"] == json!(number + 1))
            .cloned()
    };
    let overlooked = of(missing).expect("the name that was overlooked");
    assert_eq!(overlooked["label"]["type"], Value::Null);
    assert_eq!(overlooked["suggestion"]["type"], "NAME");
    let state = place.engine().state();
    let text = state.corpus.get(missing);
    let token = overlooked["start"].as_u64().unwrap() as usize;
    assert_eq!(text.bytes(token), missed);
    drop(state);
    if !is_name {
        let taken = of(wrong).expect("the word that is no name");
        assert_eq!(
            (&taken["label"]["type"], &taken["suggestion"]["type"]),
            (&json!("NAME"), &Value::Null)
        );
    }
    assert!(all.len() <= 4, "hardly anything else: {}", all.len());
    // Who looks at it again and keeps it, is not asked again.
    place
        .act(
            "ada",
            json!({ "kind": "assert", "document": missing + 1, "review": true,
            "assertions": [{ "start": token, "end": token + 1 }] }),
        )
        .unwrap();
    assert_eq!(doubts(&place)["total"].as_u64().unwrap() as usize, all.len() - 1);
}

/// Waits until a search for doubts has ended.
fn searched(place: &Place) -> Value {
    place.engine().find_doubts().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let report = serde_json::to_value(place.engine().doubts("ada").unwrap()).unwrap();
        if report["state"] != "running" {
            return report;
        }
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Other types and other documents make a search worthless, which is not the same as having found nothing.
#[test]
fn doubts_of_other_types_or_documents_are_out_of_date() {
    let mut documents = sentences(40, 12);
    let missing = documents
        .iter()
        .position(|one| one.annotations.len() > 1)
        .unwrap();
    documents[missing].annotations.remove(1);
    let place = Place::with(documents, &[], everything(), ImportOptions::default());
    let doubts = || serde_json::to_value(place.engine().doubts("ada").unwrap()).unwrap();
    let listed = || {
        let list = place
            .engine()
            .documents("ada", &serde_json::from_value(json!({})).unwrap());
        let rows = serde_json::to_value(list.unwrap()).unwrap()["documents"].clone();
        let rows = rows.as_array().unwrap().clone();
        rows.iter().map(|row| row["doubt"].as_u64().unwrap()).sum::<u64>()
    };
    let outdated = || {
        let report = doubts();
        assert_eq!(
            (&report["state"], &report["total"]),
            (&json!("outdated"), &json!(0))
        );
        let problem = report["problem"].as_str().unwrap();
        assert!(problem.contains("look again"), "{problem}");
    };
    let first = searched(&place);
    assert_eq!(first["state"], "ready");
    assert!(first["total"].as_u64().unwrap() > 0 && listed() > 0);
    let rename = json!({ "request": "rename", "name": "PERSON" });
    let rename = serde_json::from_value(rename).unwrap();
    place.engine().change_type("ada", 1, &rename).unwrap();
    assert_eq!(listed(), 0);
    outdated();
    outdated();
    let second = searched(&place);
    assert_eq!(
        (&second["state"], &second["total"]),
        (&json!("ready"), &first["total"])
    );
    let file = b"Ada met Grace".to_vec();
    place.engine().add_file("new.txt", None, file).unwrap();
    outdated();
}

/// The time per answer is that of answers that still hold.
#[test]
fn times_of_undone_answers_do_not_count() {
    let mut place = Place::with(
        plain(&sentences(5, 3)),
        &["NAME"],
        everything(),
        ImportOptions::default(),
    );
    for seconds in [2.0, 4.0] {
        let question = place.ask("ada").unwrap();
        let token = question.target.start;
        let action = json!({
            "kind": "assert", "document": question.document.id, "question": question.id, "seconds": seconds,
            "assertions": [{ "start": token, "end": token + 1, "type": "NAME" }],
        });
        place.act("ada", action).unwrap();
    }
    let times = |place: &Place| {
        let report = serde_json::to_value(place.engine().progress().unwrap()).unwrap();
        let mean = place
            .engine()
            .overview("ada")
            .unwrap()
            .progress
            .seconds_per_answer;
        (mean, report["seconds"].as_array().unwrap().len())
    };
    assert_eq!(times(&place).0, Some(3.0));
    for (request, back, mean) in [
        ("1", true, Some(2.0)),
        ("2", true, None),
        ("3", false, Some(2.0)),
        ("4", true, None),
    ] {
        place.engine().undo("ada", request, back).unwrap();
        assert_eq!(times(&place), (mean, usize::from(mean.is_some())), "{request}");
    }
    place.reopen();
    assert_eq!(times(&place), (None, 0));
}
