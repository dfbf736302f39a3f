//! Simulations from start to end on small data.

use fieldmark_core::random::SplitMix64;
use fieldmark_core::{Dataset, DatasetBuilder, Gold};
use fieldmark_learn::simulate::{Event, Experiment, Observer, Results, SimulationOptions};
use fieldmark_learn::{Error, Strategy, Unit};
use std::ops::ControlFlow;

/// Sentences of a tiny language: names are capital, and a name after `in` is a place.
fn corpus(seed: u64, sentences: usize, base: Option<&Dataset>) -> Dataset {
    let mut random = SplitMix64(seed);
    let mut builder = match base {
        Some(base) => DatasetBuilder::with_alphabets(base.labels.clone(), base.observations.clone()),
        None => DatasetBuilder::new(),
    };
    let labels = ["O", "B-PER", "I-PER", "B-LOC"].map(|label| builder.labels.intern(label));
    for _ in 0..sentences {
        let length = 3 + random.below(8) as usize;
        let mut before = 0;
        for _ in 0..length {
            let word = random.below(12);
            let capital = word >= 7;
            let gold = match (capital, before) {
                (true, 3) => labels[3],
                (true, before) if before >= 7 => labels[2],
                (true, _) => labels[1],
                (false, _) => labels[0],
            };
            let names = [
                format!("w={word}"),
                format!("before={before}"),
                format!("capital={capital},{}", before >= 7),
            ];
            for name in names {
                let id = match base {
                    Some(base) => base.observations.get(&name),
                    None => Some(builder.observations.intern(&name)),
                };
                if let Some(id) = id {
                    builder.observe(id, 1.0);
                }
            }
            builder.end_position(Gold::Known(gold)).unwrap();
            before = word;
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

fn experiment(options: SimulationOptions) -> Experiment {
    let data = corpus(1, 80, None);
    let test = corpus(2, 60, Some(&data));
    Experiment::new(data, test, options).unwrap()
}

fn options() -> SimulationOptions {
    SimulationOptions {
        strategies: Strategy::all().collect(),
        initial_tokens: 10,
        batch: 5,
        iterations: 4,
        runs: 2,
        ..SimulationOptions::default()
    }
}

fn with_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(run)
}

#[test]
fn curves_have_the_points_that_were_asked_for() {
    let experiment = experiment(options());
    let results = experiment.run(None, &mut ()).unwrap();
    assert_eq!(results.curves.len(), 22);
    assert!(results.full.token_f1 > 0.95, "{:?}", results.full);
    for curve in &results.curves {
        assert_eq!(curve.points.len(), 5);
        let first = &curve.points[0];
        assert!((10..20).contains(&first.labelled_tokens));
        assert_eq!(first.behaviour.questions, 0);
        for (pair, iteration) in curve.points.windows(2).zip(1..) {
            let new = pair[1].labelled_tokens - pair[0].labelled_tokens;
            assert_eq!(pair[1].iteration, iteration);
            if curve.strategy.asks_sequences() {
                assert!((5..15).contains(&new), "as many tokens as a batch has questions");
            } else {
                assert_eq!((new, pair[1].behaviour.questions), (5, 5));
            }
        }
        // The same beginning for every strategy.
        let other = results
            .curves
            .iter()
            .find(|other| other.run == curve.run)
            .unwrap();
        assert_eq!(other.points[0], curve.points[0]);
    }
    let starts: Vec<f64> = results
        .curves
        .iter()
        .map(|curve| curve.points[0].scores.accuracy)
        .collect();
    assert!(
        starts.iter().any(|&start| start != starts[0]),
        "runs begin otherwise"
    );
}

#[test]
fn threads_do_not_matter() {
    let experiment = experiment(SimulationOptions {
        runs: 1,
        iterations: 2,
        ..options()
    });
    let one = with_threads(1, || experiment.run(None, &mut ()).unwrap());
    assert_eq!(with_threads(4, || experiment.run(None, &mut ()).unwrap()), one);
    // More threads than curves: each curve has several.
    assert_eq!(with_threads(40, || experiment.run(None, &mut ()).unwrap()), one);
}

#[test]
fn units_label_more_at_once() {
    let new_tokens = |unit, iterations| {
        let experiment = experiment(SimulationOptions {
            strategies: vec![Strategy::TokenMargin],
            unit,
            iterations,
            runs: 1,
            ..options()
        });
        let results = experiment.run(None, &mut ()).unwrap();
        let points = &results.curves[0].points;
        points.last().unwrap().labelled_tokens - points[0].labelled_tokens
    };
    assert_eq!(new_tokens(Unit::Token, 2), 10);
    let three = new_tokens(Unit::ThreeTokens, 2);
    assert!((15..=30).contains(&three), "{three}");
    let span = new_tokens(Unit::Span, 2);
    assert!((10..=30).contains(&span), "{span}");
    assert!((10..40).contains(&new_tokens(Unit::Sequence, 2)));
}

#[test]
fn a_small_pool_is_asked_to_the_end() {
    let data = corpus(1, 6, None);
    let test = corpus(2, 10, Some(&data));
    let tokens = data.positions();
    let options = SimulationOptions {
        iterations: 40,
        runs: 1,
        ..options()
    };
    let results = Experiment::new(data, test, options)
        .unwrap()
        .run(None, &mut ())
        .unwrap();
    for curve in &results.curves {
        let last = curve.points.last().unwrap();
        assert_eq!(last.labelled_tokens, tokens, "{}", curve.strategy);
        assert!(curve.points.len() < 40);
    }
}

#[test]
fn similar_questions_are_not_asked_in_one_batch() {
    // With the first similarity above 0 no two questions of a batch share an observation.
    let with = |similarity| {
        let experiment = experiment(SimulationOptions {
            strategies: vec![Strategy::TokenMargin],
            batch: 40,
            iterations: 1,
            runs: 1,
            similarity,
            ..options()
        });
        let results = experiment.run(None, &mut ()).unwrap();
        results.curves[0].points[1].behaviour.questions
    };
    assert_eq!(with(None), 40);
    // Two values of `before` and of `capital`: every two questions have something in common soon.
    let few = with(Some(1e-9));
    assert!((1..=4).contains(&few), "{few}");
    assert!(with(Some(1.0)) > few);
}

/// Stops after so many points.
struct Stopper(usize);

impl Observer for Stopper {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if matches!(event, Event::Point { .. }) {
            self.0 = self.0.saturating_sub(1);
        }
        match self.0 {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn a_stopped_experiment_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    let interrupted = experiment(options());
    let whole = interrupted.run(None, &mut ()).unwrap();
    let mut stops = 0;
    let results: Results = loop {
        match with_threads(2, || interrupted.run(Some(&file), &mut Stopper(17))) {
            Ok(results) => break results,
            Err(Error::Stopped { finished, all }) => {
                assert!(finished < all && all == 22);
                stops += 1;
            }
            Err(error) => panic!("{error}"),
        }
        assert!(stops < 40, "no progress");
    };
    assert!(stops > 0);
    assert_eq!(results, whole);

    // More strategies and runs may be added, other options not.
    let fewer = SimulationOptions {
        strategies: vec![Strategy::Random],
        runs: 3,
        ..options()
    };
    let mut points = Counter(0);
    let more = experiment(fewer).run(Some(&file), &mut points).unwrap();
    assert_eq!(
        (more.curves.len(), points.0),
        (3, 5),
        "two of three runs were there"
    );
    let other = SimulationOptions {
        batch: 6,
        ..options()
    };
    let error = experiment(other).run(Some(&file), &mut ()).unwrap_err();
    assert!(error.to_string().contains("another experiment"), "{error}");
    std::fs::write(&file, "{}").unwrap();
    let error = interrupted.run(Some(&file), &mut ()).unwrap_err().to_string();
    assert!(
        error.contains("not the state of a simulation") && error.contains("state.json"),
        "{error}"
    );
}

struct Counter(usize);

impl Observer for Counter {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        self.0 += usize::from(matches!(event, Event::Point { .. }));
        ControlFlow::Continue(())
    }
}

#[test]
fn summaries_and_tables() {
    let results = experiment(options()).run(None, &mut ()).unwrap();
    let summaries = results.summaries().unwrap();
    assert_eq!(summaries.len(), 11);
    for summary in &summaries {
        let curves: Vec<_> = results
            .curves
            .iter()
            .filter(|curve| curve.strategy == summary.strategy)
            .collect();
        assert_eq!((curves.len(), summary.points.len()), (2, 5));
        for (at, point) in summary.points.iter().enumerate() {
            let [one, two] = [0, 1].map(|run| curves[run].points[at]);
            let [f1, f2] = [one.scores.token_f1, two.scores.token_f1];
            assert_eq!(point.token_f1, (f1 + f2) / 2.0);
            assert!((point.deviation - (f1 - f2).abs() / 2f64.sqrt()).abs() < 1e-12);
            assert_eq!(
                point.labelled_tokens,
                (one.labelled_tokens + two.labelled_tokens) as f64 / 2.0
            );
        }
        let needed = summary.needed[0];
        assert_eq!(needed.share, 0.95);
        let reached = summary
            .points
            .iter()
            .find(|point| point.token_f1 >= 0.95 * results.full.token_f1);
        assert_eq!(needed.labelled_tokens, reached.map(|point| point.labelled_tokens));
        let mut worst = 0.0f64;
        for curve in curves {
            for pair in curve.points.windows(2) {
                worst = worst.max(pair[0].scores.token_f1 - pair[1].scores.token_f1);
            }
        }
        assert_eq!(summary.largest_drop, worst);
    }
    let mut csv = Vec::new();
    results.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 22 * 5);
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
    assert!(lines[1].starts_with("MTP,0,0,0,"), "{}", lines[1]);
    let json = serde_json::to_string(&results).unwrap();
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let data = corpus(1, 3, None);
    let error = |change: &dyn Fn(&mut SimulationOptions)| {
        let mut options = options();
        change(&mut options);
        Experiment::new(data.clone(), data.clone(), options)
            .unwrap_err()
            .to_string()
    };
    assert!(error(&|o| o.strategies.clear()).contains("no strategy"));
    assert!(error(&|o| o.strategies.push(Strategy::Random)).contains("RAND is named twice"));
    assert!(error(&|o| o.batch = 0).contains("0 questions"));
    assert!(error(&|o| o.runs = 0).contains("0 runs"));
    assert!(error(&|o| o.initial_tokens = 0).contains("0 tokens"));
    assert!(error(&|o| o.similarity = Some(2.0)).contains("at most 1"));
    let mut builder = DatasetBuilder::new();
    builder.labels.intern("X");
    builder.end_position(Gold::Known(0)).unwrap();
    builder.end_position(Gold::Unknown).unwrap();
    let partial = builder.finish();
    let error = Experiment::new(partial, data.clone(), options())
        .unwrap_err()
        .to_string();
    assert!(error.contains("token 2 of sequence 1"), "{error}");
}
