//! Models with several layers: `train`, `tag`, `eval`, `cv` and `inspect` on graphs.

mod common;
use common::{Place, errors, output};
use serde_json::Value;

const DATA: &str = "the DT B-NP\ncat NN I-NP\nsleeps VB O\n\na DT B-NP\ndog NN I-NP\nbarks VB O\n\n\
                    the DT B-NP\ndog NN I-NP\nsleeps VB O\n\na DT B-NP\ncat NN I-NP\nbarks VB O\n";

fn joint() -> Place {
    let place = Place::new();
    place.write("train.txt", DATA);
    place.write("new.txt", "the dog barks");
    place.run("init joint --output joint.toml");
    place.run("train joint.toml --model joint.fmk");
    place
}

#[test]
fn labels_of_all_layers_are_a_table_columns_or_json() {
    let place = joint();
    let table = place.run("tag joint.fmk new.txt");
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("document\tstart\tend\tpos\tchunk\tconfidence\ttext")
    );
    let row: Vec<&str> = lines.nth(1).unwrap().split('\t').collect();
    assert_eq!(row[..5], ["new.txt", "4", "7", "NN", "I-NP"]);
    let confidence: f64 = row[5].parse().unwrap();
    assert!(confidence > 0.3 && confidence <= 1.0, "{table}");

    let columns = place.run("tag joint.fmk new.txt --to columns");
    assert!(
        columns.contains("the\tDT\tB-NP\ndog\tNN\tI-NP\nbarks\tVB\tO\n"),
        "{columns}"
    );

    let page = place.run("tag joint.fmk new.txt --to html");
    assert!(page.contains("DT B-NP") && page.contains("VB O"), "{page}");

    let json = place.run("tag joint.fmk new.txt --json --probs --marginals");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["labels"]["pos"], serde_json::json!(["DT", "NN", "VB"]));
    assert_eq!(answer["tokens"][2]["text"], "barks");
    let sum: f64 = answer["marginals"]["chunk"][0]
        .as_object()
        .unwrap()
        .values()
        .map(|value| value.as_f64().unwrap())
        .sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert_eq!(answer["converged"], true);
    let json = place.run("tag joint.fmk new.txt --json --nbest 2");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["best"].as_array().unwrap().len(), 2);
    assert_eq!(answer["best"][0]["labels"], answer["labels"]);
}

#[test]
fn labels_that_are_known_stay() {
    let place = joint();
    place.write("known.txt", "dog VB ?\nbarks ? ?\n");
    let columns = place.run("tag joint.fmk known.txt --format columns --fix-labels --to columns");
    assert!(columns.starts_with("dog\tVB\t"), "{columns}");
    let free = place.run("tag joint.fmk known.txt --format columns --to columns");
    assert!(free.starts_with("dog\tNN\t"), "{free}");
}

#[test]
fn scores_are_those_of_layers_and_of_all_together() {
    let place = joint();
    let table = place.run("cv joint.toml --folds 2");
    for row in ["all", "pos", "chunk"] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{table}");
    }
    assert!(table.contains("joint accuracy"), "{table}");
    assert!(table.contains("F1") && table.contains("accuracy"), "{table}");
    place.run("cv joint.toml --folds 2 --html cv.html");
    let page = place.read("cv.html");
    for part in [
        "Joint accuracy",
        "Layer pos",
        "Layer chunk",
        "Confusion",
        "alibration",
    ] {
        assert!(page.contains(part), "{part}");
    }
    place.write("first.json", place.run("cv joint.toml --folds 2 --json"));
    let tested = place.run("cv joint.toml --folds 2 -o training.c2=5 --against first.json");
    assert!(tested.contains("minus first.json"), "{tested}");
    place.run("tag joint.fmk train.txt --format columns --to columns --output tagged.txt");
    let joint = place.run("eval tagged.txt --help");
    assert!(joint.contains("--joint"));
}

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
        ("tag joint.fmk new.txt --pair-marginals", "is for chains"),
        ("tag joint.fmk new.txt --log-space", "--log-space is for chains"),
        ("tag joint.fmk new.txt --probs", "add --json"),
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
fn names_inside_of_names_are_spans() {
    let place = Place::new();
    let line =
        r#"{"id": "1", "text": "the Bank of Paris closed", "label": [[4, 17, "ORG"], [12, 17, "LOC"]]}"#;
    place.write(
        "train.jsonl",
        format!("{line}\n{}\n", r#"{"id": "2", "text": "it rains", "label": []}"#),
    );
    place.write(
        "nested.toml",
        "name = 'nested'\nfeatures = [{ kind = 'word', offsets = [-1, 0, 1] }]\n[data]\ntrain = ['train.jsonl']\n\
         [graph]\nkind = 'factorial'\nlayers = [{ name = 'outer', depth = 0 }, { name = 'inner', depth = 1 }]\n\
         [training]\nc2 = 0.01\n",
    );
    place.run("train nested.toml --model nested.fmk");
    place.write("new.txt", "the Bank of Paris closed");
    let table = output(place.command("tag nested.fmk new.txt").done().success());
    assert!(
        table.contains("\t4\t17\tORG\t") && table.contains("\t12\t17\tLOC\t"),
        "{table}"
    );
    place.write(
        "again.jsonl",
        format!("{}{}", place.read("train.jsonl"), place.read("train.jsonl")),
    );
    let scores = place.run("cv nested.toml --folds 2 -o data.train=['again.jsonl'] --html cv.html");
    let rows: Vec<Vec<&str>> = scores
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    for measure in ["precision", "recall", "F1"] {
        assert!(
            rows.iter().any(|row| row.starts_with(&["all", measure])),
            "{scores}"
        );
    }
    assert!(place.read("cv.html").contains("Confusion"));
}

#[test]
fn a_graph_marks_and_is_scored_in_one_go() {
    let place = joint();
    let table = place.run("eval --model joint.fmk train.txt --html page.html");
    for row in [
        "all joint accuracy 100.00 12",
        "pos accuracy 100.00 12",
        "chunk F1 100.00 12",
    ] {
        assert!(words(&table).iter().any(|line| line == row), "{table}");
    }
    let page = place.read("page.html");
    assert!(
        page.contains("joint accuracy") && page.contains("Confusion"),
        "{page}"
    );
    let json = place.run("eval --model joint.fmk train.txt --json");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["measures"][0]["measure"], "joint accuracy");
    assert_eq!(answer["measures"][0]["value"], 1.0);
    assert!(answer["labels"]["pos"].is_object(), "{json}");
    let error = place.refuse("eval --model joint.fmk train.txt --against train.txt");
    assert!(
        error.contains("--against compares what two systems found"),
        "{error}"
    );
}

/// The columns of `train.txt`, some of them wrong.
const FOUND: &str = "the DT B-NP\ncat NN I-NP\nsleeps NN O\n\na DT B-NP\ndog NN I-NP\nbarks VB O\n\n\
                     the DT B-NP\ndog NN B-NP\nsleeps VB O\n\na DT B-NP\ncat NN I-NP\nbarks NN B-NP\n";

/// Sentences of columns as documents that mark no span.
fn as_jsonl(columns: &str, names: [&str; 2]) -> String {
    let mut lines = String::new();
    for (at, sentence) in columns.split("\n\n").enumerate() {
        let (mut text, mut tokens) = (String::new(), Vec::new());
        for line in sentence.lines() {
            let cells: Vec<&str> = line.split(' ').collect();
            text += if text.is_empty() { "" } else { " " };
            let range = serde_json::json!({ "start": text.len(), "end": text.len() + cells[0].len() });
            tokens.push(serde_json::json!({ "range": range, "columns": cells[1..] }));
            text += cells[0];
        }
        let given = serde_json::json!({ "columns": names, "sentences": [tokens] });
        let id = (at + 1).to_string();
        let document = serde_json::json!({ "id": id, "text": text, "annotations": [], "given": given });
        lines += &format!("{document}\n");
    }
    lines
}

fn words(text: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).collect()
}

#[test]
fn labels_in_columns_of_a_file_are_scored_layer_by_layer() {
    let place = joint();
    place.run("tag joint.fmk train.txt --format columns --output found.jsonl");
    let jsonl = "--format columns --pred-format jsonl";
    for columns in ["", "--columns word,pos,chunk"] {
        let table = place.run(&format!("eval train.txt found.jsonl {jsonl} {columns}"));
        for row in [
            "all joint accuracy 100.00",
            "pos accuracy 100.00",
            "chunk F1 100.00",
        ] {
            assert!(words(&table).iter().any(|line| line.starts_with(row)), "{table}");
        }
    }
    place.write("open.txt", DATA.replacen("VB O", "? O", 1));
    place.write("wrong.jsonl", as_jsonl(FOUND, ["pos", "ner"]));
    let columns = "--columns word,pos,ner";
    let table = place.run(&format!(
        "eval open.txt wrong.jsonl {jsonl} {columns} --html page.html"
    ));
    for row in [
        "all joint accuracy 81.82 11",
        "pos accuracy 90.91 11",
        "ner recall 75.00 12",
    ] {
        assert!(words(&table).iter().any(|line| line == row), "{row}\n{table}");
    }
    assert!(place.read("page.html").contains("Confusion"));
    let error = place.refuse(&format!(
        "eval open.txt wrong.jsonl {jsonl} {columns} --measure exact"
    ));
    assert!(
        error.contains("--measure is for spans, and wrong.jsonl marks none"),
        "{error}"
    );
    let done = place
        .command(&format!(
            "-q eval train.txt wrong.jsonl {jsonl} --columns word,a,b"
        ))
        .done();
    assert!(
        errors(&done).contains("in the columns pos, ner. To score them"),
        "{}",
        errors(&done)
    );
}

#[test]
fn columns_that_differ_beside_spans_are_told() {
    let place = Place::new();
    place.write("gold.txt", DATA);
    place.write("found.txt", FOUND);
    place.write("same.txt", DATA.replacen("I-NP", "O", 1));
    let told = |file: &str| {
        let done = place
            .command(&format!("eval gold.txt {file} --format columns"))
            .done();
        errors(&done.success())
    };
    let notice = "the files also differ in the column c1: its labels are not scored";
    assert!(told("found.txt").contains(notice), "{}", told("found.txt"));
    assert!(
        told("found.txt").contains("eval --joint N"),
        "{}",
        told("found.txt")
    );
    assert_eq!(told("same.txt"), "");
}

#[test]
fn scores_tell_over_how_many_tokens_they_are_counted() {
    let place = joint();
    place.write("partial.txt", DATA.replacen("DT", "?", 3).replacen("O", "?", 2));
    let table = place.run("eval --model joint.fmk partial.txt");
    for row in [
        "all joint accuracy 100.00 7",
        "pos accuracy 100.00 9",
        "chunk F1 100.00 10",
    ] {
        assert!(words(&table).iter().any(|line| line == row), "{row}\n{table}");
    }
    let json = place.run("eval --model joint.fmk partial.txt --json");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["measures"][0]["tokens"], 7);
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

#[test]
fn columns_that_are_read_as_text_are_told() {
    let place = joint();
    place.write("columns.txt", DATA);
    let told = |arguments: &str| errors(&place.command(&format!("-q tag {arguments}")).done().success());
    let warning = "columns.txt was read as text, but nearly all of its lines have 3 cells";
    for more in ["", "--json", "--to columns"] {
        let told = told(&format!("joint.fmk columns.txt {more}"));
        assert!(
            told.contains(warning) && told.contains("--format columns"),
            "{told}"
        );
    }
    for arguments in [
        "joint.fmk columns.txt --format columns",
        "joint.fmk columns.txt --format text",
        "joint.fmk new.txt",
    ] {
        assert!(!told(arguments).contains("was read as text"), "{arguments}");
    }
    place.run("init chunking --output chain.toml");
    place.run("train chain.toml -o data.train=[\"train.txt\"] --model chain.fmk");
    assert!(
        told("chain.fmk columns.txt").contains(warning),
        "{}",
        told("chain.fmk columns.txt")
    );
}

#[test]
fn help_calls_only_chains_exact() {
    let help = Place::new().run("tag --help");
    assert!(help.contains("With chains everything is exact"), "{help}");
    assert!(help.contains("loopy and gibbs estimate"), "{help}");
}
