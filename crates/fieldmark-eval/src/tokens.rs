//! Tokens by gold and predicted label.

use crate::Counts;
use crate::report::Confusion;
use fieldmark_core::Alphabet;
use std::collections::HashMap;

/// How often each predicted label stood against each gold label.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenTally {
    labels: Alphabet,
    cells: HashMap<(u32, u32), u64>,
    pub sequences: u64,
    pub correct_sequences: u64,
    pub tokens: u64,
    pub correct_tokens: u64,
    /// Tokens whose gold label is unknown.
    pub left_out: u64,
}

impl TokenTally {
    /// Counts one sequence, with `None` for an unknown gold label; the two slices have the same length. One
    /// without a token that counts is none.
    pub fn add(&mut self, gold: &[Option<&str>], predicted: &[&str]) {
        let (mut tokens, mut correct) = (0, 0);
        for (gold, found) in gold.iter().zip(predicted) {
            let Some(gold) = gold else { continue };
            let cell = (self.labels.intern(gold), self.labels.intern(found));
            *self.cells.entry(cell).or_default() += 1;
            tokens += 1;
            correct += u64::from(cell.0 == cell.1);
        }
        self.sequences += u64::from(tokens > 0);
        self.correct_sequences += u64::from(tokens > 0 && correct == tokens);
        self.tokens += tokens;
        self.correct_tokens += correct;
        self.left_out += gold.len() as u64 - tokens;
    }

    pub fn merge(&mut self, other: &TokenTally) {
        let ids: Vec<u32> = other
            .labels
            .iter()
            .map(|label| self.labels.intern(label))
            .collect();
        for (&(gold, found), count) in &other.cells {
            *self
                .cells
                .entry((ids[gold as usize], ids[found as usize]))
                .or_default() += count;
        }
        self.sequences += other.sequences;
        self.correct_sequences += other.correct_sequences;
        self.tokens += other.tokens;
        self.correct_tokens += other.correct_tokens;
        self.left_out += other.left_out;
    }

    /// Tokens by label, in the order of the labels' names.
    pub fn labels(&self) -> Vec<(&str, Counts)> {
        let mut counts = vec![Counts::default(); self.labels.len()];
        for (&(gold, found), &count) in &self.cells {
            counts[gold as usize].gold += count;
            counts[found as usize].found += count;
            if gold == found {
                counts[gold as usize].correct += count;
            }
        }
        let mut labels: Vec<_> = self.labels.iter().zip(counts).collect();
        labels.sort_unstable_by_key(|&(label, _)| label);
        labels
    }

    pub fn confusion(&self) -> Confusion {
        let mut order: Vec<u32> = (0..self.labels.len() as u32).collect();
        order.sort_unstable_by_key(|&id| self.labels.name(id));
        let count = |gold: u32, found: u32| self.cells.get(&(gold, found)).copied().unwrap_or(0);
        Confusion {
            labels: order.iter().map(|&id| self.labels.name(id).to_owned()).collect(),
            counts: order
                .iter()
                .map(|&gold| order.iter().map(|&found| count(gold, found)).collect())
                .collect(),
        }
    }
}
