//! [`Annotator`]: marks documents with a [`Pipeline`].

use super::Pipeline;
use super::sequences::{Sentences, describe};
use super::stack::Labellers;
use crate::Error;
use fieldmark_chain::Tagger;
use fieldmark_chain::explain::Explanation;
use fieldmark_chain::inference::{Constraints, Space, SpanReader};
use fieldmark_core::{Dataset, DatasetBuilder, Gold, Names, Scheme};
use fieldmark_text::document::{Annotation, Document, GivenToken, GivenTokens};
use fieldmark_text::features::Extraction;
use std::ops::Range;

/// Marks documents; make one per thread and use it again and again.
pub struct Annotator<'p> {
    pipeline: &'p Pipeline,
    extraction: Extraction<'p, &'p Names>,
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
            extraction: Extraction::new(&self.extractor, self.chain.observations()),
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
    /// A pipeline that labels every token instead adds its labels as a column of the document's tokens.
    pub fn annotate(&mut self, document: &mut Document) -> Result<(), Error> {
        let mut sentences = self.cut(document)?;
        let data = self.describe(&document.text, &sentences)?;
        match &self.pipeline.config.labels.column {
            Some(column) => {
                let labels = self.labels(&data)?;
                let given = with_column(document, &sentences, column, labels);
                document.given = Some(given);
            }
            None => {
                let found = self.spans(&data, &sentences)?;
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
        let data = self.describe(text, sentences)?;
        self.labels(&data)
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
        let mut result = Ok(());
        let extraction = &mut self.extraction;
        sentences.for_each(text, self.pipeline.extractor.columns(), |_, sequence| {
            if result.is_ok() {
                result = describe(extraction, sequence, &mut builder, |_, _| Gold::Unknown);
            }
        });
        result.map(|()| builder.finish_part())
    }

    fn labels(&mut self, data: &Dataset) -> Result<Vec<Vec<&'p str>>, Error> {
        let names = self.pipeline.chain.labels();
        let mut all = Vec::with_capacity(data.len());
        for instance in data.instances() {
            let labels = self.tagger.tag(instance)?;
            all.push(labels.iter().map(|&label| names.name(label)).collect());
        }
        Ok(all)
    }

    fn spans(&mut self, data: &Dataset, sentences: &Sentences<'_>) -> Result<Vec<Annotation>, Error> {
        let names = self.pipeline.chain.labels();
        let mut found = Vec::new();
        for (instance, range) in data.instances().zip(sentences.ranges()) {
            let mut labels: Vec<&str> = self
                .tagger
                .tag(instance)?
                .iter()
                .map(|&label| names.name(label))
                .collect();
            let outside = labels.iter().all(|&label| label == "O");
            if outside {
                continue;
            }
            let mut inference = self.tagger.load(instance, &self.constraints)?;
            if !self.scheme.violations(&labels).is_empty() {
                labels = inference
                    .viterbi()?
                    .labels
                    .iter()
                    .map(|&label| names.name(label))
                    .collect();
            }
            for span in self.scheme.spans(&labels) {
                let kind = self.reader.kinds().get(span.kind);
                let score = match kind {
                    Some(kind) => {
                        Some(inference.span_probability(&self.reader, span.start..span.end, kind)?)
                    }
                    None => None,
                };
                let tokens = &sentences.tokens[range.start + span.start..range.start + span.end];
                let bytes = tokens[0].start..tokens[tokens.len() - 1].end;
                found.push(Annotation {
                    score,
                    ..Annotation::new(bytes, span.kind)
                });
            }
        }
        Ok(found)
    }
}

/// The tokens of a document, with one more column or that column replaced.
fn with_column(
    document: &Document,
    sentences: &Sentences<'_>,
    column: &str,
    labels: Vec<Vec<&str>>,
) -> GivenTokens {
    let mut given = match document
        .given
        .as_ref()
        .filter(|given| given.sentences.iter().map(Vec::len).sum::<usize>() == sentences.tokens.len())
    {
        Some(given) => given.clone(),
        None => GivenTokens {
            columns: Vec::new(),
            sentences: sentences
                .ranges()
                .map(|range| {
                    let tokens = sentences.tokens[range].iter();
                    tokens
                        .map(|token| GivenToken {
                            range: token.range(),
                            columns: Vec::new(),
                        })
                        .collect()
                })
                .collect(),
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
    for (token, label) in tokens.zip(labels.into_iter().flatten()) {
        token
            .columns
            .resize(token.columns.len().max(number + 1), String::new());
        token.columns[number] = label.to_owned();
    }
    given
}
