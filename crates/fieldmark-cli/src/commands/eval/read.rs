//! Reading gold and predicted documents.

use crate::console::Console;
use crate::documents;
use crate::failure::Failure;
use fieldmark::assess::Pairing;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::encoding::Encoding;
use fieldmark::text::formats::{DocumentFormat, Notices, ReadOptions, mention_files};
use std::path::{Path, PathBuf};

/// How documents are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reading documents")]
pub struct ReadingOptions {
    /// Format of the documents, as in `fieldmark convert` [default: told by the names]
    #[arg(long, value_name = "FORMAT")]
    format: Option<DocumentFormat>,

    /// Format of predicted documents, if it differs
    #[arg(long, value_name = "FORMAT")]
    pred_format: Option<DocumentFormat>,

    /// Encoding of the documents, such as latin1 [default: detected, as in `fieldmark convert`]
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,

    /// Names of the columns of columns, from the left
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,

    /// Columns that hold labels, by name or by number: 0 is the first, -1 the last
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    label_columns: Option<Vec<String>>,

    /// The same of predicted documents, if it differs
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pred_label_columns: Option<Vec<String>>,

    /// Names of the labels that numbers stand for in JSON lines of Hugging Face, from 0: O,B-PER,I-PER
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    label_names: Vec<String>,

    /// File with the genes of a gene-mention file [default: X.GENE.eval beside X.in]
    #[arg(long, value_name = "FILE")]
    genes: Option<PathBuf>,

    /// File with the alternatives of a gene-mention file [default: X.ALTGENE.eval beside X.in]
    #[arg(long, value_name = "FILE")]
    alternatives: Option<PathBuf>,
}

impl ReadingOptions {
    /// The options that were given, by name.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, bool)> {
        [
            ("format", self.format.is_some()),
            ("pred-format", self.pred_format.is_some()),
            ("encoding", self.encoding.is_some()),
            ("columns", !self.columns.is_empty()),
            ("label-columns", self.label_columns.is_some()),
            ("pred-label-columns", self.pred_label_columns.is_some()),
            ("label-names", !self.label_names.is_empty()),
            ("genes", self.genes.is_some()),
            ("alternatives", self.alternatives.is_some()),
        ]
        .into_iter()
    }

    /// Whether columns have the names that the user gave them.
    pub fn names_columns(&self) -> bool {
        !self.columns.is_empty()
    }

    /// The files that come with gene-mention files.
    pub fn mention_files(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let options = ReadOptions {
            format: self.format,
            genes: self.genes.clone(),
            alternatives: self.alternatives.clone(),
            ..ReadOptions::default()
        };
        documents::mention_files(files, Path::new(""), &options)
    }

    /// Reads gold documents. `base` is how the documents of a model were read.
    pub fn gold(
        &self,
        file: &Path,
        base: Option<&ReadOptions>,
        console: &Console,
    ) -> Result<Vec<Document>, Failure> {
        let mut options = base.cloned().unwrap_or_default();
        options.format = self.format.or(options.format);
        self.apply(&mut options, self.label_columns.as_ref());
        // All forms count, whichever a model was trained on.
        options.mentions = Default::default();
        options.genes.clone_from(&self.genes);
        options.alternatives.clone_from(&self.alternatives);
        documents::tell_mentions(&[file.to_owned()], Path::new(""), &options, console);
        let documents = read(file, &options, console)?;
        if documents.is_empty() {
            return Err(Failure::user(format_args!(
                "{}: there is no document in it",
                file.display()
            )));
        }
        Ok(documents)
    }

    /// Sees whether gold documents have an annotation to compare with.
    pub fn check_annotated(
        &self,
        file: &Path,
        base: Option<&ReadOptions>,
        documents: &[Document],
    ) -> Result<(), Failure> {
        if documents.iter().any(|document| !document.annotations.is_empty()) {
            return Ok(());
        }
        let base = base.and_then(|base| base.format);
        let format = self.format.or(base).or_else(|| DocumentFormat::by_name(file));
        let format = format.map_or_else(String::new, |format| {
            format!(" It was read as {format}: if it is something else, say it with --format.")
        });
        Err(Failure::user(format_args!(
            "{}: none of its documents has an annotation to compare with.{format}",
            file.display()
        )))
    }

    /// Reads gold documents again, with labels of spans as columns like the others; `None` if that cannot be done.
    pub fn without_spans(&self, file: &Path) -> Result<Option<Vec<Document>>, Failure> {
        let mut options = ReadOptions {
            format: self.format,
            ..ReadOptions::default()
        };
        self.apply(&mut options, Some(&Vec::new()));
        let source = Source::from_argument(file);
        let is_columns =
            source.is_complete() && options.format_of(&source, None)? == Some(DocumentFormat::Columns);
        // What there is to tell was told when they were first read.
        let mut notices = Notices::new();
        let documents = is_columns
            .then(|| documents::read_all(&[file.to_owned()], Path::new(""), &options, &mut notices));
        documents.transpose()
    }

    /// Reads predicted documents; of gene mentions, the file of genes alone is enough, over the sentences of `gold`.
    pub fn predicted(&self, file: &Path, gold: &Path, console: &Console) -> Result<Vec<Document>, Failure> {
        let mut options = ReadOptions {
            format: self.pred_format.or(self.format),
            ..ReadOptions::default()
        };
        let labels = self.pred_label_columns.as_ref().or(self.label_columns.as_ref());
        self.apply(&mut options, labels);
        let of_gold = ReadOptions {
            format: self.format,
            ..ReadOptions::default()
        };
        let is_list = file.to_string_lossy().trim_end_matches(".gz").ends_with(".eval");
        if self.pred_format.is_none() && is_list && is_gene_mention(gold, &of_gold) {
            options.format = Some(DocumentFormat::GeneMention);
            options.genes = Some(file.to_owned());
            return read(gold, &options, console);
        }
        let mentions = options.mention_files(&Source::from_argument(file));
        if mentions.is_some_and(|mentions| mentions.genes.is_none()) {
            let [genes, _] = mention_files(file);
            return Err(Failure::user(format_args!(
                "{}: there is no file with its genes beside it, such as {}. A file of predicted genes alone is enough, \
                 if its name ends with .eval",
                file.display(),
                genes.display()
            )));
        }
        read(file, &options, console)
    }

    fn apply(&self, options: &mut ReadOptions, labels: Option<&Vec<String>>) {
        if let Some(encoding) = self.encoding {
            options.encoding = encoding;
        }
        if !self.columns.is_empty() {
            options.columns.clone_from(&self.columns);
        }
        if !self.label_names.is_empty() {
            options.label_names.clone_from(&self.label_names);
        }
        if let Some(labels) = labels {
            options.labels = Some(labels.clone());
        }
    }
}

fn read(file: &Path, options: &ReadOptions, console: &Console) -> Result<Vec<Document>, Failure> {
    let mut notices = Notices::new();
    let documents = documents::read_all(&[file.to_owned()], Path::new(""), options, &mut notices);
    documents::tell(&notices, console);
    documents
}

fn is_gene_mention(file: &Path, options: &ReadOptions) -> bool {
    let format = options.format.or_else(|| DocumentFormat::by_name(file));
    format == Some(DocumentFormat::GeneMention)
}

/// Ids that are named one by one.
const SHOWN: usize = 5;

/// Tells which documents have no partner.
pub fn tell(pairing: &Pairing, console: &Console) {
    let listed = |ids: &[String]| {
        let shown: Vec<&str> = ids.iter().take(SHOWN).map(String::as_str).collect();
        let more = match ids.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", shown.join(", "))
    };
    match pairing.pairs.iter().map(|pair| pair.left_out).sum() {
        0 => {}
        1 => console.note("one span does not count: a gold label there is unknown (`?`) or one of several"),
        number => console.note(&format!(
            "{number} spans, gold or found, do not count: gold labels there are unknown (`?`) or one of several"
        )),
    }
    if pairing.by_order {
        console
            .note("no id is the same on both sides, but the texts are: documents are matched in their order");
    }
    match pairing.respaced {
        0 => {}
        1 => console.note("the text of one document differs in white space; offsets were translated"),
        number => console.note(&format!(
            "the texts of {number} documents differ in white space; offsets were translated"
        )),
    }
    let warn = |ids: &[String], one: &str, several: &str| match ids.len() {
        0 => {}
        1 => console.warn(&format!("1 {one}: {}", listed(ids))),
        number => console.warn(&format!("{number} {several}: {}", listed(ids))),
    };
    warn(
        &pairing.missing,
        "gold document was not predicted and counts as if nothing was found in it",
        "gold documents were not predicted and count as if nothing was found in them",
    );
    warn(
        &pairing.repeated,
        "predicted document has the id of one before it and does not count",
        "predicted documents have the ids of some before them and do not count",
    );
    warn(
        &pairing.extra,
        "predicted document is not in gold and does not count",
        "predicted documents are not in gold and do not count",
    );
}
