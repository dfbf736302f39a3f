//! [`Rows`]: lines whose last two columns are the gold and the predicted label, and what is not such a line.

use crate::commands::tag;
use crate::failure::Failure;
use fieldmark::eval::{BOUNDARY, GoldLabel};
use fieldmark::text::LabelSyntax;
use std::borrow::Cow;

/// How lines are taken apart.
pub struct Rows {
    pub name: String,
    /// What separates columns; without it, tabs if the first line has its last columns between tabs,
    /// otherwise white space.
    pub delimiter: Option<String>,
    /// Lines that begin with one of these are not read.
    pub skip: Vec<String>,
    pub labels: LabelSyntax,
    layout: Option<Layout>,
}

/// What the first line says about the others.
struct Layout {
    split: Split,
    columns: usize,
    line: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Split {
    Text(String),
    Whitespace,
}

/// What a line is.
pub enum Row<'a> {
    /// The end of a sequence.
    Border,
    /// Nothing that counts.
    Skipped,
    /// A token.
    Token(GoldLabel<Cow<'a, str>>, Cow<'a, str>),
}

/// What a line is, before its labels are read.
enum Found<'a> {
    Border,
    Skipped,
    Line(Line<'a>),
}

/// A line that is being looked at.
struct Line<'a> {
    number: u64,
    text: &'a str,
    cells: Vec<&'a str>,
}

impl Line<'_> {
    /// The column of a cell, or of the end of the line if there is no such cell.
    fn column(&self, cell: usize) -> usize {
        let at = self.cells.get(cell).map_or(self.text.len(), |cell| {
            cell.as_ptr() as usize - self.text.as_ptr() as usize
        });
        self.text[..at].chars().count() + 1
    }
}

impl Rows {
    pub fn new(name: String, delimiter: Option<String>, skip: Vec<String>, labels: LabelSyntax) -> Self {
        Self {
            name,
            delimiter,
            skip,
            labels,
            layout: None,
        }
    }

    /// Takes a line apart.
    pub fn row<'a>(&mut self, number: u64, text: &'a str) -> Result<Row<'a>, Failure> {
        let line = match self.line(number, text)? {
            Found::Border => return Ok(Row::Border),
            Found::Skipped => return Ok(Row::Skipped),
            Found::Line(line) => line,
        };
        let [.., gold, predicted] = line.cells[..] else {
            return Ok(Row::Skipped);
        };
        Ok(Row::Token(
            self.gold(&line, gold)?,
            self.predicted(&line, predicted)?,
        ))
    }

    /// So many cells from the end of a line that is a token.
    pub fn last_cells<'a>(
        &mut self,
        number: u64,
        text: &'a str,
        wanted: usize,
    ) -> Result<Option<Vec<&'a str>>, Failure> {
        let Found::Line(mut line) = self.line(number, text)? else {
            return Ok(None);
        };
        match line.cells.len().checked_sub(wanted) {
            Some(first) => Ok(Some(line.cells.split_off(first))),
            None => Err(Failure::user(format_args!(
                "{}:{number}:1: found {} columns, expected at least {wanted}: as many gold labels as --joint says, then as \
                 many predicted ones",
                self.name,
                line.cells.len()
            ))),
        }
    }

    fn line<'a>(&mut self, number: u64, text: &'a str) -> Result<Found<'a>, Failure> {
        if text.trim().is_empty() {
            return Ok(Found::Border);
        }
        if let Some(option) = ranked(text) {
            return Err(self.foreign(number, 1, text, option));
        }
        if self.skip.iter().any(|prefix| text.starts_with(prefix.as_str())) {
            return Ok(Found::Skipped);
        }
        let split = match &self.layout {
            Some(layout) => layout.split.clone(),
            None => self.split(text),
        };
        let line = Line {
            number,
            text,
            cells: match &split {
                Split::Text(delimiter) => text.split(delimiter.as_str()).collect(),
                Split::Whitespace => text.split_whitespace().collect(),
            },
        };
        if line.cells[0] == BOUNDARY {
            return Ok(Found::Border);
        }
        self.check(&line, split)?;
        Ok(Found::Line(line))
    }

    /// Cells between tabs may hold spaces; but `paste` puts a tab into lines whose other columns have spaces
    /// between them.
    fn split(&self, text: &str) -> Split {
        let is_cell = |cell: &&str| !cell.is_empty() && !cell.contains(' ');
        match &self.delimiter {
            Some(delimiter) => Split::Text(delimiter.clone()),
            None if text.contains('\t') && text.rsplit('\t').take(2).all(|cell| is_cell(&cell)) => {
                Split::Text("\t".to_owned())
            }
            None => Split::Whitespace,
        }
    }

    /// Refuses lines that hold something else, and lines with another number of columns than the first.
    fn check(&mut self, line: &Line<'_>, split: Split) -> Result<(), Failure> {
        let (number, found) = (line.number, line.cells.len());
        let last = line.cells[found - 1];
        if let Some(option) = foreign_line(line.text).or_else(|| foreign_cell(last)) {
            let column = line.column(found - 1);
            return Err(self.foreign(number, column, last, option));
        }
        let name = &self.name;
        if found < 2 && self.layout.is_none() {
            return Err(Failure::user(format_args!(
                "{name}:{number}:1: found one column, expected a gold and a predicted label at the end of the line. \
                 Is this the output of `fieldmark tag` for a column file with labels? (Labels of an attribute file: \
                 `cut -f 1 data | paste - labels | fieldmark eval`)"
            )));
        }
        let layout = self.layout.get_or_insert(Layout {
            split,
            columns: found,
            line: number,
        });
        if found != layout.columns {
            let column = line.column(layout.columns);
            let advice = if layout.split == Split::Text("\t".to_owned()) && !line.text.contains('\t') {
                "Tabs separate the columns of that line"
            } else if layout.split == Split::Whitespace && found > layout.columns && line.text.contains('\t')
            {
                "If tabs separate the columns, say --delimiter '\\t'"
            } else {
                "Every token needs the same columns. A line that is no token is left out with --skip-lines"
            };
            return Err(Failure::user(format_args!(
                "{name}:{number}:{column}: found {found} column{}, expected {} as in line {}. {advice}",
                if found == 1 { "" } else { "s" },
                layout.columns,
                layout.line
            )));
        }
        Ok(())
    }

    #[cold]
    fn foreign(&self, number: u64, column: usize, found: &str, option: &str) -> Failure {
        let shown: String = found.chars().take(40).collect();
        Failure::user(format_args!(
            "{}:{number}:{column}: found `{shown}`, expected a gold and a predicted label at the end of the line. \
             This looks like what `fieldmark tag {option}` prints: tag without {option} to evaluate",
            self.name
        ))
    }

    fn gold<'a>(&self, line: &Line<'a>, label: &'a str) -> Result<GoldLabel<Cow<'a, str>>, Failure> {
        if self.is_plain(label) {
            return Ok(GoldLabel::Known(Cow::Borrowed(label)));
        }
        let mut names = self.names(line, line.cells.len() - 2, label)?;
        Ok(match names.len() {
            0 => GoldLabel::Unknown,
            1 => GoldLabel::Known(Cow::Owned(names.remove(0))),
            _ => GoldLabel::OneOf(names.into_iter().map(Cow::Owned).collect()),
        })
    }

    fn predicted<'a>(&self, line: &Line<'a>, label: &'a str) -> Result<Cow<'a, str>, Failure> {
        // Where no label was possible, `tag` writes a question mark.
        if self.is_plain(label) || label == "?" {
            return Ok(Cow::Borrowed(label));
        }
        let cell = line.cells.len() - 1;
        let mut names = self.names(line, cell, label)?;
        match names.len() {
            1 => Ok(Cow::Owned(names.remove(0))),
            _ => {
                let (name, number, column) = (&self.name, line.number, line.column(cell));
                Err(Failure::user(format_args!(
                    "{name}:{number}:{column}: found `{label}` in the predicted column, expected one label. If bars \
                     belong to the names of labels, say --labels literal"
                )))
            }
        }
    }

    fn is_plain(&self, label: &str) -> bool {
        self.labels == LabelSyntax::Literal || !(label == "?" || label.contains(['|', '\\']))
    }

    fn names(&self, line: &Line<'_>, cell: usize, label: &str) -> Result<Vec<String>, Failure> {
        self.labels.names(label).map_err(|problem| {
            let (name, number, column) = (&self.name, line.number, line.column(cell));
            Failure::user(format_args!(
                "{name}:{number}:{column}: found the label `{label}`: {problem}. If bars belong to the names of \
                 labels, say --labels literal"
            ))
        })
    }
}

/// The line before one of several label sequences: `# 0 0.512000`.
fn ranked(text: &str) -> Option<&'static str> {
    let mut cells = text.split(' ');
    let is_rank = |cell: &str| cell.bytes().all(|byte| byte.is_ascii_digit());
    match (cells.next(), cells.next(), cells.next(), cells.next()) {
        (Some("#"), Some(rank), Some(share), None) if is_rank(rank) && is_share(share) => Some("--nbest"),
        _ => None,
    }
}

/// The first lines of tables, and objects.
fn foreign_line(text: &str) -> Option<&'static str> {
    let table = tag::TABLES
        .iter()
        .find(|(_, header)| header.trim_end() == text.trim_end());
    let object = text.starts_with("{\"") && text.trim_end().ends_with('}');
    table.map(|(option, _)| *option).or(object.then_some("--json"))
}

/// Probabilities.
fn foreign_cell(cell: &str) -> Option<&'static str> {
    if is_share(cell) {
        return Some("--probs");
    }
    let (_, number) = cell.rsplit_once(':')?;
    if is_share(number) {
        return Some("--marginals");
    }
    let (digits, exponent) = number.split_once('e')?;
    let is_scientific = digits.len() == 8 && digits.parse::<f64>().is_ok() && exponent.parse::<i32>().is_ok();
    is_scientific.then_some("--max-marginals")
}

/// A probability as `tag` writes it: between 0 and 1, with six digits.
fn is_share(text: &str) -> bool {
    let digits = |digits: &str| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.strip_prefix("0.").is_some_and(digits) || text == "1.000000"
}
