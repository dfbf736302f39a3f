//! Strategies against enumeration, and rankings against fresh ones.

use crate::testing::Case;
use crate::{Estimator, Pool, Question, Ranking, RankingOptions, Strategy};

/// Label sequences with their probabilities, best first.
type Listed = [(Vec<u32>, f64)];

/// The formulas, word by word.
fn value(strategy: Strategy, all: &Listed, t: usize, labels: u32, n: usize) -> f64 {
    let marginal = |label: u32| -> f64 {
        let with = all.iter().filter(|(list, _)| list[t] == label);
        with.map(|(_, p)| p).sum()
    };
    let best_with = |holds: &dyn Fn(u32) -> bool| {
        let found = all.iter().find(|(list, _)| holds(list[t]));
        found.map_or(0.0, |(_, p)| *p)
    };
    let x_ln_x = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
    let mut sorted: Vec<f64> = (0..labels).map(marginal).collect();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let (viterbi, best) = (&all[0].0, all[0].1);
    let expectation = || -> f64 {
        (0..labels)
            .map(|label| marginal(label) * best_with(&|other| other == label))
            .sum()
    };
    match strategy {
        Strategy::TokenProbability => sorted[0],
        Strategy::TokenEntropy => sorted.iter().copied().map(x_ln_x).sum(),
        Strategy::TokenMargin => sorted[0] - sorted.get(1).unwrap_or(&0.0),
        Strategy::ViterbiProbability => marginal(viterbi[t]),
        Strategy::ViterbiPseudoEntropy => (0..labels)
            .map(|label| x_ln_x(best_with(&|other| other == label)))
            .sum(),
        Strategy::ViterbiMargin => best - best_with(&|other| other != viterbi[t]),
        Strategy::Expectation => expectation(),
        Strategy::ExpectationDifference => expectation() - best,
        Strategy::LeastConfidence => best,
        Strategy::NBestEntropy => {
            let best: Vec<f64> = all.iter().take(n).map(|(_, p)| *p).collect();
            let sum: f64 = best.iter().sum();
            best.iter().map(|p| x_ln_x(p / sum)).sum()
        }
        Strategy::Random => unreachable!("nothing to compare"),
    }
}

fn ranking(case: &Case, strategy: Strategy) -> Ranking {
    let options = RankingOptions {
        n_best: 5,
        seed: 3,
        strategy,
    };
    Ranking::new(&case.pool, &case.model, options).unwrap()
}

#[test]
fn every_strategy_is_its_formula() {
    let mut compared = 0;
    for seed in 0..300 {
        let case = Case::random(seed);
        let labels = case.pool.data().labels.len() as u32;
        for strategy in Strategy::all().filter(|&strategy| strategy != Strategy::Random) {
            let ranking = ranking(&case, strategy);
            for sequence in 0..case.pool.len() {
                let all = case.enumerate(sequence);
                let mut open = case.pool.positions(sequence).enumerate();
                let first_open = open.find(|&(_, at)| !case.pool.is_labelled(at)).map(|(t, _)| t);
                for (t, at) in case.pool.positions(sequence).enumerate() {
                    let key = ranking.keys()[at];
                    let asked = match strategy.asks_sequences() {
                        true => Some(t) == first_open,
                        false => !case.pool.is_labelled(at),
                    };
                    assert_eq!(!key.is_nan(), asked, "{strategy} {seed} {sequence} {t}");
                    if asked {
                        let expected = value(strategy, &all, t, labels, 5);
                        let found = strategy.value(key);
                        assert!(
                            (found - expected).abs() < 1e-9,
                            "{strategy} {seed} {sequence} {t}: {found}, expected {expected}"
                        );
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

/// The sign of two differences, and three strategies that are one where there are two labels.
#[test]
fn what_the_formulas_imply() {
    let mut pairs = 0;
    for seed in 0..300 {
        let case = Case::random(seed);
        let keys = |strategy| ranking(&case, strategy).keys().to_vec();
        let values = |strategy: Strategy| -> Vec<f64> {
            keys(strategy)
                .into_iter()
                .map(|key| strategy.value(key))
                .collect()
        };
        let open = |list: Vec<f64>| list.into_iter().filter(|value| !value.is_nan());
        assert!(open(values(Strategy::ExpectationDifference)).all(|value| value <= 0.0));
        assert!(open(values(Strategy::ViterbiMargin)).all(|value| value >= 0.0));
        if case.pool.data().labels.len() != 2 {
            continue;
        }
        let [probability, entropy, margin] = [
            Strategy::TokenProbability,
            Strategy::TokenEntropy,
            Strategy::TokenMargin,
        ]
        .map(|strategy| open(keys(strategy)).collect::<Vec<_>>());
        for one in 0..probability.len() {
            for other in 0..one {
                // Nearly equal ones may be ordered by rounding.
                if (probability[one] - probability[other]).abs() > 1e-9 {
                    let order = probability[one].total_cmp(&probability[other]);
                    assert_eq!(entropy[one].total_cmp(&entropy[other]), order);
                    assert_eq!(margin[one].total_cmp(&margin[other]), order);
                    pairs += 1;
                }
            }
        }
    }
    assert!(pairs > 100, "{pairs}");
}

/// Asks everything, with random answers; after each answer the ranking is what a new one would be.
#[test]
fn an_answer_changes_its_sequence_as_a_fresh_run_would() {
    for seed in 0..60 {
        let Case { mut pool, model } = Case::random(seed);
        for strategy in Strategy::all() {
            let mut own = pool.clone();
            let options = RankingOptions {
                seed,
                ..RankingOptions::new(strategy)
            };
            let mut ranking = Ranking::new(&own, &model, options).unwrap();
            let mut estimator = Estimator::new(&model);
            let labels = own.data().labels.len() as u64;
            let mut questions = 0;
            while let Some(question) = ranking.ask() {
                let keys = ranking.keys();
                let least = keys.iter().copied().filter(|key| !key.is_nan());
                let least = least.min_by(f64::total_cmp).unwrap();
                assert_eq!(question.key.to_bits(), least.to_bits(), "{strategy} {seed}");
                let positions = own.positions(question.sequence);
                let at = positions.start + question.position;
                assert!(!own.is_labelled(at), "{strategy} {seed}: asked again");
                let first = keys.iter().position(|key| key.to_bits() == least.to_bits());
                assert_eq!(first, Some(at), "of equals the first is asked");
                let answer = (seed + at as u64) % labels;
                own.answer(question.sequence, at, answer as u32).unwrap();
                ranking.answered(&own, question.sequence, &mut estimator).unwrap();
                let fresh = Ranking::new(&own, &model, options).unwrap();
                let bits =
                    |ranking: &Ranking| ranking.keys().iter().map(|key| key.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&ranking), bits(&fresh), "{strategy} {seed}");
                questions += 1;
            }
            assert!((0..own.len()).all(|sequence| own.is_complete(sequence)));
            assert_eq!(questions, own.labelled_positions() - pool.labelled_positions());
        }
        pool.forget(0, 0);
    }
}

#[test]
fn what_was_passed_is_not_asked() {
    let Case { pool, model } = Case::random(5);
    let options = RankingOptions::new(Strategy::TokenMargin);
    let mut ranking = Ranking::new(&pool, &model, options).unwrap();
    let mut seen: Vec<Question> = Vec::new();
    while let Some(question) = ranking.ask() {
        let place = |question: &Question| (question.sequence, question.position);
        assert!(seen.iter().all(|other| place(other) != place(&question)));
        assert!(seen.iter().all(|other| other.key <= question.key));
        ranking.pass(&pool, &question);
        seen.push(question);
    }
    let open = pool.data().positions() - pool.labelled_positions();
    assert_eq!(seen.len(), open);
}

#[test]
fn random_questions_come_in_any_order() {
    let Case { pool, model } = Case::random(7);
    let pool = Pool::unlabelled(pool.data().clone());
    let order = |seed| {
        let options = RankingOptions {
            seed,
            ..RankingOptions::new(Strategy::Random)
        };
        let mut ranking = Ranking::new(&pool, &model, options).unwrap();
        let mut list = Vec::new();
        while let Some(question) = ranking.ask() {
            list.push((question.sequence, question.position));
            ranking.pass(&pool, &question);
        }
        list
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    assert_eq!(order(1).len(), pool.data().positions());
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let case = Case::random(11);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| ranking(&case, Strategy::Expectation).keys().to_vec())
    };
    let bits = |keys: Vec<f64>| keys.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(with(1)), bits(with(3)));
}

/// Several people are asked from one ranking: what one does not want stays for the others.
#[test]
fn questions_that_are_not_wanted_stay() {
    for seed in 0..200 {
        let case = Case::random(seed);
        for strategy in [Strategy::TokenMargin, Strategy::Random] {
            let mut ranking = ranking(&case, strategy);
            let first = ranking.ask_where(&case.pool, |_| true, |_| true);
            let wanted_sequence = |sequence: usize| (sequence as u64 + seed).is_multiple_of(2);
            let wanted_position = |at: usize| !(at as u64 + seed).is_multiple_of(3);
            let found = ranking.ask_where(&case.pool, wanted_sequence, wanted_position);
            // The smallest key of all that is wanted, found the long way.
            let sequences = (0..case.pool.len()).filter(|&sequence| wanted_sequence(sequence));
            let places = sequences.flat_map(|sequence| {
                let positions = case.pool.positions(sequence).enumerate();
                positions.map(move |(t, at)| (sequence, t, at))
            });
            let expected = places
                .filter(|&(_, _, at)| wanted_position(at) && !ranking.keys()[at].is_nan())
                .min_by(|one, other| ranking.keys()[one.2].total_cmp(&ranking.keys()[other.2]))
                .map(|(sequence, t, at)| (sequence, t, ranking.keys()[at]));
            let found = found.map(|question| (question.sequence, question.position, question.key));
            assert_eq!(found, expected, "{strategy} {seed}");
            let again = ranking.ask_where(&case.pool, |_| true, |_| true);
            assert_eq!(again, first, "{strategy} {seed}");
            assert_eq!(ranking.ask(), first, "{strategy} {seed}");
        }
    }
}

#[test]
fn keys_that_were_found_elsewhere_are_those_of_a_fresh_ranking() {
    let mut case = Case::random(4);
    let mut later = ranking(&case, Strategy::TokenMargin);
    let sequence = (0..case.pool.len())
        .find(|&sequence| !case.pool.is_complete(sequence))
        .unwrap();
    let mut positions = case.pool.positions(sequence);
    let open = positions.find(|&at| !case.pool.is_labelled(at)).unwrap();
    case.pool.answer(sequence, open, 0).unwrap();
    let fresh = ranking(&case, Strategy::TokenMargin);
    let mut estimator = Estimator::new(&case.model);
    let keys = later
        .options()
        .keys(&case.pool, sequence, &mut estimator)
        .unwrap();
    later.set_keys(&case.pool, sequence, &keys);
    let bits = |ranking: &Ranking| ranking.keys().iter().map(|key| key.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&later), bits(&fresh));
    let (mut later, mut fresh) = (later, fresh);
    assert_eq!(later.ask(), fresh.ask());
}
