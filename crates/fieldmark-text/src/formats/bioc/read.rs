//! [`BiocReader`]: from BioC to documents.

use super::tree::{Node, Trees};
use crate::document::{Annotation, Document, Element, Relation};
use crate::error::ReadError;
use crate::formats::lines::{load, malformed, quoted};
use crate::formats::losses::same_text;
use crate::formats::{DocumentReader, NoticeKind, Notices};
use crate::offsets::{Offsets, Unit};
use crate::source::Source;
use std::ops::Range;

/// More white space than this between passages is not made.
const LONGEST_GAP: usize = 1 << 16;

/// Reads documents in [BioC XML](super). The whole source is kept in memory.
pub struct BiocReader {
    trees: Trees,
    count: usize,
    failed: bool,
}

impl BiocReader {
    /// Opens a source.
    pub fn new(source: &Source) -> Result<Self, ReadError> {
        Ok(Self {
            trees: Trees::new(source.name(), load(source)?),
            count: 0,
            failed: false,
        })
    }
}

impl DocumentReader for BiocReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        if self.failed {
            return Ok(None);
        }
        self.read(notices).inspect_err(|_| self.failed = true)
    }
}

impl BiocReader {
    fn read(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        let Some(node) = self.trees.next()? else {
            return Ok(None);
        };
        self.count += 1;
        let id = node.child("id").map(str::trim).filter(|id| !id.is_empty());
        let mut document = Document::new(id.map_or_else(|| self.count.to_string(), str::to_owned), "");
        for part in &self.trees.collection {
            let key = if part.name == "infon" {
                part.attribute("key").unwrap_or_default()
            } else {
                &part.name
            };
            if !part.text.trim().is_empty() {
                document
                    .meta
                    .insert(format!("collection: {key}"), part.text.clone());
            }
        }
        document.meta.extend(
            node.infons()
                .map(|(key, value)| (key.to_owned(), value.to_owned())),
        );
        let mut builder = Builder {
            file: &self.trees.file,
            document,
            characters: 0,
            parts: Vec::new(),
            notices,
        };
        builder.passages(&node)?;
        builder.annotations(&node)?;
        Ok(Some(builder.document))
    }
}

/// A passage or sentence in the text.
struct Part<'a> {
    node: &'a Node,
    offset: usize,
    bytes: Range<usize>,
}

struct Builder<'a> {
    file: &'a str,
    document: Document,
    /// Characters of the text.
    characters: usize,
    parts: Vec<Part<'a>>,
    notices: &'a mut Notices,
}

impl<'a> Builder<'a> {
    fn number(&self, node: &Node, text: Option<&str>) -> Result<usize, ReadError> {
        let text = text.unwrap_or_default().trim();
        let number = text.parse();
        number.map_err(|_| {
            malformed(
                self.file,
                node.line,
                1,
                format!("{} in <{}>", quoted(text), node.name),
                "an offset or a length in characters",
            )
        })
    }

    fn passages(&mut self, document: &'a Node) -> Result<(), ReadError> {
        let mut sentences = 0;
        for (at, passage) in document.all("passage").enumerate() {
            let offset = self.number(passage, passage.child("offset"))?;
            let element = self.document.elements.len();
            let start = match passage.child("text") {
                Some(text) => self.place(offset, text, '\n', passage).start,
                None => self.document.text.len(),
            };
            let mut begin = None;
            for sentence in passage.all("sentence") {
                sentences += 1;
                let first = if begin.is_none() { '\n' } else { ' ' };
                let at = self.number(sentence, sentence.child("offset"))?;
                let range = self.place(at, sentence.child("text").unwrap_or_default(), first, sentence);
                begin.get_or_insert(range.start);
                self.facts(sentence, &format!("sentence {sentences}"), false);
                self.document.elements.push(Element {
                    kind: "sentence".to_owned(),
                    range: range.clone(),
                    place: None,
                });
                self.parts.push(Part {
                    node: sentence,
                    offset: at,
                    bytes: range,
                });
            }
            let start = if passage.child("text").is_some() {
                start
            } else {
                begin.unwrap_or(start)
            };
            let bytes = start..self.document.text.len();
            if let Some((_, kind)) = passage.infons().find(|(key, _)| *key == "type") {
                let kind = kind.to_owned();
                self.document.elements.insert(
                    element,
                    Element {
                        kind,
                        range: bytes.clone(),
                        place: None,
                    },
                );
            }
            self.facts(passage, &format!("passage {}", at + 1), true);
            self.parts.push(Part {
                node: passage,
                offset,
                bytes,
            });
        }
        Ok(())
    }

    fn facts(&mut self, node: &Node, whose: &str, has_kind: bool) {
        let infons = node.infons().filter(|(key, _)| !(has_kind && *key == "type"));
        let facts = infons.map(|(key, value)| (format!("{whose}: {key}"), value.to_owned()));
        self.document.meta.extend(facts);
    }

    /// Adds a text at its offset; `first` is the first character of a gap.
    fn place(&mut self, offset: usize, text: &str, first: char, node: &Node) -> Range<usize> {
        let gap = offset
            .checked_sub(self.characters)
            .filter(|&gap| gap <= LONGEST_GAP);
        if gap.is_none() {
            let message = format!(
                "the {} at {offset} follows a text of {} characters; it was added to its end",
                node.name, self.characters
            );
            self.notices
                .add(NoticeKind::OtherText, &self.document.id, Some(node.line), message);
        }
        let begins = self.document.text.is_empty();
        for at in 0..gap.unwrap_or(usize::from(!begins)) {
            self.document
                .text
                .push(if at == 0 && !begins { first } else { ' ' });
            self.characters += 1;
        }
        let start = self.document.text.len();
        self.document.text.push_str(text);
        self.characters += text.chars().count();
        start..self.document.text.len()
    }

    fn annotations(&mut self, document: &Node) -> Result<(), ReadError> {
        let text = std::mem::take(&mut self.document.text);
        let whole = Part {
            node: document,
            offset: 0,
            bytes: 0..text.len(),
        };
        let all = Offsets::new(&text, Unit::Characters);
        let parts = std::mem::take(&mut self.parts);
        for part in parts.iter().chain([&whole]) {
            let words = &text[part.bytes.clone()];
            let mut units: Option<[Offsets<'_>; 3]> = None;
            for node in part.node.all("annotation") {
                let units = units.get_or_insert_with(|| {
                    [Unit::Characters, Unit::Bytes, Unit::Utf16].map(|unit| Offsets::new(words, unit))
                });
                self.annotation(node, part, units, &all)?;
            }
            self.document
                .relations
                .extend(part.node.all("relation").map(relation));
        }
        self.document.text = text;
        Ok(())
    }

    fn annotation(
        &mut self,
        node: &Node,
        part: &Part<'_>,
        units: &[Offsets<'_>; 3],
        all: &Offsets<'_>,
    ) -> Result<(), ReadError> {
        let mut annotation = Annotation {
            id: node.attribute("id").unwrap_or_default().to_owned(),
            ..Annotation::default()
        };
        for (key, value) in node.infons() {
            match key {
                "type" => annotation.kind = value.to_owned(),
                "identifier" => annotation.identifiers.extend(
                    value
                        .split(';')
                        .map(|id| id.trim().to_owned())
                        .filter(|id| !id.is_empty()),
                ),
                "score" if value.trim().parse::<f64>().is_ok() => {
                    annotation.score = value.trim().parse().ok()
                }
                _ => drop(annotation.attributes.insert(key.to_owned(), value.to_owned())),
            }
        }
        let mut places = Vec::new();
        for location in node.all("location") {
            let start = self.number(location, location.attribute("offset"))?;
            let length = self.number(location, location.attribute("length"))?;
            places.push(start..start.saturating_add(length));
        }
        let said = node.child("text");
        let fits = |fragments: &Vec<Range<usize>>| {
            said.is_none_or(|said| same_text(said, &covered(all.text(), fragments)))
        };
        // As it should be: in characters, by the part, or by the whole text for a span that goes beyond its part.
        // Then by the part in the units that others count.
        let local = |offsets| fragments(&places, part.offset, part.bytes.start, offsets);
        let [characters, others @ ..] = units;
        let right = [local(characters), fragments(&places, 0, 0, all)].into_iter();
        let others = others.iter().map(local);
        let candidates = right
            .map(|found| (true, found))
            .chain(others.map(|found| (false, found)));
        let candidates: Vec<(bool, Vec<Range<usize>>)> = candidates
            .filter_map(|(by_characters, found)| Some((by_characters, found?)))
            .collect();
        let mut tell = |kind, what: String| {
            let message = format!("`{}` {} {what}", annotation.kind, annotation.id);
            self.notices
                .add(kind, &self.document.id, Some(node.line), message);
        };
        let Some(first) = candidates.first() else {
            tell(
                NoticeKind::OutsideText,
                format!("was left out: {places:?} is not inside its {}", part.node.name),
            );
            return Ok(());
        };
        let (by_characters, found) = candidates
            .iter()
            .find(|(_, fragments)| fits(fragments))
            .unwrap_or(first);
        if found.is_empty() || found.iter().any(Range::is_empty) {
            tell(
                NoticeKind::Empty,
                "was left out: it holds no character".to_owned(),
            );
            return Ok(());
        }
        if !fits(found) {
            let words = covered(all.text(), found);
            tell(
                NoticeKind::OtherText,
                format!("covers `{words}`, the file says `{}`", said.unwrap_or_default()),
            );
        } else if !by_characters {
            tell(
                NoticeKind::OtherText,
                "was found where its text is: its offset does not count characters".to_owned(),
            );
        }
        annotation.fragments = found.clone();
        annotation.fragments.sort_by_key(|fragment| fragment.start);
        self.document.annotations.push(annotation);
        Ok(())
    }
}

fn covered(text: &str, fragments: &[Range<usize>]) -> String {
    let parts: Vec<&str> = fragments.iter().map(|fragment| &text[fragment.clone()]).collect();
    parts.join(" ")
}

/// Places as bytes of the document, `None` if one is outside.
fn fragments(
    places: &[Range<usize>],
    offset: usize,
    start: usize,
    offsets: &Offsets<'_>,
) -> Option<Vec<Range<usize>>> {
    let byte = |at: usize| offsets.byte(at.checked_sub(offset)?).map(|byte| start + byte);
    places
        .iter()
        .map(|place| Some(byte(place.start)?..byte(place.end)?))
        .collect()
}

fn relation(node: &Node) -> Relation {
    let mut relation = Relation {
        id: node.attribute("id").unwrap_or_default().to_owned(),
        ..Relation::default()
    };
    for (key, value) in node.infons() {
        match key {
            "type" => relation.kind = value.to_owned(),
            _ => drop(relation.attributes.insert(key.to_owned(), value.to_owned())),
        }
    }
    let part = |node: &Node| {
        let of = |name: &str| node.attribute(name).unwrap_or_default().to_owned();
        (of("role"), of("refid"))
    };
    relation.arguments = node.all("node").map(part).collect();
    relation
}
