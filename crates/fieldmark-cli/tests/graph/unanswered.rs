//! What is told where a graph has no answer: ruled out, or given up by an engine.

use crate::common::{Done, Place, errors, output};
use crate::joint;
use serde_json::Value;

/// An engine that has no memory for long sentences.
const NARROW: &str = "engine='product-chain', budget=8000";

/// Two sentences, the first of which is long.
fn mixed() -> Place {
    let place = joint();
    let long = "qqq NN O\n".repeat(60);
    place.write(
        "mixed.txt",
        format!("{long}\nthe DT B-NP\ndog NN I-NP\nbarks VB O\n"),
    );
    place.write("long.txt", "qqq ".repeat(60));
    place
}

fn narrow(place: &Place, arguments: &str) -> Done {
    place
        .command(&format!("-q {arguments} --inference"))
        .args([NARROW])
        .done()
}

#[test]
fn what_an_engine_gave_up_is_not_ruled_out() {
    let place = mixed();
    let done = narrow(&place, "tag joint.fmk long.txt new.txt --log-probs").code(2);
    let told = errors(&done);
    assert!(
        told.contains("has no labels, for the reasons above") && !told.contains("no label sequence"),
        "{told}"
    );
    let table = output(done);
    assert!(table.contains("long.txt\t0\t239\t-\t-\t-\n"), "{table}");
    let json = output(narrow(&place, "tag joint.fmk long.txt --json").code(2));
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert!(
        answer["labels"].is_null() && answer["error"].is_string(),
        "{json}"
    );
}

#[test]
fn gold_that_is_ruled_out_has_no_probability() {
    let place = joint();
    let forbid = "-o graph.templates=[{relation={chain=\"pos\"},forbid=[[\"VB\",\"DT\"]]}]";
    place.run(&format!("train joint.toml --model forbid.fmk {forbid}"));
    place.write("known.txt", "dog VB ?\nbarks DT ?\n\ndog ? ?\n");
    let done = place
        .command("tag forbid.fmk known.txt --format columns --fix-labels --log-probs")
        .done()
        .code(2);
    let told = errors(&done);
    assert!(told.contains("has no label sequence"), "{told}");
    let table = output(done);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].ends_with("\t0\t9\t-inf\t-inf\t-inf"), "{table}");
    assert!(lines[2].ends_with("\t-") && !lines[2].contains("-inf"), "{table}");
}

#[test]
fn explanations_and_scores_go_on() {
    let place = mixed();
    let explain = "inspect joint.fmk --explain mixed.txt --format columns";
    let done = narrow(&place, explain).code(2);
    let told = errors(&done);
    assert!(
        told.contains("exact inference needs tables") && told.contains("All others are explained"),
        "{told}"
    );
    let text = output(done);
    assert!(text.contains("1  the  pos: DT "), "{text}");
    let json = output(narrow(&place, &format!("{explain} --json")).code(2));
    let answers: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2);
    assert!(answers[0]["decisions"].is_null() && answers[0]["error"].is_string());
    assert!(answers[1]["decisions"].is_array());
    let done = narrow(&place, "eval --model joint.fmk mixed.txt").success();
    let told = errors(&done);
    assert!(
        told.contains("1 of 2 instances have no labels") && told.contains("qqq …\""),
        "{told}"
    );
    let done = narrow(&place, "inspect joint.fmk --data mixed.txt --draw x.svg").code(2);
    let told = errors(&done);
    assert!(told.contains("1: exact inference needs"), "{told}");
}

#[test]
fn explanations_tell_what_went_wrong() {
    let place = joint();
    let told = |arguments: &str| errors(&place.command(&format!("-q {arguments}")).done().success());
    let text = told("inspect joint.fmk --explain train.txt");
    assert!(text.contains("train.txt was read as text"), "{text}");
    let columns = told("inspect joint.fmk --explain train.txt --format columns");
    assert!(!columns.contains("read as text"), "{columns}");
    let rough = place
        .command("-q inspect joint.fmk --explain new.txt --inference")
        .args(["engine='loopy', iterations=1"])
        .done()
        .success();
    let rough = errors(&rough);
    assert!(
        rough.contains("inference stopped at its limit") && rough.contains("their probabilities are rough"),
        "{rough}"
    );
    let refused = place.refuse("inspect joint.fmk --inference loopy");
    assert!(
        refused.contains("--inference is for --explain and --draw"),
        "{refused}"
    );
}

#[test]
fn a_table_begins_when_there_is_something_to_read() {
    let place = joint();
    let done = place.command("tag joint.fmk missing.txt --probs").done().code(2);
    assert_eq!(output(done), "");
    place.write("empty.txt", "");
    assert!(
        place
            .run("tag joint.fmk empty.txt --probs")
            .starts_with("document\t")
    );
    let refused = place.refuse("tag joint.fmk new.txt --nbest 2 --inference loopy");
    assert!(refused.contains("the engine here is another one"), "{refused}");
}

#[test]
fn hidden_labels_of_sentences_are_a_column() {
    let place = joint();
    place.write(
        "hidden.toml",
        "name = 'hidden'\nfeatures = [{ kind = 'word' }]\n[data]\ntrain = ['train.txt']\n\
         read = { format = 'columns', columns = ['word', 'pos', 'chunk'], labels = [] }\n\
         [graph]\nkind = 'hierarchical'\nlayers = [{ name = 'pos', column = 'pos' }, \
         { name = 'topic', per = 'instance', labels = ['x', 'y'] }]\n[training]\nmax_iterations = 5\n",
    );
    place.run("train hidden.toml --model hidden.fmk");
    let table = place.run("tag hidden.fmk new.txt");
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("document\tstart\tend\tpos\ttopic\tconfidence\ttext")
    );
    for line in lines {
        let topic = line.split('\t').nth(4).unwrap();
        assert!(["x", "y"].contains(&topic), "{table}");
    }
}
