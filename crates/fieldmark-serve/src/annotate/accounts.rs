//! [`People`]: who may come in, as the database of the project says.

use crate::http::{Accounts, TokenHash};
use crate::project::{Error, Project, Store};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The people of a project. They are looked up at each request, by a connection of their own: who is added while the page
/// is served can come in at once.
pub struct People(Mutex<Store>);

impl People {
    /// Those of a project.
    pub fn open(project: &Path) -> Result<Self, Error> {
        Ok(Self(Mutex::new(Project::database_beside(project)?)))
    }
}

impl Accounts for People {
    fn accounts(&self) -> Vec<(String, TokenHash)> {
        let store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A database that cannot be read lets nobody in.
        let tokens = store.tokens().unwrap_or_default().into_iter();
        tokens
            .filter_map(|(hash, name)| Some((name, TokenHash::from_hex(&hash)?)))
            .collect()
    }
}
