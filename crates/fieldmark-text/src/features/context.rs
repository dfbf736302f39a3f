//! Facts that depend on more than the token: its neighbours, its place, columns and lists.

use super::FeatureError;
use super::config::{Bag, BagContent, Extent, FeatureConfig, Position, RegexTarget};
use super::extraction::Sequence;
use super::extractor::distinct;
use super::lists::{Above, Names, Polarities};
use super::normal::Preprocessor;
use super::resources::Resources;
use crate::dictionaries::{Beginning, Dictionary, DictionaryOptions};
use crate::normalize::Stemmer;
use fieldmark_core::name_hash;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// What an entry says about the tokens of a sequence.
#[derive(Debug)]
pub(super) enum Context {
    Position(Position),
    Bag {
        bag: Bag,
        stemmer: Stemmer,
        concepts: Option<Dictionary>,
    },
    Names(Names),
    Above(Above),
    Polarities(Polarities),
    Regex(regex::Regex),
    /// The number of the column in the sequence.
    Column(usize),
}

impl Context {
    /// The entry, or `None` if it needs only the token. New columns are added to `columns`.
    pub fn new(
        config: &FeatureConfig,
        resources: &Resources,
        preprocessor: &Preprocessor,
        columns: &mut Vec<String>,
    ) -> Result<Option<Self>, FeatureError> {
        let mut column = |name: String| {
            let found = columns.iter().position(|column| *column == name);
            Self::Column(found.unwrap_or_else(|| {
                columns.push(name);
                columns.len() - 1
            }))
        };
        Ok(Some(match config {
            FeatureConfig::Position(position) => Self::Position(Position {
                parts: distinct(&position.parts),
                ..position.clone()
            }),
            FeatureConfig::Bag(bag) => {
                let options = DictionaryOptions {
                    ignore_case: true,
                    ..DictionaryOptions::default()
                };
                let file = bag
                    .concepts
                    .as_ref()
                    .map(|file| resources.file(file))
                    .transpose()?;
                let concepts = file.map(|file| Dictionary::read(&file, options)).transpose()?;
                let concepts = concepts
                    .map(|concepts| preprocessor.normalize(concepts))
                    .transpose()?;
                Self::Bag {
                    bag: bag.clone(),
                    stemmer: Stemmer::new(bag.language),
                    concepts,
                }
            }
            FeatureConfig::Dictionary(list) => {
                Self::Names(Names::new(&config.name(), list, resources, preprocessor)?)
            }
            FeatureConfig::Ancestors(ancestors) => {
                Self::Above(Above::new(ancestors, resources, preprocessor)?)
            }
            FeatureConfig::Polarity(polarity) => Self::Polarities(Polarities::new(polarity, resources)?),
            FeatureConfig::Regex(regex) if regex.on == RegexTarget::Text => {
                Self::Regex(super::compile(&regex.pattern, regex.ignore_case)?)
            }
            FeatureConfig::Column(entry) => column(entry.column.clone()),
            FeatureConfig::Model(_) => column(config.name()),
            _ => return Ok(None),
        }))
    }

    /// Adds the facts about every token of a sequence; `numbers` tells equal tokens.
    pub fn facts(&self, name: &str, sequence: &Sequence<'_>, numbers: &[u32], facts: &mut Facts) {
        let tokens = sequence.tokens.len();
        match self {
            Self::Position(position) => {
                let (first, total) = match position.of {
                    Extent::Sentence => (0, tokens),
                    Extent::Document => sequence.place,
                };
                for token in first..first + tokens {
                    for &parts in &position.parts {
                        let part = token as u128 * parts as u128 / total.max(1) as u128 + 1;
                        facts.say(1.0, format_args!("{name}/{parts}={}", part.min(parts as u128)));
                    }
                    if token < position.edges {
                        facts.say(1.0, format_args!("{name}+{token}"));
                    }
                    if total.saturating_sub(token) <= position.edges {
                        facts.say(1.0, format_args!("{name}-{}", total.saturating_sub(token)));
                    }
                    facts.end_token();
                }
            }
            Self::Bag {
                bag,
                stemmer,
                concepts,
            } => {
                let words = bag_words(bag, stemmer, concepts.as_ref(), sequence);
                let mut near: Vec<&str> = Vec::new();
                for token in 0..tokens {
                    near.clear();
                    let window = token.saturating_sub(bag.window)..(token + bag.window + 1).min(tokens);
                    near.extend(words[window].iter().flatten().map(String::as_str));
                    near.sort_unstable();
                    for same in near.chunk_by(|left, right| left == right) {
                        facts.say(same.len() as f32, format_args!("{name}={}", Solid(same[0])));
                    }
                    facts.end_token();
                }
            }
            Self::Names(names) => names.facts(sequence, numbers, facts),
            Self::Above(above) => above.facts(name, sequence, facts),
            Self::Polarities(polarities) => polarities.facts(name, sequence, facts),
            Self::Regex(regex) => {
                let covered = covered(regex, sequence);
                for covered in covered {
                    if covered {
                        facts.say(1.0, format_args!("{name}"));
                    }
                    facts.end_token();
                }
            }
            Self::Column(column) => {
                let values = sequence.columns.get(*column);
                for token in 0..tokens {
                    if let Some(value) = values.and_then(|values| values.get(token)) {
                        facts.say(1.0, format_args!("{name}={}", Solid(value)));
                    }
                    facts.end_token();
                }
            }
        }
    }
}

/// What each token puts into a bag: itself, or all concepts of a name that begins with it.
fn bag_words(
    bag: &Bag,
    stemmer: &Stemmer,
    concepts: Option<&Dictionary>,
    sequence: &Sequence<'_>,
) -> Vec<Vec<String>> {
    let word = |word: Cow<'_, str>| match bag.of {
        BagContent::Word => vec![word.into_owned()],
        BagContent::Lower => vec![word.to_lowercase()],
        BagContent::Stem => vec![stemmer.stem(&word.to_lowercase()).into_owned()],
        BagContent::Concept => Vec::new(),
    };
    let mut words: Vec<Vec<String>> = sequence.words().map(word).collect();
    if let Some(concepts) = concepts {
        concepts.for_each_match(sequence.text, sequence.tokens, |range, found| {
            words[range.clone()].fill(Vec::new());
            let mut all: Vec<String> = concepts.identifiers(found).map(str::to_owned).collect();
            if all.is_empty() {
                all.extend(concepts.names(found).next().map(str::to_owned));
            }
            all.sort_unstable();
            all.dedup();
            words[range.start] = all;
        });
    }
    words
}

/// The tokens that some match touches.
fn covered(regex: &regex::Regex, sequence: &Sequence<'_>) -> Vec<bool> {
    let tokens = sequence.tokens;
    let mut covered = vec![false; tokens.len()];
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return covered;
    };
    let text = &sequence.text[first.start..last.end];
    for found in regex.find_iter(text).filter(|found| !found.is_empty()) {
        let (start, end) = (found.start() + first.start, found.end() + first.start);
        let from = tokens.partition_point(|token| token.end <= start);
        tokens[from..]
            .iter()
            .zip(&mut covered[from..])
            .take_while(|(token, _)| token.start < end)
            .for_each(|(_, covered)| *covered = true);
    }
    covered
}

/// Text without white space, which separates the parts of a conjunction.
pub(super) struct Solid<'a>(pub &'a str);

impl std::fmt::Display for Solid<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.0.contains(char::is_whitespace) {
            return f.write_str(self.0);
        }
        self.0
            .chars()
            .try_for_each(|c| f.write_char(if c.is_whitespace() { '_' } else { c }))
    }
}

/// A fact that is always written alike, and the hash of its text.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    text: String,
    hash: u64,
}

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        let hash = name_hash::base(&text);
        Self { text, hash }
    }
}

/// A fact about a token of the sequence at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    /// The hash of its text.
    pub hash: u64,
    /// Its value.
    pub value: f32,
    /// Where its text ends.
    end: u32,
}

/// The facts of one entry about the tokens of a sequence.
#[derive(Debug, Default)]
pub(super) struct Facts {
    text: String,
    facts: Vec<Fact>,
    ends: Vec<u32>,
    /// For distinct tokens by number, how names of the entry's dictionary begin with them; kept from sequence to
    /// sequence.
    beginnings: Vec<Option<Beginning>>,
}

impl Facts {
    pub fn clear(&mut self) {
        self.text.clear();
        self.facts.clear();
        self.ends.clear();
    }

    /// Forgets what it knows about distinct tokens.
    pub fn forget(&mut self) {
        self.beginnings.clear();
    }

    /// How names begin with the token of a number.
    #[inline]
    pub fn beginning<'t>(
        &mut self,
        number: u32,
        names: &Dictionary,
        token: impl Fn() -> &'t str,
    ) -> Beginning {
        let at = number as usize;
        if at >= self.beginnings.len() {
            self.beginnings.resize(at + 1, None);
        }
        *self.beginnings[at].get_or_insert_with(|| names.beginning(token()))
    }

    /// A fact about the open token.
    pub fn say(&mut self, value: f32, fact: std::fmt::Arguments<'_>) {
        let start = self.text.len();
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(fact);
        self.facts.push(Fact {
            hash: name_hash::base(&self.text[start..]),
            value,
            end: self.text.len() as u32,
        });
    }

    /// A fact about the open token that needs no writing and hashing.
    #[inline]
    pub fn repeat(&mut self, phrase: &Phrase) {
        self.text.push_str(&phrase.text);
        self.facts.push(Fact {
            hash: phrase.hash,
            value: 1.0,
            end: self.text.len() as u32,
        });
    }

    pub fn end_token(&mut self) {
        self.ends.push(self.facts.len() as u32);
    }

    /// The facts about a token, by number.
    #[inline]
    pub fn of(&self, token: usize) -> Range<usize> {
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[token] as usize
    }

    #[inline]
    pub fn get(&self, fact: usize) -> Fact {
        self.facts[fact]
    }

    pub fn text(&self, fact: usize) -> &str {
        let start = fact.checked_sub(1).map_or(0, |before| self.facts[before].end);
        &self.text[start as usize..self.facts[fact].end as usize]
    }
}
