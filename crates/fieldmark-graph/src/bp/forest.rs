//! Forests in a factor graph, and the two sweeps over them.

use super::algebra::Algebra;
use super::kernels::Scalar;
use super::messages::Messages;
use crate::{Error, FactorGraph};

const NONE: u32 = u32::MAX;

/// Variables in an order in which parents come first, joined by some of the factors of a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    pub(crate) order: Vec<u32>,
    /// The slot of a variable in the factor above it.
    parent: Vec<u32>,
    /// By place in the order: the slots of a variable in the factors below it.
    child_start: Vec<usize>,
    children: Vec<u32>,
    seen: Vec<bool>,
}

impl Forest {
    /// Lays out the forest that the chosen factors make, breadth first; fails at a factor that closes a cycle,
    /// before anything is computed.
    pub(crate) fn lay(&mut self, graph: &FactorGraph, chosen: impl Fn(usize) -> bool) -> Result<(), Error> {
        self.order.clear();
        self.children.clear();
        self.child_start.clear();
        self.parent.clear();
        self.parent.resize(graph.variables(), NONE);
        self.seen.clear();
        self.seen.resize(graph.variables(), false);
        for root in 0..graph.variables() as u32 {
            if !self.seen[root as usize] {
                self.seen[root as usize] = true;
                self.order.push(root);
                self.grow(graph, &chosen)?;
            }
        }
        self.child_start.push(self.children.len());
        Ok(())
    }

    fn grow(&mut self, graph: &FactorGraph, chosen: &impl Fn(usize) -> bool) -> Result<(), Error> {
        while self.child_start.len() < self.order.len() {
            let variable = self.order[self.child_start.len()];
            self.child_start.push(self.children.len());
            for &slot in graph.incident(variable) {
                let factor = graph.slot_factor(slot as usize);
                let is_edge = graph.arity(factor) > 1;
                if is_edge && slot != self.parent[variable as usize] && chosen(factor) {
                    self.children.push(slot);
                    self.enter(graph, slot as usize)?;
                }
            }
        }
        Ok(())
    }

    /// Puts the other variables of a factor below it.
    fn enter(&mut self, graph: &FactorGraph, from: usize) -> Result<(), Error> {
        let factor = graph.slot_factor(from);
        for slot in graph.slots(factor).filter(|&slot| slot != from) {
            let variable = graph.slot_variable(slot);
            if std::mem::replace(&mut self.seen[variable as usize], true) {
                return Err(Error::Cycle { factor });
            }
            self.parent[variable as usize] = slot as u32;
            self.order.push(variable);
        }
        Ok(())
    }

    fn children(&self, place: usize) -> std::ops::Range<usize> {
        self.child_start[place]..self.child_start[place + 1]
    }

    pub(crate) fn is_root(&self, variable: u32) -> bool {
        self.parent[variable as usize] == NONE
    }

    /// The number of the tree that each variable is in.
    pub(crate) fn trees(&self) -> Vec<u32> {
        let mut trees = vec![0; self.order.len()];
        // A tree is complete before the next one begins.
        let mut count = 0;
        for &variable in &self.order {
            count += u32::from(self.is_root(variable));
            trees[variable as usize] = count - 1;
        }
        trees
    }

    /// From the leaves to the roots (the λ-sweep). Returns the largest change and the sum of the logarithms of all
    /// normalisers.
    pub(crate) fn sweep_up<T: Scalar, A: Algebra<T>>(
        &self,
        graph: &FactorGraph,
        messages: &mut Messages<T, A>,
        count_logs: bool,
    ) -> Result<(f64, f64), Error> {
        let (mut change, mut logs) = (0.0f64, 0.0);
        for (place, &variable) in self.order.iter().enumerate().rev() {
            for child in self.children(place) {
                let sent = messages.send(graph, self.children[child] as usize)?;
                change = change.max(sent.change);
                if count_logs {
                    logs += A::log(sent.by);
                }
            }
            if !self.is_root(variable) {
                logs += messages.update_cavity(graph, self.parent[variable as usize] as usize)?;
            }
        }
        Ok((change, logs))
    }

    /// From the roots to the leaves (the π-sweep). Returns the largest change.
    pub(crate) fn sweep_down<T: Scalar, A: Algebra<T>>(
        &self,
        graph: &FactorGraph,
        messages: &mut Messages<T, A>,
    ) -> Result<f64, Error> {
        let mut change = 0.0f64;
        for (place, &variable) in self.order.iter().enumerate() {
            let children = &self.children[self.children(place)];
            if children.len() == 1 {
                messages.update_cavity(graph, children[0] as usize)?;
            } else if !children.is_empty() {
                messages.update_cavities(graph, variable)?;
            }
            for &from in children {
                let from = from as usize;
                for slot in graph.slots(graph.slot_factor(from)).filter(|&slot| slot != from) {
                    change = change.max(messages.send(graph, slot)?.change);
                }
            }
        }
        Ok(change)
    }
}
