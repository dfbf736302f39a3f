//! [`Repeat`]: what was found once is a name wherever it stands nearby.

use super::cover::Cover;
use super::filters::probability;
use super::{covered, is_meant};
use crate::document::Annotation;
use crate::tokenize::Token;
use aho_corasick::AhoCorasick;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// Marks the exact string of an annotation again wherever it stands in the neighbourhood, which is the document
/// unless `within` says otherwise.
///
/// "The underlying assumption is that the string of a found entity will not be mentioned nearby with a different
/// meaning" (Klinger 2011). A repetition begins and ends at borders of tokens and overlaps no annotation; longer
/// strings come first. It has type, score and identifiers of the nearest annotation with its string. What was
/// added is not repeated again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Repeat {
    /// The types of annotations that are repeated; all, if there is none.
    pub types: Vec<String>,
    /// How far from an annotation it is repeated.
    pub within: Option<Distance>,
    /// Shorter strings are not repeated.
    pub min_length: usize,
    /// Annotations with a lower score are not repeated; those without a score are.
    #[serde(deserialize_with = "probability")]
    pub min_score: f64,
}

impl Default for Repeat {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            within: None,
            min_length: 2,
            min_score: 0.0,
        }
    }
}

/// How far apart two ranges of a text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// `{ tokens = 20 }`: from the last token of one to the first of the other; that of neighbours is 1.
    Tokens(usize),
    /// `{ characters = 100 }`: characters between them.
    Characters(usize),
}

impl Repeat {
    pub(super) fn apply(&self, text: &str, tokens: &[Token], annotations: &mut Vec<Annotation>) {
        let sources = self.sources(text, annotations);
        let Ok(search) = AhoCorasick::new(sources.iter().map(|source| source.string)) else {
            return;
        };
        let borders = Borders::new(tokens);
        let mut cover: Cover = annotations.iter().map(Annotation::range).collect();
        let mut candidates: Vec<(Range<usize>, usize)> = search
            .find_overlapping_iter(text)
            .map(|found| (found.range(), found.pattern().as_usize()))
            .filter(|(range, _)| borders.has(range) && !cover.overlaps(range))
            .collect();
        candidates.sort_by_key(|(range, _)| (std::cmp::Reverse(range.len()), range.start));
        for (range, string) in candidates {
            let Some(nearest) = sources[string].nearest(&range) else {
                continue;
            };
            let source = &annotations[nearest];
            if self.is_near(text, &borders, &source.range(), &range) && cover.claim(range.clone()) {
                let repetition = Annotation {
                    kind: source.kind.clone(),
                    fragments: vec![range],
                    score: source.score,
                    identifiers: source.identifiers.clone(),
                    ..Annotation::default()
                };
                annotations.push(repetition);
            }
        }
    }

    fn sources<'a>(&self, text: &'a str, annotations: &[Annotation]) -> Vec<Found<'a>> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut sources: Vec<Found<'a>> = Vec::new();
        for (at, annotation) in annotations.iter().enumerate() {
            let is_sure = annotation.score.is_none_or(|score| score >= self.min_score);
            let Some(string) = covered(text, annotation).filter(|_| annotation.fragments.len() == 1) else {
                continue;
            };
            if is_sure && is_meant(&self.types, annotation) && string.chars().count() >= self.min_length {
                let number = *numbers.entry(string).or_insert(sources.len());
                if number == sources.len() {
                    sources.push(Found {
                        string,
                        places: Vec::new(),
                    });
                }
                sources[number].places.push((annotation.range().start, at));
            }
        }
        for source in &mut sources {
            source.places.sort_unstable();
        }
        sources
    }

    fn is_near(&self, text: &str, borders: &Borders, one: &Range<usize>, other: &Range<usize>) -> bool {
        let (first, second) = if one.start < other.start {
            (one, other)
        } else {
            (other, one)
        };
        match self.within {
            None => true,
            Some(Distance::Tokens(most)) => {
                let distance = borders.token(second.start) - borders.token(first.end.saturating_sub(1));
                distance <= most
            }
            Some(Distance::Characters(most)) => text
                .get(first.end..second.start)
                .is_some_and(|between| between.chars().nth(most).is_none()),
        }
    }
}

/// A string that was found, with its places by start and number of the annotation.
struct Found<'a> {
    string: &'a str,
    places: Vec<(usize, usize)>,
}

impl Found<'_> {
    /// The nearest annotation; of two, the one before.
    fn nearest(&self, range: &Range<usize>) -> Option<usize> {
        let after = self.places.partition_point(|&(start, _)| start < range.start);
        let next = self.places.get(after);
        let previous = after.checked_sub(1).map(|before| &self.places[before]);
        let nearest = match (previous, next) {
            (Some(previous), Some(next)) if next.0 - range.start < range.start - previous.0 => next,
            (Some(previous), _) => previous,
            (None, next) => next?,
        };
        Some(nearest.1)
    }
}

struct Borders {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Borders {
    fn new(tokens: &[Token]) -> Self {
        let (mut starts, mut ends): (Vec<_>, Vec<_>) =
            tokens.iter().map(|token| (token.start, token.end)).unzip();
        starts.sort_unstable();
        ends.sort_unstable();
        Self { starts, ends }
    }

    fn has(&self, range: &Range<usize>) -> bool {
        self.starts.binary_search(&range.start).is_ok() && self.ends.binary_search(&range.end).is_ok()
    }

    /// The number of the token at a byte, from 1.
    fn token(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::postprocess::{Postprocessor, Step};
    use crate::tokenize::{Tokenizer, TokenizerProfile};
    use proptest::prelude::*;

    fn repeated(step: Repeat, text: &str, annotations: Vec<Annotation>) -> Vec<Annotation> {
        let tokens = Tokenizer::new(TokenizerProfile::Dash).tokenize(text);
        let mut document = Document::new("1", text);
        document.annotations = annotations;
        Postprocessor::new(vec![Step::Repeat(step)]).apply(&mut document, &tokens);
        assert_eq!(document.check(), Ok(()));
        document.annotations
    }

    fn starts(annotations: &[Annotation]) -> Vec<usize> {
        annotations
            .iter()
            .map(|annotation| annotation.range().start)
            .collect()
    }

    #[test]
    fn at_borders_of_tokens_only() {
        let text = "IL2 binds; IL2R, aIL2 and IL2-like and il2";
        let found = repeated(
            Repeat::default(),
            text,
            vec![Annotation::new(0..3, "GENE").with_score(0.7)],
        );
        assert_eq!(starts(&found), [0, 26]);
        assert_eq!((found[1].kind.as_str(), found[1].score), ("GENE", Some(0.7)));
    }

    #[test]
    fn longer_names_first_and_nothing_twice() {
        let text = "p53 gene, p53, p53 gene";
        let found = repeated(
            Repeat::default(),
            text,
            vec![Annotation::new(0..8, "A"), Annotation::new(10..13, "B")],
        );
        let ranges: Vec<_> = found
            .iter()
            .map(|annotation| (annotation.range(), annotation.kind.as_str()))
            .collect();
        assert_eq!(ranges, [(0..8, "A"), (10..13, "B"), (15..23, "A")]);
    }

    #[test]
    fn the_nearest_decides() {
        let text = "cat x x cat x cat x x x cat";
        let annotations = vec![
            Annotation::new(0..3, "A").with_score(0.9),
            Annotation::new(14..17, "B").with_score(0.4),
        ];
        let found = repeated(Repeat::default(), text, annotations);
        let kinds: Vec<&str> = found.iter().map(|annotation| annotation.kind.as_str()).collect();
        assert_eq!(kinds, ["A", "B", "B", "B"]);
        assert_eq!(found[1].score, Some(0.4));
    }

    #[test]
    fn distance_length_and_score() {
        let text = "cat x cat x x cat";
        let source = || vec![Annotation::new(0..3, "A").with_score(0.5)];
        let with = |toml: &str| starts(&repeated(toml::from_str(toml).unwrap(), text, source()));
        assert_eq!(with(""), [0, 6, 14]);
        assert_eq!(with("within = { tokens = 1 }"), [0]);
        assert_eq!(with("within = { tokens = 2 }"), [0, 6]);
        assert_eq!(with("within = { tokens = 5 }"), [0, 6, 14]);
        assert_eq!(with("within = { characters = 2 }"), [0]);
        assert_eq!(with("within = { characters = 3 }"), [0, 6]);
        assert_eq!(with("within = { characters = 11 }"), [0, 6, 14]);
        assert_eq!(with("min_length = 4"), [0]);
        assert_eq!(with("min_score = 0.6"), [0]);
        assert_eq!(with("types = ['B']"), [0]);
        assert!(toml::from_str::<Repeat>("min_score = 7").is_err());
    }

    proptest! {
        #[test]
        fn as_by_comparing_everything(
            words in prop::collection::vec("[ab]{1,2}", 1..14),
            marked in prop::collection::vec((0..14_usize, 1..3_usize), 0..4),
            within in 1..8_usize,
        ) {
            let text = words.join(" ");
            let tokens = Tokenizer::new(TokenizerProfile::Dash).tokenize(&text);
            let mut cover = Cover::default();
            let mut annotations = Vec::new();
            for (first, count) in marked {
                let first = first % tokens.len();
                let range = tokens[first].start..tokens[(first + count - 1).min(tokens.len() - 1)].end;
                if cover.claim(range.clone()) {
                    annotations.push(Annotation::new(range, "X"));
                }
            }
            let step = Repeat { within: Some(Distance::Tokens(within)), min_length: 1, ..Repeat::default() };
            let found = repeated(step, &text, annotations.clone());
            let number = |at: usize| tokens.iter().position(|token| token.start <= at && at < token.end).unwrap();
            let is_near = |range: &Range<usize>| annotations.iter().any(|source| {
                let (one, other) = (source.range(), range);
                let (first, second) = if one.start < other.start { (&one, other) } else { (other, &one) };
                text[one.clone()] == text[other.clone()] && number(second.start) - number(first.end - 1) <= within
            });
            let mut expected: Vec<Range<usize>> = annotations.iter().map(Annotation::range).collect();
            let mut candidates = Vec::new();
            for (first, one) in tokens.iter().enumerate() {
                candidates.extend(tokens[first..].iter().map(|last| one.start..last.end));
            }
            candidates.sort_by_key(|range| (std::cmp::Reverse(range.len()), range.start));
            for range in candidates {
                if !expected.iter().any(|other| other.start < range.end && range.start < other.end) && is_near(&range) {
                    expected.push(range);
                }
            }
            expected.sort_by_key(|range| range.start);
            prop_assert_eq!(found.iter().map(Annotation::range).collect::<Vec<_>>(), expected);
        }
    }
}
