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

/// A linear chain that is described as a graph gives the numbers of the chain engine.
#[test]
fn a_linear_chain_is_the_chain_engine() {
    let text = "[[features]]\nkind = 'word'\n[labels]\ncolumn = 'pos'\n[training]\nc2 = 0.3\ndelta = 0\nepsilon = 1e-9\n";
    // Chains of documents know no open labels.
    let documents: Vec<Document> = corpus().drain(..1).collect();
    let chain = crate::train_pipeline(
        &parse(text, &[]),
        Path::new(""),
        &documents,
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    let graph = train(&parse(text, &["graph.kind=linear-chain"]), &documents);
    let losses = |run: &crate::RunSummary| run.iterations.last().unwrap().iteration.loss;
    assert!((losses(&chain.run) - losses(&graph.run)).abs() < 1e-9);
    assert_eq!(chain.run.features, graph.run.features);
    let mut new = Document::new("new", "a cat barks . the sleeps");
    let mut same = new.clone();
    chain.pipeline.annotator().annotate(&mut new).unwrap();
    graph.pipeline.annotator().unwrap().annotate(&mut same).unwrap();
    assert_eq!(column(&new, "pos"), column(&same, "pos"));
    let scores = |document: &Document| -> Vec<f64> {
        let given = document.given.as_ref().unwrap();
        given
            .sentences
            .iter()
            .flatten()
            .filter_map(|token| token.score)
            .collect()
    };
    for (one, other) in scores(&new).iter().zip(scores(&same)) {
        assert!((one - other).abs() < 1e-6, "{one} {other}");
    }
    assert_eq!(scores(&new).len(), 6);
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
        engine: Some(fieldmark_graph::EngineChoice::Loopy(Default::default())),
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

/// The spans of a linear chain that is described as a graph are as probable as those of the chain engine: under every
/// scheme, with what the scheme rules out and without, by belief propagation on a tree and by loopy.
#[test]
fn spans_are_as_probable_as_on_a_chain() {
    let text = "[[features]]\nkind = 'word'\n[training]\nc2 = 0.1\nepsilon = 1e-9\ndelta = 0\n";
    let documents = vec![
        marked("Ann Bob met Eve Joe", &[(0..3, "X"), (4..7, "X"), (12..19, "X")]),
        marked("Eve Joe saw Ann", &[(0..7, "X"), (12..15, "Y")]),
        marked("Bob ran", &[(0..3, "X")]),
    ];
    for (scheme, illegal_labels) in ["io", "iob1", "iob2", "iobes"]
        .into_iter()
        .flat_map(|scheme| [(scheme, false), (scheme, true)])
    {
        let key = format!("labels.scheme={scheme}");
        let options = RunOptions::default();
        let chain = parse(text, &[&key]);
        let chain = crate::train_pipeline(&chain, Path::new(""), &documents, &[], &options, &mut ()).unwrap();
        let graph = train(&parse(text, &[&key, "graph.kind=linear-chain"]), &documents);
        let found = |mark: &mut dyn FnMut(&mut Document)| {
            let mut document = Document::new("new", "Ann Bob saw Eve Joe");
            mark(&mut document);
            let spans = document.annotations.into_iter();
            spans
                .map(|span| (span.range(), span.kind, span.score.unwrap()))
                .collect::<Vec<_>>()
        };
        let options = crate::AnnotatorOptions {
            constraints: illegal_labels.then(fieldmark_chain::inference::Constraints::none),
            ..Default::default()
        };
        let mut annotator = chain.pipeline.annotator_with(options);
        let chain = found(&mut |document| annotator.annotate(document).unwrap());
        assert!(chain.len() > 1);
        let engines = [
            fieldmark_graph::EngineChoice::default(),
            fieldmark_graph::EngineChoice::Loopy(Default::default()),
        ];
        for engine in engines {
            let options = GraphAnnotatorOptions {
                engine: Some(engine),
                illegal_labels,
                ..GraphAnnotatorOptions::default()
            };
            let mut annotator = graph.pipeline.annotator_with(options).unwrap();
            let graph = found(&mut |document| annotator.annotate(document).unwrap());
            assert_eq!(graph.len(), chain.len(), "{scheme} {graph:?} {chain:?}");
            for ((range, kind, score), (expected, type_, sure)) in graph.iter().zip(&chain) {
                assert_eq!((range, kind), (expected, type_), "{scheme}");
                assert!(
                    (score - sure).abs() < 1e-6,
                    "{scheme} {illegal_labels} {score} {sure}"
                );
            }
        }
    }
}

#[test]
fn spans_that_touch_are_told_apart() {
    let text = "[[features]]\nkind = 'word'\n[graph]\nkind = 'linear-chain'\n[labels]\nscheme = 'iob1'\n\
                [training]\nc2 = 0.01\n";
    let documents = vec![
        marked("Ann Bob met", &[(0..3, "X"), (4..7, "X")]),
        marked("met Ann Bob", &[(4..7, "X"), (8..11, "X")]),
    ];
    let trained = train(&parse(text, &[]), &documents);
    let mut document = Document::new("new", "Ann Bob met");
    trained
        .pipeline
        .annotator()
        .unwrap()
        .annotate(&mut document)
        .unwrap();
    let scores: Vec<f64> = document
        .annotations
        .iter()
        .filter_map(|span| span.score)
        .collect();
    assert_eq!(scores.len(), 2);
    assert!(scores.iter().all(|&score| score > 0.5), "{scores:?}");
}

#[test]
fn known_spans_stay_and_others_are_found_around_them() {
    let text = "[[features]]\nkind = 'word'\n[graph]\nkind = 'linear-chain'\n[training]\nc2 = 0.01\n";
    let documents = vec![
        marked("Ann met Bob", &[(0..3, "X"), (8..11, "X")]),
        marked("Bob saw Ann", &[(0..3, "X"), (8..11, "X")]),
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
    assert_eq!(found, [4..7, 8..11]);
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
fn skip_edges_join_new_words_too() {
    let text = "[[features]]\nkind = 'word'\n[[features]]\nkind = 'pattern'\npatterns = ['init_caps']\n\
                [labels]\ncolumn = 'label'\n\
                [graph]\nkind = 'skip-chain'\ninstance = 'document'\n[[graph.skips]]\nsame = 'W='\ncapitalised = true\n\
                [training]\nc2 = 0.01\n";
    let parsed = Config::parse(text, &[]);
    let text = match &parsed {
        Ok(_) => text.to_owned(),
        Err(_) => text.replace("[[features]]\nkind = 'pattern'\npatterns = ['init_caps']\n", ""),
    };
    let speaker: &[&[&str]] = &[&["Speaker", "O"], &["Smith", "S"], &["talks", "O"]];
    let again: &[&[&str]] = &[&["then", "O"], &["Smith", "S"], &["answers", "O"]];
    let other: &[&[&str]] = &[&["then", "O"], &["lunch", "O"], &["answers", "O"]];
    let documents = [
        columns(&["label"], &[speaker, again]),
        columns(&["label"], &[speaker, other]),
    ];
    let trained = train(&parse(&text, &["text.sentences.mode=none"]), &documents);
    let names: Vec<&str> = trained.pipeline.model.structure().template_names().collect();
    assert!(names.contains(&"skip0"), "{names:?}");
    // A word that the model has never seen is joined to itself: one more factor than without a repeat.
    let mut annotator = trained.pipeline.annotator().unwrap();
    let factors = |annotator: &mut GraphAnnotator<'_>, text: &str| {
        let (data, _) = annotator.describe(&Document::new("new", text)).unwrap();
        let mut tagger = trained.pipeline.model.tagger(&Default::default()).unwrap();
        tagger.unroll(data.instance(0)).unwrap().graph().factors()
    };
    let prefix_is_right =
        factors(&mut annotator, "Jones talks Jones") > factors(&mut annotator, "Jones talks Brown");
    assert!(prefix_is_right);
}

#[test]
fn mistakes_have_a_sentence() {
    let corpus = corpus();
    for (overrides, expected) in [
        (
            &["graph.kind=linear-chain"][..],
            "expected one layer per position",
        ),
        (
            &["graph.chains=true"],
            "graph.chains is for kinds multi-label and hierarchical",
        ),
        (
            &["graph.layers[0].column=tag"],
            "no label for the layer \"pos\" in the column \"tag\"",
        ),
        (&["graph.layers[0].name="], "graph.layers[0] has no name"),
        (&["graph.layers[0].name=chunk"], "two layers are called \"chunk\""),
        (
            &["graph.layers[0].meta=x"],
            "both from a column and from metadata",
        ),
        (&["model.order=2"], "the section model is about chains"),
        (
            &["labels.column=pos"],
            "the section labels describes the only layer",
        ),
        (
            &["training.algorithm=ap", "training={algorithm='ap'}"],
            "which is for chains",
        ),
        (&["graph.objective=sample-rank"], "an algorithm of its own"),
        (
            &["graph.training_inference={engine='dual'}"],
            "does not know log Z",
        ),
        (
            &["graph.inference={engine='loopy', damping=1.5}"],
            "damping is 1.5",
        ),
    ] {
        let found = problem(&parse(FACTORIAL, overrides), &corpus);
        assert!(found.contains(expected), "{overrides:?}: {found}");
    }
    let wrong = |text: &str| Config::parse(text, &[]).unwrap_err().to_string();
    for (text, expected) in [
        ("[graph]\nkind = 'factorail'", "unknown variant"),
        (
            "[graph.inference]\nengine = 'lopy'",
            "unknown engine 'lopy' in graph.inference, did you mean 'loopy'?",
        ),
        (
            "[graph.inference]\nengine = 'loopy'\ndampng = 0.1",
            "unknown key 'dampng' in graph.inference, did you mean 'damping'?",
        ),
        (
            "[[graph.templates]]\nrelation = { chian = 'pos' }",
            "unknown key 'chian' in graph.templates[0].relation, did you mean 'chain'?",
        ),
        (
            "[[graph.skips]]\nsmae = 'w='",
            "unknown key 'smae' in graph.skips[0], did you mean 'same'?",
        ),
    ] {
        let found = wrong(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
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

#[test]
fn labels_of_documents_need_whole_documents() {
    let text = "[[features]]\nkind = 'word'\n[graph]\nkind = 'hierarchical'\n\
                layers = [{ name = 'tone', column = 'tone' }, { name = 'review', per = 'instance', meta = 'stars' }]\n";
    let found = problem(&parse(text, &[]), &corpus());
    assert!(found.contains("graph.instance must be \"document\""), "{found}");
}
