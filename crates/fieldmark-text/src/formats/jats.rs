//! JATS XML: articles of PubMed Central and of many publishers.
//!
//! The text has the title, the abstract, the body and the back matter; each block (heading, paragraph, caption,
//! list item, row of a table) stands on a line of its own, cells of a table are separated by tabs, and a label
//! (`Figure 1`) stands before what it labels. Elements: `title`, `abstract`, `section`, `heading`, `paragraph`,
//! `list`, `table`, `caption`, `footnote`, and `subtitle`. Inline markup is dropped. Lists of references,
//! TeX formulas (which stand beside MathML) and licences are left out and told.
//!
//! [`Document::meta`] has `pmid`, `pmc`, `doi`, `journal`, `year`, `authors`, `subjects`, `keywords` and `mesh`; the
//! document is named after the first of `pmc`, `pmid` and `doi` that there is, or else by its publisher. A file holds an `article`, or
//! any number of them inside another element; they are handed out one by one.

use super::encoding::Encoding;
use super::flow::Flow;
use super::xml::{Part, Tag, XmlStream};
use super::{DocumentReader, NoticeKind, Notices};
use crate::document::Document;
use crate::error::{ErrorKind, ReadError};
use crate::source::Source;
use std::collections::BTreeMap;

mod write;

pub use write::JatsWriter;

/// Reads JATS XML.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, Notices};
/// use fieldmark_text::formats::jats::JatsReader;
/// let xml = "<article><front><article-meta><article-id pub-id-type='pmc'>PMC1</article-id>
///     <title-group><article-title>On iron</article-title></title-group></article-meta></front>
///     <body><sec><title>Methods</title><p>We looked at <italic>iron</italic>.</p></sec></body></article>";
/// let mut reader = JatsReader::new(&Source::text("a.xml", xml), Default::default())?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!(document.text, "On iron\nMethods\nWe looked at iron.");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
pub struct JatsReader {
    stream: XmlStream,
    open: Vec<Open>,
    article: Option<Article>,
    root: String,
    any: bool,
}

/// An element that has not ended.
struct Open {
    name: String,
    start: usize,
    mark: usize,
    target: Target,
}

/// The kind of an identifier that means nothing elsewhere.
const PUBLISHER_ID: &str = "publisher-id";
/// What we call a `kwd-group` with headings of MeSH.
const MESH_GROUP: &str = "kwd-group of MeSH";

/// Where text goes.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Nowhere,
    Text,
    Value(&'static str),
    /// What is left out, with everything in it.
    Dropped,
}

#[derive(Default)]
struct Article {
    flow: Flow,
    line: u64,
    /// Elements `article` that are open.
    depth: usize,
    meta: BTreeMap<String, String>,
    value: String,
    name: (String, String),
    /// Elements around the reader in which white space counts.
    verbatim: usize,
    after_label: bool,
    dropped: BTreeMap<String, usize>,
}

/// The kind of element that a tag makes, if any; all of these begin a line.
fn kind_of(name: &str, parent: &str) -> Option<&'static str> {
    Some(match name {
        "article-title" => "title",
        "subtitle" | "trans-title" => "subtitle",
        "abstract" | "trans-abstract" => "abstract",
        "sec" | "ack" | "app" | "boxed-text" | "glossary" | "notes" | "bio" => "section",
        "title" if parent == "caption" => "paragraph",
        "title" => "heading",
        "p" | "disp-quote" | "verse-line" | "preformat" | "code" | "def-item" | "statement"
        | "disp-formula" => "paragraph",
        "list" | "def-list" => "list",
        "table" => "table",
        "caption" => "caption",
        "fn" | "table-wrap-foot" => "footnote",
        _ => return None,
    })
}

/// Tags that begin a line without being an element.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "tr" | "list-item"
            | "fig"
            | "table-wrap"
            | "supplementary-material"
            | "fn-group"
            | "app-group"
            | "floats-group"
    )
}

fn is_dropped(name: &str) -> bool {
    matches!(
        name,
        "ref-list" | "tex-math" | "permissions" | "object-id" | "contrib-group"
    )
}

impl JatsReader {
    /// Reads a source.
    pub fn new(source: &Source, encoding: Encoding) -> Result<Self, ReadError> {
        Ok(Self {
            stream: XmlStream::new(source, encoding)?,
            open: Vec::new(),
            article: None,
            root: String::new(),
            any: false,
        })
    }

    fn start(&mut self, tag: &Tag) {
        let name = tag.name.as_str();
        if self.open.is_empty() {
            self.root = tag.name.clone();
        }
        if self.article.is_none() && name == "article" {
            self.stream.forget();
            self.any = true;
            self.article = Some(Article {
                line: self.stream.line(),
                ..Article::default()
            });
        }
        let parent = self.open.last();
        let mut target = parent.map_or(Target::Nowhere, |open| open.target);
        let parent = parent.map_or("", |open| open.name.as_str());
        let mut mark = 0;
        if let Some(article) = &mut self.article {
            article.depth += usize::from(name == "article");
            if target == Target::Nowhere {
                target = target_of(tag, &self.open);
                article.value.clear();
            } else if target == Target::Text && is_dropped(name) {
                *article.dropped.entry(tag.name.clone()).or_default() += 1;
                target = Target::Dropped;
            }
            if target == Target::Text {
                article.begin(name, kind_of(name, parent).is_some());
            }
            mark = article.flow.mark();
        }
        let is_mesh = |kind: &str| kind.eq_ignore_ascii_case("mesh");
        let name = match tag.attribute("kwd-group-type") {
            Some(kind) if name == "kwd-group" && is_mesh(kind) => MESH_GROUP.to_owned(),
            _ => tag.name.clone(),
        };
        self.open.push(Open {
            name,
            start: self.stream.range().start,
            mark,
            target,
        });
    }

    fn text(&mut self, text: &str) {
        let target = self.open.last().map_or(Target::Nowhere, |open| open.target);
        let Some(article) = &mut self.article else {
            return;
        };
        match target {
            Target::Text => {
                article.after_label &= text.trim().is_empty();
                article.flow.push(text, self.stream.range());
            }
            Target::Value(_) => article.value.push_str(text),
            Target::Nowhere | Target::Dropped => {}
        }
    }

    /// Ends an element; gives the article that ends with the outermost one.
    fn end(&mut self) -> Option<Article> {
        let open = self.open.pop()?;
        let parent = self.open.last();
        let outer = parent.map_or(Target::Nowhere, |open| open.target);
        let article = self.article.as_mut()?;
        let range = self.stream.range();
        match open.target {
            Target::Text => {
                let parent = parent.map_or("", |open| open.name.as_str());
                article.finish(&open, parent, open.start..range.end);
            }
            Target::Value(key) if outer == Target::Nowhere => article.value(key),
            _ => {}
        }
        if open.name == "contrib" && open.target == Target::Nowhere {
            article.author();
        }
        article.depth -= usize::from(open.name == "article");
        if article.depth == 0 {
            return self.article.take();
        }
        None
    }
}

fn target_of(tag: &Tag, open: &[Open]) -> Target {
    let above = |levels: usize| {
        let at = open.len().checked_sub(levels);
        at.map_or("", |at| open[at].name.as_str())
    };
    match (above(1), tag.name.as_str()) {
        (_, "body" | "back" | "abstract" | "trans-abstract" | "floats-group")
        | ("title-group", "article-title" | "subtitle")
        | ("trans-title-group", "trans-title") => Target::Text,
        ("article-meta", "article-id") => match tag.attribute("pub-id-type") {
            Some("pmid") => Target::Value("pmid"),
            Some("pmc" | "pmcid") => Target::Value("pmc"),
            Some("doi") => Target::Value("doi"),
            Some(PUBLISHER_ID) => Target::Value(PUBLISHER_ID),
            _ => Target::Nowhere,
        },
        ("journal-title-group" | "journal-meta", "journal-title") => Target::Value("journal"),
        ("pub-date", "year") if above(2) == "article-meta" => Target::Value("year"),
        ("name", "surname") | ("contrib", "collab") if above(2) != "person-group" => Target::Value("surname"),
        ("name", "given-names") if above(2) == "contrib" => Target::Value("given_names"),
        ("subj-group", "subject") => Target::Value("subjects"),
        ("kwd-group", "kwd") => Target::Value("keywords"),
        (MESH_GROUP, "kwd") => Target::Value("mesh"),
        _ => Target::Nowhere,
    }
}

impl Article {
    /// Gets ready for an element of the text.
    fn begin(&mut self, name: &str, is_element: bool) {
        if matches!(name, "preformat" | "code") {
            self.verbatim += 1;
        }
        if matches!(name, "td" | "th") {
            self.flow.cell();
        } else if name == "break" {
            self.flow.line();
        } else if is_element || is_block(name) || name == "label" {
            // A label stands before what it labels, on its line.
            if self.after_label {
                self.flow.space(0..0);
            } else {
                self.flow.line();
            }
        }
        self.flow.verbatim = self.verbatim > 0;
    }

    fn finish(&mut self, open: &Open, parent: &str, place: std::ops::Range<usize>) {
        let name = open.name.as_str();
        if matches!(name, "preformat" | "code") {
            self.verbatim -= 1;
            self.flow.verbatim = self.verbatim > 0;
        }
        let kind = kind_of(name, parent);
        if let Some(kind) = kind {
            self.flow.element(kind, open.mark, place);
        }
        if name == "label" {
            self.after_label = true;
        } else if kind.is_some() || is_block(name) {
            self.after_label = false;
            self.flow.line();
        }
    }

    fn value(&mut self, key: &'static str) {
        let value = self.value.split_whitespace().collect::<Vec<_>>().join(" ");
        self.value.clear();
        match key {
            "surname" => self.name.0 = value,
            "given_names" => self.name.1 = value,
            // Several dates have a year each.
            "year" if self.meta.contains_key("year") => {}
            _ if value.is_empty() => {}
            _ => self.add(key, &value),
        }
    }

    fn add(&mut self, key: &str, value: &str) {
        let values = self.meta.entry(key.to_owned()).or_default();
        if !values.is_empty() {
            values.push('\n');
        }
        values.push_str(value);
    }

    fn author(&mut self) {
        let (last, given) = std::mem::take(&mut self.name);
        let name = [last.as_str(), given.as_str()];
        let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
        if !name.is_empty() {
            self.add("authors", &name.join(", "));
        }
    }

    fn document(self, file: &str, notices: &mut Notices) -> Document {
        let mut document = self.flow.finish();
        document.meta = self.meta;
        let of_publisher = document.meta.remove(PUBLISHER_ID);
        let id = ["pmc", "pmid", "doi"]
            .into_iter()
            .find_map(|key| document.meta.get(key));
        document.id = match id.or(of_publisher.as_ref()) {
            Some(id) => id.clone(),
            None => {
                let id = format!("{file}:{}", self.line);
                let message = "this article has no identifier and is named after its line";
                notices.add(NoticeKind::Detail, &id, Some(self.line), message);
                id
            }
        };
        for (name, count) in &self.dropped {
            let message = format!("{count} `{name}` left out of the text");
            notices.add(NoticeKind::Skipped, &document.id, Some(self.line), message);
        }
        document
    }
}

impl DocumentReader for JatsReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        loop {
            // After an error, nothing is missing any more.
            match self.stream.next(notices).inspect_err(|_| self.any = true)? {
                Part::Start(tag) => self.start(&tag),
                Part::Text(text) | Part::Resolved(text) => self.text(&text),
                Part::End => {
                    if let Some(article) = self.end() {
                        return Ok(Some(article.document(self.stream.file(), notices)));
                    }
                }
                Part::Done if self.any || self.root == "pmc-articleset" => return Ok(None),
                Part::Done => {
                    self.any = true;
                    return Err(self.stream.error(ErrorKind::NoElement {
                        expected: "article",
                        found: std::mem::take(&mut self.root),
                    }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
