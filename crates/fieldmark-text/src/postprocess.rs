//! What happens to the annotations that a model has found: repair, repetition, filters, overlaps.
//!
//! A [`Postprocessor`] is a list of [`Step`]s, written in a config and kept in a model, each of which changes the
//! annotations of a [`Document`] and nothing else of it, but for relations of annotations that are dropped: they
//! are dropped with them.
//!
//! ```toml
//! [[postprocess]]
//! kind = "brackets"
//!
//! [[postprocess]]
//! kind = "confidence"
//! threshold = 0.3
//! types = { GENE = 0.5 }
//!
//! [[postprocess]]
//! kind = "repeat"
//! within = { tokens = 200 }
//! ```
//!
//! ```
//! use fieldmark_text::document::{Annotation, Document};
//! use fieldmark_text::postprocess::{Brackets, Postprocessor, Step};
//! let mut document = Document::new("1", "contained a (dG-dC)7 segment");
//! document.annotations.push(Annotation::new(13..28, "DNA"));
//! Postprocessor::new(vec![Step::Brackets(Brackets::default())]).apply(&mut document, &[]);
//! assert_eq!(document.annotations[0].text(&document.text), "(dG-dC)7 segment");
//! ```

mod borders;
mod brackets;
mod combine;
mod cover;
mod filters;
mod overlaps;
mod pattern;
mod repeat;

pub use borders::{Merge, Split, Trim};
pub use brackets::Brackets;
pub use combine::{Combination, Combine, combine};
pub use filters::{Confidence, Filter, StopList, StopListOptions};
pub use overlaps::{Overlaps, Prefer};
pub use pattern::Pattern;
pub use repeat::{Distance, Repeat};

pub(crate) use cover::Cover;

use crate::document::{Annotation, Document};
use crate::error::ReadError;
use crate::tokenize::Token;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// One change of the annotations of a document.
///
/// Most steps can be limited to some `types`; without it they are for all. Lengths and distances count characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Step {
    /// `brackets`: completes or removes brackets and quotation marks that have no partner.
    Brackets(Brackets),
    /// `repeat`: marks a name again wherever it stands near where it was found.
    Repeat(Repeat),
    /// `confidence`: drops what the model is not sure of.
    Confidence(Confidence),
    /// `stop-list`: drops what is on a list.
    StopList(StopList),
    /// `filter`: drops by regular expressions and lengths.
    Filter(Filter),
    /// `merge`: makes one of neighbours of one type.
    Merge(Merge),
    /// `split`: cuts at separators.
    Split(Split),
    /// `trim`: cuts white space and marks off the edges.
    Trim(Trim),
    /// `overlaps`: drops annotations until none overlap.
    Overlaps(Overlaps),
    /// `combine`: makes one list of what several models have found.
    Combine(Combine),
}

impl Step {
    fn apply(&self, document: &mut Document, tokens: &[Token]) {
        let Document {
            text, annotations, ..
        } = document;
        match self {
            Self::Brackets(step) => step.apply(text, annotations),
            Self::Repeat(step) => step.apply(text, tokens, annotations),
            Self::Confidence(step) => step.apply(annotations),
            Self::StopList(step) => step.apply(text, annotations),
            Self::Filter(step) => step.apply(text, annotations),
            Self::Merge(step) => step.apply(text, annotations),
            Self::Split(step) => step.apply(text, annotations),
            Self::Trim(step) => step.apply(text, annotations),
            Self::Overlaps(step) => step.apply(annotations),
            Self::Combine(step) => step.apply(annotations),
        }
    }
}

/// Changes the annotations of documents, step by step. It never changes itself, and threads can share it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Postprocessor {
    steps: Vec<Step>,
}

impl Postprocessor {
    /// One with these steps, done in this order.
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Reads the files that steps name, relative to a directory, so that they are needed no more.
    pub fn load(&mut self, directory: &Path) -> Result<(), ReadError> {
        for step in &mut self.steps {
            if let Step::StopList(list) = step {
                list.load(directory)?;
            }
        }
        Ok(())
    }

    /// Does all steps. `tokens` are those of the whole document in order; only the step `repeat` needs them.
    ///
    /// Annotations that do not belong to the text stay as they are. The others come out in the order of the text.
    pub fn apply(&self, document: &mut Document, tokens: &[Token]) {
        if self.steps.is_empty() {
            return;
        }
        let before: HashSet<String> = ids(document).collect();
        for step in &self.steps {
            step.apply(document, tokens);
        }
        document
            .annotations
            .sort_by_key(|annotation| annotation.range().start);
        drop_relations(document, before);
    }
}

/// The ids that annotations have.
pub(crate) fn ids(document: &Document) -> impl Iterator<Item = String> {
    let ids = document
        .annotations
        .iter()
        .map(|annotation| annotation.id.clone());
    ids.filter(|id| !id.is_empty())
}

/// Drops the relations of what is gone, the relations of those relations, and so on.
pub(crate) fn drop_relations(document: &mut Document, mut gone: HashSet<String>) {
    for id in ids(document) {
        gone.remove(&id);
    }
    while !gone.is_empty() {
        let mut next = HashSet::new();
        document.relations.retain(|relation| {
            let is_kept = !relation.arguments.iter().any(|(_, id)| gone.contains(id));
            if !is_kept && !relation.id.is_empty() {
                next.insert(relation.id.clone());
            }
            is_kept
        });
        gone = next;
    }
}

/// Whether a step is for an annotation.
fn is_meant(types: &[String], annotation: &Annotation) -> bool {
    types.is_empty() || types.contains(&annotation.kind)
}

/// What an annotation covers, gaps included, if it belongs to the text.
fn covered<'a>(text: &'a str, annotation: &Annotation) -> Option<&'a str> {
    text.get(annotation.range()).filter(|covered| !covered.is_empty())
}

/// Gives annotations in one fragment another range. Those without a range, or with one of nothing, are dropped.
fn rebound(
    text: &str,
    types: &[String],
    annotations: &mut Vec<Annotation>,
    range: impl Fn(std::ops::Range<usize>) -> std::ops::Range<usize>,
) {
    annotations.retain_mut(|annotation| {
        if !is_meant(types, annotation) || covered(text, annotation).is_none() {
            return true;
        }
        match annotation.fragments.as_mut_slice() {
            [fragment] => {
                *fragment = range(fragment.clone());
                fragment.start < fragment.end
            }
            _ => true,
        }
    });
}

#[cfg(test)]
mod tests;
