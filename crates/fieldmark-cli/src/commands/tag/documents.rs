//! Marking documents with a pipeline: any format in, any format out.

use super::Arguments;
use crate::console::Console;
use crate::documents;
use crate::failure::Failure;
use fieldmark::core::container::AtomicFile;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{DocumentFormat, DocumentWriter, Notices, ReadOptions, Target, WriteOptions};
use fieldmark::text::offsets::{Offsets, Unit};
use fieldmark::text::sentences::SentenceSplitter;
use fieldmark::text::tokenize::Tokenizer;
use fieldmark::{Annotator, Error, Pipeline};
use rayon::prelude::*;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How documents are read and written.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of models that read text")]
pub struct DocumentOptions {
    /// Format to write: `spans` is a table of what was found; others as in `fieldmark convert` [default: spans]
    ///
    /// A model that gives every token a label (one with `column` in its section `labels`, such as the recipe pos)
    /// finds no spans: its table has a line for each token.
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,

    /// File, or directory of brat, to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl DocumentOptions {
    /// The file to write, if it is not standard output.
    pub fn output(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// The files to write.
    pub fn written_files(&self) -> Vec<PathBuf> {
        let format = self.to.as_deref().and_then(|name| name.parse().ok());
        let files = |path: &Path| match format.or_else(|| DocumentFormat::by_name(path)) {
            Some(format) => DocumentFormat::files(format, path),
            None => vec![path.to_owned()],
        };
        self.output().map(files).unwrap_or_default()
    }

    /// The options that were given, by name.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [("to", self.to.is_some()), ("output", self.output.is_some())];
        given
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| name)
    }
}

/// The first line of the table of spans.
const SPANS_HEADER: &str = "document\tstart\tend\ttype\tconfidence\tidentifiers\ttext\n";

/// The first line of the table of tokens.
const TOKENS_HEADER: &str = "document\tstart\tend\tlabel\ttext\n";

/// Documents that are marked together, one after the other on each thread.
const GROUP: usize = 256;

impl Arguments {
    /// Marks documents.
    pub(super) fn tag_documents(
        &self,
        pipeline: &Pipeline,
        files: &[PathBuf],
        console: &Console,
    ) -> Result<(), Failure> {
        let format = self
            .format
            .as_deref()
            .map(str::parse::<DocumentFormat>)
            .transpose()
            .map_err(Failure::user)?;
        let mut read = ReadOptions {
            format,
            ..pipeline.config().data.read.clone()
        };
        if format.is_none() {
            // A model that was trained on columns can read text: the name of the file tells.
            read.format = None;
        }
        documents::tell_mentions(files, Path::new(""), &read, console);
        let sources: Vec<Source> = files.iter().map(Source::from_argument).collect();
        let mut notices = Notices::new();
        let mut output = self.writer(pipeline, sources.first())?;
        let mut annotators: Vec<Option<Annotator<'_>>> = Vec::new();
        annotators.resize_with(rayon::current_num_threads(), || None);
        let names = documents::Names::new(files);
        for (source, file) in sources.iter().zip(files) {
            // A name that tells nothing is taken for text, as it mostly is.
            let mut reader = read.open_or(source, Some(DocumentFormat::Text))?;
            loop {
                let mut group: Vec<Document> = Vec::with_capacity(GROUP);
                while group.len() < GROUP {
                    match reader.next(&mut notices)? {
                        Some(mut document) => {
                            names.tell_apart(file, &mut document);
                            group.push(document);
                        }
                        None => break,
                    }
                }
                if group.is_empty() {
                    break;
                }
                mark(pipeline, &mut annotators, &mut group)?;
                for document in &group {
                    output
                        .write(document, &mut notices)
                        .map_err(|error| self.unwritten(error))?;
                }
            }
        }
        output.finish().map_err(|error| self.unwritten(error))?;
        drop(output);
        documents::tell(&notices, console);
        Ok(())
    }

    fn writer<'a>(
        &'a self,
        pipeline: &Pipeline,
        source: Option<&Source>,
    ) -> Result<Box<dyn DocumentWriter + 'a>, Failure> {
        let path = self.documents.output();
        let named = path.and_then(DocumentFormat::by_name);
        let format = match self.documents.to.as_deref() {
            Some("spans") => None,
            Some(name) => Some(
                name.parse::<DocumentFormat>()
                    .map_err(|error| Failure::user(format_args!("--to: {error}, and spans")))?,
            ),
            None => named,
        };
        let Some(format) = format else {
            let mut out = Output::create(path).map_err(|error| self.unwritten(error))?;
            if let Some(column) = &pipeline.config().labels.column {
                out.write_all(TOKENS_HEADER.as_bytes())?;
                let column = column.clone();
                return Ok(Box::new(TokenTable { out, column }));
            }
            out.write_all(SPANS_HEADER.as_bytes())?;
            return Ok(Box::new(SpanTable { out }));
        };
        let text = &pipeline.config().text;
        let options = WriteOptions {
            scheme: pipeline.config().labels.scheme.into(),
            sentences: SentenceSplitter::new(text.sentences.clone()),
            tokenizer: Tokenizer::new(text.tokenizer.clone()),
            title: pipeline.card.name.clone(),
            ..WriteOptions::default()
        };
        let target = match path {
            Some(path) => Target::Path(path),
            None => Target::Stream(io::BufWriter::new(io::stdout())),
        };
        options
            .create(format, target, source)
            .map_err(|error| self.unwritten(error))
    }

    fn unwritten(&self, error: io::Error) -> Failure {
        match (error.kind(), self.documents.output()) {
            (io::ErrorKind::BrokenPipe, _) => Failure::ClosedPipe,
            (_, Some(path)) => Failure::writing(path, error),
            // What is asked for cannot be written there.
            (io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported, None) => {
                Failure::user(format_args!("cannot write: {error}"))
            }
            (_, None) => error.into(),
        }
    }
}

/// Marks the documents of a group, each thread its share.
fn mark<'p>(
    pipeline: &'p Pipeline,
    annotators: &mut [Option<Annotator<'p>>],
    group: &mut [Document],
) -> Result<(), Error> {
    let share = group.len().div_ceil(annotators.len()).max(1);
    group
        .par_chunks_mut(share)
        .zip(annotators.par_iter_mut())
        .try_for_each(|(documents, annotator)| {
            let annotator = annotator.get_or_insert_with(|| pipeline.annotator());
            documents
                .iter_mut()
                .try_for_each(|document| annotator.annotate(document))
        })
}

/// Where a table goes.
enum Output {
    Standard(io::BufWriter<io::Stdout>),
    /// What is there stays as it is until the table is complete.
    File(AtomicFile),
}

impl Output {
    fn create(path: Option<&Path>) -> io::Result<Self> {
        match path {
            Some(path) => AtomicFile::create(path).map(Output::File),
            None => Ok(Output::Standard(io::BufWriter::new(io::stdout()))),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(file) => file.commit(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Standard(out) => out.write(bytes),
            Output::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(file) => file.flush(),
        }
    }
}

/// Writes a line for each span. Start and end count characters.
struct SpanTable {
    out: Output,
}

impl DocumentWriter for SpanTable {
    fn write(&mut self, document: &Document, _: &mut Notices) -> io::Result<()> {
        let offsets = Offsets::new(&document.text, Unit::Characters);
        for annotation in &document.annotations {
            let range = annotation.range();
            let count = |byte| offsets.count(byte).unwrap_or_default();
            let score = annotation
                .score
                .map_or_else(|| "-".to_owned(), |score| format!("{score:.4}"));
            let identifiers = if annotation.identifiers.is_empty() {
                "-".to_owned()
            } else {
                annotation.identifiers.join(",")
            };
            let (start, end) = (count(range.start), count(range.end));
            let (id, kind, text) = (
                plain(&document.id),
                plain(&annotation.kind),
                plain(annotation.text(&document.text)),
            );
            writeln!(
                self.out,
                "{id}\t{start}\t{end}\t{kind}\t{score}\t{identifiers}\t{text}"
            )?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.finish()
    }
}

/// Writes a line for each token, with its cell in a column. Start and end count characters.
struct TokenTable {
    out: Output,
    column: String,
}

impl DocumentWriter for TokenTable {
    fn write(&mut self, document: &Document, _: &mut Notices) -> io::Result<()> {
        let Some(given) = &document.given else {
            return Ok(());
        };
        let column = given.columns.iter().position(|name| *name == self.column);
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let id = plain(&document.id);
        for token in given.sentences.iter().flatten() {
            let [start, end] =
                [token.range.start, token.range.end].map(|byte| offsets.count(byte).unwrap_or_default());
            let label = column
                .and_then(|column| token.columns.get(column))
                .map_or("-", String::as_str);
            let text = document.text.get(token.range.clone()).unwrap_or_default();
            let (label, text) = (plain(label), plain(text));
            writeln!(self.out, "{id}\t{start}\t{end}\t{label}\t{text}")?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.finish()
    }
}

/// A cell that breaks no table.
fn plain(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}
