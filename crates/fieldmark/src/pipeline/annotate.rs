//! [`Annotator`]: marks documents with a [`Pipeline`].

use super::Pipeline;
use super::scorer::Scorer;
use super::sequences::{Sentences, describe};
use super::stack::Labellers;
use crate::Error;
use fieldmark_chain::Tagger;
use fieldmark_chain::explain::Explanation;
use fieldmark_chain::inference::{Constraints, Space, SpanReader};
use fieldmark_core::{Dataset, DatasetBuilder, Gold, Scheme};
use fieldmark_text::document::{Annotation, Document, GivenToken, GivenTokens};
use std::ops::Range;

/// Marks documents; make one per thread and use it again and again.
pub struct Annotator<'p> {
    pipeline: &'p Pipeline,
    scorer: Scorer<'p>,
    tagger: Tagger<'p, f64>,
    scheme: Scheme,
    reader: SpanReader,
    constraints: Constraints,
    labellers: Labellers<'p>,
}

impl Pipeline {
    /// Gets ready to mark documents.
    pub fn annotator(&self) -> Annotator<'_> {
        let scheme = Scheme::from(self.config.labels.scheme);
        let labels = self.chain.labels();
        Annotator {
            pipeline: self,
            scorer: Scorer::new(&self.extractor, self.chain.observations()),
            tagger: self.chain.tagger_with(Space::default()),
            scheme,
            reader: SpanReader::new(scheme, labels),
            constraints: Constraints::of_scheme(scheme, labels),
            labellers: self.stack.labellers(),
        }
    }
}

impl<'p> Annotator<'p> {
    /// Replaces the annotations of a document by what the pipeline finds in it.
    ///
    /// A pipeline that labels every token instead adds its labels, with their probabilities, as a column of the
    /// document's tokens.
    pub fn annotate(&mut self, document: &mut Document) -> Result<(), Error> {
        let mut sentences = self.cut(document)?;
        match &self.pipeline.config.labels.column {
            Some(column) => {
                let labels = self.label_tokens(&document.text, &sentences)?;
                let given = with_column(document, &sentences, column, &labels);
                document.given = Some(given);
            }
            None => {
                let found = self.find_spans(&document.text, &sentences)?;
                let tokens = std::mem::take(&mut sentences.tokens);
                document.annotations = found;
                document.relations.clear();
                self.pipeline.config.postprocess.apply(document, &tokens);
                self.pipeline.config.identify.apply(document);
            }
        }
        Ok(())
    }

    /// The labels of every token, sentence by sentence.
    pub fn label(&mut self, document: &Document) -> Result<Vec<Vec<&str>>, Error> {
        let sentences = self.cut(document)?;
        self.label_sentences(&document.text, &sentences)
    }

    /// Why the tokens of each sentence get their labels, with at most `top` reasons for each.
    pub fn explain(&mut self, document: &Document, top: usize) -> Result<Vec<Explanation>, Error> {
        let sentences = self.cut(document)?;
        let data = self.describe(&document.text, &sentences)?;
        let words = |range: Range<usize>| {
            let tokens = sentences.tokens[range].iter();
            tokens.map(|token| token.text(&document.text)).collect::<Vec<_>>()
        };
        let instances = data.instances().zip(sentences.ranges());
        instances
            .map(|(instance, range)| {
                let explanation = self.pipeline.chain.explain(instance, &self.constraints, top)?;
                Ok(explanation.with_tokens(words(range)))
            })
            .collect()
    }

    pub(super) fn label_sentences(
        &mut self,
        text: &str,
        sentences: &Sentences<'_>,
    ) -> Result<Vec<Vec<&'p str>>, Error> {
        let names = self.pipeline.chain.labels();
        let mut all = Vec::with_capacity(sentences.len());
        sentences.try_for_each(text, self.pipeline.extractor.columns(), |_, sequence| {
            let labels = self
                .tagger
                .tag_scores(self.scorer.score(&self.tagger, sequence))?;
            all.push(labels.iter().map(|&label| names.name(label)).collect());
            Ok(())
        })?;
        Ok(all)
    }

    /// The label of each token and its probability.
    fn label_tokens(
        &mut self,
        text: &str,
        sentences: &Sentences<'_>,
    ) -> Result<Vec<(&'p str, f64)>, Error> {
        let names = self.pipeline.chain.labels();
        let none = Constraints::none();
        let mut all = Vec::with_capacity(sentences.tokens.len());
        let mut marginals = Vec::new();
        sentences.try_for_each(text, self.pipeline.extractor.columns(), |_, sequence| {
            let scores = self.scorer.score(&self.tagger, sequence);
            let labels = self.tagger.tag_scores(scores)?.to_vec();
            self.tagger.load_scores(scores, &none)?.marginals(&mut marginals)?;
            let rows = marginals.chunks(names.len().max(1));
            all.extend(labels.iter().zip(rows).map(|(&label, row)| (names.name(label), row[label as usize])));
            Ok(())
        })?;
        Ok(all)
    }

    fn cut<'d>(&mut self, document: &'d Document) -> Result<Sentences<'d>, Error> {
        let mut sentences = Sentences::default();
        self.pipeline.cutter.cut(document, &mut sentences);
        self.look_up(&document.text, &mut sentences)?;
        Ok(sentences)
    }

    /// Adds the labels of other pipelines that this one looks at.
    pub(super) fn look_up(&mut self, text: &str, sentences: &mut Sentences<'_>) -> Result<(), Error> {
        self.labellers.add_columns(text, sentences)
    }

    fn describe(&mut self, text: &str, sentences: &Sentences<'_>) -> Result<Dataset, Error> {
        let mut builder = DatasetBuilder::new();
        let extraction = self.scorer.extraction();
        sentences.try_for_each(text, self.pipeline.extractor.columns(), |_, sequence| {
            describe(extraction, sequence, &mut builder, |_, _| Gold::Unknown)
        })?;
        Ok(builder.finish_part())
    }

    fn find_spans(&mut self, text: &str, sentences: &Sentences<'_>) -> Result<Vec<Annotation>, Error> {
        let names = self.pipeline.chain.labels();
        let mut found = Vec::new();
        sentences.try_for_each(text, self.pipeline.extractor.columns(), |_, sequence| {
            let scores = self.scorer.score(&self.tagger, sequence);
            let labels = self.tagger.tag_scores(scores)?.iter();
            let mut labels: Vec<&str> = labels.map(|&label| names.name(label)).collect();
            if labels.iter().all(|&label| label == "O") {
                return Ok(());
            }
            let mut inference = self.tagger.load_scores(scores, &self.constraints)?;
            if !self.scheme.violations(&labels).is_empty() {
                let best = inference.viterbi()?.labels.iter();
                labels = best.map(|&label| names.name(label)).collect();
            }
            for span in self.scheme.spans(&labels) {
                let kind = self.reader.kinds().get(span.kind);
                let probability = |kind| inference.span_probability(&self.reader, span.start..span.end, kind);
                let score = kind.map(probability).transpose()?;
                let tokens = &sequence.tokens[span.start..span.end];
                let bytes = tokens[0].start..tokens[tokens.len() - 1].end;
                found.push(Annotation {
                    score,
                    ..Annotation::new(bytes, span.kind)
                });
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The tokens of a document, with one more column or that column replaced.
fn with_column(
    document: &Document,
    sentences: &Sentences<'_>,
    column: &str,
    labels: &[(&str, f64)],
) -> GivenTokens {
    let same = |given: &&GivenTokens| {
        let ranges = given.sentences.iter().flatten().map(|token| token.range.clone());
        ranges.eq(sentences.tokens.iter().map(|token| token.range()))
    };
    let mut given = match document.given.as_ref().filter(same) {
        Some(given) => given.clone(),
        None => GivenTokens {
            sentences: sentences
                .ranges()
                .map(|range| {
                    let tokens = sentences.tokens[range].iter();
                    tokens
                        .map(|token| GivenToken {
                            range: token.range(),
                            ..GivenToken::default()
                        })
                        .collect()
                })
                .collect(),
            ..GivenTokens::default()
        },
    };
    let number = given
        .columns
        .iter()
        .position(|name| name == column)
        .unwrap_or_else(|| {
            given.columns.push(column.to_owned());
            given.columns.len() - 1
        });
    let tokens = given.sentences.iter_mut().flatten();
    for (token, (label, probability)) in tokens.zip(labels) {
        token
            .columns
            .resize(token.columns.len().max(number + 1), String::new());
        token.columns[number] = (*label).to_owned();
        token.score = Some(*probability);
    }
    given.labels = Some(column.to_owned());
    given
}
