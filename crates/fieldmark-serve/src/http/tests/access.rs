//! Tokens, cookies, and the names that a server answers to.

use super::*;

fn guarded_by(token: &Token) -> Server {
    let accounts = vec![
        ("ada".to_owned(), Token::random().unwrap().hash()),
        ("grace".to_owned(), token.hash()),
    ];
    Server::start(Access::Tokens(Arc::new(accounts)), Limits::default())
}

#[test]
fn without_a_token_there_is_nothing_but_health_and_files() {
    let server = guarded_by(&Token::random().unwrap());
    for request in ["GET /", "GET /who", "POST /number", "GET /nowhere"] {
        let reply = server.json(request, "");
        assert_eq!(reply.status, 401, "{request}");
        assert!(reply.error().contains("Authorization: Bearer"), "{reply:?}");
        assert_eq!(reply.header("www-authenticate"), Some("bearer"));
    }
    for request in ["GET /health", "GET /assets/a.js", "HEAD /health"] {
        assert_eq!(server.ask(request, &[], "").status, 200, "{request}");
    }
    // What everybody may see, nobody may change by it.
    assert_eq!(server.json("POST /health", "").status, 401);
    let page = server.ask("GET /", &["Accept: text/html,*/*"], "");
    assert_eq!(page.status, 401);
    assert!(page.body.contains("<form action=\"/\""), "{page:?}");
}

#[test]
fn programs_show_their_token_in_a_header() {
    let token = Token::random().unwrap();
    let server = guarded_by(&token);
    let show = |token: &str| format!("Authorization: Bearer {token}");
    let known = show(token.secret());
    assert_eq!(server.ask("GET /who", &[&known], "").body, "grace");
    let json = "Content-Type: application/json";
    assert_eq!(
        server
            .ask("POST /number", &[&known, json], "{\"number\":1}")
            .status,
        200
    );
    for wrong in [
        show(""),
        show(&token.secret()[1..]),
        show(&format!("{}0", token.secret())),
        show(&token.hash().to_hex()),
    ] {
        assert_eq!(server.ask("GET /who", &[&wrong], "").status, 401, "{wrong}");
    }
}

/// Signs in by the link, and returns the cookie.
fn sign_in(server: &Server, token: &Token) -> String {
    let reply = server.ask(
        &format!("GET /?token={}", token.secret()),
        &["Accept: text/html"],
        "",
    );
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.body.contains("content=\"0; url=/\"") && !reply.body.contains(token.secret()));
    let cookie = reply.header("set-cookie").unwrap();
    for part in ["httponly", "samesite=strict", "path=/"] {
        assert!(cookie.split("; ").any(|one| one == part), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn people_sign_in_by_a_link_and_their_pages_prove_every_change() {
    let token = Token::random().unwrap();
    let server = guarded_by(&token);
    let pair = sign_in(&server, &token);
    assert!(pair.starts_with(&format!("fieldmark-{}=", server.address.port())));
    let cookie = format!("Cookie: other=1; {pair}");
    let page = server.ask("GET /", &[&cookie], "");
    let csrf = page.body.strip_prefix("csrf=").unwrap();
    assert!(csrf.len() == 32 && csrf != token.secret());
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(server.ask("GET /who", &[&cookie], "").body, "grace");
    let json = "Content-Type: application/json";
    let change = |header: &str| {
        let headers = [&cookie, json, header];
        server.ask("POST /number", &headers, "{\"number\":1}").status
    };
    assert_eq!(change(&format!("X-Fieldmark-Token: {csrf}")), 200);
    assert_eq!(change("X-Other: 1"), 403);
    assert_eq!(change("X-Fieldmark-Token:"), 403);
    assert_eq!(change(&format!("X-Fieldmark-Token: {}", token.secret())), 403);
    // Not that of somebody else either.
    let other = Token::random().unwrap();
    assert_eq!(
        change(&format!("X-Fieldmark-Token: {}", token::csrf(other.secret()))),
        403
    );
}

#[test]
fn cookies_of_other_servers_and_unknown_tokens_open_nothing() {
    let token = Token::random().unwrap();
    let server = guarded_by(&token);
    let secret = token.secret();
    let port = server.address.port();
    for cookie in [
        format!("Cookie: fieldmark-1={secret}"),
        format!("Cookie: fieldmark={secret}"),
        format!("Cookie: xfieldmark-{port}={secret}"),
        format!("Cookie: fieldmark-{port}x={secret}"),
        format!("Cookie: fieldmark-{port}="),
        format!("Cookie: fieldmark-{port}={}", Token::random().unwrap().secret()),
    ] {
        assert_eq!(server.ask("GET /who", &[&cookie], "").status, 401, "{cookie}");
    }
    // A stale cookie does not hide a good one.
    let both = format!("Cookie: fieldmark-{port}=stale; fieldmark-{port}={secret}");
    assert_eq!(server.ask("GET /who", &[&both], "").status, 200);
    let wrong = server.ask("GET /?token=0123456789", &["Accept: text/html"], "");
    assert_eq!(wrong.status, 401);
    assert!(wrong.body.contains("not known") && wrong.header("set-cookie").is_none());
}

#[test]
fn a_name_that_points_here_by_rebinding_is_refused() {
    let server = Server::open(Limits::default());
    for host in ["Host: evil.example", "Host: 127.0.0.1.evil.example:80"] {
        let reply = server.ask("GET /health", &[host], "");
        assert_eq!(reply.status, 403, "{host}");
        assert!(reply.error().contains("does not answer to the name"), "{reply:?}");
    }
    assert_eq!(
        server
            .raw("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")
            .status,
        400
    );
    assert_eq!(server.ask("GET /health", &["Host: localhost:1"], "").status, 200);
}

#[test]
fn pages_of_other_sites_may_not_post() {
    let server = Server::open(Limits::default());
    let json = "Content-Type: application/json";
    let post = |origin: &str| {
        let headers = [json, origin];
        server.ask("POST /number", &headers, "{\"number\":1}").status
    };
    assert_eq!(post("Origin: http://evil.example"), 403);
    assert_eq!(post("Origin: null"), 403);
    assert_eq!(post(&format!("Origin: http://{}", server.address)), 200);
}
