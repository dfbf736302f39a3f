//! [`Extraction`]: describes token sequences with an [`Extractor`], in the numbers of a model.

use super::context::Facts;
use super::extractor::{Extractor, Operand, OperandOf};
use super::known::{Known, Pieces, solid};
use super::local::Form;
use super::normal::NormalForms;
use super::numbering::Numbering;
use super::recent::{Answer, Recent};
use crate::tokenize::Token;
use fieldmark_core::{Observed, name_hash};
use std::borrow::Cow;
use std::ops::Range;

/// Tokens to be described.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// The text of the document.
    pub text: &'a str,
    /// The tokens, as ranges of the text.
    pub tokens: &'a [Token],
    /// For each of [`Extractor::columns`], what it says about the tokens; columns may be missing.
    pub columns: &'a [Vec<Cow<'a, str>>],
    /// The number of the first token in the document, and how many tokens the document has.
    pub place: (usize, usize),
}

impl<'a> Sequence<'a> {
    /// Tokens of a text that is a document of its own.
    pub fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Self {
            text,
            tokens,
            columns: &[],
            place: (0, tokens.len()),
        }
    }

    /// The tokens as they are written.
    pub(super) fn words(&self) -> impl Iterator<Item = Cow<'a, str>> {
        let text = self.text;
        self.tokens
            .iter()
            .map(move |token| Cow::Borrowed(token.text(text)))
    }
}

/// Positions that are looked up together, so that the waits for memory overlap.
const TOGETHER: usize = 32;

/// Describes sequences. It remembers what it found out about tokens, so use one for many sequences; when that
/// takes too much memory, [`Extraction::forget`] it.
#[derive(Debug)]
pub struct Extraction<'e, N> {
    extractor: &'e Extractor,
    numbering: N,
    known: Known,
    /// The number of each token of the sequence among the known ones.
    tokens: Vec<u32>,
    facts: Vec<Facts>,
    others: Vec<Observed>,
    pending: Vec<Pending>,
    answers: Vec<Answer>,
    recent: Recent,
    normal: NormalForms,
    buffer: String,
}

/// An observation that has to be looked up.
#[derive(Clone, Copy, Debug)]
struct Pending {
    hash: u64,
    position: u32,
    value: f32,
    origin: Origin,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    /// A fact of a context entry, by number.
    Context { entry: u32, offset: i32, fact: u32 },
    /// A conjunction, and which of its facts it takes.
    Conjunction { index: u32, choice: u32 },
}

/// The observations of a sequence: what its tokens bring along, and others.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    tokens: &'a [u32],
    offsets: &'a [i32],
    /// All pieces so far.
    pub pieces: &'a Pieces,
    /// Observations that depend on more than one token, in the order of their positions.
    pub others: &'a [Observed],
}

impl<'a> Description<'a> {
    /// The number of positions.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The pieces of each token: their numbers, which follow each other, and for each the position that it
    /// belongs to, if the sequence has it.
    #[inline]
    pub fn tokens(
        &self,
    ) -> impl Iterator<Item = (Range<usize>, impl Iterator<Item = Option<usize>> + use<'a>)> + use<'a> {
        let Self { tokens, offsets, .. } = *self;
        tokens.iter().enumerate().map(move |(at, &token)| {
            let first = token as usize * offsets.len();
            let positions = offsets
                .iter()
                .map(move |&offset| place(at, -offset, tokens.len()));
            (first..first + offsets.len(), positions)
        })
    }

    /// The pieces of a position, left to right.
    pub fn pieces_at(&self, position: usize) -> impl Iterator<Item = &'a [u32]> + use<'a> {
        let Self {
            tokens,
            offsets,
            pieces,
            ..
        } = *self;
        offsets.iter().enumerate().filter_map(move |(index, &offset)| {
            let token = place(position, offset, tokens.len())?;
            Some(pieces.get(tokens[token] as usize * offsets.len() + index))
        })
    }

    /// The other observations of a position.
    pub fn others_at(&self, position: usize) -> &'a [Observed] {
        let start = self
            .others
            .partition_point(|other| (other.position as usize) < position);
        let end = self
            .others
            .partition_point(|other| other.position as usize <= position);
        &self.others[start..end]
    }
}

impl<'e, N: Numbering> Extraction<'e, N> {
    /// Gets ready to describe sequences in the numbers of `numbering`.
    pub fn new(extractor: &'e Extractor, numbering: N) -> Self {
        let facts = extractor.context.iter().map(|_| Facts::default()).collect();
        Self {
            extractor,
            numbering,
            known: Known::default(),
            tokens: Vec::new(),
            facts,
            others: Vec::new(),
            pending: Vec::new(),
            answers: Vec::new(),
            recent: Recent::default(),
            normal: NormalForms::default(),
            buffer: String::new(),
        }
    }

    /// What gave the numbers.
    pub fn into_numbering(self) -> N {
        self.numbering
    }

    /// What gives the numbers. Those that it gave before must stay as they are.
    pub fn numbering_mut(&mut self) -> &mut N {
        &mut self.numbering
    }

    /// The observations of every position.
    pub fn describe(&mut self, sequence: &Sequence<'_>) -> Description<'_> {
        if self.extractor.preprocessor.is_plain() {
            self.observe(sequence);
        } else {
            let mut normal = std::mem::take(&mut self.normal);
            normal.write(&self.extractor.preprocessor.normalizer, sequence);
            self.observe(&Sequence {
                text: &normal.text,
                tokens: &normal.tokens,
                ..*sequence
            });
            self.normal = normal;
        }
        Description {
            tokens: &self.tokens,
            offsets: &self.extractor.offsets,
            pieces: &self.known.pieces,
            others: &self.others,
        }
    }

    fn observe(&mut self, sequence: &Sequence<'_>) {
        let Self {
            extractor,
            numbering,
            known,
            tokens,
            buffer,
            ..
        } = self;
        tokens.clear();
        tokens.extend(
            sequence
                .tokens
                .iter()
                .map(|token| known.number(extractor, numbering, sequence.text, token, buffer)),
        );
        for (entry, facts) in self.extractor.context.iter().zip(&mut self.facts) {
            facts.clear();
            entry.context.facts(&entry.name, sequence, &self.tokens, facts);
        }
        self.others.clear();
        let length = self.tokens.len();
        for first in (0..length).step_by(TOGETHER) {
            for position in first..length.min(first + TOGETHER) {
                self.add_context(position);
                self.add_conjunctions(position);
            }
            self.look_up(sequence);
        }
    }

    /// Forgets what it found out about tokens, to free memory. Pieces are numbered anew.
    pub fn forget(&mut self) {
        self.known = Known::default();
        self.facts.iter_mut().for_each(Facts::forget);
        self.normal.forget();
    }

    fn add_context(&mut self, position: usize) {
        for (number, (entry, facts)) in self.extractor.context.iter().zip(&self.facts).enumerate() {
            for &offset in &entry.offsets {
                let Some(token) = place(position, offset, self.tokens.len()) else {
                    continue;
                };
                for fact in facts.of(token) {
                    let hash = name_hash::at(facts.get(fact).hash, offset);
                    let origin = Origin::Context {
                        entry: number as u32,
                        offset,
                        fact: fact as u32,
                    };
                    self.pending.push(Pending {
                        hash,
                        position: position as u32,
                        value: facts.get(fact).value,
                        origin,
                    });
                }
            }
        }
    }

    fn add_conjunctions(&mut self, position: usize) {
        let extractor = self.extractor;
        for (index, operands) in extractor.conjunctions.iter().enumerate() {
            let (mut choices, mut value) = (1u32, 1.0);
            let hashes = operands.iter().map(|operand| {
                let (count, hash, factor) = self.operand(position, operand);
                choices = choices.saturating_mul(count);
                value *= factor;
                name_hash::at(hash, operand.offset)
            });
            let hash = name_hash::joined(hashes);
            // Mostly there is nothing to choose.
            match choices {
                0 => {}
                1 => self.add_conjunction(position, index, 0, hash, value),
                _ => self.add_choices(position, index, operands, choices),
            }
        }
    }

    /// A conjunction of operands of which some say several things: one observation for each choice.
    fn add_choices(&mut self, position: usize, index: usize, operands: &[Operand], choices: u32) {
        for choice in 0..choices {
            let (mut left, mut value) = (choice, 1.0);
            let hashes = operands.iter().map(|operand| {
                let (count, ..) = self.operand(position, operand);
                let fact = left % count;
                left /= count;
                let (hash, factor) = self.operand_fact(position, operand, fact);
                value *= factor;
                name_hash::at(hash, operand.offset)
            });
            let hash = name_hash::joined(hashes);
            self.add_conjunction(position, index, choice, hash, value);
        }
    }

    #[inline]
    fn add_conjunction(&mut self, position: usize, index: usize, choice: u32, hash: u64, value: f32) {
        let index = index as u32;
        self.pending.push(Pending {
            hash,
            position: position as u32,
            value,
            origin: Origin::Conjunction { index, choice },
        });
    }

    /// How many facts an operand has at a position, and hash and value of the first one.
    #[inline]
    fn operand(&self, position: usize, operand: &Operand) -> (u32, u64, f32) {
        let Some(token) = place(position, operand.offset, self.tokens.len()) else {
            return (0, 0, 0.0);
        };
        match operand.of {
            OperandOf::Local(number) => {
                let facts = self.known.operand(self.extractor, self.tokens[token], number);
                (facts.count, facts.first, 1.0)
            }
            OperandOf::Context(entry) => {
                let facts = &self.facts[entry];
                let all = facts.of(token);
                match all.is_empty() {
                    true => (0, 0, 0.0),
                    false => {
                        let first = facts.get(all.start);
                        (all.len() as u32, first.hash, first.value)
                    }
                }
            }
        }
    }

    /// Hash and value of one of them, which has to be there.
    fn operand_fact(&self, position: usize, operand: &Operand, fact: u32) -> (u64, f32) {
        let token = place(position, operand.offset, self.tokens.len()).unwrap_or(position);
        match operand.of {
            OperandOf::Local(number) => {
                let facts = self.known.operand(self.extractor, self.tokens[token], number);
                (self.known.hash(facts, fact), 1.0)
            }
            OperandOf::Context(entry) => {
                let facts = &self.facts[entry];
                let fact = facts.get(facts.of(token).start + fact as usize);
                (fact.hash, fact.value)
            }
        }
    }

    fn look_up(&mut self, sequence: &Sequence<'_>) {
        let Self {
            extractor,
            numbering,
            facts,
            others,
            pending,
            answers,
            recent,
            buffer,
            ..
        } = self;
        answers.clear();
        answers.extend(pending.iter().map(|item| recent.get(item.hash)));
        for (item, answer) in pending.iter().zip(&*answers) {
            if *answer == Answer::Unknown {
                numbering.expect(item.hash);
            }
        }
        for (item, answer) in pending.iter().zip(answers) {
            let number = match answer {
                Answer::Number(id) => Some(*id),
                Answer::None => None,
                Answer::Unknown => {
                    let mut name = || write_name(extractor, facts, sequence, item, buffer);
                    let number = numbering.number(item.hash, &mut name);
                    recent.put(item.hash, number);
                    number
                }
            };
            if let Some(id) = number {
                others.push(Observed {
                    position: item.position,
                    id,
                    value: item.value,
                });
            }
        }
        pending.clear();
    }
}

/// The name of an observation: only needed when it is new.
fn write_name(
    extractor: &Extractor,
    facts: &[Facts],
    sequence: &Sequence<'_>,
    item: &Pending,
    buffer: &mut String,
) -> String {
    let position = item.position as usize;
    let mut name = String::new();
    match item.origin {
        Origin::Context { entry, offset, fact } => {
            name_hash::push(&mut name, facts[entry as usize].text(fact as usize), offset);
        }
        Origin::Conjunction { index, choice } => {
            let mut left = choice as usize;
            let mut parts: Vec<(String, i32)> = Vec::new();
            for operand in &extractor.conjunctions[index as usize] {
                let token = place(position, operand.offset, sequence.tokens.len()).unwrap_or(position);
                let texts = operand_texts(extractor, facts, sequence, operand, token, buffer);
                parts.push((texts[left % texts.len()].clone(), operand.offset));
                left /= texts.len();
            }
            name_hash::push_joined(
                &mut name,
                parts.iter().map(|(text, offset)| (text.as_str(), *offset)),
            );
        }
    }
    name
}

fn operand_texts(
    extractor: &Extractor,
    facts: &[Facts],
    sequence: &Sequence<'_>,
    operand: &Operand,
    token: usize,
    buffer: &mut String,
) -> Vec<String> {
    match operand.of {
        OperandOf::Context(entry) => {
            let facts = &facts[entry];
            facts.of(token).map(|fact| facts.text(fact).to_owned()).collect()
        }
        OperandOf::Local(number) => {
            let mut texts = Vec::new();
            let token = &sequence.tokens[token];
            let solid = solid(token.text(sequence.text));
            let lower = solid.to_lowercase();
            let space = (token.space_before, token.space_after);
            let form = Form {
                text: &solid,
                lower: &lower,
                space,
            };
            for entry in extractor
                .local
                .iter()
                .filter(|entry| entry.operand == Some(number))
            {
                entry.local.facts(&entry.name, &form, buffer, &mut |fact| {
                    texts.push(fact.to_owned())
                });
            }
            texts
        }
    }
}

fn place(position: usize, offset: i32, len: usize) -> Option<usize> {
    position
        .checked_add_signed(offset as isize)
        .filter(|&token| token < len)
}
