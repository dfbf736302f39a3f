//! Greek letters in all their spellings: `β`, `ϐ`, `beta`, `BETA`, `&beta;`, `&beta`, `\beta`, `{beta}`, and `ß` by
//! mistake.

use super::rewriter::Rewriter;
use super::table::Table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::LazyLock;
use unicode_normalization::char::decompose_compatible;

/// What to write for a Greek letter. Capitals stay capitals.
///
/// Read as a letter is
///
/// - a **Greek character**, with its variants (`ϐ`, `ϑ`, `ϕ`, the micro sign, mathematical letters). Four and more in a
///   row are Greek text and stay as they are;
/// - its **name** in small letters, with a capital, or in capitals if it is longer than three letters. It is not part
///   of a longer word, but may be joined to digits and capitals: `17beta`, `TNFalpha`, `NFkappaB`, `DeltaF508`.
///   `mu`, `nu`, `xi`, `pi`, `chi`, `psi`, `eta` mean other things too, and count only next to a hyphen;
/// - its name **in marks**: `&beta;` (the semicolon may be lost), `\beta`, `{beta}`;
/// - **`ß`**, if no small letter is before it and no letter after it: `ß-catenin`, `TGF-ß1`, but not `Maß`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GreekForm {
    /// `letter`: the character, `β`.
    Letter,
    /// `name`: the English name, `beta`. The micro sign before a unit stays: `5 µg`.
    Name,
}

/// Name, small letter, capital.
const LETTERS: [(&str, char, char); 24] = [
    ("alpha", 'α', 'Α'),
    ("beta", 'β', 'Β'),
    ("gamma", 'γ', 'Γ'),
    ("delta", 'δ', 'Δ'),
    ("epsilon", 'ε', 'Ε'),
    ("zeta", 'ζ', 'Ζ'),
    ("eta", 'η', 'Η'),
    ("theta", 'θ', 'Θ'),
    ("iota", 'ι', 'Ι'),
    ("kappa", 'κ', 'Κ'),
    ("lambda", 'λ', 'Λ'),
    ("mu", 'μ', 'Μ'),
    ("nu", 'ν', 'Ν'),
    ("xi", 'ξ', 'Ξ'),
    ("omicron", 'ο', 'Ο'),
    ("pi", 'π', 'Π'),
    ("rho", 'ρ', 'Ρ'),
    ("sigma", 'σ', 'Σ'),
    ("tau", 'τ', 'Τ'),
    ("upsilon", 'υ', 'Υ'),
    ("phi", 'φ', 'Φ'),
    ("chi", 'χ', 'Χ'),
    ("psi", 'ψ', 'Ψ'),
    ("omega", 'ω', 'Ω'),
];

/// Names that mean other things too: Roman numerals, pounds per square inch, words of other languages.
const AMBIGUOUS: &[&str] = &["mu", "nu", "xi", "pi", "chi", "psi", "eta"];

/// Units that a micro sign stands before.
const UNITS: &[&str] = &[
    "g", "l", "L", "m", "M", "mol", "s", "sec", "A", "V", "F", "J", "W", "N", "Hz", "Ci", "Bq", "Gy", "Sv",
    "U", "IU", "kat", "eq", "Eq", "T",
];

/// Greek letters in a row that are still symbols: `αβγ`.
const LONGEST_RUN: usize = 3;

/// A letter that was read.
#[derive(Clone, Copy)]
struct Letter {
    number: usize,
    capital: bool,
}

pub(super) fn rewrite(text: &mut Rewriter<'_>, form: GreekForm) {
    let source = text.source();
    let mut buffer = String::new();
    let mut names = names(source).into_iter().peekable();
    let mut characters = characters(source, form).peekable();
    // Names and characters do not overlap: one kind is ASCII, the other is not.
    loop {
        let name_first = match (names.peek(), characters.peek()) {
            (Some((_, name)), Some((_, character))) => name.start < character.start,
            (name, _) => name.is_some(),
        };
        let next = if name_first {
            names.next()
        } else {
            characters.next()
        };
        let Some((letter, range)) = next else { return };
        buffer.clear();
        write(letter, form, &source[range.clone()], &mut buffer);
        text.replace(range, &buffer);
    }
}

fn write(letter: Letter, form: GreekForm, written: &str, out: &mut String) {
    let (name, small, capital) = LETTERS[letter.number];
    match form {
        GreekForm::Letter => out.push(if letter.capital { capital } else { small }),
        GreekForm::Name if written.is_ascii() => {
            out.extend(written.chars().filter(char::is_ascii_alphabetic))
        }
        GreekForm::Name if letter.capital => {
            out.push(name.as_bytes()[0].to_ascii_uppercase().into());
            out.push_str(&name[1..]);
        }
        GreekForm::Name => out.push_str(name),
    }
}

/// Names of letters, with the marks around them.
fn names(text: &str) -> Vec<(Letter, Range<usize>)> {
    static NAMES: LazyLock<Option<Table>> =
        LazyLock::new(|| Table::new(LETTERS.iter().map(|(name, _, _)| *name), true).ok());
    let mut found = Vec::new();
    if let Some(table) = NAMES.as_ref() {
        let allowed = |_, range: &Range<usize>| with_marks(text, range).is_some();
        table.search(text, allowed, |number, range| {
            let capital = text[range.clone()].starts_with(|c: char| c.is_ascii_uppercase());
            let marked = with_marks(text, &range).unwrap_or(range);
            found.push((Letter { number, capital }, marked));
        });
    }
    found
}

/// The name with the marks that belong to it, if it means a letter.
fn with_marks(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let name = &text[range.clone()];
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let tail = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let is_upper = tail.is_empty();
    let is_regular =
        is_upper || tail.len() + 1 >= name.len() && !tail.contains(|c: char| c.is_ascii_uppercase());
    let goes_on = after.starts_with(|c: char| c.is_lowercase() || is_upper && c.is_alphabetic());
    if !is_regular || goes_on {
        return None;
    }
    match before.chars().next_back() {
        Some('&') => return Some(range.start - 1..range.end + usize::from(after.starts_with(';'))),
        Some('{') if after.starts_with('}') => return Some(range.start - 1..range.end + 1),
        Some('\\') => return Some(range.start - 1..range.end),
        _ => {}
    }
    let is_small = tail.len() == name.len();
    let capitals = before
        .chars()
        .rev()
        .take(2)
        .take_while(|c| c.is_uppercase())
        .count();
    let lowercase = name.to_ascii_lowercase();
    let joined = match before.chars().next_back() {
        Some(c) if c.is_alphabetic() => {
            // `TNFalpha` and `Gbeta`, but neither `Meta` nor `Biota`.
            is_small && (capitals == 2 || capitals == 1 && name.len() >= 4 && lowercase != "iota")
        }
        _ => true,
    };
    let hyphened = before.ends_with('-') || after.starts_with('-');
    let clear = !AMBIGUOUS.contains(&lowercase.as_str()) || hyphened && !is_upper;
    (joined && clear && !(is_upper && name.len() <= 3)).then(|| range.clone())
}

/// Greek characters, and what is written for them, one by one.
fn characters(text: &str, form: GreekForm) -> impl Iterator<Item = (Letter, Range<usize>)> {
    text.char_indices()
        .filter(|(_, c)| !c.is_ascii())
        .filter_map(move |(at, c)| {
            let range = at..at + c.len_utf8();
            let (before, after) = (&text[..range.start], &text[range.end..]);
            let letter = match c {
                'ß' => {
                    let sharp_s =
                        before.ends_with(char::is_lowercase) || after.starts_with(char::is_alphabetic);
                    (!sharp_s).then_some(BETA)?
                }
                _ => read(c)?,
            };
            if !is_symbol(before.chars().rev(), after.chars()) {
                return None;
            }
            let micro = LETTERS[letter.number].0 == "mu" && !letter.capital && is_unit(before, after);
            (form == GreekForm::Letter || !micro).then_some((letter, range))
        })
}

/// Whether a Greek character between these is not part of a Greek word: there are few in a row, without accents.
fn is_symbol(before: impl Iterator<Item = char>, after: impl Iterator<Item = char>) -> bool {
    let mut row = 1;
    let mut plain = true;
    let mut count = |chars: &mut dyn Iterator<Item = char>| {
        for c in chars.take(LONGEST_RUN).take_while(|&c| is_greek(c)) {
            row += 1;
            plain &= read(c).is_some();
        }
    };
    count(&mut { before });
    count(&mut { after });
    plain && row <= LONGEST_RUN
}

const BETA: Letter = Letter {
    number: 1,
    capital: false,
};

/// The letter that a character is, or is a variant of.
fn read(c: char) -> Option<Letter> {
    let plain = match c {
        'ς' => 'σ',
        '∆' => 'Δ',
        '\u{370}'..='\u{3FF}' | '\u{B5}' | '\u{2126}' | '\u{1D6A8}'..='\u{1D7CB}' => {
            let mut parts = 0;
            let mut plain = c;
            decompose_compatible(c, |part| {
                parts += 1;
                plain = part;
            });
            // With an accent it is no symbol.
            if parts > 1 {
                return None;
            }
            plain
        }
        _ => return None,
    };
    LETTERS
        .iter()
        .enumerate()
        .find_map(|(number, &(_, small, capital))| {
            (plain == small || plain == capital).then_some(Letter {
                number,
                capital: plain == capital,
            })
        })
}

fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}')
}

/// Whether a small mu between these is a micro sign: `5 µg`, but not `µ-opioid`.
fn is_unit(before: &str, after: &str) -> bool {
    let end = after
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(after.len().min(4));
    !before.ends_with(char::is_alphabetic) && after.get(..end).is_some_and(|word| UNITS.contains(&word))
}
