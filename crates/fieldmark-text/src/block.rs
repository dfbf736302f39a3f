//! [`Blocks`]: an input cut into blocks of whole sequences, so that blocks can be parsed independently.

use crate::error::{ErrorKind, Fault, ReadError};
use crate::source::Input;

/// Some whole sequences of an input, as bytes.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub(crate) bytes: Vec<u8>,
    pub(crate) file: String,
    pub(crate) first_line: u64,
    /// Bytes of the (decompressed) input before this block.
    pub(crate) offset: u64,
}

impl Block {
    /// The line number of the first line.
    pub fn first_line(&self) -> u64 {
        self.first_line
    }

    /// The bytes of the block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether there is no sequence in the block.
    pub(crate) fn is_blank(&self) -> bool {
        self.bytes
            .iter()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
    }

    /// The text of the block.
    pub fn text(&self) -> Result<&str, ReadError> {
        if let Some(at) = memchr::memchr(0, &self.bytes) {
            let kind = ErrorKind::Nul {
                offset: self.offset + at as u64,
            };
            return Err(self.error(Fault::new(at, kind)));
        }
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            let kind = ErrorKind::Utf8 {
                offset: self.offset + at as u64,
                byte: self.bytes[at],
            };
            self.error(Fault::new(at, kind))
        })
    }

    /// A fault with file, line and column.
    #[allow(clippy::boxed_local)] // Parsers return their faults boxed.
    pub(crate) fn error(&self, fault: Box<Fault>) -> ReadError {
        let Fault { offset, kind } = *fault;
        let before = &self.bytes[..offset];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        // Bytes that continue a character are not counted, so this works in a line that is not UTF-8 throughout.
        let column = before[line_start..]
            .iter()
            .filter(|&&byte| byte & 0xC0 != 0x80)
            .count() as u64
            + 1;
        ReadError::at(&self.file, self.line_at(offset), column, kind)
    }

    /// The line number of a byte of the block.
    pub(crate) fn line_at(&self, offset: usize) -> u64 {
        self.first_line + memchr::memchr_iter(b'\n', &self.bytes[..offset]).count() as u64
    }
}

/// How an input is cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockOptions {
    /// Bytes that a block should have.
    pub size: usize,
    /// Hand out what has arrived instead of waiting until a block is full, for an input that someone types.
    pub eager: bool,
    /// The most bytes that one sequence may have.
    pub longest_sequence: usize,
}

impl BlockOptions {
    /// Blocks for an input of which only a part may have arrived: nothing waits that could be worked on.
    pub fn eager() -> Self {
        Self {
            // As much as a pipe holds.
            size: 1 << 16,
            eager: true,
            ..Self::default()
        }
    }
}

impl Default for BlockOptions {
    fn default() -> Self {
        Self {
            size: 1 << 20,
            eager: false,
            longest_sequence: 1 << 30,
        }
    }
}

/// Cuts an [`Input`] into [`Block`]s at blank lines.
#[derive(Debug)]
pub struct Blocks {
    input: Input,
    options: BlockOptions,
    /// Bytes that were read but not handed out: the beginning of the next block.
    pending: Vec<u8>,
    /// Everything before this byte of `pending` was searched for a border already.
    searched: usize,
    line: u64,
    offset: u64,
    ended: bool,
}

impl Blocks {
    /// Blocks of `input`. A byte order mark at its beginning is skipped.
    pub fn new(mut input: Input, options: BlockOptions) -> Result<Self, ReadError> {
        let mut pending = vec![0; 4];
        let mut filled = 0;
        while filled < pending.len() {
            match input.read(&mut pending[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        pending.truncate(filled);
        let mut offset = 0;
        if pending.starts_with(&[0xEF, 0xBB, 0xBF]) {
            pending.drain(..3);
            offset = 3;
        } else if pending.starts_with(&[0xFE, 0xFF])
            || pending.starts_with(&[0xFF, 0xFE])
            || pending == [0, 0, 0xFE, 0xFF]
        {
            return Err(ReadError::at(input.name(), 1, 1, ErrorKind::Utf16));
        }
        Ok(Self {
            input,
            options,
            pending,
            searched: 0,
            line: 1,
            offset,
            ended: false,
        })
    }

    /// The name of the input for messages.
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// The next block; `None` at the end. No block is empty.
    pub fn next_block(&mut self) -> Result<Option<Block>, ReadError> {
        while !self.ended {
            let short = self.fill()?;
            let full = self.pending.len() >= self.options.size;
            if (full || (short && self.options.eager)) && !self.ended {
                if let Some(border) = self.last_border() {
                    return Ok(Some(self.cut(border)));
                }
                self.check_length()?;
            }
        }
        let rest = self.pending.len();
        if rest == 0 {
            return Ok(None);
        }
        Ok(Some(self.cut(rest)))
    }

    /// Reads once; tells whether less came than there was room for.
    fn fill(&mut self) -> Result<bool, ReadError> {
        let before = self.pending.len();
        // After a long sequence grows the buffer, read in larger steps: the cost stays linear.
        let step = self.options.size.saturating_sub(before).max(before / 2).max(4096);
        self.pending.resize(before + step, 0);
        let count = self.input.read(&mut self.pending[before..])?;
        self.pending.truncate(before + count);
        self.ended = count == 0;
        Ok(count < step)
    }

    /// The end of the last blank line of `pending`.
    fn last_border(&mut self) -> Option<usize> {
        let mut end = memchr::memrchr(b'\n', &self.pending)?;
        loop {
            let start = memchr::memrchr(b'\n', &self.pending[..end]).map_or(0, |at| at + 1);
            if is_blank(&self.pending[start..end]) {
                return Some(end + 1);
            }
            if start <= self.searched {
                // The last, incomplete line and its predecessor may still become a border.
                self.searched = memchr::memrchr(b'\n', &self.pending).map_or(0, |at| at + 1);
                return None;
            }
            end = start - 1;
        }
    }

    fn cut(&mut self, border: usize) -> Block {
        let mut rest = Vec::with_capacity(self.options.size + 4096);
        rest.extend_from_slice(&self.pending[border..]);
        let mut bytes = std::mem::replace(&mut self.pending, rest);
        bytes.truncate(border);
        let block = Block {
            file: self.input.name().to_owned(),
            first_line: self.line,
            offset: self.offset,
            bytes,
        };
        self.line = block.line_at(block.bytes.len());
        self.offset += block.bytes.len() as u64;
        self.searched = 0;
        block
    }

    fn check_length(&self) -> Result<(), ReadError> {
        if self.pending.len() <= self.options.longest_sequence {
            return Ok(());
        }
        // Blank lines at the very beginning do not belong to the sequence.
        let start = self
            .pending
            .iter()
            .position(|byte| !byte.is_ascii_whitespace())
            .unwrap_or(0);
        let line = self.line + memchr::memchr_iter(b'\n', &self.pending[..start]).count() as u64;
        let kind = ErrorKind::SequenceTooLong {
            limit: self.options.longest_sequence as u64,
            unit: "bytes",
        };
        Err(ReadError::at(self.input.name(), line, 1, kind))
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_block();
        if next.is_err() {
            self.ended = true;
            self.pending.clear();
        }
        next.transpose()
    }
}

/// Whether a line separates sequences.
#[inline]
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}
