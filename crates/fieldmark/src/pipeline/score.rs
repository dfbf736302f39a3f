//! How well a pipeline does on documents whose annotations are known.

use super::{Pipeline, gold};
use crate::Error;
use fieldmark_eval::{Matching, Span, SpanScores};
use fieldmark_text::document::{Annotation, Document};
use rayon::prelude::*;

/// What a pipeline got right.
#[derive(Clone, Debug)]
pub struct Scores {
    /// Spans with the right type and borders.
    pub spans: SpanScores,
    /// Tokens with the right label, of a pipeline that labels every token.
    pub right: usize,
    /// Tokens in all.
    pub tokens: usize,
}

impl Scores {
    fn none() -> Self {
        Self {
            spans: SpanScores::new(Matching::Strict),
            right: 0,
            tokens: 0,
        }
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Scores) {
        // Both match spans in the same way.
        let _ = self.spans.merge(&other.spans);
        self.right += other.right;
        self.tokens += other.tokens;
    }

    /// The share of tokens with the right label.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.tokens.max(1) as f64
    }
}

/// Documents that are scored by one task.
const TASK: usize = 32;

impl Pipeline {
    /// Marks documents and compares with their annotations, on the threads of the current rayon pool.
    ///
    /// Annotations are compared as the documents have them, whether or not they fit the tokens.
    pub fn score(&self, documents: &[Document]) -> Result<Scores, Error> {
        let parts: Result<Vec<Scores>, Error> = documents
            .par_chunks(TASK)
            .map(|documents| {
                let mut annotator = self.annotator();
                let mut scores = Scores::none();
                for document in documents {
                    match &self.config.labels.column {
                        Some(column) => {
                            let labels = annotator.label(document)?;
                            compare_labels(document, column, &labels, &mut scores);
                        }
                        None => {
                            let mut found = Document::new("", document.text.clone());
                            found.given.clone_from(&document.given);
                            found.elements.clone_from(&document.elements);
                            annotator.annotate(&mut found)?;
                            let types = &self.config.labels;
                            let gold: Vec<Span<'_>> = document
                                .annotations
                                .iter()
                                .filter_map(|annotation| {
                                    Some(span(annotation, gold::kind(types, annotation)?))
                                })
                                .collect();
                            let found: Vec<Span<'_>> = found
                                .annotations
                                .iter()
                                .map(|annotation| span(annotation, &annotation.kind))
                                .collect();
                            scores.spans.add(&gold, &found);
                        }
                    }
                }
                Ok(scores)
            })
            .collect();
        let mut all = Scores::none();
        parts?.iter().for_each(|part| all.add(part));
        Ok(all)
    }
}

fn span<'a>(annotation: &Annotation, kind: &'a str) -> Span<'a> {
    let range = annotation.range();
    Span::new(range.start, range.end, kind)
}

fn compare_labels(document: &Document, column: &str, labels: &[Vec<&str>], scores: &mut Scores) {
    let Some(given) = &document.given else { return };
    let Some(number) = given.columns.iter().position(|name| name == column) else {
        return;
    };
    let tokens = given.sentences.iter().flatten();
    for (token, label) in tokens.zip(labels.iter().flatten()) {
        scores.tokens += 1;
        scores.right += usize::from(token.columns.get(number).is_some_and(|gold| gold == label));
    }
}
