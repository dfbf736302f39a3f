//! A project on the disk: a directory with one database.
//!
//! * [`Project`]: the directory, which only one server at a time may use.
//! * [`Store`]: the database. What people do is a row of an append-only table ([`Deed`]); what is known is found by doing
//!   it again. Undoing is an action like any other.
//! * [`Settings`]: what was decided when the project was made, and can be decided anew ([`SettingsChange`]).

mod action;
mod error;
mod schema;
mod settings;
mod store;

pub use action::{Action, ActionId, Assertion, Borders, Deed, DocumentId, Place, TypeId, UserId};
pub use error::Error;
pub(crate) use settings::TOKENS_STAY;
pub use settings::{Settings, SettingsChange, Unit, strategy_named};
pub(crate) use store::now;
pub use store::{NewAction, Store, StoredDocument, Type, Writing};

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// The name under which labels that documents came with are stored.
pub const IMPORT: &str = "import";

/// Longer texts are refused: offsets in tokens are numbers of 32 bits.
pub const LONGEST_TEXT: usize = u32::MAX as usize;

const DATABASE: &str = "project.sqlite";
const LOCK: &str = "lock";
const MODEL: &str = "model.fmk";

/// A directory with a database, in the care of this program.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    store: Store,
    /// Held for as long as the project is open; the system lets go of it when the program ends, however it ends.
    _lock: File,
}

impl Project {
    /// Whether there is a project in a directory.
    pub fn exists(folder: &Path) -> bool {
        database(folder).is_file()
    }

    /// Opens a project, or makes one.
    ///
    /// # Errors
    /// When another program has it open, or the directory holds something else.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let fail = |path: &Path, problem: String| Error::File {
            path: path.to_owned(),
            problem,
        };
        if folder.is_file() {
            let problem = "this is a file, expected a directory for the project".to_owned();
            return Err(fail(folder, problem));
        }
        std::fs::create_dir_all(folder)
            .map_err(|error| fail(folder, format!("cannot make the directory: {error}")))?;
        let path = folder.join(LOCK);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| fail(&path, format!("cannot write: {error}")))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let problem = "another fieldmark has this project open; use its page, or end it first";
                return Err(fail(folder, problem.to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(fail(&path, format!("cannot be locked: {error}"))),
        }
        Ok(Self {
            store: Store::open(&database(folder))?,
            folder: folder.to_owned(),
            _lock: lock,
        })
    }

    /// The directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its name for people: that of the directory.
    pub fn name(&self) -> String {
        let whole = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let name = whole.file_name().unwrap_or(whole.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Where the model is kept.
    pub fn model_file(&self) -> PathBuf {
        self.folder.join(MODEL)
    }

    /// The files of a project in a directory, whether or not they are there.
    pub fn files(folder: &Path) -> [PathBuf; 5] {
        [DATABASE, "project.sqlite-wal", "project.sqlite-shm", LOCK, MODEL].map(|name| folder.join(name))
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The database, to write to.
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Opens the database alone, beside a server that may have the project open: to add and remove people.
    pub fn database_beside(folder: &Path) -> Result<Store, Error> {
        if !Self::exists(folder) {
            return Err(Error::File {
                path: folder.to_owned(),
                problem: "there is no project here; make one with `fieldmark annotate` and some documents"
                    .to_owned(),
            });
        }
        Store::open(&database(folder))
    }
}

fn database(folder: &Path) -> PathBuf {
    folder.join(DATABASE)
}

/// Sees whether a person may have a name.
pub fn check_user_name(name: &str) -> Result<(), Error> {
    let problem = if name.trim().is_empty() || name.trim() != name {
        "is empty or begins or ends with white space"
    } else if name == IMPORT {
        "stands for labels that documents came with"
    } else if name.chars().any(char::is_control) {
        "holds a control character"
    } else if name.chars().count() > 100 {
        "has more than 100 characters"
    } else {
        return Ok(());
    };
    Err(Error::refused(format_args!(
        "the name {name:?} {problem}; choose another"
    )))
}
