//! Right checksums for mutated model files.

use xxhash_rust::xxh3::xxh3_64;

/// Makes the checksums right that header and table point to, and the length of the file too if asked.
pub fn seal(file: &mut [u8], length: bool) {
    const HEADER: usize = 64;
    const ENTRY: usize = 32;
    if file.len() < HEADER {
        return;
    }
    if length {
        put(file, 16, file.len() as u64);
    }
    let count = u32::from_le_bytes(std::array::from_fn(|i| file[12 + i])) as usize;
    let room = (file.len() - HEADER) / ENTRY;
    for entry in (0..count.min(room)).map(|i| HEADER + i * ENTRY) {
        let start = get(file, entry);
        if let Some(data) = slice(file, start, get(file, entry + 8)) {
            put(file, entry + 16, xxh3_64(data));
        }
    }
    if let Some(table) = slice(file, HEADER as u64, get(file, 24)) {
        put(file, 32, xxh3_64(table));
    }
    put(file, 56, xxh3_64(&file[..56]));
}

fn slice(file: &[u8], start: u64, length: u64) -> Option<&[u8]> {
    file.get(usize::try_from(start).ok()?..usize::try_from(start.checked_add(length)?).ok()?)
}

fn get(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| file[at + i]))
}

fn put(file: &mut [u8], at: usize, value: u64) {
    file[at..at + 8].copy_from_slice(&value.to_le_bytes());
}
