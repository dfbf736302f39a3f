//! [`Trellis`]: a sequence unrolled in `f64`, with the spans that its steps begin.
//!
//! It serves decoding under rules, where every span of a type may earn a bonus (or cost a price).

use super::SpanReader;
use super::ilp::Edge;
use super::prepare::Prepared;
use crate::Automaton;
use fieldmark_core::kernels::Real;

/// Scores of a sequence and types of the spans that begin at its steps.
#[derive(Clone)]
pub(super) struct Trellis<'a> {
    automaton: &'a Automaton,
    pub length: usize,
    states: usize,
    nodes: Vec<f64>,
    arcs: Vec<f64>,
    /// From the scores of one step to those of the next: 0 if all steps share them.
    arc_stride: usize,
    start_kinds: Vec<Option<u32>>,
    arc_kinds: Vec<Option<u32>>,
    kinds: usize,
}

/// A path with its score, bonuses left out, and the number of its spans of each type.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub states: Vec<u32>,
    pub score: f64,
    pub counts: Vec<usize>,
}

/// The best path with bonuses.
pub(super) struct Best {
    pub solution: Solution,
    /// Its score with bonuses.
    pub value: f64,
    /// Best continuation after each state at each position, with bonuses.
    backward: Vec<f64>,
}

impl<'a> Trellis<'a> {
    pub fn new<T: Real>(prepared: &Prepared<T>, automaton: &'a Automaton, reader: &SpanReader) -> Self {
        let label = |state: u32| automaton.label_of()[state as usize];
        let wide = |scores: &[T]| scores.iter().map(|score| score.to_f64()).collect::<Vec<f64>>();
        let arcs = automaton.arcs().iter();
        Self {
            automaton,
            length: prepared.length,
            states: prepared.states,
            nodes: wide(&prepared.nodes),
            arcs: wide(prepared.arcs()),
            arc_stride: prepared.arc_stride(),
            start_kinds: automaton
                .label_of()
                .iter()
                .map(|&label| reader.begins(None, label))
                .collect(),
            arc_kinds: arcs
                .map(|arc| reader.begins(Some(label(arc.from)), label(arc.to)))
                .collect(),
            kinds: reader.kinds().len(),
        }
    }

    /// The same paths, all with score 0.
    pub fn without_scores(&self) -> Self {
        let plain = |scores: &[f64]| {
            let flat = |&score: &f64| if score > f64::NEG_INFINITY { 0.0 } else { score };
            scores.iter().map(flat).collect::<Vec<f64>>()
        };
        Self {
            nodes: plain(&self.nodes),
            arcs: plain(&self.arcs),
            ..self.clone()
        }
    }

    fn node_row(&self, position: usize) -> &[f64] {
        &self.nodes[position * self.states..(position + 1) * self.states]
    }

    fn arc_row(&self, step: usize) -> &[f64] {
        let start = step * self.arc_stride;
        &self.arcs[start..start + self.automaton.arcs().len()]
    }

    /// The best path when each span of a type earns its bonus; `None` if there is no path.
    pub fn best(&self, bonus: &[f64]) -> Option<Best> {
        let backward = self.backward(bonus);
        let (states, value) = self.follow(bonus, &backward)?;
        Some(Best {
            solution: self.measure(states),
            value,
            backward,
        })
    }

    fn bonuses(&self, kinds: &[Option<u32>], bonus: &[f64]) -> Vec<f64> {
        kinds
            .iter()
            .map(|kind| kind.map_or(0.0, |kind| bonus[kind as usize]))
            .collect()
    }

    /// The scores of the first position, with bonuses.
    fn starts(&self, bonus: &[f64]) -> Vec<f64> {
        let bonuses = self.bonuses(&self.start_kinds, bonus);
        let nodes = self.node_row(0).iter();
        nodes.zip(bonuses).map(|(node, bonus)| node + bonus).collect()
    }

    /// Best continuation after each state at each position, with bonuses.
    fn backward(&self, bonus: &[f64]) -> Vec<f64> {
        let (states, length) = (self.states, self.length);
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let mut table = vec![0.0; length * states];
        for position in (1..length).rev() {
            let (before, after) = table.split_at_mut(position * states);
            let row = &mut before[(position - 1) * states..];
            row.fill(f64::NEG_INFINITY);
            let nodes = self.node_row(position).iter();
            let next: Vec<f64> = nodes
                .zip(&after[..states])
                .map(|(node, rest)| node + rest)
                .collect();
            let scores = self.arc_row(position - 1).iter().zip(&bonuses);
            for (arc, (score, bonus)) in self.automaton.arcs().iter().zip(scores) {
                let best = &mut row[arc.from as usize];
                *best = best.max(score + bonus + next[arc.to as usize]);
            }
        }
        table
    }

    /// Best beginning up to each state at each position, with bonuses.
    fn forward(&self, bonus: &[f64]) -> Vec<f64> {
        let states = self.states;
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let mut table = self.starts(bonus);
        for position in 1..self.length {
            let before = table.len() - states;
            table.resize(table.len() + states, f64::NEG_INFINITY);
            let (before, row) = table[before..].split_at_mut(states);
            let scores = self.arc_row(position - 1).iter().zip(&bonuses);
            for (arc, (score, bonus)) in self.automaton.arcs().iter().zip(scores) {
                let best = &mut row[arc.to as usize];
                *best = best.max(before[arc.from as usize] + score + bonus);
            }
            for (best, node) in row.iter_mut().zip(self.node_row(position)) {
                *best += node;
            }
        }
        table
    }

    /// Walks along the best continuations; among equals the smallest label goes first.
    fn follow(&self, bonus: &[f64], backward: &[f64]) -> Option<(Vec<u32>, f64)> {
        let (states, label_of) = (self.states, self.automaton.label_of());
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let better = |a: &(f64, u32), b: &(f64, u32)| {
            let labels = || label_of[b.1 as usize].cmp(&label_of[a.1 as usize]);
            a.0.total_cmp(&b.0).then_with(labels)
        };
        let starts = self.starts(bonus).into_iter().zip(&backward[..states]);
        let first = starts.map(|(start, rest)| start + rest).zip(0..).max_by(better)?;
        if first.0 == f64::NEG_INFINITY {
            return None;
        }
        let mut path = vec![first.1];
        for position in 1..self.length {
            let (nodes, arcs) = (self.node_row(position), self.arc_row(position - 1));
            let from = path[position - 1] as usize;
            let steps = self.automaton.outgoing(from).iter().map(|&arc| {
                let (arc, to) = (arc as usize, self.automaton.arcs()[arc as usize].to);
                let rest = nodes[to as usize] + backward[position * states + to as usize];
                (arcs[arc] + bonuses[arc] + rest, to)
            });
            path.push(steps.max_by(better)?.1);
        }
        Some((path, first.0))
    }

    /// Counts the spans of a path and adds up its score without bonuses.
    pub fn measure(&self, states: Vec<u32>) -> Solution {
        let mut counts = vec![0; self.kinds];
        let mut score = 0.0;
        for (position, &to) in states.iter().enumerate() {
            score += self.node_row(position)[to as usize];
            let kind = match position.checked_sub(1) {
                None => self.start_kinds[to as usize],
                Some(before) => {
                    let incoming = self.automaton.incoming(to as usize);
                    let sources = &self.automaton.arcs()[incoming.clone()];
                    let source = sources.binary_search_by_key(&states[before], |arc| arc.from);
                    let arc = incoming.start + source.expect("a path follows arcs");
                    score += self.arc_row(before)[arc];
                    self.arc_kinds[arc]
                }
            };
            if let Some(kind) = kind {
                counts[kind as usize] += 1;
            }
        }
        Solution {
            states,
            score,
            counts,
        }
    }

    /// Every step that some path takes, with what its best path loses against the best of all.
    pub fn edges(&self, bonus: &[f64], best: &Best) -> Vec<(f64, Edge)> {
        let (states, length) = (self.states, self.length);
        let forward = self.forward(bonus);
        let backward = &best.backward;
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let price = |kind: Option<u32>| kind.map_or(0.0, |kind| bonus[kind as usize]);
        let mut edges = Vec::new();
        for (to, (&start, &kind)) in forward[..states].iter().zip(&self.start_kinds).enumerate() {
            let loss = best.value - (start + backward[to]);
            if loss < f64::INFINITY {
                let cost = loss.max(0.0) + price(kind);
                edges.push((
                    loss,
                    Edge {
                        position: 0,
                        from: 0,
                        to: to as u32,
                        kind,
                        cost,
                    },
                ));
            }
        }
        for position in 1..length {
            let (nodes, arcs) = (self.node_row(position), self.arc_row(position - 1));
            for (index, arc) in self.automaton.arcs().iter().enumerate() {
                let (from, to) = (arc.from as usize, arc.to as usize);
                let before = (position - 1) * states + from;
                let rest = nodes[to] + backward[position * states + to];
                let ahead = arcs[index] + bonuses[index] + rest;
                let loss = best.value - (forward[before] + ahead);
                if loss < f64::INFINITY {
                    let kind = self.arc_kinds[index];
                    // Along a path these sum to what it loses against the best of all, less its bonuses.
                    let cost = (backward[before] - ahead).max(0.0) + price(kind);
                    edges.push((
                        loss,
                        Edge {
                            position,
                            from: arc.from,
                            to: arc.to,
                            kind,
                            cost,
                        },
                    ));
                }
            }
        }
        edges
    }
}
