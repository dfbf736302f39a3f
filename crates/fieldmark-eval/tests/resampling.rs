//! Folds and samples: what must hold for any data and seed.

use fieldmark_eval::{EvalError, Groups, Split};
use proptest::prelude::*;

#[test]
fn folds_of_single_items_differ_by_one_at_most() {
    let folds = Groups::single(103).k_fold(10, 3).unwrap();
    let mut sizes: Vec<usize> = folds.splits().map(|split| split.test.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [10, 10, 10, 10, 10, 10, 10, 11, 11, 11]);
}

#[test]
fn large_groups_are_spread() {
    // One document of 50 sentences, two of 20, ten of 1: no two large ones meet.
    let sizes = [1, 1, 20, 1, 1, 50, 1, 1, 1, 20, 1, 1, 1];
    let keys = sizes
        .iter()
        .enumerate()
        .flat_map(|(document, &size)| vec![document; size]);
    let folds = Groups::by(keys).k_fold(3, 5).unwrap();
    let mut sizes: Vec<usize> = folds.splits().map(|split| split.test.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [25, 25, 50]);
}

#[test]
fn leaving_one_out_tests_each_group_alone() {
    let groups = Groups::by(["b", "a", "b", "c"]);
    let splits: Vec<Split> = groups.leave_one_out().unwrap().splits().collect();
    let tests: Vec<&[usize]> = splits.iter().map(|split| split.test.as_slice()).collect();
    assert_eq!(tests, [&[0, 2][..], &[1], &[3]]);
    assert_eq!(splits[0].train, [1, 3]);
}

/// 1 − (1 − 1/n)^n of the items are drawn, which is 0.634 for n = 100.
#[test]
fn a_bootstrap_draws_two_thirds() {
    let groups = Groups::single(100);
    let left: usize = groups
        .bootstrap(1000, 9)
        .unwrap()
        .splits()
        .map(|split| split.test.len())
        .sum();
    assert!((left as f64 / 100_000.0 - 0.366).abs() < 0.005, "{left}");
}

#[test]
fn every_item_is_drawn_as_often_as_the_others() {
    let groups = Groups::single(7);
    let mut drawn = [0; 7];
    for split in groups.bootstrap(10_000, 1).unwrap().splits() {
        split.train.iter().for_each(|&item| drawn[item] += 1);
    }
    assert!(
        drawn.iter().all(|&times: &i32| (times - 10_000).abs() < 400),
        "{drawn:?}"
    );
}

#[test]
fn what_cannot_be_split_is_refused() {
    let few = EvalError::TooFew {
        things: "groups of items",
        number: 3,
        least: 4,
    };
    assert_eq!(Groups::single(3).k_fold(4, 0), Err(few));
    assert!(Groups::single(3).k_fold(1, 0).is_err());
    assert!(Groups::by(["a", "a"]).leave_one_out().is_err());
    assert!(Groups::single(1).bootstrap(3, 0).is_err());
    assert!(Groups::single(5).bootstrap(0, 0).is_err());
    assert!(Groups::single(0).k_fold(2, 0).is_err());
}

#[test]
fn two_items_always_leave_one_to_test() {
    for split in Groups::single(2).bootstrap(50, 4).unwrap().splits() {
        assert_eq!((split.train.len(), split.test.len()), (2, 1));
    }
}

/// Experiments of one version can be repeated with another.
#[test]
fn choices_never_change() {
    let folds = Groups::single(8).k_fold(3, 11).unwrap();
    let fold_of: Vec<usize> = (0..8).map(|item| folds.fold_of(item).unwrap()).collect();
    assert_eq!(fold_of, [0, 0, 1, 2, 0, 1, 2, 1]);
    assert_eq!(
        Groups::single(8).bootstrap(2, 11).unwrap().split(1).train,
        [0, 0, 1, 2, 3, 5, 5, 6]
    );
}

proptest! {
    #[test]
    fn folds_test_each_item_once_and_keep_groups_together(
        keys in prop::collection::vec(0u8..9, 1..60),
        folds in 2usize..6,
        seed: u64,
    ) {
        let groups = Groups::by(&keys);
        prop_assume!(groups.groups() >= folds);
        let folds = groups.k_fold(folds, seed).unwrap();
        prop_assert_eq!(&folds, &groups.k_fold(folds.folds(), seed).unwrap());
        let mut tested = vec![0; keys.len()];
        for split in folds.splits() {
            prop_assert!(!split.test.is_empty() && !split.train.is_empty());
            check(&split, &keys)?;
            prop_assert_eq!(split.train.len() + split.test.len(), keys.len());
            split.test.iter().for_each(|&item| tested[item] += 1);
        }
        prop_assert!(tested.iter().all(|&times| times == 1));
    }

    #[test]
    fn samples_leave_whole_groups_to_test(keys in prop::collection::vec(0u8..9, 2..60), seed: u64) {
        let groups = Groups::by(&keys);
        prop_assume!(groups.groups() >= 2);
        let bootstrap = groups.bootstrap(5, seed).unwrap();
        for (replicate, split) in bootstrap.splits().enumerate() {
            prop_assert_eq!(&split, &bootstrap.split(replicate));
            prop_assert!(!split.test.is_empty());
            check(&split, &keys)?;
            // Every item is on one side, and all items of a group were drawn equally often.
            let times = |item: usize| split.train.iter().filter(|&&other| other == item).count();
            for item in 0..keys.len() {
                prop_assert_eq!(times(item) == 0, split.test.contains(&item));
                let first = keys.iter().position(|key| *key == keys[item]).unwrap();
                prop_assert_eq!(times(item), times(first));
            }
        }
    }
}

/// Both sides are in order, and no group is on both.
fn check(split: &Split, keys: &[u8]) -> Result<(), TestCaseError> {
    prop_assert!(split.train.is_sorted() && split.test.is_sorted());
    for &item in &split.test {
        prop_assert!(split.train.iter().all(|&other| keys[other] != keys[item]));
    }
    Ok(())
}
