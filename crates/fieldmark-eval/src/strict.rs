//! Spans that are well-formed in a declared scheme, counted by type.

use crate::Counts;
use fieldmark_core::Scheme;
use std::collections::BTreeMap;

/// Counts of well-formed spans.
#[derive(Clone, Debug)]
pub(crate) struct StrictSpans {
    scheme: Scheme,
    types: BTreeMap<String, Counts>,
}

impl StrictSpans {
    pub fn new(scheme: Scheme) -> Self {
        StrictSpans {
            scheme,
            types: BTreeMap::new(),
        }
    }

    /// Counts one sequence; the two slices have the same length.
    pub fn add<G: AsRef<str>, P: AsRef<str>>(&mut self, gold: &[G], predicted: &[P]) {
        let gold = self.scheme.strict_spans(gold);
        let found = self.scheme.strict_spans(predicted);
        for span in &gold {
            self.count(span.kind).gold += 1;
        }
        for span in &found {
            self.count(span.kind).found += 1;
            // Spans of one sequence are in order and do not overlap.
            if gold.binary_search(span).is_ok() {
                self.count(span.kind).correct += 1;
            }
        }
    }

    pub fn merge(&mut self, other: &StrictSpans) {
        for (kind, &counts) in &other.types {
            *self.count(kind) += counts;
        }
    }

    pub fn types(&self) -> Vec<(&str, Counts)> {
        self.types
            .iter()
            .map(|(kind, &counts)| (kind.as_str(), counts))
            .collect()
    }

    pub fn rules_name(&self) -> String {
        format!("strict {}", self.scheme)
    }

    fn count(&mut self, kind: &str) -> &mut Counts {
        if !self.types.contains_key(kind) {
            self.types.insert(kind.to_owned(), Counts::default());
        }
        self.types.get_mut(kind).expect("the type was just added")
    }
}
