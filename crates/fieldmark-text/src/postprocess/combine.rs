//! [`combine`]: one list of what several models have found.
//!
//! Klinger (2011) trains one model on the longest and one on the shortest of alternative annotations, and combines
//! what they find.

use super::cover::Cover;
use crate::document::Annotation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How the findings of several models become one list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// `long-first`: all of the first model, then what the others find elsewhere.
    #[default]
    LongFirst,
    /// `short-first`: all of the last model, then what the others find elsewhere.
    ShortFirst,
    /// `union`: all of all models, with overlaps.
    Union,
}

/// Combines what several models have found, those with the longest annotations first.
///
/// A model's own annotations never compete with each other: what is added is compared with what models before it
/// have found, as whole spans. What several models find alike is there once, with the best score.
pub fn combine(strategy: Combination, findings: Vec<Vec<Annotation>>) -> Vec<Annotation> {
    let mut findings = findings;
    if strategy == Combination::ShortFirst {
        findings.reverse();
    }
    let mut combined = Vec::new();
    let mut cover = Cover::default();
    let mut known = HashMap::new();
    for annotations in findings {
        let first = combined.len();
        for annotation in annotations {
            if let Some(&at) = known.get(&key(&annotation)) {
                let same: &mut Annotation = &mut combined[at];
                same.score = better(same.score, annotation.score);
            } else if strategy == Combination::Union || !cover.overlaps(&annotation.range()) {
                known.insert(key(&annotation), combined.len());
                combined.push(annotation);
            }
        }
        for annotation in &combined[first..] {
            cover.insert(annotation.range());
        }
    }
    combined.sort_by_key(|annotation| annotation.range().start);
    combined
}

fn key(annotation: &Annotation) -> (Vec<(usize, usize)>, String) {
    let fragments = annotation.fragments.iter();
    let places = fragments.map(|fragment| (fragment.start, fragment.end)).collect();
    (places, annotation.kind.clone())
}

/// What is certain has no score.
fn better(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| one.max(other))
}

/// Combines the annotations of a document by the attribute `model`, which says who has found them.
///
/// Annotations of other models, or of none, count as those of one more model at the end of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Combine {
    /// How.
    pub strategy: Combination,
    /// Names of the models, those with the longest annotations first.
    pub models: Vec<String>,
}

impl Combine {
    pub(super) fn apply(&self, annotations: &mut Vec<Annotation>) {
        let mut findings = vec![Vec::new(); self.models.len() + 1];
        for annotation in annotations.drain(..) {
            let model = annotation.attributes.get("model");
            let is_named = |name: &String| Some(name) == model;
            let at = self.models.iter().position(is_named).unwrap_or(self.models.len());
            findings[at].push(annotation);
        }
        if self.strategy == Combination::ShortFirst {
            // Those of no model stay last.
            let others = findings.pop();
            findings.splice(0..0, others);
        }
        *annotations = combine(self.strategy, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "fibrinogen degradation products (FDP)";

    fn marked(name: &str) -> Annotation {
        let start = TEXT.find(name).unwrap();
        Annotation::new(start..start + name.len(), "GENE")
    }

    /// The example of Klinger (2011), section 5.3.
    #[test]
    fn fibrinogen_degradation_products() {
        let long = vec![marked("fibrinogen degradation products")];
        let short = vec![marked("fibrinogen"), marked("FDP")];
        for (strategy, expected) in [
            (
                Combination::LongFirst,
                vec!["fibrinogen degradation products", "FDP"],
            ),
            (Combination::ShortFirst, vec!["fibrinogen", "FDP"]),
            (
                Combination::Union,
                vec!["fibrinogen degradation products", "fibrinogen", "FDP"],
            ),
        ] {
            let combined = combine(strategy, vec![long.clone(), short.clone()]);
            let names: Vec<&str> = combined.iter().map(|annotation| annotation.text(TEXT)).collect();
            assert_eq!(names, expected);

            let mut all: Vec<Annotation> = Vec::new();
            for (model, annotations) in [("short", &short), ("long", &long)] {
                all.extend(annotations.iter().cloned().map(|mut annotation| {
                    annotation.attributes.insert("model".to_owned(), model.to_owned());
                    annotation
                }));
            }
            let models = vec!["long".to_owned(), "short".to_owned()];
            Combine { strategy, models }.apply(&mut all);
            let names: Vec<&str> = all.iter().map(|annotation| annotation.text(TEXT)).collect();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn what_both_find_is_there_once_with_the_best_score() {
        let findings = [0.4, 0.9, 0.6].map(|score| vec![marked("FDP").with_score(score)]);
        let combined = combine(Combination::Union, findings.to_vec());
        assert_eq!(combined, [marked("FDP").with_score(0.9)]);
        let other = Annotation {
            kind: "CHEMICAL".to_owned(),
            ..marked("FDP")
        };
        let findings = vec![vec![marked("FDP")], vec![other]];
        assert_eq!(combine(Combination::Union, findings.clone()).len(), 2);
        assert_eq!(combine(Combination::LongFirst, findings).len(), 1);
    }

    #[test]
    fn nested_annotations_of_one_model_stay() {
        let findings = vec![
            vec![marked("fibrinogen degradation products"), marked("fibrinogen")],
            vec![],
        ];
        assert_eq!(combine(Combination::LongFirst, findings).len(), 2);
    }

    proptest! {
        #[test]
        fn the_first_model_is_never_overruled(
            long in prop::collection::vec((0..20_usize, 1..6_usize), 0..6),
            short in prop::collection::vec((0..20_usize, 1..3_usize), 0..6),
        ) {
            let annotations = |spans: &[(usize, usize)]| -> Vec<Annotation> {
                let mut spans = spans.to_vec();
                spans.sort_unstable();
                spans.dedup();
                spans.iter().map(|&(start, len)| Annotation::new(start..start + len, "A")).collect()
            };
            let (long, short) = (annotations(&long), annotations(&short));
            let overlaps = |one: &Annotation, all: &[Annotation]| {
                all.iter().any(|other| one.range().start < other.range().end && other.range().start < one.range().end)
            };
            let mut expected = long.clone();
            expected.extend(short.iter().filter(|one| !overlaps(one, &long)).cloned());
            expected.sort_by_key(|annotation| annotation.range().start);
            let combined = combine(Combination::LongFirst, vec![long.clone(), short.clone()]);
            prop_assert_eq!(&combined, &expected);
            let swapped = combine(Combination::ShortFirst, vec![short, long]);
            prop_assert_eq!(swapped, expected);
        }
    }
}
