//! [`ColumnWriter`]: from documents to columns.

use super::layout::DOC_START;
use super::options::{CellSeparator, ColumnWriterOptions, DocumentMark};
use crate::document::{Document, GivenTokens, OpenLabel};
use crate::formats::layers::{self, Gap, Sentences};
use crate::formats::losses::{Holds, Places, one_line};
use crate::formats::{DocumentWriter, NoticeKind, Notices};
use crate::label::LabelSyntax;
use crate::offsets::{Offsets, Unit};
use fieldmark_core::Scheme;
use std::collections::HashMap;
use std::io::{self, Write};

/// Stands for a cell that a document does not have.
const EMPTY: &str = "_";

/// Stands for the cells of a row that begins a document.
const NO_CELL: &str = "-X-";

/// Stands for a label that may be any.
const UNKNOWN: &str = "?";

/// Writes documents as [columns](super): the word, its offsets if they are wanted, the columns that the source of
/// the document gave, and the labels.
///
/// The first document decides about the columns. A given column with the name of a label column is written in its
/// place: that is where labels are that are no spans. So are the labels that a model gave to the tokens of a first
/// document without spans.
#[derive(Debug)]
pub struct ColumnWriter<W> {
    output: W,
    options: ColumnWriterOptions,
    /// Names of the given columns, once the first document is written.
    columns: Option<Vec<String>>,
    count: usize,
    /// Whether the beginning of a document was marked.
    marked: bool,
}

impl<W: Write> ColumnWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W, options: ColumnWriterOptions) -> Self {
        Self {
            output,
            options,
            columns: None,
            count: 0,
            marked: false,
        }
    }

    /// The output, for instance to look at what was written to memory.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn begin(&mut self, document: &Document) -> io::Result<Vec<String>> {
        if let Some(columns) = &self.columns {
            return Ok(columns.clone());
        }
        let given = document.given.as_ref().filter(|_| self.options.columns);
        let labels = given.and_then(|given| given.labels.clone());
        if let Some(labels) = labels.filter(|_| document.annotations.is_empty()) {
            // A model that labels tokens finds no spans: its labels stand in the place of theirs.
            self.options.labels = vec![labels];
        }
        let names = given.map(|given| given.columns.clone()).unwrap_or_default();
        let columns: Vec<String> = names
            .into_iter()
            .filter(|name| !self.options.labels.contains(name))
            .collect();
        self.columns = Some(columns.clone());
        if self.options.header {
            let mut cells = vec!["word".to_owned()];
            if self.options.offsets {
                cells.extend(["start".to_owned(), "end".to_owned()]);
            }
            cells.extend(columns.iter().cloned());
            cells.extend(self.options.labels.iter().cloned());
            self.line(&cells)?;
        }
        Ok(columns)
    }

    fn line(&mut self, cells: &[String]) -> io::Result<()> {
        let separator = match self.options.separator {
            CellSeparator::Tab => "\t",
            CellSeparator::Whitespace => " ",
            CellSeparator::Comma => ",",
        };
        writeln!(self.output, "{}", cells.join(separator))
    }

    fn mark(&mut self, document: &Document, columns: usize, notices: &mut Notices) -> io::Result<()> {
        self.count += 1;
        if document.unmarked && !self.marked {
            return Ok(());
        }
        if !self.marked && self.count > 1 {
            let message = "the sentences before it, which are no documents by themselves, are read as one";
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        self.marked = true;
        let id = self.written_id(document, notices);
        match self.options.mark {
            DocumentMark::Hashes => writeln!(self.output, "### {id}"),
            DocumentMark::Hash => writeln!(self.output, "#{id}"),
            DocumentMark::Medline => writeln!(self.output, "###MEDLINE:{id}"),
            DocumentMark::DocStart => {
                let mut cells = vec![DOC_START.to_owned()];
                if id != self.count.to_string() {
                    cells[0] += &format!("({id})");
                }
                let offsets = if self.options.offsets { 2 } else { 0 };
                cells.resize(1 + offsets + columns, NO_CELL.to_owned());
                let bar = if self.options.offsets { "|" } else { "" };
                let sources = self.label_sources(document.given.as_ref());
                // Labels that are no spans may be anything but `O`.
                let labels = sources
                    .iter()
                    .map(|source| if source.is_some() { UNKNOWN } else { "O" });
                cells.extend(labels.map(|label| format!("{bar}{label}")));
                self.line(&cells)?;
                writeln!(self.output)
            }
            DocumentMark::None => Ok(()),
        }
    }

    /// The id in a form that can be read again.
    fn written_id(&self, document: &Document, notices: &mut Notices) -> String {
        if document.id.is_empty() {
            return self.count.to_string();
        }
        let (line, _) = one_line(&document.id, |c| c == '\t' || c == ',');
        let mut id = line.trim().trim_start_matches('#').trim().to_owned();
        if self.options.separator == CellSeparator::Whitespace && self.options.mark == DocumentMark::DocStart
        {
            id = id.replace(' ', EMPTY);
        }
        if id.is_empty() {
            id = self.count.to_string();
        }
        if id != document.id {
            let message = format!("the id was written as `{id}`");
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        id
    }

    /// Where the labels of each label column come from: a given column, or the annotations.
    fn label_sources(&self, given: Option<&GivenTokens>) -> Vec<Option<usize>> {
        let find =
            |name: &String| given.and_then(|given| given.columns.iter().position(|column| column == name));
        self.options.labels.iter().map(find).collect()
    }

    fn tell_columns(&self, document: &Document, columns: &[String], notices: &mut Notices) {
        let Some(given) = &document.given else { return };
        let known = |name: &&String| columns.contains(name) || self.options.labels.contains(name);
        let lost: Vec<&str> = given
            .columns
            .iter()
            .filter(|name| !known(name))
            .map(String::as_str)
            .collect();
        if !lost.is_empty() {
            let message = format!("the columns {} were not written", lost.join(", "));
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
    }

    fn cell(&self, text: &str, document: &str, what: &str, notices: &mut Notices) -> String {
        let separator = self.options.separator;
        let splits = |c: char| match separator {
            CellSeparator::Tab => c == '\t',
            CellSeparator::Whitespace => matches!(c, ' ' | '\t'),
            // The first cell may hold commas: cells are counted from the right.
            CellSeparator::Comma => c == ',' && what != "word",
        };
        let (mut cell, mut changed) = one_line(text, splits);
        if separator == CellSeparator::Whitespace {
            cell = cell.replace(' ', EMPTY);
        }
        let missing = cell.is_empty() && (what == "word" || separator == CellSeparator::Whitespace);
        if missing || (what == "word" && cell.starts_with(DOC_START)) {
            changed = true;
            cell = EMPTY.to_owned();
        }
        if changed {
            let message = format!(
                "the {what} `{}` was written as `{cell}`",
                crate::error::shown(text)
            );
            notices.add(NoticeKind::OtherText, document, None, message);
        }
        cell
    }

    fn write_sentence(&mut self, sentence: &Sentence<'_, '_>, notices: &mut Notices) -> io::Result<()> {
        let Sentence {
            document, at, ranges, ..
        } = sentence;
        let given = document.given.as_ref();
        for (i, range) in ranges.iter().enumerate() {
            let word = document.text.get(range.clone()).unwrap_or_default();
            let mut cells = vec![self.cell(word, &document.id, "word", notices)];
            if let Some(offsets) = sentence.offsets {
                let count = |byte| offsets.count(byte).unwrap_or_default().to_string();
                cells.extend([count(range.start), count(range.end)]);
            }
            let given_cell = |column: usize| {
                let token = given.and_then(|given| given.sentences.get(*at)?.get(i));
                token
                    .and_then(|token| token.columns.get(column))
                    .map_or("", String::as_str)
            };
            for column in sentence.columns {
                let text = column.map_or(EMPTY, given_cell);
                cells.push(self.cell(text, &document.id, "cell", notices));
            }
            for (labels, source) in sentence.labels.iter().zip(sentence.sources) {
                let label = source.map_or_else(|| labels[i].as_str(), given_cell);
                let bar = if self.options.offsets { "|" } else { "" };
                cells.push(format!(
                    "{bar}{}",
                    self.cell(label, &document.id, "label", notices)
                ));
            }
            if cells.iter().all(|cell| cell.trim().is_empty()) {
                let place = sentence.places.place(range);
                let message = format!("the blank word at {place} was written as `{EMPTY}`");
                notices.add(NoticeKind::OtherText, &document.id, None, message);
                cells[0] = EMPTY.to_owned();
            }
            self.line(&cells)?;
        }
        writeln!(self.output)
    }
}

/// A label that is not known, or one of several.
fn written(open: &OpenLabel, scheme: Scheme) -> String {
    let labels = open.labels_in(scheme);
    if labels.is_empty() {
        return UNKNOWN.to_owned();
    }
    let labels = labels.iter().map(|label| LabelSyntax::Partial.escape(label));
    labels.collect::<Vec<_>>().join("|")
}

/// What the lines of a sentence are made of.
struct Sentence<'a, 't> {
    document: &'a Document,
    at: usize,
    ranges: &'a [std::ops::Range<usize>],
    offsets: Option<&'a Offsets<'a>>,
    places: &'a Places<'t>,
    columns: &'a [Option<usize>],
    labels: &'a [Vec<String>],
    sources: &'a [Option<usize>],
}

impl<W: Write> DocumentWriter for ColumnWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let holds = Holds {
            only: &["column"],
            tokens: true,
            token_labels: true,
            open: true,
            ..Holds::default()
        };
        holds.tell(document, notices);
        let columns = self.begin(document)?;
        self.tell_columns(document, &columns, notices);
        self.mark(document, columns.len(), notices)?;
        let sentences: Sentences =
            layers::sentences(document, &self.options.sentences, &self.options.tokenizer);
        let with_offsets = self.options.offsets;
        let kept = |gap: &str, place: Gap| match place {
            // Offsets tell how much white space there is.
            Gap::First | Gap::Tokens if with_offsets => gap.bytes().all(|byte| byte == b' '),
            Gap::Sentence(_) if with_offsets => gap
                .strip_prefix('\n')
                .is_some_and(|gap| gap.trim_matches(' ').is_empty()),
            Gap::First => gap.is_empty(),
            Gap::Tokens => gap == " ",
            Gap::Sentence(_) => gap == "\n",
        };
        layers::tell_spacing(document, &sentences, kept, notices);
        let given = document.given.as_ref();
        let sources = self.label_sources(given);
        // Columns that hold other labels have no room for spans.
        let free = |at: &usize| sources[*at].is_none();
        let open: Vec<usize> = (0..sources.len()).filter(free).collect();
        let names: Vec<String> = open.iter().map(|&at| self.options.labels[at].clone()).collect();
        let (options, scheme) = (&self.options, self.options.scheme);
        let labels = layers::labels(
            document,
            &sentences,
            &names,
            options.scheme,
            options.misfit,
            notices,
        );
        let mut open_at: HashMap<usize, Vec<&OpenLabel>> = HashMap::new();
        for open in document.open.iter().flatten() {
            open_at.entry(open.range.start).or_default().push(open);
        }
        let number =
            |name: &String| given.and_then(|given| given.columns.iter().position(|column| column == name));
        let columns: Vec<Option<usize>> = columns.iter().map(number).collect();
        let places = Places::new(&document.text);
        let offsets = options
            .offsets
            .then(|| Offsets::new(&document.text, Unit::Characters));
        for (at, (ranges, found)) in sentences.iter().zip(labels).enumerate() {
            let mut all = vec![Vec::new(); sources.len()];
            for ((&at, mut labels), name) in open.iter().zip(found).zip(&names) {
                labels
                    .iter_mut()
                    .for_each(|label| *label = LabelSyntax::Partial.escape(label));
                for (label, range) in labels.iter_mut().zip(ranges) {
                    let own = |open: &&&OpenLabel| {
                        let column = open.column.as_ref();
                        column.is_none_or(|column| column == name || names.len() == 1)
                    };
                    if let Some(open) = open_at.get(&range.start).and_then(|found| found.iter().find(own)) {
                        *label = written(open, scheme);
                    }
                }
                all[at] = labels;
            }
            let sentence = Sentence {
                document,
                at,
                ranges,
                offsets: offsets.as_ref(),
                places: &places,
                columns: &columns,
                labels: &all,
                sources: &sources,
            };
            self.write_sentence(&sentence, notices)?;
        }
        if sentences.is_empty() {
            writeln!(self.output)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
