//! The gold sets of one instance, by the variables of its graph.

use crate::data::GraphInstance;
use crate::structure::Structure;
use crate::{Error, FactorGraph};
use fieldmark_core::Gold;

/// A label that is not known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The gold sets of the variables of one instance.
#[derive(Clone, Debug, Default)]
pub(super) struct InstanceGold {
    /// The label of each variable, or [`UNKNOWN`].
    pub known: Vec<u32>,
    /// The ambiguous variables with their labels.
    pub ambiguous: Vec<(u32, Vec<u32>)>,
    /// Whether every variable is known.
    pub complete: bool,
}

impl InstanceGold {
    pub fn set(&mut self, structure: &Structure, instance: GraphInstance<'_>) {
        self.known.clear();
        self.ambiguous.clear();
        for (variable, layer, position) in structure.places(instance.len()).variables(instance.len()) {
            self.known.push(match instance.gold(layer, position) {
                Gold::Known(label) => label,
                Gold::Unknown => UNKNOWN,
                Gold::Ambiguous(set) => {
                    self.ambiguous.push((variable, set.to_vec()));
                    UNKNOWN
                }
            });
        }
        self.complete = self.known.iter().all(|&label| label != UNKNOWN);
    }

    /// Whether nothing is known about any variable.
    pub fn is_empty(&self) -> bool {
        self.ambiguous.is_empty() && self.known.iter().all(|&label| label == UNKNOWN)
    }

    /// Lets the variables of a graph take the gold labels only.
    pub fn restrict(&self, graph: &mut FactorGraph) -> Result<(), Error> {
        for (variable, &label) in (0..).zip(&self.known) {
            if label != UNKNOWN {
                graph.clamp(variable, label)?;
            }
        }
        for (variable, set) in &self.ambiguous {
            graph.restrict(*variable, set.iter().copied())?;
        }
        Ok(())
    }

    /// The labels that a variable may take; none are listed if nothing is known.
    pub fn allowed(&self, variable: u32) -> Option<&[u32]> {
        let known = std::slice::from_ref(&self.known[variable as usize]);
        if known[0] != UNKNOWN {
            return Some(known);
        }
        let place = self
            .ambiguous
            .binary_search_by_key(&variable, |(variable, _)| *variable);
        place.ok().map(|place| &self.ambiguous[place].1[..])
    }
}
