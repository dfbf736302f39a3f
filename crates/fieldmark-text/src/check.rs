//! What is wrong or odd in data, before training: the library side of `fieldmark check`.
//!
//! ```
//! use fieldmark_text::check::{CheckOptions, check};
//! use fieldmark_text::{Format, Source};
//! let source = Source::text("train.txt", "a B-X\nb I-X\n\na B-X\nb O\n");
//! let report = check(&source, None, &Format::plain_columns(), &CheckOptions::default())?;
//! assert_eq!((report.sequences, report.tokens), (2, 4));
//! assert_eq!(report.contradictions.examples[0].lines, [1, 4]);
//! # Ok::<(), fieldmark_text::ReadError>(())
//! ```

mod display;
mod oddities;
mod report;

pub use oddities::{Oddity, OddityKind};
pub use report::{CheckReport, IllegalTransition, LabelCount, Overlap, Repeat, Repeats};

use crate::error::ReadError;
use crate::part::Part;
use crate::reader::{Format, Reader};
use crate::source::Source;
use fieldmark_core::{Alphabet, Dataset, DatasetBuilder, Gold, Instance, Scheme};
use oddities::Oddities;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher};

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// The scheme of the labels; detected when it is not given.
    pub scheme: Option<Scheme>,
    /// Labels that occur less often than this are rare.
    pub rare: u64,
    /// How many examples to keep of every finding.
    pub examples: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            scheme: None,
            rare: 5,
            examples: 5,
        }
    }
}

/// Checks an input, and against it another one that is meant for testing.
///
/// Only what makes an input unreadable is an error; everything else is in the report.
pub fn check(
    source: &Source,
    test: Option<&Source>,
    format: &Format,
    options: &CheckOptions,
) -> Result<CheckReport, ReadError> {
    Ok(check_and_keep(source, test, format, options)?.0)
}

/// Like [`check`], and gives the data that were read.
pub fn check_and_keep(
    source: &Source,
    test: Option<&Source>,
    format: &Format,
    options: &CheckOptions,
) -> Result<(CheckReport, Dataset), ReadError> {
    let data = Checked::read(source, format, options)?;
    let overlap = match test {
        Some(test) => Some(overlap(&data, &Checked::read(test, format, options)?, options)),
        None => None,
    };
    Ok(report(data, overlap, options))
}

/// A data set, with what the data set alone does not tell.
struct Checked {
    file: String,
    data: Dataset,
    /// The line number of every position.
    lines: Vec<u64>,
    oddities: Oddities,
}

impl Checked {
    fn read(source: &Source, format: &Format, options: &CheckOptions) -> Result<Self, ReadError> {
        let mut reader = Reader::open(source, format)?;
        let mut oddities = Oddities::new(reader.parser().template().is_none(), options.examples);
        let mut builder = DatasetBuilder::new();
        let mut lines = Vec::new();
        while let Some(block) = reader.next_block()? {
            let part: Part = reader.parser().parse_part(block)?;
            lines.extend(part.line_numbers());
            oddities.scan(part.block.text()?, part.block.first_line);
            builder
                .append(&part.data)
                .map_err(|error| ReadError::new(reader.name(), error))?;
        }
        Ok(Self {
            file: reader.name().to_owned(),
            data: builder.finish(),
            lines,
            oddities,
        })
    }

    fn first_line(&self, instance: &Instance<'_>) -> u64 {
        self.lines[instance.positions().start]
    }

    /// A fingerprint of the observations of every instance: equal names and values, equal fingerprint.
    fn fingerprints(&self) -> Vec<(u64, u64)> {
        let names: Vec<u64> = self.data.observations.iter().map(Alphabet::hash).collect();
        let fingerprint = |instance: Instance<'_>| {
            let (mut first, mut second) = (DefaultHasher::new(), DefaultHasher::new());
            second.write_u8(1);
            let mut write = |number: u64| {
                first.write_u64(number);
                second.write_u64(number);
            };
            for t in instance.positions() {
                for row in [&self.data.unary, &self.data.pair] {
                    write(row.ids(t).len() as u64);
                    for (id, value) in row.iter(t) {
                        write(names[id as usize]);
                        write(u64::from(value.to_bits()));
                    }
                }
            }
            (first.finish(), second.finish())
        };
        self.data.instances().map(fingerprint).collect()
    }
}

fn report(checked: Checked, overlap: Option<Overlap>, options: &CheckOptions) -> (CheckReport, Dataset) {
    let data = &checked.data;
    let gold = || (0..data.positions()).map(|t| data.gold(t));
    let labels = label_counts(data);
    let rare_labels: Vec<String> = labels
        .iter()
        .filter(|label| label.count < options.rare)
        .map(|label| label.label.clone())
        .collect();
    let scheme = options.scheme.or_else(|| detect_scheme(data));
    let (duplicates, contradictions) = repeats(&checked, options);
    let longest = data
        .instances()
        .max_by_key(|instance| (instance.len(), std::cmp::Reverse(instance.positions().start)));
    let report = CheckReport {
        file: checked.file.clone(),
        sequences: data.len() as u64,
        tokens: data.positions() as u64,
        observations: (data.unary.len() + data.pair.len()) as u64,
        distinct_observations: data.observations.len() as u64,
        real_valued: !(data.unary.all_ones() && data.pair.all_ones()),
        longest_sequence: longest.map_or(0, |instance| instance.len() as u64),
        longest_sequence_line: longest.map_or(0, |instance| checked.first_line(&instance)),
        labels,
        unknown_labels: gold().filter(|gold| matches!(gold, Gold::Unknown)).count() as u64,
        ambiguous_labels: gold().filter(|gold| matches!(gold, Gold::Ambiguous(_))).count() as u64,
        rare_labels,
        scheme: scheme.map(|scheme| scheme.to_string()),
        illegal_transitions: scheme.map_or_else(Vec::new, |scheme| illegal(&checked, scheme, options)),
        duplicates,
        contradictions,
        overlap,
        oddities: checked.oddities.finish(),
    };
    (report, checked.data)
}

/// Labels by count, the most frequent first.
fn label_counts(data: &Dataset) -> Vec<LabelCount> {
    let mut counts = vec![0; data.labels.len()];
    for t in 0..data.positions() {
        if let Gold::Known(label) = data.gold(t) {
            counts[label as usize] += 1;
        }
    }
    let mut labels: Vec<LabelCount> = data
        .labels
        .iter()
        .zip(counts)
        .map(|(label, count)| LabelCount {
            label: label.to_owned(),
            count,
        })
        .collect();
    labels.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.label.cmp(&b.label)));
    labels
}

fn detect_scheme(data: &Dataset) -> Option<Scheme> {
    let known = |instance: Instance<'_>| -> Option<Vec<&str>> {
        instance
            .positions()
            .map(|t| match data.gold(t) {
                Gold::Known(label) => Some(data.labels.name(label)),
                _ => None,
            })
            .collect()
    };
    // Without a fully labelled sequence, the set of labels has to do.
    match Scheme::detect_in(data.instances().filter_map(known)) {
        None => Scheme::detect(data.labels.iter()),
        found if Scheme::detect(data.labels.iter()).is_some() => found,
        _ => None,
    }
}

/// Steps that the scheme does not allow, the most frequent first. Steps to or from a position that is not
/// known are not counted.
fn illegal(checked: &Checked, scheme: Scheme, options: &CheckOptions) -> Vec<IllegalTransition> {
    let data = &checked.data;
    // A step from one label to another; `None` is outside of the sequence.
    type Step = (Option<u32>, Option<u32>);
    let mut found: BTreeMap<Step, (u64, Vec<u64>)> = BTreeMap::new();
    let mut allowed: HashMap<Step, bool> = HashMap::new();
    let name = |label: Option<u32>| label.map(|label| data.labels.name(label));
    for instance in data.instances() {
        let known = |t: usize| match instance.gold(t) {
            Gold::Known(label) => Some(label),
            _ => None,
        };
        for t in 0..=instance.len() {
            let previous = if t == 0 {
                Some(None)
            } else {
                known(t - 1).map(Some)
            };
            let next = if t == instance.len() {
                Some(None)
            } else {
                known(t).map(Some)
            };
            let (Some(previous), Some(next)) = (previous, next) else {
                continue;
            };
            let allows = || scheme.allows(name(previous), name(next));
            if *allowed.entry((previous, next)).or_insert_with(allows) {
                continue;
            }
            let (count, lines) = found.entry((previous, next)).or_default();
            *count += 1;
            if lines.len() < options.examples {
                // The end of a sequence is reported at its last line.
                lines.push(checked.lines[instance.positions().start + t.min(instance.len() - 1)]);
            }
        }
    }
    let mut illegal: Vec<IllegalTransition> = found
        .into_iter()
        .map(|((previous, next), (count, lines))| IllegalTransition {
            previous: name(previous).map(str::to_owned),
            next: name(next).map(str::to_owned),
            count,
            lines,
        })
        .collect();
    illegal.sort_by_key(|step| std::cmp::Reverse(step.count));
    illegal
}

/// Sequences with the observations of an earlier one: those with the same labels, and those with others.
fn repeats(checked: &Checked, options: &CheckOptions) -> (Repeats, Repeats) {
    let data = &checked.data;
    let mut first_with: HashMap<(u64, u64), usize> = HashMap::new();
    let (mut duplicates, mut contradictions) = (Repeats::default(), Repeats::default());
    for (index, fingerprint) in checked.fingerprints().into_iter().enumerate() {
        let first = *first_with.entry(fingerprint).or_insert(index);
        if first == index {
            continue;
        }
        let (first, instance) = (data.instance(first), data.instance(index));
        let same = (0..instance.len()).all(|t| first.gold(t) == instance.gold(t));
        let kind = if same {
            &mut duplicates
        } else {
            &mut contradictions
        };
        kind.add(
            [checked.first_line(&first), checked.first_line(&instance)],
            options.examples,
        );
    }
    (duplicates, contradictions)
}

/// What the test data have in common with the training data, and what they have not.
fn overlap(train: &Checked, test: &Checked, options: &CheckOptions) -> Overlap {
    let mut first_with: HashMap<(u64, u64), usize> = HashMap::new();
    for (index, fingerprint) in train.fingerprints().into_iter().enumerate() {
        first_with.entry(fingerprint).or_insert(index);
    }
    let mut repeated = Repeats::default();
    let mut contradictory = 0;
    let gold = |data: &Checked, t: usize| -> Vec<String> {
        let name = |label: &u32| data.data.labels.name(*label).to_owned();
        let mut names: Vec<String> = match data.data.gold(t) {
            Gold::Known(label) => vec![name(&label)],
            Gold::Unknown => Vec::new(),
            Gold::Ambiguous(set) => set.iter().map(name).collect(),
        };
        names.sort();
        names
    };
    for (index, fingerprint) in test.fingerprints().into_iter().enumerate() {
        let Some(&first) = first_with.get(&fingerprint) else {
            continue;
        };
        let (first, instance) = (train.data.instance(first), test.data.instance(index));
        repeated.add(
            [train.first_line(&first), test.first_line(&instance)],
            options.examples,
        );
        let differ = |(a, b): (usize, usize)| gold(train, a) != gold(test, b);
        contradictory += u64::from(first.positions().zip(instance.positions()).any(differ));
    }
    let unseen = |name: &&str| train.data.observations.get(name).is_none();
    Overlap {
        file: test.file.clone(),
        sequences: test.data.len() as u64,
        tokens: test.data.positions() as u64,
        repeated,
        contradictory,
        unseen_labels: label_counts(&test.data)
            .into_iter()
            .filter(|label| train.data.labels.get(&label.label).is_none())
            .collect(),
        distinct_observations: test.data.observations.len() as u64,
        unseen_observations: test.data.observations.iter().filter(unseen).count() as u64,
    }
}
