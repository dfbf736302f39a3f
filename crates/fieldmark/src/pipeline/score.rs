//! How well a pipeline does on documents whose annotations are known.

use super::{Annotator, Pipeline, gold};
use crate::Error;
use crate::assess::{LabelTest, Pair};
use fieldmark_eval::{Evaluation, Matching, SpanScores};
use fieldmark_text::document::{Annotation, Document, GivenToken};
use fieldmark_text::formats::ALTGENE;
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

    /// What was got right of spans.
    pub fn of(pairs: &[Pair]) -> Self {
        let mut scores = Self::none();
        for pair in pairs {
            scores.spans.add(&pair.gold_spans(), &pair.found_spans());
        }
        scores
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
        let mut all = Scores::none();
        match &self.config.labels.column {
            Some(column) => {
                let labels = self.label_all(documents)?;
                for (document, labels) in documents.iter().zip(&labels) {
                    compare_labels(document, column, labels, &mut all);
                }
            }
            None => all.add(&Scores::of(&self.compare(documents)?)),
        }
        Ok(all)
    }

    /// Marks documents and puts what was found beside what should be, on the threads of the current rayon pool. Gold
    /// annotations are those that this pipeline is to find, under the types that it gives them.
    pub fn compare(&self, documents: &[Document]) -> Result<Vec<Pair>, Error> {
        let types = &self.config.labels;
        self.each(documents, |annotator, document| {
            let mut found = document.clone();
            annotator.annotate(&mut found)?;
            let mut gold = document.clone();
            gold.annotations.retain_mut(|annotation| {
                // Alternatives are no type of their own.
                if annotation.kind == ALTGENE {
                    return true;
                }
                let kind = gold::kind(types, annotation).map(str::to_owned);
                kind.map(|kind| annotation.kind = kind).is_some()
            });
            Ok(Pair::new(gold, found.annotations))
        })
    }

    /// Labels documents and puts the labels beside those that they have in the column of the config, for a pipeline that
    /// labels every token; on the threads of the current rayon pool.
    pub fn test_labels(&self, documents: &[Document]) -> Result<LabelTest, Error> {
        let Some(column) = &self.config.labels.column else {
            return Err(Error::Option(
                "this model marks spans and labels no tokens".to_owned(),
            ));
        };
        let found = self.each(documents, |annotator, document| {
            let mut found = document.clone();
            annotator.annotate(&mut found)?;
            Ok(found)
        })?;
        // No label stands for "no span".
        let mut evaluation = Evaluation::raw("");
        let mut pairs = Vec::with_capacity(documents.len());
        for (document, found) in documents.iter().zip(found) {
            let mut gold = Document {
                annotations: Vec::new(),
                ..document.clone()
            };
            let mut marked = Vec::new();
            let sentences = |document: &'_ Document| labelled_sentences(document, column);
            for (golds, founds) in sentences(document).iter().zip(sentences(&found)) {
                let length = golds.len().min(founds.len());
                let labels = |tokens: &[Annotation]| -> Vec<String> {
                    let tokens = tokens[..length].iter();
                    tokens.map(|token| token.kind.clone()).collect()
                };
                evaluation
                    .add(&labels(golds), &labels(&founds))
                    .map_err(|error| Error::Option(error.to_string()))?;
                gold.annotations
                    .extend(golds[..length].iter().cloned().map(|mut token| {
                        token.score = None;
                        token
                    }));
                marked.extend(founds.into_iter().take(length));
            }
            pairs.push(Pair::new(gold, marked));
        }
        Ok(LabelTest { evaluation, pairs })
    }

    fn label_all(&self, documents: &[Document]) -> Result<Vec<Vec<Vec<String>>>, Error> {
        self.each(documents, |annotator, document| {
            let owned = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect();
            Ok(annotator.label(document)?.into_iter().map(owned).collect())
        })
    }

    /// Does something with every document, and keeps their order.
    fn each<T: Send>(
        &self,
        documents: &[Document],
        work: impl Fn(&mut Annotator<'_>, &Document) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let parts: Result<Vec<Vec<T>>, Error> = documents
            .par_chunks(TASK)
            .map(|documents| {
                let mut annotator = self.annotator();
                documents
                    .iter()
                    .map(|document| work(&mut annotator, document))
                    .collect()
            })
            .collect();
        Ok(parts?.into_iter().flatten().collect())
    }
}

/// The tokens of each sentence that has any, as annotations with what a column says.
fn labelled_sentences(document: &Document, column: &str) -> Vec<Vec<Annotation>> {
    let Some(given) = &document.given else {
        return Vec::new();
    };
    let Some(number) = given.columns.iter().position(|name| name == column) else {
        return Vec::new();
    };
    let sentences = given.sentences.iter().filter(|sentence| !sentence.is_empty());
    let token = |token: &GivenToken| Annotation {
        score: token.score,
        ..Annotation::new(
            token.range.clone(),
            token.columns.get(number).map_or("", String::as_str),
        )
    };
    sentences
        .map(|sentence| sentence.iter().map(token).collect())
        .collect()
}

/// What a column says about the tokens of each sentence that has any.
fn gold_labels<'d>(document: &'d Document, column: &str) -> Vec<Vec<&'d str>> {
    let Some(given) = &document.given else {
        return Vec::new();
    };
    let Some(number) = given.columns.iter().position(|name| name == column) else {
        return Vec::new();
    };
    let sentences = given.sentences.iter().filter(|sentence| !sentence.is_empty());
    sentences
        .map(|sentence| {
            let labels = sentence
                .iter()
                .map(|token| token.columns.get(number).map_or("", String::as_str));
            labels.collect()
        })
        .collect()
}

fn compare_labels(document: &Document, column: &str, labels: &[Vec<String>], scores: &mut Scores) {
    let gold = gold_labels(document, column);
    for (gold, label) in gold.iter().flatten().zip(labels.iter().flatten()) {
        scores.tokens += 1;
        scores.right += usize::from(gold == label);
    }
}
