//! How well a pipeline does on documents whose annotations are known.

use super::{Annotator, Pipeline, gold};
use crate::Error;
use crate::assess::{LabelTest, Pair};
use crate::config::LabelConfig;
use fieldmark_eval::{Evaluation, GoldLabel, Matching, SpanScores};
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

    /// What was got right of labels.
    pub fn of_labels(test: &LabelTest) -> Self {
        let report = test.evaluation.report();
        Self {
            right: report.correct_tokens as usize,
            tokens: report.tokens as usize,
            ..Self::none()
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
        let mut all = Scores::none();
        match &self.front.config.labels.column {
            Some(column) => {
                let labels = self.label_all(documents)?;
                for (document, labels) in documents.iter().zip(&labels) {
                    self.compare_labels(document, column, labels, &mut all);
                }
            }
            None => all.add(&Scores::of(&self.compare(documents)?)),
        }
        Ok(all)
    }

    /// Marks documents and puts what was found beside what should be, on the threads of the current rayon pool. Gold
    /// annotations are those that this pipeline is to find, under the types that it gives them.
    pub fn compare(&self, documents: &[Document]) -> Result<Vec<Pair>, Error> {
        let types = &self.front.config.labels;
        self.each(documents, |annotator, document| {
            let mut found = document.clone();
            annotator.annotate(&mut found)?;
            let gold = wanted(document, std::slice::from_ref(types));
            Ok(Pair::new(gold, found.annotations))
        })
    }

    /// Labels documents and puts the labels beside those that they have in the column of the config, for a pipeline that
    /// labels every token; on the threads of the current rayon pool.
    pub fn test_labels(&self, documents: &[Document]) -> Result<LabelTest, Error> {
        let Some(column) = &self.front.config.labels.column else {
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
            let sentences = labelled_sentences(document, column).zip(labelled_sentences(&found, column));
            for (golds, founds) in sentences {
                let tokens = golds.iter().zip(&founds);
                let (gold_labels, found_labels): (Vec<&str>, Vec<&str>) =
                    tokens.clone().map(|(gold, found)| (gold.1, found.1)).unzip();
                let golds: Vec<GoldLabel<&str>> =
                    gold_labels.iter().map(|label| self.gold_label(label)).collect();
                evaluation
                    .add_partial(&golds, &found_labels)
                    .map_err(|error| Error::Option(error.to_string()))?;
                let tokens = tokens.zip(&golds).filter_map(|(token, gold)| match gold {
                    GoldLabel::Known(_) => Some(token),
                    _ => None,
                });
                for (&(gold_token, gold_label), &(token, label)) in tokens {
                    gold.annotations
                        .push(Annotation::new(gold_token.range.clone(), gold_label));
                    marked.push(Annotation {
                        score: token.score,
                        ..Annotation::new(token.range.clone(), label)
                    });
                }
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

/// A document with the annotations that are to be found by a model that learns these labels, under the types that it gives
/// them.
pub(super) fn wanted(document: &Document, labels: &[LabelConfig]) -> Document {
    let mut gold = document.clone();
    gold.annotations.retain_mut(|annotation| {
        // Alternatives are no type of their own.
        if annotation.kind == ALTGENE {
            return true;
        }
        let mut kinds = labels.iter().filter_map(|labels| gold::kind(labels, annotation));
        let kind = kinds.next().map(str::to_owned);
        kind.map(|kind| annotation.kind = kind).is_some()
    });
    gold
}

/// The tokens of each sentence that has any, with what a column says about them.
fn labelled_sentences<'d>(
    document: &'d Document,
    column: &str,
) -> impl Iterator<Item = Vec<(&'d GivenToken, &'d str)>> {
    let given = document.given.as_ref();
    let number = given.and_then(|given| given.columns.iter().position(|name| name == column));
    given.zip(number).into_iter().flat_map(|(given, number)| {
        let sentences = given.sentences.iter().filter(|sentence| !sentence.is_empty());
        sentences.map(move |sentence| {
            let label = |token: &'d GivenToken| token.columns.get(number).map_or("", String::as_str);
            sentence.iter().map(|token| (token, label(token))).collect()
        })
    })
}

impl Pipeline {
    fn compare_labels(&self, document: &Document, column: &str, labels: &[Vec<String>], scores: &mut Scores) {
        let gold = labelled_sentences(document, column).flatten();
        for ((_, gold), label) in gold.zip(labels.iter().flatten()) {
            let right = match self.gold_label(gold) {
                GoldLabel::Unknown => continue,
                GoldLabel::Known(gold) => gold == label,
                GoldLabel::OneOf(golds) => golds.contains(&label.as_str()),
            };
            scores.tokens += 1;
            scores.right += usize::from(right);
        }
    }

    /// What a cell of a column says: `?` is unknown, and `A|B` one of both if the model has both and no such label.
    fn gold_label<'c>(&self, cell: &'c str) -> GoldLabel<&'c str> {
        let labels = self.chain.labels();
        let knows = |label: &str| labels.get(label).is_some();
        match cell {
            cell if knows(cell) => GoldLabel::Known(cell),
            gold::OPEN => GoldLabel::Unknown,
            cell if cell.contains('|') && cell.split('|').all(knows) => {
                GoldLabel::OneOf(cell.split('|').collect())
            }
            cell => GoldLabel::Known(cell),
        }
    }
}
