//! [`Dictionary`]: names with their identifiers, found in texts at the borders of tokens.

use super::folding::{DictionaryOptions, Fold, Folder};
use super::lines::{Problem, for_each_line, is_comment};
use super::trie::{Cursor, Trie};
use crate::error::ReadError;
use crate::source::Source;
use crate::tokenize::{Token, Tokenizer, TokenizerProfile};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Names, each perhaps with identifiers of what it stands for. It never changes, and threads can share it.
///
/// A name matches from the border of a token to the border of a token, whatever the tokenizer: names are compared
/// with the text as [`DictionaryOptions`] say, and never cut into tokens themselves. Of several names that begin
/// at the same token the longest matches; what has matched is not searched again.
///
/// ```
/// use fieldmark_text::dictionaries::{Dictionary, DictionaryOptions};
/// use fieldmark_text::tokenize::{Tokenizer, TokenizerProfile};
/// let options = DictionaryOptions { ignore_case: true, ..DictionaryOptions::default() };
/// let names = [("interleukin-2", vec!["P60568"]), ("Interleukin-2 receptor", vec!["P01589"])];
/// let dictionary = Dictionary::new(options, names)?;
/// let text = "the interleukin–2  receptor";
/// let tokens = Tokenizer::new(TokenizerProfile::Fine).tokenize(text);
/// let mut found = Vec::new();
/// dictionary.for_each_match(text, &tokens, |tokens, name| found.push((tokens, name)));
/// let (range, name) = found.remove(0);
/// assert_eq!(range, 1..5);
/// assert!(dictionary.identifiers(name).eq(["P01589"]));
/// # Ok::<(), fieldmark_text::dictionaries::DictionaryError>(())
/// ```
///
/// A file has one name per line, its identifiers after tabs; blank lines and lines that start with `#` say nothing
/// (a name that starts so is written `\#`).
///
/// Serialised, it is its options and its lines; the search tree is grown again when it is read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Dictionary {
    options: DictionaryOptions,
    entries: Entries,
    trie: Trie,
    /// Entries by the key that they fold to: those of key `k` are `entry_of[start_of[k]..start_of[k + 1]]`.
    entry_of: Vec<u32>,
    start_of: Vec<u32>,
}

/// A name as it is found: all entries of a dictionary that the options take for the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

impl NameId {
    /// A number from 0 that no other name of the dictionary has.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a dictionary knows about a token that a name may begin with: enough to go on with the tokens after it.
#[derive(Clone, Copy, Debug)]
pub struct Beginning(Option<First>);

/// A place after the first token.
#[derive(Clone, Copy, Debug)]
struct First {
    place: Place,
    /// The name that is the token alone.
    name: Option<NameId>,
    /// Whether some name has a blank there.
    before_blank: bool,
}

/// A place in the search tree.
#[derive(Clone, Copy, Debug)]
struct Place {
    cursor: Cursor,
    folder: Folder,
}

/// Entries as lines `name<TAB>identifier<TAB>identifier…`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entries {
    lines: String,
    ends: Vec<u32>,
}

impl Entries {
    fn line(&self, entry: u32) -> &str {
        let at = entry as usize;
        let start = at
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize + 1);
        &self.lines[start..self.ends[at] as usize]
    }

    fn name(&self, entry: u32) -> &str {
        self.line(entry).split('\t').next().unwrap_or_default()
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|entry| self.line(entry))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    options: DictionaryOptions,
    lines: String,
}

/// An entry that a dictionary cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DictionaryError {
    /// Nothing is left of a name.
    #[error(
        "the name `{0}` is empty, or has only characters that the options ignore, and would match everywhere"
    )]
    Empty(String),
    /// A tab or line break in a name or identifier.
    #[error("`{0}` has a tab or a line break in it")]
    Break(String),
    /// More than can be numbered.
    #[error("the dictionary has more than {limit} bytes of names and identifiers", limit = u32::MAX)]
    Size,
}

/// Collects the entries of a [`Dictionary`], from one file or several.
#[derive(Clone, Debug, Default)]
pub struct DictionaryBuilder {
    options: DictionaryOptions,
    entries: Entries,
    folded: Vec<u8>,
}

impl DictionaryBuilder {
    /// A builder without entries.
    pub fn new(options: DictionaryOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Adds a name and what it stands for. White space around them and empty identifiers are left out.
    pub fn add<'a>(
        &mut self,
        name: &'a str,
        identifiers: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), DictionaryError> {
        self.folded.clear();
        self.options.fold_into(name, &mut self.folded);
        if self.folded.is_empty() {
            return Err(DictionaryError::Empty(name.to_owned()));
        }
        let before = self.entries.lines.len();
        let result = self.push_line(name, identifiers);
        if result.is_err() {
            self.entries.lines.truncate(before);
        }
        result
    }

    fn push_line<'a>(
        &mut self,
        name: &'a str,
        identifiers: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), DictionaryError> {
        let parts = std::iter::once(name)
            .chain(identifiers)
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let lines = &mut self.entries.lines;
        for (at, part) in parts.enumerate() {
            if part.contains(['\t', '\n', '\r']) {
                return Err(DictionaryError::Break(part.to_owned()));
            }
            if at > 0 {
                lines.push('\t');
            }
            lines.push_str(part);
        }
        // Folding can make a name longer, but never more than threefold.
        let end = u32::try_from(lines.len()).map_err(|_| DictionaryError::Size)?;
        if end > u32::MAX / 3 {
            return Err(DictionaryError::Size);
        }
        self.entries.ends.push(end);
        lines.push('\n');
        Ok(())
    }

    /// Adds the entries of a file.
    pub fn read(&mut self, source: &Source) -> Result<(), ReadError> {
        for_each_line(source, |_, line| {
            if is_comment(line) {
                return Ok(());
            }
            let mut parts = line.split('\t');
            let name = parts.next().unwrap_or_default();
            let name = match name.strip_prefix('\\') {
                Some(rest) if rest.starts_with('#') => rest,
                _ => name,
            };
            self.add(name, parts)
                .map_err(|error| Problem::new(0, error.to_string()))
        })
    }

    /// The dictionary.
    pub fn build(self) -> Dictionary {
        let Self { options, entries, .. } = self;
        let (mut folded, mut ends) = (Vec::new(), Vec::new());
        for entry in 0..entries.ends.len() as u32 {
            options.fold_into(entries.name(entry), &mut folded);
            ends.push(folded.len());
        }
        let key = |entry: u32| {
            let at = entry as usize;
            &folded[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]]
        };
        let mut entry_of: Vec<u32> = (0..ends.len() as u32).collect();
        entry_of.sort_by_key(|&entry| key(entry));
        let mut start_of = Vec::new();
        for (at, &entry) in entry_of.iter().enumerate() {
            if at == 0 || key(entry_of[at - 1]) != key(entry) {
                start_of.push(at as u32);
            }
        }
        let trie = Trie::new(start_of.iter().map(|&at| key(entry_of[at as usize])));
        start_of.push(entry_of.len() as u32);
        Dictionary {
            options,
            entries,
            trie,
            entry_of,
            start_of,
        }
    }
}

impl Dictionary {
    /// A dictionary of names with their identifiers.
    pub fn new<'a, I: IntoIterator<Item = &'a str>>(
        options: DictionaryOptions,
        entries: impl IntoIterator<Item = (&'a str, I)>,
    ) -> Result<Self, DictionaryError> {
        let mut builder = DictionaryBuilder::new(options);
        for (name, identifiers) in entries {
            builder.add(name, identifiers)?;
        }
        Ok(builder.build())
    }

    /// Reads a file.
    pub fn read(source: &Source, options: DictionaryOptions) -> Result<Self, ReadError> {
        let mut builder = DictionaryBuilder::new(options);
        builder.read(source)?;
        Ok(builder.build())
    }

    /// Which differences of spelling do not count.
    pub fn options(&self) -> DictionaryOptions {
        self.options
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.ends.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries as they were given: the name, and its identifiers.
    pub fn entries(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = &str>)> {
        self.entries.iter().map(|line| {
            let mut parts = line.split('\t');
            (parts.next().unwrap_or_default(), parts)
        })
    }

    /// A whole name.
    pub fn get(&self, name: &str) -> Option<NameId> {
        let mut cursor = Cursor::default();
        let found =
            Folder::new(self.options).feed(name.trim(), &mut |byte| self.trie.step(&mut cursor, byte));
        found.then(|| self.trie.accepted(cursor)).flatten().map(NameId)
    }

    /// The spellings of a name that has been found, in the order of the entries.
    ///
    /// # Panics
    /// When the name belongs to a larger dictionary.
    pub fn names(&self, name: NameId) -> impl Iterator<Item = &str> {
        self.entries_of(name).map(|entry| self.entries.name(entry))
    }

    /// What a name stands for, in the order of the entries; what several entries say comes several times.
    ///
    /// # Panics
    /// When the name belongs to a larger dictionary.
    pub fn identifiers(&self, name: NameId) -> impl Iterator<Item = &str> {
        self.entries_of(name)
            .flat_map(|entry| self.entries.line(entry).split('\t').skip(1))
    }

    fn entries_of(&self, NameId(key): NameId) -> impl Iterator<Item = u32> {
        let at = key as usize;
        let range = self.start_of[at] as usize..self.start_of[at + 1] as usize;
        self.entry_of[range].iter().copied()
    }

    /// Calls `found` with the tokens of every name in a text, from left to right, and the name. No memory is asked
    /// for. The tokens are in order, and of this text; other ones match nothing.
    #[inline]
    pub fn for_each_match(&self, text: &str, tokens: &[Token], found: impl FnMut(Range<usize>, NameId)) {
        let beginning = |token: usize| self.beginning(text.get(tokens[token].range()).unwrap_or_default());
        self.for_each_match_from(text, tokens, beginning, found);
    }

    /// As [`Dictionary::for_each_match`], if the [`Dictionary::beginning`] of tokens is known, by their numbers.
    #[inline]
    pub fn for_each_match_from(
        &self,
        text: &str,
        tokens: &[Token],
        mut beginning: impl FnMut(usize) -> Beginning,
        mut found: impl FnMut(Range<usize>, NameId),
    ) {
        let mut first = 0;
        while first < tokens.len() {
            let longest = match beginning(first).0 {
                Some(beginning) => self.longest(text, &tokens[first..], beginning),
                None => None,
            };
            match longest {
                Some((count, name)) => {
                    found(first..first + count, name);
                    first += count;
                }
                None => first += 1,
            }
        }
    }

    /// How names begin with a token.
    pub fn beginning(&self, token: &str) -> Beginning {
        let mut place = Place {
            cursor: Cursor::default(),
            folder: Folder::new(self.options),
        };
        let goes_on = place
            .folder
            .feed(token, &mut |byte| self.trie.step(&mut place.cursor, byte));
        Beginning((goes_on && place.cursor.depth > 0).then(|| First {
            place,
            name: self.trie.accepted(place.cursor).map(NameId),
            before_blank: self.options.spaces == Fold::Ignore
                || self.trie.step(&mut place.cursor.clone(), b' '),
        }))
    }

    /// The longest name that begins with the first token, and the number of its tokens.
    #[inline]
    fn longest(&self, text: &str, tokens: &[Token], first: First) -> Option<(usize, NameId)> {
        let Place {
            mut cursor,
            mut folder,
        } = first.place;
        let mut longest = first.name.map(|name| (1, name));
        for (at, pair) in tokens.windows(2).enumerate() {
            let token = &pair[1];
            let (Some(gap), Some(inside)) = (text.get(pair[0].end..token.start), text.get(token.range()))
            else {
                break;
            };
            if at == 0 && gap == " " && !first.before_blank {
                break;
            }
            if !folder.feed(gap, &mut |byte| self.trie.step(&mut cursor, byte)) {
                break;
            }
            let before = cursor.depth;
            if !folder.feed(inside, &mut |byte| self.trie.step(&mut cursor, byte)) {
                break;
            }
            // A dash that is ignored is no part of the name before or after it.
            let is_part = cursor.depth > before;
            if let Some(key) = self.trie.accepted(cursor).filter(|_| is_part) {
                longest = Some((at + 2, NameId(key)));
            }
        }
        longest
    }

    /// Calls `found` with the bytes of every name in a text and the name. Names begin and end at the borders of
    /// runs of letters and digits.
    pub fn find(&self, text: &str, mut found: impl FnMut(Range<usize>, NameId)) {
        let tokens = Tokenizer::new(TokenizerProfile::Dash).tokenize(text);
        self.for_each_match(text, &tokens, |range, name| {
            found(tokens[range.start].start..tokens[range.end - 1].end, name);
        });
    }
}

/// Two dictionaries are the same if their options and entries are.
impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        (self.options, &self.entries) == (other.options, &other.entries)
    }
}

impl Eq for Dictionary {}

impl Default for Dictionary {
    fn default() -> Self {
        DictionaryBuilder::default().build()
    }
}

impl From<Dictionary> for Stored {
    fn from(dictionary: Dictionary) -> Self {
        Self {
            options: dictionary.options,
            lines: dictionary.entries.lines,
        }
    }
}

impl TryFrom<Stored> for Dictionary {
    type Error = DictionaryError;

    fn try_from(stored: Stored) -> Result<Self, DictionaryError> {
        let mut builder = DictionaryBuilder::new(stored.options);
        for line in stored.lines.lines() {
            let mut parts = line.split('\t');
            builder.add(parts.next().unwrap_or_default(), parts)?;
        }
        Ok(builder.build())
    }
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
mod tests;
