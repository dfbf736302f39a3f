//! Rounds in which each message is sent once, and the residual of all messages.

use crate::bp::algebra::Algebra;
use crate::bp::kernels::Scalar;
use crate::bp::messages::Messages;
use crate::{Error, FactorGraph};
use fieldmark_core::random::{SplitMix64, visiting_order};

/// The slots that messages are sent to.
pub(super) fn message_slots(graph: &FactorGraph) -> impl Iterator<Item = usize> + '_ {
    (0..graph.all_slots()).filter(|&slot| graph.arity(graph.slot_factor(slot)) > 1)
}

/// Sends all messages at once; returns the largest change.
pub(super) fn flood<T: Scalar, A: Algebra<T>>(
    graph: &FactorGraph,
    messages: &mut Messages<T, A>,
) -> Result<f64, Error> {
    messages.update_all_cavities(graph)?;
    message_slots(graph).try_fold(0.0f64, |largest, slot| {
        Ok(largest.max(messages.send(graph, slot)?.change))
    })
}

/// Sends each message once, in random order; returns the largest change.
pub(super) fn random_round<T: Scalar, A: Algebra<T>>(
    graph: &FactorGraph,
    messages: &mut Messages<T, A>,
    random: &mut SplitMix64,
) -> Result<f64, Error> {
    let mut largest = 0.0f64;
    for slot in visiting_order(graph.all_slots(), random.bits(), 0) {
        let slot = slot as usize;
        let others = graph.slots(graph.slot_factor(slot));
        if others.len() > 1 {
            for other in others.filter(|&other| other != slot) {
                messages.update_cavity(graph, other)?;
            }
            largest = largest.max(messages.send(graph, slot)?.change);
        }
    }
    Ok(largest)
}

/// The largest change that sending any message now would make, or the first that is above a limit.
///
/// Changes that happened on the way are not enough: messages outside of the last tree may be far from settled.
pub(super) fn residual<T: Scalar, A: Algebra<T>>(
    graph: &FactorGraph,
    messages: &mut Messages<T, A>,
    limit: f64,
) -> Result<f64, Error> {
    messages.update_all_cavities(graph)?;
    let sent = messages.sent;
    let mut largest = 0.0f64;
    for slot in message_slots(graph) {
        largest = largest.max(messages.compute(graph, slot)?.change);
        if largest > limit {
            break;
        }
    }
    messages.sent = sent;
    Ok(largest)
}
