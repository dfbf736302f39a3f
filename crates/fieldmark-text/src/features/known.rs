//! [`Known`]: what is known about distinct tokens.

use super::extractor::Extractor;
use super::local::Form;
use super::numbering::{Hashed, Numbering};
use crate::tokenize::Token;
use fieldmark_core::name_hash;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// For every distinct token and offset a piece: the observations that such a token brings to the position at
/// that distance. Their value is 1.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    ids: Vec<u32>,
    ends: Vec<u32>,
}

impl Pieces {
    /// The number of pieces.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The observations of a piece.
    pub fn get(&self, piece: usize) -> &[u32] {
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start as usize..self.ends[piece] as usize]
    }
}

/// What is known about distinct tokens.
#[derive(Debug, Default)]
pub(super) struct Known {
    numbers: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    pub pieces: Pieces,
    /// What conjunctions need: the hashes of facts, for every token and local operand.
    hashes: Vec<u64>,
    operands: Vec<OperandFacts>,
    facts: TokenFacts,
}

/// What a local operand of conjunctions says about a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperandFacts {
    /// The hash of the first fact, if there is one.
    pub first: u64,
    start: u32,
    /// The number of facts.
    pub count: u32,
}

/// All facts about one token, entry by entry.
#[derive(Debug, Default)]
struct TokenFacts {
    text: String,
    /// The hash of a fact, and where its text ends.
    facts: Vec<(u64, u32)>,
    entry_ends: Vec<u32>,
}

impl TokenFacts {
    fn collect(&mut self, extractor: &Extractor, form: &Form<'_>, buffer: &mut String) {
        self.text.clear();
        self.facts.clear();
        self.entry_ends.clear();
        for entry in &extractor.local {
            entry.local.facts(&entry.name, form, buffer, &mut |fact| {
                self.text.push_str(fact);
                self.facts.push((name_hash::base(fact), self.text.len() as u32));
            });
            self.entry_ends.push(self.facts.len() as u32);
        }
    }

    /// The facts of an entry, by number.
    fn of(&self, entry: usize) -> std::ops::Range<usize> {
        let start = entry.checked_sub(1).map_or(0, |before| self.entry_ends[before]);
        start as usize..self.entry_ends[entry] as usize
    }

    fn text(&self, fact: usize) -> &str {
        let start = fact.checked_sub(1).map_or(0, |before| self.facts[before].1);
        &self.text[start as usize..self.facts[fact].1 as usize]
    }
}

/// A token without white space, which tokens of a source may have: in a name it would separate parts.
pub(super) fn solid(token: &str) -> Cow<'_, str> {
    match token.contains(char::is_whitespace) {
        true => Cow::Owned(token.replace(char::is_whitespace, "_")),
        false => Cow::Borrowed(token),
    }
}

impl Known {
    /// The number of a token among the distinct ones.
    pub fn number(
        &mut self,
        extractor: &Extractor,
        numbering: &mut impl Numbering,
        text: &str,
        token: &Token,
        buffer: &mut String,
    ) -> u32 {
        let written = token.text(text);
        let space = if extractor.sees_space {
            (token.space_before, token.space_after)
        } else {
            (false, false)
        };
        let key = name_hash::at(
            name_hash::base(written),
            1 + i32::from(space.0) + 2 * i32::from(space.1),
        );
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(key, number);
        let solid = solid(written);
        let lower = solid.to_lowercase();
        let form = Form {
            text: &solid,
            lower: &lower,
            space,
        };
        self.facts.collect(extractor, &form, buffer);
        self.add_pieces(extractor, numbering);
        self.add_hashes(extractor);
        number
    }

    fn add_pieces(&mut self, extractor: &Extractor, numbering: &mut impl Numbering) {
        let Self { pieces, facts, .. } = self;
        for (index, &offset) in extractor.offsets.iter().enumerate() {
            let entries = extractor.local.iter().enumerate();
            let here = entries.filter(|(_, entry)| entry.at.contains(&index));
            let here = here.flat_map(|(entry, _)| facts.of(entry));
            let hash = |fact: usize| name_hash::at(facts.facts[fact].0, offset);
            // The waits for memory overlap.
            here.clone().for_each(|fact| numbering.expect(hash(fact)));
            for fact in here {
                let mut name = || {
                    let mut name = String::new();
                    name_hash::push(&mut name, facts.text(fact), offset);
                    name
                };
                pieces.ids.extend(numbering.number(hash(fact), &mut name));
            }
            pieces.ends.push(pieces.ids.len() as u32);
        }
    }

    fn add_hashes(&mut self, extractor: &Extractor) {
        for operand in 0..extractor.local_operands {
            let start = self.hashes.len();
            for (entry, _) in extractor
                .local
                .iter()
                .enumerate()
                .filter(|(_, entry)| entry.operand == Some(operand))
            {
                let facts = &self.facts.facts[self.facts.of(entry)];
                self.hashes.extend(facts.iter().map(|&(hash, _)| hash));
            }
            self.operands.push(OperandFacts {
                first: self.hashes.get(start).copied().unwrap_or_default(),
                start: start as u32,
                count: (self.hashes.len() - start) as u32,
            });
        }
    }

    /// What a local operand of conjunctions says about a token.
    #[inline]
    pub fn operand(&self, extractor: &Extractor, token: u32, operand: usize) -> OperandFacts {
        self.operands[token as usize * extractor.local_operands + operand]
    }

    /// The hash of one of its facts, which has to be there.
    #[inline]
    pub fn hash(&self, facts: OperandFacts, fact: u32) -> u64 {
        self.hashes[(facts.start + fact) as usize]
    }
}
