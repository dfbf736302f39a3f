//! From a graph to a tree of cliques: elimination of variables in min-fill order.
//!
//! The fill of a variable is the number of pairs of its neighbours that are not neighbours of each other: with d
//! neighbours and t edges among them, d (d − 1) / 2 − t. Degrees and numbers of edges are kept up to date when
//! edges come and variables go, so that nothing is counted twice (Rose 1970 for the rule).

use crate::{Error, FactorGraph};
use std::collections::BTreeSet;
use std::ops::Range;

pub(super) const NONE: u32 = u32::MAX;

/// Cliques with the running intersection property, each with a separator towards its parent.
#[derive(Clone, Debug, Default)]
pub(super) struct Cliques {
    starts: Vec<usize>,
    variables: Vec<u32>,
    /// Where the separator of each clique lies in `separators`.
    separator: Vec<Range<usize>>,
    separators: Vec<u32>,
    pub(super) parent: Vec<u32>,
    /// The clique in which each variable is eliminated; `NONE` for variables with one label.
    pub(super) of_variable: Vec<u32>,
    /// Most variables in a clique.
    pub(super) width: usize,
    /// Bytes of the tables of all cliques and separators.
    pub(super) bytes: u64,
}

impl Cliques {
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    pub(super) fn variables(&self, clique: usize) -> &[u32] {
        let end = self
            .starts
            .get(clique + 1)
            .copied()
            .unwrap_or(self.variables.len());
        &self.variables[self.starts[clique]..end]
    }

    pub(super) fn separator(&self, clique: usize) -> &[u32] {
        &self.separators[self.separator[clique].clone()]
    }

    fn push(&mut self, variable: u32, neighbours: &[u32]) -> u32 {
        self.starts.push(self.variables.len());
        self.variables.push(variable);
        self.variables.extend_from_slice(neighbours);
        self.parent.push(NONE);
        self.separator.push(0..0);
        self.width = self.width.max(neighbours.len() + 1);
        self.len() as u32 - 1
    }

    fn set_separator(&mut self, clique: u32, variables: &[u32]) {
        let start = self.separators.len();
        self.separators.extend_from_slice(variables);
        self.separator[clique as usize] = start..self.separators.len();
    }
}

/// Builds the cliques of a graph; fails when their tables need more than `budget` bytes. Variables with one allowed
/// label take no part.
pub(super) fn eliminate(graph: &FactorGraph, budget: u64) -> Result<Cliques, Error> {
    let mut elimination = Elimination::new(graph);
    let mut cliques = Cliques {
        of_variable: vec![NONE; graph.variables()],
        ..Cliques::default()
    };
    // Cliques that contain a variable and have no parent yet.
    let mut open: Vec<Vec<u32>> = vec![Vec::new(); graph.variables()];
    while let Some(variable) = elimination.next() {
        let neighbours = elimination.neighbours[variable as usize].clone();
        let children: Vec<u32> = std::mem::take(&mut open[variable as usize])
            .into_iter()
            .filter(|&child| cliques.parent[child as usize] == NONE)
            .collect();
        let covers = |child: &&u32| cliques.separator(**child as usize).len() == neighbours.len() + 1;
        let clique = match children.iter().find(covers) {
            Some(&child) => child,
            None => {
                cliques.bytes = cliques.bytes.saturating_add(bytes(graph, variable, &neighbours));
                let (width, needed) = (neighbours.len() + 1, cliques.bytes);
                if needed > budget {
                    return Err(Error::TooWide {
                        width,
                        needed,
                        budget,
                    });
                }
                cliques.push(variable, &neighbours)
            }
        };
        for child in children.into_iter().filter(|&child| child != clique) {
            cliques.parent[child as usize] = clique;
        }
        cliques.of_variable[variable as usize] = clique;
        cliques.set_separator(clique, &neighbours);
        for &neighbour in &neighbours {
            open[neighbour as usize].push(clique);
        }
        elimination.remove(variable);
    }
    Ok(cliques)
}

/// Bytes of the table of a clique and of its separator.
fn bytes(graph: &FactorGraph, variable: u32, neighbours: &[u32]) -> u64 {
    let labels = |variable: u32| u64::from(graph.label_sets().count(variable));
    let separator = neighbours
        .iter()
        .fold(8u64, |size, &v| size.saturating_mul(labels(v)));
    separator
        .saturating_mul(labels(variable))
        .saturating_add(separator)
}

/// Variables that are left, with their neighbours.
struct Elimination {
    neighbours: Vec<Vec<u32>>,
    /// Edges among the neighbours of a variable.
    edges: Vec<u64>,
    /// Logarithm of the size of the table over a variable and its neighbours.
    weight: Vec<f64>,
    log_labels: Vec<f64>,
    key: Vec<(u64, u64)>,
    queue: BTreeSet<(u64, u64, u32)>,
}

impl Elimination {
    fn new(graph: &FactorGraph) -> Self {
        let count = graph.variables();
        let log_labels: Vec<f64> = (0..count as u32)
            .map(|variable| f64::from(graph.label_sets().count(variable)).ln())
            .collect();
        let mut elimination = Elimination {
            neighbours: vec![Vec::new(); count],
            edges: vec![0; count],
            weight: log_labels.clone(),
            log_labels,
            key: vec![(0, 0); count],
            queue: BTreeSet::new(),
        };
        let is_free = |variable: u32| graph.label_sets().count(variable) > 1;
        elimination.connect(graph, is_free);
        for variable in (0..count as u32).filter(|&variable| is_free(variable)) {
            elimination.enqueue(variable);
        }
        elimination
    }

    fn connect(&mut self, graph: &FactorGraph, is_free: impl Fn(u32) -> bool) {
        for factor in 0..graph.factors() {
            let scope = graph.scope(factor);
            for &a in scope {
                let others = scope.iter().filter(|&&b| b != a && is_free(a) && is_free(b));
                self.neighbours[a as usize].extend(others);
            }
        }
        for variable in 0..graph.variables() {
            self.neighbours[variable].sort_unstable();
            self.neighbours[variable].dedup();
            let weights = self.neighbours[variable]
                .iter()
                .map(|&other| self.log_labels[other as usize]);
            self.weight[variable] += weights.sum::<f64>();
        }
        for a in 0..graph.variables() as u32 {
            for index in 0..self.neighbours[a as usize].len() {
                let b = self.neighbours[a as usize][index];
                if a < b {
                    // Each edge of a triangle adds one to the corner opposite of it.
                    for corner in self.common(a, b) {
                        self.edges[corner as usize] += 1;
                    }
                }
            }
        }
    }

    fn common(&self, a: u32, b: u32) -> Vec<u32> {
        let (a, b) = (&self.neighbours[a as usize], &self.neighbours[b as usize]);
        let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
        let is_common = |variable: &u32| many.binary_search(variable).is_ok();
        few.iter().copied().filter(is_common).collect()
    }

    fn enqueue(&mut self, variable: u32) {
        let index = variable as usize;
        let degree = self.neighbours[index].len() as u64;
        let fill = degree * degree.saturating_sub(1) / 2 - self.edges[index];
        // The bits of positive floats are ordered like the floats.
        self.key[index] = (fill, self.weight[index].max(0.0).to_bits());
        self.queue
            .insert((self.key[index].0, self.key[index].1, variable));
    }

    fn dequeue(&mut self, variable: u32) {
        let (fill, weight) = self.key[variable as usize];
        self.queue.remove(&(fill, weight, variable));
    }

    /// The variable with the least fill, and of those with the smallest table.
    fn next(&mut self) -> Option<u32> {
        self.queue.pop_first().map(|(_, _, variable)| variable)
    }

    /// Joins all neighbours of a variable and takes it out.
    fn remove(&mut self, variable: u32) {
        let around = std::mem::take(&mut self.neighbours[variable as usize]);
        for &neighbour in &around {
            self.dequeue(neighbour);
        }
        for (index, &a) in around.iter().enumerate() {
            for &b in &around[index + 1..] {
                if self.neighbours[a as usize].binary_search(&b).is_err() {
                    self.join(a, b, variable, &around);
                }
            }
        }
        for &neighbour in &around {
            let index = neighbour as usize;
            self.edges[index] -= around.len() as u64 - 1;
            self.weight[index] -= self.log_labels[variable as usize];
            let place = self.neighbours[index].binary_search(&variable);
            self.neighbours[index].remove(place.expect("neighbours know each other"));
            self.enqueue(neighbour);
        }
    }

    /// Adds an edge between two neighbours of a variable that is about to go.
    fn join(&mut self, a: u32, b: u32, going: u32, around: &[u32]) {
        let common = self.common(a, b);
        for corner in [a, b] {
            self.edges[corner as usize] += common.len() as u64;
        }
        for &corner in common.iter().filter(|&&corner| corner != going) {
            let waits = around.binary_search(&corner).is_err();
            if waits {
                self.dequeue(corner);
            }
            self.edges[corner as usize] += 1;
            if waits {
                self.enqueue(corner);
            }
        }
        for (from, to) in [(a, b), (b, a)] {
            let list = &mut self.neighbours[from as usize];
            let place = list.binary_search(&to).unwrap_or_else(|place| place);
            list.insert(place, to);
            self.weight[from as usize] += self.log_labels[to as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FactorGraphBuilder;
    use fieldmark_core::random::SplitMix64;
    use proptest::prelude::*;

    fn graph(variables: u32, edges: &[(u32, u32)]) -> FactorGraph {
        let mut builder = FactorGraphBuilder::default();
        for _ in 0..variables {
            builder.variable(2).unwrap();
        }
        for &(a, b) in edges.iter().filter(|(a, b)| a != b) {
            builder.factor_with(0, &[a, b], &[0.0; 4]).unwrap();
        }
        builder.build()
    }

    /// Fill counted from scratch.
    fn fill(elimination: &Elimination, variable: u32) -> u64 {
        let around = &elimination.neighbours[variable as usize];
        let mut missing = 0;
        for (index, a) in around.iter().enumerate() {
            for b in &around[index + 1..] {
                missing += u64::from(!elimination.neighbours[*a as usize].contains(b));
            }
        }
        missing
    }

    proptest! {
        #[test]
        fn fill_is_kept_up_to_date(edges in prop::collection::vec((0..9u32, 0..9u32), 0..25)) {
            let graph = graph(9, &edges);
            let mut elimination = Elimination::new(&graph);
            loop {
                for &(kept, _, variable) in &elimination.queue {
                    prop_assert_eq!(kept, fill(&elimination, variable));
                }
                let Some(variable) = elimination.next() else { break };
                elimination.remove(variable);
            }
        }

        #[test]
        fn cliques_have_the_running_intersection_property(
            edges in prop::collection::vec((0..9u32, 0..9u32), 0..25),
        ) {
            let graph = graph(9, &edges);
            let cliques = eliminate(&graph, u64::MAX).unwrap();
            for variable in 0..9u32 {
                let with: Vec<usize> =
                    (0..cliques.len()).filter(|&c| cliques.variables(c).contains(&variable)).collect();
                // In a tree, those that contain a variable are connected if all but one hang on another of them.
                let hanging = with.iter().filter(|&&c| cliques.separator(c).contains(&variable)).count();
                prop_assert_eq!(hanging + 1, with.len());
                for &c in with.iter().filter(|&&c| cliques.separator(c).contains(&variable)) {
                    prop_assert!(cliques.variables(cliques.parent[c] as usize).contains(&variable));
                }
            }
            for factor in 0..graph.factors() {
                let scope = graph.scope(factor);
                let covered = (0..cliques.len())
                    .any(|c| scope.iter().all(|v| cliques.variables(c).contains(v)));
                prop_assert!(covered);
            }
            for a in 0..cliques.len() {
                for b in (0..cliques.len()).filter(|&b| b != a) {
                    let inside = cliques.variables(a).iter().all(|v| cliques.variables(b).contains(v));
                    prop_assert!(!inside, "clique {} lies in clique {}", a, b);
                }
            }
        }
    }

    #[test]
    fn known_widths() {
        let width = |graph: &FactorGraph| eliminate(graph, u64::MAX).unwrap().width;
        let chain: Vec<(u32, u32)> = (0..999).map(|v| (v, v + 1)).collect();
        assert_eq!(width(&graph(1000, &chain)), 2);
        let mut random = SplitMix64(3);
        let tree: Vec<(u32, u32)> = (1..1000)
            .map(|v| (v, (random.bits() % u64::from(v)) as u32))
            .collect();
        assert_eq!(width(&graph(1000, &tree)), 2);
        let cycle: Vec<(u32, u32)> = (0..1000).map(|v| (v, (v + 1) % 1000)).collect();
        assert_eq!(width(&graph(1000, &cycle)), 3);
        let ladder: Vec<(u32, u32)> = (0..500)
            .flat_map(|t| [(2 * t, 2 * t + 1), (2 * t, 2 * t + 2), (2 * t + 1, 2 * t + 3)])
            .filter(|&(_, b)| b < 1000)
            .collect();
        assert_eq!(width(&graph(1000, &ladder)), 3);
        let hub: Vec<(u32, u32)> = (1..1000)
            .map(|v| (v, 0))
            .chain((1..999).map(|v| (v, v + 1)))
            .collect();
        assert_eq!(width(&graph(1000, &hub)), 3);
    }
}
