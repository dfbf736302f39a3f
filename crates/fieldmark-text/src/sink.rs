//! Where parsers put what they find: a [`Sink`] numbers the names and fills a part of a data set.

use crate::error::{ErrorKind, Fault};
use crate::label::LabelSyntax;
use fieldmark_core::{Alphabet, DatasetBuilder, Gold, Names};
use std::collections::BTreeMap;

/// Finds the number of an observation in a model.
///
/// `hash` is [`Alphabet::hash`] of `name`; an implementation may trust it alone or compare the names as well.
pub trait Lookup: Sync {
    /// The number of the observation, if the model has it.
    fn find(&self, hash: u64, name: &str) -> Option<u32>;

    /// Appends to `found` the numbers of those of `names` that the model has, in order.
    ///
    /// The reader asks for all observations of a position at once, so that an implementation with a large
    /// table can let its waits for memory overlap.
    #[inline]
    fn find_all(&self, names: &[&str], found: &mut Vec<u32>) {
        found.extend(
            names
                .iter()
                .filter_map(|name| self.find(Alphabet::hash(name), name)),
        );
    }
}

impl Lookup for Alphabet {
    #[inline]
    fn find(&self, hash: u64, name: &str) -> Option<u32> {
        self.get_hashed(name, hash)
    }

    #[inline]
    fn find_all(&self, names: &[&str], found: &mut Vec<u32>) {
        self.get_all(names, |id| found.extend(id));
    }
}

impl Lookup for Names {
    #[inline]
    fn find(&self, hash: u64, name: &str) -> Option<u32> {
        Names::find(self, hash, name)
    }

    #[inline]
    fn find_all(&self, names: &[&str], found: &mut Vec<u32>) {
        Names::find_all(self, names, found);
    }
}

/// What a model has not seen in training.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Unseen {
    /// Occurrences of observations that the model does not have; they were left out.
    pub observations: u64,
    /// Occurrences of labels that the model does not have, by name; their positions count as unlabelled.
    pub labels: BTreeMap<String, u64>,
}

impl Unseen {
    /// Adds the counts of another part.
    pub fn add(&mut self, other: Unseen) {
        self.observations += other.observations;
        for (label, count) in other.labels {
            *self.labels.entry(label).or_default() += count;
        }
    }
}

/// How names become numbers.
pub(crate) trait Naming {
    /// Whether data are of use only with labels.
    const NEEDS_LABELS: bool;
    fn observation(&mut self, builder: &mut DatasetBuilder, name: &str) -> Option<u32>;
    fn observe_all(&mut self, builder: &mut DatasetBuilder, names: &[&str]);
    fn label(&mut self, builder: &mut DatasetBuilder, name: &str) -> Option<u32>;
}

/// New names get new numbers.
pub(crate) struct Growing;

impl Naming for Growing {
    const NEEDS_LABELS: bool = true;

    #[inline]
    fn observation(&mut self, builder: &mut DatasetBuilder, name: &str) -> Option<u32> {
        Some(builder.observations.intern(name))
    }

    #[inline]
    fn observe_all(&mut self, builder: &mut DatasetBuilder, names: &[&str]) {
        builder.observe_names(names);
    }

    #[inline]
    fn label(&mut self, builder: &mut DatasetBuilder, name: &str) -> Option<u32> {
        Some(builder.labels.intern(name))
    }
}

/// New names are counted and left out.
pub(crate) struct Fixed<'a, L: ?Sized> {
    pub lookup: &'a L,
    pub labels: &'a Alphabet,
    pub unseen: Unseen,
    /// Whether labels that the model does not have get the numbers after its own, in the alphabet of the part.
    pub number_unseen_labels: bool,
    found: Vec<u32>,
}

impl<'a, L: Lookup + ?Sized> Fixed<'a, L> {
    pub fn new(lookup: &'a L, labels: &'a Alphabet) -> Self {
        Self {
            lookup,
            labels,
            unseen: Unseen::default(),
            number_unseen_labels: false,
            found: Vec::new(),
        }
    }
}

impl<L: Lookup + ?Sized> Naming for Fixed<'_, L> {
    const NEEDS_LABELS: bool = false;

    #[inline]
    fn observation(&mut self, _: &mut DatasetBuilder, name: &str) -> Option<u32> {
        let found = self.lookup.find(Alphabet::hash(name), name);
        self.unseen.observations += u64::from(found.is_none());
        found
    }

    #[inline]
    fn observe_all(&mut self, builder: &mut DatasetBuilder, names: &[&str]) {
        self.found.clear();
        self.lookup.find_all(names, &mut self.found);
        self.unseen.observations += (names.len() - self.found.len()) as u64;
        builder.observe_all(&self.found);
    }

    #[inline]
    fn label(&mut self, builder: &mut DatasetBuilder, name: &str) -> Option<u32> {
        let found = self.labels.get(name);
        // Nobody means a label by `?` that the model has not seen, whatever the format.
        if found.is_none() && name != "?" {
            *self.unseen.labels.entry(name.to_owned()).or_default() += 1;
            if self.number_unseen_labels {
                return Some(self.labels.len() as u32 + builder.labels.intern(name));
            }
        }
        found
    }
}

/// Where the line of every position stands in a block: start and end.
pub(crate) type Lines = Vec<(u32, u32)>;

/// Collects the positions of one block.
pub(crate) struct Sink<'a, N> {
    builder: &'a mut DatasetBuilder,
    names: &'a mut N,
    lines: &'a mut Lines,
    labels: LabelSyntax,
    longest: usize,
    first_of_sequence: usize,
    set: Vec<u32>,
    scratch: String,
}

impl<'a, N: Naming> Sink<'a, N> {
    pub fn new(
        builder: &'a mut DatasetBuilder,
        names: &'a mut N,
        lines: &'a mut Lines,
        labels: LabelSyntax,
        longest: usize,
    ) -> Self {
        let first_of_sequence = builder.positions();
        Self {
            builder,
            names,
            lines,
            labels,
            longest,
            first_of_sequence,
            set: Vec::new(),
            scratch: String::new(),
        }
    }

    #[inline]
    pub fn observe(&mut self, name: &str, value: f32) {
        if let Some(id) = self.names.observation(self.builder, name) {
            self.builder.observe(id, value);
        }
    }

    /// Adds observations with the value 1.
    #[inline]
    pub fn observe_all(&mut self, names: &[&str]) {
        self.names.observe_all(self.builder, names);
    }

    #[inline]
    pub fn observe_pair(&mut self, name: &str, value: f32) {
        if let Some(id) = self.names.observation(self.builder, name) {
            self.builder.observe_pair(id, value);
        }
    }

    /// Closes the position of a line that has no label.
    pub fn end_unlabelled(&mut self, start: usize, end: usize) -> Result<(), Box<Fault>> {
        self.close(start, end, Label::Unknown)
    }

    /// Closes the position of the line `start..end`, whose label stands at byte `label_at`.
    #[inline]
    pub fn end_position(
        &mut self,
        start: usize,
        end: usize,
        label: &str,
        label_at: usize,
    ) -> Result<(), Box<Fault>> {
        let gold = match self.labels {
            LabelSyntax::Literal => self.known(label),
            LabelSyntax::Partial if !LabelSyntax::is_special(label) => self.known(label),
            LabelSyntax::Partial => {
                let kind = |problem| ErrorKind::Label {
                    label: crate::error::shown(label),
                    problem,
                };
                self.partial(label)
                    .map_err(|problem| Fault::new(label_at, kind(problem)))?
            }
        };
        self.close(start, end, gold)
    }

    #[inline]
    fn known(&mut self, label: &str) -> Label {
        self.names
            .label(self.builder, label)
            .map_or(Label::Unknown, Label::Known)
    }

    #[inline]
    fn close(&mut self, start: usize, end: usize, label: Label) -> Result<(), Box<Fault>> {
        let gold = match label {
            Label::Known(label) => Gold::Known(label),
            Label::Unknown => Gold::Unknown,
            Label::Set => Gold::Ambiguous(&self.set),
        };
        self.builder
            .end_position(gold)
            .map_err(|error| Fault::new(start, error))?;
        self.lines.push((start as u32, end as u32));
        if self.builder.positions() - self.first_of_sequence > self.longest {
            let first = self.lines[self.lines.len() - 1 - self.longest].0;
            let kind = ErrorKind::SequenceTooLong {
                limit: self.longest as u64,
                unit: "positions",
            };
            return Err(Fault::new(first as usize, kind));
        }
        Ok(())
    }

    /// Reads `?`, `A|B` and escapes.
    fn partial(&mut self, label: &str) -> Result<Label, &'static str> {
        if label == "?" {
            return Ok(Label::Unknown);
        }
        self.set.clear();
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = LabelSyntax::for_each_alternative(label, &mut scratch, |name| {
            if let Some(id) = self.names.label(self.builder, name) {
                self.set.push(id);
            }
        });
        self.scratch = scratch;
        result?;
        // When the model knows none of the alternatives, nothing is known.
        Ok(if self.set.is_empty() {
            Label::Unknown
        } else {
            Label::Set
        })
    }

    pub fn end_sequence(&mut self) -> Result<(), Box<Fault>> {
        self.first_of_sequence = self.builder.positions();
        self.builder.end_instance().map_err(|error| Fault::new(0, error))
    }
}

enum Label {
    Known(u32),
    Unknown,
    Set,
}
