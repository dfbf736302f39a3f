//! Engines: what they tell and refuse.

use crate::common::{errors, output};
use crate::joint;
use serde_json::Value;

#[test]
fn engines_say_what_they_could_not_do() {
    let place = joint();
    let loopy = place
        .read("joint.toml")
        .replace("engine = \"exact\"", "engine = \"loopy\"\niterations = 1");
    place.write("loopy.toml", loopy);
    place.run("train loopy.toml --model loopy.fmk");
    let done = place.command("tag loopy.fmk new.txt").done().success();
    assert!(
        errors(&done).contains("inference stopped at its limit"),
        "{}",
        errors(&done)
    );
    let error = place.refuse("tag loopy.fmk new.txt --json --nbest 3");
    assert!(error.contains("exact engines alone"), "{error}");
    for (arguments, expected) in [
        ("tag joint.fmk new.txt --rule at-most", "is for chains"),
        ("tag joint.fmk new.txt --log-space", "--log-space is for chains"),
        (
            "tag joint.fmk new.txt --marginals --max-marginals",
            "cannot be printed together",
        ),
        (
            "tag joint.fmk new.txt --spans",
            "no layer of this model marks spans",
        ),
        (
            "tag joint.fmk new.txt --probs --output x.txt",
            "--output is for documents",
        ),
        ("inspect joint.fmk --draw x.svg", "--data"),
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    let narrow = place
        .read("joint.toml")
        .replace("engine = \"exact\"", "engine = \"exact\"\nbudget = 10");
    place.write("narrow.toml", narrow);
    place.run("train narrow.toml --model narrow.fmk");
    let error = place.refuse("tag narrow.fmk new.txt");
    assert!(error.contains("exact inference needs tables"), "{error}");
}

#[test]
fn answers_tell_how_sure_inference_is_of_them() {
    let place = joint();
    let with = |engine: &str| {
        let config = place.read("joint.toml").replace("engine = \"exact\"", engine);
        place.write("other.toml", config);
        place.run("train other.toml --model other.fmk");
        let done = place.command("tag other.fmk new.txt --json").done().success();
        let told = errors(&done);
        let answer: Value = serde_json::from_str(output(done).lines().next().unwrap()).unwrap();
        (answer, told)
    };
    let (exact, told) = with("engine = \"exact\"");
    assert_eq!(exact["proved"], true);
    assert_eq!(exact["score"], exact["bound"]);
    assert_eq!(exact["probabilities_converged"], true);
    assert!(!told.contains("settle") && !told.contains("proved"), "{told}");
    let (dual, _) = with("engine = \"dual\"");
    assert!(dual["bound"].as_f64().unwrap() >= dual["score"].as_f64().unwrap() - 1e-9);
    assert!(dual["iterations"].is_u64() && dual["residual"].is_number());
    assert_eq!(dual["probabilities_converged"], Value::Null);
    let (sampled, _) = with("engine = \"gibbs\"");
    assert_eq!(sampled["converged"], Value::Null);
    let (loopy, told) = with("engine = \"loopy\"\niterations = 1");
    assert_eq!(loopy["probabilities_converged"], false);
    assert!(told.contains("their probabilities are rough"), "{told}");
    for scores in [
        "eval --model other.fmk train.txt",
        "cv other.toml --folds 2 -o training.max_iterations=3",
    ] {
        let told = errors(&place.command(scores).done().success());
        assert!(
            told.contains("inference stopped at its limit"),
            "{scores}: {told}"
        );
    }
}

#[test]
fn options_of_engines_are_checked_before_data_are_read() {
    let place = joint();
    for (engine, expected) in [
        ("engine = \"loopy\"\ndamping = -0.5", "graph.inference: damping"),
        ("engine = \"gibbs\"\nsweeps = 0", "graph.inference: sweeps"),
        ("engine = \"dual\"\niterations = 0", "graph.inference: iterations"),
    ] {
        let config = place.read("joint.toml").replace("engine = \"exact\"", engine);
        place.write("wrong.toml", config);
        let error = place.refuse(
            "train wrong.toml --model x.fmk -o data.train=['none.txt'] -o graph.objective=pseudolikelihood",
        );
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_sampler_that_may_be_stuck_is_told() {
    let place = joint();
    let forbid = "-o graph.templates=[{relation={chain=\"pos\"},forbid=[[\"VB\",\"DT\"]]}]";
    let gibbs = "-o graph.inference.engine=gibbs -o graph.objective=pseudolikelihood";
    let told = |arguments: &str| errors(&place.command(arguments).done().success());
    let warning = "a Gibbs sampler changes one label at a time, and the template \"chain:pos\" forbids";
    let training = told(&format!("-q train joint.toml --model stuck.fmk {forbid} {gibbs}"));
    assert!(training.contains(warning), "{training}");
    for arguments in [
        "-q tag stuck.fmk new.txt",
        "-q eval --model stuck.fmk train.txt",
        "-q inspect stuck.fmk --explain new.txt",
    ] {
        assert!(told(arguments).contains(warning), "{arguments}");
        let loopy = told(&format!("{arguments} --inference loopy"));
        assert!(!loopy.contains("Gibbs"), "{loopy}");
    }
    let free = told(&format!("-q train joint.toml --model free.fmk {gibbs}"));
    assert!(!free.contains("one label at a time"), "{free}");
}
