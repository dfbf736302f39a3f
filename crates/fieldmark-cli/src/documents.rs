//! Reading documents that are named on the command line or in a config, and telling what was lost.

use crate::console::Console;
use crate::failure::Failure;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{self, Notice, NoticeKind, Notices, ReadOptions};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Reads all documents of some files. Their names, and those in the options, are relative to `folder`.
pub fn read_all(
    files: &[PathBuf],
    folder: &Path,
    options: &ReadOptions,
    notices: &mut Notices,
) -> Result<Vec<Document>, Failure> {
    let options = options.relative_to(folder);
    let mut documents = Vec::new();
    let names = Names::new(files);
    for (source, file) in sources(files, folder).zip(files) {
        let mut reader = options.open(&source)?;
        while let Some(mut document) = reader.next(notices)? {
            names.tell_apart(file, &mut document);
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
    let options = options.relative_to(folder);
    let found = sources(files, folder).filter_map(|source| options.mention_files(&source));
    found
        .flat_map(|found| found.genes.into_iter().chain(found.alternatives))
        .collect()
}

/// Tells which files of genes belong to files of the gene mention task.
pub fn tell_mentions(files: &[PathBuf], folder: &Path, options: &ReadOptions, console: &Console) {
    let options = options.relative_to(folder);
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

/// Tells how many notices there are of each kind, and the first of them. Notes about things that were used as they are come
/// before, each as a message of its own.
pub fn tell(notices: &Notices, console: &Console) {
    let is_note = |notice: &&Notice| notice.kind == NoticeKind::Note;
    let mut told = HashSet::new();
    for notice in notices.all().iter().filter(is_note) {
        let place = match notice.place() {
            place if place.is_empty() => place,
            place => format!("{place}: "),
        };
        let note = format!("{place}{}", notice.message);
        if told.insert(note.clone()) {
            console.warn(&note);
        }
    }
    let counts: Vec<String> = notices
        .counts()
        .iter()
        .filter(|(kind, _)| **kind != NoticeKind::Note)
        .map(|(kind, count)| format!("{kind}: {count}"))
        .collect();
    if counts.is_empty() {
        return;
    }
    let mut warning = format!("not everything could be used as it is ({})", counts.join(", "));
    let mut lines = lines(notices.all().iter().filter(|notice| !is_note(notice)));
    for line in lines.by_ref().take(SHOWN) {
        warning += &format!("\n{line}");
    }
    let more = lines.count();
    if more > 0 {
        warning += &format!("\n  … and {more} more");
    }
    // One message: who wants warnings alone wants all of each.
    console.warn(&warning);
}

/// Places of which a line tells at most so many.
const PLACES: usize = 3;

/// Notices as lines: those that say the same of several documents or lines are one line, with the first places.
pub fn grouped(notices: &Notices) -> impl Iterator<Item = String> {
    lines(notices.all().iter())
}

fn lines<'n>(notices: impl Iterator<Item = &'n Notice>) -> impl Iterator<Item = String> {
    let mut groups: Vec<Vec<&Notice>> = Vec::new();
    let mut known: HashMap<(NoticeKind, &str), usize> = HashMap::new();
    for notice in notices {
        let group = known
            .entry((notice.kind, notice.message.as_str()))
            .or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[*group].push(notice);
    }
    groups.into_iter().map(|group| match group.as_slice() {
        [one] => format!("  {one}"),
        all => {
            let Notice { kind, message, .. } = all[0];
            let mut places: Vec<String> = all.iter().map(|notice| notice.place()).collect();
            places.dedup();
            let others = if places.len() > PLACES { ", …" } else { "" };
            places.truncate(PLACES);
            let places = places.join("; ");
            format!("  {} times ({places}{others}): {kind}: {message}", all.len())
        }
    })
}

/// Columns that a model was trained with and that documents lack.
#[derive(Default)]
pub struct MissingColumns {
    documents: usize,
    /// In how many documents.
    lacking: BTreeMap<String, usize>,
}

impl MissingColumns {
    /// Looks at one document more: `missing` are the columns that it lacks.
    pub fn add(&mut self, missing: Vec<&str>) {
        self.documents += 1;
        for column in missing {
            match self.lacking.get_mut(column) {
                Some(count) => *count += 1,
                None => drop(self.lacking.insert(column.to_owned(), 1)),
            }
        }
    }

    /// What there is to tell, if something is lacking.
    pub fn warning(&self) -> Option<String> {
        let most = *self.lacking.values().max()?;
        let names: Vec<String> = self.lacking.keys().map(|name| format!("`{name}`")).collect();
        let (last, others) = names.split_last()?;
        let columns = match others {
            [] => format!("the column {last}"),
            others => format!("the columns {} and {last}", others.join(", ")),
        };
        let documents = match most == self.documents {
            true => "these documents".to_owned(),
            false => format!("{most} of {} documents", self.documents),
        };
        Some(format!(
            "the model was trained with {columns}, which {documents} lack: expect worse labels. data.read.columns of a config, \
             and --columns of eval, name the columns of a file"
        ))
    }

    /// Warns, if something is lacking.
    pub fn tell(&self, console: &Console) {
        if let Some(warning) = self.warning() {
            console.warn(&warning);
        }
    }
}

/// Ids for documents of files that have the same name in several directories.
pub struct Names {
    /// What all files have in common.
    ancestor: PathBuf,
    /// Names that several files have.
    ambiguous: HashSet<OsString>,
}

impl Names {
    pub fn new(files: &[PathBuf]) -> Self {
        let (mut seen, mut ambiguous) = (HashSet::new(), HashSet::new());
        for file in files.iter().collect::<BTreeSet<_>>() {
            let name = file.file_name().unwrap_or_default();
            if !seen.insert(name) {
                ambiguous.insert(name.to_owned());
            }
        }
        let parents = files.iter().map(|file| file.parent().unwrap_or(Path::new("")));
        let ancestor = parents.map(Path::to_owned).reduce(|one, other| {
            let same = one
                .components()
                .zip(other.components())
                .take_while(|(a, b)| a == b);
            same.map(|(component, _)| component).collect()
        });
        Self {
            ancestor: ancestor.unwrap_or_default(),
            ambiguous,
        }
    }

    /// Gives a document that is named after its file a longer name, if the name of the file is not enough.
    pub fn tell_apart(&self, file: &Path, document: &mut Document) {
        let name = file.file_name().unwrap_or_default();
        if !self.ambiguous.contains(name) {
            return;
        }
        let rest = document.id.strip_prefix(&*name.to_string_lossy());
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(':')) {
            let path = file.strip_prefix(&self.ancestor).unwrap_or(file);
            document.id = format!("{}{rest}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_notices_are_one_line() {
        let mut notices = Notices::new();
        for document in ["a", "b", "c", "d"] {
            notices.add(NoticeKind::Detail, document, None, "no place");
        }
        notices.add(NoticeKind::Scheme, "a", Some(3), "odd");
        let lines: Vec<String> = grouped(&notices).collect();
        assert_eq!(
            lines,
            [
                "  4 times (a; b; c, …): detail without a place: no place",
                "  a, line 3: label breaks the scheme: odd"
            ]
        );
    }

    #[test]
    fn files_of_one_name_give_documents_of_two() {
        let files = ["x/a/n.txt", "x/b/n.txt", "x/b/m.txt"].map(PathBuf::from);
        let names = Names::new(&files);
        let told = |file: usize, id: &str| {
            let mut document = Document::new(id, "");
            names.tell_apart(&files[file], &mut document);
            document.id
        };
        assert_eq!(told(0, "n.txt"), "a/n.txt");
        assert_eq!(told(1, "n.txt:7"), "b/n.txt:7");
        assert_eq!(told(2, "m.txt"), "m.txt");
        assert_eq!(told(0, "PMC1"), "PMC1");
        // The same file twice is no other.
        let twice = ["n.txt", "n.txt"].map(PathBuf::from);
        assert!(Names::new(&twice).ambiguous.is_empty());
    }
}
