//! [`CanonicalForm`]: one spelling of the many that a name has.

use crate::normalize::{Normalizer, StemLanguage, Stemmer, Step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How spellings of a name are reduced to one (Klinger 2011, section 4.3.5): letter case, `ph` for `f`, the endings
/// of words, white space.
///
/// Digits, locants and punctuation stay, and so does the order of words, which has a meaning in chemical names.
///
/// ```
/// use fieldmark_text::identify::CanonicalForm;
/// let form = CanonicalForm::default();
/// assert_eq!(form.of("4-Amino-pyridines"), form.of("4-aminopyridine"));
/// assert_eq!(form.of("Sulphur dioxide"), form.of("sulfur  dioxide"));
/// assert_ne!(form.of("1,2-dinitrophenol"), form.of("2,1-dinitrophenol"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CanonicalForm {
    /// What is done first: entities, Greek letters, British spelling. Case and dashes are always folded.
    pub normalize: Normalizer,
    /// Whether `ph` is the same as `f`.
    pub ph_is_f: bool,
    /// Whether words lose their endings.
    pub stem: bool,
    /// Of which language the endings are.
    pub language: StemLanguage,
    /// Whether a hyphen between two words does not count. Hyphens beside numbers and single letters always do:
    /// there they belong to a locant, as in `2-methyl` and `N-methyl`.
    pub ignore_hyphens: bool,
}

impl Default for CanonicalForm {
    fn default() -> Self {
        Self {
            normalize: Normalizer::default(),
            ph_is_f: true,
            stem: true,
            language: StemLanguage::English,
            ignore_hyphens: true,
        }
    }
}

impl CanonicalForm {
    /// The canonical form of a name.
    pub fn of(&self, name: &str) -> String {
        let prepared = self.normalize.normalize(name).into_text();
        let folded = Normalizer::new(vec![Step::Dashes, Step::Case])
            .normalize(&prepared)
            .into_text();
        let folded = if self.ph_is_f {
            folded.replace("ph", "f")
        } else {
            folded
        };
        let stemmer = self.stem.then(|| Stemmer::new(self.language));
        let parts = parts(&folded);
        let mut form = String::with_capacity(folded.len());
        for (at, &part) in parts.iter().enumerate() {
            let is_joint = || {
                let neighbours = [
                    at.checked_sub(1).and_then(|before| parts.get(before)),
                    parts.get(at + 1),
                ];
                neighbours
                    .iter()
                    .all(|part| part.is_some_and(|part| is_word(part)))
            };
            if part.contains(char::is_whitespace) || part == "-" && self.ignore_hyphens && is_joint() {
                continue;
            }
            match &stemmer {
                Some(stemmer) if is_word(part) => form.push_str(&stemmer.stem(part)),
                _ => form.push_str(part),
            }
        }
        form
    }
}

/// Runs of letters, and all other characters one by one.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let (part, after) = rest.split_at(letters.max(first.len_utf8()));
        parts.push(part);
        rest = after;
    }
    parts
}

/// At least two letters: a single one is a locant or a symbol.
fn is_word(part: &str) -> bool {
    part.chars().nth(1).is_some() && part.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_same(form: &CanonicalForm, names: &[&str]) {
        for name in names {
            assert_eq!(form.of(name), form.of(names[0]), "{name}");
        }
    }

    /// The spellings of Table 4.4 of Klinger (2011).
    #[test]
    fn spellings_of_chemical_names() {
        let form = CanonicalForm::default();
        all_same(
            &form,
            &[
                "4-aminopyridine",
                "4-amino-pyridine",
                "4-Aminopyridine",
                "4‐amino pyridine",
            ],
        );
        all_same(
            &form,
            &["2-mercaptoethanol", "2-mercapto-ethanol", "2-Mercaptoethanol"],
        );
        all_same(
            &form,
            &["6-mercaptopurine", "6-Mercaptopurine", "6-mercapto-purine"],
        );
        let tetrahydropyridine = "1-methyl-4-phenyl-1,2,3,6-tetrahydropyridine";
        all_same(
            &form,
            &[tetrahydropyridine, &tetrahydropyridine.replace('m', "M")],
        );
        all_same(
            &form,
            &["2,4-dinitrophenol", "2,4-Dinitrophenol", "2,4-dinitrofenol"],
        );
        assert_ne!(form.of(tetrahydropyridine), form.of(&tetrahydropyridine[2..]));
        assert_eq!(form.of("2,4-Dinitrophenol"), "2,4-dinitrofenol");
    }

    #[test]
    fn spelling_and_number_vary() {
        let form = CanonicalForm::default();
        all_same(
            &form,
            &[
                "interleukin receptor",
                "Interleukin-receptors",
                "INTERLEUKIN RECEPTOR",
            ],
        );
        all_same(&form, &["phosphate", "Fosfates"]);
        assert_ne!(form.of("and/or"), form.of("andor"));
    }

    #[test]
    fn what_has_a_meaning_stays() {
        let form = CanonicalForm::default();
        for (one, other) in [
            ("1,2-dinitrophenol", "2,1-dinitrophenol"),
            ("N-methylaniline", "methylaniline"),
            ("N-acid", "nacid"),
            ("propyl methyl ether", "methyl propyl ether"),
            ("12-methylene", "1,2-methylene"),
            ("2-methyl", "2methyl"),
        ] {
            assert_ne!(form.of(one), form.of(other));
        }
    }

    #[test]
    fn every_part_can_be_left_out() {
        let with = |toml: &str| toml::from_str::<CanonicalForm>(toml).unwrap();
        let name = "Phospho-lipids β";
        assert_eq!(with("").of(name), "fosfolipidβ");
        assert_eq!(with("ph_is_f = false").of(name), "phospholipidβ");
        assert_eq!(with("stem = false").of(name), "fosfolipidsβ");
        assert_eq!(with("ignore_hyphens = false").of(name), "fosfo-lipidβ");
        assert_eq!(
            with("normalize = [{ greek = 'name' }]").of(name),
            "fosfolipidbeta"
        );
        assert_eq!(
            with("language = 'german'").of("Häuser"),
            with("language = 'german'").of("Haus")
        );
    }

    proptest! {
        #[test]
        fn case_and_white_space_never_count(name in "[a-zA-Z0-9,() βÄ-]{0,24}") {
            let form = CanonicalForm::default();
            let canonical = form.of(&name);
            prop_assert!(!canonical.contains(char::is_whitespace));
            prop_assert_eq!(&form.of(&name.to_uppercase()), &canonical);
            prop_assert_eq!(&form.of(&name.replace(' ', " \u{A0}")), &canonical);
            let kept = |text: &str| text.chars().filter(|c| !c.is_alphabetic() && !c.is_whitespace() && *c != '-').collect::<String>();
            prop_assert_eq!(kept(&canonical), kept(&name));
        }
    }
}
