//! [`BiocWriter`]: from documents to BioC.

use crate::document::{Annotation, Document, Element, Relation};
use crate::formats::losses::{Holds, Places};
use crate::formats::{DocumentWriter, NoticeKind, Notices};
use crate::offsets::{Offsets, Unit};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

/// Writes documents in [BioC XML](super).
///
/// Elements of a document that do not overlap are its passages, and so is the text between them. Source, date, key and
/// infons of the collection are those of the first document.
#[derive(Debug)]
pub struct BiocWriter<W> {
    output: W,
    begun: bool,
}

impl<W: Write> BiocWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self { output, begun: false }
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn begin(&mut self, meta: &BTreeMap<String, String>) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        writeln!(self.output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            self.output,
            "<!DOCTYPE collection SYSTEM \"BioC.dtd\">\n<collection>"
        )?;
        for part in HEADER {
            let text = meta
                .get(&format!("collection: {part}"))
                .map_or("", String::as_str);
            writeln!(self.output, "<{part}>{}</{part}>", escape(text))?;
        }
        self.infons(meta, "collection: ", &HEADER)
    }

    /// The facts whose names begin with a prefix, as infons.
    fn infons(&mut self, meta: &BTreeMap<String, String>, prefix: &str, without: &[&str]) -> io::Result<()> {
        for (key, value) in meta {
            let Some(key) = key.strip_prefix(prefix).filter(|key| !without.contains(key)) else {
                continue;
            };
            writeln!(
                self.output,
                "<infon key=\"{}\">{}</infon>",
                escape(key),
                escape(value)
            )?;
        }
        Ok(())
    }

    fn passage(
        &mut self,
        number: usize,
        passage: &Passage<'_>,
        document: &Document,
        offsets: &Offsets<'_>,
    ) -> io::Result<()> {
        writeln!(self.output, "<passage>")?;
        if let Some(kind) = passage.kind {
            writeln!(self.output, "<infon key=\"type\">{}</infon>", escape(kind))?;
        }
        self.infons(&document.meta, &format!("passage {number}: "), &[])?;
        let at = |range: &Range<usize>| offsets.count(range.start).unwrap_or(0);
        writeln!(self.output, "<offset>{}</offset>", at(&passage.range))?;
        if passage.sentences.is_empty() {
            writeln!(
                self.output,
                "<text>{}</text>",
                escape(&document.text[passage.range.clone()])
            )?;
        }
        for (number, range) in &passage.sentences {
            writeln!(self.output, "<sentence>")?;
            self.infons(&document.meta, &format!("sentence {number}: "), &[])?;
            writeln!(self.output, "<offset>{}</offset>", at(range))?;
            writeln!(
                self.output,
                "<text>{}</text>",
                escape(&document.text[range.clone()])
            )?;
            writeln!(self.output, "</sentence>")?;
        }
        for annotation in &passage.annotations {
            self.annotation(annotation, &document.text, offsets)?;
        }
        writeln!(self.output, "</passage>")
    }

    fn annotation(&mut self, annotation: &Annotation, text: &str, offsets: &Offsets<'_>) -> io::Result<()> {
        writeln!(self.output, "<annotation id=\"{}\">", escape(&annotation.id))?;
        writeln!(
            self.output,
            "<infon key=\"type\">{}</infon>",
            escape(&annotation.kind)
        )?;
        if !annotation.identifiers.is_empty() {
            let identifiers = annotation.identifiers.join(";");
            writeln!(
                self.output,
                "<infon key=\"identifier\">{}</infon>",
                escape(&identifiers)
            )?;
        }
        if let Some(score) = annotation.score {
            writeln!(self.output, "<infon key=\"score\">{score}</infon>")?;
        }
        self.infons(&annotation.attributes, "", &RESERVED)?;
        let mut covered = Vec::new();
        for fragment in &annotation.fragments {
            let count = |byte| offsets.count(byte).unwrap_or(0);
            let (start, end) = (count(fragment.start), count(fragment.end));
            writeln!(
                self.output,
                "<location offset=\"{start}\" length=\"{}\"/>",
                end - start
            )?;
            covered.push(text.get(fragment.clone()).unwrap_or_default());
        }
        writeln!(
            self.output,
            "<text>{}</text>\n</annotation>",
            escape(&covered.join(" "))
        )
    }

    fn relation(&mut self, relation: &Relation) -> io::Result<()> {
        writeln!(self.output, "<relation id=\"{}\">", escape(&relation.id))?;
        writeln!(
            self.output,
            "<infon key=\"type\">{}</infon>",
            escape(&relation.kind)
        )?;
        self.infons(&relation.attributes, "", &["type"])?;
        for (role, part) in &relation.arguments {
            writeln!(
                self.output,
                "<node refid=\"{}\" role=\"{}\"/>",
                escape(part),
                escape(role)
            )?;
        }
        writeln!(self.output, "</relation>")
    }
}

const HEADER: [&str; 3] = ["source", "date", "key"];
/// Keys of infons that mean something else than an attribute.
const RESERVED: [&str; 3] = ["type", "identifier", "score"];

/// Whether XML 1.0 has a character.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..) && !matches!(c, '\u{FFFE}' | '\u{FFFF}')
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\r' => escaped += "&#13;",
            '\n' => escaped += "&#10;",
            '\t' => escaped += "&#9;",
            c if is_allowed(c) => escaped.push(c),
            _ => escaped.push(char::REPLACEMENT_CHARACTER),
        }
    }
    escaped
}

struct Passage<'a> {
    kind: Option<&'a str>,
    range: Range<usize>,
    /// With their numbers in the document.
    sentences: Vec<(usize, Range<usize>)>,
    annotations: Vec<&'a Annotation>,
}

/// Whether a reader would put exactly this between two parts.
fn is_gap(text: &str, first: char, begins: bool) -> bool {
    let rest = if begins {
        Some(text)
    } else {
        text.strip_prefix(first)
    };
    text.is_empty() || rest.is_some_and(|rest| rest.bytes().all(|byte| byte == b' '))
}

/// The text as passages: elements, and what is between them.
fn passages<'a>(document: &'a Document, notices: &mut Notices) -> Vec<Passage<'a>> {
    let text = &document.text;
    let mut elements: Vec<&Element> = document
        .elements
        .iter()
        .filter(|element| element.kind != "sentence")
        .collect();
    elements.sort_by_key(|element| (element.range.start, std::cmp::Reverse(element.range.end)));
    let mut passages: Vec<Passage<'a>> = Vec::new();
    let (mut end, mut lost) = (0, 0);
    let between = |passages: &mut Vec<Passage<'a>>, range: Range<usize>, last: bool| {
        let gap = is_gap(&text[range.clone()], '\n', range.start == 0);
        if !range.is_empty() && (!gap || last) {
            passages.push(Passage {
                kind: None,
                range,
                sentences: Vec::new(),
                annotations: Vec::new(),
            });
        }
    };
    for element in elements {
        if element.range.start < end || text.get(element.range.clone()).is_none() {
            lost += 1;
            continue;
        }
        between(&mut passages, end..element.range.start, false);
        end = element.range.end;
        passages.push(Passage {
            kind: Some(&element.kind),
            range: element.range.clone(),
            sentences: Vec::new(),
            annotations: Vec::new(),
        });
    }
    between(&mut passages, end..text.len(), true);
    lost += sentences(document, &mut passages);
    if lost > 0 {
        let message =
            format!("{lost} elements were left out: they overlap others, or do not cover their passage");
        notices.add(NoticeKind::Detail, &document.id, None, message);
    }
    passages
}

/// Gives sentences to the passages that they cover; how many have no place.
fn sentences(document: &Document, passages: &mut [Passage<'_>]) -> usize {
    let all = document
        .elements
        .iter()
        .filter(|element| element.kind == "sentence");
    let mut all: Vec<(usize, Range<usize>)> = all
        .enumerate()
        .map(|(at, element)| (at + 1, element.range.clone()))
        .collect();
    let count = all.len();
    all.sort_by_key(|(_, range)| range.start);
    let mut kept = 0;
    for passage in passages {
        let inside: Vec<_> = all
            .iter()
            .skip(all.partition_point(|(_, range)| range.start < passage.range.start))
            .take_while(|(_, range)| range.start <= passage.range.end && range.end <= passage.range.end)
            .cloned()
            .collect();
        let mut end = passage.range.start;
        let mut covers = !inside.is_empty();
        for (_, range) in &inside {
            let gap = document.text.get(end..range.start);
            covers &= gap.is_some_and(|gap| is_gap(gap, ' ', false))
                && (end > passage.range.start || end == range.start);
            end = range.end;
        }
        if covers && end == passage.range.end {
            kept += inside.len();
            passage.sentences = inside;
        }
    }
    count - kept.min(count)
}

/// The document with a number for every annotation that has no id.
fn with_ids(document: &Document) -> Cow<'_, Document> {
    if document
        .annotations
        .iter()
        .all(|annotation| !annotation.id.is_empty())
    {
        return Cow::Borrowed(document);
    }
    let mut numbered = document.clone();
    let used = document.annotations.iter().map(|annotation| &annotation.id);
    let used: HashSet<&String> = used
        .chain(document.relations.iter().map(|relation| &relation.id))
        .collect();
    let mut free = (1..)
        .map(|number: usize| number.to_string())
        .filter(|id| !used.contains(id));
    for annotation in &mut numbered.annotations {
        if annotation.id.is_empty() {
            annotation.id = free.next().unwrap_or_default();
        }
    }
    Cow::Owned(numbered)
}

impl<W: Write> DocumentWriter for BiocWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let holds = Holds {
            scores: true,
            identifiers: true,
            attributes: true,
            relations: true,
            elements: true,
            meta: true,
            ..Holds::default()
        };
        holds.tell(document, notices);
        let document = &with_ids(document);
        self.begin(&document.meta)?;
        if !document.text.chars().all(is_allowed) {
            notices.add(
                NoticeKind::Encoding,
                &document.id,
                None,
                "characters that XML does not have were replaced by U+FFFD",
            );
        }
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let places = Places::new(&document.text);
        let mut passages = passages(document, notices);
        if passages.is_empty() && !document.annotations.is_empty() {
            passages.push(Passage {
                kind: None,
                range: 0..0,
                sentences: Vec::new(),
                annotations: Vec::new(),
            });
        }
        for annotation in &document.annotations {
            let fits = |range: &Range<usize>| document.text.get(range.clone()).is_some();
            if !annotation.fragments.iter().all(fits) {
                let message = format!("{} was left out", places.name(annotation));
                notices.add(NoticeKind::OutsideText, &document.id, None, message);
                continue;
            }
            let lost = annotation
                .attributes
                .keys()
                .any(|key| RESERVED.contains(&key.as_str()));
            if lost
                || annotation
                    .identifiers
                    .iter()
                    .any(|id| id.contains(';') || id.trim() != id || id.is_empty())
            {
                let message = format!(
                    "{} has an identifier or attribute that cannot be read again",
                    places.name(annotation)
                );
                notices.add(NoticeKind::Detail, &document.id, None, message);
            }
            let start = annotation.range().start;
            let at = passages.partition_point(|passage| passage.range.end <= start);
            let at = at.min(passages.len() - 1);
            passages[at].annotations.push(annotation);
        }
        writeln!(self.output, "<document>\n<id>{}</id>", escape(&document.id))?;
        let own = |key: &str| {
            !["collection: ", "passage ", "sentence "]
                .iter()
                .any(|prefix| key.starts_with(prefix))
        };
        let facts: BTreeMap<String, String> = document
            .meta
            .iter()
            .filter(|(key, _)| own(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.infons(&facts, "", &[])?;
        for (at, passage) in passages.iter().enumerate() {
            self.passage(at + 1, passage, document, &offsets)?;
        }
        for relation in &document.relations {
            self.relation(relation)?;
        }
        writeln!(self.output, "</document>")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin(&BTreeMap::new())?;
        writeln!(self.output, "</collection>")?;
        self.output.flush()
    }
}
