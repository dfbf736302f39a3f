//! [`DocumentFormat`]: every format by its name, and how to find out which one a file has.

use super::encoding::{Encoding, in_utf8};
use super::gene_mention::{mention_files, mention_files_beside};
use super::recognise::{Content, content, has_texts, is_table};
use super::text::{Layout, TextOptions, TextReader};
use super::{
    BiocReader, BratReader, Column, ColumnOptions, ColumnReader, ConlluReader, DocumentBorders,
    DocumentReader, Flavour, GeneMentionReader, JsonlOptions, JsonlReader, Mentions, Notices, PubTatorReader,
    TableOptions, TableReader, html, inline_xml, jats, medline, pubmed,
};
use crate::document::Document;
use crate::error::{ErrorKind, ReadError};
use crate::source::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident $name:literal [$($extension:literal)*];)*) => {
        /// A format of documents.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum DocumentFormat { $($(#[$doc])* #[serde(rename = $name)] $variant,)* }

        impl DocumentFormat {
            /// All formats.
            pub const ALL: &'static [DocumentFormat] = &[$(DocumentFormat::$variant),*];

            /// Its name on the command line and in configs.
            pub fn name(self) -> &'static str {
                match self { $(DocumentFormat::$variant => $name,)* }
            }

            /// Ends of names of files that usually have it.
            pub fn extensions(self) -> &'static [&'static str] {
                match self { $(DocumentFormat::$variant => &[$($extension),*],)* }
            }
        }
    };
}

formats! {
    /// Plain text.
    Text "text" ["txt"];
    /// MEDLINE records.
    Medline "medline" ["medline" "nbib"];
    /// PubMed XML.
    Pubmed "pubmed" [];
    /// PMC and JATS articles.
    Jats "jats" ["nxml"];
    /// HTML.
    Html "html" ["html" "htm"];
    /// PDF.
    Pdf "pdf" ["pdf"];
    /// Text with tags in it.
    InlineXml "inline-xml" [];
    /// Columns, one token in a line.
    Columns "columns" ["conll" "iob" "iob2" "bio" "tsv"];
    /// Universal dependencies.
    Conllu "conllu" ["conllu"];
    /// JSON lines of fieldmark: everything about a document.
    Jsonl "jsonl" ["jsonl" "ndjson"];
    /// JSON lines of doccano.
    Doccano "doccano" [];
    /// JSON lines of spaCy.
    Spacy "spacy" [];
    /// JSON lines of Prodigy.
    Prodigy "prodigy" [];
    /// JSON lines of Hugging Face, with `tokens` and `ner_tags`.
    HuggingFace "huggingface" [];
    /// Stand-off annotations of brat: a directory, or a pair of files.
    Brat "brat" ["ann"];
    /// BioC XML.
    Bioc "bioc" ["bioc"];
    /// A table with a column of texts.
    Csv "csv" ["csv"];
    /// The same with tabs between cells. Files named `.tsv` are columns, unless their first line tells otherwise.
    Tsv "tsv" [];
    /// PubTator.
    PubTator "pubtator" ["pubtator"];
    /// Files of the BioCreative gene mention task.
    GeneMention "gene-mention" ["in"];
}

impl fmt::Display for DocumentFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DocumentFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().copied().find(|format| format.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
            format!("there is no format {name:?}; formats are {}", names.join(", "))
        })
    }
}

impl DocumentFormat {
    /// The format of a file by the end of its name; `.gz` and `.zst` do not count.
    ///
    /// A name that ends with `.tsv` stands for columns; [`ReadOptions::format_of`] finds out which of them are tables.
    pub fn by_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        let name = name
            .strip_suffix(".gz")
            .or_else(|| name.strip_suffix(".zst"))
            .unwrap_or(&name);
        let ends = |extension: &&str| {
            name.strip_suffix(*extension)
                .is_some_and(|stem| stem.ends_with('.'))
        };
        if name.ends_with(".pubtator.txt") {
            return Some(Self::PubTator);
        }
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.extensions().iter().any(ends))
    }
}

impl DocumentFormat {
    /// The format to write to a file, by the end of its name: `.tsv` is a table if documents come from a table.
    pub fn of_output(path: &Path, input: Option<Self>) -> Option<Self> {
        match (Self::by_name(path)?, input) {
            (Self::Columns, Some(Self::Csv | Self::Tsv)) if has_tabs(&path.to_string_lossy()) => {
                Some(Self::Tsv)
            }
            (format, _) => Some(format),
        }
    }

    /// The files, or the directory, that are written for an output of this name.
    pub fn files(self, output: &Path) -> Vec<PathBuf> {
        let mut files = vec![output.to_owned()];
        if self == Self::GeneMention {
            files.extend(mention_files(output));
        }
        files
    }
}

/// Whether a name ends with `.tsv`, which columns and tables have in common.
fn has_tabs(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name
        .strip_suffix(".gz")
        .or_else(|| name.strip_suffix(".zst"))
        .unwrap_or(&name);
    name.ends_with(".tsv")
}

/// Where the mentions of a gene-mention file are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MentionFiles {
    /// The file with the genes, if there is one.
    pub genes: Option<PathBuf>,
    /// The file with alternatives, if there is one.
    pub alternatives: Option<PathBuf>,
}

/// How documents are read. What a format has no use for, it ignores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The format; without it, the end of the file's name tells, or its first bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<DocumentFormat>,
    /// The encoding; without it, it is detected in text, MEDLINE, HTML, inline XML and XML of articles, and UTF-8
    /// everywhere else.
    #[schemars(with = "String")]
    pub encoding: Encoding,
    /// Of plain text: what is one document.
    pub layout: Layout,
    /// Of columns: their names, from the left.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Of columns: those that hold labels, by name or by number: `0` is the first, `-1` the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Of columns: what is one document.
    pub documents: DocumentBorders,
    /// Of tables: the column with the text, by name or by number from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Of tables: the column with the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// Of JSON lines: names of the labels that numbers stand for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub label_names: Vec<String>,
    /// Of gene mentions: the file with the genes; without it, `x.GENE.eval` beside `x.in`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub genes: Option<PathBuf>,
    /// Of gene mentions: the file with alternatives; without it, `x.ALTGENE.eval` beside `x.in`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<PathBuf>,
    /// Of gene mentions: which forms count.
    pub mentions: Mentions,
}

impl ReadOptions {
    /// The same with files that are relative to a folder, such as that of a config.
    pub fn relative_to(&self, folder: &Path) -> Self {
        let join = |file: &PathBuf| folder.join(file);
        Self {
            genes: self.genes.as_ref().map(join),
            alternatives: self.alternatives.as_ref().map(join),
            ..self.clone()
        }
    }

    /// The format of a source, by the options or by its name; `None` if neither tells.
    fn told(&self, source: &Source) -> Option<DocumentFormat> {
        self.format.or_else(|| match source {
            Source::File(path) => DocumentFormat::by_name(path),
            Source::Memory { name, .. } => {
                DocumentFormat::by_name(Path::new(name)).or(Some(DocumentFormat::Text))
            }
            Source::Stdin => Some(DocumentFormat::Text),
        })
    }

    /// Where the mentions of a source are, which the options name or which are beside it; `None` for other formats.
    pub fn mention_files(&self, source: &Source) -> Option<MentionFiles> {
        if self.told(source) != Some(DocumentFormat::GeneMention) {
            return None;
        }
        let [genes, alternatives] = match source {
            Source::File(path) => mention_files_beside(path),
            _ => [None, None],
        };
        Some(MentionFiles {
            genes: self.genes.clone().or(genes),
            alternatives: self.alternatives.clone().or(alternatives),
        })
    }

    /// The format of a source, by the options, its name or its first bytes; `otherwise` if nothing tells it and it is
    /// no XML. What comes through a pipe can be looked at only once: see [`Source::repeatable`].
    ///
    /// PubMed, JATS and BioC XML, HTML and PubTator are recognised where a name tells nothing or says that it is text.
    /// A file named `.tsv` is a table if its first line names a column of texts. A directory is one of brat.
    pub fn format_of(
        &self,
        source: &Source,
        otherwise: Option<DocumentFormat>,
    ) -> Result<Option<DocumentFormat>, ReadError> {
        let told = self.told(source);
        match source {
            _ if self.format.is_some() => Ok(told),
            Source::File(path) if path.is_dir() => match has_texts(path)? {
                true => Ok(Some(DocumentFormat::Brat)),
                false => {
                    let problem = "this is a directory without texts of brat (.txt, with .ann beside them). \
                                   Give the names of files"
                        .to_owned();
                    Err(ReadError::new(&source.name(), ErrorKind::Option(problem)))
                }
            },
            _ if told == Some(DocumentFormat::Columns) && has_tabs(&source.name()) => {
                let text = self.text_column.as_deref().map(column);
                let table = is_table(source, text.as_ref())?;
                Ok(if table { Some(DocumentFormat::Tsv) } else { told })
            }
            _ if !matches!(told, None | Some(DocumentFormat::Text)) => Ok(told),
            _ => Ok(match content(source)? {
                Content::Known(format) => Some(format),
                Content::OtherXml => told,
                Content::Other => told.or(otherwise),
            }),
        }
    }

    /// Opens a source in the format that the options, its name or its first bytes tell, as
    /// [`format_of`](ReadOptions::format_of) has it.
    pub fn open(&self, source: &Source) -> Result<Box<dyn DocumentReader>, ReadError> {
        self.open_or(source, None)
    }

    /// Opens a source that is of the format `otherwise` if nothing tells its format and it is no XML.
    pub fn open_or(
        &self,
        source: &Source,
        otherwise: Option<DocumentFormat>,
    ) -> Result<Box<dyn DocumentReader>, ReadError> {
        if self.format.is_some() || matches!(source, Source::File(path) if path.is_dir()) {
            return self.open_as(source, self.format_of(source, otherwise)?);
        }
        // It may have to be looked at first.
        let source = match self.told(source) {
            None | Some(DocumentFormat::Text | DocumentFormat::Columns) => source.repeatable()?,
            Some(_) => Cow::Borrowed(source),
        };
        self.open_as(&source, self.format_of(&source, otherwise)?)
    }

    fn open_as(
        &self,
        source: &Source,
        format: Option<DocumentFormat>,
    ) -> Result<Box<dyn DocumentReader>, ReadError> {
        let Some(format) = format else {
            let names: Vec<&str> = DocumentFormat::ALL.iter().map(|format| format.name()).collect();
            let problem = format!(
                "the name does not tell the format; say which it is: {}",
                names.join(", ")
            );
            return Err(ReadError::new(&source.name(), ErrorKind::Option(problem)));
        };
        Ok(match format {
            DocumentFormat::Text => {
                let options = TextOptions {
                    encoding: self.encoding,
                    layout: self.layout,
                };
                Box::new(TextReader::new(source, options)?)
            }
            DocumentFormat::Medline => Box::new(medline::MedlineReader::new(source, self.encoding)?),
            DocumentFormat::Pubmed => Box::new(pubmed::PubmedReader::new(source, self.encoding)?),
            DocumentFormat::Jats => Box::new(jats::JatsReader::new(source, self.encoding)?),
            DocumentFormat::Html => Box::new(html::HtmlReader::new(source, self.encoding)?),
            DocumentFormat::Pdf if self.encoding != Encoding::DETECT => {
                let problem =
                    "a PDF file says itself what its characters are: leave the encoding out".to_owned();
                return Err(ReadError::new(&source.name(), ErrorKind::Option(problem)));
            }
            DocumentFormat::Pdf => open_pdf(source)?,
            DocumentFormat::InlineXml => {
                let options = inline_xml::InlineXmlOptions {
                    encoding: self.encoding,
                    ..Default::default()
                };
                Box::new(inline_xml::InlineXmlReader::new(source, options)?)
            }
            DocumentFormat::Columns => Box::new(ColumnReader::new(source, self.column_options())?),
            DocumentFormat::Conllu => self.utf8(source, |source| Ok(Box::new(ConlluReader::new(source)?)))?,
            // JSON lines tell their flavour themselves.
            DocumentFormat::Jsonl => self.jsonl(source, None)?,
            DocumentFormat::Doccano => self.jsonl(source, Some(Flavour::Doccano))?,
            DocumentFormat::Spacy => self.jsonl(source, Some(Flavour::Spacy))?,
            DocumentFormat::Prodigy => self.jsonl(source, Some(Flavour::Prodigy))?,
            DocumentFormat::HuggingFace => self.jsonl(source, Some(Flavour::HuggingFace))?,
            DocumentFormat::Brat => match source {
                Source::File(path) => Box::new(BratReader::open(path)?.in_encoding(self.encoding)),
                _ => {
                    let problem = "brat keeps texts and annotations in files of their own: give a directory";
                    return Err(ReadError::new(
                        &source.name(),
                        ErrorKind::Option(problem.to_owned()),
                    ));
                }
            },
            DocumentFormat::Bioc => self.utf8(source, |source| Ok(Box::new(BiocReader::new(source)?)))?,
            DocumentFormat::Csv | DocumentFormat::Tsv => {
                let options = TableOptions {
                    delimiter: (format == DocumentFormat::Tsv).then_some(b'\t'),
                    text: self.text_column.as_deref().map(column),
                    id: self.id_column.as_deref().map(column),
                    ..TableOptions::default()
                };
                self.utf8(source, |source| Ok(Box::new(TableReader::new(source, options)?)))?
            }
            DocumentFormat::PubTator => {
                self.utf8(source, |source| Ok(Box::new(PubTatorReader::new(source)?)))?
            }
            DocumentFormat::GeneMention => self.gene_mentions(source)?,
        })
    }

    /// Opens a source with a reader of UTF-8: one in another encoding, which must be stated, is rewritten before.
    fn utf8(
        &self,
        source: &Source,
        open: impl FnOnce(&Source) -> Result<Box<dyn DocumentReader>, ReadError>,
    ) -> Result<Box<dyn DocumentReader>, ReadError> {
        let mut notices = Notices::new();
        let source = in_utf8(source, self.encoding, &mut notices)?;
        Ok(Rewritten::around(open(&source)?, notices))
    }

    fn gene_mentions(&self, source: &Source) -> Result<Box<dyn DocumentReader>, ReadError> {
        let files = self.mention_files(source).unwrap_or_default();
        let mut notices = Notices::new();
        let mut open = |file: Source| Ok(in_utf8(&file, self.encoding, &mut notices)?.into_owned());
        let sentences = open(source.clone())?;
        let genes = files.genes.map(Source::File).map(&mut open).transpose()?;
        let alternatives = files.alternatives.map(Source::File).map(open).transpose()?;
        let reader =
            GeneMentionReader::new(&sentences, genes.as_ref(), alternatives.as_ref(), self.mentions)?;
        Ok(Rewritten::around(Box::new(reader), notices))
    }

    fn jsonl(&self, source: &Source, flavour: Option<Flavour>) -> Result<Box<dyn DocumentReader>, ReadError> {
        let options = JsonlOptions {
            flavour,
            label_names: self.label_names.clone(),
        };
        self.utf8(source, |source| Ok(Box::new(JsonlReader::new(source, options)?)))
    }

    fn column_options(&self) -> ColumnOptions {
        ColumnOptions {
            encoding: (self.encoding != Encoding::DETECT).then_some(self.encoding),
            names: self.columns.clone(),
            labels: self
                .labels
                .as_ref()
                .map(|labels| labels.iter().map(|name| column(name)).collect()),
            documents: self.documents,
            ..ColumnOptions::default()
        }
    }
}

/// A reader of a source that was rewritten in UTF-8, with what there is to tell of that.
struct Rewritten {
    reader: Box<dyn DocumentReader>,
    notices: Option<Notices>,
}

impl Rewritten {
    fn around(reader: Box<dyn DocumentReader>, notices: Notices) -> Box<dyn DocumentReader> {
        if notices.is_empty() {
            return reader;
        }
        Box::new(Self {
            reader,
            notices: Some(notices),
        })
    }
}

impl DocumentReader for Rewritten {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        if let Some(told) = self.notices.take() {
            notices.extend(told);
        }
        self.reader.next(notices)
    }
}

/// A column by name or number.
fn column(name: &str) -> Column {
    // Parsing a column cannot fail.
    name.parse().unwrap_or(Column::Named(name.to_owned()))
}

#[cfg(feature = "pdf")]
fn open_pdf(source: &Source) -> Result<Box<dyn DocumentReader>, ReadError> {
    Ok(Box::new(super::pdf::PdfReader::new(source)?))
}

#[cfg(not(feature = "pdf"))]
fn open_pdf(source: &Source) -> Result<Box<dyn DocumentReader>, ReadError> {
    let problem = "this program was built without PDF".to_owned();
    Err(ReadError::new(&source.name(), ErrorKind::Option(problem)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format() {
        for (name, expected) in [
            ("a.txt", Some(DocumentFormat::Text)),
            ("a.tsv.gz", Some(DocumentFormat::Columns)),
            ("x/A.PDF", Some(DocumentFormat::Pdf)),
            ("tm.PubTator.txt.gz", Some(DocumentFormat::PubTator)),
            ("en-ud.conllu.zst", Some(DocumentFormat::Conllu)),
            ("in", None),
            ("a.xyz", None),
        ] {
            assert_eq!(DocumentFormat::by_name(Path::new(name)), expected, "{name}");
        }
        for &format in DocumentFormat::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert!("pd".parse::<DocumentFormat>().unwrap_err().contains("pdf"));
    }

    #[test]
    fn a_name_that_tells_nothing_is_an_error_that_helps() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            Source::File(folder.path().join(name))
        };
        let refused = |source: &Source, otherwise| {
            let opened = ReadOptions::default().open_or(source, otherwise);
            opened.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let unknown = file("data.xyz", "text");
        let error = refused(&unknown, None);
        assert!(error.contains("data.xyz") && error.contains("conllu"), "{error}");
        assert_eq!(refused(&unknown, Some(DocumentFormat::Text)), "");
        let xml = file("data.xml", "<?xml version='1.0'?><other/>");
        assert!(refused(&xml, Some(DocumentFormat::Text)).contains("does not tell the format"));
        let missing = Source::File(folder.path().join("missing.xyz"));
        assert!(refused(&missing, None).contains("cannot read"));
    }

    fn documents(folder: &Path, name: &str, bytes: &[u8], options: &ReadOptions) -> Vec<Document> {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let mut reader = options.open(&Source::File(path)).unwrap();
        let mut documents = Vec::new();
        while let Some(document) = reader.next(&mut Notices::new()).unwrap() {
            documents.push(document);
        }
        documents
    }

    #[test]
    fn a_table_with_tabs_is_no_file_of_columns() {
        let folder = tempfile::tempdir().unwrap();
        let table = b"id\ttext\n1\tHello Germany\n2\tBye, \xC3\xA4 Britain\n";
        let columns = b"EU\tB-ORG\nrejects\tO\n\nBye\tO\n";
        let mut options = ReadOptions::default();
        let found = documents(folder.path(), "t.tsv", table, &options);
        let texts: Vec<(&str, &str)> = found
            .iter()
            .map(|document| (document.id.as_str(), document.text.as_str()))
            .collect();
        assert_eq!(texts, [("1", "Hello Germany"), ("2", "Bye, ä Britain")]);
        let found = documents(folder.path(), "c.tsv", columns, &options);
        assert_eq!((found.len(), found[0].annotations.len()), (2, 1));
        // Options tell what is meant.
        options.format = Some(DocumentFormat::Columns);
        let found = documents(folder.path(), "t.tsv", table, &options);
        assert!(found[0].given.is_some());
        options.format = Some(DocumentFormat::Tsv);
        assert_eq!(documents(folder.path(), "t.txt", table, &options).len(), 2);
        let output = |name: &str, input| DocumentFormat::of_output(Path::new(name), Some(input));
        assert_eq!(output("x.tsv.gz", DocumentFormat::Csv), Some(DocumentFormat::Tsv));
        assert_eq!(
            output("x.tsv", DocumentFormat::Jsonl),
            Some(DocumentFormat::Columns)
        );
        assert_eq!(
            output("x.conll", DocumentFormat::Tsv),
            Some(DocumentFormat::Columns)
        );
    }

    #[test]
    fn a_stated_encoding_is_obeyed_by_every_reader() {
        let folder = tempfile::tempdir().unwrap();
        let options = ReadOptions {
            encoding: Encoding::LATIN_1,
            ..ReadOptions::default()
        };
        std::fs::write(folder.path().join("a.GENE.eval"), b"P1|0 4|Gr\xF6\xDFe\n").unwrap();
        std::fs::write(folder.path().join("b.txt"), b"Gr\xF6\xDFe").unwrap();
        for (name, bytes) in [
            ("a.csv", &b"id,text\n1,Gr\xF6\xDFe\n"[..]),
            ("a.tsv", b"id\ttext\n1\tGr\xF6\xDFe\n"),
            ("a.conll", b"Gr\xF6\xDFe\tB-X\n"),
            ("a.conllu", b"1\tGr\xF6\xDFe\t_\t_\t_\t_\t_\t_\t_\t_\n\n"),
            ("a.jsonl", b"{\"text\":\"Gr\xF6\xDFe\"}\n"),
            ("a.pubtator", b"1|t|Gr\xF6\xDFe\n1|a|\n1\t0\t5\tGr\xF6\xDFe\tX\n\n"),
            ("a.in", b"P1 Gr\xF6\xDFe\n"),
            ("b.ann", b"T1\tX 0 5\tGr\xF6\xDFe\n"),
            (
                "a.bioc",
                b"<collection><document><id>1</id><passage><offset>0</offset><text>Gr\xF6\xDFe</text></passage></document></collection>",
            ),
            ("a.txt", b"Gr\xF6\xDFe"),
            ("a.medline", b"PMID- 1\nTI  - Gr\xF6\xDFe\n"),
            ("a.html", b"<p>Gr\xF6\xDFe"),
        ] {
            let found = documents(folder.path(), name, bytes, &options);
            assert_eq!(found[0].text.trim(), "Größe", "{name}");
            let has_spans = ["a.conll", "a.pubtator", "a.in", "b.ann"].contains(&name);
            assert_eq!(found[0].annotations.len(), usize::from(has_spans), "{name}");
        }
        let pdf = Source::text("a", "%PDF-1.4");
        let options = ReadOptions {
            format: Some(DocumentFormat::Pdf),
            ..options
        };
        let refused = options.open(&pdf).err().unwrap().to_string();
        assert!(refused.contains("leave the encoding out"), "{refused}");
        // What an encoding does not know is told.
        let options = ReadOptions {
            encoding: "shift_jis".parse().unwrap(),
            format: Some(DocumentFormat::Csv),
            ..options
        };
        let source = Source::Memory {
            name: "a".to_owned(),
            bytes: b"text\nab\x81\n".to_vec(),
        };
        let mut notices = Notices::new();
        options.open(&source).unwrap().next(&mut notices).unwrap();
        assert_eq!(notices.all().len(), 1);
    }

    #[test]
    fn a_directory_of_texts_is_one_of_brat() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            let opened = ReadOptions::default().open(&Source::File(path.to_owned()));
            opened.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let error = refused(folder.path());
        assert!(error.contains("directory without texts of brat"), "{error}");
        std::fs::write(folder.path().join("a.txt"), "iron").unwrap();
        std::fs::write(folder.path().join("a.ann"), "T1\tX 0 4\tiron\n").unwrap();
        assert_eq!(refused(folder.path()), "");
    }

    #[test]
    fn first_bytes_tell_what_a_name_does_not() {
        let collection = "<?xml version='1.0'?><collection><source>s</source><date>d</date><key>k</key><document><id>7</id>\
                          <passage><offset>0</offset><text>iron</text></passage></document></collection>";
        let title = "12|t|Iron\n12|a|is given.\n\n";
        for (text, expected) in [
            (collection, ("7", "iron")),
            (title, ("12", "Iron\nis given.")),
            ("Iron.", ("notes.txt", "Iron.")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("notes.txt");
            std::fs::write(&path, text).unwrap();
            let mut reader = ReadOptions::default().open(&Source::File(path)).unwrap();
            let document = reader.next(&mut Notices::new()).unwrap().unwrap();
            assert_eq!((document.id.as_str(), document.text.as_str()), expected);
        }
    }

    #[test]
    fn tokens_that_are_parts_of_characters_are_read_as_bytes() {
        let bytes = b"### 1\n\xC2\t0\t1\t|B-IUPAC\n\xB1\t1\t2\t|I-IUPAC\n".to_vec();
        let source = Source::Memory {
            name: "scai.iob".to_owned(),
            bytes,
        };
        let mut options = ReadOptions {
            format: Some(DocumentFormat::Columns),
            ..ReadOptions::default()
        };
        assert!(options.open(&source).is_err());
        options.encoding = Encoding::LATIN_1;
        let document = options
            .open(&source)
            .unwrap()
            .next(&mut Notices::new())
            .unwrap()
            .unwrap();
        assert_eq!((document.text.as_str(), document.annotations.len()), ("Â±", 1));
    }

    #[test]
    fn options_reach_the_reader() {
        let source = Source::text("a", "EU NNP B-ORG\n\nGermany NNP B-LOC\n");
        let options = ReadOptions {
            format: Some(DocumentFormat::Columns),
            columns: ["word", "pos", "ner"].map(str::to_owned).to_vec(),
            labels: Some(vec!["ner".to_owned()]),
            documents: DocumentBorders::File,
            ..ReadOptions::default()
        };
        let mut reader = options.open(&source).unwrap();
        let document = reader.next(&mut Notices::new()).unwrap().unwrap();
        assert_eq!(document.annotations.len(), 2);
        assert_eq!(document.given.unwrap().columns, ["pos"]);
    }
}
