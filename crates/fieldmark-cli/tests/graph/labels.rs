//! What graphs find: labels of all layers in tables, columns, pages and JSON.

use crate::common::{Place, errors, output};
use crate::{DATA, joint};
use serde_json::Value;

#[test]
fn labels_of_all_layers_are_a_table_columns_or_json() {
    let place = joint();
    let table = place.run("tag joint.fmk new.txt");
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("document\tstart\tend\tpos\tchunk\tconfidence\ttext")
    );
    let row: Vec<&str> = lines.nth(1).unwrap().split('\t').collect();
    assert_eq!(row[..5], ["new.txt", "4", "7", "NN", "I-NP"]);
    let confidence: f64 = row[5].parse().unwrap();
    assert!(confidence > 0.3 && confidence <= 1.0, "{table}");

    let columns = place.run("tag joint.fmk new.txt --to columns");
    assert!(
        columns.contains("the\tDT\tB-NP\ndog\tNN\tI-NP\nbarks\tVB\tO\n"),
        "{columns}"
    );

    let page = place.run("tag joint.fmk new.txt --to html");
    assert!(page.contains("DT B-NP") && page.contains("VB O"), "{page}");

    let json = place.run("tag joint.fmk new.txt --json --probs --marginals");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["labels"]["pos"], serde_json::json!(["DT", "NN", "VB"]));
    assert_eq!(answer["tokens"][2]["text"], "barks");
    let sum: f64 = answer["marginals"]["chunk"][0]
        .as_object()
        .unwrap()
        .values()
        .map(|value| value.as_f64().unwrap())
        .sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert_eq!(answer["converged"], true);
    let json = place.run("tag joint.fmk new.txt --json --nbest 2");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["nbest"].as_array().unwrap().len(), 2);
    assert_eq!(answer["nbest"][0]["labels"], answer["labels"]);
}

#[test]
fn labels_that_are_known_stay() {
    let place = joint();
    place.write("known.txt", "dog VB ?\nbarks ? ?\n");
    let columns = place.run("tag joint.fmk known.txt --format columns --fix-labels --to columns");
    assert!(columns.starts_with("dog\tVB\t"), "{columns}");
    let free = place.run("tag joint.fmk known.txt --format columns --to columns");
    assert!(free.starts_with("dog\tNN\t"), "{free}");
}

#[test]
fn names_inside_of_names_are_spans() {
    let place = Place::new();
    let line =
        r#"{"id": "1", "text": "the Bank of Paris closed", "label": [[4, 17, "ORG"], [12, 17, "LOC"]]}"#;
    place.write(
        "train.jsonl",
        format!("{line}\n{}\n", r#"{"id": "2", "text": "it rains", "label": []}"#),
    );
    place.write(
        "nested.toml",
        "name = 'nested'\nfeatures = [{ kind = 'word', offsets = [-1, 0, 1] }]\n[data]\ntrain = ['train.jsonl']\n\
         [graph]\nkind = 'factorial'\nlayers = [{ name = 'outer', depth = 0 }, { name = 'inner', depth = 1 }]\n\
         [training]\nc2 = 0.01\n",
    );
    place.run("train nested.toml --model nested.fmk");
    place.write("new.txt", "the Bank of Paris closed");
    let table = output(place.command("tag nested.fmk new.txt").done().success());
    assert!(
        table.contains("\t4\t17\tORG\t") && table.contains("\t12\t17\tLOC\t"),
        "{table}"
    );
    assert_eq!(place.run("tag nested.fmk new.txt --spans"), table);
    let json = place.run("tag nested.fmk new.txt --spans --json");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["spans"].as_array().unwrap().len(), 2);
    assert_eq!(answer["spans"][0]["layer"], "outer");
    assert_eq!(
        (&answer["spans"][0]["start"], &answer["spans"][0]["end"]),
        (&1.into(), &4.into())
    );
    let refused = place.refuse("tag nested.fmk new.txt --spans --pair-marginals");
    assert!(refused.contains("--spans and --pair-marginals"), "{refused}");
    place.write(
        "again.jsonl",
        format!("{}{}", place.read("train.jsonl"), place.read("train.jsonl")),
    );
    let scores = place.run("cv nested.toml --folds 2 -o data.train=['again.jsonl'] --html cv.html");
    let rows: Vec<Vec<&str>> = scores
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    for measure in ["precision", "recall", "F1"] {
        assert!(
            rows.iter().any(|row| row.starts_with(&["all", measure])),
            "{scores}"
        );
    }
    assert!(place.read("cv.html").contains("Confusion"));
}

#[test]
fn columns_that_are_read_as_text_are_told() {
    let place = joint();
    place.write("columns.txt", DATA);
    let told = |arguments: &str| errors(&place.command(&format!("-q tag {arguments}")).done().success());
    let warning = "columns.txt was read as text, but nearly all of its lines have 3 cells";
    for more in ["", "--json", "--to columns"] {
        let told = told(&format!("joint.fmk columns.txt {more}"));
        assert!(
            told.contains(warning) && told.contains("--format columns"),
            "{told}"
        );
    }
    for arguments in [
        "joint.fmk columns.txt --format columns",
        "joint.fmk columns.txt --format text",
        "joint.fmk new.txt",
    ] {
        assert!(!told(arguments).contains("was read as text"), "{arguments}");
    }
    place.run("init chunking --output chain.toml");
    place.run("train chain.toml -o data.train=[\"train.txt\"] --model chain.fmk");
    assert!(
        told("chain.fmk columns.txt").contains(warning),
        "{}",
        told("chain.fmk columns.txt")
    );
}

#[test]
fn help_calls_only_chains_exact() {
    let help = Place::new().run("tag --help");
    assert!(help.contains("With chains everything is exact"), "{help}");
    assert!(help.contains("loopy and gibbs estimate"), "{help}");
    assert!(help.contains("junction-tree"), "{help}");
}
