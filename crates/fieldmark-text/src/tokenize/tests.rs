use super::*;
use TokenizerProfile as Profile;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

fn words(profile: Profile, text: &str) -> Vec<&str> {
    let tokens = Tokenizer::new(profile).tokenize(text);
    tokens.iter().map(|token| token.text(text)).collect()
}

/// The sentence of Table 2.1 in Klinger (2011), after Fredj et al. (2007).
const ALLELES: &str = "Allele frequencies of DPYD*5 (A1627G) and DPYD*6 are 12.7% and 7.1% respectively.";

/// Compares with tokens that are written with white space between them.
fn check(profile: Profile, text: &str, expected: &str) {
    let expected: Vec<&str> = expected.split(' ').collect();
    assert_eq!(words(profile, text), expected);
}

#[test]
fn white_space_only() {
    check(Profile::Whitespace, ALLELES, ALLELES);
    assert_eq!(
        words(Profile::Whitespace, "a\u{A0}b\u{3000}c\r\n\td"),
        ["a", "b", "c", "d"]
    );
}

#[test]
fn all_punctuation() {
    check(
        Profile::Punctuation,
        ALLELES,
        "Allele frequencies of DPYD*5 ( A1627G ) and DPYD*6 are 12 . 7 % and 7 . 1 % respectively .",
    );
    check(Profile::Punctuation, "IL-2/IL–4 «a+b»", "IL - 2 / IL – 4 « a+b »");
    check(Profile::Punctuation, "基因，蛋白。", "基因 ， 蛋白 。");
}

#[test]
fn all_that_is_no_letter() {
    check(
        Profile::NonAlphabetic,
        ALLELES,
        "Allele frequencies of DPYD * 5 ( A 1 6 2 7 G ) and DPYD * 6 are 1 2 . 7 % and 7 . 1 % respectively .",
    );
    check(Profile::NonAlphabetic, "基因22", "基因 2 2");
}

#[test]
fn punctuation_before_white_space_and_all_brackets() {
    check(
        Profile::PunctuationBeforeSpace,
        ALLELES,
        "Allele frequencies of DPYD*5 ( A1627G ) and DPYD*6 are 12.7% and 7.1% respectively .",
    );
    check(
        Profile::PunctuationBeforeSpace,
        "(yes.) He said \"no.\"",
        "( yes . ) He said \"no . \"",
    );
    check(
        Profile::PunctuationBeforeSpace,
        "... .5 a... web- 5'-end",
        ". . . .5 a . . . web- 5'-end",
    );
    check(Profile::PunctuationBeforeSpace, "基因，蛋白。", "基因，蛋白 。");
}

#[test]
fn fine_for_variations_and_chemical_names() {
    check(Profile::Fine, "214C->T", "214 C - > T");
    check(
        Profile::Fine,
        "or A55V) single-nucleotide polymorphism in exon 4",
        "or A 55 V ) single - nucleotide polymorphism in exon 4",
    );
    check(
        Profile::Fine,
        "1-hexoxy-4-methyl-hexane 17beta-",
        "1 - hexoxy - 4 - methyl - hexane 17 beta -",
    );
    check(Profile::Fine, "−1131T>C CO₂", "− 1131 T > C CO ₂");
    check(Profile::Fine, "基因22。", "基因 22 。");
}

#[test]
fn abner_leaves_a_dash_with_what_follows() {
    check(Profile::Abner, "5-nucleotidase", "5 -nucleotidase");
    check(Profile::Abner, "IL-2R (a--b) – c-", "IL -2 R ( a - -b ) – c -");
}

#[test]
fn dash_keeps_numbers_in_words() {
    check(Profile::Dash, "5-nucleotidase Htr1b", "5 - nucleotidase Htr1b");
    check(Profile::Dash, "p53/NF-κB1.", "p53 / NF - κB1 .");
    check(Profile::Dash, "基因22。", "基因22 。");
}

#[test]
fn locants_keep_number_sequences() {
    check(
        Profile::Locants,
        "5.6 6H 1,3-dimethyl 2,4.",
        "5.6 6H 1,3 - dimethyl 2,4 .",
    );
    check(Profile::Locants, "a,3 3,a b2,4c", "a , 3 3 , a b2,4c");
}

#[test]
fn clinical_numbers_end_before_letters_but_words_keep_their_digits() {
    check(
        Profile::Clinical,
        "40mg 2.5 mg 20,000 IU",
        "40 mg 2.5 mg 20,000 IU",
    );
    check(Profile::Clinical, "HbA1c B12 q6h", "HbA1c B12 q6h");
    check(Profile::Clinical, "pH 7., 5", "pH 7 . , 5");
    check(Profile::Clinical, "5µg", "5 µg");
}

#[test]
fn clinical_punctuation_stands_alone() {
    check(
        Profile::Clinical,
        "co-amoxiclav 30/500 (x2)",
        "co - amoxiclav 30 / 500 ( x2 )",
    );
    check(
        Profile::Clinical,
        "Crohn's 'quoted' Crohn’s",
        "Crohn's ' quoted ' Crohn’s",
    );
    check(Profile::Clinical, "b.i.d. p.o., end.", "b.i.d. p.o. , end .");
    check(Profile::Clinical, "...", ". . .");
}

#[test]
fn no_profile_cuts_a_cluster() {
    for profile in Profile::NAMED {
        assert_eq!(
            words(profile.clone(), "cafe\u{301} noir"),
            ["cafe\u{301}", "noir"]
        );
        assert_eq!(
            words(profile.clone(), "❤\u{FE0F} 👩‍👩‍👧 🇩🇪"),
            ["❤\u{FE0F}", "👩‍👩‍👧", "🇩🇪"]
        );
        assert_eq!(words(profile, "  \n"), [""; 0]);
    }
    check(Profile::Fine, "5\u{308}a ❤\u{FE0F}!", "5\u{308} a ❤\u{FE0F} !");
}

#[test]
fn flags_tell_what_was_written_together() {
    let flags = |text: &str| -> Vec<(bool, bool)> {
        let tokens = Tokenizer::new(Profile::Fine).tokenize(text);
        tokens
            .iter()
            .map(|token| (token.space_before, token.space_after))
            .collect()
    };
    assert_eq!(flags("2-methyl"), [(true, false), (false, false), (false, true)]);
    assert_eq!(flags(" 2 -\nmethyl "), [(true, true); 3]);
}

#[test]
fn a_part_has_offsets_and_flags_of_the_whole() {
    let text = "x. 2-a.b";
    let mut tokens = Vec::new();
    let tokenizer = Tokenizer::new(Profile::Fine);
    tokenizer.tokenize_into(text, 3..6, &mut tokens);
    assert_eq!(
        tokens.iter().map(|token| token.range()).collect::<Vec<_>>(),
        [3..4, 4..5, 5..6]
    );
    assert!(tokens[0].space_before && !tokens[2].space_after);
    tokenizer.tokenize_into(text, 7..8, &mut tokens);
    assert!(!tokens[2].space_after && !tokens[3].space_before && tokens[3].space_after);
}

#[test]
fn long_runs_take_linear_time() {
    for unit in [".", "a.", "1,", "-", "a\u{301}", "\u{301}", "(", "' "] {
        let text = unit.repeat(200_000);
        for profile in Profile::NAMED {
            Tokenizer::new(profile).tokenize(&text);
        }
    }
}

#[test]
fn threads_can_share_it() {
    fn is_sync<T: Send + Sync>() {}
    is_sync::<Tokenizer>();
}

fn custom() -> Profile {
    Profile::Custom(Expressions::new([r"\d+", "\u{301}x?", r"[a-c ]+", "👩", r"\S-\S"]).unwrap())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-dA-D0-9.,;'’\"() \n\t\u{A0}\u{301}µ❤é%*/–-]{0,60}",
        "[a-c 👩\u{200D}👧🇩🇪\u{301}\u{600}\u{FE0F}基因。각\r\n]{0,30}",
        ".{0,40}",
    ]
}

proptest! {
    #[test]
    fn tokens_cover_all_but_white_space_in_whole_clusters(text in text()) {
        for profile in Profile::NAMED.into_iter().chain([custom()]) {
            let tokens = Tokenizer::new(profile).tokenize(&text);
            let mut at = 0;
            let mut spaced = true;
            for token in &tokens {
                prop_assert!(token.start < token.end);
                prop_assert!(text[at..token.start].chars().all(char::is_whitespace));
                prop_assert!(!token.text(&text).contains(char::is_whitespace));
                prop_assert_eq!(token.space_before, spaced || at < token.start);
                let rest = &text[token.end..];
                prop_assert_eq!(token.space_after, rest.is_empty() || rest.starts_with(char::is_whitespace));
                (at, spaced) = (token.end, token.space_after);
            }
            prop_assert!(text[at..].chars().all(char::is_whitespace));
            // Between white space, every border of tokens is one of clusters.
            let mut borders = Vec::new();
            for word in text.split(char::is_whitespace) {
                let start = word.as_ptr().addr() - text.as_ptr().addr();
                borders.extend(word.grapheme_indices(true).map(|(index, _)| start + index));
            }
            for token in &tokens {
                prop_assert!(borders.binary_search(&token.start).is_ok());
            }
        }
    }

    #[test]
    fn a_part_has_the_tokens_that_it_has_alone(left in text(), part in text(), right in text()) {
        for profile in Profile::NAMED.into_iter().chain([custom()]) {
            let tokenizer = Tokenizer::new(profile);
            let text = format!("{left}{part}{right}");
            let mut tokens = Vec::new();
            tokenizer.tokenize_into(&text, left.len()..left.len() + part.len(), &mut tokens);
            let alone: Vec<_> = tokenizer.tokenize(&part).iter().map(|token| token.text(&part)).map(str::to_owned).collect();
            prop_assert_eq!(tokens.iter().map(|token| token.text(&text).to_owned()).collect::<Vec<_>>(), alone);
        }
    }
}
