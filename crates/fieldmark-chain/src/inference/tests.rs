//! Every answer against the enumeration of all label sequences, and what enumeration cannot reach.

use super::oracle::{Case, Random, log_z, probability};
use super::{ArcScores, Constraints, Error, Lattice, Space, Worker};
use crate::Automaton;
use fieldmark_core::kernels::Real;

const CASES: u64 = 2000;

fn close(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * (1.0 + expected.abs())
}

/// Runs `check` on many random cases in both spaces, with one worker for all of them. Cases without any
/// sequence are checked here.
fn on_random_cases<T: Real>(
    mut check: impl FnMut(&Case<T>, &[(Vec<u32>, f64)], &mut super::Inference<'_, '_, T>),
) {
    let mut empty = 0;
    for space in [Space::Linear, Space::Log] {
        let mut worker = Worker::new(space);
        for seed in 0..CASES {
            let case: Case<T> = Case::random(seed);
            let sequences = case.enumerate();
            let lattice = case.lattice();
            match worker.load(&lattice, &case.constraints()) {
                Ok(mut inference) if !sequences.is_empty() => check(&case, &sequences, &mut inference),
                Ok(mut inference) => {
                    empty += 1;
                    let refused = |error| matches!(error, Error::NoSequence { .. });
                    assert!(refused(inference.viterbi().unwrap_err()), "seed {seed}");
                    assert!(refused(inference.log_z().unwrap_err()), "seed {seed}");
                    assert!(refused(inference.max_marginals().unwrap_err()), "seed {seed}");
                    assert!(
                        refused(inference.marginals(&mut Vec::new()).unwrap_err()),
                        "seed {seed}"
                    );
                }
                Err(Error::NoSequence { .. }) => assert!(sequences.is_empty(), "seed {seed}"),
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
    }
    assert!(empty > 0, "contradictions over several positions occur");
}

fn viterbi_is_best<T: Real>(tolerance: f64) {
    on_random_cases(|case: &Case<T>, sequences, inference| {
        let best = inference.viterbi().unwrap();
        assert!(close(best.score, sequences[0].1, tolerance), "{case:?}");
        let own = sequences.iter().find(|(labels, _)| labels == best.labels);
        assert!(
            close(own.expect("an allowed sequence").1, best.score, tolerance),
            "{case:?}"
        );
    });
}

#[test]
fn viterbi_finds_a_best_sequence() {
    viterbi_is_best::<f64>(1e-12);
    viterbi_is_best::<f32>(1e-5);
}

fn sums_are_right<T: Real>(tolerance: f64) {
    on_random_cases(|case: &Case<T>, sequences, inference| {
        let expected = log_z(sequences);
        assert!(close(inference.log_z().unwrap(), expected, tolerance), "{case:?}");
        for (labels, score) in sequences {
            let found = inference
                .log_probability(labels)
                .unwrap()
                .expect("an allowed sequence");
            assert!(close(found, score - expected, tolerance), "{case:?}");
        }
        let labels = case.automaton.labels() as u32;
        let absent = (0..labels).map(|label| vec![label; case.length]);
        for constant in absent.filter(|constant| sequences.iter().all(|(labels, _)| labels != constant)) {
            assert_eq!(inference.log_probability(&constant).unwrap(), None);
        }
    });
}

#[test]
fn log_z_and_log_probabilities() {
    sums_are_right::<f64>(1e-9);
    sums_are_right::<f32>(1e-4);
}

fn marginals_are_right<T: Real>(tolerance: f64) {
    let mut found = Vec::new();
    on_random_cases(|case: &Case<T>, sequences, inference| {
        let labels = case.automaton.labels();
        inference.marginals(&mut found).unwrap();
        for (index, &found) in found.iter().enumerate() {
            let (position, label) = (index / labels, (index % labels) as u32);
            let expected = probability(sequences, |labels| labels[position] == label);
            assert!(close(found.to_f64(), expected, tolerance), "{case:?}");
        }
        for position in 0..case.length - 1 {
            inference.pair_marginals(position, &mut found).unwrap();
            for (index, &found) in found.iter().enumerate() {
                let pair = [(index / labels) as u32, (index % labels) as u32];
                let expected = probability(sequences, |labels| labels[position..position + 2] == pair);
                assert!(close(found.to_f64(), expected, tolerance), "{case:?}");
            }
        }
        let beyond = inference.pair_marginals(case.length - 1, &mut found);
        assert!(matches!(beyond, Err(Error::UnknownPosition { .. })));
    });
}

#[test]
fn marginals_of_positions_and_pairs() {
    marginals_are_right::<f64>(1e-9);
    marginals_are_right::<f32>(1e-4);
}

fn max_marginals_are_right<T: Real>(tolerance: f64) {
    on_random_cases(|case: &Case<T>, sequences, inference| {
        let log_z = log_z(sequences);
        let found = inference.max_marginals().unwrap();
        for position in 0..case.length {
            for label in 0..case.automaton.labels() as u32 {
                let best = sequences.iter().find(|(labels, _)| labels[position] == label);
                match (best, found.get(position, label)) {
                    (Some((_, score)), Some(found)) => {
                        assert!(close(found, score - log_z, tolerance), "{case:?}");
                    }
                    (None, None) => {}
                    (best, found) => panic!("{best:?} {found:?} {case:?}"),
                }
            }
        }
    });
}

#[test]
fn max_marginals_of_all_labels() {
    max_marginals_are_right::<f64>(1e-9);
    max_marginals_are_right::<f32>(1e-4);
}

fn kbest_is_in_order<T: Real>(tolerance: f64) {
    let mut seed = 0;
    on_random_cases(|case: &Case<T>, sequences, inference| {
        seed += 1;
        let k = [1, 2, 7, 10_000][seed % 4];
        let list = inference.kbest(k).unwrap();
        assert_eq!(list.len(), k.min(sequences.len()), "{case:?}");
        let found: Vec<_> = list.iter().collect();
        for (path, (_, expected)) in found.iter().zip(sequences) {
            assert!(close(path.score, *expected, tolerance), "{case:?}");
            let own = sequences.iter().find(|(labels, _)| labels == path.labels);
            assert!(
                close(own.expect("an allowed sequence").1, path.score, tolerance),
                "{case:?}"
            );
        }
        for pair in found.windows(2) {
            let in_order = pair[0].score > pair[1].score
                || (pair[0].score == pair[1].score && pair[0].labels < pair[1].labels);
            assert!(in_order, "{case:?}");
        }
        let first = found[0].labels.to_vec();
        assert!(seed % 2 == 0 || first == inference.viterbi().unwrap().labels || tolerance > 1e-9);
    });
}

#[test]
fn kbest_is_the_head_of_the_sorted_enumeration() {
    kbest_is_in_order::<f64>(1e-12);
    kbest_is_in_order::<f32>(1e-12);
}

#[test]
fn ties_are_lexicographic() {
    let automaton = Automaton::complete(3);
    let arcs = ArcScores::Static(&[0.0; 9]);
    let lattice = Lattice {
        automaton: &automaton,
        length: 4,
        nodes: &[0.0; 12],
        arcs,
        start: &[0.0; 3],
        end: &[0.0; 3],
    };
    let mut worker: Worker<f64> = Worker::new(Space::Linear);
    let mut inference = worker.load(&lattice, &Constraints::none()).unwrap();
    assert_eq!(inference.viterbi().unwrap().labels, [0, 0, 0, 0]);
    let list = inference.kbest(50).unwrap();
    for (rank, path) in list.iter().enumerate() {
        let digits = [rank / 27, rank / 9 % 3, rank / 3 % 3, rank % 3];
        assert_eq!(path.labels, digits.map(|digit| digit as u32));
    }
}

#[test]
fn the_empty_sequence_has_one_labelling() {
    let automaton = Automaton::complete(2);
    let arcs = ArcScores::Static(&[0.0; 4]);
    let lattice = Lattice {
        automaton: &automaton,
        length: 0,
        nodes: &[],
        arcs,
        start: &[0.0; 2],
        end: &[0.0; 2],
    };
    let mut worker: Worker<f64> = Worker::new(Space::Linear);
    let mut inference = worker.load(&lattice, &Constraints::none()).unwrap();
    assert_eq!(inference.viterbi().unwrap().labels, [0u32; 0]);
    assert_eq!(inference.viterbi().unwrap().score, 0.0);
    assert_eq!(inference.log_z().unwrap(), 0.0);
    assert_eq!(inference.log_probability(&[]).unwrap(), Some(0.0));
    let mut marginals = vec![1.0];
    inference.marginals(&mut marginals).unwrap();
    assert!(marginals.is_empty());
    inference.max_marginals().unwrap();
    assert_eq!(inference.kbest(5).unwrap().len(), 1);
}

/// Static arcs are prepared once for many sequences: nothing else may be taken for them.
#[test]
fn a_worker_forgets_the_arcs_of_another_lattice() {
    let complete = Automaton::complete(2);
    let crossed = Automaton::new(2, vec![1, 0], complete.arcs().to_vec());
    let (scores, others) = ([1.0, 0.0, 0.0, 0.5], [0.0, 0.0, 3.0, 0.0]);
    let lattice = |automaton, arcs| Lattice {
        automaton,
        length: 2,
        nodes: &[0.0; 4],
        arcs,
        start: &[0.0; 2],
        end: &[0.0; 2],
    };
    let mut constraints = Constraints::none();
    constraints.forbid_pair(0, 0);
    let lattices = [
        lattice(&complete, ArcScores::Static(&scores)),
        lattice(&complete, ArcScores::PerStep(&others)),
        lattice(&complete, ArcScores::Static(&scores)),
        lattice(&crossed, ArcScores::Static(&scores)),
        lattice(&complete, ArcScores::Static(&scores)),
    ];
    let mut used: Worker<f64> = Worker::new(Space::Linear);
    for lattice in &lattices {
        let mut fresh: Worker<f64> = Worker::new(Space::Linear);
        let expected = fresh.load(lattice, &constraints).unwrap().log_z().unwrap();
        assert_eq!(
            used.load(lattice, &constraints).unwrap().log_z().unwrap(),
            expected
        );
    }
}

/// Random scores of the given size on a long sequence, with a different offset at every position.
fn long_scores(length: usize, labels: usize, size: f64, seed: u64) -> Vec<f64> {
    let random = &mut Random::new(seed);
    let mut scores = Vec::with_capacity(length * labels);
    for _ in 0..length {
        let offset = (random.unit() - 0.5) * size;
        scores.extend((0..labels).map(|_| offset + (random.unit() - 0.5) * 2.0 * size));
    }
    scores
}

/// Loads one lattice in both spaces and compares all answers.
fn spaces_agree<T: Real>(lattice: &Lattice<'_, T>, constraints: &Constraints, tolerance: f64) {
    let (mut linear, mut log) = (Worker::new(Space::Linear), Worker::new(Space::Log));
    let mut linear = linear.load(lattice, constraints).unwrap();
    let mut log = log.load(lattice, constraints).unwrap();
    let (left, right) = (linear.log_z().unwrap(), log.log_z().unwrap());
    assert!(
        left.is_finite() && close(left, right, tolerance),
        "log Z {left} and {right}"
    );
    let (mut left, mut right) = (Vec::new(), Vec::new());
    linear.marginals(&mut left).unwrap();
    log.marginals(&mut right).unwrap();
    for (l, r) in left.iter().zip(&right) {
        assert!(
            l.is_finite() && close(l.to_f64(), r.to_f64(), tolerance),
            "marginals {l} and {r}"
        );
    }
    for position in (0..lattice.length - 1).step_by(1 + lattice.length / 100) {
        linear.pair_marginals(position, &mut left).unwrap();
        log.pair_marginals(position, &mut right).unwrap();
        for (l, r) in left.iter().zip(&right) {
            assert!(
                l.is_finite() && close(l.to_f64(), r.to_f64(), tolerance),
                "pairs {l} and {r}"
            );
        }
    }
    let best = linear.viterbi().unwrap();
    assert!(best.score.is_finite());
    let labels = best.labels.to_vec();
    let (left, right) = (
        linear.log_probability(&labels).unwrap(),
        log.log_probability(&labels).unwrap(),
    );
    let (left, right) = (
        left.expect("the best is allowed"),
        right.expect("the best is allowed"),
    );
    assert!(
        left.is_finite() && left <= 0.0 && close(left, right, tolerance),
        "best {left} and {right}"
    );
    let (left, right) = (linear.max_marginals().unwrap(), log.max_marginals().unwrap());
    for position in 0..lattice.length {
        for label in 0..lattice.automaton.labels() as u32 {
            let (l, r) = (left.get(position, label), right.get(position, label));
            let agree = match (l, r) {
                (Some(l), Some(r)) => l.is_finite() && close(l, r, tolerance),
                (l, r) => l == r,
            };
            assert!(agree, "max-marginals {l:?} and {r:?}");
        }
    }
    let list = linear.kbest(3).unwrap();
    assert!(list.iter().all(|path| path.score.is_finite()));
}

#[test]
fn long_sequences_agree_in_both_spaces() {
    let (length, labels) = (100_000, 3);
    let automaton = Automaton::complete(labels);
    for size in [1.0, 1e4] {
        let nodes = long_scores(length, labels, size, 1);
        let arcs = long_scores(labels, labels, size, 2);
        let ends = long_scores(2, labels, size, 3);
        let arcs = ArcScores::Static(&arcs);
        let (start, end) = ends.split_at(labels);
        let lattice = Lattice {
            automaton: &automaton,
            length,
            nodes: &nodes,
            arcs,
            start,
            end,
        };
        spaces_agree(&lattice, &Constraints::none(), 1e-8);
        let mut constraints = Constraints::none();
        constraints
            .forbid_pair(0, 1)
            .forbid_pair(1, 1)
            .fix(length / 2, 2)
            .allow(17, [0, 2]);
        spaces_agree(&lattice, &constraints, 1e-8);
    }
}

#[test]
fn long_sequences_in_single_precision() {
    let (length, labels) = (100_000, 3);
    let automaton = Automaton::complete(labels);
    for size in [1.0, 10.0] {
        let narrow = |scores: Vec<f64>| scores.iter().map(|&s| s as f32).collect::<Vec<f32>>();
        let nodes = narrow(long_scores(length, labels, size, 1));
        let arcs = narrow(long_scores(labels, labels, size, 2));
        let ends = [0.0; 3];
        let arcs = ArcScores::Static(&arcs);
        let lattice = Lattice {
            automaton: &automaton,
            length,
            nodes: &nodes,
            arcs,
            start: &ends,
            end: &ends,
        };
        spaces_agree(&lattice, &Constraints::none(), 1e-3);
    }
}

#[test]
fn extreme_scores_stay_finite() {
    let (length, labels) = (50, 3);
    let automaton = Automaton::complete(labels);
    for seed in 0..50 {
        let size = [1e4, 1e10, 1e300][seed as usize % 3];
        let nodes = long_scores(length, labels, size, seed);
        let arcs = long_scores(
            length - 1,
            labels * labels,
            if seed % 2 == 0 { size } else { 1.0 },
            seed + 1,
        );
        let lattice = Lattice {
            automaton: &automaton,
            length,
            nodes: &nodes,
            arcs: ArcScores::PerStep(&arcs),
            start: &[0.0; 3],
            end: &[0.0; 3],
        };
        spaces_agree(&lattice, &Constraints::none(), 1e-9);
        spaces_agree(
            &lattice,
            Constraints::none().forbid_pair(0, 0).forbid_pair(1, 2),
            1e-9,
        );
    }
}

/// An offset that all labels of a position share says nothing about the labels, however large it is.
#[test]
fn a_common_offset_changes_no_probability() {
    let automaton = Automaton::complete(2);
    let answer = |offset: f64, space: Space| {
        let nodes = [offset + 1.0, offset, 0.0, 0.5, offset, offset];
        let lattice = Lattice {
            automaton: &automaton,
            length: 3,
            nodes: &nodes,
            arcs: ArcScores::Static(&[0.3, 0.0, 0.1, 0.2]),
            start: &[0.0; 2],
            end: &[0.0; 2],
        };
        let mut worker: Worker<f64> = Worker::new(space);
        let mut inference = worker.load(&lattice, &Constraints::none()).unwrap();
        inference.log_probability(&[0, 1, 1]).unwrap().unwrap()
    };
    for space in [Space::Linear, Space::Log] {
        assert!(close(answer(1048576.0, space), answer(0.0, space), 1e-12));
    }
}

/// The only way on leads through a state that loses e⁻⁵⁰ of the mass at every step.
#[test]
fn mass_that_decays_over_many_steps_is_not_lost() {
    let automaton = Automaton::complete(3);
    let length = 200;
    let mut nodes = [-50.0, 0.0, -50.0].repeat(length);
    nodes[3 * (length - 1)..].copy_from_slice(&[f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0]);
    // 0 → 0, 1 → 1, and 2 only from 0.
    let no = f64::NEG_INFINITY;
    let arcs = [0.0, no, no, no, 0.0, no, 0.0, no, no];
    let lattice = Lattice {
        automaton: &automaton,
        length,
        nodes: &nodes,
        arcs: ArcScores::Static(&arcs),
        start: &[0.0; 3],
        end: &[0.0; 3],
    };
    spaces_agree(&lattice, &Constraints::none(), 1e-12);
    let mut worker: Worker<f64> = Worker::new(Space::Linear);
    let mut inference = worker.load(&lattice, &Constraints::none()).unwrap();
    assert!(close(inference.log_z().unwrap(), -50.0 * 199.0, 1e-12));
}

#[test]
fn what_is_not_well_formed_is_refused() {
    let automaton = Automaton::complete(2);
    let good = Lattice {
        automaton: &automaton,
        length: 2,
        nodes: &[0.0; 4],
        arcs: ArcScores::Static(&[0.0; 4]),
        start: &[0.0; 2],
        end: &[0.0; 2],
    };
    let mut worker: Worker<f64> = Worker::new(Space::Linear);
    let mut refuse = |lattice: Lattice<'_, f64>, constraints: &Constraints| {
        worker.load(&lattice, constraints).map(|_| ()).unwrap_err()
    };
    let none = Constraints::none();
    let shape = refuse(
        Lattice {
            nodes: &[0.0; 3],
            ..good
        },
        &none,
    );
    assert_eq!(
        shape,
        Error::Shape {
            what: "node scores",
            found: 3,
            expected: 4
        }
    );
    let nan = refuse(
        Lattice {
            nodes: &[0.0, 0.0, f64::NAN, 0.0],
            ..good
        },
        &none,
    );
    assert_eq!(
        nan,
        Error::NotFinite {
            what: "node scores",
            index: 2
        }
    );
    let infinite = refuse(
        Lattice {
            arcs: ArcScores::Static(&[0.0, f64::INFINITY, 0.0, 0.0]),
            ..good
        },
        &none,
    );
    assert_eq!(
        infinite,
        Error::NotFinite {
            what: "arc scores",
            index: 1
        }
    );
    let large = refuse(
        Lattice {
            start: &[1e308, 0.0],
            ..good
        },
        &none,
    );
    assert!(matches!(large, Error::TooLarge { .. }));
    let beyond = refuse(good, Constraints::none().fix(2, 0));
    assert_eq!(
        beyond,
        Error::UnknownPosition {
            position: 2,
            length: 2
        }
    );
    let unknown = refuse(good, Constraints::none().forbid_pair(0, 7));
    assert_eq!(unknown, Error::UnknownLabel { label: 7, labels: 2 });
    let contradiction = refuse(good, Constraints::none().fix(1, 0).fix(1, 1));
    assert_eq!(contradiction, Error::NoSequence { position: 1 });
}
