//! Tables of what was found: a line for each span, or for each token.

use fieldmark::GraphLabel;
use fieldmark::text::OutputFile;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{DocumentWriter, Notices};
use fieldmark::text::offsets::{Offsets, Unit};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// The first line of the table of spans.
const SPANS_HEADER: &str = "document\tstart\tend\ttype\tconfidence\tidentifiers\ttext\n";

/// Where a table goes.
enum Output {
    Standard(io::BufWriter<io::Stdout>),
    /// What is there stays as it is until the table is complete.
    File(OutputFile),
}

impl Output {
    fn create(path: Option<&Path>) -> io::Result<Self> {
        match path {
            Some(path) => OutputFile::create(path).map(Output::File),
            None => Ok(Output::Standard(io::BufWriter::new(io::stdout()))),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(file) => file.commit(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Standard(out) => out.write(bytes),
            Output::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(file) => file.flush(),
        }
    }
}

/// Writes a line for each span. Start and end count characters.
pub struct SpanTable {
    out: Output,
}

impl SpanTable {
    /// A table in a file, or on standard output.
    pub fn create(path: Option<&Path>) -> io::Result<Self> {
        let mut out = Output::create(path)?;
        out.write_all(SPANS_HEADER.as_bytes())?;
        Ok(Self { out })
    }

    /// Writes a line for each label of a whole instance of a document, with the start of its text. `layers` are the names of
    /// layers.
    pub fn write_labels(
        &mut self,
        document: &Document,
        layers: &[&str],
        labels: &[GraphLabel],
    ) -> io::Result<()> {
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let id = plain(&document.id);
        for label in labels {
            let [start, end] =
                [label.bytes.start, label.bytes.end].map(|byte| offsets.count(byte).unwrap_or_default());
            let kind = format!("{}={}", layers[label.layer], label.label);
            let (kind, score) = (plain(&kind), confidence(label.probability));
            let text = beginning(document.text.get(label.bytes.clone()).unwrap_or_default());
            writeln!(self.out, "{id}\t{start}\t{end}\t{kind}\t{score}\t-\t{text}")?;
        }
        Ok(())
    }
}

impl DocumentWriter for SpanTable {
    fn write(&mut self, document: &Document, _: &mut Notices) -> io::Result<()> {
        let offsets = Offsets::new(&document.text, Unit::Characters);
        for annotation in &document.annotations {
            let range = annotation.range();
            let count = |byte| offsets.count(byte).unwrap_or_default();
            let score = confidence(annotation.score);
            let identifiers = match annotation.identifiers.is_empty() {
                true => Cow::Borrowed("-"),
                false => Cow::Owned(annotation.identifiers.join(",")),
            };
            let (start, end) = (count(range.start), count(range.end));
            let (id, kind, text) = (
                plain(&document.id),
                plain(&annotation.kind),
                plain(annotation.text(&document.text)),
            );
            writeln!(
                self.out,
                "{id}\t{start}\t{end}\t{kind}\t{score}\t{identifiers}\t{text}"
            )?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.finish()
    }
}

/// Writes a line for each token, with its labels. Start and end count characters.
pub struct TokenTable {
    out: Output,
    columns: Vec<String>,
    /// More columns, with labels of whole instances: their names, and the numbers of their layers.
    layers: Vec<(String, usize)>,
}

impl TokenTable {
    /// A table in a file, or on standard output.
    pub fn create(path: Option<&Path>, columns: &[String], layers: Vec<(String, usize)>) -> io::Result<Self> {
        let mut out = Output::create(path)?;
        let labels = match (columns, &layers[..]) {
            ([_], []) => "label".to_owned(),
            _ => plain_row(columns.iter().chain(layers.iter().map(|(name, _)| name))),
        };
        writeln!(out, "document\tstart\tend\t{labels}\tconfidence\ttext")?;
        let columns = columns.to_vec();
        Ok(Self { out, columns, layers })
    }

    /// Writes the tokens of a document, each with its labels and with those of its instance.
    pub fn write_with_labels(&mut self, document: &Document, labels: &[GraphLabel]) -> io::Result<()> {
        let Some(given) = &document.given else {
            return Ok(());
        };
        let place = |name: &String| given.columns.iter().position(|column| column == name);
        let places: Option<Vec<usize>> = self.columns.iter().map(place).collect();
        let Some(places) = places else {
            return Ok(());
        };
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let id = plain(&document.id);
        for token in given.sentences.iter().flatten() {
            let [start, end] =
                [token.range.start, token.range.end].map(|byte| offsets.count(byte).unwrap_or_default());
            let text = plain(document.text.get(token.range.clone()).unwrap_or_default());
            let cell = |&place: &usize| token.columns.get(place).map_or("", String::as_str);
            let value = |(_, layer): &(String, usize)| {
                let is_here =
                    |label: &&GraphLabel| label.layer == *layer && label.bytes.contains(&token.range.start);
                labels
                    .iter()
                    .find(is_here)
                    .map_or("", |label| label.label.as_str())
            };
            let labels = plain_row(places.iter().map(cell).chain(self.layers.iter().map(value)));
            let score = confidence(token.score);
            writeln!(self.out, "{id}\t{start}\t{end}\t{labels}\t{score}\t{text}")?;
        }
        Ok(())
    }
}

impl DocumentWriter for TokenTable {
    fn write(&mut self, document: &Document, _: &mut Notices) -> io::Result<()> {
        self.write_with_labels(document, &[])
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.finish()
    }
}

/// Cells of a table, side by side.
pub fn plain_row(cells: impl Iterator<Item = impl AsRef<str>>) -> String {
    let cells: Vec<String> = cells.map(|cell| plain(cell.as_ref()).into_owned()).collect();
    cells.join("\t")
}

fn confidence(score: Option<f64>) -> String {
    let Some(score) = score else {
        return "-".to_owned();
    };
    // Whole numbers are written much faster than others. Where rounding is a close call, it is left to those who know.
    let scaled = score * 10_000.0;
    let rest = scaled - scaled.floor();
    if (0.0..=1.0).contains(&score) && (rest - 0.5).abs() > 1e-6 {
        let rounded = scaled.round() as u32;
        format!("{}.{:04}", rounded / 10_000, rounded % 10_000)
    } else {
        format!("{score:.4}")
    }
}

/// The first characters of a text, for people.
pub fn beginning(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = plain(text).chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// A cell that breaks no table.
pub fn plain(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) {
        true => Cow::Owned(text.replace(['\t', '\n', '\r'], " ")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidences_are_rounded_like_other_numbers() {
        let scores = (0..=200_000).map(|score| f64::from(score) / 200_000.0);
        for score in scores.chain([-0.1, 1.00004, f64::NAN, 1.0 - f64::EPSILON]) {
            assert_eq!(confidence(Some(score)), format!("{score:.4}"));
        }
        assert_eq!(confidence(None), "-");
    }
}
