//! Reading.

use super::super::lines::{Lines, quoted};
use super::super::{DocumentReader, NoticeKind, Notices};
use super::{COLUMNS, FORM, Id, MISC, Sentence, label, space_after};
use crate::document::{Annotation, Document, GivenToken, GivenTokens};
use crate::error::ReadError;
use crate::source::Source;
use fieldmark_core::scheme::Scheme;
use std::ops::Range;

/// Reads documents in [CoNLL-U](super).
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{ConlluReader, DocumentReader, Notices};
/// let text = "# sent_id = s1\n1\tHi\thi\tINTJ\t_\t_\t0\troot\t_\tSpaceAfter=No\n2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n";
/// let document = ConlluReader::new(&Source::text("a.conllu", text))?.next(&mut Notices::new())?.unwrap();
/// assert_eq!((document.id.as_str(), document.text.as_str()), ("s1", "Hi!"));
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
pub struct ConlluReader {
    lines: Lines,
    /// The first sentence of the next document.
    ahead: Option<Sentence>,
    /// Whether some document was marked.
    marked: bool,
    count: usize,
}

impl ConlluReader {
    /// Opens a source.
    pub fn new(source: &Source) -> Result<Self, ReadError> {
        Ok(Self {
            lines: Lines::new(source)?,
            ahead: None,
            marked: false,
            count: 0,
        })
    }

    fn sentence(&mut self) -> Result<Option<Sentence>, ReadError> {
        let mut sentence = Sentence::default();
        while let Some(line) = self.lines.next()? {
            if line.trim().is_empty() {
                if sentence.rows.is_empty() && sentence.comments.is_empty() {
                    continue;
                }
                break;
            }
            let line = line.to_owned();
            let number = self.lines.number();
            if sentence.first_line == 0 {
                sentence.first_line = number;
            }
            if line.starts_with('#') && sentence.rows.is_empty() {
                sentence.comments.push(line);
                continue;
            }
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            if cells.len() != COLUMNS.len() || Id::parse(&cells[0]).is_none() {
                let expected =
                    "ten columns, the first of them a number (`3`, `3-4` or `3.1`), separated by tabs";
                return Err(self.lines.malformed(1, quoted(&line), expected));
            }
            if cells[FORM].is_empty() {
                return Err(self
                    .lines
                    .malformed(1, quoted(&line), "a form in the second column"));
            }
            sentence.rows.push((number, cells));
        }
        let found = !sentence.rows.is_empty() || !sentence.comments.is_empty();
        Ok(found.then_some(sentence))
    }
}

impl DocumentReader for ConlluReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        let first = match self.ahead.take() {
            Some(sentence) => Some(sentence),
            None => self.sentence()?,
        };
        let Some(first) = first else { return Ok(None) };
        self.count += 1;
        let newdoc = first.begins("newdoc");
        self.marked |= newdoc;
        let id = first.comment("newdoc id");
        let id = id.or_else(|| first.comment("sent_id").filter(|_| !newdoc));
        let id = id.map_or_else(|| self.count.to_string(), str::to_owned);
        let mut builder = Builder::new(id, notices);
        builder.add(first);
        while self.marked {
            let Some(sentence) = self.sentence()? else { break };
            if sentence.begins("newdoc") {
                self.ahead = Some(sentence);
                break;
            }
            builder.add(sentence);
        }
        Ok(Some(builder.document))
    }
}

struct Builder<'a> {
    document: Document,
    /// Whether white space comes before the next token.
    space: bool,
    sentences: usize,
    notices: &'a mut Notices,
}

impl<'a> Builder<'a> {
    fn new(id: String, notices: &'a mut Notices) -> Self {
        let mut document = Document::new(id, "");
        let columns = COLUMNS.iter().map(|&name| name.to_owned()).collect();
        document.given = Some(GivenTokens {
            columns,
            sentences: Vec::new(),
            ..GivenTokens::default()
        });
        Self {
            document,
            space: false,
            sentences: 0,
            notices,
        }
    }

    fn add(&mut self, sentence: Sentence) {
        self.sentences += 1;
        let paragraph = sentence.begins("newpar");
        if !self.document.text.is_empty() {
            match (paragraph, self.space) {
                (true, _) => self.document.text.push('\n'),
                (false, true) => self.document.text.push(' '),
                (false, false) => {}
            }
        }
        self.space = false;
        let start = self.document.text.len();
        let tokens = self.tokens(&sentence.rows);
        let text = &self.document.text[start..];
        if let Some(expected) = sentence
            .comment("text")
            .filter(|&expected| expected != text.trim())
        {
            let message = format!("the words make `{text}`, the comment says `{expected}`");
            self.notices.add(
                NoticeKind::OtherText,
                &self.document.id,
                Some(sentence.first_line),
                message,
            );
        }
        self.annotate(&tokens, sentence.first_line);
        self.keep(&sentence);
        if let Some(given) = &mut self.document.given {
            given.sentences.push(tokens);
        }
    }

    /// Keeps what is no word: comments, multiword tokens, empty nodes.
    fn keep(&mut self, sentence: &Sentence) {
        let no_word = |cells: &Vec<String>| !matches!(Id::parse(&cells[0]), Some(Id::Word(_)));
        let rows = sentence.rows.iter().filter(|(_, cells)| no_word(cells));
        let lines = sentence
            .comments
            .iter()
            .cloned()
            .chain(rows.map(|(_, cells)| cells.join("\t")));
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            self.document
                .meta
                .insert(format!("conllu:{}", self.sentences), lines.join("\n"));
        }
    }

    /// Adds the words to the text.
    fn tokens(&mut self, rows: &[(u64, Vec<String>)]) -> Vec<GivenToken> {
        let mut tokens = Vec::with_capacity(rows.len());
        let mut at = 0;
        while let Some((_, cells)) = rows.get(at) {
            at += 1;
            match Id::parse(&cells[0]) {
                Some(Id::Word(_)) => {
                    let range = self.append(&cells[FORM], &cells[MISC]);
                    tokens.push(GivenToken {
                        range,
                        columns: cells.clone(),
                        ..GivenToken::default()
                    });
                }
                Some(Id::Range(_, last)) => {
                    let range = self.append(&cells[FORM], &cells[MISC]);
                    let inside = |(_, cells): &&(u64, Vec<String>)| match Id::parse(&cells[0]) {
                        Some(Id::Word(word)) => word <= last,
                        Some(Id::Empty(word, _)) => word < last,
                        _ => false,
                    };
                    let parts = rows[at..].iter().take_while(inside).count();
                    let is_word = |cells: &&Vec<String>| matches!(Id::parse(&cells[0]), Some(Id::Word(_)));
                    let words: Vec<&Vec<String>> = rows[at..at + parts]
                        .iter()
                        .map(|(_, cells)| cells)
                        .filter(is_word)
                        .collect();
                    tokens.extend(share(range, &cells[FORM], &words));
                    at += parts;
                }
                _ => {}
            }
        }
        tokens
    }

    fn append(&mut self, form: &str, misc: &str) -> Range<usize> {
        if self.space {
            self.document.text.push(' ');
        }
        self.space = space_after(misc);
        let start = self.document.text.len();
        self.document.text.push_str(form);
        start..self.document.text.len()
    }

    fn annotate(&mut self, tokens: &[GivenToken], line: u64) {
        let labels: Vec<&str> = tokens.iter().map(|token| label(&token.columns[MISC])).collect();
        for position in Scheme::Iob2.violations(&labels) {
            let message = format!(
                "`{}` cannot stand here in IOB2; it was read generously",
                labels[position.min(labels.len() - 1)]
            );
            self.notices
                .add(NoticeKind::Scheme, &self.document.id, Some(line), message);
        }
        for span in Scheme::Iob2.spans(&labels) {
            let inside = &tokens[span.start..span.end];
            let start = inside.iter().map(|token| token.range.start).min().unwrap_or(0);
            let end = inside.iter().map(|token| token.range.end).max().unwrap_or(0);
            self.document
                .annotations
                .push(Annotation::new(start..end, span.kind));
        }
    }
}

/// The words of a multiword token: each its part, if they make up the token, or all of it.
fn share(range: Range<usize>, form: &str, words: &[&Vec<String>]) -> Vec<GivenToken> {
    let parts: String = words.iter().map(|cells| cells[FORM].as_str()).collect();
    let mut start = range.start;
    let mut place = |cells: &Vec<String>| {
        if parts != form {
            return range.clone();
        }
        start += cells[FORM].len();
        start - cells[FORM].len()..start
    };
    let token = |cells: &&Vec<String>| GivenToken {
        range: place(cells),
        columns: (*cells).clone(),
        ..GivenToken::default()
    };
    words.iter().map(token).collect()
}
