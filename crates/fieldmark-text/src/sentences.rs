//! Text to sentences, as byte ranges.
//!
//! A [`SentenceSplitter`] decides by rules, takes lines as they are, or leaves a text whole. The rules look at
//! one gap of white space at a time. There, a sentence ends
//!
//! - at a blank line, and at a line break that was meant as one: after a heading, between the rows of a table or
//!   the items of a list, after a line that had room for the next word;
//! - after `!`, `?` and `…`, unless a small letter follows;
//! - after a point that is not part of an abbreviation, an initial, an ordinal or a number of an enumeration.
//!
//! Quotes, brackets and citation numbers that close after the stop belong to the sentence: `(Yes.)`, `“No.”`,
//! `shown.[12]`. A colon or semicolon ends nothing. Chinese and Japanese stops end a sentence without white
//! space. There is no border inside a word, so `2.5` and `example.org` need no rule.
//!
//! ```
//! use fieldmark_text::sentences::SentenceSplitter;
//! let text = "E. coli grew at 37.5 °C (cf. Fig. 2). Smith et al. saw it, too.";
//! let found: Vec<&str> = SentenceSplitter::default().split(text).into_iter().map(|range| &text[range]).collect();
//! assert_eq!(found, ["E. coli grew at 37.5 °C (cf. Fig. 2).", "Smith et al. saw it, too."]);
//! ```

mod abbreviations;
mod lines;
mod points;
mod words;

use abbreviations::Abbreviations;
use lines::Layout;
use points::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use words::Words;

/// How to split: part of a config and of a model.
///
/// ```toml
/// [sentences]
/// mode = "rules"
/// languages = ["english", "german"]
/// abbreviations = ["Kontr.", "o. B."]
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SentenceOptions {
    /// Where sentences end.
    pub mode: SentenceMode,
    /// Whose abbreviations to know. With none, only those of `abbreviations` are known.
    pub languages: Vec<SentenceLanguage>,
    /// More abbreviations, with or without their final point, in small or capital letters. A point after one
    /// of them never ends a sentence.
    pub abbreviations: Vec<String>,
}

impl Default for SentenceOptions {
    fn default() -> Self {
        Self {
            mode: SentenceMode::Rules,
            languages: vec![SentenceLanguage::English],
            abbreviations: Vec::new(),
        }
    }
}

/// Where sentences end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SentenceMode {
    /// `rules`: where the [rules](self) say so.
    #[default]
    Rules,
    /// `lines`: at line breaks, and nowhere else.
    Lines,
    /// `none`: nowhere. The whole text is one sentence.
    None,
}

/// A language whose abbreviations are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SentenceLanguage {
    /// `english`, with those of biology and medicine.
    English,
    /// `german`, likewise; a number with a point before a noun is an ordinal (`am 3. Mai`).
    German,
}

/// Finds the sentences of texts. It never changes, and threads can share it.
#[derive(Clone, Debug)]
pub struct SentenceSplitter {
    options: SentenceOptions,
    abbreviations: Abbreviations,
}

impl Default for SentenceSplitter {
    fn default() -> Self {
        Self::new(SentenceOptions::default())
    }
}

impl SentenceSplitter {
    /// A splitter with these options.
    pub fn new(options: SentenceOptions) -> Self {
        Self {
            abbreviations: Abbreviations::new(&options.languages, &options.abbreviations),
            options,
        }
    }

    /// The options that it was made with.
    pub fn options(&self) -> &SentenceOptions {
        &self.options
    }

    /// The sentences of a text, in order, without outer white space. None is empty, and together they have
    /// every character that is not white space.
    pub fn split(&self, text: &str) -> Vec<Range<usize>> {
        match self.options.mode {
            SentenceMode::Rules => self.by_rules(text),
            SentenceMode::Lines => {
                let lines = text.split_inclusive('\n').scan(0, |end, line| {
                    *end += line.len();
                    Some(*end - line.len()..*end)
                });
                lines.filter_map(|line| trimmed(text, line)).collect()
            }
            SentenceMode::None => trimmed(text, 0..text.len()).into_iter().collect(),
        }
    }

    fn by_rules(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut words = Words::new(text);
        let Some(mut left) = words.next() else {
            return found;
        };
        let mut layout = Layout::new(text);
        let mut start = left.start;
        let mut context = Context::default();
        for right in words {
            let ends = layout.breaks(left.end..right.start)
                || points::end(
                    &self.abbreviations,
                    &context,
                    &text[left.clone()],
                    &text[right.clone()],
                );
            if ends {
                found.push(start..left.end);
                start = right.start;
                context = Context::default();
            } else {
                context.pass(&text[left]);
            }
            left = right;
        }
        found.push(start..left.end);
        found
    }
}

/// The range without white space at its ends, unless it is blank.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = start + part.trim().len();
    (start < end).then_some(start..end)
}

#[cfg(test)]
mod tests;
