//! What `inspect` shows of a graph.

use crate::joint;
use serde_json::Value;

#[test]
fn a_graph_shows_its_weights_and_is_drawn() {
    let place = joint();
    let overview = place.run("inspect joint.fmk --top 2");
    assert!(
        overview.contains("between:pos-chunk") && overview.contains("chain:pos"),
        "{overview}"
    );
    let json: Value = serde_json::from_str(&place.run("inspect joint.fmk --json")).unwrap();
    assert_eq!(json["templates"].as_array().unwrap().len(), 5);
    place.run("inspect joint.fmk --data train.txt --instance 2 --draw graph.svg");
    let svg = place.read("graph.svg");
    assert!(svg.starts_with("<svg") && svg.contains("barks") && svg.contains("B-NP"));
    assert!(svg.contains("instance 2 of train.txt"));
    place.run("inspect joint.fmk --data train.txt --positions 1-2 --draw graph.dot");
    assert!(place.read("graph.dot").contains("graph"));
    place.write("dump.txt", place.run("inspect joint.fmk --dump"));
    place.run("inspect --load dump.txt copy.fmk");
    assert_eq!(place.bytes("copy.fmk"), place.bytes("joint.fmk"));
    for (arguments, expected) in [
        (
            "inspect joint.fmk --data train.txt --draw graph.png",
            "ends with .svg, or with .dot",
        ),
        (
            "inspect joint.fmk --data train.txt --instance 9 --draw graph.svg",
            "has 4 instances",
        ),
        (
            "inspect joint.fmk --data train.txt --draw train.txt",
            "ends with .svg",
        ),
        (
            "inspect joint.fmk --explain train.txt --line 2",
            "--line is for models of observations",
        ),
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}

#[test]
fn labels_of_a_graph_have_reasons() {
    let place = joint();
    let text = place.run("inspect joint.fmk --explain new.txt --top 3");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("new.txt"));
    let first = lines.nth(1).unwrap();
    assert!(
        first.starts_with("1  the  pos: DT ") && first.contains(" %, rather than "),
        "{text}"
    );
    for part in [
        "[DT] → NN",
        "chunk B-NP",
        " against ",
        "chain:pos",
        "between:pos-chunk",
        " more",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = place.run("inspect joint.fmk --explain new.txt --top 3 --json");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["document"], "new.txt");
    let decisions = answer["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 6);
    let marginals = place.run("tag joint.fmk new.txt --json --probs");
    let marginals: Value = serde_json::from_str(&marginals).unwrap();
    for decision in decisions {
        let (layer, at) = (
            decision["layer"].as_str().unwrap(),
            decision["position"].as_u64().unwrap(),
        );
        assert_eq!(decision["label"], marginals["labels"][layer][at as usize]);
        assert_eq!(
            decision["probability"],
            marginals["probabilities"][layer][at as usize]
        );
        let listed = decision["contributions"].as_array().unwrap().iter();
        let sum: f64 = listed.map(|one| one["difference"].as_f64().unwrap()).sum();
        let rest = decision["others"]["difference"].as_f64().unwrap();
        assert!((sum + rest - decision["margin"].as_f64().unwrap()).abs() < 1e-9);
    }
    let bound = place.run("inspect joint.fmk --explain new.txt --inference dual");
    assert!(bound.contains("1  the  pos: DT, rather than "), "{bound}");
}
