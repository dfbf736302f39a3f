//! Skips, borders and depths, and what is told of them and of mistakes.

use super::*;

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
            "no label for the layer \"pos\": there is no column \"tag\"",
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
        (
            "[graph]\nkind = 'factorail'",
            "unknown value 'factorail' of graph.kind, did you mean 'factorial'?",
        ),
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
    let others = [
        "Reed", "Hill", "Cole", "Ford", "Webb", "Lane", "Nash", "Kent", "Boyd", "Shaw",
    ];
    let others = others
        .chunks(2)
        .flat_map(|pair| [talk(pair[0], pair[1]), talk(pair[1], pair[0])]);
    same.into_iter().chain(others).collect()
}

#[test]
fn development_data_join_words_that_are_new() {
    let dev = [talk("Jones", "Jones"), talk("Gray", "Wood")];
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
    assert_eq!(trained.run.iterations.last().unwrap().dev, Some(1.0));
    // The model does as well on texts.
    assert_eq!(trained.pipeline.score(&dev).unwrap().score(), 1.0);
}

#[test]
fn skip_edges_join_new_words_too() {
    let trained = train(&parse(SKIPS, &[]), &talks());
    let names: Vec<&str> = trained.pipeline.model.structure().template_names().collect();
    assert!(names.contains(&"skip0"), "{names:?}");
    // A word that the model has never seen is joined to itself: one more factor than without a repeat.
    let mut annotator = trained.pipeline.annotator().unwrap();
    let mut factors = |text: &str| {
        let (data, _) = annotator.describe(&Document::new("new", text)).unwrap();
        let mut tagger = trained.pipeline.model.tagger(&Default::default()).unwrap();
        tagger.unroll(data.instance(0)).unwrap().graph().factors()
    };
    assert_eq!(factors("Jones talks Jones"), factors("Jones talks Brown") + 1);
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
        cuts[0].message.contains("would join 1 pair of positions here"),
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

#[test]
fn a_window_that_fits_nowhere_is_told() {
    let window = |offset: u32| {
        let templates = format!(
            "graph.templates=[{{relation={{window={{layers=['pos','chunk'],offsets=[0,{offset}]}}}}}}]"
        );
        train(&parse(FACTORIAL, &[&templates]), &corpus()).notices
    };
    assert!(window(1).is_empty());
    let notices = window(100_000);
    let told = &notices.all()[0].message;
    assert!(
        told.contains("\"window:pos-chunk:0,100000\" joins nothing") && told.contains("long enough"),
        "{told}"
    );
}

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
    let expected = "doc, sentence 1: the template \"chain:pos\" forbids all labels that are left";
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

/// In a text nothing is marked, which is told; a score would be that of nothing.
#[test]
fn an_engine_that_gives_up_is_no_score() {
    let narrow = [
        "graph.objective=pseudolikelihood",
        "graph.inference={engine='exact',budget=10}",
    ];
    let trained = train(&parse(FACTORIAL, &narrow), &corpus());
    let mut document = Document::new("new", "the dog sleeps");
    let mut annotator = trained.pipeline.annotator().unwrap();
    annotator.annotate(&mut document).unwrap();
    assert_eq!(column(&document, "pos"), ["?", "?", "?"]);
    assert_eq!(annotator.take_report().impossible.len(), 1);
    let error = trained.pipeline.score(&corpus()).unwrap_err().to_string();
    assert!(error.starts_with("doc: exact inference needs tables"), "{error}");
    // Who gets a report is told there.
    let (scores, report) = trained.pipeline.score_and_report(&corpus()).unwrap();
    assert_eq!(report.impossible.len() as u64, report.instances);
    assert_eq!(scores.right, 0);
}
