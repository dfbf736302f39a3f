//! Online trainers, against plain versions of the same algorithms.

use crate::cases::{Case, Rng};
use crate::reference::{features, instance_loss, is_allowed, is_possible, score, sequences};
use fieldmark_chain::train::online::{
    Arow, ArowOptions, AveragedPerceptron, OnlineTrainer, PaType, PassiveAggressive,
    PassiveAggressiveOptions, PerceptronOptions, Sgd, SgdOptions,
};
use fieldmark_chain::train::{Arithmetic, ChainObjective};
use fieldmark_chain::{Structure, StructureOptions};
use fieldmark_core::optimize::{Lbfgs, LbfgsOptions, Objective, OptimizeError, Prior, Status};
use fieldmark_core::random::visiting_order;
use fieldmark_core::{Dataset, DatasetBuilder, Gold, Instance};

const SEED: u64 = 5;
const EPOCHS: u64 = 3;

/// Small models in which no two sequences have the same features.
fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let mut options = Case::options(&mut rng, 3);
    options.label_bias = true;
    options.min_freq = 0.0;
    let labels = 2 + rng.below(3);
    Case::new(&mut rng, labels, 4, options, 1.0)
}

fn objective(case: &Case) -> ChainObjective<'_, f64> {
    ChainObjective::new(&case.structure, case.data.clone(), Arithmetic::Scaled)
}

/// Runs a trainer to its end; the weights in the order of the model.
fn run(case: &Case, make: impl Fn(Vec<f64>) -> Box<dyn OnlineTrainer>) -> Vec<f64> {
    let mut objective = objective(case);
    let mut trainer = make(objective.import(&case.weights));
    while trainer.epoch(&mut objective).unwrap().is_some() {}
    let weights = trainer.weights();
    let model = objective.export(weights);
    assert_eq!(
        objective.import(&model),
        weights,
        "a cell without a feature has a weight"
    );
    model
}

fn assert_close(found: &[f64], expected: &[f64], case: &Case) {
    for (feature, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!(
            (f - e).abs() <= 1e-9 * (1.0 + e.abs()),
            "weight {feature} is {f} instead of {e}: {case:?}"
        );
    }
}

struct Mistake {
    difference: Vec<f64>,
    excess: f64,
    errors: f64,
}

/// The best sequence and the best allowed sequence by enumeration, if they differ.
fn mistake(structure: &Structure, instance: Instance<'_>, weights: &[f64]) -> Option<Mistake> {
    let best = |admit: &dyn Fn(&[u32]) -> bool| {
        sequences(structure.labels(), instance.len())
            .filter(|labels| is_possible(structure, labels) && admit(labels))
            .map(|labels| (score(weights, &features(structure, instance, &labels)), labels))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap()
    };
    let (high, predicted) = best(&|_| true);
    if is_allowed(instance, &predicted) {
        return None;
    }
    let (low, target) = best(&|labels| is_allowed(instance, labels));
    let mut difference = vec![0.0; weights.len()];
    for (labels, sign) in [(&target, 1.0), (&predicted, -1.0)] {
        for (feature, value) in features(structure, instance, labels) {
            difference[feature] += sign * value;
        }
    }
    let errors = target.iter().zip(&predicted).filter(|(a, b)| a != b).count() as f64;
    Some(Mistake {
        difference,
        excess: high - low,
        errors,
    })
}

/// Visits all instances `EPOCHS` times and lets `learn` change the weights; the last weights, and the mean of those
/// at the start and after each instance.
fn plain(case: &Case, mut learn: impl FnMut(&mut [f64], Mistake)) -> (Vec<f64>, Vec<f64>) {
    let mut weights = case.weights.clone();
    let mut sum = weights.clone();
    let mut count = 1.0;
    for epoch in 1..=EPOCHS {
        let mut mistakes = 0;
        for index in visiting_order(case.data.len(), SEED, epoch) {
            let instance = case.data.instance(index as usize);
            if let Some(mistake) = mistake(&case.structure, instance, &weights) {
                learn(&mut weights, mistake);
                mistakes += 1;
            }
            sum.iter_mut().zip(&weights).for_each(|(sum, w)| *sum += w);
            count += 1.0;
        }
        if mistakes == 0 {
            break;
        }
    }
    sum.iter_mut().for_each(|sum| *sum /= count);
    (weights, sum)
}

fn add(weights: &mut [f64], rate: f64, difference: &[f64]) {
    weights
        .iter_mut()
        .zip(difference)
        .for_each(|(w, d)| *w += rate * d);
}

#[test]
fn the_perceptron_averages_its_weights() {
    for seed in 0..150 {
        let case = case(seed);
        let (_, mean) = plain(&case, |weights, mistake| add(weights, 1.0, &mistake.difference));
        let options = PerceptronOptions {
            max_iterations: Some(EPOCHS),
            seed: SEED,
            ..PerceptronOptions::default()
        };
        let found = run(&case, |x| Box::new(AveragedPerceptron::new(x, options).unwrap()));
        assert_close(&found, &mean, &case);
    }
}

#[test]
fn passive_aggressive_steps() {
    for seed in 1000..1150 {
        let case = case(seed);
        let mut rng = Rng::new(seed);
        let options = PassiveAggressiveOptions {
            pa_type: PaType::from_number(rng.below(3) as u32).unwrap(),
            c: 0.3,
            error_sensitive: rng.coin(),
            averaging: rng.coin(),
            max_iterations: Some(EPOCHS),
            seed: SEED,
            ..PassiveAggressiveOptions::default()
        };
        let (last, mean) = plain(&case, |weights, mistake| {
            let cost = if options.error_sensitive {
                mistake.errors.sqrt()
            } else {
                1.0
            };
            let loss = cost + mistake.excess;
            let norm: f64 = mistake.difference.iter().map(|d| d * d).sum();
            let rate = match options.pa_type {
                PaType::NoSlack => loss / norm,
                PaType::I => options.c.min(loss / norm),
                PaType::II => loss / (norm + 1.0 / (2.0 * options.c)),
            };
            let before = score_of(weights, &mistake.difference);
            add(weights, rate, &mistake.difference);
            let margin = score_of(weights, &mistake.difference);
            assert!(margin > before);
            if options.pa_type == PaType::NoSlack {
                assert!((margin - cost).abs() < 1e-9, "the margin is the cost");
            }
        });
        let found = run(&case, |x| Box::new(PassiveAggressive::new(x, options).unwrap()));
        assert_close(&found, if options.averaging { &mean } else { &last }, &case);
    }
}

fn score_of(weights: &[f64], difference: &[f64]) -> f64 {
    weights.iter().zip(difference).map(|(w, d)| w * d).sum()
}

#[test]
fn arow_steps() {
    for seed in 2000..2150 {
        let case = case(seed);
        let options = ArowOptions {
            variance: 0.7,
            gamma: 2.0,
            max_iterations: Some(EPOCHS),
            seed: SEED,
            ..ArowOptions::default()
        };
        let mut covariance = vec![options.variance; case.weights.len()];
        let (last, _) = plain(&case, |weights, mistake| {
            let spread: f64 = mistake
                .difference
                .iter()
                .zip(&covariance)
                .map(|(d, v)| d * d * v)
                .sum();
            let alpha = (mistake.excess + mistake.errors) / (spread + options.gamma);
            for ((w, d), v) in weights.iter_mut().zip(&mistake.difference).zip(&mut covariance) {
                *w += alpha * *v * d;
                *v = 1.0 / (1.0 / *v + d * d / options.gamma);
            }
        });
        let found = run(&case, |x| Box::new(Arow::new(x, options).unwrap()));
        assert_close(&found, &last, &case);
    }
}

/// Whether a weight takes part in an instance: its observation occurs there, or it is shared by all.
fn takes_part(case: &Case, instance: Instance<'_>) -> Vec<bool> {
    let structure = &case.structure;
    let mut active = vec![true; structure.weights()];
    active[..structure.pair_weights().end].fill(false);
    for position in instance.positions() {
        for (id, _) in case.data.unary.iter(position) {
            active[structure.unary().features(id)].fill(true);
        }
        for (id, _) in case.data.pair.iter(position) {
            let range = structure.pair().features(id);
            let start = structure.pair_weights().start;
            active[start + range.start..start + range.end].fill(true);
        }
    }
    active
}

#[test]
fn gradient_steps_with_every_prior() {
    for seed in 3000..3120 {
        let case = case(seed);
        let mut rng = Rng::new(seed);
        let prior = Prior {
            c1: [0.0, 0.2][rng.below(2)],
            c2: [0.0, 0.5][rng.below(2)],
        };
        let options = SgdOptions {
            prior,
            calibration_samples: 2,
            max_iterations: Some(EPOCHS),
            seed: SEED,
            ..SgdOptions::default()
        };
        let mut objective = objective(&case);
        let mut trainer = Sgd::new(objective.import(&case.weights), options).unwrap();
        while trainer.epoch(&mut objective).unwrap().is_some() {}
        let eta = trainer.learning_rate().unwrap();
        let found = objective.export(trainer.weights());

        let instances = case.data.len() as f64;
        let lambda = 2.0 * prior.c2 / instances;
        let mut weights = case.weights.clone();
        let (mut due, mut received) = (0.0, vec![0.0; weights.len()]);
        let mut best = (f64::INFINITY, weights.clone());
        let mut seen = 0.0;
        for epoch in 1..=EPOCHS {
            let mut loss = 0.0;
            for index in visiting_order(case.data.len(), SEED, epoch) {
                let instance = case.data.instance(index as usize);
                let rate = if prior.c1 > 0.0 || prior.c2 == 0.0 {
                    eta * options.decay.powf(seen / instances)
                } else {
                    1.0 / (lambda * (1.0 / (lambda * eta) + seen))
                };
                seen += 1.0;
                let shrink = 1.0 / (1.0 + rate * lambda);
                weights.iter_mut().for_each(|w| *w *= shrink);
                received.iter_mut().for_each(|q| *q *= shrink);
                due *= shrink;
                let mut gradient = vec![0.0; weights.len()];
                loss += instance_loss(&case.structure, instance, &weights, &mut gradient);
                add(&mut weights, -rate, &gradient);
                due += rate * prior.c1 / instances;
                let mut active = takes_part(&case, instance);
                if seen % instances == 0.0 {
                    active.fill(true);
                }
                for feature in 0..weights.len() {
                    if prior.c1 == 0.0 || !active[feature] {
                        continue;
                    }
                    let before = weights[feature];
                    if before > 0.0 {
                        weights[feature] = (before - (due + received[feature])).max(0.0);
                    } else if before < 0.0 {
                        weights[feature] = (before + (due - received[feature])).min(0.0);
                    }
                    received[feature] += weights[feature] - before;
                }
            }
            let penalty = |w: &f64| prior.c1 * w.abs() + prior.c2 * w * w;
            loss += weights.iter().map(penalty).sum::<f64>();
            if loss < best.0 {
                best = (loss, weights.clone());
            }
        }
        assert!((trainer.best_loss() - best.0).abs() < 1e-8 * (1.0 + best.0.abs()));
        for (f, e) in found.iter().zip(&best.1) {
            assert!(
                (f - e).abs() <= 1e-7 * (1.0 + e.abs()),
                "{f} instead of {e}: {case:?}"
            );
        }
    }
}

/// The label of a position is that of its own observation, except after "x", where it is B.
fn separable() -> Dataset {
    let mut rng = Rng::new(77);
    let mut builder = DatasetBuilder::new();
    let labels = ["A", "B", "C"].map(|name| builder.labels.intern(name));
    let names = ["a", "b", "c", "x"].map(|name| builder.observations.intern(name));
    for _ in 0..40 {
        let mut after_x = false;
        for _ in 0..2 + rng.below(6) {
            let word = rng.below(4);
            builder.observe(names[word], 1.0);
            if after_x {
                builder.observe_pair(names[3], 1.0);
            }
            let label = if after_x { labels[1] } else { labels[word % 3] };
            builder.end_position(Gold::Known(label)).unwrap();
            after_x = word == 3;
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

fn trainers(len: usize) -> Vec<Box<dyn OnlineTrainer>> {
    let x = || vec![0.0; len];
    let l1 = SgdOptions {
        prior: Prior { c1: 0.5, c2: 0.1 },
        ..SgdOptions::default()
    };
    vec![
        Box::new(AveragedPerceptron::new(x(), PerceptronOptions::default()).unwrap()),
        Box::new(PassiveAggressive::new(x(), PassiveAggressiveOptions::default()).unwrap()),
        Box::new(Arow::new(x(), ArowOptions::default()).unwrap()),
        Box::new(Sgd::new(x(), SgdOptions::default()).unwrap()),
        Box::new(Sgd::new(x(), l1).unwrap()),
    ]
}

fn restore(kind: usize, bytes: &[u8]) -> Result<Box<dyn OnlineTrainer>, OptimizeError> {
    Ok(match kind {
        0 => Box::new(AveragedPerceptron::restore(bytes)?),
        1 => Box::new(PassiveAggressive::restore(bytes)?),
        2 => Box::new(Arow::restore(bytes)?),
        _ => Box::new(Sgd::restore(bytes)?),
    })
}

#[test]
fn separable_data_are_learned_without_mistake() {
    let data = separable();
    for order in 1..=3 {
        let options = StructureOptions {
            order,
            boundaries: true,
            ..StructureOptions::default()
        };
        let structure = Structure::build(&data, &options).unwrap();
        let mut objective = ChainObjective::<f64>::new(&structure, data.clone(), Arithmetic::Scaled);
        let last_weights = PassiveAggressiveOptions {
            averaging: false,
            ..PassiveAggressiveOptions::default()
        };
        let mut all = trainers(objective.len());
        all.truncate(3);
        let x = vec![0.0; objective.len()];
        all.push(Box::new(PassiveAggressive::new(x, last_weights).unwrap()));
        for (kind, mut trainer) in all.into_iter().enumerate() {
            while trainer.epoch(&mut objective).unwrap().is_some() {}
            assert_eq!(trainer.status(), Status::LossConverged);
            assert_eq!((trainer.last().updates, trainer.last().loss), (0, 0.0));
            // The mean of weights need not be as good as the last ones.
            let weights = objective.export(trainer.weights());
            for instance in data.instances().filter(|_| kind >= 2) {
                assert!(mistake(&structure, instance, &weights).is_none(), "order {order}");
            }
        }
    }
}

#[test]
fn unknown_labels_teach_nothing() {
    let mut builder = DatasetBuilder::new();
    builder.labels.intern("A");
    builder.labels.intern("B");
    let id = builder.observations.intern("o");
    for _ in 0..3 {
        builder.observe(id, 1.0);
        builder.end_position(Gold::Unknown).unwrap();
    }
    let data = builder.finish();
    let options = StructureOptions {
        states: fieldmark_chain::Strategy::All,
        ..StructureOptions::default()
    };
    let structure = Structure::build(&data, &options).unwrap();
    let mut objective = ChainObjective::<f64>::new(&structure, data, Arithmetic::Scaled);
    for mut trainer in trainers(objective.len()) {
        trainer.epoch(&mut objective).unwrap();
        assert!(trainer.weights().iter().all(|w| w.abs() < 1e-12));
    }
}

#[test]
fn gradient_descent_comes_close_to_the_optimum() {
    let data = separable();
    let structure = Structure::build(&data, &StructureOptions::default()).unwrap();
    let mut objective = ChainObjective::<f64>::new(&structure, data, Arithmetic::Scaled);
    for (c1, c2) in [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)] {
        let prior = Prior { c1, c2 };
        let options = LbfgsOptions {
            prior,
            ..LbfgsOptions::default()
        };
        let mut exact = Lbfgs::new(vec![0.0; objective.len()], options).unwrap();
        while exact.step(&mut objective).unwrap().is_some() {}
        let options = SgdOptions {
            prior,
            max_iterations: Some(100),
            ..SgdOptions::default()
        };
        let mut trainer = Sgd::new(vec![0.0; objective.len()], options).unwrap();
        while trainer.epoch(&mut objective).unwrap().is_some() {}
        let weights = trainer.weights().to_vec();
        let mut gradient = vec![0.0; weights.len()];
        let penalty: f64 = weights.iter().map(|w| c1 * w.abs() + c2 * w * w).sum();
        let loss = objective.evaluate(&weights, &mut gradient) + penalty;
        let best = exact.last().loss;
        assert!(loss < best * 1.02, "c1 {c1}, c2 {c2}: {loss} against {best}");
    }
}

#[test]
fn an_l1_term_makes_weights_sparse() {
    let data = separable();
    let options = StructureOptions {
        states: fieldmark_chain::Strategy::All,
        ..StructureOptions::default()
    };
    let structure = Structure::build(&data, &options).unwrap();
    let mut objective = ChainObjective::<f64>::new(&structure, data, Arithmetic::Scaled);
    let mut active = |c1: f64| {
        let options = SgdOptions {
            prior: Prior { c1, c2: 0.0 },
            max_iterations: Some(20),
            ..SgdOptions::default()
        };
        let mut trainer = Sgd::new(vec![0.0; objective.len()], options).unwrap();
        while trainer.epoch(&mut objective).unwrap().is_some() {}
        trainer.weights().iter().filter(|&&w| w != 0.0).count()
    };
    let (none, some, all) = (active(0.0), active(2.0), active(1e4));
    assert_eq!(none, structure.weights());
    assert!(some > 0 && some < none * 3 / 4, "{some} of {none}");
    assert_eq!(all, 0);
}

#[test]
fn a_restored_run_goes_on_bit_by_bit() {
    let case = case(4000);
    let mut objective = objective(&case);
    let len = objective.len();
    let bits =
        |trainer: &dyn OnlineTrainer| trainer.weights().iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    for (kind, mut straight) in trainers(len).into_iter().enumerate() {
        let mut trainer = restore(kind, &straight.save()).unwrap();
        for _ in 0..4 {
            let expected = straight.epoch(&mut objective).unwrap();
            assert_eq!(trainer.epoch(&mut objective).unwrap(), expected);
            assert_eq!(bits(&*trainer), bits(&*straight));
            let bytes = trainer.save();
            trainer = restore(kind, &bytes).unwrap();
            assert_eq!(trainer.save(), bytes);
            for place in (0..bytes.len()).step_by(7) {
                let mut damaged = bytes.clone();
                damaged[place] ^= 4;
                assert!(restore(kind, &damaged).is_err());
                assert!(restore(kind, &bytes[..place]).is_err());
            }
            assert!(
                restore((kind + 1) % 4, &bytes).is_err() || kind == 4,
                "another kind"
            );
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let data = separable();
    let structure = Structure::build(&data, &StructureOptions::default()).unwrap();
    let weights = |threads: usize| -> Vec<Vec<u64>> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut objective = ChainObjective::<f64>::new(&structure, data.clone(), Arithmetic::Scaled);
            let len = objective.len();
            let run = |mut trainer: Box<dyn OnlineTrainer>| {
                for _ in 0..2 {
                    trainer.epoch(&mut objective).unwrap();
                }
                let weights = objective.export(trainer.weights());
                weights.iter().map(|w| w.to_bits()).collect()
            };
            trainers(len).into_iter().map(run).collect()
        })
    };
    let expected = weights(1);
    assert_eq!(weights(2), expected);
    assert_eq!(weights(7), expected);
}

#[test]
fn the_limit_on_passes_can_be_raised() {
    let case = case(4001);
    let mut objective = objective(&case);
    for mut trainer in trainers(objective.len()) {
        trainer.set_max_iterations(Some(1));
        assert_eq!(trainer.epoch(&mut objective).unwrap().unwrap().epoch, 1);
        if trainer.status() == Status::LossConverged {
            continue;
        }
        assert_eq!(trainer.status(), Status::MaxIterations);
        assert!(trainer.epoch(&mut objective).unwrap().is_none());
        trainer.set_max_iterations(None);
        assert_eq!(trainer.epoch(&mut objective).unwrap().unwrap().epoch, 2);
    }
}

#[test]
fn options_and_weights_are_checked() {
    let wrong = |result: Result<(), OptimizeError>| matches!(result, Err(OptimizeError::Option { .. }));
    let pa = PassiveAggressiveOptions {
        c: 0.0,
        ..PassiveAggressiveOptions::default()
    };
    assert!(wrong(PassiveAggressive::new(vec![], pa).map(drop)));
    let arow = ArowOptions {
        gamma: f64::NAN,
        ..ArowOptions::default()
    };
    assert!(wrong(Arow::new(vec![], arow).map(drop)));
    let sgd = SgdOptions {
        calibration_rate: 1.0,
        ..SgdOptions::default()
    };
    assert!(wrong(Sgd::new(vec![], sgd).map(drop)));
    let case = case(4002);
    let mut objective = objective(&case);
    for mut trainer in trainers(1) {
        assert!(matches!(
            trainer.epoch(&mut objective),
            Err(OptimizeError::Length { weights: 1, .. })
        ));
    }
}
