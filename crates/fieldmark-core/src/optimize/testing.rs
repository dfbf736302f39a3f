//! Objectives for the tests, and a source of random numbers.

use super::{Objective, StochasticObjective};
use crate::random::SplitMix64;

/// Random numbers for tests.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform between −1 and 1.
    pub(super) fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(super) fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.signed()).collect()
    }
}

/// ½ Σ aᵢ (xᵢ − cᵢ)²
pub(super) struct Quadratic {
    pub(super) curvature: Vec<f64>,
    pub(super) center: Vec<f64>,
}

impl Quadratic {
    pub(super) fn random(len: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let curvature = (0..len).map(|_| (3.0 * random.signed()).exp()).collect();
        Quadratic {
            curvature,
            center: random.vector(len),
        }
    }
}

impl Objective for Quadratic {
    fn len(&self) -> usize {
        self.center.len()
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut loss = 0.0;
        for i in 0..x.len() {
            let d = x[i] - self.center[i];
            gradient[i] += self.curvature[i] * d;
            loss += 0.5 * self.curvature[i] * d * d;
        }
        loss
    }
}

/// The valley of Rosenbrock, in pairs of variables.
pub(super) struct Rosenbrock(pub(super) usize);

impl Objective for Rosenbrock {
    fn len(&self) -> usize {
        self.0
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut loss = 0.0;
        for (x, g) in x.chunks_exact(2).zip(gradient.chunks_exact_mut(2)) {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            loss += a * a + 100.0 * b * b;
            g[0] += -2.0 * a - 400.0 * x[0] * b;
            g[1] += 200.0 * b;
        }
        loss
    }
}

/// Logistic regression on random sparse instances, some weights frequent and most rare, as in text.
pub(super) struct Logistic {
    weights: usize,
    rows: Vec<Vec<(u32, f64)>>,
    positive: Vec<bool>,
}

impl Logistic {
    pub(super) fn random(instances: usize, weights: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let truth: Vec<f64> = (0..weights).map(|_| 3.0 * random.signed()).collect();
        let mut rows = Vec::new();
        let mut positive = Vec::new();
        for _ in 0..instances {
            let row: Vec<(u32, f64)> = (0..10)
                .map(|_| {
                    let rank = (random.signed() / 2.0 + 0.5).powi(3) * weights as f64;
                    (
                        (rank as usize).min(weights - 1) as u32,
                        1.0 + 0.1 * random.signed(),
                    )
                })
                .collect();
            let score: f64 = row.iter().map(|&(i, v)| truth[i as usize] * v).sum();
            positive.push(score + 2.0 * random.signed() > 0.0);
            rows.push(row);
        }
        Logistic {
            weights,
            rows,
            positive,
        }
    }
}

impl Objective for Logistic {
    fn len(&self) -> usize {
        self.weights
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        self.evaluate_batch(&all, x, gradient)
    }
}

impl StochasticObjective for Logistic {
    fn instances(&self) -> usize {
        self.rows.len()
    }

    fn evaluate_batch(&mut self, batch: &[u32], x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut loss = 0.0;
        for &index in batch {
            let row = &self.rows[index as usize];
            let score: f64 = row.iter().map(|&(i, v)| x[i as usize] * v).sum();
            let margin = if self.positive[index as usize] {
                score
            } else {
                -score
            };
            loss += (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
            let error = 1.0 / (1.0 + (-score).exp()) - f64::from(u8::from(self.positive[index as usize]));
            for &(i, v) in row {
                gradient[i as usize] += error * v;
            }
        }
        loss
    }
}

/// Compares the gradient with central differences at a random point.
fn check_gradient(objective: &mut dyn Objective, seed: u64) {
    let mut x = Random::new(seed).vector(objective.len());
    let mut gradient = vec![0.0; x.len()];
    objective.evaluate(&x, &mut gradient);
    let mut ignored = vec![0.0; x.len()];
    for i in 0..x.len() {
        let (h, center) = (1e-6, x[i]);
        x[i] = center + h;
        let above = objective.evaluate(&x, &mut ignored);
        x[i] = center - h;
        let below = objective.evaluate(&x, &mut ignored);
        x[i] = center;
        let difference = (above - below) / (2.0 * h);
        assert!(
            (difference - gradient[i]).abs() < 1e-5 * (1.0 + gradient[i].abs()),
            "{i}: {difference} {}",
            gradient[i]
        );
    }
}

#[test]
fn gradients_of_the_test_objectives_match_finite_differences() {
    check_gradient(&mut Quadratic::random(20, 1), 2);
    check_gradient(&mut Rosenbrock(10), 3);
    check_gradient(&mut Logistic::random(30, 40, 4), 5);
}
