//! Documents come into a project, with and without labels.

use super::load;
use super::prior::Prior;
use super::settings::holds_out;
use super::state::State;
use super::types::check_name;
use crate::project::{
    Action, Assertion, Borders, Deed, DocumentId, Error, LONGEST_TEXT, NewAction, Project, Settings, Type,
    TypeId, UserId, Writing, now,
};
use fieldmark::config::Config;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{NoticeKind, Notices, ReadOptions};
use fieldmark::{Cut, Describer};
use std::ops::Range;
use std::path::Path;

/// From so many documents on, whole documents are held out; else, sentences.
const MANY_DOCUMENTS: usize = 20;

/// How the labels are used that documents come with.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions {
    /// Whether text without a mark is open, instead of outside of all spans. Sources that say themselves what is open
    /// (`?` in columns) are taken at their word: their other tokens are outside.
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

/// What a document says of its labels.
struct Labels {
    /// What is marked: tokens and type.
    spans: Vec<(Range<usize>, String)>,
    /// For every token whether nothing is said of it; `None`, if the source knows only spans.
    open: Option<Vec<bool>>,
}

/// Documents, ready to be stored.
#[derive(Default)]
pub(super) struct Prepared {
    documents: Vec<(Document, Cut)>,
    /// The labels of each document, if it has any.
    labels: Vec<Option<Labels>>,
    pub notices: Notices,
}

impl Prepared {
    /// Adds those of another source.
    pub fn append(&mut self, other: Self) {
        self.documents.extend(other.documents);
        self.labels.extend(other.labels);
        for notice in other.notices.all() {
            self.notices
                .add(notice.kind, &notice.document, notice.line, notice.message.clone());
        }
    }
}

/// A project that is made or opened.
pub struct NewProject {
    pub(super) project: Project,
    pub(super) describer: Describer,
    pub(super) settings: Settings,
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
                "{} has a config already, by which its documents were cut into tokens; change it once it is open, or make a \
                 new project",
                path.display()
            )));
        }
        let prepared = match (fresh, config) {
            (true, Some(config)) => {
                let read = Describer::read(config, folder)?;
                Some(load::describer(read.config().clone(), read.resources().clone())?)
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
                project.store_mut().atomically(|writing| {
                    if let Some(describer) = &prepared {
                        load::write_config(writing, describer)?;
                    }
                    settings.write(writing)
                })?;
                settings
            }
        };
        Ok(Self {
            describer: match prepared {
                Some(describer) => describer,
                None => load::load_config(&project)?,
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

impl State {
    /// Adds documents, all or nothing.
    pub fn add(&mut self, prepared: Prepared, options: ImportOptions) -> Result<Imported, Error> {
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

/// Cuts the documents of one source into tokens, and finds out what is marked in them.
pub(super) fn prepare(
    describer: &Describer,
    documents: Vec<Document>,
    options: ImportOptions,
) -> Result<Prepared, Error> {
    let mut notices = Notices::new();
    let mut prepared = Prepared {
        documents: Vec::with_capacity(documents.len()),
        labels: Vec::with_capacity(documents.len()),
        notices: Notices::new(),
    };
    let has_labels = |document: &Document| !document.annotations.is_empty() || document.open.is_some();
    let labelled = !options.unlabelled && documents.iter().any(has_labels);
    for mut document in documents {
        if document.text.len() > LONGEST_TEXT {
            return Err(Error::refused(format_args!(
                "{} has {} bytes, and a document has at most {LONGEST_TEXT}; cut it into parts",
                document.id,
                document.text.len()
            )));
        }
        let nul = blank_nul(&mut document);
        if nul > 0 {
            let s = if nul == 1 { "" } else { "s" };
            let message =
                format!("{nul} NUL character{s}, for which no file of text has a place, became blanks");
            notices.add(NoticeKind::Encoding, &document.id, None, message);
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
        let labels = labelled.then(|| Labels {
            spans: describer.spans(&document, &mut notices),
            open: open_tokens(&document, &cut, &mut notices),
        });
        prepared.labels.push(labels);
        prepared.documents.push((document, cut));
    }
    prepared.notices = notices;
    Ok(prepared)
}

/// Makes blanks of NUL characters, which JSON can hold and files of text cannot: whatever is exported is read back. All
/// offsets stay. Returns how many there were.
fn blank_nul(document: &mut Document) -> usize {
    let mut count = 0;
    let mut blank = |text: &mut String| {
        let found = text.matches('\0').count();
        if found > 0 {
            *text = text.replace('\0', " ");
            count += found;
        }
    };
    blank(&mut document.id);
    blank(&mut document.text);
    document.meta.values_mut().for_each(&mut blank);
    let tokens = document.given.iter_mut().flat_map(|given| &mut given.sentences);
    tokens
        .flatten()
        .flat_map(|token| &mut token.columns)
        .for_each(&mut blank);
    let text = &document.text;
    let is_blank = |range: &Range<usize>| text.get(range.clone()).is_some_and(|word| word.trim().is_empty());
    if count > 0 {
        // A token that was nothing else is none.
        let given = document.given.iter_mut();
        for sentence in given.flat_map(|given| &mut given.sentences) {
            sentence.retain(|token| !is_blank(&token.range));
        }
    }
    count
}

/// For every token whether the source says that its label is not known.
fn open_tokens(document: &Document, cut: &Cut, notices: &mut Notices) -> Option<Vec<bool>> {
    let open = document.open.as_ref()?;
    let mut tokens = vec![false; cut.tokens.len()];
    for label in open {
        let first = cut.tokens.partition_point(|token| token.end <= label.range.start);
        let inside = cut.tokens[first..]
            .iter()
            .take_while(|token| token.start < label.range.end);
        let end = first + inside.count();
        tokens[first..end].fill(true);
    }
    let choices = open.iter().filter(|label| !label.labels.is_empty()).count();
    if choices > 0 {
        let message =
            format!("a choice of labels is taken for none, {choices} times: people are asked for one");
        notices.add(NoticeKind::Skipped, &document.id, None, message);
    }
    Some(tokens)
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
    let all = prepared.documents.into_iter().zip(prepared.labels);
    let (mut documents, mut labels) = (Vec::new(), Vec::new());
    let mut seen = known.clone();
    for ((document, cut), its_labels) in all {
        if !seen.insert(print_of(&document)) {
            imported.repeated += 1;
            continue;
        }
        labels.push(its_labels);
        documents.push((document, cut));
    }
    imported.added = documents.len();
    let (first, actions) = project.store_mut().atomically(|writing| {
        let first = writing.add_documents(&documents, |id| holds_out(settings, id))?;
        let mut actions = Vec::new();
        for (id, ((document, cut), labels)) in (first..).zip(documents.iter().zip(labels)) {
            let Some(labels) = labels else { continue };
            let labelled = label(writing, &mut types, user, labels, cut.tokens.len(), options);
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

/// What the labels of a document say, whose types are made if they are new.
fn label(
    writing: &Writing<'_>,
    types: &mut Vec<Type>,
    user: UserId,
    labels: Labels,
    tokens: usize,
    options: ImportOptions,
) -> Result<Option<Deed>, Error> {
    let Labels { spans, open } = labels;
    let partial = options.partial && open.is_none();
    let open = open.unwrap_or_default();
    let is_open = |token: usize| open.get(token).copied().unwrap_or(false);
    let mut assertions = Vec::with_capacity(spans.len());
    let mut outside: Vec<bool> = (0..tokens).map(|token| !is_open(token)).collect();
    for (range, kind) in spans {
        // Beside a token that is not known, the span may go on.
        let ends = range.start.checked_sub(1).is_some_and(is_open) || is_open(range.end);
        outside[range.clone()].fill(false);
        assertions.push(Assertion {
            start: range.start as u32,
            end: range.end as u32,
            kind: Some(ensure_type(writing, types, user, &kind)?),
            borders: if ends { Borders::Open } else { Borders::Exact },
        });
    }
    if !partial && !open.contains(&true) {
        return Ok(Some(Deed::Whole {
            start: 0,
            end: tokens as u32,
            spans: assertions,
        }));
    }
    if !partial {
        let outside = (0..tokens as u32).filter(|&token| outside[token as usize]);
        assertions.extend(outside.map(|token| Assertion {
            start: token,
            end: token + 1,
            kind: None,
            borders: Borders::Open,
        }));
    }
    Ok((!assertions.is_empty()).then_some(Deed::Assert { assertions }))
}

/// The type of a name, which is made if there is none, and comes back if it was removed.
fn ensure_type(
    writing: &Writing<'_>,
    types: &mut Vec<Type>,
    user: UserId,
    name: &str,
) -> Result<TypeId, Error> {
    let name = name.split_whitespace().collect::<Vec<_>>().join("_");
    if let Some(at) = types.iter().position(|one| one.name == name && !one.removed) {
        return Ok(types[at].id);
    }
    if let Some(at) = types.iter().position(|one| one.name == name) {
        let back = super::types::returning(types, &types[at]);
        let request = format!("import-type-{}-{}", back.id, now());
        writing.change_type(&back, user, &request)?;
        types[at] = back;
        return Ok(types[at].id);
    }
    let new = super::types::new_type(types, check_name(&name)?);
    writing.add_type(&new, user, &format!("import-type-{}", new.id))?;
    types.push(new.clone());
    Ok(new.id)
}
