//! [`Answers`]: what a model says about a sequence, as much of it as is wanted.

use super::limits::{Limits, allow_gold};
use crate::failure::Failure;
use fieldmark::chain::Tagger;
use fieldmark::chain::inference::{Constraints, Error, Inference, Rule, SpanReader};
use fieldmark::core::kernels::Dispatch;
use fieldmark::core::{Alphabet, Gold, Instance, Scheme};
use fieldmark::text::LabelSyntax;

/// What to compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub label_probabilities: bool,
    pub marginals: bool,
    pub max_marginals: bool,
    pub pair_marginals: bool,
    pub log_probabilities: bool,
    pub best: Option<usize>,
    pub spans: bool,
}

impl Wanted {
    /// Whether numbers are wanted beside labels.
    pub fn probabilities(&self) -> bool {
        *self != Wanted::default()
    }
}

/// Answers questions about sequences; shared by threads.
pub struct Answers<'a> {
    labels: &'a Alphabet,
    /// The labels as they are written into columns.
    written: Vec<String>,
    pub limits: &'a Limits,
    wanted: Wanted,
    spans: Option<(Scheme, SpanReader)>,
}

/// In place of a label where no label is possible.
pub const NO_LABEL: u32 = u32::MAX;

/// What was found out about a sequence.
#[derive(Debug, Default)]
pub struct Answer {
    /// The best labels.
    pub labels: Vec<u32>,
    /// The probability of each of them, if wanted.
    pub probabilities: Vec<f64>,
    /// Position × label, if wanted.
    pub marginals: Vec<f64>,
    /// Position × label, if wanted: the log-probability of the best sequence with the label there.
    pub max_marginals: Vec<f64>,
    /// For each step, label × label, if wanted.
    pub pair_marginals: Vec<Vec<f64>>,
    /// If wanted.
    pub log_probabilities: Option<LogProbabilities>,
    /// The spans of the best labels, if wanted.
    pub spans: Vec<FoundSpan>,
    /// The best label sequences with their probabilities, if wanted.
    pub best: Vec<(Vec<u32>, f64)>,
    /// Positions at which something was known before.
    pub known: u64,
}

/// Natural logarithms of numbers that belong to a whole sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogProbabilities {
    /// Of the sum of the exponentiated scores of all label sequences.
    pub z: f64,
    /// Of the probability of the best labels.
    pub best: f64,
    /// Of the probability of the gold labels, or of all label sequences that they allow; −∞ if they are
    /// ruled out.
    pub gold: f64,
}

/// A span of positions `start..end`.
#[derive(Debug)]
pub struct FoundSpan {
    pub start: usize,
    pub end: usize,
    pub kind: String,
    pub probability: f64,
}

impl<'a> Answers<'a> {
    /// `syntax` is that of the labels in the data.
    pub fn new(
        labels: &'a Alphabet,
        limits: &'a Limits,
        wanted: Wanted,
        syntax: LabelSyntax,
    ) -> Result<Self, Failure> {
        let spans = match limits.scheme {
            Some(scheme) => Some((scheme, SpanReader::new(scheme, labels))),
            None if wanted.spans || !limits.rules.is_empty() => {
                return Err(Failure::user(
                    "the labels of this model mark no spans (they are not of the kind B-X, I-X, O), so there is \
                     nothing that --spans or --rule could speak of",
                ));
            }
            None => None,
        };
        if let Some((_, reader)) = &spans {
            let mut kinds = limits.rules.iter().flat_map(|rule| rule.kinds());
            if let Some(kind) = kinds.find(|kind| reader.kinds().get(kind).is_none()) {
                let known: Vec<&str> = reader.kinds().iter().collect();
                return Err(Failure::user(format_args!(
                    "--rule: no label of this model belongs to a span of type {kind:?}; its types are {}",
                    known.join(", ")
                )));
            }
        }
        Ok(Self {
            labels,
            written: labels.iter().map(|label| syntax.escape(label)).collect(),
            limits,
            wanted,
            spans,
        })
    }

    pub fn labels(&self) -> &Alphabet {
        self.labels
    }

    /// A label as it is written into columns.
    pub fn written(&self, label: u32) -> &str {
        self.written.get(label as usize).map_or("?", String::as_str)
    }

    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// What holds for every sequence, to be handed to [`Answers::answer`] again and again.
    pub fn constraints(&self) -> Constraints {
        self.limits.constraints.clone()
    }

    /// Whether labels are all that is wanted, and nothing is ruled out.
    pub fn plain(&self) -> bool {
        self.limits.is_empty() && self.wanted == Wanted::default()
    }

    /// What stands in the place of an answer about a sequence of `length` positions for which there is none.
    pub fn none(&self, length: usize) -> Answer {
        let width = self.labels.len();
        let labels = vec![NO_LABEL; length];
        let ruled_out = f64::NEG_INFINITY;
        Answer {
            probabilities: vec![0.0; length],
            marginals: vec![0.0; length * width],
            max_marginals: vec![ruled_out; length * width],
            best: self
                .wanted
                .best
                .map(|_| (labels.clone(), 0.0))
                .into_iter()
                .collect(),
            labels,
            log_probabilities: Some(LogProbabilities {
                z: ruled_out,
                best: ruled_out,
                gold: ruled_out,
            }),
            ..Answer::default()
        }
    }

    /// All that is wanted about one sequence.
    pub fn answer<T: Dispatch>(
        &self,
        tagger: &mut Tagger<'_, T>,
        instance: Instance<'_>,
        constraints: &mut Constraints,
    ) -> Result<Answer, Error> {
        let wanted = self.wanted;
        let mut answer = Answer {
            known: self.limits.apply(instance, constraints),
            ..Answer::default()
        };
        let mut inference = tagger.load(instance, constraints)?;
        if let Some(best) = wanted.best {
            self.best(&mut inference, best, &mut answer)?;
            return Ok(answer);
        }
        answer.labels = match &self.spans {
            Some((_, reader)) if !self.limits.rules.is_empty() => inference
                .viterbi_under(reader, &self.limits.rules)?
                .labels
                .to_vec(),
            _ => inference.viterbi()?.labels.to_vec(),
        };
        if wanted.label_probabilities || wanted.marginals {
            let mut marginals = Vec::new();
            inference.marginals(&mut marginals)?;
            let width = self.labels.len();
            let of_label = |(t, &label): (usize, &u32)| marginals[t * width + label as usize].to_f64();
            answer.probabilities = answer.labels.iter().enumerate().map(of_label).collect();
            answer.marginals = marginals.iter().map(|probability| probability.to_f64()).collect();
        }
        if wanted.max_marginals {
            let labels = self.labels.len() as u32;
            let table = inference.max_marginals()?;
            let row = |t| (0..labels).map(move |label| table.get(t, label).unwrap_or(f64::NEG_INFINITY));
            answer.max_marginals = (0..instance.len()).flat_map(row).collect();
        }
        if wanted.pair_marginals {
            let mut pairs = Vec::new();
            for step in 1..instance.len() {
                inference.pair_marginals(step - 1, &mut pairs)?;
                let row = pairs.iter().map(|probability| probability.to_f64());
                answer.pair_marginals.push(row.collect());
            }
        }
        if let (true, Some((scheme, reader))) = (wanted.spans, &self.spans) {
            answer.spans = self.spans(&mut inference, *scheme, reader, &answer.labels)?;
        }
        if wanted.log_probabilities {
            let z = inference.log_z()?;
            let ruled_out = f64::NEG_INFINITY;
            let best = inference.log_probability(&answer.labels)?.unwrap_or(ruled_out);
            let gold = match known_labels(instance) {
                Some(gold) => inference.log_probability(&gold)?.unwrap_or(ruled_out),
                None => log_probability_of_allowed(tagger, instance, constraints, z)?,
            };
            answer.log_probabilities = Some(LogProbabilities { z, best, gold });
        }
        Ok(answer)
    }

    fn best<T: Dispatch>(
        &self,
        inference: &mut Inference<'_, '_, T>,
        most: usize,
        answer: &mut Answer,
    ) -> Result<(), Error> {
        let paths: Vec<Vec<u32>> = inference
            .kbest(most)?
            .iter()
            .map(|path| path.labels.to_vec())
            .collect();
        for labels in paths {
            let probability = inference.log_probability(&labels)?.map_or(0.0, f64::exp);
            answer.best.push((labels, probability));
        }
        if let Some((labels, _)) = answer.best.first() {
            answer.labels.clone_from(labels);
        }
        Ok(())
    }

    fn spans<T: Dispatch>(
        &self,
        inference: &mut Inference<'_, '_, T>,
        scheme: Scheme,
        reader: &SpanReader,
        labels: &[u32],
    ) -> Result<Vec<FoundSpan>, Error> {
        let names: Vec<&str> = labels.iter().map(|&label| self.labels.name(label)).collect();
        let spans = scheme.spans(&names);
        let found = spans.into_iter().map(|span| {
            let kind = reader.kinds().get(span.kind).unwrap_or_default();
            let probability = inference.span_probability(reader, span.start..span.end, kind)?;
            let (start, end, kind) = (span.start, span.end, span.kind.to_owned());
            Ok(FoundSpan {
                start,
                end,
                kind,
                probability,
            })
        });
        found.collect()
    }

    /// The rule that no label sequence satisfies, if an error says that none satisfies all, and one alone is to blame.
    pub fn impossible_rule<T: Dispatch>(
        &self,
        error: &Error,
        tagger: &mut Tagger<'_, T>,
        instance: Instance<'_>,
        constraints: &Constraints,
    ) -> Option<&Rule> {
        let (_, reader) = self.spans.as_ref().filter(|_| *error == Error::Infeasible)?;
        let mut inference = tagger.load(instance, constraints).ok()?;
        inference.impossible_rule(reader, &self.limits.rules)
    }
}

/// The gold labels, if each of them is known.
fn known_labels(instance: Instance<'_>) -> Option<Vec<u32>> {
    let label = |position| match instance.gold(position) {
        Gold::Known(label) => Some(label),
        _ => None,
    };
    (0..instance.len()).map(label).collect()
}

/// log Z(allowed by the gold labels) − log Z.
fn log_probability_of_allowed<T: Dispatch>(
    tagger: &mut Tagger<'_, T>,
    instance: Instance<'_>,
    constraints: &Constraints,
    log_z: f64,
) -> Result<f64, Error> {
    let mut allowed = constraints.clone();
    allow_gold(instance, &mut allowed);
    let sum = tagger
        .load(instance, &allowed)
        .and_then(|mut inference| inference.log_z());
    match sum {
        Ok(sum) => Ok((sum - log_z).min(0.0)),
        Err(Error::NoSequence { .. }) => Ok(f64::NEG_INFINITY),
        Err(error) => Err(error),
    }
}
