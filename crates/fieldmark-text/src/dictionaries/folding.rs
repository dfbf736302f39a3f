//! [`DictionaryOptions`]: which differences of spelling between a name and a text do not count.

use crate::characters::is_dash;
use crate::normalize::fold_char;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which differences between a name in a dictionary and a text do not count.
///
/// ```toml
/// dictionary = { ignore_case = true, dashes = "ignore", spaces = "ignore" }
/// ```
///
/// ignores letter case, and finds `IL-2`, `IL 2` and `IL2` alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DictionaryOptions {
    /// Whether capital and small letters are the same, in the sense of Unicode case folding (`ß` is `ss`).
    pub ignore_case: bool,
    /// What hyphens, dashes and minus signs count.
    pub dashes: Fold,
    /// What white space counts.
    pub spaces: Fold,
}

/// What the characters of a family count when names are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fold {
    /// `exact`: each is itself.
    Exact,
    /// `alike`: each is the same as any other of the family; any amount of white space is one blank.
    #[default]
    Alike,
    /// `ignore`: as if they were not there.
    Ignore,
}

/// Folds a text part by part into bytes that can be compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folder {
    options: DictionaryOptions,
    /// White space that has been seen since the last byte.
    space: bool,
    begun: bool,
}

impl Folder {
    pub fn new(options: DictionaryOptions) -> Self {
        Self {
            options,
            space: false,
            begun: false,
        }
    }

    /// Hands the bytes of the next part to `each` until that says `false`, and says whether it never did.
    #[inline]
    pub fn feed(&mut self, part: &str, each: &mut impl FnMut(u8) -> bool) -> bool {
        let mut at = 0;
        while let Some(&byte) = part.as_bytes().get(at) {
            let goes_on = if is_plain(byte) {
                at += 1;
                self.before_character(each) && each(self.folded(byte))
            } else {
                let Some(c) = part[at..].chars().next() else { break };
                at += c.len_utf8();
                self.feed_char(c, each)
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    #[inline]
    fn folded(&self, byte: u8) -> u8 {
        match self.options.ignore_case {
            true => byte.to_ascii_lowercase(),
            false => byte,
        }
    }

    fn feed_char(&mut self, c: char, each: &mut impl FnMut(u8) -> bool) -> bool {
        let (fold, one) = if c.is_whitespace() {
            (self.options.spaces, None)
        } else if is_dash(c) {
            (self.options.dashes, Some('-'))
        } else {
            return self.feed_other(c, each);
        };
        match (fold, one) {
            (Fold::Ignore, _) => true,
            (Fold::Exact, _) => self.before_character(each) && feed_bytes(c, each),
            (Fold::Alike, Some(one)) => self.before_character(each) && feed_bytes(one, each),
            (Fold::Alike, None) => {
                self.space = true;
                true
            }
        }
    }

    fn feed_other(&mut self, c: char, each: &mut impl FnMut(u8) -> bool) -> bool {
        if !self.before_character(each) {
            return false;
        }
        if !self.options.ignore_case {
            return feed_bytes(c, each);
        }
        let mut goes_on = true;
        fold_char(c, |folded| goes_on = goes_on && feed_bytes(folded, each));
        goes_on
    }

    /// The blank that stands for the white space before a character.
    #[inline]
    fn before_character(&mut self, each: &mut impl FnMut(u8) -> bool) -> bool {
        let blank = self.space && self.begun;
        (self.space, self.begun) = (false, true);
        !blank || each(b' ')
    }
}

/// Neither white space nor a dash, and folded without a table.
#[inline]
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'-'
}

fn feed_bytes(c: char, each: &mut impl FnMut(u8) -> bool) -> bool {
    c.encode_utf8(&mut [0; 4]).bytes().all(each)
}

impl DictionaryOptions {
    /// Adds the bytes of a whole name.
    pub(super) fn fold_into(self, name: &str, folded: &mut Vec<u8>) {
        Folder::new(self).feed(name.trim(), &mut |byte| {
            folded.push(byte);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(name: &str, ignore_case: bool, dashes: Fold, spaces: Fold) -> String {
        let options = DictionaryOptions {
            ignore_case,
            dashes,
            spaces,
        };
        let mut bytes = Vec::new();
        options.fold_into(name, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_family_by_its_option() {
        use Fold::{Alike, Exact, Ignore};
        let name = " IL –\u{A0} 2  Straße ";
        assert_eq!(folded(name, false, Exact, Exact), name.trim());
        assert_eq!(folded(name, false, Alike, Alike), "IL - 2 Straße");
        assert_eq!(folded(name, true, Ignore, Alike), "il 2 strasse");
        assert_eq!(folded(name, true, Alike, Ignore), "il-2strasse");
        assert_eq!(folded(name, true, Ignore, Ignore), "il2strasse");
        assert_eq!(folded("- -", true, Ignore, Ignore), "");
    }

    proptest! {
        /// Against normalisation, which is the definition of case folding and of dashes.
        #[test]
        fn as_normalised(name in "[a-cA-C \u{2003}\t–−Ⅳßςİı-]{0,20}") {
            use crate::normalize::{Normalizer, Step};
            let normal = Normalizer::new(vec![Step::Dashes, Step::Case]).normalize(&name).into_text();
            let words: Vec<&str> = normal.split_whitespace().collect();
            prop_assert_eq!(folded(&name, true, Fold::Alike, Fold::Alike), words.join(" "));
            prop_assert_eq!(folded(&name, true, Fold::Alike, Fold::Ignore), words.concat());
            prop_assert_eq!(folded(&name, true, Fold::Ignore, Fold::Ignore), words.concat().replace('-', ""));
        }

        #[test]
        fn parts_fold_as_the_whole(name in "[a-cA-C äΣ–-]{0,12}", cut in 0..12_usize, spaces in 0..3_usize) {
            let spaces = [Fold::Exact, Fold::Alike, Fold::Ignore][spaces];
            let options = DictionaryOptions { ignore_case: true, dashes: Fold::Alike, spaces };
            let name = name.trim();
            let cut = name.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(name.len());
            let mut folder = Folder::new(options);
            let mut bytes = Vec::new();
            for part in [&name[..cut], &name[cut..]] {
                let goes_on = folder.feed(part, &mut |byte| { bytes.push(byte); true });
                prop_assert!(goes_on);
            }
            let mut whole = Vec::new();
            options.fold_into(name, &mut whole);
            prop_assert_eq!(bytes, whole);
        }
    }
}
