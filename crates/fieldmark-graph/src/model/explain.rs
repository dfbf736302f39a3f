//! [`GraphExplanation`]: why the variables of an instance got their labels, and what the runners-up were.
//!
//! The score of a labelling is a sum of weights, so what speaks for the label of a variable and against another can be
//! told exactly: keep all other labels, exchange this one, and see which weights come and go. The contributions to a
//! variable add up to the difference of the two scores.

use super::GraphModel;
use super::inspect::{one_line, signed};
use crate::data::GraphInstance;
use crate::describe::Per;
use crate::unroll::Unrolled;
use crate::{Beliefs, Conditional};
use serde::Serialize;
use std::fmt;

/// The decisions of a model about all variables of an instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphExplanation {
    /// One decision for each variable: position by position, those of the whole instance last.
    pub decisions: Vec<GraphDecision>,
}

/// Why a variable got its label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphDecision {
    /// The name of its layer.
    pub layer: String,
    /// The position in the instance, from 0 on; nothing in layers with one variable per instance.
    pub position: Option<usize>,
    /// The text at the position, if [`GraphExplanation::with_tokens`] gave it.
    pub token: Option<String>,
    /// The label in the labelling.
    pub label: String,
    /// Its probability, if it is known.
    pub probability: Option<f64>,
    /// The label of the best labelling that differs in this variable alone; none if no other label is possible beside the
    /// labels of all other variables.
    pub runner_up: Option<GraphAlternative>,
    /// By how much the labelling scores higher than the one with the runner-up: the sum of all contributions.
    pub margin: f64,
    /// What speaks most for the label or, if negative, for the runner-up; strongest first.
    pub contributions: Vec<GraphContribution>,
    /// What is left out of the contributions.
    pub others: GraphOthers,
}

/// A label that was not chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphAlternative {
    /// The label.
    pub label: String,
    /// Its probability, if it is known.
    pub probability: Option<f64>,
}

/// One reason for or against a decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphContribution {
    /// The template whose weight it is.
    pub template: String,
    /// What it is.
    #[serde(flatten)]
    pub evidence: GraphEvidence,
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
pub enum GraphEvidence {
    /// An observation and the label of the variable alone.
    Observation {
        /// Its name.
        name: String,
        /// Its value.
        value: f32,
    },
    /// An observation and the labels of several variables.
    Joint {
        /// Its name.
        name: String,
        /// Its value.
        value: f32,
        /// The chosen labels of the variables that are joined.
        labels: Vec<GraphNeighbour>,
        /// Which of the labels is the one of the variable.
        place: usize,
    },
    /// The labels of several variables.
    Labels {
        /// The chosen labels of the variables that are joined.
        labels: Vec<GraphNeighbour>,
        /// Which of the labels is the one of the variable.
        place: usize,
    },
    /// The bias of the label.
    Bias,
}

/// A label of a variable that a factor joins with others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphNeighbour {
    /// The name of its layer.
    pub layer: String,
    /// Its position in the instance, from 0 on; nothing in layers with one variable per instance.
    pub position: Option<usize>,
    /// The label.
    pub label: String,
}

/// Contributions that are not listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GraphOthers {
    /// How many.
    pub count: usize,
    /// The sum of their differences.
    pub difference: f64,
}

impl GraphModel {
    /// Explains a labelling of an instance, with the `most` strongest contributions for each variable. `unrolled` is the
    /// graph of the instance, and `beliefs` give probabilities if they are there.
    ///
    /// # Panics
    /// If the graph is not that of the instance, or the labelling none of the graph.
    pub fn explain(
        &self,
        instance: GraphInstance<'_>,
        unrolled: &Unrolled,
        labels: &[u32],
        beliefs: Option<&Beliefs<'_>>,
        most: usize,
    ) -> GraphExplanation {
        let places = self.structure.places(instance.len());
        let mut conditional = Conditional::default();
        let mut decide = |(variable, layer, position): (u32, usize, u32)| {
            conditional.compute(unrolled.graph(), labels, variable);
            let chosen = labels[variable as usize];
            let comparison = Comparison {
                model: self,
                instance,
                unrolled,
                labels,
                variable,
                other: runner_up(&conditional, chosen),
            };
            let probability = |label: u32| beliefs.map(|beliefs| beliefs.variable(variable)[label as usize]);
            comparison.decision(layer, position, probability, most)
        };
        let decisions = places.variables(instance.len()).map(&mut decide).collect();
        GraphExplanation { decisions }
    }
}

/// The label that scores highest besides the chosen one, of those that are possible.
fn runner_up(conditional: &Conditional, chosen: u32) -> Option<u32> {
    let labels = (0..).zip(conditional.scores.iter().zip(&conditional.violations));
    let others = labels.filter(|(label, (_, violations))| *label != chosen && **violations == 0);
    // Of equally good labels the first.
    let best = others.reduce(|best, other| if other.1.0 > best.1.0 { other } else { best });
    best.map(|(label, _)| label)
}

/// A labelling against the one that differs in one variable.
struct Comparison<'a> {
    model: &'a GraphModel,
    instance: GraphInstance<'a>,
    unrolled: &'a Unrolled,
    labels: &'a [u32],
    variable: u32,
    other: Option<u32>,
}

impl Comparison<'_> {
    fn decision(
        &self,
        layer: usize,
        position: u32,
        probability: impl Fn(u32) -> Option<f64>,
        most: usize,
    ) -> GraphDecision {
        let mut all = Vec::new();
        for factor in self.unrolled.graph().factors_of(self.variable) {
            self.factor(factor, &mut all);
        }
        all.retain(|contribution| contribution.difference != 0.0);
        all.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()));
        // The sum of nothing is -0 otherwise.
        let sum = |list: &[GraphContribution]| list.iter().fold(0.0, |sum, one| sum + one.difference);
        let margin = sum(&all);
        let rest = all.split_off(most.min(all.len()));
        let chosen = self.labels[self.variable as usize];
        let name = |other: u32| self.model.labels[layer].name(other).to_owned();
        let own = self.neighbour(layer, position, chosen);
        GraphDecision {
            runner_up: self.other.map(|other| GraphAlternative {
                label: name(other),
                probability: probability(other),
            }),
            layer: own.layer,
            position: own.position,
            token: None,
            label: own.label,
            probability: probability(chosen),
            margin,
            contributions: all,
            others: GraphOthers {
                count: rest.len(),
                difference: sum(&rest),
            },
        }
    }

    /// What the weights of a factor say.
    fn factor(&self, factor: usize, all: &mut Vec<GraphContribution>) {
        let graph = self.unrolled.graph();
        let template = graph.template_of(factor) as usize;
        let (structure, weights) = (&self.model.structure, &self.model.weights);
        let scope = graph.scope(factor);
        let positions = self.unrolled.positions(factor);
        let chosen: Vec<u32> = scope.iter().map(|&at| self.labels[at as usize]).collect();
        let Some(place) = scope.iter().position(|&at| at == self.variable) else {
            return;
        };
        let other = self.other.map(|other| {
            let mut labels = chosen.clone();
            labels[place] = other;
            labels
        });
        let layers = &structure.templates[template].elementary.layers;
        let neighbours = || -> Vec<GraphNeighbour> {
            let joined = layers.iter().zip(positions).zip(&chosen);
            joined
                .map(|((&layer, &position), &label)| self.neighbour(layer, position, label))
                .collect()
        };
        let mut add = |evidence: GraphEvidence, score: &dyn Fn(&[u32]) -> f64| {
            let (chosen, runner_up) = (score(&chosen), other.as_deref().map_or(0.0, score));
            all.push(GraphContribution {
                template: structure.templates[template].elementary.name.clone(),
                evidence,
                chosen,
                runner_up,
                difference: chosen - runner_up,
            });
        };
        let is_alone = scope.len() == 1;
        let bias = match is_alone {
            true => GraphEvidence::Bias,
            false => GraphEvidence::Labels {
                labels: neighbours(),
                place,
            },
        };
        let weight = |feature: Option<usize>| feature.map_or(0.0, |feature| weights[feature]);
        add(bias, &|labels| weight(structure.bias(template, labels)));
        let mut scratch = Vec::new();
        structure.for_each_observation(template, self.instance, positions, &mut scratch, |id, value| {
            if id as usize >= structure.observations {
                return;
            }
            let name = self.model.observations.name(id).to_owned();
            let evidence = match is_alone {
                true => GraphEvidence::Observation { name, value },
                false => GraphEvidence::Joint {
                    name,
                    value,
                    labels: neighbours(),
                    place,
                },
            };
            let score = |labels: &[u32]| f64::from(value) * weight(structure.feature(template, id, labels));
            add(evidence, &score);
        });
    }

    fn neighbour(&self, layer: usize, position: u32, label: u32) -> GraphNeighbour {
        let described = &self.model.description().layers[layer];
        GraphNeighbour {
            layer: described.name.clone(),
            position: (described.per == Per::Position).then_some(position as usize),
            label: self.model.labels[layer].name(label).to_owned(),
        }
    }
}

impl GraphExplanation {
    /// Names the positions, for reading. Without a text for each of them, the last ones stay without.
    pub fn with_tokens<S: Into<String>>(mut self, tokens: impl IntoIterator<Item = S>) -> Self {
        let tokens: Vec<String> = tokens.into_iter().map(Into::into).collect();
        for decision in &mut self.decisions {
            decision.token = decision.position.and_then(|at| tokens.get(at).cloned());
        }
        self
    }
}

impl fmt::Display for GraphExplanation {
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

impl fmt::Display for GraphDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_share = |label: &str, probability: Option<f64>| match probability {
            Some(probability) => format!("{} {:.1} %", one_line(label), probability * 100.0),
            None => one_line(label),
        };
        match self.position {
            Some(position) => write!(f, "{}", position + 1)?,
            None => f.write_str("all")?,
        }
        if let Some(token) = &self.token {
            write!(f, "  {}", one_line(token))?;
        }
        let label = with_share(&self.label, self.probability);
        write!(f, "  {}: {label}", one_line(&self.layer))?;
        match &self.runner_up {
            Some(other) => writeln!(
                f,
                ", rather than {} ({})",
                with_share(&other.label, other.probability),
                signed(self.margin)
            )?,
            None => writeln!(f, ", no other label is possible")?,
        }
        let named = |one: &GraphContribution| {
            let mut name = String::new();
            // Writing to a string cannot fail.
            let _ = one.evidence.write(&mut name, self);
            name
        };
        let names: Vec<String> = self.contributions.iter().map(named).collect();
        let width = |name: &String| name.chars().count();
        let column = names.iter().map(width).max().unwrap_or(0).min(50);
        for (contribution, name) in self.contributions.iter().zip(&names) {
            let [difference, chosen, other] = [
                contribution.difference,
                contribution.chosen,
                contribution.runner_up,
            ]
            .map(signed);
            let template = one_line(&contribution.template);
            match &self.runner_up {
                Some(_) => writeln!(
                    f,
                    "  {difference:>9}  {name:<column$}  {chosen} against {other}  {template}"
                )?,
                None => writeln!(f, "  {difference:>9}  {name:<column$}  {template}")?,
            }
        }
        if self.others.count > 0 {
            writeln!(
                f,
                "  {:>9}  {} more",
                signed(self.others.difference),
                self.others.count
            )?;
        }
        Ok(())
    }
}

impl GraphEvidence {
    /// Writes what it is about a variable.
    fn write(&self, f: &mut String, decision: &GraphDecision) -> fmt::Result {
        match self {
            GraphEvidence::Observation { name, value } => write_observation(f, name, *value),
            GraphEvidence::Joint {
                name,
                value,
                labels,
                place,
            } => {
                write_labels(f, labels, *place, decision)?;
                f.push_str(" with ");
                write_observation(f, name, *value)
            }
            GraphEvidence::Labels { labels, place } => write_labels(f, labels, *place, decision),
            GraphEvidence::Bias => {
                f.push_str("bias of the label");
                Ok(())
            }
        }
    }
}

fn write_observation(f: &mut String, name: &str, value: f32) -> fmt::Result {
    use fmt::Write;
    f.push_str(&one_line(name));
    if value == 1.0 {
        Ok(())
    } else {
        write!(f, " × {value}")
    }
}

/// Labels that are joined, in the order of their positions, with brackets around the one that is decided about. Those of
/// other layers have the name of their layer, and how far they are away unless they are here: `chunk[-1] I-NP` is the label of
/// the position before. In the same layer, what has no position is next to here. About the label of a whole instance, all have
/// their positions.
fn write_labels(
    f: &mut String,
    labels: &[GraphNeighbour],
    decided: usize,
    decision: &GraphDecision,
) -> fmt::Result {
    use fmt::Write;
    let mut ordered: Vec<(usize, &GraphNeighbour)> = labels.iter().enumerate().collect();
    ordered.sort_by_key(|(_, neighbour)| neighbour.position.unwrap_or(usize::MAX));
    for (index, &(place, neighbour)) in ordered.iter().enumerate() {
        if index > 0 {
            let is_step = ordered[index - 1].1.layer == neighbour.layer;
            f.push_str(if is_step { " → " } else { " · " });
        }
        let label = one_line(&neighbour.label);
        if place == decided {
            write!(f, "[{label}]")?;
            continue;
        }
        let is_other = neighbour.layer != decision.layer;
        if is_other {
            f.push_str(&one_line(&neighbour.layer));
            if let (Some(here), Some(there)) = (decision.position, neighbour.position)
                && here != there
            {
                let sign = if there < here { '-' } else { '+' };
                write!(f, "[{sign}{}]", here.abs_diff(there))?;
            }
            f.push(' ');
        }
        f.push_str(&label);
        match (decision.position, neighbour.position) {
            (Some(here), Some(there)) if !is_other && here.abs_diff(there) > 1 => {
                write!(f, " at {}", there + 1)?;
            }
            (None, Some(there)) => write!(f, " at {}", there + 1)?,
            _ => {}
        }
    }
    Ok(())
}
