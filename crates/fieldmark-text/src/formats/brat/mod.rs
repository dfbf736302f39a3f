//! brat stand-off: a text file and, beside it, a file of annotations.
//!
//! ```text
//! note.txt   Iron deficiency was not seen.
//! note.ann   T1<TAB>Disease 0 15<TAB>Iron deficiency
//!            A1<TAB>Negation T1
//!            N1<TAB>Reference T1 MESH:D018798<TAB>anemia, iron-deficiency
//! ```
//!
//! | line | in the [`Document`](crate::document::Document) |
//! |---|---|
//! | `T` span, with fragments `0 4;9 12` | annotation with that id |
//! | `E` event, `R` relation, `*` equivalence | relation; the trigger of an event has the role `trigger`, an equivalence is of kind `Equiv` with the id `*` and parts without roles |
//! | `A`, `M` attribute | attribute, `true` when it has no value; `score` is the score |
//! | `N` identifier | identifier `source:key`; its name is the attribute `name of source:key` |
//! | `#` note | attribute `note`, or `note of type` `X` for notes of a type other than `AnnotatorNotes`; several notes are lines of it |
//!
//! Offsets count characters of the text file as it is, line ends included.

mod read;
mod write;

pub use read::BratReader;
pub(super) use read::text_files;
pub use write::{BratDirectory, BratWriter};

const NOTE: &str = "note";
const NOTE_TYPE: &str = "AnnotatorNotes";
const NOTE_OF: &str = "note of type ";
const NAME_OF: &str = "name of ";
const SCORE: &str = "score";
const EQUIVALENCE: &str = "Equiv";

/// How the names of directories begin in which files are until they are complete.
const STAGING: &str = ".fieldmark-";

#[cfg(test)]
mod tests;
