//! [`RsNumbers`]: variations by their number in dbSNP, such as rs1234567.

use super::add_identifier;
use crate::dictionaries::{Dictionary, DictionaryError, DictionaryOptions, Fold};
use crate::document::{Annotation, Document};
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::LazyLock;

/// What an [`RsNumbers`] is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RsNumbersOptions {
    /// The type of the annotations.
    #[serde(rename = "type")]
    pub kind: String,
    /// Words of which one has to be in the document, in any letter case; none is needed if there is none.
    pub keywords: Vec<String>,
    /// What is never such a number, in any letter case and with or without blanks.
    pub never: Vec<String>,
}

impl Default for RsNumbersOptions {
    /// The keywords of Klinger (2011, section 6.2.5) with their plurals, and a cell line, a computer, an interface,
    /// rupees and a chemical compound as what is never meant.
    fn default() -> Self {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Self {
            kind: "rs-number".to_owned(),
            keywords: owned(&["mutation", "mutations", "SNP", "SNPs"]),
            never: owned(&["RS1", "rs6000", "RS485", "Rs1000", "RS61433"]),
        }
    }
}

/// Finds the numbers of variations in dbSNP by what they look like, if the document is about mutations.
///
/// Each becomes an annotation with the identifier `dbSNP:rs…`, unless there is one with the same borders, which
/// then gets the identifier.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RsNumbersOptions", into = "RsNumbersOptions")]
pub struct RsNumbers {
    options: RsNumbersOptions,
    keywords: Dictionary,
    never: Dictionary,
}

static LOOKS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[rR][sS] *([0-9]+)").expect("the expression is valid"));

impl RsNumbers {
    /// Checks the words.
    pub fn new(options: RsNumbersOptions) -> Result<Self, DictionaryError> {
        let list = |words: &[String], spaces| {
            let compare = DictionaryOptions {
                ignore_case: true,
                spaces,
                ..DictionaryOptions::default()
            };
            Dictionary::new(compare, words.iter().map(|word| (word.as_str(), [])))
        };
        Ok(Self {
            keywords: list(&options.keywords, Fold::Alike)?,
            never: list(&options.never, Fold::Ignore)?,
            options,
        })
    }

    /// The options that it was made with.
    pub fn options(&self) -> &RsNumbersOptions {
        &self.options
    }

    /// Where numbers stand in a text, each with its identifier.
    pub fn find(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let found: Vec<(Range<usize>, String)> = LOOKS
            .captures_iter(text)
            .filter_map(|captures| captures.get(0).zip(captures.get(1)))
            .filter(|(whole, _)| starts_word(text, whole.start()) && self.never.get(whole.as_str()).is_none())
            .map(|(whole, number)| (whole.range(), format!("dbSNP:rs{}", number.as_str())))
            .collect();
        if found.is_empty() || self.is_about_mutations(text) {
            found
        } else {
            Vec::new()
        }
    }

    fn is_about_mutations(&self, text: &str) -> bool {
        let mut has_keyword = self.keywords.is_empty();
        if !has_keyword {
            self.keywords.find(text, |_, _| has_keyword = true);
        }
        has_keyword
    }

    pub(super) fn apply(&self, document: &mut Document) {
        for (range, identifier) in self.find(&document.text) {
            let annotations = &mut document.annotations;
            let mut is_known = false;
            for known in annotations
                .iter_mut()
                .filter(|known| known.fragments == [range.clone()])
            {
                add_identifier(known, &identifier);
                is_known = true;
            }
            if !is_known {
                annotations.push(Annotation {
                    identifiers: vec![identifier],
                    ..Annotation::new(range, self.options.kind.as_str())
                });
            }
        }
    }
}

/// `hours 12` is about no variation.
fn starts_word(text: &str, at: usize) -> bool {
    !text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
}

/// Two are the same if their options are.
impl PartialEq for RsNumbers {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Eq for RsNumbers {}

impl TryFrom<RsNumbersOptions> for RsNumbers {
    type Error = DictionaryError;

    fn try_from(options: RsNumbersOptions) -> Result<Self, DictionaryError> {
        Self::new(options)
    }
}

impl From<RsNumbers> for RsNumbersOptions {
    fn from(numbers: RsNumbers) -> Self {
        numbers.options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        let numbers = RsNumbers::new(RsNumbersOptions::default()).unwrap();
        let found = numbers.find(text).into_iter();
        found.map(|(_, identifier)| identifier).collect()
    }

    /// What Klinger (2011) names as mentions, and as false ones.
    #[test]
    fn mentions_and_what_looks_like_them() {
        assert_eq!(found("the SNP rs1234567"), ["dbSNP:rs1234567"]);
        assert_eq!(
            found("a mutation, RS 334 or Rs429358."),
            ["dbSNP:rs334", "dbSNP:rs429358"]
        );
        for name in ["RS1", "rs6000", "RS485", "Rs1000", "RS61433", "rs 6000", "rs1"] {
            assert!(found(&format!("an SNP and {name}.")).is_empty(), "{name}");
        }
        assert_eq!(found("SNPs (rs10, rs11)"), ["dbSNP:rs10", "dbSNP:rs11"]);
        assert!(found("mutation after 3 hours 12").is_empty());
    }

    #[test]
    fn only_where_a_keyword_is() {
        assert!(found("rs1234567 is a number").is_empty());
        assert!(found("rs1234567 in commutation").is_empty());
        for keyword in ["mutation", "Mutations", "snp", "SNPs", "SNP-based"] {
            assert_eq!(found(&format!("rs1234567: {keyword}")).len(), 1, "{keyword}");
        }
        let any: RsNumbers = toml::from_str("keywords = []\nnever = []").unwrap();
        assert_eq!(any.find("rs6000").len(), 1);
        assert!(toml::from_str::<RsNumbers>("keywords = ['']").is_err());
    }

    #[test]
    fn adds_annotations_and_identifiers() {
        let numbers: RsNumbers = toml::from_str("type = 'SNP'").unwrap();
        let mut document = Document::new("1", "mutation rs12, rs 34");
        document.annotations.push(Annotation::new(15..20, "VARIATION"));
        numbers.apply(&mut document);
        numbers.apply(&mut document);
        assert_eq!(document.check(), Ok(()));
        let all: Vec<_> = document
            .annotations
            .iter()
            .map(|annotation| {
                (
                    annotation.text(&document.text),
                    annotation.kind.as_str(),
                    annotation.identifiers.concat(),
                )
            })
            .collect();
        assert_eq!(
            all,
            [
                ("rs 34", "VARIATION", "dbSNP:rs34".to_owned()),
                ("rs12", "SNP", "dbSNP:rs12".to_owned())
            ]
        );
    }

    proptest! {
        #[test]
        fn ranges_are_of_the_text(text in "[rRsS0-2 äSNP.]{0,30}") {
            let numbers: RsNumbers = toml::from_str("keywords = []").unwrap();
            for (range, identifier) in numbers.find(&text) {
                let digits: String = text[range].chars().filter(char::is_ascii_digit).collect();
                prop_assert_eq!(identifier, format!("dbSNP:rs{digits}"));
            }
        }
    }
}
