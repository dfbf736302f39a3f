//! Marking documents with a pipeline: any format in, any format out.

use super::Arguments;
use super::answer::{Answers, Wanted};
use super::limits::Limits;
use super::prose::Prose;
use super::tables::{SpanTable, TokenTable};
use super::trouble::{Tally, Trouble, problem};
use crate::console::Console;
use crate::documents::{self, MissingColumns};
use crate::failure::Failure;
use fieldmark::config::Config;
use fieldmark::core::Scheme;
use fieldmark::text::document::Document;
use fieldmark::text::formats::encoding::Encoding;
use fieldmark::text::formats::{DocumentFormat, DocumentWriter, Notices, ReadOptions, Target, WriteOptions};
use fieldmark::text::sentences::SentenceSplitter;
use fieldmark::text::tokenize::Tokenizer;
use fieldmark::text::{LabelSyntax, Source};
use fieldmark::{Annotator, AnnotatorOptions, Error, Impossible, Pipeline};
use rayon::prelude::*;
use std::io;
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
    /// place for is told. A graph that labels tokens in several columns has a table with all of them; columns and jsonl
    /// hold them too, CoNLL-U in the columns of their names, and HTML shows them together under the words. A label of a
    /// whole document or sentence has a line of its own in the table of spans: its type is LAYER=LABEL, its text is cut
    /// short. In the table of tokens it is one more column, and --probs tells how sure it is.
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,

    /// File, or directory of brat, to write [default: standard output]
    ///
    /// Its name tells the format, as in `fieldmark convert`; what ends with .gz or .zst is compressed. Marks in one HTML
    /// or PDF file are laid over the file itself: tag model.fmk page.html --output marked.html.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Encoding of the input, such as latin1 [default: detected, as in `fieldmark convert`]
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,

    /// Names of the labels that numbers stand for in JSON lines of Hugging Face, from 0: O,B-PER,I-PER
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    label_names: Vec<String>,
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
        let given = [
            ("to", self.to.is_some()),
            ("output", self.output.is_some()),
            ("encoding", self.encoding.is_some()),
            ("label-names", !self.label_names.is_empty()),
        ];
        given
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| name)
    }
}

/// What messages call all documents.
pub const INPUT: &str = "the input";

/// Documents that are marked together, one after the other on each thread.
const GROUP: usize = 256;

/// They are fewer if they have so many bytes of text.
const GROUP_BYTES: usize = 8 << 20;

/// What is to be marked.
pub struct Inputs {
    paths: Vec<PathBuf>,
    sources: Vec<Source>,
    /// The format, if there is one file and it matters for what is written.
    pub format: Option<DocumentFormat>,
}

/// What a model tells whoever writes its answers.
pub struct Header<'a> {
    pub config: &'a Config,
    pub title: &'a str,
    pub scheme: Scheme,
    /// Columns with a label for every token.
    pub columns: Vec<String>,
    /// Label columns, in formats that have them.
    pub labels: Vec<String>,
}

impl Arguments {
    /// Marks documents.
    pub(super) fn tag_documents(
        &self,
        pipeline: &Pipeline,
        files: &[PathBuf],
        limits: &Limits,
        console: &Console,
    ) -> Result<(), Failure> {
        // Sees whether there is anything that rules could speak of.
        Answers::new(
            pipeline.chain.labels(),
            limits,
            Wanted::default(),
            LabelSyntax::Literal,
        )?;
        let options = AnnotatorOptions {
            constraints: self.limits.given().then(|| limits.constraints.clone()),
            rules: limits.rules.clone(),
            fix_labels: limits.fix_labels,
            space: self.space(),
        };
        let annotator = || pipeline.annotator_with(options.clone());
        let mut annotators: Vec<Option<Annotator<'_>>> = Vec::new();
        annotators.resize_with(rayon::current_num_threads(), || None);
        let mut notices = Notices::new();
        let mut tally = Tally::new(console);
        let mut missing = MissingColumns::default();
        let labels = &pipeline.config().labels;
        let header = Header {
            config: pipeline.config(),
            title: &pipeline.card.name,
            scheme: labels.scheme.into(),
            columns: labels.column.iter().cloned().collect(),
            labels: WriteOptions::default().labels,
        };
        let files = self.inputs(pipeline.config(), files)?;
        let mut output = self.writer(&header, &files)?;
        self.for_each_group(
            pipeline.config(),
            &files,
            &mut notices,
            console,
            |group, notices| {
                group
                    .iter()
                    .for_each(|document| missing.add(pipeline.missing_columns(document)));
                each_share(
                    group,
                    &mut annotators,
                    || Ok(annotator()),
                    |annotator, document| annotator.annotate(document),
                )?;
                for report in annotators.iter_mut().flatten().map(Annotator::take_report) {
                    tally.known += report.known;
                    notices.extend(report.notices);
                    for impossible in &report.impossible {
                        tally.add(trouble(impossible, limits));
                    }
                }
                for document in &*group {
                    output
                        .write(document, notices)
                        .map_err(|error| self.unwritten(error))?;
                }
                Ok(())
            },
        )?;
        output.finish().map_err(|error| self.unwritten(error))?;
        drop(output);
        documents::tell(&notices, console);
        missing.tell(console);
        tally.finish(limits.fix_labels, INPUT)
    }

    /// The files to read. One over which marks may be laid is read twice.
    pub(super) fn inputs(&self, config: &Config, files: &[PathBuf]) -> Result<Inputs, Failure> {
        let mut sources: Vec<Source> = files.iter().map(Source::from_argument).collect();
        let mut format = None;
        let named = self.documents.output().and_then(DocumentFormat::by_name);
        let written = self.format_to_write(named)?;
        // Columns may turn out to be a table.
        let matters = [DocumentFormat::Html, DocumentFormat::Pdf, DocumentFormat::Columns];
        if let [source] = sources.as_mut_slice()
            && written.is_some_and(|format| matters.contains(&format))
        {
            *source = source.repeatable()?.into_owned();
            let read = self.read_options(config)?;
            format = read.format_of(source, Some(DocumentFormat::Text))?;
        }
        let paths = files.to_vec();
        Ok(Inputs {
            paths,
            sources,
            format,
        })
    }

    /// Whether a page is written.
    pub(super) fn writes_html(&self) -> Result<bool, Failure> {
        let named = self.documents.output().and_then(DocumentFormat::by_name);
        Ok(self.format_to_write(named)? == Some(DocumentFormat::Html))
    }

    fn read_options(&self, config: &Config) -> Result<ReadOptions, Failure> {
        let format = self
            .format
            .as_deref()
            .map(str::parse::<DocumentFormat>)
            .transpose()
            .map_err(Failure::user)?;
        // What is true of the files that the model was trained on need not be true of these: a model that was trained
        // on columns in latin1 can read text in UTF-8.
        let mut read = ReadOptions {
            format,
            encoding: self.documents.encoding.unwrap_or_default(),
            genes: None,
            alternatives: None,
            ..config.data.read.clone()
        };
        if !self.documents.label_names.is_empty() {
            read.label_names.clone_from(&self.documents.label_names);
        }
        Ok(read)
    }

    /// Reads documents, and does something with some of them at a time. What was noticed before a failure is told.
    pub(super) fn for_each_group(
        &self,
        config: &Config,
        files: &Inputs,
        notices: &mut Notices,
        console: &Console,
        mut each: impl FnMut(&mut [Document], &mut Notices) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let read = self.read_options(config)?;
        documents::tell_mentions(&files.paths, Path::new(""), &read, console);
        let mut prose = Prose::new(config, read.format);
        let result = read_groups(&read, files, notices, |file, group, notices| {
            if let Some(prose) = &mut prose {
                group.iter().for_each(|document| prose.look(file, document));
            }
            each(group, notices)
        });
        if let Some(prose) = &prose {
            prose.tell(console);
        }
        if result.is_err() {
            documents::tell(notices, console);
        }
        result
    }

    /// The format of documents that are written, `None` for tables; `named` is what the name of the output tells.
    pub(super) fn format_to_write(
        &self,
        named: Option<DocumentFormat>,
    ) -> Result<Option<DocumentFormat>, Failure> {
        Ok(match self.documents.to.as_deref() {
            Some("spans") => None,
            Some(name) => Some(
                name.parse::<DocumentFormat>()
                    .map_err(|error| Failure::user(format_args!("--to: {error}, and spans")))?,
            ),
            None => named,
        })
    }

    /// Whether a table is written, and no format of documents.
    pub(super) fn writes_table(&self, files: &Inputs) -> Result<bool, Failure> {
        let named = self.documents.output();
        let named = named.and_then(|path| DocumentFormat::of_output(path, files.format));
        Ok(self.format_to_write(named)?.is_none())
    }

    pub(super) fn writer<'a>(
        &'a self,
        header: &Header<'_>,
        files: &Inputs,
    ) -> Result<Box<dyn DocumentWriter + 'a>, Failure> {
        let path = self.documents.output();
        let named = path.and_then(|path| DocumentFormat::of_output(path, files.format));
        let Some(format) = self.format_to_write(named)? else {
            let table = match &header.columns[..] {
                [] => SpanTable::create(path).map(|table| Box::new(table) as Box<dyn DocumentWriter>),
                columns => TokenTable::create(path, columns, Vec::new())
                    .map(|table| Box::new(table) as Box<dyn DocumentWriter>),
            };
            return table.map_err(|error| self.unwritten(error));
        };
        let text = &header.config.text;
        let options = WriteOptions {
            scheme: header.scheme,
            labels: header.labels.clone(),
            sentences: SentenceSplitter::new(text.sentences.clone()),
            tokenizer: Tokenizer::new(text.tokenizer.clone()),
            title: header.title.to_owned(),
            source_format: files.format,
            encoding: self.documents.encoding.unwrap_or_default(),
            ..WriteOptions::default()
        };
        let target = match path {
            Some(path) => Target::Path(path),
            None => Target::Stream(io::BufWriter::new(io::stdout())),
        };
        options
            .create(format, target, files.sources.first())
            .map_err(|error| self.unwritten(error))
    }

    pub(super) fn unwritten(&self, error: io::Error) -> Failure {
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

/// Does something with the documents of a group, each thread with its share and its worker.
pub fn each_share<W: Send, T: Send>(
    group: &mut [Document],
    workers: &mut [Option<W>],
    worker: impl Fn() -> Result<W, Error> + Sync,
    work: impl Fn(&mut W, &mut Document) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let share = group.len().div_ceil(workers.len()).max(1);
    let shares: Result<Vec<Vec<T>>, Error> = group
        .par_chunks_mut(share)
        .zip(workers.par_iter_mut())
        .map(|(documents, own)| {
            let own = match own {
                Some(own) => own,
                None => own.insert(worker()?),
            };
            documents.iter_mut().map(|document| work(own, document)).collect()
        })
        .collect();
    Ok(shares?.into_iter().flatten().collect())
}

/// Why nothing is marked in a sentence.
fn trouble(impossible: &Impossible, limits: &Limits) -> Trouble {
    let place = |position| format!("at token {} of it", position + 1);
    let problem = problem(&impossible.error, limits, impossible.rule.as_ref(), true, place);
    Trouble::of_sentence(&impossible.document, &impossible.text, problem)
}

/// [`Arguments::for_each_group`] without its messages.
fn read_groups(
    read: &ReadOptions,
    files: &Inputs,
    notices: &mut Notices,
    mut each: impl FnMut(&Path, &mut [Document], &mut Notices) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let names = documents::Names::new(&files.paths);
    for (file, source) in files.paths.iter().zip(&files.sources) {
        // A name that tells nothing is taken for text, as it mostly is.
        let mut reader = read.open_or(source, Some(DocumentFormat::Text))?;
        loop {
            let mut group: Vec<Document> = Vec::with_capacity(GROUP);
            let mut bytes = 0;
            while group.len() < GROUP && bytes < GROUP_BYTES {
                match reader.next(notices)? {
                    Some(mut document) => {
                        names.tell_apart(file, &mut document);
                        bytes += document.text.len();
                        group.push(document);
                    }
                    None => break,
                }
            }
            if group.is_empty() {
                break;
            }
            each(file, &mut group, notices)?;
        }
    }
    Ok(())
}
