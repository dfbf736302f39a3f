//! The likelihood that training computes, against enumeration of all label sequences.

use crate::cases::{Case, Rng};
use crate::reference::loss_and_gradient;
use fieldmark_chain::train::{Arithmetic, ChainObjective, TrainingReal};
use fieldmark_chain::{Strategy, Structure, StructureOptions};
use fieldmark_core::optimize::{Objective, StochasticObjective};
use fieldmark_core::{Dataset, DatasetBuilder, Gold};

/// Loss and gradient in the order of the model, with a check that cells without a feature have none.
fn evaluate<T: TrainingReal>(case: &Case, arithmetic: Arithmetic) -> (f64, Vec<f64>) {
    let mut objective = ChainObjective::<T>::new(&case.structure, case.data.clone(), arithmetic);
    let x = objective.import(&case.weights);
    assert_eq!(objective.export(&x), case.weights);
    let mut gradient = vec![0.0; objective.len()];
    let loss = objective.evaluate(&x, &mut gradient);
    let model = objective.export(&gradient);
    assert_eq!(
        objective.import(&model),
        gradient,
        "a cell without a feature has a gradient: {case:?}"
    );
    (loss, model)
}

fn assert_close(found: (f64, Vec<f64>), expected: &(f64, Vec<f64>), tolerance: f64, what: &str, case: &Case) {
    let scale = 1.0 + expected.0.abs() + case.magnitude();
    assert!(
        (found.0 - expected.0).abs() <= tolerance * scale,
        "{what}: loss {} instead of {}: {case:?}",
        found.0,
        expected.0
    );
    for (feature, (f, e)) in found.1.iter().zip(&expected.1).enumerate() {
        assert!(
            (f - e).abs() <= tolerance * (scale + e.abs()),
            "{what}: gradient of {feature} is {f} instead of {e}: {case:?}"
        );
    }
}

fn compare(case: &Case) {
    let expected = loss_and_gradient(&case.structure, &case.data, &case.weights);
    let run = [
        ("f64", evaluate::<f64>(case, Arithmetic::Scaled), 1e-11),
        ("f64 in log space", evaluate::<f64>(case, Arithmetic::Log), 1e-11),
        ("f32", evaluate::<f32>(case, Arithmetic::Scaled), 1e-5),
        ("f32 in log space", evaluate::<f32>(case, Arithmetic::Log), 1e-5),
    ];
    for (what, found, tolerance) in run {
        assert_close(found, &expected, tolerance, what, case);
    }
}

#[test]
fn loss_and_gradient_are_those_of_enumeration() {
    for seed in 0..2500 {
        let mut rng = Rng::new(seed);
        compare(&Case::small(&mut rng, 1.5));
    }
}

#[test]
fn many_labels_in_wide_rows() {
    for seed in 0..150 {
        let mut rng = Rng::new(10_000 + seed);
        let labels = [13, 16, 17, 22, 31, 33, 40, 64, 70][rng.below(9)];
        let longest = if labels > 40 { 1 } else { 2 };
        let options = Case::options(&mut rng, 2);
        compare(&Case::new(&mut rng, labels, longest, options, 1.5));
    }
}

/// Scores spread beyond what scaled linear arithmetic can hold, and beyond the range of exp.
#[test]
fn extreme_weights() {
    for seed in 0..600 {
        let mut rng = Rng::new(20_000 + seed);
        let size = [30.0, 200.0, 1e4][rng.below(3)];
        let case = Case::small(&mut rng, size);
        let expected = loss_and_gradient(&case.structure, &case.data, &case.weights);
        assert!(expected.0.is_finite());
        for arithmetic in [Arithmetic::Scaled, Arithmetic::Log] {
            assert_close(evaluate::<f64>(&case, arithmetic), &expected, 1e-10, "f64", &case);
            // Single precision knows a score of 10⁴ to a thousandth, so probabilities may be far off.
            let (loss, gradient) = evaluate::<f32>(&case, arithmetic);
            let scale = 1.0 + case.magnitude();
            assert!(
                (loss - expected.0).abs() <= 1e-5 * scale,
                "f32: loss {loss} instead of {}: {case:?}",
                expected.0
            );
            assert!(gradient.iter().all(|g| g.is_finite()), "{case:?}");
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for seed in 0..60 {
        let mut rng = Rng::new(30_000 + seed);
        let case = Case::small(&mut rng, 1.5);
        for arithmetic in [Arithmetic::Scaled, Arithmetic::Log] {
            let mut objective = ChainObjective::<f64>::new(&case.structure, case.data.clone(), arithmetic);
            let x = objective.import(&case.weights);
            let mut gradient = vec![0.0; objective.len()];
            objective.evaluate(&x, &mut gradient);
            let gradient = objective.export(&gradient);
            let mut scratch = vec![0.0; objective.len()];
            for feature in 0..case.weights.len() {
                let step = 1e-5;
                let mut at = |shift: f64| {
                    let mut weights = case.weights.clone();
                    weights[feature] += shift;
                    let x = objective.import(&weights);
                    objective.evaluate(&x, &mut scratch)
                };
                let slope = (at(step) - at(-step)) / (2.0 * step);
                assert!((gradient[feature] - slope).abs() <= 1e-7, "{feature}: {case:?}");
            }
        }
    }
}

/// The gradient is added to what is there, and a batch is a sum over its instances.
#[test]
fn batches_sum_to_the_whole() {
    for seed in 0..60 {
        let mut rng = Rng::new(40_000 + seed);
        let case = Case::small(&mut rng, 1.5);
        let mut objective =
            ChainObjective::<f64>::new(&case.structure, case.data.clone(), Arithmetic::Scaled);
        let x = objective.import(&case.weights);
        let mut whole = vec![0.0; objective.len()];
        let loss = objective.evaluate(&x, &mut whole);
        let mut order: Vec<u32> = (0..objective.instances() as u32).collect();
        order.reverse();
        let mut sum = vec![0.0; objective.len()];
        let parts = order.chunks(2);
        let partial: f64 = parts
            .map(|part| objective.evaluate_batch(part, &x, &mut sum))
            .sum();
        assert!((loss - partial).abs() <= 1e-11 * (1.0 + loss.abs()));
        for (a, b) in whole.iter().zip(&sum) {
            assert!((a - b).abs() <= 1e-11 * (1.0 + a.abs()), "{case:?}");
        }
    }
}

/// Enough sequences for several groups and batches, with every kind of gold.
fn large_data(seed: u64, pairs: bool) -> Dataset {
    let mut rng = Rng::new(seed);
    let mut builder = DatasetBuilder::new();
    for label in 0..6 {
        builder.labels.intern(&format!("L{label}"));
    }
    for id in 0..200 {
        builder.observations.intern(&format!("o{id}"));
    }
    for _ in 0..900 {
        let partial = rng.below(4) == 0;
        for _ in 0..1 + rng.below(15) {
            builder.observe(0, 1.0);
            for _ in 0..rng.below(5) {
                builder.observe(rng.below(200) as u32, rng.weight(2.0) as f32);
            }
            if pairs && rng.below(3) == 0 {
                builder.observe_pair(rng.below(10) as u32, 1.0);
            }
            let label = rng.below(6) as u32;
            let gold = match rng.below(4) {
                0 if partial => Gold::Unknown,
                1 if partial => Gold::Ambiguous(&[0, 3]),
                _ => Gold::Known(label),
            };
            builder.end_position(gold).unwrap();
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

fn bits<T: TrainingReal>(structure: &Structure, data: &Dataset, weights: &[f64], threads: usize) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let mut objective = ChainObjective::<T>::new(structure, data.clone(), Arithmetic::Scaled);
        let x = objective.import(weights);
        // An evaluation leaves nothing behind for the next.
        let mut gradient = vec![0.0; objective.len()];
        objective.evaluate(&gradient.clone(), &mut gradient);
        gradient.fill(0.0);
        let loss = objective.evaluate(&x, &mut gradient);
        let mut once = vec![0.0; objective.len()];
        let fresh =
            ChainObjective::<T>::new(structure, data.clone(), Arithmetic::Scaled).evaluate(&x, &mut once);
        assert!(loss == fresh && gradient == once);
        let numbers = objective.export(&gradient).into_iter().chain([loss]);
        numbers.map(f64::to_bits).collect()
    })
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for (seed, order, pairs) in [(1, 1, false), (2, 2, false), (3, 1, true), (4, 0, false)] {
        let data = large_data(seed, pairs);
        assert!(data.positions() > 4096, "several batches");
        let options = StructureOptions {
            order,
            boundaries: true,
            label_bias: true,
            states: if order == 2 {
                Strategy::All
            } else {
                Strategy::Supported
            },
            ..StructureOptions::default()
        };
        let structure = Structure::build(&data, &options).unwrap();
        let mut rng = Rng::new(seed);
        let weights: Vec<f64> = (0..structure.weights()).map(|_| rng.weight(1.0)).collect();
        let double = bits::<f64>(&structure, &data, &weights, 1);
        let single = bits::<f32>(&structure, &data, &weights, 1);
        for threads in [2, 7] {
            assert!(double == bits::<f64>(&structure, &data, &weights, threads));
            assert!(single == bits::<f32>(&structure, &data, &weights, threads));
        }
    }
}

#[test]
fn data_without_instances_or_features() {
    let mut builder = DatasetBuilder::new();
    builder.labels.intern("A");
    let data = builder.finish();
    let structure = Structure::build(&data, &StructureOptions::default()).unwrap();
    let mut objective = ChainObjective::<f64>::new(&structure, data, Arithmetic::Scaled);
    let mut gradient = vec![0.0; objective.len()];
    let x = gradient.clone();
    assert_eq!(objective.evaluate(&x, &mut gradient), 0.0);
}
