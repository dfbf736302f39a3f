//! [`Numbering`]: which number an observation has.

use fieldmark_core::{Alphabet, Names};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Gives observations their numbers.
pub trait Numbering {
    /// The number of the observation with this [hash](Alphabet::hash), if it has one; `name` writes its name.
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32>;

    /// Says that a hash will be asked for soon.
    fn expect(&self, _hash: u64) {}
}

/// New observations get new numbers.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    /// Names in the order of their numbers.
    pub names: Alphabet,
    numbers: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
}

impl Growing {
    /// Begins with the names of a model.
    pub fn with_names(names: Alphabet) -> Self {
        let numbers = names.iter().zip(0..);
        let numbers = numbers.map(|(name, number)| (Alphabet::hash(name), number));
        Self {
            numbers: numbers.collect(),
            names,
        }
    }

    /// The number of an observation that was there before.
    pub fn get(&self, hash: u64) -> Option<u32> {
        self.numbers.get(&hash).copied()
    }
}

impl Numbering for Growing {
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32> {
        let names = &mut self.names;
        Some(
            *self
                .numbers
                .entry(hash)
                .or_insert_with(|| names.intern_hashed(&name(), hash)),
        )
    }
}

impl<N: Numbering> Numbering for &mut N {
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32> {
        (**self).number(hash, name)
    }

    fn expect(&self, hash: u64) {
        (**self).expect(hash);
    }
}

impl Numbering for &Names {
    #[inline]
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32> {
        self.find_hashed(hash, name)
    }

    #[inline]
    fn expect(&self, hash: u64) {
        Names::expect(self, hash);
    }
}

/// A hasher for what is a hash already.
#[derive(Clone, Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
