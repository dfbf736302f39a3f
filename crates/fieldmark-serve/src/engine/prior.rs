//! [`Prior`]: what lists of names and expressions suggest before there is a model.

use super::corpus::Text;
use crate::project::{Error, Settings};
use fieldmark::text::Source;
use fieldmark::text::dictionaries::{Dictionary, DictionaryOptions};
use fieldmark::text::tokenize::Token;
use regex::Regex;
use std::ops::Range;

/// Lists of names and expressions, each with its type.
#[derive(Debug, Default)]
pub(super) struct Prior {
    lists: Vec<(String, Dictionary)>,
    patterns: Vec<(String, Regex)>,
}

/// A span that a list or an expression found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Tokens of the document.
    pub tokens: Range<usize>,
    pub kind: String,
    /// `dictionary` or `pattern`.
    pub origin: &'static str,
}

impl Prior {
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let lists = settings.dictionaries.iter().map(|(kind, names)| {
            let source = Source::text(format!("the names of {kind}"), names);
            let dictionary = Dictionary::read(&source, DictionaryOptions::default())?;
            Ok((kind.clone(), dictionary))
        });
        let patterns = settings.patterns.iter().map(|(kind, pattern)| {
            let regex = Regex::new(pattern);
            let regex = regex.map_err(|error| {
                Error::refused(format_args!(
                    "the pattern of {kind}, {pattern:?}, is not a regular expression: {error}"
                ))
            })?;
            Ok((kind.clone(), regex))
        });
        Ok(Self {
            lists: lists.collect::<Result<_, Error>>()?,
            patterns: patterns.collect::<Result<_, Error>>()?,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.patterns.is_empty()
    }

    /// What is found in a sentence: lists before expressions, the longest first, none over another.
    pub fn find(&self, text: &Text, sentence: Range<usize>) -> Vec<Found> {
        let tokens: Vec<Token> = sentence.clone().map(|at| token(text, at)).collect();
        let mut found: Vec<(usize, Found)> = Vec::new();
        for (kind, list) in &self.lists {
            list.for_each_match(&text.text, &tokens, |range, _| {
                let one = Found {
                    tokens: sentence.start + range.start..sentence.start + range.end,
                    kind: kind.clone(),
                    origin: "dictionary",
                };
                found.push((0, one));
            });
        }
        let bytes = text.bytes_of(sentence.clone());
        for (kind, pattern) in &self.patterns {
            for hit in pattern
                .find_iter(&text.text[bytes.clone()])
                .filter(|hit| !hit.is_empty())
            {
                let hit = bytes.start + hit.start()..bytes.start + hit.end();
                found.extend(snapped(text, &sentence, hit).map(|tokens| {
                    let kind = kind.clone();
                    (
                        1,
                        Found {
                            tokens,
                            kind,
                            origin: "pattern",
                        },
                    )
                }));
            }
        }
        found.sort_by_key(|(rank, one)| (*rank, usize::MAX - one.tokens.len(), one.tokens.start));
        let mut kept: Vec<Found> = Vec::new();
        for (_, one) in found {
            let apart =
                |other: &Found| one.tokens.end <= other.tokens.start || other.tokens.end <= one.tokens.start;
            if kept.iter().all(apart) {
                kept.push(one);
            }
        }
        kept.sort_by_key(|one| one.tokens.start);
        kept
    }
}

fn token(text: &Text, at: usize) -> Token {
    let bytes = text.bytes(at);
    let open = |c: Option<char>| c.is_none_or(char::is_whitespace);
    Token {
        start: bytes.start,
        end: bytes.end,
        space_before: open(text.text[..bytes.start].chars().next_back()),
        space_after: open(text.text[bytes.end..].chars().next()),
    }
}

/// The tokens of a sentence that bytes touch.
fn snapped(text: &Text, sentence: &Range<usize>, bytes: Range<usize>) -> Option<Range<usize>> {
    let touched = |at: &usize| {
        let token = text.bytes(*at);
        token.start < bytes.end && bytes.start < token.end
    };
    let first = sentence.clone().find(touched)?;
    let last = sentence.clone().rev().find(touched)?;
    Some(first..last + 1)
}
