//! What is kept of samples for the marginals of factors: counts of entries of tables or the labels themselves, whichever
//! takes less memory.

use crate::FactorGraph;

/// Samples, as far as the marginals of factors need them.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    /// How often each entry of the table of each factor was drawn; factors of one variable have none.
    Counts {
        /// Where the entries of each factor begin, and the end.
        start: Vec<usize>,
        counts: Numbers,
    },
    /// The labels of all samples, one after the other.
    Labels(Numbers),
}

impl Default for Kept {
    fn default() -> Self {
        Kept::Labels(Numbers::default())
    }
}

impl Kept {
    /// Nothing yet of so many samples.
    pub fn new(graph: &FactorGraph, samples: usize) -> Self {
        let variables = graph.variables();
        let most_labels = (0..variables as u32).map(|variable| graph.labels(variable)).max();
        let largest_label = most_labels.map_or(0, |labels| labels as usize - 1);
        let labels = samples.saturating_mul(variables);
        let mut entries = 0usize;
        for factor in 0..graph.factors() {
            entries = entries.saturating_add(entries_of(graph, factor));
        }
        let starts = (graph.factors() + 1) * size_of::<usize>();
        let counts_size = Numbers::size(samples, entries).saturating_add(starts);
        if Numbers::size(largest_label, labels) <= counts_size {
            return Kept::Labels(Numbers::with_capacity(largest_label, labels));
        }
        let mut counts = Numbers::with_capacity(samples, entries);
        counts.extend(std::iter::repeat_n(0, entries));
        let mut start = Vec::with_capacity(graph.factors() + 1);
        let mut end = 0;
        start.push(end);
        for factor in 0..graph.factors() {
            end += entries_of(graph, factor);
            start.push(end);
        }
        Kept::Counts { start, counts }
    }

    /// Adds a sample.
    pub fn add(&mut self, graph: &FactorGraph, labels: &[u32]) {
        match self {
            Kept::Labels(kept) => kept.extend(labels.iter().copied()),
            Kept::Counts { start, counts } => {
                for (factor, borders) in start.windows(2).enumerate() {
                    if borders[0] < borders[1] {
                        counts.increment(borders[0] + graph.entry(factor, labels));
                    }
                }
            }
        }
    }

    /// Adds `share` for each sample to the entry of a factor that it has. Shares are added one by one, so that sums round
    /// alike whatever is kept.
    pub fn add_shares(&self, graph: &FactorGraph, factor: usize, share: f64, into: &mut [f64]) {
        match self {
            Kept::Counts { start, counts } => {
                for (entry, sum) in (start[factor]..start[factor + 1]).zip(into) {
                    (0..counts.get(entry)).for_each(|_| *sum += share);
                }
            }
            Kept::Labels(labels) => {
                let variables = graph.variables().max(1);
                for first in (0..labels.len()).step_by(variables) {
                    let entry = graph.scope(factor).iter().fold(0, |entry, &variable| {
                        let label = labels.get(first + variable as usize);
                        entry * graph.labels(variable) as usize + label as usize
                    });
                    into[entry] += share;
                }
            }
        }
    }
}

/// How many entries of a factor are counted.
fn entries_of(graph: &FactorGraph, factor: usize) -> usize {
    // The marginals of variables are better than counts.
    if graph.arity(factor) == 1 {
        return 0;
    }
    graph.scores(factor).len()
}

/// Numbers in the smallest type that holds all of them.
#[derive(Clone, Debug)]
pub(super) enum Numbers {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::U8(Vec::new())
    }
}

impl Numbers {
    /// Bytes of so many numbers up to a largest.
    fn size(largest: usize, count: usize) -> usize {
        let width = match largest {
            0..=0xFF => 1,
            0x100..=0xFFFF => 2,
            _ => 4,
        };
        count.saturating_mul(width)
    }

    /// Room for so many numbers up to a largest.
    fn with_capacity(largest: usize, count: usize) -> Self {
        match largest {
            0..=0xFF => Numbers::U8(Vec::with_capacity(count)),
            0x100..=0xFFFF => Numbers::U16(Vec::with_capacity(count)),
            _ => Numbers::U32(Vec::with_capacity(count)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Numbers::U8(numbers) => numbers.len(),
            Numbers::U16(numbers) => numbers.len(),
            Numbers::U32(numbers) => numbers.len(),
        }
    }

    fn extend(&mut self, more: impl Iterator<Item = u32>) {
        match self {
            Numbers::U8(numbers) => numbers.extend(more.map(|number| number as u8)),
            Numbers::U16(numbers) => numbers.extend(more.map(|number| number as u16)),
            Numbers::U32(numbers) => numbers.extend(more),
        }
    }

    fn get(&self, index: usize) -> u32 {
        match self {
            Numbers::U8(numbers) => numbers[index].into(),
            Numbers::U16(numbers) => numbers[index].into(),
            Numbers::U32(numbers) => numbers[index],
        }
    }

    fn increment(&mut self, index: usize) {
        match self {
            Numbers::U8(numbers) => numbers[index] += 1,
            Numbers::U16(numbers) => numbers[index] += 1,
            Numbers::U32(numbers) => numbers[index] = numbers[index].saturating_add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, FactorGraphBuilder, Gibbs, GibbsOptions};

    fn pairs(variables: u32, labels: u32) -> FactorGraph {
        let mut builder = FactorGraphBuilder::default();
        for _ in 0..variables {
            builder.variable(labels).unwrap();
        }
        let scores = vec![0.0; (labels * labels) as usize];
        for variable in 1..variables {
            builder
                .factor_with(0, &[variable - 1, variable], &scores)
                .unwrap();
        }
        builder.build()
    }

    /// Bytes that a sampler keeps after it answered.
    fn bytes(graph: &FactorGraph, samples: usize) -> usize {
        let options = GibbsOptions {
            burn_in: 0,
            samples,
            ..GibbsOptions::default()
        };
        let mut sampler = Gibbs::new(options).unwrap();
        sampler.sum(graph).unwrap();
        let numbers = |numbers: &Numbers| match numbers {
            Numbers::U8(numbers) => numbers.capacity(),
            Numbers::U16(numbers) => 2 * numbers.capacity(),
            Numbers::U32(numbers) => 4 * numbers.capacity(),
        };
        match &sampler.kept {
            Kept::Counts { start, counts } => 8 * start.capacity() + numbers(counts),
            Kept::Labels(labels) => numbers(labels),
        }
    }

    #[test]
    fn memory_does_not_grow_with_samples_where_tables_are_small() {
        let graph = pairs(10, 2);
        assert_eq!(bytes(&graph, 10), 10 * 10);
        assert_eq!(bytes(&graph, 1000), 8 * 10 + 2 * 9 * 4);
        assert_eq!(bytes(&graph, 70_000), 8 * 10 + 4 * 9 * 4);
        let large = pairs(3, 300);
        assert_eq!(bytes(&large, 20), 2 * 3 * 20);
    }
}
