//! Normalisation that keeps offsets: many spellings of the same thing become one.
//!
//! A [`Normalizer`] is a list of [`Step`]s, written in a config and kept in a model. It turns a text into an
//! [`Aligned`] one: the new text, and for every range of it the range of the source it came from, so that what
//! is found in the new text can be shown in the old one.
//!
//! ```
//! use fieldmark_text::normalize::{GreekForm, Normalizer, Step};
//! let steps = vec![Step::Entities, Step::Dashes, Step::Greek(GreekForm::Name)];
//! let source = "TGF–&beta; and IFN-γ";
//! let aligned = Normalizer::new(steps).normalize(source);
//! assert_eq!(aligned.text(), "TGF-beta and IFN-gamma");
//! assert_eq!(&source[aligned.to_source(4..8)], "&beta;");
//! assert_eq!(&source[aligned.to_source(13..22)], "IFN-γ");
//! ```
//!
//! What belongs to single words, [stemming](Stemmer), is a function on tokens.

mod aligned;
mod entities;
mod greek;
mod marks;
mod replace;
mod rewriter;
mod spelling;
mod stem;
mod table;
mod tokens;
mod unicode;

pub use aligned::Aligned;
pub use greek::GreekForm;
pub use replace::{ReplacementError, ReplacementOptions, Replacements};
pub use spelling::Spelling;
pub use stem::{StemLanguage, Stemmer};
pub use unicode::UnicodeForm;

pub(crate) use unicode::fold_char;

use rewriter::Rewriter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kind of normalisation.
///
/// ```toml
/// normalize = ["entities", "dashes", { greek = "letter" }, { unicode = "nfc" }]
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Step {
    /// `entities`: named, decimal and hexadecimal character references of HTML and XML: `&eacute;`, `&#233;`,
    /// `&#xE9;`. Named ones without a semicolon only if HTML allows it and nothing suggests a web address. Text
    /// that was encoded twice needs the step twice.
    Entities,
    /// `dashes`: hyphens, dashes and minus signs of any width become `-`.
    Dashes,
    /// `quotes`: single quotation marks, apostrophes and primes become `'`, double ones `"`.
    Quotes,
    /// `{ greek = "letter" }` or `{ greek = "name" }`: Greek letters in all their spellings.
    Greek(GreekForm),
    /// `{ unicode = "nfc" }` or `{ unicode = "nfkc" }`: one form for what Unicode takes for the same.
    Unicode(UnicodeForm),
    /// `{ spelling = "american" }` or `{ spelling = "british" }`: one of both spellings of English words.
    Spelling(Spelling),
    /// `{ replace = { pairs = { feasable = "feasible" } } }`: a table of one's own.
    Replace(Replacements),
    /// `case`: small letters only, in the sense of Unicode case folding (`ß` is `ss`).
    Case,
}

impl Step {
    fn rewrite(&self, text: &mut Rewriter<'_>) {
        match self {
            Self::Entities => entities::decode(text),
            Self::Dashes => marks::dashes(text),
            Self::Quotes => marks::quotes(text),
            Self::Greek(form) => greek::rewrite(text, *form),
            Self::Unicode(form) => form.rewrite(text),
            Self::Spelling(variety) => variety.rewrite(text),
            Self::Replace(table) => table.rewrite(text),
            Self::Case => unicode::fold_case(text),
        }
    }
}

/// Normalises texts, step by step. It never changes, and threads can share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Normalizer {
    steps: Vec<Step>,
}

impl Normalizer {
    /// A normaliser with these steps, done in this order.
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The normalised text, with its way back.
    pub fn normalize(&self, text: &str) -> Aligned {
        let mut whole = Aligned::unchanged(text);
        for step in &self.steps {
            let mut rewriter = Rewriter::new(whole.text());
            step.rewrite(&mut rewriter);
            if let Some(next) = rewriter.finish() {
                whole = whole.joined(next);
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests;
