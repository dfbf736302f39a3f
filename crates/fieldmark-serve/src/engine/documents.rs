//! Lists of documents, and whole documents as people see them.

use super::Engine;
use super::state::State;
use super::view::{Drawn, Estimating, suggestions};
use super::wire::{NamedAssertion, Suggestion};
use crate::project::{ActionId, Deed, DocumentId, Error, UserId};
use serde::Serialize;
use std::collections::BTreeMap;

/// Documents on one page of a list.
const PAGE: usize = 50;

/// Which documents to list.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct ListRequest {
    /// Words in the name or the text.
    pub search: String,
    /// A state, or `flagged`, `held-out`, `shared`, `commented`; empty for all.
    pub status: String,
    /// The page of the list, from 1.
    pub page: usize,
}

/// A part of a list of documents.
#[derive(Clone, Debug, Serialize)]
pub struct List {
    documents: Vec<Row>,
    total: usize,
    page: usize,
    pages: usize,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    id: DocumentId,
    name: String,
    tokens: usize,
    labelled: usize,
    status: &'static str,
    flagged: bool,
    comments: usize,
    held_out: bool,
    shared: bool,
    /// Labels in it that the model doubts, if that was found out.
    doubt: usize,
}

/// A document as somebody sees it.
#[derive(Clone, Debug, Serialize)]
pub struct DocumentView {
    id: DocumentId,
    name: String,
    text: String,
    /// The borders of its tokens in units of UTF-16.
    tokens: Vec<[usize; 2]>,
    /// The sentences as ranges of tokens.
    sentences: Vec<[usize; 2]>,
    known: Vec<NamedAssertion>,
    suggestions: Vec<Suggestion>,
    comments: Vec<Comment>,
    flagged: bool,
    status: &'static str,
    metadata: BTreeMap<String, String>,
    held_out: bool,
    shared: bool,
    origin: &'static str,
}

/// A comment.
#[derive(Clone, Debug, Serialize)]
struct Comment {
    id: ActionId,
    user: String,
    start: Option<u32>,
    end: Option<u32>,
    text: String,
    time: i64,
}

impl Engine {
    /// A part of the list of documents.
    pub fn documents(&self, user: &str, request: &ListRequest) -> Result<List, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        let doubts = self.learned().doubts.by_document(state.generation);
        let search = request.search.trim().to_lowercase();
        let wanted = |number: &usize| {
            let text = state.corpus.get(*number);
            (search.is_empty()
                || text.name.to_lowercase().contains(&search)
                || text.text.to_lowercase().contains(&search))
                && state.has_status(*number, user, &request.status)
        };
        let found: Vec<usize> = (0..state.corpus.len()).filter(wanted).collect();
        let pages = found.len().div_ceil(PAGE).max(1);
        let page = request.page.clamp(1, pages);
        let rows = found.iter().skip((page - 1) * PAGE).take(PAGE);
        let row = |&number: &usize| {
            let text = state.corpus.get(number);
            Row {
                id: text.id,
                name: text.name.clone(),
                tokens: text.tokens(),
                labelled: state.labelled_in(number, user),
                status: state.status(number, user),
                flagged: state.is_flagged(number),
                comments: state.comments(number).count(),
                held_out: text.held_out,
                shared: text.shared,
                doubt: doubts.get(&text.id).copied().unwrap_or(0),
            }
        };
        Ok(List {
            documents: rows.map(row).collect(),
            total: found.len(),
            page,
            pages,
        })
    }

    /// A document as somebody sees it.
    pub fn document(&self, user: &str, id: DocumentId) -> Result<DocumentView, Error> {
        let drawn = {
            let mut state = self.state();
            let user = self.user(&mut state, user)?;
            let number = state.find(id)?;
            state.draw_document(number, user)
        };
        drawn.finish()
    }
}

/// What somebody sees of a document, before it is estimated.
pub(super) struct DrawnDocument {
    view: DocumentView,
    sentences: Vec<Drawn>,
    estimating: Estimating,
}

impl DrawnDocument {
    /// Adds the text and what the model says of it. It takes long for a long document, and needs nothing that others wait
    /// for.
    pub fn finish(self) -> Result<DocumentView, Error> {
        let Self {
            mut view,
            sentences,
            estimating,
        } = self;
        for Drawn {
            number,
            index,
            cells,
            known,
        } in sentences
        {
            let text = estimating.corpus.get(number);
            let tokens = text.sentence(index);
            let estimated = estimating.estimate(number, index, &cells)?;
            view.known.extend(known);
            view.suggestions
                .extend(suggestions(&cells, &estimated, tokens.start));
            if !estimated.spans.is_empty() {
                view.origin = estimated.origin;
            }
        }
        if let Some(number) = estimating.corpus.find(view.id) {
            let text = estimating.corpus.get(number);
            view.text.clone_from(&text.text);
            view.tokens = text.utf16(0..text.tokens(), 0, text.text.len());
            let borders = text.borders().into_iter();
            view.sentences = borders.map(|range| [range.start, range.end]).collect();
        }
        Ok(view)
    }
}

impl State {
    /// What somebody sees of a document, before it is estimated.
    pub fn draw_document(&self, number: usize, user: UserId) -> DrawnDocument {
        let text = self.corpus.get(number);
        let sentences = (0..text.sentences()).map(|index| self.draw(number, index, user));
        let view = DocumentView {
            id: text.id,
            name: text.name.clone(),
            text: String::new(),
            tokens: Vec::new(),
            sentences: Vec::new(),
            known: Vec::new(),
            suggestions: Vec::new(),
            comments: self.comments(number).collect(),
            flagged: self.is_flagged(number),
            status: self.status(number, user),
            metadata: text.meta.clone(),
            held_out: text.held_out,
            shared: text.shared,
            origin: "model",
        };
        DrawnDocument {
            view,
            sentences: sentences.collect(),
            estimating: self.estimating(),
        }
    }

    /// Tokens of which something is known; in a document that people annotate blindly, that somebody knows of.
    fn labelled_in(&self, number: usize, user: UserId) -> usize {
        let text = self.corpus.get(number);
        if self.is_blind(number) {
            let cells = self.view(number, user, 0..text.tokens());
            return cells.iter().filter(|cell| cell.said.is_something()).count();
        }
        let sequences = text.first_sequence..text.first_sequence + text.sentences();
        sequences.map(|sequence| self.pool.labelled_of(sequence)).sum()
    }

    fn is_flagged(&self, number: usize) -> bool {
        let flags = self.words.marks(number).filter_map(|mark| match *mark.deed {
            Deed::Flag { on } => Some(on),
            _ => None,
        });
        flags.last().unwrap_or(false)
    }

    fn comments(&self, number: usize) -> impl Iterator<Item = Comment> {
        self.words.marks(number).filter_map(|mark| match &*mark.deed {
            Deed::Comment { place, text } => Some(Comment {
                id: mark.action,
                user: self.user_name(mark.user).to_owned(),
                start: place.map(|(start, _)| start),
                end: place.map(|(_, end)| end),
                text: text.clone(),
                time: mark.time,
            }),
            _ => None,
        })
    }

    /// How far somebody is with a document.
    fn status(&self, number: usize, user: UserId) -> &'static str {
        let (mut skipped, mut done) = (false, false);
        for mark in self.words.marks(number).filter(|mark| mark.user == user) {
            match *mark.deed {
                Deed::Skip => skipped = true,
                Deed::Done { on } => (done, skipped) = (on, false),
                _ => {}
            }
        }
        let labelled = self.labelled_in(number, user);
        if done || (labelled > 0 && labelled == self.corpus.get(number).tokens()) {
            "done"
        } else if skipped {
            "skipped"
        } else if labelled > 0 {
            "begun"
        } else {
            "new"
        }
    }

    fn has_status(&self, number: usize, user: UserId, wanted: &str) -> bool {
        let text = self.corpus.get(number);
        match wanted {
            "" | "all" => true,
            "flagged" => self.is_flagged(number),
            "held-out" => text.held_out,
            "shared" => text.shared,
            "commented" => self.comments(number).next().is_some(),
            status => self.status(number, user) == status,
        }
    }
}
