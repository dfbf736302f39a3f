//! The likelihood by its definition: every label sequence, and every feature found in the tables.

use fieldmark_chain::Structure;
use fieldmark_core::{Dataset, Instance};

/// The features of a label sequence with their values.
fn features(structure: &Structure, instance: Instance<'_>, labels: &[u32]) -> Vec<(usize, f64)> {
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
    for (index, tuple) in structure.tuples().iter().enumerate() {
        let times = padded
            .windows(tuple.len())
            .filter(|window| window == &tuple)
            .count();
        if times > 0 {
            found.push((structure.tuple_weights().start + index, times as f64));
        }
    }
    found
}

fn log_sum(scores: &[f64]) -> f64 {
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    max + scores.iter().map(|score| (score - max).exp()).sum::<f64>().ln()
}

/// Σ log Z − log Z(allowed) and its gradient.
pub fn loss_and_gradient(structure: &Structure, data: &Dataset, weights: &[f64]) -> (f64, Vec<f64>) {
    let mut loss = 0.0;
    let mut gradient = vec![0.0; weights.len()];
    let labels = structure.labels();
    for instance in data.instances() {
        let mut sequences = Vec::new();
        for code in 0..labels.pow(instance.len() as u32) {
            let sequence: Vec<u32> = (0..instance.len())
                .map(|t| (code / labels.pow(t as u32) % labels) as u32)
                .collect();
            let found = features(structure, instance, &sequence);
            let score: f64 = found.iter().map(|&(f, value)| weights[f] * value).sum();
            let allowed = (0..instance.len()).all(|t| instance.gold(t).allows(sequence[t]));
            sequences.push((found, score, allowed));
        }
        let scores: Vec<f64> = sequences.iter().map(|s| s.1).collect();
        let allowed: Vec<f64> = sequences.iter().filter(|s| s.2).map(|s| s.1).collect();
        let (log_z, log_allowed) = (log_sum(&scores), log_sum(&allowed));
        loss += log_z - log_allowed;
        for (found, score, allowed) in sequences {
            let mut share = (score - log_z).exp();
            if allowed {
                share -= (score - log_allowed).exp();
            }
            for (feature, value) in found {
                gradient[feature] += share * value;
            }
        }
    }
    (loss, gradient)
}
