//! Says what a file is that is not a fieldmark model, since the user most likely gave the wrong name.

use super::error::{ContainerError, ContainerErrorKind};
use super::layout::MAGIC;

const COMPRESSED: &str = "unpack it first";
const OTHER_TRAINER: &str = "weights of other programs are not read: train on the same data with fieldmark";
const DOWNLOAD: &str = "fetch the model itself";
const WRONG_NAME: &str = "check the name of the file: a model is written by `fieldmark train`";

/// First bytes, what a file that starts with them is, and what to do about it.
const KNOWN: &[(&[u8], &str, &str)] = &[
    (b"lCRF", "this is a CRFsuite model", OTHER_TRAINER),
    (b"#mdl#", "this is a Wapiti model", OTHER_TRAINER),
    (b"\x64\0\0\0", "this looks like a CRF++ model", OTHER_TRAINER),
    (b"\x1f\x8b", "this is a gzip file", COMPRESSED),
    (b"\x28\xb5\x2f\xfd", "this is a Zstandard file", COMPRESSED),
    (b"\xfd7zXZ\0", "this is an xz file", COMPRESSED),
    (b"BZh", "this is a bzip2 file", COMPRESSED),
    (b"PK\x03\x04", "this is a zip archive", COMPRESSED),
    (b"\x80\x02", "this is a Python pickle", OTHER_TRAINER),
    (b"\x80\x03", "this is a Python pickle", OTHER_TRAINER),
    (b"\x80\x04", "this is a Python pickle", OTHER_TRAINER),
    (b"\x80\x05", "this is a Python pickle", OTHER_TRAINER),
    (
        b"version https://git-lfs",
        "this is a Git LFS pointer, not the file it stands for",
        "run `git lfs pull`",
    ),
    (b"<!DOCTYPE", "this is a web page", DOWNLOAD),
    (b"<!doctype", "this is a web page", DOWNLOAD),
    (b"<html", "this is a web page", DOWNLOAD),
];

/// The error for bytes that do not start with the magic number.
pub(super) fn describe(bytes: &[u8]) -> ContainerError {
    if MAGIC.starts_with(bytes) && !bytes.is_empty() {
        return ContainerError::damaged(
            format!("it ends after {} bytes", bytes.len()),
            "a header of 64 bytes",
        );
    }
    if bytes.len() >= 4 && bytes[1..4] == MAGIC[1..4] {
        return ContainerError::damaged(
            format!("it starts with {}", hex(bytes)),
            format!("{} (a transfer that changes line ends spoils it)", hex(&MAGIC)),
        );
    }
    let (found, advice) = name(bytes);
    ContainerError::new(
        ContainerErrorKind::Foreign,
        found,
        "a fieldmark model (.fmk)",
        advice,
    )
}

fn name(bytes: &[u8]) -> (String, &'static str) {
    if bytes.is_empty() {
        return ("the file is empty".to_owned(), "copy or train the model again");
    }
    for (start, found, advice) in KNOWN {
        if bytes.starts_with(start) {
            return ((*found).to_owned(), advice);
        }
    }
    match first_line_of_text(bytes) {
        Some(line) => (
            format!("this is a text file that starts with {line:?}"),
            WRONG_NAME,
        ),
        None => (
            format!(
                "this is a file of an unknown kind that starts with {}",
                hex(bytes)
            ),
            WRONG_NAME,
        ),
    }
}

/// The start of the first line, if the bytes look like text.
fn first_line_of_text(bytes: &[u8]) -> Option<String> {
    let start = &bytes[..bytes.len().min(512)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The cut may have split a character.
        Err(error) if error.error_len().is_none() && bytes.len() > start.len() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let readable = text
        .chars()
        .all(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\x0c'));
    readable.then(|| {
        text.trim_start()
            .lines()
            .next()
            .unwrap_or("")
            .chars()
            .take(40)
            .collect()
    })
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_are_called_by_their_name() {
        let long_text = "é".repeat(400);
        let off_by_one = format!("a{long_text}");
        let cases: &[(&[u8], &str)] = &[
            (b"", "the file is empty"),
            (b"lCRF\x10\0\0\0FOMC", "CRFsuite model"),
            (b"#mdl#2#123", "Wapiti model"),
            (b"\x64\0\0\0\0\0\0\0", "CRF++ model"),
            (b"\x1f\x8b\x08\0", "gzip"),
            (b"PK\x03\x04", "zip archive"),
            (b"\x80\x04\x95", "Python pickle"),
            (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
            (b"<!DOCTYPE html><html>", "web page"),
            (
                b"EU NNP B-NP\nrejects VBZ B-VP\n",
                "text file that starts with \"EU NNP B-NP\"",
            ),
            (long_text.as_bytes(), "text file"),
            (off_by_one.as_bytes(), "text file"),
            (b"\n", "text file"),
            (
                b"\xff\xfe\0\x01\x02\x03\x04\x05\x06",
                "unknown kind that starts with ff fe 00 01 02 03 04 05",
            ),
            (b"caf\xe9", "unknown kind"),
            (b"\0", "unknown kind"),
        ];
        for (bytes, expected) in cases {
            let error = describe(bytes);
            assert_eq!(error.kind(), ContainerErrorKind::Foreign);
            assert!(error.found().contains(expected), "{bytes:?}: {error}");
        }
    }

    #[test]
    fn a_spoilt_magic_number_is_damage() {
        for bytes in [
            &MAGIC[..1],
            &MAGIC[..7],
            b"\x89FMK\n\x1a\n\x01\0\0",
            b"\x09FMK\r\n\x1a\n",
        ] {
            assert_eq!(describe(bytes).kind(), ContainerErrorKind::Damaged, "{bytes:?}");
        }
    }
}
