//! Files of hierarchies: pairs, OBO, and the relations of the UMLS.

use super::hierarchy::Hierarchy;
use super::lines::{Problem, for_each_line, is_comment};
use crate::error::{ReadError, shown};
use crate::source::Source;
use serde::{Deserialize, Serialize};

/// How a file of a [`Hierarchy`] is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HierarchyFormat {
    /// `pairs`: `child<TAB>parent`, or a root alone on its line. `#` begins a comment.
    #[default]
    Pairs,
    /// `obo`: an ontology in OBO format. Of its `[Term]` stanzas, `id`, `name`, `synonym` and `is_a` are read;
    /// obsolete terms and everything else are left out.
    Obo,
    /// `mrrel`: MRREL.RRF of the UMLS. Of its relations, `PAR` (the second concept is a parent of the first) and
    /// `CHD` (it is a child) between different concepts are read.
    Mrrel,
}

pub(super) fn read(
    source: &Source,
    format: HierarchyFormat,
    hierarchy: &mut Hierarchy,
) -> Result<(), ReadError> {
    match format {
        HierarchyFormat::Pairs => for_each_line(source, |_, line| pair(line, hierarchy)),
        HierarchyFormat::Mrrel => for_each_line(source, |_, line| relation(line, hierarchy)),
        HierarchyFormat::Obo => {
            let mut stanza = Stanza::default();
            for_each_line(source, |number, line| stanza.read(number, line, hierarchy))?;
            // The last stanza ends with the file.
            let first_line = stanza.first_line;
            let end = stanza.finish(hierarchy);
            end.map_err(|problem| problem.in_line(source, first_line))
        }
    }
}

fn pair(line: &str, hierarchy: &mut Hierarchy) -> Result<(), Problem> {
    if is_comment(line) {
        return Ok(());
    }
    let mut parts = line.split('\t').map(str::trim);
    let (child, parent) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if child.is_empty() || parts.any(|part| !part.is_empty()) {
        return Err(Problem::line(line, "`child<TAB>parent`"));
    }
    if child == parent {
        let message = format!("`{}` is its own parent", shown(child));
        return Err(Problem::new(0, message));
    }
    let child = hierarchy.term(child);
    if !parent.is_empty() {
        let parent = hierarchy.term(parent);
        hierarchy.add_parent(child, parent);
    }
    Ok(())
}

fn relation(line: &str, hierarchy: &mut Hierarchy) -> Result<(), Problem> {
    if line.is_empty() {
        return Ok(());
    }
    let mut fields = line.split('|').map(str::trim);
    let (first, relation, second) = (fields.next(), fields.nth(2), fields.next());
    let (Some(first), Some(relation), Some(second)) = (first, relation, second) else {
        return Err(Problem::line(line, "`CUI1|AUI1|STYPE1|REL|CUI2|…`"));
    };
    let is_concept = |name: &str| !name.is_empty() && !name.contains('\t');
    if !is_concept(first) || !is_concept(second) {
        return Err(Problem::line(line, "two concepts, in the fields 1 and 5"));
    }
    let (child, parent) = match relation {
        "PAR" => (first, second),
        "CHD" => (second, first),
        _ => return Ok(()),
    };
    if child != parent {
        let (child, parent) = (hierarchy.term(child), hierarchy.term(parent));
        hierarchy.add_parent(child, parent);
    }
    Ok(())
}

/// A stanza of an OBO file, as far as it has been read.
#[derive(Default)]
struct Stanza {
    is_term: bool,
    is_obsolete: bool,
    first_line: u64,
    id: Option<String>,
    name: Option<String>,
    parents: Vec<String>,
    synonyms: Vec<String>,
}

impl Stanza {
    fn read(&mut self, number: u64, line: &str, hierarchy: &mut Hierarchy) -> Result<(), Problem> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('!') {
            return Ok(());
        }
        if line.starts_with('[') {
            self.finish(hierarchy)?;
            *self = Self {
                is_term: line.starts_with("[Term]"),
                first_line: number,
                ..Self::default()
            };
            return Ok(());
        }
        let Some((tag, value)) = line.split_once(':') else {
            return Err(Problem::line(line, "`tag: value` or `[Term]`"));
        };
        let value = value.trim();
        match tag {
            "id" => self.id = Some(plain(value)),
            "name" => self.name = Some(plain(value)),
            "is_a" => self.parents.push(plain(value)),
            "is_obsolete" => self.is_obsolete = plain(value) == "true",
            "synonym" if self.is_term => match quoted(value) {
                Some(synonym) => self.synonyms.push(synonym),
                None => return Err(Problem::line(line, "`synonym: \"text\" SCOPE [references]`")),
            },
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, hierarchy: &mut Hierarchy) -> Result<(), Problem> {
        let stanza = std::mem::take(self);
        if !stanza.is_term || stanza.is_obsolete {
            return Ok(());
        }
        let first_line = stanza.first_line;
        let Some(id) = stanza.id.filter(|id| !id.is_empty()) else {
            let message = format!("the term that begins in line {first_line} has no `id:`");
            return Err(Problem::new(0, message));
        };
        let term = hierarchy.term(&id);
        if let Some(name) = stanza.name {
            hierarchy.set_name(term, &name);
        }
        for parent in stanza.parents.iter().filter(|parent| !parent.is_empty()) {
            if *parent == id {
                let message = format!("the term that begins in line {first_line} is its own parent");
                return Err(Problem::new(0, message));
            }
            let parent = hierarchy.term(parent);
            hierarchy.add_parent(term, parent);
        }
        for synonym in stanza.synonyms {
            hierarchy.add_synonym(term, synonym);
        }
        Ok(())
    }
}

/// A value without its comment and its trailing modifiers, with its escapes undone.
fn plain(value: &str) -> String {
    let mut text = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next().map(unescape)),
            '!' | '{' => break,
            _ => text.push(without_tab(c)),
        }
    }
    text.trim().to_owned()
}

/// The text between the first quotation marks, with its escapes undone.
fn quoted(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = value.strip_prefix('"')?.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text.trim().to_owned()),
            '\\' => text.push(unescape(chars.next()?)),
            c => text.push(without_tab(c)),
        }
    }
}

/// What stands behind a backslash; line breaks and tabs become blanks, which names can have.
fn unescape(c: char) -> char {
    match c {
        'n' | 't' | 'W' => ' ',
        _ => without_tab(c),
    }
}

/// Names can have blanks, but no tabs, which stand between them in a model file.
fn without_tab(c: char) -> char {
    if c == '\t' { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionaries::DictionaryOptions;

    const OBO: &str = r#"format-version: 1.2
! a comment
[Term]
id: RID:1 ! here too
name: anatomical entity

[Term]
id: RID:2
name: lung \{organ\} {source="x"}
synonym: "pulmo \"dexter\"" EXACT [] ! comment
is_a: RID:1 ! anatomical entity

[Term]
id: RID:3
name: old lung
is_a: RID:2
is_obsolete: true

[Typedef]
id: part_of
name: part of
"#;

    fn read(text: &str, format: HierarchyFormat) -> Result<Hierarchy, ReadError> {
        Hierarchy::read(&Source::text("file", text), format)
    }

    #[test]
    fn obo_terms_have_names_synonyms_and_parents() {
        let terms = read(OBO, HierarchyFormat::Obo).unwrap();
        assert_eq!(terms.len(), 2);
        let lung = terms.get("RID:2").unwrap();
        assert_eq!(terms.name(lung), "lung {organ}");
        let above = terms.ancestors_at_depth(lung, 1)[0];
        assert_eq!(
            (terms.id(above), terms.name(above)),
            ("RID:1", "anatomical entity")
        );
        let names = terms.dictionary(DictionaryOptions::default()).unwrap();
        for name in ["RID:2", "lung {organ}", "pulmo \"dexter\""] {
            assert!(
                names.identifiers(names.get(name).unwrap()).eq(["RID:2"]),
                "{name}"
            );
        }
        let json = serde_json::to_string(&terms).unwrap();
        assert_eq!(serde_json::from_str::<Hierarchy>(&json).unwrap(), terms);
    }

    #[test]
    fn tabs_in_names_become_blanks() {
        let text = "[Term]\nid: R\t1\nname: left\tlung \\\tx\nsynonym: \"left\tpulmo\" EXACT []\n";
        let terms = read(text, HierarchyFormat::Obo).unwrap();
        let lung = terms.get("R 1").unwrap();
        assert_eq!(terms.name(lung), "left lung  x");
        let names = terms.dictionary(DictionaryOptions::default()).unwrap();
        assert!(names.get("left pulmo").is_some());
        let json = serde_json::to_string(&terms).unwrap();
        assert_eq!(serde_json::from_str::<Hierarchy>(&json).unwrap(), terms);
    }

    #[test]
    fn relations_of_the_umls_in_both_directions() {
        let lines = "C1|A1|AUI|PAR|C2|A2|AUI||R1||SNOMEDCT_US|SNOMEDCT_US||N|N||\n\
                     C2|A2|AUI|CHD|C3\r|A3|AUI||R2||MSH|MSH||N|N||\n\
                     C1|A1|AUI|RO|C9|A9|AUI||R3||MSH|MSH||N|N||\n\
                     C1|A1|AUI|PAR|C1|A4|AUI||R4||MSH|MSH||N|N||\n";
        let terms = read(lines, HierarchyFormat::Mrrel).unwrap();
        assert_eq!(terms.len(), 3);
        for child in ["C1", "C3"] {
            let above = terms.ancestors_above(terms.get(child).unwrap(), 1);
            assert_eq!(terms.id(above[0]), "C2");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        use HierarchyFormat::{Mrrel, Obo, Pairs};
        for (format, text, expected) in [
            (
                Pairs,
                "a\tb\na\tb\tc\n",
                "file:2:1: found `a\\tb\\tc`, expected `child<TAB>parent`",
            ),
            (Pairs, "\tb\n", "file:1:1: found `\\tb`, expected"),
            (Pairs, "a\ta\n", "file:1:1: `a` is its own parent"),
            (
                Obo,
                "[Term]\nname: x\n[Term]\n",
                "file:3:1: the term that begins in line 1 has no `id:`",
            ),
            (
                Obo,
                "[Term]\nname: x\n",
                "the term that begins in line 1 has no `id:`",
            ),
            (
                Obo,
                "[Term]\nid: a\nis_a: a\n",
                "begins in line 1 is its own parent",
            ),
            (Obo, "[Term]\nid: a\nsynonym: x\n", "file:3:1: found `synonym: x`"),
            (Obo, "[Term]\nid: a\nsynonym: \"x\n", "file:3:1: found `synonym: "),
            (Obo, "<html>\n", "file:1:1: found `<html>`, expected `tag: value`"),
            (
                Mrrel,
                "C1|A1|AUI|PAR\n",
                "file:1:1: found `C1|A1|AUI|PAR`, expected `CUI1|",
            ),
            (Mrrel, "C1|A1|AUI|PAR||A2|\n", "two concepts"),
            (Mrrel, "C1\tC2|A1|AUI|PAR|C3|A2|\n", "two concepts"),
        ] {
            let error = read(text, format).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
