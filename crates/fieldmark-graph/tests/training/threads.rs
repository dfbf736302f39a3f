use crate::models::*;
use fieldmark_core::optimize::{Objective, StochasticObjective};
use fieldmark_graph::loopy::LoopyOptions;
use fieldmark_graph::{EngineChoice, GraphObjective, Loss, Structure};

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let losses = [
        Loss::Likelihood(EngineChoice::default()),
        Loss::Likelihood(EngineChoice::Loopy(LoopyOptions::default())),
        Loss::Pseudolikelihood,
        Loss::Piecewise,
    ];
    for (name, description) in descriptions() {
        if name == "forbidding" {
            continue;
        }
        let data = data(&description, Labels::Partial, 4);
        let structure = Structure::build(&data, &description, relations()).unwrap();
        let weights = random_weights(structure.weights(), 1.0, 3);
        for loss in &losses {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| {
                    let mut objective = GraphObjective::new(&structure, &data, loss.clone()).unwrap();
                    let mut gradient = vec![0.125; weights.len()];
                    let value = objective.evaluate(&weights, &mut gradient);
                    let batch = objective.evaluate_batch(&[4, 0, 3], &weights, &mut gradient);
                    let bits: Vec<u64> = gradient.iter().map(|number| number.to_bits()).collect();
                    (value.to_bits(), batch.to_bits(), bits, objective.convergence())
                })
            };
            let one = run(1);
            assert_eq!(run(2), one, "{name} {loss:?}");
            assert_eq!(run(7), one, "{name} {loss:?}");
        }
    }
}

#[test]
fn batches_sum_to_the_whole() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 4);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let weights = random_weights(structure.weights(), 1.0, 3);
    let mut objective = GraphObjective::new(&structure, &data, Loss::Pseudolikelihood).unwrap();
    let (mut whole, mut parts) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
    let value = objective.evaluate(&weights, &mut whole);
    let sum: f64 = [&[0, 2][..], &[1, 3, 4]]
        .iter()
        .map(|batch| objective.evaluate_batch(batch, &weights, &mut parts))
        .sum();
    assert!((value - sum).abs() < 1e-10);
    for (one, other) in whole.iter().zip(&parts) {
        assert!((one - other).abs() < 1e-10);
    }
}
