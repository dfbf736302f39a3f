//! `fieldmark serve` as a program: its options, its link, its end.
#![cfg(unix)]

mod common;
use common::Place;
use common::serving::Serving;
use std::process::Command;

const JSON: &str = "Content-Type: application/json";

/// A directory with the model `names.fmk`.
fn place() -> Place {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk");
    place
}

#[test]
fn texts_are_marked_until_the_server_is_asked_to_stop() {
    let place = place();
    let server = Serving::start(&place, "fieldmark serve names.fmk two=names.fmk --threads 2");
    assert!(server.link.starts_with("http://127.0.0.1:") && server.token().is_none());
    let (status, body) = server.ask(
        "POST /v1/tag?model=two",
        &[JSON],
        "{\"text\": \"Ada met Babbage in London.\"}",
    );
    assert_eq!(status, 200, "{body}");
    assert!(
        body.contains("\"model\":\"two\"") && body.contains("\"type\":\"LOC\""),
        "{body}"
    );
    let (status, page) = server.ask("GET /", &[], "");
    assert!(status == 200 && page.contains("<title>Try a model"), "{page}");
    let (status, errors) = server.stop();
    assert_eq!(status.code(), Some(0), "{errors}");
    assert!(
        errors.contains("serving names, two") && errors.contains("stopped"),
        "{errors}"
    );
}

#[test]
fn other_machines_need_a_token() {
    let place = place();
    let server = Serving::start(&place, "fieldmark serve names.fmk --host 0.0.0.0");
    let token = server.token().unwrap().to_owned();
    assert_eq!(token.len(), 32);
    assert_eq!(server.ask("GET /v1/models", &[], "").0, 401);
    let shown = format!("Authorization: Bearer {token}");
    assert_eq!(server.ask("GET /v1/models", &[&shown], "").0, 200);
    drop(server);

    place.write("token.txt", "a-token-of-our-own\n");
    let server = Serving::start(&place, "fieldmark serve names.fmk --token-file token.txt");
    assert_eq!(server.token(), Some("a-token-of-our-own"));
    assert_eq!(server.ask("GET /v1/models", &[], "").0, 401);
    let shown = "Authorization: Bearer a-token-of-our-own";
    assert_eq!(server.ask("GET /v1/models", &[shown], "").0, 200);
}

#[test]
fn limits_are_those_of_the_options() {
    let place = place();
    let server = Serving::start(&place, "fieldmark serve names.fmk --max-body 1");
    let text = |bytes: usize| format!("{{\"text\": \"{}\"}}", "a ".repeat(bytes / 2));
    assert_eq!(server.ask("POST /v1/tag", &[JSON], &text(1000)).0, 200);
    assert_eq!(server.ask("POST /v1/tag", &[JSON], &text(1 << 20)).0, 413);
}

#[test]
fn what_cannot_be_served_is_told() {
    let place = place();
    place.train();
    let error = place.refuse("serve model.fmk");
    assert!(
        error.contains("model.fmk: this model reads attributes or columns"),
        "{error}"
    );
    let error = place.refuse("serve names.fmk names.fmk");
    assert!(error.contains("two models are called names"), "{error}");
    let error = place.refuse("serve missing.fmk");
    assert!(error.contains("missing.fmk"), "{error}");
    place.write("short.txt", "short\n");
    let error = place.refuse("serve names.fmk --token-file short.txt");
    assert!(error.contains("short.txt: the token has 5 characters"), "{error}");
    let server = Serving::start(&place, "fieldmark serve names.fmk");
    let port = server.address().split_once(':').unwrap().1;
    let error = place.refuse(&format!("serve names.fmk --port {port}"));
    assert!(error.contains("Another program uses this port"), "{error}");
}

/// The questions of the help and of the README, asked by the program that they name.
#[test]
fn questions_of_the_help_and_the_readme_are_answered() {
    if Command::new("curl").arg("--version").output().is_err() {
        return;
    }
    let place = place();
    place.write(
        "notes.jsonl",
        "\"Ada sleeps here.\"\n{\"id\": 2, \"text\": \"We met in Paris.\"}\n",
    );
    let help = place.run("serve --help");
    let readme = include_str!("../../../README.md");
    let server = Serving::start(&place, "fieldmark serve names.fmk");
    let mut asked = 0;
    for text in [help.replace("\\\n", " "), readme.to_owned()] {
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| line.contains("curl http"))
        {
            let command = line
                .replace("127.0.0.1:7878", server.address())
                .replace("curl ", "curl --silent --show-error --fail ");
            let done = Command::new("sh")
                .args(["-ec", &command])
                .current_dir(place.root())
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&done.stderr);
            let answer = String::from_utf8_lossy(&done.stdout);
            assert!(
                done.status.success() && answer.contains("\"spans\""),
                "{line}\n{errors}{answer}"
            );
            asked += 1;
        }
    }
    assert!(asked >= 4, "{asked}");
}
