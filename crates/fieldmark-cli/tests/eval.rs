//! `fieldmark eval`.

mod common;
use common::{Place, output};

const TAGGED: &str = "\
Ada B-PER B-PER
met O O
Grace B-PER I-PER

in O O
New B-LOC B-LOC
York I-LOC O
";

const SCRIPT: &str = "\
processed 6 tokens with 3 phrases; found: 3 phrases; correct: 2.
accuracy:  66.67%; precision:  66.67%; recall:  66.67%; FB1:  66.67
              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  2
";

#[test]
fn begins_with_what_the_script_prints() {
    let place = Place::new();
    place.write("tagged.txt", TAGGED);
    assert_eq!(place.run("eval --conlleval tagged.txt"), SCRIPT);
    let full = place.run("eval tagged.txt");
    assert!(full.starts_with(SCRIPT), "{full}");
    assert!(full.contains("tokens:    4 of 6 right (66.67%)"), "{full}");
    assert!(full.contains("gold \\ predicted"), "{full}");
}

#[test]
fn reads_standard_input() {
    let place = Place::new();
    let piped = output(place.command("eval --conlleval").input(TAGGED).done().success());
    assert_eq!(piped, SCRIPT);
}

#[test]
fn strict_figures_say_so() {
    let place = Place::new();
    place.write("tagged.txt", TAGGED);
    let strict = place.run("eval --strict iob2 tagged.txt");
    assert!(
        strict.starts_with("strict IOB2: only well-formed spans count\n"),
        "{strict}"
    );
    assert!(strict.contains("found: 2 phrases; correct: 1."), "{strict}");
}

#[test]
fn json_has_the_same_figures() {
    let place = Place::new();
    place.write("tagged.txt", TAGGED);
    let report: serde_json::Value = serde_json::from_str(&place.run("eval --json tagged.txt")).unwrap();
    assert_eq!(report["spans"]["total"]["correct"], 2);
    assert_eq!(report["tokens"], 6);
}

#[test]
fn other_columns_and_labels() {
    let place = Place::new();
    place.write("tagged.csv", "x|NN|NN\ny|VB|NN\n");
    let raw = place.run("eval --raw --delimiter | --conlleval tagged.csv");
    assert!(
        raw.starts_with("processed 2 tokens with 2 phrases; found: 2 phrases; correct: 1.\n"),
        "{raw}"
    );
    place.write("docs.txt", "a B-X B-X\n-X- - -\nb I-X I-X\n");
    let spans = place.run("eval --conlleval docs.txt");
    assert!(
        spans.starts_with("processed 2 tokens with 2 phrases; found: 2"),
        "{spans}"
    );
}

#[test]
fn one_column_is_a_mistake() {
    let place = Place::new();
    place.write("labels.txt", "\nO\n");
    let error = place.refuse("eval labels.txt");
    assert!(error.contains("labels.txt:2:1: found one column"), "{error}");
    place.write("empty.txt", "\n\n");
    assert!(place.refuse("eval empty.txt").contains("no tagged token"));
}

#[test]
fn blank_lines_are_no_sequences() {
    let place = Place::new();
    place.write("tagged.txt", "\n\na X X\n\n\n\nb X X\n\n");
    let text = place.run("eval tagged.txt");
    assert!(text.contains("sequences: 2 of 2 right"), "{text}");
}
