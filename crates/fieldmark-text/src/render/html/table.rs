//! [`Table`]: rows of cells that may carry bars, heat and intervals.

use super::{Escaped, Html};
use crate::render::RenderError;

/// A table. The first cell of a row is its name; columns of numbers are set flush right.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table: text, perhaps with a drawing of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    text: String,
    drawing: Drawing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Drawing {
    None,
    /// A bar of this share of the cell.
    Bar(f64),
    /// A background as strong as this share, for what is right or for what is wrong.
    Heat(f64, bool),
    /// A mean between two ends, on a line from 0 to 1.
    Interval(f64, f64, f64),
}

impl Cell {
    /// Text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            drawing: Drawing::None,
        }
    }

    /// A share as a percentage, over a bar of that length.
    pub fn share(share: f64) -> Self {
        Self {
            text: format!("{:.2}%", 100.0 * share),
            drawing: Drawing::Bar(share),
        }
    }

    /// Text on a background that is as strong as the share; what is right differs in hue from what is wrong.
    pub fn heat(text: impl Into<String>, share: f64, right: bool) -> Self {
        Self {
            text: text.into(),
            drawing: Drawing::Heat(share, right),
        }
    }

    /// An interval of shares, drawn on a line from 0 to 1 with a dot at the mean.
    pub fn interval(low: f64, mean: f64, high: f64) -> Self {
        Self {
            text: format!("{:.2} to {:.2}", 100.0 * low, 100.0 * high),
            drawing: Drawing::Interval(low, mean, high),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::text(text)
    }
}

impl Table {
    /// A table without rows yet.
    pub fn new<H: Into<String>>(header: impl IntoIterator<Item = H>) -> Self {
        Self {
            header: header.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// The same with one more row, of as many cells as the header.
    pub fn row<C: Into<Cell>>(mut self, cells: impl IntoIterator<Item = C>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    pub(super) fn check(&self, heading: &str) -> Result<(), RenderError> {
        match self.rows.iter().position(|row| row.len() != self.header.len()) {
            Some(at) => Err(RenderError::Ragged {
                heading: heading.to_owned(),
                row: at + 1,
                found: self.rows[at].len(),
                expected: self.header.len(),
            }),
            None => Ok(()),
        }
    }

    pub(super) fn is_drawn(&self) -> bool {
        let mut cells = self.rows.iter().flatten();
        cells.any(|cell| cell.drawing != Drawing::None)
    }
}

impl Html {
    pub(super) fn table(&mut self, heading: &str, table: &Table) {
        let Table { header, rows } = table;
        let classes: Vec<&str> = (0..header.len()).map(|at| column_class(rows, at)).collect();
        let label = Escaped(heading);
        // A region that scrolls must be reachable by keyboard.
        self.put(format_args!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n"
        ));
        self.raw("<table>\n<thead><tr>");
        for (name, class) in header.iter().zip(&classes) {
            self.put(format_args!(
                "<th scope=\"col\"{}>{}</th>",
                attribute(class),
                Escaped(name)
            ));
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for (at, (cell, class)) in row.iter().zip(&classes).enumerate() {
                self.cell(cell, class, at == 0);
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody>\n</table>\n</div>\n");
    }

    fn cell(&mut self, cell: &Cell, class: &str, is_name: bool) {
        let text = Escaped(&cell.text);
        let (open, close) = if is_name {
            ("th scope=\"row\"", "th")
        } else {
            ("td", "td")
        };
        match cell.drawing {
            Drawing::None => self.put(format_args!("<{open}{}>{text}</{close}>", attribute(class))),
            Drawing::Bar(share) => self.put(format_args!(
                "<{open} class=\"{class} bar\" style=\"--share:{:.4}\">{text}</{close}>",
                drawn(share)
            )),
            Drawing::Heat(share, right) => self.put(format_args!(
                "<{open} class=\"{class} heat {}\" style=\"--share:{:.4}\">{text}</{close}>",
                if right { "right" } else { "wrong" },
                drawn(share)
            )),
            Drawing::Interval(low, mean, high) => {
                let [low, mean, high] = [low, mean, high].map(|share| 2.0 + 96.0 * drawn(share));
                self.put(format_args!(
                    "<{open} class=\"{class} interval\"><svg viewBox=\"0 0 100 12\" aria-hidden=\"true\">\
                     <line x1=\"2\" y1=\"6\" x2=\"98\" y2=\"6\"/>\
                     <line class=\"drawn\" x1=\"{low:.1}\" y1=\"6\" x2=\"{high:.1}\" y2=\"6\"/>\
                     <circle cx=\"{mean:.1}\" cy=\"6\" r=\"3.5\"/></svg>{text}</{close}>"
                ));
            }
        }
    }
}

/// A share as it can be drawn.
fn drawn(share: f64) -> f64 {
    if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    }
}

fn attribute(class: &str) -> String {
    if class.is_empty() {
        String::new()
    } else {
        format!(" class=\"{class}\"")
    }
}

/// Cells of up to this many characters stay in one line.
const SHORT_CHARS: usize = 20;

/// The class of a column: numbers, with or without a percent sign, are set flush right.
fn column_class(rows: &[Vec<Cell>], column: usize) -> &'static str {
    let is_number = |cell: &str| {
        cell.trim_end_matches('%')
            .replace('\u{2212}', "-")
            .parse::<f64>()
            .is_ok()
    };
    let filled: Vec<&str> = rows
        .iter()
        .map(|row| row[column].text.trim())
        .filter(|cell| !cell.is_empty() && *cell != "·")
        .collect();
    if !filled.is_empty() && filled.iter().all(|cell| is_number(cell)) {
        "number"
    } else if filled.iter().all(|cell| cell.chars().count() <= SHORT_CHARS) {
        "short"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_classed_by_their_cells() {
        let rows = [
            ["a rather long name of a row", "81.25", "9%", "", "·"],
            ["All", "−3", "-", "", "7"],
        ];
        let rows: Vec<Vec<Cell>> = rows.iter().map(|row| row.map(Cell::text).to_vec()).collect();
        let classes: Vec<&str> = (0..5).map(|at| column_class(&rows, at)).collect();
        assert_eq!(classes, ["", "number", "short", "short", "number"]);
    }

    #[test]
    fn drawings_stay_inside_their_cells() {
        let cells = [
            Cell::share(f64::NAN),
            Cell::share(7.0),
            Cell::heat("x", -1.0, true),
            Cell::interval(f64::NEG_INFINITY, 0.5, 2.0),
        ];
        let table = Table::new(["a", "b", "c", "d"]).row(cells);
        assert!(table.is_drawn() && table.check("").is_ok());
        let mut html = Html {
            out: String::new(),
            notes: 0,
        };
        html.table("t", &table);
        let out = html.out;
        for expected in [
            "--share:0.0000\">NaN%",
            "--share:1.0000\">700.00%",
            "heat right\" style=\"--share:0.0000\"",
            "x1=\"2.0\" y1=\"6\" x2=\"98.0\"",
        ] {
            assert!(out.contains(expected), "{expected}\n{out}");
        }
    }
}
