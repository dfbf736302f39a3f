//! [`atomic_write`] and [`AtomicFile`]: a file is replaced as a whole or not at all.

use super::error::ContainerError;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

const BUFFER: usize = 1 << 16;
const SUFFIX: &str = ".tmp";
/// A writer locks its new file at once; only what is older than this can have been left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(60);

/// Writes a file so that its name always stands for complete content: the old one or the new one.
///
/// `write` fills a new file in the same directory, which is then forced to disk and renamed over `path`. This
/// holds through errors, `kill -9` and loss of power; who has the old file open keeps the old content. On an
/// error the new file is removed; a process killed in the middle leaves one called `.fieldmark-*.tmp`, which a
/// later write of the same file removes.
///
/// A symbolic link to a file is followed, permissions of an existing file are kept, and a read-only file is an
/// error. What is neither file nor directory (a pipe, `/dev/stdout`) cannot be replaced and is written to
/// directly.
///
/// ```
/// use fieldmark_core::container::atomic_write;
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("report.json");
/// atomic_write(&path, |file| writeln!(file, "{{\"f1\": {}}}", 0.5))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "{\"f1\": 0.5}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn atomic_write(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), ContainerError> {
    let path = path.as_ref();
    let result = AtomicFile::create(path).and_then(|mut file| {
        write(&mut file)?;
        file.commit()
    });
    result.map_err(|error| cannot_write(path, error))
}

/// A file that gets its name when it is complete, for those who cannot write it in one go; as [`atomic_write`].
///
/// ```
/// use fieldmark_core::container::AtomicFile;
/// use std::io::Write;
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("table.txt");
/// std::fs::write(&path, "old")?;
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"new")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "old");
/// file.commit()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "new");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: BufWriter<File>,
    /// `None` for what is written to directly, and once it has its name.
    unnamed: Option<Unnamed>,
}

/// A file that is still called otherwise; dropped, it is removed.
#[derive(Debug)]
struct Unnamed {
    temporary: tempfile::TempPath,
    target: PathBuf,
    directory: PathBuf,
}

impl AtomicFile {
    /// Gets ready to write. What has this name stays as it is until [`AtomicFile::commit`].
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(old) if old.is_file() => Self::beside(path, Some(&old)),
            Ok(old) if old.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(_) => Ok(Self {
                file: BufWriter::with_capacity(BUFFER, OpenOptions::new().write(true).open(path)?),
                unnamed: None,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::beside(path, None),
            Err(error) => Err(error),
        }
    }

    /// Forces the file to disk and gives it its name.
    pub fn commit(&mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(unnamed) = self.unnamed.take() else {
            return Ok(());
        };
        self.file.get_ref().sync_all()?;
        unnamed.temporary.persist(&unnamed.target)?;
        sync_directory(&unnamed.directory)
    }

    fn beside(path: &Path, old: Option<&Metadata>) -> io::Result<Self> {
        let target = match old {
            // Renaming would make a writable file of it, against what its owner has said.
            Some(old) if old.permissions().readonly() => {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "the file is read-only",
                ));
            }
            Some(_) => fs::canonicalize(path)?,
            None => path.to_owned(),
        };
        let directory = directory_of(&target)?;
        let prefix = prefix_for(&target);
        remove_left_behind(&directory, &prefix);
        let temporary = new_file_in(&directory, &prefix)?;
        // The lock ends with the process, however that ends. Where there are no locks, nothing will be removed.
        let _ = temporary.as_file().lock();
        if let Some(old) = old {
            temporary.as_file().set_permissions(old.permissions())?;
        }
        let (file, temporary) = temporary.into_parts();
        Ok(Self {
            file: BufWriter::with_capacity(BUFFER, file),
            unnamed: Some(Unnamed {
                temporary,
                target,
                directory,
            }),
        })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn directory_of(target: &Path) -> io::Result<PathBuf> {
    match (target.file_name(), target.parent()) {
        (Some(_), Some(parent)) if parent.as_os_str().is_empty() => Ok(PathBuf::from(".")),
        (Some(_), Some(parent)) => Ok(parent.to_owned()),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this is not the name of a file",
        )),
    }
}

/// How the names of new files begin that are to replace `target`.
fn prefix_for(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default();
    format!(".fieldmark-{:016x}-", xxh3_64(name.as_encoded_bytes()))
}

/// Removes the new files of writers that were killed before they could rename them.
///
/// Who still writes holds a lock. A file that cannot be looked at is left alone: it does no harm but to take room.
fn remove_left_behind(directory: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(prefix) && name.ends_with(SUFFIX) && is_left_behind(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_left_behind(path: &Path) -> bool {
    let Ok(file) = OpenOptions::new().write(true).open(path) else {
        return false;
    };
    let age = file
        .metadata()
        .and_then(|file| file.modified())
        .map(|time| time.elapsed());
    matches!(age, Ok(Ok(age)) if age >= LEFT_BEHIND) && file.try_lock().is_ok()
}

fn new_file_in(directory: &Path, prefix: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(SUFFIX);
    // Temporary files are private unless told; this one gets what the user's umask leaves, as any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

/// Forces names that are new in a directory to disk, where the system can do that.
#[cfg(unix)]
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Some network file systems cannot do this, and some directories may be written but not read. The
        // file is complete under its name, and nothing more is possible there.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}

/// Does nothing: directories cannot be opened as files here.
#[cfg(not(unix))]
pub fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

fn cannot_write(path: &Path, error: io::Error) -> ContainerError {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "make the directory first",
        io::ErrorKind::PermissionDenied => "choose another name, or change the permissions",
        io::ErrorKind::IsADirectory => "give the name of a file in it",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space; a file that was there before is unchanged"
        }
        _ => "check the disk; if a file has this name, it is complete, old or new",
    };
    ContainerError::io(
        path,
        "write",
        "a place where a file can be written",
        advice,
        error,
    )
}
