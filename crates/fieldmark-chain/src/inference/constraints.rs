//! [`Constraints`]: what is known about the labels of a sequence, or ruled out.

use super::{Error, Lattice};
use fieldmark_core::Alphabet;
use fieldmark_core::kernels::Real;
use fieldmark_core::scheme::Scheme;
use std::collections::{BTreeMap, BTreeSet};

/// A set of labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSet {
    words: Vec<u64>,
}

impl LabelSet {
    /// Adds a label.
    pub fn insert(&mut self, label: u32) {
        let word = label as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (label % 64);
    }

    /// Whether the label is in the set.
    pub fn contains(&self, label: u32) -> bool {
        let word = self.words.get(label as usize / 64);
        word.is_some_and(|word| word >> (label % 64) & 1 == 1)
    }

    /// Keeps only what is in both sets.
    pub fn intersect(&mut self, other: &LabelSet) {
        self.words.truncate(other.words.len());
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// The labels, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.words.len() as u32 * 64).filter(|&label| self.contains(label))
    }
}

impl FromIterator<u32> for LabelSet {
    fn from_iter<I: IntoIterator<Item = u32>>(labels: I) -> Self {
        let mut set = Self::default();
        for label in labels {
            set.insert(label);
        }
        set
    }
}

/// Labels that are fixed or allowed at some positions, and transitions that are forbidden everywhere.
///
/// Constraints add up: a sequence has to satisfy all of them. They are checked against the sequence when it
/// is loaded, and one set may serve many sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    allowed: BTreeMap<usize, LabelSet>,
    pub(super) pairs: BTreeSet<(u32, u32)>,
    first: BTreeSet<u32>,
    last: BTreeSet<u32>,
}

impl Constraints {
    /// Everything is allowed.
    pub fn none() -> Self {
        Self::default()
    }

    /// Forbids what a scheme rules out over the labels of an alphabet, such as `I-X` after `O` in IOB2.
    pub fn of_scheme(scheme: Scheme, labels: &Alphabet) -> Self {
        let forbidden = scheme.forbidden_pairs(labels);
        Self {
            allowed: BTreeMap::new(),
            pairs: forbidden.pairs.into_iter().collect(),
            first: forbidden.starts.into_iter().collect(),
            last: forbidden.ends.into_iter().collect(),
        }
    }

    /// The label at `position` is `label`.
    pub fn fix(&mut self, position: usize, label: u32) -> &mut Self {
        self.allow(position, [label])
    }

    /// The label at `position` is one of `labels`. Asked again for the same position, one of both sets.
    pub fn allow(&mut self, position: usize, labels: impl IntoIterator<Item = u32>) -> &mut Self {
        let labels: LabelSet = labels.into_iter().collect();
        self.allowed
            .entry(position)
            .and_modify(|set| set.intersect(&labels))
            .or_insert(labels);
        self
    }

    /// `next` may not follow `previous`.
    pub fn forbid_pair(&mut self, previous: u32, next: u32) -> &mut Self {
        self.pairs.insert((previous, next));
        self
    }

    /// The sequence may not begin with `label`.
    pub fn forbid_first(&mut self, label: u32) -> &mut Self {
        self.first.insert(label);
        self
    }

    /// The sequence may not end with `label`.
    pub fn forbid_last(&mut self, label: u32) -> &mut Self {
        self.last.insert(label);
        self
    }

    /// Forgets what was said about positions and keeps what holds for every sequence.
    pub fn clear_positions(&mut self) {
        self.allowed.clear();
    }

    /// Whether everything is allowed.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.pairs.is_empty() && self.first.is_empty() && self.last.is_empty()
    }

    /// Checks that all positions and labels exist.
    pub(super) fn check(&self, length: usize, labels: usize) -> Result<(), Error> {
        if let Some((&position, _)) = self.allowed.range(length..).next() {
            return Err(Error::UnknownPosition { position, length });
        }
        let sets = self.allowed.values().flat_map(|set| set.iter().last());
        let pairs = self.pairs.iter().flat_map(|&(a, b)| [a, b]);
        let mut all = sets
            .chain(pairs)
            .chain(self.first.iter().copied())
            .chain(self.last.iter().copied());
        match all.find(|&label| label as usize >= labels) {
            Some(label) => Err(Error::UnknownLabel { label, labels }),
            None => Ok(()),
        }
    }

    /// Strikes out of a copy of the node scores what the constraints do not allow.
    pub(super) fn mask_nodes<T: Real>(&self, lattice: &Lattice<'_, T>, nodes: &mut [T]) {
        let label_of = lattice.automaton.label_of();
        let states = label_of.len();
        let mut strike = |position: usize, keep: &dyn Fn(u32) -> bool| {
            let row = &mut nodes[position * states..(position + 1) * states];
            for (score, &label) in row.iter_mut().zip(label_of) {
                if !keep(label) {
                    *score = T::NEG_INFINITY;
                }
            }
        };
        for (&position, set) in &self.allowed {
            strike(position, &|label| set.contains(label));
        }
        if lattice.length > 0 && !self.first.is_empty() {
            strike(0, &|label| !self.first.contains(&label));
        }
        if lattice.length > 0 && !self.last.is_empty() {
            strike(lattice.length - 1, &|label| !self.last.contains(&label));
        }
    }
}
