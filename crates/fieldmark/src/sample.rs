//! A small corpus of clinical notes, part of the program, to try things on without any file at hand.
//!
//! ```
//! use fieldmark::sample;
//! let train = sample::parse(sample::TRAIN)?;
//! assert!(train.len() > 300);
//! # Ok::<(), fieldmark_text::markup::MarkupError>(())
//! ```

pub use fieldmark_text::markup::parse;

/// Sentences to train on, in the markup of [`fieldmark_text::markup`].
pub const TRAIN: &str = include_str!("../sample/train.txt");

/// Sentences to test on, about two thirds of whose drugs and problems do not occur in [`TRAIN`].
pub const TEST: &str = include_str!("../sample/test.txt");

/// A paragraph without marks.
pub const PARAGRAPH: &str = include_str!("../sample/paragraph.txt");

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_text::sentences::SentenceSplitter;
    use fieldmark_text::tokenize::{Tokenizer, TokenizerProfile};
    use std::collections::HashSet;

    #[test]
    fn every_sentence_is_well_marked_and_occurs_once() {
        let tokenizer = Tokenizer::new(TokenizerProfile::Clinical);
        let splitter = SentenceSplitter::default();
        let mut seen = HashSet::new();
        for (name, source) in [("train.txt", TRAIN), ("test.txt", TEST)] {
            for sentence in parse(source).unwrap_or_else(|error| panic!("{name}:{error}")) {
                let tokens = tokenizer.tokenize(&sentence.text);
                let spans = sentence
                    .align(&tokens)
                    .unwrap_or_else(|error| panic!("{name}:{error}"));
                for span in spans {
                    assert!(
                        ["DRUG", "DOSE", "FREQ", "PROBLEM"].contains(&span.kind),
                        "{name}:{}",
                        sentence.line
                    );
                }
                assert_eq!(
                    splitter.split(&sentence.text).len(),
                    1,
                    "{name}:{}",
                    sentence.line
                );
                assert!(
                    seen.insert(sentence.text.to_lowercase()),
                    "{name}:{} is there twice",
                    sentence.line
                );
            }
        }
    }

    #[test]
    fn the_paragraph_is_new_and_splits_into_its_sentences() {
        let found = SentenceSplitter::default().split(PARAGRAPH);
        assert_eq!(found.len(), 7);
        let known = parse(TRAIN).unwrap();
        for range in found {
            assert!(
                known
                    .iter()
                    .all(|sentence| sentence.text != PARAGRAPH[range.clone()])
            );
        }
    }
}
