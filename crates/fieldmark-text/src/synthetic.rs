//! Made-up corpora: annotated names of documents are replaced by names of a list.
//!
//! A first model of a kind of names can be trained before anyone has annotated them, if there is an annotated
//! corpus of other names in similar texts (Friedrich et al. 2006): gene names in abstracts, say, replaced by
//! chemical names at random. The texts are real ones, and the borders of all names are known.

use crate::dictionaries::Dictionary;
use crate::document::{Annotation, Document, Element};
use crate::formats::{NoticeKind, Notices};
use crate::postprocess::{Cover, drop_relations, ids};
use fieldmark_core::random::SplitMix64;
use std::collections::HashSet;
use std::ops::Range;

/// What annotations of a type are replaced by.
#[derive(Clone, Debug)]
pub struct NameSource {
    /// The type of the annotations.
    pub from: String,
    /// Their new type.
    pub to: String,
    /// The names, each as likely as any other; with identifiers, if there are some.
    pub names: Dictionary,
}

/// Replaces annotated names of documents by random names of lists.
///
/// Annotations of types without a list stay, and so do elements and relations, all at their new places. What cannot
/// stay is dropped with a notice: annotations that overlap one that is replaced, those with gaps that were to be
/// replaced, and the tokens of the source. The names depend on the seed and the number of the document alone.
///
/// ```
/// use fieldmark_text::dictionaries::{Dictionary, DictionaryOptions};
/// use fieldmark_text::document::{Annotation, Document};
/// use fieldmark_text::formats::Notices;
/// use fieldmark_text::synthetic::{NameSource, replace_names};
/// let mut document = Document::new("1", "Role of IL-2 in mice.");
/// document.annotations.push(Annotation::new(8..12, "GENE"));
/// let names = Dictionary::new(DictionaryOptions::default(), [("2-methylpropane", ["CHEBI:30363"])])?;
/// let source = NameSource { from: "GENE".to_owned(), to: "IUPAC".to_owned(), names };
/// let made = replace_names(&[document], &[source], 1, &mut Notices::new());
/// assert_eq!(made[0].text, "Role of 2-methylpropane in mice.");
/// assert_eq!(made[0].annotations[0].range(), 8..23);
/// # Ok::<(), fieldmark_text::dictionaries::DictionaryError>(())
/// ```
pub fn replace_names(
    documents: &[Document],
    sources: &[NameSource],
    seed: u64,
    notices: &mut Notices,
) -> Vec<Document> {
    let entries: Vec<Vec<Entry<'_>>> = sources.iter().map(entries).collect();
    let random = |number: usize| SplitMix64(SplitMix64(seed).bits() ^ SplitMix64(number as u64).bits());
    documents
        .iter()
        .enumerate()
        .map(|(number, document)| {
            let mut replacer = Replacer {
                sources,
                entries: &entries,
                random: random(number),
                notices,
            };
            replacer.replace(document)
        })
        .collect()
}

type Entry<'a> = (&'a str, Vec<&'a str>);

fn entries(source: &NameSource) -> Vec<Entry<'_>> {
    let entries = source.names.entries();
    entries
        .map(|(name, identifiers)| (name, identifiers.collect()))
        .collect()
}

struct Replacer<'a> {
    sources: &'a [NameSource],
    entries: &'a [Vec<Entry<'a>>],
    random: SplitMix64,
    notices: &'a mut Notices,
}

/// A name that is replaced: the number of its annotation, its bytes, and what comes instead.
struct Edit<'a> {
    annotation: usize,
    source: usize,
    range: Range<usize>,
    /// Where the new name begins in the new text.
    moved: usize,
    entry: &'a Entry<'a>,
}

impl<'a> Replacer<'a> {
    fn replace(&mut self, document: &Document) -> Document {
        let edits = self.choose(document);
        let mut made = document.clone();
        made.text = edited(&document.text, &edits);
        made.annotations = self.annotations(document, &edits);
        made.elements = document
            .elements
            .iter()
            .map(|element| moved(element, &edits))
            .collect();
        if made.given.take().is_some() {
            let message = "the tokens of the source are not those of the new names, and are dropped";
            self.notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        if made.open.take().is_some_and(|open| !open.is_empty()) {
            let message =
                "labels that are unknown or ambiguous belong to tokens of the source, and are dropped";
            self.notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        let before: HashSet<String> = ids(document).collect();
        drop_relations(&mut made, before);
        made
    }

    /// What is replaced, in the order of the text. Of overlapping annotations it is the first and longest.
    fn choose(&mut self, document: &Document) -> Vec<Edit<'a>> {
        let entries = self.entries;
        let mut order: Vec<(usize, usize)> = Vec::new();
        for (at, annotation) in document.annotations.iter().enumerate() {
            let source = self
                .source(annotation)
                .filter(|_| annotation.fragments.len() == 1);
            let belongs = document
                .text
                .get(annotation.range())
                .is_some_and(|name| !name.is_empty());
            order.extend(source.filter(|_| belongs).map(|source| (at, source)));
        }
        order.sort_by_key(|&(at, _)| {
            let range = document.annotations[at].range();
            (range.start, std::cmp::Reverse(range.end))
        });
        let mut cover = Cover::default();
        order.retain(|&(at, _)| cover.claim(document.annotations[at].range()));
        let random = &mut self.random;
        // Ends of the last name in both texts.
        let (mut old_end, mut new_end) = (0, 0);
        let edits = order.into_iter().map(|(at, source)| {
            let names = &entries[source];
            // Mapped to the numbers of the names by multiplication.
            let number = (u128::from(random.bits()) * names.len() as u128) >> 64;
            let (range, entry) = (document.annotations[at].range(), &names[number as usize]);
            let moved = new_end + (range.start - old_end);
            (old_end, new_end) = (range.end, moved + entry.0.len());
            Edit {
                annotation: at,
                source,
                range,
                moved,
                entry,
            }
        });
        edits.collect()
    }

    fn source(&self, annotation: &Annotation) -> Option<usize> {
        let is_meant = |source: &usize| {
            self.sources[*source].from == annotation.kind && !self.entries[*source].is_empty()
        };
        (0..self.sources.len()).find(is_meant)
    }

    fn annotations(&mut self, document: &Document, edits: &[Edit<'a>]) -> Vec<Annotation> {
        let cover: Cover = edits.iter().map(|edit| edit.range.clone()).collect();
        let mut replaced: Vec<Option<&Edit<'a>>> = vec![None; document.annotations.len()];
        for edit in edits {
            replaced[edit.annotation] = Some(edit);
        }
        let mut made = Vec::new();
        for (annotation, edit) in document.annotations.iter().zip(replaced) {
            if let Some(edit) = edit {
                let (_, identifiers) = edit.entry;
                made.push(Annotation {
                    kind: self.sources[edit.source].to.clone(),
                    fragments: vec![shifted(&edit.range, edits)],
                    identifiers: identifiers
                        .iter()
                        .map(|&identifier| identifier.to_owned())
                        .collect(),
                    ..annotation.clone()
                });
            } else if let Some((kind, why)) = self.obstacle(annotation, &cover) {
                let message = format!(
                    "{} at {:?} {why}, and is dropped",
                    annotation.kind,
                    annotation.range()
                );
                self.notices.add(kind, &document.id, None, message);
            } else {
                let fragments = annotation
                    .fragments
                    .iter()
                    .map(|fragment| shifted(fragment, edits));
                made.push(Annotation {
                    fragments: fragments.collect(),
                    ..annotation.clone()
                });
            }
        }
        made
    }

    /// Why an annotation cannot stay.
    fn obstacle(&self, annotation: &Annotation, cover: &Cover) -> Option<(NoticeKind, &'static str)> {
        if annotation
            .fragments
            .iter()
            .any(|fragment| cover.overlaps(fragment))
        {
            return Some((NoticeKind::Overlap, "overlaps a name that is replaced"));
        }
        let is_meant = self.source(annotation).is_some() && annotation.fragments.len() > 1;
        is_meant.then_some((NoticeKind::Fragments, "has gaps and cannot be replaced"))
    }
}

fn edited(text: &str, edits: &[Edit<'_>]) -> String {
    let mut made = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        made.push_str(&text[done..edit.range.start]);
        made.push_str(edit.entry.0);
        done = edit.range.end;
    }
    made.push_str(&text[done..]);
    made
}

/// The new place of a range. A border inside of a replaced name moves out of it.
fn shifted(range: &Range<usize>, edits: &[Edit<'_>]) -> Range<usize> {
    let place = |at: usize, is_end: bool| {
        let before = edits.partition_point(|edit| edit.range.start < at);
        let Some(edit) = before.checked_sub(1).map(|last| &edits[last]) else {
            return at;
        };
        let len = edit.entry.0.len();
        match at.checked_sub(edit.range.end) {
            Some(behind) => edit.moved + len + behind,
            None if is_end => edit.moved + len,
            None => edit.moved,
        }
    };
    place(range.start, false)..place(range.end, true)
}

/// A part of the text at its new place; the file that it came from has another text now.
fn moved(element: &Element, edits: &[Edit<'_>]) -> Element {
    Element {
        kind: element.kind.clone(),
        range: shifted(&element.range, edits),
        place: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionaries::DictionaryOptions;
    use crate::document::{GivenTokens, Relation};
    use proptest::prelude::*;

    fn source(from: &str, names: &[&str]) -> NameSource {
        let entries = names.iter().map(|&name| (name, ["id"]));
        NameSource {
            from: from.to_owned(),
            to: "NEW".to_owned(),
            names: Dictionary::new(DictionaryOptions::default(), entries).unwrap(),
        }
    }

    #[test]
    fn what_cannot_stay_is_told() {
        let mut document = Document::new("d", "left and right lung, p53 gene");
        document.annotations = vec![
            Annotation {
                fragments: vec![0..4, 15..19],
                ..Annotation::new(0..4, "GENE")
            },
            Annotation {
                id: "T2".to_owned(),
                ..Annotation::new(21..24, "GENE")
            },
            Annotation::new(21..29, "GENE"),
            Annotation::new(22..29, "OTHER"),
            Annotation {
                fragments: vec![5..8, 15..19],
                ..Annotation::new(0..4, "OTHER")
            },
        ];
        document.given = Some(GivenTokens::default());
        document.relations = vec![Relation {
            arguments: vec![("of".to_owned(), "T2".to_owned())],
            ..Relation::default()
        }];
        let mut notices = Notices::new();
        let made = replace_names(&[document], &[source("GENE", &["β"])], 0, &mut notices).remove(0);
        assert_eq!(made.text, "left and right lung, β");
        let kinds: Vec<NoticeKind> = notices.all().iter().map(|notice| notice.kind).collect();
        use NoticeKind::{Detail, Fragments, Overlap};
        assert_eq!(kinds, [Fragments, Overlap, Overlap, Detail]);
        assert_eq!(made.annotations.len(), 2);
        assert_eq!(made.annotations[0].text(&made.text), "β");
        assert_eq!(made.annotations[0].identifiers, ["id"]);
        assert_eq!(made.annotations[1].fragments, [5..8, 15..19]);
        assert!(made.relations.is_empty() && made.given.is_none());
    }

    #[test]
    fn without_names_nothing_is_replaced() {
        let mut document = Document::new("d", "p53");
        document.annotations.push(Annotation::new(0..3, "GENE"));
        let documents = [document];
        let made = replace_names(&documents, &[source("GENE", &[])], 0, &mut Notices::new());
        assert_eq!(made, documents);
    }

    #[test]
    fn names_depend_on_seed_and_document() {
        let mut document = Document::new("d", "x ".repeat(40));
        document.annotations = (0..40)
            .map(|at| Annotation::new(2 * at..2 * at + 1, "GENE"))
            .collect();
        let names = [source("GENE", &["a", "bb", "ccc", "dddd"])];
        let documents = [document.clone(), document];
        let made = |seed| replace_names(&documents, &names, seed, &mut Notices::new());
        assert_eq!(made(1), made(1));
        assert_ne!(made(1)[0].text, made(2)[0].text);
        assert_ne!(made(1)[0].text, made(1)[1].text);
        for name in ["a", "bb", "ccc", "dddd"] {
            let count = made(1)[0].text.split(' ').filter(|word| *word == name).count();
            assert!((3..20).contains(&count), "{name} {count}");
        }
    }

    proptest! {
        #[test]
        fn everything_is_at_its_new_place(
            words in prop::collection::vec("[a-cä]{1,3}", 1..10),
            kinds in prop::collection::vec(0..3_usize, 10),
            element in (0..10_usize, 0..10_usize),
        ) {
            let mut document = Document::new("d", words.join(" "));
            let mut start = 0;
            let mut borders = Vec::new();
            for (word, kind) in words.iter().zip(&kinds) {
                borders.push((start, start + word.len()));
                if *kind < 2 {
                    document.annotations.push(Annotation::new(start..start + word.len(), ["GENE", "KEPT"][*kind]));
                }
                start += word.len() + 1;
            }
            let (first, last) = (element.0 % words.len(), element.1 % words.len());
            let (first, last) = (first.min(last), first.max(last));
            let range = borders[first].0..borders[last].1;
            document.elements.push(Element { kind: "part".to_owned(), range, place: None });
            let names = [source("GENE", &["X", "YY-YY", "Ω Ω Ω"])];
            let mut notices = Notices::new();
            let made = replace_names(&[document.clone()], &names, 3, &mut notices).remove(0);
            prop_assert!(notices.is_empty());
            prop_assert_eq!(made.check(), Ok(()));
            prop_assert_eq!(made.annotations.len(), document.annotations.len());
            for (old, new) in document.annotations.iter().zip(&made.annotations) {
                if old.kind == "KEPT" {
                    prop_assert_eq!(new.text(&made.text), old.text(&document.text));
                } else {
                    prop_assert_eq!(new.kind.as_str(), "NEW");
                    prop_assert!(["X", "YY-YY", "Ω Ω Ω"].contains(&new.text(&made.text)));
                }
            }
            let part = &made.text[made.elements[0].range.clone()];
            let names = part.split(' ').filter(|word| *word != "Ω").count() + part.matches("Ω Ω Ω").count();
            prop_assert_eq!(names, last - first + 1);
        }
    }
}
