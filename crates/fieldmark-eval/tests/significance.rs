//! Tests of significance and summaries, against published figures and SciPy 1.17.

use fieldmark_eval::{
    Counts, EvalError, Summary, Tail, approximate_randomisation, paired_t_test, welch_t_test,
};
use proptest::prelude::*;

/// Hours of sleep gained with two drugs (Student 1908, after Cushny & Peebles 1905).
const FIRST: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
const SECOND: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

fn close(ours: f64, expected: f64) {
    assert!(
        (ours - expected).abs() <= 1e-12 * expected.abs(),
        "{ours} {expected}"
    );
}

/// `scipy.stats.ttest_rel`
#[test]
fn the_paired_test_of_students_example() {
    let test = paired_t_test(&FIRST, &SECOND).unwrap();
    close(test.difference, -1.58);
    close(test.t, -4.062127683382037);
    assert_eq!((test.degrees_of_freedom, test.sizes), (9.0, (10, 10)));
    close(test.p(Tail::Both), 0.002832890197384273);
    close(test.p(Tail::Greater), 0.9985835549013079);
    close(test.p(Tail::Less), 0.0014164450986921364);
}

/// `scipy.stats.ttest_ind(..., equal_var=False)`
#[test]
fn welchs_test_needs_no_pairs_and_no_equal_variances() {
    let test = welch_t_test(&FIRST, &SECOND).unwrap();
    close(test.t, -1.8608134674868526);
    close(test.degrees_of_freedom, 17.776473516178488);
    close(test.p(Tail::Both), 0.0793941401873583);
    close(test.p(Tail::Less), 0.03969707009367915);

    let test = welch_t_test(&[3.1, 4.7, 2.2, 5.9], &[1.0, 1.2, 0.9, 1.1, 1.4, 1.3, 0.8]).unwrap();
    close(test.t, 3.4721184021752185);
    close(test.degrees_of_freedom, 3.0590555484473945);
    close(test.p(Tail::Both), 0.0390790904090857);
}

#[test]
fn values_that_do_not_vary() {
    let same = paired_t_test(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]).unwrap();
    assert_eq!(
        (same.t, same.p(Tail::Both), same.p(Tail::Greater)),
        (0.0, 1.0, 0.5)
    );
    let better = paired_t_test(&[2.0, 2.0], &[1.0, 1.0]).unwrap();
    assert_eq!((better.t, better.p(Tail::Both)), (f64::INFINITY, 0.0));
    assert_eq!((better.p(Tail::Greater), better.p(Tail::Less)), (0.0, 1.0));
    let better = welch_t_test(&[1.0, 1.0], &[2.0, 2.0, 2.0]).unwrap();
    assert_eq!((better.t, better.p(Tail::Less)), (f64::NEG_INFINITY, 0.0));
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let few = EvalError::TooFew {
        things: "pairs",
        number: 1,
        least: 2,
    };
    assert_eq!(paired_t_test(&[1.0], &[2.0]), Err(few));
    assert!(paired_t_test(&[1.0, 2.0], &[2.0]).is_err());
    assert!(welch_t_test(&[1.0, f64::NAN], &[2.0, 3.0]).is_err());
    assert!(welch_t_test(&[1.0, 2.0], &[3.0]).is_err());
    assert!(Summary::new(&[]).is_err());
    assert!(Summary::new(&[f64::INFINITY]).is_err());
    let none: [Counts; 0] = [];
    assert!(approximate_randomisation(&none, &none, Counts::f1, 10, 0).is_err());
    assert!(approximate_randomisation(&[1.0], &[], |sum| *sum, 10, 0).is_err());
}

/// The share of all 2^n exchanges that give a difference at least as extreme, far and low.
fn exact(first: &[f64], second: &[f64]) -> (f64, f64) {
    let difference = |exchanged: u32| -> f64 {
        let signed = |at: usize| {
            let sign = if exchanged >> at & 1 == 1 { -1.0 } else { 1.0 };
            sign * (first[at] - second[at])
        };
        (0..first.len()).map(signed).sum()
    };
    let observed = difference(0);
    let all = 1u32 << first.len();
    let share = |extreme: &dyn Fn(f64) -> bool| {
        (0..all)
            .filter(|&exchanged| extreme(difference(exchanged)))
            .count() as f64
            / f64::from(all)
    };
    (
        share(&|other| other.abs() >= observed.abs() - 1e-9),
        share(&|other| other <= observed + 1e-9),
    )
}

#[test]
fn randomisation_comes_close_to_all_exchanges() {
    // As `scipy.stats.permutation_test` over all exchanges.
    assert_eq!(exact(&FIRST, &SECOND), (0.00390625, 0.001953125));
    let test = approximate_randomisation(&FIRST, &SECOND, |sum| sum / 10.0, 100_000, 42).unwrap();
    close(test.difference, -1.58);
    assert!((test.p(Tail::Both) - 0.00390625).abs() < 0.0006, "{test:?}");
    assert!((test.p(Tail::Less) - 0.001953125).abs() < 0.0005, "{test:?}");
    assert!(test.p(Tail::Greater) > 0.99);

    let (first, second) = (&FIRST[..6], [0.9, -1.7, 0.3, -1.4, 0.4, 3.2]);
    let (far, low) = exact(first, &second);
    let test = approximate_randomisation(first, &second, |sum| *sum, 100_000, 7).unwrap();
    assert!((test.p(Tail::Both) - far).abs() < 0.006, "{test:?} {far}");
    assert!((test.p(Tail::Less) - low).abs() < 0.006, "{test:?} {low}");
}

#[test]
fn randomisation_depends_on_its_seed_alone() {
    let counts = |correct| Counts {
        gold: 9,
        found: 8,
        correct,
    };
    let (first, second) = ([3, 5, 7, 2].map(counts), [4, 5, 2, 1].map(counts));
    let test = |seed| approximate_randomisation(&first, &second, Counts::f1, 1000, seed).unwrap();
    assert_eq!(test(1), test(1));
    assert_ne!(test(1), test(2));
    let same = approximate_randomisation(&first, &first, Counts::f1, 99, 1).unwrap();
    assert_eq!((same.difference, same.p(Tail::Both)), (0.0, 1.0));
}

/// `numpy.mean`, `numpy.std(ddof=1)`, `numpy.percentile`, `scipy.stats.t.interval`
#[test]
fn summaries_agree_with_numpy() {
    let summary = Summary::new(&[0.71, 0.75, 0.68, 0.80, 0.77, 0.73, 0.79, 0.70]).unwrap();
    close(summary.mean(), 0.74125);
    close(summary.deviation(), 0.043568501072613085);
    let interval = summary.t_interval(0.95).unwrap();
    close(interval.low, 0.7048258215792489);
    close(interval.high, 0.777674178420751);
    let interval = summary.percentile_interval(0.95).unwrap();
    close(interval.low, 0.6835);
    close(interval.high, 0.79825);
    close(summary.quantile(0.25), 0.7075);
    close(summary.quantile(0.5), 0.74);
    assert_eq!((summary.min(), summary.max(), summary.count()), (0.68, 0.80, 8));
    assert_eq!(summary.t_interval(1.0), None);
    assert_eq!(summary.percentile_interval(f64::NAN), None);

    let one = Summary::new(&[0.5]).unwrap();
    assert_eq!(
        (one.mean(), one.deviation(), one.t_interval(0.95)),
        (0.5, 0.0, None)
    );
    assert_eq!(one.percentile_interval(0.95).unwrap().high, 0.5);
}

proptest! {
    #[test]
    fn tails_complete_each_other(pairs in prop::collection::vec((-9.0..9.0f64, -9.0..9.0f64), 2..12)) {
        let (first, second): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        for (one, other) in [
            (paired_t_test(&first, &second).unwrap(), paired_t_test(&second, &first).unwrap()),
            (welch_t_test(&first, &second).unwrap(), welch_t_test(&second, &first).unwrap()),
        ] {
            prop_assert!((one.p(Tail::Greater) + one.p(Tail::Less) - 1.0).abs() < 1e-12);
            prop_assert!((one.p(Tail::Greater) - other.p(Tail::Less)).abs() < 1e-12);
            let least = one.p(Tail::Greater).min(one.p(Tail::Less));
            prop_assert!((one.p(Tail::Both) - 2.0 * least).abs() < 1e-12);
        }
    }
}
