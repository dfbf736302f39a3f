//! Models that forbid unseen transitions: decoding and sums, against enumeration of the sequences that are left.

use crate::cases::{Case, Rng};
use crate::reference::{features, is_possible, score, sequences};
use fieldmark_chain::inference::Constraints;
use fieldmark_chain::train::{Arithmetic, ChainObjective};
use fieldmark_chain::{ChainModel, Structure, StructureOptions, UnseenTransitions};
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_core::optimize::Objective;
use fieldmark_core::{Dataset, DatasetBuilder, Gold};
use std::sync::Arc;

/// Random cases whose transitions are restricted, and really so.
fn cases(count: usize) -> impl Iterator<Item = Case> {
    let restricted = |case: &Case| {
        let labels = case.structure.labels();
        let allowed = case.structure.allowed_transitions();
        allowed.is_some_and(|allowed| allowed.pairs().len() < labels * labels)
    };
    (50_000..)
        .map(|seed| {
            let mut rng = Rng::new(seed);
            let options = StructureOptions {
                unseen_transitions: UnseenTransitions::Forbid,
                ..Case::options(&mut rng, 3)
            };
            let labels = 2 + rng.below(3);
            Case::new(&mut rng, labels, 5, options, 1.5)
        })
        .filter(restricted)
        .take(count)
}

#[test]
fn decoding_keeps_to_what_was_seen() {
    let mut orders = [0; 4];
    for case in cases(400) {
        let Case {
            data,
            structure,
            weights,
        } = &case;
        orders[structure.options().order] += 1;
        let model = ChainModel::new(data.labels.clone(), &data.observations, structure, weights);
        let mut writer = ContainerWriter::new();
        model.write(&mut writer);
        let container = Container::from_bytes(writer.to_bytes().unwrap()).unwrap();
        let read = ChainModel::read(&Arc::new(container)).unwrap();
        assert_eq!(
            read.structure().allowed_transitions(),
            structure.allowed_transitions()
        );
        // Taggers read the observations of the data that were trained on, so the pruned model will not do.
        let mut tagger = fieldmark_chain::Tagger::<f64>::new(structure, weights, Default::default());
        for instance in data.instances() {
            let scores: Vec<(f64, Vec<u32>)> = sequences(structure.labels(), instance.len())
                .filter(|labels| is_possible(structure, labels))
                .map(|labels| (score(weights, &features(structure, instance, &labels)), labels))
                .collect();
            let best = scores.iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            let found = tagger.tag(instance).unwrap().to_vec();
            assert!(is_possible(structure, &found), "{case:?}");
            let reached = score(weights, &features(structure, instance, &found));
            assert!((reached - best.0).abs() < 1e-9, "{case:?}");
            let log_z = scores.iter().map(|(score, _)| score.exp()).sum::<f64>().ln();
            let mut inference = tagger.load(instance, &Constraints::none()).unwrap();
            assert!((inference.log_z().unwrap() - log_z).abs() < 1e-9, "{case:?}");
        }
    }
    assert!(
        orders[0] == 0 && orders[1..].iter().all(|&count| count > 50),
        "{orders:?}"
    );
}

/// Labels of which one never begins a sequence.
#[test]
fn a_label_that_never_begins_may_not_begin() {
    let mut builder = DatasetBuilder::new();
    let [a, b] = ["A", "B"].map(|label| builder.labels.intern(label));
    let observation = builder.observations.intern("x");
    for labels in [&[a, b, b, a, a][..], &[a]] {
        for &label in labels {
            builder.observe(observation, 1.0);
            builder.end_position(Gold::Known(label)).unwrap();
        }
        builder.end_instance().unwrap();
    }
    let data = builder.finish();
    for boundaries in [false, true] {
        let options = StructureOptions {
            unseen_transitions: UnseenTransitions::Forbid,
            boundaries,
            ..StructureOptions::default()
        };
        let structure = Structure::build(&data, &options).unwrap();
        let allowed = structure.allowed_transitions().unwrap();
        // All four steps were seen.
        assert_eq!((allowed.pairs().len(), allowed.starts().len()), (4, 1));
        let mut weights = vec![0.0; structure.weights()];
        weights[structure.unary().find(0, b).unwrap()] = 3.0;
        let mut tagger = fieldmark_chain::Tagger::<f64>::new(&structure, &weights, Default::default());
        assert_eq!(tagger.tag(data.instance(0)).unwrap(), [a, b, b, b, b]);
        let mut inference = tagger.load(data.instance(1), &Constraints::none()).unwrap();
        assert_eq!(inference.log_probability(&[b]).unwrap(), None);
        // The second sequence has one path only, the first 16.
        for arithmetic in [Arithmetic::Scaled, Arithmetic::Log] {
            let mut objective = ChainObjective::<f64>::new(&structure, data.clone(), arithmetic);
            let x = objective.import(&weights);
            let mut gradient = vec![0.0; objective.len()];
            let loss = objective.evaluate(&x, &mut gradient);
            let expected = 4.0 * (1.0 + 3f64.exp()).ln() - 6.0;
            assert!((loss - expected).abs() < 1e-9, "{loss} {expected}");
            let gradient = objective.export(&gradient);
            let found = gradient[structure.unary().find(0, b).unwrap()];
            let expected = 4.0 / (1.0 + (-3f64).exp()) - 2.0;
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}

/// Labels that never meet, long enough that the mass of one of them is lost in any scaled arithmetic.
fn two_islands(length: usize) -> Dataset {
    let mut builder = DatasetBuilder::new();
    let labels = ["A", "B"].map(|label| builder.labels.intern(label));
    let observation = builder.observations.intern("x");
    for label in labels {
        for t in 0..length {
            builder.observe(observation, 1.0);
            // All is unknown but the label at the end.
            let known = t + 1 == length || t < 2;
            let gold = if known { Gold::Known(label) } else { Gold::Unknown };
            builder.end_position(gold).unwrap();
        }
        builder.end_instance().unwrap();
    }
    builder.finish()
}

#[test]
fn nothing_is_lost_on_the_way_to_a_label_that_is_known_later() {
    let data = two_islands(2000);
    let options = StructureOptions {
        unseen_transitions: UnseenTransitions::Forbid,
        ..StructureOptions::default()
    };
    let structure = Structure::build(&data, &options).unwrap();
    assert_eq!(structure.allowed_transitions().unwrap().pairs(), [[0, 0], [1, 1]]);
    let mut objective = ChainObjective::<f64>::new(&structure, data, Arithmetic::Scaled);
    // B scores 2 more at every position, so that A has a share of exp(−4000) at the end.
    let mut weights = vec![0.0; structure.weights()];
    weights[structure.unary().find(0, 1).unwrap()] = 2.0;
    let x = objective.import(&weights);
    let mut gradient = vec![0.0; objective.len()];
    let loss = objective.evaluate(&x, &mut gradient);
    assert!((loss - 4000.0).abs() < 1e-6, "{loss}");
    let gradient = objective.export(&gradient);
    let expected = gradient[structure.unary().find(0, 1).unwrap()];
    assert!((expected - 2000.0).abs() < 1e-6, "{expected}");
}
