//! Training on answers, and weights that are carried over.

use crate::testing::{random_data, small_data};
use crate::{Error, Fitted, LearnOptions, Pool};
use fieldmark_chain::{Strategy, StructureOptions};
use fieldmark_core::optimize::{LbfgsOptions, Prior};
use fieldmark_core::random::SplitMix64;
use fieldmark_core::{Dataset, Gold};
use std::sync::Arc;

fn answer_gold(pool: &mut Pool, wanted: impl Fn(usize) -> bool) {
    for sequence in 0..pool.len() {
        for position in pool.positions(sequence).filter(|&at| wanted(at)) {
            let data: Arc<Dataset> = pool.data().clone();
            let Gold::Known(label) = data.gold(position) else {
                panic!("every label is known")
            };
            pool.answer(sequence, position, label).unwrap();
        }
    }
}

fn thorough() -> LearnOptions {
    LearnOptions {
        structure: StructureOptions {
            order: 2,
            label_bias: true,
            boundaries: true,
            ..StructureOptions::default()
        },
        lbfgs: LbfgsOptions {
            prior: Prior { c1: 0.0, c2: 0.5 },
            epsilon: 1e-9,
            period: 0,
            ..LbfgsOptions::default()
        },
        ..LearnOptions::default()
    }
}

#[test]
fn without_answers_all_labels_are_equal() {
    let pool = Pool::unlabelled(Arc::new(small_data()));
    let model = Fitted::train(&pool, &LearnOptions::default(), None).unwrap();
    assert!(model.weights().iter().all(|&weight| weight == 0.0));
    assert_eq!(model.iterations(), 0);
}

#[test]
fn data_without_labels_are_refused() {
    let data = random_data(&mut SplitMix64(1), 0, &[]);
    let error = Fitted::train(&Pool::unlabelled(Arc::new(data)), &LearnOptions::default(), None);
    assert!(matches!(error, Err(Error::Structure(_))), "{error:?}");
}

/// Complete labels make the likelihood concave, so that every start leads to the same weights.
#[test]
fn a_warm_start_leads_to_the_same_optimum() {
    let data = Arc::new(random_data(&mut SplitMix64(4), 3, &[5, 4, 6, 3]));
    let mut pool = Pool::unlabelled(data.clone());
    answer_gold(&mut pool, |at| at < 9);
    let options = thorough();
    let first = Fitted::train(&pool, &options, None).unwrap();
    answer_gold(&mut pool, |_| true);
    let warm = Fitted::train(&pool, &options, Some(&first)).unwrap();
    let cold = Fitted::train(&pool, &options, None).unwrap();
    assert_eq!(warm.structure().weights(), cold.structure().weights());
    for (warm, cold) in warm.weights().iter().zip(cold.weights()) {
        assert!((warm - cold).abs() < 1e-6, "{warm} {cold}");
    }
    assert!(warm.iterations() < cold.iterations());
    let ignored = LearnOptions {
        warm: false,
        ..options
    };
    let again = Fitted::train(&pool, &ignored, Some(&first)).unwrap();
    assert_eq!(again.weights(), cold.weights());
}

/// Started where it ended, nothing moves: every weight found its feature.
#[test]
fn a_model_starts_where_it_ended() {
    for (states, transitions) in [
        (Strategy::Supported, Strategy::Supported),
        (Strategy::All, Strategy::All),
    ] {
        let data = Arc::new(random_data(&mut SplitMix64(6), 3, &[5, 4, 6, 3]));
        let mut pool = Pool::unlabelled(data);
        answer_gold(&mut pool, |at| at % 3 != 1);
        let mut options = thorough();
        (options.structure.states, options.structure.transitions) = (states, transitions);
        let model = Fitted::train(&pool, &options, None).unwrap();
        options.lbfgs.max_iterations = Some(0);
        let again = Fitted::train(&pool, &options, Some(&model)).unwrap();
        let active = model.weights().iter().filter(|&&weight| weight != 0.0).count();
        assert!(2 * active > model.weights().len());
        assert_eq!(model.weights(), again.weights());
    }
}

/// Features that come later start at 0, those that were there keep their weights.
#[test]
fn new_features_start_at_zero() {
    let data = Arc::new(random_data(&mut SplitMix64(8), 3, &[5, 4, 6, 3]));
    let mut pool = Pool::unlabelled(data.clone());
    answer_gold(&mut pool, |at| at < 4);
    let mut options = thorough();
    let model = Fitted::train(&pool, &options, None).unwrap();
    answer_gold(&mut pool, |_| true);
    options.lbfgs.max_iterations = Some(0);
    let larger = Fitted::train(&pool, &options, Some(&model)).unwrap();
    let (old, new) = (model.structure(), larger.structure());
    assert!(new.weights() > old.weights());
    let mut kept = 0;
    for row in 0..data.observations.len() as u32 {
        for (feature, &label) in new.unary().features(row).zip(new.unary().columns(row)) {
            let before = old
                .unary()
                .find(row, label)
                .map(|feature| model.weights()[feature]);
            assert_eq!(larger.weights()[feature], before.unwrap_or(0.0));
            kept += usize::from(before.is_some());
        }
        for (feature, &pair) in new.pair().features(row).zip(new.pair().columns(row)) {
            let labels = new.pairs()[pair as usize];
            let column = old.pairs().binary_search(&labels).ok();
            let before = column.and_then(|column| old.pair().find(row, column as u32));
            let before = before.map(|feature| model.weights()[old.pair_weights()][feature]);
            assert_eq!(
                larger.weights()[new.pair_weights()][feature],
                before.unwrap_or(0.0)
            );
            kept += usize::from(before.is_some());
        }
    }
    for (index, tuple) in new.tuples().iter().enumerate() {
        let before = old.tuples().find(tuple);
        let before = before.map(|tuple| model.weights()[old.tuple_weights()][tuple]);
        assert_eq!(
            larger.weights()[new.tuple_weights()][index],
            before.unwrap_or(0.0)
        );
        kept += usize::from(before.is_some());
    }
    assert_eq!(
        larger.weights()[new.bias_weights()],
        model.weights()[old.bias_weights()]
    );
    assert_eq!(
        kept + old.bias_weights().len(),
        old.weights(),
        "no weight is lost"
    );
}

/// The precision is that of sums, not of what is found.
#[test]
fn single_precision_is_close() {
    let mut pool = Pool::unlabelled(Arc::new(random_data(&mut SplitMix64(9), 3, &[5, 4, 6, 3])));
    answer_gold(&mut pool, |at| at % 2 == 0);
    let double = Fitted::train(&pool, &LearnOptions::default(), None).unwrap();
    let options = LearnOptions {
        single_precision: true,
        ..LearnOptions::default()
    };
    let single = Fitted::train(&pool, &options, None).unwrap();
    assert!((single.loss() - double.loss()).abs() < 1e-3 * double.loss());
    assert_ne!(single.loss(), double.loss());
}

/// The model for a file answers as the one over the pool does.
#[test]
fn a_model_for_a_file_says_the_same() {
    let data = Arc::new(random_data(&mut SplitMix64(10), 3, &[5, 4, 6, 3]));
    let mut pool = Pool::unlabelled(data.clone());
    answer_gold(&mut pool, |at| at % 2 == 0);
    let fitted = Fitted::train(&pool, &LearnOptions::default(), None).unwrap();
    let model = fitted.to_model(&pool);
    assert_eq!(model.labels().len(), 3);
    let active = fitted.weights().iter().filter(|&&weight| weight != 0.0).count();
    assert_eq!(model.active(), active);
}

/// Labels that are added later change nothing until a model is trained with them, and keep the weights of the others.
#[test]
fn labels_that_are_added_leave_older_models_alone() {
    let data = Arc::new(random_data(&mut SplitMix64(11), 3, &[5, 4, 6, 3]));
    let mut pool = Pool::unlabelled(data);
    answer_gold(&mut pool, |at| at % 2 == 0);
    let old = Fitted::train(&pool, &LearnOptions::default(), None).unwrap();
    let needs = crate::Needs {
        marginals: true,
        ..crate::Needs::default()
    };
    let (mut before, mut after) = (crate::Estimate::default(), crate::Estimate::default());
    crate::Estimator::new(&old)
        .run(&pool, 0, needs, &mut before)
        .unwrap();
    let new = pool.add_label("B-NEW");
    pool.answer(0, 1, new).unwrap();
    crate::Estimator::new(&old)
        .run(&pool, 0, needs, &mut after)
        .unwrap();
    assert_eq!(before, after, "the old model knows nothing of the label");
    let fitted = Fitted::train(&pool, &LearnOptions::default(), Some(&old)).unwrap();
    crate::Estimator::new(&fitted)
        .run(&pool, 0, needs, &mut after)
        .unwrap();
    assert_eq!(after.marginals(1)[new as usize], 1.0);
    assert_eq!(fitted.to_model(&pool).labels().len(), 4);
    assert_eq!(old.to_model(&pool).labels().len(), 3);
}
