//! The likelihood by its definition: every label sequence, and every feature found in the tables.

use fieldmark_chain::Structure;
use fieldmark_core::{Dataset, Instance};

/// The features of a label sequence with their values.
pub fn features(structure: &Structure, instance: Instance<'_>, labels: &[u32]) -> Vec<(usize, f64)> {
    let data = instance.dataset;
    let mut found = Vec::new();
    for (t, position) in instance.positions().enumerate() {
        for (id, value) in data.unary.iter(position) {
            if let Some(feature) = structure.unary().find(id, labels[t]) {
                found.push((structure.unary_weights().start + feature, f64::from(value)));
            }
        }
        if !structure.bias_weights().is_empty() {
            found.push((structure.bias_weights().start + labels[t] as usize, 1.0));
        }
        if t == 0 {
            continue;
        }
        let Ok(pair) = structure.pairs().binary_search(&[labels[t - 1], labels[t]]) else {
            continue;
        };
        for (id, value) in data.pair.iter(position) {
            if let Some(feature) = structure.pair().find(id, pair as u32) {
                found.push((structure.pair_weights().start + feature, f64::from(value)));
            }
        }
    }
    let mut padded = labels.to_vec();
    if structure.options().boundaries {
        let boundary = structure.labels() as u32;
        padded.insert(0, boundary);
        padded.push(boundary);
    }
    for length in 2..=structure.options().order + 1 {
        for window in padded.windows(length) {
            if let Some(index) = structure.tuples().find(window) {
                found.push((structure.tuple_weights().start + index, 1.0));
            }
        }
    }
    found
}

fn log_sum(scores: &[f64]) -> f64 {
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    max + scores.iter().map(|score| (score - max).exp()).sum::<f64>().ln()
}

/// All label sequences of an instance.
pub fn sequences(labels: usize, length: usize) -> impl Iterator<Item = Vec<u32>> {
    (0..labels.pow(length as u32)).map(move |code| {
        let label = |t: usize| (code / labels.pow(t as u32) % labels) as u32;
        (0..length).map(label).collect()
    })
}

pub fn score(weights: &[f64], features: &[(usize, f64)]) -> f64 {
    features
        .iter()
        .map(|&(feature, value)| weights[feature] * value)
        .sum()
}

/// Whether the model has the sequence at all.
pub fn is_possible(structure: &Structure, labels: &[u32]) -> bool {
    structure.allowed_transitions().is_none_or(|allowed| {
        let begins = labels
            .first()
            .is_none_or(|&label| allowed.starts().any(|start| start == label));
        begins && labels.windows(2).all(|pair| allowed.allows(pair[0], pair[1]))
    })
}

pub fn is_allowed(instance: Instance<'_>, labels: &[u32]) -> bool {
    labels
        .iter()
        .enumerate()
        .all(|(t, &label)| instance.gold(t).allows(label))
}

/// log Z − log Z(allowed) of an instance; adds its gradient.
pub fn instance_loss(
    structure: &Structure,
    instance: Instance<'_>,
    weights: &[f64],
    gradient: &mut [f64],
) -> f64 {
    let all: Vec<_> = sequences(structure.labels(), instance.len())
        .filter(|sequence| is_possible(structure, sequence))
        .map(|sequence| {
            let found = features(structure, instance, &sequence);
            let score = score(weights, &found);
            (found, score, is_allowed(instance, &sequence))
        })
        .collect();
    let scores: Vec<f64> = all.iter().map(|s| s.1).collect();
    let allowed: Vec<f64> = all.iter().filter(|s| s.2).map(|s| s.1).collect();
    let (log_z, log_allowed) = (log_sum(&scores), log_sum(&allowed));
    for (found, score, allowed) in all {
        let mut share = (score - log_z).exp();
        if allowed {
            share -= (score - log_allowed).exp();
        }
        for (feature, value) in found {
            gradient[feature] += share * value;
        }
    }
    log_z - log_allowed
}

/// Σ log Z − log Z(allowed) and its gradient.
pub fn loss_and_gradient(structure: &Structure, data: &Dataset, weights: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; weights.len()];
    let losses = data.instances();
    let loss = losses
        .map(|instance| instance_loss(structure, instance, weights, &mut gradient))
        .sum();
    (loss, gradient)
}
