use crate::models::*;
use fieldmark_core::Gold;
use fieldmark_core::optimize::Status;
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::{
    Compare, Description, EngineChoice, Error, GraphDataset, GraphDatasetBuilder, GraphModel, Relations,
    SampleRank, SampleRankOptions, Strategy, Structure, TrainError,
};

/// Words that tell the first layer; the second layer is the first one of the position before.
fn learnable(description: &Description) -> GraphDataset {
    let mut random = SplitMix64(3);
    let mut builder = GraphDatasetBuilder::new(description);
    for layer in 0..2 {
        for label in ["x", "y", "z"] {
            builder.label(layer, label);
        }
    }
    for _ in 0..40 {
        for _ in 0..6 {
            let word = random.below(9);
            builder.observe(&format!("w={word}"), 1.0).unwrap();
            builder
                .end_position(&[Gold::Known(word % 3), Gold::Known((word + 1) % 3)])
                .unwrap();
        }
        builder.end_instance(&[]).unwrap();
    }
    builder.finish()
}

fn train(
    structure: &Structure,
    data: &GraphDataset,
    options: SampleRankOptions,
) -> (Vec<f64>, Vec<u64>, bool) {
    let mut training = SampleRank::new(structure, data, vec![0.0; structure.weights()], options).unwrap();
    let mut updates = Vec::new();
    while let Some(iteration) = training.step().unwrap() {
        assert_eq!(iteration.iteration, updates.len() as u64 + 1);
        assert_eq!(iteration.change == 0.0, iteration.updates == 0);
        updates.push(iteration.updates);
    }
    (training.weights(), updates, training.converged())
}

#[test]
fn learns_until_nothing_changes() {
    let description = Description::factorial(&["a", "b"]);
    let data = learnable(&description);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    for average in [false, true] {
        let options = SampleRankOptions {
            average,
            ..SampleRankOptions::default()
        };
        let (weights, updates, converged) = train(&structure, &data, options);
        assert!(
            converged && updates.len() < 100 && updates.last() == Some(&0),
            "{updates:?}"
        );
        let model = GraphModel::new(&data, &structure, &weights).unwrap();
        let mut tagger = model.tagger(&EngineChoice::default()).unwrap();
        for instance in data.instances() {
            let decoding = tagger.tag(instance).unwrap();
            for position in 0..instance.len() as u32 {
                for layer in 0..2 {
                    let label = decoding.labels[tagger.variable(instance, layer, position) as usize];
                    assert_eq!(Gold::Known(label), instance.gold(layer, position));
                }
            }
        }
    }
}

#[test]
fn a_model_that_is_sure_of_wrong_labels_still_learns() {
    let description = Description::factorial(&["a", "b"]);
    let data = learnable(&description);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    // What occurs weighs so little that right labels are never drawn.
    let wrong = vec![-30.0; structure.weights()];
    let losses = [Compare::Drawn, Compare::All].map(|compare| {
        let options = SampleRankOptions {
            compare,
            max_iterations: 500,
            ..SampleRankOptions::default()
        };
        let mut training = SampleRank::new(&structure, &data, wrong.clone(), options).unwrap();
        let mut last = None;
        while let Some(iteration) = training.step().unwrap() {
            last = Some(iteration);
        }
        assert!(training.converged(), "{compare:?}");
        last.unwrap().loss
    });
    // Labels are still drawn, and drawn wrongly now and then.
    assert!(losses[0] > 400.0 && losses[1] < 20.0, "{losses:?}");
}

#[test]
fn weights_of_zero_are_left_even_without_a_margin() {
    // As printed, ties would change nothing, and nothing would be what training converged to.
    let description = Description::factorial(&["a", "b"]);
    let data = learnable(&description);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let options = SampleRankOptions {
        margin: 0.0,
        max_iterations: 1,
        ..SampleRankOptions::default()
    };
    let (weights, updates, converged) = train(&structure, &data, options);
    assert!(updates[0] > 0 && !converged);
    assert!(weights.iter().any(|&weight| weight != 0.0));
}

#[test]
fn the_first_update_moves_along_the_difference_of_features() {
    // One variable, so that a pass is one move: the gold label gains α, the other loses it.
    let description = Description::linear_chain("a");
    let mut builder = GraphDatasetBuilder::new(&description);
    let labels = ["x", "y"].map(|label| builder.label(0, label));
    builder.observe("w", 0.5).unwrap();
    builder.end_position(&[Gold::Ambiguous(&labels)]).unwrap();
    builder.end_instance(&[]).unwrap();
    builder.observe("w", 0.5).unwrap();
    builder.end_position(&[Gold::Known(1)]).unwrap();
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let options = |seed| SampleRankOptions {
        compare: Compare::Drawn,
        alpha: 3.0,
        average: false,
        max_iterations: 1,
        seed,
        ..SampleRankOptions::default()
    };
    let outcomes: Vec<Vec<f64>> = (0..20)
        .map(|seed| train(&structure, &data, options(seed)).0)
        .collect();
    // Whether the sampler proposes another label is a matter of luck.
    assert!(outcomes.contains(&vec![0.0, 0.0]) && outcomes.contains(&vec![-1.5, 1.5]));
    assert!(
        outcomes
            .iter()
            .all(|weights| weights == &[0.0, 0.0] || weights == &[-1.5, 1.5])
    );
}

#[test]
fn averages_are_means_over_all_moves() {
    // One move per pass: the mean of the weights after each of them.
    let description = Description::linear_chain("a");
    let mut builder = GraphDatasetBuilder::new(&description);
    let labels = ["x", "y"].map(|label| builder.label(0, label));
    for gold in [Gold::Ambiguous(&labels), Gold::Known(1)] {
        builder.observe("w", 1.0).unwrap();
        builder.end_position(&[gold]).unwrap();
        builder.end_instance(&[]).unwrap();
    }
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let after = |passes, average, seed| {
        let options = SampleRankOptions {
            alpha: 0.25,
            margin: 10.0,
            epsilon: 0.0,
            max_iterations: passes,
            average,
            seed,
            ..SampleRankOptions::default()
        };
        train(&structure, &data, options).0[1]
    };
    for seed in 0..5 {
        // Of the two moves of a pass only one can change weights, before or after the other.
        let weights: Vec<f64> = (0..=8).map(|passes| after(passes, false, seed)).collect();
        let early: f64 = weights[1..].iter().map(|weight| 2.0 * weight).sum();
        let late: f64 = weights.windows(2).map(|pair| pair[0] + pair[1]).sum();
        let sum = 16.0 * after(8, true, seed);
        assert!(weights[8] > 0.0);
        assert!(late - 1e-9 <= sum && sum <= early + 1e-9, "{late} {sum} {early}");
    }
}

#[test]
fn runs_are_reproducible_on_every_kind_of_model() {
    for (name, description) in descriptions() {
        let data = data(&description, Labels::Partial, 1);
        let structure = Structure::build(&data, &description, relations()).unwrap();
        let options = SampleRankOptions {
            max_iterations: 5,
            sweeps: 2,
            ..SampleRankOptions::default()
        };
        let run = || train(&structure, &data, options.clone());
        let (weights, updates, _) = run();
        assert!(weights.iter().all(|weight| weight.is_finite()), "{name}");
        assert_eq!(run().0, weights, "{name}");
        assert!(updates.iter().sum::<u64>() > 0, "{name}");
    }
}

#[test]
fn any_loss_over_variables_can_be_given() {
    let description = Description::factorial(&["a", "b"]);
    let data = learnable(&description);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let indifferent = |layer: usize, gold: Gold<'_>, label: u32| {
        if layer == 0 && !gold.allows(label) {
            5.0
        } else {
            0.0
        }
    };
    let mut training = SampleRank::new(
        &structure,
        &data,
        vec![0.0; structure.weights()],
        SampleRankOptions::default(),
    )
    .unwrap()
    .with_loss(indifferent);
    let mut losses = Vec::new();
    while let Some(iteration) = training.step().unwrap() {
        losses.push(iteration.loss);
    }
    assert!(
        losses[0] > 0.0 && losses.iter().all(|loss| loss % 5.0 == 0.0),
        "{losses:?}"
    );
    let weights = training.weights();
    let learned = |template: usize| {
        let mut weights = weights[structure.template_weights(template)].iter();
        weights.any(|&weight| weight != 0.0)
    };
    assert!(learned(0) && !learned(1));
}

#[test]
fn hidden_layers_teach_nothing() {
    let mut description = Description::factorial(&["a", "b"]);
    // Unknown labels support no features.
    description.templates[1].strategy = Strategy::All;
    let known = learnable(&description);
    let mut builder = GraphDatasetBuilder::with_alphabets(
        &description,
        known.observations.clone(),
        vec![known.labels(0).clone(), known.labels(1).clone()],
    );
    for instance in known.instances() {
        for position in 0..instance.len() as u32 {
            for (id, value) in instance.observations(position) {
                builder.observe_id(id, value).unwrap();
            }
            builder
                .end_position(&[instance.gold(0, position), Gold::Unknown])
                .unwrap();
        }
        builder.end_instance(&[]).unwrap();
    }
    let hidden = builder.finish();
    for (data, learns) in [(&known, true), (&hidden, false)] {
        let structure = Structure::build(data, &description, Relations::none()).unwrap();
        let (weights, updates, _) = train(&structure, data, SampleRankOptions::default());
        assert!(updates[0] > 0);
        let own = &weights[structure.template_weights(1)];
        assert!(!own.is_empty());
        assert_eq!(own.iter().any(|&weight| weight != 0.0), learns);
    }
}

#[test]
fn options_out_of_range_are_refused() {
    let description = Description::factorial(&["a", "b"]);
    let data = learnable(&description);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let options = SampleRankOptions {
        alpha: -1.0,
        ..SampleRankOptions::default()
    };
    let Err(error) = SampleRank::new(&structure, &data, vec![0.0; structure.weights()], options) else {
        panic!("a negative step is accepted");
    };
    assert_eq!(error.to_string(), "alpha is -1, expected a number above 0");
    let few = SampleRank::new(&structure, &data, vec![], SampleRankOptions::default());
    assert!(matches!(few, Err(TrainError::Structure(_))));
}

#[test]
fn gold_that_is_forbidden_is_refused_with_its_instance() {
    let mut description = Description::factorial(&["a", "b"]);
    description.templates[4].forbid = vec![vec!["X".into(), "P".into()], vec!["Y".into(), "P".into()]];
    let refusal = |gold: [Gold<'_>; 2]| {
        let mut builder = GraphDatasetBuilder::new(&description);
        for (layer, label) in [(0, "X"), (0, "Y"), (0, "Z"), (1, "P"), (1, "Q")] {
            builder.label(layer, label);
        }
        for gold in [[Gold::Known(2), Gold::Known(0)], gold] {
            builder.end_position(&gold).unwrap();
            builder.end_instance(&[]).unwrap();
        }
        let data = builder.finish();
        let structure = Structure::build(&data, &description, Relations::none()).unwrap();
        let weights = vec![0.0; structure.weights()];
        let training = SampleRank::new(&structure, &data, weights, SampleRankOptions::default());
        training.err()
    };
    let contradiction = Some(TrainError::Instance {
        instance: 1,
        error: Error::Contradiction { variable: 0 },
    });
    // X, Y and Z are 0, 1 and 2; P and Q are 0 and 1.
    assert_eq!(refusal([Gold::Known(0), Gold::Known(0)]), contradiction);
    assert_eq!(refusal([Gold::Ambiguous(&[0, 1]), Gold::Known(0)]), contradiction);
    for possible in [
        [Gold::Known(0), Gold::Known(1)],
        [Gold::Known(0), Gold::Unknown],
        [Gold::Unknown, Gold::Known(0)],
        [Gold::Ambiguous(&[0, 2]), Gold::Known(0)],
        [Gold::Ambiguous(&[0, 1]), Gold::Ambiguous(&[0, 1])],
        [Gold::Unknown, Gold::Unknown],
    ] {
        assert_eq!(refusal(possible), None, "{possible:?}");
    }
}

#[test]
fn weights_that_overflow_diverge() {
    let description = Description::factorial(&["a", "b"]);
    let data = learnable(&description);
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    for (alpha, average) in [(1e308, true), (1e308, false), (1e299, true)] {
        let options = SampleRankOptions {
            alpha,
            average,
            max_iterations: 10,
            ..SampleRankOptions::default()
        };
        let start = vec![0.5; structure.weights()];
        let mut training = SampleRank::new(&structure, &data, start.clone(), options).unwrap();
        assert!(training.step().unwrap().is_some());
        for training in [
            &training,
            &SampleRank::restore(&structure, &data, &training.save()).unwrap(),
        ] {
            assert_eq!(training.status(), Status::Diverged, "{alpha}");
            assert_eq!(training.weights(), start);
        }
        assert_eq!(training.step().unwrap(), None);
    }
}
