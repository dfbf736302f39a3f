//! From annotations to the labels of tokens.

use super::sequences::Sentences;
use crate::config::LabelConfig;
use fieldmark_core::Scheme;
use fieldmark_core::scheme::{Span, Tag};
use fieldmark_text::document::{Annotation, Document, OpenLabel};
use fieldmark_text::formats::{ALTGENE, NoticeKind, Notices};
use std::ops::Range;

/// Stands for a label that is not known.
pub(crate) const OPEN: &str = "?";

/// Stands between the labels of which a token has one. It is no character of a name.
pub(crate) const CHOICE: char = '\u{1f}';

/// The labels that a cell allows: one, several, or none if it is open.
pub(crate) fn alternatives(cell: &str) -> impl Iterator<Item = &str> {
    let labels = cell.split(CHOICE);
    labels.filter(move |_| cell != OPEN)
}

/// The labels of every token of a document, sentence by sentence. What is not known is [`OPEN`], and labels of which one is
/// right are joined by [`CHOICE`]; cells of a column are as they stand there.
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
    let mut labels = labels_of(config.scheme.into(), &spans, sentences);
    open(config, document, sentences, &mut labels);
    labels
}

/// Opens the labels of tokens of which a document says that they are not known for sure.
pub(super) fn open(
    config: &LabelConfig,
    document: &Document,
    sentences: &Sentences<'_>,
    labels: &mut [Vec<String>],
) {
    let Some(all) = document.open.as_ref().filter(|all| !all.is_empty()) else {
        return;
    };
    let tokens = &sentences.tokens;
    let mut cells: Vec<&mut String> = labels.iter_mut().flatten().collect();
    for open in all {
        let first = tokens.partition_point(|token| token.end <= open.range.start);
        let end = tokens.partition_point(|token| token.start < open.range.end);
        // Of tokens that are cut otherwise, nothing is known.
        let same = first + 1 == end && tokens[first].range() == open.range;
        for cell in cells.iter_mut().take(end).skip(first) {
            **cell = if same {
                open_cell(config, open)
            } else {
                OPEN.to_owned()
            };
        }
    }
}

/// What an open label allows, as the config has labels.
fn open_cell(config: &LabelConfig, open: &OpenLabel) -> String {
    let mut labels: Vec<String> = Vec::new();
    for label in open.labels_in(config.scheme.into()) {
        let label = match Tag::parse(&label) {
            Tag::Part(_, own) => match kind_of(config, own) {
                Some(kind) if kind == own => label,
                Some(kind) => format!("{}-{kind}", &label[..1]),
                None => "O".to_owned(),
            },
            _ => label,
        };
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    match labels.is_empty() {
        true => OPEN.to_owned(),
        false => labels.join(CHOICE.encode_utf8(&mut [0; 4])),
    }
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
    kind_of(config, &annotation.kind)
}

/// The same for a type.
pub(super) fn kind_of<'a>(config: &'a LabelConfig, kind: &'a str) -> Option<&'a str> {
    let kind = config.rename.get(kind).map_or(kind, String::as_str);
    let wanted = match &config.types {
        Some(types) => types.iter().any(|wanted| wanted == kind),
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

#[cfg(test)]
mod tests {
    use super::super::sequences::Cutter;
    use super::super::tests::columns;
    use super::*;
    use crate::config::Config;
    use crate::{AnnotatorOptions, Pipeline, RunOptions, train_pipeline};
    use std::path::Path;

    const TEXT: &str = "Ada B-PER\nLovelace I-PER|O\nsleeps O\nhere ?\n\nBob B-PER|B-ORG\nmet O\nAda B-PER\n";

    fn cells(overrides: &[&str]) -> Vec<String> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let config = Config::parse("features = [{ kind = 'word' }]", &overrides).unwrap();
        let cutter = Cutter::new(&config.text);
        let mut all = Vec::new();
        for document in columns(TEXT) {
            let mut sentences = Sentences::default();
            cutter.cut(&document, &mut sentences, &mut Notices::new());
            let labels = labels(&config.labels, &document, &sentences, &mut Notices::new());
            all.extend(labels.into_iter().flatten());
        }
        all.iter().map(|cell| cell.replace(CHOICE, "|")).collect()
    }

    #[test]
    fn open_labels_are_sets_in_every_scheme() {
        let iob2 = ["B-PER", "I-PER|O", "O", "?", "B-PER|B-ORG", "O", "B-PER"];
        assert_eq!(cells(&["labels.scheme=iob2"]), iob2);
        let iobes = ["B-PER|S-PER", "E-PER|O", "O", "?", "S-PER|S-ORG", "O", "S-PER"];
        assert_eq!(cells(&["labels.scheme=iobes"]), iobes);
        let io = ["I-PER", "I-PER|O", "O", "?", "I-PER|I-ORG", "O", "I-PER"];
        assert_eq!(cells(&["labels.scheme=io"]), io);
        let people = ["B-PER", "I-PER|O", "O", "?", "B-PER|O", "O", "B-PER"];
        assert_eq!(cells(&["labels.scheme=iob2", "labels.types=['PER']"]), people);
        let renamed = ["B-P", "I-P|O", "O", "?", "B-P|B-ORG", "O", "B-P"];
        assert_eq!(cells(&["labels.scheme=iob2", "labels.rename={PER='P'}"]), renamed);
    }

    fn trained() -> Pipeline {
        let text = "features = [{ kind = 'word' }]\nlabels = { scheme = 'iob2' }\ntraining = { c2 = 0.01 }\n";
        let config = Config::parse(text, &[]).unwrap();
        let options = RunOptions::default();
        train_pipeline(&config, Path::new(""), &columns(TEXT), &[], &options, &mut ())
            .unwrap()
            .pipeline
    }

    #[test]
    fn one_unknown_label_does_not_hide_the_others_from_training() {
        let pipeline = trained();
        let labels: Vec<&str> = pipeline.chain.labels().iter().collect();
        assert_eq!(labels, ["B-PER", "I-PER", "O", "B-ORG"]);
        let mut document = Document::new("1", "Ada sleeps");
        pipeline.annotator().annotate(&mut document).unwrap();
        assert_eq!(document.annotations[0].text(&document.text), "Ada");
    }

    #[test]
    fn labels_that_are_open_are_not_fixed_and_the_others_are() {
        let pipeline = trained();
        let fixed = || {
            pipeline.annotator_with(AnnotatorOptions {
                fix_labels: true,
                ..AnnotatorOptions::default()
            })
        };
        let found = |text: &str| {
            let mut document = columns(text).remove(0);
            fixed().annotate(&mut document).unwrap();
            assert_eq!(document.open, None);
            let spans = document.annotations.iter();
            spans
                .map(|span| format!("{} {}", span.text(&document.text), span.kind))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("Ada ?\nsleeps ?\n"), ["Ada PER"]);
        assert_eq!(found("Ada O\nsleeps ?\n"), [""; 0], "it is known to be outside");
        assert_eq!(found("Ada B-ORG|O\nsleeps ?\nBob B-ORG\n"), ["Bob ORG"]);
        assert_eq!(found("sleeps B-PER|B-ORG\nmet O\n").len(), 1);
    }

    #[test]
    fn spans_at_open_labels_do_not_count() {
        let pipeline = trained();
        let pairs = pipeline
            .compare(&columns("Ada ?\nsleeps O\nmet O\nAda B-PER\n"))
            .unwrap();
        assert_eq!(
            (pairs[0].gold.len(), pairs[0].found.len(), pairs[0].left_out),
            (1, 1, 1)
        );
        let pairs = pipeline
            .compare(&columns("Ada B-PER\nsleeps ?\n\nAda B-PER\n"))
            .unwrap();
        assert_eq!((pairs[0].gold.len(), pairs[0].left_out), (0, 2));
        assert_eq!(pairs[1].gold.len(), 1);
    }

    #[test]
    fn open_labels_of_tokens_are_no_label() {
        let text =
            "features = [{ kind = 'word' }]\nlabels = { column = 'label' }\ntraining = { c2 = 0.01 }\n";
        let config = Config::parse(text, &[]).unwrap();
        let data = "the DT\ndog NN|VB\nbarks VB\n\na DT\ncat NN\nsleeps ?\nNom|Sing Nom|Sing\n";
        let options = RunOptions::default();
        let trained = train_pipeline(&config, Path::new(""), &columns(data), &[], &options, &mut ());
        let pipeline = trained.unwrap().pipeline;
        let labels: Vec<&str> = pipeline.chain.labels().iter().collect();
        assert_eq!(labels, ["DT", "NN", "VB", "Nom|Sing"]);
        let scores = pipeline.score(&columns("the DT\ndog ?\ncat NN|VB\n")).unwrap();
        assert_eq!((scores.tokens, scores.right), (2, 2));
        let tested = pipeline.test_labels(&columns("the DT\ndog ?\n")).unwrap();
        assert_eq!(tested.evaluation.report().tokens, 1);
    }
}
