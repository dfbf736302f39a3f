//! fieldmark's own flavour: a document with all its fields, offsets in characters.

use super::values::{keep_rest, place};
use super::{Context, Problem};
use crate::document::Document;
use crate::error::shown;
use crate::formats::{NoticeKind, Notices};
use crate::offsets::{Offsets, Unit};
use serde_json::{Map, Value};
use std::io;
use std::ops::Range;

const FIELDS: [&str; 9] = [
    "id",
    "unmarked",
    "text",
    "annotations",
    "open",
    "relations",
    "elements",
    "given",
    "meta",
];
const UNITS: [(&str, Unit); 3] = [
    ("characters", Unit::Characters),
    ("bytes", Unit::Bytes),
    ("utf16", Unit::Utf16),
];

pub fn read(mut object: Map<String, Value>, context: &mut Context<'_>) -> Result<Document, Problem> {
    let unit = match object.remove("offsets") {
        None => Unit::Characters,
        Some(value) => {
            let known = UNITS.iter().find(|(name, _)| value == *name);
            let found = format!("the offsets `{}`", shown(&value.to_string()));
            known
                .ok_or_else(|| Problem::new(found, "`characters`, `bytes` or `utf16`"))?
                .1
        }
    };
    let (fields, rest): (Map<_, _>, Map<_, _>) = object
        .into_iter()
        .partition(|(key, _)| FIELDS.contains(&key.as_str()));
    let mut document: Document = serde_json::from_value(Value::Object(fields)).map_err(|error| {
        Problem::new(
            format!("a value that does not fit ({error})"),
            "the fields of a document",
        )
    })?;
    keep_rest(rest, &mut document);
    let text = std::mem::take(&mut document.text);
    let offsets = Offsets::new(&text, unit);
    let id = document.id.clone();
    document.annotations.retain_mut(|annotation| {
        let kind = annotation.kind.clone();
        let mut place =
            |fragment: &mut Range<usize>| match place(fragment.clone(), &kind, &offsets, &id, context) {
                Some(range) => {
                    *fragment = range;
                    true
                }
                None => false,
            };
        annotation.fragments.iter_mut().all(&mut place)
    });
    document.annotations.retain(|annotation| {
        let empty = annotation.fragments.is_empty();
        if empty {
            let message = format!("`{}` was left out: it has no place", annotation.kind);
            context
                .notices
                .add(NoticeKind::Empty, &id, Some(context.line), message);
        }
        !empty
    });
    document.elements.retain_mut(|element| {
        let range = offsets
            .byte(element.range.start)
            .zip(offsets.byte(element.range.end));
        let found = range.filter(|(start, end)| start <= end);
        match found {
            Some((start, end)) => element.range = start..end,
            None => {
                let message = format!("the element `{}` was left out", element.kind);
                context
                    .notices
                    .add(NoticeKind::OutsideText, &id, Some(context.line), message);
            }
        }
        found.is_some()
    });
    if let Some(given) = &mut document.given {
        let mut fits = true;
        for token in given.sentences.iter_mut().flatten() {
            match offsets.byte(token.range.start).zip(offsets.byte(token.range.end)) {
                Some((start, end)) if start < end => token.range = start..end,
                _ => fits = false,
            }
        }
        if !fits {
            document.given = None;
            let message = "the tokens were left out: some are outside of the text";
            context
                .notices
                .add(NoticeKind::OutsideText, &id, Some(context.line), message);
        }
    }
    if let Some(open) = &mut document.open {
        let count = open.len();
        open.retain_mut(|open| {
            let bytes = offsets.byte(open.range.start).zip(offsets.byte(open.range.end));
            let found = bytes.filter(|(start, end)| start < end);
            found.map(|(start, end)| open.range = start..end).is_some()
        });
        if open.len() < count {
            let message = "open labels were left out: they are outside of the text";
            context
                .notices
                .add(NoticeKind::OutsideText, &id, Some(context.line), message);
        }
    }
    document.text = text;
    Ok(document)
}

pub fn write(document: &Document, notices: &mut Notices) -> io::Result<Value> {
    if let Err(error) = document.check() {
        let message = format!("{error}; offsets that do not fit are written as those of the end");
        notices.add(NoticeKind::OutsideText, &document.id, None, message);
    }
    let offsets = Offsets::new(&document.text, Unit::Characters);
    let count = |range: &mut Range<usize>| {
        let at = |byte: usize| offsets.count(byte).unwrap_or(offsets.end());
        *range = at(range.start)..at(range.end);
    };
    let mut copy = document.clone();
    copy.annotations
        .iter_mut()
        .flat_map(|annotation| &mut annotation.fragments)
        .for_each(count);
    copy.elements
        .iter_mut()
        .map(|element| &mut element.range)
        .for_each(count);
    let open = copy.open.iter_mut().flatten();
    open.map(|open| &mut open.range).for_each(count);
    let tokens = copy
        .given
        .iter_mut()
        .flat_map(|given| given.sentences.iter_mut().flatten());
    tokens.map(|token| &mut token.range).for_each(count);
    let mut value = serde_json::to_value(&copy)?;
    if let Value::Object(object) = &mut value {
        object.insert("offsets".to_owned(), Value::from("characters"));
    }
    Ok(value)
}
