//! [`Lattice`]: the log-potentials of one sequence, as they come from a model.

use super::Error;
use crate::Automaton;
use fieldmark_core::kernels::Real;

/// Log-potentials of the arcs, numbered as in [`Automaton::arcs`].
#[derive(Clone, Copy, Debug)]
pub enum ArcScores<'a, T> {
    /// One per arc, the same between all neighbouring positions.
    Static(&'a [T]),
    /// One per step and arc: `(length − 1) × arcs`. The first step leads from position 0 to position 1.
    PerStep(&'a [T]),
}

/// The log-potentials of one sequence. −∞ marks what is not allowed.
///
/// Users see labels, not states. Label sequences and paths of states correspond one to one, because a
/// lattice is deterministic: among the states of one label at most one has a `start` above −∞, and from a
/// state at most one arc leads to each label. Debug builds check this.
#[derive(Clone, Copy, Debug)]
pub struct Lattice<'a, T> {
    /// The states and arcs that the sequence is unrolled over.
    pub automaton: &'a Automaton,
    /// Number of positions.
    pub length: usize,
    /// Of each state at each position: `length × states`.
    pub nodes: &'a [T],
    /// Of each arc.
    pub arcs: ArcScores<'a, T>,
    /// Of beginning in each state.
    pub start: &'a [T],
    /// Of ending in each state.
    pub end: &'a [T],
}

impl<'a, T: Real> ArcScores<'a, T> {
    /// The scores of the step from position `step` to the next.
    pub(super) fn row(&self, step: usize, arcs: usize) -> &'a [T] {
        match self {
            ArcScores::Static(scores) => scores,
            ArcScores::PerStep(scores) => &scores[step * arcs..(step + 1) * arcs],
        }
    }

    /// All scores, whatever their layout.
    pub(super) fn all(&self) -> &'a [T] {
        match self {
            ArcScores::Static(scores) | ArcScores::PerStep(scores) => scores,
        }
    }
}

impl<T: Real> Lattice<'_, T> {
    /// Checks that the arrays fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        let (states, arcs) = (self.automaton.states(), self.automaton.arcs().len());
        let arc_scores = match self.arcs {
            ArcScores::Static(_) => arcs,
            ArcScores::PerStep(_) => arcs * self.length.saturating_sub(1),
        };
        let sizes = [
            ("node scores", self.nodes.len(), self.length * states),
            ("arc scores", self.arcs.all().len(), arc_scores),
            ("start scores", self.start.len(), states),
            ("end scores", self.end.len(), states),
        ];
        for (what, found, expected) in sizes {
            if found != expected {
                return Err(Error::Shape {
                    what,
                    found,
                    expected,
                });
            }
        }
        debug_assert!(
            self.is_deterministic(),
            "label sequences and state paths are one to one"
        );
        Ok(())
    }

    fn is_deterministic(&self) -> bool {
        let automaton = self.automaton;
        let starts = (0..automaton.states()).filter(|&state| self.start[state] > T::NEG_INFINITY);
        let target = |&arc: &u32| automaton.arcs()[arc as usize].to as usize;
        labels_differ(automaton, starts)
            && (0..automaton.states())
                .all(|state| labels_differ(automaton, automaton.outgoing(state).iter().map(target)))
    }

    /// Writes the states that `labels` lead through. `false` if the automaton has no such path.
    pub(super) fn trace(&self, labels: &[u32], states: &mut Vec<u32>) -> bool {
        let label_of = self.automaton.label_of();
        states.clear();
        for (position, &label) in labels.iter().enumerate() {
            let state = match states.last() {
                None => (0..label_of.len())
                    .find(|&s| label_of[s] == label && self.start[s] > T::NEG_INFINITY)
                    .map(|s| s as u32),
                Some(&before) => self
                    .arc_to_label(before, label)
                    .map(|arc| self.automaton.arcs()[arc].to),
            };
            match state {
                Some(state) => states.push(state),
                None => return false,
            }
            debug_assert_eq!(states.len(), position + 1);
        }
        true
    }

    fn arc_to_label(&self, from: u32, label: u32) -> Option<usize> {
        let automaton = self.automaton;
        let mut arcs = automaton.outgoing(from as usize).iter().map(|&arc| arc as usize);
        arcs.find(|&arc| automaton.label_of()[automaton.arcs()[arc].to as usize] == label)
    }

    /// The arc between two states.
    pub(super) fn arc_between(&self, from: u32, to: u32) -> Option<usize> {
        let incoming = self.automaton.incoming(to as usize);
        let sources = &self.automaton.arcs()[incoming.clone()];
        let found = sources.binary_search_by_key(&from, |arc| arc.from).ok()?;
        Some(incoming.start + found)
    }

    /// The log-score of a path of states, as the lattice gives it.
    ///
    /// # Panics
    /// When two neighbouring states have no arc between them.
    pub(super) fn score(&self, states: &[u32]) -> f64 {
        let (Some(&first), Some(&last)) = (states.first(), states.last()) else {
            return 0.0;
        };
        let (width, arcs) = (self.automaton.states(), self.automaton.arcs().len());
        let mut score = 0.0 + self.start[first as usize].to_f64() + self.end[last as usize].to_f64();
        for (position, &state) in states.iter().enumerate() {
            score += self.nodes[position * width + state as usize].to_f64();
        }
        for (step, pair) in states.windows(2).enumerate() {
            let arc = self.arc_between(pair[0], pair[1]).expect("a path follows arcs");
            score += self.arcs.row(step, arcs)[arc].to_f64();
        }
        score
    }
}

fn labels_differ(automaton: &Automaton, mut states: impl Iterator<Item = usize>) -> bool {
    let mut seen = vec![false; automaton.labels()];
    states.all(|state| !std::mem::replace(&mut seen[automaton.label_of()[state] as usize], true))
}
