//! Facts about tokens, as observations of a model.
//!
//! A config lists what to look at, see [`FeatureConfig`]; an [`Extractor`] is made from the list, and an
//! [`Extraction`] describes token sequences with it. Each fact has a text such as `W=alpha` or `PREFIX3=alp`;
//! seen from a neighbour, `@` and the way to the token follow: `W=alpha@-1` says that the token to the left is
//! `alpha`, `W=alpha@1` the one to the right.
//!
//! | kind | facts about `Htr1b` in `the Htr1b gene` | settings |
//! |---|---|---|
//! | `bias` | `BIAS` | |
//! | `word` | `W=Htr1b`, with `lower` `L=htr1b` | `lower` |
//! | `stem` | `STEM=htr1b` | `language` |
//! | `prefix`, `suffix` | `PREFIX2=Ht`, `SUFFIX3=r1b` | `lengths`, `lower` |
//! | `shape` | `WC=Aaa0a`, with `brief` `BWC=Aa0a` | `style`, `brief` |
//! | `capitalisation` | `CAP=title` | |
//! | `pattern` | `INITCAP`, `INITCAPALPHA`, `HASDIGIT`, `ALPHANUMERIC` | `only` |
//! | `regex` | its name, if the expression matches | `pattern`, `on`, `ignore_case` |
//! | `ngrams` | `GRAM3=^Ht`, `GRAM3=Htr`, … | `lengths`, `lower`, `ends` |
//! | `space` | `SPACE_LEFT`, `SPACE_RIGHT` | |
//! | `position` | `SENTENCE/3=2`; with `edges = 2` `SENTENCE+1`, `SENTENCE-2` | `of`, `parts`, `edges` |
//! | `bag` | `BAG=the` with the value 1, … | `window`, `of`, `concepts`, `language` |
//! | `dictionary` | `LIST:genes` | `file` or `training`, `by`, `borders`, `within`, … |
//! | `ancestors` | `ABOVE2=organ` | `file`, `format`, `depths` |
//! | `polarity` | `POLARITY=positive`; with `bigrams` `POLARITY2=:positive_hotel` | `file`, `bigrams` |
//! | `class` | `CLASS=0110`, `CLASS2=01` | `file`, `format`, `prefixes` |
//! | `column` | `pos=NN` | `column` |
//! | `model` | `MODEL=B-NP` | `file` |
//! | `conjunction` | `& W=the@-1 & W=Htr1b` | `of` |
//!
//! No text is built for a token that was seen before: what is known about it is kept, and neighbours and
//! conjunctions are found by [hashes of parts](fieldmark_core::name_hash).

mod collisions;
mod config;
mod context;
mod extraction;
mod extractor;
mod known;
mod lists;
mod local;
mod normal;
mod numbering;
pub mod patterns;
mod recent;
mod resources;

pub use config::*;
pub use extraction::{Description, Extraction, Sequence};
pub use extractor::Extractor;
pub use known::Pieces;
pub use normal::Preprocessor;
pub use numbering::{Growing, Numbering};
pub use resources::Resources;

use regex_automata::meta;
use regex_syntax::hir::{Hir, Look};

/// What is wrong with a list of features.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// An entry that cannot work, with the number of the entry from 0.
    #[error("features[{entry}]: {problem}")]
    Entry {
        /// The entry.
        entry: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A window that is too wide.
    #[error(
        "the window is {0}, expected at most {limit} tokens to either side",
        limit = fieldmark_core::name_hash::MAX_OFFSET
    )]
    Window(usize),
    /// An expression that cannot be compiled.
    #[error("the expression {pattern:?} is not a regular expression: {problem}")]
    Regex {
        /// The expression.
        pattern: String,
        /// What the compiler said.
        problem: String,
    },
    /// A list, lexicon or hierarchy that is missing.
    #[error("{0}")]
    Resource(String),
    /// A list, lexicon or hierarchy that cannot be read.
    #[error(transparent)]
    Read(#[from] crate::error::ReadError),
}

fn compile(pattern: &str, ignore_case: bool) -> Result<regex::Regex, FeatureError> {
    let built = regex::RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .build();
    built.map_err(|error| no_expression(pattern, error))
}

/// An expression that has to match the whole of what it is held against.
///
/// The ends are put around what was parsed: around its text, a comment or a bracket could swallow them.
fn compile_whole(pattern: &str, ignore_case: bool) -> Result<meta::Regex, FeatureError> {
    let mut parser = regex_syntax::ParserBuilder::new()
        .case_insensitive(ignore_case)
        .build();
    let inside = parser
        .parse(pattern)
        .map_err(|error| no_expression(pattern, error))?;
    let whole = Hir::concat(vec![Hir::look(Look::Start), inside, Hir::look(Look::End)]);
    let mut builder = meta::Regex::builder();
    builder.configure(meta::Regex::config().nfa_size_limit(Some(SIZE_LIMIT)));
    builder
        .build_from_hir(&whole)
        .map_err(|error| no_expression(pattern, error))
}

/// Memory that a compiled expression may take, in bytes, as in the crate `regex`.
const SIZE_LIMIT: usize = 10 << 20;

fn no_expression(pattern: &str, error: impl std::fmt::Display) -> FeatureError {
    FeatureError::Regex {
        pattern: pattern.to_owned(),
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
