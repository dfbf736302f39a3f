//! Files with right checksums and wrong content: what no accident makes, but a bug or a stranger might.

use super::*;

/// Two sections of 3 and 70 bytes; table at 64, names at 128, data at 192 and 256, end at 326.
fn sample() -> Vec<u8> {
    let data: Vec<u8> = (1..=70).collect();
    let entry = |name: &str, data: &[u8]| Entry {
        name: name.to_owned(),
        kind: Kind::Bytes,
        length: data.len() as u64,
        checksum: xxh3_64(data),
    };
    let entries = [entry("first", &data[..3]), entry("other", &data)];
    let plan = Plan::new(&entries).unwrap();
    assert_eq!(
        plan,
        Plan {
            table: 74,
            offsets: vec![192, 256],
            file: 326
        }
    );
    let mut bytes = encode_head(&entries, &plan);
    bytes.resize(192, 0);
    bytes.extend_from_slice(&data[..3]);
    bytes.resize(256, 0);
    bytes.extend_from_slice(&data);
    bytes
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Makes the checksums of table and header right again.
fn seal(bytes: &mut [u8]) {
    let length = u64_at(bytes, 24) as usize;
    if let Some(table) = bytes.get(HEADER..HEADER.saturating_add(length)) {
        let sum = xxh3_64(table);
        put(bytes, 32, &sum.to_le_bytes());
    }
    let sum = xxh3_64(&bytes[..CHECKED_HEADER]);
    put(bytes, CHECKED_HEADER, &sum.to_le_bytes());
}

/// The error after `value` was put `at` a byte and the file sealed.
fn error_with(at: usize, value: &[u8]) -> ContainerError {
    let mut bytes = sample();
    put(&mut bytes, at, value);
    seal(&mut bytes);
    check(&bytes).expect_err("a forged file was accepted")
}

const FIRST: usize = HEADER;
const OTHER: usize = HEADER + ENTRY;
const NAMES: usize = HEADER + 2 * ENTRY;

#[test]
fn the_sample_is_sound() {
    let mut bytes = sample();
    assert_eq!(check(&bytes).unwrap().len(), 2);
    seal(&mut bytes);
    assert_eq!(bytes, sample(), "sealing a sound file changes nothing");
}

#[test]
fn forged_places_are_rejected() {
    let lengths = [
        0u64,
        2,
        4,
        64,
        65,
        326,
        327,
        1 << 40,
        u64::MAX - 191,
        u64::MAX - 63,
        u64::MAX,
    ];
    for length in lengths {
        error_with(FIRST + 8, &length.to_le_bytes());
        error_with(OTHER + 8, &length.to_le_bytes());
    }
    for offset in [0u64, 63, 64, 128, 191, 193, 200, 256, 320, 326, 1 << 63, u64::MAX] {
        let error = error_with(FIRST, &offset.to_le_bytes());
        assert!(error.found().contains("section `first` lies at"), "{error}");
    }
    let overlap = error_with(OTHER, &192u64.to_le_bytes());
    assert!(
        overlap
            .to_string()
            .contains("section `other` lies at byte 192; expected byte 256"),
        "{overlap}"
    );
}

#[test]
fn forged_counts_are_rejected() {
    for count in [0u32, 1, 3, 1 << 27, u32::MAX] {
        error_with(12, &count.to_le_bytes());
    }
    for table in [0u64, 73, 75, 262, 263, 1 << 40, u64::MAX] {
        error_with(24, &table.to_le_bytes());
    }
    for file in [0u64, 64, 325, 327, u64::MAX] {
        error_with(16, &file.to_le_bytes());
    }
}

#[test]
fn forged_names_and_kinds_are_rejected() {
    for length in [0u32, 4, 6, 10, 11, u32::MAX] {
        error_with(FIRST + 28, &length.to_le_bytes());
    }
    for (name, found) in [
        (&b"other"[..], "two sections"),
        (b"fi\nst", "control character"),
        (b"fi\xffst", "not UTF-8"),
    ] {
        let error = error_with(NAMES, name);
        assert!(error.found().contains(found), "{error}");
    }
    for kind in [7u32, 256, u32::MAX] {
        error_with(FIRST + 24, &kind.to_le_bytes());
    }
    let error = error_with(FIRST + 24, &Kind::U16.code().to_le_bytes());
    assert!(
        error
            .to_string()
            .contains("has 3 bytes; expected whole u16 numbers"),
        "{error}"
    );
}

#[test]
fn gaps_and_reserved_bytes_must_be_zero() {
    for at in (40..CHECKED_HEADER).chain(138..192).chain(195..256) {
        error_with(at, &[1]);
    }
}

#[test]
fn versions_are_told_from_damage() {
    for (version, advice) in [
        (2u32, "newer fieldmark"),
        (u32::MAX, "newer fieldmark"),
        (0, "no fieldmark ever"),
    ] {
        let error = error_with(8, &version.to_le_bytes());
        assert_eq!(error.kind(), ContainerErrorKind::Version);
        assert!(error.advice().contains(advice), "{error}");
    }
    let mut bytes = sample();
    bytes[8] = 2;
    assert_eq!(check(&bytes).unwrap_err().kind(), ContainerErrorKind::Damaged);
}

#[test]
fn cut_and_grown_files_say_so() {
    let mut bytes = sample();
    assert!(
        check(&bytes[..325])
            .unwrap_err()
            .found()
            .contains("cut off after 325 bytes")
    );
    assert!(
        check(&bytes[..63])
            .unwrap_err()
            .found()
            .contains("ends after 63 bytes")
    );
    bytes.push(0);
    assert!(
        check(&bytes)
            .unwrap_err()
            .found()
            .contains("goes on to 327 bytes")
    );
}

#[test]
fn plans_that_overflow_are_none() {
    let entry = |length| Entry {
        name: "x".into(),
        kind: Kind::Bytes,
        length,
        checksum: 0,
    };
    assert_eq!(Plan::new(&[entry(u64::MAX)]), None);
    assert_eq!(Plan::new(&[entry(u64::MAX - 130), entry(1)]), None);
    assert_eq!(
        Plan::new(&[]),
        Some(Plan {
            table: 0,
            offsets: vec![],
            file: 64
        })
    );
}
