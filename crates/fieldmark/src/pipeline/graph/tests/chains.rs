//! A chain, described as a graph, is the chain.

use super::*;

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
    let (documents, test) = (sample(crate::sample::TRAIN, 100), sample(crate::sample::TEST, 60));
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
        let engines = [EngineChoice::default(), EngineChoice::Loopy(Default::default())];
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
