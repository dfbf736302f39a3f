//! [`Document`]: a text with what is marked in it, as every reader gives it and every writer takes it.
//!
//! All offsets are byte offsets of [`Document::text`]. Readers and writers of formats that count otherwise
//! convert at their border with [`Offsets`](crate::offsets::Offsets).

use fieldmark_core::scheme::{Prefix, Scheme, Tag};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// A text, what is marked in it, and what its source said about it.
///
/// ```
/// use fieldmark_text::document::{Annotation, Document};
/// let mut document = Document::new("note-1", "Give iron 40 mg.");
/// document.annotations.push(Annotation::new(5..9, "DRUG"));
/// assert_eq!(document.annotations[0].text(&document.text), "iron");
/// assert_eq!(document.check(), Ok(()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Its name in its source: a PubMed id, a file name, a line number.
    pub id: String,
    /// Whether it is only a sentence of a source that does not tell its documents: the id is a number then, and formats
    /// of tokens mark no document where it begins.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unmarked: bool,
    /// The plain text.
    pub text: String,
    /// What is marked in the text, in the order of the source. Annotations may overlap and nest.
    pub annotations: Vec<Annotation>,
    /// Tokens of which the annotations do not tell the label, by a source that can say so: all other tokens are known to
    /// be what the annotations make them, outside of every span, too. `None` if the source knows only annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<Vec<OpenLabel>>,
    /// What connects annotations.
    pub relations: Vec<Relation>,
    /// Parts of the text as the source lays them out, in the order of the text; parts may nest.
    pub elements: Vec<Element>,
    /// The tokens and sentences of a source that comes with them.
    pub given: Option<GivenTokens>,
    /// Everything else that the source says: authors, a date, a category.
    pub meta: BTreeMap<String, String>,
}

/// A span of a document, of a type, perhaps in several fragments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotation {
    /// Its name in the document, to which relations refer; may be empty.
    pub id: String,
    /// The type.
    pub kind: String,
    /// The bytes that it covers: one range or, for a mention with gaps, several in rising order.
    pub fragments: Vec<Range<usize>>,
    /// How sure a model is of it, from 0 to 1.
    pub score: Option<f64>,
    /// What it stands for in a database or dictionary, as `source:key` or a bare key.
    pub identifiers: Vec<String>,
    /// Attributes such as `negated=true`, and notes.
    pub attributes: BTreeMap<String, String>,
}

/// A token whose label is not known, is one of several, or says more than annotations can: that a span goes on before it
/// or after it, where labels are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenLabel {
    /// The bytes of the token.
    pub range: Range<usize>,
    /// The label column, of a source that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The labels that it may have, in IOBES, which says most about one token; none if it may have any.
    pub labels: Vec<String>,
}

impl OpenLabel {
    /// The labels that it may have in a scheme; none if it may have any.
    ///
    /// ```
    /// use fieldmark_core::Scheme;
    /// use fieldmark_text::document::OpenLabel;
    /// let labels = ["O", "B-X", "S-X"].map(str::to_owned).to_vec();
    /// let open = OpenLabel { range: 0..3, labels, ..OpenLabel::default() };
    /// assert_eq!(open.labels_in(Scheme::Iob2), ["O", "B-X"]);
    /// assert_eq!(open.labels_in(Scheme::Io), ["O", "I-X"]);
    /// ```
    pub fn labels_in(&self, scheme: Scheme) -> Vec<String> {
        let mut found: Vec<String> = Vec::with_capacity(self.labels.len());
        for label in &self.labels {
            let Tag::Part(prefix, kind) = Tag::parse(label) else {
                found.push(label.clone());
                continue;
            };
            let begins = matches!(prefix, Prefix::Begin | Prefix::Single);
            let letters: &[&str] = match scheme {
                Scheme::Iobes => {
                    found.push(label.clone());
                    continue;
                }
                Scheme::Iob2 if begins => &["B"],
                // Which of both depends on the span before.
                Scheme::Iob1 if begins => &["I", "B"],
                Scheme::Io | Scheme::Iob1 | Scheme::Iob2 => &["I"],
            };
            found.extend(letters.iter().map(|letter| match kind {
                "" => (*letter).to_owned(),
                kind => format!("{letter}-{kind}"),
            }));
        }
        let mut seen = std::collections::HashSet::new();
        found.retain(|label| seen.insert(label.clone()));
        found
    }
}

/// Named roles that annotations (or other relations) play together: a relation or an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Relation {
    /// Its name in the document; may be empty.
    pub id: String,
    /// The type.
    pub kind: String,
    /// Role and id of each part. The word that expresses an event has the role `trigger`.
    pub arguments: Vec<(String, String)>,
    /// Attributes and notes.
    pub attributes: BTreeMap<String, String>,
}

/// A part of a document: a title, a section, a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Element {
    /// What it is: `title`, `abstract`, `section`, `heading`, `paragraph`, `list`, `table`, `caption`,
    /// `footnote`, `page`, `line`, or the name of an element of the source.
    pub kind: String,
    /// The bytes of the text that it covers.
    pub range: Range<usize>,
    /// Where it stands in the source.
    pub place: Option<Place>,
}

/// A place in the file that a document was read from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Bytes of the (decompressed) file.
    Bytes(Range<usize>),
    /// A rectangle on a page, in points from the lower left corner.
    Box {
        /// The page, from 1.
        page: u32,
        /// Left edge.
        left: f32,
        /// Lower edge.
        bottom: f32,
        /// Right edge.
        right: f32,
        /// Upper edge.
        top: f32,
    },
}

/// Tokens and sentences that the source gives, with its columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GivenTokens {
    /// Names of the columns beside the word, such as `pos`.
    pub columns: Vec<String>,
    /// The sentences, in order.
    pub sentences: Vec<Vec<GivenToken>>,
    /// The column that holds the labels of a model, if one gave every token a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
}

/// A token that the source gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GivenToken {
    /// The bytes of the text that it covers.
    pub range: Range<usize>,
    /// What the columns say, one entry for each of [`GivenTokens::columns`].
    pub columns: Vec<String>,
    /// How sure a model is of the label that it gave, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl Document {
    /// A text with nothing marked in it.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            ..Self::default()
        }
    }

    /// Sees whether every range is inside the text, on borders of characters, and holds something.
    pub fn check(&self) -> Result<(), RangeError> {
        let annotations = self.annotations.iter().flat_map(|annotation| {
            let whole = annotation.fragments.is_empty().then_some(0..0);
            annotation.fragments.iter().cloned().chain(whole)
        });
        let open = self.open.iter().flatten().map(|open| open.range.clone());
        annotations
            .chain(open)
            .chain(self.given.iter().flat_map(GivenTokens::ranges))
            .try_for_each(|range| check_range(&self.text, range, false))?;
        let elements = self.elements.iter().map(|element| element.range.clone());
        elements
            .into_iter()
            .try_for_each(|range| check_range(&self.text, range, true))
    }
}

impl GivenTokens {
    /// The tokens with the labels that a model gave them; none if no model labelled them.
    pub fn labelled(&self) -> impl Iterator<Item = (&GivenToken, &str)> {
        let name = self.labels.as_ref();
        let column = name.and_then(|name| self.columns.iter().position(|column| column == name));
        let tokens = self.sentences.iter().flatten();
        tokens.filter_map(move |token| Some((token, token.columns.get(column?)?.as_str())))
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.sentences.iter().flatten().map(|token| token.range.clone())
    }
}

impl Annotation {
    /// A span in one fragment, without score.
    pub fn new(range: Range<usize>, kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            fragments: vec![range],
            ..Self::default()
        }
    }

    /// The same with a score.
    pub fn with_score(self, score: f64) -> Self {
        Self {
            score: Some(score),
            ..self
        }
    }

    /// From the first byte to the last, gaps included; empty at 0 without fragments.
    pub fn range(&self) -> Range<usize> {
        let start = self.fragments.iter().map(|fragment| fragment.start).min();
        let end = self.fragments.iter().map(|fragment| fragment.end).max();
        start.unwrap_or(0)..end.unwrap_or(0)
    }

    /// What it covers, gaps included.
    ///
    /// # Panics
    /// When it does not belong to `text`; see [`Document::check`].
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.range()]
    }
}

/// A range that is not one of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeError {
    /// The range.
    pub range: Range<usize>,
    /// Length of the text.
    pub len: usize,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.range;
        let len = self.len;
        if end > len {
            write!(
                f,
                "the span {start}..{end} is not inside the text, which has {len} bytes"
            )
        } else if start >= end {
            write!(f, "the span {start}..{end} holds no character")
        } else {
            write!(f, "a border of the span {start}..{end} is inside a character")
        }
    }
}

impl std::error::Error for RangeError {}

/// Sees whether a range is one of the text, on borders of characters.
pub fn check_range(text: &str, range: Range<usize>, may_be_empty: bool) -> Result<(), RangeError> {
    let holds = range.start < range.end || (may_be_empty && range.start == range.end);
    let borders = text.is_char_boundary(range.start) && text.is_char_boundary(range.end);
    if holds && borders {
        Ok(())
    } else {
        Err(RangeError {
            range,
            len: text.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_do_not_fit_are_found_wherever_they_are() {
        let document = Document::new("a", "hält an");
        assert_eq!(document.check(), Ok(()));
        for (range, message) in [
            (0..9, "not inside"),
            (2..5, "inside a character"),
            (3..3, "no character"),
            (Range { start: 5, end: 4 }, "no character"),
        ] {
            let mut marked = document.clone();
            marked.annotations.push(Annotation::new(range.clone(), "X"));
            let mut tokens = document.clone();
            tokens.given = Some(GivenTokens {
                sentences: vec![vec![GivenToken {
                    range: range.clone(),
                    ..GivenToken::default()
                }]],
                ..GivenTokens::default()
            });
            let mut element = document.clone();
            element.elements.push(Element {
                kind: "line".to_owned(),
                range: range.clone(),
                place: None,
            });
            for (at, broken) in [marked, tokens, element].iter().enumerate() {
                // An empty line is a line.
                if at == 2 && range == (3..3) {
                    assert_eq!(broken.check(), Ok(()));
                    continue;
                }
                let error = broken.check().unwrap_err();
                assert!(error.to_string().contains(message), "{error}");
            }
        }
    }

    #[test]
    fn an_annotation_without_fragments_is_refused() {
        let mut document = Document::new("a", "text");
        document.annotations.push(Annotation {
            kind: "X".to_owned(),
            ..Annotation::default()
        });
        assert!(document.check().is_err());
    }

    #[test]
    fn tokens_are_labelled_by_the_column_that_is_named() {
        let token = |range, columns: [&str; 2]| GivenToken {
            range,
            columns: columns.map(str::to_owned).to_vec(),
            score: Some(0.5),
        };
        let mut given = GivenTokens {
            columns: vec!["lemma".to_owned(), "upos".to_owned()],
            sentences: vec![vec![token(0..1, ["a", "DET"])], vec![token(2..3, ["b", "NOUN"])]],
            labels: None,
        };
        assert_eq!(given.labelled().count(), 0);
        given.labels = Some("upos".to_owned());
        let labels: Vec<&str> = given.labelled().map(|(_, label)| label).collect();
        assert_eq!(labels, ["DET", "NOUN"]);
        given.labels = Some("xpos".to_owned());
        assert_eq!(given.labelled().count(), 0);
    }

    #[test]
    fn the_range_of_fragments_covers_gaps() {
        let annotation = Annotation {
            fragments: vec![0..4, 9..12],
            ..Annotation::default()
        };
        assert_eq!(annotation.range(), 0..12);
        assert_eq!(annotation.text("left and right lung"), "left and rig");
    }
}
