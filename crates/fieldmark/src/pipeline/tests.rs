//! From raw text to annotations and back, on a small corpus.

use super::sequences::Cutter;
use super::*;
use fieldmark_text::document::{Annotation, Document};
use fieldmark_text::formats::Notices;
use std::path::Path;

pub(super) const CONFIG_TEXT: &str = "
    window = 1
    [text]
    tokenizer = 'dash'
    [[features]]
    kind = 'word'
    [[features]]
    kind = 'suffix'
    lengths = [2, 3]
    [[features]]
    kind = 'conjunction'
    of = ['W@-1', 'W']
";

fn marked(text: &str) -> Document {
    let mut document = Document::new("d", "");
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        document.text.push_str(before);
        let (name, after) = after.split_once(']').unwrap();
        let start = document.text.len();
        document.text.push_str(name);
        document
            .annotations
            .push(Annotation::new(start..document.text.len(), "GENE"));
        rest = after;
    }
    document.text.push_str(rest);
    document
}

/// The documents of a text in columns.
pub(super) fn columns(text: &str) -> Vec<Document> {
    use fieldmark_text::formats::{ColumnOptions, ColumnReader, DocumentReader};
    let source = fieldmark_text::Source::text("t", text);
    let mut reader = ColumnReader::new(&source, ColumnOptions::default()).unwrap();
    let mut notices = Notices::new();
    std::iter::from_fn(|| reader.next(&mut notices).unwrap()).collect()
}

pub(super) fn corpus() -> Vec<Document> {
    [
        "The [Htr1b] gene is new. We saw [cul4a] protein.",
        "A mutant of the [abc-2] gene was found. It was small.",
        "We saw [xyz] protein in the cell.",
    ]
    .map(marked)
    .to_vec()
}

pub(super) fn trained() -> TrainedPipeline {
    let config = Config::parse(CONFIG_TEXT, &["training.c2=0.01".to_owned()]).unwrap();
    train_pipeline(
        &config,
        Path::new(""),
        &corpus(),
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap()
}

#[test]
fn a_pipeline_finds_what_it_was_shown_and_survives_its_file() {
    let trained = trained();
    assert!(trained.notices.is_empty(), "{:?}", trained.notices);
    assert_eq!((trained.run.sequences, trained.run.tokens), (5, 34));
    let bytes = trained.pipeline.to_bytes().unwrap();
    let read = Pipeline::from_container(Arc::new(Container::from_bytes(bytes).unwrap())).unwrap();
    assert_eq!(read.config(), trained.pipeline.config());
    for pipeline in [&trained.pipeline, &read] {
        let mut annotator = pipeline.annotator();
        for gold in corpus() {
            let mut found = Document::new("d", gold.text.clone());
            annotator.annotate(&mut found).unwrap();
            let plain = |document: &Document| -> Vec<_> {
                document
                    .annotations
                    .iter()
                    .map(|annotation| (annotation.range(), annotation.kind.clone()))
                    .collect()
            };
            assert_eq!(plain(&found), plain(&gold), "{}", gold.text);
            for annotation in &found.annotations {
                assert!(annotation.score.is_some_and(|score| score > 0.5 && score <= 1.0));
            }
            assert_eq!(found.check(), Ok(()));
        }
        let mut new = Document::new("n", "We saw klm protein.");
        annotator.annotate(&mut new).unwrap();
        assert_eq!(new.annotations[0].text(&new.text), "klm");
    }
}

#[test]
fn what_does_not_fit_tokens_or_sentences_is_noticed() {
    let mut document = Document::new("d", "One-a two. Three four.");
    document.annotations = vec![
        Annotation::new(1..3, "X"),
        Annotation::new(6..16, "X"),
        Annotation::new(6..9, "Y"),
        Annotation::new(5..6, "X"),
    ];
    let config = Config::parse(CONFIG_TEXT, &[]).unwrap();
    let cutter = Cutter::new(&config.text);
    let mut sentences = sequences::Sentences::default();
    cutter.cut(&document, &mut sentences, &mut Notices::new());
    let mut notices = Notices::new();
    let labels = gold::labels(&config.labels, &document, &sentences, &mut notices);
    assert_eq!(
        labels,
        [vec!["B-X", "O", "O", "B-X", "I-X"], vec!["B-X", "O", "O"]]
    );
    let kinds: Vec<String> = notices
        .counts()
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    assert_eq!(
        kinds,
        [
            "1 border inside a token",
            "1 empty span",
            "1 nested span",
            "1 span over the end of a sentence"
        ]
    );
}

#[test]
fn a_config_without_features_is_refused() {
    let error = train_pipeline(
        &Config::default(),
        Path::new(""),
        &corpus(),
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap_err();
    assert!(error.to_string().contains("no features"), "{error}");
}

#[test]
fn lists_from_training_know_other_folds_only_and_everything_afterwards() {
    let text =
        "[[features]]\nkind = 'dictionary'\ntraining = 'GENE'\nfolds = 2\n[[features]]\nkind = 'word'\n";
    let config = Config::parse(text, &[]).unwrap();
    // Names occur in one fold each, so that no training sequence sees a list that knows it.
    let documents: Vec<Document> = (0..64)
        .map(|index| marked(&format!("We saw [gene{index}] here .")))
        .collect();
    let trained = train_pipeline(
        &config,
        Path::new(""),
        &documents,
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    let names: Vec<&str> = trained.pipeline.chain.observations().iter().collect();
    assert!(
        names.contains(&"W=gene3") && !names.contains(&"LIST:GENE"),
        "{names:?}"
    );
    let lists: Vec<_> = trained.pipeline.front.resources.iter().collect();
    assert_eq!(lists[0].0, "training:GENE");
    assert_eq!(lists[0].1.split(|&byte| byte == b'\n').count(), 65);
    // Names of the second fold again, in the first.
    let twice: Vec<Document> = documents.iter().chain(&documents[16..32]).cloned().collect();
    let trained = train_pipeline(
        &config,
        Path::new(""),
        &twice,
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    assert!(trained.pipeline.chain.observations().get("LIST:GENE").is_some());
}

#[test]
fn lists_of_few_sequences_know_other_folds_too() {
    let text = "[[features]]\nkind = 'dictionary'\ntraining = 'GENE'\n[[features]]\nkind = 'word'\n";
    let config = Config::parse(text, &[]).unwrap();
    let documents = vec![marked("We saw [abc] here ."), marked("Again [abc] was seen .")];
    let trained = train_pipeline(
        &config,
        Path::new(""),
        &documents,
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    assert!(trained.pipeline.chain.observations().get("LIST:GENE").is_some());
}

#[test]
fn lists_of_one_type_differ_by_how_often_names_occur() {
    let text = "features = [
        { kind = 'dictionary', training = 'GENE', name = 'SEEN' },
        { kind = 'dictionary', training = 'GENE', min_count = 2, name = 'OFTEN' },
    ]";
    let config = Config::parse(text, &[]).unwrap();
    let documents = ["We saw [abc] .", "Then [abc] again .", "And [#4] , too ."].map(marked);
    let trained = train_pipeline(
        &config,
        Path::new(""),
        &documents,
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    let lists: Vec<(&str, &[u8])> = trained.pipeline.front.resources.iter().collect();
    let expected: [(&str, &[u8]); 2] = [("training:GENE", b"\\#4\nabc\n"), ("training>=2:GENE", b"abc\n")];
    assert_eq!(lists, expected);
}

#[test]
fn features_that_find_nothing_are_noticed() {
    let text = "features = [
        { kind = 'word' }, { kind = 'column', column = 'pos' },
        { kind = 'dictionary', training = 'Gene' }, { kind = 'dictionary', training = 'GENE' },
    ]";
    let config = Config::parse(text, &[]).unwrap();
    let trained = train_pipeline(
        &config,
        Path::new(""),
        &corpus(),
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    let messages: Vec<&str> = trained
        .notices
        .all()
        .iter()
        .map(|notice| notice.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "features[1] says nothing: there is no column \"pos\" in the training data",
            "features[2] says nothing: there is no span of the type \"Gene\" in the training data (types: GENE). Did \
             you mean GENE?"
        ]
    );
}

#[test]
fn labels_of_another_model_are_features() {
    let folder = tempfile::tempdir().unwrap();
    trained().pipeline.save(folder.path().join("genes.fmk")).unwrap();
    let text = "[[features]]\nkind = 'model'\nfile = 'genes.fmk'\nname = 'GENES'\n";
    let config = Config::parse(text, &["text.tokenizer=dash".to_owned()]).unwrap();
    let stacked = train_pipeline(
        &config,
        folder.path(),
        &corpus(),
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    let names: Vec<&str> = stacked.pipeline.chain.observations().iter().collect();
    assert!(names.contains(&"GENES=B-GENE"), "{names:?}");
    let bytes = stacked.pipeline.to_bytes().unwrap();
    std::fs::remove_file(folder.path().join("genes.fmk")).unwrap();
    let read = Pipeline::from_container(Arc::new(Container::from_bytes(bytes).unwrap())).unwrap();
    let mut document = Document::new("d", corpus()[0].text.clone());
    read.annotator().annotate(&mut document).unwrap();
    assert_eq!(document.annotations.len(), 2);
}

#[test]
fn texts_without_borders_are_cut_between_words() {
    let longest = sequences::LONGEST;
    let config = |tokenizer: &str| Config::parse("", &[format!("text.tokenizer={tokenizer}")]).unwrap();
    let cut = |tokenizer: &str, text: String| {
        let document = Document::new("long", text);
        let (mut sentences, mut notices) = (sequences::Sentences::default(), Notices::new());
        Cutter::new(&config(tokenizer).text).cut(&document, &mut sentences, &mut notices);
        let starts: Vec<bool> = sentences
            .ranges()
            .map(|range| sentences.tokens[range.start].space_before)
            .collect();
        let lengths: Vec<usize> = sentences.ranges().map(|range| range.len()).collect();
        (lengths, starts, notices.all().len())
    };
    let (lengths, _, notices) = cut("whitespace", "ab ".repeat(longest));
    assert_eq!((lengths, notices), (vec![longest], 0));
    let (lengths, _, notices) = cut("whitespace", "ab ".repeat(2 * longest + 1));
    assert_eq!((lengths, notices), (vec![longest, longest, 1], 1));
    // Three tokens in a word, and a short sentence afterwards.
    let (lengths, starts, notices) = cut("dash", "a-b ".repeat(longest / 2) + ".\n\nThe end.");
    assert_eq!(
        lengths,
        [
            longest - longest % 3,
            longest / 2 * 3 - (longest - longest % 3) + 1,
            3
        ]
    );
    assert!(starts.iter().all(|&start| start) && notices == 1, "{starts:?}");
    // One word, in the middle of which there is no better place than any.
    let (lengths, _, _) = cut("dash", "-".repeat(longest + 5));
    assert_eq!(lengths, [longest, 5]);
}

#[test]
fn a_long_sentence_is_marked_in_parts_and_told() {
    let trained = trained();
    let mut annotator = trained.pipeline.annotator();
    let text = format!(
        "{}We saw xyz protein in the cell",
        "we ".repeat(sequences::LONGEST)
    );
    let mut document = Document::new("long", text);
    annotator.annotate(&mut document).unwrap();
    let last = document.annotations.last().unwrap();
    assert_eq!(last.text(&document.text), "xyz");
    let report = annotator.take_report();
    let told: Vec<String> = report.notices.all().iter().map(ToString::to_string).collect();
    assert!(
        told.len() == 1 && told[0].starts_with("long: long sentence: 1 with more than"),
        "{told:?}"
    );
}

#[test]
fn a_bad_model_of_a_stack_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = trained().pipeline.to_bytes().unwrap();
    let damaged = [&bytes[..bytes.len() / 2], b"?"].concat();
    let config = Config::parse(
        CONFIG_TEXT,
        &["features=[{ kind = 'model', file = 'lower.fmk' }]".to_owned()],
    );
    let config = config.unwrap();
    for content in [&b"no model"[..], &damaged] {
        std::fs::write(folder.path().join("lower.fmk"), content).unwrap();
        let error = train_pipeline(
            &config,
            folder.path(),
            &corpus(),
            &[],
            &RunOptions::default(),
            &mut (),
        )
        .unwrap_err();
        assert!(error.to_string().starts_with("the model lower.fmk"), "{error}");
    }
}

/// Every model of a stack has the default name; the middle one turns the labels of the first around.
#[test]
fn a_stack_on_a_stack_looks_at_the_upper_one() {
    let folder = tempfile::tempdir().unwrap();
    trained().pipeline.save(folder.path().join("lower.fmk")).unwrap();
    let stack = |file: &str, rename: &str, documents: &[Document]| {
        let text = format!("features = [{{ kind = 'model', file = '{file}' }}]");
        let overrides = ["text.tokenizer=dash", rename, "training.c2=0.01"].map(str::to_owned);
        let config = Config::parse(&text, &overrides).unwrap();
        train_pipeline(
            &config,
            folder.path(),
            documents,
            &[],
            &RunOptions::default(),
            &mut (),
        )
        .unwrap()
    };
    let middle = stack("lower.fmk", "labels.rename={ GENE = 'NAME' }", &corpus());
    middle.pipeline.save(folder.path().join("middle.fmk")).unwrap();
    let upper = stack("middle.fmk", "labels.rename={ GENE = 'THING' }", &corpus());
    let names: Vec<&str> = upper.pipeline.chain.observations().iter().collect();
    assert!(
        names.contains(&"MODEL=B-NAME") && !names.contains(&"MODEL=B-GENE"),
        "{names:?}"
    );
    let mut document = Document::new("d", corpus()[0].text.clone());
    upper.pipeline.annotator().annotate(&mut document).unwrap();
    let kinds: Vec<&str> = document
        .annotations
        .iter()
        .map(|annotation| annotation.kind.as_str())
        .collect();
    assert_eq!(kinds, ["THING", "THING"]);
}

/// Offsets are those of the text, whatever the features see.
#[test]
fn spans_of_normalised_tokens_are_places_of_the_text() {
    let config = Config::parse(
        CONFIG_TEXT,
        &["text.normalize=['entities', { greek = 'name' }]".to_owned()],
    )
    .unwrap();
    let documents = ["The [TGF-&beta;1] gene is new.", "We saw [TGF-\u{3b2}2] here."].map(marked);
    let trained = train_pipeline(
        &config,
        Path::new(""),
        &documents,
        &[],
        &RunOptions::default(),
        &mut (),
    )
    .unwrap();
    assert!(trained.notices.is_empty(), "{:?}", trained.notices);
    let names: Vec<&str> = trained.pipeline.chain.observations().iter().collect();
    assert!(
        names.contains(&"W=beta1") && names.contains(&"W=beta2"),
        "{names:?}"
    );
    for gold in &documents {
        let mut found = Document::new("d", gold.text.clone());
        trained.pipeline.annotator().annotate(&mut found).unwrap();
        let texts: Vec<&str> = found
            .annotations
            .iter()
            .map(|found| found.text(&gold.text))
            .collect();
        assert_eq!(texts, [gold.annotations[0].text(&gold.text)]);
    }
}
