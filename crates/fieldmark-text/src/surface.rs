//! Observations on the surface of the words: spelling and neighbours, no dictionary, no other tagger.
//!
//! [`observe`] names each one as `key=value`, or as a bare key for a flag:
//!
//! | name | what it says | at `40` in `Give 40 mg .` |
//! |---|---|---|
//! | `w=` | the word as written | `w=40` |
//! | `low=` | in lower case | `low=40` |
//! | `p1=` … `p4=` | its first 1 to 4 characters, in lower case, if it has more than that | `p1=4` |
//! | `s1=` … `s4=` | its last 1 to 4 characters, likewise | `s1=0` |
//! | `shape=` | each capital as `A`, other letter as `a`, digit as `0`, the rest as it is | `shape=00` |
//! | `brief=` | the shape with every run of one class shortened to one | `brief=0` |
//! | `digit`, `digits` | has a digit; is digits, points and commas only | `digit`, `digits` |
//! | `cap`, `caps`, `mixed` | begins with a capital; all letters are capitals; a capital after a small letter | – |
//! | `punct` | has neither letter nor digit | – |
//! | `w-2=`, `w-1=`, `w+1=`, `w+2=` | the neighbours, in lower case | `w-1=give`, `w+1=mg`, `w+2=.` |
//! | `brief-1=`, `brief+1=` | brief shapes of the neighbours | `brief-1=Aa`, `brief+1=a` |
//! | `w-2,-1=`, `w-1,0=`, `w0,+1=`, `w+1,+2=` | pairs of neighbouring words, in lower case, with `▁` between | `w-1,0=give▁40` |
//! | `BOS`, `EOS` | first and last position; `BOS+1`, `EOS-1` one further in | `BOS+1` |
//!
//! `bias` comes first at every position, so no position is without an observation. Names and order are
//! stable: models hold them.

use std::fmt::Write;

/// The longest prefix and suffix.
const AFFIX_CHARS: usize = 4;

/// Passes the observations of the word at `position` to `emit`, one by one.
///
/// A position outside of the sentence has none.
///
/// ```
/// let mut names = Vec::new();
/// fieldmark_text::surface::observe(&["Give", "40", "mg"], 1, &mut |name| names.push(name.to_owned()));
/// assert!(names.contains(&"w+1=mg".to_owned()));
/// ```
pub fn observe(tokens: &[&str], position: usize, emit: &mut dyn FnMut(&str)) {
    let Some(&word) = tokens.get(position) else { return };
    let mut name = Name {
        buffer: String::new(),
        emit,
    };
    name.emit(format_args!("bias"));
    spelling(word, &mut name);
    context(tokens, position, &mut name);
    borders(tokens.len(), position, &mut name);
}

/// Writes names into one reused buffer.
struct Name<'a> {
    buffer: String,
    emit: &'a mut dyn FnMut(&str),
}

impl Name<'_> {
    fn emit(&mut self, name: std::fmt::Arguments<'_>) {
        self.buffer.clear();
        // Writing to a string cannot fail.
        let _ = self.buffer.write_fmt(name);
        (self.emit)(&self.buffer);
    }

    fn flag(&mut self, name: &str, holds: bool) {
        if holds {
            (self.emit)(name);
        }
    }
}

fn spelling(word: &str, name: &mut Name<'_>) {
    let lower = word.to_lowercase();
    name.emit(format_args!("w={word}"));
    name.emit(format_args!("low={lower}"));
    for (chars, (end, _)) in lower.char_indices().enumerate().skip(1).take(AFFIX_CHARS) {
        name.emit(format_args!("p{chars}={}", &lower[..end]));
    }
    let suffixes = lower
        .char_indices()
        .rev()
        .map(|(start, _)| start)
        .take_while(|&start| start > 0);
    for (index, start) in suffixes.enumerate().take(AFFIX_CHARS) {
        name.emit(format_args!("s{}={}", index + 1, &lower[start..]));
    }
    name.emit(format_args!("shape={}", shape(word)));
    name.emit(format_args!("brief={}", brief_shape(word)));

    let letters = || word.chars().filter(|c| c.is_alphabetic());
    let has_digit = word.contains(char::is_numeric);
    name.flag("digit", has_digit);
    name.flag(
        "digits",
        has_digit && word.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',')),
    );
    name.flag("cap", word.starts_with(char::is_uppercase));
    name.flag(
        "caps",
        letters().next().is_some() && letters().all(char::is_uppercase),
    );
    name.flag(
        "mixed",
        letters()
            .skip_while(|c| !c.is_lowercase())
            .any(char::is_uppercase),
    );
    name.flag("punct", !word.contains(char::is_alphanumeric));
}

fn context(tokens: &[&str], position: usize, name: &mut Name<'_>) {
    let near = |offset: isize| {
        let at = position.checked_add_signed(offset)?;
        tokens.get(at).copied()
    };
    let lower = [-2, -1, 0, 1, 2].map(|offset| near(offset).map(str::to_lowercase));
    for (offset, word) in ["-2", "-1", "0", "+1", "+2"].iter().zip(&lower) {
        if let (Some(word), true) = (word, *offset != "0") {
            name.emit(format_args!("w{offset}={word}"));
        }
    }
    for (key, offset) in [("brief-1", -1), ("brief+1", 1)] {
        if let Some(word) = near(offset) {
            name.emit(format_args!("{key}={}", brief_shape(word)));
        }
    }
    for (key, pair) in ["w-2,-1", "w-1,0", "w0,+1", "w+1,+2"]
        .iter()
        .zip(lower.windows(2))
    {
        if let [Some(left), Some(right)] = pair {
            name.emit(format_args!("{key}={left}▁{right}"));
        }
    }
}

fn borders(len: usize, position: usize, name: &mut Name<'_>) {
    let to_end = len - 1 - position;
    name.flag("BOS", position == 0);
    name.flag("BOS+1", position == 1);
    name.flag("EOS-1", to_end == 1);
    name.flag("EOS", to_end == 0);
}

/// Each capital as `A`, other letter as `a`, digit as `0`, anything else as it is: `HbA1c` is `AaA0a`.
pub fn shape(word: &str) -> String {
    word.chars().map(class).collect()
}

/// The [`shape`] with every run of one class shortened to one: `1,250.5` is `0,0.0`.
pub fn brief_shape(word: &str) -> String {
    let mut brief: Vec<char> = word.chars().map(class).collect();
    brief.dedup();
    brief.into_iter().collect()
}

fn class(c: char) -> char {
    if c.is_numeric() {
        '0'
    } else if c.is_uppercase() {
        'A'
    } else if c.is_alphabetic() {
        'a'
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(tokens: &[&str], position: usize) -> Vec<String> {
        let mut names = Vec::new();
        observe(tokens, position, &mut |name| names.push(name.to_owned()));
        names
    }

    #[test]
    fn a_position_in_full() {
        let expected = [
            "bias",
            "w=40",
            "low=40",
            "p1=4",
            "s1=0",
            "shape=00",
            "brief=0",
            "digit",
            "digits",
            "w-1=give",
            "w+1=mg",
            "w+2=.",
            "brief-1=Aa",
            "brief+1=a",
            "w-1,0=give▁40",
            "w0,+1=40▁mg",
            "w+1,+2=mg▁.",
            "BOS+1",
        ];
        assert_eq!(names(&["Give", "40", "mg", "."], 1), expected);
    }

    #[test]
    fn affixes_are_shorter_than_the_word() {
        let affixes = |word| {
            let is_affix = |name: &String| name.as_bytes()[1].is_ascii_digit();
            names(&[word], 0).into_iter().filter(is_affix).collect::<Vec<_>>()
        };
        assert_eq!(
            affixes("Étude"),
            [
                "p1=é", "p2=ét", "p3=étu", "p4=étud", "s1=e", "s2=de", "s3=ude", "s4=tude"
            ]
        );
        assert_eq!(affixes("Ab"), ["p1=a", "s1=b"]);
        assert_eq!(affixes("a"), [""; 0]);
    }

    #[test]
    fn flags_of_case_and_kind() {
        let flags = |word| {
            let is_flag = |name: &String| !name.contains('=') && !name.contains("OS") && name != "bias";
            names(&[word], 0).into_iter().filter(is_flag).collect::<Vec<_>>()
        };
        assert_eq!(flags("COPD"), ["cap", "caps"]);
        assert_eq!(flags("Lasix"), ["cap"]);
        assert_eq!(flags("qHS"), ["mixed"]);
        assert_eq!(flags("HbA1c"), ["digit", "cap", "mixed"]);
        assert_eq!(flags("2.5"), ["digit", "digits"]);
        assert_eq!(flags("/"), ["punct"]);
        assert_eq!(flags("daily"), [""; 0]);
    }

    #[test]
    fn shapes() {
        assert_eq!(
            (shape("HbA1c"), brief_shape("HbA1c")),
            ("AaA0a".into(), "AaA0a".into())
        );
        assert_eq!(
            (shape("Metformin"), brief_shape("Metformin")),
            ("Aaaaaaaaa".into(), "Aa".into())
        );
        assert_eq!(
            (shape("20,000"), brief_shape("20,000")),
            ("00,000".into(), "0,0".into())
        );
    }

    #[test]
    fn one_word_is_both_ends() {
        let names = names(&["Well"], 0);
        assert!(names.contains(&"BOS".to_owned()) && names.contains(&"EOS".to_owned()));
        assert!(
            !names
                .iter()
                .any(|name| name.starts_with("w-") || name.starts_with("w+"))
        );
    }

    #[test]
    fn no_word_no_observation() {
        assert!(names(&[], 0).is_empty());
        assert!(names(&["a"], usize::MAX).is_empty());
    }

    proptest! {
        #[test]
        fn names_are_distinct_at_a_position(tokens in prop::collection::vec("[a-zA-Z0-9.,é=]{1,7}|.{1,4}", 1..6)) {
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            for position in 0..tokens.len() {
                let names = names(&tokens, position);
                let distinct: std::collections::HashSet<_> = names.iter().collect();
                prop_assert_eq!(distinct.len(), names.len());
            }
        }
    }
}
