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

fn sample(source: &str, count: usize) -> Vec<Document> {
    let sentences = crate::sample::parse(source).unwrap();
    let document = |sentence: &fieldmark_text::markup::Sentence<'_>| {
        let spans = sentence.spans.iter();
        let spans = spans.map(|span| (span.start..span.end, span.kind));
        marked(&sentence.text, &spans.collect::<Vec<_>>())
    };
    sentences.iter().take(count).map(document).collect()
}

/// One config, as a chain and as a graph: the same features, loss, spans, probabilities and scores.
#[test]
fn a_config_is_the_same_model_as_a_chain_and_as_a_graph() {
    let text = "
        features = [
            { kind = 'bias' },
            { kind = 'word', offsets = [-1, 0, 1] },
            { kind = 'suffix', lengths = [2, 3] },
            { kind = 'shape', offsets = [-1, 0] },
            { kind = 'conjunction', of = ['W@-1', 'W'] },
            { kind = 'dictionary', training = 'DRUG', folds = 3 },
        ]
        [text]
        tokenizer = 'clinical'
        [training]
        c2 = 0.5
        epsilon = 1e-8
        delta = 0
        [[postprocess]]
        kind = 'brackets'
    ";
    let (documents, test) = (sample(crate::sample::TRAIN, 60), sample(crate::sample::TEST, 40));
    for scheme in ["iob2", "iobes"] {
        let scheme = format!("labels.scheme={scheme}");
        let chain = parse(text, &[&scheme]);
        let options = RunOptions::default();
        let chain = crate::train_pipeline(&chain, Path::new(""), &documents, &[], &options, &mut ()).unwrap();
        let graph = train(&parse(text, &[&scheme, "graph.kind=linear-chain"]), &documents);
        assert_eq!(chain.run.features, graph.run.features);
        let loss = |run: &crate::RunSummary| run.iterations.last().unwrap().iteration.loss;
        let (one, other) = (loss(&chain.run), loss(&graph.run));
        assert!((one - other).abs() < 1e-9 * one, "{one} {other}");
        let mut annotator = graph.pipeline.annotator().unwrap();
        let mut spans = 0;
        for document in &test {
            let (mut one, mut other) = (document.clone(), document.clone());
            chain.pipeline.annotator().annotate(&mut one).unwrap();
            annotator.annotate(&mut other).unwrap();
            assert_eq!(
                one.annotations.len(),
                other.annotations.len(),
                "{}",
                document.text
            );
            for (one, other) in one.annotations.iter().zip(&other.annotations) {
                assert_eq!((one.range(), &one.kind), (other.range(), &other.kind));
                let (one, other) = (one.score.unwrap(), other.score.unwrap());
                assert!((one - other).abs() < 1e-5, "{one} {other}");
                spans += 1;
            }
        }
        assert!(spans > 20, "{spans}");
        let (one, other) = (
            chain.pipeline.score(&test).unwrap(),
            graph.pipeline.score(&test).unwrap(),
        );
        assert_eq!(one.spans.total(), other.spans.unwrap().total());
    }
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

const SKIPS: &str = "
[[features]]
kind = 'word'
[[features]]
kind = 'word'
name = 'NEAR'
offsets = [-1, 1]
[labels]
column = 'label'
[graph]
kind = 'skip-chain'
instance = 'document'
[[graph.skips]]
same = 'W='
capitalised = true
[training]
c2 = 0.05
";

/// Somebody is announced and speaks again, or somebody else does; what stands beside the second name does not tell which.
fn talk(first: &str, second: &str) -> Document {
    let label = if first == second { "S" } else { "O" };
    let (one, two) = ([first, "S"], [second, label]);
    columns(
        &["label"],
        &[
            &[&["Speaker", "O"], &one, &["talks", "O"]],
            &[&["then", "O"], &two, &["answers", "O"]],
        ],
    )
}

fn talks() -> Vec<Document> {
    let same = ["Smith", "Brown", "Davis"].map(|name| talk(name, name));
    let others = ["Reed", "Hill", "Cole", "Ford"].map(|name| talk(name, "Lunch"));
    same.into_iter().chain(others).collect()
}

#[test]
fn development_data_join_words_that_are_new() {
    let dev = [talk("Jones", "Jones")];
    let options = RunOptions::default();
    let trained = train_graph(
        &parse(SKIPS, &[]),
        Path::new(""),
        &talks(),
        &dev,
        &options,
        &mut (),
    )
    .unwrap();
    let dev = trained.run.iterations.iter().filter_map(|progress| progress.dev);
    assert_eq!(dev.reduce(f64::max), Some(1.0));
    // The model does as well on texts.
    assert_eq!(
        trained.pipeline.score(&[talk("Jones", "Jones")]).unwrap().score(),
        1.0
    );
}

#[test]
fn limits_of_templates_are_told_when_texts_are_marked() {
    let trained = train(&parse(SKIPS, &["graph.skips[0].max_edges=2"]), &talks());
    assert!(trained.notices.is_empty());
    let mut annotator = trained.pipeline.annotator().unwrap();
    for text in ["Ann saw Ann and Ann", "Ann saw Ann", "Ann , Ann , Ann , Ann"] {
        annotator.annotate(&mut Document::new("new", text)).unwrap();
    }
    let expected = CutCounts {
        instances: 2,
        pairs: 1 + 4,
    };
    assert_eq!(annotator.take_report().cuts["skip0"], expected);
    // In training, too, with the document.
    let trained = train(&parse(SKIPS, &["graph.skips[0].max_edges=0"]), &talks());
    let cuts = trained.notices.all();
    assert_eq!(cuts.len(), 3);
    assert!(
        cuts[0].message.contains("would join 1 pairs of positions here"),
        "{cuts:?}"
    );
}

#[test]
fn a_template_that_joins_nothing_is_told() {
    let trained = train(&parse(SKIPS, &["graph.skips[0].same=word="]), &talks());
    let told = &trained.notices.all()[0].message;
    assert!(
        told.contains("\"skip0\" joins nothing") && told.contains("\"W="),
        "{told}"
    );
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
fn spans_for_which_there_is_no_layer_are_told() {
    let text = "the Bank of Paris closed";
    let deep = &[(0..24, "EVENT"), (4..17, "ORG"), (12..17, "LOC")];
    let trained = train(&parse(NESTED, &[]), &[marked(text, deep)]);
    let told = trained.notices.all();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].message.contains("LOC \"Paris\" lies at a depth"),
        "{told:?}"
    );
    let three = "graph.layers=[{name='a',depth=0},{name='b',depth=1},{name='c',depth=2}]";
    assert!(
        train(&parse(NESTED, &[three]), &[marked(text, deep)])
            .notices
            .is_empty()
    );
    // Layers of other types reach as deep as they do.
    let types = "graph.layers=[{name='a',depth=0,types=['ORG']},{name='b',depth=0,types=['LOC']}]";
    assert!(
        train(&parse(NESTED, &[types]), &[marked(text, deep)])
            .notices
            .is_empty()
    );
}

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

#[test]
fn sentences_of_documents_that_are_one_instance_keep_their_borders() {
    let trained = train(&parse(SKIPS, &[]), &talks());
    let mut document = Document::new("new", "Ann talks. Then Bob answers. Ann sleeps.");
    trained
        .pipeline
        .annotator()
        .unwrap()
        .annotate(&mut document)
        .unwrap();
    let lengths: Vec<usize> = document.given.unwrap().sentences.iter().map(Vec::len).collect();
    assert_eq!(lengths, [3, 4, 3]);
}

#[test]
fn problems_name_layers_tokens_and_documents() {
    let forbid = "graph.templates=[{relation={chain='pos'},forbid=[['DT','NN']]}]";
    let found = problem(&parse(FACTORIAL, &[forbid]), &corpus());
    let expected = "doc, sentence 1: no labelling satisfies the constraints: nothing is left in the layer \"pos\" at token ";
    assert!(found.starts_with(expected), "{found}");
    let trained = train(
        &parse(
            FACTORIAL,
            &["graph.templates=[{relation={chain='pos'},forbid=[['VB','VB']]}]"],
        ),
        &corpus(),
    );
    let options = GraphAnnotatorOptions {
        fix_labels: true,
        ..GraphAnnotatorOptions::default()
    };
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    let mut known = columns(&["pos"], &[&[&["x", "?"], &["y", "VB"], &["z", "VB"]]]);
    annotator.annotate(&mut known).unwrap();
    assert_eq!(column(&known, "pos"), ["?", "?", "?"]);
    let report = annotator.take_report();
    let problem = &report.impossible[0].problem;
    assert!(
        problem.contains("the layer \"pos\" at token ") && problem.contains("\")"),
        "{problem}"
    );
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
fn weights_are_taken_over_from_models_of_the_same_kind() {
    let text = "[[features]]\nkind = 'word'\n[labels]\ncolumn = 'pos'\n";
    let documents = &corpus()[..1];
    let (chain, graph) = (parse(text, &[]), parse(text, &["graph.kind=linear-chain"]));
    let options = RunOptions::default();
    let trained = |config: &Config, options: &RunOptions<'_>| {
        crate::train_config(config, Path::new(""), documents, &[], options, &mut ())
    };
    for (first, second, expected) in [
        (&chain, &graph, "the model to start from is a chain"),
        (&graph, &chain, "the model to start from is a graph"),
    ] {
        let bytes = match trained(first, &options).unwrap().pipeline {
            crate::AnyPipeline::Chain(pipeline) => pipeline.to_bytes().unwrap(),
            crate::AnyPipeline::Graph(pipeline) => pipeline.to_bytes().unwrap(),
        };
        let container = Arc::new(Container::from_bytes(bytes).unwrap());
        let warm = RunOptions {
            warm_start: Some(&container),
            ..RunOptions::default()
        };
        let found = trained(second, &warm).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_dump_that_is_cut_off_is_that_of_a_graph() {
    let mut text = Vec::new();
    train(&parse(FACTORIAL, &[]), &corpus())
        .pipeline
        .dump(&mut text)
        .unwrap();
    let end = text.windows(5).position(|window| window == b"\nend\n").unwrap();
    for length in [end, end + 5] {
        let text = &text[..length];
        assert!(crate::AnyPipeline::is_dump(text));
        let error = crate::AnyPipeline::from_dump(text).unwrap_err().to_string();
        assert!(error.starts_with("line ") && !error.contains("chain"), "{error}");
    }
}

#[test]
fn a_run_is_another_one_with_another_engine_for_development_data() {
    let folder = tempfile::tempdir().unwrap();
    let run = |resume: bool, inference: &str| {
        let options = RunOptions {
            checkpoint: Some(crate::CheckpointOptions {
                path: folder.path().join("state"),
                every: crate::Interval::Iterations(1),
                resume,
            }),
            ..RunOptions::default()
        };
        let inference = format!("graph.inference={inference}");
        let training = "graph.training_inference={engine='exact'}";
        let config = parse(FACTORIAL, &["training.max_iterations=3", training, &inference]);
        let corpus = corpus();
        train_graph(&config, Path::new(""), &corpus, &corpus[..1], &options, &mut ())
    };
    run(false, "{engine='exact'}").unwrap();
    let error = run(true, "{engine='loopy'}").unwrap_err().to_string();
    assert!(error.contains("belongs to another run"), "{error}");
    run(true, "{engine='exact'}").unwrap();
}

/// Probabilities of spans take time that is linear in the length of documents.
#[test]
fn spans_of_long_instances_have_estimates() {
    let document = marked("Ann met Bob", &[(0..3, "X"), (8..11, "X"), (0..11, "Y")]);
    let text = ["Ann met Bob"; 60].join(" then ");
    for (kind, overrides) in [
        ("factorial", &["graph.instance=document"][..]),
        (
            "linear-chain",
            &[
                "graph.instance=document",
                "graph.kind=linear-chain",
                "graph.layers=[{name='a',types=['X']}]",
            ],
        ),
    ] {
        let trained = train(&parse(NESTED, overrides), std::slice::from_ref(&document));
        let mut annotator = trained.pipeline.annotator().unwrap();
        let answers = annotator.answers(&Document::new("new", text.as_str())).unwrap();
        let spans = &answers[0].spans;
        assert!(spans.len() > 100, "{}", spans.len());
        assert!(
            spans
                .iter()
                .all(|span| span.probability.is_some_and(|sure| sure > 0.1 && sure <= 1.0))
        );
        let estimated = annotator.take_report().estimated;
        assert_eq!(estimated > 0, kind == "factorial", "{estimated}");
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
