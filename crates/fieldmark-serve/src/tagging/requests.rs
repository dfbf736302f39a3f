//! What clients ask, and the frames of the answers.

use super::answer::{ModelAnswer, TextAnswer, UnitName};
use super::explain::TokenDecision;
use crate::http::ApiError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options in the address: `?model=drugs&unit=utf16`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    pub model: Option<String>,
    pub unit: Option<UnitName>,
}

/// One text or several; either `text` or `texts`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagRequest {
    /// A text.
    pub text: Option<String>,
    /// Texts, which are marked one by one.
    pub texts: Option<Vec<String>>,
    /// The name of a model; by default the first one of the server.
    pub model: Option<String>,
    /// How places are counted; by default in characters.
    pub unit: Option<UnitName>,
}

/// A place in a text, of whose labels the reasons are wanted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// The text.
    pub text: String,
    /// Where the place begins.
    pub start: usize,
    /// One past its end.
    pub end: usize,
    /// The name of a model; by default the first one of the server.
    pub model: Option<String>,
    /// How places are counted; by default in characters.
    pub unit: Option<UnitName>,
    /// The most reasons for each token; by default 8.
    #[schemars(range(max = 1000))]
    pub top: Option<usize>,
}

/// What was found in one text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tagged {
    /// The model that found it.
    pub model: String,
    /// How places are counted.
    pub unit: UnitName,
    #[serde(flatten)]
    pub answer: TextAnswer,
}

/// What was found in several texts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaggedBatch {
    /// The model that found it.
    pub model: String,
    /// How places are counted.
    pub unit: UnitName,
    /// For each text, in order, what was found in it or why it could not be marked.
    pub results: Vec<TextResult>,
}

/// What was found in a text, or why it could not be marked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TextResult {
    /// What was found.
    Found(TextAnswer),
    /// Why there is no answer.
    Failed {
        /// A sentence.
        error: String,
    },
}

/// What was found in one line of a stream, or why it could not be marked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaggedLine {
    /// The line of the input, from 1. Empty lines have no answer.
    pub line: u64,
    /// The `id` of the line, whatever it is, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<serde_json::Value>,
    #[serde(flatten)]
    pub result: LineResult,
}

/// The rest of a [`TaggedLine`].
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LineResult {
    /// What was found.
    Found {
        /// The model that found it, if the line named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// How places are counted.
        unit: UnitName,
        #[serde(flatten)]
        answer: TextAnswer,
    },
    /// Why there is no answer.
    Failed {
        /// A sentence.
        error: String,
    },
}

/// A line of a stream: a JSON string, or an object with the text. Other keys are ignored.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LineRequest {
    /// The text alone.
    Text(String),
    /// The text with a name.
    Object {
        /// The text.
        text: String,
        /// Comes back with the answer.
        id: Option<serde_json::Value>,
        /// The name of a model; by default the one that the address names.
        model: Option<String>,
    },
}

/// Why the tokens of a place got their labels.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The model that was asked.
    pub model: String,
    /// How places are counted.
    pub unit: UnitName,
    /// Each token that the place touches.
    pub decisions: Vec<TokenDecision>,
    /// What the reasons do not show, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// The models of the server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelList {
    /// The default first.
    pub models: Vec<ModelAnswer>,
}

/// How the server is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// Always `ok`; a server that is not does not answer.
    pub status: &'static str,
    /// The version of fieldmark.
    pub version: &'static str,
    /// How many models are served.
    pub models: usize,
}

/// Why there is no answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// A sentence.
    pub error: String,
}

/// What is said in the body or in the address; both may say the same.
pub fn agreed<T: PartialEq>(name: &str, body: Option<T>, address: Option<T>) -> Result<Option<T>, ApiError> {
    match (body, address) {
        (Some(body), Some(address)) if body != address => Err(ApiError::unprocessable(format_args!(
            "the body and the address of the request name different values of `{name}`"
        ))),
        (body, address) => Ok(body.or(address)),
    }
}
