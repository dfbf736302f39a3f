//! Writing HTML: marks in the file that a document was read from, or a page of its own.

use super::{Parsed, decode_bytes, own, parse};
use crate::document::{Annotation, Document, Place};
use crate::error::ReadError;
use crate::formats::encoding::{Decoded, Encoding, read_bytes};
use crate::formats::losses::{Places, with_marked_tokens};
use crate::formats::xml::Escaped;
use crate::formats::{DocumentWriter, NoticeKind, Notices, tell_unwritten};
use crate::render::{self, html::Page};
use crate::source::Source;
use std::io::{self, Write};
use std::ops::Range;

/// Writes HTML.
pub struct HtmlWriter<W> {
    out: W,
    mode: Mode,
}

enum Mode {
    /// A page of its own, made when all documents are there.
    Page { title: String, documents: Vec<Shown> },
    /// The file that the document was read from.
    Over {
        decoded: Box<Decoded>,
        bytes: Vec<u8>,
        done: bool,
    },
}

/// What a page shows of a document.
struct Shown {
    id: String,
    text: String,
    spans: Vec<(Range<usize>, String, Option<f64>)>,
    /// Whether the spans are the labels of tokens.
    tokens: bool,
}

impl<W: Write> HtmlWriter<W> {
    /// A page of its own with this title, which shows all documents. It is written at the end, and needs the
    /// memory for all of them. Spans may nest and overlap.
    pub fn new(out: W, title: impl Into<String>) -> Self {
        let mode = Mode::Page {
            title: title.into(),
            documents: Vec::new(),
        };
        Self { out, mode }
    }

    /// The file that the document was read from, byte for byte, with `<mark>` around what is annotated, in the place of
    /// marks that an earlier run has left there. Spans may overlap. Nothing can be marked inside of `<title>` and
    /// `<textarea>`; each such span is told.
    ///
    /// There is one document in a file: a second one, or one with another text, is an error. Only a page of ours has
    /// several, and gives a new page of that kind.
    pub fn over(out: W, source: &Source, encoding: Encoding) -> Result<Self, ReadError> {
        let bytes = read_bytes(source)?;
        let decoded = decode_bytes(&source.name(), bytes.clone(), encoding)?;
        if !own::documents(decoded.text(), "", &mut Notices::new()).is_empty() {
            return Ok(Self::new(out, source.name()));
        }
        let mode = Mode::Over {
            decoded: Box::new(decoded),
            bytes,
            done: false,
        };
        Ok(Self { out, mode })
    }
}

impl<W: Write> DocumentWriter for HtmlWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let given = document.given.as_ref();
        let tokens =
            document.annotations.is_empty() && given.is_some_and(|given| given.labelled().next().is_some());
        let document = &*with_marked_tokens(document);
        tell_unwritten(document, "HTML", false, notices);
        match &mut self.mode {
            Mode::Page { documents, .. } => {
                documents.push(Shown {
                    tokens,
                    ..shown(document, notices)
                });
                Ok(())
            }
            Mode::Over { decoded, bytes, done } => {
                if std::mem::replace(done, true) {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        "an HTML file holds one document, and this is the second",
                    ));
                }
                let marked = lay_over(document, decoded, bytes, notices)?;
                self.out.write_all(&marked)
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Mode::Page { title, documents } = &self.mode {
            let annotations: Vec<Vec<render::Annotation<'_>>> = documents
                .iter()
                .map(|document| document.spans.iter().map(rendered).collect())
                .collect();
            let shown: Vec<render::html::Document<'_>> = documents
                .iter()
                .zip(&annotations)
                .map(|(document, annotations)| render::html::Document {
                    heading: &document.id,
                    text: &document.text,
                    annotations,
                    tokens: document.tokens,
                })
                .collect();
            let page = Page {
                title,
                lead: "",
                documents: &shown,
                sections: &[],
            };
            self.out
                .write_all(page.to_html().map_err(io::Error::other)?.as_bytes())?;
        }
        self.out.flush()
    }
}

fn rendered((range, kind, score): &(Range<usize>, String, Option<f64>)) -> render::Annotation<'_> {
    render::Annotation {
        confidence: *score,
        ..render::Annotation::new(range.start, range.end, kind)
    }
}

/// The spans of a document that a page can show.
fn shown(document: &Document, notices: &mut Notices) -> Shown {
    let mut tell = |kind, message: String| notices.add(kind, &document.id, None, message);
    let places = Places::new(&document.text);
    let mut all: Vec<(Range<usize>, &Annotation)> = Vec::new();
    for annotation in &document.annotations {
        if annotation.fragments.len() > 1 {
            let name = places.name(annotation);
            let message = format!("the fragments of {name} are spans of their own");
            tell(NoticeKind::Fragments, message);
        }
        tell_details(annotation, &places, &mut tell);
        all.extend(
            annotation
                .fragments
                .iter()
                .map(|fragment| (fragment.clone(), annotation)),
        );
    }
    let mut spans = Vec::new();
    for (range, annotation) in all {
        if document.text.get(range.clone()).is_none_or(str::is_empty) {
            tell(
                NoticeKind::OutsideText,
                format!(
                    "{} is not inside the text and is left out",
                    places.part_name(annotation, &range)
                ),
            );
        } else {
            let score = annotation.score.filter(|score| (0.0..=1.0).contains(score));
            spans.push((range, annotation.kind.clone(), score));
        }
    }
    Shown {
        id: document.id.clone(),
        text: document.text.clone(),
        spans,
        tokens: false,
    }
}

fn tell_details(annotation: &Annotation, places: &Places<'_>, tell: &mut impl FnMut(NoticeKind, String)) {
    for key in annotation.attributes.keys() {
        let message = format!("the attribute `{key}` of {} is left out", places.name(annotation));
        tell(NoticeKind::Detail, message);
    }
}

/// A fragment of an annotation, and the tag that marks it.
struct Span {
    range: Range<usize>,
    tag: String,
}

fn lay_over(
    document: &Document,
    decoded: &Decoded,
    bytes: &[u8],
    notices: &mut Notices,
) -> io::Result<Vec<u8>> {
    let page = parse(decoded.text());
    if page.document.text != document.text {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("the text of `{}` is not that of {}", document.id, decoded.name()),
        ));
    }
    let spans = spans(document, &page, notices);
    let inserts = inserts(&page, &spans);
    let mut out = Vec::with_capacity(bytes.len() + 64 * inserts.len());
    let mut old = page.tags.into_iter().map(|tag| decoded.place(tag)).peekable();
    let mut at = 0;
    // What is between two tags, without those of earlier marks.
    let mut copy = |out: &mut Vec<u8>, to: usize| {
        while let Some(tag) = old.next_if(|tag| tag.start < to) {
            out.extend_from_slice(&bytes[at..tag.start.max(at)]);
            at = tag.end.max(at);
        }
        out.extend_from_slice(&bytes[at..to.max(at)]);
        at = to.max(at);
    };
    for (place, tag) in inserts {
        copy(&mut out, decoded.place(place..place).start);
        out.extend(encoded(&tag, decoded.encoding()));
    }
    copy(&mut out, bytes.len());
    Ok(out)
}

/// ASCII in the encoding of the file.
fn encoded(ascii: &str, encoding: Encoding) -> Vec<u8> {
    match encoding.to_string().as_str() {
        "UTF-16LE" => ascii.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "UTF-16BE" => ascii.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => ascii.as_bytes().to_vec(),
    }
}

fn spans(document: &Document, page: &Parsed, notices: &mut Notices) -> Vec<Span> {
    let mut spans = Vec::new();
    let places = Places::new(&document.text);
    for (at, annotation) in document.annotations.iter().enumerate() {
        let mut tell = |kind, message: String| notices.add(kind, &document.id, None, message);
        tell_details(annotation, &places, &mut tell);
        for (fragment, range) in annotation.fragments.iter().enumerate() {
            let overlaps = |other: &Range<usize>| other.start < range.end && range.start < other.end;
            if document.text.get(range.clone()).is_none_or(str::is_empty) {
                tell(
                    NoticeKind::OutsideText,
                    format!(
                        "{} is not inside the text and is left out",
                        places.part_name(annotation, range)
                    ),
                );
                continue;
            }
            if page.unmarkable.iter().any(overlaps) {
                let name = places.part_name(annotation, range);
                let message = format!("{name} stands where HTML allows no tag");
                tell(NoticeKind::Skipped, message);
            }
            spans.push(Span {
                range: range.clone(),
                tag: tag(annotation, at, fragment),
            });
        }
    }
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    spans
}

/// A tag in ASCII, so that it means the same in any encoding.
fn tag(annotation: &Annotation, at: usize, fragment: usize) -> String {
    let mut tag = format!("<mark data-span=\"{at}.{fragment}\"");
    let mut put = |key: &str, value: &str| {
        tag.push_str(&format!(" {key}=\""));
        for c in Escaped(value).to_string().chars() {
            match c.is_ascii() {
                true => tag.push(c),
                false => tag.push_str(&format!("&#{};", u32::from(c))),
            }
        }
        tag.push('"');
    };
    put("data-kind", &annotation.kind);
    put("title", &annotation.kind);
    if !annotation.id.is_empty() {
        put("data-id", &annotation.id);
    }
    if let Some(score) = annotation.score {
        put("data-score", &score.to_string());
    }
    if !annotation.identifiers.is_empty() {
        put("data-identifiers", &annotation.identifiers.join(" "));
    }
    tag.push('>');
    tag
}

/// What is to be put where in the file, in order: around each stretch of text, cut at the borders of spans, the
/// tags of the spans that cover it. So tags always nest, whatever spans and markup do.
fn inserts(page: &Parsed, spans: &[Span]) -> Vec<(usize, String)> {
    let mut inserts = Vec::new();
    let mut active: Vec<&Span> = Vec::new();
    let mut next = 0;
    let markable = |range: &Range<usize>| {
        let inside = |other: &Range<usize>| other.start < range.end && range.start < other.end;
        !page.unmarkable.iter().any(inside)
    };
    for element in page
        .document
        .elements
        .iter()
        .filter(|element| element.kind == "text")
    {
        let (range, Some(Place::Bytes(place))) = (&element.range, &element.place) else {
            continue;
        };
        while let Some(span) = spans.get(next).filter(|span| span.range.start < range.end) {
            active.push(span);
            next += 1;
        }
        active.retain(|span| span.range.end > range.start);
        if active.is_empty() || !markable(range) {
            continue;
        }
        let is_same = range.len() == place.len();
        let mut cuts = vec![range.start, range.end];
        if is_same {
            let borders = active.iter().flat_map(|span| [span.range.start, span.range.end]);
            cuts.extend(borders.filter(|at| range.contains(at)));
        }
        cuts.sort_unstable();
        cuts.dedup();
        for piece in cuts.windows(2) {
            let covers = |span: &&&Span| span.range.start < piece[1] && span.range.end > piece[0];
            let covering: Vec<&&Span> = active.iter().filter(covers).collect();
            if covering.is_empty() {
                continue;
            }
            let from = |at: usize| match is_same {
                true => place.start + (at - range.start),
                false if at == range.start => place.start,
                false => place.end,
            };
            let open: String = covering.iter().map(|span| span.tag.as_str()).collect();
            inserts.push((from(piece[0]), open));
            inserts.push((from(piece[1]), "</mark>".repeat(covering.len())));
        }
    }
    inserts
}
