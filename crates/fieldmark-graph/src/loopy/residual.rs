//! The residual schedule: always send the message that would change most (Elidan, McGraw & Koller 2006).

use super::local::message_slots;
use super::report;
use crate::bp::algebra::Algebra;
use crate::bp::kernels::Scalar;
use crate::bp::messages::Messages;
use crate::{Error, FactorGraph, Report};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A message in the queue. Entries that are no longer true are passed over.
#[derive(PartialEq)]
struct Entry {
    change: f64,
    slot: u32,
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.change
            .total_cmp(&other.change)
            .then(other.slot.cmp(&self.slot))
    }
}

/// What each message would become.
struct Candidates<T> {
    messages: Vec<T>,
    change: Vec<f64>,
    queue: BinaryHeap<Entry>,
    tolerance: f64,
}

impl<T: Scalar> Candidates<T> {
    fn compute<A: Algebra<T>>(
        &mut self,
        graph: &FactorGraph,
        messages: &mut Messages<T, A>,
        slot: usize,
    ) -> Result<(), Error> {
        let change = messages.compute(graph, slot)?.change;
        self.messages[messages.vector(slot)].copy_from_slice(messages.fresh(slot));
        self.change[slot] = change;
        if change > self.tolerance {
            self.queue.push(Entry {
                change,
                slot: slot as u32,
            });
        }
        Ok(())
    }

    /// The message that would change most.
    fn next(&mut self) -> Option<usize> {
        loop {
            let Entry { change, slot } = self.queue.pop()?;
            if self.change[slot as usize] == change {
                return Some(slot as usize);
            }
        }
    }

    fn residual(&self) -> f64 {
        self.change.iter().copied().fold(0.0, f64::max)
    }
}

/// Sends messages until none would change any more.
pub(super) fn run<T: Scalar, A: Algebra<T>>(
    graph: &FactorGraph,
    messages: &mut Messages<T, A>,
    iterations: usize,
    tolerance: f64,
    mut watch: impl FnMut(&mut Messages<T, A>, usize) -> Result<(), Error>,
) -> Result<Report, Error> {
    let mut candidates = Candidates {
        messages: vec![A::ZERO; messages.total_length()],
        change: vec![0.0; graph.all_slots()],
        queue: BinaryHeap::new(),
        tolerance,
    };
    messages.update_all_cavities(graph)?;
    for slot in message_slots(graph) {
        candidates.compute(graph, messages, slot)?;
    }
    let round = message_slots(graph).count().max(1);
    let mut sent = 0;
    while let Some(slot) = candidates.next() {
        if sent == iterations * round || messages.lost && A::CAN_LOSE {
            break;
        }
        sent += 1;
        send(graph, messages, &mut candidates, slot)?;
        if sent % round == 0 {
            watch(messages, sent / round)?;
        }
    }
    Ok(report(
        messages,
        sent.div_ceil(round),
        candidates.residual(),
        tolerance,
    ))
}

/// Stores a message and computes anew what depends on it.
fn send<T: Scalar, A: Algebra<T>>(
    graph: &FactorGraph,
    messages: &mut Messages<T, A>,
    candidates: &mut Candidates<T>,
    slot: usize,
) -> Result<(), Error> {
    messages.set_message(graph, slot, &candidates.messages[messages.vector(slot)]);
    candidates.change[slot] = 0.0;
    if messages.damping > 0.0 {
        candidates.compute(graph, messages, slot)?;
    }
    let variable = graph.slot_variable(slot);
    messages.update_cavities(graph, variable)?;
    for edge in messages.edges(variable) {
        let from = messages.edge(edge);
        if from == slot {
            continue;
        }
        for other in graph
            .slots(graph.slot_factor(from))
            .filter(|&other| other != from)
        {
            candidates.compute(graph, messages, other)?;
        }
    }
    Ok(())
}
