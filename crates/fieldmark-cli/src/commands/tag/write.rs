//! Answers as text: labels, columns, tables or JSON.

use super::answer::{Answer, Answers, FoundSpan, LogProbabilities, NO_LABEL};
use super::json;
use super::trouble::{Trouble, too_many};
use fieldmark::Error;
use fieldmark::chain::Tagger;
use fieldmark::core::kernels::Dispatch;
use fieldmark::text::{Line, Part, Separator};
use serde::Serialize;
use std::io::{self, Write};
use std::iter::Peekable;
use std::ops::Range;

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// One label per line, a blank line after each sequence.
    Labels,
    /// The lines of the input with more columns.
    Columns,
    /// One line per span.
    Spans,
    /// One line per pair of labels of neighbouring positions.
    Pairs,
    /// One line per sequence.
    Sequences,
    /// One object per sequence.
    Json,
}

impl View {
    pub const SPAN_HEADER: &str = "first\tlast\ttype\tprobability\ttext\n";
    pub const PAIR_HEADER: &str = "line\tlabel\tnext\tprobability\n";
    pub const SEQUENCE_HEADER: &str = "first\tlast\tlog_z\tbest\tgold\n";

    /// The first line of a table.
    pub fn header(self) -> Option<&'static str> {
        match self {
            View::Spans => Some(View::SPAN_HEADER),
            View::Pairs => Some(View::PAIR_HEADER),
            View::Sequences => Some(View::SEQUENCE_HEADER),
            View::Labels | View::Columns | View::Json => None,
        }
    }
}

/// The text for a block.
#[derive(Debug, Default)]
pub struct Written {
    pub text: Vec<u8>,
    pub troubles: Vec<Trouble>,
    /// Positions at which something was known before.
    pub known: u64,
}

/// The text for a block of the input `name`.
pub fn block<T: Dispatch>(
    view: View,
    answers: &Answers<'_>,
    name: &str,
    tagger: &mut Tagger<'_, T>,
    part: &Part,
) -> Result<Written, Error> {
    if answers.limits.fix_labels && !part.labelled() {
        return Err(Error::Option(format!(
            "{name}: --fix-labels takes the labels in the data as known, but there is no column of labels: this input \
             has only the columns that the model observes. Add a last column, with `?` where the label is open"
        )));
    }
    let mut writer = Writer {
        part,
        answers,
        lines: part.lines().peekable(),
        out: Vec::new(),
    };
    let mut written = Written::default();
    let mut constraints = answers.constraints();
    let plain = answers.plain() && matches!(view, View::Labels | View::Columns);
    for instance in part.data.instances() {
        let positions = instance.positions();
        if let Some(most) = answers.wanted().best
            && let Some(problem) = too_many(
                most,
                answers.labels().len(),
                positions.len(),
                positions.clone().map(|position| part.line(position).len()).sum(),
            )
        {
            let line = part.line_number(positions.start);
            return Err(Error::Option(format!("{name}:{line}:1: {problem}")));
        }
        let answer = if plain {
            tagger.tag(instance).map(|labels| Answer {
                labels: labels.to_vec(),
                ..Answer::default()
            })
        } else {
            answers.answer(tagger, instance, &mut constraints)
        };
        let answer = answer.unwrap_or_else(|error| {
            let trouble = Trouble::of_lines(&error, answers, tagger, (name, part), instance, &constraints);
            written.troubles.push(trouble);
            answers.none(positions.len())
        });
        written.known += answer.known;
        let trouble = written
            .troubles
            .last()
            .filter(|_| answer.labels.first() == Some(&NO_LABEL));
        // Writing to memory cannot fail.
        writer
            .sequence(view, positions, &answer, trouble)
            .map_err(|error| Error::Option(error.to_string()))?;
    }
    if view == View::Columns && answers.wanted().best.is_none() {
        writer
            .other_lines()
            .map_err(|error| Error::Option(error.to_string()))?;
    }
    written.text = writer.out;
    Ok(written)
}

struct Writer<'a, L: Iterator<Item = Line<'a>>> {
    part: &'a Part,
    answers: &'a Answers<'a>,
    /// The lines of the input that have not been written yet.
    lines: Peekable<L>,
    out: Vec<u8>,
}

impl<'a, L: Iterator<Item = Line<'a>>> Writer<'a, L> {
    fn sequence(
        &mut self,
        view: View,
        positions: Range<usize>,
        answer: &Answer,
        trouble: Option<&Trouble>,
    ) -> io::Result<()> {
        match view {
            View::Labels | View::Columns if !answer.best.is_empty() => {
                for (rank, (labels, probability)) in answer.best.iter().enumerate() {
                    writeln!(self.out, "# {rank} {probability:.6}")?;
                    self.labels(view, positions.clone(), answer, labels)?;
                }
                Ok(())
            }
            View::Labels => self.labels(view, positions, answer, &answer.labels),
            View::Columns => self.columns(positions, answer),
            View::Spans => self.spans(positions.start, answer),
            View::Pairs => self.pairs(positions.start, answer),
            View::Sequences => self.log_probabilities(positions, answer),
            View::Json => self.json(positions, answer, trouble),
        }
    }

    /// The lines of the input up to the end of a sequence, with one more column where there is a position.
    fn columns(&mut self, positions: Range<usize>, answer: &Answer) -> io::Result<()> {
        for (t, _) in positions.enumerate() {
            self.other_lines()?;
            if let Some(line) = self.lines.next() {
                let separator = self.line(line.text)?;
                label_cells(
                    self.answers,
                    answer,
                    t,
                    answer.labels[t],
                    separator,
                    &mut self.out,
                )?;
                self.line_end(line.end);
            }
        }
        Ok(())
    }

    /// Copies lines up to the next one with a position: blank lines, and lines that were skipped.
    fn other_lines(&mut self) -> io::Result<()> {
        while let Some(line) = self.lines.next_if(|line| line.position.is_none()) {
            self.out.write_all(line.text.as_bytes())?;
            self.line_end(line.end);
        }
        Ok(())
    }

    /// The last line of an input may have no end; in the output it has one.
    fn line_end(&mut self, end: &str) {
        let end = if end.is_empty() { "\n" } else { end };
        self.out.extend_from_slice(end.as_bytes());
    }

    /// The positions of one sequence, and a blank line.
    fn labels(
        &mut self,
        view: View,
        positions: Range<usize>,
        answer: &Answer,
        labels: &[u32],
    ) -> io::Result<()> {
        for (t, (position, &label)) in positions.zip(labels).enumerate() {
            let separator = match view {
                View::Columns => self.line(self.part.line(position))?,
                _ => b'\t',
            };
            label_cells(self.answers, answer, t, label, separator, &mut self.out)?;
            self.out.push(b'\n');
        }
        self.out.push(b'\n');
        Ok(())
    }

    /// A line of the input, ready for one more column; what separates its columns.
    fn line(&mut self, line: &str) -> io::Result<u8> {
        let tabs = self.part.separator() == Separator::Tab;
        // The last cell between tabs may be empty.
        let line = if tabs {
            line
        } else {
            line.trim_end_matches([' ', '\t'])
        };
        let separator = if tabs || line.contains('\t') { b'\t' } else { b' ' };
        self.out.write_all(line.as_bytes())?;
        self.out.push(separator);
        Ok(separator)
    }

    fn spans(&mut self, start: usize, answer: &Answer) -> io::Result<()> {
        for span in &answer.spans {
            let first = self.part.line_number(start + span.start);
            let last = self.part.line_number(start + span.end - 1);
            let text = self.text(start, span);
            writeln!(
                self.out,
                "{first}\t{last}\t{}\t{:.6}\t{text}",
                span.kind, span.probability
            )?;
        }
        Ok(())
    }

    /// The first column of each line of a span.
    fn text(&self, start: usize, span: &FoundSpan) -> String {
        let first = |position| {
            let line: &str = self.part.line(position);
            let tabs = self.part.separator() == Separator::Tab;
            let mut cells = line.split(|character| character == '\t' || (!tabs && character == ' '));
            cells.find(|cell| tabs || !cell.is_empty()).unwrap_or_default()
        };
        let words: Vec<&str> = (start + span.start..start + span.end).map(first).collect();
        words.join(" ")
    }

    fn pairs(&mut self, start: usize, answer: &Answer) -> io::Result<()> {
        let width = self.answers.labels().len();
        for (step, pairs) in answer.pair_marginals.iter().enumerate() {
            let line = self.part.line_number(start + step);
            for (pair, &probability) in pairs.iter().enumerate() {
                if probability >= SMALLEST {
                    let label = self.answers.written((pair / width) as u32);
                    let next = self.answers.written((pair % width) as u32);
                    writeln!(self.out, "{line}\t{label}\t{next}\t{probability:.6}")?;
                }
            }
        }
        Ok(())
    }

    fn log_probabilities(&mut self, positions: Range<usize>, answer: &Answer) -> io::Result<()> {
        let first = self.part.line_number(positions.start);
        let last = self.part.line_number(positions.end - 1);
        if let Some(LogProbabilities { z, best, gold }) = answer.log_probabilities {
            write!(self.out, "{first}\t{last}\t{z:.6}\t{best:.6}\t")?;
            if self.part.labelled() {
                writeln!(self.out, "{gold:.6}")?;
            } else {
                writeln!(self.out, "-")?;
            }
        }
        Ok(())
    }

    fn json(
        &mut self,
        positions: Range<usize>,
        answer: &Answer,
        trouble: Option<&Trouble>,
    ) -> io::Result<()> {
        let place = LinePlace {
            line: self.part.line_number(positions.start),
        };
        if let Some(Trouble { problem, .. }) = trouble {
            return json::write_problem(&mut self.out, place, problem);
        }
        let mut out = std::mem::take(&mut self.out);
        let text = |span: &FoundSpan| self.text(positions.start, span);
        let done = json::write(&mut out, place, self.answers, answer, self.part.labelled(), text);
        self.out = out;
        done
    }
}

/// A label and what else is said of its position.
pub fn label_cells(
    answers: &Answers<'_>,
    answer: &Answer,
    t: usize,
    label: u32,
    separator: u8,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let wanted = answers.wanted();
    let width = answers.labels().len();
    let row = t * width..(t + 1) * width;
    out.write_all(answers.written(label).as_bytes())?;
    if wanted.label_probabilities {
        out.push(separator);
        write!(out, "{:.6}", answer.probabilities[t])?;
    }
    if wanted.marginals {
        for (label, probability) in (0..).zip(&answer.marginals[row.clone()]) {
            out.push(separator);
            write!(out, "{}:{probability:.6}", answers.written(label))?;
        }
    }
    if wanted.max_marginals {
        for (label, &logarithm) in (0..).zip(&answer.max_marginals[row]) {
            out.push(separator);
            let (name, number) = (answers.written(label), scientific(logarithm));
            write!(out, "{name}:{number}")?;
        }
    }
    Ok(())
}

/// Where a sequence begins.
#[derive(Serialize)]
struct LinePlace {
    line: u64,
}

/// Smaller probabilities than this are 0 in six digits.
pub const SMALLEST: f64 = 0.0000005;

/// A probability in scientific notation, given its logarithm: it may be too small for a number of 64 bits.
pub fn scientific(logarithm: f64) -> String {
    if logarithm > -700.0 || logarithm == f64::NEG_INFINITY {
        return format!("{:.6e}", logarithm.exp());
    }
    let decimal = logarithm / std::f64::consts::LN_10;
    let exponent = decimal.floor();
    // Rounding may make a ten of the digits before the exponent.
    let digits = format!("{:.6}", 10_f64.powf(decimal - exponent));
    match digits.strip_prefix("10") {
        Some(_) => format!("1.000000e{}", exponent + 1.0),
        None => format!("{digits}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::scientific;

    #[test]
    fn small_probabilities_have_digits() {
        for (logarithm, expected) in [
            (0.0, "1.000000e0"),
            (0.25_f64.ln(), "2.500000e-1"),
            (-1000.0, "5.075959e-435"),
            (1e-200_f64.ln() * 2.0, "1.000000e-400"),
            (f64::NEG_INFINITY, "0.000000e0"),
        ] {
            assert_eq!(scientific(logarithm), expected);
        }
    }
}
