//! Scores against the measures that they stand for.

use crate::testing::random_data;
use crate::{Fitted, LearnOptions, Pool, TestSet};
use fieldmark_chain::Tagger;
use fieldmark_chain::inference::Space;
use fieldmark_core::random::SplitMix64;
use fieldmark_core::{DatasetBuilder, Gold};
use fieldmark_eval::{Evaluation, TokenF1};
use std::sync::Arc;

#[test]
fn scores_are_those_of_the_measures() {
    let data = random_data(&mut SplitMix64(2), 4, &[6; 150]);
    let mut pool = Pool::unlabelled(Arc::new(data.clone()));
    for sequence in 0..20 {
        for position in pool.positions(sequence) {
            let Gold::Known(label) = data.gold(position) else {
                continue;
            };
            pool.answer(sequence, position, label).unwrap();
        }
    }
    let model = Fitted::train(&pool, &LearnOptions::default(), None).unwrap();
    let scores = TestSet::new(Arc::new(data.clone()))
        .unwrap()
        .score(&model)
        .unwrap();

    let mut tagger: Tagger<'_, f64> = Tagger::new(model.structure(), model.weights(), Space::default());
    let (mut tokens, mut evaluation) = (TokenF1::default(), Evaluation::conlleval());
    for instance in data.instances() {
        let name = |label: u32| data.labels.name(label);
        let gold: Vec<&str> = (0..instance.len())
            .map(|t| match instance.gold(t) {
                Gold::Known(label) => name(label),
                _ => "O",
            })
            .collect();
        let found: Vec<&str> = tagger.tag(instance).unwrap().iter().copied().map(name).collect();
        tokens.add_labels(&gold, &found).unwrap();
        evaluation.add(&gold, &found).unwrap();
    }
    let report = evaluation.report();
    assert_eq!(scores.token_f1, tokens.micro());
    assert_eq!(scores.token_macro_f1, tokens.macro_average());
    assert_eq!(scores.span_f1, Some(report.spans.total.counts.f1()));
    assert_eq!(
        scores.accuracy,
        report.correct_tokens as f64 / report.tokens as f64
    );
    assert!(scores.token_f1 > 0.1 && scores.token_f1 < 0.9);
}

#[test]
fn unknown_labels_are_left_out_and_new_ones_missed() {
    let mut builder = DatasetBuilder::new();
    builder.labels = ["X", "O"].iter().collect();
    let a = builder.observations.intern("a");
    builder.observe(a, 1.0);
    builder.end_position(Gold::Known(0)).unwrap();
    let data = Arc::new(builder.finish());
    let mut pool = Pool::unlabelled(data.clone());
    pool.answer(0, 0, 0).unwrap();
    let model = Fitted::train(&pool, &LearnOptions::default(), None).unwrap();

    let mut builder = DatasetBuilder::with_alphabets(data.labels.clone(), data.observations.clone());
    let new = builder.labels.intern("NEW");
    for gold in [Gold::Known(0), Gold::Unknown, Gold::Known(new)] {
        builder.observe(a, 1.0);
        builder.end_position(gold).unwrap();
    }
    let test = TestSet::new(Arc::new(builder.finish())).unwrap();
    let scores = test.score(&model).unwrap();
    assert_eq!((scores.accuracy, scores.span_f1), (0.5, None));
    assert_eq!(scores.token_f1, 0.5);
    assert_eq!(scores.token_macro_f1, (2.0 / 3.0) / 2.0);
}

#[test]
fn a_test_set_needs_labels() {
    let mut builder = DatasetBuilder::new();
    builder.labels.intern("X");
    builder.end_position(Gold::Unknown).unwrap();
    assert!(TestSet::new(Arc::new(builder.finish())).is_err());
}
