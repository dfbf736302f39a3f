//! [`ConllEval`]: what the `conlleval` script prints, to the last digit.

use crate::error::check_lengths;
use crate::partial::{touches, unknown};
use crate::report::SpanReport;
use crate::rules::{Borders, Chunk, LabelTable, Rules};
use crate::{Counts, EvalError};
use fieldmark_core::Alphabet;
use std::fmt;

/// The first column of a line that the script takes as a border of sequences, like an empty line.
///
/// (`-DOCSTART-` is a token like any other to the script, unless this stands before it.)
pub const BOUNDARY: &str = "-X-";

/// Counts chunks as `conlleval` does, and prints them as it does.
///
/// The output is that of the script on a file in which an empty line follows each sequence. [`Rules`] tells
/// how IOBES is read.
///
/// ```
/// use fieldmark_eval::ConllEval;
/// let mut evaluation = ConllEval::new();
/// evaluation.add(&["B-NP", "I-NP", "B-VP", "B-NP"], &["B-NP", "I-NP", "B-VP", "I-VP"])?;
/// assert_eq!(evaluation.to_string(), "\
/// processed 4 tokens with 3 phrases; found: 2 phrases; correct: 1.
/// accuracy:  75.00%; precision:  50.00%; recall:  33.33%; FB1:  40.00
///                NP: precision: 100.00%; recall:  50.00%; FB1:  66.67  1
///                VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
/// ");
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConllEval {
    labels: Alphabet,
    table: LabelTable,
    /// The label that stands for "outside" where labels are types without prefixes.
    raw_outside: Option<String>,
    /// By type.
    counts: Vec<Counts>,
    tokens: u64,
    correct_tokens: u64,
    /// Predicted chunks at positions whose gold label is unknown.
    left_out: u64,
    matching: bool,
    inherited: Inherited,
}

/// What a chunk that is still matching *before* the first sequence would come to.
///
/// With labels such as `B-X` and a bare `Y` side by side, the script does not end a chunk at the border of a
/// sequence. Without this memory the figures would then depend on where the data were cut for merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inherited {
    /// It would still be matching.
    Matching,
    /// It would have been completed as a chunk of this type.
    Completed(u32),
    /// It would have been dropped.
    Dropped,
}

impl Default for ConllEval {
    fn default() -> Self {
        Self::new()
    }
}

impl ConllEval {
    /// Nothing counted yet, under [`Rules::Extended`].
    pub fn new() -> Self {
        Self::with_rules(Rules::Extended)
    }

    /// Nothing counted yet, under the given rules.
    pub fn with_rules(rules: Rules) -> Self {
        ConllEval {
            labels: Alphabet::new(),
            table: LabelTable::empty(rules),
            raw_outside: None,
            counts: Vec::new(),
            tokens: 0,
            correct_tokens: 0,
            left_out: 0,
            matching: false,
            inherited: Inherited::Matching,
        }
    }

    /// The script's `-r` (and `-o`): labels are types without prefixes and every token is a chunk of its own,
    /// but for those labelled `outside` or `O`.
    pub fn raw(outside: &str) -> Self {
        ConllEval {
            raw_outside: Some(outside.to_owned()),
            ..Self::new()
        }
    }

    /// Counts one sequence.
    pub fn add<G, P>(&mut self, gold: &[G], predicted: &[P]) -> Result<(), EvalError>
    where
        G: AsRef<str>,
        P: AsRef<str>,
    {
        let gold: Vec<Option<&str>> = gold.iter().map(|label| Some(label.as_ref())).collect();
        let predicted: Vec<&str> = predicted.iter().map(AsRef::as_ref).collect();
        check_lengths(gold.len(), predicted.len())?;
        self.add_known(&gold, &predicted);
        Ok(())
    }

    /// Counts one sequence, with `None` for an unknown gold label; the two slices have the same length.
    pub(crate) fn add_known(&mut self, gold: &[Option<&str>], predicted: &[&str]) {
        let outside = (Chunk::OUTSIDE, Chunk::OUTSIDE);
        let mut chunks: Vec<(Chunk, Chunk)> = Vec::with_capacity(gold.len());
        for (gold, found) in gold.iter().zip(predicted) {
            let found = self.chunk(found);
            let known = gold.map(|gold| self.chunk(gold));
            self.tokens += u64::from(known.is_some());
            self.correct_tokens += u64::from(known == Some(found));
            chunks.push((known.unwrap_or(Chunk::OUTSIDE), found));
        }
        let unknown = unknown(gold);
        if !unknown.is_empty() {
            self.leave_out(&unknown, &mut chunks);
        }
        let mut before = outside;
        for &after in &chunks {
            self.step(before, after);
            before = after;
        }
        self.step(before, outside);
    }

    /// Turns chunks that touch a position without a gold label into "outside".
    ///
    /// What is left keeps its borders: by the rules, whatever begins or ends beside another chunk begins or
    /// ends beside "outside" as well.
    fn leave_out(&mut self, unknown: &[usize], chunks: &mut [(Chunk, Chunk)]) {
        let (gold, found): (Vec<Chunk>, Vec<Chunk>) = chunks.iter().copied().unzip();
        let alone = self.raw_outside.is_some();
        let touched = |start: usize, end: usize| {
            if alone {
                unknown.binary_search(&start).is_ok()
            } else {
                touches(unknown, start, end)
            }
        };
        for (start, end) in self.table.rules().chunks(&gold) {
            if touched(start, end) {
                chunks[start..end]
                    .iter_mut()
                    .for_each(|chunk| chunk.0 = Chunk::OUTSIDE);
            }
        }
        for (start, end) in self.table.rules().chunks(&found) {
            if touched(start, end) {
                self.left_out += 1;
                chunks[start..end]
                    .iter_mut()
                    .for_each(|chunk| chunk.1 = Chunk::OUTSIDE);
            }
        }
    }

    /// Adds what `other` has counted, as if its sequences had been added after those of `self`.
    pub fn merge(&mut self, other: &ConllEval) -> Result<(), EvalError> {
        if self.table.rules() != other.table.rules() || self.raw_outside != other.raw_outside {
            return Err(EvalError::Rules {
                left: self.rules_name(),
                right: other.rules_name(),
            });
        }
        let kinds: Vec<u32> = other
            .table
            .kinds()
            .iter()
            .map(|kind| self.table.intern_kind(kind))
            .collect();
        for (&kind, &counts) in kinds.iter().zip(&other.counts) {
            *self.count(kind) += counts;
        }
        self.tokens += other.tokens;
        self.correct_tokens += other.correct_tokens;
        self.left_out += other.left_out;
        let theirs = match other.inherited {
            Inherited::Completed(kind) => Inherited::Completed(kinds[kind as usize]),
            inherited => inherited,
        };
        if self.matching
            && let Inherited::Completed(kind) = theirs
        {
            self.count(kind).correct += 1;
        }
        self.matching = other.matching || (self.matching && theirs == Inherited::Matching);
        if self.inherited == Inherited::Matching {
            self.inherited = theirs;
        }
        Ok(())
    }

    /// Tokens so far.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Tokens so far whose predicted label is the gold label.
    pub fn correct_tokens(&self) -> u64 {
        self.correct_tokens
    }

    /// Predicted chunks that were left out, because they touch a position whose gold label is unknown.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Chunks of all types.
    pub fn total(&self) -> Counts {
        self.types().into_iter().map(|(_, counts)| counts).sum()
    }

    /// Chunks by type, for the types of which there is one, in the order of their names.
    pub fn types(&self) -> Vec<(&str, Counts)> {
        let mut counts = self.counts.clone();
        if self.matching {
            // The file is at its end: the script counts the chunk under the type of the border.
            counts.resize(counts.len().max(1), Counts::default());
            counts[Chunk::OUTSIDE.kind as usize].correct += 1;
        }
        let named = self.table.kinds().iter().zip(counts);
        let mut types: Vec<_> = named.filter(|(_, counts)| *counts != Counts::default()).collect();
        types.sort_unstable_by_key(|&(kind, _)| kind);
        types
    }

    /// The rules in words, for reports.
    pub(crate) fn rules_name(&self) -> String {
        let name = match self.table.rules() {
            Rules::Original => "conlleval 2004-01-26",
            Rules::Extended => "conlleval",
        };
        match &self.raw_outside {
            None => name.to_owned(),
            Some(outside) => format!("{name}, raw labels, outside {outside:?}"),
        }
    }

    fn chunk(&mut self, label: &str) -> Chunk {
        let id = self.labels.intern(label);
        if self.table.len() < self.labels.len() {
            match &self.raw_outside {
                None => self.table.push(label),
                Some(outside) if label == outside || label == "O" => self.table.push("O"),
                Some(_) => self.table.push_parts("B", label),
            }
        }
        self.table.chunk(id)
    }

    fn step(&mut self, before: (Chunk, Chunk), after: (Chunk, Chunk)) {
        let borders = Borders::between(self.table.rules(), before, after);
        if borders.starts_gold {
            self.count(after.0.kind).gold += 1;
        }
        if borders.starts_found {
            self.count(after.1.kind).found += 1;
        }
        let (matching, completed) = borders.cross(self.matching);
        if completed {
            self.count(before.0.kind).correct += 1;
        }
        if self.inherited == Inherited::Matching {
            self.inherited = match borders.cross(true) {
                (_, true) => Inherited::Completed(before.0.kind),
                // Once the real state is the same, what was inherited has made no difference.
                (true, false) if !matching => Inherited::Matching,
                _ => Inherited::Dropped,
            };
        }
        self.matching = matching;
    }

    fn count(&mut self, kind: u32) -> &mut Counts {
        let index = kind as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, Counts::default());
        }
        &mut self.counts[index]
    }
}

impl fmt::Display for ConllEval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = self.types();
        SpanReport::new(
            self.rules_name(),
            false,
            (self.tokens, self.correct_tokens),
            &types,
        )
        .fmt(f)
    }
}
