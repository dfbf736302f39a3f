//! Reading documents that are named on the command line or in a config, and telling what was lost.

use crate::console::Console;
use crate::failure::Failure;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{self, Notice, Notices, ReadOptions};
use std::path::{Path, PathBuf};

/// Reads all documents of some files, whose names are relative to `folder`.
pub fn read_all(
    files: &[PathBuf],
    folder: &Path,
    options: &ReadOptions,
    notices: &mut Notices,
) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for source in sources(files, folder) {
        let mut reader = options.open(&source)?;
        while let Some(document) = reader.next(notices)? {
            documents.push(document);
        }
    }
    Ok(documents)
}

fn sources(files: &[PathBuf], folder: &Path) -> impl Iterator<Item = Source> {
    files.iter().map(move |file| match file {
        file if file == Path::new("-") => Source::Stdin,
        file => Source::File(folder.join(file)),
    })
}

/// The files of genes and alternatives that some files of the gene mention task bring along.
pub fn mention_files(files: &[PathBuf], folder: &Path, options: &ReadOptions) -> Vec<PathBuf> {
    let found = sources(files, folder).filter_map(|source| options.mention_files(&source));
    found
        .flat_map(|found| found.genes.into_iter().chain(found.alternatives))
        .collect()
}

/// Tells which files of genes belong to files of the gene mention task.
pub fn tell_mentions(files: &[PathBuf], folder: &Path, options: &ReadOptions, console: &Console) {
    for source in sources(files, folder) {
        let (Some(found), name) = (options.mention_files(&source), source.name()) else {
            continue;
        };
        let [genes, alternatives] = formats::mention_files(Path::new(&name));
        console.note(&match (found.genes, found.alternatives) {
            (Some(genes), Some(alternatives)) => format!(
                "{name}: its genes are in {}, their alternatives in {}",
                genes.display(),
                alternatives.display()
            ),
            (Some(genes), None) => format!(
                "{name}: its genes are in {}; there is no file of alternatives, such as {}",
                genes.display(),
                alternatives.display()
            ),
            (None, _) => format!(
                "{name}: there is no file with its genes, such as {}: no gene in it is known",
                genes.display()
            ),
        });
    }
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
