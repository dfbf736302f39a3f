//! Span probabilities and rules, against the spans of all enumerated label sequences.

use super::oracle::{Case, Random, probability};
use super::{ArcScores, Constraints, Error, Lattice, Rule, Space, SpanReader, Worker};
use crate::Automaton;
use fieldmark_core::Alphabet;
use fieldmark_core::kernels::Real;
use fieldmark_core::scheme::{Scheme, Span};

const NAMES: [[&str; 4]; 5] = [
    ["O", "B-X", "I-X", "B-Y"],
    ["I-X", "O", "I-Y", "B-X"],
    ["B-X", "E-X", "S-X", "I-X"],
    ["O", "S-X", "S-Y", "B-Y"],
    ["I-X", "I-Y", "I-Z", "O"],
];

/// A scheme and names for the labels of a case.
fn reading(seed: u64, labels: usize) -> (Scheme, Alphabet) {
    let random = &mut Random::new(seed ^ 0xABCD);
    let scheme = Scheme::ALL[random.below(4)];
    (
        scheme,
        NAMES[random.below(NAMES.len())][..labels].iter().collect(),
    )
}

fn names<'a>(alphabet: &'a Alphabet, labels: &[u32]) -> Vec<&'a str> {
    labels.iter().map(|&label| alphabet.name(label)).collect()
}

fn span_probabilities_are_right<T: Real>(space: Space, tolerance: f64) {
    let mut worker = Worker::new(space);
    for seed in 0..1000 {
        let case: Case<T> = Case::random(seed);
        let sequences = case.enumerate();
        if sequences.is_empty() {
            continue;
        }
        let (scheme, alphabet) = reading(seed, case.automaton.labels());
        let reader = SpanReader::new(scheme, &alphabet);
        let lattice = case.lattice();
        let mut inference = worker.load(&lattice, &case.constraints()).unwrap();
        for start in 0..case.length {
            for end in start + 1..=case.length {
                for (kind, name) in reader.kinds().iter().enumerate() {
                    let span = Span::new(start, end, name);
                    let found = inference
                        .span_probability(&reader, start..end, kind as u32)
                        .unwrap();
                    let expected = probability(&sequences, |labels| {
                        scheme.spans(&names(&alphabet, labels)).contains(&span)
                    });
                    assert!(
                        (found - expected).abs() < tolerance,
                        "{found} {expected} {scheme} {case:?}"
                    );
                }
            }
        }
        assert!(matches!(
            inference.span_probability(&reader, 0..0, 0),
            Err(Error::NoSpan { .. })
        ));
        let beyond = inference.span_probability(&reader, 0..case.length + 1, 0);
        assert!(matches!(beyond, Err(Error::NoSpan { .. })));
    }
}

#[test]
fn span_probabilities() {
    span_probabilities_are_right::<f64>(Space::Linear, 1e-9);
    span_probabilities_are_right::<f64>(Space::Log, 1e-9);
    span_probabilities_are_right::<f32>(Space::Linear, 1e-4);
}

#[test]
fn events_of_label_sets() {
    let mut worker: Worker<f64> = Worker::new(Space::Linear);
    for seed in 0..500 {
        let case: Case<f64> = Case::random(seed);
        let sequences = case.enumerate();
        if sequences.is_empty() {
            continue;
        }
        let random = &mut Random::new(seed);
        let sets: Vec<u64> = (0..case.length).map(|_| random.next()).collect();
        let (start, end) = (random.below(case.length + 1), case.length);
        let lattice = case.lattice();
        let mut inference = worker.load(&lattice, &case.constraints()).unwrap();
        let found = inference
            .event_probability(start..end, |t, _, label| sets[t] >> label & 1 == 1)
            .unwrap();
        let expected = probability(&sequences, |labels| {
            (start..end).all(|t| sets[t] >> labels[t] & 1 == 1)
        });
        assert!((found - expected).abs() < 1e-9, "{case:?}");
        assert!(inference.event_probability(0..end + 1, |_, _, _| true).is_err());
    }
}

#[test]
fn scheme_constraints_forbid_what_the_scheme_forbids() {
    for seed in 0..500 {
        let mut case: Case<f64> = Case::random(seed);
        (case.first, case.last, case.pairs) = Default::default();
        case.allowed.fill(None);
        let (scheme, alphabet) = reading(seed, case.automaton.labels());
        let mut legal = case.enumerate();
        legal.retain(|(labels, _)| scheme.violations(&names(&alphabet, labels)).is_empty());
        let constraints = Constraints::of_scheme(scheme, &alphabet);
        let mut worker: Worker<f64> = Worker::new(Space::Linear);
        let lattice = case.lattice();
        let count = match worker.load(&lattice, &constraints) {
            Ok(mut inference) => inference.kbest(10_000).map_or(0, |list| list.len()),
            Err(_) => 0,
        };
        assert_eq!(count, legal.len(), "{scheme} {alphabet:?} {case:?}");
    }
}

fn random_rules(random: &mut Random, kinds: &Alphabet) -> Vec<Rule> {
    let kind = |random: &mut Random| kinds.name(random.below(kinds.len()) as u32).to_owned();
    (0..1 + random.below(3))
        .map(|_| match random.below(4) {
            0 => Rule::AtMost(random.below(3), kind(random)),
            1 => Rule::AtLeast(random.below(4), kind(random)),
            2 => Rule::Exactly(random.below(3), kind(random)),
            _ => Rule::Implies(kind(random), kind(random)),
        })
        .collect()
}

#[test]
fn rules_give_the_best_sequence_that_satisfies_them() {
    let mut worker: Worker<f64> = Worker::new(Space::Linear);
    let (mut found, mut infeasible) = (0, 0);
    for seed in 0..2000 {
        let case: Case<f64> = Case::random(seed);
        let (scheme, alphabet) = reading(seed, case.automaton.labels());
        let reader = SpanReader::new(scheme, &alphabet);
        if reader.kinds().is_empty() {
            continue;
        }
        let rules = random_rules(&mut Random::new(seed), reader.kinds());
        let sequences = case.enumerate();
        let expected = sequences.iter().find(|(labels, _)| {
            let names = names(&alphabet, labels);
            let spans = scheme.spans(&names);
            rules
                .iter()
                .all(|rule| rule.holds(|kind| spans.iter().filter(|s| s.kind == kind).count()))
        });
        let lattice = case.lattice();
        let Ok(mut inference) = worker.load(&lattice, &case.constraints()) else {
            continue;
        };
        match (inference.viterbi_under(&reader, &rules), expected) {
            (Ok(best), Some((_, score))) => {
                found += 1;
                let own = sequences
                    .iter()
                    .find(|(labels, _)| labels == best.labels)
                    .unwrap();
                let close = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + b.abs());
                assert!(
                    close(best.score, *score),
                    "seed {seed} {rules:?} {best:?} {score}"
                );
                assert!(close(own.1, best.score), "seed {seed}");
                let names = names(&alphabet, best.labels);
                let spans = scheme.spans(&names);
                let count = |kind: &str| spans.iter().filter(|span| span.kind == kind).count();
                assert!(
                    rules.iter().all(|rule| rule.holds(count)),
                    "seed {seed} {rules:?}"
                );
            }
            (Err(Error::Infeasible), None) if !sequences.is_empty() => infeasible += 1,
            (Err(Error::NoSequence { .. }), None) if sequences.is_empty() => {}
            (found, expected) => panic!("seed {seed}: {found:?} {expected:?} {rules:?}"),
        }
    }
    assert!(found > 500 && infeasible > 100, "{found} {infeasible}");
}

/// A hundred positions in which many spans compete, under rules that pull against the scores.
#[test]
fn rules_on_a_long_sequence() {
    let alphabet: Alphabet = ["O", "B-A", "I-A", "B-B", "I-B", "B-C", "I-C", "B-D", "I-D"]
        .into_iter()
        .collect();
    let (labels, length) = (alphabet.len(), 100);
    let automaton = Automaton::complete(labels);
    let random = &mut Random::new(5);
    let mut scores = |size: usize| -> Vec<f64> { (0..size).map(|_| random.unit() * 4.0 - 2.0).collect() };
    let (nodes, arcs) = (scores(length * labels), scores(labels * labels));
    let (start, end) = (scores(labels), scores(labels));
    let arcs = ArcScores::Static(&arcs);
    let lattice = Lattice {
        automaton: &automaton,
        length,
        nodes: &nodes,
        arcs,
        start: &start,
        end: &end,
    };
    let reader = SpanReader::new(Scheme::Iob2, &alphabet);
    let constraints = Constraints::of_scheme(Scheme::Iob2, &alphabet);
    let mut worker: Worker<f64> = Worker::new(Space::Linear);
    let mut inference = worker.load(&lattice, &constraints).unwrap();
    let free = inference.viterbi().unwrap().score;
    let rules = Rule::parse_all("exactly 7 A; at-most 2 B; at-least 20 C; C implies D; D implies B").unwrap();
    let best = inference.viterbi_under(&reader, &rules).unwrap();
    assert!(best.score < free);
    let names = names(&alphabet, best.labels);
    let spans = Scheme::Iob2.spans(&names);
    let count = |kind: &str| spans.iter().filter(|span| span.kind == kind).count();
    assert!(rules.iter().all(|rule| rule.holds(count)));
    // Counters per type in the state are exact as well, if slow: here for one type.
    for high in [0, 1, 3, 10] {
        let rule = Rule::AtMost(high, "C".to_owned());
        let found = inference.viterbi_under(&reader, &[rule]).unwrap().score;
        let expected = best_with_counter(&lattice, &reader, high);
        assert!((found - expected).abs() < 1e-6, "{high}: {found} {expected}");
    }
    let impossible = Rule::parse_all("at-least 101 A").unwrap();
    assert_eq!(
        inference.viterbi_under(&reader, &impossible).unwrap_err(),
        Error::Infeasible
    );
    let unknown = Rule::parse_all("must E").unwrap();
    assert!(matches!(
        inference.viterbi_under(&reader, &unknown),
        Err(Error::UnknownKind { .. })
    ));
}

/// The best score of a sequence that is legal in IOB2 and has at most so many spans of type C.
fn best_with_counter(lattice: &Lattice<'_, f64>, reader: &SpanReader, high: usize) -> f64 {
    let labels = lattice.automaton.labels();
    let ArcScores::Static(arcs) = lattice.arcs else {
        panic!("static arcs")
    };
    let kind = reader.kinds().get("C");
    let begins = |before: Option<u32>, label: u32| usize::from(reader.begins(before, label) == kind);
    // Inside labels are even and not 0; the label that begins their span comes right before them.
    let legal = |before: Option<u32>, label: u32| {
        label == 0 || label % 2 == 1 || before == Some(label) || before == Some(label - 1)
    };
    let mut row = vec![f64::NEG_INFINITY; labels * (high + 1)];
    for label in 0..labels as u32 {
        let count = begins(None, label);
        if legal(None, label) && count <= high {
            row[label as usize * (high + 1) + count] =
                lattice.start[label as usize] + lattice.nodes[label as usize];
        }
    }
    for position in 1..lattice.length {
        let mut next = vec![f64::NEG_INFINITY; row.len()];
        for before in 0..labels as u32 {
            for label in (0..labels as u32).filter(|&label| legal(Some(before), label)) {
                let new = begins(Some(before), label);
                for count in new..=high {
                    let score = row[before as usize * (high + 1) + count - new]
                        + arcs[label as usize * labels + before as usize]
                        + lattice.nodes[position * labels + label as usize];
                    let best = &mut next[label as usize * (high + 1) + count];
                    *best = best.max(score);
                }
            }
        }
        row = next;
    }
    let ends = row
        .iter()
        .enumerate()
        .map(|(index, score)| score + lattice.end[index / (high + 1)]);
    ends.fold(f64::NEG_INFINITY, f64::max)
}
