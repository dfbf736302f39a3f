//! [`TokenizerProfile`]: which tokens a text has, by name.

use super::Expressions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where a [`Tokenizer`](super::Tokenizer) cuts.
///
/// White space always separates and is never part of a token; no profile cuts inside a grapheme cluster (a
/// letter with its accents, an emoji). "Letter" and "digit" are meant in the sense of Unicode. Chinese,
/// Japanese and Thai have no spaces between words, and no profile has a dictionary: a run of their letters
/// is one token, which ends where the profile cuts around digits and punctuation. To cut between Chinese
/// characters, use [`Custom`](Self::Custom) with `\p{Han}` as first expression.
///
/// In a config, a profile is its name, or a table with expressions:
///
/// ```toml
/// tokenizer = "fine"
/// tokenizer = { custom = ['\d+(?:\.\d+)?', '\p{L}+'] }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TokenizerProfile {
    /// `whitespace`: cuts at white space only.
    ///
    /// `DPYD*5 (A1627G) … are 12.7%` is `DPYD*5` `(A1627G)` `…` `are` `12.7%`. Chinese text is cut at its
    /// spaces, if it has any.
    Whitespace,

    /// `punctuation`: every punctuation mark is a token, and all between them.
    ///
    /// Punctuation is what Unicode calls so, brackets, dashes and `%` included, without signs that are parts
    /// of names: `*`, `#`, `&`, `@`, `_`, `\`, `§`, `¶`, `†`, `‡`, `※`. Symbols such as `+`, `<` and `=` are no
    /// punctuation.
    ///
    /// `DPYD*5 (A1627G) … are 12.7%` is `DPYD*5` `(` `A1627G` `)` `…` `are` `12` `.` `7` `%`. Chinese text is
    /// cut at `，` and `。`.
    Punctuation,

    /// `non-alphabetic`: a run of letters is a token, and every other character is one of its own.
    ///
    /// `DPYD*5 (A1627G)` is `DPYD` `*` `5` `(` `A` `1` `6` `2` `7` `G` `)`.
    NonAlphabetic,

    /// `punctuation-before-space`: cuts at brackets, and at stops and quotation marks if white space follows.
    ///
    /// Stops are `.` `,` `;` `:` `!` `?` `…` and their forms in other scripts. The end of the text, a bracket
    /// and another such mark that is cut off count as white space: of `(yes.)`, the stop is a token.
    ///
    /// `DPYD*5 (A1627G) … are 12.7% … respectively.` is `DPYD*5` `(` `A1627G` `)` `…` `are` `12.7%` `…`
    /// `respectively` `.`. Klinger (2011) finds it the most reasonable one for prose. In Chinese text only the
    /// last stop before white space is cut off.
    #[default]
    PunctuationBeforeSpace,

    /// `fine`: runs of letters, runs of digits, and every other character on its own.
    ///
    /// For names with inner structure: `214C->T` is `214` `C` `-` `>` `T`; of `2-methyl-1,3-butadiene`,
    /// `2`, `methyl`, `1`, `3` and `butadiene` are tokens, and what is between them.
    Fine,

    /// `abner`: as [`fine`](Self::Fine), but a dash belongs to the letters or digits after it.
    ///
    /// `5-nucleotidase` is `5` `-nucleotidase`, as in the gene tagger ABNER (Settles 2005). A dash before
    /// anything else is a token of its own.
    Abner,

    /// `dash`: runs of letters and digits together, and every other character on its own.
    ///
    /// `5-nucleotidase` is `5` `-` `nucleotidase`, and `Htr1b` is whole. The best one for gene names in Klinger
    /// (2011).
    Dash,

    /// `locants`: as [`dash`](Self::Dash), but digits with inner points and commas stay together.
    ///
    /// `1,3-dimethyl` is `1,3` `-` `dimethyl`; `5.6` and `6H` are whole.
    Locants,

    /// `clinical`: words with their digits, numbers without their units.
    ///
    /// - A **word** is a letter and the letters, digits and inner apostrophes after it: `HbA1c`, `Crohn's`.
    /// - A **number** is digits with inner points or commas: `2.5`, `20,000`. It ends before a letter, so
    ///   `40mg` is `40` `mg`, just as `40 mg` is: amounts look alike however they were typed.
    /// - A **dotted abbreviation** of single letters is one token: `p.o.`, `b.i.d.`, `e.g.`
    /// - Every other character is a token of its own, hyphens and slashes too.
    Clinical,

    /// `{ custom = [...] }`: tokens by regular expressions, see [`Expressions`].
    Custom(Expressions),
}

impl TokenizerProfile {
    /// All profiles that have a name and need nothing else.
    pub const NAMED: [Self; 9] = [
        Self::Whitespace,
        Self::Punctuation,
        Self::NonAlphabetic,
        Self::PunctuationBeforeSpace,
        Self::Fine,
        Self::Abner,
        Self::Dash,
        Self::Locants,
        Self::Clinical,
    ];

    /// The name in a config.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Whitespace => "whitespace",
            Self::Punctuation => "punctuation",
            Self::NonAlphabetic => "non-alphabetic",
            Self::PunctuationBeforeSpace => "punctuation-before-space",
            Self::Fine => "fine",
            Self::Abner => "abner",
            Self::Dash => "dash",
            Self::Locants => "locants",
            Self::Clinical => "clinical",
            Self::Custom(_) => "custom",
        }
    }
}

impl fmt::Display for TokenizerProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no profile's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no tokenizer profile. There are {known}, and `custom` with a list of regular expressions",
    known = TokenizerProfile::NAMED.map(|profile| format!("`{profile}`")).join(", "))]
pub struct UnknownProfile {
    name: String,
}

impl FromStr for TokenizerProfile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        let found = Self::NAMED.into_iter().find(|profile| profile.name() == name);
        found.ok_or_else(|| UnknownProfile {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_configs_and_on_command_lines() {
        for profile in TokenizerProfile::NAMED {
            assert_eq!(profile.to_string().parse(), Ok(profile.clone()));
            let json = format!("\"{profile}\"");
            assert_eq!(serde_json::to_string(&profile).unwrap(), json);
            assert_eq!(serde_json::from_str::<TokenizerProfile>(&json).unwrap(), profile);
        }
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let error = "fin".parse::<TokenizerProfile>().unwrap_err().to_string();
        assert!(error.starts_with("`fin` is no tokenizer profile. There are `whitespace`, "));
        assert!("custom".parse::<TokenizerProfile>().is_err());
    }

    #[test]
    fn lives_in_a_config() {
        #[derive(Serialize, Deserialize)]
        struct Config {
            tokenizer: TokenizerProfile,
        }
        let config: Config = toml::from_str("tokenizer = 'non-alphabetic'").unwrap();
        assert_eq!(config.tokenizer, TokenizerProfile::NonAlphabetic);
        let config: Config = toml::from_str(r"tokenizer = { custom = ['\d+', '\p{L}+'] }").unwrap();
        assert!(matches!(&config.tokenizer, TokenizerProfile::Custom(list) if list.patterns().len() == 2));
        let again: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
        assert_eq!(again.tokenizer, config.tokenizer);
        let error = toml::from_str::<Config>("tokenizer = { custom = ['a', '['] }")
            .err()
            .unwrap();
        assert!(error.to_string().contains("expression 2 `[`"), "{error}");
    }
}
