//! [`Notice`]: something that a reader or writer could not keep as it was.

use std::collections::BTreeMap;
use std::fmt;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NoticeKind {
    /// A span begins or ends inside a token.
    InsideToken,
    /// A span holds no token, or nothing but white space.
    Empty,
    /// A span reaches beyond the text.
    OutsideText,
    /// The text at a span is not what the format says it is.
    OtherText,
    /// White space between tokens, which the format does not keep.
    Spacing,
    /// A span overlaps another and the format has no place for both.
    Overlap,
    /// A span lies inside another and the format has no place for both.
    Nested,
    /// A span has several fragments, which the format cannot say.
    Fragments,
    /// A span crosses the border between two sentences.
    CrossesSentence,
    /// A sentence is so long that its parts have to do without each other.
    LongSentence,
    /// A label breaks the label scheme.
    Scheme,
    /// A label belongs to no label scheme, among labels that do.
    OddLabel,
    /// The format has no place for relations.
    Relation,
    /// The format has no place for an attribute, a score, an identifier or other facts.
    Detail,
    /// The format has no place for the name of a type, which is another one there.
    TypeName,
    /// Bytes or characters that the encoding does not know, or that were guessed.
    Encoding,
    /// A part of the source was skipped.
    Skipped,
    /// Nothing is lost, but there is something to know or to do better.
    Note,
}

impl fmt::Display for NoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoticeKind::InsideToken => "border inside a token",
            NoticeKind::Empty => "empty span",
            NoticeKind::OutsideText => "span outside of the text",
            NoticeKind::OtherText => "text differs",
            NoticeKind::Spacing => "white space",
            NoticeKind::Overlap => "overlapping span",
            NoticeKind::Nested => "nested span",
            NoticeKind::Fragments => "span with gaps",
            NoticeKind::CrossesSentence => "span over the end of a sentence",
            NoticeKind::LongSentence => "long sentence",
            NoticeKind::Scheme => "label breaks the scheme",
            NoticeKind::OddLabel => "label of no scheme",
            NoticeKind::Relation => "relation",
            NoticeKind::Detail => "detail without a place",
            NoticeKind::TypeName => "type with another name",
            NoticeKind::Encoding => "encoding",
            NoticeKind::Skipped => "skipped",
            NoticeKind::Note => "note",
        })
    }
}

/// One thing that could not be kept as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub kind: NoticeKind,
    /// The document, by its id; may be empty.
    pub document: String,
    /// The line of the source, if it is known.
    pub line: Option<u64>,
    /// The rest of the sentence: what was found and what was done about it.
    pub message: String,
}

impl Notice {
    /// Document and line, as far as they are known.
    pub fn place(&self) -> String {
        match (self.document.as_str(), self.line) {
            ("", None) => String::new(),
            ("", Some(line)) => format!("line {line}"),
            (document, None) => document.to_owned(),
            (document, Some(line)) => format!("{document}, line {line}"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// All notices, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    all: Vec<Notice>,
}

impl Notices {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn add(&mut self, kind: NoticeKind, document: &str, line: Option<u64>, message: impl Into<String>) {
        self.all.push(Notice {
            kind,
            document: document.to_owned(),
            line,
            message: message.into(),
        });
    }

    /// Adds others.
    pub fn extend(&mut self, others: Notices) {
        self.all.extend(others.all);
    }

    /// All, in order.
    pub fn all(&self) -> &[Notice] {
        &self.all
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many there are of each kind.
    pub fn counts(&self) -> BTreeMap<NoticeKind, usize> {
        let mut counts = BTreeMap::new();
        for notice in &self.all {
            *counts.entry(notice.kind).or_default() += 1;
        }
        counts
    }
}
