//! Values of JSON as facts of a document, and spans by characters.

use super::spans::{SPAN_KEYS, holds_spans};
use super::{Context, Problem};
use crate::document::Document;
use crate::error::shown;
use crate::formats::{NoticeKind, Notices};
use crate::offsets::Offsets;
use serde_json::{Map, Value};
use std::ops::Range;

/// A value as the text of a fact: text as it is, everything else as JSON.
pub fn fact(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The value that a fact was: lists and objects are JSON again.
fn value_of(fact: &str) -> Value {
    let structured = fact.starts_with(['[', '{']);
    let parsed = structured
        .then(|| serde_json::from_str::<Value>(fact).ok())
        .flatten();
    let canonical = |value: &Value| serde_json::to_string(value).is_ok_and(|text| text == fact);
    parsed
        .filter(canonical)
        .unwrap_or_else(|| Value::String(fact.to_owned()))
}

/// Takes the id of a document, which may be a number; without one it is the number of the line.
pub fn take_id(object: &mut Map<String, Value>, line: u64) -> String {
    object.remove("id").map_or_else(|| line.to_string(), fact)
}

/// An id as it was: a number if it reads like one.
pub fn id_value(id: &str) -> Value {
    let number = id.parse::<u64>().ok().filter(|number| number.to_string() == id);
    number.map_or_else(|| Value::String(id.to_owned()), Value::from)
}

/// Everything that is left becomes facts.
pub fn keep_rest(object: Map<String, Value>, document: &mut Document) {
    document
        .meta
        .extend(object.into_iter().map(|(key, value)| (key, fact(value))));
}

/// Adds the facts of a document to what is written of it.
pub fn add_facts(object: &mut Map<String, Value>, document: &Document, notices: &mut Notices) {
    for (key, fact) in &document.meta {
        let value = value_of(fact);
        // Where tokens have labels, nobody looks for spans.
        let looks_like_spans =
            !object.contains_key("ner_tags") && SPAN_KEYS.contains(&key.as_str()) && holds_spans(&value);
        if object.contains_key(key) || looks_like_spans {
            let message = format!("the fact `{key}` was left out: the format has a key of this name");
            notices.add(NoticeKind::Detail, &document.id, None, message);
        } else {
            object.insert(key.clone(), value);
        }
    }
}

/// A count that is a whole number.
pub fn number(value: &Value) -> Result<usize, Problem> {
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| {
        Problem::new(
            format!("`{}`", shown(&value.to_string())),
            "the offset of a character",
        )
    })
}

/// A text.
pub fn text(value: Value, expected: &'static str) -> Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(Problem::new(format!("`{}`", shown(&other.to_string())), expected)),
    }
}

/// The bytes of a span, or `None` after a notice.
pub fn place(
    span: Range<usize>,
    kind: &str,
    offsets: &Offsets<'_>,
    id: &str,
    context: &mut Context<'_>,
) -> Option<Range<usize>> {
    let Range { start, end } = span;
    let mut tell = |notice, why: String| {
        let message = format!("`{kind}` at {start}..{end} was left out: {why}");
        context.notices.add(notice, id, Some(context.line), message);
    };
    match (offsets.byte(start), offsets.byte(end)) {
        (Some(from), Some(to)) if from < to => Some(from..to),
        (Some(_), Some(_)) => {
            tell(NoticeKind::Empty, "it holds no character".to_owned());
            None
        }
        _ => {
            tell(
                NoticeKind::OutsideText,
                format!("the text has {} characters", offsets.end()),
            );
            None
        }
    }
}
