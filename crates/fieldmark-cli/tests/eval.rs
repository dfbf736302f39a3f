//! `fieldmark eval`.

mod common;
use common::{Place, errors, output};

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
fn ragged_columns_are_refused() {
    let place = Place::new();
    for (text, expected) in [
        (
            "a N O O\nb O O\n",
            "bad.txt:2:6: found 3 columns, expected 4 as in line 1",
        ),
        (
            "\na O O\n\nb N O O\n",
            "bad.txt:4:7: found 4 columns, expected 3 as in line 2",
        ),
        (
            "New York\tO\tO\nb O O\n",
            "bad.txt:2:6: found 1 column, expected 3 as in line 1. Tabs separate",
        ),
    ] {
        place.write("bad.txt", text);
        for options in ["", "--conlleval", "--raw", "--strict iob2", "--json"] {
            let error = place.refuse(&format!("eval {options} bad.txt"));
            assert!(error.contains(expected), "{error}");
        }
    }
    // The script's border may have any columns.
    place.write("borders.txt", "a O O\n-X-\nb O O\n-X- a b c d\n");
    assert!(place.run("eval borders.txt").contains("sequences: 2 of 2 right"));
}

#[test]
fn other_outputs_of_tag_are_recognised() {
    let place = Place::with_data();
    place.train();
    for option in [
        "--probs",
        "--marginals",
        "--max-marginals",
        "--nbest 2",
        "--spans",
        "--pair-marginals",
        "--log-probs",
        "--json",
    ] {
        place.write(
            "out.txt",
            place.run(&format!("tag {option} --model model.fmk test.txt")),
        );
        let name = option.split(' ').next().unwrap();
        for options in ["", "--raw", "--skip-lines #"] {
            let error = place.refuse(&format!("eval {options} out.txt"));
            assert!(error.contains("out.txt:1:"), "{error}");
            assert!(
                error.contains(&format!("tag without {name} to evaluate")),
                "{error}"
            );
        }
    }
    // Labels that are numbers are labels.
    place.write("numbers.txt", "a 1 1\nb 0 1\nc 0.5 0.5\n");
    assert!(place.run("eval --raw numbers.txt").contains("2 of 3 right"));
}

#[test]
fn tabs_are_columns_where_labels_stand_between_them() {
    let place = Place::new();
    place.write(
        "tabs.txt",
        "New York\tB-LOC\tB-LOC\nis\tO\tO\nSan Jose de X\tB-LOC\tO\n",
    );
    assert!(place.run("eval tabs.txt").contains("2 of 3 right"));
    // As `paste` makes them of lines with spaces.
    place.write("pasted.txt", "Ada N B-PER\tB-PER\nmet V O\tO\n");
    assert!(place.run("eval pasted.txt").contains("2 of 2 right"));
    place.write("cells.txt", "a b\tmy label\tO\n");
    let given = place.run("eval --delimiter \\t cells.txt");
    assert!(given.contains("my label"), "{given}");
    let empty = place.command("eval cells.txt --delimiter").args([""]);
    assert!(errors(&empty.done().code(2)).contains("an empty text separates nothing"));
}

#[test]
fn partial_gold_labels() {
    let place = Place::new();
    place.write(
        "partial.txt",
        "a B-X|B-Y B-Y\nb ? I-Y\nc O O\nd O|B-X B-X\n\ne ? O\n",
    );
    let text = place.run("eval partial.txt");
    assert!(
        text.starts_with("processed 3 tokens with 1 phrases; found: 1 phrases; correct: 1."),
        "{text}"
    );
    assert!(text.contains("tokens:    3 of 3 right"), "{text}");
    assert!(
        text.contains(
            "left out:  2 tokens whose gold label is unknown, and 1 predicted spans on or next to them"
        ),
        "{text}"
    );
    let report: serde_json::Value = serde_json::from_str(&place.run("eval --json partial.txt")).unwrap();
    assert_eq!(report["left_out"]["tokens"], 2);
    let done = place.command("eval --conlleval partial.txt").done().success();
    assert!(errors(&done).contains("left out:  2 tokens"));
    assert_eq!(output(done).lines().count(), 3);

    place.write("open.txt", "a ? O\n");
    assert!(
        place
            .refuse("eval open.txt")
            .contains("the gold labels of all 1 tokens are unknown")
    );
    place.write("broken.txt", "a O O\nb A| O\n");
    let error = place.refuse("eval broken.txt");
    assert!(error.contains("broken.txt:2:3: found the label `A|`"), "{error}");
}

#[test]
fn labels_with_bars_can_be_literal() {
    let place = Place::new();
    place.write("ud.txt", "a N=S|C=X N=S|C=X\nb N=S|C=X N=S\nc ? ?\n");
    let text = place.run("eval --raw --labels literal ud.txt");
    assert!(text.contains("tokens:    2 of 3 right"), "{text}");
    let error = place.refuse("eval --raw ud.txt");
    assert!(
        error.contains("ud.txt:1:11: found `N=S|C=X` in the predicted column")
            && error.contains("--labels literal"),
        "{error}"
    );
    // Where no label was possible, nothing was right.
    place.write("none.txt", "a O ?\nb O O\n");
    assert!(place.run("eval none.txt").contains("1 of 2 right"));
}

#[test]
fn lines_can_be_skipped() {
    let place = Place::new();
    place.write(
        "notes.txt",
        "# a comment of any length\na B-X B-X\n#\nb I-X I-X\n",
    );
    let text = place.run("eval --skip-lines # notes.txt");
    assert!(
        text.starts_with("processed 2 tokens with 1 phrases; found: 1"),
        "{text}"
    );
    let empty = place.command("eval notes.txt --skip-lines").args([""]);
    assert!(errors(&empty.done().code(2)).contains("--skip-lines"));
}

#[test]
fn columns_without_a_label_in_common_are_odd() {
    let place = Place::new();
    place.write("odd.txt", "Ada Aa B-PER\nmet a O\n");
    let done = place.command("eval odd.txt").done().success();
    assert!(errors(&done).contains("no label occurs in both of the last two columns"));
    place.write("fine.txt", TAGGED);
    assert_eq!(errors(&place.command("eval fine.txt").done().success()), "");
}

#[test]
fn an_outside_label_may_begin_with_a_hyphen() {
    let place = Place::new();
    place.write("raw.txt", "a -O- -O-\nb X X\n");
    let text = place.run("eval --raw --outside -O- --conlleval raw.txt");
    assert!(
        text.starts_with("processed 2 tokens with 1 phrases; found: 1"),
        "{text}"
    );
}

#[test]
fn blank_lines_are_no_sequences() {
    let place = Place::new();
    place.write("tagged.txt", "\n\na X X\n\n\n\nb X X\n\n");
    let text = place.run("eval tagged.txt");
    assert!(text.contains("sequences: 2 of 2 right"), "{text}");
}
