//! The routes of the page, as a browser and as a program use them.

use super::*;
use crate::engine::{ImportOptions, NewProject};
use crate::project::Settings;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use fieldmark::text::document::Document;
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::path::PathBuf;
use tower::ServiceExt;

struct Page {
    folder: tempfile::TempDir,
    router: Router,
    ada: Token,
    bob: Token,
    stop: http::Stop,
    _engine: Arc<Engine>,
}

impl Page {
    fn new(texts: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join("p");
        let settings = Settings {
            held_out: 0.0,
            shared: 1.0,
            ..Settings::default()
        };
        let mut project = NewProject::open(&path, None, Path::new(""), settings).unwrap();
        project.add_types(["NAME"]).unwrap();
        let documents = texts.iter().enumerate();
        let documents = documents.map(|(number, text)| Document::new(format!("d{number}"), *text));
        project
            .add(documents.collect(), ImportOptions::default())
            .unwrap();
        let (ada, bob) = (Token::random().unwrap(), Token::random().unwrap());
        project.add_user("ada", &ada.hash().to_hex()).unwrap();
        project.add_user("bob", &bob.hash().to_hex()).unwrap();
        let engine = Engine::open(project.into_project()).unwrap();
        let (stop, shutdown) = Shutdown::new();
        let guard = Guard {
            access: Access::Tokens(Arc::new(People::open(&path).unwrap())),
            hosts: Hosts::Loopback,
            limits: limits(),
            public: &["/health"],
            metrics: Arc::new(Metrics::default()),
        };
        Self {
            router: http::guarded(routes(engine.clone(), shutdown), guard),
            folder,
            ada,
            bob,
            stop,
            _engine: engine,
        }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (StatusCode, HeaderMap, Vec<u8>) {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "127.0.0.1:80");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self
            .router
            .clone()
            .oneshot(request.body(Body::from(body.to_owned())).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        (
            parts.status,
            parts.headers,
            to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        )
    }

    /// As a program with a token.
    async fn ask(&self, token: &Token, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let secret = format!("Bearer {}", token.secret());
        let headers = [
            ("authorization", secret.as_str()),
            ("content-type", "application/json"),
        ];
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let (status, _, bytes) = self.send(method, path, &headers, &body).await;
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    async fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask(&self.ada, "GET", path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }
}

fn assertion(start: u64, kind: Option<&str>) -> Value {
    json!([{ "start": start, "end": start + 1, "type": kind }])
}

#[tokio::test]
async fn a_person_annotates() {
    let page = Page::new(&["Ada met Grace.", "Alan wrote."]);
    let project = page.get("/api/project").await;
    assert_eq!(
        (&project["user"], &project["documents"], &project["tokens"]),
        (&json!("ada"), &json!(2), &json!(7))
    );
    assert_eq!(project["types"][0]["name"], "NAME");
    assert!(project["formats"].as_array().unwrap().contains(&json!("brat")));
    let question = page.get("/api/question").await["question"].clone();
    let action = json!({ "request": "1", "kind": "assert", "document": question["document"]["id"],
        "question": question["id"], "assertions": assertion(question["target"]["start"].as_u64().unwrap(), Some("NAME")) });
    let (status, answer) = page.ask(&page.ada, "POST", "/api/actions", action.clone()).await;
    assert_eq!(status, 200, "{answer}");
    assert_ne!(answer["next"]["id"], question["id"]);
    assert_eq!(
        (&answer["can_undo"], &answer["project"]["progress"]["answers"]),
        (&json!(true), &json!(1))
    );
    let (_, again) = page.ask(&page.ada, "POST", "/api/actions", action).await;
    assert_eq!(again["action"], answer["action"]);
    let (status, undone) = page
        .ask(&page.ada, "POST", "/api/undo", json!({ "request": "2" }))
        .await;
    assert_eq!((status, &undone["next"]["id"]), (StatusCode::OK, &question["id"]));
    let (status, _) = page
        .ask(&page.ada, "POST", "/api/undo", json!({ "request": "3" }))
        .await;
    assert_eq!(status, 409);
    let (status, _) = page
        .ask(&page.ada, "POST", "/api/redo", json!({ "request": "4" }))
        .await;
    assert_eq!(status, 200);
    let (status, types) = page
        .ask(
            &page.ada,
            "POST",
            "/api/types",
            json!({ "request": "5", "name": "X" }),
        )
        .await;
    assert_eq!((status, &types["types"][1]["key"]), (StatusCode::OK, &json!("2")));
    let (status, types) = page
        .ask(
            &page.ada,
            "POST",
            "/api/types/2",
            json!({ "request": "6", "name": "Y", "colour": 4 }),
        )
        .await;
    assert_eq!(
        (status, &types["types"][1]["name"], &types["types"][1]["colour"]),
        (StatusCode::OK, &json!("Y"), &json!(4))
    );
    for path in [
        "/api/documents?page=1",
        "/api/documents/1",
        "/api/progress",
        "/api/agreement",
        "/api/adjudication/1",
        "/api/doubts",
    ] {
        page.get(path).await;
    }
    let question = page.get("/api/question?document=2").await;
    assert_eq!(question["question"]["document"]["id"], 2);
}

#[tokio::test]
async fn mistakes_have_their_status() {
    let page = Page::new(&["Ada met Grace."]);
    let assert = |document: i64| json!({ "request": "r", "kind": "assert", "document": document, "assertions": assertion(0, None) });
    for (method, path, body, expected) in [
        ("GET", "/api/documents/9", Value::Null, 404),
        ("GET", "/api/documents/x", Value::Null, 404),
        ("GET", "/api/documents/..%2f..%2fetc", Value::Null, 404),
        ("GET", "/assets/..%2f..%2fCargo.toml", Value::Null, 404),
        ("GET", "/nothing", Value::Null, 404),
        ("POST", "/api/question", json!({}), 405),
        ("POST", "/api/actions", json!({ "kind": 3 }), 422),
        ("POST", "/api/actions", assert(7), 404),
        (
            "POST",
            "/api/types",
            json!({ "request": "t", "name": "NAME" }),
            409,
        ),
        ("POST", "/api/types/9", json!({ "request": "t" }), 404),
        ("GET", "/api/export?format=pdf", Value::Null, 422),
        ("GET", "/api/export?format=nothing", Value::Null, 422),
        ("GET", "/api/model", Value::Null, 409),
        ("POST", "/api/documents?name=a.jsonl", json!("no document"), 422),
    ] {
        let (status, answer) = page.ask(&page.ada, method, path, body).await;
        // A path that is no number is either.
        let fine =
            status == expected || (expected == 404 && status == 422) || (expected == 404 && status == 400);
        assert!(fine, "{method} {path}: {status} {answer}");
        assert!(answer["error"].is_string(), "{method} {path}: {answer}");
    }
    let bearer = format!("Bearer {}", page.ada.secret());
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let (status, ..) = page
        .send("POST", "/api/actions", &headers, "{\"request\": ")
        .await;
    assert_eq!(status, 400);
    let large = format!("\"{}\"", "x".repeat(limits().body));
    let (status, ..) = page.send("POST", "/api/actions", &headers, &large).await;
    assert_eq!(status, 413);
}

#[tokio::test]
async fn nobody_comes_in_without_a_token() {
    let page = Page::new(&["Ada met Grace."]);
    for path in [
        "/api/project",
        "/api/documents/1",
        "/api/export?format=jsonl",
        "/api/events",
        "/api/model",
    ] {
        let (status, _, body) = page.send("GET", path, &[], "").await;
        assert_eq!(status, 401, "{path}");
        assert!(!String::from_utf8_lossy(&body).contains("Grace"));
    }
    // A browser comes in by the link, and changes things only with the token of the page.
    let link = format!("/?token={}", page.bob.secret());
    let (_, headers, _) = page.send("GET", &link, &[], "").await;
    let cookie = headers[header::SET_COOKIE].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();
    let (status, _, body) = page.send("GET", "/api/project", &[("cookie", cookie)], "").await;
    let project: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &project["user"]), (StatusCode::OK, &json!("bob")));
    let action = json!({ "request": "r", "kind": "assert", "document": 1, "assertions": assertion(0, None) })
        .to_string();
    let json_type = ("content-type", "application/json");
    let (status, ..) = page
        .send("POST", "/api/actions", &[("cookie", cookie), json_type], &action)
        .await;
    assert_eq!(status, 403);
    let csrf = ("x-fieldmark-token", project["csrf"].as_str().unwrap());
    let (status, ..) = page
        .send(
            "POST",
            "/api/actions",
            &[("cookie", cookie), json_type, csrf],
            &action,
        )
        .await;
    assert_eq!(status, 200);
    // Who is added while the server runs can come in at once.
    let eve = Token::random().unwrap();
    let mut store = crate::project::Project::database_beside(&page.folder.path().join("p")).unwrap();
    let id = store.user("eve").unwrap();
    store.add_token(id, &eve.hash().to_hex()).unwrap();
    let (status, project) = page.ask(&eve, "GET", "/api/project", Value::Null).await;
    assert_eq!((status, &project["user"]), (StatusCode::OK, &json!("eve")));
}

#[tokio::test]
async fn documents_are_data_and_never_part_of_a_page() {
    let text = "<script>alert(1)</script> Ada </textarea><img src=x onerror=alert(2)>";
    let page = Page::new(&[text]);
    let bearer = format!("Bearer {}", page.ada.secret());
    let headers = [("authorization", bearer.as_str())];
    for path in [
        "/api/documents/1",
        "/api/question",
        "/api/documents?search=script",
        "/api/export?format=jsonl",
    ] {
        let (status, answer, body) = page.send("GET", path, &headers, "").await;
        assert_eq!(status, 200);
        let kind = answer[header::CONTENT_TYPE].to_str().unwrap();
        assert!(
            kind.starts_with("application/json") || kind == "application/octet-stream",
            "{kind}"
        );
        assert_eq!(answer["x-content-type-options"], "nosniff");
        assert!(
            answer[header::CONTENT_SECURITY_POLICY]
                .to_str()
                .unwrap()
                .contains("default-src 'self'")
        );
        assert!(!body.is_empty());
    }
    let (_, answer, _) = page.send("GET", "/api/export?format=html", &headers, "").await;
    assert!(
        answer[header::CONTENT_DISPOSITION]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    let (_, _, body) = page.send("GET", "/", &headers, "").await;
    let html = String::from_utf8(body).unwrap();
    assert!(
        !html.contains("alert(1)") && !html.contains("<script>"),
        "no script in the page itself"
    );
    for asset in assets::FILES {
        assert_eq!(
            page.send("GET", asset.path, &[], "").await.0,
            200,
            "{}",
            asset.path
        );
        let name = asset.path.trim_start_matches("/assets/");
        let used = assets::FILES
            .iter()
            .any(|file| String::from_utf8_lossy(file.bytes).contains(name));
        assert!(used || html.contains(name), "{name} is used");
    }
}

#[tokio::test]
async fn files_come_in_and_go_out() {
    let page = Page::new(&["Ada met Grace."]);
    let bearer = format!("Bearer {}", page.ada.secret());
    let headers = [("authorization", bearer.as_str())];
    let columns = "Alan B-PER\nwrote O\n";
    let (status, _, body) = page
        .send("POST", "/api/documents?name=x.iob", &headers, columns)
        .await;
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (status, &answer["added"], &answer["labelled"]),
        (StatusCode::OK, &json!(1), &json!(1)),
        "{answer}"
    );
    let (status, _, body) = page
        .send(
            "POST",
            "/api/documents?name=x.iob&format=columns",
            &headers,
            columns,
        )
        .await;
    assert_eq!(
        (status, String::from_utf8_lossy(&body).contains("already")),
        (StatusCode::OK, true)
    );
    for &format in crate::engine::EXPORT_FORMATS {
        let (status, answer, body) = page
            .send("GET", &format!("/api/export?format={format}"), &headers, "")
            .await;
        assert_eq!(status, 200, "{format}");
        assert!(answer.contains_key(header::CONTENT_DISPOSITION) && !body.is_empty());
    }
    // What is lost is told, and what is not, is not.
    for (format, told) in [("jsonl", true), ("columns", false)] {
        let path = format!("/api/export?format={format}");
        let (_, answer, _) = page.send("GET", &path, &headers, "").await;
        let warning = answer.get("x-fieldmark-warning");
        let warning = warning.map(|warning| warning.to_str().unwrap());
        assert_eq!(
            warning.is_some_and(|warning| warning.contains("4 tokens")),
            told,
            "{warning:?}"
        );
    }
    let (status, _, body) = page.send("GET", "/api/model", &headers, "").await;
    assert_eq!(status, 200);
    fieldmark::Pipeline::from_container(Arc::new(
        fieldmark::core::container::Container::from_bytes(body).unwrap(),
    ))
    .unwrap();
}

#[tokio::test]
async fn a_request_with_other_content_has_its_status() {
    let page = Page::new(&["Ada met Grace."]);
    let action = |token: u64| json!({ "request": "r", "kind": "assert", "document": 1, "assertions": assertion(token, Some("NAME")) });
    let (status, first) = page.ask(&page.ada, "POST", "/api/actions", action(0)).await;
    assert_eq!(status, 200, "{first}");
    let (status, refused) = page.ask(&page.ada, "POST", "/api/actions", action(1)).await;
    assert_eq!(status, 409, "{refused}");
    assert!(
        refused["error"].as_str().unwrap().contains("something else"),
        "{refused}"
    );
    let (status, _) = page
        .ask(&page.ada, "POST", "/api/undo", json!({ "request": "r" }))
        .await;
    assert_eq!(status, 409);
    let (status, again) = page.ask(&page.ada, "POST", "/api/actions", action(0)).await;
    assert_eq!((status, &again["action"]), (StatusCode::OK, &first["action"]));
    assert_eq!(again["project"]["progress"]["answers"], 1);
    let (status, _) = page.ask(&page.bob, "POST", "/api/actions", action(1)).await;
    assert_eq!(status, 200, "names are those of one person");
}

#[tokio::test]
async fn settings_are_changed() {
    let page = Page::new(&["Ada met Grace."]);
    assert_eq!(page.get("/api/settings").await["batch"], 10);
    let wish = |change: Value| json!({ "request": change.to_string(), "change": change });
    let (status, settings) = page
        .ask(
            &page.ada,
            "POST",
            "/api/settings",
            wish(json!({ "batch": 4, "c2": 0.5 })),
        )
        .await;
    assert_eq!(status, 200, "{settings}");
    assert_eq!((&settings["batch"], &settings["c2"]), (&json!(4), &json!(0.5)));
    assert_eq!(page.get("/api/settings").await, settings);
    for change in [
        json!({ "batch": 0 }),
        json!({ "tempo": 1 }),
        json!({ "strategy": "best" }),
        json!({ "tokenizer": { "custom": ["x"] } }),
    ] {
        let (status, answer) = page.ask(&page.ada, "POST", "/api/settings", wish(change)).await;
        assert_eq!(status, 422, "{answer}");
        assert!(answer["error"].is_string());
    }
    assert_eq!(page.get("/api/settings").await, settings);
}

#[tokio::test]
async fn several_files_come_in_one_request() {
    let page = Page::new(&["Ada met Grace."]);
    let bearer = format!("Bearer {}", page.ada.secret());
    let headers = [("authorization", bearer.as_str())];
    let text = "Alan wrote.";
    let annotations = "T1\tPER 0 4\tAlan\n";
    let head =
        json!([{ "name": "a.txt", "size": text.len() }, { "name": "a.ann", "size": annotations.len() }]);
    let body = format!("{head}\n{text}{annotations}");
    let send = async |body: &str| {
        let (status, _, answer) = page.send("POST", "/api/files", &headers, body).await;
        (status, serde_json::from_slice::<Value>(&answer).unwrap())
    };
    for (body, expected) in [
        (format!("{head}\n{text}"), "the body ends within \"a.ann\""),
        (format!("{body}and more"), "8 bytes after the last"),
        ("[]\n".to_owned(), "at least one file"),
        ("nothing".to_owned(), "no JSON"),
    ] {
        let (status, answer) = send(&body).await;
        assert_eq!(status, 400, "{answer}");
        assert!(answer["error"].as_str().unwrap().contains(expected), "{answer}");
    }
    let (status, answer) = send("[{\"name\": \"a.ann\", \"size\": 0}]\n").await;
    assert_eq!(status, 422, "{answer}");
    assert!(
        answer["error"].as_str().unwrap().contains("there is no a.txt"),
        "{answer}"
    );
    assert_eq!(page.get("/api/project").await["documents"], 1);
    let (status, answer) = send(&body).await;
    assert_eq!(
        (status, &answer["added"], &answer["labelled"]),
        (StatusCode::OK, &json!(1), &json!(1))
    );
    assert_eq!(page.get("/api/documents/2").await["known"][0]["type"], "PER");
}

#[tokio::test]
async fn news_come_as_events() {
    let page = Page::new(&["Ada met Grace."]);
    let request = Request::get("/api/events")
        .header(header::HOST, "127.0.0.1:80")
        .header(header::AUTHORIZATION, format!("Bearer {}", page.ada.secret()))
        .body(Body::empty())
        .unwrap();
    let response = page.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut events = response.into_body().into_data_stream();
    let mut next = async || {
        let bytes = events.next().await?.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Some(serde_json::from_str::<Value>(text.strip_prefix("data: ").unwrap().trim()).unwrap())
    };
    assert_eq!(next().await.unwrap()["progress"]["answers"], 0);
    let action =
        json!({ "request": "r", "kind": "assert", "document": 1, "assertions": assertion(0, Some("NAME")) });
    page.ask(&page.ada, "POST", "/api/actions", action).await;
    assert_eq!(next().await.unwrap()["progress"]["answers"], 1);
    page.stop.ask();
    assert_eq!(next().await, None, "streams end with the server");
}

/// Who is removed is out at once, in every way, and hears nothing any more.
#[tokio::test]
async fn links_are_taken_back() {
    let page = Page::new(&["Ada met Grace."]);
    let bearer = format!("Bearer {}", page.bob.secret());
    let link = format!("/?token={}", page.bob.secret());
    let (_, headers, _) = page.send("GET", &link, &[], "").await;
    let cookie = headers[header::SET_COOKIE].to_str().unwrap().to_owned();
    let request = Request::get("/api/events")
        .header(header::HOST, "127.0.0.1:80")
        .header(header::AUTHORIZATION, &bearer)
        .body(Body::empty())
        .unwrap();
    let response = page.router.clone().oneshot(request).await.unwrap();
    let mut events = response.into_body().into_data_stream();
    assert!(events.next().await.is_some());
    let action = |request: &str| json!({ "request": request, "kind": "assert", "document": 1, "assertions": assertion(0, Some("NAME")) });
    let (status, _) = page.ask(&page.bob, "POST", "/api/actions", action("bob")).await;
    assert_eq!(status, 200);
    assert!(events.next().await.is_some());

    let mut store = crate::project::Project::database_beside(&page.folder.path().join("p")).unwrap();
    let bob = store.user("bob").unwrap();
    assert_eq!(store.remove_tokens(bob).unwrap(), 1);
    for header in [("authorization", bearer.as_str()), ("cookie", cookie.as_str())] {
        let (status, ..) = page.send("GET", "/api/project", &[header], "").await;
        assert_eq!(status, 401, "{header:?}");
    }
    assert_eq!(page.send("GET", &link, &[], "").await.0, 401);
    let (status, answer) = page.ask(&page.ada, "POST", "/api/actions", action("ada")).await;
    assert_eq!(
        (status, &answer["project"]["progress"]["answers"]),
        (StatusCode::OK, &json!(2))
    );
    assert!(events.next().await.is_none(), "nothing is told any more");
    let new = Token::random().unwrap();
    store.add_token(bob, &new.hash().to_hex()).unwrap();
    assert_eq!(
        page.ask(&new, "GET", "/api/project", Value::Null).await.1["user"],
        "bob"
    );
}
