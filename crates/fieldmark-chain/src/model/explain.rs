//! [`Explanation`]: why the model chose these labels for an instance, and what the runner-up was.
//!
//! The score of a label sequence is a sum of weights, so what speaks for the chosen label at a position and
//! against another can be told exactly: keep all other labels, exchange this one, and see which weights come
//! and go. The contributions at a position add up to the difference of the two scores.

use super::ChainModel;
use super::table::{grouped, signed, width};
use super::text::escape;
use crate::inference::{Constraints, Error};
use fieldmark_core::Instance;
use serde::Serialize;
use std::fmt;

/// The decisions of a model for all positions of an instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// One decision for each position.
    pub decisions: Vec<Decision>,
}

/// Why a position got its label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// The position in the instance, from 0 on.
    pub position: usize,
    /// The text at the position, if [`Explanation::with_tokens`] gave it.
    pub token: Option<String>,
    /// The label in the best sequence.
    pub label: String,
    /// The probability of the label at this position, over all sequences.
    pub probability: f64,
    /// The most probable other label; none if no other label is possible.
    pub runner_up: Option<Alternative>,
    /// By how much the weights of the best sequence exceed those of the one with the runner-up at this
    /// position: the sum of all contributions.
    pub margin: f64,
    /// What speaks most for the label or, if negative, for the runner-up; strongest first.
    pub contributions: Vec<Contribution>,
    /// What is left out of the contributions.
    pub others: Others,
}

/// A label that was not chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// The label.
    pub label: String,
    /// Its probability at the position.
    pub probability: f64,
}

/// One reason for or against a decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// What it is.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// What it adds to the score with the chosen label.
    pub chosen: f64,
    /// What it would add with the runner-up (0 without one).
    pub runner_up: f64,
    /// The difference of the two: above 0 it speaks for the chosen label.
    pub difference: f64,
}

/// What a contribution comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evidence {
    /// An observation at the position.
    Observation {
        /// Its name.
        name: String,
        /// Its value.
        value: f32,
    },
    /// An observation of the step into the position or out of it.
    Step {
        /// Its name.
        name: String,
        /// Its value.
        value: f32,
        /// The chosen labels of the step.
        labels: Vec<String>,
        /// Which of the labels is the one of the position.
        place: usize,
    },
    /// Neighbouring labels.
    Transition {
        /// The chosen labels, with `(start)` and `(end)` for the ends of the sequence.
        labels: Vec<String>,
        /// Which of the labels is the one of the position.
        place: usize,
    },
    /// The bias of the label.
    Bias,
}

/// Contributions that are not listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Others {
    /// How many.
    pub count: usize,
    /// The sum of their differences.
    pub difference: f64,
}

impl ChainModel {
    /// Explains the best labels of an instance under constraints, with the `most` strongest contributions for
    /// each position.
    ///
    /// The instance must have been read with the observations of the model; its gold labels are ignored.
    pub fn explain(
        &self,
        instance: Instance<'_>,
        constraints: &Constraints,
        most: usize,
    ) -> Result<Explanation, Error> {
        let mut tagger = self.tagger();
        let mut marginals = Vec::new();
        let mut inference = tagger.load(instance, constraints)?;
        let mut chosen = inference.viterbi()?.labels.to_vec();
        inference.marginals(&mut marginals)?;
        let labels = self.labels.len();
        let best = inference.max_marginals()?;
        let best = |position: usize, label: u32| best.get(position, label).unwrap_or(f64::NEG_INFINITY);
        let best: Vec<f64> = (0..marginals.len())
            .map(|index| best(index / labels, (index % labels) as u32))
            .collect();
        if constraints.is_empty() {
            // Of several equally good sequences, the one that tagging gives.
            chosen = tagger.tag(instance)?.to_vec();
        }
        let boundary = labels as u32;
        let padded = [&[boundary], &chosen[..], &[boundary]].concat();
        let rows = marginals.chunks_exact(labels).zip(best.chunks_exact(labels));
        let decide = |(position, (row, best)): (usize, (&[f64], &[f64]))| {
            let comparison = Comparison {
                model: self,
                instance,
                chosen: &chosen,
                padded: &padded,
                position,
                other: runner_up(row, best, chosen[position]),
            };
            comparison.decision(row, most)
        };
        Ok(Explanation {
            decisions: rows.enumerate().map(decide).collect(),
        })
    }
}

/// The most probable label but one that is given; of those whose probability is too small for a number, the one
/// in the `best` sequence.
fn runner_up(row: &[f64], best: &[f64], chosen: u32) -> Option<u32> {
    let rank = |label: u32| (row[label as usize], best[label as usize]);
    let mut first: Option<u32> = None;
    for label in 0..row.len() as u32 {
        let possible = label != chosen && best[label as usize] > f64::NEG_INFINITY;
        if possible && first.is_none_or(|first| rank(label) > rank(first)) {
            first = Some(label);
        }
    }
    first
}

/// The chosen sequence against the one that differs at one position.
struct Comparison<'a> {
    model: &'a ChainModel,
    instance: Instance<'a>,
    chosen: &'a [u32],
    /// The chosen labels between the start and the end of the sequence.
    padded: &'a [u32],
    position: usize,
    other: Option<u32>,
}

impl Comparison<'_> {
    fn decision(&self, row: &[f64], most: usize) -> Decision {
        let mut all = Vec::new();
        self.observations(&mut all);
        self.steps(&mut all);
        self.transitions(&mut all);
        self.bias(&mut all);
        all.retain(|contribution| contribution.difference != 0.0);
        all.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()));
        let sum = |list: &[Contribution]| finite(list.iter().map(|one| one.difference).sum());
        let margin = sum(&all);
        let rest = all.split_off(most.min(all.len()));
        let label = self.chosen[self.position];
        let name = |label: u32| self.model.labels.name(label).to_owned();
        Decision {
            position: self.position,
            token: None,
            label: name(label),
            probability: row[label as usize],
            runner_up: self.other.map(|other| Alternative {
                label: name(other),
                probability: row[other as usize],
            }),
            margin,
            contributions: all,
            others: Others {
                count: rest.len(),
                difference: sum(&rest),
            },
        }
    }

    fn observations(&self, all: &mut Vec<Contribution>) {
        let structure = &self.model.structure;
        let weights = &self.model.weights[structure.unary_weights()];
        let position = self.instance.positions().start + self.position;
        for (id, value) in self.instance.dataset.unary.iter(position) {
            let score = |label: u32| {
                let feature = structure.unary().find(id, label);
                feature.map_or(0.0, |feature| weights[feature] * f64::from(value))
            };
            let name = self.model.observations.name(id).to_owned();
            all.push(self.contribution(Evidence::Observation { name, value }, score));
        }
    }

    fn bias(&self, all: &mut Vec<Contribution>) {
        let biases = &self.model.weights[self.model.structure.bias_weights()];
        let score = |label: u32| biases.get(label as usize).copied().unwrap_or(0.0);
        all.push(self.contribution(Evidence::Bias, score));
    }

    /// The steps into and out of the position.
    fn steps(&self, all: &mut Vec<Contribution>) {
        let structure = &self.model.structure;
        let weights = &self.model.weights[structure.pair_weights()];
        let length = self.chosen.len();
        for later in self.position.max(1)..length.min(self.position + 2) {
            let place = usize::from(later == self.position);
            let labels = [self.chosen[later - 1], self.chosen[later]];
            for (id, value) in self
                .instance
                .dataset
                .pair
                .iter(self.instance.positions().start + later)
            {
                let score = |label: u32| {
                    let mut pair = labels;
                    pair[place] = label;
                    let column = structure.pairs().binary_search(&pair).ok();
                    let feature = column.and_then(|column| structure.pair().find(id, column as u32));
                    feature.map_or(0.0, |feature| weights[feature] * f64::from(value))
                };
                let evidence = Evidence::Step {
                    name: self.model.observations.name(id).to_owned(),
                    value,
                    labels: labels
                        .map(|label| self.model.labels.name(label).to_owned())
                        .to_vec(),
                    place,
                };
                all.push(self.contribution(evidence, score));
            }
        }
    }

    /// The label tuples that the position is in.
    fn transitions(&self, all: &mut Vec<Contribution>) {
        let structure = &self.model.structure;
        let weights = &self.model.weights[structure.tuple_weights()];
        let center = self.position + 1;
        for length in 2..=structure.options().order + 1 {
            for start in (center + 1).saturating_sub(length)..=center {
                let Some(window) = self.padded.get(start..start + length) else {
                    continue;
                };
                let place = center - start;
                let score = |label: u32| {
                    let mut tuple = window.to_vec();
                    tuple[place] = label;
                    structure
                        .tuples()
                        .find(&tuple)
                        .map_or(0.0, |tuple| weights[tuple])
                };
                let name =
                    |(place, &label): (usize, &u32)| self.model.label_or_edge(label, place == 0).to_owned();
                let labels = window.iter().enumerate().map(name).collect();
                all.push(self.contribution(Evidence::Transition { labels, place }, score));
            }
        }
    }

    fn contribution(&self, evidence: Evidence, score: impl Fn(u32) -> f64) -> Contribution {
        let chosen = score(self.chosen[self.position]);
        let runner_up = self.other.map_or(0.0, score);
        Contribution {
            evidence,
            chosen,
            runner_up,
            difference: finite(chosen - runner_up),
        }
    }
}

/// Extreme weights of opposite sign may differ by more than a number can say.
fn finite(difference: f64) -> f64 {
    difference.clamp(f64::MIN, f64::MAX)
}

impl Explanation {
    /// Names the positions, for reading. Without a text for each of them, the last ones stay without.
    pub fn with_tokens<S: Into<String>>(mut self, tokens: impl IntoIterator<Item = S>) -> Self {
        for (decision, token) in self.decisions.iter_mut().zip(tokens) {
            decision.token = Some(token.into());
        }
        self
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, decision) in self.decisions.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{decision}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |probability: f64| format!("{:.1} %", probability * 100.0);
        write!(f, "{}", self.position + 1)?;
        if let Some(token) = &self.token {
            write!(f, "  {}", escape(token))?;
        }
        write!(f, "  {} {}", escape(&self.label), percent(self.probability))?;
        match &self.runner_up {
            Some(other) => writeln!(
                f,
                ", rather than {} {} ({})",
                escape(&other.label),
                percent(other.probability),
                signed(self.margin)
            )?,
            None => writeln!(f, ", no other label is possible")?,
        }
        let names: Vec<String> = self
            .contributions
            .iter()
            .map(|one| one.evidence.to_string())
            .collect();
        let column = names.iter().map(|name| width(name)).max().unwrap_or(0).min(50);
        for (contribution, name) in self.contributions.iter().zip(&names) {
            let [difference, chosen, other] = [
                contribution.difference,
                contribution.chosen,
                contribution.runner_up,
            ]
            .map(signed);
            match &self.runner_up {
                Some(_) => writeln!(f, "  {difference:>9}  {name:<column$}  {chosen} against {other}")?,
                None => writeln!(f, "  {difference:>9}  {name}")?,
            }
        }
        if self.others.count > 0 {
            let count = grouped(self.others.count);
            writeln!(f, "  {:>9}  {count} more", signed(self.others.difference))?;
        }
        Ok(())
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::Observation { name, value } => write_observation(f, name, *value),
            Evidence::Step {
                name,
                value,
                labels,
                place,
            } => {
                write_labels(f, labels, *place)?;
                f.write_str(" with ")?;
                write_observation(f, name, *value)
            }
            Evidence::Transition { labels, place } => write_labels(f, labels, *place),
            Evidence::Bias => f.write_str("bias of the label"),
        }
    }
}

fn write_observation(f: &mut fmt::Formatter<'_>, name: &str, value: f32) -> fmt::Result {
    f.write_str(&escape(name))?;
    if value == 1.0 {
        Ok(())
    } else {
        write!(f, " × {value}")
    }
}

/// Labels in a row, with brackets around the one that is decided about.
fn write_labels(f: &mut fmt::Formatter<'_>, labels: &[String], decided: usize) -> fmt::Result {
    for (place, label) in labels.iter().enumerate() {
        let arrow = if place > 0 { " → " } else { "" };
        let label = escape(label);
        if place == decided {
            write!(f, "{arrow}[{label}]")?;
        } else {
            write!(f, "{arrow}{label}")?;
        }
    }
    Ok(())
}
