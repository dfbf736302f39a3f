//! Tokens of a normalised text, at their places in its source.

use super::Normalizer;
use crate::tokenize::{Token, Tokenizer};
use std::ops::Range;

impl Normalizer {
    /// Adds the tokens that a part of a text has in its normal form, with their places in the text.
    ///
    /// So `&beta;` is one token for every tokenizer, as `β` would be. What became several tokens of one character is
    /// one token again, and where several words became one the tokenizer cuts the source.
    ///
    /// # Panics
    /// When the range is not inside of the text, or cuts a character.
    pub fn tokenize_into(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        part: Range<usize>,
        tokens: &mut Vec<Token>,
    ) {
        if self.steps.is_empty() {
            return tokenizer.tokenize_into(text, part, tokens);
        }
        let first = tokens.len();
        let aligned = self.normalize(&text[part.clone()]);
        for token in tokenizer.tokenize(aligned.text()) {
            let source = aligned.to_source(token.range());
            let place = part.start + source.start..part.start + source.end;
            let begun = tokens.get(first..).and_then(|tokens| tokens.last());
            if text[place.clone()].contains(char::is_whitespace) {
                let start = begun.map_or(place.start, |last| last.end.max(place.start));
                if start < place.end {
                    tokenizer.tokenize_into(text, start..place.end, tokens);
                }
            } else if begun.is_some_and(|last| place.start < last.end) {
                let last = tokens.len() - 1;
                tokens[last].end = tokens[last].end.max(place.end);
                tokens[last].space_after = token.space_after;
            } else if place.start < place.end {
                tokens.push(Token {
                    start: place.start,
                    end: place.end,
                    ..token
                });
            }
        }
        look_around(text, &part, &mut tokens[first..]);
    }
}

/// At the edges of the part, white space is that of the text around it.
fn look_around(text: &str, part: &Range<usize>, tokens: &mut [Token]) {
    if let Some(first) = tokens.first_mut().filter(|first| first.start == part.start) {
        first.space_before = text[..part.start]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
    }
    if let Some(last) = tokens.last_mut().filter(|last| last.end == part.end) {
        last.space_after = text[part.end..].chars().next().is_none_or(char::is_whitespace);
    }
}

#[cfg(test)]
mod tests {
    use crate::normalize::tests::{replacements, steps, text};
    use crate::normalize::{GreekForm, Normalizer, Step, UnicodeForm};
    use crate::tokenize::{Token, Tokenizer, TokenizerProfile};
    use proptest::prelude::*;

    fn tokens(steps: &[Step], profile: TokenizerProfile, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let tokenizer = Tokenizer::new(profile);
        Normalizer::new(steps.to_vec()).tokenize_into(&tokenizer, text, 0..text.len(), &mut tokens);
        tokens
    }

    /// Compares with tokens that are written with `|` between them.
    fn check(steps: &[Step], profile: TokenizerProfile, text: &str, expected: &str) {
        let found: Vec<&str> = tokens(steps, profile, text)
            .iter()
            .map(|token| token.text(text))
            .collect();
        assert_eq!(found.join("|"), expected);
    }

    #[test]
    fn references_are_what_they_stand_for() {
        use TokenizerProfile::{Dash, Fine};
        check(&[], Fine, "TGF-&beta;1", "TGF|-|&|beta|;|1");
        check(&[Step::Entities], Fine, "TGF-&beta;1", "TGF|-|&beta;|1");
        check(
            &[Step::Entities],
            Dash,
            "TGF-&beta;1 &lt; 5&nbsp;mg",
            "TGF|-|&beta;1|&lt;|5|mg",
        );
        check(
            &[Step::Greek(GreekForm::Name)],
            Fine,
            "NF-{kappa}B \\beta",
            "NF|-|{kappa}B|\\beta",
        );
        let text = "5&nbsp;mg";
        let flags: Vec<(bool, bool)> = tokens(&[Step::Entities], Fine, text)
            .iter()
            .map(|token| (token.space_before, token.space_after))
            .collect();
        assert_eq!(flags, [(true, true), (true, true)]);
    }

    #[test]
    fn one_character_is_one_token_and_several_words_are_several() {
        use TokenizerProfile::Fine;
        check(&[Step::Unicode(UnicodeForm::Nfkc)], Fine, "1½ b", "1½|b");
        check(
            &[replacements(&[("\u{AD}", "")], false, false)],
            Fine,
            "so\u{AD}ft b",
            "so\u{AD}ft|b",
        );
        let factor = replacements(&[("necrosis factor", "NF")], true, false);
        check(
            &[factor],
            Fine,
            "tumor necrosis factor-1",
            "tumor|necrosis|factor|-|1",
        );
    }

    #[test]
    fn a_part_has_places_and_flags_of_the_whole() {
        let text = "x.&beta;-2.";
        let mut tokens = Vec::new();
        let tokenizer = Tokenizer::new(TokenizerProfile::Fine);
        Normalizer::new(vec![Step::Entities]).tokenize_into(&tokenizer, text, 2..10, &mut tokens);
        let places: Vec<_> = tokens.iter().map(Token::range).collect();
        assert_eq!(places, [2..8, 8..9, 9..10]);
        assert!(!tokens[0].space_before && !tokens[2].space_after);
    }

    proptest! {
        #[test]
        fn tokens_are_places_of_the_text(text in text(), order in prop::collection::vec(0..11_usize, 0..4), profile in 0..9_usize) {
            let all = steps();
            let chosen: Vec<Step> = order.iter().map(|&step| all[step].clone()).collect();
            let profile = TokenizerProfile::NAMED[profile].clone();
            let mut at = 0;
            for token in tokens(&chosen, profile.clone(), &text) {
                prop_assert!(at <= token.start && token.start < token.end);
                prop_assert!(text.get(token.range()).is_some_and(|token| !token.contains(char::is_whitespace)));
                at = token.end;
            }
            prop_assert!(at <= text.len());
            prop_assert_eq!(tokens(&[], profile.clone(), &text), Tokenizer::new(profile).tokenize(&text));
        }
    }
}
