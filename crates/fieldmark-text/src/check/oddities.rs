//! Suspicious whitespace and the like: allowed, but seldom meant.

use crate::block::is_blank;
use memchr::{memchr, memmem};
use serde::{Deserialize, Serialize};

/// What is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OddityKind {
    /// Spaces or tabs at the end of a line.
    TrailingBlanks,
    /// Spaces or tabs at the beginning of a line.
    LeadingBlanks,
    /// Two tabs in a row.
    DoubleTab,
    /// A line of nothing but blanks. It ends a sequence, as an empty line does.
    BlankLineWithSpaces,
    /// A space that does not separate columns: no-break, thin, ideographic …
    NonBreakingSpace,
    /// A character without width: zero-width space or joiner, byte order mark, soft hyphen …
    ZeroWidth,
    /// A control character other than tab and the end of the line.
    ControlCharacter,
    /// Lines that end like in Windows (CR LF) among others that do not; the examples are the less frequent.
    MixedLineEnds,
    /// An attribute that ends in a colon, without a value. Often a colon that should be escaped.
    EmptyValue,
    /// A label of an attribute file that holds a space. Often there should be a tab.
    SpaceInLabel,
}

impl OddityKind {
    const ALL: [OddityKind; 10] = [
        OddityKind::TrailingBlanks,
        OddityKind::LeadingBlanks,
        OddityKind::DoubleTab,
        OddityKind::BlankLineWithSpaces,
        OddityKind::NonBreakingSpace,
        OddityKind::ZeroWidth,
        OddityKind::ControlCharacter,
        OddityKind::MixedLineEnds,
        OddityKind::EmptyValue,
        OddityKind::SpaceInLabel,
    ];
}

/// A kind of oddity that occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oddity {
    /// What is odd.
    pub kind: OddityKind,
    /// In how many lines.
    pub count: u64,
    /// The first of these lines.
    pub lines: Vec<u64>,
}

/// Collects oddities over all blocks of an input.
pub(super) struct Oddities {
    attributes: bool,
    examples: usize,
    found: [(u64, Vec<u64>); OddityKind::ALL.len()],
    windows: (u64, Vec<u64>),
    unix: (u64, Vec<u64>),
}

impl Oddities {
    pub fn new(attributes: bool, examples: usize) -> Self {
        Self {
            attributes,
            examples,
            found: Default::default(),
            windows: Default::default(),
            unix: Default::default(),
        }
    }

    pub fn scan(&mut self, text: &str, first_line: u64) {
        for (line, number) in text.split_inclusive('\n').zip(first_line..) {
            let content = match line.strip_suffix('\n') {
                None => line,
                Some(content) => match content.strip_suffix('\r') {
                    Some(content) => {
                        note(&mut self.windows, number, self.examples);
                        content
                    }
                    None => {
                        note(&mut self.unix, number, self.examples);
                        content
                    }
                },
            };
            self.line(content, number);
        }
    }

    fn line(&mut self, line: &str, number: u64) {
        let bytes = line.as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
            return;
        };
        if is_blank(bytes) {
            return self.note(OddityKind::BlankLineWithSpaces, number);
        }
        if matches!(last, b' ' | b'\t') {
            self.note(OddityKind::TrailingBlanks, number);
        }
        if matches!(first, b' ' | b'\t') {
            self.note(OddityKind::LeadingBlanks, number);
        }
        if memmem::find(bytes, b"\t\t").is_some() {
            self.note(OddityKind::DoubleTab, number);
        }
        if self.attributes && memchr(b':', bytes).is_some() && line.split('\t').skip(1).any(ends_in_colon) {
            self.note(OddityKind::EmptyValue, number);
        }
        if self.attributes && line.split('\t').next().is_some_and(|label| label.contains(' ')) {
            self.note(OddityKind::SpaceInLabel, number);
        }
        if bytes
            .iter()
            .any(|&byte| !(byte == b'\t' || (0x20..0x7F).contains(&byte)))
        {
            let mut seen = [false; OddityKind::ALL.len()];
            for kind in line.chars().filter_map(odd_character) {
                if !std::mem::replace(&mut seen[kind as usize], true) {
                    self.note(kind, number);
                }
            }
        }
    }

    fn note(&mut self, kind: OddityKind, number: u64) {
        note(&mut self.found[kind as usize], number, self.examples);
    }

    pub fn finish(mut self) -> Vec<Oddity> {
        if self.windows.0 > 0 && self.unix.0 > 0 {
            let fewer = if self.windows.0 <= self.unix.0 {
                self.windows
            } else {
                self.unix
            };
            self.found[OddityKind::MixedLineEnds as usize] = fewer;
        }
        OddityKind::ALL
            .into_iter()
            .zip(self.found)
            .filter(|(_, (count, _))| *count > 0)
            .map(|(kind, (count, lines))| Oddity { kind, count, lines })
            .collect()
    }
}

fn note((count, lines): &mut (u64, Vec<u64>), number: u64, examples: usize) {
    *count += 1;
    if lines.len() < examples {
        lines.push(number);
    }
}

/// Whether an attribute ends in a colon that no backslash escapes.
fn ends_in_colon(attribute: &str) -> bool {
    let Some(name) = attribute.strip_suffix(':') else {
        return false;
    };
    (name.len() - name.trim_end_matches('\\').len()) % 2 == 0
}

fn odd_character(c: char) -> Option<OddityKind> {
    match c {
        '\t' => None,
        '\u{AD}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}'
        | '\u{FEFF}' => Some(OddityKind::ZeroWidth),
        ' ' => None,
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => Some(OddityKind::ControlCharacter),
        c if c.is_whitespace() => Some(OddityKind::NonBreakingSpace),
        _ => None,
    }
}
