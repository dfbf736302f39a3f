//! [`Annotator`]: marks documents with a [`Pipeline`].

use super::Pipeline;
use super::known::{self, Known};
use super::scorer::Scorer;
use super::sequences::{Sentences, describe};
use super::stack::Labellers;
use crate::Error;
use fieldmark_chain::Tagger;
use fieldmark_chain::explain::Explanation;
use fieldmark_chain::inference::{self, Constraints, Inference, Rule, Space, SpanReader};
use fieldmark_core::{Dataset, DatasetBuilder, Gold, Scheme};
use fieldmark_text::document::{Annotation, Document, GivenToken, GivenTokens};
use fieldmark_text::formats::Notices;
use fieldmark_text::tokenize::Token;
use std::ops::Range;

/// Marks documents; make one per thread and use it again and again.
pub struct Annotator<'p> {
    pipeline: &'p Pipeline,
    scorer: Scorer<'p>,
    tagger: Tagger<'p, f64>,
    scheme: Scheme,
    reader: SpanReader,
    constraints: Constraints,
    /// If labels are limited beyond what the scheme says.
    limits: Option<Limits>,
    report: AnnotatorReport,
    labellers: Labellers<'p>,
}

struct Limits {
    rules: Vec<Rule>,
    fix_labels: bool,
}

/// How an [`Annotator`] decides.
#[derive(Clone, Debug, Default)]
pub struct AnnotatorOptions {
    /// What holds for the labels of every sentence; by default, what the label scheme says.
    pub constraints: Option<Constraints>,
    /// Rules on the spans of every sentence. Probabilities are those without them.
    pub rules: Vec<Rule>,
    /// Whether the annotations that a document comes with are known to be right: they stay, and the rest of the text is
    /// marked around them. Where the document tells which labels are open, all others are known. For a pipeline that labels every token, the labels in its column are known, except `?`.
    pub fix_labels: bool,
    /// How probabilities are computed.
    pub space: Space,
}

/// What an [`Annotator`] has to tell.
#[derive(Debug, Default)]
pub struct AnnotatorReport {
    /// Sentences without an answer: nothing is marked in them, and their labels are `?`.
    pub impossible: Vec<Impossible>,
    /// What of the text, or of the annotations that are known, could not be used as it was.
    pub notices: Notices,
    /// At how many tokens something was known.
    pub known: u64,
}

/// A sentence without an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Impossible {
    /// The id of its document.
    pub document: String,
    /// Its text.
    pub text: String,
    /// Why.
    pub error: inference::Error,
    /// The rule that no labels of the sentence satisfy, if one alone is to blame.
    pub rule: Option<Rule>,
}

/// The sentences of a document as the model sees them.
#[derive(Debug)]
pub struct Described {
    /// An instance for each sentence; labels and observations have the numbers of the model. Gold labels are those that
    /// the document has: the known ones alone, if the annotator fixes them.
    pub data: Dataset,
    /// The bytes of each token, in the order of positions.
    pub tokens: Vec<Range<usize>>,
    /// Whether the document says anything about labels.
    pub labelled: bool,
}

/// Stands for a label where there is no answer.
const NO_LABEL: &str = "?";

impl Pipeline {
    /// Gets ready to mark documents.
    pub fn annotator(&self) -> Annotator<'_> {
        self.annotator_with(AnnotatorOptions::default())
    }

    /// Gets ready to mark documents in a way of one's own.
    pub fn annotator_with(&self, options: AnnotatorOptions) -> Annotator<'_> {
        let scheme = Scheme::from(self.front.config.labels.scheme);
        let labels = self.chain.labels();
        let AnnotatorOptions {
            constraints,
            rules,
            fix_labels,
            space,
        } = options;
        let limited = constraints.is_some() || !rules.is_empty() || fix_labels;
        let of_scheme = || match self.front.config.labels.column {
            Some(_) => Constraints::none(),
            None => Constraints::of_scheme(scheme, labels),
        };
        Annotator {
            pipeline: self,
            scorer: Scorer::new(&self.front.extractor, self.chain.observations()),
            tagger: self.chain.tagger_with(space),
            scheme,
            reader: SpanReader::new(scheme, labels),
            constraints: constraints.unwrap_or_else(of_scheme),
            limits: limited.then_some(Limits { rules, fix_labels }),
            report: AnnotatorReport::default(),
            labellers: self.front.stack.labellers(),
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
        let known = self.known(document, &sentences);
        match &self.pipeline.front.config.labels.column {
            Some(column) => {
                let labels = self.label_tokens(document, &sentences, &known)?;
                let given = with_column(document.given.as_ref(), &sentences, column, &labels);
                document.given = Some(given);
            }
            None => {
                let found = self.find_spans(document, &sentences, &known)?;
                let tokens = std::mem::take(&mut sentences.tokens);
                document.annotations = found;
                document.open = None;
                document.relations.clear();
                self.pipeline.front.config.postprocess.apply(document, &tokens);
                self.pipeline.front.config.identify.apply(document);
            }
        }
        Ok(())
    }

    /// What there is to tell of the documents since the last report.
    pub fn take_report(&mut self) -> AnnotatorReport {
        std::mem::take(&mut self.report)
    }

    /// The labels of every token, sentence by sentence.
    pub fn label(&mut self, document: &Document) -> Result<Vec<Vec<&str>>, Error> {
        let sentences = self.cut(document)?;
        self.label_sentences(&document.text, &sentences)
    }

    /// The sentences of a document as the model sees them, for questions that [`Tagger`] answers.
    pub fn describe(&mut self, document: &Document) -> Result<Described, Error> {
        let sentences = self.cut(document)?;
        let (config, labels) = (&self.pipeline.front.config.labels, self.pipeline.chain.labels());
        let known = match &self.limits {
            Some(limits) if limits.fix_labels => Some(self.known(document, &sentences)),
            _ => known::gold_labels(config, labels, document, &sentences),
        };
        let gold = |position: usize| match known.as_ref().and_then(|known| known[position].as_deref()) {
            None => Gold::Unknown,
            Some([label]) => Gold::Known(*label),
            Some(labels) => Gold::Ambiguous(labels),
        };
        let data = self.observe(&document.text, &sentences, gold)?;
        let labelled = known.is_some_and(|known| known.iter().any(Option::is_some));
        Ok(Described {
            data,
            tokens: sentences.tokens.iter().map(|token| token.range()).collect(),
            labelled,
        })
    }

    /// Why the tokens of each sentence get their labels, with at most `top` reasons for each.
    pub fn explain(&mut self, document: &Document, top: usize) -> Result<Vec<Explanation>, Error> {
        let sentences = self.cut(document)?;
        let data = self.observe(&document.text, &sentences, |_| Gold::Unknown)?;
        self.constraints.clear_positions();
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
        sentences.try_for_each(text, self.pipeline.front.extractor.columns(), |_, sequence| {
            let labels = self
                .tagger
                .tag_scores(self.scorer.score(&self.tagger, sequence))?;
            all.push(labels.iter().map(|&label| names.name(label)).collect());
            Ok(())
        })?;
        Ok(all)
    }

    /// What the document says of its labels, if that is to be kept.
    fn known(&mut self, document: &Document, sentences: &Sentences<'_>) -> Known {
        let limits = self.limits.as_ref();
        if !limits.is_some_and(|limits| limits.fix_labels) {
            return Known::new();
        }
        let (config, labels) = (&self.pipeline.front.config.labels, self.pipeline.chain.labels());
        let known = known::known(config, labels, document, sentences, &mut self.report.notices);
        self.report.known += known.iter().flatten().count() as u64;
        known
    }

    /// The label of each token and its probability.
    fn label_tokens(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
        known: &Known,
    ) -> Result<Vec<(&'p str, Option<f64>)>, Error> {
        let names = self.pipeline.chain.labels();
        let mut all = Vec::with_capacity(sentences.tokens.len());
        let mut marginals = Vec::new();
        sentences.try_for_each(
            &document.text,
            self.pipeline.front.extractor.columns(),
            |_, sequence| {
                let scores = self.scorer.score(&self.tagger, sequence);
                allow(
                    &mut self.constraints,
                    known,
                    sequence.place.0,
                    sequence.tokens.len(),
                );
                let loaded = self.tagger.load_scores(scores, &self.constraints);
                let labels = loaded.map_err(Miss::from).and_then(|mut inference| {
                    inference.marginals(&mut marginals)?;
                    best(&mut inference, &self.reader, self.limits.as_ref())
                });
                match labels {
                    Ok(labels) => {
                        let rows = marginals.chunks(names.len().max(1));
                        let labelled = labels.iter().zip(rows);
                        all.extend(
                            labelled.map(|(&label, row)| (names.name(label), Some(row[label as usize]))),
                        );
                    }
                    Err(miss) => {
                        self.report.miss(document, sequence.tokens, miss)?;
                        all.resize(all.len() + sequence.tokens.len(), (NO_LABEL, None));
                    }
                }
                Ok(())
            },
        )?;
        Ok(all)
    }

    fn cut<'d>(&mut self, document: &'d Document) -> Result<Sentences<'d>, Error> {
        let mut sentences = Sentences::default();
        let notices = &mut self.report.notices;
        self.pipeline.front.cutter.cut(document, &mut sentences, notices);
        self.look_up(&document.text, &mut sentences)?;
        Ok(sentences)
    }

    /// Adds the labels of other pipelines that this one looks at.
    pub(super) fn look_up(&mut self, text: &str, sentences: &mut Sentences<'_>) -> Result<(), Error> {
        self.labellers.add_columns(text, sentences)
    }

    fn observe<'g>(
        &mut self,
        text: &str,
        sentences: &Sentences<'_>,
        gold: impl Fn(usize) -> Gold<'g>,
    ) -> Result<Dataset, Error> {
        let mut builder = DatasetBuilder::new();
        let extraction = self.scorer.extraction();
        sentences.try_for_each(text, self.pipeline.front.extractor.columns(), |_, sequence| {
            let first = sequence.place.0;
            describe(extraction, sequence, &mut builder, |_, position| {
                gold(first + position)
            })
        })?;
        Ok(builder.finish_part())
    }

    fn find_spans(
        &mut self,
        document: &Document,
        sentences: &Sentences<'_>,
        known: &Known,
    ) -> Result<Vec<Annotation>, Error> {
        let names = self.pipeline.chain.labels();
        let name = |labels: &[u32]| labels.iter().map(|&label| names.name(label)).collect::<Vec<_>>();
        let outside = names.get("O");
        let mut found = Vec::new();
        sentences.try_for_each(
            &document.text,
            self.pipeline.front.extractor.columns(),
            |_, sequence| {
                let scores = self.scorer.score(&self.tagger, sequence);
                let mut quick = None;
                if self.limits.is_none() {
                    let labels = self.tagger.tag_scores(scores)?;
                    if labels.iter().all(|&label| Some(label) == outside) {
                        return Ok(());
                    }
                    quick = Some(name(labels)).filter(|labels| self.scheme.violations(labels).is_empty());
                }
                allow(
                    &mut self.constraints,
                    known,
                    sequence.place.0,
                    sequence.tokens.len(),
                );
                let mut inference = match self.tagger.load_scores(scores, &self.constraints) {
                    Ok(inference) => inference,
                    Err(error) => return self.report.miss(document, sequence.tokens, error.into()),
                };
                let labels = match quick {
                    Some(labels) => labels,
                    None => match best(&mut inference, &self.reader, self.limits.as_ref()) {
                        Ok(labels) => name(&labels),
                        Err(miss) => return self.report.miss(document, sequence.tokens, miss),
                    },
                };
                for span in self.scheme.spans(&labels) {
                    let kind = self.reader.kinds().get(span.kind);
                    let probability =
                        |kind| inference.span_probability(&self.reader, span.start..span.end, kind);
                    let score = kind.map(probability).transpose()?;
                    let tokens = &sequence.tokens[span.start..span.end];
                    let bytes = tokens[0].start..tokens[tokens.len() - 1].end;
                    found.push(Annotation {
                        score,
                        ..Annotation::new(bytes, span.kind)
                    });
                }
                Ok(())
            },
        )?;
        Ok(found)
    }
}

impl AnnotatorReport {
    /// Notes a sentence without an answer; other errors remain errors.
    fn miss(&mut self, document: &Document, tokens: &[Token], miss: Miss) -> Result<(), Error> {
        let Miss { error, rule } = miss;
        match error {
            inference::Error::NoSequence { .. } | inference::Error::Infeasible => {
                let start = tokens.first().map_or(0, |token| token.start);
                let end = tokens.last().map_or(0, |token| token.end);
                self.impossible.push(Impossible {
                    document: document.id.clone(),
                    text: document.text.get(start..end).unwrap_or_default().to_owned(),
                    error,
                    rule,
                });
                Ok(())
            }
            error => Err(error.into()),
        }
    }
}

/// Why there is no answer, and the rule that alone is to blame.
struct Miss {
    error: inference::Error,
    rule: Option<Rule>,
}

impl From<inference::Error> for Miss {
    fn from(error: inference::Error) -> Self {
        Self { error, rule: None }
    }
}

/// Puts what is known of a sentence into constraints, in the place of what was known of the one before.
fn allow(constraints: &mut Constraints, known: &Known, first: usize, length: usize) {
    constraints.clear_positions();
    let sentence = known.get(first..first + length).unwrap_or_default();
    for (position, labels) in sentence.iter().enumerate() {
        if let Some(labels) = labels {
            constraints.allow(position, labels.iter().copied());
        }
    }
}

/// The best labels under the rules, if there are any.
fn best(
    inference: &mut Inference<'_, '_, f64>,
    reader: &SpanReader,
    limits: Option<&Limits>,
) -> Result<Vec<u32>, Miss> {
    let rules = match limits {
        Some(Limits { rules, .. }) if !rules.is_empty() => rules,
        _ => return Ok(inference.viterbi()?.labels.to_vec()),
    };
    let found = inference.viterbi_under(reader, rules);
    let found = found.map(|path| path.labels.to_vec());
    found.map_err(|error| Miss {
        rule: match error {
            inference::Error::Infeasible => inference.impossible_rule(reader, rules).cloned(),
            _ => None,
        },
        error,
    })
}

/// The tokens of a document, with one more column or that column replaced. Tokens that were given stay if they are the
/// same.
pub(super) fn with_column(
    given: Option<&GivenTokens>,
    sentences: &Sentences<'_>,
    column: &str,
    labels: &[(&str, Option<f64>)],
) -> GivenTokens {
    let same = |given: &&GivenTokens| {
        let ranges = given.sentences.iter().flatten().map(|token| token.range.clone());
        ranges.eq(sentences.tokens.iter().map(|token| token.range()))
    };
    let mut given = match given.filter(same) {
        Some(given) => given.clone(),
        None => GivenTokens {
            sentences: sentences
                .true_ranges()
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
        token.score = *probability;
    }
    given.labels = Some(column.to_owned());
    given
}
