//! What the API says, in the form in which it says it.

use fieldmark::text::document::{Annotation, Document};
use fieldmark::text::offsets::{Offsets, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// How places in a text are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnitName {
    /// Code points, as Python counts.
    #[default]
    Characters,
    /// Code units of UTF-16, as JavaScript and Java count.
    Utf16,
    /// Bytes of UTF-8, as Rust and Go count.
    Bytes,
}

impl From<UnitName> for Unit {
    fn from(name: UnitName) -> Self {
        match name {
            UnitName::Characters => Unit::Characters,
            UnitName::Utf16 => Unit::Utf16,
            UnitName::Bytes => Unit::Bytes,
        }
    }
}

/// What was found in a text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TextAnswer {
    /// The spans, in the order of the text; they may nest.
    pub spans: Vec<SpanAnswer>,
    /// Of a model that labels tokens: all tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<TokenAnswer>>,
    /// Of a model that labels whole texts: its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What of the text could not be treated as usual, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A marked place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpanAnswer {
    /// Where it begins.
    pub start: usize,
    /// One past its end.
    pub end: usize,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it covers.
    pub text: String,
    /// How sure the model is of type and borders, from 0 to 1; null if it does not know.
    pub confidence: Option<f64>,
    /// Of a span with gaps: start and end of each part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<[usize; 2]>,
    /// What it stands for in databases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identifiers: Vec<String>,
    /// What else is known of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

/// A token with its labels.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenAnswer {
    /// Where it begins.
    pub start: usize,
    /// One past its end.
    pub end: usize,
    /// What it covers.
    pub text: String,
    /// Its label in each layer.
    pub labels: BTreeMap<String, String>,
    /// How sure the model is of the label, or of the least sure one, from 0 to 1.
    pub confidence: Option<f64>,
}

/// A model of the server.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelAnswer {
    /// The name by which requests ask for it.
    pub name: String,
    /// Whether it answers requests that name none.
    pub default: bool,
    /// `chain` or `graph`.
    pub kind: &'static str,
    /// What its task is called.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// The day on which it was trained.
    pub trained: String,
    /// The types of spans that it was shown.
    pub types: Vec<String>,
    /// What it labels.
    pub layers: Vec<Layer>,
    /// Whether its confidence was fitted as a probability; otherwise it only ranks.
    pub probabilities: bool,
}

/// A kind of labels.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Layer {
    /// Its name; empty for the only one of a model that marks spans.
    pub name: String,
    /// `spans`, `tokens` or `texts`.
    pub marks: &'static str,
    /// The labels.
    pub labels: Vec<String>,
}

/// Places of one text in the unit that was asked for.
pub(super) struct Places<'t> {
    text: &'t str,
    offsets: Offsets<'t>,
}

impl<'t> Places<'t> {
    pub fn new(text: &'t str, unit: UnitName) -> Self {
        Self {
            text,
            offsets: Offsets::new(text, unit.into()),
        }
    }

    /// Start and end of a range of bytes.
    pub fn of(&self, bytes: Range<usize>) -> (usize, usize) {
        let count = |byte| self.offsets.count(byte).unwrap_or_default();
        (count(bytes.start), count(bytes.end))
    }

    /// What a range of bytes covers.
    pub fn text(&self, bytes: Range<usize>) -> String {
        self.text.get(bytes).unwrap_or_default().to_owned()
    }

    /// The byte of a place, if it is one.
    pub fn byte(&self, count: usize) -> Option<usize> {
        self.offsets.byte(count)
    }

    /// The place at the end of the text.
    pub fn end(&self) -> usize {
        self.offsets.end()
    }
}

impl TextAnswer {
    /// What a document says, whose annotations, columns and metadata a model has made.
    pub(super) fn new(document: &Document, unit: UnitName, notices: Vec<String>) -> Self {
        let places = Places::new(&document.text, unit);
        let mut spans: Vec<&Annotation> = document.annotations.iter().collect();
        spans.sort_by_key(|span| (span.range().start, usize::MAX - span.range().end));
        Self {
            spans: spans
                .into_iter()
                .map(|span| SpanAnswer::new(span, &places))
                .collect(),
            tokens: document.given.as_ref().map(|given| {
                let tokens = given.sentences.iter().flatten();
                let answer = tokens.map(|token| {
                    let (start, end) = places.of(token.range.clone());
                    let columns = given.columns.iter().cloned();
                    TokenAnswer {
                        start,
                        end,
                        text: places.text(token.range.clone()),
                        labels: columns.zip(token.columns.iter().cloned()).collect(),
                        confidence: token.score,
                    }
                });
                answer.collect()
            }),
            labels: document.meta.clone(),
            notices,
        }
    }
}

impl SpanAnswer {
    fn new(span: &Annotation, places: &Places<'_>) -> Self {
        let (start, end) = places.of(span.range());
        let fragments = match &span.fragments[..] {
            [] | [_] => Vec::new(),
            several => several
                .iter()
                .map(|part| places.of(part.clone()).into())
                .collect(),
        };
        Self {
            start,
            end,
            kind: span.kind.clone(),
            text: places.text(span.range()),
            confidence: span.score,
            fragments,
            identifiers: span.identifiers.clone(),
            attributes: span.attributes.clone(),
        }
    }
}
