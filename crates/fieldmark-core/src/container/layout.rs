//! Where everything lies in a container file: the one place that knows header and section table.
//!
//! Writing and checking both go through [`Plan`], so they cannot disagree about the places of sections.

use super::element::Kind;
use super::error::{ContainerError, ContainerErrorKind};
use super::foreign;
use std::collections::HashSet;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The version of the format that this program writes, and the latest that it reads.
pub const FORMAT_VERSION: u32 = 1;

pub(super) const MAGIC: [u8; 8] = *b"\x89FMK\r\n\x1a\n";
pub(super) const HEADER: usize = 64;
const CHECKED_HEADER: usize = 56;
const ENTRY: usize = 32;
/// Cache lines and SIMD registers are no wider, so every array starts well.
const ALIGNMENT: u64 = 64;

/// One line of the section table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub name: String,
    pub kind: Kind,
    pub length: u64,
    pub checksum: u64,
}

/// The places of sections with given names and lengths.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub table: u64,
    pub offsets: Vec<u64>,
    pub file: u64,
}

impl Plan {
    /// The plan, or `None` when the file would be longer than a number can say.
    pub fn new(entries: &[Entry]) -> Option<Plan> {
        let names = entries
            .iter()
            .try_fold(0u64, |sum, entry| sum.checked_add(entry.name.len() as u64))?;
        let table = (entries.len() as u64)
            .checked_mul(ENTRY as u64)?
            .checked_add(names)?;
        let mut end = table.checked_add(HEADER as u64)?;
        let mut offsets = Vec::with_capacity(entries.len());
        for entry in entries {
            let offset = end.checked_next_multiple_of(ALIGNMENT)?;
            offsets.push(offset);
            end = offset.checked_add(entry.length)?;
        }
        Some(Plan {
            table,
            offsets,
            file: end,
        })
    }
}

/// What forbids a name, if anything does.
pub(super) fn fault_of_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("is empty")
    } else if name.chars().any(char::is_control) {
        Some("has a control character")
    } else if u32::try_from(name.len()).is_err() {
        Some("is longer than 4 GiB")
    } else {
        None
    }
}

/// Header and section table as they stand at the start of a file.
pub(super) fn encode_head(entries: &[Entry], plan: &Plan) -> Vec<u8> {
    let mut table = Vec::with_capacity(plan.table as usize);
    for (entry, offset) in entries.iter().zip(&plan.offsets) {
        table.extend_from_slice(&offset.to_le_bytes());
        table.extend_from_slice(&entry.length.to_le_bytes());
        table.extend_from_slice(&entry.checksum.to_le_bytes());
        table.extend_from_slice(&entry.kind.code().to_le_bytes());
        table.extend_from_slice(&(entry.name.len() as u32).to_le_bytes());
    }
    for entry in entries {
        table.extend_from_slice(entry.name.as_bytes());
    }
    let mut head = Vec::with_capacity(HEADER + table.len());
    head.extend_from_slice(&MAGIC);
    head.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    head.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    head.extend_from_slice(&plan.file.to_le_bytes());
    head.extend_from_slice(&plan.table.to_le_bytes());
    head.extend_from_slice(&xxh3_64(&table).to_le_bytes());
    head.resize(CHECKED_HEADER, 0);
    head.extend_from_slice(&xxh3_64(&head).to_le_bytes());
    head.extend_from_slice(&table);
    head
}

/// Checks every byte of a file and returns its sections with the places of their data.
pub(super) fn check(bytes: &[u8]) -> Result<Vec<(Entry, Range<usize>)>, ContainerError> {
    let (count, table) = check_header(bytes)?;
    let (entries, offsets) = parse_table(count, table)?;
    let plan = Plan::new(&entries)
        .filter(|plan| plan.file == bytes.len() as u64)
        .ok_or_else(|| {
            ContainerError::damaged(
                "the sections do not fill the file",
                format!("{} bytes", bytes.len()),
            )
        })?;
    let mut end = HEADER + table.len();
    let mut sections = Vec::with_capacity(entries.len());
    for ((entry, found), expected) in entries.into_iter().zip(offsets).zip(plan.offsets) {
        if found != expected {
            return Err(ContainerError::damaged(
                format!("section `{}` lies at byte {found}", entry.name),
                format!("byte {expected}"),
            ));
        }
        // The plan ends within the file, so its numbers are indices.
        let range = expected as usize..(expected + entry.length) as usize;
        if let Some(at) = bytes[end..range.start].iter().position(|byte| *byte != 0) {
            return Err(ContainerError::damaged(
                format!("byte {} between two sections is {}", end + at, bytes[end + at]),
                "0",
            ));
        }
        check_sum(
            &format!("section `{}`", entry.name),
            &bytes[range.clone()],
            entry.checksum,
        )?;
        end = range.end;
        sections.push((entry, range));
    }
    Ok(sections)
}

/// Checks the header; returns the number of sections and the table, whose checksum is right.
fn check_header(bytes: &[u8]) -> Result<(u32, &[u8]), ContainerError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(foreign::describe(bytes));
    }
    let Some((header, rest)) = bytes.split_at_checked(HEADER) else {
        return Err(ContainerError::damaged(
            format!("it ends after {} bytes", bytes.len()),
            format!("a header of {HEADER} bytes"),
        ));
    };
    check_sum(
        "the header",
        &header[..CHECKED_HEADER],
        u64_at(header, CHECKED_HEADER),
    )?;
    check_version(u32_at(header, 8))?;
    let file = u64_at(header, 16);
    if file != bytes.len() as u64 {
        let found = if file > bytes.len() as u64 {
            "it is cut off after"
        } else {
            "it goes on to"
        };
        return Err(ContainerError::damaged(
            format!("{found} {} bytes", bytes.len()),
            format!("{file} bytes"),
        ));
    }
    if header[40..CHECKED_HEADER].iter().any(|byte| *byte != 0) {
        return Err(ContainerError::damaged("bytes 40 to 55 are in use", "zeros"));
    }
    let length = u64_at(header, 24);
    let table = usize::try_from(length)
        .ok()
        .and_then(|length| rest.get(..length))
        .ok_or_else(|| {
            ContainerError::damaged(
                format!("its section table has {length} bytes"),
                format!("at most the {} bytes after the header", rest.len()),
            )
        })?;
    check_sum("the section table", table, u64_at(header, 32))?;
    Ok((u32_at(header, 12), table))
}

fn check_version(version: u32) -> Result<(), ContainerError> {
    if version == FORMAT_VERSION {
        return Ok(());
    }
    let advice = if version > FORMAT_VERSION {
        "it was written by a newer fieldmark: update this one"
    } else {
        "no fieldmark ever wrote this version: train the model again"
    };
    Err(ContainerError::new(
        ContainerErrorKind::Version,
        format!("the model file has format version {version}"),
        format!("version {FORMAT_VERSION}"),
        advice,
    ))
}

/// The entries of the table and the offsets that they claim.
fn parse_table(count: u32, table: &[u8]) -> Result<(Vec<Entry>, Vec<u64>), ContainerError> {
    let wrong = |found: String, expected: &str| ContainerError::damaged(found, expected);
    let (lines, mut names) = usize::try_from(count)
        .ok()
        .and_then(|count| count.checked_mul(ENTRY))
        .and_then(|length| table.split_at_checked(length))
        .ok_or_else(|| {
            wrong(
                format!("a table of {} bytes for {count} sections", table.len()),
                "32 each",
            )
        })?;
    let mut entries = Vec::with_capacity(lines.len() / ENTRY);
    let mut offsets = Vec::with_capacity(lines.len() / ENTRY);
    let mut seen = HashSet::new();
    for line in lines.chunks_exact(ENTRY) {
        let name;
        (name, names) = usize::try_from(u32_at(line, 28))
            .ok()
            .and_then(|length| names.split_at_checked(length))
            .ok_or_else(|| {
                wrong(
                    "a name that goes beyond the section table".into(),
                    "one inside it",
                )
            })?;
        let name = std::str::from_utf8(name)
            .map_err(|_| wrong("a section name that is not UTF-8".into(), "UTF-8"))?;
        if let Some(fault) = fault_of_name(name) {
            return Err(wrong(format!("a section name {fault}"), "printable text"));
        }
        if !seen.insert(name) {
            return Err(wrong(
                format!("two sections are called `{name}`"),
                "names of their own",
            ));
        }
        let code = u32_at(line, 24);
        let kind = Kind::from_code(code).ok_or_else(|| {
            wrong(
                format!("section `{name}` is of kind {code}"),
                "a kind from 0 to 6",
            )
        })?;
        let length = u64_at(line, 8);
        if !length.is_multiple_of(kind.size() as u64) {
            return Err(wrong(
                format!("section `{name}` has {length} bytes"),
                &format!("whole {kind} numbers"),
            ));
        }
        offsets.push(u64_at(line, 0));
        entries.push(Entry {
            name: name.to_owned(),
            kind,
            length,
            checksum: u64_at(line, 16),
        });
    }
    if !names.is_empty() {
        return Err(wrong(
            format!("{} bytes after the last section name", names.len()),
            "none",
        ));
    }
    Ok((entries, offsets))
}

fn check_sum(what: &str, bytes: &[u8], expected: u64) -> Result<(), ContainerError> {
    let found = xxh3_64(bytes);
    if found == expected {
        return Ok(());
    }
    Err(ContainerError::damaged(
        format!("the checksum of {what} is {found:016x}"),
        format!("{expected:016x}"),
    ))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

#[cfg(test)]
mod tests;
