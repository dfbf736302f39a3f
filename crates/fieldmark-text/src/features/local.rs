//! Facts that depend on nothing but the token itself: they are computed once for each distinct token.

use super::FeatureError;
use super::config::{FeatureConfig, RegexTarget, ShapeStyle};
use super::context::Solid;
use super::extractor::distinct;
use super::patterns::{self, Pattern};
use super::resources::Resources;
use crate::dictionaries::WordClasses;
use crate::normalize::Stemmer;
use std::fmt::Write;

/// Longer tokens have no n-grams.
const LONGEST_CUT: usize = 10_000;

/// A token as the extractor sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form<'a> {
    /// Its characters, normalised.
    pub text: &'a str,
    /// In small letters.
    pub lower: &'a str,
    /// White space before and after it.
    pub space: (bool, bool),
}

/// What an entry says about a token.
#[derive(Debug)]
pub(super) enum Local {
    Always,
    Word {
        lower: bool,
    },
    Stem(Stemmer),
    Prefix {
        lengths: Vec<usize>,
        lower: bool,
    },
    Suffix {
        lengths: Vec<usize>,
        lower: bool,
    },
    Shape {
        style: ShapeStyle,
        brief: bool,
    },
    Capitalisation,
    Patterns(Vec<Pattern>),
    Regex(regex_automata::meta::Regex),
    Ngrams {
        lengths: Vec<usize>,
        lower: bool,
        ends: bool,
    },
    Space,
    Class {
        classes: WordClasses,
        prefixes: Vec<usize>,
    },
}

impl Local {
    /// The entry, or `None` if it needs more than the token.
    pub fn new(config: &FeatureConfig, resources: &Resources) -> Result<Option<Self>, FeatureError> {
        Ok(Some(match config {
            FeatureConfig::Bias(_) => Self::Always,
            FeatureConfig::Word(word) => Self::Word { lower: word.lower },
            FeatureConfig::Stem(stem) => Self::Stem(Stemmer::new(stem.language)),
            FeatureConfig::Prefix(affix) => Self::Prefix {
                lengths: distinct(&affix.lengths),
                lower: affix.lower,
            },
            FeatureConfig::Suffix(affix) => Self::Suffix {
                lengths: distinct(&affix.lengths),
                lower: affix.lower,
            },
            FeatureConfig::Shape(shape) => Self::Shape {
                style: shape.style,
                brief: shape.brief,
            },
            FeatureConfig::Capitalisation(_) => Self::Capitalisation,
            FeatureConfig::Pattern(patterns) => {
                let mut wanted = patterns.only.clone().unwrap_or_else(|| Pattern::ALL.to_vec());
                wanted.sort_unstable();
                Self::Patterns(wanted)
            }
            FeatureConfig::Regex(regex) if regex.on == RegexTarget::Token => {
                Self::Regex(super::compile_whole(&regex.pattern, regex.ignore_case)?)
            }
            FeatureConfig::Ngrams(ngrams) => Self::Ngrams {
                lengths: distinct(&ngrams.lengths),
                lower: ngrams.lower,
                ends: ngrams.ends,
            },
            FeatureConfig::Space(_) => Self::Space,
            FeatureConfig::Class(class) => Self::Class {
                classes: WordClasses::read(&resources.file(&class.file)?, class.format)?,
                prefixes: distinct(&class.prefixes),
            },
            _ => return Ok(None),
        }))
    }

    /// Calls `emit` with the text of each fact about a token. `name` is that of the entry; `buffer` is reused.
    pub fn facts(&self, name: &str, token: &Form<'_>, buffer: &mut String, emit: &mut dyn FnMut(&str)) {
        let written = |lower: bool| if lower { token.lower } else { token.text };
        let mut say = |fact: std::fmt::Arguments<'_>| {
            buffer.clear();
            // Writing to a string cannot fail.
            let _ = buffer.write_fmt(fact);
            emit(buffer);
        };
        match self {
            Self::Always => say(format_args!("{name}")),
            Self::Word { lower } => say(format_args!("{name}={}", written(*lower))),
            Self::Stem(stemmer) => say(format_args!("{name}={}", stemmer.stem(token.lower))),
            Self::Prefix { lengths, lower } => {
                let text = written(*lower);
                for &length in lengths {
                    // A prefix is shorter than the token.
                    if let Some((end, _)) = text.char_indices().nth(length).filter(|_| length > 0) {
                        say(format_args!("{name}{length}={}", &text[..end]));
                    }
                }
            }
            Self::Suffix { lengths, lower } => {
                let text = written(*lower);
                for &length in lengths.iter().filter(|&&length| length > 0) {
                    let start = text
                        .char_indices()
                        .rev()
                        .nth(length - 1)
                        .map_or(0, |(start, _)| start);
                    if start > 0 {
                        say(format_args!("{name}{length}={}", &text[start..]));
                    }
                }
            }
            Self::Shape { style, brief } => say(format_args!(
                "{name}={}",
                Classes {
                    text: token.text,
                    style: *style,
                    brief: *brief
                }
            )),
            Self::Capitalisation => say(format_args!("{name}={}", capitalisation(token.text))),
            Self::Patterns(wanted) => patterns::for_each(token.text, |pattern| {
                if wanted.binary_search(&pattern).is_ok() {
                    say(format_args!("{}", pattern.name()));
                }
            }),
            Self::Regex(regex) => {
                if regex.is_match(token.text) {
                    say(format_args!("{name}"));
                }
            }
            Self::Ngrams { lengths, lower, ends } if token.text.len() <= LONGEST_CUT => {
                let mut whole = String::new();
                let text = if *ends {
                    let _ = write!(whole, "^{}$", written(*lower));
                    &whole
                } else {
                    written(*lower)
                };
                let borders: Vec<usize> = text
                    .char_indices()
                    .map(|(at, _)| at)
                    .chain([text.len()])
                    .collect();
                for &length in lengths.iter().filter(|&&length| length > 0) {
                    for (start, end) in borders.iter().zip(borders.iter().skip(length)) {
                        say(format_args!("{name}{length}={}", &text[*start..*end]));
                    }
                }
            }
            Self::Ngrams { .. } => {}
            Self::Space => {
                if token.space.0 {
                    say(format_args!("{name}_LEFT"));
                }
                if token.space.1 {
                    say(format_args!("{name}_RIGHT"));
                }
            }
            Self::Class { classes, prefixes } => {
                for class in classes.classes(token.text) {
                    say(format_args!("{name}={}", Solid(class)));
                }
                for &length in prefixes {
                    for class in classes.prefixes(token.text, length) {
                        say(format_args!("{name}{length}={}", Solid(class)));
                    }
                }
            }
        }
    }

    /// Whether facts depend on white space around the token.
    pub fn sees_space(&self) -> bool {
        matches!(self, Self::Space)
    }
}

/// The class of a character: capital, other letter, digit, or itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Other(char),
}

impl Class {
    fn of(c: char) -> Self {
        if c.is_uppercase() {
            Class::Upper
        } else if c.is_alphabetic() {
            Class::Lower
        } else if c.is_numeric() {
            Class::Digit
        } else {
            Class::Other(c)
        }
    }
}

/// The shape of a word, as it is written.
pub(super) struct Classes<'a> {
    pub text: &'a str,
    pub style: ShapeStyle,
    pub brief: bool,
}

impl std::fmt::Display for Classes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut last = None;
        for class in self.text.chars().map(Class::of) {
            if self.brief && last == Some(class) {
                continue;
            }
            last = Some(class);
            match (class, self.style) {
                (Class::Upper, ShapeStyle::Letters) => f.write_char('A')?,
                (Class::Lower, ShapeStyle::Letters) => f.write_char('a')?,
                (Class::Digit, ShapeStyle::Letters) => f.write_char('0')?,
                (Class::Upper, ShapeStyle::Classes) => f.write_str("[A-Z]")?,
                (Class::Lower, ShapeStyle::Classes) => f.write_str("[a-z]")?,
                (Class::Digit, ShapeStyle::Classes) => f.write_str("[0-9]")?,
                (Class::Other(c), _) => f.write_char(c)?,
            }
            if self.brief && self.style == ShapeStyle::Classes && !matches!(class, Class::Other(_)) {
                f.write_char('+')?;
            }
        }
        Ok(())
    }
}

/// The capitals of a word, all its letters seen together.
fn capitalisation(text: &str) -> &'static str {
    let mut letters = text.chars().filter(|c| c.is_alphabetic()).map(char::is_uppercase);
    let Some(first) = letters.next() else {
        return "none";
    };
    let (mut upper, mut lower) = (0, 0);
    for capital in letters {
        if capital { upper += 1 } else { lower += 1 }
    }
    match (first, upper, lower) {
        (true, _, 0) => "upper",
        (false, 0, _) => "lower",
        (true, 0, _) => "title",
        _ => "mixed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str, style: ShapeStyle, brief: bool) -> String {
        Classes { text, style, brief }.to_string()
    }

    /// Word class and brief word class of "Htr1b" (Klinger 2011, section 2.5).
    #[test]
    fn word_classes_of_htr1b() {
        assert_eq!(
            shape("Htr1b", ShapeStyle::Classes, false),
            "[A-Z][a-z][a-z][0-9][a-z]"
        );
        assert_eq!(
            shape("Htr1b", ShapeStyle::Classes, true),
            "[A-Z]+[a-z]+[0-9]+[a-z]+"
        );
        assert_eq!(shape("Htr1b", ShapeStyle::Letters, false), "Aaa0a");
        assert_eq!(shape("IL-12", ShapeStyle::Letters, true), "A-0");
        assert_eq!(shape("a--b", ShapeStyle::Classes, true), "[a-z]+-[a-z]+");
    }

    #[test]
    fn capitalisation_of_the_radiology_set() {
        for (word, expected) in [
            ("RX", "upper"),
            ("A", "upper"),
            ("lung", "lower"),
            ("Left", "title"),
            ("mRNA", "mixed"),
            ("McCain", "mixed"),
            ("40", "none"),
            ("4th", "lower"),
        ] {
            assert_eq!(capitalisation(word), expected, "{word}");
        }
    }
}
