//! CoNLL-U: the ten columns of Universal Dependencies.
//!
//! All ten columns are kept as columns of the tokens, under the names of [`COLUMNS`]. The text is real: there is no
//! blank after a token with `SpaceAfter=No`, a line break before a new paragraph, and otherwise a blank. The
//! words of a multiword token (`1-2`) share its text: each has its own part if their forms together are the
//! token, else each has all of it. Comments, multiword tokens and empty nodes (`8.1`) of sentence *n* are kept line
//! by line as the fact `conllu:n`, and are written again in their places.
//!
//! A document begins with `# newdoc`. Sentences before the first one are documents of their own.
//!
//! Spans are labels in IOB2 under the key `NER` of the last column, as some treebanks have them (`NER=B-LOC`).

use super::layers::{self, Misfit};
use super::lines::{Lines, quoted};
use super::losses::{Holds, one_line};
use super::{DocumentReader, DocumentWriter, NoticeKind, Notices};
use crate::document::{Annotation, Document, GivenToken, GivenTokens};
use crate::error::ReadError;
use crate::sentences::SentenceSplitter;
use crate::source::Source;
use crate::tokenize::{Tokenizer, TokenizerProfile};
use fieldmark_core::scheme::Scheme;
use std::io::{self, Write};
use std::ops::Range;

/// Names of the columns of tokens.
pub const COLUMNS: [&str; 10] = [
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
];
const FORM: usize = 1;
const MISC: usize = 9;
const LABEL: &str = "NER=";
const OUTSIDE: &str = "O";

/// Reads documents in [CoNLL-U](self).
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

/// The lines of a sentence.
#[derive(Default)]
struct Sentence {
    first_line: u64,
    comments: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
}

/// The place of a line in its sentence: word, part after the point, and whether it is a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    /// `1-2` stands before `1`.
    Range(u32, u32),
    Word(u32),
    Empty(u32, u32),
}

impl Id {
    fn parse(text: &str) -> Option<Self> {
        if let Some((first, last)) = text.split_once('-') {
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            return (first <= last).then_some(Id::Range(first, last));
        }
        match text.split_once('.') {
            Some((word, part)) => Some(Id::Empty(word.parse().ok()?, part.parse().ok()?)),
            None => text.parse().ok().map(Id::Word),
        }
    }

    /// Orders the lines of a sentence.
    fn key(self) -> (u32, u8, u32) {
        match self {
            Id::Range(first, last) => (first, 0, last),
            Id::Word(word) => (word, 1, 0),
            Id::Empty(word, part) => (word, 2, part),
        }
    }
}

impl Sentence {
    fn comment(&self, key: &str) -> Option<&str> {
        let value = |line: &'_ String| -> Option<Range<usize>> {
            let rest = line[1..].trim_start();
            let rest = rest.strip_prefix(key)?.trim_start();
            let start = line.len() - rest.len();
            rest.starts_with('=').then(|| start + 1..line.len())
        };
        let found = self.comments.iter().find_map(|line| Some((line, value(line)?)));
        found.map(|(line, range)| line[range].trim())
    }

    fn begins(&self, what: &str) -> bool {
        let is = |line: &String| {
            let rest = line[1..].trim_start().strip_prefix(what);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '=']))
        };
        self.comments.iter().any(is)
    }
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

/// The white space after a token, by its last column.
fn space_after(misc: &str) -> bool {
    !misc.split('|').any(|entry| entry == "SpaceAfter=No")
}

fn label(misc: &str) -> &str {
    let label = misc.split('|').find_map(|entry| entry.strip_prefix(LABEL));
    label.unwrap_or(OUTSIDE)
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
    };
    words.iter().map(token).collect()
}

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

/// Writes documents in [CoNLL-U](self).
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

/// The last column with this label and no other.
fn with_label(misc: &str, label: &str) -> String {
    if self::label(misc) == label {
        return misc.to_owned();
    }
    let entries = misc
        .split('|')
        .filter(|entry| *entry != "_" && !entry.starts_with(LABEL));
    let mut entries: Vec<String> = entries.map(str::to_owned).collect();
    if label != OUTSIDE {
        entries.push(format!("{LABEL}{}", label.replace(['|', '\t'], "_")));
    }
    if entries.is_empty() {
        "_".to_owned()
    } else {
        entries.join("|")
    }
}

impl<W: Write> DocumentWriter for ConlluWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let holds = Holds {
            only: &["column"],
            tokens: true,
            meta: true,
            ..Holds::default()
        };
        holds.tell(document, notices);
        tell_lost(document, notices);
        let sentences = layers::sentences(document, &self.options.sentences, &self.options.tokenizer);
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

/// Facts and columns that have no place.
fn tell_lost(document: &Document, notices: &mut Notices) {
    let names = document.meta.keys().filter(|name| !name.starts_with("conllu:"));
    let names: Vec<&str> = names.map(String::as_str).collect();
    if !names.is_empty() {
        let message = format!("the format has no place for the facts {}", names.join(", "));
        notices.add(NoticeKind::Detail, &document.id, None, message);
    }
    let columns = document.given.iter().flat_map(|given| &given.columns);
    let lost: Vec<&str> = columns
        .map(String::as_str)
        .filter(|name| !COLUMNS.contains(name))
        .collect();
    if !lost.is_empty() {
        let message = format!("the columns {} were not written", lost.join(", "));
        notices.add(NoticeKind::Detail, &document.id, None, message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{annotations, kinds, read_all, write_all};
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Vec<Document>, Notices) {
        read_all(ConlluReader::new(&Source::text("t", text)).unwrap()).unwrap()
    }

    fn write(documents: &[Document]) -> (String, Notices) {
        let mut writer = ConlluWriter::new(Vec::new(), ConlluWriterOptions::default());
        let notices = write_all(&mut writer, documents);
        (String::from_utf8(writer.into_inner()).unwrap(), notices)
    }

    const SAMPLE: &str = "# newdoc id = d1\n# sent_id = s1\n# text = Don't go, vámonos!\n\
        1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\tVBP\tMood=Imp\t3\taux\t_\t_\n2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n\
        3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No|NER=B-X\n3.1\tyou\tyou\tPRON\t_\t_\t_\t_\t3:nsubj\t_\n4\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\
        5-6\tvámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n5\tvamos\tir\tVERB\t_\t_\t3\tx\t_\t_\n6\tnos\tnos\tPRON\t_\t_\t5\tobj\t_\t_\n7\t!\t!\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n\
        # sent_id = s2\n# newpar\n1\tBye\tbye\tINTJ\t_\t_\t0\troot\t_\t_\n\n\
        # newdoc\n1\tNew\tnew\tADJ\t_\t_\t0\troot\t_\t_\n\n";

    #[test]
    fn the_sample_survives() {
        let (documents, notices) = read(SAMPLE);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(documents.len(), 2);
        assert_eq!(documents[0].text, "Don't go, vámonos!\nBye");
        assert_eq!(documents[1].id, "2");
        let words: Vec<&str> = documents[0].given.as_ref().unwrap().sentences[0]
            .iter()
            .map(|token| &documents[0].text[token.range.clone()])
            .collect();
        assert_eq!(words, ["Do", "n't", "go", ",", "vámonos", "vámonos", "!"]);
        assert_eq!(documents[0].annotations[0].text(&documents[0].text), "go");
        let (written, notices) = write(&documents);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(written, SAMPLE);
    }

    #[test]
    fn sentences_before_a_document_are_alone() {
        let text = SAMPLE
            .replace("# newdoc id = d1\n", "")
            .replace("# newdoc\n", "# sent_id = s3\n");
        let (documents, _) = read(&text);
        let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        assert_eq!(ids, ["s1", "s2", "s3"]);
        assert_eq!(write(&documents).0, text);
    }

    #[test]
    fn a_text_that_differs_is_told() {
        let (_, notices) = read(
            "# text = a b\n1\ta\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\tb\t_\t_\t_\t_\t_\t_\t_\tNER=I-X\n",
        );
        assert_eq!(kinds(&notices), [NoticeKind::OtherText, NoticeKind::Scheme]);
    }

    #[test]
    fn what_cannot_be_read_has_a_place() {
        let row = "\t_\t_\t_\t_\t_\t_\t_\t_\n";
        for (text, line) in [
            ("1\ta\n".to_owned(), 1),
            (format!("1\ta{row}x\ta{row}"), 2),
            (format!("1\t{row}"), 1),
            (format!("2-1\ta{row}"), 1),
        ] {
            let error = read_all(ConlluReader::new(&Source::text("t", text)).unwrap()).unwrap_err();
            assert_eq!(error.line(), Some(line), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_document_is_written_and_read_again((text, spans) in annotations("[a-cäβ,]{1,3}( ?[a-cäβ,]{1,3}){0,6}")) {
            let mut document = Document::new("d", text);
            document.annotations = spans;
            let (written, _) = write(std::slice::from_ref(&document));
            let (again, notices) = read(&written);
            prop_assert!(notices.is_empty(), "{:?} {}", notices, written);
            prop_assert_eq!(&again[0].text, &document.text);
            let (twice, notices) = write(&again);
            prop_assert!(notices.is_empty(), "{:?}", notices);
            prop_assert_eq!(twice, written);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(([0-3]|1-2|1.1)\t[ab]\t_\t_\t_\t_\t_\t_\t_\t(_|NER=B-X)\n|\n|# newdoc\n|x){0,8}") {
            if let Ok((documents, _)) = read_all(ConlluReader::new(&Source::text("t", text)).unwrap()) {
                write(&documents);
            }
        }
    }
}
