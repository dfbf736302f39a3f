//! [`Resources`]: the files that a list of features needs, kept with the model.

use super::FeatureError;
use super::config::FeatureConfig;
use crate::source::Source;
use std::collections::BTreeMap;
use std::path::Path;

/// The contents of files that a list of features names, and of lists that were made from training data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    contents: BTreeMap<String, Vec<u8>>,
}

impl Resources {
    /// Reads the files that entries name; their paths are relative to `folder`.
    pub fn read(features: &[FeatureConfig], folder: &Path) -> Result<Self, FeatureError> {
        let mut resources = Self::default();
        for (entry, config) in features.iter().enumerate() {
            for file in files(config) {
                let path = folder.join(file);
                let content = std::fs::read(&path).map_err(|error| FeatureError::Entry {
                    entry,
                    problem: format!("cannot read {}: {error}", path.display()),
                })?;
                resources.insert(key(file), content);
            }
        }
        Ok(resources)
    }

    /// Adds or replaces a content.
    pub fn insert(&mut self, name: impl Into<String>, content: Vec<u8>) {
        self.contents.insert(name.into(), content);
    }

    /// All contents by their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.contents
            .iter()
            .map(|(name, content)| (name.as_str(), content.as_slice()))
    }

    /// The name under which the names of a type are kept that are so often in the training data.
    pub fn training_list(kind: &str, min_count: usize) -> String {
        match min_count {
            0 | 1 => format!("training:{kind}"),
            _ => format!("training>={min_count}:{kind}"),
        }
    }

    /// The content of a file that an entry names.
    pub fn bytes(&self, file: &Path) -> Result<&[u8], FeatureError> {
        let content = self.contents.get(&key(file));
        content
            .map(Vec::as_slice)
            .ok_or_else(|| FeatureError::Resource(format!("there is no file {:?}", key(file))))
    }

    /// A content as a source to read.
    pub(super) fn get(&self, name: &str) -> Result<Source, FeatureError> {
        match self.contents.get(name) {
            Some(content) => Ok(Source::Memory {
                name: name.to_owned(),
                bytes: content.clone(),
            }),
            None => Err(FeatureError::Resource(format!("there is no list {name:?}"))),
        }
    }

    /// The content of a file that an entry names.
    pub(super) fn file(&self, file: &Path) -> Result<Source, FeatureError> {
        if file.as_os_str().is_empty() {
            return Err(FeatureError::Resource("`file` is missing".to_owned()));
        }
        self.get(&key(file))
    }
}

/// The same on every system.
fn key(file: &Path) -> String {
    file.to_string_lossy().replace('\\', "/")
}

/// The files that an entry names.
fn files(config: &FeatureConfig) -> Vec<&Path> {
    let file = match config {
        FeatureConfig::Dictionary(list) => list.file.as_deref(),
        FeatureConfig::Bag(bag) => bag.concepts.as_deref(),
        FeatureConfig::Ancestors(ancestors) => Some(ancestors.file.as_path()),
        FeatureConfig::Polarity(polarity) => Some(polarity.file.as_path()),
        FeatureConfig::Class(class) => Some(class.file.as_path()),
        FeatureConfig::Model(model) => Some(model.file.as_path()),
        _ => None,
    };
    file.filter(|file| !file.as_os_str().is_empty())
        .into_iter()
        .collect()
}
