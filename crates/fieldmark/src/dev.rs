//! The score of a development set during training.

use crate::Error;
use fieldmark_chain::inference::Space;
use fieldmark_chain::{Structure, Tagger};
use fieldmark_core::scheme::Tag;
use fieldmark_core::{Alphabet, Dataset, Gold, Instance};
use fieldmark_eval::{Counts, Evaluation, GoldLabel, LabelTable, span_counts};
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
        let seen = |label: &u32| (*label as usize) < labels.len();
        let open = |gold| match gold {
            Gold::Known(label) => !seen(&label),
            Gold::Ambiguous(set) => !set.iter().any(seen),
            Gold::Unknown => true,
        };
        if data
            .instances()
            .all(|instance| (0..instance.len()).all(|t| open(instance.gold(t))))
        {
            let problem = "the development set has no label that occurs in training, so nothing can be scored; \
                           does it have the column of labels?";
            return Err(Error::Option(problem.into()));
        }
        let spans = data
            .labels
            .iter()
            .any(|label| matches!(Tag::parse(label), Tag::Part(..)));
        Ok(Self {
            data,
            table: LabelTable::new(&data.labels),
            spans,
        })
    }

    /// Span F1, or token accuracy, between 0 and 1.
    ///
    /// Labels that are unknown or ambiguous count as in [`Evaluation::add_partial`]; a label that training did not
    /// see is always missed.
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
        if let Some(gold) = gold {
            sums.0 += span_counts(&gold, predicted, &self.table);
            let pairs = gold.iter().zip(predicted);
            sums.1 += pairs.filter(|(gold, predicted)| gold == predicted).count();
            sums.2 += gold.len();
        } else {
            let (spans, right, all) = self.partial_counts(instance, predicted);
            sums.0 += spans;
            sums.1 += right;
            sums.2 += all;
        }
    }

    /// The counts of a sequence of which not all gold labels are known.
    fn partial_counts(&self, instance: Instance<'_>, predicted: &[u32]) -> (Counts, usize, usize) {
        let name = |label: u32| self.data.labels.name(label);
        let gold: Vec<GoldLabel<&str>> = (0..instance.len())
            .map(|t| match instance.gold(t) {
                Gold::Known(label) => GoldLabel::Known(name(label)),
                Gold::Ambiguous(labels) => GoldLabel::OneOf(labels.iter().copied().map(name).collect()),
                Gold::Unknown => GoldLabel::Unknown,
            })
            .collect();
        let predicted: Vec<&str> = predicted.iter().copied().map(name).collect();
        let mut evaluation = Evaluation::conlleval();
        // Both have one label for each position.
        if evaluation.add_partial(&gold, &predicted).is_err() {
            return Default::default();
        }
        let report = evaluation.report();
        let tokens = |count: u64| count as usize;
        (
            report.spans.total.counts,
            tokens(report.correct_tokens),
            tokens(report.tokens),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_chain::StructureOptions;
    use fieldmark_core::DatasetBuilder;

    /// Sequences of `a` and `b`, with their gold labels.
    fn data(sequences: &[&[(&str, &str)]]) -> Dataset {
        let mut builder = DatasetBuilder::new();
        for label in ["B-X", "B-Y", "O"] {
            builder.labels.intern(label);
        }
        for sequence in sequences {
            for (name, gold) in *sequence {
                let id = builder.observations.intern(name);
                builder.observe(id, 1.0);
                let gold = match *gold {
                    "?" => Gold::Unknown,
                    "B-X|B-Y" => Gold::Ambiguous(&[0, 1]),
                    known => Gold::Known(builder.labels.intern(known)),
                };
                builder.end_position(gold).unwrap();
            }
            builder.end_instance().unwrap();
        }
        builder.finish()
    }

    #[test]
    fn open_labels_count_as_in_an_evaluation() {
        let train = data(&[&[("a", "B-X"), ("b", "O")]]);
        let structure = Structure::build(&train, &StructureOptions::default()).unwrap();
        // One weight for a as B-X, one for b as O, and transitions.
        let mut weights = vec![0.0; structure.weights()];
        weights[structure.unary_weights()].fill(10.0);
        let score = |sequences: &[&[(&str, &str)]]| {
            let dev = data(sequences);
            Dev::new(&dev, &train.labels).unwrap().score(&structure, &weights)
        };
        let found = [("a", "B-X"), ("b", "O"), ("b", "?")];
        let left_out = [("a", "?"), ("b", "O")];
        let missed = [("b", "B-X"), ("b", "O"), ("b", "?")];
        assert_eq!(score(&[&found, &left_out]), 1.0);
        assert_eq!(score(&[&found, &left_out, &missed]), 2.0 / 3.0);
        assert_eq!(score(&[&[("a", "B-X|B-Y")], &missed]), 2.0 / 3.0);
    }

    /// Labels of the development set may have numbers after those of training.
    #[test]
    fn labels_that_training_did_not_see_are_missed() {
        let mut train = data(&[&[("a", "B-X"), ("b", "O")]]);
        let structure = Structure::build(&train, &StructureOptions::default()).unwrap();
        let mut weights = vec![0.0; structure.weights()];
        weights[structure.unary_weights()].fill(10.0);
        let score = |labels: &Alphabet, sequences: &[&[(&str, &str)]]| {
            let dev = data(sequences);
            Dev::new(&dev, labels).unwrap().score(&structure, &weights)
        };
        let found = [("a", "B-X"), ("b", "O")];
        let partly = [("b", "B-NEW"), ("b", "O"), ("b", "?")];
        for missed in [&[("b", "B-NEW")][..], &partly] {
            assert_eq!(score(&train.labels, &[&found, missed]), 2.0 / 3.0, "{missed:?}");
        }
        assert!(Dev::new(&data(&[&[("b", "B-NEW")]]), &train.labels).is_err());
        // Without spans the score is the share of right labels.
        train.labels = ["X", "Y", "O"].iter().collect();
        let mut dev = data(&[&[("a", "B-X"), ("b", "O"), ("b", "B-NEW")]]);
        dev.labels = ["X", "Y", "O", "NEW"].iter().collect();
        let dev = Dev::new(&dev, &train.labels).unwrap();
        assert_eq!(dev.score(&structure, &weights), 2.0 / 3.0);
    }

    #[test]
    fn a_set_without_labels_is_refused() {
        let labels = data(&[]).labels;
        for sequences in [&[][..], &[&[("a", "?")][..], &[("b", "?"), ("a", "?")]]] {
            assert!(Dev::new(&data(sequences), &labels).is_err());
        }
        assert!(Dev::new(&data(&[&[("a", "?")], &[("a", "O")]]), &labels).is_ok());
    }
}
