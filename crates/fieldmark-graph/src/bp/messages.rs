//! Messages between variables and factors, and the operations that every schedule is made of.
//!
//! For factor f and variable v in its scope: n_{v→f} = φ_v ⊗ ⊗_{g∋v, g≠f} m_{g→v} (the *cavity*), and
//! m_{f→v}(y_v) = ⊕ over the labels of the other variables u of f of θ_f ⊗ ⊗_u n_{u→f} (Kschischang et al. 2001).
//! For factors of two variables this is the usual message from variable to variable. Neighbours are always those
//! in the whole graph. Unary factors are part of φ_v and send no messages.

use super::algebra::Algebra;
use super::kernels::Scalar;
use super::potentials::Potentials;
use crate::{Error, FactorGraph};
use std::ops::Range;

/// Cavities of variables with more factors than this are computed together, by products from both ends.
const FEW: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Messages<T, A> {
    pub(crate) potentials: Potentials<T, A>,
    /// Where the vector of a slot begins in `m` and `n`; slots of unary factors are empty.
    slot_start: Vec<usize>,
    /// Slots of each variable in factors of two or more variables.
    edge_start: Vec<usize>,
    edges: Vec<u32>,
    m: Vec<T>,
    n: Vec<T>,
    /// The message that was computed last.
    fresh: Vec<T>,
    partial: Vec<T>,
    product: Vec<T>,
    /// Counts changes of messages; the times below are readings of it.
    clock: u64,
    /// When a message to a variable last changed.
    changed: Vec<u64>,
    /// When the cavity of a slot was last computed.
    gathered: Vec<u64>,
    /// Whether a cavity changed since the message to a slot was computed from it.
    stale: Vec<bool>,
    /// Messages computed so far.
    pub(crate) sent: u64,
    /// Whether linear numbers got too small to be trusted.
    pub(crate) lost: bool,
    pub(crate) damping: f64,
}

/// What became of one message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent<T> {
    /// By what it was normalised.
    pub(crate) by: T,
    pub(crate) change: f64,
}

impl<T: Scalar, A: Algebra<T>> Messages<T, A> {
    /// Takes a graph; all messages are ONE.
    pub(crate) fn prepare(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.sent = 0;
        self.lost = false;
        self.potentials.prepare(graph)?;
        self.index(graph);
        self.m.clear();
        self.m.resize(self.slot_start[graph.all_slots()], A::ZERO);
        for slot in 0..graph.all_slots() {
            self.set_one(graph, slot);
        }
        self.n.clear();
        self.n.extend_from_slice(&self.m);
        self.clock = 1;
        self.changed.clear();
        self.changed.resize(graph.variables(), 1);
        self.gathered.clear();
        self.gathered.resize(graph.all_slots(), 0);
        self.stale.clear();
        self.stale.resize(graph.all_slots(), true);
        Ok(())
    }

    fn index(&mut self, graph: &FactorGraph) {
        self.slot_start.clear();
        self.edges.clear();
        self.edge_start.clear();
        let mut start = 0;
        for slot in 0..graph.all_slots() {
            self.slot_start.push(start);
            if graph.arity(graph.slot_factor(slot)) > 1 {
                start += self.potentials.vector(graph.slot_variable(slot)).len();
            }
        }
        self.slot_start.push(start);
        for variable in 0..graph.variables() as u32 {
            self.edge_start.push(self.edges.len());
            let slots = graph.incident(variable).iter();
            self.edges
                .extend(slots.filter(|slot| graph.arity(graph.slot_factor(**slot as usize)) > 1));
        }
        self.edge_start.push(self.edges.len());
    }

    fn set_one(&mut self, graph: &FactorGraph, slot: usize) {
        let vector = self.vector(slot);
        if !vector.is_empty() {
            let labels = graph.labels(graph.slot_variable(slot)) as usize;
            self.m[vector][..labels].fill(A::ONE);
        }
    }

    pub(crate) fn vector(&self, slot: usize) -> Range<usize> {
        self.slot_start[slot]..self.slot_start[slot + 1]
    }

    /// The message m to the variable of a slot.
    pub(crate) fn message(&self, slot: usize) -> &[T] {
        &self.m[self.vector(slot)]
    }

    /// The cavity n from the variable of a slot.
    pub(crate) fn cavity(&self, slot: usize) -> &[T] {
        &self.n[self.vector(slot)]
    }

    pub(crate) fn cavity_mut(&mut self, slot: usize) -> &mut [T] {
        let vector = self.vector(slot);
        &mut self.n[vector]
    }

    /// The message m, to be changed without any notice to what depends on it.
    pub(crate) fn message_mut(&mut self, slot: usize) -> &mut [T] {
        let vector = self.vector(slot);
        &mut self.m[vector]
    }

    /// Replaces the message to the variable of a slot.
    pub(crate) fn set_message(&mut self, graph: &FactorGraph, slot: usize, message: &[T]) {
        let vector = self.vector(slot);
        self.m[vector].copy_from_slice(message);
        self.touch(graph, slot);
    }

    /// Length of all messages together.
    pub(crate) fn total_length(&self) -> usize {
        self.m.len()
    }

    /// The slots of a variable in factors of two or more variables.
    pub(crate) fn edges(&self, variable: u32) -> Range<usize> {
        self.edge_start[variable as usize]..self.edge_start[variable as usize + 1]
    }

    pub(crate) fn edge(&self, edge: usize) -> usize {
        self.edges[edge] as usize
    }

    /// Updates the cavity of one slot, if a message changed since; returns the logarithm of its normaliser.
    pub(crate) fn update_cavity(&mut self, graph: &FactorGraph, slot: usize) -> Result<f64, Error> {
        let variable = graph.slot_variable(slot);
        if self.gathered[slot] >= self.changed[variable as usize] {
            return Ok(0.0);
        }
        let mut product = std::mem::take(&mut self.product);
        product.resize(self.vector(slot).len(), A::ZERO);
        let result = self.product(variable, Some(slot), &mut product);
        self.set_cavity(graph, slot, &product);
        self.product = product;
        result
    }

    /// Stores a cavity and notes which messages depend on it, if it changed.
    fn set_cavity(&mut self, graph: &FactorGraph, slot: usize, cavity: &[T]) {
        self.gathered[slot] = self.clock;
        let vector = self.vector(slot);
        if T::distance(cavity, &self.n[vector.clone()]) > T::ZERO {
            self.n[vector].copy_from_slice(cavity);
            for other in graph
                .slots(graph.slot_factor(slot))
                .filter(|&other| other != slot)
            {
                self.stale[other] = true;
            }
        }
    }

    /// Makes the next update compute the cavity of a slot, which was overwritten.
    pub(crate) fn forget_cavity(&mut self, graph: &FactorGraph, slot: usize) {
        self.gathered[slot] = 0;
        for other in graph
            .slots(graph.slot_factor(slot))
            .filter(|&other| other != slot)
        {
            self.stale[other] = true;
        }
    }

    /// Writes φ_v ⊗ the messages of all slots but one; returns the logarithm of its normaliser.
    pub(crate) fn product(
        &mut self,
        variable: u32,
        skip: Option<usize>,
        out: &mut [T],
    ) -> Result<f64, Error> {
        out.copy_from_slice(self.potentials.local(variable));
        let mut log = 0.0;
        let mut factors = 0;
        for edge in self.edges(variable) {
            let slot = self.edge(edge);
            if skip != Some(slot) {
                if factors == FEW {
                    log += A::log(self.normalise(variable, out)?);
                    factors = 0;
                }
                self.multiply(out, self.vector(slot));
                factors += 1;
            }
        }
        Ok(log + A::log(self.normalise(variable, out)?))
    }

    fn multiply(&mut self, out: &mut [T], slot: Range<usize>) {
        let lost = A::multiply(out, &self.m[slot]);
        self.lost |= lost && !self.potentials.dense;
    }

    fn normalise(&mut self, variable: u32, out: &mut [T]) -> Result<T, Error> {
        let largest = T::largest(out);
        if largest == A::ZERO {
            return Err(Error::Contradiction { variable });
        }
        self.lost |= A::is_too_small(largest);
        A::divide(out, largest);
        Ok(largest)
    }

    /// Updates the cavities of all slots of a variable, in time that is linear in their number.
    pub(crate) fn update_cavities(&mut self, graph: &FactorGraph, variable: u32) -> Result<(), Error> {
        let edges = self.edges(variable);
        if edges.len() <= FEW {
            for edge in edges {
                self.update_cavity(graph, self.edge(edge))?;
            }
            return Ok(());
        }
        if edges
            .clone()
            .all(|edge| self.gathered[self.edge(edge)] >= self.changed[variable as usize])
        {
            return Ok(());
        }
        let width = self.potentials.vector(variable).len();
        let mut partial = std::mem::take(&mut self.partial);
        partial.resize(width * (edges.len() + 2), A::ZERO);
        let result = self.sweep_cavities(graph, variable, &mut partial);
        self.partial = partial;
        result
    }

    /// The products of the messages before each slot are kept, then multiplied with those after it.
    fn sweep_cavities(&mut self, graph: &FactorGraph, variable: u32, partial: &mut [T]) -> Result<(), Error> {
        let width = self.potentials.vector(variable).len();
        let (after, before) = partial.split_at_mut(width);
        before[..width].copy_from_slice(self.potentials.local(variable));
        for (place, edge) in self.edges(variable).enumerate() {
            let (done, next) = before.split_at_mut((place + 1) * width);
            let next = &mut next[..width];
            next.copy_from_slice(&done[place * width..]);
            self.multiply(next, self.vector(self.edge(edge)));
            self.normalise(variable, next)?;
        }
        for (place, edge) in self.edges(variable).enumerate().rev() {
            let slot = self.edge(edge);
            let cavity = &mut before[place * width..(place + 1) * width];
            if edge + 1 == self.edges(variable).end {
                self.normalise(variable, cavity)?;
                after.copy_from_slice(self.message(slot));
            } else {
                let lost = A::multiply(cavity, after);
                self.lost |= lost && !self.potentials.dense;
                self.normalise(variable, cavity)?;
                self.multiply(after, self.vector(slot));
                self.normalise(variable, after)?;
            }
            self.set_cavity(graph, slot, cavity);
        }
        Ok(())
    }

    /// Computes the message to the variable of a slot from the cavities of the other slots of its factor.
    ///
    /// When none of them changed since, the message would be the same and is not computed.
    pub(crate) fn compute(&mut self, graph: &FactorGraph, slot: usize) -> Result<Sent<T>, Error> {
        if !self.stale[slot] {
            return Ok(Sent {
                by: A::ONE,
                change: 0.0,
            });
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.resize(self.vector(slot).len().max(fresh.len()), A::ZERO);
        let out = &mut fresh[..self.vector(slot).len()];
        let result = self.compute_into(graph, slot, out);
        self.fresh = fresh;
        result
    }

    fn compute_into(&mut self, graph: &FactorGraph, slot: usize, out: &mut [T]) -> Result<Sent<T>, Error> {
        self.sent += 1;
        self.contract(graph, slot, out);
        let by = self.normalise(graph.slot_variable(slot), out)?;
        let change = A::change(out, self.message(slot), self.potentials.dense);
        if self.damping > 0.0 {
            A::damp(out, self.message(slot), self.damping);
        }
        Ok(Sent { by, change })
    }

    /// ⊕ over the labels of the other variables, not normalised.
    pub(crate) fn contract(&self, graph: &FactorGraph, slot: usize, out: &mut [T]) {
        let factor = graph.slot_factor(slot);
        let slots = graph.slots(factor);
        if slots.len() == 2 {
            let side = slot - slots.start;
            let other = slots.start + 1 - side;
            let labels = graph.labels(graph.slot_variable(other)) as usize;
            let matrix = self.potentials.matrix(graph, factor, 1 - side);
            A::rows(matrix, &self.cavity(other)[..labels], out);
        } else {
            out.fill(A::ZERO);
            let table = self.potentials.table(graph, factor);
            A::gather(out, |visit| {
                self.visit_terms(graph, factor, table, slot - slots.start, visit)
            });
        }
    }

    /// Calls back with each entry of a table, times the cavities of all places of its scope but one.
    fn visit_terms(
        &self,
        graph: &FactorGraph,
        factor: usize,
        table: &[T],
        place: usize,
        visit: &mut dyn FnMut(usize, T),
    ) {
        let first = graph.slots(factor).start;
        let mut odometer = graph.odometer(factor);
        for &entry in table {
            let labels = odometer.labels.iter().enumerate();
            let term = labels.fold(entry, |term, (other, &label)| {
                if other == place {
                    term
                } else {
                    A::times(term, self.cavity(first + other)[label as usize])
                }
            });
            visit(odometer.labels[place] as usize, term);
            odometer.step();
        }
    }

    /// Writes θ_f ⊗ Π n of a factor of three or more variables.
    pub(crate) fn clique_terms(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        let first = graph.slots(factor).start;
        let mut odometer = graph.odometer(factor);
        for (into, entry) in into.iter_mut().zip(self.potentials.table(graph, factor)) {
            let labels = odometer.labels.iter().enumerate();
            *into = labels.fold(entry.to_f64(), |term, (place, &label)| {
                A::times_f64(term, self.cavity(first + place)[label as usize].to_f64())
            });
            odometer.step();
        }
    }

    /// Stores the message that was computed last.
    pub(crate) fn accept(&mut self, slot: usize) {
        let vector = self.vector(slot);
        let length = vector.len();
        self.m[vector].copy_from_slice(&self.fresh[..length]);
    }

    /// Notes that the message to the variable of a slot changed.
    fn touch(&mut self, graph: &FactorGraph, slot: usize) {
        self.clock += 1;
        self.changed[graph.slot_variable(slot) as usize] = self.clock;
    }

    /// The message that was computed last.
    pub(crate) fn fresh(&self, slot: usize) -> &[T] {
        &self.fresh[..self.vector(slot).len()]
    }

    /// Computes and stores a message.
    pub(crate) fn send(&mut self, graph: &FactorGraph, slot: usize) -> Result<Sent<T>, Error> {
        if !self.stale[slot] {
            return Ok(Sent {
                by: A::ONE,
                change: 0.0,
            });
        }
        let sent = self.compute(graph, slot)?;
        // A damped message goes on moving towards the same goal.
        self.stale[slot] = self.damping > 0.0 && sent.change > 0.0;
        if sent.change > 0.0 {
            self.accept(slot);
            self.touch(graph, slot);
        }
        Ok(sent)
    }
}
