//! Reports as text.

use crate::counts::ratio;
use crate::report::{Confusion, LabelReport, LeftOut, Report, Row, SpanReport};
use crate::{Counts, Score};
use std::fmt;

/// How many confusions a whole [`Report`] lists; it says how many there are besides.
const LISTED_CONFUSIONS: usize = 20;

/// The format of `conlleval`; under strict rules a line above it says so.
impl fmt::Display for SpanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.strict {
            writeln!(f, "{}: only well-formed spans count", self.rules)?;
        }
        let Counts { gold, found, correct } = self.total.counts;
        writeln!(
            f,
            "processed {} tokens with {gold} phrases; found: {found} phrases; correct: {correct}.",
            self.tokens
        )?;
        if self.tokens > 0 {
            let accuracy = percent(self.correct_tokens, self.tokens);
            writeln!(
                f,
                "accuracy: {accuracy:6.2}%; {}",
                script_scores(&self.total.counts)
            )?;
        }
        for row in &self.types {
            self.write_type(f, row)?;
        }
        Ok(())
    }
}

impl SpanReport {
    fn write_type(&self, f: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
        let Counts { gold, found, .. } = row.counts;
        // The script drops repeated names from a sorted list of the gold and the found types, but never
        // sees that the empty name is repeated.
        let lines = match (gold > 0, found > 0) {
            (false, false) => 0,
            (true, true) if row.name.is_empty() && !self.strict => 2,
            _ => 1,
        };
        // The script's padding counts bytes.
        let padding = 17_usize.saturating_sub(row.name.len());
        for _ in 0..lines {
            writeln!(
                f,
                "{:padding$}{}: {}  {found}",
                "",
                row.name,
                script_scores(&row.counts)
            )?;
        }
        Ok(())
    }
}

/// The three scores as the script computes and prints them: F1 out of percentages, not out of counts.
fn script_scores(counts: &Counts) -> String {
    let precision = percent(counts.correct, counts.found);
    let recall = percent(counts.correct, counts.gold);
    let sum = precision + recall;
    let f1 = if sum > 0.0 {
        2.0 * precision * recall / sum
    } else {
        0.0
    };
    format!("precision: {precision:6.2}%; recall: {recall:6.2}%; FB1: {f1:6.2}")
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        (100 * part) as f64 / whole as f64
    }
}

/// A table with one line per label, then the averages.
impl fmt::Display for LabelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MACRO: &str = "macro average";
        const WEIGHTED: &str = "weighted average";
        let names = self.rows.iter().map(|row| row.name.as_str()).chain([WEIGHTED]);
        let width = widest(names);
        let scores = |score: &Score| {
            let [precision, recall, f1] =
                [score.precision, score.recall, score.f1].map(|share| 100.0 * share);
            format!("{precision:8.2}% {recall:8.2}% {f1:8.2}")
        };
        writeln!(
            f,
            "{:width$} {:>9} {:>9} {:>8} {:>9} {:>9} {:>9}",
            "label", "precision", "recall", "F1", "gold", "found", "correct"
        )?;
        for Row {
            name,
            counts: Counts { gold, found, correct },
            score,
        } in &self.rows
        {
            writeln!(
                f,
                "{name:width$} {} {gold:9} {found:9} {correct:9}",
                scores(score)
            )?;
        }
        writeln!(f, "{MACRO:width$} {}", scores(&self.averages.unweighted))?;
        writeln!(f, "{WEIGHTED:width$} {}", scores(&self.averages.weighted))
    }
}

/// The whole table: gold labels in rows, predicted labels in columns, a dot for 0.
impl fmt::Display for Confusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CORNER: &str = "gold \\ predicted";
        let names = self.labels.iter().map(String::as_str);
        let first = widest(names.chain([CORNER]));
        let shown = |count: u64| {
            if count == 0 {
                ".".to_owned()
            } else {
                count.to_string()
            }
        };
        let column = |found: usize| {
            let counts = self.counts.iter().map(|row| shown(row[found]).len());
            counts
                .chain([self.labels[found].chars().count()])
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.labels.len()).map(column).collect();
        write!(f, "{CORNER:first$}")?;
        for (label, &width) in self.labels.iter().zip(&widths) {
            write!(f, "  {label:>width$}")?;
        }
        writeln!(f)?;
        for (label, row) in self.labels.iter().zip(&self.counts) {
            write!(f, "{label:first$}")?;
            for (&count, &width) in row.iter().zip(&widths) {
                write!(f, "  {:>width$}", shown(count))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Confusion {
    /// The `most` most frequent confusions, one in a line, and how many there are besides.
    pub fn list(&self, most: usize) -> String {
        let cells = self.largest(most);
        let gold = widest(cells.iter().map(|cell| cell.gold.as_str()).chain(["gold"]));
        let predicted = widest(
            cells
                .iter()
                .map(|cell| cell.predicted.as_str())
                .chain(["predicted"]),
        );
        let mut text = format!(
            "{:gold$}  {:predicted$} {:>9} {:>9}\n",
            "gold", "predicted", "tokens", "of gold"
        );
        for cell in &cells {
            let share = 100.0 * cell.share;
            text += &format!(
                "{:gold$}  {:predicted$} {:9} {share:8.2}%\n",
                cell.gold, cell.predicted, cell.count
            );
        }
        let others = self.distinct() - cells.len();
        if others > 0 {
            text += &format!("and {others} other confusions\n");
        }
        text
    }
}

/// One line.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftOut { tokens, spans } = self;
        write!(
            f,
            "left out:  {tokens} tokens whose gold label is unknown, and {spans} predicted spans on or next to them"
        )
    }
}

/// The spans, the tokens, the labels, the whole confusion table and the largest confusions.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.spans)?;
        writeln!(
            f,
            "tokens:    {} of {} right ({:.2}%)",
            self.correct_tokens,
            self.tokens,
            100.0 * self.accuracy
        )?;
        let whole = 100.0 * ratio(self.correct_sequences, self.sequences);
        writeln!(
            f,
            "sequences: {} of {} right ({whole:.2}%)\n",
            self.correct_sequences, self.sequences
        )?;
        if self.left_out.tokens > 0 {
            writeln!(f, "{}\n", self.left_out)?;
        }
        writeln!(f, "{}", self.labels)?;
        write!(f, "{}", self.confusion)?;
        if self.confusion.distinct() > 0 {
            write!(f, "\n{}", self.confusion.list(LISTED_CONFUSIONS))?;
        }
        Ok(())
    }
}

fn widest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}
