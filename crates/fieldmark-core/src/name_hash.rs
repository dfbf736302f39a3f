//! Hashes of names, put together from hashes of their parts.
//!
//! Most names say the same about neighbours as about the position itself (`W=alpha`, `W=alpha@-1`, `W=alpha@2`),
//! and some say two things at once (`& W=alpha@-1 & W=beta`). So that nobody has to write such a name to look
//! it up, its hash is made from the hashes of its parts:
//!
//! | name | its hash |
//! |---|---|
//! | `text` | [`base`] of the text |
//! | `text@offset` | [`at`] the offset, of the base of the text |
//! | `& name & name` | [`joined`] hashes of the names |
//!
//! An offset is a whole number from −9999 to 9999, written without `+` and without leading zeros; `text@0` has
//! the hash of the text. A name in which `@`, `&` or a blank mean something else is hashed by the same rules:
//! they only decide how a hash is computed, not what a name means.

use xxhash_rust::xxh3::xxh3_64;

/// What a conjunction of names begins with.
const JOINED: &[u8] = b"& ";
/// What stands between the names of a conjunction.
const BETWEEN: &str = " & ";
/// The largest offset, to either side.
pub const MAX_OFFSET: i32 = 9999;

/// The hash of a whole name. Stable across platforms and versions: model files rely on it.
#[inline]
pub fn of(name: &str) -> u64 {
    if name.as_bytes().starts_with(JOINED) {
        return joined(name[JOINED.len()..].split(BETWEEN).map(one));
    }
    one(name)
}

#[inline]
fn one(name: &str) -> u64 {
    // Names without a digit at their end are many: they are not looked at any further.
    match name.as_bytes().last() {
        Some(b'0'..=b'9') => match split(name) {
            Some((text, offset)) => at(base(text), offset),
            None => base(name),
        },
        _ => base(name),
    }
}

/// The hash of a text without offset (XXH3, seed 0).
#[inline]
pub fn base(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// The hash of `text@offset` from that of the text.
#[inline]
pub fn at(base: u64, offset: i32) -> u64 {
    if offset == 0 {
        return base;
    }
    // Odd factors: for each offset another permutation of the hashes.
    let factor = (offset as i64 as u64)
        .wrapping_mul(2)
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        | 1;
    let mixed = base.wrapping_mul(factor);
    mixed ^ (mixed >> 29)
}

/// The hash of a conjunction from those of its names, in order.
#[inline]
pub fn joined(names: impl IntoIterator<Item = u64>) -> u64 {
    names.into_iter().fold(0x2545_F491_4F6C_DD1D, |all, name| {
        let mixed = (all.rotate_left(23) ^ name).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        mixed ^ (mixed >> 32)
    })
}

/// Text and offset of a name that has one.
pub fn split(name: &str) -> Option<(&str, i32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (text, number) = name.split_at(name.len() - digits);
    let canonical = matches!(digits, 1..=4) && (digits == 1 || !number.starts_with('0'));
    let offset: i32 = number.parse().ok().filter(|_| canonical)?;
    if let Some(text) = text.strip_suffix("@-") {
        return (offset > 0).then_some((text, -offset));
    }
    Some((text.strip_suffix('@')?, offset))
}

/// Appends `text@offset` to a name. Offset 0 is only written where `text` itself looks as if it had one.
pub fn push(name: &mut String, text: &str, offset: i32) {
    name.push_str(text);
    if offset != 0 || split(text).is_some() {
        name.push('@');
        name.push_str(&offset.to_string());
    }
}

/// Writes a conjunction of names, each a text at an offset. No text may contain ` & `.
pub fn push_joined<'a>(name: &mut String, parts: impl IntoIterator<Item = (&'a str, i32)>) {
    for (index, (text, offset)) in parts.into_iter().enumerate() {
        name.push_str(if index == 0 { "& " } else { BETWEEN });
        push(name, text, offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn only_whole_numbers_at_the_end_are_offsets() {
        for (name, expected) in [
            ("W=a@1", Some(("W=a", 1))),
            ("W=a@-12", Some(("W=a", -12))),
            ("W=a@1@0", Some(("W=a@1", 0))),
            ("@5", Some(("", 5))),
            ("W=a", None),
            ("W=1", None),
            ("W=a@+1", None),
            ("W=a@01", None),
            ("W=a@-0", None),
            ("W=a@12345", None),
            ("W=a@", None),
            ("7", None),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
    }

    #[test]
    fn hashes_of_neighbouring_offsets_do_not_meet() {
        let mut seen = HashMap::new();
        for text in 0..2000 {
            let text = format!("W={text}x");
            for offset in -10..=10 {
                let other = seen.insert(at(base(&text), offset), (text.clone(), offset));
                assert_eq!(other, None);
            }
        }
    }

    proptest! {
        #[test]
        fn parts_give_the_hash_of_the_name(
            texts in prop::collection::vec("[a@&=0-9-]{0,8}", 1..4),
            offsets in prop::collection::vec(-20..=20i32, 3),
        ) {
            for (text, &offset) in texts.iter().zip(&offsets) {
                // What begins a conjunction needs a blank, which texts here do not have.
                let mut name = String::new();
                push(&mut name, text, offset);
                prop_assert_eq!(of(&name), at(base(text), offset));
                prop_assert_eq!(split(&name).unwrap_or((text, 0)), (text.as_str(), offset));
            }
            let parts = || texts.iter().map(String::as_str).zip(offsets.iter().copied());
            let mut name = String::new();
            push_joined(&mut name, parts());
            prop_assert_eq!(of(&name), joined(parts().map(|(text, offset)| at(base(text), offset))));
        }
    }
}
