//! How good labels of several layers are.

use crate::common::{Place, errors};
use crate::{DATA, joint, words};
use serde_json::Value;

#[test]
fn scores_are_those_of_layers_and_of_all_together() {
    let place = joint();
    let table = place.run("cv joint.toml --folds 2");
    for row in ["all", "pos", "chunk"] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{table}");
    }
    assert!(table.contains("joint accuracy"), "{table}");
    assert!(table.contains("F1") && table.contains("accuracy"), "{table}");
    place.run("cv joint.toml --folds 2 --html cv.html");
    let page = place.read("cv.html");
    for part in [
        "Joint accuracy",
        "Layer pos",
        "Layer chunk",
        "Confusion",
        "alibration",
    ] {
        assert!(page.contains(part), "{part}");
    }
    place.write("first.json", place.run("cv joint.toml --folds 2 --json"));
    let tested = place.run("cv joint.toml --folds 2 -o training.c2=5 --against first.json");
    assert!(tested.contains("minus first.json"), "{tested}");
    place.run("tag joint.fmk train.txt --format columns --to columns --output tagged.txt");
    let joint = place.run("eval tagged.txt --help");
    assert!(joint.contains("--joint"));
}

#[test]
fn a_graph_marks_and_is_scored_in_one_go() {
    let place = joint();
    let table = place.run("eval --model joint.fmk train.txt --html page.html");
    for row in [
        "all joint accuracy 100.00 12",
        "pos accuracy 100.00 12",
        "chunk F1 100.00 12",
    ] {
        assert!(words(&table).iter().any(|line| line == row), "{table}");
    }
    let page = place.read("page.html");
    assert!(
        page.contains("joint accuracy") && page.contains("Confusion"),
        "{page}"
    );
    let json = place.run("eval --model joint.fmk train.txt --json");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["measures"][0]["measure"], "joint accuracy");
    assert_eq!(answer["measures"][0]["value"], 1.0);
    assert!(answer["labels"]["pos"].is_object(), "{json}");
    let error = place.refuse("eval --model joint.fmk train.txt --against train.txt");
    assert!(
        error.contains("--against compares what two systems found"),
        "{error}"
    );
}

/// The columns of `train.txt`, some of them wrong.
const FOUND: &str = "the DT B-NP\ncat NN I-NP\nsleeps NN O\n\na DT B-NP\ndog NN I-NP\nbarks VB O\n\n\
                     the DT B-NP\ndog NN B-NP\nsleeps VB O\n\na DT B-NP\ncat NN I-NP\nbarks NN B-NP\n";

/// Sentences of columns as documents that mark no span.
fn as_jsonl(columns: &str, names: [&str; 2]) -> String {
    let mut lines = String::new();
    for (at, sentence) in columns.split("\n\n").enumerate() {
        let (mut text, mut tokens) = (String::new(), Vec::new());
        for line in sentence.lines() {
            let cells: Vec<&str> = line.split(' ').collect();
            text += if text.is_empty() { "" } else { " " };
            let range = serde_json::json!({ "start": text.len(), "end": text.len() + cells[0].len() });
            tokens.push(serde_json::json!({ "range": range, "columns": cells[1..] }));
            text += cells[0];
        }
        let given = serde_json::json!({ "columns": names, "sentences": [tokens] });
        let id = (at + 1).to_string();
        let document = serde_json::json!({ "id": id, "text": text, "annotations": [], "given": given });
        lines += &format!("{document}\n");
    }
    lines
}

#[test]
fn labels_in_columns_of_a_file_are_scored_layer_by_layer() {
    let place = joint();
    place.run("tag joint.fmk train.txt --format columns --output found.jsonl");
    let jsonl = "--format columns --pred-format jsonl";
    for columns in ["", "--columns word,pos,chunk"] {
        let table = place.run(&format!("eval train.txt found.jsonl {jsonl} {columns}"));
        for row in [
            "all joint accuracy 100.00",
            "pos accuracy 100.00",
            "chunk F1 100.00",
        ] {
            assert!(words(&table).iter().any(|line| line.starts_with(row)), "{table}");
        }
    }
    place.write("open.txt", DATA.replacen("VB O", "? O", 1));
    place.write("wrong.jsonl", as_jsonl(FOUND, ["pos", "ner"]));
    let columns = "--columns word,pos,ner";
    let table = place.run(&format!(
        "eval open.txt wrong.jsonl {jsonl} {columns} --html page.html"
    ));
    for row in [
        "all joint accuracy 81.82 11",
        "pos accuracy 90.91 11",
        "ner recall 75.00 12",
    ] {
        assert!(words(&table).iter().any(|line| line == row), "{row}\n{table}");
    }
    assert!(place.read("page.html").contains("Confusion"));
    let error = place.refuse(&format!(
        "eval open.txt wrong.jsonl {jsonl} {columns} --measure exact"
    ));
    assert!(
        error.contains("--measure is for spans, and wrong.jsonl marks none"),
        "{error}"
    );
    let done = place
        .command(&format!(
            "-q eval train.txt wrong.jsonl {jsonl} --columns word,a,b"
        ))
        .done();
    assert!(
        errors(&done).contains("in the columns pos, ner. To score them"),
        "{}",
        errors(&done)
    );
}

#[test]
fn columns_that_differ_beside_spans_are_told() {
    let place = Place::new();
    place.write("gold.txt", DATA);
    place.write("found.txt", FOUND);
    place.write("same.txt", DATA.replacen("I-NP", "O", 1));
    let told = |file: &str| {
        let done = place
            .command(&format!("eval gold.txt {file} --format columns"))
            .done();
        errors(&done.success())
    };
    let notice = "the files also differ in the column c1: its labels are not scored";
    assert!(told("found.txt").contains(notice), "{}", told("found.txt"));
    assert!(
        told("found.txt").contains("eval --joint N"),
        "{}",
        told("found.txt")
    );
    assert_eq!(told("same.txt"), "");
}

#[test]
fn scores_tell_over_how_many_tokens_they_are_counted() {
    let place = joint();
    place.write("partial.txt", DATA.replacen("DT", "?", 3).replacen("O", "?", 2));
    let table = place.run("eval --model joint.fmk partial.txt");
    for row in [
        "all joint accuracy 100.00 7",
        "pos accuracy 100.00 9",
        "chunk F1 100.00 10",
    ] {
        assert!(words(&table).iter().any(|line| line == row), "{row}\n{table}");
    }
    let json = place.run("eval --model joint.fmk partial.txt --json");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["measures"][0]["tokens"], 7);
}
