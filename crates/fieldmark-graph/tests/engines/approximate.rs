//! Approximate engines against exact ones.

use crate::models::{Model, SOFT, Style, grid, models, unroll};
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::exact::{Enumeration, JunctionTree, Tree};
use fieldmark_graph::loopy::{LoopyBp, LoopyOptions, Schedule, Space};
use fieldmark_graph::{
    Annealing, Beliefs, DualDecoder, DualOptions, Engine, Error, FactorGraph, FactorGraphBuilder, Gibbs,
    GibbsOptions, GibbsState, LogZ, Scalar,
};

const SCHEDULES: [Schedule; 4] = [
    Schedule::Flooding,
    Schedule::Random,
    Schedule::Residual,
    Schedule::Trp,
];

fn loopy<T: Scalar>(schedule: Schedule, space: Space, damping: f64) -> LoopyBp<T> {
    // Tighter than the default, so that what converged can be compared to 1e-9.
    let tolerance = if size_of::<T>() == 4 { 1e-6 } else { 1e-12 };
    LoopyBp::new(LoopyOptions {
        schedule,
        space,
        damping,
        tolerance,
        ..LoopyOptions::default()
    })
    .unwrap()
}

/// Largest difference between the marginals of two engines, for variables and factors.
fn distance(graph: &FactorGraph, a: &mut dyn Engine, b: &mut dyn Engine) -> f64 {
    beliefs_distance(graph, a.sum(graph).unwrap(), b.sum(graph).unwrap())
}

fn beliefs_distance(graph: &FactorGraph, a: Beliefs<'_>, b: Beliefs<'_>) -> f64 {
    let mut largest = 0.0f64;
    let mut compare = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            largest = largest.max((a - b).abs());
        }
    };
    for variable in 0..graph.variables() as u32 {
        compare(a.variable(variable), b.variable(variable));
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for factor in 0..graph.factors() {
        a.factor(factor, &mut x);
        b.factor(factor, &mut y);
        compare(&x, &y);
    }
    largest
}

fn is_contradictory(model: &Model) -> bool {
    matches!(
        Enumeration::default().max(&model.graph),
        Err(Error::Contradiction { .. })
    )
}

#[test]
fn loopy_is_exact_on_forests() {
    for model in (0..4).flat_map(models).filter(|model| model.is_forest) {
        let (graph, name) = (&model.graph, &model.name);
        for schedule in SCHEDULES {
            for space in [Space::Linear, Space::Log] {
                for damping in [0.0, 0.2] {
                    let mut engine = loopy::<f64>(schedule, space, damping);
                    if is_contradictory(&model) {
                        assert!(
                            matches!(engine.sum(graph), Err(Error::Contradiction { .. })),
                            "{name}"
                        );
                        continue;
                    }
                    let beliefs = engine.sum(graph).unwrap();
                    assert!(beliefs.report().converged, "{name}, {schedule:?}: {beliefs:?}");
                    let (Some(log_z), true) =
                        (beliefs.log_z().value(), matches!(beliefs.log_z(), LogZ::Bethe(_)))
                    else {
                        panic!("{name}: no Bethe estimate")
                    };
                    let exact = Tree::new().sum(graph).unwrap().log_z().value().unwrap();
                    assert!(
                        (log_z - exact).abs() <= 1e-9 * model.weight,
                        "{name}: {log_z}, expected {exact}"
                    );
                    let distance = distance(graph, &mut engine, &mut Tree::new());
                    assert!(
                        distance < 1e-9,
                        "{name}, {schedule:?}, {space:?}, {damping}: {distance:e}"
                    );
                    let best = Tree::new().max(graph).unwrap().score;
                    let found = engine.max(graph).unwrap();
                    assert!(
                        (found.score - best).abs() <= 1e-9 * model.weight,
                        "{name}: {found:?}, expected {best}"
                    );
                }
            }
        }
    }
}

#[test]
fn single_precision_is_close() {
    let soft = |model: &Model| model.weight < 10.0 && !is_contradictory(model);
    for model in (0..4)
        .flat_map(models)
        .filter(|model| model.is_forest && soft(model))
    {
        for schedule in SCHEDULES {
            let mut single = loopy::<f32>(schedule, Space::Linear, 0.0);
            let distance = distance(&model.graph, &mut single, &mut Tree::new());
            assert!(distance < 1e-5, "{}, {schedule:?}: {distance:e}", model.name);
            let score = single.max(&model.graph).unwrap().score;
            assert!(
                (score - Tree::new().max(&model.graph).unwrap().score).abs() < 1e-4,
                "{}",
                model.name
            );
        }
    }
}

#[test]
fn log_and_linear_space_agree_on_all_graphs() {
    for model in (0..4).flat_map(models).filter(|model| !is_contradictory(model)) {
        for schedule in SCHEDULES {
            let mut linear = loopy::<f64>(schedule, Space::Linear, 0.0);
            let mut log = loopy::<f64>(schedule, Space::Log, 0.0);
            let (Ok(a), Ok(b)) = (linear.sum(&model.graph), log.sum(&model.graph)) else {
                panic!("{}: no answer", model.name)
            };
            let (a, b) = (a.report(), b.report());
            assert_eq!(a.converged, b.converged, "{}, {schedule:?}", model.name);
            if a.converged {
                let distance = distance(&model.graph, &mut linear, &mut log);
                assert!(distance < 1e-8, "{}, {schedule:?}: {distance:e}", model.name);
            }
        }
    }
}

/// Every schedule that converges comes to the same fixed point on models that are soft enough to have one only.
#[test]
fn schedules_agree_and_converge_on_soft_graphs() {
    let style = Style { weight: 0.5, ..SOFT };
    for seed in 0..20 {
        let graph = unroll(&mut SplitMix64(seed), 9, &grid(3, 3), style);
        let mut reference = loopy::<f64>(Schedule::Flooding, Space::Linear, 0.0);
        for schedule in SCHEDULES {
            let mut engine = loopy::<f64>(schedule, Space::Linear, 0.0);
            assert!(
                engine.sum(&graph).unwrap().report().converged,
                "{schedule:?}, seed {seed}"
            );
            let distance = distance(&graph, &mut engine, &mut reference);
            assert!(distance < 1e-9, "{schedule:?}, seed {seed}: {distance:e}");
        }
    }
}

/// A run that stops at its limit tells that, with a residual above the tolerance.
#[test]
fn an_unfinished_run_says_so() {
    let style = Style {
        weight: 3.0,
        shared: true,
        ..SOFT
    };
    let graph = unroll(&mut SplitMix64(5), 25, &grid(5, 5), style);
    for schedule in SCHEDULES {
        let options = LoopyOptions {
            schedule,
            iterations: 2,
            ..LoopyOptions::default()
        };
        let report = LoopyBp::<f64>::new(options)
            .unwrap()
            .sum(&graph)
            .unwrap()
            .report();
        assert!(
            !report.converged && report.residual > 1e-6 && !report.exact,
            "{schedule:?}: {report:?}"
        );
        assert_eq!(report.iterations, 2);
    }
}

/// Medians over graphs after about the same number of messages. Settled messages have an error of their own, which
/// unfinished ones may undercut by chance, by about a hundredth here; how far they are from being settled has no such
/// floor.
#[test]
fn trp_is_not_worse_than_flooding_at_the_same_number_of_messages() {
    for (weight, rows) in [(0.6, 3), (1.0, 3), (1.0, 4), (1.5, 4)] {
        let style = Style {
            weight,
            shared: true,
            ..SOFT
        };
        let budgets = [100, 200, 400];
        // For each budget: errors of TRP and of flooding, and their distances from the fixed point.
        let mut found = budgets.map(|_| [vec![], vec![], vec![], vec![]]);
        for seed in 0..21 {
            let graph = unroll(&mut SplitMix64(seed), rows * 4, &grid(rows, 4), style);
            let mut exact = JunctionTree::default();
            let exact = exact.sum(&graph).unwrap();
            let mut settled = loopy::<f64>(Schedule::Flooding, Space::Linear, 0.0);
            let settled = settled.sum(&graph).unwrap();
            assert!(settled.report().converged);
            for (budget, found) in budgets.into_iter().zip(&mut found) {
                for (place, schedule) in [Schedule::Trp, Schedule::Flooding].into_iter().enumerate() {
                    let mut engine = stopped_after(&graph, schedule, budget);
                    let beliefs = engine.sum(&graph).unwrap();
                    found[place].push(beliefs_distance(&graph, beliefs, exact));
                    found[place + 2].push(beliefs_distance(&graph, beliefs, settled));
                }
            }
        }
        for (budget, found) in budgets.into_iter().zip(found) {
            let [error, flooding_error, unsettled, flooding_unsettled] = found.map(median);
            let case = format!("weight {weight}, {rows} rows, {budget} messages");
            assert!(
                error <= 1.03 * flooding_error,
                "{case}: error {error} > {flooding_error}"
            );
            assert!(
                unsettled < flooding_unsettled,
                "{case}: {unsettled} >= {flooding_unsettled} from the fixed point"
            );
        }
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// An engine that stops after the most rounds that stay within a number of messages.
fn stopped_after(graph: &FactorGraph, schedule: Schedule, messages: u64) -> LoopyBp<f64> {
    let with = |iterations| {
        let options = LoopyOptions {
            schedule,
            iterations,
            tolerance: 1e-12,
            ..LoopyOptions::default()
        };
        LoopyBp::<f64>::new(options).unwrap()
    };
    let mut iterations = 1;
    while iterations < 1000 && with(iterations + 1).sum(graph).unwrap().report().messages <= messages {
        iterations += 1;
    }
    with(iterations)
}

/// The labelling is never better than the best, and on small soft graphs mostly it is the best.
#[test]
fn loopy_decodes_well() {
    let (mut right, mut all) = (0, 0);
    for model in (0..8).flat_map(models).filter(|model| !is_contradictory(model)) {
        let best = JunctionTree::default().max(&model.graph).unwrap().score;
        for schedule in SCHEDULES {
            match loopy::<f64>(schedule, Space::Linear, 0.0).max(&model.graph) {
                Ok(found) => {
                    assert!(found.score <= best + 1e-9 * model.weight, "{}", model.name);
                    assert_eq!(model.graph.score(&found.labels), Ok(found.score));
                    right += usize::from(found.score >= best - 1e-9 * model.weight);
                }
                Err(error) => assert!(
                    matches!(error, Error::NothingFound { .. }) && !model.is_dense,
                    "{}: {error}",
                    model.name
                ),
            }
            all += 1;
        }
    }
    assert!(right * 100 >= all * 95, "{right} of {all}");
}

/// With n independent samples the standard deviation of a mean is at most 0.5 / √n; successive sweeps of these soft
/// models are correlated over a few sweeps, which costs less than a factor of 2. The bound is five times that.
#[test]
fn gibbs_marginals_are_within_five_standard_deviations() {
    let samples = 20_000;
    let bound = 5.0 * 2.0 * 0.5 / f64::from(samples).sqrt();
    let options = GibbsOptions {
        samples: samples as usize,
        seed: 7,
        ..GibbsOptions::default()
    };
    let soft = Style {
        weight: 0.7,
        restricted: 0.3,
        ..SOFT
    };
    for seed in 0..3 {
        for scopes in [grid(3, 3), vec![vec![0, 1, 2], vec![2, 3], vec![3, 4, 0]]] {
            let graph = unroll(&mut SplitMix64(seed), 9, &scopes, soft);
            let mut sampler = Gibbs::new(options.clone()).unwrap();
            let distance = distance(&graph, &mut sampler, &mut JunctionTree::default());
            assert!(distance < bound, "seed {seed}: {distance} > {bound}");
            assert_eq!(sampler.sum(&graph).unwrap().log_z(), LogZ::Unknown);
        }
    }
}

#[test]
fn gibbs_is_reproducible_and_finds_good_labellings() {
    let (mut plain, mut annealed, mut all) = (0, 0, 0);
    for model in (0..4).flat_map(models).filter(|model| model.is_dense) {
        let best = JunctionTree::default().max(&model.graph).unwrap().score;
        let annealing = Some(Annealing {
            from: 2.0 * model.weight,
            to: 0.05,
        });
        for (options, right) in [
            (GibbsOptions::default(), &mut plain),
            (
                GibbsOptions {
                    annealing,
                    ..GibbsOptions::default()
                },
                &mut annealed,
            ),
        ] {
            let mut sampler = Gibbs::new(options.clone()).unwrap();
            let found = sampler.max(&model.graph).unwrap();
            assert_eq!(found, sampler.max(&model.graph).unwrap());
            assert_eq!(found, Gibbs::new(options).unwrap().max(&model.graph).unwrap());
            assert_eq!(model.graph.score(&found.labels), Ok(found.score));
            assert!(found.score <= best + 1e-9 * model.weight);
            *right += u32::from(found.score >= best - 1e-9);
        }
        all += 1;
    }
    assert!(
        plain * 100 >= all * 70 && annealed * 100 >= all * 95,
        "{plain} and {annealed} of {all}"
    );
}

#[test]
fn dual_bounds_hold_and_certificates_are_right() {
    let (mut tight, mut right, mut all) = (0, 0, 0);
    let mut decoder = DualDecoder::new(DualOptions::default()).unwrap();
    for model in (0..8).flat_map(models) {
        let (graph, name) = (&model.graph, &model.name);
        let found = decoder.max(graph);
        if is_contradictory(&model) {
            assert!(
                matches!(
                    found,
                    Err(Error::Contradiction { .. } | Error::NothingFound { .. })
                ),
                "{name}: {found:?}"
            );
            continue;
        }
        all += 1;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                assert!(
                    matches!(error, Error::NothingFound { .. }) && !model.is_dense,
                    "{name}: {error}"
                );
                continue;
            }
        };
        let best = JunctionTree::default().max(graph).unwrap().score;
        let (bound, slack) = (found.bound.unwrap(), 1e-9 * model.weight.max(1.0));
        assert!(bound >= best - slack, "{name}: bound {bound} below {best}");
        assert!(found.score <= best + slack, "{name}: {found:?}, best {best}");
        assert_eq!(graph.score(&found.labels), Ok(found.score));
        if found.report.exact {
            assert!(
                found.score >= best - 10.0 * slack,
                "{name}: wrong certificate, {found:?}, best {best}"
            );
            tight += 1;
        } else {
            assert!(
                !model.is_forest,
                "{name}: the bound of a forest is tight, {found:?}, best {best}"
            );
        }
        right += u32::from(found.score >= best - slack);
    }
    assert!(
        tight * 100 >= all * 80 && right * 100 >= all * 97,
        "{tight} tight, {right} right of {all}"
    );
}

/// At settled messages the derivative of the Bethe estimate by a score is the belief of its entry, which is what
/// training with approximate marginals relies on.
#[test]
fn the_bethe_estimate_has_the_beliefs_as_its_gradient() {
    let step = 1e-4;
    for seed in 0..3 {
        let scopes = [grid(2, 3), vec![vec![0, 2, 4], vec![1]]].concat();
        let graph = unroll(&mut SplitMix64(seed), 6, &scopes, Style { weight: 0.8, ..SOFT });
        for factor in 0..graph.factors() {
            let mut beliefs = Vec::new();
            let mut engine = loopy::<f64>(Schedule::Trp, Space::Linear, 0.0);
            engine.sum(&graph).unwrap().factor(factor, &mut beliefs);
            for (entry, belief) in beliefs.iter().enumerate() {
                let estimate = |change: f64| {
                    let graph = with_changed_score(&graph, factor, entry, change);
                    let mut engine = loopy::<f64>(Schedule::Trp, Space::Linear, 0.0);
                    let beliefs = engine.sum(&graph).unwrap();
                    assert!(beliefs.report().converged);
                    beliefs.log_z().value().unwrap()
                };
                let slope = (estimate(step) - estimate(-step)) / (2.0 * step);
                assert!(
                    (slope - belief).abs() < 1e-7,
                    "seed {seed}, factor {factor}: {slope}, belief {belief}"
                );
            }
        }
    }
}

fn with_changed_score(graph: &FactorGraph, factor: usize, entry: usize, change: f64) -> FactorGraph {
    let mut builder = FactorGraphBuilder::default();
    for variable in 0..graph.variables() as u32 {
        builder.variable(graph.labels(variable)).unwrap();
    }
    for other in 0..graph.factors() {
        let mut scores = graph.scores(other).to_vec();
        if other == factor {
            scores[entry] += change;
        }
        builder.factor_with(0, graph.scope(other), &scores).unwrap();
    }
    builder.build()
}

#[test]
fn gibbs_marginals_of_factors_are_counts_of_its_samples() {
    for (labels, samples) in [(2, 50), (2, 1000), (20, 50), (20, 1000), (300, 300)] {
        let mut builder = FactorGraphBuilder::default();
        let mut random = SplitMix64(u64::from(labels));
        for count in [2, labels, 3, labels] {
            builder.variable(count).unwrap();
        }
        let scopes: [(&[u32], u32); 4] = [
            (&[0, 1], 2 * labels),
            (&[3], labels),
            (&[1, 3], labels * labels),
            (&[2, 0, 1], 6 * labels),
        ];
        for (scope, size) in scopes {
            let scores: Vec<f64> = (0..size).map(|_| random.unit()).collect();
            builder.factor_with(0, scope, &scores).unwrap();
        }
        let graph = builder.build();
        let options = GibbsOptions {
            burn_in: 3,
            samples,
            seed: 5,
            ..GibbsOptions::default()
        };
        let mut random = SplitMix64(options.seed);
        let mut state = GibbsState::default();
        state.start_locally(&graph).unwrap();
        let mut sweeps = Vec::new();
        for _ in 0..options.burn_in + samples {
            for variable in 0..4 {
                state.draw(&graph, variable, 1.0, &mut random);
            }
            sweeps.push(state.labels().to_vec());
        }
        let mut sampler = Gibbs::new(options.clone()).unwrap();
        let beliefs = sampler.sum(&graph).unwrap();
        let mut found = Vec::new();
        for factor in [0, 2, 3] {
            let mut expected = vec![0.0; graph.scores(factor).len()];
            for sample in &sweeps[options.burn_in..] {
                let entry = graph.scope(factor).iter().fold(0, |entry, &variable| {
                    entry * graph.labels(variable) + sample[variable as usize]
                });
                expected[entry as usize] += 1.0 / samples as f64;
            }
            beliefs.factor(factor, &mut found);
            assert_eq!(
                found, expected,
                "{labels} labels, {samples} samples, factor {factor}"
            );
        }
    }
}
