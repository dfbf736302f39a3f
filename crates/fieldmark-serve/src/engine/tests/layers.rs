//! What several people, documents and decisions say together.

use super::*;
use crate::engine::wire::ChangeType;
use crate::engine::{ExportOptions, ListRequest};
use fieldmark::core::Gold;
use fieldmark::text::document::Annotation;
use fieldmark::text::formats::DocumentFormat;
use std::sync::mpsc;
use std::time::Duration;

const TEXT: &str = "Ada met Grace Bell in Paris today";

fn shared() -> Settings {
    Settings {
        shared: 1.0,
        ..everything()
    }
}

fn alone() -> Settings {
    Settings {
        shared: 0.0,
        ..everything()
    }
}

/// A document with a text and spans of bytes that it comes with.
fn imported(id: &str, text: &str, spans: &[(&str, &str)]) -> Document {
    let mut document = Document::new(id, text);
    for (words, kind) in spans {
        let start = text.find(words).unwrap();
        document
            .annotations
            .push(Annotation::new(start..start + words.len(), *kind));
    }
    document
}

fn mark(place: &Place, user: &str, start: usize, end: usize, kind: Option<&str>, borders: &str) {
    let assertions = json!([{ "start": start, "end": end, "type": kind, "borders": borders }]);
    let action = json!({ "kind": "assert", "document": 1, "assertions": assertions });
    place.act(user, action).unwrap();
}

fn decide(place: &Place, start: usize, end: usize, kind: Option<&str>, borders: &str) {
    let assertions = json!([{ "start": start, "end": end, "type": kind, "borders": borders }]);
    let action = json!({ "kind": "adjudicate", "document": 1, "assertions": assertions });
    place.act("ada", action).unwrap();
}

/// What training knows of the first tokens: labels, `?` for none, all of a choice.
fn labels(place: &Place, tokens: usize) -> Vec<String> {
    let state = place.engine().state();
    let name = |label: u32| state.pool.labels().name(label).to_owned();
    let one = |at: usize| match state.pool.known(at) {
        Gold::Unknown => "?".to_owned(),
        _ if !state.pool.is_labelled(at) => "?".to_owned(),
        Gold::Known(label) => name(label),
        Gold::Ambiguous(labels) => {
            let names: Vec<String> = labels.iter().map(|&label| name(label)).collect();
            names.join("|")
        }
    };
    (0..tokens).map(one).collect()
}

fn agreement(place: &Place) -> Value {
    serde_json::to_value(place.engine().agreement().unwrap()).unwrap()
}

fn named(words: &str, kind: &str) -> (String, Option<String>) {
    (words.to_owned(), Some(kind.to_owned()))
}

#[test]
fn a_decision_holds_for_the_whole_conflict() {
    let mut place = Place::new(&[TEXT], &["NAME"], shared());
    place.add_user("bob");
    place.add_user("eve");
    // A chain of spans: eve's has nothing to do with ada's, but belongs to the same conflict.
    mark(&place, "ada", 1, 3, Some("NAME"), "exact");
    mark(&place, "bob", 2, 5, Some("NAME"), "exact");
    mark(&place, "eve", 4, 6, Some("NAME"), "exact");
    let view = serde_json::to_value(place.engine().adjudication("ada", 1).unwrap()).unwrap();
    let conflicts = view["conflicts"].as_array().unwrap();
    assert_eq!(
        (conflicts.len(), &conflicts[0]["start"], &conflicts[0]["end"]),
        (1, &json!(1), &json!(6))
    );
    decide(&place, 1, 3, Some("NAME"), "exact");
    for _ in 0..2 {
        assert_eq!(
            labels(&place, 7),
            ["?", "B-NAME", "I-NAME", "?", "?", "?", "?"],
            "nothing of the other versions"
        );
        assert_eq!(agreement(&place)["documents"][0]["conflicts"], 0);
        for user in ["ada", "bob", "eve"] {
            assert_eq!(place.known(user, 1), [named("met Grace", "NAME")], "{user}");
        }
        place.reopen();
    }
    // What the decision left open can be answered.
    mark(&place, "bob", 5, 6, None, "exact");
    assert_eq!(labels(&place, 7)[3..], ["?", "?", "O", "?"]);
    assert_eq!(agreement(&place)["documents"][0]["conflicts"], 0);
    place.engine().undo("bob", "u1", true).unwrap();
    assert_eq!(labels(&place, 7)[3..], ["?", "?", "?", "?"]);
    place.engine().undo("ada", "u2", true).unwrap();
    assert_eq!(agreement(&place)["documents"][0]["conflicts"], 1);
}

#[test]
fn an_open_version_can_be_decided_for() {
    let place = Place::new(&[TEXT], &["NAME", "PLACE"], shared());
    place.add_user("bob");
    mark(&place, "ada", 2, 3, Some("NAME"), "open");
    mark(&place, "bob", 2, 5, Some("PLACE"), "exact");
    decide(&place, 2, 3, Some("NAME"), "open");
    assert_eq!(labels(&place, 5), ["?", "?", "B-NAME|I-NAME", "?", "?"]);
    decide(&place, 2, 5, Some("PLACE"), "exact");
    assert_eq!(
        labels(&place, 5)[2..],
        ["B-PLACE", "I-PLACE", "I-PLACE"],
        "a second thought"
    );
}

#[test]
fn other_borders_are_no_agreement() {
    for (ada, bob) in [
        ((2, 4), (2, 5)),
        ((2, 5), (2, 4)),
        ((3, 5), (2, 5)),
        ((2, 5), (3, 5)),
    ] {
        let place = Place::new(&[TEXT], &["NAME"], shared());
        place.add_user("bob");
        mark(&place, "ada", ada.0, ada.1, Some("NAME"), "exact");
        mark(&place, "bob", bob.0, bob.1, Some("NAME"), "exact");
        mark(&place, "ada", 0, 1, Some("NAME"), "exact");
        mark(&place, "bob", 0, 1, Some("NAME"), "open");
        mark(&place, "ada", 6, 7, None, "exact");
        mark(&place, "bob", 6, 7, None, "exact");
        let report = agreement(&place);
        assert_eq!(report["documents"][0]["conflicts"], 1, "{ada:?} {bob:?}");
        let pair = &report["pairs"][0];
        // The first word, the three of the conflict, and the last word.
        assert_eq!(pair["tokens"], 5, "{ada:?} {bob:?}");
        let span = fieldmark::core::scheme::Span::new;
        let mut by_hand = fieldmark::eval::Agreement::default();
        let [one, other] =
            [ada, bob].map(|(start, end)| [span(0, 1, "NAME"), span(start - 1, end - 1, "NAME")]);
        by_hand.add(&one, &other, 5).unwrap();
        let by_hand = by_hand.report();
        assert_eq!(pair["f1"], 0.5);
        assert_eq!(pair["kappa"].as_f64(), Some(by_hand.micro_kappa));
        assert!(by_hand.micro_kappa < 1.0);
    }
}

/// Tokens with open borders are the same as a span of the other, wherever that begins.
#[test]
fn open_borders_agree_with_exact_ones() {
    let place = Place::new(&[TEXT], &["NAME"], shared());
    place.add_user("bob");
    mark(&place, "ada", 2, 4, Some("NAME"), "exact");
    mark(&place, "ada", 4, 5, Some("NAME"), "exact");
    mark(&place, "bob", 3, 5, Some("NAME"), "open");
    let report = agreement(&place);
    assert_eq!(report["documents"][0]["conflicts"], 0);
    let pair = &report["pairs"][0];
    assert_eq!((&pair["tokens"], &pair["f1"]), (&json!(2), &json!(1.0)));
    // Where they differ in the type, only what both said counts.
    mark(&place, "bob", 3, 4, None, "exact");
    let pair = &agreement(&place)["pairs"][0];
    assert_eq!(pair["tokens"], 2);
    assert!((pair["f1"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn an_open_answer_does_not_cut_the_span_of_another() {
    let place = Place::new(&[TEXT], &["NAME"], alone());
    place.add_user("bob");
    mark(&place, "ada", 3, 4, Some("NAME"), "open");
    mark(&place, "bob", 2, 5, Some("NAME"), "exact");
    assert_eq!(labels(&place, 5), ["?", "?", "B-NAME", "I-NAME", "I-NAME"]);
    for user in ["ada", "bob"] {
        assert_eq!(place.known(user, 1), [named("Grace Bell in", "NAME")], "{user}");
    }
}

#[test]
fn an_answer_inside_an_imported_span_gives_that_up() {
    let document = imported("a", TEXT, &[("Grace Bell in", "NAME")]);
    let place = Place::with(vec![document], &[], alone(), ImportOptions::default());
    assert_eq!(labels(&place, 5), ["O", "O", "B-NAME", "I-NAME", "I-NAME"]);
    mark(&place, "ada", 3, 4, Some("NAME"), "open");
    assert_eq!(
        labels(&place, 5),
        ["O", "O", "B-NAME", "I-NAME", "I-NAME"],
        "it agrees"
    );
    mark(&place, "ada", 3, 4, None, "exact");
    assert_eq!(labels(&place, 6), ["O", "O", "?", "O", "?", "O"]);
    // What is left of it is asked.
    let asked: Vec<usize> = std::iter::from_fn(|| {
        let question = place.ask("ada")?;
        answer(&place, "ada", &question);
        Some(question.target.start)
    })
    .collect();
    assert_eq!(asked.len(), 2);
    assert!(asked.contains(&2) && asked.contains(&4), "{asked:?}");
}

#[test]
fn what_is_cleared_is_open_whatever_the_document_came_with() {
    let document = imported("a", TEXT, &[("Grace Bell", "NAME"), ("Paris", "PLACE")]);
    let mut place = Place::with(vec![document], &[], alone(), ImportOptions::default());
    let clear = json!({ "kind": "clear", "document": 1, "start": 2, "end": 4 });
    let answer = place.act("ada", clear).unwrap();
    assert!(
        answer.sentences[0]
            .known
            .iter()
            .all(|one| one.end <= 2 || 4 <= one.start)
    );
    for _ in 0..2 {
        assert_eq!(labels(&place, 6), ["O", "O", "?", "?", "O", "B-PLACE"]);
        assert!(!place.known("ada", 1).contains(&named("Grace Bell", "NAME")));
        place.reopen();
    }
    assert_eq!(place.ask("ada").unwrap().target.start / 2, 1, "it is asked");
    mark(&place, "ada", 2, 4, Some("PLACE"), "exact");
    assert_eq!(labels(&place, 4)[2..], ["B-PLACE", "I-PLACE"]);
    place.engine().undo("ada", "u1", true).unwrap();
    place.engine().undo("ada", "u2", true).unwrap();
    assert_eq!(labels(&place, 4)[2..], ["B-NAME", "I-NAME"]);
}

#[test]
fn what_one_leaves_out_is_asked_of_others() {
    let words = |question: &Question| (question.document.id, question.target.start);
    for warm in [false, true] {
        let documents = plain(&sentences(12, 3));
        let place = Place::with(documents, &["NAME"], alone(), ImportOptions::default());
        place.add_user("bob");
        if warm {
            for _ in 0..20 {
                let question = place.ask("bob").unwrap();
                answer(&place, "bob", &question);
            }
            place.engine().train_now();
        }
        let open = place.engine().overview("ada").unwrap();
        let open = open.tokens - open.progress.labelled_tokens;
        // Ada skips questions, then documents, and is finished with the rest.
        for _ in 0..5 {
            let question = place.ask("ada").unwrap();
            let skip = json!({ "kind": "skip", "question": question.id });
            let next = place.act("ada", skip).unwrap().next.unwrap();
            assert_ne!(words(&next), words(&question));
        }
        for document in 1..=12 {
            let kind = ["skip", "done"][document as usize % 2];
            place
                .act("ada", json!({ "kind": kind, "document": document }))
                .unwrap();
            assert!(
                place
                    .ask("ada")
                    .is_none_or(|question| question.document.id > document)
            );
        }
        assert_eq!(place.ask("ada"), None);
        let mut asked = std::collections::HashSet::new();
        while let Some(question) = place.ask("bob") {
            assert!(asked.insert(words(&question)));
            answer(&place, "bob", &question);
        }
        assert_eq!(asked.len(), open, "everything is asked of bob, warm: {warm}");
    }
}

#[test]
fn everybody_has_a_state_of_his_own_in_shared_documents() {
    let place = Place::new(&["Ada met.", "Grace saw."], &["NAME"], shared());
    place.add_user("bob");
    place
        .act("ada", json!({ "kind": "document", "document": 1 }))
        .unwrap();
    place
        .act("ada", json!({ "kind": "done", "document": 2 }))
        .unwrap();
    let list = |user: &str| {
        let list = place.engine().documents(user, &ListRequest::default()).unwrap();
        let list = serde_json::to_value(list).unwrap();
        let rows = list["documents"].as_array().unwrap().iter();
        rows.map(|row| {
            (
                row["status"].as_str().unwrap().to_owned(),
                row["labelled"].clone(),
            )
        })
        .collect::<Vec<_>>()
    };
    let row = |status: &str, labelled: usize| (status.to_owned(), json!(labelled));
    assert_eq!(list("ada"), [row("done", 3), row("done", 0)]);
    assert_eq!(list("bob"), [row("new", 0), row("new", 0)]);
    assert_eq!(place.ask("bob").unwrap().document.id, 2);
}

fn change(request: &str, removed: bool, force: bool) -> ChangeType {
    ChangeType {
        request: request.to_owned(),
        name: None,
        key: None,
        colour: None,
        removed: Some(removed),
        force,
    }
}

#[test]
fn labels_of_a_removed_type_come_back() {
    let document = imported("a", TEXT, &[("Grace Bell", "NAME"), ("Paris", "PLACE")]);
    let mut place = Place::with(vec![document], &[], alone(), ImportOptions::default());
    let before = labels(&place, 7);
    let refused = place
        .engine()
        .change_type("ada", 1, &change("r1", true, false))
        .unwrap_err();
    assert!(matches!(refused, Error::Conflict(_)), "{refused}");
    assert!(
        refused.to_string().contains("1 span is marked as NAME"),
        "{refused}"
    );
    assert_eq!(labels(&place, 7), before);
    place
        .engine()
        .change_type("ada", 1, &change("r2", true, true))
        .unwrap();
    assert_eq!(labels(&place, 7), ["O", "O", "?", "?", "O", "B-PLACE", "O"]);
    let exported = place
        .engine()
        .export(DocumentFormat::Columns, &ExportOptions::default())
        .unwrap();
    assert!(String::from_utf8_lossy(&exported.bytes).contains("Grace\t?"));
    assert!(
        exported
            .warning
            .unwrap()
            .contains("1 span of removed types is left out")
    );
    // What lay under it is not hidden by it, and can be answered.
    assert!(place.ask("ada").is_some());
    // Its key is taken in the meantime.
    place.engine().add_type("ada", &new_type("OTHER")).unwrap();
    place.reopen();
    let again = NewType {
        request: "r3".into(),
        name: "NAME".into(),
    };
    let types = place.engine().add_type("ada", &again).unwrap().types;
    let keys: std::collections::HashSet<&str> = types.iter().map(|one| one.key.as_str()).collect();
    assert_eq!((types.len(), keys.len()), (3, 3));
    assert_eq!(labels(&place, 7), before);
    place.reopen();
    assert_eq!(labels(&place, 7), before);
}

#[test]
fn a_removed_type_comes_back_with_documents_that_have_it() {
    let document = imported("a", TEXT, &[("Grace Bell", "NAME")]);
    let mut place = Place::with(vec![document], &[], alone(), ImportOptions::default());
    for round in 0..2 {
        let request = format!("r{round}");
        place
            .engine()
            .change_type("ada", 1, &change(&request, true, true))
            .unwrap();
        let file = format!("Tony{round} B-NAME\nslept O\n");
        let added = place.engine().add_file("b.iob", None, file.into_bytes()).unwrap();
        assert_eq!((added.added, added.labelled), (1, 1));
        assert_eq!(labels(&place, 9)[2..4], ["B-NAME", "I-NAME"]);
        assert_eq!(labels(&place, 9)[7], "B-NAME");
        std::thread::sleep(Duration::from_millis(2));
    }
    place.reopen();
    assert_eq!(labels(&place, 9)[7], "B-NAME");
}

/// The last column of an export, word by word.
fn column(place: &Place, options: &ExportOptions) -> (Vec<String>, Option<String>) {
    let exported = place.engine().export(DocumentFormat::Columns, options).unwrap();
    let text = String::from_utf8(exported.bytes).unwrap();
    let rows = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("-DOCSTART-"));
    let last = rows.map(|row| row.rsplit('\t').next().unwrap().to_owned());
    (last.collect(), exported.warning)
}

#[test]
fn unknown_tokens_are_exported_as_unknown() {
    let place = Place::new(&[TEXT, "Alan slept"], &["NAME"], alone());
    mark(&place, "ada", 2, 4, Some("NAME"), "exact");
    mark(&place, "ada", 0, 1, None, "exact");
    mark(&place, "ada", 5, 7, Some("NAME"), "open");
    let gold = ExportOptions::default();
    let (rows, warning) = column(&place, &gold);
    let open = "B-NAME|I-NAME";
    assert_eq!(rows, ["O", "?", "B-NAME", "I-NAME", "?", open, open, "?", "?"]);
    assert_eq!(warning, None, "columns lose nothing");
    let exported = place.engine().export(DocumentFormat::Jsonl, &gold).unwrap();
    let warning = exported.warning.unwrap();
    assert!(warning.starts_with("4 tokens are written like"), "{warning}");
    assert!(warning.contains("2 tokens are in spans without"), "{warning}");
    assert!(warning.is_ascii());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let notices = place
        .engine()
        .export_to(DocumentFormat::Brat, &path, &gold)
        .unwrap();
    assert!(notices.all().iter().any(|one| one.message.contains("4 tokens")));
    // Of one person; and what is known in every token loses nothing.
    let of = |user: &str| ExportOptions {
        user: Some(user.to_owned()),
        ..ExportOptions::default()
    };
    assert_eq!(column(&place, &of("ada")).0, rows);
    let labelled = ExportOptions {
        labelled_only: true,
        ..ExportOptions::default()
    };
    assert_eq!(column(&place, &labelled).0.len(), 7);
    for (document, spans) in [
        (1, json!([{ "start": 2, "end": 4, "type": "NAME" }])),
        (2, json!([])),
    ] {
        let whole = json!({ "kind": "document", "document": document, "spans": spans });
        place.act("ada", whole).unwrap();
    }
    for format in [DocumentFormat::Jsonl, DocumentFormat::Columns] {
        assert_eq!(place.engine().export(format, &gold).unwrap().warning, None);
    }
    let known = ["O", "O", "B-NAME", "I-NAME", "O", "O", "O", "O", "O"];
    assert_eq!(column(&place, &gold).0, known);
}

#[test]
fn an_export_can_be_filled_by_the_model() {
    let place = Place::with(sentences(30, 4), &[], alone(), ImportOptions::default());
    place
        .engine()
        .add_file("new.txt", None, b"then Ada met Grace".to_vec())
        .unwrap();
    let open = json!([{ "start": 3, "end": 4, "type": "NAME", "borders": "open" }]);
    place
        .act(
            "ada",
            json!({ "kind": "assert", "document": 31, "assertions": open }),
        )
        .unwrap();
    let fill = ExportOptions {
        fill: true,
        ..ExportOptions::default()
    };
    let (rows, _) = column(&place, &ExportOptions::default());
    assert_eq!(rows[240..], ["?", "?", "?", "B-NAME|I-NAME"]);
    let (rows, warning) = column(&place, &fill);
    assert_eq!(rows[240..243], ["?", "?", "?"], "there is no model yet");
    let told = "nothing is filled, because there is no model yet";
    assert_eq!(warning.as_deref(), Some(told));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let notices = place
        .engine()
        .export_to(DocumentFormat::Columns, &path, &fill)
        .unwrap();
    assert!(notices.all().iter().any(|one| one.message.contains(told)));
    place.engine().train_now();
    let (rows, warning) = column(&place, &fill);
    assert_eq!(rows[240..], ["O", "B-NAME", "O", "B-NAME"]);
    assert_eq!(warning, None);
    let exported = place.engine().export(DocumentFormat::Jsonl, &fill).unwrap();
    assert_eq!(exported.warning, None);
    let text = String::from_utf8(exported.bytes).unwrap();
    let last: Document = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let scored = last.annotations.iter().map(|one| one.score.is_some());
    assert_eq!(scored.collect::<Vec<_>>(), [true, true]);
}

#[test]
fn open_conflicts_are_told_at_the_export() {
    let place = Place::new(&[TEXT], &["NAME"], shared());
    place.add_user("bob");
    for (user, end) in [("ada", 3), ("bob", 4)] {
        let whole = json!({ "kind": "document", "document": 1, "spans": [{ "start": 2, "end": end, "type": "NAME" }] });
        place.act(user, whole).unwrap();
    }
    let warning = || column(&place, &ExportOptions::default()).1;
    assert!(warning().unwrap().starts_with("1 conflict is not decided"));
    decide(&place, 2, 4, Some("NAME"), "exact");
    assert_eq!(warning(), None);
}

/// Nobody waits for a long document: it is estimated while somebody else holds everything that an answer needs.
#[test]
fn a_long_document_is_estimated_without_the_lock() {
    let text: String = sentences(400, 8)
        .iter()
        .map(|document| format!("{}. ", document.text))
        .collect();
    let place = Place::with(
        vec![Document::new("long", text), Document::new("b", "Ada met")],
        &["NAME"],
        alone(),
        ImportOptions::default(),
    );
    mark(&place, "ada", 0, 2, None, "exact");
    let engine = place.engine();
    let drawn = {
        let state = engine.state();
        let ada = state.users.iter().find(|(_, name)| name == "ada").unwrap().0;
        state.draw_document(0, ada)
    };
    let held = engine.state();
    let (sender, receiver) = mpsc::channel();
    let estimated = std::thread::spawn(move || sender.send(drawn.finish().unwrap()).is_ok());
    let view = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
    drop(held);
    assert!(estimated.join().unwrap());
    let view = serde_json::to_value(view).unwrap();
    assert_eq!(
        view,
        serde_json::to_value(engine.document("ada", 1).unwrap()).unwrap()
    );
    assert!(view["tokens"].as_array().unwrap().len() > 3200);
    assert_eq!(view["known"][0]["end"], 2);
}

/// Many sentences are ranked after the lock was given back, as if they had been ranked at once.
#[test]
fn many_sentences_are_ranked_like_few() {
    let text: String = sentences(80, 9)
        .iter()
        .map(|document| format!("We {}.\n\n", document.text))
        .collect();
    let mut documents = sentences(20, 1);
    documents[0].annotations.clear();
    documents.push(Document::new("long", text));
    let options = ImportOptions {
        partial: true,
        ..ImportOptions::default()
    };
    let place = Place::with(documents, &["NAME"], alone(), options);
    place.engine().train_now();
    assert!(place.engine().state().warm);
    let keys = || {
        let state = place.engine().state();
        state
            .ranking
            .keys()
            .iter()
            .map(|key| key.to_bits())
            .collect::<Vec<_>>()
    };
    let before = keys();
    place
        .act("ada", json!({ "kind": "document", "document": 21 }))
        .unwrap();
    let long = place.engine().state().corpus.get(20).first_position;
    assert!(keys()[long..].iter().all(|&key| f64::from_bits(key).is_nan()));
    assert!(place.ask("ada").unwrap().document.id < 21);
    place.engine().undo("ada", "u", true).unwrap();
    assert_eq!(keys(), before);
    assert!(place.engine().state().corpus.get(20).sentences() > 64);
}
