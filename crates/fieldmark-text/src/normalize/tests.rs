use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn normalized(steps: &[Step], text: &str) -> String {
    Normalizer::new(steps.to_vec()).normalize(text).into_text()
}

/// Cases are pairs of a text and what a step makes of it.
fn check(step: Step, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(normalized(std::slice::from_ref(&step), text), *expected, "{text}");
    }
}

pub(super) fn replacements(pairs: &[(&str, &str)], words: bool, ignore_case: bool) -> Step {
    let pairs = pairs
        .iter()
        .map(|&(from, to)| (from.to_owned(), to.to_owned()))
        .collect::<BTreeMap<_, _>>();
    let options = ReplacementOptions {
        pairs,
        words,
        ignore_case,
    };
    Step::Replace(Replacements::new(options).unwrap())
}

#[test]
fn entities() {
    check(
        Step::Entities,
        &[
            ("&beta;-catenin &#946; &#x3B2; &#X3b2;", "β-catenin β β β"),
            ("a &lt; b &amp; c &gt; d", "a < b & c > d"),
            ("&amp;alpha;", "&alpha;"),
            ("p&lt0.05, &#945 and &eacute", "p&lt0.05, α and é"),
            (
                "R&D AT&T & &; &#; &#x; &nonsense; &",
                "R&D AT&T & &; &#; &#x; &nonsense; &",
            ),
            ("?a=1&copy=2&copy;", "?a=1&copy=2©"),
            (
                "&#150; &#0; &#xD800; &#99999999999999999999999999999999999;",
                "– \u{FFFD} \u{FFFD} \u{FFFD}999;",
            ),
            ("&NotEqualTilde; &CounterClockwiseContourIntegral;", "≂̸ ∳"),
            ("&&amp;&amp", "&&&"),
        ],
    );
    assert_eq!(normalized(&[Step::Entities, Step::Entities], "&amp;alpha;"), "α");
}

#[test]
fn dashes_and_quotes() {
    check(
        Step::Dashes,
        &[
            ("a‐b‑c–d—e−f⁃g－h", "a-b-c-d-e-f-g-h"),
            ("so\u{AD}ft", "so\u{AD}ft"),
        ],
    );
    check(
        Step::Quotes,
        &[("“a” „b‟ «c» ‘d’ 5′ 3″ `e´", "\"a\" \"b\" \"c\" 'd' 5' 3\" 'e'")],
    );
}

#[test]
fn greek_letters_from_all_spellings() {
    check(
        Step::Greek(GreekForm::Letter),
        &[
            ("β ϐ beta BETA &beta; &beta \\beta {beta} 𝛽", "β β β Β β β β β β"),
            (
                "Beta &Beta; TGF-beta1 17beta-estradiol",
                "Β Β TGF-β1 17β-estradiol",
            ),
            (
                "TNFalpha IFNgamma NFkappaB DeltaF508 Gbeta",
                "TNFα IFNγ NFκB ΔF508 Gβ",
            ),
            ("ß-catenin TGF-ß1 IL-1ß", "β-catenin TGF-β1 IL-1β"),
            ("Straße Maß groß", "Straße Maß groß"),
            (
                "alphabet betaine Meta Biota deltas upsilons",
                "alphabet betaine Meta Biota deltas upsilons",
            ),
            ("mu-opioid, pi-bond, chi-square", "μ-opioid, π-bond, χ-square"),
            (
                "30 psi, PI3K, XI, nu, Pi, mu, ETA-1",
                "30 psi, PI3K, XI, nu, Pi, mu, ETA-1",
            ),
            ("5 µg ∆G Ω", "5 μg ΔG Ω"),
            ("aLPHA ALpha &alphabet", "aLPHA ALpha &alphabet"),
        ],
    );
}

#[test]
fn greek_letters_to_names() {
    check(
        Step::Greek(GreekForm::Name),
        &[
            (
                "β ϐ &beta; \\beta {beta} Δ BETA",
                "beta beta beta beta beta Delta BETA",
            ),
            (
                "TNFα NF-κB αβ Gαβγ",
                "TNFalpha NF-kappaB alphabeta Galphabetagamma",
            ),
            ("5 µg, 3 μm, 10µmol µ-opioid", "5 µg, 3 μm, 10µmol mu-opioid"),
            ("καὶ λόγος αβγδ", "καὶ λόγος αβγδ"),
            ("ß-catenin", "beta-catenin"),
        ],
    );
}

#[test]
fn unicode_forms() {
    check(
        Step::Unicode(UnicodeForm::Nfc),
        &[("e\u{301}a\u{323}\u{302} ﬁ \u{212B}", "éậ ﬁ Å")],
    );
    check(
        Step::Unicode(UnicodeForm::Nfkc),
        &[("ofﬁce x² Ａ１ \u{1112}\u{1161}\u{11AB}", "office x2 A1 한")],
    );
    let aligned = Normalizer::new(vec![Step::Unicode(UnicodeForm::Nfkc)]).normalize("ａｂ");
    assert_eq!((aligned.to_source(0..1), aligned.to_source(1..2)), (0..3, 3..6));
}

#[test]
fn case_folding() {
    check(
        Step::Case,
        &[(
            "DNA Straße ΣΊΣΥΦΟΣ ẞ ﬁ İ ı",
            "dna strasse σίσυφοσ ss fi i\u{307} ı",
        )],
    );
}

#[test]
fn british_and_american() {
    let british = "The Tumour centres ANALYSED haemoglobin, anaemia, oesophageal and colourful fibres; organisms organise.";
    let american =
        "The Tumor centers ANALYZED hemoglobin, anemia, esophageal and colorful fibers; organisms organize.";
    check(
        Step::Spelling(Spelling::American),
        &[
            (british, american),
            ("centrex metabolism analyses", "centrex metabolism analyses"),
        ],
    );
    check(
        Step::Spelling(Spelling::British),
        &[
            (american, british),
            (
                "hemisphere size laboratory Colorado program",
                "hemisphere size laboratory Colorado program",
            ),
        ],
    );
}

#[test]
fn tables() {
    check(
        replacements(&[("feasable", "feasible")], true, true),
        &[("Feasable feasables", "feasible feasables")],
    );
    check(
        replacements(&[("ab cd", "x"), ("ab", "y")], true, false),
        &[("ab cd|ab cde|abc", "x|y cde|abc")],
    );
    check(
        replacements(&[("aa", "b"), ("a", "c")], false, false),
        &[("aaaaaxa", "bbcxc")],
    );
    check(
        replacements(&[("\u{AD}", "")], false, false),
        &[("so\u{AD}ft", "soft")],
    );
    let nothing = ReplacementOptions {
        pairs: BTreeMap::from([(String::new(), "x".to_owned())]),
        words: true,
        ignore_case: false,
    };
    assert!(Replacements::new(nothing).is_err());
}

#[test]
fn ranges_go_both_ways() {
    let aligned = Normalizer::new(vec![Step::Entities, Step::Greek(GreekForm::Name)]).normalize("x&beta;y");
    assert_eq!(aligned.text(), "xbetay");
    assert_eq!(aligned.to_source(0..1), 0..1);
    assert_eq!(aligned.to_source(1..5), 1..7);
    assert_eq!(aligned.to_source(2..3), 1..7);
    assert_eq!(aligned.to_source(5..6), 7..8);
    assert_eq!(aligned.to_text(3..4), 1..5);
    assert_eq!(aligned.to_text(7..8), 5..6);
    assert_eq!(aligned.to_source(0..99), 0..8);
}

#[test]
fn deleted_text_belongs_to_no_neighbour() {
    let aligned = Normalizer::new(vec![replacements(&[("-", "")], false, false)]).normalize("-a-b-");
    assert_eq!(aligned.text(), "ab");
    assert_eq!(aligned.to_source(0..1), 0..2);
    assert_eq!(aligned.to_source(1..2), 3..5);
    assert_eq!(aligned.to_source(1..1), 2..3);
    assert_eq!(aligned.to_text(2..3), 1..1);
    assert_eq!(aligned.to_source(0..2), 0..5);
}

#[test]
fn lives_in_a_config() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Config {
        normalize: Normalizer,
    }
    let text = r#"normalize = ["entities", "dashes", { greek = "letter" }, { unicode = "nfc" },
        { spelling = "american" }, { replace = { pairs = { a = "b" }, ignore-case = true } }, "case"]"#;
    let config: Config = toml::from_str(text).unwrap();
    assert_eq!(config.normalize.steps().len(), 7);
    let again: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    assert!(toml::from_str::<Config>(r#"normalize = [{ replace = { pairs = { "" = "b" } } }]"#).is_err());
}

#[test]
fn stems() {
    let stem = |language, word| Stemmer::new(language).stem(word).into_owned();
    assert_eq!(
        stem(StemLanguage::English, "Polymorphisms"),
        stem(StemLanguage::English, "polymorphism")
    );
    assert_eq!(
        stem(StemLanguage::German, "Häuser"),
        stem(StemLanguage::German, "häuser")
    );
    assert_eq!(
        stem(StemLanguage::Italian, "noduli"),
        stem(StemLanguage::Italian, "nodulo")
    );
    assert_eq!(stem(StemLanguage::English, "12.5"), "12.5");
}

#[test]
fn long_runs_take_linear_time() {
    let all = Normalizer::new(steps());
    for unit in [
        "&", "&#", "&#1", "&alpha", "alpha", "α", "\u{301}", "e\u{301}", "aa", "ab ", "–", "A", "ß",
    ] {
        all.normalize(&unit.repeat(100_000));
    }
}

pub(super) fn steps() -> Vec<Step> {
    vec![
        Step::Entities,
        Step::Dashes,
        Step::Quotes,
        Step::Greek(GreekForm::Letter),
        Step::Greek(GreekForm::Name),
        Step::Unicode(UnicodeForm::Nfc),
        Step::Unicode(UnicodeForm::Nfkc),
        Step::Spelling(Spelling::American),
        Step::Spelling(Spelling::British),
        replacements(
            &[("a", ""), ("aa", "β"), ("beta", "be ta"), ("-", ""), ("é", "ee")],
            false,
            false,
        ),
        Step::Case,
    ]
}

pub(super) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-cA-C&;#x1 \u{301}–-]{0,4}",
        Just("&beta;".to_owned()),
        Just("&#946;".to_owned()),
        Just("αβ".to_owned()),
        Just("TNFalpha".to_owned()),
        Just("tumour".to_owned()),
        Just("ﬁ".to_owned()),
        Just("e\u{301}\u{323}".to_owned()),
        Just("İß–“".to_owned()),
        "\\PC{0,3}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn ranges_map_to_ranges(text in text(), order in prop::collection::vec(0..11_usize, 0..5)) {
        let all = steps();
        let chosen: Vec<Step> = order.iter().map(|&step| all[step].clone()).collect();
        let aligned = Normalizer::new(chosen).normalize(&text);
        let normal = aligned.text();
        prop_assert_eq!(aligned.to_source(0..normal.len()), 0..text.len());
        prop_assert_eq!(aligned.to_text(0..text.len()), 0..normal.len());
        if normal == text {
            for (at, c) in text.char_indices() {
                prop_assert!(aligned.to_source(at..at + c.len_utf8()).contains(&at));
            }
        }
        let borders = |text: &str| -> Vec<usize> { (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect() };
        let inner = borders(normal);
        for (index, &start) in inner.iter().enumerate() {
            for &end in &inner[index..] {
                let source = aligned.to_source(start..end);
                prop_assert!(source.start <= source.end && source.end <= text.len());
                prop_assert!(text.get(source.clone()).is_some());
                // There and back again is at least what it was.
                let back = aligned.to_text(source);
                if start < end {
                    prop_assert!(back.start <= start && end <= back.end, "{:?} {:?}", start..end, back);
                }
            }
        }
        let outer = borders(&text);
        for (index, &start) in outer.iter().enumerate() {
            for &end in &outer[index..] {
                prop_assert!(normal.get(aligned.to_text(start..end)).is_some());
            }
        }
    }

    #[test]
    fn steps_together_are_steps_one_after_another(text in text(), left in 0..11_usize, right in 0..11_usize) {
        let all = steps();
        let first = Normalizer::new(vec![all[left].clone()]).normalize(&text);
        let second = Normalizer::new(vec![all[right].clone()]).normalize(first.text());
        let both = Normalizer::new(vec![all[left].clone(), all[right].clone()]).normalize(&text);
        prop_assert_eq!(both.text(), second.text());
        prop_assert_eq!(&first.then(second.clone()).unwrap(), &both);
        for (at, c) in both.text().char_indices() {
            let direct = both.to_source(at..at + c.len_utf8());
            let stepwise = first.to_source(second.to_source(at..at + c.len_utf8()));
            prop_assert!(direct.start <= stepwise.start && stepwise.end <= direct.end);
        }
    }

    #[test]
    fn unicode_forms_are_those_of_the_whole_text(text in "[a-e\u{300}-\u{345}\u{1100}\u{1161}\u{11A8}가ﬁ²Å\u{212B}\u{958}\u{93C}]{0,12}|\\PC{0,12}") {
        use unicode_normalization::UnicodeNormalization;
        let nfc = normalized(&[Step::Unicode(UnicodeForm::Nfc)], &text);
        prop_assert_eq!(nfc, text.nfc().collect::<String>());
        let nfkc = normalized(&[Step::Unicode(UnicodeForm::Nfkc)], &text);
        prop_assert_eq!(nfkc, text.nfkc().collect::<String>());
    }

    #[test]
    fn every_token_has_a_stem(token in "[a-zA-Zäöüßéèñçşığàìα-ω']{1,12}|\\PC{1,8}") {
        for language in StemLanguage::ALL {
            Stemmer::new(language).stem(&token);
        }
    }
}
