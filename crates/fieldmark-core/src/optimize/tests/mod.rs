//! The optimisers as a whole, on problems whose answers are known.

mod lbfgs;
mod online;

use super::{Lbfgs, LbfgsOptions, Objective, Prior};

/// Runs to a small gradient.
fn exact(c1: f64, c2: f64) -> LbfgsOptions {
    LbfgsOptions {
        prior: Prior { c1, c2 },
        epsilon: 1e-9,
        period: 0,
        max_iterations: Some(2000),
        ..Default::default()
    }
}

fn run(objective: &mut dyn Objective, x: Vec<f64>, options: LbfgsOptions) -> Lbfgs {
    let mut optimizer = Lbfgs::new(x, options).unwrap();
    while let Some(iteration) = optimizer.step(objective).unwrap() {
        assert!(iteration.loss.is_finite() && iteration.gradient_norm.is_finite());
        assert_eq!(iteration, *optimizer.last());
    }
    optimizer
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Gives damaged content a valid checksum, so that the checks behind it are reached.
fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}
