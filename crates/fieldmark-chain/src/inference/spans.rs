//! Spans over labels: where they begin, and how probable one is.

use super::{Error, Inference};
use fieldmark_core::Alphabet;
use fieldmark_core::kernels::Real;
use fieldmark_core::scheme::{Scheme, Tag};
use std::ops::Range;

/// How label ids describe spans: [`Scheme::spans`] as a table, made once for an alphabet of labels.
#[derive(Clone, Debug)]
pub struct SpanReader {
    kinds: Alphabet,
    kind_of: Vec<Option<u32>>,
    /// For each label, and for the start of the sequence at the end: whether each label begins a span behind
    /// it.
    begins: Vec<bool>,
}

impl SpanReader {
    /// The reader of a scheme over the labels of an alphabet.
    pub fn new(scheme: Scheme, labels: &Alphabet) -> Self {
        let tags: Vec<Tag<'_>> = labels.iter().map(Tag::parse).collect();
        let mut kinds = Alphabet::new();
        let kind_of = tags
            .iter()
            .map(|tag| tag.kind().map(|kind| kinds.intern(kind)))
            .collect();
        let mut begins = Vec::with_capacity((tags.len() + 1) * tags.len());
        for previous in tags.iter().chain([&Tag::Outside]) {
            begins.extend(tags.iter().map(|tag| match scheme {
                Scheme::Io => tag.kind().is_some() && tag.kind() != previous.kind(),
                _ => tag.begins_after(*previous),
            }));
        }
        Self {
            kinds,
            kind_of,
            begins,
        }
    }

    /// The types of spans, in the order in which they appear among the labels.
    pub fn kinds(&self) -> &Alphabet {
        &self.kinds
    }

    /// Number of labels.
    pub fn labels(&self) -> usize {
        self.kind_of.len()
    }

    /// The type of the span that begins with `label` behind `previous` (`None` at the start of the sequence),
    /// if one does.
    pub fn begins(&self, previous: Option<u32>, label: u32) -> Option<u32> {
        let labels = self.labels();
        let row = previous.map_or(labels, |previous| previous as usize);
        self.begins[row * labels + label as usize]
            .then(|| self.kind_of[label as usize])
            .flatten()
    }

    /// The type of the span that goes on with `label` behind `previous`, if one does.
    pub fn continues(&self, previous: Option<u32>, label: u32) -> Option<u32> {
        if self.begins(previous, label).is_some() {
            None
        } else {
            self.kind_of[label as usize]
        }
    }
}

impl<T: Real> Inference<'_, '_, T> {
    /// The probability that `allow(position, label before, label)` holds at every position of a range. The
    /// label before the first position of the sequence is `None`.
    ///
    /// It comes from the forward and backward tables, which are computed once for all events of a sequence,
    /// and costs one pass over the positions of the range.
    ///
    /// # Errors
    /// When the range reaches beyond the sequence.
    pub fn event_probability(
        &mut self,
        positions: Range<usize>,
        allow: impl Fn(usize, Option<u32>, u32) -> bool,
    ) -> Result<f64, Error> {
        let length = self.lattice.length;
        if positions.end > length {
            return Err(Error::UnknownPosition {
                position: positions.end - 1,
                length,
            });
        }
        self.run_sum()?;
        if positions.is_empty() {
            return Ok(1.0);
        }
        let automaton = self.lattice.automaton;
        let label_of = automaton.label_of();
        let worker = &mut *self.worker;
        let states = worker.prepared.states;
        // From the right: the distribution of the last state, then of each source given its target, less
        // what is not allowed.
        worker
            .sum
            .state_marginals(positions.end - 1, states, &mut worker.event);
        for position in positions.rev() {
            if position == 0 {
                for (mass, &label) in worker.event.iter_mut().zip(label_of) {
                    *mass = if allow(0, None, label) { *mass } else { T::ZERO };
                }
                break;
            }
            worker.row.clear();
            worker.row.resize(states, T::ZERO);
            for (to, &mass) in worker
                .event
                .iter()
                .enumerate()
                .filter(|(_, mass)| **mass > T::ZERO)
            {
                worker
                    .sum
                    .sources(&worker.prepared, automaton, position - 1, to, &mut worker.sources);
                for (arc, &source) in automaton.arcs()[automaton.incoming(to)]
                    .iter()
                    .zip(&worker.sources)
                {
                    let from = arc.from as usize;
                    if allow(position, Some(label_of[from]), label_of[to]) {
                        worker.row[from] += source * mass;
                    }
                }
            }
            std::mem::swap(&mut worker.row, &mut worker.event);
        }
        Ok(worker.event.iter().copied().sum::<T>().to_f64().min(1.0))
    }

    /// The probability that the labelling describes the span `positions` of a type (an id of
    /// [`SpanReader::kinds`]), with exactly these borders: one begins at its start, none ends or begins
    /// inside, and it does not go on behind its end (Culotta & McCallum 2004).
    ///
    /// # Errors
    /// When the span holds no position or reaches beyond the sequence, or the reader is for another number
    /// of labels.
    pub fn span_probability(
        &mut self,
        reader: &SpanReader,
        positions: Range<usize>,
        kind: u32,
    ) -> Result<f64, Error> {
        self.check_reader(reader)?;
        let Range { start, end } = positions;
        let length = self.lattice.length;
        if start >= end || end > length {
            return Err(Error::NoSpan { start, end, length });
        }
        self.event_probability(start..(end + 1).min(length), |position, before, label| {
            if position == start {
                reader.begins(before, label) == Some(kind)
            } else {
                (reader.continues(before, label) == Some(kind)) == (position < end)
            }
        })
    }

    pub(super) fn check_reader(&self, reader: &SpanReader) -> Result<(), Error> {
        let (found, expected) = (reader.labels(), self.labels());
        if found == expected {
            Ok(())
        } else {
            Err(Error::Shape {
                what: "labels in the reader of spans",
                found,
                expected,
            })
        }
    }
}
