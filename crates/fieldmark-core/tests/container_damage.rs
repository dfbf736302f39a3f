//! No damage goes unnoticed: whatever happens to a model file, opening it gives an error or the same model.

use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_core::random::SplitMix64;
use std::ops::Range;

/// A small file with every kind of part: header, table, names, gaps, empty and odd sections.
fn sample(salt: u32) -> Vec<u8> {
    let numbers: Vec<u32> = (0..21)
        .map(|i| u32::wrapping_mul(i, 2_654_435_761) ^ salt)
        .collect();
    let mut writer = ContainerWriter::new();
    writer
        .add_str("about", format!("sample {salt}"))
        .add_section("nothing", Vec::new())
        .add_u32s("ids", numbers)
        .add_f64s("weights", vec![0.0; 5])
        .add_section("odd", vec![0; 3]);
    writer.to_bytes().unwrap()
}

/// Everything that a reader can see of a file.
fn content(bytes: &[u8]) -> Option<Vec<(String, String, Vec<u8>)>> {
    let container = Container::from_bytes(bytes.to_vec()).ok()?;
    let section =
        |s: fieldmark_core::container::Section<'_>| (s.name.to_owned(), s.kind.to_string(), s.bytes.to_vec());
    Some(container.sections().map(section).collect())
}

#[test]
fn every_flipped_bit_is_an_error() {
    let mut bytes = sample(1);
    assert!(content(&bytes).is_some());
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(
            content(&bytes).is_none(),
            "bit {} of byte {} went unnoticed",
            bit % 8,
            bit / 8
        );
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_other_length_is_an_error() {
    let bytes = sample(1);
    for length in 0..bytes.len() {
        assert!(
            content(&bytes[..length]).is_none(),
            "the first {length} bytes were accepted"
        );
        assert!(
            content(&bytes[bytes.len() - length..]).is_none(),
            "the last {length} bytes were accepted"
        );
    }
    for extra in 1..130 {
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + extra, 0);
        assert!(
            content(&longer).is_none(),
            "{extra} bytes at the end were accepted"
        );
    }
}

struct Random(SplitMix64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.0.bits() % limit as u64) as usize
    }

    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below(length - start + 1)
    }

    /// One accident: what disks, networks and editors do to files.
    fn damage(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len().max(1));
        match self.below(8) {
            _ if bytes.is_empty() => bytes.push(self.below(256) as u8),
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.below(256) as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(self.range(bytes.len()))),
            4 => {
                let copy = bytes[self.range(bytes.len())].to_vec();
                bytes.splice(at..at, copy);
            }
            5 => {
                let range = self.range(bytes.len());
                bytes[range].fill(0);
            }
            6 => {
                let range = self.range(bytes.len().min(other.len()));
                bytes[range.clone()].copy_from_slice(&other[range]);
            }
            _ => {
                let range = self.range(other.len());
                bytes.splice(at.., other[range].iter().copied());
            }
        }
    }
}

#[test]
fn accidents_give_an_error_or_the_same_model() {
    let originals = [sample(1), sample(2), ContainerWriter::new().to_bytes().unwrap()];
    let sound: Vec<_> = originals.iter().map(|bytes| content(bytes).unwrap()).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    let mut random = Random::new(1);
    let mut errors = 0;
    for round in 0..6000 {
        let mut bytes = originals[random.below(3)].clone();
        for _ in 0..=random.below(3) {
            let other = random.below(3);
            random.damage(&mut bytes, &originals[other]);
        }
        match content(&bytes) {
            Some(content) => assert!(sound.contains(&content), "round {round} made a new model"),
            None => errors += 1,
        }
        if round % 20 == 0 {
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(
                Container::open(&path).is_ok(),
                content(&bytes).is_some(),
                "round {round}, mapped"
            );
        }
    }
    assert!(errors > 5000, "only {errors} rounds did any damage");
}
