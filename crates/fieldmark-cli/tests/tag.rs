//! `fieldmark tag`.

mod common;
use common::{Place, errors, output};

fn column(text: &str, index: usize) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| line.split_whitespace().nth(index).unwrap())
        .collect()
}

#[test]
fn labels_may_be_left_out() {
    let place = Place::with_data();
    place.train();
    let labelled = place.run("tag --model model.fmk test.txt");
    let bare: String = place
        .read("test.txt")
        .lines()
        .map(|line| {
            line.rsplit_once(' ')
                .map_or("", |(columns, _)| columns)
                .to_owned()
                + "\n"
        })
        .collect();
    let piped = output(
        place
            .command("tag --model model.fmk")
            .input(bare)
            .done()
            .success(),
    );
    assert_eq!(column(&piped, 2), column(&labelled, 3));
}

#[test]
fn probabilities_are_probabilities() {
    let place = Place::with_data();
    place.train();
    let probs = place.run("tag --probs --model model.fmk test.txt");
    for probability in column(&probs, 4) {
        let probability: f64 = probability.parse().unwrap();
        assert!(probability > 0.2 && probability <= 1.0);
    }
    let marginals = place.run("tag --marginals --model model.fmk test.txt");
    for line in marginals.lines().filter(|line| !line.is_empty()) {
        let shares = line
            .split(' ')
            .skip(4)
            .map(|cell| cell.rsplit_once(':').unwrap().1.parse::<f64>().unwrap());
        let (count, sum) = shares.fold((0, 0.0), |(count, sum), share| (count + 1, sum + share));
        assert_eq!(count, 5);
        assert!((sum - 1.0).abs() < 1e-5, "{line}");
    }
}

#[test]
fn the_best_of_several_is_the_best() {
    let place = Place::with_data();
    place.train();
    let json = place.run("tag --nbest 3 --json --model model.fmk test.txt");
    let plain = place.run("tag --json --model model.fmk test.txt");
    for (best, plain) in json.lines().zip(plain.lines()) {
        let best: serde_json::Value = serde_json::from_str(best).unwrap();
        let plain: serde_json::Value = serde_json::from_str(plain).unwrap();
        let ranks = best["nbest"].as_array().unwrap();
        assert_eq!(ranks.len(), 3);
        assert_eq!(ranks[0]["labels"], plain["labels"]);
        let probabilities: Vec<f64> = ranks
            .iter()
            .map(|rank| rank["probability"].as_f64().unwrap())
            .collect();
        assert!(probabilities.is_sorted_by(|a, b| a >= b), "{probabilities:?}");
    }
    let text = place.run("tag --nbest 2 --model model.fmk test.txt");
    assert!(text.starts_with("# 0 0."), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("# 1 ")).count(), 3);
}

#[test]
fn spans_have_lines_types_and_text() {
    let place = Place::with_data();
    place.train();
    let spans = place.run("tag --spans --scheme iob2 --model model.fmk test.txt");
    let mut lines = spans.lines();
    assert_eq!(lines.next(), Some("first\tlast\ttype\tprobability\ttext"));
    let row = spans
        .lines()
        .find(|line| line.ends_with("\tNew York"))
        .expect("a span of two words");
    assert!(row.starts_with("6\t7\tLOC\t0."), "{row}");
}

#[test]
fn rules_forbidden_pairs_and_fixed_labels() {
    let place = Place::with_data();
    place.train();
    let command = place.command("tag --model model.fmk test.txt");
    let without = output(command.args(["--rule", "never PER"]).done().success());
    assert!(!without.contains("-PER\n"), "{without}");
    let forbidden = place.run("tag --model model.fmk --forbid B-LOC:I-LOC --forbid ^:B-PER test.txt");
    for sequence in forbidden.split("\n\n").filter(|sequence| !sequence.is_empty()) {
        let labels = column(sequence, 3);
        assert_ne!(labels[0], "B-PER");
        assert!(
            labels.windows(2).all(|pair| pair != ["B-LOC", "I-LOC"]),
            "{labels:?}"
        );
    }
    let known = "we a B-LOC\nmet a ?\nAda Aa O|I-LOC\n";
    let command = place.command("tag --fix-labels --model model.fmk");
    let fixed = output(command.input(known).done().success());
    let labels = column(&fixed, 3);
    assert_eq!(labels[0], "B-LOC");
    assert!(["O", "I-LOC"].contains(&labels[2]), "{labels:?}");
}

#[test]
fn what_cannot_be_satisfied_is_said() {
    let place = Place::with_data();
    place.train();
    let command = place.command("tag --model model.fmk test.txt");
    let error = errors(&command.args(["--rule", "at-least 9 LOC"]).done().code(2));
    assert!(
        error.contains("test.txt:1:1: in the sequence that starts here, no label sequence"),
        "{error}"
    );
    let error = place.refuse("tag --model model.fmk --forbid X:Y test.txt");
    assert!(error.contains("expected two labels of the model"), "{error}");
    let command = place.command("tag --model model.fmk test.txt");
    let error = errors(&command.args(["--rule", "at-most two PER"]).done().code(2));
    assert!(
        error.contains("expected a number of spans, found \"two\""),
        "{error}"
    );
}

#[test]
fn a_label_of_the_test_data_only_is_a_warning() {
    let place = Place::with_data();
    place.train();
    place.write("new.txt", "Ada Aa B-PER\nBell Aa B-ORG\n");
    let done = place.command("tag --model model.fmk new.txt").done().success();
    let warning = errors(&done);
    assert!(
        warning.contains("warning: the label B-ORG occurs once and was not seen in training"),
        "{warning}"
    );
    assert_eq!(column(&output(done), 2), ["B-PER", "B-ORG"]);
}

#[test]
fn skipped_lines_and_tabs_stay() {
    let place = Place::new();
    place.write("train.txt", "# doc\nAda\tB-PER\nmet\tO\n\n# doc 2\nBob\tB-PER\n");
    place.run("train --skip-lines # --model model.fmk train.txt");
    let tagged = place.run("tag --model model.fmk train.txt");
    assert_eq!(
        tagged,
        "# doc\nAda\tB-PER\tB-PER\nmet\tO\tO\n\n# doc 2\nBob\tB-PER\tB-PER\n\n"
    );
}

#[test]
fn many_blocks_keep_their_order() {
    let place = Place::with_data();
    place.train();
    let test = place.read("test.txt");
    // Several blocks of a megabyte.
    let copies = 3_000_000 / test.len();
    place.write("long.txt", test.repeat(copies));
    let one = place.run("tag --model model.fmk test.txt");
    for threads in [1, 2] {
        let all = place.run(&format!("tag --threads {threads} --model model.fmk long.txt"));
        assert!(all == one.repeat(copies), "{threads} threads");
    }
}

#[test]
fn single_precision_and_log_space_agree() {
    let place = Place::with_data();
    place.train();
    let double = place.run("tag --model model.fmk test.txt");
    assert_eq!(
        double,
        place.run("tag --precision f32 --model model.fmk test.txt")
    );
    let linear = place.run("tag --probs --model model.fmk test.txt");
    assert_eq!(
        linear,
        place.run("tag --probs --log-space --model model.fmk test.txt")
    );
}
