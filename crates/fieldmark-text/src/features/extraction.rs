//! [`Extraction`]: describes token sequences with an [`Extractor`], in the numbers of a model.

use super::context::{Fact, Facts};
use super::extractor::{Extractor, Operand, OperandOf};
use super::local::Form;
use crate::tokenize::Token;
use fieldmark_core::{Alphabet, Names, name_hash};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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

/// Gives observations their numbers.
pub trait Numbering {
    /// The number of the observation with this [hash](Alphabet::hash), if it has one; `name` writes its name.
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32>;

    /// Says that a hash will be asked for soon.
    fn expect(&self, _hash: u64) {}
}

/// New observations get new numbers.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    /// Names in the order of their numbers.
    pub names: Alphabet,
    numbers: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
}

impl Growing {
    /// The number of an observation that was there before.
    pub fn get(&self, hash: u64) -> Option<u32> {
        self.numbers.get(&hash).copied()
    }
}

impl Numbering for Growing {
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32> {
        let names = &mut self.names;
        Some(
            *self
                .numbers
                .entry(hash)
                .or_insert_with(|| names.intern_hashed(&name(), hash)),
        )
    }
}

impl<N: Numbering> Numbering for &mut N {
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32> {
        (**self).number(hash, name)
    }

    fn expect(&self, hash: u64) {
        (**self).expect(hash);
    }
}

impl Numbering for &Names {
    #[inline]
    fn number(&mut self, hash: u64, name: &mut dyn FnMut() -> String) -> Option<u32> {
        self.find_hashed(hash, name)
    }

    #[inline]
    fn expect(&self, hash: u64) {
        Names::expect(self, hash);
    }
}

/// A hasher for what is a hash already.
#[derive(Clone, Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// So many distinct tokens are remembered; then it begins anew.
const MOST_KNOWN: usize = 1 << 18;

/// Describes sequences. It remembers what it found out about tokens, so use one for many sequences.
#[derive(Debug)]
pub struct Extraction<'e, N> {
    extractor: &'e Extractor,
    numbering: N,
    known: Known,
    /// What is known about each token of the sequence.
    tokens: Vec<u32>,
    facts: Vec<Facts>,
    row: Row,
    pending: Vec<Pending>,
    normal: String,
}

/// What is known about distinct tokens.
#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    ids: Vec<u32>,
    /// For every token and offset, the end of its ids.
    id_ends: Vec<u32>,
    hashes: Vec<u64>,
    /// For every token and local operand, the end of its hashes.
    hash_ends: Vec<u32>,
}

/// An observation that has to be looked up.
#[derive(Clone, Copy, Debug)]
struct Pending {
    hash: u64,
    value: f32,
    /// The conjunction that it is, or the fact of a context entry and its offset.
    origin: Origin,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    Context { entry: u32, offset: i32, fact: Fact },
    Conjunction { index: u32, choice: u32 },
}

/// The observations of a position.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Those with the value 1.
    pub ones: Vec<u32>,
    /// Those with another value.
    pub valued: Vec<(u32, f32)>,
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
            row: Row::default(),
            pending: Vec::new(),
            normal: String::new(),
        }
    }

    /// What gave the numbers.
    pub fn into_numbering(self) -> N {
        self.numbering
    }

    /// Calls `each` with the observations of every position, in order.
    pub fn describe(&mut self, sequence: &Sequence<'_>, mut each: impl FnMut(usize, &Row)) {
        if self.known.numbers.len() > MOST_KNOWN {
            self.forget();
        }
        self.tokens.clear();
        for token in sequence.tokens {
            let number = self.know(sequence.text, token);
            self.tokens.push(number);
        }
        for (entry, facts) in self.extractor.context.iter().zip(&mut self.facts) {
            facts.clear();
            entry.context.facts(&entry.name, sequence, facts);
        }
        for position in 0..self.tokens.len() {
            self.row.ones.clear();
            self.row.valued.clear();
            self.add_known(position);
            self.add_context(position);
            self.add_conjunctions(position);
            self.look_up(sequence, position);
            each(position, &self.row);
        }
    }

    /// Forgets what it found out about tokens, to free memory.
    pub fn forget(&mut self) {
        self.known = Known::default();
    }

    /// The number of what is known about a token.
    fn know(&mut self, text: &str, token: &Token) -> u32 {
        let extractor = self.extractor;
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
        if let Some(&number) = self.known.numbers.get(&key) {
            return number;
        }
        let number = self.known.numbers.len() as u32;
        self.known.numbers.insert(key, number);
        let normal = if extractor.normalizer.steps().is_empty() {
            Cow::Borrowed(written)
        } else {
            Cow::Owned(extractor.normalizer.normalize(written).text().to_owned())
        };
        let lower = normal.to_lowercase();
        let form = Form {
            text: &normal,
            lower: &lower,
            space,
        };
        self.learn(&form);
        number
    }

    fn learn(&mut self, form: &Form<'_>) {
        let Self {
            extractor,
            numbering,
            known,
            normal: buffer,
            ..
        } = self;
        for (index, &offset) in extractor.offsets.iter().enumerate() {
            for entry in extractor.local.iter().filter(|entry| entry.at.contains(&index)) {
                entry.local.facts(&entry.name, form, buffer, &mut |fact| {
                    let hash = name_hash::at(name_hash::base(fact), offset);
                    let mut name = || {
                        let mut name = String::new();
                        name_hash::push(&mut name, fact, offset);
                        name
                    };
                    known.ids.extend(numbering.number(hash, &mut name));
                });
            }
            known.id_ends.push(known.ids.len() as u32);
        }
        for operand in 0..extractor.local_operands {
            for entry in extractor
                .local
                .iter()
                .filter(|entry| entry.operand == Some(operand))
            {
                entry.local.facts(&entry.name, form, buffer, &mut |fact| {
                    known.hashes.push(name_hash::base(fact))
                });
            }
            known.hash_ends.push(known.hashes.len() as u32);
        }
    }

    fn add_known(&mut self, position: usize) {
        let offsets = &self.extractor.offsets;
        for (index, &offset) in offsets.iter().enumerate() {
            let Some(&token) = neighbour(&self.tokens, position, offset) else {
                continue;
            };
            let end = token as usize * offsets.len() + index;
            let start = if end == 0 {
                0
            } else {
                self.known.id_ends[end - 1] as usize
            };
            self.row
                .ones
                .extend_from_slice(&self.known.ids[start..self.known.id_ends[end] as usize]);
        }
    }

    fn add_context(&mut self, position: usize) {
        for (number, (entry, facts)) in self.extractor.context.iter().zip(&self.facts).enumerate() {
            for &offset in &entry.offsets {
                let Some(token) = place(position, offset, self.tokens.len()) else {
                    continue;
                };
                for fact in facts.of(token) {
                    let hash = name_hash::at(fact.hash, offset);
                    self.numbering.expect(hash);
                    let origin = Origin::Context {
                        entry: number as u32,
                        offset,
                        fact: *fact,
                    };
                    self.pending.push(Pending {
                        hash,
                        value: fact.value,
                        origin,
                    });
                }
            }
        }
    }

    fn add_conjunctions(&mut self, position: usize) {
        for (index, operands) in self.extractor.conjunctions.iter().enumerate() {
            let counts = operands
                .iter()
                .map(|operand| self.operand_facts(position, operand));
            let choices: u32 = counts.product();
            for choice in 0..choices {
                let mut left = choice;
                let mut value = 1.0;
                let hashes = operands.iter().map(|operand| {
                    let count = self.operand_facts(position, operand);
                    let (hash, factor) = self.operand_fact(position, operand, left % count);
                    left /= count;
                    value *= factor;
                    name_hash::at(hash, operand.offset)
                });
                let hash = name_hash::joined(hashes);
                self.numbering.expect(hash);
                let origin = Origin::Conjunction {
                    index: index as u32,
                    choice,
                };
                self.pending.push(Pending { hash, value, origin });
            }
        }
    }

    /// How many facts an operand has at a position.
    fn operand_facts(&self, position: usize, operand: &Operand) -> u32 {
        let Some(token) = place(position, operand.offset, self.tokens.len()) else {
            return 0;
        };
        match operand.of {
            OperandOf::Local(number) => self.known_hashes(self.tokens[token], number).len() as u32,
            OperandOf::Context(entry) => self.facts[entry].of(token).len() as u32,
        }
    }

    /// Hash and value of one of them, which has to be there.
    fn operand_fact(&self, position: usize, operand: &Operand, fact: u32) -> (u64, f32) {
        let token = place(position, operand.offset, self.tokens.len()).unwrap_or(position);
        match operand.of {
            OperandOf::Local(number) => (self.known_hashes(self.tokens[token], number)[fact as usize], 1.0),
            OperandOf::Context(entry) => {
                let fact = self.facts[entry].of(token)[fact as usize];
                (fact.hash, fact.value)
            }
        }
    }

    fn known_hashes(&self, token: u32, operand: usize) -> &[u64] {
        let end = token as usize * self.extractor.local_operands + operand;
        let start = if end == 0 {
            0
        } else {
            self.known.hash_ends[end - 1] as usize
        };
        &self.known.hashes[start..self.known.hash_ends[end] as usize]
    }

    fn look_up(&mut self, sequence: &Sequence<'_>, position: usize) {
        let mut pending = std::mem::take(&mut self.pending);
        for item in &pending {
            let Self {
                extractor,
                numbering,
                facts,
                normal,
                ..
            } = self;
            let mut name = || write_name(extractor, facts, sequence, position, &item.origin, normal);
            if let Some(id) = numbering.number(item.hash, &mut name) {
                if item.value == 1.0 {
                    self.row.ones.push(id);
                } else {
                    self.row.valued.push((id, item.value));
                }
            }
        }
        pending.clear();
        self.pending = pending;
    }
}

/// The name of an observation: only needed when it is new.
fn write_name(
    extractor: &Extractor,
    facts: &[Facts],
    sequence: &Sequence<'_>,
    position: usize,
    origin: &Origin,
    buffer: &mut String,
) -> String {
    let mut name = String::new();
    match *origin {
        Origin::Context { entry, offset, fact } => {
            name_hash::push(&mut name, facts[entry as usize].text(&fact), offset);
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
            facts
                .of(token)
                .iter()
                .map(|fact| facts.text(fact).to_owned())
                .collect()
        }
        OperandOf::Local(number) => {
            let mut texts = Vec::new();
            let token = &sequence.tokens[token];
            let normal = extractor.normalizer.normalize(token.text(sequence.text));
            let lower = normal.text().to_lowercase();
            let space = (token.space_before, token.space_after);
            let form = Form {
                text: normal.text(),
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

fn neighbour<T>(tokens: &[T], position: usize, offset: i32) -> Option<&T> {
    place(position, offset, tokens.len()).map(|at| &tokens[at])
}
