//! JSON, one document in a line, in the flavours of several tools.
//!
//! | flavour | a line |
//! |---|---|
//! | [`Fieldmark`](Flavour::Fieldmark) | every field of [`Document`], and `"offsets": "characters"`: nothing is lost |
//! | [`Doccano`](Flavour::Doccano) | `{"text": …, "label": [[0, 4, "DRUG"]]}`, or `entities` and `relations` with ids |
//! | [`Spacy`](Flavour::Spacy) | `{"text": …, "entities": [[0, 4, "DRUG"]]}`, or `["text", {"entities": …}]` |
//! | [`Prodigy`](Flavour::Prodigy) | `{"text": …, "tokens": [{"start": …}], "spans": [{"start": …, "end": …, "label": …}]}` |
//! | [`HuggingFace`](Flavour::HuggingFace) | `{"tokens": [...], "ner_tags": ["O", "B-DRUG"]}`, or numbers of label names |
//!
//! Offsets count characters (code points). Keys that the flavour does not know become facts of the document: text as
//! it is, everything else as JSON; the writer writes lists and objects as such again. The reader finds out the
//! flavour of each line. Numbers as `ner_tags` need label names, from the options or from a line
//! `{"label_names": ["O", "B-DRUG", …]}` before the documents; lists of the same length as `tokens` are columns.

mod own;
mod spans;
mod tokens;
mod values;

use super::lines::{Lines, column, malformed};
use super::losses::Holds;
use super::{DocumentReader, DocumentWriter, Notices};
use crate::document::Document;
use crate::error::ReadError;
use crate::sentences::SentenceSplitter;
use crate::source::Source;
use crate::tokenize::{Tokenizer, TokenizerProfile};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Whose JSON it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// fieldmark's own: lossless.
    #[default]
    Fieldmark,
    /// doccano.
    Doccano,
    /// spaCy.
    Spacy,
    /// Prodigy.
    Prodigy,
    /// Data sets of Hugging Face.
    HuggingFace,
}

/// How to read JSON lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonlOptions {
    /// The flavour; by default that of each line is found out.
    pub flavour: Option<Flavour>,
    /// Names of the labels that numbers stand for.
    pub label_names: Vec<String>,
}

/// Reads documents from [JSON lines](self).
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, JsonlOptions, JsonlReader, Notices};
/// let source = Source::text("a.jsonl", r#"{"id": 7, "text": "serum iron", "label": [[6, 10, "DRUG"]]}"#);
/// let mut reader = JsonlReader::new(&source, JsonlOptions::default())?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!(document.annotations[0].text(&document.text), "iron");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
pub struct JsonlReader {
    lines: Lines,
    options: JsonlOptions,
}

/// A problem with a line, whose place the reader knows.
#[derive(Debug)]
struct Problem {
    found: String,
    expected: &'static str,
}

impl Problem {
    fn new(found: impl Into<String>, expected: &'static str) -> Self {
        Self {
            found: found.into(),
            expected,
        }
    }
}

/// What the flavours need to make a document of an object.
struct Context<'a> {
    line: u64,
    label_names: &'a [String],
    notices: &'a mut Notices,
}

impl JsonlReader {
    /// Opens a source.
    pub fn new(source: &Source, options: JsonlOptions) -> Result<Self, ReadError> {
        Ok(Self {
            lines: Lines::new(source)?,
            options,
        })
    }

    /// The object in the next line that is not blank.
    fn object(&mut self) -> Result<Option<Map<String, Value>>, ReadError> {
        const EXPECTED: &str = "one JSON object in each line";
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            if line.trim().is_empty() {
                continue;
            }
            let found = match serde_json::from_str(line) {
                Ok(Value::Object(object)) => return Ok(Some(object)),
                Ok(Value::Array(parts)) => match spans::pair(parts) {
                    Some(object) => return Ok(Some(object)),
                    None => (1, "a list".to_owned()),
                },
                Ok(_) => (1, "another value".to_owned()),
                Err(error) => (
                    column(line, error.column().saturating_sub(1)),
                    format!("no JSON ({error})"),
                ),
            };
            let (file, number) = (self.lines.file(), self.lines.number());
            return Err(malformed(file, number, found.0, found.1, EXPECTED));
        }
    }
}

/// The flavour of an object.
fn detect(object: &Map<String, Value>) -> Flavour {
    let list = |key: &str| object.get(key).and_then(Value::as_array);
    let first_is =
        |key: &str, test: fn(&Value) -> bool| list(key).and_then(|list| list.first()).is_some_and(test);
    if object.get("offsets").is_some_and(Value::is_string) || list("annotations").is_some() {
        Flavour::Fieldmark
    } else if list("tokens").is_some() && !object.contains_key("text") || first_is("tokens", Value::is_string)
    {
        Flavour::HuggingFace
    } else if list("spans").is_some() || list("tokens").is_some() {
        Flavour::Prodigy
    } else if list("entities").is_some()
        && !first_is("entities", |entity| entity.get("start_offset").is_some())
    {
        Flavour::Spacy
    } else {
        Flavour::Doccano
    }
}

impl DocumentReader for JsonlReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        loop {
            let Some(object) = self.object()? else {
                return Ok(None);
            };
            if let Some(names) = tokens::header(&object) {
                self.options.label_names = names;
                continue;
            }
            let flavour = self.options.flavour.unwrap_or_else(|| detect(&object));
            let mut context = Context {
                line: self.lines.number(),
                label_names: &self.options.label_names,
                notices,
            };
            let document = match flavour {
                Flavour::Fieldmark => own::read(object, &mut context),
                Flavour::HuggingFace => tokens::read(object, &mut context),
                Flavour::Doccano | Flavour::Spacy | Flavour::Prodigy => spans::read(object, &mut context),
            };
            let fail = |problem: Problem| self.lines.malformed(1, problem.found, problem.expected);
            return document.map(Some).map_err(fail);
        }
    }
}

/// How to write JSON lines.
#[derive(Clone, Debug)]
pub struct JsonlWriterOptions {
    /// The flavour.
    pub flavour: Flavour,
    /// What to do with spans that begin or end inside a token, for Prodigy and Hugging Face.
    pub misfit: super::Misfit,
    /// Sentences of documents that come without tokens, for Prodigy and Hugging Face.
    pub sentences: SentenceSplitter,
    /// Tokens of documents that come without tokens, for Prodigy and Hugging Face.
    pub tokenizer: Tokenizer,
}

impl Default for JsonlWriterOptions {
    fn default() -> Self {
        Self {
            flavour: Flavour::default(),
            misfit: super::Misfit::default(),
            sentences: SentenceSplitter::default(),
            tokenizer: Tokenizer::new(TokenizerProfile::Punctuation),
        }
    }
}

/// Writes documents as [JSON lines](self).
#[derive(Debug)]
pub struct JsonlWriter<W> {
    output: W,
    options: JsonlWriterOptions,
}

impl<W: Write> JsonlWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W, options: JsonlWriterOptions) -> Self {
        Self { output, options }
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.output
    }
}

impl<W: Write> DocumentWriter for JsonlWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let flavour = self.options.flavour;
        let holds = Holds {
            relations: flavour == Flavour::Doccano,
            tokens: matches!(flavour, Flavour::Prodigy | Flavour::HuggingFace),
            token_labels: flavour == Flavour::HuggingFace,
            attributes: flavour == Flavour::Prodigy,
            meta: true,
            ..Holds::default()
        };
        let objects = match flavour {
            Flavour::Fieldmark => vec![own::write(document, notices)?],
            Flavour::HuggingFace => {
                holds.tell(document, notices);
                vec![tokens::write(document, &self.options, notices)]
            }
            _ => {
                holds.tell(document, notices);
                vec![spans::write(document, &self.options, notices)]
            }
        };
        for object in objects {
            serde_json::to_writer(&mut self.output, &object)?;
            writeln!(self.output)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests;
