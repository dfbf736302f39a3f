//! [`Automaton`]: the states and arcs over which a sequence is unrolled.
//!
//! A state stands for the labels of the last positions, as many as the model has to remember. In a
//! first-order chain a state is a label and every state follows every other. In a chain of order k a state
//! is a tuple of up to k labels; the model chooses which.

use std::ops::Range;

/// A step between states of neighbouring positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The state at the earlier position.
    pub from: u32,
    /// The state at the later position.
    pub to: u32,
}

/// States with a label each, and the arcs that may be taken between neighbouring positions.
///
/// Arcs are numbered in the order of their target, then of their source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    labels: usize,
    label_of: Vec<u32>,
    arcs: Vec<Arc>,
    incoming: Vec<u32>,
    outgoing: Vec<u32>,
    outgoing_offsets: Vec<u32>,
    complete: bool,
}

impl Automaton {
    /// The first-order automaton: one state per label, all arcs.
    pub fn complete(labels: usize) -> Self {
        let states = labels as u32;
        let arcs = (0..states)
            .flat_map(|to| (0..states).map(move |from| Arc { from, to }))
            .collect();
        Self::new(labels, (0..states).collect(), arcs)
    }

    /// An automaton with any states and arcs. `label_of` gives the label of each state.
    ///
    /// # Panics
    /// When an arc names a state that does not exist, or a state a label that does not exist.
    pub fn new(labels: usize, label_of: Vec<u32>, mut arcs: Vec<Arc>) -> Self {
        let states = label_of.len();
        assert!(label_of.iter().all(|&label| (label as usize) < labels));
        assert!(
            arcs.iter()
                .all(|arc| (arc.from as usize) < states && (arc.to as usize) < states)
        );
        arcs.sort_unstable_by_key(|arc| (arc.to, arc.from));
        arcs.dedup();
        let incoming = offsets(states, arcs.iter().map(|arc| arc.to));
        let outgoing_offsets = offsets(states, arcs.iter().map(|arc| arc.from));
        let mut next = outgoing_offsets.clone();
        let mut outgoing = vec![0; arcs.len()];
        for (index, arc) in arcs.iter().enumerate() {
            let slot = &mut next[arc.from as usize];
            outgoing[*slot as usize] = index as u32;
            *slot += 1;
        }
        let complete = states == labels
            && arcs.len() == states * states
            && label_of
                .iter()
                .enumerate()
                .all(|(state, &label)| state == label as usize);
        Self {
            labels,
            label_of,
            arcs,
            incoming,
            outgoing,
            outgoing_offsets,
            complete,
        }
    }

    /// Number of labels.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.label_of.len()
    }

    /// The label of each state.
    pub fn label_of(&self) -> &[u32] {
        &self.label_of
    }

    /// All arcs, sorted by target and then by source.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The indices of the arcs into a state.
    pub fn incoming(&self, state: usize) -> Range<usize> {
        self.incoming[state] as usize..self.incoming[state + 1] as usize
    }

    /// The indices of the arcs out of a state, in the order of their targets.
    pub fn outgoing(&self, state: usize) -> &[u32] {
        &self.outgoing[self.outgoing_offsets[state] as usize..self.outgoing_offsets[state + 1] as usize]
    }

    /// Whether states are labels and all arcs exist, so that arc `to * states + from` leads from `from` to `to`.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

/// Start of each row when `rows` counts as many entries per row as it names it.
fn offsets(rows: usize, entries: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut offsets = vec![0; rows + 1];
    for row in entries {
        offsets[row as usize + 1] += 1;
    }
    for row in 0..rows {
        offsets[row + 1] += offsets[row];
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_are_found_from_both_ends() {
        let arc = |from, to| Arc { from, to };
        let automaton = Automaton::new(2, vec![0, 1, 1], vec![arc(2, 0), arc(0, 1), arc(1, 0), arc(0, 2)]);
        assert!(!automaton.is_complete());
        assert_eq!(automaton.arcs()[automaton.incoming(0)], [arc(1, 0), arc(2, 0)]);
        let out: Vec<Arc> = automaton
            .outgoing(0)
            .iter()
            .map(|&a| automaton.arcs()[a as usize])
            .collect();
        assert_eq!(out, [arc(0, 1), arc(0, 2)]);
    }

    #[test]
    fn the_complete_automaton_is_numbered_as_promised() {
        let automaton = Automaton::complete(3);
        assert!(automaton.is_complete());
        assert_eq!(automaton.arcs()[2 * 3 + 1], Arc { from: 1, to: 2 });
    }
}
