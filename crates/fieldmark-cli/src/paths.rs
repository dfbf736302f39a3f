//! Files named on the command line: whether they can be written, and whether two names are one file.

use crate::failure::Failure;
use fieldmark::core::container::AtomicFile;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The files of a command and what they are to it, so that nothing that it writes replaces something that it reads.
#[derive(Debug, Default)]
pub struct Files {
    read: Vec<(&'static str, PathBuf)>,
    written: Vec<(&'static str, PathBuf)>,
}

impl Files {
    /// Files that are read; `-` is none.
    pub fn reads<P: AsRef<Path>>(mut self, what: &'static str, files: impl IntoIterator<Item = P>) -> Self {
        self.read.extend(named(what, files));
        self
    }

    /// Files that are written; `-` is none. Of a directory, everything in and below it is written.
    pub fn writes<P: AsRef<Path>>(mut self, what: &'static str, files: impl IntoIterator<Item = P>) -> Self {
        self.written.extend(named(what, files));
        self
    }

    /// Refuses an output that is the same file as something else. Devices can be all things at once.
    pub fn check(&self) -> Result<(), Failure> {
        let is_device = |file: &Path| file.exists() && !file.is_file() && !file.is_dir();
        for (index, (what, file)) in self.written.iter().enumerate() {
            for (other_what, other) in self.read.iter().chain(&self.written[..index]) {
                if is_device(file) {
                    continue;
                }
                if same_file(file, other) {
                    let advice = format!("{what} and {other_what} are the same file. Choose another name");
                    return Err(Failure::writing(file, advice));
                }
                if file.is_dir() && resolved(other).starts_with(resolved(file)) {
                    let advice = format!(
                        "{}, which is {other_what}, is in this directory and might be replaced. Choose another one",
                        other.display()
                    );
                    return Err(Failure::writing(file, advice));
                }
                if is_part(file) && other.is_dir() && resolved(file).starts_with(resolved(other)) {
                    let advice = format!(
                        "it is in {}, which is {other_what}, and might be a part of it. Choose another name",
                        other.display()
                    );
                    return Err(Failure::writing(file, advice));
                }
            }
        }
        Ok(())
    }
}

/// Whether a file or directory may be part of a directory of texts with annotations.
fn is_part(file: &Path) -> bool {
    let ending = file.extension().unwrap_or_default();
    file.is_dir() || file.is_file() && (ending == "txt" || ending == "ann")
}

fn named<P: AsRef<Path>>(
    what: &'static str,
    files: impl IntoIterator<Item = P>,
) -> impl Iterator<Item = (&'static str, PathBuf)> {
    let paths = files.into_iter().map(|file| file.as_ref().to_owned());
    paths
        .filter(|path| path != Path::new("-"))
        .map(move |path| (what, path))
}

/// Whether two names stand for the same file, which need not exist.
fn same_file(a: &Path, b: &Path) -> bool {
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
            "this is a directory. Give the name of a file",
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

/// Writes a file; one of this name stays as it is until the new one is complete.
pub fn write_whole(file: &Path, text: &str) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut new = AtomicFile::create(file)?;
        new.write_all(text.as_bytes())?;
        new.commit()
    };
    write().map_err(|error| Failure::writing(file, error))
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

    #[test]
    fn outputs_are_no_inputs_and_no_other_outputs() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("data"), "").unwrap();
        let check = |read: &str, written: [&str; 2]| {
            let files = Files::default().reads("the data", [path(read)]);
            files.writes("--output", written.map(path)).check()
        };
        assert!(check("data", ["out", "other"]).is_ok());
        assert!(check("./data", ["out", "data"]).is_err());
        assert!(check("data", ["out", "./out"]).is_err());
        // All of a directory is written, also what lies deeper.
        assert!(check("data", ["", "out"]).is_err());
        std::fs::create_dir_all(path("texts/one")).unwrap();
        std::fs::create_dir(path("text")).unwrap();
        std::fs::write(path("texts/one/data"), "").unwrap();
        for read in ["texts/one/data", "texts/one"] {
            assert!(check(read, ["texts", "out"]).is_err(), "{read}");
            assert!(check(read, ["text", "out"]).is_ok(), "{read}");
        }
        // All texts of a directory are read.
        for (name, is_fine) in [
            ("a.txt", false),
            ("model.fmk", true),
            ("one", false),
            ("new.txt", true),
        ] {
            if name != "one" && name != "new.txt" {
                std::fs::write(path(&format!("texts/{name}")), "").unwrap();
            }
            let checked = check("texts", [format!("texts/{name}").as_str(), "out"]);
            assert_eq!(checked.is_ok(), is_fine, "{name}");
        }
        let same = Files::default()
            .reads("the data", ["-"])
            .writes("--output", ["-"]);
        assert!(same.check().is_ok());
        let device = Files::default().reads("the data", ["/dev/null"]);
        assert!(device.writes("--output", ["/dev/null"]).check().is_ok());
    }
}
