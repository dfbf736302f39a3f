//! [`Source`]: a file or standard input, plain or compressed.

use crate::error::{ErrorKind, ReadError};
use crate::formats::encoding::read_bytes;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Where data come from.
///
/// Gzip and Zstandard are recognised by their first bytes, whatever the name of the file.
///
/// ```
/// use fieldmark_text::Source;
/// assert_eq!(Source::from_argument("-").name(), "standard input");
/// assert_eq!(Source::from_argument("train.txt.gz").name(), "train.txt.gz");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// Bytes in memory, under a name for messages.
    Memory {
        /// The name for messages.
        name: String,
        /// The bytes, plain or compressed.
        bytes: Vec<u8>,
    },
}

impl Source {
    /// A command line argument: `-` is standard input.
    pub fn from_argument(argument: impl AsRef<Path>) -> Self {
        let path = argument.as_ref();
        if path == Path::new("-") {
            Source::Stdin
        } else {
            Source::File(path.to_owned())
        }
    }

    /// Text in memory.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source::Memory {
            name: name.into(),
            bytes: text.into().into_bytes(),
        }
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        match self {
            Source::Stdin => "standard input".to_owned(),
            Source::File(path) => path.display().to_string(),
            Source::Memory { name, .. } => name.clone(),
        }
    }

    /// Whether all of the source is there already. What comes through a pipe or is typed comes bit by bit.
    pub fn is_complete(&self) -> bool {
        match self {
            Source::Stdin => stdin_metadata().is_ok_and(|metadata| metadata.is_file()),
            Source::File(path) => std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()),
            Source::Memory { .. } => true,
        }
    }

    /// A source that can be read twice: what comes through a pipe is kept in memory.
    pub fn repeatable(&self) -> Result<Cow<'_, Source>, ReadError> {
        let is_there = match self {
            // Also of a file that is redirected to it, each part is read once.
            Source::Stdin => false,
            Source::File(path) => path.is_dir() || self.is_complete(),
            Source::Memory { .. } => true,
        };
        if is_there {
            return Ok(Cow::Borrowed(self));
        }
        let bytes = read_bytes(self)?;
        let name = self.name();
        Ok(Cow::Owned(Source::Memory { name, bytes }))
    }

    /// Opens the source; what is read from it is decompressed.
    pub fn open(&self) -> Result<Input, ReadError> {
        let name = self.name();
        let fail = |error: io::Error| ReadError::new(&name, error);
        let reader: Box<dyn Read + Send> = match self {
            Source::Stdin => Box::new(io::stdin()),
            Source::File(path) => {
                let file = File::open(path).map_err(fail)?;
                if file.metadata().map_err(fail)?.is_dir() {
                    return Err(fail(io::Error::new(
                        io::ErrorKind::IsADirectory,
                        "this is a directory. Give the names of the files in it",
                    )));
                }
                Box::new(file)
            }
            Source::Memory { bytes, .. } => Box::new(Cursor::new(bytes.clone())),
        };
        Input::new(name.clone(), reader)
    }
}

#[cfg(unix)]
fn stdin_metadata() -> io::Result<std::fs::Metadata> {
    use std::os::fd::AsFd;
    File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata()
}

#[cfg(windows)]
fn stdin_metadata() -> io::Result<std::fs::Metadata> {
    use std::os::windows::io::AsHandle;
    File::from(io::stdin().as_handle().try_clone_to_owned()?).metadata()
}

#[cfg(not(any(unix, windows)))]
fn stdin_metadata() -> io::Result<std::fs::Metadata> {
    Err(io::ErrorKind::Unsupported.into())
}

/// An open [`Source`].
pub struct Input {
    name: String,
    compression: Option<&'static str>,
    reader: Box<dyn Read + Send>,
    /// Whether there was an error.
    failed: bool,
}

const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
/// The last three bytes of the magic number of a skippable Zstandard frame (its first is 0x50 to 0x5F).
const ZSTD_SKIPPABLE: &[u8] = &[0x2A, 0x4D, 0x18];

impl Input {
    /// Reads from `reader`, which messages call `name`.
    pub fn new(name: String, mut reader: Box<dyn Read + Send>) -> Result<Self, ReadError> {
        let mut magic = Vec::with_capacity(4);
        (&mut reader)
            .take(4)
            .read_to_end(&mut magic)
            .map_err(|error| ReadError::new(&name, error))?;
        let gzip = magic.starts_with(GZIP);
        let zstd = magic.starts_with(ZSTD)
            || (magic.len() == 4 && magic[0] & 0xF0 == 0x50 && magic[1..] == *ZSTD_SKIPPABLE);
        let whole = Cursor::new(magic).chain(reader);
        let (compression, reader): (_, Box<dyn Read + Send>) = if gzip {
            (
                Some("gzip"),
                Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(
                    1 << 16,
                    whole,
                ))),
            )
        } else if zstd {
            let decoder =
                zstd::stream::read::Decoder::new(whole).map_err(|error| ReadError::new(&name, error))?;
            (Some("zstd"), Box::new(decoder))
        } else {
            (None, Box::new(whole))
        };
        Ok(Self {
            name,
            compression,
            reader,
            failed: false,
        })
    }

    /// The name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads some bytes; 0 means the end. After an error there is nothing more: whoever goes on comes to an end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        while !self.failed {
            match self.reader.read(buffer) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = true;
                    return Err(ReadError::new(&self.name, self.explain(error)));
                }
            }
        }
        Ok(0)
    }

    /// Reads some bytes behind those of a buffer; 0 means the end.
    ///
    /// Always a small piece: a decompressor gives little at a time, whatever it is offered, and offering more means
    /// clearing it again and again.
    pub(crate) fn append(&mut self, buffer: &mut Vec<u8>) -> Result<usize, ReadError> {
        const PIECE: usize = 1 << 16;
        let before = buffer.len();
        buffer.resize(before + PIECE, 0);
        let count = self.read(&mut buffer[before..]);
        buffer.truncate(before + *count.as_ref().unwrap_or(&0));
        count
    }

    fn explain(&self, error: io::Error) -> ErrorKind {
        match self.compression {
            // Errors of the operating system have a code, those of a decompressor do not.
            Some(format) if error.raw_os_error().is_none() => ErrorKind::Compressed {
                format,
                message: error.to_string(),
            },
            _ => ErrorKind::Io(error),
        }
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("compression", &self.compression)
            .finish()
    }
}
