//! What kind of columns a text has: found out from the text where the options do not say it.

use super::options::{CellSeparator, Column, ColumnOptions};
use super::partial::{self, Kinds, Said};
use crate::error::{ErrorKind, ReadError};
use crate::formats::lines::malformed;
use fieldmark_core::scheme::{Scheme, Tag};

/// First cells of a header line, and last ones.
const WORD_NAMES: &[&str] = &["word", "words", "token", "tokens", "form"];
const LABEL_NAMES: &[&str] = &[
    "tag", "tags", "label", "labels", "ner", "ner_tag", "ner_tags", "iob", "bio",
];

/// A line of more cells is no row: it is a text, and every word of it would become a column of its own.
const MOST_COLUMNS: usize = 1000;

/// The word of rows that begin a document.
pub(super) const DOC_START: &str = "-DOCSTART-";

/// The layout of a file of columns.
#[derive(Debug)]
pub(super) struct Layout {
    pub separator: CellSeparator,
    pub header: bool,
    pub names: Vec<String>,
    pub word: usize,
    pub labels: Vec<LabelColumn>,
    pub offsets: Option<[usize; 2]>,
    /// Whether labels have a bar before them.
    pub bar: bool,
    /// Whether some document is marked.
    pub marked: bool,
    first_line: u64,
}

/// A label column; without a scheme its labels are no spans.
#[derive(Debug)]
pub(super) struct LabelColumn {
    pub at: usize,
    pub scheme: Option<Scheme>,
    /// What labels look like that belong to it.
    pub kinds: Kinds,
    /// Whether some label is unknown, or one of several, or belongs to no scheme.
    pub partial: bool,
}

/// A line, understood.
#[derive(Debug, PartialEq)]
pub(super) enum Row<'t> {
    Blank,
    /// A line that is no row. The id may be empty; if it does not begin a document for sure, it may be a comment
    /// after one that does.
    Mark {
        id: &'t str,
        begins: bool,
    },
    /// A row whose word is empty.
    NoWord,
    Cells(Vec<&'t str>),
}

/// Walks over the lines of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    pub offset: usize,
    /// The number of the line before the cursor.
    pub line: u64,
}

impl Cursor {
    pub fn next<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let rest = &text[self.offset..];
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        self.offset += (end + 1).min(rest.len());
        self.line += 1;
        Some(rest[..end].strip_suffix('\r').unwrap_or(&rest[..end]))
    }
}

impl Layout {
    pub fn detect(file: &str, text: &str, options: &ColumnOptions) -> Result<Self, ReadError> {
        let (first_line, first) = first_row(text);
        let separator = match options.separator {
            Some(separator) => separator,
            None if first.contains('\t') => CellSeparator::Tab,
            None if first.contains(' ') => CellSeparator::Whitespace,
            None if commas_everywhere(text) => CellSeparator::Comma,
            None => CellSeparator::Whitespace,
        };
        let columns = match separator {
            CellSeparator::Comma => 1 + fewest_commas(text),
            CellSeparator::Tab => first.split('\t').count(),
            CellSeparator::Whitespace => spaced(first).count(),
        };
        if columns > MOST_COLUMNS {
            let found = format!("a line of {columns} columns");
            let expected = "at most 1000: one word and what is said about it. If this is text, give its format as `text`";
            return Err(malformed(file, first_line, 1, found, expected));
        }
        let mut layout = Self {
            separator,
            header: false,
            names: Vec::new(),
            word: 0,
            labels: Vec::new(),
            offsets: None,
            bar: false,
            marked: false,
            first_line,
        };
        let cells = layout.split(first, columns);
        let header = looks_like_header(&cells);
        layout.header = options.header.unwrap_or(header);
        layout.names = names(&cells, layout.header, options);
        layout.choose_columns(file, options)?;
        layout.look_at_rows(file, text, options)?;
        Ok(layout)
    }

    fn choose_columns(&mut self, file: &str, options: &ColumnOptions) -> Result<(), ReadError> {
        let names = &self.names;
        let find = |column: &Column| {
            column.find(names).ok_or_else(|| {
                let message = format!(
                    "there is no column `{column}`; the columns are {}. Numbers count from 0",
                    names.join(", ")
                );
                ReadError::new(file, ErrorKind::Option(message))
            })
        };
        self.word = options.word.as_ref().map_or(Ok(0), find)?;
        let labels: Vec<usize> = match &options.labels {
            Some(labels) => labels.iter().map(find).collect::<Result<_, _>>()?,
            None => (1..names.len()).next_back().into_iter().collect(),
        };
        let offsets = options.offsets.as_ref();
        self.offsets = offsets
            .map(|[start, end]| Ok([find(start)?, find(end)?]))
            .transpose()?;
        let mut used: Vec<usize> = labels.iter().copied().chain([self.word]).collect();
        used.extend(self.offsets.iter().flatten());
        let count = used.len();
        used.sort_unstable();
        used.dedup();
        if used.len() < count {
            let message = "a column can only be one of word, label, start and end".to_owned();
            return Err(ReadError::new(file, ErrorKind::Option(message)));
        }
        self.labels = labels
            .into_iter()
            .map(|at| LabelColumn {
                at,
                scheme: None,
                kinds: Kinds::Typed,
                partial: false,
            })
            .collect();
        Ok(())
    }

    /// Finds out the schemes of the labels, whether tokens have offsets, and whether there are marks.
    fn look_at_rows(&mut self, file: &str, text: &str, options: &ColumnOptions) -> Result<(), ReadError> {
        let mut sequences: Vec<Vec<Vec<&str>>> = vec![vec![Vec::new()]; self.labels.len()];
        let mut numbers = self.names.len() >= 4;
        let mut cursor = Cursor::default();
        while let Some(row) = self.next_row(file, text, &mut cursor)? {
            match row {
                Row::Blank => sequences.iter_mut().for_each(|column| column.push(Vec::new())),
                Row::Mark { .. } => {
                    self.marked = true;
                    sequences.iter_mut().for_each(|column| column.push(Vec::new()));
                }
                Row::NoWord => {}
                Row::Cells(cells) => {
                    let is_number = |at: usize| cells.get(at).is_some_and(|cell| cell.parse::<u64>().is_ok());
                    numbers = numbers && is_number(1) && is_number(2);
                    for (labels, column) in sequences.iter_mut().zip(&self.labels) {
                        if let Some(sequence) = labels.last_mut() {
                            sequence.push(cells[column.at].trim());
                        }
                    }
                }
            }
        }
        let mut distinct = sequences.iter().flatten().flatten();
        self.bar = distinct.clone().next().is_some() && distinct.all(|label| label.starts_with('|'));
        let free = self.word == 0 && self.labels.iter().all(|label| label.at > 2);
        if self.bar && numbers && free && options.offsets.is_none() {
            self.offsets = Some([1, 2]);
        }
        for (column, mut sequences) in self.labels.iter_mut().zip(sequences) {
            if self.bar {
                sequences
                    .iter_mut()
                    .flatten()
                    .for_each(|label| *label = &label[1..]);
            }
            column.kinds = Kinds::of(sequences.iter().flatten().copied());
            let sequences: Vec<Vec<Said>> = sequences
                .iter()
                .map(|labels| labels.iter().map(|label| column.kinds.read(label)).collect())
                .collect();
            column.scheme = partial::scheme(&sequences);
            column.partial = sequences.iter().flatten().any(|said| said.known().is_none());
        }
        Ok(())
    }

    /// The next line that is no header, or `None` at the end.
    pub fn next_row<'t>(
        &self,
        file: &str,
        text: &'t str,
        cursor: &mut Cursor,
    ) -> Result<Option<Row<'t>>, ReadError> {
        loop {
            let Some(line) = cursor.next(text) else {
                return Ok(None);
            };
            if !(self.header && cursor.line == self.first_line) {
                return self.row(file, line, cursor.line).map(Some);
            }
        }
    }

    fn row<'t>(&self, file: &str, line: &'t str, number: u64) -> Result<Row<'t>, ReadError> {
        if is_blank(line) {
            return Ok(Row::Blank);
        }
        let cells = self.split(line, self.names.len());
        if cells.iter().all(|cell| is_blank(cell)) {
            return Ok(Row::Blank);
        }
        if let Some(id) = self.mark(line, &cells) {
            let begins = !line.starts_with('#') || line.starts_with("###");
            return Ok(Row::Mark { id, begins });
        }
        if cells.len() != self.names.len() {
            let kind = ErrorKind::ColumnCount {
                found: cells.len(),
                expected: self.names.len(),
                first_line: self.first_line,
                advice: "Is a cell missing, or is a document mark not one that is known?".to_owned(),
            };
            return Err(ReadError::at(file, number, 1, kind));
        }
        if cells[self.word].is_empty() {
            return Ok(Row::NoWord);
        }
        Ok(Row::Cells(cells))
    }

    /// The id of the document that begins here; empty if the mark has none.
    fn mark<'t>(&self, line: &'t str, cells: &[&'t str]) -> Option<&'t str> {
        if let Some(rest) = cells.first().and_then(|cell| cell.strip_prefix(DOC_START)) {
            let named = |text: &'t str| text.trim().strip_prefix('(')?.strip_suffix(')');
            let own = named(rest);
            if own.is_some() || rest.is_empty() {
                let line = line.strip_prefix(DOC_START).and_then(named);
                let second = || cells.get(1).copied().and_then(named);
                return Some(own.or(line).or_else(second).unwrap_or_default());
            }
        }
        let rest = line.strip_prefix('#')?;
        let is_row = cells.len() == self.names.len();
        // `### id` with as many blanks as rows have: a label would be `O` or have a prefix.
        let id_for_label = || {
            let last = cells
                .last()
                .is_some_and(|cell| matches!(Tag::parse(cell), Tag::Other(_)));
            self.separator == CellSeparator::Whitespace && cells[0] == "###" && last
        };
        if is_row && !id_for_label() {
            return None;
        }
        let id = rest.trim_start_matches('#').trim();
        Some(id.strip_prefix("MEDLINE:").unwrap_or(id))
    }

    fn split<'t>(&self, line: &'t str, columns: usize) -> Vec<&'t str> {
        match self.separator {
            CellSeparator::Tab => line.split('\t').collect(),
            CellSeparator::Whitespace => spaced(line).collect(),
            CellSeparator::Comma => {
                let mut cells: Vec<&str> = line.rsplitn(columns.max(1), ',').collect();
                cells.reverse();
                cells
            }
        }
    }
}

fn spaced(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t']).filter(|cell| !cell.is_empty())
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn is_mark_like(line: &str) -> bool {
    line.starts_with('#') || line.starts_with(DOC_START)
}

/// The first line that tells the number of columns: no mark if there is another.
fn first_row(text: &str) -> (u64, &str) {
    let mut cursor = Cursor::default();
    let mut fallback = (1, "");
    while let Some(line) = cursor.next(text) {
        if is_blank(line) {
            continue;
        }
        if !is_mark_like(line) {
            return (cursor.line, line);
        }
        // Only tokens that begin with `#`: the last cell is a label then.
        let mut cells = spaced(line);
        let first = cells.next();
        let labelled = cells
            .last()
            .is_some_and(|cell| !matches!(Tag::parse(cell), Tag::Other(_)));
        if fallback.1.is_empty() && first != Some(DOC_START) && labelled {
            fallback = (cursor.line, line);
        }
    }
    fallback
}

fn commas_everywhere(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !is_blank(line) && !is_mark_like(line))
        .peekable();
    lines.peek().is_some() && lines.all(|line| line.contains(','))
}

fn fewest_commas(text: &str) -> usize {
    let lines = text.lines().filter(|line| !is_blank(line) && !is_mark_like(line));
    lines
        .map(|line| memchr::memchr_iter(b',', line.as_bytes()).count())
        .min()
        .unwrap_or(0)
}

fn looks_like_header(cells: &[&str]) -> bool {
    let known = |cell: Option<&&str>, names: &[&str]| {
        cell.is_some_and(|cell| names.contains(&cell.trim().to_ascii_lowercase().as_str()))
    };
    cells.len() > 1 && known(cells.first(), WORD_NAMES) && known(cells.last(), LABEL_NAMES)
}

fn names(cells: &[&str], header: bool, options: &ColumnOptions) -> Vec<String> {
    let name = |at: usize| match options.names.get(at) {
        Some(name) => name.clone(),
        None if header => cells[at].trim().to_owned(),
        None if at == 0 => "word".to_owned(),
        None if at + 1 == cells.len() => "label".to_owned(),
        None => format!("c{at}"),
    };
    (0..cells.len()).map(name).collect()
}
