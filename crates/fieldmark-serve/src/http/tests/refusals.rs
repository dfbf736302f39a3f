//! Requests that make no sense.

use super::*;

#[test]
fn every_mistake_has_its_status_and_a_sentence() {
    let server = Server::open(Limits::default());
    let json = &["Content-Type: application/json"][..];
    for (request, headers, body, status, sentence) in [
        ("GET /nowhere", &[][..], "", 404, "there is no path /nowhere"),
        ("DELETE /number", &[], "", 405, "does not take DELETE"),
        ("POST /number", json, "{\"number\":", 400, "no JSON: EOF"),
        ("POST /number", json, "{number: 1}", 400, "line 1 column 2"),
        ("POST /number", json, "", 400, "no JSON"),
        ("POST /number", json, "{\"number\": 300}", 422, "expected u8"),
        (
            "POST /number",
            json,
            "{\"nomber\": 3}",
            422,
            "unknown field `nomber`",
        ),
        (
            "POST /number",
            &[],
            "{\"number\": 3}",
            415,
            "there is no Content-Type",
        ),
        (
            "POST /number",
            &["Content-Type: text/plain"],
            "{\"number\": 3}",
            415,
            "text/plain\", expected application/json",
        ),
        ("GET /query?number=x", &[], "", 400, "invalid digit"),
        ("GET /query", &[], "", 400, "missing field `number`"),
    ] {
        let reply = server.ask(request, headers, body);
        assert_eq!(reply.status, status, "{request} {body}: {reply:?}");
        assert!(reply.error().contains(sentence), "{request} {body}: {reply:?}");
    }
    let reply = server.json("POST /number", "{\"number\": 3}");
    assert_eq!((reply.status, &*reply.body), (200, "{\"number\":3}"));
    let charset = &["Content-Type: Application/JSON; charset=utf-8"];
    assert_eq!(server.ask("POST /number", charset, "{\"number\": 3}").status, 200);
    let wrong = server.ask("DELETE /number", &[], "");
    assert_eq!(wrong.header("allow"), Some("post"));
    assert_eq!(server.ask("GET /query?number=7", &[], "").body, "{\"number\":7}");
}

#[test]
fn what_is_not_utf8_is_told_by_its_place() {
    let server = Server::open(Limits::default());
    let mut bytes = server
        .request(
            "POST /number",
            &["Content-Type: application/json", "Content-Length: 4"],
            "",
        )
        .into_bytes();
    bytes.extend(b"\"a\xFF\"");
    let reply = server.raw(bytes);
    assert_eq!(reply.status, 400);
    assert!(reply.error().contains("not UTF-8 from byte 2 on"), "{reply:?}");
}

#[test]
fn what_is_not_http_is_refused() {
    let server = Server::open(Limits::default());
    for nonsense in [
        "nonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /\0 HTTP/1.1\r\n\r\n",
        "POST /number HTTP/1.1\r\nHost: localhost\r\nContent-Length: minus\r\n\r\n",
    ] {
        assert_eq!(server.raw(nonsense).status, 400, "{nonsense:?}");
    }
    let chunks = "POST /number HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\
                  Transfer-Encoding: chunked\r\n\r\nnot a length\r\n";
    assert_eq!(server.raw(chunks).status, 400);
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1 << 20));
    assert!([400, 414, 431].contains(&server.raw(long).status));
    assert_eq!(server.ask("GET /health", &[], "").status, 200);
}

#[test]
fn answers_and_refusals_carry_the_headers_that_protect_them() {
    let server = Server::open(Limits::default());
    for request in ["GET /", "GET /nowhere", "GET /assets/a.js", "PUT /number"] {
        let reply = server.ask(request, &[], "");
        let policy = reply.header("content-security-policy").unwrap();
        for part in [
            "default-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for",
        ] {
            assert!(policy.contains(part), "{request}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert!(reply.header("cache-control").is_some());
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
}

#[test]
fn a_panic_is_a_refusal_and_the_server_goes_on() {
    let server = Server::open(Limits::default());
    let reply = server.ask("GET /panic", &[], "");
    assert_eq!(reply.status, 500);
    assert!(reply.error().contains("please report"), "{reply:?}");
    assert_eq!(server.ask("GET /who", &[], "").status, 200);
}

#[test]
fn files_are_found_by_their_exact_paths_only() {
    let server = Server::open(Limits::default());
    let reply = server.ask("GET /assets/a.js", &[], "");
    assert_eq!((reply.status, &*reply.body), (200, "let a = 1;"));
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .starts_with("text/javascript")
    );
    assert_eq!(server.ask("GET /assets/sign-in.css", &[], "").status, 200);
    let tag = reply.header("etag").unwrap().to_owned();
    let other = server.ask("GET /assets/deep/b.css", &[], "");
    assert!(tag.starts_with('"') && other.header("etag") != Some(&*tag));
    let again = server.ask(
        "GET /assets/a.js",
        &[&format!("If-None-Match: \"x\", W/{tag}")],
        "",
    );
    assert_eq!((again.status, &*again.body), (304, ""));
    assert_eq!(
        server
            .ask("GET /assets/a.js", &["If-None-Match: \"x\""], "")
            .status,
        200
    );
    for path in [
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets/deep/../a.js",
        "/assets//a.js",
        "/assets/a.js%00",
        "/assets/",
        "/../../../../etc/passwd",
        "//etc/passwd",
        "/assets/..\\a.js",
    ] {
        let reply = server.ask(&format!("GET {path}"), &[], "");
        assert!([400, 404].contains(&reply.status), "{path}: {reply:?}");
    }
}
