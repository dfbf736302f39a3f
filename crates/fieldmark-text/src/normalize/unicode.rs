//! The normal forms of Unicode, and case folding.

use super::rewriter::Rewriter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// A normal form of Unicode (UAX #15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnicodeForm {
    /// `nfc`: composed characters. Looks the same: `é` is one character.
    Nfc,
    /// `nfkc`: composed, and without differences of form: `ﬁ` is `fi`, `²` is `2`, `Ａ` is `A`.
    Nfkc,
}

impl UnicodeForm {
    pub(super) fn rewrite(self, text: &mut Rewriter<'_>) {
        let source = text.source();
        if self.quick(source.chars()) == IsNormalized::Yes {
            return;
        }
        let mut start = 0;
        let mut buffer = String::new();
        for (at, c) in source.char_indices() {
            if at > start && self.begins_anew(c) {
                self.rewrite_part(text, start..at, &mut buffer);
                start = at;
            }
        }
        self.rewrite_part(text, start..source.len(), &mut buffer);
    }

    /// A part that no other character has an effect on.
    fn rewrite_part(self, text: &mut Rewriter<'_>, part: Range<usize>, buffer: &mut String) {
        let source = &text.source()[part.clone()];
        if source.is_ascii() {
            return;
        }
        buffer.clear();
        match self {
            Self::Nfc => buffer.extend(source.nfc()),
            Self::Nfkc => buffer.extend(source.nfkc()),
        }
        text.replace(part, buffer);
    }

    /// Whether a character never combines with those before it.
    fn begins_anew(self, c: char) -> bool {
        if c.is_ascii() {
            return true;
        }
        let mut first = None;
        decompose_compatible(c, |part| {
            first.get_or_insert(part);
        });
        let first = first.unwrap_or(c);
        canonical_combining_class(first) == 0 && self.quick(std::iter::once(first)) == IsNormalized::Yes
    }

    fn quick(self, chars: impl Iterator<Item = char>) -> IsNormalized {
        match self {
            Self::Nfc => is_nfc_quick(chars),
            Self::Nfkc => is_nfkc_quick(chars),
        }
    }
}

pub(super) fn fold_case(text: &mut Rewriter<'_>) {
    let is_meant = |c: char| !c.is_ascii() || c.is_ascii_uppercase();
    text.replace_chars(is_meant, |c, out| fold_char(c, |folded| out.push(folded)));
}

/// Case folding of a character by upper and then lower case, which takes `ß` to `ss` and `ς` to `σ`.
pub(crate) fn fold_char(c: char, mut each: impl FnMut(char)) {
    match c {
        // Without its dot it is another letter, and stays one.
        'ı' => each(c),
        _ => c
            .to_lowercase()
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase)
            .for_each(each),
    }
}
