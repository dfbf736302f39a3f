//! Types: made and changed while people annotate.

use super::once::Content;
use super::state::State;
use super::wire::{ChangeType, NewType};
use crate::project::{Error, Type, TypeId, UserId};
use std::sync::Arc;

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
                let back = returning(&self.types, &one);
                let change = ChangeType {
                    request: new.request.clone(),
                    key: Some(back.key),
                    removed: Some(false),
                    name: None,
                    colour: None,
                    force: false,
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
                self.map = Arc::new(super::state::label_map(&self.types));
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
        if new.removed && !self.types[at].removed && !change.force {
            self.check_unused(&new)?;
        }
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

    /// Refuses to take a type out of use while something is marked with it.
    fn check_unused(&self, one: &Type) -> Result<(), Error> {
        let marked = match self.words.spans_of(one.id) {
            0 => return Ok(()),
            1 => "1 span is".to_owned(),
            many => format!("{many} spans are"),
        };
        Err(Error::Conflict(format!(
            "{marked} marked as {}, and will be unknown without it; all of it is kept, and comes back when the type is \
             made again",
            one.name
        )))
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

/// The first key that chooses no type.
fn free_key(types: &[Type]) -> String {
    let mut keys = KEYS.chars().map(String::from);
    let free = |key: &String| types.iter().all(|one| one.removed || one.key != *key);
    keys.find(free).unwrap_or_default()
}

/// A type that was removed, in use again; with another key, if its own is taken.
pub(super) fn returning(types: &[Type], one: &Type) -> Type {
    let taken = types.iter().any(|other| !other.removed && other.key == one.key);
    Type {
        key: if taken { free_key(types) } else { one.key.clone() },
        removed: false,
        ..one.clone()
    }
}

/// A new type, with the first free key and colour.
pub(super) fn new_type(types: &[Type], name: &str) -> Type {
    let used = || types.iter().filter(|one| !one.removed);
    let colour = (0..COLOURS).find(|colour| used().all(|one| one.colour != *colour));
    Type {
        id: types.iter().map(|one| one.id).max().unwrap_or(0) + 1,
        name: name.to_owned(),
        key: free_key(types),
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
