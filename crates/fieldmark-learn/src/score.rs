//! [`TestSet`]: how good a model is on sequences that it never asks about.

use crate::{Error, Fitted};
use fieldmark_chain::Tagger;
use fieldmark_chain::inference::Space;
use fieldmark_core::scheme::Tag;
use fieldmark_core::{Alphabet, Dataset, Gold};
use fieldmark_eval::{Counts, LabelTable, span_counts};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How good a model is, between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// F1 over the tokens of all types but `O` (Esuli & Sebastiani 2010): half of a span found is half of it
    /// right.
    pub token_f1: f64,
    /// The mean of the same over the types that occur.
    pub token_macro_f1: f64,
    /// Share of tokens with the right label.
    pub accuracy: f64,
    /// F1 of whole spans as `conlleval` counts them, if labels mark spans.
    pub span_f1: Option<f64>,
}

/// Sequences to score models on, again and again.
///
/// What is known of a position counts. Where all labels that it may have are of one type, such as inside of a span whose
/// borders are open, that type is found or missed; where not even the type is known, the position is left out. Spans are
/// counted in sequences of which every label is known, because an open border makes no span right or wrong.
#[derive(Clone, Debug)]
pub struct TestSet {
    data: Arc<Dataset>,
    table: LabelTable,
    /// The type of each label, numbered; `None` for `O`.
    kinds: Vec<Option<usize>>,
    names: Alphabet,
    spans: bool,
}

/// What is counted in a part of the test set.
struct Tally {
    /// Tokens by gold and predicted label.
    confusion: Vec<u64>,
    spans: Counts,
}

impl TestSet {
    /// A test set, read against the alphabets of the pool: it may have further labels, which are always missed.
    pub fn new(data: Arc<Dataset>) -> Result<Self, Error> {
        if !(0..data.positions()).any(|position| matches!(data.gold(position), Gold::Known(_))) {
            return Err(Error::Option(
                "the test data have no label, so nothing can be scored".into(),
            ));
        }
        let mut numbers = Alphabet::new();
        let kinds = data.labels.iter().map(|label| match Tag::parse(label) {
            Tag::Outside => None,
            Tag::Part(_, kind) => Some(numbers.intern(kind) as usize),
            Tag::Other(label) => Some(numbers.intern(label) as usize),
        });
        let kinds: Vec<Option<usize>> = kinds.collect();
        let mut tags = data.labels.iter().map(Tag::parse);
        let spans = tags.any(|tag| matches!(tag, Tag::Part(..)));
        drop(tags);
        Ok(Self {
            kinds,
            names: numbers,
            table: LabelTable::new(&data.labels),
            spans,
            data,
        })
    }

    /// The sequences.
    pub fn data(&self) -> &Arc<Dataset> {
        &self.data
    }

    /// Scores a model, on the threads of the current rayon pool.
    pub fn score(&self, model: &Fitted) -> Result<Scores, Error> {
        Ok(self.summarise(&self.tally(model)?))
    }

    /// The same, with the tokens of each type.
    pub fn score_types(&self, model: &Fitted) -> Result<(Scores, Vec<(String, Counts)>), Error> {
        let tally = self.tally(model)?;
        let counts = self.names.iter().map(str::to_owned).zip(self.by_kind(&tally));
        Ok((self.summarise(&tally), counts.collect()))
    }

    fn tally(&self, model: &Fitted) -> Result<Tally, Error> {
        /// Sequences in the care of one task.
        const TASK: usize = 64;
        let firsts: Vec<usize> = (0..self.data.len()).step_by(TASK).collect();
        let count = |first: usize| -> Result<Tally, Error> {
            let mut tagger: Tagger<'_, f64> =
                Tagger::new(model.structure(), model.weights(), Space::default());
            let mut tally = Tally::new(self.data.labels.len());
            for sequence in first..(first + TASK).min(self.data.len()) {
                self.count(sequence, tagger.tag(self.data.instance(sequence))?, &mut tally);
            }
            Ok(tally)
        };
        let parts: Vec<Tally> = firsts.into_par_iter().map(count).collect::<Result<_, _>>()?;
        let mut total = Tally::new(self.data.labels.len());
        parts.iter().for_each(|part| total.add(part));
        Ok(total)
    }

    fn count(&self, sequence: usize, predicted: &[u32], tally: &mut Tally) {
        let instance = self.data.instance(sequence);
        let labels = self.data.labels.len();
        let mut gold = Vec::with_capacity(predicted.len());
        for (t, &found) in predicted.iter().enumerate() {
            let label = match instance.gold(t) {
                Gold::Known(label) => {
                    gold.push(label);
                    label
                }
                // A label that may be right is taken as right.
                Gold::Ambiguous(set) if self.of_one_kind(set) => match set.contains(&found) {
                    true => found,
                    false => set[0],
                },
                _ => continue,
            };
            tally.confusion[label as usize * labels + found as usize] += 1;
        }
        if self.spans && gold.len() == predicted.len() {
            tally.spans += span_counts(&gold, predicted, &self.table);
        }
    }

    fn of_one_kind(&self, labels: &[u32]) -> bool {
        let kind = |label: &u32| self.kinds[*label as usize];
        labels.windows(2).all(|pair| kind(&pair[0]) == kind(&pair[1]))
    }

    fn by_kind(&self, tally: &Tally) -> Vec<Counts> {
        let labels = self.data.labels.len();
        let mut counts = vec![Counts::default(); self.names.len()];
        for gold in 0..labels {
            for found in 0..labels {
                let tokens = tally.confusion[gold * labels + found];
                let (gold, found) = (self.kinds[gold], self.kinds[found]);
                if let Some(gold) = gold {
                    counts[gold].gold += tokens;
                }
                if let Some(kind) = found {
                    counts[kind].found += tokens;
                    counts[kind].correct += if gold == found { tokens } else { 0 };
                }
            }
        }
        counts
    }

    fn summarise(&self, tally: &Tally) -> Scores {
        let labels = self.data.labels.len();
        let counts = self.by_kind(tally);
        let all: u64 = tally.confusion.iter().sum();
        let right: u64 = (0..labels)
            .map(|label| tally.confusion[label * labels + label])
            .sum();
        let present: Vec<&Counts> = counts
            .iter()
            .filter(|counts| counts.gold + counts.found > 0)
            .collect();
        let sum: f64 = present.iter().map(|counts| counts.f1_or_one()).sum();
        Scores {
            token_f1: counts.iter().copied().sum::<Counts>().f1_or_one(),
            token_macro_f1: if present.is_empty() {
                1.0
            } else {
                sum / present.len() as f64
            },
            accuracy: right as f64 / (all as f64).max(1.0),
            span_f1: self.spans.then(|| tally.spans.f1()),
        }
    }
}

impl Tally {
    fn new(labels: usize) -> Self {
        Self {
            confusion: vec![0; labels * labels],
            spans: Counts::default(),
        }
    }

    fn add(&mut self, other: &Tally) {
        self.confusion
            .iter_mut()
            .zip(&other.confusion)
            .for_each(|(sum, count)| *sum += count);
        self.spans += other.spans;
    }
}
