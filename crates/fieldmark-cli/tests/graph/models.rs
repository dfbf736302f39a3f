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
        ("inspect joint.fmk --explain train.txt", "--explain is for chains"),
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}
