//! Flavours with a text and spans by offsets: doccano, spaCy and Prodigy.

use super::values::{add_facts, fact, id_value, keep_rest, number, place, take_id, text};
use super::{Context, Flavour, JsonlWriterOptions, Problem};
use crate::document::{Annotation, Document, GivenToken, GivenTokens, Relation};
use crate::error::shown;
use crate::formats::layers::{self, Sentences};
use crate::formats::losses::Places;
use crate::formats::{NoticeKind, Notices};
use crate::offsets::{Offsets, Unit};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

const SPAN: &str = "a span: `[start, end, \"TYPE\"]` or an object with start, end and label";

/// Where spans may be.
pub const SPAN_KEYS: [&str; 4] = ["label", "labels", "entities", "spans"];

/// `["text", {"entities": …}]` as an object.
pub fn pair(parts: Vec<Value>) -> Option<Map<String, Value>> {
    let [Value::String(text), Value::Object(mut object)] = <[Value; 2]>::try_from(parts).ok()? else {
        return None;
    };
    object.insert("text".to_owned(), Value::String(text));
    Some(object)
}

pub fn read(mut object: Map<String, Value>, context: &mut Context<'_>) -> Result<Document, Problem> {
    let id = take_id(&mut object, context.line);
    let words = object
        .remove("text")
        .ok_or_else(|| Problem::new("no `text`", "a document with a `text`"))?;
    let mut document = Document::new(id, text(words, "a `text`")?);
    let words = std::mem::take(&mut document.text);
    let offsets = Offsets::new(&words, Unit::Characters);
    for key in SPAN_KEYS {
        if !object.get(key).is_some_and(holds_spans) {
            continue;
        }
        if let Some(Value::Array(spans)) = object.remove(key) {
            for span in spans {
                let (range, mut annotation) = span_of(span)?;
                if let Some(range) = place(range, &annotation.kind, &offsets, &document.id, context) {
                    annotation.fragments.push(range);
                    document.annotations.push(annotation);
                }
            }
        }
    }
    if object
        .get("relations")
        .is_some_and(|value| all(value, |relation| relation.get("from_id").is_some()))
    {
        let relations = object.remove("relations");
        let relations = relations.as_ref().and_then(Value::as_array).into_iter().flatten();
        document.relations = relations.filter_map(relation).collect();
    }
    if object
        .get("tokens")
        .is_some_and(|value| all(value, |token| token.get("start").is_some()))
    {
        let tokens = object.remove("tokens");
        document.given = given(tokens, &offsets, &document.id, context);
    }
    document.text = words;
    keep_rest(object, &mut document);
    Ok(document)
}

fn all(value: &Value, test: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(test))
}

/// Labels of a whole document are texts: no spans.
pub fn holds_spans(value: &Value) -> bool {
    all(value, |span| span.is_array() || span.is_object())
}

fn span_of(span: Value) -> Result<(std::ops::Range<usize>, Annotation), Problem> {
    let problem = |span: &Value| Problem::new(format!("`{}`", shown(&span.to_string())), SPAN);
    match span {
        Value::Array(parts) => match parts.as_slice() {
            [start, end, kind, ..] if parts.len() == 3 => {
                let annotation = Annotation {
                    kind: fact(kind.clone()),
                    ..Annotation::default()
                };
                Ok((number(start)?..number(end)?, annotation))
            }
            _ => Err(problem(&Value::Array(parts))),
        },
        Value::Object(mut object) => {
            let mut take = |keys: &[&str]| keys.iter().find_map(|key| object.remove(*key));
            let (start, end) = (take(&["start_offset", "start"]), take(&["end_offset", "end"]));
            let kind = take(&["label", "type", "kind"]);
            let (Some(start), Some(end), Some(kind)) = (start, end, kind) else {
                return Err(problem(&Value::Object(object)));
            };
            let id = object.remove("id").map(fact).unwrap_or_default();
            // They follow from the tokens.
            object.remove("token_start");
            object.remove("token_end");
            let attributes = object
                .into_iter()
                .map(|(key, value)| (key, fact(value)))
                .collect();
            let annotation = Annotation {
                id,
                kind: fact(kind),
                attributes,
                ..Annotation::default()
            };
            Ok((number(&start)?..number(&end)?, annotation))
        }
        other => Err(problem(&other)),
    }
}

fn relation(value: &Value) -> Option<Relation> {
    let mut object = value.as_object()?.clone();
    let mut take = |key: &str| object.remove(key).map(fact);
    let (from, to) = (take("from_id")?, take("to_id").unwrap_or_default());
    Some(Relation {
        id: take("id").unwrap_or_default(),
        kind: take("type").unwrap_or_default(),
        arguments: vec![("from".to_owned(), from), ("to".to_owned(), to)],
        attributes: object
            .into_iter()
            .map(|(key, value)| (key, fact(value)))
            .collect(),
    })
}

/// Prodigy's tokens; none if one is not inside the text.
fn given(
    tokens: Option<Value>,
    offsets: &Offsets<'_>,
    id: &str,
    context: &mut Context<'_>,
) -> Option<GivenTokens> {
    let tokens = tokens?;
    let range = |token: &Value| {
        let place = |key: &str| {
            token
                .get(key)
                .and_then(Value::as_u64)
                .and_then(|at| offsets.byte(usize::try_from(at).ok()?))
        };
        let (start, end) = (place("start")?, place("end")?);
        (start < end).then_some(GivenToken {
            range: start..end,
            columns: Vec::new(),
            ..GivenToken::default()
        })
    };
    let found: Option<Vec<GivenToken>> = tokens.as_array()?.iter().map(range).collect();
    if found.is_none() {
        let message = "the tokens were left out: some are outside of the text";
        context
            .notices
            .add(NoticeKind::OutsideText, id, Some(context.line), message);
    }
    found.map(|tokens| GivenTokens {
        columns: Vec::new(),
        sentences: vec![tokens],
        ..GivenTokens::default()
    })
}

pub fn write(document: &Document, options: &JsonlWriterOptions, notices: &mut Notices) -> Value {
    let mut object = Map::new();
    if !document.id.is_empty() {
        object.insert("id".to_owned(), id_value(&document.id));
    }
    object.insert("text".to_owned(), Value::from(document.text.as_str()));
    let offsets = Offsets::new(&document.text, Unit::Characters);
    let places = Places::new(&document.text);
    let mut spans: Vec<(usize, usize, &Annotation)> = Vec::new();
    for annotation in &document.annotations {
        if annotation.fragments.len() > 1 {
            let message = format!("{} was written with its gaps", places.name(annotation));
            notices.add(NoticeKind::Fragments, &document.id, None, message);
        }
        let range = annotation.range();
        match (offsets.count(range.start), offsets.count(range.end)) {
            (Some(start), Some(end)) => spans.push((start, end, annotation)),
            _ => {
                let message = format!("{} was left out", places.name(annotation));
                notices.add(NoticeKind::OutsideText, &document.id, None, message);
            }
        }
    }
    let triples = || {
        spans
            .iter()
            .map(|(start, end, annotation)| json!([start, end, annotation.kind]))
            .collect()
    };
    let named = spans.iter().any(|(.., annotation)| !annotation.id.is_empty());
    match options.flavour {
        Flavour::Spacy => drop(object.insert("entities".to_owned(), triples())),
        Flavour::Prodigy => prodigy(&mut object, document, &spans, &offsets, options, notices),
        _ if document.relations.is_empty() && !named => drop(object.insert("label".to_owned(), triples())),
        _ => {
            object.insert("entities".to_owned(), spans.iter().map(entity).collect());
            let relations = document
                .relations
                .iter()
                .filter_map(|relation| relation_value(relation, document, notices));
            let relations: Value = relations.collect();
            object.insert("relations".to_owned(), relations);
        }
    }
    add_facts(&mut object, document, notices);
    Value::Object(object)
}

fn entity((start, end, annotation): &(usize, usize, &Annotation)) -> Value {
    let id = id_value(&annotation.id);
    json!({"id": id, "start_offset": start, "end_offset": end, "label": annotation.kind})
}

fn relation_value(relation: &Relation, document: &Document, notices: &mut Notices) -> Option<Value> {
    let [(_, from), (_, to)] = relation.arguments.as_slice() else {
        let message = format!(
            "`{}` {} was left out: it has {} parts, not two",
            relation.kind,
            relation.id,
            relation.arguments.len()
        );
        notices.add(NoticeKind::Relation, &document.id, None, message);
        return None;
    };
    let mut object = Map::new();
    for (key, value) in &relation.attributes {
        object.insert(key.clone(), Value::from(value.as_str()));
    }
    for (key, id) in [("id", &relation.id), ("from_id", from), ("to_id", to)] {
        object.insert(key.to_owned(), id_value(id));
    }
    object.insert("type".to_owned(), Value::from(relation.kind.as_str()));
    Some(Value::Object(object))
}

fn prodigy(
    object: &mut Map<String, Value>,
    document: &Document,
    spans: &[(usize, usize, &Annotation)],
    offsets: &Offsets<'_>,
    options: &JsonlWriterOptions,
    notices: &mut Notices,
) {
    let sentences: Sentences = layers::sentences(document, &options.sentences, &options.tokenizer);
    let given = document.given.as_ref();
    let of_source = |given: &&GivenTokens| given.labels.is_none() || given.columns.len() > 1;
    if given
        .filter(of_source)
        .is_some_and(|given| given.sentences.len() > 1 || !given.columns.is_empty())
    {
        notices.add(
            NoticeKind::Detail,
            &document.id,
            None,
            "the format has no place for sentences and columns",
        );
    }
    let ranges: Vec<(usize, usize)> = sentences
        .into_iter()
        .flatten()
        .filter_map(|range| Some((offsets.count(range.start)?, offsets.count(range.end)?)))
        .collect();
    let token = |(at, &(start, end)): (usize, &(usize, usize))| {
        let byte = |count| offsets.byte(count).unwrap_or(0);
        let words = document.text.get(byte(start)..byte(end)).unwrap_or_default();
        let space = ranges.get(at + 1).is_some_and(|next| next.0 > end);
        json!({"text": words, "start": start, "end": end, "id": at, "ws": space})
    };
    object.insert(
        "tokens".to_owned(),
        ranges.iter().enumerate().map(token).collect(),
    );
    let starts: HashMap<usize, usize> = ranges
        .iter()
        .enumerate()
        .map(|(at, range)| (range.0, at))
        .collect();
    let ends: HashMap<usize, usize> = ranges
        .iter()
        .enumerate()
        .map(|(at, range)| (range.1, at))
        .collect();
    let mut list = Vec::new();
    let places = Places::new(&document.text);
    for (start, end, annotation) in spans {
        let mut span = Map::new();
        for (key, value) in &annotation.attributes {
            span.insert(key.clone(), Value::from(value.as_str()));
        }
        let (first, last) = (starts.get(start).copied(), ends.get(end).copied());
        match (first, last) {
            (Some(first), Some(last)) => {
                span.insert("token_start".to_owned(), Value::from(first));
                span.insert("token_end".to_owned(), Value::from(last));
            }
            _ => {
                let message = format!("{} has no numbers of tokens", places.name(annotation));
                notices.add(NoticeKind::InsideToken, &document.id, None, message);
            }
        }
        if !annotation.id.is_empty() {
            span.insert("id".to_owned(), id_value(&annotation.id));
        }
        span.insert("start".to_owned(), Value::from(*start));
        span.insert("end".to_owned(), Value::from(*end));
        span.insert("label".to_owned(), Value::from(annotation.kind.as_str()));
        list.push(Value::Object(span));
    }
    object.insert("spans".to_owned(), Value::Array(list));
}
