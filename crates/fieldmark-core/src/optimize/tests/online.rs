//! Online L-BFGS: distance to the optimum, batches, determinism, saving, divergence.

use super::{bits, exact, run, seal};
use crate::optimize::testing::Logistic;
use crate::optimize::{
    LbfgsOptions, Objective, OnlineLbfgs, OnlineLbfgsOptions, OptimizeError, Status, StochasticObjective,
};
use proptest::prelude::*;

fn passes(objective: &mut dyn StochasticObjective, options: OnlineLbfgsOptions) -> OnlineLbfgs {
    let mut optimizer = OnlineLbfgs::new(vec![0.0; objective.len()], options).unwrap();
    while let Some(iteration) = optimizer.step(objective).unwrap() {
        assert_eq!(iteration, *optimizer.last());
    }
    optimizer
}

fn limited(max_iterations: u64) -> OnlineLbfgsOptions {
    OnlineLbfgsOptions {
        max_iterations: Some(max_iterations),
        ..Default::default()
    }
}

#[test]
fn the_defaults_come_close_to_the_optimum() {
    for (instances, weights) in [(10, 5), (100, 30), (600, 200), (600, 3000), (1500, 600)] {
        let mut objective = Logistic::random(instances, weights, 77);
        let options = LbfgsOptions {
            epsilon: 1e-6,
            ..exact(0.0, 1.0)
        };
        let optimum = run(&mut objective, vec![0.0; weights], options).last().loss;
        let optimizer = passes(&mut objective, limited(40));
        assert!(matches!(
            optimizer.status(),
            Status::GradientConverged | Status::LossConverged | Status::MaxIterations
        ));
        let excess = optimizer.best_loss() / optimum - 1.0;
        assert!((-1e-9..0.02).contains(&excess), "{instances} {weights}: {excess}");
    }
}

#[test]
fn the_best_loss_is_that_of_the_weights() {
    let mut objective = Logistic::random(300, 100, 5);
    let optimizer = passes(&mut objective, limited(7));
    let x = optimizer.weights();
    let likelihood = objective.evaluate(x, &mut [0.0; 100]);
    let loss = likelihood + x.iter().map(|x| x * x).sum::<f64>();
    assert!((loss - optimizer.best_loss()).abs() < 1e-10 * loss);
}

/// Writes down the batches that it is asked for.
struct Recorder {
    inner: Logistic,
    batches: Vec<Vec<u32>>,
}

impl Objective for Recorder {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.inner.evaluate(x, gradient)
    }
}

impl StochasticObjective for Recorder {
    fn instances(&self) -> usize {
        self.inner.instances()
    }

    fn evaluate_batch(&mut self, batch: &[u32], x: &[f64], gradient: &mut [f64]) -> f64 {
        // The optimiser puts the batch's share of the gradient of the prior there: 2·c2·x·batch/instances.
        let share = batch.len() as f64 / self.instances() as f64;
        assert!(
            gradient
                .iter()
                .zip(x)
                .all(|(g, x)| (g - 2.0 * x * share).abs() <= 1e-12 * x.abs())
        );
        self.batches.push(batch.to_vec());
        self.inner.evaluate_batch(batch, x, gradient)
    }
}

fn batches_of_two_passes(seed: u64) -> Vec<Vec<u32>> {
    let mut objective = Recorder {
        inner: Logistic::random(50, 20, 6),
        batches: Vec::new(),
    };
    passes(
        &mut objective,
        OnlineLbfgsOptions {
            batch_size: Some(8),
            seed,
            ..limited(2)
        },
    );
    objective.batches
}

#[test]
fn a_pass_visits_every_instance_and_evaluates_each_batch_twice() {
    let batches = batches_of_two_passes(1);
    assert_eq!(batches.len(), 2 * 2 * 7);
    assert!(batches.chunks(2).all(|pair| pair[0] == pair[1]));
    let visits = |pass: &[Vec<u32>]| pass.iter().step_by(2).flatten().copied().collect::<Vec<u32>>();
    let (first, second) = (visits(&batches[..14]), visits(&batches[14..]));
    assert_ne!(first, second);
    for mut visited in [first, second] {
        visited.sort_unstable();
        assert_eq!(visited, (0..50).collect::<Vec<u32>>());
    }
    assert_eq!(batches, batches_of_two_passes(1));
    assert_ne!(batches, batches_of_two_passes(2));
}

#[test]
fn too_long_steps_are_reported_and_undone() {
    let mut objective = Logistic::random(300, 100, 8);
    let mut optimizer = OnlineLbfgs::new(
        vec![0.0; 100],
        OnlineLbfgsOptions {
            eta0: 1e4,
            ..limited(50)
        },
    )
    .unwrap();
    while optimizer.step(&mut objective).unwrap().is_some() {}
    assert_eq!(optimizer.status(), Status::Diverged);
    let loss = objective.evaluate(optimizer.weights(), &mut [0.0; 100]);
    assert!(loss.is_finite() && loss <= 300.0 * 2.0f64.ln() + 1e-9);
    let restored = OnlineLbfgs::restore(&optimizer.save()).unwrap();
    assert_eq!(restored.status(), Status::Diverged);
    assert_eq!(restored.weights(), optimizer.weights());
}

/// Logistic regression that is not a number from some evaluation of a batch on.
struct Breaks {
    inner: Logistic,
    left: usize,
}

impl Objective for Breaks {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.inner.evaluate(x, gradient)
    }
}

impl StochasticObjective for Breaks {
    fn instances(&self) -> usize {
        self.inner.instances()
    }

    fn evaluate_batch(&mut self, batch: &[u32], x: &[f64], gradient: &mut [f64]) -> f64 {
        let loss = self.inner.evaluate_batch(batch, x, gradient);
        if self.left == 0 {
            gradient.fill(f64::NAN);
            return f64::NAN;
        }
        self.left -= 1;
        loss
    }
}

#[test]
fn losses_that_are_not_finite_end_the_run_with_the_best_weights() {
    for left in [0, 1, 60, 61] {
        let mut objective = Breaks {
            inner: Logistic::random(400, 50, 9),
            left,
        };
        let optimizer = passes(&mut objective, limited(50));
        assert_eq!(optimizer.status(), Status::Diverged);
        assert!(optimizer.weights().iter().all(|x| x.is_finite()));
        assert!(optimizer.best_loss().is_finite());
        assert_eq!(optimizer.weights().iter().any(|&x| x != 0.0), left >= 40);
    }
}

#[test]
fn bad_starts_options_and_lengths_are_errors() {
    let mut objective = Logistic::random(30, 10, 10);
    let mut optimizer = OnlineLbfgs::new(vec![f64::NAN; 10], OnlineLbfgsOptions::default()).unwrap();
    assert!(matches!(
        optimizer.step(&mut objective),
        Err(OptimizeError::Start { .. })
    ));
    let mut optimizer = OnlineLbfgs::new(vec![0.0; 9], OnlineLbfgsOptions::default()).unwrap();
    assert!(matches!(
        optimizer.step(&mut objective),
        Err(OptimizeError::Length { .. })
    ));
    let bad = [
        OnlineLbfgsOptions {
            eta0: 0.0,
            ..Default::default()
        },
        OnlineLbfgsOptions {
            tau: f64::INFINITY,
            ..Default::default()
        },
        OnlineLbfgsOptions {
            lambda: -1.0,
            ..Default::default()
        },
        OnlineLbfgsOptions {
            batch_size: Some(0),
            ..Default::default()
        },
        OnlineLbfgsOptions {
            num_memories: 0,
            ..Default::default()
        },
        OnlineLbfgsOptions {
            small_batches: 0,
            ..Default::default()
        },
        OnlineLbfgsOptions {
            c2: f64::NAN,
            ..Default::default()
        },
    ];
    for options in bad {
        assert!(
            matches!(
                OnlineLbfgs::new(Vec::new(), options),
                Err(OptimizeError::Option { .. })
            ),
            "{options:?}"
        );
    }
}

#[test]
fn small_batch_gradients_are_convergence() {
    let mut objective = Logistic::random(200, 30, 11);
    let options = OnlineLbfgsOptions {
        epsilon: 1e3,
        small_batches: 3,
        ..limited(5)
    };
    let mut optimizer = OnlineLbfgs::new(vec![0.0; 30], options).unwrap();
    assert_eq!(optimizer.step(&mut objective).unwrap(), None);
    assert_eq!(optimizer.status(), Status::GradientConverged);

    // Whole gradient not small, gradients of single instances small.
    let options = OnlineLbfgsOptions {
        epsilon: 6.0,
        small_batches: 100,
        batch_size: Some(1),
        eta0: 1e-9,
        ..limited(5)
    };
    let mut optimizer = OnlineLbfgs::new(vec![0.0; 30], options).unwrap();
    let pass = optimizer.step(&mut objective).unwrap().unwrap();
    assert!(pass.gradient_norm > 6.0);
    assert_eq!(optimizer.status(), Status::GradientConverged);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let results = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut objective = Logistic::random(200, 20_000, 12);
        pool.install(|| bits(passes(&mut objective, limited(3)).weights()))
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn a_restored_run_goes_on_bit_by_bit() {
    let mut objective = Logistic::random(300, 2500, 13);
    let options = OnlineLbfgsOptions {
        num_memories: 4,
        lambda: 0.01,
        seed: 5,
        ..limited(8)
    };
    let mut straight = OnlineLbfgs::new(vec![0.0; 2500], options).unwrap();
    let mut resumed = straight.clone();
    loop {
        resumed = OnlineLbfgs::restore(&resumed.save()).unwrap();
        assert_eq!(resumed.options(), straight.options());
        let (a, b) = (
            straight.step(&mut objective).unwrap(),
            resumed.step(&mut objective).unwrap(),
        );
        assert_eq!(a, b);
        assert_eq!(bits(straight.weights()), bits(resumed.weights()));
        assert_eq!(straight.status(), resumed.status());
        if a.is_none() {
            break;
        }
    }
    assert_eq!(straight.status(), Status::MaxIterations);
}

fn saved() -> Vec<u8> {
    let mut optimizer = OnlineLbfgs::new(
        vec![0.0; 5],
        OnlineLbfgsOptions {
            period: 2,
            ..limited(9)
        },
    )
    .unwrap();
    for _ in 0..3 {
        optimizer.step(&mut Logistic::random(60, 5, 14)).unwrap();
    }
    optimizer.save()
}

#[test]
fn damaged_bytes_are_an_error() {
    let bytes = saved();
    assert!(OnlineLbfgs::restore(&bytes).is_ok());
    assert!(crate::optimize::Lbfgs::restore(&bytes).is_err());
    for end in 0..bytes.len() {
        assert!(OnlineLbfgs::restore(&bytes[..end]).is_err());
    }
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x81;
        assert!(OnlineLbfgs::restore(&damaged).is_err(), "{place}");
    }
}

proptest! {
    #[test]
    fn foreign_content_never_panics(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = saved();
        for (place, value) in places {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(mut optimizer) = OnlineLbfgs::restore(&seal(bytes)) {
            let mut objective = Logistic::random(60, 5, 14);
            for _ in 0..2 {
                let _ = optimizer.step(&mut objective);
            }
            prop_assert!(optimizer.weights().iter().all(|x| x.is_finite()));
        }
    }
}
