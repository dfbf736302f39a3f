//! `fieldmark convert`: documents from one format to another.

use crate::console::Console;
use crate::documents;
use crate::failure::Failure;
use crate::paths::{Files, write_whole};
use fieldmark::config::SchemeName;
use fieldmark::text::Source;
use fieldmark::text::formats::encoding::Encoding;
use fieldmark::text::formats::{DocumentFormat, Misfit, Notices, ReadOptions, Target, WriteOptions};
use fieldmark::text::tokenize::{Tokenizer, TokenizerProfile};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Convert documents from one format to another
///
/// Formats are told by the ends of the names, or by --from and --to: text, medline, pubmed, jats, html, pdf,
/// inline-xml, columns, conllu, jsonl, doccano, spacy, prodigy, huggingface, brat, bioc, csv, tsv, pubtator and
/// gene-mention. A file named .tsv is a table if its first line names a column of texts (text, sentence, content, body,
/// abstract, or that of --text-column), and columns otherwise, or with --from columns; one that is written is a table if the input is one. A
/// directory is read as one of brat. Names that end with .gz or .zst give compressed files.
///
/// A PDF file is written as a copy of the one that was read, with highlights, and so is HTML that is read from HTML:
/// marks are laid over the page, whose headings, tables and links stay. From all other formats, html is a page with the
/// texts, which can be read again.
///
/// In columns, a document begins with a row that has `-DOCSTART-` or `-DOCSTART-(id)` in place of the word, as in CoNLL
/// 2003. To everything that reads columns it is a sentence of one word outside of all spans; `--skip-lines -DOCSTART-`
/// leaves it out in train, tag, check and eval. Data that do not tell their documents, such as columns without marks,
/// get none.
///
/// What the new format has no place for is listed, one line for each span, with counts at the end: spans that
/// begin or end inside a token, overlap, nest, have gaps, and details such as scores. What is the same for several
/// documents is one line with their number and the first of them; --notices lists them all. Places count characters.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// File, or directory of brat, to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// File, or directory of brat, to write; `-` is standard output
    #[arg(value_name = "OUT", default_value = "-")]
    output: PathBuf,

    /// Format of the input
    #[arg(long, value_name = "FORMAT")]
    from: Option<DocumentFormat>,

    /// Format of the output
    #[arg(long, value_name = "FORMAT")]
    to: Option<DocumentFormat>,

    /// Encoding of the input, such as latin1 [default: detected]
    ///
    /// It is detected in text, html, inline-xml, medline, pubmed and jats; everything else is UTF-8 unless it is said
    /// here. A PDF file needs none.
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,

    /// Names of the columns of the input, from the left
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,

    /// Columns of the input that hold labels, by name or by number: 0 is the first, -1 the last
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    labels: Option<Vec<String>>,

    /// Names of the labels that numbers stand for in JSON lines of Hugging Face, from 0: O,B-PER,I-PER
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    label_names: Vec<String>,

    /// Column of the text in a table, by name or by number: 0 is the first
    #[arg(long, value_name = "COLUMN")]
    text_column: Option<String>,

    /// File with the genes of a gene-mention file [default: X.GENE.eval beside X.in]
    #[arg(long, value_name = "FILE")]
    genes: Option<PathBuf>,

    /// File with the alternatives of a gene-mention file [default: X.ALTGENE.eval beside X.in]
    #[arg(long, value_name = "FILE")]
    alternatives: Option<PathBuf>,

    /// How spans are written in columns
    #[arg(long, value_enum, default_value_t, value_name = "SCHEME")]
    scheme: SchemeName,

    /// Label columns to write: as many spans as there are columns can lie on one token
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "label")]
    layers: Vec<String>,

    /// Tokens of documents that come without: a profile such as fine, dash or clinical
    #[arg(long, value_name = "PROFILE", default_value = "punctuation")]
    tokenizer: TokenizerProfile,

    /// Leave out spans that begin or end inside a token, instead of widening them
    #[arg(long)]
    drop_misfits: bool,

    /// Write the list of what was lost to this file instead of standard error
    #[arg(long, value_name = "FILE")]
    notices: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  From columns to JSON lines, and to a page to look at:
      fieldmark convert train.txt train.jsonl --from columns
      fieldmark convert train.txt train.html --from columns

  To the stand-off files of brat, and back to columns of another scheme:
      fieldmark convert train.txt brat --from columns --to brat
      fieldmark convert brat train.iob --from brat --scheme iobes";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let read = ReadOptions {
            format: self.from,
            encoding: self.encoding.unwrap_or_default(),
            columns: self.columns.clone(),
            labels: self.labels.clone(),
            label_names: self.label_names.clone(),
            text_column: self.text_column.clone(),
            genes: self.genes.clone(),
            alternatives: self.alternatives.clone(),
            ..ReadOptions::default()
        };
        if self.to.is_none() && DocumentFormat::by_name(&self.output).is_none() {
            return Err(Failure::user(format_args!(
                "{}: the name does not tell the format to write; say it with --to",
                self.output.display()
            )));
        }
        // The beginning tells the format, and marks are laid over the whole.
        let source = Source::from_argument(&self.input);
        let source = match self.to.or_else(|| DocumentFormat::by_name(&self.output)) {
            Some(DocumentFormat::Html | DocumentFormat::Pdf) => source.repeatable()?,
            _ if self.from.is_none() => source.repeatable()?,
            _ => Cow::Borrowed(&source),
        };
        let from = read.format_of(&source, None)?;
        let to = self.to.or_else(|| DocumentFormat::of_output(&self.output, from));
        let format = to.unwrap_or(DocumentFormat::Text);
        let (input, here) = ([self.input.clone()], Path::new(""));
        Files::default()
            .reads("the input", [&self.input])
            .reads("a file of genes", documents::mention_files(&input, here, &read))
            .writes("the output", format.files(&self.output))
            .writes("--notices", &self.notices)
            .check()?;
        documents::tell_mentions(&input, here, &read, console);
        let mut reader = read.open(&source)?;
        let options = WriteOptions {
            scheme: self.scheme.into(),
            labels: self.layers.clone(),
            misfit: if self.drop_misfits {
                Misfit::Drop
            } else {
                Misfit::Widen
            },
            tokenizer: Tokenizer::new(self.tokenizer.clone()),
            title: source.name(),
            source_format: from,
            encoding: read.encoding,
            ..WriteOptions::default()
        };
        let target = if self.output == Path::new("-") {
            Target::Stream(console.output())
        } else {
            Target::Path(&self.output)
        };
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            // What is asked for cannot be written there.
            io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Failure::writing(&self.output, error),
            _ if self.output == Path::new("-") => error.into(),
            _ => Failure::writing(&self.output, error),
        };
        let mut writer = options.create(format, target, Some(&source)).map_err(refused)?;
        let (mut notices, mut documents) = (Notices::new(), 0);
        let mut convert = || -> Result<(), Failure> {
            while let Some(document) = reader.next(&mut notices)? {
                writer.write(&document, &mut notices).map_err(refused)?;
                documents += 1;
            }
            writer.finish().map_err(refused)
        };
        let converted = convert();
        drop(writer);
        // What was lost before an error may be its reason; files stay as they were then.
        let list = self.notices.as_deref().filter(|_| converted.is_ok());
        tell(&notices, list, console)?;
        converted?;
        let s = if documents == 1 { "" } else { "s" };
        console.note(&format!("converted {documents} document{s} to {format}"));
        Ok(())
    }
}

/// Tells what was lost: one by one in the file `list`, if there is one, and how much of each kind.
fn tell(notices: &Notices, list: Option<&Path>, console: &Console) -> Result<(), Failure> {
    if let Some(path) = list {
        let lines: String = notices.all().iter().map(|notice| format!("{notice}\n")).collect();
        write_whole(path, &lines)?;
    } else {
        documents::grouped(notices).for_each(|line| console.note(&line));
    }
    for (kind, count) in notices.counts() {
        console.warn(&format!("{kind}: {count}"));
    }
    Ok(())
}
