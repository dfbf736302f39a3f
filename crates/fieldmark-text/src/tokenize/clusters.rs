//! Grapheme clusters: what a reader takes for one character, and no tokenizer may cut.
//!
//! A letter with combining accents, an emoji of several people or a flag is one cluster (UAX #29). Its kind
//! is that of its first character. White space is never part of a cluster here, whatever stands around it.

use unicode_segmentation::UnicodeSegmentation;

/// What kind of character a cluster begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Alphabetic in the sense of Unicode.
    Letter,
    /// A digit or another numeral that is no letter, such as `²` and `½`.
    Digit,
    /// Everything else, except white space.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    pub first: char,
    pub kind: Kind,
    /// Byte offset after the cluster.
    pub end: usize,
}

impl Cluster {
    pub fn is_letter(self) -> bool {
        self.kind == Kind::Letter
    }

    pub fn is_digit(self) -> bool {
        self.kind == Kind::Digit
    }

    pub fn is_alphanumeric(self) -> bool {
        self.kind != Kind::Other
    }
}

/// The clusters of a text, found from left to right.
#[derive(Clone, Copy)]
pub(super) struct Clusters<'a> {
    text: &'a str,
}

impl<'a> Clusters<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// The cluster that begins at `at`, unless that is the end or white space.
    #[inline]
    pub fn get(self, at: usize) -> Option<Cluster> {
        let bytes = self.text.as_bytes();
        let &byte = bytes.get(at)?;
        if !byte.is_ascii() || bytes.get(at + 1).is_some_and(|next| !next.is_ascii()) {
            return self.get_wide(at);
        }
        let first = char::from(byte);
        (!first.is_whitespace()).then(|| Cluster {
            first,
            kind: kind(first),
            end: at + 1,
        })
    }

    /// The cluster at `at` where a character beyond ASCII is near.
    fn get_wide(self, at: usize) -> Option<Cluster> {
        let rest = &self.text[at..];
        let mut chars = rest.chars();
        let first = chars.next().filter(|c| !c.is_whitespace())?;
        let alone = stands_alone(first) && chars.next().is_none_or(stands_alone);
        let len = if alone {
            first.len_utf8()
        } else {
            let cluster = rest.graphemes(true).next().unwrap_or(rest);
            cluster.find(char::is_whitespace).unwrap_or(cluster.len())
        };
        Some(Cluster {
            first,
            kind: kind(first),
            end: at + len,
        })
    }
}

/// Scripts whose characters never form a cluster with each other: Latin, Greek, Cyrillic, Chinese.
///
/// A shortcut of UAX #29 for what most texts consist of.
fn stands_alone(c: char) -> bool {
    matches!(c, '\0'..='\u{2FF}' | '\u{370}'..='\u{482}' | '\u{4E00}'..='\u{9FFF}')
}

fn kind(c: char) -> Kind {
    if c.is_alphabetic() {
        Kind::Letter
    } else if c.is_numeric() {
        Kind::Digit
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clusters(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(cluster) = Clusters::new(text).get(at) {
            found.push(&text[at..cluster.end]);
            at = cluster.end;
        }
        found
    }

    #[test]
    fn combining_sequences_and_emoji_are_whole() {
        for whole in [
            "e\u{301}",
            "👩‍👩‍👧",
            "🇩🇪",
            "❤\u{FE0F}",
            "1\u{FE0F}\u{20E3}",
            "각",
            "नि",
        ] {
            assert_eq!(clusters(whole), [whole]);
        }
        assert_eq!(clusters("🇩🇪🇫🇷é"), ["🇩🇪", "🇫🇷", "é"]);
    }

    #[test]
    fn white_space_ends_every_cluster() {
        // The Arabic number sign takes whatever follows into its cluster.
        assert_eq!(clusters("\u{600} 5"), ["\u{600}"]);
        assert!(clusters(" \u{301}").is_empty());
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_unicode(text in "[a-z0-9éΑ-ωа-я字\u{301}\u{200D}👩❤\u{FE0F}🇩🇪각\u{600}]{0,20}") {
            prop_assert_eq!(clusters(&text), text.graphemes(true).collect::<Vec<_>>());
        }

        #[test]
        fn the_shortcut_is_no_other_rule(left in any::<char>(), right in any::<char>()) {
            prop_assume!(stands_alone(left) && stands_alone(right) && (left, right) != ('\r', '\n'));
            prop_assert_eq!(format!("{left}{right}").graphemes(true).count(), 2);
        }
    }
}
