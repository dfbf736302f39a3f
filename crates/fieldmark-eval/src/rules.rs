//! The rules by which `conlleval` reads chunks out of labels.
//!
//! The script (Tjong Kim Sang, CoNLL-2000) looks at two neighbouring labels at a time and says whether a
//! chunk begins or ends between them. It takes any labels, legal or not, of the representations in Tjong
//! Kim Sang & Veenstra (1999): IOB1, IOB2, IOE1, IOE2, and brackets `[` and `]` for chunks of one token.

use fieldmark_core::Alphabet;

/// Which version of the rules is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// The script of 2004-01-26, to the letter.
    ///
    /// It does not know `S`, nor that `B` after `E` begins a chunk: `S-X S-X` is one chunk. That makes its
    /// figures for IOBES wrong.
    Original,
    /// The script with the customary rules for IOBES: `S` is a chunk, and `E` and `S` end theirs.
    ///
    /// Labels without `S` in which `B-X` never follows `E-X` (so all of IOB1, IOB2, IOE1 and IOE2) are read as
    /// by [`Rules::Original`].
    #[default]
    Extended,
}

/// A label as the script sees it. Two labels are the same to the script if both numbers agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub prefix: u32,
    pub kind: u32,
}

impl Chunk {
    /// What stands at the borders of a sequence.
    pub const OUTSIDE: Chunk = Chunk {
        prefix: OUTSIDE,
        kind: 0,
    };
}

/// Prefixes with a meaning have the first ids, in this order.
const PREFIXES: [&str; 8] = ["O", "B", "I", "E", "S", ".", "[", "]"];
const OUTSIDE: u32 = 0;
const BEGIN: u32 = 1;
const INSIDE: u32 = 2;
const END: u32 = 3;
const SINGLE: u32 = 4;
const DOT: u32 = 5;
const OPEN: u32 = 6;
const CLOSE: u32 = 7;

impl Rules {
    /// Whether a chunk that `previous` is part of ends before `next`.
    pub(crate) fn ends(self, previous: Chunk, next: Chunk) -> bool {
        let by_prefix = match (previous.prefix, next.prefix) {
            (BEGIN | INSIDE, BEGIN | OUTSIDE) => true,
            (END, END | INSIDE | OUTSIDE) => true,
            (OPEN | CLOSE, _) => true,
            (BEGIN | INSIDE, SINGLE) | (END, BEGIN | SINGLE) => self == Rules::Extended,
            (SINGLE, OUTSIDE | BEGIN | INSIDE | END | SINGLE) => self == Rules::Extended,
            _ => false,
        };
        by_prefix || (!matches!(previous.prefix, OUTSIDE | DOT) && previous.kind != next.kind)
    }

    /// Whether a chunk begins with `next` when `previous` stands before it.
    pub(crate) fn starts(self, previous: Chunk, next: Chunk) -> bool {
        let by_prefix = match (previous.prefix, next.prefix) {
            (BEGIN | INSIDE, BEGIN) => true,
            (OUTSIDE, BEGIN | INSIDE | END) => true,
            (END, END | INSIDE) => true,
            (_, OPEN | CLOSE) => true,
            (END | SINGLE, BEGIN) | (SINGLE, INSIDE | END) => self == Rules::Extended,
            (OUTSIDE | BEGIN | INSIDE | END | SINGLE, SINGLE) => self == Rules::Extended,
            _ => false,
        };
        by_prefix || (!matches!(next.prefix, OUTSIDE | DOT) && previous.kind != next.kind)
    }

    /// Where the chunks of a sequence begin, and where they end.
    pub(crate) fn chunks(self, labels: &[Chunk]) -> Vec<(usize, usize)> {
        let mut chunks: Vec<(usize, usize)> = Vec::new();
        let mut open = None;
        let mut before = Chunk::OUTSIDE;
        for (position, &after) in labels.iter().chain([&Chunk::OUTSIDE]).enumerate() {
            if self.ends(before, after)
                && let Some(start) = open.take()
            {
                chunks.push((start, position));
            }
            if self.starts(before, after) {
                // A label that is foreign to every scheme may begin a chunk without an end before it.
                chunks.extend(open.replace(position).map(|start| (start, position)));
            }
            before = after;
        }
        chunks.extend(open.map(|start| (start, labels.len())));
        chunks
    }
}

/// Labels by id, taken apart once so that counting need not look at strings.
#[derive(Clone, Debug)]
pub struct LabelTable {
    rules: Rules,
    prefixes: Alphabet,
    kinds: Alphabet,
    chunks: Vec<Chunk>,
}

impl LabelTable {
    /// The labels of an alphabet under [`Rules::Extended`].
    pub fn new(labels: &Alphabet) -> Self {
        Self::with_rules(labels, Rules::Extended)
    }

    /// The labels of an alphabet under the given rules.
    pub fn with_rules(labels: &Alphabet, rules: Rules) -> Self {
        let mut table = Self::empty(rules);
        for label in labels.iter() {
            table.push(label);
        }
        table
    }

    pub(crate) fn empty(rules: Rules) -> Self {
        let kinds = [""].into_iter().collect();
        LabelTable {
            rules,
            prefixes: PREFIXES.into_iter().collect(),
            kinds,
            chunks: Vec::new(),
        }
    }

    /// Adds the label with the next id. What stands before the first dash is the prefix.
    pub(crate) fn push(&mut self, label: &str) {
        let (prefix, kind) = label.split_once('-').unwrap_or((label, ""));
        self.push_parts(prefix, kind);
    }

    pub(crate) fn push_parts(&mut self, prefix: &str, kind: &str) {
        // The script asks whether the type is true, which the text "0" is not in its language.
        let kind = if kind == "0" { "" } else { kind };
        let chunk = Chunk {
            prefix: self.prefixes.intern(prefix),
            kind: self.kinds.intern(kind),
        };
        self.chunks.push(chunk);
    }

    /// Number of labels.
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }

    /// The types, by [`Chunk::kind`]; the first is empty.
    pub(crate) fn kinds(&self) -> &Alphabet {
        &self.kinds
    }

    pub(crate) fn intern_kind(&mut self, kind: &str) -> u32 {
        self.kinds.intern(kind)
    }

    pub(crate) fn chunk(&self, id: u32) -> Chunk {
        self.chunks[id as usize]
    }
}

/// Which borders lie between two neighbouring positions, in gold and predicted labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Borders {
    pub starts_gold: bool,
    pub starts_found: bool,
    ends_gold: bool,
    ends_found: bool,
    /// Whether the types on the left, and on the right, agree.
    same_before: bool,
    same_after: bool,
}

impl Borders {
    /// The borders between `before` and `after`, each gold and predicted.
    pub fn between(rules: Rules, before: (Chunk, Chunk), after: (Chunk, Chunk)) -> Self {
        Borders {
            starts_gold: rules.starts(before.0, after.0),
            starts_found: rules.starts(before.1, after.1),
            ends_gold: rules.ends(before.0, after.0),
            ends_found: rules.ends(before.1, after.1),
            same_before: before.0.kind == before.1.kind,
            same_after: after.0.kind == after.1.kind,
        }
    }

    /// Takes `matching` ("we are in a chunk on which gold and predicted labels agree so far") across the
    /// borders; also says whether a chunk was completed that is right.
    pub fn cross(&self, matching: bool) -> (bool, bool) {
        let completed = matching && self.ends_gold && self.ends_found && self.same_before;
        let broken = self.ends_gold != self.ends_found || !self.same_after;
        let begun = self.starts_gold && self.starts_found && self.same_after;
        (begun || (matching && !completed && !broken), completed)
    }
}
