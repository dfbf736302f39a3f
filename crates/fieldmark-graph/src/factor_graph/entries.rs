//! Entries of tables: lines along one variable, the labels of each entry, and the entries that label sets allow.

use super::FactorGraph;

/// The entries of a table on which all variables but one have a given label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub first: usize,
    pub stride: usize,
}

impl Line {
    /// The numbers on the line; the caller takes as many as the variable has labels.
    #[inline]
    pub fn of(self, table: &[f64]) -> impl Iterator<Item = &f64> {
        table[self.first..].iter().step_by(self.stride)
    }

    pub fn add(self, table: &mut [f64], numbers: &[f64]) {
        let line = table[self.first..].iter_mut().step_by(self.stride);
        line.zip(numbers).for_each(|(cell, number)| *cell += number);
    }

    pub fn subtract(self, table: &mut [f64], numbers: &[f64]) {
        let line = table[self.first..].iter_mut().step_by(self.stride);
        line.zip(numbers).for_each(|(cell, number)| *cell -= number);
    }
}

impl FactorGraph {
    /// The line along the variable of a slot, all others having the given labels.
    #[inline]
    pub(crate) fn line(&self, slot: usize, labels: &[u32]) -> Line {
        let (mut first, mut stride, mut size) = (0, 1, 1);
        for other in self.slots(self.slot_factor(slot)).rev() {
            let variable = self.slot_variable(other);
            if other == slot {
                stride = size;
            } else {
                first += labels[variable as usize] as usize * size;
            }
            size *= self.labels(variable) as usize;
        }
        Line { first, stride }
    }

    /// The labels of the first entry of the table of a factor; more come step by step.
    pub(crate) fn odometer(&self, factor: usize) -> Odometer {
        let counts = self.scope(factor).iter().map(|&variable| self.labels(variable));
        let counts: Vec<u32> = counts.collect();
        Odometer {
            labels: vec![0; counts.len()],
            counts,
        }
    }
}

/// The labels of the variables of a factor, entry by entry of its table.
#[derive(Clone, Debug)]
pub(crate) struct Odometer {
    pub labels: Vec<u32>,
    counts: Vec<u32>,
}

impl Odometer {
    /// Goes to the next entry, from the last one to the first.
    #[inline]
    pub fn step(&mut self) {
        for (label, count) in self.labels.iter_mut().zip(&self.counts).rev() {
            *label += 1;
            if *label < *count {
                return;
            }
            *label = 0;
        }
    }
}

/// The entries of a table that label sets allow, variable by variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowedEntries {
    entries: Vec<u32>,
    next: Vec<u32>,
}

impl AllowedEntries {
    /// Before the first variable.
    pub fn start(&mut self) {
        self.entries.clear();
        self.entries.push(0);
    }

    /// Adds a variable with this many labels, of which some are allowed.
    pub fn extend(&mut self, labels: u32, allowed: impl Iterator<Item = u32> + Clone) {
        self.next.clear();
        for &entry in &self.entries {
            self.next
                .extend(allowed.clone().map(|label| entry * labels + label));
        }
        std::mem::swap(&mut self.entries, &mut self.next);
    }

    pub fn entries(&self) -> &[u32] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FactorGraphBuilder;

    #[test]
    fn lines_odometers_and_sets_agree_with_the_order_of_tables() {
        let mut builder = FactorGraphBuilder::default();
        for labels in [2, 3, 4] {
            builder.variable(labels).unwrap();
        }
        let scores: Vec<f64> = (0..24).map(f64::from).collect();
        builder.factor_with(0, &[2, 0, 1], &scores).unwrap();
        let graph = builder.build();
        let mut odometer = graph.odometer(0);
        for entry in 0..24 {
            let &[third, first, second] = &odometer.labels[..] else {
                unreachable!("three variables")
            };
            let labels = [first, second, third];
            assert_eq!(graph.entry(0, &labels), entry);
            for (place, &variable) in graph.scope(0).iter().enumerate() {
                let line = graph.line(place, &labels);
                let mut on_line = line.of(graph.scores(0));
                assert_eq!(
                    on_line.nth(labels[variable as usize] as usize),
                    Some(&(entry as f64))
                );
            }
            odometer.step();
        }
        assert_eq!(odometer.labels, [0, 0, 0]);
        let mut allowed = AllowedEntries::default();
        allowed.start();
        allowed.extend(4, [1, 3].into_iter());
        allowed.extend(2, 0..2);
        allowed.extend(3, std::iter::once(2));
        assert_eq!(allowed.entries(), [8, 11, 20, 23]);
    }
}
