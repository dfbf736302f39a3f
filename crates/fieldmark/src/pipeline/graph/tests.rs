mod candidates;
mod chains;
mod messages;
mod numbers;
mod training;

use super::*;
use crate::RunOptions;
use fieldmark_text::document::{Annotation, Document, GivenToken, GivenTokens};
use std::ops::Range;

/// A document of words with cells, one list of columns for each.
fn columns(names: &[&str], sentences: &[&[&[&str]]]) -> Document {
    let mut text = String::new();
    let mut given = GivenTokens {
        columns: names.iter().map(|name| (*name).to_owned()).collect(),
        ..GivenTokens::default()
    };
    for sentence in sentences {
        let tokens = sentence.iter().map(|cells| {
            let start = text.len();
            text += cells[0];
            let range = start..text.len();
            text.push(' ');
            GivenToken {
                range,
                columns: cells[1..].iter().map(|cell| (*cell).to_owned()).collect(),
                score: None,
            }
        });
        given.sentences.push(tokens.collect());
    }
    Document {
        given: Some(given),
        ..Document::new("doc", text)
    }
}

fn corpus() -> Vec<Document> {
    let a: &[&[&str]] = &[&["the", "DT", "B"], &["cat", "NN", "I"], &["sleeps", "VB", "O"]];
    let b: &[&[&str]] = &[&["a", "DT", "B"], &["dog", "NN", "I"], &["barks", "VB", "O"]];
    let c: &[&[&str]] = &[&["the", "DT", "B"], &["dog", "NN", "I"], &["?", "?", "?"]];
    vec![
        columns(&["pos", "chunk"], &[a, b]),
        columns(&["pos", "chunk"], &[b, c, a]),
    ]
}

const FACTORIAL: &str = "
[[features]]
kind = 'word'
[graph]
kind = 'factorial'
[[graph.layers]]
name = 'pos'
column = 'pos'
[[graph.layers]]
name = 'chunk'
column = 'chunk'
[training]
c2 = 0.1
";

fn parse(text: &str, overrides: &[&str]) -> Config {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Config::parse(text, &overrides).unwrap()
}

fn train(config: &Config, documents: &[Document]) -> TrainedGraph {
    let options = RunOptions::default();
    train_graph(config, Path::new(""), documents, &[], &options, &mut ()).unwrap()
}

fn problem(config: &Config, documents: &[Document]) -> String {
    let options = RunOptions::default();
    let trained = train_graph(config, Path::new(""), documents, &[], &options, &mut ());
    trained.unwrap_err().to_string()
}

fn column(document: &Document, name: &str) -> Vec<String> {
    let given = document.given.as_ref().unwrap();
    let number = given.columns.iter().position(|column| column == name).unwrap();
    let tokens = given.sentences.iter().flatten();
    tokens.map(|token| token.columns[number].clone()).collect()
}

#[test]
fn layers_become_columns_by_every_objective() {
    for objective in ["likelihood", "pseudolikelihood", "piecewise", "sample-rank"] {
        let key = format!("graph.objective={objective}");
        let mut overrides = vec![key.as_str()];
        let config = if objective == "sample-rank" {
            overrides.push("graph.sample_rank.sweeps=10");
            parse(&FACTORIAL.replace("c2 = 0.1", ""), &overrides)
        } else {
            overrides.push("training.c2=0.05");
            parse(FACTORIAL, &overrides)
        };
        let trained = train(&config, &corpus());
        let mut annotator = trained.pipeline.annotator().unwrap();
        let mut document = Document::new("new", "the dog sleeps");
        annotator.annotate(&mut document).unwrap();
        assert_eq!(column(&document, "pos"), ["DT", "NN", "VB"], "{objective}");
        assert_eq!(column(&document, "chunk"), ["B", "I", "O"], "{objective}");
        let given = document.given.as_ref().unwrap();
        let scores: Vec<f64> = given
            .sentences
            .iter()
            .flatten()
            .filter_map(|token| token.score)
            .collect();
        assert_eq!(scores.len(), 3);
        assert!(
            scores.iter().all(|score| (0.2..=1.0).contains(score)),
            "{scores:?}"
        );
        assert_eq!(given.labels, None);
    }
}

#[test]
fn a_file_holds_all_of_it() {
    let trained = train(&parse(FACTORIAL, &[]), &corpus());
    let bytes = trained.pipeline.to_bytes().unwrap();
    let container = Arc::new(Container::from_bytes(bytes).unwrap());
    assert!(GraphPipeline::is_in(&container) && !crate::Pipeline::is_in(&container));
    let read = GraphPipeline::from_container(container).unwrap();
    assert_eq!(read.config(), trained.pipeline.config());
    assert_eq!(read.card, trained.pipeline.card);
    let documents = corpus();
    let answers = |pipeline: &GraphPipeline| pipeline.annotator().unwrap().answers(&documents[1]).unwrap();
    assert_eq!(answers(&read), answers(&trained.pipeline));
    assert_eq!(trained.pipeline.card.data.sequences, 5);
}

fn marked(text: &str, spans: &[(Range<usize>, &str)]) -> Document {
    Document {
        annotations: spans
            .iter()
            .map(|(range, kind)| Annotation::new(range.clone(), *kind))
            .collect(),
        ..Document::new("marked", text)
    }
}

#[test]
fn nested_spans_are_found_again_with_their_probability() {
    let text = "[[features]]\nkind = 'word'\noffsets = [-1, 0, 1]\n[graph]\nkind = 'factorial'\n\
                [[graph.layers]]\nname = 'outer'\ndepth = 0\n[[graph.layers]]\nname = 'inner'\ndepth = 1\n\
                [training]\nc2 = 0.01\n";
    let one = "the Bank of Paris closed";
    let documents = vec![
        marked(one, &[(4..17, "ORG"), (12..17, "LOC")]),
        marked("it rains", &[]),
    ];
    let trained = train(&parse(text, &[]), &documents);
    let mut annotator = trained.pipeline.annotator().unwrap();
    let mut again = Document::new("again", one);
    annotator.annotate(&mut again).unwrap();
    let found: Vec<_> = again
        .annotations
        .iter()
        .map(|annotation| (annotation.range(), annotation.kind.as_str()))
        .collect();
    assert_eq!(found, [(4..17, "ORG"), (12..17, "LOC")]);
    let exact: Vec<f64> = again
        .annotations
        .iter()
        .filter_map(|annotation| annotation.score)
        .collect();
    assert_eq!(exact.len(), 2);
    assert!(exact.iter().all(|score| (0.5..1.0).contains(score)), "{exact:?}");
    // Of loopy belief propagation they are estimates, near to them on so small a graph.
    let options = GraphAnnotatorOptions {
        engine: Some(EngineChoice::Loopy(Default::default())),
        ..GraphAnnotatorOptions::default()
    };
    trained
        .pipeline
        .annotator_with(options)
        .unwrap()
        .annotate(&mut again)
        .unwrap();
    for (annotation, exact) in again.annotations.iter().zip(exact) {
        let estimate = annotation.score.unwrap();
        assert!((estimate - exact).abs() < 0.1, "{estimate} {exact}");
    }
}

#[test]
fn known_spans_stay_and_others_are_found_around_them() {
    let text = "[[features]]\nkind = 'word'\n[graph]\nkind = 'linear-chain'\n[training]\nc2 = 0.01\n";
    let documents = vec![
        marked("Ann met Bob", &[(0..3, "X"), (8..11, "X")]),
        marked("Bob saw Ann", &[(0..3, "X"), (8..11, "X")]),
        // Names count more than what stands beside them.
        marked("Ann", &[(0..3, "X")]),
        marked("Bob", &[(0..3, "X")]),
    ];
    let trained = train(&parse(text, &[]), &documents);
    let options = GraphAnnotatorOptions {
        fix_labels: true,
        ..GraphAnnotatorOptions::default()
    };
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    let mut document = marked("Ann met Bob", &[(4..7, "X"), (0..3, "Y")]);
    annotator.annotate(&mut document).unwrap();
    let found: Vec<_> = document.annotations.iter().map(Annotation::range).collect();
    assert_eq!(found, [0..3, 4..7, 8..11]);
    let report = annotator.take_report();
    assert_eq!(
        report.notices.all().len(),
        1,
        "a span of a type that the model does not know"
    );
}

#[test]
fn letters_alone_are_labels_and_no_spans() {
    let sentence: &[&[&str]] = &[&["il", "E"], &["cane", "S"], &["dorme", "V"]];
    let documents = vec![columns(&["pos"], &[sentence, sentence])];
    let text = "[[features]]\nkind = 'word'\n[labels]\ncolumn = 'pos'\n[graph]\nkind = 'linear-chain'\n";
    let trained = train(&parse(text, &["training.c2=0.01"]), &documents);
    let scores = trained.pipeline.score(&documents).unwrap();
    assert!(!scores.layers[0].has_spans);
    assert_eq!(scores.score(), 1.0);
}

#[test]
fn what_is_known_stays_and_speaks() {
    let trained = train(&parse(FACTORIAL, &[]), &corpus());
    let options = GraphAnnotatorOptions {
        fix_labels: true,
        best: Some(3),
        marginals: true,
        ..GraphAnnotatorOptions::default()
    };
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    let known = columns(
        &["pos", "chunk"],
        &[&[&["x", "VB", "?"], &["y", "?", "?"], &["z", "?", "O|I"]]],
    );
    let answers = annotator.answers(&known).unwrap();
    let answer = &answers[0];
    assert_eq!(answer.labels[0][0], "VB");
    assert_eq!(answer.probabilities.as_ref().unwrap()[0][0], 1.0);
    assert_eq!(annotator.take_report().known, 2);
    // Z is that of what is still possible.
    let best: Vec<f64> = answer
        .best
        .iter()
        .map(|(_, log_probability)| log_probability.exp())
        .collect();
    assert_eq!(best.len(), 3);
    assert!(best[0] >= best[1] && best[1] >= best[2] && best.iter().sum::<f64>() < 1.0);
    assert!((best[0].ln() - answer.log_probability.unwrap()).abs() < 1e-9);
    assert_eq!(answer.best[0].0, answer.labels);
    let marginals = answer.marginals.as_ref().unwrap();
    for row in marginals.iter().flatten() {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn documents_have_labels_of_their_own() {
    let text = "[[features]]\nkind = 'word'\n[graph]\nkind = 'hierarchical'\nchains = true\ninstance = 'document'\n\
                [[graph.layers]]\nname = 'tone'\ncolumn = 'tone'\n\
                [[graph.layers]]\nname = 'review'\nper = 'instance'\nmeta = 'stars'\n[training]\nc2 = 0.05\n";
    let review = |words: &[&[&str]], stars: &str| {
        let mut document = columns(&["tone"], &[words]);
        document.meta.insert("stars".into(), stars.into());
        document
    };
    let documents = [
        review(&[&["good", "+"], &["phone", "0"]], "5"),
        review(&[&["bad", "-"], &["phone", "0"]], "1"),
        review(&[&["bad", "-"], &["screen", "0"]], "1"),
        review(&[&["good", "+"], &["screen", "0"]], "5"),
    ];
    let trained = train(&parse(text, &[]), &documents);
    let mut annotator = trained.pipeline.annotator().unwrap();
    for (text, stars) in [("good screen", "5"), ("bad phone", "1")] {
        let mut document = Document::new("new", text);
        annotator.annotate(&mut document).unwrap();
        assert_eq!(document.meta["stars"], stars, "{text}");
    }
    let scores = trained.pipeline.score(&documents).unwrap();
    assert_eq!((scores.right, scores.tokens), (8, 8));
    assert_eq!(scores.layers[1].accuracy(), 1.0);
}

#[test]
fn runs_can_be_saved_resumed_and_warmed() {
    use crate::training::{CheckpointOptions, Flow, Observer, Progress, Stop};
    struct StopAt(u64);
    impl Observer for StopAt {
        fn iteration(&mut self, progress: &Progress) -> Flow {
            if progress.iteration.iteration == self.0 {
                Flow::Stop
            } else {
                Flow::Continue
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let config = parse(
        FACTORIAL,
        &[
            "training.max_iterations=12",
            "training.delta=0",
            "training.epsilon=1e-12",
        ],
    );
    let corpus = corpus();
    let run = |resume: bool, stop: u64| {
        let options = RunOptions {
            checkpoint: Some(CheckpointOptions {
                path: folder.path().join("state"),
                every: crate::Interval::Iterations(3),
                resume,
            }),
            ..RunOptions::default()
        };
        train_graph(
            &config,
            Path::new(""),
            &corpus,
            &corpus[..1],
            &options,
            &mut StopAt(stop),
        )
        .unwrap()
    };
    let whole = run(false, 1000);
    let first = run(false, 5);
    assert_eq!(first.run.stop, Stop::Asked);
    let second = run(true, 1000);
    assert_eq!(second.run.iterations.len(), whole.run.iterations.len());
    assert_eq!(second.pipeline.model.weights(), whole.pipeline.model.weights());
    assert_eq!(second.run.best, whole.run.best);

    // From a model with fewer templates.
    let text = FACTORIAL.replace("kind = 'factorial'", "kind = 'templates'\ntemplates = [{ relation = { unary = 'pos' } }, { relation = { unary = 'chunk' } }]");
    let simple = train(&parse(&text, &[]), &corpus);
    let container = Arc::new(Container::from_bytes(simple.pipeline.to_bytes().unwrap()).unwrap());
    struct Taken(Option<usize>);
    impl Observer for Taken {
        fn prepared(&mut self, prepared: &crate::Prepared) {
            self.0 = prepared.warm;
        }
    }
    let mut taken = Taken(None);
    let options = RunOptions {
        warm_start: Some(&container),
        ..RunOptions::default()
    };
    train_graph(&config, Path::new(""), &corpus, &[], &options, &mut taken).unwrap();
    assert_eq!(taken.0, Some(simple.pipeline.model.active()));
}

const NESTED: &str = "
[[features]]
kind = 'word'
offsets = [-1, 0, 1]
[graph]
kind = 'factorial'
layers = [{ name = 'outer', depth = 0 }, { name = 'inner', depth = 1 }]
[training]
c2 = 0.01
";

#[test]
fn what_two_layers_find_is_one_span() {
    let layers = "graph.layers=[{name='a',types=['ORG']},{name='b',types=['ORG']}]";
    let text = "the Bank of Paris closed";
    let trained = train(&parse(NESTED, &[layers]), &[marked(text, &[(4..17, "ORG")])]);
    let mut document = Document::new("new", text);
    let mut annotator = trained.pipeline.annotator().unwrap();
    let answers = annotator.answers(&document).unwrap();
    let sure = answers[0].spans.iter().filter_map(|span| span.probability);
    assert_eq!(answers[0].spans.len(), 2);
    annotator.annotate(&mut document).unwrap();
    assert_eq!(document.annotations.len(), 1);
    assert_eq!(document.annotations[0].score, sure.reduce(f64::max));
}

#[test]
fn names_inside_of_names_are_in_lists_of_the_training_data() {
    let dictionary =
        format!("[[features]]\nkind = 'dictionary'\ntraining = 'LOC'\nfolds = 2\nmin_count = 1\n{NESTED}");
    let documents = [
        marked("the Bank of Paris closed", &[(4..17, "ORG"), (12..17, "LOC")]),
        marked("the Bank of Rome closed", &[(4..16, "ORG"), (12..16, "LOC")]),
    ];
    let trained = train(&parse(&dictionary, &[]), &documents);
    assert!(trained.notices.is_empty(), "{:?}", trained.notices);
    let lists: Vec<&[u8]> = trained
        .pipeline
        .front
        .resources
        .iter()
        .map(|(_, content)| content)
        .collect();
    assert_eq!(lists, [b"Paris\nRome\n"]);
}

/// A config may add to what a kind joins, or say it anew.
#[test]
fn templates_of_a_kind_can_be_refined() {
    let templates = |text: &str| {
        let config = parse(FACTORIAL, &[&format!("graph.templates=[{text}]")]);
        let graph = config.graph.unwrap();
        graph
            .description(&graph.layers(&config.labels))
            .unwrap()
            .templates
    };
    let plain = templates("");
    let mut forbidden = templates("{relation={chain='pos'},forbid=[['DT','VB']]}");
    assert_eq!(forbidden[2].forbid, [["DT", "VB"]]);
    forbidden[2].forbid.clear();
    assert_eq!(forbidden, plain);
    let anew = templates("{relation={chain='pos'},bias='supported',observe='last'}");
    assert_eq!(anew.len(), plain.len());
    assert_eq!(anew[2].observe, Some(fieldmark_graph::Observe::Last));
    assert_eq!(anew[2].strategy, fieldmark_graph::Strategy::Supported);
    let named = templates("{name='more',relation={chain='pos'},observe='last'}");
    assert_eq!(named.len(), plain.len() + 1);
}

#[test]
fn a_graph_is_a_feature_of_another_model() {
    let folder = tempfile::tempdir().unwrap();
    for overrides in [&[][..], &["graph.instance=document"]] {
        train(&parse(FACTORIAL, overrides), &corpus())
            .pipeline
            .save(folder.path().join("first.fmk"))
            .unwrap();
        let text = "[[features]]\nkind = 'model'\nfile = 'first.fmk'\nname = 'FIRST'\n[labels]\ncolumn = 'pos'\n\
                    [training]\nc2 = 0.01\n";
        let options = RunOptions::default();
        let documents = &corpus()[..1];
        for graph in [&[][..], &["graph.kind=linear-chain"]] {
            let config = parse(text, graph);
            let trained =
                crate::train_config(&config, folder.path(), documents, &[], &options, &mut ()).unwrap();
            let mut document = Document::new("new", "the dog sleeps . a cat barks");
            let names: Vec<String> = match &trained.pipeline {
                crate::AnyPipeline::Chain(chain) => {
                    chain.annotator().annotate(&mut document).unwrap();
                    chain.chain.observations().iter().map(str::to_owned).collect()
                }
                crate::AnyPipeline::Graph(graph) => {
                    graph.annotator().unwrap().annotate(&mut document).unwrap();
                    let names = graph.model.observations().iter();
                    names.map(str::to_owned).collect()
                }
            };
            assert!(names.iter().any(|name| name.ends_with("DT|B")), "{names:?}");
            assert_eq!(column(&document, "pos")[..3], ["DT", "NN", "VB"]);
        }
    }
}

#[test]
fn spans_of_all_layers_are_scored_as_documents_have_them() {
    let text = "the Bank of Paris closed";
    let documents = [marked(text, &[(0..24, "EVENT"), (4..17, "ORG"), (12..17, "LOC")])];
    let trained = train(&parse(NESTED, &[]), &documents);
    let test = trained.pipeline.test(&documents).unwrap();
    let total = test.scores.spans.as_ref().unwrap().total();
    // The innermost name, for which there is no layer, is missed.
    assert_eq!((total.gold, total.found, total.correct), (3, 2, 2));
    assert!(test.scores.layers.iter().all(|layer| layer.score() == 1.0));
    assert_eq!(test.pairs.len(), 1);
    assert!(test.pairs[0].found_spans().len() == 2 && test.labels.is_empty());
    // Post-processing counts.
    let apart = format!("{NESTED}[[postprocess]]\nkind = 'overlaps'\n");
    let trained = train(&parse(&apart, &[]), &documents);
    let scores = trained.pipeline.score(&documents).unwrap();
    assert_eq!(scores.spans.unwrap().total().found, 1);
}

#[test]
fn labels_of_columns_are_kept_beside_what_should_be() {
    let documents = corpus();
    let trained = train(&parse(FACTORIAL, &[]), &documents);
    let test = trained.pipeline.test(&documents).unwrap();
    assert!(test.scores.spans.is_none() && test.pairs.is_empty());
    let names: Vec<&str> = test.labels.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["pos", "chunk"]);
    let assessed = test.labels[0].1.assess(3).unwrap();
    // One of 15 tokens is not known.
    assert_eq!(assessed.report.tokens, 14);
    assert!(assessed.calibration.is_some());
}
