//! [`Answers`]: what a model says about a sequence, as much of it as is wanted.

use super::limits::Limits;
use crate::failure::Failure;
use fieldmark::Model;
use fieldmark::chain::Tagger;
use fieldmark::chain::inference::{Constraints, Error, SpanReader};
use fieldmark::core::kernels::Dispatch;
use fieldmark::core::{Alphabet, Instance, Scheme};

/// What to compute.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub label_probabilities: bool,
    pub marginals: bool,
    pub best: Option<usize>,
    pub spans: bool,
}

/// Answers questions about sequences; shared by threads.
pub struct Answers<'a> {
    labels: &'a Alphabet,
    limits: &'a Limits,
    wanted: Wanted,
    spans: Option<(Scheme, SpanReader)>,
    source: String,
}

/// What was found out about a sequence.
#[derive(Debug, Default)]
pub struct Answer {
    /// The best labels.
    pub labels: Vec<u32>,
    /// The probability of each of them, if wanted.
    pub probabilities: Vec<f64>,
    /// Position × label, if wanted.
    pub marginals: Vec<f64>,
    /// The spans of the best labels, if wanted.
    pub spans: Vec<FoundSpan>,
    /// The best label sequences with their probabilities, if wanted.
    pub best: Vec<(Vec<u32>, f64)>,
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
    pub fn new(
        model: &'a Model,
        limits: &'a Limits,
        wanted: Wanted,
        source: String,
    ) -> Result<Self, Failure> {
        let labels = model.chain.labels();
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
        Ok(Self {
            labels,
            limits,
            wanted,
            spans,
            source,
        })
    }

    pub fn labels(&self) -> &Alphabet {
        self.labels
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
        let Wanted {
            label_probabilities,
            marginals,
            best,
            spans,
        } = self.wanted;
        self.limits.is_empty() && !label_probabilities && !marginals && best.is_none() && !spans
    }

    /// An error with the place of the sequence.
    pub fn error(&self, line: u64, error: Error) -> fieldmark::Error {
        match error {
            Error::NoSequence { .. } | Error::Infeasible => {
                let name = &self.source;
                fieldmark::Error::Option(format!(
                    "{name}:{line}:1: in the sequence that starts here, {error}"
                ))
            }
            other => other.into(),
        }
    }

    /// All that is wanted about one sequence.
    pub fn answer<T: Dispatch>(
        &self,
        tagger: &mut Tagger<'_, T>,
        instance: Instance<'_>,
        constraints: &mut Constraints,
    ) -> Result<Answer, Error> {
        self.limits.apply(instance, constraints);
        let mut inference = tagger.load(instance, constraints)?;
        let mut answer = Answer::default();
        if let Some(best) = self.wanted.best {
            let paths: Vec<Vec<u32>> = inference
                .kbest(best)?
                .iter()
                .map(|path| path.labels.to_vec())
                .collect();
            for labels in paths {
                let probability = inference.log_probability(&labels)?.map_or(0.0, f64::exp);
                answer.best.push((labels, probability));
            }
            answer.labels = answer
                .best
                .first()
                .map(|(labels, _)| labels.clone())
                .unwrap_or_default();
            return Ok(answer);
        }
        answer.labels = match &self.spans {
            Some((_, reader)) if !self.limits.rules.is_empty() => inference
                .viterbi_under(reader, &self.limits.rules)?
                .labels
                .to_vec(),
            _ => inference.viterbi()?.labels.to_vec(),
        };
        if self.wanted.label_probabilities || self.wanted.marginals {
            let mut marginals = Vec::new();
            inference.marginals(&mut marginals)?;
            let width = self.labels.len();
            let of_label = |(t, &label): (usize, &u32)| marginals[t * width + label as usize].to_f64();
            answer.probabilities = answer.labels.iter().enumerate().map(of_label).collect();
            if self.wanted.marginals {
                answer.marginals = marginals.iter().map(|probability| probability.to_f64()).collect();
            }
        }
        if let (true, Some((scheme, reader))) = (self.wanted.spans, &self.spans) {
            let names: Vec<&str> = answer
                .labels
                .iter()
                .map(|&label| self.labels.name(label))
                .collect();
            for span in scheme.spans(&names) {
                let kind = reader.kinds().get(span.kind).unwrap_or_default();
                let probability = inference.span_probability(reader, span.start..span.end, kind)?;
                let (start, end, kind) = (span.start, span.end, span.kind.to_owned());
                answer.spans.push(FoundSpan {
                    start,
                    end,
                    kind,
                    probability,
                });
            }
        }
        Ok(answer)
    }
}
