//! What is known of documents: what their layers come to, for training, for export, and for one person.

use super::cells::{self, Cell, Labels};
use super::merge::{self, Dispute};
use super::state::State;
use super::words::Layer;
use crate::project::UserId;
use std::borrow::Cow;
use std::ops::Range;

impl State {
    /// What a layer says of some tokens, as far as its types are in use.
    pub fn layer(&self, number: usize, layer: Layer, tokens: Range<usize>) -> Option<Cow<'_, [Cell]>> {
        let cells = self.words.layer(number, layer)?;
        Some(cells::in_use(&cells[tokens], &self.map))
    }

    fn import(&self, number: usize, tokens: Range<usize>) -> Option<Cow<'_, [Cell]>> {
        self.layer(number, Layer::Person(self.import), tokens)
    }

    fn adjudicated(&self, number: usize, tokens: Range<usize>) -> Option<Cow<'_, [Cell]>> {
        self.layer(number, Layer::Adjudicated, tokens)
    }

    /// What people say of some tokens, in the order in which they came.
    fn people_on(&self, number: usize, tokens: &Range<usize>) -> Vec<(UserId, Cow<'_, [Cell]>)> {
        let people = self.words.people(number);
        people
            .map(|(user, cells)| (user, cells::in_use(&cells[tokens.clone()], &self.map)))
            .collect()
    }

    /// What others say of some tokens, as far as somebody may see it: nothing of what everybody annotates.
    fn others_on(&self, number: usize, user: UserId, tokens: &Range<usize>) -> Vec<Cow<'_, [Cell]>> {
        let text = self.corpus.get(number);
        if self.is_blind(number) && text.shared {
            return Vec::new();
        }
        let others = self.people_on(number, tokens).into_iter();
        let mut others: Vec<Cow<'_, [Cell]>> = others
            .filter(|(other, _)| *other != user)
            .map(|(_, cells)| cells)
            .collect();
        if self.is_blind(number) {
            for index in text
                .sentences_of(tokens.clone())
                .filter(|&index| text.shares(index))
            {
                let sentence = text.sentence(index);
                let start = sentence.start.max(tokens.start) - tokens.start;
                let end = sentence.end.min(tokens.end) - tokens.start;
                for cells in &mut others {
                    cells.to_mut()[start..end].fill(Cell::default());
                }
            }
        }
        others
    }

    /// What somebody sees of some tokens: what was decided, his own words, those of others if he may see them, and those
    /// that the document came with. No exact span may cross the borders of the tokens.
    pub fn view(&self, number: usize, user: UserId, tokens: Range<usize>) -> Vec<Cell> {
        let mut cells = match self.adjudicated(number, tokens.clone()) {
            Some(cells) => cells.into_owned(),
            None => vec![Cell::default(); tokens.len()],
        };
        if let Some(own) = self.layer(number, Layer::Person(user), tokens.clone()) {
            merge::under(&mut cells, &own);
        }
        let others = self.others_on(number, user, &tokens);
        let import = self.import(number, tokens);
        merge::combined(&mut cells, others.iter().map(Cow::as_ref), import.as_deref());
        cells
    }

    /// What holds for training: the labels that a sentence can have.
    pub fn truth(&self, number: usize, sentence: Range<usize>) -> Vec<Labels> {
        let people = self.people_on(number, &sentence);
        let people: Vec<&[Cell]> = people.iter().map(|(_, cells)| cells.as_ref()).collect();
        merge::labels(
            self.adjudicated(number, sentence.clone()).as_deref(),
            &people,
            self.import(number, sentence.clone()).as_deref(),
            sentence.len(),
            &self.map,
        )
    }

    /// What holds of a document for export: what was decided, else the words of people, of whom the first is believed where
    /// they contradict each other, else what the document came with.
    pub fn decided(&self, number: usize) -> Vec<Cell> {
        let tokens = 0..self.corpus.get(number).tokens();
        let mut cells = match self.adjudicated(number, tokens.clone()) {
            Some(cells) => cells.into_owned(),
            None => vec![Cell::default(); tokens.len()],
        };
        let people = self.people_on(number, &tokens);
        let people = people.iter().map(|(_, cells)| cells.as_ref());
        let import = self.import(number, tokens.clone());
        merge::combined(&mut cells, people, import.as_deref());
        cells
    }

    /// Where people contradict each other, in tokens of the document; what was decided is left aside.
    pub fn conflicts(&self, number: usize) -> Vec<Dispute> {
        self.disputes(number, |_, cells| cells)
    }

    /// The conflicts that are left by what was decided.
    pub fn open_conflicts(&self, number: usize) -> Vec<Dispute> {
        self.disputes(number, |sentence, cells| {
            match self.adjudicated(number, sentence.clone()) {
                Some(decided) => {
                    let mut decided = decided.into_owned();
                    merge::under(&mut decided, &cells);
                    Cow::Owned(decided)
                }
                None => cells,
            }
        })
    }

    fn disputes<'s>(
        &'s self,
        number: usize,
        version: impl Fn(&Range<usize>, Cow<'s, [Cell]>) -> Cow<'s, [Cell]>,
    ) -> Vec<Dispute> {
        let mut found = Vec::new();
        for sentence in self.corpus.get(number).borders() {
            let people = self.people_on(number, &sentence).into_iter();
            let versions: Vec<Cow<'_, [Cell]>> = people.map(|(_, cells)| version(&sentence, cells)).collect();
            let versions: Vec<&[Cell]> = versions.iter().map(Cow::as_ref).collect();
            for Dispute { range, mut tokens } in merge::disputes(&versions, &self.map) {
                tokens.iter_mut().for_each(|token| *token += sentence.start);
                let range = sentence.start + range.start..sentence.start + range.end;
                found.push(Dispute { range, tokens });
            }
        }
        found
    }
}
