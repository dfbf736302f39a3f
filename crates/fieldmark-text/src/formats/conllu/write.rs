//! Writing.

use super::super::layers::{self, Gap, Misfit};
use super::super::losses::{Holds, one_line};
use super::super::{DocumentWriter, NoticeKind, Notices};
use super::{COLUMNS, FORM, Id, LABEL, MISC, OUTSIDE, Sentence};
use crate::document::Document;
use crate::sentences::SentenceSplitter;
use crate::tokenize::{Tokenizer, TokenizerProfile};
use fieldmark_core::scheme::Scheme;
use std::io::{self, Write};
use std::ops::Range;

/// How to write CoNLL-U.
#[derive(Clone, Debug)]
pub struct ConlluWriterOptions {
    /// What to do with spans that begin or end inside a token.
    pub misfit: Misfit,
    /// Sentences of documents that come without tokens.
    pub sentences: SentenceSplitter,
    /// Tokens of documents that come without tokens.
    pub tokenizer: Tokenizer,
}

impl Default for ConlluWriterOptions {
    fn default() -> Self {
        Self {
            misfit: Misfit::default(),
            sentences: SentenceSplitter::default(),
            tokenizer: Tokenizer::new(TokenizerProfile::Punctuation),
        }
    }
}

/// Writes documents in [CoNLL-U](super).
///
/// Columns that the source of a document gave are written where their names are those of [`COLUMNS`].
#[derive(Debug)]
pub struct ConlluWriter<W> {
    output: W,
    options: ConlluWriterOptions,
}

impl<W: Write> ConlluWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W, options: ConlluWriterOptions) -> Self {
        Self { output, options }
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.output
    }
}

/// The rows of a sentence, and the comments before them.
struct Rows<'a> {
    document: &'a Document,
    at: usize,
    ranges: &'a [Range<usize>],
    labels: &'a [String],
    /// Where the next sentence begins.
    next: Option<usize>,
    kept: Option<&'a str>,
}

impl Rows<'_> {
    fn comments(&self) -> Vec<String> {
        let document = self.document;
        let mut comments: Vec<String> = match self.kept {
            Some(kept) => kept
                .lines()
                .filter(|line| line.starts_with('#'))
                .map(str::to_owned)
                .collect(),
            None => Vec::new(),
        };
        let has = |key: &str| {
            let sentence = Sentence {
                comments: comments.clone(),
                ..Sentence::default()
            };
            sentence.begins(key)
        };
        let (newdoc, sent_id, text) = (has("newdoc"), has("sent_id"), has("text"));
        let id = one_line(&document.id, |_| false).0;
        let id = id.trim();
        let mut added = Vec::new();
        let alone = sent_id
            && document
                .given
                .as_ref()
                .is_some_and(|given| given.sentences.len() == 1);
        if self.at == 0 && !newdoc && !alone {
            added.push(if id.is_empty() {
                "# newdoc".to_owned()
            } else {
                format!("# newdoc id = {id}")
            });
        }
        if self.kept.is_none() && !sent_id {
            added.push(format!("# sent_id = {id}-{}", self.at + 1));
        }
        if self.kept.is_none() && !text {
            added.push(format!("# text = {}", self.text()));
        }
        added.append(&mut comments);
        added
    }

    fn text(&self) -> String {
        let start = self.ranges.iter().map(|range| range.start).min().unwrap_or(0);
        let end = self.ranges.iter().map(|range| range.end).max().unwrap_or(0);
        one_line(self.document.text.get(start..end).unwrap_or_default(), |c| {
            c == '\t'
        })
        .0
    }

    /// The rows in order: words, and what was kept with them.
    fn rows(&self, notices: &mut Notices) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = (0..self.ranges.len()).map(|at| self.row(at, notices)).collect();
        let kept = self
            .kept
            .unwrap_or_default()
            .lines()
            .filter(|line| !line.starts_with('#'));
        rows.extend(kept.map(|line| line.split('\t').map(str::to_owned).collect()));
        rows.sort_by_key(|cells: &Vec<String>| Id::parse(&cells[0]).map(Id::key));
        rows
    }

    fn row(&self, at: usize, notices: &mut Notices) -> Vec<String> {
        let document = self.document;
        let range = &self.ranges[at];
        let given = document.given.as_ref();
        let token = given.and_then(|given| given.sentences.get(self.at)?.get(at));
        let column = |name: &str| {
            let column = given.and_then(|given| given.columns.iter().position(|column| column == name))?;
            token
                .and_then(|token| token.columns.get(column))
                .map(String::as_str)
        };
        let word = document.text.get(range.clone()).unwrap_or_default();
        let mut cells = Vec::with_capacity(COLUMNS.len());
        for (place, name) in COLUMNS.iter().enumerate() {
            let text = match (place, column(name)) {
                (0, Some(id)) if Id::parse(id).is_some() => id.to_owned(),
                (0, _) => (at + 1).to_string(),
                (FORM, None) => word.to_owned(),
                (MISC, None) => self.misc(at),
                (_, None) => "_".to_owned(),
                (_, Some(cell)) => cell.to_owned(),
            };
            let text = if place == MISC {
                with_label(&text, &self.labels[at])
            } else {
                text
            };
            let (text, broken) = one_line(&text, |c| c == '\t');
            if broken {
                notices.add(
                    NoticeKind::OtherText,
                    &document.id,
                    None,
                    format!("a cell was written as `{text}`"),
                );
            }
            cells.push(if text.is_empty() { "_".to_owned() } else { text });
        }
        cells
    }

    /// Whether white space follows a word, as the last column says it.
    fn misc(&self, at: usize) -> String {
        let end = self.ranges[at].end;
        let next = self.ranges.get(at + 1).map(|range| range.start).or(self.next);
        if next == Some(end) { "SpaceAfter=No" } else { "_" }.to_owned()
    }
}

/// A label without what would end its entry in the last column.
fn as_entry(label: &str) -> String {
    label.replace(['|', '\t'], "_")
}

/// The last column with this label and no other.
fn with_label(misc: &str, label: &str) -> String {
    if super::label(misc) == label {
        return misc.to_owned();
    }
    let entries = misc
        .split('|')
        .filter(|entry| *entry != "_" && !entry.starts_with(LABEL));
    let mut entries: Vec<String> = entries.map(str::to_owned).collect();
    if label != OUTSIDE {
        entries.push(format!("{LABEL}{}", as_entry(label)));
    }
    if entries.is_empty() {
        "_".to_owned()
    } else {
        entries.join("|")
    }
}

impl<W: Write> DocumentWriter for ConlluWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let given = document.given.as_ref();
        let labels = given.and_then(|given| given.labels.as_deref());
        let holds = Holds {
            only: &["column"],
            tokens: true,
            token_labels: labels.is_some_and(|labels| COLUMNS.contains(&labels)),
            meta: true,
            ..Holds::default()
        };
        holds.tell(document, notices);
        tell_lost(document, notices);
        let sentences = layers::sentences(document, &self.options.sentences, &self.options.tokenizer);
        let kept = |gap: &str, place: Gap| match (gap, place) {
            (gap, Gap::First) => gap.is_empty(),
            ("\n", Gap::Sentence(at)) => has_paragraph(document, at),
            (gap, _) => matches!(gap, "" | " "),
        };
        layers::tell_spacing(document, &sentences, kept, notices);
        let columns = ["NER".to_owned()];
        let labels = layers::labels(
            document,
            &sentences,
            &columns,
            Scheme::Iob2,
            self.options.misfit,
            notices,
        );
        for (at, (ranges, labels)) in sentences.iter().zip(&labels).enumerate() {
            let kept = document.meta.get(&format!("conllu:{}", at + 1));
            let rows = Rows {
                document,
                at,
                ranges,
                labels: &labels[0],
                next: sentences
                    .get(at + 1)
                    .and_then(|next| next.first())
                    .map(|range| range.start),
                kept: kept.map(String::as_str),
            };
            for comment in rows.comments() {
                writeln!(self.output, "{comment}")?;
            }
            for cells in rows.rows(notices) {
                writeln!(self.output, "{}", cells.join("\t"))?;
            }
            writeln!(self.output)?;
        }
        if sentences.is_empty() {
            notices.add(
                NoticeKind::Skipped,
                &document.id,
                None,
                "a document without tokens was left out",
            );
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Whether a comment that was kept says that a paragraph begins at a sentence.
fn has_paragraph(document: &Document, at: usize) -> bool {
    let kept = document.meta.get(&format!("conllu:{}", at + 1));
    let comments = kept
        .map_or("", String::as_str)
        .lines()
        .filter(|line| line.starts_with('#'));
    let sentence = Sentence {
        comments: comments.map(str::to_owned).collect(),
        ..Sentence::default()
    };
    sentence.begins("newpar")
}

/// Names, facts and columns that have no place.
fn tell_lost(document: &Document, notices: &mut Notices) {
    for kind in document.annotations.iter().map(|annotation| &annotation.kind) {
        let name = as_entry(kind);
        if name != *kind {
            let message = format!("the type `{kind}` has no place in the last column and is `{name}` now");
            notices.add(NoticeKind::TypeName, &document.id, None, message);
        }
    }
    let names = document.meta.keys().filter(|name| !name.starts_with("conllu:"));
    let names: Vec<&str> = names.map(String::as_str).collect();
    if !names.is_empty() {
        let message = format!("the format has no place for the facts {}", names.join(", "));
        notices.add(NoticeKind::Detail, &document.id, None, message);
    }
    let labels = document.given.as_ref().and_then(|given| given.labels.as_deref());
    let columns = document.given.iter().flat_map(|given| &given.columns);
    let lost: Vec<&str> = columns
        .map(String::as_str)
        // Labels of a model are told by their number.
        .filter(|name| !COLUMNS.contains(name) && Some(*name) != labels)
        .collect();
    if !lost.is_empty() {
        let message = format!("the columns {} were not written", lost.join(", "));
        notices.add(NoticeKind::Detail, &document.id, None, message);
    }
}
