//! Settings that change while people annotate.
//!
//! A change is stored as an action, together with what it changes, and then done: other sentences are held out, other
//! documents are shared, models get another shape. What would cut texts anew is refused, because answers are about tokens.

use super::Engine;
use super::import::NewProject;
use super::load;
use super::once::Content;
use super::prior::Prior;
use super::state::{self, State, share_of};
use crate::project::{
    DocumentId, Error, IMPORT, NewAction, Project, Settings, SettingsChange, TOKENS_STAY, Unit, UserId,
};
use fieldmark::config::Config;
use fieldmark::learn::{LearnOptions, Strategy};
use fieldmark::{Describer, simulation};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The wish for other settings.
#[derive(Clone, Debug, Deserialize)]
pub struct ChangeSettings {
    /// Its name, which is used once.
    pub request: String,
    /// What changes.
    pub change: SettingsChange,
}

/// Settings as people see them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingsReport {
    strategy: &'static str,
    /// Everything that it could be, with what it means.
    strategies: Vec<(&'static str, &'static str)>,
    unit: &'static str,
    units: Vec<&'static str>,
    batch: usize,
    held_out: f64,
    /// `documents` or `sentences`.
    held_out_of: &'static str,
    shared: f64,
    seed: u64,
    order: usize,
    c1: f64,
    c2: f64,
    patterns: Vec<(String, String)>,
    /// Types, and how many names each has.
    dictionaries: Vec<(String, usize)>,
    /// How texts are cut, which stays.
    tokenizer: String,
}

/// Whether a document is for tests.
pub(super) fn holds_out(settings: &Settings, id: DocumentId) -> bool {
    !settings.held_out_sentences && share_of(settings.seed, id as u64, u64::MAX) < settings.held_out
}

/// Whether a sentence is for tests, where sentences are held out and not documents.
pub(super) fn holds_out_sentence(settings: &Settings, id: DocumentId, index: usize) -> bool {
    settings.held_out_sentences && share_of(settings.seed, id as u64, index as u64 + 1) < settings.held_out
}

/// A config with the order and the coefficients of a change; `None` if it stays as it is.
///
/// # Errors
/// When they make no sense.
pub fn reshaped(config: &Config, change: &SettingsChange) -> Result<Option<Config>, Error> {
    let mut new = config.clone();
    if let Some(order) = change.order {
        new.model.order = order;
    }
    if change.c1.is_some() || change.c2.is_some() {
        // One of them alone would let the other fall back to a default.
        let now = learning(config)?.lbfgs.prior;
        for (name, coefficient) in [("c1", change.c1), ("c2", change.c2)] {
            if coefficient.is_some_and(|value| !(value.is_finite() && value >= 0.0)) {
                return Err(Error::refused(format_args!(
                    "the coefficient {name} is {}, expected a number from 0 up",
                    coefficient.unwrap_or_default()
                )));
            }
        }
        new.training.c1 = Some(change.c1.unwrap_or(now.c1));
        new.training.c2 = Some(change.c2.unwrap_or(now.c2));
    }
    learning(&new)?;
    Ok((new != *config).then_some(new))
}

fn learning(config: &Config) -> Result<LearnOptions, Error> {
    Ok(simulation::learn_options(
        config.model.structure()?,
        &config.training,
    )?)
}

/// Sees whether lists and expressions can be used, and whether all their types are there.
fn check_lists(settings: &Settings, project: &Project) -> Result<(), Error> {
    Prior::new(settings)?;
    let types = project.store().types()?;
    let mut named = settings.dictionaries.iter().chain(&settings.patterns);
    match named.find(|(kind, _)| !types.iter().any(|one| one.name == *kind && !one.removed)) {
        Some((kind, _)) => Err(Error::refused(format_args!(
            "there is no type {kind:?}; make it first, then say what looks like it"
        ))),
        None => Ok(()),
    }
}

/// Who changes settings, and by which request; without a name, one is made up.
struct Who<'a> {
    user: UserId,
    request: Option<&'a str>,
}

/// Stores a change with everything that follows from it, all or nothing.
fn store(
    project: &mut Project,
    (old, new): (&Settings, &Settings),
    describer: Option<&Describer>,
    change: &SettingsChange,
    who: &Who<'_>,
) -> Result<(), Error> {
    let content = Content::of_settings(change);
    let deed = crate::project::Deed::Settings {
        change: Box::new(change.clone()),
    };
    project.store_mut().atomically(|writing| {
        new.write(writing)?;
        if let Some(describer) = describer {
            load::write_config(writing, describer)?;
        }
        if (old.held_out, old.seed) != (new.held_out, new.seed) {
            writing.hold_out(|id| holds_out(new, id))?;
        }
        let made_up = format!("settings-{}", writing.next_action()?);
        let request = who.request.unwrap_or(&made_up);
        content.keep(writing, who.user, request)?;
        writing.record(&NewAction {
            request,
            user: who.user,
            document: None,
            question: None,
            seconds: None,
            deed: &deed,
        })?;
        Ok(())
    })
}

/// What is different, for people: `held out: 0.1 → 0.2`.
fn differences(
    (old, new): (&Settings, &Settings),
    configs: (&Config, &Config),
) -> Result<Vec<String>, Error> {
    let (before, after) = (learning(configs.0)?, learning(configs.1)?);
    let types = |list: &[(String, String)]| match list {
        [] => "none".to_owned(),
        list => list
            .iter()
            .map(|(kind, _)| kind.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    };
    let shown = |settings: &Settings, learning: &LearnOptions| {
        [
            ("strategy", settings.strategy.to_string()),
            ("questions", format!("one {}", settings.unit.name())),
            ("batch", settings.batch.to_string()),
            ("held out", settings.held_out.to_string()),
            ("shared", settings.shared.to_string()),
            ("seed", settings.seed.to_string()),
            ("order", learning.structure.order.to_string()),
            ("c1", learning.lbfgs.prior.c1.to_string()),
            ("c2", learning.lbfgs.prior.c2.to_string()),
        ]
    };
    let pairs = shown(old, &before).into_iter().zip(shown(new, &after));
    let mut all: Vec<String> = pairs
        .filter(|(before, after)| before != after)
        .map(|((name, before), (_, after))| format!("{name}: {before} → {after}"))
        .collect();
    if old.dictionaries != new.dictionaries {
        all.push(format!("dictionaries: {}", types(&new.dictionaries)));
    }
    if old.patterns != new.patterns {
        all.push(format!("patterns: {}", types(&new.patterns)));
    }
    if configs.0.features != configs.1.features {
        all.push(format!(
            "features: {} → {}",
            configs.0.features.len(),
            configs.1.features.len()
        ));
    }
    Ok(all)
}

impl NewProject {
    /// Changes the settings of a project that is there, and its config to another one that cuts texts in the same way.
    /// Files that the config names are relative to `folder`. Returns what is different, for people.
    ///
    /// # Errors
    /// When settings make no sense, or the config would cut texts otherwise.
    pub fn change(
        &mut self,
        change: &SettingsChange,
        config: Option<Config>,
        folder: &Path,
    ) -> Result<Vec<String>, Error> {
        let new = change.apply(&self.settings)?;
        let given = match config {
            Some(config) => {
                let read = Describer::read(config, folder)?;
                let given = load::describer(read.config().clone(), read.resources().clone())?;
                if given.config().text != self.describer.config().text {
                    return Err(Error::refused(format_args!(
                        "the section text of the config is another one than that of the project: {TOKENS_STAY}"
                    )));
                }
                Some(given)
            }
            None => None,
        };
        let base = given.as_ref().unwrap_or(&self.describer);
        let describer = match reshaped(base.config(), change)? {
            Some(config) => Some(load::describer(config, base.resources().clone())?),
            None => given,
        };
        check_lists(&new, &self.project)?;
        let after = describer.as_ref().unwrap_or(&self.describer).config();
        let all = differences((&self.settings, &new), (self.describer.config(), after))?;
        // A list may have other names in it under the same name.
        let same_files = |new: &Describer| new.resources().iter().eq(self.describer.resources().iter());
        let other = self.describer.config() != after || !describer.as_ref().is_none_or(same_files);
        if all.is_empty() && !other {
            return Ok(all);
        }
        let who = Who {
            user: self.project.store_mut().user(IMPORT)?,
            request: None,
        };
        store(
            &mut self.project,
            (&self.settings, &new),
            describer.as_ref(),
            change,
            &who,
        )?;
        self.settings = new;
        if let Some(describer) = describer {
            self.describer = describer;
        }
        Ok(match all.is_empty() {
            true => vec!["config".to_owned()],
            false => all,
        })
    }
}

impl Engine {
    /// The settings.
    pub fn settings(&self) -> SettingsReport {
        self.state().settings_report()
    }

    /// Changes settings. They are stored when this returns; models follow in the background.
    pub fn change_settings(&self, user: &str, wish: &ChangeSettings) -> Result<SettingsReport, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        state.change_settings(user, wish)?;
        self.tell(&state);
        self.wake.notify_all();
        Ok(state.settings_report())
    }
}

impl State {
    fn settings_report(&self) -> SettingsReport {
        let settings = &self.settings;
        let names = |list: &str| list.lines().filter(|line| !line.trim().is_empty()).count();
        let dictionaries = settings.dictionaries.iter();
        SettingsReport {
            strategy: settings.strategy.name(),
            strategies: Strategy::TOKENS.map(|one| (one.name(), one.title())).to_vec(),
            unit: settings.unit.name(),
            units: Unit::ALL.map(Unit::name).to_vec(),
            batch: settings.batch,
            held_out: settings.held_out,
            held_out_of: match settings.held_out_sentences {
                true => "sentences",
                false => "documents",
            },
            shared: settings.shared,
            seed: settings.seed,
            order: self.learning.structure.order,
            c1: self.learning.lbfgs.prior.c1,
            c2: self.learning.lbfgs.prior.c2,
            patterns: settings.patterns.clone(),
            dictionaries: dictionaries
                .map(|(kind, list)| (kind.clone(), names(list)))
                .collect(),
            tokenizer: self.describer.config().text.tokenizer.name().to_owned(),
        }
    }

    fn change_settings(&mut self, user: UserId, wish: &ChangeSettings) -> Result<(), Error> {
        super::act::check_name(&wish.request)?;
        let content = Content::of_settings(&wish.change);
        if self.done_once(user, &wish.request, &content)?.is_some() {
            return Ok(());
        }
        let new = wish.change.apply(&self.settings)?;
        check_lists(&new, &self.project)?;
        let describer = match reshaped(self.describer.config(), &wish.change)? {
            Some(config) => Some(load::describer(config, self.describer.resources().clone())?),
            None => None,
        };
        let who = Who {
            user,
            request: Some(&wish.request),
        };
        let both = (&self.settings, &new);
        store(&mut self.project, both, describer.as_ref(), &wish.change, &who)?;
        self.take_settings(new, describer)
    }

    /// Goes on with other settings, which are stored already.
    fn take_settings(&mut self, new: Settings, describer: Option<Describer>) -> Result<(), Error> {
        let old = std::mem::replace(&mut self.settings, new);
        let new = self.settings.clone();
        let other_part = (old.held_out, old.seed) != (new.held_out, new.seed);
        if other_part || old.shared != new.shared {
            let corpus = Arc::make_mut(&mut self.corpus);
            corpus.hold_out(|id| holds_out(&new, id));
            load::share(&new, corpus);
            self.compare_again()?;
        }
        if (&old.dictionaries, &old.patterns) != (&new.dictionaries, &new.patterns) {
            self.prior = Arc::new(Prior::new(&new)?);
            self.prior_at.clear();
        }
        if (old.unit, old.strategy) != (new.unit, new.strategy) {
            // Questions that nobody has answered yet give way to others.
            self.asked.clear();
        }
        let reshaped = describer.is_some();
        if let Some(describer) = describer {
            self.learning = learning(describer.config())?;
            self.describer = Arc::new(describer);
            self.model_of = None;
        }
        if reshaped || other_part {
            // A model that has learned from what is now held out would be measured on what it knows.
            self.relabel()?;
        }
        self.fresh = match self.pool.labelled_positions() > 0 {
            // A new model comes with a new order.
            true if old.strategy != new.strategy => self.fresh.max(new.batch),
            true => self.fresh,
            false => 0,
        };
        Ok(())
    }

    /// Finds out anew which questions were about what is shared.
    pub fn compare_again(&mut self) -> Result<(), Error> {
        let mut compared = Vec::new();
        self.project.store().for_each_action(|action| {
            let number = action.document.and_then(|id| self.corpus.find(id));
            let (Some(number), Some(question)) = (number, &action.question) else {
                return Ok(());
            };
            if action.user != self.import {
                compared.extend(state::shared_position(self.corpus.get(number), question));
            }
            Ok(())
        })?;
        self.compared = compared;
        Ok(())
    }
}
