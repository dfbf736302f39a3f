//! The score of a development set during training.

use crate::Error;
use fieldmark_chain::inference::Space;
use fieldmark_chain::{Structure, Tagger};
use fieldmark_core::scheme::Tag;
use fieldmark_core::{Alphabet, Dataset, Gold};
use fieldmark_eval::{Counts, LabelTable, span_counts};
use rayon::prelude::*;

/// A development set, ready to be scored again and again.
pub(crate) struct Dev<'a> {
    data: &'a Dataset,
    table: LabelTable,
    /// Whether labels mark spans, so that their F1 is the score; otherwise it is the share of right labels.
    spans: bool,
}

/// Sequences scored by one task.
const TASK: usize = 64;

impl<'a> Dev<'a> {
    pub(crate) fn new(data: &'a Dataset, labels: &Alphabet) -> Result<Self, Error> {
        if data.is_empty() {
            return Err(Error::Option("the development set is empty".into()));
        }
        let spans = labels
            .iter()
            .any(|label| matches!(Tag::parse(label), Tag::Part(..)));
        Ok(Self {
            data,
            table: LabelTable::new(labels),
            spans,
        })
    }

    /// Span F1, or token accuracy, between 0 and 1. Labels that training did not see count as wrong.
    pub(crate) fn score(&self, structure: &Structure, weights: &[f64]) -> f64 {
        let first: Vec<usize> = (0..self.data.len()).step_by(TASK).collect();
        let parts: Vec<(Counts, usize, usize)> = first
            .into_par_iter()
            .map(|first| {
                let mut tagger: Tagger<'_, f64> = Tagger::new(structure, weights, Space::default());
                let mut sums = (Counts::default(), 0, 0);
                for index in first..(first + TASK).min(self.data.len()) {
                    self.add(index, &mut tagger, &mut sums);
                }
                sums
            })
            .collect();
        let spans: Counts = parts.iter().map(|part| part.0).sum();
        let (right, all) = parts
            .iter()
            .fold((0, 0), |(right, all), part| (right + part.1, all + part.2));
        if self.spans {
            spans.f1()
        } else {
            right as f64 / (all as f64).max(1.0)
        }
    }

    fn add(&self, index: usize, tagger: &mut Tagger<'_, f64>, sums: &mut (Counts, usize, usize)) {
        let instance = self.data.instance(index);
        // Without constraints there is always a best sequence.
        let Ok(predicted) = tagger.tag(instance) else {
            return;
        };
        let gold: Option<Vec<u32>> = (0..instance.len())
            .map(|t| match instance.gold(t) {
                Gold::Known(label) => Some(label),
                _ => None,
            })
            .collect();
        match gold {
            Some(gold) => {
                sums.0 += span_counts(&gold, predicted, &self.table);
                sums.1 += gold
                    .iter()
                    .zip(predicted)
                    .filter(|(gold, predicted)| gold == predicted)
                    .count();
                sums.2 += gold.len();
            }
            // Positions that are not known cannot be right or wrong; spans of such sequences are not counted.
            None => {
                for (t, &label) in predicted.iter().enumerate() {
                    if let Gold::Known(gold) = instance.gold(t) {
                        sums.1 += usize::from(gold == label);
                        sums.2 += 1;
                    }
                }
            }
        }
    }
}
