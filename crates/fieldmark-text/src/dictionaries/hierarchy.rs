//! [`Hierarchy`]: terms below terms, as in RadLex, an OBO ontology or the UMLS.

use super::dictionary::{Dictionary, DictionaryBuilder, DictionaryError};
use super::folding::DictionaryOptions;
use super::hierarchy_formats::{self, HierarchyFormat};
use crate::error::ReadError;
use crate::source::Source;
use fieldmark_core::Alphabet;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Terms with the terms above them; a term may have several parents. It never changes, and threads can share it.
///
/// The depth of a term without parents is 1, that of any other one more than the least depth of its parents. Terms
/// that are only in circles have no depth.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::dictionaries::{Hierarchy, HierarchyFormat};
/// let source = Source::text("anatomy.tsv", "lobe\tlung\nlung\torgan\norgan\tanatomical entity\n");
/// let anatomy = Hierarchy::read(&source, HierarchyFormat::Pairs)?;
/// let lobe = anatomy.get("lobe").unwrap();
/// let names: Vec<&str> = anatomy.ancestors_at_depth(lobe, 2).into_iter().map(|term| anatomy.name(term)).collect();
/// assert_eq!(names, ["organ"]);
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Hierarchy {
    ids: Alphabet,
    /// What each term is called; empty if it is called as its id.
    names: Vec<String>,
    parents: Vec<Vec<u32>>,
    /// Other names of terms.
    synonyms: Vec<(u32, String)>,
    /// 0 if there is none.
    depths: Vec<u32>,
}

/// A term of a [`Hierarchy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    /// A number from 0 that no other term of the hierarchy has.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Hierarchy {
    /// Reads a file.
    pub fn read(source: &Source, format: HierarchyFormat) -> Result<Self, ReadError> {
        let mut hierarchy = Self::default();
        hierarchy_formats::read(source, format, &mut hierarchy)?;
        hierarchy.measure();
        Ok(hierarchy)
    }

    pub(super) fn term(&mut self, id: &str) -> u32 {
        let term = self.ids.intern(id);
        if term as usize == self.parents.len() {
            self.parents.push(Vec::new());
            self.names.push(String::new());
        }
        term
    }

    pub(super) fn set_name(&mut self, term: u32, name: &str) {
        if name != self.ids.name(term) {
            name.clone_into(&mut self.names[term as usize]);
        }
    }

    pub(super) fn add_synonym(&mut self, term: u32, synonym: String) {
        self.synonyms.push((term, synonym));
    }

    pub(super) fn add_parent(&mut self, child: u32, parent: u32) {
        let parents = &mut self.parents[child as usize];
        if !parents.contains(&parent) {
            parents.push(parent);
        }
    }

    /// Finds the depths, level by level from the roots.
    fn measure(&mut self) {
        let mut children = vec![Vec::new(); self.len()];
        for (child, parents) in self.parents.iter().enumerate() {
            for &parent in parents {
                children[parent as usize].push(child as u32);
            }
        }
        self.depths = vec![0; self.len()];
        let mut queue: VecDeque<u32> = (0..self.len() as u32)
            .filter(|&term| self.parents[term as usize].is_empty())
            .collect();
        for &root in &queue {
            self.depths[root as usize] = 1;
        }
        while let Some(term) = queue.pop_front() {
            for &child in &children[term as usize] {
                if self.depths[child as usize] == 0 {
                    self.depths[child as usize] = self.depths[term as usize] + 1;
                    queue.push_back(child);
                }
            }
        }
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The term with an id, which in files without ids is its name.
    pub fn get(&self, id: &str) -> Option<Term> {
        self.ids.get(id).map(Term)
    }

    /// The id of a term.
    ///
    /// # Panics
    /// When the term belongs to a larger hierarchy; so do all functions on terms.
    pub fn id(&self, term: Term) -> &str {
        self.ids.name(term.0)
    }

    /// What a term is called: its id if nothing else is known.
    pub fn name(&self, term: Term) -> &str {
        match self.names[term.index()].as_str() {
            "" => self.id(term),
            name => name,
        }
    }

    /// The terms directly above a term.
    pub fn parents(&self, term: Term) -> impl Iterator<Item = Term> {
        self.parents[term.index()].iter().copied().map(Term)
    }

    /// The depth of a term: 1 for a root, `None` for one that hangs on circles.
    pub fn depth(&self, term: Term) -> Option<u32> {
        Some(self.depths[term.index()]).filter(|&depth| depth > 0)
    }

    /// All terms above a term, nearest first, and the term itself as the first.
    pub fn with_ancestors(&self, term: Term) -> Vec<Term> {
        let mut found = vec![term];
        let mut seen = std::collections::HashSet::from([term]);
        let mut next = 0;
        while let Some(&below) = found.get(next) {
            next += 1;
            found.extend(self.parents(below).filter(|&parent| seen.insert(parent)));
        }
        found
    }

    /// The terms at a depth that are above a term or the term itself; one, if every term has one parent.
    pub fn ancestors_at_depth(&self, term: Term, depth: u32) -> Vec<Term> {
        let mut found = self.with_ancestors(term);
        found.retain(|&above| self.depth(above) == Some(depth));
        found
    }

    /// The terms that are `steps` above a term, on any way.
    pub fn ancestors_above(&self, term: Term, steps: u32) -> Vec<Term> {
        let mut level = vec![term];
        for _ in 0..steps {
            let mut above: Vec<Term> = level.iter().flat_map(|&below| self.parents(below)).collect();
            above.sort_unstable();
            above.dedup();
            if above == level || above.is_empty() {
                return above;
            }
            level = above;
        }
        level
    }

    /// A dictionary of all names, synonyms and ids of terms, with the ids as identifiers.
    ///
    /// What the options leave nothing of is not in it.
    pub fn dictionary(&self, options: DictionaryOptions) -> Result<Dictionary, DictionaryError> {
        let mut builder = DictionaryBuilder::new(options);
        let terms = (0..self.len() as u32).map(|term| (term, self.name(Term(term))));
        let ids = (0..self.len() as u32)
            .filter(|&term| !self.names[term as usize].is_empty())
            .map(|term| (term, self.id(Term(term))));
        let synonyms = self.synonyms.iter().map(|(term, name)| (*term, name.as_str()));
        for (term, name) in terms.chain(ids).chain(synonyms) {
            match builder.add(name, [self.id(Term(term))]) {
                Err(DictionaryError::Empty(_)) => {}
                result => result?,
            }
        }
        Ok(builder.build())
    }
}

impl PartialEq for Hierarchy {
    fn eq(&self, other: &Self) -> bool {
        self.ids.iter().eq(other.ids.iter())
            && (&self.names, &self.parents, &self.synonyms) == (&other.names, &other.parents, &other.synonyms)
    }
}

impl Eq for Hierarchy {}

impl std::fmt::Debug for Hierarchy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hierarchy")
            .field("terms", &self.len())
            .field("synonyms", &self.synonyms.len())
            .finish_non_exhaustive()
    }
}

/// Lines `id<TAB>name<TAB>number of parent<TAB>…` and `number of term<TAB>synonym`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    terms: String,
    synonyms: String,
}

impl From<Hierarchy> for Stored {
    fn from(hierarchy: Hierarchy) -> Self {
        let mut terms = String::new();
        for ((id, name), parents) in hierarchy.ids.iter().zip(&hierarchy.names).zip(&hierarchy.parents) {
            terms.push_str(id);
            terms.push('\t');
            terms.push_str(name);
            for parent in parents {
                terms.push_str(&format!("\t{parent}"));
            }
            terms.push('\n');
        }
        let synonym = |(term, name): &(u32, String)| format!("{term}\t{name}\n");
        Self {
            terms,
            synonyms: hierarchy.synonyms.iter().map(synonym).collect(),
        }
    }
}

impl TryFrom<Stored> for Hierarchy {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let mut hierarchy = Self::default();
        for line in stored.terms.lines() {
            hierarchy.term(line.split('\t').next().unwrap_or_default());
        }
        if hierarchy.len() != stored.terms.lines().count() {
            return Err("a term of the hierarchy comes twice".to_owned());
        }
        let known = |number: &str| {
            let term = number
                .parse()
                .ok()
                .filter(|&term: &u32| (term as usize) < hierarchy.ids.len());
            term.ok_or_else(|| format!("`{number}` is no number of a term"))
        };
        let mut parents = Vec::new();
        for line in stored.terms.lines() {
            let numbers: Result<Vec<u32>, String> = line.split('\t').skip(2).map(known).collect();
            parents.push(numbers?);
        }
        for line in stored.synonyms.lines() {
            let (number, name) = line.split_once('\t').ok_or("a synonym without a term")?;
            hierarchy.synonyms.push((known(number)?, name.to_owned()));
        }
        hierarchy.parents = parents;
        let names = stored
            .terms
            .lines()
            .map(|line| line.split('\t').nth(1).unwrap_or_default());
        hierarchy.names = names.map(str::to_owned).collect();
        hierarchy.measure();
        Ok(hierarchy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(text: &str) -> Hierarchy {
        Hierarchy::read(&Source::text("tree.tsv", text), HierarchyFormat::Pairs).unwrap()
    }

    fn names(hierarchy: &Hierarchy, mut terms: Vec<Term>) -> Vec<&str> {
        terms.sort_unstable_by_key(|&term| hierarchy.name(term));
        terms.into_iter().map(|term| hierarchy.name(term)).collect()
    }

    #[test]
    fn depth_is_counted_from_the_root() {
        let tree = pairs("right lung\tlung\nlung\torgan\norgan\tentity\nmass\tfinding\n");
        let lung = tree.get("right lung").unwrap();
        assert_eq!(tree.depth(lung), Some(4));
        for (depth, expected) in [(1, "entity"), (2, "organ"), (3, "lung"), (4, "right lung")] {
            assert_eq!(names(&tree, tree.ancestors_at_depth(lung, depth)), [expected]);
        }
        assert!(tree.ancestors_at_depth(lung, 5).is_empty());
        assert!(tree.ancestors_at_depth(lung, 0).is_empty());
        assert_eq!(names(&tree, tree.ancestors_above(lung, 2)), ["organ"]);
        assert!(tree.ancestors_above(lung, 9).is_empty());
    }

    #[test]
    fn several_parents_give_several_ancestors() {
        let tree = pairs("c\ta\nc\tb\na\troot\nb\troot\nd\tc\nd\troot\n");
        let d = tree.get("d").unwrap();
        assert_eq!(tree.depth(d), Some(2));
        assert_eq!(names(&tree, tree.ancestors_at_depth(d, 2)), ["a", "b", "d"]);
        assert_eq!(names(&tree, tree.ancestors_above(d, 2)), ["a", "b"]);
    }

    #[test]
    fn circles_end() {
        let tree = pairs("a\tb\nb\tc\nc\ta\nd\ta\n");
        let d = tree.get("d").unwrap();
        assert_eq!(tree.depth(d), None);
        assert_eq!(tree.with_ancestors(d).len(), 4);
        assert_eq!(names(&tree, tree.ancestors_above(d, 4)), ["a"]);
        assert!(tree.ancestors_at_depth(d, 1).is_empty());
    }

    #[test]
    fn stored_terms_are_checked() {
        for (terms, synonyms, expected) in [
            ("a\\t\\t1\\n", "", "no number of a term"),
            ("a\\t\\na\\t\\n", "", "comes twice"),
            ("a\\t\\n", "7\\tb\\n", "no number of a term"),
            ("a\\t\\n", "b\\n", "without a term"),
        ] {
            let json = format!(r#"{{"terms":"{terms}","synonyms":"{synonyms}"}}"#);
            let error = serde_json::from_str::<Hierarchy>(&json).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn kept_in_a_file_and_measured(edges in prop::collection::vec((0..9_u8, 0..9_u8), 0..16)) {
            let lines: String = edges.iter().filter(|(a, b)| a != b).map(|(a, b)| format!("t{a}\tt{b}\n")).collect();
            let tree = pairs(&lines);
            let json = serde_json::to_string(&tree).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Hierarchy>(&json).unwrap(), &tree);
            for term in (0..tree.len() as u32).map(Term) {
                let least = tree.parents(term).filter_map(|parent| tree.depth(parent)).min();
                let expected = if tree.parents(term).next().is_none() { Some(1) } else { least.map(|d| d + 1) };
                prop_assert_eq!(tree.depth(term), expected);
            }
        }
    }
}
