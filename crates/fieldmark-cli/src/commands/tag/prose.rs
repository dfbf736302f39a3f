//! [`Prose`]: does a file of columns get read as text?

use crate::console::Console;
use fieldmark::config::Config;
use fieldmark::text::document::Document;
use fieldmark::text::formats::DocumentFormat;
use std::path::Path;

/// Fewer lines than this may have as many words by chance.
const FEWEST_LINES: usize = 3;

/// Watches texts for a model that was trained on columns.
pub struct Prose {
    /// How many columns the training data had, if the config names them.
    columns: Option<usize>,
    /// The first file that looks like columns, and its number of them.
    found: Option<(String, usize)>,
}

impl Prose {
    /// `None` if the model was trained on something else, or if the user says what the files are.
    pub fn new(config: &Config, format: Option<DocumentFormat>) -> Option<Self> {
        let data = &config.data;
        let is_columns = |file: &Path| DocumentFormat::by_name(file) == Some(DocumentFormat::Columns);
        let trained_on_columns = match data.read.format {
            Some(format) => format == DocumentFormat::Columns,
            None => data.train.iter().any(|file| is_columns(file)),
        };
        let names = data.read.columns.len();
        (trained_on_columns && format.is_none()).then_some(Self {
            columns: (names > 0).then_some(names),
            found: None,
        })
    }

    /// Looks at a document of a file.
    pub fn look(&mut self, file: &Path, document: &Document) {
        let is_text = matches!(DocumentFormat::by_name(file), None | Some(DocumentFormat::Text));
        if self.found.is_some() || !is_text || document.given.is_some() {
            return;
        }
        let columns = columns_of(&document.text);
        // Labels may be missing.
        let fits = |columns: &usize| self.columns.is_none_or(|known| *columns <= known);
        self.found = columns
            .filter(fits)
            .map(|columns| (file.display().to_string(), columns));
    }

    pub fn tell(&self, console: &Console) {
        if let Some((file, columns)) = &self.found {
            console.warn(&format!(
                "{file} was read as text, but nearly all of its lines have {columns} cells, and the model was trained on \
                 columns: if these are columns, say so with --format columns"
            ));
        }
    }
}

/// How many cells nearly all lines of a text have, if it is the same number and not one.
fn columns_of(text: &str) -> Option<usize> {
    let cells = |line: &str| match line.contains('\t') {
        true => line.split('\t').count(),
        false => line.split_whitespace().count(),
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let counts: Vec<usize> = lines.map(cells).collect();
    let mut sorted = counts.clone();
    sorted.sort_unstable();
    let usual = *sorted.get(sorted.len() / 2)?;
    let same = counts.iter().filter(|count| **count == usual).count();
    let nearly_all = counts.len() >= FEWEST_LINES && 10 * same >= 9 * counts.len();
    (nearly_all && usual > 1).then_some(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_told_from_prose() {
        assert_eq!(columns_of("the DT B-NP\ncat NN I-NP\n\nsleeps VB O\n"), Some(3));
        assert_eq!(columns_of("New York\tLOC\nwe\tO\nare\tO"), Some(2));
        for prose in [
            "",
            "the cat sleeps",
            "the cat sleeps\nthe dog barks",
            "one\ntwo\nthree\nfour",
            "the cat sleeps\nand all the others\nsleep\nas well, it seems",
        ] {
            assert_eq!(columns_of(prose), None, "{prose}");
        }
    }
}
