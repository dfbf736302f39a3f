//! What a format has no place for, told as notices before a document is written.

use super::{NoticeKind, Notices};
use crate::document::{Annotation, Document, GivenTokens};
use crate::offsets::{Offsets, Unit};
use std::borrow::Cow;
use std::cell::OnceCell;
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
    /// Tokens and columns of the source.
    pub tokens: bool,
    /// Labels that a model gave to every token.
    pub token_labels: bool,
    pub meta: bool,
    /// Labels that are not known, or one of several.
    pub open: bool,
}

impl Holds {
    /// Adds a notice for everything in a document that has no place.
    pub fn tell(&self, document: &Document, notices: &mut Notices) {
        let places = Places::new(&document.text);
        for annotation in &document.annotations {
            let lost = self.lost(annotation);
            if !lost.is_empty() {
                let name = places.name(annotation);
                let message = format!("{name} has no place for {}", lost.join(", "));
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
        if let Some(given) = &document.given {
            parts.extend(self.lost_tokens(given));
        }
        let open = document.open.as_ref().map_or(0, Vec::len);
        if !self.open && open > 0 {
            let s = if open == 1 { "" } else { "s" };
            parts.push(format!(
                "{open} label{s} that are unknown (`?`) or one of several (`A|B`)"
            ));
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

    /// What of the tokens of a document has no place.
    pub fn lost_tokens(&self, given: &GivenTokens) -> Vec<String> {
        let mut lost = Vec::new();
        let labels = given.labelled().count();
        let of_source = match labels {
            0 => true,
            // Other columns than that of the labels come from the source.
            _ => given.columns.len() > 1,
        };
        if !self.tokens && of_source {
            lost.push("the tokens and columns that the source gave".to_owned());
        }
        let scored = given
            .labelled()
            .filter(|(token, _)| token.score.is_some())
            .count();
        if !self.token_labels && labels > 0 {
            let column = given.labels.as_deref().unwrap_or_default();
            lost.push(format!(
                "the labels that the model gave to {labels} tokens (the column {column})"
            ));
        } else if !self.scores && scored > 0 {
            lost.push(format!("the confidence of the labels of {scored} tokens"));
        }
        lost
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

/// The labels that a model gave to tokens as annotations, for formats that mark places in a text.
pub(crate) fn with_marked_tokens(document: &Document) -> Cow<'_, Document> {
    let Some(given) = document
        .given
        .as_ref()
        .filter(|given| given.labelled().next().is_some())
    else {
        return Cow::Borrowed(document);
    };
    let marks = given.labelled().map(|(token, label)| Annotation {
        score: token.score,
        ..Annotation::new(token.range.clone(), label)
    });
    let mut marked = document.clone();
    marked.annotations.extend(marks);
    marked.given = None;
    if given.columns.len() > 1 {
        marked.given = Some(GivenTokens {
            labels: None,
            ..given.clone()
        });
    }
    Cow::Owned(marked)
}

/// Names places of a text for messages.
///
/// Most documents lose nothing, so characters are counted when the first place is asked for.
pub(crate) struct Places<'a> {
    text: &'a str,
    offsets: OnceCell<Offsets<'a>>,
}

impl<'a> Places<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            offsets: OnceCell::new(),
        }
    }

    /// An annotation: type, place and text.
    pub fn name(&self, annotation: &Annotation) -> String {
        self.part_name(annotation, &annotation.range())
    }

    /// A fragment of an annotation.
    pub fn part_name(&self, annotation: &Annotation, range: &Range<usize>) -> String {
        let covered = self.text.get(range.clone()).unwrap_or_default();
        let covered = crate::error::shown(covered);
        format!("`{}` at {} (`{covered}`)", annotation.kind, self.place(range))
    }

    /// A range. As in tables and in JSON, it counts characters; what is beyond the text counts as bytes do.
    pub fn place(&self, range: &Range<usize>) -> String {
        format!("{}..{}", self.count(range.start), self.count(range.end))
    }

    fn count(&self, byte: usize) -> usize {
        let offsets = self
            .offsets
            .get_or_init(|| Offsets::new(self.text, Unit::Characters));
        let end = self.text.len();
        let mut borders = (byte..end).filter(|&at| self.text.is_char_boundary(at));
        let inside = borders.next().unwrap_or(end);
        offsets.count(inside).unwrap_or_default() + byte.saturating_sub(end)
    }
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
    use super::super::{DocumentFormat, Target, WriteOptions};
    use super::*;
    use crate::document::GivenToken;

    #[test]
    fn places_count_characters() {
        let places = Places::new("αβγδ");
        let name = |range| places.name(&Annotation::new(range, "X"));
        assert_eq!(name(3..6), "`X` at 2..3 (``)");
        assert_eq!(name(4..8), "`X` at 2..4 (`γδ`)");
        assert_eq!(places.place(&(0..11)), "0..7");
        // A character that is cut counts as the next one would.
        assert_eq!(Places::new("a𝄞b").place(&(2..4)), "2..2");
    }

    /// `Give iron`, every token labelled by a model.
    fn labelled() -> Document {
        let token = |range, label: &str, score| GivenToken {
            range,
            columns: vec![label.to_owned()],
            score: Some(score),
        };
        Document {
            given: Some(GivenTokens {
                columns: vec!["upos".to_owned()],
                sentences: vec![vec![token(0..4, "VERB", 0.75), token(5..9, "NOUN", 0.5)]],
                labels: Some("upos".to_owned()),
            }),
            ..Document::new("1", "Give iron")
        }
    }

    fn write(format: DocumentFormat, document: &Document) -> Option<(String, Notices)> {
        let (mut bytes, mut notices) = (Vec::new(), Notices::new());
        let created = WriteOptions::default().create(format, Target::Stream(&mut bytes), None);
        // Some formats are not written to a stream.
        let mut writer = created.ok()?;
        writer.write(document, &mut notices).unwrap();
        writer.finish().unwrap();
        drop(writer);
        Some((String::from_utf8(bytes).unwrap(), notices))
    }

    #[test]
    fn labels_of_tokens_are_written_or_counted() {
        let mut written = Vec::new();
        for &format in DocumentFormat::ALL {
            let Some((text, notices)) = write(format, &labelled()) else {
                continue;
            };
            let told: Vec<&str> = notices
                .all()
                .iter()
                .map(|notice| notice.message.as_str())
                .collect();
            assert!(
                !told.iter().any(|told| told.contains("source")),
                "{format}: {told:?}"
            );
            if text.contains("NOUN") {
                written.push(format);
            } else {
                let count = "the labels that the model gave to 2 tokens (the column upos)";
                assert!(told.iter().any(|told| told.contains(count)), "{format}: {told:?}");
            }
        }
        for format in [
            DocumentFormat::Columns,
            DocumentFormat::Conllu,
            DocumentFormat::Html,
            DocumentFormat::Jsonl,
            DocumentFormat::HuggingFace,
            DocumentFormat::InlineXml,
        ] {
            assert!(written.contains(&format), "{format}");
        }
    }

    #[test]
    fn labels_of_tokens_have_their_own_place() {
        let document = labelled();
        let text = |format| write(format, &document).unwrap().0;
        assert!(text(DocumentFormat::Columns).ends_with("Give\tVERB\niron\tNOUN\n\n"));
        assert!(text(DocumentFormat::Conllu).contains("\n2\tiron\t_\tNOUN\t_\t"));
        let json = text(DocumentFormat::HuggingFace);
        assert!(
            json.contains("\"upos\":[\"VERB\",\"NOUN\"]") && !json.contains("ner_tags"),
            "{json}"
        );
        let json = text(DocumentFormat::Jsonl);
        assert!(
            json.contains("\"labels\":\"upos\"") && json.contains("\"score\":0.75"),
            "{json}"
        );
        let page = text(DocumentFormat::Html);
        assert!(
            page.contains("text tokens") && page.contains("Confidence 0.7500"),
            "{page}"
        );
        let (_, notices) = write(DocumentFormat::Columns, &document).unwrap();
        let told = &notices.all()[0].message;
        assert!(
            told.contains("the confidence of the labels of 2 tokens"),
            "{told}"
        );
    }

    #[test]
    fn columns_of_the_source_are_told_beside_labels() {
        let mut document = labelled();
        let given = document.given.as_mut().unwrap();
        given.columns.insert(0, "lemma".to_owned());
        for token in given.sentences.iter_mut().flatten() {
            token.columns.insert(0, "x".to_owned());
        }
        let (_, notices) = write(DocumentFormat::Spacy, &document).unwrap();
        let told: Vec<&str> = notices
            .all()
            .iter()
            .map(|notice| notice.message.as_str())
            .collect();
        assert!(told[0].contains("columns that the source gave"), "{told:?}");
        assert!(told[1].contains("gave to 2 tokens"), "{told:?}");
    }
}
