//! Cuts any text into sentences and tokens, and normalises it: nothing is lost, and every range finds its way back.

#![no_main]

use fieldmark_text::normalize::{
    GreekForm, Normalizer, ReplacementOptions, Replacements, Spelling, StemLanguage, Stemmer, Step,
    UnicodeForm,
};
use fieldmark_text::sentences::{SentenceLanguage, SentenceMode, SentenceOptions, SentenceSplitter};
use fieldmark_text::tokenize::{Expressions, Tokenizer, TokenizerProfile};
use libfuzzer_sys::fuzz_target;
use std::ops::Range;
use std::sync::LazyLock;

static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let list = Expressions::new([r"\d+", r"\p{M}\w?", r"[a-c ]+", r"\S-\S", r"(?s:x.*y)"]).unwrap();
    let custom = [TokenizerProfile::Custom(list)];
    TokenizerProfile::NAMED
        .into_iter()
        .chain(custom)
        .map(Tokenizer::new)
        .collect()
});

static SPLITTERS: LazyLock<Vec<SentenceSplitter>> = LazyLock::new(|| {
    let modes = [SentenceMode::Rules, SentenceMode::Lines, SentenceMode::None];
    let splitter = |mode| {
        SentenceSplitter::new(SentenceOptions {
            mode,
            languages: vec![SentenceLanguage::English, SentenceLanguage::German],
            abbreviations: vec!["o. B.".to_owned()],
        })
    };
    modes.map(splitter).into()
});

static STEPS: LazyLock<Vec<Step>> = LazyLock::new(|| {
    let pairs = [("a", ""), ("aa", "β"), ("beta", "be ta"), ("-", ""), ("é", "ee")];
    let replacements = ReplacementOptions {
        pairs: pairs
            .iter()
            .map(|&(from, to)| (from.to_owned(), to.to_owned()))
            .collect(),
        words: false,
        ignore_case: true,
    };
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
        Step::Replace(Replacements::new(replacements).unwrap()),
        Step::Case,
    ]
});

static STEMMERS: LazyLock<Vec<Stemmer>> = LazyLock::new(|| StemLanguage::ALL.map(Stemmer::new).into());

/// The ranges are in order, and only white space is left out.
fn cover(text: &str, ranges: impl Iterator<Item = Range<usize>>) {
    let is_blank = |range: Range<usize>| text[range].chars().all(char::is_whitespace);
    let mut at = 0;
    for range in ranges {
        assert!(range.start < range.end && is_blank(at..range.start));
        assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
        at = range.end;
    }
    assert!(is_blank(at..text.len()));
}

fuzz_target!(|data: &[u8]| {
    let [first, second, bytes @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for tokenizer in TOKENIZERS.iter() {
        let tokens = tokenizer.tokenize(text);
        cover(text, tokens.iter().map(|token| token.range()));
        for pair in tokens.windows(2) {
            assert_eq!(pair[0].space_after, pair[0].end < pair[1].start);
            assert_eq!(pair[1].space_before, pair[0].space_after);
        }
        assert!(
            tokens
                .iter()
                .all(|token| !token.text(text).contains(char::is_whitespace))
        );
    }
    for splitter in SPLITTERS.iter() {
        let sentences = splitter.split(text);
        cover(text, sentences.iter().cloned());
        let mut tokens = Vec::new();
        for sentence in sentences {
            TOKENIZERS[0].tokenize_into(text, sentence, &mut tokens);
        }
        cover(text, tokens.iter().map(|token| token.range()));
    }
    for token in TOKENIZERS[0].tokenize(text) {
        STEMMERS[usize::from(*second) % STEMMERS.len()].stem(token.text(text));
    }
    let step = |choice: u8| STEPS[usize::from(choice) % STEPS.len()].clone();
    let aligned = Normalizer::new(vec![step(*first), step(*second), step(first / 16)]).normalize(text);
    let normal = aligned.text();
    assert_eq!(aligned.to_source(0..normal.len()), 0..text.len());
    let mut last = 0;
    for (start, c) in normal.char_indices() {
        let source = aligned.to_source(start..start + c.len_utf8());
        assert!(text.get(source.clone()).is_some() && last <= source.start);
        let back = aligned.to_text(source.clone());
        assert!(back.start <= start && start + c.len_utf8() <= back.end);
        last = source.start;
    }
});
