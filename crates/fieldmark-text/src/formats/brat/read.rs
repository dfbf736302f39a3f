//! [`BratReader`]: from stand-off to documents.

use super::{EQUIVALENCE, NAME_OF, NOTE, NOTE_OF, NOTE_TYPE, SCORE};
use crate::document::{Annotation, Document, Relation};
use crate::error::ReadError;
use crate::formats::encoding::{Encoding, in_utf8};
use crate::formats::lines::{Lines, load_verbatim, quoted};
use crate::formats::losses::same_text;
use crate::formats::{DocumentReader, NoticeKind, Notices};
use crate::offsets::{Offsets, Unit};
use crate::source::Source;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Reads [brat stand-off](super): a directory, or single documents.
pub struct BratReader {
    /// What is still to be read, the next one last.
    pairs: Vec<Pair>,
    encoding: Encoding,
}

struct Pair {
    id: String,
    text: Source,
    annotations: Option<Source>,
}

const EXPECTED: &str = "a line of brat: `T1<TAB>Type 0 4<TAB>text`, `R1<TAB>Type Arg1:T1 Arg2:T2`, `E1<TAB>Type:T1 Role:T2`, \
                        `A1<TAB>Name T1 value`, `N1<TAB>Reference T1 Source:key<TAB>name`, `#1<TAB>Type T1<TAB>note` or `*<TAB>Equiv T1 T2`";

impl BratReader {
    /// A directory with everything below it, in the order of names, or one `.txt` or `.ann` file. The id of a document
    /// is its path in the directory without the ending.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let fail = |error: io::Error| ReadError::new(&path.display().to_string(), error);
        let mut pairs = Vec::new();
        if std::fs::metadata(path).map_err(fail)?.is_dir() {
            for text in text_files(path)? {
                let id = text.strip_prefix(path).unwrap_or(&text).with_extension("");
                let parts: Vec<String> = id
                    .iter()
                    .map(|part| part.to_string_lossy().into_owned())
                    .collect();
                pairs.push(pair(parts.join("/"), &text));
            }
            pairs.reverse();
        } else {
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
            pairs.push(pair(name.unwrap_or_default(), &path.with_extension("txt")));
        }
        Ok(Self {
            pairs,
            encoding: Encoding::UTF_8,
        })
    }

    /// The same for texts and annotations in this encoding; places count its characters. Without it they are UTF-8.
    pub fn in_encoding(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// One document.
    pub fn new(id: impl Into<String>, text: &Source, annotations: Option<&Source>) -> Self {
        let pair = Pair {
            id: id.into(),
            text: text.clone(),
            annotations: annotations.cloned(),
        };
        Self {
            pairs: vec![pair],
            encoding: Encoding::UTF_8,
        }
    }
}

fn pair(id: String, text: &Path) -> Pair {
    let annotations = text.with_extension("ann");
    let annotations = annotations.exists().then_some(Source::File(annotations));
    Pair {
        id,
        text: Source::File(text.to_owned()),
        annotations,
    }
}

/// All `.txt` files in and below a directory, sorted.
pub(in crate::formats) fn text_files(directory: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let fail = |error: io::Error| ReadError::new(&directory.display().to_string(), error);
        for entry in std::fs::read_dir(&directory).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let path = entry.path();
            // Links to directories are not followed: they could go round.
            if entry.file_type().map_err(fail)?.is_dir() {
                // What a writer that was killed has left is no part of the corpus.
                let staged = entry.file_name().to_string_lossy().starts_with(super::STAGING);
                open.extend((!staged).then_some(path));
            } else if path.extension().is_some_and(|ending| ending == "txt") {
                found.push(path);
            }
        }
    }
    found.sort_by_key(|path| path.with_extension(""));
    Ok(found)
}

impl DocumentReader for BratReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        let Some(Pair {
            id,
            text,
            annotations,
        }) = self.pairs.pop()
        else {
            return Ok(None);
        };
        let text = load_verbatim(&*in_utf8(&text, self.encoding, notices)?)?;
        let Some(annotations) = annotations else {
            return Ok(Some(Document::new(id, text)));
        };
        let mut lines = Lines::new(&*in_utf8(&annotations, self.encoding, notices)?)?;
        let mut builder = Builder {
            document: Document::new(id, ""),
            later: Vec::new(),
            notices,
        };
        let offsets = Offsets::new(&text, Unit::Characters);
        while let Some(line) = lines.next()?.map(str::to_owned) {
            if !line.trim().is_empty() && builder.line(&line, lines.number(), &offsets).is_none() {
                return Err(lines.malformed(1, quoted(&line), EXPECTED));
            }
        }
        builder.finish();
        let mut document = builder.document;
        document.text = text;
        Ok(Some(document))
    }
}

/// Something said about another annotation.
struct Later {
    line: u64,
    target: String,
    fact: Fact,
}

enum Fact {
    Attribute(String, String),
    Identifier(String, String),
    Note(String, String),
}

struct Builder<'a> {
    document: Document,
    later: Vec<Later>,
    notices: &'a mut Notices,
}

impl Builder<'_> {
    /// Takes a line; `None` if it is none of the format.
    fn line(&mut self, line: &str, number: u64, offsets: &Offsets<'_>) -> Option<()> {
        let (id, rest) = line.split_once('\t')?;
        let (body, tail) = match rest.split_once('\t') {
            Some((body, tail)) => (body, Some(tail)),
            None => (rest, None),
        };
        let mut words = body.split(' ').filter(|word| !word.is_empty());
        match id.chars().next()? {
            'T' => return self.span(id, body, tail, number, offsets),
            'R' => {
                let kind = words.next()?.to_owned();
                let arguments = arguments(words)?;
                self.document.relations.push(Relation {
                    id: id.to_owned(),
                    kind,
                    arguments,
                    ..Relation::default()
                });
            }
            'E' => {
                let (kind, trigger) = words.next()?.split_once(':')?;
                let mut all = vec![("trigger".to_owned(), trigger.to_owned())];
                all.extend(arguments(words)?);
                let relation = Relation {
                    id: id.to_owned(),
                    kind: kind.to_owned(),
                    arguments: all,
                    ..Relation::default()
                };
                self.document.relations.push(relation);
            }
            '*' => {
                let kind = words.next()?.to_owned();
                let arguments = words.map(|part| (String::new(), part.to_owned())).collect();
                self.document.relations.push(Relation {
                    id: "*".to_owned(),
                    kind,
                    arguments,
                    ..Relation::default()
                });
            }
            'A' | 'M' => {
                let mut parts = body.splitn(3, ' ');
                let (name, target) = (parts.next()?.to_owned(), parts.next()?);
                let value = parts.next().unwrap_or("true").to_owned();
                self.keep(number, target, Fact::Attribute(name, value));
            }
            'N' => {
                let (_, target, identifier) = (words.next()?, words.next()?, words.next()?);
                let name = tail.unwrap_or_default().to_owned();
                self.keep(number, target, Fact::Identifier(identifier.to_owned(), name));
            }
            '#' => {
                let (kind, target) = (words.next()?.to_owned(), words.next()?);
                self.keep(
                    number,
                    target,
                    Fact::Note(kind, tail.unwrap_or_default().to_owned()),
                );
            }
            _ => return None,
        }
        Some(())
    }

    fn keep(&mut self, line: u64, target: &str, fact: Fact) {
        self.later.push(Later {
            line,
            target: target.to_owned(),
            fact,
        });
    }

    fn span(
        &mut self,
        id: &str,
        body: &str,
        tail: Option<&str>,
        line: u64,
        offsets: &Offsets<'_>,
    ) -> Option<()> {
        let (kind, places) = body.split_once(' ')?;
        let mut fragments = Vec::new();
        for place in places.split(';') {
            let (start, end) = place.trim().split_once(' ')?;
            fragments.push(start.parse::<usize>().ok()?..end.trim_start().parse::<usize>().ok()?);
        }
        let document = &self.document.id;
        let mut tell = |notice, what: String| {
            self.notices
                .add(notice, document, Some(line), format!("{id} `{kind}` {what}"));
        };
        let byte = |fragment: &Range<usize>| Some(offsets.byte(fragment.start)?..offsets.byte(fragment.end)?);
        let Some(mut bytes) = fragments.iter().map(byte).collect::<Option<Vec<_>>>() else {
            tell(
                NoticeKind::OutsideText,
                format!(
                    "at {places} was left out: the text has {} characters",
                    offsets.end()
                ),
            );
            return Some(());
        };
        if bytes.iter().any(Range::is_empty) {
            tell(
                NoticeKind::Empty,
                format!("at {places} was left out: a fragment holds no character"),
            );
            return Some(());
        }
        bytes.sort_by_key(|fragment| fragment.start);
        let text = offsets.text();
        let covered: Vec<&str> = bytes.iter().map(|fragment| &text[fragment.clone()]).collect();
        let covered = covered.join(" ");
        if let Some(said) = tail.filter(|said| !same_text(said, &covered)) {
            tell(
                NoticeKind::OtherText,
                format!("covers `{covered}`, the file says `{said}`"),
            );
        }
        let annotation = Annotation {
            id: id.to_owned(),
            kind: kind.to_owned(),
            fragments: bytes,
            ..Annotation::default()
        };
        self.document.annotations.push(annotation);
        Some(())
    }

    /// Gives attributes, identifiers and notes to what they are about.
    fn finish(&mut self) {
        let Document {
            id: document,
            annotations,
            relations,
            ..
        } = &mut self.document;
        let by_id: HashMap<String, usize> = annotations
            .iter()
            .enumerate()
            .map(|(at, found)| (found.id.clone(), at))
            .collect();
        let relations_by_id: HashMap<String, usize> = relations
            .iter()
            .enumerate()
            .map(|(at, found)| (found.id.clone(), at))
            .collect();
        for Later { line, target, fact } in self.later.drain(..) {
            let refused = if let Some(&at) = by_id.get(&target) {
                annotate(&mut annotations[at], fact)
            } else if let Some(&at) = relations_by_id.get(&target) {
                relate(&mut relations[at], fact)
            } else {
                Some(format!(
                    "what is said about `{target}` was left out: there is no such annotation"
                ))
            };
            if let Some(message) = refused {
                self.notices
                    .add(NoticeKind::Skipped, document, Some(line), message);
            }
        }
    }
}

fn arguments<'a>(words: impl Iterator<Item = &'a str>) -> Option<Vec<(String, String)>> {
    let pair = |word: &str| {
        word.split_once(':')
            .map(|(role, id)| (role.to_owned(), id.to_owned()))
    };
    words.map(pair).collect()
}

/// Adds a fact; says so if there is no place for it.
fn annotate(annotation: &mut Annotation, fact: Fact) -> Option<String> {
    match fact {
        Fact::Attribute(name, value)
            if name == SCORE && annotation.score.is_none() && value.parse::<f64>().is_ok() =>
        {
            annotation.score = value.parse().ok();
            None
        }
        Fact::Identifier(identifier, name) => {
            if !name.is_empty() {
                annotation
                    .attributes
                    .insert(format!("{NAME_OF}{identifier}"), name);
            }
            annotation.identifiers.push(identifier);
            None
        }
        fact => add(&mut annotation.attributes, fact),
    }
}

fn relate(relation: &mut Relation, fact: Fact) -> Option<String> {
    match fact {
        Fact::Identifier(identifier, _) => {
            Some(format!("the identifier {identifier} of a relation was left out"))
        }
        fact => add(&mut relation.attributes, fact),
    }
}

fn add(attributes: &mut BTreeMap<String, String>, fact: Fact) -> Option<String> {
    match fact {
        Fact::Attribute(name, value) => match attributes.get(&name) {
            Some(old) => Some(format!(
                "the attribute {name} is `{old}` already, `{value}` was left out"
            )),
            None => {
                attributes.insert(name, value);
                None
            }
        },
        Fact::Note(kind, note) => {
            let name = if kind == NOTE_TYPE {
                NOTE.to_owned()
            } else {
                format!("{NOTE_OF}{kind}")
            };
            let notes = attributes.entry(name);
            notes
                .and_modify(|notes| {
                    notes.push('\n');
                    notes.push_str(&note)
                })
                .or_insert(note);
            None
        }
        Fact::Identifier(..) => None,
    }
}

/// Whether a relation is an equivalence.
pub(super) fn is_equivalence(relation: &Relation) -> bool {
    relation.id == "*"
        || (relation.kind == EQUIVALENCE && relation.arguments.iter().all(|(role, _)| role.is_empty()))
}
