//! `fieldmark train`.

mod common;
use common::{PROGRAM, Place, errors, output};

#[test]
fn progress_goes_to_standard_error_only() {
    let place = Place::with_data();
    let done = place
        .command("train --template template.txt --model m.fmk train.txt")
        .done()
        .success();
    let lines = errors(&done);
    assert!(lines.contains("6 sequences, 29 tokens, 5 labels"), "{lines}");
    assert!(
        lines.contains("gradient norm") && lines.contains("wrote m.fmk"),
        "{lines}"
    );
    assert!(!lines.contains('\x1b'), "no colours outside of a terminal");
    assert_eq!(output(done), "");
    let quiet = place
        .command("train -q --template template.txt --model m.fmk train.txt")
        .done()
        .success();
    assert_eq!(errors(&quiet), "");
}

#[test]
fn events_are_json() {
    let place = Place::with_data();
    let text = place.run("train --json --template template.txt --model m.fmk train.txt --dev test.txt");
    let events: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["event"], "read");
    assert_eq!(events[1]["event"], "prepared");
    assert_eq!(events[2]["event"], "iteration");
    assert!(events[2]["dev"].as_f64().is_some() && events[2]["loss"].as_f64().is_some());
    assert_eq!(events.last().unwrap()["event"], "end");
}

/// A full disk ends with an error, but the model is there; a reader that goes is no error.
#[cfg(target_os = "linux")]
#[test]
fn events_that_cannot_be_written_are_an_error() {
    let place = Place::with_data();
    let shell = |command: &str| {
        let done = std::process::Command::new("sh")
            .args(["-c", &command.replace("fieldmark", PROGRAM)])
            .current_dir(place.root())
            .output()
            .unwrap();
        let errors = String::from_utf8(done.stderr).unwrap();
        (done.status.code(), errors)
    };
    let train = "fieldmark train -q --json --template template.txt --model m.fmk train.txt";
    let (code, errors) = shell(&format!("{train} > /dev/full"));
    assert_eq!(code, Some(1), "{errors}");
    assert!(
        errors.contains("cannot write the output: ") && errors.contains("space"),
        "{errors}"
    );
    assert!(place.path("m.fmk").exists());
    std::fs::remove_file(place.path("m.fmk")).unwrap();
    let (code, errors) = shell(&format!("{{ {train}; echo $? > code; }} | true"));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(place.read("code"), "0\n");
    assert!(place.path("m.fmk").exists());
}

#[test]
fn every_algorithm_and_order_learns_the_training_data() {
    let place = Place::with_data();
    let runs = [
        "--algorithm lbfgs --c2 0.1",
        "--algorithm lbfgs --c1 0.05 --c2 0.05",
        "--algorithm lbfgs --c2 0.1 --precision f32",
        "--algorithm lbfgs --c2 0.1 --log-space",
        "--algorithm online-lbfgs --c2 0.1 --batch-size 2 --max-iterations 50",
        "--order 0 --c2 0.1",
        "--order 2 --c2 0.1",
        "--order 3 --c2 0.1 --boundaries --label-bias",
        "--all-possible-states --all-possible-transitions --c2 0.1",
        "--step-observations right --c2 0.1",
        "--min-freq 2 --c2 0.01",
        "--unseen-transitions forbid --c2 0.1",
        "--unseen-transitions forbid --order 3 --c2 0.1 --boundaries",
        "--unseen-transitions forbid --step-observations right --all-possible-transitions --c2 0.1",
        "--unseen-transitions forbid --algorithm ap",
        "--unseen-transitions forbid --algorithm l2sgd --c2 0.1",
        "--algorithm l2sgd --c2 0.1",
        "--algorithm l1sgd --c1 0.1",
        "--algorithm ap",
        "--algorithm pa",
        "--algorithm pa --type 2 --c 0.5 --averaging false --error-sensitive false",
        "--algorithm arow --max-iterations 20",
        "--algorithm naive-bayes --smoothing 0.1",
        "--algorithm hmm",
    ];
    for options in runs {
        place.run(&format!(
            "train {options} --template template.txt --model m.fmk train.txt"
        ));
        place.write("tagged.txt", place.run("tag --model m.fmk train.txt"));
        let report: serde_json::Value = serde_json::from_str(&place.run("eval --json tagged.txt")).unwrap();
        let accuracy = report["accuracy"].as_f64().unwrap();
        assert!(accuracy > 0.85, "{options}: {accuracy}");
    }
}

#[test]
fn options_without_effect_are_refused() {
    let place = Place::with_data();
    let error = place.refuse("train --algorithm hmm --c2 1 --model m.fmk train.txt");
    assert!(
        error.contains("--c2 means nothing to --algorithm hmm, whose options are --smoothing"),
        "{error}"
    );
    place.refuse("train --algorithm ap --c1 1 --model m.fmk train.txt");
    place.refuse("train --variance 1 --model m.fmk train.txt");
    let error = place.refuse("train --template template.txt --model m.fmk train.crfsuite");
    assert!(
        error.contains("crfsuite files hold observations already"),
        "{error}"
    );
    for (algorithm, options) in [
        ("naive-bayes", "--order 1"),
        ("naive-bayes", "--label-bias"),
        ("hmm", "--order 2"),
        ("hmm", "--states all"),
        ("hmm", "--transitions default-only"),
        ("hmm", "--all-possible-states"),
        ("hmm", "--all-possible-transitions"),
        ("hmm", "--boundaries"),
        ("hmm", "--no-lower-orders"),
        ("hmm", "--step-observations left"),
        ("hmm", "--unseen-transitions forbid"),
        ("hmm", "--min-freq 2"),
        ("hmm", "--min-instances 2"),
        ("hmm", "--dev test.txt"),
        ("hmm", "--warm-start model.fmk"),
        ("hmm", "--resume"),
        ("hmm", "--checkpoint other"),
        ("hmm", "--checkpoint-every 1"),
        ("hmm", "--precision f32"),
        ("hmm", "--log-space"),
        ("hmm", "--max-iterations 3"),
        ("naive-bayes", "--c1 1"),
        ("l2sgd", "--precision f32"),
        ("l2sgd", "--num-memories 3"),
        ("l2sgd", "--c1 1"),
        ("ap", "--period 3"),
        ("ap", "--log-space"),
        ("arow", "--precision f32"),
        ("online-lbfgs", "--max-linesearch 3"),
    ] {
        let error = place.refuse(&format!(
            "train --algorithm {algorithm} {options} --model m.fmk train.txt"
        ));
        let option = options.split(' ').next().unwrap();
        let expected = format!("{option} means nothing to --algorithm {algorithm}");
        assert!(error.contains(&expected), "{error}");
    }
    // What would change nothing does no harm.
    place.run(
        "train --algorithm hmm --order 1 --min-freq 0 --precision f64 --checkpoint-every never --unseen-transitions \
         free --model n.fmk train.txt",
    );
    place.run("train --algorithm naive-bayes --order 0 --model n.fmk train.txt");
    place.refuse("train --patience 3 --model m.fmk train.txt");
    place.refuse("train --order 4 --model m.fmk train.txt");
    let error = place.refuse("train --c2 -1 --model m.fmk train.txt");
    assert!(error.contains("--c2 is -1, expected"), "{error}");
    assert!(!place.path("m.fmk").exists());
}

#[test]
fn options_are_named_as_they_are_typed() {
    let place = Place::with_data();
    for (options, expected) in [
        ("--num-memories 0", "--num-memories is 0, expected 1 to 1000"),
        ("--c2 -1", "--c2 is -1, expected"),
        ("--max-linesearch 0", "--max-linesearch is 0, expected"),
        (
            "--algorithm l2sgd --calibration-rate 1",
            "--calibration-rate is 1, expected",
        ),
        (
            "--algorithm l2sgd --calibration-max-trials 0",
            "--calibration-max-trials is 0",
        ),
        (
            "--algorithm online-lbfgs --batch-size 0",
            "--batch-size is 0, expected",
        ),
        (
            "--algorithm online-lbfgs --first-step 0",
            "--first-step is 0, expected",
        ),
        ("--algorithm hmm --smoothing 0", "--smoothing is 0, expected"),
        ("--algorithm hmm --smoothing nan", "--smoothing is NaN, expected"),
        ("--min-freq inf", "--min-freq is inf, expected"),
        // What the parser of options refuses reads like what the algorithms refuse.
        ("--order 4", "error: --order is 4, expected 0 to 3\n"),
        (
            "--dev train.txt --patience 0",
            "--patience is 0, expected a whole number from 1 up\n",
        ),
        ("--c2 much", "--c2 is much, expected a number\n"),
        (
            "--checkpoint-every 5d",
            "--checkpoint-every is 5d, expected a number of iterations such as",
        ),
        (
            "--states some",
            "--states is some, expected all, supported or default-only\n",
        ),
    ] {
        let error = place.refuse(&format!("train {options} --model m.fmk train.txt"));
        assert!(error.contains(expected), "{options}: {error}");
        assert_eq!(error.lines().count(), 1, "nothing was read: {error}");
    }
}

#[test]
fn options_that_the_order_makes_senseless_are_refused() {
    let place = Place::with_data();
    place.write("unigrams.txt", "U00:%x[0,0]\n");
    for (options, expected) in [
        ("--order 1 --no-lower-orders", "--no-lower-orders"),
        ("--no-lower-orders", "--no-lower-orders"),
        (
            "--order 0 --boundaries",
            "--boundaries needs neighbouring labels, but --order is 0",
        ),
        (
            "--order 0 --transitions all",
            "--transitions needs neighbouring labels",
        ),
        (
            "--order 0 --all-possible-transitions",
            "--transitions needs neighbouring labels",
        ),
        (
            "--order 0 --step-observations left",
            "--step-observations needs neighbouring labels",
        ),
        (
            "--order 0 --unseen-transitions forbid",
            "--unseen-transitions needs neighbouring labels",
        ),
        (
            "--template unigrams.txt --boundaries",
            "the template has no B line",
        ),
    ] {
        let error = place.refuse(&format!("train {options} --model m.fmk train.txt"));
        assert!(error.contains(expected), "{options}: {error}");
    }
    let done = place
        .command("train -q --order 0 --template template.txt --model m.fmk train.txt")
        .done()
        .success();
    assert!(errors(&done).contains("the B lines of the template are ignored"));
    let done = place
        .command("train --algorithm naive-bayes --template template.txt --model m.fmk train.txt")
        .done()
        .success();
    assert!(errors(&done).contains("naive-bayes cannot use what the B lines"));
    // A hidden Markov model has transitions of its own, whatever the template says.
    let done = place
        .command("train --algorithm hmm --template unigrams.txt --model m.fmk train.txt")
        .done()
        .success();
    assert!(!errors(&done).contains("order 0"), "{}", errors(&done));
}

#[test]
fn options_that_undo_each_other_are_refused() {
    let place = Place::with_data();
    for (options, expected) in [
        (
            "--checkpoint c.checkpoint --checkpoint-every never",
            "--checkpoint needs checkpoints, but --checkpoint-every is never",
        ),
        (
            "--resume --checkpoint-every never",
            "--resume needs checkpoints, but --checkpoint-every is never",
        ),
        (
            "--step-observations left --transitions default-only",
            "but --transitions default-only gives them none",
        ),
    ] {
        let error = place.refuse(&format!("train {options} --model m.fmk train.txt"));
        assert!(error.contains(expected), "{options}: {error}");
    }
}

#[test]
fn losses_of_diverged_runs_are_short() {
    let place = Place::with_data();
    let diverging = "--algorithm l2sgd --calibration-eta 1e20 --calibration-max-trials 1 --max-iterations 3";
    let done = place
        .command(&format!(
            "train {diverging} --template template.txt --model m.fmk train.txt"
        ))
        .done()
        .success();
    let text = errors(&done);
    assert!(text.contains("diverged") && text.contains("e3"), "{text}");
    let longest = |line: &str| line.split(|c: char| !c.is_ascii_digit()).map(str::len).max();
    assert!(
        text.lines().filter_map(longest).all(|digits| digits < 20),
        "{text}"
    );
}

#[test]
fn training_that_comes_to_nothing_is_told() {
    let place = Place::with_data();
    for (options, expected) in [
        ("--min-freq 1000000000", "there is no feature"),
        ("--c1 1e300", "all weights are zero"),
        ("--algorithm l1sgd --c1 1e300", "all weights are zero"),
        (
            "--algorithm l2sgd --calibration-eta 1e10 --calibration-max-trials 1 --max-iterations 20",
            "more than the 46.6",
        ),
        (
            "--algorithm l2sgd --calibration-eta 1e300 --calibration-max-trials 1",
            "training diverged",
        ),
        ("--algorithm online-lbfgs --eta0 1e300", "training diverged"),
    ] {
        let done = place
            .command(&format!(
                "train -q {options} --template template.txt --model m.fmk train.txt"
            ))
            .done()
            .success();
        let warning = errors(&done);
        assert!(
            warning.starts_with("warning: ") && warning.contains(expected),
            "{options}: {warning}"
        );
    }
}

#[test]
fn warnings_are_no_progress() {
    let place = Place::with_data();
    place.write("dev.txt", "Ada Aa B-ROBOT\nwrote a O\n");
    let command = "train -q --template template.txt --dev dev.txt --model m.fmk train.txt";
    let done = place.command(command).done().success();
    let text = errors(&done);
    assert!(
        text.starts_with("warning: the label B-ROBOT") && text.lines().count() == 1,
        "{text}"
    );
    // What the model cannot know is missed.
    place.write("dev.txt", "Ada Aa B-PER\n\nAda Aa B-ROBOT\n");
    place.run(&format!("{command} --report r.json"));
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let best = report["iterations"].as_array().unwrap().iter();
    let best = best.map(|one| one["dev"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(best, 0.5);
    // Nothing can be scored by labels that are all unknown.
    place.write("dev.txt", "Ada Aa B-ROBOT\n");
    let text = errors(&place.command(command).done().code(2));
    assert!(text.contains("no label that occurs in training"), "{text}");
}

#[test]
fn unseen_transitions_can_be_forbidden() {
    let place = Place::new();
    place.write("train.txt", "x X\ny Y\nx X\n\nz Z\nz Z\n");
    place.write("new.txt", "x O\nz O\n");
    let labels = |options: &str| {
        place.run(&format!("train {options} --model m.fmk train.txt"));
        let tagged = place.run("tag --model m.fmk new.txt");
        let labels = tagged.lines().filter_map(|line| line.split(' ').nth(2));
        labels.collect::<String>()
    };
    assert_eq!(labels(""), "XZ");
    for options in [
        "--order 3",
        "--order 2",
        "--algorithm ap",
        "--algorithm l2sgd",
        "",
    ] {
        let labels = labels(&format!("{options} --unseen-transitions forbid"));
        assert!(["XY", "YX", "ZZ"].contains(&&labels[..]), "{options}: {labels}");
    }
    let dump = place.run("inspect --dump m.fmk");
    assert!(dump.contains("unseen-transitions\tforbid\n") && dump.contains("allow\tX\tY\n"));
    assert!(
        place
            .run("inspect m.fmk")
            .contains("3 of 9 transitions between labels are allowed")
    );
    place.write("dump.txt", dump);
    place.run("inspect --load dump.txt copy.fmk");
    assert!(place.bytes("m.fmk") == place.bytes("copy.fmk"));

    place.write("short.txt", "a X\nb Y\n");
    let error = place.refuse("train --unseen-transitions forbid --model m.fmk short.txt");
    assert!(
        error.contains("short.txt: ") && error.contains("no sequence of more than 2 labels"),
        "{error}"
    );
    place.write("lost.txt", "a X\nb X\n\n\n# note\na Y\nb ?\nc Y\n");
    let train = "train --unseen-transitions forbid --skip-lines # --model m.fmk";
    let error = place.refuse(&format!("{train} lost.txt"));
    assert!(
        error.contains("lost.txt:6:1: 1 training sequence with unknown labels needs")
            && error.contains("sequence 2"),
        "{error}"
    );
    let command = place.command(&format!("{train} -")).input(place.read("lost.txt"));
    let error = errors(&command.done().code(2));
    assert!(error.contains("standard input: 1 training sequence"), "{error}");
}

#[test]
fn data_without_any_label_are_named() {
    let place = Place::new();
    place.write("open.txt", "a ?\nb ?\n");
    let error = place.refuse("train --model m.fmk open.txt");
    assert!(error.contains("open.txt: every label is `?`"), "{error}");
}

#[test]
fn a_template_without_transitions_makes_labels_independent() {
    let place = Place::with_data();
    place.write("unigrams.txt", "U00:%x[0,0]\n");
    let done = place
        .command("train --template unigrams.txt --model m.fmk train.txt")
        .done()
        .success();
    assert!(errors(&done).contains("order 0"));
    assert!(place.run("inspect --dump m.fmk").contains("order\t0\n"));
}

#[test]
fn partial_labels_are_learned_from() {
    let place = Place::new();
    place.write(
        "train.txt",
        "Ada B-PER\nLovelace ?\n\nBob B-PER\nsmiled O|I-PER\n\nwe O\nLovelace I-PER\n",
    );
    place.run("train --model m.fmk train.txt");
    let labels = place.run("inspect --dump m.fmk");
    assert_eq!(
        labels.lines().filter(|line| line.starts_with("label\t")).count(),
        3,
        "{labels}"
    );
    place.run("train --labels literal --model m.fmk train.txt");
    let labels = place.run("inspect --dump m.fmk");
    assert!(labels.contains("label\tO|I-PER\n"), "{labels}");
}

#[test]
fn a_development_set_stops_training() {
    let place = Place::with_data();
    let options =
        "train --template template.txt --c2 0.001 --epsilon 0 --period 0 --dev test.txt --patience 2";
    let done = place
        .command(&format!("{options} --report r.json --model m.fmk train.txt"))
        .done()
        .success();
    let text = errors(&done);
    assert!(text.contains("development score no longer improves"), "{text}");
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let best = report["best_iteration"].as_u64().unwrap();
    let iterations = report["iterations"].as_array().unwrap();
    assert_eq!(iterations.len() as u64, best + 2);
    let dev = |index: u64| iterations[index as usize - 1]["dev"].as_f64().unwrap();
    assert!((1..=best + 2).all(|index| dev(index) <= dev(best)));
}

#[test]
fn a_warm_start_saves_iterations() {
    let place = Place::with_data();
    place.run("train --max-iterations 5 --template template.txt --model early.fmk train.txt");
    let iterations = |options: &str| {
        place.run(&format!(
            "train {options} --template template.txt --report r.json --model n.fmk train.txt"
        ));
        let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
        report["iterations"].as_array().unwrap().len()
    };
    assert!(iterations("--warm-start early.fmk") < iterations(""));
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(report.get("warm_weights"), None, "without a warm start");
    // Another order, other labels: what both models have is taken over.
    place.write("other.txt", "Ada Aa X\nLondon Aa B-LOC\n");
    let warm =
        "train --warm-start early.fmk --order 2 --template template.txt --report r.json --model other.fmk";
    let done = place.command(&format!("{warm} other.txt")).done().success();
    // U00:London and U01:Aa with B-LOC.
    let text = errors(&done);
    assert!(
        text.contains(" features, 2 of their weights taken over"),
        "{text}"
    );
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(report["warm_weights"], 2);
    let events = place.run(&format!("{warm} --json other.txt"));
    assert!(events.contains("\"warm_weights\":2"), "{events}");
    place.write("strange.txt", "a a X\nb b Y\n");
    let done = place.command(&format!("{warm} -q strange.txt")).done().success();
    assert!(errors(&done).contains("has no weight for any feature"));
}

#[test]
fn compressed_data_and_standard_input() {
    let place = Place::with_data();
    place.run("train --model a.fmk train.txt");
    let command = place.command("train --model b.fmk -");
    command.input(place.read("train.txt")).done().success();
    assert!(place.bytes("a.fmk") == place.bytes("b.fmk"));
}

#[test]
fn results_replace_no_input() {
    let place = Place::with_data();
    let before = place.read("train.txt");
    for arguments in [
        "train --template template.txt --model train.txt train.txt",
        "train --template template.txt --model m.fmk --report train.txt train.txt",
        "train --template template.txt --model m.fmk --checkpoint train.txt train.txt",
        "train --template template.txt --model template.txt train.txt",
        "train --template template.txt --model x.fmk --report ./x.fmk train.txt",
        "train --template template.txt --model m.fmk --dev test.txt --report test.txt train.txt",
    ] {
        if arguments.contains("./x.fmk") {
            place.write("x.fmk", "");
        }
        let message = place.refuse(arguments);
        assert!(message.contains("are the same file"), "{arguments}: {message}");
    }
    assert_eq!(place.read("train.txt"), before);
    assert!(!place.path("m.fmk").exists());
}

#[test]
fn a_report_that_cannot_be_written_is_noticed_before_training() {
    let place = Place::with_data();
    let message =
        place.refuse("train --template template.txt --model m.fmk --report no/where.json train.txt");
    assert!(message.contains("does not exist"), "{message}");
    assert!(!place.path("m.fmk").exists());
}

#[test]
fn data_of_one_label_and_templates_that_are_no_text() {
    let place = Place::with_data();
    place.write("one.txt", "a b O\nc d O\n");
    let done = place.command("train -q --model m.fmk one.txt").done().success();
    let warnings = errors(&done);
    assert!(
        warnings.contains("every label is O, so there is nothing to learn"),
        "{warnings}"
    );
    assert_eq!(warnings.matches("warning").count(), 1, "{warnings}");
    let done = place.command("train --model m.fmk one.txt").done().success();
    let notes = errors(&done);
    assert!(
        notes.starts_with("1 sequence, 2 tokens, 1 label, 4 observations,"),
        "{notes}"
    );
    place.write("binary.txt", b"U00:%x[0,0]\n\xff\n");
    let error = place.refuse("train --template binary.txt --model m.fmk train.txt");
    assert!(error.contains("binary.txt:2: this is not valid UTF-8"), "{error}");
    if cfg!(target_os = "linux") {
        let error = place.refuse("train --report /dev/full --template template.txt --model m.fmk train.txt");
        assert_eq!(error.matches("cannot write").count(), 1, "{error}");
    }
}

#[test]
fn counted_models_refuse_negative_values() {
    let place = Place::new();
    place.write("data.crfsuite", "A\ta\nB\tb\n\nA\ta\nB\tc:-3\n\n");
    for algorithm in ["naive-bayes", "hmm"] {
        let error = place.refuse(&format!(
            "train --algorithm {algorithm} --model m.fmk data.crfsuite"
        ));
        assert!(
            error.contains("data.crfsuite:4:1: the value of `c` is negative"),
            "{error}"
        );
    }
    place.run("train --model m.fmk data.crfsuite");
}

#[test]
fn attributes_that_are_hardly_meant_so_are_told() {
    let place = Place::new();
    place.write("space.crfsuite", "A\ta\nB b\tc\n");
    place.write("bare.crfsuite", "A\nB\n\nB\n");
    for (file, warning) in [
        ("space", "the label `B b` holds a space"),
        ("bare", "there are no observations"),
    ] {
        let done = place
            .command(&format!("train --model m.fmk {file}.crfsuite"))
            .done()
            .success();
        assert!(errors(&done).contains(warning), "{}", errors(&done));
    }
}

#[test]
fn warnings_are_events_for_programs() {
    let place = Place::new();
    place.write("bare.crfsuite", "A\nB\n\nB\n");
    let done = place
        .command("train --json --model m.fmk bare.crfsuite")
        .done()
        .success();
    let stderr = errors(&done);
    let warned = stderr.lines().all(|line| line.starts_with("warning: "));
    assert!(warned && !stderr.is_empty(), "{stderr}");
    let events: Vec<serde_json::Value> = output(done)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let warning = events.iter().find(|event| event["event"] == "warning").unwrap();
    assert!(
        warning["message"].as_str().unwrap().contains("no observations"),
        "{warning}"
    );
}
