//! What a format has no place for, told as notices before a document is written.

use super::{NoticeKind, Notices};
use crate::document::{Annotation, Document};
use std::ops::Range;

/// What a format can hold beside the text and spans with a type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holds {
    pub scores: bool,
    pub identifiers: bool,
    pub attributes: bool,
    /// Attributes that are kept although attributes in general are not.
    pub only: &'static [&'static str],
    pub relations: bool,
    pub elements: bool,
    pub tokens: bool,
    pub meta: bool,
}

impl Holds {
    /// Adds a notice for everything in a document that has no place.
    pub fn tell(&self, document: &Document, notices: &mut Notices) {
        for annotation in &document.annotations {
            let lost = self.lost(annotation);
            if !lost.is_empty() {
                let message = format!(
                    "{} has no place for {}",
                    name(annotation, &document.text),
                    lost.join(", ")
                );
                notices.add(NoticeKind::Detail, &document.id, None, message);
            }
        }
        if !self.relations {
            for relation in &document.relations {
                let message = format!("the format has no place for `{}` {}", relation.kind, relation.id);
                notices.add(NoticeKind::Relation, &document.id, None, message.trim_end());
            }
        }
        let mut parts = Vec::new();
        if !self.elements && !document.elements.is_empty() {
            parts.push(format!(
                "{} elements (title, section, …)",
                document.elements.len()
            ));
        }
        if !self.tokens && document.given.is_some() {
            parts.push("the tokens and columns that the source gave".to_owned());
        }
        if !self.meta && !document.meta.is_empty() {
            let names: Vec<&str> = document.meta.keys().map(String::as_str).collect();
            parts.push(format!("the facts {}", names.join(", ")));
        }
        for part in parts {
            let message = format!("the format has no place for {part}");
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
    }

    fn lost(&self, annotation: &Annotation) -> Vec<String> {
        let mut lost = Vec::new();
        if !self.scores
            && let Some(score) = annotation.score
        {
            lost.push(format!("its score {score}"));
        }
        if !self.identifiers {
            lost.extend(
                annotation
                    .identifiers
                    .iter()
                    .map(|id| format!("the identifier {id}")),
            );
        }
        if !self.attributes {
            let names = annotation.attributes.keys();
            let names = names.filter(|name| !self.only.contains(&name.as_str()));
            lost.extend(names.map(|name| format!("the attribute {name}")));
        }
        lost
    }
}

/// An annotation for a message: type, place and text.
pub(crate) fn name(annotation: &Annotation, text: &str) -> String {
    part_name(annotation, &annotation.range(), text)
}

/// A fragment of an annotation for a message.
pub(crate) fn part_name(annotation: &Annotation, range: &Range<usize>, text: &str) -> String {
    let covered = text.get(range.clone()).unwrap_or_default();
    let covered = crate::error::shown(covered);
    format!("`{}` at {} (`{covered}`)", annotation.kind, place(range, text))
}

/// A range for a message. As in tables and in JSON, it counts characters; what is beyond the text counts as bytes do.
pub(crate) fn place(range: &Range<usize>, text: &str) -> String {
    let bytes = text.as_bytes();
    let count = |byte: usize| {
        let inside = &bytes[..byte.min(bytes.len())];
        let characters = inside
            .iter()
            .filter(|&&byte| !(0x80..0xC0).contains(&byte))
            .count();
        characters + byte.saturating_sub(bytes.len())
    };
    format!("{}..{}", count(range.start), count(range.end))
}

/// Text for one line: line breaks and other characters that `splits` are blanks. Tells whether any was.
pub(crate) fn one_line(text: &str, splits: impl Fn(char) -> bool) -> (String, bool) {
    let bad = |c: char| matches!(c, '\n' | '\r' | '\0') || splits(c);
    let line: String = text.chars().map(|c| if bad(c) { ' ' } else { c }).collect();
    (line, text.contains(bad))
}

/// Whether two texts are the same but for the kind of their white space.
pub(crate) fn same_text(one: &str, other: &str) -> bool {
    let plain = |c: char| if c.is_whitespace() { ' ' } else { c };
    one.chars().map(plain).eq(other.chars().map(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let annotation = Annotation::new(3..6, "X");
        assert_eq!(name(&annotation, "αβγδ"), "`X` at 2..3 (``)");
        let annotation = Annotation::new(4..8, "X");
        assert_eq!(name(&annotation, "αβγδ"), "`X` at 2..4 (`γδ`)");
        assert_eq!(place(&(0..11), "αβγδ"), "0..7");
    }
}
