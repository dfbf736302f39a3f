//! [`Template`]: CRF++ templates with Wapiti's extensions, from columns to observations.
//!
//! Every line describes one observation per position. Its first character says of what:
//!
//! | line | observation of |
//! |---|---|
//! | `U…` | a position (with every label) |
//! | `B…` | the step into a position from the one before (with every pair of labels) |
//! | `*…` | both |
//! | `#…`, blank | nothing |
//!
//! The rest of the line is the name of the observation, in which macros are replaced. `row` counts from
//! the current line, `col` is a column from 0:
//!
//! | macro | becomes |
//! |---|---|
//! | `%x[row,col]` | the cell |
//! | `%t[row,col,"re"]` | `true` or `false`: does the pattern occur in the cell? |
//! | `%m[row,col,"re"]` | the first part of the cell that matches, or nothing |
//! | `%X`, `%T`, `%M` | the same in lower case |
//! | `%x[@row,col]` | the cell of line `row` of the sequence: 1 is the first, -1 the last |
//! | `%x[*n,col]` | the cell of the line as far away as the number in column `n` of this line says |
//!
//! Patterns are those of Wapiti, see [`Template::parse`]. A row before or after the sequence gives `_B-1`,
//! `_B+1`, … as in CRF++; macros that only Wapiti has give `_x-1` to `_x-4` and then `_x-#`, as in Wapiti.
//! A `B` or `*` line without macros is the plain label bigram: [`Template::label_bigram`] tells that it is
//! there, and no observation is made of it, since it would be the same at every step.

mod parse;
mod pattern;

use crate::error::ErrorKind;
use regex::Regex;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A parsed template.
///
/// ```
/// use fieldmark_text::{Place, Rows, Template};
/// let template = Template::parse("U00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\nB\n")?;
/// assert!(template.label_bigram());
///
/// let rows = Rows::new(2, ["He", "PRP", "reckons", "VBZ"]);
/// let mut names = Vec::new();
/// template.observe(&rows, 0, &mut String::new(), |place, name| {
///     assert_eq!(place, Place::Position);
///     names.push(name.to_owned());
/// });
/// assert_eq!(names, ["U00:He", "U01:_B-1/PRP"]);
/// # Ok::<(), fieldmark_text::TemplateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
    lines: Vec<Line>,
    label_bigram: bool,
}

/// What an observation describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The position itself.
    Position,
    /// The step into the position from the one before.
    Step,
}

#[derive(Clone, Debug)]
struct Line {
    position: bool,
    step: bool,
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
enum Item {
    Text(String),
    Macro(Macro),
}

#[derive(Clone, Debug)]
struct Macro {
    row: Row,
    column: usize,
    apply: Apply,
    lower_case: bool,
    /// Where it stands in the source.
    span: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Row {
    Relative(i32),
    Absolute(i32),
    Indirect(usize),
}

#[derive(Clone, Debug)]
enum Apply {
    Copy,
    Test(Regex),
    First(Regex),
}

/// What is wrong in a template, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template line {line}, column {column}: {message}")]
pub struct TemplateError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// The cells of one sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows<'a> {
    pub(crate) columns: usize,
    pub(crate) cells: Vec<&'a str>,
}

impl<'a> Rows<'a> {
    /// Rows of `columns` cells each. An incomplete row at the end is left out.
    pub fn new(columns: usize, cells: impl IntoIterator<Item = &'a str>) -> Self {
        let mut cells: Vec<&str> = cells.into_iter().collect();
        cells.truncate(cells.len() / columns.max(1) * columns);
        Self { columns, cells }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.len() / self.columns.max(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// A cell; the empty string where there is none.
    #[inline]
    pub fn cell(&self, row: usize, column: usize) -> &'a str {
        if column >= self.columns {
            return "";
        }
        self.cells
            .get(row * self.columns + column)
            .copied()
            .unwrap_or_default()
    }
}

impl Template {
    /// The template that makes an observation of each of `columns` columns.
    pub fn each_column(columns: usize) -> Self {
        let source: String = (0..columns)
            .map(|column| format!("U{column:02}:%x[0,{column}]\n"))
            .collect();
        Self::from_lines(source).expect("these lines are well formed")
    }

    /// The text of the template.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether there is a `B` or `*` line without macros: a weight for every pair of labels.
    pub fn label_bigram(&self) -> bool {
        self.label_bigram
    }

    /// Whether any line describes steps with observations.
    pub fn has_step_observations(&self) -> bool {
        self.lines.iter().any(|line| line.step)
    }

    /// How many columns the template needs.
    pub fn columns(&self) -> usize {
        self.macros().map(Macro::columns).max().unwrap_or(0)
    }

    /// Whether data with `columns` columns (without that of the label) have all that the template asks for.
    pub(crate) fn check_columns(&self, columns: usize, labelled: bool) -> Result<(), ErrorKind> {
        let Some(asking) = self.macros().find(|asked| asked.columns() > columns) else {
            return Ok(());
        };
        let label = if labelled { " and the label" } else { "" };
        let available = match columns {
            0 => format!("no column{}", if labelled { " but the label" } else { "" }),
            1 => format!("only column 0{label}"),
            _ => format!("only columns 0 to {}{label}", columns - 1),
        };
        Err(ErrorKind::NoSuchColumn {
            macro_text: self.source[asking.span.clone()].to_owned(),
            template_line: self.source[..asking.span.start].matches('\n').count() + 1,
            column: asking.columns() - 1,
            available,
        })
    }

    fn macros(&self) -> impl Iterator<Item = &Macro> {
        self.lines
            .iter()
            .flat_map(|line| &line.items)
            .filter_map(|item| match item {
                Item::Macro(found) => Some(found),
                Item::Text(_) => None,
            })
    }

    /// Calls `emit` with every observation at row `t`, in the order of the lines. A `*` line makes two, and
    /// there is no step into the first row. `name` is memory to work in.
    #[inline]
    pub fn observe(&self, rows: &Rows<'_>, t: usize, name: &mut String, mut emit: impl FnMut(Place, &str)) {
        for line in &self.lines {
            if !line.position && t == 0 {
                continue;
            }
            name.clear();
            for item in &line.items {
                match item {
                    Item::Text(text) => name.push_str(text),
                    Item::Macro(found) => found.expand(rows, t, name),
                }
            }
            if line.position {
                emit(Place::Position, name);
            }
            if line.step && t > 0 {
                emit(Place::Step, name);
            }
        }
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Template {}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Macro {
    fn columns(&self) -> usize {
        match self.row {
            Row::Indirect(column) => self.column.max(column) + 1,
            _ => self.column + 1,
        }
    }

    /// Whether CRF++ does not have this macro.
    fn is_wapiti(&self) -> bool {
        self.lower_case || !matches!((&self.apply, self.row), (Apply::Copy, Row::Relative(_)))
    }

    /// The name of the row `distance` rows before (`-`) or after (`+`) the sequence.
    fn border(&self, side: &str, distance: u64) -> Cow<'static, str> {
        if self.is_wapiti() {
            const NAMES: [[&str; 5]; 2] = [
                ["_x-1", "_x-2", "_x-3", "_x-4", "_x-#"],
                ["_x+1", "_x+2", "_x+3", "_x+4", "_x+#"],
            ];
            return Cow::Borrowed(NAMES[usize::from(side == "+")][distance.min(5) as usize - 1]);
        }
        const NAMES: [[&str; 4]; 2] = [["_B-1", "_B-2", "_B-3", "_B-4"], ["_B+1", "_B+2", "_B+3", "_B+4"]];
        match NAMES[usize::from(side == "+")].get(distance as usize - 1) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("_B{side}{distance}")),
        }
    }

    fn expand(&self, rows: &Rows<'_>, t: usize, name: &mut String) {
        let (t, length) = (t as i64, rows.len() as i64);
        let row = match self.row {
            Row::Relative(offset) => t + i64::from(offset),
            Row::Absolute(number) if number < 0 => length + i64::from(number),
            Row::Absolute(number) => i64::from(number) - 1,
            Row::Indirect(column) => t.saturating_add(leading_number(rows.cell(t as usize, column))),
        };
        let cell = if row < 0 {
            self.border("-", row.unsigned_abs())
        } else if row >= length {
            self.border("+", (row - length) as u64 + 1)
        } else {
            Cow::Borrowed(rows.cell(row as usize, self.column))
        };
        let cell: &str = &cell;
        let result = match &self.apply {
            Apply::Copy => cell,
            Apply::Test(pattern) if pattern.is_match(cell) => "true",
            Apply::Test(_) => "false",
            Apply::First(pattern) => pattern.find(cell).map_or("", |found| found.as_str()),
        };
        if self.lower_case {
            name.extend(result.chars().flat_map(char::to_lowercase));
        } else {
            name.push_str(result);
        }
    }
}

/// The number at the beginning of a cell as C's `atoi` reads it: 0 when there is none.
fn leading_number(cell: &str) -> i64 {
    let cell = cell.trim_start();
    let digits = cell.trim_start_matches(['-', '+']);
    let sign = cell.len() - digits.len();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if sign > 1 {
        return 0;
    }
    cell[..sign + end].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests;
