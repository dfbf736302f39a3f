//! [`Words`]: what is said of documents. Everything that was said is kept in its order; a *layer* is what it comes to for
//! one person, or for what was decided, as a [`Cell`] for each token.

use super::cells::{self, Cell, LabelMap, Said};
use super::corpus::Text;
use crate::project::{Action, ActionId, Assertion, Borders, Deed, DocumentId, TypeId, UserId};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Layer {
    /// Those that hold where people differ.
    Adjudicated,
    /// One person's.
    Person(UserId),
}

/// An action that says something about a document.
#[derive(Clone, Debug)]
struct Entry {
    action: ActionId,
    layer: Layer,
    deed: Arc<Deed>,
}

/// A comment, flag or the like.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub action: ActionId,
    pub user: UserId,
    pub time: i64,
    pub deed: Arc<Deed>,
}

/// What is said of one document.
#[derive(Debug, Default)]
struct OfDocument {
    entries: Vec<Entry>,
    layers: Layers,
    marks: Vec<Mark>,
}

/// The cells of each layer of a document, in the order of the layers.
#[derive(Debug, Default)]
struct Layers(Vec<(Layer, Vec<Cell>)>);

impl Layers {
    fn get(&self, layer: Layer) -> Option<&[Cell]> {
        let at = self.0.binary_search_by_key(&layer, |(layer, _)| *layer).ok()?;
        Some(&self.0[at].1)
    }

    fn get_or_insert(&mut self, layer: Layer, tokens: usize) -> &mut [Cell] {
        let at = match self.0.binary_search_by_key(&layer, |(layer, _)| *layer) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (layer, vec![Cell::default(); tokens]));
                at
            }
        };
        &mut self.0[at].1
    }

    /// Does what an entry says.
    fn apply(&mut self, entry: &Entry, text: &Text, borders: &[Range<usize>]) {
        apply(
            self.get_or_insert(entry.layer, text.tokens()),
            borders,
            text.id,
            &entry.deed,
        );
        // What a decision left open is no longer decided when somebody answers it.
        if entry.layer == Layer::Adjudicated || self.get(Layer::Adjudicated).is_none() {
            return;
        }
        for range in places(&entry.deed, text.id, text.tokens()) {
            let said = self.get_or_insert(entry.layer, text.tokens())[range.clone()].to_vec();
            let decided = &mut self.get_or_insert(Layer::Adjudicated, text.tokens())[range];
            for (decided, own) in decided.iter_mut().zip(said) {
                if decided.said == Said::Cleared && own.said.is_something() {
                    decided.said = Said::Nothing;
                }
            }
        }
    }
}

/// What is said of all documents, by their numbers.
#[derive(Debug)]
pub(super) struct Words {
    documents: HashMap<usize, OfDocument>,
    undone: HashSet<ActionId>,
    /// Whose words are those that documents came with.
    import: UserId,
}

impl Words {
    pub fn new(import: UserId) -> Self {
        Self {
            documents: HashMap::new(),
            undone: HashSet::new(),
            import,
        }
    }

    /// Takes an action into the list of what was said of a document. Its cells are as before.
    pub fn add(&mut self, number: usize, action: &Action, deed: &Arc<Deed>) {
        let document = self.documents.entry(number).or_default();
        if deed.is_answer() {
            document.entries.push(Entry {
                action: action.id,
                layer: match **deed {
                    Deed::Adjudicate { .. } => Layer::Adjudicated,
                    _ => Layer::Person(action.user),
                },
                deed: deed.clone(),
            });
        } else {
            document.marks.push(Mark {
                action: action.id,
                user: action.user,
                time: action.time,
                deed: deed.clone(),
            });
        }
    }

    /// Takes an action back, or does it again. Cells are as before.
    pub fn turn(&mut self, action: ActionId, back: bool) {
        if back {
            self.undone.insert(action);
        } else {
            self.undone.remove(&action);
        }
    }

    /// Whether an action was taken back.
    pub fn is_undone(&self, action: ActionId) -> bool {
        self.undone.contains(&action)
    }

    /// The documents that an action is about.
    pub fn documents_of(&self, action: ActionId) -> Vec<usize> {
        let has = |said: &OfDocument| {
            said.entries.iter().any(|entry| entry.action == action)
                || said.marks.iter().any(|mark| mark.action == action)
        };
        let found = self.documents.iter().filter(|(_, said)| has(said));
        found.map(|(&number, _)| number).collect()
    }

    /// The deed of an action that is about a document.
    pub fn deed_of(&self, number: usize, action: ActionId) -> Option<Arc<Deed>> {
        let said = self.documents.get(&number)?;
        let entry = said.entries.iter().find(|entry| entry.action == action);
        let mark = said.marks.iter().find(|mark| mark.action == action);
        entry
            .map(|entry| entry.deed.clone())
            .or_else(|| mark.map(|mark| mark.deed.clone()))
    }

    /// Finds the cells of a document anew, from everything that was said of it and not undone.
    pub fn recompute(&mut self, number: usize, text: &Text) {
        let Some(said) = self.documents.get_mut(&number) else {
            return;
        };
        let borders = text.borders();
        said.layers = Layers::default();
        for entry in &said.entries {
            if !self.undone.contains(&entry.action) {
                said.layers.apply(entry, text, &borders);
            }
        }
    }

    /// Writes what was said last of a document onto its cells, without doing all the rest again.
    pub fn apply_last(&mut self, number: usize, text: &Text) {
        let Some(said) = self.documents.get_mut(&number) else {
            return;
        };
        if let Some(entry) = said.entries.last() {
            said.layers.apply(entry, text, &text.borders());
        }
    }

    /// What a layer says of a document, if anything.
    pub fn layer(&self, number: usize, layer: Layer) -> Option<&[Cell]> {
        self.documents.get(&number)?.layers.get(layer)
    }

    /// The layers of people, without what the document came with.
    pub fn people(&self, number: usize) -> impl Iterator<Item = (UserId, &[Cell])> {
        let layers = self.documents.get(&number).map(|said| said.layers.0.as_slice());
        let layers = layers.unwrap_or_default().iter();
        layers.filter_map(|(layer, cells)| match layer {
            Layer::Person(user) if *user != self.import => Some((*user, cells.as_slice())),
            _ => None,
        })
    }

    /// The people who said something about a document.
    pub fn annotators(&self, number: usize) -> Vec<UserId> {
        let people = self.people(number);
        let people = people.filter(|(_, cells)| cells.iter().any(|cell| cell.said.is_something()));
        people.map(|(user, _)| user).collect()
    }

    /// Comments, flags and the like of a document that were not undone.
    pub fn marks(&self, number: usize) -> impl Iterator<Item = &Mark> {
        let marks = self.documents.get(&number).map(|said| said.marks.as_slice());
        marks
            .unwrap_or_default()
            .iter()
            .filter(|mark| !self.undone.contains(&mark.action))
    }

    /// Whether somebody is finished with a document, or leaves it out.
    pub fn is_left_out(&self, number: usize, user: UserId) -> bool {
        let mut left_out = false;
        for mark in self.marks(number).filter(|mark| mark.user == user) {
            match *mark.deed {
                Deed::Skip => left_out = true,
                Deed::Done { on } => left_out = on,
                _ => {}
            }
        }
        left_out
    }

    /// Whether somebody has said which labels a token can have, of those in use.
    pub fn has_said(&self, number: usize, user: UserId, token: usize, map: &LabelMap) -> bool {
        let cells = self.layer(number, Layer::Person(user));
        cells.is_some_and(|cells| {
            let said = cells[token].said;
            said.is_something() && said.kind().is_none_or(|kind| map.begin(kind).is_some())
        })
    }

    /// How many spans of a type people and documents tell of, in all layers.
    pub fn spans_of(&self, kind: TypeId) -> usize {
        let layers = self.documents.values().flat_map(|said| &said.layers.0);
        let in_layer = |(_, cells): &(Layer, Vec<Cell>)| {
            let begins = |at: &usize| match cells[*at].said {
                Said::Begin(other) => other == kind,
                Said::Part(other) => other == kind && (*at == 0 || cells[*at - 1].said != Said::Part(kind)),
                _ => false,
            };
            (0..cells.len()).filter(begins).count()
        };
        layers.map(in_layer).sum()
    }

    /// Documents of which something was said.
    pub fn documents(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.documents.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Does a deed on the cells of a document.
fn apply(cells: &mut [Cell], borders: &[Range<usize>], id: DocumentId, deed: &Deed) {
    let outside = |start, end| Assertion {
        start,
        end,
        kind: None,
        borders: Borders::Exact,
    };
    match deed {
        Deed::Assert { assertions } => {
            for assertion in assertions {
                cells::assert(cells, borders, assertion);
            }
        }
        Deed::Adjudicate { assertions, regions } => {
            for &(start, end) in regions {
                cells::clear(cells, borders, start as usize..end as usize);
            }
            for assertion in assertions {
                cells::assert(cells, borders, assertion);
            }
        }
        Deed::Clear { start, end } => cells::clear(cells, borders, *start as usize..*end as usize),
        Deed::Whole { start, end, spans } => {
            cells::assert(cells, borders, &outside(*start, *end));
            for span in spans {
                cells::assert(cells, borders, span);
            }
        }
        Deed::Equal { places, kind } => {
            for place in places.iter().filter(|place| place.document == id) {
                let assertion = Assertion {
                    kind: *kind,
                    ..outside(place.start, place.end)
                };
                cells::assert(cells, borders, &assertion);
            }
        }
        _ => {}
    }
}

/// The tokens of a document that a deed says something about.
pub(super) fn places(deed: &Deed, id: DocumentId, tokens: usize) -> Vec<Range<usize>> {
    let range = |start: u32, end: u32| {
        let end = (end as usize).min(tokens);
        (start as usize).min(end)..end
    };
    let of = |one: &Assertion| range(one.start, one.end);
    match deed {
        Deed::Assert { assertions } => assertions.iter().map(of).collect(),
        Deed::Adjudicate { assertions, regions } => {
            let regions = regions.iter().map(|&(start, end)| range(start, end));
            regions.chain(assertions.iter().map(of)).collect()
        }
        Deed::Clear { start, end } | Deed::Whole { start, end, .. } => vec![range(*start, *end)],
        Deed::Equal { places, .. } => places
            .iter()
            .filter(|place| place.document == id)
            .map(|place| range(place.start, place.end))
            .collect(),
        Deed::SkipQuestion { token } => vec![range(*token, token.saturating_add(1))],
        _ => Vec::new(),
    }
}
