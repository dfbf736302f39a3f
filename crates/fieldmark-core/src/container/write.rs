//! [`ContainerWriter`]: collects sections, then writes the file in one pass.

use super::atomic::atomic_write;
use super::element::{Element, Kind, bytes_of};
use super::error::{ContainerError, ContainerErrorKind};
use super::layout::{Entry, Plan, encode_head, fault_of_name};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Collects the sections of a model file.
///
/// Data may be borrowed or owned; borrowed data are written from where they lie. Names must be distinct,
/// not empty and without control characters, which is checked when the file is written.
#[derive(Default)]
pub struct ContainerWriter<'a> {
    sections: Vec<Pending<'a>>,
}

struct Pending<'a> {
    name: String,
    kind: Kind,
    payload: Box<dyn Payload + Send + Sync + 'a>,
}

/// Data of any element type, to be turned into bytes when they are written.
trait Payload {
    fn bytes(&self) -> Cow<'_, [u8]>;
}

impl<T: Element> Payload for Cow<'_, [T]> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        bytes_of(self)
    }
}

impl Payload for Cow<'_, str> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.as_bytes())
    }
}

impl<'a> ContainerWriter<'a> {
    /// A writer without sections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a section of bytes.
    pub fn add_section(&mut self, name: &str, bytes: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        self.add_array(name, bytes)
    }

    /// Adds a section of text.
    pub fn add_str(&mut self, name: &str, text: impl Into<Cow<'a, str>>) -> &mut Self {
        self.push(name, Kind::Text, Box::new(text.into()))
    }

    /// Adds a section of `u16` numbers.
    pub fn add_u16s(&mut self, name: &str, values: impl Into<Cow<'a, [u16]>>) -> &mut Self {
        self.add_array(name, values)
    }

    /// Adds a section of `u32` numbers.
    pub fn add_u32s(&mut self, name: &str, values: impl Into<Cow<'a, [u32]>>) -> &mut Self {
        self.add_array(name, values)
    }

    /// Adds a section of `u64` numbers.
    pub fn add_u64s(&mut self, name: &str, values: impl Into<Cow<'a, [u64]>>) -> &mut Self {
        self.add_array(name, values)
    }

    /// Adds a section of `f32` numbers.
    pub fn add_f32s(&mut self, name: &str, values: impl Into<Cow<'a, [f32]>>) -> &mut Self {
        self.add_array(name, values)
    }

    /// Adds a section of `f64` numbers.
    pub fn add_f64s(&mut self, name: &str, values: impl Into<Cow<'a, [f64]>>) -> &mut Self {
        self.add_array(name, values)
    }

    /// Adds a section of any element type.
    pub fn add_array<T: Element>(&mut self, name: &str, values: impl Into<Cow<'a, [T]>>) -> &mut Self {
        self.push(name, T::KIND, Box::new(values.into()))
    }

    fn push(&mut self, name: &str, kind: Kind, payload: Box<dyn Payload + Send + Sync + 'a>) -> &mut Self {
        self.sections.push(Pending {
            name: name.to_owned(),
            kind,
            payload,
        });
        self
    }

    /// Writes the file. It appears whole or not at all: see [`atomic_write`].
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<(), ContainerError> {
        let path = path.as_ref();
        let (entries, plan) = self.plan().map_err(|error| error.at(path))?;
        atomic_write(path, |file| self.write_sections(&entries, &plan, file))
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ContainerError> {
        let (entries, plan) = self.plan()?;
        let mut bytes = Vec::with_capacity(usize::try_from(plan.file).map_err(|_| too_large())?);
        // Writing into a vector cannot fail.
        self.write_sections(&entries, &plan, &mut bytes)
            .map_err(|_| too_large())?;
        Ok(bytes)
    }

    /// A hash of all sections: equal for files that hold the same.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        for section in &self.sections {
            hash.update(section.name.as_bytes());
            hash.update(&[0xff]);
            hash.update(&xxh3_64(&section.payload.bytes()).to_le_bytes());
        }
        hash.digest()
    }

    fn plan(&self) -> Result<(Vec<Entry>, Plan), ContainerError> {
        self.check_names()?;
        let describe = |section: &Pending<'_>| {
            let bytes = section.payload.bytes();
            Entry {
                name: section.name.clone(),
                kind: section.kind,
                length: bytes.len() as u64,
                checksum: xxh3_64(&bytes),
            }
        };
        let entries: Vec<Entry> = self.sections.iter().map(describe).collect();
        if u32::try_from(entries.len()).is_err() {
            return Err(too_large());
        }
        let plan = Plan::new(&entries).ok_or_else(too_large)?;
        Ok((entries, plan))
    }

    fn check_names(&self) -> Result<(), ContainerError> {
        let mut seen = HashSet::new();
        for Pending { name, .. } in &self.sections {
            let fault = match fault_of_name(name) {
                None if seen.insert(name) => continue,
                None => "is used twice",
                Some(fault) => fault,
            };
            return Err(ContainerError::new(
                ContainerErrorKind::Writer,
                format!("the section name {name:?} {fault}"),
                "distinct names of printable text",
                "nothing was written; report this as a bug of the program that writes the model",
            ));
        }
        Ok(())
    }

    fn write_sections(&self, entries: &[Entry], plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
        let head = encode_head(entries, plan);
        out.write_all(&head)?;
        let mut end = head.len() as u64;
        for (section, offset) in self.sections.iter().zip(&plan.offsets) {
            // The gap is shorter than the alignment.
            out.write_all(&[0; 64][..(offset - end) as usize])?;
            let bytes = section.payload.bytes();
            out.write_all(&bytes)?;
            end = offset + bytes.len() as u64;
        }
        Ok(())
    }
}

fn too_large() -> ContainerError {
    ContainerError::new(
        ContainerErrorKind::Writer,
        "the sections are too many or too large",
        "fewer than 2^32 sections that fit the address space",
        "nothing was written",
    )
}
