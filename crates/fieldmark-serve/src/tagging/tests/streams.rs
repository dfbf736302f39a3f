//! Streams of lines.

use super::*;
use crate::testing::LONG;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

const NDJSON: &str = "Content-Type: application/x-ndjson";

fn lines(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.status, 200, "{reply:?}");
    let lines = reply.body.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_line_has_its_answer_in_order_and_mistakes_are_lines_too() {
    let limits = Limits {
        body: 200,
        ..Limits::default()
    };
    let server = serve_with(
        vec![("pos", parts_of_speech()), ("genes", genes())],
        Access::Open,
        limits,
    );
    let long = "x".repeat(300);
    let body = format!(
        "\"We saw klm protein.\"\n\n{{\"id\": [7], \"text\": \"It is new.\", \"more\": 1}}\n{{\"id\": 8}}\nnonsense\n\
         {long}\n\"💊 We saw klm protein.\""
    );
    let reply = server.ask("POST /v1/tag.jsonl?model=genes&unit=utf16", &[NDJSON], &body);
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .starts_with("application/x-ndjson")
    );
    let answers = lines(&reply);
    let numbers: Vec<u64> = answers
        .iter()
        .map(|answer| answer["line"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6, 7]);
    assert_eq!(
        (&answers[0]["spans"][0]["start"], &answers[0]["unit"]),
        (&json!(7), &json!("utf16"))
    );
    assert_eq!(
        (&answers[1]["id"], &answers[1]["spans"]),
        (&json!([7]), &json!([]))
    );
    assert!(
        answers[2]["error"]
            .as_str()
            .unwrap()
            .contains("an object with `text`")
    );
    assert!(answers[3]["error"].as_str().unwrap().contains("no JSON"));
    assert!(
        answers[4]["error"]
            .as_str()
            .unwrap()
            .contains("more than 200 bytes")
    );
    assert_eq!(answers[5]["spans"][0]["start"], 10);
}

#[test]
fn a_line_may_name_another_model() {
    let server = serve(vec![("pos", parts_of_speech()), ("genes", genes())]);
    let text = "We saw klm protein.";
    let line = |model: Value| json!({ "text": text, "id": 1, "model": model }).to_string();
    let lines_of = |models: &[Value]| models.iter().cloned().map(line).collect::<Vec<_>>().join("\n");
    let body = lines_of(&[json!("genes"), json!("pos"), json!("none"), json!(5), Value::Null]);
    let answers = lines(&server.ask("POST /v1/tag.jsonl", &[NDJSON], &body));
    assert_eq!(answers[0]["spans"][0]["text"], "klm");
    assert_eq!(answers[0]["model"], "genes");
    assert_eq!(
        (&answers[1]["model"], &answers[1]["spans"]),
        (&json!("pos"), &json!([]))
    );
    let error = answers[2]["error"].as_str().unwrap();
    assert!(
        error.contains("no model \"none\"") && error.contains("pos, genes"),
        "{error}"
    );
    assert_eq!(answers[2]["id"], 1);
    assert!(answers[3]["error"].as_str().unwrap().contains("`model`"));
    assert_eq!(
        (&answers[4]["model"], &answers[4]["spans"]),
        (&Value::Null, &json!([]))
    );
    // What a line says goes before what the address says.
    let answers = lines(&server.ask("POST /v1/tag.jsonl?model=genes", &[NDJSON], &body));
    assert_eq!(answers[1]["spans"], json!([]));
    assert_eq!(answers[4]["spans"][0]["text"], "klm");
}

#[test]
fn lines_that_are_not_utf8_and_wrong_types_are_told() {
    let server = serve(vec![("genes", genes())]);
    let mut bytes = server
        .request("POST /v1/tag.jsonl", &[NDJSON, "Content-Length: 5"], "")
        .into_bytes();
    bytes.extend(b"\"a\xFF\"\n");
    let answers = lines(&server.raw(bytes));
    assert!(
        answers[0]["error"]
            .as_str()
            .unwrap()
            .contains("not UTF-8 from byte 2")
    );
    let reply = server.json("POST /v1/tag.jsonl", "\"a\"\n");
    assert_eq!(reply.status, 415);
    assert_eq!(
        server
            .ask("POST /v1/tag.jsonl?model=x", &[NDJSON], "\"a\"")
            .status,
        404
    );
    assert_eq!(
        lines(&server.ask("POST /v1/tag.jsonl", &[NDJSON], "\n \n")),
        Vec::<Value>::new()
    );
}

#[test]
fn answers_come_before_the_stream_has_ended() {
    let server = serve(vec![("genes", genes())]);
    let mut stream = server.connect();
    let head = format!(
        "POST /v1/tag.jsonl HTTP/1.1\r\nHost: localhost\r\n{NDJSON}\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    for round in 1..4 {
        let line = "\"We saw klm protein.\"\n";
        stream
            .write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes())
            .unwrap();
        let mut text = String::new();
        while !text.starts_with('{') {
            text.clear();
            assert!(answers.read_line(&mut text).unwrap() > 0);
        }
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&answer["line"], &answer["spans"][0]["text"]),
            (&json!(round), &json!("klm"))
        );
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest:?}");
}

#[test]
fn many_lines_keep_their_order_on_several_threads() {
    let server = serve(vec![("genes", genes())]);
    let body: String = (0..2000)
        .map(|number| {
            let padding = "It is new. ".repeat(number % 17);
            format!("{{\"id\": {number}, \"text\": \"{padding}We saw klm protein.\"}}\n")
        })
        .collect();
    let answers = lines(&server.ask("POST /v1/tag.jsonl", &[NDJSON], &body));
    assert_eq!(answers.len(), 2000);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(
            (&answer["id"], &answer["line"]),
            (&json!(number), &json!(number + 1))
        );
        let last = answer["spans"].as_array().unwrap().last().unwrap();
        assert_eq!(last["start"], 11 * (number % 17) + 7, "{answer}");
    }
}

/// What nobody takes is not kept: the server stops to read, whatever the length of the stream.
#[test]
fn a_stream_whose_answers_nobody_takes_waits() {
    let limits = Limits {
        silence: 10 * LONG,
        ..Limits::default()
    };
    let server = serve_with(vec![("genes", genes())], Access::Open, limits);
    let mut stream = server.connect();
    let head = format!(
        "POST /v1/tag.jsonl HTTP/1.1\r\nHost: localhost\r\n{NDJSON}\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // Each line is a mistake, whose answer is many times as long.
    let lines = 1 << 13;
    let chunk = format!("{:x}\r\n{}\r\n", 2 * lines, "1\n".repeat(lines));
    stream
        .set_write_timeout(Some(Duration::from_millis(700)))
        .unwrap();
    let (mut chunks, mut sent) = (0, 0);
    // Buffers of the system take some megabytes; without a limit, hundreds would go through.
    let most = 200 << 20;
    let rest = loop {
        match stream.write(&chunk.as_bytes()[sent..]) {
            Ok(count) => sent += count,
            Err(_) => break &chunk.as_bytes()[sent..],
        }
        if sent == chunk.len() {
            (chunks, sent) = (chunks + 1, 0);
        }
        assert!(chunks * chunk.len() < most, "the server reads on and on");
    };
    // As soon as somebody reads, everything comes.
    let mut writer = stream.try_clone().unwrap();
    writer.set_write_timeout(Some(LONG)).unwrap();
    let rest = rest.to_vec();
    let writing = std::thread::spawn(move || {
        writer.write_all(&rest).unwrap();
        writer.write_all(b"0\r\n\r\n").unwrap();
    });
    let reply = Reply::read(&mut stream);
    writing.join().unwrap();
    let expected = (chunks + 1) * lines;
    assert_eq!(reply.body.lines().count(), expected);
    assert!(
        reply
            .body
            .lines()
            .last()
            .unwrap()
            .starts_with(&format!("{{\"line\":{expected},"))
    );
}

#[test]
fn a_stream_that_breaks_off_ends_with_a_line_that_says_so() {
    let limits = Limits {
        silence: Duration::from_millis(150),
        ..Limits::default()
    };
    let server = serve_with(vec![("genes", genes())], Access::Open, limits);
    let reply = server.raw(format!(
        "POST /v1/tag.jsonl HTTP/1.1\r\nHost: localhost\r\n{NDJSON}\r\nContent-Length: 100\r\n\r\n\"It is new.\"\n\"It"
    ));
    let answers = lines(&reply);
    assert_eq!(answers[0]["spans"], json!([]));
    assert_eq!(answers[1]["line"], 2);
    assert!(
        answers[1]["error"].as_str().unwrap().contains("nothing more"),
        "{answers:?}"
    );
}
