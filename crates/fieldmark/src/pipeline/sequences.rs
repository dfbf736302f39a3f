//! From a document to token sequences.

use crate::Error;
use crate::config::TextConfig;
use fieldmark_core::{DatasetBuilder, Gold};
use fieldmark_text::document::{Document, GivenTokens};
use fieldmark_text::features::{Extraction, Numbering, Sequence};
use fieldmark_text::formats::{NoticeKind, Notices};
use fieldmark_text::normalize::Normalizer;
use fieldmark_text::sentences::SentenceSplitter;
use fieldmark_text::tokenize::{Token, Tokenizer};
use std::borrow::Cow;
use std::ops::Range;

/// Sentences of a text that is cut into tokens here are not longer than this: describing and labelling take about a
/// kilobyte for each token of a sentence, and a text without any border, such as a table of numbers, may have millions.
/// No true sentence and hardly any whole document comes near it.
pub(super) const LONGEST: usize = 1 << 15;

/// Cuts documents into sentences and tokens.
#[derive(Debug)]
pub(crate) struct Cutter {
    splitter: SentenceSplitter,
    tokenizer: Tokenizer,
    normalizer: Normalizer,
    retokenize: bool,
}

/// The tokens of a document, sentence by sentence.
#[derive(Debug, Default)]
pub(crate) struct Sentences<'d> {
    pub tokens: Vec<Token>,
    /// The end of every sentence, in tokens.
    ends: Vec<usize>,
    /// How many sentences were longer than [`LONGEST`].
    cut: usize,
    given: Option<&'d GivenTokens>,
    /// Columns that were found out: by name, what they say about the tokens of each sentence.
    pub extra: Vec<(String, Vec<Vec<String>>)>,
    /// The true ends of sentences, if all of them count as one.
    joined: Option<Vec<usize>>,
}

impl Cutter {
    pub fn new(config: &TextConfig) -> Self {
        Self {
            splitter: SentenceSplitter::new(config.sentences.clone()),
            tokenizer: Tokenizer::new(config.tokenizer.clone()),
            normalizer: config.normalize.clone(),
            retokenize: config.retokenize,
        }
    }

    /// Cuts a document. Tokens and sentences that its source gives are taken as they are, unless the config says
    /// otherwise.
    pub fn cut<'d>(&self, document: &'d Document, sentences: &mut Sentences<'d>, notices: &mut Notices) {
        sentences.tokens.clear();
        sentences.ends.clear();
        sentences.extra.clear();
        sentences.joined = None;
        sentences.cut = 0;
        sentences.given = document.given.as_ref().filter(|_| !self.retokenize);
        let text = &document.text;
        match sentences.given {
            Some(given) => {
                for sentence in given.sentences.iter().filter(|sentence| !sentence.is_empty()) {
                    let tokens = sentence
                        .iter()
                        .map(|token| given_token(text, token.range.clone()));
                    sentences.tokens.extend(tokens);
                    sentences.ends.push(sentences.tokens.len());
                }
            }
            None => {
                // About as many as words of a text: it does not have to grow time and again.
                sentences.tokens.reserve(text.len() / 5);
                for range in self.splitter.split(text) {
                    self.normalizer
                        .tokenize_into(&self.tokenizer, text, range, &mut sentences.tokens);
                    sentences.end();
                }
            }
        }
        if sentences.cut > 0 {
            let message = format!(
                "{} with more than {LONGEST} tokens: each was cut into parts, which are sentences of their own",
                sentences.cut
            );
            notices.add(NoticeKind::LongSentence, &document.id, None, message);
        }
    }
}

fn given_token(text: &str, range: Range<usize>) -> Token {
    let open = |c: Option<char>| c.is_none_or(char::is_whitespace);
    Token {
        start: range.start,
        end: range.end,
        space_before: open(text[..range.start].chars().next_back()),
        space_after: open(text[range.end..].chars().next()),
    }
}

impl<'d> Sentences<'d> {
    /// Ends a sentence after the last token; a long one also before, between words if it has any.
    fn end(&mut self) {
        let mut start = self.ends.last().copied().unwrap_or(0);
        self.cut += usize::from(self.tokens.len() - start > LONGEST);
        while self.tokens.len() - start > LONGEST {
            let most = start + LONGEST;
            let mut words = (most - LONGEST / 2..=most).rev();
            start = words.find(|&at| self.tokens[at].space_before).unwrap_or(most);
            self.ends.push(start);
        }
        if start < self.tokens.len() {
            self.ends.push(self.tokens.len());
        }
    }

    /// The sentences as ranges of tokens.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        ranges(&self.ends)
    }

    /// The sentences as ranges of tokens, even if they count as one.
    pub fn true_ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        ranges(self.joined.as_ref().unwrap_or(&self.ends))
    }

    /// The sentence that a token is in, as a range of tokens.
    pub fn sentence_of(&self, token: usize) -> Range<usize> {
        let at = self.ends.partition_point(|&end| end <= token);
        let end = |at: usize| self.ends.get(at).copied().unwrap_or(self.tokens.len());
        at.checked_sub(1).map_or(0, end)..end(at)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Makes one sentence of all.
    pub fn join(&mut self) {
        if !self.tokens.is_empty() && self.joined.is_none() {
            let all = vec![self.tokens.len()];
            self.joined = Some(std::mem::replace(&mut self.ends, all));
        }
    }

    /// Makes sentences of their own of what was joined.
    pub fn part(&mut self) {
        if let Some(ends) = self.joined.take() {
            self.ends = ends;
        }
    }

    /// Whether the source, or another pipeline, gives a column.
    pub fn has_column(&self, name: &str) -> bool {
        let mut extra = self.extra.iter().map(|(extra, _)| extra);
        let mut given = self.given.iter().flat_map(|given| &given.columns);
        extra.any(|column| column == name) || given.any(|column| column == name)
    }

    /// What a column of the source says about the tokens of each sentence, if it has that column.
    pub fn column(&self, name: &str) -> Option<Vec<Vec<Cow<'_, str>>>> {
        let sentences = self.column_by_sentence(name)?;
        Some(if self.joined.is_some() {
            vec![sentences.into_iter().flatten().collect()]
        } else {
            sentences
        })
    }

    fn column_by_sentence(&self, name: &str) -> Option<Vec<Vec<Cow<'_, str>>>> {
        // The last one is that of the pipeline at work.
        if let Some((_, sentences)) = self.extra.iter().rev().find(|(extra, _)| extra == name) {
            let borrowed =
                |values: &'_ Vec<String>| values.iter().map(|value| Cow::Owned(value.clone())).collect();
            return Some(sentences.iter().map(borrowed).collect());
        }
        let given = self.given?;
        let number = given.columns.iter().position(|column| column == name)?;
        let sentences = given.sentences.iter().filter(|sentence| !sentence.is_empty());
        let values = sentences.map(|sentence| {
            let values = sentence
                .iter()
                .map(|token| token.columns.get(number).map_or("", String::as_str));
            values.map(Cow::Borrowed).collect()
        });
        Some(values.collect())
    }

    /// Calls `each` with every sentence, as the extractor wants it, until that fails.
    pub fn try_for_each(
        &self,
        text: &str,
        columns: &[String],
        mut each: impl FnMut(usize, &Sequence<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut columns: Vec<_> = columns
            .iter()
            .map(|name| self.column(name).unwrap_or_default().into_iter())
            .collect();
        for (index, range) in self.ranges().enumerate() {
            let columns: Vec<Vec<Cow<'_, str>>> = columns
                .iter_mut()
                .map(|column| column.next().unwrap_or_default())
                .collect();
            let sequence = Sequence {
                text,
                tokens: &self.tokens[range.clone()],
                columns: &columns,
                place: (range.start, self.tokens.len()),
            };
            each(index, &sequence)?;
        }
        Ok(())
    }
}

fn ranges(ends: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends.iter().copied()).map(|(start, end)| start..end)
}

/// Adds a sequence to a data set.
pub(super) fn describe<'g, N: Numbering>(
    extraction: &mut Extraction<'_, N>,
    sequence: &Sequence<'_>,
    builder: &mut DatasetBuilder,
    gold: impl Fn(&mut DatasetBuilder, usize) -> Gold<'g>,
) -> Result<(), Error> {
    let wrong = |error: fieldmark_core::dataset::DatasetError| Error::Option(error.to_string());
    let description = extraction.describe(sequence);
    for position in 0..description.len() {
        let pieces = description.pieces_at(position);
        pieces.for_each(|ids| builder.observe_all(ids));
        for other in description.others_at(position) {
            builder.observe(other.id, other.value);
        }
        let gold = gold(builder, position);
        builder.end_position(gold).map_err(wrong)?;
    }
    builder.end_instance().map_err(wrong)
}
