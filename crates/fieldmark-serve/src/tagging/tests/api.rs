//! Questions and answers.

use super::*;
use serde_json::{Value, json};

#[test]
fn places_are_counted_as_asked() {
    let server = serve(vec![("genes", genes())]);
    let text = "💊 ä We saw klm protein.";
    let utf16: Vec<u16> = text.encode_utf16().collect();
    for (unit, start) in [("characters", 11), ("utf16", 12), ("bytes", 15)] {
        let body = json!({ "text": text, "unit": unit }).to_string();
        let answer = ok(server.json("POST /v1/tag", &body));
        assert_eq!(
            (&answer["unit"], &answer["model"]),
            (&json!(unit), &json!("genes"))
        );
        let [span] = &answer["spans"].as_array().unwrap()[..] else {
            panic!("{answer}")
        };
        assert_eq!(span["start"], start, "{unit}");
        assert_eq!(span["end"], start + 3);
        assert_eq!((&span["type"], &span["text"]), (&json!("GENE"), &json!("klm")));
        assert!(span["confidence"].as_f64().unwrap() > 0.5);
        let address = format!("POST /v1/tag?unit={unit}");
        let same = ok(server.json(&address, &json!({ "text": text }).to_string()));
        assert_eq!(same, answer);
    }
    assert_eq!(String::from_utf16(&utf16[12..15]).unwrap(), "klm");
    let default = ok(server.json("POST /v1/tag", &json!({ "text": text }).to_string()));
    assert_eq!(default["unit"], "characters");
    assert_eq!(default["spans"][0]["start"], 11);
}

#[test]
fn a_batch_has_an_answer_for_each_text_in_order() {
    let server = serve(vec![("genes", genes())]);
    // More than one share.
    let texts: Vec<String> = (0..300)
        .map(|number| format!("{} We saw klm protein.", "x ".repeat(number)))
        .collect();
    let answer = ok(server.json("POST /v1/tag", &json!({ "texts": texts }).to_string()));
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), texts.len());
    for (number, result) in results.iter().enumerate() {
        let starts: Vec<&Value> = result["spans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|span| &span["start"])
            .collect();
        assert!(starts.contains(&&json!(2 * number + 8)), "{number}: {result}");
    }
    let none = ok(server.json("POST /v1/tag", "{\"texts\": []}"));
    assert_eq!(none["results"], json!([]));
    let empty = ok(server.json("POST /v1/tag", "{\"text\": \"\"}"));
    assert_eq!(empty["spans"], json!([]));
}

#[test]
fn what_cannot_be_answered_is_refused_in_a_sentence() {
    let server = serve(vec![("genes", genes()), ("pos", parts_of_speech())]);
    for (request, body, status, sentence) in [
        ("POST /v1/tag", "{}", 422, "expected either `text`"),
        (
            "POST /v1/tag",
            "{\"text\":\"a\",\"texts\":[]}",
            422,
            "expected either `text`",
        ),
        ("POST /v1/tag", "{\"texts\":[1]}", 422, "expected a string"),
        (
            "POST /v1/tag",
            "{\"text\":\"a\",\"model\":\"x\"}",
            404,
            "it has genes, pos",
        ),
        (
            "POST /v1/tag",
            "{\"text\":\"a\",\"unit\":\"words\"}",
            422,
            "`utf16`",
        ),
        ("POST /v1/tag?unit=words", "{\"text\":\"a\"}", 400, "`utf16`"),
        (
            "POST /v1/tag?modell=pos",
            "{\"text\":\"a\"}",
            400,
            "unknown field `modell`",
        ),
        (
            "POST /v1/tag?model=pos",
            "{\"text\":\"a\",\"model\":\"genes\"}",
            422,
            "different values of `model`",
        ),
        ("POST /v1/tag", "{\"txt\":\"a\"}", 422, "unknown field `txt`"),
        ("POST /v1/tag", "[", 400, "no JSON"),
        (
            "POST /v1/explain",
            "{\"text\":\"ab\",\"start\":1,\"end\":1}",
            422,
            "`end` is not after",
        ),
        (
            "POST /v1/explain",
            "{\"text\":\"ab\",\"start\":1,\"end\":3}",
            422,
            "it ends at 2",
        ),
        (
            "POST /v1/explain",
            "{\"text\":\"💊b\",\"start\":1,\"end\":2,\"unit\":\"bytes\"}",
            422,
            "inside a character",
        ),
        (
            "POST /v1/explain",
            "{\"text\":\"ab\",\"start\":0,\"end\":2,\"top\":1001}",
            422,
            "at most 1000",
        ),
        ("GET /v1/tag", "", 405, "does not take GET"),
    ] {
        let reply = server.json(request, body);
        assert_eq!(reply.status, status, "{request} {body}: {reply:?}");
        assert!(reply.error().contains(sentence), "{request} {body}: {reply:?}");
    }
}

#[test]
fn several_models_answer_by_name_and_the_first_by_default() {
    let server = serve(vec![
        ("genes", genes()),
        ("pos", parts_of_speech()),
        ("joint", joint()),
    ]);
    let list = ok(server.ask("GET /v1/models", &[], ""));
    let models = list["models"].as_array().unwrap();
    let names: Vec<&Value> = models.iter().map(|model| &model["name"]).collect();
    assert_eq!(names, ["genes", "pos", "joint"]);
    let defaults: Vec<&Value> = models.iter().map(|model| &model["default"]).collect();
    assert_eq!(defaults, [&json!(true), &json!(false), &json!(false)]);
    assert_eq!(
        (&models[0]["kind"], &models[2]["kind"]),
        (&json!("chain"), &json!("graph"))
    );
    assert_eq!(models[0]["types"], json!(["GENE"]));
    assert_eq!(models[0]["layers"][0]["marks"], "spans");
    assert_eq!(models[1]["layers"][0]["marks"], "tokens");
    assert_eq!(models[2]["layers"][1]["name"], "chunk");
    let tag = |model: &str| {
        let body = json!({ "text": "the cat barks" }).to_string();
        ok(server.json(&format!("POST /v1/tag{model}"), &body))
    };
    assert_eq!(tag("")["model"], "genes");
    let labels = |answer: &Value| -> Vec<String> {
        let tokens = answer["tokens"].as_array().unwrap().iter();
        tokens.map(|token| token["labels"].to_string()).collect()
    };
    let pos = tag("?model=pos");
    assert_eq!(
        labels(&pos),
        ["{\"pos\":\"DT\"}", "{\"pos\":\"NN\"}", "{\"pos\":\"VB\"}"]
    );
    assert!(pos["tokens"][1]["confidence"].as_f64().unwrap() > 0.5);
    assert_eq!(
        (&pos["tokens"][1]["start"], &pos["tokens"][1]["text"]),
        (&json!(4), &json!("cat"))
    );
    let both = tag("?model=joint");
    assert_eq!(labels(&both)[1], "{\"chunk\":\"I\",\"pos\":\"NN\"}");
}

#[test]
fn spans_of_a_graph_nest() {
    let server = serve(vec![("nested", nested())]);
    let answer = ok(server.json("POST /v1/tag", "{\"text\": \"We saw xyz promoter today.\"}"));
    let spans: Vec<(&str, u64, u64)> = answer["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| {
            let place = |name: &str| span[name].as_u64().unwrap();
            (span["type"].as_str().unwrap(), place("start"), place("end"))
        })
        .collect();
    assert_eq!(spans, [("DNA", 7, 19), ("PROTEIN", 7, 10)]);
}

#[test]
fn reasons_add_up_and_name_the_runner_up() {
    let server = serve(vec![("genes", genes())]);
    let body = json!({ "text": "It is new. We saw klm protein.", "start": 18, "end": 21, "top": 3 });
    let answer = ok(server.json("POST /v1/explain", &body.to_string()));
    let [decision] = &answer["decisions"].as_array().unwrap()[..] else {
        panic!("{answer}")
    };
    assert_eq!(
        (&decision["token"], &decision["label"]),
        (&json!("klm"), &json!("B-GENE"))
    );
    assert_eq!((&decision["start"], &decision["end"]), (&json!(18), &json!(21)));
    assert_eq!(decision["runner_up"]["label"], "O");
    let reasons = decision["reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 3);
    let sum: f64 = reasons
        .iter()
        .map(|reason| reason["difference"].as_f64().unwrap())
        .sum();
    let others = decision["others_difference"].as_f64().unwrap();
    let margin = decision["margin"].as_f64().unwrap();
    assert!((sum + others - margin).abs() < 1e-9 && margin > 0.0, "{decision}");
    assert!(answer.get("note").is_none());
    // A place that touches two tokens has two decisions.
    let body = json!({ "text": "We saw klm protein.", "start": 9, "end": 12 });
    let answer = ok(server.json("POST /v1/explain", &body.to_string()));
    assert_eq!(answer["decisions"].as_array().unwrap().len(), 2);
}

#[test]
fn graphs_say_how_probable_other_labels_are() {
    let server = serve(vec![("nested", nested())]);
    let body = json!({ "text": "We saw xyz promoter today.", "start": 7, "end": 10 });
    let answer = ok(server.json("POST /v1/explain", &body.to_string()));
    assert!(answer["note"].as_str().unwrap().contains("graph"));
    let decisions = answer["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 2);
    for (decision, layer, label) in [
        (&decisions[0], "outer", "B-DNA"),
        (&decisions[1], "inner", "B-PROTEIN"),
    ] {
        assert_eq!(
            (&decision["layer"], &decision["label"]),
            (&json!(layer), &json!(label))
        );
        let [chosen, other] = [&decision["probability"], &decision["runner_up"]["probability"]];
        let [chosen, other] = [chosen, other].map(|number| number.as_f64().unwrap());
        assert!(chosen > other && chosen + other <= 1.0 + 1e-9, "{decision}");
    }
}

#[test]
fn health_and_metrics_tell_what_was_done() {
    let server = serve(vec![("genes", genes())]);
    let health = ok(server.ask("GET /health", &[], ""));
    assert_eq!((&health["status"], &health["models"]), (&json!("ok"), &json!(1)));
    ok(server.json("POST /v1/tag", "{\"texts\": [\"We saw klm protein.\", \"\"]}"));
    server.json("POST /v1/tag", "{");
    let metrics = server.ask("GET /metrics", &[], "");
    assert!(
        metrics
            .header("content-type")
            .unwrap()
            .starts_with("text/plain; version=0.0.4")
    );
    for line in [
        "fieldmark_texts_total{model=\"genes\"} 2",
        "fieldmark_text_bytes_total{model=\"genes\"} 19",
        "fieldmark_spans_total{model=\"genes\"} 1",
        "fieldmark_failures_total{model=\"genes\"} 0",
        "fieldmark_requests_total{path=\"/v1/tag\",method=\"POST\",status=\"200\"} 1",
        "fieldmark_requests_total{path=\"/v1/tag\",method=\"POST\",status=\"400\"} 1",
        "fieldmark_requests_under_way 1",
    ] {
        assert!(
            metrics.body.lines().any(|one| one == line),
            "{line}\n{}",
            metrics.body
        );
    }
    // Every value stands under its type.
    for line in metrics.body.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        let name = name.split('{').next().unwrap();
        let base = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end).filter(|base| base.ends_with("seconds")))
            .unwrap_or(name);
        assert!(metrics.body.contains(&format!("# TYPE {base} ")), "{line}");
    }
}
