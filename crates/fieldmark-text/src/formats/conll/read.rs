//! [`ColumnReader`]: from columns to documents.

use super::layout::{Cursor, LabelColumn, Layout, Row};
use super::options::{ColumnOptions, DocumentBorders};
use super::partial::{self, Said};
use crate::document::{Annotation, Document, GivenToken, GivenTokens, OpenLabel};
use crate::error::ReadError;
use crate::formats::encoding::Decoded;
use crate::formats::lines::{load, malformed, quoted};
use crate::formats::{DocumentReader, NoticeKind, Notices};
use crate::source::Source;
use fieldmark_core::Scheme;

/// More white space than this before a token means that its offset is wrong.
const LONGEST_GAP: u64 = 1 << 16;

/// Reads documents from [columns](super).
///
/// The whole source is kept in memory: the kind of its labels is only known at its end.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{ColumnOptions, ColumnReader, DocumentReader, Notices};
/// let source = Source::text("a.tsv", "### 17\nserum\tO\niron\tB-DRUG\n");
/// let mut reader = ColumnReader::new(&source, ColumnOptions::default())?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!((document.id.as_str(), document.text.as_str()), ("17", "serum iron"));
/// assert_eq!(document.annotations[0].text(&document.text), "iron");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Debug)]
pub struct ColumnReader {
    file: String,
    text: String,
    layout: Layout,
    borders: DocumentBorders,
    cursor: Cursor,
    /// The mark that was read last, when its document was not handed out yet.
    mark: Option<Mark>,
    /// Documents handed out; numbers those without id.
    count: usize,
    /// Sentences after the last mark that were handed out.
    sentences: usize,
}

#[derive(Clone, Debug)]
struct Mark {
    id: String,
    comments: Vec<String>,
}

struct SentenceRows<'t> {
    rows: Vec<(u64, Vec<&'t str>)>,
}

impl ColumnReader {
    /// Looks at the whole source and finds out what the options leave open.
    pub fn new(source: &Source, options: ColumnOptions) -> Result<Self, ReadError> {
        let text = match options.encoding {
            Some(encoding) => Decoded::read(source, encoding)?.into_text(),
            None => load(source)?,
        };
        let file = source.name();
        let layout = Layout::detect(&file, &text, &options)?;
        let borders = match options.documents {
            DocumentBorders::Auto if !layout.marked => DocumentBorders::Sentences,
            borders => borders,
        };
        Ok(Self {
            file,
            text,
            layout,
            borders,
            cursor: Cursor::default(),
            mark: None,
            count: 0,
            sentences: 0,
        })
    }

    /// Names of the columns, from the left.
    pub fn columns(&self) -> &[String] {
        &self.layout.names
    }

    fn id(&mut self, mark: Option<&Mark>) -> String {
        self.count += 1;
        self.sentences += 1;
        match mark.map_or("", |mark| mark.id.as_str()) {
            "" => self.count.to_string(),
            id if self.borders == DocumentBorders::Sentences => format!("{id}-{}", self.sentences),
            id => id.to_owned(),
        }
    }

    fn document(
        &mut self,
        mark: Option<&Mark>,
        sentences: &[SentenceRows<'_>],
        notices: &mut Notices,
    ) -> Result<Document, ReadError> {
        let id = self.id(mark);
        let mut builder = Builder::new(&self.file, &self.layout, id, notices);
        for sentence in sentences {
            builder.sentence(sentence)?;
        }
        let mut document = builder.document;
        document.unmarked = mark.is_none() && self.borders == DocumentBorders::Sentences;
        if let Some(mark) = mark.filter(|mark| !mark.comments.is_empty()) {
            document
                .meta
                .insert("comment".to_owned(), mark.comments.join("\n"));
        }
        if self.mark.as_ref().map(|mark| &mark.id) != mark.map(|mark| &mark.id) {
            self.sentences = 0;
        }
        Ok(document)
    }
}

impl DocumentReader for ColumnReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        let text = std::mem::take(&mut self.text);
        let document = self.next_in(&text, notices);
        self.text = text;
        document
    }
}

impl ColumnReader {
    fn next_in(&mut self, text: &str, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        let by_sentence = self.borders == DocumentBorders::Sentences;
        let mut sentences: Vec<SentenceRows<'_>> = Vec::new();
        let mut rows = Vec::new();
        loop {
            let row = self.layout.next_row(&self.file, text, &mut self.cursor)?;
            if let Some(Row::Cells(cells)) = row {
                rows.push((self.cursor.line, cells));
                continue;
            }
            if row == Some(Row::NoWord) {
                let (line, id) = (
                    self.cursor.line,
                    self.mark.as_ref().map_or("", |mark| mark.id.as_str()),
                );
                notices.add(NoticeKind::Skipped, id, Some(line), "a row without a word");
                continue;
            }
            if !rows.is_empty() {
                let rows = std::mem::take(&mut rows);
                sentences.push(SentenceRows { rows });
            }
            let begun = self.mark.clone();
            let ends = match row {
                Some(Row::Mark { id, .. }) if self.borders != DocumentBorders::File => {
                    self.mark = Some(self.read_mark(id, text)?);
                    true
                }
                None => {
                    self.mark = None;
                    true
                }
                _ => by_sentence,
            };
            let marked = begun.is_some() && !by_sentence;
            if ends && (marked || !sentences.is_empty()) {
                return self.document(begun.as_ref(), &sentences, notices).map(Some);
            }
            match row {
                None => return Ok(None),
                Some(Row::Mark { .. }) => self.sentences = 0,
                _ => {}
            }
        }
    }

    /// A mark with the comments after it.
    fn read_mark(&mut self, id: &str, text: &str) -> Result<Mark, ReadError> {
        let mut comments = Vec::new();
        let mut cursor = self.cursor.clone();
        while let Some(Row::Mark { id, begins: false }) =
            self.layout.next_row(&self.file, text, &mut cursor)?
        {
            comments.push(id.to_owned());
            self.cursor = cursor.clone();
        }
        Ok(Mark {
            id: id.to_owned(),
            comments,
        })
    }
}

/// Makes a document out of sentences.
struct Builder<'a> {
    file: &'a str,
    layout: &'a Layout,
    /// Columns that are no word, no offset and no span.
    kept: Vec<usize>,
    document: Document,
    /// End of the last token by the file's own offsets.
    end: u64,
    notices: &'a mut Notices,
}

impl<'a> Builder<'a> {
    fn new(file: &'a str, layout: &'a Layout, id: String, notices: &'a mut Notices) -> Self {
        let spans = layout.labels.iter().filter(|label| label.scheme.is_some());
        let used: Vec<usize> = spans
            .map(|label| label.at)
            .chain([layout.word])
            .chain(layout.offsets.iter().flatten().copied())
            .collect();
        let kept: Vec<usize> = (0..layout.names.len()).filter(|at| !used.contains(at)).collect();
        let mut document = Document::new(id, "");
        document.given = Some(GivenTokens {
            columns: kept.iter().map(|&at| layout.names[at].clone()).collect(),
            sentences: Vec::new(),
            ..GivenTokens::default()
        });
        let mut spans = layout.labels.iter().filter(|label| label.scheme.is_some());
        document.open = spans.any(|label| label.partial).then(Vec::new);
        Self {
            file,
            layout,
            kept,
            document,
            end: 0,
            notices,
        }
    }

    fn sentence(&mut self, sentence: &SentenceRows<'_>) -> Result<(), ReadError> {
        let mut tokens = Vec::with_capacity(sentence.rows.len());
        for (at, (line, cells)) in sentence.rows.iter().enumerate() {
            let gap = self.gap(at, *line, cells)?;
            self.document.text.push_str(&gap);
            let start = self.document.text.len();
            self.document.text.push_str(cells[self.layout.word]);
            tokens.push(GivenToken {
                range: start..self.document.text.len(),
                columns: self.kept.iter().map(|&at| cells[at].to_owned()).collect(),
                ..GivenToken::default()
            });
        }
        for column in &self.layout.labels {
            self.annotate(column, sentence, &tokens);
        }
        if let Some(given) = &mut self.document.given {
            given.sentences.push(tokens);
        }
        Ok(())
    }

    /// The white space before a token.
    fn gap(&mut self, at: usize, line: u64, cells: &[&str]) -> Result<String, ReadError> {
        let begins = self.document.text.is_empty();
        let Some([start, end]) = self.layout.offsets else {
            let gap = if begins {
                ""
            } else if at == 0 {
                "\n"
            } else {
                " "
            };
            return Ok(gap.to_owned());
        };
        let number = |cell: &str| {
            let expected = "the offset of a character";
            cell.trim()
                .parse::<u64>()
                .map_err(|_| malformed(self.file, line, 1, quoted(cell), expected))
        };
        let (start, end) = (number(cells[start])?, number(cells[end])?);
        let word = cells[self.layout.word];
        let gap = start.checked_sub(self.end);
        if gap.is_some_and(|gap| gap > LONGEST_GAP) {
            let found = format!("a token at {start} after one that ends at {}", self.end);
            return Err(malformed(
                self.file,
                line,
                1,
                found,
                "an offset with at most 65,536 characters between tokens",
            ));
        }
        if end.checked_sub(start) != Some(word.chars().count() as u64) || gap.is_none() {
            let message = format!(
                "`{word}` does not fit the offsets {start} to {end}; it was added to the text as it is"
            );
            self.notices
                .add(NoticeKind::OtherText, &self.document.id, Some(line), message);
        }
        self.end = end.max(start);
        let mut gap = " ".repeat(gap.unwrap_or(0) as usize);
        if at == 0 && !begins && !gap.is_empty() {
            gap.replace_range(..1, "\n");
        }
        Ok(gap)
    }

    fn annotate(&mut self, column: &LabelColumn, sentence: &SentenceRows<'_>, tokens: &[GivenToken]) {
        let Some(scheme) = column.scheme else { return };
        let label = |cells: &[&'_ str]| {
            let label = cells[column.at].trim();
            let label = if self.layout.bar { &label[1..] } else { label };
            column.kinds.read(label)
        };
        let said: Vec<Said> = sentence.rows.iter().map(|(_, cells)| label(cells)).collect();
        let labels: Vec<&str> = said.iter().map(|said| said.known().unwrap_or("O")).collect();
        let is_known = |at: usize| said.get(at).is_none_or(|said| said.known().is_some());
        for position in scheme.violations(&labels) {
            if !is_known(position) || !position.checked_sub(1).is_none_or(is_known) {
                continue;
            }
            let at = position.min(labels.len() - 1);
            let message = format!(
                "`{}` cannot stand here in {scheme}; it was read generously",
                labels[at]
            );
            self.tell(NoticeKind::Scheme, sentence.rows[at].0, message);
        }
        for ((line, cells), _) in sentence
            .rows
            .iter()
            .zip(&said)
            .filter(|(_, said)| **said == Said::Odd)
        {
            let message = format!(
                "`{}` in {} is no label of {scheme}, as the others are: it was read as unknown (`?`)",
                crate::error::shown(cells[column.at].trim()),
                self.file
            );
            self.tell(NoticeKind::OddLabel, *line, message);
        }
        let several = self.layout.labels.len() > 1;
        let name = several.then(|| self.layout.names[column.at].clone());
        let spans = scheme.spans(&labels);
        for span in &spans {
            let range = tokens[span.start].range.start..tokens[span.end - 1].range.end;
            let mut annotation = Annotation::new(range, span.kind);
            if let Some(name) = &name {
                annotation.attributes.insert("column".to_owned(), name.clone());
            }
            self.document.annotations.push(annotation);
        }
        if column.partial
            && let Some(open) = &mut self.document.open
        {
            // What the annotations say; they do not overlap.
            let marked = Scheme::Iobes.labels_of(&spans, labels.len()).unwrap_or_default();
            let sets = partial::in_iobes(scheme, &said);
            for ((token, labels), marked) in tokens.iter().zip(sets).zip(marked) {
                if labels != [marked] {
                    open.push(OpenLabel {
                        range: token.range.clone(),
                        column: name.clone(),
                        labels,
                    });
                }
            }
        }
    }

    fn tell(&mut self, kind: NoticeKind, line: u64, message: String) {
        self.notices.add(kind, &self.document.id, Some(line), message);
    }
}
