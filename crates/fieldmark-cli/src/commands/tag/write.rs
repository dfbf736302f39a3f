//! Answers as text: labels, columns, spans or JSON.

use super::answer::{Answer, Answers, FoundSpan};
use fieldmark::Error;
use fieldmark::chain::Tagger;
use fieldmark::core::Alphabet;
use fieldmark::core::kernels::Dispatch;
use fieldmark::text::Part;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
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
    /// One object per sequence.
    Json,
}

/// The first line of a list of spans.
pub const SPAN_HEADER: &str = "first\tlast\ttype\tprobability\ttext\n";

/// The text for a block.
pub fn block<T: Dispatch>(
    view: View,
    answers: &Answers<'_>,
    tagger: &mut Tagger<'_, T>,
    part: &Part,
) -> Result<Vec<u8>, Error> {
    let mut writer = Writer {
        part,
        answers,
        out: Vec::new(),
        skipped: part.skipped().collect(),
        echoed: 0,
    };
    let mut constraints = answers.constraints();
    let plain = answers.plain() && matches!(view, View::Labels | View::Columns);
    for instance in part.data.instances() {
        let positions = instance.positions();
        let answer = if plain {
            let labels = tagger.tag(instance).map(<[u32]>::to_vec);
            labels.map(|labels| Answer {
                labels,
                ..Answer::default()
            })
        } else {
            answers.answer(tagger, instance, &mut constraints)
        };
        let answer = answer.map_err(|error| answers.error(part.line_number(positions.start), error))?;
        match view {
            View::Labels | View::Columns => writer.positions(view, positions, &answer),
            View::Spans => writer.spans(positions.start, &answer),
            View::Json => writer.json(positions, &answer),
        }
        // Writing to memory cannot fail.
        .map_err(|error| Error::Option(error.to_string()))?;
    }
    writer
        .rest(view)
        .map_err(|error| Error::Option(error.to_string()))?;
    Ok(writer.out)
}

struct Writer<'a> {
    part: &'a Part,
    answers: &'a Answers<'a>,
    out: Vec<u8>,
    /// Lines that are no positions, each with the position that it comes before.
    skipped: Vec<(usize, &'a str)>,
    echoed: usize,
}

impl Writer<'_> {
    fn positions(&mut self, view: View, positions: Range<usize>, answer: &Answer) -> std::io::Result<()> {
        let names = self.answers.labels();
        if answer.best.is_empty() {
            self.labels(view, positions.clone(), answer, &answer.labels, names)?;
        }
        for (rank, (labels, probability)) in answer.best.iter().enumerate() {
            writeln!(self.out, "# {rank} {probability:.6}")?;
            self.labels(view, positions.clone(), answer, labels, names)?;
        }
        Ok(())
    }

    /// The lines of one sequence, and a blank one.
    fn labels(
        &mut self,
        view: View,
        positions: Range<usize>,
        answer: &Answer,
        labels: &[u32],
        names: &Alphabet,
    ) -> std::io::Result<()> {
        let wanted = self.answers.wanted();
        for (t, (position, &label)) in positions.zip(labels).enumerate() {
            let mut separator = b'\t';
            if view == View::Columns {
                self.skipped_before(position)?;
                let line = self.part.line(position).trim_end_matches([' ', '\t']);
                self.out.write_all(line.as_bytes())?;
                separator = if line.contains('\t') { b'\t' } else { b' ' };
                self.out.push(separator);
            }
            self.out.write_all(names.name(label).as_bytes())?;
            if wanted.label_probabilities {
                self.out.push(separator);
                write!(self.out, "{:.6}", answer.probabilities[t])?;
            }
            if wanted.marginals {
                for (name, probability) in names.iter().zip(&answer.marginals[t * names.len()..]) {
                    self.out.push(separator);
                    write!(self.out, "{name}:{probability:.6}")?;
                }
            }
            self.out.push(b'\n');
        }
        self.out.push(b'\n');
        Ok(())
    }

    /// Copies skipped lines that come before a position.
    fn skipped_before(&mut self, position: usize) -> std::io::Result<()> {
        while let Some((_, line)) = self
            .skipped
            .get(self.echoed)
            .filter(|(before, _)| *before <= position)
        {
            writeln!(self.out, "{line}")?;
            self.echoed += 1;
        }
        Ok(())
    }

    /// Skipped lines after the last position.
    fn rest(&mut self, view: View) -> std::io::Result<()> {
        if view == View::Columns {
            self.skipped_before(usize::MAX)
        } else {
            Ok(())
        }
    }

    fn spans(&mut self, start: usize, answer: &Answer) -> std::io::Result<()> {
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
            line.split(if line.contains('\t') { '\t' } else { ' ' })
                .next()
                .unwrap_or_default()
        };
        let words: Vec<&str> = (start + span.start..start + span.end).map(first).collect();
        words.join(" ")
    }

    fn json(&mut self, positions: Range<usize>, answer: &Answer) -> std::io::Result<()> {
        let names = self.answers.labels();
        let wanted = self.answers.wanted();
        let named = |labels: &[u32]| labels.iter().map(|&label| names.name(label)).collect::<Vec<_>>();
        let row = |row: &[f64]| names.iter().zip(row.iter().copied()).collect::<BTreeMap<_, _>>();
        let sequence = JsonSequence {
            line: self.part.line_number(positions.start),
            labels: named(&answer.labels),
            probabilities: wanted.label_probabilities.then_some(&answer.probabilities[..]),
            marginals: wanted
                .marginals
                .then(|| answer.marginals.chunks(names.len()).map(row).collect()),
            spans: wanted.spans.then(|| {
                let spans = answer.spans.iter();
                spans.map(|span| self.json_span(positions.start, span)).collect()
            }),
            nbest: wanted.best.map(|_| {
                let best = answer.best.iter();
                best.map(|(labels, probability)| JsonBest {
                    labels: named(labels),
                    probability: *probability,
                })
                .collect()
            }),
        };
        serde_json::to_writer(&mut self.out, &sequence)?;
        self.out.push(b'\n');
        Ok(())
    }

    fn json_span<'s>(&self, start: usize, span: &'s FoundSpan) -> JsonSpan<'s> {
        JsonSpan {
            start: span.start,
            end: span.end,
            kind: &span.kind,
            probability: span.probability,
            text: self.text(start, span),
        }
    }
}

/// One line of `--json`. Positions count from 0, `end` is one past the last.
#[derive(Serialize)]
struct JsonSequence<'a> {
    line: u64,
    labels: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<Vec<BTreeMap<&'a str, f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spans: Option<Vec<JsonSpan<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nbest: Option<Vec<JsonBest<'a>>>,
}

#[derive(Serialize)]
struct JsonSpan<'a> {
    start: usize,
    end: usize,
    #[serde(rename = "type")]
    kind: &'a str,
    probability: f64,
    text: String,
}

#[derive(Serialize)]
struct JsonBest<'a> {
    labels: Vec<&'a str>,
    probability: f64,
}
