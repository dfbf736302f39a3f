//! Training of graphs: layers of which no label is known, and what is told of data that do not fit.

mod common;
use common::{Place, errors};
use serde_json::Value;

const CONFIG: &str = "
features = [{ kind = 'word' }, { kind = 'column', column = 'b' }]
[data]
train = ['train.txt']
read = { format = 'columns', columns = ['word', 'b', 'alike'], labels = [] }
[graph]
kind = 'factorial'
[[graph.layers]]
name = 'alike'
column = 'alike'
[[graph.layers]]
name = 'h'
labels = ['0', '1', '2', '3']
[training]
c2 = 0.001
";

/// Sentences of two tokens, whose label says whether both of their cells have the same number.
fn data() -> String {
    let rows = ["a0 b0 same", "a0 b1 other", "a1 b0 other", "a1 b1 same"];
    let sentences = (0..16).map(|number| format!("{}\n{}\n\n", rows[number % 4], rows[number / 4]));
    sentences.collect()
}

fn hidden() -> Place {
    let place = Place::new();
    place.write("train.txt", data());
    place.write("hidden.toml", CONFIG);
    place
}

#[test]
fn a_hidden_layer_is_trained_and_used() {
    let place = hidden();
    let told = errors(
        &place
            .command("train hidden.toml --model hidden.fmk")
            .done()
            .success(),
    );
    assert!(
        told.contains("no label of the layer \"h\" is known: it is trained as a hidden layer"),
        "{told}"
    );
    let open = data().replace("same", "?").replace("other", "?");
    place.write("open.txt", open);
    let found = place.run("tag hidden.fmk open.txt --format columns --to columns");
    let rows: Vec<String> = found
        .lines()
        .filter(|line| line.starts_with('a'))
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        .collect();
    let right: Vec<String> = data()
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    assert_eq!(rows, right);
}

#[test]
fn a_hidden_layer_goes_on_where_it_was_and_starts_from_a_model() {
    let place = hidden();
    place.run("train hidden.toml --model all.fmk -o training.max_iterations=8");
    place.run("train hidden.toml --model part.fmk -o training.max_iterations=3 --checkpoint-every 1 --checkpoint state");
    place.run("train hidden.toml --model whole.fmk -o training.max_iterations=8 --checkpoint state --resume");
    let weights = |model: &str| place.run(&format!("inspect {model} --dump"));
    assert_eq!(weights("whole.fmk"), weights("all.fmk"));
    // A model that has all weights leaves none to chance.
    let warm = "-o training.max_iterations=2 --warm-start all.fmk";
    place.run(&format!("train hidden.toml --model one.fmk {warm}"));
    place.run(&format!(
        "train hidden.toml --model two.fmk {warm} -o graph.start.seed=5"
    ));
    let templates = |model: &str| {
        let json: Value = serde_json::from_str(&place.run(&format!("inspect {model} --json"))).unwrap();
        json["templates"].clone()
    };
    assert_eq!(templates("one.fmk"), templates("two.fmk"));
}

#[test]
fn data_that_do_not_fit_are_told_with_their_place() {
    let place = hidden();
    let forbid = "-o graph.templates=[{relation={chain='alike'},forbid=[['same','other']]}]";
    let found = place.refuse(&format!("train hidden.toml --model x.fmk {forbid}"));
    assert!(
        found.contains(", sentence 1: the template \"chain:alike\" forbids all labels that are left")
            && found.contains("at token 1 (\"a0\")"),
        "{found}"
    );
    // The last column is read as spans if nobody says otherwise.
    place.write("train.txt", "a0 b0 B-X\na1 b1 O\n");
    let read = "-o data.read={format='columns',columns=['word','b','alike']}";
    let found = place.refuse(&format!("train hidden.toml --model x.fmk {read}"));
    assert!(
        found.contains("there is no column \"alike\", and the columns beside the word are: b")
            && found.contains("data.read.labels = []"),
        "{found}"
    );
}
