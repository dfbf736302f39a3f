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
    assert!(training.contains(&format!("warning: {warning}")), "{training}");
    assert!(!training.contains("not everything"), "{training}");
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

/// Weights so large that a sum needs logarithms, for which there is no memory, while the best labelling does not.
#[test]
fn labels_stay_where_memory_does_not_suffice_for_probabilities() {
    let place = joint();
    let larger = |line: &str| match line.rsplit_once('\t') {
        Some((start, weight)) if start.starts_with("weight") || start.starts_with("bias") => {
            let weight: f64 = weight.parse().unwrap();
            format!("{start}\t{:?}\n", 800.0 * weight)
        }
        _ => format!("{line}\n"),
    };
    let dump = place.run("inspect joint.fmk --dump");
    place.write("dump.txt", dump.lines().map(larger).collect::<String>());
    place.run("inspect --load dump.txt large.fmk");
    place.write("long.txt", "qqq ".repeat(60));
    let tag = |options: &str| {
        let done = place.command(&format!(
            "-q tag large.fmk long.txt new.txt {options} --inference"
        ));
        done.args(["engine='product-chain', budget=30000"]).done()
    };
    let warning = "1 of 2 instances have labels, but not all probabilities, such as \"qqq qqq";
    let done = tag("--probs").code(2);
    let told = errors(&done);
    assert!(
        told.contains(warning) && told.contains("exact inference needs tables"),
        "{told}"
    );
    assert!(
        told.contains("has labels, but not all numbers that were asked for"),
        "{told}"
    );
    let table = output(done);
    assert!(table.contains("long.txt\t0\t3\tqqq\tDT\t-\tB-NP\t-\n"), "{table}");
    assert!(table.contains("new.txt\t4\t7\tdog\tNN\t1.000000\t"), "{table}");
    let json = output(tag("--nbest 2 --json").code(2));
    let answers: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers[0]["labels"]["pos"].as_array().unwrap().len(), 60);
    assert!(answers[0]["missing"].is_string() && answers[0]["nbest"].is_null());
    assert!(answers[1]["missing"].is_null() && answers[1]["nbest"].is_array());
    let several = output(tag("--nbest 2").code(2));
    assert!(
        several.contains("\n# 0 -\nlong.txt\t0\t3\tqqq\tDT\tB-NP\n"),
        "{several}"
    );
    // Labels are what was asked for.
    let done = tag("").success();
    assert!(errors(&done).contains(warning));
    assert!(output(done).contains("long.txt\t0\t3\tDT\tB-NP\t-\tqqq\n"));
}
