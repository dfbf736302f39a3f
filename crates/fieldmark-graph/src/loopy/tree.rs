//! Tree reparameterization (Wainwright, Jaakkola & Willsky 2001) in its form with messages.

use crate::bp::algebra::Algebra;
use crate::bp::forest::Forest;
use crate::bp::kernels::Scalar;
use crate::bp::messages::Messages;
use crate::{Error, FactorGraph};
use fieldmark_core::random::{SplitMix64, visiting_order};

/// Draws spanning trees so that every factor is in one again and again.
#[derive(Clone, Debug, Default)]
pub(super) struct Reparameterization {
    forest: Forest,
    /// In how many trees each factor was.
    covered: Vec<u32>,
    chosen: Vec<bool>,
    /// Union-find over variables.
    above: Vec<u32>,
}

impl Reparameterization {
    pub(super) fn start(&mut self, graph: &FactorGraph) {
        self.covered.clear();
        self.covered.resize(graph.factors(), 0);
    }

    /// Both sweeps over a new tree; returns the largest change. Cavities are those of the whole graph: with those
    /// of the tree alone, every round would start from nothing.
    pub(super) fn round<T: Scalar, A: Algebra<T>>(
        &mut self,
        graph: &FactorGraph,
        messages: &mut Messages<T, A>,
        random: &mut SplitMix64,
    ) -> Result<f64, Error> {
        self.draw(graph, random);
        let chosen = &self.chosen;
        self.forest.lay(graph, |factor| chosen[factor])?;
        let (up, _) = self.forest.sweep_up(graph, messages, false)?;
        Ok(up.max(self.forest.sweep_down(graph, messages)?))
    }

    /// Kruskal's algorithm on factors in random order, those that were in fewest trees first.
    fn draw(&mut self, graph: &FactorGraph, random: &mut SplitMix64) {
        let mut order = visiting_order(graph.factors(), random.bits(), 0);
        order.sort_by_key(|&factor| self.covered[factor as usize]);
        self.chosen.clear();
        self.chosen.resize(graph.factors(), false);
        self.above.clear();
        self.above.extend(0..graph.variables() as u32);
        for factor in order {
            let scope = graph.scope(factor as usize);
            if scope.len() > 1 && self.joins_trees(scope) {
                self.chosen[factor as usize] = true;
                self.covered[factor as usize] += 1;
            }
        }
    }

    /// Joins the trees of some variables, unless two of them are in the same one.
    fn joins_trees(&mut self, scope: &[u32]) -> bool {
        for (place, &variable) in scope.iter().enumerate() {
            let root = self.root(variable);
            if scope[..place].iter().any(|&other| self.root(other) == root) {
                return false;
            }
        }
        let first = self.root(scope[0]);
        for &variable in &scope[1..] {
            let root = self.root(variable);
            self.above[root as usize] = first;
        }
        true
    }

    fn root(&mut self, mut variable: u32) -> u32 {
        while self.above[variable as usize] != variable {
            let above = self.above[variable as usize];
            self.above[variable as usize] = self.above[above as usize];
            variable = above;
        }
        variable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FactorGraphBuilder;

    #[test]
    fn every_factor_comes_into_a_tree_again_and_again() {
        let mut builder = FactorGraphBuilder::default();
        for _ in 0..6 {
            builder.variable(2).unwrap();
        }
        for a in 0..6 {
            for b in a + 1..6 {
                builder.factor_with(0, &[a, b], &[0.0; 4]).unwrap();
            }
        }
        builder.factor_with(0, &[0, 2, 4], &[0.0; 8]).unwrap();
        let graph = builder.build();
        let mut trees = Reparameterization::default();
        trees.start(&graph);
        let mut random = SplitMix64(1);
        for round in 1..=100u32 {
            trees.draw(&graph, &mut random);
            let edges: usize = (0..graph.factors())
                .filter(|&factor| trees.chosen[factor])
                .map(|factor| graph.arity(factor) - 1)
                .sum();
            assert_eq!(edges, 5, "a spanning tree of 6 variables");
            if round.is_multiple_of(20) {
                let least = trees.covered.iter().min().unwrap();
                assert!(*least >= round / 5, "round {round}: {:?}", trees.covered);
            }
        }
    }
}
