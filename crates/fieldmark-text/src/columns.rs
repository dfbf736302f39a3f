//! Column files (CoNLL): a line per position, a blank line between sequences, the label in the last column.
//!
//! Columns are separated by tabs or by spaces; the first line of the file tells which, and how many columns
//! there are. All other lines must agree.

use crate::block::{Block, is_blank};
use crate::error::{ErrorKind, Fault, ReadError};
use crate::sink::{Naming, Sink};
use crate::template::{Place, Rows, Template};
use memchr::{memchr, memchr_iter};

/// What stands between columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Separator {
    /// Tabs if the first line has one, otherwise spaces.
    #[default]
    Auto,
    /// One tab. Cells may hold spaces and may be empty.
    Tab,
    /// One or more spaces.
    Space,
    /// Any run of spaces and tabs, as in CRF++ and Wapiti.
    Whitespace,
}

/// What the first line of an input says about the others.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub separator: Separator,
    pub columns: usize,
    pub first_line: u64,
}

/// How lines of a column file are understood.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnOptions {
    pub separator: Separator,
    /// Lines that begin with one of these are skipped.
    pub skipped: Vec<String>,
    /// The last column is not a label.
    pub unlabelled: bool,
}

impl ColumnOptions {
    fn skips(&self, line: &str) -> bool {
        self.skipped
            .iter()
            .any(|prefix| line.starts_with(prefix.as_str()))
    }

    /// The layout that the first line of a block sets; `None` when the block has no line that counts.
    ///
    /// `observed` is the number of columns beside the label that a model was trained on.
    pub fn detect(&self, block: &Block, observed: Option<usize>) -> Result<Option<Layout>, ReadError> {
        let text = block.text()?;
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let start = offset;
            offset += line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            if is_blank(line.as_bytes()) || self.skips(line) {
                continue;
            }
            let separator = match self.separator {
                Separator::Auto if line.contains('\t') => Separator::Tab,
                Separator::Auto => Separator::Space,
                given => given,
            };
            let columns = split(line, separator).count();
            if let Some(observed) = observed {
                if columns != observed && columns != observed + 1 {
                    let at = split(line, separator).nth(observed + 1);
                    let kind = ErrorKind::ModelColumns {
                        found: columns,
                        observed,
                    };
                    let fault = Fault::new(start + at.map_or(line.len(), |(at, _)| at), kind);
                    return Err(block.error(fault));
                }
            } else if columns < 2 && !self.unlabelled {
                let found = "the line has only one column".to_owned();
                let fault = Fault::new(
                    start + line.len(),
                    ErrorKind::MissingLabel {
                        found,
                        place: "last column",
                    },
                );
                return Err(block.error(fault));
            }
            return Ok(Some(Layout {
                separator,
                columns,
                first_line: block.line_at(start),
            }));
        }
        Ok(None)
    }
}

/// The cells of a line with their places in it.
fn split(line: &str, separator: Separator) -> impl Iterator<Item = (usize, &str)> {
    let single = separator == Separator::Tab;
    let is_separator = move |byte: u8| match separator {
        Separator::Tab => byte == b'\t',
        Separator::Space => byte == b' ',
        Separator::Auto | Separator::Whitespace => byte == b' ' || byte == b'\t',
    };
    let bytes = line.as_bytes();
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let mut start = at?;
        if !single {
            start += bytes[start..]
                .iter()
                .take_while(|&&byte| is_separator(byte))
                .count();
            if start == bytes.len() {
                return None;
            }
        }
        let end = bytes[start..]
            .iter()
            .position(|&byte| is_separator(byte))
            .map(|length| start + length);
        at = end.map(|end| end + 1);
        Some((start, &line[start..end.unwrap_or(bytes.len())]))
    })
}

/// Parses the lines of a block.
pub(crate) struct ColumnParser<'a> {
    pub options: &'a ColumnOptions,
    pub layout: &'a Layout,
    pub template: &'a Template,
}

/// The lines of one sequence, waiting for its end.
#[derive(Default)]
struct Sequence<'t> {
    rows: Rows<'t>,
    /// Start and end of every line, its label and where that stands.
    lines: Vec<(usize, usize, &'t str, usize)>,
}

/// Memory that every position uses again.
#[derive(Default)]
struct Scratch {
    name: String,
    /// The names of the observations of a position, one after the other.
    text: String,
    ends: Vec<usize>,
}

impl ColumnParser<'_> {
    pub fn parse<N: Naming>(&self, text: &str, sink: &mut Sink<'_, N>) -> Result<(), Box<Fault>> {
        let mut sequence = Sequence::default();
        sequence.rows.columns = self.layout.columns - usize::from(!self.options.unlabelled);
        let mut scratch = Scratch::default();
        let mut start = 0;
        let ends = memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
        for newline in ends {
            let line = &text[start..newline];
            let line = line.strip_suffix('\r').unwrap_or(line);
            if is_blank(line.as_bytes()) {
                self.finish(&mut sequence, &mut scratch, sink)?;
            } else if !self.options.skips(line) {
                self.line(line, start, &mut sequence)?;
            }
            start = newline + 1;
        }
        self.finish(&mut sequence, &mut scratch, sink)
    }

    fn line<'t>(&self, line: &'t str, start: usize, sequence: &mut Sequence<'t>) -> Result<(), Box<Fault>> {
        let first_cell = sequence.rows.cells.len();
        if self.layout.separator == Separator::Space
            && let Some(tab) = memchr(b'\t', line.as_bytes())
        {
            return Err(self.mixed(start + tab, "a tab", "spaces"));
        }
        let mut last = (0, "");
        for cell in split(line, self.layout.separator) {
            last = cell;
            sequence.rows.cells.push(cell.1);
        }
        let found = sequence.rows.cells.len() - first_cell;
        if found != self.layout.columns {
            return Err(self.wrong_count(line, start, found));
        }
        if self.options.unlabelled {
            sequence.lines.push((start, start + line.len(), "?", start));
            return Ok(());
        }
        let (label_at, label) = last;
        if label.trim().is_empty() {
            let found = "the last column is empty".to_owned();
            return Err(Fault::new(
                start + label_at,
                ErrorKind::MissingLabel {
                    found,
                    place: "last column",
                },
            ));
        }
        sequence.rows.cells.pop();
        sequence
            .lines
            .push((start, start + line.len(), label, start + label_at));
        Ok(())
    }

    fn finish<N: Naming>(
        &self,
        sequence: &mut Sequence<'_>,
        scratch: &mut Scratch,
        sink: &mut Sink<'_, N>,
    ) -> Result<(), Box<Fault>> {
        for (t, &(start, end, label, label_at)) in sequence.lines.iter().enumerate() {
            scratch.text.clear();
            scratch.ends.clear();
            let Scratch { name, text, ends } = scratch;
            self.template
                .observe(&sequence.rows, t, name, |place, name| match place {
                    Place::Position => {
                        text.push_str(name);
                        ends.push(text.len());
                    }
                    Place::Step => sink.observe_pair(name, 1.0),
                });
            // All observations of a position at once are found faster than one after the other.
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let names: Vec<&str> = starts
                .zip(&*ends)
                .map(|(start, &end)| &text[start..end])
                .collect();
            sink.observe_all(&names);
            if self.options.unlabelled {
                sink.end_unlabelled(start, end)?;
            } else {
                sink.end_position(start, end, label, label_at)?;
            }
        }
        sequence.rows.cells.clear();
        sequence.lines.clear();
        sink.end_sequence()
    }

    #[cold]
    fn wrong_count(&self, line: &str, start: usize, found: usize) -> Box<Fault> {
        let Layout {
            separator,
            columns: expected,
            first_line,
        } = *self.layout;
        let blanks = split(line, Separator::Whitespace).count();
        if separator == Separator::Tab
            && found < expected
            && (found == 1 || blanks == expected)
            && let Some(space) = memchr(b' ', line.as_bytes())
        {
            return self.mixed(start + space, "spaces", "tabs");
        }
        let advice = if found + 1 == expected && !self.options.unlabelled {
            "Is the label missing, or another column?"
        } else if separator == Separator::Tab && split(line, separator).any(|(_, cell)| cell.is_empty()) {
            "Two tabs in a row, or a tab at the end, make an empty column"
        } else if separator == Separator::Space && found > expected {
            "A cell cannot hold spaces unless tabs separate the columns"
        } else {
            "Every line needs the same number of columns, and a blank line ends a sequence"
        };
        let kind = ErrorKind::ColumnCount {
            found,
            expected,
            first_line,
            advice: advice.to_owned(),
        };
        let at = split(line, separator)
            .nth(expected)
            .map_or(line.len(), |(at, _)| at);
        Fault::new(start + at, kind)
    }

    #[cold]
    fn mixed(&self, at: usize, found: &'static str, expected: &'static str) -> Box<Fault> {
        Fault::new(
            at,
            ErrorKind::Separator {
                found,
                expected,
                first_line: self.layout.first_line,
            },
        )
    }
}
