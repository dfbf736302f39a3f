//! The k best label sequences, by lazy enumeration behind one max-product pass (Huang & Chiang 2005,
//! algorithm 3).
//!
//! A cell is a state at a position; its list holds the best continuations found so far, best first. The next
//! entry of a list needs at most one more entry of one list at the position behind, so that every sequence
//! after the first costs one walk along the lattice, whatever the number of states.

use super::prepare::Prepared;
use super::{Error, Inference, Path};
use crate::Automaton;
use fieldmark_core::kernels::Real;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The k best label sequences in order.
#[derive(Clone, Copy, Debug)]
pub struct KBest<'a> {
    length: usize,
    labels: &'a [u32],
    scores: &'a [f64],
}

impl<'a> KBest<'a> {
    /// Number of sequences: k, or all that there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether k was 0.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The sequence of a rank, counted from 0.
    pub fn get(&self, rank: usize) -> Option<Path<'a>> {
        let score = *self.scores.get(rank)?;
        let labels = &self.labels[rank * self.length..(rank + 1) * self.length];
        Some(Path { labels, score })
    }

    /// All sequences, best first.
    pub fn iter(&self) -> impl Iterator<Item = Path<'a>> + use<'a> {
        let list = *self;
        (0..list.len()).filter_map(move |rank| list.get(rank))
    }
}

/// A continuation: the arc to take and the rank of the continuation behind it.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: f64,
    label: u32,
    to: u32,
    rank: u32,
}

impl Ord for Candidate {
    /// The greatest candidate is the best one. Equal scores: smaller labels first, which makes lists
    /// lexicographic, because the lists behind are.
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.total_cmp(&other.score);
        scores.then_with(|| (other.label, other.rank).cmp(&(self.label, self.rank)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

#[derive(Debug, Default)]
struct Cell {
    /// Position whose states the continuations lead to; the first position for the root.
    next: usize,
    found: Vec<Candidate>,
    waiting: BinaryHeap<Candidate>,
    /// Whether the candidate behind the last one found still has to join those waiting.
    owes: bool,
    exhausted: bool,
}

const NO_CELL: u32 = u32::MAX;

/// Memory for k-best search.
#[derive(Debug, Default)]
pub(super) struct KBestTables {
    /// Best continuation after a state, in `f64` so that the order does not depend on the lattice's type.
    backward: Vec<f64>,
    /// What was taken off each row.
    shifts: Vec<f64>,
    /// The cell of each state at each position, and of the root at the end.
    cell_of: Vec<u32>,
    cells: Vec<Cell>,
    used: usize,
    stack: Vec<usize>,
    states: Vec<u32>,
    scores: Vec<f64>,
    labels: Vec<u32>,
}

/// The search over one lattice.
struct Search<'a, T> {
    prepared: &'a Prepared<T>,
    automaton: &'a Automaton,
    tables: &'a mut KBestTables,
}

impl<T: Real> Search<'_, T> {
    fn root(&self) -> usize {
        self.prepared.length * self.prepared.states
    }

    fn run_backward(&mut self) -> Result<(), Error> {
        let (states, length) = (self.prepared.states, self.prepared.length);
        let tables = &mut *self.tables;
        tables.backward.clear();
        tables.backward.resize(length * states, 0.0);
        tables.shifts.clear();
        tables.shifts.resize(length, 0.0);
        for position in (1..length).rev() {
            let (before, after) = tables.backward.split_at_mut(position * states);
            let row = &mut before[(position - 1) * states..];
            row.fill(f64::NEG_INFINITY);
            let nodes = self.prepared.node_row(position);
            let arcs = self.prepared.arc_row(position - 1);
            for (arc, &score) in self.automaton.arcs().iter().zip(arcs) {
                let to = arc.to as usize;
                let best = &mut row[arc.from as usize];
                *best = best.max(step_score(score, nodes[to], after[to]));
            }
            let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if max == f64::NEG_INFINITY {
                return Err(self.prepared.no_sequence(self.automaton));
            }
            row.iter_mut().for_each(|score| *score -= max);
            tables.shifts[position - 1] = max;
        }
        Ok(())
    }

    /// The cell of a key, made when it is asked for the first time.
    fn cell(&mut self, key: usize) -> usize {
        if self.tables.cell_of[key] != NO_CELL {
            return self.tables.cell_of[key] as usize;
        }
        let index = self.tables.used;
        self.tables.used += 1;
        self.tables.cell_of[key] = index as u32;
        if self.tables.cells.len() < self.tables.used {
            self.tables.cells.push(Cell::default());
        }
        let next = if key == self.root() {
            0
        } else {
            key / self.prepared.states + 1
        };
        let cell = &mut self.tables.cells[index];
        cell.next = next;
        cell.found.clear();
        cell.waiting.clear();
        cell.owes = false;
        cell.exhausted = false;
        let mut waiting = std::mem::take(&mut cell.waiting);
        self.first_candidates(key, &mut waiting);
        self.tables.cells[index].waiting = waiting;
        index
    }

    fn first_candidates(&self, key: usize, waiting: &mut BinaryHeap<Candidate>) {
        let (states, length) = (self.prepared.states, self.prepared.length);
        let label_of = self.automaton.label_of();
        let mut offer = |to: u32, score: f64| {
            if score > f64::NEG_INFINITY {
                waiting.push(Candidate {
                    score,
                    label: label_of[to as usize],
                    to,
                    rank: 0,
                });
            }
        };
        if key == self.root() {
            for (to, &node) in self.prepared.node_row(0).iter().enumerate() {
                offer(to as u32, step_score(T::ZERO, node, self.tables.backward[to]));
            }
        } else if key / states + 1 < length {
            let position = key / states;
            let nodes = self.prepared.node_row(position + 1);
            let after = &self.tables.backward[(position + 1) * states..];
            let arcs = self.prepared.arc_row(position);
            for &arc in self.automaton.outgoing(key % states) {
                let to = self.automaton.arcs()[arc as usize].to;
                let score = step_score(arcs[arc as usize], nodes[to as usize], after[to as usize]);
                offer(to, score - self.tables.shifts[position]);
            }
        } else {
            // Behind the last position there is one continuation: the end.
            waiting.push(Candidate {
                score: 0.0,
                label: 0,
                to: 0,
                rank: 0,
            });
        }
    }

    /// Whether the list of a key has an entry of this rank, found now if need be.
    fn ensure(&mut self, key: usize, rank: usize) -> bool {
        loop {
            let cell = self.cell(key);
            if self.tables.cells[cell].found.len() > rank {
                return true;
            }
            if self.tables.cells[cell].exhausted {
                return false;
            }
            self.find_next(key);
        }
    }

    /// Adds the next entry to the list of a key, or marks it as complete.
    fn find_next(&mut self, key: usize) {
        let (states, length) = (self.prepared.states, self.prepared.length);
        let mut stack = std::mem::take(&mut self.tables.stack);
        stack.push(key);
        while let Some(&key) = stack.last() {
            let index = self.cell(key);
            let cell = &self.tables.cells[index];
            if cell.owes && cell.next < length {
                let last = *cell.found.last().expect("only what was found is owed");
                let behind = cell.next * states + last.to as usize;
                let source = self.cell(behind);
                let behind_cell = &self.tables.cells[source];
                if let Some(next) = behind_cell.found.get(last.rank as usize + 1).copied() {
                    let first = behind_cell.found[last.rank as usize].score;
                    // The difference of two continuations is all that changes.
                    let score = last.score + (next.score - first);
                    let candidate = Candidate {
                        score,
                        rank: last.rank + 1,
                        ..last
                    };
                    self.tables.cells[index].waiting.push(candidate);
                } else if !behind_cell.exhausted {
                    stack.push(behind);
                    continue;
                }
            }
            let cell = &mut self.tables.cells[index];
            cell.owes = false;
            match cell.waiting.pop() {
                Some(candidate) => {
                    cell.found.push(candidate);
                    cell.owes = true;
                }
                None => cell.exhausted = true,
            }
            stack.pop();
        }
        self.tables.stack = stack;
    }

    /// Writes the states of the root's entry of a rank.
    fn follow(&mut self, rank: usize) {
        let (states, length) = (self.prepared.states, self.prepared.length);
        let (mut key, mut rank) = (self.root(), rank);
        for position in 0..length {
            let exists = self.ensure(key, rank);
            debug_assert!(exists, "a rank that was handed out exists");
            let entry = self.tables.cells[self.tables.cell_of[key] as usize].found[rank];
            self.tables.states.push(entry.to);
            (key, rank) = (position * states + entry.to as usize, entry.rank as usize);
        }
    }
}

/// One sum in one order, so that equal continuations have equal scores; and no −0, which is not equal to 0
/// in the total order.
fn step_score<T: Real>(arc: T, node: T, rest: f64) -> f64 {
    arc.to_f64() + (node.to_f64() + rest) + 0.0
}

impl<T: Real> Inference<'_, '_, T> {
    /// The `k` best label sequences with their scores, best first; all of them if there are fewer.
    ///
    /// Sequences with equal scores come in the lexicographic order of their label ids. (Scores are compared
    /// as they are after rounding.) Memory and time beyond one pass over the lattice grow with `k` times the
    /// length. Each call allocates the list.
    pub fn kbest(&mut self, k: usize) -> Result<KBest<'_>, Error> {
        let (length, states) = (self.lattice.length, self.worker.prepared.states);
        let (prepared, automaton) = (&self.worker.prepared, self.lattice.automaton);
        let tables = &mut self.worker.kbest;
        tables.used = 0;
        tables.cell_of.clear();
        tables.cell_of.resize(length * states + 1, NO_CELL);
        tables.states.clear();
        tables.scores.clear();
        tables.labels.clear();
        if length == 0 {
            tables.scores.extend((k > 0).then_some(0.0));
            return Ok(KBest {
                length,
                labels: &[],
                scores: &tables.scores,
            });
        }
        let mut search = Search {
            prepared,
            automaton,
            tables,
        };
        search.run_backward()?;
        if !search.ensure(search.root(), 0) {
            return Err(prepared.no_sequence(automaton));
        }
        for rank in 0..k {
            if !search.ensure(search.root(), rank) {
                break;
            }
            search.follow(rank);
        }
        let lattice = &self.lattice;
        let label_of = automaton.label_of();
        let mut paths: Vec<(f64, Vec<u32>)> = tables
            .states
            .chunks_exact(length)
            .map(|path| {
                let labels = path.iter().map(|&state| label_of[state as usize]).collect();
                (lattice.score(path), labels)
            })
            .collect();
        // The search added the same scores in another order; where rounding shows, the reported score rules.
        paths.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (score, labels) in &paths {
            tables.scores.push(*score);
            tables.labels.extend_from_slice(labels);
        }
        Ok(KBest {
            length,
            labels: &tables.labels,
            scores: &tables.scores,
        })
    }
}
