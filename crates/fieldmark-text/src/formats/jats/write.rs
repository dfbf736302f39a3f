//! Writing JATS: a small article that the reader reads back.

use super::PUBLISHER_ID;
use crate::document::{Document, Element};
use crate::formats::article_facts::ArticleFacts;
use crate::formats::xml::{Escaped, tell_characters, tell_white_space};
use crate::formats::{DocumentWriter, NoticeKind, Notices, tell_unwritten};
use std::cmp::Reverse;
use std::io::{self, Write};
use std::ops::Range;

/// Writes JATS XML: each document is an `article`, all of them in a `pmc-articleset`.
///
/// Each line of the text becomes a block: a heading, a paragraph, a caption, a list item, a footnote or the row
/// of a table, as the elements of the document say; sections nest as they do there. Annotations have no place,
/// and each is told.
#[derive(Debug)]
pub struct JatsWriter<W> {
    out: W,
    begun: bool,
}

impl<W: Write> JatsWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, begun: false }
    }

    fn begin(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(
                self.out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pmc-articleset>"
            )?;
        }
        Ok(())
    }

    fn front(
        &mut self,
        document: &Document,
        facts: &ArticleFacts,
        title: Option<Range<usize>>,
    ) -> io::Result<()> {
        let out = &mut self.out;
        let values = |key: &str| facts.values(key).iter().map(String::as_str);
        write!(out, "<article><front><journal-meta><journal-title-group>")?;
        for journal in values("journal") {
            write!(out, "<journal-title>{}</journal-title>", Escaped(journal))?;
        }
        writeln!(out, "</journal-title-group></journal-meta><article-meta>")?;
        for kind in ["pmid", "pmc", "doi"] {
            for id in values(kind) {
                write!(
                    out,
                    "<article-id pub-id-type=\"{kind}\">{}</article-id>",
                    Escaped(id)
                )?;
            }
        }
        if ["pmid", "pmc", "doi"]
            .iter()
            .all(|kind| facts.values(kind).is_empty())
        {
            let id = Escaped(&document.id);
            write!(
                out,
                "<article-id pub-id-type=\"{PUBLISHER_ID}\">{id}</article-id>"
            )?;
        }
        for subject in values("subjects") {
            let subject = Escaped(subject);
            write!(
                out,
                "<article-categories><subj-group><subject>{subject}</subject></subj-group></article-categories>"
            )?;
        }
        let title = title.map_or("", |title| &document.text[title]);
        writeln!(
            out,
            "<title-group><article-title>{}</article-title></title-group>",
            Escaped(title)
        )?;
        if !facts.values("authors").is_empty() {
            write!(out, "<contrib-group>")?;
            for author in values("authors") {
                let (last, given) = author.split_once(", ").unwrap_or((author, ""));
                write!(
                    out,
                    "<contrib contrib-type=\"author\"><name><surname>{}</surname>",
                    Escaped(last)
                )?;
                if !given.is_empty() {
                    write!(out, "<given-names>{}</given-names>", Escaped(given))?;
                }
                write!(out, "</name></contrib>")?;
            }
            writeln!(out, "</contrib-group>")?;
        }
        for year in values("year") {
            write!(out, "<pub-date><year>{}</year></pub-date>", Escaped(year))?;
        }
        Ok(())
    }
}

const FACTS: [&str; 9] = [
    "pmid", "pmc", "doi", "journal", "year", "authors", "subjects", "keywords", "mesh",
];

impl<W: Write> DocumentWriter for JatsWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        self.begin()?;
        tell_unwritten(document, "JATS", true, notices);
        tell_characters(&document.id, &document.text, notices);
        let facts = ArticleFacts::of(document, &FACTS);
        for key in facts.unused(document) {
            let message = format!("`{key}` is left out: it has no place in JATS");
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        for lost in &facts.lost {
            notices.add(NoticeKind::Detail, &document.id, None, lost.as_str());
        }
        let text = &document.text;
        let find = |kind: &str| {
            let fits = |element: &&Element| element.kind == kind && text.get(element.range.clone()).is_some();
            document
                .elements
                .iter()
                .find(fits)
                .map(|element| element.range.clone())
        };
        let title = find("title");
        let summary = find("abstract")
            .filter(|range| title.as_ref().is_none_or(|title| title.end <= range.start))
            .filter(|range| {
                let before = title.as_ref().map_or(0, |title| title.end);
                text[before..range.start].trim().is_empty()
            });
        if !title
            .as_ref()
            .map_or("", |title| &text[..title.start])
            .trim()
            .is_empty()
        {
            let message = "text before the title comes after it now";
            notices.add(NoticeKind::OtherText, &document.id, None, message);
        }
        tell_white_space(document, notices);
        self.front(document, &facts, title.clone())?;
        let mut blocks = Blocks::new(document);
        if let Some(summary) = &summary {
            write!(self.out, "<abstract>")?;
            blocks.write(&mut self.out, summary.clone())?;
            writeln!(self.out, "</abstract>")?;
        }
        for (key, kind) in [("keywords", ""), ("mesh", " kwd-group-type=\"MeSH\"")] {
            if facts.values(key).is_empty() {
                continue;
            }
            write!(self.out, "<kwd-group{kind}>")?;
            for keyword in facts.values(key) {
                write!(self.out, "<kwd>{}</kwd>", Escaped(keyword))?;
            }
            write!(self.out, "</kwd-group>")?;
        }
        writeln!(self.out, "</article-meta></front>\n<body>")?;
        if let Some(title) = &title {
            blocks.write(&mut self.out, 0..title.start)?;
        }
        let rest = summary.or(title).map_or(0, |range| range.end);
        blocks.write(&mut self.out, rest..text.len())?;
        writeln!(self.out, "</body></article>")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()?;
        writeln!(self.out, "</pmc-articleset>")?;
        self.out.flush()
    }
}

/// The lines of a text as blocks.
struct Blocks<'a> {
    text: &'a str,
    /// What begins where, in the order of the text, the larger first.
    elements: Vec<&'a Element>,
}

impl<'a> Blocks<'a> {
    fn new(document: &'a Document) -> Self {
        let known = |element: &&Element| {
            matches!(
                element.kind.as_str(),
                "section" | "heading" | "caption" | "table" | "list" | "footnote"
            ) && !element.range.is_empty()
        };
        let mut elements: Vec<&Element> = document.elements.iter().filter(known).collect();
        elements.sort_by_key(|element| (element.range.start, Reverse(element.range.end)));
        Self {
            text: &document.text,
            elements,
        }
    }

    fn write(&mut self, out: &mut impl Write, range: Range<usize>) -> io::Result<()> {
        let mut open: Vec<(&str, usize)> = Vec::new();
        let mut next = self
            .elements
            .partition_point(|element| element.range.start < range.start);
        let mut start = range.start;
        for line in self.text[range.clone()].split('\n') {
            let end = start + line.len();
            close(out, &mut open, start)?;
            let mut heading = false;
            while let Some(element) = self
                .elements
                .get(next)
                .filter(|element| element.range.start < end.max(start + 1))
            {
                next += 1;
                let Range { start: from, end: to } = element.range;
                heading |= element.kind == "heading" && (from, to) == (start, end);
                let room = open.last().map_or(range.end, |(_, end)| *end);
                let inner = open.last().is_none_or(|(kind, _)| *kind == "section");
                if element.kind != "heading" && from == start && to >= end && to <= room && inner {
                    open_tag(out, &element.kind)?;
                    open.push((&element.kind, to));
                }
            }
            if !line.trim().is_empty() {
                let kind = open.last().map_or("", |(kind, _)| *kind);
                block(out, kind, heading, line)?;
            }
            start = end + 1;
        }
        close(out, &mut open, usize::MAX)
    }
}

fn open_tag(out: &mut impl Write, kind: &str) -> io::Result<()> {
    match kind {
        "section" => write!(out, "<sec>"),
        "caption" => write!(out, "<fig><caption>"),
        "table" => write!(out, "<table-wrap><table><tbody>"),
        "list" => write!(out, "<list>"),
        _ => write!(out, "<fn>"),
    }
}

fn close(out: &mut impl Write, open: &mut Vec<(&str, usize)>, at: usize) -> io::Result<()> {
    while let Some((kind, _)) = open.pop_if(|(_, end)| *end < at) {
        match kind {
            "section" => writeln!(out, "</sec>")?,
            "caption" => writeln!(out, "</caption></fig>")?,
            "table" => writeln!(out, "</tbody></table></table-wrap>")?,
            "list" => writeln!(out, "</list>")?,
            _ => writeln!(out, "</fn>")?,
        }
    }
    Ok(())
}

fn block(out: &mut impl Write, kind: &str, heading: bool, line: &str) -> io::Result<()> {
    let escaped = Escaped(line);
    match kind {
        "table" => {
            write!(out, "<tr>")?;
            for cell in line.split('\t') {
                write!(out, "<td>{}</td>", Escaped(cell))?;
            }
            writeln!(out, "</tr>")
        }
        "list" => writeln!(out, "<list-item><p>{escaped}</p></list-item>"),
        "section" if heading => writeln!(out, "<title>{escaped}</title>"),
        _ => writeln!(out, "<p>{escaped}</p>"),
    }
}
