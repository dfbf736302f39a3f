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

#[cfg(test)]
mod tests {
    use super::super::tests::pair;
    use super::*;

    fn tokens(pair: &Pair) -> Tokens {
        Tokens::of(pair, &TokenizerProfile::default())
    }

    #[test]
    fn an_annotation_has_the_tokens_that_it_touches() {
        let pair = pair(
            "ab cd ef",
            &[(2, 6, "X"), (2, 3, "space"), (1, 4, "Y"), (6, 8, "Z")],
            &[],
        );
        let expected = [Span::new(1, 2, "X"), Span::new(0, 2, "Y"), Span::new(2, 3, "Z")];
        assert_eq!(tokens(&pair).spans(&pair.gold), expected);
    }

    #[test]
    fn tokens_that_come_with_a_document_are_kept() {
        let mut pair = pair("ab cd ef", &[], &[]);
        assert_eq!(tokens(&pair).len(), 3);
        pair.sentences = Some(vec![vec![0..5], vec![6..7, 7..8]]);
        assert_eq!(tokens(&pair).0, [0..5, 6..7, 7..8]);
    }

    #[test]
    fn a_span_has_a_border_at_its_first_token_and_after_its_last() {
        let pair = pair("a b c d", &[(2, 5, "X")], &[(0, 1, "X", 0.5), (6, 7, "X", 0.5)]);
        let (gold, found) = tokens(&pair).borders(&pair);
        assert_eq!(gold, [false, true, false, true]);
        assert_eq!(found, [true, true, false, true]);
    }
}
