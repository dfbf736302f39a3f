//! The model file (`.fmk`): named sections of bytes, arrays and text, each with a checksum.
//!
//! A [`ContainerWriter`] collects sections and writes them in one go; the file appears whole or not at all
//! ([`atomic_write`]). A [`Container`] is a file opened by memory map, of which *every* byte has been checked:
//! whoever holds one may trust its sections to be what the writer gave. Arrays are viewed where they lie;
//! [`Shared`] lets a model keep such a view.
//!
//! ```
//! use fieldmark_core::container::{Container, ContainerWriter, Shared};
//! use std::sync::Arc;
//!
//! let weights = [0.5, -1.25];
//! let mut writer = ContainerWriter::new();
//! writer.add_str("about", "two weights").add_f64s("weights", &weights);
//!
//! let container = Arc::new(Container::from_bytes(writer.to_bytes()?)?);
//! assert_eq!(container.str("about")?, "two weights");
//! let kept: Shared<f64> = container.shared("weights")?;
//! assert_eq!(*kept, weights);
//! # Ok::<(), fieldmark_core::container::ContainerError>(())
//! ```
//!
//! # Layout
//!
//! All numbers are little-endian; checksums are XXH3-64 with seed 0.
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 0–7 | magic `89 46 4D 4B 0D 0A 1A 0A` (as PNG does it, so that a transfer as text is noticed) |
//! | | 8–11 | format version, now 1 |
//! | | 12–15 | number of sections |
//! | | 16–23 | length of the file |
//! | | 24–31 | length of the section table |
//! | | 32–39 | checksum of the section table |
//! | | 40–55 | zero |
//! | | 56–63 | checksum of bytes 0–55 |
//! | table | 32 per section | offset, length and checksum of its data (8 bytes each), kind and length of its name (4 each) |
//! | | the rest | the names in UTF-8, one after the other |
//! | data | at multiples of 64 | the sections in the order of the table, with zeros in the gaps |
//!
//! The file ends with the last byte of the last section. Sections lie as close as their alignment permits, so
//! the same sections always give the same bytes. Magic, version and header checksum keep their places in every
//! later version of the format: an old program can tell a newer file from a damaged one.

mod atomic;
mod element;
mod error;
mod foreign;
mod layout;
mod read;
mod shared;
mod write;

pub use atomic::{AtomicFile, atomic_write, sync_directory};
pub use element::{Element, Kind};
pub use error::{ContainerError, ContainerErrorKind};
pub use layout::FORMAT_VERSION;
pub use read::{Container, Section};
pub use shared::Shared;
pub use write::ContainerWriter;
