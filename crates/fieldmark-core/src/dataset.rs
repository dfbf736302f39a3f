//! [`Dataset`]: sequences of observations with gold label sets, in a few flat arrays.

use crate::Alphabet;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// The labels that are allowed at one position.
///
/// One label means that the position is known, every label that it is unknown, some that it is ambiguous.
/// Full supervision is the case in which every position is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gold<'a> {
    /// The position has this label.
    Known(u32),
    /// Nothing is known about the label.
    Unknown,
    /// The position has one of these labels (sorted, at least two).
    Ambiguous(&'a [u32]),
}

impl Gold<'_> {
    /// Whether `label` is allowed.
    pub fn allows(&self, label: u32) -> bool {
        match self {
            Gold::Known(known) => *known == label,
            Gold::Unknown => true,
            Gold::Ambiguous(set) => set.binary_search(&label).is_ok(),
        }
    }
}

/// Observations of many positions in compressed rows: position `t` has `ids[offsets[t]..offsets[t + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    offsets: Vec<u32>,
    ids: Vec<u32>,
    /// Parallel to `ids`, or empty when every value is 1.
    values: Vec<f32>,
}

impl Observations {
    /// The ids of the observations at a position (none when the position has no row).
    pub fn ids(&self, position: usize) -> &[u32] {
        &self.ids[self.range(position)]
    }

    /// The values that belong to [`Observations::ids`], or `None` when all of them are 1.
    pub fn values(&self, position: usize) -> Option<&[f32]> {
        (!self.values.is_empty()).then(|| &self.values[self.range(position)])
    }

    /// Ids and values at a position.
    pub fn iter(&self, position: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.range(position);
        let values = if self.values.is_empty() {
            &[][..]
        } else {
            &self.values[range.clone()]
        };
        let ones = std::iter::repeat(1.0);
        self.ids[range]
            .iter()
            .copied()
            .zip(values.iter().copied().chain(ones))
    }

    /// Whether every value is 1.
    pub fn all_ones(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of observations over all positions.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no position has an observation.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Every id, in the order of positions.
    pub fn all_ids(&self) -> &[u32] {
        &self.ids
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        (self.offsets.capacity() + self.ids.capacity() + self.values.capacity()) * 4
    }

    fn range(&self, position: usize) -> Range<usize> {
        // Observations of a kind that the data never uses have no offsets at all.
        if self.offsets.is_empty() {
            0..0
        } else {
            self.offsets[position] as usize..self.offsets[position + 1] as usize
        }
    }

    #[inline]
    fn push(&mut self, id: u32, value: f32) {
        if value != 1.0 || !self.values.is_empty() {
            self.push_value(value);
        }
        self.ids.push(id);
    }

    /// Gives the value 1 to ids that were added without a value.
    #[inline]
    fn fill_values(&mut self) {
        if !self.values.is_empty() {
            self.values.resize(self.ids.len(), 1.0);
        }
    }

    fn push_value(&mut self, value: f32) {
        self.values.resize(self.ids.len(), 1.0);
        self.values.push(value);
    }

    /// Adds the rows of `other`, of which there are `rows`, behind the `position` rows that are here.
    fn append(
        &mut self,
        position: usize,
        other: &Observations,
        rows: usize,
        mut id: impl FnMut(u32) -> u32,
    ) -> Result<(), DatasetError> {
        let start = self.ids.len();
        let end = start + other.ids.len();
        if end > u32::MAX as usize {
            return Err(DatasetError::TooManyObservations);
        }
        if end == 0 {
            return Ok(());
        }
        if self.offsets.is_empty() {
            self.offsets.resize(position + 1, 0);
        }
        if !(self.values.is_empty() && other.values.is_empty()) {
            self.values.resize(start, 1.0);
            self.values.extend_from_slice(&other.values);
            self.values.resize(end, 1.0);
        }
        self.ids.extend(other.ids.iter().map(|&local| id(local)));
        match other.offsets.get(1..) {
            Some(ends) => self.offsets.extend(ends.iter().map(|&end| start as u32 + end)),
            None => self.offsets.resize(position + 1 + rows, end as u32),
        }
        Ok(())
    }

    fn shrink_to_fit(&mut self) {
        self.offsets.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Closes the row of the position with this index.
    #[inline]
    fn close(&mut self, position: usize) -> Result<(), DatasetError> {
        if self.ids.is_empty() && self.offsets.is_empty() {
            return Ok(());
        }
        let end = u32::try_from(self.ids.len()).map_err(|_| DatasetError::TooManyObservations)?;
        if self.offsets.is_empty() {
            self.offsets.resize(position + 1, 0);
        }
        self.offsets.push(end);
        Ok(())
    }
}

/// An end of the step between neighbouring positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// The earlier position.
    Left,
    /// The later position.
    Right,
}

/// Sequences for training or tagging: observations and gold label sets.
///
/// Positions of all instances are numbered through; [`Dataset::instance`] gives the range of one.
/// `unary` observations describe a position, `pair` observations the step into a position from the one
/// before it (CRF++'s `B` templates); both draw their ids from [`Dataset::observations`].
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Names of the labels.
    pub labels: Alphabet,
    /// Names of the observations.
    pub observations: Alphabet,
    /// Observations of positions.
    pub unary: Observations,
    /// Observations of steps between neighbouring positions.
    pub pair: Observations,
    gold: Vec<u32>,
    sets: Vec<Box<[u32]>>,
    borders: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;
/// Codes from here up to `UNKNOWN` are indices into the table of ambiguous sets.
const FIRST_SET: u32 = 1 << 31;

/// One sequence of a [`Dataset`].
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// The data set that it belongs to.
    pub dataset: &'a Dataset,
    start: usize,
    end: usize,
}

impl<'a> Instance<'a> {
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

    /// The gold set of the `t`-th position.
    pub fn gold(&self, t: usize) -> Gold<'a> {
        self.dataset.gold(self.start + t)
    }

    /// Whether every position is known.
    pub fn fully_labelled(&self) -> bool {
        self.positions()
            .all(|t| matches!(self.dataset.gold(t), Gold::Known(_)))
    }
}

impl Dataset {
    /// Number of instances.
    pub fn len(&self) -> usize {
        self.borders.len() - 1
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of positions in all instances.
    pub fn positions(&self) -> usize {
        self.gold.len()
    }

    /// The instance with this index.
    pub fn instance(&self, index: usize) -> Instance<'_> {
        Instance {
            dataset: self,
            start: self.borders[index] as usize,
            end: self.borders[index + 1] as usize,
        }
    }

    /// All instances in order.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = Instance<'_>> {
        (0..self.len()).map(|index| self.instance(index))
    }

    /// The gold set of a position.
    pub fn gold(&self, position: usize) -> Gold<'_> {
        match self.gold[position] {
            UNKNOWN => Gold::Unknown,
            code if code >= FIRST_SET => Gold::Ambiguous(&self.sets[(code - FIRST_SET) as usize]),
            label => Gold::Known(label),
        }
    }

    /// Describes every step by the observations of one of its ends ("enriched bigrams").
    ///
    /// Replaces the pair observations. The first position of an instance has no step into it.
    pub fn observe_steps(&mut self, end: StepEnd) {
        let mut pair = Observations::default();
        let values = !self.unary.all_ones();
        pair.offsets.push(0);
        for instance in self.instances() {
            for position in instance.positions() {
                if position > instance.positions().start {
                    let from = match end {
                        StepEnd::Left => position - 1,
                        StepEnd::Right => position,
                    };
                    pair.ids.extend_from_slice(self.unary.ids(from));
                    if values {
                        pair.values
                            .extend_from_slice(self.unary.values(from).unwrap_or_default());
                    }
                }
                // No more than the unary observations, which were counted.
                pair.offsets.push(pair.ids.len() as u32);
            }
        }
        self.pair = pair;
    }

    /// A hash of names, observations, labels and borders: equal for equal data.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        for alphabet in [&self.labels, &self.observations] {
            for name in alphabet.iter() {
                hash.update(name.as_bytes());
                hash.update(&[0xff]);
            }
        }
        for observations in [&self.unary, &self.pair] {
            for numbers in [&observations.offsets, &observations.ids] {
                numbers
                    .iter()
                    .for_each(|number| hash.update(&number.to_le_bytes()));
            }
            observations
                .values
                .iter()
                .for_each(|value| hash.update(&value.to_le_bytes()));
        }
        for numbers in [&self.gold, &self.borders]
            .into_iter()
            .map(|v| &v[..])
            .chain(self.sets.iter().map(|s| &s[..]))
        {
            numbers
                .iter()
                .for_each(|number| hash.update(&number.to_le_bytes()));
        }
        hash.digest()
    }

    /// Frees the observations of all positions; their names, the gold sets and the instances stay.
    pub fn forget_observations(&mut self) {
        self.unary = Observations::default();
        self.pair = Observations::default();
    }

    /// Bytes of memory in use, names included.
    pub fn memory(&self) -> usize {
        self.labels.memory()
            + self.observations.memory()
            + self.unary.memory()
            + self.pair.memory()
            + (self.gold.capacity() + self.borders.capacity()) * 4
    }
}

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
    gold: Vec<u32>,
    sets: Vec<Box<[u32]>>,
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
            gold: Vec::new(),
            sets: Vec::new(),
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
        self.observations.intern_all(names, &mut self.unary.ids);
        self.unary.fill_values();
    }

    /// Adds observations with the value 1 to the open position.
    #[inline]
    pub fn observe_all(&mut self, ids: &[u32]) {
        self.unary.ids.extend_from_slice(ids);
        self.unary.fill_values();
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
        let code = match gold {
            Gold::Known(label) => label,
            Gold::Unknown => UNKNOWN,
            Gold::Ambiguous(set) => self.intern_set(set)?,
        };
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
        let mut sets = Vec::with_capacity(part.sets.len());
        for set in &part.sets {
            let set: Vec<u32> = set.iter().map(|&id| label(id)).collect();
            sets.push(self.intern_set(&set)?);
        }
        self.gold.extend(part.gold.iter().map(|&code| match code {
            UNKNOWN => UNKNOWN,
            code if code >= FIRST_SET => sets[(code - FIRST_SET) as usize],
            id => label(id),
        }));
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
            sets: self.sets,
            borders: self.borders,
        }
    }

    fn intern_set(&mut self, set: &[u32]) -> Result<u32, DatasetError> {
        let mut sorted = set.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        match sorted[..] {
            [] => return Err(DatasetError::EmptyLabelSet),
            [label] => return Ok(label),
            _ => {}
        }
        let index = match self.sets.iter().position(|known| **known == sorted[..]) {
            Some(index) => index,
            None => {
                self.sets.push(sorted.into_boxed_slice());
                self.sets.len() - 1
            }
        };
        Ok(FIRST_SET + index as u32)
    }
}

/// What a data set cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DatasetError {
    /// More than 2^32 - 1 observations in all.
    #[error(
        "a data set holds at most {} observations in all positions together",
        u32::MAX
    )]
    TooManyObservations,
    /// More than 2^32 - 1 positions in all.
    #[error("a data set holds at most {} positions", u32::MAX)]
    TooManyPositions,
    /// A gold set without a label.
    #[error("a position must allow at least one label")]
    EmptyLabelSet,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_appear_with_the_first_one_that_is_not_one() {
        let mut builder = DatasetBuilder::new();
        builder.observe(3, 1.0);
        builder.end_position(Gold::Known(0)).unwrap();
        builder.observe(4, 0.5);
        builder.observe(5, 1.0);
        builder.end_position(Gold::Unknown).unwrap();
        builder.end_position(Gold::Ambiguous(&[2, 1, 2])).unwrap();
        let data = builder.finish();
        assert_eq!(data.len(), 1);
        assert_eq!(data.unary.values(0), Some(&[1.0][..]));
        assert_eq!(data.unary.iter(1).collect::<Vec<_>>(), [(4, 0.5), (5, 1.0)]);
        assert_eq!(data.unary.ids(2), [0; 0]);
        assert_eq!(data.gold(1), Gold::Unknown);
        assert_eq!(data.gold(2), Gold::Ambiguous(&[1, 2]));
        assert!(data.pair.is_empty() && data.pair.ids(1).is_empty());
    }

    #[test]
    fn pair_observations_may_start_late() {
        let mut builder = DatasetBuilder::new();
        for t in 0..4 {
            if t == 2 {
                builder.observe_pair(7, 1.0);
            }
            builder.end_position(Gold::Known(0)).unwrap();
        }
        let data = builder.finish();
        let rows: Vec<Vec<u32>> = (0..4).map(|t| data.pair.ids(t).to_vec()).collect();
        assert_eq!(rows, [vec![], vec![], vec![7], vec![]]);
    }

    #[test]
    fn many_observations_at_once_are_the_same_as_one_by_one() {
        let (mut one_by_one, mut at_once) = (DatasetBuilder::new(), DatasetBuilder::new());
        for value in [1.0, 0.5, 1.0] {
            for name in ["a", "b", "a"] {
                let id = one_by_one.observations.intern(name);
                one_by_one.observe(id, 1.0);
            }
            at_once.observe_names(&["a", "b"]);
            at_once.observe_all(&[0]);
            one_by_one.observe(1, value);
            at_once.observe(1, value);
            one_by_one.end_position(Gold::Unknown).unwrap();
            at_once.end_position(Gold::Unknown).unwrap();
        }
        assert_eq!(one_by_one.finish(), at_once.finish());
    }

    #[test]
    fn parts_make_the_same_data_set_as_one_go() {
        let fill = |builder: &mut DatasetBuilder, step: usize| {
            let names =
                ["a", "b", "c"].map(|name| builder.observations.intern(&format!("{name}{}", step % 2)));
            let labels = ["X", "Y"].map(|name| builder.labels.intern(name));
            builder.observe(names[step % 3], if step == 4 { 2.0 } else { 1.0 });
            if step >= 3 {
                builder.observe_pair(names[0], 1.0);
            }
            builder.end_position(Gold::Known(labels[step % 2])).unwrap();
            builder.end_position(Gold::Ambiguous(&labels)).unwrap();
            builder.end_position(Gold::Unknown).unwrap();
            builder.end_instance().unwrap();
        };
        let (mut whole, mut appended) = (DatasetBuilder::new(), DatasetBuilder::new());
        for step in 0..7 {
            fill(&mut whole, step);
            let mut part = DatasetBuilder::new();
            fill(&mut part, step);
            appended.append(&part.finish_part()).unwrap();
        }
        appended.append(&DatasetBuilder::new().finish()).unwrap();
        let whole = whole.finish();
        assert_eq!(appended.finish(), whole);

        let mut numbered = DatasetBuilder::with_alphabets(whole.labels.clone(), whole.observations.clone());
        numbered.append_numbered(&whole).unwrap();
        assert_eq!(numbered.finish(), whole);
    }

    #[test]
    fn instances_tile_the_positions() {
        let mut builder = DatasetBuilder::new();
        for _ in 0..2 {
            builder.end_position(Gold::Known(0)).unwrap();
            builder.end_instance().unwrap();
            builder.end_instance().unwrap();
        }
        builder.end_position(Gold::Known(1)).unwrap();
        let data = builder.finish();
        let ranges: Vec<_> = data.instances().map(|instance| instance.positions()).collect();
        assert_eq!(ranges, [0..1, 1..2, 2..3]);
    }
}
