//! Columns that say which labels are possible.

use super::*;

const CONFIG: &str = "
[[features]]
kind = 'word'
[graph]
kind = 'linear-chain'
[[graph.layers]]
name = 'pos'
column = 'pos'
candidates = 'possible'
[training]
c2 = 0.1
";

fn corpus() -> Document {
    let a: &[&[&str]] = &[
        &["the", "DT", "DT"],
        &["saw", "NN", "NN|VB"],
        &["cuts", "VB", "?"],
    ];
    // Its own label is possible in training, whatever the column says.
    let b: &[&[&str]] = &[&["they", "PRP", "DT"], &["saw", "VB", "NN|VB"]];
    columns(&["pos", "possible"], &[a, b])
}

fn labels(pipeline: &GraphPipeline, cells: &[&[&str]]) -> Vec<String> {
    let mut document = columns(&["possible"], &[cells]);
    pipeline.annotator().unwrap().annotate(&mut document).unwrap();
    column(&document, "pos")
}

#[test]
fn no_token_has_a_label_that_its_column_rules_out() {
    for objective in ["likelihood", "pseudolikelihood", "piecewise"] {
        let config = parse(CONFIG, &[&format!("graph.objective={objective}")]);
        let trained = train(&config, &[corpus()]);
        let found = |cells: &[&str]| {
            let words = ["the", "saw", "cuts"];
            let cells: Vec<[&str; 2]> = words
                .into_iter()
                .zip(cells.iter().copied())
                .map(Into::into)
                .collect();
            let cells: Vec<&[&str]> = cells.iter().map(|cell| &cell[..]).collect();
            labels(&trained.pipeline, &cells)
        };
        assert_eq!(found(&["?", "?", "?"]), ["DT", "NN", "VB"], "{objective}");
        assert_eq!(found(&["PRP", "?", "DT|PRP"])[0], "PRP", "{objective}");
        assert!(["DT", "PRP"].contains(&found(&["PRP", "?", "DT|PRP"])[2].as_str()));
        // What the model does not know leaves what it knows, or everything.
        assert_eq!(found(&["?", "JJ|VB", "JJ"])[1..], ["VB", "VB"], "{objective}");
    }
}

#[test]
fn labels_of_development_data_are_no_candidates() {
    let config = parse(CONFIG, &[]);
    // What no label of the model is called is no candidate, either.
    let sentence: &[&[&str]] = &[&["the", "DT", "PRP|XX"], &["saw", "NN", "NN"]];
    let dev = columns(&["pos", "possible"], &[sentence]);
    let options = RunOptions::default();
    let trained = train_graph(&config, Path::new(""), &[corpus()], &[dev], &options, &mut ()).unwrap();
    let last = trained.run.iterations.last().unwrap().dev.unwrap();
    assert_eq!(last, 0.5);
}

#[test]
fn a_document_without_the_column_lacks_it() {
    let trained = train(&parse(CONFIG, &[]), &[corpus()]);
    let document = columns(&["pos"], &[&[&["the", "DT"]]]);
    assert_eq!(trained.pipeline.missing_columns(&document), ["possible"]);
}

#[test]
fn candidates_of_spans_are_labels_with_bars_between_them() {
    let spans = CONFIG.replace("column = 'pos'\n", "");
    let mut document = columns(
        &["possible"],
        &[&[&["the", "B-X|O"], &["dog", "I-X"], &["saw", "O"], &["it", "?"]]],
    );
    document.annotations = vec![Annotation::new(0..7, "X")];
    let trained = train(&parse(&spans, &[]), &[document.clone()]);
    let mut labels: Vec<&str> = trained.pipeline.model.labels(0).iter().collect();
    labels.sort_unstable();
    assert_eq!(labels, ["B-X", "I-X", "O"]);
    document.annotations.clear();
    trained
        .pipeline
        .annotator()
        .unwrap()
        .annotate(&mut document)
        .unwrap();
    assert_eq!(document.annotations.len(), 1);
    let mut ruled_out = columns(
        &["possible"],
        &[&[&["the", "O"], &["dog", "O"], &["saw", "O"], &["it", "O"]]],
    );
    trained
        .pipeline
        .annotator()
        .unwrap()
        .annotate(&mut ruled_out)
        .unwrap();
    assert!(ruled_out.annotations.is_empty());
}

#[test]
fn one_candidate_is_as_good_as_a_label() {
    let rows: &[&[&str]] = &[&["the", "?", "DT"], &["dog", "?", "NN"], &["barks", "VB", "?"]];
    let open = train(&parse(CONFIG, &[]), &[columns(&["pos", "possible"], &[rows])]);
    let rows: &[&[&str]] = &[&["the", "DT", "DT"], &["dog", "NN", "NN"], &["barks", "VB", "?"]];
    let known = train(&parse(CONFIG, &[]), &[columns(&["pos", "possible"], &[rows])]);
    assert_eq!(open.pipeline.model.weights(), known.pipeline.model.weights());
}

#[test]
fn candidates_do_not_make_a_hidden_layer_known() {
    let config = parse(
        &CONFIG.replace("column = 'pos'", "labels = ['DT', 'NN', 'VB', 'PRP']"),
        &["graph.kind=factorial", "graph.objective=piecewise"],
    );
    let text = config.to_toml() + "\n[[graph.layers]]\nname = 'tag'\ncolumn = 'pos'\n";
    let problem = problem(&parse(&text, &[]), &[corpus()]);
    assert!(
        problem.contains("no label of the layer \"pos\" is known"),
        "{problem}"
    );
}

#[test]
fn a_column_that_is_not_there_or_is_that_of_labels_is_told() {
    let trained = train(
        &parse(CONFIG, &["graph.layers[0].candidates=nowhere"]),
        &[corpus()],
    );
    let messages: Vec<&str> = trained
        .notices
        .all()
        .iter()
        .map(|notice| notice.message.as_str())
        .collect();
    assert!(
        messages
            .iter()
            .any(|message| message.contains("no column \"nowhere\"")),
        "{messages:?}"
    );
    let own = problem(&parse(CONFIG, &["graph.layers[0].candidates=pos"]), &[corpus()]);
    assert!(
        own.contains("has its candidates from the column of its labels"),
        "{own}"
    );
}
