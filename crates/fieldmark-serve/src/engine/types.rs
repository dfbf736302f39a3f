//! Types: made and changed while people annotate.

use super::once::Content;
use super::state::State;
use super::wire::{ChangeType, NewType};
use crate::project::{Error, Type, TypeId, UserId};

/// Keys that types get, in this order; others are commands of the page.
const KEYS: &str = "123456789ghijlmqrtvwy";

/// Places in the palette.
const COLOURS: u32 = 10;

/// Longer names are refused.
const LONGEST: usize = 100;

impl State {
    /// Makes a type. A type of that name that was removed comes back.
    pub fn add_type(&mut self, user: UserId, new: &NewType) -> Result<(), Error> {
        let content = Content::of_new_type(new);
        if self.done_once(user, &new.request, &content)?.is_some() {
            return Ok(());
        }
        let name = check_name(&new.name)?;
        let same = self.types.iter().find(|one| one.name == name).cloned();
        match same {
            Some(one) if !one.removed => Err(Error::Conflict(format!("there is a type {name} already"))),
            Some(one) => {
                let change = ChangeType {
                    request: new.request.clone(),
                    name: None,
                    key: None,
                    colour: None,
                    removed: Some(false),
                };
                self.do_change_type(user, one.id, &change, &content)
            }
            None => {
                let one = new_type(&self.types, name);
                self.project.store_mut().atomically(|writing| {
                    content.keep(writing, user, &new.request)?;
                    writing.add_type(&one, user, &new.request)
                })?;
                self.pool.add_label(&format!("B-{name}"));
                self.pool.add_label(&format!("I-{name}"));
                self.types.push(one);
                self.map = super::state::label_map(&self.types);
                Ok(())
            }
        }
    }

    /// Changes a type.
    pub fn change_type(&mut self, user: UserId, id: TypeId, change: &ChangeType) -> Result<(), Error> {
        let content = Content::of_type(id, change);
        if self.done_once(user, &change.request, &content)?.is_some() {
            return Ok(());
        }
        self.do_change_type(user, id, change, &content)
    }

    fn do_change_type(
        &mut self,
        user: UserId,
        id: TypeId,
        change: &ChangeType,
        content: &Content,
    ) -> Result<(), Error> {
        let Some(at) = self.types.iter().position(|one| one.id == id) else {
            return Err(Error::missing(format_args!("there is no type {id}")));
        };
        let mut new = self.types[at].clone();
        if let Some(name) = &change.name {
            new.name = check_name(name)?.to_owned();
        }
        if let Some(key) = &change.key {
            new.key = key.to_lowercase();
        }
        new.colour = change.colour.unwrap_or(new.colour) % COLOURS;
        new.removed = change.removed.unwrap_or(new.removed);
        self.check_type(&new)?;
        let other_labels = (&new.name, new.removed) != (&self.types[at].name, self.types[at].removed);
        self.project.store_mut().atomically(|writing| {
            content.keep(writing, user, &change.request)?;
            writing.change_type(&new, user, &change.request)
        })?;
        self.types[at] = new;
        if other_labels {
            self.relabel()?;
        }
        Ok(())
    }

    fn check_type(&self, new: &Type) -> Result<(), Error> {
        let mut others = self.types.iter().filter(|one| one.id != new.id && !one.removed);
        if new.removed {
            return Ok(());
        }
        let one = new.key.chars().count() == 1 && KEYS.contains(&new.key);
        if !(new.key.is_empty() || one) {
            return Err(Error::refused(format_args!(
                "the key {:?} cannot choose a type; choose one of {KEYS}, or none",
                new.key
            )));
        }
        if others.clone().any(|one| one.name == new.name) {
            return Err(Error::Conflict(format!("there is a type {} already", new.name)));
        }
        match others.find(|one| one.key == new.key && !new.key.is_empty()) {
            Some(other) => Err(Error::Conflict(format!(
                "the key {:?} chooses {} already",
                new.key, other.name
            ))),
            None => Ok(()),
        }
    }
}

/// A new type, with the first free key and colour.
pub(super) fn new_type(types: &[Type], name: &str) -> Type {
    let used = || types.iter().filter(|one| !one.removed);
    let key = KEYS
        .chars()
        .map(String::from)
        .find(|key| used().all(|one| one.key != *key));
    let colour = (0..COLOURS).find(|colour| used().all(|one| one.colour != *colour));
    Type {
        id: types.iter().map(|one| one.id).max().unwrap_or(0) + 1,
        name: name.to_owned(),
        key: key.unwrap_or_default(),
        colour: colour.unwrap_or(types.len() as u32 % COLOURS),
        removed: false,
    }
}

/// Sees whether a type may have a name.
pub(super) fn check_name(name: &str) -> Result<&str, Error> {
    let name = name.trim();
    let problem = if name.is_empty() {
        "is empty"
    } else if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        "holds white space, which column files have no place for; use _ or -"
    } else if name.chars().count() > LONGEST {
        "is too long: a name has at most 100 characters"
    } else {
        return Ok(name);
    };
    Err(Error::refused(format_args!(
        "the name {name:?} of a type {problem}"
    )))
}
