//! The description of the API against the API.

use super::*;
use crate::tagging::routes::routes;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn server() -> Running {
    serve(vec![("genes", genes()), ("joint", joint()), ("nested", nested())])
}

/// What a schema or a reference to one says.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.strip_prefix('#').unwrap())
            .unwrap_or_else(|| panic!("{reference} is not there")),
        None => schema,
    }
}

/// Why a value is not as a schema says, with as much of JSON Schema as the description uses.
fn wrong(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    if schema["$ref"].is_string() {
        return wrong(document, resolved(document, schema), value);
    }
    for word in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[word].as_array() {
            let problems: Vec<_> = choices
                .iter()
                .map(|choice| wrong(document, choice, value))
                .collect();
            if problems.iter().all(Option::is_some) {
                return Some(format!("none of {problems:?}"));
            }
        }
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        return Some(format!("{value} is no {kinds:?}"));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        return Some(format!("{value} is none of {values:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Some(format!("{value} is not {}", schema["const"]));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
            return Some(format!("{name} is missing in {value}"));
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(problem) = value.get(name).and_then(|value| wrong(document, property, value)) {
            return Some(format!("{name}: {problem}"));
        }
    }
    if schema["items"].is_object() {
        let items = value.as_array().into_iter().flatten();
        if let Some(problem) = items
            .filter_map(|item| wrong(document, &schema["items"], item))
            .next()
        {
            return Some(problem);
        }
    }
    None
}

/// All names that a schema has a place for.
fn names(document: &Value, schema: &Value, all: &mut BTreeSet<String>) {
    let schema = resolved(document, schema);
    all.extend(
        schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone()),
    );
    for word in ["oneOf", "anyOf", "allOf"] {
        for choice in schema[word].as_array().into_iter().flatten() {
            names(document, choice, all);
        }
    }
}

fn schema<'d>(document: &'d Value, path: &str, method: &str) -> &'d Value {
    let content = &document["paths"][path][method]["responses"]["200"]["content"];
    let media = content.as_object().unwrap().values().next().unwrap();
    &media["schema"]
}

#[test]
fn every_route_is_described_and_every_description_is_a_route() {
    let server = server();
    let document = ok(server.ask("GET /openapi.json", &[], ""));
    assert_eq!(document["openapi"], "3.1.0");
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(|method| (path.clone(), method.clone()))
        })
        .collect();
    let routed: BTreeSet<(String, String)> = routes()
        .iter()
        .map(|route| (route.path.to_owned(), route.operation.method.to_owned()))
        .collect();
    assert_eq!(described, routed);
    for (path, method) in &described {
        // What is described is there, and nothing else is.
        for other in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let reply = server.ask(&format!("{other} {path}"), &[], "");
            let there = reply.status != 405;
            assert_eq!(there, other.eq_ignore_ascii_case(method), "{other} {path}");
            assert_ne!(reply.status, 404, "{path}");
            if there && reply.status != 200 {
                let responses = &document["paths"][path][method]["responses"];
                assert!(
                    responses[reply.status.to_string()].is_object(),
                    "{other} {path}: {reply:?}"
                );
            }
        }
        let operation = &document["paths"][path][method];
        assert!(operation["summary"].is_string() && operation["operationId"].is_string());
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn visit(document: &Value, value: &Value, found: &mut usize) {
        match value {
            Value::Object(object) => {
                if let Some(Value::String(_)) = object.get("$ref") {
                    resolved(document, value);
                    *found += 1;
                }
                object.values().for_each(|value| visit(document, value, found));
            }
            Value::Array(array) => array.iter().for_each(|value| visit(document, value, found)),
            _ => {}
        }
    }
    let document = ok(server().ask("GET /openapi.json", &[], ""));
    let mut found = 0;
    visit(&document, &document, &mut found);
    assert!(found > 20, "{found}");
}

#[test]
fn answers_are_as_described() {
    let server = server();
    let document = ok(server.ask("GET /openapi.json", &[], ""));
    let text = "We saw xyz promoter in the cell.";
    let mut checked = 0;
    let mut check = |path: &str, method: &str, answer: &Value| {
        let schema = schema(&document, path, method);
        assert_eq!(wrong(&document, schema, answer), None, "{path}: {answer}");
        let mut known = BTreeSet::new();
        names(&document, schema, &mut known);
        for name in answer.as_object().unwrap().keys() {
            assert!(
                known.is_empty() || known.contains(name),
                "{path}: {name} is not described"
            );
        }
        checked += 1;
    };
    for model in ["genes", "joint", "nested"] {
        let one = json!({ "text": text, "model": model });
        check(
            "/v1/tag",
            "post",
            &ok(server.json("POST /v1/tag", &one.to_string())),
        );
        let several = json!({ "texts": [text, ""], "model": model });
        check(
            "/v1/tag",
            "post",
            &ok(server.json("POST /v1/tag", &several.to_string())),
        );
        let why = json!({ "text": text, "model": model, "start": 7, "end": 10 });
        check(
            "/v1/explain",
            "post",
            &ok(server.json("POST /v1/explain", &why.to_string())),
        );
        let lines = "{\"id\": 1, \"text\": \"We saw klm protein.\"}\nnonsense\n";
        let reply = server.ask(
            &format!("POST /v1/tag.jsonl?model={model}"),
            &["Content-Type: application/x-ndjson"],
            lines,
        );
        for line in reply.body.lines() {
            check("/v1/tag.jsonl", "post", &serde_json::from_str(line).unwrap());
        }
    }
    check("/v1/models", "get", &ok(server.ask("GET /v1/models", &[], "")));
    check("/health", "get", &ok(server.ask("GET /health", &[], "")));
    assert_eq!(checked, 17);
    // And the check can tell.
    let schema = schema(&document, "/health", "get");
    assert!(
        wrong(
            &document,
            schema,
            &json!({ "status": 1, "version": "", "models": 1 })
        )
        .is_some()
    );
    assert!(wrong(&document, schema, &json!({ "status": "ok" })).is_some());
}
