//! Errors of graphs in the words of layers, tokens and documents.

use crate::config::LayerConfig;
use fieldmark_graph::{Error, Per, Structure};
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
    let mut place = format!("the layer {:?}", layers[layer].name);
    if layers[layer].per == Per::Position {
        place += &format!(" at token {}", position + 1);
        if let Some(word) = word(position as usize) {
            place += &format!(" ({word:?})");
        }
    }
    match error {
        Error::EmptyLabelSet { .. } => format!("no label is allowed in {place}"),
        _ => format!("no labelling satisfies the constraints: nothing is left in {place}"),
    }
}

/// Where an instance comes from.
pub(super) struct Origin {
    pub document: String,
    /// The number of its sentence, if it is not the whole document.
    pub sentence: Option<usize>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.document)?;
        self.sentence
            .map_or(Ok(()), |sentence| write!(f, ", sentence {sentence}"))
    }
}
