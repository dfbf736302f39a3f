//! [`State`]: everything that an engine knows, in memory. It is loaded from the database by doing all actions again.

use super::cells::{LabelMap, Labels};
use super::corpus::{Corpus, Text};
use super::history::History;
use super::load::{add_documents, add_texts, load_config, share};
use super::prior::Prior;
use super::question::Asked;
use super::settings::holds_out_sentence;
use super::wire::Progress;
use super::words::Words;
use crate::project::{
    Action, ActionId, Deed, DocumentId, Error, IMPORT, Project, Settings, Type, TypeId, UserId,
};
use fieldmark::core::{Alphabet, Dataset, DatasetBuilder};
use fieldmark::learn::{Estimator, Fitted, LearnOptions, Pool, Ranking, RankingOptions, Strategy};
use fieldmark::{Describer, simulation};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Sentences that are estimated while others wait: those of an answer, not those of a long document.
const RANKED_AT_ONCE: usize = 32;

/// Everything that an engine knows.
pub(super) struct State {
    pub project: Project,
    pub settings: Settings,
    pub describer: Arc<Describer>,
    pub learning: LearnOptions,
    pub types: Vec<Type>,
    pub map: Arc<LabelMap>,
    pub corpus: Arc<Corpus>,
    pub users: Vec<(UserId, String)>,
    pub import: UserId,
    pub words: Words,
    pub history: HashMap<UserId, History>,
    pub pool: Pool,
    pub model: Arc<Fitted>,
    pub ranking: Ranking,
    /// Whether the model was trained on a span.
    pub warm: bool,
    pub prior: Arc<Prior>,
    /// The sequence where lists and expressions go on to look for somebody.
    pub prior_at: HashMap<UserId, usize>,
    pub asked: HashMap<UserId, Asked>,
    /// Questions that somebody left out, by their tokens.
    pub skipped: HashSet<(UserId, usize)>,
    pub held_out: Vec<usize>,
    /// Tokens of what is shared that somebody was asked about, in their order.
    pub compared: Vec<usize>,
    answers: usize,
    complete: usize,
    /// How long answers took, also those that were undone.
    seconds: Vec<(ActionId, f32)>,
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
        let map = Arc::new(label_map(&types));
        let mut builder = DatasetBuilder::new();
        let mut corpus = Corpus::default();
        add_documents(&project, &describer, 0, &mut builder, &mut corpus)?;
        share(&settings, &mut corpus);
        let pool = Pool::with_labels(Arc::new(builder.finish()), map.labels());
        let (model, ranking) = cold(&pool, &learning, settings.seed)?;
        let prior = Arc::new(Prior::new(&settings)?);
        let mut state = Self {
            describer: Arc::new(describer),
            learning,
            types,
            map,
            corpus: Arc::new(corpus),
            users,
            import,
            words: Words::new(import),
            history: HashMap::new(),
            pool,
            model: Arc::new(model),
            ranking,
            warm: false,
            prior,
            prior_at: HashMap::new(),
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
            self.words.recompute(number, self.corpus.get(number));
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
        } else {
            history.redo(target);
        }
        self.words.turn(target, back);
        let numbers = self.words.documents_of(target);
        let Some((number, deed)) = numbers
            .first()
            .and_then(|&number| Some((number, self.words.deed_of(number, target)?)))
        else {
            return numbers;
        };
        if let Deed::SkipQuestion { token } = *deed
            && let Some(position) = self.corpus.get(number).position(token as usize)
        {
            if back {
                self.skipped.remove(&(user, position));
            } else {
                self.skipped.insert((user, position));
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
                self.compared.extend(shared_position(text, question));
            }
        }
        let deed = Arc::new(action.deed.clone());
        if !deed.is_answer() {
            if let Deed::SkipQuestion { token } = *deed {
                let position = text.position(token as usize);
                self.skipped
                    .extend(position.map(|position| (action.user, position)));
            }
            self.words.add(number, action, &deed);
            return vec![number];
        }
        let mut numbers = vec![number];
        if let Deed::Equal { places, .. } = &*deed {
            numbers.extend(places.iter().filter_map(|place| self.corpus.find(place.document)));
            numbers.sort_unstable();
            numbers.dedup();
        }
        for &number in &numbers {
            self.words.add(number, action, &deed);
        }
        if by_a_person {
            self.answers += 1;
            let seconds = action
                .seconds
                .filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
            self.seconds
                .extend(seconds.map(|seconds| (action.id, seconds as f32)));
        }
        numbers
    }

    /// Whether people annotate something of a document without seeing each other's words.
    pub fn is_blind(&self, number: usize) -> bool {
        self.corpus.get(number).shares_something() && self.people() > 1
    }

    /// Number of people, without the labels that documents came with.
    pub fn people(&self) -> usize {
        self.users.iter().filter(|(id, _)| *id != self.import).count()
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

    /// Estimates sentences anew, for the order of questions, but not so many that others have to wait. Returns the rest.
    pub fn rank_some(&mut self, sequences: Vec<usize>) -> Result<Vec<usize>, Error> {
        let model = self.model.clone();
        let mut estimator = Estimator::new(&model);
        let (mut estimated, mut rest) = (0, Vec::new());
        for sequence in sequences {
            let costs = !self.pool.is_complete(sequence);
            if costs && estimated == RANKED_AT_ONCE {
                rest.push(sequence);
                continue;
            }
            estimated += usize::from(costs);
            self.ranking.answered(&self.pool, sequence, &mut estimator)?;
        }
        Ok(rest)
    }

    /// Begins anew, without a model: labels or sequences have other numbers now.
    pub fn relabel(&mut self) -> Result<(), Error> {
        self.map = Arc::new(label_map(&self.types));
        let labels: Alphabet = self.map.labels();
        self.pool = Pool::with_labels(self.pool.data().clone(), labels);
        self.generation += 1;
        self.complete = 0;
        self.hold_out();
        for number in self.words.documents() {
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
        add_texts(&self.project, 0, first, &mut corpus)?;
        add_documents(&self.project, &self.describer, first, &mut builder, &mut corpus)?;
        share(&self.settings, &mut corpus);
        self.corpus = Arc::new(corpus);
        self.pool = Pool::with_labels(Arc::new(builder.finish()), self.map.labels());
        for action in actions {
            for number in self.note(action) {
                self.words.recompute(number, self.corpus.get(number));
            }
        }
        self.compare_again()?;
        self.relabel()
    }

    /// Sets sentences aside to test on.
    fn hold_out(&mut self) {
        let seed = self.settings.seed;
        self.held_out.clear();
        for text in self.corpus.iter() {
            for index in 0..text.sentences() {
                if text.held_out || holds_out_sentence(&self.settings, text.id, index) {
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
        let last: Vec<f32> = self.seconds().rev().take(LAST).collect();
        let mean = last.iter().sum::<f32>() / last.len().max(1) as f32;
        Progress {
            answers: self.answers(),
            labelled_tokens: self.pool.labelled_positions(),
            labelled_sentences: self.complete,
            seconds_per_answer: (!last.is_empty()).then_some(f64::from(mean)),
        }
    }

    /// How long answers took that were not undone, in their order.
    pub fn seconds(&self) -> impl DoubleEndedIterator<Item = f32> {
        let held = self
            .seconds
            .iter()
            .filter(|(action, _)| !self.words.is_undone(*action));
        held.map(|(_, seconds)| *seconds)
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

/// The token of a question in the numbering of the pool, if everybody annotates it.
pub(super) fn shared_position(text: &Text, question: &str) -> Option<usize> {
    let token = question_token(question)?;
    let position = text.position(token)?;
    text.shares(text.sentence_of(token)).then_some(position)
}

/// The token in the name of a question.
pub(super) fn question_token(name: &str) -> Option<usize> {
    name.rsplit('-').next()?.parse().ok()
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
