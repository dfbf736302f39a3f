//! What training says about gold, and layers of which no label is known.

use super::*;

/// Every pair of two cells, and a label that says whether they are equal; `h` is open everywhere.
fn alike() -> Vec<Document> {
    let row = |one, other, label| [one, other, label, "?"];
    let rows = [
        row("a0", "b0", "same"),
        row("a0", "b1", "other"),
        row("a1", "b0", "other"),
        row("a1", "b1", "same"),
    ];
    let sentences = (0..16).map(|number| [rows[number % 4], rows[number / 4]]);
    let sentences: Vec<Vec<Vec<&str>>> = sentences
        .map(|rows| rows.iter().map(|row| row.to_vec()).collect())
        .collect();
    let sentences: Vec<Vec<&[&str]>> = sentences
        .iter()
        .map(|rows| rows.iter().map(Vec::as_slice).collect())
        .collect();
    let sentences: Vec<&[&[&str]]> = sentences.iter().map(Vec::as_slice).collect();
    vec![columns(&["b", "alike", "h"], &sentences)]
}

const HIDDEN: &str = "
features = [{ kind = 'word' }, { kind = 'column', column = 'b' }]
[graph]
kind = 'factorial'
[[graph.layers]]
name = 'alike'
column = 'alike'
[[graph.layers]]
name = 'h'
labels = ['0', '1', '2', '3']
[training]
c2 = 0.001
";

const PLAIN: &str = "
features = [{ kind = 'word' }, { kind = 'column', column = 'b' }]
labels = { column = 'alike' }
[graph]
kind = 'linear-chain'
[training]
c2 = 0.001
";

fn accuracy(config: &Config, documents: &[Document]) -> f64 {
    let scores = train(config, documents).pipeline.score(documents).unwrap();
    assert_eq!(scores.layers.len(), 1);
    assert_eq!(scores.layers[0].accuracy(), scores.joint_accuracy());
    scores.joint_accuracy()
}

fn told(trained: &TrainedGraph) -> Vec<&str> {
    let notices = trained.notices.all().iter();
    notices.map(|notice| notice.message.as_str()).collect()
}

#[test]
fn a_hidden_layer_learns_what_no_sum_of_observations_says() {
    let documents = alike();
    assert!(accuracy(&parse(PLAIN, &[]), &documents) < 0.9);
    for overrides in [
        &[][..],
        &["graph.start={seed=7,scale=0.1}"],
        &["graph.objective=pseudolikelihood"],
        &["graph.inference={engine='loopy'}"],
    ] {
        let found = accuracy(&parse(HIDDEN, overrides), &documents);
        assert_eq!(found, 1.0, "{overrides:?}");
    }
}

#[test]
fn a_hidden_layer_is_told_and_starts_the_same_for_the_same_seed() {
    let documents = alike();
    let weights = |overrides: &[&str], threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let config = parse(HIDDEN, overrides);
        let trained = pool.build().unwrap().install(|| train(&config, &documents));
        let notice = told(&trained).join("\n");
        assert!(
            notice.contains("no label of the layer \"h\" is known: it is trained as a hidden layer"),
            "{notice}"
        );
        trained.pipeline.model.weights().to_vec()
    };
    let short = "training.max_iterations=3";
    let first = weights(&[short], 1);
    assert_eq!(first, weights(&[short], 3));
    let seeded = |seed| weights(&[short, &format!("graph.start={{seed={seed}}}")], 1);
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
}

#[test]
fn objectives_that_cannot_learn_a_hidden_layer_say_so() {
    let documents = alike();
    for (overrides, expected) in [
        (
            &["graph.objective=piecewise"][..],
            "no label of the layer \"h\" is known, and graph.objective is \"piecewise\"",
        ),
        (
            &["graph.objective=sample-rank", "training={}"],
            "no label of the layer \"h\" is known, and graph.objective is \"sample-rank\"",
        ),
        (
            &[
                "graph.kind=templates",
                "graph.templates=[{relation={unary='alike'}},{relation={unary='h'}}]",
            ],
            "no template joins it with a layer of which labels are known",
        ),
        (
            &["graph.layers[1].labels=['0']"],
            "graph.layers[1] is hidden, as it has `labels` and neither `column` nor `meta`: it needs two labels or more",
        ),
        (
            &["graph.layers[1].labels=['0','0']"],
            "graph.layers[1] has \"0\" among its labels twice",
        ),
        (
            &["graph.layers[1].labels=['0','?']"],
            "graph.layers[1] has \"?\" among its labels",
        ),
        (
            &["graph.layers[1].scheme='iobes'"],
            "graph.layers[1] does not make labels from spans",
        ),
        (
            &["graph.layers[1].per=instance", "graph.layers[1].candidates=b"],
            "graph.layers[1] has `candidates`, which are those of tokens",
        ),
        (
            &["graph.layers[1].column=h"],
            "no label for the layer \"h\": every cell of the column \"h\" is unknown",
        ),
        (&["graph.start.scale=0"], "graph.start.scale is 0"),
    ] {
        let found = problem(&parse(HIDDEN, overrides), &documents);
        assert!(found.contains(expected), "{overrides:?}: {found}");
    }
    let trained = train(&parse(HIDDEN, &["graph.objective=pseudolikelihood"]), &documents);
    let told = told(&trained).join("\n");
    assert!(
        told.contains("learns nothing about the template \"chain:h\""),
        "{told}"
    );
}

#[test]
fn labels_that_are_listed_come_first_and_need_no_data() {
    let config = parse(FACTORIAL, &["graph.layers[0].labels=['X','VB']"]);
    let trained = train(&config, &corpus());
    let labels: Vec<&str> = trained.pipeline.model.labels(0).iter().collect();
    assert_eq!(labels, ["X", "VB", "DT", "NN"]);
}

#[test]
fn gold_that_is_forbidden_is_told_with_its_place() {
    let forbid = "graph.templates=[{relation={chain='pos'},forbid=[['DT','NN']]}]";
    for objective in ["likelihood", "pseudolikelihood", "piecewise"] {
        let objective = format!("graph.objective={objective}");
        let found = problem(&parse(FACTORIAL, &[forbid, &objective]), &corpus());
        assert_eq!(
            found,
            "doc, sentence 1: the template \"chain:pos\" forbids all labels that are left by what is known in the layer \
             \"pos\" at token 1 (\"the\") and the layer \"pos\" at token 2 (\"cat\"): forbid less, or mend the labels"
        );
    }
}

#[test]
fn candidates_that_a_template_forbids_are_told_with_their_place() {
    let rows: &[&[&str]] = &[&["x", "?", "B", "DT"], &["y", "?", "I", "NN|DT"]];
    let mut documents = corpus();
    documents.push(columns(&["pos", "chunk", "may"], &[rows]));
    let config = parse(
        FACTORIAL,
        &[
            "graph.layers[0].candidates=may",
            "graph.templates=[{relation={window={layers=['pos','chunk'],offsets=[0,1]}},forbid=[['DT','I']]}]",
        ],
    );
    let rest: &[&[&str]] = &[&["a", "DT", "B", "?"], &["b", "NN", "O", "?"]];
    let documents = [columns(&["pos", "chunk", "may"], &[rest]), documents.remove(2)];
    assert_eq!(
        problem(&config, &documents),
        "doc, sentence 1: the template \"window:pos-chunk:0,1\" forbids all labels that are left by what is known in the \
         layer \"pos\" at token 1 (\"x\") and the layer \"chunk\" at token 2 (\"y\"): forbid less, or mend the labels"
    );
}

#[test]
fn data_without_labels_say_what_they_lack() {
    let open: &[&[&str]] = &[&["the", "?", "_"], &["cat", "DT|?", ""]];
    let found = problem(&parse(FACTORIAL, &[]), &[columns(&["pos", "chunk"], &[open])]);
    assert_eq!(
        found,
        "the training documents have no labelled tokens: every cell of the column \"pos\" is unknown, such as `?`, `_`, or a \
         choice with one of them; every cell of the column \"chunk\" is unknown, such as `?`, `_`, or a choice with one of them"
    );
    let mut spans = columns(&[], &[&[&["the"], &["cat"]]]);
    spans.annotations.push(Annotation::new(0..3, "X"));
    let found = problem(&parse(FACTORIAL, &[]), &[spans]);
    assert!(
        found.contains("there is no column \"pos\", and the columns beside the word are: none")
            && found.contains("set data.read.labels = []"),
        "{found}"
    );
    let found = problem(&parse(FACTORIAL, &[]), &[Document::new("empty", "")]);
    assert_eq!(found, "the training documents have no tokens");
}

#[test]
fn labels_that_cannot_be_fixed_are_told() {
    let trained = train(&parse(FACTORIAL, &[]), &corpus());
    let options = GraphAnnotatorOptions {
        fix_labels: true,
        ..GraphAnnotatorOptions::default()
    };
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    let rows: &[&[&str]] = &[&["the", "DT|", "B"], &["cat", "XX|NN", "?"], &["sat", "VB", "O"]];
    annotator
        .annotate(&mut columns(&["pos", "chunk"], &[rows]))
        .unwrap();
    let report = annotator.take_report();
    let notices = report.notices.all().iter();
    let told: Vec<&str> = notices.map(|notice| notice.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "the label \"XX\" of the layer \"pos\" is not taken as known: the model does not have it",
            "\"DT|\" in the layer \"pos\" is not taken as known: a choice of which one part is open is open",
        ]
    );
}
