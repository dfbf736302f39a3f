//! Families of characters that tokenizers, the sentence splitter and normalisation agree on.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Hyphens, dashes and minus signs of any width: everything that is commonly confused with `-`.
///
/// The soft hyphen is none of them: it is not seen.
pub(crate) fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{02D7}' // modifier letter minus sign
            | '\u{058A}' // Armenian hyphen
            | '\u{05BE}' // Hebrew maqaf
            | '\u{2010}'
            ..='\u{2015}' // hyphen, non-breaking hyphen, figure dash, en dash, em dash, bar
            | '\u{2043}' // hyphen bullet
            | '\u{207B}' | '\u{208B}' // superscript and subscript minus
            | '\u{2212}' // minus sign
            | '\u{2796}' // heavy minus sign
            | '\u{2E3A}' | '\u{2E3B}' // two-em and three-em dash
            | '\u{FE31}' | '\u{FE32}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' // presentation forms
    )
}

/// Apostrophes, single quotation marks, primes and accents that stand for them.
pub(crate) fn is_single_quote(c: char) -> bool {
    matches!(
        c,
        '\'' | '`'
            | '´'
            | '\u{02B9}'
            | '\u{02BB}'..='\u{02BD}'
            | '\u{2018}'..='\u{201B}'
            | '\u{2032}'
            | '\u{2035}'
            | '\u{2039}'
            | '\u{203A}'
            | '\u{FF07}'
            | '\u{FF40}'
    )
}

/// Double quotation marks and double primes.
pub(crate) fn is_double_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '«'
            | '»'
            | '\u{02BA}'
            | '\u{201C}'..='\u{201F}'
            | '\u{2033}'
            | '\u{2036}'
            | '\u{301D}'..='\u{301F}'
            | '\u{FF02}'
    )
}

/// Any quotation mark.
pub(crate) fn is_quote(c: char) -> bool {
    is_single_quote(c) || is_double_quote(c)
}

/// Round, square, curly and typographic brackets; `<` and `>` are signs of comparison.
pub(crate) fn is_bracket(c: char) -> bool {
    is_opening_bracket(c) || is_closing_bracket(c)
}

/// The bracket at the beginning of what it encloses.
pub(crate) fn is_opening_bracket(c: char) -> bool {
    match c {
        '(' | '[' | '{' => true,
        // Low quotation marks are opening punctuation too.
        _ => !c.is_ascii() && c.general_category() == GeneralCategory::OpenPunctuation && !is_quote(c),
    }
}

/// The bracket at the end of what it encloses.
pub(crate) fn is_closing_bracket(c: char) -> bool {
    match c {
        ')' | ']' | '}' => true,
        _ => !c.is_ascii() && c.general_category() == GeneralCategory::ClosePunctuation && !is_quote(c),
    }
}

/// Full stop, comma, colon and the like: what stands after a word and before white space.
pub(crate) fn is_stop(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '…'
            | '‥'
            | '‼'
            | '⁇'
            | '⁈'
            | '⁉'
            | '·'
            | '؟'
            | '،'
            | '؛'
            | '。'
            | '、'
            | '，'
            | '．'
            | '：'
            | '；'
            | '！'
            | '？'
            | '｡'
            | '､'
    )
}

/// Unicode punctuation without the signs that are parts of names: `DPYD*5`, `R&D`, `GENE_EVAL`, `#4`.
pub(crate) fn is_punctuation(c: char) -> bool {
    match c {
        '*' | '#' | '&' | '@' | '_' | '\\' | '§' | '¶' | '†' | '‡' | '※' => false,
        _ if c.is_ascii() => c.is_ascii_punctuation() && !is_ascii_symbol(c),
        _ => c.general_category_group() == GeneralCategoryGroup::Punctuation,
    }
}

/// What Unicode calls a symbol, not punctuation.
fn is_ascii_symbol(c: char) -> bool {
    matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_punctuation_is_that_of_unicode_but_for_signs_in_names() {
        for c in (0..=0x7F_u8).map(char::from) {
            let unicode = c.general_category_group() == GeneralCategoryGroup::Punctuation;
            let in_names = matches!(c, '*' | '#' | '&' | '@' | '_' | '\\');
            assert_eq!(is_punctuation(c), unicode && !in_names, "{c:?}");
        }
    }

    #[test]
    fn families_do_not_overlap() {
        for c in '\0'..='\u{FFFF}' {
            let families = [
                is_dash(c),
                is_single_quote(c),
                is_double_quote(c),
                is_bracket(c),
                is_stop(c),
            ];
            assert!(families.iter().filter(|&&member| member).count() <= 1, "{c:?}");
            assert!(!(is_opening_bracket(c) && is_closing_bracket(c)), "{c:?}");
            assert!(
                !families.contains(&true) || !c.is_alphanumeric() || is_modifier(c),
                "{c:?}"
            );
        }
    }

    /// Modifier letters look like quotes and dashes, and are written for them.
    fn is_modifier(c: char) -> bool {
        c.general_category() == GeneralCategory::ModifierLetter
    }
}
