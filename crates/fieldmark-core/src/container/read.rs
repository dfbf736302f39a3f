//! [`Container`]: a model file whose every byte has been checked.

use super::element::{Element, Kind, view};
use super::error::{ContainerError, ContainerErrorKind};
use super::layout::check;
use super::shared::Shared;
use memmap2::{Mmap, MmapOptions};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open model file.
///
/// Opening checks every byte: whatever could be wrong with the file as a file is an error there. What remains
/// to its readers is whether the sections mean something; [`Container::wrong_section`] makes their errors.
pub struct Container {
    bytes: Bytes,
    path: Option<PathBuf>,
    sections: Vec<Place>,
    index: HashMap<String, usize>,
}

struct Place {
    name: String,
    kind: Kind,
    range: Range<usize>,
}

enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// One section of a [`Container`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub kind: Kind,
    /// Its data as they stand in the file.
    pub bytes: &'a [u8],
}

impl Container {
    /// Opens a file by memory map: several processes share its pages, and arrays are used where they lie.
    ///
    /// The file must not be changed in place while it is open. Nothing in fieldmark does that: files are always
    /// replaced by renaming, which leaves open ones alone. Where other programs overwrite models in place
    /// (`cp new.fmk old.fmk` does), use [`Container::open_in_memory`]. Pipes and devices are read into memory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ContainerError> {
        let path = path.as_ref();
        let (file, mappable) = open_file(path)?;
        let bytes = if mappable {
            map(&file).map(Bytes::Mapped)
        } else {
            read(&file).map(Bytes::Owned)
        };
        Self::check(bytes.map_err(|error| cannot_read(path, error))?, Some(path))
    }

    /// Opens a file by reading it: later changes of the file have no effect.
    pub fn open_in_memory(path: impl AsRef<Path>) -> Result<Self, ContainerError> {
        let path = path.as_ref();
        let (file, _) = open_file(path)?;
        let bytes = read(&file).map_err(|error| cannot_read(path, error))?;
        Self::check(Bytes::Owned(bytes), Some(path))
    }

    /// Opens the bytes of a file.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ContainerError> {
        Self::check(Bytes::Owned(bytes), None)
    }

    fn check(bytes: Bytes, path: Option<&Path>) -> Result<Self, ContainerError> {
        let checked = check(&bytes).map_err(|error| match path {
            Some(path) => error.at(path),
            None => error,
        })?;
        let sections: Vec<Place> = checked
            .into_iter()
            .map(|(entry, range)| Place {
                name: entry.name,
                kind: entry.kind,
                range,
            })
            .collect();
        let index = sections
            .iter()
            .enumerate()
            .map(|(i, section)| (section.name.clone(), i))
            .collect();
        Ok(Self {
            bytes,
            path: path.map(Path::to_owned),
            sections,
            index,
        })
    }

    /// The file, unless the container was made from bytes.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Length of the file in bytes.
    pub fn file_len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is a section of this name.
    pub fn has(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }

    /// All sections in the order in which they were added.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = Section<'_>> {
        self.sections.iter().map(|place| self.at(place))
    }

    /// The data of a section of any kind.
    pub fn section(&self, name: &str) -> Result<&[u8], ContainerError> {
        Ok(self.find(name)?.bytes)
    }

    /// The text of a section.
    pub fn str(&self, name: &str) -> Result<&str, ContainerError> {
        let section = self.expect_kind(name, Kind::Text)?;
        std::str::from_utf8(section.bytes).map_err(|error| {
            self.wrong_section(
                name,
                format!("bytes that are not UTF-8 from {} on", error.valid_up_to()),
                "text",
            )
        })
    }

    /// The `u16` numbers of a section.
    pub fn u16s(&self, name: &str) -> Result<Cow<'_, [u16]>, ContainerError> {
        self.array(name)
    }

    /// The `u32` numbers of a section.
    pub fn u32s(&self, name: &str) -> Result<Cow<'_, [u32]>, ContainerError> {
        self.array(name)
    }

    /// The `u64` numbers of a section.
    pub fn u64s(&self, name: &str) -> Result<Cow<'_, [u64]>, ContainerError> {
        self.array(name)
    }

    /// The `f32` numbers of a section.
    pub fn f32s(&self, name: &str) -> Result<Cow<'_, [f32]>, ContainerError> {
        self.array(name)
    }

    /// The `f64` numbers of a section.
    pub fn f64s(&self, name: &str) -> Result<Cow<'_, [f64]>, ContainerError> {
        self.array(name)
    }

    /// The numbers of a section: in place, or copied on machines that are big-endian and from memory that is
    /// not aligned (a memory map always is). A section of bytes may be read as numbers of any type.
    pub fn array<T: Element>(&self, name: &str) -> Result<Cow<'_, [T]>, ContainerError> {
        let bytes = self.numbers::<T>(name)?;
        Ok(view(bytes).map_or_else(|| Cow::Owned(T::decode(bytes)), Cow::Borrowed))
    }

    /// The numbers of a section as an array that keeps the container alive, for models to hold.
    pub fn shared<T: Element>(self: &Arc<Self>, name: &str) -> Result<Shared<T>, ContainerError> {
        let bytes = self.numbers::<T>(name)?;
        Ok(match view::<T>(bytes) {
            Some(_) => Shared::in_container(Arc::clone(self), self.sections[self.index[name]].range.clone()),
            None => Shared::from(T::decode(bytes)),
        })
    }

    /// The error for a section that is sound as bytes, but does not hold what its reader needs.
    pub fn wrong_section(
        &self,
        name: &str,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> ContainerError {
        self.section_error(format!("section `{name}` holds {found}"), expected)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn at<'a>(&'a self, place: &'a Place) -> Section<'a> {
        Section {
            name: &place.name,
            kind: place.kind,
            bytes: &self.bytes[place.range.clone()],
        }
    }

    fn find(&self, name: &str) -> Result<Section<'_>, ContainerError> {
        match self.index.get(name) {
            Some(index) => Ok(self.at(&self.sections[*index])),
            None => {
                let names: Vec<String> = self
                    .sections()
                    .map(|section| format!("`{}`", section.name))
                    .collect();
                let found = if names.is_empty() {
                    "no section at all".to_owned()
                } else {
                    names.join(", ")
                };
                Err(self.section_error(
                    format!("the model file has {found}"),
                    format!("a section `{name}`"),
                ))
            }
        }
    }

    fn expect_kind(&self, name: &str, kind: Kind) -> Result<Section<'_>, ContainerError> {
        let section = self.find(name)?;
        if section.kind == kind || section.kind == Kind::Bytes || kind == Kind::Bytes {
            Ok(section)
        } else {
            Err(self.wrong_section(name, section.kind, kind.to_string()))
        }
    }

    fn numbers<T: Element>(&self, name: &str) -> Result<&[u8], ContainerError> {
        let bytes = self.expect_kind(name, T::KIND)?.bytes;
        if bytes.len().is_multiple_of(size_of::<T>()) {
            Ok(bytes)
        } else {
            let expected = format!("a multiple of {} for {} numbers", size_of::<T>(), T::KIND);
            Err(self.wrong_section(name, format!("{} bytes", bytes.len()), expected))
        }
    }

    fn section_error(&self, found: String, expected: impl Into<String>) -> ContainerError {
        let error = ContainerError::new(
            ContainerErrorKind::Section,
            found,
            expected,
            "the file is intact, but not the model that is needed here: check its name and which program wrote it",
        );
        match &self.path {
            Some(path) => error.at(path),
            None => error,
        }
    }
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for section in self.sections() {
            map.entry(
                &section.name,
                &format_args!("{} bytes of {}", section.bytes.len(), section.kind),
            );
        }
        map.finish()
    }
}

/// The open file, and whether it can be mapped.
fn open_file(path: &Path) -> Result<(File, bool), ContainerError> {
    let open = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        // An empty file cannot be mapped; files of /proc claim to be empty and are not.
        Ok((file, metadata.is_file() && metadata.len() > 0))
    };
    open().map_err(|error| cannot_read(path, error))
}

fn map(file: &File) -> io::Result<Mmap> {
    // Every page is about to be checked: asking for all of them at once saves a fault for each.
    let mut options = MmapOptions::new();
    options.populate();
    // SAFETY: The map is read-only and lives as long as the slices taken from it. Sound use needs that nobody
    // changes or shortens the file meanwhile. fieldmark never does: `atomic_write`, the only way in which it
    // writes models, renames a new file over the old name, and a map of the old file keeps the old content.
    // Programs that write in place are outside of what a process can rule out, as for every memory map; the
    // documentation of `Container::open` says so and points to `Container::open_in_memory`. Only types for
    // which every bit pattern is valid are viewed in place, and text is checked to be UTF-8 at each access.
    unsafe { options.map(file) }
}

fn read(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn cannot_read(path: &Path, error: io::Error) -> ContainerError {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "check the name and the directory",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and its directories",
        io::ErrorKind::IsADirectory => "give the name of a file in it",
        _ => "check the disk or the network that it is on",
    };
    ContainerError::io(
        path,
        "read the model",
        "a readable model file (.fmk)",
        advice,
        error,
    )
}
