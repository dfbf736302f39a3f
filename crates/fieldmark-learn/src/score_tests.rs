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

/// An open border is {B, I}: the type counts, and neither label is a mistake. Where not even the type is known, nothing
/// counts.
#[test]
fn open_borders_are_scored_by_their_type() {
    let mut builder = DatasetBuilder::new();
    builder.labels = ["O", "B-X", "I-X", "B-Y"].iter().collect();
    let words: Vec<u32> = ["o", "b", "i", "y"]
        .map(|word| builder.observations.intern(word))
        .to_vec();
    for (label, &word) in words.iter().enumerate() {
        builder.observe(word, 1.0);
        builder.end_position(Gold::Known(label as u32)).unwrap();
    }
    let data = Arc::new(builder.finish());
    let model = Fitted::train(&Pool::of_gold(data.clone()), &LearnOptions::default(), None).unwrap();
    let score = |sentence: &[(usize, Gold<'_>)]| {
        let mut builder = DatasetBuilder::with_alphabets(data.labels.clone(), data.observations.clone());
        for &(word, gold) in sentence {
            builder.observe(words[word], 1.0);
            builder.end_position(gold).unwrap();
        }
        let test = TestSet::new(Arc::new(builder.finish())).unwrap();
        let (scores, types) = test.score_types(&model).unwrap();
        let types: Vec<[u64; 3]> = types
            .iter()
            .map(|(_, counts)| [counts.gold, counts.found, counts.correct])
            .collect();
        (scores, types)
    };
    let open = Gold::Ambiguous(&[1, 2]);
    let (scores, types) = score(&[(0, Gold::Known(0)), (1, open), (2, open)]);
    assert_eq!((scores.token_f1, scores.accuracy), (1.0, 1.0));
    assert_eq!(types, [[2, 2, 2], [0, 0, 0]]);
    assert_eq!(
        scores.span_f1,
        score(&[(0, Gold::Known(0)), (1, open)]).0.span_f1,
        "no span is counted"
    );
    // The model takes the last word for a Y.
    let (scores, types) = score(&[(0, Gold::Known(0)), (1, open), (3, open)]);
    assert_eq!(types, [[2, 1, 1], [0, 1, 0]]);
    assert_eq!(scores.accuracy, 2.0 / 3.0);
    let differ = Gold::Ambiguous(&[0, 1]);
    let (scores, types) = score(&[(0, Gold::Known(0)), (1, differ), (3, differ)]);
    assert_eq!((scores.accuracy, types), (1.0, vec![[0, 0, 0], [0, 0, 0]]));
}

#[test]
fn a_test_set_needs_labels() {
    let mut builder = DatasetBuilder::new();
    builder.labels.intern("X");
    builder.end_position(Gold::Unknown).unwrap();
    assert!(TestSet::new(Arc::new(builder.finish())).is_err());
}
