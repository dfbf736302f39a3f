//! [`DatasetBuilder`]: filling a data set position by position, or part by part.

use super::gold::GoldSets;
use super::{Dataset, DatasetError, Gold, Observations};
use crate::Alphabet;

/// Fills a [`Dataset`] position by position.
///
/// ```
/// use fieldmark_core::{DatasetBuilder, Gold};
/// let mut builder = DatasetBuilder::new();
/// let word = builder.observations.intern("word=Paris");
/// let label = builder.labels.intern("B-LOC");
/// builder.observe(word, 1.0);
/// builder.end_position(Gold::Known(label))?;
/// builder.end_instance()?;
/// let data = builder.finish();
/// assert_eq!(data.instance(0).gold(0), Gold::Known(label));
/// assert_eq!(data.unary.ids(0), [word]);
/// # Ok::<(), fieldmark_core::dataset::DatasetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DatasetBuilder {
    /// Names of the labels; intern into it freely.
    pub labels: Alphabet,
    /// Names of the observations; intern into it freely.
    pub observations: Alphabet,
    unary: Observations,
    pair: Observations,
    gold: GoldSets,
    borders: Vec<u32>,
}

impl Default for DatasetBuilder {
    fn default() -> Self {
        Self::with_alphabets(Alphabet::new(), Alphabet::new())
    }
}

impl DatasetBuilder {
    /// A builder with empty alphabets.
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder that starts from the alphabets of a model or of another data set.
    pub fn with_alphabets(labels: Alphabet, observations: Alphabet) -> Self {
        Self {
            labels,
            observations,
            unary: Observations::default(),
            pair: Observations::default(),
            gold: GoldSets::default(),
            borders: vec![0],
        }
    }

    /// Adds an observation to the open position. `value` must be finite.
    #[inline]
    pub fn observe(&mut self, id: u32, value: f32) {
        debug_assert!(value.is_finite());
        self.unary.push(id, value);
    }

    /// Interns `names` and adds them to the open position with the value 1.
    #[inline]
    pub fn observe_names(&mut self, names: &[&str]) {
        self.unary
            .push_ones(|row| self.observations.intern_all(names, row));
    }

    /// Adds observations with the value 1 to the open position.
    #[inline]
    pub fn observe_all(&mut self, ids: &[u32]) {
        self.unary.push_ones(|row| row.extend_from_slice(ids));
    }

    /// Adds an observation to the step into the open position. `value` must be finite.
    #[inline]
    pub fn observe_pair(&mut self, id: u32, value: f32) {
        debug_assert!(value.is_finite());
        self.pair.push(id, value);
    }

    /// Closes the open position.
    ///
    /// An ambiguous set may come in any order and with repeats; of one label it means that label.
    #[inline]
    pub fn end_position(&mut self, gold: Gold<'_>) -> Result<(), DatasetError> {
        let position = self.gold.len();
        if position as u64 + 1 > u64::from(u32::MAX) {
            return Err(DatasetError::TooManyPositions);
        }
        let code = self.gold.encode(gold)?;
        self.unary.close(position)?;
        self.pair.close(position)?;
        self.gold.push(code);
        Ok(())
    }

    /// Closes the open instance; without a position since the last one, nothing happens.
    pub fn end_instance(&mut self) -> Result<(), DatasetError> {
        let end = u32::try_from(self.gold.len()).map_err(|_| DatasetError::TooManyPositions)?;
        if self.borders.last() != Some(&end) {
            self.borders.push(end);
        }
        Ok(())
    }

    /// Adds the instances of `part`, whose names are interned in the order of their ids.
    ///
    /// Building parts and appending them in order gives the same data set as building it in one go.
    pub fn append(&mut self, part: &Dataset) -> Result<(), DatasetError> {
        let labels: Vec<u32> = part.labels.iter().map(|name| self.labels.intern(name)).collect();
        let names: Vec<&str> = part.observations.iter().collect();
        let mut ids = Vec::with_capacity(names.len());
        self.observations.intern_all(&names, &mut ids);
        self.append_mapped(part, |label| labels[label as usize], |id| ids[id as usize])
    }

    /// Adds the instances of `part`, whose labels and observations have the numbers of this builder already.
    pub fn append_numbered(&mut self, part: &Dataset) -> Result<(), DatasetError> {
        self.append_mapped(part, |label| label, |id| id)
    }

    /// [`DatasetBuilder::append_numbered`], after `label` has renumbered the labels.
    pub fn append_relabelled(
        &mut self,
        part: &Dataset,
        label: impl Fn(u32) -> u32,
    ) -> Result<(), DatasetError> {
        self.append_mapped(part, label, |id| id)
    }

    fn append_mapped(
        &mut self,
        part: &Dataset,
        label: impl Fn(u32) -> u32,
        observation: impl Fn(u32) -> u32,
    ) -> Result<(), DatasetError> {
        self.end_instance()?;
        let position = self.gold.len();
        let rows = part.positions();
        if (position + rows) as u64 > u64::from(u32::MAX) {
            return Err(DatasetError::TooManyPositions);
        }
        self.unary.append(position, &part.unary, rows, &observation)?;
        self.pair.append(position, &part.pair, rows, &observation)?;
        self.gold.append(&part.gold, label)?;
        self.borders
            .extend(part.borders[1..].iter().map(|&border| position as u32 + border));
        Ok(())
    }

    /// Number of positions so far.
    pub fn positions(&self) -> usize {
        self.gold.len()
    }

    /// The finished data set, in memory of the right size.
    ///
    /// Positions after the last closed instance form one more instance.
    pub fn finish(mut self) -> Dataset {
        self.labels.shrink_to_fit();
        self.observations.shrink_to_fit();
        self.unary.shrink_to_fit();
        self.pair.shrink_to_fit();
        self.gold.shrink_to_fit();
        self.borders.shrink_to_fit();
        self.finish_part()
    }

    /// [`DatasetBuilder::finish`] for a part that is soon appended or dropped: spare memory stays.
    pub fn finish_part(mut self) -> Dataset {
        // The count of positions was checked when they were added.
        let end = self.gold.len() as u32;
        if self.borders.last() != Some(&end) {
            self.borders.push(end);
        }
        Dataset {
            labels: self.labels,
            observations: self.observations,
            unary: self.unary,
            pair: self.pair,
            gold: self.gold,
            borders: self.borders,
        }
    }
}
