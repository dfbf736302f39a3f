//! From annotations to the labels of tokens.

use super::sequences::Sentences;
use crate::config::LabelConfig;
use fieldmark_core::Scheme;
use fieldmark_core::scheme::Span;
use fieldmark_text::document::{Annotation, Document};
use fieldmark_text::formats::{ALTGENE, NoticeKind, Notices};
use std::ops::Range;

/// The labels of every token of a document, sentence by sentence.
pub(crate) fn labels(
    config: &LabelConfig,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Vec<Vec<String>> {
    if let Some(column) = &config.column {
        let values = sentences.column(column);
        return match values {
            Some(values) => values
                .into_iter()
                .map(|values| values.into_iter().map(|value| value.into_owned()).collect())
                .collect(),
            None => {
                let message = format!("there is no column {column:?} with labels");
                notices.add(NoticeKind::Skipped, &document.id, None, message);
                Vec::new()
            }
        };
    }
    let spans = spans(config, document, sentences, notices);
    labels_of(config.scheme.into(), &spans, sentences)
}

/// The labels of spans that are in order, inside sentences and without overlaps.
pub(super) fn labels_of(
    scheme: Scheme,
    spans: &[(Range<usize>, String)],
    sentences: &Sentences<'_>,
) -> Vec<Vec<String>> {
    let mut at = 0;
    let labels = sentences.ranges().map(|sentence| {
        let end = at + spans[at..].partition_point(|(range, _)| range.start < sentence.end);
        let inside: Vec<Span<'_>> = spans[at..end]
            .iter()
            .map(|(range, kind)| Span::new(range.start - sentence.start, range.end - sentence.start, kind))
            .collect();
        at = end;
        // Spans are inside the sentence, and do not overlap.
        scheme.labels_of(&inside, sentence.len()).unwrap_or_default()
    });
    labels.collect()
}

/// Spans in tokens, inside sentences; what does not fit the tokens is a notice.
pub(super) fn all_spans(
    config: &LabelConfig,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Vec<(Range<usize>, String)> {
    let borders: Vec<Range<usize>> = sentences.ranges().collect();
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    for annotation in &document.annotations {
        let Some(kind) = kind(config, annotation) else {
            continue;
        };
        let Some(range) = tokens_of(document, annotation, sentences, notices) else {
            continue;
        };
        let first = borders.partition_point(|sentence| sentence.end <= range.start);
        let touched = borders[first..]
            .iter()
            .take_while(|sentence| sentence.start < range.end);
        let parts: Vec<Range<usize>> = touched
            .map(|sentence| range.start.max(sentence.start)..range.end.min(sentence.end))
            .collect();
        if parts.len() > 1 {
            let message = format!("{}: each part counts as a span", shown(document, annotation));
            notices.add(NoticeKind::CrossesSentence, &document.id, None, message);
        }
        found.extend(parts.into_iter().map(|part| (part, kind.to_owned())));
    }
    found
}

/// Spans in tokens, in order, inside sentences and without overlaps; what does not fit is a notice.
pub(crate) fn spans(
    config: &LabelConfig,
    document: &Document,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Vec<(Range<usize>, String)> {
    let mut found = all_spans(config, document, sentences, notices);
    // Of spans that share tokens, the longest stays.
    found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
    let mut kept: Vec<(Range<usize>, String)> = Vec::new();
    for (range, kind) in found {
        match kept.last_mut() {
            Some((last, _)) if range.start < last.end => {
                let longer = range.len() > last.len();
                let (stays, goes) = if longer {
                    (&range, &*last)
                } else {
                    (&*last, &range)
                };
                let text = |range: &Range<usize>| {
                    let tokens = &sentences.tokens;
                    let bytes = tokens[range.start].start..tokens[range.end - 1].end;
                    document.text.get(bytes).unwrap_or_default()
                };
                let nested = goes.start >= stays.start && goes.end <= stays.end;
                let notice = if nested {
                    NoticeKind::Nested
                } else {
                    NoticeKind::Overlap
                };
                let message = format!(
                    "{:?} shares tokens with {:?} and is left out",
                    text(goes),
                    text(stays)
                );
                notices.add(notice, &document.id, None, message);
                if longer {
                    kept.pop();
                    kept.push((range, kind));
                }
            }
            _ => kept.push((range, kind)),
        }
    }
    kept
}

/// The type that an annotation counts as, if it is one to learn. Other forms of genes are none unless the config names
/// them: they lie over the genes.
pub(super) fn kind<'a>(config: &'a LabelConfig, annotation: &'a Annotation) -> Option<&'a str> {
    let kind = config.rename.get(&annotation.kind).unwrap_or(&annotation.kind);
    let wanted = match &config.types {
        Some(types) => types.contains(kind),
        None => kind != ALTGENE,
    };
    wanted.then_some(kind)
}

/// The tokens that an annotation touches.
fn tokens_of(
    document: &Document,
    annotation: &Annotation,
    sentences: &Sentences<'_>,
    notices: &mut Notices,
) -> Option<Range<usize>> {
    let tokens = &sentences.tokens;
    let bytes = annotation.range();
    let first = tokens.partition_point(|token| token.end <= bytes.start);
    let end = tokens.partition_point(|token| token.start < bytes.end);
    let mut notice = |kind, what: &str| {
        notices.add(
            kind,
            &document.id,
            None,
            format!("{}{what}", shown(document, annotation)),
        );
    };
    if first >= end {
        notice(NoticeKind::Empty, ": it holds no token and is left out");
        return None;
    }
    if tokens[first].start < bytes.start || tokens[end - 1].end > bytes.end {
        let whole = &document.text[tokens[first].start..tokens[end - 1].end];
        notice(NoticeKind::InsideToken, &format!(": it is taken for {whole:?}"));
    }
    if annotation.fragments.len() > 1 {
        notice(NoticeKind::Fragments, ": its gaps count as parts of it");
    }
    Some(first..end)
}

fn shown(document: &Document, annotation: &Annotation) -> String {
    format!("{} {:?}", annotation.kind, annotation.text(&document.text))
}
