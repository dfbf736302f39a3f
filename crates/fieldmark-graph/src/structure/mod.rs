//! [`Structure`]: the features of a graph model, chosen from data by strategy.
//!
//! Weights are numbered template by template: observation × label assignment, then biases of label assignments. A
//! label assignment is an *entry* of the table of a factor, with the last variable running fastest.

mod edges;
mod observe;
mod select;

pub(crate) use edges::Edges;
pub use edges::{ComputedFactors, Relate, Relations};

use crate::data::{GraphDataset, GraphInstance};
use crate::describe::{Description, DescriptionError, Elementary};
use crate::error::{Error, counted};
use fieldmark_core::Alphabet;
use fieldmark_core::feature_table::FeatureTable;
use std::ops::Range;

/// Tables may have so many entries.
const LARGEST_TABLE: usize = 1 << 24;

/// Why a structure cannot be built or used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StructureError {
    /// The description is wrong.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// The data were made for other layers.
    #[error("the data have the layers {found:?}, the model has {expected:?}")]
    Layers {
        /// Layers of the data.
        found: Vec<String>,
        /// Layers of the model.
        expected: Vec<String>,
    },
    /// The data were made with other alphabets.
    #[error(
        "the data have {found} {what}, the model has {expected}; read them with the alphabets of the model"
    )]
    Alphabet {
        /// Which names.
        what: String,
        /// How many the data have.
        found: usize,
        /// How many the model has.
        expected: usize,
    },
    /// A layer without labels.
    #[error("layer {0:?} has no label")]
    NoLabels(String),
    /// A template with a table that is too large.
    #[error("a factor of template {template:?} over {labels:?} labels would have more than {limit} scores")]
    TableTooLarge {
        /// The template.
        template: String,
        /// Label counts of its variables.
        labels: Vec<u32>,
        /// The most scores.
        limit: usize,
    },
    /// More features than can be numbered.
    #[error(
        "template {template:?} has more than {} features; prune rare observations or do not ask for all features",
        u32::MAX
    )]
    TooManyFeatures {
        /// The template.
        template: String,
    },
    /// Custom code that was not given.
    #[error(
        "template {template:?} needs the relation {relation:?}, whose code was not given; such a relation is given in Rust, \
         with Relations::with{}",
        given(known)
    )]
    UnknownRelation {
        /// The template.
        template: String,
        /// The name of the code.
        relation: String,
        /// The names that are known.
        known: Vec<String>,
    },
    /// Custom code that joins what is not there.
    #[error(
        "template {template:?} joins positions {positions:?} of instance {}, expected {} at positions below {length}",
        instance + 1,
        counted(*variables as u64, "different variable")
    )]
    Factor {
        /// The template.
        template: String,
        /// The instance.
        instance: usize,
        /// The positions.
        positions: Vec<u32>,
        /// How many it joins.
        variables: usize,
        /// Length of the instance.
        length: usize,
    },
    /// The wrong number of weights.
    #[error("{} for {}", counted(*found as u64, "weight"), counted(*expected as u64, "feature"))]
    Weights {
        /// How many were given.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// An engine with options that are wrong.
    #[error(transparent)]
    Engine(Error),
    /// The graph of an instance cannot be built or answered.
    #[error("instance {}: {error}", instance + 1)]
    Graph {
        /// The instance.
        instance: usize,
        /// Why.
        error: Error,
    },
}

/// The relations that are there, if any.
fn given(known: &[String]) -> String {
    match known {
        [] => String::new(),
        known => format!("; given are {known:?}"),
    }
}

/// The features of one template.
#[derive(Clone, Debug)]
pub(crate) struct TemplateFeatures {
    pub elementary: Elementary,
    /// Label counts of the variables of a factor.
    pub shape: Vec<u32>,
    /// Observation × entry.
    pub rows: FeatureTable,
    /// Entries with a bias, sorted.
    pub bias: Vec<u32>,
    /// Impossible entries, sorted.
    pub forbidden: Vec<u32>,
    /// Its first weight.
    pub start: usize,
}

impl TemplateFeatures {
    pub fn width(&self) -> usize {
        self.shape.iter().map(|&labels| labels as usize).product()
    }

    pub fn row_weights(&self) -> Range<usize> {
        self.start..self.start + self.rows.len()
    }

    pub fn bias_weights(&self) -> Range<usize> {
        let start = self.row_weights().end;
        start..start + self.bias.len()
    }
}

/// The features of a graph model, without their weights.
#[derive(Clone, Debug)]
pub struct Structure {
    pub(crate) description: Description,
    /// Label counts of the layers.
    pub(crate) labels: Vec<u32>,
    /// Number of observations that were there when features were chosen.
    pub(crate) observations: usize,
    pub(crate) templates: Vec<TemplateFeatures>,
    pub(crate) relations: Relations,
}

impl Structure {
    /// Chooses the features for training on `data`. What the limits of skip templates cut is told by
    /// [`Structure::computed_factors`].
    pub fn build(
        data: &GraphDataset,
        description: &Description,
        relations: Relations,
    ) -> Result<Self, StructureError> {
        let expected = description.layers.iter();
        if !data.layers().eq(expected) {
            return Err(StructureError::Layers {
                found: data.layers().map(|layer| layer.name.clone()).collect(),
                expected: description
                    .layers
                    .iter()
                    .map(|layer| layer.name.clone())
                    .collect(),
            });
        }
        let alphabets = (0..description.layers.len()).map(|layer| data.labels(layer));
        let mut structure = Self::skeleton(description, alphabets, relations)?;
        structure.observations = data.observations.len();
        select::select(&mut structure, data)?;
        structure.number();
        Ok(structure)
    }

    /// A structure whose templates have no features yet.
    pub(crate) fn skeleton<'a>(
        description: &Description,
        alphabets: impl Iterator<Item = &'a Alphabet>,
        relations: Relations,
    ) -> Result<Self, StructureError> {
        let alphabets: Vec<&Alphabet> = alphabets.collect();
        let expanded = description.expand()?;
        for (layer, alphabet) in description.layers.iter().zip(&alphabets) {
            if alphabet.is_empty() {
                return Err(StructureError::NoLabels(layer.name.clone()));
            }
        }
        let labels: Vec<u32> = alphabets.iter().map(|alphabet| alphabet.len() as u32).collect();
        let mut templates = Vec::new();
        for elementary in expanded {
            let shape: Vec<u32> = elementary.layers.iter().map(|&layer| labels[layer]).collect();
            let width = shape.iter().try_fold(1usize, |width, &labels| {
                width
                    .checked_mul(labels as usize)
                    .filter(|&width| width <= LARGEST_TABLE)
            });
            if width.is_none() {
                return Err(StructureError::TableTooLarge {
                    template: elementary.name,
                    labels: shape,
                    limit: LARGEST_TABLE,
                });
            }
            let forbidden = forbidden(&elementary, &shape, &alphabets)?;
            templates.push(TemplateFeatures {
                elementary,
                shape,
                rows: FeatureTable::default(),
                bias: Vec::new(),
                forbidden,
                start: 0,
            });
        }
        Ok(Self {
            description: description.clone(),
            labels,
            observations: 0,
            templates,
            relations,
        })
    }

    /// Numbers the weights of all templates.
    pub(crate) fn number(&mut self) {
        let mut start = 0;
        for template in &mut self.templates {
            template.start = start;
            start = template.bias_weights().end;
        }
    }

    /// The description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        self.templates
            .last()
            .map_or(0, |template| template.bias_weights().end)
    }

    /// The names of the templates, in the order of the numbers that factors have.
    pub fn template_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.templates
            .iter()
            .map(|template| template.elementary.name.as_str())
    }

    /// The names of the templates that forbid combinations of labels of several variables.
    pub fn forbidding_templates(&self) -> impl Iterator<Item = &str> {
        let forbids =
            |template: &&TemplateFeatures| template.shape.len() > 1 && !template.forbidden.is_empty();
        let templates = self.templates.iter().filter(forbids);
        templates.map(|template| template.elementary.name.as_str())
    }

    /// The weights of a template: those of observations, then biases.
    ///
    /// # Panics
    /// If there is no such template.
    pub fn template_weights(&self, template: usize) -> Range<usize> {
        self.templates[template].start..self.templates[template].bias_weights().end
    }

    /// The layers of the variables that a factor of a template joins.
    ///
    /// # Panics
    /// If there is no such template.
    pub fn template_layers(&self, template: usize) -> &[usize] {
        &self.templates[template].elementary.layers
    }

    /// The weight of an observation with the labels of a factor of a template, `None` if it has none.
    pub fn feature(&self, template: usize, observation: u32, labels: &[u32]) -> Option<usize> {
        let template = self.templates.get(template)?;
        let feature = template.rows.find(observation, template.entry(labels)?)?;
        Some(template.start + feature)
    }

    /// The bias of the labels of a factor of a template, `None` if it has none.
    pub fn bias(&self, template: usize, labels: &[u32]) -> Option<usize> {
        let template = self.templates.get(template)?;
        let place = template.bias.binary_search(&template.entry(labels)?).ok()?;
        Some(template.bias_weights().start + place)
    }

    /// The layer and the position of a variable in the graph of an instance of some length; the position is 0 in layers
    /// with one variable per instance. `None` if there is no such variable.
    pub fn place_of(&self, length: usize, variable: u32) -> Option<(usize, u32)> {
        let places = self.places(length);
        let mut variables = places.variables(length);
        variables
            .find(|(number, ..)| *number == variable)
            .map(|(_, layer, position)| (layer, position))
    }

    /// Where the variables of an instance are numbered.
    pub(crate) fn places(&self, length: usize) -> Places {
        let mut stride = 0;
        let mut whole = 0;
        let mut layers = Vec::new();
        for layer in 0..self.labels.len() {
            if self.description.is_per_instance(layer) {
                layers.push((true, whole));
                whole += 1;
            } else {
                layers.push((false, stride));
                stride += 1;
            }
        }
        Places {
            stride,
            first_whole: stride * length as u32,
            layers,
        }
    }

    /// The number of the variable of a layer at a position of an instance, in the graph that it is unrolled to, if there
    /// is one.
    pub(crate) fn variable(&self, instance: GraphInstance<'_>, layer: usize, position: u32) -> Option<u32> {
        let exists = layer < self.labels.len()
            && (self.description.is_per_instance(layer) || (position as usize) < instance.len());
        exists.then(|| self.places(instance.len()).variable(layer, position))
    }

    /// Whether data have the alphabets that this structure was made for, and possibly more observations; only for
    /// tagging they may have more labels, too.
    pub(crate) fn check_data(&self, data: &GraphDataset, training: bool) -> Result<(), StructureError> {
        if !data.layers().eq(self.description.layers.iter()) {
            return Err(StructureError::Layers {
                found: data.layers().map(|layer| layer.name.clone()).collect(),
                expected: self
                    .description
                    .layers
                    .iter()
                    .map(|layer| layer.name.clone())
                    .collect(),
            });
        }
        for (layer, &expected) in self.labels.iter().enumerate() {
            let found = data.labels(layer).len();
            if found < expected as usize || training && found > expected as usize {
                return Err(StructureError::Alphabet {
                    what: format!("labels of layer {:?}", self.description.layers[layer].name),
                    found,
                    expected: expected as usize,
                });
            }
        }
        if data.observations.len() < self.observations {
            return Err(StructureError::Alphabet {
                what: "observations".into(),
                found: data.observations.len(),
                expected: self.observations,
            });
        }
        Ok(())
    }
}

impl TemplateFeatures {
    /// The labels of an entry.
    pub(crate) fn labels_of(&self, entry: u32) -> Vec<u32> {
        let mut labels = vec![0; self.shape.len()];
        let mut rest = entry;
        for (label, &count) in labels.iter_mut().zip(&self.shape).rev() {
            *label = rest % count;
            rest /= count;
        }
        labels
    }

    fn entry(&self, labels: &[u32]) -> Option<u32> {
        if labels.len() != self.shape.len() {
            return None;
        }
        labels
            .iter()
            .zip(&self.shape)
            .try_fold(0, |entry, (&label, &count)| {
                (label < count).then_some(entry * count + label)
            })
    }
}

/// How the variables of an instance are numbered: position by position, those of the whole instance last.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    stride: u32,
    first_whole: u32,
    /// Whether the layer is one per instance, and its number among those of its kind.
    layers: Vec<(bool, u32)>,
}

impl Places {
    #[inline]
    pub fn variable(&self, layer: usize, position: u32) -> u32 {
        match self.layers[layer] {
            (true, number) => self.first_whole + number,
            (false, number) => position * self.stride + number,
        }
    }

    /// Number, layer and position of each variable, in the order of their numbers.
    pub fn variables(&self, length: usize) -> impl Iterator<Item = (u32, usize, u32)> + '_ {
        let of_kind = move |whole: bool| {
            let layers = self.layers.iter().enumerate();
            layers
                .filter(move |(_, (kind, _))| *kind == whole)
                .map(|(layer, _)| layer)
        };
        let at_positions =
            (0..length as u32).flat_map(move |position| of_kind(false).map(move |layer| (layer, position)));
        at_positions
            .chain(of_kind(true).map(|layer| (layer, 0)))
            .map(|(layer, position)| (self.variable(layer, position), layer, position))
    }
}

/// The entries that the description forbids by name.
fn forbidden(
    template: &Elementary,
    shape: &[u32],
    alphabets: &[&Alphabet],
) -> Result<Vec<u32>, StructureError> {
    let mut entries = Vec::new();
    for names in &template.template.forbid {
        let wrong = |expected: String| DescriptionError::Forbid {
            template: template.name.clone(),
            found: names.clone(),
            expected,
        };
        if names.len() != shape.len() {
            return Err(wrong(counted(shape.len() as u64, "label")).into());
        }
        let mut entry = 0;
        for ((name, &layer), &count) in names.iter().zip(&template.layers).zip(shape) {
            let label = alphabets[layer].get(name);
            let label = label.ok_or_else(|| wrong(format!("labels of the data in place of {name:?}")))?;
            entry = entry * count + label;
        }
        entries.push(entry);
    }
    entries.sort_unstable();
    entries.dedup();
    Ok(entries)
}

#[cfg(test)]
mod tests;
