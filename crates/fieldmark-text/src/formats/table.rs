//! CSV and TSV with a column of texts: one document in a row.
//!
//! A row has the id of the document, its text and, if there is one, a label of the whole document, which becomes the
//! fact `label`. All other columns become facts of the same name. Spans are in a column of their own, as JSON
//! (`[[0,4,"DRUG"]]`, in characters), so that documents can be written and read again.
//!
//! Cells follow RFC 4180: quotation marks around a cell, two of them for one inside.

use super::conll::Column;
use super::lines::{load, malformed, quoted};
use super::losses::{Holds, Places};
use super::{DocumentReader, DocumentWriter, NoticeKind, Notices};
use crate::document::{Annotation, Document};
use crate::error::{ErrorKind, ReadError};
use crate::offsets::{Offsets, Unit};
use crate::source::Source;
use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use std::io::{self, Cursor, Write};

/// The fact that holds the label of a document.
const LABEL: &str = "label";
/// The column of the spans.
pub(super) const ANNOTATIONS: &str = "annotations";
const EXPECTED: &str = "spans as JSON: `[[0,4,\"TYPE\"]]`";

/// Names of the column of the text; the first that a table has counts.
const TEXT: [&str; 5] = ["text", "sentence", "content", "body", "abstract"];

/// The column of the text, by its name.
pub(super) fn text_column(names: &[String]) -> Option<usize> {
    let named = |wanted: &str| {
        names
            .iter()
            .position(|name| name.trim().eq_ignore_ascii_case(wanted))
    };
    TEXT.into_iter().find_map(named)
}

/// How to read a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// What stands between cells; by default whichever of tab, comma and semicolon the first line has most of.
    pub delimiter: Option<u8>,
    /// Whether the first row has the names of the columns. Without it they are `c0`, `c1`, …
    pub header: bool,
    /// The column of the text; by default `text`, `sentence`, `content`, `body` or `abstract`, or the only column.
    pub text: Option<Column>,
    /// The column of the id; by default `id` if there is one, else rows are numbered.
    pub id: Option<Column>,
    /// The column of the label; by default `label` if there is one.
    pub label: Option<Column>,
    /// The column of the spans; by default `annotations` if there is one.
    pub annotations: Option<Column>,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            header: true,
            text: None,
            id: None,
            label: None,
            annotations: None,
        }
    }
}

/// Reads documents from a [table](self). The whole source is kept in memory.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, Notices, TableOptions, TableReader};
/// let source = Source::text("a.csv", "id,text,year\n7,\"Iron, 40 mg\",2013\n");
/// let mut reader = TableReader::new(&source, TableOptions::default())?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!((document.text.as_str(), document.meta["year"].as_str()), ("Iron, 40 mg", "2013"));
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
pub struct TableReader {
    file: String,
    reader: csv::Reader<Cursor<Vec<u8>>>,
    names: Vec<String>,
    text: usize,
    id: Option<usize>,
    label: Option<usize>,
    annotations: Option<usize>,
    first_line: u64,
    count: usize,
    /// A row that was read to find out how many columns there are.
    ahead: Option<StringRecord>,
}

impl TableReader {
    /// Opens a source and finds the columns.
    pub fn new(source: &Source, options: TableOptions) -> Result<Self, ReadError> {
        let (file, text) = (source.name(), load(source)?);
        let delimiter = options.delimiter.unwrap_or_else(|| delimiter(&text));
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(Cursor::new(text.into_bytes()));
        let mut table = Self {
            file,
            reader,
            names: Vec::new(),
            text: 0,
            id: None,
            label: None,
            annotations: None,
            first_line: 1,
            count: 0,
            ahead: None,
        };
        let Some(first) = table.record()? else {
            return Ok(table);
        };
        table.first_line = first.position().map_or(1, csv::Position::line);
        if options.header {
            table.names = first.iter().map(str::to_owned).collect();
        } else {
            table.names = (0..first.len()).map(|at| format!("c{at}")).collect();
            table.ahead = Some(first);
        }
        table.choose(&options)?;
        Ok(table)
    }

    fn choose(&mut self, options: &TableOptions) -> Result<(), ReadError> {
        let names = &self.names;
        let fail = |column: &Column| {
            let message = format!(
                "there is no column `{column}`; the columns are {}. Numbers count from 0",
                names.join(", ")
            );
            ReadError::new(&self.file, ErrorKind::Option(message))
        };
        let find = |column: &Option<Column>, name: &str| match column {
            Some(column) => column.find(names).map(Some).ok_or_else(|| fail(column)),
            None => Ok(names
                .iter()
                .position(|known| known.eq_ignore_ascii_case(name))
                .filter(|_| options.header)),
        };
        let text = match &options.text {
            Some(_) => find(&options.text, "text")?,
            None => text_column(names).filter(|_| options.header),
        };
        let only = (names.len() == 1).then_some(0);
        self.text = text.or(only).ok_or_else(|| {
            let message = format!(
                "which column is the text? None is named {}; the columns are {}",
                TEXT.join(", "),
                names.join(", ")
            );
            ReadError::new(&self.file, ErrorKind::Option(message))
        })?;
        let text = self.text;
        let other = |at: Option<usize>| at.filter(|&at| at != text);
        let (id, label, annotations) = (
            find(&options.id, "id")?,
            find(&options.label, LABEL)?,
            find(&options.annotations, ANNOTATIONS)?,
        );
        (self.id, self.label, self.annotations) = (other(id), other(label), other(annotations));
        Ok(())
    }

    fn record(&mut self) -> Result<Option<StringRecord>, ReadError> {
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(true) => Ok(Some(record)),
            Ok(false) => Ok(None),
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                Err(malformed(
                    &self.file,
                    line,
                    1,
                    format!("no table ({error})"),
                    "rows of cells",
                ))
            }
        }
    }

    fn tell_unclosed(&self, record: &StringRecord, line: u64, id: &str, notices: &mut Notices) {
        if !self.reader.is_done() && !self.at_end() {
            return;
        }
        let start = record.position().map_or(0, |position| position.byte());
        let bytes = self.reader.get_ref().get_ref();
        let raw = usize::try_from(start)
            .ok()
            .and_then(|start| bytes.get(start..))
            .unwrap_or_default();
        if memchr::memchr_iter(b'"', raw).count() % 2 == 1 {
            notices.add(
                NoticeKind::Skipped,
                id,
                Some(line),
                "the file ends inside quotation marks. Is it complete?",
            );
        }
    }

    fn at_end(&self) -> bool {
        let read = self.reader.position().byte();
        usize::try_from(read).is_ok_and(|read| read >= self.reader.get_ref().get_ref().len())
    }
}

fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default().as_bytes();
    let count = |byte: u8| memchr::memchr_iter(byte, first).count();
    // The last of equals wins, so commas come last.
    [b';', b'\t', b',']
        .into_iter()
        .max_by_key(|&byte| count(byte))
        .unwrap_or(b',')
}

impl DocumentReader for TableReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        let record = match self.ahead.take() {
            Some(record) => Some(record),
            None => self.record()?,
        };
        let Some(record) = record else { return Ok(None) };
        self.count += 1;
        let line = record.position().map_or(1, csv::Position::line);
        if record.len() != self.names.len() {
            let kind = ErrorKind::ColumnCount {
                found: record.len(),
                expected: self.names.len(),
                first_line: self.first_line,
                advice: "Is a quotation mark or a delimiter missing?".to_owned(),
            };
            return Err(ReadError::at(&self.file, line, 1, kind));
        }
        let id = self
            .id
            .map(|at| record[at].to_owned())
            .filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| self.count.to_string());
        let mut document = Document::new(id, &record[self.text]);
        self.tell_unclosed(&record, line, &document.id, notices);
        for (at, cell) in record.iter().enumerate() {
            let special = at == self.text || Some(at) == self.id || Some(at) == self.annotations;
            let name = if Some(at) == self.label {
                LABEL
            } else {
                &self.names[at]
            };
            if !special && !cell.is_empty() {
                document.meta.insert(name.to_owned(), cell.to_owned());
            }
        }
        if let Some(cell) = self
            .annotations
            .map(|at| &record[at])
            .filter(|cell| !cell.trim().is_empty())
        {
            document.annotations = spans(cell, &document, line, notices)
                .ok_or_else(|| malformed(&self.file, line, 1, quoted(cell), EXPECTED))?;
        }
        Ok(Some(document))
    }
}

fn spans(cell: &str, document: &Document, line: u64, notices: &mut Notices) -> Option<Vec<Annotation>> {
    let spans: Vec<(usize, usize, String)> = serde_json::from_str(cell).ok()?;
    let offsets = Offsets::new(&document.text, Unit::Characters);
    let mut found = Vec::new();
    for (start, end, kind) in spans {
        match (offsets.byte(start), offsets.byte(end)) {
            (Some(from), Some(to)) if from < to => found.push(Annotation::new(from..to, kind)),
            (Some(_), Some(_)) => notices.add(
                NoticeKind::Empty,
                &document.id,
                Some(line),
                format!("`{kind}` at {start}..{end} was left out"),
            ),
            _ => {
                let message = format!(
                    "`{kind}` at {start}..{end} was left out: the text has {} characters",
                    offsets.end()
                );
                notices.add(NoticeKind::OutsideText, &document.id, Some(line), message);
            }
        }
    }
    Some(found)
}

/// How to write a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableWriterOptions {
    /// What stands between cells.
    pub delimiter: u8,
    /// Whether to write a column with the spans. Without it each span is told.
    pub annotations: bool,
    /// Names of the facts to write; by default those of the first document.
    pub columns: Option<Vec<String>>,
}

impl Default for TableWriterOptions {
    fn default() -> Self {
        Self {
            delimiter: b',',
            annotations: true,
            columns: None,
        }
    }
}

/// Writes documents as a [table](self) with a header.
pub struct TableWriter<W: Write> {
    writer: csv::Writer<W>,
    options: TableWriterOptions,
    begun: bool,
}

impl<W: Write> TableWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W, options: TableWriterOptions) -> Self {
        let writer = WriterBuilder::new()
            .delimiter(options.delimiter)
            .flexible(true)
            .from_writer(output);
        Self {
            writer,
            options,
            begun: false,
        }
    }

    /// The output.
    pub fn into_inner(self) -> io::Result<W> {
        self.writer
            .into_inner()
            .map_err(|error| io::Error::other(error.to_string()))
    }

    fn begin(&mut self, document: Option<&Document>) -> io::Result<Vec<String>> {
        let reserved = |name: &String| ["id", "text", ANNOTATIONS].contains(&name.as_str());
        let first = || {
            document.map(|document| {
                document
                    .meta
                    .keys()
                    .filter(|name| !reserved(name))
                    .cloned()
                    .collect()
            })
        };
        let columns = self.options.columns.clone().or_else(first).unwrap_or_default();
        self.options.columns = Some(columns.clone());
        if !std::mem::replace(&mut self.begun, true) {
            let mut header = vec!["id", "text"];
            header.extend(columns.iter().map(String::as_str));
            header.extend(self.options.annotations.then_some(ANNOTATIONS));
            self.writer.write_record(header)?;
        }
        Ok(columns)
    }

    fn spans(&self, document: &Document, notices: &mut Notices) -> String {
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let names = Places::new(&document.text);
        let mut spans = Vec::new();
        for annotation in &document.annotations {
            let mut tell = |kind, what: &str| {
                notices.add(
                    kind,
                    &document.id,
                    None,
                    format!("{} {what}", names.name(annotation)),
                )
            };
            let range = annotation.range();
            let places = (offsets.count(range.start), offsets.count(range.end));
            match places {
                _ if !self.options.annotations => {
                    tell(NoticeKind::Skipped, "was left out: there is no column for spans")
                }
                (Some(start), Some(end)) => {
                    if annotation.fragments.len() > 1 {
                        tell(NoticeKind::Fragments, "was written with its gaps");
                    }
                    spans.push((start, end, &annotation.kind));
                }
                _ => tell(NoticeKind::OutsideText, "was left out"),
            }
        }
        serde_json::to_string(&spans).unwrap_or_default()
    }
}

impl<W: Write> DocumentWriter for TableWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        Holds {
            meta: true,
            ..Holds::default()
        }
        .tell(document, notices);
        let columns = self.begin(Some(document))?;
        let lost: Vec<&str> = document
            .meta
            .keys()
            .filter(|name| !columns.contains(name))
            .map(String::as_str)
            .collect();
        if !lost.is_empty() {
            let message = format!(
                "the facts {} were left out: the first document has no such columns",
                lost.join(", ")
            );
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        let spans = self.spans(document, notices);
        let mut row = vec![document.id.as_str(), document.text.as_str()];
        row.extend(
            columns
                .iter()
                .map(|name| document.meta.get(name).map_or("", String::as_str)),
        );
        row.extend(self.options.annotations.then_some(spans.as_str()));
        self.writer.write_record(row)?;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin(None)?;
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{annotations, kinds, read_all, write_all};
    use super::*;
    use proptest::prelude::*;

    fn read_with(text: &str, options: TableOptions) -> (Vec<Document>, Notices) {
        read_all(TableReader::new(&Source::text("t", text), options).unwrap()).unwrap()
    }

    fn read(text: &str) -> (Vec<Document>, Notices) {
        read_with(text, TableOptions::default())
    }

    fn refused(text: &str, options: TableOptions) -> String {
        let reader = TableReader::new(&Source::text("t", text), options);
        reader.and_then(read_all).unwrap_err().to_string()
    }

    fn write(documents: &[Document], options: TableWriterOptions) -> (String, Notices) {
        let mut writer = TableWriter::new(Vec::new(), options);
        let notices = write_all(&mut writer, documents);
        (String::from_utf8(writer.into_inner().unwrap()).unwrap(), notices)
    }

    #[test]
    fn columns_are_found_by_name_or_by_options() {
        let (documents, _) = read("uid\tText\tlabel\tn\n1\ta \"b\"\tpos\t\n2\tc\tneg\t7\n");
        assert_eq!(documents[0].text, "a \"b\"");
        assert_eq!(
            (
                documents[0].meta["uid"].as_str(),
                documents[1].meta["label"].as_str()
            ),
            ("1", "neg")
        );
        assert_eq!(
            (documents[0].meta.contains_key("n"), documents[1].id.as_str()),
            (false, "2")
        );
        let options = TableOptions {
            header: false,
            text: Some(Column::At(1)),
            id: Some(Column::At(0)),
            label: Some(Column::FromEnd(1)),
            ..TableOptions::default()
        };
        let (documents, _) = read_with("x;\"a;\nb\";L\n", options);
        assert_eq!(
            (
                documents[0].id.as_str(),
                documents[0].text.as_str(),
                documents[0].meta["label"].as_str()
            ),
            ("x", "a;\nb", "L")
        );
        let (documents, _) = read("words\nonly this\n");
        assert_eq!(documents[0].text, "only this");
        assert!(read("").0.is_empty());
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let error = refused("text,n\na,1\n\"b\nc\"\n", TableOptions::default());
        assert!(
            error.starts_with("t:3:1: found 1 columns, expected 2 as in line 1"),
            "{error}"
        );
        assert!(refused("a,b\n1,2\n", TableOptions::default()).contains("which column is the text"));
        let text = Some(Column::Named("x".to_owned()));
        assert!(
            refused(
                "a,b\n",
                TableOptions {
                    text,
                    ..TableOptions::default()
                }
            )
            .contains("no column `x`; the columns are a, b")
        );
        assert!(refused("text,annotations\na,[1]\n", TableOptions::default()).contains("spans as JSON"));
        let (documents, notices) = read("text,n\na,\"unclosed\n");
        assert_eq!((documents.len(), kinds(&notices)), (1, vec![NoticeKind::Skipped]));
        let (_, notices) = read(
            "text,annotations\nabc,\"[[0,9,\"\"X\"\"],[1,1,\"\"X\"\"],[0,2,\"\"X\"\"],[1,3,\"\"Y\"\"]]\"\n",
        );
        assert_eq!(kinds(&notices), [NoticeKind::OutsideText, NoticeKind::Empty]);
    }

    #[test]
    fn the_first_document_decides_about_columns() {
        let mut first = Document::new("1", "a");
        first.meta.insert("x".to_owned(), "1".to_owned());
        let mut second = Document::new("2", "b");
        second.meta.insert("y".to_owned(), "1".to_owned());
        second.annotations.push(Annotation::new(0..1, "X"));
        let (written, notices) = write(
            &[first, second],
            TableWriterOptions {
                annotations: false,
                ..TableWriterOptions::default()
            },
        );
        assert_eq!(written, "id,text,x\n1,a,1\n2,b,\n");
        assert_eq!(kinds(&notices), [NoticeKind::Detail, NoticeKind::Skipped]);
    }

    proptest! {
        #[test]
        fn written_and_read_again(
            (text, spans) in annotations("[a-cäβ,;\t\"\n\r ]{0,12}"), id in "[a-z]{1,3}", fact in "[a-z\",\n]{1,4}", tabs in any::<bool>()
        ) {
            let mut document = Document::new(id, text);
            let spans = spans.into_iter();
            document.annotations = spans.map(|annotation| Annotation::new(annotation.range(), annotation.kind)).collect();
            document.meta.insert("fact".to_owned(), fact);
            let delimiter = if tabs { b'\t' } else { b',' };
            let (written, notices) = write(std::slice::from_ref(&document), TableWriterOptions { delimiter, ..TableWriterOptions::default() });
            prop_assert!(notices.is_empty());
            let (again, notices) = read(&written);
            prop_assert!(notices.is_empty(), "{:?} {}", notices, written);
            prop_assert_eq!(again, [document]);
        }
    }
}
