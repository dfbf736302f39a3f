//! Annotations as labels of tokens: which tokens a span covers, and which label column has room for it.

use super::losses::Places;
use super::{NoticeKind, Notices};
use crate::document::Document;
use crate::sentences::SentenceSplitter;
use crate::tokenize::Tokenizer;
use fieldmark_core::scheme::{Scheme, Span};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What to do with a span that begins or ends inside a token, or has gaps, where only whole tokens can be marked.
///
/// Either way there is a [`Notice`](super::Notice).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misfit {
    /// Mark every token that it touches, from the first to the last.
    #[default]
    Widen,
    /// Leave it out.
    Drop,
}

/// Tokens by sentence.
pub(crate) type Sentences = Vec<Vec<Range<usize>>>;

/// The given tokens of a document, or those of a tokenizer; then no sentence ends inside an annotation.
pub(crate) fn sentences(
    document: &Document,
    splitter: &SentenceSplitter,
    tokenizer: &Tokenizer,
) -> Sentences {
    if let Some(given) = &document.given {
        let sentence = |tokens: &Vec<_>| tokens.iter().map(token_range).collect();
        return given.sentences.iter().map(sentence).collect();
    }
    let parts = join_across(splitter.split(&document.text), document);
    let mut tokens = Vec::new();
    let sentence = |part: Range<usize>| {
        tokens.clear();
        tokenizer.tokenize_into(&document.text, part, &mut tokens);
        tokens.iter().map(crate::tokenize::Token::range).collect()
    };
    parts.into_iter().map(sentence).collect()
}

fn token_range(token: &crate::document::GivenToken) -> Range<usize> {
    token.range.clone()
}

/// Joins the sentences that an annotation connects.
fn join_across(parts: Vec<Range<usize>>, document: &Document) -> Vec<Range<usize>> {
    // How many annotations go on after each sentence, as differences.
    let mut open = vec![0_i64; parts.len() + 1];
    for annotation in &document.annotations {
        let range = annotation.range();
        let first = parts.partition_point(|part| part.end <= range.start);
        let last = parts.partition_point(|part| part.start < range.end);
        if first < last {
            open[first] += 1;
            open[last - 1] -= 1;
        }
    }
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(parts.len());
    let (mut depth, mut goes_on) = (0, false);
    for (part, change) in parts.into_iter().zip(open) {
        match joined.last_mut() {
            Some(last) if goes_on => last.end = part.end,
            _ => joined.push(part),
        }
        depth += change;
        goes_on = depth > 0;
    }
    joined
}

/// Where white space stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Before the first token.
    First,
    /// Between the tokens of a sentence.
    Tokens,
    /// Before a sentence, by its place.
    Sentence(usize),
}

/// Tells how often the white space between tokens is not `kept`, with the first place. White space at the end of a text
/// moves nothing and is not told.
pub(crate) fn tell_spacing(
    document: &Document,
    sentences: &Sentences,
    kept: impl Fn(&str, Gap) -> bool,
    notices: &mut Notices,
) {
    let text = &document.text;
    let (mut places, mut first) = (0, None);
    let mut before: Option<&Range<usize>> = None;
    for (at, sentence) in sentences.iter().enumerate() {
        for (index, token) in sentence.iter().enumerate() {
            let gap = match (before, index) {
                (None, _) => Gap::First,
                (_, 0) => Gap::Sentence(at),
                _ => Gap::Tokens,
            };
            // Nothing is between tokens that overlap.
            let from = before.map_or(0, |before| before.end).min(token.start);
            if !kept(text.get(from..token.start).unwrap_or_default(), gap) {
                places += 1;
                first.get_or_insert_with(|| {
                    before.map_or(0, |before| before.start).min(token.start)..token.end
                });
            }
            before = Some(token);
        }
    }
    if let Some(first) = first {
        let shown = crate::error::shown(text.get(first).unwrap_or_default());
        let s = if places == 1 { "" } else { "s" };
        let message = format!("it is not kept at {places} place{s}, such as in `{shown}`");
        notices.add(NoticeKind::Spacing, &document.id, None, message);
    }
}

/// An annotation as tokens `start..end` of a sentence.
struct Covered {
    annotation: usize,
    sentence: usize,
    start: usize,
    end: usize,
}

/// Writes the annotations of a document as labels: by sentence, then by column, then by token.
///
/// An annotation whose attribute `column` names one of the columns goes there if there is room; the others, long
/// ones first, take the first column that has room. What has no room is told.
pub(crate) fn labels(
    document: &Document,
    sentences: &Sentences,
    columns: &[String],
    scheme: Scheme,
    misfit: Misfit,
    notices: &mut Notices,
) -> Vec<Vec<Vec<String>>> {
    let mut spans = vec![vec![Vec::new(); columns.len()]; sentences.len()];
    let mut by_sentence: Vec<Vec<(Option<usize>, Covered)>> = Vec::new();
    by_sentence.resize_with(sentences.len(), Vec::new);
    for covered in cover(document, sentences, misfit, notices) {
        let wanted = document.annotations[covered.annotation].attributes.get("column");
        let wanted = wanted.and_then(|wanted| columns.iter().position(|column| column == wanted));
        by_sentence[covered.sentence].push((wanted, covered));
    }
    let places = Places::new(&document.text);
    for (at, mut found) in by_sentence.into_iter().enumerate() {
        found.sort_by_key(|(wanted, span)| (wanted.is_none(), span.start, std::cmp::Reverse(span.end)));
        let mut owner: Vec<Vec<Option<usize>>> = vec![vec![None; sentences[at].len()]; columns.len()];
        for (wanted, span) in found {
            let order = wanted.into_iter().chain(0..columns.len());
            let free = |&column: &usize| owner[column][span.start..span.end].iter().all(Option::is_none);
            let kind = document.annotations[span.annotation].kind.as_str();
            match order.into_iter().find(free) {
                Some(column) => {
                    owner[column][span.start..span.end].fill(Some(span.annotation));
                    spans[at][column].push(Span::new(span.start, span.end, kind));
                }
                None => tell_no_room(document, &places, &owner, &span, notices),
            }
        }
    }
    let labelled = |(sentence, layers): (&Vec<_>, Vec<Vec<Span<'_>>>)| {
        let layer = |spans: Vec<_>| scheme.labels_of(&spans, sentence.len()).unwrap_or_default();
        layers.into_iter().map(layer).collect()
    };
    sentences.iter().zip(spans).map(labelled).collect()
}

fn tell_no_room(
    document: &Document,
    places: &Places<'_>,
    owner: &[Vec<Option<usize>>],
    span: &Covered,
    notices: &mut Notices,
) {
    let own = document.annotations[span.annotation].range();
    let holds =
        |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
    let blocker = owner
        .iter()
        .find_map(|column| column[span.start..span.end].iter().find_map(|owner| *owner));
    let Some(blocker) = blocker.map(|at| &document.annotations[at]) else {
        let message = format!(
            "{} was left out: there is no label column",
            places.name(&document.annotations[span.annotation])
        );
        return notices.add(NoticeKind::Skipped, &document.id, None, message);
    };
    let other = blocker.range();
    let nested = holds(&other, &own) || holds(&own, &other);
    let kind = if nested {
        NoticeKind::Nested
    } else {
        NoticeKind::Overlap
    };
    let message = format!(
        "{} was left out: {} has its tokens, and there are {} label columns",
        places.name(&document.annotations[span.annotation]),
        places.name(blocker),
        owner.len()
    );
    notices.add(kind, &document.id, None, message);
}

/// All tokens in one list, with sentence and place in it.
struct Flat {
    tokens: Vec<(Range<usize>, usize, usize)>,
    sorted: bool,
}

impl Flat {
    fn new(sentences: &Sentences) -> Self {
        let tokens: Vec<_> = sentences
            .iter()
            .enumerate()
            .flat_map(|(at, tokens)| {
                tokens
                    .iter()
                    .enumerate()
                    .map(move |(i, token)| (token.clone(), at, i))
            })
            .collect();
        let sorted = tokens
            .windows(2)
            .all(|pair| pair[0].0.start <= pair[1].0.start && pair[0].0.end <= pair[1].0.end);
        Self { tokens, sorted }
    }

    /// The tokens that share bytes with a range, from the first to the last.
    fn touched(&self, range: &Range<usize>) -> &[(Range<usize>, usize, usize)] {
        let (first, last) = if self.sorted {
            (
                self.tokens
                    .partition_point(|(token, ..)| token.end <= range.start),
                self.tokens.partition_point(|(token, ..)| token.start < range.end),
            )
        } else {
            let touches = |(token, ..): &(Range<usize>, usize, usize)| {
                token.start < range.end && range.start < token.end
            };
            let first = self.tokens.iter().position(touches);
            let last = self.tokens.iter().rposition(touches);
            (first.unwrap_or(0), last.map_or(0, |last| last + 1))
        };
        self.tokens.get(first..last).unwrap_or_default()
    }
}

/// Which tokens each annotation covers.
fn cover(document: &Document, sentences: &Sentences, misfit: Misfit, notices: &mut Notices) -> Vec<Covered> {
    let flat = Flat::new(sentences);
    let places = Places::new(&document.text);
    let mut found = Vec::new();
    for (at, annotation) in document.annotations.iter().enumerate() {
        let mut tell = |kind, what: &str| {
            let message = format!("{} {what}", places.name(annotation));
            notices.add(kind, &document.id, None, message);
        };
        let range = annotation.range();
        let touched = flat.touched(&range);
        let (Some(first), Some(last)) = (touched.first(), touched.last()) else {
            tell(NoticeKind::Empty, "was left out: it holds no token");
            continue;
        };
        if first.1 != last.1 {
            tell(
                NoticeKind::CrossesSentence,
                "was left out: it goes across the end of a sentence",
            );
            continue;
        }
        let done = match misfit {
            Misfit::Widen => "was widened to the tokens that it touches",
            Misfit::Drop => "was left out",
        };
        let start = touched
            .iter()
            .map(|(token, ..)| token.start)
            .min()
            .unwrap_or(range.start);
        let end = touched
            .iter()
            .map(|(token, ..)| token.end)
            .max()
            .unwrap_or(range.end);
        let gaps = annotation.fragments.len() > 1;
        let cuts = start < range.start || range.end < end;
        if gaps {
            tell(NoticeKind::Fragments, &format!("has gaps: it {done}"));
        } else if cuts {
            tell(NoticeKind::InsideToken, done);
        } else if has_more(&document.text, &range, start, end) {
            tell(NoticeKind::InsideToken, "holds text that is in no token");
        }
        if (gaps || cuts) && misfit == Misfit::Drop {
            continue;
        }
        found.push(Covered {
            annotation: at,
            sentence: first.1,
            start: first.2,
            end: last.2 + 1,
        });
    }
    found
}

/// Whether a range holds more than white space before `start` or after `end`.
fn has_more(text: &str, range: &Range<usize>, start: usize, end: usize) -> bool {
    let more = |part: Range<usize>| text.get(part).is_some_and(|part| !part.trim().is_empty());
    (range.start < start && more(range.start..start)) || (end < range.end && more(end..range.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Annotation, GivenToken, GivenTokens};
    use crate::tokenize::TokenizerProfile;

    fn fine(document: &Document, columns: &[&str], misfit: Misfit) -> (Vec<Vec<Vec<String>>>, Notices) {
        let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        let tokenizer = Tokenizer::new(TokenizerProfile::Punctuation);
        let tokens = sentences(document, &SentenceSplitter::default(), &tokenizer);
        let mut notices = Notices::new();
        let labels = labels(document, &tokens, &columns, Scheme::Iob2, misfit, &mut notices);
        (labels, notices)
    }

    fn marked(text: &str, spans: &[(Range<usize>, &str)]) -> Document {
        let mut document = Document::new("d", text);
        let spans = spans
            .iter()
            .map(|(range, kind)| Annotation::new(range.clone(), *kind));
        document.annotations.extend(spans);
        document
    }

    #[test]
    fn nested_spans_take_further_columns_until_there_is_none() {
        let document = marked("human IL-2 gene", &[(6..10, "P"), (6..15, "D"), (0..15, "X")]);
        let (labels, notices) = fine(&document, &["a", "b"], Misfit::Widen);
        assert_eq!(labels[0][0], ["B-X", "I-X", "I-X", "I-X", "I-X"]);
        assert_eq!(labels[0][1], ["O", "B-D", "I-D", "I-D", "I-D"]);
        assert_eq!(notices.all().len(), 1);
        assert_eq!(notices.all()[0].kind, NoticeKind::Nested);
        assert!(
            notices.all()[0].message.contains("`P` at 6..10"),
            "{}",
            notices.all()[0]
        );
    }

    #[test]
    fn a_named_column_comes_first_and_crossing_spans_are_told() {
        let mut document = marked("a b c", &[(0..3, "X"), (2..5, "Y")]);
        document.annotations[1]
            .attributes
            .insert("column".to_owned(), "a".to_owned());
        let (labels, notices) = fine(&document, &["a"], Misfit::Widen);
        assert_eq!(labels[0][0], ["O", "B-Y", "I-Y"]);
        assert_eq!(
            notices.counts().into_iter().collect::<Vec<_>>(),
            [(NoticeKind::Overlap, 1)]
        );
    }

    #[test]
    fn borders_inside_tokens_are_widened_or_dropped_and_always_told() {
        let document = marked("ironic words", &[(0..4, "X"), (6..7, "E")]);
        let (labels, notices) = fine(&document, &["a"], Misfit::Widen);
        assert_eq!(labels[0][0], ["B-X", "O"]);
        let kinds: Vec<_> = notices.all().iter().map(|notice| notice.kind).collect();
        assert_eq!(kinds, [NoticeKind::InsideToken, NoticeKind::Empty]);
        let (labels, notices) = fine(&document, &["a"], Misfit::Drop);
        assert_eq!(labels[0][0], ["O", "O"]);
        assert_eq!(notices.all().len(), 2);
    }

    #[test]
    fn own_sentences_do_not_end_inside_a_span_but_given_ones_may() {
        let text = "It is seen. Not here. Bye now.";
        let mut document = marked(text, &[(6..15, "X")]);
        let (labels, notices) = fine(&document, &["a"], Misfit::Widen);
        assert_eq!(labels.len(), 2);
        assert_eq!(labels[0][0].iter().filter(|label| *label != "O").count(), 3);
        assert!(notices.is_empty());
        let token = |range| GivenToken {
            range,
            columns: vec![],
            ..GivenToken::default()
        };
        document.given = Some(GivenTokens {
            columns: vec![],
            sentences: vec![vec![token(6..11)], vec![token(12..15)]],
            ..GivenTokens::default()
        });
        let (_, notices) = fine(&document, &["a"], Misfit::Widen);
        assert_eq!(notices.all()[0].kind, NoticeKind::CrossesSentence);
    }

    #[test]
    fn tokens_in_any_order_can_be_marked() {
        let mut document = marked("a b", &[(0..1, "X")]);
        let token = |range| GivenToken {
            range,
            columns: vec![],
            ..GivenToken::default()
        };
        document.given = Some(GivenTokens {
            columns: vec![],
            sentences: vec![vec![token(2..3), token(0..1)]],
            ..GivenTokens::default()
        });
        let (labels, notices) = fine(&document, &["a"], Misfit::Widen);
        assert_eq!(labels[0][0], ["O", "B-X"]);
        assert!(notices.is_empty());
    }
}
