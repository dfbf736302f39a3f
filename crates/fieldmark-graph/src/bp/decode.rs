//! From max-product messages to one labelling.

use super::algebra::LogMax;
use super::kernels::Scalar;
use super::messages::Messages;
use crate::FactorGraph;

const NONE: u32 = u32::MAX;

/// Gives each variable, in the given order, its best label under the labels that are already given and the
/// messages from where none is given yet.
///
/// After a sweep towards the roots, in an order in which parents come first, this is the best labelling, ties
/// included; on other graphs it makes labels agree that the beliefs alone leave open. The cavities of variables
/// in factors of three or more are overwritten.
pub(crate) fn decode<T: Scalar>(
    graph: &FactorGraph,
    messages: &mut Messages<T, LogMax>,
    order: &[u32],
    labels: &mut Vec<u32>,
) {
    labels.clear();
    labels.resize(graph.variables(), NONE);
    let (mut scores, mut next, mut message) = (Vec::new(), Vec::new(), Vec::new());
    for &variable in order {
        scores.clear();
        scores.extend_from_slice(messages.potentials.local(variable));
        for edge in messages.edges(variable) {
            let slot = messages.edge(edge);
            let other = conditional_message(graph, messages, slot, labels, &mut message);
            next.clear();
            next.extend_from_slice(&scores);
            T::accumulate(&mut next, other);
            // What leaves no label is a dead end of a greedy choice; local search may repair it.
            if T::largest(&next) > T::NEG_INFINITY {
                std::mem::swap(&mut scores, &mut next);
            }
        }
        let label = first_largest(&scores[..graph.labels(variable) as usize]);
        labels[variable as usize] = label;
        clamp_cavities(graph, messages, variable, label);
    }
}

/// The message to the variable of a slot when the labels that are given are known.
fn conditional_message<'a, T: Scalar>(
    graph: &FactorGraph,
    messages: &'a Messages<T, LogMax>,
    slot: usize,
    labels: &[u32],
    scratch: &'a mut Vec<T>,
) -> &'a [T] {
    let factor = graph.slot_factor(slot);
    let slots = graph.slots(factor);
    let given = |other: usize| labels[graph.slot_variable(other) as usize];
    if slots.clone().all(|other| given(other) == NONE) {
        return messages.message(slot);
    }
    let width = messages.message(slot).len();
    if slots.len() == 2 {
        let side = slot - slots.start;
        let row = given(slots.start + 1 - side) as usize;
        return &messages.potentials.matrix(graph, factor, 1 - side)[row * width..(row + 1) * width];
    }
    scratch.clear();
    scratch.resize(width, T::NEG_INFINITY);
    messages.contract(graph, slot, scratch);
    scratch
}

fn clamp_cavities<T: Scalar>(
    graph: &FactorGraph,
    messages: &mut Messages<T, LogMax>,
    variable: u32,
    label: u32,
) {
    for edge in messages.edges(variable) {
        let slot = messages.edge(edge);
        if graph.arity(graph.slot_factor(slot)) > 2 {
            let cavity = messages.cavity_mut(slot);
            cavity.fill(T::NEG_INFINITY);
            cavity[label as usize] = T::ZERO;
            messages.forget_cavity(graph, slot);
        }
    }
}

fn first_largest<T: Scalar>(scores: &[T]) -> u32 {
    let better = |best: usize, place: usize| if scores[place] > scores[best] { place } else { best };
    (0..scores.len()).fold(0, better) as u32
}

/// All variables, breadth first, so that each has a neighbour before it where there is one.
pub(crate) fn search_order(graph: &FactorGraph) -> Vec<u32> {
    let mut order = Vec::with_capacity(graph.variables());
    let mut seen = vec![false; graph.variables()];
    for root in 0..graph.variables() as u32 {
        if !std::mem::replace(&mut seen[root as usize], true) {
            order.push(root);
        }
        let mut next = order.len().saturating_sub(1);
        while next < order.len() {
            for factor in graph.factors_of(order[next]) {
                for &other in graph.scope(factor) {
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        order.push(other);
                    }
                }
            }
            next += 1;
        }
    }
    order
}
