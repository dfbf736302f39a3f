//! Files that somebody sent, one or several at once, or an archive of them.
//!
//! Some formats have more than one file for a document: brat has a text and its annotations, the gene mention task of
//! BioCreative sentences and their genes. Files that belong together by their names are read together. All that was sent
//! is added, or nothing.

use super::Engine;
use super::import::{ImportOptions, Imported, Prepared, prepare};
use crate::project::Error;
use fieldmark::Describer;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::encoding::read_bytes;
use fieldmark::text::formats::{
    BratReader, DocumentFormat, DocumentReader, GeneMentionReader, Notices, ReadOptions,
};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

/// A file that somebody sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFile {
    /// Its name, with the directories that it had in an archive.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl SentFile {
    fn into_source(self) -> Source {
        Source::Memory {
            name: self.name,
            bytes: self.bytes,
        }
    }
}

/// Files that belong together, by their numbers.
#[derive(Debug, PartialEq, Eq)]
enum Group {
    /// Texts with their annotations.
    Brat(Vec<(usize, usize)>),
    /// Sentences with genes and alternatives.
    Genes(usize, [Option<usize>; 2]),
    /// A file that says everything itself.
    One(usize),
}

impl Engine {
    /// Adds the documents of a file that somebody sent.
    pub fn add_file(
        &self,
        name: &str,
        format: Option<DocumentFormat>,
        bytes: Vec<u8>,
    ) -> Result<Imported, Error> {
        let name = name.to_owned();
        self.add_files(vec![SentFile { name, bytes }], format)
    }

    /// Adds the documents of files that somebody sent, all or nothing.
    pub fn add_files(&self, files: Vec<SentFile>, format: Option<DocumentFormat>) -> Result<Imported, Error> {
        let (describer, read) = {
            let state = self.state();
            let read = state.describer.config().data.read.clone();
            (state.describer.clone(), read)
        };
        let prepared = read_files(&describer, &read, format, unpacked(files)?)?;
        let mut state = self.state();
        let imported = state.add(prepared, ImportOptions::default())?;
        self.tell(&state);
        self.wake.notify_all();
        Ok(imported)
    }
}

/// Reads files, and cuts their documents into tokens.
fn read_files(
    describer: &Describer,
    read: &ReadOptions,
    format: Option<DocumentFormat>,
    files: Vec<SentFile>,
) -> Result<Prepared, Error> {
    let groups = match format {
        // Whoever names a format knows what each file is.
        Some(format) if format != DocumentFormat::Brat && format != DocumentFormat::GeneMention => {
            (0..files.len()).map(Group::One).collect()
        }
        _ => grouped(&files)?,
    };
    let mut files: Vec<Option<SentFile>> = files.into_iter().map(Some).collect();
    let mut prepared = Prepared::default();
    for group in groups {
        let mut take = |file: usize| {
            files[file].take().unwrap_or_else(|| SentFile {
                name: String::new(),
                bytes: Vec::new(),
            })
        };
        let mut notices = Notices::new();
        let mut documents = Vec::new();
        match group {
            Group::Brat(pairs) => {
                for (text, annotations) in pairs {
                    let (text, annotations) = (take(text), take(annotations));
                    let id = text.name.strip_suffix(".txt").unwrap_or(&text.name).to_owned();
                    let mut reader =
                        BratReader::new(id, &text.into_source(), Some(&annotations.into_source()));
                    read_all(&mut reader, &mut documents, &mut notices)?;
                }
            }
            Group::Genes(sentences, mentions) => {
                let sentences = take(sentences).into_source();
                let [genes, alternatives] = mentions.map(|file| file.map(|file| take(file).into_source()));
                let mut reader =
                    GeneMentionReader::new(&sentences, genes.as_ref(), alternatives.as_ref(), read.mentions)?;
                read_all(&mut reader, &mut documents, &mut notices)?;
            }
            Group::One(file) => {
                let file = take(file);
                let name = file.name.clone();
                let source = file.into_source();
                let by_itself = ReadOptions {
                    format,
                    ..read.clone()
                };
                let told = by_itself.format_of(&source, read.format)?;
                // What is true of the files of the config need not be true of one in another format.
                let encoding = match told {
                    Some(told) if read.format.is_some_and(|usual| usual != told) => Default::default(),
                    _ => read.encoding,
                };
                let read = ReadOptions {
                    format: told.or(read.format),
                    encoding,
                    ..read.clone()
                };
                let mut reader = read.open(&source)?;
                let first = documents.len();
                read_all(&mut *reader, &mut documents, &mut notices)?;
                for document in documents[first..].iter_mut().filter(|one| one.id.is_empty()) {
                    document.id.clone_from(&name);
                }
            }
        }
        let mut part = prepare(describer, documents, ImportOptions::default())?;
        for notice in notices.all() {
            part.notices
                .add(notice.kind, &notice.document, notice.line, notice.message.clone());
        }
        prepared.append(part);
    }
    Ok(prepared)
}

fn read_all(
    reader: &mut dyn DocumentReader,
    documents: &mut Vec<Document>,
    notices: &mut Notices,
) -> Result<(), Error> {
    while let Some(document) = reader.next(notices)? {
        documents.push(document);
    }
    Ok(())
}

/// Finds out which files belong together.
fn grouped(files: &[SentFile]) -> Result<Vec<Group>, Error> {
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, file) in files.iter().enumerate() {
        named.entry(&file.name).or_default().push(number);
    }
    let find = |name: &str| match named.get(name).map(Vec::as_slice) {
        None | Some([]) => Ok(None),
        Some([one]) => Ok(Some(*one)),
        Some(_) => Err(Error::refused(format_args!(
            "two files are named {name}, so that nobody can tell which belongs to which; rename one of them"
        ))),
    };
    let missing = |name: &str, other: &str, what: &str| {
        Error::refused(format_args!(
            "{name}: there is no {other} among the files, which holds {what}; send both together"
        ))
    };
    let (mut pairs, mut groups, mut taken) = (Vec::new(), Vec::new(), HashSet::new());
    for (file, SentFile { name, .. }) in files.iter().enumerate() {
        if let Some(stem) = name.strip_suffix(".ann") {
            let wanted = format!("{stem}.txt");
            find(name)?;
            let text = find(&wanted)?.ok_or_else(|| missing(name, &wanted, "the text"))?;
            taken.extend([file, text]);
            pairs.push((text, file));
        } else if let Some(stem) = name.strip_suffix(".in") {
            let mentions = [
                find(&format!("{stem}.GENE.eval"))?,
                find(&format!("{stem}.ALTGENE.eval"))?,
            ];
            taken.insert(file);
            taken.extend(mentions.into_iter().flatten());
            groups.push(Group::Genes(file, mentions));
        } else if let Some(stem) = [".ALTGENE.eval", ".GENE.eval"]
            .iter()
            .find_map(|end| name.strip_suffix(*end))
        {
            let wanted = format!("{stem}.in");
            find(&wanted)?.ok_or_else(|| missing(name, &wanted, "the sentences"))?;
        }
    }
    groups.extend(
        (0..files.len())
            .filter(|file| !taken.contains(file))
            .map(Group::One),
    );
    if !pairs.is_empty() {
        groups.insert(0, Group::Brat(pairs));
    }
    Ok(groups)
}

/// The files that were sent, and those in archives.
fn unpacked(files: Vec<SentFile>) -> Result<Vec<SentFile>, Error> {
    let mut all = Vec::with_capacity(files.len());
    for SentFile { name, bytes } in files {
        // A name without directories: it only tells the format.
        let name = Path::new(&name)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let lower = name.to_lowercase();
        let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
        if ends(&[".tar", ".tar.gz", ".tgz", ".tar.zst"]) {
            all.extend(unpack(&name, bytes)?);
        } else if ends(&[".zip", ".7z", ".rar"]) {
            return Err(Error::refused(format_args!(
                "{name}: such archives cannot be read; send the files themselves, or a .tar or .tar.gz of them"
            )));
        } else {
            all.push(SentFile { name, bytes });
        }
    }
    Ok(all)
}

/// The files of an archive, in the order of their names, without the directory that all of them are in.
fn unpack(name: &str, bytes: Vec<u8>) -> Result<Vec<SentFile>, Error> {
    let fail = |error: std::io::Error| {
        Error::refused(format_args!("{name}: the archive cannot be unpacked: {error}"))
    };
    let plain = read_bytes(&Source::Memory {
        name: name.to_owned(),
        bytes,
    })?;
    let mut files = Vec::new();
    let mut archive = tar::Archive::new(plain.as_slice());
    for entry in archive.entries().map_err(fail)? {
        let mut entry = entry.map_err(fail)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path().map_err(fail)?;
        // Nothing is written to the disk; names are only shown and compared.
        let parts: Vec<String> = path
            .components()
            .filter_map(|part| match part {
                std::path::Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        // What systems and brat itself keep beside documents.
        let last = parts.last().map(String::as_str).unwrap_or_default();
        if last.is_empty() || last.starts_with('.') || last.ends_with(".conf") {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(fail)?;
        files.push((parts, bytes));
    }
    if files.is_empty() {
        return Err(Error::refused(format_args!(
            "{name}: there is no file in the archive"
        )));
    }
    files.sort();
    let common = |at: usize| {
        let first = files[0].0.get(at);
        files
            .iter()
            .all(|(parts, _)| parts.len() > at + 1 && parts.get(at) == first)
    };
    let outer = (0..).take_while(|&at| common(at)).count();
    Ok(files
        .into_iter()
        .map(|(parts, bytes)| SentFile {
            name: parts[outer..].join("/"),
            bytes,
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Vec<SentFile> {
        let file = |name: &&str| SentFile {
            name: (*name).to_owned(),
            bytes: Vec::new(),
        };
        names.iter().map(file).collect()
    }

    #[test]
    fn files_that_belong_together_are_found_by_their_names() {
        let all = files(&[
            "b.ann",
            "x.in",
            "a.txt",
            "b.txt",
            "x.GENE.eval",
            "notes.txt",
            "a.ann",
            "y.in",
        ]);
        let groups = grouped(&all).unwrap();
        let expected = [
            Group::Brat(vec![(3, 0), (2, 6)]),
            Group::Genes(1, [Some(4), None]),
            Group::Genes(7, [None, None]),
            Group::One(5),
        ];
        assert_eq!(groups, expected);
        for (names, problem) in [
            (&["a.ann", "b.txt"][..], "there is no a.txt"),
            (&["x.ALTGENE.eval"], "there is no x.in"),
            (&["a.ann", "a.txt", "a.txt"], "two files are named a.txt"),
            (&["a.ann", "a.ann", "a.txt"], "two files are named a.ann"),
        ] {
            let error = grouped(&files(names)).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn archives_are_unpacked_without_their_directory() {
        let mut archive = tar::Builder::new(Vec::new());
        for name in [
            "./p/corpus/b/2.txt",
            "./p/corpus/a.txt",
            "./p/corpus/.stats",
            "./p/corpus/annotation.conf",
        ] {
            let mut header = tar::Header::new_gnu();
            header.set_size(1);
            header.set_cksum();
            archive.append_data(&mut header, name, &b"x"[..]).unwrap();
        }
        let bytes = archive.into_inner().unwrap();
        let found = unpack("c.tar", bytes.clone()).unwrap();
        let names: Vec<&str> = found.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.txt", "b/2.txt"]);
        let error = unpack("c.tar", bytes[..700].to_vec()).unwrap_err().to_string();
        assert!(error.contains("c.tar"), "{error}");
        let error = unpacked(files(&["c.zip"])).unwrap_err().to_string();
        assert!(error.contains(".tar.gz"), "{error}");
        assert!(
            unpacked(files(&["c.tgz"])).is_err(),
            "an empty file is no archive"
        );
    }
}
