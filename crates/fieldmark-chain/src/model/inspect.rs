//! [`Inspection`]: what is in a model, for people and programs to read.

use super::ChainModel;
use super::table::{Table, grouped, signed, width};
use super::text::{escape, strategy_name};
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;

/// Sizes, transitions and strongest features of a [`ChainModel`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Counts and sizes.
    pub sizes: Sizes,
    /// Weights of neighbouring labels.
    pub transitions: Transitions,
    /// The strongest observations of each label.
    pub labels: Vec<LabelFeatures>,
    /// The strongest observations of label pairs.
    pub steps: Strongest<StepFeature>,
}

/// Counts and sizes of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// The order of the chain.
    pub order: usize,
    /// The algorithm by which the weights were found, if it was noted.
    pub algorithm: Option<String>,
    /// Which observations have weights with labels: `all`, `supported` or `default-only`.
    pub states: &'static str,
    /// Which label tuples have weights: `all`, `supported` or `default-only`.
    pub transitions: &'static str,
    /// Pairs of labels that may be neighbours, when the others are forbidden.
    pub allowed_transitions: Option<usize>,
    /// Number of labels.
    pub labels: usize,
    /// Number of observations.
    pub observations: usize,
    /// Weights of observation × label.
    pub state_weights: usize,
    /// Weights of observation × label pair.
    pub step_weights: usize,
    /// Weights of label tuples.
    pub transition_weights: usize,
    /// Biases of labels.
    pub bias_weights: usize,
    /// Weights that are not zero.
    pub active_weights: usize,
    /// States of the automaton.
    pub automaton_states: usize,
    /// Steps between states of the automaton.
    pub automaton_arcs: usize,
    /// Bytes of names, features, weights and automaton together, whether in memory or in a mapped file.
    pub memory_bytes: usize,
}

/// Weights of neighbouring labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Transitions {
    /// Positions are independent.
    None,
    /// A chain of order 1: one label after the other.
    Table {
        /// The earlier labels; the start of the sequence comes last, as `(start)`, if it has weights.
        from: Vec<String>,
        /// The later labels; the end of the sequence comes last, as `(end)`, if it has weights.
        to: Vec<String>,
        /// A row for each earlier label, nothing where a pair has no weight.
        weights: Vec<Vec<Option<f64>>>,
    },
    /// A chain of higher order: the strongest tuples.
    Tuples(Strongest<TupleFeature>),
}

/// The largest and the smallest weights, strongest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strongest<F> {
    /// The largest above zero.
    pub positive: Vec<F>,
    /// The smallest below zero.
    pub negative: Vec<F>,
}

/// The strongest observations of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelFeatures {
    /// The label.
    pub label: String,
    /// Its bias, if the model has one.
    pub bias: Option<f64>,
    /// Number of observations that have a weight with it.
    pub count: usize,
    /// Its strongest observations.
    #[serde(flatten)]
    pub strongest: Strongest<StateFeature>,
}

/// An observation with a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateFeature {
    /// The name of the observation.
    pub observation: String,
    /// The weight.
    pub weight: f64,
}

/// An observation with a label pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepFeature {
    /// The name of the observation.
    pub observation: String,
    /// The earlier label.
    pub from: String,
    /// The later label.
    pub to: String,
    /// The weight.
    pub weight: f64,
}

/// A label tuple.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TupleFeature {
    /// Its labels, with `(start)` and `(end)` for the ends of the sequence.
    pub labels: Vec<String>,
    /// The weight.
    pub weight: f64,
}

impl ChainModel {
    /// What is in the model, with the `most` strongest features of each sign and label.
    pub fn inspect(&self, most: usize) -> Inspection {
        Inspection {
            sizes: self.sizes(),
            transitions: self.transitions(most),
            labels: self.label_features(most),
            steps: self.step_features(most),
        }
    }

    /// Counts and sizes of the model.
    pub fn sizes(&self) -> Sizes {
        let structure = self.structure();
        let automaton = structure.automaton();
        Sizes {
            order: structure.options().order,
            algorithm: self.algorithm().map(str::to_owned),
            states: strategy_name(structure.options().states),
            transitions: strategy_name(structure.options().transitions),
            allowed_transitions: structure
                .allowed_transitions()
                .map(|allowed| allowed.pairs().len()),
            labels: structure.labels(),
            observations: self.observations.len(),
            state_weights: structure.unary_weights().len(),
            step_weights: structure.pair_weights().len(),
            transition_weights: structure.tuple_weights().len(),
            bias_weights: structure.bias_weights().len(),
            active_weights: self.active(),
            automaton_states: automaton.states(),
            automaton_arcs: automaton.arcs().len(),
            memory_bytes: self.memory(),
        }
    }

    fn memory(&self) -> usize {
        let structure = self.structure();
        let tables = [structure.unary(), structure.pair()];
        let numbers: usize = tables
            .iter()
            .map(|table| table.offsets().len() + table.all_columns().len())
            .sum();
        let unrolled = structure.unrolled();
        let lists = || unrolled.arc_tuples.iter().chain(&unrolled.end_tuples);
        let automaton = lists().count() * size_of::<Vec<u32>>()
            + lists().map(Vec::len).sum::<usize>() * 4
            + structure.automaton().arcs().len() * (size_of::<crate::Arc>() + 4)
            + structure.pair_of_arc().len() * 4;
        self.labels.memory() + self.observations.memory() + numbers * 4 + self.weights.len() * 8 + automaton
    }

    /// The name of a label in a tuple, where the ends of the sequence have one too.
    pub(super) fn label_or_edge(&self, label: u32, first: bool) -> &str {
        if (label as usize) < self.labels.len() {
            self.labels.name(label)
        } else if first {
            "(start)"
        } else {
            "(end)"
        }
    }

    fn transitions(&self, most: usize) -> Transitions {
        let tuples = self.structure.tuples();
        let weights = &self.weights[self.structure.tuple_weights()];
        match self.structure.options().order {
            0 => Transitions::None,
            1 => self.transition_table(),
            _ => Transitions::Tuples(strongest(
                weights.iter().copied().zip(tuples.iter()),
                most,
                |weight, tuple| {
                    let name =
                        |(place, &label): (usize, &u32)| self.label_or_edge(label, place == 0).to_owned();
                    TupleFeature {
                        labels: tuple.iter().enumerate().map(name).collect(),
                        weight,
                    }
                },
            )),
        }
    }

    fn transition_table(&self) -> Transitions {
        let labels = self.structure.labels() as u32;
        let edge = u32::from(self.structure.options().boundaries);
        let names = |first| -> Vec<String> {
            (0..labels + edge)
                .map(|label| self.label_or_edge(label, first).to_owned())
                .collect()
        };
        let all = &self.weights[self.structure.tuple_weights()];
        let weight = |from: u32, to: u32| self.structure.tuples().find(&[from, to]).map(|id| all[id]);
        let row = |from| (0..labels + edge).map(|to| weight(from, to)).collect();
        Transitions::Table {
            from: names(true),
            to: names(false),
            weights: (0..labels + edge).map(row).collect(),
        }
    }

    fn label_features(&self, most: usize) -> Vec<LabelFeatures> {
        let unary = self.structure.unary();
        let weights = &self.weights[self.structure.unary_weights()];
        let labels = self.labels.len();
        let mut positive: Vec<Top<u32>> = (0..labels).map(|_| Top::new(most)).collect();
        let mut negative: Vec<Top<u32>> = (0..labels).map(|_| Top::new(most)).collect();
        let mut counts = vec![0; labels];
        for row in 0..unary.rows() as u32 {
            for (&label, &weight) in unary.columns(row).iter().zip(&weights[unary.features(row)]) {
                positive[label as usize].push(weight, row);
                negative[label as usize].push(-weight, row);
                counts[label as usize] += 1;
            }
        }
        let biases = &self.weights[self.structure.bias_weights()];
        let feature = |weight, row| StateFeature {
            observation: self.observations.name(row).to_owned(),
            weight,
        };
        let each = self
            .labels
            .iter()
            .zip(counts)
            .zip(positive.into_iter().zip(negative));
        each.enumerate()
            .map(|(id, ((label, count), (positive, negative)))| LabelFeatures {
                label: label.to_owned(),
                bias: biases.get(id).copied(),
                count,
                strongest: Strongest::new(positive, negative, feature),
            })
            .collect()
    }

    fn step_features(&self, most: usize) -> Strongest<StepFeature> {
        let pair = self.structure.pair();
        let weights = &self.weights[self.structure.pair_weights()];
        let features = (0..pair.rows() as u32).flat_map(|row| {
            let columns = pair.columns(row).iter().map(move |&column| (row, column));
            weights[pair.features(row)].iter().copied().zip(columns)
        });
        strongest(features, most, |weight, (row, column)| {
            let [from, to] = self.structure.pairs()[column as usize];
            StepFeature {
                observation: self.observations.name(row).to_owned(),
                from: self.labels.name(from).to_owned(),
                to: self.labels.name(to).to_owned(),
                weight,
            }
        })
    }
}

/// The largest weights of those that come by, above zero.
struct Top<K> {
    most: usize,
    list: Vec<(f64, K)>,
}

impl<K> Top<K> {
    fn new(most: usize) -> Self {
        Self {
            most,
            list: Vec::new(),
        }
    }

    fn push(&mut self, weight: f64, key: K) {
        if weight > 0.0 && self.most > 0 {
            self.list.push((weight, key));
            // Sorting now and then keeps the list short at a constant cost for each weight.
            if self.list.len() >= self.most.saturating_mul(2).max(64) {
                self.cut();
            }
        }
    }

    /// Of equal weights those that came first stay, as sorting is stable.
    fn cut(&mut self) {
        self.list
            .sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
        self.list.truncate(self.most);
    }
}

impl<F> Strongest<F> {
    fn new<K>(mut positive: Top<K>, mut negative: Top<K>, mut feature: impl FnMut(f64, K) -> F) -> Self {
        positive.cut();
        negative.cut();
        Self {
            positive: positive
                .list
                .into_iter()
                .map(|(weight, key)| feature(weight, key))
                .collect(),
            negative: negative
                .list
                .into_iter()
                .map(|(weight, key)| feature(-weight, key))
                .collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.positive.is_empty() && self.negative.is_empty()
    }
}

fn strongest<K: Copy, F>(
    features: impl Iterator<Item = (f64, K)>,
    most: usize,
    feature: impl FnMut(f64, K) -> F,
) -> Strongest<F> {
    let (mut positive, mut negative) = (Top::new(most), Top::new(most));
    for (weight, key) in features {
        positive.push(weight, key);
        negative.push(-weight, key);
    }
    Strongest::new(positive, negative, feature)
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sizes)?;
        write!(f, "{}", self.transitions)?;
        for label in &self.labels {
            write!(f, "{label}")?;
        }
        if !self.steps.is_empty() {
            writeln!(f, "\nStrongest observations of label pairs")?;
            let name = |step: &StepFeature| {
                let [observation, from, to] =
                    [&step.observation, &step.from, &step.to].map(|name| escape(name));
                (step.weight, format!("{observation}  {from} → {to}"))
            };
            write_strongest(f, &self.steps, name)?;
        }
        Ok(())
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weights = self.state_weights + self.step_weights + self.transition_weights + self.bias_weights;
        writeln!(
            f,
            "Chain model of order {}, states {}, transitions {}",
            self.order, self.states, self.transitions
        )?;
        if let Some(algorithm) = &self.algorithm {
            writeln!(f, "  trained by {algorithm}")?;
        }
        if let Some(allowed) = self.allowed_transitions {
            writeln!(
                f,
                "  {allowed} of {} transitions between labels are allowed",
                self.labels * self.labels
            )?;
        }
        let lines = [
            ("labels", self.labels),
            ("observations", self.observations),
            ("weights", weights),
            ("  observation × label", self.state_weights),
            ("  observation × label pair", self.step_weights),
            ("  label tuples", self.transition_weights),
            ("  label biases", self.bias_weights),
            ("  not zero", self.active_weights),
            ("automaton states", self.automaton_states),
            ("automaton arcs", self.automaton_arcs),
            ("bytes of memory", self.memory_bytes),
        ];
        for (name, count) in lines {
            writeln!(f, "  {name:<28} {:>15}", grouped(count))?;
        }
        Ok(())
    }
}

impl fmt::Display for Transitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transitions::None => Ok(()),
            Transitions::Table { from, to, weights } => {
                let shown = |weight: &Option<f64>| weight.map_or("·".to_owned(), signed);
                let names = |names: &[String]| {
                    names
                        .iter()
                        .map(|name| escape(name).into_owned())
                        .collect::<Vec<_>>()
                };
                let table = Table {
                    head: [&["from \\ to".to_owned()], &names(to)[..]].concat(),
                    rows: names(from)
                        .into_iter()
                        .zip(weights)
                        .map(|(name, row)| std::iter::once(name).chain(row.iter().map(shown)).collect())
                        .collect(),
                };
                write!(f, "\nTransitions\n{table}")
            }
            Transitions::Tuples(tuples) => {
                writeln!(f, "\nStrongest label tuples")?;
                write_strongest(f, tuples, |tuple: &TupleFeature| {
                    let names: Vec<_> = tuple.labels.iter().map(|name| escape(name)).collect();
                    (tuple.weight, names.join(" → "))
                })
            }
        }
    }
}

impl fmt::Display for LabelFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.count == 1 {
            "observation"
        } else {
            "observations"
        };
        write!(f, "\n{}: {} {unit}", escape(&self.label), grouped(self.count))?;
        match self.bias {
            Some(bias) => writeln!(f, ", bias {}", signed(bias))?,
            None => writeln!(f)?,
        }
        let name = |state: &StateFeature| (state.weight, escape(&state.observation).into_owned());
        write_strongest(f, &self.strongest, name)
    }
}

/// Positive and negative features side by side.
fn write_strongest<F>(
    f: &mut fmt::Formatter<'_>,
    strongest: &Strongest<F>,
    name: impl Fn(&F) -> (f64, String),
) -> fmt::Result {
    let cell = |feature: Option<&F>| {
        feature.map_or(String::new(), |feature| {
            let (weight, name) = name(feature);
            format!("{:>9}  {name}", signed(weight))
        })
    };
    let rows = strongest.positive.len().max(strongest.negative.len());
    let left: Vec<String> = (0..rows).map(|row| cell(strongest.positive.get(row))).collect();
    let right: Vec<String> = (0..rows).map(|row| cell(strongest.negative.get(row))).collect();
    let column = left
        .iter()
        .map(|cell| width(cell))
        .max()
        .unwrap_or(0)
        .clamp(24, 60);
    for (left, right) in left.iter().zip(&right) {
        writeln!(f, "{}", format!("  {left:<column$}  {right}").trim_end())?;
    }
    Ok(())
}
