//! Facts of articles that MEDLINE, PubMed XML and JATS have in common, under the names of each.
//!
//! PubMed XML and JATS are read under names of our own (`authors`, `mesh`), MEDLINE under its tags (`FAU`, `MH`). What is
//! written in another format than it was read in is translated here.

use crate::document::Document;
use std::collections::{BTreeMap, BTreeSet};

/// Our names, and the tags of MEDLINE with the same values; the first that there is counts.
const TAGS: [(&str, &[&str]); 10] = [
    ("authors", &["FAU", "AU"]),
    ("journal", &["JT", "TA"]),
    ("keywords", &["OT"]),
    ("language", &["LA"]),
    ("mesh", &["MH"]),
    ("other_abstract", &["OAB"]),
    ("pmc", &["PMC"]),
    ("publication_types", &["PT"]),
    ("vernacular_title", &["TT"]),
    ("year", &["DP"]),
];

/// The tags of MEDLINE with identifiers of several kinds: `10.1/x [doi]`.
const IDENTIFIERS: [&str; 2] = ["AID", "LID"];
const DOI: &str = " [doi]";

/// The facts of a document under our names, whichever format they come from.
#[derive(Debug, Default)]
pub(super) struct ArticleFacts {
    values: BTreeMap<&'static str, Vec<String>>,
    /// Keys of [`Document::meta`] that have a place.
    used: BTreeSet<String>,
    /// What a translation leaves out, in words.
    pub lost: Vec<String>,
}

impl ArticleFacts {
    /// The facts of a document that a format has a place for.
    pub fn of(document: &Document, wanted: &[&'static str]) -> Self {
        let mut facts = Self::default();
        for &name in wanted {
            facts.find(document, name);
        }
        // Identifiers that the document is named after.
        let id = document.id.as_str();
        let kind = match id.strip_prefix("PMC") {
            Some(number) if is_number(number) => "pmc",
            None if is_number(id) => "pmid",
            _ => return facts,
        };
        if let Some(kind) = wanted.iter().find(|name| **name == kind) {
            facts.values.entry(*kind).or_insert_with(|| vec![id.to_owned()]);
        }
        facts
    }

    fn find(&mut self, document: &Document, name: &'static str) {
        if let Some(values) = document.meta.get(name) {
            self.used.insert(name.to_owned());
            self.values
                .insert(name, values.split('\n').map(str::to_owned).collect());
            return;
        }
        if name == "doi" {
            return self.find_doi(document);
        }
        let tags = TAGS.iter().find(|(known, _)| *known == name);
        let tags = tags.map_or(&[][..], |(_, tags)| tags);
        let Some((tag, values)) = tags.iter().find_map(|tag| Some((*tag, document.meta.get(*tag)?))) else {
            return;
        };
        let values = values.split('\n').map(|value| match tag {
            "AU" => with_comma(value),
            "DP" => {
                let year: String = value.chars().take_while(char::is_ascii_digit).collect();
                if year != value {
                    self.lost
                        .push(format!("only the year of `DP` has a place: {value}"));
                }
                year
            }
            _ => value.to_owned(),
        });
        let values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
        self.used.insert(tag.to_owned());
        // Short and long forms are the same.
        if tag == "FAU" {
            self.used.insert("AU".to_owned());
        }
        self.values.insert(name, values);
    }

    fn find_doi(&mut self, document: &Document) {
        let mut found: Vec<String> = Vec::new();
        for tag in IDENTIFIERS {
            let Some(values) = document.meta.get(tag) else {
                continue;
            };
            self.used.insert(tag.to_owned());
            for value in values.split('\n') {
                match value.strip_suffix(DOI) {
                    Some(doi) if !found.iter().any(|known| known == doi) => found.push(doi.to_owned()),
                    Some(_) => {}
                    None => self.lost.push(format!("`{tag}` is left out: {value}")),
                }
            }
        }
        if !found.is_empty() {
            self.values.insert("doi", found);
        }
    }

    /// The values of a fact.
    pub fn values(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// Keys of the document that have no place.
    pub fn unused<'a>(&self, document: &'a Document) -> impl Iterator<Item = &'a String> {
        document.meta.keys().filter(|key| !self.used.contains(*key))
    }
}

/// The fields of MEDLINE for facts under our names that a document has and that no field of its own says already.
pub(super) fn medline_fields(document: &Document) -> Vec<(&'static str, String)> {
    let has = |tag: &str| document.meta.contains_key(tag);
    let values = |name: &str| {
        let values = document.meta.get(name).into_iter();
        values.flat_map(|values| values.split('\n')).map(str::to_owned)
    };
    let mut fields: Vec<(&'static str, String)> = Vec::new();
    for (name, tags) in TAGS {
        if tags.iter().any(|tag| has(tag)) {
            continue;
        }
        fields.extend(values(name).map(|value| (tags[0], value)));
        if name == "authors" {
            fields.extend(values(name).map(|value| ("AU", with_initials(&value))));
        }
    }
    if !IDENTIFIERS.iter().any(|tag| has(tag)) {
        fields.extend(values("doi").map(|value| ("AID", format!("{value}{DOI}"))));
    }
    if !has("RN") {
        // 0 stands for substances without a number.
        fields.extend(values("substances").map(|value| ("RN", format!("0 ({value})"))));
    }
    let id = document.id.as_str();
    let is_pmc = id.strip_prefix("PMC").is_some_and(is_number);
    if is_pmc && document.meta.contains_key("pmid") && !has("PMC") && !has("pmc") {
        fields.push(("PMC", id.to_owned()));
    }
    fields
}

/// Whether MEDLINE has a field for a fact under one of our names.
pub(super) fn is_medline(name: &str) -> bool {
    TAGS.iter().any(|(known, _)| *known == name) || ["pmid", "doi", "substances"].contains(&name)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `Wu A` as `Wu, A`; names of groups stay.
fn with_comma(name: &str) -> String {
    match name.rsplit_once(' ') {
        Some((last, initials)) if initials.len() <= 4 && initials.chars().all(char::is_uppercase) => {
            format!("{last}, {initials}")
        }
        _ => name.to_owned(),
    }
}

/// `Wu, Ann Bo` as `Wu AB`.
fn with_initials(name: &str) -> String {
    match name.split_once(", ") {
        Some((last, given)) => {
            let parts = given.split([' ', '-', '.']);
            let initials: String = parts.filter_map(|part| part.chars().next()).collect();
            format!("{last} {initials}")
        }
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use crate::formats::tests::{read_ok, written};
    use crate::formats::{Notices, jats, medline, pubmed};
    use crate::source::Source;

    const RECORD: &str = "PMID- 123\nTI  - On iron.\nAU  - Wu AB\nAU  - Iron Group\nMH  - Mice\nMH  - Rats\n\
                          PMC - PMC9\nAID - 10.1/x [doi]\nDP  - 2004\nJT  - J. Test\nOT  - iron\n";

    fn from_medline(text: &str) -> Document {
        let source = Source::text("m", text);
        read_ok(&mut medline::MedlineReader::new(&source, Default::default()).unwrap()).remove(0)
    }

    fn as_pubmed(document: &Document) -> (Document, Notices) {
        let (bytes, notices) = written(std::slice::from_ref(document), pubmed::PubmedWriter::new);
        let source = Source::Memory {
            name: "p".to_owned(),
            bytes,
        };
        (
            read_ok(&mut pubmed::PubmedReader::new(&source, Default::default()).unwrap()).remove(0),
            notices,
        )
    }

    fn as_jats(document: &Document) -> (Document, Notices) {
        let (bytes, notices) = written(std::slice::from_ref(document), jats::JatsWriter::new);
        let source = Source::Memory {
            name: "j".to_owned(),
            bytes,
        };
        (
            read_ok(&mut jats::JatsReader::new(&source, Default::default()).unwrap()).remove(0),
            notices,
        )
    }

    fn as_medline(document: &Document) -> (Document, Notices) {
        let (bytes, notices) = written(std::slice::from_ref(document), medline::MedlineWriter::new);
        (from_medline(std::str::from_utf8(&bytes).unwrap()), notices)
    }

    #[test]
    fn identifiers_authors_and_headings_have_their_place_in_every_format() {
        let record = from_medline(RECORD);
        let (pubmed, notices) = as_pubmed(&record);
        assert!(notices.is_empty(), "{:?}", notices.all());
        let (jats, notices) = as_jats(&record);
        assert!(notices.is_empty(), "{:?}", notices.all());
        for (document, id) in [(&pubmed, "123"), (&jats, "PMC9")] {
            assert_eq!(document.id, id);
            for (key, value) in [
                ("pmc", "PMC9"),
                ("doi", "10.1/x"),
                ("authors", "Wu, AB\nIron Group"),
                ("mesh", "Mice\nRats"),
                ("year", "2004"),
                ("journal", "J. Test"),
                ("keywords", "iron"),
            ] {
                assert_eq!(document.meta[key], value, "{id} {key}");
            }
        }
        assert_eq!(jats.meta["pmid"], "123");
        for document in [&pubmed, &jats] {
            let (back, notices) = as_medline(document);
            assert!(notices.is_empty(), "{:?}", notices.all());
            assert_eq!(back.id, "123");
            for key in ["PMC", "AID", "MH", "DP", "JT", "OT"] {
                assert_eq!(back.meta[key], record.meta[key], "{key}");
            }
            assert_eq!(back.meta["FAU"], "Wu, AB\nIron Group");
        }
        // The two formats of XML, through each other.
        let (through, notices) = as_pubmed(&jats);
        assert!(notices.is_empty(), "{:?}", notices.all());
        assert_eq!((through.id.as_str(), &through.meta), ("123", &pubmed.meta));
    }

    #[test]
    fn what_has_no_place_is_told() {
        let record = from_medline(
            "PMID- 5\nTI  - X\nDP  - 2004 Jan\nAID - S1 [pii]\nOWN - NLM\nFAU - Wu, Ann\nAU  - Wu A\n",
        );
        let (pubmed, notices) = as_pubmed(&record);
        assert_eq!(pubmed.meta["year"], "2004");
        assert_eq!(pubmed.meta["authors"], "Wu, Ann");
        let told: Vec<String> = notices.all().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        for part in [
            "only the year of `DP`",
            "`AID` is left out: S1 [pii]",
            "`OWN` is left out",
        ] {
            assert!(told.iter().any(|line| line.contains(part)), "{part} in {told:?}");
        }
        let (jats, _) = as_jats(&Document::new("note 7", "Text."));
        assert_eq!((jats.id.as_str(), jats.meta.len()), ("note 7", 0));
        let (jats, _) = as_jats(&Document::new("17", "Text."));
        assert_eq!((jats.id.as_str(), jats.meta["pmid"].as_str()), ("17", "17"));
    }
}
