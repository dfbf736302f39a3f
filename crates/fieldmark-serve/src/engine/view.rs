//! Sentences as people see them: text, what is known, what is suggested.

use super::cells::{self, Cell, LabelMap};
use super::corpus::{Corpus, Text};
use super::prior::Prior;
use super::state::State;
use super::wire::{Choice, NamedAssertion, Sentence, Suggestion};
use crate::project::{Assertion, Error, UserId};
use fieldmark::chain::inference::SpanReader;
use fieldmark::core::{Alphabet, Dataset, Scheme};
use fieldmark::learn::{Estimator, Fitted};
use std::ops::Range;
use std::sync::Arc;

/// What the model, or a list, says of a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimated {
    /// The best label of each token.
    pub path: Vec<u32>,
    /// The probability of each label at each token.
    pub marginals: Vec<f64>,
    /// The spans of the best labels, in tokens of the sentence, with the probability that just this span is there.
    pub spans: Vec<(Range<usize>, String, f64)>,
    pub origin: &'static str,
    /// Whether there is no model yet that could prefer one answer to another.
    blank: bool,
}

impl Estimated {
    /// The probability of each answer about a token of the sentence: outside first, then types in their order.
    pub fn answers(&self, token: usize, map: &LabelMap) -> Vec<f64> {
        if self.blank {
            let answers = map.kinds().len() + 1;
            return vec![1.0 / answers as f64; answers];
        }
        let labels = self.marginals.len() / self.path.len().max(1);
        let row = &self.marginals[token * labels..][..labels];
        let of = |label: Option<u32>| {
            label
                .and_then(|label| row.get(label as usize))
                .copied()
                .unwrap_or(0.0)
        };
        let kinds = map
            .kinds()
            .iter()
            .map(|&kind| of(map.begin(kind)) + of(map.inside(kind)));
        std::iter::once(of(Some(0))).chain(kinds).collect()
    }
}

/// How much of the text around a sentence is shown, in bytes.
const CONTEXT: usize = 400;

/// What sentences are estimated with. It is a copy of a few pointers: nobody has to wait until a long document is
/// estimated.
#[derive(Clone)]
pub(super) struct Estimating {
    pub corpus: Arc<Corpus>,
    data: Arc<Dataset>,
    model: Arc<Fitted>,
    pub map: Arc<LabelMap>,
    prior: Arc<Prior>,
    pub warm: bool,
}

/// What somebody sees of a sentence, before it is estimated.
pub(super) struct Drawn {
    pub number: usize,
    pub index: usize,
    pub cells: Vec<Cell>,
    pub known: Vec<NamedAssertion>,
}

impl Estimating {
    /// Asks the model about a sentence, under what these cells say.
    pub fn estimate(&self, number: usize, index: usize, cells: &[Cell]) -> Result<Estimated, Error> {
        let text = self.corpus.get(number);
        let instance = self.data.instance(text.first_sequence + index);
        let known = cells::labels(cells, &self.map);
        let first = instance.positions().start;
        let mut estimator = Estimator::new(&self.model);
        let mut inference = estimator.load_instance(instance, |position| known[position - first].gold())?;
        let mut estimated = Estimated {
            origin: "model",
            blank: !self.warm,
            path: inference
                .viterbi()
                .map_err(fieldmark::learn::Error::from)?
                .labels
                .to_vec(),
            ..Estimated::default()
        };
        inference
            .marginals(&mut estimated.marginals)
            .map_err(fieldmark::learn::Error::from)?;
        if !self.warm {
            let sentence = text.sentence(index);
            for found in self.prior.find(text, sentence.clone()) {
                let tokens = found.tokens.start - sentence.start..found.tokens.end - sentence.start;
                estimated.spans.push((tokens, found.kind, 1.0));
                estimated.origin = found.origin;
            }
            return Ok(estimated);
        }
        let labels: Alphabet = self.map.labels().iter().take(inference.labels()).collect();
        let reader = SpanReader::new(Scheme::Iob2, &labels);
        let names: Vec<&str> = estimated.path.iter().map(|&label| labels.name(label)).collect();
        for span in Scheme::Iob2.spans(&names) {
            let kind = reader.kinds().get(span.kind).unwrap_or(0);
            let probability = inference
                .span_probability(&reader, span.start..span.end, kind)
                .map_err(fieldmark::learn::Error::from)?;
            estimated
                .spans
                .push((span.start..span.end, span.kind.to_owned(), probability));
        }
        Ok(estimated)
    }

    /// A sentence as somebody sees it.
    pub fn sentence(&self, drawn: Drawn) -> Result<Sentence, Error> {
        let estimated = self.estimate(drawn.number, drawn.index, &drawn.cells)?;
        Ok(self.shown(drawn, &estimated))
    }

    /// The same from what was found out already.
    pub fn shown(&self, drawn: Drawn, estimated: &Estimated) -> Sentence {
        let text = self.corpus.get(drawn.number);
        let tokens = text.sentence(drawn.index);
        let bytes = text.bytes_of(tokens.clone());
        let (before, after) = context(text, &bytes);
        Sentence {
            index: drawn.index,
            start: tokens.start,
            end: tokens.end,
            text: text.text[bytes.clone()].to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            tokens: text.utf16(tokens.clone(), bytes.start, bytes.end),
            suggestions: suggestions(&drawn.cells, estimated, tokens.start),
            known: drawn.known,
            origin: estimated.origin,
        }
    }
}

impl State {
    /// What sentences are estimated with now.
    pub fn estimating(&self) -> Estimating {
        Estimating {
            corpus: self.corpus.clone(),
            data: self.pool.data().clone(),
            model: self.model.clone(),
            map: self.map.clone(),
            prior: self.prior.clone(),
            warm: self.warm,
        }
    }

    /// What somebody sees of a sentence, before it is estimated.
    pub fn draw(&self, number: usize, index: usize, user: UserId) -> Drawn {
        let tokens = self.corpus.get(number).sentence(index);
        let cells = self.view(number, user, tokens.clone());
        Drawn {
            number,
            index,
            known: self.named(cells::assertions(&cells, tokens.start)),
            cells,
        }
    }

    /// Assertions with the names of types. Those of types that are gone are left out.
    pub fn named(&self, all: Vec<Assertion>) -> Vec<NamedAssertion> {
        let of_use = |kind| self.types.iter().any(|one| one.id == kind && !one.removed);
        all.into_iter()
            .filter(|one| one.kind.is_none_or(of_use))
            .map(|one| NamedAssertion {
                start: one.start,
                end: one.end,
                kind: one.kind.map(|kind| self.type_name(kind).to_owned()),
                borders: one.borders,
            })
            .collect()
    }

    /// All answers about a token of a sentence, the most probable first.
    pub fn choices(&self, estimated: &Estimated, token: usize) -> Vec<Choice> {
        let answers = estimated.answers(token, &self.map);
        let kinds = self
            .map
            .kinds()
            .iter()
            .map(|&kind| Some(self.type_name(kind).to_owned()));
        let mut choices: Vec<Choice> = std::iter::once(None)
            .chain(kinds)
            .zip(answers)
            .map(|(kind, probability)| Choice { kind, probability })
            .collect();
        // Equal ones stay in the order of the types.
        choices.sort_by(|one, other| other.probability.total_cmp(&one.probability));
        choices
    }
}

/// Spans of which not every token is known already.
pub(super) fn suggestions(cells: &[Cell], estimated: &Estimated, first: usize) -> Vec<Suggestion> {
    let open = |range: &Range<usize>| cells[range.clone()].iter().any(|cell| !cell.said.is_something());
    let spans = estimated.spans.iter().filter(|(range, ..)| open(range));
    spans
        .map(|(range, kind, probability)| Suggestion {
            start: first + range.start,
            end: first + range.end,
            kind: Some(kind.clone()),
            probability: *probability,
        })
        .collect()
}

/// The text before and after some bytes, cut between words where there are any.
fn context<'t>(text: &'t Text, bytes: &Range<usize>) -> (&'t str, &'t str) {
    let text = text.text.as_str();
    let mut start = bytes.start.saturating_sub(CONTEXT);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let mut before = &text[start..bytes.start];
    if start > 0 {
        before = before
            .find(char::is_whitespace)
            .map_or(before, |at| &before[at..]);
    }
    let mut end = (bytes.end + CONTEXT).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut after = &text[bytes.end..end];
    if end < text.len() {
        after = after.rfind(char::is_whitespace).map_or(after, |at| &after[..at]);
    }
    (before, after)
}
