//! Files named on the command line: whether they can be written, and whether two names are one file.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Whether two names stand for the same file, which need not exist.
pub fn same_file(a: &Path, b: &Path) -> bool {
    resolved(a) == resolved(b)
}

fn resolved(path: &Path) -> PathBuf {
    let directory = directory_of(path).canonicalize();
    path.canonicalize()
        .ok()
        .or_else(|| Some(directory.ok()?.join(path.file_name()?)))
        .unwrap_or_else(|| path.to_owned())
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Finds out before the work, not after it, that its result cannot be written.
pub fn check_writable(file: &Path) -> Result<(), Failure> {
    if file.is_dir() {
        return Err(Failure::writing(
            file,
            "this is a directory. Give the name of a file, such as model.fmk",
        ));
    }
    // A device or a pipe is written to where it is.
    if file.exists() && !file.is_file() {
        return Ok(());
    }
    let directory = directory_of(file);
    if !directory.exists() {
        let advice = format!(
            "the directory {} does not exist. Make it first",
            directory.display()
        );
        return Err(Failure::writing(file, advice));
    }
    let probe = directory.join(format!(".fieldmark-{}", std::process::id()));
    let written = std::fs::File::create(&probe).and_then(|_| std::fs::remove_file(&probe));
    written.map_err(|error| Failure::writing(file, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("there"), "").unwrap();
        for name in ["there", "not-there"] {
            assert!(same_file(&path(name), &path(&format!("./{name}"))), "{name}");
        }
        assert!(!same_file(&path("there"), &path("not-there")));
        assert!(!same_file(&path("no/where"), &path("there")));
    }
}
