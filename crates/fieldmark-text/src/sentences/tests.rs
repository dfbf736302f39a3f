use super::*;
use proptest::prelude::*;

fn splitter(languages: &[SentenceLanguage], more: &[&str]) -> SentenceSplitter {
    SentenceSplitter::new(SentenceOptions {
        languages: languages.to_vec(),
        abbreviations: more.iter().map(|&word| word.to_owned()).collect(),
        ..SentenceOptions::default()
    })
}

fn split(text: &str) -> Vec<&str> {
    SentenceSplitter::default()
        .split(text)
        .into_iter()
        .map(|range| &text[range])
        .collect()
}

/// Splits sentences that are written with `|` between them.
fn check_with(splitter: &SentenceSplitter, marked: &str) {
    let expected: Vec<&str> = marked.split('|').map(str::trim).collect();
    let text = marked.replace('|', " ");
    let found: Vec<&str> = splitter
        .split(&text)
        .into_iter()
        .map(|range| &text[range])
        .collect();
    assert_eq!(found, expected);
}

fn check(marked: &str) {
    check_with(&SentenceSplitter::default(), marked);
}

#[test]
fn headings_in_capitals_are_no_part_of_the_line_before() {
    let long = "The patient is a 54 year old man with worsening shortness of breath since last week";
    for marked in [
        format!("{long}\n|HISTORY OF PRESENT ILLNESS:\n|The patient was well."),
        format!("{long}\n|HPI:\n|The patient was well."),
        format!("{long} and found no acute disease\n|PLAN\n|Follow up in two weeks."),
        // Names in capitals are part of the sentence.
        format!("{long} and infection by\nHIVAB\n|Nothing else."),
        format!("{long} and high levels of serum\nTNFRSF1A\nwere found."),
        format!("{long} and high levels of serum\nTNFRSF1A."),
        format!("{long} and high levels of serum\nTNFRSF1A"),
    ] {
        check(&marked);
    }
}

#[test]
fn points_that_end_nothing() {
    for whole in [
        "Seen by Dr. Hussain at noon.",
        "Dear Mr. Miller, thank you.",
        "Prof. J. K. Wu agreed.",
        "J. Wu agreed.",
        "This was shown by J. Wu in mice.",
        "We thank A. Smith and B. Jones for help.",
        "Start 2.5 mg today.",
        "Avoid NSAIDs, e.g. Nurofen.",
        "Avoid NSAIDs, e. g. Nurofen.",
        "One drug (i.e. Aspirin) helped.",
        "Give metoprolol 25 mg p.o. BID with food.",
        "Take 2 tabs. 3 times daily.",
        "Bed no. 5 is free.",
        "1. Aspirin",
        "2.1. Study design",
        "a. Aspirin",
        "iv. Aspirin",
        "Impression: 1. Normal lungs",
        "grew E. coli again",
        "Strains of E. coli, S. aureus and C. elegans were used.",
        "Bound by E. coli/pUC19 cells.",
        "As in Fig. 2 and Figs. S3 and 4.",
        "See Fig. A for details.",
        "See Eq. (4) and Ref. [12] there.",
        "Smith et al. (2005) saw it.",
        "Smith et al. [12] saw it.",
        "Wild type vs. TP53 mutants.",
        "The U.S. Army hospital.",
        "A Ph.D. student came.",
        "Samples of Bacillus sp. K12 grew.",
        "It weighs approx. 5 kg.",
        "Born on Jan. 5 at 3 p.m. in Rome.",
        "Is it?, he asked.",
        "“Really?” she said.",
        "The rate (ca. 3.4%) was low.",
        "Visit www.example.org or mail a.b@c.de now.",
        "Given i.v. at 5 mg.",
        "Acme Inc. , a company, pays.",
        "Levels of TNF-α. and IL-6",
        "Mice were given S. Typhimurium orally.",
        "Growth of S. Typhimurium and of S. Enteritidis was slow.",
        "Role of H. Pylori in Gastric Cancer",
        "It was printed in J. Biol. Chem. 270, 1234.",
        "We read J. Biol. Chem. (1995) twice.",
        "See Proc. Natl. Acad. Sci. USA 92, 11, or Proc. Natl. Acad. Sci. U.S.A. 93.",
        "As in Am. J. Physiol. 280:F1 and in EMBO J. 14, 123.",
        "Printed in J. Cell Biol. 120 and in J. Cell. Biochem. 5 again.",
        "From Biochem. Biophys. Res. Commun. 5 we know it.",
    ] {
        assert_eq!(split(whole), [whole]);
    }
}

#[test]
fn points_that_end_a_sentence() {
    check("Low in vitamin D.|She rests.");
    check("This is hepatitis B.|The virus spreads.");
    check("Hepatitis B.|The virus spreads.");
    check("Seen in panel A.|Cells were fixed.");
    check("Taken p.o.|She rests.");
    check("He lives in the U.S.|He works there.");
    check("Hb 98.|2 units given.");
    check("Well?|Yes!|(Home.)|OK");
    check("Said “no.”|Then left");
    check("Stop .|Go");
    check("She said no.|He left.");
    check("Given with water, etc.|Patients rested.");
    check("Smith et al.|The paper is old.");
    check("It went on ...|Then it ended.");
    check("It went on…|Then it ended.");
    check("We used 3.5 mM.|Cells died (Fig. 2).|Others lived.");
    check("He got 5 mg.|She got none.");
    check("It took 30 ms.|Then Ms. Wu came.");
    check("Seen in patients with vitamin C.|The others had none.");
    check("They lack factor S.|Patients bled.");
    check("They lack factor S.|Typhoid fever is rare.");
    check("It was hepatitis B.|Salmonella was absent.");
    check("It was printed in J. Biol. Chem.|The results are old.");
    check("It was sent to EMBO J.|Reviewers liked it.");
    check("This was shown by Smith.|J. Wu agreed.");
    check("He taught Biol.|Chemistry came later.");
}

#[test]
fn names_that_begin_sentences_in_small_letters() {
    check("It is induced.|p53 binds DNA.");
    check("It is induced.|mRNA was low.");
    check("It is induced.|c-Myc was low.");
    check("It is induced.|α-Synuclein was low.");
    check("It is activated by TNF-α.|IL-6 is not.");
    check("It is NF-κB.|β-Catenin is not.");
    assert_eq!(
        split("It is induced. however not"),
        ["It is induced. however not"]
    );
}

#[test]
fn citations_after_the_stop() {
    check("As was shown.[12]|Others disagree.");
    check("As was shown.[12,13–15]|Others disagree.");
    check("As was shown.¹²|Others disagree.");
    check("In this disease.12,13|Others disagree.");
    assert_eq!(split("Version v.12 Beta is out"), ["Version v.12 Beta is out"]);
}

#[test]
fn german() {
    let german = splitter(&[SentenceLanguage::German], &[]);
    for whole in [
        "Am 3. Mai wurde Hr. Dr. med. Meier operiert.",
        "Analgetika, z. B. Aspirin oder z.B. Ibuprofen.",
        "Das heißt, d. h. Abb. 2 und Tab. 3 fehlen.",
        "Die Patientin bzw. Mutter kam.",
        "Im 2. Quartal sank der Wert.",
    ] {
        check_with(&german, whole);
    }
    check_with(&german, "Es waren 3.|Die Werte sanken.");
    check_with(&german, "Er kam 2005.|Patienten gab es viele.");
    check_with(&german, "Aspirin usw.|Danach Ruhe.");
    check("Es waren 3.|Patienten kamen.");
}

#[test]
fn abbreviations_of_the_user() {
    check("Im Kontr.|Nichts.");
    check_with(&splitter(&[], &["KONTR."]), "Im Kontr. Nichts.");
    check_with(&splitter(&[], &["o. B."]), "Lunge o. B. Herz auch.");
    check_with(&splitter(&[], &[]), "Seen by Dr.|Wu.");
}

#[test]
fn lines_join_if_they_were_wrapped() {
    assert_eq!(split("A long\nline"), ["A long\nline"]);
    let wrapped = "The patient was given a dose of forty milligrams of\nFurosemide, and went home with his wife the same\nevening. Nothing else happened to him in that year.";
    assert_eq!(split(wrapped).len(), 2);
    assert_eq!(split("Departments of\nMedicine"), ["Departments of\nMedicine"]);
    assert_eq!(
        split("Drugs: Aspirin,\nIbuprofen"),
        ["Drugs: Aspirin,\nIbuprofen"]
    );
}

#[test]
fn lines_that_were_meant() {
    assert_eq!(split("Plan\n\nrest\r\n\r\nhome"), ["Plan", "rest", "home"]);
    assert_eq!(split("Drugs:\n- iron\n- zinc"), ["Drugs:", "- iron", "- zinc"]);
    assert_eq!(split("Plan:\n1. iron\n2. zinc"), ["Plan:", "1. iron", "2. zinc"]);
    assert_eq!(
        split("a) iron\n(b) zinc\n• tin"),
        ["a) iron", "(b) zinc", "• tin"]
    );
    assert_eq!(
        split("HISTORY OF ILLNESS\nSeen in May."),
        ["HISTORY OF ILLNESS", "Seen in May."]
    );
    assert_eq!(split("Allergies\nNone known"), ["Allergies", "None known"]);
    assert_eq!(split("Hb\t9.8\nNa\t140\nK\t4"), ["Hb\t9.8", "Na\t140", "K\t4"]);
    assert_eq!(split("| Hb | 9 |\n| na | 1 |"), ["| Hb | 9 |", "| na | 1 |"]);
    assert_eq!(split("page one\u{0C}page two"), ["page one", "page two"]);
    assert_eq!(split(" \n\n "), [""; 0]);
    let titled = "Effects of dietary iron on the weight of house mice\n\
        We gave iron to forty mice, and some of them liked it very much indeed, as\n\
        Figure 2 shows.";
    assert_eq!(split(titled).len(), 2);
}

#[test]
fn chinese_and_japanese_stops_need_no_space() {
    assert_eq!(
        split("基因突变。蛋白（很少。）好"),
        ["基因突变。", "蛋白（很少。）", "好"]
    );
    assert_eq!(
        split("はい！「いいえ。」ええ"),
        ["はい！", "「いいえ。」", "ええ"]
    );
}

#[test]
fn modes() {
    let text = " One. Two\n\nthree. Four \r\n";
    let split = |mode| {
        let options = SentenceOptions {
            mode,
            ..SentenceOptions::default()
        };
        let found = SentenceSplitter::new(options).split(text);
        found.into_iter().map(|range| &text[range]).collect::<Vec<_>>()
    };
    assert_eq!(split(SentenceMode::Rules), ["One.", "Two", "three.", "Four"]);
    assert_eq!(split(SentenceMode::Lines), ["One. Two", "three. Four"]);
    assert_eq!(split(SentenceMode::None), [text.trim()]);
}

#[test]
fn options_live_in_a_config() {
    let text = "mode = 'lines'\nlanguages = ['english', 'german']\nabbreviations = ['o. B.']";
    let options: SentenceOptions = toml::from_str(text).unwrap();
    assert_eq!(options.mode, SentenceMode::Lines);
    let again: SentenceOptions = toml::from_str(&toml::to_string(&options).unwrap()).unwrap();
    assert_eq!(again, options);
    assert_eq!(
        toml::from_str::<SentenceOptions>("").unwrap(),
        SentenceOptions::default()
    );
    assert!(toml::from_str::<SentenceOptions>("modus = 'none'").is_err());
}

#[test]
fn long_runs_take_linear_time() {
    for unit in [
        "a.", "A. ", "a.\n", "A\n", "(. ", "。", "[1,", "a\tb\n", ". ", "\n \n",
    ] {
        SentenceSplitter::default().split(&unit.repeat(200_000));
    }
}

proptest! {
    #[test]
    fn sentences_tile_the_text(
        text in "([A-Za-z]{1,3}|Dr|[0-9]|p\\.o)?([.!?) \n\t-]{1,3}[A-Za-z0-9]{0,3}){0,12}|[a-bA-B.。」\"\\[1 \n\u{301}👩\u{A0}]{0,30}|.{0,40}",
        mode in prop_oneof![Just(SentenceMode::Rules), Just(SentenceMode::Lines), Just(SentenceMode::None)],
    ) {
        let splitter = SentenceSplitter::new(SentenceOptions {
            mode,
            languages: vec![SentenceLanguage::English, SentenceLanguage::German],
            ..SentenceOptions::default()
        });
        let mut at = 0;
        for range in splitter.split(&text) {
            prop_assert!(text[at..range.start].chars().all(char::is_whitespace));
            prop_assert!(!range.is_empty());
            prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
            at = range.end;
        }
        prop_assert!(text[at..].chars().all(char::is_whitespace));
    }
}
