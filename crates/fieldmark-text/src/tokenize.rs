//! Text to tokens.
//!
//! A [`Tokenizer`] cuts by a [`TokenizerProfile`], which has a name in configs and is part of a model. Its
//! [`Token`]s are byte ranges that know whether they were written apart from their neighbours. Together
//! they cover every character that is not white space, so nothing of a text is lost.
//!
//! ```
//! use fieldmark_text::tokenize::{Tokenizer, TokenizerProfile};
//! let tokenizer = Tokenizer::new(TokenizerProfile::Fine);
//! let text = "or A55V) single-nucleotide";
//! let tokens = tokenizer.tokenize(text);
//! let words: Vec<&str> = tokens.iter().map(|token| token.text(text)).collect();
//! assert_eq!(words, ["or", "A", "55", "V", ")", "single", "-", "nucleotide"]);
//! assert!(tokens[4].space_after && !tokens[6].space_after);
//! ```

mod clusters;
mod custom;
mod profile;
mod rules;
mod scan;
mod token;

pub use custom::{ExpressionError, Expressions};
pub use profile::{TokenizerProfile, UnknownProfile};
pub use token::Token;

use scan::Output;
use std::ops::Range;

/// Finds the tokens of texts. It never changes, and threads can share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokenizer {
    profile: TokenizerProfile,
}

impl Tokenizer {
    /// The tokenizer of a profile.
    pub const fn new(profile: TokenizerProfile) -> Self {
        Self { profile }
    }

    /// Where it cuts.
    pub fn profile(&self) -> &TokenizerProfile {
        &self.profile
    }

    /// The tokens of a text, in order.
    pub fn tokenize(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.tokenize_into(text, 0..text.len(), &mut tokens);
        tokens
    }

    /// Adds the tokens of a part of a text, such as a sentence, with their offsets in the whole text.
    ///
    /// The tokens are those of the part alone; only the white-space flags look at what is around it.
    ///
    /// # Panics
    /// When the range is not inside of the text, or cuts a character.
    pub fn tokenize_into(&self, text: &str, part: Range<usize>, tokens: &mut Vec<Token>) {
        let mut output = Output::new(tokens, part.start);
        let rule = match &self.profile {
            TokenizerProfile::Whitespace => rules::whitespace,
            TokenizerProfile::Punctuation => rules::punctuation,
            TokenizerProfile::NonAlphabetic => rules::non_alphabetic,
            TokenizerProfile::PunctuationBeforeSpace => rules::punctuation_before_space,
            TokenizerProfile::Fine => rules::fine,
            TokenizerProfile::Abner => rules::abner,
            TokenizerProfile::Dash => rules::dash,
            TokenizerProfile::Locants => rules::locants,
            TokenizerProfile::Clinical => rules::clinical,
            TokenizerProfile::Custom(list) => {
                list.scan(&text[part], &mut output);
                return output.finish(text);
            }
        };
        rule(&text[part], &mut output);
        output.finish(text);
    }
}

#[cfg(test)]
mod tests;
