//! Spans that are well-formed in a declared scheme, counted by type.

use crate::Counts;
use crate::partial::{touches, unknown};
use fieldmark_core::Scheme;
use std::collections::BTreeMap;

/// Counts of well-formed spans.
#[derive(Clone, Debug)]
pub(crate) struct StrictSpans {
    scheme: Scheme,
    types: BTreeMap<String, Counts>,
    /// Predicted spans at positions whose gold label is unknown.
    pub left_out: u64,
}

impl StrictSpans {
    pub fn new(scheme: Scheme) -> Self {
        StrictSpans {
            scheme,
            types: BTreeMap::new(),
            left_out: 0,
        }
    }

    /// Counts one sequence, with `None` for an unknown gold label; the two slices have the same length.
    pub fn add(&mut self, gold: &[Option<&str>], predicted: &[&str]) {
        let unknown = unknown(gold);
        let known: Vec<&str> = gold.iter().map(|label| label.unwrap_or("O")).collect();
        let mut gold = self.scheme.strict_spans(&known);
        let mut found = self.scheme.strict_spans(predicted);
        let all = found.len();
        gold.retain(|span| !touches(&unknown, span.start, span.end));
        found.retain(|span| !touches(&unknown, span.start, span.end));
        self.left_out += (all - found.len()) as u64;
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
        self.left_out += other.left_out;
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
