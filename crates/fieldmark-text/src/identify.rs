//! What annotations stand for: their mapping to identifiers of databases and dictionaries.
//!
//! A mapping is a function from mentions to entries of a dictionary. Its two problems are the many spellings of a
//! name, for which there are [canonical forms](CanonicalForm), and names of several things: of these, all
//! identifiers are given.
//!
//! An [`Identifier`] is a list of [`Mapper`]s, written in a config and kept in a model. It writes to
//! [`Annotation::identifiers`](crate::document::Annotation::identifiers), and adds annotations where a mapper finds
//! names by itself.
//!
//! ```toml
//! [[identify]]
//! kind = "dictionary"
//! types = ["IUPAC", "TRIVIAL"]
//! files = ["chebi.tsv"]
//!
//! [[identify]]
//! kind = "rs-numbers"
//! ```
//!
//! ```
//! use fieldmark_text::document::{Annotation, Document};
//! use fieldmark_text::identify::{Identifier, Mapper, NameMapper, NameMapperOptions};
//! let names = [("4-aminopyridine".to_owned(), vec!["CHEBI:34385".to_owned()])];
//! let options = NameMapperOptions { names: names.into(), ..NameMapperOptions::default() };
//! let identifier = Identifier::new(vec![Mapper::Dictionary(NameMapper::new(options)?)]);
//! let mut document = Document::new("1", "blocked by 4-Amino-pyridines");
//! document.annotations.push(Annotation::new(11..28, "IUPAC"));
//! identifier.apply(&mut document);
//! assert_eq!(document.annotations[0].identifiers, ["CHEBI:34385"]);
//! # Ok::<(), fieldmark_text::dictionaries::DictionaryError>(())
//! ```

mod canonical;
mod names;
mod rs_numbers;

pub use canonical::CanonicalForm;
pub use names::{NameMapper, NameMapperOptions};
pub use rs_numbers::{RsNumbers, RsNumbersOptions};

use crate::document::{Annotation, Document};
use crate::error::ReadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One way from names to identifiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mapper {
    /// `dictionary`: names of a list, whatever their spelling.
    Dictionary(NameMapper),
    /// `rs-numbers`: numbers of dbSNP, which are found by what they look like.
    RsNumbers(Box<RsNumbers>),
}

/// Gives annotations their identifiers. It never changes, and threads can share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Identifier {
    mappers: Vec<Mapper>,
}

impl Identifier {
    /// One with these mappers, used in this order.
    pub fn new(mappers: Vec<Mapper>) -> Self {
        Self { mappers }
    }

    /// The mappers in order.
    pub fn mappers(&self) -> &[Mapper] {
        &self.mappers
    }

    /// Reads the files that mappers name, relative to a directory, so that they are needed no more.
    pub fn load(&mut self, directory: &Path) -> Result<(), ReadError> {
        for mapper in &mut self.mappers {
            if let Mapper::Dictionary(names) = mapper {
                names.load(directory)?;
            }
        }
        Ok(())
    }

    /// Adds identifiers to the annotations of a document, and annotations that mappers find, in the order of the text.
    pub fn apply(&self, document: &mut Document) {
        let before = document.annotations.len();
        for mapper in &self.mappers {
            match mapper {
                Mapper::Dictionary(names) => names.apply(document),
                Mapper::RsNumbers(numbers) => numbers.apply(document),
            }
        }
        if document.annotations.len() > before {
            document
                .annotations
                .sort_by_key(|annotation| annotation.range().start);
        }
    }
}

fn add_identifier(annotation: &mut Annotation, identifier: &str) {
    if !annotation.identifiers.iter().any(|known| known == identifier) {
        annotation.identifiers.push(identifier.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_that_mappers_find_come_in_the_order_of_the_text() {
        let numbers = RsNumbers::new(RsNumbersOptions::default()).unwrap();
        let mut document = Document::new("1", "rs12 is a mutation of BRCA1, rs34");
        document.annotations.push(Annotation::new(22..27, "GENE"));
        Identifier::new(vec![Mapper::RsNumbers(Box::new(numbers))]).apply(&mut document);
        let texts: Vec<&str> = document
            .annotations
            .iter()
            .map(|annotation| annotation.text(&document.text))
            .collect();
        assert_eq!(texts, ["rs12", "BRCA1", "rs34"]);
    }

    #[test]
    fn lives_in_a_config() {
        #[derive(Deserialize)]
        struct Config {
            identify: Identifier,
        }
        let config: Config = toml::from_str(
            r#"
            [[identify]]
            kind = "dictionary"
            types = ["IUPAC"]
            names = { aspirin = ["CHEBI:15365"] }
            form = { stem = false, normalize = ["entities", { greek = "name" }] }
            [[identify]]
            kind = "rs-numbers"
            type = "SNP"
            keywords = ["polymorphism"]
            "#,
        )
        .unwrap();
        assert_eq!(config.identify.mappers().len(), 2);
        let json = serde_json::to_string(&config.identify).unwrap();
        assert_eq!(
            serde_json::from_str::<Identifier>(&json).unwrap(),
            config.identify
        );
        for (json, expected) in [
            (r#"[{"kind": "rs"}]"#, "unknown variant `rs`"),
            (
                r#"[{"kind": "rs-numbers", "keyword": []}]"#,
                "unknown field `keyword`",
            ),
            (
                r#"[{"kind": "dictionary", "form": {"ph": 1}}]"#,
                "unknown field `ph`",
            ),
            (r#"[{"kind": "dictionary", "names": {" ": ["x"]}}]"#, "is empty"),
        ] {
            let error = serde_json::from_str::<Identifier>(json).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
