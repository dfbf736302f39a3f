//! [`Settings`]: what was decided when a project was made.

use super::{Error, Store};
use fieldmark::learn::Strategy;
use serde::{Deserialize, Serialize};

/// What was decided when a project was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What is asked next.
    pub strategy: Strategy,
    /// Answers between two trainings.
    pub batch: usize,
    /// The part of the text to test models on, from 0 to 1.
    pub held_out: f64,
    /// Whether single sentences are held out and not documents, because there are few of these.
    pub held_out_sentences: bool,
    /// The part of the documents that everybody annotates, from 0 to 1.
    pub shared: f64,
    /// Decides what is random.
    pub seed: u64,
    /// Names of a type to suggest where there is no model yet: type and names, one in a line.
    pub dictionaries: Vec<(String, String)>,
    /// Expressions for the same.
    pub patterns: Vec<(String, String)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strategy: Strategy::TokenMargin,
            batch: 10,
            held_out: 0.1,
            held_out_sentences: false,
            shared: 0.2,
            seed: 0,
            dictionaries: Vec::new(),
            patterns: Vec::new(),
        }
    }
}

const KEY: &str = "settings";

impl Settings {
    /// The settings of a project; `None` if it is new.
    pub fn load(store: &Store) -> Result<Option<Self>, Error> {
        let Some(text) = store.meta(KEY)? else {
            return Ok(None);
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            Error::refused(format_args!(
                "the settings of the project cannot be read: {error}; was the database changed by another program?"
            ))
        })
    }

    /// Keeps the settings.
    pub fn save(&self, store: &mut Store) -> Result<(), Error> {
        self.check()?;
        // Its fields are numbers and text.
        store.set_meta(KEY, &serde_json::to_string(self).unwrap_or_default())
    }

    /// Sees whether all numbers make sense.
    pub fn check(&self) -> Result<(), Error> {
        for (name, share) in [("held out", self.held_out), ("shared", self.shared)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::refused(format_args!(
                    "the part that is {name} is {share}, expected a number from 0 to 1"
                )));
            }
        }
        if self.held_out > 0.9 {
            return Err(Error::refused(format_args!(
                "the part that is held out is {}, which leaves nothing to learn from; expected at most 0.9",
                self.held_out
            )));
        }
        if self.batch == 0 {
            return Err(Error::refused(
                "a batch has 0 answers, expected at least 1 between two trainings",
            ));
        }
        if self.strategy.asks_sequences() {
            return Err(Error::refused(format_args!(
                "the strategy {} asks for whole sentences, and questions are about tokens; choose from {}",
                self.strategy,
                Strategy::TOKENS.map(Strategy::name).join(", ")
            )));
        }
        Ok(())
    }
}
