//! [`Alphabet`]: strings to dense ids and back.

use crate::name_hash;

/// An ordered set of distinct strings with ids `0, 1, 2, …` in order of first appearance.
///
/// All names lie in one buffer, so an entry costs its bytes, one offset and about two table slots of 8 bytes.
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
    table: Table,
}

impl Alphabet {
    /// An empty alphabet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty alphabet with room for `names` names of `bytes` bytes in all.
    pub fn with_capacity(names: usize, bytes: usize) -> Self {
        let mut table = Table::default();
        table.grow_for(names);
        Self {
            names: String::with_capacity(bytes),
            ends: Vec::with_capacity(names),
            table,
        }
    }

    /// The 64-bit hash of a name, stable across platforms and versions: model files rely on it. How it is
    /// made from parts of the name is told in [`name_hash`].
    #[inline]
    pub fn hash(name: &str) -> u64 {
        name_hash::of(name)
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
    /// When the alphabet would hold more than 2^31 names (that takes over 50 GB of memory first).
    #[inline]
    pub fn intern(&mut self, name: &str) -> u32 {
        self.intern_hashed(name, Self::hash(name))
    }

    /// [`Alphabet::intern`] for a name whose [`Alphabet::hash`] the caller has at hand.
    #[inline]
    pub fn intern_hashed(&mut self, name: &str, hash: u64) -> u32 {
        match self.get_hashed(name, hash) {
            Some(id) => id,
            None => self.add(name, hash),
        }
    }

    /// Appends the id of each of `names` to `ids`. Much faster than one call of [`Alphabet::intern`] per name.
    pub fn intern_all(&mut self, names: &[&str], ids: &mut Vec<u32>) {
        for names in names.chunks(BATCH) {
            let batch = Batch::new(self, names);
            for (i, name) in names.iter().enumerate() {
                ids.push(match batch.found(self, name, i) {
                    Some(id) => id,
                    // An earlier name of the batch may have been the same.
                    None => self.intern_hashed(name, batch.hashes[i]),
                });
            }
        }
    }

    /// Calls `each` with the id of each of `names`, or `None`. Much faster than one call of
    /// [`Alphabet::get`] per name.
    pub fn get_all(&self, names: &[&str], mut each: impl FnMut(Option<u32>)) {
        for names in names.chunks(BATCH) {
            let batch = Batch::new(self, names);
            for (i, name) in names.iter().enumerate() {
                each(match batch.found(self, name, i) {
                    None if batch.candidates[i] != NONE => self.get_hashed(name, batch.hashes[i]),
                    found => found,
                });
            }
        }
    }

    /// The id of `name`, if it is known.
    #[inline]
    pub fn get(&self, name: &str) -> Option<u32> {
        self.get_hashed(name, Self::hash(name))
    }

    /// [`Alphabet::get`] for a name whose [`Alphabet::hash`] the caller has at hand.
    #[inline]
    pub fn get_hashed(&self, name: &str, hash: u64) -> Option<u32> {
        self.table.find(hash, |id| self.name(id) == name)
    }

    /// The name with the given id.
    ///
    /// # Panics
    /// When `id` was not handed out by this alphabet.
    #[inline]
    pub fn name(&self, id: u32) -> &str {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.names[start..self.ends[id]]
    }

    /// All names in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.ends.len()).map(|id| self.name(id as u32))
    }

    /// Gives back the memory that growing left over.
    pub fn shrink_to_fit(&mut self) {
        self.names.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.names.capacity() + self.ends.capacity() * size_of::<usize>() + self.table.slots.capacity() * 8
    }

    #[cold]
    fn add(&mut self, name: &str, hash: u64) -> u32 {
        assert!(self.ends.len() < 1 << 31, "an alphabet holds at most 2^31 names");
        let id = self.ends.len() as u32;
        self.names.push_str(name);
        self.ends.push(self.names.len());
        self.table.grow_for(self.ends.len());
        self.table.insert(Table::tag(hash), id);
        id
    }
}

/// Names that are looked up together.
///
/// A lookup in a large alphabet waits for memory three times: for the slot, for the ends and for the name.
/// Here each of the three is a loop over the names without a branch that depends on what it loads, so that
/// the waits of a batch overlap.
struct Batch {
    hashes: [u64; BATCH],
    candidates: [u32; BATCH],
    spans: [(usize, usize); BATCH],
    first_bytes: [u8; BATCH],
}

const BATCH: usize = 32;
const NONE: u32 = u32::MAX;

impl Batch {
    #[inline]
    fn new(alphabet: &Alphabet, names: &[&str]) -> Self {
        let count = names.len().min(BATCH);
        let mut batch = Self {
            hashes: [0; BATCH],
            candidates: [NONE; BATCH],
            spans: [(0, 0); BATCH],
            first_bytes: [0; BATCH],
        };
        for (hash, name) in batch.hashes.iter_mut().zip(names) {
            *hash = Alphabet::hash(name);
        }
        if alphabet.is_empty() {
            return batch;
        }
        let table = &alphabet.table;
        let mut slots = [FREE; BATCH];
        for (slot, &hash) in slots.iter_mut().zip(&batch.hashes[..count]) {
            *slot = table.slots[table.home(Table::tag(hash))];
        }
        for (candidate, (&slot, &hash)) in batch
            .candidates
            .iter_mut()
            .zip(slots.iter().zip(&batch.hashes[..count]))
        {
            *candidate = match slot {
                FREE => NONE,
                slot if (slot >> 32) as u32 == Table::tag(hash) => slot as u32,
                _ => table.find(hash, |_| true).unwrap_or(NONE),
            };
        }
        for (span, &candidate) in batch.spans.iter_mut().zip(&batch.candidates[..count]) {
            // Without a candidate, any name will do.
            let id = if candidate == NONE { 0 } else { candidate as usize };
            let start = alphabet.ends[id.saturating_sub(1)];
            *span = (if id == 0 { 0 } else { start }, alphabet.ends[id]);
        }
        let bytes = alphabet.names.as_bytes();
        for (first, span) in batch.first_bytes.iter_mut().zip(&batch.spans[..count]) {
            *first = bytes.get(span.0).copied().unwrap_or_default();
        }
        batch
    }

    /// The candidate for the `i`-th name, if it is the name.
    #[inline]
    fn found(&self, alphabet: &Alphabet, name: &str, i: usize) -> Option<u32> {
        let (start, end) = self.spans[i];
        let same = self.candidates[i] != NONE
            && name
                .as_bytes()
                .first()
                .is_none_or(|&first| first == self.first_bytes[i])
            && alphabet.names.as_bytes()[start..end] == *name.as_bytes();
        same.then_some(self.candidates[i])
    }
}

/// Open addressing with linear probing. A slot holds half of the hash above an id, so that growing the table
/// and most misses never touch the names. A general hash table would hide the slots that a [`Batch`] needs.
#[derive(Clone, Default)]
struct Table {
    /// A power of two of them, or none at all.
    slots: Vec<u64>,
}

const FREE: u64 = u64::MAX;

impl Table {
    #[inline]
    fn tag(hash: u64) -> u32 {
        (hash >> 32) as u32
    }

    /// The slot where the search for a tag begins: its leading bits.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.slots.len() as u64) >> 32) as usize
    }

    /// The first id with the tag of `hash` that is the one.
    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let tag = Self::tag(hash);
        let mask = self.slots.len() - 1;
        let mut at = self.home(tag) & mask;
        loop {
            let slot = self.slots[at & mask];
            if slot == FREE {
                return None;
            }
            if (slot >> 32) as u32 == tag && is_it(slot as u32) {
                return Some(slot as u32);
            }
            at += 1;
        }
    }

    /// Makes the table large enough to be at most two thirds full with `names` names.
    fn grow_for(&mut self, names: usize) {
        if names * 3 <= self.slots.len() * 2 {
            return;
        }
        let size = (names * 3 / 2 + 1).next_power_of_two().max(16);
        let old = std::mem::replace(&mut self.slots, vec![FREE; size]);
        for slot in old.into_iter().filter(|&slot| slot != FREE) {
            self.insert((slot >> 32) as u32, slot as u32);
        }
    }

    fn insert(&mut self, tag: u32, id: u32) {
        let mask = self.slots.len() - 1;
        let mut at = self.home(tag);
        while self.slots[at & mask] != FREE {
            at += 1;
        }
        self.slots[at & mask] = u64::from(tag) << 32 | u64::from(id);
    }
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

    #[test]
    fn batches_do_what_single_calls_do() {
        let names: Vec<String> = (0..3000).map(|i| format!("{}", i * i % 701)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let single: Alphabet = names.iter().collect();
        let expected: Vec<u32> = names.iter().map(|name| single.get(name).unwrap()).collect();
        let (mut batched, mut ids) = (Alphabet::new(), Vec::new());
        batched.intern_all(&names, &mut ids);
        assert_eq!(ids, expected);
        assert_eq!(batched, single);

        let mut found = Vec::new();
        let asked = ["0", "absent", "", "4", "-1"];
        batched.get_all(&asked, |id| found.push(id));
        assert_eq!(found, asked.map(|name| single.get(name)));
    }

    #[test]
    fn names_with_the_same_tag_are_told_apart() {
        let mut alphabet = Alphabet::new();
        let same = 7 << 32;
        let ids: Vec<u32> = ["a", "b", "c"]
            .iter()
            .map(|name| alphabet.intern_hashed(name, same))
            .collect();
        assert_eq!(ids, [0, 1, 2]);
        assert_eq!(alphabet.get_hashed("c", same + 1), Some(2));
        assert_eq!(alphabet.get_hashed("d", same), None);
    }

    #[test]
    fn probing_goes_around_the_end_of_the_table() {
        let mut alphabet = Alphabet::new();
        let last = u64::from(u32::MAX) << 32;
        for i in 0..8 {
            assert_eq!(alphabet.intern_hashed(&i.to_string(), last - (i << 40)), i as u32);
        }
        for i in 0..8 {
            assert_eq!(
                alphabet.get_hashed(&i.to_string(), last - (i << 40)),
                Some(i as u32)
            );
        }
    }
}
