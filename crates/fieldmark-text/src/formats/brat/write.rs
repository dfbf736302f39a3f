//! [`BratWriter`] and [`BratDirectory`]: from documents to stand-off.

use super::read::is_equivalence;
use super::{NAME_OF, NOTE, NOTE_OF, NOTE_TYPE, SCORE, STAGING};
use crate::document::{Annotation, Document, Relation};
use crate::formats::losses::{Holds, Places, one_line};
use crate::formats::{DocumentWriter, NoticeKind, Notices};
use crate::offsets::{Offsets, Unit};
use fieldmark_core::container::sync_directory;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes one document as [brat stand-off](super) to two outputs; several go one after the other, which is of use for
/// tests only. [`BratDirectory`] writes files.
#[derive(Debug)]
pub struct BratWriter<W> {
    text: W,
    annotations: W,
}

impl<W: Write> BratWriter<W> {
    /// Writes the text to one output, the annotations to the other.
    pub fn new(text: W, annotations: W) -> Self {
        Self { text, annotations }
    }

    /// The outputs: text and annotations.
    pub fn into_inner(self) -> [W; 2] {
        [self.text, self.annotations]
    }
}

/// Writes documents as [brat stand-off](super) to the files `id.txt` and `id.ann` of a directory.
///
/// Characters that file names do not have everywhere become `_`, and a number is added to a name that exists already;
/// both are told. The files are forced to disk and appear when the writer has finished.
#[derive(Debug)]
pub struct BratDirectory {
    directory: PathBuf,
    /// Where files are until all of them are complete.
    staging: tempfile::TempDir,
    written: HashSet<String>,
}

impl BratDirectory {
    /// Makes the directory if it does not exist.
    pub fn new(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let mut staging = tempfile::Builder::new();
        Ok(Self {
            directory: directory.to_owned(),
            staging: staging.prefix(STAGING).tempdir_in(directory)?,
            written: HashSet::new(),
        })
    }

    fn file_name(&mut self, id: &str) -> String {
        let safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ' | '+' | ',' | '=');
        // A path that a reader made from a directory tree; dots alone would leave the directory.
        let part = |part: &str| -> String {
            let part: String = part.chars().map(|c| if safe(c) { c } else { '_' }).collect();
            if part.trim_matches(['.', ' ']).is_empty() {
                "_".to_owned()
            } else {
                part
            }
        };
        // A text that has been read from a file of this name.
        let id = id.strip_suffix(".txt").filter(|id| !id.is_empty()).unwrap_or(id);
        let parts: Vec<String> = id.split('/').map(part).collect();
        let name = parts.join("/");
        let mut unique = name.clone();
        let mut number = 2;
        while !self.written.insert(unique.clone()) {
            unique = format!("{name}-{number}");
            number += 1;
        }
        unique
    }
}

impl DocumentWriter for BratDirectory {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let name = self.file_name(&document.id);
        if name != document.id && format!("{name}.txt") != document.id {
            notices.add(
                NoticeKind::Detail,
                &document.id,
                None,
                format!("it was written to `{name}.txt`"),
            );
        }
        make_parent(&self.staging.path().join(&name))?;
        let [text, marks] = files(self.staging.path(), &name);
        let mut writer = BratWriter::new(
            io::BufWriter::new(fs::File::create(text)?),
            io::BufWriter::new(fs::File::create(marks)?),
        );
        writer.write(document, notices)?;
        writer.finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        for file in self
            .written
            .iter()
            .flat_map(|name| files(self.staging.path(), name))
        {
            fs::OpenOptions::new().write(true).open(file)?.sync_all()?;
        }
        let mut directories = HashSet::from([self.directory.clone()]);
        for name in self.written.drain() {
            let (staged, named) = (files(self.staging.path(), &name), files(&self.directory, &name));
            make_parent(&named[0])?;
            for (staged, named) in staged.iter().zip(&named) {
                fs::rename(staged, named)?;
            }
            directories.extend(named[0].parent().map(Path::to_owned));
        }
        directories
            .iter()
            .try_for_each(|directory| sync_directory(directory))
    }
}

/// The files of a document. (Not by `with_extension`, which would cut off what follows a point in the name.)
fn files(directory: &Path, name: &str) -> [PathBuf; 2] {
    ["txt", "ann"].map(|ending| directory.join(format!("{name}.{ending}")))
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Ids for brat: those of the document where they have the form of brat, new ones elsewhere.
struct Ids<'a> {
    known: HashMap<&'a str, String>,
    annotations: Vec<String>,
    relations: Vec<String>,
}

impl<'a> Ids<'a> {
    fn new(document: &'a Document) -> Self {
        let mut used = HashSet::new();
        let mut known = HashMap::new();
        let kept = |used: &mut HashSet<String>, id: &str, letter: char| {
            let number = id
                .strip_prefix(letter)
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
            (number && used.insert(id.to_owned())).then(|| id.to_owned())
        };
        let annotations: Vec<Option<String>> = document
            .annotations
            .iter()
            .map(|annotation| kept(&mut used, &annotation.id, 'T'))
            .collect();
        let relations: Vec<Option<String>> = document
            .relations
            .iter()
            .map(|relation| kept(&mut used, &relation.id, letter(relation)))
            .collect();
        let mut next: HashMap<char, usize> = HashMap::new();
        let mut fresh = |letter: char| loop {
            let number = next.entry(letter).or_default();
            *number += 1;
            let id = format!("{letter}{number}");
            if !used.contains(&id) {
                break id;
            }
        };
        let annotations: Vec<String> = annotations
            .into_iter()
            .map(|id| id.unwrap_or_else(|| fresh('T')))
            .collect();
        let relations: Vec<String> = relations
            .into_iter()
            .zip(&document.relations)
            .map(|(id, relation)| id.unwrap_or_else(|| fresh(letter(relation))))
            .collect();
        let named = document
            .annotations
            .iter()
            .map(|annotation| annotation.id.as_str())
            .zip(&annotations);
        let related = document
            .relations
            .iter()
            .map(|relation| relation.id.as_str())
            .zip(&relations);
        for (id, new) in named.chain(related).filter(|(id, _)| !id.is_empty()) {
            known.entry(id).or_insert_with(|| new.clone());
        }
        Self {
            known,
            annotations,
            relations,
        }
    }
}

/// Events have a trigger.
fn letter(relation: &Relation) -> char {
    let event = relation
        .arguments
        .first()
        .is_some_and(|(role, _)| role == "trigger");
    if event { 'E' } else { 'R' }
}

/// A word of a line: white space becomes `_`.
fn word(text: &str, what: &str, document: &Document, notices: &mut Notices) -> String {
    let bad = |c: char| c.is_whitespace() || c == '\0';
    let written: String = text.chars().map(|c| if bad(c) { '_' } else { c }).collect();
    let written = if written.is_empty() {
        "_".to_owned()
    } else {
        written
    };
    if written != text {
        notices.add(
            NoticeKind::Detail,
            &document.id,
            None,
            format!("the {what} `{text}` was written as `{written}`"),
        );
    }
    written
}

struct Lines<'a, W> {
    document: &'a Document,
    places: Places<'a>,
    output: &'a mut W,
    notices: &'a mut Notices,
    attributes: usize,
    identifiers: usize,
    notes: usize,
}

impl<W: Write> Lines<'_, W> {
    fn span(&mut self, id: &str, annotation: &Annotation, offsets: &Offsets<'_>) -> io::Result<()> {
        let text = &self.document.text;
        let kind = word(&annotation.kind, "type", self.document, self.notices);
        let mut places = Vec::new();
        let mut covered = Vec::new();
        for fragment in &annotation.fragments {
            let (Some(start), Some(end), Some(part)) = (
                offsets.count(fragment.start),
                offsets.count(fragment.end),
                text.get(fragment.clone()),
            ) else {
                let message = format!("{} was left out", self.places.name(annotation));
                self.notices
                    .add(NoticeKind::OutsideText, &self.document.id, None, message);
                return Ok(());
            };
            places.push(format!("{start} {end}"));
            covered.push(one_line(part, |c| c == '\t').0);
        }
        if places.is_empty() {
            let message = format!("{} was left out", self.places.name(annotation));
            self.notices
                .add(NoticeKind::Empty, &self.document.id, None, message);
            return Ok(());
        }
        writeln!(
            self.output,
            "{id}\t{kind} {}\t{}",
            places.join(";"),
            covered.join(" ")
        )?;
        if let Some(score) = annotation.score {
            self.attributes += 1;
            writeln!(self.output, "A{}\t{SCORE} {id} {score}", self.attributes)?;
        }
        for identifier in &annotation.identifiers {
            self.identifiers += 1;
            let name = annotation.attributes.get(&format!("{NAME_OF}{identifier}"));
            let name = one_line(name.map_or("", String::as_str), |c| c == '\t').0;
            let identifier = word(identifier, "identifier", self.document, self.notices);
            let tail = if name.is_empty() {
                String::new()
            } else {
                format!("\t{name}")
            };
            writeln!(
                self.output,
                "N{}\tReference {id} {identifier}{tail}",
                self.identifiers
            )?;
        }
        let named = |key: &str| {
            let identifier = key.strip_prefix(NAME_OF);
            identifier
                .is_some_and(|identifier| annotation.identifiers.iter().any(|known| known == identifier))
        };
        self.facts(id, &annotation.attributes, named)
    }

    fn facts(
        &mut self,
        id: &str,
        attributes: &BTreeMap<String, String>,
        written: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        for (key, value) in attributes.iter().filter(|(key, _)| !written(key)) {
            let kind = if key == NOTE {
                Some(NOTE_TYPE)
            } else {
                key.strip_prefix(NOTE_OF)
            };
            if let Some(kind) = kind {
                let kind = word(kind, "type of a note", self.document, self.notices);
                for line in value.split('\n') {
                    self.notes += 1;
                    writeln!(
                        self.output,
                        "#{}\t{kind} {id}\t{}",
                        self.notes,
                        one_line(line, |_| false).0
                    )?;
                }
                continue;
            }
            self.attributes += 1;
            let name = word(key, "attribute", self.document, self.notices);
            let (line, broken) = one_line(value, |c| c == '\t');
            let line = line.trim_end();
            if broken || line != value || line.is_empty() {
                self.notices.add(
                    NoticeKind::Detail,
                    &self.document.id,
                    None,
                    format!("the value of `{key}` was written as `{line}`"),
                );
            }
            let tail = if line == "true" || line.is_empty() {
                String::new()
            } else {
                format!(" {line}")
            };
            writeln!(self.output, "A{}\t{name} {id}{tail}", self.attributes)?;
        }
        Ok(())
    }

    fn relation(&mut self, id: &str, relation: &Relation, ids: &Ids<'_>) -> io::Result<()> {
        let mut parts = Vec::new();
        for (role, part) in &relation.arguments {
            let Some(part) = ids.known.get(part.as_str()) else {
                let message = format!(
                    "`{}` {} was left out: there is no annotation `{part}`",
                    relation.kind, relation.id
                );
                self.notices
                    .add(NoticeKind::Relation, &self.document.id, None, message);
                return Ok(());
            };
            parts.push((role.replace([':', ' ', '\t', '\n', '\r'], "_"), part));
        }
        let kind = word(&relation.kind, "type", self.document, self.notices);
        if is_equivalence(relation) {
            let parts: Vec<&str> = parts.iter().map(|(_, part)| part.as_str()).collect();
            if !relation.attributes.is_empty() {
                self.notices.add(
                    NoticeKind::Detail,
                    &self.document.id,
                    None,
                    "an equivalence has no place for attributes",
                );
            }
            return writeln!(self.output, "*\t{kind} {}", parts.join(" "));
        }
        let mut words = Vec::new();
        let event = letter(relation) == 'E';
        for (at, (role, part)) in parts.iter().enumerate() {
            words.push(if at == 0 && event {
                format!("{}:{part}", kind.replace(':', "_"))
            } else {
                format!("{role}:{part}")
            });
        }
        if !event {
            words.insert(0, kind);
        }
        writeln!(self.output, "{id}\t{}", words.join(" "))?;
        self.facts(id, &relation.attributes, |_| false)
    }
}

impl<W: Write> DocumentWriter for BratWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        let holds = Holds {
            scores: true,
            identifiers: true,
            attributes: true,
            relations: true,
            ..Holds::default()
        };
        holds.tell(document, notices);
        self.text.write_all(document.text.as_bytes())?;
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let ids = Ids::new(document);
        let output = &mut self.annotations;
        let mut lines = Lines {
            document,
            places: Places::new(&document.text),
            output,
            notices,
            attributes: 0,
            identifiers: 0,
            notes: 0,
        };
        for (id, annotation) in ids.annotations.iter().zip(&document.annotations) {
            lines.span(id, annotation, &offsets)?;
        }
        for (id, relation) in ids.relations.iter().zip(&document.relations) {
            lines.relation(id, relation, &ids)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.text.flush()?;
        self.annotations.flush()
    }
}
