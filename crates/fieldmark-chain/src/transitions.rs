//! [`Transitions`]: which label may follow which, in a model that forbids what its training data never show.

use fieldmark_core::{Dataset, Gold};

/// The pairs of labels that may be neighbours, and the labels that may begin a sequence.
///
/// Every label may end a sequence. For each length there is a sequence that is allowed, so that there is always
/// something to decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transitions {
    labels: usize,
    /// Sorted; a sequence begins with a step from the id after the labels.
    pairs: Vec<[u32; 2]>,
    /// Start of the pairs of each earlier label.
    offsets: Vec<usize>,
}

/// Why the transitions that were seen cannot be all that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForbiddenError {
    /// In a model of order 0 nothing follows anything.
    #[error("a model of order 0 has no transitions that could be forbidden")]
    Order0,
    /// Every path ends after some steps.
    #[error(
        "the transitions of the training data allow no sequence of more than {longest} labels; do not forbid \
         the others"
    )]
    TooShort {
        /// The length of the longest sequence that is allowed.
        longest: usize,
    },
    /// Sequences with unknown labels that no seen transitions can explain.
    #[error(
        "{count} {} with unknown labels {} a transition that is seen nowhere, the first of them is sequence {first}; \
         label more of it, or do not forbid unseen transitions",
        if *count == 1 { "training sequence" } else { "training sequences" },
        if *count == 1 { "needs" } else { "need" }
    )]
    NoPath {
        /// How many sequences.
        count: usize,
        /// The number of the first, from 1 on.
        first: usize,
    },
}

impl Transitions {
    /// The transitions between neighbours that are both known or ambiguous, and from the start of a sequence to such
    /// a position; an ambiguous position shows every label that it allows, an unknown one none.
    pub(crate) fn seen(data: &Dataset) -> Result<Self, ForbiddenError> {
        let labels = data.labels.len();
        let mut seen = vec![false; (labels + 1) * labels];
        for instance in data.instances() {
            let mut before = vec![labels as u32];
            for t in 0..instance.len() {
                let now = match instance.gold(t) {
                    Gold::Known(label) => vec![label],
                    Gold::Ambiguous(set) => set.to_vec(),
                    Gold::Unknown => Vec::new(),
                };
                for &from in &before {
                    for &to in &now {
                        seen[from as usize * labels + to as usize] = true;
                    }
                }
                before = now;
            }
        }
        let pair = |index: usize| [(index / labels) as u32, (index % labels) as u32];
        let pairs = (0..seen.len()).filter(|&index| seen[index]).map(pair).collect();
        let transitions = Self::index(labels, pairs);
        if let Some(longest) = transitions.longest() {
            return Err(ForbiddenError::TooShort { longest });
        }
        let mut lost = (0..data.len()).filter(|&index| !transitions.explain(data, index));
        match lost.next() {
            None => Ok(transitions),
            Some(first) => Err(ForbiddenError::NoPath {
                count: lost.count() + 1,
                first: first + 1,
            }),
        }
    }

    /// Transitions from a list, or `None` when it is not sorted, names other labels or allows no long sequence.
    pub(crate) fn from_pairs(labels: usize, pairs: Vec<[u32; 2]>) -> Option<Self> {
        let known = |pair: &[u32; 2]| pair[0] as usize <= labels && (pair[1] as usize) < labels;
        if !pairs.iter().all(known) || !pairs.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let transitions = Self::index(labels, pairs);
        transitions.longest().is_none().then_some(transitions)
    }

    fn index(labels: usize, pairs: Vec<[u32; 2]>) -> Self {
        let start = |label: usize| pairs.partition_point(|pair| (pair[0] as usize) < label);
        let offsets = (0..=labels + 1).map(start).collect();
        Self {
            labels,
            pairs,
            offsets,
        }
    }

    /// The pairs that may be neighbours, sorted.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs[..self.offsets[self.labels]]
    }

    /// The labels that may begin a sequence, sorted.
    pub fn starts(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.after(self.labels as u32).iter().map(|pair| pair[1])
    }

    /// The pairs that may be neighbours, and those of the id after the labels with the labels that may begin.
    pub(crate) fn pairs_and_starts(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Whether one label may follow the other. The id after the labels is the start of a sequence.
    pub fn allows(&self, from: u32, to: u32) -> bool {
        self.after(from).binary_search_by_key(&to, |pair| pair[1]).is_ok()
    }

    /// Whether nothing is forbidden.
    pub(crate) fn allow_all(&self) -> bool {
        self.pairs.len() == (self.labels + 1) * self.labels
    }

    /// Whether all neighbours in a run of labels are allowed; ids beyond the labels are the ends of a sequence.
    pub(crate) fn allow_run(&self, run: &[u32]) -> bool {
        run.windows(2)
            .all(|pair| pair[1] as usize >= self.labels || self.allows(pair[0], pair[1]))
    }

    fn after(&self, from: u32) -> &[[u32; 2]] {
        &self.pairs[self.offsets[from as usize]..self.offsets[from as usize + 1]]
    }

    /// The length of the longest sequence; `None` when there is no longest.
    fn longest(&self) -> Option<usize> {
        // Labels that can be followed by one step more in each round; a cycle never runs out of them.
        let mut alive = vec![true; self.labels];
        for length in 0..=self.labels {
            if !self.starts().any(|label| alive[label as usize]) {
                return Some(length);
            }
            let next = |from: usize| self.after(from as u32).iter().any(|pair| alive[pair[1] as usize]);
            alive = (0..self.labels).map(next).collect();
        }
        None
    }

    /// Whether a sequence has labels that gold and transitions allow.
    fn explain(&self, data: &Dataset, index: usize) -> bool {
        let instance = data.instance(index);
        if (0..instance.len()).all(|t| instance.gold(t) != Gold::Unknown) {
            return true;
        }
        let mut reached = vec![true; self.labels];
        for t in 0..instance.len() {
            let mut now = vec![false; self.labels];
            if t == 0 {
                self.starts().for_each(|label| now[label as usize] = true);
            }
            for pair in self.pairs().iter().filter(|_| t > 0) {
                now[pair[1] as usize] |= reached[pair[0] as usize];
            }
            for (label, now) in now.iter_mut().enumerate() {
                *now &= instance.gold(t).allows(label as u32);
            }
            reached = now;
        }
        reached.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_core::DatasetBuilder;

    /// Sequences of label sets; an empty one is unknown.
    fn seen(labels: usize, sequences: &[&[&[u32]]]) -> Result<Vec<[u32; 2]>, ForbiddenError> {
        let mut builder = DatasetBuilder::new();
        for label in 0..labels {
            builder.labels.intern(&label.to_string());
        }
        for sequence in sequences {
            for &gold in *sequence {
                let gold = match gold {
                    [] => Gold::Unknown,
                    &[label] => Gold::Known(label),
                    set => Gold::Ambiguous(set),
                };
                builder.end_position(gold).unwrap();
            }
            builder.end_instance().unwrap();
        }
        Transitions::seen(&builder.finish()).map(|transitions| transitions.pairs().to_vec())
    }

    #[test]
    fn neighbours_that_are_known_or_ambiguous_are_seen() {
        let found = seen(3, &[&[&[0], &[1, 2], &[0]], &[&[1], &[]], &[&[], &[2]]]);
        assert_eq!(found, Ok(vec![[0, 1], [0, 2], [1, 0], [2, 0]]));
        // Sets of many labels are no exception.
        let many: Vec<u32> = (0..20).collect();
        assert_eq!(seen(20, &[&[&many, &many]]).unwrap().len(), 400);
    }

    #[test]
    fn labels_that_are_seen_at_the_start_may_begin() {
        let mut builder = DatasetBuilder::new();
        for label in ["A", "B", "C", "D"] {
            builder.labels.intern(label);
        }
        for sequence in [
            &[Gold::Known(1), Gold::Known(0), Gold::Known(1)][..],
            &[Gold::Ambiguous(&[1, 3]), Gold::Known(2)],
            &[Gold::Unknown, Gold::Known(2)],
        ] {
            for &gold in sequence {
                builder.end_position(gold).unwrap();
            }
            builder.end_instance().unwrap();
        }
        let transitions = Transitions::seen(&builder.finish()).unwrap();
        assert_eq!(transitions.starts().collect::<Vec<_>>(), [1, 3]);
        // Nothing is known of any start.
        let unknown = seen(1, &[&[&[], &[0], &[0]]]);
        assert_eq!(unknown, Err(ForbiddenError::TooShort { longest: 0 }));
    }

    #[test]
    fn sequences_of_any_length_must_be_left() {
        assert_eq!(
            seen(3, &[&[&[0], &[1], &[2]]]),
            Err(ForbiddenError::TooShort { longest: 3 })
        );
        assert_eq!(
            seen(2, &[&[&[0]], &[&[1]]]),
            Err(ForbiddenError::TooShort { longest: 1 })
        );
        assert!(seen(3, &[&[&[0], &[1], &[2], &[0]]]).is_ok());
    }

    #[test]
    fn unknown_labels_must_have_an_explanation() {
        let known: &[&[u32]] = &[&[0], &[0], &[1]];
        assert!(seen(2, &[known, &[&[0], &[], &[1]]]).is_ok());
        assert_eq!(
            seen(2, &[known, &[&[1], &[], &[1]], &[&[], &[0]], &[&[1], &[], &[]]]),
            Err(ForbiddenError::NoPath { count: 2, first: 2 })
        );
    }

    #[test]
    fn lists_are_checked() {
        let from = |pairs: &[[u32; 2]]| Transitions::from_pairs(2, pairs.to_vec());
        let loops = from(&[[0, 0], [0, 1], [2, 0]]).unwrap();
        assert_eq!((loops.pairs().len(), loops.starts().len()), (2, 1));
        assert!(loops.allows(0, 1) && !loops.allows(1, 0) && !loops.allows(1, 1));
        assert!(loops.allows(2, 0) && !loops.allows(2, 1), "0 begins");
        assert!(loops.allow_run(&[2, 0, 0, 1, 2]) && !loops.allow_run(&[0, 1, 0]));
        assert!(!loops.allow_run(&[2, 1, 2]));
        assert!(from(&[[0, 1], [0, 0], [2, 0]]).is_none(), "not sorted");
        assert!(from(&[[0, 0], [0, 0], [2, 0]]).is_none(), "twice");
        assert!(from(&[[0, 0], [0, 2], [2, 0]]).is_none(), "no such label");
        assert!(from(&[[0, 0], [2, 0], [3, 0]]).is_none(), "no such label");
        assert!(from(&[[0, 1], [2, 0]]).is_none(), "no sequence of three");
        assert!(from(&[[0, 0], [2, 1]]).is_none(), "no sequence of two");
        assert!(from(&[[0, 0], [0, 1]]).is_none(), "no start");
        assert!(from(&[]).is_none());
    }
}
