//! Naive Bayes and the hidden Markov model: baselines that are estimated by counting.
//!
//! Both are chains in disguise: their conditional distribution p(y|x) is that of a chain model whose weights
//! are logarithms of probabilities. Naive Bayes, p(y,x) = p(y) ∏ p(x_i|y), has order 0; the first-order hidden
//! Markov model, p(y,x) = ∏_t p(y_t|y_{t−1}) ∏ p(x_ti|y_t), has order 1 (Rabiner 1989). Probabilities are
//! relative frequencies with additive smoothing, and [`UNKNOWN`] stands for observations that were not seen.

use crate::ChainModel;
use crate::features::{FeatureTable, TooManyFeatures};
use crate::structure::{Strategy, Structure, StructureError, StructureOptions};
use crate::tuples::{Lengths, Tuples};
use fieldmark_core::{Dataset, Gold};

/// The observation that stands for all that were not seen in training.
pub const UNKNOWN: &str = "<unknown>";

/// A model that is estimated by counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generative {
    /// Positions are independent.
    NaiveBayes,
    /// Labels depend on the label before.
    HiddenMarkov,
}

/// Estimates a generative model. `smoothing` is added to every count.
///
/// Positions whose label is unknown count for nothing, those with k possible labels for 1/k of each.
pub fn estimate(kind: Generative, mut data: Dataset, smoothing: f64) -> Result<ChainModel, StructureError> {
    let labels = data.labels.len();
    if labels == 0 {
        return Err(StructureError::NoLabels);
    }
    check_values(&data)?;
    data.observations.intern(UNKNOWN);
    let structure = full_structure(kind, &data)?;
    let counts = Counts::new(&data);
    let rows = data.observations.len();
    let log = |count: f64, total: f64, outcomes: usize| {
        ((count + smoothing) / (total + smoothing * outcomes as f64))
            .max(f64::MIN_POSITIVE)
            .ln()
    };
    let mut weights = Vec::with_capacity(structure.weights());
    for row in 0..rows {
        for label in 0..labels {
            weights.push(log(
                counts.emissions[row * labels + label],
                counts.emitted[label],
                rows,
            ));
        }
    }
    let boundary = labels as u32;
    for tuple in structure.tuples().iter() {
        weights.push(match *tuple {
            [from, to] if from == boundary => {
                log(counts.starts[to as usize], counts.starts.iter().sum(), labels)
            }
            [_, to] if to == boundary => 0.0,
            [from, to] => {
                let row = &counts.steps[from as usize * labels..][..labels];
                log(row[to as usize], row.iter().sum(), labels)
            }
            _ => 0.0,
        });
    }
    if kind == Generative::NaiveBayes {
        let total = counts.labels.iter().sum();
        weights.extend(counts.labels.iter().map(|&count| log(count, total, labels)));
    }
    Ok(ChainModel::new(data.labels, &data.observations, &structure, &weights).with_unknown(UNKNOWN))
}

/// Values are counts, so none may be negative.
fn check_values(data: &Dataset) -> Result<(), StructureError> {
    for (number, instance) in (1..).zip(data.instances()) {
        let mut values = instance
            .positions()
            .flat_map(|position| data.unary.iter(position));
        if let Some((id, _)) = values.find(|&(_, value)| value < 0.0) {
            return Err(StructureError::NegativeValue {
                observation: data.observations.name(id).to_owned(),
                first: number,
            });
        }
    }
    Ok(())
}

/// Every observation with every label, and for the hidden Markov model every label pair.
fn full_structure(kind: Generative, data: &Dataset) -> Result<Structure, StructureError> {
    let labels = data.labels.len();
    let rows = data.observations.len();
    if rows
        .checked_mul(labels)
        .is_none_or(|cells| cells > u32::MAX as usize)
    {
        return Err(TooManyFeatures.into());
    }
    let order = usize::from(kind == Generative::HiddenMarkov);
    let options = StructureOptions {
        order,
        states: Strategy::All,
        transitions: Strategy::All,
        label_bias: kind == Generative::NaiveBayes,
        boundaries: kind == Generative::HiddenMarkov,
        ..StructureOptions::default()
    };
    let unary = FeatureTable::build(rows, |_, columns| columns.extend(0..labels as u32))?;
    let lengths = Lengths {
        order,
        lower_orders: true,
        boundaries: options.boundaries,
    };
    let tuples = match kind {
        Generative::NaiveBayes => Some(Tuples::from_list(labels, 0, [])),
        Generative::HiddenMarkov => Tuples::all(labels, lengths, usize::MAX),
    };
    let tuples = tuples.ok_or(TooManyFeatures)?;
    Ok(Structure::assemble(
        options,
        labels,
        unary,
        Vec::new(),
        FeatureTable::empty(rows),
        tuples,
    ))
}

struct Counts {
    /// Observation × label.
    emissions: Vec<f64>,
    /// Observations with each label.
    emitted: Vec<f64>,
    labels: Vec<f64>,
    starts: Vec<f64>,
    steps: Vec<f64>,
}

impl Counts {
    fn new(data: &Dataset) -> Self {
        let labels = data.labels.len();
        let mut counts = Self {
            emissions: vec![0.0; data.observations.len() * labels],
            emitted: vec![0.0; labels],
            labels: vec![0.0; labels],
            starts: vec![0.0; labels],
            steps: vec![0.0; labels * labels],
        };
        for instance in data.instances() {
            let mut before: Vec<(usize, f64)> = Vec::new();
            for (t, position) in instance.positions().enumerate() {
                let now = shares(instance.gold(t));
                for &(label, share) in &now {
                    counts.labels[label] += share;
                    for (id, value) in data.unary.iter(position) {
                        let value = f64::from(value) * share;
                        counts.emissions[id as usize * labels + label] += value;
                        counts.emitted[label] += value;
                    }
                    if t == 0 {
                        counts.starts[label] += share;
                    }
                    for &(from, from_share) in &before {
                        counts.steps[from * labels + label] += from_share * share;
                    }
                }
                before = now;
            }
        }
        counts
    }
}

fn shares(gold: Gold<'_>) -> Vec<(usize, f64)> {
    match gold {
        Gold::Known(label) => vec![(label as usize, 1.0)],
        Gold::Ambiguous(set) => set
            .iter()
            .map(|&label| (label as usize, 1.0 / set.len() as f64))
            .collect(),
        Gold::Unknown => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Constraints;
    use fieldmark_core::DatasetBuilder;

    /// Sequences of (observation, label) with one observation each.
    fn data(sequences: &[&[(u32, u32)]]) -> Dataset {
        let mut builder = DatasetBuilder::new();
        for name in ["a", "b", "c"] {
            builder.observations.intern(name);
        }
        for name in ["X", "Y"] {
            builder.labels.intern(name);
        }
        for sequence in sequences {
            for &(observation, label) in *sequence {
                builder.observe(observation, 1.0);
                builder.end_position(Gold::Known(label)).unwrap();
            }
            builder.end_instance().unwrap();
        }
        builder.finish()
    }

    const TRAIN: [&[(u32, u32)]; 2] = [&[(0, 0), (1, 1), (0, 0)], &[(2, 1), (1, 1)]];

    /// p(observation | label) by hand: three observations and the unknown one, one added to each count.
    fn emission(observation: usize, label: usize) -> f64 {
        let counts = [[2.0, 0.0], [0.0, 2.0], [0.0, 1.0]];
        (counts[observation][label] + 1.0) / ([2.0, 3.0][label] + 4.0)
    }

    #[test]
    fn naive_bayes_is_bayes_law() {
        let model = estimate(Generative::NaiveBayes, data(&TRAIN), 1.0).unwrap();
        let test = data(&[&[(2, 0)]]);
        let mut tagger = model.tagger();
        let mut inference = tagger.load(test.instance(0), &Constraints::none()).unwrap();
        let joint = |label: usize| ([2.0, 3.0][label] + 1.0) / 7.0 * emission(2, label);
        let expected = joint(1) / (joint(0) + joint(1));
        let mut marginals = Vec::new();
        inference.marginals(&mut marginals).unwrap();
        assert!((marginals[1] - expected).abs() < 1e-12);
    }

    #[test]
    fn hidden_markov_posterior_by_enumeration() {
        let model = estimate(Generative::HiddenMarkov, data(&TRAIN), 1.0).unwrap();
        let observations = [1usize, 0, 2];
        let start = [2.0 / 4.0, 2.0 / 4.0];
        let steps = [[1.0 / 3.0, 2.0 / 3.0], [2.0 / 4.0, 2.0 / 4.0]];
        let mut total = 0.0;
        let mut second_is_y = 0.0;
        for code in 0..8usize {
            let labels = [code & 1, code >> 1 & 1, code >> 2];
            let mut joint = start[labels[0]];
            for t in 0..3 {
                joint *= emission(observations[t], labels[t]);
                if t > 0 {
                    joint *= steps[labels[t - 1]][labels[t]];
                }
            }
            total += joint;
            second_is_y += if labels[1] == 1 { joint } else { 0.0 };
        }
        let test = data(&[&[(1, 0), (0, 0), (2, 0)]]);
        let mut tagger = model.tagger();
        let mut inference = tagger.load(test.instance(0), &Constraints::none()).unwrap();
        let mut marginals = Vec::new();
        inference.marginals(&mut marginals).unwrap();
        assert!((marginals[3] - second_is_y / total).abs() < 1e-12);
    }

    #[test]
    fn unknown_names_find_the_unknown_observation() {
        let model = estimate(Generative::NaiveBayes, data(&TRAIN), 0.5).unwrap();
        let unknown = model.observations().get(UNKNOWN);
        assert!(unknown.is_some());
        assert_eq!(
            model.find_observation(fieldmark_core::Alphabet::hash("new"), "new"),
            unknown
        );
    }
}
