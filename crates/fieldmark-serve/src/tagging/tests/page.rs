//! The page, as far as it can be judged without a browser.

use super::*;
use crate::http::Token;
use serde_json::json;

const CSS: &str = include_str!("../../../assets/serve/app.css");
const SCRIPTS: [&str; 4] = [
    include_str!("../../../assets/serve/app.js"),
    include_str!("../../../assets/serve/api.js"),
    include_str!("../../../assets/serve/marks.js"),
    include_str!("../../../assets/serve/why.js"),
];
const INDEX: &str = include_str!("../../../assets/serve/index.html");

fn is_path(text: &str) -> bool {
    (text.starts_with('/') || text.starts_with("./")) && !text.contains(char::is_whitespace)
}

#[test]
fn the_page_loads_only_what_is_there() {
    let server = serve(vec![("genes", genes())]);
    let page = server.ask("GET /", &["Accept: text/html"], "");
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    let quoted = INDEX
        .split('"')
        .chain(SCRIPTS.iter().flat_map(|script| script.split('"')));
    let mut files = 0;
    for path in quoted.filter(|text| is_path(text)) {
        let path = path.replace("./", "/assets/serve/");
        let method = if ["/v1/tag", "/v1/explain"].contains(&&*path) {
            "POST"
        } else {
            "GET"
        };
        let reply = server.json(
            &format!("{method} {path}"),
            if method == "POST" { "{}" } else { "" },
        );
        assert!([200, 422].contains(&reply.status), "{path}: {reply:?}");
        files += 1;
    }
    assert!(files > 8, "{files}");
    for outside in ["http:", "https:", "style=", "onclick", "<script>"] {
        assert!(!INDEX.contains(outside), "{outside}");
    }
}

#[test]
fn text_and_types_are_never_taken_for_html() {
    for script in SCRIPTS {
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "setHTML",
        ] {
            assert!(!script.contains(way), "{way}");
        }
    }
    let server = serve(vec![("scripts", scripts())]);
    let text = "<script>alert(1)</script> We saw klm protein.";
    let reply = server.json("POST /v1/tag", &json!({ "text": text }).to_string());
    // A browser that is led to the answer itself shows it as text as well.
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    let answer = reply.value();
    let kinds: Vec<_> = answer["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| &span["type"])
        .collect();
    assert!(
        kinds.contains(&&json!("<img/src=x/onerror=alert(1)>")),
        "{answer}"
    );
    let missing = server.ask(
        "GET /%3Cscript%3Ealert(1)%3C/script%3E",
        &["Accept: text/html"],
        "",
    );
    assert_eq!(missing.header("content-type"), Some("application/json"));
}

#[test]
fn a_session_of_the_page_may_tag_and_others_may_not() {
    let token = Token::random().unwrap();
    let access = Access::one("", token.hash());
    let server = serve_with(vec![("genes", genes())], access, Limits::default());
    assert_eq!(server.ask("GET /", &["Accept: text/html"], "").status, 401);
    let link = format!("GET /?token={}", token.secret());
    let signed_in = server.ask(&link, &[], "");
    let cookie = signed_in
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let cookie = format!("Cookie: {cookie}");
    let page = server.ask("GET /", &[&cookie], "");
    let csrf = page
        .body
        .split_once("name=\"fieldmark-token\" content=\"")
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap();
    assert_eq!(csrf.len(), 32);
    let json = "Content-Type: application/json";
    let tag = |headers: &[&str]| server.ask("POST /v1/tag", headers, "{\"text\":\"a\"}").status;
    assert_eq!(tag(&[json, &cookie, &format!("X-Fieldmark-Token: {csrf}")]), 200);
    assert_eq!(tag(&[json, &cookie]), 403);
    assert_eq!(tag(&[json]), 401);
    assert_eq!(
        tag(&[json, &format!("Authorization: Bearer {}", token.secret())]),
        200
    );
    assert_eq!(server.ask("GET /metrics", &[], "").status, 401);
    assert_eq!(server.ask("GET /health", &[], "").status, 200);
}

/// Relative luminance by WCAG 2.2.
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
    let linear = |c: f64| {
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(channel(1)) + 0.7152 * linear(channel(3)) + 0.0722 * linear(channel(5))
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn every_colour_meets_wcag_aa_in_both_schemes() {
    let (light, dark) = CSS.split_once("@media (prefers-color-scheme: dark)").unwrap();
    for css in [light, dark] {
        let value = |css: &str, name: &str| {
            let (_, rest) = css
                .split_once(&format!("--{name}: "))
                .unwrap_or_else(|| panic!("{name}"));
            rest[..7].to_owned()
        };
        let colour = |name: &str| value(css, name);
        let (page, card, ink, soft) = (colour("page"), colour("card"), colour("ink"), colour("soft"));
        for background in [&page, &card] {
            assert!(contrast(&ink, background) >= 7.0);
            for text in [&soft, &colour("focus")] {
                assert!(contrast(text, background) >= 4.5, "{text} on {background}");
            }
            // Borders of fields and what is drawn need 3 : 1.
            for drawn in ["field", "for", "against"] {
                assert!(contrast(&colour(drawn), background) >= 3.0, "{drawn}");
            }
        }
        assert!(contrast(&ink, &colour("alarm-tint")) >= 4.5);
        assert!(contrast(&colour("button-ink"), &colour("button")) >= 4.5);
        for number in 0..10 {
            let (_, kind) = css.split_once(&format!(".c{number} {{")).unwrap();
            let (tint, strong) = (value(kind, "tint"), value(kind, "strong"));
            assert!(contrast(&strong, &tint) >= 4.5, "{number}");
            assert!(contrast(&ink, &tint) >= 7.0, "{number}");
            assert!(contrast(&strong, &card) >= 4.5, "{number}");
        }
    }
}
