//! [`token_mismatch`]: whether a tokenizer cuts texts as the training data are cut.

use crate::config::TextConfig;
use fieldmark_text::document::{Document, GivenToken};
use fieldmark_text::normalize::Normalizer;
use fieldmark_text::tokenize::{Token, Tokenizer, TokenizerProfile};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Tokens of training data that the tokenizer of a config would cut otherwise.
///
/// A model learns from the tokens that its data give; if texts are cut otherwise when it is used, it meets words that
/// it has never seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenMismatch {
    /// Number of tokens that are cut otherwise.
    pub different: usize,
    /// Number of tokens.
    pub tokens: usize,
    /// The most frequent of them, and what becomes of it.
    pub example: (String, Vec<String>),
    /// The tokenizer of the config.
    pub tokenizer: &'static str,
    /// The built-in tokenizer that cuts the fewest otherwise, with their number, if it is clearly better.
    pub better: Option<(&'static str, usize)>,
}

/// So few tokens in a hundred may be cut otherwise without a word: every corpus has some that follow no rule.
const FEW: usize = 2;

/// Another tokenizer is advised if it cuts at most so many of a hundred of these tokens otherwise: one that is hardly
/// better is made for other texts.
const CLEARLY_BETTER: usize = 50;

/// Compares the tokens that documents come with with those that the tokenizer makes of their normal form, as it does
/// when the model is used; `None` if nearly all are the same, or if the config does not take them as they are.
pub fn token_mismatch(config: &TextConfig, documents: &[Document]) -> Option<TokenMismatch> {
    if config.retokenize {
        return None;
    }
    let mut examples: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    let mut tokens = 0;
    let normalizer = &config.normalize;
    let different = compare(
        &config.tokenizer,
        normalizer,
        documents,
        |document, given, found| {
            tokens += 1;
            if let Some(found) = found {
                let text = |range: Range<usize>| document.text.get(range).unwrap_or_default().to_owned();
                let pieces = found.iter().map(|token| text(token.range())).collect();
                let example = examples.entry(text(given.range.clone()));
                example.or_insert((0, pieces)).0 += 1;
            }
        },
    );
    if different * 100 < tokens * FEW {
        return None;
    }
    let (word, (_, pieces)) = examples.into_iter().rev().max_by_key(|(_, (count, _))| *count)?;
    // In columns, blanks separate all tokens: white space is right there, and nowhere else.
    let others = TokenizerProfile::NAMED
        .into_iter()
        .filter(|profile| *profile != TokenizerProfile::Whitespace && *profile != config.tokenizer);
    let best = others
        .map(|profile| {
            (
                profile.name(),
                compare(&profile, normalizer, documents, |_, _, _| {}),
            )
        })
        .min_by_key(|(_, count)| *count);
    Some(TokenMismatch {
        different,
        tokens,
        example: (word, pieces),
        tokenizer: config.tokenizer.name(),
        better: best.filter(|(_, count)| *count * 100 <= different * CLEARLY_BETTER),
    })
}

/// Counts the given tokens that a tokenizer cuts otherwise. `each` sees all of them, with the tokens that it makes of
/// those.
fn compare(
    profile: &TokenizerProfile,
    normalizer: &Normalizer,
    documents: &[Document],
    mut each: impl FnMut(&Document, &GivenToken, Option<&[Token]>),
) -> usize {
    let tokenizer = Tokenizer::new(profile.clone());
    let mut found: Vec<Token> = Vec::new();
    let mut different = 0;
    for document in documents {
        let sentences = document.given.iter().flat_map(|given| &given.sentences);
        for sentence in sentences {
            let start = sentence.iter().map(|token| token.range.start).min();
            let end = sentence.iter().map(|token| token.range.end).max();
            let (Some(start), Some(end)) = (start, end) else {
                continue;
            };
            found.clear();
            normalizer.tokenize_into(&tokenizer, &document.text, start..end, &mut found);
            for given in sentence {
                let first = found.partition_point(|token| token.end <= given.range.start);
                let last = found.partition_point(|token| token.start < given.range.end);
                let pieces = found.get(first..last).unwrap_or_default();
                let same = matches!(pieces, [only] if only.range() == given.range);
                different += usize::from(!same);
                each(document, given, (!same).then_some(pieces));
            }
        }
    }
    different
}

impl fmt::Display for TokenMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, pieces) = &self.example;
        let pieces: Vec<String> = pieces.iter().map(|piece| format!("{piece:?}")).collect();
        write!(
            f,
            "the tokenizer {} would cut {} of {} tokens of the training data otherwise, such as {word:?} into {}: in new \
             texts the model would not see what it has learned from",
            self.tokenizer,
            self.different,
            self.tokens,
            pieces.join(" ")
        )?;
        match self.better {
            Some((name, count)) => write!(
                f,
                ". The tokenizer {name} cuts {count} otherwise: set text.tokenizer = \"{name}\""
            ),
            None => write!(
                f,
                ". No other built-in tokenizer is much better; text.tokenizer = {{ custom = [...] }} takes regular expressions"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_text::document::GivenTokens;
    use fieldmark_text::normalize::Step;

    fn document(text: &str) -> Document {
        let mut at = 0;
        let token = |word: &str| {
            let start = at;
            at += word.len() + 1;
            GivenToken {
                range: start..start + word.len(),
                ..GivenToken::default()
            }
        };
        let tokens = text.split(' ').map(token).collect();
        Document {
            given: Some(GivenTokens {
                sentences: vec![tokens],
                ..GivenTokens::default()
            }),
            ..Document::new("1", text)
        }
    }

    fn config(tokenizer: TokenizerProfile) -> TextConfig {
        TextConfig {
            tokenizer,
            ..TextConfig::default()
        }
    }

    #[test]
    fn tokens_that_are_cut_otherwise_are_counted() {
        let documents = [document("take 3.75 mg p.o. daily"), document("take 3.75 mg")];
        let found = token_mismatch(&config(TokenizerProfile::Punctuation), &documents).unwrap();
        assert_eq!((found.different, found.tokens), (3, 8));
        assert_eq!(found.better, Some(("clinical", 0)));
        let text = found.to_string();
        for expected in [
            "the tokenizer punctuation would cut 3 of 8 tokens",
            "such as \"3.75\" into \"3\" \".\" \"75\"",
            "set text.tokenizer = \"clinical\"",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        assert_eq!(
            token_mismatch(&config(TokenizerProfile::Clinical), &documents),
            None
        );
    }

    #[test]
    fn few_tokens_that_are_cut_otherwise_are_no_matter() {
        let mut documents = vec![document("take 3.75 mg"), document("give 2.5 mg")];
        let punctuation = config(TokenizerProfile::Punctuation);
        assert!(token_mismatch(&punctuation, &documents).is_some());
        documents.resize(40, document("go to bed early today"));
        assert_eq!(token_mismatch(&punctuation, &documents), None);
    }

    #[test]
    fn a_tokenizer_that_is_hardly_better_is_not_advised() {
        // Brackets are cut off by all of them.
        let documents = [document("x). y). z). 3.75 p")];
        let found = token_mismatch(&config(TokenizerProfile::Punctuation), &documents).unwrap();
        assert_eq!((found.different, found.better), (4, None), "{found}");
        assert!(
            found
                .to_string()
                .contains("No other built-in tokenizer is much better")
        );
    }

    #[test]
    fn tokens_are_those_of_the_normal_form() {
        let documents = [document("TGF &beta; rose")];
        let plain = config(TokenizerProfile::Fine);
        let found = token_mismatch(&plain, &documents).unwrap();
        assert_eq!(found.example.1, ["&", "beta", ";"]);
        let normal = TextConfig {
            normalize: Normalizer::new(vec![Step::Entities]),
            ..plain
        };
        assert_eq!(token_mismatch(&normal, &documents), None);
    }

    #[test]
    fn tokens_that_are_not_used_do_not_matter() {
        let documents = [document("take 3.75 mg")];
        let again = TextConfig {
            retokenize: true,
            ..config(TokenizerProfile::Punctuation)
        };
        assert_eq!(token_mismatch(&again, &documents), None);
        let text = [Document::new("1", "take 3.75 mg")];
        assert_eq!(
            token_mismatch(&config(TokenizerProfile::Punctuation), &text),
            None
        );
    }
}
