//! How column documents are laid out: options of the reader and of the writer.

use super::super::encoding::Encoding;
use super::super::layers::Misfit;
use crate::sentences::SentenceSplitter;
use crate::tokenize::{Tokenizer, TokenizerProfile};
use fieldmark_core::scheme::Scheme;
use std::fmt;
use std::str::FromStr;

/// A column, by place or by name.
///
/// ```
/// use fieldmark_text::formats::Column;
/// assert_eq!("2".parse(), Ok(Column::At(2)));
/// assert_eq!("-1".parse(), Ok(Column::FromEnd(1)));
/// assert_eq!("pos".parse(), Ok(Column::Named("pos".to_owned())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// From the left; the first is 0.
    At(usize),
    /// From the right; the last is 1.
    FromEnd(usize),
    /// By its name in the header line or in the options.
    Named(String),
}

impl FromStr for Column {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match (text.parse(), text.strip_prefix('-').map(str::parse)) {
            (Ok(at), _) => Column::At(at),
            (_, Some(Ok(at))) if at > 0 => Column::FromEnd(at),
            _ => Column::Named(text.to_owned()),
        })
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::At(at) => write!(f, "{at}"),
            Column::FromEnd(at) => write!(f, "-{at}"),
            Column::Named(name) => f.write_str(name),
        }
    }
}

impl Column {
    /// The place of the column among others.
    pub(crate) fn find(&self, names: &[String]) -> Option<usize> {
        match self {
            Column::At(at) => (*at < names.len()).then_some(*at),
            Column::FromEnd(at) => names.len().checked_sub(*at),
            Column::Named(name) => names.iter().position(|known| known == name),
        }
    }
}

/// What stands between the cells of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellSeparator {
    /// One tab. Cells may hold spaces and may be empty.
    Tab,
    /// Any run of spaces and tabs.
    Whitespace,
    /// A comma. The first cell may hold commas as well; quotation marks are plain characters.
    Comma,
}

/// What a document is in a file of columns.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentBorders {
    /// What is between marks; each sentence when the file has no mark.
    #[default]
    Auto,
    /// Each sentence. Marks still tell its id.
    Sentences,
    /// The whole file. Marks are skipped.
    File,
}

/// How to read columns. The default finds out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnOptions {
    /// The encoding. By default a byte that is not UTF-8 is an error: files of which tokens are parts of
    /// characters, as in the SCAI corpora, are read as `latin1`.
    pub encoding: Option<Encoding>,
    /// What stands between cells; by default a tab if the first line has one, then white space, then a comma.
    pub separator: Option<CellSeparator>,
    /// Whether the first line names the columns; by default when it looks like it (`word … tag`).
    pub header: Option<bool>,
    /// Names of the columns from the left, which win over those of the header. Without either they are `word`,
    /// `c1`, `c2`, … and `label`.
    pub names: Vec<String>,
    /// The column of the word; by default the first.
    pub word: Option<Column>,
    /// The label columns; by default the last one of several.
    pub labels: Option<Vec<Column>>,
    /// The columns of the first character of each token and of one past its last character; by default they are
    /// found when labels have a bar before them, as in the SCAI corpora.
    pub offsets: Option<[Column; 2]>,
    /// What a document is.
    pub documents: DocumentBorders,
}

/// How the writer marks the beginning of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DocumentMark {
    /// `-DOCSTART-(id)` in place of a word, or `-DOCSTART-` if the id is the number of the document: a row like others,
    /// and a sentence of its own, which everything that reads columns understands (CoNLL 2003).
    #[default]
    DocStart,
    /// `### id`.
    Hashes,
    /// `#id`.
    Hash,
    /// `###MEDLINE:id`.
    Medline,
    /// None.
    None,
}

/// How to write columns.
#[derive(Clone, Debug)]
pub struct ColumnWriterOptions {
    /// What stands between cells.
    pub separator: CellSeparator,
    /// Whether to write a line with the names of the columns.
    pub header: bool,
    /// Names of the label columns: as many spans as there are names can lie on one token.
    pub labels: Vec<String>,
    /// How spans are written.
    pub scheme: Scheme,
    /// What to do with spans that begin or end inside a token.
    pub misfit: Misfit,
    /// Mark of a document; documents that are [unmarked](crate::document::Document::unmarked) have none.
    pub mark: DocumentMark,
    /// Whether to write the offsets of tokens in characters, and labels with a bar before them, as in the SCAI
    /// corpora. Then the text can be read again as it was.
    pub offsets: bool,
    /// Whether to write the columns that the source of a document gave.
    pub columns: bool,
    /// Sentences of documents that come without tokens.
    pub sentences: SentenceSplitter,
    /// Tokens of documents that come without tokens.
    pub tokenizer: Tokenizer,
}

impl Default for ColumnWriterOptions {
    fn default() -> Self {
        Self {
            separator: CellSeparator::Tab,
            header: false,
            labels: vec!["label".to_owned()],
            scheme: Scheme::Iob2,
            misfit: Misfit::default(),
            mark: DocumentMark::default(),
            offsets: false,
            columns: true,
            sentences: SentenceSplitter::default(),
            tokenizer: Tokenizer::new(TokenizerProfile::Punctuation),
        }
    }
}
