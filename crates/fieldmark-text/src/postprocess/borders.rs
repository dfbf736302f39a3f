//! What moves the borders of annotations: [`Trim`], [`Merge`] and [`Split`].

use super::pattern::Pattern;
use super::{covered, is_meant, rebound};
use crate::characters::is_stop;
use crate::document::Annotation;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Cuts white space and marks off both edges. Annotations of nothing else are dropped; those with gaps stay as
/// they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Trim {
    /// The types of annotations that are trimmed; all, if there is none.
    pub types: Vec<String>,
    /// Whether full stops, commas, colons and the like are cut off as well.
    pub punctuation: bool,
    /// More characters to cut off.
    pub characters: String,
}

impl Trim {
    pub(super) fn apply(&self, text: &str, annotations: &mut Vec<Annotation>) {
        let is_cut =
            |c: char| c.is_whitespace() || self.punctuation && is_stop(c) || self.characters.contains(c);
        rebound(text, &self.types, annotations, |range| {
            trimmed(text, range, is_cut)
        });
    }
}

fn trimmed(text: &str, range: Range<usize>, is_cut: impl Fn(char) -> bool) -> Range<usize> {
    let inside = text[range.clone()].trim_end_matches(&is_cut);
    let end = range.start + inside.len();
    end - inside.trim_start_matches(&is_cut).len()..end
}

/// Makes one annotation of neighbours of one type with nothing but a separator between them.
///
/// Its score is the lowest of theirs, and it has all their identifiers and attributes; id and double attributes
/// are those of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Merge {
    /// The types of annotations that are merged; all, if there is none.
    pub types: Vec<String>,
    /// What may be between them: a blank or nothing, if not said otherwise.
    pub separators: Vec<String>,
}

impl Default for Merge {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            separators: vec![String::new(), " ".to_owned()],
        }
    }
}

impl Merge {
    pub(super) fn apply(&self, text: &str, annotations: &mut Vec<Annotation>) {
        let mut order: Vec<usize> = (0..annotations.len())
            .filter(|&at| self.is_meant(text, &annotations[at]))
            .collect();
        order.sort_by_key(|&at| annotations[at].range().start);
        let mut merged = HashSet::new();
        // By type, the annotation that reaches farthest so far.
        let mut last: HashMap<String, usize> = HashMap::new();
        for at in order {
            let Some(&before) = last.get(&annotations[at].kind) else {
                last.insert(annotations[at].kind.clone(), at);
                continue;
            };
            let (left, right) = (annotations[before].range(), annotations[at].range());
            let gap = text.get(left.end..right.start);
            if gap.is_some_and(|gap| self.separators.iter().any(|separator| separator == gap)) {
                let right = annotations[at].clone();
                join(&mut annotations[before], right);
                merged.insert(at);
            } else if right.end > left.end {
                last.insert(annotations[at].kind.clone(), at);
            }
        }
        let mut at = 0..;
        annotations.retain(|_| !at.next().is_some_and(|at| merged.contains(&at)));
    }

    fn is_meant(&self, text: &str, annotation: &Annotation) -> bool {
        let is_whole = annotation.fragments.len() == 1 && covered(text, annotation).is_some();
        is_whole && is_meant(&self.types, annotation)
    }
}

fn join(left: &mut Annotation, right: Annotation) {
    let whole = left.range().start..right.range().end;
    left.fragments = vec![whole];
    left.score = match (left.score, right.score) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    for identifier in right.identifiers {
        if !left.identifiers.contains(&identifier) {
            left.identifiers.push(identifier);
        }
    }
    for (name, value) in right.attributes {
        left.attributes.entry(name).or_insert(value);
    }
}

/// Cuts annotations wherever an expression matches; the matches belong to no part.
///
/// Parts lose white space at their edges, and those of nothing else are dropped. They keep score and attributes;
/// the first keeps the id, and none an identifier, which was that of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Split {
    /// The types of annotations that are cut; all, if there is none.
    #[serde(default)]
    pub types: Vec<String>,
    /// Where to cut, such as `/| and `.
    #[serde(deserialize_with = "separator")]
    pub at: Pattern,
}

/// An expression that needs a character: one that does not would cut between all of them.
fn separator<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pattern, D::Error> {
    let pattern = Pattern::deserialize(deserializer)?;
    match pattern.regex().is_match("") {
        true => Err(D::Error::custom(format!(
            "`{}` can match nothing at all, expected an expression for what separates parts",
            pattern.regex()
        ))),
        false => Ok(pattern),
    }
}

impl Split {
    pub(super) fn apply(&self, text: &str, annotations: &mut Vec<Annotation>) {
        let mut parts = Vec::with_capacity(annotations.len());
        for annotation in annotations.drain(..) {
            let inside = covered(text, &annotation).filter(|_| annotation.fragments.len() == 1);
            match inside
                .filter(|inside| is_meant(&self.types, &annotation) && self.at.regex().is_match(inside))
            {
                Some(_) => self.cut(text, annotation, &mut parts),
                None => parts.push(annotation),
            }
        }
        *annotations = parts;
    }

    fn cut(&self, text: &str, annotation: Annotation, parts: &mut Vec<Annotation>) {
        let whole = annotation.range();
        let mut start = whole.start;
        let cuts = self.at.regex().find_iter(&text[whole.clone()]);
        let mut cuts: Vec<Range<usize>> = cuts
            .map(|cut| whole.start + cut.start()..whole.start + cut.end())
            .collect();
        cuts.push(whole.end..whole.end);
        let mut id = annotation.id.clone();
        for cut in cuts {
            let part = trimmed(text, start..cut.start, char::is_whitespace);
            start = cut.end;
            if part.start < part.end {
                parts.push(Annotation {
                    id: std::mem::take(&mut id),
                    fragments: vec![part],
                    identifiers: Vec::new(),
                    ..annotation.clone()
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts<'a>(text: &'a str, annotations: &[Annotation]) -> Vec<&'a str> {
        annotations
            .iter()
            .map(|annotation| annotation.text(text))
            .collect()
    }

    #[test]
    fn trims_what_it_is_told() {
        let text = " ,β-actin. ";
        let with = |toml: &str| {
            let step: Trim = toml::from_str(toml).unwrap();
            let mut all = vec![Annotation::new(0..text.len(), "A"), Annotation::new(0..2, "B")];
            step.apply(text, &mut all);
            texts(text, &all)
        };
        assert_eq!(with(""), [",β-actin.", ","]);
        assert_eq!(with("punctuation = true"), ["β-actin"]);
        assert_eq!(with("punctuation = true\ncharacters = 'βn'"), ["-acti"]);
        assert_eq!(with("punctuation = true\ntypes = ['B']"), [text]);
    }

    #[test]
    fn merges_chains_of_one_type() {
        let text = "tumor necrosis factor-alpha gene x";
        let all = || {
            [
                (0..5, "A"),
                (6..14, "A"),
                (15..21, "A"),
                (22..27, "A"),
                (28..32, "B"),
                (33..34, "A"),
            ]
            .map(|(range, kind)| Annotation::new(range, kind).with_score(range_score(kind)))
            .to_vec()
        };
        let with = |toml: &str| {
            let step: Merge = toml::from_str(toml).unwrap();
            let mut all = all();
            step.apply(text, &mut all);
            texts(text, &all)
        };
        assert_eq!(with(""), ["tumor necrosis factor", "alpha", "gene", "x"]);
        assert_eq!(
            with("separators = [' ', '-']"),
            ["tumor necrosis factor-alpha", "gene", "x"]
        );
        assert_eq!(
            with("separators = ['-']"),
            ["tumor", "necrosis", "factor-alpha", "gene", "x"]
        );
        assert_eq!(with("separators = []").len(), 6);
        assert_eq!(with("types = ['B']").len(), 6);
    }

    fn range_score(kind: &str) -> f64 {
        if kind == "A" { 0.5 } else { 0.8 }
    }

    #[test]
    fn a_merged_annotation_is_as_sure_as_its_worst_part() {
        let mut all = vec![
            Annotation::new(2..3, "A").with_score(0.4),
            Annotation {
                identifiers: vec!["x".to_owned()],
                ..Annotation::new(0..1, "A").with_score(0.9)
            },
            Annotation {
                identifiers: vec!["x".to_owned(), "y".to_owned()],
                ..Annotation::new(4..5, "A")
            },
        ];
        Merge::default().apply("a b c", &mut all);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].range(), all[0].score), (0..5, Some(0.4)));
        assert_eq!(all[0].identifiers, ["x", "y"]);
    }

    #[test]
    fn overlapping_annotations_are_not_merged() {
        let mut all = vec![
            Annotation::new(0..5, "A"),
            Annotation::new(2..3, "A"),
            Annotation::new(6..7, "A"),
        ];
        Merge::default().apply("a b c d", &mut all);
        let ranges: Vec<_> = all.iter().map(Annotation::range).collect();
        assert_eq!(ranges, [0..7, 2..3]);
    }

    #[test]
    fn splits_at_separators() {
        let text = "BRCA1/BRCA2 and  p53/";
        let step: Split = toml::from_str("at = '/|\\band\\b'").unwrap();
        let mut all = vec![Annotation {
            id: "T1".to_owned(),
            identifiers: vec!["x".to_owned()],
            ..Annotation::new(0..text.len(), "A").with_score(0.5)
        }];
        step.apply(text, &mut all);
        assert_eq!(texts(text, &all), ["BRCA1", "BRCA2", "p53"]);
        assert_eq!((all[0].id.as_str(), all[1].id.as_str()), ("T1", ""));
        assert!(
            all.iter()
                .all(|part| part.score == Some(0.5) && part.identifiers.is_empty())
        );
        for wrong in ["at = ''", "at = '/*'"] {
            let error = toml::from_str::<Split>(wrong).unwrap_err().to_string();
            assert!(error.contains("can match nothing"), "{error}");
        }
        let mut whole = vec![Annotation::new(0..5, "A")];
        step.apply(text, &mut whole);
        assert_eq!(whole, [Annotation::new(0..5, "A")]);
    }

    proptest! {
        #[test]
        fn parts_are_what_the_expression_leaves(text in "[ab/ ä]{1,20}") {
            let step = Split { types: Vec::new(), at: Pattern::new("/+").unwrap() };
            let mut all = vec![Annotation::new(0..text.len(), "A")];
            step.apply(&text, &mut all);
            let expected: Vec<&str> = if text.contains('/') {
                text.split('/').map(str::trim).filter(|part| !part.is_empty()).collect()
            } else {
                vec![&text]
            };
            prop_assert_eq!(texts(&text, &all), expected);
        }
    }
}
