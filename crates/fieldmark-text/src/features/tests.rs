//! Facts by the examples of the documents, and hashes by names.

use super::*;
use crate::normalize::{GreekForm, Normalizer, Spelling, Step};
use crate::tokenize::{Tokenizer, TokenizerProfile};
use fieldmark_core::{Alphabet, Names};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Names of the observations at every token, with values that are not 1.
fn described(features: &str, window: usize, text: &str) -> Vec<BTreeSet<String>> {
    described_with(features, window, text, &[])
}

fn described_with(
    features: &str,
    window: usize,
    text: &str,
    columns: &[Vec<Cow<'_, str>>],
) -> Vec<BTreeSet<String>> {
    describe_all(features, window, text, columns, &Resources::default())
}

fn describe_all(
    features: &str,
    window: usize,
    text: &str,
    columns: &[Vec<Cow<'_, str>>],
    resources: &Resources,
) -> Vec<BTreeSet<String>> {
    #[derive(serde::Deserialize)]
    struct List {
        features: Vec<FeatureConfig>,
    }
    let list: List = toml::from_str(features).unwrap();
    let preprocessor = Preprocessor {
        tokenizer: Tokenizer::new(TokenizerProfile::Whitespace),
        ..Preprocessor::default()
    };
    let tokens = preprocessor.tokens(text);
    let sequence = Sequence {
        columns,
        ..Sequence::new(text, &tokens)
    };
    names_of(&list.features, window, &sequence, preprocessor, resources)
}

/// Names of the observations at every token of a sequence, with values that are not 1.
fn names_of(
    features: &[FeatureConfig],
    window: usize,
    sequence: &Sequence<'_>,
    preprocessor: Preprocessor,
    resources: &Resources,
) -> Vec<BTreeSet<String>> {
    let extractor = Extractor::new(features, window, preprocessor, resources).unwrap();
    let mut extraction = Extraction::new(&extractor, Growing::default());
    let rows = observations(extraction.describe(sequence));
    let names = extraction.into_numbering().names;
    // Hashes of parts are those of names: a finished model finds the same.
    let fixed = Names::new(names.iter());
    let mut again = Extraction::new(&extractor, &fixed);
    assert_eq!(observations(again.describe(sequence)), rows);
    names
        .iter()
        .for_each(|name| assert_eq!(fixed.get(name), names.get(name)));
    let written = |&(id, value): &(u32, f32)| match value {
        1.0 => names.name(id).to_owned(),
        _ => format!("{} × {value}", names.name(id)),
    };
    rows.iter().map(|row| row.iter().map(written).collect()).collect()
}

/// Observations with their values, position by position; seen from the tokens they are the same.
fn observations(description: Description<'_>) -> Vec<Vec<(u32, f32)>> {
    let mut by_token = vec![Vec::new(); description.len()];
    for (pieces, positions) in description.tokens() {
        for (piece, position) in pieces.zip(positions) {
            if let Some(position) = position {
                by_token[position].extend_from_slice(description.pieces.get(piece));
            }
        }
    }
    let mut rows = Vec::new();
    for (position, by_token) in by_token.iter_mut().enumerate() {
        let mut ids: Vec<u32> = description.pieces_at(position).flatten().copied().collect();
        let mut row: Vec<(u32, f32)> = ids.iter().map(|&id| (id, 1.0)).collect();
        ids.sort_unstable();
        by_token.sort_unstable();
        assert_eq!(*by_token, ids);
        let others = description.others_at(position).iter();
        row.extend(others.map(|other| (other.id, other.value)));
        rows.push(row);
    }
    assert_eq!(
        rows.iter().flatten().count(),
        by_token.iter().flatten().count() + description.others.len()
    );
    rows
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Klinger (2011), Table 2.2: affixes only of longer tokens, features of neighbours with `@`.
#[test]
fn words_affixes_and_offset_conjunction_as_in_table_2_2() {
    let features = "
        [[features]]
        kind = 'word'
        [[features]]
        kind = 'prefix'
        lengths = [3, 4]
        [[features]]
        kind = 'suffix'
        lengths = [3, 4]
        offsets = [0]
    ";
    let rows = described(features, 1, "SGPT , SGOT alkaline");
    assert_eq!(rows[0], set(&["W=SGPT", "PREFIX3=SGP", "SUFFIX3=GPT", "W=,@1"]));
    assert_eq!(
        rows[2],
        set(&[
            "W=SGOT",
            "W=,@-1",
            "W=alkaline@1",
            "PREFIX3=SGO",
            "SUFFIX3=GOT",
            "PREFIX3=alk@1",
            "PREFIX4=alka@1"
        ])
    );
    assert!(rows[3].is_superset(&set(&["PREFIX4=alka", "SUFFIX4=line", "W=SGOT@-1"])));
}

#[test]
fn every_kind_that_sees_only_the_token() {
    let features = "
        features = [
            { kind = 'bias' }, { kind = 'word', lower = true }, { kind = 'stem' },
            { kind = 'shape' }, { kind = 'shape', brief = true, name = 'B' }, { kind = 'capitalisation' },
            { kind = 'pattern', only = ['init-cap', 'has-digit'] },
            { kind = 'regex', name = 'LOCUS', pattern = '[a-z]+[0-9]', ignore_case = true },
            { kind = 'ngrams', lengths = [3] }, { kind = 'space' },
        ]
    ";
    let rows = described(features, 0, "Genes Ab1");
    assert_eq!(
        rows[1],
        set(&[
            "BIAS",
            "L=ab1",
            "STEM=ab1",
            "WC=Aa0",
            "B=Aa0",
            "CAP=title",
            "INITCAP",
            "HASDIGIT",
            "LOCUS",
            "GRAM3=^Ab",
            "GRAM3=Ab1",
            "GRAM3=b1$",
            "SPACE_LEFT",
            "SPACE_RIGHT"
        ])
    );
    assert!(rows[0].contains("STEM=gene") && !rows[0].contains("LOCUS"));
}

/// The cut of a text into k equal parts (000, section 2.4; 001, F3.5).
#[test]
fn positions_in_equal_parts_and_at_the_edges() {
    let features = "features = [{ kind = 'position', parts = [2, 3, 8], edges = 1 }]";
    let rows = described(features, 0, "a b c d e f g h");
    assert_eq!(
        rows[0],
        set(&["SENTENCE/2=1", "SENTENCE/3=1", "SENTENCE/8=1", "SENTENCE+0"])
    );
    assert_eq!(rows[3], set(&["SENTENCE/2=1", "SENTENCE/3=2", "SENTENCE/8=4"]));
    assert_eq!(
        rows[7],
        set(&["SENTENCE/2=2", "SENTENCE/3=3", "SENTENCE/8=8", "SENTENCE-1"])
    );
}

/// Counts in a window as values (001, F3.3).
#[test]
fn bags_have_counts_as_values() {
    let features = "features = [{ kind = 'bag', window = 2 }]";
    let rows = described(features, 0, "The cat , the dog");
    assert_eq!(rows[1], set(&["BAG=the × 2", "BAG=cat", "BAG=,"]));
    assert_eq!(rows[4], set(&["BAG=,", "BAG=the", "BAG=dog"]));
}

/// D-13: expressions over several tokens mark every token that they cover.
#[test]
fn expressions_on_the_text_mark_every_token_they_cover() {
    let features = r"features = [{ kind = 'regex', name = 'PLACE', on = 'text', pattern = '(chr|chromosome)\s*([1-9]|1[0-9]|2[0-2]|X|Y)' }]";
    let rows = described(features, 0, "on chromosome 7 and chrX");
    let marked: Vec<bool> = rows.iter().map(|row| row.contains("PLACE")).collect();
    assert_eq!(marked, [false, true, true, false, true]);
}

#[test]
fn expressions_on_tokens_match_all_of_it_however_they_are_written() {
    let features = r"features = [
        { kind = 'regex', name = 'NUMBER', pattern = '(?x) [0-9]+ # digits' },
        { kind = 'regex', name = 'EITHER', pattern = 'a|ab' },
    ]";
    let rows = described(features, 0, "12 a12 ab abc");
    assert_eq!(rows, [set(&["NUMBER"]), set(&[]), set(&["EITHER"]), set(&[])]);
}

#[test]
fn columns_and_conjunctions_with_them() {
    let features = "
        features = [
            { kind = 'column', column = 'pos', offsets = [-1, 0] }, { kind = 'word', offsets = [] },
            { kind = 'conjunction', of = ['W@-1', 'W'] }, { kind = 'conjunction', of = ['pos', 'W@1', 'pos@1'] },
        ]
    ";
    let pos: Vec<Cow<'_, str>> = ["DT", "N N", "@1"].iter().map(|&tag| tag.into()).collect();
    let rows = described_with(features, 0, "the & a@2", &[pos]);
    assert_eq!(rows[0], set(&["pos=DT", "& pos=DT & W=&@1 & pos=N_N@1"]));
    assert_eq!(
        rows[1],
        set(&[
            "pos=DT@-1",
            "pos=N_N",
            "& W=the@-1 & W=&",
            "& pos=N_N & W=a@2@1 & pos=@1@1"
        ])
    );
    // What looks like an offset gets one, so that it is none.
    assert_eq!(rows[2], set(&["pos=N_N@-1", "pos=@1@0", "& W=&@-1 & W=a@2@0"]));
}

#[test]
fn conjunctions_of_several_facts_are_all_pairs() {
    let features = "
        features = [
            { kind = 'prefix', lengths = [1, 2], offsets = [] }, { kind = 'suffix', lengths = [1, 2], offsets = [] },
            { kind = 'conjunction', of = ['PREFIX', 'SUFFIX'] },
        ]
    ";
    let rows = described(features, 0, "abc");
    assert_eq!(
        rows[0],
        set(&[
            "& PREFIX1=a & SUFFIX1=c",
            "& PREFIX1=a & SUFFIX2=bc",
            "& PREFIX2=ab & SUFFIX1=c",
            "& PREFIX2=ab & SUFFIX2=bc"
        ])
    );
}

#[test]
fn entries_that_cannot_work_are_refused_with_their_number() {
    for (entry, problem) in [
        (
            "{ kind = 'regex', name = 'R', pattern = '(' }",
            "the expression \"(\" is not a regular expression",
        ),
        (
            "{ kind = 'regex', name = 'R', pattern = 'a)|(?:b' }",
            "not a regular expression",
        ),
        ("{ kind = 'regex', name = 'R' }", "`pattern` is missing"),
        ("{ kind = 'column' }", "name"),
        ("{ kind = 'prefix', lengths = [0] }", "length of 0"),
        ("{ kind = 'word', name = 'a b' }", "blank"),
        ("{ kind = 'word', offsets = [10000] }", "10000"),
        (
            "{ kind = 'conjunction', of = ['W', 'NONE'] }",
            "no entry with the name \"NONE\"",
        ),
        ("{ kind = 'conjunction', of = ['W'] }", "at least two"),
        ("{ kind = 'position' }", "`parts` or `edges`"),
        ("{ kind = 'bag', of = 'concept' }", "a file of `concepts`"),
        (
            "{ kind = 'conjunction', of = ['W', 'W@1'], offsets = [1] }",
            "no `offsets` of its own",
        ),
        (
            "{ kind = 'conjunction', of = ['W', 'W@1'], name = 'PAIR' }",
            "no `name`",
        ),
        (
            "{ kind = 'word', offsets = [1, 0] }",
            "features[0] has the name \"W\"",
        ),
        (
            "{ kind = 'regex', name = 'W', pattern = 'a' }",
            "could not be told apart",
        ),
        (
            "{ kind = 'dictionary', training = 'GENE', folds = 1 }",
            "`folds` is 1",
        ),
    ] {
        #[derive(serde::Deserialize)]
        struct List {
            features: Vec<FeatureConfig>,
        }
        let list: List = toml::from_str(&format!("features = [{{ kind = 'word' }}, {entry}]")).unwrap();
        let error = Extractor::new(&list.features, 0, Preprocessor::default(), &Resources::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("features[1]: ") && error.contains(problem),
            "{error}"
        );
    }
}

fn refused(features: &str, window: usize) -> String {
    #[derive(serde::Deserialize)]
    struct List {
        features: Vec<FeatureConfig>,
    }
    let list: List = toml::from_str(&format!("features = [{features}]")).unwrap();
    Extractor::new(
        &list.features,
        window,
        Preprocessor::default(),
        &lists(&[("a", "a\t1\n"), ("b", "b\t1\n")]),
    )
    .map_or_else(|error| error.to_string(), |_| String::new())
}

/// Two lexicons or expressions under one name would be one fact.
#[test]
fn entries_with_one_name_are_refused_unless_they_say_different_things() {
    for features in [
        "{ kind = 'regex', pattern = 'a' }, { kind = 'regex', pattern = 'b' }",
        "{ kind = 'polarity', file = 'a' }, { kind = 'polarity', file = 'b' }",
        "{ kind = 'class', file = 'a' }, { kind = 'class', file = 'b' }",
        "{ kind = 'prefix' }, { kind = 'prefix', lengths = [4, 5], lower = true }",
        "{ kind = 'position', edges = 1 }, { kind = 'position', edges = 2 }",
        "{ kind = 'pattern' }, { kind = 'pattern', only = ['quote'] }",
        "{ kind = 'bag', window = 1 }, { kind = 'bag', window = 9 }",
    ] {
        let error = refused(features, 0);
        assert!(
            error.starts_with("features[1]: features[0] has the name"),
            "{error}"
        );
    }
    for features in [
        "{ kind = 'regex', pattern = 'a' }, { kind = 'regex', pattern = 'b', name = 'B' }",
        "{ kind = 'prefix', lengths = [2] }, { kind = 'prefix', lengths = [3] }",
        "{ kind = 'prefix', offsets = [0] }, { kind = 'prefix', offsets = [-1, 1] }",
        "{ kind = 'position', parts = [2] }, { kind = 'position', edges = 2 }",
        "{ kind = 'word' }, { kind = 'word', lower = true }, { kind = 'word', offsets = [5] }",
    ] {
        assert_eq!(refused(features, 2), "", "{features}");
    }
    let names = "{ kind = 'prefix', lengths = [2] }, { kind = 'prefix', lengths = [3] }, { kind = 'word' }";
    let error = refused(
        &format!("{names}, {{ kind = 'conjunction', of = ['W', 'PREFIX'] }}"),
        0,
    );
    assert!(error.contains("2 entries with the name \"PREFIX\""), "{error}");
}

#[test]
fn windows_and_products_have_limits_that_are_told() {
    let error = refused("{ kind = 'word' }", 10_000);
    assert!(error.contains("10000, expected at most 9999"), "{error}");
    let error = refused(
        "{ kind = 'ngrams', offsets = [] }, { kind = 'conjunction', of = ['GRAM', 'GRAM@1'] }",
        0,
    );
    assert!(error.starts_with("features[1]: two names of `ngrams`"), "{error}");
}

#[test]
fn what_is_asked_for_twice_is_there_once() {
    let features = "
        features = [
            { kind = 'suffix', lengths = [1, 1] }, { kind = 'position', parts = [2, 2], offsets = [0, 0] },
            { kind = 'bag', window = 0, offsets = [0, 0] },
        ]
    ";
    #[derive(serde::Deserialize)]
    struct List {
        features: Vec<FeatureConfig>,
    }
    let list: List = toml::from_str(features).unwrap();
    let extractor =
        Extractor::new(&list.features, 0, Preprocessor::default(), &Resources::default()).unwrap();
    let tokens = Tokenizer::new(TokenizerProfile::Whitespace).tokenize("ab");
    let mut extraction = Extraction::new(&extractor, Growing::default());
    let rows = observations(extraction.describe(&Sequence::new("ab", &tokens)));
    assert_eq!(rows, [vec![(0, 1.0), (1, 1.0), (2, 1.0)]]);
}

#[test]
fn any_number_of_parts_is_counted_right() {
    let features = "features = [{ kind = 'position', parts = [9223372036854775807] }]";
    let rows = described(features, 0, "a b c d");
    assert_eq!(
        rows[3],
        set(&["SENTENCE/9223372036854775807=6917529027641081856"])
    );
}

#[test]
fn forgetting_tokens_changes_nothing() {
    let names: Alphabet = ["W=a", "W=b@1"].into_iter().map(str::to_owned).collect();
    let names = Names::new(names.iter());
    let list = [FeatureConfig::Word(Word::default())];
    let extractor = Extractor::new(&list, 1, Preprocessor::default(), &Resources::default()).unwrap();
    let tokens = Tokenizer::new(TokenizerProfile::Whitespace).tokenize("a b");
    let mut extraction = Extraction::new(&extractor, &names);
    for _ in 0..2 {
        let found = observations(extraction.describe(&Sequence::new("a b", &tokens)));
        assert_eq!(found, [vec![(0, 1.0), (1, 1.0)], vec![]]);
        extraction.forget();
    }
}

fn lists(contents: &[(&str, &str)]) -> Resources {
    let mut resources = Resources::default();
    contents
        .iter()
        .for_each(|(name, content)| resources.insert(*name, content.as_bytes().to_vec()));
    resources
}

/// One weight for a whole list, names of several tokens, and the neighbourhood of C5-06.
#[test]
fn dictionaries_find_names_and_their_neighbourhood() {
    let resources = lists(&[
        ("lists/genes.txt", "alkaline phosphatase\nIL-2\n"),
        ("training:GENE", "beta actin\n"),
    ]);
    let features = "
        features = [
            { kind = 'dictionary', file = 'lists/genes.txt', within = 1 },
            { kind = 'dictionary', training = 'GENE', borders = true, name = 'SEEN' },
            { kind = 'dictionary', training = 'GENE', by = 'word', name = 'PART' },
        ]
    ";
    let rows = describe_all(
        features,
        0,
        "an Alkaline phosphatase of beta actin , actin",
        &[],
        &resources,
    );
    let expected: [&[&str]; 8] = [
        &["LIST:genes~1"],
        &["LIST:genes", "LIST:genes~1"],
        &["LIST:genes", "LIST:genes~1"],
        &["LIST:genes~1"],
        &["SEEN:B", "PART"],
        &["SEEN:I", "PART"],
        &[],
        &["PART"],
    ];
    assert_eq!(rows, expected.map(set));
}

/// What is so long is no word, and its parts would take a hundred times its memory.
#[test]
fn long_tokens_have_no_ngrams() {
    let features = "features = [{ kind = 'ngrams', lengths = [2], ends = false }]";
    let rows =
        |length: usize| describe_all(features, 0, &"ab".repeat(length / 2), &[], &Resources::default());
    assert_eq!(rows(10_000), [set(&["GRAM2=ab", "GRAM2=ba"])]);
    assert_eq!(rows(10_002), [set(&[])]);
}

/// Ancestors at depths 2 to 4 for all tokens of an expression (000, section 2.5).
#[test]
fn ancestors_of_the_radiology_lexicon() {
    let resources = lists(&[("radlex", "entity\norgan\tentity\nlung\torgan\nleft lung\tlung\n")]);
    let features = "features = [{ kind = 'ancestors', file = 'radlex' }]";
    let rows = describe_all(features, 0, "the Left lung", &[], &resources);
    assert_eq!(rows[0], set(&[]));
    assert_eq!(rows[1], set(&["ABOVE2=organ", "ABOVE3=lung", "ABOVE4=left_lung"]));
    assert_eq!(rows[1], rows[2]);
}

/// "nice hotel" is "SWN:positive hotel" (000, section 2.6).
#[test]
fn polarity_and_generalised_bigrams() {
    let resources = lists(&[("swn", "nice\t1\nbad\t-0.5\n")]);
    let features = "features = [{ kind = 'polarity', file = 'swn', bigrams = true, name = 'SWN' }]";
    let rows = describe_all(features, 0, "nice hotel bad", &[], &resources);
    assert_eq!(rows[0], set(&["SWN=positive", "SWN2=:positive_hotel"]));
    assert_eq!(rows[1], set(&["SWN2=hotel_:negative"]));
    assert_eq!(rows[2], set(&["SWN=negative"]));
}

#[test]
fn word_classes_with_their_prefixes() {
    let resources = lists(&[("paths", "0010\tlung\t31\n")]);
    let features = "features = [{ kind = 'class', file = 'paths', format = 'brown', prefixes = [2, 3] }]";
    let rows = describe_all(features, 0, "lung x", &[], &resources);
    assert_eq!(rows, [set(&["CLASS=0010", "CLASS2=00", "CLASS3=001"]), set(&[])]);
}

/// All categories that a dictionary has for a word (001, F3.2).
#[test]
fn words_in_several_classes_keep_all_of_them() {
    let resources = lists(&[("pos", "patient\tNN\tJJ\nis\tbe+VBZ+aux\n")]);
    let features = "features = [{ kind = 'class', file = 'pos', name = 'SYN' }]";
    let rows = describe_all(features, 1, "Patient is", &[], &resources);
    assert_eq!(rows[0], set(&["SYN=NN", "SYN=JJ", "SYN=be+VBZ+aux@1"]));
}

/// A UMLS concept, or the stem of a word without one (001, F3.3).
#[test]
fn bags_of_concepts() {
    let resources = lists(&[("umls", "diabetes mellitus\tC0011849\n")]);
    let features = "features = [{ kind = 'bag', window = 10, of = 'stem', concepts = 'umls' }]";
    let rows = describe_all(features, 0, "Diabetes mellitus caused thirsts", &[], &resources);
    assert_eq!(rows[0], set(&["BAG=C0011849", "BAG=caus", "BAG=thirst"]));
    let features = "features = [{ kind = 'bag', window = 1, of = 'stem', language = 'italian' }]";
    let rows = describe_all(features, 0, "Noduli nodulo", &[], &resources);
    assert_eq!(rows[0], set(&["BAG=nodul × 2"]));
}

/// Semantic types in a window, all of an ambiguous name, and nothing else (001, F3.4).
#[test]
fn bags_of_concepts_alone() {
    let resources = lists(&[("types", "cold\tA1.4\tB2.2\nfever\tB2.2\n")]);
    let features =
        "features = [{ kind = 'bag', window = 10, of = 'concept', concepts = 'types', name = 'TYPE' }]";
    let rows = describe_all(features, 0, "A cold with fever", &[], &resources);
    assert_eq!(rows[0], set(&["TYPE=A1.4", "TYPE=B2.2 × 2"]));
}

#[test]
fn files_are_read_once_and_missing_ones_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("genes.txt"), "IL-2\n").unwrap();
    let list = |file: &str| {
        FeatureConfig::Dictionary(Dictionary {
            file: Some(file.into()),
            ..Dictionary::default()
        })
    };
    let read = Resources::read(&[list("genes.txt"), list("genes.txt")], folder.path()).unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), [("genes.txt", &b"IL-2\n"[..])]);
    let error = Resources::read(&[list("genes.txt"), list("none.txt")], folder.path())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("features[1]: cannot read ") && error.contains("none.txt"),
        "{error}"
    );
}

/// Every kind sees the normal form of a token, and lists are compared in theirs.
#[test]
fn normal_forms_are_seen_by_all_kinds() {
    let resources = lists(&[
        ("genes", "TGF-&beta;\n"),
        ("swn", "color\t1\n"),
        ("tree", "root\ntumour\troot\n"),
        ("umls", "colour blindness\tC1\n"),
    ]);
    let features = "
        features = [
            { kind = 'word' }, { kind = 'dictionary', file = 'genes' }, { kind = 'polarity', file = 'swn' },
            { kind = 'ancestors', file = 'tree', depths = [2] }, { kind = 'bag', window = 0, concepts = 'umls' },
            { kind = 'regex', name = 'BETA', on = 'text', pattern = 'TGF-beta' },
        ]
    ";
    #[derive(serde::Deserialize)]
    struct List {
        features: Vec<FeatureConfig>,
    }
    let list: List = toml::from_str(features).unwrap();
    let preprocessor = Preprocessor {
        tokenizer: Tokenizer::new(TokenizerProfile::Dash),
        normalizer: Normalizer::new(vec![
            Step::Entities,
            Step::Greek(GreekForm::Name),
            Step::Spelling(Spelling::American),
        ]),
    };
    let text = "TGF-\u{3b2} Colour Tumour color blindness";
    let tokens = preprocessor.tokens(text);
    let rows = names_of(
        &list.features,
        0,
        &Sequence::new(text, &tokens),
        preprocessor,
        &resources,
    );
    let expected: [&[&str]; 7] = [
        &["W=TGF", "LIST:genes", "BETA", "BAG=tgf"],
        &["W=-", "LIST:genes", "BETA", "BAG=-"],
        &["W=beta", "LIST:genes", "BETA", "BAG=beta"],
        &["W=Color", "POLARITY=positive", "BAG=color"],
        &["W=Tumor", "ABOVE2=tumour", "BAG=tumor"],
        &["W=color", "POLARITY=positive", "BAG=C1"],
        &["W=blindness"],
    ];
    assert_eq!(rows, expected.map(set));
}

/// Words of names are cut as texts are: `IL-2` is one word where it is one token.
#[test]
fn words_of_names_are_tokens() {
    let resources = lists(&[("genes", "IL-2 receptor\n")]);
    let features = "features = [{ kind = 'dictionary', file = 'genes', by = 'word' }]";
    let rows = describe_all(features, 0, "receptor IL-2 IL 2", &[], &resources);
    let found: Vec<bool> = rows.iter().map(|row| row.contains("LIST:genes")).collect();
    assert_eq!(found, [true, true, false, false]);
}

/// Tokens of a source may have white space in them, and what joins the parts of a name.
#[test]
fn tokens_with_white_space_keep_their_names() {
    let features = [
        FeatureConfig::Word(Word::default()),
        FeatureConfig::Conjunction(Conjunction {
            of: vec!["W".to_owned(), "W@1".to_owned()],
            ..Conjunction::default()
        }),
    ];
    let text = "R & D 10 000";
    let token = |start, end| crate::tokenize::Token {
        start,
        end,
        space_before: true,
        space_after: true,
    };
    let tokens = [token(0, 5), token(6, 12)];
    let rows = names_of(
        &features,
        0,
        &Sequence::new(text, &tokens),
        Preprocessor::default(),
        &Resources::default(),
    );
    assert_eq!(rows[0], set(&["W=R_&_D", "& W=R_&_D & W=10_000@1"]));
}
