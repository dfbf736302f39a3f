//! Raw text to sentences and tokens, both as byte ranges, so that nothing of the text is lost.
//!
//! The rules are few and fixed, made for clinical and scientific prose in languages that put spaces
//! between words:
//!
//! - a **word** is a letter and the letters, digits and inner apostrophes after it: `HbA1c`, `B12`, `Crohn's`;
//! - a **number** is digits with inner decimal points or thousands commas: `2.5`, `20,000`. It ends before a
//!   letter, so `40mg` is `40` and `mg`, just as `40 mg` is: amounts look alike however they were typed;
//! - a **dotted abbreviation** of single letters is one token: `p.o.`, `b.i.d.`, `e.g.`;
//! - every other character that is not white space is a token of its own, hyphens and slashes too.
//!
//! ```
//! use fieldmark_text::tokens::{sentences, tokenize};
//! let text = "Dr. Wu gave 40mg p.o. today. No side-effects.";
//! let found: Vec<Vec<&str>> = sentences(text)
//!     .into_iter()
//!     .map(|range| {
//!         let sentence = &text[range];
//!         tokenize(sentence).iter().map(|token| token.text(sentence)).collect()
//!     })
//!     .collect();
//! assert_eq!(found[0], ["Dr", ".", "Wu", "gave", "40", "mg", "p.o.", "today", "."]);
//! assert_eq!(found[1], ["No", "side", "-", "effects", "."]);
//! ```

use std::ops::Range;

/// A token as a range of bytes of the text that it was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Byte offset of the first character.
    pub start: usize,
    /// Byte offset after the last character.
    pub end: usize,
}

impl Token {
    /// The token's characters.
    ///
    /// # Panics
    /// When `text` is shorter than the text that the token was found in, or cuts a character at its borders.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }
}

/// The tokens of a text, in order; together they cover every character that is not white space.
pub fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let end = start + token_len(&text[start..], first);
        tokens.push(Token { start, end });
        start = end;
    }
    tokens
}

fn token_len(rest: &str, first: char) -> usize {
    if first.is_alphabetic() {
        abbreviation_len(rest).unwrap_or_else(|| run_len(rest, char::is_alphanumeric, is_apostrophe))
    } else if first.is_numeric() {
        run_len(rest, char::is_numeric, |c| c == '.' || c == ',')
    } else {
        run_len(rest, |_| false, |_| false)
    }
}

/// The first character and what belongs to it: characters that are `inside`, `joints` with such a
/// character after them, and marks that modify the character before them.
fn run_len(rest: &str, inside: fn(char) -> bool, joints: fn(char) -> bool) -> usize {
    let mut chars = rest.char_indices().peekable();
    chars.next();
    while let Some((at, c)) = chars.next() {
        let joint = joints(c) && chars.peek().is_some_and(|&(_, next)| inside(next));
        if !inside(c) && !joint && !is_modifier(c) {
            return at;
        }
    }
    rest.len()
}

/// Two or more single letters, each with its point.
fn abbreviation_len(rest: &str) -> Option<usize> {
    let mut len = 0;
    let mut letters = 0;
    let mut chars = rest.chars();
    while let (Some(letter), Some('.')) = (chars.next(), chars.next()) {
        if !letter.is_alphabetic() {
            break;
        }
        len += letter.len_utf8() + 1;
        letters += 1;
    }
    (letters >= 2).then_some(len)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

/// Combining diacritics and variation selectors: part of the character before them.
fn is_modifier(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{FE00}'..='\u{FE0F}')
}

/// Abbreviations that always have something after them.
const OPENING: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "vs", "cf", "approx", "ca", "e.g.", "i.e.",
];

/// Abbreviations only before a number: `bed no. 5`, but `She said no.`
const NUMBERED: &[&str] = &["no", "nos", "fig", "figs", "vol", "p", "pp"];

/// Abbreviations that stand inside a sentence as often as at its end.
const EITHER: &[&str] = &[
    "pt", "pts", "hx", "dx", "tx", "rx", "tab", "tabs", "cap", "caps", "inj", "susp", "soln", "mg", "mcg",
    "ml", "hr", "hrs", "min", "mins", "wk", "wks", "yr", "yrs", "mo", "temp", "resp", "dept", "hosp", "avg",
    "max", "etc", "al", "jr", "sr", "inc", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept",
    "oct", "nov", "dec",
];

/// The sentences of a text as byte ranges without outer white space; none is empty.
///
/// A sentence ends at `.`, `!` or `?` (with the quotes and brackets that close after it) before white space,
/// at a blank line, and before a line that starts a list item. A point ends nothing after an abbreviation
/// that wants a continuation (`Dr.`, `e.g.`, `no. 5`), after initials and list numbers, or before a small letter; after
/// other abbreviations (`p.o.`, `tabs.`) only a word with a capital and then small letters starts a sentence.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let tokens = tokenize(text);
    let mut found = Vec::new();
    let mut first = 0;
    for next in 1..=tokens.len() {
        if next == tokens.len() || is_border(text, &tokens, first, next) {
            found.push(tokens[first].start..tokens[next - 1].end);
            first = next;
        }
    }
    found
}

/// Whether a sentence that began with token `first` ends before token `next`.
fn is_border(text: &str, tokens: &[Token], first: usize, next: usize) -> bool {
    let gap = &text[tokens[next - 1].end..tokens[next].start];
    if gap.is_empty() {
        return false;
    }
    if gap.matches('\n').count() > 1 || gap.contains('\n') && starts_item(text, tokens, next) {
        return true;
    }
    let word = |at: usize| tokens[at].text(text);
    let mut stop = next - 1;
    while stop > first && is_closing(word(stop)) && tokens[stop - 1].end == tokens[stop].start {
        stop -= 1;
    }
    match word(stop) {
        "!" | "?" | "…" => true,
        "." => stop == first || point_ends(text, tokens, first, stop, word(next)),
        abbreviation if abbreviation.ends_with('.') => {
            !is_listed(OPENING, abbreviation) && starts_like_a_name(word(next))
        }
        _ => false,
    }
}

/// Whether the point at `stop` ends a sentence that is followed by `next`.
fn point_ends(text: &str, tokens: &[Token], first: usize, stop: usize, next: &str) -> bool {
    let before = &tokens[stop - 1];
    if next.starts_with(char::is_lowercase) {
        return false;
    }
    if before.end != tokens[stop].start {
        return true;
    }
    let word = before.text(text);
    if is_listed(OPENING, word) || is_initial(text, tokens, first, stop - 1) {
        return false;
    }
    if is_listed(NUMBERED, word) && next.starts_with(char::is_numeric) {
        return false;
    }
    if stop - 1 == first && word.chars().all(char::is_numeric) {
        return false;
    }
    !is_listed(EITHER, word) || starts_like_a_name(next)
}

/// A single capital that stands first or after a title, a name or another initial: `J. Smith`, but not
/// the end of `low in vitamin D.`
fn is_initial(text: &str, tokens: &[Token], first: usize, at: usize) -> bool {
    let word = tokens[at].text(text);
    let single_capital = word.chars().count() == 1 && word.starts_with(char::is_uppercase);
    let mut before = tokens[first..at].iter().rev().map(|token| token.text(text));
    single_capital
        && match before.next() {
            Some(".") => before
                .next()
                .is_some_and(|word| starts_like_a_name(word) || word.chars().count() == 1),
            Some(word) => starts_like_a_name(word),
            None => true,
        }
}

fn starts_item(text: &str, tokens: &[Token], at: usize) -> bool {
    let rest = &text[tokens[at].start..];
    let marker = rest.trim_start_matches(char::is_numeric);
    let numbered = marker.len() < rest.len() && (marker.starts_with(". ") || marker.starts_with(") "));
    numbered
        || ["- ", "* ", "• ", "– "]
            .iter()
            .any(|bullet| rest.starts_with(bullet))
}

fn is_closing(token: &str) -> bool {
    matches!(token, ")" | "]" | "}" | "\"" | "'" | "”" | "’" | "»")
}

fn is_listed(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// A capital and then a small letter, or a capital alone.
fn starts_like_a_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_uppercase) && chars.next().is_none_or(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<&str> {
        tokenize(text).iter().map(|token| token.text(text)).collect()
    }

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn numbers_end_before_letters_but_words_keep_their_digits() {
        assert_eq!(
            words("40mg 2.5 mg 20,000 IU"),
            ["40", "mg", "2.5", "mg", "20,000", "IU"]
        );
        assert_eq!(words("HbA1c B12 q6h"), ["HbA1c", "B12", "q6h"]);
        assert_eq!(words("pH 7., 5"), ["pH", "7", ".", ",", "5"]);
        assert_eq!(words("5µg"), ["5", "µg"]);
    }

    #[test]
    fn punctuation_stands_alone() {
        assert_eq!(
            words("co-amoxiclav 30/500 (x2)"),
            ["co", "-", "amoxiclav", "30", "/", "500", "(", "x2", ")"]
        );
        assert_eq!(
            words("Crohn's 'quoted' Crohn’s"),
            ["Crohn's", "'", "quoted", "'", "Crohn’s"]
        );
        assert_eq!(words("b.i.d. p.o., end."), ["b.i.d.", "p.o.", ",", "end", "."]);
        assert_eq!(words("..."), [".", ".", "."]);
    }

    #[test]
    fn modifiers_stay_with_their_character() {
        assert_eq!(words("cafe\u{301} noir"), ["cafe\u{301}", "noir"]);
        assert_eq!(words("❤\u{FE0F}!"), ["❤\u{FE0F}", "!"]);
    }

    #[test]
    fn points_that_end_nothing() {
        for whole in [
            "Seen by Dr. Hussain at noon.",
            "Prof. J. K. Wu agreed.",
            "J. Wu agreed.",
            "Start 2.5 mg today.",
            "Avoid NSAIDs, e.g. Nurofen.",
            "Give metoprolol 25 mg p.o. BID with food.",
            "Take 2 tabs. 3 times daily.",
            "Bed no. 5 is free.",
            "1. Aspirin",
            "grew E. coli again",
        ] {
            assert_eq!(split(whole), [whole]);
        }
    }

    #[test]
    fn points_that_end_a_sentence() {
        assert_eq!(
            split("Low in vitamin D. She rests."),
            ["Low in vitamin D.", "She rests."]
        );
        assert_eq!(split("Taken p.o. She rests."), ["Taken p.o.", "She rests."]);
        assert_eq!(split("Hb 98. 2 units given."), ["Hb 98.", "2 units given."]);
        assert_eq!(split("Well? Yes! (Home.) OK"), ["Well?", "Yes!", "(Home.)", "OK"]);
        assert_eq!(split("Said “no.” Then left"), ["Said “no.”", "Then left"]);
        assert_eq!(split("Stop . Go"), ["Stop .", "Go"]);
    }

    #[test]
    fn lines_join_unless_blank_or_a_list() {
        assert_eq!(split("A long\nline"), ["A long\nline"]);
        assert_eq!(split("Plan\n\nrest\r\n\r\nhome"), ["Plan", "rest", "home"]);
        assert_eq!(split("Drugs:\n- iron\n- zinc"), ["Drugs:", "- iron", "- zinc"]);
        assert_eq!(split("Plan:\n1. iron\n2. zinc"), ["Plan:", "1. iron", "2. zinc"]);
        assert_eq!(split(" \n\n "), [""; 0]);
    }

    proptest! {
        #[test]
        fn tokens_cover_all_but_white_space(text in "[a-zA-Z0-9.,'’ \n\t\u{301}µ❤é()!-]{0,60}|.{0,40}") {
            let mut at = 0;
            for token in tokenize(&text) {
                prop_assert!(token.start < token.end);
                prop_assert!(text[at..token.start].chars().all(char::is_whitespace));
                prop_assert!(!token.text(&text).contains(char::is_whitespace));
                at = token.end;
            }
            prop_assert!(text[at..].chars().all(char::is_whitespace));
        }

        #[test]
        fn sentences_tile_the_text(text in "([A-Za-z]{1,3}|Dr|[0-9]|p\\.o)?([.!?) \n-]{1,3}[A-Za-z0-9]{0,3}){0,12}|.{0,40}") {
            let mut at = 0;
            for range in sentences(&text) {
                prop_assert!(text[at..range.start].chars().all(char::is_whitespace));
                prop_assert!(!range.is_empty());
                prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
                at = range.end;
            }
            prop_assert!(text[at..].chars().all(char::is_whitespace));
        }
    }
}
