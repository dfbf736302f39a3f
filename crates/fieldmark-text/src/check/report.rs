//! The findings of a check, with names that programs can rely on.

use super::Oddity;
use serde::{Deserialize, Serialize};

/// What a check found. `Display` shows it to people, serde to programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The file, or `standard input`.
    pub file: String,
    /// Number of sequences.
    pub sequences: u64,
    /// Number of positions.
    pub tokens: u64,
    /// Number of observations over all positions.
    pub observations: u64,
    /// Number of different observations.
    pub distinct_observations: u64,
    /// Whether some observation has a value other than 1.
    pub real_valued: bool,
    /// Positions of the longest sequence.
    pub longest_sequence: u64,
    /// The line where it starts.
    pub longest_sequence_line: u64,
    /// Every label with the number of positions that have it for sure, the most frequent first.
    pub labels: Vec<LabelCount>,
    /// Positions of which nothing is known.
    pub unknown_labels: u64,
    /// Positions that allow several labels.
    pub ambiguous_labels: u64,
    /// Labels that occur too seldom to learn much about, the least frequent last.
    pub rare_labels: Vec<String>,
    /// The scheme of the labels: given or detected. `None` for labels that are not parts of spans.
    pub scheme: Option<String>,
    /// Neighbouring labels that the scheme does not allow, the most frequent first.
    pub illegal_transitions: Vec<IllegalTransition>,
    /// Sequences with the observations and the labels of an earlier one.
    pub duplicates: Repeats,
    /// Sequences with the observations of an earlier one, but with other labels.
    pub contradictions: Repeats,
    /// The comparison with the test data, if there are any.
    pub overlap: Option<Overlap>,
    /// Suspicious whitespace and the like.
    pub oddities: Vec<Oddity>,
}

/// A label and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// Its positions.
    pub count: u64,
}

/// Neighbouring labels that a scheme does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IllegalTransition {
    /// The earlier label; `None` is the start of a sequence.
    pub previous: Option<String>,
    /// The later label; `None` is the end of a sequence.
    pub next: Option<String>,
    /// How often it occurs.
    pub count: u64,
    /// The first lines where the later label stands (for the end of a sequence, its last line).
    pub lines: Vec<u64>,
}

/// Sequences that repeat earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// How many repeat an earlier one.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Repeat>,
}

/// Two equal sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The lines where the earlier and the later sequence start; in an [`Overlap`], the training sequence
    /// and the test sequence.
    pub lines: [u64; 2],
}

impl Repeats {
    pub(super) fn add(&mut self, lines: [u64; 2], examples: usize) {
        self.count += 1;
        if self.examples.len() < examples {
            self.examples.push(Repeat { lines });
        }
    }
}

/// How test data relate to training data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    /// The file with the test data.
    pub file: String,
    /// Number of test sequences.
    pub sequences: u64,
    /// Number of test positions.
    pub tokens: u64,
    /// Test sequences whose observations are those of a training sequence.
    pub repeated: Repeats,
    /// How many of these have other labels than in the training data.
    pub contradictory: u64,
    /// Labels that occur only in the test data.
    pub unseen_labels: Vec<LabelCount>,
    /// Number of different observations in the test data.
    pub distinct_observations: u64,
    /// How many of these do not occur in the training data.
    pub unseen_observations: u64,
}

impl CheckReport {
    /// Whether there is something that a person should look at.
    pub fn has_findings(&self) -> bool {
        !(self.illegal_transitions.is_empty() && self.rare_labels.is_empty() && self.oddities.is_empty())
            || self.duplicates.count + self.contradictions.count > 0
            || self
                .overlap
                .as_ref()
                .is_some_and(|overlap| overlap.repeated.count > 0 || !overlap.unseen_labels.is_empty())
    }
}
