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
    let json: serde_json::Value =
        serde_json::from_str(&place.run("inspect --top 3 --json model.fmk")).unwrap();
    assert_eq!(json["sizes"]["labels"], 5);
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
    assert!(!place.path("copy.fmk").exists());
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
