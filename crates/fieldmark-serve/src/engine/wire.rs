//! What the page and the engine tell each other, as JSON.

use crate::project::{ActionId, Borders, DocumentId, Type};
use serde::{Deserialize, Serialize};

/// Something said about tokens, with the type by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedAssertion {
    /// The first token of the document.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
    /// The type; `None` for outside.
    #[serde(rename = "type", default)]
    pub kind: Option<String>,
    /// Whether this is one span, or parts of some.
    #[serde(default)]
    pub borders: Borders,
}

/// A span that the model, or a list, suggests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The first token of the document.
    pub start: usize,
    /// One past the last token.
    pub end: usize,
    /// The type; `None` for outside.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How probable it is.
    pub probability: f64,
}

/// A possible answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The type; `None` for outside.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How probable it is.
    pub probability: f64,
}

/// A range of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The first token of the document.
    pub start: usize,
    /// One past the last token.
    pub end: usize,
}

/// A document by number and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentName {
    /// Its number.
    pub id: DocumentId,
    /// Its name.
    pub name: String,
}

/// A sentence as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sentence {
    /// Its number in the document.
    pub index: usize,
    /// The first token of the document.
    pub start: usize,
    /// One past the last token.
    pub end: usize,
    /// Its text.
    pub text: String,
    /// What stands before it.
    pub before: String,
    /// What stands after it.
    pub after: String,
    /// The borders of its tokens in its text, in units of UTF-16.
    pub tokens: Vec<[usize; 2]>,
    /// What is known of it.
    pub known: Vec<NamedAssertion>,
    /// What is suggested for the rest.
    pub suggestions: Vec<Suggestion>,
    /// Who suggests it: `model`, `dictionary` or `pattern`.
    pub origin: &'static str,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// Its name, by which an answer refers to it.
    pub id: String,
    /// `token`, or `sentence` for a whole one.
    pub kind: &'static str,
    /// Whether it is about a sentence that is held out.
    pub test: bool,
    /// The document.
    pub document: DocumentName,
    /// The sentence.
    pub sentence: Sentence,
    /// What is asked about.
    pub target: Target,
    /// The most probable answer.
    pub suggestion: Option<Suggestion>,
    /// All answers, the most probable first.
    pub choices: Vec<Choice>,
    /// Why it is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a client wants to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ActionRequest {
    /// Its name, which is used once.
    pub request: String,
    /// What to do.
    pub kind: String,
    /// The document.
    #[serde(default)]
    pub document: Option<DocumentId>,
    /// The question that it answers.
    #[serde(default)]
    pub question: Option<String>,
    /// How long it took.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Of `assert` and `adjudicate`.
    #[serde(default)]
    pub assertions: Option<Vec<NamedAssertion>>,
    /// Of `sentence`, `document` and `adjudicate`.
    #[serde(default)]
    pub spans: Option<Vec<NamedAssertion>>,
    /// Of `clear`, `sentence`, `equal` and `comment`: the first token.
    #[serde(default)]
    pub start: Option<u32>,
    /// One past the last token.
    #[serde(default)]
    pub end: Option<u32>,
    /// Of `equal`: the type.
    #[serde(rename = "type", default)]
    pub type_name: Option<String>,
    /// Of `equal`: `document` or `project`.
    #[serde(default)]
    pub scope: Option<String>,
    /// Of `comment`.
    #[serde(default)]
    pub text: Option<String>,
    /// Of `flag` and `done`.
    #[serde(default)]
    pub on: Option<bool>,
    /// Whether it settles a doubt.
    #[serde(default)]
    pub review: bool,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ActionSummary {
    /// Its number.
    pub id: ActionId,
    /// Its kind.
    pub kind: String,
    /// The document.
    pub document: Option<DocumentId>,
    /// What it was, for people.
    pub summary: String,
}

/// The answer to an action.
#[derive(Clone, Debug, Serialize)]
pub struct ActionAnswer {
    /// What was done.
    pub action: ActionSummary,
    /// The sentences that it touched, with what is suggested now.
    pub sentences: Vec<Sentence>,
    /// The next question, if one was answered.
    pub next: Option<Question>,
    /// Model and progress.
    pub project: News,
    /// Whether there is something to undo.
    pub can_undo: bool,
    /// Whether there is something to redo.
    pub can_redo: bool,
}

/// The state of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelState {
    /// How many models there were.
    pub version: u64,
    /// Whether the next one is in training.
    pub training: bool,
    /// How long the training of the last one took.
    pub seconds: f64,
    /// Why there is no newer one, if training failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How far people are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Answers, without those that were undone.
    pub answers: usize,
    /// Tokens with an answer.
    pub labelled_tokens: usize,
    /// Sentences of which every token has an answer.
    pub labelled_sentences: usize,
    /// The mean time of the last answers.
    pub seconds_per_answer: Option<f64>,
}

/// What changes while people work.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct News {
    /// The model.
    pub model: ModelState,
    /// Progress.
    pub progress: Progress,
}

/// Types, after a change.
#[derive(Clone, Debug, Serialize)]
pub struct TypesAnswer {
    /// All types but those that are removed.
    pub types: Vec<Type>,
}

/// The wish for a new type.
#[derive(Clone, Debug, Deserialize)]
pub struct NewType {
    /// Its name, which is used once.
    pub request: String,
    /// The name of the type.
    pub name: String,
}

/// The wish to change a type.
#[derive(Clone, Debug, Deserialize)]
pub struct ChangeType {
    /// Its name, which is used once.
    pub request: String,
    /// A new name.
    #[serde(default)]
    pub name: Option<String>,
    /// A new key.
    #[serde(default)]
    pub key: Option<String>,
    /// A new place in the palette.
    #[serde(default)]
    pub colour: Option<u32>,
    /// Whether it is gone.
    #[serde(default)]
    pub removed: Option<bool>,
    /// Whether it goes although something is marked with it.
    #[serde(default)]
    pub force: bool,
}
