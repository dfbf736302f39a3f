//! Documents come into a project, with and without labels.

use super::Engine;
use super::prior::Prior;
use super::state::{self, State, share_of};
use super::types::check_name;
use crate::project::{
    Action, Assertion, Borders, Deed, DocumentId, Error, LONGEST_TEXT, NewAction, Project, Settings, Type,
    TypeId, UserId, Writing,
};
use fieldmark::config::Config;
use fieldmark::text::Source;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{NoticeKind, Notices, ReadOptions};
use fieldmark::{Cut, Describer};
use std::path::Path;

/// From so many documents on, whole documents are held out; else, sentences.
const MANY_DOCUMENTS: usize = 20;

/// How the labels are used that documents come with.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions {
    /// Whether text without a mark is open, instead of outside of all spans.
    pub partial: bool,
    /// Whether labels are left behind.
    pub unlabelled: bool,
}

/// What came into a project.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Documents that are new.
    pub added: usize,
    /// Documents that were there already, with the same name and the same text.
    pub repeated: usize,
    /// Those of them with labels.
    pub labelled: usize,
    /// What could not be used as it was.
    pub notices: Notices,
}

/// What is marked in a document: tokens and type.
type Spans = Vec<(std::ops::Range<usize>, String)>;

/// Documents, ready to be stored.
struct Prepared {
    documents: Vec<(Document, Cut)>,
    /// The spans of each document, if it has labels.
    spans: Vec<Option<Spans>>,
    notices: Notices,
}

/// A project that is made or opened.
pub struct NewProject {
    project: Project,
    describer: Describer,
    settings: Settings,
    is_new: bool,
}

impl NewProject {
    /// Opens a project, or makes one with a config and settings, which an existing one has already.
    ///
    /// Files that the config names are relative to `folder`.
    pub fn open(
        path: &Path,
        config: Option<Config>,
        folder: &Path,
        settings: Settings,
    ) -> Result<Self, Error> {
        let fresh = !Project::exists(path);
        if !fresh && config.is_some() {
            return Err(Error::refused(format_args!(
                "{} has a config already, by which its documents were cut into tokens; leave --config out, or make a new \
                 project",
                path.display()
            )));
        }
        let prepared = match (fresh, config) {
            (true, Some(config)) => {
                let read = Describer::read(config, folder)?;
                Some(state::describer(read.config().clone(), read.resources().clone())?)
            }
            _ => None,
        };
        settings.check()?;
        Prior::new(&settings)?;
        let mut project = Project::open(path)?;
        let known = Settings::load(project.store())?;
        let is_new = known.is_none();
        let settings = match known {
            Some(known) => known,
            None => {
                if let Some(describer) = &prepared {
                    state::save_config(&mut project, describer)?;
                }
                settings.save(project.store_mut())?;
                settings
            }
        };
        Ok(Self {
            describer: match prepared {
                Some(describer) => describer,
                None => state::load_config(&project)?,
            },
            project,
            settings,
            is_new,
        })
    }

    /// Whether it was made just now.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How files are read, by the config.
    pub fn read_options(&self) -> &ReadOptions {
        &self.describer.config().data.read
    }

    /// Makes types that are not there yet, all or none.
    pub fn add_types<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        let user = self.project.store_mut().user(crate::project::IMPORT)?;
        let mut types = self.project.store().types()?;
        self.project.store_mut().atomically(|writing| {
            for name in names {
                ensure_type(writing, &mut types, user, check_name(name)?)?;
            }
            Ok(())
        })
    }

    /// Adds documents, all of one source. If one of them has labels, all do: text without a mark is outside of spans,
    /// unless the options say otherwise.
    pub fn add(&mut self, documents: Vec<Document>, options: ImportOptions) -> Result<Imported, Error> {
        let prepared = prepare(&self.describer, documents, options)?;
        let known = known_texts(&self.project)?;
        if known.is_empty() {
            self.settings.held_out_sentences = prepared.documents.len() < MANY_DOCUMENTS;
            self.settings.save(self.project.store_mut())?;
        }
        let (imported, ..) = store(&mut self.project, &self.settings, prepared, options, &known)?;
        Ok(imported)
    }

    /// Lets whoever has the token with this hash act as somebody.
    pub fn add_user(&mut self, name: &str, hash: &str) -> Result<(), Error> {
        let user = self.project.store_mut().user(name)?;
        self.project.store_mut().add_token(user, hash)
    }

    /// The project, to be loaded by an engine.
    pub fn into_project(self) -> Project {
        self.project
    }
}

impl Engine {
    /// Adds the documents of a file that somebody sent.
    pub fn add_file(
        &self,
        name: &str,
        format: Option<fieldmark::text::formats::DocumentFormat>,
        bytes: Vec<u8>,
    ) -> Result<Imported, Error> {
        let (describer, read) = {
            let state = self.state();
            let read = state.describer.config().data.read.clone();
            (state.describer.clone(), read)
        };
        // A name without directories: it only tells the format.
        let name = Path::new(name)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let told = format.or_else(|| fieldmark::text::formats::DocumentFormat::by_name(Path::new(&name)));
        // What is true of the files of the config need not be true of one in another format.
        let encoding = match told {
            Some(told) if read.format.is_some_and(|usual| usual != told) => Default::default(),
            _ => read.encoding,
        };
        let read = ReadOptions {
            format: told.or(read.format),
            encoding,
            ..read
        };
        let source = Source::Memory {
            name: name.clone(),
            bytes,
        };
        let mut notices = Notices::new();
        let mut documents = Vec::new();
        let mut reader = read.open(&source)?;
        while let Some(mut document) = reader.next(&mut notices)? {
            if document.id.is_empty() {
                document.id.clone_from(&name);
            }
            documents.push(document);
        }
        let options = ImportOptions::default();
        let prepared = prepare(&describer, documents, options)?;
        let mut state = self.state();
        let mut imported = state.add(prepared, options)?;
        for notice in notices.all() {
            imported
                .notices
                .add(notice.kind, &notice.document, notice.line, notice.message.clone());
        }
        self.tell(&state);
        self.wake.notify_all();
        Ok(imported)
    }
}

impl State {
    fn add(&mut self, prepared: Prepared, options: ImportOptions) -> Result<Imported, Error> {
        let known = known_texts(&self.project)?;
        if known.is_empty() {
            self.settings.held_out_sentences = prepared.documents.len() < MANY_DOCUMENTS;
            self.settings.save(self.project.store_mut())?;
        }
        let (imported, first, actions) = store(&mut self.project, &self.settings, prepared, options, &known)?;
        if imported.added > 0 {
            self.types = self.project.store().types()?;
            self.grow(first, &actions)?;
        }
        Ok(imported)
    }
}

/// Names and texts that are there already, as hashes.
fn known_texts(project: &Project) -> Result<std::collections::HashSet<u64>, Error> {
    let mut known = std::collections::HashSet::new();
    project.store().for_each_document(0, |stored| {
        known.insert(print_of(&stored.document));
        Ok(())
    })?;
    Ok(known)
}

fn print_of(document: &Document) -> u64 {
    let name = fieldmark::core::Alphabet::hash(&document.id);
    fieldmark::core::Alphabet::hash(&document.text) ^ name.rotate_left(1)
}

fn prepare(
    describer: &Describer,
    documents: Vec<Document>,
    options: ImportOptions,
) -> Result<Prepared, Error> {
    let mut notices = Notices::new();
    let mut prepared = Prepared {
        documents: Vec::with_capacity(documents.len()),
        spans: Vec::with_capacity(documents.len()),
        notices: Notices::new(),
    };
    let labelled = !options.unlabelled && documents.iter().any(|document| !document.annotations.is_empty());
    for mut document in documents {
        if document.text.len() > LONGEST_TEXT {
            return Err(Error::refused(format_args!(
                "{} has {} bytes, and a document has at most {LONGEST_TEXT}; cut it into parts",
                document.id,
                document.text.len()
            )));
        }
        if describer.config().text.retokenize {
            document.given = None;
        }
        let cut = describer.cut(&document, &mut notices);
        if cut.tokens.is_empty() {
            notices.add(
                NoticeKind::Skipped,
                &document.id,
                None,
                "it has no token and is left out",
            );
            continue;
        }
        let spans = labelled.then(|| describer.spans(&document, &mut notices));
        prepared.spans.push(spans);
        prepared.documents.push((document, cut));
    }
    prepared.notices = notices;
    Ok(prepared)
}

/// Stores documents with their types and labels, all or nothing. Returns the number of the first, and what was stored of
/// labels.
fn store(
    project: &mut Project,
    settings: &Settings,
    prepared: Prepared,
    options: ImportOptions,
    known: &std::collections::HashSet<u64>,
) -> Result<(Imported, DocumentId, Vec<Action>), Error> {
    let mut imported = Imported {
        notices: prepared.notices,
        ..Imported::default()
    };
    let user = project.store_mut().user(crate::project::IMPORT)?;
    let mut types = project.store().types()?;
    let all = prepared.documents.into_iter().zip(prepared.spans);
    let (mut documents, mut labels) = (Vec::new(), Vec::new());
    let mut seen = known.clone();
    for ((document, cut), spans) in all {
        if !seen.insert(print_of(&document)) {
            imported.repeated += 1;
            continue;
        }
        labels.push(spans);
        documents.push((document, cut));
    }
    imported.added = documents.len();
    let (first, actions) = project.store_mut().atomically(|writing| {
        let first = writing.add_documents(&documents, |id| {
            !settings.held_out_sentences && share_of(settings.seed, id as u64, u64::MAX) < settings.held_out
        })?;
        let mut actions = Vec::new();
        for (id, ((document, cut), spans)) in (first..).zip(documents.iter().zip(labels)) {
            let Some(spans) = spans else { continue };
            let labelled = label(writing, &mut types, user, spans, cut.tokens.len(), options);
            let deed = labelled.map_err(|error| in_document(error, &document.id))?;
            let Some(deed) = deed else { continue };
            actions.push(writing.record(&NewAction {
                request: &format!("import-{id}"),
                user,
                document: Some(id),
                question: None,
                seconds: None,
                deed: &deed,
            })?);
        }
        Ok((first, actions))
    })?;
    imported.labelled = actions.len();
    Ok((imported, first, actions))
}

fn in_document(error: Error, document: &str) -> Error {
    match error {
        Error::Refused(problem) => Error::refused(format_args!("document {document}: {problem}")),
        other => other,
    }
}

/// What the spans of a document say, whose types are made if they are new.
fn label(
    writing: &Writing<'_>,
    types: &mut Vec<Type>,
    user: UserId,
    spans: Spans,
    tokens: usize,
    options: ImportOptions,
) -> Result<Option<Deed>, Error> {
    let mut assertions = Vec::with_capacity(spans.len());
    for (range, kind) in spans {
        assertions.push(Assertion {
            start: range.start as u32,
            end: range.end as u32,
            kind: Some(ensure_type(writing, types, user, &kind)?),
            borders: Borders::Exact,
        });
    }
    Ok(match options.partial {
        true if assertions.is_empty() => None,
        true => Some(Deed::Assert { assertions }),
        false => Some(Deed::Whole {
            start: 0,
            end: tokens as u32,
            spans: assertions,
        }),
    })
}

/// The type of a name, which is made if there is none.
fn ensure_type(
    writing: &Writing<'_>,
    types: &mut Vec<Type>,
    user: UserId,
    name: &str,
) -> Result<TypeId, Error> {
    let name = name.split_whitespace().collect::<Vec<_>>().join("_");
    if let Some(found) = types.iter().find(|one| one.name == name) {
        return Ok(found.id);
    }
    let new = super::types::new_type(types, check_name(&name)?);
    writing.add_type(&new, user, &format!("import-type-{}", new.id))?;
    types.push(new.clone());
    Ok(new.id)
}
