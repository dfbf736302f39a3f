//! Whether documents have anything that a config is to learn: a model of nothing would be no error otherwise, and find
//! nothing.

use super::gold;
use crate::Error;
use crate::config::{Config, LabelConfig};
use fieldmark_core::scheme::Tag;
use fieldmark_graph::Per;
use fieldmark_text::document::Document;
use fieldmark_text::formats::ALTGENE;
use std::collections::BTreeSet;

/// Labels of a column that are shown as examples.
const SHOWN: usize = 3;

/// Sees whether the documents have a span of a type that the config wants; in a graph, one for each layer of spans.
///
/// # Errors
/// If there is none: with the types that there are, and which of them was probably meant.
pub fn check_spans(config: &Config, documents: &[Document]) -> Result<(), Error> {
    check(config, documents)
}

pub(super) fn check(config: &Config, documents: &[Document]) -> Result<(), Error> {
    let Some(graph) = &config.graph else {
        if config.labels.column.is_some() {
            return Ok(());
        }
        return check_one(&config.labels, documents, "labels.types");
    };
    let layers = graph.layers(&config.labels);
    for (index, layer) in layers.iter().enumerate() {
        // Spans inside of others may be rare.
        let is_first = layer.depth.is_none_or(|depth| depth == 0);
        if layer.has_spans() && layer.per == Per::Position && is_first {
            check_one(
                &layer.labels(),
                documents,
                &format!("the types of the layer {:?} (layers[{index}])", layer.name),
            )?;
        }
    }
    Ok(())
}

fn check_one(labels: &LabelConfig, documents: &[Document], place: &str) -> Result<(), Error> {
    let mut annotations = documents.iter().flat_map(|document| &document.annotations);
    let open = documents
        .iter()
        .flat_map(|document| document.open.iter().flatten());
    let mut open = open.flat_map(|open| &open.labels);
    if annotations.any(|annotation| gold::kind(labels, annotation).is_some())
        || open.any(|label| {
            Tag::parse(label)
                .kind()
                .is_some_and(|kind| gold::kind_of(labels, kind).is_some())
        })
    {
        return Ok(());
    }
    let kinds = kinds_of(labels, documents);
    Err(Error::Option(match &labels.types {
        Some(types) if !kinds.is_empty() => {
            let s = if types.len() == 1 { "" } else { "s" };
            let meant = types.iter().map(|kind| suggestion(kind, &kinds));
            format!(
                "no span of the type{s} {} is in the training data; they have {}{} ({place})",
                types.join(", "),
                listed(&kinds),
                meant.collect::<String>()
            )
        }
        _ => format!("no span is marked in the training data{}", why(documents)),
    }))
}

/// The types of the spans of documents, under the names that the config gives them, whether or not it wants them.
pub(super) fn kinds_of(labels: &LabelConfig, documents: &[Document]) -> BTreeSet<String> {
    let annotations = documents.iter().flat_map(|document| &document.annotations);
    let kinds: BTreeSet<&str> = annotations.map(|annotation| annotation.kind.as_str()).collect();
    let renamed = |kind: &str| labels.rename.get(kind).map_or(kind, String::as_str).to_owned();
    let kinds = kinds.into_iter().filter(|kind| *kind != ALTGENE);
    kinds.map(renamed).collect()
}

/// What was probably meant, as a sentence after another one.
pub(super) fn suggestion(kind: &str, kinds: &BTreeSet<String>) -> String {
    let likeness =
        |known: &String| strsim::normalized_damerau_levenshtein(&kind.to_lowercase(), &known.to_lowercase());
    let closest = kinds
        .iter()
        .map(|known| (likeness(known), known))
        .max_by(|left, right| left.0.total_cmp(&right.0));
    match closest {
        Some((likeness, known)) if likeness >= 0.3 => format!(". Did you mean {known}?"),
        _ => String::new(),
    }
}

fn listed(kinds: &BTreeSet<String>) -> String {
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    kinds.join(", ")
}

/// Why documents may have no spans.
fn why(documents: &[Document]) -> String {
    let given = documents.iter().filter_map(|document| document.given.as_ref());
    let mut cells: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for given in given {
        for (number, name) in given.columns.iter().enumerate() {
            let at = match cells.iter().position(|(known, _)| *known == name.as_str()) {
                Some(at) => at,
                None => {
                    cells.push((name, BTreeSet::new()));
                    cells.len() - 1
                }
            };
            for token in given.sentences.iter().flatten() {
                let values = &mut cells[at].1;
                if values.len() > SHOWN {
                    break;
                }
                values.extend(token.columns.get(number).map(String::as_str));
            }
        }
    }
    match cells.last() {
        None if documents.iter().any(|document| document.given.is_some()) => {
            ": every label is `O` or unknown".to_owned()
        }
        None => ": the documents come without annotations. Give annotated ones, such as columns of words and labels, brat or \
                 doccano files"
            .to_owned(),
        Some((column, labels)) => {
            let shown: Vec<String> = labels.iter().take(SHOWN).map(|label| format!("`{label}`")).collect();
            format!(
                ": the column {column:?} holds {}, …, which are no labels of spans such as `B-PER`, `I-PER` and `O`. To learn \
                 a label for every token, set labels.column = {column:?}; data.read.labels says which columns hold labels",
                shown.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::columns;
    use super::*;
    use crate::{RunOptions, train_config};
    use std::path::Path;

    fn problem(overrides: &[&str], documents: &[Document]) -> String {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let config = Config::parse("features = [{ kind = 'word' }]", &overrides).unwrap();
        let options = RunOptions::default();
        let trained = train_config(&config, Path::new(""), documents, &[], &options, &mut ());
        trained.unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_type_is_an_error() {
        let documents = columns("Ada B-PER\nsleeps O\nin O\nRome B-LOC\n");
        assert_eq!(
            problem(&["labels.types=['PRE']"], &documents),
            "no span of the type PRE is in the training data; they have LOC, PER. Did you mean PER? (labels.types)"
        );
        let layers = "graph={kind='factorial',layers=[{name='a',types=['PRE']},{name='b',types=['LOC']}]}";
        let error = problem(&[layers], &documents);
        assert!(
            error.contains("Did you mean PER? (the types of the layer \"a\""),
            "{error}"
        );
    }

    #[test]
    fn documents_without_spans_are_an_error() {
        let error = problem(&[], &[Document::new("1", "Ada sleeps.")]);
        assert!(
            error.contains("no span is marked in the training data: the documents come without"),
            "{error}"
        );
        let error = problem(&[], &columns("Ada B_PER\nsleeps O\n"));
        assert!(
            error.contains("the column \"label\" holds `B_PER`, `O`, …, which are no labels"),
            "{error}"
        );
        let error = problem(&[], &columns("Ada O\nsleeps ?\n"));
        assert!(error.contains("every label is `O` or unknown"), "{error}");
    }

    #[test]
    fn one_of_several_types_that_is_missing_is_told() {
        let config = "features = [{ kind = 'word' }, { kind = 'dictionary', training = 'LOC' }]\n\
                      labels = { types = ['PER', 'LCO'] }";
        let config = Config::parse(config, &[]).unwrap();
        let documents = columns("Ada B-PER\nsleeps O\nin O\nRome B-LOC\n");
        let options = RunOptions::default();
        let trained = train_config(&config, Path::new(""), &documents, &[], &options, &mut ()).unwrap();
        let told: Vec<&str> = trained
            .notices
            .all()
            .iter()
            .map(|notice| notice.message.as_str())
            .collect();
        assert_eq!(
            told,
            [
                "features[1] says nothing: labels.types leaves out the spans of the type \"LOC\"",
                "labels.types: there is no span of the type \"LCO\" in the training data (types: LOC, PER). Did you mean \
                 LOC?"
            ]
        );
    }
}
