//! `fieldmark annotate`: projects, people, export, and the server as a program.

mod common;
use common::Place;
#[cfg(unix)]
use common::serving::Serving;
use serde_json::{Value, json};

fn place() -> Place {
    let place = Place::new();
    place.write("notes.txt", "Ada met Grace in Paris. Alan wrote.\n");
    place.write(
        "train.iob",
        "Ada\tB-PER\nmet\tO\nGrace\tB-PER\n\nAlan\tB-PER\nsaw\tO\nParis\tB-LOC\n",
    );
    place
}

#[test]
fn a_project_is_made_filled_and_taken_away() {
    let place = place();
    place.run("annotate p train.iob --no-page");
    place.run("annotate p train.iob notes.txt --type DATE --no-page");
    place.run("annotate p --export columns out.iob");
    let columns = place.read("out.iob");
    for row in ["Ada\tB-PER", "Paris\tB-LOC", "wrote\t?"] {
        assert!(columns.contains(row), "{row}: {columns}");
    }
    assert_eq!(
        columns.matches("Alan").count(),
        2,
        "a document is added once: {columns}"
    );
    place.run("annotate p --export brat brat");
    assert!(place.path("brat").is_dir());
    place.run("annotate p --export-model m.fmk");
    let marked = place.run("tag m.fmk notes.txt");
    assert!(marked.contains("PER"), "{marked}");
    place.run("annotate p --export jsonl filled.jsonl --fill");
    assert!(place.read("filled.jsonl").contains("\"score\":0."));
    let link = place.run("annotate p --add-user ada");
    assert!(link.starts_with("http://127.0.0.1:8787/?token="), "{link}");
    assert_ne!(
        place.run("annotate p --add-user ada"),
        link,
        "each link has a token of its own"
    );
}

/// Whatever else is to be done instead of the page, is done.
#[test]
fn without_a_page_there_is_still_an_export() {
    let place = place();
    let said = |arguments: &str| common::errors(&place.command(arguments).done().success());
    let told = said("annotate p train.iob --no-page --export columns out.iob");
    assert!(told.contains("wrote out.iob"), "{told}");
    assert!(place.read("out.iob").contains("Paris\tB-LOC"));
    let told = said("annotate p --no-page --export-model m.fmk");
    assert!(
        told.contains("wrote m.fmk") && place.path("m.fmk").is_file(),
        "{told}"
    );
    let link = place.run("annotate p --add-user ada --export jsonl out.jsonl");
    assert!(link.contains("?token="), "{link}");
    assert!(place.read("out.jsonl").contains("LOC"));
}

#[test]
fn settings_are_changed_and_kept() {
    let place = place();
    place.write("names.txt", "Ada\n");
    place.run("annotate p notes.txt --type NAME --order 2 --no-page");
    let said = |arguments: &str| common::errors(&place.command(arguments).done().success());
    let told = said("annotate p --held-out 0.5 --strategy MVM --c2 0.5 --order 1 --unit sentence --no-page");
    for change in [
        "held out: 0.1 → 0.5",
        "strategy: MTM → MVM",
        "c2: 0.1 → 0.5",
        "order: 2 → 1",
        "questions: one token → one sentence",
    ] {
        assert!(told.contains(change), "{change}: {told}");
    }
    assert!(said("annotate p --held-out 0.5 --no-page").contains("as they were"));
    let told = said("annotate p --pattern YEAR=[0-9]+ --dictionary NAME=names.txt --no-page");
    assert!(
        told.contains("patterns: YEAR") && told.contains("dictionaries: NAME"),
        "{told}"
    );
    let told = said("annotate p --pattern YEAR= --dictionary NAME= --no-page");
    assert!(
        told.contains("patterns: none") && told.contains("dictionaries: none"),
        "{told}"
    );
}

#[test]
fn mistakes_are_sentences_and_leave_nothing_behind() {
    let place = place();
    place.write(
        "bad.toml",
        "[[features]]\nkind = 'word'\n[labels]\ncolumn = 'pos'\n",
    );
    place.write(
        "cut.toml",
        "[[features]]\nkind = 'word'\n[text]\ntokenizer = 'whitespace'\n",
    );
    place.run("annotate p notes.txt --type X --no-page");
    for (arguments, expected) in [
        ("annotate q missing.txt", "missing.txt: cannot read"),
        ("annotate q notes.txt --held-out 2 --no-page", "from 0 to 0.9"),
        ("annotate q notes.txt --held-out 0.95 --no-page", "from 0 to 0.9"),
        ("annotate q notes.txt --shared 2 --no-page", "from 0 to 1"),
        ("annotate q notes.txt --batch 0 --no-page", "at least 1"),
        (
            "annotate q notes.txt --strategy LC --no-page",
            "expected MTP, MTE, MTM, MVP, MVPE, MVM, ME, MED or RAND",
        ),
        (
            "annotate q notes.txt --strategy best --no-page",
            "--strategy is best, expected MTP, MTE, MTM, MVP, MVPE, MVM, ME, MED or RAND",
        ),
        (
            "annotate q notes.txt --config bad.toml --no-page",
            "labels.column",
        ),
        (
            "annotate q notes.txt --types missing --no-page",
            "missing: cannot read the types",
        ),
        (
            "annotate q notes.txt --dictionary X=missing --no-page",
            "missing: cannot read the names",
        ),
        (
            "annotate q notes.txt --dictionary missing --no-page",
            "DRUG=drugs.txt",
        ),
        (
            "annotate q notes.txt --pattern X=( --no-page",
            "not a regular expression",
        ),
        ("annotate q --add-user ada", "no project here"),
        ("annotate notes.txt", "this is a file"),
        ("annotate p --held-out 2 --no-page", "from 0 to 0.9"),
        (
            "annotate p --config cut.toml --no-page",
            "every answer is about the tokens",
        ),
        ("annotate p --order 9 --no-page", "expected 0 to 3"),
        ("annotate q notes.txt --c2=-1 --no-page", "from 0 up"),
        (
            "annotate q notes.txt --unit word --no-page",
            "a token or a sentence",
        ),
        ("annotate q notes.txt --pattern X= --no-page", "this one is new"),
        ("annotate p --add-user import", "choose another"),
        ("annotate q --remove-user ada", "no project here"),
        ("annotate p --remove-user ada", "nobody named \"ada\""),
        ("annotate p --remove-user import", "nobody named \"import\""),
        ("annotate p --export nothing out", "no format \"nothing\""),
        ("annotate p --export pdf out", "cannot be exported as pdf"),
        ("annotate p --export-model m.fmk", "nothing is labelled"),
        ("annotate p --export jsonl missing/out.jsonl", "cannot write"),
        ("annotate p --port 70000", "70000"),
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    assert!(!place.path("q").exists(), "what failed left no project behind");
}

/// An export replaces neither what is read by the same command nor the project.
#[test]
fn an_export_does_not_replace_what_is_read() {
    let place = place();
    place.write("types.txt", "DATE\n");
    place.run("annotate p train.iob --no-page");
    for (arguments, expected) in [
        (
            "annotate p notes.txt --export text notes.txt",
            "are the same file",
        ),
        ("annotate p notes.txt --export brat .", "might be replaced"),
        (
            "annotate p --types types.txt --export jsonl ./types.txt",
            "are the same file",
        ),
        ("annotate p --export jsonl p/project.sqlite", "are the same file"),
        ("annotate p --export-model p/model.fmk", "are the same file"),
        ("annotate p --export brat p", "might be replaced"),
        ("annotate new notes.txt --export brat new", "are the same file"),
        (
            "annotate p --export jsonl out --export-model out",
            "are the same file",
        ),
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    assert_eq!(place.read("notes.txt"), "Ada met Grace in Paris. Alan wrote.\n");
    assert!(!place.path("new").exists());
    // A project in the directory of now has room for other files.
    place.run("annotate . train.iob --no-page");
    place.run("annotate . --export jsonl here.jsonl --export-model here.fmk");
    assert!(place.read("here.jsonl").contains("PER"));
}

#[test]
fn a_model_that_is_not_there_fills_nothing() {
    let place = place();
    place.run("annotate p notes.txt --type NAME --no-page");
    let done = place
        .command("annotate p --export columns out.iob --fill")
        .done()
        .success();
    let told = common::errors(&done);
    assert!(
        told.contains("nothing is filled, because there is no model yet"),
        "{told}"
    );
    assert!(place.read("out.iob").contains("wrote\t?"));
}

#[test]
fn links_are_taken_back() {
    let place = place();
    place.run("annotate p notes.txt --type NAME --no-page");
    place.run("annotate p --add-user bob");
    let said = |arguments: &str| common::errors(&place.command(arguments).done().success());
    assert!(said("annotate p --remove-user bob").contains("1 link of bob"));
    assert!(said("annotate p --remove-user bob").contains("bob has no link"));
    // A lost link gives way to a new one.
    let link = place.run("annotate p --remove-user bob --add-user bob");
    assert!(link.contains("?token="), "{link}");
}

#[cfg(unix)]
#[test]
fn a_server_starts_stops_and_starts_again() {
    let place = place();
    place.run("annotate p notes.txt --type NAME --no-page");
    let server = Serving::start(&place, "fieldmark annotate p --user ada");
    let bearer = |token: &str| format!("Authorization: Bearer {token}");
    let own = bearer(server.token().unwrap());
    let get = |server: &Serving, path: &str, who: &str| -> Value {
        let (status, body) = server.ask(&format!("GET {path}"), &[who], "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    };
    assert_eq!(get(&server, "/api/project", &own)["user"], "ada");
    assert_eq!(server.ask("GET /api/project", &[], "").0, 401);

    // One server at a time; but people can be added, and come in at once.
    assert!(
        place
            .refuse("annotate p --port 0")
            .contains("another fieldmark has this project open")
    );
    let link = place.run("annotate p --add-user bob");
    assert!(
        link.contains(server.address()),
        "the link leads to the server: {link}"
    );
    let bob = bearer(link.trim().split_once("?token=").unwrap().1);
    assert_eq!(get(&server, "/api/project", &bob)["user"], "bob");

    let question = get(&server, "/api/question", &bob)["question"].clone();
    let start = question["target"]["start"].as_u64().unwrap();
    let action = json!({ "request": "r", "kind": "assert", "document": 1, "question": question["id"],
        "assertions": [{ "start": start, "end": start + 1, "type": "NAME" }] });
    let headers = [bob.as_str(), "Content-Type: application/json"];
    let (status, answer) = server.ask("POST /api/actions", &headers, &action.to_string());
    assert_eq!(status, 200, "{answer}");

    // Who is removed is out at once, and can be let in again; what he said stays.
    place.run("annotate p --remove-user bob");
    assert_eq!(server.ask("GET /api/project", &[&bob], "").0, 401);
    assert_eq!(
        server.ask("POST /api/actions", &headers, &action.to_string()).0,
        401
    );
    assert_eq!(get(&server, "/api/project", &own)["progress"]["answers"], 1);
    let link = place.run("annotate p --add-user bob");
    let bob = bearer(link.trim().split_once("?token=").unwrap().1);
    assert_eq!(get(&server, "/api/project", &bob)["user"], "bob");
    let (status, errors) = server.stop();
    assert!(status.success(), "{errors}");

    let server = Serving::start(&place, "fieldmark annotate p --user ada");
    assert_eq!(
        get(&server, "/api/project", &own)["progress"]["answers"],
        1,
        "old links still work"
    );
    let known = get(&server, "/api/documents/1", &bob)["known"].clone();
    assert_eq!(known[0]["start"].as_u64(), Some(start));
}
