//! [`Gold`]: what is known of the label of a position, and how the gold of all positions is kept.

use super::DatasetError;
use std::collections::HashMap;

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

const UNKNOWN: u32 = u32::MAX;
/// Codes from here up to `UNKNOWN` are indices into the table of ambiguous sets.
const FIRST_SET: u32 = 1 << 31;

/// The gold sets of all positions: a code for each, and a table of the ambiguous sets that occur.
///
/// A [`Dataset`](super::Dataset) has one of them; models with several variables at a position have one for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoldSets {
    codes: Vec<u32>,
    sets: Vec<Box<[u32]>>,
    /// Where each set is.
    places: HashMap<Box<[u32]>, u32>,
}

impl GoldSets {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The gold set of a position.
    ///
    /// # Panics
    /// If the position does not exist.
    pub fn get(&self, position: usize) -> Gold<'_> {
        match self.codes[position] {
            UNKNOWN => Gold::Unknown,
            code if code >= FIRST_SET => Gold::Ambiguous(&self.sets[(code - FIRST_SET) as usize]),
            label => Gold::Known(label),
        }
    }

    /// Adds a position. An ambiguous set may come in any order and with repeats; of one label it means that label.
    pub fn add(&mut self, gold: Gold<'_>) -> Result<(), DatasetError> {
        let code = self.encode(gold)?;
        self.push(code);
        Ok(())
    }

    /// The code of a gold set, for [`GoldSets::push`].
    #[inline]
    pub(super) fn encode(&mut self, gold: Gold<'_>) -> Result<u32, DatasetError> {
        match gold {
            Gold::Known(label) => Ok(label),
            Gold::Unknown => Ok(UNKNOWN),
            Gold::Ambiguous(set) => self.intern(set.to_vec()),
        }
    }

    /// Adds a position by its code.
    #[inline]
    pub(super) fn push(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// Adds the positions of `other`, whose labels are renumbered.
    pub(super) fn append(
        &mut self,
        other: &GoldSets,
        label: impl Fn(u32) -> u32,
    ) -> Result<(), DatasetError> {
        let mut sets = Vec::with_capacity(other.sets.len());
        for set in &other.sets {
            sets.push(self.intern(set.iter().map(|&id| label(id)).collect())?);
        }
        self.codes.extend(other.codes.iter().map(|&code| match code {
            UNKNOWN => UNKNOWN,
            code if code >= FIRST_SET => sets[(code - FIRST_SET) as usize],
            id => label(id),
        }));
        Ok(())
    }

    /// The numbers that hold all there is: a code per position, and the sets.
    pub fn numbers(&self) -> (&[u32], impl Iterator<Item = &[u32]>) {
        (&self.codes, self.sets.iter().map(|set| &set[..]))
    }

    /// Gives spare memory back.
    pub fn shrink_to_fit(&mut self) {
        self.codes.shrink_to_fit();
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        let sets: usize = self.sets.iter().map(|set| 2 * (4 * set.len() + 16)).sum();
        self.codes.capacity() * 4 + sets
    }

    fn intern(&mut self, mut set: Vec<u32>) -> Result<u32, DatasetError> {
        set.sort_unstable();
        set.dedup();
        match set[..] {
            [] => return Err(DatasetError::EmptyLabelSet),
            [label] => return Ok(label),
            _ => {}
        }
        if let Some(&place) = self.places.get(&set[..]) {
            return Ok(FIRST_SET + place);
        }
        let (place, set) = (self.sets.len() as u32, set.into_boxed_slice());
        self.sets.push(set.clone());
        self.places.insert(set, place);
        Ok(FIRST_SET + place)
    }
}
