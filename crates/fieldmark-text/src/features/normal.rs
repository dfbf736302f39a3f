//! Sequences and names in normal form, as features and lists compare them.

use super::FeatureError;
use super::extraction::Sequence;
use super::numbering::Hashed;
use crate::dictionaries::{Dictionary, DictionaryBuilder, DictionaryError};
use crate::normalize::Normalizer;
use crate::tokenize::{Token, Tokenizer};
use fieldmark_core::name_hash;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// How texts are seen: cut into tokens, each in its normal form.
#[derive(Clone, Debug, Default)]
pub struct Preprocessor {
    /// Where tokens end.
    pub tokenizer: Tokenizer,
    /// What is done to each token.
    pub normalizer: Normalizer,
}

impl Preprocessor {
    /// Whether tokens are seen as they are written.
    pub(super) fn is_plain(&self) -> bool {
        self.normalizer.steps().is_empty()
    }

    /// The tokens of a name.
    pub(super) fn tokens(&self, name: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.normalizer
            .tokenize_into(&self.tokenizer, name, 0..name.len(), &mut tokens);
        tokens
    }

    /// A list with all names in normal form. Names of which nothing is left are not in it.
    pub(super) fn normalize(&self, names: Dictionary) -> Result<Dictionary, FeatureError> {
        if self.is_plain() {
            return Ok(names);
        }
        let mut forms = NormalForms::default();
        let mut builder = DictionaryBuilder::new(names.options());
        for (name, identifiers) in names.entries() {
            let tokens = self.tokens(name);
            forms.write(&self.normalizer, &Sequence::new(name, &tokens));
            let identifiers: Vec<&str> = identifiers.collect();
            match builder.add(&forms.text, identifiers.iter().copied()) {
                Ok(()) | Err(DictionaryError::Empty(_)) => {}
                Err(error) => return Err(FeatureError::Resource(error.to_string())),
            }
        }
        Ok(builder.build())
    }
}

/// The normal form of a sequence: those of its tokens, and what stands between them.
#[derive(Debug, Default)]
pub(super) struct NormalForms {
    pub text: String,
    pub tokens: Vec<Token>,
    /// The forms of tokens that were seen, by hash.
    known: HashMap<u64, String, BuildHasherDefault<Hashed>>,
}

impl NormalForms {
    pub fn write(&mut self, normalizer: &Normalizer, sequence: &Sequence<'_>) {
        self.text.clear();
        self.tokens.clear();
        let mut done = sequence.tokens.first().map_or(0, |token| token.start);
        for token in sequence.tokens {
            // Tokens of a source may overlap.
            self.text
                .push_str(sequence.text.get(done..token.start).unwrap_or_default());
            let written = token.text(sequence.text);
            let form = self
                .known
                .entry(name_hash::base(written))
                .or_insert_with(|| normalizer.normalize(written).into_text());
            let start = self.text.len();
            self.text.push_str(form);
            self.tokens.push(Token {
                start,
                end: self.text.len(),
                ..*token
            });
            done = token.end;
        }
    }

    /// Forgets the forms of tokens.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}
