//! Annotations in tokens, for measures that count tokens.

use super::Pair;
use fieldmark_eval::Span;
use fieldmark_text::document::Annotation;
use fieldmark_text::tokenize::{Tokenizer, TokenizerProfile};
use std::ops::Range;

/// The tokens of a document, in order.
pub(super) struct Tokens(Vec<Range<usize>>);

impl Tokens {
    /// The tokens that gold comes with, or those that the tokenizer makes.
    pub fn of(pair: &Pair, profile: &TokenizerProfile) -> Self {
        Self(match &pair.sentences {
            Some(sentences) => sentences.iter().flatten().cloned().collect(),
            None => {
                let tokens = Tokenizer::new(profile.clone()).tokenize(&pair.text);
                tokens.iter().map(|token| token.range()).collect()
            }
        })
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The tokens that each annotation touches; one that touches none has no place here.
    pub fn spans<'a>(&self, annotations: &'a [Annotation]) -> Vec<Span<'a>> {
        let span = |annotation: &'a Annotation| {
            let bytes = annotation.range();
            let first = self.0.partition_point(|token| token.end <= bytes.start);
            let end = self.0.partition_point(|token| token.start < bytes.end);
            (first < end).then(|| Span::new(first, end, &annotation.kind))
        };
        annotations.iter().filter_map(span).collect()
    }

    /// For gold and for what was found: whether a span begins with a token, or has ended before it.
    pub fn borders(&self, pair: &Pair) -> (Vec<bool>, Vec<bool>) {
        let side = |annotations: &[Annotation]| {
            let mut begins = vec![false; self.len()];
            for span in self.spans(annotations) {
                begins[span.start] = true;
                if let Some(after) = begins.get_mut(span.end) {
                    *after = true;
                }
            }
            begins
        };
        (side(&pair.gold), side(&pair.found))
    }
}
