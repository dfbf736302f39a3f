//! Marking documents with a pipeline: any format in, any format out.

use super::Arguments;
use crate::console::Console;
use crate::documents;
use crate::failure::Failure;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{
    DocumentFormat, DocumentReader, DocumentWriter, Notices, ReadOptions, Target, WriteOptions,
};
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
    /// finds no spans: its table has a line for each token. Formats show its labels as they can: columns in the label
    /// column, CoNLL-U in the column of that name, HTML under the words, jsonl with each token; what a format has no
    /// place for is told.
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,

    /// File, or directory of brat, to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl DocumentOptions {
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
const TOKENS_HEADER: &str = "document\tstart\tend\tlabel\tconfidence\ttext\n";

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
        let sources: Vec<Source> = files.iter().map(Source::from_argument).collect();
        let mut notices = Notices::new();
        let mut output = self.writer(pipeline, sources.first())?;
        let mut annotators: Vec<Option<Annotator<'_>>> = Vec::new();
        annotators.resize_with(rayon::current_num_threads(), || None);
        for source in &sources {
            let mut reader = self.reader(&read, source)?;
            loop {
                let mut group: Vec<Document> = Vec::with_capacity(GROUP);
                while group.len() < GROUP {
                    match reader.next(&mut notices)? {
                        Some(document) => group.push(document),
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

    fn reader(&self, read: &ReadOptions, source: &Source) -> Result<Box<dyn DocumentReader>, Failure> {
        let known = match source {
            Source::File(path) => DocumentFormat::by_name(path).is_some(),
            _ => true,
        };
        let text = ReadOptions {
            format: Some(DocumentFormat::Text),
            ..read.clone()
        };
        // A name that tells nothing is taken for text, as it mostly is.
        Ok(if known || read.format.is_some() {
            read.open(source)?
        } else {
            text.open(source)?
        })
    }

    fn writer<'a>(
        &'a self,
        pipeline: &Pipeline,
        source: Option<&Source>,
    ) -> Result<Box<dyn DocumentWriter + 'a>, Failure> {
        let path = self
            .documents
            .output
            .as_deref()
            .filter(|path| *path != Path::new("-"));
        let out = || -> Result<Box<dyn Write>, Failure> {
            Ok(match path {
                Some(path) => {
                    let file = std::fs::File::create(path).map_err(|error| Failure::writing(path, error))?;
                    Box::new(io::BufWriter::new(file))
                }
                None => Box::new(io::BufWriter::new(io::stdout())),
            })
        };
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
            let mut out = out()?;
            if pipeline.config().labels.column.is_some() {
                out.write_all(TOKENS_HEADER.as_bytes())?;
                return Ok(Box::new(TokenTable { out }));
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
        match (error.kind(), &self.documents.output) {
            (io::ErrorKind::BrokenPipe, _) => Failure::ClosedPipe,
            (_, Some(path)) => Failure::writing(path, error),
            (_, None) => Failure::user(format_args!("cannot write: {error}")),
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

/// Writes a line for each span. Start and end count characters.
struct SpanTable {
    out: Box<dyn Write>,
}

impl DocumentWriter for SpanTable {
    fn write(&mut self, document: &Document, _: &mut Notices) -> io::Result<()> {
        let offsets = Offsets::new(&document.text, Unit::Characters);
        for annotation in &document.annotations {
            let range = annotation.range();
            let count = |byte| offsets.count(byte).unwrap_or_default();
            let score = confidence(annotation.score);
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
        self.out.flush()
    }
}

/// Writes a line for each token, with its label. Start and end count characters.
struct TokenTable {
    out: Box<dyn Write>,
}

impl DocumentWriter for TokenTable {
    fn write(&mut self, document: &Document, _: &mut Notices) -> io::Result<()> {
        let Some(given) = &document.given else {
            return Ok(());
        };
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let id = plain(&document.id);
        for (token, label) in given.labelled() {
            let [start, end] =
                [token.range.start, token.range.end].map(|byte| offsets.count(byte).unwrap_or_default());
            let text = document.text.get(token.range.clone()).unwrap_or_default();
            let (label, text) = (plain(label), plain(text));
            let score = confidence(token.score);
            writeln!(self.out, "{id}\t{start}\t{end}\t{label}\t{score}\t{text}")?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn confidence(score: Option<f64>) -> String {
    score.map_or_else(|| "-".to_owned(), |score| format!("{score:.4}"))
}

/// A cell that breaks no table.
fn plain(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}
