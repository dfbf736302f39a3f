//! [`DistinctScores`]: each entity counts once per document, however often it is mentioned.

use crate::Counts;
use std::collections::{BTreeMap, BTreeSet};

/// Scores of the distinct entities of documents, as in the gene normalisation task of BioCreative II (Morgan et
/// al. 2008).
///
/// An entity is whatever the caller says it is: an identifier, or the text of a mention in canonical form.
///
/// ```
/// use fieldmark_eval::DistinctScores;
/// let mut scores = DistinctScores::default();
/// scores.add("doc1", [("GENE", "5594"), ("GENE", "5594")], [("GENE", "5594")]);
/// scores.add("doc1", [("GENE", "1017")], [("GENE", "5594")]);
/// scores.add("doc2", [], [("GENE", "1017")]);
/// let total = scores.total();
/// assert_eq!((total.gold, total.found, total.correct), (2, 2, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct DistinctScores {
    documents: BTreeMap<String, Sides>,
}

#[derive(Clone, Debug, Default)]
struct Sides {
    gold: BTreeSet<Entity>,
    found: BTreeSet<Entity>,
}

/// Type and identity.
type Entity = (String, String);

impl DistinctScores {
    /// Adds entities of a document, each with its type and its identity. A document may come in pieces.
    pub fn add<'a>(
        &mut self,
        document: &str,
        gold: impl IntoIterator<Item = (&'a str, &'a str)>,
        found: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let owned = |(kind, entity): (&str, &str)| (kind.to_owned(), entity.to_owned());
        let sides = self.documents.entry(document.to_owned()).or_default();
        sides.gold.extend(gold.into_iter().map(owned));
        sides.found.extend(found.into_iter().map(owned));
    }

    /// Adds what `other` has seen; documents of the same name are the same.
    pub fn merge(&mut self, other: DistinctScores) {
        for (document, sides) in other.documents {
            let own = self.documents.entry(document).or_default();
            own.gold.extend(sides.gold);
            own.found.extend(sides.found);
        }
    }

    /// Entities of all types and documents.
    pub fn total(&self) -> Counts {
        self.types().into_iter().map(|(_, counts)| counts).sum()
    }

    /// Entities of each type, in the order of their names.
    pub fn types(&self) -> Vec<(&str, Counts)> {
        let mut types: BTreeMap<&str, Counts> = BTreeMap::new();
        for sides in self.documents.values() {
            for (kind, _) in &sides.gold {
                types.entry(kind).or_default().gold += 1;
            }
            for (kind, _) in &sides.found {
                types.entry(kind).or_default().found += 1;
            }
            for (kind, _) in sides.gold.intersection(&sides.found) {
                types.entry(kind).or_default().correct += 1;
            }
        }
        types.into_iter().collect()
    }
}
