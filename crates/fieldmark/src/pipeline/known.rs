//! What is known of the labels of a document before a model looks at it.

use super::gold;
use super::sequences::Sentences;
use crate::config::LabelConfig;
use fieldmark_core::scheme::Span;
use fieldmark_core::{Alphabet, Scheme};
use fieldmark_text::document::Document;
use fieldmark_text::formats::{NoticeKind, Notices};
use std::collections::BTreeSet;
use std::ops::Range;

/// For every token, the labels that it may have; `None` where nothing is known.
pub(super) type Known = Vec<Option<Vec<u32>>>;

/// What the annotations of a document, or its column of labels, say about its tokens.
///
/// Annotations are known to be spans; what is outside of them is open, unless the document tells what is open. In a column,
/// `?`, `_` and labels that the model does not have are open, and `A|B` is one of both.
pub(super) fn known(
    config: &LabelConfig,
    labels: &Alphabet,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Known {
    match &config.column {
        Some(column) => match sentences.column(column) {
            Some(cells) => cells
                .iter()
                .flatten()
                .map(|cell| alternatives(cell, labels))
                .collect(),
            None => vec![None; sentences.tokens.len()],
        },
        None if document.open.is_some() => {
            let cells = gold::labels(config, document, sentences, notices);
            known_cells(labels, &cells, document, notices)
        }
        None => {
            let spans = gold::spans(config, document, sentences, notices);
            known_spans(config.scheme.into(), labels, spans, document, sentences, notices)
        }
    }
}

/// What the cells of tokens allow. Labels that the model does not have leave a token open, and are told.
pub(super) fn known_cells(
    labels: &Alphabet,
    cells: &[Vec<String>],
    document: &Document,
    notices: &mut Notices,
) -> Known {
    let mut lacking: BTreeSet<&str> = BTreeSet::new();
    let known = cells.iter().flatten().map(|cell| {
        lacking.extend(gold::alternatives(cell).filter(|label| labels.get(label).is_none()));
        alternatives(cell, labels)
    });
    let known = known.collect();
    for label in lacking {
        let message = format!("the label {label} is not taken as known: the model does not have it");
        notices.add(NoticeKind::Skipped, &document.id, None, message);
    }
    known
}

/// The labels of every token, as far as the model has them, if a document is annotated at all.
pub(super) fn gold_labels(
    config: &LabelConfig,
    labels: &Alphabet,
    document: &Document,
    sentences: &Sentences<'_>,
) -> Option<Known> {
    if config.column.is_none() && document.annotations.is_empty() && document.open.is_none() {
        return None;
    }
    let gold = gold::labels(config, document, sentences, &mut Notices::new());
    let known: Known = gold
        .iter()
        .flatten()
        .map(|label| alternatives(label, labels))
        .collect();
    (known.len() == sentences.tokens.len()).then_some(known)
}

fn alternatives(cell: &str, labels: &Alphabet) -> Option<Vec<u32>> {
    if let Some(label) = labels.get(cell) {
        return Some(vec![label]);
    }
    // A choice between labels of which the model lacks one is open.
    let separator = if cell.contains(gold::CHOICE) {
        gold::CHOICE
    } else {
        '|'
    };
    cell.split(separator).map(|label| labels.get(label)).collect()
}

/// What is known of every token when these spans are: that they are spans, and end where they end.
pub(super) fn known_spans(
    scheme: Scheme,
    labels: &Alphabet,
    spans: Vec<(Range<usize>, String)>,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Known {
    let mut known: Known = vec![None; sentences.tokens.len()];
    let mut placed: Vec<(Range<usize>, String)> = Vec::new();
    for (range, kind) in spans {
        match labels_of(scheme, labels, range.len(), &kind) {
            Some(ids) => {
                for (position, id) in range.clone().zip(ids) {
                    known[position] = Some(vec![id]);
                }
                placed.push((range, kind));
            }
            None => {
                let message =
                    format!("a span of type {kind} is not taken as known: the model has no labels for it");
                notices.add(NoticeKind::Skipped, &document.id, None, message);
            }
        }
    }
    let fixed: Vec<bool> = known.iter().map(Option::is_some).collect();
    let mut narrow = |position: usize, allowed: Vec<u32>| {
        if !fixed[position] {
            let set = known[position].get_or_insert_with(|| allowed.clone());
            set.retain(|label| allowed.contains(label));
        }
    };
    for (range, kind) in &placed {
        let sentence = sentences.sentence_of(range.start);
        if range.start > sentence.start {
            narrow(
                range.start - 1,
                neighbours(scheme, labels, range.len(), kind, true),
            );
        }
        if range.end < sentence.end {
            narrow(range.end, neighbours(scheme, labels, range.len(), kind, false));
        }
    }
    known
}

/// The labels of a span, if the model has them.
fn labels_of(scheme: Scheme, labels: &Alphabet, length: usize, kind: &str) -> Option<Vec<u32>> {
    let names = scheme.labels_of(&[Span::new(0, length, kind)], length).ok()?;
    names.iter().map(|name| labels.get(name)).collect()
}

/// The labels beside a span that do not make it longer.
fn neighbours(scheme: Scheme, labels: &Alphabet, length: usize, kind: &str, before: bool) -> Vec<u32> {
    let own = scheme
        .labels_of(&[Span::new(0, length, kind)], length)
        .unwrap_or_default();
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let separate = |label: &u32| {
        let mut run = own.to_vec();
        let at = if before { 0 } else { own.len() };
        run.insert(at, labels.name(*label));
        let start = usize::from(before);
        scheme
            .spans(&run)
            .contains(&Span::new(start, start + own.len(), kind))
    };
    (0..labels.len() as u32).filter(separate).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sequences::Cutter;
    use super::*;
    use crate::config::TextConfig;
    use fieldmark_text::document::{Annotation, GivenToken, GivenTokens};

    #[test]
    fn a_known_span_does_not_grow_into_its_neighbours() {
        let mut labels = Alphabet::default();
        for label in ["O", "B-X", "I-X", "B-Y", "I-Y"] {
            labels.intern(label);
        }
        let names = |before| {
            let found = neighbours(Scheme::Iob2, &labels, 2, "X", before);
            found
                .into_iter()
                .map(|label| labels.name(label))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["O", "B-X", "B-Y", "I-Y"]);
        // What begins before a span ends where it begins.
        assert_eq!(names(true), ["O", "B-X", "I-X", "B-Y", "I-Y"]);
        assert_eq!(labels_of(Scheme::Iob2, &labels, 2, "X"), Some(vec![1, 2]));
        assert_eq!(labels_of(Scheme::Iob2, &labels, 1, "Z"), None);
    }

    #[test]
    fn a_known_span_says_nothing_about_other_sentences() {
        let mut labels = Alphabet::default();
        for label in ["O", "B-X", "I-X"] {
            labels.intern(label);
        }
        let token = |range| GivenToken {
            range,
            ..GivenToken::default()
        };
        let given = GivenTokens {
            sentences: vec![vec![token(0..3), token(4..7)], vec![token(8..11), token(12..15)]],
            ..GivenTokens::default()
        };
        let known_of = |spans: &[(usize, usize)]| {
            let document = Document {
                annotations: spans
                    .iter()
                    .map(|&(start, end)| Annotation::new(start..end, "X"))
                    .collect(),
                given: Some(given.clone()),
                ..Document::new("1", "Ada met Bob ran")
            };
            let mut sentences = Sentences::default();
            Cutter::new(&TextConfig::default()).cut(&document, &mut sentences, &mut Notices::new());
            let config = LabelConfig::default();
            known(&config, &labels, &document, &sentences, &mut Notices::new())
        };
        let (all, begin, outside) = (Some(vec![0, 1, 2]), Some(vec![1]), Some(vec![0, 1]));
        assert_eq!(known_of(&[(4, 7)]), [all, begin.clone(), None, None]);
        assert_eq!(known_of(&[(8, 11)]), [None, None, begin.clone(), outside.clone()]);
        assert_eq!(
            known_of(&[(0, 3), (8, 11)]),
            [begin.clone(), outside.clone(), begin, outside]
        );
    }

    #[test]
    fn cells_are_labels_choices_or_open() {
        let mut labels = Alphabet::default();
        for label in ["A", "B", "A|C"] {
            labels.intern(label);
        }
        assert_eq!(alternatives("A", &labels), Some(vec![0]));
        assert_eq!(alternatives("A|B", &labels), Some(vec![0, 1]));
        assert_eq!(
            alternatives("A|C", &labels),
            Some(vec![2]),
            "a label that looks like a choice"
        );
        for open in ["?", "_", "", "Z", "A|Z"] {
            assert_eq!(alternatives(open, &labels), None, "{open}");
        }
    }
}
