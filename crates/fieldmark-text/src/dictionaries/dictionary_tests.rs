use super::*;
use crate::dictionaries::Fold;
use proptest::prelude::*;

fn dictionary(options: DictionaryOptions, names: &[&str]) -> Dictionary {
    Dictionary::new(options, names.iter().map(|&name| (name, []))).unwrap()
}

fn loose() -> DictionaryOptions {
    DictionaryOptions {
        ignore_case: true,
        dashes: Fold::Ignore,
        spaces: Fold::Ignore,
    }
}

fn found<'a>(dictionary: &Dictionary, profile: TokenizerProfile, text: &'a str) -> Vec<&'a str> {
    let tokens = Tokenizer::new(profile).tokenize(text);
    let mut found = Vec::new();
    dictionary.for_each_match(text, &tokens, |range, _| {
        found.push(&text[tokens[range.start].start..tokens[range.end - 1].end]);
    });
    found
}

#[test]
fn the_longest_name_from_the_left() {
    let names = dictionary(
        DictionaryOptions::default(),
        &["factor", "factor IX", "IX gene product", "gene"],
    );
    let text = "factor IX gene product, factor X, cofactor, genes";
    assert_eq!(
        found(&names, TokenizerProfile::Dash, text),
        ["factor IX", "gene", "factor"]
    );
}

#[test]
fn a_name_ends_where_a_token_ends() {
    let names = dictionary(DictionaryOptions::default(), &["IL-2", "IL"]);
    assert_eq!(
        found(&names, TokenizerProfile::Dash, "IL-2 IL-21 IL-2-like"),
        ["IL-2", "IL", "IL-2"]
    );
    assert_eq!(
        found(&names, TokenizerProfile::Whitespace, "IL-2 IL-21 IL-2-like"),
        ["IL-2"]
    );
}

#[test]
fn spellings_by_the_options() {
    let text = "IL-2 il–2 IL 2 IL2 Il - 2 IL-  2";
    let strict = DictionaryOptions {
        dashes: Fold::Exact,
        spaces: Fold::Exact,
        ..DictionaryOptions::default()
    };
    let fine = TokenizerProfile::Fine;
    assert_eq!(
        found(&dictionary(strict, &["IL-2"]), fine.clone(), text),
        ["IL-2"]
    );
    let alike = DictionaryOptions {
        ignore_case: true,
        ..DictionaryOptions::default()
    };
    assert_eq!(
        found(&dictionary(alike, &["IL-2"]), fine.clone(), text),
        ["IL-2", "il–2"]
    );
    assert_eq!(
        found(&dictionary(loose(), &["IL-2"]), fine, text),
        ["IL-2", "il–2", "IL 2", "IL2", "Il - 2", "IL-  2"]
    );
}

#[test]
fn an_ignored_dash_is_at_no_edge() {
    let names = dictionary(loose(), &["IL"]);
    assert_eq!(found(&names, TokenizerProfile::Fine, "- IL - - IL"), ["IL", "IL"]);
}

#[test]
fn tokens_of_a_source_have_blanks_of_their_own() {
    let names = dictionary(loose(), &["Alzheimer's disease"]);
    let text = "Alzheimer 's disease";
    assert_eq!(found(&names, TokenizerProfile::Whitespace, text), [text]);
}

#[test]
fn names_that_fold_alike_share_their_identifiers() {
    let entries = [("IL-2", vec!["a", "b"]), ("TNF", vec![]), ("il 2", vec!["c"])];
    let names = Dictionary::new(loose(), entries).unwrap();
    let name = names.get(" IL2").unwrap();
    assert!(names.names(name).eq(["IL-2", "il 2"]));
    assert!(names.identifiers(name).eq(["a", "b", "c"]));
    assert_eq!(names.identifiers(names.get("tnf").unwrap()).count(), 0);
    assert_eq!(names.get("IL"), None);
    assert_eq!(names.get(""), None);
    assert_eq!(names.len(), 3);
}

#[test]
fn a_file_with_comments() {
    let source = Source::text(
        "genes.txt",
        "# genes\n\nIL-2\tP60568\tHGNC:6001\n  TNF \t\n\\#4\n",
    );
    let names = Dictionary::read(&source, DictionaryOptions::default()).unwrap();
    let entries: Vec<(&str, Vec<&str>)> = names
        .entries()
        .map(|(name, identifiers)| (name, identifiers.collect()))
        .collect();
    assert_eq!(
        entries,
        [
            ("IL-2", vec!["P60568", "HGNC:6001"]),
            ("TNF", vec![]),
            ("#4", vec![])
        ]
    );
}

#[test]
fn names_of_nothing_are_refused_with_their_place() {
    for (text, options, expected) in [
        ("a\n\tP1\n", loose(), "names.txt:2:1: the name `` is empty"),
        ("a\n - \n", loose(), "names.txt:2:1: the name ` - ` is empty"),
    ] {
        let error = Dictionary::read(&Source::text("names.txt", text), options).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let error = Dictionary::new(loose(), [("a\nb", [])]).unwrap_err();
    assert_eq!(error, DictionaryError::Break("a\nb".to_owned()));
    let error = Dictionary::new(loose(), [("a", ["x\ty"])]).unwrap_err();
    assert_eq!(error, DictionaryError::Break("x\ty".to_owned()));
}

#[test]
fn a_refused_entry_leaves_nothing_behind() {
    let mut builder = DictionaryBuilder::new(loose());
    assert!(builder.add("a", ["b", "c\nd"]).is_err());
    builder.add("e", []).unwrap();
    let names = builder.build();
    assert_eq!(names.entries().map(|(name, _)| name).collect::<Vec<_>>(), ["e"]);
}

#[test]
fn lives_in_a_file() {
    let names = Dictionary::new(loose(), [("IL-2", vec!["a"]), ("#4", vec![])]).unwrap();
    let json = serde_json::to_string(&names).unwrap();
    assert_eq!(
        json,
        r##"{"options":{"ignore_case":true,"dashes":"ignore","spaces":"ignore"},"lines":"IL-2\ta\n#4\n"}"##
    );
    let again: Dictionary = serde_json::from_str(&json).unwrap();
    assert_eq!(again, names);
    assert_eq!(again.get("il2"), names.get("il2"));
    assert!(serde_json::from_str::<Dictionary>(r#"{"options":{},"lines":"a\n\n"}"#).is_err());
}

#[test]
fn tokens_that_are_not_of_the_text_match_nothing() {
    let names = dictionary(DictionaryOptions::default(), &["a", "a b", "b"]);
    let token = |start, end| Token {
        start,
        end,
        space_before: true,
        space_after: true,
    };
    let mut found = Vec::new();
    let tokens = [token(2, 3), token(0, 1), token(9, 12), token(2, 1)];
    names.for_each_match("a b", &tokens, |range, _| found.push(range));
    assert_eq!(found, [0..1, 1..2]);
}

/// Every name against every stretch of tokens.
fn slowly(names: &[String], options: DictionaryOptions, text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let fold = |part: &str| {
        let mut folded = Vec::new();
        options.fold_into(part, &mut folded);
        folded
    };
    let keys: Vec<Vec<u8>> = names.iter().map(|name| fold(name)).collect();
    let has_part = |token: &Token| !fold(token.text(text)).is_empty();
    let (mut found, mut first) = (Vec::new(), 0);
    while first < tokens.len() {
        let matches = |last: &usize| {
            let stretch = &text[tokens[first].start..tokens[*last].end];
            has_part(&tokens[first]) && has_part(&tokens[*last]) && keys.contains(&fold(stretch))
        };
        match (first..tokens.len()).rev().find(matches) {
            Some(last) => {
                found.push(first..last + 1);
                first = last + 1;
            }
            None => first += 1,
        }
    }
    found
}

proptest! {
    #[test]
    fn as_by_comparing_everything(
        names in prop::collection::vec("[abAß][abA ß–-]{0,4}", 0..8),
        text in "[abAß \u{A0}–-]{0,20}",
        profile in 0..9_usize,
        folds in (any::<bool>(), 0..3_usize, 0..3_usize),
    ) {
        let fold = |at: usize| [Fold::Exact, Fold::Alike, Fold::Ignore][at];
        let options = DictionaryOptions { ignore_case: folds.0, dashes: fold(folds.1), spaces: fold(folds.2) };
        let dictionary = Dictionary::new(options, names.iter().map(|name| (name.as_str(), []))).unwrap();
        let tokens = Tokenizer::new(TokenizerProfile::NAMED[profile].clone()).tokenize(&text);
        let mut found = Vec::new();
        dictionary.for_each_match(&text, &tokens, |range, name| {
            found.push(range.clone());
            let stretch = &text[tokens[range.start].start..tokens[range.end - 1].end];
            assert_eq!(dictionary.get(stretch), Some(name));
        });
        prop_assert_eq!(found, slowly(&names, options, &text, &tokens));
        for name in &names {
            let found = dictionary.get(name).unwrap();
            prop_assert!(dictionary.names(found).any(|other| other == name.trim()));
        }
    }
}
