//! Stems of words, by the Snowball algorithms (Porter 2001).

use rust_stemmers::Algorithm;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A language with a Snowball stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names say it")]
pub enum StemLanguage {
    Arabic,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

impl StemLanguage {
    /// All languages.
    pub const ALL: [Self; 18] = [
        Self::Arabic,
        Self::Danish,
        Self::Dutch,
        Self::English,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
    ];

    fn algorithm(self) -> Algorithm {
        match self {
            Self::Arabic => Algorithm::Arabic,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Turkish => Algorithm::Turkish,
        }
    }
}

/// Finds stems: what forms of a word have in common. It never changes, and threads can share it.
///
/// ```
/// use fieldmark_text::normalize::{StemLanguage, Stemmer};
/// let stemmer = Stemmer::new(StemLanguage::English);
/// assert_eq!(stemmer.stem("Mutations"), stemmer.stem("mutation"));
/// ```
pub struct Stemmer {
    language: StemLanguage,
    snowball: rust_stemmers::Stemmer,
}

impl Stemmer {
    /// The stemmer of a language.
    pub fn new(language: StemLanguage) -> Self {
        Self {
            language,
            snowball: rust_stemmers::Stemmer::create(language.algorithm()),
        }
    }

    /// The language.
    pub fn language(&self) -> StemLanguage {
        self.language
    }

    /// The stem of a token, in small letters. A token that is no word is its own stem.
    pub fn stem<'a>(&self, token: &'a str) -> Cow<'a, str> {
        if !token.contains(char::is_alphabetic) {
            return Cow::Borrowed(token);
        }
        if token.contains(char::is_uppercase) {
            return Cow::Owned(self.snowball.stem(&token.to_lowercase()).into_owned());
        }
        self.snowball.stem(token)
    }
}

impl fmt::Debug for Stemmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stemmer")
            .field("language", &self.language)
            .finish_non_exhaustive()
    }
}
