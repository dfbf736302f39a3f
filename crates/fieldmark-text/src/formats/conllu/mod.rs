//! CoNLL-U: the ten columns of Universal Dependencies.
//!
//! All ten columns are kept as columns of the tokens, under the names of [`COLUMNS`]. The text is real: there is no
//! blank after a token with `SpaceAfter=No`, a line break before a new paragraph, and otherwise a blank. The
//! words of a multiword token (`1-2`) share its text: each has its own part if their forms together are the
//! token, else each has all of it. Comments, multiword tokens and empty nodes (`8.1`) of sentence *n* are kept line
//! by line as the fact `conllu:n`, and are written again in their places.
//!
//! A document begins with `# newdoc`. Sentences before the first one are documents of their own.
//!
//! Spans are labels in IOB2 under the key `NER` of the last column, as some treebanks have them (`NER=B-LOC`).

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::ConlluReader;
pub use write::{ConlluWriter, ConlluWriterOptions};

use std::ops::Range;

/// Names of the columns of tokens.
pub const COLUMNS: [&str; 10] = [
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
];
const FORM: usize = 1;
const MISC: usize = 9;
const LABEL: &str = "NER=";
const OUTSIDE: &str = "O";

/// The lines of a sentence.
#[derive(Default)]
struct Sentence {
    first_line: u64,
    comments: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
}

impl Sentence {
    fn comment(&self, key: &str) -> Option<&str> {
        let value = |line: &'_ String| -> Option<Range<usize>> {
            let rest = line[1..].trim_start();
            let rest = rest.strip_prefix(key)?.trim_start();
            let start = line.len() - rest.len();
            rest.starts_with('=').then(|| start + 1..line.len())
        };
        let found = self.comments.iter().find_map(|line| Some((line, value(line)?)));
        found.map(|(line, range)| line[range].trim())
    }

    fn begins(&self, what: &str) -> bool {
        let is = |line: &String| {
            let rest = line[1..].trim_start().strip_prefix(what);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '=']))
        };
        self.comments.iter().any(is)
    }
}

/// The place of a line in its sentence: word, part after the point, and whether it is a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    /// `1-2` stands before `1`.
    Range(u32, u32),
    Word(u32),
    Empty(u32, u32),
}

impl Id {
    fn parse(text: &str) -> Option<Self> {
        if let Some((first, last)) = text.split_once('-') {
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            return (first <= last).then_some(Id::Range(first, last));
        }
        match text.split_once('.') {
            Some((word, part)) => Some(Id::Empty(word.parse().ok()?, part.parse().ok()?)),
            None => text.parse().ok().map(Id::Word),
        }
    }

    /// Orders the lines of a sentence.
    fn key(self) -> (u32, u8, u32) {
        match self {
            Id::Range(first, last) => (first, 0, last),
            Id::Word(word) => (word, 1, 0),
            Id::Empty(word, part) => (word, 2, part),
        }
    }
}

/// The white space after a token, by its last column.
fn space_after(misc: &str) -> bool {
    !misc.split('|').any(|entry| entry == "SpaceAfter=No")
}

fn label(misc: &str) -> &str {
    let label = misc.split('|').find_map(|entry| entry.strip_prefix(LABEL));
    label.unwrap_or(OUTSIDE)
}
