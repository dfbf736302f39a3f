//! [`Brackets`]: brackets and quotation marks whose partners the model has missed.
//!
//! A model sees little context, and often finds one bracket of two: Klinger (2011, Table 5.2) repairs that after
//! the fact.

use super::rebound;
use crate::document::Annotation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// Completes or removes brackets and quotation marks that have no partner in their annotation.
///
/// As long as one of these helps, the first that does is done:
///
/// 1. a lone bracket at the end is removed: `anti-IIa)` is `anti-IIa`, `plant homeodomain (` is `plant homeodomain`;
/// 2. if a bracket lacks its closing one, which comes directly after the annotation, that is added:
///    `Y15172 (surf-5` is `Y15172 (surf-5)`;
/// 3. if a bracket lacks its opening one, which comes directly before, that is added: `dG-dC)7 segment` is
///    `(dG-dC)7 segment`;
/// 4. a lone bracket at the beginning is removed.
///
/// Double quotation marks are treated in the same way. A single one may be an apostrophe or a prime, and counts
/// only if its partner is at the other edge, or white space before it at the end. Annotations of which nothing is
/// left are dropped; those with gaps stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Brackets {
    /// The types of annotations that are repaired; all, if there is none.
    pub types: Vec<String>,
    /// Whether quotation marks are repaired as well.
    pub quotes: bool,
}

impl Default for Brackets {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            quotes: true,
        }
    }
}

impl Brackets {
    pub(super) fn apply(&self, text: &str, annotations: &mut Vec<Annotation>) {
        rebound(text, &self.types, annotations, |range| {
            Repair::new(text, range, self.quotes).finish()
        });
    }
}

const PAIRS: [(char, char); 8] = [
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('（', '）'),
    ('［', '］'),
    ('｛', '｝'),
    ('⟨', '⟩'),
    ('【', '】'),
];

/// A bracket: where it is, and which pair of the table it belongs to.
type Lone = (usize, usize);

/// A range under repair, with what is unpaired in it.
struct Repair<'a> {
    text: &'a str,
    range: Range<usize>,
    openings: VecDeque<Lone>,
    closings: VecDeque<Lone>,
    quotes: bool,
    /// Whether the number of double quotation marks is odd.
    odd: bool,
}

impl<'a> Repair<'a> {
    fn new(text: &'a str, range: Range<usize>, quotes: bool) -> Self {
        let inside = &text[range.clone()];
        let mut open: [Vec<usize>; PAIRS.len()] = Default::default();
        let mut closings = VecDeque::new();
        for (at, c) in inside.char_indices() {
            let place = range.start + at;
            if let Some(pair) = opening(c) {
                open[pair].push(place);
            } else if let Some(pair) = closing(c)
                && open[pair].pop().is_none()
            {
                closings.push_back((place, pair));
            }
        }
        let mut openings: Vec<Lone> = open
            .iter()
            .enumerate()
            .flat_map(|(pair, places)| places.iter().map(move |&place| (place, pair)))
            .collect();
        openings.sort_unstable();
        Self {
            text,
            odd: inside.matches(is_double).count() % 2 == 1,
            range,
            openings: openings.into(),
            closings,
            quotes,
        }
    }

    fn finish(mut self) -> Range<usize> {
        while self.range.start < self.range.end
            && (self.cut_end() || self.add_after() || self.add_before() || self.cut_start())
        {}
        self.range
    }

    fn inside(&self) -> &'a str {
        &self.text[self.range.clone()]
    }

    fn before(&self) -> Option<char> {
        self.text[..self.range.start].chars().next_back()
    }

    fn after(&self) -> Option<char> {
        self.text[self.range.end..].chars().next()
    }

    fn cut_end(&mut self) -> bool {
        let Some(last) = self.inside().chars().next_back() else {
            return false;
        };
        let at = self.range.end - last.len_utf8();
        let is_bracket = pop_back_at(&mut self.openings, at) || pop_back_at(&mut self.closings, at);
        if !(is_bracket || self.quotes && self.ends_with_lone_quote(last, at)) {
            return false;
        }
        self.odd ^= is_double(last);
        self.range.end = self.range.start + self.text[self.range.start..at].trim_end().len();
        true
    }

    fn ends_with_lone_quote(&self, last: char, at: usize) -> bool {
        if is_double(last) {
            return self.odd;
        }
        let rest = &self.text[self.range.start..at];
        let follows_space = rest.chars().next_back().is_some_and(char::is_whitespace);
        is_single(last) && (follows_space || self.single_before() && !rest.starts_with(is_single))
    }

    /// Whether a single quotation mark is directly before the range that is no part of a word.
    fn single_before(&self) -> bool {
        let mut before = self.text[..self.range.start].chars();
        before.next_back().is_some_and(is_single) && !before.next_back().is_some_and(char::is_alphanumeric)
    }

    fn add_after(&mut self) -> bool {
        let Some(next) = self.after() else { return false };
        let closes =
            closing(next).is_some_and(|pair| self.openings.back().is_some_and(|lone| lone.1 == pair));
        if closes {
            self.openings.pop_back();
        } else if !(self.quotes && self.lacks_quote_after(next)) {
            return false;
        }
        self.odd ^= is_double(next);
        self.range.end += next.len_utf8();
        true
    }

    fn lacks_quote_after(&self, next: char) -> bool {
        if is_double(next) {
            return self.odd;
        }
        let inside = self.inside();
        let is_word = self.before().is_some_and(char::is_alphanumeric);
        is_single(next) && inside.starts_with(is_single) && inside.matches(is_single).count() == 1 && !is_word
    }

    fn add_before(&mut self) -> bool {
        let Some(previous) = self.before() else {
            return false;
        };
        let opens =
            opening(previous).is_some_and(|pair| self.closings.front().is_some_and(|lone| lone.1 == pair));
        if opens {
            self.closings.pop_front();
        } else if !(self.quotes && self.odd && is_double(previous)) {
            return false;
        }
        self.odd ^= is_double(previous);
        self.range.start -= previous.len_utf8();
        true
    }

    fn cut_start(&mut self) -> bool {
        let Some(first) = self.inside().chars().next() else {
            return false;
        };
        let at = self.range.start;
        let is_bracket = pop_front_at(&mut self.openings, at) || pop_front_at(&mut self.closings, at);
        if !(is_bracket || self.quotes && self.odd && is_double(first)) {
            return false;
        }
        self.odd ^= is_double(first);
        let rest = &self.text[at + first.len_utf8()..self.range.end];
        self.range.start = self.range.end - rest.trim_start().len();
        true
    }
}

fn pop_back_at(lone: &mut VecDeque<Lone>, place: usize) -> bool {
    let is_last = lone.back().is_some_and(|(at, _)| *at == place);
    is_last && lone.pop_back().is_some()
}

fn pop_front_at(lone: &mut VecDeque<Lone>, place: usize) -> bool {
    let is_first = lone.front().is_some_and(|(at, _)| *at == place);
    is_first && lone.pop_front().is_some()
}

fn opening(c: char) -> Option<usize> {
    PAIRS.iter().position(|pair| pair.0 == c)
}

fn closing(c: char) -> Option<usize> {
    PAIRS.iter().position(|pair| pair.1 == c)
}

fn is_double(c: char) -> bool {
    matches!(c, '"' | '«' | '»' | '\u{201C}'..='\u{201F}' | '\u{301D}'..='\u{301F}' | '\u{FF02}')
}

fn is_single(c: char) -> bool {
    matches!(c, '\'' | '`' | '\u{2018}'..='\u{201B}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::postprocess::{Postprocessor, Step};
    use proptest::prelude::*;

    /// What becomes of the part between `<` and `>`.
    fn repaired(marked: &str) -> String {
        let (start, end) = (marked.find('<').unwrap(), marked.find('>').unwrap() - 1);
        let mut document = Document::new("1", marked.replace(['<', '>'], ""));
        document.annotations.push(Annotation::new(start..end, "GENE"));
        Postprocessor::new(vec![Step::Brackets(Brackets::default())]).apply(&mut document, &[]);
        assert_eq!(document.check(), Ok(()));
        match document.annotations.first() {
            Some(annotation) => annotation.text(&document.text).to_owned(),
            None => String::new(),
        }
    }

    /// Table 5.2 of Klinger (2011), with every kind of bracket.
    #[test]
    fn the_four_cases_of_the_table() {
        for (marked, expected) in [
            ("(<anti-IIa)> and Holmer et al.", "anti-IIa"),
            ("a <plant homeodomain (>PHD) finger", "plant homeodomain"),
            ("and <Y15172 (Surf-5>).)]", "Y15172 (Surf-5)"),
            ("contained a (<dG-dC)7 segment>", "(dG-dC)7 segment"),
        ] {
            assert_eq!(repaired(marked), expected);
            for (open, close) in [("[", "]"), ("{", "}"), ("\"", "\""), ("“", "”"), ("„", "“")] {
                let change = |text: &str| text.replace('(', open).replace(')', close);
                assert_eq!(repaired(&change(marked)), change(expected), "{marked}");
            }
        }
    }

    #[test]
    fn nested_brackets_one_after_the_other() {
        assert_eq!(repaired("<a (b [c>])"), "a (b [c])");
        assert_eq!(repaired("([<c] b) a>"), "([c] b) a");
        assert_eq!(repaired("<a (b \"c>\")"), "a (b \"c\")");
        assert_eq!(repaired("([<c)]> x"), "c");
        assert_eq!(repaired("<( [c>"), "c");
    }

    #[test]
    fn whole_pairs_stay() {
        for marked in [
            "<NF(H)> promoter",
            "(<Lp(a)>)",
            "<(a) \"b\">",
            "<d(T2AG3T)>",
            "<a)b(c>",
        ] {
            let inside = &marked[marked.find('<').unwrap() + 1..marked.find('>').unwrap()];
            assert_eq!(repaired(marked), inside);
        }
    }

    #[test]
    fn nothing_is_left_of_a_bracket() {
        assert_eq!(repaired("x <(> y"), "");
        assert_eq!(repaired("x <) (> y"), "");
    }

    #[test]
    fn primes_and_apostrophes_are_no_quotation_marks() {
        for (marked, expected) in [
            ("the <5'> end", "5'"),
            ("<Crohn's> disease", "Crohn's"),
            ("<2',3'-cyclic AMP>", "2',3'-cyclic AMP"),
            ("patients' <genes'>", "genes'"),
            ("the '<eyeless'> gene", "eyeless"),
            ("the <'eyeless>' gene", "'eyeless'"),
            ("the <gene ‘>eyeless’", "gene"),
        ] {
            assert_eq!(repaired(marked), expected);
        }
    }

    #[test]
    fn quotes_can_be_left_out() {
        let text = "\"fat\"";
        let mut annotations = vec![Annotation::new(1..5, "GENE")];
        let step: Brackets = toml::from_str("quotes = false").unwrap();
        step.apply(text, &mut annotations);
        assert_eq!(annotations[0].range(), 1..5);
    }

    proptest! {
        #[test]
        fn never_more_brackets_without_partner(text in "[ab ()\\[\\]\"'«ä]{1,16}", cut in (0..16_usize, 1..16_usize)) {
            let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let start = cut.0 % (borders.len() - 1);
            let end = (start + cut.1).min(borders.len() - 1);
            let range = borders[start]..borders[end];
            let lone = |range: Range<usize>| {
                let repair = Repair::new(&text, range, true);
                repair.openings.len() + repair.closings.len() + usize::from(repair.odd)
            };
            let before = lone(range.clone());
            let repaired = Repair::new(&text, range.clone(), true).finish();
            prop_assert!(text.get(repaired.clone()).is_some());
            prop_assert!(lone(repaired.clone()) <= before);
            // What is repaired needs no repair.
            prop_assert_eq!(Repair::new(&text, repaired.clone(), true).finish(), repaired);
        }
    }
}
