//! [`Replacements`]: a table of one's own.

use super::rewriter::Rewriter;
use super::table::{Table, ends_word, starts_word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What to replace, as in a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReplacementOptions {
    /// What is written, and what it becomes; nothing, if that is empty.
    pub pairs: BTreeMap<String, String>,
    /// Whether only whole words are meant, not parts of longer ones.
    #[serde(default = "whole_words")]
    pub words: bool,
    /// Whether ASCII letters are the same in either case. The replacement is written as it is.
    #[serde(default)]
    pub ignore_case: bool,
}

fn whole_words() -> bool {
    true
}

/// A table of replacements, checked and compiled: misspellings, errors of text recognition, synonyms.
///
/// The text is searched from left to right; where several entries match, the longest does. Replaced text is not
/// searched again.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ReplacementOptions", into = "ReplacementOptions")]
pub struct Replacements {
    options: ReplacementOptions,
    values: Vec<String>,
    table: Table,
}

/// A table that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplacementError {
    /// An entry for the empty text.
    #[error("there is a replacement `{0}` for nothing; say what it replaces")]
    Empty(String),
    /// Too many entries.
    #[error("the table of replacements is too large: {0}")]
    Size(String),
}

impl Replacements {
    /// Checks and compiles a table.
    pub fn new(options: ReplacementOptions) -> Result<Self, ReplacementError> {
        if let Some(value) = options.pairs.get("") {
            return Err(ReplacementError::Empty(value.clone()));
        }
        let words = options.pairs.keys().map(String::as_str);
        let table = Table::new(words, options.ignore_case)
            .map_err(|error| ReplacementError::Size(error.to_string()))?;
        Ok(Self {
            values: options.pairs.values().cloned().collect(),
            options,
            table,
        })
    }

    /// The options that it was made with.
    pub fn options(&self) -> &ReplacementOptions {
        &self.options
    }

    pub(super) fn rewrite(&self, text: &mut Rewriter<'_>) {
        let source = text.source();
        self.table.search(
            source,
            |_, range| !self.options.words || starts_word(source, range) && ends_word(source, range),
            |entry, range| text.replace(range, &self.values[entry]),
        );
    }
}

/// Two tables are the same if their options are.
impl PartialEq for Replacements {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Eq for Replacements {}

impl TryFrom<ReplacementOptions> for Replacements {
    type Error = ReplacementError;

    fn try_from(options: ReplacementOptions) -> Result<Self, ReplacementError> {
        Self::new(options)
    }
}

impl From<Replacements> for ReplacementOptions {
    fn from(table: Replacements) -> Self {
        table.options
    }
}
