//! Inline tags: `text with <GENE>CUL4A</GENE> tags`.
//!
//! The text around the tags need not be XML: what is not a tag of the wanted set is text, even with a `<` in it.
//! Wanted are the tags that the options name or, if they name none, all that have both a beginning and an end
//! somewhere in the file; a tag without its other half is text, and told. Tags may nest and may overlap. References such as `&lt;` are resolved.
//!
//! Of the attributes of a tag, `id`, `score` (a number from 0 to 1) and `identifiers` (separated by blanks) fill
//! the fields of that name of the [`Annotation`]; the others are its attributes.
//!
//! A file is a document, unless it has tags `document` (or of another name that the options give): then what
//! is inside each of them is. An annotated corpus in XML of its own kind is read by naming its tags:
//!
//! ```
//! use fieldmark_text::Source;
//! use fieldmark_text::formats::{DocumentReader, Notices};
//! use fieldmark_text::formats::inline_xml::{InlineXmlOptions, InlineXmlReader};
//! let xml = "<Articles> <Article> <Pmid>7</Pmid>
//!     <Title>On <gene g_id='42'>TGFB1</gene>.</Title> <Abstract>None.</Abstract> </Article> </Articles>";
//! let options = InlineXmlOptions {
//!     document_tag: "Article".to_owned(),
//!     id_tag: Some("Pmid".to_owned()),
//!     element_tags: vec!["Title".to_owned(), "Abstract".to_owned()],
//!     ..InlineXmlOptions::default()
//! };
//! let mut reader = InlineXmlReader::new(&Source::text("o.xml", xml), options)?;
//! let document = reader.next(&mut Notices::new())?.unwrap();
//! assert_eq!((document.id.as_str(), document.text.as_str()), ("7", "On TGFB1.\nNone."));
//! assert_eq!(document.annotations[0].attributes["g_id"], "42");
//! # Ok::<(), fieldmark_text::ReadError>(())
//! ```

mod tags;
mod write;

pub use write::InlineXmlWriter;

use super::encoding::{Decoded, Encoding};
use super::text::file_name;
use super::{DocumentReader, NoticeKind, Notices};
use crate::document::{Annotation, Document, Element, Place};
use crate::error::ReadError;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use tags::{Shape, Tag, tags, unescape};

/// What the tags of a file mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InlineXmlOptions {
    /// The encoding.
    pub encoding: Encoding,
    /// The tag around a document. A file without it is one document.
    pub document_tag: String,
    /// The tag around the name of a document, which is then not part of its text. Otherwise the attribute `id` of
    /// the tag around the document is its name.
    pub id_tag: Option<String>,
    /// Tags that are [`Element`]s. If there are any, white space between them is one line end.
    pub element_tags: Vec<String>,
    /// Tags that are annotations; without a list, all that have a beginning and an end and no other meaning.
    pub annotation_tags: Option<Vec<String>>,
}

impl Default for InlineXmlOptions {
    fn default() -> Self {
        Self {
            encoding: Encoding::DETECT,
            document_tag: "document".to_owned(),
            id_tag: None,
            element_tags: Vec::new(),
            annotation_tags: None,
        }
    }
}

/// Reads text with inline tags.
#[derive(Debug)]
pub struct InlineXmlReader {
    decoded: Decoded,
    options: InlineXmlOptions,
    file: String,
    tags: Vec<Tag>,
    annotation_tags: BTreeSet<String>,
    /// The next tag.
    at: usize,
    /// Whether documents have tags of their own.
    tagged: bool,
    begun: bool,
}

impl InlineXmlReader {
    /// Reads a source.
    pub fn new(source: &Source, options: InlineXmlOptions) -> Result<Self, ReadError> {
        let decoded = Decoded::read(source, options.encoding)?;
        let tags = tags(decoded.text());
        let tagged = tags
            .iter()
            .any(|tag| tag.shape == Shape::Start && tag.name == options.document_tag);
        let annotation_tags = match &options.annotation_tags {
            Some(names) => names.iter().cloned().collect(),
            None => discovered(&tags, &options),
        };
        Ok(Self {
            decoded,
            options,
            file: file_name(source),
            tags,
            annotation_tags,
            at: 0,
            tagged,
            begun: false,
        })
    }

    /// The tags that are annotations.
    pub fn annotation_tags(&self) -> impl Iterator<Item = &str> {
        self.annotation_tags.iter().map(String::as_str)
    }

    /// Tells which tags are text because their other half is nowhere in the file.
    fn tell_halves(&self, notices: &mut Notices) {
        if self.options.annotation_tags.is_some() {
            return;
        }
        let mut halves: BTreeMap<(&str, bool), (usize, usize)> = BTreeMap::new();
        let mut depth = 0;
        for tag in &self.tags {
            let is_start = tag.shape == Shape::Start;
            if tag.name == self.options.document_tag {
                depth += i64::from(is_start) - i64::from(tag.shape == Shape::End);
            }
            // What is outside of documents is no text.
            if self.tagged && depth == 0 {
                continue;
            }
            let is_half = (is_start || tag.shape == Shape::End)
                && !self.annotation_tags.contains(&tag.name)
                && !has_meaning(&tag.name, &self.options);
            if is_half {
                let (_, count) = halves.entry((&tag.name, is_start)).or_insert((tag.start, 0));
                *count += 1;
            }
        }
        for ((name, is_start), (first, count)) in halves {
            let what = match is_start {
                true => format!("`<{name}>` has no end"),
                false => format!("`</{name}>` has no beginning"),
            };
            let times = match count {
                1 => String::new(),
                _ => format!(" ({count} times)"),
            };
            let message = format!("{what} and is taken for text{times}. Is the file complete?");
            notices.add(
                NoticeKind::Skipped,
                &self.file,
                Some(self.decoded.line(first)),
                message,
            );
        }
    }

    /// The tag before the next document, the tags inside it, and its text in the file.
    fn document_tags(
        &mut self,
        notices: &mut Notices,
    ) -> Option<(Option<usize>, Range<usize>, Range<usize>)> {
        if !self.tagged {
            return (!std::mem::replace(&mut self.begun, true))
                .then(|| (None, 0..self.tags.len(), 0..self.decoded.text().len()));
        }
        let name = &self.options.document_tag;
        let is = |tag: &Tag, shape| tag.shape == shape && tag.name == *name;
        let from = self.at.checked_sub(1).map_or(0, |before| self.tags[before].end);
        let rest = &self.tags[self.at..];
        let Some(skipped) = rest.iter().position(|tag| is(tag, Shape::Start)) else {
            self.tell_outside(from..self.decoded.text().len(), self.at..self.tags.len(), notices);
            self.at = self.tags.len();
            self.tagged = false;
            self.begun = true;
            return None;
        };
        let start = self.at + skipped;
        self.tell_outside(from..self.tags[start].start, self.at..start, notices);
        let mut depth = 0;
        let end = self.tags[start..].iter().position(|tag| {
            depth += i64::from(is(tag, Shape::Start)) - i64::from(is(tag, Shape::End));
            depth == 0
        });
        let text = self.tags[start].end;
        let (end, text) = match end {
            Some(end) => (start + end, text..self.tags[start + end].start),
            None => {
                let line = self.decoded.line(self.tags[start].start);
                let message = format!("this `<{name}>` has no end; it is taken to end with the file");
                notices.add(NoticeKind::Skipped, "", Some(line), message);
                (self.tags.len(), text..self.decoded.text().len())
            }
        };
        self.at = (end + 1).min(self.tags.len());
        Some((Some(start), start + 1..end, text))
    }

    /// Tells of text between documents.
    fn tell_outside(&self, range: Range<usize>, tags: Range<usize>, notices: &mut Notices) {
        let mut at = range.start;
        let mut found = None;
        for tag in &self.tags[tags] {
            if !self.decoded.text()[at..tag.start].trim().is_empty() {
                found.get_or_insert(at);
            }
            at = tag.end;
        }
        if !self.decoded.text()[at..range.end].trim().is_empty() {
            found.get_or_insert(at);
        }
        if let Some(at) = found {
            let message = "the text outside of documents is left out";
            notices.add(NoticeKind::Skipped, "", Some(self.decoded.line(at)), message);
        }
    }
}

/// Whether the options say what a tag means.
fn has_meaning(name: &str, options: &InlineXmlOptions) -> bool {
    name == options.document_tag
        || options.id_tag.as_deref() == Some(name)
        || options.element_tags.iter().any(|tag| tag == name)
}

/// The tags that begin and end somewhere and have no other meaning.
fn discovered(tags: &[Tag], options: &InlineXmlOptions) -> BTreeSet<String> {
    let named = |shape| {
        let of_shape = tags.iter().filter(move |tag| tag.shape == shape);
        of_shape.map(|tag| tag.name.as_str()).collect::<BTreeSet<&str>>()
    };
    let both = named(Shape::Start);
    let ends = named(Shape::End);
    let both = both.intersection(&ends);
    both.filter(|name| !has_meaning(name, options))
        .map(|name| (*name).to_owned())
        .collect()
}

impl DocumentReader for InlineXmlReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        if self.at == 0 && !self.begun {
            self.decoded.tell(&self.file, notices);
            self.tell_halves(notices);
        }
        let Some((tag, inside, text)) = self.document_tags(notices) else {
            return Ok(None);
        };
        let id = match tag {
            Some(at) => attribute(&self.tags[at], "id"),
            None => Some(self.file.as_str()),
        };
        let mut builder = Builder {
            reader: self,
            document: Document::new(id.unwrap_or_default(), ""),
            open: HashMap::new(),
            depth: 0,
            elements_open: 0,
            slots: Vec::new(),
            problems: Vec::new(),
            id_from: None,
            ended_in_id: Vec::new(),
        };
        builder.read(inside, text);
        let (mut document, problems) = builder.finish();
        if document.id.is_empty() {
            let at = tag.map_or(0, |at| self.tags[at].start);
            document.id = format!("{}:{}", self.file, self.decoded.line(at));
        }
        for (kind, at, message) in problems {
            notices.add(kind, &document.id, Some(self.decoded.line(at)), message);
        }
        Ok(Some(document))
    }
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    let found = tag.attributes.iter().find(|(key, _)| key == name)?;
    Some(&found.1)
}

/// Builds one document.
struct Builder<'a> {
    reader: &'a InlineXmlReader,
    document: Document,
    /// Beginnings without ends, by name: slot or nothing, offset in the text, the tag.
    open: HashMap<&'a str, Vec<(Slot, usize, &'a Tag)>>,
    /// Tags of any meaning that are open, and those that are elements.
    depth: usize,
    elements_open: usize,
    slots: Vec<Option<Annotation>>,
    problems: Vec<(NoticeKind, usize, String)>,
    /// Where the name of the document begins in its text, and how many elements there were before it.
    id_from: Option<(usize, usize)>,
    /// Slots of annotations that ended inside the name.
    ended_in_id: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Annotation(usize),
    Element,
    Id,
}

impl<'a> Builder<'a> {
    fn read(&mut self, tags: Range<usize>, text: Range<usize>) {
        let mut at = text.start;
        for tag in &self.reader.tags[tags] {
            let Some(slot) = self.slot(tag) else {
                if tag.shape == Shape::Aside {
                    self.push(at..tag.start);
                    at = tag.end;
                    let shown = &self.reader.decoded.text()[tag.start..tag.end];
                    if shown.starts_with("<!--") {
                        let message = "a comment is left out".to_owned();
                        self.problems.push((NoticeKind::Skipped, tag.start, message));
                    }
                }
                continue;
            };
            self.push(at..tag.start);
            at = tag.end;
            match tag.shape {
                Shape::Start => self.start(slot, tag),
                Shape::End => self.end(tag),
                Shape::Empty | Shape::Aside => {
                    let message = format!("`<{}/>` holds no text and is left out", tag.name);
                    self.problems.push((NoticeKind::Empty, tag.start, message));
                }
            }
        }
        self.push(at..text.end);
    }

    /// What a tag means.
    fn slot(&self, tag: &Tag) -> Option<Slot> {
        let options = &self.reader.options;
        if tag.shape == Shape::Aside {
            None
        } else if options.id_tag.as_ref() == Some(&tag.name) {
            Some(Slot::Id)
        } else if options.element_tags.contains(&tag.name) {
            Some(Slot::Element)
        } else if self.reader.annotation_tags.contains(&tag.name) {
            Some(Slot::Annotation(self.slots.len()))
        } else {
            None
        }
    }

    fn push(&mut self, range: Range<usize>) {
        let text = &self.reader.decoded.text()[range];
        let between = !self.reader.options.element_tags.is_empty() && self.depth == 0;
        if between && text.trim().is_empty() {
            let own = &mut self.document.text;
            if !own.is_empty() && !own.ends_with('\n') && !text.is_empty() {
                own.push('\n');
            }
        } else {
            self.document.text.push_str(&unescape(text));
        }
    }

    fn start(&mut self, slot: Slot, tag: &'a Tag) {
        match slot {
            Slot::Annotation(_) => self.slots.push(None),
            Slot::Element => self.elements_open += 1,
            Slot::Id => {
                let here = (self.document.text.len(), self.document.elements.len());
                self.id_from.get_or_insert(here);
            }
        }
        self.depth += 1;
        let open = self.open.entry(&tag.name).or_default();
        open.push((slot, self.document.text.len(), tag));
    }

    fn end(&mut self, tag: &'a Tag) {
        let begun = self.open.get_mut(tag.name.as_str()).and_then(Vec::pop);
        let Some((slot, start, begun)) = begun else {
            let message = format!("`</{}>` ends nothing and is left out", tag.name);
            self.problems.push((NoticeKind::Skipped, tag.start, message));
            return;
        };
        self.depth -= 1;
        let range = start..self.document.text.len();
        match slot {
            Slot::Id => self.take_id(),
            Slot::Element => {
                self.elements_open -= 1;
                let place = self.reader.decoded.place(begun.start..tag.end);
                self.document.elements.push(Element {
                    kind: tag.name.clone(),
                    range,
                    place: Some(Place::Bytes(place)),
                });
            }
            Slot::Annotation(_) if range.is_empty() => {
                let message = format!("`<{}>` holds no text and is left out", tag.name);
                self.problems.push((NoticeKind::Empty, begun.start, message));
            }
            Slot::Annotation(at) => {
                self.slots[at] = Some(annotation(begun, range));
                if self.id_from.is_some() {
                    self.ended_in_id.push(at);
                }
            }
        }
    }

    /// Cuts the name out of the text. What is marked inside it is gone with it.
    fn take_id(&mut self) {
        let Some((from, elements)) = self.id_from.take() else {
            return;
        };
        let id = self.document.text.split_off(from);
        if self.document.id.is_empty() {
            self.document.id = id.trim().to_owned();
        }
        let cut = |range: &mut Range<usize>| *range = range.start.min(from)..range.end.min(from);
        for at in self.ended_in_id.drain(..) {
            let slot = &mut self.slots[at];
            if let Some(annotation) = slot {
                annotation.fragments.iter_mut().for_each(cut);
            }
            *slot = slot.take().filter(|annotation| !annotation.range().is_empty());
        }
        for element in &mut self.document.elements[elements..] {
            cut(&mut element.range);
        }
        // What began inside of it begins behind it.
        for (_, start, _) in self.open.values_mut().flatten() {
            *start = from.min(*start);
        }
    }

    /// The document, and what was wrong where in the text.
    fn finish(mut self) -> (Document, Vec<(NoticeKind, usize, String)>) {
        let mut unclosed: Vec<&Tag> = self.open.values().flatten().map(|(_, _, tag)| *tag).collect();
        unclosed.sort_by_key(|tag| tag.start);
        for tag in unclosed {
            let message = format!("`<{}>` has no end and is left out", tag.name);
            self.problems.push((NoticeKind::Skipped, tag.start, message));
        }
        let mut document = self.document;
        if !self.reader.options.element_tags.is_empty() {
            let len = document.text.trim_end_matches('\n').len();
            let last = self
                .slots
                .iter()
                .flatten()
                .map(|annotation| annotation.range().end)
                .max();
            let elements = document.elements.iter().map(|element| element.range.end).max();
            document
                .text
                .truncate(len.max(last.unwrap_or(0)).max(elements.unwrap_or(0)));
        }
        document.annotations = self.slots.into_iter().flatten().collect();
        document
            .elements
            .sort_by_key(|element| (element.range.start, std::cmp::Reverse(element.range.end)));
        self.problems.sort_by_key(|(_, at, _)| *at);
        (document, self.problems)
    }
}

fn annotation(tag: &Tag, range: Range<usize>) -> Annotation {
    let mut annotation = Annotation::new(range, tag.name.as_str());
    for (key, value) in &tag.attributes {
        let score = value.parse().ok().filter(|score| (0.0..=1.0).contains(score));
        match (key.as_str(), score) {
            ("id", _) => annotation.id = value.clone(),
            ("score", Some(score)) => annotation.score = Some(score),
            ("identifiers", _) => {
                annotation.identifiers = value.split_whitespace().map(str::to_owned).collect();
            }
            _ => {
                annotation.attributes.insert(key.clone(), value.clone());
            }
        }
    }
    annotation
}

#[cfg(test)]
mod tests;
