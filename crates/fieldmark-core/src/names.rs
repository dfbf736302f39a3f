//! [`Names`]: an [`Alphabet`] that never changes again and can lie in a memory-mapped file.

use crate::Alphabet;
use crate::container::{Container, ContainerError, ContainerWriter, Shared};
use crate::kernels::prefetch;
use std::sync::Arc;

/// Distinct strings with ids `0, 1, 2, …`, found by their hash without building or touching strings.
///
/// A name that is not among them is taken for one that is with a probability of their number divided by 2^64;
/// names whose hashes collide among themselves are told apart by comparing them.
#[derive(Clone, Debug)]
pub struct Names {
    text: Shared<u8>,
    ends: Shared<u64>,
    /// An open-addressing table: hash and id + 1 (0 = empty) of each slot, two numbers each.
    slots: Shared<u64>,
    collide: bool,
}

impl Names {
    /// The names of an alphabet, with the same ids.
    pub fn new<'a>(names: impl ExactSizeIterator<Item = &'a str> + Clone) -> Self {
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(names.len());
        let size = slot_count(names.len());
        let mut slots = vec![0u64; 2 * size];
        for (id, name) in names.enumerate() {
            text.extend_from_slice(name.as_bytes());
            ends.push(text.len() as u64);
            let hash = Alphabet::hash(name);
            let mut slot = first_slot(hash, size);
            while slots[2 * slot + 1] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[2 * slot] = hash;
            slots[2 * slot + 1] = id as u64 + 1;
        }
        let collide = has_equal_hashes(&slots);
        Self {
            text: text.into(),
            ends: ends.into(),
            slots: slots.into(),
            collide,
        }
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name with the given id.
    ///
    /// # Panics
    /// When there is no such id.
    pub fn name(&self, id: u32) -> &str {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        // Seen to be text when it was read.
        std::str::from_utf8(&self.text[start..self.ends[id] as usize]).unwrap_or_default()
    }

    /// All names in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|id| self.name(id as u32))
    }

    /// The id of a name, if it is known.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.find(Alphabet::hash(name), name)
    }

    /// The id of a name whose [`Alphabet::hash`] is at hand.
    #[inline]
    pub fn find(&self, hash: u64, name: &str) -> Option<u32> {
        let slots: &[u64] = &self.slots;
        let size = slots.len() / 2;
        let mut slot = first_slot(hash, size);
        loop {
            let (found, id) = (slots[2 * slot], slots[2 * slot + 1]);
            if id == 0 {
                return None;
            }
            let id = (id - 1) as u32;
            if found == hash && (!self.collide || self.name(id) == name) {
                return Some(id);
            }
            slot = (slot + 1) & (size - 1);
        }
    }

    /// The id of a name of which only the hash is known; the name is written when hashes collide.
    #[inline]
    pub fn find_hashed(&self, hash: u64, name: impl FnOnce() -> String) -> Option<u32> {
        if self.collide {
            self.find(hash, &name())
        } else {
            self.find(hash, "")
        }
    }

    /// Gets memory ready for a [`Names::find_hashed`] that will follow soon.
    #[inline]
    pub fn expect(&self, hash: u64) {
        prefetch(&self.slots, 2 * first_slot(hash, self.slots.len() / 2));
    }

    /// Appends to `found` the ids of those of `names` that are known, in order. Much faster than one call of
    /// [`Names::get`] per name: the waits for memory overlap.
    pub fn find_all(&self, names: &[&str], found: &mut Vec<u32>) {
        let size = self.slots.len() / 2;
        let mut hashes = [0; 32];
        for names in names.chunks(hashes.len()) {
            for (hash, name) in hashes.iter_mut().zip(names) {
                *hash = Alphabet::hash(name);
                prefetch(&self.slots, 2 * first_slot(*hash, size));
            }
            let pairs = hashes.iter().zip(names);
            found.extend(pairs.filter_map(|(&hash, name)| self.find(hash, name)));
        }
    }

    /// Bytes of memory in use, or of the file that they lie in.
    pub fn memory(&self) -> usize {
        self.text.len() + (self.ends.len() + self.slots.len()) * size_of::<u64>()
    }

    /// An alphabet of the same names, to add to.
    pub fn to_alphabet(&self) -> Alphabet {
        self.iter().collect()
    }

    /// Adds the names to a container as sections that begin with `prefix`.
    pub fn write<'a>(&'a self, prefix: &str, writer: &mut ContainerWriter<'a>) {
        writer.add_array(&format!("{prefix}.text"), &self.text[..]);
        writer.add_array(&format!("{prefix}.ends"), &self.ends[..]);
        writer.add_array(&format!("{prefix}.slots"), &self.slots[..]);
        writer.add_array(&format!("{prefix}.collide"), vec![u16::from(self.collide)]);
    }

    /// The names in the sections of a container that begin with `prefix`, checked.
    pub fn read(prefix: &str, container: &Arc<Container>) -> Result<Self, ContainerError> {
        let section = |part: &str| format!("{prefix}.{part}");
        let text: Shared<u8> = container.shared(&section("text"))?;
        let ends: Shared<u64> = container.shared(&section("ends"))?;
        let slots: Shared<u64> = container.shared(&section("slots"))?;
        let wrong = |part: &str, expected: &str| {
            Err(container.wrong_section(&section(part), "something else", expected))
        };
        let Ok(string) = std::str::from_utf8(&text) else {
            return wrong("text", "names in UTF-8");
        };
        // Loops without an exit in the middle: models are opened faster than they are built.
        let rising = ends.is_sorted() && ends.last().copied().unwrap_or(0) == string.len() as u64;
        let borders = || ends.iter().map(|&end| string.is_char_boundary(end as usize));
        if !rising || !borders().fold(true, |all, one| all & one) {
            return wrong("ends", "rising ends of names that cover them all");
        }
        let ids = || slots.chunks_exact(2).map(|slot| slot[1]);
        let used: usize = ids().map(|id| usize::from(id != 0)).sum();
        if slots.len() != 2 * slot_count(ends.len()) || used != ends.len() {
            return wrong("slots", "a table with an empty slot and one slot for each name");
        }
        if ids().fold(0, u64::max) > ends.len() as u64 {
            return wrong("slots", "ids of names");
        }
        let collide = container.u16s(&section("collide"))?[..] != [0];
        Ok(Self {
            text,
            ends,
            slots,
            collide,
        })
    }
}

/// A power of two that leaves at least a third of the slots empty.
fn slot_count(names: usize) -> usize {
    (names * 3 / 2 + 1).next_power_of_two()
}

#[inline(always)]
fn first_slot(hash: u64, size: usize) -> usize {
    // The high bits, which an alphabet also uses, are as random as any.
    (hash >> 32) as usize & (size - 1)
}

/// Equal hashes begin at the same slot, so they lie in one run of used slots.
fn has_equal_hashes(slots: &[u64]) -> bool {
    let size = slots.len() / 2;
    (0..size).filter(|slot| slots[2 * slot + 1] != 0).any(|slot| {
        let mut next = (slot + 1) & (size - 1);
        while next != slot && slots[2 * next + 1] != 0 {
            if slots[2 * next] == slots[2 * slot] {
                return true;
            }
            next = (next + 1) & (size - 1);
        }
        false
    })
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_as_in_the_alphabet_and_after_a_round_trip() {
        for count in [0, 1, 2, 3, 1000] {
            let alphabet: Alphabet = (0..count).map(|i| format!("näme {i}")).collect();
            let names = Names::new(alphabet.iter());
            let mut writer = ContainerWriter::new();
            names.write("n", &mut writer);
            let container = Arc::new(Container::from_bytes(writer.to_bytes().unwrap()).unwrap());
            let read = Names::read("n", &container).unwrap();
            assert_eq!(read, names);
            for names in [&names, &read] {
                let mut asked: Vec<&str> = alphabet.iter().collect();
                asked.push("unknown");
                let mut found = Vec::new();
                names.find_all(&asked, &mut found);
                assert!(found.iter().copied().eq(0..count));
                for (id, name) in alphabet.iter().enumerate() {
                    assert_eq!(names.get(name), Some(id as u32));
                    assert_eq!(names.name(id as u32), name);
                }
                assert_eq!(names.get("absent"), None);
                assert_eq!(names.to_alphabet(), alphabet);
            }
        }
    }

    #[test]
    fn a_table_that_does_not_fit_is_refused() {
        let names = Names::new(["a", "b"].iter().copied());
        let cases: [(Vec<u8>, Vec<u64>, Vec<u64>); 6] = [
            (vec![b'a', 0xff], vec![1, 2], names.slots.to_vec()),
            (b"ab".to_vec(), vec![2, 1], names.slots.to_vec()),
            (b"ab".to_vec(), vec![1], names.slots.to_vec()),
            (b"ab".to_vec(), vec![1, 2], vec![0; 8]),
            (b"ab".to_vec(), vec![1, 2], vec![1, 9, 1, 1, 0, 0, 0, 0]),
            (b"ab".to_vec(), vec![1, 2], vec![1, 1, 1, 2]),
        ];
        for (text, ends, slots) in cases {
            let mut writer = ContainerWriter::new();
            writer
                .add_array("n.text", text)
                .add_array("n.ends", ends)
                .add_array("n.slots", slots);
            let container = Arc::new(Container::from_bytes(writer.to_bytes().unwrap()).unwrap());
            assert!(Names::read("n", &container).is_err());
        }
    }
}
