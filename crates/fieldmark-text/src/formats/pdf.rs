//! PDF files with text in them.
//!
//! The text comes in reading order: columns one after the other, words that were cut at the end of a line whole
//! again, a paragraph on a line of its own, without what repeats at the top and bottom of pages (headers,
//! footers, page numbers: each is told). Elements: `page`, `title`, `heading`, `paragraph` and `line`, each with
//! its rectangle on a page, in points from the lower left corner of the page as it is shown. Headings are lines
//! in larger or bolder print than the text, and lines that say `Introduction`, `Methods` and the like.
//!
//! A PDF file says where glyphs stand and not what they are part of, so all of this is conjecture. What it does
//! not do:
//!
//! - Scanned pages have no text; text recognition is another program's work. A file without text is told.
//! - Encrypted files are read only if the empty password opens them.
//! - Fonts that do not say what their codes mean (no `ToUnicode`, glyphs with names of their own) give no text
//!   or wrong text; lost glyphs are counted and told. Predefined CJK encodings other than `UniGB` are unknown.
//! - Vertical and turned text is left out and told. Text that runs from right to left comes in the order in
//!   which it is shown.
//! - Tables come row by row with blanks between cells; captions and footnotes are paragraphs, where they stand
//!   on the page. Formulas come as their glyphs.
//! - A compound that was cut at its own hyphen loses it: `gene-` + `specific` becomes `genespecific`.
//!
//! [`PdfWriter`] copies the file and highlights annotations in it.

mod flow;
mod font;
mod glyphs;
mod lines;
mod write;

pub use write::PdfWriter;

use super::encoding::read_bytes;
use super::text::file_name;
use super::{DocumentReader, NoticeKind, Notices};
use crate::document::Document;
use crate::error::{ErrorKind, ReadError};
use crate::source::Source;
use flow::{Laid, drop_running_heads, lay_out};
use glyphs::{Fonts, read_page};
use lines::{Line, lines};
use std::collections::{BTreeMap, BTreeSet};

/// The most that a compressed stream of a file may hold.
const LARGEST_STREAM: usize = 1 << 28;

/// Reads a PDF file, which is one document, named after the file.
///
/// ```no_run
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, Notices};
/// use fieldmark_text::formats::pdf::PdfReader;
/// let mut reader = PdfReader::new(&Source::from_argument("article.pdf"))?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// for heading in document.elements.iter().filter(|element| element.kind == "heading") {
///     println!("{}", &document.text[heading.range.clone()]);
/// }
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Debug)]
pub struct PdfReader {
    document: Option<Document>,
    problems: Problems,
    id: String,
}

impl PdfReader {
    /// Reads a source.
    pub fn new(source: &Source) -> Result<Self, ReadError> {
        let pdf = load(&source.name(), &read_bytes(source)?)?;
        let mut problems = Problems::default();
        let mut document = read(&pdf, &mut problems).document;
        let id = file_name(source);
        document.id = id.clone();
        Ok(Self {
            document: Some(document),
            problems,
            id,
        })
    }
}

impl DocumentReader for PdfReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        let document = self.document.take();
        if document.is_some() {
            self.problems.tell(&self.id, notices);
        }
        Ok(document)
    }
}

fn load(name: &str, bytes: &[u8]) -> Result<lopdf::Document, ReadError> {
    let fail = |message: String| ReadError::new(name, ErrorKind::Pdf { message });
    let head = &bytes[..bytes.len().min(1024)];
    if memchr::memmem::find(head, b"%PDF-").is_none() {
        return Err(fail(
            "it does not begin with `%PDF-`. Is it a PDF file?".to_owned(),
        ));
    }
    let options = lopdf::LoadOptions::with_max_decompressed_size(LARGEST_STREAM);
    let pdf =
        lopdf::Document::load_mem_with_options(bytes, options).map_err(|error| fail(error.to_string()))?;
    if pdf.is_encrypted() {
        return Err(fail("it is encrypted. Save a copy without password".to_owned()));
    }
    if pdf.page_iter().next().is_none() {
        return Err(fail("it has no pages. Is the file complete?".to_owned()));
    }
    Ok(pdf)
}

fn read(pdf: &lopdf::Document, problems: &mut Problems) -> Laid {
    let mut fonts = Fonts::new();
    let mut sizes = Vec::new();
    let mut pages: Vec<(f32, Vec<Line>)> = Vec::new();
    for (at, page) in pdf.page_iter().enumerate() {
        let page = read_page(pdf, page, &mut fonts, problems);
        let (width, height) = (page.width, page.height);
        let lines = lines(page, at as u32 + 1);
        problems.empty_pages += usize::from(lines.is_empty());
        sizes.push(width);
        pages.push((height, lines));
    }
    drop_running_heads(&mut pages, problems);
    let pages: Vec<(f32, f32, Vec<Line>)> = pages
        .into_iter()
        .zip(sizes)
        .map(|((height, lines), width)| (height, width, lines))
        .collect();
    lay_out(&pages)
}

/// What could not be read as it is.
#[derive(Debug, Default)]
struct Problems {
    cut_pages: usize,
    empty_pages: usize,
    images: usize,
    lost_glyphs: usize,
    turned_glyphs: usize,
    mute_fonts: BTreeSet<String>,
    running_heads: BTreeMap<String, usize>,
}

impl Problems {
    fn tell(&self, id: &str, notices: &mut Notices) {
        let mut tell = |kind, message: String| notices.add(kind, id, None, message);
        if self.cut_pages > 0 {
            let message = format!(
                "{} content stream(s) are damaged or too large and not read to their end",
                self.cut_pages
            );
            tell(NoticeKind::Skipped, message);
        }
        if self.empty_pages > 0 {
            let images = if self.images > 0 {
                ", but images: are they scans?"
            } else {
                ""
            };
            tell(
                NoticeKind::Skipped,
                format!("{} page(s) have no text{images}", self.empty_pages),
            );
        }
        if !self.mute_fonts.is_empty() {
            let names: Vec<&str> = self.mute_fonts.iter().map(String::as_str).collect();
            let message = format!(
                "nothing says what the codes of these fonts mean: {}",
                names.join(", ")
            );
            tell(NoticeKind::Encoding, message);
        }
        if self.lost_glyphs > 0 {
            let message = format!(
                "{} glyphs have no known meaning and are left out",
                self.lost_glyphs
            );
            tell(NoticeKind::Encoding, message);
        }
        if self.turned_glyphs > 0 {
            let message = format!("{} glyphs of turned text are left out", self.turned_glyphs);
            tell(NoticeKind::Skipped, message);
        }
        for (text, count) in &self.running_heads {
            let message = format!("`{text}` stands at the edge of {count} pages and is left out");
            tell(NoticeKind::Skipped, message);
        }
    }
}

#[cfg(test)]
mod tests;
