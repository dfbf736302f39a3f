//! [`pair_documents`]: gold and predicted documents, brought together by their ids.

use fieldmark_eval::Span;
use fieldmark_text::document::{Annotation, Document};
use fieldmark_text::formats::ALTGENE;
use fieldmark_text::offsets::{Offsets, Unit};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// A document with its gold and its predicted annotations.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// The id of the document.
    pub id: String,
    /// The text, as gold has it.
    pub text: String,
    /// The sentences and their tokens, if gold comes with them.
    pub sentences: Option<Vec<Vec<Range<usize>>>>,
    /// What should be found.
    pub gold: Vec<Annotation>,
    /// Other forms of gold annotations that are as good (`ALTGENE`), for [`super::Measure::GeneMention`].
    pub alternatives: Vec<Annotation>,
    /// What was found, without alternatives.
    pub found: Vec<Annotation>,
    /// How many annotations, gold and found ones, do not count, because labels that they hold or touch are unknown or one
    /// of several.
    pub left_out: usize,
}

impl Pair {
    /// A gold document and what was found in it.
    pub fn new(gold: Document, mut found: Vec<Annotation>) -> Self {
        let is_alternative = |annotation: &Annotation| annotation.kind == ALTGENE;
        // They say how else something could be called, not that it was found.
        found.retain(|annotation| !is_alternative(annotation));
        let (alternatives, mut marked): (Vec<_>, Vec<_>) =
            gold.annotations.into_iter().partition(is_alternative);
        let all = marked.len() + found.len();
        let open = gold.open.iter().flatten().map(|open| open.range.clone());
        let mut open: Vec<Range<usize>> = open.collect();
        open.sort_by_key(|range| range.start);
        let counts = |annotation: &Annotation| {
            let range = annotation.range();
            // The last token before the span, and the first that is not.
            let next = open.partition_point(|token| token.end <= range.start);
            let near = next.saturating_sub(1)..(next + 1).min(open.len());
            !open[near].iter().any(|token| touches(&gold.text, &range, token))
        };
        marked.retain(counts);
        found.retain(counts);
        let left_out = all - marked.len() - found.len();
        let sentences = gold.given.map(|given| {
            let ranges = |sentence: Vec<_>| {
                let tokens = sentence.into_iter();
                tokens
                    .map(|token: fieldmark_text::document::GivenToken| token.range)
                    .collect()
            };
            given.sentences.into_iter().map(ranges).collect()
        });
        Self {
            id: gold.id,
            text: gold.text,
            sentences,
            gold: marked,
            alternatives,
            found,
            left_out,
        }
    }

    /// The gold annotations as spans, gaps included.
    pub fn gold_spans(&self) -> Vec<Span<'_>> {
        spans(&self.gold)
    }

    /// The predicted annotations as spans, gaps included.
    pub fn found_spans(&self) -> Vec<Span<'_>> {
        spans(&self.found)
    }
}

/// Whether a span holds a token, or lies beside it in the same line.
fn touches(text: &str, span: &Range<usize>, token: &Range<usize>) -> bool {
    let between = span.end.min(token.end)..span.start.max(token.start);
    let gap = text.get(between).unwrap_or_default();
    gap.chars().all(|c| c.is_whitespace() && c != '\n')
}

fn spans(annotations: &[Annotation]) -> Vec<Span<'_>> {
    let span = |annotation: &'_ Annotation| annotation.range();
    annotations
        .iter()
        .map(|annotation| Span::new(span(annotation).start, span(annotation).end, &annotation.kind))
        .collect()
}

/// Documents that belong together, and those that have no partner.
#[derive(Clone, Debug, Default)]
pub struct Pairing {
    /// Every gold document, in order.
    pub pairs: Vec<Pair>,
    /// Ids of gold documents that were not predicted: nothing was found in them.
    pub missing: Vec<String>,
    /// Ids of predicted documents that are not in gold: they do not count.
    pub extra: Vec<String>,
    /// Ids of predicted documents that were predicted before: only the first counts.
    pub repeated: Vec<String>,
    /// Whether no id was the same, and the texts were, in the same order.
    pub by_order: bool,
    /// Number of documents whose texts differ in white space; offsets were translated.
    pub respaced: usize,
}

/// Why documents cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PairError {
    /// There is nothing to compare with.
    #[error("there is no gold document")]
    NoGold,
    /// Two sides that have nothing to do with each other.
    #[error(
        "no document is in both: gold has {gold} (the first is {first:?}), predicted are {predicted} (the first is \
         {other:?}). Documents are matched by their ids"
    )]
    NothingInCommon {
        /// Number of gold documents.
        gold: usize,
        /// Number of predicted documents.
        predicted: usize,
        /// The id of the first gold document.
        first: String,
        /// The id of the first predicted document.
        other: String,
    },
    /// Documents of one id with different texts.
    #[error(
        "the text of {id:?} differs from character {character}: gold has {gold:?}, predicted has {predicted:?}{}. \
         Offsets in different texts cannot be compared; predict on the gold texts",
        match .others { 0 => String::new(), n => format!("; so do the texts of {n} other documents") }
    )]
    OtherText {
        /// The id.
        id: String,
        /// Where they differ, from 1.
        character: usize,
        /// Gold text from there.
        gold: String,
        /// Predicted text from there.
        predicted: String,
        /// How many documents besides have different texts.
        others: usize,
    },
}

/// Brings gold and predicted documents together by their ids; of several with one id, the first belongs to the first.
///
/// Texts must be the same up to white space. Where no id is the same but all texts are, in the same order, documents
/// are matched in that order.
pub fn pair_documents(gold: Vec<Document>, predicted: Vec<Document>) -> Result<Pairing, PairError> {
    let (Some(first), count) = (gold.first(), predicted.len()) else {
        return Err(PairError::NoGold);
    };
    let by_order = !share_an_id(&gold, &predicted);
    if by_order && !same_texts(&gold, &predicted) {
        return Err(PairError::NothingInCommon {
            gold: gold.len(),
            predicted: count,
            first: first.id.clone(),
            other: predicted
                .first()
                .map_or_else(String::new, |other| other.id.clone()),
        });
    }
    let ids: HashSet<String> = gold.iter().map(|document| document.id.clone()).collect();
    let mut partners: HashMap<String, VecDeque<(usize, Document)>> = HashMap::new();
    for (at, document) in predicted.into_iter().enumerate() {
        let key = if by_order {
            at.to_string()
        } else {
            document.id.clone()
        };
        partners.entry(key).or_default().push_back((at, document));
    }
    let mut pairing = Pairing {
        by_order,
        ..Pairing::default()
    };
    let mut differing: Option<PairError> = None;
    for (at, document) in gold.into_iter().enumerate() {
        let key = if by_order {
            at.to_string()
        } else {
            document.id.clone()
        };
        let partner = partners.get_mut(&key).and_then(VecDeque::pop_front);
        let Some((_, partner)) = partner else {
            pairing.missing.push(document.id.clone());
            pairing.pairs.push(Pair::new(document, Vec::new()));
            continue;
        };
        match translated(&document.text, partner) {
            Ok((found, respaced)) => {
                pairing.respaced += usize::from(respaced);
                pairing.pairs.push(Pair::new(document, found));
            }
            Err(text) => match &mut differing {
                Some(PairError::OtherText { others, .. }) => *others += 1,
                _ => differing = Some(other_text(&document, &text)),
            },
        }
    }
    let mut extra: Vec<(usize, String)> = partners
        .into_values()
        .flatten()
        .map(|(at, document)| (at, document.id))
        .collect();
    extra.sort_unstable();
    let extra = extra.into_iter().map(|(_, id)| id);
    (pairing.repeated, pairing.extra) = extra.partition(|id| !by_order && ids.contains(id));
    differing.map_or(Ok(pairing), Err)
}

fn share_an_id(gold: &[Document], predicted: &[Document]) -> bool {
    let ids: HashSet<&str> = gold.iter().map(|document| document.id.as_str()).collect();
    predicted
        .iter()
        .any(|document| ids.contains(document.id.as_str()))
}

fn same_texts(gold: &[Document], predicted: &[Document]) -> bool {
    let same = |(one, other): (&Document, &Document)| letters(&one.text).eq(letters(&other.text));
    gold.len() == predicted.len() && gold.iter().zip(predicted).all(same)
}

fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| !c.is_whitespace())
}

/// The annotations of a document at their places in another text that is the same up to white space, and whether
/// there was something to translate; or the text, which is another.
fn translated(text: &str, partner: Document) -> Result<(Vec<Annotation>, bool), String> {
    if text == partner.text {
        return Ok((partner.annotations, false));
    }
    if !letters(text).eq(letters(&partner.text)) {
        return Err(partner.text);
    }
    let (own, other) = (
        Offsets::new(text, Unit::NonSpace),
        Offsets::new(&partner.text, Unit::NonSpace),
    );
    // The end of the character before a place, so that no white space is between them.
    let end_before = |place: usize| {
        let last = own.byte(place.checked_sub(1)?)?;
        Some(last + text[last..].chars().next()?.len_utf8())
    };
    let place = |range: &Range<usize>| {
        let (first, end) = (other.count(range.start)?, other.count(range.end)?);
        // Nothing but white space, which the other text may not have: an empty span is as wrong.
        let start = if first == end {
            end_before(first).unwrap_or(0)
        } else {
            own.byte(first)?
        };
        Some(start..end_before(end).unwrap_or(0))
    };
    let annotations = partner.annotations.into_iter().map(|mut annotation| {
        annotation.fragments = annotation
            .fragments
            .iter()
            .map(|range| place(range).unwrap_or(text.len()..text.len()))
            .collect();
        annotation
    });
    Ok((annotations.collect(), true))
}

/// Characters of a text that differs from another.
const SHOWN: usize = 30;

fn other_text(gold: &Document, predicted: &str) -> PairError {
    let same = gold.text.chars().zip(predicted.chars());
    let character = same.take_while(|(one, other)| one == other).count();
    let rest = |text: &str| text.chars().skip(character).take(SHOWN).collect();
    PairError::OtherText {
        id: gold.id.clone(),
        character: character + 1,
        gold: rest(&gold.text),
        predicted: rest(predicted),
        others: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assess, document};
    use super::super::{Measure, write_page};
    use super::*;

    #[test]
    fn documents_without_a_partner_are_named_in_their_order() {
        let gold = vec![document("a", "x", &[])];
        let predicted = ["q", "a", "p", "z", "a"].map(|id| document(id, "x", &[]));
        let pairing = pair_documents(gold, predicted.to_vec()).unwrap();
        assert_eq!(pairing.extra, ["q", "p", "z"]);
        assert_eq!(pairing.repeated, ["a"]);
    }

    #[test]
    fn fewer_documents_with_other_ids_are_others() {
        let gold = ["a", "b"].map(|id| document(id, "x", &[]));
        let error = pair_documents(gold.to_vec(), vec![document("c", "x", &[])]).unwrap_err();
        assert!(
            error.to_string().contains("Documents are matched by their ids"),
            "{error}"
        );
    }

    #[test]
    fn a_span_of_white_space_is_right_in_no_text() {
        let gold = document("a", "one twö", &[(4, 8, "X", None)]);
        let spaces = [(4, 8, "X", None), (5, 6, "X", None), (12, 14, "X", None)];
        let predicted = document("a", "one     twö  ", &spaces);
        let pairing = pair_documents(vec![gold], vec![predicted]).unwrap();
        let found: Vec<_> = pairing.pairs[0].found.iter().map(Annotation::range).collect();
        assert_eq!(found, [3..3, 3..3, 8..8]);
        let assessment = assess(
            &pairing.pairs,
            &[Measure::Exact, Measure::Tokens, Measure::GeneMention],
        );
        assert_eq!((assessment.errors.missed, assessment.errors.spurious), (1, 3));
        assert!(write_page("", "", &assessment.sections()).is_ok());
    }

    #[test]
    fn white_space_of_other_texts_splits_no_character() {
        let text = format!("{} Ada", "ö".repeat(300));
        let gold = document("a", &text, &[]);
        let predicted = document(
            "a",
            &format!("   {text}"),
            &[(0, 3, "X", None), (1, 2, "Y", None)],
        );
        let pairing = pair_documents(vec![gold], vec![predicted]).unwrap();
        let assessment = assess(&pairing.pairs, &[Measure::Exact]);
        assert!(write_page("", "", &assessment.sections()).is_ok());
    }

    #[test]
    fn every_document_with_another_text_is_counted() {
        let gold = ["a", "b", "c", "d"].map(|id| document(id, "iron", &[]));
        let predicted = ["a", "b", "c", "d"].map(|id| document(id, "zinc", &[]));
        let error = pair_documents(gold.to_vec(), predicted.to_vec()).unwrap_err();
        let expected = PairError::OtherText {
            id: "a".to_owned(),
            character: 1,
            gold: "iron".to_owned(),
            predicted: "zinc".to_owned(),
            others: 3,
        };
        assert_eq!(error, expected);
    }
}
