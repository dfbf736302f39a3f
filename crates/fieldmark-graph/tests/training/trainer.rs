use crate::models::*;
use fieldmark_core::Gold;
use fieldmark_core::optimize::{
    InstanceObjective, LbfgsOptions, Objective, OnlineLbfgsOptions, Prior, Sgd, SgdOptions, Status,
    StochasticObjective,
};
use fieldmark_core::random::visiting_order;
use fieldmark_graph::loopy::LoopyOptions;
use fieldmark_graph::{
    Description, EngineChoice, ExactOptions, GraphAlgorithm, GraphDataset, GraphDatasetBuilder,
    GraphObjective, GraphTrainer, Loss, SampleRankOptions, Structure, TrainError,
};

const EPOCHS: u64 = 3;

fn losses() -> [Loss; 3] {
    [
        Loss::Likelihood(EngineChoice::default()),
        Loss::Pseudolikelihood,
        Loss::Piecewise,
    ]
}

/// What descent does, with gradients of batches of one.
fn plain_descent(objective: &mut GraphObjective<'_>, options: &SgdOptions, eta: f64) -> (f64, Vec<f64>) {
    let instances = objective.instances();
    let Prior { c1, c2 } = options.prior;
    let count = instances as f64;
    let lambda = 2.0 * c2 / count;
    let mut weights = vec![0.0; objective.len()];
    let (mut due, mut received) = (0.0, vec![0.0; weights.len()]);
    let mut best = (f64::INFINITY, weights.clone());
    let mut seen = 0.0;
    for epoch in 1..=EPOCHS {
        let mut loss = 0.0;
        for index in visiting_order(instances, options.seed, epoch) {
            let rate = if c1 > 0.0 || c2 == 0.0 {
                eta * options.decay.powf(seen / count)
            } else {
                eta / (1.0 + lambda * eta * seen)
            };
            seen += 1.0;
            let shrink = 1.0 / (1.0 + rate * lambda);
            weights
                .iter_mut()
                .chain(&mut received)
                .for_each(|number| *number *= shrink);
            due *= shrink;
            let mut gradient = vec![0.0; weights.len()];
            loss += objective.evaluate_batch(&[index], &weights, &mut gradient);
            for (weight, slope) in weights.iter_mut().zip(&gradient) {
                *weight -= rate * slope;
            }
            due += rate * c1 / count;
            // Weights of other instances catch up when it is their turn, at the latest after the last one.
            let mut in_turn = vec![seen % count == 0.0; weights.len()];
            objective.for_each_changed(index, &mut |range| in_turn[range].fill(true));
            let in_turn = weights.iter_mut().zip(&mut received).zip(in_turn);
            for ((weight, received), _) in in_turn.filter(|(_, in_turn)| *in_turn) {
                let before = *weight;
                if before > 0.0 {
                    *weight = (before - (due + *received)).max(0.0);
                } else if before < 0.0 {
                    *weight = (before + (due - *received)).min(0.0);
                }
                *received += *weight - before;
            }
        }
        loss += weights.iter().map(|w| c1 * w.abs() + c2 * w * w).sum::<f64>();
        if loss < best.0 {
            best = (loss, weights.clone());
        }
    }
    best
}

#[test]
fn descent_takes_the_steps_of_plain_code_with_every_prior() {
    for (name, description) in descriptions() {
        let labels = if name == "forbidding" {
            Labels::Complete
        } else {
            Labels::Partial
        };
        let data = data(&description, labels, 11);
        let structure = Structure::build(&data, &description, relations()).unwrap();
        for (loss, (c1, c2)) in losses().iter().zip([(0.0, 0.5), (0.2, 0.0), (0.1, 0.3)]) {
            let options = SgdOptions {
                prior: Prior { c1, c2 },
                calibration_samples: 2,
                max_iterations: Some(EPOCHS),
                ..SgdOptions::default()
            };
            let mut objective = GraphObjective::new(&structure, &data, loss.clone()).unwrap();
            let mut sgd = Sgd::new(vec![0.0; objective.len()], options).unwrap();
            while sgd.epoch(&mut objective).unwrap().is_some() {}
            let (expected_loss, expected) =
                plain_descent(&mut objective, &options, sgd.learning_rate().unwrap());
            let close = |one: f64, other: f64| (one - other).abs() <= 1e-7 * (1.0 + other.abs());
            assert!(close(sgd.best_loss(), expected_loss), "{name} {loss:?}");
            for (found, expected) in sgd.weights().iter().zip(&expected) {
                assert!(close(*found, *expected), "{name} {loss:?}: {found} {expected}");
            }
        }
    }
}

#[test]
fn a_step_scales_weights_and_touches_only_those_that_it_tells() {
    for (name, description) in descriptions() {
        let data = data(&description, Labels::Complete, 5);
        let structure = Structure::build(&data, &description, relations()).unwrap();
        let weights = random_weights(structure.weights(), 1.0, 8);
        let halves: Vec<f64> = weights.iter().map(|weight| weight / 2.0).collect();
        for loss in losses() {
            let mut objective = GraphObjective::new(&structure, &data, loss).unwrap();
            for instance in 0..data.len() as u32 {
                let mut gradient = vec![0.0; weights.len()];
                let expected = objective.evaluate_batch(&[instance], &halves, &mut gradient);
                let mut moved = weights.clone();
                let found = objective.descend(instance, &mut moved, 0.5, 0.25);
                assert!((found - expected).abs() < 1e-9, "{name}");
                let mut touched = vec![false; weights.len()];
                objective.for_each_changed(instance, &mut |range| touched[range].fill(true));
                // Only the first template always has weights of words; they are not those of an empty instance.
                let spared = data.instance(instance as usize).is_empty();
                assert!(!spared || touched[..2] == [false; 2], "{name}");
                for (index, slope) in gradient.iter().enumerate() {
                    let change = moved[index] - weights[index];
                    assert!((change + 0.25 * slope).abs() < 1e-9, "{name}");
                    assert!(touched[index] || change == 0.0, "{name}");
                }
            }
        }
    }
}

fn algorithms(loss: &Loss) -> Vec<GraphAlgorithm> {
    vec![
        GraphAlgorithm::Lbfgs(
            loss.clone(),
            LbfgsOptions {
                max_iterations: Some(8),
                ..LbfgsOptions::default()
            },
        ),
        GraphAlgorithm::OnlineLbfgs(
            loss.clone(),
            OnlineLbfgsOptions {
                batch_size: Some(2),
                max_iterations: Some(8),
                ..OnlineLbfgsOptions::default()
            },
        ),
        GraphAlgorithm::Sgd(
            loss.clone(),
            SgdOptions {
                prior: Prior { c1: 0.1, c2: 0.1 },
                max_iterations: Some(8),
                ..SgdOptions::default()
            },
        ),
        GraphAlgorithm::SampleRank(SampleRankOptions {
            max_iterations: 8,
            ..SampleRankOptions::default()
        }),
    ]
}

/// Steps to the end; a score that rises and falls makes an iteration in the middle the best.
fn run(trainer: &mut GraphTrainer<'_>) {
    while let Some(progress) = trainer.step().unwrap() {
        let iteration = progress.iteration.iteration;
        assert_eq!(trainer.iterations(), iteration);
        trainer.judge(-(iteration as f64 - 4.0).abs());
    }
}

#[test]
fn a_restored_run_goes_on_bit_by_bit() {
    let (_, description) = &descriptions()[3];
    let data = data(description, Labels::Partial, 6);
    let structure = Structure::build(&data, description, relations()).unwrap();
    for algorithm in algorithms(&Loss::Pseudolikelihood) {
        let start = random_weights(structure.weights(), 0.1, 2);
        let mut whole = GraphTrainer::new(&structure, &data, &algorithm, start.clone()).unwrap();
        run(&mut whole);
        let name = algorithm.name();
        assert!(whole.iterations() > 4, "{name} {}", whole.iterations());
        for stop in [0, 3, 5] {
            let mut first = GraphTrainer::new(&structure, &data, &algorithm, start.clone()).unwrap();
            for iteration in 1..=stop {
                first.step().unwrap().unwrap();
                first.judge(-(iteration as f64 - 4.0).abs());
            }
            let saved = first.save();
            let mut second = GraphTrainer::restore(&structure, &data, &algorithm, &saved).unwrap();
            assert_eq!((second.iterations(), second.save()), (stop, saved), "{name}");
            run(&mut second);
            assert_eq!(second.save(), whole.save(), "{name} after {stop}");
            assert_eq!((second.best(), second.status()), (whole.best(), whole.status()));
            assert_eq!(second.without_progress(), second.iterations() - 4);
            assert_eq!(second.weights(), whole.weights(), "{name}");
        }
        let last = whole.weights().into_owned();
        assert_ne!(
            whole.into_weights(),
            last,
            "{name}: the best weights are not the last"
        );
    }
}

#[test]
fn a_run_that_reached_its_limit_goes_on_with_a_higher_one() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 6);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let options = |max_iterations| SampleRankOptions {
        max_iterations,
        epsilon: 0.0,
        ..SampleRankOptions::default()
    };
    let [short, long] = [2, 5].map(|count| GraphAlgorithm::SampleRank(options(count)));
    let start = vec![0.0; structure.weights()];
    let mut first = GraphTrainer::new(&structure, &data, &short, start.clone()).unwrap();
    while first.step().unwrap().is_some() {}
    assert_eq!(first.status(), Status::MaxIterations);
    let mut second = GraphTrainer::restore(&structure, &data, &long, &first.save()).unwrap();
    while second.step().unwrap().is_some() {}
    let mut whole = GraphTrainer::new(&structure, &data, &long, start).unwrap();
    while whole.step().unwrap().is_some() {}
    assert_eq!(second.save(), whole.save());
}

/// The same names and instances of one position each.
fn longer(description: &Description, data: &GraphDataset) -> GraphDataset {
    let labels = (0..description.layers.len()).map(|layer| data.labels(layer).clone());
    let mut builder =
        GraphDatasetBuilder::with_alphabets(description, data.observations.clone(), labels.collect());
    for _ in 0..20 {
        builder.end_position(&[Gold::Known(0), Gold::Known(0)]).unwrap();
        builder.end_instance(&[]).unwrap();
    }
    builder.finish()
}

#[test]
fn saved_states_that_are_damaged_or_foreign_are_refused() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 6);
    let longer = longer(description, &data);
    let (_, other_description) = &descriptions()[3];
    let other = Structure::build(&data, other_description, relations()).unwrap();
    let structure = Structure::build(&data, description, relations()).unwrap();
    let start = vec![0.0; structure.weights()];
    let all = algorithms(&Loss::Piecewise);
    for (index, algorithm) in all.iter().enumerate() {
        let mut trainer = GraphTrainer::new(&structure, &data, algorithm, start.clone()).unwrap();
        trainer.step().unwrap();
        trainer.judge(0.5);
        let saved = trainer.save();
        let restore = |algorithm: &GraphAlgorithm, bytes: &[u8]| {
            GraphTrainer::restore(&structure, &data, algorithm, bytes)
        };
        assert!(restore(algorithm, &saved).is_ok());
        assert!(restore(&all[(index + 1) % all.len()], &saved).is_err());
        for byte in (0..saved.len()).step_by(7) {
            let mut damaged = saved.clone();
            damaged[byte] ^= 0x10;
            assert!(restore(algorithm, &damaged).is_err());
            assert!(restore(algorithm, &saved[..byte]).is_err());
        }
        let foreign = GraphTrainer::restore(&other, &data, algorithm, &saved);
        assert!(
            matches!(foreign, Err(TrainError::Structure(_))),
            "{}",
            algorithm.name()
        );
        // Only SampleRank keeps something of each variable.
        let foreign = GraphTrainer::restore(&structure, &longer, algorithm, &saved);
        let has_labels = matches!(algorithm, GraphAlgorithm::SampleRank(_));
        assert_eq!(foreign.is_err(), has_labels);
    }
}

#[test]
fn inference_that_fails_is_the_error_of_training() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 6);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let narrow = Loss::Likelihood(EngineChoice::Exact(ExactOptions { budget: 8 }));
    for algorithm in algorithms(&narrow).into_iter().take(3) {
        let start = vec![0.0; structure.weights()];
        let mut trainer = GraphTrainer::new(&structure, &data, &algorithm, start).unwrap();
        let error = trainer.step().unwrap_err();
        assert!(matches!(error, TrainError::Instance { .. }), "{error}");
        assert!(error.to_string().contains("8 are allowed"), "{error}");
    }
}

#[test]
fn progress_tells_how_often_inference_converged() {
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 6);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let loopy = Loss::Likelihood(EngineChoice::Loopy(LoopyOptions::default()));
    // One is empty and costs no inference.
    let instances = data.len() as u64 - 1;
    for algorithm in algorithms(&loopy) {
        let start = vec![0.0; structure.weights()];
        let mut trainer = GraphTrainer::new(&structure, &data, &algorithm, start).unwrap();
        // The first iteration also evaluates the start, or calibrates.
        trainer.step().unwrap();
        let progress = trainer.step().unwrap().unwrap();
        let answers = match algorithm {
            GraphAlgorithm::Lbfgs(..) => progress.iteration.evaluations * instances,
            // Each batch twice, and the whole once.
            GraphAlgorithm::OnlineLbfgs(..) => 3 * instances,
            GraphAlgorithm::Sgd(..) => instances,
            GraphAlgorithm::SampleRank(_) => 0,
        };
        let convergence = progress.convergence;
        assert_eq!(convergence.answers, answers, "{}", algorithm.name());
        assert_eq!(convergence.fraction(), 1.0);
        assert!(answers == 0 || convergence.mean_iterations() >= 1.0);
    }
}

#[test]
fn losses_below_zero_are_a_divergence() {
    // Scores of 1e290 are finite, but sums of them round to more or less than the score of the gold labels.
    let (_, description) = &descriptions()[2];
    let data = data(description, Labels::Complete, 2);
    let structure = Structure::build(&data, description, relations()).unwrap();
    for loss in losses() {
        let options = SgdOptions {
            prior: Prior { c1: 0.0, c2: 0.0 },
            calibration_eta: 1e300,
            max_iterations: Some(50),
            ..SgdOptions::default()
        };
        let algorithm = GraphAlgorithm::Sgd(loss.clone(), options);
        let start = vec![0.0; structure.weights()];
        let mut trainer = GraphTrainer::new(&structure, &data, &algorithm, start).unwrap();
        while let Some(progress) = trainer.step().unwrap() {
            assert!(
                progress.iteration.loss >= 0.0,
                "{loss:?}: {}",
                progress.iteration.loss
            );
        }
        assert_eq!(trainer.status(), Status::Diverged, "{loss:?}");
        assert!(trainer.weights().iter().all(|weight| *weight == 0.0));
    }
}
