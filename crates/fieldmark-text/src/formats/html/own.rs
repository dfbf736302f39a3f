//! Pages of our own read back: each card is a document, with its spans.
//!
//! What a page shows of a span is its type, its borders and its confidence in four digits; control characters of a text
//! are the symbols for them.

use super::{added, is_our_mark, pieces};
use crate::document::{Annotation, Document};
use crate::formats::{NoticeKind, Notices};
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use std::collections::BTreeMap;
use std::ops::Range;

/// The documents of a page that we have written; none of other pages, and none of a page without texts.
pub(super) fn documents(text: &str, file: &str, notices: &mut Notices) -> Vec<Document> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut page = OwnPage::default();
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => page.start(&tag),
            Token::EndTag(tag) => page.end(&tag.name),
            Token::String(string) => page.text(text, &string.value, string.span.start..string.span.end),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.finish(file, notices)
}

/// What the text of an element belongs to.
#[derive(Clone, Copy, Default, PartialEq)]
enum Part {
    #[default]
    Outside,
    Card,
    Heading,
    Text,
    /// The type of a span, which its note has, too.
    Tag,
    Note,
    /// The type of a span in its note.
    Kind,
}

#[derive(Default)]
struct OwnPage {
    ours: bool,
    part: Part,
    cards: Vec<Card>,
    /// Beginnings of marks, with the numbers of their notes.
    marks: Vec<(usize, usize)>,
    /// The note that is read.
    note: usize,
}

#[derive(Default)]
struct Card {
    heading: String,
    text: String,
    /// Whether the spans are the labels of tokens.
    tokens: bool,
    /// By the number of the note.
    spans: BTreeMap<usize, Span>,
}

#[derive(Default)]
struct Span {
    range: Option<Range<usize>>,
    kind: String,
    note: String,
}

fn attribute<'a>(tag: &'a StartTag<usize>, name: &[u8]) -> &'a [u8] {
    tag.attributes.get(name).map_or(b"", |value| &value[..])
}

/// The number in `n12`.
fn number(id: &[u8]) -> Option<usize> {
    std::str::from_utf8(id).ok()?.strip_prefix('n')?.parse().ok()
}

impl OwnPage {
    fn start(&mut self, tag: &StartTag<usize>) {
        self.ours |= is_our_mark(tag);
        if !self.ours {
            return;
        }
        let class = attribute(tag, b"class");
        match (self.part, &tag.name[..]) {
            (Part::Outside, b"article") if class == b"card" => {
                self.cards.push(Card::default());
                self.part = Part::Card;
            }
            (Part::Card, b"h2") => self.part = Part::Heading,
            (Part::Card, b"div") if class == b"text" || class == b"text tokens" => {
                self.part = Part::Text;
                self.marks.clear();
                if let Some(card) = self.cards.last_mut() {
                    card.tokens = class != b"text";
                }
            }
            (Part::Text, b"mark") => {
                let start = self.cards.last().map_or(0, |card| card.text.len());
                let note = number(attribute(tag, b"aria-describedby")).unwrap_or(0);
                self.marks.push((start, note));
            }
            (Part::Text, b"span") if added(tag).is_some() => {
                self.part = if class == b"tip" { Part::Note } else { Part::Tag };
                self.note = number(attribute(tag, b"id")).unwrap_or(0);
            }
            (Part::Note, b"b") => self.part = Part::Kind,
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        self.part = match (self.part, name) {
            (Part::Card | Part::Heading | Part::Text, b"article") => Part::Outside,
            (Part::Heading, b"h2") | (Part::Text, b"div") => Part::Card,
            (Part::Tag | Part::Note | Part::Kind, b"span") => Part::Text,
            (Part::Kind, b"b") => Part::Note,
            (part, _) => part,
        };
        if self.part == Part::Text
            && name == b"mark"
            && let (Some((start, note)), Some(card)) = (self.marks.pop(), self.cards.last_mut())
        {
            let end = card.text.len();
            let range = &mut card.spans.entry(note).or_default().range;
            // A span that crosses another is drawn in parts.
            let start = range.as_ref().map_or(start, |range| range.start.min(start));
            *range = Some(start..end);
        }
    }

    fn text(&mut self, source: &str, value: &[u8], span: Range<usize>) {
        let (part, note) = (self.part, self.note);
        let Some(card) = self.cards.last_mut().filter(|_| part != Part::Outside) else {
            return;
        };
        let value = String::from_utf8_lossy(value);
        match part {
            Part::Heading => card.heading.push_str(&value),
            Part::Text => {
                // Line ends as they stand in the file: browsers know only one kind.
                let raw: String = pieces(source.get(span).unwrap_or_default())
                    .into_iter()
                    .map(|(text, _)| text)
                    .collect();
                let is_same = raw.replace("\r\n", "\n").replace('\r', "\n") == value;
                card.text.push_str(if is_same { &raw } else { &value });
            }
            Part::Kind => card.spans.entry(note).or_default().kind.push_str(&value),
            Part::Note => card.spans.entry(note).or_default().note.push_str(&value),
            Part::Outside | Part::Card | Part::Tag => {}
        }
    }

    fn finish(self, file: &str, notices: &mut Notices) -> Vec<Document> {
        let several = self.cards.len() > 1;
        let cards = self.cards.into_iter().enumerate();
        cards
            .map(|(at, card)| card.document(file, at, several, notices))
            .collect()
    }
}

impl Card {
    fn document(self, file: &str, at: usize, several: bool, notices: &mut Notices) -> Document {
        let id = match self.heading.as_str() {
            "" if several => format!("{file}:{}", at + 1),
            "" => file.to_owned(),
            heading => heading.to_owned(),
        };
        let mut document = Document::new(id, self.text);
        if self.tokens {
            let message = "the labels of tokens are not read from a page";
            notices.add(NoticeKind::Skipped, &document.id, None, message);
            return document;
        }
        for span in self.spans.into_values() {
            let Some(range) = span.range.filter(|range| !range.is_empty()) else {
                continue;
            };
            let confidence = span.note.strip_prefix("Confidence ").and_then(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
                rest[..end].parse().ok()
            });
            document.annotations.push(Annotation {
                score: confidence.filter(|score| (0.0..=1.0).contains(score)),
                ..Annotation::new(range, span.kind)
            });
        }
        document
    }
}
