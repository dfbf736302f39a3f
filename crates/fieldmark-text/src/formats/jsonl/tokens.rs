//! The flavour with tokens and tags: data sets of Hugging Face.

use super::values::{add_facts, fact, id_value, keep_rest, take_id, text};
use super::{Context, JsonlWriterOptions, Problem};
use crate::document::{Annotation, Document, GivenToken, GivenTokens};
use crate::error::shown;
use crate::formats::layers::{self, Gap};
use crate::formats::{NoticeKind, Notices};
use fieldmark_core::scheme::{Scheme, Tag};
use serde_json::{Map, Value};

/// Keys of the tags, the first one for writing.
const TAGS: [&str; 4] = ["ner_tags", "tags", "labels", "ner"];

/// The label names of a line that is no document.
pub fn header(object: &Map<String, Value>) -> Option<Vec<String>> {
    if object.contains_key("tokens") || object.contains_key("text") {
        return None;
    }
    let nested = || {
        object
            .get("features")?
            .get("ner_tags")?
            .get("feature")?
            .get("names")
    };
    let names = object
        .get("label_names")
        .or_else(|| object.get("names"))
        .or_else(nested)?;
    let name = |name: &Value| name.as_str().map(str::to_owned);
    names.as_array()?.iter().map(name).collect()
}

pub fn read(mut object: Map<String, Value>, context: &mut Context<'_>) -> Result<Document, Problem> {
    let unmarked = !object.contains_key("id");
    let mut document = Document::new(take_id(&mut object, context.line), "");
    document.unmarked = unmarked;
    let words = match object.remove("tokens") {
        Some(Value::Array(words)) => words,
        _ => return Err(Problem::new("no list of `tokens`", "`tokens` and `ner_tags`")),
    };
    let words: Vec<String> = words
        .into_iter()
        .map(|word| text(word, "a token"))
        .collect::<Result<_, _>>()?;
    let tags = TAGS
        .iter()
        .find(|key| object.get(**key).is_some_and(Value::is_array));
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    let mut labels = None;
    if let Some(key) = tags {
        let list = object.remove(*key);
        let found = list_of_labels(list, words.len(), context)?;
        if found
            .iter()
            .any(|label| matches!(Tag::parse(label), Tag::Other(_)))
        {
            columns.push(((*key).to_owned(), found));
        } else {
            labels = Some(found);
        }
    }
    let is_column = |value: &Value| {
        let scalar = |value: &Value| value.is_string() || value.is_number();
        value
            .as_array()
            .is_some_and(|list| !list.is_empty() && list.len() == words.len() && list.iter().all(scalar))
    };
    let keys: Vec<String> = object
        .iter()
        .filter(|(_, value)| is_column(value))
        .map(|(key, _)| key.clone())
        .collect();
    for key in keys {
        if let Some(Value::Array(list)) = object.remove(&key) {
            columns.push((key, list.into_iter().map(fact).collect()));
        }
    }
    columns.sort();
    let kept = tokens(&mut document, &words, &columns, context);
    if let Some(labels) = labels {
        annotate(&mut document, &kept, &labels, context);
    }
    keep_rest(object, &mut document);
    Ok(document)
}

fn list_of_labels(
    list: Option<Value>,
    expected: usize,
    context: &Context<'_>,
) -> Result<Vec<String>, Problem> {
    let list = list
        .and_then(|list| {
            if let Value::Array(list) = list {
                Some(list)
            } else {
                None
            }
        })
        .unwrap_or_default();
    if list.len() != expected {
        return Err(Problem::new(
            format!("{} tags for {expected} tokens", list.len()),
            "as many tags as tokens",
        ));
    }
    let label = |value: Value| match value {
        Value::String(label) => Ok(label),
        value => {
            let at = value.as_u64().and_then(|at| usize::try_from(at).ok());
            let name = at.and_then(|at| context.label_names.get(at));
            let found = format!(
                "the tag `{}` and {} label names",
                shown(&value.to_string()),
                context.label_names.len()
            );
            let expected = "a text, or a number with label names in the options or in a first line `{\"label_names\": [...]}`";
            name.cloned().ok_or_else(|| Problem::new(found, expected))
        }
    };
    list.into_iter().map(label).collect()
}

/// Adds the tokens to the text; gives the numbers of those that are not empty.
fn tokens(
    document: &mut Document,
    words: &[String],
    columns: &[(String, Vec<String>)],
    context: &mut Context<'_>,
) -> Vec<usize> {
    let mut sentence = Vec::new();
    let mut kept = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word.is_empty() {
            let message = format!("token {at} is empty");
            context
                .notices
                .add(NoticeKind::Skipped, &document.id, Some(context.line), message);
            continue;
        }
        if !document.text.is_empty() {
            document.text.push(' ');
        }
        let start = document.text.len();
        document.text += word;
        kept.push(at);
        sentence.push(GivenToken {
            range: start..document.text.len(),
            columns: columns.iter().map(|(_, cells)| cells[at].clone()).collect(),
            ..GivenToken::default()
        });
    }
    let columns = columns.iter().map(|(name, _)| name.clone()).collect();
    let sentences = if sentence.is_empty() {
        Vec::new()
    } else {
        vec![sentence]
    };
    document.given = Some(GivenTokens {
        columns,
        sentences,
        ..GivenTokens::default()
    });
    kept
}

fn annotate(document: &mut Document, kept: &[usize], labels: &[String], context: &mut Context<'_>) {
    let labels: Vec<&str> = kept.iter().map(|&at| labels[at].as_str()).collect();
    let Some(tokens) = document.given.as_ref().and_then(|given| given.sentences.first()) else {
        return;
    };
    // Read generously, labels of all schemes mean the same.
    let scheme = Scheme::detect_in([&labels]).unwrap_or(Scheme::Iob2);
    for position in scheme.violations(&labels) {
        let message = format!(
            "`{}` cannot stand here in {scheme}; it was read generously",
            labels[position.min(labels.len() - 1)]
        );
        context
            .notices
            .add(NoticeKind::Scheme, &document.id, Some(context.line), message);
    }
    for span in scheme.spans(&labels) {
        let range = tokens[span.start].range.start..tokens[span.end - 1].range.end;
        document.annotations.push(Annotation::new(range, span.kind));
    }
}

pub fn write(document: &Document, options: &JsonlWriterOptions, notices: &mut Notices) -> Value {
    let sentences = layers::sentences(document, &options.sentences, &options.tokenizer);
    if sentences.len() > 1 {
        notices.add(
            NoticeKind::Detail,
            &document.id,
            None,
            "the format has no place for borders of sentences",
        );
    }
    // One sequence, so that no span is across.
    let all = vec![sentences.into_iter().flatten().collect::<Vec<_>>()];
    let kept = |gap: &str, place: Gap| {
        if place == Gap::First {
            gap.is_empty()
        } else {
            gap == " "
        }
    };
    layers::tell_spacing(document, &all, kept, notices);
    let key = TAGS[0].to_owned();
    let given = document.given.as_ref();
    let labelled = document.annotations.is_empty() && given.is_some_and(|given| given.labels.is_some());
    // Labels of a model that finds no spans are a column under its own name.
    let taken = labelled || given.is_some_and(|given| given.columns.contains(&key));
    let names = if taken { Vec::new() } else { vec![key.clone()] };
    let labels = layers::labels(document, &all, &names, Scheme::Iob2, options.misfit, notices);
    let mut object = Map::new();
    if !document.id.is_empty() && !document.unmarked {
        object.insert("id".to_owned(), id_value(&document.id));
    }
    let word = |range: &std::ops::Range<usize>| document.text.get(range.clone()).unwrap_or_default().into();
    object.insert(
        "tokens".to_owned(),
        all[0].iter().map(word).collect::<Vec<Value>>().into(),
    );
    if let Some(tags) = labels.first().and_then(|layers| layers.first()) {
        object.insert(key, tags.iter().map(String::as_str).collect());
    }
    for (at, column) in given.iter().flat_map(|given| given.columns.iter().enumerate()) {
        let tokens = given.iter().flat_map(|given| given.sentences.iter().flatten());
        let cells = tokens.map(|token| token.columns.get(at).map_or("", String::as_str));
        object.insert(column.clone(), cells.collect());
    }
    add_facts(&mut object, document, notices);
    Value::Object(object)
}
