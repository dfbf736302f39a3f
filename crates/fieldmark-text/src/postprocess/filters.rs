//! What drops annotations one by one: [`Confidence`], [`StopList`] and [`Filter`].

use super::pattern::Pattern;
use super::{covered, is_meant};
use crate::dictionaries::{Dictionary, DictionaryBuilder, DictionaryError, DictionaryOptions};
use crate::document::Annotation;
use crate::error::{ErrorKind, ReadError};
use crate::source::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Drops annotations with a score below a threshold. Those without a score stay.
///
/// A wrong border costs twice in precision and recall together, a missing annotation once: what a model is not
/// sure of is often better dropped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Confidence {
    /// The threshold, from 0 to 1.
    #[serde(deserialize_with = "probability")]
    pub threshold: f64,
    /// Thresholds of types with one of their own.
    #[serde(deserialize_with = "probabilities")]
    pub types: BTreeMap<String, f64>,
}

/// A number from 0 to 1: any other one would drop all or nothing, and nobody would know why.
pub(super) fn probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    checked(f64::deserialize(deserializer)?)
}

fn probabilities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let types = BTreeMap::<String, f64>::deserialize(deserializer)?;
    for &value in types.values() {
        checked(value)?;
    }
    Ok(types)
}

fn checked<E: serde::de::Error>(value: f64) -> Result<f64, E> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(value),
        false => Err(E::custom(format!("found {value}, expected a number from 0 to 1"))),
    }
}

impl Confidence {
    pub(super) fn apply(&self, annotations: &mut Vec<Annotation>) {
        annotations.retain(|annotation| {
            let threshold = *self.types.get(&annotation.kind).unwrap_or(&self.threshold);
            annotation.score.is_none_or(|score| score >= threshold)
        });
    }
}

/// What a [`StopList`] is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StopListOptions {
    /// The types of annotations that are dropped; all, if there is none.
    pub types: Vec<String>,
    /// What is dropped.
    pub names: Vec<String>,
    /// Files with more names, one per line.
    pub files: Vec<PathBuf>,
    /// Which differences of spelling do not count.
    pub compare: DictionaryOptions,
}

/// Drops annotations whose whole text is on a list.
///
/// ```toml
/// kind = "stop-list"
/// names = ["insulin", "albumin"]
/// files = ["common-words.txt"]
/// compare = { ignore_case = true }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "StopListOptions", into = "StopListOptions")]
pub struct StopList {
    options: StopListOptions,
    dictionary: Dictionary,
}

impl StopList {
    /// Checks the names. Files are not read before [`load`](super::Postprocessor::load).
    pub fn new(options: StopListOptions) -> Result<Self, DictionaryError> {
        let names = options.names.iter().map(|name| (name.as_str(), []));
        let dictionary = Dictionary::new(options.compare, names)?;
        Ok(Self { options, dictionary })
    }

    /// The options that it was made with.
    pub fn options(&self) -> &StopListOptions {
        &self.options
    }

    pub(super) fn load(&mut self, directory: &Path) -> Result<(), ReadError> {
        let mut builder = DictionaryBuilder::new(self.options.compare);
        for file in &self.options.files {
            builder.read(&Source::File(directory.join(file)))?;
        }
        let read = builder.build();
        let names = read.entries().map(|(name, _)| name.to_owned());
        self.options.names.extend(names);
        self.options.files.clear();
        *self = Self::new(self.options.clone()).map_err(|error| {
            let problem = error.to_string();
            ReadError::new(&directory.display().to_string(), ErrorKind::WordList { problem })
        })?;
        Ok(())
    }

    pub(super) fn apply(&self, text: &str, annotations: &mut Vec<Annotation>) {
        annotations.retain(|annotation| {
            let is_listed = covered(text, annotation).is_some_and(|name| self.dictionary.get(name).is_some());
            !(is_listed && is_meant(&self.options.types, annotation))
        });
    }
}

impl TryFrom<StopListOptions> for StopList {
    type Error = DictionaryError;

    fn try_from(options: StopListOptions) -> Result<Self, DictionaryError> {
        Self::new(options)
    }
}

impl From<StopList> for StopListOptions {
    fn from(list: StopList) -> Self {
        list.options
    }
}

/// Drops annotations by what they look like.
///
/// An expression is searched anywhere in the text of an annotation; `^` and `$` make it one of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// The types of annotations that are dropped; all, if there is none.
    pub types: Vec<String>,
    /// Drops what matches.
    pub matching: Option<Pattern>,
    /// Drops what does not match.
    pub not_matching: Option<Pattern>,
    /// Drops what has fewer characters.
    pub min_length: usize,
    /// Drops what has more characters.
    pub max_length: Option<usize>,
}

impl Filter {
    pub(super) fn apply(&self, text: &str, annotations: &mut Vec<Annotation>) {
        annotations.retain(|annotation| {
            let is_bad = |name| self.drops(name);
            !(is_meant(&self.types, annotation) && covered(text, annotation).is_some_and(is_bad))
        });
    }

    fn drops(&self, name: &str) -> bool {
        let matches = |pattern: &Pattern| pattern.regex().is_match(name);
        let length = name.chars().count();
        self.matching.as_ref().is_some_and(matches)
            || self
                .not_matching
                .as_ref()
                .is_some_and(|pattern| !matches(pattern))
            || length < self.min_length
            || self.max_length.is_some_and(|most| length > most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Insulin 12 β BRCA1";

    fn annotations() -> Vec<Annotation> {
        let spans = [(0..7, "GENE", 0.9), (8..10, "GENE", 0.3), (11..13, "SIGN", 0.3)];
        let mut all: Vec<Annotation> = spans
            .into_iter()
            .map(|(range, kind, score)| Annotation::new(range, kind).with_score(score))
            .collect();
        all.push(Annotation::new(14..19, "GENE"));
        all
    }

    fn kept(apply: impl FnOnce(&mut Vec<Annotation>)) -> Vec<&'static str> {
        let mut left = annotations();
        apply(&mut left);
        left.iter().map(|annotation| annotation.text(TEXT)).collect()
    }

    #[test]
    fn thresholds_overall_and_by_type() {
        let with = |toml: &str| {
            let step: Confidence = toml::from_str(toml).unwrap();
            kept(|all| step.apply(all))
        };
        assert_eq!(with("threshold = 0.3"), ["Insulin", "12", "β", "BRCA1"]);
        assert_eq!(with("threshold = 0.5"), ["Insulin", "BRCA1"]);
        assert_eq!(
            with("threshold = 0.5\ntypes = { SIGN = 0.1 }"),
            ["Insulin", "β", "BRCA1"]
        );
        assert_eq!(with("types = { GENE = 0.95 }"), ["β", "BRCA1"]);
        assert_eq!(with("threshold = 1"), ["BRCA1"]);
        for wrong in ["threshold = 50", "threshold = nan", "types = { GENE = -0.1 }"] {
            let error = toml::from_str::<Confidence>(wrong).unwrap_err().to_string();
            assert!(error.contains("expected a number from 0 to 1"), "{error}");
        }
    }

    #[test]
    fn lists_of_words_and_files() {
        let with = |toml: &str| {
            let step: StopList = toml::from_str(toml).unwrap();
            kept(|all| step.apply(TEXT, all))
        };
        assert_eq!(
            with("names = ['insulin', 'BRCA']"),
            ["Insulin", "12", "β", "BRCA1"]
        );
        assert_eq!(
            with("names = ['insulin']\ncompare = { ignore_case = true }"),
            ["12", "β", "BRCA1"]
        );
        assert_eq!(
            with("names = ['12', 'β']\ntypes = ['SIGN']"),
            ["Insulin", "12", "BRCA1"]
        );

        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("words.txt"), "# words\nβ\n").unwrap();
        let mut step: StopList = toml::from_str("names = ['12']\nfiles = ['words.txt']").unwrap();
        step.load(directory.path()).unwrap();
        assert_eq!(kept(|all| step.apply(TEXT, all)), ["Insulin", "BRCA1"]);
        assert_eq!(step.options().names, ["12", "β"]);
        assert!(step.options().files.is_empty());
        let mut missing: StopList = toml::from_str("files = ['none.txt']").unwrap();
        let error = missing.load(directory.path()).unwrap_err().to_string();
        assert!(error.contains("none.txt: cannot read"), "{error}");
    }

    #[test]
    fn expressions_and_lengths() {
        let with = |toml: &str| {
            let step: Filter = toml::from_str(toml).unwrap();
            kept(|all| step.apply(TEXT, all))
        };
        assert_eq!(with("matching = '^[0-9]+$'"), ["Insulin", "β", "BRCA1"]);
        assert_eq!(with("matching = '[0-9]'"), ["Insulin", "β"]);
        assert_eq!(with("not_matching = '[0-9]'"), ["12", "BRCA1"]);
        assert_eq!(
            with("not_matching = '[0-9]'\ntypes = ['SIGN']"),
            ["Insulin", "12", "BRCA1"]
        );
        assert_eq!(with("min_length = 2"), ["Insulin", "12", "BRCA1"]);
        assert_eq!(with("max_length = 5"), ["12", "β", "BRCA1"]);
        assert!(toml::from_str::<Filter>("matching = '('").is_err());
        assert!(toml::from_str::<Filter>("length = 2").is_err());
    }
}
