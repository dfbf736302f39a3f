//! Random small lattices, and every answer about them by listing all label sequences.

use super::{ArcScores, Constraints, Lattice};
use crate::{Arc, Automaton};
use fieldmark_core::kernels::Real;
use fieldmark_core::random::SplitMix64;

/// Random numbers for tests, so that a failing case is named by its seed.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

/// A lattice that owns its arrays, and constraints in the plainest form.
#[derive(Debug)]
pub struct Case<T> {
    pub automaton: Automaton,
    pub length: usize,
    pub nodes: Vec<T>,
    pub arcs: Vec<T>,
    pub per_step: bool,
    pub start: Vec<T>,
    pub end: Vec<T>,
    pub allowed: Vec<Option<Vec<u32>>>,
    pub pairs: Vec<(u32, u32)>,
    pub first: Vec<u32>,
    pub last: Vec<u32>,
}

impl<T: Real> Case<T> {
    /// A random case. Scores can be represented in both float types.
    pub fn random(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let labels = 1 + random.below(4);
        let length = 1 + random.below(5);
        let (automaton, starts) = match random.below(3) {
            0 => (Automaton::complete(labels), (0..labels).collect()),
            1 => deterministic(random, labels),
            _ => second_order(labels.min(3)),
        };
        let labels = automaton.labels();
        let width = [0.0, 1.0, 5.0, 40.0][random.below(4)];
        let gaps = [0.0, 0.0, 0.2][random.below(3)];
        let score = |random: &mut Random| {
            if random.chance(gaps) {
                T::NEG_INFINITY
            } else {
                T::from_f32(((random.unit() * 2.0 - 1.0) * width) as f32)
            }
        };
        let per_step = random.chance(0.5);
        let rows = if per_step { length - 1 } else { 1 };
        let mut fill = |size: usize| -> Vec<T> { (0..size).map(|_| score(random)).collect() };
        let nodes = fill(length * automaton.states());
        let arcs = fill(rows * automaton.arcs().len());
        let mut start = fill(automaton.states());
        let end = fill(automaton.states());
        for (state, score) in start.iter_mut().enumerate() {
            if !starts.contains(&state) {
                *score = T::NEG_INFINITY;
            }
        }
        let mut case = Self {
            automaton,
            length,
            nodes,
            arcs,
            per_step,
            start,
            end,
            allowed: vec![None; length],
            pairs: Vec::new(),
            first: Vec::new(),
            last: Vec::new(),
        };
        if random.chance(0.5) {
            case.constrain(random, labels);
        }
        case
    }

    fn constrain(&mut self, random: &mut Random, labels: usize) {
        for set in &mut self.allowed {
            if random.chance(0.4) {
                *set = Some((0..labels as u32).filter(|_| random.chance(0.6)).collect());
            }
        }
        let density = [0.0, 0.2][random.below(2)];
        for previous in 0..labels as u32 {
            for next in 0..labels as u32 {
                if random.chance(density) {
                    self.pairs.push((previous, next));
                }
            }
            if random.chance(density) {
                self.first.push(previous);
            }
            if random.chance(density) {
                self.last.push(previous);
            }
        }
    }

    pub fn lattice(&self) -> Lattice<'_, T> {
        Lattice {
            automaton: &self.automaton,
            length: self.length,
            nodes: &self.nodes,
            arcs: if self.per_step {
                ArcScores::PerStep(&self.arcs)
            } else {
                ArcScores::Static(&self.arcs)
            },
            start: &self.start,
            end: &self.end,
        }
    }

    pub fn constraints(&self) -> Constraints {
        let mut constraints = Constraints::none();
        for (position, set) in self.allowed.iter().enumerate() {
            if let Some(set) = set {
                constraints.allow(position, set.iter().copied());
            }
        }
        self.pairs
            .iter()
            .for_each(|&(a, b)| _ = constraints.forbid_pair(a, b));
        self.first
            .iter()
            .for_each(|&label| _ = constraints.forbid_first(label));
        self.last
            .iter()
            .for_each(|&label| _ = constraints.forbid_last(label));
        constraints
    }

    fn permits(&self, labels: &[u32]) -> bool {
        let sets = self.allowed.iter().zip(labels);
        sets.into_iter()
            .all(|(set, label)| set.as_ref().is_none_or(|set| set.contains(label)))
            && labels
                .windows(2)
                .all(|pair| !self.pairs.contains(&(pair[0], pair[1])))
            && labels.first().is_none_or(|label| !self.first.contains(label))
            && labels.last().is_none_or(|label| !self.last.contains(label))
    }

    /// The score of a label sequence, or −∞.
    fn score(&self, labels: &[u32]) -> f64 {
        let label_of = self.automaton.label_of();
        let arcs = self.automaton.arcs();
        let mut score = 0.0;
        let mut state = usize::MAX;
        for (position, &label) in labels.iter().enumerate() {
            if position == 0 {
                let starts = |&s: &usize| label_of[s] == label && self.start[s].is_finite();
                let Some(first) = (0..label_of.len()).find(starts) else {
                    return f64::NEG_INFINITY;
                };
                state = first;
                score += self.start[state].to_f64();
            } else {
                let follows =
                    |&a: &usize| arcs[a].from as usize == state && label_of[arcs[a].to as usize] == label;
                let Some(arc) = (0..arcs.len()).find(follows) else {
                    return f64::NEG_INFINITY;
                };
                let row = if self.per_step { position - 1 } else { 0 };
                score += self.arcs[row * arcs.len() + arc].to_f64();
                state = arcs[arc].to as usize;
            }
            score += self.nodes[position * label_of.len() + state].to_f64();
        }
        score
            + if labels.is_empty() {
                0.0
            } else {
                self.end[state].to_f64()
            }
    }

    /// All allowed label sequences with their scores, best first, equals in lexicographic order.
    pub fn enumerate(&self) -> Vec<(Vec<u32>, f64)> {
        let labels = self.automaton.labels();
        let mut sequences: Vec<(Vec<u32>, f64)> = (0..labels.pow(self.length as u32))
            .map(|mut code| {
                let mut sequence = vec![0; self.length];
                for label in sequence.iter_mut().rev() {
                    *label = (code % labels) as u32;
                    code /= labels;
                }
                let score = self.score(&sequence);
                (sequence, score)
            })
            .filter(|(sequence, score)| score.is_finite() && self.permits(sequence))
            .collect();
        sequences.sort_by(|a, b| b.1.total_cmp(&a.1));
        sequences
    }
}

/// log Z of listed sequences.
pub fn log_z(sequences: &[(Vec<u32>, f64)]) -> f64 {
    let best = sequences[0].1;
    best + sequences
        .iter()
        .map(|(_, score)| (score - best).exp())
        .sum::<f64>()
        .ln()
}

/// The probability that a condition holds.
pub fn probability(sequences: &[(Vec<u32>, f64)], holds: impl Fn(&[u32]) -> bool) -> f64 {
    let log_z = log_z(sequences);
    let matching = sequences.iter().filter(|(labels, _)| holds(labels));
    matching.map(|(_, score)| (score - log_z).exp()).sum()
}

/// Any deterministic automaton, with several states for some labels, and the states to begin in.
fn deterministic(random: &mut Random, labels: usize) -> (Automaton, Vec<usize>) {
    let states = labels + random.below(4);
    let mut label_of: Vec<u32> = (0..labels as u32).collect();
    label_of.extend((labels..states).map(|_| random.below(labels) as u32));
    let pick = |random: &mut Random, label: usize| {
        let of_label: Vec<usize> = (0..states).filter(|&s| label_of[s] as usize == label).collect();
        of_label[random.below(of_label.len())]
    };
    let mut arcs = Vec::new();
    for from in 0..states as u32 {
        for label in 0..labels {
            if random.chance(0.75) {
                arcs.push(Arc {
                    from,
                    to: pick(random, label) as u32,
                });
            }
        }
    }
    let starts = (0..labels)
        .flat_map(|label| {
            if random.chance(0.9) {
                Some(pick(random, label))
            } else {
                None
            }
        })
        .collect();
    (Automaton::new(labels, label_of, arcs), starts)
}

/// States are the last label at the first position, and the last two labels behind it.
fn second_order(labels: usize) -> (Automaton, Vec<usize>) {
    let pair = |a: usize, b: usize| labels + a * labels + b;
    let mut label_of: Vec<u32> = (0..labels as u32).collect();
    let mut arcs = Vec::new();
    for a in 0..labels {
        for b in 0..labels {
            label_of.push(b as u32);
            arcs.push(Arc {
                from: a as u32,
                to: pair(a, b) as u32,
            });
            for c in 0..labels {
                arcs.push(Arc {
                    from: pair(a, b) as u32,
                    to: pair(b, c) as u32,
                });
            }
        }
    }
    (Automaton::new(labels, label_of, arcs), (0..labels).collect())
}
