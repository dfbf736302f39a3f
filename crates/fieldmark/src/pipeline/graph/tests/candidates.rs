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
    let sentence: &[&[&str]] = &[&["the", "DT", "PRP"], &["saw", "NN", "NN"]];
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
