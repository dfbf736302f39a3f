//! `fieldmark tag`.

mod common;
use common::{Place, errors, output};
use std::io::{BufRead, Write};

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
    let done = command.args(["--rule", "at-least 9 LOC; at-most 3 PER"]).done();
    let error = errors(&done.code(2));
    assert!(
        error.contains(
            "warning: test.txt:1:1: in the sequence that starts here, no label sequence satisfies the rule \
             `at-least 9 LOC`\n"
        ),
        "{error}"
    );
    assert!(
        error.contains(
            "error: test.txt:1:1: the sequence that starts here and 2 others have no label sequence"
        ),
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
    for rule in ["", ";", " # nothing\n"] {
        let command = place.command("tag --model model.fmk test.txt");
        let error = errors(&command.args(["--rule", rule]).done().code(2));
        assert!(error.contains("there is no rule in it"), "{error}");
    }
    let command = place.command("tag --model model.fmk test.txt");
    let error = errors(&command.args(["--rule", "never CAR"]).done().code(2));
    assert!(
        error.contains("no label of this model belongs to a span of type \"CAR\"; its types are"),
        "{error}"
    );
}

#[test]
fn one_impossible_sequence_does_not_end_the_run() {
    let place = Place::with_data();
    place.train();
    let data = "we a O\nmet a O\n\nAda Aa ?\nmet a I-LOC\nus a O\n\nAda Aa B-PER\n";
    for threads in ["1", "2"] {
        let tag = |options: &str| {
            let command = place.command(&format!(
                "tag --fix-labels --scheme iob2 --model model.fmk {options}"
            ));
            command.args(["--threads", threads]).input(data).done().code(2)
        };
        let data_error = errors(&tag("--forbid B-LOC:I-LOC"));
        assert!(
            data_error.contains(
                "warning: standard input:4:1: in the sequence that starts here, no label sequence satisfies \
                 --scheme and --forbid and --fix-labels: no label is left in line 5\n"
            ),
            "{data_error}"
        );
        let tagged = output(tag("--forbid B-LOC:I-LOC"));
        assert_eq!(column(&tagged, 3), ["O", "O", "?", "?", "?", "B-PER"]);
        let json = output(tag("--forbid B-LOC:I-LOC --json"));
        let objects: Vec<serde_json::Value> = json
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(objects[1]["labels"].is_null() && objects[1]["error"].is_string());
        assert_eq!(objects[2]["labels"][0], "B-PER");
        let probs = output(tag("--forbid B-LOC:I-LOC --probs"));
        assert!(probs.contains("met a I-LOC ? 0.000000\n"), "{probs}");
        let scores = output(tag("--forbid B-LOC:I-LOC --log-probs"));
        assert!(scores.contains("\n4\t6\t-inf\t-inf\t-inf\n"), "{scores}");
    }
}

#[test]
fn scores_that_overflow_have_a_place() {
    let place = Place::with_data();
    place.train();
    let dump = place.run("inspect --dump model.fmk");
    let mut lines: Vec<String> = dump.lines().map(str::to_owned).collect();
    for line in &mut lines {
        if line.starts_with("state\tU00:Paris\t") {
            let (rest, _) = line.rsplit_once('\t').unwrap();
            *line = format!("{rest}\t1e308");
        }
    }
    place.write("giant.txt", lines.join("\n") + "\n");
    place.run("inspect --load giant.txt giant.fmk");
    let error = errors(
        &place
            .command("tag --probs --model giant.fmk test.txt")
            .done()
            .code(2),
    );
    assert!(
        error.contains(
            "test.txt:9:1: in the sequence that starts here, the scores are too large to compute with"
        ),
        "{error}"
    );
    let tagged = output(place.command("tag --probs --model giant.fmk test.txt").done());
    assert_eq!(tagged.matches(" ? 0.000000\n").count(), 4, "{tagged}");
    let error = errors(
        &place
            .command("tag --probs --precision f32 --model giant.fmk test.txt")
            .done()
            .code(2),
    );
    assert!(error.contains("Compute with --precision f64"), "{error}");
}

#[test]
fn a_scheme_that_does_not_fit_is_refused() {
    let place = Place::with_data();
    place.train();
    let error = place.refuse("tag --scheme iobes --model model.fmk test.txt");
    assert!(
        error.contains("--scheme IOBES does not fit the labels of this model")
            && error.contains("look like IOB2"),
        "{error}"
    );
    let error = place.refuse("tag --scheme io --model model.fmk test.txt");
    assert!(error.contains("IO has no labels such as B-"), "{error}");
    place.write("pos.txt", "a DT\ncat NN\n");
    place.run("train --model pos.fmk pos.txt");
    let error = place.refuse("tag --scheme iob2 --model pos.fmk pos.txt");
    assert!(error.contains("none of them marks a span"), "{error}");
    // One stray label is what a scheme is there to rule out.
    place.write("noise.txt", "a B-X\nb I-X\nc O\nd I-Y\n");
    place.run("train --model noise.fmk noise.txt");
    let done = place
        .command("tag --scheme iob2 --model noise.fmk noise.txt")
        .done()
        .success();
    let warning = errors(&done);
    assert!(
        warning.contains("--scheme IOB2 rules out these labels of the model altogether: I-Y"),
        "{warning}"
    );
    assert!(!output(done).contains("I-Y I-Y"));
}

#[test]
fn labels_that_begin_with_a_hyphen_can_be_named() {
    let place = Place::new();
    place.write("train.txt", "a -L\nb X\na -L\n");
    place.run("train --model model.fmk train.txt");
    let tagged = place.run("tag --model model.fmk --forbid -L:X train.txt");
    assert!(!tagged.contains("-L -L\nb X X"), "{tagged}");
}

#[test]
fn fixing_labels_that_are_not_there_is_said() {
    let place = Place::with_data();
    place.train();
    let command = place
        .command("tag --fix-labels --model model.fmk")
        .input("Ada Aa\nmet a\n");
    let error = errors(&command.done().code(2));
    assert!(
        error.contains("standard input: --fix-labels") && error.contains("there is no column of labels"),
        "{error}"
    );
    let command = place
        .command("tag --fix-labels --model model.fmk")
        .input("Ada Aa ?\nmet a ?\n");
    let warning = errors(&command.done().success());
    assert!(warning.contains("--fix-labels made no difference"), "{warning}");
}

#[test]
fn columns_are_those_of_training() {
    let place = Place::with_data();
    place.train();
    let error = errors(
        &place
            .command("tag --model model.fmk")
            .input("Ada\nmet\n")
            .done()
            .code(2),
    );
    assert!(
        error.contains(
            "standard input:1:4: found 1 column, expected 3 as in training, the last of them the label"
        ),
        "{error}"
    );
    let wide = place.run("tag --model model.fmk test.txt");
    let error = errors(&place.command("tag --model model.fmk").input(wide).done().code(2));
    assert!(
        error.contains("standard input:1:15: found 4 columns, expected 3"),
        "{error}"
    );
    // One column is enough for a model that was trained on one.
    place.write("words.txt", "Ada\tB-PER\nmet\tO\n");
    place.run("train --model words.fmk words.txt");
    let tagged = output(
        place
            .command("tag --model words.fmk")
            .input("met\nAda\n")
            .done()
            .success(),
    );
    assert_eq!(tagged, "met O\nAda B-PER\n");
}

#[test]
fn very_many_best_sequences_are_all_or_refused() {
    let place = Place::with_data();
    place.train();
    let command = place.command("tag --nbest 4294967295 --threads 1 --model model.fmk");
    let all = output(command.input("met a\nAda Aa\n").done().success());
    assert_eq!(all.lines().filter(|line| line.starts_with("# ")).count(), 25);
    place.write("long.txt", "Ada Aa O\n".repeat(100));
    let error = place.refuse("tag --nbest 4294967295 --model model.fmk long.txt");
    assert!(
        error.contains(
            "long.txt:1:1: the 4294967295 best label sequences of the 100 positions that start here take"
        ),
        "{error}"
    );
    assert!(error.contains("Ask for at most --nbest "), "{error}");
}

#[test]
fn outputs_of_different_forms_are_not_mixed() {
    let place = Place::with_data();
    place.train();
    for options in [
        "--spans --log-probs",
        "--marginals --max-marginals",
        "--probs --pair-marginals",
        "--marginals --spans",
    ] {
        let error = place.refuse(&format!("tag {options} --model model.fmk test.txt"));
        assert!(error.contains("cannot be printed together"), "{error}");
        place.run(&format!("tag {options} --json --model model.fmk test.txt"));
    }
    place
        .command("tag --nbest 2 --log-probs --model model.fmk test.txt")
        .done()
        .code(2);
}

#[test]
fn scores_that_are_no_probabilities_come_with_a_warning() {
    let place = Place::with_data();
    for (algorithm, name) in [
        ("ap", Some("averaged-perceptron")),
        ("pa", Some("passive-aggressive")),
        ("arow", Some("arow")),
        ("lbfgs", None),
        ("l2sgd", None),
        ("hmm", None),
    ] {
        place.run(&format!(
            "train -q --algorithm {algorithm} --model m.fmk train.crfsuite"
        ));
        // A model keeps its algorithm when it goes through a text.
        place.write("m.txt", place.run("inspect --dump m.fmk"));
        place.run("inspect --load m.txt again.fmk");
        assert!(place.bytes("m.fmk") == place.bytes("again.fmk"), "{algorithm}");
        for option in [
            "--probs",
            "--marginals",
            "--spans",
            "--nbest 2",
            "--max-marginals",
            "--log-probs",
            "--json",
            "",
        ] {
            let done = place
                .command(&format!("tag {option} --model again.fmk test.crfsuite"))
                .done()
                .success();
            let warning = errors(&done);
            let expected = name.filter(|_| !["", "--json"].contains(&option));
            match expected {
                Some(name) => assert!(
                    warning.contains(&format!(
                        "this model was trained by {name}, which does not fit probabilities"
                    )),
                    "{algorithm} {option}: {warning}"
                ),
                None => assert_eq!(warning, "", "{algorithm} {option}"),
            }
        }
    }
}

#[test]
fn labels_with_bars_can_be_read_again() {
    let place = Place::new();
    place.write("train.txt", "a A\\|B\nb C\n");
    place.run("train --model model.fmk train.txt");
    let tagged = place.run("tag --model model.fmk train.txt");
    assert_eq!(tagged, "a A\\|B A\\|B\nb C C\n");
    let json = place.run("tag --json --model model.fmk train.txt");
    assert!(json.contains("\"A|B\""), "{json}");
    place.write("tagged.txt", &tagged);
    assert!(place.run("eval tagged.txt").contains("2 of 2 right"));
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
fn every_line_of_the_input_stays() {
    let place = Place::new();
    place.write("train.txt", "# doc\nAda\tB-PER\nmet\tO\n\n# doc 2\nBob\tB-PER\n");
    place.run("train --skip-lines # --model model.fmk train.txt");
    for (input, expected) in [
        (
            "# doc\nAda\tB-PER\nmet\tO\n\n# doc 2\nBob\tB-PER\n",
            "# doc\nAda\tB-PER\tB-PER\nmet\tO\tO\n\n# doc 2\nBob\tB-PER\tB-PER\n",
        ),
        // Blank lines before, between and after; a skipped line with a blank one behind it.
        (
            "\n\n# a\n\nAda\tO\n\n\n\nmet\tO\n# b\n\n\n",
            "\n\n# a\n\nAda\tO\tB-PER\n\n\n\nmet\tO\tO\n# b\n\n\n",
        ),
        // A last line without an end gets one; the ends of Windows stay.
        ("met\tO", "met\tO\tO\n"),
        ("met\tO\n# end", "met\tO\tO\n# end\n"),
        ("met\tO\r\n\r\nAda\tO\r\n", "met\tO\tO\r\n\r\nAda\tO\tB-PER\r\n"),
        // Spaces at the end of a line are no column.
        ("met O  \nAda O\n", "met O O\nAda O B-PER\n"),
    ] {
        place.write("input.txt", input);
        assert_eq!(
            place.run("tag --model model.fmk input.txt"),
            expected,
            "{input:?}"
        );
        let piped = place
            .command("tag --model model.fmk")
            .input(input)
            .done()
            .success();
        assert_eq!(output(piped), expected, "{input:?}");
    }
    place.write("semicolons.txt", "; x\nmet\tO\n");
    let more = place.run("tag --skip-lines ; --model model.fmk semicolons.txt");
    assert_eq!(more, "; x\nmet\tO\tO\n");
    let empty = place.command("tag --model model.fmk --skip-lines").args([""]);
    assert!(errors(&empty.done().code(2)).contains("--skip-lines"));
}

#[test]
fn what_was_skipped_can_be_skipped_again() {
    let place = Place::new();
    place.write(
        "docs.txt",
        "-DOCSTART- -X- O\n\nAda N B-PER\nmet V O\n\n-DOCSTART- -X- O\n\nBob N B-PER\n",
    );
    place.run("train --skip-lines -DOCSTART- --model model.fmk docs.txt");
    place.write("tagged.txt", place.run("tag --model model.fmk docs.txt"));
    let scores = place.run("eval --skip-lines -DOCSTART- tagged.txt");
    assert!(
        scores.starts_with("processed 3 tokens with 2 phrases; found: 2"),
        "{scores}"
    );
    let error = place.refuse("eval tagged.txt");
    assert!(
        error.contains("tagged.txt:3:13: found 4 columns, expected 3 as in line 1")
            && error.contains("--skip-lines"),
        "{error}"
    );
}

/// An answer may not wait for sequences that have not been written yet.
#[test]
fn a_sequence_that_is_complete_is_answered_at_once() {
    let place = Place::with_data();
    place.train();
    for (threads, options) in [("1", ""), ("2", ""), ("2", "--json"), ("2", "--spans")] {
        let mut child = std::process::Command::new(common::PROGRAM)
            .current_dir(place.root())
            .args(["tag", "--model", "model.fmk", "--threads", threads])
            .args(options.split_whitespace())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let answers = std::io::BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || answers.lines().try_for_each(|line| send.send(line.unwrap())));
        let header = options == "--spans";
        for round in 0..3 {
            input.write_all(b"Ada Aa B-PER\n\n").unwrap();
            let expected = 1 + usize::from(options.is_empty()) + usize::from(header && round == 0);
            for _ in 0..expected {
                let answer = lines.recv_timeout(std::time::Duration::from_secs(60));
                assert!(answer.is_ok(), "{threads} threads {options}: no answer");
            }
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    }
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

#[test]
fn attribute_files_may_come_without_labels() {
    let place = Place::with_data();
    place.run("train --model m.fmk train.crfsuite");
    let labelled = place.read("test.crfsuite");
    let expected = place.run("tag --model m.fmk test.crfsuite");
    for label in ["", "?"] {
        let bare: Vec<String> = labelled
            .lines()
            .map(|line| match line.split_once('\t') {
                Some((_, attributes)) => format!("{label}\t{attributes}"),
                None => String::new(),
            })
            .collect();
        place.write("bare.crfsuite", bare.join("\n") + "\n");
        let done = place.command("tag --model m.fmk bare.crfsuite").done().success();
        assert_eq!(errors(&done), "", "{label:?}");
        assert_eq!(output(done), expected, "{label:?}");
    }
}
