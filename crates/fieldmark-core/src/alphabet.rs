//! [`Alphabet`]: strings to dense ids and back.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// An ordered set of distinct strings with ids `0, 1, 2, …` in order of first appearance.
///
/// All names lie in one buffer, so an entry costs its bytes, one offset and one table slot.
///
/// ```
/// use fieldmark_core::Alphabet;
/// let mut labels = Alphabet::new();
/// assert_eq!(labels.intern("B-NP"), 0);
/// assert_eq!(labels.intern("O"), 1);
/// assert_eq!(labels.intern("B-NP"), 0);
/// assert_eq!(labels.name(1), "O");
/// assert_eq!(labels.get("I-NP"), None);
/// ```
#[derive(Clone, Default)]
pub struct Alphabet {
    names: String,
    ends: Vec<usize>,
    table: HashTable<Slot>,
}

/// A table entry keeps half of the hash, so that growing the table and most misses never touch the names.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    id: u32,
}

impl Slot {
    fn table_hash(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Alphabet {
    /// An empty alphabet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty alphabet with room for `names` names of `bytes` bytes in all.
    pub fn with_capacity(names: usize, bytes: usize) -> Self {
        Self {
            names: String::with_capacity(bytes),
            ends: Vec::with_capacity(names),
            table: HashTable::with_capacity(names),
        }
    }

    /// The 64-bit hash of a name, stable across platforms and versions (XXH3, seed 0): model files rely on it.
    #[inline]
    pub fn hash(name: &str) -> u64 {
        xxh3_64(name.as_bytes())
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of `name`, which is added when it is new.
    ///
    /// # Panics
    /// When the alphabet would hold more than `u32::MAX` names (that takes over 50 GB of memory first).
    #[inline]
    pub fn intern(&mut self, name: &str) -> u32 {
        self.intern_hashed(name, Self::hash(name))
    }

    /// [`Alphabet::intern`] for a name whose [`Alphabet::hash`] the caller has at hand.
    #[inline]
    pub fn intern_hashed(&mut self, name: &str, hash: u64) -> u32 {
        let hash = (hash >> 32) as u32;
        let (names, ends) = (&self.names, &self.ends);
        let found = self.table.find(Slot::table_hash(hash), |slot| {
            slot.hash == hash && name_of(names, ends, slot.id) == name
        });
        match found {
            Some(slot) => slot.id,
            None => self.add(name, hash),
        }
    }

    #[cold]
    fn add(&mut self, name: &str, hash: u32) -> u32 {
        let id = u32::try_from(self.ends.len()).expect("an alphabet holds at most u32::MAX names");
        self.names.push_str(name);
        self.ends.push(self.names.len());
        self.table
            .insert_unique(Slot::table_hash(hash), Slot { hash, id }, |slot| {
                Slot::table_hash(slot.hash)
            });
        id
    }

    /// The id of `name`, if it is known.
    #[inline]
    pub fn get(&self, name: &str) -> Option<u32> {
        self.get_hashed(name, Self::hash(name))
    }

    /// [`Alphabet::get`] for a name whose [`Alphabet::hash`] the caller has at hand.
    #[inline]
    pub fn get_hashed(&self, name: &str, hash: u64) -> Option<u32> {
        let hash = (hash >> 32) as u32;
        self.table
            .find(Slot::table_hash(hash), |slot| {
                slot.hash == hash && self.name(slot.id) == name
            })
            .map(|slot| slot.id)
    }

    /// The name with the given id.
    ///
    /// # Panics
    /// When `id` was not handed out by this alphabet.
    pub fn name(&self, id: u32) -> &str {
        name_of(&self.names, &self.ends, id)
    }

    /// All names in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.ends.len()).map(|id| self.name(id as u32))
    }

    /// Gives back the memory that growing left over.
    pub fn shrink_to_fit(&mut self) {
        self.names.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.table.shrink_to_fit(|slot| Slot::table_hash(slot.hash));
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.names.capacity() + self.ends.capacity() * size_of::<usize>() + self.table.allocation_size()
    }
}

#[inline]
fn name_of<'a>(names: &'a str, ends: &[usize], id: u32) -> &'a str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &names[start..ends[id]]
}

impl PartialEq for Alphabet {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.ends == other.ends
    }
}

impl Eq for Alphabet {}

impl std::fmt::Debug for Alphabet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Alphabet {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut alphabet = Self::new();
        for name in names {
            alphabet.intern(name.as_ref());
        }
        alphabet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_dense_and_names_come_back() {
        let names: Vec<String> = (0..10_000).map(|i| format!("name-{}", i * 7919)).collect();
        let alphabet: Alphabet = names.iter().chain(&names).collect();
        assert_eq!(alphabet.len(), names.len());
        for (id, name) in names.iter().enumerate() {
            assert_eq!(alphabet.get(name), Some(id as u32));
            assert_eq!(alphabet.name(id as u32), name);
        }
        assert_eq!(alphabet.get("absent"), None);
        assert_eq!(alphabet.iter().collect::<Vec<_>>(), names);
    }

    #[test]
    fn the_empty_string_is_a_name() {
        let mut alphabet = Alphabet::new();
        assert_eq!(alphabet.get(""), None);
        assert_eq!(alphabet.intern(""), 0);
        assert_eq!(alphabet.intern("a"), 1);
        assert_eq!(alphabet.get(""), Some(0));
    }
}
