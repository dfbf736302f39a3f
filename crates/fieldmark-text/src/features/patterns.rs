//! [`Pattern`]: the 25 static patterns of Klinger (2011), Table 2.3, each held against a whole token.
//!
//! Expressions that the printed table has lost are rebuilt so that its positive and negative examples hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident $text:literal $expression:literal;)*) => {
        /// A static pattern.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Pattern { $($(#[$doc])* $name,)* }

        impl Pattern {
            /// All patterns, in the order of the table.
            pub const ALL: [Pattern; [$($text),*].len()] = [$(Pattern::$name),*];

            /// Its name in observations.
            pub fn name(self) -> &'static str {
                match self { $(Pattern::$name => $text,)* }
            }

            /// The expression that has to match the whole token.
            pub fn expression(self) -> &'static str {
                match self { $(Pattern::$name => $expression,)* }
            }
        }
    };
}

patterns! {
    /// `Doctor`, `ATG`, `P.`
    InitCap "INITCAP" r"[A-Z].*";
    /// `Doctor`, not `ATG`.
    InitCapAlpha "INITCAPALPHA" r"[A-Z][a-z].*";
    /// `ATG`, not `P.`
    AllCaps "ALLCAPS" r"[A-Z]+";
    /// `Doctor`, not `I`: the printed star would take it.
    Capitalized "CAPITALIZED" r"[A-Z][a-z]+";
    /// `BioCreative`, not `mRNA`.
    MixedCaps "MIXEDCAPS" r"[A-Z][a-z]+[A-Z][A-Za-z]*";
    /// `Cul4a`.
    HasDigit "HASDIGIT" r".*[0-9].*";
    /// `9`.
    SingleDigit "SINGLEDIGIT" r"[0-9]";
    /// `59`.
    DoubleDigit "DOUBLEDIGIT" r"[0-9][0-9]";
    /// `135`, not `5.6`.
    NaturalNumber "NATURALNUMBER" r"[0-9]+";
    /// `5.6`, `-5,6`.
    RealNumber "REALNUMBER" r"[-0-9]+[.,][0-9]+";
    /// `5-6`.
    HasDash "HASDASH" r".*-.*";
    /// `-like`.
    InitDash "INITDASH" r"-.*";
    /// `web-`.
    EndDash "ENDDASH" r".*-";
    /// `Cul4a`, `6`, not `5-6`.
    Alphanumeric "ALPHANUMERIC" r"[A-Za-z0-9]+";
    /// `.` and `,`; the printed range from `!` to `+` includes quotes and brackets.
    Punctuation "PUNCTUATION" r"[.,;:?!-+]";
    /// `..`
    MultiDots "MULTIDOTS" r"\.\.+";
    /// `Dr.`, not `.M.`
    EndDot "ENDDOT" r"[^.]+.*\.";
    /// `A.b`, not `Dr.`
    HasDot "HASDOT" r".+\..+";
    /// `U.S.`, not `Dr.`
    Acronym "ACRONYM" r"[A-Z][A-Z.]*\.[A-Z.]*";
    /// `H.`
    Initial "INITIAL" r"[A-Z]\.";
    /// `A`, `c`.
    SingleCharacter "SINGLECHARACTER" r"[A-Za-z]";
    /// `A`, not `c`.
    SingleCapital "SINGLECAPITAL" r"[A-Z]";
    /// Quotes of any kind.
    Quote "QUOTE" "[\"'`´‘’‚‛“”„‟«»‹›]";
    /// `/` and `\`.
    Slash "SLASH" r"[\\/]";
    /// `(`, `[`, `)`, `]`, not `{`.
    Bracket "BRACKET" r"[(\[\])]";
}

static SET: LazyLock<regex::RegexSet> = LazyLock::new(|| {
    let expressions = Pattern::ALL.map(|pattern| format!("(?s)^(?:{})$", pattern.expression()));
    // They are constants, and a test compiles them all.
    regex::RegexSet::new(expressions).unwrap_or_default()
});

/// Calls `found` with every pattern that a token has, in the order of the table.
pub fn for_each(token: &str, mut found: impl FnMut(Pattern)) {
    SET.matches(token)
        .iter()
        .for_each(|index| found(Pattern::ALL[index]));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of Table 2.3.
    #[test]
    fn examples_of_the_table() {
        use Pattern::*;
        assert_eq!(SET.len(), 25);
        let table: [(Pattern, &[&str], &[&str]); 25] = [
            (InitCap, &["Doctor", "ATG", "P."], &["then", "a", "."]),
            (InitCapAlpha, &["Doctor", "Michael"], &["ATG", "P."]),
            (AllCaps, &["ATG", "I"], &["P.", "Doctor"]),
            (Capitalized, &["Doctor", "Michael"], &["I", "P."]),
            (MixedCaps, &["BioCreative"], &["ATG", "mRNA"]),
            (HasDigit, &["59", "MMP14", "Cul4a"], &["Michael"]),
            (SingleDigit, &["9", "5"], &["59", "Cul4a"]),
            (DoubleDigit, &["59", "25"], &["9", "5", "7a"]),
            (NaturalNumber, &["9", "5", "59", "135"], &["5.6", "7a"]),
            (RealNumber, &["5.6", "-5,6"], &["9", "56"]),
            (HasDash, &["2-methyl", "5-6"], &["methyl"]),
            (InitDash, &["-6.5", "-like"], &["5-6"]),
            (EndDash, &["5-", "web-"], &["5-6"]),
            (Alphanumeric, &["Cul4a", "Michael", "6"], &["5-6", "Dr."]),
            (Punctuation, &[".", ",", "(", "\""], &["5.", "-"]),
            (MultiDots, &["..", "..."], &["."]),
            (EndDot, &["Dr.", "Mr."], &[".M."]),
            (HasDot, &["A.b"], &["Dr."]),
            (Acronym, &["P.", "U.S.", "L.A.S.E.R"], &["Dr."]),
            (Initial, &["H."], &["Mr."]),
            (SingleCharacter, &["A", "B", "c"], &["Aa", "H."]),
            (SingleCapital, &["A", "B"], &["c"]),
            (Quote, &["\"", "'", "”"], &["a"]),
            (Slash, &["/", "\\"], &["-", "_"]),
            (Bracket, &["[", ")"], &["{"]),
        ];
        for (pattern, positive, negative) in table {
            let has = |token| {
                let mut has = false;
                for_each(token, |found| has |= found == pattern);
                has
            };
            positive
                .iter()
                .for_each(|token| assert!(has(token), "{token} has {pattern:?}"));
            negative
                .iter()
                .for_each(|token| assert!(!has(token), "{token} has no {pattern:?}"));
        }
    }
}
