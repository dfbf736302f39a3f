//! The calls that scripts outside of the project rely on, word by word.

mod common;
use common::Place;

#[test]
fn attribute_files() {
    let place = Place::with_data();
    place.run(
        "train --format crfsuite --algorithm lbfgs --c2 1 --max-iterations 50 --threads 1 --model M.fmk \
         --report R.json train.crfsuite",
    );
    let labels = place.run("tag --format crfsuite --model M.fmk test.crfsuite");
    let input = place.read("test.crfsuite");
    assert_eq!(labels.lines().count(), input.lines().count());
    for (line, label) in input.lines().zip(labels.lines()) {
        assert_eq!(line.is_empty(), label.is_empty(), "{line:?} {label:?}");
        assert!(!label.contains(char::is_whitespace));
    }
    assert!(
        labels.ends_with("\n\n"),
        "a blank line after the last sequence too"
    );

    let report: serde_json::Value = serde_json::from_str(&place.read("R.json")).unwrap();
    for (field, expected) in [("labels", 5), ("sequences", 6), ("tokens", 29), ("threads", 1)] {
        assert_eq!(report[field], expected, "{field}");
    }
    assert!(report["features"].as_u64().unwrap() > 50);
    assert!(report["read_seconds"].as_f64().unwrap() >= 0.0);
    if cfg!(target_os = "linux") {
        assert!(report["peak_rss_bytes"].as_u64().unwrap() > 1_000_000);
    }
    let iterations = report["iterations"].as_array().unwrap();
    assert!(!iterations.is_empty() && iterations.len() <= 50);
    for iteration in iterations {
        for field in ["loss", "gradient_norm", "seconds"] {
            assert!(iteration[field].as_f64().unwrap() >= 0.0, "{field}");
        }
    }
    let loss = |index: usize| iterations[index]["loss"].as_f64().unwrap();
    assert!(loss(iterations.len() - 1) < loss(0));
}

#[test]
fn column_files() {
    let place = Place::with_data();
    place.run("train --format columns --template template.txt --c2 1 --model M.fmk train.txt");
    let tagged = place.run("tag --model M.fmk test.txt");
    let input = place.read("test.txt");
    assert_eq!(tagged.lines().count(), input.lines().count());
    for (line, tagged) in input.lines().zip(tagged.lines()) {
        if line.is_empty() {
            assert_eq!(tagged, "");
        } else {
            let (columns, label) = tagged.rsplit_once(' ').unwrap();
            assert_eq!(columns, line, "the input columns");
            assert!(
                ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"].contains(&label),
                "{label}"
            );
        }
    }
    place.write("tagged.txt", &tagged);
    let scores = place.run("eval tagged.txt");
    assert!(
        scores.starts_with("processed 14 tokens with 5 phrases; found: "),
        "{scores}"
    );

    let dump = place.run("inspect --dump M.fmk");
    assert_eq!(dump, place.run("inspect --dump M.fmk"));
    assert!(
        dump.lines()
            .any(|line| line.starts_with("state\tU00:London\tB-LOC\t")),
        "{dump}"
    );
    assert!(
        dump.lines().any(|line| line.starts_with("tuple\tB-PER\tI-PER\t")),
        "{dump}"
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let place = Place::with_data();
    for threads in [1, 2, 7] {
        place.run(&format!(
            "train --template template.txt --threads {threads} --model M{threads}.fmk train.txt"
        ));
    }
    assert!(place.bytes("M1.fmk") == place.bytes("M2.fmk"));
    assert!(place.bytes("M1.fmk") == place.bytes("M7.fmk"));
}
