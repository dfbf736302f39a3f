//! [`NameMapper`]: names of a list, whatever their spelling.

use super::add_identifier;
use super::canonical::CanonicalForm;
use crate::dictionaries::{DictionaryBuilder, DictionaryError, DictionaryOptions};
use crate::document::Document;
use crate::error::{ErrorKind, ReadError};
use crate::source::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What a [`NameMapper`] is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NameMapperOptions {
    /// The types of annotations that are mapped; all, if there is none.
    pub types: Vec<String>,
    /// Which spellings of a name are the same.
    pub form: CanonicalForm,
    /// Names with their identifiers.
    pub names: BTreeMap<String, Vec<String>>,
    /// Files with more names: in each line a name and, after tabs, its identifiers.
    pub files: Vec<PathBuf>,
}

/// Gives an annotation the identifiers of all names with the same canonical form.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "NameMapperOptions", into = "NameMapperOptions")]
pub struct NameMapper {
    options: NameMapperOptions,
    identifiers: HashMap<String, Vec<String>>,
}

impl NameMapper {
    /// Checks the names. Files are not read before [`load`](super::Identifier::load).
    pub fn new(options: NameMapperOptions) -> Result<Self, DictionaryError> {
        let mut identifiers: HashMap<String, Vec<String>> = HashMap::new();
        for (name, known) in &options.names {
            let form = options.form.of(name);
            if form.is_empty() {
                return Err(DictionaryError::Empty(name.clone()));
            }
            let all = identifiers.entry(form).or_default();
            for identifier in known {
                if !all.contains(identifier) {
                    all.push(identifier.clone());
                }
            }
        }
        Ok(Self { options, identifiers })
    }

    /// The options that it was made with.
    pub fn options(&self) -> &NameMapperOptions {
        &self.options
    }

    /// What a name stands for.
    pub fn identifiers(&self, name: &str) -> &[String] {
        let known = self.identifiers.get(&self.options.form.of(name));
        known.map_or(&[], Vec::as_slice)
    }

    pub(super) fn load(&mut self, directory: &Path) -> Result<(), ReadError> {
        let mut builder = DictionaryBuilder::new(DictionaryOptions::default());
        for file in &self.options.files {
            builder.read(&Source::File(directory.join(file)))?;
        }
        for (name, identifiers) in builder.build().entries() {
            let known = self.options.names.entry(name.to_owned()).or_default();
            known.extend(identifiers.map(str::to_owned));
        }
        self.options.files.clear();
        *self = Self::new(self.options.clone()).map_err(|error| {
            let problem = error.to_string();
            ReadError::new(&directory.display().to_string(), ErrorKind::WordList { problem })
        })?;
        Ok(())
    }

    pub(super) fn apply(&self, document: &mut Document) {
        for annotation in &mut document.annotations {
            if !self.options.types.is_empty() && !self.options.types.contains(&annotation.kind) {
                continue;
            }
            if let Some(name) = document.text.get(annotation.range()) {
                for identifier in self.identifiers(name) {
                    add_identifier(annotation, identifier);
                }
            }
        }
    }
}

/// Two mappers are the same if their options are.
impl PartialEq for NameMapper {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Eq for NameMapper {}

impl TryFrom<NameMapperOptions> for NameMapper {
    type Error = DictionaryError;

    fn try_from(options: NameMapperOptions) -> Result<Self, DictionaryError> {
        Self::new(options)
    }
}

impl From<NameMapper> for NameMapperOptions {
    fn from(mapper: NameMapper) -> Self {
        mapper.options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Annotation;

    #[test]
    fn identifiers_of_all_names_with_the_form() {
        let directory = tempfile::tempdir().unwrap();
        let lines =
            "# names\n4-aminopyridine\tCHEBI:34385\n4-Amino-pyridine\tMESH:D015761\tCHEBI:34385\naspirin\n";
        std::fs::write(directory.path().join("names.tsv"), lines).unwrap();
        let mut mapper: NameMapper =
            toml::from_str("files = ['names.tsv']\nnames = { aspirin = ['CHEBI:15365'] }").unwrap();
        assert!(mapper.identifiers("4-aminopyridine").is_empty());
        mapper.load(directory.path()).unwrap();
        assert!(mapper.options().files.is_empty());
        let mut known = mapper.identifiers("4-AMINOPYRIDINES").to_vec();
        known.sort();
        assert_eq!(known, ["CHEBI:34385", "MESH:D015761"]);
        assert_eq!(mapper.identifiers("Aspirin"), ["CHEBI:15365"]);
        assert!(mapper.identifiers("3-aminopyridine").is_empty());
        let json = serde_json::to_string(&mapper).unwrap();
        assert_eq!(serde_json::from_str::<NameMapper>(&json).unwrap(), mapper);
    }

    #[test]
    fn only_the_types_that_are_meant() {
        let mapper: NameMapper = toml::from_str("types = ['A']\nnames = { iron = ['x'] }").unwrap();
        let mut document = Document::new("1", "iron Iron");
        document.annotations = vec![
            Annotation::new(0..4, "A"),
            Annotation::new(5..9, "A"),
            Annotation::new(0..4, "B"),
            Annotation::new(7..99, "A"),
        ];
        mapper.apply(&mut document);
        mapper.apply(&mut document);
        let found: Vec<usize> = document
            .annotations
            .iter()
            .map(|annotation| annotation.identifiers.len())
            .collect();
        assert_eq!(found, [1, 1, 0, 0]);
    }

    #[test]
    fn files_are_read_with_care() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("names.tsv"), "a\tx\n\ty\n").unwrap();
        let mut mapper: NameMapper = toml::from_str("files = ['names.tsv']").unwrap();
        let error = mapper.load(directory.path()).unwrap_err().to_string();
        assert!(error.contains("names.tsv:2:1: "), "{error}");
    }
}
