//! Stops: which of them end a sentence, judged by the word before and the word after.

use super::abbreviations::{Abbreviations, Use};
use super::words::is_wide_stop;
use crate::characters::{is_closing_bracket, is_dash, is_opening_bracket, is_quote};

/// What was read of a sentence before the word in question.
#[derive(Default)]
pub(super) struct Context<'a> {
    before: Option<&'a str>,
    /// Whether there was an initial: another one is likely.
    initials: bool,
}

impl<'a> Context<'a> {
    /// Notes a word that does not end the sentence.
    pub fn pass(&mut self, word: &'a str) {
        self.before = Some(word);
        self.initials |= word.strip_suffix('.').is_some_and(is_capital_letter);
    }
}

/// Whether a sentence ends between two words.
pub(super) fn end(known: &Abbreviations, context: &Context<'_>, left: &str, right: &str) -> bool {
    let Some(stopped) = up_to_stop(left) else {
        return false;
    };
    let right = right.trim_start_matches(opens);
    match stopped.chars().next_back() {
        Some('!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' | '؟') => !continues(right),
        Some('.') => !continues(right) && point_ends(known, context, stopped, right),
        Some(c) => is_wide_stop(c),
        None => false,
    }
}

/// The word up to its last stop, if only quotes, brackets and citation numbers follow the stop.
fn up_to_stop(word: &str) -> Option<&str> {
    let closed = word.trim_end_matches(closes);
    if closed.ends_with(is_stop) {
        return Some(closed);
    }
    let uncited = closed.trim_end_matches(|c: char| {
        is_superscript(c) || matches!(c, ',' | '[' | '(') || is_dash(c) || c.is_ascii_digit()
    });
    let citation = &closed[uncited.len()..];
    let marked = citation.starts_with(['[', '(']) || citation.starts_with(is_superscript);
    // `disease.12`, where the number was raised once, but neither `v.12` nor `1.12`.
    let letters = uncited
        .trim_end_matches('.')
        .chars()
        .rev()
        .take_while(|c| c.is_lowercase())
        .count();
    (uncited.ends_with(is_stop) && (marked || letters >= 3)).then_some(uncited)
}

fn point_ends(known: &Abbreviations, context: &Context<'_>, stopped: &str, right: &str) -> bool {
    let word = stopped.trim_end_matches('.').trim_start_matches(opens);
    if word.is_empty() || stopped.ends_with("..") {
        return true;
    }
    if context.before.is_none_or(|before| before.ends_with(':')) && is_enumerator(word) {
        return false;
    }
    if is_inside_title(known, word, right) {
        return false;
    }
    match usage(known, context, word) {
        Some(Use::Inside) => return false,
        Some(Use::Numbered) if is_number(right) => return false,
        Some(Use::Either) => return starts_like_a_name(right),
        _ => {}
    }
    let begins = known.is_starter(letters(right));
    if is_dotted(word) {
        return begins || word.starts_with(char::is_lowercase) && starts_like_a_name(right);
    }
    if is_capital_letter(word) {
        return begins || !is_initial(context) && !known.is_organism(word, letters(right));
    }
    // The first half of `z. B.`
    let single = |word: &str| word.chars().nth(1).is_none() && word.starts_with(char::is_alphabetic);
    if single(word) && right.strip_suffix('.').is_some_and(single) {
        return false;
    }
    let ordinal = known.ordinals && word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    !ordinal || begins || !right.starts_with(char::is_uppercase)
}

/// Whether two words belong to the title of a journal, or to the title and what is cited of it: `J. Biol. Chem. 270`.
fn is_inside_title(known: &Abbreviations, word: &str, right: &str) -> bool {
    let next = letters(right);
    let shortened = right[next.len()..].starts_with('.') && known.is_title(next);
    if known.is_title(word) {
        let whole = matches!(next, "USA" | "Cell") || right.starts_with("U.S.A");
        return shortened || whole || right.starts_with(|c: char| c.is_ascii_digit());
    }
    // Words that are not always shortened: `J. Cell. Biochem.`, but `by Smith. J. Wu agreed.`
    shortened && next != "J" && starts_like_a_name(word)
}

/// How an abbreviation is used, also if it is written with a space: `e. g.`
fn usage(known: &Abbreviations, context: &Context<'_>, word: &str) -> Option<Use> {
    let before = context.before.and_then(|before| before.strip_suffix('.'));
    let joined = before.filter(|before| before.chars().count() <= 3 && word.chars().count() <= 3);
    joined
        .and_then(|before| known.get(&format!("{}.{word}", before.trim_start_matches(opens))))
        .or_else(|| known.get(word))
}

/// A word that cannot begin a sentence: in small letters, or begun with a mark that continues one.
///
/// Names such as `p53`, `mRNA`, `c-Myc` and `α-synuclein` begin sentences in small letters.
fn continues(right: &str) -> bool {
    let Some(first) = right.chars().next() else {
        return false;
    };
    if matches!(first, ',' | ';' | ':' | '=' | '<' | '>' | '/' | '%') || is_closing_bracket(first) {
        return true;
    }
    if !first.is_lowercase() || is_greek(first) {
        return false;
    }
    let end = right.find(|c: char| !c.is_alphanumeric()).unwrap_or(right.len());
    let (word, rest) = right.split_at(end);
    let is_plain = |word: &str| !word.contains(|c: char| c.is_uppercase() || c.is_numeric());
    let prefixed = word.len() == first.len_utf8() && rest.starts_with(is_dash);
    is_plain(word) && (!prefixed || is_plain(rest))
}

/// After the word before it, a single capital is the first letter of a name: `J. Smith`, but not the end of
/// `low in vitamin D.`
fn is_initial(context: &Context<'_>) -> bool {
    let Some(before) = context.before else {
        return true;
    };
    let word = before.trim_start_matches(opens).trim_end_matches(['.', ',', ';']);
    match word {
        "by" | "with" | "from" | "thank" | "von" | "mit" | "&" => true,
        "and" | "und" => context.initials,
        _ => starts_like_a_name(word),
    }
}

/// `1.`, `2.1.`, `a.`, `iv.`: the number of an item, first in its sentence.
fn is_enumerator(word: &str) -> bool {
    let number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number || word.chars().nth(1).is_none() || is_roman(word)
}

/// What is counted with figures or letters: `2`, `S2`, `3b`, `IV`, `A`.
fn is_number(right: &str) -> bool {
    let end = right.find(|c: char| !c.is_alphanumeric()).unwrap_or(right.len());
    let word = &right[..end];
    word.contains(char::is_numeric) || is_roman(word) || is_capital_letter(word)
}

fn is_roman(word: &str) -> bool {
    !word.is_empty() && word.len() <= 5 && word.bytes().all(|byte| b"ivxIVX".contains(&byte))
}

/// Short parts with points between them: `p.o`, `U.S`, `Ph.D`.
fn is_dotted(word: &str) -> bool {
    word.contains('.')
        && word
            .split('.')
            .all(|part| (1..=3).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic))
}

fn is_capital_letter(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_uppercase) && chars.next().is_none()
}

/// A capital and then a small letter, or a capital alone.
fn starts_like_a_name(word: &str) -> bool {
    let mut chars = word.chars();
    let is_second = |c: char| c.is_lowercase() || !c.is_alphanumeric();
    chars.next().is_some_and(char::is_uppercase) && chars.next().is_none_or(is_second)
}

/// The letters that a word begins with.
fn letters(word: &str) -> &str {
    let end = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
    &word[..end]
}

fn opens(c: char) -> bool {
    is_opening_bracket(c) || is_quote(c) || matches!(c, '¿' | '¡')
}

fn closes(c: char) -> bool {
    is_closing_bracket(c) || is_quote(c)
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' | '؟') || is_wide_stop(c)
}

fn is_superscript(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹')
}

fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3FF}')
}
