//! [`WriteOptions`]: a writer of any format.

use super::encoding::Encoding;
use super::text::{Layout, TextWriter};
use super::{
    BiocWriter, BratDirectory, CellSeparator, ColumnWriter, ColumnWriterOptions, ConlluWriter,
    ConlluWriterOptions, DocumentFormat, DocumentWriter, Flavour, GeneMentionWriter, JsonlWriter,
    JsonlWriterOptions, Misfit, Notices, PubTatorWriter, TableWriter, TableWriterOptions, html, inline_xml,
    jats, medline, mention_files, pubmed,
};
use crate::document::Document;
use crate::error::ReadError;
use crate::output::OutputFile;
use crate::sentences::SentenceSplitter;
use crate::source::Source;
use crate::tokenize::Tokenizer;
use fieldmark_core::Scheme;
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

/// How documents are written. What a format has no use for, it ignores.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// How spans become labels, in columns.
    pub scheme: Scheme,
    /// Names of label columns: as many spans as there are names can lie on one token.
    pub labels: Vec<String>,
    /// What to do with spans that begin or end inside a token.
    pub misfit: Misfit,
    /// Sentences of documents that come without tokens.
    pub sentences: SentenceSplitter,
    /// Tokens of documents that come without tokens.
    pub tokenizer: Tokenizer,
    /// The title of an HTML page.
    pub title: String,
    /// The format of the source, if it is known: over a page of HTML, marks are laid in the page itself.
    pub source_format: Option<DocumentFormat>,
    /// The encoding of that page; without it, it is detected.
    pub encoding: Encoding,
}

impl Default for WriteOptions {
    fn default() -> Self {
        let columns = ColumnWriterOptions::default();
        Self {
            scheme: columns.scheme,
            labels: columns.labels,
            misfit: columns.misfit,
            sentences: columns.sentences,
            tokenizer: columns.tokenizer,
            title: "Annotations".to_owned(),
            source_format: None,
            encoding: Encoding::DETECT,
        }
    }
}

/// Where documents are written to.
#[derive(Debug)]
pub enum Target<'a, W> {
    /// A stream.
    Stream(W),
    /// A file, or for brat a directory. What is there stays as it is until the writer has finished. A file whose name
    /// ends with `.gz` or `.zst` is compressed.
    Path(&'a Path),
}

/// A file that a writer fills and that gets its name when the writer has finished.
#[derive(Clone)]
struct SharedFile(Rc<RefCell<OutputFile>>);

impl SharedFile {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(Rc::new(RefCell::new(OutputFile::create(path)?))))
    }
}

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// A writer of files that get their names when it has finished; if it does not, they never were.
struct WholeFiles<'a> {
    writer: Box<dyn DocumentWriter + 'a>,
    files: Vec<SharedFile>,
}

impl DocumentWriter for WholeFiles<'_> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        self.writer.write(document, notices)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.finish()?;
        self.files
            .iter()
            .try_for_each(|file| file.0.borrow_mut().commit())
    }
}

/// A source that cannot be read again is no mistake of the writer.
fn unread(error: ReadError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
}

fn refuse<T>(problem: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem.to_owned()))
}

impl WriteOptions {
    /// A writer of a format. `source` is what the documents were read from, and is read again: a PDF file can only be
    /// copied, and a page of HTML (see [`WriteOptions::source_format`]) is. Other sources of HTML give a page of texts.
    pub fn create<'a, W: Write + 'a>(
        &self,
        format: DocumentFormat,
        target: Target<'_, W>,
        source: Option<&Source>,
    ) -> io::Result<Box<dyn DocumentWriter + 'a>> {
        match (format, target) {
            (DocumentFormat::Brat, Target::Path(directory)) => Ok(Box::new(BratDirectory::new(directory)?)),
            (DocumentFormat::GeneMention, Target::Path(path)) => {
                let [genes, alternatives] = mention_files(path);
                let files = [
                    SharedFile::create(path)?,
                    SharedFile::create(&genes)?,
                    SharedFile::create(&alternatives)?,
                ];
                let [sentences, genes, alternatives] = files.clone();
                Ok(Box::new(WholeFiles {
                    writer: Box::new(GeneMentionWriter::new(sentences, genes, alternatives)),
                    files: files.into(),
                }))
            }
            (_, Target::Stream(out)) => self.stream(format, out, source),
            (_, Target::Path(path)) => {
                let file = SharedFile::create(path)?;
                Ok(Box::new(WholeFiles {
                    writer: self.stream(format, file.clone(), source)?,
                    files: vec![file],
                }))
            }
        }
    }

    /// A writer of a format that is one stream.
    fn stream<'a, W: Write + 'a>(
        &self,
        format: DocumentFormat,
        out: W,
        source: Option<&Source>,
    ) -> io::Result<Box<dyn DocumentWriter + 'a>> {
        Ok(match format {
            DocumentFormat::Text => Box::new(TextWriter::new(out, Layout::Whole)),
            DocumentFormat::Medline => Box::new(medline::MedlineWriter::new(out)),
            DocumentFormat::Pubmed => Box::new(pubmed::PubmedWriter::new(out)),
            DocumentFormat::Jats => Box::new(jats::JatsWriter::new(out)),
            DocumentFormat::Html => match source.filter(|_| self.source_format == Some(DocumentFormat::Html))
            {
                Some(source) => Box::new(html::HtmlWriter::over(out, source, self.encoding).map_err(unread)?),
                None => Box::new(html::HtmlWriter::new(out, self.title.clone())),
            },
            DocumentFormat::Pdf => match source {
                Some(source) => pdf(out, source)?,
                None => return refuse("a PDF file can only be written as a copy of the one that was read"),
            },
            DocumentFormat::InlineXml => Box::new(inline_xml::InlineXmlWriter::new(
                out,
                inline_xml::InlineXmlOptions::default(),
            )),
            DocumentFormat::Columns => Box::new(ColumnWriter::new(
                out,
                ColumnWriterOptions {
                    separator: CellSeparator::Tab,
                    labels: self.labels.clone(),
                    scheme: self.scheme,
                    misfit: self.misfit,
                    sentences: self.sentences.clone(),
                    tokenizer: self.tokenizer.clone(),
                    ..ColumnWriterOptions::default()
                },
            )),
            DocumentFormat::Conllu => Box::new(ConlluWriter::new(
                out,
                ConlluWriterOptions {
                    sentences: self.sentences.clone(),
                    tokenizer: self.tokenizer.clone(),
                    ..ConlluWriterOptions::default()
                },
            )),
            DocumentFormat::Jsonl => self.jsonl(out, Flavour::Fieldmark),
            DocumentFormat::Doccano => self.jsonl(out, Flavour::Doccano),
            DocumentFormat::Spacy => self.jsonl(out, Flavour::Spacy),
            DocumentFormat::Prodigy => self.jsonl(out, Flavour::Prodigy),
            DocumentFormat::HuggingFace => self.jsonl(out, Flavour::HuggingFace),
            DocumentFormat::Bioc => Box::new(BiocWriter::new(out)),
            DocumentFormat::Csv => Box::new(TableWriter::new(out, TableWriterOptions::default())),
            DocumentFormat::Tsv => Box::new(TableWriter::new(
                out,
                TableWriterOptions {
                    delimiter: b'\t',
                    ..TableWriterOptions::default()
                },
            )),
            DocumentFormat::PubTator => Box::new(PubTatorWriter::new(out)),
            DocumentFormat::Brat | DocumentFormat::GeneMention => {
                return refuse("this format has more than one file: give the name of an output");
            }
        })
    }

    fn jsonl<'a, W: Write + 'a>(&self, out: W, flavour: Flavour) -> Box<dyn DocumentWriter + 'a> {
        let options = JsonlWriterOptions {
            flavour,
            misfit: self.misfit,
            sentences: self.sentences.clone(),
            tokenizer: self.tokenizer.clone(),
        };
        Box::new(JsonlWriter::new(out, options))
    }
}

#[cfg(feature = "pdf")]
fn pdf<'a>(out: impl Write + 'a, source: &Source) -> io::Result<Box<dyn DocumentWriter + 'a>> {
    let bytes = super::encoding::read_bytes(source);
    let bytes = bytes.map_err(unread)?;
    // Some programs write a few bytes of their own first.
    let head = &bytes[..bytes.len().min(1024)];
    if memchr::memmem::find(head, b"%PDF-").is_none() {
        return refuse(&format!(
            "PDF is written by marking the file that was read, but {} is no PDF file. To look at annotations, write html",
            source.name()
        ));
    }
    let writer = super::pdf::PdfWriter::over(out, source);
    Ok(Box::new(writer.map_err(unread)?))
}

#[cfg(not(feature = "pdf"))]
fn pdf<'a>(_: impl Write + 'a, _: &Source) -> io::Result<Box<dyn DocumentWriter + 'a>> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this program was built without PDF",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Annotation, Document};
    use crate::formats::{Notices, ReadOptions};

    #[test]
    fn what_a_stream_was_given_is_read_back_in_its_format() {
        let mut document = Document::new("1", "Give iron now.");
        document.annotations.push(Annotation::new(5..9, "DRUG"));
        for &format in DocumentFormat::ALL {
            let mut bytes = Vec::new();
            let created = WriteOptions::default().create(format, Target::Stream(&mut bytes), None);
            let mut writer = match (created, format) {
                (Ok(writer), _) => writer,
                (Err(_), DocumentFormat::Brat | DocumentFormat::GeneMention | DocumentFormat::Pdf) => {
                    continue;
                }
                (Err(error), _) => panic!("{format}: {error}"),
            };
            writer.write(&document, &mut Notices::new()).unwrap();
            writer.finish().unwrap();
            drop(writer);
            let source = Source::Memory {
                name: "written".to_owned(),
                bytes,
            };
            let options = ReadOptions {
                format: Some(format),
                ..ReadOptions::default()
            };
            let read = options
                .open(&source)
                .unwrap()
                .next(&mut Notices::new())
                .unwrap()
                .unwrap();
            assert!(read.text.contains("iron"), "{format}: {:?}", read.text);
        }
    }
}
