//! The gold sets of one instance, by the variables of its graph.

use super::TrainError;
use crate::data::{GraphDataset, GraphInstance};
use crate::factor_graph::AllowedEntries;
use crate::structure::{Edges, Structure, StructureError};
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
    /// Takes the gold sets of an instance, as far as they are candidates.
    pub fn set(&mut self, structure: &Structure, instance: GraphInstance<'_>) -> Result<(), Error> {
        self.known.clear();
        self.ambiguous.clear();
        for (variable, layer, position) in structure.places(instance.len()).variables(instance.len()) {
            let candidates = instance.candidates(layer, position);
            let known = match (instance.gold(layer, position), candidates) {
                // What has one candidate is known, whoever says so.
                (Gold::Known(label), _) | (Gold::Unknown, Gold::Known(label)) => label,
                (Gold::Unknown, _) => UNKNOWN,
                (Gold::Ambiguous(set), _) => {
                    let possible = set.iter().copied().filter(|&label| candidates.allows(label));
                    match &possible.collect::<Vec<_>>()[..] {
                        [] => return Err(Error::Contradiction { variable }),
                        &[label] => label,
                        set => {
                            self.ambiguous.push((variable, set.to_vec()));
                            UNKNOWN
                        }
                    }
                }
            };
            if known != UNKNOWN && !candidates.allows(known) {
                return Err(Error::Contradiction { variable });
            }
            self.known.push(known);
        }
        self.complete = self.known.iter().all(|&label| label != UNKNOWN);
        Ok(())
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

/// What rules out every labelling of an instance that agrees with what is known of it, as far as one factor can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// None of the gold labels of a variable is a candidate.
    Candidates {
        /// The variable.
        variable: u32,
    },
    /// A template forbids all that gold and candidates leave to a factor.
    Template {
        /// The number of the template.
        template: usize,
        /// The variables that the factor joins.
        variables: Vec<u32>,
    },
}

impl Conflict {
    fn error(&self) -> Error {
        let variable = match self {
            Conflict::Candidates { variable } => *variable,
            Conflict::Template { variables, .. } => variables[0],
        };
        Error::Contradiction { variable }
    }
}

impl Structure {
    /// The first conflict in the gold of an instance. Each factor is looked at on its own: what only several of them forbid
    /// together is not seen.
    pub fn conflict(&self, instance: GraphInstance<'_>) -> Result<Option<Conflict>, StructureError> {
        let edges = self.edges(instance, &mut Vec::new())?;
        let mut gold = InstanceGold::default();
        Ok(gold.check(self, instance, &edges, &mut AllowedEntries::default()))
    }
}

/// Refuses gold that is in conflict with candidates or with what one factor forbids.
pub(super) fn check(structure: &Structure, data: &GraphDataset, edges: &[Edges]) -> Result<(), TrainError> {
    let mut gold = InstanceGold::default();
    let mut entries = AllowedEntries::default();
    for (instance, edges) in data.instances().zip(edges) {
        if let Some(conflict) = gold.check(structure, instance, edges, &mut entries) {
            return Err(TrainError::Instance {
                instance: instance.index(),
                error: conflict.error(),
            });
        }
    }
    Ok(())
}

impl InstanceGold {
    fn check(
        &mut self,
        structure: &Structure,
        instance: GraphInstance<'_>,
        edges: &Edges,
        entries: &mut AllowedEntries,
    ) -> Option<Conflict> {
        if let Err(Error::Contradiction { variable }) = self.set(structure, instance) {
            return Some(Conflict::Candidates { variable });
        }
        let forbids = |template: &usize| !structure.templates[*template].forbidden.is_empty();
        let mut templates = (0..structure.templates.len()).filter(forbids);
        templates.find_map(|template| self.check_template(structure, template, instance, edges, entries))
    }

    fn check_template(
        &self,
        structure: &Structure,
        template: usize,
        instance: GraphInstance<'_>,
        edges: &Edges,
        entries: &mut AllowedEntries,
    ) -> Option<Conflict> {
        let features = &structure.templates[template];
        let layers = &features.elementary.layers;
        let places = structure.places(instance.len());
        let found = structure.for_each_factor(template, instance.len(), edges, |positions| {
            let variable = |place: usize| places.variable(layers[place], positions[place]);
            let left = |place: usize| match self.allowed(variable(place)) {
                Some(set) => Some(set),
                None => match instance.candidates(layers[place], positions[place]) {
                    Gold::Ambiguous(set) => Some(set),
                    _ => None,
                },
            };
            let scope = || (0..positions.len()).zip(&features.shape);
            let count = |(place, &labels)| left(place).map_or(labels as usize, <[u32]>::len);
            // So many cannot all be forbidden, and need not be listed.
            if scope().map(count).product::<usize>() > features.forbidden.len() {
                return Ok(());
            }
            entries.start();
            for (place, &labels) in scope() {
                match left(place) {
                    Some(set) => entries.extend(labels, set.iter().copied()),
                    None => entries.extend(labels, 0..labels),
                }
            }
            let is_forbidden = |entry: &u32| features.forbidden.binary_search(entry).is_ok();
            if entries.entries().iter().all(is_forbidden) {
                return Err(Conflict::Template {
                    template,
                    variables: (0..positions.len()).map(variable).collect(),
                });
            }
            Ok(())
        });
        found.err()
    }
}
