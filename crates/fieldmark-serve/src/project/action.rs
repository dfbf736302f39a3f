//! [`Deed`]: what people do, as it is stored and replayed.

use super::settings::SettingsChange;
use serde::{Deserialize, Serialize};

/// The number of a document in the store.
pub type DocumentId = i64;
/// The number of a type in the store; it stays the same when the type is renamed.
pub type TypeId = u32;
/// The number of a person in the store.
pub type UserId = u32;
/// The number of an action in the store. Later actions have greater ones.
pub type ActionId = i64;

/// How far an [`Assertion`] goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Borders {
    /// The tokens are one span.
    #[default]
    Exact,
    /// Each token is part of some span of the type.
    Open,
}

/// What somebody says about some tokens of a document. All other tokens stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// The first token.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
    /// The type; `None` for tokens outside of all spans.
    #[serde(rename = "type")]
    pub kind: Option<TypeId>,
    /// How far it goes.
    #[serde(default)]
    pub borders: Borders,
}

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The document.
    pub document: DocumentId,
    /// The first token.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
}

/// What somebody did. It says everything that is needed to do it again: which tokens are equal to others, for example, is
/// found out once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Says something about some tokens.
    Assert {
        /// What is said.
        assertions: Vec<Assertion>,
    },
    /// Takes back what was said of some tokens.
    Clear {
        /// The first token.
        start: u32,
        /// One past the last token.
        end: u32,
    },
    /// Says everything about some tokens: what is in no span is outside.
    Whole {
        /// The first token.
        start: u32,
        /// One past the last token.
        end: u32,
        /// The spans.
        spans: Vec<Assertion>,
    },
    /// Gives all places with the same text a type.
    Equal {
        /// The places.
        places: Vec<Place>,
        /// The type; `None` for outside.
        #[serde(rename = "type")]
        kind: Option<TypeId>,
    },
    /// Says what holds where annotators differ.
    Adjudicate {
        /// What holds.
        assertions: Vec<Assertion>,
        /// First tokens and ends of the conflicts that are decided by it: nothing else holds there.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        regions: Vec<(u32, u32)>,
    },
    /// Writes something beside the text.
    Comment {
        /// The tokens that it is about; without, it is about the document.
        place: Option<(u32, u32)>,
        /// What it says.
        text: String,
    },
    /// Leaves a question out.
    SkipQuestion {
        /// The token that it is about, or the first one.
        token: u32,
    },
    /// Leaves a document out.
    Skip,
    /// Marks a document to come back to.
    Flag {
        /// Whether it is marked.
        on: bool,
    },
    /// Is finished with a document.
    Done {
        /// Whether it is finished.
        on: bool,
    },
    /// Takes an action back.
    Undo {
        /// The action.
        action: ActionId,
    },
    /// Does again what was taken back.
    Redo {
        /// The action.
        action: ActionId,
    },
    /// Makes or changes a type.
    Type {
        /// The type.
        id: TypeId,
    },
    /// Changes settings.
    Settings {
        /// What changes.
        change: Box<SettingsChange>,
    },
}

impl Deed {
    /// Its name in the store.
    pub fn name(&self) -> &'static str {
        match self {
            Deed::Assert { .. } => "assert",
            Deed::Clear { .. } => "clear",
            Deed::Whole { .. } => "whole",
            Deed::Equal { .. } => "equal",
            Deed::Adjudicate { .. } => "adjudicate",
            Deed::Comment { .. } => "comment",
            Deed::SkipQuestion { .. } => "skip-question",
            Deed::Skip => "skip",
            Deed::Flag { .. } => "flag",
            Deed::Done { .. } => "done",
            Deed::Undo { .. } => "undo",
            Deed::Redo { .. } => "redo",
            Deed::Type { .. } => "type",
            Deed::Settings { .. } => "settings",
        }
    }

    /// Whether it can be taken back.
    pub fn can_be_undone(&self) -> bool {
        !matches!(
            self,
            Deed::Undo { .. } | Deed::Redo { .. } | Deed::Type { .. } | Deed::Settings { .. }
        )
    }

    /// Whether it says something about labels.
    pub fn is_answer(&self) -> bool {
        matches!(
            self,
            Deed::Assert { .. }
                | Deed::Clear { .. }
                | Deed::Whole { .. }
                | Deed::Equal { .. }
                | Deed::Adjudicate { .. }
        )
    }
}

/// A deed, with who did it, when and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Its number.
    pub id: ActionId,
    /// What the client called it: unique for each person.
    pub request: String,
    /// Who did it.
    pub user: UserId,
    /// Milliseconds since 1970.
    pub time: i64,
    /// The document that it is about.
    pub document: Option<DocumentId>,
    /// The question that it answers.
    pub question: Option<String>,
    /// How long it took to answer.
    pub seconds: Option<f64>,
    /// What was done.
    pub deed: Deed,
}
