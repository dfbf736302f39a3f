//! Documents as columns: one token in a line, one or more labels behind it.
//!
//! ```text
//! -DOCSTART-(10790217)  -X-  O
//!
//! BCL10                 NN   B-GENE
//! was                   VBD  O
//! ```
//!
//! A blank line ends a sentence. Documents begin with a mark: `-DOCSTART-` or `-DOCSTART-(id)` in place of the word
//! (CoNLL 2003), `### id` (SCAI), `###MEDLINE:id` (JNLPBA) or any other line that begins with `#` and is no row of the
//! table; further such lines right after a mark are kept as `comment`. The writer marks documents by `-DOCSTART-`, and
//! only those that its source tells: a file without marks is written without any. Columns are separated by tabs, white space or commas (`word,tag`,
//! where the word may be a comma itself).
//!
//! - The **text** is made of the words, with a blank between them and a line break between sentences, or, where
//!   the file tells the offsets of tokens, with the gaps that it had. Tokens are kept as
//!   [`GivenTokens`](crate::document::GivenTokens), with all columns that are not labels.
//! - **Label columns** in IO, IOB1, IOB2 or IOBES become annotations, and those of several columns have the
//!   attribute `column`. A label column of another kind (part-of-speech tags) stays a column of the tokens, with the
//!   text of the labels as it is.
//! - **Labels that are unknown or ambiguous** (`?`, `A|B`) are [open](crate::document::Document::open) in a column of
//!   spans; then all others, `O`, too, are known.
//! - **Labels against the scheme** are read generously and told. Labels of no scheme among others that have one are told
//!   and unknown.

mod layout;
mod options;
mod partial;
mod read;
mod write;

pub use options::{CellSeparator, Column, ColumnOptions, ColumnWriterOptions, DocumentBorders, DocumentMark};
pub use read::ColumnReader;
pub use write::ColumnWriter;

#[cfg(test)]
mod tests;
