//! L-BFGS and OWL-QN as a whole: known optima, optimality conditions, determinism, saving, bad objectives.

use super::{bits, exact, run, seal};
use crate::optimize::testing::{Logistic, Quadratic, Random, Rosenbrock};
use crate::optimize::{Lbfgs, LbfgsOptions, Objective, OptimizeError, Prior, Status};
use proptest::prelude::*;

/// How far the weights are from optimal: the norm of the smallest subgradient, computed from scratch.
fn subgradient(objective: &mut dyn Objective, x: &[f64], prior: Prior) -> f64 {
    let mut gradient = vec![0.0; x.len()];
    objective.evaluate(x, &mut gradient);
    let parts = x.iter().zip(&gradient).map(|(&x, &g)| {
        let g = g + 2.0 * prior.c2 * x;
        if x == 0.0 {
            (g.abs() - prior.c1).max(0.0)
        } else {
            g + prior.c1 * x.signum()
        }
    });
    parts.map(|part| part * part).sum::<f64>().sqrt()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
            "{found} {expected}"
        );
    }
}

#[test]
fn a_quadratic_reaches_its_center() {
    let mut objective = Quadratic::random(50, 1);
    let optimizer = run(&mut objective, vec![0.0; 50], exact(0.0, 0.0));
    assert_eq!(optimizer.status(), Status::GradientConverged);
    assert_close(optimizer.weights(), &objective.center, 1e-7);
}

#[test]
fn a_quadratic_with_a_prior_reaches_the_shrunken_center() {
    let mut objective = Quadratic::random(50, 2);
    let optimizer = run(&mut objective, vec![0.5; 50], exact(0.0, 0.7));
    let pairs = objective.curvature.iter().zip(&objective.center);
    let expected: Vec<f64> = pairs.map(|(a, c)| a * c / (a + 1.4)).collect();
    assert_close(optimizer.weights(), &expected, 1e-7);
}

#[test]
fn a_quadratic_with_l1_is_soft_thresholded() {
    for c2 in [0.0, 0.3] {
        let mut objective = Quadratic::random(200, 3);
        let optimizer = run(&mut objective, vec![0.0; 200], exact(0.4, c2));
        let pairs = objective.curvature.iter().zip(&objective.center);
        let expected: Vec<f64> = pairs
            .map(|(a, c)| c.signum() * ((a * c.abs() - 0.4) / (a + 2.0 * c2)).max(0.0))
            .collect();
        assert_close(optimizer.weights(), &expected, 1e-7);
        let active = expected.iter().filter(|&&w| w != 0.0).count();
        assert!(active > 20 && active < 180);
        assert_eq!(optimizer.last().active, active);
    }
}

#[test]
fn rosenbrock_reaches_the_end_of_the_valley() {
    for len in [2, 10, 100] {
        let x = (0..len).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect();
        let optimizer = run(&mut Rosenbrock(len), x, exact(0.0, 0.0));
        assert_eq!(optimizer.status(), Status::GradientConverged);
        assert!(optimizer.last().iteration < 100);
        assert_close(optimizer.weights(), &vec![1.0; len], 1e-7);
    }
}

#[test]
fn logistic_regression_meets_the_optimality_conditions() {
    for (c1, c2) in [(0.0, 1.0), (0.0, 0.01), (1.0, 0.0), (0.3, 0.1), (0.05, 0.0)] {
        let mut objective = Logistic::random(300, 100, 7);
        let options = LbfgsOptions {
            epsilon: 1e-7,
            ..exact(c1, c2)
        };
        let optimizer = run(&mut objective, vec![0.0; 100], options);
        assert_eq!(optimizer.status(), Status::GradientConverged, "{c1} {c2}");
        let x = optimizer.weights();
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((norm - optimizer.last().x_norm).abs() < 1e-12 * norm);
        let subgradient = subgradient(&mut objective, x, Prior { c1, c2 });
        assert!(
            subgradient < 1e-7 * norm.max(1.0) * 1.01,
            "{c1} {c2}: {subgradient}"
        );
        assert!((subgradient - optimizer.last().gradient_norm).abs() < 1e-9);
        let zeros = x.iter().filter(|&&x| x == 0.0).count();
        assert_eq!(optimizer.last().active, 100 - zeros);
        assert_eq!(zeros > 0, c1 > 0.0);
    }
}

#[test]
fn the_loss_is_that_of_the_weights_and_never_rises() {
    for prior in [Prior { c1: 0.0, c2: 0.1 }, Prior { c1: 0.5, c2: 0.1 }] {
        let mut objective = Logistic::random(200, 80, 8);
        let mut optimizer = Lbfgs::new(
            vec![0.0; 80],
            LbfgsOptions {
                prior,
                ..Default::default()
            },
        )
        .unwrap();
        let mut before = f64::INFINITY;
        while let Some(iteration) = optimizer.step(&mut objective).unwrap() {
            let x = optimizer.weights();
            let likelihood = objective.evaluate(x, &mut [0.0; 80]);
            let norms = x
                .iter()
                .map(|w| prior.c1 * w.abs() + prior.c2 * w * w)
                .sum::<f64>();
            assert!((iteration.loss - likelihood - norms).abs() < 1e-10 * iteration.loss);
            assert!(iteration.loss <= before);
            before = iteration.loss;
        }
        assert!(optimizer.last().iteration > 5);
    }
}

#[test]
fn every_reason_to_stop_is_reached() {
    let mut objective = Logistic::random(300, 100, 9);
    let start = vec![0.0; 100];
    let options = LbfgsOptions {
        epsilon: 1e-2,
        ..Default::default()
    };
    let optimizer = run(&mut objective, start.clone(), options);
    assert_eq!(optimizer.status(), Status::GradientConverged);
    assert!(optimizer.last().gradient_norm < 1e-2 * optimizer.last().x_norm.max(1.0));

    let options = LbfgsOptions {
        epsilon: 0.0,
        delta: 1e-3,
        period: 3,
        ..Default::default()
    };
    assert_eq!(
        run(&mut objective, start.clone(), options).status(),
        Status::LossConverged
    );

    let options = LbfgsOptions {
        max_iterations: Some(4),
        ..Default::default()
    };
    let mut optimizer = run(&mut objective, start.clone(), options);
    assert_eq!(
        (optimizer.status(), optimizer.last().iteration),
        (Status::MaxIterations, 4)
    );
    optimizer.set_max_iterations(Some(6));
    while optimizer.step(&mut objective).unwrap().is_some() {}
    assert_eq!(
        (optimizer.status(), optimizer.last().iteration),
        (Status::MaxIterations, 6)
    );

    let at_optimum = objective_center_run();
    assert_eq!(
        (at_optimum.status(), at_optimum.last().iteration),
        (Status::GradientConverged, 0)
    );

    let options = LbfgsOptions {
        prior: Prior::NONE,
        ..Default::default()
    };
    let optimizer = run(&mut WrongSign, vec![1.0; 5], options);
    assert_eq!(optimizer.status(), Status::LineSearchFailed);
    assert_eq!(optimizer.weights(), [1.0; 5]);
}

fn objective_center_run() -> Lbfgs {
    let mut objective = Quadratic::random(10, 4);
    let center = objective.center.clone();
    run(&mut objective, center, exact(0.0, 0.0))
}

/// Σx² with the gradient of −Σx²: no step along it lowers the loss.
struct WrongSign;

impl Objective for WrongSign {
    fn len(&self) -> usize {
        5
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g -= 2.0 * x);
        x.iter().map(|x| x * x).sum()
    }
}

#[test]
fn l1_and_l2_survive_rounding_at_the_optimum() {
    // No tolerance can be met: the run must end by itself, at the optimum.
    for (c1, c2) in [(0.0, 0.5), (0.5, 0.0), (0.5, 0.5)] {
        let mut objective = Logistic::random(200, 60, 10);
        let options = LbfgsOptions {
            epsilon: 0.0,
            period: 10,
            delta: 0.0,
            ..exact(c1, c2)
        };
        let optimizer = run(&mut objective, vec![0.0; 60], options);
        assert!(matches!(
            optimizer.status(),
            Status::LineSearchFailed | Status::LossConverged
        ));
        assert!(subgradient(&mut objective, optimizer.weights(), Prior { c1, c2 }) < 1e-6);
    }
}

#[test]
fn no_weights_are_an_optimum() {
    let optimizer = run(&mut Rosenbrock(0), Vec::new(), LbfgsOptions::default());
    assert_eq!(optimizer.status(), Status::GradientConverged);
}

/// −Σ ln(1 − x²) + Σ x/2, not a number or infinite outside of −1 … 1.
struct Barrier {
    outside: f64,
    visits: usize,
}

impl Objective for Barrier {
    fn len(&self) -> usize {
        3
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        if x.iter().any(|x| x.abs() >= 1.0) {
            self.visits += 1;
            gradient.fill(self.outside);
            return self.outside;
        }
        for (g, x) in gradient.iter_mut().zip(x) {
            *g += 2.0 * x / (1.0 - x * x) + 5.0;
        }
        x.iter().map(|x| -(1.0 - x * x).ln() + 5.0 * x).sum()
    }
}

#[test]
fn losses_that_are_not_finite_shorten_the_step() {
    for outside in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for c1 in [0.0, 0.01] {
            let mut objective = Barrier { outside, visits: 0 };
            let optimizer = run(&mut objective, vec![0.999, 0.9, 0.5], exact(c1, 0.0));
            assert!(objective.visits > 0);
            // −2x/(1 − x²) = 5 ∓ c1 has its root inside the interval.
            let slope = 5.0 - c1;
            let expected = (1.0 - (1.0f64 + slope * slope).sqrt()) / slope;
            assert_close(optimizer.weights(), &[expected; 3], 1e-7);
        }
    }
}

/// Not a number for a while, as long as one line search takes to give up.
struct Outage {
    inner: Quadratic,
    evaluations: usize,
}

impl Objective for Outage {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.evaluations += 1;
        let loss = self.inner.evaluate(x, gradient);
        if (10..20).contains(&self.evaluations) {
            f64::NAN
        } else {
            loss
        }
    }
}

#[test]
fn after_a_failed_line_search_the_steepest_descent_is_tried() {
    for c1 in [0.0, 0.1] {
        let mut objective = Outage {
            inner: Quadratic::random(30, 13),
            evaluations: 0,
        };
        let options = LbfgsOptions {
            max_linesearch: 10,
            ..exact(c1, 0.0)
        };
        let optimizer = run(&mut objective, vec![0.0; 30], options);
        assert_eq!(optimizer.status(), Status::GradientConverged);
        assert!(objective.evaluations > 20);
        assert!(subgradient(&mut objective.inner, optimizer.weights(), Prior { c1, c2: 0.0 }) < 1e-7);
    }
}

#[test]
fn a_start_that_is_not_finite_is_an_error() {
    for start in [
        vec![1.0, 0.0, 0.0],
        vec![f64::NAN, 0.0, 0.0],
        vec![0.0, f64::INFINITY, 0.0],
    ] {
        let mut optimizer = Lbfgs::new(start.clone(), LbfgsOptions::default()).unwrap();
        let error = optimizer
            .step(&mut Barrier {
                outside: f64::NAN,
                visits: 0,
            })
            .unwrap_err();
        assert!(matches!(error, OptimizeError::Start { .. }), "{error}");
        assert_eq!(optimizer.weights()[1].to_bits(), start[1].to_bits());
    }
}

#[test]
fn options_and_lengths_are_checked() {
    let bad = [
        LbfgsOptions {
            num_memories: 0,
            ..Default::default()
        },
        LbfgsOptions {
            prior: Prior { c1: -1.0, c2: 0.0 },
            ..Default::default()
        },
        LbfgsOptions {
            prior: Prior {
                c1: 0.0,
                c2: f64::NAN,
            },
            ..Default::default()
        },
        LbfgsOptions {
            epsilon: f64::NAN,
            ..Default::default()
        },
        LbfgsOptions {
            delta: -1.0,
            ..Default::default()
        },
        LbfgsOptions {
            max_linesearch: 0,
            ..Default::default()
        },
        LbfgsOptions {
            ftol: 0.95,
            ..Default::default()
        },
        LbfgsOptions {
            gtol: 1.0,
            ..Default::default()
        },
    ];
    for options in bad {
        assert!(
            matches!(Lbfgs::new(vec![0.0], options), Err(OptimizeError::Option { .. })),
            "{options:?}"
        );
    }
    let mut optimizer = Lbfgs::new(vec![0.0; 3], LbfgsOptions::default()).unwrap();
    let error = optimizer.step(&mut Rosenbrock(4)).unwrap_err();
    assert_eq!(
        error,
        OptimizeError::Length {
            weights: 3,
            objective: 4
        }
    );
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for (c1, c2) in [(0.0, 0.01), (0.02, 0.001)] {
        let options = LbfgsOptions {
            prior: Prior { c1, c2 },
            max_iterations: Some(25),
            ..Default::default()
        };
        let results = [1, 2, 7].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let mut objective = Quadratic::random(40_000, 11);
            pool.install(|| bits(run(&mut objective, vec![0.1; 40_000], options).weights()))
        });
        assert_eq!(results[0], results[1]);
        assert_eq!(results[0], results[2]);
    }
}

#[test]
fn a_restored_run_goes_on_bit_by_bit() {
    for (c1, c2) in [(0.0, 0.1), (0.2, 0.0)] {
        let options = LbfgsOptions {
            prior: Prior { c1, c2 },
            num_memories: 3,
            ..Default::default()
        };
        let mut objective = Logistic::random(300, 5000, 12);
        let mut straight = Lbfgs::new(vec![0.0; 5000], options).unwrap();
        let mut resumed = straight.clone();
        loop {
            resumed = Lbfgs::restore(&resumed.save()).unwrap();
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
        assert!(straight.last().iteration > 10);
    }
}

fn saved() -> Vec<u8> {
    let mut optimizer = Lbfgs::new(
        vec![0.0; 6],
        LbfgsOptions {
            period: 2,
            ..Default::default()
        },
    )
    .unwrap();
    for _ in 0..3 {
        optimizer.step(&mut Rosenbrock(6)).unwrap();
    }
    optimizer.save()
}

#[test]
fn damaged_bytes_are_an_error() {
    let bytes = saved();
    assert!(Lbfgs::restore(&bytes).is_ok());
    for end in 0..bytes.len() {
        assert!(Lbfgs::restore(&bytes[..end]).is_err());
    }
    for place in 0..bytes.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[place] ^= flip;
            assert!(Lbfgs::restore(&damaged).is_err(), "{place}");
        }
    }
}

fn survives(bytes: Vec<u8>) {
    if let Ok(mut optimizer) = Lbfgs::restore(&seal(bytes)) {
        optimizer.set_max_iterations(Some(optimizer.last().iteration.saturating_add(3)));
        for _ in 0..3 {
            let _ = optimizer.step(&mut Rosenbrock(6));
        }
        assert!(optimizer.weights().iter().all(|x| x.is_finite()));
    }
}

proptest! {
    #[test]
    fn foreign_content_never_panics(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut: prop::sample::Index) {
        let mut bytes = saved();
        for (place, value) in places {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        survives(bytes.clone());
        bytes.truncate(8 + cut.index(bytes.len() - 8));
        survives(bytes);
    }

    #[test]
    fn random_quadratics_are_solved(len in 1usize..60, seed: u64, c1 in 0.0f64..0.5, c2 in 0.0f64..1.0) {
        for c1 in [0.0, c1] {
            let mut objective = Quadratic::random(len, seed);
            let start = Random::new(seed ^ 9).vector(len);
            let optimizer = run(&mut objective, start, LbfgsOptions { epsilon: 1e-7, ..exact(c1, c2) });
            let norm = optimizer.last().x_norm.max(1.0);
            let prior = Prior { c1, c2 };
            prop_assert!(subgradient(&mut objective, optimizer.weights(), prior) < 2e-7 * norm);
        }
    }
}
