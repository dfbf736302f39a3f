//! Training from start to finish on the sample corpus.

use fieldmark::chain::train::online::{ArowOptions, PassiveAggressiveOptions, PerceptronOptions, SgdOptions};
use fieldmark::core::optimize::{LbfgsOptions, OnlineLbfgsOptions, Prior};
use fieldmark::core::{Dataset, DatasetBuilder, Gold, Scheme};
use fieldmark::text::surface;
use fieldmark::text::tokenize::{Tokenizer, TokenizerProfile};
use fieldmark::{
    Algorithm, CheckpointOptions, Flow, InputFormat, Interval, Model, Observer, Progress, Stop, TrainOptions,
    Trained, sample, train,
};

/// The sentences of a side of the sample, read with the names of `known` or with new ones.
fn data(text: &str, known: Option<&Dataset>) -> Dataset {
    let mut builder = match known {
        Some(known) => DatasetBuilder::with_alphabets(known.labels.clone(), known.observations.clone()),
        None => DatasetBuilder::new(),
    };
    for sentence in sample::parse(text).unwrap() {
        let tokens = Tokenizer::new(TokenizerProfile::Clinical).tokenize(&sentence.text);
        let words: Vec<&str> = tokens.iter().map(|token| token.text(&sentence.text)).collect();
        let spans = sentence.align(&tokens).unwrap();
        let labels = Scheme::Iob2.labels_of(&spans, tokens.len()).unwrap();
        for (t, label) in labels.iter().enumerate() {
            surface::observe(&words, t, &mut |name| {
                let id = match known {
                    Some(known) => known.observations.get(name),
                    None => Some(builder.observations.intern(name)),
                };
                if let Some(id) = id {
                    builder.observe(id, 1.0);
                }
            });
            let label = builder.labels.intern(label);
            builder.end_position(Gold::Known(label)).unwrap();
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

fn options(max_iterations: u64) -> TrainOptions {
    let lbfgs = LbfgsOptions {
        max_iterations: Some(max_iterations),
        ..LbfgsOptions::default()
    };
    TrainOptions {
        algorithm: Algorithm::Lbfgs(lbfgs),
        ..TrainOptions::default()
    }
}

fn bits(trained: &Trained) -> Vec<u64> {
    trained
        .model
        .weights()
        .iter()
        .map(|weight| weight.to_bits())
        .collect()
}

/// Stops after some iterations.
struct StopAfter(u64);

impl Observer for StopAfter {
    fn iteration(&mut self, progress: &Progress) -> Flow {
        if progress.iteration.iteration >= self.0 {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_weights() {
    let weights: Vec<Vec<u64>> = [1, 2, 7]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                bits(&train(data(sample::TRAIN, None), None, None, &options(8), &mut ()).unwrap())
            })
        })
        .collect();
    assert!(weights[0] == weights[1] && weights[0] == weights[2]);
}

#[test]
fn a_run_that_was_stopped_and_resumed_ends_like_one_that_was_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.checkpoint");
    let checkpoint = |resume| CheckpointOptions {
        path: path.clone(),
        every: Interval::Iterations(3),
        resume,
    };
    let train_data = data(sample::TRAIN, None);
    let dev = data(sample::TEST, Some(&train_data));
    let whole = train(train_data.clone(), Some(&dev), None, &options(12), &mut ()).unwrap();

    let mut first = options(12);
    first.checkpoint = Some(checkpoint(false));
    let stopped = train(train_data.clone(), Some(&dev), None, &first, &mut StopAfter(5)).unwrap();
    assert_eq!(stopped.stop, Stop::Asked);
    let mut second = options(12);
    second.checkpoint = Some(checkpoint(true));
    let resumed = train(train_data.clone(), Some(&dev), None, &second, &mut ()).unwrap();
    assert_eq!(bits(&resumed), bits(&whole));
    assert_eq!(resumed.iterations.len(), 12);
    assert_eq!(resumed.best, whole.best);

    let mut other = options(12);
    other.checkpoint = Some(checkpoint(true));
    other.structure.order = 2;
    let other_order = train(train_data.clone(), Some(&dev), None, &other, &mut ());
    let without_dev = train(train_data.clone(), None, None, &second, &mut ());
    let other_dev = train(train_data.clone(), Some(&train_data), None, &second, &mut ());
    let warm = train(train_data, Some(&dev), Some(&whole.model), &second, &mut ());
    for error in [other_order, without_dev, other_dev, warm] {
        let error = error.unwrap_err();
        assert!(error.to_string().contains("another run"), "{error}");
    }
}

#[test]
fn patience_keeps_the_best_weights() {
    let train_data = data(sample::TRAIN, None);
    let dev = data(sample::TEST, Some(&train_data));
    let mut impatient = options(200);
    impatient.patience = Some(3);
    let trained = train(train_data.clone(), Some(&dev), None, &impatient, &mut ()).unwrap();
    let best = trained.best.unwrap();
    let score = |progress: &Progress| progress.dev.unwrap();
    let top = trained.iterations.iter().map(score).fold(0.0, f64::max);
    assert_eq!(
        trained.iterations.iter().position(|p| score(p) == top),
        Some(best as usize - 1)
    );
    if trained.stop == Stop::Patience {
        assert_eq!(trained.iterations.len() as u64, best + 3);
    }
    let exactly = train(train_data, None, None, &options(best), &mut ()).unwrap();
    assert_eq!(bits(&trained), bits(&exactly));
}

/// A run may be killed between its last checkpoint and the writing of the model.
#[test]
fn a_resumed_run_whose_patience_is_used_up_takes_no_step() {
    let directory = tempfile::tempdir().unwrap();
    let train_data = data(sample::TRAIN, None);
    let dev = data(sample::TEST, Some(&train_data));
    let run = |resume| {
        let mut impatient = options(200);
        impatient.patience = Some(2);
        impatient.checkpoint = Some(CheckpointOptions {
            path: directory.path().join("run.checkpoint"),
            every: Interval::Iterations(1),
            resume,
        });
        train(train_data.clone(), Some(&dev), None, &impatient, &mut ()).unwrap()
    };
    let (whole, resumed) = (run(false), run(true));
    assert_eq!((whole.stop, resumed.stop), (Stop::Patience, Stop::Patience));
    assert_eq!(whole.iterations.len(), resumed.iterations.len());
    assert_eq!(bits(&whole), bits(&resumed));
}

#[test]
fn a_warm_start_is_where_the_other_model_ended() {
    let train_data = data(sample::TRAIN, None);
    let cold = train(train_data.clone(), None, None, &options(30), &mut ()).unwrap();
    let warm = train(train_data, None, Some(&cold.model), &options(1), &mut ()).unwrap();
    let last = cold.iterations.last().unwrap().iteration.loss;
    assert!(
        warm.iterations[0].iteration.loss <= last,
        "{} > {last}",
        warm.iterations[0].iteration.loss
    );
}

/// Two models may have the same weights for other names.
#[test]
fn a_run_that_started_from_another_model_is_not_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let train_data = data(sample::TRAIN, None);
    let renamed = sample::TRAIN.replace("](DRUG)", "](OTHER)");
    assert_ne!(renamed, sample::TRAIN);
    let first = train(train_data.clone(), None, None, &options(3), &mut ()).unwrap();
    let second = train(data(&renamed, None), None, None, &options(3), &mut ()).unwrap();
    assert_eq!(bits(&first), bits(&second));
    let run = |warm: &Trained, resume| {
        let mut options = options(4);
        options.checkpoint = Some(CheckpointOptions {
            path: directory.path().join("run.checkpoint"),
            every: Interval::Iterations(1),
            resume,
        });
        train(train_data.clone(), None, Some(&warm.model), &options, &mut ())
    };
    run(&first, false).unwrap();
    run(&first, true).unwrap();
    let error = run(&second, true).unwrap_err().to_string();
    assert!(error.contains("another run"), "{error}");
}

#[test]
fn every_algorithm_learns_and_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.checkpoint");
    let train_data = data(sample::TRAIN, None);
    let algorithms = [
        Algorithm::Lbfgs(LbfgsOptions {
            prior: Prior { c1: 0.5, c2: 0.1 },
            ..LbfgsOptions::default()
        }),
        Algorithm::OnlineLbfgs(OnlineLbfgsOptions::default()),
        Algorithm::Sgd(SgdOptions::default()),
        Algorithm::Sgd(SgdOptions {
            prior: Prior { c1: 0.5, c2: 0.0 },
            ..SgdOptions::default()
        }),
        Algorithm::AveragedPerceptron(PerceptronOptions::default()),
        Algorithm::PassiveAggressive(PassiveAggressiveOptions::default()),
        Algorithm::Arow(ArowOptions::default()),
    ];
    for algorithm in algorithms {
        let run = |resume: bool, stop: u64| {
            let checkpoint = CheckpointOptions {
                path: path.clone(),
                every: Interval::Iterations(1),
                resume,
            };
            let options = TrainOptions {
                algorithm: algorithm.clone(),
                checkpoint: Some(checkpoint),
                ..TrainOptions::default()
            };
            train(train_data.clone(), None, None, &options, &mut StopAfter(stop)).unwrap()
        };
        let whole = run(false, 6);
        run(false, 3);
        let resumed = run(true, 6);
        assert_eq!(bits(&resumed), bits(&whole), "{algorithm:?}");
        let mut tagger = fieldmark::chain::Tagger::<f64>::new(
            resumed.model.structure(),
            resumed.model.weights(),
            Default::default(),
        );
        let names: Vec<Option<u32>> = train_data
            .observations
            .iter()
            .map(|name| resumed.model.observations().get(name))
            .collect();
        let mut wrong = 0;
        for instance in train_data.instances() {
            let mut builder = DatasetBuilder::new();
            for position in instance.positions() {
                for (id, value) in train_data.unary.iter(position) {
                    if let Some(id) = names[id as usize] {
                        builder.observe(id, value);
                    }
                }
                builder.end_position(Gold::Unknown).unwrap();
            }
            let one = builder.finish();
            let labels = tagger.tag(one.instance(0)).unwrap();
            wrong += labels
                .iter()
                .enumerate()
                .filter(|&(t, &l)| instance.gold(t) != Gold::Known(l))
                .count();
        }
        let share = wrong as f64 / train_data.positions() as f64;
        assert!(
            share < 0.25,
            "{algorithm:?} is wrong at {share} of the positions that it was trained on"
        );
    }
}

#[test]
fn a_saved_model_tags_like_the_one_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    let train_data = data(sample::TRAIN, None);
    let test = data(sample::TEST, Some(&train_data));
    for order in 0..=3 {
        let mut options = options(10);
        options.structure.order = order;
        options.structure.boundaries = order % 2 == 1;
        let trained = train(train_data.clone(), None, None, &options, &mut ()).unwrap();
        let model = Model {
            chain: trained.model,
            input: InputFormat::attributes(),
        };
        model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        assert_eq!(opened.input, model.input);
        assert_eq!(opened.chain.weights(), model.chain.weights());
        // The data are numbered by training; observations without weight are not in the model.
        let numbers: Vec<Option<u32>> = test
            .observations
            .iter()
            .map(|name| opened.chain.observations().get(name))
            .collect();
        let mut builder = DatasetBuilder::new();
        for position in test.instance(0).positions() {
            for (id, value) in test.unary.iter(position) {
                if let Some(id) = numbers[id as usize] {
                    builder.observe(id, value);
                }
            }
            builder.end_position(Gold::Unknown).unwrap();
        }
        let first = builder.finish();
        let (mut one, mut other) = (model.chain.tagger(), opened.chain.tagger());
        let labels = one.tag(first.instance(0)).unwrap();
        assert_eq!(labels, other.tag(first.instance(0)).unwrap());
    }
}
