//! HTML as it is found: improper nesting, missing end tags, any encoding.
//!
//! Tags are recognised as browsers do (WHATWG, by `html5gum`, which knows where each token stands). A tree is not
//! built: blocks end where HTML ends them or where something else begins that cannot stand inside of them, and
//! inline tags do not matter to text. Each block stands on a line of its own, cells of a table are separated
//! by tabs, other white space collapses, except in `pre`. Scripts, style sheets, comments and what browsers
//! show only without scripts are dropped, and so are attributes, also texts for images.
//!
//! Elements: `title`, `heading`, `paragraph`, `list`, `table`, `caption`, `section`. Beside them there is an element `text` for every stretch of text that stands in one piece in the file:
//! either byte for byte or, for a reference such as `&alpha;` and for white space, one for the other.
//!
//! [`HtmlWriter::over`] lays annotations over the file that a document was read from, as `<mark>`, and the reader
//! reads them back from there; [`HtmlWriter::new`] makes a page of its own. Of such a page, each text is read as a
//! document with its spans; the labels of tokens, and what is around the texts, are dropped.

mod own;
mod write;

pub use write::HtmlWriter;

use super::encoding::{Decoded, Encoding, read_bytes};
use super::flow::Flow;
use super::text::file_name;
use super::xml::resolve;
use super::{DocumentReader, Notices};
use crate::document::{Annotation, Document, Element, Place};
use crate::error::ReadError;
use crate::render::html::GENERATOR;
use crate::source::Source;
use html5gum::{DefaultEmitter, EndTag, StartTag, Token, Tokenizer};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Reads an HTML file, which is one document, named after the file. A page of annotated texts that we have written has
/// a document for each of them.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, Notices};
/// use fieldmark_text::formats::html::HtmlReader;
/// let html = "<p>Dose:<b> 5 &mu;g<p>Take <i>twice</b> daily<script>if (a<b) f()</script>";
/// let mut reader = HtmlReader::new(&Source::text("a.html", html), Default::default())?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!(document.text, "Dose: 5 μg\nTake twice daily");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Debug)]
pub struct HtmlReader {
    decoded: Decoded,
    id: String,
    begun: bool,
    /// The documents of a page of ours, the next one last.
    own: Vec<Document>,
}

impl HtmlReader {
    /// Reads a source. Without a stated encoding, a `<meta charset>` counts.
    pub fn new(source: &Source, encoding: Encoding) -> Result<Self, ReadError> {
        Ok(Self {
            decoded: decode(source, encoding)?,
            id: file_name(source),
            begun: false,
            own: Vec::new(),
        })
    }
}

impl DocumentReader for HtmlReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(self.own.pop());
        }
        self.decoded.tell(&self.id, notices);
        self.own = own::documents(self.decoded.text(), &self.id, notices);
        self.own.reverse();
        if let Some(document) = self.own.pop() {
            return Ok(Some(document));
        }
        let mut document = parse(self.decoded.text()).document;
        for element in &mut document.elements {
            if let Some(Place::Bytes(place)) = &mut element.place {
                *place = self.decoded.place(place.clone());
            }
        }
        document.id = self.id.clone();
        Ok(Some(document))
    }
}

fn decode(source: &Source, encoding: Encoding) -> Result<Decoded, ReadError> {
    decode_bytes(&source.name(), read_bytes(source)?, encoding)
}

fn decode_bytes(name: &str, bytes: Vec<u8>, encoding: Encoding) -> Result<Decoded, ReadError> {
    let declared = declared(&bytes);
    Decoded::with_declared(name, bytes, encoding, declared.as_deref())
}

/// The encoding that a page names near its beginning.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = bytes[..bytes.len().min(1024)].to_ascii_lowercase();
    let at = memchr::memmem::find(&head, b"charset")? + b"charset".len();
    let value = head[at..]
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let value = value
        .strip_prefix(b"\"")
        .or(value.strip_prefix(b"'"))
        .unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !b"-_:".contains(byte));
    String::from_utf8(value[..end?].to_vec()).ok()
}

/// A page, with places in its text.
struct Parsed {
    document: Document,
    /// Parts of the text of the document around which no tag can be put in the file, with the white space before them.
    unmarkable: Vec<Range<usize>>,
    /// Where tags of annotations stand in the file, in order.
    tags: Vec<Range<usize>>,
}

fn parse(text: &str) -> Parsed {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut page = Page {
        source: text,
        flow: Flow::traced(),
        ..Page::default()
    };
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => page.start(&tag),
            Token::EndTag(tag) => page.end(&tag),
            Token::String(string) => page.text(&string.value, string.span.start..string.span.end),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.finish()
}

/// A page as far as it is read.
#[derive(Default)]
struct Page<'a> {
    source: &'a str,
    flow: Flow,
    /// Blocks that have not ended.
    open: Vec<Open>,
    counts: HashMap<&'static str, usize>,
    /// Whether it is a page that we have written: then some of it is no text of a document.
    ours: bool,
    /// The element whose content is dropped.
    dropping: Option<&'static str>,
    /// Where the last `title` or `textarea` begins in the text.
    raw: Option<usize>,
    unmarkable: Vec<Range<usize>>,
    /// Tags of our marks in the file.
    tags: Vec<Range<usize>>,
    /// Beginnings of `mark`, and of which annotation if it is one of ours.
    marks: Vec<Option<(usize, Mark)>>,
    spans: BTreeMap<(usize, usize), (Range<usize>, Mark)>,
}

struct Open {
    name: &'static str,
    kind: Option<&'static str>,
    mark: usize,
    start: usize,
}

/// What the attributes of a `mark` say.
#[derive(Clone, Default)]
struct Mark {
    annotation: usize,
    fragment: usize,
    details: Annotation,
}

/// Blocks, and the kind of element that they make.
const BLOCKS: [(&str, Option<&str>); 47] = [
    ("address", None),
    ("article", Some("section")),
    ("aside", None),
    ("blockquote", None),
    ("body", None),
    ("caption", Some("caption")),
    ("center", None),
    ("dd", None),
    ("details", None),
    ("dir", Some("list")),
    ("div", None),
    ("dl", Some("list")),
    ("dt", None),
    ("fieldset", None),
    ("figcaption", Some("caption")),
    ("figure", None),
    ("footer", None),
    ("form", None),
    ("h1", Some("heading")),
    ("h2", Some("heading")),
    ("h3", Some("heading")),
    ("h4", Some("heading")),
    ("h5", Some("heading")),
    ("h6", Some("heading")),
    ("head", None),
    ("header", None),
    ("hgroup", None),
    ("html", None),
    ("legend", None),
    ("li", None),
    ("main", Some("section")),
    ("menu", Some("list")),
    ("nav", None),
    ("ol", Some("list")),
    ("option", None),
    ("p", Some("paragraph")),
    ("pre", Some("paragraph")),
    ("section", Some("section")),
    ("summary", None),
    ("table", Some("table")),
    ("tbody", None),
    ("textarea", None),
    ("tfoot", None),
    ("thead", None),
    ("title", Some("title")),
    ("tr", None),
    ("ul", Some("list")),
];

/// Elements whose content is not shown.
const DROPPED: [&str; 8] = [
    "iframe", "noembed", "noframes", "noscript", "script", "style", "template", "svg",
];

fn block(name: &[u8]) -> Option<(&'static str, Option<&'static str>)> {
    let at = BLOCKS
        .binary_search_by(|(block, _)| block.as_bytes().cmp(name))
        .ok()?;
    Some(BLOCKS[at])
}

fn dropped(name: &[u8]) -> Option<&'static str> {
    DROPPED.into_iter().find(|dropped| dropped.as_bytes() == name)
}

impl Page<'_> {
    fn start(&mut self, tag: &StartTag<usize>) {
        let name: &[u8] = &tag.name;
        if self.dropping.is_some() {
            return;
        }
        if let Some(name) = dropped(name) {
            self.dropping = (!tag.self_closing || name != "svg").then_some(name);
            return;
        }
        self.ours |= is_our_mark(tag);
        if self.ours
            && let Some(name) = added(tag)
        {
            self.dropping = Some(name);
            return;
        }
        match name {
            b"br" | b"hr" => self.flow.line(),
            b"td" | b"th" => {
                self.close_while(&["p"]);
                self.flow.cell();
            }
            b"mark" => {
                let mark = mark(tag).map(|mark| (self.flow.mark(), mark));
                if mark.is_some() {
                    self.tags.push(tag.span.start..tag.span.end);
                }
                self.marks.push(mark);
            }
            _ => {
                if let Some((name, kind)) = block(name) {
                    self.start_block(name, kind, tag.span.start);
                }
            }
        }
    }

    fn start_block(&mut self, name: &'static str, kind: Option<&'static str>, start: usize) {
        // What a beginning ends: a paragraph cannot hold blocks, an item no item.
        self.close_while(&["p"]);
        match name {
            "li" => self.close_while(&["li"]),
            "dt" | "dd" => self.close_while(&["dt", "dd"]),
            "option" => self.close_while(&["option"]),
            "tr" => self.close_while(&["tr"]),
            "thead" | "tbody" | "tfoot" => self.close_while(&["tr", "thead", "tbody", "tfoot"]),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.close_while(&["h1", "h2", "h3", "h4", "h5", "h6"])
            }
            "body" => self.close_while(&["head", "title"]),
            _ => {}
        }
        self.flow.line();
        if matches!(name, "title" | "textarea") {
            self.raw = Some(self.flow.mark());
        }
        self.open.push(Open {
            name,
            kind,
            mark: self.flow.mark(),
            start,
        });
        *self.counts.entry(name).or_default() += 1;
        self.flow.verbatim = self.is_verbatim();
    }

    fn is_verbatim(&self) -> bool {
        let open = |name| self.counts.get(name).is_some_and(|count| *count > 0);
        open("pre") || open("textarea")
    }

    fn close_while(&mut self, names: &[&str]) {
        while self.open.last().is_some_and(|open| names.contains(&open.name)) {
            let end = self.open.last().map_or(0, |open| open.start);
            self.close(end);
        }
    }

    /// Ends the innermost block; `end` is where it ends in the file, if that is known.
    fn close(&mut self, end: usize) {
        let Some(open) = self.open.pop() else {
            return;
        };
        if let Some(count) = self.counts.get_mut(open.name) {
            *count -= 1;
        }
        self.flow.verbatim = self.is_verbatim();
        if let Some(kind) = open.kind {
            let end = end.max(open.start);
            self.flow.element(kind, open.mark, open.start..end);
        }
        self.flow.line();
    }

    fn end(&mut self, tag: &EndTag<usize>) {
        let name: &[u8] = &tag.name;
        if let Some(dropping) = self.dropping {
            if dropping.as_bytes() == name {
                self.dropping = None;
            }
            return;
        }
        if name == b"mark" {
            if let Some(Some(_)) = self.marks.last() {
                self.tags.push(tag.span.start..tag.span.end);
            }
            self.end_mark();
        } else if name == b"br" {
            self.flow.line();
        } else if let Some((name, _)) = block(name) {
            if matches!(name, "title" | "textarea")
                && let Some(start) = self.raw.take()
            {
                self.unmarkable.push(start..self.flow.mark());
            }
            if self.counts.get(name).is_none_or(|count| *count == 0) {
                self.flow.line();
                return;
            }
            while self.open.last().is_some_and(|open| open.name != name) {
                self.close(tag.span.start);
            }
            self.close(tag.span.end);
        }
    }

    fn end_mark(&mut self) {
        let Some(Some((start, mark))) = self.marks.pop() else {
            return;
        };
        let range = self.flow.since(start);
        if range.is_empty() {
            return;
        }
        let key = (mark.annotation, mark.fragment);
        let (whole, _) = self.spans.entry(key).or_insert((range.clone(), mark));
        *whole = whole.start.min(range.start)..whole.end.max(range.end);
    }

    fn text(&mut self, value: &[u8], span: Range<usize>) {
        if self.dropping.is_some() {
            return;
        }
        let raw = self.source.get(span.clone()).unwrap_or_default();
        let pieces = pieces(raw);
        let plain: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        let value = String::from_utf8_lossy(value);
        // The tokenizer has the last word on what the text is.
        if plain.replace("\r\n", "\n").replace('\r', "\n") == value {
            for (text, range) in pieces {
                self.flow
                    .push(&text, span.start + range.start..span.start + range.end);
            }
        } else {
            self.flow.push(&value, span);
        }
    }

    fn finish(mut self) -> Parsed {
        let end = self.source.len();
        if let Some(start) = self.raw.take() {
            self.unmarkable.push(start..self.flow.mark());
        }
        while !self.open.is_empty() {
            self.close(end);
        }
        while !self.marks.is_empty() {
            self.end_mark();
        }
        let mut document = self.flow.finish();
        // At the very end, `</` is text; before a tag it would begin a comment.
        if self.source.ends_with("</") && document.text.ends_with("</") {
            let end_of = |element: &Element| match &element.place {
                Some(Place::Bytes(place)) if element.kind == "text" => Some(place.end),
                _ => None,
            };
            // Several stretches can stand in one piece of the file.
            let last = document.elements.iter().filter_map(end_of).max();
            let cut_off = document.elements.iter().filter(|element| end_of(element) == last);
            self.unmarkable
                .extend(cut_off.map(|element| element.range.clone()));
        }
        let mut last = None;
        for ((annotation, _), (range, mark)) in self.spans {
            if last != Some(annotation) {
                last = Some(annotation);
                document.annotations.push(mark.details);
            }
            if let Some(annotation) = document.annotations.last_mut() {
                annotation.fragments.push(range);
            }
        }
        Parsed {
            document,
            unmarkable: self.unmarkable,
            tags: self.tags,
        }
    }
}

/// Whether a tag says that we have written the page.
fn is_our_mark(tag: &StartTag<usize>) -> bool {
    let is = |name: &[u8], value: &[u8]| tag.attributes.get(name).is_some_and(|found| found[..] == *value);
    tag.name[..] == *b"meta" && is(b"name", b"generator") && is(b"content", GENERATOR.as_bytes())
}

/// The name of an element that a page of ours adds to the texts: title and legend, headings, notes of spans.
fn added(tag: &StartTag<usize>) -> Option<&'static str> {
    let class: &[u8] = tag
        .attributes
        .get(b"class".as_slice())
        .map_or(b"", |class| &class[..]);
    match &tag.name[..] {
        b"title" => Some("title"),
        b"header" => Some("header"),
        b"h2" => Some("h2"),
        b"span" if matches!(class, b"tag" | b"tip") => Some("span"),
        _ => None,
    }
}

/// What a `mark` of ours says.
fn mark(tag: &StartTag<usize>) -> Option<Mark> {
    let value = |name: &[u8]| {
        let value = tag.attributes.get(name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    let span = value(b"data-span")?;
    let (annotation, fragment) = span.split_once('.')?;
    let score = value(b"data-score").and_then(|score| score.parse().ok());
    Some(Mark {
        annotation: annotation.parse().ok()?,
        fragment: fragment.parse().ok()?,
        details: Annotation {
            id: value(b"data-id").unwrap_or_default(),
            kind: value(b"data-kind")?,
            score: score.filter(|score| (0.0..=1.0).contains(score)),
            identifiers: value(b"data-identifiers")
                .map(|all| all.split_whitespace().map(str::to_owned).collect())
                .unwrap_or_default(),
            ..Annotation::default()
        },
    })
}

/// Text cut at its references: what each piece means and where it stands.
fn pieces(raw: &str) -> Vec<(String, Range<usize>)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for start in memchr::memchr_iter(b'&', raw.as_bytes()) {
        if start < at {
            continue;
        }
        if let Some((meaning, len)) = reference(&raw[start..]) {
            if at < start {
                pieces.push((raw[at..start].to_owned(), at..start));
            }
            pieces.push((meaning, start..start + len));
            at = start + len;
        }
    }
    if at < raw.len() {
        pieces.push((raw[at..].to_owned(), at..raw.len()));
    }
    pieces
}

/// The meaning and length of the reference at the beginning, with or without its semicolon.
fn reference(rest: &str) -> Option<(String, usize)> {
    let body = rest[1..].strip_prefix('#').unwrap_or(&rest[1..]);
    let hash = rest.len() - body.len();
    let longest = htmlize::ENTITY_MAX_LENGTH.max(40);
    let len = hash
        + body
            .bytes()
            .take(longest)
            .take_while(u8::is_ascii_alphanumeric)
            .count();
    if rest.as_bytes().get(len) == Some(&b';')
        && let Some(meaning) = resolve(&rest[..=len])
    {
        return Some((meaning, len + 1));
    }
    if hash > 1 {
        let hex = body.starts_with(['x', 'X']);
        let digits = body[usize::from(hex)..].bytes();
        let digits = digits
            .take_while(|byte| byte.is_ascii_digit() || (hex && byte.is_ascii_hexdigit()))
            .count();
        let len = hash + usize::from(hex) + digits;
        return (digits > 0).then(|| (htmlize::unescape(&rest[..len]).into_owned(), len));
    }
    // `&copyright` begins with `&copy`, which HTML knows without a semicolon; the longest counts.
    (2..=len)
        .rev()
        .find_map(|len| resolve(&rest[..len]).map(|meaning| (meaning, len)))
}

#[cfg(test)]
mod tests;
