//! Training graphs: stops, reports, and what is told.

use crate::common::{Place, errors};
use crate::joint;
use serde_json::Value;

#[test]
fn a_run_can_be_stopped_early_resumed_and_warmed() {
    let place = joint();
    place.run("train joint.toml --model first.fmk -o training.max_iterations=3 --checkpoint-every 1 --checkpoint state");
    let done = place
        .command("train joint.toml --model warm.fmk --warm-start joint.fmk")
        .done()
        .success();
    assert!(
        errors(&done).contains("of their weights taken over"),
        "{}",
        errors(&done)
    );
    let error = place.refuse("train joint.toml --model x.fmk --patience 3");
    assert!(error.contains("data.dev names no file"), "{error}");
    place.write("other.txt", "1 2 3\n4 5 6\n");
    let other = "train joint.toml -o data.train=[\"other.txt\"]";
    let done = place
        .command(&format!("-q {other} --model cold.fmk --warm-start joint.fmk"))
        .done()
        .success();
    let warning = "the model to start from has no weight for any feature of the new one";
    assert!(errors(&done).contains(warning), "{}", errors(&done));
    place.write(
        "dev.toml",
        place
            .read("joint.toml")
            .replace("dev = []", "dev = [\"train.txt\"]"),
    );
    let done = place
        .command("train dev.toml --model dev.fmk --patience 2")
        .done()
        .success();
    assert!(errors(&done).contains("was the best"), "{}", errors(&done));
}

#[test]
fn a_report_is_written_with_a_config_too() {
    let place = joint();
    place.run(
        "train joint.toml --model again.fmk --report graph.json --warm-start joint.fmk -o training.c2=1",
    );
    place.run("init chunking --output chain.toml");
    place.run("train chain.toml -o data.train=[\"train.txt\"] --model chain.fmk --report chain.json");
    for (file, labels) in [("graph.json", 6), ("chain.json", 3)] {
        let report: Value = serde_json::from_str(&place.read(file)).unwrap();
        assert_eq!(report["sequences"], 4, "{report}");
        assert_eq!(report["tokens"], 12, "{report}");
        assert_eq!(report["labels"], labels, "{report}");
        assert!(report["observations"].as_u64().unwrap() > 10, "{report}");
        assert!(
            report["features"].as_u64() >= report["active_features"].as_u64(),
            "{report}"
        );
        assert!(report["iterations"][0]["loss"].is_number(), "{report}");
        assert!(report["stop"].is_string(), "{report}");
    }
    let report: Value = serde_json::from_str(&place.read("graph.json")).unwrap();
    assert!(report["warm_weights"].as_u64().unwrap() > 0, "{report}");
    let error = place.refuse("train joint.toml --model again.fmk --report joint.toml");
    assert!(error.contains("--report"), "{error}");
}

#[test]
fn warnings_are_whole_for_those_who_want_no_notes() {
    let place = Place::new();
    let words = (0..40).map(|at| format!("Name B-X\nw{at} O\n"));
    place.write("train.txt", words.collect::<String>());
    place.write(
        "skip.toml",
        "name = 'skip'\nfeatures = [{ kind = 'word' }]\n[data]\ntrain = ['train.txt']\n\
         read = { format = 'columns' }\n[graph]\nkind = 'skip-chain'\n\
         skips = [{ same = 'W=', capitalised = true, max_edges = 3 }]\ninference = { engine = 'loopy' }\n\
         [training]\nmax_iterations = 2\n",
    );
    let done = place
        .command("-q train skip.toml --model skip.fmk")
        .done()
        .success();
    let told = errors(&done);
    assert!(
        told.contains("not everything could be used as it is") && told.contains("max_edges"),
        "{told}"
    );
    let events = place.run("train skip.toml --model skip.fmk --json");
    let warning = events
        .lines()
        .find(|line| line.contains("not everything"))
        .unwrap();
    assert!(warning.contains("max_edges"), "{events}");
}

#[test]
fn training_tells_how_inference_goes() {
    let place = joint();
    let likelihood = "train joint.toml -o graph.objective=\"likelihood\" -o training.max_iterations=5";
    let with = |inference: &str| {
        let inference = format!("-o graph.inference={{engine=\"loopy\",{inference}}}");
        let arguments = format!("{likelihood} --model loopy.fmk");
        let done = place.command(&arguments).args([inference.as_str()]).done();
        let quiet = place
            .command(&format!("-q {arguments}"))
            .args([inference.as_str()])
            .done();
        [errors(&done.success()), errors(&quiet.success())]
    };
    let [told, quiet] = with("iterations=500");
    assert!(told.contains("  converged in "), "{told}");
    assert_eq!(quiet, "");
    let [told, quiet] = with("iterations=1,tolerance=1e-9");
    assert!(
        told.contains("  none converged") && !told.contains("0.0 rounds"),
        "{told}"
    );
    for told in [told, quiet] {
        assert!(
            told.contains("warning: in the last iteration, inference stopped at its limit"),
            "{told}"
        );
        assert!(told.contains("Raise graph.inference.iterations"), "{told}");
    }
    let done = place
        .command(&format!("{likelihood} --model exact.fmk"))
        .done()
        .success();
    assert!(!errors(&done).contains("converged in"), "{}", errors(&done));
}

#[test]
fn options_of_chains_are_refused_with_what_a_graph_has_instead() {
    let place = joint();
    for (option, expected) in [
        (
            "--order 2",
            "relation = { window = { layers = [\"L\", \"L\", \"L\"], offsets = [-2, -1, 0] } }",
        ),
        ("--min-freq 2", "set graph.min_freq in the config"),
    ] {
        let error = place.refuse(&format!("train joint.toml --model x.fmk {option}"));
        assert!(
            error.contains(expected) && !error.contains("model.order"),
            "{error}"
        );
    }
    let window =
        "-o graph.templates=[{relation={window={layers=[\"pos\",\"pos\",\"pos\"],offsets=[-2,-1,0]}}}]";
    place.run(&format!("train joint.toml --model x.fmk {window}"));
    place.run("train joint.toml --model x.fmk -o graph.min_freq=2");
    std::fs::create_dir(place.path("texts")).unwrap();
    let directory = "-o data.train=[\"texts\"] -o data.read.format=\"inline-xml\"";
    let error = place.refuse(&format!("train joint.toml --model x.fmk {directory}"));
    assert!(
        error.contains("texts: cannot read: this is a directory. Give the names of the files in it"),
        "{error}"
    );
}
