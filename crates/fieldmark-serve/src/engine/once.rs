//! Requests are done once. A name that comes again with the same content is answered again, because its first answer may
//! have been lost; with other content it is a mistake of the client, and to answer it would call something done that
//! never was.

use super::state::State;
use super::wire::{ActionRequest, ChangeType, NewType};
use crate::project::{Action, DocumentId, Error, SettingsChange, TypeId, UserId, Writing};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    /// A fingerprint of everything that it says.
    print: String,
    /// Kinds of deeds that it can become, and its document: all there is to compare with requests of older programs.
    deeds: &'static [&'static str],
    document: Option<DocumentId>,
}

impl Content {
    fn new(what: &str, value: impl Serialize, deeds: &'static [&'static str]) -> Self {
        // Its fields are numbers and text.
        let json = serde_json::to_string(&value).unwrap_or_default();
        let hash = Sha256::digest(format!("{what} {json}"));
        Self {
            print: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            deeds,
            document: None,
        }
    }

    /// Of an action. How long it took is measured, and not asked for.
    pub fn of_action(request: &ActionRequest) -> Self {
        let deeds: &[&str] = match request.kind.as_str() {
            "assert" => &["assert"],
            "adjudicate" => &["adjudicate"],
            "clear" => &["clear"],
            "sentence" | "document" => &["whole"],
            "equal" => &["equal"],
            "comment" => &["comment"],
            "skip" => &["skip", "skip-question"],
            "flag" => &["flag"],
            "done" => &["done"],
            _ => &[],
        };
        let said = ActionRequest {
            request: String::new(),
            seconds: None,
            ..request.clone()
        };
        Self {
            document: request.document,
            ..Self::new("action", said, deeds)
        }
    }

    /// Of undo, or of redo.
    pub fn of_turn(back: bool) -> Self {
        match back {
            true => Self::new("undo", (), &["undo"]),
            false => Self::new("redo", (), &["redo"]),
        }
    }

    /// Of a new type.
    pub fn of_new_type(new: &NewType) -> Self {
        Self::new("new type", &new.name, &["type"])
    }

    /// Of a change of a type.
    pub fn of_type(id: TypeId, change: &ChangeType) -> Self {
        let said = (id, &change.name, &change.key, change.colour, change.removed);
        Self::new("type", said, &["type"])
    }

    /// Of a change of settings.
    pub fn of_settings(change: &SettingsChange) -> Self {
        Self::new("settings", change, &["settings"])
    }

    /// Keeps it with the action that it becomes.
    pub fn keep(&self, writing: &Writing<'_>, user: UserId, request: &str) -> Result<(), Error> {
        writing.keep_content(user, request, &self.print)
    }
}

impl State {
    /// The action that somebody's request became when it came for the first time; `None` if it is new.
    ///
    /// # Errors
    /// When it said something else then.
    pub fn done_once(&self, user: UserId, request: &str, content: &Content) -> Result<Option<Action>, Error> {
        let store = self.project.store();
        let Some(action) = store.repeated(user, request)? else {
            return Ok(None);
        };
        let same = match store.content(user, request)? {
            Some(print) => print == content.print,
            None => {
                content.deeds.contains(&action.deed.name())
                    && content.document.is_none_or(|id| action.document == Some(id))
            }
        };
        match same {
            true => Ok(Some(action)),
            false => Err(Error::Conflict(format!(
                "the request {request:?} was done before and asked for something else then; nothing is changed: give \
                 every request a name of its own"
            ))),
        }
    }
}
