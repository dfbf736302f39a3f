//! [`GraphModel`]: a trained graph model, immutable and shared; [`GraphTagger`]: the scratch memory to use it with.

mod dump;
mod explain;
#[cfg(test)]
mod explain_tests;
mod file;
mod inspect;
#[cfg(test)]
mod inspect_tests;
mod load;
mod warm_start;

pub use explain::{
    GraphAlternative, GraphContribution, GraphDecision, GraphEvidence, GraphExplanation, GraphNeighbour,
    GraphOthers,
};
pub use inspect::{GraphInspection, LayerSizes, StrongWeight, TemplateWeights};
pub use warm_start::GraphWarmStart;

use crate::data::{GraphDataset, GraphDatasetBuilder, GraphInstance};
use crate::structure::{Relations, Structure, StructureError};
use crate::unroll::{Unrolled, Unroller};
use crate::{Beliefs, Decoding, Description, Engine, EngineChoice, Error};
use fieldmark_core::container::Shared;
use fieldmark_core::feature_table::FeatureTable;
use fieldmark_core::{Alphabet, Names};

/// A graph model with its weights and names.
#[derive(Clone, Debug)]
pub struct GraphModel {
    labels: Vec<Alphabet>,
    observations: Names,
    structure: Structure,
    weights: Shared<f64>,
    algorithm: Option<String>,
}

impl GraphModel {
    /// A model from what training gives. Features and observations without weight are dropped.
    pub fn new(data: &GraphDataset, structure: &Structure, weights: &[f64]) -> Result<Self, StructureError> {
        structure.check_data(data, true)?;
        let (found, expected) = (weights.len(), structure.weights());
        if found != expected {
            return Err(StructureError::Weights { found, expected });
        }
        let (structure, kept, weights) = prune(structure, weights);
        let names: Vec<&str> = kept.iter().map(|&row| data.observations.name(row)).collect();
        Ok(Self {
            labels: (0..structure.labels.len())
                .map(|layer| data.labels(layer).clone())
                .collect(),
            observations: Names::new(names.into_iter()),
            structure,
            weights: weights.into(),
            algorithm: None,
        })
    }

    /// Notes by which algorithm the weights were found.
    #[must_use]
    pub fn with_algorithm(mut self, name: &str) -> Self {
        self.algorithm = Some(name.to_owned());
        self
    }

    /// Gives a model that was read from a file the code of its custom relations.
    #[must_use]
    pub fn with_relations(mut self, relations: Relations) -> Self {
        self.structure.relations = relations;
        self
    }

    /// The name of the algorithm by which the weights were found, if it was noted.
    pub fn algorithm(&self) -> Option<&str> {
        self.algorithm.as_deref()
    }

    /// Layers and templates.
    pub fn description(&self) -> &Description {
        self.structure.description()
    }

    /// The names of the labels of a layer.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn labels(&self, layer: usize) -> &Alphabet {
        &self.labels[layer]
    }

    /// The names of the observations.
    pub fn observations(&self) -> &Names {
        &self.observations
    }

    /// The features.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Every weight, in the numbering of [`Structure`].
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of weights that are not zero.
    pub fn active(&self) -> usize {
        self.weights.iter().filter(|&&weight| weight != 0.0).count()
    }

    /// A builder of data to tag. Observations that the model does not know are kept, for templates that ask whether
    /// observations are equal.
    pub fn dataset_builder(&self) -> GraphDatasetBuilder {
        GraphDatasetBuilder::with_alphabets(
            self.description(),
            self.observations.to_alphabet(),
            self.labels.clone(),
        )
    }

    /// Scratch memory to tag with, and the engine that answers.
    pub fn tagger(&self, engine: &EngineChoice) -> Result<GraphTagger<'_>, StructureError> {
        let engine = engine.engine().map_err(StructureError::Engine)?;
        Ok(GraphTagger {
            model: self,
            unroller: Unroller::new(&self.structure, &self.weights)?,
            engine,
        })
    }
}

/// Scratch memory to tag with; make one per thread and use it again and again.
pub struct GraphTagger<'m> {
    model: &'m GraphModel,
    unroller: Unroller<'m>,
    engine: Box<dyn Engine + Send>,
}

impl<'m> GraphTagger<'m> {
    /// The model.
    pub fn model(&self) -> &'m GraphModel {
        self.model
    }

    /// The best labelling of an instance, or the best that the engine finds. Gold is ignored.
    pub fn tag(&mut self, instance: GraphInstance<'_>) -> Result<Decoding, StructureError> {
        let unrolled = self.unroller.unroll_in_place(instance)?;
        let decoding = self.engine.max(unrolled.graph());
        decoding.map_err(|error| at(instance, error))
    }

    /// Marginals of an instance. Gold is ignored.
    pub fn marginals(&mut self, instance: GraphInstance<'_>) -> Result<Beliefs<'_>, StructureError> {
        let unrolled = self.unroller.unroll_in_place(instance)?;
        let beliefs = self.engine.sum(unrolled.graph());
        beliefs.map_err(|error| at(instance, error))
    }

    /// The graph of an instance, for everything else: constraints, k best, other engines.
    pub fn unroll(&mut self, instance: GraphInstance<'_>) -> Result<&mut Unrolled, StructureError> {
        self.unroller.unroll_in_place(instance)
    }

    /// The number of the variable of a layer at a position of an instance, in decodings and marginals; the position does
    /// not matter in layers with one variable per instance.
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn variable(&self, instance: GraphInstance<'_>, layer: usize, position: u32) -> u32 {
        self.unroller.variable(instance, layer, position)
    }

    /// The label of a layer at a position, by name; `None` where the instance has no such variable, or the decoding is
    /// not one of its graph.
    pub fn label(
        &self,
        instance: GraphInstance<'_>,
        decoding: &Decoding,
        layer: usize,
        position: u32,
    ) -> Option<&'m str> {
        let variable = self.model.structure.variable(instance, layer, position)?;
        let label = *decoding.labels.get(variable as usize)?;
        let labels = &self.model.labels[layer];
        ((label as usize) < labels.len()).then(|| labels.name(label))
    }
}

fn at(instance: GraphInstance<'_>, error: Error) -> StructureError {
    let instance = instance.index();
    StructureError::Graph { instance, error }
}

/// What is left of a structure when weights of zero are dropped, and which observations.
fn prune(structure: &Structure, weights: &[f64]) -> (Structure, Vec<u32>, Vec<f64>) {
    let has_weight = |row: u32| {
        structure.templates.iter().any(|template| {
            let features = template.rows.features(row);
            let weights = &weights[template.row_weights()][features];
            weights.iter().any(|&weight| weight != 0.0)
        })
    };
    let kept: Vec<u32> = (0..structure.observations as u32)
        .filter(|&row| has_weight(row))
        .collect();
    let mut pruned = structure.clone();
    pruned.observations = kept.len();
    let mut new_weights = Vec::new();
    for (template, old) in pruned.templates.iter_mut().zip(&structure.templates) {
        let old_weights = &weights[old.row_weights()];
        let rows = FeatureTable::build(kept.len(), |row, entries| {
            let features = old.rows.features(kept[row]);
            let pairs = old.rows.columns(kept[row]).iter().zip(&old_weights[features]);
            for (&entry, &weight) in pairs.filter(|(_, weight)| **weight != 0.0) {
                entries.push(entry);
                new_weights.push(weight);
            }
        });
        // Fewer features than before.
        template.rows = rows.map(FeatureTable::compact).unwrap_or_default();
        let biases = old.bias.iter().zip(&weights[old.bias_weights()]);
        let biases: Vec<(u32, f64)> = biases
            .map(|(&entry, &weight)| (entry, weight))
            .filter(|(_, weight)| *weight != 0.0)
            .collect();
        template.bias = biases.iter().map(|(entry, _)| *entry).collect();
        new_weights.extend(biases.iter().map(|(_, weight)| *weight));
    }
    pruned.number();
    (pruned, kept, new_weights)
}
