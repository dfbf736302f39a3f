//! PubTator: a title, an abstract, and what is marked in them.
//!
//! ```text
//! 22016685|t|A novel mutation Asp506Gly.
//! 22016685|a|Factor XI deficiency is rare.
//! 22016685<TAB>17<TAB>26<TAB>Asp506Gly<TAB>ProteinMutation<TAB>p|SUB|D|506|G
//! 22016685<TAB>CID<TAB>D008750<TAB>D007022
//! ```
//!
//! Offsets count characters of title, one line break and abstract together. Identifiers are separated by `;`.
//! Further columns of a mention are the attributes `column7`, `column8` and so on, those of a relation `column5`
//! and so on. Relations connect identifiers: their arguments `arg1` and `arg2` are identifiers, not ids of
//! annotations; the writer takes the first identifier of an annotation that is named by its id.
//!
//! A blank line, or a line with another id, ends a document.

use super::lines::{Lines, quoted};
use super::losses::{Holds, Places, one_line, same_text};
use super::{DocumentReader, DocumentWriter, NoticeKind, Notices};
use crate::document::{Annotation, Document, Element, Relation};
use crate::error::ReadError;
use crate::offsets::{Offsets, Unit};
use crate::source::Source;
use std::io::{self, Write};

/// Reads documents in [PubTator](self) format.
pub struct PubTatorReader {
    lines: Lines,
    /// The line after the last document, with its number.
    ahead: Option<(u64, String)>,
}

/// The lines of one document, taken apart.
#[derive(Default)]
struct Parts {
    id: String,
    title: Option<String>,
    body: Option<String>,
    mentions: Vec<(u64, [usize; 2], Vec<String>)>,
    relations: Vec<Relation>,
}

const EXPECTED: &str = "`id|t|title`, `id|a|abstract`, a mention (id, start, end, text, type, identifier) or a relation (id, type, two identifiers), separated by tabs";

impl PubTatorReader {
    /// Opens a source.
    pub fn new(source: &Source) -> Result<Self, ReadError> {
        Ok(Self {
            lines: Lines::new(source)?,
            ahead: None,
        })
    }

    /// The next line, with its number.
    fn line(&mut self) -> Result<Option<(u64, String)>, ReadError> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        let line = self.lines.next()?.map(str::to_owned);
        Ok(line.map(|line| (self.lines.number(), line)))
    }

    fn parts(&mut self) -> Result<Option<Parts>, ReadError> {
        let mut parts: Option<Parts> = None;
        while let Some((number, line)) = self.line()? {
            if line.trim().is_empty() {
                if parts.is_some() {
                    break;
                }
                continue;
            }
            let Some((id, begins)) = id_of(&line) else {
                return Err(self.lines.malformed(1, quoted(&line), EXPECTED));
            };
            if parts
                .as_ref()
                .is_some_and(|parts| parts.id != id || (begins && parts.title.is_some()))
            {
                self.ahead = Some((number, line));
                break;
            }
            let parts = parts.get_or_insert_with(|| Parts {
                id: id.to_owned(),
                ..Parts::default()
            });
            if !parts.take(number, &line) {
                return Err(self.lines.malformed(1, quoted(&line), EXPECTED));
            }
        }
        Ok(parts)
    }
}

/// The id of a line, and whether it is a title.
fn id_of(line: &str) -> Option<(&str, bool)> {
    let cells = line.split_once('\t').map(|(id, _)| id);
    let section = |mark: &str| {
        line.find(mark)
            .map(|at| &line[..at])
            .filter(|id| !id.contains('\t'))
    };
    match (section("|t|"), section("|a|")) {
        (Some(title), Some(body)) if body.len() < title.len() => Some((body, false)),
        (Some(title), _) => Some((title, true)),
        (None, Some(body)) => Some((body, false)),
        (None, None) => cells.map(|id| (id, false)),
    }
}

impl Parts {
    /// Takes a line; false if it is none of this format.
    fn take(&mut self, number: u64, line: &str) -> bool {
        let rest = &line[self.id.len()..];
        if let Some(title) = rest.strip_prefix("|t|") {
            return self.title.replace(title.to_owned()).is_none();
        }
        if let Some(body) = rest.strip_prefix("|a|") {
            return self.body.replace(body.to_owned()).is_none();
        }
        let cells: Vec<&str> = line.split('\t').collect();
        let number_at = |at: usize| cells.get(at).and_then(|cell| cell.trim().parse::<usize>().ok());
        let own = |from: usize| cells[from..].iter().map(|&cell| cell.to_owned()).collect();
        match (number_at(1), number_at(2)) {
            (Some(start), Some(end)) if cells.len() >= 5 => {
                self.mentions.push((number, [start, end], own(3)));
                true
            }
            (None, _) if cells.len() >= 4 => {
                self.relations.push(relation(&cells));
                true
            }
            _ => false,
        }
    }

    fn document(self, notices: &mut Notices) -> Document {
        let mut document = Document::new(self.id, "");
        for (kind, part) in [("title", &self.title), ("abstract", &self.body)] {
            let Some(part) = part else { continue };
            if kind == "abstract" && self.title.is_some() {
                document.text.push('\n');
            }
            let start = document.text.len();
            document.text += part;
            let range = start..document.text.len();
            document.elements.push(Element {
                kind: kind.to_owned(),
                range,
                place: None,
            });
        }
        document.relations = self.relations;
        let offsets = Offsets::new(&document.text, Unit::Characters);
        for (line, [start, end], cells) in self.mentions {
            let tell =
                |notices: &mut Notices, kind, message| notices.add(kind, &document.id, Some(line), message);
            let (Some(from), Some(to)) = (offsets.byte(start), offsets.byte(end)) else {
                let message = format!(
                    "`{}` at {start}..{end} was left out: the text has {} characters",
                    cells[1],
                    offsets.end()
                );
                tell(notices, NoticeKind::OutsideText, message);
                continue;
            };
            if from >= to {
                tell(
                    notices,
                    NoticeKind::Empty,
                    format!("`{}` at {start}..{end} was left out", cells[1]),
                );
                continue;
            }
            if !same_text(&document.text[from..to], &cells[0]) {
                let message = format!(
                    "the text at {start}..{end} is `{}`, the file says `{}`",
                    &document.text[from..to],
                    cells[0]
                );
                tell(notices, NoticeKind::OtherText, message);
            }
            document.annotations.push(mention(from..to, &cells));
        }
        document
    }
}

/// `cells` are text, type, identifiers and more.
fn mention(range: std::ops::Range<usize>, cells: &[String]) -> Annotation {
    let mut annotation = Annotation::new(range, cells[1].trim_end());
    let identifiers = cells.get(2).map_or("", |cell| cell.trim());
    let identifiers = identifiers.split(';').filter(|identifier| !identifier.is_empty());
    annotation.identifiers = identifiers.map(str::to_owned).collect();
    for (at, cell) in cells.iter().enumerate().skip(3) {
        annotation
            .attributes
            .insert(format!("column{}", at + 4), cell.clone());
    }
    annotation
}

fn relation(cells: &[&str]) -> Relation {
    let mut relation = Relation {
        kind: cells[1].to_owned(),
        arguments: vec![
            ("arg1".to_owned(), cells[2].to_owned()),
            ("arg2".to_owned(), cells[3].trim_end().to_owned()),
        ],
        ..Relation::default()
    };
    for (at, cell) in cells.iter().enumerate().skip(4) {
        relation
            .attributes
            .insert(format!("column{}", at + 1), (*cell).to_owned());
    }
    relation
}

impl DocumentReader for PubTatorReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        Ok(self.parts()?.map(|parts| parts.document(notices)))
    }
}

/// Writes documents in [PubTator](self) format.
///
/// The title is the first element `title`, or the first line. Line breaks elsewhere become blanks, which is told.
#[derive(Debug)]
pub struct PubTatorWriter<W> {
    output: W,
    count: usize,
}

impl<W: Write> PubTatorWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self { output, count: 0 }
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn id(&mut self, document: &Document, notices: &mut Notices) -> String {
        self.count += 1;
        let (line, _) = one_line(&document.id, |c| matches!(c, '|' | '\t'));
        let line = line.trim();
        let id = if line.is_empty() {
            self.count.to_string()
        } else {
            line.to_owned()
        };
        if id != document.id {
            notices.add(
                NoticeKind::Detail,
                &document.id,
                None,
                format!("the id was written as `{id}`"),
            );
        }
        id
    }

    fn write_mention(
        &mut self,
        id: &str,
        annotation: &Annotation,
        parts: &Mentions<'_>,
        notices: &mut Notices,
    ) -> io::Result<()> {
        let Mentions {
            document,
            offsets,
            places,
        } = parts;
        if annotation.fragments.len() > 1 {
            let message = format!("{} was written with its gaps", places.name(annotation));
            notices.add(NoticeKind::Fragments, &document.id, None, message);
        }
        let range = annotation.range();
        let (Some(start), Some(end)) = (offsets.count(range.start), offsets.count(range.end)) else {
            let message = format!("{} was left out", places.name(annotation));
            notices.add(NoticeKind::OutsideText, &document.id, None, message);
            return Ok(());
        };
        let text = document.text.get(range).unwrap_or_default();
        let mut cells = vec![cell(text), cell(&annotation.kind)];
        let identifiers: Vec<String> = annotation
            .identifiers
            .iter()
            .map(|identifier| cell(identifier))
            .collect();
        if identifiers
            .iter()
            .any(|identifier| identifier.contains(';') || identifier.is_empty())
        {
            let message = format!(
                "an identifier of {} is empty or holds `;`",
                places.name(annotation)
            );
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        let more = columns(&annotation.attributes, 7);
        if !identifiers.is_empty() || !more.is_empty() {
            cells.push(identifiers.join(";"));
        }
        cells.extend(more.iter().map(|value| cell(value)));
        let numbered = more.len();
        if annotation.attributes.len() > numbered {
            let message = format!("{} has attributes without a place", places.name(annotation));
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        writeln!(self.output, "{id}\t{start}\t{end}\t{}", cells.join("\t"))
    }

    fn write_relation(
        &mut self,
        id: &str,
        relation: &Relation,
        document: &Document,
        notices: &mut Notices,
    ) -> io::Result<()> {
        let identifier = |argument: &String| {
            let named = document
                .annotations
                .iter()
                .find(|annotation| !annotation.id.is_empty() && annotation.id == *argument);
            match named {
                Some(annotation) => annotation.identifiers.first().cloned(),
                None => Some(argument.clone()),
            }
        };
        let arguments: Vec<Option<String>> = relation
            .arguments
            .iter()
            .map(|(_, argument)| identifier(argument))
            .collect();
        let [Some(first), Some(second)] = arguments.as_slice() else {
            let message = format!(
                "`{}` {} was left out: a relation needs two identifiers",
                relation.kind, relation.id
            );
            notices.add(NoticeKind::Relation, &document.id, None, message);
            return Ok(());
        };
        let more = columns(&relation.attributes, 5);
        if relation.attributes.len() > more.len() || relation.kind.trim().parse::<usize>().is_ok() {
            let message = format!(
                "`{}` {} has attributes or a type without a place",
                relation.kind, relation.id
            );
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        let mut cells = vec![cell(&relation.kind), cell(first), cell(second)];
        cells.extend(more.iter().map(|value| cell(value)));
        writeln!(self.output, "{id}\t{}", cells.join("\t"))
    }
}

struct Mentions<'a> {
    document: &'a Document,
    offsets: Offsets<'a>,
    places: Places<'a>,
}

fn cell(text: &str) -> String {
    one_line(text, |c| c == '\t').0
}

/// The attributes `column{first}`, `column{first + 1}` and so on, without a gap.
fn columns(attributes: &std::collections::BTreeMap<String, String>, first: usize) -> Vec<&String> {
    (first..)
        .map_while(|at| attributes.get(&format!("column{at}")))
        .collect()
}

/// Where the title ends and where the abstract begins.
fn split(document: &Document) -> (usize, Option<usize>) {
    let text = &document.text;
    let title = document
        .elements
        .first()
        .filter(|element| element.kind == "title" && element.range.start == 0);
    let end = title
        .map(|title| title.range.end)
        .filter(|&end| text.is_char_boundary(end));
    let end = end.or_else(|| text.find('\n')).unwrap_or(text.len());
    let next = text[end..].chars().next();
    match next {
        None => (end, None),
        Some(c) if c.is_whitespace() => (end, Some(end + c.len_utf8())),
        // One character is between title and abstract, so a title that touches is no title.
        Some(_) => text
            .find('\n')
            .map_or((text.len(), None), |end| (end, Some(end + 1))),
    }
}

impl<W: Write> DocumentWriter for PubTatorWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let holds = Holds {
            identifiers: true,
            attributes: true,
            relations: true,
            elements: true,
            ..Holds::default()
        };
        holds.tell(document, notices);
        let id = self.id(document, notices);
        let (end, next) = split(document);
        let (title, broken) = one_line(&document.text[..end], |_| false);
        writeln!(self.output, "{id}|t|{title}")?;
        let mut changed = broken;
        if let Some(next) = next {
            let (body, broken) = one_line(&document.text[next..], |_| false);
            changed |= broken;
            writeln!(self.output, "{id}|a|{body}")?;
        }
        if changed {
            notices.add(
                NoticeKind::OtherText,
                &document.id,
                None,
                "line breaks were written as blanks",
            );
        }
        let known = |kind: &str| matches!(kind, "title" | "abstract");
        if document.elements.iter().any(|element| !known(&element.kind)) {
            notices.add(
                NoticeKind::Detail,
                &document.id,
                None,
                "only title and abstract have a place",
            );
        }
        let parts = Mentions {
            document,
            offsets: Offsets::new(&document.text, Unit::Characters),
            places: Places::new(&document.text),
        };
        for annotation in &document.annotations {
            self.write_mention(&id, annotation, &parts, notices)?;
        }
        for relation in &document.relations {
            self.write_relation(&id, relation, document, notices)?;
        }
        writeln!(self.output)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{annotations, kinds, read_all, write_all};
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Vec<Document>, Notices) {
        read_all(PubTatorReader::new(&Source::text("t", text)).unwrap()).unwrap()
    }

    fn write(documents: &[Document]) -> (String, Notices) {
        let mut writer = PubTatorWriter::new(Vec::new());
        let notices = write_all(&mut writer, documents);
        (String::from_utf8(writer.into_inner()).unwrap(), notices)
    }

    const SAMPLE: &str = "1|t|Eine Prüfung.\n1|a|By Asp506Gly and D1.\n1\t17\t26\tAsp506Gly\tProtein\tp|SUB|D|506|G\n\
                          1\t31\t33\tD1\tDrug\tA;B\tx|y\n1\tCID\tA\tB\tNovel\n\n2|t|Next\n\n";

    #[test]
    fn a_sample_is_read_and_written() {
        let (documents, notices) = read(SAMPLE);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(documents[0].text, "Eine Prüfung.\nBy Asp506Gly and D1.");
        assert_eq!(documents[0].annotations[1].text(&documents[0].text), "D1");
        assert_eq!(documents[0].annotations[1].identifiers, ["A", "B"]);
        assert_eq!(documents[0].annotations[1].attributes["column7"], "x|y");
        assert_eq!(documents[0].relations[0].attributes["column5"], "Novel");
        assert_eq!(documents[0].elements[1].range, 15..35);
        let (written, notices) = write(&documents);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(written, SAMPLE);
    }

    #[test]
    fn documents_end_without_a_blank_line_too() {
        let (documents, _) = read("1|t|a\r\n1\t0\t1\ta\tX\r\n2|t|b\n2|t|c|a|d\n");
        let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
        assert_eq!(texts, ["a", "b", "c|a|d"]);
        assert_eq!(documents[0].annotations.len(), 1);
    }

    #[test]
    fn spans_that_do_not_fit_are_told() {
        let (documents, notices) =
            read("1|t|abc\n1\t0\t9\tabc\tX\n1\t2\t2\t\tX\n1\t0\t2\tac\tX\n1\t0\t3\tabc\tX\n");
        assert_eq!(
            kinds(&notices),
            [NoticeKind::OutsideText, NoticeKind::Empty, NoticeKind::OtherText]
        );
        assert_eq!(notices.all()[0].line, Some(2));
        assert_eq!(documents[0].annotations.len(), 2);
    }

    #[test]
    fn what_is_no_line_of_the_format_has_a_place() {
        for (text, line) in [
            ("1|t|a\nnonsense\n", 2),
            ("1|t|a\n1\t0\tx\n", 2),
            ("1|a|a\n1|a|b\n", 2),
            ("x", 1),
        ] {
            let error = read_all(PubTatorReader::new(&Source::text("t", text)).unwrap()).unwrap_err();
            assert_eq!(error.line(), Some(line), "{error}");
        }
    }

    #[test]
    fn other_documents_are_split_at_their_first_line() {
        let mut document = Document::new("a|b", "One\ntwo\nthree");
        document.annotations.push(Annotation {
            id: "T1".to_owned(),
            ..Annotation::new(4..7, "X")
        });
        document.relations.push(Relation {
            arguments: vec![
                ("a".to_owned(), "T1".to_owned()),
                ("b".to_owned(), "T1".to_owned()),
            ],
            ..Relation::default()
        });
        let (written, notices) = write(&[document]);
        assert_eq!(written, "a b|t|One\na b|a|two three\na b\t4\t7\ttwo\tX\n\n");
        assert_eq!(
            kinds(&notices),
            [NoticeKind::Detail, NoticeKind::OtherText, NoticeKind::Relation]
        );
    }

    proptest! {
        #[test]
        fn written_and_read_again(
            (text, spans) in annotations("[a-cäβ| ]{0,12}\n[a-cäβ ]{0,12}"), id in "[0-9a-z]{1,5}"
        ) {
            let mut document = Document::new(id, text);
            let title = document.text.find('\n').unwrap();
            let element = |kind: &str, range| Element { kind: kind.to_owned(), range, place: None };
            document.elements = vec![element("title", 0..title), element("abstract", title + 1..document.text.len())];
            document.annotations = spans;
            for annotation in &mut document.annotations {
                annotation.id.clear();
                annotation.score = None;
                annotation.attributes.clear();
                annotation.fragments = vec![annotation.range()];
            }
            prop_assume!(!document.text[..title].contains("|t|") && !document.text[..title].contains("|a|"));
            let (written, notices) = write(std::slice::from_ref(&document));
            prop_assert!(notices.is_empty());
            let (again, notices) = read(&written);
            prop_assert!(notices.is_empty(), "{:?}", notices);
            prop_assert_eq!(again, [document]);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[1ta|\t\n 0-9ä]{0,40}") {
            let _ = read_all(PubTatorReader::new(&Source::text("t", text)).unwrap());
        }
    }
}
