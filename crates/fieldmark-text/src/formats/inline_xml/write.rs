//! Writing inline tags.

use super::InlineXmlOptions;
use super::tags::as_name;
use crate::document::{Annotation, Document};
use crate::formats::losses::{Places, with_marked_tokens};
use crate::formats::xml::{Escaped, tell_characters};
use crate::formats::{DocumentWriter, NoticeKind, Notices, tell_unwritten};
use std::cmp::Reverse;
use std::io::{self, Write};
use std::ops::Range;

/// Writes text with inline tags, as well-formed XML: each document in a tag of its own, all in another.
///
/// Of two annotations that overlap the second is left out and told. One with gaps is written from its first
/// byte to its last, and told. Elements are written if the options name their kind among the element tags.
#[derive(Debug)]
pub struct InlineXmlWriter<W> {
    out: W,
    options: InlineXmlOptions,
    begun: bool,
}

impl<W: Write> InlineXmlWriter<W> {
    /// Writes to `out`, as UTF-8.
    pub fn new(out: W, options: InlineXmlOptions) -> Self {
        Self {
            out,
            options,
            begun: false,
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            let root = &self.options.document_tag;
            writeln!(self.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root}s>")?;
        }
        Ok(())
    }

    /// What is written as a tag: its range, the tag without brackets, its name.
    fn items(&self, document: &Document, notices: &mut Notices) -> Vec<(Range<usize>, String, String)> {
        let mut items = Vec::new();
        for element in &document.elements {
            if self.options.element_tags.contains(&element.kind)
                && document
                    .text
                    .get(element.range.clone())
                    .is_some_and(|text| !text.is_empty())
            {
                items.push((element.range.clone(), element.kind.clone(), element.kind.clone()));
            }
        }
        let places = Places::new(&document.text);
        for annotation in &document.annotations {
            let mut tell = |kind, message: String| notices.add(kind, &document.id, None, message);
            let range = annotation.range();
            if document.text.get(range.clone()).is_none_or(str::is_empty) {
                let message = format!(
                    "{} is not inside the text and is left out",
                    places.name(annotation)
                );
                tell(NoticeKind::OutsideText, message);
                continue;
            }
            if annotation.fragments.len() > 1 {
                let message = format!("{} is written without its gaps", places.name(annotation));
                tell(NoticeKind::Fragments, message);
            }
            let name = self.name(&annotation.kind);
            if name != annotation.kind {
                let message = format!(
                    "the type `{}` is no name of a tag and is `{name}` now",
                    annotation.kind
                );
                tell(NoticeKind::TypeName, message);
            }
            let tag = format!("{name}{}", attributes(annotation, &mut tell));
            items.push((range, tag, name));
        }
        items.sort_by_key(|(range, _, _)| (range.start, Reverse(range.end)));
        items
    }

    /// A name for a type of annotation that means nothing else.
    fn name(&self, kind: &str) -> String {
        let mut name = as_name(kind);
        let options = &self.options;
        let others = [Some(&options.document_tag), options.id_tag.as_ref()];
        while others.contains(&Some(&name)) || options.element_tags.contains(&name) {
            name.push('_');
        }
        name
    }
}

fn attributes(annotation: &Annotation, tell: &mut impl FnMut(NoticeKind, String)) -> String {
    let mut out = String::new();
    let mut put = |key: &str, value: &str| out.push_str(&format!(" {key}=\"{}\"", Escaped(value)));
    if !annotation.id.is_empty() {
        put("id", &annotation.id);
    }
    if let Some(score) = annotation.score {
        put("score", &score.to_string());
    }
    if !annotation.identifiers.is_empty() {
        put("identifiers", &annotation.identifiers.join(" "));
    }
    for identifier in annotation
        .identifiers
        .iter()
        .filter(|id| id.contains(char::is_whitespace))
    {
        tell(
            NoticeKind::Detail,
            format!("the identifier `{identifier}` is written as several, because of its blanks"),
        );
    }
    for (key, value) in &annotation.attributes {
        let taken = matches!(key.as_str(), "id" | "score" | "identifiers");
        if taken || as_name(key) != *key {
            let message = format!("the attribute `{key}` is left out: a tag has no place for this name");
            tell(NoticeKind::Detail, message);
        } else {
            put(key, value);
        }
    }
    out
}

impl<W: Write> DocumentWriter for InlineXmlWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        self.begin()?;
        let document = &*with_marked_tokens(document);
        tell_unwritten(document, "inline XML", false, notices);
        tell_characters(&document.id, &document.text, notices);
        for key in document.meta.keys() {
            let message = format!("`{key}` is left out: inline XML has no place for it");
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        let (root, text) = (&self.options.document_tag, &document.text);
        let items = self.items(document, notices);
        match &self.options.id_tag {
            None => write!(self.out, "<{root} id=\"{}\">", Escaped(&document.id))?,
            Some(tag) => write!(self.out, "<{root}><{tag}>{}</{tag}>", Escaped(&document.id))?,
        }
        let places = Places::new(text);
        let mut at = 0;
        let mut open: Vec<(usize, String)> = Vec::new();
        for (range, tag, name) in items {
            while let Some((end, name)) = open.pop_if(|(end, _)| *end <= range.start) {
                write!(self.out, "{}</{name}>", Escaped(&text[at..end]))?;
                at = end;
            }
            if open.last().is_some_and(|(end, _)| *end < range.end) {
                let message = format!(
                    "`{name}` at {} overlaps another span and is left out",
                    places.place(&range)
                );
                notices.add(NoticeKind::Overlap, &document.id, None, message);
                continue;
            }
            write!(self.out, "{}<{tag}>", Escaped(&text[at..range.start]))?;
            at = range.start;
            open.push((range.end, name));
        }
        while let Some((end, name)) = open.pop() {
            write!(self.out, "{}</{name}>", Escaped(&text[at..end]))?;
            at = end;
        }
        let root = &self.options.document_tag;
        writeln!(self.out, "{}</{root}>", Escaped(&text[at..]))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()?;
        writeln!(self.out, "</{}s>", self.options.document_tag)?;
        self.out.flush()
    }
}
