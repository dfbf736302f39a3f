//! [`ReadError`]: what is wrong in which file, line and column, and what to do about it.

use std::fmt;
use std::io;

/// Why an input could not be read.
///
/// The message names the file, the line and the column (in characters, from 1) where they are known:
///
/// ```
/// use fieldmark_text::{Format, Source, read_training};
/// let source = Source::text("train.crfsuite", "B-NP\tw=a\tn:high\n");
/// let error = read_training(&source, &Format::attributes()).unwrap_err();
/// assert!(error.to_string().starts_with("train.crfsuite:1:12: "));
/// ```
#[derive(Debug)]
pub struct ReadError {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: String,
    place: Option<(u64, u64)>,
    kind: ErrorKind,
}

/// What went wrong, without the place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system or the decompressor refused.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A compressed file ends early or is damaged.
    #[error("cannot decompress ({format}): {message}. Is the file complete?")]
    Compressed {
        /// `gzip` or `zstd`.
        format: &'static str,
        /// What the decompressor said.
        message: String,
    },
    /// There is no sequence in the input.
    #[error("there is no sequence in this input: it is empty or holds only blank lines")]
    Empty,
    /// A byte that is not UTF-8.
    #[error(
        "byte {offset} (0x{byte:02X}) is not valid UTF-8. Convert the file, for example with `iconv -f latin1 -t utf-8`"
    )]
    Utf8 {
        /// Position of the byte in the (decompressed) input, from 0.
        offset: u64,
        /// The byte.
        byte: u8,
    },
    /// The byte order mark of UTF-16 or UTF-32.
    #[error("this is UTF-16 or UTF-32 text. Convert it to UTF-8, for example with `iconv -t utf-8`")]
    Utf16,
    /// A NUL byte.
    #[error("byte {offset} is NUL: this looks like a binary file, not like text")]
    Nul {
        /// Position of the byte in the (decompressed) input, from 0.
        offset: u64,
    },
    /// Something else than the format has at this place.
    #[error("found {found}, expected {expected}")]
    Malformed {
        /// What was found.
        found: String,
        /// What the format has there.
        expected: &'static str,
    },
    /// An option that does not fit the input.
    #[error("{0}")]
    Option(String),
    /// A line without a label.
    #[error("the label is missing: {found}. The {place} of a line is its label")]
    MissingLabel {
        /// What stands in its place.
        found: String,
        /// `first field` or `last column`.
        place: &'static str,
    },
    /// A label that cannot be read.
    #[error("found the label `{label}`: {problem}")]
    Label {
        /// The label as written.
        label: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An attribute that is not `name` or `name:value`.
    #[error("found `{found}`, expected `name` or `name:value`: {problem}")]
    Attribute {
        /// The attribute as written.
        found: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A value that is not a finite number.
    #[error("the value of `{name}` is `{value}`, expected a finite number. {advice}", advice = VALUE_ADVICE)]
    Value {
        /// Name of the attribute.
        name: String,
        /// The value as written.
        value: String,
    },
    /// A value beyond the range of numbers.
    #[error("the value of `{name}` is `{value}`, which is too large: values are at most 3.4e38")]
    LargeValue {
        /// Name of the attribute.
        name: String,
        /// The value as written.
        value: String,
    },
    /// A line of an attribute file that has spaces, but no tab.
    #[error(
        "found spaces and no tab, expected a tab after the label and between attributes. Is this a column file? \
         Those are read with the format `columns`"
    )]
    SpacesForTabs,
    /// A line with another number of columns than the first line of the file.
    #[error("found {found} columns, expected {expected} as in line {first_line}. {advice}")]
    ColumnCount {
        /// Columns in this line.
        found: usize,
        /// Columns in the first line.
        expected: usize,
        /// The line that set the expectation.
        first_line: u64,
        /// What may have happened.
        advice: String,
    },
    /// Neither as many columns as a model was trained on, nor one more for the label.
    #[error(
        "found {found} column{s}, expected {with} as in training, the last of them the label, or {observed} without labels. \
         Give the columns that the model was trained on",
        s = if *found == 1 { "" } else { "s" },
        with = observed + 1
    )]
    ModelColumns {
        /// Columns in this line.
        found: usize,
        /// Columns beside the label that the model was trained on.
        observed: usize,
    },
    /// Blanks where the file has tabs, or tabs where it has blanks.
    #[error("found {found} between columns, expected {expected} as in line {first_line}. {advice}", advice = SEPARATOR_ADVICE)]
    Separator {
        /// `spaces` or `a tab`.
        found: &'static str,
        /// `tabs` or `spaces`.
        expected: &'static str,
        /// The line that set the expectation.
        first_line: u64,
    },
    /// The template asks for a column that the data do not have.
    #[error(
        "`{macro_text}` in line {template_line} of the template asks for column {column}, but the data have {available}"
    )]
    NoSuchColumn {
        /// The macro as written in the template.
        macro_text: String,
        /// Its line in the template.
        template_line: usize,
        /// The column that it asks for, from 0.
        column: usize,
        /// The columns that there are.
        available: String,
    },
    /// A sequence beyond the limits of the reader.
    #[error(
        "the sequence that starts here has more than {limit} {unit}, the most that fits the memory allowed. Are blank lines between sequences missing?"
    )]
    SequenceTooLong {
        /// The limit.
        limit: u64,
        /// `bytes` or `positions`.
        unit: &'static str,
    },
    /// A line of a word list, lexicon or hierarchy that cannot be understood.
    #[error("{problem}")]
    WordList {
        /// What was found and what was expected.
        problem: String,
    },
    /// A source beyond what is read as a whole.
    #[error(
        "this holds more than {limit} bytes, the most that is read as a whole. Is it what it should be? If so, split it"
    )]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// XML that is not well-formed.
    #[error("this is not well-formed XML: {message}")]
    Xml {
        /// What is wrong.
        message: String,
    },
    /// XML without what a format is about.
    #[error(
        "there is no element `{expected}` in this file, whose outermost element is `{found}`. Is it in another format?"
    )]
    NoElement {
        /// The element that holds a document.
        expected: &'static str,
        /// The outermost element of the file.
        found: String,
    },
    /// A line that does not belong into a MEDLINE record.
    #[error(
        "found `{found}`, expected a field such as `TI  - ` or a continuation that begins with six blanks"
    )]
    Medline {
        /// The line.
        found: String,
    },
    /// A file that is not a PDF file, or one that cannot be read.
    #[error("cannot read this PDF file: {message}")]
    Pdf {
        /// What is wrong.
        message: String,
    },
    /// More data than a data set can number.
    #[error(transparent)]
    Dataset(#[from] fieldmark_core::dataset::DatasetError),
}

const VALUE_ADVICE: &str = "If the colon belongs to the name, write `\\:`";
const SEPARATOR_ADVICE: &str = "Use one kind in the whole file, or read it with the separator `whitespace`";

impl ReadError {
    pub(crate) fn new(file: &str, kind: impl Into<ErrorKind>) -> Self {
        Self {
            inner: Box::new(Inner {
                file: file.to_owned(),
                place: None,
                kind: kind.into(),
            }),
        }
    }

    pub(crate) fn at(file: &str, line: u64, column: u64, kind: ErrorKind) -> Self {
        Self {
            inner: Box::new(Inner {
                file: file.to_owned(),
                place: Some((line, column)),
                kind,
            }),
        }
    }

    /// The file, or `standard input`.
    pub fn file(&self) -> &str {
        &self.inner.file
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<u64> {
        self.inner.place.map(|(line, _)| line)
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> Option<u64> {
        self.inner.place.map(|(_, column)| column)
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.inner.kind
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { file, place, kind } = &*self.inner;
        match place {
            Some((line, column)) => write!(f, "{file}:{line}:{column}: {kind}"),
            None => write!(f, "{file}: {kind}"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.inner.kind {
            ErrorKind::Io(error) => Some(error),
            ErrorKind::Dataset(error) => Some(error),
            _ => None,
        }
    }
}

/// A fault at a byte of a block; the block knows file and line.
#[derive(Debug)]
pub(crate) struct Fault {
    pub offset: usize,
    pub kind: ErrorKind,
}

impl Fault {
    pub fn new(offset: usize, kind: impl Into<ErrorKind>) -> Box<Self> {
        Box::new(Self {
            offset,
            kind: kind.into(),
        })
    }
}

/// At most this much of a user's text goes into a message.
const SHOWN_CHARS: usize = 60;

/// `text`, cut when it is long, with control characters made visible.
pub(crate) fn shown(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(SHOWN_CHARS)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
