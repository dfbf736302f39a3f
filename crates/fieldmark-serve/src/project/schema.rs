//! The tables of a project, and how older ones become new ones.

use rusqlite::{Connection, Result};

/// What each version adds to the one before it. The number of the last is that of a project of today.
const VERSIONS: &[&str] = &["
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE resources (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT;
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE tokens (hash TEXT PRIMARY KEY, user INTEGER NOT NULL REFERENCES users, time INTEGER NOT NULL) STRICT;
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        document TEXT NOT NULL,
        tokens BLOB NOT NULL,
        sentences BLOB NOT NULL,
        held_out INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE types (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        key TEXT NOT NULL,
        colour INTEGER NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE actions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        request TEXT NOT NULL,
        user INTEGER NOT NULL REFERENCES users,
        time INTEGER NOT NULL,
        document INTEGER REFERENCES documents,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        seconds REAL,
        question TEXT,
        UNIQUE (user, request)
    ) STRICT;
    CREATE TABLE curve (
        id INTEGER PRIMARY KEY,
        time INTEGER NOT NULL,
        labels INTEGER NOT NULL,
        answers INTEGER NOT NULL,
        point TEXT NOT NULL
    ) STRICT;
", "
    CREATE TABLE requests (
        user INTEGER NOT NULL REFERENCES users,
        request TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (user, request)
    ) STRICT;
"];

/// Brings the tables up to date. Returns an error message for a project of a later program.
pub(super) fn migrate(connection: &mut Connection) -> Result<std::result::Result<(), String>> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = VERSIONS.len() as i64;
    if !(0..=known).contains(&version) {
        return Ok(Err(format!(
            "this project has version {version}, and this program knows versions up to {known}: use a newer fieldmark"
        )));
    }
    for (number, statements) in (1i64..).zip(VERSIONS).skip(version as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(statements)?;
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
    Ok(Ok(()))
}
