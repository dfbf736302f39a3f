//! Reading documents that are named on the command line or in a config, and telling what was lost.

use crate::console::Console;
use crate::failure::Failure;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{Notice, Notices, ReadOptions};
use std::path::{Path, PathBuf};

/// Reads all documents of some files, whose names are relative to `folder`.
pub fn read_all(
    files: &[PathBuf],
    folder: &Path,
    options: &ReadOptions,
    notices: &mut Notices,
) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for file in files {
        let source = if file == Path::new("-") {
            Source::Stdin
        } else {
            Source::File(folder.join(file))
        };
        let mut reader = options.open(&source)?;
        while let Some(document) = reader.next(notices)? {
            documents.push(document);
        }
    }
    Ok(documents)
}

/// At most this many notices are printed one by one, unless all are wanted.
const SHOWN: usize = 5;

/// Tells how many notices there are of each kind, and the first of them.
pub fn tell(notices: &Notices, console: &Console) {
    if notices.is_empty() {
        return;
    }
    let counts = notices.counts();
    let counts: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{kind}: {count}"))
        .collect();
    console.warn(&format!(
        "not everything could be used as it is ({})",
        counts.join(", ")
    ));
    notices
        .all()
        .iter()
        .take(SHOWN)
        .for_each(|notice| console.note(&line(notice)));
    if let Some(more) = notices.all().len().checked_sub(SHOWN).filter(|more| *more > 0) {
        console.note(&format!("  … and {more} more"));
    }
}

/// A notice as one line.
pub fn line(notice: &Notice) -> String {
    format!("  {notice}")
}
