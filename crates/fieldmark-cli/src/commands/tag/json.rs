//! Answers as JSON: one object per sequence.

use super::answer::{Answer, Answers, FoundSpan};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;

type Row<'a> = BTreeMap<&'a str, f64>;

/// One line of `--json`. Positions count from 0, `end` is one past the last.
#[derive(Serialize)]
struct Sequence<'a, P> {
    #[serde(flatten)]
    place: P,
    labels: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<Vec<Row<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_marginals: Option<Vec<Row<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair_marginals: Option<Vec<BTreeMap<&'a str, Row<'a>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_z: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_probability: Option<f64>,
    /// Absent without gold labels, null if they are ruled out.
    #[serde(skip_serializing_if = "Option::is_none")]
    gold_log_probability: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spans: Option<Vec<Span<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nbest: Option<Vec<Best<'a>>>,
}

#[derive(Serialize)]
struct Span<'a> {
    start: usize,
    end: usize,
    #[serde(rename = "type")]
    kind: &'a str,
    probability: f64,
    text: String,
}

#[derive(Serialize)]
struct Best<'a> {
    labels: Vec<&'a str>,
    probability: f64,
}

/// A sequence without an answer.
#[derive(Serialize)]
struct Problem<'a, P> {
    #[serde(flatten)]
    place: P,
    labels: Option<()>,
    error: &'a str,
}

/// Writes the line of a sequence. `place` says where it is, `text` what a span covers; `labelled` data have gold labels.
pub fn write<P: Serialize>(
    out: &mut Vec<u8>,
    place: P,
    answers: &Answers<'_>,
    answer: &Answer,
    labelled: bool,
    text: impl Fn(&FoundSpan) -> String,
) -> io::Result<()> {
    let names = answers.labels();
    let wanted = answers.wanted();
    let named = |labels: &[u32]| labels.iter().map(|&label| names.name(label)).collect::<Vec<_>>();
    let row = |row: &[f64]| names.iter().zip(row.iter().copied()).collect::<BTreeMap<_, _>>();
    let pairs = |pairs: &Vec<f64>| names.iter().zip(pairs.chunks(names.len()).map(row)).collect();
    let finite = |logarithm: f64| logarithm.is_finite().then_some(logarithm);
    let logarithms = answer.log_probabilities.filter(|_| wanted.log_probabilities);
    let max_marginals: Vec<f64> = answer
        .max_marginals
        .iter()
        .map(|logarithm| logarithm.exp())
        .collect();
    let span = |span| {
        let &FoundSpan {
            start,
            end,
            ref kind,
            probability,
        } = span;
        let text = text(span);
        Span {
            start,
            end,
            kind,
            probability,
            text,
        }
    };
    let best = |(labels, probability): &(Vec<u32>, f64)| Best {
        labels: named(labels),
        probability: *probability,
    };
    let sequence = Sequence {
        place,
        labels: named(&answer.labels),
        probabilities: wanted.label_probabilities.then_some(&answer.probabilities[..]),
        marginals: wanted
            .marginals
            .then(|| answer.marginals.chunks(names.len()).map(row).collect()),
        max_marginals: wanted
            .max_marginals
            .then(|| max_marginals.chunks(names.len()).map(row).collect()),
        pair_marginals: wanted
            .pair_marginals
            .then(|| answer.pair_marginals.iter().map(pairs).collect()),
        log_z: logarithms.map(|all| all.z),
        log_probability: logarithms.map(|all| all.best),
        gold_log_probability: logarithms.filter(|_| labelled).map(|all| finite(all.gold)),
        spans: wanted.spans.then(|| answer.spans.iter().map(span).collect()),
        nbest: wanted.best.map(|_| answer.best.iter().map(best).collect()),
    };
    line(out, &sequence)
}

/// Writes the line of a sequence without an answer.
pub fn write_problem<P: Serialize>(out: &mut Vec<u8>, place: P, error: &str) -> io::Result<()> {
    let labels = None;
    line(out, &Problem { place, labels, error })
}

fn line(out: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.push(b'\n');
    Ok(())
}
