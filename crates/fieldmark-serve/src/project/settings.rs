//! [`Settings`]: what was decided when a project was made, and [`SettingsChange`]: what is decided anew.

use super::{Error, Store};
use fieldmark::learn::Strategy;
use serde::{Deserialize, Deserializer, Serialize};

/// How much a question asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// The token that the strategy chose.
    #[default]
    Token,
    /// The whole sentence of that token.
    Sentence,
}

impl Unit {
    /// All of them.
    pub const ALL: [Unit; 2] = [Unit::Token, Unit::Sentence];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Token => "token",
            Unit::Sentence => "sentence",
        }
    }
}

impl std::str::FromStr for Unit {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|unit| unit.name() == name);
        found.ok_or_else(|| format!("questions are about a token or a sentence, not about {name:?}"))
    }
}

/// The most of a text that is held out: something has to be left to learn from.
const MOST_HELD_OUT: f64 = 0.9;

/// The strategy of a name, if questions can be chosen by it: one that chooses tokens.
///
/// # Errors
/// What was expected instead.
pub fn strategy_named(name: &str) -> Result<Strategy, String> {
    let found = name.parse().ok();
    found
        .filter(|strategy: &Strategy| !strategy.asks_sequences())
        .ok_or_else(|| {
            let [others @ .., last] = Strategy::TOKENS.map(Strategy::name);
            format!("expected {} or {last}", others.join(", "))
        })
}

/// The strategy of a change.
fn strategy_of<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Strategy>, D::Error> {
    let Some(name) = Option::<String>::deserialize(value)? else {
        return Ok(None);
    };
    let found = strategy_named(&name);
    found
        .map(Some)
        .map_err(|expected| serde::de::Error::custom(format_args!("the strategy is {name:?}, {expected}")))
}

/// What was decided when a project was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What is asked next.
    pub strategy: Strategy,
    /// How much is asked at once.
    pub unit: Unit,
    /// Answers between two trainings.
    pub batch: usize,
    /// The part of the text to test models on, from 0 to 0.9.
    pub held_out: f64,
    /// Whether single sentences are held out and shared and not documents, because there are few of these.
    pub held_out_sentences: bool,
    /// The part of the documents that everybody annotates, from 0 to 1; of the sentences, if these are held out.
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
            unit: Unit::Token,
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
        store.atomically(|writing| self.write(writing))
    }

    /// Keeps the settings, together with other things.
    pub fn write(&self, writing: &super::Writing<'_>) -> Result<(), Error> {
        // Its fields are numbers and text.
        writing.set_meta(KEY, &serde_json::to_string(self).unwrap_or_default())
    }

    /// Sees whether all numbers make sense.
    pub fn check(&self) -> Result<(), Error> {
        for (name, share, most) in [
            ("held out", self.held_out, MOST_HELD_OUT),
            ("shared", self.shared, 1.0),
        ] {
            if !(0.0..=most).contains(&share) {
                return Err(Error::refused(format_args!(
                    "the part that is {name} is {share}, expected a number from 0 to {most}"
                )));
            }
        }
        if self.batch == 0 {
            return Err(Error::refused(
                "a batch has 0 answers, expected at least 1 between two trainings",
            ));
        }
        if let Some((kind, _)) = self.patterns.iter().find(|(_, pattern)| pattern.is_empty()) {
            return Err(Error::refused(format_args!(
                "the pattern of {kind:?} is empty; expected a type, `=` and a regular expression"
            )));
        }
        match strategy_named(self.strategy.name()) {
            Ok(_) => Ok(()),
            Err(expected) => Err(Error::refused(format_args!(
                "the strategy is {}, {expected}",
                self.strategy
            ))),
        }
    }
}

/// What is to change in the settings of a project. What is not named stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettingsChange {
    /// What is asked next.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "strategy_of")]
    pub strategy: Option<Strategy>,
    /// How much is asked at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Answers between two trainings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// The part of the text to test models on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<f64>,
    /// The part of the documents that everybody annotates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<f64>,
    /// Decides what is random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Names to suggest, instead of those that a type had: type and names, one in a line; none are none any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictionaries: Option<Vec<(String, String)>>,
    /// All expressions for the same, instead of those that there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Vec<(String, String)>>,
    /// Labels before a label that it depends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// The coefficient of the L1 norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c1: Option<f64>,
    /// The coefficient of the squared L2 norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c2: Option<f64>,
    /// How texts are cut into tokens. It is here to be refused: answers are about tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<serde_json::Value>,
}

impl SettingsChange {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Settings after the change.
    ///
    /// # Errors
    /// When they make no sense, or when tokens are to be cut otherwise.
    pub fn apply(&self, settings: &Settings) -> Result<Settings, Error> {
        if self.tokenizer.is_some() {
            return Err(Error::refused(TOKENS_STAY));
        }
        let mut new = settings.clone();
        new.strategy = self.strategy.unwrap_or(new.strategy);
        new.unit = self.unit.unwrap_or(new.unit);
        new.batch = self.batch.unwrap_or(new.batch);
        new.held_out = self.held_out.unwrap_or(new.held_out);
        new.shared = self.shared.unwrap_or(new.shared);
        new.seed = self.seed.unwrap_or(new.seed);
        for (kind, names) in self.dictionaries.iter().flatten() {
            new.dictionaries.retain(|(other, _)| other != kind);
            if !names.trim().is_empty() {
                new.dictionaries.push((kind.clone(), names.clone()));
            }
        }
        if let Some(patterns) = &self.patterns {
            new.patterns.clone_from(patterns);
        }
        new.check()?;
        Ok(new)
    }
}

/// Why texts are not cut anew.
pub(crate) const TOKENS_STAY: &str = "the texts of a project cannot be cut into other tokens and sentences, because every answer is about the tokens of \
     now; make a new project, and add an export of this one to it";
