//! [`Corpus`]: the texts of a project in memory, and where their sentences are in the pool.

use crate::project::{DocumentId, StoredDocument};
use fieldmark::text::offsets::{Offsets, Unit};
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::ops::Range;

/// A document.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub id: DocumentId,
    pub name: String,
    pub text: String,
    pub meta: BTreeMap<String, String>,
    /// The bytes of each token.
    tokens: Vec<[u32; 2]>,
    /// The end of each sentence, in tokens.
    ends: Vec<u32>,
    /// Whether all of it is to be annotated by everybody.
    pub shared: bool,
    /// The same for each sentence, where sentences are shared and not documents.
    shared_sentences: Vec<bool>,
    /// Whether all of it is for tests.
    pub held_out: bool,
    /// The number of its first sentence among those of all documents.
    pub first_sequence: usize,
    /// The number of its first token among those of all documents.
    pub first_position: usize,
}

impl Text {
    pub fn tokens(&self) -> usize {
        self.tokens.len()
    }

    /// The number of a token among those of all documents, if there is such a token.
    pub fn position(&self, token: usize) -> Option<usize> {
        (token < self.tokens()).then(|| self.first_position + token)
    }

    pub fn sentences(&self) -> usize {
        self.ends.len()
    }

    /// The tokens of a sentence.
    pub fn sentence(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[index] as usize
    }

    /// Whether a sentence is to be annotated by everybody.
    pub fn shares(&self, index: usize) -> bool {
        self.shared || self.shared_sentences.get(index).copied().unwrap_or(false)
    }

    /// Whether anything of it is.
    pub fn shares_something(&self) -> bool {
        self.shared || self.shared_sentences.contains(&true)
    }

    /// All sentences as ranges of tokens.
    pub fn borders(&self) -> Vec<Range<usize>> {
        (0..self.sentences()).map(|index| self.sentence(index)).collect()
    }

    /// The sentence that a token is in.
    pub fn sentence_of(&self, token: usize) -> usize {
        self.ends.partition_point(|&end| end as usize <= token)
    }

    /// The sentences that some tokens are in.
    pub fn sentences_of(&self, tokens: Range<usize>) -> Range<usize> {
        if tokens.is_empty() {
            return 0..0;
        }
        self.sentence_of(tokens.start)..self.sentence_of(tokens.end - 1) + 1
    }

    /// The bytes of a token.
    pub fn bytes(&self, token: usize) -> Range<usize> {
        let [start, end] = self.tokens[token];
        start as usize..end as usize
    }

    /// The bytes from the first to the last of some tokens.
    pub fn bytes_of(&self, tokens: Range<usize>) -> Range<usize> {
        if tokens.is_empty() {
            return 0..0;
        }
        self.bytes(tokens.start).start..self.bytes(tokens.end - 1).end
    }

    /// The text of some tokens.
    pub fn words(&self, tokens: Range<usize>) -> &str {
        &self.text[self.bytes_of(tokens)]
    }

    /// The borders of some tokens in units of UTF-16, counted from a byte of the text.
    pub fn utf16(&self, tokens: Range<usize>, from: usize, to: usize) -> Vec<[usize; 2]> {
        let offsets = Offsets::new(&self.text[from..to], Unit::Utf16);
        let count = |byte: usize| offsets.count(byte - from).unwrap_or(0);
        tokens
            .map(|token| {
                let bytes = self.bytes(token);
                [count(bytes.start), count(bytes.end)]
            })
            .collect()
    }
}

/// All documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Corpus {
    texts: Vec<Text>,
    numbers: HashMap<DocumentId, usize>,
    sequences: usize,
    positions: usize,
}

impl Corpus {
    /// Adds a document, which is not shared; its text moves here.
    pub fn add(&mut self, stored: StoredDocument) {
        let StoredDocument {
            id,
            document,
            cut,
            held_out,
        } = stored;
        let text = Text {
            id,
            name: document.id,
            text: document.text,
            meta: document.meta,
            tokens: cut
                .tokens
                .iter()
                .map(|bytes| [bytes.start as u32, bytes.end as u32])
                .collect(),
            ends: cut.sentences.iter().map(|sentence| sentence.end as u32).collect(),
            shared: false,
            shared_sentences: Vec::new(),
            held_out,
            first_sequence: self.sequences,
            first_position: self.positions,
        };
        self.sequences += text.sentences();
        self.positions += text.tokens();
        self.numbers.insert(id, self.texts.len());
        self.texts.push(text);
    }

    /// Decides anew which documents are for tests.
    pub fn hold_out(&mut self, held_out: impl Fn(DocumentId) -> bool) {
        for text in &mut self.texts {
            text.held_out = held_out(text.id);
        }
    }

    /// Decides anew which documents are shared, and no sentences of others.
    pub fn share(&mut self, shared: impl Fn(DocumentId) -> bool) {
        for text in &mut self.texts {
            (text.shared, text.shared_sentences) = (shared(text.id), Vec::new());
        }
    }

    /// Decides anew which sentences are shared.
    pub fn share_sentences(&mut self, shared: impl Fn(DocumentId, usize) -> bool) {
        for text in &mut self.texts {
            let sentences = (0..text.sentences()).map(|index| shared(text.id, index));
            text.shared_sentences = sentences.collect();
            text.shared = !text.shared_sentences.contains(&false);
        }
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn sequences(&self) -> usize {
        self.sequences
    }

    pub fn positions(&self) -> usize {
        self.positions
    }

    pub fn get(&self, number: usize) -> &Text {
        &self.texts[number]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Text> {
        self.texts.iter()
    }

    /// The number of a document by its id.
    pub fn find(&self, id: DocumentId) -> Option<usize> {
        self.numbers.get(&id).copied()
    }

    /// The document that a token of the pool is in.
    pub fn number_at(&self, position: usize) -> usize {
        self.texts
            .partition_point(|text| text.first_position + text.tokens() <= position)
    }

    /// The document and the sentence in it that a sequence of the pool is.
    pub fn place(&self, sequence: usize) -> (usize, usize) {
        let number = self
            .texts
            .partition_point(|text| text.first_sequence + text.sentences() <= sequence);
        (number, sequence - self.texts[number].first_sequence)
    }
}
