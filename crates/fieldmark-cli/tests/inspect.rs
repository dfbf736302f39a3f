//! `fieldmark inspect` and `fieldmark check`.

mod common;
use common::{Place, errors};

#[test]
fn shows_labels_transitions_and_features() {
    let place = Place::with_data();
    place.train();
    let text = place.run("inspect --top 3 model.fmk");
    assert!(
        text.starts_with("model.fmk: ") && text.contains("reads columns with a template"),
        "{text}"
    );
    assert!(text.contains("B-LOC") && text.contains("U00:London"), "{text}");
    assert!(text.contains("\n  trained by lbfgs\n"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&place.run("inspect --top 3 --json model.fmk")).unwrap();
    assert_eq!(json["sizes"]["labels"], 5);
    assert_eq!(json["sizes"]["algorithm"], "lbfgs");
    assert_eq!(json["labels"].as_array().unwrap().len(), 5);
    assert!(json["labels"][0]["positive"].as_array().unwrap().len() <= 3);
}

#[test]
fn dump_and_load_round_trip() {
    let place = Place::with_data();
    place.train();
    place.run("train --model plain.fmk train.crfsuite");
    for model in ["model.fmk", "plain.fmk"] {
        place.write("dump.txt", place.run(&format!("inspect --dump {model}")));
        place.run("inspect --load dump.txt copy.fmk");
        assert!(place.bytes(model) == place.bytes("copy.fmk"), "{model}");
    }
}

#[test]
fn a_damaged_dump_is_refused_with_its_line() {
    let place = Place::with_data();
    place.train();
    let dump = place.run("inspect --dump model.fmk");
    place.write("dump.txt", dump.replacen("label\tO\n", "label\n", 1));
    let error = place.refuse("inspect --load dump.txt copy.fmk");
    assert!(
        error.contains("dump.txt: line ") && error.contains("expected"),
        "{error}"
    );
    place.write("dump.txt", dump.replace("input\tformat\t", "input\tformats\t"));
    let error = place.refuse("inspect --load dump.txt copy.fmk");
    assert!(error.contains("formats"), "{error}");
    place.write("dump.txt", format!("{dump}more\n"));
    let error = place.refuse("inspect --load dump.txt copy.fmk");
    assert!(
        error.contains(&format!("line {}", dump.lines().count() + 1)),
        "{error}"
    );
    for cut in ["input\tpartial-labels", "input\tformat"] {
        let short = dump.split(cut).next().unwrap();
        place.write("dump.txt", short);
        let error = place.refuse("inspect --load dump.txt copy.fmk");
        let end = format!("line {}: found the end, but no ", short.lines().count() + 1);
        assert!(error.contains(&end), "{error}");
    }
    place.write("dump.txt", format!("{dump}input\tpartial-labels\tno\n"));
    let error = place.refuse("inspect --load dump.txt copy.fmk");
    let line = dump.lines().count() + 1;
    assert!(
        error.contains(&format!(
            "line {line}: found \"partial-labels\" for the second time"
        )),
        "{error}"
    );
    place.write("dump.txt", b"\x00\xff\xfe\n\n\x80");
    let error = place.refuse("inspect --load dump.txt copy.fmk");
    assert!(error.contains("dump.txt: line 1: found "), "{error}");
    place.write("dump.txt", [dump.as_bytes(), b"input\t\xff\n"].concat());
    let error = place.refuse("inspect --load dump.txt copy.fmk");
    assert!(
        error.contains(&format!("dump.txt: line {line}: found text that is not UTF-8")),
        "{error}"
    );
    assert!(!place.path("copy.fmk").exists());
}

#[test]
fn loading_replaces_no_input() {
    let place = Place::with_data();
    place.train();
    let dump = place.run("inspect --dump model.fmk");
    place.write("dump.txt", &dump);
    for name in ["dump.txt", "./dump.txt"] {
        let error = place.refuse(&format!("inspect --load dump.txt {name}"));
        assert!(
            error.contains("the model and --load are the same file"),
            "{error}"
        );
    }
    assert_eq!(place.read("dump.txt"), dump);
    place.refuse("inspect --load dump.txt .");
    place.refuse("inspect --load dump.txt no/where.fmk");
}

#[test]
fn explains_one_sentence() {
    let place = Place::with_data();
    place.train();
    let all = place.run("inspect --explain test.txt --top 2 model.fmk");
    assert_eq!(all.matches("sequence in lines").count(), 3, "{all}");
    let one = place.run("inspect --explain test.txt --line 10 model.fmk");
    assert!(one.starts_with("sequence in lines 9 to 12\n"), "{one}");
    assert!(one.contains("Paris") && one.contains("U00:Paris"), "{one}");
    let json = place.run("inspect --explain test.txt --line 10 --json model.fmk");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["decisions"][3]["token"], "Paris");
    assert!(json["decisions"][3]["runner_up"]["label"].is_string());
    assert!(
        place
            .refuse("inspect --explain test.txt --line 99 model.fmk")
            .contains("no sequence has this line")
    );
}

/// `model.fmk` with weights of this size for one word.
fn giant(place: &Place, weight: &str) {
    place.train();
    let dump = place.run("inspect --dump model.fmk");
    let lines = dump.lines().map(|line| match line.rsplit_once('\t') {
        Some((rest, _)) if line.starts_with("state\tU00:Paris\t") => format!("{rest}\t{weight}\n"),
        _ => format!("{line}\n"),
    });
    place.write("giant.txt", lines.collect::<String>());
    place.run("inspect --load giant.txt giant.fmk");
}

#[test]
fn scores_that_overflow_are_not_explained() {
    let place = Place::with_data();
    giant(&place, "1e308");
    let error = place.refuse("inspect --explain test.txt giant.fmk");
    assert!(
        error.contains("test.txt:9:1: in the sequence that starts here, the scores are too large")
            && error.contains("Check the weights of the model"),
        "{error}"
    );
    place.write("train.crfsuite", "O\ta\n\nX\tb\n");
    place.write("twice.crfsuite", "O\ta:1e30\n");
    place.run("train --model twice.fmk train.crfsuite");
    let dump = place.run("inspect --dump twice.fmk");
    let lines = dump.lines().map(|line| match line.rsplit_once('\t') {
        Some((rest, _)) if line.starts_with("state\ta\t") => format!("{rest}\t1e300\n"),
        _ => format!("{line}\n"),
    });
    place.write("twice.txt", lines.collect::<String>());
    place.run("inspect --load twice.txt twice.fmk");
    for command in [
        "inspect --explain twice.crfsuite twice.fmk",
        "tag --probs --model twice.fmk twice.crfsuite",
    ] {
        let error = place.refuse(command);
        assert!(
            error.contains("the weights of a label at one position add up to more than a number can hold"),
            "{error}"
        );
    }
}

#[test]
fn a_runner_up_may_be_very_unlikely() {
    let place = Place::with_data();
    giant(&place, "5000.0");
    let json = place.run("inspect --explain test.txt --line 10 --json giant.fmk");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let paris = &json["decisions"][3];
    assert_eq!(paris["runner_up"]["probability"], 0.0, "{paris}");
    assert!(paris["runner_up"]["label"].is_string(), "{paris}");
    assert!(paris["margin"].as_f64().unwrap() > 4000.0, "{paris}");
}

#[test]
fn check_finds_what_is_odd() {
    let place = Place::with_data();
    place.write(
        "odd.txt",
        "Ada a B-PER\nwent a I-LOC\n\nAda a B-PER\nwent a O\n\nwe a O\n\nwe a O\n",
    );
    let text = place.run("check odd.txt --test train.txt");
    for part in ["I-LOC", "duplicate", "contradictory", "IOB2"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&place.run("check --json odd.txt")).unwrap();
    assert_eq!(json["contradictions"]["count"], 1);
    let done = place.command("check --fail odd.txt").done().code(2);
    assert!(errors(&done).contains("findings"));
}

#[test]
fn check_estimates_the_memory_of_the_model_that_is_meant() {
    let place = Place::with_data();
    let estimate = |options: &str| {
        let json = place.run(&format!(
            "check --json {options} --template template.txt train.txt"
        ));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let number = |name: &str| json["memory"][name].as_u64().unwrap();
        (number("features"), number("training_bytes"))
    };
    for options in [
        "",
        "--order 2",
        "--order 3 --boundaries --label-bias",
        "--all-possible-states",
        "--step-observations right --transitions all",
        "--min-freq 2",
        "--unseen-transitions forbid",
    ] {
        place.run(&format!(
            "train {options} --template template.txt --report r.json --model m.fmk train.txt"
        ));
        let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
        let (features, bytes) = estimate(options);
        assert_eq!(report["features"], features, "{options}");
        assert!(bytes > 1_000_000, "{options}");
    }
    assert!(estimate("--num-memories 600").1 > estimate("").1);
    let text = place.run("check --order 2 --threads 1 --template template.txt train.txt");
    assert!(
        text.contains("memory for training with L-BFGS, order 2,") && text.contains(" features, 1 thread\n"),
        "{text}"
    );
    place.write("short.txt", "a X\nb Y\n");
    let error = place.refuse("check --unseen-transitions forbid short.txt");
    assert!(error.contains("no sequence of more than 2 labels"), "{error}");
}

#[test]
fn a_dump_with_a_broken_template_is_refused() {
    let place = Place::with_data();
    place.train();
    let dump = place.run("inspect --dump model.fmk");
    let line = dump
        .lines()
        .position(|line| line.starts_with("input\ttemplate\t"))
        .unwrap();
    let broken: Vec<&str> = (0..)
        .zip(dump.lines())
        .map(|(number, text)| {
            if number == line {
                "input\ttemplate\tnonsense"
            } else {
                text
            }
        })
        .collect();
    place.write("broken.txt", broken.join("\n") + "\n");
    let error = place.refuse("inspect --load broken.txt copy.fmk");
    let place_of_it = format!(
        "broken.txt: line {}: found a template that cannot be read",
        line + 1
    );
    assert!(error.contains(&place_of_it), "{error}");
}
