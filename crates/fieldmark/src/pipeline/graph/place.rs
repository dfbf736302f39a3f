//! Errors of graphs in the words of layers, tokens and documents.

use crate::config::LayerConfig;
use crate::pipeline::train::Labelled;
use fieldmark_graph::{Conflict, Error, Per, Structure};
use std::fmt;

/// What is wrong with the graph of an instance of some length, with a layer and a token in the place of the number of a
/// variable. `word` gives the text of a token, if that is at hand.
pub(super) fn in_words<'t>(
    error: &Error,
    structure: &Structure,
    layers: &[LayerConfig],
    length: usize,
    word: impl Fn(usize) -> Option<&'t str>,
) -> String {
    let (Error::Contradiction { variable } | Error::EmptyLabelSet { variable, .. }) = error else {
        return error.to_string();
    };
    let Some((layer, position)) = structure.place_of(length, *variable) else {
        return error.to_string();
    };
    let place = place_in_words(&layers[layer], position, &word);
    match error {
        Error::EmptyLabelSet { .. } => format!("no label is allowed in {place}"),
        _ => format!("no labelling satisfies the constraints: nothing is left in {place}"),
    }
}

/// What rules out the gold labels of an instance of some length.
pub(super) fn conflict_in_words<'t>(
    conflict: &Conflict,
    structure: &Structure,
    layers: &[LayerConfig],
    length: usize,
    word: impl Fn(usize) -> Option<&'t str>,
) -> String {
    let place = |&variable: &u32| match structure.place_of(length, variable) {
        Some((layer, position)) => place_in_words(&layers[layer], position, &word),
        None => format!("variable {variable}"),
    };
    match conflict {
        Conflict::Candidates { variable } => {
            format!("no known label is a candidate in {}", place(variable))
        }
        Conflict::Template { template, variables } => {
            let places: Vec<String> = variables.iter().map(place).collect();
            let name = structure.template_names().nth(*template).unwrap_or_default();
            format!(
                "the template {name:?} forbids all labels that are left by what is known in {}: forbid less, or mend the labels",
                places.join(" and ")
            )
        }
    }
}

fn place_in_words<'t>(
    layer: &LayerConfig,
    position: u32,
    word: &impl Fn(usize) -> Option<&'t str>,
) -> String {
    let mut place = format!("the layer {:?}", layer.name);
    if layer.per == Per::Position {
        place += &format!(" at token {}", position + 1);
        if let Some(word) = word(position as usize) {
            place += &format!(" ({word:?})");
        }
    }
    place
}

/// Where an instance comes from.
pub(super) struct Origin<'l> {
    pub labelled: &'l Labelled<'l>,
    /// Its number among those of its document.
    pub index: usize,
    /// Whether it is a sentence, and not the whole document.
    pub is_sentence: bool,
}

impl Origin<'_> {
    /// The text of a token of the instance.
    pub fn word(&self, position: usize) -> Option<&str> {
        let Labelled {
            document, sentences, ..
        } = self.labelled;
        let range = sentences.ranges().nth(self.index)?;
        let token = sentences.tokens[range].get(position)?;
        document.text.get(token.range())
    }
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.labelled.document.id)?;
        if self.is_sentence {
            write!(f, ", sentence {}", self.index + 1)?;
        }
        Ok(())
    }
}
