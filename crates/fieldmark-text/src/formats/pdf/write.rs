//! Writing PDF: a copy of the file with highlights.

use super::flow::TextBox;
use super::glyphs::frame_of;
use super::{Problems, load, read};
use crate::document::{Annotation, Document};
use crate::error::ReadError;
use crate::formats::encoding::read_bytes;
use crate::formats::losses::{Places, with_marked_tokens};
use crate::formats::{DocumentWriter, NoticeKind, Notices, tell_unwritten};
use crate::source::Source;
use lopdf::{Dictionary, Object, ObjectId};
use std::io::{self, Write};
use std::ops::Range;

/// Copies the PDF file that a document was read from, with a highlight over each annotation, whose note is its
/// type and score.
///
/// There is one document in a file: a second one, or one with another text, is an error.
pub struct PdfWriter<W> {
    out: W,
    pdf: Option<lopdf::Document>,
}

impl<W: Write> PdfWriter<W> {
    /// Writes to `out` a copy of `source`.
    pub fn over(out: W, source: &Source) -> Result<Self, ReadError> {
        let pdf = load(&source.name(), &read_bytes(source)?)?;
        Ok(Self { out, pdf: Some(pdf) })
    }
}

impl<W: Write> DocumentWriter for PdfWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidInput, message);
        let Some(mut pdf) = self.pdf.take() else {
            return Err(invalid(
                "a PDF file holds one document, and this is the second".to_owned(),
            ));
        };
        let laid = read(&pdf, &mut Problems::default());
        if laid.document.text != document.text {
            return Err(invalid(format!(
                "the text of `{}` is not that of the PDF file",
                document.id
            )));
        }
        let document = &*with_marked_tokens(document);
        tell_unwritten(document, "PDF", false, notices);
        let pages: Vec<ObjectId> = pdf.page_iter().collect();
        let places = Places::new(&document.text);
        for annotation in &document.annotations {
            tell_details(document, &places, annotation, notices);
            let boxes = boxes(annotation, &laid.boxes);
            if boxes.is_empty() {
                let name = places.name(annotation);
                let message = format!("{name} is not inside the text and is left out");
                notices.add(NoticeKind::OutsideText, &document.id, None, message);
            }
            for group in boxes.chunk_by(|a, b| a.page == b.page) {
                if let Some(&page) = pages.get(group[0].page as usize - 1) {
                    let highlight = highlight(&pdf, page, annotation, group);
                    add(&mut pdf, page, highlight).map_err(io::Error::other)?;
                }
            }
        }
        let mut bytes = Vec::new();
        pdf.save_to(&mut bytes)?;
        self.out.write_all(&bytes)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn tell_details(document: &Document, places: &Places<'_>, annotation: &Annotation, notices: &mut Notices) {
    let kept = annotation.attributes.is_empty() && annotation.identifiers.is_empty();
    if !kept {
        let name = places.name(annotation);
        let message = format!("the attributes and identifiers of {name} are left out");
        notices.add(NoticeKind::Detail, &document.id, None, message);
    }
}

/// The rectangles of an annotation: one for each line that it touches.
fn boxes(annotation: &Annotation, glyphs: &[TextBox]) -> Vec<TextBox> {
    let mut found: Vec<TextBox> = Vec::new();
    for Range { start, end } in annotation.fragments.iter().cloned() {
        let first = glyphs.partition_point(|glyph| glyph.range.end <= start);
        for glyph in glyphs[first..].iter().take_while(|glyph| glyph.range.start < end) {
            match found.last_mut() {
                Some(last)
                    if (last.page, last.bottom, last.top) == (glyph.page, glyph.bottom, glyph.top)
                        && last.range.end + 1 >= glyph.range.start =>
                {
                    last.range.end = glyph.range.end;
                    last.right = last.right.max(glyph.right);
                    last.left = last.left.min(glyph.left);
                }
                _ => found.push(glyph.clone()),
            }
        }
    }
    found
}

fn highlight(
    pdf: &lopdf::Document,
    page: ObjectId,
    annotation: &Annotation,
    boxes: &[TextBox],
) -> Dictionary {
    let to_page = frame_of(pdf, page);
    let mut quads = Vec::new();
    let mut edges = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
    for TextBox {
        left,
        bottom,
        right,
        top,
        ..
    } in boxes
    {
        // Upper left, upper right, lower left, lower right.
        for (x, y) in [(left, top), (right, top), (left, bottom), (right, bottom)] {
            let (x, y) = to_page(*x, *y);
            edges = [edges[0].min(x), edges[1].min(y), edges[2].max(x), edges[3].max(y)];
            quads.extend([Object::Real(x), Object::Real(y)]);
        }
    }
    let note = match annotation.score {
        Some(score) => format!("{} ({score:.3})", annotation.kind),
        None => annotation.kind.clone(),
    };
    let mut dict = Dictionary::new();
    dict.set("Type", Object::Name(b"Annot".to_vec()));
    dict.set("Subtype", Object::Name(b"Highlight".to_vec()));
    dict.set(
        "Rect",
        Object::Array(edges.into_iter().map(Object::Real).collect()),
    );
    dict.set("QuadPoints", Object::Array(quads));
    dict.set(
        "C",
        Object::Array([1.0, 0.9, 0.3].into_iter().map(Object::Real).collect()),
    );
    dict.set("F", Object::Integer(4));
    dict.set("Contents", lopdf::text_string(&note));
    dict.set("T", lopdf::text_string("fieldmark"));
    if !annotation.id.is_empty() {
        dict.set("NM", lopdf::text_string(&annotation.id));
    }
    dict
}

/// Adds to what a page is annotated with.
fn add(pdf: &mut lopdf::Document, page: ObjectId, annotation: Dictionary) -> lopdf::Result<()> {
    let dict = pdf.get_dictionary(page)?;
    let present = dict.get_deref(b"Annots", pdf).and_then(Object::as_array);
    let mut annotations = present.cloned().unwrap_or_default();
    let id = pdf.add_object(Object::Dictionary(annotation));
    annotations.push(Object::Reference(id));
    pdf.get_dictionary_mut(page)?
        .set("Annots", Object::Array(annotations));
    Ok(())
}
