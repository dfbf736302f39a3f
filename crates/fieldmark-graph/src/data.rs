//! [`GraphDataset`]: observations of positions and instances, with gold label sets in several layers.
//!
//! Beside its gold set, a variable may have a set of *candidates*: what a dictionary or another model leaves possible. No
//! labelling has another label there, in training as in use, so that factors over many variables stay small.

use crate::describe::{Description, Layer, Per};
use crate::error::{counted, there_are};
use fieldmark_core::dataset::{DatasetError, GoldSets};
use fieldmark_core::{Alphabet, Dataset, Gold, Observations};
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// Instances for training or tagging.
///
/// Positions of all instances are numbered through. Every variable has a gold set: known, ambiguous or unknown; a
/// layer of which nothing is known is hidden. Instances without positions are allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphDataset {
    /// Names of the observations.
    pub observations: Alphabet,
    pub(crate) unary: Observations,
    pub(crate) steps: Observations,
    pub(crate) whole: Observations,
    layers: Vec<LayerData>,
    borders: Vec<u32>,
}

/// The labels of one layer.
#[derive(Clone, Debug, PartialEq)]
struct LayerData {
    layer: Layer,
    labels: Alphabet,
    gold: GoldSets,
    /// The labels that each variable may take, [`Gold::Unknown`] if all; empty if all may take all.
    candidates: GoldSets,
}

/// One instance of a [`GraphDataset`].
#[derive(Clone, Copy, Debug)]
pub struct GraphInstance<'a> {
    data: &'a GraphDataset,
    index: usize,
    start: usize,
    end: usize,
}

impl GraphDataset {
    /// Number of instances.
    pub fn len(&self) -> usize {
        self.borders.len() - 1
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of positions of all instances.
    pub fn positions(&self) -> usize {
        self.borders.last().copied().unwrap_or(0) as usize
    }

    /// The instance with this index.
    ///
    /// # Panics
    /// If there is none.
    pub fn instance(&self, index: usize) -> GraphInstance<'_> {
        GraphInstance {
            data: self,
            index,
            start: self.borders[index] as usize,
            end: self.borders[index + 1] as usize,
        }
    }

    /// All instances in order.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = GraphInstance<'_>> {
        (0..self.len()).map(|index| self.instance(index))
    }

    /// The layers.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &Layer> {
        self.layers.iter().map(|layer| &layer.layer)
    }

    /// The names of the labels of a layer.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn labels(&self, layer: usize) -> &Alphabet {
        &self.layers[layer].labels
    }

    /// Whether no label of a layer is known anywhere.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn is_hidden(&self, layer: usize) -> bool {
        let gold = &self.layers[layer].gold;
        (0..gold.len()).all(|variable| gold.get(variable) == Gold::Unknown)
    }

    /// Whether some variable of a layer may take some of its labels only.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn has_candidates(&self, layer: usize) -> bool {
        !self.layers[layer].candidates.is_empty()
    }

    /// The data of a chain as those of a model with one layer.
    pub fn from_chain(mut data: Dataset, layer: &str) -> Result<Self, DatasetError> {
        let mut borders = vec![0];
        borders.extend(data.instances().map(|instance| instance.positions().end as u32));
        let layer = Layer {
            name: layer.into(),
            per: Per::Position,
        };
        let labels = std::mem::take(&mut data.labels);
        Ok(Self {
            observations: std::mem::take(&mut data.observations),
            unary: std::mem::take(&mut data.unary),
            steps: std::mem::take(&mut data.pair),
            layers: vec![LayerData {
                layer,
                labels,
                gold: data.into_gold(),
                candidates: GoldSets::default(),
            }],
            whole: Observations::default(),
            borders,
        })
    }

    /// A hash of everything in it: equal for equal data.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        let labels = self.layers.iter().map(|layer| &layer.labels);
        for alphabet in std::iter::once(&self.observations).chain(labels) {
            for name in alphabet.iter() {
                hash.update(name.as_bytes());
                hash.update(&[0xff]);
            }
        }
        for observations in [&self.unary, &self.steps, &self.whole] {
            observations.hash_into(&mut hash);
        }
        let mut add = |numbers: &[u32]| {
            let numbers = numbers.iter();
            numbers.for_each(|number| hash.update(&number.to_le_bytes()));
        };
        add(&self.borders);
        for sets in self
            .layers
            .iter()
            .flat_map(|layer| [&layer.gold, &layer.candidates])
        {
            let (codes, sets) = sets.numbers();
            add(codes);
            sets.for_each(&mut add);
        }
        hash.digest()
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        let layers = self
            .layers
            .iter()
            .map(|layer| layer.labels.memory() + layer.gold.memory() + layer.candidates.memory());
        self.observations.memory()
            + self.unary.memory()
            + self.steps.memory()
            + self.whole.memory()
            + self.borders.capacity() * 4
            + layers.sum::<usize>()
    }
}

impl<'a> GraphInstance<'a> {
    /// The data set that it belongs to.
    pub fn data(&self) -> &'a GraphDataset {
        self.data
    }

    /// Its number in the data set.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The positions in the numbering of the data set.
    pub fn positions(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The ids of the observations at a position of this instance.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn ids(&self, position: u32) -> &'a [u32] {
        self.data.unary.ids(self.start + position as usize)
    }

    /// The observations at a position of this instance, with their values.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn observations(&self, position: u32) -> impl Iterator<Item = (u32, f32)> + 'a {
        self.data.unary.iter(self.start + position as usize)
    }

    /// The observations of the instance as a whole, with their values.
    pub fn instance_observations(&self) -> impl Iterator<Item = (u32, f32)> + 'a {
        self.data.whole.iter(self.index)
    }

    /// Whether an observation of this name holds at a position of this instance.
    pub fn observes(&self, position: u32, name: &str) -> bool {
        let id = self.data.observations.get(name);
        id.is_some_and(|id| self.ids(position).contains(&id))
    }

    /// The gold set of a variable; the position does not matter in layers with one variable per instance.
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn gold(&self, layer: usize, position: u32) -> Gold<'a> {
        let layer = &self.data.layers[layer];
        match layer.layer.per {
            Per::Position => layer.gold.get(self.start + position as usize),
            Per::Instance => layer.gold.get(self.index),
        }
    }

    /// The labels that a variable may take: [`Gold::Unknown`] if all.
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn candidates(&self, layer: usize, position: u32) -> Gold<'a> {
        let layer = &self.data.layers[layer];
        if layer.candidates.is_empty() {
            return Gold::Unknown;
        }
        match layer.layer.per {
            Per::Position => layer.candidates.get(self.start + position as usize),
            Per::Instance => layer.candidates.get(self.index),
        }
    }

    /// The observations of a variable.
    pub(crate) fn observed(&self, layer: usize, position: u32) -> (&'a Observations, usize) {
        match self.data.layers[layer].layer.per {
            Per::Position => (&self.data.unary, self.start + position as usize),
            Per::Instance => (&self.data.whole, self.index),
        }
    }

    /// The observations of the step into a position.
    pub(crate) fn observed_step(&self, position: u32) -> (&'a Observations, usize) {
        (&self.data.steps, self.start + position as usize)
    }
}

/// What is wrong with data for a graph model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The wrong number of gold sets.
    #[error("{} for {} with one variable per {per}", counted(*found as u64, "gold set"), counted(*expected as u64, "layer"))]
    Layers {
        /// How many were given.
        found: usize,
        /// How many there are.
        expected: usize,
        /// "position" or "instance".
        per: &'static str,
    },
    /// A label that is not in the alphabet of its layer.
    #[error("label {label} of layer {layer:?} does not exist, {}", there_are(*labels as u64, "label"))]
    UnknownLabel {
        /// The layer.
        layer: String,
        /// The label.
        label: u32,
        /// Number of labels.
        labels: usize,
    },
    /// An observation that is not in the alphabet.
    #[error("observation {id} does not exist, {}", there_are(*observations as u64, "observation"))]
    UnknownObservation {
        /// The observation.
        id: u32,
        /// Number of observations.
        observations: usize,
    },
    /// A value that is not a number.
    #[error("the value of observation {name:?} is {value}, expected a finite number")]
    Value {
        /// The observation.
        name: String,
        /// Its value.
        value: f32,
    },
    /// What a data set cannot hold.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// Fills a [`GraphDataset`] position by position.
///
/// ```
/// use fieldmark_core::Gold;
/// use fieldmark_graph::{Description, GraphDatasetBuilder};
///
/// let description = Description::factorial(&["pos", "chunk"]);
/// let mut builder = GraphDatasetBuilder::new(&description);
/// let (noun, begin) = (builder.label(0, "NN"), builder.label(1, "B-NP"));
/// builder.observe("word=Paris", 1.0)?;
/// builder.end_position(&[Gold::Known(noun), Gold::Known(begin)])?;
/// builder.end_instance(&[])?;
/// let data = builder.finish();
/// assert_eq!((data.len(), data.positions()), (1, 1));
/// # Ok::<(), fieldmark_graph::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphDatasetBuilder {
    data: GraphDataset,
    /// Rows of positions that were closed.
    positions: usize,
    /// One more than the largest number of an observation that another alphabet numbers.
    numbered: usize,
    /// The candidates of the open variable of each layer; empty if it may take every label.
    candidates: Vec<Vec<u32>>,
}

impl GraphDatasetBuilder {
    /// A builder with empty alphabets.
    pub fn new(description: &Description) -> Self {
        let labels = vec![Alphabet::new(); description.layers.len()];
        Self::with_alphabets(description, Alphabet::new(), labels)
    }

    /// A builder that starts from the alphabets of a model or of other data, one of labels for each layer.
    ///
    /// Observations that a model does not know get numbers after its own, so that templates can still see that they
    /// are equal.
    ///
    /// # Panics
    /// If there are not as many alphabets as layers.
    pub fn with_alphabets(description: &Description, observations: Alphabet, labels: Vec<Alphabet>) -> Self {
        assert_eq!(
            description.layers.len(),
            labels.len(),
            "one alphabet for each layer"
        );
        let layers = description.layers.iter().zip(labels);
        let layers = layers.map(|(layer, labels)| LayerData {
            layer: layer.clone(),
            labels,
            gold: GoldSets::default(),
            candidates: GoldSets::default(),
        });
        Self {
            candidates: vec![Vec::new(); description.layers.len()],
            data: GraphDataset {
                observations,
                unary: Observations::default(),
                steps: Observations::default(),
                whole: Observations::default(),
                layers: layers.collect(),
                borders: vec![0],
            },
            positions: 0,
            numbered: 0,
        }
    }

    /// The number of a label, which is new if need be.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn label(&mut self, layer: usize, name: &str) -> u32 {
        self.data.layers[layer].labels.intern(name)
    }

    /// The number of an observation, which is new if need be.
    pub fn observation(&mut self, name: &str) -> u32 {
        self.data.observations.intern(name)
    }

    /// Adds an observation to the open position.
    pub fn observe(&mut self, name: &str, value: f32) -> Result<(), DataError> {
        let id = self.observation(name);
        self.observe_id(id, value)
    }

    /// Adds an observation by its number to the open position.
    pub fn observe_id(&mut self, id: u32, value: f32) -> Result<(), DataError> {
        self.check(id, value)?;
        self.data.unary.push(id, value);
        Ok(())
    }

    /// Adds an observation to the open position by the number that it has in an alphabet outside of this builder, which
    /// [`GraphDatasetBuilder::finish_numbered`] takes.
    pub fn observe_numbered(&mut self, id: u32, value: f32) {
        self.numbered = self.numbered.max(id as usize + 1);
        self.data.unary.push(id, value);
    }

    /// The same for the open instance as a whole.
    pub fn observe_instance_numbered(&mut self, id: u32, value: f32) {
        self.numbered = self.numbered.max(id as usize + 1);
        self.data.whole.push(id, value);
    }

    /// Adds an observation to the step into the open position.
    pub fn observe_step(&mut self, name: &str, value: f32) -> Result<(), DataError> {
        let id = self.observation(name);
        self.check(id, value)?;
        self.data.steps.push(id, value);
        Ok(())
    }

    /// Adds an observation to the open instance as a whole.
    pub fn observe_instance(&mut self, name: &str, value: f32) -> Result<(), DataError> {
        let id = self.observation(name);
        self.check(id, value)?;
        self.data.whole.push(id, value);
        Ok(())
    }

    fn check(&self, id: u32, value: f32) -> Result<(), DataError> {
        let observations = self.data.observations.len();
        if id as usize >= observations {
            return Err(DataError::UnknownObservation { id, observations });
        }
        if !value.is_finite() {
            let name = self.data.observations.name(id).to_owned();
            return Err(DataError::Value { name, value });
        }
        Ok(())
    }

    /// Lets the open variable of a layer take these labels only. Training wants its gold labels among them.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn candidates(&mut self, layer: usize, labels: &[u32]) -> Result<(), DataError> {
        check_gold(&self.data.layers[layer], Gold::Ambiguous(labels))?;
        self.candidates[layer] = labels.to_vec();
        Ok(())
    }

    /// Closes the open position, with a gold set for each layer per position.
    pub fn end_position(&mut self, gold: &[Gold<'_>]) -> Result<(), DataError> {
        if self.positions as u64 + 1 > u64::from(u32::MAX) {
            return Err(DatasetError::TooManyPositions.into());
        }
        self.add_gold(Per::Position, gold)?;
        self.data.unary.close(self.positions)?;
        self.data.steps.close(self.positions)?;
        self.positions += 1;
        Ok(())
    }

    /// Closes the open instance, with a gold set for each layer per instance.
    pub fn end_instance(&mut self, gold: &[Gold<'_>]) -> Result<(), DataError> {
        self.add_gold(Per::Instance, gold)?;
        self.data.whole.close(self.data.len())?;
        self.data.borders.push(self.positions as u32);
        Ok(())
    }

    fn add_gold(&mut self, per: Per, gold: &[Gold<'_>]) -> Result<(), DataError> {
        let layers = || self.data.layers.iter().filter(|layer| layer.layer.per == per);
        if layers().count() != gold.len() {
            return Err(DataError::Layers {
                found: gold.len(),
                expected: layers().count(),
                per: match per {
                    Per::Position => "position",
                    Per::Instance => "instance",
                },
            });
        }
        for (layer, gold) in layers().zip(gold) {
            check_gold(layer, *gold)?;
        }
        let layers = self.data.layers.iter_mut().zip(&mut self.candidates);
        let layers = layers.filter(|(layer, _)| layer.layer.per == per);
        for ((layer, candidates), gold) in layers.zip(gold) {
            layer.add(*gold, candidates)?;
        }
        Ok(())
    }

    /// The finished data, whose observations have the numbers of another alphabet.
    pub fn finish_numbered(mut self, observations: Alphabet) -> Result<GraphDataset, DataError> {
        if self.numbered > observations.len() {
            return Err(DataError::UnknownObservation {
                id: self.numbered as u32 - 1,
                observations: observations.len(),
            });
        }
        self.data.observations = observations;
        Ok(self.finish())
    }

    /// The finished data. Positions after the last closed instance are dropped: close it first.
    pub fn finish(mut self) -> GraphDataset {
        self.data.observations.shrink_to_fit();
        self.data.unary.shrink_to_fit();
        self.data.steps.shrink_to_fit();
        self.data.whole.shrink_to_fit();
        for layer in &mut self.data.layers {
            layer.labels.shrink_to_fit();
            layer.gold.shrink_to_fit();
            layer.candidates.shrink_to_fit();
        }
        self.data
    }
}

impl LayerData {
    /// Adds a variable, and takes its candidates.
    fn add(&mut self, gold: Gold<'_>, candidates: &mut Vec<u32>) -> Result<(), DatasetError> {
        if !candidates.is_empty() {
            // All variables before may take every label.
            while self.candidates.len() < self.gold.len() {
                self.candidates.add(Gold::Unknown)?;
            }
            self.candidates.add(Gold::Ambiguous(candidates))?;
            candidates.clear();
        } else if !self.candidates.is_empty() {
            self.candidates.add(Gold::Unknown)?;
        }
        self.gold.add(gold)
    }
}

fn check_gold(layer: &LayerData, gold: Gold<'_>) -> Result<(), DataError> {
    let labels = layer.labels.len();
    let unknown = match gold {
        Gold::Known(label) => Some(label).filter(|&label| label as usize >= labels),
        Gold::Ambiguous([]) => return Err(DatasetError::EmptyLabelSet.into()),
        Gold::Ambiguous(set) => set.iter().copied().find(|&label| label as usize >= labels),
        Gold::Unknown => None,
    };
    match unknown {
        Some(label) => Err(DataError::UnknownLabel {
            layer: layer.layer.name.clone(),
            label,
            labels,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_may_be_empty_and_layers_hidden() {
        let description = Description::hierarchical("whole", &["part"], true, false);
        let mut builder = GraphDatasetBuilder::new(&description);
        let part = builder.label(0, "x");
        let whole = builder.label(1, "good");
        builder.observe_instance("long", 2.0).unwrap();
        builder.end_instance(&[Gold::Known(whole)]).unwrap();
        builder.observe("a", 1.0).unwrap();
        builder.end_position(&[Gold::Known(part)]).unwrap();
        builder.end_position(&[Gold::Unknown]).unwrap();
        builder.end_instance(&[Gold::Unknown]).unwrap();
        let data = builder.finish();
        assert_eq!((data.len(), data.positions()), (2, 2));
        let (empty, full) = (data.instance(0), data.instance(1));
        assert!(empty.is_empty() && empty.gold(1, 0) == Gold::Known(whole));
        assert_eq!(full.gold(0, 1), Gold::Unknown);
        assert_eq!(full.gold(1, 7), Gold::Unknown);
        let (whole, row) = empty.observed(1, 0);
        assert_eq!(whole.iter(row).collect::<Vec<_>>(), [(0, 2.0)]);
        assert!(full.observes(0, "a") && !full.observes(1, "a"));
    }

    #[test]
    fn mistakes_are_named_and_change_nothing() {
        let description = Description::factorial(&["a", "b"]);
        let mut builder = GraphDatasetBuilder::new(&description);
        builder.label(0, "x");
        let known = [Gold::Known(0), Gold::Unknown];
        let error = builder.end_position(&known[..1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "1 gold set for 2 layers with one variable per position"
        );
        let error = builder.end_position(&[known[0], Gold::Known(0)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "label 0 of layer \"b\" does not exist, there are 0 labels"
        );
        assert!(matches!(
            builder.end_position(&[Gold::Ambiguous(&[]), Gold::Unknown]),
            Err(DataError::Dataset(DatasetError::EmptyLabelSet))
        ));
        assert!(matches!(
            builder.observe("x", f32::NAN),
            Err(DataError::Value { .. })
        ));
        assert!(matches!(
            builder.observe_id(9, 1.0),
            Err(DataError::UnknownObservation { id: 9, .. })
        ));
        builder.end_position(&known).unwrap();
        builder.end_instance(&[]).unwrap();
        assert_eq!(builder.finish().positions(), 1);
    }
}
