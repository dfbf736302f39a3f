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
