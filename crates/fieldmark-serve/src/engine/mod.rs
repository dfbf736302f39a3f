//! A project at work.
//!
//! An [`Engine`] holds everything in memory: texts, what is known of every token (`state`), a model, and the order of
//! questions. What people do is first stored, then done: one sentence is estimated anew (`act`), and the next question
//! is the first of a heap (`question`). Training runs in a thread of its own on a copy of what is known (`train`) and
//! puts a new model in place when it is ready; nobody waits for it.
//!
//! * `cells`, `words`, `merge`, `known`: what is said of tokens, by whom, and what it comes to together.
//! * `corpus`, `load`, `history`: texts, and how they come from the database; undo and redo.
//! * `view`: sentences as people see them; `documents`: lists and whole documents.
//! * `import`, `files`, `prior`: documents with and without labels; files that belong together; suggestions before there is
//!   a model.
//! * `once`, `settings`: requests that come again; what is decided anew.
//! * `curve`: scores on what is held out, and what more answers may bring.
//! * `agreement`, `doubts`: where people differ, and where the model doubts what they say.
//! * `export`, `take`: documents and the model as files.

mod act;
mod agreement;
mod cells;
mod corpus;
mod curve;
mod documents;
mod doubts;
mod export;
mod files;
mod history;
mod import;
mod known;
mod load;
mod merge;
mod once;
mod prior;
mod question;
mod settings;
mod state;
mod take;
#[cfg(test)]
mod tests;
mod train;
mod types;
mod view;
pub mod wire;
mod words;

pub use agreement::{AdjudicationView, AgreementReport};
pub use curve::ProgressReport;
pub use documents::{DocumentView, List, ListRequest};
pub use doubts::DoubtReport;
pub use export::{EXPORT_FORMATS, ExportOptions, Exported};
pub use files::SentFile;
pub use import::{ImportOptions, Imported, NewProject};
pub use load::DEFAULT_CONFIG;
pub use settings::{ChangeSettings, SettingsReport, reshaped};
pub use train::Trainer;

use crate::project::{Error, IMPORT, Project, Settings, Type, UserId};
use act::Done;
use curve::Point;
use doubts::Doubts;
use serde::Serialize;
use state::State;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use wire::{
    ActionAnswer, ActionRequest, ChangeType, ModelState, NewType, News, Progress, Question, TypesAnswer,
};

/// A project at work.
pub struct Engine {
    state: Mutex<State>,
    /// Wakes training.
    wake: Condvar,
    learned: Mutex<Learned>,
    news: watch::Sender<News>,
    stop: AtomicBool,
}

/// What training and cross-validation found out.
#[derive(Debug, Default)]
struct Learned {
    model: ModelState,
    curve: Vec<Point>,
    doubts: Doubts,
}

/// What the page has to know first.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The name of the project.
    pub name: String,
    /// Who asks.
    pub user: String,
    /// Everybody.
    pub users: Vec<String>,
    /// Types in use.
    pub types: Vec<Type>,
    /// Number of documents.
    pub documents: usize,
    /// Number of sentences.
    pub sentences: usize,
    /// Number of tokens.
    pub tokens: usize,
    /// What was decided when the project was made.
    pub settings: SettingsView,
    /// Formats to export.
    pub formats: Vec<&'static str>,
    /// The model.
    pub model: ModelState,
    /// Progress.
    pub progress: Progress,
    /// Whether there is something to undo.
    pub can_undo: bool,
    /// Whether there is something to redo.
    pub can_redo: bool,
}

/// Settings that people see.
#[derive(Clone, Debug, Serialize)]
pub struct SettingsView {
    /// The strategy.
    pub strategy: &'static str,
    /// Answers between two trainings.
    pub batch: usize,
    /// The part that is held out.
    pub held_out: f64,
    /// The part that everybody annotates.
    pub shared: f64,
}

/// The next question, or why there is none.
#[derive(Clone, Debug, Serialize)]
pub struct QuestionAnswer {
    /// The question.
    pub question: Option<Question>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl Engine {
    /// Loads a project.
    pub fn open(project: Project) -> Result<Arc<Self>, Error> {
        let points = project.store().points()?;
        let curve = points.iter().filter_map(|point| serde_json::from_str(point).ok());
        let learned = Learned {
            curve: curve.collect(),
            ..Learned::default()
        };
        let state = State::load(project)?;
        let news = News {
            progress: state.progress(),
            ..News::default()
        };
        Ok(Arc::new(Self {
            state: Mutex::new(state),
            wake: Condvar::new(),
            learned: Mutex::new(learned),
            news: watch::Sender::new(news),
            stop: AtomicBool::new(false),
        }))
    }

    /// After a panic in another thread, what it held is still the best there is: the truth is in the database.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends training in the background.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.wake.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// What changes while people work, as it changes.
    pub fn news(&self) -> watch::Receiver<News> {
        self.news.subscribe()
    }

    fn news_of(&self, state: &State) -> News {
        News {
            model: self.learned().model.clone(),
            progress: state.progress(),
        }
    }

    fn tell(&self, state: &State) -> News {
        let news = self.news_of(state);
        self.news.send_replace(news.clone());
        news
    }

    /// The number of somebody. Who is not known yet, may have been added beside this program.
    fn user(&self, state: &mut State, name: &str) -> Result<UserId, Error> {
        let find = |state: &State| {
            state
                .users
                .iter()
                .find(|(_, other)| other == name)
                .map(|(id, _)| *id)
        };
        if let Some(id) = find(state) {
            return Ok(id);
        }
        state.users = state.project.store().users()?;
        find(state)
            .ok_or_else(|| Error::missing(format_args!("there is nobody named {name:?} in this project")))
    }

    /// Whether somebody has a link to come in by.
    pub fn may_enter(&self, name: &str) -> Result<bool, Error> {
        let tokens = self.state().project.store().tokens()?;
        Ok(tokens.iter().any(|(_, other)| other == name))
    }

    /// Keeps something in the project under a name.
    pub fn keep(&self, key: &str, value: &str) -> Result<(), Error> {
        self.state().project.store_mut().set_meta(key, value)
    }

    /// What the page has to know first.
    pub fn overview(&self, user: &str) -> Result<Overview, Error> {
        let mut state = self.state();
        let id = self.user(&mut state, user)?;
        let News { model, progress } = self.news_of(&state);
        let Settings {
            strategy,
            batch,
            held_out,
            shared,
            ..
        } = state.settings;
        let (can_undo, can_redo) = state.can_undo_redo(id);
        let people = state.users.iter().map(|(_, name)| name.clone());
        Ok(Overview {
            name: state.project.name(),
            user: user.to_owned(),
            users: people.filter(|name| name != IMPORT).collect(),
            types: used_types(&state),
            documents: state.corpus.len(),
            sentences: state.corpus.sequences(),
            tokens: state.corpus.positions(),
            settings: SettingsView {
                strategy: strategy.name(),
                batch,
                held_out,
                shared,
            },
            formats: EXPORT_FORMATS.iter().map(|format| format.name()).collect(),
            model,
            progress,
            can_undo,
            can_redo,
        })
    }

    /// The next question for somebody, in one document or anywhere.
    pub fn question(&self, user: &str, document: Option<i64>) -> Result<QuestionAnswer, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        let reason = if state.corpus.sequences() == 0 {
            Some("no documents")
        } else if state.map.kinds().is_empty() {
            Some("no types")
        } else {
            None
        };
        if reason.is_some() {
            return Ok(QuestionAnswer {
                question: None,
                reason,
            });
        }
        let document = document.map(|id| state.find(id)).transpose()?;
        let asked = state.ask(user, document);
        let question = asked.map(|asked| state.show(&asked, user)).transpose()?;
        Ok(QuestionAnswer {
            reason: question.is_none().then_some("everything is labelled"),
            question,
        })
    }

    /// Does something. It is stored when this returns.
    pub fn act(&self, user: &str, request: &ActionRequest) -> Result<ActionAnswer, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        let done = state.act(user, request)?;
        if request.review {
            self.learned().doubts.settle(&done.action);
        }
        self.answer(state, user, &done, request.question.is_some())
    }

    /// The answer to what was done. Its sentences are estimated when nobody else has to wait any longer.
    fn answer(
        &self,
        mut state: MutexGuard<'_, State>,
        user: UserId,
        done: &Done,
        wants_next: bool,
    ) -> Result<ActionAnswer, Error> {
        let news = self.tell(&state);
        self.wake.notify_all();
        let (mut answer, sentences) = state.answer(user, done, wants_next, news)?;
        let estimating = state.estimating();
        drop(state);
        let sentences = sentences.into_iter().map(|drawn| estimating.sentence(drawn));
        answer.sentences = sentences.collect::<Result<_, Error>>()?;
        self.rank_rest(&done.unranked)?;
        Ok(answer)
    }

    /// Takes the last thing back that somebody did, or does it again.
    pub fn undo(&self, user: &str, request: &str, back: bool) -> Result<ActionAnswer, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        let done = state.undo(user, request, back)?;
        self.answer(state, user, &done, false)
    }

    /// Makes a type.
    pub fn add_type(&self, user: &str, new: &NewType) -> Result<TypesAnswer, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        state.add_type(user, new)?;
        Ok(TypesAnswer {
            types: used_types(&state),
        })
    }

    /// Changes a type.
    pub fn change_type(&self, user: &str, id: u32, change: &ChangeType) -> Result<TypesAnswer, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        state.change_type(user, id, change)?;
        self.wake.notify_all();
        Ok(TypesAnswer {
            types: used_types(&state),
        })
    }
}

fn used_types(state: &State) -> Vec<Type> {
    state.types.iter().filter(|one| !one.removed).cloned().collect()
}
