//! [`State`]: everything that an engine knows, in memory. It is loaded from the database by doing all actions again.

use super::cells::{self, Cell, LabelMap, Labels};
use super::corpus::Corpus;
use super::history::History;
use super::prior::Prior;
use super::question::Asked;
use super::wire::Progress;
use crate::project::{
    Action, ActionId, Assertion, Borders, Deed, DocumentId, Error, IMPORT, Project, Settings, StoredDocument,
    Type, TypeId, UserId, Writing,
};
use fieldmark::config::{Config, SchemeName, UnseenName};
use fieldmark::core::{Alphabet, Dataset, DatasetBuilder};
use fieldmark::learn::{Estimator, Fitted, LearnOptions, Pool, Ranking, RankingOptions, Strategy};
use fieldmark::text::document::{Document, GivenToken, GivenTokens};
use fieldmark::text::features::Resources;
use fieldmark::{Describer, simulation};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Layer {
    /// Those that hold where people differ.
    Adjudicated,
    /// One person's.
    Person(UserId),
}

/// An action that says something about a document.
#[derive(Clone, Debug)]
struct Entry {
    action: ActionId,
    layer: Layer,
    deed: Arc<Deed>,
}

/// A comment, flag or the like.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub action: ActionId,
    pub user: UserId,
    pub time: i64,
    pub deed: Arc<Deed>,
}

/// What is said of a document.
#[derive(Debug, Default)]
pub(super) struct Said {
    entries: Vec<Entry>,
    layers: Vec<(Layer, Vec<Cell>)>,
    marks: Vec<Mark>,
}

/// Everything that an engine knows.
pub(super) struct State {
    pub project: Project,
    pub settings: Settings,
    pub describer: Arc<Describer>,
    pub learning: LearnOptions,
    pub types: Vec<Type>,
    pub map: LabelMap,
    pub corpus: Arc<Corpus>,
    pub users: Vec<(UserId, String)>,
    pub import: UserId,
    said: HashMap<usize, Said>,
    pub history: HashMap<UserId, History>,
    pub undone: HashSet<ActionId>,
    pub pool: Pool,
    pub model: Arc<Fitted>,
    pub ranking: Ranking,
    /// Whether the model was trained on a span.
    pub warm: bool,
    pub prior: Prior,
    /// The sequence where lists and expressions go on to look.
    pub prior_at: usize,
    pub asked: HashMap<UserId, Asked>,
    /// Questions that were left out.
    pub skipped: HashSet<usize>,
    pub held_out: Vec<usize>,
    /// Tokens of shared documents that somebody was asked about, in their order.
    pub compared: Vec<usize>,
    answers: usize,
    complete: usize,
    pub seconds: Vec<f32>,
    /// Sequences that changed since training last looked.
    pub touched: HashSet<usize>,
    /// Answers since then.
    pub fresh: usize,
    /// When the last answer came.
    pub last_answer: Instant,
    /// Rises when sequences or labels get other numbers.
    pub generation: u64,
    /// Rises with every change of what is known.
    pub changes: u64,
    /// The changes up to which the model in the file has learned.
    pub model_of: Option<u64>,
}

/// The config of projects that are given none.
pub const DEFAULT_CONFIG: &str = include_str!("default.toml");

const CONFIG: &str = "config";

/// Prepares a config for a project: labels are those of IOB2, and every label may follow every other, because nobody knows
/// yet what does.
pub(super) fn describer(mut config: Config, resources: Resources) -> Result<Describer, Error> {
    config.labels.scheme = SchemeName::Iob2;
    config.model.unseen_transitions = UnseenName::Free;
    Ok(Describer::new(config, resources)?)
}

/// Keeps the config of a project.
pub(super) fn write_config(writing: &Writing<'_>, describer: &Describer) -> Result<(), Error> {
    writing.set_resources(describer.resources().iter())?;
    writing.set_meta(CONFIG, &describer.config().to_toml())
}

pub(super) fn load_config(project: &Project) -> Result<Describer, Error> {
    let text = project.store().meta(CONFIG)?;
    let text = text.as_deref().unwrap_or(DEFAULT_CONFIG);
    let config = Config::parse(text, &[])
        .map_err(|error| Error::refused(format_args!("the config of the project cannot be used: {error}")))?;
    let mut resources = Resources::default();
    for (name, content) in project.store().resources()? {
        resources.insert(name, content);
    }
    describer(config, resources)
}

impl State {
    /// Loads a project.
    pub fn load(mut project: Project) -> Result<Self, Error> {
        let settings = Settings::load(project.store())?.unwrap_or_default();
        let describer = load_config(&project)?;
        let config = describer.config();
        let learning = simulation::learn_options(config.model.structure()?, &config.training)?;
        let import = project.store_mut().user(IMPORT)?;
        let users = project.store().users()?;
        let types = project.store().types()?;
        let map = label_map(&types);
        let mut builder = DatasetBuilder::new();
        let mut corpus = Corpus::default();
        add_documents(&project, &settings, &describer, 0, &mut builder, &mut corpus)?;
        let pool = Pool::with_labels(Arc::new(builder.finish()), map.labels());
        let (model, ranking) = cold(&pool, &learning, settings.seed)?;
        let prior = Prior::new(&settings)?;
        let mut state = Self {
            describer: Arc::new(describer),
            learning,
            types,
            map,
            corpus: Arc::new(corpus),
            users,
            import,
            said: HashMap::new(),
            history: HashMap::new(),
            undone: HashSet::new(),
            pool,
            model: Arc::new(model),
            ranking,
            warm: false,
            prior,
            prior_at: 0,
            asked: HashMap::new(),
            skipped: HashSet::new(),
            held_out: Vec::new(),
            compared: Vec::new(),
            answers: 0,
            complete: 0,
            seconds: Vec::new(),
            touched: HashSet::new(),
            fresh: 0,
            last_answer: Instant::now(),
            generation: 0,
            changes: 0,
            model_of: None,
            project,
            settings,
        };
        state.hold_out();
        state.replay()?;
        state.rank_cold()?;
        Ok(state)
    }

    /// Does all actions again.
    fn replay(&mut self) -> Result<(), Error> {
        let mut actions = Vec::new();
        self.project.store().for_each_action(|action| {
            actions.push(action);
            Ok(())
        })?;
        let mut touched = HashSet::new();
        for action in actions {
            touched.extend(self.note(&action));
        }
        for number in touched {
            self.recompute(number);
            let sentences = 0..self.corpus.get(number).sentences();
            self.refresh(number, sentences)?;
        }
        if self.pool.labelled_positions() > 0 {
            self.fresh = self.settings.batch;
        }
        Ok(())
    }

    /// Takes an action into the lists, and tells which documents it is about. Their cells are as before.
    pub fn note(&mut self, action: &Action) -> Vec<usize> {
        match action.deed {
            Deed::Undo { action: target } => self.turn(action.user, target, true),
            Deed::Redo { action: target } => self.turn(action.user, target, false),
            Deed::Type { .. } | Deed::Settings { .. } => Vec::new(),
            _ => self.note_deed(action),
        }
    }

    /// Takes an action back, or does it again.
    fn turn(&mut self, user: UserId, target: ActionId, back: bool) -> Vec<usize> {
        let history = self.history.entry(user).or_default();
        if back {
            history.undo(target);
            self.undone.insert(target);
        } else {
            history.redo(target);
            self.undone.remove(&target);
        }
        let numbers = self.documents_of(target);
        let Some((number, deed)) = numbers
            .first()
            .and_then(|&number| Some((number, self.deed_of(number, target)?)))
        else {
            return numbers;
        };
        if let Deed::SkipQuestion { token } = *deed
            && let Some(position) = self.corpus.get(number).position(token as usize)
        {
            if back {
                self.skipped.remove(&position);
            } else {
                self.skipped.insert(position);
            }
        }
        if deed.is_answer() {
            self.answers = if back {
                self.answers.saturating_sub(1)
            } else {
                self.answers + 1
            };
        }
        numbers
    }

    fn note_deed(&mut self, action: &Action) -> Vec<usize> {
        let Some(number) = action.document.and_then(|id| self.corpus.find(id)) else {
            return Vec::new();
        };
        let text = self.corpus.get(number);
        let by_a_person = action.user != self.import;
        if by_a_person {
            let history = self.history.entry(action.user).or_default();
            history.did(action.id);
            if let Some(question) = &action.question {
                history.questions += 1;
                let position = question_token(question).and_then(|token| text.position(token));
                self.compared.extend(position.filter(|_| text.shared));
            }
        }
        let deed = Arc::new(action.deed.clone());
        if !deed.is_answer() {
            if let Deed::SkipQuestion { token } = *deed {
                self.skipped.extend(text.position(token as usize));
            }
            self.said.entry(number).or_default().marks.push(Mark {
                action: action.id,
                user: action.user,
                time: action.time,
                deed,
            });
            return vec![number];
        }
        let layer = match *deed {
            Deed::Adjudicate { .. } => Layer::Adjudicated,
            _ => Layer::Person(action.user),
        };
        let mut numbers = vec![number];
        if let Deed::Equal { places, .. } = &*deed {
            numbers.extend(places.iter().filter_map(|place| self.corpus.find(place.document)));
            numbers.sort_unstable();
            numbers.dedup();
        }
        for &number in &numbers {
            self.said.entry(number).or_default().entries.push(Entry {
                action: action.id,
                layer,
                deed: deed.clone(),
            });
        }
        if by_a_person {
            self.answers += 1;
            let seconds = action
                .seconds
                .filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
            self.seconds.extend(seconds.map(|seconds| seconds as f32));
        }
        numbers
    }

    pub fn documents_of(&self, action: ActionId) -> Vec<usize> {
        let has = |said: &Said| {
            said.entries.iter().any(|entry| entry.action == action)
                || said.marks.iter().any(|mark| mark.action == action)
        };
        let found = self.said.iter().filter(|(_, said)| has(said));
        found.map(|(&number, _)| number).collect()
    }

    /// The deed of an action that is about a document.
    pub fn deed_of(&self, number: usize, action: ActionId) -> Option<Arc<Deed>> {
        let said = self.said.get(&number)?;
        let entry = said.entries.iter().find(|entry| entry.action == action);
        let mark = said.marks.iter().find(|mark| mark.action == action);
        entry
            .map(|entry| entry.deed.clone())
            .or_else(|| mark.map(|mark| mark.deed.clone()))
    }

    /// Finds the cells of a document anew, from everything that was said of it and not undone.
    pub fn recompute(&mut self, number: usize) {
        let text = self.corpus.get(number);
        let borders = text.borders();
        let Some(said) = self.said.get_mut(&number) else {
            return;
        };
        said.layers.clear();
        for entry in &said.entries {
            if self.undone.contains(&entry.action) {
                continue;
            }
            let at = match said
                .layers
                .binary_search_by_key(&entry.layer, |(layer, _)| *layer)
            {
                Ok(at) => at,
                Err(at) => {
                    let cells = vec![Cell::default(); text.tokens()];
                    said.layers.insert(at, (entry.layer, cells));
                    at
                }
            };
            apply(&mut said.layers[at].1, &borders, text.id, &entry.deed);
        }
    }

    /// Writes what an action says onto the cells of its documents, without doing all others again.
    pub fn apply_last(&mut self, number: usize) {
        let text = self.corpus.get(number);
        let borders = text.borders();
        let Some(said) = self.said.get_mut(&number) else {
            return;
        };
        let Some(entry) = said.entries.last() else {
            return;
        };
        let at = match said
            .layers
            .binary_search_by_key(&entry.layer, |(layer, _)| *layer)
        {
            Ok(at) => at,
            Err(at) => {
                let cells = vec![Cell::default(); text.tokens()];
                said.layers.insert(at, (entry.layer, cells));
                at
            }
        };
        apply(&mut said.layers[at].1, &borders, text.id, &entry.deed);
    }

    /// What a layer says of a document, if anything.
    pub fn layer(&self, number: usize, layer: Layer) -> Option<&[Cell]> {
        let layers = &self.said.get(&number)?.layers;
        let at = layers.binary_search_by_key(&layer, |(layer, _)| *layer).ok()?;
        Some(&layers[at].1)
    }

    /// The people who said something about a document, without what it came with.
    pub fn annotators(&self, number: usize) -> Vec<UserId> {
        let layers = self.said.get(&number).map(|said| said.layers.as_slice());
        let people = layers
            .unwrap_or_default()
            .iter()
            .filter_map(|(layer, cells)| match layer {
                Layer::Person(user) if *user != self.import => {
                    cells.iter().any(|cell| cell.said.is_something()).then_some(*user)
                }
                _ => None,
            });
        people.collect()
    }

    /// Comments, flags and the like of a document that were not undone.
    pub fn marks(&self, number: usize) -> impl Iterator<Item = &Mark> {
        let marks = self.said.get(&number).map(|said| said.marks.as_slice());
        marks
            .unwrap_or_default()
            .iter()
            .filter(|mark| !self.undone.contains(&mark.action))
    }

    /// Documents of which something was said.
    pub fn touched_documents(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.said.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// Whether people annotate a document without seeing each other's words.
    pub fn is_blind(&self, number: usize) -> bool {
        self.corpus.get(number).shared && self.people() > 1
    }

    /// Number of people, without the labels that documents came with.
    pub fn people(&self) -> usize {
        self.users.iter().filter(|(id, _)| *id != self.import).count()
    }

    /// What somebody sees of some tokens: what was decided, his own words, those of others if he may see them, and those
    /// that the document came with.
    pub fn view(&self, number: usize, user: UserId, tokens: Range<usize>) -> Vec<Cell> {
        let blind = self.is_blind(number);
        let mut layers: Vec<&[Cell]> = Vec::new();
        layers.extend(self.layer(number, Layer::Adjudicated));
        layers.extend(self.layer(number, Layer::Person(user)));
        if !blind {
            let others = self.users.iter().map(|(id, _)| *id);
            let others = others.filter(|&id| id != user && id != self.import);
            layers.extend(others.filter_map(|id| self.layer(number, Layer::Person(id))));
        }
        layers.extend(self.layer(number, Layer::Person(self.import)));
        layered(&layers, tokens)
    }

    /// What holds for training and export: what was decided, else what people say, else what the document came with. Where
    /// people differ, all that they say is possible.
    pub fn truth(&self, number: usize, tokens: Range<usize>) -> Vec<Labels> {
        let of = |layer: Layer| {
            let cells = self.layer(number, layer)?;
            Some(cells::labels(&cells[tokens.clone()], &self.map))
        };
        let adjudicated = of(Layer::Adjudicated);
        let import = of(Layer::Person(self.import));
        let people: Vec<Vec<Labels>> = self
            .annotators(number)
            .into_iter()
            .filter_map(|user| of(Layer::Person(user)))
            .collect();
        let token = |at: usize| {
            let said = |labels: &Labels| matches!(labels, Labels::Answered(_));
            if let Some(labels) = adjudicated
                .as_ref()
                .map(|all| &all[at])
                .filter(|labels| said(labels))
            {
                return labels.clone();
            }
            let words: Vec<&Labels> = people.iter().map(|all| &all[at]).collect();
            match (cells::union(&words), import.as_ref()) {
                (Labels::Answered(labels), _) => Labels::Answered(labels),
                (_, Some(import)) if said(&import[at]) => import[at].clone(),
                (labels, _) => labels,
            }
        };
        (0..tokens.len()).map(token).collect()
    }

    /// Writes what is known of sentences into the pool.
    pub fn refresh(&mut self, number: usize, sentences: Range<usize>) -> Result<(), Error> {
        let corpus = self.corpus.clone();
        let text = corpus.get(number);
        for index in sentences {
            let sequence = text.first_sequence + index;
            let tokens = text.sentence(index);
            let before = self.pool.is_complete(sequence);
            let all = self.truth(number, tokens.clone());
            for (labels, token) in all.iter().zip(tokens) {
                let position = text.first_position + token;
                match labels {
                    Labels::Open => self.pool.forget(sequence, position),
                    Labels::Limited(labels) => self.pool.limit(sequence, position, labels)?,
                    Labels::Answered(labels) => {
                        self.pool.answer_one_of(sequence, position, labels)?;
                    }
                }
            }
            let after = self.pool.is_complete(sequence);
            self.complete = self.complete + usize::from(after) - usize::from(before);
            self.touched.insert(sequence);
        }
        self.changes += 1;
        Ok(())
    }

    /// Estimates sentences anew, for the order of questions.
    pub fn rank_again(&mut self, sequences: impl IntoIterator<Item = usize>) -> Result<(), Error> {
        let model = self.model.clone();
        let mut estimator = Estimator::new(&model);
        for sequence in sequences {
            self.ranking.answered(&self.pool, sequence, &mut estimator)?;
        }
        Ok(())
    }

    /// Begins anew, without a model: labels or sequences have other numbers now.
    pub fn relabel(&mut self) -> Result<(), Error> {
        self.map = label_map(&self.types);
        let labels: Alphabet = self.map.labels();
        self.pool = Pool::with_labels(self.pool.data().clone(), labels);
        self.generation += 1;
        self.complete = 0;
        self.hold_out();
        for number in self.touched_documents() {
            let sentences = 0..self.corpus.get(number).sentences();
            self.refresh(number, sentences)?;
        }
        self.rank_cold()?;
        self.fresh = self.settings.batch;
        Ok(())
    }

    /// Asks at random until there is a model.
    fn rank_cold(&mut self) -> Result<(), Error> {
        let (model, ranking) = cold(&self.pool, &self.learning, self.settings.seed)?;
        (self.model, self.ranking, self.warm) = (Arc::new(model), ranking, false);
        self.asked.clear();
        Ok(())
    }

    /// Adds documents that are in the store already, from a number on, and what is known of them.
    pub fn grow(&mut self, first: DocumentId, actions: &[Action]) -> Result<(), Error> {
        let data: &Dataset = self.pool.data();
        let mut builder = DatasetBuilder::with_alphabets(data.labels.clone(), data.observations.clone());
        builder
            .append_numbered(data)
            .map_err(|error| Error::refused(error.to_string()))?;
        let mut corpus = Corpus::default();
        // The texts that are there are read again: the old corpus may still be in use.
        add_texts(&self.project, &self.settings, 0, first, &mut corpus)?;
        add_documents(
            &self.project,
            &self.settings,
            &self.describer,
            first,
            &mut builder,
            &mut corpus,
        )?;
        self.corpus = Arc::new(corpus);
        self.pool = Pool::with_labels(Arc::new(builder.finish()), self.map.labels());
        for action in actions {
            for number in self.note(action) {
                self.recompute(number);
            }
        }
        self.relabel()
    }

    /// Sets sentences aside to test on.
    fn hold_out(&mut self) {
        let Settings {
            held_out,
            held_out_sentences,
            seed,
            ..
        } = self.settings;
        self.held_out.clear();
        for text in self.corpus.iter() {
            for index in 0..text.sentences() {
                let chosen = match held_out_sentences {
                    true => share_of(seed, text.id as u64, index as u64 + 1) < held_out,
                    false => text.held_out,
                };
                if chosen {
                    self.held_out.push(text.first_sequence + index);
                }
            }
        }
        for &sequence in &self.held_out {
            self.pool.set_aside(sequence);
        }
        let key = |sequence: &usize| (share_of(seed, *sequence as u64, u64::MAX) * 1e15) as u64;
        self.held_out.sort_by_key(key);
    }

    /// How far people are.
    pub fn progress(&self) -> Progress {
        const LAST: usize = 50;
        let last = &self.seconds[self.seconds.len().saturating_sub(LAST)..];
        let mean = last.iter().sum::<f32>() / last.len().max(1) as f32;
        Progress {
            answers: self.answers(),
            labelled_tokens: self.pool.labelled_positions(),
            labelled_sentences: self.complete,
            seconds_per_answer: (!last.is_empty()).then_some(f64::from(mean)),
        }
    }

    /// Answers that were not undone.
    pub fn answers(&self) -> usize {
        self.answers
    }

    /// The number of a document.
    pub fn find(&self, id: DocumentId) -> Result<usize, Error> {
        let found = self.corpus.find(id);
        found.ok_or_else(|| Error::missing(format_args!("there is no document {id}")))
    }

    /// The name of somebody.
    pub fn user_name(&self, user: UserId) -> &str {
        let found = self.users.iter().find(|(id, _)| *id == user);
        found.map_or("?", |(_, name)| name)
    }

    /// The name of a type.
    pub fn type_name(&self, kind: TypeId) -> &str {
        let found = self.types.iter().find(|one| one.id == kind);
        found.map_or("?", |one| &one.name)
    }
}

/// The name of a question: of its kind, its document and its token.
pub(super) fn question_name(kind: char, document: DocumentId, token: usize) -> String {
    format!("{kind}-{document}-{token}")
}

/// The token in the name of a question.
pub(super) fn question_token(name: &str) -> Option<usize> {
    name.rsplit('-').next()?.parse().ok()
}

/// The first layer that says something of a token decides.
pub(super) fn layered(layers: &[&[Cell]], tokens: Range<usize>) -> Vec<Cell> {
    let token = |at: usize| {
        let said = layers
            .iter()
            .map(|cells| cells[at])
            .find(|cell| cell.said.is_something());
        let closed = layers.iter().map(|cells| cells[at]).find(|cell| cell.closed);
        said.or(closed).unwrap_or_default()
    };
    tokens.map(token).collect()
}

pub(super) fn label_map(types: &[Type]) -> LabelMap {
    let used = types.iter().filter(|one| !one.removed);
    LabelMap::new(used.map(|one| (one.id, one.name.clone())))
}

/// A model that knows nothing, and questions in random order.
fn cold(pool: &Pool, learning: &LearnOptions, seed: u64) -> Result<(Fitted, Ranking), Error> {
    let model = Fitted::train_part(pool, learning, None, |_| false)?;
    let options = RankingOptions {
        seed,
        ..RankingOptions::new(Strategy::Random)
    };
    let ranking = Ranking::new(pool, &model, options)?;
    Ok((model, ranking))
}

/// A number from 0 to 1 that depends on the seed and the place, and looks random.
pub(super) fn share_of(seed: u64, one: u64, other: u64) -> f64 {
    let mut random = fieldmark::core::random::SplitMix64(seed ^ one.wrapping_mul(0xA076_1D64_78BD_642F));
    let start = random.bits();
    fieldmark::core::random::SplitMix64(start ^ other.wrapping_mul(0xE703_7ED1_A0B4_28DB)).unit()
}

/// Does a deed on the cells of a document.
fn apply(cells: &mut [Cell], borders: &[Range<usize>], id: DocumentId, deed: &Deed) {
    let outside = |start, end| Assertion {
        start,
        end,
        kind: None,
        borders: Borders::Exact,
    };
    match deed {
        Deed::Assert { assertions } | Deed::Adjudicate { assertions } => {
            for assertion in assertions {
                cells::assert(cells, borders, assertion);
            }
        }
        Deed::Clear { start, end } => cells::clear(cells, borders, *start as usize..*end as usize),
        Deed::Whole { start, end, spans } => {
            cells::assert(cells, borders, &outside(*start, *end));
            for span in spans {
                cells::assert(cells, borders, span);
            }
        }
        Deed::Equal { places, kind } => {
            for place in places.iter().filter(|place| place.document == id) {
                let assertion = Assertion {
                    kind: *kind,
                    ..outside(place.start, place.end)
                };
                cells::assert(cells, borders, &assertion);
            }
        }
        _ => {}
    }
}

/// A document with the tokens that it had when it was added.
pub(super) fn with_tokens(stored: &StoredDocument) -> Cow<'_, Document> {
    if stored.document.given.is_some() {
        return Cow::Borrowed(&stored.document);
    }
    let token = |range: &Range<usize>| GivenToken {
        range: range.clone(),
        ..GivenToken::default()
    };
    let sentences = stored.cut.sentences.iter();
    let sentences = sentences.map(|sentence| stored.cut.tokens[sentence.clone()].iter().map(token).collect());
    let mut document = stored.document.clone();
    document.given = Some(GivenTokens {
        sentences: sentences.collect(),
        ..GivenTokens::default()
    });
    Cow::Owned(document)
}

pub(super) fn is_shared(settings: &Settings, id: DocumentId) -> bool {
    share_of(settings.seed, id as u64, 0) < settings.shared
}

fn add_documents(
    project: &Project,
    settings: &Settings,
    describer: &Describer,
    first: DocumentId,
    builder: &mut DatasetBuilder,
    corpus: &mut Corpus,
) -> Result<(), Error> {
    describer.describe(builder, |describe| {
        project.store().for_each_document(first, |stored| {
            describe(&with_tokens(&stored))?;
            let shared = is_shared(settings, stored.id);
            corpus.add(stored, shared);
            Ok(())
        })
    })?;
    if builder.positions() != corpus.positions() {
        return Err(Error::refused(format_args!(
            "the documents have {} tokens, but had {} when they were added; was the project made with another version of \
             fieldmark?",
            builder.positions(),
            corpus.positions()
        )));
    }
    Ok(())
}

fn add_texts(
    project: &Project,
    settings: &Settings,
    first: DocumentId,
    end: DocumentId,
    corpus: &mut Corpus,
) -> Result<(), Error> {
    project.store().for_each_document(first, |stored| {
        if stored.id < end {
            let shared = is_shared(settings, stored.id);
            corpus.add(stored, shared);
        }
        Ok(())
    })
}
